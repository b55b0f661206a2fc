//! Writes and reads of global memory by several blocks, against all pairs of accesses.
//!
//! Blocks are not ordered with each other, threads of a block by barriers alone. What is checked, for every seed:
//! 1. if two writes of different values to a byte are not ordered and nothing ordered after one of them writes
//!    the byte again, or a read and a write of a byte are not ordered, something is found (an earlier write that its own
//!    thread undoes may stay unseen);
//! 2. an instruction that a finding names has an access that is not ordered with one that it conflicts with.
//!
//! Without races, two runs with one seed give one report.

use super::*;
use crate::random::SplitMix;

#[derive(Clone, Copy, Debug)]
struct Event {
    step: usize,
    block: u32,
    thread: u32,
    /// Barriers before it.
    phase: u32,
    at: u32,
    bytes: u32,
    /// The value that each byte gets; none for a read.
    value: Option<u8>,
}

impl Event {
    fn ordered(&self, other: &Event) -> bool {
        self.block == other.block && (self.thread == other.thread || self.phase != other.phase)
    }

    fn before(&self, other: &Event) -> bool {
        self.ordered(other) && self.step < other.step
    }

    fn has(&self, byte: u32) -> bool {
        self.at <= byte && byte < self.at + self.bytes
    }
}

/// Stores of bytes that are all equal, loads, and barriers of all threads.
fn program(seed: u64, blocks: [u32; 3]) -> (String, Vec<Event>) {
    let mut random = SplitMix(seed.wrapping_mul(77_777_777) + 3);
    let mut below = |n: u64| random.below(n) as u32;
    let mut body = String::from("mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;");
    for (register, value) in [(20, 0x0101_0101u64), (21, 0x0202_0202)] {
        body += &format!(
            " mov.b32 %r{register}, {value}; mov.b64 %s{register}, {}; mov.b16 %h{register}, {};",
            value << 32 | value,
            value & 0xffff
        );
    }
    let mut events = Vec::new();
    let mut phase = 0;
    let reads = below(2) == 0;
    for step in 0..2 + below(5) as usize {
        if below(3) == 0 {
            body += " bar.sync 0;";
            phase += 1;
        }
        let (block, thread) = (blocks[below(3) as usize], [0, 1, 33][below(3) as usize]);
        let bytes = [1, 2, 4, 8, 16][below(5) as usize];
        let at = below(u64::from(16 / bytes)) * bytes;
        let value = if reads && below(3) == 0 {
            None
        } else {
            Some(1 + below(2) as u8)
        };
        let register = value.map_or(30, |value| 19 + u32::from(value));
        let (ty, register) = match bytes {
            1 => ("b8", format!("%h{register}")),
            2 => ("b16", format!("%h{register}")),
            4 => ("b32", format!("%r{register}")),
            8 => ("b64", format!("%s{register}")),
            _ => (
                "v2.b64",
                format!(
                    "{{%s{register}, %s{}}}",
                    if value.is_some() { register } else { 31 }
                ),
            ),
        };
        let access = match value {
            Some(_) => format!("st.global.{ty} [%s90+{at}], {register};"),
            None => format!("ld.global.{ty} {register}, [%s90+{at}];"),
        };
        body += &format!(
            " setp.eq.u32 %p1, %r0, {thread}; setp.eq.and.u32 %p1, %r1, {block}, %p1;\n@%p1 {access}"
        );
        events.push(Event {
            step,
            block,
            thread,
            phase,
            at,
            bytes,
            value,
        });
    }
    (body, events)
}

#[test]
fn findings_are_what_all_pairs_say() {
    let (mut clean, mut wrong) = (0, 0);
    for case in 0..3000 {
        // Of 40 blocks, several cores run some at a time.
        let (grid, blocks) = if case % 4 == 0 {
            (40, [0, 1, 37])
        } else {
            (3, [0, 1, 2])
        };
        let (body, events) = program(case, blocks);
        let mut involved = vec![false; events.len()];
        let mut must = false;
        for a in &events {
            for b in events.iter().filter(|b| !a.ordered(b)) {
                let bytes = || (0..16).filter(|&byte| a.has(byte) && b.has(byte));
                let last = |of: &Event, byte: u32| {
                    !events
                        .iter()
                        .any(|c| c.value.is_some() && c.has(byte) && of.before(c))
                };
                if bytes().next().is_none() || a.value == b.value {
                    continue;
                }
                involved[a.step] = true;
                must |= match (a.value, b.value) {
                    (Some(_), Some(_)) => bytes().any(|byte| last(a, byte) && last(b, byte)),
                    _ => true,
                };
            }
        }
        let run = kernel(&body).in_out([0; 4]).grid(grid).block(64);
        for seed in [case, case + 9999] {
            let ran = run
                .seeded(seed)
                .unwrap_or_else(|error| panic!("{error}\n{body}"));
            let findings = &ran.report.findings;
            for (kind, line) in ran.kinds() {
                assert!(
                    matches!(kind, Kind::ConflictingWrites | Kind::GlobalRace),
                    "{findings:#?}\n{body}"
                );
                assert!(
                    line > 0 && involved[line as usize - 1],
                    "{findings:#?}\n{body}"
                );
            }
            assert!(
                !must || !findings.is_empty(),
                "seed {seed}: {events:#?}\n{body}"
            );
            if !involved.contains(&true) {
                let again = run.seeded(seed).unwrap();
                assert_eq!(ran.report, again.report);
                assert_eq!(ran.values(0), again.values(0));
            }
        }
        clean += u32::from(!involved.contains(&true));
        wrong += u32::from(must);
    }
    assert!(clean > 300 && wrong > 300, "{clean} {wrong}");
}

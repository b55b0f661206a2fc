//! Control flow against an interpreter of one thread at a time.
//!
//! Programs are made at random: trees of conditions, loops, switches, breaks and early ends, or basic blocks that
//! jump to each other as they like. The text is compiled here, the interpreter walks the program itself;
//! registers that each thread ends with must be the same, for several seeds and sizes of blocks.

use std::fmt::Write;

use super::*;
use crate::random::SplitMix;

/// Registers that programs compute on: `%r10` and so on. The first holds the thread's number at the start.
const REGISTERS: usize = 5;
type State = [u32; REGISTERS];

#[derive(Clone, Copy, Debug)]
enum Compute {
    Add(usize, usize, usize),
    Mul(usize, usize, u32),
    Xor(usize, usize, usize),
    Sub(usize, usize, u32),
    Shift(usize, usize, u32),
    /// To the thread's own place in shared memory and back, past the other registers.
    Store(usize),
    Load(usize),
}

/// `register % modulus < bound`
#[derive(Clone, Copy, Debug)]
struct Test {
    register: usize,
    modulus: u32,
    bound: u32,
}

#[derive(Clone, Debug)]
enum Tree {
    Compute(Compute),
    If(Test, Vec<Tree>, Vec<Tree>),
    /// A loop that runs as often as a register modulo a number says, at most.
    Loop(usize, u32, Vec<Tree>),
    Break(Test),
    Continue(Test),
    Switch(usize, Vec<Vec<Tree>>),
    End(Test),
    /// A meeting of all threads that are alive: their ballot of a test, a shuffle to the next lane.
    Meet(Test, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    End,
}

/// A thread, with its place in memory.
#[derive(Clone, Copy, Debug)]
struct Thread {
    state: State,
    place: u32,
}

impl Thread {
    fn new(number: u32) -> Thread {
        let mut state = [0; REGISTERS];
        state[0] = number;
        for (i, register) in state.iter_mut().enumerate().skip(1) {
            *register = number.wrapping_mul(2654435761).wrapping_add(i as u32 * 77);
        }
        Thread {
            state,
            place: number,
        }
    }

    fn holds(&self, test: &Test) -> bool {
        self.state[test.register] % test.modulus < test.bound
    }

    fn compute(&mut self, compute: &Compute) {
        let state = &mut self.state;
        match *compute {
            Compute::Add(d, a, b) => state[d] = state[a].wrapping_add(state[b]),
            Compute::Mul(d, a, n) => state[d] = state[a].wrapping_mul(n).wrapping_add(n),
            Compute::Xor(d, a, b) => state[d] = state[a] ^ state[b],
            Compute::Sub(d, a, n) => state[d] = n.wrapping_sub(state[a]),
            Compute::Shift(d, a, n) => state[d] = state[a] >> n,
            Compute::Store(a) => self.place = state[a],
            Compute::Load(d) => state[d] = self.place,
        }
    }

    fn walk(&mut self, trees: &[Tree]) -> Flow {
        for tree in trees {
            let flow = match tree {
                Tree::Compute(compute) => {
                    self.compute(compute);
                    Flow::Next
                }
                Tree::If(test, yes, no) => self.walk(if self.holds(test) { yes } else { no }),
                Tree::Loop(register, modulus, body) => {
                    let mut flow = Flow::Next;
                    for _ in 0..self.state[*register] % modulus {
                        flow = self.walk(body);
                        if matches!(flow, Flow::Break | Flow::End) {
                            break;
                        }
                    }
                    if flow == Flow::End { flow } else { Flow::Next }
                }
                Tree::Switch(register, cases) => {
                    self.walk(&cases[self.state[*register] as usize % cases.len()])
                }
                Tree::Break(test) if self.holds(test) => Flow::Break,
                Tree::Continue(test) if self.holds(test) => Flow::Continue,
                Tree::End(test) if self.holds(test) => Flow::End,
                Tree::Break(_) | Tree::Continue(_) | Tree::End(_) | Tree::Meet(..) => Flow::Next,
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

struct Maker {
    random: SplitMix,
    /// Trees that may still be made.
    left: u32,
    ends: bool,
}

impl Maker {
    fn below(&mut self, n: u32) -> u32 {
        self.random.below(u64::from(n)) as u32
    }

    fn register(&mut self) -> usize {
        self.below(REGISTERS as u32) as usize
    }

    fn test(&mut self) -> Test {
        let modulus = 1 + self.below(6);
        Test {
            register: self.register(),
            modulus,
            bound: self.below(modulus + 1),
        }
    }

    fn compute(&mut self) -> Compute {
        let (d, a, b, n) = (
            self.register(),
            self.register(),
            self.register(),
            self.below(1000),
        );
        match self.below(7) {
            0 => Compute::Add(d, a, b),
            1 => Compute::Mul(d, a, n),
            2 => Compute::Xor(d, a, b),
            3 => Compute::Sub(d, a, n),
            4 => Compute::Shift(d, a, n % 32),
            5 => Compute::Store(a),
            _ => Compute::Load(d),
        }
    }

    fn trees(&mut self, depth: u32, in_loop: bool) -> Vec<Tree> {
        (0..1 + self.below(4))
            .filter_map(|_| self.tree(depth, in_loop))
            .collect()
    }

    fn tree(&mut self, depth: u32, in_loop: bool) -> Option<Tree> {
        self.left = self.left.checked_sub(1)?;
        let inner = depth + 1;
        Some(match self.below(if depth < 4 { 12 } else { 7 }) {
            5 if in_loop => Tree::Break(self.test()),
            6 if in_loop => Tree::Continue(self.test()),
            4 if self.ends && self.below(6) == 0 => Tree::End(self.test()),
            0..7 => Tree::Compute(self.compute()),
            7 | 8 => Tree::If(
                self.test(),
                self.trees(inner, in_loop),
                self.trees(inner, in_loop),
            ),
            9 | 10 => Tree::Loop(self.register(), 1 + self.below(6), self.trees(inner, true)),
            _ => {
                let cases = 1 + self.below(4);
                Tree::Switch(
                    self.register(),
                    (0..cases).map(|_| self.trees(inner, in_loop)).collect(),
                )
            }
        })
    }
}

/// The text of a program.
#[derive(Default)]
struct Text {
    body: String,
    labels: u32,
    /// The word of each thread's output that the next ballot goes to.
    words: usize,
    threads: u32,
}

impl Text {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.body.push_str(line.as_ref());
        self.body.push('\n');
    }

    /// `%p1` says whether a test holds.
    fn test(&mut self, test: &Test) {
        let Test {
            register,
            modulus,
            bound,
        } = test;
        self.line(format!(
            "rem.u32 %r1, %r1{register}, {modulus}; setp.lt.u32 %p1, %r1, {bound};"
        ));
    }

    fn compute(&mut self, compute: &Compute) {
        self.line(match *compute {
            Compute::Add(d, a, b) => format!("add.u32 %r1{d}, %r1{a}, %r1{b};"),
            Compute::Mul(d, a, n) => format!("mad.lo.u32 %r1{d}, %r1{a}, {n}, {n};"),
            Compute::Xor(d, a, b) => format!("xor.b32 %r1{d}, %r1{a}, %r1{b};"),
            Compute::Sub(d, a, n) => format!("sub.u32 %r1{d}, {n}, %r1{a};"),
            Compute::Shift(d, a, n) => format!("shr.u32 %r1{d}, %r1{a}, {n};"),
            Compute::Store(a) => format!("st.shared.u32 [%s3], %r1{a};"),
            Compute::Load(d) => format!("ld.shared.u32 %r1{d}, [%s3];"),
        });
    }

    /// `loops`: labels to continue and to break at; counters are `%r40` and so on, by depth.
    fn trees(&mut self, trees: &[Tree], loops: &[(String, String)]) {
        for tree in trees {
            match tree {
                Tree::Compute(compute) => self.compute(compute),
                Tree::If(test, yes, no) => {
                    let (other, end) = (self.label(), self.label());
                    self.test(test);
                    self.line(format!("@!%p1 bra {other};"));
                    self.trees(yes, loops);
                    self.line(format!("bra {end}; {other}:"));
                    self.trees(no, loops);
                    self.line(format!("{end}:"));
                }
                Tree::Loop(register, modulus, body) => {
                    let counter = 40 + loops.len();
                    let (head, next, end) = (self.label(), self.label(), self.label());
                    self.line(format!("rem.u32 %r{counter}, %r1{register}, {modulus}; {head}: setp.eq.u32 %p1, %r{counter}, 0; @%p1 bra {end};"));
                    let mut inside = loops.to_vec();
                    inside.push((next.clone(), end.clone()));
                    self.trees(body, &inside);
                    self.line(format!(
                        "{next}: sub.u32 %r{counter}, %r{counter}, 1; bra {head}; {end}:"
                    ));
                }
                Tree::Break(test) | Tree::Continue(test) => {
                    self.test(test);
                    let Some((next, end)) = loops.last() else {
                        continue;
                    };
                    let to = if matches!(tree, Tree::Break(_)) {
                        end
                    } else {
                        next
                    };
                    self.line(format!("@%p1 bra {to};"));
                }
                Tree::Switch(register, cases) => {
                    let labels: Vec<String> = cases.iter().map(|_| self.label()).collect();
                    let (table, end) = (self.label(), self.label());
                    self.line(format!("{table}: .branchtargets {};", labels.join(", ")));
                    self.line(format!(
                        "rem.u32 %r1, %r1{register}, {}; brx.idx %r1, {table};",
                        cases.len()
                    ));
                    for (label, case) in labels.iter().zip(cases) {
                        self.line(format!("{label}:"));
                        self.trees(case, loops);
                        self.line(format!("bra {end};"));
                    }
                    self.line(format!("{end}:"));
                }
                Tree::End(test) => {
                    self.test(test);
                    self.line("@%p1 bra FINISH;");
                }
                Tree::Meet(test, register) => {
                    self.test(test);
                    self.line(format!(
                        "activemask.b32 %r2; vote.sync.ballot.b32 %r3, %p1, %r2; shfl.sync.bfly.b32 %r4, %r1{register}, 0, 31, %r2; st.global.u32 [%s4+{}], %r2; st.global.u32 [%s4+{}], %r3; st.global.u32 [%s4+{}], %r4;",
                        4 * self.words, 4 * (self.words + 1), 4 * (self.words + 2)
                    ));
                    self.words += 3;
                }
            }
        }
    }
}

/// Words of a thread in the output: its registers, its place, then those of [`Tree::Meet`].
const WORDS: usize = 24;

fn head(threads: u32) -> String {
    let mut head = format!(
        "mov.u32 %r10, %tid.x; mul.wide.u32 %s1, %r10, 4; mov.u64 %s2, smem; add.s64 %s3, %s2, %s1; mul.wide.u32 %s4, %r10, {}; add.s64 %s4, %s4, %s90; st.shared.u32 [%s3], %r10; // {threads}\n",
        4 * WORDS
    );
    for i in 1..REGISTERS {
        let _ = writeln!(head, "mad.lo.u32 %r1{i}, %r10, 2654435761, {};", i * 77);
    }
    head
}

fn tail() -> String {
    let mut tail = String::from("FINISH: ld.shared.u32 %r1, [%s3]; activemask.b32 %r2;\n");
    for i in 0..REGISTERS {
        let _ = writeln!(tail, "st.global.u32 [%s4+{}], %r1{i};", 4 * i);
    }
    let _ = writeln!(
        tail,
        "st.global.u32 [%s4+{}], %r1; st.global.u32 [%s4+{}], %r2; ret;",
        4 * REGISTERS,
        4 * (REGISTERS + 1)
    );
    tail
}

fn values(body: &str, threads: u32, seed: u64) -> Vec<u32> {
    let run = kernel(body)
        .in_out(vec![0; WORDS * threads as usize])
        .block(threads)
        .smem(4 * threads)
        .limit(2_000_000);
    let ran = run
        .seeded(seed)
        .unwrap_or_else(|error| panic!("{error}\n{body}"));
    assert_eq!(
        ran.report.findings,
        [],
        "seed {seed}, {threads} threads\n{body}"
    );
    ran.values(0)
        .into_iter()
        .map(|value| value as u32)
        .collect()
}

/// Lanes that the warp of a thread has in a block.
fn warp_mask(thread: u32, threads: u32) -> u32 {
    match (threads - thread / 32 * 32).min(32) {
        32 => u32::MAX,
        lanes => (1 << lanes) - 1,
    }
}

fn check_end(
    body: &str,
    threads: u32,
    words: &[u32],
    thread: u32,
    expected: &Thread,
    together: bool,
) {
    let found = &words[thread as usize * WORDS..][..WORDS];
    assert_eq!(
        &found[..REGISTERS],
        expected.state,
        "thread {thread} of {threads}\n{body}"
    );
    assert_eq!(
        found[REGISTERS], expected.place,
        "thread {thread} of {threads}\n{body}"
    );
    if together {
        let mask = found[REGISTERS + 1];
        assert_eq!(
            mask,
            warp_mask(thread, threads),
            "thread {thread} of {threads}\n{body}"
        );
    }
}

const SIZES: [u32; 9] = [1, 2, 7, 31, 32, 33, 64, 65, 100];

#[test]
fn structured_programs_end_as_their_threads_do_alone() {
    for case in 0..400 {
        let mut maker = Maker {
            random: SplitMix(case * 7919 + 1),
            left: 25,
            ends: case % 2 == 0,
        };
        // Pieces one after the other, with a meeting of all between them where none ends early.
        let mut pieces = Vec::new();
        for _ in 0..3 {
            pieces.push(maker.trees(0, false));
            maker.left += 10;
        }
        let meetings: Vec<(Test, usize)> =
            (0..3).map(|_| (maker.test(), maker.register())).collect();
        let together = !maker.ends;
        let threads = SIZES[case as usize % SIZES.len()];
        let mut text = Text {
            words: REGISTERS + 2,
            threads,
            ..Text::default()
        };
        text.body = head(text.threads);
        let mut alone: Vec<Thread> = (0..threads).map(Thread::new).collect();
        let mut ended = vec![false; threads as usize];
        let mut expected = vec![Vec::new(); threads as usize];
        for (piece, (test, register)) in pieces.iter().zip(&meetings) {
            text.trees(piece, &[]);
            for (thread, ended) in alone.iter_mut().zip(&mut ended) {
                *ended = *ended || thread.walk(piece) == Flow::End;
            }
            if together {
                text.trees(&[Tree::Meet(*test, *register)], &[]);
                for thread in 0..threads {
                    let first = thread / 32 * 32;
                    let mask = warp_mask(thread, threads);
                    let ballot = (0..32).filter(|lane| {
                        mask >> lane & 1 != 0 && alone[(first + lane) as usize].holds(test)
                    });
                    let ballot = ballot.fold(0, |ballot, lane| ballot | 1u32 << lane);
                    expected[thread as usize].extend([
                        mask,
                        ballot,
                        alone[thread as usize].state[*register],
                    ]);
                }
            }
        }
        text.body.push_str(&tail());
        for seed in [case, case + 1000] {
            let words = values(&text.body, threads, seed);
            for thread in 0..threads {
                check_end(
                    &text.body,
                    threads,
                    &words,
                    thread,
                    &alone[thread as usize],
                    true,
                );
                let met = &words[thread as usize * WORDS + REGISTERS + 2..];
                let expected = &expected[thread as usize];
                assert_eq!(
                    &met[..expected.len()],
                    expected,
                    "thread {thread} of {threads}\n{}",
                    text.body
                );
            }
        }
    }
}

/// A block of a program without structure: it computes, then goes one way or the other.
#[derive(Debug)]
struct Block {
    computes: Vec<Compute>,
    test: Test,
    /// The next block if the test holds, and if not; `None` is the end.
    to: [Option<usize>; 2],
    /// The register and the table that choose the next block instead.
    table: Option<(usize, Vec<Option<usize>>)>,
}

/// Blocks that each thread executes, at most.
const FUEL: u32 = 40;

#[test]
fn programs_without_structure_end_as_their_threads_do_alone() {
    for case in 0..400 {
        let mut maker = Maker {
            random: SplitMix(case * 104_729 + 5),
            left: 0,
            ends: false,
        };
        let count = 2 + maker.below(9) as usize;
        let to = |maker: &mut Maker| {
            Some(maker.below(count as u32 + 1) as usize).filter(|&to| to < count)
        };
        let blocks: Vec<Block> = (0..count)
            .map(|_| Block {
                computes: (0..maker.below(3)).map(|_| maker.compute()).collect(),
                test: maker.test(),
                to: [to(&mut maker), to(&mut maker)],
                table: (maker.below(4) == 0).then(|| {
                    (
                        maker.register(),
                        (0..1 + maker.below(4)).map(|_| to(&mut maker)).collect(),
                    )
                }),
            })
            .collect();
        let threads = SIZES[case as usize % SIZES.len()];
        let mut text = Text {
            body: head(threads),
            threads,
            ..Text::default()
        };
        text.line(format!("mov.u32 %r40, {FUEL};"));
        let name = |to: Option<usize>| to.map_or("FINISH".to_string(), |to| format!("B{to}"));
        for (at, block) in blocks.iter().enumerate() {
            text.line(format!(
                "B{at}: setp.eq.u32 %p2, %r40, 0; @%p2 bra FINISH; sub.u32 %r40, %r40, 1;"
            ));
            block
                .computes
                .iter()
                .for_each(|compute| text.compute(compute));
            if let Some((register, table)) = &block.table {
                let labels: Vec<String> = table.iter().map(|&to| name(to)).collect();
                text.line(format!(
                    "T{at}: .branchtargets {}; rem.u32 %r1, %r1{register}, {}; brx.idx %r1, T{at};",
                    labels.join(", "),
                    table.len()
                ));
                continue;
            }
            text.test(&block.test);
            let [yes, no] = block.to;
            text.line(format!("@%p1 bra {};", name(yes)));
            // What follows in the text needs no jump.
            if no != Some(at + 1) {
                text.line(format!("bra {};", name(no)));
            }
        }
        text.body.push_str(&tail());
        for seed in [case, case + 1000] {
            let words = values(&text.body, threads, seed);
            for thread in 0..threads {
                let mut alone = Thread::new(thread);
                let mut at = Some(0);
                for _ in 0..FUEL {
                    let Some(block) = at.map(|at: usize| &blocks[at]) else {
                        break;
                    };
                    block
                        .computes
                        .iter()
                        .for_each(|compute| alone.compute(compute));
                    at = match &block.table {
                        Some((register, table)) => {
                            table[alone.state[*register] as usize % table.len()]
                        }
                        None => block.to[usize::from(!alone.holds(&block.test))],
                    };
                }
                check_end(&text.body, threads, &words, thread, &alone, false);
            }
        }
    }
}

#[test]
fn barriers_in_branches_are_found() {
    // A warp barrier waits for those that have not ended, so there the others wait elsewhere.
    for (barrier, end) in [
        ("bar.sync 0;", "ret;"),
        ("bar.warp.sync 0xffffffff;", "bar.sync 3, 64;"),
        ("barrier.sync 0;", "ret;"),
    ] {
        for split in [1, 5, 31] {
            let body = format!(
                "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, {split}; @%p1 bra A; {barrier} bra B; A: mov.u32 %r2, 1; W: setp.ne.u32 %p2, %r2, 1; @%p2 bra W; {end} B: ret;"
            );
            for seed in 0..4 {
                let kinds: Vec<Kind> = kernel(&body)
                    .block(64)
                    .seeded(seed)
                    .unwrap()
                    .kinds()
                    .into_iter()
                    .map(|(kind, _)| kind)
                    .collect();
                assert!(
                    kinds.contains(&Kind::BarrierDivergence),
                    "{kinds:?}\n{body}"
                );
            }
        }
    }
}

#[test]
fn three_parts_of_a_warp_that_spin_all_go_on() {
    // Lanes 0 and 2 spin below and above what lane 1 does, in loops whose jump back is none in the text.
    let body = "mov.u32 %r0, %tid.x; mov.u64 %s0, smem; setp.ne.u32 %p0, %r0, 0; @%p0 bra MADE; st.volatile.shared.u32 [%s0], 0; MADE: bar.warp.sync 7;
        setp.eq.u32 %p1, %r0, 0; @%p1 bra LOW; setp.eq.u32 %p1, %r0, 2; @%p1 bra HIGH; bra MIDDLE;
        BACK_LOW: mov.u32 %r5, 1; LOW: ld.volatile.shared.u32 %r1, [%s0]; setp.eq.u32 %p2, %r1, 0; @%p2 bra BACK_LOW; bra END;
        MIDDLE: mov.u32 %r2, 600; COUNT: sub.u32 %r2, %r2, 1; setp.ne.u32 %p3, %r2, 0; @%p3 bra COUNT; st.volatile.shared.u32 [%s0], 9; mov.u32 %r1, 9; bra END;
        BACK_HIGH: mov.u32 %r5, 2; HIGH: ld.volatile.shared.u32 %r1, [%s0]; setp.eq.u32 %p4, %r1, 0; @%p4 bra BACK_HIGH;
        END: mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1; st.global.u32 [%s2], %r1; ret;";
    for seed in 0..4 {
        let run = kernel(body).block(3).smem(4).output(3).limit(100_000);
        assert_eq!(run.seeded(seed).unwrap().clean(0), [9, 9, 9]);
    }
}

#[test]
fn lanes_meet_at_warp_barriers_of_several_branches() {
    // Each branch has one; the mask is what tells them apart, not the place.
    let body = "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; mov.u64 %s0, smem; add.s64 %s2, %s0, %s1; st.shared.u32 [%s2], %r0;
        setp.lt.u32 %p1, %r0, 16; @%p1 bra A; bar.warp.sync 0xffffffff; ld.shared.u32 %r1, [%s2+-64]; bra B;
        A: bar.warp.sync 0xffffffff; ld.shared.u32 %r1, [%s2+64];
        B: activemask.b32 %r2; add.s64 %s3, %s90, %s1; st.global.u32 [%s3], %r1; ret;";
    for seed in 0..4 {
        let values = kernel(body)
            .smem(128)
            .output(32)
            .seeded(seed)
            .unwrap()
            .clean(0);
        assert!(
            (0..32).all(|lane| values[lane] == (lane as i64 + 16) % 32),
            "{values:?}"
        );
    }
}

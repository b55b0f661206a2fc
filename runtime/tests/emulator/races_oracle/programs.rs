//! Programs made at random, and their text.

use std::fmt::Write;

use super::LANES;
use super::uses::{REGISTERS, Use};
use crate::random::SplitMix;

/// The byte at which data ends and flags begin, that at which `mbarrier` objects begin, and that at which they end.
pub(crate) const FLAGS: u32 = 128;
pub(crate) const MBARRIERS: u32 = 192;
pub(crate) const BYTES: u32 = 256;

/// An access of some lanes of a warp: lane `i` is at `at + i * stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub warp: u32,
    pub mask: u32,
    pub at: u32,
    pub stride: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    Weak,
    Volatile,
    Relaxed,
}

/// The way in which a flag is raised or seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Released, acquired.
    Ordered,
    /// Relaxed, with a fence before or after.
    Fenced,
    /// Relaxed alone: nothing is ordered.
    Relaxed,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// `width` bytes for each of `count` elements.
    Load(Place, u32, u32, Strength),
    Store(Place, u32, u32, Strength),
    Atomic(Place, u32),
    /// The warps that wait, and those that only arrive.
    Barrier {
        id: u32,
        counted: bool,
        waits: Vec<u32>,
        arrives: Vec<u32>,
    },
    WarpBarrier {
        warp: u32,
        mask: u32,
    },
    Copy(Place, u32),
    Commit {
        warp: u32,
        mask: u32,
    },
    /// All but the newest groups; everything.
    Wait {
        warp: u32,
        mask: u32,
        newest: Option<u32>,
    },
    /// A flag becomes 1, or is counted up.
    Raise {
        warp: u32,
        mask: u32,
        flag: u32,
        how: How,
        count: bool,
    },
    /// Waits until a flag has its last value.
    See {
        warp: u32,
        mask: u32,
        flag: u32,
        how: How,
        value: u32,
    },
    InitMbarrier {
        object: u32,
        arrivals: u32,
    },
    Arrive {
        warp: u32,
        mask: u32,
        object: u32,
        copies: bool,
    },
    /// Waits for the phase of that number.
    Phase {
        warp: u32,
        mask: u32,
        object: u32,
        phase: u32,
        tests: bool,
    },
}

pub(crate) struct Program {
    pub warps: u32,
    pub steps: Vec<Step>,
    /// Tells whether data may be accessed by strong operations.
    pub strong: bool,
    /// Uses of what is loaded; other loads have none.
    pub uses: Vec<Use>,
}

#[derive(Clone, Copy, Default)]
struct Flag {
    raised: u32,
    counts: bool,
    closed: bool,
}

#[derive(Clone, Copy, Default)]
struct Object {
    arrivals: u32,
    missing: u32,
    phase: u32,
}

struct Maker {
    random: SplitMix,
    warps: u32,
    steps: Vec<Step>,
    flags: [Flag; 4],
    objects: [Object; 3],
    /// Named barriers that nobody has used yet.
    next_id: u32,
    /// Data in shared memory may be accessed by strong operations; else fences order flags.
    strong: bool,
}

pub(crate) fn random(seed: u64) -> Program {
    let mut random = SplitMix(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let warps = 2 + random.below(3) as u32;
    let strong = random.below(2) == 0;
    let mut maker = Maker {
        random,
        warps,
        steps: Vec::new(),
        flags: Default::default(),
        objects: Default::default(),
        next_id: 1,
        strong,
    };
    maker.fill();
    Program {
        warps,
        steps: maker.steps,
        strong,
        uses: Vec::new(),
    }
}

impl Maker {
    fn below(&mut self, n: u32) -> u32 {
        self.random.below(u64::from(n)) as u32
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn warp(&mut self) -> u32 {
        self.below(self.warps)
    }

    fn mask(&mut self) -> u32 {
        match self.below(3) {
            0 => 1 << self.below(LANES),
            1 => 0xf,
            _ => 1 + self.below(15),
        }
    }

    /// Few places, so that accesses meet; lanes beside each other more often than at one place.
    fn place(&mut self, bytes: u32) -> Place {
        let mut mask = self.mask();
        let stride = if self.one_in(3) { 0 } else { bytes };
        if stride == 0 && !self.one_in(6) {
            mask = 1 << self.below(LANES);
        }
        let slots = (48 / bytes).clamp(1, 6);
        Place {
            warp: self.warp(),
            mask,
            at: self.below(slots) * bytes,
            stride,
        }
    }

    fn everybody(&mut self) {
        let counted = self.one_in(4);
        let waits = (0..self.warps).collect();
        self.steps.push(Step::Barrier {
            id: 0,
            counted,
            waits,
            arrives: vec![],
        });
    }

    fn strength(&mut self) -> Strength {
        match self.below(4) {
            0 if self.strong => Strength::Volatile,
            1 if self.strong => Strength::Relaxed,
            _ => Strength::Weak,
        }
    }

    fn fill(&mut self) {
        // Flags that are not initialised are never what is waited for, as memory is not.
        if !self.one_in(8) {
            let place = Place {
                warp: 0,
                mask: 1,
                at: FLAGS,
                stride: 0,
            };
            self.steps.push(Step::Store(place, 4, 4, Strength::Weak));
        }
        for object in 0..self.objects.len() as u32 {
            let arrivals = 1 + self.below(4);
            self.objects[object as usize] = Object {
                arrivals,
                missing: arrivals,
                phase: 0,
            };
            self.steps.push(Step::InitMbarrier { object, arrivals });
        }
        // Most programs begin with data.
        if !self.one_in(6) {
            for at in [0, 64] {
                let place = Place {
                    warp: self.warp(),
                    mask: 0xf,
                    at,
                    stride: 16,
                };
                self.steps.push(Step::Store(place, 4, 4, Strength::Weak));
            }
        }
        self.everybody();
        // How often something is done between accesses decides how many programs are right.
        let care = [0, 1, 3, 8][self.below(4) as usize];
        for _ in 0..2 + self.below(12) {
            self.access();
            for _ in 0..care {
                if self.one_in(2) {
                    self.order();
                }
            }
            if care == 8 && !self.one_in(4) {
                self.all_wait();
            }
        }
    }

    fn all_wait(&mut self) {
        for warp in 0..self.warps {
            self.steps.push(Step::Wait {
                warp,
                mask: 0xf,
                newest: None,
            });
        }
        self.everybody();
    }

    fn access(&mut self) {
        let width = [1, 2, 4, 8][self.below(4) as usize];
        let (width, count) = match self.below(6) {
            0 => (4, 4),
            1 => (8, 2),
            2 => (4, 2),
            _ => (if self.one_in(2) { 4 } else { width }, 1),
        };
        let place = self.place(width * count);
        let strength = self.strength();
        let step = match self.below(8) {
            0..3 => Step::Load(place, width, count, strength),
            3..5 => Step::Store(place, width, count, strength),
            5 if self.strong => {
                let width = width.max(4);
                Step::Atomic(self.place(width), width)
            }
            _ => {
                let width = [4, 8, 16][self.below(3) as usize];
                Step::Copy(self.place(width), width)
            }
        };
        self.steps.push(step);
    }

    fn order(&mut self) {
        let (warp, mask) = (self.warp(), self.mask());
        match self.below(14) {
            0 => self.everybody(),
            1 => {
                let id = self.next_id;
                if id < 16 {
                    self.next_id += 1;
                    let first = self.warp();
                    let others = (0..self.warps)
                        .filter(|&warp| warp != first)
                        .collect::<Vec<_>>();
                    let (mut waits, mut arrives) = (vec![first], vec![]);
                    for other in others {
                        match self.below(3) {
                            0 => waits.push(other),
                            1 => arrives.push(other),
                            _ => {}
                        }
                    }
                    self.steps.push(Step::Barrier {
                        id,
                        counted: true,
                        waits,
                        arrives,
                    });
                }
            }
            2 => self.steps.push(Step::WarpBarrier { warp, mask }),
            3 => self.steps.push(Step::WarpBarrier { warp, mask: 0xf }),
            4 | 5 => self.steps.push(Step::Commit { warp, mask }),
            6 | 7 => {
                let newest = (!self.one_in(3)).then(|| self.below(2));
                self.steps.push(Step::Wait { warp, mask, newest });
            }
            8 => self.raise(warp, mask),
            9 | 10 => self.see(warp, mask),
            11 | 12 => self.arrive(warp, mask),
            _ => self.phase(warp, mask),
        }
    }

    fn how(&mut self) -> How {
        match self.below(4) {
            0 => How::Relaxed,
            1 if !self.strong => How::Fenced,
            _ => How::Ordered,
        }
    }

    fn raise(&mut self, warp: u32, mask: u32) {
        let at = self.below(4);
        let how = self.how();
        let flag = self.flags[at as usize];
        if flag.closed || flag.raised != 0 && !flag.counts {
            return;
        }
        let initialized = matches!(self.steps[0], Step::Store(..));
        let count = initialized && (flag.counts || self.one_in(2));
        let mask = if count {
            mask
        } else {
            mask & mask.wrapping_neg()
        };
        let flag = &mut self.flags[at as usize];
        flag.counts = count;
        flag.raised += mask.count_ones();
        self.steps.push(Step::Raise {
            warp,
            mask,
            flag: at,
            how,
            count,
        });
    }

    fn see(&mut self, warp: u32, mask: u32) {
        let at = self.below(4);
        let how = self.how();
        let flag = &mut self.flags[at as usize];
        if flag.raised != 0 {
            flag.closed = true;
            let value = flag.raised;
            self.steps.push(Step::See {
                warp,
                mask,
                flag: at,
                how,
                value,
            });
        }
    }

    fn arrive(&mut self, warp: u32, mut mask: u32) {
        let at = self.below(3);
        let copies = self.one_in(2);
        let object = &mut self.objects[at as usize];
        while mask.count_ones() > object.missing {
            mask &= mask - 1;
        }
        if mask == 0 {
            return;
        }
        object.missing -= mask.count_ones();
        if object.missing == 0 {
            object.phase += 1;
        }
        self.steps.push(Step::Arrive {
            warp,
            mask,
            object: at,
            copies,
        });
    }

    fn phase(&mut self, warp: u32, mask: u32) {
        let at = self.below(3);
        let tests = self.one_in(2);
        let Object {
            arrivals,
            missing,
            phase,
        } = self.objects[at as usize];
        if phase == 0 || missing != 0 {
            return;
        }
        self.steps.push(Step::Phase {
            warp,
            mask,
            object: at,
            phase: phase - 1,
            tests,
        });
        if self.one_in(3) {
            // The next phase: everybody is past this one.
            let everybody = 0..self.warps;
            self.steps.extend(everybody.map(|warp| Step::Phase {
                warp,
                mask: 1,
                object: at,
                phase: phase - 1,
                tests,
            }));
            self.everybody();
            self.objects[at as usize].missing = arrivals;
        }
    }
}

/// The text of a warp: lines, and the steps that they are.
type Lines = Vec<(String, Option<usize>)>;

/// The body, and the step of each line.
pub(crate) fn text(program: &Program) -> (String, Vec<Option<usize>>) {
    let mut head = String::from(
        "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5; mov.u64 %s10, smem; mov.u32 %r20, 1; mov.u64 %s20, 0; ",
    );
    for i in 0..4 {
        let _ = write!(head, "mov.u32 %r{}, 0; ", 24 + i);
    }
    for log in 0..5 {
        let _ = write!(
            head,
            "mul.wide.u32 %s{0}, %r1, {1}; add.s64 %s{0}, %s{0}, %s10; ",
            11 + log,
            1 << log
        );
    }
    for mask in 1..16 {
        let _ = write!(
            head,
            "mov.u32 %r3, {mask}; shr.u32 %r3, %r3, %r1; and.b32 %r3, %r3, 1; setp.ne.u32 %p{0}, %r3, 0; ",
            20 + mask
        );
    }
    head += REGISTERS;
    head += "setp.eq.u32 %p6, 0, 0; setp.eq.u32 %p7, 0, 1; ";
    for warp in 1..program.warps {
        let _ = write!(head, "setp.eq.u32 %p1, %r2, {warp}; @%p1 bra WARP{warp}; ");
    }
    let mut lines: Vec<Lines> = vec![vec![(head, None)]];
    for warp in 1..program.warps {
        lines.push(vec![(format!("WARP{warp}:"), None)]);
    }
    for (at, step) in program.steps.iter().enumerate() {
        emit(&mut lines, at, step, program.use_of(at));
        for found in program.uses.iter().filter(|found| found.after == at) {
            if let Step::Load(place, width, count, _) = &program.steps[found.load] {
                let line = found.text(*width, *count, &when(place.mask));
                lines[place.warp as usize].push((line, None));
            }
        }
    }
    for warp in &mut lines {
        warp.push(("ret;".into(), None));
    }
    let lines: Lines = lines.into_iter().flatten().collect();
    let body: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
    (
        body.join("\n"),
        lines.iter().map(|(_, step)| *step).collect(),
    )
}

fn address(place: &Place) -> String {
    let base = match place.stride {
        0 => 10,
        stride => 11 + stride.trailing_zeros(),
    };
    format!("[%s{base}+{}]", place.at)
}

fn data(width: u32, count: u32, store: bool, later: Option<&Use>) -> (String, String) {
    let one = |i: u32| match (width, store) {
        (8, true) => "%s20".to_string(),
        (8, false) => format!("%s{}", 21 + i),
        (1 | 2, true) => "%h0".to_string(),
        (1 | 2, false) => format!("%h{}", 1 + i),
        (_, true) => "%r24".to_string(),
        (_, false) => format!("%r{}", 30 + i),
    };
    let vector = match count {
        1 => String::new(),
        n => format!(".v{n}"),
    };
    let one = |i: u32| later.map_or_else(|| one(i), |later| later.register(width, i));
    let regs: Vec<String> = (0..count).map(one).collect();
    let regs = match count {
        1 => regs[0].clone(),
        _ => format!("{{{}}}", regs.join(", ")),
    };
    (format!("{vector}.b{}", width * 8), regs)
}

/// The guard for the lanes of a mask.
fn when(mask: u32) -> String {
    format!("@%p{} ", 20 + mask)
}

fn emit(lines: &mut [Lines], at: usize, step: &Step, later: Option<&Use>) {
    let strength = |strength: Strength| match strength {
        Strength::Weak => "",
        Strength::Volatile => ".volatile",
        Strength::Relaxed => ".relaxed.cta",
    };
    let mut push = |warp: u32, line: String| lines[warp as usize].push((line, Some(at)));
    match step {
        Step::Load(place, width, count, how) => {
            let (ty, regs) = data(*width, *count, false, later);
            push(
                place.warp,
                format!(
                    "{}ld{}.shared{ty} {regs}, {};",
                    when(place.mask),
                    strength(*how),
                    address(place)
                ),
            );
        }
        Step::Store(place, width, count, how) => {
            let (ty, regs) = data(*width, *count, true, None);
            let set = if *width < 4 { "mov.u16 %h0, 0; " } else { "" };
            push(
                place.warp,
                format!(
                    "{set}{}st{}.shared{ty} {}, {regs};",
                    when(place.mask),
                    strength(*how),
                    address(place)
                ),
            );
        }
        Step::Atomic(place, width) => {
            let one = if *width == 8 { "%s20" } else { "%r20" };
            push(
                place.warp,
                format!(
                    "{}red.shared.add.u{} {}, {one};",
                    when(place.mask),
                    width * 8,
                    address(place)
                ),
            );
        }
        Step::Barrier {
            id,
            counted,
            waits,
            arrives,
        } => {
            let threads = 32 * (waits.len() + arrives.len());
            let count = if *counted {
                format!(", {threads}")
            } else {
                String::new()
            };
            for warp in waits {
                push(*warp, format!("bar.sync {id}{count};"));
            }
            for warp in arrives {
                push(*warp, format!("bar.arrive {id}, {threads};"));
            }
        }
        Step::WarpBarrier { warp, mask } => {
            push(*warp, format!("{}bar.warp.sync {mask};", when(*mask)))
        }
        Step::Copy(place, width) => {
            push(
                place.warp,
                format!(
                    "{}cp.async.ca.shared.global {}, [%s90], {width};",
                    when(place.mask),
                    address(place)
                ),
            );
        }
        Step::Commit { warp, mask } => {
            push(*warp, format!("{}cp.async.commit_group;", when(*mask)))
        }
        Step::Wait { warp, mask, newest } => {
            let what = newest.map_or("wait_all".to_string(), |n| format!("wait_group {n}"));
            push(*warp, format!("{}cp.async.{what};", when(*mask)));
        }
        Step::Raise {
            warp,
            mask,
            flag,
            how,
            count,
        } => {
            let flag = FLAGS + 4 * flag;
            let (fence, order) = match how {
                How::Ordered => ("", "release"),
                How::Fenced => ("fence.acq_rel.cta; ", "relaxed"),
                How::Relaxed => ("", "relaxed"),
            };
            let what = if *count {
                format!("red.{order}.cta.shared.add.u32")
            } else {
                format!("st.{order}.cta.shared.u32")
            };
            let fence = if fence.is_empty() {
                String::new()
            } else {
                format!("{}{fence}", when(*mask))
            };
            push(
                *warp,
                format!("{fence}{}{what} [%s10+{flag}], %r20;", when(*mask)),
            );
        }
        Step::See {
            warp,
            mask,
            flag,
            how,
            value,
        } => {
            let flag = FLAGS + 4 * flag;
            let (fence, order) = match how {
                How::Ordered => ("", "acquire"),
                How::Fenced => ("fence.acq_rel.cta; ", "relaxed"),
                How::Relaxed => ("", "relaxed"),
            };
            push(
                *warp,
                format!(
                    "@!%p{} bra SEEN{at}; SEE{at}: ld.{order}.cta.shared.u32 %r10, [%s10+{flag}]; setp.ne.u32 %p8, %r10, {value}; @%p8 bra SEE{at}; {fence} SEEN{at}:",
                    20 + mask
                ),
            );
        }
        Step::InitMbarrier { object, arrivals } => {
            push(
                0,
                format!(
                    "{}mbarrier.init.shared.b64 [%s10+{}], {arrivals};",
                    when(1),
                    MBARRIERS + 8 * object
                ),
            );
        }
        Step::Arrive {
            warp,
            mask,
            object,
            copies,
        } => {
            let object = MBARRIERS + 8 * object;
            let what = if *copies {
                format!("cp.async.mbarrier.arrive.noinc.shared.b64 [%s10+{object}]")
            } else {
                format!("mbarrier.arrive.shared.b64 _, [%s10+{object}]")
            };
            push(*warp, format!("{}{what};", when(*mask)));
        }
        Step::Phase {
            warp,
            mask,
            object,
            phase,
            tests,
        } => {
            let wait = if *tests { "test_wait" } else { "try_wait" };
            push(
                *warp,
                format!(
                    "@!%p{} bra PASSED{at}; PASS{at}: mbarrier.{wait}.parity.shared.b64 %p8, [%s10+{}], {}; @!%p8 bra PASS{at}; PASSED{at}:",
                    20 + mask,
                    MBARRIERS + 8 * object,
                    phase & 1
                ),
            );
        }
    }
}

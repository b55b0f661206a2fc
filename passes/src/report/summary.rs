//! The accesses of one op of one kind, together.

use super::{
    Walked, cure,
    figures::{self, Global, Range, Shared},
    threads::counted,
    walk::{Access, Kind},
};
use cute_ir::mlir::{Op, ValueKey};
use std::collections::BTreeMap;

/// Figures of all warps of a block and all instructions together, and of the one that costs most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum<T> {
    /// Warps that take part, each instruction's counted.
    pub requests: u64,
    /// Threads of these.
    pub threads: u64,
    /// Sectors, or passes: what is known to be needed, and what may be.
    pub least: u64,
    /// The greatest sum.
    pub most: u64,
    /// The sum where every access is ideal.
    pub ideal: u64,
    /// The figures of the warp and instruction that needs most.
    pub worst: T,
}

/// The costs of the instructions of one kind that an op becomes.
#[derive(Clone, Debug)]
pub struct AccessReport {
    /// The kind of instruction.
    pub kind: Kind,
    /// Bytes that a thread moves at once; of a matrix, those of a row.
    pub bytes: u32,
    /// Instructions that a thread executes, each time that the op is.
    pub instructions: u32,
    /// The cost in global memory; an error says why it is not known.
    pub global: Option<Result<Sum<Global>, String>>,
    /// The cost in shared memory; an error says why it is not known.
    pub shared: Option<Result<Sum<Shared>, String>>,
    /// The arrangement of the first warp in global memory: runs of so many threads and bytes.
    pub runs: Option<(usize, u64)>,
    /// Tells whether threads were taken to take part of which that is not known.
    pub assumed: bool,
    /// The change that would help in global memory, if anything does.
    pub global_cure: Option<String>,
    /// The change that would help in shared memory, if anything does.
    pub shared_cure: Option<String>,
}

/// The accesses of a kernel by the ops that they are of, those of one kind and width together.
pub(super) fn of(walked: &Walked, all: &[Op<'_>]) -> BTreeMap<usize, Vec<AccessReport>> {
    let symbols = &walked.symbols;
    let mut grouped: BTreeMap<(usize, Kind, u32), Vec<&Access>> = BTreeMap::new();
    for access in &walked.accesses {
        if let Some(op) = walked.of.get(&access.op) {
            let group = grouped.entry((*op, access.kind, access.bytes)).or_default();
            group.push(access);
        }
    }
    let mut found: BTreeMap<usize, Vec<AccessReport>> = BTreeMap::new();
    let mut of_tensor: BTreeMap<ValueKey, (Vec<&Access>, u32, u32)> = BTreeMap::new();
    for ((op, kind, bytes), accesses) in &grouped {
        let mut report = AccessReport {
            kind: *kind,
            bytes: *bytes,
            instructions: accesses.len() as u32,
            global: None,
            shared: None,
            runs: None,
            assumed: accesses.iter().any(|a| a.assumed),
            global_cure: None,
            shared_cure: None,
        };
        for access in accesses {
            for warp in figures::warps(access, symbols) {
                if let Some(found) = warp.global {
                    let figure =
                        |g: &Global| (g.sectors, g.ideal_sectors, (g.lines.most, g.sectors.most));
                    merge(&mut report.global, found, warp.threads, figure);
                }
                if let Some(found) = warp.shared {
                    if let (Ok(found), Some(side)) = (&found, &access.shared) {
                        let of = of_tensor.entry(side.root).or_default();
                        (of.1, of.2) = (of.1 + found.banks.most, of.2 + found.ideal);
                    }
                    let figure = |s: &Shared| (s.wavefronts, s.ideal, (s.wavefronts.most, 0));
                    merge(&mut report.shared, found, warp.threads, figure);
                }
            }
            if let Some(side) = &access.shared {
                of_tensor.entry(side.root).or_default().0.push(access);
            }
        }
        if let Some(Ok(sum)) = &report.global
            && sum.worst.is_wasteful()
        {
            report.runs = figures::runs(accesses[0], symbols);
            report.global_cure = all.get(*op).and_then(|op| cure::for_lines(*op, *bytes));
        }
        found.entry(*op).or_default().push(report);
    }
    // A swizzle is a tensor's, so all that access the tensor have a say.
    for (root, (accesses, passes, ideal)) in of_tensor {
        if passes <= ideal {
            continue;
        }
        let cure = match cure::for_banks(&accesses, passes, symbols) {
            Some((swizzle, with)) => format!(
                "the swizzle {swizzle} on the tensor makes it {with} instead of {passes} passes in all, at best {ideal}"
            ),
            None => continue,
        };
        for ((op, kind, bytes), group) in &grouped {
            let same = group
                .iter()
                .any(|a| a.shared.as_ref().is_some_and(|s| s.root == root));
            let reports = found.get_mut(op).into_iter().flatten();
            for report in reports.filter(|r| same && r.kind == *kind && r.bytes == *bytes) {
                let conflicts =
                    matches!(&report.shared, Some(Ok(s)) if s.worst.banks.most > s.worst.ideal);
                if conflicts {
                    report.shared_cure = Some(cure.clone());
                }
            }
        }
    }
    found
}

fn merge<T: Copy + Default>(
    into: &mut Option<Result<Sum<T>, String>>,
    found: Result<T, String>,
    threads: u32,
    figure: impl Fn(&T) -> (Range, u32, (u32, u32)),
) {
    let sum = into.get_or_insert_with(|| Ok(Sum::default()));
    match (sum, found) {
        (Ok(sum), Ok(found)) => {
            let (range, ideal, cost) = figure(&found);
            if sum.requests == 0 || cost > figure(&sum.worst).2 {
                sum.worst = found;
            }
            sum.requests += 1;
            sum.threads += u64::from(threads);
            sum.least += u64::from(range.least);
            sum.most += u64::from(range.most);
            sum.ideal += u64::from(ideal);
        }
        (sum @ Ok(_), Err(error)) => *sum = Err(error),
        (Err(_), _) => {}
    }
}

/// `16`, or `16 at best and 20 at worst`
fn range(range: Range, what: &str) -> String {
    if range.is_known() {
        counted(i64::from(range.least), what)
    } else {
        format!(
            "{} at best and {} at worst",
            counted(i64::from(range.least), what),
            range.most
        )
    }
}

fn part_of_a_line(bytes: u64) -> String {
    match bytes {
        32 => "a quarter of a line".to_owned(),
        64 => "half a line".to_owned(),
        96 => "three quarters of a line".to_owned(),
        other => format!("{other} of a line's 128 bytes"),
    }
}

impl AccessReport {
    /// Describes it, line by line.
    pub fn lines(&self) -> Vec<String> {
        let name = self.kind.instruction();
        let unit = match self.kind {
            Kind::LoadMatrix | Kind::StoreMatrix => "a row",
            _ => "a thread",
        };
        let mut first = format!(
            "{name}: {} {unit}, {} a thread",
            counted(i64::from(self.bytes), "byte"),
            counted(i64::from(self.instructions), "instruction"),
        );
        if self.assumed {
            first += "; as if all threads took part, of which some may not";
        }
        let mut all = vec![first];
        all.extend(self.global.as_ref().map(|found| self.global_line(found)));
        all.extend(self.shared.as_ref().map(|found| self.shared_line(found)));
        all
    }

    fn global_line(&self, found: &Result<Sum<Global>, String>) -> String {
        let name = self.kind.instruction();
        let worst = match found {
            Err(why) => return format!("{name}: sectors are not known: {why}"),
            Ok(sum) => sum.worst,
        };
        let mut text = format!(
            "{name}: a warp touches {}, ideal {}, and {}, ideal {}",
            range(worst.sectors, "sector"),
            worst.ideal_sectors,
            range(worst.lines, "line"),
            worst.ideal_lines,
        );
        if worst.apart {
            text += "; rows at distances that are not known are taken to share no line";
        }
        if !worst.sectors.is_known() || !worst.lines.is_known() {
            text += "; the start is not known to be a multiple of a line";
        }
        if worst.is_wasteful() {
            if let Some((threads, bytes)) = self.runs {
                let verb = if self.kind == Kind::GlobalStore {
                    "write"
                } else {
                    "read"
                };
                if bytes < 128 {
                    text += &match threads {
                        1 => format!(": each thread {verb}s {bytes} bytes apart from the others"),
                        _ => format!(
                            ": each {threads} threads {verb} {bytes} bytes, {}",
                            part_of_a_line(bytes)
                        ),
                    };
                }
            }
            if let Some(cure) = &self.global_cure {
                text += &format!("; {cure}");
            }
        }
        text
    }

    fn shared_line(&self, found: &Result<Sum<Shared>, String>) -> String {
        let name = self.kind.instruction();
        let worst = match found {
            Err(why) => return format!("{name}: bank conflicts are not known: {why}"),
            Ok(sum) => sum.worst,
        };
        let mut text = format!(
            "{name}: {} a warp access, ideal {}",
            range(worst.wavefronts, "wavefront"),
            worst.ideal
        );
        if worst.wavefronts.most > worst.banks.most {
            text += &format!(
                ", {} by banks of shared memory: rows of global memory shorter than 128 bytes cost the rest",
                range(worst.banks, "wavefront")
            );
        }
        if let Some(cure) = &self.shared_cure {
            text += &format!("; {cure}");
        }
        text
    }
}

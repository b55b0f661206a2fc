//! Tests of the emulator's counts of single memory instructions against hardware counters.
//!
//! The table is `counters/sm_90.txt`, or the file that `CUTE_COUNTERS` names; `tools/counters.py` measures such tables.

use std::collections::BTreeMap;

use cute_runtime::emulator::traffic::{
    Sectors, SharedAtomic, Wavefronts, async_copy_wavefronts, global_atomic_sectors,
    global_sectors, matrix_wavefronts, shared_atomic_wavefronts, shared_wavefronts,
};
use cute_runtime::emulator::{LANES, Mask, Row};

/// A line: an instruction executed once by one warp, and its figures.
struct Case<'a> {
    line: usize,
    name: &'a str,
    active: Mask,
    /// Offsets in the memory that the instruction names; of cp.async, the shared one.
    at: Row,
    /// Offsets in global memory, of cp.async.
    from: Row,
    figures: BTreeMap<&'a str, u32>,
}

fn table(text: &str) -> Vec<Case<'_>> {
    let cases = text.lines().enumerate();
    cases
        .filter(|(_, line)| !line.starts_with('#'))
        .map(|(n, line)| parse(n + 1, line).unwrap_or_else(|| panic!("line {}: {line}", n + 1)))
        .collect()
}

fn parse(line: usize, text: &str) -> Option<Case<'_>> {
    let [name, places, figures] = text.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
        return None;
    };
    let mut places = places.split('/').map(offsets);
    let (active, at) = places.next()??;
    let (_, from) = places.next().unwrap_or(Some((0, [0; LANES])))?;
    let figures = figures
        .split(' ')
        .map(|f| {
            let (k, v) = f.split_once('=')?;
            Some((k, v.parse().ok()?))
        })
        .collect::<Option<_>>()?;
    Some(Case {
        line,
        name,
        active,
        at,
        from,
        figures,
    })
}

/// Runs of lanes: `128`, `0+4x32`, `-`, `-x16`.
fn offsets(text: &str) -> Option<(Mask, Row)> {
    let (mut active, mut row, mut lane) = (0, [0; LANES], 0);
    for run in text.split_whitespace() {
        let (first, count) = match run.split_once('x') {
            Some((first, count)) => (first, count.parse().ok()?),
            None => (run, 1),
        };
        let (start, step): (i64, i64) = match first.find(['+', '-']) {
            Some(0) => (-1, 0),
            Some(sign) => (first[..sign].parse().ok()?, first[sign..].parse().ok()?),
            None => (first.parse().ok()?, 0),
        };
        for k in 0..count {
            if start >= 0 {
                active |= 1 << lane;
                *row.get_mut(lane)? = u64::try_from(start + k * step).ok()?;
            }
            lane += 1;
        }
    }
    (lane == LANES).then_some((active, row))
}

/// The counts of the emulator.
fn predict(case: &Case) -> Vec<(&'static str, u32)> {
    let (name, at, active) = (case.name, &case.at, case.active);
    let digits = name.rsplit(|c: char| !c.is_ascii_digit()).next();
    let number: u32 = digits.and_then(|d| d.parse().ok()).unwrap_or(0);
    let global = |s: Sectors| {
        vec![
            ("sectors", s.sectors),
            ("lines", s.lines),
            ("ideal_sectors", s.ideal),
        ]
    };
    let shared = |w: Wavefronts| vec![("wavefronts", w.actual), ("ideal_wavefronts", w.ideal)];
    if let Some((_, matrices)) = name.split_once("matrix.x") {
        let matrices = matrices
            .trim_end_matches(".trans")
            .parse()
            .expect("a number");
        shared(matrix_wavefronts(at, matrices))
    } else if name.starts_with("cp.async.cg") {
        vec![("lines", global_sectors(&case.from, active, number).lines)]
    } else if name.starts_with("cp.async.ca") {
        let mut all = shared(async_copy_wavefronts(at, &case.from, active, 0, number));
        all.extend(global(global_sectors(&case.from, active, number)));
        all
    } else if name.starts_with("ld.shared") || name.starts_with("st.shared") {
        let is_store = name.starts_with("st");
        shared(shared_wavefronts(at, active, number / 8, is_store))
    } else if name.starts_with("ld.global") || name.starts_with("st.global") {
        global(global_sectors(at, active, number / 8))
    } else if name.starts_with("atom.shared.add") {
        shared(shared_atomic_wavefronts(at, active, SharedAtomic::Update))
    } else if name.starts_with("atom.shared.cas") {
        shared(shared_atomic_wavefronts(
            at,
            active,
            SharedAtomic::CompareAndSwap,
        ))
    } else if name.starts_with("atom.global") || name.starts_with("red.global") {
        global(global_atomic_sectors(at, active, number / 8))
    } else {
        panic!(
            "line {}: expected a known instruction, found {name}",
            case.line
        )
    }
}

#[test]
fn counts_are_those_of_the_hardware() {
    let (text, is_ours) = match std::env::var("CUTE_COUNTERS") {
        Ok(path) => {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
            (text, false)
        }
        Err(_) => (include_str!("counters/sm_90.txt").to_owned(), true),
    };
    // Instructions, those that agree, and the sums of both counts, by instruction and figure.
    let mut sums: BTreeMap<(&str, &str), [u32; 4]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in table(&text) {
        let predicted = predict(&case);
        let known = |f: &&str| predicted.iter().any(|(name, _)| name == f);
        assert!(
            !case.figures.is_empty() && case.figures.keys().all(known),
            "line {}: expected figures that {} has, found {:?}",
            case.line,
            case.name,
            case.figures
        );
        for (figure, count) in predicted {
            let Some(&measured) = case.figures.get(figure) else {
                continue;
            };
            let sum = sums.entry((case.name, figure)).or_default();
            sum[0] += 1;
            sum[1] += u32::from(count == measured);
            sum[2] += count;
            sum[3] += measured;
            // How L1 places lines far apart is a hash that nobody has written down: there, more passes are measured.
            let bound = case.name.starts_with("cp.async.ca") && figure == "wavefronts";
            if if bound {
                count > measured
            } else {
                count != measured
            } {
                wrong.push(format!(
                    "line {}: {} has {measured} {figure}, counted {count}",
                    case.line, case.name
                ));
            }
        }
    }
    for ((name, figure), [all, same, counted, measured]) in &sums {
        println!(
            "{name:20} {figure:16} {all:4} measured, {same:4} the same, {counted:6} counted for {measured:6}"
        );
        assert!(4 * same >= 3 * all, "{name}: {figure}: {same} of {all}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Another table may have a few instructions alone.
    let least = if is_ours { 60 } else { 1 };
    assert!(sums.len() >= least, "a short table: {} rows", sums.len());
}

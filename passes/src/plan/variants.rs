//! The choice among candidates: the fastest one where sizes are known, and a few that are fast together where they are not.

use super::{Candidate, Problem};

/// The sizes that an open problem is tried with: few of them where several extents are open.
const MANY: &[i64] = &[
    1, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
];
const FEW: &[i64] = &[1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// The number of products that is assumed where it is open.
const BATCH: i64 = 8;

/// The time of one size by the best candidate.
const UNIT: i64 = 1 << 10;

/// A candidate is worth its kernel if it takes one in so many parts off the time of an open problem, on average over the sizes.
const WORTH: i64 = 40;

/// The candidates for a problem on so many multiprocessors, at most `most`; none of none.
pub(super) fn choose<'c>(
    candidates: Vec<Candidate<'c>>,
    problem: &Problem<'c>,
    sms: i64,
    most: usize,
) -> Vec<Candidate<'c>> {
    let open = problem.extents.iter().filter(|extent| extent.is_none());
    let tried = match open.count() {
        0 | 1 => MANY,
        _ => FEW,
    };
    let sizes = |axis: usize| match &problem.extents[axis] {
        Some(known) => std::slice::from_ref(known),
        None => tried,
    };
    let batch = problem.batch.unwrap_or(BATCH);
    let mut points = Vec::new();
    for m in sizes(0) {
        for n in sizes(1) {
            for k in sizes(2) {
                points.push([*m, *n, *k]);
            }
        }
    }
    // For each candidate and each size, the time relative to the best one's.
    let mut times: Vec<Vec<i64>> = candidates
        .iter()
        .map(|candidate| {
            let time = |extents: &[i64; 3]| candidate.estimate.known(*extents, batch, sms);
            points.iter().map(time).collect()
        })
        .collect();
    // What splits K is chosen on top of what does not, where the sizes of a launch decide: its estimate was not measured.
    let all: Vec<usize> = (0..candidates.len()).collect();
    let is_whole = |at: &usize| !candidates[*at].plan.is_split();
    let mut whole: Vec<usize> = all.iter().copied().filter(is_whole).collect();
    if points.len() == 1 || whole.is_empty() {
        whole.clone_from(&all);
    }
    for point in 0..points.len() {
        let best = whole.iter().map(|at| times[*at][point]);
        let best = best.min().unwrap_or(1).max(1);
        for all in &mut times {
            let time = i128::from(all[point]) * i128::from(UNIT) / i128::from(best);
            all[point] = i64::try_from(time).unwrap_or(i64::MAX).min(UNIT << 10);
        }
    }
    // The fastest on the largest sizes, which take the most time, and then whatever gains the most.
    let of_largest = |at: &&usize| (times[**at].last().copied(), **at);
    let largest = whole.iter().min_by_key(of_largest).copied();
    let mut chosen: Vec<usize> = largest.into_iter().collect();
    let mut reached = largest.map_or(Vec::new(), |at| times[at].clone());
    for among in [&whole, &all] {
        while chosen.len() < most {
            let with = |all: &Vec<i64>| -> i64 {
                let both = all.iter().zip(&reached);
                both.map(|(time, reached)| time.min(reached)).sum()
            };
            let best = among.iter().min_by_key(|at| (with(&times[**at]), **at));
            let Some(best) = best else { break };
            let (before, after) = (reached.iter().sum::<i64>(), with(&times[*best]));
            if before - after <= before / WORTH {
                break;
            }
            for (reached, time) in reached.iter_mut().zip(&times[*best]) {
                *reached = *time.min(reached);
            }
            chosen.push(*best);
        }
    }
    // In the order of the table, so that larger tiles come first.
    chosen.sort_unstable();
    let all = candidates.into_iter().enumerate();
    all.filter(|(at, _)| chosen.contains(at))
        .map(|(_, candidate)| candidate)
        .collect()
}

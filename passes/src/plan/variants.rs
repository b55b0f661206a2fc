//! The choice among candidates: the fastest one where sizes are known, and a few that are fast together where they are not; or
//! the best ones, for somebody else to choose from.

use super::{Calibrated, Candidate, Chosen, Problem, measured::Measured};
use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

/// The sizes that an open problem is tried with: few of them where several extents are open.
const MANY: &[i64] = &[
    1, 8, 16, 32, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 576, 640, 768, 896, 1024, 1280,
    1536, 1792, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 8192, 12288,
];
const FEW: &[i64] = &[
    1, 16, 64, 128, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096, 8192,
];

/// The least size of which three open extents have two: a product of which two are smaller takes no time to speak of, whatever its plan.
const LEAST: i64 = 256;

/// The part of the kernels that is left for sizes whose lines begin elsewhere than at multiples of 128 bytes: one in so many.
const LEFT: usize = 4;

/// Sizes of so many vectors are tried between those of the lists as well, at least.
const BETWEEN: i64 = 32;

/// The number of products that is assumed where it is open.
const BATCH: i64 = 8;

/// The time of one size by the best candidate.
const UNIT: i64 = 1 << 10;

/// A candidate is worth its kernel if it takes one in so many parts off the time of an open problem, on average over the sizes.
const WORTH: i64 = 600;

/// The same of one size, where a single extent is open: a layer of a network, say, that is called with any number of rows, and most often with few of them.
const WORTH_OF_ONE: i64 = 33;

/// The part of either that is enough for a candidate whose kernel there is already, and which needs only a small second one, to add another number of parts of K: one in so many.
const OF_SECOND: i64 = 5;

/// The sizes that a problem is tried with: M, N and K.
fn points(problem: &Problem<'_>) -> Vec<[i64; 3]> {
    let tried = match problem.open_extents() {
        0 | 1 => MANY,
        _ => FEW,
    };
    let sizes = |axis: usize| match &problem.extents[axis] {
        Some(known) => std::slice::from_ref(known),
        None => tried,
    };
    let mut points = Vec::new();
    for m in sizes(0) {
        for n in sizes(1) {
            for k in sizes(2) {
                points.push([*m, *n, *k]);
            }
        }
    }
    if problem.extents.iter().all(Option::is_none) {
        points.retain(|point| point.iter().filter(|size| **size < LEAST).count() < 2);
    }
    points
}

/// A size near one whose lines of A or B begin elsewhere than at multiples of 128 bytes, but at multiples of 16; none where that is known.
fn elsewhere(problem: &Problem<'_>, point: [i64; 3]) -> Option<[i64; 3]> {
    let mut other = point;
    for (factor, access) in problem.accesses[..2].iter().enumerate() {
        let axis = access.extent_of_lines(factor);
        let is_open = !access.known && problem.extents[axis].is_none();
        if is_open && access.lines > 0 && point[axis] > BETWEEN * access.lines {
            other[axis] = point[axis] - access.lines;
        }
    }
    (other != point).then_some(other)
}

/// The time of each candidate at each size, relative to that of the best one of `among`.
fn relative_times(
    candidates: &[Candidate<'_>],
    problem: &Problem<'_>,
    measured: &Measured,
    points: &[[i64; 3]],
    among: &[usize],
) -> Vec<Vec<i64>> {
    let batch = problem.batch.unwrap_or(BATCH);
    let near = points.iter().map(|point| measured.near(*point, batch));
    let near: Vec<_> = near.collect();
    let mut times: Vec<Vec<i64>> = candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| {
            let times = near.iter().map(|near| near.time(at, &candidate.estimate));
            times.collect()
        })
        .collect();
    for point in 0..points.len() {
        let best = among.iter().map(|at| times[*at][point]);
        let best = best.min().unwrap_or(1).max(1);
        for all in &mut times {
            let time = i128::from(all[point]) * i128::from(UNIT) / i128::from(best);
            all[point] = i64::try_from(time).unwrap_or(i64::MAX).min(UNIT << 10);
        }
    }
    times
}

/// The sum of the times, at each size of the faster one of a candidate and of what there is.
fn with(times: &[i64], reached: &[i64]) -> i64 {
    let both = times.iter().zip(reached);
    both.map(|(time, reached)| time.min(reached)).sum()
}

/// The candidates at these places, in their order, with what measurements say of each.
fn taken<'c>(
    candidates: Vec<Candidate<'c>>,
    problem: &Problem<'c>,
    measured: &Measured,
    places: &[usize],
) -> Vec<Chosen<'c>> {
    let mut all: Vec<_> = candidates.into_iter().map(Some).collect();
    let take = |at: &usize| {
        let Candidate {
            plan,
            asking,
            estimate,
            exchanged,
        } = all.get_mut(*at)?.take()?;
        let time = Calibrated {
            estimate,
            factors: measured.factors(*at, places, problem),
        };
        Some(Chosen {
            plan,
            asking,
            time,
            exchanged,
        })
    };
    places.iter().filter_map(take).collect()
}

/// The kernel of each candidate, by the place of the first that has the same: where only a launch knows K, it says in how many parts a kernel splits it.
fn kernels(candidates: &[Candidate<'_>], problem: &Problem<'_>) -> Vec<usize> {
    let of_launch = problem.extents[2].is_none();
    let all = candidates.iter().enumerate();
    all.map(|(at, candidate)| {
        let is_same =
            |other: &Candidate<'_>| of_launch && other.plan.differs_in_parts(&candidate.plan);
        candidates[..at].iter().position(is_same).unwrap_or(at)
    })
    .collect()
}

/// Adds to what is chosen what makes the sizes of `times` faster, of at most so many kernels in all: first the candidate that gains the most beyond what it is to be worth.
fn gaining(
    (times, kernels): (&[Vec<i64>], &[usize]),
    among: [&[usize]; 2],
    mut chosen: Vec<usize>,
    (most, is_one): (usize, bool),
) -> Vec<usize> {
    let of_all = chosen.iter().map(|at| times[*at].clone());
    let Some(mut reached) = of_all.reduce(|one, other| {
        let both = one.into_iter().zip(other);
        both.map(|(one, other)| one.min(other)).collect()
    }) else {
        return chosen;
    };
    for among in among {
        loop {
            let met: HashSet<usize> = chosen.iter().map(|at| kernels[*at]).collect();
            let before = reached.iter().sum::<i64>();
            let worth = |at: usize| {
                let of_kernel = match is_one {
                    true => UNIT / WORTH_OF_ONE,
                    false => before / WORTH,
                };
                match met.contains(&kernels[at]) {
                    true => of_kernel / OF_SECOND,
                    false => of_kernel,
                }
            };
            let gain = |at: usize| before - with(&times[at], &reached);
            // A kernel that there is not yet brings all numbers of parts.
            let mut shortest: HashMap<usize, Vec<i64>> = HashMap::new();
            for at in among.iter().filter(|at| !met.contains(&kernels[**at])) {
                let all = shortest
                    .entry(kernels[*at])
                    .or_insert_with(|| reached.clone());
                for (all, time) in all.iter_mut().zip(&times[*at]) {
                    *all = *time.min(all);
                }
            }
            let gain_of_kernel: HashMap<usize, i64> = shortest
                .iter()
                .map(|(kernel, all)| (*kernel, before - all.iter().sum::<i64>()))
                .collect();
            let value = |at: usize| {
                let of_kernel = gain_of_kernel.get(&kernels[at]).copied();
                of_kernel.unwrap_or_else(|| gain(at)) - worth(at)
            };
            let fits = |at: &usize| met.len() < most || met.contains(&kernels[*at]);
            let open = among.iter().copied().filter(fits);
            let best = open.max_by_key(|at| (value(*at), gain(*at), Reverse(*at)));
            let Some(best) = best.filter(|at| value(*at) > 0) else {
                break;
            };
            for (reached, time) in reached.iter_mut().zip(&times[best]) {
                *reached = *time.min(reached);
            }
            chosen.push(best);
        }
    }
    chosen
}

/// The candidates for a problem, of at most `most` kernels that multiply; none of none.
pub(super) fn choose<'c>(
    candidates: Vec<Candidate<'c>>,
    problem: &Problem<'c>,
    measured: &Measured,
    most: usize,
) -> Vec<Chosen<'c>> {
    let points = points(problem);
    // What splits K is chosen on top of what does not, where the sizes of a launch decide: its estimate was not measured.
    let all: Vec<usize> = (0..candidates.len()).collect();
    let is_whole = |at: &usize| !candidates[*at].plan.is_split();
    let mut whole: Vec<usize> = all.iter().copied().filter(is_whole).collect();
    if points.len() == 1 || whole.is_empty() {
        whole.clone_from(&all);
    }
    let times = relative_times(&candidates, problem, measured, &points, &whole);
    // The fastest on the largest sizes, which take the most time, and then whatever gains the most.
    let of_largest = |at: &&usize| (times[**at].last().copied(), **at);
    let largest = whole.iter().min_by_key(of_largest).copied();
    let chosen: Vec<usize> = largest.into_iter().collect();
    let is_one = problem.open_extents() == 1;
    let between: Vec<_> = points
        .iter()
        .filter_map(|point| elsewhere(problem, *point))
        .collect();
    let of_points = match between.is_empty() {
        true => most,
        false => most - most / LEFT,
    };
    let kernels = kernels(&candidates, problem);
    let among = [&whole[..], &all];
    let mut chosen = gaining((&times, &kernels), among, chosen, (of_points, is_one));
    if !between.is_empty() {
        let times = relative_times(&candidates, problem, measured, &between, &whole);
        chosen = gaining((&times, &kernels), among, chosen, (most, is_one));
    }
    // In the order of the table, so that larger tiles come first.
    chosen.sort_unstable();
    taken(candidates, problem, measured, &chosen)
}

/// The best candidates, at most `most`, for somebody who chooses by measuring: first those that are fast together, as where sizes are known the
/// fastest one is, and then the fastest ones on average. Each plan comes once.
pub(super) fn best<'c>(
    candidates: Vec<Candidate<'c>>,
    problem: &Problem<'c>,
    measured: &Measured,
    most: usize,
) -> Vec<Chosen<'c>> {
    let points = points(problem);
    let mut met = HashSet::new();
    let all = candidates.iter().enumerate();
    let mut left: Vec<usize> = all
        .filter(|(_, candidate)| met.insert(candidate.asking.as_str()))
        .map(|(at, _)| at)
        .collect();
    let times = relative_times(&candidates, problem, measured, &points, &left);
    let mut chosen = Vec::new();
    let mut reached = vec![i64::MAX; points.len()];
    while chosen.len() < most {
        let gain = |at: usize| {
            let own = times[at].iter().sum::<i64>();
            (with(&times[at], &reached), own, at)
        };
        let place = (0..left.len()).min_by_key(|place| gain(left[*place]));
        let Some(place) = place else { break };
        let best = left.remove(place);
        for (reached, time) in reached.iter_mut().zip(&times[best]) {
            *reached = *time.min(reached);
        }
        chosen.push(best);
    }
    taken(candidates, problem, measured, &chosen)
}

//! Random probes of all elements, and sampled rows and columns: see the module's comment for what
//! they find.

use super::check::{Tally, compare_lines, relative};
use super::reference::{BLOCK, Dense, Rows, Workspace};
use super::report::{Failure, Method, Report};
use super::{Config, Product, VerifyError};
use crate::parallel::parallel_fold;
use crate::tensor::{SplitMix, mix};
use rand_core::RngCore;

/// A segment with an element that is off by more than twice the threshold is missed with
/// probability 2^-8.
const PROBES: usize = 8;

/// A right segment's sum exceeds this many typical deviations with probability `2 exp(-7^2 / 2)`,
/// 5e-11.
const THRESHOLD: f64 = 7.0;

/// Signed sums of B's elements that are kept, as f64: 1 GiB.
const MOST_SUMS: u64 = 1 << 27;

/// Rows or columns of a kernel's tile, at whose borders lines are sampled.
const TILE: usize = 128;

struct Probes {
    /// Elements of a segment; the last of a row may be shorter.
    segment: usize,
    segments: usize,
    /// +1 or -1 for each probe and column.
    signs: Vec<f64>,
    /// The signed sum of B's rows for each segment and probe: K numbers.
    b_sums: Vec<f64>,
}

/// The findings of the probes.
#[derive(Default)]
struct Probed {
    wrong: u64,
    squared_deviation: f64,
    worst: Option<WrongSegment>,
}

#[derive(Clone, Copy)]
struct WrongSegment {
    row: usize,
    segment: usize,
    off_by: f64,
    allowed: f64,
}

pub(super) fn compare_probed(
    product: &mut Product,
    config: &Config,
) -> Result<Report, VerifyError> {
    let rows = lines(product.m, config.lines, mix(config.seed, 1));
    let columns = lines(product.n, config.lines, mix(config.seed, 2));
    let all = |count: usize| (0..count).collect::<Vec<_>>();
    let mut tally = compare_lines(product, &rows, &all(product.n));
    tally.join(compare_lines(product, &all(product.m), &columns));

    let probes = Probes::new(product, config);
    let probed = probes.compare(product);
    if let Some(worst) = probed.worst {
        // Name the element: compute the segment that is furthest off.
        let from = worst.segment * probes.segment;
        let columns: Vec<usize> = (from..product.n.min(from + probes.segment)).collect();
        tally.join(compare_lines(product, &[worst.row], &columns));
    }
    // The norms of all elements follow from those of the sampled ones, and the deviation from the
    // probes.
    let elements = product.m as f64 * product.n as f64;
    let squared_reference = tally.squared_reference * elements / tally.compared.max(1) as f64;
    let squared_deviation = probed.squared_deviation / PROBES as f64;

    let method = Method::Probed {
        probes: PROBES,
        segment: probes.segment,
        rows: rows.len(),
        columns: columns.len(),
    };
    let known = Report::of_product(product);
    let mut report = Tally::into_report(tally, known, product.c.element(), method)?;
    report.relative_error = Some(relative(squared_deviation, squared_reference));
    if let Some(worst) = probed.worst {
        let first_column = worst.segment * probes.segment;
        report.failures.push(Failure::Segments {
            name: report.name.clone(),
            count: probed.wrong,
            row: worst.row,
            first_column,
            columns: probes.segment.min(product.n - first_column),
            off_by: worst.off_by,
            allowed: worst.allowed,
        });
    }
    Ok(report)
}

/// Up to `count` different rows or columns: half of them at borders of tiles, the others random.
fn lines(total: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut chosen = std::collections::BTreeSet::new();
    let mut rng = SplitMix(seed);
    let mut random = |below: usize| ((u128::from(rng.next_u64()) * below as u128) >> 64) as usize;
    let count = count.min(total);
    chosen.extend([0, total - 1].into_iter().take(count));
    // Bounded, as borders repeat; the random lines below fill up what is missing.
    for _ in 0..count {
        if chosen.len() < count / 2 {
            let border = random(total.div_ceil(TILE)) * TILE;
            chosen.extend(
                [border, border.saturating_sub(1)]
                    .into_iter()
                    .filter(|&line| line < total),
            );
        }
    }
    while chosen.len() < count {
        chosen.insert(random(total));
    }
    chosen.into_iter().collect()
}

impl Probes {
    fn new(product: &Product, config: &Config) -> Probes {
        let (m, n, k) = (product.m as u64, product.n as u64, product.k as u64);
        let work = m
            .saturating_mul(n)
            .saturating_mul(k)
            .saturating_mul(PROBES as u64);
        let for_work = work.div_ceil(config.probe_budget.max(1));
        let for_memory = n.saturating_mul(k).div_ceil(MOST_SUMS / PROBES as u64);
        let segment = for_work.max(for_memory).clamp(1, n) as usize;
        let segments = product.n.div_ceil(segment);
        let mut rng = SplitMix(mix(config.seed, 3));
        let signs: Vec<f64> = (0..PROBES * product.n)
            .map(|_| if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 })
            .collect();

        // Every segment's sums are made by one thread, which reads its rows of B once.
        let mut b_sums = vec![0.0; segments * PROBES * product.k];
        let pieces = b_sums
            .chunks_mut((PROBES * product.k).max(1))
            .enumerate()
            .collect();
        parallel_fold(
            pieces,
            || vec![0.0; product.k],
            |line, (s, sums): (usize, &mut [f64])| {
                for column in s * segment..product.n.min((s + 1) * segment) {
                    product.b.read(column, 0, line);
                    for (probe, sums) in sums.chunks_mut(product.k.max(1)).enumerate() {
                        let sign = signs[probe * product.n + column];
                        for (sum, value) in sums.iter_mut().zip(line.iter()) {
                            *sum += sign * value;
                        }
                    }
                }
            },
        );
        Probes {
            segment,
            segments,
            signs,
            b_sums,
        }
    }

    fn compare(&self, product: &Product) -> Probed {
        let rows: Vec<usize> = (0..product.m).collect();
        let b_sums = Dense {
            values: &self.b_sums,
            length: product.k,
        };
        let lines: Vec<usize> = (0..self.segments * PROBES).collect();
        let parts = parallel_fold(
            rows.chunks(BLOCK).enumerate().collect(),
            || (Vec::new(), Workspace::default(), vec![0.0; product.n]),
            |(parts, workspace, line), (at, rows): (usize, &[usize])| {
                let mut probed = Probed::default();
                for lines in lines.chunks(BLOCK) {
                    let expected = workspace.multiply(&product.a, rows, &b_sums, lines, product.k);
                    for (i, &row) in rows.iter().enumerate() {
                        let from = lines[0] / PROBES * self.segment;
                        let to = product
                            .n
                            .min((lines[lines.len() - 1] / PROBES + 1) * self.segment);
                        product.c.read_row(row, from, &mut line[from..to]);
                        let expected = &expected[i * lines.len()..(i + 1) * lines.len()];
                        self.compare_row(product, row, lines, expected, line, &mut probed);
                    }
                }
                parts.push((at, probed));
            },
        );
        let mut parts: Vec<(usize, Probed)> =
            parts.into_iter().flat_map(|(parts, ..)| parts).collect();
        // Not in the order in which threads came to an end, which would change the last bits of the sum.
        parts.sort_unstable_by_key(|(at, _)| *at);
        parts
            .into_iter()
            .fold(Probed::default(), |mut all, (_, part)| {
                all.wrong += part.wrong;
                all.squared_deviation += part.squared_deviation;
                if let Some(worst) = part.worst {
                    all.keep_worse(worst);
                }
                all
            })
    }

    /// Compares the segments' sums of one row; `expected` holds one for each line, which is a
    /// segment and a probe.
    fn compare_row(
        &self,
        product: &Product,
        row: usize,
        lines: &[usize],
        expected: &[f64],
        found: &[f64],
        probed: &mut Probed,
    ) {
        // BLOCK is a multiple of PROBES, so that the probes of a segment stand together.
        for (lines, expected) in lines.chunks(PROBES).zip(expected.chunks(PROBES)) {
            let segment = lines[0] / PROBES;
            let columns = segment * self.segment..product.n.min((segment + 1) * self.segment);
            let typical = |column: usize| {
                let added = product.added(row, column);
                let magnitude = (found[column] - added).abs() + added.abs();
                let scale = product.scale(row, column);
                product.tolerance.typical(found[column], magnitude, scale)
                    + product.slack(row, column)
            };
            let allowed = THRESHOLD
                * columns
                    .clone()
                    .map(|column| typical(column).powi(2))
                    .sum::<f64>()
                    .sqrt();
            let mut off_by = 0.0f64;
            for (probe, expected) in expected.iter().enumerate() {
                let signs = &self.signs[probe * product.n..(probe + 1) * product.n];
                let sum: f64 = columns
                    .clone()
                    .map(|column| signs[column] * (found[column] - product.added(row, column)))
                    .sum();
                let deviation = (sum - product.alpha * expected).abs();
                probed.squared_deviation += deviation * deviation;
                off_by = if deviation.is_nan() {
                    f64::INFINITY
                } else {
                    off_by.max(deviation)
                };
            }
            // An infinite element makes its own tolerance infinite: nothing infinite is right here.
            if off_by > allowed || !off_by.is_finite() {
                probed.wrong += 1;
                probed.keep_worse(WrongSegment {
                    row,
                    segment,
                    off_by,
                    allowed,
                });
            }
        }
    }
}

impl Probed {
    fn keep_worse(&mut self, found: WrongSegment) {
        let ratio = |s: &WrongSegment| {
            if s.off_by.is_finite() {
                s.off_by / s.allowed
            } else {
                f64::INFINITY
            }
        };
        let key = |s: &WrongSegment| (ratio(s), std::cmp::Reverse((s.row, s.segment)));
        if self
            .worst
            .as_ref()
            .is_none_or(|worst| key(&found) > key(worst))
        {
            self.worst = Some(found);
        }
    }
}

//! Timing: how runs are repeated, and what is said of their times.

use serde::Serialize;

use super::{DeviceError, Stopwatch};
use crate::package::{Access, Function};
use crate::plan;
use crate::tensor::HostTensor;

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct TimingConfig {
    /// Runs before the first that counts: they load code, fill the queue and raise the clocks.
    pub warmup: usize,
    /// Runs that are timed one by one, and then again as one batch; at least one.
    pub reps: usize,
}

impl Default for TimingConfig {
    fn default() -> Self {
        TimingConfig {
            warmup: 10,
            reps: 100,
        }
    }
}

/// Times in seconds. Percentiles are interpolated between the two nearest samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// The median, in seconds.
    pub median: f64,
    /// The shortest time, in seconds.
    pub min: f64,
    /// The longest time, in seconds.
    pub max: f64,
    /// The 10th percentile, in seconds: a tenth of the runs took less.
    pub p10: f64,
    /// The 90th percentile, in seconds: a tenth of the runs took more.
    pub p90: f64,
}

impl Stats {
    /// None without samples.
    pub fn new(samples: &[f64]) -> Option<Stats> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |fraction: f64| {
            let place = fraction * (sorted.len() - 1) as f64;
            let (below, above) = (
                sorted[place.floor() as usize],
                sorted[place.ceil() as usize],
            );
            below + (above - below) * place.fract()
        };
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Stats {
            median: at(0.5),
            min,
            max,
            p10: at(0.1),
            p90: at(0.9),
        })
    }

    /// `(p90 - p10) / median`.
    pub fn spread(&self) -> f64 {
        (self.p90 - self.p10) / self.median
    }
}

/// The measured times of one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// One by one.
    pub each: Stats,
    /// A batch's time divided by its runs, seconds: launches overlap the end of the run before.
    pub batch: f64,
    /// Runs that were timed one by one, and as many in the batch.
    pub reps: usize,
    /// Runs before the first one that was timed.
    pub warmup: usize,
    /// Copies of the arguments that the runs went through.
    pub sets: usize,
    /// The work of one run, as far as the function says.
    #[serde(flatten)]
    pub work: Work,
}

impl Measurement {
    /// 10^12 operations in a second, at the median time.
    pub fn tflops(&self) -> Option<f64> {
        self.work.flops.map(|flops| flops / self.each.median / 1e12)
    }

    /// 10^12 operations in a second, in the batch.
    pub fn batch_tflops(&self) -> Option<f64> {
        self.work.flops.map(|flops| flops / self.batch / 1e12)
    }

    /// 10^9 bytes in a second, at the median time.
    pub fn gb_per_s(&self) -> Option<f64> {
        self.work.bytes.map(|bytes| bytes / self.each.median / 1e9)
    }

    /// 10^9 bytes in a second, in the batch.
    pub fn batch_gb_per_s(&self) -> Option<f64> {
        self.work.bytes.map(|bytes| bytes / self.batch / 1e9)
    }
}

/// The work that a function has to do, as far as its computes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Work {
    /// Operations: a multiply and an add for each step of each sum of a `gemm`; none if there is none.
    pub flops: Option<f64>,
    /// Bytes that must move between memory and the multiprocessors, each input read once and each output written once; of
    /// computes that move more than they compute, none if there are none of these.
    pub bytes: Option<f64>,
}

impl Work {
    /// The work of one run on these tensors, which suit the function; without computes of which only a device tells whether they take place.
    pub fn of(function: &Function, arguments: &[HostTensor]) -> Work {
        let mut work = Work::default();
        let known = plan::known(function, arguments, None).unwrap_or_default();
        for compute in &function.computes {
            let condition = compute.condition().map(|holds| holds.evaluate(&known));
            if matches!(condition, Some(Ok(0) | Err(_))) {
                continue;
            }
            let roles = compute.roles();
            let place = |arg: usize| match arguments.get(arg) {
                Some(tensor) => Some((tensor.layout().clone(), tensor.element())),
                None => {
                    let view = function.views.get(arg - arguments.len())?;
                    Some((view.layout(&known).ok()?, view.element.parse().ok()?))
                }
            };
            let tensors: Option<Vec<_>> = roles.iter().map(|role| place(role.arg)).collect();
            let Some(tensors) = tensors else { continue };
            let sizes = tensors
                .iter()
                .map(|(layout, _)| layout.shape().into_iter().map(Some));
            let sizes: Vec<_> = sizes.map(Iterator::collect).collect();
            let sizes = compute.shapes(&sizes, &known).into_iter();
            let sizes: Vec<Vec<i64>> = sizes
                .map(|shape| shape.into_iter().flatten().collect())
                .collect();
            if let Some(flops) = compute.flops(&sizes) {
                *work.flops.get_or_insert(0.0) += flops;
                continue;
            }
            let moved =
                roles
                    .iter()
                    .zip(tensors)
                    .enumerate()
                    .map(|(at, (role, (layout, element)))| {
                        // A tensor that has several roles is read once, and written once.
                        let is_first = |access: fn(Access) -> bool| {
                            let mut before = roles[..at].iter();
                            access(role.access)
                                && !before.any(|b| b.arg == role.arg && access(b.access))
                        };
                        let times =
                            u8::from(is_first(Access::reads)) + u8::from(is_first(Access::writes));
                        let bytes = layout.places_count() as f64 * element.size() as f64;
                        f64::from(times) * bytes
                    });
            *work.bytes.get_or_insert(0.0) += moved.sum::<f64>();
        }
        work
    }
}

/// Measures stopwatches of one device. With several, their runs alternate one by one, so that
/// clocks, heat and neighbours are the same for all; `work` is that of each.
///
/// # Errors
/// The error that the device reports.
pub fn measure(
    watches: &mut [Box<dyn Stopwatch + '_>],
    work: &[Work],
    config: &TimingConfig,
) -> Result<Vec<Measurement>, DeviceError> {
    let reps = config.reps.max(1);
    let mut samples = vec![Vec::with_capacity(reps); watches.len()];
    for _ in 0..config.warmup {
        for watch in &mut *watches {
            watch.enqueue()?;
        }
    }
    for _ in 0..reps {
        for watch in &mut *watches {
            watch.enqueue()?;
        }
    }
    for (watch, samples) in watches.iter_mut().zip(&mut samples) {
        // Nothing waits between the warm-up and the first run that counts, so that the queue stays
        // full.
        samples.extend(watch.collect()?.into_iter().skip(config.warmup));
    }
    let mut measurements = Vec::new();
    for ((watch, samples), work) in watches.iter_mut().zip(samples).zip(work) {
        let batch = watch.batch(reps)? / reps as f64;
        let each = Stats::new(&samples).ok_or_else(|| DeviceError::NoClock("the device".into()))?;
        measurements.push(Measurement {
            each,
            batch,
            reps,
            warmup: config.warmup,
            sets: watch.sets(),
            work: *work,
        });
    }
    Ok(measurements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn stats_are_those_of_the_samples() {
        let samples: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let stats = Stats::new(&samples).unwrap();
        assert_eq!(
            stats,
            Stats {
                median: 50.0,
                min: 0.0,
                max: 100.0,
                p10: 10.0,
                p90: 90.0
            }
        );
        assert_eq!(Stats::new(&[3.0, 1.0]).unwrap().median, 2.0);
        assert_eq!(Stats::new(&[7.0]).unwrap().p90, 7.0);
        assert_eq!(Stats::new(&[]), None);
    }

    /// A device whose clock is a counter: run i of watch `id` takes `i` seconds.
    struct Fake<'a> {
        id: usize,
        runs: usize,
        pending: Vec<f64>,
        order: &'a RefCell<Vec<usize>>,
    }

    impl Stopwatch for Fake<'_> {
        fn sets(&self) -> usize {
            3
        }

        fn enqueue(&mut self) -> Result<(), DeviceError> {
            self.order.borrow_mut().push(self.id);
            self.pending.push(self.runs as f64);
            self.runs += 1;
            Ok(())
        }

        fn collect(&mut self) -> Result<Vec<f64>, DeviceError> {
            Ok(std::mem::take(&mut self.pending))
        }

        fn batch(&mut self, count: usize) -> Result<f64, DeviceError> {
            Ok(count as f64 * 2.0)
        }
    }

    #[test]
    fn every_tensor_moves_once() {
        use crate::element::Element;
        use crate::layout::Parsed;
        use crate::package::{Arg, Compute, Map};
        let layouts = ["(8,4):(4,1)", "(8,4):(0,1)", "(8,4):(1,8)", "(8,4):(1,0)"];
        let tensor = |layout: &&str| {
            HostTensor::poisoned(Element::F32, Parsed::parse(layout).unwrap()).unwrap()
        };
        let tensors: Vec<HostTensor> = layouts.iter().map(tensor).collect();
        let arg = |layout: &&str| Arg::Tensor {
            name: (*layout).into(),
            element: "f32".into(),
            layout: (*layout).into(),
            align: 4,
            access: Access::ReadWrite,
        };
        let function = Function::new("f", layouts.iter().map(arg).collect(), vec![]);
        let work = |compute| Work::of(&function.clone().computing(vec![compute]), &tensors);
        let map = Compute::Map(Map {
            inputs: vec![0, 1, 2, 0],
            outputs: vec![2, 3],
            ..Map::default()
        });
        // 32 elements of the first, 4 of the second, 32 of the third in and out, 8 of the last.
        let bytes = 4.0 * (32.0 + 4.0 + 2.0 * 32.0 + 8.0);
        assert_eq!(work(map).bytes, Some(bytes));
        let copy = work(Compute::Copy { src: 0, dst: 2 });
        assert_eq!((copy.bytes, copy.flops), (Some(256.0), None));
    }

    #[test]
    fn runs_alternate_and_warmup_does_not_count() {
        let order = RefCell::new(Vec::new());
        let fake = |id| {
            Box::new(Fake {
                id,
                runs: 0,
                pending: vec![],
                order: &order,
            }) as Box<dyn Stopwatch>
        };
        let mut watches = [fake(0), fake(1)];
        let config = TimingConfig { warmup: 2, reps: 3 };
        let work = |flops, bytes| Work { flops, bytes };
        let both = [work(Some(6e12), None), work(None, Some(9e9))];
        let all = measure(&mut watches, &both, &config).unwrap();
        assert_eq!(*order.borrow(), [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(
            (all[0].each.min, all[0].each.median, all[0].each.max),
            (2.0, 3.0, 4.0)
        );
        assert_eq!(
            (all[0].tflops(), all[0].batch_tflops()),
            (Some(2.0), Some(3.0))
        );
        assert_eq!((all[1].tflops(), all[1].sets), (None, 3));
        let bytes = (all[1].gb_per_s(), all[1].batch_gb_per_s());
        assert_eq!(bytes, (Some(3.0), Some(4.5)));
        assert_eq!(all[0].gb_per_s(), None);
    }
}

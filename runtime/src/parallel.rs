//! Work on all cores with plain threads: the crate needs no pool.

use std::sync::Mutex;

/// Calls `work` for every item, each on some core. Runs alone where there is one item or one core.
pub(crate) fn parallel_items<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    parallel_fold(items, || (), |(), item| work(item));
}

/// Folds the items on all cores, each thread into an accumulator of its own; returns these
/// accumulators.
pub(crate) fn parallel_fold<T: Send, A: Send>(
    items: Vec<T>,
    start: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, T) + Sync,
) -> Vec<A> {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len());
    if threads <= 1 {
        let mut accumulator = start();
        for item in items {
            work(&mut accumulator, item);
        }
        return vec![accumulator];
    }
    let queue = Mutex::new(items.into_iter());
    let next = || queue.lock().map_or(None, |mut items| items.next());
    let run = || {
        let mut accumulator = start();
        while let Some(item) = next() {
            work(&mut accumulator, item);
        }
        accumulator
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut results = vec![run()];
        for worker in workers {
            match worker.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for count in [0u64, 1, 2, 1000] {
            let sums = parallel_fold((0..count).collect(), || 0, |sum, item| *sum += item);
            assert_eq!(
                sums.iter().sum::<u64>(),
                count * count.saturating_sub(1) / 2
            );
        }
    }
}

//! Times of kernels that were measured: the table that plans are ranked by, and the results of `cute-run --tune` that it is made
//! of. `docs/tuning.md` has both formats. No MLIR, so that programs that measure need none.
#![forbid(unsafe_code)]

mod class;
mod results;
mod table;

pub use class::{ShapeClass, distance, is_near};
pub use results::{By, Outcome, Record, ResultsError, Subject, read_results, samples_of, times_of};
pub use table::{FORMAT, FileError, Table, TableError, Time, code_of};

/// The generation of the kernels that plans stand for. Whoever changes what a plan is compiled to so much that older times mislead adds 1: tables of
/// another generation are refused.
pub const GENERATION: u32 = 1;

/// The middle of some numbers, the lower one of two; none of none.
pub fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_is_one_of_them() {
        assert_eq!(median(vec![9, 1, 5]), Some(5));
        assert_eq!(median(vec![9, 1, 5, 7]), Some(5));
        assert_eq!(median(vec![3]), Some(3));
        assert_eq!(median(Vec::<u64>::new()), None);
    }
}

//! Reductions of numbers along modes of tensors, as regions of computations on whole tensors have them.

/// A reduction of many numbers of one type to one of that type, whatever their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReduceOp {
    /// Sum.
    Add,
    /// Sum, divided by how many there are.
    Mean,
    /// The largest one; a NaN if there is one.
    Maximum,
    /// The smallest one; a NaN if there is one.
    Minimum,
}

impl ReduceOp {
    /// All reductions, in the order of their declaration.
    pub const ALL: &[ReduceOp] = &[
        ReduceOp::Add,
        ReduceOp::Mean,
        ReduceOp::Maximum,
        ReduceOp::Minimum,
    ];

    /// Its name in a package and in IR.
    pub const fn name(self) -> &'static str {
        match self {
            ReduceOp::Add => "add",
            ReduceOp::Mean => "mean",
            ReduceOp::Maximum => "maximum",
            ReduceOp::Minimum => "minimum",
        }
    }

    /// The reduction of that name.
    pub fn named(name: &str) -> Option<ReduceOp> {
        ReduceOp::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The result in real arithmetic, rounded to f64; of no numbers the sum is 0, the mean a NaN, and the others are infinite.
    pub fn exact(self, of: &[f64]) -> f64 {
        let extreme = |start: f64, larger: fn(f64, f64) -> f64| {
            of.iter()
                .fold(start, |a, b| match a.is_nan() || b.is_nan() {
                    true => f64::NAN,
                    false => larger(a, *b),
                })
        };
        match self {
            ReduceOp::Add => of.iter().sum(),
            ReduceOp::Mean => of.iter().sum::<f64>() / of.len() as f64,
            ReduceOp::Maximum => extreme(f64::NEG_INFINITY, f64::max),
            ReduceOp::Minimum => extreme(f64::INFINITY, f64::min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_names_one_reduction() {
        for op in ReduceOp::ALL.iter().copied() {
            assert_eq!(ReduceOp::named(op.name()), Some(op));
        }
        assert_eq!(ReduceOp::named("max"), None);
        assert_eq!(ReduceOp::ALL.len(), 4);
    }

    #[test]
    fn results_are_what_they_mean() {
        use ReduceOp::{Add, Maximum, Mean, Minimum};
        for (op, result) in [(Add, 1.5), (Mean, 0.5), (Maximum, 2.0), (Minimum, -1.5)] {
            assert_eq!(op.exact(&[1.0, -1.5, 2.0]), result, "{op:?}");
            assert!(op.exact(&[1.0, f64::NAN, 2.0]).is_nan(), "{op:?}");
            assert!(op.exact(&[f64::NAN, 2.0]).is_nan(), "{op:?}");
        }
        assert_eq!(Add.exact(&[]), 0.0);
        assert!(Mean.exact(&[]).is_nan());
        assert_eq!(Maximum.exact(&[]), f64::NEG_INFINITY);
        assert_eq!(Minimum.exact(&[]), f64::INFINITY);
    }
}

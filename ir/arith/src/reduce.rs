//! Reductions of numbers.

/// A reduction of any number of numbers to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReduceOp {
    /// The sum.
    Add,
    /// The sum over the number of numbers.
    Mean,
    /// The largest; a NaN if there is one.
    Maximum,
    /// The smallest; a NaN if there is one.
    Minimum,
}

impl ReduceOp {
    /// All reductions.
    pub const ALL: &[ReduceOp] = &[
        ReduceOp::Add,
        ReduceOp::Mean,
        ReduceOp::Maximum,
        ReduceOp::Minimum,
    ];

    /// Its name in IR and in packages.
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
}

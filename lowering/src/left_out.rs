//! Candidates that are left out of a package: those with a kernel that ptxas does not take, or that spills.

use crate::ptxas::PtxasError;
use cute_ir::{
    Failure, diag,
    mlir::*,
    ops::{arith, cute, gpu, scf},
};
use cute_passes::launch::kernel_of;
use melior::ir::{Attribute, Location, operation::OperationLike};
use std::collections::BTreeSet;

/// A kernel that cannot be had.
pub(crate) struct Trouble<'c> {
    /// Its name.
    pub kernel: String,
    /// The reason.
    pub why: String,
    /// True of one that registers are too few for.
    pub lacks_registers: bool,
    /// True of one whose blocks compute one row after another, which a multiprocessor was to have several of.
    pub stays: bool,
    /// The plan that it was made by, where there is one.
    pub plan: Option<Attribute<'c>>,
    /// The place of the kernel in the text, where it is known.
    pub at: Option<Location<'c>>,
}

/// A candidate of a product, as the function that launches has it.
struct Candidate<'c> {
    /// The op that chooses.
    choice: cute::Candidates<'c>,
    /// Its number.
    number: i64,
    /// The op that launches it where it is chosen.
    branch: Op<'c>,
    /// Its kernels.
    kernels: Vec<&'c str>,
}

/// The candidates of which a module has kernels, and those that are left out.
pub(crate) struct Candidates<'c> {
    all: Vec<Candidate<'c>>,
    /// Places in `all`.
    out: BTreeSet<usize>,
}

impl<'c> Candidates<'c> {
    /// The candidates whose kernels are in the `gpu.module` or `gpu.binary` of that name.
    pub(crate) fn of(module: Op<'c>, kernels: &str) -> Self {
        let mut all: Vec<Candidate<'c>> = Vec::new();
        for op in nested_ops(module) {
            let Some((choice, number, branch)) = chosen_by(op) else {
                continue;
            };
            let Some([home, kernel]) = kernel_of(op) else {
                continue;
            };
            if home != kernels {
                continue;
            }
            match all.iter_mut().find(|other| other.branch == branch) {
                Some(candidate) => candidate.kernels.push(kernel),
                None => all.push(Candidate {
                    choice,
                    number,
                    branch,
                    kernels: vec![kernel],
                }),
            }
        }
        Self {
            all,
            out: BTreeSet::new(),
        }
    }

    /// The kernels of candidates that are not left out.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = &'c str> + '_ {
        let left = self.all.iter().enumerate();
        let left = left.filter(|(at, _)| !self.out.contains(at));
        left.flat_map(|(_, candidate)| candidate.kernels.iter().copied())
    }

    /// The kernels of those that are left out.
    pub(crate) fn kernels_out(&self) -> Vec<&'c str> {
        let out = self.out.iter().filter_map(|at| self.all.get(*at));
        out.flat_map(|candidate| candidate.kernels.iter().copied())
            .collect()
    }

    /// Leaves out the candidate of a kernel. Errors: the kernel is of none, or of the last one of its product, which is an error.
    pub(crate) fn leave_out(
        &mut self,
        b: &Builder<'c>,
        trouble: &Trouble<'c>,
    ) -> Result<(), Failure> {
        let of_kernel =
            |candidate: &Candidate<'_>| candidate.kernels.contains(&trouble.kernel.as_str());
        let Some(found) = self.all.iter().position(of_kernel) else {
            let at = trouble.at.unwrap_or(b.location);
            return Err(diag::error(at, &trouble.why));
        };
        if !self.out.insert(found) {
            return Ok(());
        }
        let choice = self.all[found].choice;
        let others = self.all.iter().enumerate();
        let is_left = |(at, other): (usize, &Candidate<'_>)| {
            other.choice.op() == choice.op() && !self.out.contains(&at)
        };
        if !others.into_iter().any(is_left) {
            return Err(b.error(format!(
                "{}; and no candidate of the product is left: expected one at least that can be assembled without spills",
                trouble.why
            )));
        }
        let Candidate { number, .. } = self.all[found];
        let plans = choice.plans().and_then(array_of).unwrap_or_default();
        let plan = usize::try_from(number)
            .ok()
            .and_then(|at| plans.get(at).copied());
        let plan = plan.and_then(string_value).unwrap_or_default();
        diag::remark(
            choice.op().location(),
            format!("candidate {number} ({plan}) is left out: {}", trouble.why),
        );
        Ok(())
    }

    /// Erases the launches of what is left out, and notes it where the choice is.
    pub(crate) fn write(self, rewriter: &Rewriter<'c>) -> Result<(), Failure> {
        for at in &self.out {
            let Candidate {
                choice,
                number,
                branch,
                ..
            } = &self.all[*at];
            let mut out = choice.left_out().and_then(i64s_of).unwrap_or_default();
            out.push(*number);
            out.sort_unstable();
            let b = Builder::before(choice.op());
            set_attribute(choice.op(), "left_out", b.i64_array(&out));
            rewriter.erase(*branch)?;
        }
        Ok(())
    }
}

/// The choice that a launch depends on, the number by which it takes place, and the op that asks.
fn chosen_by(launch: Op<'_>) -> Option<(cute::Candidates<'_>, i64, Op<'_>)> {
    gpu::LaunchFunc::of(launch)?;
    let branch = parent_op(launch)?;
    let condition = scf::If::of(branch)?.condition();
    let compared = arith::Cmpi::of(defining_op(condition)?)?;
    let choice = cute::Candidates::of(defining_op(compared.lhs())?)?;
    Some((choice, constant_of(compared.rhs())?, branch))
}

/// The text of PTX without some of its kernels.
pub(crate) fn without(ptx: &str, kernels: &[&str]) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut inside = false;
    for line in ptx.split_inclusive('\n') {
        inside = inside || entry_of_line(line).is_some_and(|name| kernels.contains(&name));
        if !inside {
            text.push_str(line);
        }
        // A kernel's body alone ends at the start of a line.
        inside = inside && !line.starts_with('}');
    }
    text
}

/// The name of the kernel that begins on a line of PTX.
fn entry_of_line(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once(".entry ")?;
    if before.contains("//") {
        return None;
    }
    rest.split(['(', '\n']).next().map(str::trim)
}

/// The kernels of PTX, in their order.
fn entries(ptx: &str) -> Vec<&str> {
    ptx.lines().filter_map(entry_of_line).collect()
}

/// The kernels of PTX that ptxas refused that it refuses alone, each with what it says of it, as far as they may be left out.
pub(crate) fn refused<'k>(
    ptx: &str,
    kernels: impl Iterator<Item = &'k str>,
    assemble: impl Fn(&str) -> Result<(), PtxasError>,
) -> Vec<Trouble<'static>> {
    let all = entries(ptx);
    let alone = kernels.filter_map(|kernel| {
        let others: Vec<&str> = all
            .iter()
            .copied()
            .filter(|other| *other != kernel)
            .collect();
        match assemble(&without(ptx, &others)) {
            Err(
                error @ (PtxasError::Rejected { .. }
                | PtxasError::Warned { .. }
                | PtxasError::Remarked { .. }),
            ) => Some(Trouble {
                kernel: kernel.to_owned(),
                why: error.to_string(),
                lacks_registers: false,
                stays: false,
                plan: None,
                at: None,
            }),
            _ => None,
        }
    });
    alone.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n\t// .globl\tone\n.visible .entry one(\n\t.param .u32 a\n)\n.reqntid 32\n{\n\t{\n\tret;\n\t}\n}\n\
                       \t// .globl\ttwo\n.visible .entry two()\n{\n\tret;\n}\n";

    #[test]
    fn kernels_are_taken_out_of_ptx() {
        assert_eq!(entries(PTX), ["one", "two"]);
        assert_eq!(without(PTX, &[]), PTX);
        assert_eq!(entries(&without(PTX, &["one"])), ["two"]);
        assert!(without(PTX, &["one"]).ends_with(".visible .entry two()\n{\n\tret;\n}\n"));
        assert_eq!(
            without(PTX, &["one", "two"]),
            ".version 8.0\n\t// .globl\tone\n\t// .globl\ttwo\n"
        );
    }

    #[test]
    fn those_that_are_refused_alone_are_found() {
        let assemble = |ptx: &str| match ptx.contains(".entry two") {
            true => Err(PtxasError::Rejected {
                arch: "sm_80".to_owned(),
                log: "no".to_owned(),
            }),
            false => Ok(()),
        };
        let found = refused(PTX, ["one", "two"].into_iter(), assemble);
        let found: Vec<_> = found
            .iter()
            .map(|trouble| trouble.kernel.as_str())
            .collect();
        assert_eq!(found, ["two"]);
        assert!(refused(PTX, ["one"].into_iter(), assemble).is_empty());
    }
}

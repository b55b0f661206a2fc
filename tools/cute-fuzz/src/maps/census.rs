//! A census of maps: counts that show that the inputs are what they are meant to be.

use crate::opt::Opt;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};

/// The kinds of things that are in problems, as these say of themselves; of many inputs each is in some.
pub(super) const FEATURES: [&str; 22] = [
    "bits of integers",
    "broadcasts",
    "elements of f8",
    "few long rows",
    "long rows",
    "more than two modes",
    "nested modes",
    "no elements",
    "no inputs",
    "norms",
    "a number of the function",
    "open leaves",
    "outputs of one element for each row",
    "outputs that are inputs",
    "products",
    "products along columns",
    "reductions",
    "reductions of products",
    "several maps",
    "sums of products",
    "tensors in a workspace",
    "two products along K",
];

/// The kinds of kernels, by the text that `cute-tile` leaves.
const KERNELS: [(&str, &str); 4] = [
    ("kernels by rows", "by_rows"),
    ("rows that are held", "held"),
    ("rows by several warps", "threads [1, "),
    ("several kernels", "_kernel_1("),
];

/// Inputs that are tiled in one process.
const BATCH: usize = 16;

/// Inputs from which on there have to be enough of each kind.
const ENOUGH: u64 = 40;

/// Counts of inputs.
#[derive(Default)]
pub(super) struct Census {
    inputs: u64,
    /// Inputs that were compiled, and runs of them that were verified.
    compiled: u64,
    runs: u64,
    counts: BTreeMap<&'static str, u64>,
    /// The numbers of the inputs that were refused, by the limit.
    refused: BTreeMap<&'static str, Vec<u64>>,
    waiting: Vec<String>,
}

impl Census {
    pub(super) fn add(&mut self, features: &BTreeSet<&'static str>) {
        self.inputs += 1;
        for feature in features {
            *self.counts.entry(feature).or_default() += 1;
        }
    }

    /// Counts an input that was refused for a limit.
    pub(super) fn refused(&mut self, limit: &'static str, index: u64) {
        self.refused.entry(limit).or_default().push(index);
    }

    /// Counts a run that was right.
    pub(super) fn ran(&mut self) {
        self.runs += 1;
    }

    /// Counts an input that was compiled.
    ///
    /// # Errors
    /// If the compiler cannot be run.
    pub(super) fn compiled(&mut self, opt: &Opt, text: &str) -> Result<()> {
        self.compiled += 1;
        self.waiting.push(text.to_string());
        match self.waiting.len() {
            BATCH => self.finish(opt),
            _ => Ok(()),
        }
    }

    /// Counts the inputs that wait to be counted together.
    ///
    /// # Errors
    /// If the compiler cannot be run.
    pub(super) fn finish(&mut self, opt: &Opt) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let texts: Vec<&str> = waiting.iter().map(|text| &**text).collect();
        let (outputs, _) = opt.outputs(&texts, &["--cute-tile=arch=sm_90a".to_string()])?;
        for output in outputs {
            self.count(&output);
        }
        Ok(())
    }

    fn count(&mut self, output: &str) {
        for (what, mark) in KERNELS {
            *self.counts.entry(what).or_default() += u64::from(output.contains(mark));
        }
        let reads_again = output
            .split("cute.block.map")
            .skip(1)
            .any(|one| one.contains("cute.all_reduce") && !one.contains("held}"));
        *self.counts.entry("rows that are read again").or_default() += u64::from(reads_again);
    }

    /// The counts, for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let counts = self.counts.iter();
        let counts: Vec<String> = counts.map(|(what, n)| format!("{n} with {what}")).collect();
        let mut lines = vec![
            format!(
                "{} inputs, {} compiled, {} runs verified",
                self.inputs, self.compiled, self.runs
            ),
            counts.join(", "),
        ];
        let refused = self.refused.iter();
        lines.extend(refused.map(|(limit, inputs)| {
            let some: Vec<String> = inputs.iter().take(5).map(u64::to_string).collect();
            let (count, some) = (inputs.len(), some.join(", "));
            format!("{count} refused, such as input {some}: {limit}")
        }));
        lines
    }

    /// Makes sure that enough inputs are what they are meant to be, where there are many.
    ///
    /// # Errors
    /// If they are not: then nothing is known of maps, whatever was found.
    pub(super) fn require(&self) -> Result<()> {
        if self.inputs < ENOUGH {
            return Ok(());
        }
        let of = |what: &str| self.counts.get(what).copied().unwrap_or(0);
        let counts = [
            ("are compiled", self.compiled, 55),
            ("have reductions", of("reductions"), 40),
            ("have open leaves", of("open leaves"), 25),
            ("have kernels by rows", of("kernels by rows"), 3),
            ("have rows that are held", of("rows that are held"), 15),
            (
                "have rows that are read again",
                of("rows that are read again"),
                5,
            ),
            ("have several kernels", of("several kernels"), 8),
        ];
        if let Some(feature) = FEATURES.into_iter().find(|feature| of(feature) == 0)
            && self.inputs >= 10 * ENOUGH
        {
            bail!("of {} inputs none has {feature}", self.inputs);
        }
        for (what, count, percent) in counts {
            if count * 100 < self.inputs * percent {
                bail!(
                    "of {} inputs only {count} {what}, expected {percent} %: the generator does not test maps",
                    self.inputs
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_counted() {
        let mut census = Census::default();
        census.count("gpu.func @map_kernel_1( cute.block.map threads [32, 4] {cute.all_reduce} {by_rows, held}");
        census.count("cute.block.map threads [1, 512] {cute.all_reduce} {by_rows}");
        let of = |what: &str| census.counts.get(what).copied();
        assert_eq!(of("kernels by rows"), Some(2));
        assert_eq!(of("rows that are held"), Some(1));
        assert_eq!(of("rows that are read again"), Some(1));
        assert_eq!(of("several kernels"), Some(1));
    }

    #[test]
    fn inputs_that_test_nothing_are_an_error() {
        let mut census = Census {
            inputs: ENOUGH,
            ..Census::default()
        };
        let error = census.require().unwrap_err().to_string();
        assert!(error.contains("only 0 are compiled"), "{error}");
        census.inputs = ENOUGH - 1;
        assert!(census.require().is_ok());
    }
}

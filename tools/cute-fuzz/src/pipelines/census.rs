//! A census of the loops that were to be pipelined: counts that show that the inputs are what they are meant to be.

use super::Input;
use crate::opt::Opt;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs that go through the passes in one process.
const BATCH: usize = 16;

/// The passes that make rings and schedules.
const PASSES: &str = "--pass-pipeline=builtin.module(cute-tile{arch=sm_80},cute-lower-algorithms,cute-fragments-to-values,cse,\
                      cute-make-rings,cute-assign-latencies,cute-schedule)";

/// Inputs from which on there have to be enough of each kind.
const ENOUGH: u64 = 40;

/// Counts of inputs.
#[derive(Default)]
pub struct Census {
    waiting: Vec<(String, bool)>,
    /// Inputs of plain loops, and of tokens.
    plain: u64,
    tokens: u64,
    /// Plain loops with turns that overlap, and in how many stages at most.
    pipelined: u64,
    stages: BTreeMap<u64, u64>,
    /// With a ring, with rings of different depths, and of different manners of being filled.
    rings: u64,
    depths: u64,
    manners: u64,
    /// Whose turns overlap, how many there are being known to the host alone.
    dynamic: u64,
    /// With several loops whose turns overlap.
    several: u64,
    /// Warnings, by the reason that they give.
    reasons: BTreeMap<String, u64>,
}

impl Census {
    /// Counts an input.
    ///
    /// # Errors
    /// If the compiler cannot be run.
    pub fn add(&mut self, opt: &Opt, input: &Input) -> Result<()> {
        if input.by_tokens {
            self.tokens += 1;
            return Ok(());
        }
        self.plain += 1;
        let text = input.kernel.module();
        self.waiting.push((text, input.is_dynamic));
        match self.waiting.len() {
            BATCH => self.finish(opt),
            _ => Ok(()),
        }
    }

    /// Counts the inputs that wait to be counted together.
    ///
    /// # Errors
    /// If the compiler cannot be run.
    pub fn finish(&mut self, opt: &Opt) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let texts: Vec<&str> = waiting.iter().map(|(text, ..)| &**text).collect();
        let (outputs, said) = opt.outputs(&texts, &[PASSES.to_string()])?;
        for (output, (_, is_dynamic)) in outputs.iter().zip(&waiting) {
            self.count(output, *is_dynamic);
        }
        for line in said.lines() {
            let Some((_, reason)) = line.split_once("warning: ") else {
                continue;
            };
            let reason = reason.rsplit(": ").next().unwrap_or_default();
            *self.reasons.entry(reason.to_string()).or_default() += 1;
        }
        Ok(())
    }

    fn count(&mut self, output: &str, is_dynamic: bool) {
        let numbers = |mark: &str| -> Vec<u64> {
            let parts = output.split(mark).skip(1);
            parts
                .filter_map(|rest| {
                    let end = rest.find(|c: char| !c.is_ascii_digit())?;
                    rest[..end].parse().ok()
                })
                .collect()
        };
        let most = numbers("cute.stage = ").into_iter().max().unwrap_or(0);
        *self.stages.entry(most + 1).or_default() += 1;
        if most > 0 {
            self.pipelined += 1;
            self.dynamic += u64::from(is_dynamic);
        }
        let created: Vec<&str> = output
            .lines()
            .filter(|line| line.contains("cute.pipeline.create"))
            .filter_map(|line| line.split_once("!cute.pipeline<"))
            .filter_map(|(_, rest)| rest.split_once('>'))
            .map(|(what, _)| what)
            .collect();
        let depth = |what: &&str| what.split(',').next().unwrap_or_default().to_string();
        let depths: BTreeSet<String> = created.iter().map(depth).collect();
        let manners: BTreeSet<bool> = created.iter().map(|what| what.contains(',')).collect();
        self.rings += u64::from(!created.is_empty());
        self.depths += u64::from(depths.len() > 1);
        self.manners += u64::from(manners.len() > 1);
        // The first operation of a schedule is one for each loop.
        self.several += u64::from(output.matches("cute.order = 0 : i32").count() > 1);
    }

    /// The counts, for people, with those of kernels that were refused.
    pub fn lines(&self, refused: &BTreeMap<&'static str, u64>) -> Vec<String> {
        let mut lines = vec![
            format!(
                "{} of plain loops, {} by tokens; of plain loops {} pipelined, {} of them with bounds that only the host knows, {} with \
                 several such loops; {} with rings, {} of different depths, {} filled in different manners",
                self.plain,
                self.tokens,
                self.pipelined,
                self.dynamic,
                self.several,
                self.rings,
                self.depths,
                self.manners
            ),
            format!("stages at most: {}", list(self.stages.iter())),
        ];
        lines.extend(
            self.reasons
                .iter()
                .map(|(reason, count)| format!("{count} warnings: {reason}")),
        );
        lines.extend(
            refused
                .iter()
                .filter(|(_, count)| **count > 0)
                .map(|(limit, count)| format!("{count} refused: {limit}")),
        );
        lines
    }

    /// Makes sure that enough inputs are what they are meant to be, where there are many.
    ///
    /// # Errors
    /// If they are not: then nothing is known of the pipeliner, whatever was found.
    pub fn require(&self) -> Result<()> {
        let counts = [
            ("are pipelined", self.pipelined, 40),
            ("have rings", self.rings, 50),
            ("have rings of different depths", self.depths, 10),
            ("have rings filled in different manners", self.manners, 5),
            (
                "are pipelined with bounds that only the host knows",
                self.dynamic,
                15,
            ),
            ("have several pipelined loops", self.several, 10),
        ];
        for (what, count, percent) in counts {
            if self.plain >= ENOUGH && count * 100 < self.plain * percent {
                bail!(
                    "of {} plain loops only {count} {what}, expected {percent} %: the generator does not test the pipeliner",
                    self.plain
                );
            }
        }
        Ok(())
    }
}

fn list<'a>(counts: impl Iterator<Item = (&'a u64, &'a u64)>) -> String {
    let all: Vec<String> = counts
        .map(|(what, count)| format!("{what} in {count}"))
        .collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_rings_are_counted() {
        let mut census = Census::default();
        let two = "%p = cute.pipeline.create : !cute.pipeline<3>, !cute.token\n\
                   %q = cute.pipeline.create : !cute.pipeline<2, immediate>, !cute.token\n\
                   a {cute.order = 0 : i32, cute.stage = 2 : i32}\nb {cute.order = 10 : i32, cute.stage = 0 : i32}\n\
                   c {cute.order = 0 : i32, cute.stage = 0 : i32}";
        census.count(two, true);
        census.count("scf.for", true);
        let Census {
            pipelined,
            rings,
            depths,
            manners,
            dynamic,
            several,
            ..
        } = census;
        assert_eq!(
            [pipelined, rings, depths, manners, dynamic, several],
            [1; 6]
        );
        assert_eq!(census.stages, [(1, 1), (3, 1)].into());
    }

    #[test]
    fn inputs_that_test_nothing_are_an_error() {
        let mut census = Census {
            plain: ENOUGH,
            ..Census::default()
        };
        let error = census.require().unwrap_err().to_string();
        assert!(error.contains("only 0 are pipelined"), "{error}");
        // Few may be what they are.
        census.plain = ENOUGH - 1;
        assert!(census.require().is_ok());
    }
}

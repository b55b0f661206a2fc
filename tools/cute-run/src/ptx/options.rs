//! The options of a run of a PTX file.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use cute_runtime::emulator::Schedule;

use crate::cli::{Binding, Cli, binding};

/// Options for files of PTX, which the emulator runs; see docs/emulator-ptx.md.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "PTX files")]
pub struct Options {
    /// PTX: the kernel to launch; needed where the file has several.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// PTX: blocks of the grid, such as 64 or 8,8,2.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = extents)]
    pub grid: Option<[u32; 3]>,

    /// PTX: threads of a block.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = extents)]
    pub block: Option<[u32; 3]>,

    /// PTX: blocks of a cluster; by default those that the kernel says.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = extents)]
    pub cluster: Option<[u32; 3]>,

    /// PTX: bytes of dynamic shared memory of a block.
    #[arg(long, value_name = "BYTES")]
    pub shared: Option<u32>,

    /// PTX: an argument of the kernel, in their order: u32=1024, f32=2.5, "f32[64,128]=random", x.npy, "&x+16", "{s32=1, &x}",
    /// bytes=00ff. Memory that an argument makes is called arg0, arg1, ... by the argument's place.
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub args: Vec<String>,

    /// PTX: memory with a name, which arguments point into: "x=f32[1024]=iota".
    #[arg(long, value_name = "NAME=MEMORY")]
    pub memory: Vec<String>,

    /// PTX: writes the findings as SARIF 2.1.0.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// PTX: writes a timeline of the warps of the first blocks, as Perfetto and browsers show it.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,

    /// PTX: how many blocks of each launch --timeline has.
    #[arg(long, value_name = "N", requires = "timeline", default_value_t = 8)]
    pub timeline_blocks: u32,

    /// PTX: runs the orders of warps and blocks with at most N preemptions, one after the other, and at most RUNS of them (1000).
    #[arg(long, value_name = "N[,RUNS]", value_parser = bounds, conflicts_with_all = ["seeds", "schedule"])]
    pub explore: Option<Bounds>,

    /// PTX: runs one order of warps and blocks, as --explore names them: none, or preemptions such as 17:2,40:0.
    #[arg(long, value_name = "ORDER", value_parser = |text: &str| text.parse::<Schedule>(), conflicts_with = "seeds")]
    pub schedule: Option<Schedule>,
}

/// The bounds of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Preemptions of an order.
    pub preemptions: usize,
    /// Orders.
    pub runs: usize,
}

fn bounds(text: &str) -> Result<Bounds, String> {
    let (preemptions, runs) = text.split_once(',').unwrap_or((text, "1000"));
    let preemptions = preemptions.trim().parse().ok().filter(|&n| n <= 8);
    let runs = runs.trim().parse().ok().filter(|&n| n > 0);
    match (preemptions, runs) {
        (Some(preemptions), Some(runs)) => Ok(Bounds { preemptions, runs }),
        _ => Err("expected 0 to 8 preemptions, and behind a comma how many orders may run, such as 2,500".into()),
    }
}

impl Options {
    /// The names of the options that were given and that are for PTX files alone.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--kernel", self.kernel.is_some()),
            ("--grid", self.grid.is_some()),
            ("--block", self.block.is_some()),
            ("--cluster", self.cluster.is_some()),
            ("--shared", self.shared.is_some()),
            ("--arg", !self.args.is_empty()),
            ("--memory", !self.memory.is_empty()),
            ("--sarif", self.sarif.is_some()),
            ("--timeline", self.timeline.is_some()),
            ("--explore", self.explore.is_some()),
            ("--schedule", self.schedule.is_some()),
        ];
        let given = all.into_iter().filter(|(_, given)| *given);
        given.map(|(name, _)| name).collect()
    }
}

/// The options that were given and that say what is launched, in place of a file.
pub fn launching(cli: &Cli) -> Vec<&'static str> {
    let mut given = cli.ptx.given();
    let of_a_run = ["--sarif", "--timeline", "--explore", "--schedule"];
    given.retain(|name| !of_a_run.contains(name));
    given.extend((!cli.expect.is_empty()).then_some("--expect"));
    given.extend((!cli.tolerance.is_empty()).then_some("--tolerance"));
    given
}

/// The tolerance of memory: the error that an element may have, relative to the expected value and absolute; 0 compares bytes.
///
/// # Errors
/// More than one, and what is no number.
pub fn tolerance(cli: &Cli) -> anyhow::Result<f64> {
    let [text] = cli.tolerance.as_slice() else {
        anyhow::ensure!(
            cli.tolerance.is_empty(),
            "expected one --tolerance for a PTX file, found {}",
            cli.tolerance.len()
        );
        return Ok(0.0);
    };
    let number: f64 = text.parse().ok().with_context(|| {
        format!("--tolerance {text}: expected a number for a PTX file, such as 1e-6; a file of TOML has one for each memory")
    })?;
    anyhow::ensure!(
        number.is_finite() && number >= 0.0,
        "--tolerance {text}: expected a tolerance that is a number of at least 0"
    );
    Ok(number)
}

fn extents(text: &str) -> Result<[u32; 3], String> {
    let mut found = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    let good = parts.len() <= 3
        && parts.iter().zip(&mut found).all(|(part, slot)| {
            let size = part.trim().parse().ok().filter(|size| *size > 0);
            size.map(|size| *slot = size).is_some()
        });
    if good {
        Ok(found)
    } else {
        Err("expected one to three positive numbers, such as 8,8,2".into())
    }
}

/// A name and what follows it, as `--memory` and `--expect` have it.
pub fn named(option: &str, text: &str) -> anyhow::Result<(String, String)> {
    let Ok(Binding { name, path }) = binding(text) else {
        anyhow::bail!("{option} {text}: expected a name, =, and what it is");
    };
    Ok((name, path.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_preemptions_and_orders() {
        let of = |preemptions, runs| Ok(Bounds { preemptions, runs });
        assert_eq!(bounds("2"), of(2, 1000));
        assert_eq!(bounds("0, 5"), of(0, 5));
        for bad in ["", "9", "1,0", "1,2,3", "x"] {
            assert!(bounds(bad).unwrap_err().contains("such as 2,500"), "{bad}");
        }
    }

    #[test]
    fn extents_are_one_to_three_numbers() {
        assert_eq!(extents("7"), Ok([7, 1, 1]));
        assert_eq!(extents("7, 2,3"), Ok([7, 2, 3]));
        for bad in ["", "0", "1,2,3,4", "1,,2", "x", "-1", "4294967296"] {
            assert!(extents(bad).unwrap_err().contains("such as 8,8,2"), "{bad}");
        }
    }
}

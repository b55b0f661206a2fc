//! `--bench-launch`: how long the host takes for a call.

use anyhow::{Context, bail};
use cute_runtime::cuda::LaunchTimes;
use cute_runtime::device::Choice;

use crate::cli::Cli;
use crate::job::Job;

/// Measures each job and prints it.
///
/// # Errors
/// If there is no GPU, or a call does not work.
pub fn run(cli: &Cli, jobs: &[Job]) -> anyhow::Result<()> {
    let ordinal = match cli.device {
        Choice::Auto => 0,
        Choice::Cuda(number) => number,
        Choice::Emulator => {
            bail!("--bench-launch measures calls of the driver; leave out --device=emulator")
        }
    };
    let mut all = Vec::new();
    for job in jobs {
        let tensors = job.tensors()?;
        let rounds = cli.reps as usize;
        let times = LaunchTimes::measure(&job.package, &job.function, &tensors, (ordinal, rounds))
            .with_context(|| job.path.display().to_string())?;
        if cli.json {
            let mut json = serde_json::to_value(times)?;
            json["package"] = job.path.display().to_string().into();
            json["beyond"] = times.beyond().into();
            all.push(json);
            continue;
        }
        let us = |seconds: f64| format!("{:.3} us", 1e6 * seconds);
        println!(
            "{}: a call takes the host {}, {} of cuLaunchKernelEx alone {}: {} beyond (medians of {} rounds of {} calls; call {} to {}, alone {} to {})",
            job.path.display(),
            us(times.call.median),
            match times.launches {
                1 => "its launch".to_owned(),
                n => format!("its {n} launches"),
            },
            us(times.driver.median),
            us(times.beyond()),
            times.rounds,
            times.calls,
            us(times.call.p10),
            us(times.call.p90),
            us(times.driver.p10),
            us(times.driver.p90),
        );
    }
    if cli.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(())
}

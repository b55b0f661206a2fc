//! The account of a measurement: a bar while it runs, and a table of what came of it.

use comfy_table::CellAlignment;
use cute_measured::By;
use cute_runtime::HostTensor;
use cute_runtime::device::Work;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::Entry;
use super::tuner::{Progress, State, ranked};
use super::worker::Hello;
use crate::cli::Cli;
use crate::info::table;
use crate::job::Job;
use crate::outcome::duration;

/// A bar on a terminal; elsewhere nothing.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new() -> Bar {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)");
        Bar(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }
}

impl Progress for Bar {
    fn left(&mut self, steps: usize) {
        self.0.set_length(self.0.position() + steps as u64);
    }

    fn step(&mut self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A candidate, and what came of it.
#[derive(Serialize)]
struct Line<'a> {
    product: usize,
    plan: &'a str,
    result: &'static str,
    reason: Option<&'a str>,
    /// Nanoseconds or instructions.
    median: Option<u64>,
    spread: Option<f64>,
    rounds: usize,
    /// Picoseconds.
    estimate: u64,
}

impl<'a> Line<'a> {
    fn of(entry: &'a Entry, state: &'a State) -> Line<'a> {
        let (result, reason, rounds) = match state {
            State::New => ("not measured", None, 0),
            State::Right(samples) => ("right", None, samples.len()),
            State::Wrong(reason) => ("WRONG", Some(reason.as_str()), 0),
            State::Failed(reason) => ("failed", Some(reason.as_str()), 0),
        };
        Line {
            product: entry.subject.product,
            plan: &entry.subject.plan,
            result,
            reason,
            median: state.median(),
            spread: state.spread(),
            rounds,
            estimate: entry.estimate,
        }
    }
}

#[derive(Serialize)]
struct Told<'a> {
    device: &'a Hello,
    by: By,
    results: Vec<Line<'a>>,
    unsuited: &'a [String],
}

/// Prints what came of each candidate, the fastest first.
///
/// # Errors
/// A result that JSON has no form for.
pub fn print(
    cli: &Cli,
    job: &Job,
    hello: &Hello,
    entries: &[Entry],
    states: &[State],
    unsuited: &[String],
    tensors: &[HostTensor],
) -> anyhow::Result<()> {
    let places = ranked(states);
    let results: Vec<Line<'_>> = places
        .iter()
        .map(|at| Line::of(&entries[*at], &states[*at]))
        .collect();
    if cli.json {
        let told = Told {
            device: hello,
            by: cli.tune_by,
            results,
            unsuited,
        };
        println!("{}", serde_json::to_string_pretty(&told)?);
        return Ok(());
    }
    println!(
        "{}, {} SMs, {}: {}",
        hello.device,
        hello.sms,
        job.path.display(),
        job.function.name
    );
    for product in 0..job.function.choices.len() {
        let own: Vec<&Line<'_>> = results
            .iter()
            .filter(|line| line.product == product)
            .collect();
        if let Some(entry) = entries
            .iter()
            .find(|entry| entry.subject.product == product)
        {
            let [m, n, k, batch] = entry.subject.extents;
            println!("\nproduct {product}: M = {m}, N = {n}, K = {k}, {batch} of them");
        }
        let work = Work::of(&job.function, tensors).flops;
        println!(
            "{}",
            lines(
                cli.tune_by,
                &own,
                work.filter(|_| job.function.choices.len() == 1)
            )
        );
        let best = own.iter().find(|line| line.median.is_some());
        if let Some(best) = best {
            println!("best: {}", best.plan);
        }
    }
    for plan in unsuited {
        println!("not for these sizes: {plan}");
    }
    for line in &results {
        if let Some(reason) = line.reason {
            eprintln!("{}: {}: {reason}", line.result.to_lowercase(), line.plan);
        }
    }
    Ok(())
}

fn lines(by: By, all: &[&Line<'_>], flops: Option<f64>) -> comfy_table::Table {
    let counted = match by {
        By::Time => "median",
        By::Instructions => "instructions",
    };
    let mut table = table([
        "plan",
        "result",
        counted,
        "spread",
        "TFLOP/s",
        "estimate",
        "median / estimate",
    ]);
    for line in all {
        let none = || "-".to_owned();
        let time = line.median.filter(|_| by == By::Time);
        let seconds = time.map(|ns| ns as f64 * 1e-9);
        let estimate = line.estimate as f64 * 1e-12;
        table.add_row([
            line.plan.to_owned(),
            line.result.to_owned(),
            match (seconds, line.median) {
                (Some(seconds), _) => duration(seconds),
                (None, Some(count)) => count.to_string(),
                (None, None) => none(),
            },
            line.spread
                .map_or_else(none, |spread| format!("{:.1} %", 100.0 * spread)),
            seconds.zip(flops).map_or_else(none, |(seconds, flops)| {
                format!("{:.1}", flops / seconds / 1e12)
            }),
            duration(estimate),
            seconds.map_or_else(none, |seconds| format!("{:.2}", seconds / estimate)),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

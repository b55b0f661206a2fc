//! The outcome of each package, as text, as a table and as JSON.

use cute_runtime::device::{DeviceInfo, DeviceKind, Measurement};
use cute_runtime::emulator::{self, Finding};
use cute_runtime::verify::Report;
use serde::Serialize;

use crate::cli::Cli;
use crate::expect::Expected;
use crate::info::table;
use crate::job::Job;
use crate::report;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Verified.
    Right,
    /// Ran, and computed something else, wrote where it must not, or faulted.
    Wrong,
    /// Ran, was not to be verified.
    Unverified,
    /// Could not run.
    Error,
}

#[derive(Debug, Serialize)]
pub struct Outcome {
    pub package: String,
    pub function: String,
    /// The code that ran, such as `sm_90a cubin`.
    pub code: Option<String>,
    pub notes: Vec<String>,
    pub status: Status,
    pub error: Option<String>,
    pub verification: Vec<Report>,
    /// Outputs beside the files of --expect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Expected>,
    pub measurement: Option<Measured>,
    /// Seeds that the emulator ran it with; 0 on a GPU.
    pub seeds: u32,
    /// The findings of the emulator; empty on a GPU.
    pub findings: Vec<Finding>,
    /// The text that kernels printed; on a GPU the driver prints it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub printed: String,
    /// The counts of the emulator, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<emulator::Report>,
    /// A kernel faulted, after which nothing else runs in this process.
    pub faulted: bool,
}

/// Times in seconds, rates in 10^12 operations and in 10^9 bytes a second.
#[derive(Debug, Serialize)]
pub struct Measured {
    #[serde(flatten)]
    pub measurement: Measurement,
    pub tflops: Option<f64>,
    pub batch_tflops: Option<f64>,
    pub gb_per_s: Option<f64>,
    pub batch_gb_per_s: Option<f64>,
}

impl From<Measurement> for Measured {
    fn from(measurement: Measurement) -> Measured {
        Measured {
            tflops: measurement.tflops(),
            batch_tflops: measurement.batch_tflops(),
            gb_per_s: measurement.gb_per_s(),
            batch_gb_per_s: measurement.batch_gb_per_s(),
            measurement,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Outcomes {
    pub device: DeviceInfo,
    pub results: Vec<Outcome>,
}

impl Outcomes {
    /// Results go to stdout, errors to stderr; as JSON everything goes to stdout.
    pub fn print(&self, cli: &Cli) -> anyhow::Result<()> {
        if cli.json {
            println!("{}", serde_json::to_string_pretty(self)?);
            return Ok(());
        }
        println!("{}", named(&self.device));
        for outcome in &self.results {
            outcome.print(cli);
        }
        if self.results.len() > 1
            || self
                .results
                .iter()
                .any(|outcome| outcome.measurement.is_some())
        {
            println!("\n{}", self.table());
        }
        Ok(())
    }

    fn table(&self) -> comfy_table::Table {
        let mut table = table([
            "package",
            "function",
            "code",
            "result",
            "rel. error",
            "median",
            "min",
            "max",
            "p10..p90",
            "TFLOP/s",
            "in a row",
            "GB/s",
            "in a row",
        ]);
        for outcome in &self.results {
            table.add_row(outcome.row());
        }
        for column in table.column_iter_mut().skip(4) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
        table
    }
}

fn named(device: &DeviceInfo) -> String {
    let (name, count) = (&device.name, device.multiprocessors);
    match device.kind {
        DeviceKind::Cuda => {
            let (major, minor) = device.compute_capability;
            format!("{name} (compute capability {major}.{minor}, {count} SMs)")
        }
        DeviceKind::Emulator if count == 1 => format!("{name} (1 core)"),
        DeviceKind::Emulator => format!("{name} ({count} cores)"),
    }
}

impl Outcome {
    /// One of which nothing is known yet.
    pub fn new(job: &Job) -> Outcome {
        Outcome {
            package: job.path.display().to_string(),
            function: job.function.name.clone(),
            code: None,
            notes: Vec::new(),
            status: Status::Unverified,
            error: None,
            verification: Vec::new(),
            expected: Vec::new(),
            measurement: None,
            seeds: 0,
            findings: Vec::new(),
            printed: String::new(),
            report: None,
            faulted: false,
        }
    }

    fn print(&self, cli: &Cli) {
        println!(
            "\n{}: {}{}",
            self.package,
            self.function,
            self.code
                .as_ref()
                .map_or(String::new(), |c| format!(", {c}"))
        );
        for note in &self.notes {
            println!("  note: {note}");
        }
        print!("{}", self.printed);
        if !self.printed.is_empty() && !self.printed.ends_with('\n') {
            println!();
        }
        for report in &self.verification {
            println!("  {}", report.to_string().replace('\n', "\n  "));
        }
        for expected in &self.expected {
            println!("  {}", expected.describe().replace('\n', "\n  "));
        }
        if self.status == Status::Unverified {
            println!("  not verified");
        }
        if self.seeds > 0 && self.findings.is_empty() && self.error.is_none() {
            println!("  no findings with {}", plural(self.seeds as usize, "seed"));
        }
        for finding in self.findings.iter().take(cli.findings) {
            println!("\n{finding}");
        }
        let all = self.findings.len();
        if all > cli.findings {
            let more = all - cli.findings;
            println!(
                "\n{}; --findings={all} prints all",
                plural(more, "more finding")
            );
        }
        if let Some(report) = &self.report {
            println!("\n{}", report::describe(report));
        }
        if let Some(error) = &self.error {
            let kind = if self.status == Status::Wrong {
                "wrong result"
            } else {
                "error"
            };
            eprintln!("{kind}: {}: {error}", self.package);
        } else if self.status == Status::Wrong {
            eprintln!("wrong result: {}: {}", self.package, self.function);
        }
        if let Some(Measured { measurement: m, .. }) = &self.measurement {
            println!(
                "  {} runs one by one after {} to warm up, through {} sets of arguments; spread {:.1} %",
                m.reps,
                m.warmup,
                m.sets,
                100.0 * m.each.spread()
            );
        }
    }

    fn row(&self) -> [String; 13] {
        let none = || "-".to_string();
        let result = match self.status {
            Status::Right => "right",
            Status::Wrong => "WRONG",
            Status::Unverified => "not verified",
            Status::Error => "error",
        };
        let worst = self
            .verification
            .iter()
            .filter_map(|report| report.relative_error)
            .chain(
                self.expected
                    .iter()
                    .filter_map(|expected| expected.relative_error),
            )
            .max_by(f64::total_cmp);
        let measured = self.measurement.as_ref();
        let time = |seconds: fn(&Measurement) -> f64| {
            measured.map_or_else(none, |measured| duration(seconds(&measured.measurement)))
        };
        let rate = |rate: Option<f64>| rate.map_or_else(none, |rate| format!("{rate:.1}"));
        [
            self.package.clone(),
            self.function.clone(),
            self.code.clone().unwrap_or_else(none),
            result.into(),
            worst.map_or_else(none, |error| format!("{error:.2e}")),
            time(|m| m.each.median),
            time(|m| m.each.min),
            time(|m| m.each.max),
            measured.map_or_else(none, |measured| {
                let each = &measured.measurement.each;
                format!("{}..{}", duration(each.p10), duration(each.p90))
            }),
            rate(measured.and_then(|measured| measured.tflops)),
            rate(measured.and_then(|measured| measured.batch_tflops)),
            rate(measured.and_then(|measured| measured.gb_per_s)),
            rate(measured.and_then(|measured| measured.batch_gb_per_s)),
        ]
    }
}

/// `1 finding`, `2 findings`
pub fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A time with four significant digits, about.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_runtime::device::{Stats, Work};

    fn outcome(status: Status) -> Outcome {
        Outcome {
            package: "a.cutepkg".into(),
            function: "gemm".into(),
            code: Some("sm_90a cubin".into()),
            notes: vec![],
            status,
            error: None,
            verification: vec![],
            expected: vec![],
            measurement: None,
            seeds: 0,
            findings: vec![],
            printed: String::new(),
            report: None,
            faulted: false,
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(
            [2.0, 0.0123456, 12.3456e-6].map(duration),
            ["2.000 s", "12.346 ms", "12.35 us"]
        );
    }

    #[test]
    fn rows_state_what_is_known() {
        assert_eq!(outcome(Status::Error).row()[3..6], ["error", "-", "-"]);
        let each = Stats {
            median: 1e-3,
            min: 0.9e-3,
            max: 2e-3,
            p10: 0.95e-3,
            p90: 1.1e-3,
        };
        let measurement = Measurement {
            each,
            batch: 0.5e-3,
            reps: 9,
            warmup: 2,
            sets: 3,
            work: Work {
                flops: Some(1e12),
                bytes: Some(3e9),
            },
        };
        let mut measured = outcome(Status::Right);
        measured.measurement = Some(measurement.into());
        assert_eq!(
            measured.row()[3..],
            [
                "right",
                "-",
                "1.000 ms",
                "900.00 us",
                "2.000 ms",
                "950.00 us..1.100 ms",
                "1000.0",
                "2000.0",
                "3000.0",
                "6000.0"
            ]
        );
        let json = serde_json::to_value(&measured).unwrap();
        assert_eq!(json["status"], "right");
        assert_eq!(json["measurement"]["tflops"], 1000.0);
        assert_eq!(json["measurement"]["each"]["median"], 1e-3);
    }
}

//! The outcome of a run of a PTX file: its text, its JSON, and the exit status.

use cute_runtime::emulator::{self, Cause, Finding, Kind};
use serde::Serialize;

use crate::expect::Compared;
use crate::outcome::plural;
use crate::report;

/// The exit status of a run: the smallest that its findings have, else that of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Right = 0,
    /// Memory is not as expected.
    WrongValue = 1,
    /// Threads, copies or launches that nothing orders.
    Race = 3,
    /// Accesses out of bounds, misaligned, to what is not initialised, to what is only read.
    Memory = 4,
    /// Threads that wait for ever, or that do not meet.
    Stuck = 5,
    /// Operands that PTX leaves undefined.
    Undefined = 6,
    /// A trap, or an assertion that failed.
    Trap = 7,
}

impl Status {
    /// The status of findings; none if there are none.
    pub fn of_all(findings: &[Finding]) -> Option<Status> {
        findings
            .iter()
            .map(|finding| Status::of(finding.kind))
            .min()
    }

    pub fn of(kind: Kind) -> Status {
        match kind {
            Kind::SharedRace
            | Kind::EqualWrites
            | Kind::GlobalRace
            | Kind::ConflictingWrites
            | Kind::MissingWait
            | Kind::MissingFence => Status::Race,
            Kind::OutOfBounds
            | Kind::Misaligned
            | Kind::UninitializedRegister
            | Kind::UninitializedShared
            | Kind::UninitializedMemory
            | Kind::NeverWritten
            | Kind::WriteToInput => Status::Memory,
            Kind::BarrierDivergence | Kind::Deadlock | Kind::InstructionLimit => Status::Stuck,
            Kind::OutsideCluster | Kind::NonCoherentRead | Kind::Undefined => Status::Undefined,
            Kind::Trap => Status::Trap,
        }
    }
}

/// The outcome of all runs of a file.
#[derive(Debug, Serialize)]
pub struct Outcome {
    pub ptx: String,
    /// The architecture that was emulated.
    pub arch: String,
    pub launches: usize,
    pub seeds: u32,
    /// Orders of warps and blocks that were explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orders: Option<u32>,
    /// The exit status.
    pub exit: u8,
    pub findings: Vec<Finding>,
    /// The findings by what is missing.
    pub causes: Vec<Cause>,
    pub compared: Vec<Compared>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub printed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<emulator::Report>,
}

impl Outcome {
    pub fn status(&self) -> Status {
        // Values that are not as expected follow from what was found, if anything was.
        let right = self.compared.iter().all(|compared| compared.wrong == 0);
        Status::of_all(&self.findings).unwrap_or(match right {
            true => Status::Right,
            false => Status::WrongValue,
        })
    }

    /// Prints what kernels printed, findings and comparisons.
    pub fn print(&self, most: usize) {
        if !self.printed.is_empty() {
            print!("{}", self.printed);
            if !self.printed.ends_with('\n') {
                println!();
            }
        }
        if let Some(report) = &self.report {
            println!("{}\n", report::describe(report));
        }
        for line in told(&self.findings, &self.causes, most) {
            println!("{line}");
        }
        for note in &self.notes {
            println!("note: {note}");
        }
        for compared in &self.compared {
            println!("{}", compared.describe());
        }
        let launches = plural(self.launches, "launch");
        let launches = launches.replace("launchs", "launches");
        let seeds = match self.orders {
            Some(orders) => plural(orders as usize, "order"),
            None => plural(self.seeds as usize, "seed"),
        };
        let found = counted(&self.findings);
        println!(
            "{}: {launches} on {} with {seeds}: {found}",
            self.ptx, self.arch
        );
    }
}

/// The text of so many findings, those that one barrier orders together, and the number of the others.
pub fn told(findings: &[Finding], causes: &[Cause], most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = most;
    for cause in causes {
        let shown = cause.findings.iter().take(left);
        left -= shown.len();
        if cause.findings.len() > 1 && shown.len() > 0 {
            lines.push(format!("{cause}:"));
        }
        lines.extend(shown.map(|&index| findings[index].to_string()));
    }
    if findings.len() > most {
        let rest = findings.len() - most;
        lines.push(format!(
            "and {} (--findings={})",
            plural(rest, "more finding"),
            findings.len()
        ));
    }
    lines
}

/// The number of findings.
pub fn counted(findings: &[Finding]) -> String {
    match findings.len() {
        0 => "no findings".into(),
        count => plural(count, "finding"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_status_is_the_smallest() {
        assert_eq!(Status::of(Kind::MissingFence), Status::Race);
        assert!(Status::of(Kind::SharedRace) < Status::of(Kind::OutOfBounds));
        assert!(Status::of(Kind::Deadlock) < Status::of(Kind::Trap));
        let compared = Compared {
            name: "x".into(),
            elements: 2,
            wrong: 1,
            first: None,
        };
        let outcome = Outcome {
            ptx: "k.ptx".into(),
            arch: "sm_80".into(),
            launches: 1,
            seeds: 1,
            orders: None,
            exit: 0,
            findings: vec![],
            causes: vec![],
            compared: vec![compared],
            notes: vec![],
            printed: String::new(),
            report: None,
        };
        assert_eq!(outcome.status(), Status::WrongValue);
    }
}

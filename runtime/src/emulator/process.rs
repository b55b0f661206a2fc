//! The CUDA calls of a whole process on the emulator: how it is told its settings, and the report that it leaves.
//!
//! The library that takes the calls lives in the process that makes them. `cute-run --cuda`, which starts that process, and the library
//! know each other by the environment and by files.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Config, Finding, merge};

/// The environment variable that holds the settings, as JSON of [`Settings`].
pub const SETTINGS: &str = "CUTE_CUDA_SETTINGS";

/// The settings of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Those of the emulator.
    pub config: Config,
    /// The folder for reports, one of each process; without one, a process prints its findings at its end.
    pub reports: Option<PathBuf>,
}

/// The report of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessReport {
    /// The architecture that was emulated; empty if nothing was launched.
    pub arch: String,
    /// Launches.
    pub launches: u64,
    /// The mistakes of kernels, causes first.
    pub findings: Vec<Finding>,
    /// Calls that returned an error, each text once: what was expected, what was found, what to do.
    pub errors: Vec<String>,
}

impl ProcessReport {
    /// Writes the report of the process of that number into a folder, so that whoever reads it finds a whole one.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn write(&self, folder: &Path, process: u32) -> std::io::Result<()> {
        let part = folder.join(format!("{process}.part"));
        std::fs::write(&part, serde_json::to_vec(self)?)?;
        std::fs::rename(part, folder.join(format!("{process}.json")))
    }

    /// Reads the reports in a folder as one; none if no process has left one.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read(folder: &Path) -> std::io::Result<Option<ProcessReport>> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        let mut all: Option<ProcessReport> = None;
        for path in paths {
            let next: ProcessReport = serde_json::from_slice(&std::fs::read(path)?)?;
            let all = all.get_or_insert_default();
            if all.arch.is_empty() {
                all.arch = next.arch;
            }
            all.launches += next.launches;
            all.findings = merge([std::mem::take(&mut all.findings), next.findings]);
            for error in next.errors {
                if !all.errors.contains(&error) {
                    all.errors.push(error);
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_processes_are_read_as_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ProcessReport::read(folder.path()).unwrap(), None);
        let report = ProcessReport {
            arch: "sm_80".into(),
            launches: 2,
            findings: Vec::new(),
            errors: vec!["a".into()],
        };
        report.write(folder.path(), 7).unwrap();
        report.write(folder.path(), 8).unwrap();
        let both = ProcessReport::read(folder.path()).unwrap().unwrap();
        assert_eq!((both.launches, both.errors.len()), (4, 1));
        std::fs::write(folder.path().join("9.json"), "{").unwrap();
        assert!(ProcessReport::read(folder.path()).is_err());
    }
}

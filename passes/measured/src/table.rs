//! The table of measured times, a file of JSON with a time a line.

use crate::GENERATION;
use cute_target::Arch;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The version of the format.
pub const FORMAT: u32 = 1;

/// The time of one plan for one shape on one device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Line")]
pub struct Time {
    /// The code that the device runs, without features of its own: `sm_90`.
    pub arch: String,
    /// Multiprocessors of the device.
    pub sms: u32,
    /// The name that the device gives itself.
    pub device: String,
    /// The kind of product: types, majors, widths of accesses.
    pub problem: String,
    /// M, N, K and the number of products.
    pub extents: [i64; 4],
    /// The options that ask for the plan.
    pub plan: String,
    /// The time in nanoseconds.
    pub ns: u64,
}

/// A time as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    arch: String,
    sms: u32,
    device: String,
    problem: String,
    extents: [i64; 4],
    plan: String,
    ns: u64,
}

impl TryFrom<Line> for Time {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        let Line {
            arch,
            sms,
            device,
            problem,
            extents,
            plan,
            ns,
        } = line;
        match arch.parse::<Arch>() {
            Ok(found) if code_of((found.major, found.minor)) == arch => {}
            _ => {
                return Err(format!(
                    "expected arch of a device, such as sm_90, found `{arch}`"
                ));
            }
        }
        if extents.iter().any(|extent| *extent < 1) || sms < 1 || ns < 1 {
            return Err(format!(
                "expected extents, sms and ns of at least 1, found {extents:?}, {sms} and {ns}"
            ));
        }
        for (name, text) in [("device", &device), ("problem", &problem), ("plan", &plan)] {
            if text.is_empty() {
                return Err(format!("expected a text as {name}, found none"));
            }
        }
        Ok(Self {
            arch,
            sms,
            device,
            problem,
            extents,
            plan,
            ns,
        })
    }
}

impl Time {
    /// Tells whether both are of one plan for one shape on one device.
    fn is_of_same(&self, other: &Self) -> bool {
        let [a, b] = [self, other].map(|time| Self {
            ns: 0,
            ..time.clone()
        });
        a == b
    }
}

/// The name of the code that a GPU of a compute capability runs, without features: `sm_90`.
pub fn code_of((major, minor): (u32, u32)) -> String {
    format!("sm_{major}{minor}")
}

/// The reason why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// No JSON, or JSON of another form; it has the line and the column.
    #[error("expected a table of measured times (docs/tuning.md): {0}")]
    Form(#[from] serde_json::Error),
    /// Another version of the format.
    #[error(
        "expected a table of format {FORMAT}, found format {0}; measure again, or use the compiler that the table was made for"
    )]
    Format(u32),
    /// Times of other kernels.
    #[error(
        "the table is stale: its times are of kernels of generation {0}, this compiler makes those of generation {GENERATION}; \
         measure again (cargo xtask tune)"
    )]
    Stale(u32),
    /// Two times of the same.
    #[error("expected one time of {plan} for {problem} of {extents:?} on {device}, found two")]
    Twice {
        /// The device of both.
        device: String,
        /// Their kind of product.
        problem: String,
        /// Their shape.
        extents: [i64; 4],
        /// Their plan.
        plan: String,
    },
}

/// A file of a table that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", .path.display())]
pub struct FileError {
    path: PathBuf,
    what: String,
}

/// Measured times, sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    times: Vec<Time>,
}

#[derive(Deserialize)]
struct Head {
    format: u32,
    generation: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: u32,
    #[serde(rename = "generation")]
    _generation: u32,
    times: Vec<Time>,
}

impl Table {
    /// Reads the text of a table.
    ///
    /// # Errors
    /// [`TableError`]: a text that is none, or a table of another format or of other kernels.
    pub fn read(text: &str) -> Result<Self, TableError> {
        let head: Head = serde_json::from_str(text)?;
        if head.format != FORMAT {
            return Err(TableError::Format(head.format));
        }
        if head.generation != GENERATION {
            return Err(TableError::Stale(head.generation));
        }
        let File { mut times, .. } = serde_json::from_str(text)?;
        times.sort();
        if let Some(pair) = times.windows(2).find(|pair| pair[0].is_of_same(&pair[1])) {
            let Time {
                device,
                problem,
                extents,
                plan,
                ..
            } = pair[0].clone();
            return Err(TableError::Twice {
                device,
                problem,
                extents,
                plan,
            });
        }
        Ok(Self { times })
    }

    /// The text of the table, with a line for each time.
    pub fn text(&self) -> String {
        let line = |time| serde_json::to_string(time).unwrap_or_default();
        let lines: Vec<String> = self.times.iter().map(line).collect();
        let lines = match lines.is_empty() {
            true => String::new(),
            false => format!("\n{}", lines.join(",\n")),
        };
        format!("{{\"format\": {FORMAT}, \"generation\": {GENERATION}, \"times\": [{lines}]}}\n")
    }

    /// Reads the table of a file; one that is not there is empty.
    ///
    /// # Errors
    /// A file that cannot be read, and [`TableError`].
    pub fn read_file(path: &Path) -> Result<Self, FileError> {
        let fail = |what: String| FileError {
            path: path.to_path_buf(),
            what,
        };
        match fs::read_to_string(path) {
            Ok(text) => Self::read(&text).map_err(|e| fail(e.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(fail(format!("cannot read it: {error}"))),
        }
    }

    /// Writes the table to a file through another one beside it and a rename: a reader finds the old table or the new one.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_file(&self, path: &Path) -> Result<(), FileError> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        let written = fs::write(&beside, self.text()).and_then(|()| fs::rename(&beside, path));
        written.map_err(|error| {
            // The first error is the one to report.
            let _ = fs::remove_file(&beside);
            FileError {
                path: path.to_path_buf(),
                what: format!("cannot write it: {error}"),
            }
        })
    }

    /// All times, in the order of the file.
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// Adds a time in place of an older one of the same, and tells whether there was none.
    pub fn add(&mut self, time: Time) -> bool {
        let before = self.times.len();
        self.times.retain(|other| !other.is_of_same(&time));
        let is_new = self.times.len() == before;
        let place = self.times.partition_point(|other| *other < time);
        self.times.insert(place, time);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(plan: &str, ns: u64) -> Time {
        Time {
            arch: "sm_90".to_owned(),
            sms: 132,
            device: "NVIDIA H200".to_owned(),
            problem: "f16 f16 f32 f16 kkn 8x8x8".to_owned(),
            extents: [4096, 4096, 4096, 1],
            plan: plan.to_owned(),
            ns,
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let mut table = Table::default();
        assert_eq!(Table::read(&table.text()).unwrap(), table);
        assert!(table.add(time("tile=b", 20)));
        assert!(table.add(time("tile=a", 10)));
        assert!(!table.add(time("tile=b", 30)));
        let text = table.text();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert_eq!(Table::read(&text).unwrap(), table);
        let plans: Vec<_> = table
            .times()
            .iter()
            .map(|time| (&*time.plan, time.ns))
            .collect();
        assert_eq!(plans, [("tile=a", 10), ("tile=b", 30)]);
    }

    #[test]
    fn a_file_is_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.json");
        assert_eq!(Table::read_file(&path).unwrap(), Table::default());
        let mut table = Table::default();
        table.add(time("tile=a", 10));
        table.write_file(&path).unwrap();
        assert_eq!(Table::read_file(&path).unwrap(), table);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(&path, "[]").unwrap();
        let error = Table::read_file(&path).unwrap_err().to_string();
        assert!(error.contains("times.json: expected a table"), "{error}");
        let nowhere = folder.path().join("none/times.json");
        let error = table.write_file(&nowhere).unwrap_err().to_string();
        assert!(error.contains("cannot write it"), "{error}");
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_place() {
        let mut table = Table::default();
        table.add(time("tile=a", 10));
        let text = table.text();
        let error = |text: &str| Table::read(text).unwrap_err().to_string();
        for (from, to, says) in [
            ("\"format\": 1", "\"format\": 2", "format 1, found format 2"),
            (
                "\"generation\": 1",
                "\"generation\": 0",
                "stale: its times are of kernels of generation 0",
            ),
            ("sm_90", "sm_90a", "such as sm_90, found `sm_90a` at line 2"),
            ("sm_90", "hopper", "found `hopper` at line 2"),
            ("\"ns\":10", "\"ns\":0", "of at least 1"),
            ("\"ns\":10", "\"ns\":-1", "invalid value: integer `-1`"),
            ("4096,4096,4096,1", "4096,4096,4096", "invalid length 3"),
            ("tile=a", "", "a text as plan"),
            ("\"ns\"", "\"us\"", "unknown field `us`"),
            ("]}", "]", "EOF"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            let found = error(&changed);
            assert!(found.contains(says), "{found}");
        }
        assert!(error("").contains("line 1"));
        let line = text.lines().nth(1).unwrap().trim_end_matches("]}");
        let twice = text.replace(line, &format!("{line},\n{line}"));
        assert!(error(&twice).contains("found two"));
    }
}

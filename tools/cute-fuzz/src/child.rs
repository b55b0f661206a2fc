//! Child processes with a limit of time and of memory.

use anyhow::{Context, Result};
use process_control::{ChildExt, Control};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Bytes of address space that a child may have.
pub const MEMORY: usize = 2 << 30;

/// The end of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i64),
    /// Ended by a signal of that number.
    Signal(i32),
    /// It was killed, as its time was over.
    Timeout,
    /// It gave up, as it got no memory.
    Memory,
}

/// A child that ended.
#[derive(Clone, Debug)]
pub struct Ran {
    pub end: End,
    pub stdout: String,
    pub stderr: String,
}

/// Texts that programs print when an allocation fails: Rust, C++, LLVM.
const NO_MEMORY: [&str; 4] = [
    "memory allocation of",
    "bad_alloc",
    "out of memory",
    "Cannot allocate memory",
];

/// Runs a program without input to its end, or for as long as it may.
///
/// # Errors
/// If it cannot be started or watched.
pub fn run(command: &mut Command, time: Duration) -> Result<Ran> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let output = child
        .controlled_with_output()
        .memory_limit(MEMORY)
        .time_limit(time)
        .terminate_for_timeout()
        .wait()
        .with_context(|| format!("cannot watch {name}"))?;
    let Some(output) = output else {
        return Ok(Ran {
            end: End::Timeout,
            stdout: String::new(),
            stderr: String::new(),
        });
    };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let end = match output.status.signal() {
        Some(_) if NO_MEMORY.iter().any(|text| stderr.contains(text)) => End::Memory,
        Some(signal) => End::Signal(signal),
        None => End::Exited(output.status.code().unwrap_or(-1)),
    };
    Ok(Ran {
        end,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Ran {
        run(
            Command::new("sh").args(["-c", script]),
            Duration::from_secs(1),
        )
        .unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        let ran = shell("echo out; echo err >&2; exit 3");
        assert_eq!(ran.end, End::Exited(3));
        assert_eq!((&*ran.stdout, &*ran.stderr), ("out\n", "err\n"));
        assert_eq!(shell("kill -SEGV $$").end, End::Signal(11));
        assert_eq!(
            shell("echo memory allocation of 5 bytes failed >&2; kill -ABRT $$").end,
            End::Memory
        );
        assert_eq!(shell("exec sleep 5").end, End::Timeout);
        assert!(run(&mut Command::new("no-such-program"), Duration::from_secs(1)).is_err());
    }

    #[test]
    fn children_know_their_memory() {
        let ran = shell("sleep 0.1; ulimit -v");
        assert_eq!(ran.stdout.trim(), (MEMORY / 1024).to_string());
    }
}

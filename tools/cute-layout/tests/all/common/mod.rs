//! Runs the binary.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The results of a run.
pub struct Run {
    /// The exit status; `None` after a signal, such as that of a stack overflow.
    pub status: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

fn collect(output: Output) -> Run {
    Run {
        status: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8 output"),
        err: String::from_utf8(output.stderr).expect("UTF-8 errors"),
    }
}

/// Runs `cute-layout` with arguments.
pub fn run(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_cute-layout"))
        .args(args)
        .stdin(Stdio::null())
        .output();
    collect(output.expect("the binary runs"))
}

/// Runs `cute-layout` with arguments and standard input.
pub fn run_with(args: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cute-layout"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Apart, so that a full pipe of output cannot stop the input.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the binary ends");
    // The binary may stop reading where the input is too long.
    let _ = writer.join().expect("the writer ends");
    collect(output)
}

/// The result of an expression that has one and no notes.
pub fn eval(expr: &str) -> String {
    let r = run(["eval", expr]);
    assert_eq!((r.status, &r.err[..]), (Some(0), ""), "{expr}");
    r.out.trim_end().to_string()
}

/// Standard error of an expression that is wrong.
pub fn fail(expr: &str) -> String {
    let r = run(["eval", expr]);
    assert_eq!((r.status, &r.out[..]), (Some(1), ""), "{expr}: {}", r.err);
    r.err
}

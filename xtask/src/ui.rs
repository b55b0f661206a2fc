//! Progress: a spinner on a terminal, plain lines elsewhere. One step at a time.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A step under way. Ends with [`Step::done`]; dropped before that, it failed.
pub struct Step {
    what: String,
    spinner: Option<ProgressBar>,
    start: Instant,
    finished: bool,
}

impl Step {
    /// Says what begins.
    pub fn new(what: impl Into<String>) -> Step {
        let what = what.into();
        let spinner = std::io::stderr().is_terminal().then(|| {
            let spinner = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                spinner.set_style(style);
            }
            spinner.set_message(what.clone());
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        });
        if spinner.is_none() {
            eprintln!("{what} ...");
        }
        Step {
            what,
            spinner,
            start: Instant::now(),
            finished: false,
        }
    }

    /// Says that it is done, and what came of it.
    pub fn done(mut self, result: &str) {
        self.finished = true;
        let line = format!(
            "{}: {result} ({})",
            self.what,
            seconds(self.start.elapsed())
        );
        self.finish(&line);
    }

    fn finish(&self, line: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
        eprintln!("{line}");
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(&format!(
                "{}: failed ({})",
                self.what,
                seconds(self.start.elapsed())
            ));
        }
    }
}

/// A bar for so many steps; nothing where there is no terminal.
pub fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)");
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// Says what was found, and how long looking took.
pub fn found(what: &str, result: &str, time: Duration) {
    eprintln!("{what}: {result} ({})", seconds(time));
}

/// An error: what happened and the cure, then what lies behind it.
pub fn explained(error: &anyhow::Error) -> String {
    let causes: String = error
        .chain()
        .skip(1)
        .map(|cause| format!("\nbecause: {cause}"))
        .collect();
    format!("error: {error}{causes}")
}

/// A time to read.
pub fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 0.1 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cure_stands_before_the_causes() {
        let error = anyhow::anyhow!("no such host")
            .context("it could not be downloaded\ncure: check the network");
        let text =
            "error: it could not be downloaded\ncure: check the network\nbecause: no such host";
        assert_eq!(explained(&error), text);
    }

    #[test]
    fn times_to_read() {
        let shown = |ms| seconds(Duration::from_millis(ms));
        assert_eq!(
            [shown(7), shown(250), shown(61_400)],
            ["7 ms", "0.25 s", "61 s"]
        );
    }
}

//! Workers: processes that run candidates, one at a time, each until it is of no use any more.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use cute_measured::Subject;

use super::tuner::{Measurer, Sampled, Verdict};
use super::worker::{Answer, Command, Hello, Place};

/// Bytes at the end of what a worker wrote to stderr that are told.
const TOLD: usize = 2000;

/// The time that the end of what a worker wrote may take to come, once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A worker that runs.
struct Worker {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    errors: Receiver<Vec<u8>>,
    /// Tells whether it has begun to sample: from then on it checks nothing.
    samples: bool,
}

/// The reason why a worker gave no answer.
enum Silence {
    Late,
    Ended(String),
}

impl Worker {
    fn start(program: &mut Process) -> anyhow::Result<Worker> {
        let mut process = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start a process that runs candidates")?;
        let piped = || anyhow!("a process without pipes");
        let input = process.stdin.take().ok_or_else(piped)?;
        let output = process.stdout.take().ok_or_else(piped)?;
        let mut errors = process.stderr.take().ok_or_else(piped)?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let (sender, errors_read) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Worker {
            process,
            input,
            lines,
            errors: errors_read,
            samples: false,
        })
    }

    /// The next line that it says.
    fn line(&mut self, limit: Duration) -> Result<String, Silence> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.process.wait();
                Err(Silence::Ended(match status {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                }))
            }
        }
    }

    /// Ends it, and gives the end of what it wrote to stderr.
    fn end(mut self) -> String {
        let _ = self.process.kill();
        let _ = self.process.wait();
        drop(self.input);
        // Something that it started may hold the pipe open for longer.
        let mut said = Vec::new();
        while let Ok(more) = self.errors.recv_timeout(LAST_WORDS) {
            said.extend(more);
        }
        let said = String::from_utf8_lossy(&said);
        let said = said.trim();
        let from =
            (said.len().saturating_sub(TOLD)..said.len()).find(|at| said.is_char_boundary(*at));
        said[from.unwrap_or(0)..].to_owned()
    }
}

/// Workers of one program with its arguments, of which each step may take so long.
pub struct Workers {
    program: Box<dyn Fn() -> Process>,
    limit: Duration,
    worker: Option<Worker>,
}

/// The answer to a step, or the reason why there is none.
enum Step {
    Answered(Answer),
    /// It took too long, or the worker ended.
    Lost(String),
}

impl Workers {
    /// Workers that `program` starts.
    pub fn new(program: Box<dyn Fn() -> Process>, limit: Duration) -> Workers {
        Workers {
            program,
            limit,
            worker: None,
        }
    }

    /// Starts a worker, and gives what it says of its device.
    ///
    /// # Errors
    /// A worker that does not come so far: no device.
    pub fn start(&mut self) -> anyhow::Result<Hello> {
        let mut worker = Worker::start(&mut (self.program)())?;
        let reason = match worker.line(self.limit) {
            Ok(line) => {
                self.worker = Some(worker);
                return serde_json::from_str(&line)
                    .with_context(|| format!("a worker said {line}"));
            }
            Err(Silence::Late) => format!("no device within {} s", self.limit.as_secs()),
            Err(Silence::Ended(status)) => status,
        };
        let said = worker.end();
        match said.strip_prefix("error: ") {
            Some(error) => bail!("{error}"),
            None => bail!("a process that runs candidates ended ({reason}): {said}"),
        }
    }

    fn ask(&mut self, command: Command) -> anyhow::Result<Step> {
        let is_sample = matches!(command, Command::Sample(_));
        // One that samples checks nothing any more.
        if self
            .worker
            .as_ref()
            .is_some_and(|worker| worker.samples && !is_sample)
        {
            self.end();
        }
        if self.worker.is_none() {
            self.start()?;
        }
        let Some(worker) = &mut self.worker else {
            bail!("no process that runs candidates");
        };
        worker.samples |= is_sample;
        // One that has ended does not read; why is known from its end.
        let text = serde_json::to_string(&command)?;
        let _ = writeln!(worker.input, "{text}").and_then(|()| worker.input.flush());
        match worker.line(self.limit) {
            Ok(line) => {
                let answer =
                    serde_json::from_str(&line).with_context(|| format!("a worker said {line}"))?;
                if matches!(answer, Answer::Faulted(_)) {
                    self.end();
                }
                Ok(Step::Answered(answer))
            }
            Err(Silence::Late) => {
                self.end();
                let seconds = self.limit.as_secs();
                Ok(Step::Lost(format!(
                    "took longer than {seconds} s (--time-limit)"
                )))
            }
            Err(Silence::Ended(status)) => {
                let said = self.end();
                Ok(Step::Lost(format!("the process ended ({status}): {said}")))
            }
        }
    }

    /// Ends the worker, if there is one, and gives what it wrote to stderr.
    fn end(&mut self) -> String {
        self.worker.take().map_or_else(String::new, Worker::end)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}

fn place(subject: &Subject) -> Place {
    (subject.product, subject.candidate)
}

/// Measures by workers; the number of a subject's candidate is its place among them.
impl Measurer for Workers {
    fn check(&mut self, subject: &Subject) -> anyhow::Result<Verdict> {
        Ok(match self.ask(Command::Check(place(subject)))? {
            Step::Answered(Answer::Right) => Verdict::Right,
            Step::Answered(Answer::Wrong(reason)) => Verdict::Wrong(reason),
            Step::Answered(
                Answer::Failed(reason) | Answer::Faulted(reason) | Answer::NoMemory(reason),
            )
            | Step::Lost(reason) => Verdict::Failed(reason),
            Step::Answered(Answer::Value(value)) => bail!("a worker answered {value} to a check"),
        })
    }

    fn sample(&mut self, subject: &Subject) -> anyhow::Result<Sampled> {
        let mut step = self.ask(Command::Sample(place(subject)))?;
        if matches!(step, Step::Answered(Answer::NoMemory(_))) {
            // A new one has nothing else in memory.
            self.end();
            step = self.ask(Command::Sample(place(subject)))?;
        }
        Ok(match step {
            Step::Answered(Answer::Value(value)) => Sampled::Value(value),
            Step::Answered(
                Answer::Failed(reason)
                | Answer::Faulted(reason)
                | Answer::NoMemory(reason)
                | Answer::Wrong(reason),
            )
            | Step::Lost(reason) => Sampled::Failed(reason),
            Step::Answered(Answer::Right) => bail!("a worker answered to a sample as to a check"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_measured::By;

    fn workers(script: &str, milliseconds: u64) -> Workers {
        let script = script.to_owned();
        let program = move || {
            let mut process = Process::new("sh");
            process.args(["-c", &script]);
            process
        };
        Workers::new(Box::new(program), Duration::from_millis(milliseconds))
    }

    fn subject(candidate: usize) -> Subject {
        Subject {
            package: String::new(),
            function: String::new(),
            arguments: String::new(),
            device: String::new(),
            arch: String::new(),
            sms: 1,
            by: By::Time,
            product: 0,
            alone: true,
            problem: String::new(),
            generation: 1,
            extents: [1; 4],
            candidate,
            plan: String::new(),
        }
    }

    const HELLO: &str = r#"echo '{"device":"d","arch":"sm_90","sms":4}';"#;

    /// A worker of which candidate 1 crashes, 2 hangs, 3 faults, and all others are right and take as long as the worker has answered.
    fn scripted() -> String {
        format!(
            r#"{HELLO} n=0; while read line; do n=$((n+1)); case "$line" in
            *0,1*) echo 'broken pipe of dreams' >&2; kill -SEGV $$;;
            *0,2*) sleep 100;;
            *0,3*) echo '{{"faulted":"an illegal address"}}';;
            *0,4*) [ $n -gt 1 ] && echo '{{"no_memory":"full"}}' || echo '{{"value":44}}';;
            *check*) echo '"right"';;
            *) echo "{{\"value\":$n}}";; esac; done"#
        )
    }

    #[test]
    fn each_end_of_a_worker_is_told_and_another_one_goes_on() {
        let mut workers = workers(&scripted(), 2000);
        let hello = workers.start().unwrap();
        assert_eq!((&*hello.device, &*hello.arch, hello.sms), ("d", "sm_90", 4));
        assert_eq!(workers.check(&subject(0)).unwrap(), Verdict::Right);
        let Verdict::Failed(reason) = workers.check(&subject(1)).unwrap() else {
            panic!("a crash")
        };
        assert!(
            reason.contains("signal: 11") && reason.contains("pipe of dreams"),
            "{reason}"
        );
        assert_eq!(workers.check(&subject(0)).unwrap(), Verdict::Right);
        workers.limit = Duration::from_millis(300);
        let Verdict::Failed(reason) = workers.check(&subject(2)).unwrap() else {
            panic!("a hang")
        };
        assert!(reason.contains("took longer than 0 s"), "{reason}");
        workers.limit = Duration::from_secs(2);
        assert_eq!(
            workers.check(&subject(3)).unwrap(),
            Verdict::Failed("an illegal address".into())
        );
        // A new worker each time that one had faulted: the first sample is its first answer.
        assert_eq!(workers.sample(&subject(0)).unwrap(), Sampled::Value(1));
        assert_eq!(workers.sample(&subject(0)).unwrap(), Sampled::Value(2));
        assert_eq!(workers.sample(&subject(4)).unwrap(), Sampled::Value(44));
        assert_eq!(workers.sample(&subject(0)).unwrap(), Sampled::Value(2));
        assert_eq!(workers.check(&subject(0)).unwrap(), Verdict::Right);
    }

    #[test]
    fn without_a_device_nothing_goes_on() {
        let error = workers("echo 'error: no GPU' >&2; exit 2", 2000)
            .start()
            .unwrap_err();
        assert_eq!(error.to_string(), "no GPU");
        let error = workers("exit 3", 2000).start().unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
        let error = workers("echo hello", 2000).start().unwrap_err();
        assert!(error.to_string().contains("said hello"), "{error}");
    }
}

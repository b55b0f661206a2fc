//! What is to be run: a function of a package and where its arguments come from.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use cute_runtime::{Arg, Function, HostTensor, Package, PackageError, tensor, verify::Data};

use crate::cli::{Binding, Cli};

pub struct Job {
    pub path: PathBuf,
    pub package: Package,
    pub function: Function,
    /// Index of an argument, and the file that it is read from.
    inputs: Vec<(usize, PathBuf)>,
    /// Index of an argument, and the file that it is written to.
    pub outputs: Vec<(usize, PathBuf)>,
    seed: u64,
}

/// The jobs of a command line. Packages, names and files are all looked at before anything runs.
pub fn jobs(cli: &Cli) -> anyhow::Result<Vec<Job>> {
    if cli.packages.len() > 1 && !cli.output.is_empty() {
        bail!(
            "--output takes one package, found {}: they would overwrite each other's file",
            cli.packages.len()
        );
    }
    let mut jobs = Vec::new();
    for path in &cli.packages {
        let job = Job::new(cli, path)?;
        if !job.inputs.is_empty() {
            // A bad file is better found now than after other packages ran; the tensors are made
            // again when they run.
            job.tensors()?;
        }
        jobs.push(job);
    }
    Ok(jobs)
}

/// Reads a package; the error names its path, once.
pub fn read_package(path: &Path) -> anyhow::Result<Package> {
    Package::read_file(path).map_err(|error| match error {
        PackageError::Io { .. } => error.into(),
        other => anyhow::Error::from(other).context(path.display().to_string()),
    })
}

impl Job {
    fn new(cli: &Cli, path: &Path) -> anyhow::Result<Job> {
        let package = read_package(path)?;
        let function = package
            .function(cli.function.as_deref())
            .with_context(|| path.display().to_string())?
            .clone();
        let inputs = bind(&function, &cli.input, "--input", |arg| arg.access().reads())?;
        let outputs = bind(&function, &cli.output, "--output", |arg| {
            arg.access().writes()
        })?;
        Ok(Job {
            path: path.to_path_buf(),
            package,
            function,
            inputs,
            outputs,
            seed: cli.seed,
        })
    }

    /// The arguments before the launch.
    pub fn tensors(&self) -> anyhow::Result<Vec<HostTensor>> {
        let mut tensors = tensor::generate(&self.function, self.seed)?;
        for (index, path) in &self.inputs {
            tensors[*index]
                .read_npy(path)
                .with_context(|| format!("argument {}", self.function.args[*index].name()))?;
        }
        Ok(tensors)
    }

    /// What the verification may assume of the inputs.
    pub fn data(&self) -> Data {
        if self.inputs.is_empty() {
            Data::IndependentMeanZero
        } else {
            Data::Any
        }
    }
}

fn bind(
    function: &Function,
    bindings: &[Binding],
    option: &str,
    suits: impl Fn(&Arg) -> bool,
) -> anyhow::Result<Vec<(usize, PathBuf)>> {
    let names: Vec<_> = function
        .args
        .iter()
        .filter(|arg| suits(arg))
        .map(Arg::name)
        .collect();
    let mut bound: Vec<(usize, PathBuf)> = Vec::new();
    for Binding { name, path } in bindings {
        let Some(index) = function
            .args
            .iter()
            .position(|arg| arg.name() == name && suits(arg))
        else {
            bail!(
                "{option} {name}: expected one of {}'s arguments {}",
                function.name,
                names.join(", ")
            );
        };
        if bound.iter().any(|(other, _)| *other == index) {
            bail!("{option} {name}: expected each argument once, found it twice");
        }
        bound.push((index, path.clone()));
    }
    Ok(bound)
}

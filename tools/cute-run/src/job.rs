//! The work to be done: a function of a package and where its arguments come from.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use cute_runtime::plan;
use cute_runtime::tensor::{self, Given, npy_shape};
use cute_runtime::{Arg, Function, HostTensor, Package, PackageError, Pattern, verify::Data};

use crate::cli::{Binding, Cli, Named};
use crate::expect::{self, Expectation};

pub struct Job {
    pub path: PathBuf,
    pub package: Package,
    pub function: Function,
    /// Index of an argument, and the file that it is read from.
    inputs: Vec<(usize, PathBuf)>,
    /// Index of an argument, and the file that it is written to.
    pub outputs: Vec<(usize, PathBuf)>,
    /// The statement of the caller on each argument.
    given: Vec<Given>,
    seed: u64,
    /// The files that outputs are compared with.
    pub expectations: Vec<Expectation>,
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
        let mut job = Job::new(cli, path)?;
        if !job.inputs.is_empty() || job.is_open() || expect::is_asked(cli) {
            // What is bad or missing is better found now than after other packages ran; the tensors
            // are made again when they run.
            let tensors = job.tensors()?;
            let checked = match job.function.asks_device() {
                // The device is not open yet.
                true => tensor::check_args(&job.function, &tensors),
                false => plan::plan(&job.function, &tensors, 0).map(drop),
            };
            checked.with_context(|| path.display().to_string())?;
            let expectations = expect::expectations(cli, &job.function, &tensors);
            job.expectations = expectations.with_context(|| path.display().to_string())?;
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
        let inputs = bind(&function, &cli.input, "--input", |arg| {
            arg.is_tensor() && arg.access().reads()
        })?;
        let outputs = bind(&function, &cli.output, "--output", |arg| {
            arg.access().writes()
        })?;
        let given = given(cli, &function, &inputs)?;
        Ok(Job {
            given,
            path: path.to_path_buf(),
            package,
            function,
            inputs,
            outputs,
            seed: cli.seed,
            expectations: Vec::new(),
        })
    }

    /// The arguments before the launch.
    pub fn tensors(&self) -> anyhow::Result<Vec<HostTensor>> {
        let mut tensors = tensor::generate_given(&self.function, &self.given, self.seed)?;
        for (index, path) in &self.inputs {
            tensors[*index]
                .read_npy(path)
                .with_context(|| format!("argument {}", self.function.args[*index].name()))?;
        }
        Ok(tensors)
    }

    /// Tells whether the package leaves something to the caller.
    fn is_open(&self) -> bool {
        self.function.args.iter().any(|arg| match arg {
            Arg::Tensor { layout, .. } => !is_static(layout),
            Arg::Scalar { .. } => true,
        }) || self.given.iter().any(|given| *given != Given::Nothing)
    }

    /// The facts on the inputs that the verification may assume.
    pub fn data(&self) -> Data {
        if self.inputs.is_empty() {
            Data::IndependentMeanZero
        } else {
            Data::Any
        }
    }
}

fn is_static(layout: &str) -> bool {
    Pattern::parse(layout).is_ok_and(|pattern| pattern.is_static())
}

/// The statement of the command line on each argument.
fn given(
    cli: &Cli,
    function: &Function,
    inputs: &[(usize, PathBuf)],
) -> anyhow::Result<Vec<Given>> {
    let mut given = vec![Given::Nothing; function.args.len()];
    let tensors = Arg::is_tensor;
    let scalars = |arg: &Arg| !arg.is_tensor();
    for Named { name, value } in &cli.shape {
        let index = find(function, name, "--shape", tensors)?;
        say(
            &mut given[index],
            Given::Shape(value.clone()),
            "--shape",
            name,
        )?;
    }
    for Named { name, value } in &cli.layout {
        let index = find(function, name, "--layout", tensors)?;
        say(
            &mut given[index],
            Given::Layout(value.clone()),
            "--layout",
            name,
        )?;
    }
    for Named { name, value } in &cli.set {
        let index = find(function, name, "--set", scalars)?;
        say(&mut given[index], Given::Value(*value), "--set", name)?;
    }
    for (index, path) in inputs {
        let arg = &function.args[*index];
        if let (Arg::Tensor { layout, name, .. }, Given::Nothing) = (arg, &given[*index])
            && !is_static(layout)
        {
            let shape = npy_shape(path).with_context(|| format!("argument {name}"))?;
            given[*index] = Given::Shape(shape);
        }
    }
    Ok(given)
}

fn say(slot: &mut Given, value: Given, option: &str, name: &str) -> anyhow::Result<()> {
    if *slot != Given::Nothing {
        bail!("{option} {name}: expected each argument once, found it twice");
    }
    *slot = value;
    Ok(())
}

/// The index of an argument of that name that suits the option.
pub fn find(
    function: &Function,
    name: &str,
    option: &str,
    suits: impl Fn(&Arg) -> bool,
) -> anyhow::Result<usize> {
    let found = function
        .args
        .iter()
        .position(|arg| arg.name() == name && suits(arg));
    found.ok_or_else(|| {
        let suited = function.args.iter().filter(|arg| suits(arg));
        let names: Vec<_> = suited.map(Arg::name).collect();
        let names = if names.is_empty() {
            ", of which it has none that suits".to_string()
        } else {
            format!(" {}", names.join(", "))
        };
        anyhow!(
            "{option} {name}: expected one of {}'s arguments{names}",
            function.name
        )
    })
}

fn bind(
    function: &Function,
    bindings: &[Binding],
    option: &str,
    suits: impl Fn(&Arg) -> bool,
) -> anyhow::Result<Vec<(usize, PathBuf)>> {
    let mut bound: Vec<(usize, PathBuf)> = Vec::new();
    for Binding { name, path } in bindings {
        let index = find(function, name, option, &suits)?;
        if bound.iter().any(|(other, _)| *other == index) {
            bail!("{option} {name}: expected each argument once, found it twice");
        }
        bound.push((index, path.clone()));
    }
    Ok(bound)
}

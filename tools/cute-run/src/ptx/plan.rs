//! The launches of a run, from the command line or from a file of TOML.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use cute_runtime::emulator::Grid;
use serde::Deserialize;
use toml::Spanned;

use super::options::{self, named};
use super::spec::{self, Argument, Memory};
use crate::cli::Cli;

/// A run: memory, launches, and what is made of them.
#[derive(Debug)]
pub struct Plan {
    pub ptx: PathBuf,
    /// The folder at which relative paths of arrays begin.
    pub folder: PathBuf,
    pub memory: Vec<Named>,
    pub launches: Vec<Launch>,
}

/// Memory with a name.
#[derive(Debug)]
pub struct Named {
    pub name: String,
    pub is: Memory,
    pub align: u32,
    pub read_only: bool,
    pub output: Option<PathBuf>,
    /// A fill, in the memory's type.
    pub expect: Option<String>,
    /// The place where that is said, for messages.
    pub expect_place: String,
    pub tolerance: f64,
    /// Tells whether every byte must have been written at the end.
    pub whole: bool,
    /// The place where it is said, for messages.
    pub place: String,
}

impl Named {
    /// Memory of that name, which is read and written and goes nowhere, compared with that tolerance; named at a place in messages.
    fn plain((name, is, place): (String, Memory, String), tolerance: f64) -> Self {
        Self {
            name,
            is,
            align: ALIGN,
            read_only: false,
            output: None,
            expect: None,
            expect_place: place.clone(),
            tolerance,
            whole: false,
            place,
        }
    }
}

#[derive(Debug)]
pub struct Launch {
    /// The only one of the file where there is none.
    pub kernel: Option<String>,
    pub grid: Grid,
    pub args: Vec<Argument>,
    pub place: String,
}

const ALIGN: u32 = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    ptx: Option<PathBuf>,
    #[serde(default)]
    memory: toml::Table,
    #[serde(default)]
    launch: Vec<Spanned<LaunchText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MemoryText {
    is: String,
    align: Option<u32>,
    #[serde(default)]
    read_only: bool,
    output: Option<PathBuf>,
    expect: Option<String>,
    tolerance: Option<f64>,
    #[serde(default)]
    whole: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchText {
    kernel: Option<String>,
    grid: Extents,
    block: Extents,
    cluster: Option<Extents>,
    #[serde(default)]
    shared: u32,
    #[serde(default)]
    args: Vec<Spanned<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list of one to three")]
enum Extents {
    One(u32),
    Several(Vec<u32>),
}

impl Extents {
    fn get(&self) -> Option<[u32; 3]> {
        let sizes = match self {
            Extents::One(size) => std::slice::from_ref(size),
            Extents::Several(sizes) => sizes,
        };
        let mut found = [1; 3];
        if sizes.is_empty() || sizes.len() > 3 || sizes.contains(&0) {
            return None;
        }
        found[..sizes.len()].copy_from_slice(sizes);
        Some(found)
    }
}

/// The plan for a file of PTX or of TOML.
pub fn plan(cli: &Cli, path: &Path) -> anyhow::Result<Plan> {
    let is_toml = path.extension().is_some_and(|ending| ending == "toml");
    let beside = path.with_extension("toml");
    let mut plan = if is_toml {
        let given = options::launching(cli);
        if !given.is_empty() {
            bail!(
                "{}: expected launches either from the file or from the command line, found {} too",
                path.display(),
                given.join(", ")
            );
        }
        from_toml(path)?
    } else if !options::launching(cli).is_empty() || !beside.exists() {
        from_options(cli, path)?
    } else {
        from_toml(&beside)?
    };
    for output in &cli.output {
        let memory = plan.find(&output.name, "--output")?;
        // What the command line says is relative to where it is said.
        memory.output = Some(std::path::absolute(&output.path)?);
    }
    Ok(plan)
}

impl Plan {
    fn find(&mut self, name: &str, option: &str) -> anyhow::Result<&mut Named> {
        let names: Vec<String> = self.memory.iter().map(|m| m.name.clone()).collect();
        let found = self.memory.iter_mut().find(|memory| memory.name == name);
        found.with_context(|| {
            format!(
                "{option} {name}: expected the name of memory ({}), found none of that name",
                names.join(", ")
            )
        })
    }
}

fn from_options(cli: &Cli, path: &Path) -> anyhow::Result<Plan> {
    let (options, tolerance) = (&cli.ptx, options::tolerance(cli)?);
    let mut memory = Vec::new();
    let plain =
        |name: String, is: Memory, place: String| Named::plain((name, is, place), tolerance);
    for text in &options.memory {
        let (name, is) = named("--memory", text)?;
        let place = format!("--memory {text}");
        let is = spec::memory(&is).map_err(anyhow::Error::msg);
        memory.push(plain(name, is.with_context(|| place.clone())?, place));
    }
    let mut args = Vec::new();
    for (index, text) in options.args.iter().enumerate() {
        let place = format!("--arg {text}");
        let argument = spec::argument(text).map_err(anyhow::Error::msg);
        let argument = argument.with_context(|| place.clone())?;
        args.push(anonymous(
            argument,
            &format!("arg{index}"),
            &mut |name, is| {
                memory.push(plain(name, is, place.clone()));
            },
        ));
    }
    let mut plan = Plan {
        ptx: path.to_path_buf(),
        folder: PathBuf::new(),
        memory,
        launches: vec![Launch {
            kernel: options.kernel.clone(),
            grid: Grid {
                blocks: options.grid.unwrap_or([1; 3]),
                threads: options.block.unwrap_or([32, 1, 1]),
                cluster: options.cluster.unwrap_or([1; 3]),
                shared: options.shared.unwrap_or(0),
            },
            args,
            place: "the command line".into(),
        }],
    };
    for text in &cli.expect {
        let (name, fill) = named("--expect", text)?;
        let memory = plan.find(&name, "--expect")?;
        (memory.expect, memory.expect_place) = (Some(fill), format!("--expect {text}"));
    }
    check(&plan)?;
    Ok(plan)
}

/// Gives memory that an argument makes a name of its own.
fn anonymous(argument: Argument, name: &str, make: &mut dyn FnMut(String, Memory)) -> Argument {
    match argument {
        Argument::Memory(is) => {
            make(name.to_string(), is);
            Argument::Pointer(spec::Pointer {
                name: name.to_string(),
                offset: 0,
            })
        }
        Argument::Structure(parts) => Argument::Structure(
            parts
                .into_iter()
                .enumerate()
                .map(|(index, part)| anonymous(part, &format!("{name}.{index}"), make))
                .collect(),
        ),
        other => other,
    }
}

fn from_toml(path: &Path) -> anyhow::Result<Plan> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| place.clone())?;
    let file: File = toml::from_str(&text).with_context(|| place.clone())?;
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let mut memory = Vec::new();
    for (name, value) in file.memory {
        let place = format!("{place}: memory {name}");
        let told: MemoryText = match value {
            toml::Value::String(is) => MemoryText {
                is,
                align: None,
                read_only: false,
                output: None,
                expect: None,
                tolerance: None,
                whole: false,
            },
            value => value.try_into().with_context(|| place.clone())?,
        };
        let is = spec::memory(&told.is).map_err(anyhow::Error::msg);
        memory.push(Named {
            name,
            is: is.with_context(|| place.clone())?,
            align: told.align.unwrap_or(ALIGN),
            read_only: told.read_only,
            output: told.output,
            expect: told.expect,
            expect_place: place.clone(),
            tolerance: told.tolerance.unwrap_or(0.0),
            whole: told.whole,
            place,
        });
    }
    let mut launches = Vec::new();
    for (number, launch) in file.launch.into_iter().enumerate() {
        let place = format!("{place}:{}: launch {number}", line(launch.span().start));
        let launch = launch.into_inner();
        let sizes = |what: &str, extents: &Extents| {
            extents.get().with_context(|| {
                format!("{place}: expected one to three positive numbers for {what}")
            })
        };
        let mut args = Vec::new();
        for (index, text) in launch.args.iter().enumerate() {
            let place = format!(
                "{}:{}: argument {index}",
                path.display(),
                line(text.span().start)
            );
            let argument = spec::argument(text.get_ref()).map_err(anyhow::Error::msg);
            let argument = argument.with_context(|| place.clone())?;
            let name = format!("launch{number}.arg{index}");
            args.push(anonymous(argument, &name, &mut |name, is| {
                memory.push(Named::plain((name, is, place.clone()), 0.0));
            }));
        }
        launches.push(Launch {
            kernel: launch.kernel.clone(),
            grid: Grid {
                blocks: sizes("grid", &launch.grid)?,
                threads: sizes("block", &launch.block)?,
                cluster: match &launch.cluster {
                    Some(cluster) => sizes("cluster", cluster)?,
                    None => [1; 3],
                },
                shared: launch.shared,
            },
            args,
            place,
        });
    }
    if launches.is_empty() {
        bail!("{place}: expected at least one [[launch]], found none");
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let plan = Plan {
        ptx: match file.ptx {
            Some(ptx) => folder.join(ptx),
            None => path.with_extension("ptx"),
        },
        folder,
        memory,
        launches,
    };
    check(&plan)?;
    Ok(plan)
}

/// Checks what concerns several parts of a plan.
fn check(plan: &Plan) -> anyhow::Result<()> {
    for (index, memory) in plan.memory.iter().enumerate() {
        if plan.memory[..index].iter().any(|m| m.name == memory.name) {
            bail!(
                "{}: expected names that differ, found {} twice",
                memory.place,
                memory.name
            );
        }
        let good = memory.tolerance.is_finite() && memory.tolerance >= 0.0;
        if !good {
            bail!(
                "{}: expected a tolerance that is a number of at least 0, found {}",
                memory.place,
                memory.tolerance
            );
        }
    }
    Ok(())
}

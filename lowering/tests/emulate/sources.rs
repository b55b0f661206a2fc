//! The sources that the tests and the examples compile, and the arguments that their kernels are run on.

use crate::common::{run_passes, said};
use cute_ir::{
    attributes::PLAN,
    mlir::{attribute_of, name_of, nested_ops, parse_module},
    ops::{cute, gpu},
    plan::Plan,
    types::memref_of,
};
use cute_layout::Operand;
use cute_lowering::{CompileOptions, Options, Request, SwizzleChoice};
use cute_passes::plan::warps_of;
use cute_runtime::{Arg, Function, Number, Parsed, tensor::Given};
use cute_target::Arch;
use melior::{Context, ir::Module};
use std::path::{Path, PathBuf};

/// A source and the options that it is compiled with.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub file: PathBuf,
    pub text: String,
    pub options: CompileOptions,
    /// The options as they are written.
    wanted: String,
}

impl Compiled {
    /// A text that is in no file.
    pub fn of(file: PathBuf, text: String, options: CompileOptions) -> Self {
        Self {
            file,
            text,
            wanted: format!("{options:?}"),
            options,
        }
    }

    pub fn name(&self) -> String {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        format!("{file} with {}", self.wanted)
    }

    /// Tells whether it is compiled to candidates, of which a launch takes one.
    pub fn has_candidates(&self) -> bool {
        self.wanted.contains("candidates=")
    }

    /// Tells whether a `RUN:` line runs a function without verifying it, as nothing says what it computes.
    pub fn leaves_unverified(&self, function: &str) -> bool {
        let commands = self.text.lines().filter_map(|line| line.split_once("RUN:"));
        let mut runs = commands.filter(|(_, command)| function_of(command) == Some(function));
        runs.any(|(_, command)| command.contains("--no-verify"))
    }

    /// Tells whether it launches kernels that are written in it, and says what they compute.
    pub fn has_kernels(&self) -> bool {
        // What a test checks for stands in comments.
        let lines = self.text.lines().map(str::trim_start);
        let code: Vec<_> = lines.filter(|line| !line.starts_with("//")).collect();
        let has = |word| code.iter().any(|line| line.contains(word));
        has("gpu.launch_func") && has("cute.computes")
    }

    /// The statements on arguments of each of its `RUN:` lines with `cute-run` that are about a function, of packages with the parameters that it is compiled
    /// with here; of any function where none is about it, and nothing, once, where there is no such line. None of a function that is wrong by all commands that name it.
    pub fn runs(&self, function: &str) -> Vec<Vec<Said>> {
        let commands = self.text.lines().filter_map(|line| line.split_once("RUN:"));
        let all: Vec<&str> = commands.map(|(_, command)| command).collect();
        let is_run = |command: &&&str| {
            command.contains("cute-run")
                && !["--info", "--emit"]
                    .iter()
                    .any(|none| command.contains(none))
                && !expects_an_error(command)
                && !expects_wrong(command)
                && parameters_of(&all, command).is_none_or(|set| set == parameters(&self.wanted))
        };
        let named = |command: &&&str| function_of(command) == Some(function);
        let mut named = all.iter().filter(named).peekable();
        if named.peek().is_some() && named.all(|command| expects_wrong(command)) {
            return Vec::new();
        }
        let runs: Vec<&str> = all.iter().filter(is_run).copied().collect();
        let about = |command: &&&str| function_of(command).is_none_or(|name| name == function);
        let own: Vec<&str> = runs.iter().filter(about).copied().collect();
        let runs = if own.is_empty() { runs } else { own };
        if runs.is_empty() {
            return vec![Vec::new()];
        }
        runs.into_iter().map(said_of_arguments).collect()
    }
}

/// An option of `cute-run` about an argument: `--shape A=64x32`, `--layout`, `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    option: String,
    argument: String,
    value: String,
}

/// The parameters that options set, as they are written.
fn parameters(options: &str) -> Option<&str> {
    options
        .split_whitespace()
        .find_map(|word| word.strip_prefix("set="))
}

/// The parameters of the package that a command runs, of those that the commands make; none where none makes it.
fn parameters_of<'a>(all: &[&'a str], command: &str) -> Option<Option<&'a str>> {
    let is_package = |word: &&str| word.ends_with(".cutepkg");
    let package = command.split_whitespace().find(is_package)?;
    let making = format!("package={package}");
    let options = all.iter().flat_map(|command| options_in(command));
    let mut making = options.filter(|options| options.contains(&making));
    making.next().map(parameters)
}

/// The function that a command runs, if it names one.
fn function_of(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    words
        .find_map(|word| word.strip_prefix("--function="))
        .or_else(|| {
            let mut words = command.split_whitespace();
            words.find(|word| *word == "--function")?;
            words.next()
        })
}

fn said_of_arguments(command: &str) -> Vec<Said> {
    let mut words = command.split_whitespace();
    let mut said = Vec::new();
    while let Some(option) = words.next() {
        if !["--shape", "--layout", "--set"].contains(&option) {
            continue;
        }
        let bound = words
            .next()
            .and_then(|word| word.trim_matches(['"', '\'']).split_once('='));
        let (argument, value) =
            bound.unwrap_or_else(|| panic!("{option} without ARG=VALUE: {command}"));
        said.push(Said {
            option: option.to_owned(),
            argument: argument.to_owned(),
            value: value.to_owned(),
        });
    }
    said
}

/// The statement on each argument of a function.
pub fn given(function: &Function, said: &[Said]) -> Result<Vec<Given>, String> {
    let mut all = vec![Given::Nothing; function.args.len()];
    for Said {
        option,
        argument,
        value,
    } in said
    {
        let index = function.args.iter().position(|arg| arg.name() == argument);
        let index = index.ok_or_else(|| format!("{option} {argument}: no such argument"))?;
        let bad = || format!("{option} {argument}={value} cannot be read");
        all[index] = match option.as_str() {
            "--shape" => {
                let sizes: Option<Vec<i64>> =
                    value.split('x').map(|size| size.parse().ok()).collect();
                Given::Shape(sizes.ok_or_else(bad)?)
            }
            "--layout" => Given::Layout(Parsed::parse(value).map_err(|e| e.to_string())?),
            _ => Given::Value(match &function.args[index] {
                Arg::Scalar { .. } => number(value).ok_or_else(bad)?,
                Arg::Tensor { .. } => return Err(format!("{option} {argument}: it is a tensor")),
            }),
        };
    }
    Ok(all)
}

fn number(text: &str) -> Option<Number> {
    match text.parse() {
        Ok(integer) => Some(Number::Integer(integer)),
        Err(_) => text.parse().ok().map(Number::Real),
    }
}

/// All that the `RUN:` and `GPU:` lines of tests, and of examples, compile without expecting an error;
/// the examples for the architectures of the demo and of the tests.
pub fn compiled(root: &Path) -> Vec<Compiled> {
    let mut all: Vec<Compiled> = Vec::new();
    let mut add = |file: &Path, wanted: &str| {
        let text = std::fs::read_to_string(file).unwrap();
        let wanted = without_package(wanted);
        let options =
            CompileOptions::parse(&wanted).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        if !all.iter().any(|c| c.text == text && c.wanted == wanted) {
            all.push(Compiled {
                file: file.to_owned(),
                text,
                options,
                wanted,
            });
        }
    };
    for file in files(&root.join("test")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            if let Some((_, wanted)) = line.split_once("GPU:")
                && file.parent().is_some_and(|folder| folder.ends_with("gpu"))
            {
                add(&file, wanted.trim());
            }
            let Some((_, command)) = line.split_once("RUN:") else {
                continue;
            };
            let fails = expects_an_error(command);
            let folders = [
                ("%inputs/", root.join("test/Inputs")),
                ("%S/", file.parent().unwrap().to_owned()),
            ];
            let given = command.split_whitespace().find_map(|word| {
                let word = word.strip_suffix(".mlir")?;
                let (name, folder) = folders
                    .iter()
                    .find_map(|(prefix, folder)| Some((word.strip_prefix(prefix)?, folder)))?;
                Some(folder.join(format!("{name}.mlir")))
            });
            let source = given.unwrap_or_else(|| file.clone());
            if fails
                || command.contains("--split-input-file")
                || source.extension().is_none_or(|e| e != "mlir")
            {
                continue;
            }
            for wanted in options_in(command) {
                add(&source, wanted);
            }
        }
    }
    for file in files(&root.join("examples")) {
        if file.extension().is_some_and(|e| e == "mlir") {
            // A folder of its own has those for Hopper's instructions.
            let is_for_hopper = file.parent().is_some_and(|folder| folder.ends_with("sm90"));
            let archs: &[&str] = match is_for_hopper {
                true => &["sm_90a"],
                false => &["sm_80", "sm_90a"],
            };
            for arch in archs {
                add(&file, &format!("arch={arch}"));
            }
        }
    }
    all
}

/// The words that show a command to expect an error.
const EXPECT_ERRORS: [&str; 3] = ["not", "--verify-diagnostics", "%inputs/cure.py"];

fn expects_an_error(command: &str) -> bool {
    EXPECT_ERRORS
        .iter()
        .any(|word| command.split_whitespace().any(|found| found == *word))
}

/// Tells whether a command expects `cute-run` to find a wrong result.
fn expects_wrong(command: &str) -> bool {
    command.contains("%inputs/status.py 1 cute-run")
}

/// The texts between quotes or braces that begin with `arch=`.
fn options_in(command: &str) -> Vec<&str> {
    let starts = command.match_indices("arch=").filter(|(at, _)| {
        command[..*at].ends_with(['"', '\'', '{']) || command[..*at].ends_with("cute-compile=")
    });
    starts
        .map(|(at, _)| {
            let open = command[..at].chars().next_back().unwrap_or(' ');
            let close = match open {
                '{' => '}',
                '=' => ' ',
                quote => quote,
            };
            command[at..].split(close).next().unwrap_or_default()
        })
        .collect()
}

fn without_package(options: &str) -> String {
    let options = options.split("package=").next().unwrap_or_default();
    options.trim().to_owned()
}

/// Files of tests, in order, folders within folders too.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "mlir" || e == "test") {
            all.push(path);
        }
    }
    all.sort();
    all
}

fn parse<'c>(context: &'c Context, text: &str) -> Result<Module<'c>, String> {
    said(context, || {
        parse_module(context, "source", text).ok_or_else(|| "the text cannot be read".to_owned())
    })
}

/// Multiply-adds of all products of whole tensors together; none where there are no such products.
pub fn multiply_adds(context: &Context, text: &str) -> Option<i64> {
    let module = parse(context, text).ok()?;
    let products = nested_ops(module.as_operation())
        .into_iter()
        .filter_map(cute::Contract::of);
    let counts: Vec<i64> = products
        .map(|product| -> Option<i64> {
            let (a, c) = (product.a(), *product.outputs().first()?);
            let columns = memref_of(a).and_then(|m| m.layout.mode(1).ok()?.size().ok());
            let size = |value| memref_of(value).and_then(|m| m.layout.size().ok());
            let (a, c) = (size(a).unwrap_or(i64::MAX), size(c).unwrap_or(i64::MAX));
            Some(c.saturating_mul(columns.unwrap_or(a)))
        })
        .collect::<Option<_>>()?;
    if counts.is_empty() {
        None
    } else {
        Some(counts.into_iter().fold(0, i64::saturating_add))
    }
}

/// The way in which a kernel is cut up.
pub struct Cut {
    pub tile: [i64; 3],
    pub stages: i64,
    pub raster: i64,
    /// The options that cut any problem up like this.
    pub options: CompileOptions,
}

/// The ways in which the kernels of a source are cut up.
pub fn cuts(context: &Context, source: &Compiled) -> Result<Vec<Cut>, String> {
    let mut module = parse(context, &source.text).map_err(|e| format!("{}: {e}", source.name()))?;
    let tile = crate::common::passes(&source.options)?;
    let tile = tile
        .split_once('}')
        .map_or(tile.clone(), |(first, _)| format!("{first}}}"));
    run_passes(&mut module, &tile, true).map_err(|e| format!("{}: {e}", source.name()))?;
    let mut found = Vec::new();
    for op in nested_ops(module.as_operation()) {
        if name_of(op) == gpu::FUNC
            && let Some(plan) = attribute_of(op, PLAN).and_then(Plan::of)
        {
            // Other types, and elements that are not aligned to vectors, are cut up otherwise.
            let [left, ..] = plan.multiplied()?;
            if left.to_string() != "f16" || !moves_vectors(&plan) {
                continue;
            }
            let arch = cute_passes::arch::of_kernel(op)?;
            found.push(cut_of(&plan, arch, &source.options)?);
        }
    }
    Ok(found)
}

/// Tells whether A and B come by the widest accesses, as those of the problems do.
fn moves_vectors(plan: &Plan) -> bool {
    [Operand::A, Operand::B].into_iter().all(|operand| {
        let row = plan.path(operand).first().map(|movement| movement.row());
        row.is_some_and(|row| row.is_ok_and(|row| row.num_val * row.val_bits == 128))
    })
}

fn cut_of(plan: &Plan, arch: Arch, wanted: &CompileOptions) -> Result<Cut, String> {
    let (tile, _) = plan.shared(Operand::A)?;
    Ok(Cut {
        tile: plan.tile,
        stages: plan.stages,
        raster: plan.raster,
        options: CompileOptions {
            arch: Some(arch.into()),
            simplify: wanted.simplify,
            watchdog: wanted.watchdog,
            package: None,
            measured: wanted.measured.clone(),
            instantiate: wanted.instantiate.clone(),
            explained: wanted.explained,
            assemble: wanted.assemble,
            request: Request {
                tile: Some(plan.tile),
                warps: Some(warps_of(plan)),
                stages: Some(plan.stages),
                swizzle: Some(
                    tile.swizzle
                        .map_or(SwizzleChoice::None, SwizzleChoice::Given),
                ),
                raster: Some(plan.raster),
                ..wanted.request
            },
        },
    })
}

#[test]
fn what_is_said_of_arguments_is_read_from_run_lines() {
    let line = r#"cute-run %t.cutepkg --seeds 3 --shape A=64x32 --layout "B=(8,4):(1,9)" --set beta=0.5 | FileCheck %s"#;
    let said = |option: &str, argument: &str, value: &str| Said {
        option: option.to_owned(),
        argument: argument.to_owned(),
        value: value.to_owned(),
    };
    assert_eq!(
        said_of_arguments(line),
        [
            said("--shape", "A", "64x32"),
            said("--layout", "B", "(8,4):(1,9)"),
            said("--set", "beta", "0.5"),
        ]
    );
    assert_eq!(said_of_arguments("cute-run %t.cutepkg --info"), []);
    assert_eq!(function_of("cute-run %t.cutepkg --function=f"), Some("f"));
    assert_eq!(
        function_of("cute-run %t.cutepkg --function g --seeds 3"),
        Some("g")
    );
    assert_eq!(function_of(line), None);
    let all = [
        r#"cute-opt %s --cute-compile="arch=sm_80 set=D=64 package=%t.cutepkg" -o /dev/null"#,
        line,
    ];
    assert_eq!(parameters_of(&all, line), Some(Some("D=64")));
    assert_eq!(parameters_of(&all[1..], line), None);
    assert!(std::panic::catch_unwind(|| said_of_arguments("cute-run --shape A")).is_err());
    assert!(matches!(number("2"), Some(Number::Integer(2))));
    assert!(matches!(number("2.5"), Some(Number::Real(_))));
    assert!(number("two").is_none());
}

//! Kernels written by hand, `examples/kernels`: each is compiled as the lines of its comment that call `cute-opt` say, and run at the
//! sizes of those that call `cute-run` with `--device=emulator`.

use crate::SEEDS;
use crate::common::{Outcome, compile, parallel, root, run_given};
use crate::sources::files;
use cute_lowering::CompileOptions;
use cute_passes::arch::Arch;
use cute_runtime::{
    Function,
    package::Number,
    Parsed,
    tensor::Given,
};

/// What a line says of arguments, by name.
type Sizes = Vec<(String, Given)>;

/// The sizes of each line that runs the kernel on the emulator. Words are as a shell takes them, quotes around a whole word or none.
fn problems(text: &str) -> Result<Vec<Sizes>, String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//"));
    let runs = lines.filter(|l| l.contains("cute-run") && l.contains("--device=emulator"));
    runs.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut sizes = Vec::new();
        for pair in words.windows(2) {
            if !matches!(pair[0], "--shape" | "--layout" | "--set") {
                continue;
            }
            let word = pair[1].trim_matches('"');
            let wrong = || format!("expected {} NAME=VALUE, found {word}", pair[0]);
            let (name, value) = word.split_once('=').ok_or_else(wrong)?;
            let given = match pair[0] {
                "--shape" => Given::Shape(
                    value
                        .split('x')
                        .map(|size| size.parse().map_err(|_| wrong()))
                        .collect::<Result<_, _>>()?,
                ),
                "--layout" => Given::Layout(Parsed::parse(value).map_err(|e| e.to_string())?),
                _ => Given::Value(match value.parse() {
                    Ok(integer) => Number::Integer(integer),
                    Err(_) => Number::Real(value.parse().map_err(|_| wrong())?),
                }),
            };
            sizes.push((name.to_owned(), given));
        }
        Ok(sizes)
    })
    .collect()
}

/// The architectures to compile for: those of the lines that call `cute-opt`, and Ampere where they can do without Hopper's instructions.
fn options(text: &str) -> Result<Vec<CompileOptions>, String> {
    let mut all: Vec<CompileOptions> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("//")) {
        if let Some((_, rest)) = line.split_once("--cute-compile=\"") {
            let text = rest.split('"').next().unwrap_or_default();
            let mut options = CompileOptions::parse(text)?;
            options.package.clear();
            all.push(options);
        }
    }
    let first = all.first().cloned();
    if let Some(first) = first.filter(|_| !text.contains("cute_nvgpu.sm90")) {
        let ampere = Arch::find("sm_80")?.name;
        if all.iter().all(|options| options.arch != ampere) {
            all.push(CompileOptions {
                arch: ampere.to_owned(),
                ..first
            });
        }
    }
    Ok(all)
}

/// One `Given` an argument, in their order.
fn in_order(function: &Function, sizes: &Sizes) -> Result<Vec<Given>, String> {
    let mut given = vec![Given::Nothing; function.args.len()];
    for (name, value) in sizes {
        let names = || function.args.iter().map(|arg| arg.name().to_owned());
        let at = names().position(|n| n == *name).ok_or_else(|| {
            let names: Vec<_> = names().collect();
            format!("expected one of {}, found {name}", names.join(", "))
        })?;
        given[at] = value.clone();
    }
    Ok(given)
}

/// What is wrong with a kernel.
fn failures(name: &str, text: &str, options: &CompileOptions, problems: &[Sizes]) -> Vec<String> {
    let context = cute_ir::context();
    let package = match compile(&context, text, options) {
        Ok(package) => package,
        Err(error) => return vec![format!("{name}: does not compile: {error}")],
    };
    let mut failures = Vec::new();
    for function in &package.manifest().functions {
        if function.computes.is_empty() {
            failures.push(format!("{name}, {}: nothing says what it computes", function.name));
        }
        for sizes in problems {
            let given = match in_order(function, sizes) {
                Ok(given) => given,
                Err(error) => {
                    failures.push(format!("{name}: {error}"));
                    continue;
                }
            };
            for seed in 0..SEEDS {
                let outcome = run_given(&package, function, &given, seed);
                if !matches!(outcome, Outcome::Right { .. }) {
                    failures.push(format!("{name}, {sizes:?}, seed {seed}: {outcome:?}"));
                }
            }
        }
    }
    failures
}

#[test]
fn kernels_written_by_hand_are_right() {
    let mut tasks = Vec::new();
    for file in files(&root().join("examples/kernels")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let said = |error: String| -> ! { panic!("{}: {error}", file.display()) };
        let problems = problems(&text).unwrap_or_else(|e| said(e));
        let options = options(&text).unwrap_or_else(|e| said(e));
        assert!(
            !problems.is_empty() && !options.is_empty(),
            "{}: expected lines `// cute-opt ... --cute-compile=\"arch=...\"` and `// cute-run ... --device=emulator ...`",
            file.display()
        );
        for options in options {
            let name = format!("{} for {}", file.display(), options.arch);
            tasks.push((name, text.clone(), options, problems.clone()));
        }
    }
    let failures = parallel(&tasks, |(name, text, options, problems)| {
        failures(name, text, options, problems)
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    println!("{} kernels", tasks.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(tasks.len() >= 10, "expected at least 10, found {}", tasks.len());
}

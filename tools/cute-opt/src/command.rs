//! The command line, as far as the cache has to understand it.

use std::path::PathBuf;

/// The options that change how the module is printed, and nothing that is not in the cache.
const PRINTING: &[&str] = &[
    "mlir-disable-threading",
    "mlir-print-debuginfo",
    "mlir-print-local-scope",
    "mlir-print-op-generic",
];

/// The kinds of commands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// One without `--cache`.
    Plain,
    /// One that the cache is asked for.
    Cached(Request),
    /// One with `--cache` of which nothing is cached.
    Uncached {
        /// The command without `--cache`.
        plain: Vec<String>,
        /// The reason, and what to do.
        why: String,
    },
}

/// A compilation that may be in the cache.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The folder of the cache, if the command names one.
    pub(crate) folder: Option<PathBuf>,
    /// The text of the options of `--cute-compile`.
    pub(crate) options: String,
    /// The input; none is standard input.
    pub(crate) input: Option<String>,
    /// The file of the printed module; none is standard output.
    pub(crate) output: Option<String>,
    /// The other arguments, which are about printing.
    pub(crate) printing: Vec<String>,
    /// The whole command without `--cache`.
    pub(crate) plain: Vec<String>,
}

impl Command {
    /// Reads a command, whose first word is the program.
    pub(crate) fn of(arguments: &[String]) -> Self {
        let asked = |argument: &&String| option(argument).is_some_and(|(name, _)| name == "cache");
        if !arguments.iter().skip(1).any(|argument| asked(&argument)) {
            return Command::Plain;
        }
        let (program, others) = arguments.split_at(1);
        let others = others.iter().filter(|argument| !asked(argument));
        let plain = program.iter().chain(others).cloned().collect();
        match request(arguments) {
            Ok(request) => Command::Cached(Request { plain, ..request }),
            Err(why) => Command::Uncached { plain, why },
        }
    }
}

fn request(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let (mut cache, mut compile, mut output, mut input) = (None, None, None, None);
    let mut words = arguments.iter().skip(1);
    let once = |place: &mut Option<String>, what: &str, value: &str| match place {
        Some(before) => Err(format!(
            "expected {what} once, found '{before}' and '{value}'"
        )),
        None => {
            *place = Some(value.to_owned());
            Ok(())
        }
    };
    while let Some(word) = words.next() {
        match option(word) {
            Some(("cache", None)) => once(&mut cache, "--cache", "")?,
            Some(("cache", Some(""))) => {
                return Err(
                    "expected a folder after --cache=, found nothing; leave out the = for the usual one"
                        .to_owned(),
                );
            }
            Some(("cache", Some(folder))) => once(&mut cache, "--cache", folder)?,
            Some(("cute-compile", Some(options))) => once(&mut compile, "--cute-compile", options)?,
            Some(("cute-compile", None)) => once(&mut compile, "--cute-compile", "")?,
            Some(("o", Some(file))) => once(&mut output, "-o", file)?,
            Some(("o", None)) => match words.next() {
                Some(file) => once(&mut output, "-o", file)?,
                None => return Err("expected a file after -o, found nothing".to_owned()),
            },
            Some((name, None)) if PRINTING.contains(&name) => request.printing.push(word.clone()),
            None if !word.starts_with('@') => once(&mut input, "an input file", word)?,
            _ => {
                return Err(format!(
                    "expected a file, --cute-compile and -o beside it, found {word}, of which nothing is cached; leave out one of both"
                ));
            }
        }
    }
    let given = |file: Option<String>| file.filter(|name| name != "-");
    request.folder = cache.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    request.options = compile.ok_or(
        "expected --cute-compile beside it, found none: nothing else is cached; leave out --cache",
    )?;
    request.input = given(input);
    request.output = given(output);
    Ok(request)
}

/// Takes an option apart: its name, and its value where it has one with `=`; none for a file, and for `-`.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    let name = word.strip_prefix('-').filter(|name| !name.is_empty())?;
    let name = name.strip_prefix('-').unwrap_or(name);
    match name.split_once('=') {
        Some((name, value)) => Some((name, Some(value))),
        None => Some((name, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_without_it_is_left_alone() {
        assert_eq!(
            Command::of(&words("cute-opt a.mlir --canonicalize")),
            Command::Plain
        );
        assert_eq!(Command::of(&words("--cache")), Command::Plain);
        assert_eq!(Command::of(&[]), Command::Plain);
    }

    #[test]
    fn what_is_cached_is_understood() {
        let text = "cute-opt a.mlir --cache=/x --cute-compile=arch=sm_80,b=c -o out --mlir-print-debuginfo";
        let expected = Request {
            folder: Some("/x".into()),
            options: "arch=sm_80,b=c".to_owned(),
            input: Some("a.mlir".to_owned()),
            output: Some("out".to_owned()),
            printing: words("--mlir-print-debuginfo"),
            plain: words(&text.replace(" --cache=/x", "")),
        };
        assert_eq!(Command::of(&words(text)), Command::Cached(expected));
        let expected = Request {
            options: "arch=sm_80".to_owned(),
            plain: words("cute-opt - -cute-compile=arch=sm_80 -o=-"),
            ..Request::default()
        };
        let text = "cute-opt - -cache -cute-compile=arch=sm_80 -o=-";
        assert_eq!(Command::of(&words(text)), Command::Cached(expected));
    }

    #[test]
    fn what_is_not_cached_says_why_and_is_done_all_the_same() {
        for (text, expected) in [
            ("cute-opt a --cache", "--cute-compile"),
            ("cute-opt a --cache= --cute-compile=x", "leave out the ="),
            ("cute-opt a b --cache --cute-compile=x", "'a' and 'b'"),
            (
                "cute-opt a --cache --cute-compile=x --cute-compile=y",
                "'x' and 'y'",
            ),
            ("cute-opt a --cache --cache=f --cute-compile=x", "once"),
            (
                "cute-opt a --cache --cute-compile=x --mlir-timing",
                "--mlir-timing",
            ),
            (
                "cute-opt a --cache --cute-compile=x --mlir-print-debuginfo=true",
                "--mlir-print",
            ),
            ("cute-opt @rest --cache --cute-compile=x", "@rest"),
            ("cute-opt a --cache --cute-compile=x -o", "-o"),
        ] {
            let Command::Uncached { plain, why } = Command::of(&words(text)) else {
                panic!("{text}")
            };
            assert!(why.contains(expected), "{why}");
            assert!(
                !plain.iter().any(|word| word.contains("cache")),
                "{plain:?}"
            );
        }
    }
}

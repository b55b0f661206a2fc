//! `cute-opt --fix-types FILE`: wrong types of ops, mended in the file itself.

use std::{fs, io::Read, io::Write, path::Path};

/// The file whose types are to be mended, and where the result goes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    input: String,
    output: Option<String>,
}

impl Request {
    /// Reads a command, whose first word is the program; nothing where it does not say `--fix-types`. Errors: an option that has
    /// no meaning beside it.
    pub(crate) fn of(arguments: &[String]) -> Option<Result<Self, String>> {
        let asked = |word: &String| matches!(word.as_str(), "--fix-types" | "-fix-types");
        arguments.iter().skip(1).any(asked).then(|| {
            let (mut input, mut output) = (None, None);
            let mut words = arguments.iter().skip(1).filter(|word| !asked(word));
            while let Some(word) = words.next() {
                match word.as_str() {
                    "-o" => match words.next() {
                        Some(file) => output = Some(file.clone()),
                        None => return Err("expected a file after -o, found nothing".to_owned()),
                    },
                    "-" => input = Some(word.clone()),
                    option if option.starts_with('-') => {
                        return Err(format!(
                            "expected a file, and -o with another one, beside --fix-types, found {option}; run what else is to be done \
                             behind it"
                        ));
                    }
                    file => match &input {
                        Some(first) => {
                            return Err(format!("expected one file, found '{first}' and '{file}'"));
                        }
                        None => input = Some(file.to_owned()),
                    },
                }
            }
            let input = input.ok_or("expected a file beside --fix-types, found none")?;
            Ok(Request { input, output })
        })
    }

    /// Mends the file. Errors: files that cannot be read or written; a text that is no module even with the right types.
    pub(crate) fn run(&self) -> Result<(), String> {
        let piped = self.input == "-";
        let text = match piped {
            true => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.map(|_| text)
            }
            false => fs::read_to_string(&self.input),
        };
        let name = if piped { "<stdin>" } else { &self.input };
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        let context = cute_ir::mlir::context();
        let mended = cute_ir::mlir::mend_types(&context, &text, name).ok_or_else(|| {
            format!("{name} has errors beside wrong types, which stand above; it is left as it is")
        })?;
        let output = self.output.as_deref().unwrap_or(&self.input);
        match output {
            "-" => std::io::stdout()
                .write_all(mended.text.as_bytes())
                .map_err(|error| format!("cannot write the text: {error}"))?,
            file if mended.ops > 0 || self.output.is_some() => replace(file, &mended.text)?,
            _ => {}
        }
        match mended.ops {
            0 => eprintln!("{name}: no op has wrong types"),
            1 => eprintln!("{name}: mended the types of 1 op"),
            ops => eprintln!("{name}: mended the types of {ops} ops"),
        }
        Ok(())
    }
}

/// Writes a file beside its place and renames it, so that nobody finds half of it.
fn replace(file: &str, text: &str) -> Result<(), String> {
    // What is no file, such as a terminal, cannot be renamed over.
    if Path::new(file).exists() && !Path::new(file).is_file() {
        return fs::write(file, text).map_err(|error| format!("cannot write {file}: {error}"));
    }
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.into());
    let mut half = target.clone().into_os_string();
    half.push(format!(".{}", std::process::id()));
    let permissions = fs::metadata(&target).map(|found| found.permissions());
    fs::write(&half, text)
        .and_then(|()| match permissions {
            Ok(permissions) => fs::set_permissions(&half, permissions),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::rename(&half, &target))
        .map_err(|error| {
            let _ = fs::remove_file(&half);
            format!("cannot write {file}: {error}")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Result<Request, String>> {
        Request::of(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_names_one_file() {
        assert_eq!(of("cute-opt a.mlir"), None);
        let request = |input: &str, output: Option<&str>| {
            Some(Ok(Request {
                input: input.to_owned(),
                output: output.map(str::to_owned),
            }))
        };
        assert_eq!(of("cute-opt --fix-types a.mlir"), request("a.mlir", None));
        assert_eq!(of("cute-opt a -fix-types -o -"), request("a", Some("-")));
        for (text, expected) in [
            ("cute-opt --fix-types", "found none"),
            ("cute-opt --fix-types a b", "'a' and 'b'"),
            ("cute-opt --fix-types a -o", "after -o"),
            ("cute-opt --fix-types a --cse", "--cse"),
        ] {
            let error = of(text).expect("it is asked for").expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
    }
}

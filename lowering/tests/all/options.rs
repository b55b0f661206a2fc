//! The README's table of the options of `--cute-compile`, which their declarations make: `UPDATE_EXPECT=1` writes it.

use cute_lowering::{CompileOptions, Options};
use std::{fmt::Write as _, path::Path};

const HEAD: &str = "| option of `--cute-compile` | meaning | default |\n| --- | --- | --- |\n";

#[test]
fn the_readme_has_the_options() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(&file).expect("the README");
    let (before, rest) = text.split_once(HEAD).expect("the table of options");
    let end = rest.find("\n\n").expect("the end of the table") + 1;
    let mut table = String::new();
    for option in CompileOptions::SPECS {
        // What is not in backticks would be taken for HTML.
        let meaning = option.description.replace("S<B,M,S>", "`S<B,M,S>`");
        let default = match option.default {
            "" => String::new(),
            some => format!("`{some}`"),
        };
        let _ = writeln!(table, "| `{}` | {meaning} | {default} |", option.name);
    }
    if rest[..end] == table {
        return;
    }
    let expected = format!("{before}{HEAD}{table}{}", &rest[end..]);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, expected).expect("the README is written");
        return;
    }
    panic!(
        "expected the README's table of options as they are declared: run it with UPDATE_EXPECT=1; found:\n{}\nexpected:\n{table}",
        &rest[..end]
    );
}

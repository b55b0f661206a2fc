//! The user's guide: what its consoles show is what the tool prints, and its list of functions is the tool's.

use super::common::run;

const GUIDE: &str = include_str!("../../../../docs/cute-layout.md");

/// The blocks that are fenced with this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    GUIDE
        .split(&fence[..])
        .skip(1)
        .filter_map(|b| b.split("```").next())
        .collect()
}

/// Words of a command line, where single quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| match i % 2 {
            1 => vec![part.to_string()],
            _ => part.split_whitespace().map(String::from).collect(),
        })
        .collect()
}

#[test]
fn consoles_show_what_is_printed() {
    let mut commands = 0;
    for block in blocks("console") {
        for part in format!("\n{block}").split("\n$ cute-layout ").skip(1) {
            let (line, shown) = part.split_once('\n').expect("a command and its output");
            let r = run(words(line));
            assert_eq!(
                format!("{}{}", r.out, r.err).trim_end(),
                shown.trim_end(),
                "{line}"
            );
            commands += 1;
        }
    }
    assert!(commands >= 8);
}

#[test]
fn the_list_of_functions_is_whole() {
    assert_eq!(blocks("text"), [run(["functions"]).out]);
}

//! The texts that are being read, by the names of their files: MLIR's parser tells places in them, and an error or a call asks what else stands there.

use std::{
    cell::RefCell,
    sync::{PoisonError, RwLock},
};

thread_local! {
    /// The texts that this thread reads just now, each with its file's name, the innermost last.
    static READ: RefCell<Vec<(String, String)>> = RefCell::default();
}

/// The program's own input, which may be no file that can be opened.
static INPUT: RwLock<Option<Input>> = RwLock::new(None);

struct Input {
    name: String,
    text: String,
    /// The text between modules of their own; empty where there is one module.
    marker: String,
}

/// Does what reads a text of a file of this name, which need not be one that can be opened.
pub(crate) fn while_reading<T>(file: &str, text: &str, work: impl FnOnce() -> T) -> T {
    READ.with_borrow_mut(|texts| texts.push((file.to_owned(), text.to_owned())));
    let result = work();
    READ.with_borrow_mut(Vec::pop);
    result
}

/// Keeps the text that the program is given, under the name that places in it have. Where a marker is given, as by `--split-input-file`, it parts the text into
/// modules that know nothing of each other.
pub(crate) fn set_input(name: &str, text: &str, marker: &str) {
    let input = Input {
        name: name.to_owned(),
        text: text.to_owned(),
        marker: marker.to_owned(),
    };
    *INPUT.write().unwrap_or_else(PoisonError::into_inner) = Some(input);
}

/// Gives `work` the text of the module around a line, from 1, of a file, and the line's number in it; nothing where that file is not being read.
pub(crate) fn with_text<T>(
    file: &str,
    line: usize,
    work: impl FnOnce(&str, usize) -> T,
) -> Option<T> {
    // Kept beyond the borrow, as reading aliases reads a text in turn.
    let read = READ.with_borrow(|texts| {
        let text = texts.iter().rev().find(|(of, _)| of == file);
        text.map(|(_, text)| text.clone())
    });
    if let Some(text) = read {
        return Some(work(&text, line));
    }
    let input = INPUT.read().unwrap_or_else(PoisonError::into_inner);
    let input = input.as_ref().filter(|input| input.name == file)?;
    let (text, before) = part(&input.text, &input.marker, line);
    Some(work(text, line.saturating_sub(before)))
}

/// The part of a text between markers that a line, from 1, is in, and how many lines are before the part's first one.
fn part<'t>(text: &'t str, marker: &str, line: usize) -> (&'t str, usize) {
    let mut before = 0;
    if marker.is_empty() {
        return (text, before);
    }
    let mut parts = text.split(marker).peekable();
    while let Some(part) = parts.next() {
        let lines = part.matches('\n').count();
        // The line of a marker is begun by the part before it.
        if line <= before + lines || parts.peek().is_none() {
            return (part, before);
        }
        before += lines;
    }
    (text, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_of_the_part_between_markers() {
        let text = "a\n// -----\nb\nc\n// -----\n\nd";
        let of = |line| part(text, "// -----", line);
        assert_eq!(of(1), ("a\n", 0));
        assert_eq!(of(3), ("\nb\nc\n", 1));
        assert_eq!(of(4), ("\nb\nc\n", 1));
        assert_eq!(of(7), ("\n\nd", 4));
        assert_eq!(of(100), ("\n\nd", 4));
        assert_eq!(part(text, "", 3), (text, 0));
        assert_eq!(part("", "// -----", 1), ("", 0));
    }

    #[test]
    fn the_innermost_text_of_a_name_is_meant() {
        let seen = || with_text("x", 2, |text, line| (text.to_owned(), line));
        while_reading("x", "outer", || {
            while_reading("x", "inner", || {
                assert_eq!(seen(), Some(("inner".to_owned(), 2)));
            });
            assert_eq!(seen(), Some(("outer".to_owned(), 2)));
        });
        assert_eq!(seen(), None);
    }
}

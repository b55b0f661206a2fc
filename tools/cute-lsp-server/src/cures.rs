//! Code actions: what a diagnostic says is to be written, in the place of what it found.

use crate::documents::{line_of, place_of};
use cute_ir::names::nearest;
use cute_layout::{IntTuple, Kind, Layout, TiledCopy};
use serde_json::{Value, json};
use std::ops::Range;

/// A change of a document: words for it, and texts in the places of some bytes.
struct Cure {
    title: String,
    edits: Vec<(Range<usize>, String)>,
}

/// The actions for the diagnostics of a document that name what is to be written.
pub fn of(uri: &str, document: &str, diagnostics: &[Value]) -> Vec<Value> {
    let cures = diagnostics.iter().filter_map(|diagnostic| {
        let message = diagnostic["message"].as_str()?;
        let line = diagnostic["range"]["start"]["line"].as_u64()?;
        let cure = cure(document, usize::try_from(line).ok()?, message)?;
        let edits: Vec<Value> = cure
            .edits
            .iter()
            .map(|(bytes, text)| {
                let range = json!({"start": position(document, bytes.start), "end": position(document, bytes.end)});
                json!({"range": range, "newText": text})
            })
            .collect();
        let edit = json!({"changes": {uri: edits}});
        Some(json!({"title": cure.title, "kind": "quickfix", "diagnostics": [diagnostic], "edit": edit}))
    });
    cures.collect()
}

fn position(document: &str, at: usize) -> Value {
    let (line, character) = place_of(document, at);
    json!({"line": line, "character": character})
}

fn cure(document: &str, line: usize, message: &str) -> Option<Cure> {
    meant(document, line, message)
        .or_else(|| here(document, line, message))
        .or_else(|| swizzle(document, message))
        .or_else(|| alignment(document, line, message))
        .or_else(|| threads(document, line, message))
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    Some(text.split_once(before)?.1.split_once(behind)?.0)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_$.".contains(c)
}

/// The places of a word in some bytes of a document, where it is no part of a longer one.
fn places(document: &str, within: Range<usize>, word: &str) -> Vec<Range<usize>> {
    let found = document[within.clone()].match_indices(word);
    let found = found.map(|(at, _)| within.start + at..within.start + at + word.len());
    let whole = found.filter(|at| {
        let before = document[..at.start].chars().next_back();
        let behind = document[at.end..].chars().next();
        !before.is_some_and(is_of_word) && !behind.is_some_and(is_of_word)
    });
    whole.collect()
}

/// A name that is misspelt: `did you mean 'NAME'?`.
fn meant(document: &str, line: usize, message: &str) -> Option<Cure> {
    let (said, rest) = message.split_once("did you mean '")?;
    let meant = rest
        .split_once('\'')?
        .0
        .trim_start_matches(['!', '#', '@', '%']);
    let words = said.split(|c| !is_of_word(c)).filter(|word| *word != meant);
    let found = nearest(meant, words.filter(|word| !word.is_empty()))?;
    // What belongs to an op may stand some lines behind its name.
    let start = line_of(document, line)?.start;
    let places = places(document, start..document.len(), found);
    Some(Cure {
        title: format!("Write {meant} in place of {found}"),
        edits: vec![(places.first()?.clone(), meant.to_owned())],
    })
}

/// An op that is called otherwise here: `custom op 'NAME' ...; here that is OTHER`.
fn here(document: &str, line: usize, message: &str) -> Option<Cure> {
    let found = between(message, "custom op '", "'")?;
    let (_, rest) = message.split_once("; here that is ")?;
    let meant = rest.split(|c| !is_of_word(c)).next()?;
    let place = places(document, line_of(document, line)?, found);
    Some(Cure {
        title: format!("Write {meant} in place of {found}"),
        edits: vec![(place.first()?.clone(), meant.to_owned())],
    })
}

/// A swizzle that takes vectors apart.
fn swizzle(document: &str, message: &str) -> Option<Cure> {
    let (_, rest) = message.split_once("its swizzle ")?;
    let found = rest.split_once(' ')?.0;
    let meant = between(rest, "such as ", ">")?.to_owned() + ">";
    let places = places(document, 0..document.len(), found);
    let title = match places.len() {
        0 => return None,
        1 => format!("Swizzle by {meant} in place of {found}"),
        n => format!("Swizzle by {meant} in place of {found} in {n} places"),
    };
    let edits = places.into_iter().map(|at| (at, meant.clone())).collect();
    Some(Cure { title, edits })
}

/// An alignment that is too small for what an allocation says.
fn alignment(document: &str, line: usize, message: &str) -> Option<Cure> {
    let found = between(message, "with an alignment of ", " bytes")?;
    let meant = between(message, "write align<", ">")?;
    let found = format!("align<{found}>");
    let on_line = line_of(document, line)?;
    let alias = document[on_line.clone()].rsplit_once('!');
    let alias = alias.and_then(|(_, rest)| rest.split(|c| !is_of_word(c)).next());
    let of_alias = alias.and_then(|alias| definition(document, alias));
    let place = [Some(on_line), of_alias].into_iter().flatten();
    let place = place
        .flat_map(|bytes| places(document, bytes, &found))
        .next()?;
    Some(Cure {
        title: format!("Align to {meant} bytes"),
        edits: vec![(place, format!("align<{meant}>"))],
    })
}

/// The bytes of the line that defines an alias.
fn definition(document: &str, alias: &str) -> Option<Range<usize>> {
    let line = document.lines().position(|text| {
        let name = text.strip_prefix('!').and_then(|rest| rest.split_once('='));
        name.is_some_and(|(name, _)| name.trim() == alias)
    })?;
    line_of(document, line)
}

/// A tiled copy whose threads have values along another mode than the contiguous one.
fn threads(document: &str, line: usize, message: &str) -> Option<Cure> {
    let thread = between(message, "use thread layout ", " with value layout ")?;
    let (_, values) = message.split_once(" with value layout ")?;
    let threads = Layout::parse(thread).ok()?;
    let values = IntTuple::parse(values.split(['\n', ';']).next()?.trim(), Kind::Shape).ok()?;
    let values = Layout::col_major(&values).ok()?;
    let (tv, tiler) = TiledCopy::thread_value(&threads, &values).ok()?;
    // The copy is the first operand of the op on the line; its alias stands where it is made, or at an argument.
    let text = &document[line_of(document, line)?];
    let copy = between(text, "(%", ",")?;
    let made = document.lines().find_map(|text| {
        let (_, behind) = text.split_once(&format!("%{copy}"))?;
        let (between, alias) = behind.split_once('!')?;
        let is_made = between.trim() == ":" || between.trim_start().starts_with('=');
        (is_made && !behind.starts_with(is_of_word)).then(|| {
            let end = alias.find(|c| !is_of_word(c)).unwrap_or(alias.len());
            &alias[..end]
        })
    })?;
    let place = definition(document, made)?;
    let definition = &document[place.clone()];
    let mut edits = Vec::new();
    for (name, new) in [
        ("layout_copy_tv = <\"", tv.to_string()),
        ("tiler_mn = <\"", tiler.to_string()),
    ] {
        let start = definition.find(name)? + name.len();
        let length = definition[start..].find('"')?;
        let start = place.start + start;
        edits.push((start..start + length, new));
    }
    Some(Cure {
        title: format!("Let threads be {threads} and values {values} in !{made}"),
        edits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document after the cure of an error on a line.
    fn cured(document: &str, line: usize, message: &str) -> Option<String> {
        let mut text = document.to_owned();
        let mut edits = cure(document, line, message)?.edits;
        edits.sort_by_key(|(bytes, _)| std::cmp::Reverse(bytes.start));
        for (bytes, new) in edits {
            text.replace_range(bytes, &new);
        }
        Some(text)
    }

    #[test]
    fn misspelt_names_are_written_right() {
        let text = "a\n  %s = cute.get_shpae(%l) // cute.get_shpae_of\n";
        let message = "custom op 'cute.get_shpae' is unknown; did you mean 'cute.get_shape'?";
        let after = cured(text, 1, message).unwrap();
        assert_eq!(after, "a\n  %s = cute.get_shape(%l) // cute.get_shpae_of\n");
        let text = "scf.for {\n} {cute.stagse = 3}";
        let message = "'scf.for' op has the attribute 'cute.stagse', which nothing reads; did you mean 'cute.stages'?";
        assert!(cured(text, 0, message).unwrap().contains("cute.stages = 3"));
        assert_eq!(cured("b", 0, message), None);
        let message = "expected a value that is defined, found %valeu; did you mean '%value'?";
        assert_eq!(cured("f(%valeu)", 0, message).unwrap(), "f(%value)");
        let message = "custom op 'return' expected one of the dialects func, gpu before its first dot, found none; here that is gpu.return, of a kernel";
        assert_eq!(
            cured("  return\n  return", 1, message).unwrap(),
            "  return\n  gpu.return"
        );
    }

    #[test]
    fn swizzles_and_alignments_are_those_that_are_named() {
        let text = "!s = !cute.memref<f16, smem, align<128>, S<3,3,3>, \"(8,64):(64,1)\">\n%s = cute.memref.alloca() : !s\n";
        let message = "'cute.copy' op the source is accessed 16 bytes at a time, which its swizzle S<3,3,3> takes apart; expected a swizzle \
                       S<B,M,S> with 2^M at least 16, such as S<3,4,3>";
        assert!(
            cured(text, 1, message)
                .unwrap()
                .contains("align<128>, S<3,4,3>")
        );
        let message = "'cute.memref.alloca' op allocates a tensor swizzled by S<3,4,3> with an alignment of 128 bytes; expected a multiple of \
                       1024: write align<1024>";
        assert!(cured(text, 1, message).unwrap().contains("align<1024>"));
    }

    #[test]
    fn tiled_copies_get_the_threads_that_are_named() {
        let text = "!copy = !cute.tiled_copy<!x, layout_copy_tv = <\"((8,16),8):((128,1),16)\">, tiler_mn = <\"[16:1;64:1]\">>\n\
                    %copy = cute.static : !copy\ncute.copy(%copy, %t, %r)\n";
        let message = "'cute.copy' op failed to vectorize: the values of a thread in the source lie at 8:128, expected places side by side; the \
                       contiguous mode of (128,64):(1,128) is another one: use thread layout (16,8):(1,16) with value layout (8,1)";
        let after = cured(text, 2, message).unwrap();
        assert!(
            after.contains("<\"(128,8):(8,1)\">, tiler_mn = <\"[128:1;8:1]\">>"),
            "{after}"
        );
        let of_argument = text.replace("%copy = cute.static : !copy", "func @f(%copy: !copy) {");
        assert_eq!(
            cured(&of_argument, 2, message).map(|text| text.contains("(128,8):(8,1)")),
            Some(true)
        );
    }

    #[test]
    fn actions_have_places_in_utf16_units() {
        let diagnostic = json!({"message": "'x' op has 'abd'; did you mean 'abc'?", "range": {"start": {"line": 1, "character": 0}}});
        let all = of("u", "\n\u{1F600} abd", &[diagnostic]);
        let edit = &all[0]["edit"]["changes"]["u"][0];
        assert_eq!(edit["newText"], "abc");
        assert_eq!(edit["range"]["start"], json!({"line": 1, "character": 3}));
    }
}

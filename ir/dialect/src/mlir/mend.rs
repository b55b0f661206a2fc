//! Wrong types in a text, mended in the text.

use super::ffi;
use melior::Context;
use mlir_sys::MlirStringRef;
use std::ffi::c_void;

/// A text whose types are mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// The text with the wrong types left out, or with a right one in their place where it does not follow.
    pub text: String,
    /// The number of ops that had wrong types.
    pub ops: usize,
}

/// A place of a text, in bytes, and what is to stand there.
struct Edit {
    begin: usize,
    end: usize,
    types: String,
}

/// Mends the types behind the dialects' ops in `text`, the contents of the file `name`: where they are not those of the operands, or
/// not those that follow, they are left out. Nothing where the text is no module even then, which diagnostics of `context` have said.
pub fn mend_types(context: &Context, text: &str, name: &str) -> Option<Mended> {
    let mut edits: Vec<Edit> = Vec::new();
    // SAFETY: text and name outlive the call, and so does the list that the sink is given.
    let parsed = unsafe {
        ffi::cuteMendTypes(
            context.to_raw(),
            ffi::string_ref(text),
            ffi::string_ref(name),
            collect,
            (&raw mut edits).cast(),
        )
    };
    if !parsed {
        return None;
    }
    edits.sort_by_key(|edit| edit.begin);
    let (mut mended, mut done) = (String::new(), 0);
    for edit in &edits {
        let before = text.get(done..edit.begin)?;
        let types = text.get(edit.begin..edit.end)?;
        mended += if edit.types.is_empty() {
            before.trim_end()
        } else {
            before
        };
        mended += &edit.types;
        done = edit.begin + length_of(types);
    }
    mended += text.get(done..)?;
    Some(Mended {
        text: mended,
        ops: edits.len(),
    })
}

/// The number of bytes of a text that are types: up to the blanks and comments at its end.
fn length_of(text: &str) -> usize {
    let (mut end, mut quoted, mut comment, mut before) = (0, false, false, ' ');
    // The end as it was before the first stroke of what may be a comment.
    let mut earlier = 0;
    for (at, c) in text.char_indices() {
        if c == '\n' {
            comment = false;
        } else if !quoted && !comment && c == '/' && before == '/' {
            comment = true;
            end = earlier;
        } else if !comment {
            quoted ^= c == '"' && before != '\\';
            earlier = end;
            if !c.is_whitespace() {
                end = at + c.len_utf8();
            }
        }
        before = c;
    }
    end
}

unsafe extern "C" fn collect(begin: isize, end: isize, types: MlirStringRef, user: *mut c_void) {
    // SAFETY: the shim hands on the list of `mend_types`, which nobody else uses, and a text that lives during the call.
    let (edits, types) = unsafe { (&mut *user.cast::<Vec<Edit>>(), ffi::bytes(types)) };
    if let (Ok(begin), Ok(end)) = (usize::try_from(begin), usize::try_from(end)) {
        edits.push(Edit {
            begin,
            end,
            types: String::from_utf8_lossy(types).into_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::length_of;

    #[test]
    fn types_end_before_blanks_and_comments() {
        for (types, rest) in [
            (": (!a, !b) -> !c", "\n  "),
            (": !a", " // one\n  // another // and more\n"),
            (": !cute.layout<\"(4,8):(1,4)\">", "  "),
            (": (!a, // the first\n !b)", " // the end\n"),
            (": !x<\"a//b\">", "\n"),
        ] {
            assert_eq!(length_of(&format!("{types}{rest}")), types.len(), "{types}");
        }
    }
}

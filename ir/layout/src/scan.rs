//! Steps that the readers of texts share.

/// The byte at a place, behind blanks, which are passed over; none at the end.
pub(crate) fn peek(text: &str, pos: &mut usize) -> Option<u8> {
    let bytes = text.as_bytes();
    while bytes.get(*pos).is_some_and(u8::is_ascii_whitespace) {
        *pos += 1;
    }
    bytes.get(*pos).copied()
}

/// Tells whether that byte comes next, and passes over it.
pub(crate) fn eat(text: &str, pos: &mut usize, c: u8) -> bool {
    let hit = peek(text, pos) == Some(c);
    *pos += usize::from(hit);
    hit
}

/// The next character in words of a message.
pub(crate) fn found(text: &str, pos: &mut usize) -> String {
    peek(text, pos);
    match text.get(*pos..).and_then(|t| t.chars().next()) {
        Some(c) => format!("`{}`", c.escape_default()),
        None => "the end".to_owned(),
    }
}

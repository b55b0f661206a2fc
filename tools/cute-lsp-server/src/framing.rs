//! Messages as the protocol frames them, and as lit tests do.

use std::io::{self, BufRead, Read, Write};

/// Bytes of a message that are looked into; a longer one still passes through.
pub const MOST_READ: usize = 16 << 20;
/// Bytes of a line of a header.
const MOST_LINE: u64 = 1 << 16;

/// A message that came in: its header as it was, and its body.
pub struct Message {
    pub header: Vec<u8>,
    pub body: Vec<u8>,
}

/// The way in which messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `Content-Length`, an empty line, and so many bytes.
    Standard,
    /// Lines up to `// -----`, for tests.
    Delimited,
}

/// The next message; nothing at the end, and where the input is no message any more.
pub fn read(from: &mut dyn BufRead, style: Style) -> io::Result<Option<Message>> {
    match style {
        Style::Standard => standard(from),
        Style::Delimited => delimited(from),
    }
}

fn standard(from: &mut dyn BufRead) -> io::Result<Option<Message>> {
    let (mut header, mut length) = (Vec::new(), None::<usize>);
    loop {
        let mut line = Vec::new();
        if from.take(MOST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        header.extend_from_slice(&line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            // A header without a length is none; what comes next may be one.
            match length {
                Some(_) => break,
                None => continue,
            }
        }
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
        if header.len() as u64 > MOST_LINE {
            return Ok(None);
        }
    }
    let mut body = Vec::new();
    // As far as it is there: a length is only a claim.
    from.take(length.unwrap_or(0) as u64)
        .read_to_end(&mut body)?;
    if Some(body.len()) != length {
        return Ok(None);
    }
    Ok(Some(Message { header, body }))
}

fn delimited(from: &mut dyn BufRead) -> io::Result<Option<Message>> {
    let mut body = String::new();
    let mut ended = true;
    let mut line = Vec::new();
    while {
        line.clear();
        from.read_until(b'\n', &mut line)? > 0
    } {
        ended = false;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text == "// -----" {
            break;
        }
        if !text.starts_with("//") {
            body += text;
            body.push('\n');
        }
    }
    if ended {
        return Ok(None);
    }
    let body = body.into_bytes();
    let header = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    Ok(Some(Message { header, body }))
}

impl Message {
    /// A message of this body.
    pub fn of(body: Vec<u8>) -> Message {
        let header = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        Message { header, body }
    }

    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.header)?;
        to.write_all(&self.body)?;
        to.flush()
    }

    /// The content, if it is JSON and not too long to be looked into.
    pub fn json(&self) -> Option<serde_json::Value> {
        if self.body.len() > MOST_READ {
            return None;
        }
        serde_json::from_slice(&self.body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, style: Style) -> Vec<String> {
        let mut from = text.as_bytes();
        let mut found = Vec::new();
        while let Ok(Some(message)) = read(&mut from, style) {
            found.push(String::from_utf8(message.body).unwrap());
        }
        found
    }

    #[test]
    fn standard_messages_are_as_long_as_they_say() {
        let text = "Content-Length: 2\r\n\r\n{}content-length:3\r\nOther: x\r\n\r\n[1]";
        assert_eq!(all(text, Style::Standard), ["{}", "[1]"]);
        assert_eq!(
            all("Content-Length: 20\r\n\r\n{}", Style::Standard),
            [""; 0]
        );
        assert_eq!(
            all("Content-Length: -1\r\n\r\n{}", Style::Standard),
            [""; 0]
        );
        assert_eq!(all("nonsense", Style::Standard), [""; 0]);
        assert_eq!(all("", Style::Standard), [""; 0]);
        // An end that claims more than there is memory for.
        let text = format!("Content-Length: {}\r\n\r\n{{}}", u64::MAX);
        assert_eq!(all(&text, Style::Standard), [""; 0]);
    }

    #[test]
    fn delimited_messages_end_at_a_line() {
        let text = "// a comment\n{\"a\":\n1}\n// -----\n{}\n";
        assert_eq!(all(text, Style::Delimited), ["{\"a\":\n1}\n", "{}\n"]);
    }
}

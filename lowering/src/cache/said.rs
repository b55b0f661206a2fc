//! Diagnostics as bytes of an entry.

use crate::{Diagnostic, Severity};
use cute_ir::mlir::Place;
use serde::{Deserialize, Serialize};

/// A diagnostic as it is written.
#[derive(Serialize, Deserialize)]
struct Said {
    severity: u8,
    /// File, line, column and step.
    place: Option<(String, u32, u32, Option<String>)>,
    message: String,
    notes: Vec<Said>,
}

const SEVERITIES: [Severity; 4] = [
    Severity::Error,
    Severity::Warning,
    Severity::Note,
    Severity::Remark,
];

/// The bytes of diagnostics; none for what [`read`] would not read, such as notes of notes without end.
pub(crate) fn write(said: &[Diagnostic]) -> Option<Vec<u8>> {
    let all: Vec<Said> = said.iter().map(written).collect();
    let bytes = serde_json::to_vec(&all).ok()?;
    (read(&bytes)? == said).then_some(bytes)
}

/// The diagnostics of such bytes.
pub(crate) fn read(bytes: &[u8]) -> Option<Vec<Diagnostic>> {
    let all: Vec<Said> = serde_json::from_slice(bytes).ok()?;
    all.into_iter().map(diagnostic).collect()
}

fn written(said: &Diagnostic) -> Said {
    let number = SEVERITIES.iter().position(|s| *s == said.severity);
    Said {
        severity: number.map_or(u8::MAX, |number| number as u8),
        place: said.place.clone().map(|place| {
            let Place {
                file,
                line,
                column,
                step,
            } = place;
            (file, line, column, step)
        }),
        message: said.message.clone(),
        notes: said.notes.iter().map(written).collect(),
    }
}

fn diagnostic(said: Said) -> Option<Diagnostic> {
    Some(Diagnostic {
        severity: *SEVERITIES.get(usize::from(said.severity))?,
        place: said.place.map(|(file, line, column, step)| Place {
            file,
            line,
            column,
            step,
        }),
        message: said.message,
        notes: said
            .notes
            .into_iter()
            .map(diagnostic)
            .collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_read_again() {
        let note = Diagnostic {
            severity: Severity::Note,
            place: None,
            message: "see \"here\"\n\u{0}ä".to_owned(),
            notes: Vec::new(),
        };
        let place = |step| Place {
            file: "a b.mlir".to_owned(),
            line: 3,
            column: 0,
            step,
        };
        let said = [
            Diagnostic {
                severity: Severity::Warning,
                place: Some(place(Some("copy A".to_owned()))),
                message: String::new(),
                notes: vec![note.clone(), note],
            },
            Diagnostic {
                severity: Severity::Remark,
                place: Some(place(None)),
                message: "slow".to_owned(),
                notes: Vec::new(),
            },
        ];
        assert_eq!(read(&write(&said).unwrap()).unwrap(), said);
        assert_eq!(read(&write(&[]).unwrap()).unwrap(), []);
        for wrong in [
            "",
            "[",
            "{}",
            r#"[{"severity":9,"place":null,"message":"","notes":[]}]"#,
        ] {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
        let deep = (0..1000).fold(said[1].clone(), |inner, _| Diagnostic {
            notes: vec![inner],
            ..said[1].clone()
        });
        assert_eq!(write(&[deep]), None);
    }
}

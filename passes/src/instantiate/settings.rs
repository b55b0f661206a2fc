//! Values of parameters as an option says them: `set=D=128,T=f16`.

use cute_ir::options::OptionValue;
use cute_layout::{Layout, Tile};
use melior::ir::Type;

cute_ir::options! {
    /// Options of `cute-instantiate`.
    pub struct InstantiateOptions {
        set: Settings = Settings::default(), "", "Values of parameters of modules and of functions of the host, as in D=128,T=f16";
    }
}

/// Values of parameters by name, as text that is read when the kind of the parameter is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(Vec<(String, String)>);

/// A value for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// An integer.
    Integer(i64),
    /// A type, as text: of elements, or of an atom.
    Type(String),
    /// A layout.
    Layout(Layout),
    /// A tile.
    Tile(Tile),
    /// The text of a value of whichever kind the parameter has.
    Text(String),
}

impl Setting {
    /// The text that is read as this value; that of a layout or a tile says which of both it is.
    fn text(self) -> String {
        match self {
            Setting::Integer(value) => value.to_string(),
            Setting::Layout(layout) => format!("#cute.layout<\"{layout}\">"),
            Setting::Tile(tile) => format!("#cute.tile<\"{tile}\">"),
            Setting::Type(text) | Setting::Text(text) => text,
        }
    }
}

impl From<i64> for Setting {
    fn from(value: i64) -> Self {
        Setting::Integer(value)
    }
}

impl From<i32> for Setting {
    fn from(value: i32) -> Self {
        Setting::Integer(value.into())
    }
}

impl From<Type<'_>> for Setting {
    fn from(value: Type<'_>) -> Self {
        Setting::Type(value.to_string())
    }
}

impl From<Layout> for Setting {
    fn from(value: Layout) -> Self {
        Setting::Layout(value)
    }
}

impl From<Tile> for Setting {
    fn from(value: Tile) -> Self {
        Setting::Tile(value)
    }
}

impl From<&str> for Setting {
    fn from(value: &str) -> Self {
        Setting::Text(value.to_owned())
    }
}

impl From<String> for Setting {
    fn from(value: String) -> Self {
        Setting::Text(value)
    }
}

impl Settings {
    /// Gives a parameter a value, in place of the one that it had. A value whose kind is known, such as a [`Layout`], goes for a parameter of
    /// that kind alone; text is read when the kind of the parameter is known, as that of `set=`.
    ///
    /// # Errors
    /// A name that is none, and text with brackets that nothing closes or with both sorts of quotes, which an option cannot hold.
    pub fn set(&mut self, name: &str, value: impl Into<Setting>) -> Result<(), String> {
        let value = value.into().text();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!(
                "expected the name of a parameter, of letters, digits and `_`, found '{name}'"
            ));
        }
        let [part] = &parts(&value)?[..] else {
            return Err(format!("expected one value of {name}, found '{value}'"));
        };
        if part.trim().is_empty() || (value.contains('"') && value.contains('\'')) {
            return Err(format!("expected a value of {name}, found '{value}'"));
        }
        self.0.retain(|(other, _)| other != name);
        self.0.push((name.to_owned(), part.trim().to_owned()));
        Ok(())
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The names of the parameters that have values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

impl OptionValue for Settings {
    fn read(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        if text.is_empty() {
            return Ok(settings);
        }
        for part in parts(text)? {
            let Some((name, value)) = part.split_once('=') else {
                return Err(match part.trim() {
                    "" => "expected NAME=VALUE behind the comma, found nothing; values with spaces between them stand in quotes, as in set='D=128, T=f16'".to_owned(),
                    part => format!("expected NAME=VALUE, several parted by commas, as in set=D=128,T=f16, found '{part}'"),
                });
            };
            let name = name.trim();
            if let Some(before) = settings.get(name) {
                return Err(format!(
                    "expected one value of {name}, found '{before}' and '{value}'"
                ));
            }
            settings.set(name, value)?;
        }
        Ok(settings)
    }

    fn written(&self) -> String {
        let all = self.0.iter().map(|(name, value)| format!("{name}={value}"));
        all.collect::<Vec<_>>().join(",")
    }
}

/// Splits a text at its commas that stand in no brackets.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut open, mut start) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        let closes = match c {
            '(' | '[' | '<' | '{' => {
                open.push(c);
                continue;
            }
            ')' => '(',
            ']' => '[',
            // An arrow closes nothing.
            '>' if text[..at].ends_with('-') => continue,
            '>' => '<',
            '}' => '{',
            ',' if open.is_empty() => {
                parts.push(&text[start..at]);
                start = at + 1;
                continue;
            }
            _ => continue,
        };
        if open.pop() != Some(closes) {
            return Err(format!("expected a '{closes}' before '{c}' in '{text}'"));
        }
    }
    match open.pop() {
        None => {
            parts.push(&text[start..]);
            Ok(parts)
        }
        Some(c) => Err(format!("expected what closes '{c}' in '{text}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_ir::options::Options;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "set=D=128",
            "set=D=128,T=f16",
            "set=L=(4,8):(8,1),T=f32",
            "set=\"A=!cute_nvgpu.atom.universal_copy<f16, 128 b>,D=2\"",
            "set=\"A=!a<(f32, f32) -> f32>,D=2\"",
            "set='A=!a<mode = <\"(8,8)\">>'",
        ] {
            let options = InstantiateOptions::parse(text).unwrap();
            assert_eq!(options.text(), text);
        }
        let mut set = Settings::default();
        set.set("D", 64).unwrap();
        set.set("L", "(4,8):(8,1)").unwrap();
        set.set("D", 128).unwrap();
        assert_eq!(set.written(), "L=(4,8):(8,1),D=128");
        assert_eq!(set.get("D"), Some("128"));
        // Of values with kinds, the text has the kind.
        set.set("L", Layout::parse("(4,8):(8,1)").unwrap()).unwrap();
        set.set("X", Tile::parse("[4:1;8:1]").unwrap()).unwrap();
        let written = "D=128,L=#cute.layout<\"(4,8):(8,1)\">,X=#cute.tile<\"[4:1;8:1]\">";
        assert_eq!(set.written(), written);
        assert_eq!(Settings::read(written).unwrap(), set);
    }

    #[test]
    fn what_is_no_value_is_an_error() {
        let error = |text| Settings::read(text).unwrap_err();
        assert!(error("D").contains("expected NAME=VALUE"));
        assert!(error("D=1,D=2").contains("expected one value of D, found '1' and '2'"));
        assert!(error("D=").contains("expected a value of D"));
        assert!(error("L=(4,8").contains("closes '('"));
        assert!(error("L=4,8)").contains("'(' before ')'"));
        assert!(error("a b=1").contains("letters, digits"));
    }
}

//! Values of parameters as an option says them: `set=D=128,T=f16`.

use cute_ir::options::OptionValue;

cute_ir::options! {
    /// Options of `cute-instantiate`.
    pub struct InstantiateOptions {
        set: Settings = Settings::default(), "", "Values of parameters of modules and of functions of the host, as in D=128,T=f16";
    }
}

/// Values of parameters by name, as text that is read when the kind of the parameter is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    /// Gives a parameter a value, in place of the one that it had: an integer, a type such as `f16`, a layout or a tile, as text.
    ///
    /// # Errors
    /// A name that is none, and text with brackets that nothing closes or with both sorts of quotes, which an option cannot hold.
    pub fn set(&mut self, name: &str, value: impl ToString) -> Result<(), String> {
        let value = value.to_string();
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
                return Err(format!(
                    "expected NAME=VALUE, several parted by commas, as in set=D=128,T=f16, found '{part}'"
                ));
            };
            if let Some(before) = settings.get(name) {
                return Err(format!(
                    "expected one value of {name}, found '{before}' and '{value}'"
                ));
            }
            settings.set(name.trim(), value)?;
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

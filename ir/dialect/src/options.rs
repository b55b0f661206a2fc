//! Options of passes and of pipelines, typed: [`options!`](crate::options) declares a set of them once, and the struct, what
//! MLIR is told of them, how they are read and how they are written follow from that.

use crate::{mlir::OptionSpec, names::did_you_mean};
use std::path::PathBuf;

/// A type that an option can have.
pub trait OptionValue: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// Text of another form: what was expected, and what was found.
    fn read(text: &str) -> Result<Self, String>;

    /// The text that [`OptionValue::read`] reads as this value.
    fn written(&self) -> String;
}

/// Reads nothing as no value.
impl<T: OptionValue> OptionValue for Option<T> {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(None),
            _ => T::read(text).map(Some),
        }
    }

    fn written(&self) -> String {
        self.as_ref().map(T::written).unwrap_or_default()
    }
}

impl OptionValue for bool {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(format!("expected true or false, found '{text}'")),
        }
    }

    fn written(&self) -> String {
        self.to_string()
    }
}

/// Reads a count, at least 1.
impl OptionValue for i64 {
    fn read(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|n| *n >= 1);
        number.ok_or_else(|| format!("expected a positive number, found '{text}'"))
    }

    fn written(&self) -> String {
        self.to_string()
    }
}

/// Reads extents such as `128x256x32`; whether 0 makes sense is not known here.
impl<const N: usize> OptionValue for [i64; N] {
    fn read(text: &str) -> Result<Self, String> {
        let parts = text.split('x').map(|part| part.parse().ok());
        let parts: Option<Vec<i64>> = parts.collect();
        let extents = parts.and_then(|parts| parts.try_into().ok());
        extents.ok_or_else(|| {
            let form = ["4"; N].join("x");
            format!("expected {N} extents joined by x, such as {form}, found '{text}'")
        })
    }

    fn written(&self) -> String {
        self.map(|extent| extent.to_string()).join("x")
    }
}

/// The question whether another architecture was meant by the first of some names that is none, if one is near.
fn meant(text: &str) -> String {
    let names: Vec<String> = cute_target::Arch::all()
        .map(|arch| arch.to_string())
        .collect();
    let unknown = text
        .split(',')
        .map(str::trim)
        .find(|name| !matches!(*name, "" | "native") && cute_target::Arch::find(name).is_err());
    unknown.map_or_else(String::new, |name| {
        did_you_mean(name, names.iter().map(String::as_str))
    })
}

impl OptionValue for cute_target::Arch {
    fn read(text: &str) -> Result<Self, String> {
        cute_target::Arch::find(text).map_err(|e| format!("{e}{}", meant(text)))
    }

    fn written(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for cute_target::Archs {
    fn read(text: &str) -> Result<Self, String> {
        cute_target::Archs::find(text).map_err(|e| format!("{e}{}", meant(text)))
    }

    fn written(&self) -> String {
        self.to_string()
    }
}

/// Reads a path without quotes and braces, which the text of a pipeline could not hold.
impl OptionValue for PathBuf {
    fn read(text: &str) -> Result<Self, String> {
        if text.contains(['"', '\'', '{', '}']) {
            return Err(format!(
                "expected a path without quotes and braces, found {text}"
            ));
        }
        Ok(text.into())
    }

    fn written(&self) -> String {
        self.to_string_lossy().into_owned()
    }
}

/// A set of options: declared by [`options!`](crate::options).
pub trait Options: Default {
    /// The options, as MLIR is told of them.
    const SPECS: &'static [OptionSpec];

    /// Sets the option of a name, or tells that there is none.
    ///
    /// # Errors
    /// Text that is no value of the option.
    fn set(&mut self, name: &str, text: &str) -> Result<bool, String>;

    /// The values as text, in the order of [`Options::SPECS`].
    fn values(&self) -> Vec<String>;

    /// Reads the values that a pass is called with, in the order of [`Options::SPECS`].
    ///
    /// # Errors
    /// A value that is none of its option, by name.
    fn of(values: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        for (spec, value) in Self::SPECS.iter().zip(values) {
            options.set(spec.name, value)?;
        }
        Ok(options)
    }

    /// Reads `name=value` pairs separated by spaces, as the options of a pipeline are written; values may be quoted.
    ///
    /// # Errors
    /// Another form, a name that no option has or that is given twice, a value that is none of its option.
    fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        let given = pairs(text)?;
        for (i, (name, value)) in given.iter().enumerate() {
            if let Some((_, before)) = given[..i].iter().find(|(other, _)| other == name) {
                return Err(format!(
                    "the option {name} is given twice, as '{before}' and as '{value}'; expected it once"
                ));
            }
            if !options.set(name, value)? {
                let known: Vec<_> = Self::SPECS.iter().map(|spec| spec.name).collect();
                return Err(format!(
                    "no such option '{name}': expected {}{}",
                    known.join(", "),
                    did_you_mean(name, known.iter().copied())
                ));
            }
        }
        Ok(options)
    }

    /// The text that [`Options::parse`] reads as these options: those that are not as by default.
    fn text(&self) -> String {
        let values = Self::SPECS.iter().zip(self.values());
        let given = values.filter(|(spec, value)| spec.default != value);
        let given = given.map(|(spec, value)| {
            let quoted =
                value.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '{' | '}'));
            match (quoted, value.contains('"')) {
                (true, true) => format!("{}='{value}'", spec.name),
                (true, false) => format!("{}=\"{value}\"", spec.name),
                (false, _) => format!("{}={value}", spec.name),
            }
        });
        given.collect::<Vec<_>>().join(" ")
    }

    /// A pass with these options, as a pipeline names it.
    fn pass(&self, name: &str) -> String {
        match self.text() {
            none if none.is_empty() => name.to_owned(),
            some => format!("{name}{{{some}}}"),
        }
    }
}

/// Splits `name=value` pairs, values bare or in quotes.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once('=') else {
            return Err(format!(
                "expected name=value, found '{rest}'; a value with spaces stands in quotes, as in set='A=f16, B=f32'"
            ));
        };
        let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
        let (value, after) = match quote {
            Some(quote) => after[1..]
                .split_once(quote)
                .ok_or_else(|| format!("expected a closing {quote} in '{after}'"))?,
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        pairs.push((name.trim().to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// Specifications of several sets as one; `N` is how many they are.
#[doc(hidden)]
pub const fn joined<const N: usize>(sets: &[&[OptionSpec]]) -> [OptionSpec; N] {
    let mut all = [OptionSpec {
        name: "",
        description: "",
        default: "",
    }; N];
    let (mut set, mut at) = (0, 0);
    while set < sets.len() {
        let mut i = 0;
        while i < sets[set].len() {
            all[at] = sets[set][i];
            at += 1;
            i += 1;
        }
        set += 1;
    }
    all
}

/// Declares a set of options: a struct with a field for each, and its [`Options`](crate::options::Options).
///
/// Each option has a type, a default as a value and as text, and a description, which is the documentation of its field too.
/// `..` before a field adds the options of another set.
///
/// ```
/// cute_ir::options! {
///     /// Options of a pass.
///     pub struct Example {
///         arch: Option<cute_target::Arch> = None, "", "The architecture";
///         checks: bool = true, "true", "Tells whether to check";
///     }
/// }
/// use cute_ir::options::Options;
/// assert_eq!(Example::parse("arch=sm_80 checks=false")?.pass("pass"), "pass{arch=sm_80 checks=false}");
/// # Ok::<(), String>(())
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $set:ident {
            $($field:ident: $ty:ty = $value:expr, $default:literal, $description:literal;)*
            $(..$inner:ident: $inner_ty:ty, $inner_description:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $set {
            $(#[doc = $description] pub $field: $ty,)*
            $(#[doc = $inner_description] pub $inner: $inner_ty,)*
        }

        impl Default for $set {
            fn default() -> Self {
                Self {
                    $($field: $value,)*
                    $($inner: Default::default(),)*
                }
            }
        }

        impl $crate::options::Options for $set {
            const SPECS: &'static [$crate::OptionSpec] = {
                const SETS: &[&[$crate::OptionSpec]] = &[
                    &[$($crate::OptionSpec {
                        name: stringify!($field),
                        description: $description,
                        default: $default,
                    },)*],
                    $(<$inner_ty as $crate::options::Options>::SPECS,)*
                ];
                const COUNT: usize = {
                    let (mut count, mut i) = (0, 0);
                    while i < SETS.len() {
                        count += SETS[i].len();
                        i += 1;
                    }
                    count
                };
                &$crate::options::joined::<COUNT>(SETS)
            };

            fn set(&mut self, name: &str, text: &str) -> Result<bool, String> {
                $(if name == stringify!($field) {
                    self.$field = $crate::options::OptionValue::read(text)
                        .map_err(|wrong| format!("{name}: {wrong}"))?;
                    return Ok(true);
                })*
                $(if $crate::options::Options::set(&mut self.$inner, name, text)? {
                    return Ok(true);
                })*
                Ok(false)
            }

            fn values(&self) -> Vec<String> {
                #[allow(unused_mut)]
                let mut values: Vec<String> =
                    vec![$($crate::options::OptionValue::written(&self.$field),)*];
                $(values.extend($crate::options::Options::values(&self.$inner));)*
                values
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Options;

    options! {
        /// A set within another.
        struct Inner {
            size: Option<[i64; 2]> = None, "", "Extents";
            count: i64 = 3, "3", "A number";
        }
    }

    options! {
        /// A set with another in it.
        struct Outer {
            fast: bool = true, "true", "Speed";
            ..inner: Inner, "The options of the other set";
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let options = Outer::parse("size=4x8 fast=0").unwrap();
        assert_eq!(options.inner.size, Some([4, 8]));
        assert_eq!((options.fast, options.inner.count), (false, 3));
        assert_eq!(options.text(), "fast=false size=4x8");
        assert_eq!(Outer::parse(&options.text()), Ok(options));
        assert_eq!(Outer::default().pass("a-pass"), "a-pass");
        let names: Vec<_> = Outer::SPECS.iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["fast", "size", "count"]);
    }

    #[test]
    fn defaults_as_text_are_the_defaults() {
        let text: Vec<_> = Outer::SPECS.iter().map(|spec| spec.default).collect();
        assert_eq!(Outer::of(&text), Ok(Outer::default()));
        assert_eq!(Outer::default().values(), text);
    }

    #[test]
    fn wrong_options_are_named() {
        let error = |text: &str| Outer::parse(text).unwrap_err();
        let slow = error("slow=true");
        assert_eq!(slow, "no such option 'slow': expected fast, size, count");
        assert!(error("sizes=4x4").ends_with("count; did you mean 'size'?"));
        assert!(
            error("size=4")
                .contains("size: expected 2 extents joined by x, such as 4x4, found '4'")
        );
        assert!(error("count=0").contains("count: expected a positive number, found '0'"));
        assert!(error("fast=1 fast=0").contains("given twice, as '1' and as '0'"));
        assert!(error("fast").contains("name=value"));
        assert!(error("fast='1").contains("closing"));
    }
}

//! Names of ops: the dialect in front of the first dot, and what is behind it.

use crate::mlir::{Op, name_of};

/// The dialects by which passes tell ops apart.
pub mod dialect {
    /// Integers and floating-point numbers.
    pub const ARITH: &str = "arith";
    /// Layouts, tensors and tiled operations.
    pub const CUTE: &str = "cute";
    /// Integers of the target's width.
    pub const INDEX: &str = "index";
    /// Functions of floating-point numbers.
    pub const MATH: &str = "math";
    /// Structured loops and branches.
    pub const SCF: &str = "scf";
    /// Vectors.
    pub const VECTOR: &str = "vector";
}

/// The ops of MLIR's own dialect that the passes know.
pub mod builtin {
    /// `builtin.module`
    pub const MODULE: &str = "builtin.module";
    /// `builtin.unrealized_conversion_cast`
    pub const UNREALIZED_CONVERSION_CAST: &str = "builtin.unrealized_conversion_cast";
}

/// The name of `names` that is spelt most like `name`, where one is near.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.len() / 3).clamp(1, 3);
    let near = names
        .into_iter()
        .map(|known| (distance(name, known), known));
    let near = near.filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The end of a message about a name that is not there: the question whether the nearest one was meant, if one is near.
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |known| format!("; did you mean '{known}'?"))
}

/// The characters to be put in, left out, replaced or exchanged with the next one to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Of the beginnings of both names, by their lengths.
    let mut edits = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            edits[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = edits[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let least = replaced.min(edits[i - 1][j] + 1).min(edits[i][j - 1] + 1);
                match i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    true => least.min(edits[i - 2][j - 2] + 1),
                    false => least,
                }
            };
        }
    }
    edits[a.len()][b.len()]
}

/// The dialect of an op, as its name says it.
pub fn dialect_of(op: Op<'_>) -> &str {
    let name = name_of(op);
    name.split_once('.').map_or(name, |(dialect, _)| dialect)
}

/// Tells whether an op is of the dialect `cute`.
pub fn is_cute(op: Op<'_>) -> bool {
    mnemonic(name_of(op)).is_some()
}

/// The name of an op of the dialect `cute` without it; nothing of others.
pub fn mnemonic(name: &str) -> Option<&str> {
    match name.split_once('.') {
        Some((dialect::CUTE, rest)) => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_the_fewest_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("stages", "stagse", 1),
            ("kitten", "sitting", 3),
            ("tile", "tiles", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_name_is_named_and_no_far_one() {
        let names = ["tile", "warps", "stages"];
        assert_eq!(nearest("stagse", names), Some("stages"));
        assert_eq!(nearest("tiles", names), Some("tile"));
        assert_eq!(nearest("package", names), None);
        assert_eq!(did_you_mean("warp", names), "; did you mean 'warps'?");
        assert_eq!(did_you_mean("package", names), "");
    }
}

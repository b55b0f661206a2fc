//! Names of packages, functions and arguments as names of C and C++.

use std::collections::HashSet;

/// Words of C and C++ that are no names, and names that headers have for themselves.
const TAKEN: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await \
    co_return co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast \
    else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr \
    operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert \
    static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile \
    wchar_t while xor xor_eq NULL EOF errno main std cute linux unix stream error error_bytes values code";

/// The text as a name: what is no letter, digit or underscore becomes an underscore. None without any letter or digit.
pub fn name(text: &str) -> Option<String> {
    if !text.chars().any(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = text.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    if TAKEN.split_whitespace().any(|taken| taken == name) {
        name.push('_');
    }
    Some(name)
}

/// Names of arguments, each another.
pub fn arguments<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = HashSet::new();
    all.enumerate()
        .map(|(index, text)| {
            let mut name = name(text).unwrap_or_else(|| format!("argument{index}"));
            while !seen.insert(name.clone()) {
                name.push('_');
            }
            name
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c() {
        for (text, expected) in [
            ("gemm", Some("gemm")),
            ("gemm-f16.v2", Some("gemm_f16_v2")),
            ("2d", Some("_2d")),
            ("double", Some("double_")),
            ("größe", Some("gr__e")),
            ("--", None),
            ("", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
        let found = arguments(["x", "x.", "x_", "", "stream"].into_iter());
        assert_eq!(found, ["x", "x_", "x__", "argument3", "stream_"]);
    }
}

//! The text of tensors, as a user may write their types.

use crate::random::Random;

/// Bytes of an element.
pub fn bytes(element: &str) -> i64 {
    match element {
        "f64" => 8,
        "f32" | "tf32" | "i32" => 4,
        "f16" | "bf16" => 2,
        _ => 1,
    }
}

/// An extent or a stride as a type says it, of which launches bring these values: the value, or `?` with or without what divides it.
pub fn leaf(random: &mut Random, values: &[i64], is_stride: bool) -> String {
    let first = values.first().copied().unwrap_or_default();
    let is_one = values.iter().all(|value| *value == first);
    if is_one && is_stride && first == 1 && !random.chance(2) {
        return "1".into();
    }
    if is_one && random.chance(60) {
        return first.to_string();
    }
    let width = if random.chance(10) { "i64" } else { "" };
    // An extent of 0 is a multiple of everything, and a stride of 0 says that elements are the same.
    let least = if is_stride { 1 } else { 0 };
    let divides = |div: &i64| {
        values
            .iter()
            .all(|value| value % div == 0 && *value >= least)
    };
    let nothing = (is_one && first == 0 && !is_stride && random.chance(30)).then_some(0);
    let largest = nothing.or_else(|| [16, 8, 4, 2].into_iter().find(divides));
    let div = largest
        .filter(|_| random.chance(70))
        .map(|div| format!("div={div}"));
    match (width, div) {
        ("", None) => "?".into(),
        (width, None) => format!("?{{{width}}}"),
        ("", Some(div)) => format!("?{{{div}}}"),
        (width, Some(div)) => format!("?{{{width} {div}}}"),
    }
}

/// `%A, %B : !A, !B`
pub fn typed(all: &[(String, String)]) -> String {
    let [values, types] = [0, 1].map(|part| {
        let parts = all.iter().map(|(value, ty)| [value, ty][part].as_str());
        parts.collect::<Vec<_>>().join(", ")
    });
    format!("{values} : {types}")
}

//! Reductions into global memory. PTX ISA, `red`.

use super::registers::{assembly, words};
use cute_ir::{
    Expected, Failure,
    mlir::{Builder, Val, vector_of},
};
use melior::ir::ValueLike;

/// The version of the PTX ISA in which `red` takes vectors.
pub(super) const VECTORS_IN_PTX: i64 = 81;

/// Adds a vector of f32, f16 or bf16 to what lies at `pointer` in global memory, each element atomically: by one instruction where it
/// is one as a `whole`, else by one for each 32 bits.
pub(super) fn add<'c>(
    b: Builder<'c>,
    whole: bool,
    value: Val<'c>,
    pointer: Val<'c>,
) -> Result<(), Failure> {
    let (_, element) = vector_of(value.r#type()).expected(b, "a vector of one dimension")?;
    let ty = match element.to_string().as_str() {
        "f32" => "f32",
        "f16" => "f16x2",
        "bf16" => "bf16x2",
        other => return Err(b.error(format!("no reduction adds {other}"))),
    };
    let rounding = if ty == "f32" { "" } else { ".noftz" };
    let words = words(b, value)?;
    let at_once = if whole { words.len() } else { 1 };
    for (index, part) in words.chunks(at_once).enumerate() {
        let (vector, list) = match part.len() {
            1 => (String::new(), "$1".to_owned()),
            count => {
                let names: Vec<String> = (1..=count).map(|i| format!("${i}")).collect();
                (format!(".v{count}"), format!("{{{}}}", names.join(", ")))
            }
        };
        let offset = match 4 * index * at_once {
            0 => String::new(),
            bytes => format!("+{bytes}"),
        };
        let text = format!("red.global.add{rounding}{vector}.{ty} [$0{offset}], {list};");
        let constraints = format!("l,{},~{{memory}}", vec!["r"; part.len()].join(","));
        let operands: Vec<Val<'c>> = std::iter::once(pointer)
            .chain(part.iter().copied())
            .collect();
        assembly(b, &text, &constraints, &operands, &[])?;
    }
    Ok(())
}

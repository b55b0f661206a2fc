//! The operations that every thread does by itself: vector loads and stores, and multiply-adds.

use super::registers::{
    assemble, assembly, bitcast, bytes_of, extract, from_words, members, results, words, words_type,
};
use cute_ir::{
    Expected, Failure,
    mlir::{Builder, Val, is_float, result_of, vector_of},
    ops::llvm,
};
use melior::ir::{Type, ValueLike};

fn size<'c>(b: Builder<'c>, ty: Type<'c>) -> Result<i64, Failure> {
    bytes_of(ty).ok_or_else(|| b.error("expected a vector of numbers"))
}

fn is_global<'c>(b: Builder<'c>, pointer: Val<'c>) -> bool {
    b.ty("!llvm.ptr<1>").is_ok_and(|ty| pointer.r#type() == ty)
}

/// Loads a vector of type `ty` by one instruction, with an L2 cache policy where there is one and the memory is global; `guard`
/// is a predicate, and what is loaded where it is false.
pub(super) fn load<'c>(
    b: Builder<'c>,
    policy: Option<Val<'c>>,
    guard: Option<(Val<'c>, Val<'c>)>,
    pointer: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let bytes = size(b, ty)?;
    let policy = policy.filter(|_| is_global(b, pointer));
    if policy.is_some() || guard.is_some() {
        return load_by_text(b, policy, guard, pointer, ty);
    }
    // As registers, so that the load is one instruction whatever the element.
    let alignment = [("alignment", b.i64_attribute(bytes))];
    let loaded = b.value(llvm::LOAD, &[pointer], words_type(b, bytes)?, &alignment)?;
    bitcast(b, loaded, ty)
}

/// Stores a vector by one instruction, as [`load`] loads it.
pub(super) fn store<'c>(
    b: Builder<'c>,
    policy: Option<Val<'c>>,
    value: Val<'c>,
    pointer: Val<'c>,
) -> Result<(), Failure> {
    let bytes = size(b, value.r#type())?;
    if let Some(policy) = policy
        && is_global(b, pointer)
    {
        return store_with_policy(b, policy, value, pointer);
    }
    let words = bitcast(b, value, words_type(b, bytes)?)?;
    let alignment = [("alignment", b.i64_attribute(bytes))];
    b.op(llvm::STORE, &[words, pointer], &[], &alignment)?;
    Ok(())
}

/// (modifiers of the type, type of a register, its constraint, registers) for so many bytes.
fn access<'c>(
    b: Builder<'c>,
    bytes: i64,
) -> Result<(&'static str, Type<'c>, &'static str, usize), Failure> {
    Ok(match bytes {
        1 => ("b8", b.ty("i16")?, "h", 1),
        2 => ("b16", b.ty("i16")?, "h", 1),
        4 => ("b32", b.i32_type(), "r", 1),
        8 => ("v2.b32", b.i32_type(), "r", 2),
        16 => ("v4.b32", b.i32_type(), "r", 4),
        _ => return Err(b.error(format!("no load has {bytes} bytes"))),
    })
}

/// So many operands from one on, such as `$1`, in braces where they are many.
pub(super) fn list(first: usize, count: usize) -> String {
    let names: Vec<String> = (first..first + count).map(|i| format!("${i}")).collect();
    match count {
        1 => names.concat(),
        _ => format!("{{{}}}", names.join(", ")),
    }
}

/// A vector as registers of a load or a store.
fn registers_of<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    register: Type<'c>,
) -> Result<Vec<Val<'c>>, Failure> {
    Ok(match size(b, value.r#type())? {
        1 => {
            let byte = bitcast(b, value, b.ty("i8")?)?;
            vec![b.value(llvm::ZEXT, &[byte], register, &[])?]
        }
        2 => vec![bitcast(b, value, register)?],
        _ => words(b, value)?,
    })
}

// PTX ISA, ld: `.level::cache_hint` is on global memory, and the policy the last operand.
fn load_by_text<'c>(
    b: Builder<'c>,
    policy: Option<Val<'c>>,
    guard: Option<(Val<'c>, Val<'c>)>,
    pointer: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let bytes = size(b, ty)?;
    let (modifiers, register, constraint, count) = access(b, bytes)?;
    let mut operands = vec![pointer];
    let mut constraints = vec![format!("={constraint}"); count];
    constraints.push("l".to_owned());
    let (mut hint, mut cached) = ("", String::new());
    if let Some(policy) = policy {
        (hint, cached) = (".L2::cache_hint", format!(", ${}", count + operands.len()));
        operands.push(policy);
        constraints.push("l".to_owned());
    }
    let mut predicated = String::new();
    if let Some((holds, old)) = guard {
        predicated = format!("@${} ", count + operands.len());
        operands.push(holds);
        constraints.push("b".to_owned());
        // What is there before is what is loaded where the predicate is false.
        operands.extend(registers_of(b, old, register)?);
        constraints.extend((0..count).map(|i| i.to_string()));
    }
    constraints.push("~{memory}".to_owned());
    let text = format!(
        "{predicated}ld.global{hint}.{modifiers} {}, [${count}]{cached};",
        list(0, count),
    );
    let result = results(b, register, count)?;
    let loaded = assembly(b, &text, &constraints.join(","), &operands, &[result])?;
    let parts = members(b, result_of(loaded, 0), count, register)?;
    match bytes {
        1 => {
            let byte = b.value(llvm::TRUNC, &parts, b.ty("i8")?, &[])?;
            bitcast(b, byte, ty)
        }
        2 => bitcast(b, parts[0], ty),
        _ => from_words(b, &parts, ty),
    }
}

fn store_with_policy<'c>(
    b: Builder<'c>,
    policy: Val<'c>,
    value: Val<'c>,
    pointer: Val<'c>,
) -> Result<(), Failure> {
    let bytes = size(b, value.r#type())?;
    let (modifiers, register, constraint, count) = access(b, bytes)?;
    let parts = registers_of(b, value, register)?;
    let text = format!(
        "st.global.L2::cache_hint.{modifiers} [$0], {}, ${};",
        list(1, count),
        count + 1
    );
    let constraints = format!("l,{},l,~{{memory}}", vec![constraint; count].join(","));
    let mut operands = vec![pointer];
    operands.extend(parts);
    operands.push(policy);
    assembly(b, &text, &constraints, &operands, &[])?;
    Ok(())
}

/// A multiply-add of vectors of one element. Products are made in the type of the sum.
pub(super) fn fma<'c>(
    b: Builder<'c>,
    [left, right, sum]: [Val<'c>; 3],
) -> Result<Val<'c>, Failure> {
    let ty = sum.r#type();
    let (_, to) = vector_of(ty).expected(b, "a vector of one dimension")?;
    let mut parts = Vec::new();
    for operand in [left, right, sum] {
        let (_, element) = vector_of(operand.r#type()).expected(b, "a vector of one dimension")?;
        let value = extract(b, operand, 0, element)?;
        parts.push(if element == to {
            value
        } else {
            b.value(llvm::FPEXT, &[value], to, &[])?
        });
    }
    let result = if is_float(to) {
        b.value("llvm.intr.fma", &parts, to, &[])?
    } else {
        let product = b.value(llvm::MUL, &parts[..2], to, &[])?;
        b.value(llvm::ADD, &[product, parts[2]], to, &[])?
    };
    assemble(b, &[result], ty)
}

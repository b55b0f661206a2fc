//! mma.sync of SM70 to SM90. PTX ISA, "Multiply-and-accumulate instruction: mma".
//!
//! MLIR's op has the shapes and types of SM70 to SM80; what came later is LLVM's intrinsic.

use super::{
    math,
    registers::{assemble, elements, from_words, members, structure, words},
};
use cute_ir::{
    Expected, Failure,
    mlir::{Builder, Val, vector_of},
    ops::{llvm, nvvm},
};
use cute_layout::{
    Elem, MmaAtom,
    atoms::{Family, Major},
};
use melior::ir::{Attribute, Type, ValueLike};

/// PTX's name of an element type.
pub(super) fn ptx_type(elem: Elem) -> Option<&'static str> {
    Some(match elem {
        Elem::F16 => "f16",
        Elem::BF16 => "bf16",
        Elem::TF32 => "tf32",
        Elem::F32 => "f32",
        Elem::F64 => "f64",
        Elem::I8 => "s8",
        Elem::U8 => "u8",
        Elem::I32 => "s32",
        Elem::F8E4M3 => "e4m3",
        Elem::F8E5M2 => "e5m2",
        _ => return None,
    })
}

/// Tells whether MLIR or LLVM has the instruction, for these types.
pub(super) fn has_instruction(atom: &MmaAtom) -> bool {
    matches!(
        atom.family,
        Family::Sm70 | Family::Sm75 | Family::Sm80 | Family::Sm89 | Family::Sm90Warp
    ) && [atom.a, atom.b, atom.c, atom.d]
        .into_iter()
        .all(|elem| ptx_type(elem).is_some())
}

/// The PTX version that an instruction needs beyond those of its architecture (PTX ISA, mma, "PTX ISA Notes").
pub(super) fn ptx_version(atom: &MmaAtom) -> Option<i64> {
    (atom.family == Family::Sm89).then_some(if atom.c == Elem::F16 { 87 } else { 84 })
}

/// A vector as the registers that the instruction takes.
fn registers<'c>(b: Builder<'c>, vector: Val<'c>, elem: Elem) -> Result<Vec<Val<'c>>, Failure> {
    let (length, element) = vector_of(vector.r#type()).expected(b, "a vector of one dimension")?;
    let count = match elem {
        Elem::F32 | Elem::F64 | Elem::I32 => length,
        Elem::F16 => length / 2,
        _ => return words(b, vector),
    };
    if elem != Elem::F16 {
        return elements(b, vector, 0..count, element);
    }
    let pair = b.vector(2, element);
    let words = words(b, vector)?;
    words
        .into_iter()
        .map(|word| b.value(llvm::BITCAST, &[word], pair, &[]))
        .collect()
}

/// D = A B + C of one atom.
pub(super) fn mma_sync<'c>(
    b: Builder<'c>,
    atom: &MmaAtom,
    [left, right, sum]: [Val<'c>; 3],
) -> Result<Val<'c>, Failure> {
    let parts = [
        registers(b, left, atom.a)?,
        registers(b, right, atom.b)?,
        registers(b, sum, atom.c)?,
    ];
    let count = parts[2].len();
    let accumulator = parts[2].first().expected(b, "a register of C")?.r#type();
    let result = structure(b, &accumulator.to_string(), count)?;
    let product = match atom.family {
        Family::Sm89 | Family::Sm90Warp => intrinsic(b, atom, &parts.concat(), result)?,
        _ => op(b, atom, &parts, result)?,
    };
    let parts = members(b, product, count, accumulator)?;
    let ty = sum.r#type();
    if atom.c != Elem::F16 {
        return assemble(b, &parts, ty);
    }
    let word = |part: Val<'c>| b.value(llvm::BITCAST, &[part], b.i32_type(), &[]);
    let words: Vec<_> = parts.into_iter().map(word).collect::<Result<_, _>>()?;
    from_words(b, &words, ty)
}

/// MLIR's op.
fn op<'c>(
    b: Builder<'c>,
    atom: &MmaAtom,
    parts: &[Vec<Val<'c>>; 3],
    result: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let [m, n, k] = atom.shape_mnk;
    let counts = [0, 1, 2].map(|i: usize| parts[i].len() as i32);
    let kind = |elem: Elem| -> Result<Attribute<'c>, Failure> {
        let name = ptx_type(elem).ok_or_else(|| missing(b, atom))?;
        b.attribute(&format!("#nvvm.mma_type<{name}>"))
    };
    let [of_a, of_b] = layouts(atom);
    let mut attributes = vec![
        (
            "shape",
            b.attribute(&format!("#nvvm.shape<m = {m}, n = {n}, k = {k}>"))?,
        ),
        (
            "layoutA",
            b.attribute(&format!("#nvvm.mma_layout<{of_a}>"))?,
        ),
        (
            "layoutB",
            b.attribute(&format!("#nvvm.mma_layout<{of_b}>"))?,
        ),
        ("multiplicandAPtxType", kind(atom.a)?),
        ("multiplicandBPtxType", kind(atom.b)?),
        ("operandSegmentSizes", b.i32_array(&counts)),
    ];
    if atom.c == Elem::I32 {
        let overflow = if atom.saturate {
            "satfinite"
        } else {
            "wrapped"
        };
        let overflow = b.attribute(&format!("#nvvm.mma_int_overflow<{overflow}>"))?;
        attributes.push(("intOverflowBehavior", overflow));
    }
    b.value(nvvm::MMA_SYNC, &parts.concat(), result, &attributes)
}

/// PTX's words for how A and B lie: A is by rows along K, B by columns.
fn layouts(atom: &MmaAtom) -> [&'static str; 2] {
    [
        if atom.majors[0] == Major::K {
            "row"
        } else {
            "col"
        },
        if atom.majors[1] == Major::K {
            "col"
        } else {
            "row"
        },
    ]
}

/// LLVM's intrinsic, which names all types where A is an 8-bit float, else A's alone.
fn intrinsic<'c>(
    b: Builder<'c>,
    atom: &MmaAtom,
    operands: &[Val<'c>],
    result: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let [m, n, k] = atom.shape_mnk;
    let [of_a, of_b] = layouts(atom);
    let all = [atom.d, atom.a, atom.b, atom.c];
    let named = if atom.family == Family::Sm89 {
        &all[..]
    } else {
        &all[1..2]
    };
    let mut name = format!("llvm.nvvm.mma.m{m}n{n}k{k}.{of_a}.{of_b}");
    for elem in named {
        name += &format!(".{}", ptx_type(*elem).ok_or_else(|| missing(b, atom))?);
    }
    math::call(b, &name, operands, result)
}

fn missing(b: Builder<'_>, atom: &MmaAtom) -> Failure {
    b.error(format!("{} is in the table, no instruction yet", atom.name))
}

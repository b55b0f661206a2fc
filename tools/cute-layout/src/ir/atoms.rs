//! The types of atoms, as `cute_nvgpu` writes them.

use cute_layout::atoms::{BitOp, Family, Form, FragKind, Major};
use cute_layout::{CopyAtom, Elem, MmaAtom};

use crate::failure::Fault;

/// The rows and columns of the matrices of `ldmatrix`, `stmatrix` and `movmatrix`.
const MATRICES: &str = "mode = <\"(8,8)\">";

/// The type of an element that may be known by its width only, and then the note that says which was taken.
pub fn element(elem: Option<Elem>, bits: i64, notes: &mut Vec<String>) -> String {
    if let Some(e) = elem {
        return e.name().into();
    }
    let taken = match bits {
        16 => "f16".into(),
        32 => "f32".into(),
        64 => "f64".into(),
        bits => format!("i{bits}"),
    };
    notes.push(format!(
        "elements of {bits} bits without a type are taken to be {taken}; name their type, such as f16, where they are another"
    ));
    taken
}

/// The type of a copy atom. Errors: element types that the instruction does not have.
pub fn copy(atom: &CopyAtom, elem: Option<Elem>, notes: &mut Vec<String>) -> Result<String, Fault> {
    let elem = &element(elem, atom.val_bits, notes);
    let name = &atom.name[..];
    // The bits of each thread, which lie side by side.
    let bits = atom.val_bits * atom.num_val;
    let text = match atom.form {
        _ if atom.is_auto_vectorizing() => format!("universal_copy<{elem}>"),
        Form::LoadOrStore => format!("universal_copy<{elem}, {bits} b>"),
        Form::Copy => {
            // Only 16 bytes may bypass L1, as CuTe DSL has it.
            let cache = if bits == 128 { "global" } else { "always" };
            format!("simt_async_copy<{elem}, cache = {cache}, {bits} b>")
        }
        Form::Load => {
            let (count, turned) = matrices(name);
            format!(
                "ldsm<val_type = {elem}, {MATRICES}, sz_pattern = u16, num_matrices = {count}, {turned}>"
            )
        }
        Form::Store => {
            let (count, turned) = matrices(name);
            format!("stsm<{elem}, {MATRICES}, num_matrices = {count}, {turned}>")
        }
        Form::Move => format!("movm<{elem}, {MATRICES}, num_matrices = 1, t>"),
        Form::Reduce if ["f32", "f16", "bf16"].contains(&&elem[..]) => {
            format!("red<{elem}, add, {bits} b>")
        }
        Form::Reduce => {
            return Err(Fault::Call(format!(
                "expected f32, f16 or bf16 for {name}, found {elem}; name one of them in copy_atom"
            )));
        }
    };
    Ok(format!("!cute_nvgpu.atom.{text}"))
}

/// The number of matrices that `SM75_U32x4_LDSM_N` and the like have, and whether they are transposed: then the name counts halves.
fn matrices(name: &str) -> (i64, char) {
    let count = name.split_once('x').and_then(|(_, n)| n.split_once('_'));
    let count = count.and_then(|(n, _)| n.parse().ok()).unwrap_or(1);
    match name.ends_with("_T") {
        true => (count / 2, 't'),
        false => (count, 'n'),
    }
}

/// The type of an MMA atom, whose accumulators come out as the type that they go in as: the table has no others. Errors: saturation
/// that the type does not say.
pub fn mma(atom: &MmaAtom) -> Result<String, Fault> {
    let [m, n, k] = atom.shape_mnk;
    let (a, b, c) = (atom.a, atom.b, atom.c);
    let family = atom.family.mnemonic();
    let types = format!("elem_type = ({a}, {b}, {c})");
    let [major_a, major_b] = atom.majors.map(Major::name);
    let majors = format!("ab_major = ({major_a}, {major_b})");
    let what = match atom.family {
        Family::Universal => format!("({a}, {b}) -> {c} "),
        Family::Sm70 => format!("{majors}, {types} "),
        Family::Sm90 => {
            let from = match atom.frag_kind() {
                FragKind::Rs => "rs",
                FragKind::Ss | FragKind::Registers => "ss",
            };
            let overflow = if atom.saturate {
                " int_overflow = satfinite"
            } else {
                ""
            };
            let signs = match atom.negated_names() {
                "" => String::new(),
                names => format!(" neg = {names}"),
            };
            format!("{majors}, {types}, frag_kind = {from}{overflow}{signs}")
        }
        Family::Sm120BlockScaled => match atom.scale {
            Some(s) => format!("{types}, sf_type = {}, vec_size = {}", s.elem, s.vec),
            None => types,
        },
        Family::Sm80 => {
            let bits = match atom.bit_op {
                Some(BitOp::Xor) => "binary_op = xor",
                Some(BitOp::And) => "binary_op = and",
                None => "",
            };
            let overflow = match atom.saturate {
                true => "int_overflow = satfinite",
                false => "",
            };
            format!("{types} {overflow}{bits}")
        }
        _ if atom.saturate => {
            return Err(Fault::Call(format!(
                "expected an atom of SM80 to saturate, as the types of others do not say it, found {}; \
                 choose one whose name begins with SM80_, or leave _SATURATE out",
                atom.name
            )));
        }
        Family::Sm75 | Family::Sm89 | Family::Sm90Warp | Family::Sm120 => format!("{types} "),
    };
    Ok(format!("!cute_nvgpu.{family}<{m}x{n}x{k}, {what}>"))
}

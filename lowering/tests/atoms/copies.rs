//! Copies: every element of a tile has a number of its own, and must be in its place after it has gone through shared memory
//! or registers by the atom.
//!
//! The code before and behind the atom moves single elements, by the thread-value layout that the table gives the atom's
//! source or destination.

use crate::kernel::{Case, Parts, THREADS, mutated};
use cute_ir::{
    Failure,
    mlir::{Builder, Val},
    ops::{cute, cute_nvgpu, nvvm},
};
use cute_layout::{CopyAtom, Layout, Tile, TiledCopy};
use cute_target::{Arch, Requirement};
use melior::ir::ValueLike;

/// An L2 policy: evict first, as CUTLASS's `TMA::CacheHintSm90::EVICT_FIRST` has it.
const EVICT_FIRST: i64 = 0x12f0_0000_0000_0000;

/// The copy that a kernel makes.
#[derive(Clone, Debug)]
enum Kind {
    /// To registers and back, and to shared memory and back, by vectors of so many bits.
    Universal {
        bits: i64,
        policy: bool,
    },
    /// The same, by vectors that the layouts decide.
    Auto,
    /// To shared memory by cp.async; with a predicate, by half of the threads.
    Async {
        global: bool,
        bits: i64,
        policy: bool,
        predicate: bool,
    },
    Ldmatrix {
        matrices: i64,
        transpose: bool,
    },
    Stmatrix {
        matrices: i64,
        transpose: bool,
    },
    Movmatrix,
    /// Added to what single stores have written.
    Reduce {
        bits: i64,
    },
}

/// The copies that the architecture has.
pub fn all(arch: &str) -> Vec<Case> {
    let arch: Arch = arch.parse().expect("an architecture");
    let mut cases = Vec::new();
    for (element, size) in [("i8", 8), ("f16", 16), ("f32", 32), ("f64", 64)] {
        for bits in [8, 16, 32, 64, 128] {
            if bits >= size {
                let policy = false;
                cases.push(case(element, Kind::Universal { bits, policy }, false));
            }
        }
        cases.push(case(element, Kind::Auto, false));
    }
    // Cache policies and asynchronous copies.
    let has = arch.has(Requirement::Since(8, 0));
    for bits in [8, 16, 32, 64, 128].into_iter().filter(|_| has) {
        let policy = true;
        cases.push(case("i8", Kind::Universal { bits, policy }, false));
    }
    let asynchronous = [(false, 32), (false, 64), (false, 128), (true, 128)];
    for (global, bits) in asynchronous.into_iter().filter(|_| has) {
        for (policy, predicate) in [(false, false), (true, false), (false, true), (true, true)] {
            let kind = Kind::Async {
                global,
                bits,
                policy,
                predicate,
            };
            cases.push(case("f16", kind, false));
        }
    }
    for matrices in [1, 2, 4] {
        for transpose in [false, true] {
            let (m, t) = (matrices, transpose);
            let load = Kind::Ldmatrix {
                matrices: m,
                transpose: t,
            };
            cases.push(case("f16", load, false));
            if arch.has(Requirement::Since(9, 0)) {
                let store = Kind::Stmatrix {
                    matrices: m,
                    transpose: t,
                };
                cases.push(case("f16", store, false));
            }
        }
    }
    cases.push(case("f16", Kind::Movmatrix, false));
    for bits in [32, 64, 128] {
        cases.push(case("f32", Kind::Reduce { bits }, false));
        cases.push(case("f16", Kind::Reduce { bits }, false));
        if arch.has(Requirement::Since(9, 0)) {
            cases.push(case("bf16", Kind::Reduce { bits }, false));
        }
    }
    cases
}

/// Some with a table that is wrong.
pub fn mutants() -> Vec<Case> {
    let load = |matrices, transpose| Kind::Ldmatrix {
        matrices,
        transpose,
    };
    vec![
        case("f16", load(1, true), true),
        case("f16", load(2, false), true),
        case(
            "f16",
            Kind::Stmatrix {
                matrices: 2,
                transpose: false,
            },
            true,
        ),
        case("f16", Kind::Movmatrix, true),
    ]
}

impl Kind {
    fn text(&self, element: &str) -> String {
        let turn = |transpose: &bool| if *transpose { "t" } else { "n" };
        match self {
            Kind::Universal { bits, .. } => format!("universal_copy<{element}, {bits} b>"),
            Kind::Auto => format!("universal_copy<{element}>"),
            Kind::Async { global, bits, .. } => {
                let cache = if *global { "global" } else { "always" };
                format!("simt_async_copy<{element}, cache = {cache}, {bits} b>")
            }
            Kind::Ldmatrix {
                matrices,
                transpose,
            } => format!(
                "ldsm<val_type = {element}, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = {matrices}, {}>",
                turn(transpose)
            ),
            Kind::Stmatrix {
                matrices,
                transpose,
            } => format!(
                "stsm<{element}, mode = <\"(8,8)\">, num_matrices = {matrices}, {}>",
                turn(transpose)
            ),
            Kind::Movmatrix => {
                format!("movm<{element}, mode = <\"(8,8)\">, num_matrices = 1, t>")
            }
            Kind::Reduce { bits } => format!("red<{element}, add, {bits} b>"),
        }
    }

    /// Tells whether a thread's values follow each other, and the tile is 32 threads of them.
    fn is_of_a_thread(&self) -> bool {
        matches!(
            self,
            Kind::Universal { .. } | Kind::Auto | Kind::Async { .. } | Kind::Reduce { .. }
        )
    }
}

/// Elements that each thread has.
fn values(kind: &Kind, element: &str) -> i64 {
    let size = 8 * crate::kernel::bytes(element) as i64;
    match kind {
        Kind::Universal { bits, .. } | Kind::Async { bits, .. } | Kind::Reduce { bits } => {
            bits / size
        }
        // Twice what one load moves.
        Kind::Auto => 256 / size,
        Kind::Ldmatrix { matrices, .. } | Kind::Stmatrix { matrices, .. } => 2 * matrices,
        Kind::Movmatrix => 2,
    }
}

fn case(element: &'static str, kind: Kind, mutation: bool) -> Case {
    let count = THREADS * values(&kind, element);
    let layout = format!("(8,{}):(1,8)", count / 8);
    let of_data = kind.clone();
    Case {
        name: format!("{kind:?} of {element}"),
        arguments: vec![(element, layout.clone()), (element, layout.clone())],
        build: Box::new(move |parts| build(element, &kind, &layout, mutation, parts)),
        data: Box::new(move |seed| data(element, &of_data, count, seed)),
    }
}

fn data(element: &str, kind: &Kind, count: i64, seed: u64) -> (Vec<Vec<u64>>, Vec<u64>) {
    let bits = 8 * crate::kernel::bytes(element) as u32;
    let mask = u64::MAX >> (64 - bits);
    // Numbers, so that they go through files as well; of bytes there are not enough for all to differ.
    let number = |i: i64| {
        let i = (i + seed as i64 % 7) as u64;
        match element {
            "f32" => u64::from((i as f32).to_bits()),
            "f64" => (i as f64).to_bits(),
            // Halves from 1.0 on.
            "f16" => 0x3c00 + i,
            "bf16" => 0x3f80 + i,
            _ => i,
        }
    };
    let given: Vec<u64> = (0..count).map(|i| number(i) & mask).collect();
    let mut expected = given.clone();
    if let Kind::Async {
        predicate: true, ..
    } = kind
    {
        // Half of the threads read nothing, and write zeros.
        let values = values(kind, element);
        for (i, value) in expected.iter_mut().enumerate() {
            if i as i64 / values >= THREADS / 2 {
                *value = 0;
            }
        }
    }
    if let Kind::Reduce { .. } = kind {
        // Twice each number, exactly.
        for value in &mut expected {
            *value = match element {
                "f32" => u64::from((2.0 * f32::from_bits(*value as u32)).to_bits()),
                "f16" => *value + 0x400,
                _ => *value + 0x80,
            };
        }
    }
    (vec![given], expected)
}

fn build(
    element: &str,
    kind: &Kind,
    layout: &str,
    mutation: bool,
    parts: &Parts<'_>,
) -> Result<(), Failure> {
    let b = parts.b;
    let fail = |e: cute_layout::LayoutError| b.error(e.to_string());
    let (mut atom, ty, table) =
        parts.copy_atom(&format!("!cute_nvgpu.atom.{}", kind.text(element)))?;
    if let Kind::Universal { policy: true, .. } | Kind::Async { policy: true, .. } = kind {
        atom = with_policy(b, atom, kind)?;
    }
    let (tv, tiler) = tile(kind, element, &table).map_err(fail)?;
    let tiled = TiledCopy::new(table.clone(), tv.clone(), tiler.clone()).map_err(fail)?;
    let copy = parts.tiled_copy((atom, ty), &tv, &tiler)?;
    // By single elements, as the table says or as a mutated one does.
    let single_tv = if mutation { mutated(&tv) } else { tv.clone() };
    let bits = 8 * crate::kernel::bytes(element) as i64;
    let single = CopyAtom::universal(bits, bits).map_err(fail)?;
    let like =
        |tv: &Layout| TiledCopy::new(single.clone(), tv.clone(), tiler.clone()).map_err(fail);
    let singly = parts.elementwise(element, &like(&single_tv)?)?;

    let count = values(kind, element);
    let align = 128;
    let shared = format!("!cute.memref<{element}, smem, align<{align}>, \"{layout}\">");
    let fragment = || {
        parts.alloca(&format!(
            "!cute.memref<{element}, rmem, \"({count},1,1):(1,0,0)\">"
        ))
    };
    let [from, to] = parts.tensors[..] else {
        return Err(b.error("expected two tensors"));
    };
    match kind {
        Kind::Universal { .. } | Kind::Auto => {
            let (first, second) = (fragment()?, fragment()?);
            let buffer = parts.alloca(&shared)?;
            into(parts, copy, from, first)?;
            out_of(parts, copy, first, buffer)?;
            parts.barrier()?;
            into(parts, copy, buffer, second)?;
            out_of(parts, copy, second, to)
        }
        Kind::Reduce { .. } => {
            let registers = fragment()?;
            into(parts, singly, from, registers)?;
            out_of(parts, singly, registers, to)?;
            out_of(parts, copy, registers, to)
        }
        Kind::Async { predicate, .. } => {
            let buffer = parts.alloca(&shared)?;
            let source = parts.partition('S', copy, from)?;
            let destination = parts.partition('D', copy, buffer)?;
            if *predicate {
                let half = b.i32(THREADS / 2)?;
                let lower = b.compare(cute_arith::Predicate::Slt, parts.index, half)?;
                let at = [("at", b.i64_array(&[0, 0, 0]))];
                b.op(
                    cute::ATOM_COPY,
                    &[copy, source, destination, lower],
                    &[],
                    &at,
                )?;
            } else {
                parts.copy(copy, source, destination)?;
            }
            b.op(nvvm::CP_ASYNC_COMMIT_GROUP, &[], &[], &[])?;
            let all = [("n", b.integer(b.i32_type(), 0))];
            b.op(nvvm::CP_ASYNC_WAIT_GROUP, &[], &[], &all)?;
            parts.barrier()?;
            let registers = fragment()?;
            into(parts, singly, buffer, registers)?;
            out_of(parts, singly, registers, to)
        }
        Kind::Ldmatrix { .. } => {
            let buffer = parts.alloca(&shared)?;
            let (first, second) = (fragment()?, fragment()?);
            let straight = parts.elementwise(element, &like(&straight(count))?)?;
            into(parts, straight, from, first)?;
            out_of(parts, straight, first, buffer)?;
            parts.barrier()?;
            into(parts, copy, buffer, second)?;
            out_of(parts, singly, second, to)
        }
        Kind::Stmatrix { .. } => {
            let buffer = parts.alloca(&shared)?;
            let (first, second) = (fragment()?, fragment()?);
            into(parts, singly, from, first)?;
            out_of(parts, copy, first, buffer)?;
            parts.barrier()?;
            let straight = parts.elementwise(element, &like(&straight(count))?)?;
            into(parts, straight, buffer, second)?;
            out_of(parts, straight, second, to)
        }
        Kind::Movmatrix => {
            let (first, second) = (fragment()?, fragment()?);
            let plain = parts.elementwise(element, &like(&tiled.layout_s_tv().map_err(fail)?)?)?;
            into(parts, plain, from, first)?;
            let source = parts.retile(copy, first)?;
            let destination = parts.retile(copy, second)?;
            parts.copy(copy, source, destination)?;
            out_of(parts, singly, second, to)
        }
    }
}

/// From memory into registers.
fn into<'c>(
    parts: &Parts<'c>,
    copy: Val<'c>,
    from: Val<'c>,
    registers: Val<'c>,
) -> Result<(), Failure> {
    let source = parts.partition('S', copy, from)?;
    let destination = parts.retile(copy, registers)?;
    parts.copy(copy, source, destination)
}

/// From registers into memory.
fn out_of<'c>(
    parts: &Parts<'c>,
    copy: Val<'c>,
    registers: Val<'c>,
    to: Val<'c>,
) -> Result<(), Failure> {
    let source = parts.retile(copy, registers)?;
    let destination = parts.partition('D', copy, to)?;
    parts.copy(copy, source, destination)
}

/// The (thread, value) layout by which a kernel repeats an atom once over a warp, and its tile, which is one column of memory.
fn tile(kind: &Kind, element: &str, table: &CopyAtom) -> cute_layout::Result<(Layout, Tile)> {
    let count = values(kind, element);
    let tv = if kind.is_of_a_thread() {
        straight(count)
    } else {
        table.ref_tv()?
    };
    let tiler = Tile::parse(&format!("[8:1;{}:1]", THREADS * count / 8))?;
    Ok((tv, tiler))
}

/// Each thread's values one after the other.
fn straight(count: i64) -> Layout {
    Layout::parse(&format!("({THREADS},{count}):({count},1)")).expect("a layout")
}

fn with_policy<'c>(b: Builder<'c>, atom: Val<'c>, kind: &Kind) -> Result<Val<'c>, Failure> {
    let family = match kind {
        Kind::Async { .. } => "simt_async",
        _ => "universal",
    };
    let field = b.attribute(&format!(
        "#cute_nvgpu.atom_copy_field_{family}<cache_policy>"
    ))?;
    let policy = b.constant(b.i64_type(), EVICT_FIRST)?;
    b.value(
        cute_nvgpu::ATOM_SET_VALUE,
        &[atom, policy],
        atom.r#type(),
        &[("field", field)],
    )
}

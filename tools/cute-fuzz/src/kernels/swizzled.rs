//! Kernels that carry a matrix through tensors in shared memory, of odd extents, strides and swizzles, in any order of its elements. What
//! comes out is what went in.

use super::text::{Argument, Kernel, Text, condition};
use crate::random::Random;
use cute_layout::Swizzle;

const ELEMENTS: [(&str, i64); 7] = [
    ("f16", 2),
    ("bf16", 2),
    ("f32", 4),
    ("f64", 8),
    ("i8", 1),
    ("i32", 4),
    ("i64", 8),
];

/// A tensor in shared memory, as a type.
fn shared(random: &mut Random, element: (&str, i64), rows: i64, columns: i64) -> String {
    let (name, bytes) = element;
    let (strides, span) = match random.below(3) {
        0 => {
            let pad = random.range(0, 9);
            (format!("(1,{})", rows + pad), (rows + pad) * columns)
        }
        _ => {
            let pad = if random.chance(50) {
                random.range(1, 9)
            } else {
                0
            };
            (format!("({},1)", columns + pad), rows * (columns + pad))
        }
    };
    let layout = format!("\"({rows},{columns}):{strides}\"");
    let unswizzled = format!("!cute.memref<{name}, smem, align<16>, {layout}>");
    if random.chance(25) || span * bytes > 20_000 {
        return unswizzled;
    }
    let bits = random.range(1, 4);
    // Finer than an element it is refused.
    let base = random.range(i64::from(bytes.trailing_zeros()), 6);
    let apart = bits + random.range(0, 2);
    let shift = if random.chance(40) { -apart } else { apart };
    match Swizzle::new(bits, base, shift) {
        Ok(swizzle) => {
            let align = swizzle.period().max(16) << random.below(2);
            format!(
                "!cute.memref<{name}, smem, align<{align}>, S<{bits},{base},{shift}>, {layout}>"
            )
        }
        Err(_) => unswizzled,
    }
}

/// The element that a thread moves when it is its turn to move element `%e`.
fn permuted(text: &mut Text, random: &mut Random, element: &str, size: i64) -> String {
    match random.below(3) {
        0 => element.into(),
        1 => {
            let last = text.i32(size - 1);
            text.value(format!("arith.subi {last}, {element} : i32"))
        }
        _ => {
            let by = text.i32(random.range(1, size));
            let all = text.i32(size);
            let sum = text.value(format!("arith.addi {element}, {by} : i32"));
            text.value(format!("arith.remui {sum}, {all} : i32"))
        }
    }
}

/// Moves the whole matrix from one tensor to another.
fn pass(
    text: &mut Text,
    random: &mut Random,
    from: (&str, &str),
    to: (&str, &str),
    rows: i64,
    columns: i64,
    threads: i64,
) {
    let size = rows * columns;
    let (end, step, width) = (text.i32(size), text.i32(threads), text.i32(columns));
    let i = text.fresh();
    text.open(format!("scf.for {i} = %zero to {end} step {step} : i32 {{"));
    let e = text.value(format!("arith.addi {i}, %t : i32"));
    let inside = text.value(format!("arith.cmpi ult, {e}, {end} : i32"));
    text.open(format!("scf.if {inside} {{"));
    let p = permuted(text, random, &e, size);
    let row = text.value(format!("arith.divui {p}, {width} : i32"));
    let column = text.value(format!("arith.remui {p}, {width} : i32"));
    let at = |text: &mut Text, tensor: &str| {
        // Tensors in global memory have the rows of all blocks.
        let row = match tensor {
            "%X" | "%Y" => text.value(format!("arith.addi %first, {row} : i32")),
            _ => row.clone(),
        };
        text.value(format!(
            "cute.make_coord({row}, {column}) : (i32, i32) -> !cute.coord<\"(?,?)\">"
        ))
    };
    let (source, target) = (at(text, from.0), at(text, to.0));
    let value = text.value(format!(
        "cute.memref.load({}, {source}) : ({}, !cute.coord<\"(?,?)\">) -> !e",
        from.0, from.1
    ));
    text.line(format!(
        "cute.memref.store({}, {target}, {value}) : ({}, !cute.coord<\"(?,?)\">, !e) -> ()",
        to.0, to.1
    ));
    text.close("}");
    text.close("}");
}

/// A kernel of this kind.
pub fn kernel(random: &mut Random) -> Kernel {
    let element = *random.pick(&ELEMENTS);
    let (rows, columns) = (random.range(1, 40), random.range(1, 40));
    let threads = *random.pick(&[32, 64, 96, 128, 256]);
    let blocks = random.range(1, 2);
    let count = 1 + random.below(3);
    let tensors: Vec<String> = (0..count)
        .map(|_| shared(random, element, rows, columns))
        .collect();
    let mut text = Text::default();
    let height = text.i32(rows);
    text.line(format!("%first = arith.muli %bx, {height} : i32"));
    // Those that live at the same time, and those that follow each other.
    let early = random.chance(50);
    let allocate = |text: &mut Text, i: usize| {
        text.line(format!("%s{i} = cute.memref.alloca() : !s{i}"));
    };
    if early {
        (0..count).for_each(|i| allocate(&mut text, i));
    }
    let names: Vec<(String, String)> = std::iter::once(("%X".to_string(), "!X".to_string()))
        .chain((0..count).map(|i| (format!("%s{i}"), format!("!s{i}"))))
        .chain(std::iter::once(("%Y".to_string(), "!X".to_string())))
        .collect();
    for (i, pair) in names.windows(2).enumerate() {
        if !early && i < count {
            allocate(&mut text, i);
        }
        let from = (&*pair[0].0, &*pair[0].1);
        let to = (&*pair[1].0, &*pair[1].1);
        let go = |text: &mut Text, random: &mut Random| {
            self::pass(text, random, from, to, rows, columns, threads);
        };
        match random.below(4) {
            0 => {
                let condition = condition(&mut text, random);
                text.open(format!("scf.if {condition} {{"));
                go(&mut text, random);
                text.between("} else {");
                go(&mut text, random);
                text.close("}");
            }
            _ => go(&mut text, random),
        }
        text.line("gpu.barrier");
    }
    let mut types = format!(
        "!e = {}\n!X = !cute.memref<{}, gmem, align<16>, \"({},{columns}):({columns},1)\">\n",
        element.0,
        element.0,
        rows * blocks
    );
    for (i, tensor) in tensors.iter().enumerate() {
        types += &format!("!s{i} = {tensor}\n");
    }
    Kernel {
        types,
        tensors: vec![Argument::new("X", "!X", ""), Argument::new("Y", "!X", "")],
        numbers: Vec::new(),
        attributes: String::new(),
        body: text.into_string(),
        blocks,
        threads,
        n: random.range(0, 9),
    }
}

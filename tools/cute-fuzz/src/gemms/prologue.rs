//! A random prologue of a factor: what is multiplied, computed of what is stored and of other tensors.

use super::epilogue::{line, modes};
use super::places::nested;
use super::problem::tensor;
use crate::random::Random;
use cute_runtime::Parsed;

/// The part of a product that a prologue is.
pub(super) struct Prologue {
    /// The type of the elements of the factor as they are stored.
    pub(super) stored: &'static str,
    /// The types of further tensors, and their layouts.
    pub(super) tensors: Vec<(String, Parsed)>,
    /// The number that the function takes, with its default: empty where it takes none.
    pub(super) number: String,
    /// Arguments, operations and end of the region.
    pub(super) region: String,
}

/// The operations of a region, each a line.
#[derive(Default)]
struct Body(Vec<String>);

impl Body {
    /// Adds an operation on values, and returns its result.
    fn op(&mut self, text: &str) -> String {
        let name = format!("%v{}", self.0.len());
        self.0.push(format!("{name} = {text}"));
        name
    }

    /// Some of the bits of a byte, as weights that are packed have them; where sums of bytes follow, of numbers that these have room for.
    fn bits(&mut self, random: &mut Random, value: String, is_summed: bool) -> String {
        let mut value = value;
        for _ in 0..random.range(1, 2) {
            let all = [
                ("arith.andi", 15),
                ("arith.andi", 112),
                ("arith.ori", 4),
                ("arith.xori", 85),
                ("arith.shli", 4),
                ("arith.shrsi", 4),
                ("arith.shrui", 4),
                ("arith.divsi", 3),
                ("arith.remsi", 16),
                ("arith.xori", -128),
                ("arith.andi", -16),
            ];
            let large = if is_summed { 2 } else { 0 };
            let (name, by) = *random.pick(&all[..all.len() - large]);
            let by = self.op(&format!("arith.constant {by} : i8"));
            value = self.op(&format!("{name} {value}, {by} : i8"));
        }
        value
    }

    /// A number of one type as one of another.
    fn converted(&mut self, value: &str, from: &str, to: &str) -> String {
        let op = match (from, to) {
            (from, to) if from == to => return value.to_string(),
            ("i8" | "i32", _) => "arith.sitofp",
            ("ui8", _) => return self.op(&format!("arith.uitofp {value} : i8 to {to}")),
            ("f16", "bf16") | ("bf16", "f16") => {
                let wide = self.converted(value, from, "f32");
                return self.converted(&wide, "f32", to);
            }
            (from, to) if bits(from) < bits(to) => "arith.extf",
            _ => "arith.truncf",
        };
        self.op(&format!("{op} {value} : {from} to {to}"))
    }
}

fn bits(ty: &str) -> u32 {
    match ty {
        "f64" => 64,
        "f32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

/// Elements along K that share a number, where they do.
const GROUP: i64 = 32;

/// So many that vectors of bytes are wider.
const SMALL_GROUP: i64 = 8;

/// Rows that share a scale, where they do.
const ROWS: i64 = 16;

/// A tensor with a number for each group of so many along K, and for each row or each group of so many.
fn groups(element: &str, [rows, columns]: [i64; 2], [of_rows, of_k]: [i64; 2]) -> (String, Parsed) {
    let count = rows / of_rows;
    let rows = match of_rows {
        1 => (format!("{rows}"), "1".to_string()),
        _ => (format!("({of_rows},{count})"), "(0,1)".to_string()),
    };
    let layout = format!(
        "({},({of_k},{})):({},(0,{count}))",
        rows.0,
        columns / of_k,
        rows.1
    );
    let ty = format!("!cute.memref<{element}, gmem, align<16>, \"{layout}\">");
    (ty, Parsed::parse(&layout).expect("a layout of a tensor"))
}

/// The type of an argument for elements of a type.
fn argument(element: &str) -> &str {
    match element {
        "ui8" => "i8",
        "tf32" => "f32",
        other => other,
    }
}

/// Types of elements that a factor of this type is made of; none where no region yields it.
fn sources(multiplied: &str) -> &'static [&'static str] {
    match multiplied {
        "f16" | "bf16" => &[
            "i8", "i8", "i8", "ui8", "ui8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2",
        ],
        "f32" => &["i8", "ui8", "f16", "bf16", "f32"],
        "f64" => &["i8", "f32", "f64"],
        "i8" => &["i8"],
        _ => &[],
    }
}

impl Prologue {
    /// A prologue of the factor of this name, of such extents and such a batch, that yields numbers of this type; none where no
    /// region does.
    pub(super) fn new(
        random: &mut Random,
        (factor, multiplied): (&str, &str),
        extents: [i64; 2],
        batch: &[i64],
    ) -> Option<Prologue> {
        let stored = match sources(multiplied) {
            [] => return None,
            all => *random.pick(all),
        };
        let own = (factor, multiplied, stored);
        Some(Prologue::of(random, own, extents, batch, false))
    }

    /// A prologue of elements of 8 bits that yields ones of 16, and reads beside them what is the same along a mode, or in groups.
    pub(super) fn narrow(
        random: &mut Random,
        (factor, multiplied): (&str, &str),
        extents: [i64; 2],
        batch: &[i64],
    ) -> Prologue {
        let stored = *random.pick(&["i8", "i8", "ui8", "f8E4M3FN", "f8E5M2"]);
        let own = (factor, multiplied, stored);
        Prologue::of(random, own, extents, batch, true)
    }

    /// A prologue of elements as they are stored; `is_held` tells whether what it reads beside them is the same along a mode, or in groups.
    fn of(
        random: &mut Random,
        (factor, multiplied, stored): (&str, &str, &'static str),
        extents: [i64; 2],
        batch: &[i64],
        is_held: bool,
    ) -> Prologue {
        // The type that is computed in.
        let ty = match multiplied {
            "i8" => "i8",
            "f64" => "f64",
            "f16" | "bf16" if random.chance(50) => multiplied,
            _ => "f32",
        };
        let (add, sub, mul) = match ty {
            "i8" => ("arith.addi", "arith.subi", "arith.addi"),
            _ => ("arith.addf", "arith.subf", "arith.mulf"),
        };
        let mut body = Body::default();
        let mut value = "%x".to_owned();
        if matches!(stored, "i8" | "ui8") && random.chance(35) {
            value = body.bits(random, value, ty == "i8");
        }
        value = body.converted(&value, stored, ty);
        let mut arguments = vec![format!("%x: {}", argument(stored))];
        let mut tensors = Vec::new();
        // Groups of two sizes are refused.
        let group = *random.pick(&[GROUP, GROUP, SMALL_GROUP]);
        for at in 0..random.below(3) {
            let element = match ty {
                "i8" => "i8",
                "f64" => *random.pick(&["f64", "f32", "i8"]),
                _ => *random.pick(&["f16", "f16", "bf16", "f32", "i8", "ui8"]),
            };
            let [_, columns] = extents;
            let is_grouped =
                columns > 0 && columns % GROUP == 0 && batch.is_empty() && random.chance(20);
            tensors.push(if is_grouped {
                groups(element, extents, [1, group])
            } else if is_held || random.chance(75) {
                line(random, element, extents, batch)
            } else if random.chance(25) {
                nested(random, element, extents, batch, false)
            } else {
                tensor(random, element, extents, batch, false)
            });
            arguments.push(format!("%e{at}: {}", argument(element)));
            let other = body.converted(&format!("%e{at}"), element, ty);
            let name = *random.pick(&[mul, mul, sub, add]);
            value = body.op(&format!("{name} {value}, {other} : {ty}"));
        }
        if random.chance(30) {
            // What is not there would be no 0.
            let constant = if ty == "i8" { "3" } else { "1.5" };
            let constant = body.op(&format!("arith.constant {constant} : {ty}"));
            value = body.op(&format!("{add} {value}, {constant} : {ty}"));
        }
        let mut number = String::new();
        if matches!(ty, "f32" | "f64") && random.chance(30) {
            let name = format!("factor_{}", factor.to_lowercase());
            number =
                format!(", %{name}: {ty} {{cute.name = \"{name}\", cute.default = 0.625 : {ty}}}");
            value = body.op(&format!("{mul} {value}, %{name} : {ty}"));
        }
        let value = body.converted(&value, ty, multiplied);
        let lines: String = body.0.iter().map(|line| format!("    {line}\n")).collect();
        let region = format!(
            "  ^bb0({}):\n{lines}    cute.yield {value} : {multiplied}\n",
            arguments.join(", "),
        );
        Prologue {
            stored,
            tensors,
            number,
            region,
        }
    }

    /// A prologue of the factor of this name, of such extents and such a batch, that yields its elements as they are, and a scale; `may_group` tells whether rows may share one.
    pub(super) fn scaled(
        random: &mut Random,
        (factor, stored): (&str, &'static str),
        (extents, may_group): ([i64; 2], bool),
        batch: &[i64],
    ) -> Prologue {
        let mut body = Body::default();
        let mut arguments = vec![format!("%x: {}", argument(stored))];
        let mut tensors = Vec::new();
        let mut number = String::new();
        let mut scale = None;
        for at in 0..random.below(3) {
            let element = *random.pick(&["f32", "f32", "f16", "i8"]);
            let [rows, columns] = extents;
            let along = [32, 64, 128];
            let along = along.map(|of| (of, columns > 0 && columns % of == 0 && batch.is_empty()));
            let along: Vec<i64> = along
                .iter()
                .filter(|(_, is)| *is)
                .map(|(of, _)| *of)
                .collect();
            tensors.push(match along.is_empty() {
                true => row(element, extents, batch),
                false => {
                    let of_rows = match may_group && rows % ROWS == 0 && random.chance(40) {
                        true => ROWS,
                        false => 1,
                    };
                    groups(element, extents, [of_rows, *random.pick(&along)])
                }
            });
            arguments.push(format!("%e{at}: {element}"));
            let other = body.converted(&format!("%e{at}"), element, "f32");
            scale = Some(match scale {
                Some(before) => body.op(&format!("arith.mulf {before}, {other} : f32")),
                None => other,
            });
        }
        let scale = scale.unwrap_or_else(|| {
            let name = format!("factor_{}", factor.to_lowercase());
            number =
                format!(", %{name}: f32 {{cute.name = \"{name}\", cute.default = 0.625 : f32}}");
            format!("%{name}")
        });
        let lines: String = body.0.iter().map(|line| format!("    {line}\n")).collect();
        let region = format!(
            "  ^bb0({}):\n{lines}    cute.yield %x, {scale} : {}, f32\n",
            arguments.join(", "),
            argument(stored),
        );
        Prologue {
            stored,
            tensors,
            number,
            region,
        }
    }
}

/// A tensor with a number for each row.
fn row(element: &str, [rows, columns]: [i64; 2], batch: &[i64]) -> (String, Parsed) {
    let shape = modes(batch, |extent| extent.to_string());
    let mut next = rows;
    let stride = modes(batch, |extent| {
        let own = next;
        next *= extent;
        own.to_string()
    });
    let layout = format!("({rows},{columns}{shape}):(1,0{stride})");
    let ty = format!("!cute.memref<{element}, gmem, align<16>, \"{layout}\">");
    (ty, Parsed::parse(&layout).expect("a layout of a tensor"))
}

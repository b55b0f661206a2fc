//! Kernels on the tiles of a block: whole-tile copies and products, in branches and loops that the host decides, still to be dealt out to
//! threads. What comes out is the product.

use super::text::{Argument, Kernel, Text, condition, plan};
use crate::random::Random;

/// Writes a step once, or in both branches of a condition, or in one after it was done already, or in a loop of one turn.
fn somewhere(text: &mut Text, random: &mut Random, step: &mut impl FnMut(&mut Text), again: bool) {
    match random.below(8) {
        0 | 1 => {
            let condition = condition(text, random);
            text.open(format!("scf.if {condition} {{"));
            step(text);
            text.between("} else {");
            step(text);
            text.close("}");
        }
        2 if again => {
            step(text);
            let condition = condition(text, random);
            text.open(format!("scf.if {condition} {{"));
            text.between("} else {");
            step(text);
            text.close("}");
        }
        3 if again => {
            step(text);
            let condition = condition(text, random);
            text.open(format!("scf.if {condition} {{"));
            step(text);
            text.close("}");
        }
        4 => {
            let i = text.fresh();
            text.open(format!("scf.for {i} = %zero to %one step %one : i32 {{"));
            step(text);
            text.close("}");
        }
        _ => step(text),
    }
}

/// One step along K: both copies, and the product.
fn step(text: &mut Text, random: &mut Random, k: &str) {
    let at = text.value(format!(
        "cute.make_coord({k}) : (i32) -> !cute.coord<\"(_,_,?)\">"
    ));
    for (operand, from, to) in [("A", "%ga", "%sa"), ("B", "%gb", "%sb")] {
        let mut copy = |text: &mut Text| {
            let tile = text.value(format!(
                "cute.slice({from}, {at}) : !gk, !cute.coord<\"(_,_,?)\">"
            ));
            text.line(format!(
                "cute.block.copy {operand} ({tile}, {to}) : (!g, !s)"
            ));
        };
        somewhere(text, random, &mut copy, true);
    }
    let mut product =
        |text: &mut Text| text.line("cute.block.gemm(%sa, %sb, %acc) : (!s, !s, !acc)");
    somewhere(text, random, &mut product, false);
}

/// A kernel of this kind.
pub fn kernel(random: &mut Random) -> Kernel {
    let warps: (i64, i64) = *random.pick(&[(1, 1), (1, 2), (2, 1)]);
    let steps = random.range(1, 3);
    let stages = random.range(1, 3);
    let swizzle = *random.pick(&["S<2,4,3>, ", ""]);
    let (depth, threads) = (32 * steps, 32 * warps.0 * warps.1);
    let mut text = Text::default();
    text.line("%tile = cute.static : !cute.tile<\"[32:1;32:1]\">");
    text.line("%origin = cute.static : !cute.coord<\"(0,_)\">");
    for (name, from) in [("%ga", "%A"), ("%gb", "%B")] {
        text.line(format!(
            "{name} = cute.local_tile({from}, %tile, %origin) : (!A, !cute.tile<\"[32:1;32:1]\">, !cute.coord<\"(0,_)\">) -> !gk"
        ));
    }
    text.line("%sa = cute.memref.alloca() : !s");
    text.line("%sb = cute.memref.alloca() : !s");
    text.line("%acc = cute.memref.alloca() : !acc");
    text.line("cute.clear(%acc) : (!acc)");
    if random.chance(60) {
        let end = text.i32(steps);
        text.open(format!("scf.for %k = %zero to {end} step %one : i32 {{"));
        step(&mut text, random, "%k");
        text.close(format!("}} {{cute.stages = {stages} : i64}}"));
    } else {
        for k in 0..steps {
            let k = text.i32(k);
            step(&mut text, random, &k);
        }
    }
    text.line("%half = cute.convert(%acc) : (!acc) -> !half");
    text.line("%sc = cute.memref.alloca() : !s");
    let mut down = |text: &mut Text| text.line("cute.block.copy C (%half, %sc) : (!half, !s)");
    somewhere(&mut text, random, &mut down, true);
    let mut out = |text: &mut Text| text.line("cute.block.copy C (%sc, %C) : (!s, !C)");
    somewhere(&mut text, random, &mut out, true);
    let types = format!(
        "!A = !cute.memref<f16, gmem, align<16>, \"(32,{depth}):({depth},1)\">\n!C = !cute.memref<f16, gmem, align<16>, \"(32,32):(32,1)\">\n\
         !gk = !cute.memref<f16, gmem, align<16>, \"(32,32,{steps}):({depth},1,{along})\">\n!g = !cute.memref<f16, gmem, align<16>, \"(32,32):({depth},1)\">\n\
         !s = !cute.memref<f16, smem, align<512>, {swizzle}\"(32,32):(32,1)\">\n!acc = !cute.memref<f32, rmem, \"(32,32):(32,1)\">\n\
         !half = !cute.memref<f16, rmem, \"(32,32):(32,1)\">\n",
        along = if steps == 1 { 0 } else { 32 }
    );
    let attributes = format!("cute.plan = {}, ", plan(warps, stages, swizzle));
    Kernel {
        types,
        tensors: vec![
            Argument::new("A", "!A", ""),
            Argument::new("B", "!A", ""),
            Argument::new("C", "!C", ""),
        ],
        numbers: Vec::new(),
        attributes,
        body: text.into_string(),
        blocks: 1,
        threads,
        n: random.range(0, 9),
    }
}

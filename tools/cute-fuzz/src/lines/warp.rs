//! Instructions of several lanes of a warp, for all lanes or for those of a mask.

use super::program::Program;
use super::registers::{P, R};
use crate::random::Random;

/// Adds an instruction of the lanes of a mask, which are those that are here; of all lanes where there is none. What is read of
/// another lane is read of one that takes part.
pub fn emit(program: &mut Program, random: &mut Random, mask: Option<&str>) {
    let (d, a, b) = (random.below(R), random.below(R), random.below(R));
    let (p, q) = (random.below(P), random.below(P));
    let m = mask.unwrap_or("-1");
    match random.below(if mask.is_some() { 8 } else { 11 }) {
        0 => program.step(format!("vote.sync.ballot.b32 %r{d}, %p{p}, {m}")),
        1 => {
            let name = random.pick(&["any", "all", "uni"]);
            program.step(format!("vote.sync.{name}.pred %p{p}, %p{q}, {m}"));
        }
        2 => program.step(format!("match.any.sync.b32 %r{d}, %r{a}, {m}")),
        3 => program.step(format!("match.all.sync.b32 %r{d}|%p{p}, %r{a}, {m}")),
        4 => {
            let name = random.pick(&["add.s32", "min.u32", "max.s32", "and.b32", "xor.b32"]);
            program.step(format!("redux.sync.{name} %r{d}, %r{a}, {m}"));
        }
        5 => {
            // Which others are active is open, but the thread itself is.
            program.plain("activemask.b32 %a5;\nmov.u32 %a6, %lanemask_eq;");
            program.step(format!("and.b32 %r{d}, %a5, %a6"));
        }
        6 => {
            program.step(format!("mov.b32 %a5, {m}"));
            program.step("bfind.u32 %a5, %a5");
            program.step(format!(
                "shfl.sync.idx.b32 %r{d}|%p{p}, %r{a}, %a5, 31, {m}"
            ));
        }
        7 => {
            // The lane that a register names if it is here, else the thread's own.
            program.step(format!("and.b32 %a5, %r{b}, 31"));
            program.step(format!("mov.b32 %a6, {m}"));
            program.step("shr.u32 %a6, %a6, %a5");
            program.step("and.b32 %a6, %a6, 1");
            program.step("setp.ne.u32 %q1, %a6, 0");
            program.step("mov.u32 %a6, %laneid");
            program.step("selp.b32 %a5, %a5, %a6, %q1");
            program.step(format!(
                "shfl.sync.idx.b32 %r{d}|%p{p}, %r{a}, %a5, 31, {m}"
            ));
        }
        8 => program.step(format!(
            "shfl.sync.bfly.b32 %r{d}|%p{p}, %r{a}, %r{b}, 31, {m}"
        )),
        9 => {
            let (name, clamp) = *random.pick(&[("up", 0), ("down", 31)]);
            let lanes = random.below(32);
            program.step(format!(
                "shfl.sync.{name}.b32 %r{d}|%p{p}, %r{a}, {lanes}, {clamp}, {m}"
            ));
        }
        _ => {
            let segment = 31 | (256 * random.pick(&[0, 16, 24]));
            program.step(format!(
                "shfl.sync.idx.b32 %r{d}, %r{a}, %r{b}, {segment}, {m}"
            ));
        }
    }
}

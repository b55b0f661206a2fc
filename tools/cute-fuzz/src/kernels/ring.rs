//! Kernels that carry rows of a matrix through a ring of buffers: asynchronous copies fill it, other threads read it. Tokens say all that
//! must be waited for, through loops and branches, beside groups and barriers that have nothing to do with it. What comes out is what
//! went in.

use super::text::{Kernel, Text, condition};
use crate::random::Random;
use std::collections::VecDeque;

/// A ring of buffers while a kernel is written.
struct Ring {
    text: Text,
    stages: i64,
    /// Elements of a row, and of a thread's vector.
    row: i64,
    vector: i64,
    /// Iterations that were produced, and consumed.
    produced: i64,
    consumed: i64,
    /// Tokens of buffers that are filled, and of those that are free, the oldest first.
    full: VecDeque<String>,
    free: VecDeque<String>,
}

impl Ring {
    /// Fills the buffer of an iteration.
    fn produce(&mut self, iteration: &str, free: &str) -> String {
        let text = &mut self.text;
        let stages = self.stages;
        let slot = text.value(format!(
            "cute.pipeline.producer_acquire(%p, {free}, {iteration}) : !cute.pipeline<{stages}>"
        ));
        let to = slice(text, &slot);
        let row = text.value(format!("arith.addi %first, {iteration} : i32"));
        let at = text.value(format!(
            "cute.make_coord({row}) : (i32) -> !cute.coord<\"(?,_)\">"
        ));
        let from = text.value(format!("cute.slice(%X, {at}) : !X, !cute.coord<\"(?,_)\">"));
        let source = text.value(format!(
            "cute.tiled.copy.partition_S(%copy, {from}, %thread) : (!copy, !row, !cute.coord<\"?\">) -> !from"
        ));
        let target = text.value(format!(
            "cute.tiled.copy.partition_D(%copy, {to}, %thread) : (!copy, !slot, !cute.coord<\"?\">) -> !to"
        ));
        text.line(format!(
            "cute.copy(%copy, {source}, {target}) : (!copy, !from, !to)"
        ));
        text.value(format!(
            "cute.pipeline.producer_commit(%p) : !cute.pipeline<{stages}>"
        ))
    }

    /// Reads the buffer of an iteration, each thread what others have copied.
    fn consume(&mut self, iteration: &str, full: &str, random: &mut Random) -> String {
        let (stages, row, vector) = (self.stages, self.row, self.vector);
        let text = &mut self.text;
        let slot = text.value(format!(
            "cute.pipeline.consumer_wait(%p, {full}, {iteration}) : !cute.pipeline<{stages}>"
        ));
        let buffer = slice(text, &slot);
        let line = text.value(format!("arith.addi %first, {iteration} : i32"));
        let shift = text.i32(random.range(1, row - 1));
        let (width, end) = (text.i32(vector), text.i32(row));
        let begin = text.value(format!("arith.muli %t, {width} : i32"));
        let i = text.fresh();
        text.open(format!("scf.for {i} = %zero to {width} step %one : i32 {{"));
        let sum = text.value(format!("arith.addi {begin}, {i} : i32"));
        let sum = text.value(format!("arith.addi {sum}, {shift} : i32"));
        let column = text.value(format!("arith.remui {sum}, {end} : i32"));
        let at = text.value(format!(
            "cute.make_coord({column}) : (i32) -> !cute.coord<\"?\">"
        ));
        let value = text.value(format!(
            "cute.memref.load({buffer}, {at}) : (!slot, !cute.coord<\"?\">) -> !e"
        ));
        let to = text.value(format!(
            "cute.make_coord({line}, {column}) : (i32, i32) -> !cute.coord<\"(?,?)\">"
        ));
        text.line(format!(
            "cute.memref.store(%Y, {to}, {value}) : (!X, !cute.coord<\"(?,?)\">, !e) -> ()"
        ));
        text.close("}");
        text.value(format!(
            "cute.pipeline.consumer_release(%p) : !cute.pipeline<{stages}>"
        ))
    }

    /// Either, in both branches of a condition, as often as not.
    fn branched(
        &mut self,
        random: &mut Random,
        fills: bool,
        iteration: &str,
        token: &str,
    ) -> String {
        let one = |ring: &mut Ring, random: &mut Random| {
            noise(&mut ring.text, random, 1);
            let token = match fills {
                true => ring.produce(iteration, token),
                false => ring.consume(iteration, token, random),
            };
            noise(&mut ring.text, random, 1);
            token
        };
        if random.chance(75) {
            return one(self, random);
        }
        let condition = condition(&mut self.text, random);
        let result = self.text.fresh();
        self.text
            .open(format!("{result} = scf.if {condition} -> (!cute.token) {{"));
        let token = one(self, random);
        self.text.line(format!("scf.yield {token} : !cute.token"));
        self.text.between("} else {");
        let token = one(self, random);
        self.text.line(format!("scf.yield {token} : !cute.token"));
        self.text.close("}");
        result
    }

    fn produce_next(&mut self, random: &mut Random) {
        let iteration = self.text.i32(self.produced);
        let Some(free) = self.free.pop_front() else {
            return;
        };
        let full = self.branched(random, true, &iteration, &free);
        self.full.push_back(full);
        self.produced += 1;
    }

    fn consume_next(&mut self, random: &mut Random) {
        let iteration = self.text.i32(self.consumed);
        let Some(full) = self.full.pop_front() else {
            return;
        };
        let free = self.branched(random, false, &iteration, &full);
        self.free.push_back(free);
        self.consumed += 1;
    }

    /// A loop that fills one buffer and reads one in each iteration, and carries all tokens.
    fn rotate(&mut self, random: &mut Random, n: i64) {
        if self.free.is_empty() && self.full.is_empty() {
            return;
        }
        // The host knows how often.
        let dynamic = random.chance(50);
        let trips = if dynamic { n } else { random.range(0, 4) };
        let bound = if dynamic {
            "%n".to_string()
        } else {
            self.text.i32(trips)
        };
        let (produced, consumed) = (self.text.i32(self.produced), self.text.i32(self.consumed));
        let tokens: Vec<String> = self.full.iter().chain(&self.free).cloned().collect();
        let inner: Vec<String> = tokens.iter().map(|_| self.text.fresh()).collect();
        let result = self.text.fresh();
        let types = vec!["!cute.token"; tokens.len()].join(", ");
        let given: Vec<String> = inner
            .iter()
            .zip(&tokens)
            .map(|(i, t)| format!("{i} = {t}"))
            .collect();
        let i = self.text.fresh();
        let is_while = random.chance(15);
        let count = tokens.len();
        if is_while {
            self.text.open(format!(
                "{result}:{} = scf.while ({i} = %zero, {}) : (i32, {types}) -> (i32, {types}) {{",
                count + 1,
                given.join(", ")
            ));
            let more = self
                .text
                .value(format!("arith.cmpi slt, {i}, {bound} : i32"));
            self.text.line(format!(
                "scf.condition({more}) {i}, {} : i32, {types}",
                inner.join(", ")
            ));
            self.text.between("} do {");
            let arguments: Vec<String> =
                inner.iter().map(|t| format!("{t}w: !cute.token")).collect();
            self.text
                .line(format!("^bb0({i}w: i32, {}):", arguments.join(", ")));
        } else {
            self.text.open(format!(
                "{result}:{count} = scf.for {i} = %zero to {bound} step %one iter_args({}) -> ({types}) : i32 {{",
                given.join(", ")
            ));
        }
        let suffix = if is_while { "w" } else { "" };
        let i = format!("{i}{suffix}");
        let mut full: VecDeque<String> = inner[..self.full.len()]
            .iter()
            .map(|t| format!("{t}{suffix}"))
            .collect();
        let mut free: VecDeque<String> = inner[self.full.len()..]
            .iter()
            .map(|t| format!("{t}{suffix}"))
            .collect();
        noise(&mut self.text, random, 1);
        let fills = |ring: &mut Ring,
                     random: &mut Random,
                     full: &mut VecDeque<String>,
                     free: &mut VecDeque<String>| {
            let at = ring.text.value(format!("arith.addi {i}, {produced} : i32"));
            if let Some(token) = free.pop_front() {
                full.push_back(ring.branched(random, true, &at, &token));
            }
        };
        let reads = |ring: &mut Ring,
                     random: &mut Random,
                     full: &mut VecDeque<String>,
                     free: &mut VecDeque<String>| {
            let at = ring.text.value(format!("arith.addi {i}, {consumed} : i32"));
            if let Some(token) = full.pop_front() {
                free.push_back(ring.branched(random, false, &at, &token));
            }
        };
        if free.is_empty() || (!full.is_empty() && random.chance(50)) {
            reads(self, random, &mut full, &mut free);
            fills(self, random, &mut full, &mut free);
        } else {
            fills(self, random, &mut full, &mut free);
            reads(self, random, &mut full, &mut free);
        }
        noise(&mut self.text, random, 1);
        let yielded: Vec<String> = full.iter().chain(&free).cloned().collect();
        if is_while {
            let next = self.text.value(format!("arith.addi {i}, %one : i32"));
            self.text.line(format!(
                "scf.yield {next}, {} : i32, {types}",
                yielded.join(", ")
            ));
        } else {
            self.text
                .line(format!("scf.yield {} : {types}", yielded.join(", ")));
        }
        self.text.close("}");
        let from = usize::from(is_while);
        let results: Vec<String> = (0..count)
            .map(|k| match count + from {
                1 => result.clone(),
                _ => format!("{result}#{}", k + from),
            })
            .collect();
        self.full = results[..self.full.len()].iter().cloned().collect();
        self.free = results[self.full.len()..].iter().cloned().collect();
        self.produced += trips;
        self.consumed += trips;
    }
}

/// The buffer of a slot.
fn slice(text: &mut Text, slot: &str) -> String {
    let at = text.value(format!(
        "cute.make_coord({slot}) : (i32) -> !cute.coord<\"(_,?)\">"
    ));
    text.value(format!("cute.slice(%s, {at}) : !s, !cute.coord<\"(_,?)\">"))
}

/// Groups and barriers that nobody asked for: in branches that need not be taken, and in loops that need not run.
fn noise(text: &mut Text, random: &mut Random, depth: usize) {
    if !random.chance(35) {
        return;
    }
    let leaf = random.pick(&["nvvm.cp.async.commit.group", "gpu.barrier"]);
    match random.below(if depth > 2 { 2 } else { 7 }) {
        0 => text.line(leaf),
        1 => {
            text.line("gpu.barrier");
            text.line("nvvm.cp.async.commit.group");
        }
        2 | 3 => {
            let condition = condition(text, random);
            text.open(format!("scf.if {condition} {{"));
            if random.chance(60) {
                text.line(leaf);
            }
            noise(text, random, depth + 1);
            text.close("}");
        }
        4 => {
            let condition = condition(text, random);
            text.open(format!("scf.if {condition} {{"));
            noise(text, random, depth + 1);
            text.between("} else {");
            text.line(leaf);
            noise(text, random, depth + 1);
            text.close("}");
        }
        5 => {
            let from = text.i32(random.range(0, 9));
            let i = text.fresh();
            text.open(format!("scf.for {i} = {from} to %n step %one : i32 {{"));
            text.line(leaf);
            noise(text, random, depth + 1);
            text.close("}");
        }
        _ => {
            let i = text.fresh();
            let from = text.i32(random.range(0, 9));
            let result = text.fresh();
            text.open(format!(
                "{result} = scf.while ({i} = {from}) : (i32) -> i32 {{"
            ));
            if random.chance(30) {
                text.line(leaf);
            }
            let more = text.value(format!("arith.cmpi slt, {i}, %n : i32"));
            text.line(format!("scf.condition({more}) {i} : i32"));
            text.between("} do {");
            text.line(format!("^bb0({i}w: i32):"));
            text.line(leaf);
            let next = text.value(format!("arith.addi {i}w, %one : i32"));
            text.line(format!("scf.yield {next} : i32"));
            text.close("}");
        }
    }
}

/// A kernel of this kind.
pub fn kernel(random: &mut Random) -> Kernel {
    let (element, vector) = *random.pick(&[("f32", 4), ("f16", 8), ("i32", 4)]);
    let threads = *random.pick(&[32, 64, 128]);
    let stages = random.range(1, 4);
    let row = threads * vector;
    let n = random.range(0, 6);
    let mut text = Text::default();
    text.line("%thread = cute.make_coord(%t) : (i32) -> !cute.coord<\"?\">");
    text.line("%atom = cute.make_atom() : () -> !atom");
    text.line("%copy = cute.make_tiled_copy(%atom) : !copy");
    text.line("%s = cute.memref.alloca() : !s");
    text.line(format!(
        "%p, %free = cute.pipeline.create : !cute.pipeline<{stages}>, !cute.token"
    ));
    let mut ring = Ring {
        text,
        stages,
        row,
        vector,
        produced: 0,
        consumed: 0,
        full: VecDeque::new(),
        free: vec!["%free".to_string(); stages as usize].into(),
    };
    for _ in 0..random.range(2, 9) {
        noise(&mut ring.text, random, 0);
        match random.below(6) {
            0..=2 => ring.produce_next(random),
            3 | 4 => ring.consume_next(random),
            _ => ring.rotate(random, n),
        }
    }
    while !ring.full.is_empty() {
        ring.consume_next(random);
    }
    if ring.produced == 0 {
        ring.produce_next(random);
        ring.consume_next(random);
    }
    ring.text.line(format!(
        "cute.pipeline.producer_tail(%p) : !cute.pipeline<{stages}>"
    ));
    let rows = ring.produced;
    let blocks = random.range(1, 2);
    let types = format!(
        "!e = {element}\n!X = !cute.memref<{element}, gmem, align<16>, \"({all},{row}):({row},1)\">\n\
         !row = !cute.memref<{element}, gmem, align<16>, \"({row}):(1)\">\n!s = !cute.memref<{element}, smem, align<16>, \"({row},{stages}):(1,{row})\">\n\
         !slot = !cute.memref<{element}, smem, align<16>, \"({row}):(1)\">\n\
         !atom = !cute_nvgpu.atom.simt_async_copy<{element}, cache = global, 128 b>\n\
         !copy = !cute.tiled_copy<!atom, layout_copy_tv = <\"({threads},{vector}):({vector},1)\">, tiler_mn = <\"[{row}:1]\">>\n\
         !from = !cute.memref<{element}, gmem, align<16>, \"(({vector},1),1):((1,0),0)\">\n\
         !to = !cute.memref<{element}, smem, align<16>, \"(({vector},1),1):((1,0),0)\">\n",
        all = rows * blocks
    );
    let mut body =
        format!("%rows = arith.constant {rows} : i32\n%first = arith.muli %bx, %rows : i32\n");
    body += &ring.text.into_string();
    Kernel {
        types,
        tensors: vec![("X", "!X"), ("Y", "!X")],
        attributes: String::new(),
        body,
        blocks,
        threads,
        n,
    }
}

//! Kernels that carry rows of a matrix through a ring of buffers, or of several matrices through as many: copies fill it, other threads
//! read it. Tokens say all that must be waited for, through loops and branches, beside groups and barriers that have nothing to do with
//! it. What comes out is what went in.

use super::text::{Argument, Kernel, Text, condition};
use crate::random::Random;
use std::collections::VecDeque;

/// A ring of buffers while a kernel is written. Its types, its tensors and what copies into it have names that end in its own.
pub struct Ring {
    name: String,
    element: &'static str,
    stages: i64,
    /// Asynchronous copies fill it, else stores.
    is_asynchronous: bool,
    /// Elements of a row, and of a thread's vector.
    row: i64,
    vector: i64,
    /// Iterations that were produced, and consumed.
    pub produced: i64,
    consumed: i64,
    /// Tokens of buffers that are filled, and of those that are free, the oldest first.
    pub full: VecDeque<String>,
    free: VecDeque<String>,
}

/// The tokens of a ring within a loop.
type Tokens = (VecDeque<String>, VecDeque<String>);

impl Ring {
    /// A ring, all of whose buffers are free.
    pub fn new(
        name: &str,
        (element, vector): (&'static str, i64),
        threads: i64,
        stages: i64,
        is_asynchronous: bool,
    ) -> Ring {
        Ring {
            name: name.into(),
            element,
            stages,
            is_asynchronous,
            row: threads * vector,
            vector,
            produced: 0,
            consumed: 0,
            full: VecDeque::new(),
            free: vec![format!("%free{name}"); stages as usize].into(),
        }
    }

    fn pipeline(&self) -> String {
        let manner = if self.is_asynchronous {
            ""
        } else {
            ", immediate"
        };
        format!("!cute.pipeline<{}{manner}>", self.stages)
    }

    /// The text at the start of a kernel.
    pub fn begin(&self, text: &mut Text) {
        let (name, pipeline) = (&self.name, self.pipeline());
        text.line(format!(
            "%atom{name} = cute.make_atom() : () -> !atom{name}"
        ));
        text.line(format!(
            "%copy{name} = cute.make_tiled_copy(%atom{name}) : !copy{name}"
        ));
        text.line(format!("%s{name} = cute.memref.alloca() : !s{name}"));
        text.line(format!(
            "%p{name}, %free{name} = cute.pipeline.create : {pipeline}, !cute.token"
        ));
    }

    /// The text at the end of a kernel.
    pub fn end(&self, text: &mut Text) {
        let (name, pipeline) = (&self.name, self.pipeline());
        text.line(format!(
            "cute.pipeline.producer_tail(%p{name}) : {pipeline}"
        ));
    }

    /// The types, for so many rows.
    pub fn types(&self, threads: i64, rows: i64) -> String {
        let Ring {
            name,
            element,
            stages,
            row,
            vector,
            ..
        } = self;
        let atom = if self.is_asynchronous {
            format!("simt_async_copy<{element}, cache = global, 128 b>")
        } else {
            format!("universal_copy<{element}, 128 b>")
        };
        format!(
            "!e{name} = {element}\n!X{name} = !cute.memref<{element}, gmem, align<16>, \"({rows},{row}):({row},1)\">\n\
             !row{name} = !cute.memref<{element}, gmem, align<16>, \"({row}):(1)\">\n!s{name} = !cute.memref<{element}, smem, align<16>, \"({row},{stages}):(1,{row})\">\n\
             !slot{name} = !cute.memref<{element}, smem, align<16>, \"({row}):(1)\">\n\
             !atom{name} = !cute_nvgpu.atom.{atom}\n\
             !copy{name} = !cute.tiled_copy<!atom{name}, layout_copy_tv = <\"({threads},{vector}):({vector},1)\">, tiler_mn = <\"[{row}:1]\">>\n\
             !from{name} = !cute.memref<{element}, gmem, align<16>, \"(({vector},1),1):((1,0),0)\">\n\
             !to{name} = !cute.memref<{element}, smem, align<16>, \"(({vector},1),1):((1,0),0)\">\n"
        )
    }

    /// The tensors: the rows that go in, and those that come out.
    pub fn tensors(&self) -> [Argument; 2] {
        ["X", "Y"].map(|tensor| {
            let name = &self.name;
            Argument::new(format!("{tensor}{name}"), format!("!X{name}"), "")
        })
    }

    /// The block's first row.
    pub fn first(&self) -> String {
        let (name, rows) = (&self.name, self.produced);
        format!(
            "%rows{name} = arith.constant {rows} : i32\n%first{name} = arith.muli %bx, %rows{name} : i32\n"
        )
    }

    /// Fills the buffer of an iteration.
    fn produce(&self, text: &mut Text, iteration: &str, free: &str) -> String {
        let (name, pipeline) = (&self.name, self.pipeline());
        let slot = text.value(format!(
            "cute.pipeline.producer_acquire(%p{name}, {free}, {iteration}) : {pipeline}"
        ));
        let to = self.slice(text, &slot);
        let row = text.value(format!("arith.addi %first{name}, {iteration} : i32"));
        let at = text.value(format!(
            "cute.make_coord({row}) : (i32) -> !cute.coord<\"(?,_)\">"
        ));
        let from = text.value(format!(
            "cute.slice(%X{name}, {at}) : !X{name}, !cute.coord<\"(?,_)\">"
        ));
        let source = text.value(format!(
            "cute.tiled.copy.partition_S(%copy{name}, {from}, %thread) : (!copy{name}, !row{name}, !cute.coord<\"?\">) -> !from{name}"
        ));
        let target = text.value(format!(
            "cute.tiled.copy.partition_D(%copy{name}, {to}, %thread) : (!copy{name}, !slot{name}, !cute.coord<\"?\">) -> !to{name}"
        ));
        text.line(format!(
            "cute.copy(%copy{name}, {source}, {target}) : (!copy{name}, !from{name}, !to{name})"
        ));
        text.value(format!(
            "cute.pipeline.producer_commit(%p{name}) : {pipeline}"
        ))
    }

    /// Reads the buffer of an iteration, each thread what others have copied.
    fn consume(&self, text: &mut Text, iteration: &str, full: &str, random: &mut Random) -> String {
        let (row, vector) = (self.row, self.vector);
        let (name, pipeline) = (&self.name, self.pipeline());
        let slot = text.value(format!(
            "cute.pipeline.consumer_wait(%p{name}, {full}, {iteration}) : {pipeline}"
        ));
        let buffer = self.slice(text, &slot);
        let line = text.value(format!("arith.addi %first{name}, {iteration} : i32"));
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
            "cute.memref.load({buffer}, {at}) : (!slot{name}, !cute.coord<\"?\">) -> !e{name}"
        ));
        let to = text.value(format!(
            "cute.make_coord({line}, {column}) : (i32, i32) -> !cute.coord<\"(?,?)\">"
        ));
        text.line(format!(
            "cute.memref.store(%Y{name}, {to}, {value}) : (!X{name}, !cute.coord<\"(?,?)\">, !e{name}) -> ()"
        ));
        text.close("}");
        text.value(format!(
            "cute.pipeline.consumer_release(%p{name}) : {pipeline}"
        ))
    }

    /// The buffer of a slot.
    fn slice(&self, text: &mut Text, slot: &str) -> String {
        let name = &self.name;
        let at = text.value(format!(
            "cute.make_coord({slot}) : (i32) -> !cute.coord<\"(_,?)\">"
        ));
        text.value(format!(
            "cute.slice(%s{name}, {at}) : !s{name}, !cute.coord<\"(_,?)\">"
        ))
    }

    /// Either, in both branches of a condition, as often as not.
    fn branched(
        &self,
        text: &mut Text,
        random: &mut Random,
        fills: bool,
        iteration: &str,
        token: &str,
    ) -> String {
        let one = |text: &mut Text, random: &mut Random| {
            noise(text, random, 1);
            let token = match fills {
                true => self.produce(text, iteration, token),
                false => self.consume(text, iteration, token, random),
            };
            noise(text, random, 1);
            token
        };
        if random.chance(75) {
            return one(text, random);
        }
        let condition = condition(text, random);
        let result = text.fresh();
        text.open(format!("{result} = scf.if {condition} -> (!cute.token) {{"));
        let token = one(text, random);
        text.line(format!("scf.yield {token} : !cute.token"));
        text.between("} else {");
        let token = one(text, random);
        text.line(format!("scf.yield {token} : !cute.token"));
        text.close("}");
        result
    }

    /// Fills the next buffer, if one is free.
    pub fn produce_next(&mut self, text: &mut Text, random: &mut Random) {
        let iteration = text.i32(self.produced);
        let Some(free) = self.free.pop_front() else {
            return;
        };
        let full = self.branched(text, random, true, &iteration, &free);
        self.full.push_back(full);
        self.produced += 1;
    }

    /// Reads the oldest buffer that is filled, if one is.
    pub fn consume_next(&mut self, text: &mut Text, random: &mut Random) {
        let iteration = text.i32(self.consumed);
        let Some(full) = self.full.pop_front() else {
            return;
        };
        let free = self.branched(text, random, false, &iteration, &full);
        self.free.push_back(free);
        self.consumed += 1;
    }

    /// The work of a turn of a loop: it fills a buffer and reads one, in an order that the tokens allow.
    fn turn(
        &self,
        text: &mut Text,
        random: &mut Random,
        (full, free): &mut Tokens,
        i: &str,
        (produced, consumed): &(String, String),
    ) {
        let reads_first = free.is_empty() || (!full.is_empty() && random.chance(50));
        for fills in [!reads_first, reads_first] {
            let first = if fills { produced } else { consumed };
            let at = text.value(format!("arith.addi {i}, {first} : i32"));
            let (from, to) = if fills {
                (&mut *free, &mut *full)
            } else {
                (&mut *full, &mut *free)
            };
            if let Some(token) = from.pop_front() {
                to.push_back(self.branched(text, random, fills, &at, &token));
            }
        }
    }
}

/// A loop that fills one buffer and reads one of each ring in each iteration, and carries all tokens.
pub fn rotate(text: &mut Text, rings: &mut [Ring], random: &mut Random, n: i64) {
    // The host knows how often.
    let dynamic = random.chance(50);
    let trips = if dynamic { n } else { random.range(0, 4) };
    let bound = if dynamic {
        "%n".to_string()
    } else {
        text.i32(trips)
    };
    let first: Vec<(String, String)> = rings
        .iter()
        .map(|ring| (text.i32(ring.produced), text.i32(ring.consumed)))
        .collect();
    let tokens: Vec<String> = rings
        .iter()
        .flat_map(|ring| ring.full.iter().chain(&ring.free).cloned())
        .collect();
    let inner: Vec<String> = tokens.iter().map(|_| text.fresh()).collect();
    let result = text.fresh();
    let types = vec!["!cute.token"; tokens.len()].join(", ");
    let given: Vec<String> = inner
        .iter()
        .zip(&tokens)
        .map(|(i, t)| format!("{i} = {t}"))
        .collect();
    let i = text.fresh();
    let is_while = random.chance(15);
    let count = tokens.len();
    if is_while {
        text.open(format!(
            "{result}:{} = scf.while ({i} = %zero, {}) : (i32, {types}) -> (i32, {types}) {{",
            count + 1,
            given.join(", ")
        ));
        let more = text.value(format!("arith.cmpi slt, {i}, {bound} : i32"));
        text.line(format!(
            "scf.condition({more}) {i}, {} : i32, {types}",
            inner.join(", ")
        ));
        text.between("} do {");
        let arguments: Vec<String> = inner.iter().map(|t| format!("{t}w: !cute.token")).collect();
        text.line(format!("^bb0({i}w: i32, {}):", arguments.join(", ")));
    } else {
        text.open(format!(
            "{result}:{count} = scf.for {i} = %zero to {bound} step %one iter_args({}) -> ({types}) : i32 {{",
            given.join(", ")
        ));
    }
    let suffix = if is_while { "w" } else { "" };
    let i = format!("{i}{suffix}");
    let names = inner.iter().map(|t| format!("{t}{suffix}"));
    let mut within = dealt(rings, names);
    noise(text, random, 1);
    for ((ring, tokens), first) in rings.iter().zip(&mut within).zip(&first) {
        ring.turn(text, random, tokens, &i, first);
    }
    noise(text, random, 1);
    let yielded: Vec<String> = within
        .iter()
        .flat_map(|(full, free)| full.iter().chain(free).cloned())
        .collect();
    if is_while {
        let next = text.value(format!("arith.addi {i}, %one : i32"));
        text.line(format!(
            "scf.yield {next}, {} : i32, {types}",
            yielded.join(", ")
        ));
    } else {
        text.line(format!("scf.yield {} : {types}", yielded.join(", ")));
    }
    text.close("}");
    let from = usize::from(is_while);
    let results = (0..count).map(|k| match count + from {
        1 => result.clone(),
        _ => format!("{result}#{}", k + from),
    });
    let behind = dealt(rings, results);
    for (ring, (full, free)) in rings.iter_mut().zip(behind) {
        (ring.full, ring.free) = (full, free);
        ring.produced += trips;
        ring.consumed += trips;
    }
}

/// Names of tokens by ring: of each those of its full buffers, then those of its free ones.
fn dealt(rings: &[Ring], mut names: impl Iterator<Item = String>) -> Vec<Tokens> {
    let deal = |ring: &Ring| {
        let full = names.by_ref().take(ring.full.len()).collect();
        let free = names.by_ref().take(ring.free.len()).collect();
        (full, free)
    };
    rings.iter().map(deal).collect()
}

/// Groups and barriers that nobody asked for: in branches that need not be taken, and in loops that need not run.
pub fn noise(text: &mut Text, random: &mut Random, depth: usize) {
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
    let kind = *random.pick(&[("f32", 4), ("f16", 8), ("i32", 4)]);
    let threads = *random.pick(&[32, 64, 128]);
    let stages = random.range(1, 4);
    let n = random.range(0, 6);
    let mut text = Text::default();
    text.line("%thread = cute.make_coord(%t) : (i32) -> !cute.coord<\"?\">");
    let mut rings = [Ring::new("", kind, threads, stages, true)];
    rings[0].begin(&mut text);
    for _ in 0..random.range(2, 9) {
        noise(&mut text, random, 0);
        match random.below(6) {
            0..=2 => rings[0].produce_next(&mut text, random),
            3 | 4 => rings[0].consume_next(&mut text, random),
            _ => rotate(&mut text, &mut rings, random, n),
        }
    }
    finish(text, rings.into(), random, threads, n).0
}

/// The kernel of what was written, and how many elements the tensors of each ring have: what is still full is read, and each ring comes
/// to its end.
pub fn finish(
    mut text: Text,
    mut rings: Vec<Ring>,
    random: &mut Random,
    threads: i64,
    n: i64,
) -> (Kernel, Vec<i64>) {
    for ring in &mut rings {
        while !ring.full.is_empty() {
            ring.consume_next(&mut text, random);
        }
        if ring.produced == 0 {
            ring.produce_next(&mut text, random);
            ring.consume_next(&mut text, random);
        }
        ring.end(&mut text);
    }
    let blocks = random.range(1, 2);
    let types = rings
        .iter()
        .map(|ring| ring.types(threads, ring.produced * blocks));
    let firsts: String = rings.iter().map(Ring::first).collect();
    let sizes = rings.iter().map(|ring| ring.produced * blocks * ring.row);
    let kernel = Kernel {
        types: types.collect(),
        tensors: rings.iter().flat_map(Ring::tensors).collect(),
        numbers: Vec::new(),
        attributes: String::new(),
        body: firsts + &text.into_string(),
        blocks,
        threads,
        n,
    };
    (kernel, sizes.collect())
}

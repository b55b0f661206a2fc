//! Kernels of right types and no sense: structured control flow around pipelines, copies, barriers and stages in any order. Passes may
//! refuse them; they may not fall over them.

use super::text::{Text, plan};
use crate::random::Random;

const TOKEN: &str = "!cute.token";
const TYPES: &str = "!g = !cute.memref<f16, gmem, align<16>, \"((8,1),1,1):((1,0),0,0)\">\n\
    !s = !cute.memref<f16, smem, align<16>, \"((8,1),1,1,3):((1,0),0,0,8)\">\n\
    !v = !cute.memref<f16, smem, align<16>, \"((8,1),1,1):((1,0),0,0)\">\n\
    !m = !cute.memref<i32, gmem, \"16:1\">\n!q = !cute.memref<i32, smem, align<1024>, S<2,4,3>, \"(9,5):(5,1)\">\n\
    !r = !cute.memref<f16, rmem, align<16>, \"((8,1),1,1):((1,0),0,0)\">\n\
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <\"(1,8):(0,1)\">, tiler_mn = <\"[1:1;8:1]\">>\n\
    !load = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <\"(1,8):(0,1)\">, tiler_mn = <\"[1:1;8:1]\">>\n\
    !tile = !cute.memref<f16, gmem, align<16>, \"(32,32):(32,1)\">\n!stile = !cute.memref<f16, smem, align<512>, S<2,4,3>, \"(32,32):(32,1)\">\n\
    !acc = !cute.memref<f32, rmem, \"(32,32):(32,1)\">\n";

/// A kernel while it is written: the values that can be used where it is written now.
struct Soup<'r> {
    text: Text,
    random: &'r mut Random,
    integers: Vec<String>,
    conditions: Vec<String>,
    tokens: Vec<String>,
    /// Operations that may still be written.
    left: usize,
    /// The stages of the loop that is being written get an order.
    order: Option<usize>,
    /// Tells whether there are block-level tiles.
    tiles: bool,
}

impl Soup<'_> {
    fn integer(&mut self) -> String {
        self.random.pick(&self.integers).clone()
    }

    fn condition(&mut self) -> String {
        self.random.pick(&self.conditions).clone()
    }

    fn token(&mut self) -> String {
        self.random.pick(&self.tokens).clone()
    }

    /// Stage and order, in loops that have them: on most operations, and in their order mostly.
    fn scheduled(&mut self) -> String {
        let Some(order) = self.order else {
            return String::new();
        };
        if self.random.chance(8) {
            return String::new();
        }
        self.order = Some(order + 1);
        let stage = match self.random.below(40) {
            0 => *self.random.pick(&[4, 7, 100, 1000]),
            n => (n % 3) as i64,
        };
        let at = if self.random.chance(5) {
            self.random.range(0, 9)
        } else {
            order as i64
        };
        format!(" {{cute.stage = {stage} : i32, cute.order = {at} : i32}}")
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..self.random.range(1, 6) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.operation(depth);
        }
    }

    /// Writes the inside of a region, and forgets its values. `yields` are the types of what it gives.
    fn region(&mut self, depth: usize, yields: &[bool]) {
        let seen = (
            self.integers.len(),
            self.conditions.len(),
            self.tokens.len(),
        );
        self.block(depth + 1);
        if !yields.is_empty() {
            let values = self.values(yields);
            self.text.line(format!(
                "scf.yield {} : {}",
                values.join(", "),
                types(yields)
            ));
        }
        self.integers.truncate(seen.0);
        self.conditions.truncate(seen.1);
        self.tokens.truncate(seen.2);
    }

    /// Values of these types: tokens, or integers.
    fn values(&mut self, of: &[bool]) -> Vec<String> {
        of.iter()
            .map(|&is_token| {
                if is_token {
                    self.token()
                } else {
                    self.integer()
                }
            })
            .collect()
    }

    fn results(&mut self, name: &str, of: &[bool]) {
        for (i, &is_token) in of.iter().enumerate() {
            let value = if of.len() == 1 {
                name.to_string()
            } else {
                format!("{name}#{i}")
            };
            if is_token {
                self.tokens.push(value)
            } else {
                self.integers.push(value)
            }
        }
    }

    fn some(&mut self) -> Vec<bool> {
        (0..self.random.below(4))
            .map(|_| self.random.chance(70))
            .collect()
    }

    fn operation(&mut self, depth: usize) {
        let kind = self.random.below(if depth > 3 { 19 } else { 26 });
        let scheduled = self.scheduled();
        match kind {
            0 => {
                let (a, b) = (self.integer(), self.integer());
                let op = *self.random.pick(&["addi", "muli", "subi", "remui", "andi"]);
                let value = self.text.value(format!("arith.{op} {a}, {b} : i32"));
                self.integers.push(value);
            }
            1 => {
                let (a, b) = (self.integer(), self.integer());
                let value = self.text.value(format!("arith.cmpi slt, {a}, {b} : i32"));
                self.conditions.push(value);
            }
            2 | 3 | 6 | 7 => {
                let slot_of = if kind < 4 {
                    "producer_acquire"
                } else {
                    "consumer_wait"
                };
                let (token, iteration) = (self.token(), self.integer());
                let slot = self.text.value(format!(
                    "cute.pipeline.{slot_of}(%p, {token}, {iteration}){scheduled} : !cute.pipeline<3>"
                ));
                self.integers.push(slot);
            }
            4 | 5 | 8 | 9 => {
                let token_of = if kind < 6 {
                    "producer_commit"
                } else {
                    "consumer_release"
                };
                let token = self.text.value(format!(
                    "cute.pipeline.{token_of}(%p){scheduled} : !cute.pipeline<3>"
                ));
                self.tokens.push(token);
            }
            10 => self.text.line(format!(
                "cute.pipeline.producer_tail(%p){scheduled} : !cute.pipeline<3>"
            )),
            11 => self.text.line(format!("gpu.barrier{scheduled}")),
            12 => self
                .text
                .line(format!("nvvm.cp.async.commit.group{scheduled}")),
            13 => {
                let n = self.random.range(0, 3);
                self.text
                    .line(format!("nvvm.cp.async.wait.group {n}{scheduled}"));
            }
            14 | 15 => {
                let slot = self.integer();
                let at = self.text.value(format!(
                    "cute.make_coord({slot}) : (i32) -> !cute.coord<\"(_,_,_,?)\">"
                ));
                let to = self.text.value(format!(
                    "cute.slice(%s, {at}) : !s, !cute.coord<\"(_,_,_,?)\">"
                ));
                match self.random.below(3) {
                    0 => self
                        .text
                        .line(format!("cute.copy(%copy, %g, {to}) : (!copy, !g, !v)")),
                    1 => self.text.line(format!(
                        "cute.copy(%load, {to}, %r){scheduled} : (!load, !v, !r)"
                    )),
                    _ => self.text.line(format!(
                        "cute.atom_copy(%copy, %g, {to}) at [0, 0, 0]{scheduled} : (!copy, !g, !v)"
                    )),
                }
            }
            16 => {
                let (at, value) = (self.integer(), self.integer());
                let at = self.text.value(format!(
                    "cute.make_coord({at}) : (i32) -> !cute.coord<\"?\">"
                ));
                self.text.line(format!("cute.memref.store(%m, {at}, {value}){scheduled} : (!m, !cute.coord<\"?\">, i32) -> ()"));
            }
            17 => {
                let (row, column) = (self.integer(), self.integer());
                let at = self.text.value(format!(
                    "cute.make_coord({row}, {column}) : (i32, i32) -> !cute.coord<\"(?,?)\">"
                ));
                let q = match self.random.chance(50) {
                    true => "%q".to_string(),
                    false => self.text.value("cute.memref.alloca() : !q"),
                };
                let value = self.text.value(format!(
                    "cute.memref.load({q}, {at}) : (!q, !cute.coord<\"(?,?)\">) -> i32"
                ));
                self.integers.push(value);
            }
            18 if self.tiles => {
                let line = *self.random.pick(&[
                    "cute.block.copy A (%A, %sa) : (!tile, !stile)",
                    "cute.block.copy B (%A, %sb) : (!tile, !stile)",
                    "cute.block.gemm(%sa, %sb, %acc) : (!stile, !stile, !acc)",
                    "cute.clear(%acc) : (!acc)",
                ]);
                self.text.line(line);
            }
            18 => self.text.line("cute.clear(%r) : (!r)"),
            19..=21 => self.branch(depth, &scheduled),
            22 | 23 => self.counted(depth, &scheduled),
            24 => self.repeated(depth),
            _ => {
                self.text.open("scf.execute_region {");
                self.region(depth, &[]);
                self.text.line("scf.yield");
                self.text.close("}");
            }
        }
    }

    fn branch(&mut self, depth: usize, scheduled: &str) {
        let condition = self.condition();
        let of = self.some();
        let outer = self.order.take();
        if of.is_empty() {
            self.text.open(format!("scf.if {condition} {{"));
            self.region(depth, &of);
            if self.random.chance(50) {
                self.text.between("} else {");
                self.region(depth, &of);
            }
            self.text.close(format!("}}{scheduled}"));
        } else {
            let name = self.text.fresh();
            self.text.open(format!(
                "{name}{} = scf.if {condition} -> ({}) {{",
                several(&of),
                types(&of)
            ));
            self.region(depth, &of);
            self.text.between("} else {");
            self.region(depth, &of);
            self.text.close(format!("}}{scheduled}"));
            self.results(&name, &of);
        }
        self.order = outer;
    }

    fn counted(&mut self, depth: usize, scheduled: &str) {
        let of = self.some();
        let begin = self.values(&of);
        let (lower, upper) = match self.random.chance(70) {
            true => (
                "%zero".to_string(),
                (*self.random.pick(&["%one", "%three", "%five"])).to_string(),
            ),
            false => (self.integer(), self.integer()),
        };
        let i = self.text.fresh();
        let inner: Vec<String> = of.iter().map(|_| self.text.fresh()).collect();
        let given: Vec<String> = inner
            .iter()
            .zip(&begin)
            .map(|(a, b)| format!("{a} = {b}"))
            .collect();
        let name = self.text.fresh();
        match of.is_empty() {
            true => self.text.open(format!("scf.for {i} = {lower} to {upper} step %one : i32 {{")),
            false => self.text.open(format!(
                "{name}{} = scf.for {i} = {lower} to {upper} step %one iter_args({}) -> ({}) : i32 {{",
                several(&of),
                given.join(", "),
                types(&of)
            )),
        }
        let seen = (self.integers.len(), self.tokens.len());
        self.integers.push(i);
        for (value, &is_token) in inner.into_iter().zip(&of) {
            if is_token {
                self.tokens.push(value)
            } else {
                self.integers.push(value)
            }
        }
        let outer = self.order.take();
        self.order = self.random.chance(50).then_some(0);
        self.region(depth, &of);
        self.order = outer;
        self.integers.truncate(seen.0);
        self.tokens.truncate(seen.1);
        self.text.close(format!("}}{scheduled}"));
        self.results(&name, &of);
    }

    fn repeated(&mut self, depth: usize) {
        let of: Vec<bool> = [false].into_iter().chain(self.some()).collect();
        let begin = self.values(&of);
        let inner: Vec<String> = of.iter().map(|_| self.text.fresh()).collect();
        let given: Vec<String> = inner
            .iter()
            .zip(&begin)
            .map(|(a, b)| format!("{a} = {b}"))
            .collect();
        let name = self.text.fresh();
        let outer = self.order.take();
        self.text.open(format!(
            "{name}{} = scf.while ({}) : ({}) -> ({}) {{",
            several(&of),
            given.join(", "),
            types(&of),
            types(&of)
        ));
        let seen = (
            self.integers.len(),
            self.conditions.len(),
            self.tokens.len(),
        );
        for suffix in ["", "w"] {
            for (value, &is_token) in inner.iter().zip(&of) {
                let value = format!("{value}{suffix}");
                if is_token {
                    self.tokens.push(value)
                } else {
                    self.integers.push(value)
                }
            }
            if suffix.is_empty() {
                self.block(depth + 1);
                let (condition, values) = (self.condition(), self.values(&of));
                self.text.line(format!(
                    "scf.condition({condition}) {} : {}",
                    values.join(", "),
                    types(&of)
                ));
                self.text.between("} do {");
                let arguments: Vec<String> = inner
                    .iter()
                    .zip(&of)
                    .map(|(value, &is_token)| {
                        format!("{value}w: {}", if is_token { TOKEN } else { "i32" })
                    })
                    .collect();
                self.text.line(format!("^bb0({}):", arguments.join(", ")));
            } else {
                self.block(depth + 1);
                let values = self.values(&of);
                self.text
                    .line(format!("scf.yield {} : {}", values.join(", "), types(&of)));
            }
            self.integers.truncate(seen.0);
            self.conditions.truncate(seen.1);
            self.tokens.truncate(seen.2);
        }
        self.text.close("}");
        self.order = outer;
        self.results(&name, &of);
    }
}

fn types(of: &[bool]) -> String {
    let names: Vec<&str> = of
        .iter()
        .map(|&is_token| if is_token { TOKEN } else { "i32" })
        .collect();
    names.join(", ")
}

fn several(of: &[bool]) -> String {
    match of.len() {
        1 => String::new(),
        n => format!(":{n}"),
    }
}

/// A module with a kernel of this kind.
pub fn module(random: &mut Random) -> String {
    let tiles = random.chance(30);
    let mut text = Text::default();
    for (name, value) in [("%zero", 0), ("%one", 1), ("%three", 3), ("%five", 5)] {
        text.line(format!("{name} = arith.constant {value} : i32"));
    }
    text.line("%copy = cute.static : !copy");
    text.line("%load = cute.static : !load");
    text.line("%s = cute.memref.alloca() : !s");
    text.line("%q = cute.memref.alloca() : !q");
    text.line("%r = cute.memref.alloca() : !r");
    text.line("%p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token");
    if tiles {
        text.line("%sa = cute.memref.alloca() : !stile");
        text.line("%sb = cute.memref.alloca() : !stile");
        text.line("%acc = cute.memref.alloca() : !acc");
        text.line("cute.clear(%acc) : (!acc)");
    }
    let left = 4 + random.below(40);
    let mut soup = Soup {
        text,
        random,
        integers: ["%zero", "%one", "%three", "%n"].map(String::from).into(),
        conditions: vec!["%c".into()],
        tokens: vec!["%free".into()],
        left,
        order: None,
        tiles,
    };
    while soup.left > 0 {
        soup.block(0);
    }
    let attributes = match tiles {
        true => format!(
            "attributes {{known_block_size = array<i32: 32, 1, 1>, cute.plan = {}}} ",
            plan((1, 1), 1, "S<2,4,3>, ")
        ),
        false => String::new(),
    };
    format!(
        "{TYPES}gpu.module @kernels [#nvvm.target<chip = \"sm_80\">] {{\ngpu.func @kernel(%g: !g, %m: !m, %A: !tile, %n: i32, %c: i1) kernel {attributes}{{\n{}gpu.return\n}}\n}}\n",
        soup.text.into_string()
    )
}

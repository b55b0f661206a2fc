//! Regions written as expressions, and answers printed so that they can be read.

#![allow(dead_code, reason = "each test binary uses its own part")]

use cute_simplify::{Cast, Facts, Leaf, Limits, Node, Op, Predicate, Region, Simplified, simplify};

/// A region under construction.
pub struct Build {
    pub region: Region,
    /// The width of leaves and constants.
    pub width: u32,
}

impl Build {
    pub fn new(width: u32) -> Build {
        Build {
            region: Region {
                leaves: vec![],
                nodes: vec![],
                roots: vec![],
            },
            width,
        }
    }
    pub fn push(&mut self, node: Node) -> usize {
        self.region.nodes.push(node);
        self.region.nodes.len() - 1
    }
    pub fn leaf(&mut self, facts: Facts) -> usize {
        self.region.leaves.push(Leaf::new(self.width, facts));
        self.push(Node::Leaf(self.region.leaves.len() as u32 - 1))
    }
    pub fn c(&mut self, value: u64) -> usize {
        self.push(Node::Const(value, self.width))
    }
    pub fn add(&mut self, a: usize, b: usize) -> usize {
        self.push(Node::Op(Op::Add, a, b))
    }
    pub fn addc(&mut self, a: usize, c: u64) -> usize {
        let c = self.c(c);
        self.push(Node::Op(Op::Add, a, c))
    }
    pub fn mul(&mut self, a: usize, c: u64) -> usize {
        let c = self.c(c);
        self.push(Node::Op(Op::Mul, a, c))
    }
    pub fn div(&mut self, a: usize, c: u64) -> usize {
        let c = self.c(c);
        self.push(Node::Op(Op::DivU, a, c))
    }
    pub fn rem(&mut self, a: usize, c: u64) -> usize {
        let c = self.c(c);
        self.push(Node::Op(Op::RemU, a, c))
    }
    /// `x ^ ((x & m) >> s)` of S<b,base,s> on a byte address.
    pub fn swizzle(&mut self, x: usize, bits: u32, base: u32, shift: u32) -> usize {
        let m = self.c(((1 << bits) - 1) << (base + shift));
        let s = self.c(u64::from(shift));
        let masked = self.push(Node::Op(Op::And, x, m));
        let moved = self.push(Node::Op(Op::ShrU, masked, s));
        self.push(Node::Op(Op::Xor, x, moved))
    }
    pub fn compare(&mut self, predicate: Predicate, a: usize, b: usize) -> usize {
        self.push(Node::Compare(predicate, a, b))
    }
    pub fn sext(&mut self, a: usize) -> usize {
        self.push(Node::Cast(Cast::SignExtend, a, 64))
    }
    /// A constant of 64 bits.
    pub fn wide(&mut self, value: u64) -> usize {
        self.push(Node::Const(value, 64))
    }
    pub fn op(&mut self, op: Op, a: usize, b: usize) -> usize {
        self.push(Node::Op(op, a, b))
    }
    pub fn root(&mut self, node: usize) {
        self.region.roots.push(node);
    }
    pub fn simplify(&self) -> Simplified {
        simplify(&self.region, &Limits::default()).unwrap()
    }
}

/// A root as text, the first `n` nodes of other roots by name.
pub fn show(nodes: &[Node], root: usize) -> String {
    let at = |i| show(nodes, i);
    match nodes[root] {
        Node::Const(c, _) => c.to_string(),
        Node::Leaf(0) => "t".to_string(),
        Node::Leaf(leaf) => format!("v{leaf}"),
        Node::Op(op, a, b) => {
            let word = match op {
                Op::Add => "+",
                Op::Sub => "-",
                Op::Mul => "*",
                Op::DivU => "/",
                Op::RemU => "%",
                Op::And => "&",
                Op::Or => "|",
                Op::Xor => "^",
                Op::Shl => "<<",
                Op::ShrU => ">>",
                Op::MinU => "min",
                Op::MaxU => "max",
                other => other.name().trim_start_matches("arith."),
            };
            format!("({} {word} {})", at(a), at(b))
        }
        Node::Compare(predicate, a, b) => format!("({} {} {})", at(a), predicate.name(), at(b)),
        Node::Cast(cast, a, width) => {
            let word = match cast {
                Cast::SignExtend => "s",
                Cast::ZeroExtend => "u",
                Cast::Truncate => "i",
            };
            format!("{word}{width}({})", at(a))
        }
        Node::Select(a, b, c) => format!("({} ? {} : {})", at(a), at(b), at(c)),
    }
}

/// Every root as text.
pub fn show_all(simple: &Simplified) -> Vec<String> {
    simple
        .roots
        .iter()
        .map(|&r| show(&simple.nodes, r))
        .collect()
}

/// A root as `base + constant`.
pub fn base_and_offset(simple: &Simplified, root: usize) -> (usize, u64) {
    match simple.nodes[root] {
        Node::Op(Op::Add, base, offset) => match simple.nodes[offset] {
            Node::Const(c, _) => (base, c),
            _ => (root, 0),
        },
        _ => (root, 0),
    }
}

/// The addresses of a 128x128x32 GEMM with four warps of 64x64, as they are before simplification: cp.async of A and
/// B from row-major global memory into swizzled shared memory, ldmatrix of both, the stores of C.
pub fn gemm_region() -> Region {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 127));
    let bx = b.leaf(Facts::range(0, 31));
    let by = b.leaf(Facts::range(0, 31));
    let k = b.leaf(Facts::range(0, 127));
    let slot = b.leaf(Facts::range(0, 2));
    let slot_bytes = b.mul(slot, 8192);
    // Copies: thread -> row t/4 + 32 i, column (t%4)*8.
    for (block, base) in [(bx, 0), (by, 24576)] {
        let row = b.div(t, 4);
        let col = b.rem(t, 4);
        let col = b.mul(col, 8);
        for i in 0..4 {
            let row = b.addc(row, 32 * i);
            let global_row = b.mul(block, 128);
            let global_row = b.add(global_row, row);
            let global = b.mul(global_row, 4096);
            let kk = b.mul(k, 32);
            let column = b.add(kk, col);
            let global = b.add(global, column);
            let global = b.mul(global, 2);
            b.root(global);
            let shared = b.mul(row, 32);
            let shared = b.add(shared, col);
            let shared = b.mul(shared, 2);
            let shared = b.swizzle(shared, 2, 4, 3);
            let shared = b.add(shared, slot_bytes);
            let shared = b.addc(shared, base);
            b.root(shared);
        }
    }
    // ldmatrix: lane -> row lane%16, chunk lane/16; warps 2x2.
    let lane = b.rem(t, 32);
    let warp = b.div(t, 32);
    let (wm, wn) = (b.rem(warp, 2), b.div(warp, 2));
    for (w, base) in [(wm, 0), (wn, 24576)] {
        for j in 0..2 {
            for i in 0..4 {
                let row = b.rem(lane, 16);
                let w = b.mul(w, 64);
                let row = b.add(row, w);
                let row = b.addc(row, 16 * i);
                let chunk = b.div(lane, 16);
                let chunk = b.mul(chunk, 8);
                let chunk = b.addc(chunk, 16 * j);
                let at = b.mul(row, 32);
                let at = b.add(at, chunk);
                let at = b.mul(at, 2);
                let at = b.swizzle(at, 2, 4, 3);
                let at = b.add(at, slot_bytes);
                let at = b.addc(at, base);
                b.root(at);
            }
        }
    }
    // C: rows lane/4 (+8), columns (lane%4)*2, 16x8 tiles.
    for i in 0..4 {
        for j in 0..8 {
            let row = b.div(lane, 4);
            let row = b.addc(row, 16 * i);
            let w = b.mul(wm, 64);
            let row = b.add(row, w);
            let block = b.mul(bx, 128);
            let row = b.add(row, block);
            let col = b.rem(lane, 4);
            let col = b.mul(col, 2);
            let col = b.addc(col, 8 * j);
            let w = b.mul(wn, 64);
            let col = b.add(col, w);
            let block = b.mul(by, 128);
            let col = b.add(col, block);
            let at = b.mul(row, 4096);
            let at = b.add(at, col);
            let at = b.mul(at, 2);
            b.root(at);
        }
    }
    b.region
}

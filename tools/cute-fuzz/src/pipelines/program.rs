//! Programs of a block, as trees: which tiles its threads move, and in which loops and branches; and what they compute, by going through
//! the tree.

use super::tile::{Element, Move, Place, Tile};

/// A number that the kernel is told, or one that stands in it.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub value: i64,
    pub dynamic: bool,
}

/// A sum of counters of loops and of the number of the block, each so many times.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub loops: Vec<(usize, i64)>,
    pub block: i64,
    pub add: i64,
}

/// A multiple of every count of tiles, which keeps an index from being negative.
pub const AHEAD: i64 = 64;

impl Index {
    fn at(&self, state: &State<'_>, tiles: i64) -> i64 {
        let loops = self
            .loops
            .iter()
            .map(|(id, times)| state.counters[*id] * times);
        let sum: i64 = loops.sum::<i64>() + self.block * state.block + self.add;
        (sum + AHEAD * tiles).rem_euclid(tiles)
    }
}

/// A tensor in shared memory, and the tensor in global memory that it is filled from.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub tile: Tile,
    pub shared: Place,
    pub global: Place,
    /// Tiles in global memory.
    pub tiles: i64,
    pub stages: Option<i64>,
    /// It is allocated where a statement says so, and not at the start of the kernel.
    pub local: bool,
}

/// A tensor in global memory that a kind of statement writes: tiles, for each block as many.
#[derive(Clone, Debug)]
pub struct Output {
    pub tile: Tile,
    pub global: Place,
    pub slots: i64,
}

/// Sums in registers, over tiles of one shape.
#[derive(Clone, Debug)]
pub struct Sum {
    pub tile: Tile,
    pub by: By,
}

/// The manner in which threads have sums: as a copy deals them out, or as a product does, of so many warps down and across.
#[derive(Clone, Debug)]
pub enum By {
    Copy(Box<Move>),
    Product(i64, i64),
}

/// The manner in which a buffer is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Async,
    /// A copy from global to shared memory in one operation.
    Direct,
    /// Into registers, multiplied, and out of them.
    Scaled(i64),
    /// Element by element, each thread every so manyth.
    Elements,
}

/// A condition that is the same for all threads of a block.
#[derive(Clone, Debug)]
pub enum Condition {
    OddBlock,
    /// True where a number that only the host knows is less than this.
    Number(i64, i64),
    /// True where the counter of a loop has this rest.
    Turn(usize, i64, i64),
}

/// A step of a program.
#[derive(Clone, Debug)]
pub enum Statement {
    Allocate(usize),
    Fill {
        buffer: usize,
        how: How,
        by: Move,
        tile: Index,
    },
    /// A tile into registers, which are stored later.
    Load {
        registers: usize,
        buffer: usize,
        by: Move,
        tile: Index,
    },
    Store {
        registers: usize,
        buffer: usize,
        by: Move,
    },
    /// One buffer from another, through registers.
    Derive {
        from: usize,
        to: usize,
        by: Move,
        times: i64,
    },
    /// A tile to global memory: the sum of buffers, so many times, and of what is there where it adds.
    Out {
        from: Vec<usize>,
        output: usize,
        slot: Index,
        by: Move,
        times: i64,
        adds: bool,
    },
    /// A tile to global memory, element by element, each thread what others have copied.
    OutElements {
        from: usize,
        output: usize,
        slot: Index,
        shift: i64,
    },
    Sum {
        from: usize,
        sum: usize,
        times: i64,
        /// Arithmetic by operations on vectors, and not on tensors.
        vectors: bool,
    },
    Product {
        a: usize,
        b: usize,
        sum: usize,
    },
    Clear(usize),
    OutSum {
        sum: usize,
        output: usize,
        slot: Index,
    },
    /// Adds an element of a buffer to a number that the loop around carries.
    Carry {
        from: usize,
        lane: usize,
        shift: i64,
    },
    Barrier,
    For(Box<For>),
    While {
        id: usize,
        trips: Bound,
        body: Vec<Statement>,
    },
    If {
        condition: Condition,
        then: Vec<Statement>,
        other: Vec<Statement>,
    },
}

/// A loop that counts.
#[derive(Clone, Debug)]
pub struct For {
    pub id: usize,
    pub ty: &'static str,
    pub lower: Bound,
    pub upper: Bound,
    pub step: Bound,
    pub stages: Option<i64>,
    /// Numbers that it carries, and where each thread's are stored behind it.
    pub carried: Vec<(Element, usize, Index)>,
    pub body: Vec<Statement>,
}

/// A program and all that it is about.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub threads: i64,
    pub blocks: i64,
    pub number: i64,
    pub buffers: Vec<Buffer>,
    pub outputs: Vec<Output>,
    pub sums: Vec<Sum>,
    pub registers: usize,
    pub loops: usize,
    pub body: Vec<Statement>,
}

/// Goes through statements, and those within.
pub fn walk(statements: &[Statement], each: &mut impl FnMut(&Statement)) {
    for one in statements {
        each(one);
        match one {
            Statement::For(of) => walk(&of.body, each),
            Statement::While { body, .. } => walk(body, each),
            Statement::If { then, other, .. } => {
                walk(then, each);
                walk(other, each);
            }
            _ => {}
        }
    }
}

/// The value of an element of an argument.
pub fn value(argument: usize, index: i64) -> f64 {
    let mixed = (argument as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add((index as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed >> 40) % 7) as f64 - 3.0
}

/// The memory of a block while its program is gone through.
struct State<'p> {
    program: &'p Program,
    block: i64,
    counters: Vec<i64>,
    buffers: Vec<Option<Vec<f64>>>,
    registers: Vec<Option<Vec<f64>>>,
    sums: Vec<Option<Vec<f64>>>,
    /// Numbers that the loops around carry, by thread; the innermost last.
    carried: Vec<Vec<Vec<f64>>>,
    outputs: &'p mut [Vec<f64>],
}

impl Program {
    /// Tells whether a loop that is to be pipelined has a bound or a step that only the host knows.
    pub fn is_dynamic(&self) -> bool {
        let mut found = false;
        walk(&self.body, &mut |one| {
            if let Statement::For(of) = one
                && of.stages.is_some()
            {
                found |= of.lower.dynamic || of.upper.dynamic || of.step.dynamic;
            }
        });
        found
    }

    /// Tells whether a loop that is to be pipelined has one turn or none, as everybody can see.
    #[cfg(test)]
    pub fn has_a_known_turn(&self) -> bool {
        let mut found = false;
        walk(&self.body, &mut |one| {
            if let Statement::For(of) = one
                && of.stages.is_some()
            {
                let dynamic = of.lower.dynamic || of.upper.dynamic || of.step.dynamic;
                found |= !dynamic && of.upper.value - of.lower.value <= of.step.value;
            }
        });
        found
    }

    /// The elements of each output, in the order of their indices; none if it reads what was never written.
    pub fn results(&self) -> Option<Vec<Vec<f64>>> {
        let first = self.buffers.len();
        let sizes = self.outputs.iter().enumerate().map(|(i, output)| {
            let size = output.tile.size() * output.slots * self.blocks;
            (0..size).map(|at| value(first + i, at)).collect()
        });
        let mut outputs: Vec<Vec<f64>> = sizes.collect();
        for block in 0..self.blocks {
            let mut state = State {
                program: self,
                block,
                counters: vec![0; self.loops],
                buffers: vec![None; self.buffers.len()],
                registers: vec![None; self.registers],
                sums: vec![None; self.sums.len()],
                carried: Vec::new(),
                outputs: &mut outputs,
            };
            state.all(&self.body)?;
        }
        Some(outputs)
    }
}

impl State<'_> {
    fn all(&mut self, statements: &[Statement]) -> Option<()> {
        statements.iter().try_for_each(|one| self.one(one))
    }

    /// A tile of the tensor that a buffer is filled from, by rows.
    fn source(&self, buffer: usize, index: &Index) -> Vec<f64> {
        let Buffer { tile, tiles, .. } = &self.program.buffers[buffer];
        let (m, n) = (tile.m, tile.n);
        let number = index.at(self, *tiles);
        let at = |i: i64| value(buffer, i / n + m * (i % n + n * number));
        (0..m * n).map(at).collect()
    }

    fn write(&mut self, output: usize, slot: &Index, values: &[f64], adds: bool) {
        let Output { tile, slots, .. } = &self.program.outputs[output];
        let (m, n) = (tile.m, tile.n);
        let slot = slot.at(self, *slots) + self.block * slots;
        for (i, value) in values.iter().enumerate() {
            let i = i as i64;
            let at = (i / n + m * (i % n + n * slot)) as usize;
            let old = if adds { self.outputs[output][at] } else { 0.0 };
            self.outputs[output][at] = old + value;
        }
    }

    fn one(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Fill {
                buffer, how, tile, ..
            } => {
                let mut tile = self.source(*buffer, tile);
                if let How::Scaled(times) = how {
                    tile.iter_mut().for_each(|value| *value *= *times as f64);
                }
                self.buffers[*buffer] = Some(tile);
            }
            Statement::Load {
                registers,
                buffer,
                tile,
                ..
            } => self.registers[*registers] = Some(self.source(*buffer, tile)),
            Statement::Store {
                registers, buffer, ..
            } => self.buffers[*buffer] = Some(self.registers[*registers].clone()?),
            Statement::Derive {
                from, to, times, ..
            } => {
                let from = self.buffers[*from].as_ref()?;
                self.buffers[*to] = Some(from.iter().map(|v| v * *times as f64).collect());
            }
            Statement::Out {
                from,
                output,
                slot,
                times,
                adds,
                ..
            } => {
                let mut sum = vec![0.0; self.buffers[from[0]].as_ref()?.len()];
                for buffer in from {
                    let buffer = self.buffers[*buffer].as_ref()?;
                    let terms = sum.iter_mut().zip(buffer);
                    terms.for_each(|(sum, value)| *sum += value * *times as f64);
                }
                self.write(*output, slot, &sum, *adds);
            }
            Statement::OutElements {
                from, output, slot, ..
            } => {
                let tile = self.buffers[*from].clone()?;
                self.write(*output, slot, &tile, false);
            }
            Statement::Sum {
                from, sum, times, ..
            } => {
                let tile = self.buffers[*from].as_ref()?;
                let terms = self.sums[*sum].as_mut()?.iter_mut().zip(tile);
                terms.for_each(|(sum, value)| *sum += value * *times as f64);
            }
            Statement::Product { a, b, sum } => {
                let (k, n) = (
                    self.program.buffers[*a].tile.n as usize,
                    self.program.buffers[*b].tile.m as usize,
                );
                let (a, b) = (self.buffers[*a].as_ref()?, self.buffers[*b].as_ref()?);
                for (i, sum) in self.sums[*sum].as_mut()?.iter_mut().enumerate() {
                    let (row, column) = (i / n, i % n);
                    let terms = (0..k).map(|l| a[row * k + l] * b[column * k + l]);
                    *sum += terms.sum::<f64>();
                }
            }
            Statement::Clear(sum) => {
                let size = self.program.sums[*sum].tile.size();
                self.sums[*sum] = Some(vec![0.0; size as usize]);
            }
            Statement::OutSum { sum, output, slot } => {
                let values = self.sums[*sum].clone()?;
                self.write(*output, slot, &values, false);
            }
            Statement::Carry { from, lane, shift } => {
                let tile = self.buffers[*from].as_ref()?;
                let sums = self.carried.last_mut()?.get_mut(*lane)?;
                for (thread, sum) in sums.iter_mut().enumerate() {
                    *sum += tile[(thread + *shift as usize) % tile.len()];
                }
            }
            Statement::Barrier => {}
            Statement::Allocate(buffer) => self.buffers[*buffer] = None,
            Statement::For(of) => {
                let zeros = vec![0.0; self.program.threads as usize];
                self.carried.push(vec![zeros; of.carried.len()]);
                let mut counter = of.lower.value;
                while counter < of.upper.value {
                    self.counters[of.id] = counter;
                    self.all(&of.body)?;
                    counter += of.step.value;
                }
                let carried = self.carried.pop()?;
                for ((_, output, slot), values) in of.carried.iter().zip(carried) {
                    self.write(*output, slot, &values, false);
                }
            }
            Statement::While { id, trips, body } => {
                for counter in 0..trips.value {
                    self.counters[*id] = counter;
                    self.all(body)?;
                }
            }
            Statement::If {
                condition,
                then,
                other,
            } => {
                let holds = match condition {
                    Condition::OddBlock => self.block % 2 == 1,
                    Condition::Number(number, bound) => number < bound,
                    Condition::Turn(id, by, rest) => {
                        (self.counters[*id] + AHEAD * by).rem_euclid(*by) == *rest
                    }
                };
                self.all(if holds { then } else { other })?;
            }
        }
        Some(())
    }
}

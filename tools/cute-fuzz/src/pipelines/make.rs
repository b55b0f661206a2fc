//! Programs made at random.

use super::emit::{Style, product};
use super::program::{
    Bound, Buffer, By, Condition, For, How, Index, Output, Program, Statement, Sum, walk,
};
use super::tile::{Element, Move, Tile};
use crate::random::Random;

/// Bytes that a tile has at most.
const BYTES: i64 = 2048;

/// Programs that are tried before one that takes no risk is made.
const TRIES: usize = 40;

/// A program that reads nothing that was never written, how it is written, and what it leaves in its outputs.
pub fn program(random: &mut Random) -> (Program, Style, Vec<Vec<f64>>) {
    let mut tries = 0;
    loop {
        tries += 1;
        let mut maker = Maker {
            random,
            program: Program::default(),
            around: Vec::new(),
            careful: tries > TRIES,
        };
        let style = maker.style();
        maker.make();
        let program = maker.program;
        if let Some(results) = program.results() {
            return (program, style, results);
        }
    }
}

struct Maker<'r> {
    random: &'r mut Random,
    program: Program,
    /// The loops around what is being made.
    around: Vec<usize>,
    /// Nothing is read that a loop might not have written.
    careful: bool,
}

impl Maker<'_> {
    fn style(&mut self) -> Style {
        Style {
            hoists: self.random.chance(50),
            slices_first: self.random.chance(40),
            unrolls: self.random.chance(80),
            noalias: self.random.chance(70),
        }
    }

    fn make(&mut self) {
        self.program.threads = *self.random.pick(&[32, 32, 64, 64, 128]);
        self.program.blocks = self.random.range(1, 2);
        self.program.number = self.random.range(0, 9);
        let shape = self.random.below(8);
        let mut body = match shape {
            0 | 1 => self.pipelined(),
            2 | 3 => {
                let mut all = self.pipelined();
                if self.random.chance(30) {
                    all.push(Statement::Barrier);
                }
                all.extend(self.pipelined());
                all
            }
            4 => self.branched(),
            _ => self.repeated(),
        };
        if self.random.chance(10) {
            let more = self.pipelined();
            body.extend(more);
        }
        self.program.body = body;
    }

    fn condition(&mut self) -> Condition {
        match self.random.chance(40) {
            true => Condition::OddBlock,
            false => Condition::Number(self.program.number, self.random.range(0, 9)),
        }
    }

    /// A loop in one branch, and something else, or another loop, in the other.
    fn branched(&mut self) -> Vec<Statement> {
        let condition = self.condition();
        let then = self.pipelined();
        let other = match self.random.chance(50) {
            true => self.pipelined(),
            false => Vec::new(),
        };
        vec![Statement::If {
            condition,
            then,
            other,
        }]
    }

    /// Loops in a loop.
    fn repeated(&mut self) -> Vec<Statement> {
        let id = self.new_loop();
        self.around.push(id);
        let mut body = match self.random.chance(20) {
            true => self.branched(),
            false => self.pipelined(),
        };
        if self.random.chance(35) {
            if self.random.chance(30) {
                body.push(Statement::Barrier);
            }
            body.extend(self.pipelined());
        }
        self.around.pop();
        let trips = self.random.range(0, 3);
        if self.random.chance(40) {
            let trips = Bound {
                value: trips,
                dynamic: self.random.chance(70),
            };
            return vec![Statement::While { id, trips, body }];
        }
        let (lower, upper, step) = self.bounds(trips);
        // A loop that synchronises itself by hand is none to be pipelined.
        let mut by_hand = false;
        walk(&body, &mut |one| {
            by_hand |= matches!(one, Statement::Barrier)
        });
        let stages = (!by_hand && self.random.chance(16)).then(|| self.random.range(1, 3));
        vec![Statement::For(Box::new(For {
            id,
            ty: ["i32", "index"][self.random.below(2)],
            lower,
            upper,
            step,
            stages,
            carried: Vec::new(),
            body,
        }))]
    }

    fn new_loop(&mut self) -> usize {
        self.program.loops += 1;
        self.program.loops - 1
    }

    /// Bounds and a step that make so many turns.
    fn bounds(&mut self, trips: i64) -> (Bound, Bound, Bound) {
        let step = *self.random.pick(&[1, 1, 1, 2, 3]);
        let lower = *self.random.pick(&[0, 0, 0, 1, 5, -2]);
        let short = if trips > 0 {
            self.random.range(0, step - 1)
        } else {
            self.random.range(0, 2)
        };
        let open = self.random.chance(50);
        let mut bound = |value, percent| Bound {
            value,
            dynamic: open && self.random.chance(percent),
        };
        (
            bound(lower, 30),
            bound(lower + trips * step - short, 90),
            bound(step, 30),
        )
    }

    fn index(&mut self, turns: Option<usize>) -> Index {
        let mut loops = Vec::new();
        if let Some(id) = turns
            && self.random.chance(92)
        {
            loops.push((id, self.random.range(1, 2)));
        }
        for id in self.around.clone() {
            if Some(id) != turns && self.random.chance(70) {
                loops.push((id, self.random.range(1, 3)));
            }
        }
        Index {
            loops,
            block: self.random.range(0, 2),
            add: self.random.range(0, 3),
        }
    }

    fn tile(&mut self) -> Tile {
        let element = *self.random.pick(&Element::ALL);
        let threads = self.program.threads;
        loop {
            let down = 1 << self.random.range(0, i64::from(threads.trailing_zeros()));
            let across = threads / down;
            let vector = *self.random.pick(&[1, 2, 4, 8, 16]);
            let (above, beside) = (
                *self.random.pick(&[1, 1, 2, 3]),
                *self.random.pick(&[1, 1, 2, 3]),
            );
            let by_rows = self.random.chance(70);
            let (vm, vn) = if by_rows { (1, vector) } else { (vector, 1) };
            let (m, n) = (down * vm * above, across * vn * beside);
            if vector * element.bytes <= 16 && m * n * element.bytes <= BYTES {
                return Tile {
                    element,
                    m,
                    n,
                    by_rows,
                };
            }
        }
    }

    fn buffer(&mut self, tile: Tile, local: bool) -> Option<usize> {
        let pad = if self.random.chance(20) { 16 } else { 0 };
        let tiles = self.random.range(2, 6);
        let stages = self.random.chance(30).then(|| self.random.range(1, 5));
        self.program.buffers.push(Buffer {
            shared: tile.shared(self.random).ok()?,
            global: tile.global(tiles, pad).ok()?,
            tile,
            tiles,
            stages,
            local,
        });
        Some(self.program.buffers.len() - 1)
    }

    fn output(&mut self, tile: &Tile) -> Option<usize> {
        let pad = if self.random.chance(20) { 16 } else { 0 };
        let slots = self.random.range(2, 8);
        self.program.outputs.push(Output {
            tile: tile.clone(),
            global: tile.global(slots * self.program.blocks, pad).ok()?,
            slots,
        });
        Some(self.program.outputs.len() - 1)
    }

    /// A way to deal out what a buffer holds, which other tensors allow too.
    fn by(&mut self, buffer: usize, output: Option<usize>, asynchronous: bool) -> Option<Move> {
        let of = &self.program.buffers[buffer];
        let mut places = vec![&of.shared];
        match output {
            Some(output) => places.push(&self.program.outputs[output].global),
            None => places.push(&of.global),
        }
        Move::of(
            self.random,
            &of.tile,
            self.program.threads,
            &places,
            asynchronous,
        )
    }

    fn factor(&mut self, buffer: usize) -> i64 {
        match self.program.buffers[buffer].tile.element.computes {
            true => *self.random.pick(&[1, 1, 2, -1]),
            false => 1,
        }
    }

    /// Fills a buffer.
    fn fill(&mut self, buffer: usize, turns: Option<usize>) -> Option<Statement> {
        let tile = self.index(turns);
        let how = match self.random.below(20) {
            0..=9 => How::Async,
            10..=13 => How::Direct,
            14..=17 => How::Scaled(self.factor(buffer)),
            _ => How::Elements,
        };
        let by = self.by(buffer, None, how == How::Async);
        let (how, by) = match by {
            Some(by) => (how, by),
            // An element is too small to be copied asynchronously.
            None => (How::Direct, self.by(buffer, None, false)?),
        };
        Some(Statement::Fill {
            buffer,
            how,
            by,
            tile,
        })
    }

    /// Reads a buffer, in a loop or behind it.
    fn read(&mut self, buffer: usize, carried: Option<(usize, &mut Carried)>) -> Option<Statement> {
        let tile = self.program.buffers[buffer].tile.clone();
        let turns = carried.as_ref().map(|(id, _)| *id);
        let kind = self.random.below(10);
        if let (Some((_, lanes)), true, 0..=2) = (carried, tile.element.computes, kind) {
            let lane = lanes.0.len();
            let threads = Tile {
                m: self.program.threads,
                n: 1,
                by_rows: false,
                ..tile
            };
            let output = self.output(&threads)?;
            let slot = self.index(None);
            lanes.0.push((tile.element, output, slot));
            return Some(Statement::Carry {
                from: buffer,
                lane,
                shift: self.random.range(0, tile.m * tile.n - 1),
            });
        }
        let output = self.output(&tile)?;
        let slot = self.index(turns);
        if kind < 5 {
            return Some(Statement::OutElements {
                from: buffer,
                output,
                slot,
                shift: self.random.range(0, tile.size() - 1),
            });
        }
        Some(Statement::Out {
            from: vec![buffer],
            output,
            slot,
            by: self.by(buffer, Some(output), false)?,
            times: self.factor(buffer),
            adds: tile.element.is_float() && tile.element.computes && self.random.chance(20),
        })
    }

    /// A statement, or that in a branch; which may be left out where it is not `always` to be done.
    fn perhaps_branched(
        &mut self,
        statement: Statement,
        other: Option<Statement>,
        turns: usize,
    ) -> Statement {
        if !self.random.chance(8) {
            return statement;
        }
        let condition = match self.random.chance(35) {
            true => {
                let by = self.random.range(2, 3);
                Condition::Turn(turns, by, self.random.range(0, by - 1))
            }
            false => self.condition(),
        };
        Statement::If {
            condition,
            then: vec![statement],
            other: other.into_iter().collect(),
        }
    }

    fn pipelined(&mut self) -> Vec<Statement> {
        let before = self.program.clone();
        self.try_pipelined().unwrap_or_else(|| {
            self.program = before;
            Vec::new()
        })
    }
}

/// Numbers that a loop carries: their types, and where they are stored.
#[derive(Default)]
struct Carried(Vec<(Element, usize, Index)>);

mod turn;

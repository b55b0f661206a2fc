//! A loop that is to be pipelined: what a turn does, and what stands before and behind the loop.

use super::{By, Carried, Element, For, Maker, Statement, Sum, Tile, product};

/// The steps of a turn, each with a number that orders it, and what stands around the loop.
#[derive(Default)]
struct Turn {
    steps: Vec<(i64, Statement)>,
    before: Vec<Statement>,
    behind: Vec<Statement>,
    carried: Carried,
}

/// The end of the numbers that order what a turn does.
const END: i64 = 1000;

impl Maker<'_> {
    /// The loop, with what stands around it.
    pub(super) fn try_pipelined(&mut self) -> Option<Vec<Statement>> {
        let id = self.new_loop();
        let local = self.random.chance(35);
        let known = self.program.buffers.len();
        let mut turn = Turn::default();
        for _ in 0..*self.random.pick(&[1, 1, 2, 2, 3]) {
            let others: Vec<usize> = (0..known)
                .filter(|i| !self.program.buffers[*i].local)
                .collect();
            let buffer = match others.is_empty() || self.random.chance(80) {
                true => {
                    let tile = self.tile();
                    self.buffer(tile, local)?
                }
                // One that another loop has used.
                false => *self.random.pick(&others),
            };
            self.carries(&mut turn, id, buffer)?;
        }
        if self.random.chance(20) {
            self.products(&mut turn, id, local)?;
        }
        let allocated = (known..self.program.buffers.len())
            .filter(|i| self.program.buffers[*i].local)
            .map(Statement::Allocate);
        let allocated: Vec<Statement> = allocated.collect();
        // Nothing but a turn uses them: they may be of each turn's own.
        let alone = turn
            .before
            .iter()
            .chain(&turn.behind)
            .all(|one| matches!(one, Statement::Clear(_) | Statement::OutSum { .. }));
        let mut all = Vec::new();
        if alone && self.random.chance(25) {
            turn.steps
                .extend(allocated.into_iter().map(|one| (-1, one)));
        } else {
            all = allocated;
        }
        all.append(&mut turn.before);
        if self.random.chance(10) {
            all.push(Statement::Barrier);
        }
        let stages = *self.random.pick(&[1, 2, 2, 2, 3, 3, 3, 4]);
        let trips = match self.random.below(8) {
            0 => 0,
            1 => 1,
            2 => stages - 1,
            3 => stages,
            4 => stages + 1,
            _ => self.random.range(2, 9),
        };
        let trips = if self.careful { trips.max(1) } else { trips };
        let (lower, upper, step) = self.bounds(trips);
        turn.steps.sort_by_key(|(at, _)| *at);
        all.push(Statement::For(Box::new(For {
            id,
            ty: ["i32", "i32", "index", "i64"][self.random.below(4)],
            lower,
            upper,
            step,
            stages: Some(stages),
            carried: turn.carried.0,
            body: turn.steps.into_iter().map(|(_, step)| step).collect(),
        })));
        all.append(&mut turn.behind);
        Some(all)
    }

    /// A buffer that each turn fills and reads.
    fn carries(&mut self, turn: &mut Turn, id: usize, buffer: usize) -> Option<()> {
        let filled = self.fills(turn, id, buffer)?;
        // What a turn reads before it fills it is what the turn before has filled.
        let early = !self.careful && self.random.chance(10);
        if early {
            let first = self.fill(buffer, None)?;
            turn.before.push(first);
        }
        for _ in 0..self.random.range(1, 2) {
            let at = match early {
                true => self.random.range(0, filled),
                false => self.random.range(filled + 1, END),
            };
            let carried = &mut turn.carried;
            let step = self.read(buffer, Some((id, carried)))?;
            let step = match step {
                Statement::Carry { .. } => step,
                step => self.perhaps_branched(step, None, id),
            };
            turn.steps.push((at, step));
        }
        let tile = self.program.buffers[buffer].tile.clone();
        if tile.element.computes && !early && self.random.chance(30) {
            self.sums(turn, buffer, filled)?;
        }
        if tile.element.computes && !early && self.random.chance(15) {
            self.derives(turn, id, buffer, filled)?;
        }
        if !self.careful && self.random.chance(10) {
            let read = self.read(buffer, None)?;
            turn.behind.push(read);
        }
        Some(())
    }

    /// Fills a buffer in each turn; where.
    fn fills(&mut self, turn: &mut Turn, id: usize, buffer: usize) -> Option<i64> {
        let at = self.random.range(0, END / 2);
        if self.random.chance(12) {
            // Into registers, and out of them later.
            let registers = self.program.registers;
            self.program.registers += 1;
            let by = self.by(buffer, None, false)?;
            let tile = self.index(Some(id));
            let load = Statement::Load {
                registers,
                buffer,
                by: by.clone(),
                tile,
            };
            let store = Statement::Store {
                registers,
                buffer,
                by,
            };
            turn.steps.push((self.random.range(0, at - 1), load));
            turn.steps.push((at, store));
            return Some(at);
        }
        let fill = self.fill(buffer, Some(id))?;
        let other = self.fill(buffer, Some(id))?;
        let fill = self.perhaps_branched(fill, Some(other), id);
        turn.steps.push((at, fill));
        Some(at)
    }

    /// Sums over the turns, in registers.
    fn sums(&mut self, turn: &mut Turn, buffer: usize, filled: i64) -> Option<()> {
        let tile = self.program.buffers[buffer].tile.clone();
        let output = self.output(&tile)?;
        let by = self.by(buffer, Some(output), false)?;
        self.program.sums.push(Sum {
            tile,
            by: By::Copy(Box::new(by)),
        });
        let sum = self.program.sums.len() - 1;
        let step = Statement::Sum {
            from: buffer,
            sum,
            times: self.factor(buffer),
            vectors: self.random.chance(50),
        };
        let at = self.random.range(filled + 1, END);
        turn.steps.push((at, step));
        self.around_a_sum(turn, sum, output);
        Some(())
    }

    /// The value that a sum begins with, and where it goes.
    fn around_a_sum(&mut self, turn: &mut Turn, sum: usize, output: usize) {
        turn.before.push(Statement::Clear(sum));
        let slot = self.index(None);
        turn.behind.push(Statement::OutSum { sum, output, slot });
    }

    /// A buffer that is filled from another one.
    fn derives(&mut self, turn: &mut Turn, id: usize, from: usize, filled: i64) -> Option<()> {
        let of = self.program.buffers[from].clone();
        let to = self.buffer(of.tile.clone(), of.local)?;
        // Neither side may be too fine for the vectors of the other.
        let shared = [
            &self.program.buffers[from].shared,
            &self.program.buffers[to].shared,
        ];
        let threads = self.program.threads;
        let by = super::Move::of(self.random, &of.tile, threads, &shared, false)?;
        let times = self.factor(from);
        let at = self.random.range(filled + 1, END - 10);
        let step = Statement::Derive {
            from,
            to,
            by,
            times,
        };
        turn.steps.push((at, step));
        let later = self.random.range(at + 1, END);
        let carried = &mut turn.carried;
        let read = self.read(to, Some((id, carried)))?;
        turn.steps.push((later, read));
        if self.random.chance(50) {
            let output = self.output(&of.tile)?;
            let slot = self.index(Some(id));
            let [one, other] = [
                &self.program.buffers[from].shared,
                &self.program.buffers[to].shared,
            ];
            let places = [one, other, &self.program.outputs[output].global];
            let by = super::Move::of(self.random, &of.tile, threads, &places, false)?;
            let both = Statement::Out {
                from: vec![from, to],
                output,
                slot,
                by,
                times: self.factor(from),
                adds: false,
            };
            turn.steps.push((self.random.range(at + 1, END), both));
        }
        Some(())
    }

    /// Products of two buffers, summed up over the turns.
    fn products(&mut self, turn: &mut Turn, id: usize, local: bool) -> Option<()> {
        let warps = self.program.threads / 32;
        let down = if self.random.chance(50) { warps } else { 1 };
        let across = warps / down;
        let k = 16 * self.random.range(1, 2);
        let element = Element::F16;
        let (m, n) = (
            16 * down * self.random.range(1, 2),
            8 * across * self.random.range(1, 2),
        );
        let mut tile = |m, n| Tile {
            element,
            m,
            n,
            by_rows: self.random.chance(70),
        };
        let tiles = [tile(m, k), tile(n, k)];
        let [a, b] = tiles.map(|tile| self.buffer(tile, local));
        let (a, b) = (a?, b?);
        let filled = self.fills(turn, id, a)?.max(self.fills(turn, id, b)?);
        product(down, across)?;
        let sums = Tile {
            element: Element::ALL[0],
            m,
            n,
            by_rows: true,
        };
        let output = self.output(&sums)?;
        self.program.sums.push(Sum {
            tile: sums,
            by: By::Product(down, across),
        });
        let sum = self.program.sums.len() - 1;
        let at = self.random.range(filled + 1, END);
        turn.steps.push((at, Statement::Product { a, b, sum }));
        self.around_a_sum(turn, sum, output);
        Some(())
    }
}

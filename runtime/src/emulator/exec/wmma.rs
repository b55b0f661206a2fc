//! `wmma`: fragments between memory and registers, and their products.

use super::*;
use crate::emulator::mma::{MATRIX, REGISTERS};
use crate::emulator::program::{FragmentAccess, Order, WmmaOp};

/// Bytes to whose multiples the distance of lines is held where fragments are larger: CUDA's guide allows them, where PTX has a line aligned as the
/// first one is.
const STRIDE: u64 = 16;

/// The lines of a fragment in memory: where the first one begins, and the bytes from each to the next.
struct Lines {
    start: u64,
    stride: u64,
}

impl Context<'_> {
    /// `wmma.load`, by the accesses that the machine makes of it.
    pub(super) fn load_fragment(
        &mut self,
        warp: &mut Warp,
        op: &FragmentAccess,
        here: Mask,
        pc: u32,
    ) {
        let fragment = &op.fragment;
        let mut elements = [0; MATRIX];
        if let Some(lines) = self.lines(warp, op, here, pc) {
            for piece in &fragment.pieces {
                let at = piece
                    .places
                    .map(|place| lines.address(place, fragment.bytes));
                self.count(pc, op.space, &at, here, piece.bytes as u32, false);
                for lane in lanes(here) {
                    let mut data = [0; 16];
                    let data = &mut data[..piece.bytes];
                    let place = (op.space, at[lane]);
                    self.read_lane(warp, lane, pc, place, data, Order::default());
                    let (line, offset) = piece.places[lane];
                    let to = &mut elements[line * fragment.length + offset..];
                    for (to, part) in to.iter_mut().zip(data.chunks_exact(fragment.bytes)) {
                        let mut word = [0; 8];
                        word[..fragment.bytes].copy_from_slice(part);
                        *to = u64::from_le_bytes(word);
                    }
                }
            }
        }
        let mut rows = [[0; LANES]; REGISTERS];
        fragment.to_registers(&elements, &mut rows);
        for (reg, row) in op.regs.iter().zip(&rows) {
            Self::set(warp, *reg, row, here);
        }
    }

    /// `wmma.store`, by the accesses that the machine makes of it.
    pub(super) fn store_fragment(
        &mut self,
        warp: &mut Warp,
        op: &FragmentAccess,
        here: Mask,
        pc: u32,
    ) {
        let fragment = &op.fragment;
        let mut rows = [[0; LANES]; REGISTERS];
        for (reg, row) in op.regs.iter().zip(&mut rows) {
            self.check(warp, *reg, here, pc);
            *row = *warp.row(*reg);
        }
        let mut elements = [0; MATRIX];
        fragment.to_elements(&rows[..op.regs.len()], &mut elements);
        let Some(lines) = self.lines(warp, op, here, pc) else {
            return;
        };
        for piece in &fragment.pieces {
            let at = piece
                .places
                .map(|place| lines.address(place, fragment.bytes));
            self.count(pc, op.space, &at, here, piece.bytes as u32, true);
            for lane in lanes(here) {
                let (line, offset) = piece.places[lane];
                let from = &elements[line * fragment.length + offset..];
                let mut data = [0; 16];
                let data = &mut data[..piece.bytes];
                for (part, from) in data.chunks_exact_mut(fragment.bytes).zip(from) {
                    part.copy_from_slice(&from.to_le_bytes()[..fragment.bytes]);
                }
                let place = (op.space, at[lane]);
                self.write_lane(warp, lane, pc, place, data, Order::default());
            }
        }
    }

    /// The lines of a fragment; none, and a finding, where there can be none.
    fn lines(&mut self, warp: &Warp, op: &FragmentAccess, here: Mask, pc: u32) -> Option<Lines> {
        let at = self.addresses(warp, op.base, op.offset, here, pc);
        let leader = first(here);
        let start = at[leader];
        let stride = match op.stride {
            Some(reg) => {
                self.check(warp, reg, here, pc);
                let row = warp.row(reg);
                self.agrees(warp, row, "stride", here, pc);
                row[leader] & 0xffff_ffff
            }
            None => (op.fragment.length * op.fragment.elements) as u64,
        };
        self.agrees(warp, &at, "address", here, pc);
        let place = Some((op.space, start));
        let (space, in_space) = Self::space_of(op.space, start);
        if !matches!(space, Space::Shared | Space::Global) {
            self.find(Kind::Undefined, pc, None, warp.index, leader, place, || {
                "expected a fragment in global or shared memory, found an address of another space"
                    .into()
            });
            return None;
        }
        let size = op.fragment.size() as u64;
        let apart = size.min(STRIDE);
        // Elements of less than a byte may leave a part of one.
        let elements = op.fragment.elements as u64;
        let of_all = stride * op.fragment.bytes as u64;
        let are_apart = of_all.is_multiple_of(elements * apart);
        if !in_space.is_multiple_of(size) || !are_apart {
            self.find(Kind::Misaligned, pc, None, warp.index, leader, place, || {
                format!(
                    "expected a fragment at a multiple of its {size} bytes, with lines a multiple of {apart} bytes apart, found the address \
                     {in_space:#x} and {} bytes; align the matrix and pad its lines",
                    of_all as f64 / elements as f64
                )
            });
            return None;
        }
        Some(Lines {
            start,
            stride: of_all / elements,
        })
    }

    /// Notes lanes that have another operand than the first one.
    fn agrees(&mut self, warp: &Warp, row: &Row, what: &str, here: Mask, pc: u32) {
        let leader = first(here);
        let others = select(here, |lane| row[lane] != row[leader]);
        if others != 0 {
            let (mine, its) = (row[leader], row[first(others)]);
            self.find(Kind::Undefined, pc, None, warp.index, first(others), None, || {
                format!(
                    "expected one {what} in all lanes of the warp, found {mine:#x} in lane {leader} and {its:#x} in lane {}",
                    first(others)
                )
            });
        }
    }

    /// `wmma.mma`
    pub(super) fn wmma(&mut self, warp: &mut Warp, op: &WmmaOp, here: Mask, pc: u32) {
        let mut rows = [[[0; LANES]; REGISTERS]; 3];
        for (rows, regs) in rows.iter_mut().zip([&op.a, &op.b, &op.c]) {
            for (row, reg) in rows.iter_mut().zip(regs) {
                self.check(warp, *reg, here, pc);
                *row = *warp.row(*reg);
            }
        }
        if let Some((load, text)) = self.launch.kernel.mismatched.get(&pc) {
            let lane = first(here);
            self.find(
                Kind::Undefined,
                pc,
                Some(*load),
                warp.index,
                lane,
                None,
                || text.clone(),
            );
        }
        let [a, b, c] = &rows;
        let [of_a, of_b] = op.mma.distinct();
        for (name, rows, distinct, regs) in [("A", a, of_a, &op.a), ("B", b, of_b, &op.b)] {
            let again = (distinct..regs.len()).map(|at| (at, at % distinct));
            for (at, first_at) in again {
                let differs = select(here, |lane| rows[at][lane] != rows[first_at][lane]);
                if differs != 0 {
                    let lane = first(differs);
                    self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                        format!(
                            "expected registers {first_at} and {at} of {name} to hold the same, as they stand for the same elements, found two values; \
                             change all elements of a fragment in one way, or load it again"
                        )
                    });
                    break;
                }
            }
        }
        let mut d = [[0; LANES]; REGISTERS];
        let d = &mut d[..op.d.len()];
        op.mma
            .execute(&a[..op.a.len()], &b[..op.b.len()], &c[..op.c.len()], d);
        for (reg, value) in op.d.iter().zip(&*d) {
            Self::set(warp, *reg, value, here);
        }
    }
}

impl Lines {
    /// The address of an element, by its line and its place there.
    fn address(&self, (line, offset): (usize, usize), bytes: usize) -> u64 {
        let from_start = line as u64 * self.stride + (offset * bytes) as u64;
        self.start.wrapping_add(from_start)
    }
}

//! Single steps: what fills buffers, what reads them, what computes.

use super::{
    By, How, Index, Layout, MmaAtom, Move, Operand, Place, Statement, Tile, TiledMma, Writer,
};
use crate::pipelines::tile::Element;

/// The tiled MMA of so many warps down and across, and its type.
pub fn product(down: i64, across: i64) -> Option<(TiledMma, String)> {
    let warps = format!("({down},{across},1):(1,{down},0)");
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").ok()?;
    let mma = TiledMma::new(atom, Layout::parse(&warps).ok()?, Tile::Underscore).ok()?;
    let ty = format!(
        "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <\"{warps}\">, \
         permutation_MNK = <\"_\">>"
    );
    Some((mma, ty))
}

/// The registers of an operand of so many elements of the atom.
fn operand(
    mma: &TiledMma,
    o: Operand,
    part: &Layout,
    element: Element,
    values: i64,
) -> Option<String> {
    let place = Place {
        space: "rmem",
        align: values * element.bytes,
        swizzle: None,
        layout: mma.fragment(o, part).ok()?,
    };
    Some(place.ty(element))
}

impl Writer<'_> {
    pub(super) fn one(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Allocate(buffer) => {
                let allocation = self.allocation(*buffer);
                // Of a name that is defined once, here.
                self.line(format!("%s{buffer} = {allocation}"));
            }
            Statement::Fill {
                buffer,
                how,
                by,
                tile,
            } => self.fill(*buffer, *how, by, tile)?,
            Statement::Load {
                registers,
                buffer,
                by,
                tile,
            } => {
                let found = self.fetch(*buffer, by, tile)?;
                self.registers.insert(*registers, (found.0, found.1));
            }
            Statement::Store {
                registers,
                buffer,
                by,
            } => {
                let found = self.registers.get(registers)?.clone();
                let copy = self.copy(by, false);
                let (to, part) = self.shared(&copy, by, 'D', *buffer)?;
                self.moves(&copy, (&found.0, &found.1), (&to, &part.ty));
            }
            Statement::Derive {
                from,
                to,
                by,
                times,
            } => {
                let element = self.program.buffers[*from].tile.element;
                let copy = self.copy(by, false);
                let (name, ty, size) = self.read(*from, by)?;
                if *times != 1 {
                    let value = self.times((&name, &ty), size, element, *times);
                    self.store_all(&value, size, element, (&name, &ty));
                }
                let (to, part) = self.shared(&copy, by, 'D', *to)?;
                self.moves(&copy, (&name, &ty), (&to, &part.ty));
            }
            Statement::Out {
                from,
                output,
                slot,
                by,
                times,
                adds,
            } => self.out(from, (*output, slot), by, *times, *adds)?,
            Statement::OutElements {
                from,
                output,
                slot,
                shift,
            } => {
                let slot = self.slot(*output, slot);
                let (of, to) = (&self.program.buffers[*from], &self.program.outputs[*output]);
                let element = of.tile.element;
                let (shared, global) = (of.shared.ty(element), to.global.ty(element));
                self.elements(
                    (of.tile.size(), of.tile.n),
                    *shift,
                    |writer, row, column| {
                        let value =
                            writer.load(&format!("%s{from}"), &shared, &[row, column], element);
                        let at = [row, column, &slot];
                        writer.store(&format!("%Y{output}"), &global, &at, element, &value);
                    },
                );
            }
            Statement::Sum {
                from,
                sum,
                times,
                vectors,
            } => {
                let By::Copy(by) = &self.program.sums[*sum].by else {
                    return None;
                };
                let element = self.program.buffers[*from].tile.element;
                let (name, ty, size) = self.read(*from, by)?;
                let sums = format!("%r{sum}");
                if *vectors || !element.is_float() {
                    let term = self.times((&name, &ty), size, element, *times);
                    let before = self.times((&sums, &ty), size, element, 1);
                    let value = self.sum(&before, &term, size, element);
                    self.store_all(&value, size, element, (&sums, &ty));
                } else {
                    let times = self.once(format!("arith.constant {}", element.constant(*times)));
                    let one = self.once(format!("arith.constant {}", element.constant(1)));
                    let e = element.name;
                    self.line(format!(
                        "cute.axpby({times}, {name}, {one}, {sums}) : ({e}, {ty}, {e}, {ty})"
                    ));
                }
            }
            Statement::Product { a, b, sum } => self.multiply(*a, *b, *sum)?,
            Statement::Clear(sum) => {
                let ty = self.sums(*sum)?;
                self.line(format!("cute.clear(%r{sum}) : ({ty})"));
            }
            Statement::OutSum { sum, output, slot } => self.out_sum(*sum, *output, slot)?,
            Statement::Carry { from, lane, shift } => {
                let of = &self.program.buffers[*from];
                let (element, columns, size) = (of.tile.element, of.tile.n, of.tile.size());
                let shared = of.shared.ty(element);
                let (shift, size) = (self.text.i32(*shift), self.text.i32(size));
                let columns = self.text.i32(columns);
                let sum = self.text.value(format!("arith.addi %t, {shift} : i32"));
                let e = self.text.value(format!("arith.remui {sum}, {size} : i32"));
                let row = self.text.value(format!("arith.divui {e}, {columns} : i32"));
                let column = self.text.value(format!("arith.remui {e}, {columns} : i32"));
                let value = self.load(&format!("%s{from}"), &shared, &[&row, &column], element);
                let before = self.carried.last()?.get(*lane)?.clone();
                let after = self.sum(&before, &value, 0, element);
                *self.carried.last_mut()?.get_mut(*lane)? = after;
            }
            Statement::Barrier => self.line("gpu.barrier".into()),
            Statement::For(of) => self.counts(of)?,
            Statement::While { id, trips, body } => self.repeats(*id, *trips, body)?,
            Statement::If {
                condition,
                then,
                other,
            } => self.branches(condition, then, other)?,
        }
        Some(())
    }

    /// A buffer in registers, as a copy deals it out.
    fn read(&mut self, buffer: usize, by: &Move) -> Option<(String, String, i64)> {
        let copy = self.copy(by, false);
        let (from, part) = self.shared(&copy, by, 'S', buffer)?;
        let (name, ty, size) = self.fragment(by, &part)?;
        self.moves(&copy, (&from, &part.ty), (&name, &ty));
        Some((name, ty, size))
    }

    /// A tile of global memory in registers.
    fn fetch(&mut self, buffer: usize, by: &Move, tile: &Index) -> Option<(String, String, i64)> {
        let of = &self.program.buffers[buffer];
        let tile = self.index(tile, of.tiles);
        let copy = self.copy(by, false);
        let (name, ty, size) = self.fragment(by, &by.part(&of.shared)?)?;
        let tensor = format!("%X{buffer}");
        let tensor = (&*tensor, &of.global, of.tile.element);
        let from = self.global(&copy, by, 'S', tensor, &tile)?;
        self.moves(&copy, (&from.0, &from.1), (&name, &ty));
        Some((name, ty, size))
    }

    fn fill(&mut self, buffer: usize, how: How, by: &Move, tile: &Index) -> Option<()> {
        let of = &self.program.buffers[buffer];
        let element = of.tile.element;
        let tensor = format!("%X{buffer}");
        match how {
            How::Async | How::Direct => {
                let tile = self.index(tile, of.tiles);
                let copy = self.copy(by, how == How::Async);
                let tensor = (&*tensor, &of.global, element);
                let from = self.global(&copy, by, 'S', tensor, &tile)?;
                let (to, part) = self.shared(&copy, by, 'D', buffer)?;
                self.moves(&copy, (&from.0, &from.1), (&to, &part.ty));
            }
            How::Scaled(times) => {
                let (name, ty, size) = self.fetch(buffer, by, tile)?;
                if times != 1 {
                    let value = self.times((&name, &ty), size, element, times);
                    self.store_all(&value, size, element, (&name, &ty));
                }
                let copy = self.copy(by, false);
                let (to, part) = self.shared(&copy, by, 'D', buffer)?;
                self.moves(&copy, (&name, &ty), (&to, &part.ty));
            }
            How::Elements => {
                let tile = self.index(tile, of.tiles);
                let (shared, global) = (of.shared.ty(element), of.global.ty(element));
                self.elements((of.tile.size(), of.tile.n), 0, |writer, row, column| {
                    let value = writer.load(&tensor, &global, &[row, column, &tile], element);
                    let at = [row, column];
                    writer.store(&format!("%s{buffer}"), &shared, &at, element, &value);
                });
            }
        }
        Some(())
    }

    fn out(
        &mut self,
        from: &[usize],
        (output, slot): (usize, &Index),
        by: &Move,
        times: i64,
        adds: bool,
    ) -> Option<()> {
        let to = &self.program.outputs[output];
        let element = to.tile.element;
        let slot = self.slot(output, slot);
        let copy = self.copy(by, false);
        let tensor = format!("%Y{output}");
        let (first, ty, size) = self.read(from[0], by)?;
        let scaled_later = adds && from.len() == 1;
        if from.len() > 1 || (times != 1 && !scaled_later) {
            let mut sum = self.times((&first, &ty), size, element, times);
            for buffer in &from[1..] {
                let (other, ty, size) = self.read(*buffer, by)?;
                let term = self.times((&other, &ty), size, element, times);
                sum = self.sum(&sum, &term, size, element);
            }
            self.store_all(&sum, size, element, (&first, &ty));
        }
        let tensor = (&*tensor, &to.global, element);
        let target = self.global(&copy, by, 'D', tensor, &slot)?;
        if adds {
            let times = if scaled_later { times } else { 1 };
            let times = self.once(format!("arith.constant {}", element.constant(times)));
            let one = self.once(format!("arith.constant {}", element.constant(1)));
            let (e, name, gty) = (element.name, &target.0, &target.1);
            self.line(format!(
                "cute.axpby({times}, {first}, {one}, {name}) : ({e}, {ty}, {e}, {gty})"
            ));
        } else {
            self.moves(&copy, (&first, &ty), (&target.0, &target.1));
        }
        Some(())
    }

    /// The type of the registers of a sum, which are made at the start of the kernel.
    fn sums(&mut self, sum: usize) -> Option<String> {
        let of = &self.program.sums[sum];
        let ty = match &of.by {
            By::Copy(by) => {
                let place = of.tile.global(1, 0).ok()?;
                by.registers(&by.part(&place)?)?.0
            }
            By::Product(down, across) => {
                let (mma, _) = product(*down, *across)?;
                let place = of.tile.global(1, 0).ok()?;
                let whole = Layout::from_modes(&place.layout.modes()[..2]).ok()?;
                let part = mma.partition_c(&whole).ok()?.val.without_unit_strides();
                operand(&mma, Operand::C, &part, of.tile.element, 4)?
            }
        };
        let name = format!("%r{sum}");
        if self.made.insert(name.clone(), name.clone()).is_none() {
            self.heads
                .push(format!("{name} = cute.memref.alloca() : {ty}"));
        }
        Some(ty)
    }

    fn out_sum(&mut self, sum: usize, output: usize, slot: &Index) -> Option<()> {
        let ty = self.sums(sum)?;
        let to = &self.program.outputs[output];
        let element = to.tile.element;
        let slot = self.slot(output, slot);
        let tensor = format!("%Y{output}");
        match &self.program.sums[sum].by {
            By::Copy(by) => {
                let copy = self.copy(by, false);
                let tensor = (&*tensor, &to.global, element);
                let target = self.global(&copy, by, 'D', tensor, &slot)?;
                self.moves(&copy, (&format!("%r{sum}"), &ty), (&target.0, &target.1));
            }
            By::Product(down, across) => {
                let (mma, mma_ty) = product(*down, *across)?;
                let name = self.mma(&mma_ty);
                let (cut, place) = self.cut(&tensor, &to.global, element, &slot)?;
                let part =
                    self.operand_part(&mma, (&name, &mma_ty), Operand::C, &cut, &place, element)?;
                let one = self.once("arith.constant 1.0 : f32".into());
                let none = self.once("arith.constant 0.0 : f32".into());
                self.line(format!(
                    "cute.axpby({one}, %r{sum}, {none}, {}) : (f32, {ty}, f32, {})",
                    part.0, part.1
                ));
            }
        }
        Some(())
    }

    fn mma(&mut self, ty: &str) -> String {
        let atom = self.once(
            "cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>"
                .into(),
        );
        self.once(format!("cute.make_tiled_mma({atom}) : {ty}"))
    }

    /// A thread's part of an operand of a product, its type, and its layout.
    fn operand_part(
        &mut self,
        mma: &TiledMma,
        (name, ty): (&str, &str),
        o: Operand,
        tensor: &str,
        place: &Place,
        element: Element,
    ) -> Option<(String, String, Layout)> {
        let part = mma
            .partition(o, &place.layout, cute_layout::Residue::Refuse)
            .ok()?;
        let layout = part.val.without_unit_strides();
        let found = Place {
            layout: layout.clone(),
            align: super::aligned(place.align, &part.thr, element),
            ..place.clone()
        };
        let found = found.ty(element);
        let letter = match o {
            Operand::A => 'A',
            Operand::B => 'B',
            Operand::C => 'C',
        };
        let value = self.text.value(format!(
            "cute.tiled.mma.partition {letter} ({name}, {tensor}, %thread) : ({ty}, {}, !cute.coord<\"?\">) -> {found}",
            place.ty(element)
        ));
        Some((value, found, layout))
    }

    fn multiply(&mut self, a: usize, b: usize, sum: usize) -> Option<()> {
        let By::Product(down, across) = self.program.sums[sum].by else {
            return None;
        };
        let (mma, ty) = product(down, across)?;
        let name = self.mma(&ty);
        let sums = self.sums(sum)?;
        let mut operands = Vec::new();
        for (buffer, o, values) in [(a, Operand::A, 8), (b, Operand::B, 4)] {
            let of = &self.program.buffers[buffer];
            let tensor = format!("%s{buffer}");
            let element = of.tile.element;
            let part = self.operand_part(&mma, (&name, &ty), o, &tensor, &of.shared, element)?;
            let fragment = operand(&mma, o, &part.2, element, values)?;
            let letter = if o == Operand::A { 'A' } else { 'B' };
            let registers = self.text.value(format!(
                "cute.mma.make_fragment {letter} ({name}, {}) : ({ty}, {}) -> {fragment}",
                part.0, part.1
            ));
            self.line(format!(
                "cute.autovec_copy({}, {registers}) : ({}, {fragment})",
                part.0, part.1
            ));
            operands.push((registers, fragment));
        }
        let [(a, a_ty), (b, b_ty)] = &operands[..] else {
            return None;
        };
        self.line(format!(
            "cute.gemm({name}, %r{sum}, {a}, {b}, %r{sum}) : ({ty}, {sums}, {a_ty}, {b_ty}, {sums})"
        ));
        Some(())
    }
}

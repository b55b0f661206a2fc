//! Products of warpgroups, which go on while their threads do: accumulators are values that every fence, product and wait takes and
//! gives, so that nothing is moved past them.

use super::{
    Values,
    registers::{bitcast, bits, extract_element, places},
    sums::{self, Guard, Sums},
};
use cute_ir::ops::{cute_nvgpu, vector};
use cute_ir::{Expected, Failure, algorithm, args::GemmArgs, diag, hopper, mlir::*, types};
use cute_layout::{Layout, atoms::FragKind};
use melior::ir::{Location, Type, ValueLike};
use std::collections::{BTreeMap, BTreeSet};

/// Registers that products read and add to.
#[derive(Clone, Default)]
pub(super) struct Operands<'c> {
    /// Operands A of products that may be under way.
    held: Vec<Held<'c>>,
    /// The files that were not written since a fence was given them.
    fenced: BTreeSet<usize>,
    /// The files that nothing but products has read or written since a fence was given them: what products may add to.
    ready: BTreeMap<usize, Ready>,
    /// The last place where a file was read or written by anything else.
    touched: BTreeMap<usize, Location<'c>>,
    /// The products that add to what a fence was given: file, number of the fence and place.
    relied: Vec<(usize, usize, Location<'c>)>,
    /// Fences so far.
    fences: usize,
    /// Accumulators of products that may be under way.
    pub sums: Sums<'c>,
    /// Registers that they take A from.
    lefts: Sums<'c>,
    /// Groups that were committed, at least.
    pub committed: i64,
    /// The condition of the innermost branch, and whether it holds here.
    pub guard: Option<Guard>,
}

impl<'c> Operands<'c> {
    /// Joins two states: all that may be the case where one of them is.
    pub(super) fn joined(mut self, other: Self) -> Self {
        self.fenced.retain(|file| other.fenced.contains(file));
        self.ready.retain(|file, own| {
            let Some(other) = other.ready.get(file) else {
                return false;
            };
            own.fence = own.fence.min(other.fence);
            let alike = own.shape.is_none() || other.shape.is_none() || own.shape == other.shape;
            own.shape = own.shape.or(other.shape);
            alike
        });
        self.touched.extend(other.touched);
        self.relied = other.relied;
        self.fences = other.fences;
        let least = self.committed.min(other.committed);
        let join = |own: Sums<'c>, others: Sums<'c>| {
            let own = own.renumbered(self.committed, least);
            own.joined(others.renumbered(other.committed, least))
        };
        self.sums = join(self.sums, other.sums);
        self.lefts = join(self.lefts, other.lefts);
        for held in &mut self.held {
            held.group = sums::renumbered(held.group, self.committed, least);
        }
        for mut held in other.held {
            held.group = sums::renumbered(held.group, other.committed, least);
            held.value = None;
            let is_there = |own: &&mut Held<'_>| (own.file, own.group) == (held.file, held.group);
            match self.held.iter_mut().find(is_there) {
                Some(own) => own.guard = own.guard.filter(|_| own.guard == held.guard),
                None => self.held.push(held),
            }
        }
        self.committed = least;
        self
    }
}

/// Accumulators that products may add to.
#[derive(Clone, Copy)]
struct Ready {
    /// The number of the fence that was given them.
    fence: usize,
    /// M, N and K of the products that may be adding to them; those of another shape are not ordered behind them (PTX ISA, wgmma.fence).
    shape: Option<[i64; 3]>,
}

/// The way in which control comes to a region.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// Any number of times, from its end as well.
    Loop,
    /// Once, or not at all.
    Branch,
}

/// The state before a region.
pub(super) struct Before<'c> {
    files: usize,
    operands: Operands<'c>,
}

/// An operand of a product that may be under way.
#[derive(Clone)]
struct Held<'c> {
    file: usize,
    /// Groups that were committed before the product started.
    group: i64,
    /// Its values; none where the place is in a region that has ended.
    value: Option<Val<'c>>,
    /// The condition without which the product does not start.
    guard: Option<Guard>,
}

/// Tells whether products of this type are those of a warpgroup.
pub(super) fn is_of_a_warpgroup(mma: Type<'_>) -> bool {
    types::mma_row(mma).is_some_and(|atom| hopper::is_asynchronous(&atom))
}

impl<'c> Values<'c> {
    /// Atom by atom of M and N, each with all of K.
    pub(super) fn warpgroup_gemm(
        &mut self,
        args: GemmArgs<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let GemmArgs::Mma {
            mma,
            d,
            a,
            b: right,
            ..
        } = args
        else {
            return Err(b.error("expected a product of fragments; run cute-lower-algorithms first"));
        };
        let place = self.views.get(d).ok_or_else(|| super::known::no_start(b))?;
        let view = super::View::at(place);
        let memref = |value: Val<'c>| types::memref_of(value).expected(b, "a tensor");
        let (of_a, of_b, of_d) = (memref(a)?, memref(right)?, memref(d)?);
        let extents =
            hopper::check_product(mma.r#type(), [&of_a, &of_b, &of_d]).map_err(|e| b.error(e))?;
        let product = algorithm::product_of(mma.r#type()).expected(b, "an MMA atom")?;
        product.map_err(|e| b.error(e))?;
        let one = || Layout::leaf(1, 0).map_err(|e| b.error(e.to_string()));
        let mut modes = view.layout.modes();
        while modes.len() < 3 {
            modes.push(one()?);
        }
        let (tiled, right) = (self.tiled(mma, b)?, self.map(right));
        let atom = types::mma_row(mma.r#type()).expected(b, "an MMA atom")?;
        let in_registers = atom.frag_kind() == FragKind::Rs;
        self.add_to(view.file, atom.shape_mnk, b)?;
        for m in 0..extents.m {
            let left = match in_registers {
                true => self.operand(a, m, b)?,
                false => self.map(a),
            };
            for n in 0..extents.n {
                let start = view.offset + modes[1].at(m) + modes[2].at(n);
                let places = places(&modes[0], start, b)?;
                let sum = self.read(&view, &places, b)?;
                let at = [("at", b.i64_array(&[m, n]))];
                let operands = [tiled, left, right, sum];
                let sum = b.value(cute_nvgpu::ATOM_WGMMA, &operands, sum.r#type(), &at)?;
                self.write(&view, &places, sum, b)?;
            }
        }
        let group = self.operands.committed;
        let guard = self.operands.guard;
        self.operands
            .sums
            .start(view.file, group, b.location, guard);
        Ok(())
    }

    /// A product of this shape adds to a file. Refuses one that no fence orders behind what was done to these registers.
    fn add_to(&mut self, file: usize, shape: [i64; 3], b: Builder<'c>) -> Result<(), Failure> {
        let Some(ready) = self.operands.ready.get_mut(&file) else {
            let place = self.operands.touched.get(&file);
            let note = place.map(|place| (*place, "they are read or written here"));
            return Err(diag::error_with_notes(
                b.location,
                "adds to accumulators that no fence was given since they were last read or written; give this fragment to cute_nvgpu.wgmma_fence, \
                 between what reads or writes it and here",
                note.as_slice(),
            ));
        };
        if let Some(before) = ready.shape.replace(shape)
            && before != shape
        {
            let text = |[m, n, k]: [i64; 3]| format!("{m}x{n}x{k}");
            return Err(b.error(format!(
                "adds to accumulators that products of {} may be adding to, with one of {}, and only those of one shape are in order; give this fragment to \
                 cute_nvgpu.wgmma_fence between the two",
                text(before),
                text(shape)
            )));
        }
        let relied = (file, ready.fence, b.location);
        self.operands.relied.push(relied);
        Ok(())
    }

    /// The registers of A of one row of atoms, for one step of K after the other, which a product is going to read.
    fn operand(&mut self, a: Val<'c>, m: i64, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let place = self.views.get(a).ok_or_else(|| super::known::no_start(b))?;
        let view = super::View::at(place);
        if !self.operands.fenced.contains(&view.file) {
            return Err(b.error(
                "takes A from registers that were written since the last fence; give this fragment to cute_nvgpu.wgmma_fence, beside the \
                 accumulators, between what writes it and here",
            ));
        }
        let modes = view.layout.modes();
        let of = |mode: usize, at: i64| modes.get(mode).map_or(0, |mode| mode.at(at));
        let steps = match modes.get(2) {
            Some(mode) => mode.size().map_err(|e| b.error(e.to_string()))?,
            None => 1,
        };
        // As words of 32 bits: each goes from the fence to the product as it is.
        let word = b.i32_type();
        let mut words = Vec::new();
        for k in 0..steps {
            let start = view.offset + of(1, m) + of(2, k);
            let places = places(&modes[0], start, b)?;
            let value = self.read(&view, &places, b)?;
            let count = places.len() as i64 * bits(view.element) / 32;
            let value = bitcast(b, value, b.vector(count, word))?;
            for at in 0..count {
                words.push(extract_element(b, value, at, word)?);
            }
        }
        let ty = b.vector(words.len() as i64, word);
        let value = b.value(vector::FROM_ELEMENTS, &words, ty, &[])?;
        let (group, guard) = (self.operands.committed, self.operands.guard);
        self.operands.held.push(Held {
            file: view.file,
            group,
            value: Some(value),
            guard,
        });
        let lefts = &mut self.operands.lefts;
        lefts.start(view.file, group, b.location, guard);
        Ok(value)
    }

    /// Refuses to write registers that products under way read (PTX ISA, wgmma: such accesses are undefined), and notes that they are to be
    /// fenced.
    pub(super) fn note_written(&mut self, file: usize, b: Builder<'c>) -> Result<(), Failure> {
        self.operands.fenced.remove(&file);
        if self.operands.held.iter().any(|held| held.file == file) {
            return Err(b.error(
                "writes registers that products under way take A from; expected a cute_nvgpu.wgmma_wait_group for their group between the \
                 product and here, or another fragment",
            ));
        }
        self.operands.lefts.note_touch(file, b.location);
        Ok(())
    }

    /// A region begins, which may be entered again with what it leaves: what it writes is not fenced. Returns what was the case before it.
    pub(super) fn enter_region(&mut self, written: &BTreeSet<usize>, way: Way) -> Before<'c> {
        for file in written {
            self.operands.fenced.remove(file);
        }
        let before = Before {
            files: self.files.len(),
            operands: self.operands.clone(),
        };
        if way == Way::Loop {
            self.operands.sums.enter_turn();
            self.operands.lefts.enter_turn();
        }
        before
    }

    /// A region ends. A loop's may not have been entered at all, and its next turn writes what it wrote, and the files that were made in it, again; of a
    /// branch is left what it leaves.
    pub(super) fn leave_region(
        &mut self,
        before: Before<'c>,
        (written, way): (&BTreeSet<usize>, Way),
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let is_loop = way == Way::Loop;
        let mut after = std::mem::take(&mut self.operands);
        let began = before.operands.committed;
        if is_loop {
            let is_made = after.held.iter().any(|held| held.file >= before.files);
            let met = after.lefts.met(after.committed, began);
            if is_made || met.is_some() {
                let notes = met.map(|(touch, _)| (touch, "they are written here"));
                return Err(diag::error_with_notes(
                    b.location,
                    "expected products that take A from registers to be waited for in the turn of the loop that starts them, as the next one writes \
                     these again before it waits; put a cute_nvgpu.wgmma_wait_group 0 at its end",
                    notes.as_slice(),
                ));
            }
            after.lefts.end_turn(&before.operands.lefts);
        }
        after.sums.check_made_since(before.files)?;
        if !is_loop {
            for held in &mut after.held {
                let is_there = |own: &Held<'_>| (own.file, own.group) == (held.file, held.group);
                if !before.operands.held.iter().any(is_there) {
                    held.value = None;
                }
            }
            for file in written {
                after.fenced.remove(file);
            }
            self.operands = after;
            return Ok(());
        }
        after
            .sums
            .leave_turn(&before.operands.sums, after.committed, began)?;
        // The next turn's product relies on the fence before the loop as well.
        let within = before.operands.relied.len();
        let unready = after.relied[within..].iter().find(|(file, fence, _)| {
            *fence <= before.operands.fences && !after.ready.contains_key(file)
        });
        if let Some((file, _, product)) = unready {
            let place = after.touched.get(file);
            let note = place.map(|place| (*place, "they are read or written here"));
            return Err(diag::error_with_notes(
                *product,
                "adds to accumulators that the loop reads or writes before the next turn comes here, and no fence was given them in between; give this \
                 fragment to cute_nvgpu.wgmma_fence in the loop, before this product",
                note.as_slice(),
            ));
        }
        self.operands = before.operands.joined(after);
        for file in written {
            self.operands.fenced.remove(file);
        }
        Ok(())
    }

    /// The state where a branch begins, behind others that began with the same state: what these relied on remains to be looked at. The branch is the one where
    /// `guard` says, and which the innermost loop takes in its first turn only if `is_first`.
    pub(super) fn enter_branch(
        &mut self,
        before: &Operands<'c>,
        others: Option<&Operands<'c>>,
        guard: Guard,
        is_first: bool,
    ) {
        self.operands = before.clone();
        self.operands.sums.enter_branch(guard, is_first);
        self.operands.lefts.enter_branch(guard, is_first);
        self.operands
            .held
            .retain(|held| !sums::excludes(held.guard, guard));
        self.operands.guard = Some(guard);
        if let Some(others) = others {
            self.operands.relied = others.relied.clone();
            self.operands.fences = others.fences;
        }
    }

    /// A fence before products or a wait for them, by which their accumulators go as values.
    pub(super) fn accumulators(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let mut files = Vec::new();
        for fragment in operands_of(op) {
            let place = self
                .views
                .get(fragment)
                .ok_or_else(|| super::known::no_start(b))?;
            if !files.contains(&place.start.file) {
                files.push(place.start.file);
            }
        }
        let mut operands = Vec::new();
        for file in &files {
            for vector in &self.files[*file].vectors {
                let Some(vector) = vector else {
                    return Err(self.uninitialized(*file, b));
                };
                let held = vector_of(vector.r#type());
                let narrow = held.filter(|(length, element)| (length * bits(*element)) % 32 != 0);
                if let Some((length, element)) = narrow {
                    return Err(b.error(format!(
                        "is given registers that hold {length} x {element} at a time, where warpgroups take whole words of 32 bits; make the fragment with \
                         cute.mma.make_fragment or cute.make_fragment_like, whose elements lie in the order in which they are multiplied"
                    )));
                }
                operands.push(*vector);
            }
        }
        let types: Vec<_> = operands.iter().map(|value| value.r#type()).collect();
        let mut attributes = attributes_of(op);
        if let Some(pending) = integer_of(op, "pending") {
            // Until here the registers of A are taken.
            let held = &mut self.operands.held;
            let values: Vec<_> = held.iter().filter_map(|held| held.value).collect();
            if !values.is_empty() {
                let count = b.integer(b.i32_type(), values.len() as i64);
                attributes.push(("kept", count));
                operands.extend(values);
            }
            let committed = self.operands.committed;
            held.retain(|held| held.group >= committed - pending);
            self.operands.lefts.wait_for_all(committed - pending);
            self.operands.sums.wait(&files, committed - pending);
        } else {
            self.operands.fenced.extend(&files);
            self.operands.fences += 1;
            let ready = Ready {
                fence: self.operands.fences,
                shape: None,
            };
            let files = files.iter().map(|file| (*file, ready));
            self.operands.ready.extend(files);
        }
        let made = b.op(name_of(op), &operands, &types, &attributes)?;
        let mut results = results_of(made).into_iter();
        for file in &files {
            for vector in &mut self.files[*file].vectors {
                *vector = results.next();
            }
        }
        Ok(())
    }

    /// Reads or writes registers by anything but products. Refuses to touch the accumulators of those that may be under way (PTX ISA, wgmma: such
    /// accesses are undefined), and notes that a fence is to follow before others add to them.
    pub(super) fn touch(&mut self, file: usize, b: Builder<'c>) -> Result<(), Failure> {
        let committed = self.operands.committed;
        self.operands.sums.touch(file, committed, b)?;
        self.operands.ready.remove(&file);
        self.operands.touched.insert(file, b.location);
        Ok(())
    }
}

//! Atoms on values, each as the instruction of its table; and their state, which goes with them.
//!
//! An atom's state is known where the atom is made, so it is followed from value to value here, and its parts become operands
//! of the instruction.

use super::{Lowering, mma_sync, reduce, sm75, sm80, sm90, universal, wgmma};
use cute_ir::{
    Expected, Failure,
    args::field_of,
    mlir::*,
    ops::{cute, cute_nvgpu, gpu},
    types::{self, CopyOp, CuteType},
};
use cute_layout::atoms::{Issue, MmaAtom};
use cute_passes::arch;
use cute_target::{Arch, Requirement};
use melior::ir::ValueLike;

/// The targets on which loads, stores and `cp.async` take a cache policy. (PTX ISA, `ld`, `.level::cache_hint`.)
const CACHE_POLICY: Requirement = Requirement::Since(8, 0);

/// Tells whether a product is lowered to an instruction; of the others there are the tables only.
pub fn lowers(atom: &MmaAtom) -> bool {
    atom.issue == Issue::Thread || mma_sync::has_instruction(atom) || wgmma::has_instruction(atom)
}

/// The parts of a state, in the order of [`CuteType::fields`]: those that were set.
pub(super) type State<'c> = Vec<Option<Val<'c>>>;

impl<'c> Lowering<'c, '_> {
    /// Lowers an op on atoms; false where `op` is none.
    pub(super) fn atom_op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        if let Some(op) = cute::MakeAtom::of(op) {
            let state = op.state();
            let state = if state.is_empty() {
                vec![None; fields_of(op.atom())]
            } else {
                state.into_iter().map(Some).collect()
            };
            self.states.insert(key(op.atom()), state);
        } else if let Some(op) = cute::MakeTiledCopy::of(op) {
            let state = self.state(op.atom(), b)?;
            self.states.insert(key(op.result()), state);
        } else if let Some(op) = cute::MmaMakeTiledCopy::of(op) {
            let state = self.state(op.atom(), b)?;
            self.states.insert(key(op.result()), state);
        } else if let Some(op) = cute::MakeTiledMma::of(op) {
            let state = self.state(op.atom(), b)?;
            self.states.insert(key(op.result()), state);
        } else if let Some(set) = cute_nvgpu::AtomSetValue::of(op) {
            let mut state = self.state(set.atom(), b)?;
            *part(op, set.atom(), &mut state, b)? = Some(set.value());
            self.states.insert(key(set.result()), state);
        } else if let Some(get) = cute_nvgpu::AtomGetValue::of(op) {
            let mut state = self.state(get.atom(), b)?;
            let value = part(op, get.atom(), &mut state, b)?.ok_or_else(|| {
                b.error(
                    "reads a part of the atom's state that nothing has set; set it by \
                     cute_nvgpu.atom.set_value first",
                )
            })?;
            replace_uses(get.value(), value);
        } else if let Some(load) = cute::AtomLoad::of(op) {
            let value = self.load(load, b)?;
            replace_uses(load.value(), value);
        } else if let Some(store) = cute::AtomStore::of(op) {
            self.store(store, b)?;
        } else if let Some(copy) = cute::AtomCopy::of(op) {
            self.copy(copy, b)?;
        } else if let Some(op) = cute::AtomMove::of(op) {
            let value = sm75::movmatrix(b, op.value())?;
            replace_uses(op.result(), value);
        } else if let Some(op) = cute::AtomMma::of(op) {
            let value = self.mma(op, b)?;
            replace_uses(op.d(), value);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn load(&mut self, load: cute::AtomLoad<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let pointer = self.atom(load.op(), load.source(), b)?;
        let ty = load.value().r#type();
        match instruction(load.copy(), b)? {
            CopyOp::Ldsm {
                matrices,
                transpose,
            } => sm75::ldmatrix(b, (matrices, transpose), pointer, ty),
            CopyOp::Universal { .. } | CopyOp::Auto => {
                let policy = self.policy(load.copy(), b)?;
                let guard = load.predicate().zip(load.otherwise());
                universal::load(b, policy, guard, pointer, ty)
            }
            _ => Err(b.error("the atom has no value that it loads")),
        }
    }

    fn store(&mut self, store: cute::AtomStore<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let pointer = self.atom(store.op(), store.destination(), b)?;
        match instruction(store.copy(), b)? {
            CopyOp::Red { bits } => {
                let atom = types::copy_row(store.copy().r#type()).expected(b, "a copy atom")?;
                let whole = self.has(atom.whole, b)?;
                if whole && bits > 32 {
                    crate::binary::require_ptx(self.kernel, reduce::VECTORS_IN_PTX);
                }
                reduce::add(b, whole, store.value(), pointer)
            }
            CopyOp::Stsm { transpose, .. } => sm90::stmatrix(b, transpose, store.value(), pointer),
            CopyOp::Universal { .. } | CopyOp::Auto => {
                let policy = self.policy(store.copy(), b)?;
                universal::store(b, policy, store.value(), pointer)
            }
            _ => Err(b.error("the atom has no value that it stores")),
        }
    }

    fn copy(&mut self, copy: cute::AtomCopy<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let CopyOp::SimtAsync { global, bits } = instruction(copy.copy(), b)? else {
            return Err(b.error("expected an asynchronous copy"));
        };
        let from = self.atom(copy.op(), copy.source(), b)?;
        let to = self.atom(copy.op(), copy.destination(), b)?;
        let policy = self.policy(copy.copy(), b)?;
        let atom = types::copy_row(copy.copy().r#type()).expected(b, "a copy atom")?;
        let guard = copy.predicate().map(|value| match value.r#type() {
            ty if ty == b.i32_type() => sm80::Guard::Count(value, atom.val_bits),
            _ => sm80::Guard::If(value),
        });
        sm80::copy_async(b, (global, bits), policy, [from, to], guard)
    }

    fn mma(&self, mma: cute::AtomMma<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let atom = types::mma_row(mma.mma().r#type()).expected(b, "a tiled MMA")?;
        let operands = [mma.a(), mma.b(), mma.c()];
        if atom.issue == Issue::Thread {
            return universal::fma(b, operands);
        }
        if let Some(version) = mma_sync::ptx_version(&atom) {
            crate::binary::require_ptx(self.kernel, version);
        }
        mma_sync::mma_sync(b, &atom, operands)
    }

    fn policy(&self, copy: Val<'c>, b: Builder<'c>) -> Result<Option<Val<'c>>, Failure> {
        // The only part of the state of copies.
        let policy = self.state(copy, b)?.first().copied().flatten();
        if policy.is_some() {
            let archs = self.archs(b)?;
            if let Some(arch) = archs.iter().find(|arch| !arch.has(CACHE_POLICY)) {
                return Err(b.error(format!(
                    "copies with a cache policy, which exists on {CACHE_POLICY}; the kernel is compiled for {arch}: leave out \
                     cute_nvgpu.atom.set_value, or compile it for an architecture that has it"
                )));
            }
        }
        Ok(policy)
    }

    /// The architectures that the kernel is compiled for.
    pub(super) fn archs(&self, b: Builder<'c>) -> Result<Vec<Arch>, Failure> {
        parent_of(self.kernel, gpu::MODULE)
            .map_or(Ok(Vec::new()), arch::of_module)
            .map_err(|e| b.error(e))
    }

    /// Tells whether every architecture that the kernel is compiled for has it; false where it is compiled for none yet.
    pub(super) fn has(&self, requirement: Requirement, b: Builder<'c>) -> Result<bool, Failure> {
        let archs = self.archs(b)?;
        Ok(!archs.is_empty() && archs.iter().all(|arch| arch.has(requirement)))
    }

    /// The state of an atom, or of what is tiled over one.
    pub(super) fn state(&self, atom: Val<'c>, b: Builder<'c>) -> Result<State<'c>, Failure> {
        if let Some(state) = self.states.get(&key(atom)) {
            return Ok(state.clone());
        }
        let fields = fields_of(atom);
        let is_constant = defining_op(atom).is_some_and(|op| name_of(op) == cute::STATIC);
        if fields == 0 || is_constant {
            return Ok(vec![None; fields]);
        }
        Err(b.error(
            "takes an atom whose state is not known here; expected one that the kernel makes by cute.make_atom and \
             sets by cute_nvgpu.atom.set_value, and that no branch or loop hands on",
        ))
    }
}

/// The instruction of a tiled copy.
fn instruction<'c>(copy: Val<'c>, b: Builder<'c>) -> Result<CopyOp, Failure> {
    let atom = match CuteType::get(copy.r#type()) {
        Some(CuteType::TiledCopy { atom, .. }) => CuteType::get(*atom),
        _ => None,
    };
    match atom {
        Some(CuteType::CopyAtom { op, .. }) => Ok(*op),
        _ => Err(b.error("expected a tiled copy over a copy atom")),
    }
}

/// The part of an atom's state that `op` is about.
fn part<'a, 'c>(
    op: Op<'c>,
    atom: Val<'c>,
    state: &'a mut State<'c>,
    b: Builder<'c>,
) -> Result<&'a mut Option<Val<'c>>, Failure> {
    let field = field_of(op).map_err(|e| b.error(e))?;
    let atom = CuteType::of(atom.r#type()).expected(b, "an atom")?;
    let index = atom.fields().iter().position(|known| known == field);
    index
        .and_then(|index| state.get_mut(index))
        .ok_or_else(|| b.error("the atom has no such field"))
}

fn fields_of(atom: Val<'_>) -> usize {
    CuteType::of(atom.r#type()).map_or(0, |ty| ty.fields().len())
}

//! Atoms on values, each as the instruction of its table; and their state, which goes with them.
//!
//! An atom's state is known where the atom is made, so it is followed from value to value here, and its parts become operands
//! of the instruction.

use super::{Lowering, mma_sync, sm75, sm80, sm90, universal};
use cute_ir::{
    Failure,
    build::*,
    types::{self, CopyOp, CuteType},
    verify::{at_of, copy_op, field_of},
};
use cute_layout::atoms::Family;
use cute_passes::arch;
use cute_target::Requirement;
use melior::ir::ValueLike;

/// Where loads, stores and `cp.async` take a cache policy. (PTX ISA, `ld`, `.level::cache_hint`.)
const CACHE_POLICY: Requirement = Requirement::Since(8, 0);

/// The parts of a state, in the order of [`CuteType::fields`]: those that were set.
pub(super) type State<'c> = Vec<Option<Val<'c>>>;

impl<'c> Lowering<'c> {
    /// Lowers an op on atoms; false where `op` is none.
    pub(super) fn atom_op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        let operands = operands_of(op);
        match name_of(op) {
            "cute.make_atom" => {
                let fields = fields_of(result_of(op, 0));
                let state = if operands.is_empty() {
                    vec![None; fields]
                } else {
                    operands.iter().copied().map(Some).collect()
                };
                self.states.insert(key(result_of(op, 0)), state);
            }
            "cute.make_tiled_copy" | "cute.make_tiled_mma" => {
                let state = self.state(operands[0], b)?;
                self.states.insert(key(result_of(op, 0)), state);
            }
            "cute_nvgpu.atom.set_value" => {
                let mut state = self.state(operands[0], b)?;
                *self.part(op, &mut state, b)? = Some(operands[1]);
                self.states.insert(key(result_of(op, 0)), state);
            }
            "cute_nvgpu.atom.get_value" => {
                let mut state = self.state(operands[0], b)?;
                let value = self.part(op, &mut state, b)?.ok_or_else(|| {
                    b.error(
                        "reads a part of the atom's state that nothing has set; set it by \
                         cute_nvgpu.atom.set_value first",
                    )
                })?;
                replace_uses(result_of(op, 0), value);
            }
            "cute.atom_load" => {
                let pointer = self.atom(operands[1], &at_of(op), b)?;
                let ty = result_of(op, 0).r#type();
                let value = match copy_op(operands[0].r#type()).ok_or(Failure)? {
                    CopyOp::Ldsm {
                        matrices,
                        transpose,
                    } => sm75::ldmatrix(b, (matrices, transpose), pointer, ty)?,
                    CopyOp::Universal { .. } | CopyOp::Auto => {
                        universal::load(b, self.policy(operands[0], b)?, pointer, ty)?
                    }
                    _ => return Err(b.error("the atom has no value that it loads")),
                };
                replace_uses(result_of(op, 0), value);
            }
            "cute.atom_store" => {
                let pointer = self.atom(operands[2], &at_of(op), b)?;
                match copy_op(operands[0].r#type()).ok_or(Failure)? {
                    CopyOp::Stsm { transpose, .. } => {
                        sm90::stmatrix(b, transpose, operands[1], pointer)?;
                    }
                    CopyOp::Universal { .. } | CopyOp::Auto => {
                        let policy = self.policy(operands[0], b)?;
                        universal::store(b, policy, operands[1], pointer)?;
                    }
                    _ => return Err(b.error("the atom has no value that it stores")),
                }
            }
            "cute.atom_copy" => {
                let Some(CopyOp::SimtAsync { global, bits }) = copy_op(operands[0].r#type()) else {
                    return Err(b.error("expected an asynchronous copy"));
                };
                let from = self.atom(operands[1], &at_of(op), b)?;
                let to = self.atom(operands[2], &at_of(op), b)?;
                let policy = self.policy(operands[0], b)?;
                let predicate = operands.get(3).copied();
                sm80::copy_async(b, (global, bits), policy, [from, to], predicate)?;
            }
            "cute.atom_move" => {
                let value = sm75::movmatrix(b, operands[1])?;
                replace_uses(result_of(op, 0), value);
            }
            "cute.atom_mma" => {
                let value = self.mma(&operands, b)?;
                replace_uses(result_of(op, 0), value);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mma(&self, operands: &[Val<'c>], b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let Some(CuteType::TiledMma { atom, .. }) = CuteType::of(operands[0].r#type()) else {
            return Err(b.error("expected a tiled MMA"));
        };
        let atom = CuteType::of(atom).ok_or(Failure)?;
        let atom = types::mma_atom(&atom).map_err(|e| b.error(e))?;
        if atom.family == Family::Universal {
            return universal::fma(b, &operands[1..]);
        }
        if let Some(version) = mma_sync::ptx_version(&atom) {
            crate::binary::require_ptx(self.kernel, version);
        }
        mma_sync::mma_sync(b, &atom, &operands[1..])
    }

    fn policy(&self, copy: Val<'c>, b: Builder<'c>) -> Result<Option<Val<'c>>, Failure> {
        // The only part of the state of copies.
        let policy = self.state(copy, b)?.first().copied().flatten();
        if policy.is_some() {
            let archs = parent_of(self.kernel, "gpu.module")
                .map_or(Ok(Vec::new()), arch::of_module)
                .map_err(|e| b.error(e))?;
            if let Some(arch) = archs.iter().find(|arch| !arch.has(CACHE_POLICY)) {
                return Err(b.error(format!(
                    "copies with a cache policy, which exists on {CACHE_POLICY}; the kernel is compiled for {arch}: leave out \
                     cute_nvgpu.atom.set_value, or compile it for an architecture that has it"
                )));
            }
        }
        Ok(policy)
    }

    /// The state of an atom, or of what is tiled over one.
    fn state(&self, atom: Val<'c>, b: Builder<'c>) -> Result<State<'c>, Failure> {
        if let Some(state) = self.states.get(&key(atom)) {
            return Ok(state.clone());
        }
        let fields = fields_of(atom);
        let is_constant = defining_op(atom).is_some_and(|op| name_of(op) == "cute.static");
        if fields == 0 || is_constant {
            return Ok(vec![None; fields]);
        }
        Err(b.error(
            "takes an atom whose state is not known here; expected one that the kernel makes by cute.make_atom and \
             sets by cute_nvgpu.atom.set_value, and that no branch or loop hands on",
        ))
    }

    /// The part of a state that `op` is about.
    fn part<'a>(
        &self,
        op: Op<'c>,
        state: &'a mut State<'c>,
        b: Builder<'c>,
    ) -> Result<&'a mut Option<Val<'c>>, Failure> {
        let field = field_of(op).map_err(|e| b.error(e))?;
        let fields = CuteType::of(operands_of(op)[0].r#type()).ok_or(Failure)?;
        let index = fields.fields().iter().position(|known| known == field);
        index
            .and_then(|index| state.get_mut(index))
            .ok_or_else(|| b.error("the atom has no such field"))
    }
}

fn fields_of(atom: Val<'_>) -> usize {
    CuteType::of(atom.r#type()).map_or(0, |ty| ty.fields().len())
}

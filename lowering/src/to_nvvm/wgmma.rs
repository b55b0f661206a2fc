//! Products of warpgroups. PTX ISA, "Asynchronous warpgroup level matrix instructions".
//!
//! Each atom is one text with the instructions of all of K, so that nothing stands between them, and its accumulators are operands that
//! are read and written: LLVM keeps them where they are. A fence and a wait take them as well, so that what touches them stays on its side.

use super::{
    Lowering,
    address::Address,
    mma_sync::ptx_type,
    registers::{assemble, assembly, elements, from_words, member, words},
};
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure,
    args::at_of,
    hopper,
    interpret::Place,
    mlir::*,
    ops::{arith, cute, cute_nvgpu, scf},
    types::{self, CuteType, Space},
};
use cute_layout::{
    MmaAtom,
    atoms::{Elem, FragKind, Major},
    descriptor::GRANULE,
};
use melior::ir::{Type, ValueLike};

/// The PTX version that has products of bytes with and without a sign (PTX ISA, wgmma.mma_async, "PTX ISA Notes").
const MIXED_INTEGERS: i64 = 84;

/// Tells whether a product is one of a warpgroup, with B in shared memory.
pub(super) fn has_instruction(atom: &MmaAtom) -> bool {
    hopper::is_asynchronous(atom)
}

/// Ends the kernel where a condition does not hold. A message would take a call, which makes ptxas put every product behind the one before
/// (its remark C7510).
pub(super) fn trap_unless<'c>(b: Builder<'c>, holds: Val<'c>) -> Result<(), Failure> {
    let no = b.constant(b.ty("i1")?, 0)?;
    let fails = b.compare(Predicate::Eq, holds, no)?;
    let (region, block) = Detached::with_block(&[]);
    let inner = Builder::at_end(b.context, block, b.location);
    assembly(inner, "trap;", "", &[], &[])?;
    inner.op(scf::YIELD, &[], &[], &[])?;
    b.with_regions(scf::IF, &[fails], &[], &[], vec![region, Detached::empty()])?;
    Ok(())
}

/// Tells whether a value is a view of descriptors.
fn is_of_descriptors(value: Val<'_>) -> bool {
    types::memref_of(value).is_some_and(|memref| memref.space == Space::Descriptors)
}

/// The instruction without its operands, and what stands behind scale-d.
fn instruction(atom: &MmaAtom, builder: Builder<'_>) -> Result<(String, String), Failure> {
    let [m, n, k] = atom.shape_mnk;
    let name = |elem| ptx_type(elem).expected(builder, "a type of wgmma");
    let saturate = if atom.saturate { ".satfinite" } else { "" };
    let text = format!(
        "wgmma.mma_async.sync.aligned.m{m}n{n}k{k}{saturate}.{}.{}.{}",
        name(atom.d)?,
        name(atom.a)?,
        name(atom.b)?
    );
    // Scales of A and B, of floats; transpositions, of those of 16 bits in shared memory.
    let transposed = atom.majors.map(|major| i32::from(major == Major::Mn));
    let [a, b] = atom.negated.map(|negated| if negated { -1 } else { 1 });
    let behind = match atom.a {
        Elem::I8 | Elem::U8 => String::new(),
        Elem::F16 | Elem::BF16 if atom.frag_kind() == FragKind::Rs => {
            format!(", {a}, {b}, {}", transposed[1])
        }
        Elem::F16 | Elem::BF16 => format!(", {a}, {b}, {}, {}", transposed[0], transposed[1]),
        _ => format!(", {a}, {b}"),
    };
    Ok((text, behind))
}

/// The class of registers that a value of a text is in.
fn class(value: Val<'_>) -> &'static str {
    let ty = value.r#type();
    match types::element_bits(ty) {
        Some(64) => "l",
        _ if is_float(ty) => "f",
        _ => "r",
    }
}

/// The constraints of what a text reads behind other operands.
fn reads(values: &[Val<'_>]) -> String {
    values
        .iter()
        .map(|value| format!(",{}", class(*value)))
        .collect()
}

/// Vectors of accumulators as registers, and back.
struct Accumulators<'c> {
    types: Vec<Type<'c>>,
    registers: Vec<Val<'c>>,
    /// The registers of each vector.
    counts: Vec<usize>,
}

impl<'c> Accumulators<'c> {
    fn of(b: Builder<'c>, vectors: &[Val<'c>]) -> Result<Self, Failure> {
        let mut all = Self {
            types: Vec::new(),
            registers: Vec::new(),
            counts: Vec::new(),
        };
        for vector in vectors {
            let ty = vector.r#type();
            let (length, element) = vector_of(ty).expected(b, "a vector of one dimension")?;
            let registers: Vec<_> = if types::element_bits(element) == Some(32) {
                elements(b, *vector, 0..length, element)?
            } else {
                words(b, *vector)?
            };
            all.types.push(ty);
            all.counts.push(registers.len());
            all.registers.extend(registers);
        }
        Ok(all)
    }

    fn len(&self) -> usize {
        self.registers.len()
    }

    /// The constraints of registers that are written, and those of the same registers as they are read.
    fn constraints(&self) -> [String; 2] {
        let written = self.registers.iter();
        let written: Vec<_> = written
            .map(|register| format!("={}", class(*register)))
            .collect();
        let read: Vec<_> = (0..self.len()).map(|i| i.to_string()).collect();
        [written.join(","), read.join(",")]
    }

    /// The vectors that a text leaves, which gets the registers first and `more` behind them.
    fn through(
        &self,
        b: Builder<'c>,
        text: &str,
        (constraints, more): (&str, &[Val<'c>]),
    ) -> Result<Vec<Val<'c>>, Failure> {
        let [written, read] = self.constraints();
        let constraints = format!("{written},{read}{constraints},~{{memory}}");
        let operands = [&self.registers[..], more].concat();
        let names: Vec<_> = self
            .registers
            .iter()
            .map(|r| r.r#type().to_string())
            .collect();
        let single = names.len() == 1;
        let result = if single {
            self.registers[0].r#type()
        } else {
            b.ty(&format!("!llvm.struct<({})>", names.join(", ")))?
        };
        let made = assembly(b, text, &constraints, &operands, &[result])?;
        let whole = result_of(made, 0);
        let mut next = 0;
        let mut vectors = Vec::new();
        for (ty, count) in self.types.iter().zip(&self.counts) {
            let mut parts = Vec::new();
            for _ in 0..*count {
                let register = self.registers[next].r#type();
                parts.push(if single {
                    whole
                } else {
                    member(b, whole, next as i64, register)?
                });
                next += 1;
            }
            let (_, element) = vector_of(*ty).expected(b, "a vector of one dimension")?;
            vectors.push(match types::element_bits(element) {
                Some(32) => assemble(b, &parts, *ty)?,
                _ => from_words(b, &parts, *ty)?,
            });
        }
        Ok(vectors)
    }
}

/// The field of a descriptor that says where an operand starts, in 32 bits, and the place behind it. The hardware swizzles the address that it computes, as the
/// tensor's layout does.
fn field_of<'c>(start: &Address<'c>, b: Builder<'c>) -> Result<(Val<'c>, Builder<'c>), Failure> {
    let (address, b) = start.number(b)?;
    let masked = b.value(arith::ANDI, &[address, b.i32(0x3ffff)?], b.i32_type(), &[])?;
    let granule = b.i32(i64::from(GRANULE.trailing_zeros()))?;
    let field = b.value(arith::SHRUI, &[masked, granule], b.i32_type(), &[])?;
    Ok((field, b))
}

impl<'c> Lowering<'c, '_> {
    /// Notes the descriptors that an op makes of a tensor; false where it makes none.
    pub(super) fn descriptor_op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        let (of, result, descriptor) = if let Some(made) = cute_nvgpu::MakeGmmaSmemDesc::of(op) {
            let descriptor = hopper::made_descriptor(made).map_err(|e| b.error(e))?;
            (made.iter(), made.descriptor(), descriptor)
        } else if let Some(made) = cute::MmaMakeFragment::of(op)
            && let Some(atom) = types::mma_row(made.mma().r#type())
            && is_of_descriptors(made.result())
        {
            let operand = integer_of(op, "operand_id").unwrap_or(0) as usize;
            let partition = &self.place(made.tensor(), b)?.memref;
            let found = hopper::of_partition(&atom, operand, partition);
            (
                made.tensor(),
                made.result(),
                found.map_err(|e| b.error(e))?.0,
            )
        } else {
            return Ok(false);
        };
        let memref = match CuteType::of(result.r#type()) {
            Some(CuteType::Ptr(memref) | CuteType::MemRef(memref)) => memref,
            _ => return Err(b.error("expected descriptors")),
        };
        let (field, b) = field_of(&self.place(of, b)?.start, b)?;
        let field = b.value(arith::EXTUI, &[field], b.i64_type(), &[])?;
        let fields = b.constant(b.i64_type(), descriptor.fields() as i64)?;
        let bits = b.value(arith::ORI, &[field, fields], b.i64_type(), &[])?;
        let start = Address::descriptor(b, bits)?;
        self.views.set(result, Place { memref, start });
        Ok(true)
    }

    /// Lowers an op on products of warpgroups; false where `op` is none.
    pub(super) fn wgmma_op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        let text = match name_of(op) {
            cute_nvgpu::WGMMA_FENCE => "wgmma.fence.sync.aligned;".to_owned(),
            cute_nvgpu::WGMMA_WAIT_GROUP => {
                let pending = integer_of(op, "pending").unwrap_or(0);
                format!("wgmma.wait_group.sync.aligned {pending};")
            }
            cute_nvgpu::ATOM_WGMMA => {
                let product = cute_nvgpu::AtomWgmma::of(op).expected(op, "a product")?;
                let value = self.product(product, b)?;
                replace_uses(product.d(), value);
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let kept = integer_of(op, "kept").unwrap_or(0) as usize;
        let operands = operands_of(op);
        let (given, kept) = operands.split_at(operands.len().saturating_sub(kept));
        let accumulators = Accumulators::of(b, given)?;
        // Registers of A are read by the text, so that nothing else has them before.
        let more = Accumulators::of(b, kept)?.registers;
        let values = accumulators.through(b, &text, (&reads(&more), &more))?;
        for (old, new) in results_of(op).into_iter().zip(values) {
            replace_uses(old, new);
        }
        Ok(true)
    }

    /// The products of all of K of one atom.
    fn product(
        &mut self,
        product: cute_nvgpu::AtomWgmma<'c>,
        b: Builder<'c>,
    ) -> Result<Val<'c>, Failure> {
        let atom = types::mma_row(product.mma().r#type()).expected(b, "a tiled MMA")?;
        if atom.a != atom.b && matches!(atom.a, Elem::I8 | Elem::U8) {
            crate::binary::require_ptx(self.kernel, MIXED_INTEGERS);
        }
        let at = at_of(product.op());
        let descriptors = |operand: usize, tensor| {
            let place = at.get(operand).copied().unwrap_or(0);
            self.descriptors(&atom, (operand, tensor), place, b)
        };
        let right = descriptors(1, product.b())?;
        // The registers or the descriptors of A, as many for each step of K.
        let in_registers = vector_of(product.a().r#type()).is_some();
        let left = match in_registers {
            true => Accumulators::of(b, &[product.a()])?.registers,
            false => descriptors(0, product.a())?,
        };
        let each = (left.len() / right.len().max(1)).max(1);
        // Whether C is added is the first product's matter: those that follow add to its sum.
        let adds = self.state(product.mma(), b)?.first().copied().flatten();
        let accumulators = Accumulators::of(b, &[product.c()])?;
        let registers: Vec<_> = (0..accumulators.len()).map(|i| format!("${i}")).collect();
        let registers = registers.join(", ");
        // Behind the accumulators, as they are written and read, stands what each step is given, and whether C is added at the end.
        let first = 2 * accumulators.len();
        let place_of_adds = first + left.len() + right.len();
        let (name, behind) = instruction(&atom, b)?;
        let mut text = "{\n.reg .pred p, q;\nsetp.ne.b32 p, 1, 0;\n".to_owned();
        let mut more = Vec::new();
        for (step, (left, right)) in left.chunks(each).zip(&right).enumerate() {
            let place = first + more.len();
            let of_b = place + each;
            let names: Vec<_> = (place..of_b).map(|at| format!("${at}")).collect();
            let a = match in_registers {
                true => format!("{{{}}}", names.join(", ")),
                false => names.concat(),
            };
            more.extend_from_slice(left);
            more.push(*right);
            let mut predicate = "p";
            if step == 0 && adds.is_some() {
                text += &format!("setp.ne.b32 q, ${place_of_adds}, 0;\n");
                predicate = "q";
            }
            text += &format!("{name} {{{registers}}}, {a}, ${of_b}, {predicate}{behind};\n");
        }
        text += "}";
        if let Some(adds) = adds {
            more.push(b.value(arith::EXTUI, &[adds], b.i32_type(), &[])?);
        }
        let values = accumulators.through(b, &text, (&reads(&more), &more))?;
        values.first().copied().expected(b, "a sum")
    }

    /// The descriptors of an operand of the atom at `place` along M or N, one for each step of K.
    fn descriptors(
        &self,
        atom: &MmaAtom,
        (operand, tensor): (usize, Val<'c>),
        place: i64,
        b: Builder<'c>,
    ) -> Result<Vec<Val<'c>>, Failure> {
        let found = self.place(tensor, b)?;
        if found.memref.space == Space::Descriptors {
            let [atoms, along_k] = hopper::units(&found.memref).map_err(|e| b.error(e))?;
            let here = *atoms
                .get(place as usize)
                .expected(b, "an atom of the descriptors")?;
            let bits = |step: &i64| found.start.bits(b, here + step);
            return along_k.iter().map(bits).collect();
        }
        let steps = hopper::steps(atom, operand, &found.memref).map_err(|e| b.error(e))?;
        let (field, b) = field_of(&found.start, b)?;
        let fields = b.constant(b.i64_type(), steps.descriptor.fields() as i64)?;
        let [atoms, along_k] = &steps.bytes;
        let here = *atoms
            .get(place as usize)
            .expected(b, "an atom of the partition")?;
        // Steps stay within the field's 14 bits: sums of 32 bits do, which take half the instructions.
        along_k
            .iter()
            .map(|step| {
                let granules = b.i32((here + step) / GRANULE)?;
                let field = b.value(arith::ADDI, &[field, granules], b.i32_type(), &[])?;
                let field = b.value(arith::EXTUI, &[field], b.i64_type(), &[])?;
                b.value(arith::ORI, &[field, fields], b.i64_type(), &[])
            })
            .collect()
    }
}

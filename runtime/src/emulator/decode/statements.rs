//! Bodies, and the instructions that touch registers alone.

use super::super::alu::{self, Kind};
use super::super::mma::{Mma, SparseMma};
use super::super::program::{AluOp, Carry, Guard, Initial, Inst, Op, Pred, Product, Reg, SparseOp};
use super::names::Name;
use super::{Decoder, Draft, Result};
use crate::ptx::{Immediate, Instruction, Operand, Statement, Type};
use cute_layout::atoms::Elem;

/// The type of the registers of a fragment.
pub(super) fn register_type(is_double: bool) -> Type {
    if is_double { Type::B64 } else { Type::B32 }
}

/// The type that registers with elements of a matrix have, as ptxas has it.
pub(super) fn fragment_type(element: Elem) -> Type {
    match element {
        Elem::F64 => Type::F64,
        Elem::F32 => Type::F32,
        Elem::F16 => Type::F16x2,
        Elem::BF16 | Elem::TF32 => Type::Bf16x2,
        Elem::I32 => Type::S32,
        _ => Type::B32,
    }
}

/// The predicate that always holds.
pub(super) const TRUE: Pred = 0;

impl<'m, 'a> Decoder<'m, 'a> {
    pub(super) fn statements(&mut self, statements: &'m [Statement<'a>]) -> Result<()> {
        // Labels may be used before they stand.
        for (at, statement) in statements.iter().enumerate() {
            if let Statement::Label(name) = statement {
                let label = self.labels.len() as u32;
                self.labels.push(None);
                if !self.names.insert(name, Name::Label(label)) {
                    let behind = statements[at..]
                        .iter()
                        .find_map(|statement| match statement {
                            Statement::Instruction(instruction) => Some(instruction.line),
                            _ => None,
                        });
                    self.declares(behind.unwrap_or_default());
                    return self.declared_twice(name);
                }
            }
        }
        for statement in statements {
            match statement {
                Statement::Registers(registers) => self.declare_registers(registers)?,
                Statement::Variable(variable) => self.declare_variable(variable)?,
                Statement::Label(name) => {
                    if let Some(Name::Label(label)) = self.names.get(name) {
                        self.labels[label as usize] = Some(self.drafts.len() as u32);
                    }
                }
                Statement::Scope(inside) => {
                    self.names.open();
                    self.statements(inside)?;
                    self.names.close();
                }
                Statement::Instruction(instruction) => {
                    self.instruction(instruction, statements)?;
                    self.used_bytes = None;
                }
                Statement::Pragma(texts) => {
                    self.used_bytes = texts.iter().find_map(|text| used_bytes(text));
                }
                // Both are looked up where they are used.
                Statement::Targets { .. } | Statement::Prototype { .. } => {}
            }
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        instruction: &Instruction<'a>,
        around: &[Statement<'a>],
    ) -> Result<()> {
        self.origin(instruction);
        let guard = match instruction.guard {
            None => None,
            Some(guard) => Some(Guard {
                pred: self.predicate(guard.register)?,
                negated: guard.negated,
            }),
        };
        self.guard = guard;
        let origin = self.origins.len() as u32 - 1;
        if self.drafts.len() >= super::calls::MAX_INSTRUCTIONS {
            return self.error(format!(
                "expected at most {} instructions of a kernel with all that it calls, found more",
                super::calls::MAX_INSTRUCTIONS
            ));
        }
        if instruction.opcode == "call" {
            return self.guarded_call(instruction, guard, around);
        }
        let op = self.op(instruction, around)?;
        self.drafts.push(Draft {
            inst: Inst { op, guard },
            origin,
        });
        Ok(())
    }

    fn op(&mut self, i: &Instruction<'a>, around: &[Statement<'a>]) -> Result<Op> {
        let operands = i.operands.as_slice();
        match i.opcode {
            "mov" => self.mov(i),
            "mma" if i.modifiers.first().is_some_and(|name| name.starts_with("sp")) => {
                self.sparse_mma(i)
            }
            "mma" => self.mma(i),
            "wgmma" => self.wgmma(i),
            "wmma" => self.wmma(i),
            "bra" => match operands {
                [Operand::Symbol { name, offset: 0 }] => Ok(Op::Branch(self.label(name)?)),
                _ => self.error("expected a label after bra"),
            },
            "brx" => self.branch_index(i, around),
            // The end of a function that was called; its results are in memory.
            "ret" if !self.returns.is_empty() => {
                Ok(Op::Branch(self.returns[self.returns.len() - 1]))
            }
            "ret" if self.frame.is_some() => Ok(Op::Return),
            "ret" | "exit" => Ok(Op::Exit),
            "trap" => Ok(Op::Trap),
            "alloca" | "stacksave" | "stackrestore" => self.stack(i),
            "ld" | "ldu" => self.load(i),
            "st" if i.modifiers.first() == Some(&"async") => self.store_async(i),
            "st" if i.modifiers.first() == Some(&"bulk") => self.store_bulk(i),
            "st" => self.store(i),
            "cvta" => self.cvta(i),
            "isspacep" => self.isspacep(i),
            "red" if i.modifiers.first() == Some(&"async") => self.reduce_async(i),
            "atom" | "red" => self.atomic(i),
            "cp" => self.copy(i),
            "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix(i),
            "barrier" if i.modifiers.first() == Some(&"cluster") => self.cluster_barrier(i),
            "bar" | "barrier" => self.barrier(i),
            "setmaxnreg" => self.max_registers(i),
            "mapa" => self.map_address(i),
            "getctarank" => self.rank_of_address(i),
            "griddepcontrol"
                if matches!(i.modifiers.as_slice(), ["wait" | "launch_dependents"])
                    && operands.is_empty() =>
            {
                // Launches of a function follow each other.
                Ok(Op::Hint)
            }
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => self.warp_wide(i),
            "membar" | "fence" => self.fence(i),
            "tensormap" => self.tensor_map(i),
            "mbarrier" => self.mbarrier(i),
            "prefetch" | "prefetchu" | "nanosleep" | "applypriority" | "discard" | "pmevent" => {
                self.hint(i)
            }
            // A debugger's, of which there is none.
            "brkpt" if operands.is_empty() => Ok(Op::Hint),
            // A policy of caches, which the emulator has none of.
            "createpolicy" => match operands {
                [dest, ..] => Ok(Op::Move {
                    d: self.dest_of(dest, Type::U64)?,
                    s: self.initial(Initial::Value(0)),
                }),
                [] => self.error("expected a register after createpolicy"),
            },
            "multimem" => self.error(
                "multimem accesses the same place in the memory of several GPUs, and the emulator is one; run the kernel on GPUs",
            ),
            "min" | "max" if operands.len() == 4 => self.extremum_of_three(i),
            "lop3" if matches!(i.modifiers.as_slice(), ["or" | "and", "b32"]) => {
                self.lop3_with_predicate(i)
            }
            opcode if super::video::is_video(opcode) => self.video(i),
            opcode if alu::is_alu(opcode) => self.alu(i),
            _ => self.unknown(i),
        }
    }

    /// Refuses an instruction that is not known.
    pub(super) fn unknown<T>(&self, i: &Instruction<'a>) -> Result<T> {
        let text = self.origins.last().map_or(i.opcode, |origin| &origin.text);
        self.error(format!(
            "the emulator does not know the instruction `{text}`; run the kernel on a GPU, or compile it for \
             an architecture whose instructions it knows (sm_80)"
        ))
    }

    fn label(&self, name: &str) -> Result<u32> {
        match self.names.get(name) {
            Some(Name::Label(label)) => Ok(label),
            _ => self.error(format!("there is no label {name}")),
        }
    }

    fn branch_index(&mut self, i: &Instruction<'a>, around: &[Statement<'a>]) -> Result<Op> {
        let [index, Operand::Symbol { name, .. }] = i.operands.as_slice() else {
            return self.error("expected an index and a list of targets after brx.idx");
        };
        let index = self.source(index, Type::U32)?;
        let targets = around.iter().find_map(|statement| match statement {
            Statement::Targets {
                name: found,
                calls: false,
                targets,
            } if found == name => Some(targets),
            _ => None,
        });
        let Some(targets) = targets else {
            return self.error(format!("there is no .branchtargets {name}"));
        };
        let targets = targets
            .iter()
            .map(|target| self.label(target))
            .collect::<Result<_>>()?;
        Ok(Op::BranchIndex { index, targets })
    }

    /// A result operand `p|q`, or `p`.
    pub(super) fn pred_pair(&self, operand: &Operand<'a>) -> Result<(Option<Pred>, Option<Pred>)> {
        match operand {
            Operand::Pair(p, q) => Ok((self.pred_dest(p)?, self.pred_dest(q)?)),
            p => Ok((self.pred_dest(p)?, None)),
        }
    }

    fn alu(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let found = match alu::lookup(i.opcode, &i.modifiers) {
            Ok(found) => found,
            Err(error) => return self.error(error.to_string()),
        };
        let Some((result, sources)) = i.operands.split_first() else {
            return self.error(format!("expected operands after {}", i.opcode));
        };
        let mut op = AluOp {
            carry: carry(i),
            ..AluOp::new(found.kind)
        };
        // Registers may be wider, but for types that no register has.
        let converts = i.opcode == "cvt" && !(0..2).any(|at| is_alternate(i, at));
        // Pairs of integers lie in registers of bits, as pairs of halves do.
        let is_pair = i
            .modifiers
            .iter()
            .any(|name| matches!(*name, "u16x2" | "s16x2"));
        match found.result {
            Some(Type::Pred) => {
                // ptxas has one result of these.
                if i.opcode == "setp"
                    && matches!(result, Operand::Pair(..))
                    && matches!(i.modifiers.last(), Some(&("f16" | "bf16")))
                {
                    return self.error(
                        "expected one predicate from setp of .f16 and .bf16, found two; compare twice, or pairs (.f16x2)",
                    );
                }
                (op.p, op.q) = self.pred_pair(result)?;
            }
            ty => {
                if let Some(ty) = ty {
                    let ty = match (i.opcode, ty) {
                        // What ptxas takes here, though the type says something else.
                        ("set", Type::Bf16) => Type::U16,
                        ("set", Type::Bf16x2) => Type::B32,
                        ("cvt", _) if i.modifiers.contains(&"pack") => Type::U32,
                        _ if is_pair => Type::F16x2,
                        _ => ty,
                    };
                    self.check_type(result, ty, converts)?;
                    if !converts && i.opcode == "cvt" && is_packed(i, 0) {
                        self.check_of_bits(result)?;
                    }
                }
                if let Some((d, bits)) = self.dest_or_sink(result)? {
                    op.d = Some(d);
                    op.widen = found.widen(bits).map(|widen| (widen, bits));
                }
            }
        }
        let optional = match found.kind {
            Kind::Test { combine, .. } | Kind::TestPair { combine, .. } => combine.is_some(),
            Kind::Set { combine, .. } | Kind::SetPair { combine, .. } => combine.is_some(),
            _ => false,
        };
        let expected =
            found.sources.len() + usize::from(optional && !found.sources.contains(&Type::Pred));
        if sources.len() != expected {
            return self.error(format!(
                "expected {expected} operands after the result of {}, found {}",
                i.opcode,
                sources.len()
            ));
        }
        for (at, operand) in sources.iter().enumerate() {
            let ty = found.sources.get(at).copied().unwrap_or(Type::Pred);
            if ty == Type::Pred {
                let source = self.pred_source(operand)?;
                op.ps.push(source);
                continue;
            }
            if op.count == op.s.len() {
                return self.error("expected at most four source operands");
            }
            if is_pair {
                self.check_type(operand, Type::F16x2, false)?;
            }
            op.s[op.count] = match (operand, converts) {
                // Of integers alone.
                (Operand::Special(_), _)
                    if i.opcode == "cvt" && found.result.is_none_or(|ty| !ty.is_float()) =>
                {
                    self.source_or_special(operand, ty)?
                }
                (_, true) => self.wider_source(operand, ty)?,
                (_, false) => self.source(operand, ty)?,
            };
            if i.opcode == "cvt" && is_packed(i, 1) {
                self.check_of_bits(operand)?;
            }
            op.bytes[op.count] = ty.bytes().unwrap_or(8) as u8;
            op.count += 1;
        }
        for at in op.count..op.s.len() {
            op.s[at] = op.s[0];
        }
        Ok(Op::Alu(Box::new(op)))
    }

    /// `max.f32 d, a, b, c`: the extremum of the first two, and of that and the third.
    fn extremum_of_three(&mut self, i: &Instruction<'a>) -> Result<Op> {
        if i.modifiers.last() != Some(&"f32") || i.modifiers.contains(&"xorsign") {
            return self.unknown(i);
        }
        let [d, a, b, c] = i.operands.as_slice() else {
            return self.unknown(i);
        };
        let of = |d: &Operand<'a>, a: &Operand<'a>, b: &Operand<'a>| Instruction {
            operands: vec![d.clone(), a.clone(), b.clone()],
            ..i.clone()
        };
        self.in_two(Type::F32, |between| [of(between, a, b), of(d, between, c)])
    }

    /// `lop3.or.b32 d|p, a, b, c, table, q`: the result, and whether it is not 0, combined with a predicate.
    fn lop3_with_predicate(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let (combine, [dest, sources @ .., q]) = (i.modifiers[0], i.operands.as_slice()) else {
            return self.unknown(i);
        };
        let Operand::Pair(d, p) = dest else {
            return self.error("expected a register and a predicate, or `_` and a predicate, before the operands of lop3");
        };
        let zero = Operand::Immediate(crate::ptx::Immediate::Int {
            bits: 0,
            unsigned: false,
        });
        self.in_two(Type::B32, |between| {
            let d = match d.as_ref() {
                Operand::Discard => between,
                d => d,
            };
            let mut operands = vec![d.clone()];
            operands.extend_from_slice(sources);
            [
                Instruction {
                    modifiers: i.modifiers[1..].to_vec(),
                    operands,
                    ..i.clone()
                },
                Instruction {
                    opcode: "setp",
                    modifiers: vec!["ne", combine, "u32"],
                    operands: vec![p.as_ref().clone(), d.clone(), zero, q.clone()],
                    ..i.clone()
                },
            ]
        })
    }

    /// Two instructions on registers in place of one, which may have a register between them.
    fn in_two(
        &mut self,
        ty: Type,
        make: impl FnOnce(&Operand<'a>) -> [Instruction<'a>; 2],
    ) -> Result<Op> {
        const BETWEEN: &str = "between two";
        let row = self.row();
        self.names.open();
        self.names.insert(BETWEEN, Name::Reg(row, ty));
        let [first, last] = make(&Operand::Register(crate::ptx::Register {
            name: BETWEEN,
            element: None,
        }));
        let op = self.alu(&first)?;
        // A result of lanes that the guard leaves out is not looked at.
        self.push_before(op, self.guard);
        let last = self.alu(&last);
        self.names.close();
        last
    }

    fn mma(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let mma = match Mma::of(&i.modifiers) {
            Ok(mma) => mma,
            Err(error) => return self.error(error.to_string()),
        };
        let (counts, elements) = (mma.registers(), mma.elements());
        let product = self.product(i, mma, counts, elements)?;
        Ok(Op::Mma(Box::new(product)))
    }

    /// `mma.sp`: D, A, B, C, the metadata of A and the number that says which lanes give them.
    fn sparse_mma(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let mut mma = match SparseMma::of(&i.modifiers) {
            Ok(mma) => mma,
            Err(error) => return self.error(error.to_string()),
        };
        let [matrices @ .., metadata, selector] = i.operands.as_slice() else {
            return self
                .error("expected D, A, B, C, metadata and a sparsity selector after mma.sp");
        };
        mma.select(self.selector(selector, mma.selectors(), "mma.sp")?);
        let (counts, elements) = (mma.registers(), mma.elements());
        let matrices = Instruction {
            operands: matrices.to_vec(),
            ..i.clone()
        };
        let product = self.product(&matrices, mma, counts, elements)?;
        let metadata = self.source(metadata, Type::B32)?;
        Ok(Op::SparseMma(Box::new(SparseOp { product, metadata })))
    }

    /// The number that says which lanes give the metadata of A.
    pub(super) fn selector(
        &self,
        operand: &Operand<'a>,
        selectors: usize,
        name: &str,
    ) -> Result<usize> {
        match operand {
            Operand::Immediate(Immediate::Int { bits, .. }) if *bits < selectors as u64 => {
                Ok(*bits as usize)
            }
            _ => self.error(format!(
                "expected a number below {selectors} as the sparsity selector of {name} of that shape and types, found something else"
            )),
        }
    }

    /// The product of an instruction whose operands are D, A, B and C, of so many registers each.
    pub(super) fn product<M>(
        &mut self,
        i: &Instruction<'a>,
        mma: M,
        counts: [usize; 4],
        elements: [Elem; 4],
    ) -> Result<Product<M>> {
        let [d, a, b, c] = i.operands.as_slice() else {
            let (name, kind) = (i.opcode, i.modifiers.first().unwrap_or(&""));
            return self.error(format!("expected D, A, B and C after {name}.{kind}"));
        };
        let types = elements.map(fragment_type);
        Ok(Product {
            mma,
            d: self.dests(d, counts[0], types[0])?,
            a: self.sources(a, counts[1], types[1])?,
            b: self.sources(b, counts[2], types[2])?,
            c: self.sources(c, counts[3], types[3])?,
        })
    }

    /// Registers of a fragment that is written.
    pub(super) fn dests(
        &mut self,
        operand: &Operand<'a>,
        count: usize,
        ty: Type,
    ) -> Result<Vec<Reg>> {
        let parts = self.parts(operand, count)?;
        self.check_fragment(&parts, ty)?;
        parts.iter().map(|part| Ok(self.dest(part)?.0)).collect()
    }

    /// Registers of a fragment that is read.
    pub(super) fn sources(
        &mut self,
        operand: &Operand<'a>,
        count: usize,
        ty: Type,
    ) -> Result<Vec<Reg>> {
        let parts = self.parts(operand, count)?;
        self.check_fragment(&parts, ty)?;
        let rows = parts.iter().map(|part| self.part_source(part, ty));
        rows.collect()
    }

    /// Rows with the elements of a vector that memory is combined with.
    pub(super) fn rows_of_elements(
        &mut self,
        operand: &Operand<'a>,
        count: usize,
        ty: Type,
    ) -> Result<Vec<Reg>> {
        let parts = self.parts(operand, count)?;
        self.check_vector(&parts, ty, false)?;
        let rows = parts.iter().map(|part| self.part_source(part, ty));
        rows.collect()
    }

    /// The operands of a vector of so many registers, or the elements of a register that is one.
    pub(super) fn parts(&self, operand: &Operand<'a>, count: usize) -> Result<Vec<Operand<'a>>> {
        let parts = match operand {
            Operand::Vector(parts) => parts.clone(),
            operand => self
                .elements_of(operand)
                .unwrap_or_else(|| vec![operand.clone()]),
        };
        if parts.len() != count {
            return self.error(format!(
                "expected {count} registers in the vector, found {}",
                parts.len()
            ));
        }
        Ok(parts)
    }
}

/// The type of the result of `cvt`, or of its source, as it is written.
fn converted<'a>(i: &Instruction<'a>, at: usize) -> &'a str {
    let mut types = i.modifiers.iter().rev().take(2);
    types.nth(1 - at).copied().unwrap_or("")
}

/// Tells whether `cvt` is to or from a type that has registers of bits alone, or none of its own.
fn is_alternate(i: &Instruction<'_>, at: usize) -> bool {
    matches!(converted(i, at), "bf16" | "bf16x2" | "tf32") || is_packed(i, at)
}

/// Tells whether `cvt` is to or from numbers of 8 bits, or to `tf32`.
fn is_packed(i: &Instruction<'_>, at: usize) -> bool {
    let name = converted(i, at);
    name == "tf32" || name.ends_with("x2") && name.starts_with('e') || name.starts_with("ue")
}

/// The effect of an instruction on registers on undefined bytes of its sources.
fn carry(i: &Instruction<'_>) -> Carry {
    let integer = |name: &&str| Type::of(name).is_some_and(|ty| !ty.is_float() && ty != Type::Pred);
    match (i.opcode, i.modifiers.as_slice()) {
        ("and" | "or" | "xor" | "not" | "lop3", _) => Carry::Bitwise,
        ("shl" | "shr" | "bfe" | "brev", _) => Carry::Moves(0b001),
        ("bfi" | "prmt" | "shf" | "selp", _) => Carry::Moves(0b011),
        ("cvt", types @ [_, _]) if types.iter().all(integer) => Carry::Moves(0b001),
        (
            "add" | "sub" | "mul" | "fma" | "min" | "max" | "neg" | "abs" | "ex2" | "tanh",
            [.., "f16x2" | "bf16x2" | "u16x2" | "s16x2"],
        ) => Carry::Halves,
        _ => Carry::Nothing,
    }
}

/// The mask of a pragma that says which bytes of the next load are used; none of another one, which the emulator has no use for.
fn used_bytes(text: &str) -> Option<u32> {
    let mask = text.trim().strip_prefix("used_bytes_mask")?.trim();
    u32::from_str_radix(mask.strip_prefix("0x")?, 16).ok()
}

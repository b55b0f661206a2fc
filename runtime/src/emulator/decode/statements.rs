//! Bodies, and the instructions that touch registers alone.

use super::super::alu::{self, Kind};
use super::super::mma::{Mma, SparseMma};
use super::super::program::{AluOp, Carry, Guard, Initial, Inst, Op, Pred, Product, Reg, SparseOp};
use super::names::Name;
use super::{Decoder, Draft, Result};
use crate::ptx::{Immediate, Instruction, Operand, Statement, Type};

/// The type of the registers of a fragment.
pub(super) fn register_type(is_double: bool) -> Type {
    if is_double { Type::B64 } else { Type::B32 }
}

/// The type of a part of so many bits of a value.
fn part_type(bits: u32) -> Type {
    match bits {
        8 => Type::B8,
        16 => Type::B16,
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
                Statement::Instruction(instruction) => self.instruction(instruction, statements)?,
                // Both are looked up where they are used.
                Statement::Targets { .. } | Statement::Prototype { .. } | Statement::Pragma(_) => {}
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
                    d: self.dest(dest)?.0,
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

    fn mov(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [dest, source] = i.operands.as_slice() else {
            return self.error("expected a destination and a source after mov");
        };
        let Some(ty) = i.modifiers.last().and_then(|name| Type::of(name)) else {
            return self.unknown(i);
        };
        if i.modifiers.len() != 1 {
            return self.unknown(i);
        }
        if ty == Type::Pred {
            if matches!(source, Operand::Special(register) if register.name == "%is_explicit_cluster")
            {
                return self.is_explicit_cluster(dest);
            }
            let Some(d) = self.pred_dest(dest)? else {
                return Ok(Op::Hint);
            };
            let s = self.pred_source(source)?;
            return Ok(Op::MovePred { d, s });
        }
        match (dest, source) {
            (Operand::Vector(parts), source) => {
                let bits = self.part_bits(ty, parts.len())?;
                let part_type = part_type(bits);
                let s = self.source(source, ty)?;
                let parts = parts
                    .iter()
                    .map(|part| {
                        self.check_width(part, part_type, false)?;
                        Ok(self.dest_or_sink(part)?.map(|(reg, _)| reg))
                    })
                    .collect::<Result<_>>()?;
                Ok(Op::Unpack { parts, s, bits })
            }
            (dest, Operand::Vector(parts)) => {
                let bits = self.part_bits(ty, parts.len())?;
                self.check_width(dest, ty, false)?;
                let (d, _) = self.dest(dest)?;
                let part_type = part_type(bits);
                let parts = parts
                    .iter()
                    .map(|part| self.source(part, part_type))
                    .collect::<Result<_>>()?;
                Ok(Op::Pack { d, parts, bits })
            }
            (dest, Operand::Special(register))
                if register.name.starts_with("%clock")
                    || register.name.starts_with("%globaltimer") =>
            {
                let (d, bits) = self.dest(dest)?;
                Ok(Op::Clock { d, bits })
            }
            (dest, Operand::Symbol { name, offset })
                if matches!(self.names.get(name), Some(Name::Frame(_))) =>
            {
                self.frame_address(dest, name, *offset)
            }
            (dest, source) => {
                self.check_width(dest, ty, false)?;
                let (d, _) = self.dest(dest)?;
                let s = self.source(source, ty)?;
                Ok(Op::Move { d, s })
            }
        }
    }

    fn part_bits(&self, ty: Type, parts: usize) -> Result<u32> {
        let bits = ty.bytes().unwrap_or(0) * 8;
        match parts {
            2 | 4 if bits <= 64 && bits / parts as u32 >= 8 => Ok(bits / parts as u32),
            _ => self.error(format!(
                "expected 2 or 4 parts of a value of {bits} bits, found {parts}"
            )),
        }
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
        let converts = i.opcode == "cvt";
        match found.result {
            Some(Type::Pred) => (op.p, op.q) = self.pred_pair(result)?,
            ty => {
                if let Some(ty) = ty {
                    self.check_width(result, ty, converts)?;
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
            op.s[op.count] = match converts {
                true => self.wider_source(operand, ty)?,
                false => self.source(operand, ty)?,
            };
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
        let origin = self.origins.len() as u32 - 1;
        let guard = match first.guard {
            None => None,
            Some(guard) => Some(Guard {
                pred: self.predicate(guard.register)?,
                negated: guard.negated,
            }),
        };
        self.drafts.push(Draft {
            inst: Inst { op, guard },
            origin,
        });
        let last = self.alu(&last);
        self.names.close();
        last
    }

    fn mma(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let mma = match Mma::of(&i.modifiers) {
            Ok(mma) => mma,
            Err(error) => return self.error(error.to_string()),
        };
        let (counts, is_double) = (mma.registers(), mma.is_double());
        let product = self.product(i, mma, counts, is_double)?;
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
        let selectors = mma.selectors();
        match selector {
            Operand::Immediate(Immediate::Int { bits, .. }) if *bits < selectors as u64 => {
                mma.select(*bits as usize);
            }
            _ => {
                return self.error(format!(
                    "expected a number below {selectors} as the sparsity selector of mma.sp of that shape and types, found something else"
                ));
            }
        }
        let counts = mma.registers();
        let matrices = Instruction {
            operands: matrices.to_vec(),
            ..i.clone()
        };
        let product = self.product(&matrices, mma, counts, false)?;
        let metadata = self.source(metadata, Type::B32)?;
        Ok(Op::SparseMma(Box::new(SparseOp { product, metadata })))
    }

    /// The product of an instruction whose operands are D, A, B and C, of so many registers each.
    pub(super) fn product<M>(
        &mut self,
        i: &Instruction<'a>,
        mma: M,
        counts: [usize; 4],
        is_double: bool,
    ) -> Result<Product<M>> {
        let [d, a, b, c] = i.operands.as_slice() else {
            let (name, kind) = (i.opcode, i.modifiers.first().unwrap_or(&""));
            return self.error(format!("expected D, A, B and C after {name}.{kind}"));
        };
        let ty = register_type(is_double);
        Ok(Product {
            mma,
            d: self.dests(d, counts[0])?,
            a: self.sources(a, counts[1], ty)?,
            b: self.sources(b, counts[2], ty)?,
            c: self.sources(c, counts[3], ty)?,
        })
    }

    /// Registers of a fragment that is written.
    pub(super) fn dests(&mut self, operand: &Operand<'a>, count: usize) -> Result<Vec<Reg>> {
        let parts = self.parts(operand, count)?;
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
        parts.iter().map(|part| self.source(part, ty)).collect()
    }

    pub(super) fn parts<'o>(
        &self,
        operand: &'o Operand<'a>,
        count: usize,
    ) -> Result<&'o [Operand<'a>]> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
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

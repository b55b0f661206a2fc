//! Mutants of what Hopper's kernels are synchronized with: mbarriers, bulk copies, products of warpgroups, clusters and fences.

use crate::code::{Edit, Generator, int};
use cute_runtime::ptx::{Immediate, Instruction, Operand, Registers, Statement, TextLine, Type};

/// A register of a mutant's own, which its scope declares.
const OWN: &str = "mutated";

fn instruction<'a>(
    opcode: &'a str,
    modifiers: &[&'a str],
    operands: Vec<Operand<'a>>,
    like: &Instruction<'a>,
) -> Statement<'a> {
    Statement::Instruction(Instruction {
        guard: like.guard,
        opcode,
        modifiers: modifiers.to_vec(),
        operands,
        source: like.source,
        line: like.line,
    })
}

fn own<'a>() -> Operand<'a> {
    Operand::Symbol {
        name: OWN,
        offset: 0,
    }
}

/// An instruction whose own register is that function of an operand and a number.
fn of_own<'a>(
    (opcode, ty): (&'a str, &'a str),
    (of, number): (&Operand<'a>, i64),
    with: Instruction<'a>,
) -> Statement<'a> {
    let registers = Statement::Registers(Registers {
        vector: None,
        ty: Type::B32,
        names: vec![(OWN, None)],
        line: TextLine(0),
    });
    let makes = instruction(opcode, &[ty], vec![own(), of.clone(), int(number)], &with);
    Statement::Scope(vec![registers, makes, Statement::Instruction(with)])
}

/// The instruction with an operand that is a number, or a register plus a number; none where it has no such operand.
pub fn shifted<'a>(found: &Instruction<'a>, index: usize, by: i64) -> Option<Statement<'a>> {
    let mut with = found.clone();
    match found.operands.get(index)? {
        Operand::Immediate(Immediate::Int { bits, .. }) => {
            with.operands[index] = int(*bits as i64 + by);
            Some(Statement::Instruction(with))
        }
        register @ Operand::Register(_) => {
            with.operands[index] = own();
            Some(of_own(("add", "s32"), (register, by), with))
        }
        _ => None,
    }
}

impl<'a> Generator<'_, 'a> {
    /// Each wait, arrival, commit and fence removed; each wait for the other phase, or for one group fewer; each arrival twice; each count and
    /// each number of bytes one more and one less; each multicast to one block fewer.
    pub fn hopper(&mut self) {
        let all: Vec<(usize, Instruction<'a>)> =
            self.instructions().map(|(at, i)| (at, i.clone())).collect();
        for (at, instruction) in &all {
            self.of_instruction(*at, instruction);
        }
    }

    fn of_instruction(&mut self, at: usize, found: &Instruction<'a>) {
        let has = |modifier: &str| found.modifiers.contains(&modifier);
        let starts = |text: &str| found.modifiers.iter().any(|m| m.starts_with(text));
        match found.opcode {
            "mbarrier" if has("init") => {
                self.removed(at, found, "initialization removed");
                self.off_by(at, found, 1, 1, "count of a barrier");
            }
            "mbarrier" if has("try_wait") || has("test_wait") => {
                let done = vec![found.operands[0].clone(), int(1)];
                let done = instruction("mov", &["pred"], done, found);
                self.replaced(at, "wait removed", "removed", "does not wait", done);
                let mut other = found.clone();
                other.operands[2] = own();
                let other = of_own(("xor", "b32"), (&found.operands[2], 1), other);
                let what = "waits for the other phase";
                self.replaced(at, "wait of the other phase", "other phase", what, other);
            }
            "mbarrier" if has("arrive") => {
                self.removed(at, found, "arrival removed");
                let twice = vec![Statement::Instruction(found.clone()); 2];
                self.replaced(
                    at,
                    "arrival doubled",
                    "twice",
                    "arrives twice",
                    Statement::Scope(twice),
                );
                if has("expect_tx") {
                    self.off_by(at, found, 2, 16, "bytes of a barrier");
                }
            }
            "mapa" => self.off_by(at, found, 2, 1, "block of an address"),
            "st" if has("async") => self.removed(at, found, "store to another block removed"),
            "fence" => self.removed(at, found, "fence removed"),
            "wgmma" if has("fence") => self.removed(at, found, "fence removed"),
            "wgmma" if has("commit_group") => self.removed(at, found, "commit removed"),
            "wgmma" if has("wait_group") => self.wait_of_groups(at, found),
            "cp" if has("bulk") && has("commit_group") => self.removed(at, found, "commit removed"),
            "cp" if has("bulk") && has("wait_group") => self.wait_of_groups(at, found),
            "cp" if has("bulk") => {
                self.removed(at, found, "bulk copy removed");
                if starts("multicast") {
                    let last = found.operands.len() - 1;
                    for mask in [1, 2] {
                        let mut with = found.clone();
                        with.operands[last] = int(mask);
                        self.replaced(
                            at,
                            "multicast to one block",
                            &format!("mask {mask}"),
                            &format!("the mask becomes {mask}"),
                            Statement::Instruction(with),
                        );
                    }
                }
                self.coordinates(at, found);
            }
            "barrier" if has("cluster") => self.removed(at, found, "barrier of a cluster removed"),
            _ => {}
        }
    }

    /// Each coordinate of a box in a tensor map one element further, and one before.
    fn coordinates(&mut self, at: usize, found: &Instruction<'a>) {
        for (index, operand) in found.operands.iter().enumerate() {
            let Operand::Address(address) = operand else {
                continue;
            };
            let Some(Operand::Vector(coordinates)) = address.more.first() else {
                continue;
            };
            for (mode, coordinate) in coordinates.iter().enumerate() {
                for by in [-1, 1] {
                    let mut with = found.clone();
                    if let Operand::Address(address) = &mut with.operands[index]
                        && let Some(Operand::Vector(all)) = address.more.first_mut()
                    {
                        all[mode] = own();
                    }
                    self.replaced(
                        at,
                        "coordinate of a box",
                        &format!("coordinate {mode} {by:+}"),
                        &format!("coordinate {mode} becomes {by:+}"),
                        of_own(("add", "s32"), (coordinate, by), with),
                    );
                }
            }
        }
    }

    fn off_by(
        &mut self,
        at: usize,
        found: &Instruction<'a>,
        index: usize,
        unit: i64,
        kind: &'static str,
    ) {
        for by in [-unit, unit] {
            if let Some(with) = shifted(found, index, by) {
                let what = format!("operand {index} {by:+}");
                self.replaced(at, kind, &what, &what, with);
            }
        }
    }

    fn replaced(
        &mut self,
        at: usize,
        kind: &'static str,
        suffix: &str,
        what: &str,
        with: Statement<'a>,
    ) {
        self.add(at, kind, suffix, what.to_owned(), Edit::Replace(at, with));
    }
}

//! Calls: of functions of the module, in place or as they are, through pointers, and of what the system has.

use std::collections::{HashMap, HashSet};

use super::super::address;
use super::super::program::{Callee, Guard, Inst, ModuleVariable, Op, Reg, Routine};
use super::names::Name;
use super::passing::Passed;
use super::{Decoder, Result};
use crate::ptx::{
    Function, Init, Instruction, Item, Module, Operand, Space as PtxSpace, Statement, Type,
};

/// Calls within calls that are decoded in place.
const MAX_CALLS: usize = 32;
/// Instructions up to which functions are decoded in place of their calls.
const MAX_IN_PLACE: usize = 1 << 16;
/// Instructions of a kernel with all that it calls, at most.
pub(super) const MAX_INSTRUCTIONS: usize = 1 << 22;
/// Bytes of each thread for frames of functions that are not decoded in place.
pub(super) const STACK: u64 = 8 << 10;
/// Bytes that `malloc` has to give (CUDA C++ Programming Guide, "Heap Memory Allocation").
const HEAP: usize = 8 << 20;

/// The frame of the function that is being decoded.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub register: Reg,
    bytes: u64,
}

/// A function that is decoded once.
pub(super) struct Draft<'m, 'a> {
    function: &'m Function<'a>,
    label: u32,
    params: Vec<(u64, u64)>,
    returns: Vec<(u64, u64)>,
    /// Bytes of both.
    bytes: u64,
    /// Rows, predicates, and the frame, once it is decoded.
    decoded: Option<(std::ops::Range<Reg>, std::ops::Range<u32>, Frame)>,
}

/// Functions that call each other, and those whose addresses are taken.
#[derive(Default)]
pub(super) struct Graph<'a> {
    recursive: HashSet<&'a str>,
    taken: Vec<&'a str>,
}

impl<'a> Graph<'a> {
    pub(super) fn of(module: &Module<'a>) -> Graph<'a> {
        let functions = || {
            module.items.iter().filter_map(|item| match item {
                Item::Function(function) => Some((function, function.body.as_deref()?)),
                _ => None,
            })
        };
        let names: HashSet<&str> = functions().map(|(function, _)| function.name).collect();
        let mut calls: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut taken = Vec::new();
        for (function, body) in functions() {
            let called = calls.entry(function.name).or_default();
            let mut pending = vec![body];
            while let Some(statements) = pending.pop() {
                for statement in statements {
                    match statement {
                        Statement::Scope(inside) => pending.push(inside),
                        Statement::Instruction(i) => {
                            for operand in &i.operands {
                                if let Operand::Symbol { name, .. } = operand
                                    && names.contains(name)
                                {
                                    match i.opcode {
                                        "call" => called.push(*name),
                                        _ => taken.push(*name),
                                    }
                                }
                            }
                        }
                        Statement::Variable(variable) => {
                            addresses(variable.init.as_ref(), &mut taken);
                        }
                        _ => {}
                    }
                }
            }
        }
        for item in &module.items {
            if let Item::Variable(variable) = item {
                addresses(variable.init.as_ref(), &mut taken);
            }
        }
        taken.retain(|name| names.contains(name));
        taken.sort_unstable();
        taken.dedup();
        // Those that reach themselves.
        let reaches = |from: &str| {
            let mut seen = HashSet::new();
            let mut pending: Vec<&str> = calls.get(from).cloned().unwrap_or_default();
            while let Some(name) = pending.pop() {
                if name == from {
                    return true;
                }
                if seen.insert(name) {
                    pending.extend(calls.get(name).into_iter().flatten());
                }
            }
            false
        };
        let recursive = names.iter().copied().filter(|name| reaches(name)).collect();
        Graph { recursive, taken }
    }
}

/// The names whose addresses an initialiser has.
pub(super) fn addresses<'a>(init: Option<&Init<'a>>, found: &mut Vec<&'a str>) {
    match init {
        Some(Init::Address { symbol, .. }) => found.push(symbol),
        Some(Init::List(items)) => {
            for item in items {
                addresses(Some(item), found);
            }
        }
        _ => {}
    }
}

impl<'m, 'a> Decoder<'m, 'a> {
    /// A call, with a branch around it where it is under a predicate.
    pub(super) fn guarded_call(
        &mut self,
        i: &Instruction<'a>,
        guard: Option<Guard>,
        around: &[Statement<'a>],
    ) -> Result<()> {
        let origin = self.origins.len() as u32 - 1;
        let around_it = guard.map(|guard| {
            let label = self.labels.len() as u32;
            self.labels.push(None);
            self.push(
                Op::Branch(label),
                Some(Guard {
                    negated: !guard.negated,
                    ..guard
                }),
                origin,
            );
            label
        });
        if let Some(op) = self.call(i, around)? {
            self.push(op, None, origin);
        }
        if let Some(label) = around_it {
            self.labels[label as usize] = Some(self.drafts.len() as u32);
        }
        Ok(())
    }

    pub(super) fn push(&mut self, op: Op, guard: Option<Guard>, origin: u32) {
        self.drafts.push(super::Draft {
            inst: Inst { op, guard },
            origin,
        });
    }

    fn call(&mut self, i: &Instruction<'a>, around: &[Statement<'a>]) -> Result<Option<Op>> {
        let (returns, rest) = match i.operands.as_slice() {
            [Operand::List(returns), rest @ ..] => (returns.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let (callee, arguments, prototype) = match rest {
            [
                callee,
                Operand::List(arguments),
                Operand::Symbol { name, .. },
            ] => (callee, arguments.as_slice(), Some(*name)),
            [callee, Operand::List(arguments)] => (callee, arguments.as_slice(), None),
            [callee, Operand::Symbol { name, .. }] => (callee, &[][..], Some(*name)),
            [callee] => (callee, &[][..], None),
            _ => return self.error("expected a function after call, and lists of parameters"),
        };
        let function = match callee {
            Operand::Symbol { name, offset: 0 }
                if !matches!(self.names.get(name), Some(Name::Reg(..))) =>
            {
                *name
            }
            pointer => {
                self.call_pointer(pointer, returns, arguments, prototype, around)?;
                return Ok(None);
            }
        };
        // An alias is another name of a function.
        let function = self
            .module
            .items
            .iter()
            .find_map(|item| match item {
                Item::Alias { name, of } if *name == function => Some(*of),
                _ => None,
            })
            .unwrap_or(function);
        if let Some((called, body)) = self.with_body(function) {
            self.check_counts(called, returns, arguments)?;
            let in_place = !self.graph.recursive.contains(called.name)
                && self.returns.len() < MAX_CALLS
                && self.drafts.len() < MAX_IN_PLACE;
            if in_place {
                self.inline(called, body, returns, arguments)?;
                return Ok(None);
            }
            let index = self.routine(called)?;
            let (sizes, results) = {
                let draft = &self.routines[index as usize];
                (draft.params.clone(), draft.returns.clone())
            };
            let given = Passed {
                params: &called.params,
                operands: arguments,
                sizes: &sizes,
            };
            let taken = Passed {
                params: &called.returns,
                operands: returns,
                sizes: &results,
            };
            self.pass(Callee::Function(index), given, taken)?;
            return Ok(None);
        }
        let arguments = self.parameters(arguments)?;
        let returns = self.parameters(returns)?;
        match (function, arguments.as_slice()) {
            ("vprintf", &[format, arguments]) => Ok(Some(Op::Printf {
                format,
                arguments,
                result: returns.first().copied(),
            })),
            ("__assertfail", &[message, file, line, function, _]) => Ok(Some(Op::AssertFail {
                message,
                file,
                line,
                function,
            })),
            ("malloc", &[bytes]) => {
                let heap = self.heap()?;
                Ok(returns.first().map(|&result| Op::Allocate {
                    bytes,
                    result,
                    heap,
                    size: HEAP as u64,
                }))
            }
            // What is freed is not given to others.
            ("free", &[_]) => Ok(Some(Op::Hint)),
            _ => self.error(format!(
                "the emulator knows no function {function} with {} arguments; it calls those of the module, vprintf, __assertfail, malloc and free",
                arguments.len()
            )),
        }
    }

    fn with_body(&self, name: &str) -> Option<(&'m Function<'a>, &'m [Statement<'a>])> {
        self.module.items.iter().find_map(|item| match item {
            Item::Function(called) if called.name == name && !called.is_entry => {
                Some((called, called.body.as_deref()?))
            }
            _ => None,
        })
    }

    /// The address of a function of the module.
    pub(super) fn function_address(&self, name: &str) -> Option<u64> {
        let is = |item: &Item<'a>| matches!(item, Item::Function(f) if f.name == name && f.body.is_some() && !f.is_entry);
        self.module.items.iter().position(is).map(address::function)
    }

    /// The memory that `malloc` gives parts of.
    fn heap(&mut self) -> Result<u64> {
        self.hidden("memory of malloc", HEAP, false)
    }

    /// The memory by which the blocks of a cooperative launch meet, zero at first.
    pub(super) fn workspace(&mut self) -> Result<u64> {
        self.hidden("workspace of the grid", 64, true)
    }

    /// The address of memory that a launch has beside the module's variables.
    fn hidden(&mut self, name: &str, bytes: usize, initialized: bool) -> Result<u64> {
        if let Some(known) = self.variables.iter().find(|variable| variable.name == name) {
            return Ok(known.address);
        }
        let at = self.next_variable(256)?;
        self.variables.push(ModuleVariable {
            name: name.into(),
            address: at,
            bytes: vec![0; bytes],
            initialized,
            constant: false,
        });
        Ok(at)
    }

    /// A call through a register.
    fn call_pointer(
        &mut self,
        pointer: &Operand<'a>,
        returns: &[Operand<'a>],
        arguments: &[Operand<'a>],
        prototype: Option<&str>,
        around: &[Statement<'a>],
    ) -> Result<()> {
        let register = self.source(pointer, Type::U64)?;
        let Some(prototype) = prototype else {
            return self.error(
                "expected a .callprototype or .calltargets after a call through a register",
            );
        };
        let found = around.iter().find_map(|statement| match statement {
            Statement::Prototype {
                name,
                returns,
                params,
                ..
            } if *name == prototype => Some((params.clone(), returns.clone())),
            Statement::Targets {
                name,
                calls: true,
                targets,
            } if *name == prototype => {
                let (function, _) = self.with_body(targets.first()?)?;
                Some((function.params.clone(), function.returns.clone()))
            }
            _ => None,
        });
        let Some((params, wanted)) = found else {
            return self.error(format!(
                "there is no .callprototype or .calltargets {prototype}"
            ));
        };
        if params.len() != arguments.len() || wanted.len() != returns.len() {
            return self.error(format!(
                "{prototype} takes {} arguments and gives {} results, found {} and {}",
                params.len(),
                wanted.len(),
                arguments.len(),
                returns.len()
            ));
        }
        let (sizes, after) = self.places(&params, 0)?;
        let (results, _) = self.places(&wanted, after)?;
        let given = Passed {
            params: &params,
            operands: arguments,
            sizes: &sizes,
        };
        let taken = Passed {
            params: &wanted,
            operands: returns,
            sizes: &results,
        };
        self.pass(Callee::Pointer(register), given, taken)
    }

    /// The number of a function that is decoded once.
    fn routine(&mut self, function: &'m Function<'a>) -> Result<u32> {
        let known = |draft: &Draft<'m, 'a>| draft.function.name == function.name;
        if let Some(index) = self.routines.iter().position(known) {
            return Ok(index as u32);
        }
        let (params, after) = self.places(&function.params, 0)?;
        let (returns, bytes) = self.places(&function.returns, after)?;
        let label = self.labels.len() as u32;
        self.labels.push(None);
        self.routines.push(Draft {
            function,
            label,
            params,
            returns,
            bytes,
            decoded: None,
        });
        Ok(self.routines.len() as u32 - 1)
    }

    /// A place in the frame of the function that is being decoded.
    pub(super) fn in_frame(&mut self, bytes: u64, align: u64) -> Result<u64> {
        let Some(frame) = &mut self.frame else {
            return self.error("expected a function");
        };
        let at = frame.bytes.next_multiple_of(align.min(16));
        frame.bytes = at + bytes;
        if frame.bytes > STACK {
            return self.error(format!(
                "expected at most {STACK} bytes of local memory in a function that recurs or whose address is taken, found more"
            ));
        }
        Ok(at)
    }

    /// `mov` of the address of a variable in the frame.
    pub(super) fn frame_address(
        &mut self,
        dest: &Operand<'a>,
        name: &str,
        offset: i64,
    ) -> Result<Op> {
        let (d, _) = self.dest(dest)?;
        match (self.names.get(name), self.frame) {
            (Some(Name::Frame(at)), Some(frame)) => Ok(Op::FrameAddress {
                d,
                frame: frame.register,
                offset: at.wrapping_add_signed(offset),
            }),
            _ => self.error(format!("{name} is not of this function")),
        }
    }

    /// Decodes the functions that are called as they are, behind the kernel; returns their labels.
    pub(super) fn routines(&mut self) -> Result<Vec<u32>> {
        let pointers = |drafts: &[super::Draft]| {
            drafts.iter().any(|draft| {
                matches!(&draft.inst.op, Op::Call(call) if matches!(call.callee, Callee::Pointer(_)))
            })
        };
        let mut index = 0;
        let mut all_taken = false;
        loop {
            if !all_taken && pointers(&self.drafts) {
                all_taken = true;
                for name in std::mem::take(&mut self.graph.taken) {
                    if let Some((function, _)) = self.with_body(name) {
                        self.routine(function)?;
                    }
                }
            }
            if index == self.routines.len() {
                break;
            }
            self.decode_routine(index)?;
            index += 1;
        }
        Ok(self.routines.iter().map(|draft| draft.label).collect())
    }

    fn decode_routine(&mut self, index: usize) -> Result<()> {
        let origin = self.origins.len().saturating_sub(1) as u32;
        // What comes before ends here.
        let before = match index {
            0 => Op::Exit,
            _ => Op::Return,
        };
        self.push(before, None, origin);
        let draft = &self.routines[index];
        let (function, label, bytes) = (draft.function, draft.label, draft.bytes);
        let params = function.params.iter().zip(draft.params.clone());
        let results = function.returns.iter().zip(draft.returns.clone());
        let (params, results): (Vec<_>, Vec<_>) = (params.collect(), results.collect());
        self.labels[label as usize] = Some(self.drafts.len() as u32);
        let (rows, preds) = self.names.counts();
        let register = self.row();
        self.frame = Some(Frame { register, bytes });
        let caller = self.names.enter();
        self.take(register, &params)?;
        let end = self.give(register, &results)?;
        self.statements(function.body.as_deref().unwrap_or_default())?;
        self.names.leave(caller);
        let origin = self.origins.len().saturating_sub(1) as u32;
        if let Some((end, stores)) = end {
            self.returns.pop();
            self.labels[end as usize] = Some(self.drafts.len() as u32);
            for store in stores {
                self.push(store, None, origin);
            }
        }
        self.push(Op::Return, None, origin);
        let frame = self.frame.take().unwrap_or(Frame { register, bytes });
        let (all_rows, all_preds) = self.names.counts();
        self.routines[index].decoded = Some((rows..all_rows, preds..all_preds, frame));
        Ok(())
    }

    /// The functions, with the instructions where they begin.
    pub(super) fn finished_routines(&self, entries: &[u32], constants: &[Reg]) -> Vec<Routine> {
        let constants: HashSet<Reg> = constants.iter().copied().collect();
        let routines = self.routines.iter().zip(entries);
        routines
            .filter_map(|(draft, &entry)| {
                let (rows, preds, frame) = draft.decoded.clone()?;
                Some(Routine {
                    name: draft.function.name.to_string(),
                    address: self.function_address(draft.function.name)?,
                    entry,
                    rows: rows.filter(|row| !constants.contains(row)).collect(),
                    preds,
                    frame: frame.register,
                    frame_bytes: frame.bytes.next_multiple_of(16),
                    params: draft.params.clone(),
                    returns: draft.returns.clone(),
                })
            })
            .collect()
    }

    fn check_counts(
        &self,
        called: &Function<'a>,
        returns: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<()> {
        if called.params.len() == arguments.len() && called.returns.len() == returns.len() {
            return Ok(());
        }
        self.error(format!(
            "{} takes {} arguments and gives {} results, found {} and {}",
            called.name,
            called.params.len(),
            called.returns.len(),
            arguments.len(),
            returns.len()
        ))
    }

    /// The body of a function in place of its call. Its parameters in memory are the caller's; those that are registers are copied.
    fn inline(
        &mut self,
        called: &'m Function<'a>,
        body: &'m [Statement<'a>],
        returns: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<()> {
        if self.returns.len() >= MAX_CALLS {
            return self.error(format!(
                "expected calls at most {MAX_CALLS} deep, found more; the emulator knows no recursion"
            ));
        }
        let origin = self.origins.len() as u32 - 1;
        let copy = |d, s| super::Draft {
            inst: Inst {
                op: Op::Move { d, s },
                guard: None,
            },
            origin,
        };
        let mut names = Vec::new();
        for (param, operand) in called.params.iter().zip(arguments) {
            let name = match param.space {
                PtxSpace::Reg => {
                    let (s, d) = (self.source(operand, param.ty)?, self.register_for(param)?);
                    self.drafts.push(copy(d, s));
                    Name::Reg(d, param.ty)
                }
                _ => Name::Local(self.parameter(operand)?),
            };
            names.push((param.name, name));
        }
        let mut results = Vec::new();
        for (param, operand) in called.returns.iter().zip(returns) {
            let name = match param.space {
                PtxSpace::Reg => {
                    let s = self.register_for(param)?;
                    if let Some(d) = self.dest_or_sink_of(operand, param.ty)? {
                        results.push(copy(d, s));
                    }
                    Name::Reg(s, param.ty)
                }
                _ => Name::Local(self.parameter(operand)?),
            };
            names.push((param.name, name));
        }
        // What follows sees no names of the caller, but the module's and its own.
        let caller = self.names.enter();
        for (param, name) in names {
            self.names.insert(param, name);
        }
        let end = self.labels.len() as u32;
        self.labels.push(None);
        self.returns.push(end);
        // What it allocates ends with it.
        let stack = super::stack::allocates(body).then(|| (self.row(), self.stack_pointer()));
        if let Some((kept, pointer)) = stack {
            self.drafts.push(copy(kept, pointer));
        }
        self.statements(body)?;
        self.returns.pop();
        self.labels[end as usize] = Some(self.drafts.len() as u32);
        if let Some((s, pointer)) = stack {
            self.push(Op::StackRestore { s, pointer }, None, origin);
        }
        self.drafts.extend(results);
        self.names.leave(caller);
        Ok(())
    }
}

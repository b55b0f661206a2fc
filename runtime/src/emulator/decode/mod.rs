//! PTX to a [`Kernel`]: names become rows and addresses, labels become indices. Whatever is not
//! known is an error here, before anything runs.

mod atomics;
mod blocks;
mod bulk;
mod calls;
mod control;
mod distributed;
mod memory;
mod moves;
mod names;
mod operands;
mod passing;
mod stack;
mod statements;
mod sync;
mod tensormap;
mod types;
mod used;
mod video;
mod warpgroup;
mod wmma;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::address;
use super::program::{
    Guard, Initial, Inst, Kernel, MbarrierOp, ModuleVariable, Op, Origin, Reg, Space, Speculation,
};
use crate::ptx::{self, Function, Instruction, Item, Module, Place, Places, Source};
pub(super) use names::GAP;
use names::{Name, Names};

/// PTX that the emulator cannot execute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(.line, .from))]
pub struct DecodeError {
    /// Line of the PTX, from 1; 0 where it is about no line.
    pub line: u32,
    /// The place in what was compiled.
    pub from: Option<Place>,
    /// The text of the error: what was expected, what was found, the cure.
    pub message: String,
}

fn place(line: &u32, source: &Option<Place>) -> String {
    match (line, source) {
        (0, _) => String::new(),
        (line, None) => format!("PTX line {line}: "),
        (line, Some(source)) => format!("{source} (PTX line {line}): "),
    }
}

type Result<T> = std::result::Result<T, DecodeError>;

/// An instruction before jumps have their targets: they name labels.
struct Draft {
    inst: Inst,
    origin: u32,
}

struct Decoder<'m, 'a> {
    module: &'m Module<'a>,
    places: Places<'a>,
    names: Names<'a>,
    initial: HashMap<Initial, Reg>,
    drafts: Vec<Draft>,
    /// The guard of the instruction that is decoded.
    guard: Option<Guard>,
    origins: Vec<Origin>,
    /// The places of labels: an index of a draft.
    labels: Vec<Option<u32>>,
    /// The labels that functions return to that are being decoded in place of their calls.
    returns: Vec<u32>,
    /// Functions that are decoded once, and the frame of the one that is being decoded.
    routines: Vec<calls::Draft<'m, 'a>>,
    frame: Option<calls::Frame>,
    graph: calls::Graph<'a>,
    /// The reasons why variables of the module cannot be used, by their names.
    refused: HashMap<&'a str, String>,
    /// The number of the module among those that share memory.
    number: usize,
    placed: &'m Placed,
    variables: Vec<ModuleVariable>,
    static_end: u64,
    /// The shared memory of cooperative groups, where the kernel uses it.
    of_groups: Option<u64>,
    /// Alignment of dynamic shared memory, if the kernel has it.
    dynamic_align: Option<u64>,
    local_bytes: u64,
    /// Bytes between variables of a thread's own that are no variable's.
    gaps: Vec<(u64, u64)>,
    /// Tells whether the last thing in a thread's own memory is such a variable.
    ends_with_variable: bool,
    /// Bytes of `variables`.
    variable_bytes: u64,
    granule: u32,
    global_granule: u32,
    line: u32,
    source: Option<Source<'a>>,
    /// The bytes of the next load that a pragma says are used.
    used_bytes: Option<u32>,
}

/// Bytes of the parameters of a kernel (PTX ISA 9.0, "Kernel Function Parameters"), at most.
const MAX_PARAMS: u64 = 32_764;

/// Addresses of variables in memory that was allocated for them, by their names.
pub(super) type Placed = BTreeMap<String, u64>;

/// Decodes one kernel of a module that has this number among those that share memory.
pub(super) fn kernel(module: &Module<'_>, number: usize, name: &str) -> Result<Kernel> {
    kernel_with(module, number, &Placed::new(), name)
}

/// Decodes one kernel of a module, some of whose variables are elsewhere.
pub(super) fn kernel_with(
    module: &Module<'_>,
    number: usize,
    placed: &Placed,
    name: &str,
) -> Result<Kernel> {
    let function = find(module, name)?;
    let mut decoder = decoder(module, number, placed);
    decoder.names.open();
    decoder.module_variables(&used::names(module, function))?;
    decoder.function(function)
}

/// The variables of a module that all of its kernels see.
pub(super) fn variables(
    module: &Module<'_>,
    number: usize,
    placed: &Placed,
) -> Result<Vec<ModuleVariable>> {
    let mut decoder = decoder(module, number, placed);
    decoder.names.open();
    decoder.module_variables(&HashSet::new())?;
    Ok(decoder.variables)
}

fn decoder<'m, 'a>(module: &'m Module<'a>, number: usize, placed: &'m Placed) -> Decoder<'m, 'a> {
    Decoder {
        module,
        number,
        placed,
        places: Places::of(module),
        names: Names::new(),
        initial: HashMap::new(),
        drafts: Vec::new(),
        guard: None,
        origins: Vec::new(),
        labels: Vec::new(),
        returns: Vec::new(),
        routines: Vec::new(),
        frame: None,
        graph: calls::Graph::of(module),
        refused: HashMap::new(),
        variables: Vec::new(),
        static_end: address::SHARED_START,
        of_groups: None,
        dynamic_align: None,
        local_bytes: 0,
        gaps: Vec::new(),
        ends_with_variable: false,
        variable_bytes: 0,
        granule: 16,
        global_granule: 4,
        line: 0,
        source: None,
        used_bytes: None,
    }
}

/// Marks the loads of which some instruction reads a register, and up to which of them.
fn mark_read(insts: &mut [Inst]) {
    let mut read = HashSet::new();
    for inst in insts.iter() {
        inst.op.registers(&mut |reg, writes| {
            if !writes {
                read.insert(reg);
            }
        });
    }
    for inst in insts {
        if let Op::Load(access) = &mut inst.op {
            let is_read = |reg: &Option<Reg>| reg.is_some_and(|reg| read.contains(&reg));
            let last = access.regs.iter().rposition(is_read);
            access.is_read = last.is_some();
            if let Some(last) = last.filter(|_| !access.order.strong()) {
                access.taken = access.bytes * (last as u32 + 1);
            }
        }
    }
}

fn find<'m, 'a>(module: &'m Module<'a>, name: &str) -> Result<&'m Function<'a>> {
    let kernels = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.is_entry && function.body.is_some() => Some(function),
        _ => None,
    });
    let mut names = Vec::new();
    for function in kernels {
        if function.name == name {
            return Ok(function);
        }
        names.push(function.name);
    }
    Err(DecodeError {
        line: 0,
        from: None,
        message: format!(
            "the PTX has no kernel {name}; it has {}",
            if names.is_empty() {
                "none".to_string()
            } else {
                names.join(", ")
            }
        ),
    })
}

impl<'m, 'a> Decoder<'m, 'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(DecodeError {
            line: self.line,
            from: self.place(),
            message: message.into(),
        })
    }

    fn place(&self) -> Option<Place> {
        self.places.place(&self.source?)
    }

    fn function(mut self, function: &'m Function<'a>) -> Result<Kernel> {
        self.names.open();
        let mut params = Vec::new();
        let mut param_bytes = 0u64;
        for param in &function.params {
            let (bytes, align) = self.size_of(param.ty, param.vector, &param.dims, param.align)?;
            param_bytes = param_bytes.next_multiple_of(align);
            self.names.insert(param.name, Name::Param(param_bytes));
            params.push((param.name.to_string(), param_bytes, bytes));
            param_bytes += bytes;
            if param_bytes > MAX_PARAMS {
                return self.error(format!(
                    "expected at most {MAX_PARAMS} bytes of parameters of a kernel, found more with {}; pass a pointer",
                    param.name
                ));
            }
        }
        self.statements(function.body.as_deref().unwrap_or_default())?;
        let called = self.routines()?;
        let control::Finished {
            mut insts,
            origins,
            entries,
        } = control::finish(
            std::mem::take(&mut self.drafts),
            &self.labels,
            &self.origins,
            &called,
        );
        let mut initial: Vec<(Reg, Initial)> = self
            .initial
            .iter()
            .map(|(value, reg)| (*reg, *value))
            .collect();
        initial.sort_unstable_by_key(|(reg, _)| *reg);
        let dynamic_at = self
            .dynamic_align
            .map(|align| self.static_end.next_multiple_of(align));
        let copies_arrive = insts.iter().any(|inst| {
            matches!(&inst.op, Op::Mbarrier(m) if matches!(m.op, MbarrierOp::CopiesArrive { .. }))
        });
        let constants: Vec<Reg> = initial.iter().map(|(reg, _)| *reg).collect();
        let functions = self.finished_routines(&entries, &constants);
        let stack_at = self.local_bytes.next_multiple_of(16);
        let frames_end = match functions.is_empty() {
            true => stack_at,
            false => stack_at + calls::STACK,
        };
        let stack_pointer = self.initial.get(&Initial::StackEnd).copied();
        let allocated = stack_pointer.map_or(0, |_| stack::ALLOCATED);
        let touches = warpgroup::touches(&insts, &constants);
        mark_read(&mut insts);
        let mismatched = wmma::mismatches(&insts);
        let speculation = Speculation::of(&mut insts);
        let asynchronous = insts.iter().any(|inst| inst.op.is_asynchronous());
        let waits = insts.iter().any(|inst| match &inst.op {
            Op::Load(access) => access.order.strong() && access.space != Space::Shared,
            Op::Atomic(atomic) => atomic.space != Space::Shared,
            _ => false,
        });
        let limits = |wanted: &'static str| {
            let directives = function.directives.iter();
            directives.filter_map(move |d| match d {
                ptx::Directive::Limit { name, values } if *name == wanted => Some(values),
                _ => None,
            })
        };
        let extents = |wanted: &'static str| {
            let values = limits(wanted).next()?;
            // More than any launch has is as far from it.
            let extent = |d: usize| {
                values
                    .get(d)
                    .map_or(1, |&n| n.try_into().unwrap_or(u32::MAX))
            };
            Some([0, 1, 2].map(extent))
        };
        let cluster = extents("reqnctapercluster");
        let required_block = extents("reqntid");
        let threads = |values: &Vec<u64>| values.iter().fold(1, |n: u64, &v| n.saturating_mul(v));
        let max_threads = limits("maxntid")
            .chain(limits("reqntid"))
            .map(threads)
            .min();
        let max_registers = function.directives.iter().find_map(|d| match d {
            ptx::Directive::Limit { name, values } if *name == "maxnreg" => {
                u32::try_from(*values.first()?).ok()
            }
            _ => None,
        });
        let (rows, preds) = self.names.counts();
        Ok(Kernel {
            name: function.name.to_string(),
            insts,
            origins,
            rows,
            preds,
            initial,
            params,
            param_bytes,
            static_end: self.static_end,
            dynamic_at,
            local_bytes: frames_end + allocated,
            stack_at,
            frames_end,
            stack_pointer,
            functions,
            module: self.number,
            variables: self.variables,
            granule: self.granule,
            global_granule: self.global_granule,
            waits,
            copies_arrive,
            asynchronous,
            touches,
            mismatched,
            gaps: self.gaps,
            speculation,
            max_threads,
            required_block,
            max_registers,
            cluster,
        })
    }

    /// The row that always holds a value.
    fn initial(&mut self, value: Initial) -> Reg {
        if let Some(reg) = self.initial.get(&value) {
            return *reg;
        }
        let reg = self.row();
        self.initial.insert(value, reg);
        reg
    }

    fn row(&mut self) -> Reg {
        self.names.row()
    }

    /// Notes where the instruction being decoded is from.
    fn origin(&mut self, instruction: &Instruction<'a>) {
        let mut text = instruction.opcode.to_string();
        for modifier in &instruction.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        self.line = instruction.line.0;
        self.source = instruction.source;
        self.origins.push(Origin {
            text,
            class: ptx::Class::of(instruction),
            line: self.line,
            source: self.place(),
        });
    }
}

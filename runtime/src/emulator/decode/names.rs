//! Names of a function: registers, variables, labels, in nested scopes.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::super::program::{Pred, Reg};
use super::statements::TRUE;
use super::types::{is_of_registers, type_name};
use super::{Decoder, Result};
use crate::emulator::address;
use crate::emulator::program::ModuleVariable;
use crate::ptx::{Immediate, Init, Item, Linkage, Registers, Space, TextLine, Type, Variable};

/// The thing that a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// A register; one of 128 bits has the row behind it, too, for the upper half.
    Reg(Reg, Type),
    /// Registers of a type whose rows follow each other: the first, and how many.
    Vector(Reg, Type, u32),
    Pred(Pred),
    /// An address in the state space.
    Shared(u64),
    DynamicShared,
    Global(u64),
    Const(u64),
    /// An offset into the thread's memory.
    Local(u64),
    /// An offset into the frame of the function that is being decoded.
    Frame(u64),
    /// An offset into the kernel's parameters.
    Param(u64),
    Label(u32),
    /// A variable that the emulator cannot have.
    Refused,
}

/// `%r<302>`: registers that get a row when they are first named, so that those that nothing names cost nothing.
struct Range {
    count: u32,
    ty: Type,
    /// Elements of each, where they are vectors.
    vector: Option<u32>,
    rows: RefCell<HashMap<u32, u32>>,
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Name>,
    ranges: HashMap<&'a str, Range>,
}

/// Scopes, the innermost last.
pub(super) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    /// Rows that registers have, and predicates that they have.
    rows: Cell<u32>,
    preds: Cell<u32>,
    /// Registers that are declared, named or not.
    declared: u32,
}

/// Scopes of a function that calls another one.
pub(super) struct Caller<'a>(Vec<Scope<'a>>);

impl<'a> Names<'a> {
    pub(super) fn new() -> Names<'a> {
        Names {
            scopes: Vec::new(),
            rows: Cell::new(0),
            // The first always holds.
            preds: Cell::new(TRUE + 1),
            declared: 0,
        }
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn close(&mut self) {
        self.scopes.pop();
    }

    /// Hides all but the module's names, for the body of another function.
    pub(super) fn enter(&mut self) -> Caller<'a> {
        let caller = self.scopes.split_off(1);
        self.open();
        Caller(caller)
    }

    /// Back to the caller's names.
    pub(super) fn leave(&mut self, caller: Caller<'a>) {
        self.scopes.truncate(1);
        self.scopes.extend(caller.0);
    }

    /// Declares a name. Returns whether the innermost scope has had none like it.
    pub(super) fn insert(&mut self, name: &'a str, value: Name) -> bool {
        let Some(scope) = self.scopes.last_mut() else {
            return true;
        };
        let of_range = || {
            let (prefix, number) = numbered(name);
            let range = scope.ranges.get(prefix);
            range
                .zip(number)
                .is_some_and(|(range, number)| number < range.count)
        };
        let is_new = !of_range();
        scope.names.insert(name, value).is_none() && is_new
    }

    fn insert_range(&mut self, prefix: &'a str, range: Range) -> bool {
        let Some(scope) = self.scopes.last_mut() else {
            return true;
        };
        let is_there = |name: &&str| {
            let (of, number) = numbered(name);
            of == prefix && number.is_some_and(|number| number < range.count)
        };
        let is_new = !scope.names.keys().any(is_there);
        scope.ranges.insert(prefix, range).is_none() && is_new
    }

    pub(super) fn get(&self, name: &str) -> Option<Name> {
        let (prefix, number) = numbered(name);
        self.scopes.iter().rev().find_map(|scope| {
            if let Some(found) = scope.names.get(name) {
                return Some(*found);
            }
            let range = scope.ranges.get(prefix)?;
            let number = number?;
            (number < range.count).then(|| {
                let mut rows = range.rows.borrow_mut();
                match range.ty {
                    Type::Pred => Name::Pred(*rows.entry(number).or_insert_with(|| self.pred())),
                    ty => {
                        let first = rows
                            .entry(number)
                            .or_insert_with(|| self.rows_for(ty, range.vector));
                        of_rows(*first, ty, range.vector)
                    }
                }
            })
        })
    }

    /// A row that nothing else has.
    pub(super) fn row(&self) -> Reg {
        self.rows.replace(self.rows.get() + 1)
    }

    /// The first of the rows that a register of a type has, or a vector of such.
    fn rows_for(&self, ty: Type, vector: Option<u32>) -> Reg {
        let each = if ty == Type::B128 { 2 } else { 1 };
        let count = each * vector.unwrap_or(1);
        self.rows.replace(self.rows.get() + count)
    }

    /// A predicate that nothing else has.
    pub(super) fn pred(&self) -> Pred {
        self.preds.replace(self.preds.get() + 1)
    }

    /// The numbers of rows and of predicates by now.
    pub(super) fn counts(&self) -> (u32, u32) {
        (self.rows.get(), self.preds.get())
    }
}

/// The thing that a register's name stands for, by its first row.
fn of_rows(first: Reg, ty: Type, vector: Option<u32>) -> Name {
    match vector {
        Some(count) => Name::Vector(first, ty, count),
        None => Name::Reg(first, ty),
    }
}

/// The name of a range, and the number behind it: `%r12`.
fn numbered(name: &str) -> (&str, Option<u32>) {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (prefix, number) = name.split_at(name.len() - digits);
    // `%r01` is no name of a range.
    let plain = digits == 1 || digits > 1 && !number.starts_with('0');
    (prefix, if plain { number.parse().ok() } else { None })
}

/// Bytes that a thread has of its own (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MAX_LOCAL: u64 = 512 << 10;
/// Bytes between two variables of a thread's own, and between parts that `alloca` gives: to access them is to overrun one.
pub(in crate::emulator) const GAP: u64 = 32;
/// Bytes of all variables of a module in global and constant memory: what one can have memory for.
const MAX_VARIABLES: u64 = 64 << 20;

/// The number of values in the lists of an initial value.
fn leaves(init: &Init<'_>) -> u64 {
    match init {
        Init::List(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// More rows than any kernel has, and few enough to have memory for.
const MAX_ROWS: u32 = 1 << 20;

impl<'a> Decoder<'_, 'a> {
    /// Says where what is declared stands.
    pub(super) fn declares(&mut self, line: TextLine) {
        (self.line, self.source) = (line.0, None);
    }

    /// Refuses a name that its scope has already.
    pub(super) fn declared_twice<T>(&self, name: &str) -> Result<T> {
        self.error(format!(
            "expected names that a scope declares once, found {name} again; rename one, or put it into a scope of its own"
        ))
    }

    pub(super) fn declare_registers(&mut self, registers: &Registers<'a>) -> Result<()> {
        self.declares(registers.line);
        let ty = registers.ty;
        let vector = registers.vector;
        if !is_of_registers(ty) {
            return self.error(format!(
                "expected a type that registers have, found {}; declare bits of its width (.b16, .b32)",
                type_name(ty)
            ));
        }
        let bytes = ty.bytes().unwrap_or(16) * vector.unwrap_or(1);
        if vector.is_some_and(|count| count > 4) || vector.is_some() && bytes > 16 {
            return self.error(format!(
                "expected vectors of 2 or 4 registers and of at most 128 bits, found .v{} {}; declare single ones",
                vector.unwrap_or(0),
                type_name(ty)
            ));
        }
        for (name, count) in &registers.names {
            self.names.declared = self.names.declared.saturating_add(count.unwrap_or(1));
            if self.names.declared > MAX_ROWS {
                return self.error(format!("expected at most {MAX_ROWS} registers, found more"));
            }
            let is_new = match count {
                Some(count) => self.names.insert_range(
                    name,
                    Range {
                        count: *count,
                        ty,
                        vector,
                        rows: RefCell::default(),
                    },
                ),
                None => {
                    let one = match ty {
                        Type::Pred => Name::Pred(self.names.pred()),
                        ty => of_rows(self.names.rows_for(ty, vector), ty, vector),
                    };
                    self.names.insert(name, one)
                }
            };
            if !is_new {
                return self.declared_twice(name);
            }
        }
        Ok(())
    }

    /// Bytes and alignment of a variable.
    pub(super) fn size_of(
        &self,
        ty: Type,
        vector: Option<u32>,
        dims: &[Option<u64>],
        align: Option<u32>,
    ) -> Result<(u64, u64)> {
        let Some(element) = ty.bytes() else {
            return self.error(format!("the emulator has no variables of type {ty:?}"));
        };
        let element = u64::from(element) * u64::from(vector.unwrap_or(1));
        let count = dims
            .iter()
            .try_fold(1u64, |product, dim| product.checked_mul(dim.unwrap_or(0)));
        let bytes = count.and_then(|count| count.checked_mul(element));
        let align = align.map_or(element, u64::from);
        match bytes {
            Some(bytes) if bytes <= 1 << 32 && align.is_power_of_two() => Ok((bytes, align)),
            _ => self.error(
                "expected a variable of at most 2^32 bytes whose alignment is a power of two",
            ),
        }
    }

    /// The variables of the module that all kernels see, those in shared memory only where the kernel uses them.
    pub(super) fn module_variables(&mut self, used: &HashSet<&str>) -> Result<()> {
        let module = self.module;
        let variables = module.items.iter().filter_map(|item| match item {
            Item::Variable(variable) if variable.space == Space::Shared => {
                used.contains(variable.name).then_some(variable)
            }
            Item::Variable(variable) => Some(variable),
            _ => None,
        });
        let mut places = Vec::new();
        for variable in variables {
            let before = self.variables.len();
            match self.place_variable(variable) {
                // A texture is an error where it is used.
                Err(error) if variable.ty.bytes().is_none() => {
                    self.refused.insert(variable.name, error.message);
                }
                Err(error) => return Err(error),
                Ok(()) if self.variables.len() > before => places.push((variable, before)),
                Ok(()) => {}
            }
        }
        // Some hold addresses of others, which may stand further down.
        for (variable, place) in places {
            if let Err(error) = self.initialize(variable, place) {
                self.refused.insert(variable.name, error.message);
                self.names.insert(variable.name, Name::Refused);
            }
        }
        Ok(())
    }

    /// The address of the variable that is placed next.
    pub(super) fn next_variable(&self, align: u64) -> Result<u64> {
        match self.variables.len() {
            index if index < address::VARIABLES => {
                Ok(address::variable(self.number, index, align))
            }
            _ => self.error(format!(
                "expected at most {} variables in global and constant memory, found more; put some into one array",
                address::VARIABLES
            )),
        }
    }

    pub(super) fn declare_variable(&mut self, variable: &Variable<'a>) -> Result<()> {
        let before = self.variables.len();
        self.place_variable(variable)?;
        match self.variables.len() > before {
            true => self.initialize(variable, before),
            false => Ok(()),
        }
    }

    /// Gives a variable of the module its contents.
    fn initialize(&mut self, variable: &Variable<'a>, place: usize) -> Result<()> {
        self.declares(variable.line);
        let bytes = self.variables[place].bytes.len() as u64;
        if let Some(contents) = self.initial_bytes(variable, bytes)? {
            self.variables[place].bytes = contents;
        }
        Ok(())
    }

    fn place_variable(&mut self, variable: &Variable<'a>) -> Result<()> {
        self.declares(variable.line);
        let mut dims = variable.dims.clone();
        let given = variable.init.as_ref().map(leaves);
        let inner = dims.iter().skip(1).flatten();
        let inner = inner.fold(u64::from(variable.vector.unwrap_or(1)), |all: u64, &dim| {
            all.saturating_mul(dim)
        });
        // An array whose size is left open has that of its initial values.
        if let (Some(first @ None), Some(given)) = (dims.first_mut(), given) {
            *first = Some(given.div_ceil(inner.max(1)));
        }
        let (bytes, align) = self.size_of(variable.ty, variable.vector, &dims, variable.align)?;
        // What is declared for another module to define may be declared again.
        let is_extern = variable.linkage == Some(Linkage::Extern)
            || matches!(self.names.get(variable.name), Some(Name::DynamicShared))
            || self
                .variables
                .iter()
                .any(|before| before.name == variable.name && !before.initialized);
        let elements = bytes / u64::from(variable.ty.bytes().unwrap_or(1));
        if let Some(given) = given.filter(|given| *given > elements) {
            return self.error(format!(
                "expected at most {elements} initial values of {}, found {given}; make it larger, or leave some out",
                variable.name
            ));
        }
        let name = match variable.space {
            Space::Shared
                if variable.linkage == Some(Linkage::Extern) || variable.dims == [None] =>
            {
                // All dynamic variables start at one address.
                let before = self.dynamic_align.unwrap_or(1);
                self.dynamic_align = Some(before.max(align));
                Name::DynamicShared
            }
            Space::Shared => {
                let at = self.static_end.next_multiple_of(align);
                self.static_end = at + bytes;
                Name::Shared(at)
            }
            Space::Global | Space::Const => {
                self.variable_bytes += bytes;
                if self.variable_bytes > MAX_VARIABLES {
                    return self.error(format!(
                        "expected at most {MAX_VARIABLES} bytes of variables in global and constant memory, found more with \
                         {}; pass tensors as arguments",
                        variable.name
                    ));
                }
                let next = self.next_variable(align.max(16))?;
                let at = self.placed.get(variable.name).copied().unwrap_or(next);
                self.variables.push(ModuleVariable {
                    name: variable.name.to_string(),
                    address: at,
                    // Others are zero unless something else is said (PTX ISA, "Initializers").
                    initialized: variable.linkage != Some(Linkage::Extern),
                    constant: variable.space == Space::Const,
                    bytes: vec![0; bytes as usize],
                });
                if variable.space == Space::Global {
                    Name::Global(at)
                } else {
                    Name::Const(at)
                }
            }
            Space::Local if self.frame.is_some() => Name::Frame(self.in_frame(bytes, align)?),
            // Parameters of calls live in the thread's own memory.
            Space::Local | Space::Param => {
                let is_variable = variable.space == Space::Local;
                Name::Local(self.own_memory(bytes, align, is_variable)?)
            }
            Space::Reg => return self.error("expected a variable in memory, found .reg"),
        };
        match self.names.insert(variable.name, name) || is_extern {
            true => Ok(()),
            false => self.declared_twice(variable.name),
        }
    }

    /// A place in the thread's memory, of a variable or for what a call passes.
    pub(super) fn own_memory(&mut self, bytes: u64, align: u64, is_variable: bool) -> Result<u64> {
        let end = self.local_bytes;
        let apart = end > 0 && (is_variable || self.ends_with_variable);
        let at = (end + if apart { GAP } else { 0 }).next_multiple_of(align);
        if apart {
            self.gaps.push((end, at));
        }
        self.ends_with_variable = is_variable;
        self.local_bytes = at + bytes;
        if self.local_bytes > MAX_LOCAL {
            return self.error(format!(
                "expected at most {MAX_LOCAL} bytes of local memory in a thread, found {}; use smaller arrays",
                self.local_bytes
            ));
        }
        Ok(at)
    }

    fn initial_bytes(&self, variable: &Variable<'a>, bytes: u64) -> Result<Option<Vec<u8>>> {
        let Some(init) = &variable.init else {
            return Ok(None);
        };
        let element = variable.ty.bytes().unwrap_or(1) as usize;
        let mut values = Vec::new();
        self.flatten(init, variable.ty, &mut values)?;
        let mut memory = vec![0; bytes as usize];
        for (slot, value) in memory.chunks_exact_mut(element).zip(values) {
            // Constants have 64 bits: of a wider element they are the low ones.
            let value = value.to_le_bytes();
            let given = element.min(value.len());
            slot[..given].copy_from_slice(&value[..given]);
        }
        Ok(Some(memory))
    }

    fn flatten(&self, init: &Init<'a>, ty: Type, values: &mut Vec<u64>) -> Result<()> {
        match init {
            Init::Value(Immediate::F64(bits)) if ty == Type::F32 => {
                values.push(u64::from((f64::from_bits(*bits) as f32).to_bits()));
            }
            Init::Value(Immediate::F32(bits)) if ty == Type::F64 => {
                values.push(f64::from(f32::from_bits(*bits)).to_bits());
            }
            Init::Value(Immediate::Int { bits, .. }) => values.push(*bits),
            Init::Value(Immediate::F32(bits)) => values.push(u64::from(*bits)),
            Init::Value(Immediate::F64(bits)) => values.push(*bits),
            Init::List(items) => {
                for item in items {
                    self.flatten(item, ty, values)?;
                }
            }
            Init::Address {
                symbol,
                offset,
                generic,
                mask,
            } => {
                let address = match self.names.get(symbol) {
                    Some(Name::Global(at) | Name::Const(at)) => at,
                    Some(Name::Shared(at)) if *generic => address::SHARED + at,
                    Some(Name::Shared(at)) => at,
                    Some(_) | None => match self.function_address(symbol) {
                        Some(at) => at,
                        None => {
                            return self.error(format!(
                                "expected the address of a variable of the module or of a function, found {symbol}"
                            ));
                        }
                    },
                };
                let address = address.wrapping_add_signed(*offset);
                // `0xFF00(symbol)` is the second byte of it.
                values.push(mask.map_or(address, |mask| {
                    (address & mask) >> mask.trailing_zeros().min(63)
                }));
            }
        }
        Ok(())
    }
}

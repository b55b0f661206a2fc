//! Mutants of PTX.

use crate::hopper;
use cute_runtime::ptx::{
    Address, Base, Immediate, Instruction, Item, Module, Operand, Places, Statement,
};
use std::collections::{BTreeMap, BTreeSet};

/// A mutation of one instruction of a module's only kernel.
pub struct Mutant<'a> {
    pub id: String,
    pub kind: &'static str,
    pub place: String,
    pub what: String,
    /// Tells whether it is of a wait, a barrier, a commit, a fence, an arrival, or what is counted there.
    pub synchronizes: bool,
    edit: Edit<'a>,
}

/// Statements by their index in the body.
pub enum Edit<'a> {
    Remove(usize),
    Replace(usize, Statement<'a>),
    Swap(usize, usize),
}

impl Mutant<'_> {
    /// The module with the mutation.
    pub fn text(&self, module: &Module<'_>) -> String {
        let mut module = module.clone();
        let body = body_mut(&mut module);
        match &self.edit {
            Edit::Remove(at) => drop(body.remove(*at)),
            Edit::Replace(at, with) => body[*at] = with.clone(),
            Edit::Swap(a, b) => body.swap(*a, *b),
        }
        module.to_string()
    }
}

fn body_mut<'m, 'a>(module: &'m mut Module<'a>) -> &'m mut Vec<Statement<'a>> {
    let mut bodies = module.items.iter_mut().filter_map(|item| match item {
        Item::Function(function) if function.is_entry => function.body.as_mut(),
        _ => None,
    });
    bodies.next_back().expect("a kernel")
}

fn body<'m, 'a>(module: &'m Module<'a>) -> &'m [Statement<'a>] {
    let mut bodies = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.is_entry => function.body.as_deref(),
        _ => None,
    });
    bodies.next_back().expect("a kernel")
}

/// All mutants of a kernel with so many threads in a block, in the order of the text, those of the synchronization
/// first.
pub fn mutants<'a>(module: &Module<'a>, threads: u32) -> Vec<Mutant<'a>> {
    let mut all = Generator {
        body: body(module),
        threads,
        places: Places::of(module),
        numbers: BTreeMap::new(),
        synchronizes: true,
        made: Vec::new(),
    };
    all.number();
    all.synchronization();
    all.hopper();
    all.synchronizes = false;
    all.addresses();
    all.made
}

pub struct Generator<'m, 'a> {
    body: &'m [Statement<'a>],
    threads: u32,
    places: Places<'a>,
    /// The how-manieth of its name an instruction is.
    numbers: BTreeMap<usize, usize>,
    /// Tells whether what is made now is of waits, barriers and the like.
    synchronizes: bool,
    made: Vec<Mutant<'a>>,
}

/// An operand that is a number.
pub fn int<'a>(value: i64) -> Operand<'a> {
    Operand::Immediate(Immediate::Int {
        bits: value as u64,
        unsigned: false,
    })
}

fn name_of(instruction: &Instruction<'_>) -> String {
    let mut name = instruction.opcode.to_owned();
    for modifier in &instruction.modifiers {
        name.push('.');
        name.push_str(modifier);
    }
    name
}

/// An instruction as it stands in the text.
fn text(instruction: &Instruction<'_>) -> String {
    let text = instruction.to_string();
    let last = text.lines().last().unwrap_or_default();
    format!("`{}`", last.trim().trim_end_matches(';'))
}

impl<'a> Generator<'_, 'a> {
    pub fn instructions(&self) -> impl Iterator<Item = (usize, &Instruction<'a>)> {
        self.body
            .iter()
            .enumerate()
            .filter_map(|(at, statement)| match statement {
                Statement::Instruction(instruction) => Some((at, instruction)),
                _ => None,
            })
    }

    fn number(&mut self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut numbers = BTreeMap::new();
        for (at, instruction) in self.instructions() {
            let count = counts.entry(name_of(instruction)).or_default();
            *count += 1;
            numbers.insert(at, *count);
        }
        self.numbers = numbers;
    }

    pub fn add(
        &mut self,
        at: usize,
        kind: &'static str,
        suffix: &str,
        what: String,
        edit: Edit<'a>,
    ) {
        let Statement::Instruction(instruction) = &self.body[at] else {
            return;
        };
        let step = instruction
            .source
            .and_then(|source| self.places.place(&source))
            .and_then(|place| place.step);
        let place = format!(
            "PTX line {}, {}",
            instruction.line.0,
            step.unwrap_or_else(|| "no step".to_owned())
        );
        let id = format!("{}#{} {suffix}", name_of(instruction), self.numbers[&at]);
        self.made.push(Mutant {
            id,
            kind,
            place,
            what,
            synchronizes: self.synchronizes,
            edit,
        });
    }

    /// Each wait, barrier and commit removed; each wait for one group fewer; each barrier before the wait
    /// that stands before it, and for one warp where there are more.
    fn synchronization(&mut self) {
        let all: Vec<(usize, Instruction<'a>)> =
            self.instructions().map(|(at, i)| (at, i.clone())).collect();
        for (position, (at, instruction)) in all.iter().enumerate() {
            let at = *at;
            match name_of(instruction).as_str() {
                "cp.async.wait_group" | "cp.async.wait_all" => {
                    self.wait_of_groups(at, instruction);
                    let next = all
                        .get(position + 1)
                        .filter(|(_, next)| next.opcode == "bar");
                    if let Some((barrier, _)) = next {
                        let what =
                            format!("{} after the barrier that follows it", text(instruction));
                        self.add(
                            at,
                            "wait after its barrier",
                            "late",
                            what,
                            Edit::Swap(at, *barrier),
                        );
                    }
                }
                "cp.async.commit_group" => self.removed(at, instruction, "commit removed"),
                "bar.sync" | "barrier.sync" | "barrier.sync.aligned" => {
                    self.removed(at, instruction, "barrier removed");
                    if self.threads > 32 {
                        // A barrier of one warp orders no warps.
                        let mut with = instruction.clone();
                        with.operands.truncate(1);
                        with.operands.push(int(32));
                        let what = format!("{} of 32 threads", text(instruction));
                        self.add(
                            at,
                            "barrier of fewer threads",
                            "of 32 threads",
                            what,
                            Edit::Replace(at, Statement::Instruction(with)),
                        );
                    }
                }
                _ => {}
            }
        }
    }

    pub fn removed(&mut self, at: usize, instruction: &Instruction<'a>, kind: &'static str) {
        let what = format!("{} removed", text(instruction));
        self.add(at, kind, "removed", what, Edit::Remove(at));
    }

    /// A wait for groups removed, and for one group fewer.
    pub fn wait_of_groups(&mut self, at: usize, instruction: &Instruction<'a>) {
        self.removed(at, instruction, "wait removed");
        if let Some(weaker) = hopper::shifted(instruction, 0, 1) {
            let what = format!("{} waits for all but one group more", text(instruction));
            let edit = Edit::Replace(at, weaker);
            self.add(at, "wait weakened", "weakened", what, edit);
        }
    }

    /// Each number in what computes an address of memory, and in the address, shifted.
    fn addresses(&mut self) {
        let all: Vec<(usize, Instruction<'a>)> =
            self.instructions().map(|(at, i)| (at, i.clone())).collect();
        let mut definitions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (position, (_, instruction)) in all.iter().enumerate() {
            if let Some(Operand::Register(register)) = instruction.operands.first()
                && !matches!(instruction.opcode, "st" | "cp" | "bar" | "bra")
            {
                definitions.entry(register.name).or_default().push(position);
            }
        }
        let mut todo: Vec<&str> = Vec::new();
        descriptors(self.body, &mut todo);
        for (at, instruction) in &all {
            if instruction.opcode == "mbarrier" || instruction.modifiers.contains(&"bulk") {
                registers(&instruction.operands, &mut todo);
            }
            let Some(unit) = access_bytes(instruction) else {
                continue;
            };
            for (index, operand) in instruction.operands.iter().enumerate() {
                let Operand::Address(Address { base, offset, more }) = operand else {
                    continue;
                };
                // A tensor map is no array of bytes.
                if !more.is_empty() {
                    continue;
                }
                if let Base::Register(register) = base {
                    todo.push(register.name);
                }
                for by in [-unit, unit] {
                    let mut with = instruction.clone();
                    if let Operand::Address(address) = &mut with.operands[index] {
                        address.offset = offset + by;
                    }
                    let what =
                        format!("offset {offset} of operand {index} becomes {}", offset + by);
                    let suffix = format!("operand {index} offset {}", offset + by);
                    self.add(
                        *at,
                        "offset of an access",
                        &suffix,
                        what,
                        Edit::Replace(*at, Statement::Instruction(with)),
                    );
                }
            }
        }
        let mut seen = BTreeSet::new();
        let mut reached = BTreeSet::new();
        while let Some(register) = todo.pop() {
            for position in definitions.get(register).into_iter().flatten() {
                if reached.insert(*position) {
                    for operand in &all[*position].1.operands[1..] {
                        if let Operand::Register(source) = operand
                            && seen.insert(source.name)
                        {
                            todo.push(source.name);
                        }
                    }
                }
            }
        }
        for position in reached {
            let (at, instruction) = &all[position];
            // What the threads of a warp have in common is the same in each lane.
            if is_reciprocal(position, &all) || instruction.opcode == "shfl" {
                continue;
            }
            for (index, operand) in instruction.operands.iter().enumerate().skip(1) {
                let Operand::Immediate(Immediate::Int { bits, unsigned }) = operand else {
                    continue;
                };
                for new in shifted(instruction.opcode, *bits as i64) {
                    let mut with = instruction.clone();
                    with.operands[index] = Operand::Immediate(Immediate::Int {
                        bits: new as u64,
                        unsigned: *unsigned,
                    });
                    let what = format!(
                        "{} in `{}` becomes {new}",
                        *bits as i64,
                        name_of(instruction)
                    );
                    let suffix = format!("operand {index} is {new}");
                    self.add(
                        *at,
                        "number of an address",
                        &suffix,
                        what,
                        Edit::Replace(*at, Statement::Instruction(with)),
                    );
                }
            }
        }
    }
}

/// The registers of operands, in vectors and in coordinates of boxes too.
fn registers<'a>(operands: &[Operand<'a>], found: &mut Vec<&'a str>) {
    for operand in operands {
        match operand {
            Operand::Register(register) => found.push(register.name),
            Operand::Vector(all) => registers(all, found),
            Operand::Address(address) => {
                if let Base::Register(register) = address.base {
                    found.push(register.name);
                }
                registers(&address.more, found);
            }
            _ => {}
        }
    }
}

/// The registers that hold descriptors of operands of products of warpgroups, which stand in scopes of their own.
fn descriptors<'a>(body: &[Statement<'a>], found: &mut Vec<&'a str>) {
    for statement in body {
        match statement {
            Statement::Scope(inner) => descriptors(inner, found),
            Statement::Instruction(i) if i.opcode == "wgmma" && i.operands.len() > 2 => {
                let operands = i.operands[1..].iter().filter_map(|operand| match operand {
                    Operand::Register(register) => Some(register.name),
                    _ => None,
                });
                found.extend(operands);
            }
            _ => {}
        }
    }
}

/// Bytes that an access to shared or global memory moves at once for a thread.
fn access_bytes(instruction: &Instruction<'_>) -> Option<i64> {
    let has = |modifier: &str| instruction.modifiers.contains(&modifier);
    match instruction.opcode {
        "ldmatrix" => Some(16),
        "mbarrier" => Some(8),
        "cp" if has("bulk") => Some(16),
        "cp" if !instruction.operands.is_empty() && has("shared") => Some(16),
        "ld" | "st" if has("shared") || has("global") => {
            let count = if has("v4") {
                4
            } else if has("v2") {
                2
            } else {
                1
            };
            let bytes = instruction.modifiers.last().and_then(|ty| {
                let bits: i64 = ty.trim_start_matches(char::is_alphabetic).parse().ok()?;
                Some(bits / 8)
            });
            Some(count * bytes?)
        }
        _ => None,
    }
}

/// Numbers that stand for the same thing one further: a shift by one bit more or less, a mask moved by
/// one bit, a distance by one vector of 16 bytes, a count by one.
fn shifted(opcode: &str, value: i64) -> Vec<i64> {
    let all = match opcode {
        // The fields of a descriptor (PTX, "Matrix Descriptor Format"): start in 16 bytes, distance of groups of 8 rows, swizzle. The distance
        // along the rows is not read where rows are swizzled.
        "or" | "add" if value as u64 >> 62 != 0 => {
            vec![
                value + 1,
                value + (1 << 32),
                value - (1 << 32),
                value ^ (3 << 62),
            ]
        }
        "shl" | "shr" => vec![value - 1, value + 1],
        "and" | "or" | "xor" => vec![value >> 1, value << 1],
        _ if value.abs() >= 16 => vec![value - 16, value + 16],
        _ => vec![value - 1, value + 1],
    };
    all.into_iter().filter(|new| *new != value).collect()
}

/// Tells whether an instruction multiplies by the reciprocal of a divisor, to be shifted afterwards: no
/// distance, and right for all that is divided if it is a little larger.
fn is_reciprocal(position: usize, all: &[(usize, Instruction<'_>)]) -> bool {
    let (_, instruction) = &all[position];
    let Some(Operand::Register(result)) = instruction.operands.first() else {
        return false;
    };
    if instruction.opcode != "mul" {
        return false;
    }
    let uses = |other: &Instruction<'_>| {
        other.operands[1..]
            .iter()
            .any(|o| matches!(o, Operand::Register(r) if r.name == result.name))
    };
    let mut users = all
        .iter()
        .map(|(_, other)| other)
        .filter(|other| other.operands.len() > 1 && uses(other));
    instruction.modifiers.contains(&"hi") || users.next().is_some_and(|user| user.opcode == "shr")
}

//! Programs as kernels, written as a user would write them: copies, arithmetic and loops, and nothing that waits.

use super::program::{AHEAD, Bound, By, Condition, For, How, Index, Program, Statement};
use super::tile::{Element, Modes, Move, Part, Place, aligned};
use crate::kernels::text::{Argument, Kernel, Text};
use cute_layout::{Layout, MmaAtom, Operand, Tile, TiledMma};
use std::collections::HashMap;

/// A manner of writing that means the same.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Views and registers are made at the start of the kernel, and not where they are used.
    pub hoists: bool,
    /// A tile is cut out before it is dealt out to threads, and not behind that.
    pub slices_first: bool,
    /// Loops over the elements of a tile are written out.
    pub unrolls: bool,
    /// Arguments are said to be apart.
    pub noalias: bool,
}

struct Writer<'p> {
    program: &'p Program,
    style: Style,
    text: Text,
    heads: Vec<String>,
    /// Things that are made once: the names of atoms, copies and views by what they are.
    made: HashMap<String, String>,
    counters: Vec<String>,
    carried: Vec<Vec<String>>,
    registers: HashMap<usize, (String, String)>,
    numbers: Vec<i64>,
}

/// The kernel of a program; none if that is not one that can be written.
pub fn kernel(program: &Program, style: Style) -> Option<Kernel> {
    let mut writer = Writer {
        program,
        style,
        text: Text::default(),
        heads: vec!["%thread = cute.make_coord(%t) : (i32) -> !cute.coord<\"?\">".into()],
        made: HashMap::new(),
        counters: vec![String::new(); program.loops],
        carried: Vec::new(),
        registers: HashMap::new(),
        numbers: Vec::new(),
    };
    for (i, buffer) in program.buffers.iter().enumerate() {
        if !buffer.local {
            let line = format!("%s{i} = {}", writer.allocation(i));
            writer.heads.push(line);
        }
    }
    writer.all(&program.body)?;
    let attributes = if style.noalias { "cute.noalias" } else { "" };
    let tensors = program.buffers.iter().enumerate().map(|(i, buffer)| {
        let ty = buffer.global.ty(buffer.tile.element);
        Argument::new(format!("X{i}"), ty, attributes)
    });
    let outputs = program.outputs.iter().enumerate().map(|(i, output)| {
        let ty = output.global.ty(output.tile.element);
        Argument::new(format!("Y{i}"), ty, attributes)
    });
    let body = writer.heads.join("\n") + "\n" + &writer.text.into_string();
    Some(Kernel {
        types: String::new(),
        tensors: tensors.chain(outputs).collect(),
        numbers: writer.numbers,
        attributes: "cute.synchronize, ".into(),
        body,
        blocks: program.blocks,
        threads: program.threads,
        n: program.number,
    })
}

impl Writer<'_> {
    fn all(&mut self, statements: &[Statement]) -> Option<()> {
        statements.iter().try_for_each(|one| self.one(one))
    }

    fn allocation(&self, buffer: usize) -> String {
        let of = &self.program.buffers[buffer];
        let stages = match of.stages {
            Some(stages) => format!(" {{cute.stages = {stages} : i64}}"),
            None => String::new(),
        };
        format!(
            "cute.memref.alloca(){stages} : {}",
            of.shared.ty(of.tile.element)
        )
    }

    /// Writes an operation at the start of the kernel, once, and returns its name.
    fn once(&mut self, operation: String) -> String {
        if let Some(name) = self.made.get(&operation) {
            return name.clone();
        }
        let name = self.text.fresh();
        self.heads.push(format!("{name} = {operation}"));
        self.made.insert(operation, name.clone());
        name
    }

    /// Writes an operation that depends on nothing but the thread, at the start of the kernel or here.
    fn either(&mut self, operation: String, local: bool) -> String {
        match self.style.hoists && !local {
            true => self.once(operation),
            false => self.text.value(operation),
        }
    }

    /// A tiled copy, and its type.
    fn copy(&mut self, by: &Move, asynchronous: bool) -> (String, String) {
        let (atom, copy) = by.ty(asynchronous);
        let atom = self.once(format!("cute.make_atom() : () -> {atom}"));
        let name = self.once(format!("cute.make_tiled_copy({atom}) : {copy}"));
        (name, copy)
    }

    /// A thread's part of a tensor.
    #[allow(clippy::too_many_arguments)]
    fn part(
        &mut self,
        (copy, ty): &(String, String),
        by: &Move,
        side: char,
        tensor: &str,
        place: &Place,
        element: Element,
        local: bool,
    ) -> Option<(String, Part)> {
        let part = by.part(place)?;
        let name = self.either(
            format!(
                "cute.tiled.copy.partition_{side}({copy}, {tensor}, %thread) : ({ty}, {}, !cute.coord<\"?\">) -> {}",
                place.ty(element),
                part.ty
            ),
            local,
        );
        Some((name, part))
    }

    /// A thread's part of a buffer.
    fn shared(
        &mut self,
        copy: &(String, String),
        by: &Move,
        side: char,
        buffer: usize,
    ) -> Option<(String, Part)> {
        let of = &self.program.buffers[buffer];
        let element = of.tile.element;
        let name = format!("%s{buffer}");
        self.part(copy, by, side, &name, &of.shared, element, of.local)
    }

    /// A thread's part of a tile in global memory, and its type.
    fn global(
        &mut self,
        copy: &(String, String),
        by: &Move,
        side: char,
        (tensor, place, element): (&str, &Place, Element),
        tile: &str,
    ) -> Option<(String, String)> {
        if self.style.slices_first {
            let (cut, cut_place) = self.cut(tensor, place, element, tile)?;
            let found = self.part(copy, by, side, &cut, &cut_place, element, true)?;
            return Some((found.0, found.1.ty));
        }
        let (name, part) = self.part(copy, by, side, tensor, place, element, false)?;
        let at = self.text.value(format!(
            "cute.make_coord({tile}) : (i32) -> !cute.coord<\"(_,_,_,?)\">"
        ));
        let cut = self.text.value(format!(
            "cute.slice({name}, {at}) : {}, !cute.coord<\"(_,_,_,?)\">",
            part.ty
        ));
        Some((cut, part.slice(element)?))
    }

    /// A tile of a tensor in global memory.
    fn cut(
        &mut self,
        tensor: &str,
        place: &Place,
        element: Element,
        tile: &str,
    ) -> Option<(String, Place)> {
        let at = self.text.value(format!(
            "cute.make_coord({tile}) : (i32) -> !cute.coord<\"(_,_,?)\">"
        ));
        let name = self.text.value(format!(
            "cute.slice({tensor}, {at}) : {}, !cute.coord<\"(_,_,?)\">",
            place.ty(element)
        ));
        let found = Place {
            layout: place.layout.modes_of(2)?,
            align: aligned(place.align, &place.layout.mode(2).ok()?, element),
            ..place.clone()
        };
        Some((name, found))
    }

    /// Registers for a thread's part, their type, and how many elements they are.
    fn fragment(&mut self, by: &Move, part: &Part) -> Option<(String, String, i64)> {
        let (ty, size) = by.registers(part)?;
        let operation = format!("cute.memref.alloca() : {ty}");
        let name = match self.style.hoists {
            true => {
                let name = self.text.fresh();
                self.heads.push(format!("{name} = {operation}"));
                name
            }
            false => self.text.value(operation),
        };
        Some((name, ty, size))
    }

    /// The number of a tile.
    fn index(&mut self, index: &Index, tiles: i64) -> String {
        let mut sum = self.text.i32(index.add + AHEAD * tiles);
        for (id, times) in &index.loops {
            let times = self.text.i32(*times);
            let counter = &self.counters[*id];
            let term = self
                .text
                .value(format!("arith.muli {counter}, {times} : i32"));
            sum = self.text.value(format!("arith.addi {sum}, {term} : i32"));
        }
        if index.block != 0 {
            let times = self.text.i32(index.block);
            let term = self.text.value(format!("arith.muli %bx, {times} : i32"));
            sum = self.text.value(format!("arith.addi {sum}, {term} : i32"));
        }
        let tiles = self.text.i32(tiles);
        self.text.value(format!("arith.remui {sum}, {tiles} : i32"))
    }

    /// The number of a tile of an output, of which each block has its own.
    fn slot(&mut self, output: usize, slot: &Index) -> String {
        let slots = self.program.outputs[output].slots;
        let within = self.index(slot, slots);
        let slots = self.text.i32(slots);
        let first = self.text.value(format!("arith.muli %bx, {slots} : i32"));
        self.text
            .value(format!("arith.addi {first}, {within} : i32"))
    }

    fn line(&mut self, line: String) {
        self.text.line(line);
    }

    /// Copies from one tensor to another.
    fn moves(&mut self, copy: &(String, String), from: (&str, &str), to: (&str, &str)) {
        self.line(format!(
            "cute.copy({}, {}, {}) : ({}, {}, {})",
            copy.0, from.0, to.0, copy.1, from.1, to.1
        ));
    }

    /// All elements of registers, so many times.
    fn times(
        &mut self,
        registers: (&str, &str),
        size: i64,
        element: Element,
        times: i64,
    ) -> String {
        let (name, ty) = registers;
        let all = self
            .text
            .value(format!("cute.memref.load_vec {name} : {ty}"));
        if times == 1 {
            return all;
        }
        let vector = format!("vector<{size}x{}>", element.name);
        let point = if element.is_float() { ".0" } else { "" };
        let factor = self
            .text
            .value(format!("arith.constant dense<{times}{point}> : {vector}"));
        let multiply = element.operation("mul");
        self.text
            .value(format!("{multiply} {all}, {factor} : {vector}"))
    }

    fn sum(&mut self, one: &str, other: &str, size: i64, element: Element) -> String {
        let add = element.operation("add");
        let ty = match size {
            0 => element.name.to_string(),
            _ => format!("vector<{size}x{}>", element.name),
        };
        self.text.value(format!("{add} {one}, {other} : {ty}"))
    }

    fn store_all(&mut self, value: &str, size: i64, element: Element, to: (&str, &str)) {
        self.line(format!(
            "cute.memref.store_vec {value}, {} : vector<{size}x{}>, {}",
            to.0, element.name, to.1
        ));
    }

    /// A loop over the elements of a tile, each thread every so manyth; hands on the row and the column of the element that is
    /// so far behind.
    fn elements(
        &mut self,
        (size, columns): (i64, i64),
        shift: i64,
        each: impl FnOnce(&mut Self, &str, &str),
    ) {
        let text = &mut self.text;
        let end = text.i32(size / self.program.threads);
        let threads = text.i32(self.program.threads);
        let columns = text.i32(columns);
        let all = text.i32(size);
        let i = text.fresh();
        text.open(format!("scf.for {i} = %zero to {end} step %one : i32 {{"));
        let first = text.value(format!("arith.muli {i}, {threads} : i32"));
        let mut e = text.value(format!("arith.addi {first}, %t : i32"));
        if shift > 0 {
            let by = text.i32(shift);
            let sum = text.value(format!("arith.addi {e}, {by} : i32"));
            e = text.value(format!("arith.remui {sum}, {all} : i32"));
        }
        let row = text.value(format!("arith.divui {e}, {columns} : i32"));
        let column = text.value(format!("arith.remui {e}, {columns} : i32"));
        each(self, &row, &column);
        let few = size / self.program.threads <= 8;
        self.text.close(match self.style.unrolls && few {
            true => "} {cute.unroll}",
            false => "}",
        });
    }

    fn load(&mut self, tensor: &str, ty: &str, at: &[&str], element: Element) -> String {
        let (at, coord) = self.coordinate(at);
        self.text.value(format!(
            "cute.memref.load({tensor}, {at}) : ({ty}, {coord}) -> {}",
            element.name
        ))
    }

    fn store(&mut self, tensor: &str, ty: &str, at: &[&str], element: Element, value: &str) {
        let (at, coord) = self.coordinate(at);
        self.line(format!(
            "cute.memref.store({tensor}, {at}, {value}) : ({ty}, {coord}, {}) -> ()",
            element.name
        ));
    }

    fn coordinate(&mut self, at: &[&str]) -> (String, String) {
        let types = vec!["i32"; at.len()].join(", ");
        let marks = vec!["?"; at.len()].join(",");
        let coord = format!("!cute.coord<\"({marks})\">");
        let name = self.text.value(format!(
            "cute.make_coord({}) : ({types}) -> {coord}",
            at.join(", ")
        ));
        (name, coord)
    }
}

mod control;
mod statements;

pub use statements::product;

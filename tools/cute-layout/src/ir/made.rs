//! Values with dynamic leaves: the function that makes them of what is known at run time.

use std::fmt::Write;

use cute_layout::parameter::{Parameter, Parameters};
use cute_layout::{
    ComposedLayout, Dyn, Inner, IntTuple, Kind, Layout, Leaf, ParseError, Term, Tile,
};

use super::leaves::{self, Symbols};
use crate::failure::Fault;

/// The operations that make a value, and what they take.
#[derive(Debug, Default)]
pub struct Made {
    /// The symbols that types name.
    pub symbols: Symbols,
    /// Dynamic leaves, in the order of the function's arguments.
    leaves: Vec<Dyn>,
    lines: String,
    values: usize,
    /// The last value.
    last: String,
}

impl Made {
    /// Tells whether nothing of the value is known at run time only.
    pub fn is_static(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The type of a tuple. Errors: leaves that the type does not have.
    pub fn tuple(&mut self, kind: Kind, t: &IntTuple) -> Result<String, Fault> {
        let text = leaves::tuple(t, &mut self.symbols)?;
        let name = kind.name();
        read(name, &text, |p| IntTuple::parse_with(&text, kind, p))?;
        let ty = format!("!cute.{name}<\"{text}\">");
        let mut found = Vec::new();
        dynamic(t, &mut found);
        self.of_leaves(name, found, &ty);
        Ok(ty)
    }

    /// The type of a layout.
    pub fn layout(&mut self, l: &Layout) -> Result<String, Fault> {
        let text = leaves::layout(l, &mut self.symbols)?;
        read("layout", &text, |p| Layout::parse_with(&text, p))?;
        let ty = format!("!cute.layout<\"{text}\">");
        let mut found = Vec::new();
        dynamic(l.shape(), &mut found);
        dynamic(l.stride(), &mut found);
        if found.is_empty() {
            self.of_leaves("layout", found, &ty);
            return Ok(ty);
        }
        let shape_type = self.tuple(Kind::Shape, l.shape())?;
        let shape = self.last.clone();
        let stride_type = self.tuple(Kind::Stride, l.stride())?;
        let stride = self.last.clone();
        self.line(&format!(
            "cute.make_layout({shape}, {stride}) : ({shape_type}, {stride_type}) -> {ty}"
        ));
        Ok(ty)
    }

    /// The type of a composed layout.
    pub fn composed(&mut self, c: &ComposedLayout) -> Result<String, Fault> {
        let (inner_type, inner_text) = match c.inner() {
            Inner::Swizzle(s) => {
                let ty = format!("!cute.swizzle<\"{s}\">");
                self.of_leaves("swizzle", Vec::new(), &ty);
                (ty, s.to_string())
            }
            Inner::Layout(l) => (self.layout(l)?, leaves::layout(l, &mut self.symbols)?),
        };
        let inner = self.last.clone();
        let offset_type = self.tuple(Kind::IntTuple, c.offset())?;
        let offset = self.last.clone();
        let outer_type = self.layout(c.outer())?;
        let outer = self.last.clone();
        let offset_text = leaves::tuple(c.offset(), &mut self.symbols)?;
        let outer_text = leaves::layout(c.outer(), &mut self.symbols)?;
        let text = format!("{inner_text} o {offset_text} o {outer_text}");
        read("composed_layout", &text, |p| {
            ComposedLayout::parse_with(&text, p)
        })?;
        let ty = format!("!cute.composed_layout<\"{text}\">");
        self.line(&format!(
            "cute.make_composed_layout({inner}, {offset}, {outer}) : ({inner_type}, {offset_type}, {outer_type}) -> {ty}"
        ));
        Ok(ty)
    }

    /// The type of a tiler.
    pub fn tile(&mut self, t: &Tile) -> Result<String, Fault> {
        let text = leaves::tile(t, &mut self.symbols)?;
        read("tile", &text, |p| Tile::parse_with(&text, p))?;
        let ty = format!("!cute.tile<\"{text}\">");
        let mut found = Vec::new();
        of_tile(t, &mut found);
        self.of_leaves("tile", found, &ty);
        Ok(ty)
    }

    /// The function of that name, which returns the value as the type of that name.
    pub fn function(&self, name: &str) -> String {
        let arguments = self.leaves.iter().enumerate();
        let arguments: Vec<String> = arguments
            .map(|(i, d)| format!("%arg{i}: {}", scalar(d)))
            .collect();
        let (arguments, last) = (arguments.join(", "), &self.last);
        format!(
            "func.func @{name}({arguments}) -> !{name} {{\n{}  return {last} : !{name}\n}}\n",
            self.lines
        )
    }

    /// A value whose dynamic leaves are the next arguments.
    fn of_leaves(&mut self, what: &str, found: Vec<Dyn>, ty: &str) {
        if found.is_empty() {
            return self.line(&format!("cute.static : {ty}"));
        }
        let first = self.leaves.len();
        let names: Vec<String> = (first..first + found.len())
            .map(|i| format!("%arg{i}"))
            .collect();
        let types: Vec<String> = found.iter().map(scalar).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        self.leaves.extend(found);
        self.line(&format!("cute.make_{what}({names}) : ({types}) -> {ty}"));
    }

    fn line(&mut self, operation: &str) {
        self.last = format!("%{}", self.values);
        self.values += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.lines, "  {} = {operation}", self.last);
    }
}

/// Checks that the dialect reads a text, which it does by the same functions.
fn read<T>(
    name: &str,
    text: &str,
    parse: impl FnOnce(&Parameters<'_>) -> Result<T, ParseError>,
) -> Result<(), Fault> {
    let unknown = |_: &str| Ok(Parameter::Unknown);
    match parse(&unknown) {
        Ok(_) => Ok(()),
        Err(e) => Err(Fault::Call(format!(
            "expected the text of a !cute.{name}, found {text}: {e}; --ir=KIND names another type"
        ))),
    }
}

/// The type of the argument that fills a leaf.
fn scalar(d: &Dyn) -> String {
    match d.div {
        1 => format!("i{}", d.width),
        div => format!("!cute.i{}<divby {div}>", d.width),
    }
}

fn dynamic(t: &IntTuple, found: &mut Vec<Dyn>) {
    let of = |l: &Leaf| match l {
        Leaf::Dynamic(d) if !matches!(d.term, Term::Symbolic(_)) => Some(d.clone()),
        _ => None,
    };
    found.extend(t.leaves().iter().filter_map(|l| match l {
        Leaf::Basis { value, .. } => of(value),
        other => of(other),
    }));
}

fn of_tile(t: &Tile, found: &mut Vec<Dyn>) {
    match t {
        Tile::Underscore => {}
        Tile::Layout(l) => {
            dynamic(l.shape(), found);
            dynamic(l.stride(), found);
        }
        Tile::Modes(modes) => modes.iter().for_each(|m| of_tile(m, found)),
    }
}

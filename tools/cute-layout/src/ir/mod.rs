//! Values as types and operations of the dialect, so that what was computed can be put into IR.
//!
//! *Invariant:* what is printed is a whole module: `cute-opt` reads it.

mod atoms;
pub mod command;
mod leaves;
mod made;

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::ValueEnum;
use cute_layout::{Inner, IntTuple, Kind as TupleKind, Leaf, Swizzle, Tile};

use crate::cli::Width;
use crate::eval::Evaluated;
use crate::failure::Fault;
use crate::grid::Grid;
use crate::value::Value;
use made::Made;

/// The types of IR that a value may be printed as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Kind {
    /// The type that follows from the value, and of a tuple from the function that gave it.
    Auto,
    /// !cute.int_tuple
    IntTuple,
    /// !cute.shape
    Shape,
    /// !cute.stride
    Stride,
    /// !cute.coord
    Coord,
    /// !cute.layout: of a shape, the column-major one.
    Layout,
    /// !cute.tile: of a shape, by mode.
    Tile,
}

/// A text of IR, and what should be known about it.
#[derive(Debug, Default)]
pub struct Ir {
    /// The aliases, then the operations.
    pub text: String,
    /// Remarks.
    pub notes: Vec<String>,
}

/// A value under its name in IR.
struct Named<'a> {
    name: &'static str,
    value: &'a Value,
    kind: Kind,
}

/// The result of an expression. `suffix` is put behind names, for texts that stand in one file.
pub fn result(evaluated: &Evaluated, kind: Kind, suffix: &str) -> Result<Ir, Fault> {
    let value = &evaluated.value;
    let tuple = match (kind, value) {
        (Kind::Auto, Value::Tuple(t)) => tuple_kind(t, evaluated.function.as_deref()),
        _ => kind,
    };
    let named = Named {
        name: name(value, tuple),
        value,
        kind: tuple,
    };
    print(&[named], suffix)
}

/// A thread-value layout, and the shape of the tile that its offsets number.
pub fn thread_value(layout: &Value, tile: &IntTuple) -> Result<Ir, Fault> {
    let tile = Value::Tuple(tile.clone());
    let layout = &Value::Layout(layout.to_layout()?);
    let layout = Named {
        name: "layout_tv",
        value: layout,
        kind: Kind::Auto,
    };
    let tile = Named {
        name: "tile_shape",
        value: &tile,
        kind: Kind::Shape,
    };
    print(&[layout, tile], "")
}

/// A tensor in shared memory, whose byte addresses a swizzle may act on. Errors: a layout that is not known, or that no tensor
/// has.
pub fn shared_memory(value: &Value, of: Width, swizzle: Option<Swizzle>) -> Result<Ir, Fault> {
    /// Bytes that every access of up to 16 bytes is aligned by.
    const ALIGN: i64 = 16;
    let layout = Grid::new(value)?.title;
    let inner = match value {
        Value::Composed(c) => match c.inner() {
            Inner::Swizzle(s) => Some(*s),
            Inner::Layout(_) => {
                let cure = "say it as one layout, as decay(..) does where it is one";
                return Err(none(value, cure));
            }
        },
        _ => None,
    };
    if of.bits < 8 {
        return Err(Fault::Call(format!(
            "expected elements of whole bytes, as those of tensors in memory are, found {}; choose a wider --elem, and \
             recast(..) the layout",
            match of.elem {
                Some(elem) => elem.to_string(),
                None => format!("elements of {} bits", of.bits),
            }
        )));
    }
    let mut ir = Ir::default();
    let elem = atoms::element(of.elem, of.bits, &mut ir.notes);
    // A swizzle counts bits from the beginning of memory, which must be a multiple of all that it reaches.
    let reach = |s: Swizzle| 1_i64 << (s.b() + s.m() + s.s().unsigned_abs());
    let (bytes, elements) = (swizzle.map_or(1, reach), inner.map_or(1, reach));
    let align = ALIGN.max(bytes).max(elements * of.bits / 8);
    let swizzle = swizzle.map_or(String::new(), |s| format!("{s}, "));
    ir.text = format!(
        "!smem = !cute.memref<{elem}, smem, align<{align}>, {swizzle}\"{layout}\">\n\
         %smem = cute.memref.alloca() : !smem\n"
    );
    Ok(ir)
}

/// A tuple is of the type of the dialect's operation of that name, else what its leaves say.
fn tuple_kind(tuple: &IntTuple, function: Option<&str>) -> Kind {
    let leaves = tuple.leaves();
    if leaves.iter().any(|l| matches!(l, Leaf::Underscore)) {
        return Kind::Coord;
    }
    if leaves.iter().any(|l| matches!(l, Leaf::Basis { .. })) {
        return Kind::Stride;
    }
    match function {
        Some("shape" | "tile_shape" | "shape_div" | "ceil_div") => Kind::Shape,
        Some("stride" | "compact_col_major" | "compact_row_major" | "compact_order") => {
            Kind::Stride
        }
        Some("idx2crd" | "crd2crd" | "increment") => Kind::Coord,
        _ => Kind::IntTuple,
    }
}

fn name(value: &Value, kind: Kind) -> &'static str {
    match (kind, value) {
        (Kind::Auto, Value::Tuple(_)) | (Kind::IntTuple, _) => "int_tuple",
        (Kind::Shape, _) => "shape",
        (Kind::Stride, _) => "stride",
        (Kind::Coord, _) => "coord",
        (Kind::Layout, _) | (_, Value::Layout(_) | Value::Composed(_)) => "layout",
        (Kind::Tile, _) | (_, Value::Tile(_)) => "tile",
        (_, Value::Swizzle(_)) => "swizzle",
        (_, Value::CopyAtom(..) | Value::MmaAtom(_)) => "atom",
        (_, Value::TiledCopy(..)) => "copy",
        (_, Value::TiledMma(_)) => "mma",
        (_, Value::Elem(_)) => "element",
        (_, Value::Bool(_) | Value::Major(_) | Value::CopyOp(_)) => "result",
    }
}

fn print(values: &[Named<'_>], suffix: &str) -> Result<Ir, Fault> {
    let (mut aliases, mut operations) = (String::new(), String::new());
    let (mut notes, mut symbols) = (Vec::new(), BTreeSet::new());
    for Named { name, value, kind } in values {
        let name = format!("{name}{suffix}");
        let mut made = Made::default();
        // Writing to a string cannot fail.
        match make(value, *kind, &mut made, &mut notes)? {
            Form::Operation(operation) => {
                let _ = writeln!(operations, "%{name} = {operation}");
            }
            Form::Type(ty) => {
                let _ = writeln!(aliases, "!{name} = {ty}");
            }
            Form::Static(ty) => {
                let _ = writeln!(aliases, "!{name} = {ty}");
                let _ = writeln!(operations, "%{name} = cute.static : !{name}");
            }
            Form::Made(ty) => {
                let _ = writeln!(aliases, "!{name} = {ty}");
                operations += &made.function(&name);
            }
        }
        symbols.extend(made.symbols);
    }
    if !symbols.is_empty() {
        let all: Vec<String> = symbols
            .iter()
            .map(|s| format!("{s} = \"integer\""))
            .collect();
        let inner: String = operations.lines().map(|l| format!("  {l}\n")).collect();
        let all = all.join(", ");
        operations = format!("module attributes {{cute.parameters = {{{all}}}}} {{\n{inner}}}\n");
    }
    let text = aliases + &operations;
    Ok(Ir { text, notes })
}

/// The form of a value in IR.
enum Form {
    /// An operation of another dialect.
    Operation(String),
    /// A type that is no type of a value.
    Type(String),
    /// A type that says the whole value.
    Static(String),
    /// A type with dynamic leaves, whose value a function makes of them.
    Made(String),
}

fn make(
    value: &Value,
    kind: Kind,
    made: &mut Made,
    notes: &mut Vec<String>,
) -> Result<Form, Fault> {
    let ty = match (kind, value) {
        (Kind::Auto, Value::Layout(l)) => made.layout(l)?,
        (Kind::Layout, Value::Tuple(_) | Value::Layout(_)) => made.layout(&value.to_layout()?)?,
        (Kind::Auto | Kind::Layout, Value::Composed(c)) => match c.inner() {
            // The dialect has the same function under one type only.
            Inner::Swizzle(s) if s.b() == 0 && c.offset().as_static() == Some(0) => {
                made.layout(c.outer())?
            }
            _ => made.composed(c)?,
        },
        // A list of one layout is not that layout.
        (Kind::Auto, Value::Tile(Tile::Layout(l))) => made.layout(l)?,
        (Kind::Auto | Kind::Tile, Value::Tile(t)) => made.tile(t)?,
        (Kind::Tile, Value::Tuple(_) | Value::Layout(_)) => made.tile(&value.to_tile()?)?,
        (_, Value::Tuple(t)) => made.tuple(of_tuple(kind), t)?,
        (Kind::Auto, Value::Swizzle(s)) => format!("!cute.swizzle<\"{s}\">"),
        (Kind::Auto, Value::CopyAtom(a, elem)) => atoms::copy(a, *elem, notes)?,
        (Kind::Auto, Value::MmaAtom(a)) => atoms::mma(a)?,
        (Kind::Auto, Value::TiledCopy(c, elem)) => {
            let (atom, tv) = (atoms::copy(c.atom(), *elem, notes)?, c.layout_tv());
            let tiler = c.tiler_mn();
            format!(
                "!cute.tiled_copy<{atom}, layout_copy_tv = <\"{tv}\">, tiler_mn = <\"{tiler}\">>"
            )
        }
        (Kind::Auto, Value::TiledMma(m)) => {
            let (atom, atoms) = (atoms::mma(m.atom())?, m.atom_layout());
            let tile = Tile::Modes(m.permutation().to_vec());
            format!(
                "!cute.tiled_mma<{atom}, atom_layout_MNK = <\"{atoms}\">, permutation_MNK = <\"{tile}\">>"
            )
        }
        (Kind::Auto, Value::Bool(b)) => {
            return Ok(Form::Operation(format!("arith.constant {b}")));
        }
        (Kind::Auto, Value::Elem(e)) => return Ok(Form::Type(e.to_string())),
        (Kind::Auto, Value::Major(_)) => {
            let cure = "give it to make_layout, whose result has";
            return Err(none(value, cure));
        }
        (Kind::Auto, Value::CopyOp(name)) => {
            return Err(none(
                value,
                &format!("name its elements, as in copy_atom({name}, f16)"),
            ));
        }
        (kind, _) => return Err(other(value, kind)),
    };
    Ok(match made.is_static() {
        true => Form::Static(ty),
        false => Form::Made(ty),
    })
}

fn of_tuple(kind: Kind) -> TupleKind {
    match kind {
        Kind::Shape => TupleKind::Shape,
        Kind::Stride => TupleKind::Stride,
        Kind::Coord => TupleKind::Coord,
        _ => TupleKind::IntTuple,
    }
}

fn none(value: &Value, cure: &str) -> Fault {
    let kind = value.kind();
    Fault::Call(format!(
        "expected a value that IR has, found {kind} {value}, of which no type says the value; {cure}"
    ))
}

fn other(value: &Value, kind: Kind) -> Fault {
    let (what, name) = match kind {
        Kind::Layout => ("a layout or a shape", "layout"),
        Kind::Tile => ("a tiler, a layout or a shape", "tile"),
        kind => ("a tuple or an integer", of_tuple(kind).name()),
    };
    let found = value.kind();
    Fault::Call(format!(
        "expected {what} for --ir={name}, found {found} {value}; --ir alone takes what it is"
    ))
}

//! Pictures of types as text: of layouts, as CuTe's `print_layout` draws them, and of tiled copies and tiled MMAs, whose threads have which elements.

use crate::{PICTURE, child, documents::name_around};
use cute_ir::{
    library,
    mlir::{attribute_of, parse_module, type_value},
    types::{self, CuteType, MemRef},
};
use cute_layout::{IntTuple, Operand, Side, TiledCopy, TiledMma, int, tuple};
use cute_layout_language::{Form, held, picture};
use melior::ir::Type;
use serde_json::Value;
use std::io::Read;

/// The picture of a type.
pub struct Drawn {
    /// A few words for a line: `64 elements in 80`.
    summary: String,
    /// The words and the tables as Markdown.
    markdown: String,
}

impl Drawn {
    /// A few words for a line: `64 elements in 80`.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The words and the tables as Markdown.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    /// The picture of a layout, in the language of `cute-layout` with its swizzle, and of its sizes of the domain and of the range.
    fn of_layout(layout: &str, [size, cosize]: [i64; 2]) -> Option<Self> {
        let elements = counted(size, "element");
        let summary = match size == cosize {
            true => elements,
            false => format!("{elements} in {cosize}"),
        };
        let table = picture(Form::Text, layout, None).ok()?;
        Some(Self {
            markdown: format!("`{layout}`: {summary}\n```text\n{table}```"),
            summary,
        })
    }

    /// The picture of a tiled operation: of each tile who has what.
    fn of_tiles(summary: String, tiles: &[(&str, String)]) -> Self {
        let mut markdown = summary.clone();
        for (name, table) in tiles {
            markdown += &format!("\n\n{name}\n```text\n{table}```");
        }
        Self { summary, markdown }
    }
}

/// The picture of a layout, of a tensor's, of a tiled copy and of a tiled MMA; none of another type, of a layout that is not known, and of more than two
/// modes.
pub fn of(ty: Type<'_>) -> Option<Drawn> {
    let ty = CuteType::of(ty)?;
    let (text, layout) = match &ty {
        CuteType::Layout(layout) => (layout.to_string(), layout),
        CuteType::MemRef(memref) => (of_tensor(memref)?, &memref.layout),
        CuteType::TiledCopy { .. } => return of_copy(&types::tiled_copy(&ty).ok()?),
        CuteType::TiledMma { .. } => return of_mma(&types::tiled_mma(&ty).ok()?),
        _ => return None,
    };
    if !layout.is_static() || layout.rank() > 2 {
        return None;
    }
    Drawn::of_layout(&text, [layout.size().ok()?, layout.cosize().ok()?])
}

fn of_copy(copy: &TiledCopy) -> Option<Drawn> {
    let tile = copy.tile_shape().ok()?;
    let side = |side| held(&copy.layout_side_tv(side).ok()?, &tile);
    let (source, destination) = (side(Side::Source)?, side(Side::Destination)?);
    let tiles = match source == destination {
        true => vec![("source and destination", source)],
        false => vec![("source", source), ("destination", destination)],
    };
    let summary = format!(
        "{} of {}, a tile of {tile}",
        counted(copy.num_threads(), "thread"),
        counted(copy.num_values(), "value")
    );
    Some(Drawn::of_tiles(summary, &tiles))
}

fn of_mma(mma: &TiledMma) -> Option<Drawn> {
    let tile = mma.tile_shape();
    let operand = |name, operand: Operand| {
        let shape: IntTuple = tuple(operand.axes().map(|axis| int(tile[axis])));
        Some((name, held(&mma.layout_tv(operand).ok()?, &shape)?))
    };
    let tiles = [
        operand("A, M x K", Operand::A)?,
        operand("B, N x K", Operand::B)?,
        operand("C, M x N", Operand::C)?,
    ];
    let threads = counted(mma.num_threads(), "thread");
    let summary = format!("{threads}, {} x {} x {}", tile[0], tile[1], tile[2]);
    Some(Drawn::of_tiles(summary, &tiles))
}

fn counted(count: i64, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {what}{many}")
}

/// The picture of the type that the alias at a place of a text's part means, in bytes of the line, as Markdown.
pub fn of_alias(part: &str, line: &str, at: usize) -> Option<String> {
    // The character may be the ! itself.
    let at = at + usize::from(line.get(at..)?.starts_with('!'));
    let name = name_around(line, at);
    if !line[..name.start].ends_with('!') || name.is_empty() {
        return None;
    }
    let (name, aliases) = (&line[name], library::aliases(part));
    let mut lines = aliases.lines();
    let defines = |line: &str| {
        let behind = line.strip_prefix('!')?.strip_prefix(name)?;
        behind.trim_start().strip_prefix('=').map(|_| ())
    };
    lines.find_map(defines)?;
    let text = format!("{aliases}module attributes {{builtin.given = !{name}}} {{}}");
    let answer = child::ask(PICTURE, "", text)?;
    answer.as_str().map(str::to_owned)
}

/// Reads aliases and a module that names a type, and prints the picture of that as JSON. Returns the exit status.
pub fn picture_on_stdin() -> i32 {
    let mut text = String::new();
    if std::io::stdin().read_to_string(&mut text).is_err() {
        return 1;
    }
    let context = cute_ir::context();
    let module = parse_module(&context, "", &text);
    let ty = module
        .as_ref()
        .and_then(|module| attribute_of(module.as_operation(), "builtin.given"))
        .and_then(type_value);
    match ty.and_then(of) {
        Some(drawn) => {
            println!("{}", Value::from(drawn.markdown()));
            0
        }
        None => 1,
    }
}

/// The layout of a tensor in elements, with its swizzle; none where that swizzles parts of elements.
fn of_tensor(memref: &MemRef<'_>) -> Option<String> {
    let layout = &memref.layout;
    if let Some((swizzle, offset)) = &memref.inner {
        return Some(format!("{swizzle} o {offset} o {layout}"));
    }
    let Some(swizzle) = &memref.swizzle else {
        return Some(layout.to_string());
    };
    let shift = memref.element_bytes().trailing_zeros();
    let (bits, base) = (swizzle.b(), swizzle.m().checked_sub(shift)?);
    Some(format!("S<{bits},{base},{}> o 0 o {layout}", swizzle.s()))
}

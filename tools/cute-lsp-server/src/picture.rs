//! Layouts of types as text, as CuTe's `print_layout` draws them.

use cute_ir::types::{CuteType, MemRef};
use cute_layout_language::{Form, picture};
use melior::ir::Type;

/// A layout that is known, of a type.
pub struct Drawn {
    /// The layout in the language of `cute-layout`, with its swizzle.
    layout: String,
    /// Elements of the domain, and of the range.
    sizes: [i64; 2],
    /// The table, as much of it as a page holds.
    table: String,
}

impl Drawn {
    /// A few words for a line: `64 elements in 80`.
    pub fn summary(&self) -> String {
        let [size, cosize] = self.sizes;
        let elements = if size == 1 { "element" } else { "elements" };
        match size == cosize {
            true => format!("{size} {elements}"),
            false => format!("{size} {elements} in {cosize}"),
        }
    }

    /// The layout, the words and the table as Markdown.
    pub fn markdown(&self) -> String {
        format!(
            "`{}`: {}\n```text\n{}```",
            self.layout,
            self.summary(),
            self.table
        )
    }
}

/// The picture of a layout, or of a tensor's; none of a type without one, of a layout that is not known, and of more than two modes.
pub fn of(ty: Type<'_>) -> Option<Drawn> {
    let (text, layout) = match CuteType::of(ty)? {
        CuteType::Layout(layout) => (layout.to_string(), layout),
        CuteType::MemRef(memref) => (of_tensor(&memref)?, memref.layout),
        _ => return None,
    };
    if !layout.is_static() || layout.rank() > 2 {
        return None;
    }
    Some(Drawn {
        table: picture(Form::Text, &text, None).ok()?,
        layout: text,
        sizes: [layout.size().ok()?, layout.cosize().ok()?],
    })
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

//! Factors and results that are views of longer tensors, from some element on.

use crate::random::Random;
use crate::tensors::bytes;
use cute_runtime::Parsed;

/// Bytes that views may begin behind, at most so many times their alignment.
const STEPS: i64 = 9;

/// Bytes to which the longer tensor is aligned.
const ALIGN: i64 = 16;

/// A tensor that is a view of an argument.
pub(super) struct Viewed {
    /// The argument: its type and its layout.
    pub argument: (String, Parsed),
    /// The ops that make the view, as `%name`, of `%Vname`.
    pub lines: String,
}

impl Viewed {
    /// The tensor of that name as a view; none of one whose layout a launch knows, without elements, or of elements of less than a byte.
    pub(super) fn of(random: &mut Random, name: &str, ty: &str, layout: &Parsed) -> Option<Viewed> {
        let inner = ty.strip_prefix("!cute.memref<")?;
        let (element, rest) = inner.split_once(", gmem, align<")?;
        let (align, _) = rest.split_once('>')?;
        let (align, size) = (align.parse::<i64>().ok()?, bytes(element));
        if ty.contains('?') || layout.size() == 0 || align > ALIGN || align < size {
            return None;
        }
        // An odd number of steps, so that the view is aligned to no more.
        let first = align * (2 * random.below(STEPS as usize / 2) as i64 + 1) / size;
        let length = first + layout.cosize() + random.below(9) as i64;
        let whole = format!("({length}):(1)");
        let argument = format!("!cute.memref<{element}, gmem, align<{ALIGN}>, \"{whole}\">");
        let lines = format!(
            "  %start_{name} = cute.get_iter(%V{name})\n  %step_{name} = cute.static : !cute.int_tuple<\"{first}\">\n  \
             %at_{name} = cute.add_offset(%start_{name}, %step_{name})\n  %{name} = cute.make_view(%at_{name}, \"{}\")\n",
            layout.text()
        );
        Some(Viewed {
            argument: (argument, Parsed::parse(&whole).ok()?),
            lines,
        })
    }
}

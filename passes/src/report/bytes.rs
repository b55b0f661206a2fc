//! Bytes as the numbers of `cute_ir::interpret`, thread by thread, and as far as they are known.

use super::{
    linear::Linear,
    scalars::{Lanes, Scalars},
};
use cute_ir::{
    interpret::{Digit, Domain, Numbers, Place, Trouble, digits},
    mlir::*,
    ops::cute,
    types::{MemRef, Space},
};
use cute_layout::Layout;

/// The start of a tensor: bytes behind an argument of the kernel, or behind the start of shared memory.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// The value that it is of: an argument, or an allocation.
    pub root: ValueKey,
    pub shared: bool,
    pub bytes: Lanes,
}

/// Nothing is known of where a tensor starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown;

impl Start {
    fn plus(self, elements: &Lanes, scale: i64) -> Self {
        let more = elements.map(|elements| elements.scale(scale));
        Self {
            bytes: self.bytes.zip(&more, Linear::add),
            ..self
        }
    }
}

impl Numbers for Scalars {
    type Index = Lanes;
    type Start = Start;
    type Error = Unknown;

    fn add_known(&mut self, start: Start, elements: i64, scale: i64) -> Result<Start, Unknown> {
        Ok(start.plus(&Lanes::uniform(elements.into()), scale))
    }

    fn add_index(&mut self, start: Start, elements: &Lanes, scale: i64) -> Result<Start, Unknown> {
        Ok(start.plus(elements, scale))
    }

    fn add_layout(
        &mut self,
        start: Start,
        layout: &Layout,
        index: &Lanes,
        signed: bool,
        scale: i64,
    ) -> Result<Start, Unknown> {
        let (Ok(digits), Some(flat)) = (digits(layout, signed), layout.flat()) else {
            return Err(Unknown);
        };
        let symbols = &mut self.symbols;
        let elements = index.map(|index| {
            if let Some(known) = index.known() {
                return flat.checked_at(known).map(Linear::from);
            }
            let mut sum = Linear::from(0);
            for Digit {
                divisor,
                modulus,
                stride,
            } in &digits
            {
                let mut part = symbols.div(index, *divisor)?;
                if let Some(modulus) = modulus {
                    part = symbols.rem(&part, *modulus)?;
                }
                sum = sum.add(&part.scale(*stride)?)?;
            }
            Some(sum)
        });
        Ok(start.plus(&elements, scale))
    }

    fn error(&self, _: Trouble<'_>) -> Unknown {
        Unknown
    }
}

impl<'c> Domain<'c> for Scalars {
    fn follows(&self, memref: &MemRef<'c>) -> bool {
        memref.space != Space::Rmem
    }

    fn index(&mut self, value: Val<'c>) -> Result<Lanes, Unknown> {
        Ok(self.get(value))
    }

    fn unmade(&mut self) -> Result<Lanes, Unknown> {
        Ok(Lanes::unknown())
    }

    fn begin(&mut self, op: Op<'c>, memref: &MemRef<'c>) -> Result<Option<Start>, Unknown> {
        let Some(made) = cute::MemrefAlloca::of(op) else {
            return Ok(None);
        };
        let offset = made.offset().and_then(integer_value).unwrap_or(0);
        Ok((memref.space == Space::Smem).then(|| Start {
            root: key(made.result()),
            shared: true,
            bytes: Lanes::uniform(offset.into()),
        }))
    }

    fn seen_as(&mut self, from: &Place<'c, Start>, _: &MemRef<'c>) -> Result<Start, Unknown> {
        Ok(from.start.clone())
    }
}

//! Addresses: a base pointer, a byte offset that is computed, and one that is known.

use cute_ir::{
    Failure,
    interpret::{Digit, digits},
    mlir::{Builder, Val, defining_op},
    ops::{arith, llvm, nvvm},
};
use cute_layout::{Layout, Swizzle};
use melior::ir::{Type, ValueLike};

/// The start of a tensor.
#[derive(Clone)]
pub(super) struct Address<'c> {
    base: Val<'c>,
    /// The dynamic part of the offset, in bytes; `width` bits wide.
    dynamic: Option<Val<'c>>,
    /// The constant part of the offset, in bytes.
    pub constant: i64,
    /// Bits that every offset into the whole tensor fits in: 32, or 64 beyond 2 GiB.
    pub width: u32,
    memory: Memory,
}

/// The memory that an address is of.
#[derive(Clone, Copy)]
enum Memory {
    Global,
    Shared,
    /// Shared memory of a block of the cluster.
    Cluster,
    /// The 64 bits of a descriptor, of which offsets are units; no memory.
    Descriptor,
}

impl Memory {
    /// The type of pointers into it.
    fn pointer<'c>(self, b: Builder<'c>) -> Result<Type<'c>, Failure> {
        b.ty(match self {
            Self::Global => "!llvm.ptr<1>",
            Self::Shared => "!llvm.ptr<3>",
            Self::Cluster => "!llvm.ptr<7>",
            Self::Descriptor => "!llvm.ptr",
        })
    }
}

/// Offsets below this fit 32 bits, with the sign to spare.
const NARROW: i64 = i32::MAX as i64;

impl<'c> Address<'c> {
    /// A kernel's argument that spans `bytes`.
    pub(crate) fn global(base: Val<'c>, bytes: i64) -> Self {
        let width = if bytes <= NARROW { 32 } else { 64 };
        Self {
            base,
            dynamic: None,
            constant: 0,
            width,
            memory: Memory::Global,
        }
    }

    /// A kernel's argument of which only the start is known.
    pub(crate) fn pointer_to(base: Val<'c>) -> Self {
        Self {
            base,
            dynamic: None,
            constant: 0,
            width: 64,
            memory: Memory::Global,
        }
    }

    /// A descriptor of 64 bits.
    pub(crate) fn descriptor(b: Builder<'c>, bits: Val<'c>) -> Result<Self, Failure> {
        let memory = Memory::Descriptor;
        Ok(Self {
            base: b.value(llvm::INTTOPTR, &[bits], memory.pointer(b)?, &[])?,
            dynamic: None,
            constant: 0,
            width: 64,
            memory,
        })
    }

    /// The bits of a descriptor, so many units on.
    pub(crate) fn bits(&self, b: Builder<'c>, units: i64) -> Result<Val<'c>, Failure> {
        let wide = b.i64_type();
        let base = b.value(llvm::PTRTOINT, &[self.base], wide, &[])?;
        let start = match self.dynamic {
            Some(dynamic) => b.value(arith::ADDI, &[base, dynamic], wide, &[])?,
            None => base,
        };
        match self.constant + units {
            0 => Ok(start),
            units => b.value(arith::ADDI, &[start, b.constant(wide, units)?], wide, &[]),
        }
    }

    /// A tensor at `offset` bytes in shared memory.
    pub(crate) fn shared(base: Val<'c>, offset: i64) -> Self {
        Self {
            base,
            dynamic: None,
            constant: offset,
            width: 32,
            memory: Memory::Shared,
        }
    }

    /// The same place in the shared memory of a block of the cluster.
    pub(crate) fn in_block(&self, b: Builder<'c>, block: Val<'c>) -> Result<Self, Failure> {
        let memory = Memory::Cluster;
        let base = b.value(nvvm::MAPA, &[self.base, block], memory.pointer(b)?, &[])?;
        Ok(Self {
            base,
            memory,
            ..self.clone()
        })
    }

    /// Tells whether a swizzle leaves the start where it is.
    pub(crate) fn is_where_swizzled(&self, swizzle: Option<Swizzle>) -> bool {
        swizzle.is_none_or(|swizzle| {
            self.dynamic.is_none() && swizzle.apply(self.constant) == self.constant
        })
    }

    /// Moves the start by a computed number of bytes.
    pub(crate) fn add(&mut self, b: Builder<'c>, bytes: Option<Val<'c>>) -> Result<(), Failure> {
        self.dynamic = match (self.dynamic, bytes) {
            (old, None) => old,
            (None, new) => new,
            (Some(old), Some(new)) => {
                Some(b.value(arith::ADDI, &[old, new], integer_type(b, self.width), &[])?)
            }
        };
        Ok(())
    }

    /// Moves the start by a computed number of elements, each of `bytes` bytes; the number may be negative.
    pub(crate) fn add_elements(
        &mut self,
        b: Builder<'c>,
        elements: Val<'c>,
        bytes: i64,
    ) -> Result<(), Failure> {
        let ty = integer_type(b, self.width);
        let narrow = elements.r#type() == b.i32_type();
        let mut offset = match (narrow, self.width) {
            (true, 64) => b.value(arith::EXTSI, &[elements], ty, &[])?,
            (false, 32) => b.value(arith::TRUNCI, &[elements], ty, &[])?,
            _ => elements,
        };
        if bytes != 1 {
            let bytes = b.constant(ty, bytes)?;
            offset = b.value(arith::MULI, &[offset, bytes], ty, &[])?;
        }
        self.add(b, Some(offset))
    }

    /// The start as a number of 32 bits, as all addresses in shared memory are, and the place behind it.
    pub(crate) fn number(&self, b: Builder<'c>) -> Result<(Val<'c>, Builder<'c>), Failure> {
        // As soon as the offset is known, so that a wait in front of what needs it hides the arithmetic.
        let early = self.dynamic.and_then(defining_op);
        let b = early.map_or(b, |op| Builder::after(op).at_location(b.location));
        let base = b.value(llvm::PTRTOINT, &[self.base], b.i32_type(), &[])?;
        let add = |x, y| b.value(arith::ADDI, &[x, y], b.i32_type(), &[]);
        let start = match self.dynamic {
            Some(dynamic) => add(base, dynamic)?,
            None => base,
        };
        Ok((add(start, b.i32(self.constant)?)?, b))
    }

    /// The pointer to the start, swizzled.
    pub(crate) fn pointer(
        &self,
        b: Builder<'c>,
        swizzle: Option<Swizzle>,
    ) -> Result<Val<'c>, Failure> {
        let pointer = self.memory.pointer(b)?;
        let constant = self.constant;
        let Some(swizzle) = swizzle else {
            let base = match self.dynamic {
                None => self.base,
                Some(offset) => gep(b, pointer, self.base, offset)?,
            };
            return constant_gep(b, pointer, base, constant);
        };
        let Some(dynamic) = self.dynamic else {
            return constant_gep(b, pointer, self.base, swizzle.apply(constant));
        };
        let ty = integer_type(b, self.width);
        let offset = if constant == 0 {
            dynamic
        } else {
            let constant = b.constant(ty, constant)?;
            b.value(arith::ADDI, &[dynamic, constant], ty, &[])?
        };
        // x ^ ((x & mask) >> s), or the other way for a negative s.
        let (bits, base, shift) = (
            i64::from(swizzle.b()),
            i64::from(swizzle.m()),
            i64::from(swizzle.s()),
        );
        let mask = ((1i64 << bits) - 1) << (base + shift.max(0));
        let mask = b.constant(ty, mask)?;
        let selected = b.value(arith::ANDI, &[offset, mask], ty, &[])?;
        let amount = b.constant(ty, shift.abs())?;
        let name = if shift >= 0 {
            arith::SHRUI
        } else {
            arith::SHLI
        };
        let moved = b.value(name, &[selected, amount], ty, &[])?;
        let offset = b.value(arith::XORI, &[offset, moved], ty, &[])?;
        gep(b, pointer, self.base, offset)
    }
}

/// `iN`
pub(super) fn integer_type<'c>(b: Builder<'c>, width: u32) -> Type<'c> {
    if width == 64 {
        b.i64_type()
    } else {
        b.i32_type()
    }
}

fn gep<'c>(
    b: Builder<'c>,
    ty: Type<'c>,
    base: Val<'c>,
    offset: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let attributes = [
        ("rawConstantIndices", b.i32_array(&[i32::MIN])),
        ("elem_type", b.type_attribute(b.ty("i8")?)),
    ];
    b.value(llvm::GETELEMENTPTR, &[base, offset], ty, &attributes)
}

/// A known number of bytes on; beyond 31 bits as an operand.
pub(super) fn constant_gep<'c>(
    b: Builder<'c>,
    ty: Type<'c>,
    base: Val<'c>,
    bytes: i64,
) -> Result<Val<'c>, Failure> {
    match i32::try_from(bytes) {
        Ok(0) => Ok(base),
        Ok(small) if small != i32::MIN => {
            let attributes = [
                ("rawConstantIndices", b.i32_array(&[small])),
                ("elem_type", b.type_attribute(b.ty("i8")?)),
            ];
            b.value(llvm::GETELEMENTPTR, &[base], ty, &attributes)
        }
        _ => {
            let offset = b.constant(b.i64_type(), bytes)?;
            gep(b, ty, base, offset)
        }
    }
}

/// `scale * layout(index)` in `width` bits: for each mode `(index / before) mod extent * stride`. Nothing where
/// that is zero. `index` must be within the layout, unless it is `signed`.
pub(super) fn evaluate<'c>(
    b: Builder<'c>,
    layout: &Layout,
    index: Val<'c>,
    signed: bool,
    scale: i64,
    width: u32,
) -> Result<Option<Val<'c>>, Failure> {
    let [extend, divide, remainder] = if signed {
        [arith::EXTSI, arith::DIVSI, arith::REMSI]
    } else {
        [arith::EXTUI, arith::DIVUI, arith::REMUI]
    };
    let mut index = index;
    let narrow = index.r#type() == b.i32_type();
    if width == 64 && narrow {
        index = b.value(extend, &[index], b.i64_type(), &[])?;
    }
    // An index of 64 bits is taken apart in 64 bits; its offset fits `width`.
    let ty = integer_type(b, if narrow { width } else { 64 });
    let mut sum: Option<Val<'c>> = None;
    for digit in digits(layout, signed).map_err(|e| b.error(e.to_string()))? {
        let Digit {
            divisor,
            modulus,
            stride,
        } = digit;
        let mut part = index;
        if divisor != 1 {
            let divisor = b.constant(ty, divisor)?;
            part = b.value(divide, &[part, divisor], ty, &[])?;
        }
        if let Some(modulus) = modulus {
            let modulus = b.constant(ty, modulus)?;
            part = b.value(remainder, &[part, modulus], ty, &[])?;
        }
        let factor = stride
            .checked_mul(scale)
            .ok_or_else(|| b.error("a stride overflows 64 bits"))?;
        if factor != 1 {
            let factor = b.constant(ty, factor)?;
            part = b.value(arith::MULI, &[part, factor], ty, &[])?;
        }
        sum = Some(match sum {
            None => part,
            Some(old) => b.value(arith::ADDI, &[old, part], ty, &[])?,
        });
    }
    match sum {
        Some(wide) if !narrow && width != 64 => b
            .value(arith::TRUNCI, &[wide], integer_type(b, width), &[])
            .map(Some),
        sum => Ok(sum),
    }
}

//! Tensors and pointers.

use super::{kind::Kind, make::parts};
use crate::diag::Failure;
use crate::mlir::{element_bits, type_of};
use cute_layout::{IntTuple, Layout, Swizzle};
use melior::ir::{Location, Type};

pub use cute_target::Space;

/// The largest alignment of a tensor in bytes: what an attribute of LLVM's dialect, of 32 bits with a sign, holds.
pub(super) const MOST_ALIGNMENT: i64 = 1 << 30;

/// A tensor's type; a pointer's too, with the layout `1:0`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemRef<'c> {
    /// The type of the elements.
    pub element: Type<'c>,
    /// The memory that the elements are in.
    pub space: Space,
    /// The alignment of the start in bytes; a power of two.
    pub align: i64,
    /// The swizzle of byte addresses.
    pub swizzle: Option<Swizzle>,
    /// The layout, in elements.
    pub layout: Layout,
    /// A swizzle of the offset in elements, and what is added to the layout's before it.
    pub inner: Option<(Swizzle, IntTuple)>,
}

impl<'c> MemRef<'c> {
    /// A view of descriptors of `wgmma`, or one of them with the layout `1:0`: a tensor in their own space, whose units, 16 bytes, count as bytes.
    pub(crate) fn descriptors(descriptor: Type<'c>, layout: Layout) -> Self {
        Self {
            element: descriptor,
            space: Space::Descriptors,
            align: 1,
            swizzle: None,
            layout,
            inner: None,
        }
    }

    /// The element's size in bytes.
    pub fn element_bytes(&self) -> i64 {
        (element_bits(self.element).unwrap_or(8) / 8).max(1)
    }

    /// Bytes from the first to the last element, both included, wherever its swizzle puts them.
    pub fn bytes(&self) -> Result<i64, String> {
        let elements = self.layout.cosize().map_err(|error| error.to_string())?;
        let before = match &self.inner {
            Some((_, offset)) => offset.as_static().unwrap_or(0),
            None => 0,
        };
        elements
            .checked_add(before)
            .and_then(|elements| elements.checked_mul(self.element_bytes()))
            .and_then(|bytes| match self.byte_swizzle() {
                Some(swizzle) => swizzle.span(bytes),
                None => Some(bytes),
            })
            .ok_or_else(|| format!("the layout {} spans more than 2^63 bytes", self.layout))
    }

    /// Its swizzle of byte addresses: of a swizzle of offsets in elements the same in bytes, which it is on a start that is
    /// aligned to the bits that it reads.
    pub fn byte_swizzle(&self) -> Option<Swizzle> {
        match &self.inner {
            None => self.swizzle,
            Some((swizzle, _)) => {
                let shift = self.element_bytes().trailing_zeros() as i64;
                let (b, m, s) = (swizzle.b(), swizzle.m(), swizzle.s());
                Swizzle::new(b.into(), i64::from(m) + shift, s.into()).ok()
            }
        }
    }

    /// The same tensor with its swizzle on byte addresses, where it starts at the swizzle's own start.
    pub fn in_bytes(self) -> Result<Self, String> {
        let Some((inner, offset)) = &self.inner else {
            return Ok(self);
        };
        let swizzle = self
            .byte_swizzle()
            .filter(|_| offset.as_static() == Some(0) && self.swizzle.is_none());
        let Some(swizzle) = swizzle else {
            return Err(format!(
                "is a tensor whose layout is {inner} o {offset} o {}, which has no swizzle of addresses; expected offset 0 and no \
                 swizzle on the pointer: make the view of the whole tensor first, and take parts of that",
                self.layout
            ));
        };
        if self.align % swizzle.period() != 0 {
            return Err(format!(
                "is a tensor swizzled by {inner} in elements, {swizzle} in bytes, that is aligned to {} bytes; expected a \
                 multiple of {}: write align<{}>",
                self.align,
                swizzle.period(),
                swizzle.period()
            ));
        }
        Ok(Self {
            swizzle: Some(swizzle),
            inner: None,
            ..self
        })
    }

    /// Checks that it has elements, which descriptors have not.
    pub(crate) fn check_elements(&self) -> Result<(), String> {
        match self.space {
            Space::Descriptors => Err(
                "expected a tensor, found descriptors, which only products of a warpgroup take; give the partition that they were made of"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// Checks that its elements have addresses: they are accessed in memory.
    pub fn check_addressable(&self) -> Result<(), String> {
        match element_bits(self.element) {
            Some(bits) if bits % 8 != 0 && self.space != Space::Rmem => Err(format!(
                "accesses elements of {bits} bits, which have no addresses of their own; expected elements of whole bytes: \
                 recast the tensor to i8"
            )),
            _ => Ok(()),
        }
    }

    /// Checks what an allocation must hold beyond what the type says: the alignment that the swizzle
    /// needs, so that it acts on offsets as it does on addresses.
    pub fn check_allocation(&self) -> Result<(), String> {
        if !self.layout.is_static() {
            return Err(format!(
                "expected a static layout to allocate, found {}; write extents that are known, or parameters, as in \"($D,2):(1,$D)\"",
                self.layout
            ));
        }
        if let Some(swizzle) = self.byte_swizzle()
            && self.align % swizzle.period() != 0
        {
            return Err(format!(
                "allocates a tensor swizzled by {swizzle} with an alignment of {} bytes; \
                 expected a multiple of {}: write align<{}>",
                self.align,
                swizzle.period(),
                swizzle.period()
            ));
        }
        Ok(())
    }

    /// The type of a pointer to its start. Errors, at `location`: parameters that no such type has.
    pub fn to_ptr_type(&self, location: Location<'c>) -> Result<Type<'c>, Failure> {
        if self.space == Space::Descriptors {
            return Ok(self.element);
        }
        let swizzle = self.swizzle.map(|s| s.to_string()).unwrap_or_default();
        let texts = [self.space.name(), &swizzle];
        type_of(
            location,
            &parts(Kind::Ptr, &[self.element], &texts, &[self.align]),
        )
    }

    /// The MLIR type. Errors, at `location`: parameters that no such type has.
    pub fn to_type(&self, location: Location<'c>) -> Result<Type<'c>, Failure> {
        if self.space == Space::Descriptors {
            let layout = self.layout.to_string();
            return type_of(
                location,
                &parts(Kind::SmemDescView, &[self.element], &[&layout], &[]),
            );
        }
        let swizzle = self.swizzle.map(|s| s.to_string()).unwrap_or_default();
        let layout = match &self.inner {
            Some((swizzle, offset)) => format!("{swizzle} o {offset} o {}", self.layout),
            None => self.layout.text_of_tensor(),
        };
        let texts = [self.space.name(), &swizzle, &layout];
        type_of(
            location,
            &parts(Kind::MemRef, &[self.element], &texts, &[self.align]),
        )
    }

    /// Checks what the type requires of its parameters.
    pub(super) fn verify(&self) -> Result<(), String> {
        let memref = self;
        if memref.space == Space::Descriptors {
            return Ok(());
        }
        let Some(bits) = element_bits(memref.element) else {
            return Err(format!(
                "expected an integer or floating-point element type, found {}",
                memref.element
            ));
        };
        if bits % 8 != 0 && bits != 4 && memref.space != Space::Rmem {
            return Err(format!(
                "expected elements of 4 bits or of whole bytes in memory, found {}",
                memref.element
            ));
        }
        let align = memref.align;
        if align < 1 || align & (align - 1) != 0 {
            return Err(format!(
                "expected an alignment that is a power of two, found {align}"
            ));
        }
        if align > MOST_ALIGNMENT {
            return Err(format!(
                "expected an alignment of at most {MOST_ALIGNMENT} bytes, found {align}"
            ));
        }
        if align % memref.element_bytes() != 0 {
            return Err(format!(
                "expected an alignment of at least the element's {} bytes, found {align}",
                memref.element_bytes()
            ));
        }
        if memref.layout.is_empty() && memref.space != Space::Gmem {
            return Err(format!(
                "expected positive extents of a tensor in {}, found {}; a tensor in gmem alone may have no elements",
                memref.space,
                memref.layout.text_of_tensor()
            ));
        }
        let is_shared = matches!(memref.space, Space::Smem | Space::Dsmem);
        if memref.inner.is_some() && !is_shared {
            return Err(format!(
                "expected a swizzled layout only of tensors in smem, found one in {}",
                memref.space
            ));
        }
        if memref.swizzle.is_some() && !is_shared {
            return Err(format!(
                "expected a swizzle only on tensors in smem, found one in {}",
                memref.space
            ));
        }
        Ok(())
    }
}

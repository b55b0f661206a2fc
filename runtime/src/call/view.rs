//! Tensors in memory of somebody else, as arguments of a call.

use std::fmt;
use std::marker::PhantomData;

use crate::element::Element;
use crate::package::Number;
use crate::tensor::{HostTensor, Native, ViewError};

/// The memory that a tensor lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Memory of the host, which the emulator executes on.
    Host,
    /// Memory of the GPU that has that number in the driver.
    Cuda(u32),
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Host => f.write_str("the host"),
            Memory::Cuda(number) => write!(f, "GPU {number}"),
        }
    }
}

/// A borrowed tensor: a pointer, elements of a type, a shape, and strides in elements. The first element is the one at the pointer.
///
/// A function takes it where the numbers of dimensions and leaves of the argument's layout agree: a dimension for each leaf, from
/// left to right. Where a dimension has one element, its stride says nothing and may be any.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a> {
    pub(super) address: u64,
    pub(super) element: Element,
    pub(super) shape: &'a [i64],
    /// None: compact, the last dimension the fastest.
    pub(super) strides: Option<&'a [i64]>,
    pub(super) memory: Memory,
    pub(super) writable: bool,
    /// Memory that may be written, and is used without a lock: a view stays on its thread.
    pub(super) _memory: PhantomData<(&'a [u8], *mut u8)>,
}

impl<'a> TensorView<'a> {
    /// A view of memory that is not known to Rust: `address` is that of the first element. Without strides it is compact, the last
    /// dimension the fastest.
    ///
    /// # Safety
    /// From the first element to the last one, as shape and strides place them, the memory is there, of the kind that `memory` says,
    /// until the work of every launch with this view is done on its stream; until then nothing else writes what a launch reads, nor
    /// reads or writes what it writes, but in the order of that stream.
    ///
    /// # Errors
    /// Another number of strides than of dimensions.
    pub unsafe fn from_raw(
        address: u64,
        element: Element,
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
        memory: Memory,
    ) -> Result<TensorView<'a>, ViewError> {
        if let Some(strides) = strides
            && strides.len() != shape.len()
        {
            return Err(ViewError::new(
                format!("{} strides, one for each dimension", shape.len()),
                strides.len().to_string(),
            ));
        }
        Ok(TensorView {
            address,
            element,
            shape,
            strides,
            memory,
            writable: true,
            _memory: PhantomData,
        })
    }

    /// The same tensor, which no function may write.
    #[must_use]
    pub fn read_only(self) -> TensorView<'a> {
        TensorView {
            writable: false,
            ..self
        }
    }

    /// A tensor of the host that functions read.
    ///
    /// # Errors
    /// Shape and strides that reach beyond the slice, or are none.
    pub fn from_slice<T: Native>(
        elements: &'a [T],
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
    ) -> Result<TensorView<'a>, ViewError> {
        let view = TensorView::of(
            elements.as_ptr() as u64,
            elements.len(),
            T::ELEMENT,
            (shape, strides),
        )?;
        Ok(view.read_only())
    }

    /// A tensor of the host that functions may write, too.
    ///
    /// # Errors
    /// Shape and strides that reach beyond the slice, or are none.
    pub fn from_slice_mut<T: Native>(
        elements: &'a mut [T],
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
    ) -> Result<TensorView<'a>, ViewError> {
        let (address, count) = (elements.as_mut_ptr() as u64, elements.len());
        TensorView::of(address, count, T::ELEMENT, (shape, strides))
    }

    /// A tensor in `count` elements of the host's memory, which the caller has borrowed for as long.
    fn of(
        address: u64,
        count: usize,
        element: Element,
        (shape, strides): (&'a [i64], Option<&'a [i64]>),
    ) -> Result<TensorView<'a>, ViewError> {
        // SAFETY: the slice was borrowed for `'a`, and what lies beyond it is refused below. A call that runs on the host is over
        // when it returns.
        let view = unsafe { TensorView::from_raw(address, element, shape, strides, Memory::Host)? };
        view.within(count as u64)
    }

    /// The view, if it is within so many elements.
    ///
    /// # Errors
    /// The size that it would need.
    pub(super) fn within(self, count: u64) -> Result<TensorView<'a>, ViewError> {
        match self.span() {
            Some(span) if span <= count => Ok(self),
            Some(span) => Err(ViewError::new(
                format!("a slice of at least {span} elements, for the last one"),
                count.to_string(),
            )),
            None => Err(ViewError::new(
                "a shape and strides that are not negative, and at most 2^40 elements from the first to the last",
                self.to_string(),
            )),
        }
    }

    /// The same memory with a shape and strides that say the same.
    pub(super) fn restated(self, shape: &'a [i64], strides: &'a [i64]) -> TensorView<'a> {
        TensorView {
            shape,
            strides: Some(strides),
            ..self
        }
    }

    /// Returns the address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Returns the elements of each dimension.
    pub fn shape(&self) -> &'a [i64] {
        self.shape
    }

    /// The strides of the dimensions in elements; those of a compact tensor where none were given.
    pub fn strides(&self) -> Vec<i64> {
        match self.strides {
            Some(strides) => strides.to_vec(),
            None => {
                let mut strides = vec![0; self.shape.len()];
                compact(self.shape, &mut strides);
                strides
            }
        }
    }

    /// The bytes from the first element to the end of the last; none of what is negative or larger than a tensor can be.
    pub fn bytes(&self) -> Option<u64> {
        Some(self.span()? * self.element.size() as u64)
    }

    /// The same tensor in other memory, a copy.
    ///
    /// # Safety
    /// As of [`TensorView::from_raw`].
    #[must_use]
    pub unsafe fn at(self, address: u64, memory: Memory) -> TensorView<'a> {
        TensorView {
            address,
            memory,
            ..self
        }
    }

    /// Returns the memory that it lies in.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Elements from the first to the last, both included; none of what is negative or larger than a tensor can be.
    pub(super) fn span(&self) -> Option<u64> {
        let strides = self.strides();
        let mut last = 0i64;
        let mut size = 1i64;
        for (&extent, &stride) in self.shape.iter().zip(&strides) {
            if extent < 0 {
                return None;
            }
            size = size.checked_mul(extent).filter(|size| *size <= MOST)?;
            if extent > 1 {
                let length = (extent - 1).checked_mul(stride)?;
                last = last.checked_add(length).filter(|last| *last < MOST)?;
                if stride < 0 {
                    return None;
                }
            }
        }
        Some(if size == 0 { 0 } else { last as u64 + 1 })
    }
}

/// The largest tensor, in elements from the first to the last.
pub(super) const MOST: i64 = 1 << 40;

/// The strides of a compact tensor, the last dimension the fastest. What overflows is refused with the shape.
pub(super) fn compact(shape: &[i64], strides: &mut [i64]) {
    let mut next = 1i64;
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = next;
        next = next.saturating_mul((*extent).max(1));
    }
}

impl fmt::Display for TensorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[i64]| {
            let all: Vec<String> = all.iter().map(i64::to_string).collect();
            all.join(",")
        };
        write!(f, "({}):({})", list(self.shape), list(&self.strides()))
    }
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A tensor.
    Tensor(TensorView<'a>),
    /// A number.
    Number(Number),
    /// The number that the package gives where the caller gives none.
    Default,
}

impl<'a> From<TensorView<'a>> for Argument<'a> {
    fn from(view: TensorView<'a>) -> Argument<'a> {
        Argument::Tensor(view)
    }
}

macro_rules! numbers {
    ($($type:ty, $kind:ident;)*) => {
        $(
            impl From<$type> for Argument<'_> {
                fn from(value: $type) -> Self {
                    Argument::Number(Number::$kind(value.into()))
                }
            }
        )*
    };
}

numbers! {
    i32, Integer;
    i64, Integer;
    f32, Real;
    f64, Real;
}

impl<'a> From<&'a HostTensor> for TensorView<'a> {
    fn from(tensor: &'a HostTensor) -> TensorView<'a> {
        let (shape, strides) = tensor.layout().flat();
        let address = tensor.bytes().as_ptr() as u64;
        // The tensor has memory for all elements of its layout.
        TensorView {
            address,
            element: tensor.element(),
            shape,
            strides: Some(strides),
            memory: Memory::Host,
            writable: false,
            _memory: PhantomData,
        }
    }
}

impl<'a> From<&'a mut HostTensor> for TensorView<'a> {
    fn from(tensor: &'a mut HostTensor) -> TensorView<'a> {
        let address = tensor.bytes_mut().as_mut_ptr() as u64;
        TensorView {
            address,
            writable: true,
            ..TensorView::from(&*tensor)
        }
    }
}

//! Elements of host tensors as numbers of Rust.

use half::{bf16, f16};

use super::HostTensor;
use crate::element::Element;
use crate::layout::Parsed;

/// A type of Rust that is an element type.
pub trait Native: Copy + sealed::Sealed {
    /// The element type.
    const ELEMENT: Element;
    /// The number of these bytes, as many as [`Element::size`] says.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Writes its bytes, as many as [`Element::size`] says.
    fn to_bytes(self, bytes: &mut [u8]);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! native {
    ($($type:ty, $element:ident;)*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Native for $type {
                const ELEMENT: Element = Element::$element;

                fn from_bytes(bytes: &[u8]) -> Self {
                    let mut raw = [0; size_of::<$type>()];
                    raw.copy_from_slice(bytes);
                    <$type>::from_le_bytes(raw)
                }

                fn to_bytes(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_le_bytes());
                }
            }
        )*
    };
}

native! {
    f16, F16;
    bf16, Bf16;
    f32, F32;
    f64, F64;
    i8, I8;
    u8, U8;
    i32, I32;
    i64, I64;
}

/// The reason why something is no tensor of that kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct ViewError {
    /// The form that is expected.
    pub expected: String,
    /// The form that was found.
    pub found: String,
}

impl ViewError {
    pub(crate) fn new(expected: impl Into<String>, found: impl Into<String>) -> ViewError {
        ViewError {
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// The elements of a host tensor as numbers of a type of Rust.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'t, T> {
    tensor: &'t HostTensor,
    _element: std::marker::PhantomData<T>,
}

/// The elements of a host tensor as numbers of a type of Rust, to be changed.
#[derive(Debug)]
pub struct ElementsMut<'t, T> {
    tensor: &'t mut HostTensor,
    _element: std::marker::PhantomData<T>,
}

impl HostTensor {
    /// A tensor of these elements as they lie in memory, those of no index too: as many as the layout's cosize.
    ///
    /// # Errors
    /// Another number of elements; a tensor that does not fit into memory.
    pub fn from_slice<T: Native>(elements: &[T], layout: Parsed) -> Result<HostTensor, ViewError> {
        if elements.len() as i64 != layout.cosize() {
            let expected = format!("{} elements for layout {layout}", layout.cosize());
            return Err(ViewError::new(expected, elements.len().to_string()));
        }
        let mut tensor = HostTensor::zeroed(T::ELEMENT, layout)
            .map_err(|error| ViewError::new("memory for the tensor", error.to_string()))?;
        let size = T::ELEMENT.size();
        for (bytes, element) in tensor.bytes.chunks_exact_mut(size).zip(elements) {
            element.to_bytes(bytes);
        }
        Ok(tensor)
    }

    /// The elements as they lie in memory, those of no index too.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn to_vec<T: Native>(&self) -> Result<Vec<T>, ViewError> {
        self.is_of::<T>()?;
        let elements = self.bytes.chunks_exact(T::ELEMENT.size());
        Ok(elements.map(T::from_bytes).collect())
    }

    /// The elements by coordinates and in order, as numbers of `T`.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn elements<T: Native>(&self) -> Result<Elements<'_, T>, ViewError> {
        self.is_of::<T>()?;
        Ok(Elements {
            tensor: self,
            _element: std::marker::PhantomData,
        })
    }

    /// The elements by coordinates, as numbers of `T` that may be changed.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn elements_mut<T: Native>(&mut self) -> Result<ElementsMut<'_, T>, ViewError> {
        self.is_of::<T>()?;
        Ok(ElementsMut {
            tensor: self,
            _element: std::marker::PhantomData,
        })
    }

    fn is_of<T: Native>(&self) -> Result<(), ViewError> {
        if self.element == T::ELEMENT {
            return Ok(());
        }
        let expected = format!("elements of type {}", T::ELEMENT);
        Err(ViewError::new(expected, self.element.to_string()))
    }
}

impl<T: Native> Elements<'_, T> {
    /// The element at a coordinate, a number for each top-level mode; none outside of the tensor.
    pub fn get(&self, coordinate: &[i64]) -> Option<T> {
        let offset = self.tensor.layout.offset(coordinate)?;
        Some(T::from_bytes(self.tensor.element_bytes(offset)))
    }

    /// The elements in the order of their indices, the first mode the fastest.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        let layout = &self.tensor.layout;
        let offsets = (0..layout.size()).map(|index| layout.at(index));
        offsets.map(|offset| T::from_bytes(self.tensor.element_bytes(offset)))
    }
}

impl<T: Native> ElementsMut<'_, T> {
    /// Writes the element at a coordinate, a number for each top-level mode; nothing outside of the tensor, of which it tells.
    #[must_use]
    pub fn set(&mut self, coordinate: &[i64], value: T) -> bool {
        let Some(offset) = self.tensor.layout.offset(coordinate) else {
            return false;
        };
        let size = T::ELEMENT.size();
        let at = offset as usize * size;
        value.to_bytes(&mut self.tensor.bytes[at..at + size]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Parsed {
        Parsed::parse(text).unwrap()
    }

    #[test]
    fn slices_round_trip() {
        let values: Vec<f32> = (0..11).map(|i| i as f32).collect();
        let tensor = HostTensor::from_slice(&values, layout("(2,3):(8,1)")).unwrap();
        assert_eq!(tensor.to_vec::<f32>().unwrap(), values);
        let halves = values.iter().map(|value| f16::from_f32(*value));
        let halves: Vec<f16> = halves.collect();
        let tensor = HostTensor::from_slice(&halves, layout("(11):(1)")).unwrap();
        assert_eq!(tensor.to_vec::<f16>().unwrap(), halves);
        assert_eq!(tensor.get(3), Some(3.0));
        let empty = HostTensor::from_slice::<i64>(&[], layout("(0,4):(4,1)")).unwrap();
        assert!(empty.to_vec::<i64>().unwrap().is_empty());
    }

    #[test]
    fn elements_lie_at_coordinates() {
        let mut tensor = HostTensor::zeroed(Element::I32, layout("((2,2),3):((1,6),2)")).unwrap();
        for (at, coordinate) in [[0, 0], [3, 2], [2, 1]].iter().enumerate() {
            let mut elements = tensor.elements_mut::<i32>().unwrap();
            assert!(elements.set(coordinate, at as i32 + 1));
            assert!(
                !elements.set(&[4, 0], 9) && !elements.set(&[0, -1], 9) && !elements.set(&[0], 9)
            );
        }
        let elements = tensor.elements::<i32>().unwrap();
        assert_eq!(elements.get(&[3, 2]), Some(2));
        assert_eq!(elements.get(&[0, 3]), None);
        assert_eq!(elements.get(&[0, 0, 0]), None);
        let all: Vec<i32> = elements.iter().collect();
        assert_eq!(all, [1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2]);
        let of_type = tensor.bytes()[4 * 7..4 * 7 + 4].to_vec();
        // Element (3,2) is at 1 + 6 + 4.
        assert_eq!((of_type, tensor.bytes()[4 * 11]), (vec![0; 4], 2));
    }

    #[test]
    fn other_types_and_lengths_are_refused() {
        let tensor = HostTensor::zeroed(Element::F32, layout("4:1")).unwrap();
        let says = "expected elements of type i32, found f32";
        assert_eq!(tensor.to_vec::<i32>().unwrap_err().to_string(), says);
        assert_eq!(tensor.elements::<i32>().unwrap_err().to_string(), says);
        let error = HostTensor::from_slice(&[1f32; 5], layout("4:1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected 4 elements for layout 4:1, found 5"
        );
    }
}

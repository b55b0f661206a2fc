//! A call with PyTorch's tensors in which it is known what goes where.

use std::sync::Arc;

use cute::failure::{Class, Failure};
use cute::value::Value;
use cute_runtime::call::{DL_CUDA, DLDataType, DLDevice, DLTensor};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::exchange::{Exchange, Kind, is_negated};
use crate::package::Open;
use crate::raised::raised;

/// An argument of a kernel, as Python says it: the tensor by its place among those of a call; for each mode the place of its extent, and the
/// dimension of the tensor whose stride it has, or none where that is 0, or -1 - E where it is the extent E; DLPack's code and bits of the
/// elements; and the alignment in bytes.
pub(crate) type Operand = (usize, Vec<(usize, Option<i64>)>, (u8, u8), u64);

/// The stride of a mode.
#[derive(Clone, Copy, Debug)]
enum Step {
    Zero,
    Dimension(usize),
    Extent(usize),
}

#[derive(Debug)]
struct Argument {
    tensor: usize,
    modes: SmallVec<[(usize, Step); 4]>,
    dtype: DLDataType,
    align: u64,
}

/// A function that is called with tensors of one device, whose types, and the modes of whose layouts, are known: `kernel(*tensors, *extents)`.
///
/// A tensor that lies where the kernel does not expect it, or whose elements are not those in memory, is copied first, by `copy(argument, tensor)`.
#[pyclass(frozen, module = "cute_opt._native")]
pub(crate) struct Kernel {
    open: Arc<Open>,
    number: usize,
    name: String,
    device: DLDevice,
    tensors: usize,
    extents: usize,
    arguments: Vec<Argument>,
    copy: Py<PyAny>,
}

impl Kernel {
    pub(crate) fn new(
        open: Arc<Open>,
        number: usize,
        name: String,
        (device_type, device_id): (i32, i32),
        (tensors, extents): (usize, usize),
        operands: Vec<Operand>,
        copy: Py<PyAny>,
    ) -> PyResult<Kernel> {
        let wrong = |text: String| pyo3::exceptions::PyValueError::new_err(text);
        let mut arguments = Vec::with_capacity(operands.len());
        for (tensor, modes, (code, bits), align) in operands {
            if tensor >= tensors || align == 0 {
                return Err(wrong(format!(
                    "expected a tensor of {tensors}, found {tensor}"
                )));
            }
            let step = |step: Option<i64>| match step {
                None => Step::Zero,
                Some(dimension) if dimension >= 0 => Step::Dimension(dimension as usize),
                Some(extent) => Step::Extent((-1 - extent) as usize),
            };
            let modes: SmallVec<[(usize, Step); 4]> = modes
                .into_iter()
                .map(|(extent, one)| (extent, step(one)))
                .collect();
            let known = |at: usize| at < extents;
            if !modes.iter().all(|(extent, step)| {
                known(*extent) && !matches!(step, Step::Extent(other) if !known(*other))
            }) {
                return Err(wrong(format!("expected one of {extents} extents")));
            }
            arguments.push(Argument {
                tensor,
                modes,
                dtype: DLDataType {
                    code,
                    bits,
                    lanes: 1,
                },
                align,
            });
        }
        Ok(Kernel {
            open,
            number,
            name,
            device: DLDevice {
                device_type,
                device_id,
            },
            tensors,
            extents,
            arguments,
            copy,
        })
    }

    fn wrong(&self, py: Python<'_>, text: String) -> PyErr {
        let text = format!("{}: {text}", self.name);
        raised(py, Failure::new(Class::Type, text))
    }
}

/// The address and the strides of a tensor.
struct Place {
    data: u64,
    /// The elements are those in memory with the other sign.
    is_negated: bool,
    strides: SmallVec<[i64; 4]>,
    exchange: Option<&'static Exchange>,
}

impl Place {
    fn of(tensor: &Bound<'_, PyAny>) -> PyResult<Place> {
        if let Kind::Exchange(library) = Kind::of(tensor)? {
            let is_negated = library.is_negated(tensor)?;
            let described = library.exchange.tensor(tensor)?;
            let count = usize::try_from(described.ndim).unwrap_or(0);
            let strides = if described.strides.is_null() || count == 0 {
                if count > 0 {
                    return Place::by_methods(tensor);
                }
                SmallVec::new()
            } else {
                // SAFETY: there are as many, until Python runs again.
                unsafe { std::slice::from_raw_parts(described.strides, count) }
                    .iter()
                    .copied()
                    .collect()
            };
            return Ok(Place {
                data: described.data as u64 + described.byte_offset,
                is_negated,
                strides,
                exchange: Some(library.exchange),
            });
        }
        Place::by_methods(tensor)
    }

    /// Returns what a PyTorch without these functions tells.
    fn by_methods(tensor: &Bound<'_, PyAny>) -> PyResult<Place> {
        let py = tensor.py();
        let strides = tensor.call_method0(intern!(py, "stride"))?;
        Ok(Place {
            data: tensor.call_method0(intern!(py, "data_ptr"))?.extract()?,
            is_negated: is_negated(tensor)?,
            strides: strides
                .try_iter()?
                .map(|stride| stride?.extract())
                .collect::<PyResult<_>>()?,
            exchange: None,
        })
    }
}

#[pymethods]
impl Kernel {
    /// Calls the function on the stream that PyTorch uses now.
    #[pyo3(signature = (*given))]
    fn __call__(&self, py: Python<'_>, given: &Bound<'_, PyTuple>) -> PyResult<()> {
        let loaded = self.open.get(py, &self.name)?;
        if given.len() != self.tensors + self.extents {
            let text = format!(
                "expected {} tensors and {} extents, found {} arguments",
                self.tensors,
                self.extents,
                given.len()
            );
            return Err(self.wrong(py, text));
        }
        let mut places: SmallVec<[Place; 8]> = SmallVec::new();
        for at in 0..self.tensors {
            places.push(Place::of(&given.get_item(at)?)?);
        }
        // Copies, until the call is over.
        let mut copies: SmallVec<[Bound<'_, PyAny>; 2]> = SmallVec::new();
        for (at, argument) in self.arguments.iter().enumerate() {
            let place = &places[argument.tensor];
            if place.is_negated || !place.data.is_multiple_of(argument.align) {
                let tensor = given.get_item(argument.tensor)?;
                let copy = self.copy.bind(py).call1((at, tensor))?;
                places[argument.tensor] = Place::of(&copy)?;
                copies.push(copy);
            }
        }
        let mut extents: SmallVec<[i64; 4]> = SmallVec::new();
        for at in self.tensors..given.len() {
            extents.push(given.get_item(at)?.extract()?);
        }
        // Shapes and strides, in the order of the modes.
        let count = self.arguments.iter().map(|one| one.modes.len()).sum();
        let mut shapes: SmallVec<[i64; 32]> = SmallVec::with_capacity(count);
        let mut strides: SmallVec<[i64; 32]> = SmallVec::with_capacity(count);
        for argument in &self.arguments {
            let own = &places[argument.tensor].strides;
            for (extent, step) in &argument.modes {
                shapes.push(extents[*extent]);
                strides.push(match step {
                    Step::Zero => 0,
                    Step::Extent(other) => extents[*other],
                    Step::Dimension(dimension) => *own.get(*dimension).ok_or_else(|| {
                        let text = format!(
                            "tensor {}: expected more than {dimension} dimensions, found {}",
                            argument.tensor,
                            own.len()
                        );
                        self.wrong(py, text)
                    })?,
                });
            }
        }
        let mut tensors: SmallVec<[DLTensor; 8]> = SmallVec::with_capacity(self.arguments.len());
        let (first_shape, first_stride) = (shapes.as_mut_ptr(), strides.as_mut_ptr());
        let mut from = 0;
        for argument in &self.arguments {
            let modes = argument.modes.len();
            tensors.push(DLTensor {
                data: places[argument.tensor].data as *mut _,
                device: self.device,
                ndim: modes as i32,
                dtype: argument.dtype,
                shape: first_shape.wrapping_add(from),
                strides: first_stride.wrapping_add(from),
                byte_offset: 0,
            });
            from += modes;
        }
        let values: SmallVec<[Value; 8]> = tensors.iter().map(|one| Value::tensor(one)).collect();
        let stream = match places.iter().find_map(|place| place.exchange) {
            _ if self.device.device_type != DL_CUDA => 0,
            Some(exchange) => exchange.stream(py, self.device.device_id)?,
            None => crate::exchange::stream_of_torch(py, self.device.device_id)?,
        };
        // SAFETY: the structs and their numbers are above, the memory belongs to arguments of this call or to their copies, whose library gives
        // it back in the order of the stream, which is its own.
        let result = py.detach(|| unsafe { loaded.call_on(self.number, &values, stream) });
        drop(copies);
        result.map_err(|failure| raised(py, failure))
    }
}

//! A call of a function with anything that speaks DLPack.

use std::sync::Arc;

use cute::failure::{Class, Failure};
use cute::value::Value;
use cute_runtime::call::DLTensor;
use cute_runtime::package;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::exchange::{Exchange, Kind, handed, is_cuda, is_negated, stream_of_torch};
use crate::package::Open;
use crate::raised::raised;

/// A function of a package.
#[pyclass(frozen, module = "cute_opt._native")]
pub(crate) struct Function {
    open: Arc<Open>,
    number: usize,
    name: String,
    /// The names of the arguments, and whether they are written.
    arguments: Vec<(String, bool)>,
}

/// The stream of a call: that of the library whose tensor came first, if the tensor is one of a GPU.
enum Queue {
    None,
    Exchange(&'static Exchange, i32),
    Torch(i32),
}

/// An argument that was looked at.
#[derive(Clone, Copy)]
enum Given {
    Tensor,
    Value(Value),
}

/// Adds the shape and the strides of a tensor to numbers.
fn keep(tensor: &DLTensor, numbers: &mut SmallVec<[i64; 64]>) {
    let rank = tensor.ndim.max(0) as usize;
    for list in [tensor.shape, tensor.strides] {
        if rank > 0 && !list.is_null() {
            // SAFETY: there are as many, as the tensor was described just now.
            numbers.extend_from_slice(unsafe { std::slice::from_raw_parts(list, rank) });
        }
    }
}

impl Function {
    pub(crate) fn new(open: Arc<Open>, number: usize, about: &package::Function) -> Function {
        let written = |arg: &package::Arg| matches!(arg, package::Arg::Tensor { access, .. } if access.writes());
        Function {
            open,
            number,
            name: about.name.clone(),
            arguments: about
                .args
                .iter()
                .map(|arg| (arg.name().to_owned(), written(arg)))
                .collect(),
        }
    }

    /// Words for the place of an argument.
    fn place(&self, at: usize) -> String {
        match self.arguments.get(at) {
            Some((name, _)) => format!("{}: argument {at} ({name})", self.name),
            None => format!("{}: argument {at}", self.name),
        }
    }

    fn wrong(&self, py: Python<'_>, class: Class, at: usize, text: &str) -> PyErr {
        raised(
            py,
            Failure::new(class, format!("{}: {text}", self.place(at))),
        )
    }

    fn refused(&self, py: Python<'_>, at: usize, error: PyErr) -> PyErr {
        let expected =
            "expected a tensor that can be handed over by DLPack, found one that refuses";
        self.raises(py, at, expected, error)
    }

    /// Words an exception of an argument's own, which is kept as the cause. What is no error, such as an interrupt, passes as it is.
    fn raises(&self, py: Python<'_>, at: usize, expected: &str, error: PyErr) -> PyErr {
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let text = format!("{expected}: {}", error.value(py));
        let refused = self.wrong(py, Class::Type, at, &text);
        refused.set_cause(py, Some(error));
        refused
    }

    /// The refusal of a tensor whose elements are not those in memory.
    fn negated(&self, py: Python<'_>, at: usize) -> PyErr {
        let text = "expected a tensor whose elements are those in memory, found one with the negative bit, whose elements have the other sign; \
                    use tensor.resolve_neg()";
        self.wrong(py, Class::Value, at, text)
    }

    /// The integer that an argument is.
    fn integer(&self, argument: &Bound<'_, PyAny>, at: usize) -> PyResult<i64> {
        let py = argument.py();
        let number = argument
            .call_method0(pyo3::intern!(py, "__index__"))
            .map_err(|error| {
                let expected = "expected a number, found one whose __index__ raises";
                self.raises(py, at, expected, error)
            })?;
        number.extract().map_err(|_| {
            // Python writes integers of up to some thousand digits.
            let found = match number.str() {
                Ok(text) => text.to_string(),
                Err(_) => "one of thousands of digits".to_owned(),
            };
            let text = format!("expected an integer of 64 bits, found {found}");
            self.wrong(py, Class::Value, at, &text)
        })
    }

    /// The real number that an argument is.
    fn real(&self, argument: &Bound<'_, PyAny>, at: usize) -> PyResult<f64> {
        let py = argument.py();
        let number = argument.call_method0(pyo3::intern!(py, "__float__"));
        number.and_then(|number| number.extract()).map_err(|error| {
            let expected = "expected a number, found one whose __float__ raises";
            self.raises(py, at, expected, error)
        })
    }

    /// The handle of a stream.
    fn stream(&self, stream: &Bound<'_, PyAny>) -> PyResult<usize> {
        stream.extract().map_err(|error: PyErr| {
            let py = stream.py();
            let is_integer = stream.hasattr("__index__").unwrap_or(false);
            let (class, found) = match (is_integer, stream.str()) {
                (true, Ok(text)) => (Class::Value, text.to_string()),
                (true, Err(_)) => (Class::Value, "another integer".to_owned()),
                (false, _) => (Class::Type, stream.get_type().to_string()),
            };
            if !error.is_instance_of::<PyException>(py) {
                return error;
            }
            let text = format!(
                "{}: stream: expected the handle of a CUDA stream, an integer from 0 of 64 bits, or None, found {found}; \
                 of a stream of PyTorch that is stream.cuda_stream",
                self.name
            );
            let refused = raised(py, Failure::new(class, text));
            refused.set_cause(py, Some(error));
            refused
        })
    }
}

#[pymethods]
impl Function {
    /// Calls the function with tensors and numbers; None is the number that the package gives. What an argument's own methods raise is the cause
    /// of the exception that says which argument it is.
    #[pyo3(signature = (*arguments, stream = None))]
    fn __call__(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let stream = stream.map(|stream| self.stream(stream)).transpose()?;
        let loaded = self.open.get(py, &self.name)?;
        let count = arguments.len();
        let mut given: SmallVec<[Given; 16]> = SmallVec::with_capacity(count);
        let mut tensors: SmallVec<[DLTensor; 16]> = SmallVec::with_capacity(count);
        // Shapes and strides of tensors that are described only until Python runs again, as it may for the next argument.
        let mut numbers: SmallVec<[i64; 64]> = SmallVec::new();
        let mut described: SmallVec<[(usize, usize); 16]> = SmallVec::new();
        // Owners of tensors, until the call is over.
        let mut owners: SmallVec<[Bound<'_, PyAny>; 4]> = SmallVec::new();
        let mut queue = Queue::None;
        for (at, argument) in arguments.iter().enumerate() {
            if argument.is_none() {
                given.push(Given::Value(Value::NOTHING));
                continue;
            }
            let value = match Kind::of(&argument)? {
                Kind::Exchange(library) => {
                    if library.wants_gradients(&argument)? {
                        let text = "expected a tensor that can be handed over by DLPack, found one that requires grad; use tensor.detach()";
                        return Err(self.wrong(py, Class::Type, at, text));
                    }
                    if library.is_negated(&argument)? {
                        return Err(self.negated(py, at));
                    }
                    let tensor = library
                        .exchange
                        .tensor(&argument)
                        .map_err(|error| self.refused(py, at, error))?;
                    if tensors.is_empty() && is_cuda(tensor.device.device_type) {
                        queue = Queue::Exchange(library.exchange, tensor.device.device_id);
                    }
                    described.push((tensors.len(), numbers.len()));
                    keep(&tensor, &mut numbers);
                    tensors.push(tensor);
                    Given::Tensor
                }
                Kind::Dlpack => {
                    if is_negated(&argument)? {
                        return Err(self.negated(py, at));
                    }
                    let handed = handed(&argument).map_err(|error| self.refused(py, at, error))?;
                    if handed.is_read_only && self.arguments.get(at).is_some_and(|arg| arg.1) {
                        let text = "expected a tensor that may be written, found one that may only be read";
                        return Err(self.wrong(py, Class::Value, at, text));
                    }
                    let device = handed.tensor.device;
                    if tensors.is_empty() && is_cuda(device.device_type) {
                        queue = Queue::Torch(device.device_id);
                    }
                    tensors.push(handed.tensor);
                    owners.push(handed.capsule);
                    Given::Tensor
                }
                Kind::Index => Given::Value(Value::integer(self.integer(&argument, at)?)),
                Kind::Float => Given::Value(Value::real(self.real(&argument, at)?)),
                Kind::Other => {
                    let found = argument.get_type().name()?;
                    let text = format!(
                        "expected a tensor (anything with __dlpack__), a number or None, found {found}"
                    );
                    return Err(self.wrong(py, Class::Type, at, &text));
                }
            };
            given.push(value);
        }
        let stream = match (stream, queue) {
            (Some(stream), _) => stream,
            (None, Queue::None) => 0,
            (None, Queue::Exchange(exchange, gpu)) => exchange.stream(py, gpu)?,
            (None, Queue::Torch(gpu)) => stream_of_torch(py, gpu)?,
        };
        let first = numbers.as_mut_ptr();
        for (at, from) in described {
            let tensor = &mut tensors[at];
            tensor.shape = first.wrapping_add(from);
            if !tensor.strides.is_null() {
                tensor.strides = first.wrapping_add(from + tensor.ndim.max(0) as usize);
            }
        }
        let mut next = tensors.iter();
        let values: SmallVec<[Value; 16]> = given
            .iter()
            .map(|one| match one {
                Given::Value(value) => *value,
                Given::Tensor => Value::tensor(next.next().map_or(std::ptr::null(), |one| one)),
            })
            .collect();
        // SAFETY: the tensors are described above, and what owns them is an argument of this call; the stream is that of the tensors' library,
        // or the caller's.
        let result = py.detach(|| unsafe { loaded.call_on(self.number, &values, stream) });
        drop(owners);
        result.map_err(|failure| raised(py, failure))
    }
}

//! A call of a function with anything that speaks DLPack.

use std::sync::Arc;

use cute::failure::{Class, Failure};
use cute::value::Value;
use cute_runtime::call::DLTensor;
use cute_runtime::package;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::exchange::{Exchange, Kind, handed, is_cuda, stream_of_torch};
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

    fn refused(&self, py: Python<'_>, at: usize, error: &PyErr) -> PyErr {
        let said = error.value(py);
        let text = format!(
            "expected a tensor that can be handed over by DLPack, found one that refuses: {said}"
        );
        let refused = self.wrong(py, Class::Type, at, &text);
        refused.set_cause(py, Some(error.clone_ref(py)));
        refused
    }
}

#[pymethods]
impl Function {
    /// Calls the function with tensors and numbers; None is the number that the package gives.
    #[pyo3(signature = (*arguments, stream = None))]
    fn __call__(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
        stream: Option<usize>,
    ) -> PyResult<()> {
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
                Kind::Exchange(exchange, may_want_gradients) => {
                    if may_want_gradients
                        && argument
                            .getattr(pyo3::intern!(py, "requires_grad"))?
                            .is_truthy()?
                    {
                        let text = "expected a tensor that can be handed over by DLPack, found one that requires grad; use tensor.detach()";
                        return Err(self.wrong(py, Class::Type, at, text));
                    }
                    let tensor = exchange
                        .tensor(&argument)
                        .map_err(|error| self.refused(py, at, &error))?;
                    if tensors.is_empty() && is_cuda(tensor.device.device_type) {
                        queue = Queue::Exchange(exchange, tensor.device.device_id);
                    }
                    described.push((tensors.len(), numbers.len()));
                    keep(&tensor, &mut numbers);
                    tensors.push(tensor);
                    Given::Tensor
                }
                Kind::Dlpack => {
                    let handed = handed(&argument).map_err(|error| self.refused(py, at, &error))?;
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
                Kind::Index => {
                    let number = argument.call_method0(pyo3::intern!(py, "__index__"))?;
                    match number.extract::<i64>() {
                        Ok(number) => Given::Value(Value::integer(number)),
                        Err(_) => {
                            let text = format!("expected an integer of 64 bits, found {number}");
                            return Err(self.wrong(py, Class::Value, at, &text));
                        }
                    }
                }
                Kind::Float => Given::Value(Value::real(
                    argument
                        .call_method0(pyo3::intern!(py, "__float__"))?
                        .extract()?,
                )),
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

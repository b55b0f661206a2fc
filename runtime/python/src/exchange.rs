//! Tensors of other libraries, as DLPack hands them over.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Mutex;

use cute_runtime::call::{
    DL_CUDA, DL_CUDA_MANAGED, DLManagedTensor, DLManagedTensorVersioned, DLPACK_MAJOR,
    DLPACK_READ_ONLY, DLPackVersion, DLTensor,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{ffi, intern};

/// The functions of a library that hand its tensors over without an object for each (DLPack 1.3, `DLPackExchangeAPI`).
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Exchange {
    version: DLPackVersion,
    previous: *const Exchange,
    allocate: *const c_void,
    from_object: *const c_void,
    to_object: *const c_void,
    /// Describes a tensor, until Python runs again; may be missing.
    tensor: Option<unsafe extern "C" fn(*mut c_void, *mut DLTensor) -> c_int>,
    /// The stream that the library uses now, of a kind of device and its number.
    stream: Option<unsafe extern "C" fn(c_int, i32, *mut *mut c_void) -> c_int>,
}

// SAFETY: the table is constant as long as the process runs, as DLPack asks.
unsafe impl Send for Exchange {}
// SAFETY: likewise.
unsafe impl Sync for Exchange {}

impl Exchange {
    /// The functions of a type, if it has such.
    fn of(class: &Bound<'_, PyType>) -> PyResult<Option<&'static Exchange>> {
        let name = intern!(class.py(), "__dlpack_c_exchange_api__");
        let Some(capsule) = class.getattr_opt(name)? else {
            return Ok(None);
        };
        // SAFETY: the object is alive, and the name is that of such tables.
        let table = unsafe {
            let name = c"dlpack_exchange_api".as_ptr();
            match ffi::PyCapsule_IsValid(capsule.as_ptr(), name) {
                0 => ptr::null_mut(),
                _ => ffi::PyCapsule_GetPointer(capsule.as_ptr(), name),
            }
        };
        let mut table: *const Exchange = table.cast_const().cast();
        // SAFETY: the head of a table is the same in all versions, and it and those before it are constant as long as the process runs.
        while let Some(one) = unsafe { table.as_ref() } {
            if one.version.major == DLPACK_MAJOR {
                return Ok(Some(one));
            }
            table = one.previous;
        }
        Ok(None)
    }

    /// Describes a tensor of the type that the functions are of; until Python runs again.
    pub(crate) fn tensor(&self, object: &Bound<'_, PyAny>) -> PyResult<DLTensor> {
        let py = object.py();
        let describe = self
            .tensor
            .ok_or_else(|| PyTypeError::new_err("its library does not describe tensors"))?;
        let mut tensor = std::mem::MaybeUninit::<DLTensor>::uninit();
        // SAFETY: the object is alive, of that type, and Python's lock is held.
        if unsafe { describe(object.as_ptr().cast(), tensor.as_mut_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: it was described.
        Ok(unsafe { tensor.assume_init() })
    }

    /// The stream that the library uses now on a GPU.
    pub(crate) fn stream(&self, py: Python<'_>, gpu: i32) -> PyResult<usize> {
        let mut stream = ptr::null_mut();
        let Some(current) = self.stream else {
            return Ok(0);
        };
        // SAFETY: the place is there, and Python's lock is held.
        if unsafe { current(DL_CUDA, gpu, &mut stream) } != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(stream as usize)
    }
}

/// A C function of a method without arguments: the object, and null.
type Method = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;

/// The way in which objects of a type say that their elements are those in memory with the other sign, as PyTorch's `is_neg` does.
#[derive(Clone, Copy, Debug)]
enum Negated {
    /// They have no such thing.
    Never,
    /// The method's C function: looking the method up by its name takes as long again.
    Function(Method),
    /// The method, by its name.
    Method,
}

/// A type whose objects are tensors, described by C functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library {
    pub(crate) exchange: &'static Exchange,
    /// Objects say whether they want gradients.
    wants_gradients: bool,
    negated: Negated,
}

impl Library {
    /// The type of an object, whose functions are those.
    fn of(exchange: &'static Exchange, object: &Bound<'_, PyAny>) -> PyResult<Library> {
        let class = object.get_type();
        Ok(Library {
            exchange,
            wants_gradients: class.hasattr(intern!(object.py(), "requires_grad"))?,
            negated: Negated::of(object)?,
        })
    }

    /// Tells whether a tensor wants gradients, which a kernel would not give it.
    pub(crate) fn wants_gradients(&self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        if !self.wants_gradients {
            return Ok(false);
        }
        let name = intern!(tensor.py(), "requires_grad");
        tensor.getattr(name)?.is_truthy()
    }

    /// Tells whether the elements of a tensor of the type are those in memory with the other sign, of which the description says nothing. Python may run.
    pub(crate) fn is_negated(&self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.negated.holds(tensor)
    }
}

impl Negated {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Negated> {
        let name = intern!(object.py(), "is_neg");
        if !object.get_type().hasattr(name)? {
            return Ok(Negated::Never);
        }
        let method = object.getattr(name)?;
        // SAFETY: the method is alive; what is asked of a function of C is asked of such a one only.
        let function = unsafe {
            let method = method.as_ptr();
            let is_plain = ffi::PyCFunction_Check(method) != 0
                && ffi::PyCFunction_GetFlags(method) == ffi::METH_NOARGS;
            is_plain.then(|| ffi::PyCFunction_GetFunction(method))
        };
        Ok(match function.flatten() {
            Some(function) => Negated::Function(function),
            None => Negated::Method,
        })
    }

    fn holds(self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = tensor.py();
        match self {
            Negated::Never => Ok(false),
            Negated::Function(function) => {
                // SAFETY: it is the method of the object's type that takes nothing, and gives an object or raises.
                let answer = unsafe {
                    Bound::from_owned_ptr_or_err(py, function(tensor.as_ptr(), ptr::null_mut()))?
                };
                answer.is_truthy()
            }
            Negated::Method => tensor.call_method0(intern!(py, "is_neg"))?.is_truthy(),
        }
    }
}

/// The way in which objects of a type are arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A tensor, by C functions.
    Exchange(Library),
    /// A tensor, by `__dlpack__`.
    Dlpack,
    /// An integer.
    Index,
    /// A real number.
    Float,
    /// No argument.
    Other,
}

/// Types that are remembered, at most.
const MOST_TYPES: usize = 64;

/// Types that were seen. They are never given back, so that none is at the address of another.
static SEEN: Mutex<Vec<(usize, Kind)>> = Mutex::new(Vec::new());

impl Kind {
    /// The kind of an object's type.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Kind> {
        // SAFETY: the object is alive.
        let address = unsafe { ffi::Py_TYPE(object.as_ptr()) } as usize;
        // Python does not run while this is held, so that no other thread waits for both locks.
        let seen = SEEN.lock().unwrap_or_else(|error| error.into_inner());
        if let Some((_, kind)) = seen.iter().find(|(one, _)| *one == address) {
            return Ok(*kind);
        }
        drop(seen);
        let class = object.get_type();
        let kind = Kind::of_type(object, &class)?;
        let mut seen = SEEN.lock().unwrap_or_else(|error| error.into_inner());
        if seen.len() < MOST_TYPES && seen.iter().all(|(one, _)| *one != address) {
            seen.push((address, kind));
            std::mem::forget(class.clone().unbind());
        }
        Ok(kind)
    }

    fn of_type(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> PyResult<Kind> {
        if class.hasattr("__dlpack__")? {
            if is_plain(class)?
                && let Some(exchange) = Exchange::of(class)?
                && exchange.tensor.is_some()
            {
                return Ok(Kind::Exchange(Library::of(exchange, object)?));
            }
            return Ok(Kind::Dlpack);
        }
        Ok(if class.hasattr("__index__")? {
            Kind::Index
        } else if class.hasattr("__float__")? {
            Kind::Float
        } else {
            Kind::Other
        })
    }
}

/// Tells whether objects of a type are tensors themselves. What derives of PyTorch's tensors may be none (fake ones, those that are spread
/// over GPUs): its `__dlpack__` says so. Parameters are.
fn is_plain(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let has = |class: &Bound<'_, PyType>| -> PyResult<bool> {
        class
            .getattr("__dict__")?
            .contains("__dlpack_c_exchange_api__")
    };
    if has(class)? {
        return Ok(true);
    }
    let is_parameter = class.name()? == "Parameter" && class.module()? == "torch.nn.parameter";
    Ok(is_parameter && has(&class.getattr("__base__")?.cast_into::<PyType>()?)?)
}

/// Tells whether a device is a GPU of CUDA.
pub(crate) fn is_cuda(kind: i32) -> bool {
    matches!(kind, DL_CUDA | DL_CUDA_MANAGED)
}

/// A tensor that an object hands over by `__dlpack__`.
pub(crate) struct Handed<'py> {
    /// The tensor, as long as the capsule is there.
    pub(crate) tensor: DLTensor,
    /// True where it may only be read.
    pub(crate) is_read_only: bool,
    /// The owner.
    pub(crate) capsule: Bound<'py, PyAny>,
}

/// Tells whether the elements of a tensor that is handed over by `__dlpack__` are those in memory with the other sign.
pub(crate) fn is_negated(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Negated::of(object)?.holds(object)
}

/// Asks an object for its tensor.
pub(crate) fn handed<'py>(object: &Bound<'py, PyAny>) -> PyResult<Handed<'py>> {
    let py = object.py();
    let place = object.call_method0(intern!(py, "__dlpack_device__"))?;
    let kind: i32 = place.get_item(0)?.extract()?;
    let how = PyDict::new(py);
    if is_cuda(kind) {
        // Nothing is waited for: the kernel is queued on the stream on which the tensor is used.
        how.set_item(intern!(py, "stream"), -1)?;
    }
    let name = intern!(py, "__dlpack__");
    let newer = how.copy()?;
    newer.set_item(intern!(py, "max_version"), (1, 0))?;
    let capsule = match object.call_method(name, (), Some(&newer)) {
        // One that does not know versions.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            object.call_method(name, (), Some(&how))?
        }
        other => other?,
    };
    let pointer = |name: &std::ffi::CStr| {
        // SAFETY: the capsule is alive; the name is compared first.
        unsafe {
            match ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) {
                0 => None,
                _ => NonNull::new(ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr())),
            }
        }
    };
    if let Some(managed) = pointer(c"dltensor") {
        // SAFETY: a capsule of that name has such a struct, as long as it is there.
        let managed = unsafe { managed.cast::<DLManagedTensor>().as_ref() };
        return Ok(Handed {
            tensor: managed.dl_tensor,
            is_read_only: false,
            capsule,
        });
    }
    let Some(managed) = pointer(c"dltensor_versioned") else {
        return Err(PyTypeError::new_err("what it gives is no tensor of DLPack"));
    };
    let managed = managed.cast::<DLManagedTensorVersioned>();
    // SAFETY: a capsule of that name begins with a version.
    let major = unsafe { (*managed.as_ptr()).version.major };
    if major != DLPACK_MAJOR {
        let text =
            format!("expected a tensor of DLPack {DLPACK_MAJOR}, found one of DLPack {major}");
        return Err(PyTypeError::new_err(text));
    }
    // SAFETY: it is such a struct in that version, as long as the capsule is there.
    let managed = unsafe { managed.as_ref() };
    Ok(Handed {
        tensor: managed.dl_tensor,
        is_read_only: managed.flags & DLPACK_READ_ONLY != 0,
        capsule,
    })
}

/// The stream that PyTorch uses now on a GPU; the default one where it is not loaded.
pub(crate) fn stream_of_torch(py: Python<'_>, gpu: i32) -> PyResult<usize> {
    let modules = py
        .import(intern!(py, "sys"))?
        .getattr(intern!(py, "modules"))?;
    let torch = modules.call_method1(intern!(py, "get"), ("torch",))?;
    if torch.is_none() {
        return Ok(0);
    }
    let stream = torch
        .getattr("cuda")?
        .call_method1("current_stream", (gpu,))?;
    stream.getattr("cuda_stream")?.extract()
}

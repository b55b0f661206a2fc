//! Host tensors: elements in memory as a CuTe layout places them.

mod access;
mod array;
mod fill;
mod native;
mod npy;
mod small;

pub use access::{Matrix, round_to};
pub use array::Array;
pub use fill::Distribution;
pub(crate) use fill::{SplitMix, mix};
pub use native::{Elements, ElementsMut, Native, ViewError};
pub use npy::{NpyError, npy_shape};

use crate::element::Element;
use crate::layout::{LayoutError, Parsed, Pattern};
use crate::package::{Access, Arg, Function, Number};

/// Every byte of memory that nothing has written yet. As a float of any width it is a NaN, and not
/// the one that NVIDIA GPUs compute (`0x7fff`, `0x7fffffff`), so that "never written" and "computed
/// a NaN" can be told apart.
pub const POISON: u8 = 0xff;

/// A tensor in host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTensor {
    element: Element,
    layout: Parsed,
    /// `cosize` elements, little endian.
    bytes: Vec<u8>,
}

impl HostTensor {
    /// A tensor whose every byte, between its elements too, is [`POISON`].
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has not enough memory.
    pub fn poisoned(element: Element, layout: Parsed) -> Result<HostTensor, OutOfMemory> {
        HostTensor::of_byte(element, layout, POISON)
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has not enough memory.
    pub fn zeroed(element: Element, layout: Parsed) -> Result<HostTensor, OutOfMemory> {
        HostTensor::of_byte(element, layout, 0)
    }

    /// A tensor of the first of these bytes.
    ///
    /// # Errors
    /// Why it has no such bytes.
    pub(crate) fn of_bytes(
        element: Element,
        layout: Parsed,
        bytes: &[u8],
    ) -> Result<HostTensor, String> {
        // A layout spans at most 2^40 elements, so this does not overflow.
        let length = layout.cosize() as usize * element.size();
        let Some(own) = bytes.get(..length) else {
            return Err(format!("needs {length} bytes, and has {}", bytes.len()));
        };
        let mut tensor = HostTensor::of_byte(element, layout, POISON).map_err(|e| e.to_string())?;
        tensor.bytes.copy_from_slice(own);
        Ok(tensor)
    }

    /// A number as a function takes it: a tensor of one element.
    ///
    /// # Errors
    /// Why the type does not hold the number. Floating-point numbers are rounded to nearest.
    pub fn scalar(element: Element, value: Number) -> Result<HostTensor, String> {
        let bytes = scalar_bytes(element, value)?;
        let layout = Parsed::parse("1:0").map_err(|error| error.to_string())?;
        let mut tensor = HostTensor::zeroed(element, layout).map_err(|error| error.to_string())?;
        tensor.bytes.copy_from_slice(&bytes[..element.size()]);
        Ok(tensor)
    }

    /// The first element, if it is an integer.
    pub(crate) fn integer(&self) -> Option<i64> {
        scalar_integer(self.element, &self.bytes)
    }

    fn of_byte(element: Element, layout: Parsed, byte: u8) -> Result<HostTensor, OutOfMemory> {
        // A layout spans at most 2^40 elements, so this does not overflow.
        let length = layout.cosize() as usize * element.size();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| OutOfMemory {
            bytes: length as u64,
        })?;
        bytes.resize(length, byte);
        Ok(HostTensor {
            element,
            layout,
            bytes,
        })
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Returns the layout that places the elements in memory.
    pub fn layout(&self) -> &Parsed {
        &self.layout
    }

    /// The memory from the first element to the last, as the GPU sees it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same memory, to be changed: bytes between elements too.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The element at an index into the layout; none outside of it. `i64` above 2^53 is rounded.
    pub fn get(&self, index: i64) -> Option<f64> {
        let inside = (0..self.layout.size()).contains(&index);
        inside.then(|| access::load(self.element, &self.bytes, self.layout.at(index)))
    }

    /// The element at an index into the layout as the integer that it is; none outside of it, and of other types.
    pub fn integer_at(&self, index: i64) -> Option<i64> {
        let inside = (0..self.layout.size()).contains(&index);
        let bytes = inside.then(|| self.element_bytes(self.layout.at(index)));
        scalar_integer(self.element, bytes?)
    }

    /// The element at an offset, in elements, which is within the layout's cosize.
    pub(crate) fn load(&self, offset: i64) -> f64 {
        access::load(self.element, &self.bytes, offset)
    }

    /// The bytes of the element at such an offset.
    pub(crate) fn element_bytes(&self, offset: i64) -> &[u8] {
        let size = self.element.size();
        let at = offset as usize * size;
        &self.bytes[at..at + size]
    }

    /// Tells whether the element at an index into the layout still has the bytes that outputs have before a launch; false outside of the
    /// layout.
    pub fn is_unwritten(&self, index: i64) -> bool {
        let inside = (0..self.layout.size()).contains(&index);
        inside && access::is_poison(self.element_bytes(self.layout.at(index)))
    }

    /// Writes an element, rounded to the element type; nothing outside of the layout.
    pub fn set(&mut self, index: i64, value: f64) {
        if (0..self.layout.size()).contains(&index) {
            let offset = self.layout.at(index);
            access::store(self.element, &mut self.bytes, offset, value);
        }
    }

    /// The coordinate of an index, one number for each top-level mode.
    pub fn coordinate(&self, index: i64) -> Vec<i64> {
        self.layout.coordinate(index)
    }
}

/// The bytes of a number as a kernel takes it, little endian, and zeros behind them.
///
/// # Errors
/// Why the type does not hold the number. Floating-point numbers are rounded to nearest.
pub(crate) fn scalar_bytes(element: Element, value: Number) -> Result<[u8; 8], String> {
    let mut bytes = [0; 8];
    if element.is_float() {
        let real = value.to_f64();
        access::store(element, &mut bytes, 0, real);
        if access::load(element, &bytes, 0).is_finite() != real.is_finite() {
            return Err(format!("{value} is too large for {element}"));
        }
        return Ok(bytes);
    }
    let integer = match value {
        Number::Integer(value) => Some(value),
        Number::Real(real) if real.fract() == 0.0 && real.abs() < 2f64.powi(53) => {
            Some(real as i64)
        }
        Number::Real(_) => None,
    };
    let integer =
        integer.ok_or_else(|| format!("{value} is no integer, and the type is {element}"))?;
    let size = element.size();
    bytes[..size].copy_from_slice(&integer.to_le_bytes()[..size]);
    if scalar_integer(element, &bytes) != Some(integer) {
        return Err(format!("{value} does not fit {element}"));
    }
    Ok(bytes)
}

/// The first element of some bytes, if it is an integer.
pub(crate) fn scalar_integer(element: Element, bytes: &[u8]) -> Option<i64> {
    let first = |size: usize| bytes.get(..size);
    match element {
        Element::I8 => Some(i64::from(*bytes.first()? as i8)),
        Element::U8 => Some(i64::from(*bytes.first()?)),
        Element::I32 => Some(i32::from_le_bytes(first(4)?.try_into().ok()?).into()),
        Element::I64 => Some(i64::from_le_bytes(first(8)?.try_into().ok()?)),
        _ => None,
    }
}

/// A tensor that the host has no memory for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tensor of {bytes} bytes does not fit into this machine's memory; use smaller tensors")]
pub struct OutOfMemory {
    /// Bytes of the tensor's memory.
    pub bytes: u64,
}

/// The statement on an argument that a caller has to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// The value of a scalar.
    Value,
    /// The shape or the layout of a tensor.
    Shape,
}

impl std::fmt::Display for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Statement::Value => "one, Given::Value",
            Statement::Shape => "one, Given::Shape or Given::Layout",
        })
    }
}

/// An argument that a function cannot take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// The number of arguments is wrong.
    #[error("function {function} takes {expected} arguments, found {found}")]
    Count {
        /// The name of the function.
        function: String,
        /// Arguments that the function takes.
        expected: usize,
        /// Arguments that were given.
        found: usize,
    },
    /// A tensor's elements are of another type than the argument's.
    #[error("argument {name}: expected elements of type {expected}, found {found}")]
    Element {
        /// The name of the argument.
        name: String,
        /// MLIR's name of the argument's type: `f16`.
        expected: String,
        /// The type of the tensor's elements.
        found: Element,
    },
    /// A tensor's layout is none that the argument can have.
    #[error("argument {name}: expected layout {expected}, found {found}{}{reason}", if reason.is_empty() { "" } else { ": " })]
    Layout {
        /// The name of the argument.
        name: String,
        /// CuTe text of the argument's layout.
        expected: String,
        /// CuTe text of the tensor's layout.
        found: String,
        /// The difference, and the cure; may be empty.
        reason: String,
    },
    /// Tensors that do not fit together.
    #[error("function {function}: expected {expected}, found {found}{}{cure}", if cure.is_empty() { "" } else { "; " })]
    Shapes {
        /// The name of the function.
        function: String,
        /// The shapes that fit together.
        expected: String,
        /// The shapes of the tensors.
        found: String,
        /// The cure; may be empty.
        cure: String,
    },
    /// A call that these arguments do not allow.
    #[error("function {function}: {reason}")]
    Call {
        /// The name of the function.
        function: String,
        /// The condition that does not hold, or what is wrong with the workspace.
        reason: String,
    },
    /// A launch that these arguments do not allow.
    #[error("launch of {kernel}: {reason}")]
    Launch {
        /// The name of the kernel.
        kernel: String,
        /// The condition that does not hold, or the size that is beyond a limit.
        reason: String,
    },
    /// The caller leaves open what the package leaves open too.
    #[error("argument {name}: expected {what}, which the package leaves open; give {statement}")]
    Missing {
        /// The name of the argument.
        name: String,
        /// The missing statement: `a value of type f32`.
        what: String,
        /// The kind of statement that is missing.
        statement: Statement,
    },
    /// The caller's statement does not suit the argument.
    #[error("argument {name}: {reason}")]
    Unsuitable {
        /// The name of the argument.
        name: String,
        /// The reason, with what the argument takes.
        reason: String,
    },
    /// A layout cannot be read, or has not the modes that are needed.
    #[error("argument {name}: {error}")]
    BadLayout {
        /// The name of the argument.
        name: String,
        /// The text of the layout, and the reason.
        error: LayoutError,
    },
    /// The host has no memory for a tensor.
    #[error("argument {name}: {error}")]
    OutOfMemory {
        /// The name of the argument.
        name: String,
        /// The bytes that the tensor takes.
        error: OutOfMemory,
    },
    /// The package names an element type that there is not.
    #[error("argument {name}: {error}")]
    BadElement {
        /// The name of the argument.
        name: String,
        /// The name that is no element type's.
        error: crate::element::UnknownElement,
    },
}

/// The caller's statement on an argument before there is a tensor for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Given {
    /// No statement: the argument's type, or its default, says all.
    #[default]
    Nothing,
    /// The layout of a tensor.
    Layout(Parsed),
    /// Elements of each mode; strides follow as [`Pattern::for_shape`] says.
    Shape(Vec<i64>),
    /// The value of a scalar.
    Value(Number),
}

/// A poisoned tensor as an argument describes it.
///
/// # Errors
/// As [`tensor_given`].
pub fn tensor_for(arg: &Arg) -> Result<HostTensor, ArgError> {
    tensor_given(arg, &Given::Nothing)
}

/// A poisoned tensor as an argument and the caller describe it, or a scalar.
///
/// # Errors
/// If what the package leaves open is not given, or does not suit; if there is no memory for it; if its layout or element
/// type cannot be read, which no package that was loaded has.
pub fn tensor_given(arg: &Arg, given: &Given) -> Result<HostTensor, ArgError> {
    let name = || arg.name().to_string();
    let unsuitable = |reason: String| ArgError::Unsuitable {
        name: name(),
        reason,
    };
    let element: Element = arg
        .element()
        .parse()
        .map_err(|error| ArgError::BadElement {
            name: name(),
            error,
        })?;
    let layout = match (arg, given) {
        (Arg::Scalar { default, .. }, Given::Nothing | Given::Value(_)) => {
            let value = match given {
                Given::Value(value) => Some(*value),
                _ => *default,
            };
            let value = value.ok_or_else(|| ArgError::Missing {
                name: name(),
                what: format!("a value of type {element}"),
                statement: Statement::Value,
            })?;
            return HostTensor::scalar(element, value).map_err(unsuitable);
        }
        (Arg::Scalar { .. }, _) => {
            return Err(unsuitable(format!(
                "it is a scalar of type {element}, and has no layout"
            )));
        }
        (Arg::Tensor { .. }, Given::Value(_)) => {
            return Err(unsuitable("it is a tensor, and takes no number".into()));
        }
        (Arg::Tensor { layout, .. }, given) => {
            let pattern = Pattern::parse(layout).map_err(|error| ArgError::BadLayout {
                name: name(),
                error,
            })?;
            let found = match given {
                Given::Layout(found) => found.clone(),
                Given::Shape(sizes) => pattern.for_shape(sizes).map_err(unsuitable)?,
                _ if pattern.is_static() => {
                    Parsed::parse(layout).map_err(|error| ArgError::BadLayout {
                        name: name(),
                        error,
                    })?
                }
                _ => pattern.only().ok_or_else(|| ArgError::Missing {
                    name: name(),
                    what: format!("a shape for layout {layout}"),
                    statement: Statement::Shape,
                })?,
            };
            pattern
                .leaves_of(&found)
                .map_err(|reason| ArgError::Layout {
                    name: name(),
                    expected: layout.clone(),
                    found: found.text().to_string(),
                    reason,
                })?;
            found
        }
    };
    HostTensor::poisoned(element, layout).map_err(|error| ArgError::OutOfMemory {
        name: name(),
        error,
    })
}

/// Tensors for all arguments of a function: random ones where it reads, poisoned ones where it only
/// writes. An argument's values depend on `seed`, its place in the list and its coordinates alone,
/// not on its layout.
///
/// # Errors
/// As [`tensor_given`].
pub fn generate(function: &Function, seed: u64) -> Result<Vec<HostTensor>, ArgError> {
    generate_given(function, &[], seed)
}

/// Makes tensors as [`generate`] does, with what the caller says of each argument; what is missing at the end is nothing.
///
/// # Errors
/// As [`tensor_given`].
pub fn generate_given(
    function: &Function,
    given: &[Given],
    seed: u64,
) -> Result<Vec<HostTensor>, ArgError> {
    let tensors = function.args.iter().enumerate().map(|(i, arg)| {
        let mut tensor = tensor_given(arg, given.get(i).unwrap_or(&Given::Nothing))?;
        if arg.is_tensor() && arg.access().reads() {
            tensor.fill_random(
                Distribution::default_for(tensor.element()),
                fill::mix(seed, i as u64),
            );
        }
        Ok(tensor)
    });
    let mut tensors = tensors.collect::<Result<Vec<_>, ArgError>>()?;
    let known = match function.views.is_empty() {
        true => None,
        // Arguments that do not suit are told of where they are used.
        false => crate::plan::known(function, &tensors, None).ok(),
    };
    let rows_of = |tensors: &[HostTensor], of: usize| match of.checked_sub(tensors.len()) {
        None => tensors[of].layout().shape().first().copied(),
        Some(view) => {
            let layout = function.views.get(view)?.layout(known.as_ref()?).ok()?;
            layout.shape().first().copied()
        }
    };
    // Indices are of rows that there are, and of some that there are not.
    for compute in &function.computes {
        for (index, of) in compute.indices() {
            let rows = rows_of(&tensors, of);
            if let (Some(rows), Some(index_of)) = (rows, tensors.get_mut(index)) {
                let indices = Distribution::Integers {
                    low: -1,
                    high: i32::try_from(rows).unwrap_or(i32::MAX),
                };
                index_of.fill_random(indices, fill::mix(seed, index as u64));
            }
        }
        if let Some((ends, of)) = compute.groups() {
            let rows = rows_of(&tensors, of);
            if let (Some(rows), Some(ends_of)) = (rows, tensors.get_mut(ends)) {
                fill_ends(ends_of, rows, fill::mix(seed, ends as u64), seed % 2 == 1);
            }
        }
    }
    Ok(tensors)
}

/// Fills a tensor with ends of groups of rows, drawn at random; the last group ends where the rows do, or anywhere where it is `open`.
fn fill_ends(tensor: &mut HostTensor, rows: i64, seed: u64, open: bool) {
    let high = i32::try_from(rows).unwrap_or(i32::MAX);
    tensor.fill_random(Distribution::Integers { low: 0, high }, seed);
    let count = tensor.layout().size();
    let mut ends: Vec<i64> = (0..count)
        .map(|at| tensor.get(at).unwrap_or(0.0) as i64)
        .collect();
    ends.sort_unstable();
    if let (Some(last), false) = (ends.last_mut(), open) {
        *last = rows;
    }
    for (at, end) in (0..count).zip(ends) {
        tensor.set(at, end as f64);
    }
}

/// Checks that the tensors are what the function takes, before anything touches a device.
///
/// # Errors
/// [`ArgError`] for the first that is not.
pub fn check_args(function: &Function, tensors: &[HostTensor]) -> Result<(), ArgError> {
    crate::plan::check(function, tensors).map(drop)
}

/// The first byte between elements of an output, from 0 at the start of the tensor, that a launch changed although no element lies there.
pub fn changed_gap(arg: &Arg, tensor: &HostTensor) -> Option<usize> {
    if arg.access() != Access::Write {
        return None;
    }
    tensor.first_gap_not(POISON)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(element: Element, layout: &str) -> HostTensor {
        HostTensor::poisoned(element, Parsed::parse(layout).unwrap()).unwrap()
    }

    #[test]
    fn poison_is_nan_in_every_float() {
        for element in [Element::F16, Element::Bf16, Element::F32, Element::F64] {
            assert!(
                tensor(element, "(2,2):(1,2)").get(3).unwrap().is_nan(),
                "{element}"
            );
        }
    }

    #[test]
    fn elements_lie_where_the_layout_says() {
        for element in Element::ALL {
            let mut t = tensor(element, "(2,3):(4,1)");
            assert_eq!(t.bytes().len(), 7 * element.size());
            for i in 0..6 {
                t.set(i, i as f64);
            }
            for i in 0..6 {
                assert_eq!(t.get(i), Some(i as f64), "{element}");
                assert_eq!(access::load(element, t.bytes(), t.layout().at(i)), i as f64);
            }
            assert_eq!((t.get(6), t.get(-1)), (None, None));
            let gap = 3 * element.size();
            assert_eq!(t.first_gap_not(POISON), None);
            t.bytes_mut()[gap] = 0;
            assert_eq!(t.first_gap_not(POISON), Some(gap));
        }
    }

    #[test]
    fn values_round_to_the_element_type() {
        let mut t = tensor(Element::F16, "1:1");
        for (value, stored) in [
            (1.0 + 1.0 / 4096.0, 1.0),
            (1e9, f64::INFINITY),
            (-0.1, -0.0999755859375),
        ] {
            t.set(0, value);
            assert_eq!(t.get(0), Some(stored));
        }
        // Above 1.5 ulp by less than an f32 can tell: rounding through f32 would give the wrong
        // neighbour.
        t.set(0, 1.0 + 1.5 / 1024.0 - 1e-12);
        assert_eq!(t.get(0), Some(1.0 + 1.0 / 1024.0));
        let mut t = tensor(Element::I8, "1:1");
        t.set(0, 300.0);
        assert_eq!(t.get(0), Some(127.0));
    }

    #[test]
    fn coordinates_are_colexicographic() {
        let t = tensor(Element::F32, "((2,2),3):((1,2),4)");
        assert_eq!(t.coordinate(0), [0, 0]);
        assert_eq!(t.coordinate(7), [3, 1]);
    }

    #[test]
    fn arguments_are_checked() {
        let arg = |name: &str, access| Arg::Tensor {
            name: name.into(),
            element: "f16".into(),
            layout: "(4,4):(4,1)".into(),
            align: 16,
            access,
        };
        let function = Function::new(
            "f",
            vec![arg("A", Access::Read), arg("C", Access::Write)],
            vec![],
        );
        let tensors = generate(&function, 1).unwrap();
        assert_eq!(check_args(&function, &tensors), Ok(()));
        assert!((0..16).all(|i| tensors[0].get(i).unwrap().is_finite()));
        assert!((0..16).all(|i| tensors[1].get(i).unwrap().is_nan()));
        assert!(matches!(
            check_args(&function, &tensors[..1]),
            Err(ArgError::Count {
                expected: 2,
                found: 1,
                ..
            })
        ));
        let wrong = [tensors[0].clone(), tensor(Element::F32, "(4,4):(4,1)")];
        let error = check_args(&function, &wrong).unwrap_err().to_string();
        assert_eq!(
            error,
            "argument C: expected elements of type f16, found f32"
        );
        let wrong = [tensors[0].clone(), tensor(Element::F16, "(4,4):(1,4)")];
        let error = check_args(&function, &wrong).unwrap_err().to_string();
        assert_eq!(
            error,
            "argument C: expected layout (4,4):(4,1), found (4,4):(1,4)"
        );
    }
}

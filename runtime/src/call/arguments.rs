//! Arguments as a function asks for them: checked in a few steps, and explained where one does not suit.

use smallvec::SmallVec;

use super::error::{ArgumentError, CallError, Problem};
use super::flat::Register;
use super::view::{Argument, MOST, Memory, TensorView, compact};
use crate::element::Element;
use crate::layout::{Parsed, Pattern};
use crate::package::{Arg, Function};
use crate::plan::{Facts, Signature};
use crate::tensor::{ArgError, HostTensor, OutOfMemory, scalar_bytes, scalar_integer};

/// Dimensions of tensors that need no memory from the heap.
const FEW: usize = 8;

/// The value that a leaf of a layout must have.
#[derive(Clone, Copy, Debug)]
enum Want {
    Known(i64),
    /// The dividend of `div`, from 0 to `most`; a register keeps it.
    Open {
        most: i64,
        div: i64,
        register: Register,
    },
}

impl Want {
    #[inline]
    fn takes(self, value: i64) -> bool {
        match self {
            Want::Known(known) => value == known,
            // Nearly all are powers of two, and few are 1.
            Want::Open { most, div, .. } => {
                (0..=most).contains(&value)
                    && match div & (div - 1) {
                        0 => value & (div - 1) == 0,
                        _ => value % div == 0,
                    }
            }
        }
    }

    #[inline]
    fn keep(self, value: i64, registers: &mut [i64]) {
        if let Want::Open { register, .. } = self {
            registers[usize::from(register)] = value;
        }
    }
}

/// A dimension of a tensor argument: a leaf of its layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimension {
    extent: Want,
    stride: Want,
}

/// An argument as it must be.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    Tensor {
        element: Element,
        align: u64,
        written: bool,
        dimensions: Box<[Dimension]>,
    },
    Number {
        element: Element,
        /// The register of an integer.
        register: Option<Register>,
        /// The bytes of the default.
        default: Option<[u8; 8]>,
    },
}

/// An argument that suits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// The address of the tensor, or the bytes of the number.
    pub(super) value: u64,
    /// Bytes of the tensor's memory.
    pub(super) bytes: u64,
    /// Tells whether the tensor has no element.
    pub(super) is_empty: bool,
}

/// All arguments of a call.
pub(super) type All = SmallVec<[Taken; 8]>;

impl Asked {
    /// The argument as a function's signature says it; `registers` are those of its dynamic leaves.
    pub(super) fn of(
        arg: &Arg,
        pattern: Option<&Pattern>,
        registers: &[Register],
        integer: Option<Register>,
    ) -> Result<Asked, ArgError> {
        let element: Element = arg
            .element()
            .parse()
            .map_err(|error| ArgError::BadElement {
                name: arg.name().to_owned(),
                error,
            })?;
        match (arg, pattern) {
            (Arg::Tensor { align, access, .. }, Some(pattern)) => {
                let mut open = pattern.dynamic_leaves().into_iter().zip(registers);
                // Leaves of the shape come first, and then those of the stride.
                let mut wants = |known: Vec<Option<i64>>| -> Vec<Want> {
                    let want = |known: Option<i64>| match known {
                        Some(value) => Want::Known(value),
                        None => open.next().map_or(Want::Known(-1), |(leaf, register)| {
                            let most = match (leaf.div, leaf.width) {
                                (0, _) => 0,
                                (_, 32) => i64::from(i32::MAX),
                                _ => i64::MAX,
                            };
                            Want::Open {
                                most,
                                div: leaf.div.max(1),
                                register: *register,
                            }
                        }),
                    };
                    known.into_iter().map(want).collect()
                };
                let [shape, stride] = pattern.known_leaves();
                let (extents, strides) = (wants(shape), wants(stride));
                let dimensions = extents.into_iter().zip(strides);
                let dimensions = dimensions.map(|(extent, stride)| Dimension { extent, stride });
                Ok(Asked::Tensor {
                    element,
                    align: u64::from(*align),
                    written: access.writes(),
                    dimensions: dimensions.collect(),
                })
            }
            (arg, _) => {
                let default = match arg {
                    Arg::Scalar { default, .. } => *default,
                    Arg::Tensor { .. } => None,
                };
                let bytes = default.map(|value| scalar_bytes(element, value));
                let default = bytes.transpose().map_err(|reason| ArgError::Unsuitable {
                    name: arg.name().to_owned(),
                    reason,
                })?;
                Ok(Asked::Number {
                    element,
                    register: integer,
                    default,
                })
            }
        }
    }

    /// Takes an argument that suits; registers become its leaves.
    #[inline]
    pub(super) fn take(
        &self,
        argument: &Argument,
        memory: Memory,
        registers: &mut [i64],
    ) -> Option<Taken> {
        match (self, argument) {
            (
                Asked::Tensor {
                    element,
                    align,
                    written,
                    dimensions,
                },
                Argument::Tensor(view),
            ) => {
                let suits = is_of(*element, view.element)
                    && view.memory == memory
                    && (view.writable || !written)
                    && view.shape.len() == dimensions.len();
                if !suits {
                    return None;
                }
                let mut own = [0; FEW];
                let strides = match view.strides {
                    Some(strides) => strides,
                    None => {
                        let own = own.get_mut(..view.shape.len())?;
                        compact(view.shape, own);
                        own
                    }
                };
                let (mut size, mut last) = (1i64, 0i64);
                let leaves = view.shape.iter().zip(strides);
                for (want, (&extent, &stride)) in dimensions.iter().zip(leaves) {
                    if !want.extent.takes(extent) || !want.stride.takes(stride) {
                        return None;
                    }
                    want.extent.keep(extent, registers);
                    want.stride.keep(stride, registers);
                    let span = (extent - 1).max(0).checked_mul(stride)?;
                    size = size.checked_mul(extent).filter(|size| *size <= MOST)?;
                    last = last.checked_add(span).filter(|last| *last < MOST)?;
                }
                let is_empty = size == 0;
                let elements = if is_empty { 0 } else { last as u64 + 1 };
                let bytes = elements * element.size() as u64;
                let at = view.address;
                let lies =
                    is_empty || at != 0 && at & (align - 1) == 0 && at.checked_add(bytes).is_some();
                lies.then_some(Taken {
                    value: at,
                    bytes,
                    is_empty,
                })
            }
            (
                Asked::Number {
                    element,
                    register,
                    default,
                },
                argument,
            ) => {
                let bytes = match argument {
                    Argument::Number(value) => scalar_bytes(*element, *value).ok()?,
                    Argument::Default => (*default)?,
                    Argument::Tensor(_) => return None,
                };
                if let Some(register) = register {
                    registers[usize::from(*register)] = scalar_integer(*element, &bytes)?;
                }
                Some(Taken {
                    value: u64::from_le_bytes(bytes),
                    ..Taken::default()
                })
            }
            (Asked::Tensor { .. }, _) => None,
        }
    }
}

/// Tells whether elements are those of an argument. In memory, `tf32` is `f32`.
fn is_of(asked: Element, found: Element) -> bool {
    asked == found || (asked, found) == (Element::Tf32, Element::F32)
}

/// An argument that was looked at in full: as general code takes it.
pub(super) struct Described {
    element: Element,
    layout: Parsed,
    number: [u8; 8],
    pub(super) taken: Taken,
}

impl Facts for Described {
    fn element(&self) -> Element {
        self.element
    }

    fn layout(&self) -> &Parsed {
        &self.layout
    }

    fn integer(&self) -> Option<i64> {
        scalar_integer(self.element, &self.number)
    }

    fn number_bytes(&self) -> &[u8] {
        &self.number[..self.element.size()]
    }
}

impl Described {
    /// The tensor in memory of its own, poisoned; of a number, the number.
    pub(super) fn tensor(&self, is_tensor: bool) -> Result<HostTensor, OutOfMemory> {
        let mut tensor = HostTensor::poisoned(self.element, self.layout.clone())?;
        if !is_tensor {
            tensor.bytes_mut().copy_from_slice(self.number_bytes());
        }
        Ok(tensor)
    }

    /// Bytes of an element.
    pub(super) fn size(&self) -> u64 {
        self.element.size() as u64
    }

    /// The offsets of elements.
    pub(super) fn places(&self) -> impl Iterator<Item = i64> {
        self.layout.places()
    }
}

/// Looks at each argument in full.
///
/// # Errors
/// [`CallError`]: the first argument that does not suit, with the reason.
pub(super) fn describe(
    function: &Function,
    signature: &Signature,
    asked: &[Asked],
    arguments: &[Argument],
    memory: Memory,
) -> Result<Vec<Described>, CallError> {
    if arguments.len() != function.args.len() {
        return Err(CallError::Count {
            function: function.name.clone(),
            expected: function.args.len(),
            found: arguments.len(),
        });
    }
    let all = function.args.iter().zip(asked).zip(arguments).enumerate();
    let describe = |(index, ((arg, asked), argument)): (usize, ((&Arg, &Asked), &Argument))| {
        let wrong = |Wrong(problem, [expected, found, cure])| {
            CallError::from(Box::new(ArgumentError {
                function: function.name.clone(),
                index,
                name: arg.name().to_owned(),
                problem,
                expected,
                found,
                cure,
            }))
        };
        match (asked, signature.pattern(index), argument) {
            (Asked::Tensor { .. }, Some(pattern), Argument::Tensor(view)) => {
                tensor(asked, pattern, view, memory).map_err(wrong)
            }
            _ => number(arg, asked, argument).map_err(wrong),
        }
    };
    all.map(describe).collect()
}

/// An argument that does not suit: what was expected, what was found, and the cure.
struct Wrong(Problem, [String; 3]);

fn wrong<T>(
    problem: Problem,
    expected: impl Into<String>,
    found: impl Into<String>,
    cure: &str,
) -> Result<T, Wrong> {
    Err(Wrong(
        problem,
        [expected.into(), found.into(), cure.to_owned()],
    ))
}

fn number(arg: &Arg, asked: &Asked, argument: &Argument) -> Result<Described, Wrong> {
    let Asked::Number {
        element, default, ..
    } = asked
    else {
        let found = match argument {
            Argument::Number(value) => format!("the number {value}"),
            _ => "no argument".to_owned(),
        };
        return wrong(
            Problem::Kind,
            format!("a tensor of {}", arg.element()),
            found,
            "",
        );
    };
    let bytes = match (argument, default) {
        (Argument::Number(value), _) => match scalar_bytes(*element, *value) {
            Ok(bytes) => bytes,
            Err(reason) => {
                let expected = format!("a number of type {element}");
                return wrong(Problem::Number, expected, value.to_string(), &reason);
            }
        },
        (Argument::Default, Some(bytes)) => *bytes,
        (Argument::Default, None) => {
            let expected = format!("a number of type {element}");
            return wrong(
                Problem::Kind,
                expected,
                "the default, which the package does not give",
                "",
            );
        }
        (Argument::Tensor(view), _) => {
            let expected = format!("a number of type {element}");
            let found = format!("a tensor of {} {view}", view.element);
            return wrong(Problem::Kind, expected, found, "");
        }
    };
    let layout = match Parsed::parse("1:0") {
        Ok(layout) => layout,
        Err(error) => return wrong(Problem::Kind, "1:0", error.to_string(), ""),
    };
    Ok(Described {
        element: *element,
        layout,
        number: bytes,
        taken: Taken {
            value: u64::from_le_bytes(bytes),
            ..Taken::default()
        },
    })
}

fn tensor(
    asked: &Asked,
    pattern: &Pattern,
    view: &TensorView,
    memory: Memory,
) -> Result<Described, Wrong> {
    let Asked::Tensor {
        element,
        align,
        written,
        dimensions,
    } = asked
    else {
        return wrong(Problem::Kind, "a number", view.to_string(), "");
    };
    if !is_of(*element, view.element) {
        let expected = format!("elements of type {element}");
        return wrong(Problem::Element, expected, view.element.to_string(), "");
    }
    if view.memory != memory {
        let found = format!("a tensor of {}", view.memory);
        let expected = format!("a tensor in memory of {memory}");
        return wrong(
            Problem::Memory,
            expected,
            found,
            "load the function for that device, or copy the tensor",
        );
    }
    if *written && !view.writable {
        return wrong(
            Problem::ReadOnly,
            "a tensor that may be written",
            "one that may only be read",
            "",
        );
    }
    if view.shape.len() != dimensions.len() {
        return wrong(
            Problem::Rank,
            format!(
                "{} dimensions, one for each leaf of {pattern}",
                dimensions.len()
            ),
            format!("{}, {view}", view.shape.len()),
            "",
        );
    }
    let strides = own_strides(view, dimensions)?;
    let mut size = 1i64;
    let mut last = 0i64;
    for (&extent, &stride) in view.shape.iter().zip(&strides) {
        // Both were found not to be negative.
        let span = (extent - 1).max(0).checked_mul(stride);
        let whole = size.checked_mul(extent).filter(|size| *size <= MOST);
        let sum = span.and_then(|span| last.checked_add(span));
        let (Some(all), Some(end)) = (whole, sum.filter(|last| *last < MOST)) else {
            return wrong(
                Problem::Span,
                "at most 2^40 elements, from the first to the last",
                view.to_string(),
                "",
            );
        };
        (size, last) = (all, end);
    }
    let bytes = match size {
        0 => 0,
        _ => (last as u64 + 1) * element.size() as u64,
    };
    if bytes > 0 {
        let at = view.address;
        if at == 0 || at.checked_add(bytes).is_none() {
            let found = if at == 0 {
                "a null pointer".to_owned()
            } else {
                format!("{at:#x}")
            };
            let expected = format!("the address of {bytes} bytes");
            return wrong(Problem::Pointer, expected, found, "");
        }
        if !at.is_multiple_of(*align) {
            let expected = format!("an address that is a multiple of {align} bytes");
            return wrong(
                Problem::Alignment,
                expected,
                format!("{at:#x}"),
                "copy the tensor, or compile for less (align<...>)",
            );
        }
    }
    let layout = match pattern.with_leaves(view.shape, &strides) {
        Ok(layout) => layout,
        Err(error) => return wrong(Problem::Span, pattern.to_string(), error.to_string(), ""),
    };
    Ok(Described {
        element: *element,
        layout,
        number: [0; 8],
        taken: Taken {
            value: view.address,
            bytes,
            is_empty: size == 0,
        },
    })
}

/// The strides of a view as the function takes them: those that say nothing, as their dimension has one element or the tensor
/// none, are what the function asks for.
fn own_strides(view: &TensorView, dimensions: &[Dimension]) -> Result<Vec<i64>, Wrong> {
    let mut strides = view.strides();
    let is_empty = view.shape.contains(&0);
    for (at, (want, &extent)) in dimensions.iter().zip(view.shape).enumerate() {
        check(Problem::Shape, at, want.extent, extent)?;
    }
    let free = |at: usize| is_empty || view.shape[at] == 1;
    // Elements that others take, behind which one lies that is alone in its dimension.
    let mut span = 1i64;
    for (at, want) in dimensions.iter().enumerate() {
        if !free(at) {
            check(Problem::Stride, at, want.stride, strides[at])?;
            let length = (view.shape[at] - 1).saturating_mul(strides[at]);
            span = span.saturating_add(length);
        }
    }
    for (at, want) in dimensions.iter().enumerate() {
        if free(at) && !want.stride.takes(strides[at]) {
            strides[at] = match want.stride {
                Want::Known(known) => known,
                Want::Open { most, div, .. } => {
                    let behind = span.saturating_add(div - 1) / div * div;
                    if behind <= most { behind } else { 0 }
                }
            };
        }
    }
    Ok(strides)
}

fn check(problem: Problem, at: usize, want: Want, value: i64) -> Result<(), Wrong> {
    if want.takes(value) {
        return Ok(());
    }
    let what = if problem == Problem::Shape {
        "shape"
    } else {
        "stride"
    };
    let found = format!("{what}[{at}] of {value}");
    match want {
        Want::Known(known) => wrong(
            problem,
            format!("{what}[{at}] of {known}, for which it was compiled"),
            found,
            "",
        ),
        Want::Open { most, .. } if value < 0 || value > most => wrong(
            problem,
            format!("{what}[{at}] from 0 to {most}"),
            found,
            if value > most {
                "compile for ?{i64} there"
            } else {
                ""
            },
        ),
        Want::Open { div, .. } => wrong(
            problem,
            format!("{what}[{at}] to be a multiple of {div}"),
            found,
            if problem == Problem::Shape {
                "choose another size"
            } else {
                "pad the tensor"
            },
        ),
    }
}

/// The arguments with the strides that the function takes, where they differ; what each is was checked.
pub(super) fn restated<'a>(
    arguments: &[Argument<'a>],
    described: &'a [Described],
) -> SmallVec<[Argument<'a>; 8]> {
    let all = arguments.iter().zip(described);
    all.map(|(argument, described)| match argument {
        Argument::Tensor(view) => {
            let (shape, strides) = described.layout.flat();
            Argument::Tensor(view.restated(shape, strides))
        }
        other => *other,
    })
    .collect()
}

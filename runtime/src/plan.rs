//! The launches of a function for some arguments: sizes computed, parameters in bytes.

use crate::element::Element;
use crate::layout::{Parsed, Pattern};
use crate::package::{
    Arg, CandidateChoice, Environment, Expr, Function, Launch, Limits, MapParam, Param, Sizes, View,
};
use crate::tensor::{ArgError, HostTensor};
use crate::tensor_map::{
    Interleave, L2Promotion, MapElement, MapSwizzle, PixelBox, TensorMap, is_map_start,
};

/// An argument, as far as launches depend on it.
pub(crate) trait Facts {
    /// The type of the elements, or of the number.
    fn element(&self) -> Element;
    /// The layout; of a number that of one element.
    fn layout(&self) -> &Parsed;
    /// The number, if it is an integer.
    fn integer(&self) -> Option<i64>;
    /// The bytes of the number.
    fn number_bytes(&self) -> &[u8];
}

impl Facts for HostTensor {
    fn element(&self) -> Element {
        HostTensor::element(self)
    }

    fn layout(&self) -> &Parsed {
        HostTensor::layout(self)
    }

    fn integer(&self) -> Option<i64> {
        HostTensor::integer(self)
    }

    fn number_bytes(&self) -> &[u8] {
        self.bytes()
    }
}

/// A launch whose every number is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Index into [`Function::launches`].
    pub launch: usize,
    /// The name of the kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Bytes of a block.
    pub dynamic_smem: u32,
    /// Tells whether blocks may start while what is before in the stream still runs.
    pub dependent: bool,
    /// The values of the kernel's parameters, in their order.
    pub params: Vec<Value>,
}

/// A parameter that is passed to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The pointer to the tensor that is the argument of that index.
    Pointer(usize),
    /// The pointer to that byte of the tensor that is the argument of that index.
    Byte(usize, u64),
    /// The bytes of a number, little endian.
    Bytes(Vec<u8>),
    /// The pointer to that byte of the workspace, which has at least so many.
    Workspace(u64),
    /// A tensor map of a tensor that begins there, but for its address, which the device has.
    TensorMap(MapStart, TensorMap),
}

/// The place at which the tensor of a map begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapStart {
    /// The index of the argument; none of a tensor in the workspace.
    pub argument: Option<usize>,
    /// Bytes from the argument's first element on, or from the workspace's first byte on.
    pub offset: u64,
}

impl Planned {
    fn new(index: usize, launch: &Launch, sizes: Sizes, params: Vec<Value>) -> Planned {
        Planned {
            launch: index,
            kernel: launch.kernel.clone(),
            grid: sizes.grid,
            block: sizes.block,
            cluster: sizes.cluster,
            dynamic_smem: sizes.dynamic_smem,
            dependent: launch.dependent,
            params,
        }
    }

    /// The launch of that index, if it takes place and is the same for all arguments, without its parameters; none where it
    /// depends on them. Sizes of a package that was loaded are within CUDA's limits.
    pub fn fixed(function: &Function, index: usize) -> Option<Planned> {
        let launch = function.launches.get(index)?;
        if !launch.is_fixed() || launch.is_never() {
            return None;
        }
        let sizes = launch.sizes(&Environment::default()).ok()?;
        Some(Planned::new(index, launch, sizes, Vec::new()))
    }
}

/// All launches of a call, and its workspace.
pub(crate) struct Whole {
    pub(crate) launches: Vec<Planned>,
    /// Bytes.
    pub(crate) workspace: u64,
}

/// The layouts of a function's arguments, read once for many calls.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The layout of each argument that is a tensor.
    patterns: Vec<Option<Pattern>>,
    /// Bytes of each dynamic leaf of each argument.
    widths: Vec<Vec<usize>>,
    /// The sizes of the modes of each view, where they are the same for all arguments.
    views: Vec<Vec<Option<i64>>>,
}

impl Signature {
    /// Reads the layouts of a function.
    ///
    /// # Errors
    /// [`ArgError::BadLayout`], of a function that is in no package that was loaded.
    pub fn of(function: &Function) -> Result<Signature, ArgError> {
        let (mut patterns, mut widths) = (Vec::new(), Vec::new());
        for arg in &function.args {
            let pattern = match arg {
                Arg::Tensor { name, layout, .. } => {
                    let pattern = Pattern::parse(layout).map_err(|error| ArgError::BadLayout {
                        name: name.clone(),
                        error,
                    })?;
                    Some(pattern)
                }
                Arg::Scalar { .. } => None,
            };
            let leaves = pattern.as_ref().map(Pattern::dynamic_leaves);
            let leaves = leaves.unwrap_or_default().into_iter();
            widths.push(leaves.map(|leaf| leaf.width as usize / 8).collect());
            patterns.push(pattern);
        }
        let views = function.views.iter().map(View::mode_sizes).collect();
        Ok(Signature {
            patterns,
            widths,
            views,
        })
    }

    /// Does as [`plan`], for the function whose signature this is.
    ///
    /// # Errors
    /// As of [`plan`].
    pub fn plan(
        &self,
        function: &Function,
        tensors: &[HostTensor],
        sm_count: u32,
    ) -> Result<Vec<Planned>, ArgError> {
        let planned = self.plan_of(function, tensors, sm_count)?;
        Ok(planned.launches)
    }

    /// Does as [`plan`], for arguments of any kind; tells the bytes of the workspace, too.
    pub(crate) fn plan_of(
        &self,
        function: &Function,
        tensors: &[impl Facts],
        sm_count: u32,
    ) -> Result<Whole, ArgError> {
        let environment = environment(function, self, tensors, sm_count)?;
        let workspace = bytes_of_workspace(function, &environment)?;
        let mut planned = Vec::new();
        for (index, launch) in function.launches.iter().enumerate() {
            let failed = |reason: String| ArgError::Launch {
                kernel: launch.kernel.clone(),
                reason,
            };
            if let Some(when) = &launch.when {
                let takes_place = when.evaluate(&environment);
                if takes_place.map_err(|reason| failed(format!("when: {reason}")))? == 0 {
                    continue;
                }
            }
            // A grid without blocks is right where there is nothing to work on, and a mistake elsewhere.
            let mut passed = launch
                .params
                .iter()
                .filter_map(|param| Some(&tensors[param.tensor()?]));
            let grid = launch.grid.each_ref();
            let grid = grid.map(|size| size.evaluate(&environment));
            if grid.contains(&Ok(0)) && passed.any(|tensor| tensor.layout().size() == 0) {
                continue;
            }
            let sizes = launch
                .sizes(&environment)
                .map_err(|error| failed(error.to_string()))?;
            let params = launch
                .params
                .iter()
                .map(|param| value(param, (function, self), tensors, &environment, workspace))
                .collect::<Result<_, _>>()
                .map_err(failed)?;
            planned.push(Planned::new(index, launch, sizes, params));
        }
        Ok(Whole {
            launches: planned,
            workspace,
        })
    }

    /// Does as [`workspace_bytes`], for the function whose signature this is.
    ///
    /// # Errors
    /// As of [`workspace_bytes`].
    pub fn workspace_bytes(
        &self,
        function: &Function,
        tensors: &[HostTensor],
        sm_count: u32,
    ) -> Result<u64, ArgError> {
        self.workspace_of(function, tensors, sm_count)
    }

    /// Does as [`workspace_bytes`], for arguments of any kind.
    pub(crate) fn workspace_of(
        &self,
        function: &Function,
        tensors: &[impl Facts],
        sm_count: u32,
    ) -> Result<u64, ArgError> {
        bytes_of_workspace(function, &environment(function, self, tensors, sm_count)?)
    }

    /// The sizes of the modes of a view, by its index among the tensors of computes, where they are the same for all arguments.
    pub(crate) fn sizes_of_view(&self, tensor: usize) -> Option<&[Option<i64>]> {
        let view = tensor.checked_sub(self.patterns.len())?;
        self.views.get(view).map(Vec::as_slice)
    }

    /// The layout of an argument, if it is a tensor.
    pub(crate) fn pattern(&self, argument: usize) -> Option<&Pattern> {
        self.patterns.get(argument)?.as_ref()
    }
}

/// The launches that take place for some arguments, one tensor for each, on a device with `sm_count` multiprocessors; a scalar is a
/// tensor of one element.
///
/// # Errors
/// [`ArgError`]: an argument that the function does not take, shapes that do not fit together, a condition of the function that does
/// not hold, a launch that is beyond CUDA's limits, or a pointer beyond the workspace.
pub fn plan(
    function: &Function,
    tensors: &[HostTensor],
    sm_count: u32,
) -> Result<Vec<Planned>, ArgError> {
    Signature::of(function)?.plan(function, tensors, sm_count)
}

/// The bytes of device memory that a call with these arguments needs beside them, on a device with `sm_count` multiprocessors.
///
/// # Errors
/// [`ArgError`], as [`plan`] says; launches are not looked at.
pub fn workspace_bytes(
    function: &Function,
    tensors: &[HostTensor],
    sm_count: u32,
) -> Result<u64, ArgError> {
    Signature::of(function)?.workspace_bytes(function, tensors, sm_count)
}

/// The candidates of a choice for some arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// M, N, K and the number of products.
    pub extents: [i64; 4],
    /// The estimated time of each candidate in picoseconds; none of one that does not suit the arguments.
    pub times: Vec<Option<u64>>,
}

/// The candidates of each choice of a function for some arguments, as [`plan`] takes them.
///
/// # Errors
/// As of [`plan`]; launches are not looked at.
pub fn candidates(
    function: &Function,
    tensors: &[HostTensor],
    sm_count: u32,
) -> Result<Vec<Candidates>, ArgError> {
    let environment = environment(function, &Signature::of(function)?, tensors, sm_count)?;
    let number = |expr: &Expr| {
        expr.evaluate(&environment)
            .map_err(|reason| ArgError::Call {
                function: function.name.clone(),
                reason: format!("candidates: {reason}"),
            })
    };
    let of_choice = |choice: &CandidateChoice| {
        let mut extents = [0; 4];
        for (extent, expr) in extents.iter_mut().zip(&choice.extents) {
            *extent = number(expr)?;
        }
        let times = choice
            .candidates
            .iter()
            .map(|candidate| number(&candidate.time));
        let times = times.map(|time| time.map(|time| u64::try_from(time).ok()));
        Ok(Candidates {
            extents,
            times: times.collect::<Result<_, _>>()?,
        })
    };
    function.choices.iter().map(of_choice).collect()
}

/// The values that expressions depend on, for arguments that the function takes and for which its conditions hold.
fn environment(
    function: &Function,
    signature: &Signature,
    tensors: &[impl Facts],
    sm_count: u32,
) -> Result<Environment, ArgError> {
    let environment = Environment {
        sm_count: Some(sm_count),
        ..check_with(function, signature, tensors)?
    }
    .with_values(&function.values);
    for requirement in &function.requires {
        let failed = |reason: String| ArgError::Call {
            function: function.name.clone(),
            reason,
        };
        let holds = requirement.condition.evaluate(&environment);
        if holds.map_err(failed)? == 0 {
            return Err(failed(requirement.message.clone()));
        }
    }
    Ok(environment)
}

/// The values that expressions depend on, for arguments that the function takes, on a device with so many multiprocessors, if they are known.
pub(crate) fn known(
    function: &Function,
    tensors: &[HostTensor],
    sm_count: Option<u32>,
) -> Result<Environment, ArgError> {
    let environment = Environment {
        sm_count,
        ..check_with(function, &Signature::of(function)?, tensors)?
    };
    Ok(environment.with_values(&function.values))
}

fn bytes_of_workspace(function: &Function, environment: &Environment) -> Result<u64, ArgError> {
    let Some(bytes) = &function.workspace else {
        return Ok(0);
    };
    let failed = |reason: String| ArgError::Call {
        function: function.name.clone(),
        reason: format!("workspace: {reason}"),
    };
    let bytes = bytes.evaluate(environment).map_err(failed)?;
    let inside = u64::try_from(bytes).ok();
    inside
        .filter(|bytes| *bytes <= Limits::WORKSPACE)
        .ok_or_else(|| failed(format!("expected 0 to 2^40 bytes, found {bytes}")))
}

/// Checks that tensors have no byte in common where a kernel that is launched was compiled so, each given by its address and its
/// length in bytes, one for each argument.
///
/// # Errors
/// [`ArgError::Launch`]: two that overlap.
pub fn check_disjoint(
    function: &Function,
    launches: &[Planned],
    places: &[(u64, u64)],
) -> Result<(), ArgError> {
    let launches = launches
        .iter()
        .filter_map(|planned| function.launches.get(planned.launch));
    for launch in launches {
        for [a, b] in &launch.disjoint {
            let ((at_a, length_a), (at_b, length_b)) = (places[*a], places[*b]);
            // No tensor reaches beyond the end of the address space.
            if at_a < at_b + length_b && at_b < at_a + length_a {
                let (a, b) = (function.args[*a].name(), function.args[*b].name());
                return Err(ArgError::Launch {
                    kernel: launch.kernel.clone(),
                    reason: format!(
                        "the arguments {a} ({length_a} bytes at {at_a:#x}) and {b} ({length_b} bytes at {at_b:#x}) overlap, \
                         but the kernel was compiled for tensors that do not (cute.noalias); expected memory of their own"
                    ),
                });
            }
        }
    }
    Ok(())
}

/// The map that a launch makes of a tensor at an address that every map can have. Errors: what no map can have.
fn tensor_map(
    map: &MapParam,
    element: Element,
    environment: &Environment,
) -> Result<TensorMap, String> {
    let numbers = |all: &[Expr]| -> Result<Vec<i64>, String> {
        all.iter().map(|one| one.evaluate(environment)).collect()
    };
    map_of(map, element, &numbers(&map.sizes)?, &numbers(&map.strides)?)
}

/// The byte of its tensor at which a map begins. Errors: one at which none can.
fn map_offset(map: &MapParam, environment: &Environment) -> Result<u64, String> {
    let Some(offset) = map.of.offset() else {
        return Ok(0);
    };
    let offset = offset.evaluate(environment)?;
    let found = Some(offset).filter(|offset| is_map_start(*offset));
    found.map(|offset| offset as u64).ok_or_else(|| {
        format!(
            "a tensor map that begins at byte {offset} of its tensor, where TMA needs a multiple of 16 that is not negative; begin the view at an element of such a byte"
        )
    })
}

/// The map of a tensor with these sizes and strides, in elements, at an address that every map can have; of a tensor without elements, of which
/// nothing is copied, that of one element along each empty mode. Errors: what no map can have.
pub(crate) fn map_of(
    map: &MapParam,
    element: Element,
    sizes: &[i64],
    strides: &[i64],
) -> Result<TensorMap, String> {
    let element = MapElement::of(element)
        .ok_or_else(|| format!("a tensor map of {element}, which TMA does not move"))?;
    let number = |value: &i64, bytes: usize| -> Result<u64, String> {
        let value = u64::try_from(*value).ok();
        let value = value.and_then(|value| value.checked_mul(bytes as u64));
        value.ok_or_else(|| {
            "a tensor map with a size or a stride that is negative or too large".to_owned()
        })
    };
    let is_empty = sizes.contains(&0);
    let sizes = sizes.iter().map(|size| number(size, 1));
    let sizes = sizes.map(|size| size.map(|size| if is_empty { size.max(1) } else { size }));
    let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
    let strides = strides.iter().map(|stride| number(stride, element.bytes()));
    let least = if is_empty {
        u64::from(Limits::ALIGN)
    } else {
        0
    };
    let strides = strides.map(|stride| stride.map(|stride| stride.max(least)));
    let mut element_strides = vec![1; sizes.len()];
    let im2col = map.im2col.as_ref().map(|pixels| {
        for (step, stride) in element_strides.iter_mut().skip(1).zip(&pixels.strides) {
            *step = *stride;
        }
        PixelBox {
            lower: pixels.lower.clone(),
            upper: pixels.upper.clone(),
        }
    });
    // By im2col boxes are of other things than dimensions, and no rests.
    let along = sizes.iter().copied().chain(std::iter::repeat(0));
    let box_sizes = map.box_sizes.iter().zip(along);
    let box_sizes = box_sizes.map(|(elements, size)| elements.of(size));
    let box_sizes = box_sizes.collect();
    let made = TensorMap {
        element,
        address: Limits::ALIGN.into(),
        sizes,
        strides: strides.collect::<Result<_, _>>()?,
        box_sizes,
        element_strides,
        im2col,
        interleave: Interleave::None,
        swizzle: MapSwizzle::spanning(map.swizzle.span())
            .ok_or_else(|| format!("a swizzle of {} bytes", map.swizzle.span()))?,
        l2_promotion: (map.l2_promotion)
            .map_or(Some(L2Promotion::B128), L2Promotion::of_bytes)
            .ok_or("0, 64, 128 or 256 bytes that a miss brings into L2")?,
        oob_fill: map.swizzle.oob_fill(),
    };
    made.check().map_err(|error| error.to_string())?;
    Ok(made)
}

/// A byte of a workspace of so many bytes. Errors: one that is outside.
fn byte_of_workspace(offset: i64, workspace: u64) -> Result<u64, String> {
    let inside = u64::try_from(offset).ok().filter(|at| *at <= workspace);
    inside.ok_or_else(|| {
        format!("a parameter is byte {offset} of the workspace, which has {workspace}")
    })
}

fn value(
    param: &Param,
    (function, signature): (&Function, &Signature),
    tensors: &[impl Facts],
    environment: &Environment,
    workspace: u64,
) -> Result<Value, String> {
    let integer = match param {
        Param::Pointer(arg) => return Ok(Value::Pointer(*arg)),
        Param::Byte { tensor, offset } => {
            let offset = offset.evaluate(environment)?;
            let of = &tensors[*tensor];
            let bytes = of
                .layout()
                .cosize()
                .saturating_mul(of.element().size() as i64);
            let inside = u64::try_from(offset).ok().filter(|_| offset <= bytes);
            let inside = inside.ok_or_else(|| {
                let name = function.args[*tensor].name();
                format!("a parameter is byte {offset} of {name}, which has {bytes}")
            });
            return inside.map(|offset| Value::Byte(*tensor, offset));
        }
        Param::TensorMap(map) => {
            let made = tensor_map(map, tensors[map.of.like()].element(), environment)?;
            let start = MapStart {
                argument: map.of.argument(),
                offset: map_offset(map, environment)?,
            };
            if start.argument.is_none() {
                byte_of_workspace(start.offset as i64, workspace)?;
            }
            return Ok(Value::TensorMap(start, made));
        }
        Param::Workspace(offset) => {
            let offset = offset.evaluate(environment)?;
            return byte_of_workspace(offset, workspace).map(Value::Workspace);
        }
        Param::Scalar(arg) => return Ok(Value::Bytes(tensors[*arg].number_bytes().to_vec())),
        // It was checked to fit.
        Param::Leaf(arg, leaf) => environment.leaves[*arg][*leaf],
        Param::Integer(value, bits) => {
            let value = value.evaluate(environment)?;
            if *bits == 32 && i32::try_from(value).is_err() {
                return Err(format!("a parameter is {value}, which 32 bits do not hold"));
            }
            value
        }
    };
    let mut bytes = integer.to_le_bytes().to_vec();
    let width = match param {
        Param::Leaf(arg, leaf) => signature
            .widths
            .get(*arg)
            .and_then(|all| all.get(*leaf))
            .copied(),
        _ => param.bytes(function),
    };
    bytes.truncate(width.unwrap_or(8));
    Ok(Value::Bytes(bytes))
}

/// Checks the arguments, each alone and together, and gives what expressions depend on.
pub(crate) fn check(function: &Function, tensors: &[HostTensor]) -> Result<Environment, ArgError> {
    check_with(function, &Signature::of(function)?, tensors)
}

fn check_with(
    function: &Function,
    signature: &Signature,
    tensors: &[impl Facts],
) -> Result<Environment, ArgError> {
    if function.args.len() != tensors.len() {
        return Err(ArgError::Count {
            function: function.name.clone(),
            expected: function.args.len(),
            found: tensors.len(),
        });
    }
    let mut environment = Environment::default();
    for ((arg, tensor), pattern) in function.args.iter().zip(tensors).zip(&signature.patterns) {
        if arg.element() != tensor.element().name() {
            return Err(ArgError::Element {
                name: arg.name().to_string(),
                expected: arg.element().to_string(),
                found: tensor.element(),
            });
        }
        let (leaves, scalar) = match arg {
            Arg::Tensor { name, layout, .. } => {
                let found = leaves(name, layout, pattern.as_ref(), tensor.layout())?;
                (found, None)
            }
            Arg::Scalar { name, .. } => {
                if tensor.layout().size() != 1 {
                    return Err(ArgError::Layout {
                        name: name.clone(),
                        expected: "1:0, as it is a scalar".into(),
                        found: tensor.layout().text().to_string(),
                        reason: String::new(),
                    });
                }
                (Vec::new(), tensor.integer())
            }
        };
        environment.leaves.push(leaves);
        environment.scalars.push(scalar);
    }
    let known = environment.clone().with_values(&function.values);
    for compute in &function.computes {
        // What takes place on a condition has conditions of the function on its shapes, which are asked for then.
        if compute.condition().is_some() {
            continue;
        }
        let shape = |role: &crate::package::Role| match signature.sizes_of_view(role.arg) {
            Some(known) => known.to_vec(),
            None => {
                let sizes = tensors.get(role.arg).map(|tensor| tensor.layout().shape());
                sizes.unwrap_or_default().into_iter().map(Some).collect()
            }
        };
        let sizes: Vec<_> = compute.roles().iter().map(shape).collect();
        compute
            .check_shapes(&sizes, &known)
            .map_err(|[expected, found, cure]| ArgError::Shapes {
                function: function.name.clone(),
                expected,
                found,
                cure,
            })?;
    }
    Ok(environment)
}

fn leaves(
    name: &str,
    layout: &str,
    pattern: Option<&Pattern>,
    found: &Parsed,
) -> Result<Vec<i64>, ArgError> {
    let Some(pattern) = pattern.filter(|of| !of.is_static() || layout != found.text()) else {
        return Ok(Vec::new());
    };
    pattern.leaves_of(found).map_err(|reason| ArgError::Layout {
        name: name.to_string(),
        expected: layout.to_string(),
        found: found.text().to_string(),
        // Of a layout that is known, both texts say it all.
        reason: if pattern.is_static() {
            String::new()
        } else {
            reason
        },
    })
}

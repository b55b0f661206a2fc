//! A function compiled for calls: its conditions, sizes and parameters as lists of steps, and the launches of a call without memory
//! from the heap.
//!
//! *Architecture Invariant:* this is a short cut. It gives exactly what [`crate::plan`] gives, or nothing; then the general code is
//! asked, which words all errors.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use super::arguments::{All, Asked, Described, describe, restated};
use super::error::CallError;
use super::flat::{Builder, Numbering, Place, Register, Step, Steps, run};
use super::maps::{FlatMap, PassedMap, UnnumberedMap};
use super::view::{Argument, Memory};
use crate::layout::Pattern;
use crate::package::{Arg, Compute, Expr, Function, Launch, Limits, Param, Sizes};
use crate::plan::{Planned, Signature, Value, Whole, check_disjoint};
use crate::tensor::ArgError;
use crate::tensor_map::TensorMap;

/// A function for calls on one device.
pub(crate) struct Compiled {
    function: Function,
    signature: Signature,
    memory: Memory,
    sm_count: u32,
    asked: Vec<Asked>,
    /// None of a function that has too many parts.
    flat: Option<Flat>,
}

/// The lists of steps of a function.
struct Flat {
    /// Registers that arguments fill: the first.
    inputs: usize,
    /// Registers before a call: constants, and zeros.
    registers: Vec<i64>,
    /// The conditions and values that all calls need.
    common: Vec<Step>,
    workspace: Option<Register>,
    launches: Vec<FlatLaunch>,
    /// Results that steps gave before, by a hash of what they began with.
    recent: [Mutex<Option<Recent>>; RECENT],
}

/// Calls that are remembered. A program calls a function with few shapes, again and again.
const RECENT: usize = 16;

struct Recent {
    inputs: SmallVec<[i64; 16]>,
    resolved: Resolved,
}

/// The launches of a call, all but the addresses and numbers that are its arguments.
#[derive(Clone, Default)]
struct Resolved {
    launches: SmallVec<[Ready; 4]>,
    params: SmallVec<[u64; 64]>,
    /// Parameters that are arguments, or bytes of them.
    arguments: SmallVec<[(usize, usize); 16]>,
    into_workspace: SmallVec<[usize; 8]>,
    maps: SmallVec<[ResolvedMap; 4]>,
    workspace: u64,
}

/// A parameter that is a tensor map, all but the address of the tensor.
#[derive(Clone)]
struct ResolvedMap {
    /// Its place among the parameters.
    param: usize,
    /// The tensor argument; none of a tensor in the workspace.
    argument: Option<usize>,
    /// The byte of the tensor, or of the workspace, at which it begins.
    offset: u64,
    map: Arc<TensorMap>,
}

struct FlatLaunch {
    when: Option<Register>,
    /// The steps for sizes and parameters.
    steps: Vec<Step>,
    /// Grid, block and dynamic shared memory.
    sizes: [Register; 7],
    /// The sizes, where they are the same in all calls.
    fixed: Option<Sizes>,
    cluster: [u32; 3],
    dependent: bool,
    params: Vec<Source>,
    maps: Vec<FlatMap>,
    disjoint: Vec<[usize; 2]>,
    /// The tensors that it passes.
    passed: Vec<usize>,
}

/// The place where a parameter comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The pointer or the number that is that argument.
    Argument(usize),
    /// The byte of that tensor argument that a register says.
    Byte(usize, Register),
    Register(Register),
    /// A register that 32 bits hold.
    Narrow(Register),
    /// The number of one of the launch's tensor maps.
    Map(usize),
    /// The byte of the workspace that a register says.
    Workspace(Register),
}

/// A launch of a call: sizes, and where its parameters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    /// Index into [`Function::launches`].
    pub(crate) launch: usize,
    pub(crate) sizes: Sizes,
    /// The first of its parameters, and how many there are.
    pub(crate) params: (usize, usize),
}

/// The launches of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) launches: SmallVec<[Ready; 4]>,
    /// Parameters of all launches: pointers, and numbers in their lower bytes; 0 in the place of a tensor map.
    pub(crate) params: SmallVec<[u64; 64]>,
    /// Parameters that are tensor maps.
    pub(crate) maps: SmallVec<[PassedMap; 4]>,
    /// Parameters that are bytes of the workspace, to which its address is to be added.
    pub(crate) into_workspace: SmallVec<[usize; 8]>,
    /// Bytes of the workspace.
    pub(crate) workspace: u64,
}

impl Prepared {
    /// Makes offsets into the workspace addresses.
    pub(crate) fn place(&mut self, workspace: u64) {
        for at in &self.into_workspace {
            self.params[*at] += workspace;
        }
        for map in self.maps.iter_mut().filter(|map| map.in_workspace) {
            map.address += workspace;
        }
    }
}

impl Compiled {
    /// Compiles a function for tensors in a device's memory.
    ///
    /// # Errors
    /// [`ArgError`], of a function that is in no package that was loaded.
    pub(crate) fn new(
        function: &Function,
        memory: Memory,
        sm_count: u32,
    ) -> Result<Compiled, ArgError> {
        let signature = Signature::of(function)?;
        let arguments = 0..function.args.len();
        let leaves = arguments.clone().map(|at| {
            let pattern = signature.pattern(at);
            pattern.map_or(0, |pattern| pattern.dynamic_leaves().len())
        });
        let integers = function.args.iter().map(is_integer);
        let builder = Builder::new(
            &function.values,
            &leaves.collect::<Vec<_>>(),
            &integers.collect::<Vec<_>>(),
            sm_count,
        );
        let asked = arguments.map(|at| {
            let (registers, integer) = match &builder {
                Some(builder) => (&builder.leaves[at][..], builder.scalars[at]),
                None => (&[][..], None),
            };
            Asked::of(
                &function.args[at],
                signature.pattern(at),
                registers,
                integer,
            )
        });
        let asked = asked.collect::<Result<Vec<_>, ArgError>>()?;
        let flat = builder.and_then(|builder| Flat::new(function, &signature, builder));
        Ok(Compiled {
            function: function.clone(),
            signature,
            memory,
            sm_count,
            asked,
            flat,
        })
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    pub(crate) fn function(&self) -> &Function {
        &self.function
    }

    /// The launches of a call.
    ///
    /// # Errors
    /// [`CallError`], before anything is launched.
    #[inline]
    pub(crate) fn prepare(
        &self,
        arguments: &[Argument],
        prepared: &mut Prepared,
    ) -> Result<(), CallError> {
        match self.fast(arguments, prepared) {
            Some(()) => Ok(()),
            None => self.prepare_in_full(arguments, prepared),
        }
    }

    /// The launches, if nothing is unusual.
    #[inline]
    pub(super) fn fast(&self, arguments: &[Argument], prepared: &mut Prepared) -> Option<()> {
        let flat = self.flat.as_ref()?;
        if arguments.len() != self.asked.len() {
            return None;
        }
        let mut inputs: SmallVec<[i64; 16]> = SmallVec::new();
        inputs.resize(flat.inputs, 0);
        let mut all = All::new();
        for (asked, argument) in self.asked.iter().zip(arguments) {
            all.push(asked.take(argument, self.memory, &mut inputs)?);
        }
        let slot = flat.slot(&inputs);
        // Who finds it taken computes.
        if let Ok(recent) = slot.try_lock()
            && let Some(recent) = &*recent
            && recent.inputs == inputs
        {
            return flat.emit(&recent.resolved, &all, prepared);
        }
        let resolved = flat.resolve(&inputs, &all)?;
        flat.emit(&resolved, &all, prepared)?;
        if let Ok(mut recent) = slot.try_lock() {
            *recent = Some(Recent { inputs, resolved });
        }
        Some(())
    }

    /// The launches by the code that words errors, as far as the short cut gives none.
    #[cold]
    fn prepare_in_full(
        &self,
        arguments: &[Argument],
        prepared: &mut Prepared,
    ) -> Result<(), CallError> {
        let described = describe(
            &self.function,
            &self.signature,
            &self.asked,
            arguments,
            self.memory,
        )?;
        // Strides that say nothing are as they should be now.
        if let Some(()) = self.fast(&restated(arguments, &described), prepared) {
            return Ok(());
        }
        *prepared = self.general(&described)?;
        Ok(())
    }

    /// The launches by general code alone.
    pub(super) fn general(&self, described: &[Described]) -> Result<Prepared, CallError> {
        let whole = self
            .signature
            .plan_of(&self.function, described, self.sm_count)?;
        let taken: All = described.iter().map(|one| one.taken).collect();
        let places: Vec<(u64, u64)> = taken.iter().map(|one| (one.value, one.bytes)).collect();
        check_disjoint(&self.function, &whole.launches, &places)?;
        for planned in &whole.launches {
            for value in &planned.params {
                let Value::TensorMap(start, _) = value else {
                    continue;
                };
                let Some(argument) = start.argument else {
                    continue;
                };
                let address = taken[argument].value.saturating_add(start.offset);
                TensorMap::check_address(address).map_err(|error| ArgError::Launch {
                    kernel: planned.kernel.clone(),
                    reason: format!("argument {argument}: {error}"),
                })?;
            }
        }
        Ok(of_plan(&whole, &taken))
    }

    /// The bytes of a call's workspace.
    ///
    /// # Errors
    /// [`CallError`], as of a call.
    pub(crate) fn workspace_bytes(&self, arguments: &[Argument]) -> Result<u64, CallError> {
        let mut prepared = Prepared::default();
        self.prepare(arguments, &mut prepared)?;
        Ok(prepared.workspace)
    }

    /// The arguments looked at in full, as the emulator needs them.
    ///
    /// # Errors
    /// As of [`Compiled::prepare`].
    pub(super) fn described(&self, arguments: &[Argument]) -> Result<Vec<Described>, CallError> {
        describe(
            &self.function,
            &self.signature,
            &self.asked,
            arguments,
            self.memory,
        )
    }
}

/// The plan of general code, as the short cut gives it.
fn of_plan(whole: &Whole, taken: &All) -> Prepared {
    let mut prepared = Prepared {
        workspace: whole.workspace,
        ..Prepared::default()
    };
    for planned in &whole.launches {
        let Planned {
            launch,
            grid,
            block,
            cluster,
            dynamic_smem,
            dependent,
            params,
            ..
        } = planned;
        let from = prepared.params.len();
        for value in params {
            prepared.params.push(match value {
                Value::Pointer(argument) => taken[*argument].value,
                Value::Byte(argument, offset) => taken[*argument].value.saturating_add(*offset),
                Value::Bytes(bytes) => {
                    let mut whole = [0; 8];
                    whole[..bytes.len()].copy_from_slice(bytes);
                    // The host is little endian, as the GPU is.
                    u64::from_le_bytes(whole)
                }
                Value::TensorMap(start, map) => {
                    let base = start.argument.map_or(0, |argument| taken[argument].value);
                    prepared.maps.push(PassedMap {
                        param: prepared.params.len(),
                        map: Arc::new(map.clone()),
                        address: base.saturating_add(start.offset),
                        in_workspace: start.argument.is_none(),
                    });
                    0
                }
                Value::Workspace(offset) => {
                    prepared.into_workspace.push(prepared.params.len());
                    *offset
                }
            });
        }
        prepared.launches.push(Ready {
            launch: *launch,
            sizes: Sizes {
                grid: *grid,
                block: *block,
                cluster: *cluster,
                dynamic_smem: *dynamic_smem,
                dependent: *dependent,
            },
            params: (from, params.len()),
        });
    }
    prepared
}

fn is_integer(arg: &Arg) -> bool {
    let element = arg.element().parse::<crate::element::Element>();
    !arg.is_tensor() && element.is_ok_and(|element| !element.is_float())
}

/// The steps, sizes, parameters and tensor maps of a launch, before registers are numbered.
type Part = (Steps, [Place; 7], Vec<Unnumbered>, Vec<UnnumberedMap>);

impl Flat {
    fn new(function: &Function, signature: &Signature, mut builder: Builder) -> Option<Flat> {
        for requirement in &function.requires {
            let condition = builder.value(&requirement.condition)?;
            builder.holds(condition);
        }
        let computes = function.computes.iter();
        for compute in computes.filter(|compute| compute.condition().is_none()) {
            shapes(compute, signature, &mut builder)?;
        }
        let place = |builder: &mut Builder, expr: &Expr| {
            let place = builder.value(expr)?;
            builder.keep(place);
            Some(place)
        };
        let workspace = match &function.workspace {
            Some(bytes) => Some(place(&mut builder, bytes)?),
            None => None,
        };
        let mut whens = Vec::new();
        for launch in &function.launches {
            whens.push(match &launch.when {
                Some(when) => Some(place(&mut builder, when)?),
                None => None,
            });
        }
        let common = builder.all();
        let mut parts: Vec<Part> = Vec::new();
        for launch in &function.launches {
            let mark = builder.mark();
            let mut sizes = Vec::new();
            let all = launch.grid.iter().chain(&launch.block);
            for size in all.chain([&launch.dynamic_smem]) {
                sizes.push(place(&mut builder, size)?);
            }
            let mut params = Vec::new();
            let mut maps = Vec::new();
            for param in &launch.params {
                params.push(match param {
                    Param::Pointer(arg) | Param::Scalar(arg) => Unnumbered::Argument(*arg),
                    Param::Byte { tensor, offset } => {
                        Unnumbered::Byte(*tensor, place(&mut builder, offset)?)
                    }
                    Param::Leaf(arg, leaf) => {
                        Unnumbered::Place(place(&mut builder, &Expr::Leaf(*arg, *leaf))?)
                    }
                    Param::Integer(value, 32) => Unnumbered::Narrow(place(&mut builder, value)?),
                    Param::Integer(value, _) => Unnumbered::Place(place(&mut builder, value)?),
                    Param::Workspace(offset) => Unnumbered::Workspace(place(&mut builder, offset)?),
                    Param::TensorMap(map) => {
                        let mut places = |all: &[Expr]| -> Option<Vec<Place>> {
                            all.iter().map(|one| place(&mut builder, one)).collect()
                        };
                        maps.push(UnnumberedMap {
                            sizes: places(&map.sizes)?,
                            strides: places(&map.strides)?,
                            element: function.args.get(map.of.like())?.element().parse().ok()?,
                            offset: match map.of.offset() {
                                Some(offset) => Some(place(&mut builder, offset)?),
                                None => None,
                            },
                            param: map.clone(),
                        });
                        Unnumbered::Map(maps.len() - 1)
                    }
                });
            }
            let steps = builder.reset(mark);
            parts.push((steps, sizes.try_into().ok()?, params, maps));
        }
        let (numbering, registers) = builder.finish()?;
        let inputs = numbering.inputs();
        let launches = function.launches.iter().zip(whens).zip(parts);
        let launches = launches.map(
            |((launch, when), (steps, sizes, params, maps))| FlatLaunch {
                when: when.map(|when| numbering.register(when)),
                steps: numbering.steps(&steps),
                sizes: sizes.map(|size| numbering.register(size)),
                fixed: fixed(sizes, launch),
                cluster: launch.cluster,
                dependent: launch.dependent,
                params: params.iter().map(|param| param.at(&numbering)).collect(),
                maps: maps.into_iter().map(|map| map.at(&numbering)).collect(),
                disjoint: launch.disjoint.clone(),
                passed: launch.params.iter().filter_map(Param::tensor).collect(),
            },
        );
        Some(Flat {
            inputs,
            recent: std::array::from_fn(|_| Mutex::new(None)),
            common: numbering.steps(&common),
            workspace: workspace.map(|bytes| numbering.register(bytes)),
            launches: launches.collect(),
            registers,
        })
    }

    /// The place of what was computed for these inputs.
    #[inline]
    fn slot(&self, inputs: &[i64]) -> &Mutex<Option<Recent>> {
        // Any mixture will do: what is found is compared.
        let mix =
            |hash: u64, value: &i64| (hash ^ *value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = inputs.iter().fold(0, mix);
        &self.recent[(hash >> 60) as usize % RECENT]
    }

    /// The launches for arguments with these leaves and integers.
    fn resolve(&self, inputs: &[i64], arguments: &All) -> Option<Resolved> {
        let mut registers: SmallVec<[i64; 256]> = SmallVec::from_slice(&self.registers);
        registers[..inputs.len()].copy_from_slice(inputs);
        let mut resolved = Resolved::default();
        run(&self.common, &mut registers)?;
        if let Some(bytes) = self.workspace {
            let bytes = u64::try_from(registers[usize::from(bytes)]).ok()?;
            resolved.workspace = Some(bytes).filter(|bytes| *bytes <= Limits::WORKSPACE)?;
        }
        for (index, launch) in self.launches.iter().enumerate() {
            if let Some(when) = launch.when
                && registers[usize::from(when)] == 0
            {
                continue;
            }
            run(&launch.steps, &mut registers)?;
            let sizes = match launch.fixed {
                Some(sizes) => sizes,
                None => {
                    let [x, y, z, bx, by, bz, smem] =
                        launch.sizes.map(|at| registers[usize::from(at)]);
                    let grid = [x, y, z];
                    if grid.contains(&0) && launch.passed.iter().any(|arg| arguments[*arg].is_empty)
                    {
                        continue;
                    }
                    let sizes = Sizes::new(grid, [bx, by, bz], launch.cluster, smem).ok()?;
                    Sizes {
                        dependent: launch.dependent,
                        ..sizes
                    }
                }
            };
            let from = resolved.params.len();
            for source in &launch.params {
                let at = resolved.params.len();
                resolved.params.push(match *source {
                    Source::Argument(argument) => {
                        resolved.arguments.push((at, argument));
                        0
                    }
                    Source::Byte(argument, register) => {
                        let offset = u64::try_from(registers[usize::from(register)]).ok()?;
                        resolved.arguments.push((at, argument));
                        Some(offset).filter(|offset| *offset <= arguments[argument].bytes)?
                    }
                    Source::Register(register) => registers[usize::from(register)] as u64,
                    Source::Narrow(register) => {
                        let value = registers[usize::from(register)];
                        i32::try_from(value).ok()? as u32 as u64
                    }
                    Source::Map(map) => {
                        let map = &launch.maps[map];
                        let made = Arc::new(map.made(&registers)?);
                        let offset = map.offset(&registers)?;
                        let argument = map.param.of.argument();
                        if argument.is_none() && offset > resolved.workspace {
                            return None;
                        }
                        resolved.maps.push(ResolvedMap {
                            param: at,
                            argument,
                            offset,
                            map: made,
                        });
                        0
                    }
                    Source::Workspace(register) => {
                        let offset = u64::try_from(registers[usize::from(register)]).ok()?;
                        resolved.into_workspace.push(at);
                        Some(offset).filter(|offset| *offset <= resolved.workspace)?
                    }
                });
            }
            resolved.launches.push(Ready {
                launch: index,
                sizes,
                params: (from, launch.params.len()),
            });
        }
        Some(resolved)
    }

    /// The launches with the addresses of their arguments; nothing if some overlap that must not.
    #[inline]
    fn emit(&self, resolved: &Resolved, arguments: &All, prepared: &mut Prepared) -> Option<()> {
        for ready in &resolved.launches {
            for [a, b] in &self.launches[ready.launch].disjoint {
                let (a, b) = (arguments[*a], arguments[*b]);
                if a.value < b.value + b.bytes && b.value < a.value + a.bytes {
                    return None;
                }
            }
        }
        prepared.launches = SmallVec::from_slice(&resolved.launches);
        prepared.params = SmallVec::from_slice(&resolved.params);
        for (at, argument) in &resolved.arguments {
            // The byte of a tensor stands there already, as 0 does for any other argument.
            prepared.params[*at] = prepared.params[*at].saturating_add(arguments[*argument].value);
        }
        prepared.maps.clear();
        for made in &resolved.maps {
            let base = made
                .argument
                .map_or(0, |argument| arguments[argument].value);
            let address = base.saturating_add(made.offset);
            TensorMap::check_address(address).ok()?;
            prepared.maps.push(PassedMap {
                param: made.param,
                map: made.map.clone(),
                address,
                in_workspace: made.argument.is_none(),
            });
        }
        prepared.into_workspace = SmallVec::from_slice(&resolved.into_workspace);
        prepared.workspace = resolved.workspace;
        Some(())
    }
}

/// The place where a parameter comes from, before registers are numbered.
enum Unnumbered {
    Argument(usize),
    Byte(usize, Place),
    Place(Place),
    Narrow(Place),
    Map(usize),
    Workspace(Place),
}

impl Unnumbered {
    fn at(&self, numbering: &Numbering) -> Source {
        match self {
            Unnumbered::Argument(argument) => Source::Argument(*argument),
            Unnumbered::Byte(argument, place) => {
                Source::Byte(*argument, numbering.register(*place))
            }
            Unnumbered::Place(place) => Source::Register(numbering.register(*place)),
            Unnumbered::Narrow(place) => Source::Narrow(numbering.register(*place)),
            Unnumbered::Map(map) => Source::Map(*map),
            Unnumbered::Workspace(place) => Source::Workspace(numbering.register(*place)),
        }
    }
}

/// The sizes of a launch, where all are numbers that a launch may have.
fn fixed(sizes: [Place; 7], launch: &Launch) -> Option<Sizes> {
    let mut known = [0; 7];
    for (known, size) in known.iter_mut().zip(sizes) {
        let Place::Constant(value) = size else {
            return None;
        };
        *known = value;
    }
    let [x, y, z, bx, by, bz, smem] = known;
    let sizes = Sizes::new([x, y, z], [bx, by, bz], launch.cluster, smem).ok()?;
    Some(Sizes {
        dependent: launch.dependent,
        ..sizes
    })
}

/// Asks that the shapes of a compute's tensors fit.
fn shapes(compute: &Compute, signature: &Signature, builder: &mut Builder) -> Option<()> {
    let roles = compute.roles();
    let mut sizes: Vec<Vec<Option<Place>>> = Vec::new();
    for role in &roles {
        if let Some(known) = signature.sizes_of_view(role.arg) {
            let known = known.iter().map(|size| size.map(Place::Constant));
            sizes.push(known.collect());
            continue;
        }
        let pattern = signature.pattern(role.arg)?;
        let modes = mode_extents(pattern, role.arg, builder)?;
        sizes.push(modes.into_iter().map(Some).collect());
    }
    let mut failed = false;
    let sizes = compute.shapes_by(&sizes, |at| {
        let modes = at.modes.iter().map(|steps| {
            let extents: Option<Vec<Place>> = steps
                .iter()
                .map(|step| builder.value(&step.extent))
                .collect();
            let product = extents.and_then(|extents| builder.product(&extents));
            failed |= product.is_none();
            product
        });
        modes.collect()
    });
    if failed {
        return None;
    }
    let ranks: Vec<usize> = sizes.iter().map(Vec::len).collect();
    // That heads of K divide those of Q is not among the checks that there are here.
    if matches!(compute, Compute::Attention { .. }) && ranks.iter().any(|rank| *rank > 2) {
        return None;
    }
    let modes = compute.modes(&ranks).ok()?;
    let mut known: Vec<(usize, Place)> = Vec::new();
    for (modes, sizes) in modes.iter().zip(&sizes) {
        for (mode, size) in modes.iter().zip(sizes) {
            let Some(size) = size else { continue };
            match known.iter().find(|(of, _)| of == mode) {
                Some((_, first)) => builder.same(*first, *size),
                None => known.push((*mode, *size)),
            }
        }
    }
    Some(())
}

/// The elements of each top-level mode of an argument.
fn mode_extents(pattern: &Pattern, arg: usize, builder: &mut Builder) -> Option<Vec<Place>> {
    let mut leaf = 0;
    let mut modes = Vec::new();
    for mode in 0..pattern.rank() {
        let mut extents = Vec::new();
        for (extent, _) in pattern.mode_leaves(mode) {
            extents.push(match extent {
                Some(extent) => Place::Constant(extent),
                None => {
                    leaf += 1;
                    Place::Input(*builder.leaves.get(arg)?.get(leaf - 1)?)
                }
            });
        }
        modes.push(builder.product(&extents)?);
    }
    Some(modes)
}

//! A host function as a launch plan: which launches take place and what they pass, and sizes as expressions of its arguments.

use super::apart::Span;
use super::begin::{integers_of, start_and_steps};
use super::element_of;
use crate::to_nvvm::aliasing;
use cute_arith::{Predicate, Sign};
use cute_ir::{
    Expected, Failure,
    attributes::DEPENDENT,
    contract::divisor,
    diag,
    hopper::STORED,
    mlir::{
        Blk, Op, Val, ValueKey, arguments_of, attribute_of, block_argument, body_of, defining_op,
        int_width, integer_of, is_index, key, name_of, next_block, operands_of, ops_of, parent_of,
        result_index, results_of, string_of, type_value, users_of,
    },
    ops::{arith, cf, cute, func, gpu, scf},
    types::{self, CuteType, memref_of},
};
use cute_layout::IntTuple;
use cute_passes::launch::kernel_of;
use cute_runtime::package::{
    BoxSize, CandidateChoice, Expr, Im2colParam, Launch, MAX_DEPTH, MAX_NODES, MapParam,
    Op as Apply, Param, Requirement, SharedSwizzle, View,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The launches of a host function, in their order, and what must hold before any of them.
#[derive(Default)]
pub(super) struct HostPlan<'c> {
    pub(super) launches: Vec<Launch>,
    pub(super) requires: Vec<Requirement>,
    /// Parts that several expressions have in common, computed once.
    pub(super) values: Vec<Expr>,
    /// The bytes of the workspace, where there is one.
    pub(super) workspace: Option<Expr>,
    /// The choices among candidates that are left to whoever measures.
    pub(super) choices: Vec<CandidateChoice>,
    /// The integers that entries of computes leave open, by the index of the compute and the name of the entry.
    pub(super) given: HashMap<(i64, String), Vec<Expr>>,
    /// The conditions of computes that take place in branches, by their index.
    pub(super) conditions: HashMap<i64, Expr>,
    /// The tensors of computes that are no arguments, by their index.
    pub(super) views: BTreeMap<usize, View>,
    /// Where these are.
    pub(super) spans: BTreeMap<usize, Span<'c>>,
    /// Launches that pass two pointers into one tensor that must be apart.
    pub(super) same_tensor: Vec<(Op<'c>, [Param; 2])>,
    /// The places in `values` of integers of the function.
    places: HashMap<ValueKey, usize>,
    /// The first byte of those of the workspace that a pointer is of, and the one behind their last.
    pub(super) parts: HashMap<ValueKey, [Expr; 2]>,
    /// The conditions of the launch at hand on where its tensor maps begin, with what is said otherwise.
    pub(super) map_starts: Vec<(Expr, String)>,
}

/// Bytes to which each part of a workspace is aligned, as its first one is.
const WORKSPACE_ALIGN: i64 = 256;

/// Parts of an expression that is no value of its own, however often it is used.
const SMALL: usize = 8;

/// Operations of a host function one after another, at most.
const MAX_CHAIN: usize = 1024;

/// The plan of a host function with that body.
pub(super) fn plan<'c>(function: Op<'c>, body: Blk<'c>) -> Result<HostPlan<'c>, Failure> {
    let mut plan = HostPlan::default();
    plan.block(body, None)?;
    if next_block(body).is_some() {
        return Err(diag::error(
            function.location(),
            "expected a function of one block; write what depends on a condition as scf.if",
        ));
    }
    Ok(plan)
}

impl<'c> HostPlan<'c> {
    /// Reads a block that is executed where `when` is not 0.
    fn block(&mut self, block: Blk<'c>, when: Option<&Expr>) -> Result<(), Failure> {
        for op in ops_of(block) {
            if let Some(launched) = gpu::LaunchFunc::of(op) {
                let when = when.cloned();
                let launch = self.launch(launched)?;
                // Of tensors that are known to have no elements; a package has launches of blocks.
                if launch.grid.iter().any(|size| size.constant() == Some(0)) {
                    continue;
                }
                self.require_lines(launched, &launch, when.as_ref())?;
                for (condition, message) in std::mem::take(&mut self.map_starts) {
                    self.require(op, when.as_ref(), condition, message)?;
                }
                self.launches.push(Launch { when, ..launch });
                continue;
            }
            if let Some(assertion) = cf::Assert::of(op) {
                let condition = self.expression(op, assertion.arg())?;
                let message = string_of(op, "msg").unwrap_or_default().to_owned();
                self.require(op, when, condition, message)?;
                continue;
            }
            if let Some(branch) = scf::If::of(op) {
                self.branch(op, branch.condition(), when)?;
                continue;
            }
            if let Some(workspace) = cute::Workspace::of(op) {
                self.reserve(workspace)?;
                continue;
            }
            if let Some(candidates) = cute::Candidates::of(op) {
                self.choice(candidates, when)?;
            }
            if let Some(given) = cute::ComputeValues::of(op) {
                let of = integer_of(op, "compute").unwrap_or(0);
                let entry = string_of(op, "entry").unwrap_or_default().to_owned();
                let values = given.values().into_iter();
                let values = values.map(|value| self.expression(op, value));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                self.given.insert((of, entry), values);
                continue;
            }
            if let Some(view) = cute::ComputeView::of(op) {
                self.view(view, when)?;
                continue;
            }
            if cute::ComputeHere::of(op).is_some() {
                let of = integer_of(op, "compute").unwrap_or(0);
                self.conditions.extend(when.map(|when| (of, when.clone())));
                continue;
            }
            match name_of(op) {
                func::RETURN | scf::YIELD | "builtin.unrealized_conversion_cast" => {}
                // What nothing uses, or what expressions are made of.
                name if name.starts_with("arith.")
                    || name.starts_with("cute.")
                    || name.starts_with("cute_nvgpu.") => {}
                name => {
                    return Err(diag::error(
                        op.location(),
                        format!(
                            "'{name}' is no part of a launch plan, which has launches, integer arithmetic on arguments, scf.if, \
                             and cf.assert; move it out of the function that launches"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Reads both branches of an `scf.if`.
    fn branch(
        &mut self,
        op: Op<'c>,
        condition: Val<'c>,
        when: Option<&Expr>,
    ) -> Result<(), Failure> {
        if !results_of(op).is_empty() {
            return Err(diag::error(
                op.location(),
                "expected an scf.if without results in a launch plan; write a number that depends on a condition as arith.select",
            ));
        }
        let holds = self.expression(op, condition)?;
        let holds = self.shared(op, holds)?;
        let fails = compare(Predicate::Eq, vec![holds.clone(), Expr::Constant(0)]);
        let condition = holds.clone();
        // One of both is executed, so that each has the bytes behind those that there are already.
        let before = self.workspace.clone();
        let mut after = Vec::new();
        for (index, here) in [holds, fails].into_iter().enumerate() {
            self.workspace.clone_from(&before);
            let Some(block) = body_of(op, index) else {
                after.push(before.clone());
                continue;
            };
            // Of integers that are 1 or 0.
            let both = match when {
                Some(when) => Expr::apply(Apply::And, vec![when.clone(), here]),
                None => here,
            };
            self.block(block, Some(&checked(op, both)?))?;
            after.push(self.workspace.clone());
        }
        let [then, other] = &after[..] else {
            return Ok(());
        };
        if then == other {
            return Ok(());
        }
        let bytes = [then, other].map(|bytes| bytes.clone().unwrap_or(Expr::Constant(0)));
        let bytes = Expr::apply(Apply::Select, [vec![condition], bytes.to_vec()].concat());
        self.workspace = Some(self.shared(op, bytes)?);
        Ok(())
    }

    /// Takes down a tensor of computes that is no argument.
    fn view(&mut self, view: cute::ComputeView<'c>, when: Option<&Expr>) -> Result<(), Failure> {
        let op = view.op();
        let index = integer_of(op, "index").and_then(|index| usize::try_from(index).ok());
        let index = index.expected(op, "an index")?;
        let memref = attribute_of(op, "tensor").and_then(type_value);
        let Some(CuteType::MemRef(memref)) = memref.and_then(CuteType::of) else {
            return Err(diag::error(op.location(), "expected the type of a tensor"));
        };
        let Some(of) = self.begin(op, view.start())? else {
            return Err(diag::error(
                op.location(),
                "expected a tensor that begins in an argument of the function, or in a cute.workspace of it",
            ));
        };
        let leaves = view.leaves().into_iter();
        let leaves = leaves.map(|leaf| self.expression(op, leaf));
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        let (root, _) = start_and_steps(view.start());
        let span = Span::new(op, (key(root), of.clone()), &memref, leaves.iter().cloned());
        self.require_leaves(&span, &memref.layout, &leaves, when)?;
        self.require_within(&span, root, when)?;
        self.spans.insert(index, span);
        let view = View {
            // It is named when arguments are.
            name: String::new(),
            element: element_of(memref.element),
            layout: memref.layout.text_of_tensor(),
            leaves,
            of,
        };
        self.views.insert(index, view);
        Ok(())
    }

    /// Gives a pointer into the workspace the bytes behind those that others have.
    fn reserve(&mut self, workspace: cute::Workspace<'c>) -> Result<(), Failure> {
        let op = workspace.op();
        let bytes = self.expression(op, workspace.bytes())?;
        let bytes = Expr::apply(Apply::NonNegative, vec![bytes]);
        let align = || Expr::Constant(WORKSPACE_ALIGN);
        let steps = Expr::apply(Apply::CeilDiv, vec![bytes.clone(), align()]);
        let whole = Expr::apply(Apply::Mul, vec![steps, align()]);
        let before = self.workspace.take().unwrap_or(Expr::Constant(0));
        let after = match before {
            Expr::Constant(0) => whole,
            _ => Expr::apply(Apply::Add, vec![before.clone(), whole]),
        };
        let end = Expr::apply(Apply::Add, vec![before.clone(), bytes]);
        self.parts.insert(key(workspace.pointer()), [before, end]);
        self.workspace = Some(self.shared(op, after)?);
        Ok(())
    }

    /// The expression, or one of few parts that stands for it, for use in several others.
    pub(super) fn shared(&mut self, op: Op<'_>, expr: Expr) -> Result<Expr, Failure> {
        if expr.nodes() < SMALL {
            return Ok(expr);
        }
        self.value(op, expr)
    }

    /// An expression as a value of the function, which is computed once.
    pub(super) fn value(&mut self, op: Op<'_>, expr: Expr) -> Result<Expr, Failure> {
        if self.values.len() == MAX_NODES {
            return Err(diag::error(
                op.location(),
                format!(
                    "expected sizes of at most {MAX_NODES} parts that are large or used several times; compute them in simpler ways"
                ),
            ));
        }
        self.values.push(checked(op, expr)?);
        Ok(Expr::Value(self.values.len() - 1))
    }

    fn launch(&mut self, launched: gpu::LaunchFunc<'c>) -> Result<Launch, Failure> {
        let op = launched.op();
        let fail = |message: &str| diag::error(op.location(), message);
        let [_, kernel] =
            kernel_of(op).ok_or_else(|| fail("expected a launch of @module::@kernel"))?;
        if !launched.async_dependencies().is_empty() || launched.async_object().is_some() {
            return Err(fail(
                "expected a launch without tokens and streams; the launches of a plan follow each other",
            ));
        }
        let mut size = |value: Val<'c>| self.expression(op, value);
        let clusters = [
            launched.cluster_size_x(),
            launched.cluster_size_y(),
            launched.cluster_size_z(),
        ];
        let mut cluster = [1; 3];
        for (value, slot) in clusters.into_iter().zip(&mut cluster) {
            if let Some(value) = value {
                let known = size(value)?.constant();
                *slot = known
                    .and_then(|size| u32::try_from(size).ok())
                    .ok_or_else(|| fail("expected a cluster of known size"))?;
            }
        }
        let grid = [
            size(launched.grid_size_x())?,
            size(launched.grid_size_y())?,
            size(launched.grid_size_z())?,
        ];
        let block = [
            size(launched.block_size_x())?,
            size(launched.block_size_y())?,
            size(launched.block_size_z())?,
        ];
        let bytes = launched
            .dynamic_shared_memory_size()
            .ok_or_else(|| fail("expected a grid, a block and a dynamic_shared_memory_size; write `dynamic_shared_memory_size %c0` of an i32, which the compiler sets"))?;
        let dynamic_smem = size(bytes)?;
        let params = launched.kernel_operands().into_iter();
        let params = params.map(|value| self.param(op, value));
        let params = params.collect::<Result<Vec<_>, _>>()?;
        let disjoint = aliasing::pairs_of(op).into_iter().filter_map(|pair| {
            let [Some(a), Some(b)] = pair.map(|i| params.get(i)) else {
                return None;
            };
            let [of_a, of_b] = [a.pointee()?, b.pointee()?];
            if of_a == of_b {
                self.same_tensor.push((op, [a.clone(), b.clone()]));
                return None;
            }
            Some([of_a.min(of_b), of_a.max(of_b)])
        });
        let disjoint: BTreeSet<[usize; 2]> = disjoint.collect();
        Ok(Launch {
            kernel: kernel.to_owned(),
            grid,
            block,
            cluster,
            dependent: attribute_of(op, DEPENDENT).is_some(),
            dynamic_smem,
            params,
            when: None,
            disjoint: disjoint.into_iter().collect(),
        })
    }

    /// Asks a launch for a condition, where it is one of those that `when` says.
    pub(super) fn require(
        &mut self,
        op: Op<'_>,
        when: Option<&Expr>,
        condition: Expr,
        message: String,
    ) -> Result<(), Failure> {
        let condition = match when {
            Some(when) => {
                let parts = vec![when.clone(), condition, Expr::Constant(1)];
                checked(op, Expr::apply(Apply::Select, parts))?
            }
            None => condition,
        };
        let requirement = Requirement { condition, message };
        if !self.requires.contains(&requirement) {
            self.requires.push(requirement);
        }
        Ok(())
    }

    /// Asks for lines of whole 16 bytes of the tensors that TMA stores, where only a launch knows how long they are.
    fn require_lines(
        &mut self,
        launch: gpu::LaunchFunc<'_>,
        made: &Launch,
        when: Option<&Expr>,
    ) -> Result<(), Failure> {
        for (value, param) in launch.kernel_operands().into_iter().zip(&made.params) {
            let atom = atom_of(value);
            let (
                Some(CuteType::Tma {
                    value,
                    map,
                    stores: true,
                }),
                Param::TensorMap(param),
            ) = (CuteType::get(atom.r#type()), param)
            else {
                continue;
            };
            let elements = STORED * 8 / types::element_bits(*value).unwrap_or(8).max(1);
            let (Some(extent), Some(dim)) = (param.sizes.first(), map.dims.first()) else {
                continue;
            };
            // What types say a launch asks for anyway.
            let tensor = defining_op(atom).and_then(|op| memref_of(*operands_of(op).first()?));
            let leaves = tensor.map(|tensor| tensor.layout.shape().clone());
            let known = leaves.and_then(|shape| Some(divisor(shape.leaves().get(dim.mode)?)));
            if known.is_some_and(|known| known % elements == 0) {
                continue;
            }
            let parts = vec![extent.clone(), Expr::Constant(elements)];
            let rest = Expr::apply(Apply::Rem, parts);
            let condition = Expr::apply(Apply::Eq, vec![rest, Expr::Constant(0)]);
            let message = format!(
                "expected lines of whole {STORED} bytes, a multiple of {elements} elements, of a tensor that TMA stores: it would write over what is behind them"
            );
            self.require(launch.op(), when, condition, message)?;
        }
        Ok(())
    }

    fn param(&mut self, launch: Op<'c>, value: Val<'c>) -> Result<Param, Failure> {
        if let Some(param) = self.tensor_map(launch, value)? {
            return Ok(param);
        }
        if let Some(param) = self.pointer(launch, value)? {
            return Ok(param);
        }
        match source(value) {
            Some(Source::Leaf(index, leaf)) => return Ok(Param::Leaf(index, leaf)),
            Some(Source::Argument(index)) => return Ok(Param::Scalar(index)),
            None => {}
        }
        let ty = value.r#type();
        match int_width(ty).filter(|bits| matches!(bits, 32 | 64)) {
            Some(bits) => Ok(Param::Integer(self.expression(launch, value)?, bits)),
            None => Err(diag::error(
                launch.location(),
                format!(
                    "expected the function's own arguments, or integers of 32 or 64 bits that follow from them, found {ty}; a launch \
                     plan passes neither views nor other computed values"
                ),
            )),
        }
    }

    /// The tensor map that a launch makes of a TMA atom; nothing for other values. Errors: an atom that no op of the function makes of one of its
    /// arguments, of a view of one, or of a tensor in the workspace.
    fn tensor_map(&mut self, launch: Op<'c>, value: Val<'c>) -> Result<Option<Param>, Failure> {
        let atom = atom_of(value);
        let Some(CuteType::Tma { map, .. }) = CuteType::get(atom.r#type()) else {
            return Ok(None);
        };
        let fail = |message: &str| {
            Err(diag::error(
                defining_op(atom).unwrap_or(launch).location(),
                message,
            ))
        };
        let tensor = defining_op(atom).and_then(|op| operands_of(op).first().copied());
        let begin = match tensor {
            Some(tensor) => self.begin(defining_op(atom).unwrap_or(launch), tensor)?,
            None => None,
        };
        let begun = tensor.zip(begin).and_then(|(tensor, of)| {
            let memref = memref_of(tensor)?;
            let like = match of.argument() {
                // The map has the elements of the argument.
                Some(arg) => {
                    let own = memref_of(start_and_steps(tensor).0)?;
                    (own.element == memref.element).then_some(arg)?
                }
                // In the workspace are elements of a type that an argument has.
                None => self.argument_of(launch, memref.element)?,
            };
            Some((tensor, (of, like), memref))
        });
        let Some((tensor, of, memref)) = begun else {
            return fail(
                "expected a TMA atom that cute_nvgpu.atom.make_tma_load, make_im2col_tma_load or make_tma_store makes of an argument of the function, or of a view of \
                 one; a launch plan has no other tensors",
            );
        };
        let of = self.begin_of_map(atom, launch, of)?;
        // The leaves of a package are numbered from those of the shape to those of the stride.
        let both = [memref.layout.shape(), memref.layout.stride()];
        let dynamic = match defining_op(tensor).and_then(cute::MakeView::of) {
            None => {
                let leaves = both.into_iter().flat_map(IntTuple::leaves);
                let count = leaves.filter(|leaf| !leaf.is_static()).count();
                (0..count).map(|leaf| Expr::Leaf(of.like(), leaf)).collect()
            }
            Some(view) => {
                let Some(leaves) = view.layout().map_or(Some(Vec::new()), integers_of) else {
                    return fail(
                        "expected a TMA atom of a view whose layout cute.make_layout, cute.make_shape and cute.make_stride make of integers",
                    );
                };
                let leaves = leaves.into_iter().map(|leaf| self.expression(launch, leaf));
                leaves.collect::<Result<Vec<_>, _>>()?
            }
        };
        let mut dynamic = dynamic.into_iter();
        let mut numbers = |of: &IntTuple| -> Option<Vec<Expr>> {
            let leaves = of.leaves().into_iter();
            leaves
                .map(|leaf| {
                    leaf.as_static()
                        .map(Expr::Constant)
                        .or_else(|| dynamic.next())
                })
                .collect()
        };
        let [Some(sizes), Some(strides)] = both.map(&mut numbers) else {
            return fail(
                "expected a layout with an integer for each leaf that only a launch knows",
            );
        };
        let modes: Vec<usize> = match &map.im2col {
            // Channels, pixels and images are the tensor's modes as they are.
            Some(_) => (0..sizes.len()).collect(),
            None => map.dims.iter().map(|dim| dim.mode).collect(),
        };
        let of_modes = |all: &[Expr], skip: usize| -> Option<Vec<Expr>> {
            let modes = modes.iter().skip(skip);
            modes.map(|mode| all.get(*mode).cloned()).collect()
        };
        let wrong = "expected a TMA atom whose dimensions are modes of the tensor";
        let (Some(mut own), Some(mut steps)) = (of_modes(&sizes, 0), of_modes(&strides, 1)) else {
            return fail(wrong);
        };
        match map.folded(&memref.layout) {
            Ok(None) => {}
            Ok(Some(folded)) => {
                // The coordinate of the last element that the dimension has, and one.
                let mut all = Expr::Constant(1);
                for (leaf, coordinates) in &folded.leaves {
                    let Some(size) = sizes.get(*leaf).cloned() else {
                        return fail(wrong);
                    };
                    let last = Expr::apply(Apply::Sub, vec![size, Expr::Constant(1)]);
                    let last = Expr::apply(Apply::Mul, vec![last, Expr::Constant(*coordinates)]);
                    all = Expr::apply(Apply::Add, vec![all, last]);
                }
                own.pop();
                own.push(all);
                steps.pop();
                steps.push(Expr::Constant(folded.stride));
            }
            Err(error) => return fail(&error.to_string()),
        }
        let (sizes, strides) = (own, steps);
        let im2col = map.im2col.as_ref().map(|pixels| {
            let corner = |all: &[i64]| all.iter().map(|along| *along as i32).collect();
            Im2colParam {
                lower: corner(&pixels.lower),
                upper: corner(&pixels.upper),
                strides: pixels.strides.iter().map(|step| *step as u32).collect(),
            }
        });
        let made = defining_op(atom);
        let rest = made.and_then(|op| integer_of(op, "rest"));
        let has_nan = made.is_some_and(|op| string_of(op, "oob_fill") == Some("nan"));
        let promotion = made.and_then(|op| integer_of(op, "l2_promotion"));
        let boxes = map.dims.iter().map(|dim| {
            let elements = dim.extent as u32;
            match rest == Some(dim.mode as i64) {
                true => BoxSize::Rest { rest_of: elements },
                false => BoxSize::Whole(elements),
            }
        });
        Ok(Some(Param::TensorMap(MapParam {
            of,
            sizes,
            strides,
            box_sizes: boxes.collect(),
            swizzle: SharedSwizzle::of(map.swizzle as u32, has_nan),
            l2_promotion: promotion.map(|bytes| bytes as u32),
            im2col,
        })))
    }

    /// The first tensor argument of the function that has elements of a type.
    fn argument_of(&self, launch: Op<'_>, element: Type<'_>) -> Option<usize> {
        let function = parent_of(launch, func::FUNC)?;
        let arguments = arguments_of(body_of(function, 0)?);
        let is_of = |value: &Val<'_>| memref_of(*value).is_some_and(|own| own.element == element);
        arguments.iter().position(is_of)
    }

    /// Makes a value of the plan stand for an integer of the function.
    pub(super) fn stands_for(&mut self, value: Val<'_>, place: usize) {
        self.places.insert(key(value), place);
    }

    /// An integer as an expression of the function's arguments. `user` is where errors are reported that have no better place.
    pub(super) fn expression(&mut self, user: Op<'c>, value: Val<'c>) -> Result<Expr, Failure> {
        self.made(user, value, 0)
    }

    /// The same, of a value that so many operations follow.
    fn made(&mut self, user: Op<'c>, value: Val<'c>, chain: usize) -> Result<Expr, Failure> {
        let at = defining_op(value).unwrap_or(user);
        let fail = |message: String| diag::error(at.location(), message);
        if chain >= MAX_CHAIN {
            return Err(fail(format!(
                "expected sizes of at most {MAX_CHAIN} operations one after another; compute them in fewer steps"
            )));
        }
        if let Some(place) = self.places.get(&key(value)) {
            return Ok(Expr::Value(*place));
        }
        let width = bits(value.r#type());
        match source(value) {
            Some(Source::Leaf(index, leaf)) => return Ok(Expr::Leaf(index, leaf)),
            Some(Source::Argument(index)) if matches!(width, Some(32 | 64)) => {
                return Ok(Expr::Scalar(index));
            }
            _ => {}
        }
        let unknown = || {
            let name = defining_op(value).map_or("an argument that is no integer", name_of);
            fail(format!(
                "expected a size that is computed by integer operations of arith from the function's arguments, found {name}"
            ))
        };
        let (Some(op), Some(width)) = (defining_op(value), width) else {
            return Err(unknown());
        };
        if name_of(op) == arith::CONSTANT {
            let constant = integer_of(op, "value").ok_or_else(unknown)?;
            // `true` has all bits set.
            return Ok(Expr::Constant(if width == 1 {
                constant & 1
            } else {
                constant
            }));
        }
        if name_of(op) == cute::SM_COUNT {
            return Ok(Expr::SmCount);
        }
        let integers = operands_of(op).iter().all(|o| bits(o.r#type()).is_some());
        if !integers || !name_of(op).starts_with("arith.") {
            return Err(unknown());
        }
        // Nothing in a package wraps as numbers of other widths do.
        let types = operands_of(op).into_iter().chain(results_of(op));
        let mut types = types.map(|value| value.r#type());
        if let Some(other) = types.find(|ty| !matches!(bits(*ty), Some(1 | 32 | 64))) {
            return Err(fail(format!(
                "expected integers of type i1, i32, i64 or index, in which a launch computes, found {other} in '{}'; compute in i32, which a \
                 launch checks for results that 32 bits do not hold",
                name_of(op)
            )));
        }
        let mut operands = Vec::new();
        for operand in operands_of(op) {
            operands.push(self.made(op, operand, chain + 1)?);
        }
        let made = operation(op, operands, width).ok_or_else(unknown)?;
        let large = made.depth() >= MAX_DEPTH / 2 || made.nodes() >= MAX_NODES / 4;
        if !large && (made.nodes() < SMALL || users_of(value).len() < 2) {
            return Ok(made);
        }
        let made = self.value(op, made)?;
        if let Expr::Value(place) = made {
            self.places.insert(key(value), place);
        }
        Ok(made)
    }
}

/// The expression, if it is not larger than packages take.
pub(super) fn checked(op: Op<'_>, expr: Expr) -> Result<Expr, Failure> {
    if expr.depth() <= MAX_DEPTH && expr.nodes() <= MAX_NODES {
        return Ok(expr);
    }
    Err(diag::error(
        op.location(),
        format!(
            "expected conditions of at most {MAX_NODES} operations, leaves and numbers, {MAX_DEPTH} one after another; compute \
             them in simpler ways, or nest less"
        ),
    ))
}

/// The meaning of a value of the host function to a launch plan.
enum Source {
    /// The argument of that index, as it is.
    Argument(usize),
    /// A dynamic leaf of a tensor argument's layout.
    Leaf(usize, usize),
}

/// An argument, or an integer that a cast makes of a tensor argument for each dynamic leaf.
fn source(value: Val<'_>) -> Option<Source> {
    if let Some((_, index)) = block_argument(value) {
        return Some(Source::Argument(index));
    }
    let cast =
        defining_op(value).filter(|op| name_of(*op) == "builtin.unrealized_conversion_cast")?;
    let [tensor] = operands_of(cast)[..] else {
        return None;
    };
    let (_, index) = block_argument(tensor)?;
    if !matches!(CuteType::of(tensor.r#type()), Some(CuteType::MemRef(_))) {
        return None;
    }
    let results = results_of(cast).into_iter().take(result_index(value)?);
    let before = results.filter(|result| bits(result.r#type()).is_some());
    Some(Source::Leaf(index, before.count()))
}

/// The value that a launch passes, behind the cast to the type that a kernel takes.
fn atom_of(value: Val<'_>) -> Val<'_> {
    let atom = match defining_op(value) {
        Some(cast) if name_of(cast) == "builtin.unrealized_conversion_cast" => {
            operands_of(cast).first().copied()
        }
        _ => None,
    };
    atom.unwrap_or(value)
}

/// Bits of an integer type; 64 for `index`.
pub(super) fn bits(ty: Type<'_>) -> Option<u32> {
    if is_index(ty) {
        return Some(64);
    }
    int_width(ty)
}

/// An operation of `arith` whose result has that many bits.
///
/// Expressions are computed in 64 bits. So that none says something else than the operation, a result that 32 bits do not hold
/// is an error, and so is a negative operand of what takes its operands as unsigned.
fn operation(op: Op<'_>, operands: Vec<Expr>, width: u32) -> Option<Expr> {
    let from = operands_of(op)
        .first()
        .and_then(|value| bits(value.r#type()))?;
    let apply = |apply: Apply, operands: Vec<Expr>| Some(Expr::apply(apply, operands));
    let fit = |value: Expr| match width {
        32 => Expr::apply(Apply::Fits32, vec![value]),
        _ => value,
    };
    let unsigned = |operands: Vec<Expr>| -> Vec<Expr> {
        let operands = operands.into_iter();
        operands
            .map(|value| Expr::apply(Apply::NonNegative, vec![value]))
            .collect()
    };
    let first = || operands.first().cloned();
    if let Some(row) = cute_arith::Op::named(name_of(op)) {
        let operands = match row.sign() {
            Sign::Unsigned => unsigned(operands),
            Sign::Any | Sign::Signed => operands,
        };
        let made = Expr::apply(Apply::of(row.with_sign())?, operands);
        return match row.can_overflow() {
            // Truth values have no sums.
            true if width == 1 => None,
            true => Some(fit(made)),
            false => Some(made),
        };
    }
    match name_of(op) {
        arith::SELECT => apply(Apply::Select, operands),
        // -1 where a condition holds.
        arith::EXTSI if from == 1 => apply(Apply::Sub, vec![Expr::Constant(0), first()?]),
        arith::EXTSI => first(),
        arith::INDEX_CAST | arith::TRUNCI if from != 1 && width != 1 => first().map(fit),
        arith::EXTUI | arith::INDEX_CASTUI if width != 1 => {
            apply(Apply::NonNegative, vec![first()?]).map(fit)
        }
        arith::CMPI => {
            let predicate = Predicate::numbered(integer_of(op, "predicate")?)?;
            let operands = match predicate.sign() {
                Sign::Unsigned => unsigned(operands),
                Sign::Any | Sign::Signed => operands,
            };
            Some(compare(predicate, operands))
        }
        _ => None,
    }
}

/// A comparison of operands that are not negative where it reads no signs.
fn compare(predicate: Predicate, mut operands: Vec<Expr>) -> Expr {
    let equal = |operands| Expr::apply(Apply::Eq, operands);
    match predicate {
        Predicate::Eq => equal(operands),
        Predicate::Ne => equal(vec![equal(operands), Expr::Constant(0)]),
        Predicate::Slt | Predicate::Ult => Expr::apply(Apply::Lt, operands),
        Predicate::Sle | Predicate::Ule => Expr::apply(Apply::Le, operands),
        Predicate::Sgt | Predicate::Sge | Predicate::Ugt | Predicate::Uge => {
            operands.reverse();
            compare(predicate.swapped(), operands)
        }
    }
}

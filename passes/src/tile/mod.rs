//! `cute-tile`: from an algorithm on whole tensors to kernels whose blocks compute tiles.
//!
//! Each `cute.contract` and `cute.map` of a function becomes a `gpu.func` and a `gpu.launch_func` in its place. In the
//! kernel a block finds its tile of C by its index, and loops over the tiles of A and B along K; copies and products are still
//! whole tiles, done by all threads together; `map/` has maps. `matrix.rs` says how the tensors lie, `kernel.rs` writes the kernel, `split.rs`
//! what there is more where several blocks share a tile, `stream.rs` how ranges along K are dealt out to blocks, `host.rs` the launch, `variants.rs` and `candidates.rs` which of several a launch takes.

mod candidates;
mod computes;
mod function;
mod fuse;
mod grid;
mod groups;
mod host;
mod indexed;
mod kernel;
mod leaves;
mod map;
mod matrix;
mod narrow;
mod next;
mod numbers;
mod packed;
mod prologue;
mod quotients;
mod reduced;
mod region;
mod rest;
mod roles;
mod scales;
mod split;
mod stream;
mod variants;
mod view;

use crate::{
    arch,
    plan::{
        self, Avoid, Calibrated, Chosen, Epilogue, Fed, Pack, Packed, Problem, Reduced, Request,
        Rules, Scaled,
    },
};
use computes::{places, record};
use cute_arith::ReduceOp;
use cute_ir::ops::{cute, func, gpu, scf};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{CONTAINER_MODULE, PLAN},
    diag,
    mlir::*,
    options::{OptionValue, Options},
    plan::Plan,
};
use cute_target::Archs;
use fuse::Fuse;
use groups::Groups;
use map::Map;
use matrix::{Extent, Matrices, Matrix};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use region::{PROLOGUES, Region};
use scales::Scale;
use std::{collections::HashSet, path::PathBuf};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-tile",
    description: "Tile algorithms on whole tensors over the blocks of kernels",
    anchor: Anchor::Module,
    options: TileOptions::SPECS,
    run,
};

cute_ir::options! {
    /// Options of `cute-tile`.
    pub struct TileOptions {
        arch: Option<Archs> = None, "", "The architecture, from sm_75 to sm_121a, or several that commas separate; plans are chosen for the first";
        measured: Option<PathBuf> = None, "", "A table of measured times by which plans are ranked (docs/tuning.md); the compiler's own where not given";
        avoid: Option<Avoid> = None, "", "Plans that are not to be chosen, such as 128x256x64-2x4-3-1: tile, warps, stages and split, or 64held: all with so many sums of a thread and elements of its part of a stage, or more; or stays: maps whose blocks compute one row after another; several joined by +";
        ..request: Request, "The parts of a plan that are asked for";
    }
}

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let fail = |message: String| diag::of_option(module, format!("cute-tile: {message}"));
    let TileOptions {
        arch,
        avoid,
        measured,
        request,
    } = TileOptions::of(options).map_err(fail)?;
    let given = measured.as_deref().map(plan::read_table).transpose();
    let given = given.map_err(fail)?;
    let archs = arch.map_or_else(|| Archs::read(""), Ok).map_err(fail)?;
    target_modules(module, &archs)?;
    // All kernels go into one module, a package having one image for an architecture: beside those that somebody wrote, if there are such.
    let mut home = only_module(module, &archs)?;
    let functions = ops_of(body_of(module, 0).expected(module, "a body")?);
    let mut names = Names::of(&functions);
    let functions = functions
        .into_iter()
        .filter(|op| name_of(*op) == func::FUNC);
    diag::each(functions, |function| {
        let algorithms: Vec<_> = nested_ops(function)
            .into_iter()
            .filter(|op| matches!(name_of(*op), cute::CONTRACT | cute::MAP))
            .collect();
        diag::each(algorithms.iter().enumerate(), |(index, op)| {
            let name = string_of(function, "sym_name").unwrap_or("kernel");
            let name = match algorithms.len() {
                1 => names.of_kernels(name),
                _ => names.of_kernels(&format!("{name}_{index}")),
            };
            if let Some(map) = cute::Map::of(*op) {
                fuse::erase_unused(rewriter, map)?;
                if fuse::is_fused(map) {
                    let rules = (request.most_variants(), avoid.as_ref());
                    let ways = Fuse::check(*op, function, &archs, rules)?;
                    Fuse::lower(&ways, module, &name, &mut home)?;
                } else {
                    let map = Map::check(*op, function, &archs, avoid.as_ref())?;
                    map.lower(rewriter, module, &name, request.most_of_map(), &mut home)?;
                }
                return rewriter.erase(*op);
            }
            let op = &narrow::widened(rewriter, *op, &archs, &request)?;
            let rules = Rules {
                request: &request,
                avoid: avoid.as_ref(),
                given: given.as_ref(),
            };
            let kernels = Gemm::check(*op, function, &archs, rules)?;
            let [.., general] = &kernels[..] else {
                return Err(diag::error(op.location(), "expected a plan"));
            };
            general.check_launch(Builder::before(*op))?;
            variants::lower(rewriter, &kernels, module, &name, &mut home)?;
            general.record(&name)?;
            rewriter.erase(*op)
        })
    })
}

/// The names that kernels of a module, and the regions beside them, are made of.
struct Names {
    /// The symbols of the module and of kernels in it, and those that were made for names that were given before.
    taken: HashSet<String>,
}

impl Names {
    fn of(symbols: &[Op<'_>]) -> Self {
        let written = symbols.iter().filter(|op| name_of(**op) == gpu::MODULE);
        let written = written.flat_map(|op| body_of(*op, 0).map(ops_of).unwrap_or_default());
        let all = symbols.iter().copied().chain(written);
        let names = all.filter_map(|op| string_of(op, "sym_name").map(str::to_owned));
        Self {
            taken: names.collect(),
        }
    }

    /// A name of its own in the module, of characters that PTX has in names, for the kernels of a function of that name.
    fn of_kernels(&mut self, function: &str) -> String {
        let is_known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let mut name: String = function
            .chars()
            .map(|c| if is_known(c) { c } else { '_' })
            .collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let is_free = |name: &String| {
            let made = ["kernel", "epilogue", "prologue", "map"].map(|of| format!("{name}_{of}"));
            let is_made = |other: &String| made.iter().any(|made| other.starts_with(made));
            !self.taken.iter().any(is_made)
        };
        let mut found = name.clone();
        let mut count = 0;
        while !is_free(&found) {
            count += 1;
            found = format!("{name}_of_{count}");
        }
        self.taken.insert(format!("{found}_kernel"));
        found
    }
}

/// A reduction of a value of a map's region along a mode; a mean is a sum, of which somebody else makes the mean.
fn all_reduce<'c>(
    l: Builder<'c>,
    kind: ReduceOp,
    value: Val<'c>,
    along: i64,
) -> Result<Val<'c>, Failure> {
    let kind = match kind {
        ReduceOp::Mean => ReduceOp::Add,
        kind => kind,
    };
    let attributes = [
        ("kind", l.string(kind.name())),
        ("along", l.i64_array(&[along])),
    ];
    l.value(cute::ALL_REDUCE, &[value], value.r#type(), &attributes)
}

/// Kernels that were written by hand are compiled for the same architecture, unless their module says another.
fn target_modules<'c>(module: Op<'c>, archs: &Archs) -> Result<(), Failure> {
    for gpu in ops_of(body_of(module, 0).expected(module, "a body")?) {
        if name_of(gpu) != gpu::MODULE {
            continue;
        }
        let found = arch::of_module(gpu).map_err(|e| diag::error(gpu.location(), e))?;
        if found.is_empty() {
            let targets = Builder::before(gpu).attribute(&targets_of(archs))?;
            set_attribute(gpu, "targets", targets);
        } else if let Some(arch) = archs.all().find(|arch| !found.contains(arch)) {
            let found: Vec<String> = found.iter().map(|arch| arch.to_string()).collect();
            return Err(diag::error(
                gpu.location(),
                format!(
                    "expected kernels for {arch}, found a module with #nvvm.target for {}; leave the targets away, or \
                     compile with their arch=",
                    found.join(", ")
                ),
            ));
        }
    }
    Ok(())
}

/// The module of kernels that were written by hand, if it is the only one and for these architectures alone.
fn only_module<'c>(module: Op<'c>, archs: &Archs) -> Result<Option<Op<'c>>, Failure> {
    let ops = ops_of(body_of(module, 0).expected(module, "a body")?);
    let mut modules = ops.into_iter().filter(|op| name_of(*op) == gpu::MODULE);
    let (Some(only), None) = (modules.next(), modules.next()) else {
        return Ok(None);
    };
    let found = arch::of_module(only).map_err(|e| diag::error(only.location(), e))?;
    let wanted = archs.all().count();
    let same = found.len() == wanted && archs.all().all(|arch| found.contains(&arch));
    Ok(same.then_some(only))
}

/// The text of `targets` of a `gpu.module`.
pub(crate) fn targets_of(archs: &Archs) -> String {
    let target = |arch| {
        format!(
            "#nvvm.target<chip = \"{arch}\", features = \"{}\", O = 3>",
            arch::features_of(arch)
        )
    };
    let targets: Vec<String> = archs.all().map(target).collect();
    format!("[{}]", targets.join(", "))
}

/// A `cute.contract` that can be tiled, by a plan.
#[derive(Clone)]
struct Gemm<'c> {
    op: Op<'c>,
    function: Op<'c>,
    /// The tensors as the kernel sees them. Where C is column-major they are B, A and the transpose of C.
    matrices: Matrices<'c>,
    /// The values that the kernel is passed: the tensors, each once, and what else the regions use.
    arguments: Vec<Val<'c>>,
    /// M, N and K of those.
    extents: [Extent; 3],
    /// The groups of rows, where rows have a matrix of their group.
    groups: Option<Groups<'c>>,
    epilogue: Option<Region<'c>>,
    /// The kinds of the outputs beside C that are reduced; none of those that are not.
    reduce: Vec<Option<ReduceOp>>,
    /// The regions of what is multiplied in place of A and B as the kernel sees them, where it is not what is stored.
    prologues: [Option<Region<'c>>; 2],
    /// The scales of groups along K of A and B as the kernel sees them.
    scales: [Option<Scale<'c>>; 2],
    /// The groups that the scales are of.
    scaled: Option<Scaled>,
    /// The whole prologues of A and B as the kernel sees them, which yield both.
    stated: [Option<Region<'c>>; 2],
    accumulate: Type<'c>,
    archs: Archs,
    /// The factors that are copied first, as its matrices have them then.
    packed: Packed,
    plan: Plan<'c>,
    /// Tells whether it is a plan of the transposed product, whose matrices these are.
    exchanged: bool,
    /// The time that it takes; none of a plan that was given.
    time: Option<Calibrated>,
    /// The names of a candidate that somebody chooses; none of what a launch chooses.
    named: Option<Named>,
}

/// The regions of A and B as a kernel sees them.
#[derive(Clone)]
struct Sides<'c> {
    /// The regions of what is multiplied in place of A and B, where it is not what is stored.
    prologues: [Option<Region<'c>>; 2],
    /// The scales of groups along K.
    scales: [Option<Scale<'c>>; 2],
    /// The whole prologues, which yield both.
    stated: [Option<Region<'c>>; 2],
}

impl Sides<'_> {
    /// Those of the transposed product.
    fn exchanged(mut self) -> Self {
        self.prologues.reverse();
        self.scales.reverse();
        self.stated.reverse();
        self
    }
}

/// The names of a candidate: by them a time is kept that somebody measures.
#[derive(Clone)]
struct Named {
    /// The options that ask for the plan.
    plan: String,
    /// The kind of product.
    problem: String,
}

impl<'c> Gemm<'c> {
    /// The ways to compute a contraction, of which a launch takes one: those that expect something of its arguments come first, and
    /// the last ones expect nothing.
    fn check(
        op: Op<'c>,
        function: Op<'c>,
        archs: &Archs,
        rules: Rules<'_>,
    ) -> Result<Vec<Self>, Failure> {
        let fail =
            |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
        let given = attribute_of(op, PLAN).and_then(Plan::of);
        if given.is_none() {
            plan::check_archs(archs).map_err(fail)?;
        }
        function_around(op, function)?;
        let contract = cute::Contract::of(op).expected(op, "a product of whole tensors")?;
        let (factors, outputs) = ([contract.a(), contract.b()], contract.outputs());
        let beside = [contract.inputs_a(), contract.inputs_b()];
        let computed = contract.epilogue().map(|_| {
            let inputs = contract.inputs().into_iter().enumerate();
            let inputs = inputs.map(|(at, value)| (format!("input {at} of the epilogue"), value));
            let outputs = outputs.iter().copied().enumerate();
            inputs
                .chain(outputs.map(|(at, value)| (format!("output {at}"), value)))
                .collect::<Vec<_>>()
        });
        for (name, value) in computed.into_iter().flatten() {
            let element = cute_ir::types::memref_of(value)
                .expected(op, "tensors")?
                .element;
            let is_held = cute_ir::types::register_type(element) == element;
            if !is_held && !narrow::is_narrow(element) {
                return Err(fail(format!(
                    "does not compute with elements of {element} here yet, as {name} has; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i8 or i32, which a cute.map may make of it, or an epilogue without it"
                )));
            }
        }
        for (at, output) in outputs.iter().enumerate() {
            if factors.contains(output) {
                return Err(fail(
                    "writes C, which is A or B as well; expected a tensor of its own".to_owned(),
                ));
            }
            if beside.concat().contains(output) {
                return Err(fail(
                    "writes a tensor that a prologue reads, for other tiles as well; expected a tensor of its own".to_owned(),
                ));
            }
            if outputs[..at].contains(output) {
                return Err(fail(
                    "writes one tensor as two outputs; expected tensors of their own".to_owned(),
                ));
            }
        }
        let accumulate = contract
            .accumulate()
            .and_then(type_value)
            .expected(op, "a type to accumulate in")?;
        let kinds = cute_ir::reduced::kinds(contract.reduce(), outputs.len());
        let written: Vec<_> = outputs.iter().copied().zip(kinds.iter().copied()).collect();
        let mut places = [None, None, None];
        let operands = factors.iter().chain(outputs.first());
        for (operand, (own, tensor)) in places.iter_mut().zip(operands).enumerate() {
            *own = indexed::places_of(contract, operand, *tensor)?;
        }
        let stated = [contract.prologue_a(), contract.prologue_b()];
        let of_prologues = [0, 1].map(|at| scales::roles(stated[at], &beside[at]));
        let of_prologues = of_prologues.each_ref().map(Vec::as_slice);
        let (mut matrices, mut arguments) = Matrices::of(
            factors,
            &written,
            &contract.inputs(),
            of_prologues,
            places,
            contract.groups().is_some(),
        )
        .map_err(fail)?;
        let groups = contract.groups().map(|tensor| Groups {
            tensor,
            argument: function::place_of(&mut arguments, tensor),
        });
        let mut reduced = Reduced::default();
        for (matrix, kind) in matrices.outputs.iter().zip(&kinds[1..]) {
            if kind.is_some() {
                let whole = [&matrices.product[2], matrix].into_iter();
                if let Some(whole) = whole.into_iter().find(|matrix| matrix.is_whole()) {
                    return Err(fail(format!(
                        "reduces {} beside {} of rows or columns that lie in several pieces, {}; expected one extent and one stride for \
                         each: write it as another contraction or a cute.map",
                        matrix.name, whole.name, whole.memref.layout
                    )));
                }
                reduced.add(reduced::along(matrix), matrix.memref.element_bytes());
            }
        }
        let mut region = |what, block: Option<_>| {
            let region = block.map(|block| Region::of(function, (what, block), &mut arguments));
            region.transpose()
        };
        let epilogue = region("an epilogue", contract.epilogue())?;
        let mut prologues = [
            region(PROLOGUES[0].what, stated[0])?,
            region(PROLOGUES[1].what, stated[1])?,
        ];
        if matrices.exchanged {
            prologues.reverse();
        }
        let stated = prologues.clone();
        let scales = [0, 1].map(|at| Scale::take(&mut prologues[at], &mut matrices.beside[at]));
        let scaled = scales::scaled(&scales, groups.is_some()).map_err(fail)?;
        let sides = Sides {
            prologues,
            scales,
            stated,
        };
        let prologues = &sides.prologues;
        // What is multiplied: what prologues yield, in vectors of what is stored.
        let mut elements = matrices
            .product
            .each_ref()
            .map(|matrix| matrix.memref.element);
        let mut fed = [None; 2];
        for (at, prologue) in prologues.iter().enumerate() {
            let Some(prologue) = prologue else { continue };
            elements[at] = *prologue.yields().first().expected(op, "a yielded value")?;
            fed[at] = Some(matrices.fed(at).map_err(fail)?);
            matrices.product[at].move_at_most(Fed::most(elements[at]));
        }
        let request = rules.request.or_attributes(op).map_err(fail)?;
        let way = |matrices: &Matrices<'c>, packed, (plan, exchanged), time, named| {
            let (mut matrices, mut sides) = (matrices.clone(), sides.clone());
            if exchanged {
                (matrices, sides) = (matrices.exchanged(), sides.exchanged());
            }
            let Sides {
                prologues,
                scales,
                stated,
            } = sides;
            Self {
                op,
                function,
                extents: Extent::of(&matrices.product),
                matrices,
                arguments: arguments.clone(),
                groups,
                epilogue: epilogue.clone(),
                reduce: kinds[1..].to_vec(),
                prologues,
                scales,
                scaled,
                stated,
                accumulate,
                archs: archs.clone(),
                packed,
                plan,
                exchanged,
                time,
                named,
            }
        };
        let problem = |matrices: &Matrices<'c>, packed: Packed| {
            let product = &matrices.product;
            let mut accesses = product.each_ref().map(|matrix| matrix.access);
            for (access, beside) in accesses.iter_mut().zip(&matrices.beside) {
                access.placed |= beside.iter().any(|matrix| matrix.is_whole());
            }
            // Vectors are within groups along K.
            for (access, fed) in accesses.iter_mut().zip(fed) {
                if let (1, Some(group)) = (access.major, fed.and_then(|fed| fed.group)) {
                    access.vector = access.vector.min(group);
                }
            }
            let mut extents = Extent::of(product).map(|extent| extent.known);
            let mut batch = matrix::batch(product);
            if let Some(groups) = groups {
                batch = groups.known(&product[1]);
                let mean = |(m, groups): (i64, i64)| (m - 1).max(0) / groups.max(1) + 1;
                extents[0] = extents[0].zip(batch).map(mean);
            }
            let problem = Problem {
                extents,
                batch,
                has_groups: groups.is_some(),
                elements,
                accumulate,
                accesses,
                boxes: [0, 1].map(|at| product[at].boxes()),
                fed,
                scaled,
                reduced,
                epilogue: None,
                packed,
            };
            let Some(epilogue) = &epilogue else {
                return problem;
            };
            let own = (problem.elements[2], problem.accesses[2]);
            let epilogue = Epilogue {
                stored: computes_in_registers(matrices).then_some(own),
                work: epilogue.work(),
                beside: bits_beside(matrices),
            };
            Problem {
                epilogue: Some(epilogue),
                ..problem.staged_sums()
            }
        };
        if let Some(plan) = given {
            if let Some(part) = request.first() {
                return Err(fail(format!(
                    "has a cute.plan, and {part} is asked for beside it; expected one of them: write it into the plan"
                )));
            }
            if request.candidates().is_some() {
                return Err(fail(
                    "has a cute.plan, and candidates are asked for beside it; expected one of them"
                        .to_owned(),
                ));
            }
            let none = Packed::default();
            let exchanged = plan::check_given(&plan, &problem(&matrices, none), archs);
            let exchanged = exchanged.map_err(fail)?;
            return Ok(vec![way(&matrices, none, (plan, exchanged), None, None)]);
        }
        // What somebody asks for is one kernel, but for what is to be chosen from.
        let most = match (request.candidates(), request.first()) {
            (Some(count), _) => count.saturating_add(1),
            (None, Some(_)) => 1,
            (None, None) => request.most_variants(),
        };
        let choose = |(matrices, packed): (&Matrices<'c>, Packed), most| {
            let problem = problem(matrices, packed);
            let rules = Rules {
                request: &request,
                ..rules
            };
            let chosen = plan::choose(&problem, rules, archs, most)?;
            let sms = plan::multiprocessors(&request, archs);
            let made = chosen.into_iter().map(|chosen| {
                let known = chosen.time_of(&problem, sms);
                let Chosen {
                    plan,
                    asking,
                    time,
                    exchanged,
                } = chosen;
                let named = request.candidates().map(|_| Named {
                    plan: asking,
                    problem: problem.kind(),
                });
                let plan = (plan, exchanged);
                (known, way(matrices, packed, plan, Some(time), named))
            });
            Ok::<Vec<_>, String>(made.collect())
        };
        let copied = matrices.packed(request.pack).map_err(fail)?;
        let copied = copied.as_ref().map(|(all, packed)| (all, *packed));
        let plain = (&matrices, Packed::default());
        let copies = request.pack.is_some_and(|pack| pack != Pack::default());
        let aligned = matrices.aligned().filter(|_| most > 1 && !copies);
        let extents = Extent::of(&matrices.product);
        let is_open = extents.iter().any(|extent| extent.known.is_none())
            || matrix::batch(&matrices.product).is_none();
        // Prologues read what is stored, by loads that they wait for; and where somebody measures, he says what is copied.
        let may_copy =
            prologues.iter().all(Option::is_none) && !(is_open && request.candidates().is_some());
        // A plan that is asked for is that of any launch: so is what an error names.
        let of_any = |why: String| choose(plain, 1).err().unwrap_or(why);
        let ways = match (copied, aligned) {
            // As somebody asks for it.
            (Some(copied), _) if copies => choose(copied, most),
            (Some(copied), aligned) if may_copy => {
                let all = Self::of_tiers(&choose, [plain, copied], aligned, (most, is_open));
                all.map_err(of_any)
            }
            (_, Some(aligned)) => choose((&aligned, plain.1), most - 1)
                .and_then(|mut ways| {
                    ways.extend(choose(plain, 1)?);
                    Ok(ways)
                })
                .map_err(of_any),
            (_, None) => choose(plain, most),
        };
        let ways = ways.map_err(fail)?;
        Ok(ways.into_iter().map(|(_, way)| way).collect())
    }

    /// The type of the elements of C's tile in shared memory: sums, where an epilogue computes of them there what is stored, or where other sums are in a workspace.
    fn staged(&self) -> Type<'c> {
        match self.epilogue {
            Some(_) if !self.computes_in_registers() => self.accumulate,
            None if self.plan.is_streamed() => self.accumulate,
            _ => self.matrices.product[2].memref.element,
        }
    }

    /// Tells whether an epilogue is computed of sums in registers: by warpgroups, whose other way costs them registers and a barrier for each part of a tile.
    fn computes_in_registers(&self) -> bool {
        self.epilogue.is_some()
            && self.plan.has_roles()
            && plan::takes_sums(self.plan.teams, self.plan.split)
            && computes_in_registers(&self.matrices)
    }

    /// Threads of a block. None copy where sums are added.
    fn threads(&self, part: kernel::Part) -> Result<i64, Failure> {
        let threads = match part {
            kernel::Part::Product => self.plan.threads(),
            kernel::Part::Sums => self.plan.multiplying_threads(),
        };
        threads.map_err(|e| diag::error(self.op.location(), e))
    }

    /// Leaves on the function what it computes, so that a run can be verified.
    fn record(&self, name: &str) -> Result<(), Failure> {
        let contract = cute::Contract::of(self.op).expected(self.op, "a product")?;
        let outputs = contract.outputs();
        let (first, others) = outputs.split_at(1);
        let tensors = [&[contract.a(), contract.b()], first].concat();
        let mut entry = format!(
            "gemm = array<i64: {}>, accumulate = {}",
            places(self.op, self.function, &tensors)?,
            self.accumulate
        );
        self.record_places(contract, &mut entry)?;
        if let Some(ends) = contract.groups() {
            entry += &format!(
                ", groups = array<i64: {}>",
                places(self.op, self.function, &[ends])?
            );
        }
        let mut leave = |region: &Region<'c>, entry_name: &str, lists: &[(&str, &[Val<'c>])]| {
            let symbol = format!("{name}_{entry_name}");
            region.function(self.function, &symbol)?;
            entry += &format!(", {entry_name} = @{symbol}");
            for (name, values) in lists {
                if !values.is_empty() {
                    let places = places(self.op, self.function, values)?;
                    entry += &format!(", {name} = array<i64: {places}>");
                }
            }
            Ok(())
        };
        let beside = [contract.inputs_a(), contract.inputs_b()];
        for (at, names) in PROLOGUES.iter().enumerate() {
            let operand = if self.matrices.exchanged { 1 - at } else { at };
            if let Some(prologue) = &self.stated[operand] {
                let lists = [
                    (names.inputs, &beside[at][..]),
                    (names.scalars, prologue.captured()),
                ];
                leave(prologue, names.entry, &lists)?;
            }
        }
        if let Some(epilogue) = &self.epilogue {
            let inputs = contract.inputs();
            let lists = [
                ("ins", &inputs[..]),
                ("outs", others),
                ("scalars", epilogue.captured()),
            ];
            leave(epilogue, "epilogue", &lists)?;
        }
        if self.reduce.iter().any(Option::is_some) {
            let names = self
                .reduce
                .iter()
                .map(|kind| kind.map_or("", ReduceOp::name));
            let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
            entry += &format!(", reduce = [{}]", names.join(", "));
        }
        record(self.op, self.function, &entry)
    }
}

/// Tells whether an epilogue can be computed as a product deals sums out to threads: where it has one result, and reads what is the same along rows or columns.
fn computes_in_registers(matrices: &Matrices<'_>) -> bool {
    let is_line = |matrix: &Matrix<'_>| !matrix.is_whole() && is_line(matrix);
    matrices.outputs.is_empty() && matrices.inputs.iter().all(is_line)
}

/// Tells whether a matrix of C's shape is the same along rows or along columns.
fn is_line(matrix: &Matrix<'_>) -> bool {
    reduced::along(matrix).contains(&true)
}

/// Bits that an epilogue reads and writes for each element of C, beside C's own.
fn bits_beside(matrices: &Matrices<'_>) -> i64 {
    let beside = matrices.inputs.iter().chain(&matrices.outputs);
    let whole = beside.filter(|matrix| !is_line(matrix));
    whole
        .map(|matrix| element_bits(matrix.memref.element).unwrap_or(0))
        .sum()
}

/// Checks that an op is in the body of a function, or in branches of `scf.if` there. Errors: one in a loop, of whose turns a list of launches knows nothing.
fn function_around<'c>(op: Op<'c>, function: Op<'c>) -> Result<(), Failure> {
    let mut around = op.parent_operation();
    while let Some(branch) = around.filter(|around| name_of(*around) == scf::IF) {
        around = branch.parent_operation();
    }
    if around == Some(function) {
        return Ok(());
    }
    Err(diag::error(
        op.location(),
        format!(
            "'{}' op is in a loop; a launch plan is a list: write it in the function's body, or in branches of scf.if",
            name_of(op)
        ),
    ))
}

/// The module that kernels go into, made where there is none, of that name and for those targets.
fn kernels_of<'c>(
    op: Op<'c>,
    module: Op<'c>,
    name: &str,
    targets: &str,
    home: &mut Option<Op<'c>>,
) -> Result<Op<'c>, Failure> {
    if let Some(kernels) = home {
        return Ok(*kernels);
    }
    let (region, _) = Detached::with_block(&[]);
    let body = body_of(module, 0).expected(module, "a body")?;
    let place = Builder::at_end(context_of(op), body, op.location());
    set_attribute(module, CONTAINER_MODULE, place.unit());
    let kernels = place.with_regions(
        gpu::MODULE,
        &[],
        &[],
        &[
            ("sym_name", place.string(name)),
            ("targets", place.attribute(targets)?),
        ],
        vec![region],
    )?;
    Ok(*home.insert(kernels))
}

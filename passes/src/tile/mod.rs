//! `cute-tile`: from an algorithm on whole tensors to kernels whose blocks compute tiles.
//!
//! Each `cute.contract` of a function becomes a `gpu.func` and a `gpu.launch_func` in its place. In the
//! kernel a block finds its tile of C by its index, and loops over the tiles of A and B along K; copies and products are still
//! whole tiles, done by all threads together. `matrix.rs` says how the tensors lie, `kernel.rs` writes the kernel, `split.rs` what there is
//! more where several blocks share a tile, `host.rs` the launch.

mod epilogue;
mod host;
mod kernel;
mod leaves;
mod matrix;
mod split;
mod variants;

use crate::{
    arch,
    plan::{self, Candidate, Estimate, Problem, Request},
};
use cute_ir::ops::{cute, func, gpu};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{COMPUTES, PLAN},
    diag,
    mlir::*,
    options::{OptionValue, Options},
    plan::Plan,
};
use cute_target::Archs;
use epilogue::Epilogue;
use matrix::{Extent, Matrices};
use melior::ir::{Type, operation::OperationLike};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-tile",
    description: "Tile algorithms on whole tensors over the blocks of kernels",
    anchor: Anchor::Module,
    options: TileOptions::SPECS,
    run,
};

/// Kernels for a problem whose sizes are open, at most, where nothing else is asked for.
const VARIANTS: i64 = 6;

cute_ir::options! {
    /// Options of `cute-tile`.
    pub struct TileOptions {
        arch: Option<Archs> = None, "", "The architecture, from sm_75 to sm_121a, or several that commas separate; plans are chosen for the first";
        ..request: Request, "The parts of a plan that are asked for";
    }
}

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let fail = |message: String| diag::error(module.location(), format!("cute-tile: {message}"));
    let TileOptions { arch, request } = TileOptions::of(options).map_err(fail)?;
    let archs = arch.map_or_else(|| Archs::read(""), Ok).map_err(fail)?;
    // All kernels go into one module: a package has one image for an architecture.
    let mut home = None;
    target_modules(module, &archs)?;
    let functions = ops_of(body_of(module, 0).expected(module, "a body")?);
    let functions = functions
        .into_iter()
        .filter(|op| name_of(*op) == func::FUNC);
    diag::each(functions, |function| {
        let gemms: Vec<_> = nested_ops(function)
            .into_iter()
            .filter(|op| name_of(*op) == cute::CONTRACT)
            .collect();
        diag::each(gemms.iter().enumerate(), |(index, gemm)| {
            let name = string_of(function, "sym_name").unwrap_or("kernel");
            let name = if gemms.len() == 1 {
                name.to_owned()
            } else {
                format!("{name}_{index}")
            };
            let kernels = Gemm::check(*gemm, function, &archs, &request)?;
            let [.., general] = &kernels[..] else {
                return Err(diag::error(gemm.location(), "expected a plan"));
            };
            general.check_launch(Builder::before(*gemm))?;
            variants::lower(&kernels, module, &name, &mut home)?;
            general.record(module, &name)?;
            rewriter.erase(*gemm)
        })
    })
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
    /// The values that the kernel is passed: the tensors, each once, and what else the epilogue uses.
    arguments: Vec<Val<'c>>,
    /// M, N and K of those.
    extents: [Extent; 3],
    epilogue: Option<Epilogue<'c>>,
    accumulate: Type<'c>,
    archs: Archs,
    plan: Plan<'c>,
    /// The time that it takes; none of a plan that was given.
    estimate: Option<Estimate>,
}

impl<'c> Gemm<'c> {
    /// The ways to compute a contraction, of which a launch takes one: those that expect something of its arguments come first, and
    /// the last ones expect nothing.
    fn check(
        op: Op<'c>,
        function: Op<'c>,
        archs: &Archs,
        request: &Request,
    ) -> Result<Vec<Self>, Failure> {
        let fail =
            |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
        let given = attribute_of(op, PLAN).and_then(Plan::of);
        if given.is_none() {
            plan::check_archs(archs).map_err(fail)?;
        }
        let parent = parent_of(op, func::FUNC);
        let direct = op.block().zip(body_of(function, 0));
        if parent != Some(function) || direct.is_none_or(|(a, b)| a != b) {
            return Err(fail(
                "is in a loop or a branch; a launch plan is a list: write it in the function's body"
                    .to_owned(),
            ));
        }
        let contract = cute::Contract::of(op).expected(op, "a product of whole tensors")?;
        let (factors, outputs) = ([contract.a(), contract.b()], contract.outputs());
        for (at, output) in outputs.iter().enumerate() {
            if factors.contains(output) {
                return Err(fail(
                    "writes C, which is A or B as well; expected a tensor of its own".to_owned(),
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
        let (matrices, mut arguments) =
            Matrices::of(factors, &outputs, &contract.inputs()).map_err(fail)?;
        let epilogue = match contract.epilogue() {
            Some(block) => Some(Epilogue::of(function, block, &mut arguments)?),
            None => None,
        };
        let request = request.or_attributes(op).map_err(fail)?;
        let way = |matrices: &Matrices<'c>, plan, estimate| Self {
            op,
            function,
            matrices: matrices.clone(),
            arguments: arguments.clone(),
            extents: Extent::of(&matrices.product),
            epilogue: epilogue.clone(),
            accumulate,
            archs: archs.clone(),
            plan,
            estimate,
        };
        let problem = |matrices: &Matrices<'c>| {
            let product = &matrices.product;
            let problem = Problem {
                extents: Extent::of(product).map(|extent| extent.known),
                batch: matrix::batch(product),
                elements: product.each_ref().map(|matrix| matrix.memref.element),
                accumulate,
                accesses: product.each_ref().map(|matrix| matrix.access),
            };
            match epilogue {
                Some(_) => problem.staged_sums(),
                None => problem,
            }
        };
        if let Some(plan) = given {
            if let Some(part) = request.first() {
                return Err(fail(format!(
                    "has a cute.plan, and {part} is asked for beside it; expected one of them: write it into the plan"
                )));
            }
            plan::check_given(&plan, &problem(&matrices), archs).map_err(fail)?;
            return Ok(vec![way(&matrices, plan, None)]);
        }
        // What somebody asks for is one kernel.
        let most = match request.first() {
            Some(_) => 1,
            None => usize::try_from(request.variants.unwrap_or(VARIANTS)).unwrap_or(usize::MAX),
        };
        let aligned = matrices.aligned().filter(|_| most > 1);
        let expecting = aligned.iter().map(|aligned| (aligned, most - 1));
        let mut ways = Vec::new();
        let rest = if aligned.is_some() { 1 } else { most };
        for (matrices, most) in expecting.chain([(&matrices, rest)]) {
            let chosen = plan::choose(&problem(matrices), &request, archs, most).map_err(fail)?;
            let chosen = chosen.into_iter();
            ways.extend(
                chosen.map(|Candidate { plan, estimate }| way(matrices, plan, Some(estimate))),
            );
        }
        Ok(ways)
    }

    /// The type of the elements of C's tile in shared memory: sums, where an epilogue computes what is stored.
    fn staged(&self) -> Type<'c> {
        match self.epilogue {
            Some(_) => self.accumulate,
            None => self.matrices.product[2].memref.element,
        }
    }

    /// Threads of a block.
    fn threads(&self) -> Result<i64, Failure> {
        let threads = self.plan.threads();
        threads.map_err(|e| diag::error(self.op.location(), e))
    }

    /// The module that kernels go into.
    fn gpu_module(&self, module: Op<'c>, name: &str) -> Result<Op<'c>, Failure> {
        let (region, _) = Detached::with_block(&[]);
        let body = body_of(module, 0).expected(module, "a body")?;
        let place = Builder::at_end(context_of(self.op), body, self.op.location());
        let target = targets_of(&self.archs);
        place.with_regions(
            gpu::MODULE,
            &[],
            &[],
            &[
                ("sym_name", place.string(name)),
                ("targets", place.attribute(&target)?),
            ],
            vec![region],
        )
    }

    /// Leaves on the function what it computes, so that a run can be verified.
    fn record(&self, module: Op<'c>, name: &str) -> Result<(), Failure> {
        let builder = Builder::before(self.op);
        let place = |value: &Val<'c>| {
            block_argument(*value).map_or("-1".to_owned(), |(_, i)| i.to_string())
        };
        let list = |values: &[Val<'c>]| values.iter().map(place).collect::<Vec<_>>().join(", ");
        let contract = cute::Contract::of(self.op).expected(self.op, "a product")?;
        let outputs = contract.outputs();
        let (first, others) = outputs.split_at(1);
        let tensors = [&[contract.a(), contract.b()], first].concat();
        let mut entry = format!(
            "gemm = array<i64: {}>, accumulate = {}",
            list(&tensors),
            self.accumulate
        );
        if let Some(epilogue) = &self.epilogue {
            let symbol = format!("{name}_epilogue");
            epilogue.function(module, self.function, &symbol)?;
            entry += &format!(", epilogue = @{symbol}");
            for (name, values) in [
                ("ins", &contract.inputs()[..]),
                ("outs", others),
                ("scalars", epilogue.captured()),
            ] {
                if !values.is_empty() {
                    entry += &format!(", {name} = array<i64: {}>", list(values));
                }
            }
        }
        let all = match attribute_of(self.function, COMPUTES) {
            Some(old) => format!("{}, {{{entry}}}]", old.to_string().trim_end_matches(']')),
            None => format!("[{{{entry}}}]"),
        };
        set_attribute(self.function, COMPUTES, builder.attribute(&all)?);
        Ok(())
    }
}

//! `cute-tile`: from an algorithm on whole tensors to kernels whose blocks compute tiles.
//!
//! Each `cute.contract` of a function becomes a `gpu.func` and a `gpu.launch_func` in its place. In the
//! kernel a block finds its tile of C through layouts of the block index, and loops over the tiles
//! of A and B along K; copies and products are still whole tiles, done by all threads together.

use crate::{
    arch,
    plan::{self, Problem, Request},
};
use cute_ir::ops::{arith, cute, func, gpu, scf};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{COMPUTES, CONTAINER_MODULE, GPU_KERNEL, MIN_BLOCKS, NOALIAS, PLAN, STAGES},
    diag,
    mlir::*,
    options::{OptionValue, Options},
    plan::{OPERANDS, Plan, name_of_operand},
    tensor,
    types::memref_of,
    types::{self, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, Operand, Tile, int, tuple};
use cute_target::Arch;
use melior::ir::{Type, ValueLike, operation::OperationLike, r#type::FunctionType};

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
        arch: Option<Arch> = None, "", "The architecture, from sm_75 to sm_121a";
        ..request: Request, "The parts of a plan that are asked for";
    }
}

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let fail = |message: String| diag::error(module.location(), format!("cute-tile: {message}"));
    let TileOptions { arch, request } = TileOptions::of(options).map_err(fail)?;
    let arch = arch.map_or_else(|| Arch::read(""), Ok).map_err(fail)?;
    // All kernels go into one module: a package has one image for an architecture.
    let mut home = None;
    target_modules(module, arch)?;
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
            Gemm::check(*gemm, function, arch, &request)?.lower(rewriter, module, &name, &mut home)
        })
    })
}

/// Kernels that were written by hand are compiled for the same architecture, unless their module says another.
fn target_modules<'c>(module: Op<'c>, arch: Arch) -> Result<(), Failure> {
    for gpu in ops_of(body_of(module, 0).expected(module, "a body")?) {
        if name_of(gpu) != gpu::MODULE {
            continue;
        }
        let found = arch::of_module(gpu).map_err(|e| diag::error(gpu.location(), e))?;
        if found.is_empty() {
            let targets = Builder::before(gpu).attribute(&target_of(arch))?;
            set_attribute(gpu, "targets", targets);
        } else if !found.contains(&arch) {
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
pub(crate) fn target_of(arch: Arch) -> String {
    format!(
        "[#nvvm.target<chip = \"{arch}\", features = \"{}\", O = 3>]",
        arch::features_of(arch)
    )
}

/// A `cute.contract` that can be tiled.
struct Gemm<'c> {
    op: Op<'c>,
    function: Op<'c>,
    tensors: [MemRef<'c>; 3],
    accumulate: Type<'c>,
    arch: Arch,
    plan: Plan<'c>,
    /// M, N and K.
    problem: [i64; 3],
}

impl<'c> Gemm<'c> {
    fn check(op: Op<'c>, function: Op<'c>, arch: Arch, request: &Request) -> Result<Self, Failure> {
        let fail =
            |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
        let given = attribute_of(op, PLAN).and_then(Plan::of);
        if given.is_none() {
            plan::check_arch(arch).map_err(fail)?;
        }
        let parent = parent_of(op, func::FUNC);
        let direct = op.block().zip(body_of(function, 0));
        if parent != Some(function) || direct.is_none_or(|(a, b)| a != b) {
            return Err(fail(
                "is in a loop or a branch; a launch plan is a list: write it in the function's body"
                    .to_owned(),
            ));
        }
        let tensors: Vec<_> = operands_of(op).into_iter().filter_map(memref_of).collect();
        let contract = cute::Contract::of(op).expected(op, "a product of whole tensors")?;
        if contract.c() == contract.a() || contract.c() == contract.b() {
            return Err(fail(
                "writes C, which is A or B as well; expected a tensor of its own".to_owned(),
            ));
        }
        let Ok(tensors) = <[MemRef<'c>; 3]>::try_from(tensors) else {
            return Err(fail("expected (A, B, C) on whole tensors".to_owned()));
        };
        let accumulate = contract
            .accumulate()
            .and_then(type_value)
            .expected(op, "a type to accumulate in")?;
        for (operand, tensor) in OPERANDS.into_iter().zip(&tensors) {
            check_tensor(operand, tensor).map_err(fail)?;
        }
        let extent = |t: usize, mode: usize| {
            tensors[t]
                .layout
                .mode(mode)
                .and_then(|m| m.size())
                .map_err(|e| fail(e.to_string()))
        };
        let problem = Problem {
            extents: [extent(0, 0)?, extent(1, 0)?, extent(0, 1)?],
            elements: [&tensors[0], &tensors[1], &tensors[2]].map(|tensor| tensor.element),
            accumulate,
        };
        let request = request.or_attributes(op).map_err(fail)?;
        let plan = match given {
            Some(plan) => {
                if let Some(part) = request.first() {
                    return Err(fail(format!(
                        "has a cute.plan, and {part} is asked for beside it; expected one of them: write it into the plan"
                    )));
                }
                plan::check_given(&plan, &problem, arch).map_err(fail)?;
                plan
            }
            None => plan::choose(&problem, &request, arch).map_err(fail)?,
        };
        for (operand, tensor) in OPERANDS.into_iter().zip(&tensors) {
            check_vectors(operand, tensor, &plan).map_err(fail)?;
        }
        Ok(Self {
            op,
            function,
            tensors,
            accumulate,
            arch,
            plan,
            problem: problem.extents,
        })
    }

    fn lower(
        &self,
        rewriter: &'c Rewriter<'c>,
        module: Op<'c>,
        name: &str,
        home: &mut Option<Op<'c>>,
    ) -> Result<(), Failure> {
        let op = self.op;
        let context = context_of(op);
        let [m, n, _] = self.plan.tile;
        let grid = [self.problem[0] / m, self.problem[1] / n];
        let host = Builder::before(op);

        let kernels = match *home {
            Some(kernels) => kernels,
            None => *home.insert(self.gpu_module(module, &format!("{name}_kernels"))?),
        };
        let module_name = string_of(kernels, "sym_name").unwrap_or_default();
        let kernel_name = format!("{name}_kernel");
        let body = body_of(kernels, 0).expected(kernels, "a body")?;
        self.kernel(
            Builder::at_end(context, body, op.location()),
            &kernel_name,
            grid,
        )?;

        // The launch.
        let index = host.index_type();
        let sizes = [grid[0] * grid[1], 1, 1, self.threads()?, 1, 1];
        let mut operands = sizes
            .iter()
            .map(|v| host.constant(index, *v))
            .collect::<Result<Vec<_>, _>>()?;
        operands.push(host.i32(0)?);
        operands.extend(operands_of(op));
        let kernel = host.attribute(&format!("@{module_name}::@{kernel_name}"))?;
        host.op(
            gpu::LAUNCH_FUNC,
            &operands,
            &[],
            &[
                ("kernel", kernel),
                (
                    "operandSegmentSizes",
                    host.i32_array(&[0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 3, 0]),
                ),
            ],
        )?;
        set_attribute(module, CONTAINER_MODULE, host.unit());
        self.record()?;
        rewriter.erase(op)?;
        Ok(())
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
        let target = target_of(self.arch);
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
    fn record(&self) -> Result<(), Failure> {
        let builder = Builder::before(self.op);
        let arguments: Vec<String> = operands_of(self.op)
            .iter()
            .map(|v| block_argument(*v).map_or("-1".to_owned(), |(_, i)| i.to_string()))
            .collect();
        let entry = format!(
            "{{gemm = array<i64: {}>, accumulate = {}}}",
            arguments.join(", "),
            self.accumulate
        );
        let all = match attribute_of(self.function, COMPUTES) {
            Some(old) => format!("{}, {entry}]", old.to_string().trim_end_matches(']')),
            None => format!("[{entry}]"),
        };
        set_attribute(self.function, COMPUTES, builder.attribute(&all)?);
        Ok(())
    }

    fn kernel(&self, place: Builder<'c>, name: &str, grid: [i64; 2]) -> Result<(), Failure> {
        let location = self.op.location();
        let context = place.context;
        let arguments: Vec<_> = operands_of(self.op).iter().map(|v| v.r#type()).collect();
        let (region, body) = Detached::with_block(
            &arguments
                .iter()
                .map(|ty| (*ty, location))
                .collect::<Vec<_>>(),
        );
        let blocks = (grid[0] * grid[1]) as i32;
        let apart = format!("{{{NOALIAS}}}");
        let kernel = place.with_regions(
            gpu::FUNC,
            &[],
            &[],
            &[
                ("sym_name", place.string(name)),
                (
                    "function_type",
                    place.type_attribute(FunctionType::new(context, &arguments, &[]).into()),
                ),
                (GPU_KERNEL, place.unit()),
                (
                    "known_block_size",
                    place.i32_array(&[self.threads()? as i32, 1, 1]),
                ),
                ("known_grid_size", place.i32_array(&[blocks, 1, 1])),
                // Blocks read A and B while others write C.
                (
                    "arg_attrs",
                    place.attribute(&format!("[{apart}, {apart}, {apart}]"))?,
                ),
                // Without it ptxas may spill to fit more blocks than shared memory allows.
                (MIN_BLOCKS, place.integer(place.i32_type(), 1)),
                (PLAN, self.plan.attribute(location)?),
            ],
            vec![region],
        )?;
        debug_assert!(name_of(kernel) == gpu::FUNC);
        let b = Builder::at_end(context, body, location);
        self.body(b, body, grid)?;
        b.op(gpu::RETURN, &[], &[], &[])?;
        Ok(())
    }

    fn body(&self, b: Builder<'c>, body: Blk<'c>, grid: [i64; 2]) -> Result<(), Failure> {
        let [tm, tn, tk] = self.plan.tile;
        let context = b.context;
        let at = |index: usize| argument(body, index);

        // The block's tile, through two layouts of the block index.
        let dimension = b.attribute("#gpu<dim x>")?;
        let block = b.value(
            gpu::BLOCK_ID,
            &[],
            b.index_type(),
            &[("dimension", dimension)],
        )?;
        let block = b.value(arith::INDEX_CAST, &[block], b.i32_type(), &[])?;
        let [to_m, to_n] = raster(grid, self.plan.raster).map_err(|e| b.error(e))?;
        let block_m = evaluate(&b, &to_m, block)?;
        let block_n = evaluate(&b, &to_n, block)?;

        // This block's part of the tensors.
        let keep = IntTuple::underscore;
        let dynamic = IntTuple::dynamic;
        let local = |tensor: Val<'c>, tile: [i64; 2], coord: IntTuple, leaves: &[Val<'c>]| {
            let tile = tile_of(tile).map_err(|e| b.error(e))?;
            let tile = b.static_value(types::tile_type(context, &tile))?;
            let coord = b.coord(&coord, leaves)?;
            b.infer(cute::LOCAL_TILE, &[tensor, tile, coord], &[])
        };
        let a = local(at(0), [tm, tk], tuple([dynamic(), keep()]), &[block_m])?;
        let bb = local(at(1), [tn, tk], tuple([dynamic(), keep()]), &[block_n])?;
        let c = local(
            at(2),
            [tm, tn],
            tuple([dynamic(), dynamic()]),
            &[block_m, block_n],
        )?;

        // Shared memory and accumulators.
        let shared = |operand| {
            let (tile, _) = self.plan.shared(operand).map_err(|e| b.error(e))?;
            let ty = tile.to_type(b.location)?;
            b.value(cute::MEMREF_ALLOCA, &[], ty, &[])
        };
        let shared_a = shared(Operand::A)?;
        let shared_b = shared(Operand::B)?;
        let accumulators = block_registers(self.accumulate, tm, tn).map_err(|e| b.error(e))?;
        let accumulators = accumulators.to_type(b.location)?;
        let accumulators = b.value(cute::MEMREF_ALLOCA, &[], accumulators, &[])?;
        b.step("clear accumulators")
            .op(cute::CLEAR, &[accumulators], &[], &[])?;

        // Along K.
        let (from, to, step) = (b.i32(0)?, b.i32(self.problem[2] / tk)?, b.i32(1)?);
        let (region, inner) = Detached::with_block(&[(b.i32_type(), b.location)]);
        let stages = [(STAGES, b.i64_attribute(self.plan.stages))];
        b.with_regions(scf::FOR, &[from, to, step], &[], &stages, vec![region])?;
        let l = Builder::at_end(context, inner, b.location);
        let coord = l.coord(&tuple([keep(), keep(), dynamic()]), &[argument(inner, 0)])?;
        for (name, tensor, shared) in [("copy A", a, shared_a), ("copy B", bb, shared_b)] {
            let l = l.step(name);
            let tile = l.infer(cute::SLICE, &[tensor, coord], &[])?;
            l.op(cute::BLOCK_COPY, &[tile, shared], &[], &[])?;
        }
        let product = [shared_a, shared_b, accumulators];
        l.step("multiply")
            .op(cute::BLOCK_GEMM, &product, &[], &[])?;
        l.op(scf::YIELD, &[], &[], &[])?;

        // Out through shared memory, so that whole vectors are stored.
        let element = self.tensors[2].element;
        let rounded = block_registers(element, tm, tn).map_err(|e| b.error(e))?;
        let rounded = rounded.to_type(b.location)?;
        let convert = b.step("convert C");
        let rounded = convert.value(cute::CONVERT, &[accumulators], rounded, &[])?;
        let shared_c = shared(Operand::C)?;
        b.step("gather C")
            .op(cute::BLOCK_COPY, &[rounded, shared_c], &[], &[])?;
        b.step("store C")
            .op(cute::BLOCK_COPY, &[shared_c, c], &[], &[])?;
        Ok(())
    }
}

fn check_tensor(operand: Operand, tensor: &MemRef) -> Result<(), String> {
    let name = name_of_operand(operand);
    if !tensor.layout.is_static() {
        return Err(format!(
            "expected a static layout of {name}, found {}; dynamic shapes are not supported yet: \
             write the extents",
            tensor.layout
        ));
    }
    let stride = |mode: usize| tensor.layout.mode(mode).map(|m| m.stride().as_static());
    let (outer, inner) = (stride(0).ok().flatten(), stride(1).ok().flatten());
    let (Some(outer), Some(1)) = (outer, inner) else {
        return Err(format!(
            "expected {name} with its second mode contiguous (stride 1, A and B K-major, C \
             row-major), found {}; other majors are not supported yet: transpose it",
            tensor.layout
        ));
    };
    let (rows, columns) = (tensor.layout.mode(0), tensor.layout.mode(1));
    let columns = columns.and_then(|m| m.size()).map_err(|e| e.to_string())?;
    let rows = rows.and_then(|m| m.size()).map_err(|e| e.to_string())?;
    if outer < columns && rows > 1 {
        return Err(format!(
            "expected rows of {name} that do not overlap: a stride of at least {columns}, found \
             {outer}"
        ));
    }
    tensor.bytes().map(|_| ())
}

/// Checks that a tensor has whole vectors of the movement that reads it from global memory, or writes it there.
fn check_vectors(operand: Operand, tensor: &MemRef, plan: &Plan) -> Result<(), String> {
    let name = name_of_operand(operand);
    let spaces = Plan::spaces(operand);
    for (movement, ends) in plan.path(operand).iter().zip(spaces.windows(2)) {
        if !ends.contains(&Space::Gmem) {
            continue;
        }
        let vector = movement.row()?.align;
        let outer = tensor.layout.mode(0).map(|mode| mode.stride().as_static());
        let bytes = outer.ok().flatten().unwrap_or(0) * tensor.element_bytes();
        if bytes % vector != 0 {
            return Err(format!(
                "copies {vector} bytes at a time, but the rows of {name} are {bytes} bytes apart; \
                 expected a stride that is a multiple of {}",
                vector / tensor.element_bytes()
            ));
        }
        if tensor.align < vector {
            return Err(format!(
                "copies {vector} bytes at a time, but {name} is aligned to {} bytes; expected \
                 align<{vector}>",
                tensor.align
            ));
        }
    }
    Ok(())
}

/// Layouts from the block index to the block's coordinates in M and N: `group` blocks along M,
/// then all along N, then the next group.
fn raster(grid: [i64; 2], group: i64) -> Result<[Layout; 2], String> {
    let [m, n] = grid;
    let group = (1..=group.min(m)).rev().find(|g| m % g == 0).unwrap_or(1);
    let shape = tuple([int(group), int(n), int(m / group)]);
    let layout = |strides: [i64; 3]| {
        Layout::new(shape.clone(), tuple(strides.map(int))).map_err(|e| e.to_string())
    };
    Ok([layout([1, 0, group])?, layout([0, 1, 0])?])
}

/// The offset that `layout` gives the one-dimensional coordinate `index`.
fn evaluate<'c>(b: &Builder<'c>, layout: &Layout, index: Val<'c>) -> Result<Val<'c>, Failure> {
    let coord = b.coord(&IntTuple::dynamic(), &[index])?;
    let layout = b.static_value(types::layout_type(b.context, layout))?;
    let offset = b.infer(cute::CRD2IDX, &[coord, layout], &[])?;
    b.infer(cute::GET_SCALARS, &[offset], &[])
}

fn tile_of(extents: [i64; 2]) -> Result<Tile, String> {
    Tile::from_shape(&tuple(extents.map(int))).map_err(|e| e.to_string())
}

/// A tile that a block's threads hold together.
fn block_registers<'c>(element: Type<'c>, rows: i64, columns: i64) -> Result<MemRef<'c>, String> {
    let shape = tuple([int(rows), int(columns)]);
    let layout = Layout::row_major(&shape).map_err(|e| e.to_string())?;
    Ok(tensor::registers(element, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raster_visits_every_block_once() {
        for (grid, group) in [
            ([32, 32], 8),
            ([3, 5], 8),
            ([12, 7], 8),
            ([1, 1], 8),
            ([10, 4], 3),
        ] {
            let [m, n] = raster(grid, group).unwrap();
            let mut seen: Vec<_> = (0..grid[0] * grid[1]).map(|i| (m.at(i), n.at(i))).collect();
            seen.sort_unstable();
            let expected: Vec<_> = (0..grid[0])
                .flat_map(|i| (0..grid[1]).map(move |j| (i, j)))
                .collect();
            assert_eq!(seen, expected, "{grid:?} {group}");
        }
    }
}

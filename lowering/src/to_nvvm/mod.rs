//! `cute-to-nvvm`: from atoms on views to instructions on addresses.
//!
//! A view becomes a base pointer and a byte offset: what depends on the thread, the block or a
//! loop as integer operations that its layouts spell out, and a constant. Each atom adds its
//! place, swizzles the sum, and becomes the instruction of its table (`atoms.rs`), a file an architecture. The
//! arithmetic is left as the layouts give it; `cute-simplify-indices` comes next.

mod address;
pub(crate) mod aliasing;
mod atoms;
mod launches;
mod math;
mod memory;
mod mma_sync;
mod pointers;
mod reduce;
mod registers;
mod sm75;
mod sm80;
mod sm90;
pub(crate) mod types;
mod universal;

pub use atoms::lowers;

use address::Address;
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    diag::{self, each},
    infer,
    mlir::*,
    ops::{cute, gpu, llvm},
    tensor,
    types::{CuteType, MemRef, Space},
    view::{self, Index, View},
};
use cute_layout::IntTuple;
use cute_passes::{kernel::body_of_kernel, launch::launches_of};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-to-nvvm",
    description: "Lower views and atoms to pointers and NVVM instructions",
    anchor: Anchor::Module,
    options: &[],
    run,
};

/// The op that stands for a value of another type, as conversions between dialects leave it.
const CAST: &str = "builtin.unrealized_conversion_cast";

/// The symbol of a kernel's dynamic shared memory.
const SHARED: &str = "dynamic_smem";

fn run<'c>(rewriter: &Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    // A kernel and its launches change together, for a launch is checked against its kernel.
    each(kernels(module), |kernel| {
        crate::check_atoms::check(kernel)?;
        types::check(kernel)?;
        let launches = launches_of(module, kernel);
        launches::complete(kernel, &launches)?;
        Lowering::new(rewriter, kernel).run()
    })?;
    let launches = nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == gpu::LAUNCH_FUNC);
    each(launches, launches::pass_pointers)
}

/// The ops of MLIR's `gpu` dialect that a kernel may have here: those that MLIR's conversion to NVVM takes.
const GPU_OPS: &[&str] = &[
    gpu::BARRIER,
    gpu::BLOCK_DIM,
    gpu::BLOCK_ID,
    gpu::CLUSTER_BLOCK_ID,
    gpu::CLUSTER_DIM_BLOCKS,
    gpu::CLUSTER_ID,
    gpu::GLOBAL_ID,
    gpu::GRID_DIM,
    gpu::LANE_ID,
    gpu::PRINTF,
    gpu::RETURN,
    gpu::SHUFFLE,
    gpu::SUBGROUP_ID,
    gpu::SUBGROUP_SIZE,
    gpu::THREAD_ID,
];

fn check_gpu_op(op: Op<'_>) -> Result<(), Failure> {
    let name = name_of(op);
    if GPU_OPS.contains(&name) {
        return Ok(());
    }
    let cure = if matches!(name, gpu::SUBGROUP_REDUCE | gpu::ALL_REDUCE) {
        "cute-lower-algorithms makes shuffles of it, and comes before".to_owned()
    } else {
        format!("there are {}", GPU_OPS.join(", "))
    };
    Err(diag::error(
        op.location(),
        format!("'{name}' has no instruction; {cure}"),
    ))
}

/// A tensor with its swizzle on byte addresses, in a space that has them.
fn in_bytes<'c>(op: Op<'c>, memref: MemRef<'c>) -> Result<MemRef<'c>, Failure> {
    let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
    if matches!(memref.space, Space::Generic | Space::Tmem) {
        return Err(wrong(format!(
            "is in {}, which is not lowered; expected gmem or smem",
            memref.space
        )));
    }
    memref.in_bytes().map_err(wrong)
}

/// The tensor or the pointer that `op` sees as another type.
fn seen_anew<'c>(op: Op<'c>) -> Option<Val<'c>> {
    cute::GetIter::of(op)
        .map(cute::GetIter::tensor)
        .or_else(|| Some(cute::MakeView::of(op)?.iter()))
        .or_else(|| Some(cute::Recast::of(op)?.tensor()))
        .or_else(|| Some(cute::RecastIter::of(op)?.iter()))
        .or_else(|| Some(cute::Derefine::of(op)?.value()))
}

struct Lowering<'c, 'r> {
    rewriter: &'r Rewriter<'c>,
    kernel: Op<'c>,
    addresses: HashMap<ValueKey, Address<'c>>,
    /// Integers that cute values stand for: coordinates and integer tuples, by value.
    scalars: HashMap<ValueKey, Vec<Val<'c>>>,
    /// Start of the dynamic shared memory, once used.
    shared: Option<Val<'c>>,
    /// The states that atoms are given beside their operands, by value.
    states: HashMap<ValueKey, atoms::State<'c>>,
    dead: Vec<Op<'c>>,
}

impl<'c, 'r> Lowering<'c, 'r> {
    fn new(rewriter: &'r Rewriter<'c>, kernel: Op<'c>) -> Self {
        Self {
            rewriter,
            kernel,
            addresses: HashMap::new(),
            scalars: HashMap::new(),
            shared: None,
            states: HashMap::new(),
            dead: Vec::new(),
        }
    }

    fn run(mut self) -> Result<(), Failure> {
        let body = body_of_kernel(self.kernel)?;
        self.arguments(body)?;
        self.block(body)?;
        self.rewriter.erase_all(self.dead)
    }

    /// Tensors of the kernel become pointers.
    fn arguments(&mut self, body: Blk<'c>) -> Result<(), Failure> {
        let b = Builder::before(self.kernel);
        let pointer = b.ty("!llvm.ptr<1>")?;
        let mut inputs = Vec::new();
        let mut attributes = Vec::new();
        for (i, value) in arguments_of(body).into_iter().enumerate() {
            let noalias = if aliasing::is_apart(self.kernel, i) {
                ", llvm.noalias"
            } else {
                ""
            };
            let attribute = |align: i64| format!("{{llvm.align = {align} : i32{noalias}}}");
            match CuteType::of(value.r#type()) {
                Some(CuteType::Ptr(memref)) => {
                    set_type(value, pointer);
                    inputs.push(pointer);
                    attributes.push(attribute(memref.align));
                    self.addresses
                        .insert(key(value), Address::pointer_to(value, &memref));
                }
                Some(CuteType::MemRef(memref)) => {
                    let bytes = memref.bytes().map_err(|e| b.error(e))?;
                    set_type(value, pointer);
                    inputs.push(pointer);
                    attributes.push(attribute(memref.align));
                    self.addresses
                        .insert(key(value), Address::global(value, &memref, bytes));
                }
                _ => {
                    inputs.push(value.r#type());
                    attributes.push("{}".to_owned());
                }
            }
        }
        let ty = function_type(b.context, &inputs, &[]);
        set_attribute(self.kernel, "function_type", b.type_attribute(ty));
        let attributes = b.attribute(&format!("[{}]", attributes.join(", ")))?;
        set_attribute(self.kernel, "arg_attrs", attributes);
        Ok(())
    }

    fn block(&mut self, block: Blk<'c>) -> Result<(), Failure> {
        for op in ops_of(block) {
            if name_of(op).starts_with("cute.") || name_of(op).starts_with("cute_nvgpu.") {
                self.op(op, Builder::before(op))?;
                self.dead.push(op);
            } else if name_of(op).starts_with("vector.") {
                registers::vector_op(self.rewriter, op)?;
            } else if name_of(op).starts_with("math.") || name_of(op).starts_with("arith.") {
                math::math_op(self.rewriter, op)?;
            } else {
                if name_of(op).starts_with("gpu.") {
                    check_gpu_op(op)?;
                }
                for region in 0..op.region_count() {
                    if let Some(inner) = body_of(op, region) {
                        self.block(inner)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        match name_of(op) {
            cute::STATIC | cute::TILED_MMA_PARTITION_SHAPE => return Ok(()),
            // Of a tensor of dynamic layout, the leaves are read by whoever needs them.
            cute::MAKE_SHAPE | cute::MAKE_STRIDE | cute::MAKE_LAYOUT => return Ok(()),
            _ => {}
        }
        if let Some(op) = cute::MakeCoord::of(op) {
            self.scalars.insert(key(op.result()), op.leaves());
        } else if let Some(op) = cute::MakeIntTuple::of(op) {
            self.scalars.insert(key(op.result()), op.leaves());
        } else if let Some(op) = cute::Assume::of(op) {
            self.scalars.insert(key(op.result()), vec![op.value()]);
        } else if let Some(op) = cute::MemrefAlloca::of(op) {
            self.alloca(op, b)?;
        } else if let Some(op) = cute::Ptrtoint::of(op) {
            pointers::to_integer(op, self.address(op.pointer(), b)?, b)?;
        } else if let Some(op) = cute::Inttoptr::of(op) {
            let known = self.scalars.get(&key(op.address()));
            let integer = known.and_then(|leaves| leaves.first().copied());
            let address = pointers::from_integer(op, integer.unwrap_or(op.address()), b)?;
            self.addresses.insert(key(op.pointer()), address);
        } else if let Some(source) = seen_anew(op) {
            self.reinterpret(op, source, b)?;
        } else if let Some(op) = cute::AddOffset::of(op) {
            self.add_offset(op, b)?;
        } else if let Some(load) = cute::MemrefLoad::of(op) {
            let pointer = self.element(load.tensor(), load.coord(), b)?;
            let value = memory::load_element(b, pointer, load.value().r#type())?;
            replace_uses(load.value(), value);
        } else if let Some(store) = cute::MemrefStore::of(op) {
            let pointer = self.element(store.tensor(), store.coord(), b)?;
            memory::store_element(b, store.value(), pointer)?;
        } else if let Some(op) = cute::Prefetch::of(op) {
            self.prefetch(op, b)?;
        } else if !self.view(op, b)? && !self.atom_op(op, b)? {
            return Err(b.error(format!(
                "'{}' has no instruction form; an earlier pass of --cute-compile lowers it: cute-lower-layouts where it computes layouts",
                name_of(op)
            )));
        }
        Ok(())
    }

    /// One request for a tensor that the cache holds in one piece.
    fn prefetch(&self, op: cute::Prefetch<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let tensor = *op.args().first().expected(b, "a tensor")?;
        let pointer = self.address(tensor, b)?.pointer(b, 0)?;
        let level = op.level().and_then(string_value).unwrap_or("L2");
        // LLVM selects its intrinsic from sm_90 on only; PTX has the instruction for all.
        let text = format!("prefetch.global.{level} [$0];");
        registers::assembly(b, &text, "l", &[pointer], &[])?;
        Ok(())
    }

    fn address(&self, value: Val<'c>, b: Builder<'c>) -> Result<&Address<'c>, Failure> {
        self.addresses.get(&key(value)).ok_or_else(|| {
            b.error("expected a tensor in memory; register tensors are turned into values by cute-fragments-to-values")
        })
    }

    /// The integers of a coordinate's dynamic leaves.
    fn scalars_of(&self, value: Val<'c>, b: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        if let Some(values) = self.scalars.get(&key(value)) {
            return Ok(values.clone());
        }
        match CuteType::of(value.r#type()) {
            Some(CuteType::Coord(tuple) | CuteType::IntTuple(tuple)) if tuple.is_static() => {
                Ok(Vec::new())
            }
            _ => Err(b.error(
                "expected a coordinate that this kernel makes; run cute-lower-layouts first",
            )),
        }
    }

    fn alloca(&mut self, op: cute::MemrefAlloca<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let memref = cute_ir::types::memref_of(op.result()).expected(b, "a tensor")?;
        let memref = in_bytes(op.op(), memref)?;
        let Some(offset) = op.offset().and_then(integer_value) else {
            return Err(b.error("expected a tensor that has its place in shared memory; run cute-allocate-shared first"));
        };
        let base = match self.shared {
            Some(base) => base,
            None => self.shared_memory(b)?,
        };
        self.addresses
            .insert(key(op.result()), Address::shared(base, &memref, offset));
        Ok(())
    }

    /// The start of dynamic shared memory, as a symbol of the kernel's module.
    fn shared_memory(&mut self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let module = parent_of(self.kernel, gpu::MODULE);
        let module = module.expected(self.kernel, "a gpu.module around the kernel")?;
        let all = ops_of(body_of(module, 0).expected(module, "a body")?);
        let exists = all
            .iter()
            .any(|op| string_of(*op, "sym_name") == Some(SHARED));
        if !exists {
            let place = Builder::before(*all.first().expected(module, "an op in the body")?);
            place.with_regions(
                llvm::MLIR_GLOBAL,
                &[],
                &[],
                &[
                    ("sym_name", place.string(SHARED)),
                    (
                        "global_type",
                        place.type_attribute(place.ty("!llvm.array<0 x i8>")?),
                    ),
                    ("linkage", place.attribute("#llvm.linkage<external>")?),
                    ("addr_space", place.integer(place.i32_type(), 3)),
                    // The most that the hardware's own swizzles need.
                    ("alignment", place.i64_attribute(1024)),
                ],
                vec![Detached::empty()],
            )?;
        }
        // Where every use sees it.
        let body = body_of(self.kernel, 0).expected(self.kernel, "a body")?;
        let first = ops_of(body).into_iter().next();
        let first = first.expected(self.kernel, "an op in the body")?;
        let top = Builder::before(first).at_location(b.location);
        let pointer = top.ty("!llvm.ptr<3>")?;
        let name = top.attribute(&format!("@{SHARED}"))?;
        let base = top.value(llvm::MLIR_ADDRESSOF, &[], pointer, &[("global_name", name)])?;
        self.shared = Some(base);
        Ok(base)
    }

    /// Records a view: the source's address, and what the coordinate adds; false where `op` makes no view.
    fn view(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        let mut types = Vec::new();
        let (mut source, mut coord) = (None, None);
        for operand in operands_of(op) {
            // A tensor that is an argument has another type by now.
            if let Some(address) = self.addresses.get(&key(operand)) {
                types.push(CuteType::MemRef(address.memref.clone()));
                source = Some(operand);
                continue;
            }
            let Some(ty) = CuteType::of(operand.r#type()) else {
                return Ok(false);
            };
            if matches!(ty, CuteType::Coord(_)) {
                coord = Some(operand);
            }
            types.push(ty);
        }
        let (Some(source), Some(view)) = (source, infer::traced_view(op, &types)) else {
            return Ok(false);
        };
        let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        let view = view.map_err(wrong)?;
        let address = self.moved(self.address(source, b)?.clone(), &view, coord, b)?;
        let memref = view.of(&address.memref, &[]).map_err(wrong)?;
        self.addresses
            .insert(key(result_of(op, 0)), address.seen_as(memref));
        Ok(true)
    }

    /// An address, moved to where a view starts.
    fn moved(
        &self,
        mut address: Address<'c>,
        view: &View,
        coord: Option<Val<'c>>,
        b: Builder<'c>,
    ) -> Result<Address<'c>, Failure> {
        let bytes = address.memref.element_bytes();
        let leaves = match coord {
            Some(coord) => self.scalars_of(coord, b)?,
            None => Vec::new(),
        };
        for term in &view.terms {
            match (term.index, term.layout.flat()) {
                (Index::Known(0), _) => {}
                (Index::Known(i), Some(flat)) => {
                    address.constant = flat
                        .checked_at(i)
                        .and_then(|o| o.checked_mul(bytes))
                        .and_then(|o| o.checked_add(address.constant))
                        .ok_or_else(|| b.error("an offset overflows 64 bits"))?;
                }
                (Index::Leaf(k), Some(_)) => {
                    let leaf = leaves.get(k).ok_or_else(|| {
                        b.error("expected a coordinate that this kernel makes; run cute-lower-layouts first")
                    })?;
                    let added = address::evaluate(
                        b,
                        &term.layout,
                        *leaf,
                        term.signed,
                        bytes,
                        address.width,
                    )?;
                    address.add(b, added)?;
                }
                (_, None) => {
                    return Err(b.error(format!(
                        "expected a tensor of static layout, found {}; run cute-lower-layouts first",
                        term.layout
                    )));
                }
            }
        }
        Ok(address)
    }

    /// The same address, as another type says.
    fn reinterpret(&mut self, op: Op<'c>, source: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let result = result_of(op, 0);
        let Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) = CuteType::of(result.r#type())
        else {
            return Err(b.error(format!(
                "'{}' is on coordinates; run cute-lower-layouts first",
                name_of(op)
            )));
        };
        let memref = in_bytes(op, memref)?;
        let address = self.address(source, b)?.clone();
        if memref.swizzle.is_none() && !address.is_unswizzled() {
            return Err(b.error(format!(
                "'{}' starts within a swizzled tensor; expected the pointer of the whole tensor, or a pointer with the swizzle",
                name_of(op)
            )));
        }
        self.addresses.insert(key(result), address.seen_as(memref));
        Ok(())
    }

    fn add_offset(&mut self, op: cute::AddOffset<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let mut address = self.address(op.iter(), b)?.clone();
        let bytes = address.memref.element_bytes();
        let Some(CuteType::IntTuple(IntTuple::Leaf(offset))) = CuteType::of(op.offset().r#type())
        else {
            return Err(b.error("expected one integer as an offset"));
        };
        match offset.as_static() {
            Some(offset) => {
                address.constant = offset
                    .checked_mul(bytes)
                    .and_then(|o| o.checked_add(address.constant))
                    .ok_or_else(|| b.error("an offset overflows 64 bits"))?;
            }
            None => {
                let leaf = self.scalars_of(op.offset(), b)?;
                let leaf = *leaf.first().expected(b, "the leaf of an offset")?;
                address.add_elements(b, leaf, bytes)?;
            }
        }
        let memref = match CuteType::of(op.result().r#type()) {
            Some(CuteType::Ptr(memref)) => memref,
            _ => return Err(b.error("expected a pointer")),
        };
        self.addresses
            .insert(key(op.result()), address.seen_as(memref));
        Ok(())
    }

    /// The pointer of one element.
    fn element(&self, tensor: Val<'c>, coord: Val<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let Some(CuteType::Coord(at)) = CuteType::of(coord.r#type()) else {
            return Err(b.error("expected a coordinate"));
        };
        let address = self.address(tensor, b)?.clone();
        let view = view::slice(&address.memref.layout, &at).map_err(|e| b.error(e))?;
        self.moved(address, &view, Some(coord), b)?.pointer(b, 0)
    }

    /// The pointer of one atom of a partition.
    fn atom(&self, value: Val<'c>, at: &[i64], b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let address = self.address(value, b)?;
        let access = tensor::atom_access(&address.memref.layout, at).map_err(|e| b.error(e))?;
        address.pointer(b, access.offset * address.memref.element_bytes())
    }
}

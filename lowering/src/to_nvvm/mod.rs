//! `cute-to-nvvm`: from atoms on views to instructions on addresses.
//!
//! A view becomes a base pointer and a byte offset: what depends on the thread, the block or a
//! loop as integer operations that its layouts spell out, and a constant (`address.rs`, the numbers in which
//! `cute_ir::interpret` follows views here). Each atom adds its place, swizzles the sum, and becomes the instruction of
//! its table (`atoms.rs`), a file an architecture. The arithmetic is left as the layouts give it;
//! `cute-simplify-indices` comes next.

mod address;
pub(crate) mod aliasing;
mod atoms;
mod clusters;
mod hopper;
mod launches;
mod math;
mod memory;
mod mma_sync;
mod narrow;
mod pointers;
mod power;
mod reduce;
mod registers;
mod sm75;
mod sm80;
mod sm90;
mod starts;
pub(crate) mod types;
mod universal;
mod wgmma;

pub use atoms::lowers;

use address::Address;
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    args::{ElementArgs, at_of},
    attributes::{DIVISOR, TENSOR_MAPS},
    diag::{self, each},
    interpret::{Place, Views},
    mlir::*,
    ops::{arith, cf, cute, cute_nvgpu, gpu},
    types::CuteType,
};
use cute_passes::{
    arch::{self, WARP},
    kernel::body_of_kernel,
    launch::launches_of,
    memory::is_apart,
};
use cute_target::Arch;
use melior::ir::{ValueLike, operation::OperationLike};
use registers::Assembled;
use starts::SharedMemory;
use std::collections::HashMap;

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-to-nvvm",
    description: "Lower views and atoms to pointers and NVVM instructions",
    anchor: Anchor::Module,
    options: &[],
    run,
};

/// The op that stands for a value of another type, as conversions between dialects leave it.
const CAST: &str = "builtin.unrealized_conversion_cast";

fn run<'c>(rewriter: &Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    // A kernel and its launches change together, for a launch is checked against its kernel.
    each(kernels(module), |kernel| {
        crate::check_atoms::check(kernel)?;
        types::check(kernel)?;
        let launches = launches_of(module, kernel);
        launches::complete(kernel, &launches)?;
        clusters::check(kernel, &launches)?;
        Lowering::new(rewriter, kernel)?.run()
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
    gpu::THREAD_ID,
];

/// Tells whether an op is of our dialects.
fn is_ours(op: Op<'_>) -> bool {
    let name = name_of(op);
    name.starts_with("cute.") || name.starts_with("cute_nvgpu.")
}

/// Tells whether an op chooses one of two tensor maps, which are pointers by now.
fn is_choice_of_maps(op: Op<'_>) -> bool {
    name_of(op) == arith::SELECT
        && matches!(
            CuteType::of(result_of(op, 0).r#type()),
            Some(CuteType::Tma { .. })
        )
}

/// A tensor or a pointer that an op of another dialect takes, such as a choice, a loop or the end of a branch; none of a cast, which has a form.
fn handed_on<'c>(op: Op<'c>) -> Option<Val<'c>> {
    let is_address = |value: &Val| {
        matches!(
            CuteType::of(value.r#type()),
            Some(CuteType::Ptr(_) | CuteType::MemRef(_))
        )
    };
    let all = operands_of(op).into_iter();
    all.filter(|_| name_of(op) != CAST).find(is_address)
}

fn check_gpu_op(op: Op<'_>) -> Result<(), Failure> {
    let name = name_of(op);
    if let Some(shuffle) = gpu::Shuffle::of(op) {
        return check_shuffle(shuffle);
    }
    if GPU_OPS.contains(&name) {
        return Ok(());
    }
    let cure = match name {
        gpu::SUBGROUP_REDUCE | gpu::ALL_REDUCE => {
            "cute-lower-algorithms makes shuffles of it, and comes before".to_owned()
        }
        gpu::SUBGROUP_ID => {
            "divide the index of the thread in its block by 32: gpu.thread_id x, where a block has one dimension".to_owned()
        }
        gpu::SUBGROUP_SIZE => {
            "write 32 in its place, as warps have so many threads".to_owned()
        }
        _ => format!("there are {}", GPU_OPS.join(", ")),
    };
    Err(diag::error(
        op.location(),
        format!("'{name}' has no instruction; {cure}"),
    ))
}

/// Checks that all lanes of a warp take part in a shuffle: of a smaller width MLIR makes one with a mask of the first lanes alone, which is
/// undefined for the others (PTX ISA, `shfl.sync`).
fn check_shuffle(shuffle: gpu::Shuffle<'_>) -> Result<(), Failure> {
    let width = constant_of(shuffle.width());
    if width == Some(WARP) {
        return Ok(());
    }
    let found = width.map_or_else(
        || "one that is no constant".to_owned(),
        |width| width.to_string(),
    );
    Err(diag::error(
        shuffle.op().location(),
        format!(
            "'{}' op expected the constant {WARP} as its width, found {found}: of another one the lanes behind it have no part in the instruction, \
             and what it does for them is undefined; give {WARP}, with which an xor by less than a power of two stays in groups of so many lanes, \
             and for other modes compute the lane and shuffle by idx",
            gpu::SHUFFLE
        ),
    ))
}

struct Lowering<'c, 'r> {
    rewriter: &'r Rewriter<'c>,
    kernel: Op<'c>,
    /// The architectures that it is compiled for.
    archs: Vec<Arch>,
    views: Views<'c, Address<'c>>,
    shared: SharedMemory<'c>,
    /// The states that atoms are given beside their operands, by value.
    states: HashMap<ValueKey, atoms::State<'c>>,
    /// The modes of pixels of atoms that load by im2col, by value: what is left of an atom is a pointer.
    pixel_modes: HashMap<ValueKey, usize>,
    dead: Vec<Op<'c>>,
    /// The vectors whose elements may have been taken as they came.
    vectors: Assembled<'c>,
    /// True where a condition that does not hold ends the kernel without a message, as no function may be called.
    traps: bool,
}

impl<'c, 'r> Lowering<'c, 'r> {
    fn new(rewriter: &'r Rewriter<'c>, kernel: Op<'c>) -> Result<Self, Failure> {
        let archs = parent_of(kernel, gpu::MODULE).map_or(Ok(Vec::new()), arch::of_module);
        Ok(Self {
            rewriter,
            kernel,
            archs: archs.map_err(|e| diag::error(kernel.location(), e))?,
            views: Views::default(),
            shared: SharedMemory::of(kernel),
            states: HashMap::new(),
            pixel_modes: HashMap::new(),
            dead: Vec::new(),
            vectors: Assembled::default(),
            traps: nested_ops(kernel)
                .into_iter()
                .any(|op| name_of(op) == cute_nvgpu::ATOM_WGMMA),
        })
    }

    fn run(mut self) -> Result<(), Failure> {
        let body = body_of_kernel(self.kernel)?;
        self.arguments(body)?;
        self.block(body)?;
        self.rewriter.erase_all(self.dead)?;
        self.vectors.erase_unused(self.rewriter)
    }

    /// Tensors of the kernel become pointers.
    fn arguments(&mut self, body: Blk<'c>) -> Result<(), Failure> {
        let b = Builder::before(self.kernel);
        let pointer = b.ty("!llvm.ptr<1>")?;
        let mut inputs = Vec::new();
        let mut attributes = Vec::new();
        let mut maps = Vec::new();
        for (i, value) in arguments_of(body).into_iter().enumerate() {
            let noalias = if is_apart(self.kernel, i) {
                ", llvm.noalias"
            } else {
                ""
            };
            let attribute = |align: i64| format!("{{llvm.align = {align} : i32{noalias}}}");
            if let Some(CuteType::Ptr(_) | CuteType::MemRef(_)) = CuteType::of(value.r#type())
                && let Some(user) = users_of(value).into_iter().find(|user| !is_ours(*user))
            {
                return Err(no_form(value, user));
            }
            match CuteType::of(value.r#type()) {
                Some(CuteType::Ptr(memref)) => {
                    set_type(value, pointer);
                    inputs.push(pointer);
                    attributes.push(attribute(memref.align));
                    let start = Address::pointer_to(value);
                    self.views.set(value, Place { memref, start });
                }
                Some(CuteType::MemRef(memref)) => {
                    let bytes = memref.bytes().map_err(|e| b.error(e))?;
                    set_type(value, pointer);
                    inputs.push(pointer);
                    attributes.push(attribute(memref.align));
                    let start = Address::global(value, bytes);
                    self.views.set(value, Place { memref, start });
                }
                Some(CuteType::Tma { .. }) => {
                    // The map itself, where no thread writes it: a launch passes its bytes.
                    let map = b.ty("!llvm.ptr")?;
                    if let Some(modes) = cute_ir::hopper::pixel_modes(value) {
                        self.pixel_modes.insert(key(value), modes);
                    }
                    set_type(value, map);
                    inputs.push(map);
                    attributes.push("{}".to_owned());
                    maps.push(i as i64);
                }
                _ => {
                    inputs.push(value.r#type());
                    let divisor = argument_attribute(self.kernel, i, DIVISOR);
                    let divisor = divisor.map(|divisor| format!("{DIVISOR} = {divisor}"));
                    attributes.push(format!("{{{}}}", divisor.unwrap_or_default()));
                }
            }
        }
        let ty = function_type(b.context, &inputs, &[]);
        set_attribute(self.kernel, "function_type", b.type_attribute(ty));
        let attributes = b.attribute(&format!("[{}]", attributes.join(", ")))?;
        set_attribute(self.kernel, "arg_attrs", attributes);
        if !maps.is_empty() {
            set_attribute(self.kernel, TENSOR_MAPS, b.i64_array(&maps));
        }
        Ok(())
    }

    fn block(&mut self, block: Blk<'c>) -> Result<(), Failure> {
        for op in ops_of(block) {
            if is_ours(op) {
                self.vectors.note(op);
                self.op(op, Builder::before(op))?;
                self.dead.push(op);
            } else if let Some(value) = handed_on(op) {
                return Err(no_form(value, op));
            } else if name_of(op).starts_with("vector.") {
                self.vectors.note(op);
                registers::vector_op(self.rewriter, op)?;
            } else if name_of(op) == CAST && self.pointer_of_llvm(op)? {
                self.dead.push(op);
            } else if is_choice_of_maps(op) {
                set_type(result_of(op, 0), Builder::before(op).ty("!llvm.ptr")?);
            } else if name_of(op).starts_with("math.") || name_of(op).starts_with("arith.") {
                let known = narrow::names_bits(op);
                let target = (self.kernel, &self.archs[..]);
                if !known && !narrow::convert(self.rewriter, op, target)? {
                    math::math_op(self.rewriter, op)?;
                }
            } else if let Some(assertion) = cf::Assert::of(op).filter(|_| self.traps) {
                wgmma::trap_unless(Builder::before(op), assertion.arg())?;
                self.dead.push(op);
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

    /// A pointer of ours as one of LLVM's, which ops of other dialects take; false where the cast is another one.
    fn pointer_of_llvm(&self, cast: Op<'c>) -> Result<bool, Failure> {
        let (operands, results) = (operands_of(cast), results_of(cast));
        let ([from], [to]) = (&operands[..], &results[..]) else {
            return Ok(false);
        };
        let Some(place) = self.views.get(*from) else {
            return Ok(false);
        };
        let b = Builder::before(cast);
        let pointer = place.start.pointer(b, None)?;
        if pointer.r#type() != to.r#type() {
            return Err(b.error(format!(
                "expected a cast to {}, as pointers into {} are, found one to {}",
                pointer.r#type(),
                place.memref.space,
                to.r#type()
            )));
        }
        replace_uses(*to, pointer);
        Ok(true)
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        match name_of(op) {
            cute::STATIC | cute::TILED_MMA_PARTITION_SHAPE => return Ok(()),
            // What is asked of a layout that is known has been answered.
            cute::GET_LAYOUT if users_of(result_of(op, 0)).is_empty() => return Ok(()),
            // Of a tensor of dynamic layout, the leaves are read by whoever needs them.
            cute::MAKE_SHAPE | cute::MAKE_STRIDE | cute::MAKE_LAYOUT => return Ok(()),
            // The integers of a coordinate are read where it is used.
            cute::MAKE_COORD | cute::MAKE_INT_TUPLE | cute::ASSUME => return Ok(()),
            _ => {}
        }
        if self.descriptor_op(op, b)? || self.views.op(&mut self.shared.at(op), op)? {
            return Ok(());
        }
        if let Some(op) = cute::Ptrtoint::of(op) {
            pointers::to_integer(op, &self.place(op.pointer(), b)?.start, b)?;
        } else if let Some(load) = cute::MemrefLoad::of(op) {
            let pointer = self.element(op, b)?;
            let value = memory::load_element(b, pointer, load.value().r#type())?;
            replace_uses(load.value(), value);
        } else if let Some(store) = cute::MemrefStore::of(op) {
            let pointer = self.element(op, b)?;
            memory::store_element(b, store.value(), pointer)?;
        } else if let Some(op) = cute::Prefetch::of(op) {
            self.prefetch(op, b)?;
        } else if !self.atom_op(op, b)? && !self.hopper_op(op, b)? {
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
        let place = self.place(tensor, b)?;
        let pointer = place.start.pointer(b, place.memref.swizzle)?;
        let level = op.level().and_then(string_value).unwrap_or("L2");
        // LLVM selects its intrinsic from sm_90 on only; PTX has the instruction for all.
        let text = format!("prefetch.global.{level} [$0];");
        registers::assembly(b, &text, "l", &[pointer], &[])?;
        Ok(())
    }

    fn place(&self, value: Val<'c>, b: Builder<'c>) -> Result<&Place<'c, Address<'c>>, Failure> {
        self.views.get(value).ok_or_else(|| starts::no_start(b))
    }

    /// The pointer of one element.
    fn element(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let element = ElementArgs::of(op).expected(op, "a tensor and a coordinate")?;
        let place = self.views.element(&mut self.shared.at(op), element)?;
        place.start.pointer(b, place.memref.swizzle)
    }

    /// The pointer of the atom of a partition that `op` names.
    fn atom(&mut self, op: Op<'c>, value: Val<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let at = at_of(op);
        let place = self.views.atom(&mut self.shared.at(op), value, &at)?;
        place.start.pointer(b, place.memref.swizzle)
    }
}

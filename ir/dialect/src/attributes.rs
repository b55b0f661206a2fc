//! Names of attributes that stand on ops, arguments and results of any dialect.
//!
//! Each of our own dialects is verified: its form, and where it is read (`verify/attributes.rs`).

/// M, N and K of a block's tile of a product of whole tensors.
pub const TILE: &str = "cute.tile";
/// Warps along M and N of a block that computes a product of whole tensors.
pub const WARPS: &str = "cute.warps";
/// The buffers of each ring in shared memory: of a product of whole tensors, of a loop that is to be pipelined, or of one
/// tensor that a loop fills.
pub const STAGES: &str = "cute.stages";
/// Blocks along M of a product of whole tensors that are neighbours in launch order.
pub const RASTER: &str = "cute.raster";
/// Blocks that share the sums of a tile of a product of whole tensors, each along a range of K.
pub const SPLIT: &str = "cute.split";
/// Blocks of a multiprocessor that the last tiles of a product of whole tensors are dealt out to, by even ranges along K.
pub const STREAM: &str = "cute.stream";
/// The swizzle of the tiles in shared memory of a product of whole tensors.
pub const SWIZZLE: &str = "cute.swizzle";
/// A loop that is written out: all of it, so that its index is known to what it indexes, or as many turns at a time as the
/// attribute says.
pub const UNROLL: &str = "cute.unroll";
/// The most turns of a loop that are written out.
pub const MOST_TURNS: i64 = 4096;
/// The iteration lag of an operation in a scheduled loop, in iterations.
pub const STAGE: &str = "cute.stage";
/// The place of an operation within an interval of the schedule.
pub const ORDER: &str = "cute.order";
/// The cycles until what an operation of a loop makes may be used.
pub const LATENCY: &str = "cute.latency";
/// The unit of a multiprocessor that an operation of a loop occupies, by name.
pub const UNIT: &str = "cute.unit";
/// The cycles for which an operation of a loop occupies its unit.
pub const CYCLES: &str = "cute.cycles";
/// The registers that a thread of the warpgroup that copies has, and one of those that compute, in a kernel that is cut into these roles.
pub const ROLES: &str = "cute.roles";
/// The blocks of a cluster of a kernel whose warps get roles, along x of its grid.
pub const CLUSTER: &str = "cute.cluster";
/// A loop of a kernel whose warps get roles, the turns of which so many groups of those who compute take in turn.
pub const TEAMS: &str = "cute.teams";
/// A branch in which so many threads stay together, which are those that take its first region: the number of their barrier, and theirs; and
/// how many such groups take it, each with a barrier of its own, of the numbers that follow.
pub const TOGETHER: &str = "cute.together";
/// A kernel that leaves it to the compiler to order the accesses of its threads to shared memory.
pub const SYNCHRONIZE: &str = "cute.synchronize";
/// An allocation in shared memory whose accesses the tokens of a pipeline order.
pub const RING: &str = "cute.ring";
/// The plan that a kernel was tiled by, and that a product of whole tensors is to be tiled by: a `#cute.plan`.
pub const PLAN: &str = "cute.plan";
/// A kernel of a map whose blocks compute one row after another, so many of them on a multiprocessor as [`MIN_BLOCKS`] says.
pub const STAYS: &str = "cute.stays";
/// The plan of the first product of a kernel that computes a map with sums of products.
pub const FUSED: &str = "cute.fused";
/// The bytes of dynamic shared memory that a kernel needs.
pub const DYNAMIC_SMEM: &str = "cute.dynamic_smem";
/// The arguments of a kernel that are tensor maps, by index.
pub const TENSOR_MAPS: &str = "cute.tensor_maps";
/// A launch of a kernel that itself waits for what is before in the stream.
pub const DEPENDENT: &str = "cute.dependent";
/// Pairs of a launch's kernel operands that must not overlap, one after the other.
pub const DISJOINT: &str = "cute.disjoint";
/// The products that a function of the host computes, so that a run can be verified.
pub const COMPUTES: &str = "cute.computes";
/// The kernels that registers are too few for, each with its plan if it has one, on a module that failed to be assembled.
pub const SHORT_OF_REGISTERS: &str = "cute.short_of_registers";
/// The PTX version that instructions of a GPU module need, as in 84 for 8.4, where it is more than that of its target.
pub const PTX: &str = "cute.ptx";
/// The name of an argument of a function of the host.
pub const NAME: &str = "cute.name";
/// The value of an argument of a function of the host where none is given.
pub const DEFAULT: &str = "cute.default";
/// The way in which a function of the host accesses an argument's memory.
pub const ACCESS: &str = "cute.access";
/// A kernel's argument that is apart: what is written through it is reached through no other one, and the other way round.
pub const NOALIAS: &str = "cute.noalias";
/// The least value of a kernel's argument that is an integer, at least 0.
pub const LEAST: &str = "cute.least";
/// A divisor of a kernel's argument that is an integer.
pub const DIVISOR: &str = "cute.divisor";

/// The parameters of a module or function, by name: each with its default, or the word for its kind.
pub const PARAMETERS: &str = "cute.parameters";
/// The attributes that an op has once parameters are known, by name.
pub const GIVEN: &str = "cute.given";

//===-- Of MLIR's dialects -----------------------------------------------------===//

/// A module that has GPU modules in it.
pub const CONTAINER_MODULE: &str = "gpu.container_module";
/// A function of a GPU module that is launched.
pub const GPU_KERNEL: &str = "gpu.kernel";
/// A function in the LLVM dialect that is launched.
pub const NVVM_KERNEL: &str = "nvvm.kernel";
/// An argument of a function that is apart, as [`NOALIAS`] says.
pub const LLVM_NOALIAS: &str = "llvm.noalias";
/// The blocks of a kernel that a multiprocessor has to have room for at least.
pub const MIN_BLOCKS: &str = "nvvm.minctasm";
/// The registers that a thread of a kernel has at most.
pub const MOST_REGISTERS: &str = "nvvm.maxnreg";

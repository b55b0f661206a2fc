//! A kernel as the executor sees it: registers are rows, names are gone, jumps are indices.

mod asynchronous;
mod matrices;
mod registers;
mod speculation;

use std::collections::BTreeMap;

use std::ops::Range;

use super::address::SHARED_START;
use super::alu::{Kind as AluKind, Video};
use super::lanes::Row;
use super::mma::Matrices;
use crate::ptx::{Class, Place};
pub(super) use asynchronous::{
    At, Bulk, BulkKind, ClusterBarrier, MapOp, MaxRegisters, StoreAsync, WarpgroupOperand, Wgmma,
};
pub(super) use matrices::{FragmentAccess, MmaOp, Product, SparseOp, WmmaOp};
pub(super) use speculation::{Fate, Speculation};

/// A row of the register file.
pub(super) type Reg = u32;
/// A predicate register.
pub(super) type Pred = u32;

/// A predicate that may be negated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub pred: Pred,
    pub negated: bool,
}

/// One instruction.
#[derive(Debug)]
pub(super) struct Inst {
    pub op: Op,
    pub guard: Option<Guard>,
}

/// The memory that an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    /// Parameters of the kernel.
    Param,
}

/// A load or a store of one or more registers.
#[derive(Debug)]
pub(super) struct Access {
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
    /// Bytes of one register in memory.
    pub bytes: u32,
    /// Sign-extend what is loaded to this many bits.
    pub signed: Option<u32>,
    /// None is `_`.
    pub regs: Vec<Option<Reg>>,
    pub order: Order,
    /// Tells whether what is loaded may not matter.
    pub speculated: bool,
    /// Tells whether an instruction reads a register that is loaded.
    pub is_read: bool,
    /// Bytes of a load up to the last register that an instruction reads: what is behind them comes along because memory moves in vectors, and is as if it were not read.
    pub taken: u32,
    /// The bytes of a load that are used, as `.pragma "used_bytes_mask"` says (PTX ISA, Pragma Strings): bit i is that of byte i. The others are as if they were not read.
    pub used: u32,
}

impl Access {
    /// Tells whether all of its first bytes are used. A strong load leaves none out, nor does one of shared memory of which all is looked at.
    pub(super) fn is_used_whole(&self, bytes: usize) -> bool {
        let all = u32::MAX >> (32 - bytes.clamp(1, 32));
        let is_looked_at = self.speculated && self.space != Space::Global;
        self.used & all == all || self.order.strong() || is_looked_at
    }
}

/// The threads that a strong access or a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Scope {
    /// The threads of the block: `.cta`.
    Block,
    /// Those of its cluster: `.cluster`.
    Cluster,
    /// All of the launch: `.gpu`, `.sys`.
    #[default]
    Device,
}

/// A fence of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    pub scope: Scope,
    /// Orders what strong reads before it have seen before what comes after it.
    pub acquires: bool,
    /// Orders what comes before it before what sees strong writes after it.
    pub releases: bool,
}

/// The synchronisation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Order {
    pub acquire: bool,
    pub release: bool,
    /// Bytes of an element if it is strong (`.relaxed`, `.volatile`, and those above), else 0.
    pub width: u8,
    /// Reads and writes as one operation.
    pub atomic: bool,
    /// Reads memory that nothing may write while the kernel runs (`.nc`).
    pub non_coherent: bool,
    pub scope: Scope,
}

impl Order {
    /// Tells whether the access is not weak.
    pub(super) fn strong(self) -> bool {
        self.width != 0
    }
}

/// `cp.async` to shared memory.
#[derive(Debug)]
pub(super) struct AsyncCopy {
    pub dst: (Reg, i64),
    pub src: (Reg, i64),
    /// Bytes that are copied: 4, 8 or 16.
    pub bytes: u32,
    pub source_bytes: Option<Reg>,
    pub ignore_source: Option<Guard>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierKind {
    Sync,
    Arrive,
    /// `bar.red`
    Popc(Reg),
    And(Pred),
    Or(Pred),
}

#[derive(Debug)]
pub(super) struct Barrier {
    pub kind: BarrierKind,
    pub id: Reg,
    /// Threads that take part; all of the block where there is none.
    pub count: Option<Reg>,
    pub aligned: bool,
    /// The predicate that `bar.red` reduces.
    pub operand: Option<Guard>,
}

/// An operation on an `mbarrier` object in shared memory.
#[derive(Debug)]
pub(super) struct Mbarrier {
    pub op: MbarrierOp,
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MbarrierOp {
    Init {
        count: Reg,
    },
    Invalidate,
    Arrive {
        /// Gets the phase that was arrived at.
        state: Option<Reg>,
        count: Option<Reg>,
        /// Bytes that the phase is to wait for besides.
        expect: Option<Reg>,
        drop: bool,
        /// Tells whether the phase must not end by it.
        no_complete: bool,
        release: bool,
    },
    ExpectTx {
        bytes: Reg,
    },
    CompleteTx {
        bytes: Reg,
    },
    Test {
        p: Option<Pred>,
        /// A phase, or its parity.
        state: Reg,
        parity: bool,
        acquire: bool,
        /// Tells whether the thread may sleep.
        blocks: bool,
    },
    /// `cp.async.mbarrier.arrive`
    CopiesArrive {
        noinc: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
}

#[derive(Debug)]
pub(super) struct Atomic {
    pub op: AtomicOp,
    /// Computes the new value of the plain ones: `f(memory, operand)`.
    pub combine: Option<fn(&mut Row, &Row, &Row, &Row)>,
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
    /// Bytes of one element; of 16, registers are the lower halves, and the upper ones the rows behind them.
    pub bytes: u32,
    /// The values from before, for each element whose are asked for; empty for `red`.
    pub d: Vec<Option<Reg>>,
    /// The operand for each element, which lie side by side: several in an `atom` or `red` of vectors, each atomic by itself.
    pub a: Vec<Reg>,
    pub b: Option<Reg>,
    pub order: Order,
}

impl Atomic {
    /// Rows of each register.
    pub(super) fn halves(&self) -> Reg {
        if self.bytes == 16 { 2 } else { 1 }
    }
}

#[derive(Debug)]
pub(super) enum Op {
    /// Computes on registers; `d`, `s`, predicates as the kind has them.
    Alu(Box<AluOp>),
    /// Computes on parts of registers.
    Video(Box<VideoOp>),
    /// A copy, which may copy what is not defined.
    Move {
        d: Reg,
        s: Reg,
    },
    MovePred {
        d: Pred,
        s: Guard,
    },
    /// `mov.b32 %r, {a, b}`: parts of `bits` bits, the lowest first.
    Pack {
        d: Reg,
        parts: Vec<Reg>,
        bits: u32,
    },
    Unpack {
        parts: Vec<Option<Reg>>,
        s: Reg,
        bits: u32,
    },
    /// A jump to an instruction.
    Branch(u32),
    /// A step from the end of a block to one that is not the next; no instruction of the text.
    Goto(u32),
    BranchIndex {
        index: Reg,
        targets: Vec<u32>,
    },
    /// Calls a function that is decoded once, not in place of its calls.
    Call(Box<Call>),
    /// The end of such a function.
    Return,
    /// The address of a variable of such a function, in its frame.
    FrameAddress {
        d: Reg,
        frame: Reg,
        offset: u64,
    },
    /// `alloca`: so many bytes at a multiple of `align` below the stack pointer, which moves there.
    StackAllocate {
        d: Reg,
        size: Reg,
        align: u64,
        pointer: Reg,
    },
    /// `stackrestore`, and the end of a function that allocates: the stack pointer is what it was.
    StackRestore {
        s: Reg,
        pointer: Reg,
    },
    Exit,
    Trap,
    Load(Box<Access>),
    Store(Box<Access>),
    /// `st.bulk`: so many bytes of zeros in shared memory.
    StoreBulk {
        space: Space,
        base: Reg,
        offset: i64,
        size: Reg,
    },
    /// A conversion to or from a generic address.
    Cvta {
        d: Reg,
        s: Reg,
        space: Space,
        to_space: bool,
        bits: u32,
    },
    IsSpace {
        p: Pred,
        s: Reg,
        space: Space,
    },
    AsyncCopy(Box<AsyncCopy>),
    AsyncCommit,
    /// Waits for all but the newest groups.
    AsyncWait(u32),
    AsyncWaitAll,
    Barrier(Box<Barrier>),
    Mbarrier(Box<Mbarrier>),
    WarpBarrier {
        members: Reg,
    },
    Fence(Fence),
    /// `fence.proxy.async`
    FenceProxy,
    /// `fence.mbarrier_init`
    FenceMbarrierInit,
    /// `mbarrier.pending_count`
    PendingCount {
        d: Reg,
        s: Reg,
    },
    Bulk(Box<Bulk>),
    Map(Box<MapOp>),
    StoreAsync(Box<StoreAsync>),
    BulkCommit,
    /// Waits for all but the newest groups; `read` for their reads alone.
    BulkWait {
        newest: u32,
        read: bool,
    },
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    /// Waits for all but the newest groups.
    WgmmaWait(u32),
    MaxRegisters(MaxRegisters),
    ClusterBarrier(ClusterBarrier),
    /// `mapa`
    MapAddress {
        d: Reg,
        s: Reg,
        rank: Reg,
    },
    Shuffle {
        kind: Shuffle,
        d: Reg,
        p: Option<Pred>,
        a: Reg,
        b: Reg,
        c: Reg,
        members: Reg,
    },
    Vote {
        kind: Vote,
        d: Option<Reg>,
        p: Option<Pred>,
        a: Guard,
        members: Reg,
    },
    /// `redux.sync`
    Reduce {
        f: fn(&mut Row, &Row, &Row, &Row),
        d: Reg,
        a: Reg,
        members: Reg,
    },
    MatchAny {
        d: Reg,
        a: Reg,
        members: Reg,
    },
    /// `match.all.sync`: all members, and that they agree.
    MatchAll {
        d: Option<Reg>,
        p: Option<Pred>,
        a: Reg,
        members: Reg,
    },
    Elect {
        d: Option<Reg>,
        p: Pred,
        members: Reg,
    },
    ActiveMask(Reg),
    LoadMatrix {
        matrices: Matrices,
        regs: Vec<Reg>,
        base: Reg,
        offset: i64,
    },
    StoreMatrix {
        matrices: Matrices,
        regs: Vec<Reg>,
        base: Reg,
        offset: i64,
    },
    MoveMatrix {
        d: Reg,
        s: Reg,
    },
    Mma(Box<MmaOp>),
    /// `mma.sp`
    SparseMma(Box<SparseOp>),
    /// `wmma.load`
    LoadFragment(Box<FragmentAccess>),
    /// `wmma.store`
    StoreFragment(Box<FragmentAccess>),
    /// `wmma.mma`
    Wmma(Box<WmmaOp>),
    Atomic(Box<Atomic>),
    /// A call of `vprintf`: where the pointers to its format and arguments lie, and its result.
    Printf {
        format: u64,
        arguments: u64,
        result: Option<u64>,
    },
    /// A call of `malloc`: where the number of bytes and the result lie, and the memory that it gives parts of.
    Allocate {
        bytes: u64,
        result: u64,
        heap: u64,
        size: u64,
    },
    /// A call of `__assertfail`: where its parameters lie.
    AssertFail {
        message: u64,
        file: u64,
        line: u64,
        function: u64,
    },
    Clock {
        d: Reg,
        bits: u32,
        /// The lowest of them, in the clock.
        shift: u32,
    },
    /// A hint, such as a prefetch.
    Hint,
}

impl Op {
    /// Tells whether it completes after its issue as an agent of its own.
    pub(super) fn is_asynchronous(&self) -> bool {
        matches!(self, Op::Bulk(_) | Op::StoreAsync(_) | Op::Wgmma(_))
    }
}

/// A video instruction and its registers.
#[derive(Debug)]
pub(super) struct VideoOp {
    pub video: Video,
    pub d: Reg,
    pub a: Reg,
    pub b: Reg,
    pub c: Option<Reg>,
}

/// A call of a function that recurs, or whose address was taken.
#[derive(Debug)]
pub(super) struct Call {
    pub callee: Callee,
    /// Places of what is passed in the thread's memory, and bytes.
    pub arguments: Vec<(u64, u64)>,
    /// Places of results, and bytes.
    pub returns: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Callee {
    /// Index into [`Kernel::functions`].
    Function(u32),
    /// A register with an address.
    Pointer(Reg),
}

/// A function that is decoded once.
#[derive(Debug)]
pub(super) struct Routine {
    pub name: String,
    pub address: u64,
    pub entry: u32,
    /// Registers that each activation has for itself.
    pub rows: Vec<Reg>,
    pub preds: Range<Pred>,
    /// The register with the address of the frame.
    pub frame: Reg,
    pub frame_bytes: u64,
    /// Offsets in the frame, and bytes, of parameters and of results.
    pub params: Vec<(u64, u64)>,
    pub returns: Vec<(u64, u64)>,
}

#[derive(Debug)]
pub(super) struct AluOp {
    pub kind: AluKind,
    pub d: Option<Reg>,
    /// Extends the result by its sign to that many bits.
    pub widen: Option<(Widen, u32)>,
    /// Results that are predicates.
    pub p: Option<Pred>,
    pub q: Option<Pred>,
    /// Rows of sources; what an operation does not have is its first one.
    pub s: [Reg; 4],
    /// The number of sources.
    pub count: usize,
    /// The bytes of each that are looked at.
    pub bytes: [u8; 4],
    pub carry: Carry,
    /// Sources that are predicates.
    pub ps: Vec<Guard>,
}

impl AluOp {
    /// The operation without operands.
    pub(super) fn new(kind: AluKind) -> Self {
        AluOp {
            kind,
            d: None,
            widen: None,
            p: None,
            q: None,
            s: [0; 4],
            count: 0,
            bytes: [8; 4],
            carry: Carry::Nothing,
            ps: Vec::new(),
        }
    }

    /// Adds a source of 8 bytes; an operation has four at most.
    pub(super) fn reads(&mut self, row: Reg) {
        if self.count == 0 {
            self.s = [row; 4];
        } else if let Some(source) = self.s.get_mut(self.count) {
            *source = row;
        }
        self.count = (self.count + 1).min(self.s.len());
    }
}

/// The fate of bytes of sources that are not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carry {
    /// It computes with them.
    Nothing,
    /// The sources that a bit is set for are moved about, by what the others say.
    Moves(u32),
    /// Each bit of the result is of the same bit of the sources.
    Bitwise,
    /// Each half of 32 bits is of the same half of the sources.
    Halves,
}

/// Extends values by their sign to some bits.
pub(super) type Widen = fn(&mut Row, u32);

/// The contents of a row before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Initial {
    Value(u64),
    /// The end of the memory that `alloca` gives.
    StackEnd,
    Special(Special),
}

/// A register that PTX defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Special {
    /// 0 to 2 for x, y, z, as in the others.
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    /// Rank of the block in its cluster, and blocks of that.
    ClusterRank,
    ClusterBlocks,
    /// One where clusters were asked for, by the kernel or by its launch.
    ExplicitCluster,
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    /// Clusters in the grid.
    ClusterId(u8),
    Nclusters(u8),
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    /// Address of dynamic shared memory, and its size.
    DynamicSmem,
    DynamicSmemBytes,
    TotalSmem,
}

/// A variable of the module in global or constant memory.
#[derive(Clone, Debug)]
pub(super) struct ModuleVariable {
    pub name: String,
    pub address: u64,
    pub bytes: Vec<u8>,
    /// None of an `.extern` one is known.
    pub initialized: bool,
    pub constant: bool,
}

/// The place that an instruction comes from.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub text: String,
    pub class: Class,
    pub line: u32,
    pub source: Option<Place>,
}

/// A decoded kernel.
#[derive(Debug)]
pub(super) struct Kernel {
    pub name: String,
    pub insts: Vec<Inst>,
    /// One for each instruction.
    pub origins: Vec<Origin>,
    pub rows: u32,
    pub preds: u32,
    pub initial: Vec<(Reg, Initial)>,
    /// Name, offset and bytes of each parameter.
    pub params: Vec<(String, u64, u64)>,
    pub param_bytes: u64,
    /// The end of static variables in shared memory, in bytes; dynamic memory follows at `dynamic_at`.
    pub static_end: u64,
    pub dynamic_at: Option<u64>,
    /// Bytes that each thread has of its own.
    pub local_bytes: u64,
    /// Bytes of these between variables, in their order, which are no variable's.
    pub gaps: Vec<(u64, u64)>,
    /// The place in these where frames of functions begin.
    pub stack_at: u64,
    /// The end of the frames; what `alloca` gives is behind it.
    pub frames_end: u64,
    /// The register with the stack pointer of `alloca`, where there is any.
    pub stack_pointer: Option<Reg>,
    /// Functions that are decoded once.
    pub functions: Vec<Routine>,
    /// The number of the kernel's module among those that share memory.
    pub module: usize,
    pub variables: Vec<ModuleVariable>,
    /// The smallest access to shared memory, in bytes.
    pub granule: u32,
    /// The smallest write to global memory, in bytes.
    pub global_granule: u32,
    /// Tells whether blocks may wait for each other: some see what others write as it happens.
    pub waits: bool,
    /// Tells whether copies arrive at `mbarrier` objects.
    pub copies_arrive: bool,
    /// Tells whether there is anything of the asynchronous proxy.
    pub asynchronous: bool,
    /// For each instruction, the registers of `wgmma` that it touches, and whether it writes them; empty without `wgmma`.
    pub touches: Vec<Box<[(Reg, bool)]>>,
    /// Products of `wmma` by fragments of another form: which load it was, and what is wrong.
    pub mismatched: BTreeMap<u32, (u32, String)>,
    /// The uses of values, where some loads may not matter.
    pub speculation: Option<Speculation>,
    pub max_threads: Option<u64>,
    /// The block that the kernel must be launched with (`.reqntid`), if it says.
    pub required_block: Option<[u32; 3]>,
    /// Registers of a thread (`.maxnreg`), if the kernel says: with `setmaxnreg`, those that it begins with.
    pub max_registers: Option<u32>,
    /// Blocks of a cluster, if the kernel says.
    pub cluster: Option<[u32; 3]>,
}

impl Kernel {
    /// The end of shared memory, in bytes, with `dynamic` bytes of dynamic memory.
    pub(super) fn shared_end(&self, dynamic: u32) -> u64 {
        match self.dynamic_at {
            Some(at) => at + u64::from(dynamic),
            None => self.static_end,
        }
    }

    /// Bytes of shared memory of a block, without the system's.
    pub(super) fn shared_bytes(&self, dynamic: u32) -> u64 {
        self.shared_end(dynamic) - SHARED_START
    }
}

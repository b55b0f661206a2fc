//! Writing kernels as text.

use crate::random::Random;

/// A text of IR that grows, with names that nothing else has.
#[derive(Default)]
pub struct Text {
    out: String,
    depth: usize,
    names: usize,
}

impl Text {
    /// Writes a line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(line.as_ref());
        self.out.push('\n');
    }

    /// Writes a line, and those that follow further in.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Ends what [`Text::open`] began.
    pub fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// Ends one region of an operation and begins its next.
    pub fn between(&mut self, line: impl AsRef<str>) {
        self.close(line);
        self.depth += 1;
    }

    /// A name for a value.
    pub fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    /// Writes an operation of one result, and returns its name.
    pub fn value(&mut self, operation: impl AsRef<str>) -> String {
        let name = self.fresh();
        self.line(format!("{name} = {}", operation.as_ref()));
        name
    }

    /// Writes a constant of 32 bits.
    pub fn i32(&mut self, value: i64) -> String {
        self.value(format!("arith.constant {value} : i32"))
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.out
    }
}

/// A plan for tiles of 32x32x32 of f16, by warps along M and N, with this swizzle of tiles in shared memory, such as
/// `S<2,4,3>, `, or none.
pub fn plan(warps: (i64, i64), stages: i64, swizzle: &str) -> String {
    const COPY: &str = "!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>";
    const LOAD: &str = "!cute_nvgpu.atom.ldsm<val_type = f16, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 4, n>";
    let (m, n) = warps;
    let tile = |buffers| format!("smem = <{swizzle}\"(32,32):(32,1)\">, buffers = {buffers}");
    let factor = format!("[<{COPY}, group, {}>, <{LOAD}, immediate>]", tile(stages));
    format!(
        "#cute.plan<tile = 32x32x32, stages = {stages}, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, \
         elem_type = (f16, f16, f32)>, atom_layout_MNK = <\"({m},{n},1):(1,{m},0)\">, permutation_MNK = \
         <\"[{}:1;{}:1;16:1]\">>, A = {factor}, B = {factor}, C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, \
         {}>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>",
        16 * m,
        16 * n,
        tile(1)
    )
}

/// A kernel that is whole: what a host function launches, how often, and on what.
pub struct Kernel {
    /// Definitions of types.
    pub types: String,
    /// Names and types of the kernel's tensors; the host function has the same.
    pub tensors: Vec<(&'static str, &'static str)>,
    /// Attributes of the kernel beside the block's size.
    pub attributes: String,
    /// Its body, which may use `%n` of 32 bits, a number that only the host knows, `%odd`, whether the block's number is, `%bx`, the
    /// block's number, and `%t`, the thread's.
    pub body: String,
    pub blocks: i64,
    pub threads: i64,
    pub n: i64,
}

impl Kernel {
    /// The module.
    pub fn module(&self) -> String {
        let arguments: Vec<String> = self
            .tensors
            .iter()
            .map(|(name, ty)| format!("%{name}: {ty}"))
            .collect();
        let passed: Vec<String> = self
            .tensors
            .iter()
            .map(|(name, ty)| format!("%{name} : {ty}"))
            .collect();
        let (arguments, passed) = (arguments.join(", "), passed.join(", "));
        let Kernel {
            types,
            attributes,
            body,
            blocks,
            threads,
            n,
            ..
        } = self;
        format!(
            "{types}module attributes {{gpu.container_module}} {{\ngpu.module @kernels {{\n\
             gpu.func @kernel({arguments}, %n: i32) kernel attributes {{{attributes}known_block_size = array<i32: {threads}, 1, 1>}} {{\n\
             %bxi = gpu.block_id x\n%bx = arith.index_cast %bxi : index to i32\n%ti = gpu.thread_id x\n%t = arith.index_cast %ti : index to i32\n\
             %zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%low = arith.andi %bx, %one : i32\n%odd = arith.cmpi eq, %low, %one : i32\n\
             {body}gpu.return\n}}\n}}\n\
             func.func @f({arguments}) {{\n%c1 = arith.constant 1 : index\n%blocks = arith.constant {blocks} : index\n%threads = arith.constant {threads} : index\n\
             %smem = arith.constant 0 : i32\n%n = arith.constant {n} : i32\n\
             gpu.launch_func @kernels::@kernel blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %smem args({passed}, %n : i32)\n\
             return\n}}\n}}\n"
        )
    }
}

/// Writes a condition that is the same for all threads of a block, and that no compiler knows.
pub fn condition(text: &mut Text, random: &mut Random) -> String {
    match random.below(3) {
        0 => "%odd".into(),
        _ => {
            let bound = text.i32(random.range(0, 9));
            let predicate = random.pick(&["slt", "sge", "eq", "ne"]);
            text.value(format!("arith.cmpi {predicate}, %n, {bound} : i32"))
        }
    }
}

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

/// A tensor that a kernel is given, which is an argument of the host function too.
pub struct Argument {
    name: String,
    ty: String,
    /// Attributes of the kernel's argument.
    attributes: &'static str,
}

impl Argument {
    /// An argument; of no attributes where the text is empty.
    pub fn new(
        name: impl Into<String>,
        ty: impl Into<String>,
        attributes: &'static str,
    ) -> Argument {
        Argument {
            name: name.into(),
            ty: ty.into(),
            attributes,
        }
    }
}

/// A kernel that is whole: what a host function launches, how often, and on what.
pub struct Kernel {
    /// Definitions of types, a line each.
    pub types: String,
    pub tensors: Vec<Argument>,
    /// Numbers of 32 bits that only the host knows: `%a0`, `%a1` and so on.
    pub numbers: Vec<i64>,
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
    /// The module of this kernel alone, which function `f0` launches.
    pub fn module(&self) -> String {
        module(&[self])
    }

    /// The definitions of types, the kernel and the host function, with names that have a number.
    fn parts(&self, number: usize) -> (String, String, String) {
        let each = |with: &dyn Fn(&Argument) -> String| -> Vec<String> {
            self.tensors.iter().map(with).collect()
        };
        let numbered = |separator: &str| -> Vec<String> {
            let numbers = 0..self.numbers.len();
            numbers.map(|i| format!("%a{i}{separator} i32")).collect()
        };
        let given = each(&|a| format!("%{}: {}", a.name, a.ty)).join(", ");
        let arguments = each(&|a| match a.attributes {
            "" => format!("%{}: {}", a.name, a.ty),
            attributes => format!("%{}: {} {{{attributes}}}", a.name, a.ty),
        });
        let arguments = [arguments, numbered(":")].concat().join(", ");
        let passed = each(&|a| format!("%{} : {}", a.name, a.ty));
        let passed = [passed, numbered(" :")].concat().join(", ");
        let constants = self.numbers.iter().enumerate();
        let constants: String = constants
            .map(|(i, value)| format!("%a{i} = arith.constant {value} : i32\n"))
            .collect();
        let Kernel {
            types,
            attributes,
            body,
            blocks,
            threads,
            n,
            ..
        } = self;
        let kernel = format!(
            "gpu.func @kernel{number}({arguments}, %n: i32) kernel attributes {{{attributes}known_block_size = array<i32: {threads}, 1, 1>}} {{\n\
             %bxi = gpu.block_id x\n%bx = arith.index_cast %bxi : index to i32\n%ti = gpu.thread_id x\n%t = arith.index_cast %ti : index to i32\n\
             %zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%low = arith.andi %bx, %one : i32\n%odd = arith.cmpi eq, %low, %one : i32\n\
             {body}gpu.return\n}}\n"
        );
        let host = format!(
            "func.func @f{number}({given}) {{\n%c1 = arith.constant 1 : index\n%blocks = arith.constant {blocks} : index\n%threads = arith.constant {threads} : index\n\
             %smem = arith.constant 0 : i32\n{constants}%n = arith.constant {n} : i32\n\
             gpu.launch_func @kernels::@kernel{number} blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %smem args({passed}, %n : i32)\n\
             return\n}}\n"
        );
        let names: Vec<&str> = types
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .map(|(name, _)| name)
            .collect();
        let own = |text: &str| renamed(text, &names, number);
        (own(types), own(&kernel), own(&host))
    }
}

/// The module of some kernels, each with its host function: `f0`, `f1` and so on.
pub fn module(kernels: &[&Kernel]) -> String {
    let (mut types, mut devices, mut hosts) = (String::new(), String::new(), String::new());
    for (number, kernel) in kernels.iter().enumerate() {
        let (ty, device, host) = kernel.parts(number);
        types += &ty;
        devices += &device;
        hosts += &host;
    }
    format!(
        "{types}module attributes {{gpu.container_module}} {{\ngpu.module @kernels {{\n{devices}}}\n{hosts}}}\n"
    )
}

/// A text with a number behind each of these names of types.
fn renamed(text: &str, names: &[&str], number: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('!') {
        out += &rest[..at];
        rest = &rest[at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = rest[1..]
            .find(|c| !is_part(c))
            .map_or(rest.len(), |end| end + 1);
        let (name, behind) = rest.split_at(end);
        out += name;
        if names.contains(&name) {
            out += &format!("_{number}");
        }
        rest = behind;
    }
    out + rest
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_one_kernel_are_not_those_of_another() {
        let text = "!X = !cute.memref<f32>\n%a : (!X, !Xs, !cute.coord<\"?\">) -> !X";
        assert_eq!(
            renamed(text, &["!X"], 3),
            "!X_3 = !cute.memref<f32>\n%a : (!X_3, !Xs, !cute.coord<\"?\">) -> !X_3"
        );
    }
}

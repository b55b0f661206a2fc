//! Kernels built op by op, one a case.

use crate::common::{package_of, passes, run_passes};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute, gpu},
    types,
};
use cute_layout::{CopyAtom, IntTuple, Layout, Tile, TiledCopy};
use cute_lowering::{CompileOptions, Options};
use cute_runtime::Package;
use melior::ir::{Module as MlirModule, Type};
use std::sync::Arc;

/// The things that a kernel is built with.
pub struct Parts<'c> {
    pub b: Builder<'c>,
    pub tensors: Vec<Val<'c>>,
    /// The thread's index, as a coordinate and as an i32.
    pub thread: Val<'c>,
    pub index: Val<'c>,
}

type Build = Box<dyn for<'c> Fn(&Parts<'c>) -> Result<(), Failure> + Send + Sync>;

/// The tensors of a seed, and what the last of them must be.
type Data = Box<dyn Fn(u64) -> (Vec<Vec<u64>>, Vec<u64>) + Send + Sync>;

/// One kernel, the tensors it is given for a seed, and what must be in the last of them afterwards.
pub struct Case {
    pub name: String,
    /// Element types and layouts of the arguments.
    pub arguments: Vec<(&'static str, String)>,
    pub build: Build,
    pub data: Data,
}

/// Threads of every kernel.
pub const THREADS: i64 = 32;

/// The cases of one architecture, compiled.
pub struct Module {
    pub package: Package,
}

impl Module {
    pub fn of(arch: &str, cases: &[Case]) -> Module {
        match Self::compile(arch, cases) {
            Ok(module) => module,
            Err(error) => panic!("{arch}: {error}"),
        }
    }

    /// To PTX; to machine code as well where it goes to a GPU.
    pub fn compile(arch: &str, cases: &[Case]) -> Result<Module, String> {
        Self::lowered(arch, cases, crate::out().is_some())
    }

    /// To PTX and to machine code.
    pub fn assembled(arch: &str, cases: &[Case]) -> Result<Module, String> {
        Self::lowered(arch, cases, true)
    }

    fn lowered(arch: &str, cases: &[Case], assemble: bool) -> Result<Module, String> {
        let context = cute_ir::context();
        let text = skeleton(arch, cases);
        let mut module = crate::common::said(&context, || {
            MlirModule::parse(&context, &text).ok_or_else(|| format!("cannot be read: {text}"))
        })?;
        crate::common::said(&context, || build(&module, cases))?;
        let options = CompileOptions::parse(&format!("arch={arch}"))?;
        if assemble {
            let all = options.pipeline()?;
            let all = all
                .strip_prefix("builtin.module(")
                .and_then(|all| all.strip_suffix(')'))
                .ok_or("expected a pipeline on modules")?;
            run_passes(&mut module, all, true)?;
        } else {
            run_passes(&mut module, &passes(&options)?, true)?;
        }
        let package = package_of(&module)?;
        Ok(Module { package })
    }
}

/// The size of an element type in bytes.
pub fn bytes(element: &str) -> usize {
    match element {
        "i8" => 1,
        "f16" | "bf16" => 2,
        "f64" | "i64" => 8,
        _ => 4,
    }
}

fn skeleton(arch: &str, cases: &[Case]) -> String {
    let mut kernels = String::new();
    let mut launches = String::new();
    let mut all = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for (element, layout) in &case.arguments {
            let ty = format!("!cute.memref<{element}, gmem, align<16>, \"{layout}\">");
            parameters.push(format!("%arg{}: {ty}", parameters.len()));
            arguments.push(format!("%arg{} : {ty}", all.len()));
            all.push(format!("%arg{}: {ty}", all.len()));
        }
        kernels += &format!(
            "    gpu.func @k{i}({}) kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = \
             array<i32: 1, 1, 1>}} {{\n      gpu.return\n    }}\n",
            parameters.join(", ")
        );
        launches += &format!(
            "    gpu.launch_func @kernels::@k{i} blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) \
             dynamic_shared_memory_size %c0 args({})\n",
            arguments.join(", ")
        );
    }
    format!(
        "module attributes {{gpu.container_module}} {{\n  gpu.module @kernels [#nvvm.target<chip = \"{arch}\", O = 3>] {{\n\
         {kernels}  }}\n  func.func @atoms({}) {{\n    %c1 = arith.constant 1 : index\n    %c32 = arith.constant {THREADS} : \
         index\n    %c0 = arith.constant 0 : i32\n{launches}    return\n  }}\n}}\n",
        all.join(", ")
    )
}

fn build(module: &MlirModule, cases: &[Case]) -> Result<(), String> {
    let kernels = nested_ops(module.as_operation())
        .into_iter()
        .filter(|op| name_of(*op) == gpu::FUNC);
    for (kernel, case) in kernels.zip(cases) {
        let failed = |_| format!("{}: not built", case.name);
        let body = body_of(kernel, 0).ok_or("expected a body")?;
        let end = ops_of(body).pop().ok_or("expected an end")?;
        let b = Builder::before(end);
        let parts = || {
            let index = b.value(
                gpu::THREAD_ID,
                &[],
                b.index_type(),
                &[("dimension", b.attribute("#gpu<dim x>")?)],
            )?;
            let index = b.value(arith::INDEX_CAST, &[index], b.i32_type(), &[])?;
            Ok(Parts {
                b,
                tensors: arguments_of(body),
                thread: b.coord(&IntTuple::dynamic(), &[index])?,
                index,
            })
        };
        (case.build)(&parts().map_err(failed)?).map_err(failed)?;
    }
    Ok(())
}

impl<'c> Parts<'c> {
    /// An atom's value and its table.
    pub fn copy_atom(&self, text: &str) -> Result<(Val<'c>, Type<'c>, Arc<CopyAtom>), Failure> {
        let ty = self.b.ty(text)?;
        let table = types::copy_row(ty).expected(self.b, "a copy atom")?;
        let atom = self.b.value(cute::MAKE_ATOM, &[], ty, &[])?;
        Ok((atom, ty, table))
    }

    /// A tiled copy of an atom with this (thread, value) layout and tile.
    pub fn tiled_copy(
        &self,
        (atom, ty): (Val<'c>, Type<'c>),
        tv: &Layout,
        tiler: &Tile,
    ) -> Result<Val<'c>, Failure> {
        let ty = types::tiled_copy_type(self.b.location, ty, tv, tiler)?;
        self.b.value(cute::MAKE_TILED_COPY, &[atom], ty, &[])
    }

    /// A tiled copy of single elements, of the type of `element`, by the layouts of another.
    pub fn elementwise(&self, element: &str, like: &TiledCopy) -> Result<Val<'c>, Failure> {
        let bits = 8 * bytes(element);
        let (atom, ty, _) = self.copy_atom(&format!(
            "!cute_nvgpu.atom.universal_copy<{element}, {bits} b>"
        ))?;
        self.tiled_copy((atom, ty), like.layout_tv(), like.tiler_mn())
    }

    /// Each thread's part of the source (`S`) or the destination (`D`).
    pub fn partition(
        &self,
        side: char,
        copy: Val<'c>,
        tensor: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let name = match side {
            'S' => cute::TILED_COPY_PARTITION_S,
            _ => cute::TILED_COPY_PARTITION_D,
        };
        self.b.infer(name, &[copy, tensor, self.thread], &[])
    }

    pub fn retile(&self, copy: Val<'c>, fragment: Val<'c>) -> Result<Val<'c>, Failure> {
        self.b
            .infer(cute::TILED_COPY_RETILE, &[copy, fragment], &[])
    }

    pub fn copy(&self, copy: Val<'c>, from: Val<'c>, to: Val<'c>) -> Result<(), Failure> {
        self.b.op(cute::COPY, &[copy, from, to], &[], &[])?;
        Ok(())
    }

    /// A tensor in shared memory or registers.
    pub fn alloca(&self, ty: &str) -> Result<Val<'c>, Failure> {
        self.b.value(cute::MEMREF_ALLOCA, &[], self.b.ty(ty)?, &[])
    }

    pub fn barrier(&self) -> Result<(), Failure> {
        self.b.op(gpu::BARRIER, &[], &[], &[])?;
        Ok(())
    }
}

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }
}

/// The layout with two strides changed, such that it is another function onto the same tile; where no two can be, that which
/// gives each thread its values one after the other.
pub fn mutated(layout: &Layout) -> Layout {
    let text = layout.to_string();
    let (shape, stride) = text.split_once(':').expect("a layout");
    let numbers: Vec<&str> = stride
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    let values = |layout: &Layout| -> Vec<i64> {
        let flat = layout.flat().expect("a static layout");
        (0..flat.size()).map(|i| flat.at(i)).collect()
    };
    let sorted = |mut all: Vec<i64>| {
        all.sort_unstable();
        all
    };
    let given = values(layout);
    for i in 0..numbers.len() {
        for j in i + 1..numbers.len() {
            let mut order: Vec<&str> = numbers.clone();
            order.swap(i, j);
            let new = Layout::parse(&format!("{shape}:{}", renumbered(stride, &order)));
            let new = new.expect("a layout");
            if values(&new) != given && sorted(values(&new)) == sorted(given.clone()) {
                return new;
            }
        }
    }
    let count = given.len() as i64 / THREADS;
    let straight = Layout::parse(&format!("({THREADS},{count}):({count},1)")).expect("a layout");
    assert_ne!(values(&straight), given, "{layout} cannot be wrong");
    straight
}

/// A stride with other numbers.
fn renumbered(stride: &str, numbers: &[&str]) -> String {
    let mut text = String::new();
    let (mut next, mut inside) = (0, false);
    for c in stride.chars() {
        if !c.is_ascii_digit() {
            text.push(c);
        } else if !inside {
            text += numbers[next];
            next += 1;
        }
        inside = c.is_ascii_digit();
    }
    text
}

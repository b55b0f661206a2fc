//! Packages to damage: kernels in PTX written for it, those of the runtime's tests, and those that the compiler makes of examples.

use crate::child;
use anyhow::{Context, Result};
use cute_runtime::package::{
    Compute, Epilogue, Expr, Factor, Gemm, Map, Op, Prologue, ReduceOp, Region, RegionOp,
    Requirement, ScalarOp,
};
use cute_runtime::ptx::{self, Item, Space};
use cute_runtime::tensor::Given;
use cute_runtime::{
    Access, Arg, Function, ImageSource, KernelInfo, Launch, Number, Package, Param,
};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A package that runs, and what its arguments are given.
pub struct Seed {
    pub package: Package,
    pub given: Vec<Given>,
}

/// Kernels on `in` and `out`, in `%rd1` and `%rd2`, of blocks of 64 threads; `%r1` is the thread.
const BODIES: [&str; 11] = [
    // A loop and a branch.
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4]; mov.f32 %f2, 0f00000000; mov.u32 %r2, 0;
     AGAIN: fma.rn.f32 %f2, %f1, 0f3F000000, %f2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra AGAIN;
     setp.gt.f32 %p2, %f2, 0f00000000; @!%p2 bra OUT; neg.f32 %f2, %f2;
     OUT: add.s64 %rd5, %rd2, %rd3; st.global.f32 [%rd5], %f2; ret;",
    // Through shared memory.
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.b32 %r2, [%rd4]; mov.u64 %rd6, tile; add.s64 %rd7, %rd6, %rd3;
     st.shared.b32 [%rd7], %r2; bar.sync 0; xor.b32 %r3, %r1, 63; mul.wide.u32 %rd8, %r3, 4; add.s64 %rd9, %rd6, %rd8;
     ld.shared.b32 %r4, [%rd9]; add.s64 %rd5, %rd2, %rd3; st.global.b32 [%rd5], %r4; ret;",
    // Asynchronous copies of 16 bytes and vectors.
    "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd1, %rd3; mov.u64 %rd6, tile; add.s64 %rd7, %rd6, %rd3; cvta.to.shared.u64 %rd7, %rd7;
     cp.async.cg.shared.global [%rd7], [%rd4], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
     ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%rd7]; add.s64 %rd5, %rd2, %rd3; st.global.v4.f32 [%rd5], {%f4, %f3, %f2, %f1}; ret;",
    // Shuffles and votes.
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.b32 %r2, [%rd4]; shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;
     add.s32 %r2, %r2, %r3; shfl.sync.down.b32 %r3|%p1, %r2, 4, 31, -1; @%p1 add.s32 %r2, %r2, %r3; setp.ne.s32 %p2, %r2, 0;
     vote.sync.ballot.b32 %r4, %p2, -1; popc.b32 %r5, %r4; redux.sync.max.u32 %r6, %r5, -1; add.s64 %rd5, %rd2, %rd3; st.global.b32 [%rd5], %r6; ret;",
    // Products of matrices.
    "mov.u64 %rd6, tile; mul.wide.u32 %rd3, %r1, 16; add.s64 %rd7, %rd6, %rd3; mov.b32 %r9, 0x3C003C00; st.shared.v4.b32 [%rd7], {%r9, %r9, %r9, %r9}; bar.sync 0;
     and.b32 %r2, %r1, 31; mul.wide.u32 %rd8, %r2, 16; add.s64 %rd9, %rd6, %rd8; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%rd9];
     ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r6, %r7}, [%rd9]; mov.f32 %f1, 0f00000000;
     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%f1, %f1, %f1, %f1};
     mul.wide.u32 %rd3, %r1, 4; add.s64 %rd5, %rd2, %rd3; st.global.f32 [%rd5], %f3; ret;",
    // Atomics and fences.
    "mov.u64 %rd6, tile; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%rd6], 0; bar.sync 0; atom.shared.add.u32 %r2, [%rd6], 1; fence.acq_rel.cta;
     bar.sync 0; ld.shared.u32 %r3, [%rd6]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r3;
     add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r4, [%rd4]; membar.gl; ret;",
    // A barrier object, and a function that is called.
    "mov.u64 %rd6, tile; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [%rd6], 64; bar.sync 0; mbarrier.arrive.shared.b64 %rd7, [%rd6];
     SPIN: mbarrier.try_wait.shared.b64 %p2, [%rd6], %rd7; @!%p2 bra SPIN; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), twice, (a); ld.param.b32 %r2, [r]; }
     mul.wide.u32 %rd3, %r1, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2; ret;",
    // Integers of all widths, conversions, a table of branches, local memory.
    "mov.u64 %rd6, spill; st.local.u32 [%rd6+4], %r1; ld.local.u32 %r2, [%rd6+4]; cvt.rn.f32.u32 %f1, %r2; cvt.rni.s32.f32 %r3, %f1; cvt.u16.u32 %h1, %r3;
     mad.lo.s32 %r4, %r3, 7, %r2; div.s32 %r5, %r4, 3; rem.u32 %r6, %r4, 5; shf.l.wrap.b32 %r7, %r5, %r6, 9; prmt.b32 %r8, %r7, %r5, 0x3210; bfe.u32 %r9, %r8, 4, 8;
     and.b32 %r10, %r1, 1; T: .branchtargets L0, L1; brx.idx %r10, T; L0: add.u32 %r9, %r9, 1; L1: lop3.b32 %r9, %r9, %r7, %r5, 0x96;
     mul.wide.u32 %rd3, %r1, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r9; ret;",
    // Recursion, calls through pointers, memory of malloc.
    "and.b32 %r2, %r1, 7; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), factorial, (a); ld.param.b32 %r3, [r]; }
     and.b32 %r4, %r1, 1; mul.wide.u32 %rd3, %r4, 8; mov.u64 %rd4, table; add.s64 %rd4, %rd4, %rd3; ld.global.u64 %rd6, [%rd4];
     { .param .b32 a; .param .b32 r; st.param.b32 [a], %r3; proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), %rd6, (a), proto; ld.param.b32 %r5, [r]; }
     setp.gt.u32 %p1, %r1, 40; { .param .b64 n; .param .b64 r; st.param.b64 [n], 16; st.param.b64 [r], %rd2; @%p1 call (r), malloc, (n); ld.param.b64 %rd7, [r]; }
     @%p1 st.u32 [%rd7], %r5; @%p1 ld.u32 %r5, [%rd7]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r5; ret;",
    // Video instructions, matches, three operands.
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.b32 %r2, [%rd4]; vadd4.u32.u32.u32.sat %r3, %r2, %r1, %r2; vsub.s32.s32.u32.sat %r4.b1, %r3.h0, %r1.b2, %r3;
     vset2.u32.u32.ge %r5.h0, %r2, %r3.h01, %r4; vabsdiff4.u32.u32.u32.add %r6, %r5, %r4, %r1; vmad.u32.u32.u32.shr7 %r7, %r6.b0, %r5.h1, %r1; match.all.sync.b32 %r8|%p1, %r7, -1;
     mov.b32 %f1, %r2; max.NaN.f32 %f2, %f1, 0f00000000, %f1; add.s64 %rd5, %rd2, %rd3; @!%p1 st.global.f32 [%rd5], %f2; ret;",
    // Memory from the stack, a copy of what nothing wrote, zeros in bulk.
    "stacksave.u64 %rd6; add.u32 %r2, %r1, 1; mul.wide.u32 %rd3, %r2, 8; alloca.u64 %rd7, %rd3, 16; st.local.u8 [%rd7], %r1; st.local.u32 [%rd7+4], %r2; mov.u64 %rd8, spill;
     ld.local.v2.u32 {%r3, %r4}, [%rd7]; st.local.v2.u32 [%rd8], {%r3, %r4}; ld.local.u8 %r5, [%rd8]; ld.local.u32 %r6, [%rd8+4]; add.u32 %r5, %r5, %r6; stackrestore.u64 %rd6;
     mov.u64 %rd9, tile; setp.eq.u32 %p1, %r1, 0; @%p1 st.bulk.weak.shared::cta [%rd9], 1024, 0; bar.sync 0; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd9, %rd9, %rd3; ld.shared.u32 %r7, [%rd9];
     add.u32 %r5, %r5, %r7; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r5; ret;",
];

fn module(body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n.func (.param .b32 r) twice (.param .b32 a)\n{{ .reg .b32 %r<3>; ld.param.b32 %r1, [a]; \
         add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }}\n.extern .func (.param .b64 r) malloc (.param .b64 n);\n\
         .func (.param .b32 r) factorial (.param .b32 a)\n{{ .reg .pred %p; .reg .b32 %r<4>; .local .b32 own; ld.param.b32 %r0, [a]; st.local.b32 [own], %r0;\n\
         mov.u32 %r1, 1; setp.lt.u32 %p, %r0, 2; @%p bra DONE; sub.u32 %r2, %r0, 1; {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2;\n\
         call (y), factorial, (x); ld.param.b32 %r3, [y]; }} ld.local.b32 %r0, [own]; mul.lo.u32 %r1, %r3, %r0;\nDONE: st.param.b32 [r], %r1; ret; }}\n\
         .global .align 8 .u64 table[2] = {{twice, factorial}};\n.visible .entry k(.param .u64 k_0, .param .u64 k_1)\n.maxntid 64, 1, 1\n{{\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %rd<12>;\n.local .align 8 .b8 spill[32];\n\
         .shared .align 16 .b8 tile[1024];\nld.param.u64 %rd1, [k_0]; ld.param.u64 %rd2, [k_1]; cvta.to.global.u64 %rd1, %rd1; \
         cvta.to.global.u64 %rd2, %rd2; mov.u32 %r1, %tid.x;\n{body}\n}}\n"
    )
}

fn tensor(name: &str, element: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 16,
        access,
    }
}

fn package(function: Function, arch: &str, ptx: &str) -> Option<Package> {
    let kernels = function.launches.iter().map(|launch| KernelInfo {
        name: launch.kernel.clone(),
        ..KernelInfo::default()
    });
    Package::builder("cute-fuzz")
        .image(ImageSource {
            arch: arch.into(),
            ptx: Some(ptx.into()),
            cubin: None,
            kernels: kernels.collect(),
        })
        .function(function)
        .build()
        .ok()
}

/// The kernels of [`BODIES`].
fn written() -> Vec<Seed> {
    let seeds = BODIES.iter().filter_map(|body| {
        let function = Function::new(
            "f",
            vec![
                tensor("in", "f32", "256:1", Access::Read),
                tensor("out", "f32", "256:1", Access::ReadWrite),
            ],
            vec![Launch::fixed("k", [2, 1, 1], [64, 1, 1], 0, [0, 1])],
        );
        let package = package(function, "sm_90", &module(body))?;
        Some(Seed {
            package,
            given: vec![],
        })
    });
    seeds.collect()
}

/// Manifests that use what a manifest can say.
fn manifests() -> Vec<Seed> {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2, .param .f32 p3, .param .u64 p4)\n{ ret; }\n\
               .visible .entry g(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{ ret; }\n";
    let leaf = |arg, leaf| Expr::Leaf(arg, leaf);
    let apply = Expr::apply;
    let dynamic = Function {
        requires: vec![Requirement {
            condition: apply(Op::Le, vec![leaf(0, 1), 4096.into()]),
            message: "rows are too long".into(),
        }],
        computes: vec![Compute::Gemm(Gemm {
            alpha: Some(Factor::Argument { scalar: 2 }),
            ..Gemm::new(0, 0, 1, "f32")
        })],
        ..Function::new(
            "dynamic",
            vec![
                tensor("X", "f16", "(?,?{div=8}):(?{i64 div=8},1)", Access::Read),
                tensor("Y", "f16", "(?,?{div=8}):(?{i64 div=8},1)", Access::Write),
                Arg::Scalar {
                    name: "alpha".into(),
                    element: "f32".into(),
                    default: Some(Number::Real(2.5)),
                },
                Arg::Scalar {
                    name: "n".into(),
                    element: "i32".into(),
                    default: Some(Number::Integer(7)),
                },
            ],
            vec![Launch {
                grid: [
                    apply(Op::CeilDiv, vec![leaf(0, 0), 16.into()]),
                    apply(
                        Op::Max,
                        vec![1.into(), apply(Op::Min, vec![leaf(0, 1), 2.into()])],
                    ),
                    1.into(),
                ],
                dynamic_smem: apply(Op::Mul, vec![Expr::Scalar(3), 16.into()]),
                params: vec![
                    Param::Pointer(0),
                    Param::Pointer(1),
                    Param::Leaf(0, 0),
                    Param::Scalar(2),
                    Param::Integer(apply(Op::Rem, vec![leaf(0, 1), 3.into()]), 64),
                ],
                ..Launch::fixed("k", [1, 1, 1], [64, 1, 1], 0, [])
            }],
        )
    };
    let fixed = Function::new(
        "product",
        vec![
            tensor("A", "bf16", "(16,32):(32,1)", Access::Read),
            tensor("B", "bf16", "((4,2),32):((32,128),1)", Access::Read),
            tensor("C", "f32", "(16,8):(10,1)", Access::Write),
        ],
        vec![
            Launch::fixed("g", [1, 1, 1], [32, 1, 1], 4096, [0, 1, 2]),
            Launch::fixed("g", [2, 1, 1], [64, 2, 1], 0, [1, 0, 2]),
        ],
    )
    .computing(vec![Compute::Gemm(Gemm::new(0, 1, 2, "f32"))]);
    let copy = Function::new(
        "copy",
        vec![
            tensor("A", "i8", "(16,32):(32,1)", Access::Read),
            tensor("B", "i8", "(16,32):(1,16)", Access::ReadWrite),
            tensor("C", "i64", "8:1", Access::Read),
        ],
        vec![Launch::fixed("g", [1, 1, 1], [32, 1, 1], 0, [0, 1, 2])],
    )
    .computing(vec![Compute::Copy { src: 0, dst: 1 }]);
    // C = f16(max(n s + bias, 0)) of sums of products of B's bytes less 3, and the sum itself, in two launches of which one is left out.
    let region = Region {
        ops: vec![
            RegionOp::scalar(5, "i32"),
            RegionOp::apply(ScalarOp::Convert, [2], "f32"),
            RegionOp::apply(ScalarOp::Fma, [0, 3, 1], "f32"),
            RegionOp::constant(0.0, "f32"),
            RegionOp::apply(ScalarOp::Lt, [4, 5], "i1"),
            RegionOp::apply(ScalarOp::Select, [6, 5, 4], "f32"),
            RegionOp::apply(ScalarOp::Convert, [7], "f16"),
        ],
        yields: vec![8, 0],
    };
    let less = Region {
        ops: vec![
            RegionOp::apply(ScalarOp::Convert, [0], "u8"),
            RegionOp::apply(ScalarOp::Convert, [1], "f16"),
            RegionOp::constant(3.0, "f16"),
            RegionOp::apply(ScalarOp::Sub, [2, 3], "f16"),
        ],
        yields: vec![4],
    };
    let pointers = |at: i64| {
        let workspace = apply(Op::Mul, vec![Expr::Scalar(5), Expr::Constant(at)]);
        vec![
            Param::Pointer(0),
            Param::Pointer(2),
            Param::Workspace(workspace),
        ]
    };
    let conditional = |at: i64, when: Expr| Launch {
        params: pointers(at),
        when: Some(when),
        disjoint: vec![[0, 2]],
        ..Launch::fixed("g", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let fused = Function {
        workspace: Some(apply(Op::Mul, vec![Expr::Scalar(5), 256.into()])),
        computes: vec![Compute::Gemm(Gemm {
            prologue_b: Some(Box::new(Prologue {
                inputs: vec![],
                region: less,
            })),
            epilogue: Some(Epilogue {
                inputs: vec![3],
                outputs: vec![4],
                reduce: vec![],
                region,
            }),
            ..Gemm::new(0, 1, 2, "f32")
        })],
        ..Function::new(
            "fused",
            vec![
                tensor("A", "f16", "(16,32):(32,1)", Access::Read),
                tensor("B", "i8", "(8,32):(32,1)", Access::Read),
                tensor("C", "f16", "(16,8):(8,1)", Access::Write),
                tensor("bias", "f32", "(16,8):(0,1)", Access::Read),
                tensor("sum", "f32", "(16,8):(8,1)", Access::Write),
                Arg::Scalar {
                    name: "n".into(),
                    element: "i32".into(),
                    default: Some(Number::Integer(3)),
                },
            ],
            vec![
                conditional(0, apply(Op::Lt, vec![2.into(), Expr::Scalar(5)])),
                conditional(128, apply(Op::Eq, vec![2.into(), Expr::Scalar(5)])),
            ],
        )
    };
    // The rows of X less their maxima, divided by the sums of that, in place, and the sums.
    let ops = vec![
        RegionOp::apply(ScalarOp::Convert, [0], "f32"),
        RegionOp::reduce(ReduceOp::Maximum, 1, [1], "f32"),
        RegionOp::apply(ScalarOp::Sub, [1, 2], "f32"),
        RegionOp::reduce(ReduceOp::Add, 3, [1], "f32"),
        RegionOp::apply(ScalarOp::Div, [3, 4], "f32"),
        RegionOp::apply(ScalarOp::Convert, [5], "f16"),
    ];
    let normalized = Function::new(
        "normalized",
        vec![
            tensor("X", "f16", "(16,32):(32,1)", Access::ReadWrite),
            tensor("sums", "f32", "(16,(4,8)):(1,(0,0))", Access::Write),
        ],
        vec![Launch::fixed("g", [1, 1, 1], [32, 1, 1], 0, [0, 1, 0])],
    )
    .computing(vec![Compute::Map(Map {
        inputs: vec![0],
        outputs: vec![0, 1],
        region: Region {
            ops,
            yields: vec![6, 4],
        },
    })]);
    let image = |arch: &str| ImageSource {
        arch: arch.into(),
        ptx: Some(ptx.into()),
        cubin: Some(vec![0x7f, b'E', b'L', b'F']),
        kernels: ["k", "g"]
            .map(|name| KernelInfo {
                name: name.into(),
                ..KernelInfo::default()
            })
            .into(),
    };
    let built = Package::builder("cute-fuzz")
        .function(dynamic)
        .function(fixed)
        .function(copy)
        .function(fused)
        .function(normalized)
        .image(image("sm_80"))
        .image(image("sm_90a"))
        .build();
    let given = vec![Given::Shape(vec![33, 64]), Given::Shape(vec![33, 64])];
    built
        .into_iter()
        .map(|package| Seed {
            package,
            given: given.clone(),
        })
        .collect()
}

/// Every kernel of a file of PTX, each with a tensor for each parameter of eight bytes, and a number for each of four.
fn of_ptx(text: &str) -> Vec<Seed> {
    let Ok(module) = ptx::parse(text) else {
        return Vec::new();
    };
    let arch = module
        .target
        .first()
        .copied()
        .unwrap_or("sm_80")
        .to_string();
    let mut seeds = Vec::new();
    for item in &module.items {
        let Item::Function(entry) = item else {
            continue;
        };
        if !entry.is_entry {
            continue;
        }
        let mut function = Function::new(
            "f",
            vec![],
            vec![Launch::fixed(entry.name, [2, 1, 1], [64, 1, 1], 16384, [])],
        );
        for (i, param) in entry.params.iter().enumerate() {
            let name = format!("p{i}");
            let known = param.space == Space::Param && param.dims.is_empty();
            match param.ty.bytes() {
                Some(8) if known => {
                    function
                        .args
                        .push(tensor(&name, "i32", "4096:1", Access::ReadWrite));
                    function.launches[0].params.push(Param::Pointer(i));
                }
                Some(4) if known => {
                    function.args.push(Arg::Scalar {
                        name,
                        element: "i32".into(),
                        default: Some(Number::Integer(64)),
                    });
                    function.launches[0].params.push(Param::Scalar(i));
                }
                _ => function.args.clear(),
            }
        }
        if function.args.len() == entry.params.len()
            && let Some(package) = package(function, &arch, text)
        {
            seeds.push(Seed {
                package,
                given: vec![],
            });
        }
    }
    seeds
}

/// Examples that become seeds where there is a compiler.
const EXAMPLES: [&str; 5] = [
    "examples/kernels/transpose.mlir",
    "examples/kernels/softmax.mlir",
    "examples/kernels/tiled_copy_if_dynamic.mlir",
    "examples/kernels/rms_norm.mlir",
    "test/Inputs/gemm_small.mlir",
];

/// Compiles the examples that become seeds into a folder. One that cannot be compiled is left out: that is for the tests to say.
///
/// # Errors
/// If the compiler cannot be run.
pub fn compile(opt: &Path, root: &Path, folder: &Path) -> Result<()> {
    for example in EXAMPLES {
        let path = root.join(example);
        let Some(stem) = path.file_stem() else {
            continue;
        };
        let to = folder.join(stem).with_extension("cutepkg");
        let mut command = Command::new(opt);
        command
            .arg(&path)
            .arg(format!(
                "--cute-compile=arch=sm_80 package={}",
                to.display()
            ))
            .args(["-o", "/dev/null"]);
        child::run(&mut command, Duration::from_secs(60))?;
    }
    Ok(())
}

/// All seeds: those written here, those of the checkout's tests, and the packages of a folder.
///
/// # Errors
/// If the folder cannot be read.
pub fn all(root: &Path, compiled: Option<&Path>) -> Result<Vec<Seed>> {
    let mut seeds = written();
    seeds.extend(manifests());
    for folder in ["runtime/tests/kernels", "runtime/tests/compilers"] {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            continue;
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            // Larger ones take too long to parse.
            if path.extension().is_some_and(|e| e == "ptx")
                && let Ok(text) = fs::read_to_string(&path)
                && text.len() < 20_000
            {
                seeds.extend(of_ptx(&text));
            }
        }
    }
    let Some(folder) = compiled else {
        return Ok(seeds);
    };
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if let Ok(package) = Package::read_file(&path) {
            let count = package
                .manifest()
                .functions
                .first()
                .map_or(0, |f| f.args.len());
            seeds.push(Seed {
                package,
                given: vec![Given::Shape(vec![64, 128]); count],
            });
        }
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::{self, Reached, SMALL};

    #[test]
    fn every_kernel_written_here_runs() {
        let written = written();
        assert_eq!(written.len(), BODIES.len());
        for (i, seed) in written.iter().enumerate() {
            assert_eq!(
                emulate::all(&seed.package, &seed.given, 0, SMALL),
                Reached::Ran,
                "body {i}"
            );
        }
    }

    #[test]
    fn the_manifests_are_valid() {
        let manifests = manifests();
        assert_eq!(manifests.len(), 1);
        assert_eq!(manifests[0].package.manifest().functions.len(), 5);
        assert_eq!(
            emulate::all(&manifests[0].package, &manifests[0].given, 0, SMALL),
            Reached::Ran
        );
    }
}

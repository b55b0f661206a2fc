//! Kernels that no host function of their test launches: each is launched here, on data that its result can
//! be computed for.

use crate::common::{root, run_passes, said};
use cute_ir::mlir::parse_module;
use cute_runtime::{
    Access, Arg, Function, HostTensor, ImageSource, KernelInfo, Launch, Package,
    device::{Device, DeviceError},
    emulator::{Config, Emulator, Kind},
    ptx::{
        self, Address, Base, Instruction, Item, Operand, Pointer, Register, Registers, Space,
        Statement, TextLine, Type,
    },
    tensor::tensor_for,
};

/// One part of a test, after passes.
fn ptx_of(file: &str, part: usize, passes: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("test").join(file)).unwrap();
    let text = text.split("// -----").nth(part).unwrap();
    let context = cute_ir::context();
    let mut module = said(&context, || {
        parse_module(&context, "source", text).ok_or_else(String::new)
    })
    .unwrap();
    run_passes(&mut module, passes, true).unwrap();
    let text = module.as_operation().to_string();
    text.split("assembly = \"")
        .skip(1)
        .map(|rest| unescaped(rest.split('"').next().unwrap_or_default()))
        .collect()
}

/// A string as MLIR prints it: `\0A` is a byte.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2);
        all.push(u8::from_str_radix(code, 16).unwrap() as char);
        all.push_str(rest);
    }
    all
}

/// Registers for the pointers to parameters that are no pointers.
const POINTERS: [&str; 6] = [
    "%given0", "%given1", "%given2", "%given3", "%given4", "%given5",
];

/// A package passes tensors only: each parameter that is no pointer becomes one to where its value is.
fn through_memory(text: &str, kernel: &str) -> String {
    let mut module = ptx::parse(text).unwrap();
    let functions = module.items.iter_mut().filter_map(|item| match item {
        Item::Function(function) if function.name == kernel => Some(function),
        _ => None,
    });
    let function = functions.last().unwrap();
    let mut given = Vec::new();
    for param in function
        .params
        .iter_mut()
        .filter(|param| param.ty != Type::U64)
    {
        given.push((param.name, POINTERS[given.len()]));
        let align = param.align.or_else(|| param.ty.bytes());
        (param.ty, param.align, param.dims) = (Type::U64, None, Vec::new());
        param.pointer = Some(Pointer {
            space: Some(Space::Global),
            align,
        });
    }
    let body = function.body.as_mut().unwrap();
    for statement in body.iter_mut() {
        let Statement::Instruction(load) = statement else {
            continue;
        };
        if load.opcode == "ld"
            && load.modifiers[0] == "param"
            && let [_, Operand::Address(address)] = &mut load.operands[..]
            && let Base::Symbol(name) = address.base
            && let Some((_, pointer)) = given.iter().find(|(param, _)| *param == name)
        {
            load.modifiers[0] = "global";
            address.base = Base::Register(Register {
                name: pointer,
                element: None,
            });
        }
    }
    let mut first = Vec::new();
    for (param, pointer) in given {
        let names = vec![(pointer, None)];
        first.push(Statement::Registers(Registers {
            vector: None,
            ty: Type::B64,
            names,
            line: cute_runtime::ptx::TextLine(0),
        }));
        let register = Operand::Register(Register {
            name: pointer,
            element: None,
        });
        let from = Address {
            base: Base::Symbol(param),
            offset: 0,
            more: Vec::new(),
        };
        first.push(Statement::Instruction(Instruction {
            guard: None,
            opcode: "ld",
            modifiers: vec!["param", "b64"],
            operands: vec![register, Operand::Address(from)],
            source: None,
            line: TextLine(0),
        }));
    }
    body.splice(0..0, first);
    module.to_string()
}

/// A tensor that is passed, with its values, or poisoned.
struct Given<'a> {
    element: &'a str,
    layout: String,
    access: Access,
    values: Option<&'a dyn Fn(i64) -> f64>,
}

fn number(value: &dyn Fn(i64) -> f64) -> Given<'_> {
    Given {
        element: "i32",
        layout: "1:1".to_owned(),
        access: Access::Read,
        values: Some(value),
    }
}

/// The tensors, the text and the findings that a kernel left.
struct Done {
    tensors: Vec<HostTensor>,
    printed: String,
    found: Vec<Kind>,
    said: String,
}

fn launch(
    text: &str,
    kernel: &str,
    grid: u32,
    block: u32,
    dynamic_smem: u32,
    given: &[Given],
    seed: u64,
) -> Done {
    let text = through_memory(text, kernel);
    let arch = text
        .split(".target ")
        .nth(1)
        .and_then(|rest| rest.split(['\n', ',']).next())
        .unwrap()
        .trim()
        .to_owned();
    let args: Vec<Arg> = given
        .iter()
        .enumerate()
        .map(|(index, given)| Arg::Tensor {
            name: format!("arg{index}"),
            element: given.element.to_owned(),
            layout: given.layout.clone(),
            align: 16,
            access: given.access,
        })
        .collect();
    let kernels = vec![KernelInfo {
        name: kernel.to_owned(),
        params: vec![".u64".to_owned(); args.len()],
        ..KernelInfo::default()
    }];
    let mut tensors: Vec<HostTensor> = args.iter().map(|arg| tensor_for(arg).unwrap()).collect();
    for (tensor, given) in tensors.iter_mut().zip(given) {
        if let Some(values) = given.values {
            (0..tensor.layout().size()).for_each(|index| tensor.set(index, values(index)));
        }
    }
    let launch = Launch::fixed(
        kernel,
        [grid, 1, 1],
        [block, 1, 1],
        dynamic_smem,
        0..args.len(),
    );
    let function = Function::new(kernel, args, vec![launch]);
    let image = ImageSource {
        arch,
        ptx: Some(text),
        cubin: None,
        kernels,
    };
    let package = Package::builder("tests")
        .function(function)
        .image(image)
        .build()
        .unwrap();
    let emulator = Emulator::new(Config {
        seed,
        ..Config::default()
    });
    let mut program = emulator
        .load(&package, package.function(None).unwrap())
        .unwrap();
    let (found, said) = match program.run(&mut tensors) {
        Ok(()) => (Vec::new(), String::new()),
        Err(DeviceError::Findings(all)) => (
            all.iter().map(|finding| finding.kind).collect(),
            DeviceError::Findings(all).to_string(),
        ),
        Err(error) => panic!("{kernel}: {error}"),
    };
    let printed = program
        .report()
        .map_or_else(String::new, |report| report.printed.clone());
    Done {
        tensors,
        printed,
        found,
        said,
    }
}

const SEEDS: u64 = 3;
const DYNAMIC: &str = "lowering/dynamic-layouts-kernel.mlir";
const TO_PTX: &str = "gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx";

/// The three ways in which the test compiles it.
fn dynamic() -> [String; 3] {
    [
        "cute-lower-layouts,cse,",
        "cute-lower-layouts,",
        "cute-lower-layouts{checks=false},cse,",
    ]
    .map(|passes| ptx_of(DYNAMIC, 0, &format!("{passes}{TO_PTX}")).remove(0))
}

#[test]
fn a_dynamic_layout_tiles_a_tensor() {
    for text in dynamic() {
        for (m, n, ld) in [
            (8, 4, 4),
            (24, 12, 16),
            (40, 28, 31),
            (64, 36, 36),
            (264, 20, 20),
        ] {
            for seed in 0..SEEDS {
                let value = |index: i64| index as f64;
                let (em, en, el) = (move |_| m as f64, move |_| n as f64, move |_| ld as f64);
                let given = [
                    Given {
                        element: "f32",
                        layout: format!("({m},{n}):({ld},1)"),
                        access: Access::Read,
                        values: Some(&value),
                    },
                    Given {
                        element: "f32",
                        layout: format!("{}:1", m * n),
                        access: Access::Write,
                        values: None,
                    },
                    number(&em),
                    number(&en),
                    number(&el),
                ];
                let blocks = u32::try_from((m * n + 255) / 256).unwrap();
                let done = launch(&text, "tiled", blocks, 256, 0, &given, seed);
                assert!(done.found.is_empty(), "({m},{n}):({ld},1): {}", done.said);
                for i in 0..m * n {
                    // The place of element i in the tiles of 8x4, which lie one after the other.
                    let tile = i / 32;
                    let to = i % 8 + i / 8 % 4 * m + tile % (m / 8) * 8 + tile / (m / 8) * 4 * m;
                    assert_eq!(
                        done.tensors[1].get(to),
                        Some(i as f64),
                        "({m},{n}):({ld},1), element {i}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_dynamic_layout_is_printed_or_refused() {
    let [checked, with_checks, bare] = dynamic();
    let show = |text: &str, m: i64, n: i64, k: i64| {
        let (m, n, k) = (move |_| m as f64, move |_| n as f64, move |_| k as f64);
        launch(
            text,
            "show",
            1,
            1,
            0,
            &[number(&m), number(&n), number(&k)],
            0,
        )
    };
    for text in [&checked, &with_checks, &bare] {
        for (m, n, k, layout) in [
            (8, 4, 16, "(8,2):(1,8)"),
            (8, 4, 4, "(4,1):(1,8)"),
            (6, 5, 30, "(6,5):(1,6)"),
        ] {
            let done = show(text, m, n, k);
            assert!(done.found.is_empty(), "{}", done.said);
            assert_eq!(done.printed.trim_end(), layout, "({m},{n}):(1,{m}) o {k}");
        }
    }
    // 8 and 12 have no divisor that is either.
    for text in [&checked, &with_checks] {
        let done = show(text, 8, 4, 12);
        assert_eq!(done.found, [Kind::Trap], "{}", done.said);
        assert!(done.printed.is_empty());
    }
    assert!(show(&bare, 8, 4, 12).found.is_empty());
}

#[test]
fn a_kernel_that_calls_a_function_copies() {
    for text in ptx_of("lowering/emit-ptx.mlir", 0, "cute-emit-ptx") {
        for seed in 0..SEEDS {
            let value = |index: i64| (index * 7 - 100) as f64;
            let tensor = |access, values| Given {
                element: "i32",
                layout: "256:1".to_owned(),
                access,
                values,
            };
            let given = [
                tensor(Access::Read, Some(&value as &dyn Fn(i64) -> f64)),
                tensor(Access::Write, None),
            ];
            let done = launch(&text, "copy", 1, 64, 256, &given, seed);
            assert!(done.found.is_empty(), "{}", done.said);
            assert!((0..256).all(|index| done.tensors[1].get(index) == Some(value(index))));
        }
    }
}

#[test]
fn a_kernel_without_arguments_does_nothing() {
    let all = ptx_of("lowering/emit-ptx.mlir", 1, "cute-emit-ptx");
    assert_eq!(all.len(), 2);
    for text in all {
        let done = launch(&text, "nothing", 3, 32, 0, &[], 0);
        assert!(done.found.is_empty(), "{}", done.said);
    }
}

/// PTX that is there to be assembled: every thread writes one word of shared memory, by volatile accesses,
/// which are no race, and one of global memory.
#[test]
fn threads_that_write_one_word_are_found() {
    let text = ptx_of("lowering/assemble.mlir", 0, "cse").remove(0);
    for seed in 0..SEEDS {
        let out = Given {
            element: "i32",
            layout: "1:1".to_owned(),
            access: Access::Write,
            values: None,
        };
        let done = launch(&text, "copy", 1, 64, 0, &[out], seed);
        assert_eq!(done.found, [Kind::ConflictingWrites], "{}", done.said);
        assert!(launch(&text, "none", 2, 32, 0, &[], seed).found.is_empty());
    }
}

/// One product of a warp, whose threads all store to one place: everything up to there is right.
#[test]
fn threads_that_store_their_products_to_one_place_are_found() {
    let passes = format!("cute-to-nvvm,cute-simplify-indices,cse,{TO_PTX}");
    let all = ptx_of("lowering/locations.mlir", 0, &passes);
    assert_eq!(all.len(), 3);
    for text in all {
        let (a, b, c) = (|index: i64| index as f64, |_: i64| 1.0, |_: i64| 0.5);
        let given = [
            Given {
                element: "f16",
                layout: "(16,16):(64,1)".to_owned(),
                access: Access::Read,
                values: Some(&a),
            },
            Given {
                element: "f16",
                layout: "4:1".to_owned(),
                access: Access::Read,
                values: Some(&b),
            },
            Given {
                element: "f32",
                layout: "4:1".to_owned(),
                access: Access::Read,
                values: Some(&c),
            },
            Given {
                element: "f32",
                layout: "4:1".to_owned(),
                access: Access::Write,
                values: None,
            },
        ];
        for seed in 0..SEEDS {
            let done = launch(&text, "product", 1, 32, 1024, &given, seed);
            assert_eq!(done.found, [Kind::ConflictingWrites], "{}", done.said);
        }
    }
}

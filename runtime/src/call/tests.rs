//! Calls are planned as by general code, and refused with the argument that does not suit.

use proptest::prelude::*;

use super::*;
use crate::element::Element;
use crate::package::{
    Access, Arg, Compute, Expr, Factor, Launch, MapOf, Number, Op, Param, Requirement,
};
use crate::tensor::{Given, generate_given};

/// A product of open matrices as the compiler writes it: six kernels, of which the sizes choose.
const OPEN: &str = include_str!("../../benches/open_gemm.json");
const SMS: u32 = 132;
const GPU: Memory = Memory::Cuda(0);

fn open() -> Function {
    Function::from_json(OPEN).unwrap()
}

fn tensor(name: &str, element: &str, layout: &str, align: u32, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align,
        access,
    }
}

/// A function with a workspace, numbers of both kinds, an expression of each part, and launches on conditions.
fn mixed() -> Function {
    let apply = |op, a: Expr, b: Expr| Expr::apply(op, vec![a, b]);
    let c = Expr::Constant;
    let n = || Expr::Leaf(0, 0);
    let few = apply(Op::Le, n(), c(8));
    let blocks = apply(Op::CeilDiv, n(), Expr::Scalar(2));
    let bytes = Expr::apply(
        Op::Select,
        vec![few.clone(), c(0), apply(Op::Mul, n(), c(4))],
    );
    let launch = |when: Expr, params| Launch {
        grid: [Expr::Value(0), c(1), c(1)],
        params,
        when: Some(when),
        disjoint: vec![[0, 1]],
        ..Launch::fixed("k", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let leaves = [Param::Leaf(0, 1), Param::Leaf(1, 2), Param::Scalar(3)];
    let with = |more: Vec<Param>| {
        let pointers = vec![Param::Pointer(0), Param::Pointer(1)];
        [pointers, leaves.to_vec(), more].concat()
    };
    Function {
        values: vec![blocks, apply(Op::Sub, n(), c(3))],
        requires: vec![Requirement {
            condition: apply(Op::Lt, n(), c(1000)),
            message: "there are fewer than 1000 rows".into(),
        }],
        workspace: Some(bytes),
        computes: vec![Compute::Axpby {
            x: 0,
            y: 1,
            alpha: Factor::Argument { scalar: 3 },
            beta: Factor::Constant(0.0),
            accumulate: None,
        }],
        ..Function::new(
            "mixed",
            vec![
                tensor("x", "f32", "(?,?):(?{div=4},1)", 16, Access::Read),
                tensor("y", "f32", "(?,?):(?{i64},1)", 4, Access::Write),
                Arg::Scalar {
                    name: "width".into(),
                    element: "i32".into(),
                    default: Some(Number::Integer(4)),
                },
                Arg::Scalar {
                    name: "alpha".into(),
                    element: "f16".into(),
                    default: None,
                },
            ],
            vec![
                launch(few, with(vec![Param::Integer(Expr::Value(1), 32)])),
                launch(
                    apply(Op::Lt, c(8), n()),
                    with(vec![
                        Param::Workspace(c(0)),
                        Param::Workspace(apply(Op::Mul, Expr::Value(1), c(4))),
                        Param::Integer(apply(Op::Shl, n(), c(28)), 64),
                        Param::Byte {
                            tensor: 0,
                            offset: apply(Op::Mul, Expr::Value(1), c(4)),
                        },
                    ]),
                ),
            ],
        )
    }
}

fn compiled(function: &Function) -> Compiled {
    Compiled::new(function, GPU, SMS).unwrap()
}

/// A view of memory that nothing reads.
fn view<'a>(address: u64, shape: &'a [i64], strides: Option<&'a [i64]>) -> TensorView<'a> {
    // SAFETY: calls are planned, and nothing is launched.
    unsafe { TensorView::from_raw(address, Element::F32, shape, strides, GPU) }.unwrap()
}

fn of(element: Element, view: TensorView) -> TensorView {
    TensorView { element, ..view }
}

/// Checks that the short cut gives what general code gives; returns that, and whether the short cut gave it.
fn both(compiled: &Compiled, arguments: &[Argument]) -> (Result<Prepared, CallError>, bool) {
    let mut fast = Prepared::default();
    let is_fast = compiled.fast(arguments, &mut fast).is_some();
    let mut again = Prepared::default();
    // What is remembered is what was computed.
    assert_eq!(compiled.fast(arguments, &mut again).is_some(), is_fast);
    if is_fast {
        assert_eq!(fast, again);
    }
    let general = general(compiled, arguments);
    if is_fast {
        assert_eq!(&fast, general.as_ref().unwrap());
    }
    let mut whole = Prepared::default();
    let called = compiled.prepare(arguments, &mut whole);
    match (&called, &general) {
        (Ok(()), Ok(general)) => assert_eq!(&whole, general),
        (Err(called), Err(general)) => assert_eq!(called.to_string(), general.to_string()),
        _ => panic!("{called:?} {general:?}"),
    }
    (general, is_fast)
}

fn extent() -> impl Strategy<Value = i64> {
    prop_oneof![6 => 0i64..300, 2 => (0i64..600).prop_map(|n| 8 * n), 1 => Just(1), 1 => -3i64..3, 1 => any::<i64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever the shapes and strides are, both say the same; and of problems as they should be the short cut says it.
    #[test]
    fn products_of_any_sizes((m, n, k) in (extent(), extent(), extent()), pad in 0i64..3, free in extent(), at in 0u64..40) {
        let compiled = compiled(&open());
        let rows = |n: i64| ((n.saturating_add(7) / 8).saturating_add(pad)).saturating_mul(8);
        let shapes = [[m, k], [n, k], [m, n]];
        let mut strides = [[rows(k), 1], [rows(k), 1], [rows(n), 1]];
        let call = |strides: &[[i64; 2]; 3], at: u64| {
            let views = shapes.iter().zip(strides).enumerate().map(|(i, (shape, strides))| {
                let view = of(Element::F16, view((i as u64 + 1) << 42, shape, Some(strides)));
                Argument::Tensor(if i == 2 { TensorView { address: view.address + at, ..view } } else { view })
            });
            let views: Vec<Argument> = views.collect();
            both(&compiled, &views)
        };
        let (result, is_fast) = call(&strides, 0);
        let ordinary = [m, n, k].iter().all(|n| (1..100_000).contains(n));
        prop_assert!(!ordinary || (result.is_ok() && is_fast), "{:?}", result);
        // Another stride, that says something or not, and another alignment.
        strides[0][0] = free;
        let (result, _) = call(&strides, 0);
        if m == 1 && ordinary {
            prop_assert!(result.is_ok(), "{:?}", result);
        }
        let _ = call(&strides, at);
    }

    /// The same of a function with numbers and a workspace.
    #[test]
    fn numbers_and_workspaces(m in extent(), n in extent(), width in -2i64..70, alpha in prop_oneof![-3.0..3.0f64, Just(1e9)], apart in 0u64..4) {
        let compiled = compiled(&mixed());
        let shape = [m, n];
        let x = [n.saturating_add(3).saturating_div(4).saturating_mul(4), 1];
        let y = [n, 1];
        let base = 1 << 42;
        let arguments = [
            view(base, &shape, Some(&x)).into(),
            view(base + apart * 64, &shape, Some(&y)).into(),
            Argument::Number(Number::Integer(width)),
            Argument::from(alpha),
        ];
        let _ = both(&compiled, &arguments);
        let other = [arguments[0], arguments[1], Argument::Default, Argument::from(1i64)];
        let _ = both(&compiled, &other);
    }
}

#[test]
fn launches_are_those_of_the_package() {
    let compiled = compiled(&mixed());
    let shape = [100, 10];
    let (x, y) = ([12, 1], [10, 1]);
    let arguments = [
        view(0x10000, &shape, Some(&x)).into(),
        view(0x90000, &shape, Some(&y)).into(),
        Argument::Default,
        0.5f32.into(),
    ];
    let (prepared, is_fast) = both(&compiled, &arguments);
    let prepared = prepared.unwrap();
    assert!(is_fast);
    assert_eq!(prepared.workspace, 400);
    assert_eq!(prepared.into_workspace[..], [5, 6]);
    let half = u64::from(half::f16::from_f32(0.5).to_bits());
    // The last one is byte 388 of x.
    let last = [0, 388, 100 << 28, 0x10000 + 388];
    let first = [0x10000, 0x90000, 10, 10, half];
    assert_eq!(prepared.params[..], [&first[..], &last].concat());
    let ready = &prepared.launches[0];
    assert_eq!((ready.launch, ready.sizes.grid), (1, [25, 1, 1]));
    assert_eq!(compiled.workspace_bytes(&arguments).unwrap(), 400);
}

/// A map of the first argument's elements that begins there, with its sizes, in boxes of 32 by so many.
fn map_at(of: MapOf, stride: Expr, lines: u32) -> Param {
    Param::TensorMap(crate::package::MapParam {
        of,
        sizes: vec![Expr::Leaf(0, 1), Expr::Leaf(0, 0)],
        strides: vec![stride],
        box_sizes: [32, lines].map(Into::into).to_vec(),
        swizzle: crate::package::SharedSwizzle::Span(128),
        l2_promotion: None,
        im2col: None,
    })
}

/// Maps are made of what a call brings, by either code alike, and have its addresses.
#[test]
fn tensor_maps_are_those_of_the_arguments() {
    let map = map_at(MapOf::Tensor(0), Expr::Leaf(0, 2), 64);
    let launch = Launch {
        params: vec![Param::Leaf(0, 0), map],
        ..Launch::fixed("k", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let x = tensor("x", "f32", "(?,?):(?{i64 div=4},1)", 4, Access::Write);
    let compiled = compiled(&Function::new("moved", vec![x], vec![launch]));
    let call = |address: u64, [m, n, stride]: [i64; 3]| {
        let (shape, strides) = ([m, n], [stride, 1]);
        both(&compiled, &[view(address, &shape, Some(&strides)).into()])
    };
    for (address, m) in [(0x10000, 7), (0x20010, 7), (0x20010, 1)] {
        let (prepared, is_fast) = call(address, [m, 40, 44]);
        let prepared = prepared.unwrap();
        assert!(is_fast);
        let [passed] = &prepared.maps[..] else {
            panic!("{:?}", prepared.maps);
        };
        assert_eq!((passed.param, passed.address), (1, address));
        assert_eq!(passed.map.sizes, [40, m as u64]);
        assert_eq!(passed.map.strides, [176]);
    }
    for (address, sizes, said) in [
        (0x10004, [7, 40, 44], "16"),
        (0x10000, [2, 40, 1 << 38], "2^40"),
    ] {
        let (refused, is_fast) = call(address, sizes);
        let error = refused.unwrap_err().to_string();
        assert!(!is_fast && error.contains(said), "{error}");
    }
}

/// A map that begins elsewhere in its tensor has that address, by either code alike; where none can begin, the call is refused.
#[test]
fn tensor_maps_begin_where_numbers_of_a_call_say() {
    let row = Expr::apply(Op::Mul, vec![Expr::Scalar(1), Expr::Constant(4)]);
    let of = MapOf::Byte {
        tensor: 0,
        offset: row,
    };
    let map = map_at(of, Expr::Leaf(0, 2), 64);
    let launch = Launch {
        params: vec![map],
        ..Launch::fixed("k", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let x = tensor("x", "f32", "(?,?):(?{i64 div=4},1)", 4, Access::Write);
    let first = Arg::Scalar {
        name: "first".into(),
        element: "i32".into(),
        default: None,
    };
    let compiled = compiled(&Function::new("moved", vec![x, first], vec![launch]));
    let call = |first: i32| {
        let x = view(0x10000, &[7, 40], Some(&[44, 1]));
        both(&compiled, &[x.into(), first.into()])
    };
    for first in [0, 4, 1000] {
        let (prepared, is_fast) = call(first);
        assert!(is_fast);
        let [passed] = &prepared.as_ref().unwrap().maps[..] else {
            panic!("{prepared:?}");
        };
        let address = 0x10000 + 4 * first as u64;
        assert_eq!((passed.param, passed.address), (0, address));
        assert_eq!(passed.map.sizes, [40, 7]);
    }
    for (first, said) in [(1, "byte 4 of"), (-4, "byte -16 of")] {
        let (refused, is_fast) = call(first);
        let error = refused.unwrap_err().to_string();
        assert!(!is_fast && error.contains(said), "{error}");
    }
}

/// A map may be of a tensor in the workspace, whose address a call adds.
#[test]
fn tensor_maps_of_the_workspace_are_in_it() {
    let workspace = Expr::apply(Op::Mul, vec![Expr::Leaf(0, 0), Expr::Constant(16)]);
    let of = MapOf::Workspace { like: 0, workspace };
    let map = map_at(of, Expr::Constant(64), 8);
    let launch = Launch {
        params: vec![Param::Pointer(0), map],
        ..Launch::fixed("k", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let x = tensor("x", "f32", "(?,?):(?{i64},1)", 4, Access::Write);
    let mut function = Function::new("moved", vec![x], vec![launch]);
    function.workspace = Some(Expr::Constant(1024));
    let compiled = compiled(&function);
    let call = |m: i64| {
        let (shape, strides) = ([m, 40], [41, 1]);
        both(&compiled, &[view(0x10004, &shape, Some(&strides)).into()])
    };
    let (prepared, is_fast) = call(7);
    let mut prepared = prepared.unwrap();
    assert!(is_fast);
    prepared.place(0x80000);
    let [passed] = &prepared.maps[..] else {
        panic!("{:?}", prepared.maps);
    };
    assert_eq!((passed.param, passed.address), (1, 0x80000 + 112));
    assert_eq!(prepared.params[0], 0x10004);
    let (refused, _) = call(65);
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("byte 1040 of the workspace, which has 1024"),
        "{error}"
    );
}

/// The host's tensors are planned alike, as tensors and as views.
#[test]
fn views_of_tensors_are_planned_as_the_tensors() {
    let function = mixed();
    let shape = || Given::Shape(vec![100, 10]);
    let alpha = Given::Value(Number::Real(0.5));
    let given = [shape(), shape(), Given::Nothing, alpha];
    let tensors = generate_given(&function, &given, 1).unwrap();
    let planned = crate::plan::plan(&function, &tensors, SMS).unwrap();
    let compiled = Compiled::new(&function, Memory::Host, SMS).unwrap();
    let mut prepared = Prepared::default();
    let y = TensorView {
        writable: true,
        ..TensorView::from(&tensors[1])
    };
    let arguments = [
        TensorView::from(&tensors[0]).into(),
        y.into(),
        Argument::Default,
        0.5f64.into(),
    ];
    compiled.prepare(&arguments, &mut prepared).unwrap();
    assert_eq!(prepared.launches.len(), planned.len());
    assert_eq!(prepared.launches[0].sizes.grid, planned[0].grid);
}

#[track_caller]
fn refused(arguments: &[Argument], says: &str) -> CallError {
    let compiled = compiled(&mixed());
    let error = both(&compiled, arguments).0.unwrap_err();
    assert_eq!(error.to_string(), says);
    error
}

#[test]
fn arguments_that_do_not_suit_are_named() {
    let (shape, x, y) = ([6, 10], [12, 1], [10, 1]);
    let good = [
        view(0x10000, &shape, Some(&x)).into(),
        view(0x20000, &shape, Some(&y)).into(),
        Argument::from(4i32),
        Argument::from(1.0f32),
    ];
    assert!(both(&compiled(&mixed()), &good).1);
    let with = |at: usize, argument: Argument<'static>| {
        let mut all: Vec<Argument> = good.to_vec();
        all[at] = argument;
        all
    };
    let x_is = |view: TensorView<'static>| with(0, view.into());
    static SHAPE: [i64; 2] = [6, 10];
    static STRIDES: [i64; 2] = [12, 1];
    let base = || view(0x10000, &SHAPE, Some(&STRIDES));

    refused(&good[..3], "mixed: expected 4 arguments, found 3");
    let error = refused(
        &x_is(of(Element::F16, base())),
        "mixed: argument 0 (x): expected elements of type f32, found f16",
    );
    let argument = error.argument().unwrap();
    assert_eq!((argument.index, argument.problem), (0, Problem::Element));
    refused(
        &x_is(TensorView {
            memory: Memory::Host,
            ..base()
        }),
        "mixed: argument 0 (x): expected a tensor in memory of GPU 0, found a tensor of the host; load the function for that device, or \
         copy the tensor",
    );
    refused(
        &x_is(TensorView {
            memory: Memory::Cuda(1),
            ..base()
        }),
        "mixed: argument 0 (x): expected a tensor in memory of GPU 0, found a tensor of GPU 1; load the function for that device, or copy \
         the tensor",
    );
    refused(
        &with(1, base().read_only().into()),
        "mixed: argument 1 (y): expected a tensor that may be written, found one that may only be read",
    );
    refused(
        &x_is(view(0x10000, &[6, 10, 1], None)),
        "mixed: argument 0 (x): expected 2 dimensions, one for each leaf of (?,?):(?{div=4},1), found 3, (6,10,1):(10,1,1)",
    );
    refused(
        &x_is(view(0x10000, &SHAPE, Some(&[10, 1]))),
        "mixed: argument 0 (x): expected stride[0] to be a multiple of 4, found stride[0] of 10; pad the tensor",
    );
    refused(
        &x_is(view(0x10000, &SHAPE, Some(&[12, 2]))),
        "mixed: argument 0 (x): expected stride[1] of 1, for which it was compiled, found stride[1] of 2",
    );
    refused(
        &x_is(view(0x10000, &SHAPE, Some(&[-12, 1]))),
        "mixed: argument 0 (x): expected stride[0] from 0 to 2147483647, found stride[0] of -12",
    );
    refused(
        &x_is(view(0x10000, &[6, 1 << 32], Some(&STRIDES))),
        "mixed: argument 0 (x): expected shape[1] from 0 to 2147483647, found shape[1] of 4294967296; compile for ?{i64} there",
    );
    refused(
        &x_is(view(0x10000, &[1 << 30, 1 << 30], Some(&STRIDES))),
        "mixed: argument 0 (x): expected at most 2^40 elements, from the first to the last, found (1073741824,1073741824):(12,1)",
    );
    refused(
        &x_is(TensorView {
            address: 0x10004,
            ..base()
        }),
        "mixed: argument 0 (x): expected an address that is a multiple of 16 bytes, found 0x10004; copy the tensor, or compile for less \
         (align<...>)",
    );
    refused(
        &x_is(TensorView {
            address: 0,
            ..base()
        }),
        "mixed: argument 0 (x): expected the address of 280 bytes, found a null pointer",
    );
    refused(
        &x_is(TensorView {
            address: u64::MAX - 15,
            ..base()
        }),
        "mixed: argument 0 (x): expected the address of 280 bytes, found 0xfffffffffffffff0",
    );
    refused(
        &with(0, Argument::from(1i32)),
        "mixed: argument 0 (x): expected a tensor of f32, found the number 1",
    );
    refused(
        &with(0, Argument::Default),
        "mixed: argument 0 (x): expected a tensor of f32, found no argument",
    );
    refused(
        &with(2, base().into()),
        "mixed: argument 2 (width): expected a number of type i32, found a tensor of f32 (6,10):(12,1)",
    );
    refused(
        &with(2, Argument::from(1.5f64)),
        "mixed: argument 2 (width): expected a number of type i32, found 1.5; 1.5 is no integer, and the type is i32",
    );
    refused(
        &with(2, Argument::from(1i64 << 31)),
        "mixed: argument 2 (width): expected a number of type i32, found 2147483648; 2147483648 does not fit i32",
    );
    refused(
        &with(3, Argument::from(1e9f64)),
        "mixed: argument 3 (alpha): expected a number of type f16, found 1000000000.0; 1000000000.0 is too large for f16",
    );
    refused(
        &with(3, Argument::Default),
        "mixed: argument 3 (alpha): expected a number of type f16, found the default, which the package does not give",
    );
    // What arguments are together is said as for a program.
    refused(
        &x_is(view(0x10000, &[5, 10], Some(&STRIDES))),
        "function mixed: expected x and y of one shape, found x (5,10), y (6,10)",
    );
    refused(
        &with(2, Argument::from(0i32)),
        "launch of k: grid: ceil_div(6, 0) has no result in 64 bits",
    );
    let overlapping = with(1, view(0x10010, &SHAPE, Some(&STRIDES)).into());
    refused(
        &overlapping,
        "launch of k: the arguments x (280 bytes at 0x10000) and y (280 bytes at 0x10010) overlap, but the kernel was compiled for \
         tensors that do not (cute.noalias); expected memory of their own",
    );
    let rows = [
        view(0x100000, &[1000, 10], Some(&STRIDES)),
        view(0x200000, &[1000, 10], Some(&STRIDES)),
    ];
    let many = [rows[0].into(), rows[1].into(), good[2], good[3]];
    refused(&many, "function mixed: there are fewer than 1000 rows");
}

/// A row may have any stride where it is the only one; a tensor without elements may have any strides, and no memory.
#[test]
fn strides_that_say_nothing_may_be_any() {
    let compiled = compiled(&open());
    let f16 = |view| Argument::Tensor(of(Element::F16, view));
    let b = f16(view(1 << 33, &[64, 32], Some(&[32, 1])));
    let c = f16(view(1 << 34, &[1, 64], Some(&[64, 1])));
    let usual = [f16(view(1 << 32, &[1, 32], Some(&[32, 1]))), b, c];
    let odd = [f16(view(1 << 32, &[1, 32], Some(&[1, 1]))), b, c];
    let negative = [f16(view(1 << 32, &[1, 32], Some(&[-7, 1]))), b, c];
    let launches = |arguments: &[Argument]| both(&compiled, arguments).0.unwrap().launches;
    assert_eq!(launches(&usual), launches(&odd));
    assert_eq!(launches(&usual), launches(&negative));
    // No row at all.
    let none = [
        f16(view(0, &[0, 32], Some(&[5, 9]))),
        b,
        f16(view(0, &[0, 64], None)),
    ];
    assert!(launches(&none).is_empty());
}

/// Without strides a tensor is compact, its last dimension the fastest.
#[test]
fn no_strides_are_those_of_a_compact_tensor() {
    let compiled = compiled(&open());
    let of = |strides: [Option<&'static [i64]>; 3]| {
        let shapes: [&[i64]; 3] = [&[48, 32], &[64, 32], &[48, 64]];
        let views = shapes.into_iter().zip(strides).enumerate();
        let views = views.map(|(i, (shape, strides))| {
            let view = view((i as u64 + 1) << 33, shape, strides);
            Argument::Tensor(of(Element::F16, view))
        });
        let (prepared, is_fast) = both(&compiled, &views.collect::<Vec<_>>());
        assert!(is_fast);
        prepared.unwrap()
    };
    assert_eq!(
        of([None; 3]),
        of([Some(&[32, 1]), Some(&[32, 1]), Some(&[64, 1])])
    );
}

/// Modes of several leaves take a dimension for each.
#[test]
fn nested_modes_are_dimensions() {
    let function = Function::new(
        "f",
        vec![tensor("x", "f32", "((4,?),3):((1,?),4)", 4, Access::Write)],
        vec![Launch::fixed("k", [1, 1, 1], [32, 1, 1], 0, [0])],
    );
    let compiled = compiled(&function);
    let good = [view(0x100, &[4, 5, 3], Some(&[1, 12, 4])).into()];
    assert!(both(&compiled, &good).1);
    let flat = [view(0x100, &[20, 3], Some(&[1, 20])).into()];
    let error = both(&compiled, &flat).0.unwrap_err().to_string();
    assert!(
        error.contains("3 dimensions, one for each leaf of ((4,?),3):((1,?),4)"),
        "{error}"
    );
}

#[test]
fn slices_hold_what_views_span() {
    let elements = vec![0f32; 20];
    assert!(TensorView::from_slice(&elements, &[4, 5], None).is_ok());
    assert!(TensorView::from_slice(&elements, &[4, 4], Some(&[5, 1])).is_ok());
    let says = |shape: &[i64], strides: Option<&[i64]>| {
        let error = TensorView::from_slice(&elements, shape, strides);
        error.unwrap_err().to_string()
    };
    assert_eq!(
        says(&[4, 6], None),
        "expected a slice of at least 24 elements, for the last one, found 20"
    );
    assert_eq!(
        says(&[4], Some(&[1, 2])),
        "expected 1 strides, one for each dimension, found 2"
    );
    for (shape, strides) in [
        (&[-1, 4], &[1, 1]),
        (&[2, 4], &[-1, 1]),
        (&[i64::MAX, 4], &[8, 1]),
    ] {
        assert!(says(shape, Some(strides)).contains("not negative, and at most 2^40"));
    }
}

/// Everything that a call needs lies on the stack: eight threads at once, each with its own sizes.
#[test]
fn threads_call_at_once() {
    let compiled = compiled(&open());
    std::thread::scope(|scope| {
        for thread in 0..8i64 {
            let compiled = &compiled;
            scope.spawn(move || {
                for turn in 0..200 {
                    let n = 8 * (1 + (thread + turn) % 40);
                    let (shape, strides) = ([n, n], [n, 1]);
                    let at = |i: u64| of(Element::F16, view(i << 33, &shape, Some(&strides)));
                    let arguments = [at(1).into(), at(2).into(), at(3).into()];
                    let mut prepared = Prepared::default();
                    compiled.prepare(&arguments, &mut prepared).unwrap();
                    assert_eq!(prepared, general(compiled, &arguments).unwrap());
                }
            });
        }
    });
}

/// The launches by general code alone.
fn general(compiled: &Compiled, arguments: &[Argument]) -> Result<Prepared, CallError> {
    compiled.general(&compiled.described(arguments)?)
}

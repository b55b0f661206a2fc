use super::*;
use crate::layout::Parsed;
use crate::package::{Access, Arg, Map, RegionOp};

fn arg(name: &str, element: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 16,
        access,
    }
}

fn tensors(function: &Function) -> Vec<HostTensor> {
    let of = |arg: &Arg| match arg {
        Arg::Tensor {
            element, layout, ..
        } => HostTensor::zeroed(element.parse().unwrap(), Parsed::parse(layout).unwrap()).unwrap(),
        Arg::Scalar { .. } => unreachable!("the functions here have none"),
    };
    function.args.iter().map(of).collect()
}

/// The bounds for the last argument of a function with a reference of root mean square 1.
fn bounds(types: [&str; 3], layouts: [&str; 3], computes: Vec<Compute>, data: Data) -> Closeness {
    let access = [Access::Read, Access::Read, Access::Write];
    let args = (0..3).map(|i| arg(["A", "B", "C"][i], types[i], layouts[i], access[i]));
    let function = Function::new("f", args.collect(), vec![]).computing(computes);
    closeness(&function, &tensors(&function), 2, data, 1.0)
}

fn gemm(types: [&str; 3], k: usize, accumulate: &str, data: Data) -> Closeness {
    let factor = format!("(16,{k}):({k},1)");
    let layouts = [&factor[..], &factor[..], "(16,16):(16,1)"];
    let gemm = Compute::Gemm(Gemm::new(0, 1, 2, accumulate));
    bounds(types, layouts, vec![gemm], data)
}

const FLAT: [&str; 3] = ["(16,64):(64,1)"; 3];

#[test]
fn elements_are_compared_as_assert_allclose_does() {
    let close = Closeness {
        relative: 0.1,
        absolute: 0.5,
        sums: None,
    };
    assert!(close.holds(11.5, 10.0) && !close.holds(11.6, 10.0));
    assert!(close.holds(-0.5, 0.0) && !close.holds(0.51, 0.0));
    assert!(close.holds(f64::NAN, f64::NAN) && !close.holds(f64::NAN, 1.0));
    assert!(!close.holds(1.0, f64::NAN));
    assert!(close.holds(f64::INFINITY, f64::INFINITY));
    assert!(!close.holds(f64::NEG_INFINITY, f64::INFINITY));
    assert!(!close.holds(1.0, f64::INFINITY) && !close.holds(f64::INFINITY, 1.0));
}

#[test]
fn the_element_type_decides_where_nothing_is_said() {
    let of = |element: &str| bounds(["f32", "f32", element], FLAT, vec![], Data::Any);
    for (element, relative) in [
        ("f64", 1e-7),
        ("f32", 1e-5),
        ("f16", 1e-3),
        ("tf32", 1e-3),
        ("bf16", 1.6e-2),
        ("f8E4M3FN", 0.125),
        ("f8E5M2", 0.25),
        ("i32", 0.0),
    ] {
        let expected = Closeness {
            relative,
            absolute: relative,
            sums: None,
        };
        assert_eq!(of(element), expected, "{element}");
    }
    // What copies and adds has no sums.
    let copy = Compute::Copy { src: 0, dst: 2 };
    assert_eq!(bounds(["f32"; 3], FLAT, vec![copy], Data::Any).sums, None);
}

#[test]
fn longer_sums_and_narrower_types_may_be_further_off() {
    let of = |types, k| gemm(types, k, "f32", Data::IndependentMeanZero);
    let (short, long) = (
        of(["f16", "f16", "f32"], 64),
        of(["f16", "f16", "f32"], 4096),
    );
    assert_eq!((short.sums, long.sums), (Some(64), Some(4096)));
    assert!(short.relative < long.relative && short.absolute < long.absolute);
    assert!(long.relative < 2e-3 && long.absolute < 1e-2, "{long:?}");
    // A sum of f32 is not one of tf32, which is off by 2e-4 or more.
    let exact = of(["f32"; 3], 4096);
    assert!(exact.relative + exact.absolute < 1.5e-4, "{exact:?}");
    let half = of(["f16"; 3], 64);
    assert!(half.relative > short.relative, "{half:?}");
    // Of data of which nothing is known the worst is assumed.
    let any = gemm(["f32"; 3], 4096, "f32", Data::Any);
    assert!(any.absolute > exact.absolute);
}

#[test]
fn integers_are_exact_unless_they_are_rounded_sums() {
    let exact = gemm(["i8", "i8", "i32"], 64, "i32", Data::Any);
    assert!(exact.allowed(1000.0) < 1.0, "{exact:?}");
    let rounded = gemm(["f16", "f16", "i8"], 64, "f32", Data::Any);
    assert!(rounded.absolute >= 1.0, "{rounded:?}");
}

#[test]
fn reductions_say_how_long_they_are() {
    let softmax = Compute::Softmax {
        x: 0,
        out: 2,
        accumulate: None,
    };
    let close = bounds(["f32"; 3], FLAT, vec![softmax], Data::Any);
    assert_eq!(close.sums, Some(64));
    assert!(close.relative >= 1e-5 && close.relative < 1e-4, "{close:?}");
    let sum = |modes: Vec<usize>| {
        let value = RegionValue::Reduce(ReduceOp::Add, 0, modes);
        let element = "f32".into();
        Compute::Map(Map {
            inputs: vec![0],
            outputs: vec![2],
            region: Region {
                ops: vec![RegionOp { value, element }],
                yields: vec![1],
            },
        })
    };
    let close = |modes| bounds(["f32"; 3], FLAT, vec![sum(modes)], Data::Any);
    assert_eq!(close(vec![1]).sums, Some(64));
    assert_eq!(close(vec![0, 1]).sums, Some(1024));
    assert!(close(vec![1]).absolute < close(vec![0, 1]).absolute);
}

#[test]
fn references_with_infinities_leave_bounds_that_are_numbers() {
    let args = vec![arg("C", "f32", "8:1", Access::Write)];
    let function = Function::new("f", args, vec![]);
    let close = closeness(&function, &tensors(&function), 0, Data::Any, f64::INFINITY);
    assert_eq!((close.relative, close.absolute), (1e-5, 0.0));
}

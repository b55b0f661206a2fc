//! Tensor maps as parameters.

use super::*;
use crate::plan::{Value, plan};
use crate::tensor::{Given, HostTensor, generate_given};
use crate::tensor_map::{MapElement, MapSwizzle};

/// A launch that passes a map of a matrix of f16, rows one after the other, of boxes of 64 columns by 128 rows.
fn function() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f16".into(),
        layout: "(?,?):(?{div=8},1)".into(),
        align: 16,
        access,
    };
    let launch = Launch {
        params: vec![Param::TensorMap(map()), Param::Pointer(1)],
        ..Launch::fixed("kernel", [1, 1, 1], [32, 1, 1], 0, [])
    };
    Function::new(
        "copy",
        vec![tensor("src", Access::Read), tensor("dst", Access::Write)],
        vec![launch],
    )
}

fn map() -> MapParam {
    MapParam {
        arg: 0,
        sizes: vec![Expr::Leaf(0, 1), Expr::Leaf(0, 0)],
        strides: vec![Expr::Leaf(0, 2)],
        box_sizes: vec![64, 128],
        swizzle: 128,
        im2col: None,
    }
}

fn with(map: MapParam) -> Function {
    let mut function = function();
    function.launches[0].params[0] = Param::TensorMap(map);
    function
}

fn build(function: Function) -> Result<Package, String> {
    let package = Package::builder("test").function(function).build();
    package.map_err(|error| error.to_string())
}

fn tensors(function: &Function) -> Vec<HostTensor> {
    let given = [Given::Shape(vec![200, 72]), Given::Shape(vec![200, 72])];
    generate_given(function, &given, 1).unwrap()
}

#[test]
fn they_round_trip() {
    let package = build(function()).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    let json = serde_json::to_value(package.manifest()).unwrap();
    assert_eq!(
        json["functions"][0]["launches"][0]["params"][0],
        serde_json::json!({"tensor_map": {
            "arg": 0,
            "sizes": [{"leaf": [0, 1]}, {"leaf": [0, 0]}],
            "strides": [{"leaf": [0, 2]}],
            "box_sizes": [64, 128],
            "swizzle": 128
        }})
    );
    assert_eq!(
        function().launches[0].params[0].bytes(&function()),
        Some(128)
    );
}

#[test]
fn a_launch_has_the_numbers_of_its_arguments() {
    let function = function();
    let launches = plan(&function, &tensors(&function), 1).unwrap();
    let Value::TensorMap(0, map) = &launches[0].params[0] else {
        panic!("{:?}", launches[0].params);
    };
    assert_eq!(map.sizes, [72, 200]);
    assert_eq!(map.strides, [144]);
    assert_eq!(map.box_sizes, [64, 128]);
    assert_eq!(
        (map.element, map.swizzle),
        (MapElement::F16, MapSwizzle::B128)
    );
    assert_eq!(map.check(), Ok(()));
}

#[test]
fn what_no_map_can_have_is_refused_before_anything_runs() {
    // A stride of 24 bytes: the layout promises none.
    let function = with(MapParam {
        strides: vec![Expr::Constant(12)],
        ..map()
    });
    let error = plan(&function, &tensors(&function), 1).unwrap_err();
    assert!(error.to_string().contains("24"), "{error}");
    let function = with(MapParam {
        sizes: vec![Expr::Constant(-1), Expr::Constant(1)],
        ..map()
    });
    let error = plan(&function, &tensors(&function), 1).unwrap_err();
    assert!(error.to_string().contains("negative"), "{error}");
    // Wider than the swizzle.
    let function = with(MapParam {
        box_sizes: vec![128, 64],
        ..map()
    });
    assert!(plan(&function, &tensors(&function), 1).is_err());
}

#[test]
fn packages_with_parts_of_maps_are_refused() {
    let refused = |map: MapParam, word: &str| {
        let error = build(with(map)).unwrap_err();
        assert!(error.contains(word), "{error}");
    };
    refused(MapParam { arg: 7, ..map() }, "argument index below 2");
    refused(
        MapParam {
            strides: vec![],
            ..map()
        },
        "1 to 5 dimensions",
    );
    refused(
        MapParam {
            box_sizes: vec![],
            ..map()
        },
        "1 to 5 dimensions",
    );
    refused(
        MapParam {
            swizzle: 48,
            ..map()
        },
        "0, 32, 64 or 128 bytes",
    );
    refused(
        MapParam {
            sizes: vec![Expr::Leaf(0, 9), Expr::Leaf(0, 0)],
            ..map()
        },
        "leaf",
    );
}

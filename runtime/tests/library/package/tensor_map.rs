//! Tensor maps as parameters.

use super::manifest;
use cute_runtime::package::*;
use cute_runtime::plan::{MapStart, Value, plan};

/// The first element of the first argument.
const FIRST: MapStart = MapStart {
    argument: Some(0),
    offset: 0,
};
use cute_runtime::tensor::{Given, HostTensor, generate_given};
use cute_runtime::tensor_map::{L2Promotion, MapElement, MapSwizzle, OobFill};

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
        of: MapOf::Tensor(0),
        sizes: vec![Expr::Leaf(0, 1), Expr::Leaf(0, 0)],
        strides: vec![Expr::Leaf(0, 2)],
        box_sizes: [64, 128].map(BoxSize::Whole).to_vec(),
        swizzle: SharedSwizzle::Span(128),
        l2_promotion: None,
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
    let json = manifest(&package);
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
    let Value::TensorMap(FIRST, map) = &launches[0].params[0] else {
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

/// The box of a rest has the rows of the tensor's last one, and all where that is whole; as an object, which readers that know of numbers alone refuse.
#[test]
fn a_box_may_be_that_of_the_rest() {
    let function = with(MapParam {
        box_sizes: vec![BoxSize::Whole(64), BoxSize::Rest { rest_of: 128 }],
        ..map()
    });
    let launches = plan(&function, &tensors(&function), 1).unwrap();
    let Value::TensorMap(FIRST, map) = &launches[0].params[0] else {
        panic!("{:?}", launches[0].params);
    };
    assert_eq!(map.sizes, [72, 200]);
    assert_eq!(map.box_sizes, [64, 200 % 128]);
    assert_eq!(map.check(), Ok(()));
    let rest = BoxSize::Rest { rest_of: 128 };
    assert_eq!(
        [1, 127, 128, 129, 256].map(|size| rest.of(size)),
        [1, 127, 128, 1, 128]
    );
    let package = build(function).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    let json = manifest(&package);
    assert_eq!(
        json["functions"][0]["launches"][0]["params"][0]["tensor_map"]["box_sizes"],
        serde_json::json!([64, {"rest_of": 128}])
    );
}

fn from_byte(offset: Expr) -> MapParam {
    MapParam {
        of: MapOf::Byte { tensor: 0, offset },
        ..map()
    }
}

#[test]
fn a_map_may_begin_at_a_byte_of_its_tensor() {
    // Of row 3.
    let row = Expr::apply(Op::Mul, vec![Expr::Leaf(0, 2), Expr::Constant(6)]);
    let function = with(from_byte(row));
    let package = build(function.clone()).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    // No number stands where readers that know of no offset expect one: they refuse it.
    let json = manifest(&package);
    assert_eq!(
        json["functions"][0]["launches"][0]["params"][0]["tensor_map"]["arg"],
        serde_json::json!({"tensor": 0, "offset": {"mul": [{"leaf": [0, 2]}, 6]}})
    );
    let launches = plan(&function, &tensors(&function), 1).unwrap();
    let Value::TensorMap(
        MapStart {
            argument: Some(0),
            offset: 432,
        },
        map,
    ) = &launches[0].params[0]
    else {
        panic!("{:?}", launches[0].params);
    };
    assert_eq!(map.sizes, [72, 200]);
}

#[test]
fn no_map_begins_before_its_tensor_or_between_multiples_of_16_bytes() {
    let open = |bytes: i64| Expr::apply(Op::Mul, vec![Expr::Leaf(0, 0), Expr::Constant(bytes)]);
    // 200 rows.
    for (bytes, found) in [(1, "byte 200 of"), (-2, "byte -400 of")] {
        let function = with(from_byte(open(bytes)));
        let error = plan(&function, &tensors(&function), 1)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(found) && error.contains("multiple of 16"),
            "{error}"
        );
    }
    for byte in [8, -16] {
        let error = build(with(from_byte(Expr::Constant(byte)))).unwrap_err();
        assert!(error.contains("multiple of 16 bytes"), "{error}");
    }
    let error = build(with(from_byte(Expr::Leaf(0, 9)))).unwrap_err();
    assert!(error.contains("leaf"), "{error}");
    let of_another = MapParam {
        of: MapOf::Byte {
            tensor: 7,
            offset: Expr::Constant(16),
        },
        ..map()
    };
    let error = build(with(of_another)).unwrap_err();
    assert!(error.contains("argument index below 2"), "{error}");
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
        box_sizes: [128, 64].map(BoxSize::Whole).to_vec(),
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
    refused(
        MapParam {
            of: MapOf::Tensor(7),
            ..map()
        },
        "argument index below 2",
    );
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
            swizzle: SharedSwizzle::Span(48),
            ..map()
        },
        "0, 32, 64 or 128 bytes",
    );
    refused(
        MapParam {
            l2_promotion: Some(32),
            ..map()
        },
        "0, 64, 128 or 256 bytes that a miss brings into L2",
    );
    refused(
        MapParam {
            sizes: vec![Expr::Leaf(0, 9), Expr::Leaf(0, 0)],
            ..map()
        },
        "leaf",
    );
}

#[test]
fn what_arrives_from_outside_and_misses_are_said_by_the_package() {
    let said = |map: MapParam| {
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<MapParam>(&text).unwrap(), map);
        let function = with(map);
        let launches = plan(&function, &tensors(&function), 1).unwrap();
        let Value::TensorMap(_, made) = launches[0].params[0].clone() else {
            panic!("{:?}", launches[0].params);
        };
        (text, made)
    };
    let (text, made) = said(map());
    assert!(
        text.contains("\"swizzle\":128") && !text.contains("l2_promotion"),
        "{text}"
    );
    assert_eq!(
        (made.oob_fill, made.l2_promotion),
        (OobFill::Zero, L2Promotion::B128)
    );
    let (text, made) = said(MapParam {
        swizzle: SharedSwizzle::of(128, true),
        l2_promotion: Some(256),
        ..map()
    });
    // No number: who knows of no NaN reads no map with zeros.
    assert!(
        text.contains("\"swizzle\":{\"span\":128,\"outside\":\"nan\"}"),
        "{text}"
    );
    assert_eq!(
        (made.oob_fill, made.l2_promotion, made.swizzle.span()),
        (OobFill::Nan, L2Promotion::B256, Some(128))
    );
}

/// A launch that passes a map of images of f16, (C,W,H,N), of columns of 128 pixels of 64 channels.
fn images() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f16".into(),
        layout: "(?,?,?,?):(1,?{div=8},?{div=8},?{div=8})".into(),
        align: 16,
        access,
    };
    let launch = Launch {
        params: vec![Param::TensorMap(columns()), Param::Pointer(1)],
        ..Launch::fixed("kernel", [1, 1, 1], [32, 1, 1], 0, [])
    };
    Function::new(
        "columns",
        vec![tensor("x", Access::Read), tensor("y", Access::Write)],
        vec![launch],
    )
}

fn columns() -> MapParam {
    MapParam {
        of: MapOf::Tensor(0),
        sizes: (0..4).map(|leaf| Expr::Leaf(0, leaf)).collect(),
        strides: (4..7).map(|leaf| Expr::Leaf(0, leaf)).collect(),
        box_sizes: [64, 128].map(BoxSize::Whole).to_vec(),
        swizzle: SharedSwizzle::Span(128),
        l2_promotion: None,
        im2col: Some(Im2colParam {
            lower: vec![-1, -2],
            upper: vec![-1, 0],
            strides: vec![2, 1],
        }),
    }
}

fn with_columns(change: impl FnOnce(&mut MapParam)) -> Function {
    let mut map = columns();
    change(&mut map);
    let mut function = images();
    function.launches[0].params[0] = Param::TensorMap(map);
    function
}

fn pixels(map: &mut MapParam) -> &mut Im2colParam {
    map.im2col.as_mut().unwrap()
}

fn planned(function: &Function) -> Result<cute_runtime::TensorMap, String> {
    let given = [(); 2].map(|()| Given::Shape(vec![72, 9, 7, 3]));
    let tensors = generate_given(function, &given, 1).unwrap();
    let launches = plan(function, &tensors, 1).map_err(|error| error.to_string())?;
    match &launches[0].params[0] {
        Value::TensorMap(FIRST, map) => Ok(map.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn columns_of_pixels_round_trip() {
    let package = build(images()).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    let json = manifest(&package);
    let map = &json["functions"][0]["launches"][0]["params"][0]["tensor_map"];
    assert_eq!(map["box_sizes"], serde_json::json!([64, 128]));
    assert_eq!(
        map["im2col"],
        serde_json::json!({"lower": [-1, -2], "upper": [-1, 0], "strides": [2, 1]})
    );
}

#[test]
fn columns_have_the_numbers_of_their_arguments() {
    let map = planned(&images()).unwrap();
    assert_eq!(map.sizes, [72, 9, 7, 3]);
    assert_eq!(map.strides, [144, 144 * 9, 144 * 9 * 7]);
    assert_eq!(map.box_sizes, [64, 128]);
    assert_eq!(map.element_strides, [1, 2, 1, 1]);
    let pixels = map.im2col.as_ref().unwrap();
    assert_eq!(
        (&pixels.lower[..], &pixels.upper[..]),
        (&[-1, -2][..], &[-1, 0][..])
    );
    assert_eq!(map.check(), Ok(()));
}

#[test]
fn columns_that_no_map_has_are_refused_before_anything_runs() {
    let refused = |change: fn(&mut MapParam), word: &str| {
        let error = planned(&with_columns(change)).unwrap_err();
        assert!(error.contains(word), "{error}");
    };
    refused(
        |map| pixels(map).upper[1] = -9,
        "along mode 2, of 7 elements, -2 and -9 leave none",
    );
    refused(
        |map| pixels(map).lower[0] = -129,
        "-128 to 127 along mode 1, not -129",
    );
    refused(|map| pixels(map).strides[0] = 9, "not 9");
    refused(
        |map| map.box_sizes[1] = BoxSize::Whole(1025),
        "1 to 1024 pixels, not 1025",
    );
    refused(
        |map| map.box_sizes[0] = BoxSize::Whole(128),
        "at most 128 bytes, not 256",
    );
}

#[test]
fn packages_with_parts_of_columns_are_refused() {
    let refused = |change: fn(&mut MapParam), word: &str| {
        let error = build(with_columns(change)).unwrap_err();
        assert!(
            error.contains("by im2col of 3 to 5 dimensions") && error.contains(word),
            "{error}"
        );
    };
    refused(
        |map| map.box_sizes.push(BoxSize::Whole(1)),
        "3 boxes, 4 sizes",
    );
    let error = build(with_columns(|map| {
        map.box_sizes[1] = BoxSize::Rest { rest_of: 128 };
    }));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("boxes are whole") && error.contains("the rest of 128"),
        "{error}"
    );
    refused(
        |map| pixels(map).lower.clear(),
        "corners of 0 and 2 dimensions",
    );
    refused(
        |map| pixels(map).upper.push(0),
        "corners of 2 and 3 dimensions",
    );
    refused(|map| pixels(map).strides.truncate(1), "1 strides of pixels");
    refused(
        |map| {
            map.sizes.truncate(2);
            map.strides.truncate(1);
            *pixels(map) = Im2colParam {
                lower: vec![],
                upper: vec![],
                strides: vec![],
            };
        },
        "2 boxes, 2 sizes, 1 strides",
    );
}

//! Boxes of TMA: against what the hardware does with a map, element by element.

use cute_layout::{Layout, Swizzle, tma::TmaBox};

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn swizzle(bits: i64) -> Option<Swizzle> {
    (bits > 0).then(|| Swizzle::new(bits, 4, 3).unwrap())
}

fn make(gmem: &str, smem: &str, bits: i64, width: i64) -> Result<TmaBox, String> {
    TmaBox::of(&layout(gmem), &layout(smem), swizzle(bits), width).map_err(|e| e.to_string())
}

/// Copies every box as the hardware does, and compares each element of the tile in shared memory with the one that its layout has there.
fn check(gmem: &str, smem: &str, bits: i64, width: i64) -> TmaBox {
    let map = make(gmem, smem, bits, width).unwrap();
    let (gmem, smem) = (layout(gmem), layout(smem));
    let coordinates = map.coordinates(&gmem).unwrap();
    // The tile at the tensor's start: coordinates of the tile's elements, and the extents of its leaves.
    let mut extents: Vec<i64> = Vec::new();
    let mut modes = Vec::new();
    for (mode, of) in coordinates.modes().iter().zip(smem.modes()) {
        let mut rest = of.size().unwrap();
        let (mut shape, mut stride) = (Vec::new(), Vec::new());
        let leaves = mode.shape().leaves().into_iter();
        for (extent, along) in leaves.zip(mode.stride().leaves()) {
            let here = extent.as_static().map_or(rest, |extent| extent.min(rest));
            rest /= here;
            extents.push(here);
            shape.push(here.to_string());
            stride.push(along.to_string());
        }
        assert_eq!(rest, 1, "{gmem} {smem}");
        modes.push((shape.join(","), stride.join(",")));
    }
    let (shapes, strides): (Vec<_>, Vec<_>) = modes
        .into_iter()
        .map(|(shape, stride)| (format!("({shape})"), format!("({stride})")))
        .unzip();
    let tile = layout(&format!("({}):({})", shapes.join(","), strides.join(",")));
    let boxes = map.boxes(&tile, &smem).unwrap();
    // The same ones, in an order of their own, where nothing is said of shared memory.
    let mut alone = map.boxes_of(&tile).unwrap();
    let mut sorted = boxes.clone();
    alone.sort();
    sorted.sort();
    assert_eq!(alone, sorted);
    // Shared memory as the hardware fills it: the tile's coordinates by place.
    let mut memory = Vec::new();
    for start in &boxes {
        for element in 0..map.size() {
            let mut rest = element;
            let mut leaves = vec![0; extents.len()];
            for (dim, start) in map.dims.iter().zip(start) {
                leaves[dim.mode] = start + rest % dim.extent;
                rest /= dim.extent;
            }
            memory.push(leaves);
        }
    }
    for index in 0..smem.size().unwrap() {
        let mut rest = index;
        let leaves: Vec<i64> = extents
            .iter()
            .map(|size| {
                let here = rest % size;
                rest /= size;
                here
            })
            .collect();
        let place = smem.flat().unwrap().at(index);
        assert_eq!(memory[place as usize], leaves, "{gmem} {smem} at {index}");
    }
    assert_eq!(
        TmaBox::from_basis(&map.basis().unwrap(), map.swizzle, None).unwrap(),
        map
    );
    map
}

#[test]
fn boxes_fill_the_layouts_that_they_are_made_of() {
    // f16, K-major, 128 bytes: CuTe DSL prints (64,128):(1@1,1@0) for it.
    let map = check("(?,?):(?{div=8},1)", "(128,64):(64,1)", 3, 16);
    assert_eq!(map.basis().unwrap().to_string(), "(64,128):(1@1,1@0)");
    assert_eq!(
        map.coordinates(&layout("(?,?):(?{div=8},1)"))
            .unwrap()
            .to_string(),
        "(?,?):(1@1,1@0)"
    );
    // Atoms of eight rows, one behind the other: the same.
    let map = check(
        "(?,?):(?{div=8},1)",
        "((8,16),(64,1)):((64,512),(1,0))",
        3,
        16,
    );
    assert_eq!(map.basis().unwrap().to_string(), "(64,128):(1@1,1@0)");
    // Column-major.
    let map = check("(?,?):(1,?{div=8})", "(64,32):(1,64)", 3, 16);
    assert_eq!(map.basis().unwrap().to_string(), "(64,32):(1@0,1@1)");
    // Wider than the swizzle: a box for each column of it.
    let map = check("(?,?):(?{div=8},1)", "(128,(64,2)):(64,(1,8192))", 3, 16);
    assert_eq!(map.basis().unwrap().to_string(), "(64,128):(1@1,1@0)");
    // More than 256 rows.
    let map = check("(?,?):(?{div=4},1)", "(320,32):(32,1)", 3, 32);
    assert_eq!(map.size() * 2, 320 * 32);
    // A batch, which a tile has one of; its order does not matter.
    let map = check("(?,?,?):(?{div=8},1,?{div=8})", "(64,64,1):(64,1,0)", 3, 16);
    assert_eq!(map.basis().unwrap().to_string(), "(64,64,1):(1@1,1@0,1@2)");
    // A mode that repeats the others is no dimension, and a coordinate along it moves nothing.
    let map = check("(?,?,?):(?{div=8},1,0)", "(64,64,1):(64,1,0)", 3, 16);
    assert_eq!(map.basis().unwrap().to_string(), "(64,64):(1@1,1@0)");
    // Modes of several extents: a dimension for each, of which a tile takes a part of the first, or all of it and some of the next.
    let map = check(
        "((128,?),?):((?{div=8},?{div=8}),1)",
        "(64,64):(64,1)",
        3,
        16,
    );
    assert_eq!(map.basis().unwrap().to_string(), "(64,64,1):(1@2,1@0,1@1)");
    let map = check("((16,?),64):((64,4096),1)", "(128,64):(64,1)", 3, 16);
    assert_eq!(map.basis().unwrap().to_string(), "(64,16,8):(1@2,1@0,1@1)");
    check(
        "(64,(16,2,?)):(1,(64,8192,?{div=8}))",
        "(64,64):(1,64)",
        3,
        16,
    );
    check("((8,8),(16,3)):((1,128),(8,4096))", "(32,48):(1,32)", 0, 16);
    check("(?,64,(2,3)):(64,1,(0,8192))", "(64,64,1):(64,1,0)", 3, 16);
    // No swizzle, three modes, bytes.
    check(
        "(?,?,?):(1,?{div=16},?{div=16})",
        "(32,4,6):(1,192,32)",
        0,
        8,
    );
    check("(64,64):(64,1)", "(8,8):(8,1)", 0, 16);
}

#[test]
fn what_tma_cannot_do_is_refused() {
    let refused = |gmem: &str, smem: &str, bits, width, word: &str| {
        let error = make(gmem, smem, bits, width).unwrap_err();
        assert!(error.contains(word), "{error}");
    };
    refused(
        "(?,?):(?{div=8},1)",
        "(64,64):(1,64)",
        3,
        16,
        "does not transpose",
    );
    refused("(?,?):(?,1)", "(64,64):(64,1)", 3, 16, "?{div=8}");
    refused(
        "(64,64):(65,1)",
        "(64,64):(64,1)",
        3,
        16,
        "multiples of 16 bytes",
    );
    refused(
        "(?,?):(?{div=8},2)",
        "(64,64):(64,1)",
        3,
        16,
        "innermost stride",
    );
    refused(
        "(?,?):(?{div=8},1)",
        "(64,64):(72,1)",
        0,
        16,
        "without gaps",
    );
    refused(
        "(?,?):(?{div=8},1)",
        "(64,4):(4,1)",
        0,
        16,
        "multiple of 16 bytes",
    );
    refused(
        "(?,?):(?{div=8},1)",
        "(64,64,1):(64,1,0)",
        0,
        16,
        "a mode for each",
    );
    refused(
        "((?,?),?):((?{div=8},?{div=8}),1)",
        "(64,64):(64,1)",
        0,
        16,
        "flatten",
    );
    refused(
        "((),?,?):((),?{div=8},1)",
        "(1,64,64):(0,64,1)",
        3,
        16,
        "an extent each",
    );
    refused(
        "((48,?),64):((64,8192),1)",
        "(64,64):(64,1)",
        3,
        16,
        "whole parts",
    );
    refused(
        "(?,?,?,?,?,?):(1,?{div=8},?{div=8},?{div=8},?{div=8},?{div=8})",
        "(64,1,1,1,1,1):(1,0,0,0,0,0)",
        0,
        16,
        "at most 5",
    );
    let error = TmaBox::of(
        &layout("(?,?):(?{div=8},1)"),
        &layout("(64,64):(64,1)"),
        Some(Swizzle::new(3, 3, 3).unwrap()),
        16,
    );
    assert!(error.unwrap_err().to_string().contains("S<3,4,3>"));
}

#[test]
fn tiles_that_are_no_boxes_are_refused() {
    let map = make("(?,?):(?{div=8},1)", "(128,64):(64,1)", 3, 16).unwrap();
    let boxes = |tile: &str, smem: &str| {
        map.boxes(&layout(tile), &layout(smem))
            .map_err(|e| e.to_string())
    };
    assert_eq!(
        boxes("(128,64):(1@1,1@0)", "(128,64):(64,1)"),
        Ok(vec![vec![0, 0]])
    );
    // Half of the box, another order, a dimension that the map has not, gaps.
    assert!(boxes("(64,64):(1@1,1@0)", "(64,64):(64,1)").is_err());
    assert!(map.boxes_of(&layout("(64,64):(1@1,1@0)")).is_err());
    assert!(map.boxes_of(&layout("(192,64):(1@1,1@0)")).is_err());
    assert_eq!(
        map.boxes_of(&layout("(256,64):(1@1,1@0)")).unwrap(),
        [[0, 0], [0, 128]]
    );
    assert!(boxes("(128,64):(1@1,1@0)", "(128,64):(1,128)").is_err());
    assert!(boxes("(128,64):(1@2,1@0)", "(128,64):(64,1)").is_err());
    assert!(boxes("(128,64):(1@1,1@0)", "(128,64):(72,1)").is_err());
    assert!(boxes("(?,64):(1@1,1@0)", "(128,64):(64,1)").is_err());
    // Two tiles at once.
    assert_eq!(
        boxes("(128,64,2):(1@1,1@0,64@0)", "(128,64,2):(64,1,8192)"),
        Ok(vec![vec![0, 0], vec![64, 0]])
    );
}

#[test]
fn texts_that_are_no_box_are_refused() {
    for text in [
        "64:1",
        "(64,300):(1@1,1@0)",
        "(64,64):(1@1,1@1)",
        "(64,64):(1@1,2@0)",
        "(64,?):(1@1,1@0)",
    ] {
        assert!(
            TmaBox::from_basis(&layout(text), 128, None).is_err(),
            "{text}"
        );
    }
    assert!(TmaBox::from_basis(&layout("(64,64):(1@1,1@0)"), 48, None).is_err());
}

#[test]
fn modes_beyond_five_share_the_last_dimension() {
    // Strides 4096, 32768, 65536, 262144, 1048576 of what a tile has one element of; the first two have a dimension each.
    let gmem = layout("(64,32,8,2,4,4,3):(1,64,4096,32768,65536,262144,1048576)");
    let smem = layout("(64,32,1,1,1,1,1):(1,64,0,0,0,0,0)");
    let map = TmaBox::of(&gmem, &smem, None, 16).unwrap();
    assert_eq!(
        map.basis().unwrap().to_string(),
        "(64,32,1,1,1):(1@0,1@1,1@2,1@3,1@4)"
    );
    let folded = map.folded(&gmem).unwrap().unwrap();
    assert_eq!(folded.stride, 65536);
    assert_eq!(folded.leaves, [(4, 1), (5, 4), (6, 16)]);
    assert_eq!(
        map.coordinates(&gmem).unwrap().to_string(),
        "(64,32,8,2,4,4,3):(1@0,1@1,1@2,1@3,1@4,4@4,16@4)"
    );
    // Every element is where its coordinates lead.
    let strides = [1, 64, 4096, 32768, folded.stride];
    let flat = gmem.flat().unwrap();
    let coordinates = map.coordinates(&gmem).unwrap();
    for index in (0..flat.size()).step_by(37) {
        let mut rest = index;
        let mut place = 0;
        for (extent, along) in coordinates
            .shape()
            .leaves()
            .iter()
            .zip(coordinates.stride().leaves())
        {
            let extent = extent.as_static().unwrap();
            let text = along.to_string();
            let (steps, dim) = text.split_once('@').unwrap();
            let dim: usize = dim.parse().unwrap();
            place += rest % extent * steps.parse::<i64>().unwrap() * strides[dim];
            rest /= extent;
        }
        assert_eq!(place, flat.at(index), "element {index}");
    }
}

#[test]
fn modes_that_cannot_share_a_dimension_have_one_of_their_own() {
    // One of a stride that only a launch knows is no part of the last dimension.
    let map = make(
        "(64,4,4,4,4,4):(1,64,256,1024,4096,?{div=8})",
        "(64,1,1,1,1,1):(1,0,0,0,0,0)",
        0,
        16,
    )
    .unwrap();
    assert_eq!(
        map.basis().unwrap().to_string(),
        "(64,1,1,1,1):(1@0,1@5,1@1,1@2,1@3)"
    );
    for (gmem, smem) in [
        // A tile through one of the modes, and two of unknown strides.
        (
            "(64,4,4,4,4,4):(1,?{div=8},?{div=8},?{div=8},?{div=8},?{div=8})",
            "(64,1,1,1,1,1):(1,0,0,0,0,0)",
        ),
        (
            "(64,4,4,4,4,4,2):(1,64,256,1024,4096,16384,65536)",
            "(64,2,2,2,2,2,1):(1,64,128,256,512,1024,0)",
        ),
    ] {
        let error = make(gmem, smem, 0, 16).unwrap_err();
        assert!(
            error.contains("at most 5 modes with more than one element, or more of which"),
            "{error}"
        );
    }
}

#[test]
fn boxes_fill_whole_rows_of_banks() {
    for (smem, swizzle) in [
        ("(128,64):(64,1)", 3),
        ("(128,32):(32,1)", 2),
        ("(128,16):(16,1)", 1),
        ("(128,64):(64,1)", 0),
        ("(16,8):(8,1)", 0),
    ] {
        let gmem = Layout::parse("(1024,1024):(1024,1)").unwrap();
        let smem = Layout::parse(smem).unwrap();
        let found = TmaBox::of(&gmem, &smem, Swizzle::new(swizzle, 4, 3).ok(), 16).unwrap();
        let fewest = (found.size() * 2 / 128) as u32;
        assert_eq!(found.wavefronts(16), (fewest, fewest), "{smem} {swizzle}");
        let mut places: Vec<i64> = (0..found.size()).map(|i| found.place(i, 16)).collect();
        places.sort_unstable();
        assert!(places.iter().zip(0..).all(|(place, i)| *place == 2 * i));
    }
    let gmem = Layout::parse("(1024,1024):(1024,1)").unwrap();
    let smem = Layout::parse("(128,64):(64,1)").unwrap();
    let found = TmaBox::of(&gmem, &smem, Swizzle::new(3, 4, 3).ok(), 16).unwrap();
    assert_eq!((found.row_bytes(16), found.place(64, 16)), (128, 144));
}

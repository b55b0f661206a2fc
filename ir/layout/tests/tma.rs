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
    // The tile at the tensor's start: coordinates of the tile's elements.
    let sizes: Vec<i64> = smem
        .modes()
        .iter()
        .map(|mode| mode.size().unwrap())
        .collect();
    let strides: Vec<String> = coordinates
        .modes()
        .iter()
        .map(|mode| mode.stride().to_string())
        .collect();
    let extents: Vec<String> = sizes.iter().map(i64::to_string).collect();
    let tile = layout(&format!("({}):({})", extents.join(","), strides.join(",")));
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
            let mut modes = vec![0; sizes.len()];
            for (dim, start) in map.dims.iter().zip(start) {
                modes[dim.mode] = start + rest % dim.extent;
                rest /= dim.extent;
            }
            memory.push(modes);
        }
    }
    for index in 0..smem.size().unwrap() {
        let mut rest = index;
        let modes: Vec<i64> = sizes
            .iter()
            .map(|size| {
                let here = rest % size;
                rest /= size;
                here
            })
            .collect();
        let place = smem.flat().unwrap().at(index);
        assert_eq!(memory[place as usize], modes, "{gmem} {smem} at {index}");
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

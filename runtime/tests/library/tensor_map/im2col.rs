//! Maps by im2col.

use cute_runtime::tensor_map::*;

/// Columns of 64 channels by 128 pixels of 8 images of 20 x 24 pixels of 96 channels, under a filter of 3 x 3 with padding by 1.
fn map() -> TensorMap {
    TensorMap {
        element: MapElement::F16,
        address: 0x7f00_0000_0100,
        sizes: vec![96, 24, 20, 8],
        strides: vec![192, 192 * 24, 192 * 24 * 20],
        box_sizes: vec![64, 128],
        element_strides: vec![1, 2, 2, 1],
        im2col: Some(PixelBox {
            lower: vec![-1, -1],
            upper: vec![-1, -1],
        }),
        interleave: Interleave::None,
        swizzle: MapSwizzle::B128,
        l2_promotion: L2Promotion::B128,
        oob_fill: OobFill::Zero,
    }
}

fn pixels(map: &mut TensorMap) -> &mut PixelBox {
    map.im2col.as_mut().unwrap()
}

/// The same with so many modes: one, two or three of pixels.
fn of_rank(rank: usize) -> TensorMap {
    TensorMap {
        sizes: [96, 24, 20, 6, 8][..rank].to_vec(),
        strides: vec![192; rank - 1],
        element_strides: vec![1; rank],
        im2col: Some(PixelBox {
            lower: vec![0; rank - 2],
            upper: vec![0; rank - 2],
        }),
        ..map()
    }
}

fn refused(change: impl FnOnce(&mut TensorMap)) -> String {
    let mut map = map();
    change(&mut map);
    let error = map.check().unwrap_err();
    assert_eq!(map.to_emulated(), Err(error.clone()));
    error.to_string()
}

fn accepted(map: TensorMap) {
    assert_eq!(map.check(), Ok(()));
    let bytes = map.to_emulated().unwrap();
    assert_eq!(TensorMap::from_emulated(&bytes), Ok(map));
}

#[test]
fn they_are_read_back() {
    accepted(map());
    for rank in 3..=5 {
        accepted(of_rank(rank));
        let (least, most) = [(-32768, 32767), (-128, 127), (-16, 15)][rank - 3];
        let mut wide = of_rank(rank);
        wide.sizes = vec![1 << 32; rank];
        wide.box_sizes = vec![64, 1024];
        wide.element_strides[1] = 8;
        *pixels(&mut wide) = PixelBox {
            lower: vec![least; rank - 2],
            upper: vec![most; rank - 2],
        };
        accepted(wide);
    }
}

#[test]
fn a_column_counts_all_its_pixels() {
    assert_eq!(map().copied(), [64, 128]);
    assert_eq!(map().box_bytes(), 64 * 128 * 2);
}

#[test]
fn tensors_are_batches_of_images() {
    for rank in [1, 2] {
        let text = refused(|map| {
            map.sizes.truncate(rank);
            map.strides.truncate(rank - 1);
        });
        assert!(text.contains(&format!("not {rank}; give")), "{text}");
    }
    let text = refused(|map| map.sizes = vec![8; 6]);
    assert!(text.contains("1 to 5 modes, not 6"), "{text}");
}

#[test]
fn lists_have_an_entry_for_each_mode() {
    let text = refused(|map| map.box_sizes.push(1));
    assert!(
        text.contains(
            "2 extents of a column, not 3; give one for each mode: channels, then pixels"
        ),
        "{text}"
    );
    let text = refused(|map| pixels(map).lower.push(0));
    assert!(
        text.contains("2 extents of the lower corner, not 3; give one for each mode of pixels"),
        "{text}"
    );
    let text = refused(|map| pixels(map).upper.clear());
    assert!(
        text.contains("2 extents of the upper corner, not 0"),
        "{text}"
    );
    let text = refused(|map| map.element_strides.truncate(2));
    assert!(text.contains("4 element strides, not 2"), "{text}");
}

#[test]
fn corners_are_limited() {
    for (rank, least, most) in [(3, -32768, 32767), (4, -128, 127), (5, -16, 15)] {
        let range = format!("of {rank} modes by im2col is {least} to {most} along mode 1");
        let mut below = of_rank(rank);
        pixels(&mut below).lower[0] = least - 1;
        let text = below.check().unwrap_err().to_string();
        assert!(
            text.contains(&format!("lower corner of a tensor map {range}")),
            "{text}"
        );
        let mut above = of_rank(rank);
        pixels(&mut above).upper[0] = most + 1;
        let text = above.check().unwrap_err().to_string();
        assert!(
            text.contains(&format!("upper corner of a tensor map {range}")),
            "{text}"
        );
    }
    let text = refused(|map| pixels(map).upper[1] = -21);
    assert!(
        text.contains("along mode 2, of 20 elements, -1 and -21 leave none"),
        "{text}"
    );
}

#[test]
fn columns_are_limited() {
    for found in [0, 257] {
        let text = refused(|map| map.box_sizes[0] = found);
        assert!(
            text.contains(&format!("1 to 256 channels, not {found}")),
            "{text}"
        );
    }
    for found in [0, 1025] {
        let text = refused(|map| map.box_sizes[1] = found);
        assert!(
            text.contains(&format!("1 to 1024 pixels, not {found}")),
            "{text}"
        );
    }
    let text = refused(|map| map.box_sizes[0] = 72);
    assert!(text.contains("at most 128 bytes, not 144"), "{text}");
    let text = refused(|map| map.box_sizes[0] = 36);
    assert!(text.contains("36 elements of 2 bytes are 72"), "{text}");
}

#[test]
fn pixels_are_stepped_through_and_images_are_not() {
    let text = refused(|map| map.element_strides[2] = 9);
    assert!(text.contains("mode 2") && text.contains("not 9"), "{text}");
    let text = refused(|map| map.element_strides[1] = 0);
    assert!(text.contains("mode 1") && text.contains("not 0"), "{text}");
    let text = refused(|map| map.element_strides[3] = 2);
    assert!(
        text.contains("the element stride of mode 3 is 1, not 2"),
        "{text}"
    );
}

#[test]
fn changed_bytes_are_recognised() {
    super::changes_are_recognised(&map());
}

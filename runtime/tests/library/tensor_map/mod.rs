mod im2col;

use cute_runtime::tensor_map::*;

/// A box of 64x128 of a tensor of 4096x1000 `f16`.
fn map() -> TensorMap {
    TensorMap {
        element: MapElement::F16,
        address: 0x7f00_0000_0100,
        sizes: vec![1000, 4096],
        strides: vec![2000],
        box_sizes: vec![64, 128],
        element_strides: vec![1, 1],
        im2col: None,
        interleave: Interleave::None,
        swizzle: MapSwizzle::B128,
        l2_promotion: L2Promotion::B128,
        oob_fill: OobFill::Zero,
    }
}

/// The text of the rule that a changed map breaks.
fn refused(change: impl FnOnce(&mut TensorMap)) -> String {
    let mut map = map();
    change(&mut map);
    let error = map.check().unwrap_err();
    assert_eq!(map.to_emulated(), Err(error.clone()));
    error.to_string()
}

fn accepted(change: impl FnOnce(&mut TensorMap)) {
    let mut map = map();
    change(&mut map);
    assert_eq!(map.check(), Ok(()));
    let bytes = map.to_emulated().unwrap();
    assert_eq!(TensorMap::from_emulated(&bytes), Ok(map));
}

#[test]
fn numbers_are_the_drivers() {
    let numbers: Vec<u32> = MapElement::ALL.iter().map(|e| e.driver()).collect();
    assert_eq!(numbers, (0..13).collect::<Vec<_>>());
    assert_eq!(MapElement::Bf16.driver(), 9);
    assert_eq!(MapElement::Tf32.driver(), 11);
    assert_eq!(MapSwizzle::B128.driver(), 3);
    assert_eq!(L2Promotion::B256.driver(), 3);
    assert_eq!(OobFill::Nan.driver(), 1);
    assert_eq!(Interleave::B32.driver(), 2);
}

#[test]
fn a_box_counts_the_elements_that_are_copied() {
    assert_eq!(map().box_bytes(), 64 * 128 * 2);
    let strided = TensorMap {
        element_strides: vec![8, 3],
        ..map()
    };
    assert_eq!(strided.copied(), [64, 43]);
    assert_eq!(strided.box_bytes(), 64 * 43 * 2);
}

#[test]
fn swizzles_exchange_chunks_of_the_absolute_address() {
    assert_eq!(
        MapSwizzle::B128.apply(0x400 + 3 * 128),
        0x400 + 3 * 128 + 3 * 16
    );
    assert_eq!(MapSwizzle::B128.apply(0x7f5), 0x785);
    assert_eq!(MapSwizzle::B64.apply(0x380), 0x3b0);
    assert_eq!(MapSwizzle::B32.apply(0x380), 0x390);
    assert_eq!(MapSwizzle::None.apply(0x380), 0x380);
    assert_eq!(
        MapSwizzle::ALL.map(MapSwizzle::span),
        [None, Some(32), Some(64), Some(128)]
    );
}

#[test]
fn every_rank_is_read_back() {
    accepted(|_| ());
    accepted(|map| {
        map.sizes = vec![1 << 32];
        map.strides.clear();
        map.box_sizes = vec![8];
        map.element_strides = vec![1];
        map.oob_fill = OobFill::Nan;
    });
    accepted(|map| {
        map.element = MapElement::U8;
        map.sizes = vec![1, 2, 3, 4, 5];
        map.strides = vec![16, 32, 0, (1 << 40) - 16];
        map.box_sizes = vec![32, 256, 1, 2, 3];
        map.element_strides = vec![1, 2, 3, 4, 8];
        map.swizzle = MapSwizzle::B32;
    });
}

#[test]
fn ranks_are_one_to_five() {
    let text = refused(|map| map.sizes.clear());
    assert!(text.contains("1 to 5 modes, not 0"), "{text}");
    let text = refused(|map| map.sizes = vec![8; 6]);
    assert!(text.contains("not 6; merge modes"), "{text}");
}

#[test]
fn lists_have_an_entry_for_each_mode() {
    let text = refused(|map| map.strides.push(16));
    assert!(text.contains("has 1 strides, not 2"), "{text}");
    let text = refused(|map| map.box_sizes.truncate(1));
    assert!(text.contains("has 2 extents of the box, not 1"), "{text}");
    let text = refused(|map| map.element_strides.clear());
    assert!(text.contains("has 2 element strides, not 0"), "{text}");
}

#[test]
fn addresses_are_aligned() {
    let text = refused(|map| map.address += 8);
    assert!(text.contains("0x7f0000000108 (8 bytes too many)"), "{text}");
}

#[test]
fn sizes_are_limited() {
    let text = refused(|map| map.sizes[1] = 0);
    assert!(text.contains("mode 1") && text.contains("not 0"), "{text}");
    let text = refused(|map| map.sizes[0] = (1 << 32) + 1);
    assert!(text.contains("not 4294967297"), "{text}");
}

#[test]
fn strides_are_multiples_below_the_limit() {
    let text = refused(|map| map.strides[0] = 8190);
    assert!(
        text.contains("not 8190; pad rows to a multiple of 8 elements"),
        "{text}"
    );
    let text = refused(|map| map.strides[0] = 1 << 40);
    assert!(text.contains("below 2^40 bytes"), "{text}");
}

#[test]
fn boxes_are_limited() {
    let text = refused(|map| map.box_sizes[1] = 257);
    assert!(text.contains("along mode 1, not 257"), "{text}");
    let text = refused(|map| map.box_sizes[0] = 0);
    assert!(text.contains("along mode 0, not 0"), "{text}");
    let text = refused(|map| map.box_sizes[0] = 36);
    assert!(
        text.contains("36 elements of 2 bytes are 72; take a multiple of 8"),
        "{text}"
    );
    let text = refused(|map| map.box_sizes[0] = 72);
    assert!(text.contains("at most 128 bytes, not 144"), "{text}");
    accepted(|map| {
        map.box_sizes[0] = 256;
        map.swizzle = MapSwizzle::None;
    });
}

#[test]
fn element_strides_are_limited() {
    let text = refused(|map| map.element_strides[1] = 9);
    assert!(text.contains("mode 1") && text.contains("not 9"), "{text}");
    let text = refused(|map| map.element_strides[0] = 0);
    assert!(text.contains("mode 0") && text.contains("not 0"), "{text}");
}

#[test]
fn nothing_is_interleaved() {
    let text = refused(|map| map.interleave = Interleave::B16);
    assert!(text.contains("by 16 bytes"), "{text}");
    let text = refused(|map| map.interleave = Interleave::B32);
    assert!(text.contains("by 32 bytes"), "{text}");
}

#[test]
fn only_floats_are_filled_with_nan() {
    let text = refused(|map| {
        map.element = MapElement::U16;
        map.oob_fill = OobFill::Nan;
    });
    assert!(text.contains("not uint16; fill with zero"), "{text}");
}

/// Asserts that each byte behind a map's magic number is checked.
pub fn changes_are_recognised(map: &TensorMap) {
    let bytes = map.to_emulated().unwrap();
    for at in 8..128 {
        let mut changed = bytes;
        changed[at] ^= 1;
        assert_eq!(
            TensorMap::from_emulated(&changed),
            Err(EmulatedMapError::Changed),
            "byte {at}"
        );
    }
}

#[test]
fn bytes_that_are_no_map_are_recognised() {
    assert_eq!(
        TensorMap::from_emulated(&[0; 128]),
        Err(EmulatedMapError::NoMap)
    );
    changes_are_recognised(&map());
}

#[test]
fn a_map_that_breaks_a_rule_is_refused_when_it_is_read() {
    let mut bytes = map().to_emulated().unwrap();
    // The address, behind the magic number and five small fields.
    bytes[13] |= 8;
    let sum = crc32fast::hash(&bytes[..124]);
    bytes[124..].copy_from_slice(&sum.to_le_bytes());
    let error = TensorMap::from_emulated(&bytes).unwrap_err();
    assert!(matches!(
        error,
        EmulatedMapError::Rule(TensorMapError::Address { .. })
    ));
}

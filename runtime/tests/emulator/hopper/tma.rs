//! Boxes of tensors: 24 x 20 elements of two bytes, element (x, y) being x + 100 y; rows of 48 bytes.

use super::*;
use cute_runtime::tensor_map::{
    Interleave, L2Promotion, MapElement, MapSwizzle, OobFill, TensorMap,
};

const WIDTH: i64 = 24;
const HEIGHT: i64 = 20;

fn element(x: i64, y: i64) -> u16 {
    match (0..WIDTH).contains(&x) && (0..HEIGHT).contains(&y) {
        true => (x + 100 * y) as u16,
        false => 0,
    }
}

pub(super) fn tensor() -> Vec<u8> {
    let all = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| element(x, y)));
    all.flat_map(u16::to_le_bytes).collect()
}

pub(super) fn map(box_sizes: [u32; 2], swizzle: MapSwizzle) -> TensorMap {
    TensorMap {
        element: MapElement::U16,
        address: 0,
        sizes: vec![WIDTH as u64, HEIGHT as u64],
        strides: vec![48],
        box_sizes: box_sizes.to_vec(),
        element_strides: vec![1, 1],
        im2col: None,
        interleave: Interleave::None,
        swizzle,
        l2_promotion: L2Promotion::None,
        oob_fill: OobFill::Zero,
    }
}

/// Thread 0 loads a box to byte 1024 of shared memory; 32 threads store what is there to the second tensor.
pub(super) const LOAD: &str = "setp.ne.u32 %p0, %r0, 0; add.s64 %s1, %s0, 1024; @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster; prefetch.tensormap [%s80];
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], BYTES;
    cp.async.bulk.tensor.RANKd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s1], [%s80, {AT}], [%s0];
    READY: bar.sync 0;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT;
    mul.lo.u32 %r1, %r0, 4;
    LOOP: setp.ge.u32 %p2, %r1, BYTES; @%p2 bra END; cvt.u64.u32 %s2, %r1; add.s64 %s3, %s1, %s2; ld.shared.u32 %r2, [%s3];
    add.s64 %s4, %s91, %s2; st.global.u32 [%s4], %r2; add.u32 %r1, %r1, 128; bra LOOP;
    END: ret;";

fn load(map: TensorMap, at: &[i64]) -> Hopper {
    let bytes = map.box_bytes();
    let coordinates: Vec<String> = at.iter().map(i64::to_string).collect();
    let body = LOAD
        .replace("BYTES", &bytes.to_string())
        .replace("RANK", &at.len().to_string())
        .replace("AT", &coordinates.join(", "));
    hopper(&body).map(map).output(bytes as usize)
}

pub(super) fn halves(bytes: &[u8]) -> Vec<u16> {
    let half = |part: &[u8]| u16::from_le_bytes([part[0], part[1]]);
    bytes.chunks_exact(2).map(half).collect()
}

/// Loads a box and compares each element with where the swizzle puts it.
fn compare(box_sizes: [u32; 2], swizzle: MapSwizzle, at: [i64; 2]) {
    let mut run = load(map(box_sizes, swizzle), &at);
    run.tensors.insert(0, (tensor(), Way::In));
    let found = halves(&run.clean(1));
    for y in 0..i64::from(box_sizes[1]) {
        for x in 0..i64::from(box_sizes[0]) {
            let byte = ((y * i64::from(box_sizes[0]) + x) * 2) as usize;
            // CuTe's Sw<bits,4,3>.
            let bits = swizzle as usize;
            let place = byte ^ ((byte >> 7) & ((1 << bits) - 1)) << 4;
            assert_eq!(
                found[place / 2],
                element(at[0] + x, at[1] + y),
                "({x},{y}) of {box_sizes:?} at {at:?}"
            );
        }
    }
}

#[test]
fn boxes_arrive_in_their_pattern() {
    compare([16, 8], MapSwizzle::None, [0, 0]);
    compare([16, 16], MapSwizzle::B32, [8, 4]);
    compare([16, 16], MapSwizzle::B64, [0, 0]);
    compare([24, 20], MapSwizzle::B64, [0, 0]);
    compare([64, 16], MapSwizzle::B128, [0, 2]);
    compare([8, 3], MapSwizzle::B128, [8, 1]);
}

#[test]
fn what_is_outside_arrives_as_zero() {
    compare([16, 8], MapSwizzle::None, [-8, -2]);
    compare([16, 8], MapSwizzle::B32, [16, 15]);
    compare([64, 16], MapSwizzle::B128, [-8, -7]);
    compare([16, 8], MapSwizzle::None, [104, 0]);
    compare([16, 8], MapSwizzle::None, [0, -100]);
}

#[test]
fn what_is_outside_may_arrive_as_nan() {
    let map = TensorMap {
        element: MapElement::F16,
        oob_fill: OobFill::Nan,
        ..map([16, 1], MapSwizzle::None)
    };
    let mut run = load(map, &[16, 0]);
    run.tensors.insert(0, (tensor(), Way::In));
    let found = halves(&run.clean(1));
    assert_eq!(found[..8], [16, 17, 18, 19, 20, 21, 22, 23]);
    assert!(
        found[8..]
            .iter()
            .all(|&bits| half::f16::from_bits(bits).is_nan())
    );
}

/// As an H200 has it, of elements of 1 to 8 bytes, loads, stores, reductions, prefetches and columns of pixels.
#[test]
fn boxes_begin_at_multiples_of_16_bytes() {
    for x in [-4, 1, 4, 12, 20] {
        let mut run = load(map([16, 8], MapSwizzle::None), &[x, 0]);
        run.tensors.insert(0, (tensor(), Way::In));
        run.finds(
            Kind::Undefined,
            "a multiple of 16 bytes, which are 8 elements",
        );
        if x < 0 {
            continue;
        }
        let run = store(
            "cp.async.bulk.tensor.2d.global.shared::cta",
            &format!("{x}, 0"),
            MapSwizzle::None,
        );
        run.finds(
            Kind::Undefined,
            "a multiple of 16 bytes, which are 8 elements",
        );
    }
    let words = TensorMap {
        element: MapElement::U32,
        sizes: vec![12, 20],
        ..map([8, 8], MapSwizzle::None)
    };
    for (x, is_right) in [(4, true), (2, false)] {
        let mut run = load(words.clone(), &[x, 0]);
        run.tensors.insert(0, (tensor(), Way::In));
        assert_eq!(run.kinds().is_empty(), is_right);
    }
}

#[test]
fn elements_may_be_skipped() {
    let map = TensorMap {
        element_strides: vec![1, 3],
        ..map([8, 7], MapSwizzle::None)
    };
    let mut run = load(map, &[0, 1]);
    run.tensors.insert(0, (tensor(), Way::In));
    let found = halves(&run.clean(1));
    let expected: Vec<u16> = [1, 4, 7]
        .iter()
        .flat_map(|&y| (0..8).map(move |x| element(x, y)))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn tensors_have_one_to_five_modes() {
    for rank in 1..=5usize {
        let tensor = bytes_of((0..4 * 32).map(|i| i * 3));
        let map = TensorMap {
            element: MapElement::U32,
            sizes: [8, 2, 2, 2, 2][..rank].to_vec(),
            strides: [32, 64, 128, 256][..rank - 1].to_vec(),
            box_sizes: [4, 2, 1, 2, 1][..rank].to_vec(),
            element_strides: vec![1; rank],
            ..map([1, 1], MapSwizzle::None)
        };
        let at = &[4, 0, 1, 0, 1][..rank];
        let mut run = load(map.clone(), at);
        run.tensors.insert(0, (tensor, Way::In));
        let found = words(&run.clean(1));
        let mut expected = Vec::new();
        for index in 0..map.copied().iter().product::<u32>() {
            let (mut rest, mut place) = (index, 0);
            for (mode, &first) in at.iter().enumerate() {
                let here = rest % map.box_sizes[mode] + first as u32;
                rest /= map.box_sizes[mode];
                place += here
                    * if mode == 0 {
                        1
                    } else {
                        map.strides[mode - 1] as u32 / 4
                    };
            }
            expected.push(place * 3);
        }
        assert_eq!(found, expected, "rank {rank}");
    }
}

#[test]
fn numbers_are_rounded_on_their_way() {
    let input = [
        1.0f32 + 1.0 / 4096.0,
        1.0 + 3.0 / 2048.0,
        f32::from_bits(5),
        -2.5,
    ];
    let run = |element| {
        let map = TensorMap {
            element,
            sizes: vec![4],
            strides: vec![],
            box_sizes: vec![4],
            element_strides: vec![1],
            ..map([1, 1], MapSwizzle::None)
        };
        let mut run = load(map, &[0]);
        run.tensors
            .insert(0, (bytes_of(input.map(f32::to_bits)), Way::In));
        words(&run.clean(1))
            .into_iter()
            .map(f32::from_bits)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(MapElement::F32), input);
    assert_eq!(run(MapElement::F32Ftz), [input[0], input[1], 0.0, -2.5]);
    assert_eq!(
        run(MapElement::Tf32Ftz),
        [1.0, 1.0 + 1.0 / 512.0, 0.0, -2.5]
    );
    assert_eq!(run(MapElement::Tf32)[..2], [1.0, 1.0 + 1.0 / 512.0]);
}

/// 32 threads write 512 bytes to shared memory, and the first stores them as a box of 16 x 16.
pub(super) const STORE: &str = "setp.ne.u32 %p0, %r0, 0; add.s64 %s1, %s0, 1024; mov.u32 %r1, %r0;
    LOOP: setp.ge.u32 %p1, %r1, 128; @%p1 bra DONE; mul.wide.u32 %s2, %r1, 4; add.s64 %s2, %s1, %s2; mad.lo.u32 %r2, %r1, 0x20002, 0x10000;
    st.shared.u32 [%s2], %r2; add.u32 %r1, %r1, 32; bra LOOP;
    DONE: fence.proxy.async; bar.sync 0; @%p0 bra END;
    INSTRUCTION.tile.bulk_group [%s80, {AT}], [%s1];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; END: ret;";

fn store(instruction: &str, at: &str, swizzle: MapSwizzle) -> Hopper {
    let body = STORE.replace("INSTRUCTION", instruction).replace("AT", at);
    hopper(&body).in_out(tensor()).map(map([16, 16], swizzle))
}

#[test]
fn stores_end_where_the_tensor_does() {
    for swizzle in [MapSwizzle::None, MapSwizzle::B32] {
        let run = store(
            "cp.async.bulk.tensor.2d.global.shared::cta",
            "16, 7",
            swizzle,
        );
        let found = halves(&run.clean(0));
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let inside = (16..24).contains(&x) && (7..20).contains(&y);
                let byte = ((y - 7) * 32 + (x - 16) * 2) as usize;
                let place = byte ^ ((byte >> 7) & swizzle as usize) << 4;
                let expected = if inside {
                    place as u16 / 2
                } else {
                    element(x, y)
                };
                assert_eq!(found[(y * WIDTH + x) as usize], expected, "({x},{y})");
            }
        }
    }
    let run = store(
        "cp.async.bulk.tensor.2d.global.shared::cta",
        "-8, 0",
        MapSwizzle::None,
    );
    run.finds(Kind::Undefined, "a coordinate of 0 or more along mode 0");
}

/// As an H100 does it, for every type and swizzle: loads end with the tensor, stores and reductions with its 16 bytes.
#[test]
fn stores_end_with_whole_16_bytes() {
    for (width, end) in [(21, 24), (17, 24), (16, 16)] {
        let mut run = store(
            "cp.async.bulk.tensor.2d.global.shared::cta",
            "8, 0",
            MapSwizzle::None,
        );
        run.maps[0].sizes[0] = width;
        let found = halves(&run.clean(0));
        for x in 0..WIDTH {
            let expected = match (8..end).contains(&x) {
                true => (x - 8) as u16,
                false => element(x, 0),
            };
            assert_eq!(
                found[x as usize], expected,
                "{x} of lines of {width} elements"
            );
        }
    }
}

#[test]
fn reductions_are_of_the_maps_type() {
    let run = |op: &str, element| {
        let name = format!("cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}");
        let mut run = store(&name, "0, 0", MapSwizzle::None);
        run.maps[0].element = element;
        run.maps[0].sizes[0] = WIDTH as u64 / 2;
        run.maps[0].box_sizes = vec![8, 16];
        run
    };
    let found = words(&run("add", MapElement::U32).clean(0));
    // Element (1,0) beside (0,0), and what is stored first.
    assert_eq!(found[0], 0x1_0000 + 0x1_0000);
    let second =
        (u32::from(element(3, 0)) << 16 | u32::from(element(2, 0))).wrapping_add(0x20002 + 0x10000);
    assert_eq!(found[1], second);
    run("add", MapElement::U16).finds(Kind::Undefined, "expected a reduction");
}

#[test]
fn what_is_no_map_is_found() {
    let mut run = load(map([16, 8], MapSwizzle::None), &[0, 0]);
    run.tensors.insert(0, (tensor(), Way::In));
    run.body = run.body.replace("prefetch.tensormap [%s80];", "");
    let with = |from: &str, to: &str| {
        let mut changed = hopper(&run.body.replace(from, to));
        (changed.tensors, changed.maps) = (run.tensors.clone(), run.maps.clone());
        changed
    };
    with("[%s80, {0, 0}]", "[%s80+64, {0, 0}]").finds(Kind::Undefined, "");
    with("[%s80, {0, 0}]", "[%s90, {0, 0}]").finds(Kind::Undefined, "no tensor map");
    with("[%s80, {0, 0}]", "[%s80+8, {0, 0}]").finds(Kind::Undefined, "at a multiple of 64 bytes");
    with("2d", "1d").finds_when_rank_is("{0, 0}", "{0}");
    with("add.s64 %s1, %s0, 1024", "add.s64 %s1, %s0, 1040")
        .finds(Kind::Misaligned, "multiple of 128");
}

impl Hopper {
    fn finds_when_rank_is(self, from: &str, to: &str) {
        let mut changed = hopper(&self.body.replace(from, to));
        (changed.tensors, changed.maps) = (self.tensors, self.maps);
        changed.finds(
            Kind::Undefined,
            "as many coordinates as the tensor map has modes, 2, found 1",
        );
    }
}

#[test]
fn boxes_fit_into_shared_memory() {
    let huge = TensorMap {
        sizes: vec![1 << 20; 5],
        strides: vec![1 << 21; 4],
        box_sizes: vec![256; 5],
        element_strides: vec![1; 5],
        ..map([8, 8], MapSwizzle::None)
    };
    let mut run = load(map([16, 8], MapSwizzle::None), &[0, 0, 0, 0, 0]);
    run.maps = vec![huge];
    run.tensors = vec![(tensor(), Way::In), (vec![0; 256], Way::Out)];
    run.finds(Kind::OutOfBounds, "outside of shared memory");
}

#[test]
fn bytes_outside_of_the_tensor_count() {
    let mut run = load(map([16, 8], MapSwizzle::None), &[16, 16]);
    run.tensors.insert(0, (tensor(), Way::In));
    run.body = run.body.replace("[%s0], 256", "[%s0], 64");
    run.finds(Kind::Deadlock, "-192 bytes");
}

#[test]
fn a_stage_is_not_filled_again_while_it_is_read() {
    // The box is loaded again after the threads have read it: with a barrier, but without a proxy fence.
    let again = |between: &str| {
        let body = LOAD.replace("BYTES", "256").replace("RANK", "2").replace("AT", "0, 0").replace(
            "END: ret;",
            &format!(
                "END: {between} @%p0 bra LAST; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 256;
                cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s1], [%s80, {{0, 8}}], [%s0];
                LAST: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 1; @!%p1 bra LAST; ret;"
            ),
        );
        hopper(&body)
            .input(tensor())
            .output(256)
            .map(map([16, 8], MapSwizzle::None))
    };
    assert_eq!(again("fence.proxy.async; bar.sync 0;").kinds(), []);
    again("bar.sync 0;").finds(Kind::MissingFence, "fence.proxy.async");
    assert!(again("").kinds().contains(&Kind::SharedRace));
}

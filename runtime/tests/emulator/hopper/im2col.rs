//! Columns of pixels of a batch of images: element (c, w, h, d, n) has a number of its own.

use super::cluster::{MEET, MULTICAST};
use super::tma::{LOAD, STORE, halves};
use super::*;
use cute_runtime::tensor_map::{
    Interleave, L2Promotion, MapElement, MapSwizzle, OobFill, PixelBox, TensorMap,
};

/// Images under a filter: extents of the tensor (channels, those of pixels, images), padding before and behind, and how far apart pixels are.
#[derive(Clone)]
struct Images {
    sizes: Vec<u64>,
    padding: [i32; 2],
    filter: i32,
    dilation: i32,
    strides: Vec<u32>,
}

impl Images {
    fn spatial(&self) -> usize {
        self.sizes.len() - 2
    }

    fn map(&self, channels: u32, pixels: u32, swizzle: MapSwizzle) -> TensorMap {
        let mut strides = vec![self.sizes[0] * 2];
        for size in &self.sizes[1..self.sizes.len() - 1] {
            strides.push(strides[strides.len() - 1] * size);
        }
        let mut element_strides = vec![1];
        element_strides.extend(&self.strides);
        element_strides.push(1);
        let [before, behind] = self.padding;
        TensorMap {
            element: MapElement::U16,
            address: 0,
            sizes: self.sizes.clone(),
            strides,
            box_sizes: vec![channels, pixels],
            element_strides,
            im2col: Some(PixelBox {
                lower: vec![-before; self.spatial()],
                upper: vec![behind - (self.filter - 1) * self.dilation; self.spatial()],
            }),
            interleave: Interleave::None,
            swizzle,
            l2_promotion: L2Promotion::None,
            oob_fill: OobFill::Zero,
        }
    }

    /// Results of a convolution along a mode of pixels.
    fn results(&self, mode: usize) -> i64 {
        let padded = self.sizes[mode + 1] as i64 + i64::from(self.padding[0] + self.padding[1]);
        let reached = i64::from((self.filter - 1) * self.dilation);
        (padded - reached - 1) / i64::from(self.strides[mode]) + 1
    }

    /// The element of the tensor at these coordinates, 0 outside.
    fn element(&self, at: &[i64]) -> u16 {
        let mut number = 0;
        for (&size, &at) in self.sizes.iter().zip(at).rev() {
            if !(0..size as i64).contains(&at) {
                return 0;
            }
            number = number * size as i64 + at;
        }
        number as u16 + 1
    }

    fn tensor(&self) -> Vec<u8> {
        let count: u64 = self.sizes.iter().product();
        let all = (0..count).map(|i| i as u16 + 1);
        all.flat_map(u16::to_le_bytes).collect()
    }

    /// Coordinates of the pixel at which the filter stands for the m-th result.
    fn pixel(&self, m: i64) -> Vec<i64> {
        let mut rest = m;
        let mut at = Vec::new();
        for mode in 0..self.spatial() {
            let results = self.results(mode);
            at.push(rest % results * i64::from(self.strides[mode]) - i64::from(self.padding[0]));
            rest /= results;
        }
        at.push(rest);
        at
    }

    /// Loads a column that begins at the m-th result and channel c, under that element of the filter, and compares it with what a convolution multiplies there.
    fn compare(&self, shape: [u32; 2], swizzle: MapSwizzle, (c, m): (i64, i64), tap: &[i64]) {
        let [channels, pixels] = shape;
        let map = self.map(channels, pixels, swizzle);
        let offsets: Vec<_> = (tap.iter().map(|t| t * i64::from(self.dilation))).collect();
        let mut at = vec![c];
        at.extend(self.pixel(m));
        let mut run = load(map, &at, &offsets);
        run.tensors.insert(0, (self.tensor(), Way::In));
        let found = halves(&run.clean(1));
        for pixel in 0..i64::from(pixels) {
            for channel in 0..i64::from(channels) {
                let byte = ((pixel * i64::from(channels) + channel) * 2) as usize;
                let place = byte ^ ((byte >> 7) & ((1 << swizzle as usize) - 1)) << 4;
                let mut at = vec![c + channel];
                at.extend(self.pixel(m + pixel));
                for (at, offset) in at[1..].iter_mut().zip(&offsets) {
                    *at += offset;
                }
                assert_eq!(
                    found[place / 2],
                    self.element(&at),
                    "channel {channel} of pixel {pixel} from {m} on, {tap:?}"
                );
            }
        }
    }
}

fn joined(numbers: &[i64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
    numbers.join(", ")
}

fn load(map: TensorMap, at: &[i64], offsets: &[i64]) -> Hopper {
    let bytes = map.box_bytes();
    let body = LOAD
        .replace("BYTES", &bytes.to_string())
        .replace(".tile.", ".im2col.")
        .replace("RANK", &at.len().to_string())
        .replace(
            "{AT}], [%s0]",
            &format!("{{{}}}], [%s0], {{{}}}", joined(at), joined(offsets)),
        );
    hopper(&body).map(map).output(bytes as usize)
}

/// Three images of 5 x 7 pixels of 16 channels, under a filter of 3 x 3 with padding by 1.
fn images() -> Images {
    Images {
        sizes: vec![16, 7, 5, 3],
        padding: [1, 1],
        filter: 3,
        dilation: 1,
        strides: vec![1, 1],
    }
}

#[test]
fn columns_wrap_over_rows_and_images() {
    let images = images();
    for tap in [[0, 0], [1, 1], [2, 0], [2, 2]] {
        for m in [0, 5, 30, 70] {
            images.compare([16, 32], MapSwizzle::None, (0, m), &tap);
        }
    }
    // More pixels than there are images left, and a start behind all of them.
    images.compare([16, 64], MapSwizzle::None, (0, 96), &[1, 0]);
    images.compare([16, 8], MapSwizzle::None, (0, 110), &[1, 1]);
}

#[test]
fn columns_arrive_in_their_pattern() {
    let images = images();
    images.compare([16, 40], MapSwizzle::B32, (0, 33), &[1, 2]);
    images.compare([8, 40], MapSwizzle::B128, (8, 3), &[0, 1]);
    let wide = Images {
        sizes: vec![72, 4, 3, 2],
        ..images
    };
    // Channels 64 to 71 are there, those behind are not.
    wide.compare([64, 16], MapSwizzle::B128, (0, 5), &[1, 1]);
    wide.compare([64, 16], MapSwizzle::B128, (64, 5), &[2, 1]);
    wide.compare([32, 16], MapSwizzle::B64, (48, 7), &[0, 0]);
}

#[test]
fn pixels_may_be_skipped_and_filters_spread() {
    let strided = Images {
        sizes: vec![16, 9, 8, 2],
        strides: vec![2, 3],
        ..images()
    };
    assert_eq!([strided.results(0), strided.results(1)], [5, 3]);
    for m in [0, 4, 13] {
        strided.compare([16, 24], MapSwizzle::B32, (0, m), &[2, 1]);
    }
    let dilated = Images {
        sizes: vec![16, 9, 8, 2],
        dilation: 2,
        padding: [2, 1],
        ..images()
    };
    dilated.compare([16, 48], MapSwizzle::None, (0, 11), &[2, 1]);
    dilated.compare([16, 48], MapSwizzle::None, (0, 50), &[1, 2]);
}

#[test]
fn images_have_one_to_three_modes_of_pixels() {
    let line = Images {
        sizes: vec![16, 11, 4],
        strides: vec![2],
        ..images()
    };
    line.compare([16, 24], MapSwizzle::None, (0, 3), &[2]);
    let volume = Images {
        sizes: vec![8, 5, 4, 3, 2],
        strides: vec![1, 2, 1],
        ..images()
    };
    for m in [0, 17, 45] {
        volume.compare([8, 50], MapSwizzle::None, (0, m), &[1, 2, 0]);
    }
}

#[test]
fn what_is_outside_may_arrive_as_nan() {
    let images = images();
    let map = TensorMap {
        element: MapElement::F16,
        oob_fill: OobFill::Nan,
        ..images.map(16, 2, MapSwizzle::None)
    };
    let mut run = load(map, &[0, -1, 0, 0], &[0, 1]);
    run.tensors.insert(0, (images.tensor(), Way::In));
    let found = halves(&run.clean(1));
    let is_nan = |bits: &u16| half::f16::from_bits(*bits).is_nan();
    assert!(found[..16].iter().all(is_nan));
    assert_eq!(
        found[16..32],
        (0..16)
            .map(|c| images.element(&[c, 0, 1, 0]))
            .collect::<Vec<_>>()
    );
}

#[test]
fn whole_columns_count() {
    let images = images();
    // The last column has one pixel of the images, and counts all 8.
    let mut run = load(images.map(16, 8, MapSwizzle::None), &[0, 5, 3, 2], &[0, 0]);
    run.tensors.insert(0, (images.tensor(), Way::In));
    run.body = run.body.replace("[%s0], 256", "[%s0], 32");
    run.finds(Kind::Deadlock, "-224 bytes");
}

/// With a mask and a policy behind the offsets, to a block of one.
#[test]
fn masks_and_policies_stand_behind_offsets() {
    let images = images();
    let mut run = load(images.map(16, 4, MapSwizzle::None), &[0, 2, 1, 0], &[1, 0]);
    run.tensors.insert(0, (images.tensor(), Way::In));
    run.body = run
        .body
        .replace("::bytes [", "::bytes.multicast::cluster.L2::cache_hint [")
        .replace("{1, 0};", "{1, 0}, 1, 0x1000000000000000;");
    let found = halves(&run.clean(1));
    assert_eq!(
        found[..2],
        [images.element(&[0, 3, 1, 0]), images.element(&[1, 3, 1, 0])]
    );
}

#[test]
fn prefetches_change_nothing_and_are_checked() {
    let images = images();
    let run = |at: &str| {
        let body = format!(
            "setp.ne.u32 %p0, %r0, 0; @%p0 bra END; cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%s80, {{{at}}}], {{1, 1}}; END: ret;"
        );
        hopper(&body)
            .input(images.tensor())
            .map(images.map(16, 8, MapSwizzle::None))
    };
    assert_eq!(run("0, -1, -1, 0").kinds(), []);
    run("0, -2, -1, 0").finds(
        Kind::Undefined,
        "between the corners of its map, -1 to 5 along W, found -2",
    );
}

#[test]
fn columns_begin_at_pixels_of_the_map() {
    let images = images();
    let run = |map: TensorMap, at: &[i64], offsets: &[i64]| {
        let mut run = load(map, at, offsets);
        run.tensors.insert(0, (images.tensor(), Way::In));
        run
    };
    let map = || images.map(16, 8, MapSwizzle::None);
    run(map(), &[0, 6, 0, 0], &[0, 0]).finds(Kind::Undefined, "-1 to 5 along W, found 6");
    run(map(), &[0, 0, 4, 0], &[0, 0]).finds(Kind::Undefined, "-1 to 3 along H, found 4");
    run(map(), &[0, 0, 0, 0], &[0, 256]).finds(Kind::Undefined, "offsets of 0 to 255");
    let tiled = TensorMap {
        im2col: None,
        box_sizes: vec![16, 8, 1, 1],
        ..map()
    };
    run(tiled.clone(), &[0, 0, 0, 0], &[0, 0]).finds(Kind::Undefined, "found one of tiles");
    let mut by_tiles = run(map(), &[0, 0, 0, 0], &[0, 0]);
    by_tiles.body = by_tiles
        .body
        .replace(".im2col.", ".tile.")
        .replace(", {0, 0};", ";");
    by_tiles.finds(Kind::Undefined, "found one by im2col");
}

/// Stores a column of 16 pixels of 16 channels: words 0x10000, 0x30002 and so on.
fn store(images: &Images, at: &[i64]) -> Hopper {
    let body = STORE
        .replace(
            "INSTRUCTION.tile",
            "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs",
        )
        .replace("AT", &joined(at));
    hopper(&body)
        .in_out(images.tensor())
        .map(images.map(16, 16, MapSwizzle::None))
}

#[test]
fn stores_end_where_the_images_do() {
    let inner = Images {
        padding: [0, 0],
        filter: 1,
        ..images()
    };
    for first in [3, 32, 97] {
        let pixel = inner.pixel(first);
        let at: Vec<i64> = std::iter::once(0).chain(pixel).collect();
        let found = halves(&store(&inner, &at).clean(0));
        let all = 7 * 5 * 3;
        assert_eq!(found.len(), 16 * all as usize);
        for (i, &found) in found.iter().enumerate() {
            let stored = i as i64 - first * 16;
            let expected = match (0..256).contains(&stored) {
                true => stored as u16,
                false => i as u16 + 1,
            };
            assert_eq!(found, expected, "element {i} from pixel {first} on");
        }
    }
}

#[test]
fn stores_stay_within_the_tensor() {
    store(&images(), &[0, 0, 0, 0]).finds(Kind::Undefined, "corners within the tensor for a store");
    store(&images(), &[0, -1, 0, 0]).finds(Kind::Undefined, "0 or more along mode 1");
}

/// A column of 4 pixels of 16 channels, 128 bytes, for both blocks of a cluster.
#[test]
fn columns_may_be_for_several_blocks() {
    let images = images();
    let run = |mask: &str| {
        let body = MULTICAST
            .replace(
                "ARM",
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128;",
            )
            .replace("CLUSTER", MEET)
            .replace("MASK", mask)
            .replace(
                "cp.async.bulk.shared::cluster.global",
                "cp.async.bulk.tensor.4d.shared::cluster.global.im2col",
            )
            .replace(
                "[%s90], 128, [%s0], %h1",
                "[%s80, {0, 4, -1, 1}], [%s0], {2, 1}, %h1",
            );
        hopper(&body)
            .input(images.tensor())
            .output(256)
            .map(images.map(16, 4, MapSwizzle::None))
            .cluster(2)
    };
    // Pixels 4 and 5 of the row above the image, then -1 and 0 of the next one, each moved by (2, 1).
    let pixels = [(6, 0), (7, 0), (1, 1), (2, 1)];
    let column = pixels.iter().flat_map(|&(w, h)| {
        let images = &images;
        (0..16).map(move |c| images.element(&[c, w, h, 1]))
    });
    let column: Vec<u16> = column.collect();
    assert_eq!(halves(&run("3").clean(1)), [&column[..], &column].concat());
    run("1").finds(Kind::Deadlock, "128 bytes");
}

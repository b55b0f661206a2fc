//! Tensor maps that kernels make: of zeros or of the host's, in shared memory or in place, and the fences that copies by them take.
//!
//! Tensor 0 is that of `tma`, tensor 1 gets what a copy brings, and the map lies in tensor 2, at its first multiple of 128 bytes.

use super::tma::{LOAD, halves, map, tensor};
use super::*;
use cute_runtime::tensor_map::{EmulatedMapError, MapElement, MapField, MapSwizzle, OobFill};

/// The warp puts zeros at byte 2048 of shared memory, `%s5`.
const ZEROS: &str = "add.s64 %s92, %s92, 127; and.b64 %s92, %s92, -128; mov.b64 %s80, %s92; add.s64 %s5, %s0, 2048;
    mul.wide.u32 %s6, %r0, 4; add.s64 %s6, %s6, %s5; mov.u32 %r9, 0; st.shared.u32 [%s6], %r9; bar.warp.sync -1;";

/// Thread 0 makes them a map of boxes of 16 x 8 elements.
const FIELDS: &str = "setp.ne.u32 %p5, %r0, 0; @%p5 bra MADE;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s5], %s90;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%s5], 0x1;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s5], 0x0, 16;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s5], 0x1, 8;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s5], 0x0, 24;
    mov.u32 %r8, 20; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s5], 0x1, %r8;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%s5], 0x0, 48;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s5], 0x0, 1;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s5], 0x1, 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%s5], 0x1;
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%s5], 0x0;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%s5], 0x1;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%s5], 0x0;
    MADE: bar.warp.sync -1;";

const COPY: &str = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%s92], [%s5], 0x80;";
const RELEASE: &str = "fence.proxy.tensormap::generic.release.gpu;";
const ACQUIRE: &str = "fence.proxy.tensormap::generic.acquire.gpu [%s92], 0x80;";

/// A kernel that does these things, and then loads the box at (8, 4).
fn loads(parts: &[&str]) -> Hopper {
    let load = LOAD
        .replace("BYTES", "256")
        .replace("RANK", "2")
        .replace("AT", "8, 4");
    let body = [parts, &[&load]].concat().join("\n");
    hopper(&body)
        .input(tensor())
        .output(256)
        .in_out(vec![0; 255])
}

/// The box as a map of the host brings it.
fn expected() -> Vec<u8> {
    let body = LOAD
        .replace("BYTES", "256")
        .replace("RANK", "2")
        .replace("AT", "8, 4");
    let run = hopper(&body).map(map([16, 8], MapSwizzle::B32));
    run.input(tensor()).output(256).clean(1)
}

#[test]
fn maps_are_made_of_zeros() {
    let found = loads(&[ZEROS, FIELDS, COPY, ACQUIRE]).clean(1);
    assert_eq!(found, expected());
    assert!(halves(&found).contains(&(8 + 100 * 4)));
}

#[test]
fn maps_of_the_host_are_changed() {
    // As products of groups do it: a map by value, of another tensor's address and height, is copied by the warp.
    let copied = "add.s64 %s92, %s92, 127; and.b64 %s92, %s92, -128; add.s64 %s5, %s0, 2048; mul.wide.u32 %s6, %r0, 4; add.s64 %s7, %s6, %s80;
        add.s64 %s6, %s6, %s5; ld.u32 %r9, [%s7]; st.shared.u32 [%s6], %r9; bar.warp.sync -1;
        setp.ne.u32 %p5, %r0, 0; @%p5 bra MADE;
        tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s5], %s90;
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s5], 1, 20;
        MADE: bar.warp.sync -1; mov.b64 %s80, %s92;";
    let mut host = map([16, 8], MapSwizzle::B32);
    (host.address, host.sizes) = (1, vec![24, 7]);
    let found = loads(&[copied, COPY, ACQUIRE]).map(host).clean(1);
    assert_eq!(found, expected());
}

#[test]
fn maps_are_changed_where_they_lie() {
    // One thread copies a map and changes it in global memory, for another one that copies by it.
    let body = "add.s64 %s92, %s92, 127; and.b64 %s92, %s92, -128; setp.ne.u32 %p5, %r0, 1; @%p5 bra MADE; mov.u32 %r9, 0;
        WORDS: mul.wide.u32 %s6, %r9, 4; add.s64 %s7, %s6, %s80; add.s64 %s6, %s6, %s92; ld.u32 %r8, [%s7]; st.global.u32 [%s6], %r8;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p6, %r9, 32; @%p6 bra WORDS;
        tensormap.replace.tile.global_dim.global.b1024.b32 [%s92], 1, 20;
        RELEASE
        MADE: bar.warp.sync -1; mov.b64 %s80, %s92;";
    let mut host = map([16, 8], MapSwizzle::B32);
    host.sizes = vec![24, 7];
    let run = |release: &str, parts: &[&str]| {
        let body = body.replace("RELEASE", release);
        loads(&[&[body.as_str()], parts].concat()).map(host.clone())
    };
    assert_eq!(run(RELEASE, &[ACQUIRE]).clean(1), expected());
    run(RELEASE, &[]).finds(Kind::MissingFence, "generic.acquire.gpu [map], 128 behind");
    run("", &[ACQUIRE]).finds(Kind::MissingFence, "nothing has released");
    // The other thread may release, too, as it knows of the writes.
    assert_eq!(run("", &[RELEASE, ACQUIRE]).clean(1), expected());
}

#[test]
fn fences_are_missed() {
    let kinds = |parts: &[&str]| loads(parts).kinds();
    assert_eq!(kinds(&[ZEROS, FIELDS, COPY]), [Kind::MissingFence]);
    // In front of the copy it acquires what was there before.
    assert_eq!(kinds(&[ZEROS, FIELDS, ACQUIRE, COPY]), [Kind::MissingFence]);
    // Of another map.
    let other = "fence.proxy.tensormap::generic.acquire.gpu [%s90], 128;";
    assert!(kinds(&[ZEROS, FIELDS, COPY, other]).contains(&Kind::MissingFence));
    // By another thread of the warp, and nothing orders it before the load; and then something does.
    let by_another = format!("setp.ne.u32 %p7, %r0, 5; @!%p7 {ACQUIRE}");
    assert_eq!(
        kinds(&[ZEROS, FIELDS, COPY, &by_another]),
        [Kind::MissingFence]
    );
    let ordered = [ZEROS, FIELDS, COPY, &by_another, "bar.warp.sync -1;"];
    assert_eq!(loads(&ordered).clean(1), expected());
}

#[test]
fn blocks_take_fences_of_their_scope() {
    // Block 0 makes the map; block 1 sees a flag behind it, in the last word of the tensor of maps, and loads.
    let handed = |scope: &str, acquire: &str| {
        let copy = COPY.replace(".gpu.", scope);
        let first = "mov.u32 %r20, %ctaid.x; setp.ne.u32 %p8, %r20, 0; @%p8 bra SECOND;";
        let then = "bar.warp.sync -1; add.s64 %s8, %s92, 128; setp.ne.u32 %p5, %r0, 0; @%p5 ret; fence.acq_rel.gpu;
            st.relaxed.gpu.global.u32 [%s8], 1; ret;
            SECOND: add.s64 %s92, %s92, 127; and.b64 %s92, %s92, -128; mov.b64 %s80, %s92; add.s64 %s8, %s92, 128;
            SEE: ld.relaxed.gpu.global.u32 %r21, [%s8]; setp.ne.u32 %p9, %r21, 1; @%p9 bra SEE; fence.acq_rel.gpu;";
        let mut run = loads(&[first, ZEROS, FIELDS, &copy, then, acquire]);
        run.grid = 2;
        run.tensors[2].0 = vec![0; 260];
        run
    };
    assert_eq!(handed(".gpu.", ACQUIRE).clean(1), expected());
    handed(".cta.", ACQUIRE).finds(Kind::MissingFence, "nothing has released");
    handed(".gpu.", "").finds(Kind::MissingFence, "generic.acquire.gpu [map], 128 behind");
}

#[test]
fn maps_that_are_none_are_found() {
    let garbage = "mov.u32 %r9, 7; st.shared.u32 [%s6], %r9; bar.warp.sync -1;";
    loads(&[ZEROS, garbage, FIELDS, COPY, ACQUIRE])
        .finds(Kind::Undefined, "with 128 bytes of zeros");
    // A field is lacking: no box of no elements is one.
    let lacking = FIELDS.replace("0x1, 8;", "0x1, 0;");
    loads(&[ZEROS, &lacking, COPY, ACQUIRE]).finds(Kind::Undefined, "box");
    let large = FIELDS.replace("0x1, 8;", "0x1, 65536;");
    loads(&[ZEROS, &large, COPY, ACQUIRE]).finds(Kind::Undefined, "expected 0 to 65535");
    // 128 bytes at once lie at a multiple of them.
    let askew = "add.s64 %s5, %s5, 64;";
    loads(&[ZEROS, askew, FIELDS, COPY, ACQUIRE]).finds(Kind::Misaligned, "128");
    // What nobody wrote is no zero.
    let unwritten = ZEROS.replace("st.shared.u32 [%s6], %r9;", "");
    loads(&[&unwritten, FIELDS, COPY, ACQUIRE]).finds(Kind::UninitializedShared, "");
    let elsewhere = "setp.eq.u32 %p5, %r0, 3; @%p5 add.s64 %s5, %s5, 128;";
    let parted = [ZEROS, FIELDS, elsewhere, COPY, ACQUIRE];
    loads(&parted).finds(Kind::Undefined, "one source and one destination");
    let apart = format!("setp.ne.u32 %p7, %r0, 5; @%p7 {COPY}");
    assert!(!loads(&[ZEROS, FIELDS, &apart, ACQUIRE]).found().is_empty());
}

#[test]
fn what_is_no_instruction_is_refused() {
    let refused = |from: &str, to: &str, text: &str| {
        let parts = [ZEROS, FIELDS, COPY, ACQUIRE].map(|part| part.replace(from, to));
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let error = loads(&parts).decoded().unwrap_err();
        assert!(error.contains(text), "{error}");
    };
    refused(
        "elemtype.shared::cta.b1024.b32 [%s5], 0x1",
        "elemtype.shared::cta.b1024.b32 [%s5], 13",
        "types 0 to 12",
    );
    refused(
        "layout.shared::cta.b1024.b32 [%s5], 0x0",
        "layout.shared::cta.b1024.b32 [%s5], 1",
        "without interleaving",
    );
    refused(
        "swizzle_mode.shared::cta.b1024.b32 [%s5], 0x1",
        "swizzle_mode.shared::cta.b1024.b32 [%s5], 4",
        "swizzles 0 to 3",
    );
    refused(
        "fill_mode.shared",
        "swizzle_atomicity.shared",
        "which sm_100a has",
    );
    refused(
        "box_dim.shared::cta.b1024.b32 [%s5], 0x0,",
        "box_dim.shared::cta.b1024.b32 [%s5], 5,",
        "a mode of 0 to 4",
    );
    refused(
        "global_stride.shared::cta.b1024.b64 [%s5], 0x0,",
        "global_stride.shared::cta.b1024.b64 [%s5], 4,",
        "a mode of 0 to 3",
    );
    refused(
        "global_stride.shared::cta.b1024.b64",
        "global_stride.shared::cta.b1024.b32",
        "expected .b64",
    );
    refused(
        "box_dim.shared::cta.b1024.b32 [%s5], 0x0,",
        "box_dim.shared::cta.b1024.b32 [%s5],",
        "the number of a mode",
    );
    refused(
        "rank.shared::cta.b1024.b32 [%s5], 0x1",
        "rank.shared::cta.b1024.b32 [%s5], 0, 1",
        "no number of a mode",
    );
    refused("[%s92], 0x80;", "[%s92], 64;", "expected 128 bytes");
    refused("[%s5], 0x80;", "[%s5], 64;", "expected 128 bytes");
    refused("replace.tile.rank", "replace.im2col.rank", "does not know");
}

/// The numbers of the PTX ISA ("tensormap.replace"), which are not the driver's.
#[test]
fn element_types_have_numbers_of_their_own() {
    use MapElement::{Bf16, F16, F32, F32Ftz, F64, S32, S64, Tf32, Tf32Ftz, U8, U16, U32, U64};
    let all = [
        U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, Bf16, Tf32, Tf32Ftz,
    ];
    for (number, element) in all.into_iter().enumerate() {
        let fields = FIELDS
            .replace(
                "b32 [%s5], 0x1;\n    tensormap.replace.tile.interleave",
                &format!("b32 [%s5], {number};\n    tensormap.replace.tile.interleave"),
            )
            .replace(
                "swizzle_mode.shared::cta.b1024.b32 [%s5], 0x1",
                "swizzle_mode.shared::cta.b1024.b32 [%s5], 0x0",
            );
        let parts = [ZEROS, &fields, COPY, "ret;"].join("\n");
        let ran = hopper(&parts)
            .input(tensor())
            .output(256)
            .in_out(vec![0; 255]);
        let bytes = ran.clean(2);
        let maps = bytes.windows(128).filter_map(|part| part.try_into().ok());
        let found = maps.filter_map(|part: &[u8; 128]| TensorMap::from_emulated(part).ok());
        let elements: Vec<MapElement> = found.map(|map| map.element).collect();
        assert_eq!(elements, [element], "{number}");
    }
}

#[test]
fn fields_are_those_of_the_host() {
    let mut made = map([16, 8], MapSwizzle::B32);
    made.address = 4096;
    let mut bytes = [0; 128];
    let fields = [
        (MapField::Address, 4096),
        (MapField::Rank, 1),
        (MapField::Box(0), 16),
        (MapField::Box(1), 8),
        (MapField::Size(0), 24),
        (MapField::Size(1), 20),
        (MapField::Stride(0), 48),
        (MapField::ElementStride(0), 1),
        (MapField::ElementStride(1), 1),
        (MapField::Element, u64::from(made.element.driver())),
        (MapField::Swizzle, u64::from(made.swizzle.driver())),
        (MapField::Fill, u64::from(OobFill::Zero.driver())),
    ];
    for (field, value) in fields {
        TensorMap::replace_emulated(&mut bytes, field, value).unwrap();
    }
    assert_eq!(TensorMap::from_emulated(&bytes), Ok(made.clone()));
    // Each field alone, of a map of the host.
    let changed = |field: MapField, value: u64| {
        let mut bytes = made.to_emulated().unwrap();
        TensorMap::replace_emulated(&mut bytes, field, value)
            .map(|()| TensorMap::from_emulated(&bytes))
    };
    for (field, value, change) in [
        (
            MapField::Size(1),
            1 << 32,
            (|map| map.sizes[1] = 1 << 32) as fn(&mut TensorMap),
        ),
        (MapField::Stride(0), 64, |map| map.strides[0] = 64),
        (MapField::Box(1), 256, |map| map.box_sizes[1] = 256),
        (MapField::ElementStride(1), 8, |map| {
            map.element_strides[1] = 8
        }),
        (MapField::Address, 1 << 40, |map| map.address = 1 << 40),
        (MapField::Swizzle, 3, |map| map.swizzle = MapSwizzle::B128),
    ] {
        let mut expected = made.clone();
        change(&mut expected);
        assert_eq!(changed(field, value), Ok(Ok(expected)), "{field:?}");
    }
    let (least, most) = (1, 1 << 32);
    let found = 0;
    let error = EmulatedMapError::Value { least, most, found };
    assert_eq!(changed(MapField::Size(0), 0), Err(error));
    let error = EmulatedMapError::Value {
        least: 0,
        most: 4,
        found: 5,
    };
    assert_eq!(changed(MapField::Rank, 5), Err(error));
}

//! Descriptors of `wgmma`: against the layouts that they are made of, element by element.

use cute_layout::{
    Layout, Swizzle,
    atoms::Major,
    descriptor::{Descriptor, Operand},
};

fn of(
    text: &str,
    [mn, k]: [i64; 2],
    bits: i64,
    major: Major,
    swizzle: i64,
) -> Result<Descriptor, String> {
    let layout = Layout::parse(text).unwrap();
    Descriptor::of(Operand {
        layout: &layout,
        mn,
        k,
        bits,
        major,
        swizzle: (swizzle > 0).then(|| Swizzle::new(swizzle, 4, 3).unwrap()),
    })
    .map_err(|e| e.to_string())
}

/// The address of an element as the PTX ISA describes the arrangement of core matrices, from the fields as bits.
fn hardware(fields: u64, start: i64, major: Major, [mn, k]: [i64; 2], bytes: i64) -> i64 {
    let leading = ((fields >> 16) & 0x3fff) as i64 * 16;
    let stride = ((fields >> 32) & 0x3fff) as i64 * 16;
    let bits = [0u32, 3, 2, 1][(fields >> 62) as usize];
    let width = 16i64 << bits;
    let address = match major {
        // Rows of `width` bytes, in groups of eight.
        Major::K if bits > 0 => start + (mn / 8) * stride + (mn % 8) * width + k * bytes,
        Major::K => {
            start + (mn / 8) * stride + (k * bytes / 16) * leading + (mn % 8) * 16 + k * bytes % 16
        }
        Major::Mn if bits > 0 => {
            start
                + (mn * bytes / width) * leading
                + (k / 8) * stride
                + (k % 8) * width
                + mn * bytes % width
        }
        Major::Mn => {
            start + (mn * bytes / 16) * stride + (k / 8) * leading + (k % 8) * 16 + mn * bytes % 16
        }
    };
    let row = (address >> 7) & ((1 << bits) - 1);
    address ^ (row << 4)
}

fn check(text: &str, shape: [i64; 2], bits: i64, major: Major, swizzle: i64) -> Descriptor {
    let found = of(text, shape, bits, major, swizzle).unwrap();
    let layout = Layout::parse(text).unwrap().flat().unwrap();
    let bytes = bits / 8;
    // Any start at which the pattern begins, and the steps of K within it.
    for start in [0, 8192, 65536] {
        for k in 0..shape[1] {
            for mn in 0..shape[0] {
                let linear = start + layout.at(mn + k * shape[0]) * bytes;
                let expected = match swizzle {
                    0 => linear,
                    bits => Swizzle::new(bits, 4, 3).unwrap().apply(linear),
                };
                let found = hardware(found.fields(), start, major, [mn, k], bytes);
                assert_eq!(found, expected, "{text} at ({mn},{k})");
            }
        }
    }
    found
}

#[test]
fn canonical_layouts_have_descriptors() {
    // f16, K-major: 128, 64 and 32 bytes, none.
    let found = check("(64,16):(64,1)", [64, 16], 16, Major::K, 3);
    assert_eq!([found.leading, found.stride], [16, 1024]);
    assert_eq!(found.fields(), 1 << 62 | 64 << 32 | 1 << 16);
    assert_eq!(
        check("(64,16):(32,1)", [64, 16], 16, Major::K, 2).stride,
        512
    );
    assert_eq!(
        check("(64,16):(16,1)", [64, 16], 16, Major::K, 1).stride,
        256
    );
    let found = check("((8,8),(8,2)):((8,128),(1,64))", [64, 16], 16, Major::K, 0);
    assert_eq!([found.leading, found.stride], [128, 256]);
    // Chunks of K far apart.
    check("((8,8),(8,2)):((8,64),(1,512))", [64, 16], 16, Major::K, 0);
    // Atoms of eight rows with others between.
    check("((8,16),16):((64,1024),1)", [128, 16], 16, Major::K, 3);
    // Other widths of elements.
    check("(64,8):(32,1)", [64, 8], 32, Major::K, 3);
    check("(256,32):(128,1)", [256, 32], 8, Major::K, 3);
    check("(8,32):(32,1)", [8, 32], 8, Major::K, 1);
    // MN-major.
    let found = check("((64,2),16):((1,1024),64)", [128, 16], 16, Major::Mn, 3);
    assert_eq!([found.leading, found.stride], [2048, 1024]);
    check("((64,2),16):((1,4096),64)", [128, 16], 16, Major::Mn, 3);
    check("(64,16):(1,64)", [64, 16], 16, Major::Mn, 3);
    check("((32,2),16):((1,512),32)", [64, 16], 16, Major::Mn, 2);
    check("((16,4),16):((1,256),16)", [64, 16], 16, Major::Mn, 1);
    let found = check("((8,8),(8,2)):((1,64),(8,512))", [64, 16], 16, Major::Mn, 0);
    assert_eq!([found.leading, found.stride], [1024, 128]);
}

#[test]
fn other_layouts_are_refused_with_one_that_would_do() {
    let refused = |text: &str, shape, bits, major, swizzle, word: &str| {
        let error = of(text, shape, bits, major, swizzle).unwrap_err();
        assert!(error.contains(word), "{error}");
    };
    // Plain rows without a swizzle, padded rows, the other major mode, another swizzle than the rows' width.
    refused(
        "(64,16):(64,1)",
        [64, 16],
        16,
        Major::K,
        0,
        "((8,8),(8,2)):((8,128),(1,64))",
    );
    refused(
        "(64,16):(72,1)",
        [64, 16],
        16,
        Major::K,
        3,
        "S<3,4,3> o ((8,8),16):((64,512),1)",
    );
    refused("(64,16):(1,64)", [64, 16], 16, Major::K, 3, "K-major");
    refused("(64,16):(64,1)", [64, 16], 16, Major::Mn, 3, "MN-major");
    refused("(64,16):(64,1)", [64, 16], 16, Major::K, 2, "S<2,4,3>");
    refused("(64,8):(64,1)", [64, 16], 16, Major::K, 3, "512 elements");
    // Groups of rows that begin within the pattern.
    refused(
        "((8,8),16):((64,544),1)",
        [64, 16],
        16,
        Major::K,
        3,
        "period",
    );
    // Strides that the fields do not hold.
    refused(
        "((8,8),16):((64,131072),1)",
        [64, 16],
        16,
        Major::K,
        3,
        "below 262144",
    );
    let layout = Layout::parse("(64,16):(64,1)").unwrap();
    let error = Descriptor::of(Operand {
        layout: &layout,
        mn: 64,
        k: 16,
        bits: 16,
        major: Major::K,
        swizzle: Some(Swizzle::new(3, 3, 3).unwrap()),
    });
    assert!(error.unwrap_err().to_string().contains("S<3,4,3>"));
}

#[test]
fn the_layouts_that_refusals_name_have_descriptors() {
    for (major, swizzle) in [
        (Major::K, 0),
        (Major::K, 1),
        (Major::K, 3),
        (Major::Mn, 0),
        (Major::Mn, 2),
        (Major::Mn, 3),
    ] {
        let error = of("(64,16):(100,3)", [64, 16], 16, major, swizzle).unwrap_err();
        let named = error.split("lay it out as ").nth(1).unwrap();
        let named = named.rsplit(" o ").next().unwrap().trim();
        check(named, [64, 16], 16, major, swizzle);
    }
}

#[test]
fn start_addresses_are_granules() {
    assert_eq!(Descriptor::start(1024), 64);
    assert_eq!(Descriptor::start(0x3fff0), 0x3fff);
    // Addresses of a cluster's window have bits above.
    assert_eq!(Descriptor::start(0x40010), 1);
}

#[test]
fn core_matrices_are_read_where_elements_lie_and_without_conflicts() {
    for (text, major, swizzle) in [
        ("((8,8),(8,2)):((8,128),(1,64))", Major::K, 0),
        ("((8,8),16):((16,128),1)", Major::K, 1),
        ("((8,8),16):((32,256),1)", Major::K, 2),
        ("((8,8),16):((64,512),1)", Major::K, 3),
        ("((8,8),(8,2)):((1,64),(8,512))", Major::Mn, 0),
        ("((16,4),(8,2)):((1,256),(16,128))", Major::Mn, 1),
        ("((32,2),(8,2)):((1,512),(32,256))", Major::Mn, 2),
        ("(64,(8,2)):(1,(64,512))", Major::Mn, 3),
    ] {
        let found = of(text, [64, 16], 16, major, swizzle).unwrap();
        assert_eq!(found.core_matrices(64, 16, 2), [8, 2]);
        let [of_mn, of_k] = found.core_shape(2);
        for (core_mn, core_k, row) in
            (0..8).flat_map(|a| (0..2).flat_map(move |b| (0..8).map(move |c| (a, b, c))))
        {
            let (mn, k) = match major {
                Major::K => (core_mn * of_mn + row, core_k * of_k),
                Major::Mn => (core_mn * of_mn, core_k * of_k + row),
            };
            assert_eq!(
                found.core_rows(2048, [core_mn, core_k], 2)[row as usize],
                hardware(found.fields(), 2048, major, [mn, k], 2),
                "{text} {core_mn} {core_k} {row}"
            );
        }
        assert_eq!(found.wavefronts(2048, [64, 16], 2), (16, 16), "{text}");
    }
    // Steps of K within the swizzled row begin elsewhere than the pattern.
    let found = of("((8,8),16):((64,512),1)", [64, 16], 16, Major::K, 3).unwrap();
    assert_eq!(found.wavefronts(32, [64, 16], 2), (16, 16));
    assert_eq!(
        found.to_string(),
        "K-major, swizzled by 128 bytes, stride byte offset 1024"
    );
    // Rows that no swizzle moves apart are all on the same banks.
    let apart = Descriptor {
        swizzle_bits: 0,
        leading: 16,
        stride: 1024,
        major: Major::Mn,
    };
    assert_eq!(
        apart.to_string(),
        "MN-major without a swizzle, leading byte offset 16, stride byte offset 1024"
    );
}

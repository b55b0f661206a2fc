//! Twenty layouts that real GEMMs are made of, each with what is done to it there. Benchmarks and tests share the list.

/// A layout, and the other operands of the operations that a GEMM applies to it.
#[allow(dead_code)] // each user needs its part
pub struct Case {
    /// The place where it occurs.
    pub name: &'static str,
    /// The layout.
    pub layout: &'static str,
    /// The right side of a composition with it.
    pub rhs: &'static str,
    /// The by-mode tiler that divides it.
    pub tile: &'static str,
    /// A layout whose gaps are filled, and the size that it is filled up to.
    pub fill: (&'static str, i64),
}

const fn case(
    name: &'static str,
    layout: &'static str,
    rhs: &'static str,
    tile: &'static str,
    fill: (&'static str, i64),
) -> Case {
    Case {
        name,
        layout,
        rhs,
        tile,
        fill,
    }
}

/// The list: global tensors, their tiles, shared memory of one to four stages, atoms, tiled copies, fragments and C.
pub const CASES: [Case; 20] = [
    case(
        "gmem A, row-major, by block tiles",
        "(4096,4096):(4096,1)",
        "(128,64):(1,4096)",
        "[128:1;64:1]",
        ("(128,64):(1,4096)", 16777216),
    ),
    case(
        "gmem B, column-major, by block tiles",
        "(4096,4096):(1,4096)",
        "(128,32):(1,4096)",
        "[128:1;32:1]",
        ("(128,32):(1,4096)", 16777216),
    ),
    case(
        "gmem A of padded rows",
        "(1000,4096):(4104,1)",
        "(8,64):(1,1000)",
        "[8:1;64:1]",
        ("(8,64):(1,1000)", 4096000),
    ),
    case(
        "gmem C, row-major, by warp tiles",
        "(8192,2048):(2048,1)",
        "(64,128):(1,8192)",
        "[64:1;128:1]",
        ("(64,128):(1,8192)", 16777216),
    ),
    case(
        "gmem batch of convolution filters",
        "((3,3,64),512):((64,192,1),576)",
        "(576,128):(1,576)",
        "[64:9;128:1]",
        ("(64,128):(9,576)", 294912),
    ),
    case(
        "block tile of A, k-tiles behind it, by a tiled copy",
        "(128,64,64):(4096,1,64)",
        "((8,16),(8,8)):((128,1),(1024,16))",
        "[(16,8):(1,16);(8,8):(8,1)]",
        ("((8,16),8):((1024,1),128)", 8192),
    ),
    case(
        "smem A, one stage, row-major",
        "(128,32):(32,1)",
        "((4,32),8):((1024,1),128)",
        "[32:1;8:1]",
        ("((4,32),8):((1024,1),128)", 4096),
    ),
    case(
        "smem A, two stages, column-major",
        "(128,32,2):(1,128,4096)",
        "((16,8),8):((8,128),1)",
        "[64:1;16:1]",
        ("((16,8),8):((8,128),1)", 8192),
    ),
    case(
        "smem B, three stages, row-major",
        "(256,64,3):(64,1,16384)",
        "(8,(4,2)):(1,(256,2048))",
        "[8:1;16:1]",
        ("(8,8):(1,256)", 49152),
    ),
    case(
        "smem A, four stages, tiled from an atom of eight rows",
        "((8,16),(64,1),(1,4)):((64,512),(1,0),(0,8192))",
        "((4,8),(2,2,2)):((256,1),(128,8,1024))",
        "[16:1;16:1;_]",
        ("((4,8),(2,2,2)):((256,1),(128,8,1024))", 32768),
    ),
    case(
        "smem, M-major atom of 64 by 8",
        "((64,2),(8,8)):((1,512),(64,1024))",
        "(128,16):(1,128)",
        "[(8,4):(1,32);16:1]",
        ("(128,16):(1,128)", 8192),
    ),
    case(
        "SM70 8x8x4 C of a quad pair, threads and values",
        "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))",
        "(8,4):(1,8)",
        "[4:1;(2,2):(1,4)]",
        ("(2,2,2):(1,16,4)", 64),
    ),
    case(
        "SM80 16x8x16 A, threads and values",
        "((4,8),(2,2,2)):((32,1),(16,8,128))",
        "(32,(2,4)):(1,(32,64))",
        "[4:1;2:2]",
        ("(4,8):(32,1)", 256),
    ),
    case(
        "SM80 16x8x16 B, threads and values",
        "((4,8),(2,2)):((16,1),(8,64))",
        "(32,4):(1,32)",
        "[8:4;2:1]",
        ("(2,2):(8,64)", 128),
    ),
    case(
        "SM80 16x8 C, threads and values",
        "((4,8),(2,2)):((32,1),(16,8))",
        "((4,8),4):((1,4),32)",
        "[32:1;2:1]",
        ("((4,8),2):((32,1),16)", 128),
    ),
    case(
        "tiled copy of 128 threads with 16 bytes each",
        "((4,32),8):((256,1),32)",
        "(128,(4,2)):(1,(128,512))",
        "[32:1;4:1]",
        ("(4,32):(256,1)", 4096),
    ),
    case(
        "tiled MMA of 2x2 warps, threads and values of A",
        "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))",
        "(128,8):(1,128)",
        "[32:1;(2,4):(1,2)]",
        ("(4,8,2):(64,1,16)", 512),
    ),
    case(
        "C tile of a block, partitioned for one thread",
        "((2,2),4,(2,4)):((1,32768),131072,(8,32))",
        "((2,2),(2,2)):((1,2),(4,16))",
        "[2:1;2:2;2:1]",
        ("(2,2):(1,32768)", 131072),
    ),
    case(
        "C fragment in registers",
        "((2,2),4,8):((1,2),4,16)",
        "(4,(2,8)):(1,(4,16))",
        "[_;2:1;4:1]",
        ("((2,2),4):((1,2),16)", 128),
    ),
    case(
        "C tile in smem for the epilogue, padded rows",
        "(128,128):(136,1)",
        "((16,8),8):((128,1),2048)",
        "[8:16;128:1]",
        ("(128,8):(136,1)", 17408),
    ),
];

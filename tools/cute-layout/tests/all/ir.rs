//! Values as IR: what each kind of value becomes, what has none, and the list of atoms that the lit test gives to cute-opt.

use super::common::{Run, run, run_with};
use cute_layout::{CopyAtom, Elem, MmaAtom};
use expect_test::{Expect, expect, expect_file};

const ELEMS: [Elem; 12] = [
    Elem::F16,
    Elem::BF16,
    Elem::TF32,
    Elem::F32,
    Elem::F64,
    Elem::I4,
    Elem::U4,
    Elem::I8,
    Elem::U8,
    Elem::I32,
    Elem::F8E4M3,
    Elem::F8E5M2,
];

/// Names of `wgmma`, of which there are too many for a list.
const WGMMA: [&str; 4] = [
    "SM90_64x128x16_F32F16F16_SS_TN",
    "SM90_64x8x16_F32BF16BF16_RS<K,MN>",
    "SM90_64x256x8_F32TF32TF32_SS_TN",
    "SM90_64x64x32_S32S8S8_SS_TN",
];

#[track_caller]
fn ok(words: &[&str]) -> Run {
    let r = run(words);
    assert_eq!(r.status, Some(0), "{words:?}: {}", r.err);
    r
}

#[track_caller]
fn check(words: &[&str], expected: Expect) {
    let r = ok(words);
    expected.assert_eq(&format!("{}{}", r.out, r.err));
}

/// The command line is wrong, or the value has no IR: the status and the message without the usage behind it.
#[track_caller]
fn refused(words: &[&str], expected: Expect) {
    let r = run(words);
    assert_eq!(r.out, "", "{words:?}");
    let message = r.err.split("\n\nUsage").next().unwrap_or_default();
    expected.assert_eq(&format!("{}: {message}", r.status.unwrap_or(-1)));
}

#[test]
fn every_atom_is_in_the_list_of_the_lit_test() {
    let mut lines: Vec<String> = MmaAtom::names().map(String::from).collect();
    lines.extend(WGMMA.map(String::from));
    lines.extend(
        [
            "SM80_16x8x32_S32S8S8S32_TN_SATURATE",
            "SM75_8x8x16_S32S8S8S32_TN_SATURATE",
        ]
        .map(String::from),
    );
    for name in CopyAtom::names() {
        let suits = ELEMS
            .iter()
            .filter(|e| CopyAtom::named(name, e.bits()).is_ok());
        lines.extend(suits.map(|e| format!("copy_atom({name}, {e})")));
    }
    let text = lines.join("\n") + "\n";
    expect_file!["../../../../test/Inputs/atoms.txt"].assert_eq(&text);
    let r = run_with(&["batch", "--ir"], text.as_bytes());
    let errors: Vec<&str> = r.out.lines().filter(|l| l.starts_with("//")).collect();
    expect![[r#"
        // error: at column 1: expected an atom of SM80 to saturate, as the types of others do not say it, found SM75_8x8x16_S32S8S8S32_TN_SATURATE; choose one whose name begins with SM80_, or leave _SATURATE out
        // error: at column 1: expected f32, f16 or bf16 for RED_ADD<32>, found tf32; name one of them in copy_atom
        // error: at column 1: expected f32, f16 or bf16 for RED_ADD<32>, found i32; name one of them in copy_atom
        // error: at column 1: expected f32, f16 or bf16 for RED_ADD<64>, found tf32; name one of them in copy_atom
        // error: at column 1: expected f32, f16 or bf16 for RED_ADD<64>, found i32; name one of them in copy_atom
        // error: at column 1: expected f32, f16 or bf16 for RED_ADD<128>, found tf32; name one of them in copy_atom
        // error: at column 1: expected f32, f16 or bf16 for RED_ADD<128>, found i32; name one of them in copy_atom"#]].assert_eq(&errors.join("\n"));
    // An atom alone has its alias and the operation that makes it.
    assert_eq!(
        r.out.matches("cute.static").count() + errors.len(),
        lines.len()
    );
}

#[test]
fn each_kind_of_value_is_a_type_and_an_operation() {
    let lines = "\
(4,8):(8,1)
S<3,4,3> o 0 o (8,4):(1,8)
S<0,4,3> o 0 o (8,4):(1,8)
(8,4):(1,8) o 3 o (4,2):(1,4)
[128:1;(2,4):(1,8);_]
S<3,4,3>
(3,(2,_))
(2@0,1@1)
size((4,8))
shape((4,8):(8,1))
stride((4,8):(8,1))
idx2crd(7, (4,8))
ceil_div((10,7), (4,2))
compact_row_major((2,3))
congruent(3, (1,2))
bf16
logical_divide((8,16):(16,1), (4,4))
complement(4:2, 24)
right_inverse((4,8):(8,1))
logical_product((2,2):(1,2), 3:1)
slice((_,1), (4,8):(8,1))
SM80_16x8x16_F32F16F16F32_TN
copy_atom(SM75_U16x8_LDSM_T, bf16)
make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT, (2,2):(2,1))
";
    let r = run_with(&["batch", "--ir"], lines.as_bytes());
    expect![[r#"
        !layout_1 = !cute.layout<"(4,8):(8,1)">
        %layout_1 = cute.static : !layout_1
        !layout_2 = !cute.composed_layout<"S<3,4,3> o 0 o (8,4):(1,8)">
        %layout_2 = cute.static : !layout_2
        !layout_3 = !cute.layout<"(8,4):(1,8)">
        %layout_3 = cute.static : !layout_3
        !layout_4 = !cute.composed_layout<"(8,4):(1,8) o 3 o (4,2):(1,4)">
        %layout_4 = cute.static : !layout_4
        !tile_5 = !cute.tile<"[128:1;(2,4):(1,8);_]">
        %tile_5 = cute.static : !tile_5
        !swizzle_6 = !cute.swizzle<"S<3,4,3>">
        %swizzle_6 = cute.static : !swizzle_6
        !coord_7 = !cute.coord<"(3,(2,_))">
        %coord_7 = cute.static : !coord_7
        !stride_8 = !cute.stride<"(2@0,1@1)">
        %stride_8 = cute.static : !stride_8
        !int_tuple_9 = !cute.int_tuple<"32">
        %int_tuple_9 = cute.static : !int_tuple_9
        !shape_10 = !cute.shape<"(4,8)">
        %shape_10 = cute.static : !shape_10
        !stride_11 = !cute.stride<"(8,1)">
        %stride_11 = cute.static : !stride_11
        !coord_12 = !cute.coord<"(3,1)">
        %coord_12 = cute.static : !coord_12
        !shape_13 = !cute.shape<"(3,4)">
        %shape_13 = cute.static : !shape_13
        !stride_14 = !cute.stride<"(3,1)">
        %stride_14 = cute.static : !stride_14
        %result_15 = arith.constant false
        !element_16 = bf16
        !layout_17 = !cute.layout<"((4,2),(4,4)):((16,64),(1,4))">
        %layout_17 = cute.static : !layout_17
        !layout_18 = !cute.layout<"(2,3):(1,8)">
        %layout_18 = cute.static : !layout_18
        !layout_19 = !cute.layout<"(8,4):(4,1)">
        %layout_19 = cute.static : !layout_19
        !layout_20 = !cute.layout<"((2,2),3):((1,2),4)">
        %layout_20 = cute.static : !layout_20
        !layout_21 = !cute.layout<"(4):(8)">
        %layout_21 = cute.static : !layout_21
        !atom_22 = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
        %atom_22 = cute.static : !atom_22
        !atom_23 = !cute_nvgpu.atom.ldsm<val_type = bf16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
        %atom_23 = cute.static : !atom_23
        !mma_24 = !cute.tiled_mma<!cute_nvgpu.sm70.mma<8x8x4, ab_major = (mn, mn), elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(2,1,0)">, permutation_MNK = <"[16:1;16:1;4:1]">>
        %mma_24 = cute.static : !mma_24
    "#]].assert_eq(&r.out);
}

#[test]
fn tuples_are_of_the_kind_that_is_named() {
    let r = |kind: &str| ok(&["eval", "(3,2)", &format!("--ir={kind}")]).out;
    let all = [
        "auto",
        "int_tuple",
        "shape",
        "stride",
        "coord",
        "layout",
        "tile",
    ]
    .map(r);
    expect![[r#"
        !int_tuple = !cute.int_tuple<"(3,2)">
        %int_tuple = cute.static : !int_tuple
        !int_tuple = !cute.int_tuple<"(3,2)">
        %int_tuple = cute.static : !int_tuple
        !shape = !cute.shape<"(3,2)">
        %shape = cute.static : !shape
        !stride = !cute.stride<"(3,2)">
        %stride = cute.static : !stride
        !coord = !cute.coord<"(3,2)">
        %coord = cute.static : !coord
        !layout = !cute.layout<"(3,2):(1,3)">
        %layout = cute.static : !layout
        !tile = !cute.tile<"[3:1;2:1]">
        %tile = cute.static : !tile
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn symbols_are_parameters() {
    check(
        &[
            "eval",
            "logical_divide((M,K):(K,1), (128,32))",
            "--where",
            "M % 128 == 0",
            "--ir",
        ],
        expect![[r#"
            !layout = !cute.layout<"((128,$(M/128)),(32,$(ceil_div(K,32)))):(($K,$(128*K)),(1,32))">
            module attributes {cute.parameters = {K = "integer", M = "integer"}} {
              %layout = cute.static : !layout
            }
            note: the divide rounds up where [128:1;32:1] does not divide (M,K):(K,1); exact with `K % 32 == 0`
        "#]],
    );
    check(
        &[
            "eval",
            "(M^2,floor_div(M,K)) where M % 2 == 0",
            "--ir=shape",
        ],
        expect![[r#"
            !shape = !cute.shape<"($(M*M),$(((M-M%K)/K)))">
            module attributes {cute.parameters = {K = "integer", M = "integer"}} {
              %shape = cute.static : !shape
            }
        "#]],
    );
}

#[test]
fn what_is_known_at_run_time_is_an_argument() {
    check(
        &["eval", "(M,?):(?{i64 div=8},1)", "--ir"],
        expect![[r#"
            !layout = !cute.layout<"($M,?):(?{i64 div=8},1)">
            module attributes {cute.parameters = {M = "integer"}} {
              func.func @layout(%arg0: i32, %arg1: !cute.i64<divby 8>) -> !layout {
                %0 = cute.make_shape(%arg0) : (i32) -> !cute.shape<"($M,?)">
                %1 = cute.make_stride(%arg1) : (!cute.i64<divby 8>) -> !cute.stride<"(?{i64 div=8},1)">
                %2 = cute.make_layout(%0, %1) : (!cute.shape<"($M,?)">, !cute.stride<"(?{i64 div=8},1)">) -> !cute.layout<"($M,?):(?{i64 div=8},1)">
                return %2 : !layout
              }
            }
        "#]],
    );
    check(
        &["eval", "S<3,4,3> o ? o (8,4):(?,1)", "--ir"],
        expect![[r#"
            !layout = !cute.composed_layout<"S<3,4,3> o ? o (8,4):(?,1)">
            func.func @layout(%arg0: i32, %arg1: i32) -> !layout {
              %0 = cute.static : !cute.swizzle<"S<3,4,3>">
              %1 = cute.make_int_tuple(%arg0) : (i32) -> !cute.int_tuple<"?">
              %2 = cute.static : !cute.shape<"(8,4)">
              %3 = cute.make_stride(%arg1) : (i32) -> !cute.stride<"(?,1)">
              %4 = cute.make_layout(%2, %3) : (!cute.shape<"(8,4)">, !cute.stride<"(?,1)">) -> !cute.layout<"(8,4):(?,1)">
              %5 = cute.make_composed_layout(%0, %1, %4) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"?">, !cute.layout<"(8,4):(?,1)">) -> !cute.composed_layout<"S<3,4,3> o ? o (8,4):(?,1)">
              return %5 : !layout
            }
        "#]],
    );
    check(
        &["eval", "[?:1;(?{i64},3):(1,?{div=4});_]", "--ir"],
        expect![[r#"
            !tile = !cute.tile<"[?:1;(?{i64},3):(1,?{div=4});_]">
            func.func @tile(%arg0: i32, %arg1: i64, %arg2: !cute.i32<divby 4>) -> !tile {
              %0 = cute.make_tile(%arg0, %arg1, %arg2) : (i32, i64, !cute.i32<divby 4>) -> !cute.tile<"[?:1;(?{i64},3):(1,?{div=4});_]">
              return %0 : !tile
            }
        "#]],
    );
    check(
        &["eval", "(?,_)", "--ir"],
        expect![[r#"
        !coord = !cute.coord<"(?,_)">
        func.func @coord(%arg0: i32) -> !coord {
          %0 = cute.make_coord(%arg0) : (i32) -> !cute.coord<"(?,_)">
          return %0 : !coord
        }
    "#]],
    );
}

#[test]
fn tiled_operations_are_whole_aliases() {
    let atom = "copy_atom(SM80_CP_ASYNC_16, bf16)";
    check(
        &["tiled_copy", atom, "(16,8):(8,1)", "(1,8)", "--ir"],
        expect![[r#"
            !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<bf16, cache = global, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
            %copy = cute.static : !copy
        "#]],
    );
    check(
        &[
            "tiled_copy",
            "copy_atom(UniversalCopy<64>, 16)",
            "(16,8)",
            "(4,1)",
            "--ir",
        ],
        expect![[r#"
            !copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 64 b>, layout_copy_tv = <"(128,4):(4,1)">, tiler_mn = <"[64:1;8:1]">>
            %copy = cute.static : !copy
            note: elements of 16 bits without a type are taken to be f16; name their type, such as f16, where they are another
        "#]],
    );
    check(
        &[
            "tiled_mma",
            "SM80_16x8x16_F32F16F16F32_TN",
            "(2,2)",
            "[_;32:1;_]",
            "--ir",
        ],
        expect![[r#"
            !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
            %mma = cute.static : !mma
        "#]],
    );
    check(
        &["tiled_mma", "SM80_16x8x16_F32F16F16F32_TN", "--ir"],
        expect![[r#"
            !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[16:1;8:1;16:1]">>
            %mma = cute.static : !mma
        "#]],
    );
    // Without --ir they are the functions of the language.
    check(
        &["tiled_mma", "SM80_16x8x16_F32F16F16F32_TN", "(2,1)"],
        expect![[r#"
            make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,1,1):(1,0,0), [32:1;8:1;16:1])
        "#]],
    );
    let json = ok(&["tiled_copy", atom, "(16,8)", "(8,1)", "--json"]).out;
    assert!(json.contains("\"kind\":\"tiled_copy\""), "{json}");
    let r = run_with(
        &["tiled_copy", "-", "(16,8)", "(8,1)", "--ir"],
        atom.as_bytes(),
    );
    let begins = "!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<bf16";
    assert!(r.out.starts_with(begins), "{}{}", r.out, r.err);
}

#[test]
fn commands_print_what_they_are_about() {
    check(
        &["print", "(4,8):(8,1)", "--ir"],
        expect![[r#"
        !layout = !cute.layout<"(4,8):(8,1)">
        %layout = cute.static : !layout
    "#]],
    );
    check(
        &["tv", "((2,2),(2,3)):((2,12),(1,4))", "(4,6)", "--ir"],
        expect![[r#"
            !layout_tv = !cute.layout<"((2,2),(2,3)):((2,12),(1,4))">
            !tile_shape = !cute.shape<"(4,6)">
            %layout_tv = cute.static : !layout_tv
            %tile_shape = cute.static : !tile_shape
        "#]],
    );
    check(
        &[
            "banks",
            "(8,4):(32,8)",
            "--swizzle",
            "S<2,4,3>",
            "--elem",
            "f16",
            "--ir",
        ],
        expect![[r#"
            !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(8,4):(32,8)">
            %smem = cute.memref.alloca() : !smem
        "#]],
    );
    check(
        &[
            "banks",
            "S<3,3,3> o 0 o (8,64):(64,1)",
            "--elem",
            "32",
            "--ir",
        ],
        expect![[r#"
            !smem = !cute.memref<f32, smem, align<2048>, "S<3,3,3> o 0 o (8,64):(64,1)">
            %smem = cute.memref.alloca() : !smem
            note: elements of 32 bits without a type are taken to be f32; name their type, such as f16, where they are another
        "#]],
    );
}

#[test]
fn what_has_no_ir_says_so() {
    for (words, expected) in [
        (
            &["eval", "LayoutLeft", "--ir"][..],
            expect![[r#"
            1: error: at column 1: expected a value that IR has, found a direction LayoutLeft, of which no type says the value; give it to make_layout, whose result has
              | LayoutLeft
              | ^^^^^^^^^^
        "#]],
        ),
        (
            &["eval", "UniversalCopy<64>", "--ir"],
            expect![[r#"
            1: error: at column 1: expected a value that IR has, found a copy operation UniversalCopy<64>, of which no type says the value; name its elements, as in copy_atom(UniversalCopy<64>, f16)
              | UniversalCopy<64>
              | ^^^^^^^^^^^^^^^^^
        "#]],
        ),
        (
            &["eval", "SM75_8x8x16_S32S8S8S32_TN_SATURATE", "--ir"],
            expect![[r#"
                1: error: at column 1: expected an atom of SM80 to saturate, as the types of others do not say it, found SM75_8x8x16_S32S8S8S32_TN_SATURATE; choose one whose name begins with SM80_, or leave _SATURATE out
                  | SM75_8x8x16_S32S8S8S32_TN_SATURATE
                  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            "#]],
        ),
        (
            &["eval", "copy_atom(RED_ADD<32>, i32)", "--ir"],
            expect![[r#"
                1: error: at column 1: expected f32, f16 or bf16 for RED_ADD<32>, found i32; name one of them in copy_atom
                  | copy_atom(RED_ADD<32>, i32)
                  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
            "#]],
        ),
        (
            &["eval", "sign(M-3)", "--ir"],
            expect![[r#"
                1: error: at column 1: expected sums, products, quotients, remainders, ceil_div, min and max of symbols, which types can have, found sign(M-3); say more of its symbols, as in --where 'M >= 32'
                  | sign(M-3)
                  | ^^^^^^^^^
            "#]],
        ),
        (
            &["eval", "(1@0,_)", "--ir"],
            expect![[r#"
            1: error: at column 1: expected the text of a !cute.coord, found (1@0,_): at offset 2: expected `,` or `)`, found `@`; --ir=KIND names another type
              | (1@0,_)
              | ^^^^^^^
        "#]],
        ),
        (
            &["eval", "(1@0,3)", "--ir"],
            expect![[r#"
            1: error: at column 1: expected the text of a !cute.stride, found (1@0,3): at offset 0: expected strides that are all integers or all scaled basis elements (zeros may be mixed in), found (1@0,3); use one kind of stride throughout; --ir=KIND names another type
              | (1@0,3)
              | ^^^^^^^
        "#]],
        ),
        (
            &["eval", "(3,_)", "--ir=shape"],
            expect![[r#"
            1: error: at column 1: expected the text of a !cute.shape, found (3,_): at offset 3: expected an integer, `?` or `(`, found `_`; --ir=KIND names another type
              | (3,_)
              | ^^^^^
        "#]],
        ),
        (
            &["eval", "8:1", "--ir=shape"],
            expect![[r#"
            1: error: at column 1: expected a tuple or an integer for --ir=shape, found a layout 8:1; --ir alone takes what it is
              | 8:1
              | ^^^
        "#]],
        ),
        (
            &["eval", "S<3,4,3>", "--ir=layout"],
            expect![[r#"
            1: error: at column 1: expected a layout or a shape for --ir=layout, found a swizzle S<3,4,3>; --ir alone takes what it is
              | S<3,4,3>
              | ^^^^^^^^
        "#]],
        ),
        (
            &["eval", "S<3,4,3>", "--ir=tile"],
            expect![[r#"
            1: error: at column 1: expected a tiler, a layout or a shape for --ir=tile, found a swizzle S<3,4,3>; --ir alone takes what it is
              | S<3,4,3>
              | ^^^^^^^^
        "#]],
        ),
        (
            &["eval", "(4,8", "--ir"],
            expect![[r#"
            1: error: at column 1: expected `,` or `)`, found the end; this `(` is not closed
              | (4,8
              | ^
        "#]],
        ),
        (
            &["tv", "S<3,4,3>", "(4,6)", "--ir"],
            expect![[r#"
                1: error: at column 1: expected a layout or a shape, found a swizzle S<3,4,3>
                  | S<3,4,3>
                  | ^^^^^^^^
            "#]],
        ),
        (
            &["tiled_copy", "UniversalCopy<64>", "8:1", "--ir"],
            expect![[r#"
                1: error: at column 17: expected a copy atom, as copy_atom(UniversalCopy<128>, f16), found a copy operation UniversalCopy<64>
                  | make_tiled_copy(UniversalCopy<64>, 8:1)
                  |                 ^^^^^^^^^^^^^^^^^
            "#]],
        ),
        (
            &["banks", "(8,4):(1,8) o 0 o (8,4):(4,1)", "--ir"],
            expect![[r#"
                1: error: at column 1: expected a value that IR has, found a composed layout (8,4):(1,8) o 0 o (8,4):(4,1), of which no type says the value; say it as one layout, as decay(..) does where it is one
                  | (8,4):(1,8) o 0 o (8,4):(4,1)
                  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            "#]],
        ),
        (
            &["banks", "8:1", "--elem", "i4", "--ir"],
            expect![[r#"
                1: error: at column 1: expected elements of whole bytes, as those of tensors in memory are, found i4; choose a wider --elem, and recast(..) the layout
                  | 8:1
                  | ^^^
            "#]],
        ),
        (
            &["banks", "8:1", "--swizzle", "8:1", "--ir"],
            expect![[r#"
                1: error: at column 1: expected a swizzle S<B,M,S>, found a layout 8:1
                  | 8:1
                  | ^^^
            "#]],
        ),
        // Wrong command lines.
        (
            &["latex", "8:1", "--ir"],
            expect![
                "2: error: `latex` has no IR; --ir is for eval, batch, print, tiled_copy, tiled_mma, tv and banks"
            ],
        ),
        (
            &["svg", "8:1", "--ir"],
            expect![
                "2: error: `svg` has no IR; --ir is for eval, batch, print, tiled_copy, tiled_mma, tv and banks"
            ],
        ),
        (
            &["functions", "--ir"],
            expect![
                "2: error: `functions` has no IR; --ir is for eval, batch, print, tiled_copy, tiled_mma, tv and banks"
            ],
        ),
        (
            &["eval", "8:1", "--ir", "--json"],
            expect!["2: error: `eval` takes --ir or --json; both were given"],
        ),
        (
            &["batch", "--ir", "--json"],
            expect!["2: error: `batch` takes --ir or --json; both were given"],
        ),
        (
            &["print", "8:1", "--ir", "--full"],
            expect!["2: error: `print` takes --ir or --full; both were given"],
        ),
        (
            &["tv", "(2,2)", "4", "--ir", "--svg"],
            expect!["2: error: `tv` takes --ir or --svg; both were given"],
        ),
        (
            &["tv", "(2,2)", "4", "--ir=shape"],
            expect![
                "2: error: `tv` takes --ir without a KIND, as the types of what it shows are known"
            ],
        ),
        (
            &["banks", "8:1", "--threads", "8:1", "--ir"],
            expect!["2: error: `banks` takes --ir or --threads; both were given"],
        ),
        (
            &["eval", "8:1", "--ir=memref"],
            expect![[r#"
            2: error: invalid value 'memref' for '--ir[=<KIND>]'
              [possible values: auto, int_tuple, shape, stride, coord, layout, tile]

            For more information, try '--help'.
        "#]],
        ),
    ] {
        refused(words, expected);
    }
}

#[test]
fn wrong_lines_of_a_batch_are_comments() {
    let r = run_with(&["batch", "--ir"], b"8:1\n\n(4,\nLayoutLeft\n");
    expect![[r#"
        !layout_1 = !cute.layout<"8:1">
        %layout_1 = cute.static : !layout_1

        // error: at column 4: expected an integer, a symbol, `?`, `_`, a tuple, a tiler `<..>` or `[..]`, a swizzle `S<..>`, or a function, found the end
        // error: at column 1: expected a value that IR has, found a direction LayoutLeft, of which no type says the value; give it to make_layout, whose result has
    "#]].assert_eq(&r.out);
    assert_eq!((r.status, &r.err[..]), (Some(0), ""));
}

//! Boxes of TMA and operands of `wgmma`: what is shown of them is where elements lie.

use super::common::run;
use cute_layout::{Layout, Swizzle};
use serde_json::Value;

const ATOM: &str = "SM90_64x16x16_F32F16F16_SS_TN";

fn json(words: &[&str]) -> Value {
    let r = run(words);
    assert_eq!((r.status, &r.err[..]), (Some(0), ""), "{words:?}");
    serde_json::from_str(&r.out).expect("an object")
}

fn numbers(of: &Value) -> Vec<Vec<i64>> {
    serde_json::from_value(of.clone()).expect("rows of numbers")
}

#[test]
fn the_places_of_a_box_are_those_of_its_layout() {
    for (smem, text, swizzle, boxes) in [
        ("(16,(32,2)):(32,(1,512))", "S<2,4,3>", 2, 2),
        ("(16,64):(64,1)", "S<3,4,3>", 3, 1),
        ("(16,16):(16,1)", "S<1,4,3>", 1, 1),
    ] {
        let of = |extra: &[&str]| {
            let words = [
                "tma",
                "(M,K):(K,1)",
                smem,
                "--where",
                "8 | K",
                "--form",
                "json",
            ];
            json(&[&words, extra].concat())
        };
        let found = of(&["--swizzle", text]);
        let (layout, swizzle) = (
            Layout::parse(smem).unwrap(),
            Swizzle::new(swizzle, 4, 3).unwrap(),
        );
        let flat = layout.flat().unwrap();
        for (i, row) in numbers(&found["cells"]).iter().enumerate() {
            for (j, place) in row.iter().enumerate() {
                let byte = swizzle.apply(2 * flat.at(i as i64 + 16 * j as i64));
                assert_eq!(2 * place, byte, "{smem} at ({i},{j})");
            }
        }
        assert_eq!(
            found["boxes"].as_array().map(Vec::len),
            Some(boxes),
            "{smem}"
        );
        assert_eq!(found["wavefronts"], found["ideal"], "{smem}");
    }
    // A swizzle of elements of two bytes has one bit less below.
    let words = |smem: &'static str, rest: &[&'static str]| {
        json(&[&["tma", "(?,?):(?{div=8},1)", smem, "--form", "json"], rest].concat())["cells"]
            .clone()
    };
    assert_eq!(
        words("S<3,3,3> o 0 o (16,64):(64,1)", &[]),
        words("(16,64):(64,1)", &["--swizzle", "S<3,4,3>"])
    );
}

#[test]
fn rows_of_core_matrices_are_where_elements_lie() {
    for (atom, smem, swizzle, is_k) in [
        (ATOM, "(16,64):(64,1)", 3, true),
        (ATOM, "((8,2),(8,8)):((8,64),(1,128))", 0, true),
        (
            "SM90_64x16x16_F32F16F16_SS<K,MN>",
            "(16,32):(1,16)",
            1,
            false,
        ),
    ] {
        let text = format!("S<{swizzle},4,3>");
        let found = json(&[
            "wgmma",
            atom,
            "B",
            smem,
            "--swizzle",
            &text,
            "--form",
            "json",
        ]);
        let swizzle = Swizzle::new(swizzle, 4, 3).unwrap();
        let flat = Layout::parse(smem).unwrap().flat().unwrap();
        let rows = numbers(&found["cells"]);
        for (i, row) in rows.iter().enumerate() {
            for (j, byte) in row.iter().enumerate() {
                // A cell is eight elements of 16 bits, along K or along N.
                let (i, j) = (i as i64, j as i64);
                let (n, k) = if is_k { (i, 8 * j) } else { (8 * i, j) };
                assert_eq!(
                    *byte,
                    swizzle.apply(2 * flat.at(n + 16 * k)),
                    "{smem} ({i},{j})"
                );
            }
        }
        assert_eq!(rows.len() * rows[0].len() * 8, flat.size() as usize);
    }
}

#[test]
fn banks_count_what_descriptors_read() {
    let words = [
        "banks",
        "(16,64):(64,1)",
        "--swizzle",
        "S<3,4,3>",
        "--wgmma",
        ATOM,
        "--operand",
        "B",
    ];
    let r = run(words);
    assert!(r.out.ends_with(
        "step 3 of K: 2 by 2 core matrices of 8 rows of 16 bytes, 4 wavefronts, ideal 4, no conflicts\n\
         total: 16 wavefronts, ideal 16, no conflicts\n"
    ));
    let found = json(&[&words[..], &["--full", "--json"]].concat());
    assert_eq!(found["access"]["stride_byte_offset"], 1024);
    assert_eq!(
        found["access"]["wavefronts"].as_array().map(Vec::len),
        Some(4)
    );
    assert_eq!(found["access"]["fields"], "0x4000004000010000");
}

#[test]
fn pictures_have_a_cell_for_each_place() {
    let words = [
        "wgmma",
        ATOM,
        "B",
        "S<3,3,3> o 0 o (16,64):(64,1)",
        "--form",
    ];
    let latex = run([&words[..], &["latex"]].concat()).out;
    assert_eq!(latex.matches("\\node[fill={rgb").count(), 16 * 8);
    assert!(latex.contains("at (1,0) {144};"));
    let svg = run([&words[..], &["svg"]].concat()).out;
    assert_eq!(svg.matches("<rect").count(), 16 * 8 + 2);
    // Neighbours of a core matrix have other colours than it.
    let colour = |i: usize| {
        svg.split("fill=\"#")
            .nth(i)
            .map(|rest| rest[..6].to_owned())
    };
    assert_ne!(colour(5), colour(6));
}

#[test]
fn what_hopper_has_not_is_an_error() {
    for (words, said) in [
        (
            vec!["tma", "(64,64):(1,64)", "(16,32):(32,1)"],
            "TMA does not transpose",
        ),
        (
            vec!["tma", "(64,64):(64,1)", "(8,16,2):(16,1,128)"],
            "expected a tile of two modes",
        ),
        (
            vec!["tma", "(64,64):(64,1)", "(8,16):(16,1)", "--elem", "4"],
            "expected elements of whole bytes",
        ),
        (
            vec![
                "tma",
                "(64,64):(64,1)",
                "S<1,3,3> o 0 o (8,16):(16,1)",
                "--swizzle",
                "S<1,4,3>",
            ],
            "found both; leave one out",
        ),
        (
            vec!["tma", "(64,64):(64,1)", "S<1,3,3> o 8 o (8,16):(16,1)"],
            "a swizzled layout that begins at 0",
        ),
        (
            vec!["wgmma", ATOM, "A", "(64,64):(64,1)"],
            "lay it out as ((8,8),(8,2)):((8,128),(1,64))",
        ),
        (
            vec![
                "wgmma",
                "SM80_16x8x16_F32F16F16F32_TN",
                "A",
                "(16,16):(16,1)",
            ],
            "expected an atom that reads A by descriptors",
        ),
        (
            vec!["wgmma", "8:1", "A", "(16,16):(16,1)"],
            "expected an MMA atom",
        ),
        (
            vec![
                "banks",
                "(16,64):(64,1)",
                "--elem",
                "f32",
                "--wgmma",
                ATOM,
                "--operand",
                "B",
            ],
            "expected elements of 16 bits",
        ),
    ] {
        let r = run(&words);
        assert_eq!(r.status, Some(1), "{words:?}: {}", r.out);
        assert!(r.err.contains(said), "{words:?}: {}", r.err);
    }
    assert_eq!(run(["tma", "8:1", "8:1", "--ir"]).status, Some(2));
}

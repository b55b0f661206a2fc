//! Registers and accesses as the machine has them.

use super::*;

/// The registers that `mma.sync` makes of those of fragments, where lanes hold what they hold on the machine.
#[test]
fn fragments_are_those_of_the_machine() {
    let two = |from: [[&str; 3]; 2], ty: &str| {
        let one = |[d, left, right]: [&str; 3]| {
            let c = d.replace('d', "c");
            format!("mma.sync.aligned.m16n8k{ty} {{{d}}}, {{{left}}}, {{{right}}}, {{{c}}};")
        };
        format!("{}\n{}", one(from[0]), one(from[1]))
    };
    let [low, high] = ["%d0, %d1, %d2, %d3", "%d4, %d5, %d6, %d7"];
    let halves = "16.row.col.f32.f16.f16.f32";
    let bytes = "16.row.col.s32.s8.s8.s32";
    for (shape, types, text) in [
        (
            "m16n16k16",
            ["f32", "f16", "f16", "f32"],
            two(
                [
                    [low, "%a0, %a1, %a2, %a3", "%b0, %b1"],
                    [high, "%a4, %a5, %a6, %a7", "%b6, %b7"],
                ],
                halves,
            ),
        ),
        (
            "m32n8k16",
            ["f32", "f16", "f16", "f32"],
            two(
                [
                    [low, "%a0, %a1, %a2, %a3", "%b0, %b1"],
                    [high, "%a4, %a5, %a6, %a7", "%b4, %b3"],
                ],
                halves,
            ),
        ),
        (
            "m8n32k16",
            ["f32", "f16", "f16", "f32"],
            two(
                [
                    [low, "%b0, %b1, %b2, %b3", "%a0, %a1"],
                    [high, "%b4, %b5, %b6, %b7", "%a6, %a5"],
                ],
                halves,
            ),
        ),
        (
            "m16n16k8",
            ["f32", "tf32", "tf32", "f32"],
            two(
                [
                    [low, "%a0, %a1, %a2, %a3", "%b0, %b1"],
                    [high, "%a0, %a1, %a2, %a3", "%b2, %b3"],
                ],
                "8.row.col.f32.tf32.tf32.f32",
            ),
        ),
        (
            "m16n16k16",
            ["s32", "s8", "s8", "s32"],
            two([[low, "%a0, %a1", "%b0"], [high, "%a0, %a1", "%b1"]], bytes),
        ),
        (
            "m8n32k16",
            ["s32", "s8", "s8", "s32"],
            two([[low, "%b0, %b1", "%a0"], [high, "%b2, %b3", "%a0"]], bytes),
        ),
    ] {
        let case = Case::new(shape, types, ["row", "col", "row", "col"]);
        let operands = [1, 2, 3].map(|seed| case.matrix(seed - 1, small(seed)));
        let [a, b, c] = &operands;
        let whole = format!("{HEAD}{}", case.kernel("k"));
        let parts = whole.replace(&case.product(), &text);
        assert_ne!(whole, parts);
        let zeros = vec![0; case.bytes(3)];
        let [one, other] = [whole, parts].map(|text| run(&text, 32, &[a, b, c, &zeros]));
        assert_eq!(one.findings, [], "{case:?}");
        assert_eq!(other.findings, [], "{case:?}");
        assert!(one.memory[3] == other.memory[3], "{case:?}");
    }
}

/// Products and accesses in the report: by half a line of 32 banks, eight rows of 16 bytes at 32 bytes from each other conflict in pairs.
#[test]
fn products_and_accesses_are_counted() {
    let case = |space, gap| Case {
        space,
        gap,
        ..Case::new(
            "m16n16k16",
            ["f32", "f16", "f16", "f32"],
            ["row", "col", "row", "row"],
        )
    };
    let counts = |case: &Case| {
        let text = format!("{HEAD}{}", case.kernel("k"));
        let operands = [0, 1, 2, 3].map(|operand| case.matrix(operand, |_, _| 1));
        let [a, b, c, d] = &operands;
        let ran = run(&text, 32, &[a, b, c, d]);
        assert_eq!(ran.findings, []);
        let launch = ran.report.launches[0].clone();
        assert_eq!(launch.multiply_adds, 16 * 16 * 16);
        let lines = launch.lines.into_iter();
        lines
            .filter(|line| line.site.instruction.starts_with("wmma"))
            .map(|line| {
                let counts = line.counts;
                [
                    counts.shared.actual,
                    counts.shared.ideal,
                    counts.global.requests,
                    counts.global.sectors,
                ]
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        counts(&case(SPACES[1], None)),
        [[8, 4, 0, 0], [8, 4, 0, 0], [16, 8, 0, 0], [16, 8, 0, 0]]
    );
    // Eight rows in eight groups of banks.
    assert_eq!(
        counts(&case(SPACES[1], Some(16))),
        [[4, 4, 0, 0], [4, 4, 0, 0], [16, 8, 0, 0], [16, 8, 0, 0]]
    );
    // Each register is an access to half of the rows' sectors, of C and D a pair of them.
    assert_eq!(
        counts(&case(SPACES[0], None)),
        [[0, 0, 4, 32], [0, 0, 4, 32], [0, 0, 4, 32], [0, 0, 4, 32]]
    );
}

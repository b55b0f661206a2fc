//! `wmma`: fragments from memory and back, their products, and what is wrong with them.

mod findings;
mod forms;
mod machine;

use half::{bf16, f16};

use cute_runtime::emulator::{Config, Finding, Grid, Memory, Report, Session};

/// A product with its layouts of A, B, C and D, through one space, with lines side by side or not.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: &'static str,
    /// D, A, B and C.
    types: [&'static str; 4],
    /// Layouts of A, B, C and D.
    layouts: [&'static str; 4],
    /// Bytes between the lines of a matrix; `None` for the stride that is left out.
    gap: Option<usize>,
    /// The modifier of the space, and whether the matrices are in shared memory.
    space: (&'static str, bool),
    /// The words before and behind the types of the product.
    options: [&'static str; 2],
    /// The words of an operation on bits, behind `wmma.mma`.
    op: &'static str,
}

const SPACES: [(&str, bool); 5] = [
    (".global", false),
    (".shared", true),
    ("", false),
    (".shared::cta", true),
    ("", true),
];

fn bits_of(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// A number as an element of a type, which holds it.
fn encode(ty: &str, x: i64) -> Vec<u8> {
    match ty {
        "b1" => vec![x as u8 & 1],
        "s4" | "u4" => vec![x as u8 & 15],
        "s8" | "u8" => vec![x as u8],
        "f16" => f16::from_f64(x as f64).to_le_bytes().into(),
        "bf16" => bf16::from_f64(x as f64).to_le_bytes().into(),
        "s32" => (x as i32).to_le_bytes().into(),
        "f64" => (x as f64).to_le_bytes().into(),
        _ => (x as f32).to_le_bytes().into(),
    }
}

/// Bytes of shared memory for a matrix.
const REGION: usize = 4096;
/// The letters of the operands, in the order of their layouts.
const OPERANDS: [&str; 4] = ["a", "b", "c", "d"];

impl Case {
    fn new(shape: &'static str, types: [&'static str; 4], layouts: [&'static str; 4]) -> Case {
        Case {
            shape,
            types,
            layouts,
            gap: None,
            space: SPACES[0],
            options: [""; 2],
            op: "",
        }
    }

    /// M, N and K.
    fn extents(&self) -> [usize; 3] {
        let numbers = self.shape[1..].split(['n', 'k']);
        let numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    }

    fn ty(&self, operand: usize) -> &'static str {
        let [d, a, b, c] = self.types;
        [a, b, c, d][operand]
    }

    /// Rows and columns of an operand.
    fn size(&self, operand: usize) -> [usize; 2] {
        let [m, n, k] = self.extents();
        [[m, k], [k, n], [m, n], [m, n]][operand]
    }

    /// Elements of a line, and from one to the next.
    fn lines(&self, operand: usize) -> [usize; 2] {
        let [rows, columns] = self.size(operand);
        let length = match self.layouts[operand] {
            "row" => columns,
            _ => rows,
        };
        let gap = self.gap.unwrap_or(0) * 8 / bits_of(self.ty(operand));
        [length, length + gap]
    }

    /// Bytes of an operand in memory, so that a warp copies it in whole words.
    fn bytes(&self, operand: usize) -> usize {
        let [rows, columns] = self.size(operand);
        let [length, stride] = self.lines(operand);
        let lines = rows * columns / length;
        (lines * stride * bits_of(self.ty(operand)) / 8).next_multiple_of(128)
    }

    /// The place of an element, in bits.
    fn bit(&self, operand: usize, row: usize, column: usize) -> usize {
        let [_, stride] = self.lines(operand);
        let index = match self.layouts[operand] {
            "row" => row * stride + column,
            _ => column * stride + row,
        };
        index * bits_of(self.ty(operand))
    }

    /// The place of an element of whole bytes, in bytes.
    fn place(&self, operand: usize, row: usize, column: usize) -> usize {
        self.bit(operand, row, column) / 8
    }

    /// Registers of an operand, as the ISA's table "Matrix Fragments for WMMA" has them.
    fn registers(&self, operand: usize) -> usize {
        let [rows, columns] = self.size(operand);
        match (self.ty(operand), operand) {
            ("f16", 0 | 1) => 8,
            (ty, _) => rows * columns / 32 * bits_of(ty) / bits_of(ty).max(32),
        }
    }

    fn fragment(&self, operand: usize) -> String {
        let letter = OPERANDS[operand];
        let names: Vec<String> = (0..self.registers(operand))
            .map(|at| format!("%{letter}{at}"))
            .collect();
        format!("{{{}}}", names.join(", "))
    }

    fn address(&self, operand: usize) -> String {
        let at = match self.space {
            (_, true) => format!("%s5+{}", operand * REGION),
            _ => format!("%s{operand}"),
        };
        format!("[{at}]")
    }

    /// A load or a store.
    fn moved(&self, operand: usize) -> String {
        let [_, stride] = self.lines(operand);
        let stride = match self.gap {
            Some(_) => format!(", {stride}"),
            None => String::new(),
        };
        let (layout, shape, space) = (self.layouts[operand], self.shape, self.space.0);
        let name = |what: &str| {
            let ty = self.ty(operand);
            format!("wmma.{what}.sync.aligned.{layout}.{shape}{space}.{ty}")
        };
        let (fragment, address) = (self.fragment(operand), self.address(operand));
        match operand {
            3 => format!("{} {address}, {fragment}{stride};", name("store.d")),
            _ => {
                let name = name(&format!("load.{}", OPERANDS[operand]));
                format!("{name} {fragment}, {address}{stride};")
            }
        }
    }

    fn product(&self) -> String {
        let [d, a, b, c] = self.types;
        let types = match a {
            "f16" => format!("{d}.{c}"),
            _ => format!("{d}.{a}.{b}.{c}"),
        };
        let [before, behind] = self.options;
        let [of_a, of_b, _, _] = self.layouts;
        let [a, b, c, d] = [0, 1, 2, 3].map(|operand| self.fragment(operand));
        format!(
            "wmma.mma{}.sync.aligned.{of_a}.{of_b}.{}{before}.{types}{behind} {d}, {a}, {b}, {c};",
            self.op, self.shape
        )
    }

    /// Copies of a matrix into shared memory, or out of it, by one warp.
    fn copies(&self, operand: usize) -> String {
        let steps = (0..self.bytes(operand)).step_by(128).map(|at| {
            let shared = format!("[%s6+{}]", operand * REGION + at);
            let global = format!("[%s7+{at}]");
            match operand {
                3 => format!("ld.shared.b32 %r1, {shared}; st.global.b32 {global}, %r1;"),
                _ => format!("ld.global.b32 %r1, {global}; st.shared.b32 {shared}, %r1;"),
            }
        });
        let steps: Vec<String> = steps.collect();
        format!("add.s64 %s7, %s{operand}, %s4; {}", steps.join(" "))
    }

    /// A kernel of one warp.
    fn kernel(&self, name: &str) -> String {
        let width = if self.types[0] == "f64" { "b64" } else { "b32" };
        let fragments = OPERANDS.map(|letter| format!(".reg .{width} %{letter}<8>;"));
        let params = OPERANDS.map(|letter| format!(".param .u64 {name}_{letter}"));
        let loads: Vec<String> = (0..4)
            .map(|at| format!("ld.param.u64 %s{at}, [{name}_{}];", OPERANDS[at]))
            .collect();
        let (mut before, mut after) = (String::new(), String::new());
        if self.space.1 {
            let zeros = (0..self.bytes(3)).step_by(128);
            let zeros: Vec<String> = zeros
                .map(|at| format!("st.shared.b32 [%s6+{}], 0;", 3 * REGION + at))
                .collect();
            let copies = [0, 1, 2].map(|operand| self.copies(operand));
            before = format!("{} {} bar.sync 0;", copies.join("\n"), zeros.join(" "));
            after = format!("bar.sync 0; {}", self.copies(3));
        }
        let generic = match self.space {
            ("", true) => "cvta.shared.u64 %s5, %s5;",
            _ => "",
        };
        let moves = [0, 1, 2, 3].map(|operand| self.moved(operand));
        let [a, b, c, d] = &moves;
        format!(
            ".visible .entry {name}({}) {{\n{} .reg .b32 %r<9>; .reg .b64 %s<9>; .shared .align 128 .b8 {name}_mem[{}];\n{}
            mov.u32 %r0, %tid.x; mul.wide.u32 %s4, %r0, 4; mov.u64 %s5, {name}_mem; add.s64 %s6, %s5, %s4;\n{before}\n{generic}
            {a}\n{b}\n{c}\n{}\n{d}\n{after}\nret; }}\n",
            params.join(", "),
            fragments.join(" "),
            4 * REGION,
            loads.join(" "),
            self.product()
        )
    }

    /// A matrix in memory.
    fn matrix(&self, operand: usize, element: impl Fn(usize, usize) -> i64) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes(operand)];
        let [rows, columns] = self.size(operand);
        for row in 0..rows {
            for column in 0..columns {
                let value = encode(self.ty(operand), element(row, column));
                let bit = self.bit(operand, row, column);
                for (to, from) in bytes[bit / 8..].iter_mut().zip(value) {
                    *to |= from << (bit % 8);
                }
            }
        }
        bytes
    }

    /// The bytes of D of a run that is without findings.
    fn run(&self, a: &[u8], b: &[u8], c: &[u8]) -> Vec<u8> {
        let text = format!("{HEAD}{}", self.kernel("k"));
        let ran = run(&text, 32, &[a, b, c, &vec![0; self.bytes(3)]]);
        assert_eq!(ran.findings, [], "{self:?} {text}");
        ran.memory[3].clone()
    }
}

const HEAD: &str = ".version 8.3\n.target sm_80\n.address_size 64\n";

struct Ran {
    findings: Vec<Finding>,
    report: Report,
    memory: Vec<Vec<u8>>,
}

/// Runs a kernel `k` of one block on memory that is aligned to 256 bytes.
fn run(text: &str, threads: u32, memory: &[&[u8]]) -> Ran {
    let mut session = Session::new(text, Config::default()).unwrap();
    let pointers: Vec<_> = memory
        .iter()
        .map(|bytes| session.allocate("T", Memory::holding(bytes)).unwrap())
        .collect();
    let arguments: Vec<_> = pointers.iter().map(|&pointer| pointer.into()).collect();
    session
        .launch("k", Grid::new(1, threads), &arguments)
        .unwrap();
    Ran {
        findings: session.findings(),
        report: session.report().clone(),
        memory: pointers
            .iter()
            .map(|&pointer| session.read(pointer))
            .collect(),
    }
}

/// Every shape with the types that it has: D, A, B and C.
fn shapes_and_types() -> Vec<(&'static str, [&'static str; 4])> {
    let mut all = vec![
        ("m16n16k8", ["f32", "tf32", "tf32", "f32"]),
        ("m8n8k4", ["f64"; 4]),
    ];
    for shape in ["m16n16k16", "m8n32k16", "m32n8k16"] {
        for d in ["f16", "f32"] {
            for c in ["f16", "f32"] {
                all.push((shape, [d, "f16", "f16", c]));
            }
        }
        all.push((shape, ["f32", "bf16", "bf16", "f32"]));
        all.push((shape, ["s32", "s8", "s8", "s32"]));
        all.push((shape, ["s32", "u8", "u8", "s32"]));
    }
    all
}

/// Products of elements of less than a byte: D, A, B and C, and the operation.
fn narrow() -> Vec<(&'static str, [&'static str; 4], &'static str)> {
    vec![
        ("m8n8k32", ["s32", "s4", "s4", "s32"], ""),
        ("m8n8k32", ["s32", "u4", "u4", "s32"], ""),
        ("m8n8k128", ["s32", "b1", "b1", "s32"], ".xor.popc"),
        ("m8n8k128", ["s32", "b1", "b1", "s32"], ".and.popc"),
    ]
}

/// Every shape, type and layout, each in one of the spaces, with a gap between lines or none.
fn cases() -> Vec<Case> {
    let ways = ["row", "col"];
    let mut cases = Vec::new();
    let mut push = |shape, types, op, layouts| {
        let number = cases.len();
        cases.push(Case {
            gap: [None, Some(16), Some(32), None, Some(0), Some(48), None][number % 7],
            space: SPACES[number % SPACES.len()],
            op,
            ..Case::new(shape, types, layouts)
        });
    };
    for (shape, types) in shapes_and_types() {
        for index in 0..16usize {
            let layouts = [0, 1, 2, 3].map(|operand| ways[index >> operand & 1]);
            push(shape, types, "", layouts);
        }
    }
    for (shape, types, op) in narrow() {
        // Each with several gaps and spaces.
        for index in 0..16usize {
            let [of_c, of_d] = [ways[index & 1], ways[index >> 1 & 1]];
            push(shape, types, op, ["row", "col", of_c, of_d]);
        }
    }
    cases
}

/// Numbers that every type holds, and whose sums of products every type of a sum holds.
fn small(seed: usize) -> impl Fn(usize, usize) -> i64 {
    move |row, column| (((row * 37 + column * 11 + seed * 5) * 2_654_435_761) >> 7 & 7) as i64
}

#[test]
fn every_shape_type_and_layout_is_the_right_product() {
    let cases = cases();
    assert_eq!(cases.len(), (23 + 4) * 16);
    for case in cases {
        // Signed where the type is.
        let (shift, most) = match case.types[1] {
            "b1" => (0, 1),
            "u4" | "u8" => (0, 7),
            _ => (4, 7),
        };
        let (first, second, third) = (small(1), small(2), small(3));
        let a = |row, column| (first(row, column) & most) - shift;
        let b = |row, column| (second(row, column) & most) - shift;
        let times = |a: i64, b: i64| match case.op {
            ".xor.popc" => a ^ b,
            ".and.popc" => a & b,
            _ => a * b,
        };
        let c = |row, column| third(row, column) - 3;
        let [_, _, k] = case.extents();
        let found = case.run(&case.matrix(0, a), &case.matrix(1, b), &case.matrix(2, c));
        let sum = |row, column| -> i64 {
            let products = (0..k).map(|at| times(a(row, at), b(at, column)));
            c(row, column) + products.sum::<i64>()
        };
        assert!(found == case.matrix(3, sum), "{case:?}");
    }
}

#[test]
fn sums_of_integers_wrap_or_become_the_nearest() {
    let [most, least] = [i64::from(i32::MAX), i64::from(i32::MIN)];
    for (behind, above, below) in [("", least + 15, most - 15), (".satfinite", most, least)] {
        let mut case = Case::new(
            "m16n16k16",
            ["s32", "s8", "s8", "s32"],
            ["row", "col", "row", "row"],
        );
        case.options = ["", behind];
        // The upper rows go beyond the largest number, the lower ones beyond the smallest.
        let sign = |row: usize| if row < 8 { 1 } else { -1 };
        let a = case.matrix(0, |row, _| sign(row));
        let b = case.matrix(1, |_, _| 1);
        let c = case.matrix(2, |row, _| if row < 8 { most } else { least });
        let expected = case.matrix(3, |row, _| if row < 8 { above } else { below });
        assert_eq!(case.run(&a, &b, &c), expected, "{behind}");
    }
}

#[test]
fn products_of_doubles_round_as_they_say() {
    let tiny = 2f64.powi(-60);
    let [below, above] = [1.0 - 2f64.powi(-53), 1.0 + 2f64.powi(-52)];
    // Before the types, as the ISA has it, or behind them, as nvcc prints it.
    for (options, expected) in [
        (["", ""], [1.0, 1.0]),
        ([".rn", ""], [1.0, 1.0]),
        ([".rz", ""], [1.0, below]),
        ([".rm", ""], [1.0, below]),
        ([".rp", ""], [above, 1.0]),
        (["", ".rp"], [above, 1.0]),
    ] {
        let case = Case {
            options,
            ..Case::new("m8n8k4", ["f64"; 4], ["row", "col", "row", "row"])
        };
        let mut a = case.matrix(0, |_, _| 0);
        for (row, value) in [tiny, -tiny].into_iter().enumerate() {
            a[case.place(0, row, 2)..][..8].copy_from_slice(&value.to_le_bytes());
        }
        let (b, c) = (case.matrix(1, |_, _| 1), case.matrix(2, |_, _| 1));
        let d = case.run(&a, &b, &c);
        for (row, expected) in expected.into_iter().enumerate() {
            let found = &d[case.place(3, row, 5)..][..8];
            assert_eq!(found, expected.to_le_bytes(), "{options:?} {row}");
        }
    }
}

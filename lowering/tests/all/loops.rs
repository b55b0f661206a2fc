//! The main loop of a product of open sizes has no arithmetic that the one of known sizes has not, but for what its rows and predicates need.

use cute_lowering::{CompileOptions, Compiler, Options};
use std::collections::BTreeMap;

/// The PTX of one kernel.
fn ptx(name: &str, text: &str, options: &str) -> String {
    let options = CompileOptions::parse(options).unwrap();
    let compiled = Compiler::new(&options).unwrap().compile_text(name, text);
    let package = compiled.unwrap().package;
    let image = &package.manifest().images[0];
    String::from_utf8(package.blob(image.ptx.as_ref().unwrap()).to_vec()).unwrap()
}

/// Instructions of a kernel in their order, without predicates, and its loops, each from a label to the branch back to it.
fn loops_of(ptx: &str) -> (Vec<&str>, Vec<(usize, usize)>) {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ops: Vec<&str> = Vec::new();
    let mut loops = Vec::new();
    for line in ptx.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, ops.len());
            continue;
        }
        let op = match line.strip_prefix('@') {
            Some(guarded) => guarded
                .split_once([' ', '\t'])
                .map_or("", |(_, op)| op.trim()),
            None => line,
        };
        let is_op = op.ends_with(';') && op.starts_with(|c: char| c.is_ascii_lowercase());
        if !is_op {
            continue;
        }
        let target = op
            .trim_end_matches(';')
            .split_whitespace()
            .last()
            .unwrap_or("");
        if op.starts_with("bra")
            && let Some(&start) = labels.get(target)
        {
            loops.push((start, ops.len()));
        }
        ops.push(op);
    }
    (ops, loops)
}

/// Counts of what is dear in addresses, and of what is not.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    products: usize,
    products_of_variables: usize,
    divisions: usize,
    extensions: usize,
    wide_comparisons: usize,
    address_sums: usize,
    copies: usize,
}

fn counts(ops: &[&str]) -> Counts {
    let count = |is: &dyn Fn(&str) -> bool| {
        let names = ops.iter().filter_map(|op| op.split_whitespace().next());
        names.filter(|name| is(name)).count()
    };
    let integer = |name: &str| !["f16", "f32", "f64"].iter().any(|ty| name.contains(ty));
    let of_variables = |op: &&&str| {
        let is_product = integer(op) && (op.starts_with("mul.") || op.starts_with("mad."));
        let mut operands = op.split(',').skip(1).take(2);
        is_product && operands.all(|operand| operand.trim_start().starts_with('%'))
    };
    Counts {
        products_of_variables: ops.iter().filter(of_variables).count(),
        products: count(&|name| {
            integer(name) && (name.starts_with("mul.") || name.starts_with("mad."))
        }),
        divisions: count(&|name| {
            integer(name) && (name.starts_with("div.") || name.starts_with("rem."))
        }),
        extensions: count(&|name| name.starts_with("cvt.s64.") || name.starts_with("cvt.u64.")),
        wide_comparisons: count(&|name| name.starts_with("setp.") && name.contains("64")),
        address_sums: count(&|name| name == "add.s64"),
        copies: count(&|name| name.starts_with("cp.async.c")),
    }
}

/// The main loop, which has the most products of the tensor core, or is the longest of those without a loop in them: its counts, and the number
/// of instructions before it.
fn main_loop(ptx: &str) -> (Counts, usize) {
    let (ops, loops) = loops_of(ptx);
    let inner = loops.iter().filter(|(start, end)| {
        let mut others = loops.iter();
        !others.any(|(a, b)| (a, b) != (start, end) && start <= a && b <= end)
    });
    let copies = |&&(start, end): &&(usize, usize)| {
        let all = ops[start..=end].iter();
        (
            all.filter(|op| op.starts_with("cp.async.c")).count(),
            end - start,
        )
    };
    let &(start, end) = inner.max_by_key(copies).expect("a loop");
    for &(start, end) in &loops {
        let all = counts(&ops[start..=end]);
        assert_eq!(
            all.divisions,
            0,
            "a division in a loop: {:?}",
            &ops[start..=end]
        );
    }
    (counts(&ops[start..=end]), start)
}

/// Compares the loop of open sizes with that of known ones.
fn compare(name: &str, known: &str, open: &str) -> (usize, usize) {
    let ((known, known_before), (open, open_before)) = (main_loop(known), main_loop(open));
    assert!(
        known.copies > 0 && open.copies == known.copies,
        "{name}: {known:?} {open:?}"
    );
    // One by the bytes of a turn may be made anew, which is one instruction, where carrying two pointers of 64 bits on would be four.
    assert!(
        open.products <= known.products + 1,
        "{name}: {known:?} {open:?}"
    );
    assert_eq!(
        open.products_of_variables, known.products_of_variables,
        "{name}"
    );
    assert!(
        open.extensions <= known.extensions,
        "{name}: {known:?} {open:?}"
    );
    assert!(
        open.wide_comparisons <= known.wide_comparisons,
        "{name}: {known:?} {open:?}"
    );
    // One addition for each row that is copied, and one for each of both operands.
    let rows = known.copies + 2;
    assert!(
        open.address_sums <= known.address_sums + rows,
        "{name}: {known:?} {open:?}"
    );
    (known_before, open_before)
}

fn example(name: &str) -> String {
    let path = format!(
        "{}/../examples/kernels/{name}.mlir",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_loop_of_open_sizes_by_hand_is_that_of_known_ones() {
    let of = |name| ptx(name, &example(name), "arch=sm_80");
    let (known, open) = compare("sgemm", &of("sgemm_sm80"), &of("sgemm_sm80_dynamic"));
    assert!(
        10 * open <= 13 * known,
        "{open} instructions before the loop, {known} where sizes are known"
    );
}

#[test]
fn the_loop_of_open_products_is_that_of_known_ones() {
    let tensor = |is_open: bool, by_rows: bool| {
        let layout = match (is_open, by_rows) {
            (false, true) => "(4096,4096):(4096,1)",
            (false, false) => "(4096,4096):(1,4096)",
            (true, true) => "(?{div=8},?{div=8}):(?{div=8},1)",
            (true, false) => "(?{div=8},?{div=8}):(1,?{div=8})",
        };
        format!("!cute.memref<f16, gmem, align<16>, \"{layout}\">")
    };
    for (a, b) in [(true, true), (false, true), (true, false), (false, false)] {
        let of = |is_open| {
            let [a, b, c] = [a, b, true].map(|by_rows| tensor(is_open, by_rows));
            let text = format!(
                "func.func @gemm(%A: {a}, %B: {b}, %C: {c}) {{\n  \
                 cute.contract ins(%A, %B : {a}, {b}) outs(%C : {c}) accumulate f32\n  return\n}}\n"
            );
            ptx("gemm.mlir", &text, "arch=sm_80 tile=128x128x32 stages=3")
        };
        let name = format!("A by rows: {a}, B by rows: {b}");
        let of_open = of(true);
        let (known, open) = compare(&name, &of(false), &of_open);
        // Accumulators are zeroed once, since the loop has a turn.
        assert!(
            10 * open <= 16 * known,
            "{name}: {open} instructions before the loop, {known} where sizes are known"
        );
        // What a launch knows, it asserts.
        assert!(!of_open.contains("__assertfail"), "{name}");
    }
}

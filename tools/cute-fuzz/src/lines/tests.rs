use super::*;

#[test]
fn kernels_run_without_findings() {
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::new("lines", 1, folder.path());
    run(&On::emulator(), Kernels::All, 1, (0, 40), &mut tally).unwrap();
    assert!(
        tally.is_clean(),
        "{}",
        crate::finding::table(&[(tally, Default::default())])
    );
}

#[test]
fn every_instruction_of_the_table_occurs() {
    let all: String = (0..200)
        .map(|index| emit::kernel(3, index).text())
        .collect();
    for row in table::ROWS {
        let opcode = row.split(' ').next().unwrap();
        assert!(all.contains(opcode), "{opcode}");
    }
}

/// The instructions with most inputs come first, each with an example.
#[test]
fn causes_are_counted() {
    let mut causes = Causes::default();
    for (index, opcode) in [(3, "add.s32"), (4, "dp4a.s32.s32"), (7, "dp4a.s32.s32")] {
        let mut failed = failure(Kind::Wrong, "", "");
        failed.first = Some(Box::new(trace::Difference {
            opcode: opcode.into(),
            text: format!("{opcode} %r1, %r2, %r3"),
            thread: 9,
            before: 60,
            place: "%r1".into(),
            emulated: 5,
            found: 6,
            operands: vec![("%r2".into(), 10)],
            is_shared: false,
        }));
        causes.add(index, &failed);
    }
    let example =
        "leaves %r1 = 0x6 instead of 0x5; operands: %r2 = 0xa (thread 9, value 60 of its trace)";
    assert_eq!(
        causes.lines(),
        [
            format!(
                "dp4a.s32.s32 differs first, inputs: 2; in input 4, `dp4a.s32.s32 %r1, %r2, %r3` {example}"
            ),
            format!(
                "add.s32 differs first, inputs: 1; in input 3, `add.s32 %r1, %r2, %r3` {example}"
            ),
        ]
    );
}

/// Votes, matches, reductions and shuffles of fewer lanes than a warp has, in branches and in loops.
#[test]
fn parts_of_warps_work_together() {
    for name in ["vote.sync.", "match.any.sync.", "redux.sync.", "shfl.sync."] {
        let parts = Kernels::Divergent.numbers(0, 20).filter(|&index| {
            let text = emit::kernel(3, index).text();
            text.lines().any(|line| {
                line.starts_with(name) && line.contains(", %m") && !line.contains("%m0")
            })
        });
        assert!(parts.count() > 10, "{name}");
    }
}

#[test]
fn kernels_of_one_kind_keep_their_numbers() {
    let numbers = |kernels: Kernels| kernels.numbers(3, 3).collect::<Vec<_>>();
    assert_eq!(numbers(Kernels::All), [3, 4, 5]);
    assert_eq!(numbers(Kernels::Straight), [4, 6, 8]);
    assert_eq!(numbers(Kernels::Divergent), [3, 5, 7]);
}

/// The emulator, on the kernel of a number of seed 1.
fn emulator(index: u64) -> impl Fn(&str, Shape) -> Result<Vec<u32>, Failure> {
    move |text, shape| {
        let emulator = Emulator::new(Config {
            max_instructions: LIMIT,
            ..Config::default()
        });
        execute(&On::emulator(), (1, index), &emulator, text, shape, None)
    }
}

/// Runs kernels beside an executor that takes one instruction for another, until two differ; returns the instructions that
/// are blamed.
fn blamed(kernels: Kernels, right: &str, wrong: &str) -> Vec<String> {
    let (right, wrong) = (format!("{right} "), format!("{wrong} "));
    let mut blamed = Vec::new();
    for index in kernels.numbers(0, 200) {
        let program = emit::kernel(1, index);
        if !program.text().contains(&right) {
            continue;
        }
        let emulated = emulator(index);
        let faulty = |text: &str, shape: Shape| emulated(&text.replace(&right, &wrong), shape);
        let expected = emulated(&program.text(), Shape::Plain).unwrap();
        if let Err(failure) = agree(&program, (&emulated, &expected), ("the other", &faulty)) {
            let first = failure.first.as_ref().unwrap();
            assert_eq!(failure.signature, format!("the other, {}", first.opcode));
            assert!(first.text.contains(&right), "{first}");
            assert_ne!(first.emulated, first.found, "{first}");
            blamed.push(first.opcode.clone());
        }
        if blamed.len() == 2 {
            break;
        }
    }
    blamed
}

#[test]
fn a_wrong_instruction_is_blamed() {
    let wrong = [
        ("dp2a.hi.u32.s32", "dp2a.lo.u32.s32"),
        ("subc.u32", "sub.u32"),
        ("max.NaN.f16x2", "max.f16x2"),
        ("redux.sync.xor.b32", "redux.sync.and.b32"),
        ("red.shared.max.s32", "red.shared.min.s32"),
    ];
    for kernels in [Kernels::Straight, Kernels::Divergent] {
        for (right, wrong) in wrong {
            assert_eq!(blamed(kernels, right, wrong), [right; 2], "{kernels:?}");
        }
    }
}

/// A shuffle hands a wrong value to threads that do nothing wrong themselves, and they read it at the same place of their traces as the
/// thread that made it made it.
#[test]
fn the_thread_that_is_wrong_is_blamed() {
    let mut program = Program::default();
    program.plain("mov.u32 %a0, %tid.x;\nmov.u32 %a1, %ctaid.x;\nmad.lo.u32 %a1, %a1, 64, %a0;\nld.param.u64 %x1, [to];\ncvta.to.global.u64 %x1, %x1;");
    program.plain("setp.ne.u32 %q0, %a0, 5;\n@%q0 bra REST;");
    program.step("mov.u32 %r0, 1");
    program.step("bfe.u32 %r1, %r0, 0, 8");
    program.plain("bra END;\nREST:");
    program.step("mov.u32 %r1, 0");
    program.plain("END:");
    program.step("shfl.sync.idx.b32 %r2, %r1, 5, 31, -1");
    program.plain("mul.wide.u32 %x4, %a1, 4;\nadd.s64 %x4, %x1, %x4;");
    for slot in 0..words_out() / (THREADS * BLOCKS) as usize {
        program.plain(format!("st.global.b32 [%x4+{}], %r2;", 512 * slot));
    }
    let emulated = emulator(0);
    let faulty =
        |text: &str, shape: Shape| emulated(&text.replace("%r0, 0, 8", "%r0, 1, 8"), shape);
    let expected = emulated(&program.text(), Shape::Plain).unwrap();
    let other: (&str, &dyn Execute) = ("the other", &faulty);
    let failure = agree(&program, (&emulated, &expected), other).unwrap_err();
    let first = failure.first.unwrap();
    assert_eq!(first.text, "bfe.u32 %r1, %r0, 0, 8");
    assert_eq!(
        (
            first.thread % 64,
            &*first.place,
            first.emulated,
            first.found
        ),
        (5, "%r1", 1, 0)
    );
    assert_eq!(first.operands, [("%r0".to_string(), 1)]);
    assert_eq!(
        first.to_string(),
        "`bfe.u32 %r1, %r0, 0, 8` leaves %r1 = 0x0 instead of 0x1; operands: %r0 = 0x1 (thread 5, value 1 of its trace)"
    );
}

/// Asks ptxas, if `CUTE_PTXAS` names it, whether the texts are PTX.
#[test]
fn the_assembler_takes_them() {
    let Some(ptxas) = std::env::var_os("CUTE_PTXAS") else {
        eprintln!("not run: CUTE_PTXAS names no ptxas");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), Kernels::All, 5, (0, 12)).unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap().path();
        let done = std::process::Command::new(&ptxas)
            .args(["-arch=sm_80", "-o", "/dev/null"])
            .arg(&file)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}: {text}", file.display());
    }
}

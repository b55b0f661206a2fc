//! Launches of PTX without a package.

use crate::device::DeviceError;
use crate::emulator::{Argument, Config, Finding, Grid, Kind, Memory, Session};

/// The words that a kernel leaves in `out`, which has 64 of them, and what was found. The module's functions and variables stand
/// before the kernel, whose address of this thread's word is `%s1`.
pub(super) fn words(module: &str, body: &str) -> (Vec<u32>, Vec<Finding>) {
    let text = format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n{module}\n.visible .entry k(.param .u64 out) {{\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %s<32>; .reg .f32 %f<8>;\n\
         ld.param.u64 %s0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s0, %s1;\n{body}\nret; }}\n"
    );
    let mut session = Session::new(&text, Config::default()).unwrap();
    let out = session.allocate("out", Memory::uninitialized(256)).unwrap();
    session
        .launch("k", Grid::new(1, 64), &[out.into()])
        .unwrap();
    let bytes = session.read(out);
    let words = bytes.chunks_exact(4);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    (words.collect(), session.findings())
}

/// The error of a kernel that cannot be executed.
pub(super) fn refused(module: &str, body: &str) -> String {
    let text = format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n{module}\n.visible .entry k() {{\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %s<32>;\n{body}\nret; }}\n"
    );
    let mut session = Session::new(&text, Config::default()).unwrap();
    session
        .launch("k", Grid::new(1, 32), &[])
        .unwrap_err()
        .to_string()
}

const COUNT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 calls;\n\
    .visible .entry count(.param .u64 out, .param .align 4 .b8 by[8]) {\n\
    .reg .b32 %r<4>; .reg .b64 %s;\n\
    ld.param.u64 %s, [out]; ld.param.u32 %r0, [by+4]; ld.global.u32 %r1, [calls]; add.u32 %r1, %r1, %r0;\n\
    st.global.u32 [calls], %r1; st.global.u32 [%s], %r1; ret; }\n";

#[test]
fn variables_keep_what_launches_leave() {
    let mut session = Session::new(COUNT, Config::default()).unwrap();
    let out = session.allocate("out", Memory::uninitialized(8)).unwrap();
    assert_eq!(
        session.kernels().next().unwrap().params,
        [("out".into(), 8), ("by".into(), 8)]
    );
    let by = Argument::bytes(&[0, 0, 0, 0, 5, 0, 0, 0]);
    for expected in [5u32, 10] {
        session
            .launch("count", Grid::new(1, 1), &[out.into(), by.clone()])
            .unwrap();
        assert_eq!(session.read(out)[..4], expected.to_le_bytes());
    }
    assert_eq!(session.unwritten(out), Some((4, 4)));
    session
        .launch(
            "count",
            Grid::new(1, 1),
            &[out.offset(4).into(), by.clone()],
        )
        .unwrap();
    assert_eq!((session.unwritten(out), session.findings()), (None, vec![]));
    session
        .launch("count", Grid::new(1, 1), &[out.offset(8).into(), by])
        .unwrap();
    assert_eq!(session.findings()[0].kind, Kind::OutOfBounds);
    assert_eq!(session.report().launches.len(), 4);
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let mut session = Session::new(COUNT, Config::default()).unwrap();
    let out = session
        .allocate("out", Memory::holding(&[0; 4]).read_only())
        .unwrap();
    let by = Argument::bytes(&[0; 8]);
    let mut says = |kernel: &str, grid: Grid, arguments: &[Argument], expected: &str| {
        let error = session
            .launch(kernel, grid, arguments)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    };
    let both = [out.into(), by];
    says(
        "none",
        Grid::new(1, 1),
        &both,
        "the PTX has no kernel none; it has count",
    );
    says(
        "count",
        Grid::new(1, 1),
        &both[..1],
        "expected 2 arguments (out of 8 bytes, by of 8 bytes), found 1",
    );
    says(
        "count",
        Grid::new(1, 1),
        &[1u32.into(), both[1].clone()],
        "parameter out: expected 8 bytes, found 4",
    );
    says("count", Grid::new(1, 0), &both, "1 to 1024 threads");
    says("count", Grid::new(0, 1), &both, "a grid of 1");
    for (memory, expected) in [
        (Memory::holding(&[]).aligned(3), "a power of two"),
        (
            Memory::uninitialized((1 << 30) + 1),
            "at most 1073741824 bytes",
        ),
    ] {
        let error = session.allocate("more", memory).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(session.write(out.offset(1), &[1; 4]).is_err());
    // A write to what is only read is found, not refused.
    session.launch("count", Grid::new(1, 1), &both).unwrap();
    assert_eq!(session.findings()[0].kind, Kind::WriteToInput);
    let bad = Session::new("?", Config::default());
    assert!(matches!(bad, Err(DeviceError::Ptx { .. })));
    let arch = Some("mips".to_string());
    assert!(
        Session::new(
            COUNT,
            Config {
                arch,
                ..Config::default()
            }
        )
        .is_err()
    );
}

#[test]
fn nothing_is_launched_after_a_trap() {
    let text = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k() { trap; }\n";
    let mut session = Session::new(text, Config::default()).unwrap();
    assert_eq!(session.arch().to_string(), "sm_80");
    session.launch("k", Grid::new(1, 1), &[]).unwrap();
    assert_eq!(session.findings()[0].kind, Kind::Trap);
    assert!(!session.report().halted);
}

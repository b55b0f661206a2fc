//! Launches of PTX without a package.

use cute_runtime::device::DeviceError;
use cute_runtime::emulator::{
    Argument, Config, Exploration, Finding, Grid, Kind, Memory, Schedule, Session, perfetto,
};

/// The words that a kernel leaves in `out`, which has 64 of them, and what was found. The module's functions and variables stand
/// before the kernel, whose address of this thread's word is `%s1`.
pub(super) fn words(module: &str, body: &str) -> (Vec<u32>, Vec<Finding>) {
    let text = text(module, body);
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

/// The PTX that [`words`] executes.
pub(super) fn text(module: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n{module}\n.visible .entry k(.param .u64 out) {{\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %s<32>; .reg .f32 %f<8>;\n\
         ld.param.u64 %s0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s0, %s1;\n{body}\nret; }}\n"
    )
}

/// The error of a kernel that cannot be executed.
pub(super) fn refused(module: &str, body: &str) -> String {
    let text = format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n{module}\n.visible .entry k() {{\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %s<32>;\n{body}\nret; }}\n"
    );
    let ran = Session::new(&text, Config::default())
        .and_then(|mut session| session.launch("k", Grid::new(1, 32), &[]));
    ran.unwrap_err().to_string()
}

#[test]
fn cooperative_groups_have_shared_memory_of_their_own() {
    let module = ".shared .align 4 .u32 tile[64];";
    let body = "mov.u32 %r1, %reserved_smem_offset_1; mul.lo.u32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r2;\n\
        st.shared.u32 [%r3], 5; st.shared.u32 [%r4], %r0; ld.shared.u32 %r5, [%r3]; ld.shared.u32 %r6, [%r4];\n\
        add.u32 %r7, %r5, %r6; mov.u32 %r8, %reserved_smem_offset_end; add.u32 %r7, %r7, %r8;\n\
        mov.u32 %r9, %reserved_smem_offset_begin; add.u32 %r7, %r7, %r9; st.global.u32 [%s1], %r7;";
    let (found, findings) = words(module, body);
    assert_eq!(findings, []);
    assert_eq!(found, (1029..1093).collect::<Vec<u32>>());
    // 288 bytes, as the headers have it.
    let beyond = "mov.u32 %r1, %reserved_smem_offset_1; st.shared.u32 [%r1+288], %r0;";
    assert_eq!(words("", beyond).1[0].kind, Kind::OutOfBounds);
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
fn variables_lie_in_memory_that_is_allocated_for_them() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .global .u32 before = 1;\n.global .attribute(.managed) .u32 shared[2] = {7, 8};\n.global .u64 points = shared;\n\
        .visible .entry k(.param .u64 by) {\n.reg .b32 %r<4>; .reg .b64 %s<4>;\n\
        ld.param.u64 %s0, [by]; ld.global.u32 %r0, [shared+4]; ld.global.u32 %r1, [%s0]; add.u32 %r0, %r0, %r1;\n\
        ld.global.u32 %r1, [before]; add.u32 %r0, %r0, %r1; ld.global.u64 %s1, [points]; st.global.u32 [%s1+4], %r0; ret; }\n";
    let mut session = Session::empty(Config::default()).unwrap();
    session.keep_low_addresses();
    let module = session.add_module(text).unwrap();
    let memory = Memory::holding(&[0; 8]).aligned(4096).shared_with_host();
    let memory = session.allocate("the variable", memory).unwrap();
    let missing = session.place_variables(module, &[("other".into(), memory)]);
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .contains("found none of the name")
    );
    let small = memory.offset(4);
    session
        .place_variables(module, &[("shared".into(), small)])
        .unwrap_err();
    session
        .place_variables(module, &[("shared".into(), memory)])
        .unwrap();
    assert_eq!(session.variable(module, "shared"), Some((memory, 8)));
    assert_eq!(session.read(memory), [7, 0, 0, 0, 8, 0, 0, 0]);
    session
        .launch("k", Grid::new(1, 1), &[memory.into()])
        .unwrap();
    assert_eq!(session.read(memory), [7, 0, 0, 0, 16, 0, 0, 0]);
    assert_eq!(session.findings(), []);
    let late = session.place_variables(module, &[("before".into(), memory)]);
    assert!(
        late.unwrap_err()
            .to_string()
            .contains("expected a module without launches")
    );
    // All memory but that of variables goes, and these begin anew.
    let other = session.allocate("other", Memory::holding(&[1; 8])).unwrap();
    session.reset().unwrap();
    assert_eq!(session.extent(other), None);
    assert_eq!(session.read(memory), [7, 0, 0, 0, 8, 0, 0, 0]);
    session
        .launch("k", Grid::new(1, 1), &[memory.into()])
        .unwrap();
    assert_eq!(session.read(memory), [7, 0, 0, 0, 16, 0, 0, 0]);
    assert_eq!(session.findings(), []);
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
        (
            Memory::uninitialized(usize::MAX),
            "at most 1073741824 bytes",
        ),
        (Memory::uninitialized(1 << 50), "at most 1073741824 bytes"),
        (Memory::holding(&[]).aligned(3), "a power of two"),
        (
            Memory::uninitialized((1 << 30) + 1),
            "at most 1073741824 bytes",
        ),
    ] {
        let error = session.allocate("more", memory).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let extents = |blocks, threads| Grid {
        blocks,
        threads,
        ..Grid::new(1, 1)
    };
    for (grid, expected) in [
        (extents([1; 3], [1, 1, 65]), "a block of at most 64 along z"),
        (
            extents([1, 65536, 1], [1; 3]),
            "a grid of at most 65535 along y",
        ),
        (
            extents([1, 1, 65536], [1; 3]),
            "a grid of at most 65535 along z",
        ),
        (
            extents([1 << 31, 1, 1], [1; 3]),
            "at most 2147483647 along x",
        ),
        (Grid::new(1, 1025), "1 to 1024 threads"),
        (
            Grid::new(1, 1).with_shared(1 << 20),
            "bytes of shared memory in a block",
        ),
    ] {
        let error = session.launch("count", grid, &both).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
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
fn kernels_are_launched_with_the_block_that_they_require() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .entry k() .maxntid 128 .reqntid 32, 2 { ret; }\n.visible .entry m() .maxntid 64 { ret; }";
    let mut session = Session::new(text, Config::default()).unwrap();
    let grid = |threads| Grid {
        threads,
        ..Grid::new(1, 1)
    };
    for threads in [[64, 1, 1], [32, 1, 1], [2, 32, 1]] {
        let error = session.launch("k", grid(threads), &[]).unwrap_err();
        assert!(error.to_string().contains("(.reqntid)"), "{error}");
    }
    session.launch("k", grid([32, 2, 1]), &[]).unwrap();
    session.launch("m", grid([8, 8, 1]), &[]).unwrap();
    assert!(session.launch("m", grid([65, 1, 1]), &[]).is_err());
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

/// A module with a variable of one word, and a kernel that adds to it and writes it to memory.
fn adds(name: &str, start: u32) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 total = {start};\n\
         .visible .entry {name}(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %s<4>;\n\
         ld.param.u64 %s0, [out]; ld.global.u32 %r0, [total]; add.u32 %r0, %r0, 1; st.global.u32 [total], %r0;\n\
         st.global.u32 [%s0], %r0; ret; }}\n"
    )
}

#[test]
fn modules_have_variables_of_their_own_and_share_memory() {
    let mut session = Session::empty(Config::default()).unwrap();
    let first = session.add_module(&adds("one", 10)).unwrap();
    let second = session.add_module(&adds("two", 20)).unwrap();
    let out = session.allocate("out", Memory::uninitialized(4)).unwrap();
    let grid = Grid::new(1, 1);
    for (kernel, expected) in [("one", 11u32), ("two", 21), ("one", 12)] {
        session.launch(kernel, grid, &[out.into()]).unwrap();
        assert_eq!(session.read(out), expected.to_le_bytes(), "{kernel}");
    }
    let (total, bytes) = session.variable(first, "total").unwrap();
    assert_eq!(
        (session.read(total), bytes),
        (12u32.to_le_bytes().into(), 4)
    );
    session.write(total, &50u32.to_le_bytes()).unwrap();
    session
        .launch_of(first, "one", grid, &[out.into()])
        .unwrap();
    assert_eq!(session.read(out), 51u32.to_le_bytes());
    assert_eq!(session.variable(second, "none"), None);
    // A kernel may use a variable of another module by its address.
    let (other, _) = session.variable(second, "total").unwrap();
    session.launch("one", grid, &[other.into()]).unwrap();
    assert_eq!(session.read(other), 52u32.to_le_bytes());
    assert_eq!(session.kernels().count(), 2);
    assert_eq!(session.kernels_of(second)[0].name, "two");
    assert_eq!(session.findings(), vec![]);
}

#[test]
fn memory_that_was_freed_is_no_memory() {
    let mut session = Session::new(COUNT, Config::default()).unwrap();
    let out = session.allocate("out", Memory::uninitialized(8)).unwrap();
    session.free(out).unwrap();
    let grid = Grid::new(1, 1);
    session
        .launch("count", grid, &[out.into(), Argument::bytes(&[0; 8])])
        .unwrap();
    let found = &session.findings()[0];
    assert_eq!(found.kind, Kind::OutOfBounds);
    assert!(
        found.message.contains("that the program has freed"),
        "{found}"
    );
    assert_eq!(
        found.address.as_deref(),
        Some("byte 0 of out, which was freed")
    );
    for error in [
        session.free(out).unwrap_err(),
        session.write(out, &[0]).unwrap_err(),
        session.read_to(out, &mut [0]).unwrap_err(),
    ] {
        assert!(error.to_string().contains("freed"), "{error}");
    }
    assert_eq!(session.extent(out), None);
}

#[test]
fn ranges_are_copied_with_what_is_not_written() {
    let mut session = Session::new(COUNT, Config::default()).unwrap();
    let from = session.allocate("from", Memory::uninitialized(16)).unwrap();
    let to = session.allocate("to", Memory::holding(&[9; 16])).unwrap();
    session.write(from.offset(3), &[1, 2, 3, 4, 5, 6]).unwrap();
    session.copy(to.offset(1), from.offset(2), 8).unwrap();
    let mut bytes = [0; 10];
    session.read_to(to, &mut bytes).unwrap();
    assert_eq!((bytes[0], bytes[9]), (9, 9));
    assert_eq!(bytes[2..8], [1, 2, 3, 4, 5, 6]);
    // Memory that held something counts as written, whatever is copied to it.
    assert_eq!(session.unwritten(to), None);
    let other = session
        .allocate("other", Memory::uninitialized(16))
        .unwrap();
    session.write(other, &[0; 16]).unwrap();
    session.copy(other.offset(1), from.offset(2), 8).unwrap();
    assert_eq!(session.unwritten(other), Some((2, 1)));
    for error in [
        session.copy(to, from, 17).unwrap_err(),
        session.copy(to.offset(10), from, 8).unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("bytes inside of its 16"),
            "{error}"
        );
    }
}

#[test]
fn memory_that_the_host_has_too_lies_where_it_can_have_it() {
    let mut session = Session::new(COUNT, Config::default()).unwrap();
    let shared = || Memory::holding(&[0; 8]).aligned(4096).shared_with_host();
    let error = session.allocate("early", shared()).unwrap_err();
    assert!(error.to_string().contains("none kept for them"), "{error}");
    session.keep_low_addresses();
    let low = session.allocate("low", shared()).unwrap();
    let high = session.allocate("high", Memory::holding(&[0; 8])).unwrap();
    assert!(low.address() < 1 << 47 && low.address().is_multiple_of(4096));
    assert!(high.address() >= 1 << 47);
    session
        .launch(
            "count",
            Grid::new(1, 1),
            &[low.into(), Argument::bytes(&[7; 8])],
        )
        .unwrap();
    assert!(session.touched(low) && !session.touched(high));
    // Other addresses below are the host's.
    let host = low.offset(1 << 40);
    session
        .launch(
            "count",
            Grid::new(1, 1),
            &[host.into(), Argument::bytes(&[7; 8])],
        )
        .unwrap();
    let found = &session.findings()[0];
    assert!(
        found
            .message
            .contains("memory of the host, which kernels do not have"),
        "{found}"
    );
}

#[test]
fn kernels_have_the_shared_memory_that_they_name() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
         .shared .align 4 .b8 first[40000];\n.shared .align 4 .b8 second[45056];\n.extern .shared .align 16 .b8 rest[];\n\
         .func reads() { .reg .b32 %r; ld.shared.b32 %r, [second+4]; ret; }\n\
         .visible .entry one() { .reg .b32 %r; mov.b32 %r, first; ret; }\n\
         .visible .entry two() { call.uni reads; ret; }\n\
         .visible .entry both() { .reg .b32 %r; { mov.b32 %r, 0; st.shared.v2.b32 [first], {%r, %r}; } call.uni reads; ret; }\n\
         .visible .entry none() { ret; }\n";
    let mut session = Session::empty(Config::default()).unwrap();
    let module = session.add_module(text).unwrap();
    let mut shared = |kernel| session.facts(module, kernel).unwrap().shared;
    assert_eq!(
        ["one", "two", "both", "none"].map(&mut shared),
        [40_000, 45_056, 85_056, 0]
    );
}

#[test]
fn the_threads_of_a_warp_have_a_name() {
    let body = "mov.u32 %r1, WARP_SZ; shl.b32 %r2, WARP_SZ, 3; add.u32 %r1, %r1, %r2; st.global.u32 [%s1], %r1;";
    let (words, findings) = words("", body);
    assert_eq!((words[0], findings), (32 + 256, vec![]));
}

/// Warp 0 sets a flag and takes it back; warp 1 traps if it sees the flag.
const PEEK: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry peek(.param .u64 flag) {\n\
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %s;\n\
    ld.param.u64 %s, [flag]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; setp.ne.u32 %p0, %r1, 0; @%p0 ret;\n\
    setp.ne.u32 %p1, %r0, 0; @%p1 bra $other;\n\
    red.global.or.b32 [%s], 1;\nred.global.and.b32 [%s], 0; ret;\n\
    $other: ld.relaxed.gpu.global.b32 %r2, [%s]; setp.eq.u32 %p2, %r2, 1; @%p2 trap; ret; }\n";

/// The findings and the choices of PEEK by an order.
fn peek(schedule: Schedule) -> (Vec<Finding>, Vec<u8>) {
    let config = Config {
        schedule: Some(schedule),
        ..Config::default()
    };
    let mut session = Session::new(PEEK, config).unwrap();
    let flag = session.allocate("flag", Memory::holding(&[0; 4])).unwrap();
    let grid = Grid::new(1, 64);
    session.launch("peek", grid, &[flag.into()]).unwrap();
    (session.findings(), session.choices())
}

#[test]
fn an_exploration_finds_the_order_that_shows_a_mistake() {
    let mut exploration = Exploration::new(1, 100);
    let mut shown = Vec::new();
    let mut orders = 0;
    while let Some(schedule) = exploration.next() {
        let (findings, choices) = peek(schedule.clone());
        orders += 1;
        if findings.iter().any(|finding| finding.kind == Kind::Trap) {
            shown.push(schedule.clone());
        }
        exploration.ran(schedule, choices);
    }
    // Without a preemption warp 0 is done before warp 1 begins, and the one place where warp 1 sees the flag is between its two.
    assert_eq!(orders, 3);
    assert_eq!(exploration.left_out(), 0);
    let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["1:0"]);
    // The order is the same whenever it is run.
    let again = peek("1:0".parse().unwrap());
    assert_eq!(again, peek("1:0".parse().unwrap()));
    assert_eq!(again.0[0].kind, Kind::Trap);
}

#[test]
fn orders_go_from_block_to_block() {
    // The same with two blocks of one thread each, the second of which looks.
    let text = PEEK.replace("%tid.x", "%ctaid.x");
    let mut exploration = Exploration::new(1, 100);
    let mut traps = 0;
    while let Some(schedule) = exploration.next() {
        let config = Config {
            schedule: Some(schedule.clone()),
            ..Config::default()
        };
        let text = text.replace("and.b32 %r1, %r0, 31;", "mov.b32 %r1, 0;");
        let mut session = Session::new(&text, config).unwrap();
        let flag = session.allocate("flag", Memory::holding(&[0; 4])).unwrap();
        let grid = Grid::new(2, 1);
        session.launch("peek", grid, &[flag.into()]).unwrap();
        traps += usize::from(!session.findings().is_empty());
        exploration.ran(schedule, session.choices());
    }
    assert_eq!(traps, 1);
}

#[test]
fn a_timeline_has_what_warps_do_and_what_they_wait_for() {
    let body = "setp.lt.u32 %p0, %r0, 32; @%p0 bra $there;\nbar.sync 0;\nbra $end;\n$there: mov.u32 %r1, 5;\nbar.sync 0;\n$end: st.global.u32 [%s1], %r0;";
    let text = text("", body);
    let config = Config {
        timeline: 2,
        ..Config::default()
    };
    let mut session = Session::new(&text, config).unwrap();
    let out = session.allocate("out", Memory::uninitialized(256)).unwrap();
    session
        .launch("k", Grid::new(3, 64), &[out.into()])
        .unwrap();
    let timelines = session.timelines();
    assert_eq!((timelines.len(), timelines[0].others), (1, 1));
    let launch = &session.report().launches[0];
    for (number, block) in timelines[0].blocks.iter().enumerate() {
        assert_eq!(block.block, [number as u32, 0, 0]);
        let run = block.stretches.iter().filter(|s| s.wait.is_none());
        let run: Vec<_> = run.collect();
        // Each instruction of the block is one of a stretch, and they follow each other.
        let executed: u64 = run.iter().map(|s| s.end - s.begin).sum();
        assert_eq!(executed, launch.warp_instructions / 3);
        assert!(run.windows(2).all(|pair| pair[0].end == pair[1].begin));
        let waits: Vec<_> = block
            .stretches
            .iter()
            .filter(|s| s.wait.is_some())
            .collect();
        assert_eq!(waits.len(), 1, "one of two warps comes first: {waits:?}");
        assert_eq!(waits[0].wait.as_deref(), Some("barrier 0"));
    }
    let trace = perfetto(timelines);
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!(named("waits for barrier 0"), 2);
    assert_eq!(named("thread_name"), 4);
    assert_eq!(trace["otherData"]["blocks not watched"], 1);
}

#[test]
fn scopes_of_blocks_and_of_clusters_are_told_apart() {
    // Two blocks of a cluster, or two clusters of one, change a word, each by its own scope.
    let kinds = |ours: &str, theirs: &str, cluster: u32| {
        let text = format!(
            ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 to) {{\n\
             .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %s;\nld.param.u64 %s, [to]; mov.u32 %r0, %ctaid.x; setp.eq.u32 %p, %r0, 0;\n\
             @%p red.relaxed.{ours}.global.add.u32 [%s], 1;\n@!%p red.relaxed.{theirs}.global.add.u32 [%s], 1;\nret; }}\n"
        );
        let mut session = Session::new(&text, Config::default()).unwrap();
        let to = session.allocate("to", Memory::holding(&[0; 4])).unwrap();
        let grid = Grid {
            cluster: [cluster, 1, 1],
            ..Grid::new(2, 1)
        };
        session.launch("k", grid, &[to.into()]).unwrap();
        let findings = session.findings();
        findings
            .iter()
            .map(|finding| finding.kind)
            .collect::<Vec<_>>()
    };
    for wide in ["cluster", "gpu", "sys"] {
        assert_eq!(kinds(wide, "cluster", 2), []);
        assert_eq!(kinds(wide, "gpu", 2), []);
        // The one holds the other's thread, which does not hold it.
        assert_eq!(kinds(wide, "cta", 2).len(), 1, "{wide}");
    }
    assert_eq!(kinds("cta", "cta", 2).len(), 1);
    assert_eq!(kinds("cluster", "cluster", 1).len(), 1);
    assert_eq!(kinds("gpu", "cluster", 1).len(), 1);
    assert_eq!(kinds("gpu", "sys", 1), []);
}

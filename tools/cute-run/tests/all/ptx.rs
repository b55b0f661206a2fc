//! `cute-run FILE.ptx`: launches by command line and by file, findings, comparisons, exit codes, and what is refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Doubles the first `n` words of `from` into `to`.
const TWICE: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 to, .param .u64 from, .param .u32 n) {
.reg .pred %p; .reg .b32 %r<5>; .reg .b64 %s<4>;
ld.param.u64 %s0, [to]; ld.param.u64 %s1, [from]; ld.param.u32 %r3, [n]; mov.u32 %r0, %tid.x; mov.u32 %r4, %ctaid.x;
mad.lo.u32 %r0, %r4, 64, %r0; setp.ge.u32 %p, %r0, %r3; @%p ret;
mul.wide.u32 %s2, %r0, 4; add.s64 %s1, %s1, %s2; ld.global.u32 %r1, [%s1];
add.u32 %r2, %r1, %r1; add.s64 %s0, %s0, %s2; st.global.u32 [%s0], %r2; ret; }
";

/// Takes a structure of a number and a pointer by value, and writes the one to the other.
const STRUCTURE: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .align 8 .b8 s[16]) {
.reg .b32 %r; .reg .b64 %s;
ld.param.u32 %r, [s]; ld.param.u64 %s, [s+8]; st.global.u32 [%s], %r; ret; }
";

/// Threads of two warps store to one word of shared memory and load the other one's, with what stands between.
fn exchange(between: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry exchange(.param .u64 to) {{\n\
         .shared .b32 w[64]; .reg .b32 %r<6>; .reg .b64 %s<3>;\n\
         mov.u32 %r0, %tid.x; mov.u32 %r1, w; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2;\n\
         st.shared.u32 [%r3], %r0;\n{between}\n\
         xor.b32 %r4, %r2, 128; add.u32 %r4, %r1, %r4; ld.shared.u32 %r5, [%r4];\n\
         ld.param.u64 %s0, [to]; mul.wide.u32 %s1, %r0, 4; add.s64 %s0, %s0, %s1; st.global.u32 [%s0], %r5; ret; }}\n"
    )
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn run(file: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cute-run"));
    command.arg(file).args(options).output().unwrap()
}

/// Exit code, and stdout and stderr together.
fn ran(file: &Path, options: &[&str]) -> (i32, String) {
    let output = run(file, options);
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8(text).unwrap(),
    )
}

const ARGS: [&str; 5] = [
    "--grid=4",
    "--block=64",
    "--arg=u32[256]",
    "--arg=u32[256]=iota",
    "--arg=u32=256",
];

#[test]
fn a_kernel_is_launched_by_the_command_line() {
    let folder = Folder::new();
    let file = folder.file("k.ptx", TWICE);
    let out = folder.path("out.npy");
    let output = format!("--output=arg0={}", out.display());
    let (code, text) = ran(&file, &[&ARGS[..], &[&output]].concat());
    assert_eq!(code, 0, "{text}");
    let bytes = std::fs::read(&out).unwrap();
    let elements: Vec<u8> = (0..256u32).flat_map(|x| (2 * x).to_le_bytes()).collect();
    assert!(bytes.ends_with(&elements));
    // What was written is what is expected of the next run.
    let expect = format!("--expect=arg0={}", out.display());
    let (code, text) = ran(&file, &[&ARGS[..], &[&expect]].concat());
    assert_eq!(
        (code, text.contains("256 elements as expected")),
        (0, true),
        "{text}"
    );
    let (code, text) = ran(&file, &[&ARGS[..], &["--expect=arg0=iota"]].concat());
    assert_eq!(code, 1);
    assert!(
        text.contains("arg0: 255 of 256 elements wrong; at [1]: expected 1, found 2"),
        "{text}"
    );
}

#[test]
fn launches_of_a_file_follow_each_other() {
    let folder = Folder::new();
    folder.file("k.ptx", TWICE);
    let toml = "[memory]\nx = \"u32[256]=iota\"\ny = { is = \"u32[256]\", whole = true, output = \"y.npy\" }\n\
                z = { is = \"u32[256]\", expect = \"{0, 4, 8, 12}\" }\n\
                [[launch]]\ngrid = 4\nblock = [64]\nargs = [\"&y\", \"&x\", \"u32=256\"]\n\
                [[launch]]\ngrid = 4\nblock = 64\nargs = [\"&z+0\", \"&y\", \"u32=4\"]\n";
    let file = folder.file(
        "k.toml",
        &toml.replace("z = { is = \"u32[256]\"", "z = { is = \"u32[4]\""),
    );
    for file in [file, folder.path("k.ptx")] {
        let (code, text) = ran(&file, &["--seeds=2"]);
        assert_eq!(code, 0, "{text}");
        assert!(
            text.contains("z: 4 elements as expected")
                && text.contains("2 launches on sm_80 with 2 seeds"),
            "{text}"
        );
    }
    assert!(folder.path("y.npy").exists());
    // A whole memory that is not whole.
    let file = folder.file(
        "half.toml",
        "ptx = \"k.ptx\"\n[memory]\ny = { is = \"u32[8]\", whole = true }\n\
                [[launch]]\ngrid = 1\nblock = 64\nargs = [\"&y\", \"u32[8]=1\", \"u32=4\"]\n",
    );
    let (code, text) = ran(&file, &[]);
    assert_eq!(code, 1);
    assert!(
        text.contains("y: 4 of 8 elements wrong; at [4]: expected a value"),
        "{text}"
    );
}

#[test]
fn structures_are_passed_by_value_with_their_padding() {
    let folder = Folder::new();
    let file = folder.file("k.ptx", STRUCTURE);
    let options = [
        "--block=1",
        "--memory=x=u32[4]=0",
        "--arg={u32=7, &x+8}",
        "--expect=x={0,0,7,0}",
    ];
    let (code, text) = ran(&file, &options);
    assert_eq!(code, 0, "{text}");
    let (code, text) = ran(
        &file,
        &["--block=1", "--memory=x=u32[4]=0", "--arg={u32=7}"],
    );
    assert_eq!(code, 2);
    assert!(
        text.contains("parameter s: expected 16 bytes, found 4 bytes"),
        "{text}"
    );
}

#[test]
fn exit_codes_tell_kinds_of_findings() {
    let folder = Folder::new();
    let race = folder.file("race.ptx", &exchange(""));
    let good = folder.file("good.ptx", &exchange("bar.sync 0;"));
    let stuck = folder.file(
        "stuck.ptx",
        &exchange("setp.lt.u32 %p, %r0, 7; @%p bar.sync 1, 64; bar.sync 0;")
            .replace(".reg .b64", ".reg .pred %p; .reg .b64"),
    );
    let trap = folder.file("trap.ptx", &exchange("bar.sync 0; trap;"));
    let undefined = folder.file(
        "undefined.ptx",
        &exchange("bar.sync 0; shfl.sync.idx.b32 %r4, %r0, 0, 31, 1;"),
    );
    let options = ["--block=64", "--arg=u32[64]"];
    for (file, expected) in [
        (&good, 0),
        (&race, 3),
        (&stuck, 5),
        (&undefined, 6),
        (&trap, 7),
    ] {
        let (code, text) = ran(file, &options);
        assert_eq!(code, expected, "{}: {text}", file.display());
    }
    let (code, text) = ran(&good, &["--block=64", "--arg=u32[32]"]);
    assert_eq!(code, 4, "{text}");
    // As JSON, and as SARIF.
    let sarif = folder.path("race.sarif");
    let option = format!("--sarif={}", sarif.display());
    let output = run(&race, &[&options[..], &["--json", &option]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&json["exit"], &json["findings"][0]["kind"]),
        (&3.into(), &"shared-race".into())
    );
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "shared-memory-race");
    let place = &result["locations"][0]["physicalLocation"];
    assert!(
        place["artifactLocation"]["uri"]
            .as_str()
            .unwrap()
            .ends_with("race.ptx")
    );
    assert!(place["region"]["startLine"].as_u64().unwrap() > 4);
}

#[test]
fn bad_command_lines_and_files_are_refused() {
    let folder = Folder::new();
    let file = folder.file("k.ptx", TWICE);
    let both = folder.file(
        "both.ptx",
        &(TWICE.to_owned() + STRUCTURE.split_once("64\n").unwrap().1),
    );
    let text = folder.file("bad.ptx", ".version 8.0\n.target sm_80\n???");
    let folder_of = |toml: &str| folder.file("bad.toml", toml);
    let refused = |file: &Path, options: &[&str], says: &str| {
        let (code, text) = ran(file, options);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(says), "{text}");
    };
    refused(&file, &["--bench"], "--bench is for packages");
    refused(&file, &["--device=cuda:0"], "expected --device=emulator");
    refused(&file, &["--grid=0"], "such as 8,8,2");
    refused(&file, &["--arg=u32"], "expected an argument, such as");
    refused(
        &file,
        &["--arg=u32=1"],
        "expected 3 arguments (to of 8 bytes",
    );
    refused(
        &file,
        &["--arg=&x", "--arg=&x", "--arg=u32=1"],
        "expected the name of memory",
    );
    refused(
        &file,
        &["--memory=u32[4]"],
        "--memory u32[4]: expected a name",
    );
    refused(
        &file,
        &["--memory=x=u32[4]", "--memory=x=u32[4]"],
        "found x twice",
    );
    refused(
        &file,
        &[&ARGS[..], &["--expect=arg0=zzz"]].concat(),
        "--expect arg0=zzz: expected a number",
    );
    refused(
        &file,
        &[&ARGS[..], &["--expect=arg0=0", "--tolerance=-1"]].concat(),
        "--tolerance -1: expected a tolerance",
    );
    refused(
        &file,
        &["--expect=y=0"],
        "--expect y: expected the name of memory",
    );
    refused(
        &file,
        &["--output=y=y.npy"],
        "--output y: expected the name of memory",
    );
    refused(&file, &["--arg=nowhere.npy"], "nowhere.npy");
    refused(
        &file,
        &["--memory=x=u32[2]={1}"],
        "expected 2 elements in the list, found 1",
    );
    refused(
        &file,
        &["--memory=x=u8[300]=iota"],
        "expected numbers of type u8, found 256",
    );
    refused(
        &file,
        &["--tolerance=x=1", "--memory=x=u32[2]"],
        "--tolerance x=1: expected a number for a PTX file, such as 1e-6",
    );
    refused(
        &file,
        &["--tolerance=1", "--tolerance=2"],
        "expected one --tolerance for a PTX file, found 2",
    );
    refused(
        &file,
        &["--tolerance=-1", "--memory=x=u32[2]"],
        "expected a tolerance",
    );
    refused(
        &file,
        &["--kernel=thrice"],
        "the PTX has no kernel thrice; it has twice",
    );
    refused(
        &both,
        &["--grid=1"],
        "expected the name of a kernel, as the file has twice, put",
    );
    refused(&text, &[], "PTX line 3, column 1: expected a directive");
    refused(&folder.path("none.ptx"), &[], "none.ptx");
    refused(&folder_of(""), &[], "expected at least one [[launch]]");
    refused(
        &folder_of("[[launch]]\ngrid = 1\n"),
        &[],
        "missing field `block`",
    );
    refused(
        &folder_of("[[launch]]\ngrid = 1\nblock = [1,1,1,1]\n"),
        &[],
        "one to three positive numbers for block",
    );
    refused(
        &folder_of("[[launch]]\ngrid = 1\nblock = 1\nargs = [\n\"u32=1\",\n\"u32=x\"]\n"),
        &[],
        "bad.toml:6: argument 1: expected a number",
    );
    refused(&folder_of("sizes = 1\n"), &[], "unknown field `sizes`");
    refused(
        &folder_of("[memory]\nx = \"u32\"\n[[launch]]\ngrid = 1\nblock = 1\n"),
        &[],
        "memory x: expected memory",
    );
    refused(
        &folder_of(
            "[memory]\nx = { is = \"u32[1]\", align = 3 }\n[[launch]]\ngrid = 1\nblock = 1\n",
        ),
        &[],
        "bad.ptx",
    );
    refused(
        &folder_of("[[launch]]\ngrid = 1\nblock = 1\n"),
        &["--grid=2"],
        "either from the file or from the command line",
    );
}

/// Warp 0 sets a flag and takes it back; warp 1 traps if it sees the flag.
const PEEK: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry peek(.param .u64 flag) {
.reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %s;
ld.param.u64 %s, [flag]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; setp.ne.u32 %p0, %r1, 0; @%p0 ret;
setp.ne.u32 %p1, %r0, 0; @%p1 bra $other;
red.global.or.b32 [%s], 1;
red.global.and.b32 [%s], 0; ret;
$other: ld.relaxed.gpu.global.b32 %r2, [%s]; setp.eq.u32 %p2, %r2, 1;
@%p2 trap;
ret; }
";

#[test]
fn orders_are_explored_and_run_again() {
    let folder = Folder::new();
    let file = folder.file("k.ptx", PEEK);
    let base = ["--block=64", "--arg=u32[1]=0"];
    let (code, text) = ran(&file, &[&base[..], &["--explore=1"]].concat());
    assert_eq!(code, 7, "{text}");
    for part in [
        "first seen with --schedule=1:0",
        "all 3 orders of warps and blocks with at most 1 preemption ran",
        "with 3 orders: 1 finding",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, _) = ran(&file, &[&base[..], &["--schedule=1:0"]].concat());
    assert_eq!(code, 7);
    let (code, text) = ran(&file, &[&base[..], &["--schedule=none"]].concat());
    assert_eq!(code, 0, "{text}");
    let (_, text) = ran(&file, &[&base[..], &["--explore=1,2"]].concat());
    assert!(
        text.contains("2 orders of warps and blocks ran, and 1 with at most 1 preemption did not"),
        "{text}"
    );
    // Bad options say what is good.
    for (option, part) in [
        ("--schedule=2:0,1:0", "in rising order"),
        ("--explore=9", "0 to 8 preemptions"),
    ] {
        let (code, text) = ran(&file, &[&base[..], &[option]].concat());
        assert_eq!((code, text.contains(part)), (2, true), "{text}");
    }
}

#[test]
fn a_timeline_is_one_of_trace_events() {
    let folder = Folder::new();
    let file = folder.file("k.ptx", &exchange("bar.sync 0;"));
    let trace = folder.path("trace.json");
    let option = format!("--timeline={}", trace.display());
    let base = ["--grid=9", "--block=64", "--arg=u32[64]", &option];
    let (_, text) = ran(&file, &base);
    assert!(
        text.contains("and not 1 others (--timeline-blocks)"),
        "{text}"
    );
    let text = std::fs::read_to_string(&trace).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(
        events
            .iter()
            .any(|event| event["name"] == "waits for barrier 0")
    );
    let last = folder.path("missing").join("trace.json");
    let option = format!("--timeline={}", last.display());
    let (code, text) = ran(&file, &["--block=64", "--arg=u32[64]", &option]);
    assert_eq!((code, text.contains("trace.json")), (2, true), "{text}");
}

//! Calls: recursion, pointers, what the system has.

use super::session::{refused, words};
use cute_runtime::emulator::{Config, Kind, Session};

/// n! by recursion; a local variable of each activation must keep its value.
const FACTORIAL: &str = ".func (.param .b32 out) factorial(.param .b32 n) {
.local .align 8 .b8 depot[8]; .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %s<3>;
mov.u64 %s0, depot; cvta.local.u64 %s1, %s0;
ld.param.u32 %r0, [n]; st.u32 [%s1+4], %r0; setp.gt.u32 %p, %r0, 1; @%p bra more;
mov.u32 %r1, 1; bra done;
more: sub.u32 %r2, %r0, 1;
{ .param .b32 param0; st.param.b32 [param0], %r2; .param .b32 result0;
call (result0), factorial, (param0); ld.param.b32 %r3, [result0]; }
ld.local.u32 %r4, [%s0+4]; mul.lo.u32 %r1, %r3, %r4;
done: st.param.b32 [out], %r1; ret; }";

fn call(function: &str, prototype: &str) -> String {
    format!(
        "{{ .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 result0;\n\
         {prototype}\ncall (result0), {function}, (param0){}; ld.param.b32 %r2, [result0]; }}",
        if prototype.is_empty() { "" } else { ", proto" }
    )
}

const PROTOTYPE: &str = "proto: .callprototype (.param .b32 _) _ (.param .b32 _);";

#[test]
fn functions_recur() {
    let call = call("factorial", "");
    let body = format!("and.b32 %r1, %r0, 7; {call} st.global.u32 [%s1], %r2;");
    let (found, findings) = words(FACTORIAL, &body);
    assert_eq!(findings, []);
    let factorial = |n: u32| (1..=n).product::<u32>();
    assert_eq!(found, (0..64).map(|t| factorial(t % 8)).collect::<Vec<_>>());
}

#[test]
fn recursion_without_an_end_is_found() {
    let module = ".func f(.param .b32 n) { .local .b32 x; .reg .b32 %r; ld.param.u32 %r, [n]; st.local.u32 [x], %r;\n\
        { .param .b32 p; st.param.b32 [p], %r; call f, (p); } ret; }";
    let body = "{ .param .b32 p; st.param.b32 [p], %r0; call f, (p); }";
    let (_, findings) = words(module, body);
    assert_eq!(findings[0].kind, Kind::OutOfBounds);
    assert!(
        findings[0].message.contains("overflows in a call of f"),
        "{}",
        findings[0]
    );
    // Without a frame, too.
    let module = ".func f() { call g; ret; }\n.func g() { call f; ret; }";
    let module = format!(".func f();\n.func g();\n{module}");
    let (_, findings) = words(&module, "call f;");
    assert_eq!(findings[0].kind, Kind::OutOfBounds);
}

#[test]
fn registers_that_nothing_names_are_no_rows() {
    let many = FACTORIAL.replace("%r<5>", "%r<65536>");
    let call = call("factorial", "");
    let body = format!("and.b32 %r1, %r0, 7; {call} st.global.u32 [%s1], %r2;");
    let [few, many] = [FACTORIAL, &many].map(|module| {
        let mut session = Session::empty(Config::default()).unwrap();
        let module = session
            .add_module(&super::session::text(module, &body))
            .unwrap();
        session.facts(module, "k").unwrap()
    });
    assert_eq!(many.registers, few.registers);
}

#[test]
fn registers_of_all_frames_have_a_limit() {
    // Each activation keeps a hundred registers.
    let sums: String = (1..100)
        .map(|i| format!("add.u32 %r{i}, %r{}, 1;\n", i - 1))
        .collect();
    let module = format!(
        ".func f(.param .b32 n) {{ .reg .b32 %r<100>; ld.param.u32 %r0, [n]; {sums}\n\
         {{ .param .b32 p; st.param.b32 [p], %r99; call f, (p); }} ret; }}"
    );
    let body = "{ .param .b32 p; st.param.b32 [p], %r0; call f, (p); }";
    let (_, findings) = words(&module, body);
    assert_eq!(findings[0].kind, Kind::OutOfBounds);
    assert!(
        findings[0]
            .message
            .contains("and 32768 registers for at most 1024 frames"),
        "{}",
        findings[0]
    );
}

const TWO: &str = ".func (.param .b32 out) more(.param .b32 n) { .reg .b32 %r; ld.param.u32 %r, [n]; add.u32 %r, %r, 1; st.param.b32 [out], %r; ret; }
.func (.param .b32 out) thrice(.param .b32 n) { .reg .b32 %r; ld.param.u32 %r, [n]; mul.lo.u32 %r, %r, 3; st.param.b32 [out], %r; ret; }
.global .align 8 .u64 table[2] = {more, thrice};
.global .align 8 .u64 place = {table+8};";

#[test]
fn functions_are_called_through_pointers() {
    let call = call("%s3", PROTOTYPE);
    let body = format!(
        "mov.u32 %r1, %r0; and.b32 %r3, %r0, 1; mul.wide.u32 %s2, %r3, 8; mov.u64 %s4, table; add.s64 %s4, %s4, %s2;\n\
         ld.global.u64 %s3, [%s4];\n{call}\nst.global.u32 [%s1], %r2;"
    );
    let (found, findings) = words(TWO, &body);
    assert_eq!(findings, []);
    let expected = |t: u32| if t.is_multiple_of(2) { t + 1 } else { 3 * t };
    assert_eq!(found, (0..64).map(expected).collect::<Vec<_>>());
    // A pointer that `mov` takes, and one by the address of a variable in another one.
    for pointer in [
        "mov.u64 %s3, thrice;",
        "ld.global.u64 %s3, [place]; ld.global.u64 %s3, [%s3];",
    ] {
        let body = format!("mov.u32 %r1, %r0; {pointer}\n{call}\nst.global.u32 [%s1], %r2;");
        let (found, findings) = words(TWO, &body);
        assert_eq!((found[5], findings), (15, vec![]));
    }
}

/// n! again, with what is passed in registers; it returns at two places.
const IN_REGISTERS: &str = ".func (.reg .b32 out, .reg .b64 twice) factorial(.reg .b32 n) {
.reg .pred %p; .reg .b32 %r<5>; .reg .b64 %s;
setp.gt.u32 %p, n, 1; mov.u32 out, 1; mov.u64 twice, 2; @!%p ret;
sub.u32 %r2, n, 1; call (%r3, _), factorial, (%r2);
mul.lo.u32 out, %r3, n; cvt.u64.u32 %s, out; shl.b64 twice, %s, 1; ret; }";

#[test]
fn functions_that_recur_take_registers() {
    let factorial = |n: u32| (1..=n).product::<u32>();
    let expected: Vec<u32> = (0..64).map(|t| 3 * factorial(t % 8)).collect();
    let sum = "cvt.u32.u64 %r3, %s3; add.u32 %r2, %r2, %r3; st.global.u32 [%s1], %r2;";
    let calls = [
        "call (%r2, %s3), factorial, (%r1);",
        "mov.u64 %s2, factorial; proto: .callprototype (.reg .b32 _, .reg .b64 _) _ (.reg .b32 _);\n\
         call (%r2, %s3), %s2, (%r1), proto;",
        "mov.u64 %s2, factorial; proto: .calltargets factorial; call (%r2, %s3), %s2, (%r1), proto;",
        // A call under a predicate, of half of the lanes.
        "mov.u32 %r2, 1; mov.u64 %s3, 2; setp.gt.u32 %p1, %r1, 3; @%p1 call (%r2, %s3), factorial, (%r1);\n\
         @!%p1 call (%r2, %s3), factorial, (%r1);",
    ];
    for call in calls {
        let body = format!("and.b32 %r1, %r0, 7; {{ {call} }} {sum}");
        assert_eq!(
            words(IN_REGISTERS, &body),
            (expected.clone(), vec![]),
            "{call}"
        );
    }
    // A result that is never written is told where it is used.
    let module = ".func (.reg .b32 out) f(.reg .b32 n) { ret; }";
    let body = "mov.u64 %s2, f; proto: .calltargets f; call (%r2), %s2, (%r0), proto; st.global.u32 [%s1], %r2;";
    let (_, findings) = words(module, body);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, Kind::UninitializedMemory);
    // Predicates and vectors are passed by no call.
    let module = ".func (.reg .pred out) f(.reg .b32 n) { ret; }";
    let error = refused(
        module,
        "mov.u64 %s2, f; proto: .calltargets f; call (%p1), %s2, (%r0), proto;",
    );
    assert!(
        error.contains("expected a register of 8 to 64 bits for parameter out"),
        "{error}"
    );
}

#[test]
fn pointers_to_no_function_are_found() {
    let call_proto = call("%s3", PROTOTYPE);
    for pointer in [
        "mov.u64 %s3, 0;",
        "mov.u64 %s3, table;",
        "mov.u64 %s3, thrice; add.s64 %s3, %s3, 4;",
    ] {
        let (_, findings) = words(TWO, &format!("mov.u32 %r1, %r0; {pointer}\n{call_proto}"));
        assert_eq!(findings[0].kind, Kind::Undefined, "{pointer}");
        assert!(
            findings[0]
                .message
                .contains("expected the address of a function")
        );
    }
    let wrong = call_proto
        .replace("_ (.param .b32 _)", "_ (.param .b64 _)")
        .replace(".param .b32 param0", ".param .b64 param0");
    let (_, findings) = words(
        TWO,
        &format!("mov.u32 %r1, %r0; mov.u64 %s3, more;\n{wrong}"),
    );
    assert!(
        findings[0]
            .message
            .contains("parameters and results of the call's sizes")
    );
}

#[test]
fn calls_stand_under_predicates() {
    for module in [
        FACTORIAL.to_owned(),
        FACTORIAL
            .replace("factorial(", "f(")
            .replace("factorial", "f"),
    ] {
        let name = if module.contains(" f(") {
            "f"
        } else {
            "factorial"
        };
        let body = format!(
            "mov.u32 %r1, 4; mov.u32 %r2, 7; setp.lt.u32 %p0, %r0, 5;\n{{ .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 result0;\n\
             st.param.b32 [result0], 9; @!%p0 call (result0), {name}, (param0); ld.param.b32 %r2, [result0]; }}\nst.global.u32 [%s1], %r2;"
        );
        let (found, findings) = words(&module, &body);
        assert_eq!(findings, []);
        assert_eq!((found[4], found[5]), (9, 24));
    }
}

#[test]
fn memory_is_allocated_by_threads() {
    let module =
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);";
    let allocate = |bytes: &str| {
        format!(
            "{{ .param .b64 param0; st.param.b64 [param0], {bytes}; .param .b64 result0; call (result0), malloc, (param0);\n\
             ld.param.b64 %s2, [result0]; }}"
        )
    };
    let free = "{ .param .b64 param0; st.param.b64 [param0], %s2; call free, (param0); }";
    let body = format!(
        "{}\nst.u32 [%s2+12], %r0; ld.u32 %r1, [%s2+12]; st.global.u32 [%s1], %r1; {free}",
        allocate("16")
    );
    let (found, findings) = words(module, &body);
    assert_eq!((found, findings), ((0..64).collect(), vec![]));
    // What nobody wrote, and more than there is.
    let (_, findings) = words(
        module,
        &format!(
            "{}\nld.u32 %r1, [%s2]; st.global.u32 [%s1], %r1;",
            allocate("16")
        ),
    );
    assert_eq!(findings[0].kind, Kind::UninitializedMemory);
    for bytes in ["1000000000", "-1"] {
        let body = format!(
            "{}\ncvt.u32.u64 %r1, %s2; st.global.u32 [%s1], %r1;",
            allocate(bytes)
        );
        assert_eq!(words(module, &body), (vec![0; 64], vec![]));
    }
}

#[test]
fn variables_that_cannot_be_had_are_refused_where_they_are_used() {
    let module = ".global .texref t;\n.global .u64 broken = {nothing};\n.global .u32 good = 7;";
    let (found, findings) = words(
        module,
        "ld.global.u32 %r1, [good]; st.global.u32 [%s1], %r1;",
    );
    assert_eq!((found[3], findings), (7, vec![]));
    let error = refused(module, "ld.global.u64 %s1, [broken];");
    assert!(error.contains("PTX line 9: broken: expected the address of a variable of the module or of a function, found nothing"), "{error}");
    let error = refused(module, "mov.u64 %s1, t;");
    assert!(
        error.contains("t: the emulator has no variables of type TexRef"),
        "{error}"
    );
}

#[test]
fn calls_that_cannot_be_made_are_refused() {
    let says = |module: &str, body: &str, expected: &str| {
        let error = refused(module, body);
        assert!(error.contains(expected), "{error}");
    };
    says(
        "",
        "call nothing;",
        "the emulator knows no function nothing",
    );
    says(
        "",
        "call %s1, ();",
        "expected a .callprototype or .calltargets",
    );
    says(
        "",
        "call %s1, (), proto;",
        "there is no .callprototype or .calltargets proto",
    );
    says(
        FACTORIAL,
        "call factorial;",
        "factorial takes 1 arguments and gives 1 results, found 0 and 0",
    );
    says(
        FACTORIAL,
        "{ .param .b32 a; proto: .callprototype _ (); call %s1, (a), proto; }",
        "proto takes 0 arguments",
    );
    // Functions in functions, in place: more instructions than anybody has.
    let mut module = String::from(".func f0() { .reg .b32 %r; add.u32 %r, %r, %r; ret; }\n");
    for depth in 1..40 {
        let inner = format!("call f{};", depth - 1).repeat(2);
        module += &format!(".func f{depth}() {{ {inner} ret; }}\n");
    }
    let (_, findings) = words(
        &module,
        "mov.u32 %r1, 0; setp.eq.u32 %p0, %r1, 0; @%p0 ret; call f39;",
    );
    assert_eq!(findings, []);
}

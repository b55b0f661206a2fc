//! Symbolic integers: what they print as, and what is decided.

use std::fmt::Write;

use cute_layout::symbolic::{Poly, Proof, Scope, Symbol};
use expect_test::{Expect, expect};

fn scope(facts: &str) -> Scope {
    match Scope::new().assume(facts) {
        Ok(scope) => scope,
        Err(e) => panic!("{facts}: {e}"),
    }
}

// Each text as it is printed, which is read back to the same value.
fn check(facts: &str, texts: &[&str], expected: Expect) {
    let scope = scope(facts);
    let mut out = String::new();
    for text in texts {
        match Poly::parse(text, &scope) {
            Ok(p) => {
                writeln!(out, "{text} = {p}").unwrap();
                assert_eq!(Poly::parse(&p.to_string(), &scope).as_ref(), Ok(&p));
            }
            Err(e) => writeln!(out, "{text}: {e}").unwrap(),
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn ring() {
    check(
        "",
        &[
            "M*N+1",
            "1+N*M",
            "(M+1)*(M-1)",
            "(M+N)^2 - (M-N)^2",
            "128-M",
            "-M",
            "M-M",
            "M*N/M",
            "(M*N+M)/M",
            "(M*M-N*N)/(M-N)",
            "(M*M-N*N)/(M+N)",
            "M/32",
            "M/0",
            "-9223372036854775808",
            "M - 9223372036854775808",
            "9223372036854775807*M + M",
            "3*",
        ],
        expect![[r#"
            M*N+1 = M*N+1
            1+N*M = M*N+1
            (M+1)*(M-1) = M^2-1
            (M+N)^2 - (M-N)^2 = 4*M*N
            128-M = 128-M
            -M = -M
            M-M = 0
            M*N/M = N
            (M*N+M)/M = N+1
            (M*M-N*N)/(M-N): at offset 0: `/` expected a divisor of known sign, found M-N; it needs `M-N >= 1`
            (M*M-N*N)/(M+N) = M-N
            M/32: at offset 0: expected 32 to divide M; it needs `M % 32 == 0`
            M/0: at offset 0: `/` expected a divisor other than 0, found 0 under M
            -9223372036854775808 = -9223372036854775808
            M - 9223372036854775808 = M-9223372036854775808
            9223372036854775807*M + M: at offset 0: `add` expected coefficients that fit a signed 64-bit integer, found an overflow
            3*: at offset 2: expected a symbolic integer, found the end
        "#]],
    );
}

#[test]
fn quotients() {
    let texts = [
        "M/32",
        "M/64*K",
        "M/128*128 - M",
        "M/256",
        "M%128",
        "M%32",
        "M%48",
        "ceil_div(M,32)",
        "ceil_div(M,256)",
        "ceil_div(N,32)",
        "floor_div(N,32)",
        "floor_div(N,2)",
        "ceil_div(N,2)",
        "N%2",
        "N%32",
        "4*N%32",
        "K*(N%32)",
        "N%64%32",
        "floor_div(N%64, 32)",
        "floor_div(floor_div(N,4),8)",
        "(N+32)%32",
        "(N-1)%32",
        "(N-K)%32",
        "mod(N-K,32)",
        "div(N-K,32)",
        "ceil_div(N,K)",
        "floor_div(N,K)",
        "N%K",
        "N%K+K*floor_div(N,K)",
        "ceil_div(M*N,M*K)",
        "N%(K-1)",
        "mod(-N,32)",
        "-N%32",
        "ceil_div(M,32)*N + 7",
    ];
    check(
        "M % 128 == 0",
        &texts,
        expect![[r#"
            M/32 = M/32
            M/64*K = K*M/64
            M/128*128 - M = 0
            M/256: at offset 0: expected 256 to divide M; it needs `M % 256 == 0`
            M%128 = 0
            M%32 = 0
            M%48 = 16*mod(-M/128,3)
            ceil_div(M,32) = M/32
            ceil_div(M,256) = ceil_div(M/128,2)
            ceil_div(N,32) = ceil_div(N,32)
            floor_div(N,32) = floor_div(N,32)
            floor_div(N,2) = floor_div(N,2)
            ceil_div(N,2) = ceil_div(N,2)
            N%2 = N%2
            N%32 = N%32
            4*N%32 = 4*(N%8)
            K*(N%32) = K*(N%32)
            N%64%32 = N%32
            floor_div(N%64, 32) = floor_div(N,32)-2*floor_div(N,64)
            floor_div(floor_div(N,4),8) = floor_div(N,32)
            (N+32)%32 = N%32
            (N-1)%32 = (N+31)%32
            (N-K)%32 = N-K+32*sign(K-N)*floor_div(abs(K-N),32)
            mod(N-K,32) = mod(N-K,32)
            div(N-K,32) = -sign(K-N)*floor_div(abs(K-N),32)
            ceil_div(N,K) = ceil_div(N,K)
            floor_div(N,K) = floor_div(N,K)
            N%K = N%K
            N%K+K*floor_div(N,K) = N
            ceil_div(M*N,M*K) = ceil_div(N,K)
            N%(K-1): at offset 0: `div` expected a divisor of known sign, found K-1; it needs `K-1 >= 1`
            mod(-N,32) = mod(-N,32)
            -N%32 = -N%32
            ceil_div(M,32)*N + 7 = M*N/32+7
        "#]],
    );
}

#[test]
fn pieces() {
    let texts = [
        "min(M,128)",
        "min(128,M)",
        "min(N,128)",
        "max(N,128)",
        "min(N,K)*M",
        "min(M*N,M*K)",
        "min(N,min(K,8))",
        "min(min(8,N),K)",
        "max(N,max(K,8))",
        "max(max(8,N),K)",
        "min(N,K)+max(N,K)",
        "abs(N-K)",
        "abs(K-N)",
        "3*abs(K-N)+2",
        "sign(N-K)",
        "sign(K-N)*sign(K-N)*sign(N-K)",
        "sign(N)",
        "abs(-N)",
        "min(N,1)",
        "max(N,1)",
        "max(min(N,16),4)",
        "min(ceil_div(N,32),4)",
        "min(N+5,K+5)",
        "N-min(N,K)",
    ];
    check(
        "M % 128 == 0",
        &texts,
        expect![[r#"
            min(M,128) = 128
            min(128,M) = 128
            min(N,128) = min(N,128)
            max(N,128) = max(N,128)
            min(N,K)*M = M*min(K,N)
            min(M*N,M*K) = M*min(K,N)
            min(N,min(K,8)) = min(K,N,8)
            min(min(8,N),K) = min(K,N,8)
            max(N,max(K,8)) = max(K,N,8)
            max(max(8,N),K) = max(K,N,8)
            min(N,K)+max(N,K) = K+N
            abs(N-K) = abs(K-N)
            abs(K-N) = abs(K-N)
            3*abs(K-N)+2 = 3*abs(K-N)+2
            sign(N-K) = -sign(K-N)
            sign(K-N)*sign(K-N)*sign(N-K) = -sign(K-N)
            sign(N) = 1
            abs(-N) = N
            min(N,1) = 1
            max(N,1) = N
            max(min(N,16),4) = min(N,16)+max(0,4-N)
            min(ceil_div(N,32),4) = min(ceil_div(N,32),4)
            min(N+5,K+5) = min(K,N)+5
            N-min(N,K) = max(0,N-K)
        "#]],
    );
}

#[test]
fn symbols_that_divide_symbols() {
    let texts = [
        "M/K",
        "M/(8*K)",
        "M/8",
        "M%K",
        "M*N/K",
        "M/K*K-M",
        "N/M",
        "ceil_div(M,K)",
        "ceil_div(M,16*K)",
        "M/K^2",
        "K/4*3",
        "min(M,K)",
        "ceil_div(L,K)",
        "L/2",
    ];
    check(
        "M % (8*K) == 0, K % 4 == 0, L % M == 0, 16 <= K <= 64",
        &texts,
        expect![[r#"
            M/K = M/K
            M/(8*K) = M/K/8
            M/8 = M/8
            M%K = 0
            M*N/K = M*N/K
            M/K*K-M = 0
            N/M: at offset 0: expected M to divide N; it needs `N % M == 0`
            ceil_div(M,K) = M/K
            ceil_div(M,16*K) = ceil_div(M/K/8,2)
            M/K^2: at offset 0: expected K^2 to divide M; it needs `M % (2*K^2) == 0`
            K/4*3 = 3*K/4
            min(M,K) = K
            ceil_div(L,K) = L/K
            L/2 = L/2
        "#]],
    );
}

#[test]
fn facts_that_are_refused() {
    let mut out = String::new();
    for text in [
        "M",
        "M %",
        "M % 0 == 0",
        "M % 128 == 1",
        "M*N % 128 == 0",
        "M <= N, N <= M",
        "M % K == 0, K % M == 0",
        "M % K == 0, M % N == 0",
        "M % K == 0, M % 6 == 0",
        "M <= 3, M >= 5",
        "M <= 0",
        "M % 128 == 0, M <= 100",
        "M*M <= 100",
        "M + N <= 100",
        "2*M <= N",
        "M >= 1 N >= 2",
        "1 <= 0",
        "M == 9223372036854775808",
        "K >= 0, M % K == 0",
    ] {
        match Scope::new().assume(text) {
            Ok(_) => writeln!(out, "{text}: taken").unwrap(),
            Err(e) => writeln!(out, "{text}: {e}").unwrap(),
        }
    }
    expect![[r#"
        M: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M`
        M %: at offset 3: expected a symbolic integer, found the end
        M % 0 == 0: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M % 0 == 0`
        M % 128 == 1: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M % 128 == 1`
        M*N % 128 == 0: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M*N % 128 == 0`
        M <= N, N <= M: at offset 0: expected facts that do not depend on each other in a circle, found one about M, N; leave one of them out
        M % K == 0, K % M == 0: at offset 0: expected facts that do not depend on each other in a circle, found one about K, M; leave one of them out
        M % K == 0, M % N == 0: at offset 12: expected one product of symbols that divides M, found K and N; say `M % (K*N) == 0` if that holds
        M % K == 0, M % 6 == 0: at offset 12: expected a divisor of M that holds all others, found 6 and K; say `M % (6*K) == 0` if that holds
        M <= 3, M >= 5: at offset 8: expected facts that some integer satisfies, found M >= 5, M <= 3; change the bounds or the divisor
        M <= 0: at offset 0: expected facts that some integer satisfies, found M >= 1, M <= 0; change the bounds or the divisor
        M % 128 == 0, M <= 100: at offset 14: expected facts that some integer satisfies, found M >= 1, M <= 100, M % 128 == 0; change the bounds or the divisor
        M*M <= 100: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M*M <= 100`
        M + N <= 100: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M + N <= 100`
        2*M <= N: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `2*M <= N`
        M >= 1 N >= 2: at offset 7: expected `,` and another fact, or the end, found `N`
        1 <= 0: at offset 0: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `1 <= 0`
        M == 9223372036854775808: at offset 5: expected an integer of 64 bits, found 9223372036854775808
        K >= 0, M % K == 0: at offset 8: expected facts that some integer satisfies, found M >= 1, M % K == 0; say that each symbol in a divisor is at least 1
    "#]].assert_eq(&out);
}

#[test]
fn comparisons() {
    let scope =
        scope("M % 128 == 0, 8 <= K <= 64, P <= Q, Q <= 4096, P + 2 < R, 0 <= Z, L % K == 0");
    let get = |t: &str| Poly::parse(t, &scope).unwrap();
    let mut out = String::new();
    for (a, b) in [
        ("M", "127"),
        ("M", "128"),
        ("M*N", "M"),
        ("N%K", "K"),
        ("N%32", "31"),
        ("floor_div(N%64,32)", "1"),
        ("min(N,128)", "N"),
        ("min(N,128)", "128"),
        ("1", "min(N,128)"),
        ("P", "Q"),
        ("P", "4096"),
        ("P*N", "Q*N"),
        ("P+3", "R"),
        ("Q", "R"),
        ("N*32", "M"),
        ("2*M+1", "2*N"),
        ("ceil_div(N,32)*32", "N"),
        ("N", "ceil_div(N,32)*32"),
        ("N+31", "ceil_div(N,32)*32"),
        ("N", "ceil_div(N,K)*K"),
        ("K", "L"),
        ("K*K", "4096"),
        ("abs(N-K)", "N+K"),
        ("sign(N-K)", "1"),
        ("Z", "Z*Z"),
        ("N%32", "N"),
    ] {
        let (p, q) = (get(a), get(b));
        let show = |p: Proof| match p {
            Proof::Proved => "yes",
            Proof::Refuted => "no",
            Proof::Unknown => "?",
        };
        writeln!(
            out,
            "{a}, {b}: eq {} lt {} le {} divides {}",
            show(p.prove_eq(&q)),
            show(p.prove_lt(&q)),
            show(p.prove_le(&q)),
            show(p.divides(&q))
        )
        .unwrap();
    }
    expect![[r#"
        M, 127: eq no lt no le no divides no
        M, 128: eq ? lt no le ? divides ?
        M*N, M: eq ? lt no le ? divides ?
        N%K, K: eq no lt yes le yes divides ?
        N%32, 31: eq ? lt ? le yes divides ?
        floor_div(N%64,32), 1: eq ? lt ? le yes divides ?
        min(N,128), N: eq ? lt ? le yes divides ?
        min(N,128), 128: eq ? lt ? le yes divides ?
        1, min(N,128): eq ? lt ? le yes divides yes
        P, Q: eq ? lt ? le yes divides ?
        P, 4096: eq ? lt ? le yes divides ?
        P*N, Q*N: eq ? lt ? le yes divides ?
        P+3, R: eq ? lt ? le yes divides ?
        Q, R: eq ? lt ? le ? divides ?
        N*32, M: eq ? lt ? le ? divides ?
        2*M+1, 2*N: eq no lt ? le ? divides ?
        ceil_div(N,32)*32, N: eq ? lt no le ? divides ?
        N, ceil_div(N,32)*32: eq ? lt ? le yes divides ?
        N+31, ceil_div(N,32)*32: eq ? lt no le ? divides ?
        N, ceil_div(N,K)*K: eq ? lt ? le yes divides ?
        K, L: eq ? lt ? le yes divides yes
        K*K, 4096: eq ? lt ? le yes divides ?
        abs(N-K), N+K: eq no lt yes le yes divides ?
        sign(N-K), 1: eq ? lt ? le yes divides ?
        Z, Z*Z: eq ? lt ? le ? divides ?
        N%32, N: eq ? lt ? le yes divides ?
    "#]]
    .assert_eq(&out);
}

#[test]
fn values() {
    let scope = scope("M % 128 == 0");
    let p = Poly::parse("ceil_div(M*N,100) + M/64", &scope).unwrap();
    let with = |m: i64, n: i64| p.eval(&|s: &Symbol| Some(if &*s.name == "M" { m } else { n }));
    assert_eq!(with(256, 3), Some(8 + 4));
    // Not a multiple of 128: the facts do not hold.
    assert_eq!(with(255, 3), None);
    assert_eq!(with(i64::MAX / 128 * 128, i64::MAX), None);
    let names: Vec<String> = p.symbols().iter().map(|s| s.name.to_string()).collect();
    assert_eq!(names, ["M", "N"]);
}

#[test]
fn too_large_is_an_error() {
    let scope = Scope::new();
    let sum = |n: usize| {
        (0..n)
            .map(|i| format!("x{i}"))
            .collect::<Vec<_>>()
            .join("+")
    };
    for text in [
        format!("({})*({})", sum(40), sum(40)),
        sum(300),
        format!("({})^20", sum(8)),
        "(".repeat(100) + "M" + &")".repeat(100),
        "M^65".to_string(),
        "-".repeat(100_000),
        (0..20).fold("M".to_string(), |t, i| {
            format!("floor_div({t}*N+{i},K+{i})")
        }),
        (0..20).fold("M".to_string(), |t, i| format!("min({t}*N,K*{t}+{i})")),
    ] {
        assert!(Poly::parse(&text, &scope).is_err());
    }
    // Many signs are one.
    assert!(Poly::parse(&("-".repeat(60_000) + "M"), &scope).is_ok());
}

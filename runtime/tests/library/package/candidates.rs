//! Candidates that a package holds for whoever measures.

use cute_runtime::package::*;
use cute_runtime::plan::{candidates, plan};
use cute_runtime::tensor::{Given, HostTensor, generate_given};

/// A copy of `n` numbers by one of two kernels, of which the first suits multiples of 8.
fn function() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: "(?):(1)".into(),
        align: 4,
        access,
    };
    let apply = |op, a: Expr, b: Expr| Expr::apply(op, vec![a, b]);
    let n = || Expr::Leaf(0, 0);
    let suits = apply(
        Op::Eq,
        apply(Op::Rem, n(), Expr::Constant(8)),
        Expr::Constant(0),
    );
    let time = Expr::apply(
        Op::Select,
        vec![suits, Expr::Constant(500), Expr::Constant(-1)],
    );
    let first = apply(Op::Le, Expr::Constant(0), Expr::Value(0));
    let first = Expr::apply(
        Op::Select,
        vec![first, Expr::Constant(0), Expr::Constant(3)],
    );
    let launch = |name: &str, number| Launch {
        when: Some(apply(Op::Eq, Expr::Value(2), Expr::Constant(number))),
        ..Launch::fixed(name, [1, 1, 1], [32, 1, 1], 0, [0, 1])
    };
    let candidate = |number, plan: &str, value| Candidate {
        number,
        plan: plan.into(),
        problem: "f32".into(),
        time: Expr::Value(value),
    };
    Function {
        values: vec![time, apply(Op::Mul, n(), Expr::Constant(10)), first],
        choices: vec![CandidateChoice {
            value: 2,
            generation: 1,
            extents: [n(), Expr::Constant(1), Expr::Constant(1), Expr::Constant(1)],
            candidates: vec![candidate(0, "wide", 0), candidate(3, "narrow", 1)],
        }],
        ..Function::new(
            "copy",
            vec![tensor("x", Access::Read), tensor("y", Access::Write)],
            vec![launch("wide", 0), launch("narrow", 3)],
        )
    }
}

fn tensors(n: i64) -> Vec<HostTensor> {
    let given = [Given::Shape(vec![n]), Given::Shape(vec![n])];
    generate_given(&function(), &given, 1).unwrap()
}

fn launched(function: &Function, n: i64) -> Vec<String> {
    let planned = plan(function, &tensors(n), 4).unwrap();
    planned.into_iter().map(|launch| launch.kernel).collect()
}

fn build(function: Function) -> Result<Package, PackageError> {
    Package::builder("test").function(function).build()
}

#[test]
fn the_first_that_suits_runs_until_one_is_chosen() {
    let package = build(function()).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    assert_eq!(launched(&function(), 16), ["wide"]);
    assert_eq!(launched(&function(), 17), ["narrow"]);
    for n in [16, 17] {
        assert_eq!(launched(&function().choose(0, 0), n), ["wide"]);
        assert_eq!(launched(&function().choose(0, 1), n), ["narrow"]);
    }
    // What there is not is not chosen.
    assert_eq!(function().choose(0, 2), function());
    assert_eq!(function().choose(1, 0), function());
}

#[test]
fn they_are_known_with_their_sizes() {
    let found = candidates(&function(), &tensors(24), 4).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].extents, [24, 1, 1, 1]);
    assert_eq!(found[0].times, [Some(500), Some(240)]);
    let found = candidates(&function(), &tensors(25), 4).unwrap();
    assert_eq!(found[0].times, [None, Some(250)]);
}

#[test]
fn a_function_of_more_is_not_theirs_alone() {
    assert!(function().is_choice_alone());
    let mut more = function();
    more.launches
        .push(Launch::fixed("other", [1, 1, 1], [32, 1, 1], 0, [0, 1]));
    assert!(!more.is_choice_alone());
    let mut two = function();
    two.choices.push(two.choices[0].clone());
    assert!(!two.is_choice_alone());
    assert!(
        !Function {
            choices: vec![],
            ..function()
        }
        .is_choice_alone()
    );
}

#[test]
fn choices_of_nothing_are_refused() {
    type Change = fn(&mut Function);
    let changes: [(Change, &str); 5] = [
        (
            |f| f.choices[0].value = 3,
            "expected a value below 3, found 3",
        ),
        (
            |f| f.choices[0].candidates.clear(),
            "expected a candidate at least, found none",
        ),
        (
            |f| f.choices[0].candidates[1].number = 0,
            "expected each number of a candidate once, found 0 twice",
        ),
        (
            |f| f.choices[0].candidates[1].time = Expr::Value(9),
            "choice 0, time: expected a value below 3",
        ),
        (
            |f| f.choices[0].extents[2] = Expr::Leaf(0, 7),
            "choice 0, extents",
        ),
    ];
    for (change, says) in changes {
        let mut function = function();
        change(&mut function);
        let error = build(function).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

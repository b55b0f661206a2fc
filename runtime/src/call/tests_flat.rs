//! Steps give what trees give.

use proptest::prelude::*;

use super::flat::{Builder, run};
use crate::package::{Environment, Expr, Op};

/// Arguments of the functions that are drawn: two dynamic leaves, an integer, three dynamic leaves.
const LEAVES: [usize; 3] = [2, 0, 3];
const INTEGERS: [bool; 3] = [false, true, false];

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => -9i64..=9,
        2 => (0u32..=62).prop_map(|power| 1i64 << power),
        1 => (0u32..=62).prop_map(|power| -(1i64 << power)),
        1 => any::<i64>(),
        1 => Just(i64::MIN),
        1 => Just(i64::MAX),
    ]
}

/// An expression of the arguments and of the first `values` values.
fn expression(values: usize) -> impl Strategy<Value = Expr> {
    let value = move || (0..values.max(1)).prop_map(Expr::Value);
    let leaf = prop_oneof![
        3 => number().prop_map(Expr::Constant),
        2 => (0usize..2).prop_map(|leaf| Expr::Leaf(0, leaf)),
        2 => (0usize..3).prop_map(|leaf| Expr::Leaf(2, leaf)),
        1 => Just(Expr::Scalar(1)),
        1 => Just(Expr::SmCount),
        if values > 0 { 3 } else { 0 } => value(),
    ];
    leaf.prop_recursive(5, 40, 3, |part| {
        (0..Op::ALL.len(), prop::collection::vec(part, 3)).prop_map(|(op, mut parts)| {
            let op = Op::ALL[op];
            parts.truncate(op.arity());
            // As a package may have it: what is constant need not be folded.
            Expr::Apply(op, parts)
        })
    })
}

/// Values, each of those before it, and an expression.
fn function() -> impl Strategy<Value = (Vec<Expr>, Expr)> {
    let values = (0usize..4).prop_flat_map(|count| {
        let each: Vec<_> = (0..count).map(|at| expression(at).boxed()).collect();
        each
    });
    values.prop_flat_map(|values| {
        let count = values.len();
        (Just(values), expression(count))
    })
}

/// The result of an expression's steps; nothing where one of them has no result.
fn flat(values: &[Expr], expr: &Expr, inputs: &[i64; 6], sms: u32) -> Option<i64> {
    let mut builder = Builder::new(values, &LEAVES, &INTEGERS, sms).unwrap();
    let place = builder.value(expr).unwrap();
    builder.keep(place);
    let steps = builder.all();
    let leaves = builder.leaves.clone();
    let scalar = builder.scalars[1].unwrap();
    let (numbering, mut registers) = builder.finish().unwrap();
    let all = leaves.iter().flatten().chain([&scalar]);
    for (register, value) in all.zip(inputs) {
        registers[usize::from(*register)] = *value;
    }
    let steps = numbering.steps(&steps);
    run(&steps, &mut registers)?;
    Some(registers[usize::from(numbering.register(place))])
}

fn tree(values: &[Expr], expr: &Expr, inputs: &[i64; 6], sms: u32) -> Result<i64, String> {
    let environment = Environment {
        leaves: vec![inputs[..2].to_vec(), vec![], inputs[2..5].to_vec()],
        scalars: vec![None, Some(inputs[5]), None],
        sm_count: Some(sms),
        ..Environment::default()
    };
    expr.evaluate(&environment.with_values(values))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn steps_give_what_trees_give(
        (values, expr) in function(),
        inputs in prop::array::uniform6(number()),
        sms in 1u32..200,
    ) {
        prop_assert_eq!(flat(&values, &expr, &inputs, sms), tree(&values, &expr, &inputs, sms).ok());
    }

    #[test]
    fn divisions_by_powers_of_two_are_divisions(a in number(), power in 0u32..=62) {
        for op in [Op::Div, Op::FloorDiv, Op::CeilDiv, Op::Rem] {
            let expr = Expr::Apply(op, vec![Expr::Leaf(0, 0), Expr::Constant(1 << power)]);
            let inputs = [a, 0, 0, 0, 0, 0];
            prop_assert_eq!(flat(&[], &expr, &inputs, 1), tree(&[], &expr, &inputs, 1).ok());
        }
    }
}

/// A value that is not used may have no result; steps are made of those that are.
#[test]
fn values_that_nobody_uses_are_not_computed() {
    let zero = Expr::Apply(Op::Div, vec![Expr::Constant(1), Expr::Leaf(0, 0)]);
    let one = Expr::Apply(Op::Add, vec![Expr::Leaf(0, 1), Expr::Constant(1)]);
    let inputs = [0, 6, 0, 0, 0, 0];
    let values = [zero, one];
    assert_eq!(flat(&values, &Expr::Value(1), &inputs, 1), Some(7));
    assert_eq!(flat(&values, &Expr::Value(0), &inputs, 1), None);
}

/// A thousand values, each of the one before it: nothing recurses as deep.
#[test]
fn chains_of_values_are_steps_in_a_row() {
    let mut values = vec![Expr::Leaf(0, 0)];
    for at in 0..1000 {
        let sum = vec![Expr::Value(at), Expr::Constant(1)];
        values.push(Expr::Apply(Op::Add, sum));
    }
    let inputs = [5, 0, 0, 0, 0, 0];
    assert_eq!(flat(&values, &Expr::Value(1000), &inputs, 1), Some(1005));
}

/// Equal parts are one step, and quotients by powers of two are shifts.
#[test]
fn equal_operations_are_one_step() {
    let tiles = || Expr::Apply(Op::CeilDiv, vec![Expr::Leaf(0, 0), Expr::Constant(128)]);
    let expr = Expr::Apply(Op::Mul, vec![tiles(), tiles()]);
    let mut builder = Builder::new(&[], &LEAVES, &INTEGERS, 1).unwrap();
    builder.value(&expr).unwrap();
    assert_eq!(builder.all().len(), 2);
}

//! Balls hold what the operations can give.

use super::*;
use crate::package::RegionOp;

const F32: ValueType = ValueType::Number(Element::F32);
const F64: ValueType = ValueType::Number(Element::F64);

/// Numbers that look random, from -1 to 1.
fn numbers() -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

fn holds(ball: &Ball, value: f64) -> bool {
    ball.low <= value && value <= ball.high
}

/// The result of an operation on numbers inside of its operands is inside of its result, rounded or not.
#[test]
fn results_hold_what_numbers_inside_give() {
    let mut numbers = numbers();
    let mut known = 0;
    for op in ScalarOp::ALL.iter().copied() {
        for case in 0..400 {
            let size = [1.0, 8.0, 0.1, 1e-30][case % 4];
            let mut next = || numbers.next().unwrap_or_default();
            let balls: Vec<Ball> = (0..op.arity())
                .map(|_| Ball::around(next() * size, (next() * size).abs() / 8.0))
                .collect();
            let result = match op {
                ScalarOp::And | ScalarOp::Or => ValueType::I1,
                op if op.compares() => ValueType::I1,
                _ => F32,
            };
            let ball = apply(op, &balls, result);
            known += u64::from(ball.is_known());
            for _ in 0..20 {
                let of: Vec<f64> = balls
                    .iter()
                    .map(|ball| ball.value + next() * ball.radius())
                    .collect();
                let exact = op.exact(&of);
                if result == ValueType::I1 {
                    assert!(holds(&ball, exact), "{op:?} {balls:?}: {ball:?} {exact}");
                    continue;
                }
                let rounded = f64::from(exact as f32);
                let all = !ball.is_known() || holds(&ball, exact) && holds(&ball, rounded);
                assert!(all, "{op:?} {balls:?}: {ball:?} {exact}");
            }
        }
    }
    assert!(known > 10_000, "{known}");
}

#[test]
fn exact_operations_stay_exact() {
    let three = Ball::exact(3.0);
    for (op, of, value) in [
        (ScalarOp::Add, vec![three, Ball::exact(0.5)], 3.5),
        (ScalarOp::Max, vec![three, Ball::exact(0.0)], 3.0),
        (ScalarOp::Neg, vec![three], -3.0),
        (ScalarOp::Floor, vec![Ball::exact(2.5)], 2.0),
        (
            ScalarOp::Select,
            vec![Ball::exact(0.0), three, Ball::exact(7.0)],
            7.0,
        ),
    ] {
        let ball = apply(op, &of, F32);
        assert_eq!(ball.value, value, "{op:?}");
        assert!(ball.radius() < 1e-14, "{op:?}: {ball:?}");
    }
    // A third is rounded to a number of the type, and a kernel may approximate the quotient.
    let third = apply(ScalarOp::Div, &[Ball::exact(1.0), three], F32);
    assert!((3e-7..4e-7).contains(&third.radius()), "{third:?}");
    let third = apply(ScalarOp::Div, &[Ball::exact(1.0), three], F64);
    assert!(third.radius() < 1e-15, "{third:?}");
}

#[test]
fn bits_are_those_of_the_type() {
    let [i8, i32, i64] = [Element::I8, Element::I32, Element::I64].map(ValueType::Number);
    let of = |x: f64, y: f64| [Ball::exact(x), Ball::exact(y)];
    for (op, [x, y], ty, value) in [
        (ScalarOp::ShiftLeft, [75.0, 4.0], i8, -80.0),
        (ScalarOp::ShiftLeft, [75.0, 4.0], i32, 1200.0),
        (ScalarOp::ShiftRight, [-80.0, 4.0], i8, -5.0),
        (ScalarOp::ShiftRightUnsigned, [-80.0, 4.0], i8, 11.0),
        (ScalarOp::ShiftRightUnsigned, [-80.0, 4.0], i32, 268435451.0),
        (ScalarOp::BitXor, [-1.0, 5.0], i32, -6.0),
        (ScalarOp::Remainder, [-7.0, 2.0], i64, -1.0),
    ] {
        assert_eq!(
            apply(op, &of(x, y), ty),
            Ball::exact(value),
            "{op:?} {x} {y}"
        );
    }
    for (op, [x, y], ty) in [
        (ScalarOp::ShiftLeft, [1.0, 8.0], i8),
        (ScalarOp::ShiftRightUnsigned, [1.0, -1.0], i32),
        (ScalarOp::Quotient, [1.0, 0.0], i32),
        (ScalarOp::Quotient, [-128.0, -1.0], i8),
    ] {
        assert!(!apply(op, &of(x, y), ty).is_known(), "{op:?} {x} {y}");
    }
    // f64 has not that integer.
    let half = apply(ScalarOp::ShiftRightUnsigned, &of(-1.0, 1.0), i64);
    assert_eq!(half, Ball::integer(i64::MAX));
    let about = [Ball::between(2.0, 1.0, 3.0), Ball::exact(1.0)];
    assert!(!apply(ScalarOp::BitAnd, &about, i32).is_known());
}

#[test]
fn what_is_not_defined_is_not_said() {
    let zero = Ball::around(0.01, 0.1);
    let one = Ball::exact(1.0);
    for (op, of) in [
        (ScalarOp::Div, vec![one, zero]),
        (ScalarOp::Log, vec![zero]),
        (ScalarOp::Rsqrt, vec![zero]),
        (ScalarOp::Sqrt, vec![zero]),
        (ScalarOp::Exp, vec![Ball::exact(100.0)]),
    ] {
        let unknown = apply(op, &of, F32);
        assert!(
            !unknown.is_known() && unknown.radius() == f64::INFINITY,
            "{op:?}"
        );
        assert!(!apply(ScalarOp::Max, &[unknown, one], F32).is_known());
        // A side that is not taken is none of the result.
        let safe = apply(ScalarOp::Select, &[Ball::exact(0.0), unknown, one], F32);
        assert_eq!(safe, one);
    }
    let i8 = ValueType::Number(Element::I8);
    assert!(!apply(ScalarOp::Convert, &[Ball::exact(128.0)], i8).is_known());
    assert_eq!(
        apply(ScalarOp::Convert, &[Ball::exact(-128.9)], i8).value,
        -128.0
    );
    let f16 = ValueType::Number(Element::F16);
    assert!(!apply(ScalarOp::Convert, &[Ball::exact(65520.0)], f16).is_known());
    assert!(apply(ScalarOp::Convert, &[Ball::exact(65504.0)], f16).is_known());
}

#[test]
fn comparisons_of_what_overlaps_are_undecided() {
    let (x, y) = (Ball::around(1.0, 0.2), Ball::around(1.1, 0.2));
    let less = apply(ScalarOp::Lt, &[x, y], ValueType::I1);
    assert!(!less.is_decided());
    let hull = apply(
        ScalarOp::Select,
        &[less, Ball::exact(-1.0), Ball::exact(5.0)],
        F32,
    );
    assert_eq!((hull.value, hull.low, hull.high), (-1.0, -1.0, 5.0));
    let no = Ball::exact(0.0);
    assert!(apply(ScalarOp::And, &[less, no], ValueType::I1).is_decided());
    assert!(!apply(ScalarOp::Or, &[less, no], ValueType::I1).is_decided());
    let far = Ball::around(3.0, 0.2);
    for (op, value) in [
        (ScalarOp::Lt, 1.0),
        (ScalarOp::Ge, 0.0),
        (ScalarOp::Ne, 1.0),
    ] {
        assert_eq!(
            apply(op, &[x, far], ValueType::I1),
            Ball::exact(value),
            "{op:?}"
        );
    }
    let touching = Ball::between(1.3, 1.2, 1.4);
    assert!(apply(ScalarOp::Le, &[x, touching], ValueType::I1).is_decided());
}

#[test]
fn a_whole_number_is_one_between_the_ends() {
    let ball = apply(ScalarOp::Floor, &[Ball::around(2.95, 0.1)], F32);
    assert_eq!((ball.value, ball.low, ball.high), (2.0, 2.0, 3.0));
    let ball = apply(ScalarOp::RoundEven, &[Ball::around(2.95, 0.1)], F32);
    assert_eq!((ball.low, ball.high), (3.0, 3.0));
}

#[test]
fn constants_are_those_of_their_type() {
    let region = Region {
        ops: vec![RegionOp::constant(0.1, "f16"), RegionOp::scalar(4, "f32")],
        yields: vec![],
    };
    let types = region.types(&[], |_| Ok(Element::F32)).unwrap_or_default();
    let evaluator = Evaluator::new(&region, types, |arg| Ball::exact(arg as f64));
    let mut values = Vec::new();
    evaluator.evaluate(&mut values);
    let tenth = half::f16::from_f64(0.1).to_f64();
    assert_eq!(values, [Ball::exact(tenth), Ball::exact(4.0)]);
}

/// A square of what may have either sign is not negative, as roots of variances need; other products may be.
#[test]
fn squares_are_not_negative() {
    let square = |of: [usize; 2]| {
        let region = Region {
            ops: vec![RegionOp::apply(ScalarOp::Mul, of, "f32")],
            yields: vec![],
        };
        let types = region.types(&[Element::F32; 2], |_| Ok(Element::F32));
        let evaluator = Evaluator::new(&region, types.unwrap_or_default(), |_| Ball::exact(0.0));
        let mut values = vec![Ball::around(0.5, 1.0); 2];
        evaluator.evaluate(&mut values);
        values[2]
    };
    let [low, high] = square([0, 0]).ends();
    assert!(low == 0.0 && (2.25..2.26).contains(&high), "{low} {high}");
    assert!(square([0, 1]).ends()[0] < -0.7);
}

#[test]
fn infinities_go_through_what_masks_need() {
    let masked = Ball::exact(f64::NEG_INFINITY);
    let score = Ball::around(2.0, 0.1);
    let apply = |op, of: &[Ball]| apply(op, of, F32);
    assert_eq!(apply(ScalarOp::Max, &[masked, masked]), masked);
    let most = apply(ScalarOp::Max, &[masked, score]);
    assert_eq!(most.value, 2.0);
    let less = apply(ScalarOp::Sub, &[masked, most]);
    assert_eq!(less, masked);
    let power = apply(ScalarOp::Exp, &[less]);
    assert!(
        power.value == 0.0 && power.low == 0.0 && power.high < 1e-30,
        "{power:?}"
    );
    // What may be a NaN is not said.
    for (op, of) in [
        (ScalarOp::Sub, [masked, masked]),
        (ScalarOp::Mul, [masked, Ball::around(0.0, 1.0)]),
        (ScalarOp::Div, [score, masked]),
    ] {
        assert!(!apply(op, &of).is_known(), "{op:?}");
    }
}

#[test]
fn numbers_of_8_bits_saturate() {
    let convert =
        |ball: Ball, element| apply(ScalarOp::Convert, &[ball], ValueType::Number(element));
    let large = convert(Ball::around(460.0, 20.0), Element::F8E4M3FN);
    assert_eq!((large.value, large.low, large.high), (448.0, 440.0, 448.0));
    let infinity = convert(Ball::exact(f64::INFINITY), Element::F8E5M2);
    assert_eq!(infinity, Ball::exact(57344.0));
}

#[test]
fn of_constants_that_f64_has_not_nothing_is_said() {
    let region = Region {
        ops: vec![RegionOp::constant((1u64 << 53) as f64, "i64")],
        yields: vec![],
    };
    let types = region.types(&[], |_| Ok(Element::I64)).unwrap_or_default();
    let mut values = Vec::new();
    Evaluator::new(&region, types, |_| Ball::exact(0.0)).evaluate(&mut values);
    assert!(!values[0].is_known());
}

/// Checks that integers which f64 does not hold are exact through each operation.
#[test]
fn integers_beyond_f64_are_exact() {
    let i64 = ValueType::Number(Element::I64);
    let [big, odd] = [i64::MAX - 1, (1 << 53) + 1].map(Ball::integer);
    let whole = |op: ScalarOp, of: &[Ball]| apply(op, of, i64).whole();
    for (op, of, gives) in [
        (ScalarOp::Add, [big, Ball::exact(1.0)], i64::MAX),
        (ScalarOp::Sub, [odd, Ball::exact(1.0)], 1 << 53),
        (ScalarOp::Mul, [odd, Ball::exact(3.0)], 3 * ((1 << 53) + 1)),
        (ScalarOp::Max, [odd, big], i64::MAX - 1),
        (ScalarOp::Remainder, [odd, Ball::exact(10.0)], 3),
        (ScalarOp::BitAnd, [odd, Ball::exact(1.0)], 1),
        (ScalarOp::ShiftLeft, [odd, Ball::exact(1.0)], (1 << 54) + 2),
    ] {
        assert_eq!(whole(op, &of), Some(gives.into()), "{op:?}");
    }
    // Of what wraps around nothing is said, as of other types.
    assert!(!apply(ScalarOp::Add, &[big, big], i64).is_known());
    let less = |x: Ball, y: Ball| apply(ScalarOp::Lt, &[x, y], ValueType::I1);
    assert_eq!(less(Ball::exact(2f64.powi(53)), odd), Ball::exact(1.0));
    assert_eq!(less(odd, odd), Ball::exact(0.0));
    assert_eq!(odd.wrapped(Element::I32), Ball::exact(1.0));
    assert_eq!(
        Ball::integer(-1 - (1 << 60)).wrapped(Element::I8),
        Ball::exact(-1.0)
    );
    // What is no more than near an integer tells nothing of elements that f64 does not hold.
    let near = Ball::around(2f64.powi(60), 1024.0);
    assert!(!near.tells_right(Element::I64) && near.tells_right(Element::F64));
    assert!(odd.tells_right(Element::I64));
}

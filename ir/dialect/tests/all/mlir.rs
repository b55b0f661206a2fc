//! Tests of the bounds of safe code: what it may do to IR, and what it is kept from.

use cute_ir::mlir::{ops::arith, *};
use cute_ir::{catch_panics, types::CuteType};
use melior::{
    Context,
    ir::{Attribute, Location, Module, Type, operation::OperationLike},
};
use std::sync::{Arc, Mutex};

const CHAIN: &str = "
func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.muli %b, %b : i32
  func.return %c : i32
}";

/// Calls `body` with the text's module, and gives what is said as errors meanwhile.
fn said<'c>(
    context: &'c Context,
    text: &str,
    body: impl for<'r> FnOnce(&'r Rewriter<'r>, Op<'r>),
) -> (Module<'c>, Vec<String>) {
    let all = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&all);
    let mut module = Module::parse(context, text).expect("the text parses");
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.lock()
            .expect("one thread")
            .push(diagnostic.to_string());
        true
    });
    Rewriter::within(&mut module, body);
    context.detach_diagnostic_handler(handler);
    let said = all.lock().expect("one thread").clone();
    (module, said)
}

fn named<'c>(module: Op<'c>, name: &str) -> Op<'c> {
    let mut all = nested_ops(module).into_iter();
    all.find(|op| name_of(*op) == name)
        .expect("the op is there")
}

#[test]
fn what_is_used_is_not_erased() {
    let context = context();
    let (module, said) = said(&context, CHAIN, |rewriter, module| {
        assert!(rewriter.erase(named(module, arith::ADDI)).is_err());
        let both = vec![named(module, arith::ADDI), named(module, arith::MULI)];
        assert!(rewriter.erase_all(both).is_err());
        let body = body_of(nested_ops(module)[0], 0).expect("a body");
        assert!(rewriter.erase_argument(body, 0).is_err());
    });
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].contains("all/mlir.rs:"), "{}", said[0]);
    assert!(
        said[0].contains("'arith.muli' uses 'arith.addi', which is to be erased"),
        "{}",
        said[0]
    );
    assert!(module.as_operation().verify());
    assert_eq!(nested_ops(module.as_operation()).len(), 4);
}

#[test]
fn handles_of_what_is_erased_stay_valid_as_long_as_the_pass() {
    let context = context();
    let (module, said) = said(&context, CHAIN, |rewriter, module| {
        let (sum, product) = (named(module, arith::ADDI), named(module, arith::MULI));
        let function = nested_ops(module)[0];
        let argument = arguments_of(body_of(function, 0).expect("a body"))[0];
        replace_uses(result_of(product, 0), argument);
        assert!(rewriter.erase(product).is_ok());
        assert!(rewriter.erase(sum).is_ok());
        // Erased once is erased.
        assert!(rewriter.erase(sum).is_ok());
        assert_eq!(name_of(sum), arith::ADDI);
        assert!(operands_of(sum).is_empty());
        assert!(block_of(sum).is_none());
        // No new value has the key of an old one.
        let old = [key(result_of(sum, 0)), key(result_of(product, 0))];
        let b = Builder::before(named(module, "func.return"));
        for _ in 0..100 {
            let new = b.i32(1).expect("a constant");
            assert!(!old.contains(&key(new)));
        }
    });
    assert!(said.is_empty(), "{said:?}");
    assert!(module.as_operation().verify());
}

#[test]
fn arguments_and_blocks_go_when_the_pass_ends() {
    let text = "
    func.func private @g(%a: i32, %b: i32) {
      func.return
    ^bb1(%c: i32):
      %d = arith.addi %c, %b : i32
      cf.br ^bb2(%d : i32)
    ^bb2(%e: i32):
      cf.br ^bb1(%e : i32)
    }";
    let context = context();
    let (module, said) = said(&context, text, |rewriter, module| {
        let function = nested_ops(module)[0];
        let blocks = blocks_of(function);
        let second = arguments_of(blocks[0])[1];
        // The blocks use each other, and nothing else does.
        assert!(rewriter.erase_blocks(&blocks[1..2]).is_err());
        assert!(rewriter.erase_blocks(&blocks[1..]).is_ok());
        assert!(rewriter.erase_argument(blocks[0], 1).is_ok());
        // Erased once is erased.
        assert!(rewriter.erase_argument(blocks[0], 1).is_ok());
        assert_eq!(block_argument(second).map(|(_, at)| at), Some(1));
        let ty = function_type(
            context_of(module),
            &[melior::ir::ValueLike::r#type(&second)],
            &[],
        );
        set_attribute(
            function,
            "function_type",
            Builder::before(function).type_attribute(ty),
        );
    });
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(module.as_operation().verify(), "{}", module.as_operation());
}

#[test]
fn what_is_not_there_is_an_error() {
    let context = context();
    let (_, said) = said(&context, CHAIN, |_, module| {
        let sum = named(module, arith::ADDI);
        let missing = catch_panics(sum.location(), "a test", || Ok(result_of(sum, 1)));
        assert!(missing.is_err());
        let missing = catch_panics(sum.location(), "a test", || {
            set_operand(sum, 2, result_of(sum, 0));
            Ok(())
        });
        assert!(missing.is_err());
        // Nothing is built before what is gone.
        let b = Builder::before(sum);
        let copy = OwnedCopy::of(sum);
        drop(copy);
        assert!(b.i32(0).is_ok());
    });
    assert!(
        said[0].contains("expected a result 1 of 'arith.addi', which has 1"),
        "{}",
        said[0]
    );
    assert!(said[1].contains("expected an operand 2"), "{}", said[1]);
}

#[test]
fn a_type_is_read_once_in_a_context() {
    let texts = [
        "!cute.memref<f16, gmem, align<16>, \"(4,?{div=8}):(1,4)\">",
        "!cute.layout<\"(4,8):(8,1)\">",
        "!cute_nvgpu.atom.red<f32, add, 64 b>",
        "!cute.i32<divby 8>",
    ];
    for _ in 0..2 {
        let context = context();
        for text in texts {
            let ty = Type::parse(&context, text).expect("a type");
            let again = Type::parse(&context, text).expect("a type");
            let (first, second) = (CuteType::get(ty), CuteType::get(again));
            let (first, second) = (first.expect("ours"), second.expect("ours"));
            assert!(std::ptr::eq(first, second), "{text}");
        }
        let foreign = Type::parse(&context, "vector<4xf32>").expect("a type");
        assert!(CuteType::get(foreign).is_none());
    }
}

#[test]
fn parts_of_another_number_are_refused() {
    let context = context();
    let all = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&all);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.lock()
            .expect("one thread")
            .push(diagnostic.to_string());
        true
    });
    let location = Location::unknown(&context);
    let parts = Parts {
        kind: Kind::Pipeline,
        types: vec![],
        texts: vec!["2"; 9],
        ints: vec![2],
        arrays: vec![],
    };
    assert!(type_of_parts(location, &parts).is_err());
    context.detach_diagnostic_handler(handler);
    let said = all.lock().expect("one thread").clone();
    assert!(
        said[0].contains("expected 0 types, 1 texts, 1 integers and 0 arrays"),
        "{said:?}"
    );
}

#[test]
fn effects_name_the_values_that_they_are_on() {
    let context = context();
    let text = "
!s = !cute.memref<f32, smem, align<16>, \"32:1\">
func.func @f(%i: !cute.coord<\"?\">, %v: f32, %if: i1) {
  %s = cute.memref.alloca() : !s
  scf.if %if {
    cute.memref.store(%s, %i, %v) : (!s, !cute.coord<\"?\">, f32) -> ()
  }
  %x = cute.memref.load(%s, %i) : (!s, !cute.coord<\"?\">) -> f32
  %y = arith.addf %x, %v : f32
  gpu.barrier
  func.return
}";
    let (_, said) = said(&context, text, |_, module| {
        let on = |name: &str| {
            let op = named(module, name);
            let effects = effects_of(op)?.into_iter();
            let tensor = named(module, "cute.memref.alloca");
            let all = effects.map(|e| (e.kind, e.value == Some(result_of(tensor, 0))));
            Some(all.collect::<Vec<_>>())
        };
        use EffectKind::{Allocate, Read, Write};
        assert_eq!(on("cute.memref.alloca"), Some(vec![(Allocate, true)]));
        assert_eq!(on("cute.memref.store"), Some(vec![(Write, true)]));
        assert_eq!(on("scf.if"), Some(vec![(Write, true)]));
        assert_eq!(on("cute.memref.load"), Some(vec![(Read, true)]));
        assert_eq!(on("arith.addf"), Some(vec![]));
        assert_eq!(on("gpu.barrier"), None);
        assert!(is_pure(named(module, "arith.addf")));
        assert!(!is_pure(named(module, "gpu.barrier")));
    });
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn ways_lead_through_the_regions_of_an_op() {
    let context = context();
    let text = "
func.func @f(%n: i32, %v: f32, %if: i1) {
  %c = arith.constant 1 : i32
  %r = scf.for %k = %c to %n step %c iter_args(%x = %v) -> (f32) : i32 {
    scf.yield %x : f32
  }
  scf.if %if {
    scf.yield
  } else {
    scf.yield
  }
  func.return
}";
    let (_, said) = said(&context, text, |_, module| {
        let ways = |name: &str| {
            let ways = ways_of(named(module, name)).expect("it says");
            let points = ways.iter().map(|way| (way.from, way.to));
            points.collect::<Vec<_>>()
        };
        let around = [
            (None, Some(0)),
            (None, None),
            (Some(0), Some(0)),
            (Some(0), None),
        ];
        assert_eq!(ways("scf.for"), around);
        let branches = [
            (None, Some(0)),
            (None, Some(1)),
            (Some(0), None),
            (Some(1), None),
        ];
        assert_eq!(ways("scf.if"), branches);
        assert!(
            ways_of(named(module, "arith.constant"))
                .expect("none")
                .is_empty()
        );
        let op = named(module, "scf.for");
        let back = &ways_of(op).expect("it says")[2];
        let body = body_of(op, 0).expect("a body");
        assert_eq!(back.values, [(argument(body, 1), argument(body, 1))]);
    });
    assert!(said.is_empty(), "{said:?}");
}

/// The table of integer operations has MLIR's names and numbers.
#[test]
fn integer_operations_are_named_as_mlir_names_them() {
    use cute_arith::{Op as Row, Predicate};
    let context = cute_ir::context();
    let mut text = "func.func @f(%a: i32, %b: i32) {\n".to_owned();
    for (i, op) in Row::ALL.iter().enumerate() {
        text += &format!("  %{i} = {} %a, %b : i32\n", op.name());
    }
    for predicate in Predicate::ALL {
        text += &format!("  %{0} = arith.cmpi {0}, %a, %b : i32\n", predicate.name());
    }
    text += "  return\n}\n";
    let module = melior::ir::Module::parse(&context, &text).expect("names that MLIR has");
    let ops: Vec<_> = nested_ops(module.as_operation())
        .into_iter()
        .filter(|op| name_of(*op).starts_with("arith."))
        .collect();
    let (operations, comparisons) = ops.split_at(Row::ALL.len());
    for (op, row) in operations.iter().zip(Row::ALL) {
        assert_eq!(Row::named(name_of(*op)), Some(*row));
    }
    assert_eq!(comparisons.len(), Predicate::ALL.len());
    for (op, predicate) in comparisons.iter().zip(Predicate::ALL) {
        assert_eq!(integer_of(*op, "predicate"), Some(predicate.number()));
    }
}

#[test]
fn types_are_inferred_once_of_the_same_and_anew_of_others() {
    let context = context();
    let ty = |text: &str| Type::parse(&context, text).expect("a type");
    let (four, eight) = (ty("!cute.shape<\"4\">"), ty("!cute.shape<\"8\">"));
    let none = dictionary(&context, &[]);
    let some = dictionary(&context, &[("mode", Attribute::unit(&context))]);
    let asked = std::cell::Cell::new(0);
    let infer = |name: &str, operands: &[Type<'_>], attributes| {
        let types = inferred(name, operands, attributes, || {
            asked.set(asked.get() + 1);
            if name == "fails" {
                return Err(cute_ir::diag::error(Location::unknown(&context), "no type"));
            }
            Ok(vec![eight])
        });
        (types.ok().map(|types| types == [eight]), asked.get())
    };
    assert_eq!(infer("a", &[four], none), (Some(true), 1));
    assert_eq!(infer("a", &[four], none), (Some(true), 1));
    // Another name, another operand, one more, and another attribute are something else.
    assert_eq!(infer("b", &[four], none), (Some(true), 2));
    assert_eq!(infer("a", &[eight], none), (Some(true), 3));
    assert_eq!(infer("a", &[four, four], none), (Some(true), 4));
    assert_eq!(infer("a", &[four], some), (Some(true), 5));
    // What fails says so each time, and what has no type of the dialects is not noted.
    assert_eq!(infer("fails", &[four], none), (None, 6));
    assert_eq!(infer("fails", &[four], none), (None, 7));
    assert_eq!(infer("a", &[ty("i32")], none), (Some(true), 8));
    assert_eq!(infer("a", &[ty("i32")], none), (Some(true), 9));
}

//! Facts about the integers in layout values: a polynomial of symbols for each, where a symbol is an integer of the program.
//!
//! An SSA value that is an extent here and a stride there is one symbol, which two `?` of types are not.

use cute_ir::ops::{arith, cute};
use cute_ir::{algebra, mlir::*, types::CuteType};
use cute_layout::{
    Dyn, Leaf,
    ops::Value,
    symbolic::{Poly, Symbol},
};
use cute_layout_terms::resolve;
use melior::ir::{Type, ValueLike};
use std::collections::{HashMap, HashSet};

/// An integer of the program: a value, or the dynamic leaf of that number of a value of a layout type.
#[derive(Clone, Copy)]
pub(super) struct Origin<'c> {
    pub(super) value: Val<'c>,
    pub(super) leaf: usize,
}

/// The facts about values.
#[derive(Default)]
pub(super) struct Facts<'c> {
    known: HashMap<ValueKey, Value>,
    origins: Vec<Origin<'c>>,
    /// Integers that are extents in the block where they are computed, so that they are at least 1.
    extents: HashSet<ValueKey>,
    /// The ops that are being looked at, each for the sake of the one before.
    depth: usize,
}

/// The most ops that are looked at, one behind another, for what is known of one value: what comes before is a symbol.
const DEPTH: usize = 128;

/// The value of the algebra that a type describes, of integers too.
pub(super) fn type_value(ty: Type<'_>) -> Option<Value> {
    algebra::value_of(ty).filter(|v| !matches!(v, Value::Bool(_)))
}

/// Tells whether the value is an integer, in a type of MLIR's or of the dialect.
pub(super) fn is_integer(ty: Type<'_>) -> bool {
    matches!(type_value(ty), Some(Value::Scalar(_)))
}

impl<'c> Facts<'c> {
    /// Collects what the ops within `root` say of integers.
    pub(super) fn of(root: Op<'c>) -> Self {
        let mut facts = Facts::default();
        for op in nested_ops(root) {
            if name_of(op) == cute::MAKE_SHAPE {
                // Where it is not computed whenever its operand is, it says nothing of that elsewhere.
                let here = |value: &Val<'c>| {
                    let block = match defining_op(*value) {
                        Some(op) => block_of(op),
                        None => block_argument(*value).map(|(block, _)| block),
                    };
                    block.is_some() && block == block_of(op)
                };
                let extents = operands_of(op).into_iter().filter(here);
                facts.extents.extend(extents.map(key));
            }
        }
        facts
    }

    /// The integer that a symbol stands for.
    pub(super) fn origin(&self, symbol: &Symbol) -> Option<Origin<'c>> {
        let number: usize = symbol.name.strip_prefix('s')?.parse().ok()?;
        self.origins.get(number).copied()
    }

    /// The facts about a value that stands for another one.
    pub(super) fn learn(&mut self, value: Val<'c>, known: Value) {
        self.known.insert(key(value), known);
    }

    /// The value with a polynomial for each dynamic leaf of its type; nothing of types that the algebra does not know.
    pub(super) fn value(&mut self, value: Val<'c>) -> Option<Value> {
        if let Some(known) = self.known.get(&key(value)) {
            return Some(known.clone());
        }
        let ty = type_value(value.r#type())?;
        let known = match defining_op(value) {
            Some(op) if self.depth < DEPTH => {
                self.depth += 1;
                let known = self.result(op, value);
                self.depth -= 1;
                known
            }
            _ => None,
        };
        let known = match known {
            Some(known) => known,
            None => self.fresh(value, &ty)?,
        };
        self.known.insert(key(value), known.clone());
        Some(known)
    }

    /// A symbol for each dynamic leaf.
    fn fresh(&mut self, value: Val<'c>, ty: &Value) -> Option<Value> {
        let extents = match ty {
            Value::Shape(_) => usize::MAX,
            Value::Layout(l) => Value::Shape(l.shape().clone()).dynamic_leaves().len(),
            Value::Scalar(_) if self.extents.contains(&key(value)) => 1,
            _ => 0,
        };
        // Extents of layouts within tiles and composed layouts stand between strides.
        if matches!(ty, Value::Tile(_) | Value::ComposedLayout(_)) && !ty.is_static() {
            return None;
        }
        let mut leaf = 0;
        let origins = &mut self.origins;
        let mut failed = false;
        let made = ty.with_leaves(&mut |d| {
            let least = if leaf < extents { 1 } else { lowest(d.width) };
            let name = format!("s{}", origins.len());
            let symbol = Symbol::new(&name).with_div(d.div.max(1));
            let symbol = symbol.with_range(least, Some(highest(d.width)));
            origins.push(Origin { value, leaf });
            leaf += 1;
            match Poly::symbol(symbol) {
                Ok(p) => Leaf::symbolic(p),
                Err(_) => {
                    failed = true;
                    Leaf::Dynamic(d.clone())
                }
            }
        });
        made.ok().filter(|_| !failed)
    }

    /// The result of an op, if it follows from its operands.
    fn result(&mut self, op: Op<'c>, value: Val<'c>) -> Option<Value> {
        if let Some(constant) = constant_of(value) {
            return Some(Value::Scalar(Leaf::Static(constant)));
        }
        match name_of(op) {
            name @ (arith::ADDI | arith::SUBI | arith::MULI) => self.arithmetic(name, op),
            // The same number, in more bits.
            arith::EXTSI => self.value(*operands_of(op).first()?),
            _ if algebra::is_algebra(op) => self.algebra(op, value),
            _ => None,
        }
    }

    /// A sum, difference or product that is known not to wrap.
    fn arithmetic(&mut self, name: &str, op: Op<'c>) -> Option<Value> {
        let flags = attribute_of(op, "overflowFlags")?.to_string();
        let [a, b] = operands_of(op)[..] else {
            return None;
        };
        if !flags.contains("nsw") {
            return None;
        }
        let (Value::Scalar(a), Value::Scalar(b)) = (self.value(a)?, self.value(b)?) else {
            return None;
        };
        let result = match name {
            arith::ADDI => a.add(&b),
            arith::SUBI => a.sub(&b),
            _ => a.mul(&b),
        };
        result.ok().map(Value::Scalar)
    }

    /// The result of an op of the algebra on the leaves of its operands' types, in polynomials of what these are.
    fn algebra(&mut self, op: Op<'c>, value: Val<'c>) -> Option<Value> {
        let (mut operands, mut inputs) = (Vec::new(), Vec::new());
        for operand in operands_of(op) {
            let plain = algebra::value_of(operand.r#type())?;
            operands.push(plain.traced(inputs.len()));
            inputs.extend(polynomials(&plain, &self.value(operand)?)?);
        }
        let results = algebra::evaluate(op, &operands).ok()?;
        let result = resolve(results.get(result_index(value)?)?, &inputs)?;
        let ty = type_value(value.r#type())?;
        polynomials(&ty, &result).map(|_| result)
    }
}

/// The polynomial of each dynamic leaf of a type, of a value of that form.
pub(super) fn polynomials(ty: &Value, value: &Value) -> Option<Vec<Poly>> {
    let (open, known) = (ty.leaves(), value.leaves());
    if open.len() != known.len() || ty.kind() != value.kind() {
        return None;
    }
    let mut out = Vec::new();
    for (open, known) in open.into_iter().zip(known) {
        match (open.as_dynamic(), integer(known)) {
            (Some(_), known) => out.push(known?),
            (None, _) if open == known => {}
            (None, known) => {
                // What the type says is what it is.
                let said = integer(open)?;
                if known? != said {
                    return None;
                }
            }
        }
    }
    Some(out)
}

/// An integer, or the multiple of a basis element.
fn integer(leaf: &Leaf) -> Option<Poly> {
    match leaf {
        Leaf::Basis { value, .. } => integer(value),
        Leaf::Static(v) => Some(Poly::constant(*v)),
        leaf => leaf.as_symbolic().cloned(),
    }
}

fn lowest(width: u32) -> i64 {
    if width == 64 {
        i64::MIN
    } else {
        i64::from(i32::MIN)
    }
}

fn highest(width: u32) -> i64 {
    if width == 64 {
        i64::MAX
    } else {
        i64::from(i32::MAX)
    }
}

/// The type's value with what more is known of its leaves: numbers, and divisors. Nothing where the type says all of it.
pub(super) fn sharper(ty: &Value, value: &Value) -> Option<Value> {
    let polys = polynomials(ty, value)?;
    let mut polys = polys.into_iter();
    let mut sharper = false;
    let made = ty.with_leaves(&mut |d| {
        let Some(p) = polys.next() else {
            return Leaf::Dynamic(d.clone());
        };
        if let Some(v) = p.as_constant() {
            sharper = true;
            return Leaf::Static(v);
        }
        let div = p.divisor();
        if div > d.div && div % d.div == 0 && i32::try_from(div).is_ok() {
            sharper = true;
            return Leaf::Dynamic(Dyn::new(d.width, div));
        }
        Leaf::Dynamic(d.clone())
    });
    made.ok().filter(|_| sharper)
}

/// Tells whether the type is one of the dialect's that the algebra has.
pub(super) fn is_value(ty: Type<'_>) -> bool {
    CuteType::of(ty).is_some_and(|ty| ty.value().is_some())
}

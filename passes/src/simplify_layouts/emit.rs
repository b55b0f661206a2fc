//! Simplified terms as ops.

use super::facts::{Facts, is_integer, sharper, type_value};
use cute_ir::ops::cute;
use cute_ir::{Failure, algebra, mlir::*, names, types};
use cute_layout::{
    Dyn, IntTuple, Leaf, int,
    ops::{self, Value},
    symbolic::Poly,
};
use cute_layout_terms::{Form, Head, Simplified};
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::{HashMap, HashSet};

/// Builds values before the ops whose results they take the place of.
pub(super) struct Emitter<'a, 'c> {
    simple: &'a Simplified,
    /// The value of each node of the problem.
    given: &'a [Val<'c>],
    facts: &'a Facts<'c>,
    /// Values of ops that were erased.
    gone: &'a HashSet<ValueKey>,
    /// Values with what is known of them in their types, and with what follows.
    done: HashMap<usize, Val<'c>>,
    plain: HashMap<usize, Val<'c>>,
    /// The ops that were made, in the order in which they were.
    made: Vec<Op<'c>>,
}

impl<'a, 'c> Emitter<'a, 'c> {
    pub(super) fn new(
        simple: &'a Simplified,
        given: &'a [Val<'c>],
        facts: &'a Facts<'c>,
        gone: &'a HashSet<ValueKey>,
    ) -> Self {
        Self {
            simple,
            given,
            facts,
            gone,
            done: HashMap::new(),
            plain: HashMap::new(),
            made: Vec::new(),
        }
    }

    /// The ops that were made.
    pub(super) fn finish(self) -> Vec<Op<'c>> {
        self.made
    }

    /// The value of a root in the type of the one whose place it takes, or nothing where it cannot be had.
    pub(super) fn root(&mut self, made: usize, old: Val<'c>) -> Result<Option<Val<'c>>, Failure> {
        let Some(at) = defining_op(old) else {
            return Ok(None);
        };
        let ty = old.r#type();
        let Some(plain) = self.unrefined(made, at)? else {
            return Ok(None);
        };
        // More in its type would be taken out again.
        if plain.r#type() == ty {
            return Ok(Some(plain));
        }
        let Some(new) = self.node(made, at)? else {
            return Ok(None);
        };
        if !algebra::derefines(new.r#type(), ty) {
            return Ok(None);
        }
        self.op(at, |b| b.value(cute::DEREFINE, &[new], ty, &[]))
            .map(Some)
    }

    fn op(
        &mut self,
        at: Op<'c>,
        build: impl FnOnce(Builder<'c>) -> Result<Val<'c>, Failure>,
    ) -> Result<Val<'c>, Failure> {
        let value = build(Builder::before(at))?;
        self.made.extend(defining_op(value));
        Ok(value)
    }

    /// Tells whether a value can be used where `at` stands.
    fn is_there(&self, value: Val<'c>, at: Op<'c>) -> bool {
        if self.gone.contains(&key(value)) {
            return false;
        }
        let Some(op) = defining_op(value) else {
            return true;
        };
        // What stands further out was met on the way in; in this block it has to come first.
        let before = |block| {
            ops_of(block)
                .into_iter()
                .map(op_key)
                .take_while(|other| *other != op_key(at))
                .any(|other| other == op_key(op))
        };
        block_of(op) != block_of(at) || block_of(at).is_some_and(before)
    }

    /// A value of the answer, with as much in its type as is known, or nothing where it cannot be had.
    fn node(&mut self, made: usize, at: Op<'c>) -> Result<Option<Val<'c>>, Failure> {
        if let Some(value) = self.done.get(&made) {
            return Ok(Some(*value));
        }
        let Some(value) = self.unrefined(made, at)? else {
            return Ok(None);
        };
        let simple = self.simple;
        let value = self.refined(value, &simple.nodes[made].value, at)?;
        if let Some(value) = value {
            self.done.insert(made, value);
        }
        Ok(value)
    }

    /// A value of the answer, with what follows in its type.
    fn unrefined(&mut self, made: usize, at: Op<'c>) -> Result<Option<Val<'c>>, Failure> {
        if let Some(value) = self.plain.get(&made) {
            return Ok(Some(*value));
        }
        let simple = self.simple;
        let value = match &simple.nodes[made].form {
            Form::Given(node) => {
                let value = self.given[*node];
                self.is_there(value, at).then_some(value)
            }
            Form::Known => self.known(&simple.nodes[made].value, at)?,
            Form::Op(head, operands) => {
                let mut values = Vec::with_capacity(operands.len());
                for operand in operands {
                    let Some(value) = self.node(*operand, at)? else {
                        return Ok(None);
                    };
                    values.push(value);
                }
                self.operation(head, &values, at)?
            }
        };
        if let Some(value) = value {
            self.plain.insert(made, value);
        }
        Ok(value)
    }

    fn operation(
        &mut self,
        head: &Head,
        operands: &[Val<'c>],
        at: Op<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let types: Option<Vec<Value>> = operands.iter().map(|v| type_value(v.r#type())).collect();
        // Inference would say what is wrong.
        let Some(Ok(_)) = types.map(|types| ops::apply(head.op, &types, &head.attrs())) else {
            return Ok(None);
        };
        let name = format!("{}.{}", names::dialect::CUTE, head.op);
        let value = self.op(at, |b| b.infer(&name, operands, &attributes(b, head)))?;
        Ok(Some(value))
    }

    /// The value in a type that says what is known of it; nothing where it is of another form than expected.
    fn refined(
        &mut self,
        value: Val<'c>,
        known: &Value,
        at: Op<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let Some(ty) = type_value(value.r#type()) else {
            return Ok(None);
        };
        if super::facts::polynomials(&ty, known).is_none() {
            return Ok(None);
        }
        let Some(sharp) = sharper(&ty, known) else {
            return Ok(Some(value));
        };
        if sharp.is_static() {
            let ty = types::value_type(Builder::before(at).context, &sharp);
            return self.op(at, |b| b.static_value(ty)).map(Some);
        }
        let makes = matches!(
            sharp,
            Value::IntTuple(_)
                | Value::Shape(_)
                | Value::Stride(_)
                | Value::Coord(_)
                | Value::Layout(_)
        );
        if !makes {
            return Ok(Some(value));
        }
        // The leaves that stay dynamic.
        let scalars = self.scalars(value, at)?;
        let mut leaves = Vec::new();
        for ((open, sharp), scalar) in ty
            .leaves()
            .into_iter()
            .zip(sharp.leaves())
            .filter(|(open, _)| open.as_dynamic().is_some())
            .zip(scalars)
        {
            let (Some(open), Some(d)) = (open.as_dynamic(), sharp.as_dynamic()) else {
                continue;
            };
            leaves.push(if d.div == open.div {
                scalar
            } else {
                let ty = types::value_type(
                    Builder::before(at).context,
                    &Value::IntTuple(IntTuple::Leaf(Leaf::Dynamic(d.clone()))),
                );
                let divided = divided_type(Builder::before(at), d)?;
                let assumed = self.op(at, |b| b.value(cute::ASSUME, &[scalar], divided, &[]))?;
                self.op(at, |b| b.value(cute::MAKE_INT_TUPLE, &[assumed], ty, &[]))?
            });
        }
        self.make(&sharp, &leaves, at).map(Some)
    }

    /// The dynamic leaves of a value, as integers.
    fn scalars(&mut self, value: Val<'c>, at: Op<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let b = Builder::before(at);
        let scalars = b.infer_all(cute::GET_SCALARS, &[value], &[("only_dynamic", b.unit())])?;
        self.made
            .extend(scalars.first().and_then(|s| defining_op(*s)));
        Ok(scalars)
    }

    /// A value of its dynamic leaves.
    fn make(&mut self, value: &Value, leaves: &[Val<'c>], at: Op<'c>) -> Result<Val<'c>, Failure> {
        let ty = types::value_type(Builder::before(at).context, value);
        if value.is_static() {
            return self.op(at, |b| b.static_value(ty));
        }
        if let [one] = leaves
            && one.r#type() == ty
        {
            return Ok(*one);
        }
        let name = match value {
            Value::Shape(_) => cute::MAKE_SHAPE,
            Value::Stride(_) => cute::MAKE_STRIDE,
            Value::Coord(_) => cute::MAKE_COORD,
            Value::Layout(l) => {
                let (shape, stride) = (
                    Value::Shape(l.shape().clone()),
                    Value::Stride(l.stride().clone()),
                );
                let (of_shape, of_stride) = leaves.split_at(shape.dynamic_leaves().len());
                let shape = self.make(&shape, of_shape, at)?;
                let stride = self.make(&stride, of_stride, at)?;
                return self.op(at, |b| {
                    b.value(cute::MAKE_LAYOUT, &[shape, stride], ty, &[])
                });
            }
            _ => cute::MAKE_INT_TUPLE,
        };
        self.op(at, |b| b.value(name, leaves, ty, &[]))
    }

    /// A value of sums and products of integers of the program.
    fn known(&mut self, value: &Value, at: Op<'c>) -> Result<Option<Val<'c>>, Failure> {
        if value.is_static() {
            let ty = types::value_type(Builder::before(at).context, value);
            return self.op(at, |b| b.static_value(ty)).map(Some);
        }
        let mut leaves = Vec::new();
        let mut types = Vec::new();
        for leaf in value.leaves() {
            let leaf = match leaf {
                Leaf::Basis { value, .. } => value,
                leaf => leaf,
            };
            let Some(p) = leaf.as_symbolic() else {
                continue;
            };
            let Some(integer) = self.polynomial(p, at)? else {
                return Ok(None);
            };
            let Some(d) = one_leaf(integer.r#type()) else {
                return Ok(None);
            };
            leaves.push(integer);
            types.push(d);
        }
        let mut types = types.into_iter();
        let typed = value.with_leaves(&mut |d| match types.next() {
            Some(own) => Leaf::Dynamic(own),
            None => Leaf::Dynamic(d.clone()),
        });
        match typed {
            Ok(typed) => self.make(&typed, &leaves, at).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// A sum of products, as an integer or an `!cute.int_tuple` of one leaf. Products and sums are ops of the dialect, so that
    /// their lowering checks that they fit.
    fn polynomial(&mut self, p: &Poly, at: Op<'c>) -> Result<Option<Val<'c>>, Failure> {
        let Some(terms) = p.products() else {
            return Ok(None);
        };
        let mut sum: Option<Val<'c>> = None;
        for (coefficient, factors) in terms {
            let mut product: Option<Val<'c>> = None;
            for (symbol, power) in &factors {
                let Some(integer) = self.symbol(symbol, at)? else {
                    return Ok(None);
                };
                for _ in 0..*power {
                    product = Some(match product {
                        None => integer,
                        Some(before) => self.pair(cute::TUPLE_MUL, before, integer, at)?,
                    });
                }
            }
            let term = match product {
                None => self.constant(coefficient, at)?,
                Some(product) if coefficient == 1 => product,
                Some(product) => {
                    let by = self.constant(coefficient, at)?;
                    self.pair(cute::TUPLE_MUL, product, by, at)?
                }
            };
            sum = Some(match sum {
                None => term,
                Some(before) => self.pair(cute::TUPLE_ADD, before, term, at)?,
            });
        }
        Ok(sum)
    }

    fn constant(&mut self, value: i64, at: Op<'c>) -> Result<Val<'c>, Failure> {
        let ty = types::int_tuple_type(Builder::before(at).context, &int(value));
        self.op(at, |b| b.static_value(ty))
    }

    fn pair(&mut self, name: &str, a: Val<'c>, b: Val<'c>, at: Op<'c>) -> Result<Val<'c>, Failure> {
        let (a, b) = (self.tuple(a, at)?, self.tuple(b, at)?);
        self.op(at, |builder| builder.infer(name, &[a, b], &[]))
    }

    /// An integer as an `!cute.int_tuple`.
    fn tuple(&mut self, value: Val<'c>, at: Op<'c>) -> Result<Val<'c>, Failure> {
        match type_value(value.r#type()) {
            Some(Value::Scalar(leaf)) => {
                let ty = types::int_tuple_type(Builder::before(at).context, &IntTuple::Leaf(leaf));
                self.op(at, |b| b.value(cute::MAKE_INT_TUPLE, &[value], ty, &[]))
            }
            _ => Ok(value),
        }
    }

    /// The integer that a symbol stands for.
    fn symbol(
        &mut self,
        symbol: &cute_layout::symbolic::Symbol,
        at: Op<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let Some(origin) = self.facts.origin(symbol) else {
            return Ok(None);
        };
        if !self.is_there(origin.value, at) {
            return Ok(None);
        }
        if is_integer(origin.value.r#type()) {
            return Ok(Some(origin.value));
        }
        let scalars = self.scalars(origin.value, at)?;
        Ok(scalars.get(origin.leaf).copied())
    }
}

/// The type of the one leaf of an integer or a tuple of one.
fn one_leaf(ty: Type<'_>) -> Option<Dyn> {
    match type_value(ty)? {
        Value::Scalar(Leaf::Dynamic(d)) | Value::IntTuple(IntTuple::Leaf(Leaf::Dynamic(d))) => {
            Some(d)
        }
        _ => None,
    }
}

/// `!cute.i32<divby N>`, or that of 64 bits.
fn divided_type<'c>(b: Builder<'c>, d: &Dyn) -> Result<Type<'c>, Failure> {
    b.ty(&format!("!cute.i{}<divby {}>", d.width, d.div))
}

/// The attributes of an operation.
fn attributes<'c>(b: Builder<'c>, head: &Head) -> Vec<(&'static str, Attribute<'c>)> {
    let i32_attribute = |v: i64| b.integer(b.i32_type(), v);
    let mut out = Vec::new();
    if let Some(mode) = &head.mode {
        let mode: Vec<i32> = mode.iter().filter_map(|m| i32::try_from(*m).ok()).collect();
        out.push(("mode", b.i32_array(&mode)));
    }
    if let Some((begin, end)) = head.range {
        out.extend([("begin", i32_attribute(begin)), ("end", i32_attribute(end))]);
    }
    if let Some((new, old)) = head.bits {
        out.extend([
            ("new_type_bits", i32_attribute(new)),
            ("old_type_bits", i32_attribute(old)),
        ]);
    }
    out
}

//! The region of a map: random operations with reductions, whose values stay within what types hold and the verifier can decide.

pub(super) mod fused;

use super::shape::Tensor;
use super::style::Style;
use crate::random::Random;
use crate::region::{Body, activation};

/// A value of the type that a region computes in.
#[derive(Clone)]
struct Value {
    name: String,
    /// The modes along which it may differ.
    varies: u32,
    /// Its magnitude, about, at most.
    most: f64,
    /// Tells whether it is an element as it was read, of which comparisons are decided.
    is_read: bool,
}

/// A region that is being written.
pub(super) struct Formula<'a> {
    random: &'a mut Random,
    style: Style,
    body: Body,
    values: Vec<Value>,
    along: Vec<usize>,
    /// The elements that a reduction is of, at most.
    count: i64,
    pub(super) reductions: usize,
    /// Tells whether it is a softmax, a layer norm, or an RMS norm.
    pub(super) is_norm: bool,
    /// Tells whether bits of integers are computed with.
    pub(super) has_bits: bool,
}

/// The text of a region of these inputs and outputs; `number` is one of the function.
pub(super) fn region<'a>(
    random: &'a mut Random,
    style: Style,
    [inputs, outputs]: [&[Tensor]; 2],
    (along, count): (&[usize], i64),
    number: Option<&str>,
) -> (String, Formula<'a>) {
    let mut formula = Formula {
        random,
        style,
        body: Body::of(style.ty),
        values: Vec::new(),
        along: along.to_vec(),
        count,
        reductions: 0,
        is_norm: false,
        has_bits: false,
    };
    let mut arguments = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        arguments.push(format!("%e{at}: {}", input.element));
        let name = formula.body.widened(&format!("%e{at}"), input.element);
        formula.values.push(Value {
            name,
            varies: input.varies,
            most: 8.0,
            is_read: true,
        });
    }
    if let Some(number) = number {
        formula.values.push(Value {
            name: number.to_string(),
            varies: 0,
            most: 1.0,
            is_read: false,
        });
    }
    if formula.values.is_empty() || formula.random.chance(10) {
        formula.constant();
    }
    formula.compute();
    let yields: Vec<(String, String)> = outputs
        .iter()
        .map(|output| {
            let value = formula.yielded(output.varies);
            let name = formula.body.narrowed(&value.name, output.element);
            (name, output.element.to_string())
        })
        .collect();
    (formula.body.region(&arguments, &yields), formula)
}

impl Formula<'_> {
    fn reduces(&self) -> bool {
        !self.along.is_empty()
    }

    fn mask(&self) -> u32 {
        self.along.iter().map(|mode| 1 << mode).sum()
    }

    fn push(&mut self, name: String, of: &[&Value], most: f64) -> Value {
        let value = Value {
            name,
            varies: of.iter().fold(0, |all, value| all | value.varies),
            most,
            is_read: false,
        };
        let value = self.tamed(value);
        self.values.push(value.clone());
        value
    }

    /// The value, scaled down where it would grow out of the types of tensors.
    fn tamed(&mut self, value: Value) -> Value {
        if !self.style.is_float() || value.most <= self.style.most {
            return value;
        }
        let by = (8.0 / value.most).log2().floor();
        let factor = self.body.constant(&by.exp2().to_string());
        let name = self.body.binary("arith.mulf", &value.name, &factor);
        Value {
            name,
            most: value.most * by.exp2(),
            ..value
        }
    }

    fn any(&mut self) -> Value {
        let recent = self.values.len().saturating_sub(4);
        let from = if self.random.chance(60) { recent } else { 0 };
        let at = from + self.random.below(self.values.len() - from);
        self.values[at].clone()
    }

    fn constant(&mut self) -> Value {
        let (text, most) = match self.style.is_float() {
            true => *self
                .random
                .pick(&[("0.5", 0.5), ("-1.5", 1.5), ("2.0", 2.0), ("0.0", 0.0)]),
            false => *self.random.pick(&[("3", 3.0), ("-2", 2.0), ("0", 0.0)]),
        };
        let name = self.body.constant(text);
        self.push(name, &[], most)
    }

    fn reduce(&mut self, value: &Value, kind: &str) -> Value {
        let ty = self.style.ty;
        let along: Vec<String> = self.along.iter().map(ToString::to_string).collect();
        let name = self.body.op(&format!(
            "cute.all_reduce \"{kind}\" {} along [{}] : {ty}",
            value.name,
            along.join(", ")
        ));
        self.reductions += 1;
        let most = match kind {
            "add" => value.most * self.count as f64,
            _ => value.most,
        };
        let varies = value.varies & !self.mask();
        let result = Value {
            name,
            varies,
            most,
            is_read: false,
        };
        let result = self.tamed(result);
        self.values.push(result.clone());
        result
    }

    /// A reduction of a value, of a kind whose result the type holds.
    fn some_reduce(&mut self) -> Value {
        let value = self.any();
        let kind = *self.random.pick(self.style.kinds);
        let fits = self.style.is_float() || value.most * (self.count as f64) < self.style.most;
        let kind = if kind == "add" && !fits {
            "maximum"
        } else {
            kind
        };
        self.reduce(&value, kind)
    }

    fn compute(&mut self) {
        let is_wide = self.style.ty == "f32";
        if is_wide && self.reduces() {
            match self.random.below(100) {
                0..15 => self.softmax(),
                15..27 => self.layer_norm(),
                27..37 => self.rms_norm(),
                _ => {}
            }
        }
        for _ in 0..self.random.range(0, 6) {
            match self.random.below(10) {
                0..4 => self.binary(),
                4..7 if self.reduces() && self.reductions < 3 => {
                    self.some_reduce();
                }
                7 if self.style.is_float() => self.select(),
                8 => {
                    self.constant();
                }
                _ => self.unary(),
            }
        }
        if self.reduces() && self.reductions == 0 {
            self.some_reduce();
        }
    }

    fn op(&mut self, name: &str, x: &Value, y: &Value, most: f64) -> Value {
        let text = self.body.binary(name, &x.name, &y.name);
        self.push(text, &[x, y], most)
    }

    fn math(&mut self, name: &str, x: &Value, most: f64) -> Value {
        let ty = self.style.ty;
        let text = self.body.op(&format!("math.{name} {} : {ty}", x.name));
        self.push(text, &[x], most)
    }

    fn softmax(&mut self) {
        self.is_norm = true;
        let x = self.any();
        let most = self.reduce(&x, "maximum");
        let less = self.op("arith.subf", &x, &most, 2.0 * x.most);
        // Of values that may be large only one would be left.
        let scaled = match less.most > 20.0 {
            true => {
                let tenth = self.small();
                self.op("arith.mulf", &less, &tenth, less.most * tenth.most)
            }
            false => less,
        };
        let power = self.math("exp", &scaled, 1.0);
        let sum = self.reduce_as_is(&power);
        self.op("arith.divf", &power, &sum, 1.0);
    }

    /// The sum of values, not scaled.
    fn reduce_as_is(&mut self, value: &Value) -> Value {
        let (most, count) = (self.style.most, self.count);
        self.style.most = f64::INFINITY;
        let sum = self.reduce(value, "add");
        self.style.most = most;
        self.count = count;
        // Where others use it, it is as large as it is.
        self.values.pop();
        let bounded = self.tamed(sum.clone());
        self.values.push(bounded);
        sum
    }

    fn layer_norm(&mut self) {
        self.is_norm = true;
        let x = self.any();
        let mean = self.reduce(&x, "mean");
        let less = self.op("arith.subf", &x, &mean, 2.0 * x.most);
        let square = self.op("arith.mulf", &less, &less, less.most * less.most);
        let variance = self.reduce(&square, "mean");
        let scale = self.reciprocal(&variance);
        self.op("arith.mulf", &less, &scale, less.most * 4.0);
    }

    fn rms_norm(&mut self) {
        self.is_norm = true;
        let x = self.any();
        let square = self.op("arith.mulf", &x, &x, x.most * x.most);
        let mean = self.reduce(&square, "mean");
        let scale = self.reciprocal(&mean);
        self.op("arith.mulf", &x, &scale, x.most * 4.0);
    }

    /// The reciprocal of the root of a value that is not negative, with an epsilon.
    fn reciprocal(&mut self, value: &Value) -> Value {
        let epsilon = self.body.constant("0.0625");
        let moved = self.body.binary("arith.addf", &value.name, &epsilon);
        let moved = self.push(moved, &[value], value.most + 1.0);
        self.math("rsqrt", &moved, 4.0)
    }

    fn small(&mut self) -> Value {
        let name = self.body.constant("0.03125");
        self.push(name, &[], 0.03125)
    }

    /// An operation on the bits of integers, or a quotient or a remainder, within what the type holds.
    fn bits(&mut self) {
        self.has_bits = true;
        let (x, y) = (self.any(), self.any());
        let larger = x.most.max(y.most);
        let width = if self.style.ty == "i8" { 8 } else { 32 };
        let (name, by, most) = match self.random.below(8) {
            // A power of two is above what both hold.
            0 => ("arith.andi", None, 2.0 * larger + 1.0),
            1 => ("arith.ori", None, 2.0 * larger + 1.0),
            2 => ("arith.xori", None, 2.0 * larger + 1.0),
            3 if x.most < 1e6 && width > 8 => {
                let by = self.random.range(0, 6);
                ("arith.shli", Some(by), x.most * (by as f64).exp2())
            }
            4 => ("arith.shrsi", Some(self.random.range(0, width - 1)), x.most),
            5 => {
                let by = self.random.range(width / 2, width - 1);
                let most = ((width - by) as f64).exp2();
                ("arith.shrui", Some(by), most)
            }
            6 => {
                let by = *self.random.pick(&[1, 2, 3, 7, 16, -3]);
                ("arith.divsi", Some(by), x.most)
            }
            _ => {
                let by = *self.random.pick(&[1, 2, 3, 7, 16, -3]);
                ("arith.remsi", Some(by), 16.0)
            }
        };
        match by {
            None => self.op(name, &x, &y, most.min(self.bound())),
            Some(by) => {
                let by = self.body.constant(&by.to_string());
                let text = self.body.binary(name, &x.name, &by);
                self.push(text, &[&x], most)
            }
        };
    }

    /// The largest magnitude that the type of integers has.
    fn bound(&self) -> f64 {
        if self.style.ty == "i8" {
            128.0
        } else {
            2f64.powi(31)
        }
    }

    fn binary(&mut self) {
        if !self.style.is_float() && self.random.chance(45) {
            return self.bits();
        }
        let (x, y) = (self.any(), self.any());
        let sum = x.most + y.most;
        let larger = x.most.max(y.most);
        let (name, most) = match (self.style.ty, self.random.below(6)) {
            ("i8", 0..3) => ("arith.maxsi", larger),
            ("i8", _) => ("arith.minsi", larger),
            ("i32", 0 | 1) if sum < self.style.most => ("arith.addi", sum),
            ("i32", 2) if sum < self.style.most => ("arith.subi", sum),
            ("i32", 3) if x.most * y.most < 1e6 => ("arith.muli", x.most * y.most),
            ("i32", 4) => ("arith.minsi", larger),
            ("i32", _) => ("arith.maxsi", larger),
            (_, 0 | 1) => ("arith.addf", sum),
            (_, 2) => ("arith.subf", sum),
            (_, 3) => ("arith.mulf", x.most * y.most),
            (_, 4) => ("arith.maximumf", larger),
            _ => ("arith.minimumf", larger),
        };
        self.op(name, &x, &y, most);
    }

    /// A choice by an element as it was read: what is computed may lie on either side for right values.
    fn select(&mut self) {
        let read: Vec<Value> = self.values.iter().filter(|v| v.is_read).cloned().collect();
        if read.is_empty() {
            return;
        }
        let x = self.random.pick(&read).clone();
        let (y, z) = (self.any(), self.any());
        let ty = self.style.ty;
        let half = self.body.constant("0.5");
        let is = self
            .body
            .op(&format!("arith.cmpf ogt, {}, {half} : {ty}", x.name));
        let chosen = self
            .body
            .op(&format!("arith.select {is}, {}, {} : {ty}", y.name, z.name));
        self.push(chosen, &[&x, &y, &z], y.most.max(z.most));
    }

    fn unary(&mut self) {
        let x = self.any();
        if !self.style.is_float() {
            return self.binary();
        }
        let is_small = x.most <= 16.0;
        match (self.style.ty, self.random.below(9)) {
            ("f32", 0) if is_small => {
                let tenth = self.small();
                let x = self.op("arith.mulf", &x, &tenth, x.most * tenth.most);
                self.math("exp", &x, 2.0);
            }
            ("f32", 1) => {
                self.math("tanh", &x, 1.0);
            }
            ("f32", 2) => {
                let size = self.math("absf", &x, x.most);
                let one = self.body.constant("1.0");
                let moved = self.body.binary("arith.addf", &size.name, &one);
                let moved = self.push(moved, &[&size], size.most + 1.0);
                self.op("arith.divf", &x, &moved, 1.0);
            }
            ("f32", 3) => {
                let square = self.op("arith.mulf", &x, &x, x.most * x.most);
                let one = self.body.constant("1.0");
                let moved = self.body.binary("arith.addf", &square.name, &one);
                let moved = self.push(moved, &[&square], square.most + 1.0);
                let name = *self.random.pick(&["sqrt", "log", "rsqrt"]);
                self.math(name, &moved, moved.most.sqrt() + 1.0);
            }
            ("f32", 4) if is_small => {
                let name = *self.random.pick(&["sin", "cos"]);
                self.math(name, &x, 1.0);
            }
            ("f32", 5) if x.is_read => {
                let text = activation(self.random, &mut self.body, x.name.clone());
                self.push(text, &[&x], 2.0 * x.most + 2.0);
            }
            (_, 6) if x.is_read => {
                let name = *self.random.pick(&["floor", "ceil", "roundeven", "trunc"]);
                self.math(name, &x, x.most + 1.0);
            }
            (ty, 7) => {
                let text = self.body.op(&format!("arith.negf {} : {ty}", x.name));
                self.push(text, &[&x], x.most);
            }
            (ty, 8) => {
                let (y, z) = (self.any(), self.any());
                let text = self.body.op(&format!(
                    "math.fma {}, {}, {} : {ty}",
                    x.name, y.name, z.name
                ));
                self.push(text, &[&x, &y, &z], x.most * y.most + z.most);
            }
            _ => {
                self.math("absf", &x, x.most);
            }
        }
    }

    /// A value that differs along these modes at most where something is reduced: along the others every output has elements of
    /// its own.
    fn yielded(&mut self, varies: u32) -> Value {
        let once = self.mask() & !varies;
        let fit: Vec<Value> = self
            .values
            .iter()
            .filter(|value| value.varies & once == 0)
            .cloned()
            .collect();
        match &fit[..] {
            [] if self.reduces() => self.some_reduce(),
            [] => self.constant(),
            fit => {
                // What was computed last is what took most.
                let recent = fit.len().saturating_sub(3);
                let from = if self.random.chance(80) { recent } else { 0 };
                fit[from + self.random.below(fit.len() - from)].clone()
            }
        }
    }
}

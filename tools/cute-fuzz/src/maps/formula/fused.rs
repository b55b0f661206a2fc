//! Regions with sums of products along K, with what is made of them and reduced along columns, and with a product along columns of that.

use super::super::shape::Tensor;
use super::super::style::Style;
use super::{Formula, Value};
use crate::random::Random;
use crate::region::Body;

/// The tensors of a region with sums of products, and the modes of its block.
pub(in super::super) struct Sums<'a> {
    pub(in super::super) inputs: &'a [Tensor],
    pub(in super::super) outputs: &'a [Tensor],
    /// The factors of each product along K, by their places among the inputs.
    pub(in super::super) products: &'a [[usize; 2]],
    /// The stored factor of a product along columns, by its place.
    pub(in super::super) second: Option<usize>,
    pub(in super::super) columns: usize,
    pub(in super::super) inner: usize,
    pub(in super::super) outer: Option<usize>,
    /// The extents of columns and K, at most.
    pub(in super::super) most: [i64; 2],
    /// Tells whether something is reduced along columns beside that product.
    pub(in super::super) reduces: bool,
    /// A number of the function.
    pub(in super::super) number: Option<&'a str>,
}

/// The sums of products of numbers about 1 are hardly larger than this times the root of their count.
const SPREAD: f64 = 6.0;

/// The text of a region.
pub(in super::super) fn region<'a>(
    random: &'a mut Random,
    sums: &Sums<'_>,
) -> (String, Formula<'a>) {
    let style = Style::wide();
    let mut formula = Formula {
        random,
        style,
        body: Body::of(style.ty),
        values: Vec::new(),
        along: Vec::new(),
        count: sums.most[0],
        reductions: 0,
        is_norm: false,
        has_bits: false,
    };
    if sums.reduces {
        formula.along.push(sums.columns);
    }
    let factors: Vec<usize> = sums
        .products
        .iter()
        .flatten()
        .chain(&sums.second)
        .copied()
        .collect();
    let (mut arguments, mut names, mut later) = (Vec::new(), Vec::new(), Vec::new());
    for (at, input) in sums.inputs.iter().enumerate() {
        arguments.push(format!("%e{at}: {}", input.element));
        let name = formula.body.widened(&format!("%e{at}"), input.element);
        names.push(name.clone());
        let value = Value {
            name,
            varies: input.varies,
            most: 8.0,
            is_read: true,
        };
        let is_later = sums.outer.is_some_and(|mode| input.varies & 1 << mode != 0);
        match (factors.contains(&at), is_later) {
            (true, _) => {}
            (_, true) => later.push(value),
            _ => formula.values.push(value),
        }
    }
    if let Some(number) = sums.number {
        formula.values.push(Value {
            name: number.to_string(),
            varies: 0,
            most: 1.0,
            is_read: false,
        });
    }
    for product in sums.products {
        let [x, y] = product.map(|place| names[place].clone());
        let varies = product.map(|place| sums.inputs[place].varies);
        let varies = (varies[0] | varies[1]) & !(1 << sums.inner);
        formula.product([&x, &y], sums.inner, varies, sums.most[1], 1.0);
    }
    let before = match sums.second {
        Some(second) => {
            let name = names[second].clone();
            formula.second(sums, second, &name, later)
        }
        None => {
            formula.compute();
            Vec::new()
        }
    };
    let outer = sums.outer.map_or(0, |mode| 1 << mode);
    let yields: Vec<(String, String)> = sums
        .outputs
        .iter()
        .map(|output| {
            let is_of_columns = output.varies & 1 << sums.columns != 0;
            let known = match is_of_columns && outer != 0 {
                true => &before,
                false => &formula.values,
            };
            let fit: Vec<Value> = known
                .iter()
                .filter(|value| value.varies & !output.varies == 0)
                .cloned()
                .collect();
            let value = match fit.len() {
                0 => formula.constant(),
                // What was computed last is what took most.
                some => fit[some.saturating_sub(1 + formula.random.below(2))].clone(),
            };
            let name = formula.body.narrowed(&value.name, output.element);
            (name, output.element.to_string())
        })
        .collect();
    (formula.body.region(&arguments, &yields), formula)
}

impl Formula<'_> {
    /// Adds the sum of the products of two values along a mode, of which one is of that magnitude at most and the other about 1.
    fn product(
        &mut self,
        [x, y]: [&str; 2],
        along: usize,
        varies: u32,
        count: i64,
        most: f64,
    ) -> Value {
        let ty = self.style.ty;
        let times = self.body.binary("arith.mulf", x, y);
        let name = self.body.op(&format!(
            "cute.all_reduce \"add\" {times} along [{along}] : {ty}"
        ));
        let sum = Value {
            name,
            varies,
            most: SPREAD * most * (count as f64).sqrt(),
            is_read: false,
        };
        let sum = self.tamed(sum);
        self.values.push(sum.clone());
        sum
    }

    /// Computes a product along columns of what is made of scores; the values from before it.
    fn second(
        &mut self,
        sums: &Sums<'_>,
        second: usize,
        name: &str,
        later: Vec<Value>,
    ) -> Vec<Value> {
        let columns = 1u32 << sums.columns;
        let score = self.values[self.values.len() - 1].clone();
        let mut sum = None;
        let factor = match self.reduces() && self.random.chance(65) {
            true => {
                let (power, total) = self.powers(score);
                sum = Some(total);
                power
            }
            false => {
                self.compute();
                let of_columns = self.values.iter().rev();
                let found = of_columns
                    .filter(|value| value.varies & columns != 0)
                    .find(|value| value.varies & score.varies == score.varies);
                found.cloned().unwrap_or(score)
            }
        };
        let element = sums.inputs[second].element;
        let narrow = self.body.narrowed(&factor.name, element);
        let wide = self.body.widened(&narrow, element);
        let before = self.values.clone();
        let varies = (factor.varies | sums.inputs[second].varies) & !columns;
        self.values.retain(|value| value.varies & columns == 0);
        self.values.extend(later);
        let product = self.product(
            [&wide, name],
            sums.columns,
            varies,
            sums.most[0],
            factor.most,
        );
        if let Some(sum) = sum {
            self.op("arith.divf", &product, &sum, 8.0);
        }
        self.along.clear();
        for _ in 0..*self.random.pick(&[0, 0, 1, 2]) {
            match self.random.below(2) {
                0 => self.binary(),
                _ => self.unary(),
            }
        }
        before
    }

    /// Powers of scores, which may be masked and scaled, without their maximum; and the sum of them.
    fn powers(&mut self, score: Value) -> (Value, Value) {
        self.is_norm = true;
        let mut x = score.clone();
        let masks: Vec<Value> = self.values.iter().filter(|v| v.is_read).cloned().collect();
        if !masks.is_empty() && self.random.chance(60) {
            let mask = self.random.pick(&masks).clone();
            x = self.op("arith.addf", &x, &mask, x.most + mask.most);
        }
        let is_scaled_before = self.random.chance(50);
        if is_scaled_before {
            x = self.scaled(&x);
        }
        let most = self.reduce(&x, "maximum");
        let mut less = self.op("arith.subf", &x, &most, 2.0 * x.most);
        if !is_scaled_before {
            less = self.scaled(&less);
        }
        let power = *self.random.pick(&["exp", "exp", "exp2"]);
        let power = self.math(power, &less, 1.0);
        let sum = self.reduce_as_is(&power);
        (power, sum)
    }

    /// A value scaled down so that several are left of powers of such.
    fn scaled(&mut self, value: &Value) -> Value {
        let by = (10.0 / value.most.max(10.0)).log2().ceil().exp2();
        let factor = self.body.constant(&format!("{by:?}"));
        let factor = self.push(factor, &[], by);
        self.op("arith.mulf", value, &factor, value.most * by)
    }
}

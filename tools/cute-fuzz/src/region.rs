//! The text of regions on numbers: operations of `arith` and `math`, with casts from and to the types of tensors.

use crate::random::Random;
use crate::tensors::typed;

/// The operations of a region, each a line.
pub struct Body {
    lines: Vec<String>,
    /// The type that is computed in.
    pub ty: &'static str,
}

impl Body {
    /// No operations yet, in that type.
    pub fn of(ty: &'static str) -> Body {
        let lines = Vec::new();
        Body { lines, ty }
    }

    /// The text of the region with these arguments, which yields these values, each with its type.
    pub fn region(&self, arguments: &[String], yields: &[(String, String)]) -> String {
        let lines: String = self
            .lines
            .iter()
            .map(|line| format!("    {line}\n"))
            .collect();
        format!(
            "  ^bb0({}):\n{lines}    cute.yield {}\n",
            arguments.join(", "),
            typed(yields)
        )
    }

    /// Adds an operation on values, and returns its result.
    pub fn op(&mut self, text: &str) -> String {
        let name = format!("%v{}", self.lines.len());
        self.lines.push(format!("{name} = {text}"));
        name
    }

    /// A constant of the type that is computed in.
    pub fn constant(&mut self, value: &str) -> String {
        let ty = self.ty;
        self.op(&format!("arith.constant {value} : {ty}"))
    }

    /// An operation on two values of the type that is computed in.
    pub fn binary(&mut self, name: &str, x: &str, y: &str) -> String {
        let ty = self.ty;
        self.op(&format!("{name} {x}, {y} : {ty}"))
    }

    /// A value of another type as one of the type that is computed in.
    pub fn widened(&mut self, value: &str, from: &str) -> String {
        let ty = self.ty;
        match from {
            from if from == ty => value.to_string(),
            _ if ty.starts_with('i') => self.op(&format!("arith.extsi {value} : {from} to {ty}")),
            "i8" | "i32" => self.op(&format!("arith.sitofp {value} : {from} to {ty}")),
            _ => self.op(&format!("arith.extf {value} : {from} to {ty}")),
        }
    }

    /// A value as one of the type of an output.
    pub fn narrowed(&mut self, value: &str, to: &str) -> String {
        let ty = self.ty;
        if to == ty {
            return value.to_string();
        }
        if to != "i8" {
            return self.op(&format!("arith.truncf {value} : {ty} to {to}"));
        }
        let (most, least) = (self.constant("127.0"), self.constant("-128.0"));
        let below = self.binary("arith.minimumf", value, &most);
        let within = self.binary("arith.maximumf", &below, &least);
        self.op(&format!("arith.fptosi {within} : {ty} to i8"))
    }
}

/// A function of a number.
pub fn activation(random: &mut Random, body: &mut Body, x: String) -> String {
    let ty = body.ty;
    // There are no functions of f64 on a GPU.
    match random.below(if ty == "f64" { 3 } else { 5 }) {
        0 => {
            let zero = body.constant("0.0");
            body.binary("arith.maximumf", &x, &zero)
        }
        1 => {
            let zero = body.constant("0.0");
            let is = body.op(&format!("arith.cmpf ogt, {x}, {zero} : {ty}"));
            let slope = body.constant("0.125");
            let small = body.binary("arith.mulf", &x, &slope);
            body.op(&format!("arith.select {is}, {x}, {small} : {ty}"))
        }
        2 => x,
        3 => {
            let tanh = body.op(&format!("math.tanh {x} : {ty}"));
            body.binary("arith.addf", &tanh, &x)
        }
        _ => {
            let half = body.constant("0.5");
            let scaled = body.binary("arith.mulf", &x, &half);
            let erf = body.op(&format!("math.erf {scaled} : {ty}"));
            body.op(&format!("math.fma {scaled}, {erf}, {scaled} : {ty}"))
        }
    }
}

//! Loops and branches.

use super::{AHEAD, Bound, Condition, For, Statement, Writer};

impl Writer<'_> {
    /// A bound of a loop, as a value of the type of its counter.
    fn bound(&mut self, bound: Bound, ty: &str) -> String {
        if !bound.dynamic {
            return self
                .text
                .value(format!("arith.constant {} : {ty}", bound.value));
        }
        let name = format!("%a{}", self.numbers.len());
        self.numbers.push(bound.value);
        match ty {
            "i32" => name,
            "index" => self
                .text
                .value(format!("arith.index_cast {name} : i32 to index")),
            _ => self.text.value(format!("arith.extsi {name} : i32 to {ty}")),
        }
    }

    pub(super) fn counts(&mut self, of: &For) -> Option<()> {
        let lower = self.bound(of.lower, of.ty);
        let upper = self.bound(of.upper, of.ty);
        let step = self.bound(of.step, of.ty);
        let counter = self.text.fresh();
        let mut head = format!("scf.for {counter} = {lower} to {upper} step {step}");
        let (mut inner, mut results) = (Vec::new(), Vec::new());
        let mut types = String::new();
        if !of.carried.is_empty() {
            let result = self.text.fresh();
            let mut given = Vec::new();
            for (i, (element, ..)) in of.carried.iter().enumerate() {
                let zero = self
                    .text
                    .value(format!("arith.constant {}", element.constant(0)));
                let name = self.text.fresh();
                given.push(format!("{name} = {zero}"));
                inner.push(name);
                results.push(match of.carried.len() {
                    1 => result.clone(),
                    _ => format!("{result}#{i}"),
                });
            }
            let names: Vec<&str> = of.carried.iter().map(|(e, ..)| e.name).collect();
            types = names.join(", ");
            head = format!(
                "{result}:{} = {head} iter_args({}) -> ({types})",
                of.carried.len(),
                given.join(", ")
            );
        }
        if of.ty != "index" {
            head = format!("{head} : {}", of.ty);
        }
        self.text.open(format!("{head} {{"));
        self.counters[of.id] = match of.ty {
            "i32" => counter,
            "index" => self
                .text
                .value(format!("arith.index_cast {counter} : index to i32")),
            ty => self
                .text
                .value(format!("arith.trunci {counter} : {ty} to i32")),
        };
        self.carried.push(inner);
        self.all(&of.body)?;
        let yielded = self.carried.pop()?;
        if !yielded.is_empty() {
            self.line(format!("scf.yield {} : {types}", yielded.join(", ")));
        }
        self.text.close(match of.stages {
            Some(stages) => format!("}} {{cute.stages = {stages} : i64}}"),
            None => "}".into(),
        });
        for ((element, output, slot), result) in of.carried.iter().zip(results) {
            let slot = self.slot(*output, slot);
            let ty = self.program.outputs[*output].global.ty(*element);
            let at = ["%t", "%zero", &slot];
            self.store(&format!("%Y{output}"), &ty, &at, *element, &result);
        }
        Some(())
    }

    pub(super) fn repeats(&mut self, id: usize, trips: Bound, body: &[Statement]) -> Option<()> {
        let bound = self.bound(trips, "i32");
        let (i, result) = (self.text.fresh(), self.text.fresh());
        self.text.open(format!(
            "{result} = scf.while ({i} = %zero) : (i32) -> i32 {{"
        ));
        let more = self
            .text
            .value(format!("arith.cmpi slt, {i}, {bound} : i32"));
        self.line(format!("scf.condition({more}) {i} : i32"));
        self.text.between("} do {");
        self.line(format!("^bb0({i}w: i32):"));
        self.counters[id] = format!("{i}w");
        self.all(body)?;
        let next = self.text.value(format!("arith.addi {i}w, %one : i32"));
        self.line(format!("scf.yield {next} : i32"));
        self.text.close("}");
        Some(())
    }

    pub(super) fn branches(
        &mut self,
        condition: &Condition,
        then: &[Statement],
        other: &[Statement],
    ) -> Option<()> {
        let condition = match condition {
            Condition::OddBlock => "%odd".to_string(),
            Condition::Number(_, bound) => {
                let bound = self.text.i32(*bound);
                self.text
                    .value(format!("arith.cmpi slt, %n, {bound} : i32"))
            }
            Condition::Turn(id, by, rest) => {
                let ahead = self.text.i32(AHEAD * by);
                let (by, rest) = (self.text.i32(*by), self.text.i32(*rest));
                let counter = self.counters[*id].clone();
                let sum = self
                    .text
                    .value(format!("arith.addi {counter}, {ahead} : i32"));
                let found = self.text.value(format!("arith.remui {sum}, {by} : i32"));
                self.text
                    .value(format!("arith.cmpi eq, {found}, {rest} : i32"))
            }
        };
        self.text.open(format!("scf.if {condition} {{"));
        self.all(then)?;
        if !other.is_empty() {
            self.text.between("} else {");
            self.all(other)?;
        }
        self.text.close("}");
        Some(())
    }
}

//! `cute.computes`: what a host function computes, as an attribute.
//!
//! An array with a dictionary for each compute. One entry names the kind and has the tensors' indices among the arguments;
//! others have types (`accumulate = f32`) and numbers: a floating-point attribute is the number, one of type `index` the
//! index of the argument that has it. An `epilogue` is a function of numbers, of the sum, the elements of the tensors `ins`, and
//! the arguments `scalars`; it returns the element of C and those of `outs`, which `reduce` has a kind for, or an empty text. A `prologue_a` is one of an element of A, of those of the
//! tensors `ins_a`, and of the arguments `scalars_a`; it returns what is multiplied. A `prologue_b` is the same of B. A `map` is one of the
//! elements of `ins` and of `scalars`, which returns those of `outs`, and may have `cute.all_reduce`.
//!
//! `at_a`, `at_b` and `at_c` are types of coordinate tensors, at which the tensors have the elements of A, B and C; integers that these leave
//! open are operands of a `cute.compute_values`. A tensor that is no argument has an index behind those of the arguments, by a `cute.compute_view`; what is computed in a branch has
//! a `cute.compute_here` there. `rows_a` and `rows_b` are the index tensors of rows, `groups` the ends of groups of them.

use super::{element_of, plan::HostPlan, region};
use cute_ir::{
    Expected, Failure,
    attributes::COMPUTES,
    contract, diag,
    mlir::{
        Op, arguments_of, array_of, attribute_of, block_of, body_of, entries_of, entry_of,
        float_value, i64s_of, integer_value, is_index, is_unit, name_of, ops_of, string_of,
        string_value, symbol_of, type_of_attribute, type_value,
    },
    ops::func,
    types::{CuteType, memref_of},
};
use cute_layout::Leaf;
use cute_runtime::package::{At, Compute, Epilogue, Expr, Factor, Gemm, Map, Prologue, Step};
use melior::ir::{Attribute, operation::OperationLike};

/// Kinds, the roles of their tensors, and what else they may have.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    (
        "gemm",
        &["A", "B", "C"],
        &[
            "accumulate",
            "multiply",
            "alpha",
            "beta",
            "prologue_a",
            "ins_a",
            "scalars_a",
            "prologue_b",
            "ins_b",
            "scalars_b",
            "epilogue",
            "ins",
            "outs",
            "reduce",
            "scalars",
            "at_a",
            "at_b",
            "at_c",
            "rows_a",
            "rows_b",
            "groups",
        ],
    ),
    ("copy", &["src", "dst"], &[]),
    ("transpose", &["src", "dst"], &[]),
    ("add", &["a", "b", "out"], &["accumulate"]),
    ("axpby", &["x", "y"], &["alpha", "beta", "accumulate"]),
    ("softmax", &["x", "out"], &["accumulate"]),
    (
        "rms_norm",
        &["x", "weight", "out"],
        &["epsilon", "accumulate"],
    ),
    (
        "attention",
        &["Q", "K", "V", "O"],
        &["scale", "causal", "accumulate"],
    ),
    ("map", &[], &["ins", "outs", "scalars"]),
];

/// The computes of a function, whose plan has the integers that entries leave open, the tensors that are no arguments, and the conditions of what is in branches.
pub(super) fn computes<'c>(op: Op<'c>, plan: &HostPlan<'c>) -> Result<Vec<Compute>, Failure> {
    let Some(all) = attribute_of(op, COMPUTES) else {
        return Ok(Vec::new());
    };
    // The verifier has seen that it is an array.
    array_of(all)
        .expected(op, "an array as cute.computes")?
        .into_iter()
        .enumerate()
        .map(|(index, entry)| {
            let entry = Entry {
                op,
                entry,
                index,
                plan,
            };
            let compute = entry.read()?;
            entry.check_arguments()?;
            let condition = i64::try_from(index)
                .ok()
                .and_then(|at| plan.conditions.get(&at));
            Ok(match condition {
                Some(condition) => Compute::When {
                    condition: condition.clone(),
                    compute: Box::new(compute),
                },
                None => compute,
            })
        })
        .collect()
}

fn wrong(op: Op<'_>, message: &str) -> Failure {
    diag::error(op.location(), message)
}

/// One compute.
struct Entry<'a, 'c> {
    op: Op<'c>,
    entry: Attribute<'c>,
    index: usize,
    plan: &'a HostPlan<'c>,
}

impl<'c> Entry<'_, 'c> {
    fn read(&self) -> Result<Compute, Failure> {
        let names = self.names();
        let kinds = || KINDS.iter().map(|(kind, ..)| *kind);
        let Some((kind, roles, others)) = KINDS.iter().find(|(kind, ..)| names.contains(kind))
        else {
            let kinds: Vec<_> = kinds().collect();
            return Err(self.wrong(format!(
                "expected a dictionary with one of {}, arguments by index, found {}",
                kinds.join(", "),
                self.entry
            )));
        };
        let extra = names
            .iter()
            .find(|name| *name != kind && !others.contains(name));
        if let Some(extra) = extra {
            let may = match others {
                [] => "nothing else".to_owned(),
                others => others.join(", "),
            };
            return Err(self.wrong(format!("{kind} has {may}, found {extra}")));
        }
        if *kind == "map" {
            return self.map();
        }
        let at = self.indices(kind, roles)?;
        let accumulate = self.ty("accumulate")?;
        Ok(match *kind {
            "gemm" => {
                let accumulate = accumulate.ok_or_else(|| {
                    self.wrong("expected {gemm = array<i64: A, B, C>, accumulate = f32}, arguments by index".into())
                })?;
                Compute::Gemm(Gemm {
                    multiply: self.ty("multiply")?,
                    alpha: self.factor("alpha")?,
                    beta: self.factor("beta")?,
                    prologue_a: self
                        .prologue(at[0], ["prologue_a", "ins_a", "scalars_a"])?
                        .map(Box::new),
                    prologue_b: self
                        .prologue(at[1], ["prologue_b", "ins_b", "scalars_b"])?
                        .map(Box::new),
                    epilogue: self.epilogue(&accumulate)?,
                    at_a: self.coordinates("at_a")?.map(Box::new),
                    at_b: self.coordinates("at_b")?.map(Box::new),
                    at_c: self.coordinates("at_c")?.map(Box::new),
                    rows_a: self.list("rows_a")?.first().copied(),
                    rows_b: self.list("rows_b")?.first().copied(),
                    groups: self.list("groups")?.first().copied(),
                    ..Gemm::new(at[0], at[1], at[2], accumulate)
                })
            }
            "copy" => Compute::Copy {
                src: at[0],
                dst: at[1],
            },
            "transpose" => Compute::Transpose {
                src: at[0],
                dst: at[1],
            },
            "add" => Compute::Add {
                a: at[0],
                b: at[1],
                out: at[2],
                accumulate,
            },
            "axpby" => Compute::Axpby {
                x: at[0],
                y: at[1],
                alpha: self.factor("alpha")?.unwrap_or(Factor::Constant(1.0)),
                beta: self.factor("beta")?.unwrap_or(Factor::Constant(1.0)),
                accumulate,
            },
            "softmax" => Compute::Softmax {
                x: at[0],
                out: at[1],
                accumulate,
            },
            "rms_norm" => Compute::RmsNorm {
                x: at[0],
                weight: at[1],
                out: at[2],
                epsilon: self.factor("epsilon")?.unwrap_or(Factor::Constant(0.0)),
                accumulate,
            },
            _ => Compute::Attention {
                q: at[0],
                k: at[1],
                v: at[2],
                out: at[3],
                scale: self.factor("scale")?.unwrap_or(Factor::Constant(1.0)),
                causal: self.flag("causal")?,
                accumulate,
            },
        })
    }

    /// The epilogue of a product that is summed in a type; none where it has none.
    fn epilogue(&self, accumulate: &str) -> Result<Option<Epilogue>, Failure> {
        let (inputs, outputs) = (self.list("ins")?, self.list("outs")?);
        let scalars = self.list("scalars")?;
        let is_reduced = entry_of(self.entry, "reduce").is_some();
        if entry_of(self.entry, "epilogue").is_none() && (!outputs.is_empty() || is_reduced) {
            return Err(self.missing("epilogue", ["ins", "outs", "scalars"]));
        }
        let Some(function) = self.region_function("epilogue", &inputs, &scalars, |name| {
            self.missing(name, ["ins", "outs", "scalars"])
        })?
        else {
            return Ok(None);
        };
        let mut elements = vec![accumulate.to_owned()];
        elements.extend(self.elements(&inputs)?);
        let region = region::of_function(function, "the sum", &elements, &scalars)?;
        Ok(Some(Epilogue {
            inputs,
            outputs,
            reduce: self.texts("reduce")?,
            region,
        }))
    }

    /// A list of texts; empty where there is none.
    fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return Ok(Vec::new());
        };
        let all = array_of(attribute).unwrap_or_default();
        let all: Option<Vec<String>> = all
            .into_iter()
            .map(|text| string_value(text).map(str::to_owned))
            .collect();
        all.filter(|all| !all.is_empty()).ok_or_else(|| {
            self.wrong(format!(
                "expected {name} = [\"maximum\", \"\"], a kind or an empty text for each of outs, found {attribute}"
            ))
        })
    }

    /// The prologue of a factor, which is an argument, by the names of its entries; none where it has none.
    fn prologue(
        &self,
        factor: usize,
        [name, ins, scalars]: [&str; 3],
    ) -> Result<Option<Prologue>, Failure> {
        let (inputs, numbers) = (self.list(ins)?, self.list(scalars)?);
        let missing = |name: &str| {
            self.wrong(format!(
                "{ins} and {scalars} are those of a prologue; expected {name} = @function"
            ))
        };
        let Some(function) = self.region_function(name, &inputs, &numbers, missing)? else {
            return Ok(None);
        };
        let elements = self.elements(&[&[factor], &inputs[..]].concat())?;
        let region = region::of_function(function, "the element", &elements, &numbers)?;
        Ok(Some(Prologue { inputs, region }))
    }

    /// A list of arguments by index; empty where there is none.
    fn list(&self, name: &str) -> Result<Vec<usize>, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return Ok(Vec::new());
        };
        let all = i64s_of(attribute).unwrap_or_default();
        let all: Option<Vec<_>> = all.iter().map(|i| usize::try_from(*i).ok()).collect();
        all.filter(|all| !all.is_empty()).ok_or_else(|| {
            self.wrong(format!(
                "expected {name} = array<i64: 3, 4>, arguments by index, found {attribute}"
            ))
        })
    }

    /// A map of whole tensors.
    fn map(&self) -> Result<Compute, Failure> {
        let (inputs, outputs) = (self.list("ins")?, self.list("outs")?);
        let scalars = self.list("scalars")?;
        let missing = |name: &str| self.wrong(format!("expected {name} = @function"));
        let function = self.region_function("map", &inputs, &scalars, missing)?;
        let function = function.expected(self.op, "a map")?;
        let elements = self.elements(&inputs)?;
        let region = region::of_function(
            function,
            "an element of the first tensor",
            &elements,
            &scalars,
        )?;
        Ok(Compute::Map(Map {
            inputs,
            outputs,
            region,
        }))
    }

    fn missing(&self, name: &str, [ins, outs, scalars]: [&str; 3]) -> Failure {
        self.wrong(format!(
            "{ins}, {outs} and {scalars} are those of an epilogue; expected {name} = @function"
        ))
    }

    /// The names of the element types of arguments. Errors: one that is no tensor.
    fn elements(&self, arguments: &[usize]) -> Result<Vec<String>, Failure> {
        let all = body_of(self.op, 0).map(arguments_of).unwrap_or_default();
        let element = |at: &usize| {
            if let Some(view) = self.plan.views.get(at) {
                return Ok(view.element.clone());
            }
            let tensor = all.get(*at).and_then(|value| memref_of(*value));
            tensor
                .map(|tensor| element_of(tensor.element))
                .ok_or_else(|| {
                    self.wrong(format!(
                        "expected a tensor as argument {at}, whose elements a region takes"
                    ))
                })
        };
        arguments.iter().map(element).collect()
    }

    /// The function that an entry names; none where there is no such entry, nor arguments for it.
    fn region_function(
        &self,
        name: &str,
        inputs: &[usize],
        scalars: &[usize],
        missing: impl Fn(&str) -> Failure,
    ) -> Result<Option<Op<'c>>, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return match inputs.len() + scalars.len() {
                0 => Ok(None),
                _ => Err(missing(name)),
            };
        };
        let function = symbol_of(attribute).and_then(|path| {
            let [name] = path[..] else { return None };
            let module = block_of(self.op)?;
            let mut ops = ops_of(module).into_iter();
            ops.find(|op| name_of(*op) == func::FUNC && string_of(*op, "sym_name") == Some(name))
        });
        function.map(Some).ok_or_else(|| {
            self.wrong(format!(
                "expected {name} = @function, a func.func of numbers beside this one, found {attribute}"
            ))
        })
    }

    fn wrong(&self, message: String) -> Failure {
        wrong(self.op, &format!("{COMPUTES}: {message}"))
    }

    /// The names of its entries; none for what is no dictionary.
    fn names(&self) -> Vec<&'c str> {
        let entries = entries_of(self.entry).unwrap_or_default();
        entries.into_iter().map(|(name, _)| name).collect()
    }

    fn indices(&self, kind: &str, roles: &[&str]) -> Result<Vec<usize>, Failure> {
        let expected = || {
            self.wrong(format!(
                "expected {kind} = array<i64: {}>, arguments by index",
                roles.join(", ")
            ))
        };
        entry_of(self.entry, kind)
            .and_then(i64s_of)
            .filter(|all| all.len() == roles.len())
            .ok_or_else(expected)?
            .into_iter()
            .map(|index| usize::try_from(index).map_err(|_| expected()))
            .collect()
    }

    /// Refuses indices that are no argument's.
    fn check_arguments(&self) -> Result<(), Failure> {
        let count = body_of(self.op, 0).map_or(0, |body| arguments_of(body).len());
        let is_view = |index: &i64| {
            usize::try_from(*index).is_ok_and(|index| self.plan.views.contains_key(&index))
        };
        for (kind, ..) in KINDS {
            let indices = entry_of(self.entry, kind).and_then(i64s_of);
            let mut indices = indices.into_iter().flatten();
            let beyond = |index: &i64| usize::try_from(*index).map_or(true, |index| index >= count);
            if let Some(index) = indices.find(|index| beyond(index) && !is_view(index)) {
                return Err(self.wrong(format!(
                    "expected indices of the function's {count} arguments, from 0 to {}, in {kind}, found {index}",
                    count.saturating_sub(1)
                )));
            }
        }
        Ok(())
    }

    /// The coordinates of an operand; none where there is no such entry.
    fn coordinates(&self, name: &str) -> Result<Option<At>, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return Ok(None);
        };
        let wrong = || {
            self.wrong(format!(
                "expected {name} = !cute.coord_tensor<...> of steps along modes, found {attribute}"
            ))
        };
        let ty = type_value(attribute)
            .and_then(CuteType::get)
            .ok_or_else(wrong)?;
        let CuteType::CoordTensor { start, layout } = ty else {
            return Err(wrong());
        };
        let place = (i64::try_from(self.index).unwrap_or(0), name.to_owned());
        let mut given = self.plan.given.get(&place).into_iter().flatten().cloned();
        let mut number = |leaf: &Leaf| {
            match leaf {
            Leaf::Static(value) => Ok(Expr::Constant(*value)),
            _ => given.next().ok_or_else(|| {
                self.wrong(format!(
                    "expected cute.compute_values of {} \"{name}\" with the integers that {attribute} leaves open",
                    self.index
                ))
            }),
        }
        };
        let first = start
            .leaves()
            .into_iter()
            .map(&mut number)
            .collect::<Result<Vec<_>, _>>()?;
        let mut modes = Vec::new();
        for mode in layout.shape().modes() {
            let leaves = mode.leaves().into_iter().map(&mut number);
            modes.push(leaves.collect::<Result<Vec<_>, _>>()?);
        }
        let mut strides = layout.stride().leaves().into_iter();
        let mut all = Vec::new();
        for mode in modes {
            let mut steps = Vec::new();
            for extent in mode {
                let stride = strides.next().ok_or_else(wrong)?;
                let step = contract::step(stride).map_err(|_| wrong())?;
                let (by, along) = match step {
                    Some((value, along)) => (number(value)?, along),
                    None => (Expr::Constant(0), 0),
                };
                steps.push(Step { extent, by, along });
            }
            all.push(steps);
        }
        Ok(Some(At {
            start: first,
            modes: all,
        }))
    }

    fn ty(&self, name: &str) -> Result<Option<String>, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return Ok(None);
        };
        match type_value(attribute) {
            Some(ty) => Ok(Some(ty.to_string())),
            None => Err(self.wrong(format!(
                "expected {name} = f32 or another type, found {attribute}"
            ))),
        }
    }

    /// Tells whether something holds: `causal`, `causal = true`, or `causal = 1`, as a parameter gives it. It does not where nothing is said.
    fn flag(&self, name: &str) -> Result<bool, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return Ok(false);
        };
        if is_unit(attribute) {
            return Ok(true);
        }
        match integer_value(attribute).and_then(|value| match value {
            0 => Some(false),
            // A boolean is an integer of one bit.
            1 | -1 => Some(true),
            _ => None,
        }) {
            Some(holds) => Ok(holds),
            None => Err(self.wrong(format!(
                "expected {name} = true or false, or 1 or 0, found {attribute}"
            ))),
        }
    }

    fn factor(&self, name: &str) -> Result<Option<Factor>, Failure> {
        let Some(attribute) = entry_of(self.entry, name) else {
            return Ok(None);
        };
        let constant = float_value(attribute).map(Factor::Constant);
        let factor = constant.or_else(|| {
            let index = integer_value(attribute).filter(|_| is_index(type_of_attribute(attribute)));
            let scalar = usize::try_from(index?).ok()?;
            Some(Factor::Argument { scalar })
        });
        factor.map(Some).ok_or_else(|| {
            self.wrong(format!(
                "expected {name} = 1.0 : f32, a number, or {name} = 3 : index, the argument that has it, found {attribute}"
            ))
        })
    }
}

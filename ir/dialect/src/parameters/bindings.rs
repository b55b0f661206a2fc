//! The values of parameters by name.

use super::{Bound, Declared, Kind};
use crate::{Failure, mlir::*, names::did_you_mean, types};
use cute_layout::parameter::{self, Parameter};
use melior::{
    Context,
    ir::{Attribute, Type},
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    fmt,
    rc::Rc,
};

/// The values of parameters by name.
#[derive(Clone, Debug, Default)]
pub struct Bindings<'c>(BTreeMap<String, Bound<'c>>, Failed);

/// The types that have no meaning with some values, with the failures that said so: each is said once, however many ops have it. Bindings that were made of each
/// other share it.
type Failed = Rc<RefCell<HashMap<String, Failure>>>;

impl<'c> Bindings<'c> {
    /// The failure that said that a type has no meaning with these values.
    pub(super) fn failure_of(&self, ty: Type<'c>) -> Option<Failure> {
        let failed = self.1.borrow();
        match failed.is_empty() {
            true => None,
            false => failed.get(&format!("{ty} with {self}")).copied(),
        }
    }

    pub(super) fn note_failure(&self, ty: Type<'c>, failure: Failure) {
        let key = format!("{ty} with {self}");
        self.1.borrow_mut().insert(key, failure);
    }

    /// The values that a caller gives parameters which an op declares; `whose` is the op in messages.
    ///
    /// # Errors
    /// A value of another kind, and one of a parameter that is not declared.
    pub fn given(
        declared: &[Declared<'c>],
        given: Option<Attribute<'c>>,
        whose: &str,
    ) -> Result<Self, String> {
        let mut bindings = Self::default();
        for (name, value) in given.and_then(entries_of).unwrap_or_default() {
            let Some(known) = declared.iter().find(|known| known.name == name) else {
                let names = declared.iter().map(|known| known.name);
                let all: Vec<&str> = names.clone().collect();
                return Err(format!(
                    "expected values of the parameters of {whose}, {}, found one of '{name}'{}",
                    match all.is_empty() {
                        true => "of which it has none".to_owned(),
                        false => all.join(", "),
                    },
                    did_you_mean(name, names)
                ));
            };
            let bound = Bound::of(value).map_err(|wrong| format!("for {name} {wrong}"))?;
            bindings.bind_declared(known, bound, whose)?;
        }
        Ok(bindings)
    }

    fn bind_declared(
        &mut self,
        known: &Declared<'c>,
        bound: Bound<'c>,
        whose: &str,
    ) -> Result<(), String> {
        if bound.kind() != known.kind {
            return Err(format!(
                "expected {} as the parameter {} of {whose}, found the {} {bound}",
                match known.kind {
                    Kind::Integer => "an integer".to_owned(),
                    other => format!("a {}", other.name()),
                },
                known.name,
                bound.kind().name()
            ));
        }
        self.bind(known.name, bound);
        Ok(())
    }

    /// Gives the parameters that have no value yet their defaults.
    ///
    /// # Errors
    /// One without a default.
    pub fn bind_defaults(&mut self, declared: &[Declared<'c>], whose: &str) -> Result<(), String> {
        for known in declared {
            match &known.default {
                _ if self.get(known.name).is_some() => {}
                Some(default) => self.bind(known.name, default.clone()),
                None => {
                    return Err(format!(
                        "expected a value of the parameter {} of {whose}, which has no default",
                        known.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// Gives a parameter a value, in place of the one that it has.
    pub fn bind(&mut self, name: &str, bound: Bound<'c>) {
        self.0.insert(name.to_owned(), bound);
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Bound<'c>> {
        self.0.get(name)
    }

    /// Gives parameters the values that they have in `others`.
    pub fn extend(&mut self, others: &Bindings<'c>) {
        let all = others.0.iter();
        self.0
            .extend(all.map(|(name, bound)| (name.clone(), bound.clone())));
    }

    /// The values as the defaults of `cute.parameters`, beside `own`, which has priority.
    ///
    /// # Errors
    /// A layout or tile that no attribute says.
    pub fn declare(
        &self,
        context: &'c Context,
        own: Attribute<'c>,
    ) -> Result<Attribute<'c>, String> {
        let own = entries_of(own).unwrap_or_default();
        let mut entries = Vec::new();
        for (name, bound) in &self.0 {
            if own.iter().all(|(other, _)| other != name) {
                entries.push((name.as_str(), bound.attribute(context)?));
            }
        }
        entries.extend(own);
        Ok(dictionary(context, &entries))
    }

    fn missing(&self, name: &str) -> String {
        let names = self.0.keys().map(String::as_str);
        let meant = did_you_mean(name, names.clone());
        let all: Vec<&str> = names.collect();
        match (&all[..], meant.is_empty()) {
            ([], _) => format!(
                "expected a parameter, found '{name}', which nothing around it declares; declare it: cute.parameters = {{{name} = 64}}"
            ),
            (all, true) => format!(
                "expected one of the parameters {}, found '{name}'",
                all.join(", ")
            ),
            (_, false) => format!("expected a parameter, found '{name}'{meant}"),
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Result<Parameter, String> {
        match self.get(name) {
            Some(Bound::Integer(value)) => Ok(Parameter::Integer(*value)),
            Some(Bound::Layout(layout)) => Ok(Parameter::Layout(layout.clone())),
            Some(Bound::Tile(tile)) => Ok(Parameter::Tile(tile.clone())),
            Some(Bound::Type(ty)) => Err(format!(
                "expected an integer, a layout or a tile, found the parameter {name}, which is the type {ty}"
            )),
            None => Err(self.missing(name)),
        }
    }

    pub(super) fn lookup_type(&self, name: &str) -> Result<Type<'c>, String> {
        match self.get(name) {
            Some(Bound::Type(ty)) => Ok(*ty),
            Some(other) => Err(format!(
                "expected a type, found the parameter {name}, which is the {} {other}",
                other.kind().name()
            )),
            None => Err(self.missing(name)),
        }
    }

    /// The integer that an expression is computed of parameters to.
    ///
    /// # Errors
    /// No expression, a parameter that is not there or no integer, and what no integer is.
    pub fn integer(&self, text: &str) -> Result<i64, String> {
        let value = parameter::evaluate(text, &|name| self.lookup(name)).map_err(|e| e.to_string());
        value?.ok_or_else(|| "expected parameters whose values are known".to_owned())
    }

    /// The value of the text of a `cute.param`: that of an expression, and 0 or 1 of a comparison of two or of types.
    ///
    /// # Errors
    /// Those of [`Bindings::integer`], and a type compared with something else, or otherwise than by `==` and `!=`.
    pub fn param(&self, context: &'c Context, text: &str) -> Result<i64, String> {
        let Some((left, by, right)) = types::comparison(text) else {
            return self.integer(text);
        };
        let order = match (self.side(context, left)?, self.side(context, right)?) {
            (Some(left), Some(right)) if matches!(by, "==" | "!=") => {
                return Ok(i64::from((left == right) == (by == "==")));
            }
            (Some(_), Some(_)) => {
                return Err(format!("expected == or != between types, found {by}"));
            }
            (None, None) => self.integer(left)?.cmp(&self.integer(right)?),
            (Some(ty), None) => {
                return Err(format!(
                    "expected a type to compare {ty} with, found {right}"
                ));
            }
            (None, Some(ty)) => {
                return Err(format!(
                    "expected a type to compare {ty} with, found {left}"
                ));
            }
        };
        Ok(i64::from(match by {
            "==" => order.is_eq(),
            "!=" => order.is_ne(),
            "<=" => order.is_le(),
            ">=" => order.is_ge(),
            "<" => order.is_lt(),
            _ => order.is_gt(),
        }))
    }

    /// The type that a side of a comparison is; nothing where it is an expression.
    fn side(&self, context: &'c Context, text: &str) -> Result<Option<Type<'c>>, String> {
        if types::is_type(text) {
            let (ty, why) = super::quietly(context, || Type::parse(context, text));
            let ty = ty.ok_or_else(|| format!("expected a type, found '{text}'{why}"))?;
            return Ok(Some(ty));
        }
        Ok(
            match parameter::name_of(text).and_then(|name| self.get(name)) {
                Some(Bound::Type(ty)) => Some(*ty),
                _ => None,
            },
        )
    }

    /// The value of `#cute.param<"text">`.
    pub(super) fn value(&self, context: &'c Context, text: &str) -> Result<Attribute<'c>, String> {
        match parameter::name_of(text).map(|name| (name, self.get(name))) {
            Some((_, Some(bound))) => bound.attribute(context),
            Some((name, None)) => Err(self.missing(name)),
            None => Bound::Integer(self.integer(text)?).attribute(context),
        }
    }
}

impl fmt::Display for Bindings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, bound)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{name} = {bound}")?;
        }
        Ok(())
    }
}

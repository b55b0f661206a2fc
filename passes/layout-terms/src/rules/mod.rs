//! The rules: laws of the layout algebra as data. `README.md` beside this file says how to write one.

mod coalesce;
mod composition;
mod divide;
mod inverse;
mod product;
mod size;
mod swizzle;

use crate::term::Head;
use crate::value::{outer, tuple_of};
use cute_layout::{IntTuple, Layout, Leaf, Swizzle, Tile, ops::Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

/// A law: both sides are the same value wherever the guard holds and the left side is defined.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    lhs: &'static str,
    rhs: &'static str,
    guard: Option<fn(&Env) -> bool>,
    k: fn(&Env) -> Option<Value>,
    /// Tells whether it holds in whatever form the operations of the left side are computed: where its result does not depend
    /// on how a layout is written.
    pub(crate) any: bool,
    /// Tells whether the right side is a part of the left side, so that it is defined wherever that is, and asks for no more
    /// when it is computed.
    pub(crate) narrows: bool,
    /// Tells whether it is about layouts that are computed of operands of open types, and about their domain alone: what such a
    /// layout is beyond it depends on what these types happen to say.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the prover asks"))]
    pub(crate) computed: bool,
}

impl Rule {
    pub(crate) const fn new(name: &'static str, lhs: &'static str, rhs: &'static str) -> Rule {
        Rule {
            name,
            lhs,
            rhs,
            guard: None,
            k: |_| None,
            any: false,
            narrows: false,
            computed: false,
        }
    }

    /// The condition under which the law holds.
    pub(crate) const fn when(self, guard: fn(&Env) -> bool) -> Rule {
        Rule {
            guard: Some(guard),
            ..self
        }
    }

    /// The value `?k` of the right side.
    pub(crate) const fn k(self, k: fn(&Env) -> Option<Value>) -> Rule {
        Rule { k, ..self }
    }

    /// It holds in whatever form things are computed.
    pub(crate) const fn in_any_form(self) -> Rule {
        Rule { any: true, ..self }
    }

    /// Its right side is a part of its left side.
    pub(crate) const fn narrowing(self) -> Rule {
        Rule {
            narrows: true,
            ..self
        }
    }

    /// It is about layouts that are computed of operands of open types, in their domain.
    pub(crate) const fn of_computed(self) -> Rule {
        Rule {
            computed: true,
            ..self
        }
    }

    /// The rule with no guard, for the prover's own test.
    #[cfg(test)]
    pub(crate) const fn unguarded(&self) -> Rule {
        Rule {
            guard: None,
            ..*self
        }
    }

    /// Tells whether the rule has a guard.
    #[cfg(test)]
    pub(crate) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }
}

/// The values and attributes that a guard may look at. Integers may be symbols: what a guard says must follow from their facts.
pub(crate) struct Env {
    pub(crate) values: BTreeMap<char, Value>,
    pub(crate) heads: BTreeMap<char, Head>,
    /// Those of which only what is computed is known.
    pub(crate) typed: BTreeSet<char>,
}

impl Env {
    pub(crate) fn value(&self, name: char) -> Option<&Value> {
        self.values.get(&name)
    }

    /// The layout of that name, that nothing else is behind.
    pub(crate) fn layout(&self, name: char) -> Option<&Layout> {
        match self.value(name) {
            Some(Value::Layout(l)) => Some(l),
            _ => None,
        }
    }

    /// The layout of that name, or the outer one of a composed layout.
    pub(crate) fn outer(&self, name: char) -> Option<&Layout> {
        outer(self.value(name)?)
    }

    pub(crate) fn tuple(&self, name: char) -> Option<&IntTuple> {
        tuple_of(self.value(name)?)
    }

    pub(crate) fn swizzle(&self, name: char) -> Option<&Swizzle> {
        match self.value(name) {
            Some(Value::Swizzle(s)) => Some(s),
            _ => None,
        }
    }

    pub(crate) fn tile(&self, name: char) -> Option<&Tile> {
        match self.value(name) {
            Some(Value::Tile(t)) => Some(t),
            _ => None,
        }
    }

    /// The path of the attributes of that name.
    pub(crate) fn path(&self, name: char) -> Option<&[i64]> {
        self.heads.get(&name)?.mode.as_deref()
    }
}

/// Tells whether the layout of that name is known to be a layout of integer strides that nothing is behind.
pub(crate) fn is_plain(e: &Env, name: char) -> bool {
    e.layout(name).is_some_and(|l| !l.stride().has_basis())
}

/// The number of elements.
pub(crate) fn extents(l: &Layout) -> Option<Leaf> {
    l.shape().product().ok()
}

/// Tells whether a number is known to be at least 2.
pub(crate) fn at_least_two(n: &Leaf) -> bool {
    Leaf::Static(2).at_most(n).is_ok_and(|t| t.is_true())
}

/// Tells whether every mode is known to have several elements: the stride of one that has not does not follow from the
/// function.
pub(crate) fn has_no_unit(l: &Layout) -> bool {
    l.shape().leaves().into_iter().all(at_least_two)
}

/// Tells whether no stride can be negative, as far as that is known.
pub(crate) fn is_forward(l: &Layout) -> bool {
    let zero = Leaf::Static(0);
    let forward = |d: &&Leaf| zero.at_most(d).is_ok_and(|t| t.is_true());
    !l.stride().has_basis() && l.stride().leaves().iter().all(forward)
}

/// Tells whether every offset of `inner` is an index of `outer`.
pub(crate) fn lands_in(inner: &Layout, outer: &Layout) -> bool {
    let fits = || {
        let (reach, size) = (inner.cosize_leaf().ok()?, extents(outer)?);
        Some(reach.at_most(&size).ok()?.is_true())
    };
    is_forward(inner) && fits().unwrap_or(false)
}

/// One side of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pat {
    /// A variable that the left side binds.
    Var(char),
    /// The value that the rule computes.
    Computed,
    Op(Spec, Vec<Pat>),
}

/// An operation of a pattern, with its attributes: none, those that a variable stands for, or a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) op: &'static str,
    attrs: Attributes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Attributes {
    None,
    Var(char),
    Path(i64),
}

impl Spec {
    /// Tells whether the operation is this one, and binds the variable of its attributes.
    pub(crate) fn binds(&self, head: &Head, heads: &mut BTreeMap<char, Head>) -> bool {
        if head.op != self.op {
            return false;
        }
        let bare = head.typed(false);
        match &self.attrs {
            Attributes::None => bare == Head::new(self.op),
            Attributes::Path(i) => bare == Head::at(self.op, &[*i]),
            Attributes::Var(name) => *heads.entry(*name).or_insert(bare.clone()) == bare,
        }
    }

    /// The operation, where the variable of its attributes stands for these.
    pub(crate) fn head(&self, heads: &BTreeMap<char, Head>) -> Option<Head> {
        Some(match &self.attrs {
            Attributes::None => Head::new(self.op),
            Attributes::Path(i) => Head::at(self.op, &[*i]),
            Attributes::Var(name) => Head {
                op: self.op,
                ..heads.get(name)?.clone()
            },
        })
    }

    #[cfg(test)]
    pub(crate) fn variable(&self) -> Option<char> {
        match self.attrs {
            Attributes::Var(name) => Some(name),
            _ => None,
        }
    }
}

/// A rule ready for matching.
pub(crate) struct Compiled {
    pub(crate) rule: &'static Rule,
    pub(crate) lhs: Pat,
    pub(crate) rhs: Pat,
}

impl Compiled {
    pub(crate) fn new(rule: &'static Rule) -> Result<Compiled, String> {
        let side =
            |text| Pat::parse(text).map_err(|why| format!("rule {}: {why} in `{text}`", rule.name));
        let (lhs, rhs) = (side(rule.lhs)?, side(rule.rhs)?);
        if !matches!(lhs, Pat::Op(..)) {
            return Err(format!(
                "rule {}: `{}` is no operation",
                rule.name, rule.lhs
            ));
        }
        Ok(Compiled { rule, lhs, rhs })
    }

    /// Tells whether the guard holds.
    pub(crate) fn holds(&self, env: &Env) -> bool {
        self.rule.guard.is_none_or(|guard| guard(env))
    }

    /// The value `?k`; only where the guard holds.
    pub(crate) fn compute(&self, env: &Env) -> Option<Value> {
        (self.rule.k)(env)
    }
}

impl Pat {
    pub(crate) fn parse(text: &str) -> Result<Pat, String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut tokens = spaced.split_whitespace().peekable();
        let pat = Pat::from_tokens(&mut tokens)?;
        match tokens.next() {
            None => Ok(pat),
            Some(more) => Err(format!("`{more}` after the end")),
        }
    }

    fn from_tokens<'a>(
        tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    ) -> Result<Pat, String> {
        let token = tokens.next().ok_or("it ends too early")?;
        if let Some(name) = token.strip_prefix('?') {
            let mut letters = name.chars();
            return match (letters.next(), letters.next()) {
                (Some('k'), None) => Ok(Pat::Computed),
                (Some(name), None) if name.is_ascii_lowercase() => Ok(Pat::Var(name)),
                _ => Err(format!("no variable `{name}`")),
            };
        }
        if token != "(" {
            return Err(format!("`{token}` where a term should be"));
        }
        let token = tokens.next().ok_or("it ends too early")?;
        let (op, attrs) = match token.split_once('.') {
            None => (token, Attributes::None),
            Some((op, at)) => {
                let name = at.chars().next().filter(char::is_ascii_lowercase);
                let attrs = match (at.parse(), name) {
                    (Ok(path), _) => Attributes::Path(path),
                    (_, Some(name)) if at.len() == 1 => Attributes::Var(name),
                    _ => return Err(format!("no attributes `{at}`")),
                };
                (op, attrs)
            }
        };
        let known = Head::new(op).op;
        if known.is_empty() {
            return Err(format!("no operation `{op}`"));
        }
        let mut operands = Vec::new();
        while tokens.peek().is_some_and(|t| *t != ")") {
            operands.push(Pat::from_tokens(tokens)?);
        }
        tokens.next().ok_or("a `)` is missing")?;
        Ok(Pat::Op(Spec { op: known, attrs }, operands))
    }

    /// The variables of the pattern, and those of its attributes.
    #[cfg(test)]
    pub(crate) fn vars(&self) -> (Vec<char>, Vec<(char, &'static str)>) {
        let (mut terms, mut heads) = (Vec::new(), Vec::new());
        self.collect(&mut terms, &mut heads);
        terms.sort_unstable();
        terms.dedup();
        heads.sort_unstable();
        heads.dedup_by_key(|(name, _)| *name);
        (terms, heads)
    }

    #[cfg(test)]
    fn collect(&self, terms: &mut Vec<char>, heads: &mut Vec<(char, &'static str)>) {
        match self {
            Pat::Var(name) => terms.push(*name),
            Pat::Computed => {}
            Pat::Op(spec, operands) => {
                heads.extend(spec.variable().map(|name| (name, spec.op)));
                operands.iter().for_each(|o| o.collect(terms, heads));
            }
        }
    }
}

/// The files of rules, by topic.
pub(crate) const TOPICS: [(&str, &[Rule]); 7] = [
    ("coalesce", coalesce::RULES),
    ("composition", composition::RULES),
    ("divide", divide::RULES),
    ("product", product::RULES),
    ("inverse", inverse::RULES),
    ("size", size::RULES),
    ("swizzle", swizzle::RULES),
];

/// Every rule, ready for matching.
pub(crate) fn compiled() -> &'static [Compiled] {
    static ALL: OnceLock<Vec<Compiled>> = OnceLock::new();
    // A rule that does not parse is left out here and found by the test below.
    ALL.get_or_init(|| {
        TOPICS
            .iter()
            .flat_map(|(_, rules)| rules.iter())
            .filter_map(|r| Compiled::new(r).ok())
            .collect()
    })
}

/// The names of all rules.
pub fn rule_names() -> Vec<&'static str> {
    compiled().iter().map(|c| c.rule.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_well_formed() {
        let mut names = BTreeSet::new();
        for rule in TOPICS.iter().flat_map(|(_, rules)| rules.iter()) {
            let compiled = Compiled::new(rule).unwrap();
            let name = rule.name;
            assert!(names.insert(name), "two rules are called {name}");
            let (bound, heads) = compiled.lhs.vars();
            let (used, used_heads) = compiled.rhs.vars();
            assert!(
                used.iter().all(|v| bound.contains(v))
                    && used_heads
                        .iter()
                        .all(|(v, _)| heads.iter().any(|(w, _)| w == v)),
                "{name}: the right side invents a variable"
            );
        }
        assert_eq!(names.len(), compiled().len());
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "(coalesce ?a",
            "(coalesce ?a) ?b",
            "(brew ?a)",
            "?ab",
            "?A",
            "one",
            "(get.xy ?a)",
        ] {
            assert!(Pat::parse(text).is_err(), "`{text}` was taken");
        }
    }
}

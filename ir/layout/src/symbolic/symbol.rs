//! Symbols: names with facts.

use std::sync::Arc;

use super::range::Range;
use super::{SymError, SymResult};

/// A named integer and what is known of it. Symbols of one name and different facts are different symbols.
///
/// Facts must hold together: bounds, `div`, the divisors `of` and the lower bounds `least` are used without asking again.
/// Symbols in `of` must be positive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol {
    /// Its name: a letter or `_`, then letters, digits and `_`.
    pub name: Arc<str>,
    /// It is at least this.
    pub min: i64,
    /// It is at most this.
    pub max: Option<i64>,
    /// A positive number that divides it; 1 says nothing.
    pub div: i64,
    /// Positive symbols: `div` times their product divides it.
    pub of: Vec<Arc<Symbol>>,
    /// Symbols and numbers: it is at least their sum.
    pub least: Vec<(Arc<Symbol>, i64)>,
}

impl Symbol {
    /// A positive integer of which nothing else is known.
    pub fn new(name: &str) -> Symbol {
        Symbol {
            name: name.into(),
            min: 1,
            max: None,
            div: 1,
            of: Vec::new(),
            least: Vec::new(),
        }
    }

    /// The same with `div` as a divisor.
    pub fn with_div(mut self, div: i64) -> Symbol {
        self.div = div;
        self
    }

    /// The same between `min` and `max`.
    pub fn with_range(mut self, min: i64, max: Option<i64>) -> Symbol {
        (self.min, self.max) = (min, max);
        self
    }

    /// Errors: a name that is none; facts that no integer satisfies.
    pub(super) fn check(&self) -> SymResult<()> {
        let fail = |cure| {
            Err(SymError::Facts {
                found: self.facts(),
                cure,
            })
        };
        if !is_name(&self.name) {
            let short: String = self.name.chars().take(super::limits::NAME).collect();
            return Err(SymError::Facts {
                found: format!("the name {short}"),
                cure: "begin the name with a letter, and use letters, digits and `_`, 64 at most",
            });
        }
        if self.div < 1 {
            return fail("use a divisor of at least 1");
        }
        if self.of.iter().any(|s| s.min < 1) {
            return fail("say that each symbol in a divisor is at least 1");
        }
        if self.depth() > super::limits::DEPTH {
            return fail("let fewer facts depend on one another");
        }
        if let (Some(lo), Some(hi)) = {
            let r = self.unit_range();
            (r.lo, r.hi)
        } && lo > hi
        {
            return fail("change the bounds or the divisor");
        }
        Ok(())
    }

    /// Symbols that its facts lead to, one after another.
    pub(super) fn depth(&self) -> u32 {
        let below = self.below().map(|s| s.depth());
        1 + below.max().unwrap_or(0)
    }

    fn facts(&self) -> String {
        let mut out = format!("{} >= {}", self.name, self.min);
        if let Some(max) = self.max {
            out += &format!(", {} <= {max}", self.name);
        }
        let number = (self.div != 1).then(|| self.div.to_string());
        let of = self.of.iter().map(|s| s.name.to_string());
        let factors: Vec<String> = number.into_iter().chain(of).collect();
        match &factors[..] {
            [] => {}
            [one] => out += &format!(", {} % {one} == 0", self.name),
            all => out += &format!(", {} % ({}) == 0", self.name, all.join("*")),
        }
        for (s, by) in &self.least {
            out += &format!(", {} + {by} <= {}", s.name, self.name);
        }
        out
    }

    // The symbols that its facts speak of.
    fn below(&self) -> impl Iterator<Item = &Arc<Symbol>> {
        self.of.iter().chain(self.least.iter().map(|(s, _)| s))
    }

    /// Its bounds, those by other symbols too.
    pub(super) fn range(&self) -> Range {
        let others = self
            .least
            .iter()
            .filter_map(|(s, by)| Some(s.range().lo? + i128::from(*by)));
        Range {
            lo: others.chain([self.min.into()]).max(),
            hi: self.max.map(Into::into),
        }
    }

    /// Bounds of the symbol divided by `div`, without the symbols in `of`.
    pub(super) fn part_range(&self) -> Range {
        let d = i128::from(self.div);
        let r = self.range();
        Range {
            lo: r.lo.map(|lo| -(-lo).div_euclid(d)),
            hi: r.hi.map(|hi| hi.div_euclid(d)),
        }
    }

    /// Bounds of the symbol divided by all its known divisors.
    pub(super) fn unit_range(&self) -> Range {
        let part = self.part_range();
        let of = self
            .of
            .iter()
            .fold(Range::exactly(1), |r, s| r.mul(s.range()));
        let (of_lo, of_hi) = (of.lo.unwrap_or(1).max(1), of.hi);
        // The unit u satisfies lo <= u*d <= hi for some d between of_lo and of_hi.
        let lo = part.lo.map(|lo| match (lo > 0, of_hi) {
            (true, Some(d)) => -(-lo).div_euclid(d),
            (true, None) => 1,
            (false, _) => -(-lo).div_euclid(of_lo),
        });
        let hi = part.hi.map(|hi| match (hi < 0, of_hi) {
            (true, Some(d)) => hi.div_euclid(d),
            (true, None) => -1,
            (false, _) => hi.div_euclid(of_lo),
        });
        Range { lo, hi }
    }

    /// The symbol's value, and its unit's, if the facts hold.
    pub(super) fn eval(&self, values: &dyn Fn(&Symbol) -> Option<i64>) -> Option<(i128, i128)> {
        let v = i128::from(values(self)?);
        if !self.range().holds(v) {
            return None;
        }
        let mut d = i128::from(self.div);
        for s in &self.of {
            d = d.checked_mul(s.eval(values)?.0)?;
        }
        for (s, by) in &self.least {
            if s.eval(values)?.0 + i128::from(*by) > v {
                return None;
            }
        }
        (d > 0 && v % d == 0).then(|| (v, v / d))
    }

    pub(super) fn collect(this: &Arc<Symbol>, into: &mut std::collections::BTreeSet<Arc<Symbol>>) {
        if into.insert(this.clone()) {
            for s in this.below() {
                Symbol::collect(s, into);
            }
        }
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == b'_');
    first
        && text != "_"
        && text.len() <= super::limits::NAME
        && bytes.all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

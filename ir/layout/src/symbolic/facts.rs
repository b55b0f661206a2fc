//! Names in scope, and facts about them from text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::SymResult;
use super::atom::Atom;
use super::parse::{Cursor, PResult, SymParseError};
use super::poly::Poly;
use super::symbol::Symbol;
use cute_arith::gcd;

/// The meaning of names.
///
/// A name that nothing is said of is a positive integer, unless the scope is [closed](Scope::closed).
#[derive(Debug, Clone, Default)]
pub struct Scope {
    facts: Vec<Fact>,
    symbols: BTreeMap<String, Arc<Symbol>>,
    closed: bool,
}

#[derive(Debug, Clone)]
struct Fact {
    name: String,
    what: What,
    span: Range<usize>,
}

#[derive(Debug, Clone)]
enum What {
    Min(i64),
    Max(i64),
    // The number times the named symbols divides it.
    Div(i64, Vec<String>),
    // It is at least the named one plus the number.
    Least(String, i64),
}

const KINDS: &str = "a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or \
                     `M <= N`";

impl Scope {
    /// Makes facts that say nothing: each name is a positive integer.
    pub fn new() -> Scope {
        Scope::default()
    }

    /// Makes the scope know the names that are declared, and no others.
    pub fn closed(mut self) -> Scope {
        self.closed = true;
        self
    }

    /// Declares a symbol, in place of one of the same name.
    pub fn insert(&mut self, symbol: Symbol) {
        self.symbols
            .insert(symbol.name.to_string(), Arc::new(symbol));
    }

    /// The symbol of a name. None: the scope is closed, and nothing is said of it.
    pub fn symbol(&self, name: &str) -> Option<Arc<Symbol>> {
        match self.symbols.get(name) {
            Some(s) => Some(s.clone()),
            None => (!self.closed).then(|| Arc::new(Symbol::new(name))),
        }
    }

    /// The same as a polynomial.
    pub fn get(&self, name: &str) -> Option<SymResult<Poly>> {
        self.symbol(name).map(|s| Poly::of_symbol(&s))
    }

    /// The declared symbols, by name.
    pub fn symbols(&self) -> impl Iterator<Item = &Arc<Symbol>> {
        self.symbols.values()
    }

    /// Adds facts, separated by commas, `and` or `&&`, to those that were added before.
    ///
    /// A fact is a divisor (`M % 128 == 0`, `128 | M`, `M % K == 0`, `M % (8*K) == 0`), or a chain of comparisons
    /// (`<= < >= > ==`) of two sides that differ by a multiple of one symbol and a number, or by two symbols and a number
    /// (`1 <= N <= 4096`, `N == 64`, `M <= N`, `M + 2 < N`). A symbol is at least 1 unless a lower bound is given.
    ///
    /// Errors: other facts, and what no integer satisfies.
    pub fn assume(&self, text: &str) -> PResult<Scope> {
        let bare = Bare::scope(text);
        let mut cursor = Cursor::new(text, &bare)?;
        let mut out = self.clone();
        let from = out.facts.len();
        while cursor.peek().is_some() {
            fact(&mut cursor, &mut out.facts)?;
            if out.facts.len() > super::limits::FACTS {
                let limit = super::limits::FACTS;
                return cursor.error(
                    cursor.pos..cursor.pos,
                    format!("expected at most {limit} facts, found more; leave some out"),
                );
            }
            let more = cursor.eat(",") || cursor.eat("&&") || cursor.eat(";") || {
                let at = cursor.pos;
                let and = cursor.name() == Some("and");
                cursor.pos = if and { cursor.pos } else { at };
                and
            };
            if !more && cursor.peek().is_some() {
                return cursor.fail("`,` and another fact, or the end");
            }
        }
        out.build(from, text.len())?;
        Ok(out)
    }

    // The symbols of all facts. `from` is the first one of the text that errors are about.
    fn build(&mut self, from: usize, end: usize) -> PResult<()> {
        let mut names: Vec<&str> = Vec::new();
        for f in &self.facts {
            names.push(&f.name);
            match &f.what {
                What::Div(_, of) => names.extend(of.iter().map(String::as_str)),
                What::Least(other, _) => names.push(other),
                _ => {}
            }
        }
        names.sort_unstable();
        names.dedup();
        let bounds = self.bounds(&names);
        let mut done: BTreeMap<String, Arc<Symbol>> = BTreeMap::new();
        let mut left = names;
        while !left.is_empty() {
            let mut stuck = Vec::new();
            let before = left.len();
            for name in left {
                let all: Vec<&Fact> = self.facts.iter().filter(|f| f.name == name).collect();
                let ready = all.iter().all(|f| match &f.what {
                    What::Div(_, of) => of.iter().all(|k| done.contains_key(k)),
                    What::Least(other, _) => done.contains_key(other),
                    _ => true,
                });
                if !ready {
                    stuck.push(name);
                    continue;
                }
                let last = self.facts.iter().enumerate().rev();
                let span = last
                    .take_while(|(i, _)| *i >= from)
                    .find(|(_, f)| f.name == name)
                    .map_or(0..end, |(_, f)| f.span.clone());
                let symbol = symbol(name, &all, bounds[name], &done, &span)?;
                done.insert(name.to_string(), Arc::new(symbol));
            }
            if stuck.len() == before {
                return Err(SymParseError {
                    span: 0..end,
                    message: format!(
                        "expected facts that do not depend on each other in a circle, found one about {}; leave one of them out",
                        stuck.join(", ")
                    ),
                    need: None,
                });
            }
            left = stuck;
        }
        self.symbols.extend(done);
        Ok(())
    }

    // Bounds, carried along `M + 2 <= N` both ways.
    fn bounds<'a>(&self, names: &[&'a str]) -> BTreeMap<&'a str, (i64, Option<i64>)> {
        let mut out = BTreeMap::new();
        for name in names {
            let (mut min, mut max) = (None, None);
            for f in self.facts.iter().filter(|f| f.name == *name) {
                match f.what {
                    What::Min(v) => min = Some(min.map_or(v, |m: i64| m.max(v))),
                    What::Max(v) => max = Some(max.map_or(v, |m: i64| m.min(v))),
                    _ => {}
                }
            }
            out.insert(*name, (min.unwrap_or(1), max));
        }
        for _ in names {
            for f in &self.facts {
                let What::Least(other, by) = &f.what else {
                    continue;
                };
                let (Some(&(lo, hi)), Some(&(low, top))) =
                    (out.get(f.name.as_str()), out.get(other.as_str()))
                else {
                    continue;
                };
                if let Some(at) = out.get_mut(f.name.as_str()) {
                    at.0 = lo.max(low.saturating_add(*by));
                }
                if let (Some(at), Some(hi)) = (out.get_mut(other.as_str()), hi) {
                    let most = hi.saturating_sub(*by);
                    at.1 = Some(top.map_or(most, |t| t.min(most)));
                }
            }
        }
        out
    }
}

// All names of a text as plain integers, so that facts can be read as polynomials.
struct Bare;

impl Bare {
    fn scope(text: &str) -> Scope {
        let mut scope = Scope::new();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words.filter(|w| super::symbol::is_name(w)) {
            scope.insert(Symbol::new(word).with_range(i64::MIN, None));
        }
        scope
    }
}

fn refuse<T>(span: Range<usize>, found: &str) -> PResult<T> {
    Err(SymParseError {
        message: format!("expected {KINDS}, found `{}`", found.trim()),
        span,
        need: None,
    })
}

// The symbol of `1*symbol`.
fn plain(p: &Poly) -> Option<String> {
    let [(mono, 1)] = p.terms() else {
        return None;
    };
    match &mono.0[..] {
        [(Atom::Unit(s), 1)] => Some(s.name.to_string()),
        _ => None,
    }
}

fn fact(cursor: &mut Cursor<'_>, facts: &mut Vec<Fact>) -> PResult<()> {
    cursor.peek();
    let start = cursor.pos;
    if let Some(name) = cursor.name()
        && cursor.eat("%")
    {
        let by = cursor.unary(false)?;
        if !(cursor.eat("==") || cursor.eat("=")) {
            return cursor.fail("`== 0`");
        }
        let zero = cursor.sum()?;
        let span = start..cursor.pos;
        if !zero.is(0) {
            return refuse(span.clone(), &cursor.text[span]);
        }
        return divisor(cursor, name, &by, span, facts);
    }
    cursor.pos = start;
    let mut left = cursor.sum()?;
    if cursor.eat("|") {
        let Some(name) = cursor.name() else {
            return cursor.fail("a name");
        };
        let span = start..cursor.pos;
        return divisor(cursor, name, &left, span, facts);
    }
    let mut any = false;
    loop {
        let ops = ["<=", ">=", "==", "<", ">", "="];
        let Some(op) = ops.into_iter().find(|op| cursor.eat(op)) else {
            break;
        };
        any = true;
        let right = cursor.sum()?;
        let span = start..cursor.pos;
        let (low, high, strict) = match op {
            ">=" | ">" => (&right, &left, op == ">"),
            _ => (&left, &right, op == "<"),
        };
        at_most(cursor, low, high, strict, &span, facts)?;
        if matches!(op, "==" | "=") {
            at_most(cursor, high, low, false, &span, facts)?;
        }
        left = right;
    }
    if any {
        return Ok(());
    }
    let span = start..cursor.pos;
    if cursor.peek().is_some() {
        return cursor.fail("a comparison");
    }
    refuse(span.clone(), &cursor.text[span])
}

fn divisor(
    cursor: &Cursor<'_>,
    name: &str,
    by: &Poly,
    span: Range<usize>,
    facts: &mut Vec<Fact>,
) -> PResult<()> {
    let found = cursor.text[span.clone()].to_string();
    let [(mono, c @ 1..)] = by.terms() else {
        return refuse(span, &found);
    };
    let mut of = Vec::new();
    for (atom, e) in &mono.0 {
        let Atom::Unit(s) = atom else {
            return refuse(span, &found);
        };
        of.extend((0..*e).map(|_| s.name.to_string()));
    }
    facts.push(Fact {
        name: name.to_string(),
        what: What::Div(*c, of),
        span,
    });
    Ok(())
}

// Adds `low <= high`.
fn at_most(
    cursor: &Cursor<'_>,
    low: &Poly,
    high: &Poly,
    strict: bool,
    span: &Range<usize>,
    facts: &mut Vec<Fact>,
) -> PResult<()> {
    let bad = || refuse(span.clone(), &cursor.text[span.clone()]);
    let Ok(d) = high
        .sub(low)
        .and_then(|d| d.add(&Poly::constant(-i64::from(strict))))
    else {
        return bad();
    };
    let c = d.constant_term();
    let Ok(slope) = d.add(&Poly::constant(c.wrapping_neg())) else {
        return bad();
    };
    let (name, what) = match slope.terms() {
        // A comparison of numbers says nothing if it holds.
        [] if c >= 0 => return Ok(()),
        [(_, a)] => {
            let a = i128::from(*a);
            let Some(name) = slope
                .reduced(&super::order::Mono::one(), a)
                .ok()
                .and_then(|p| plain(&p))
            else {
                return bad();
            };
            // a*x + c >= 0
            let at = i128::from(c).div_euclid(a.abs());
            let bound = if a > 0 { -at } else { at };
            let Ok(bound) = i64::try_from(bound) else {
                return bad();
            };
            let what = if a > 0 {
                What::Min(bound)
            } else {
                What::Max(bound)
            };
            (name, what)
        }
        [(m, a), (n, b)] if (*a, *b) == (1, -1) || (*a, *b) == (-1, 1) => {
            let (more, less) = if *a == 1 { (m, n) } else { (n, m) };
            let one = |m: &super::order::Mono| Poly::monic(m.clone()).ok().and_then(|p| plain(&p));
            let (Some(more), Some(less), Some(by)) = (one(more), one(less), c.checked_neg()) else {
                return bad();
            };
            (more, What::Least(less, by))
        }
        _ => return bad(),
    };
    facts.push(Fact {
        name,
        what,
        span: span.clone(),
    });
    Ok(())
}

fn symbol(
    name: &str,
    facts: &[&Fact],
    (min, max): (i64, Option<i64>),
    done: &BTreeMap<String, Arc<Symbol>>,
    span: &Range<usize>,
) -> PResult<Symbol> {
    let fail = |message: String| {
        Err(SymParseError {
            span: span.clone(),
            message,
            need: None,
        })
    };
    let mut out = Symbol::new(name).with_range(min, max);
    // The one divisor with symbols, if there is one; numbers are collected apart.
    let mut of: Option<(i64, Vec<String>)> = None;
    let mut div = 1i128;
    for f in facts {
        match &f.what {
            What::Div(c, k) if k.is_empty() => {
                div = div / gcd::<i128>(div, (*c).into()) * i128::from(*c);
                if i64::try_from(div).is_err() {
                    return fail(format!(
                        "expected a divisor of {name} of 64 bits, found {div}"
                    ));
                }
            }
            What::Div(c, k) => {
                let mut k = k.clone();
                k.sort();
                match &mut of {
                    None => of = Some((*c, k)),
                    Some((d, same)) if *same == k => {
                        // c*K and d*K divide it, so that lcm(c, d)*K does.
                        let both =
                            i128::from(*d) / gcd::<i128>((*d).into(), (*c).into()) * i128::from(*c);
                        let Ok(both) = i64::try_from(both) else {
                            return fail(format!(
                                "expected a divisor of {name} of 64 bits, found {both}"
                            ));
                        };
                        *d = both;
                    }
                    Some((_, other)) => {
                        return fail(format!(
                            "expected one product of symbols that divides {name}, found {} and {}; say `{name} % ({}*{}) == 0` if \
                             that holds",
                            other.join("*"),
                            k.join("*"),
                            other.join("*"),
                            k.join("*")
                        ));
                    }
                }
            }
            What::Least(other, by) => out.least.push((done[other].clone(), *by)),
            What::Min(_) | What::Max(_) => {}
        }
    }
    out.div = div as i64;
    if let Some((c, k)) = of {
        out.of = k.iter().map(|k| done[k].clone()).collect();
        out.div = c;
        let all = out
            .of
            .iter()
            .try_fold(i128::from(c), |d, s| d.checked_mul(s.div.into()));
        if all.is_none_or(|all| all % div != 0) {
            return fail(format!(
                "expected a divisor of {name} that holds all others, found {div} and {}; say `{name} % ({}*{}) == 0` if that \
                 holds",
                match c {
                    1 => k.join("*"),
                    _ => format!("{c}*{}", k.join("*")),
                },
                div / gcd(div, c.into()) * i128::from(c),
                k.join("*")
            ));
        }
    }
    out.least.sort();
    match out.check() {
        Ok(()) => Ok(out),
        Err(e) => fail(e.to_string()),
    }
}

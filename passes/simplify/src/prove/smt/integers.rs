//! The same questions over the integers: products and quotients of variables, of which the solver knows little as bit-vectors. What wraps
//! is a remainder by two to the width. There are no bits here: a rule that asks for some is not asked about this way.

use super::terms::Term;
use crate::rules::{Pat, Typed};
use cute_arith::{Cast, Op, Predicate, mask};

/// A term of SMT-LIB, taken apart.
enum Tree<'t> {
    Atom(&'t str),
    List(Vec<Tree<'t>>),
}

impl<'t> Tree<'t> {
    fn read(text: &'t str) -> Tree<'t> {
        let mut lists: Vec<Vec<Tree>> = vec![Vec::new()];
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| !c.is_whitespace()) {
            rest = &rest[at..];
            let end = match rest.as_bytes()[0] {
                b'(' | b')' => 1,
                _ => rest.find([' ', '(', ')', '\n']).unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(end);
            match token {
                "(" => lists.push(Vec::new()),
                ")" => {
                    let list = lists.pop().unwrap();
                    lists.last_mut().unwrap().push(Tree::List(list));
                }
                atom => lists.last_mut().unwrap().push(Tree::Atom(atom)),
            }
            rest = after;
        }
        lists.pop().unwrap().pop().unwrap()
    }

    fn atom(&self) -> Option<&'t str> {
        match self {
            Tree::Atom(atom) => Some(atom),
            Tree::List(_) => None,
        }
    }

    /// The term over integers; nothing where it is about bits.
    fn over_integers(&self) -> Option<String> {
        let list = match self {
            Tree::Atom(atom) => {
                return match atom.strip_prefix("#x") {
                    Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n.to_string()),
                    None => Some((*atom).to_owned()),
                };
            }
            Tree::List(list) => list,
        };
        if let [Tree::List(head), term] = &list[..] {
            let extends = head.get(1)?.atom()? == "zero_extend";
            return extends.then(|| term.over_integers()).flatten();
        }
        let head = list.first()?.atom()?;
        if let ("bvuge", [_, Tree::List(sum), term]) = (head, &list[..])
            && let [Tree::Atom("bvadd"), a, b] = &sum[..]
            && a.over_integers() == term.over_integers()
        {
            // Rust's check whether a sum of 64 bits fits.
            return Some(format!(
                "(<= (+ {} {}) {})",
                a.over_integers()?,
                b.over_integers()?,
                u64::MAX
            ));
        }
        let parts: Option<Vec<String>> = list[1..].iter().map(Tree::over_integers).collect();
        let parts = parts?.join(" ");
        let wraps = |op: &str| format!("(mod ({op} {parts}) {})", power(64));
        Some(match head {
            "bvadd" => wraps("+"),
            "bvsub" => wraps("-"),
            "bvmul" => wraps("*"),
            "bvumulo" => format!("(> (* {parts}) {})", u64::MAX),
            // By zero they are anything here, so that a proof does not rest on it.
            "bvudiv" => format!("(div {parts})"),
            "bvurem" => format!("(mod {parts})"),
            "bvult" => format!("(< {parts})"),
            "bvule" => format!("(<= {parts})"),
            "bvugt" => format!("(> {parts})"),
            "bvuge" => format!("(>= {parts})"),
            "and" | "or" | "not" | "ite" | "=" | "distinct" => format!("({head} {parts})"),
            _ => return None,
        })
    }
}

/// Two to the power of the width.
pub(super) fn power(width: u32) -> u128 {
    1 << width
}

/// A guard or a computed constant over the integers; nothing where it is about bits.
pub(super) fn term(text: &str) -> Option<String> {
    Tree::read(text).over_integers()
}

/// A side of a rule at these widths, as [`super::terms::side`] gives it; nothing where it is about bits or signs.
pub(super) fn side(typed: &Typed, widths: &[u32]) -> Option<Term> {
    let parts = typed.pat.parts().iter().map(|part| side(part, widths));
    let parts: Vec<Term> = parts.collect::<Option<_>>()?;
    let width = widths[typed.width];
    let wrap = power(width);
    let defined = |parts: &[Term]| {
        let all: Vec<&str> = parts.iter().map(|part| part.defined.as_str()).collect();
        format!("(and true {})", all.join(" "))
    };
    let mut is_defined = defined(&parts);
    let text = match (&typed.pat, &parts[..]) {
        (Pat::Const(value), _) => (value & mask(width)).to_string(),
        (Pat::Var(slot), _) => format!("v{slot}"),
        (Pat::Computed(index), _) => format!("(mod k{index} {wrap})"),
        (Pat::Op(op, _), [a, b]) => {
            let (a, b) = (&a.text, &b.text);
            let all = wrap - 1;
            if matches!(op, Op::DivU | Op::RemU | Op::CeilDivU) {
                is_defined = format!("(and {is_defined} (distinct {b} 0))");
            }
            match op {
                Op::Add => format!("(mod (+ {a} {b}) {wrap})"),
                Op::Sub => format!("(mod (- {a} {b}) {wrap})"),
                Op::Mul => format!("(mod (* {a} {b}) {wrap})"),
                Op::DivU => format!("(ite (= {b} 0) {all} (div {a} {b}))"),
                Op::RemU => format!("(ite (= {b} 0) {a} (mod {a} {b}))"),
                Op::CeilDivU => format!(
                    "(ite (= {b} 0) {all} (mod (+ (div {a} {b}) (ite (= (mod {a} {b}) 0) 0 1)) {wrap}))"
                ),
                Op::MinU => format!("(ite (<= {a} {b}) {a} {b})"),
                Op::MaxU => format!("(ite (<= {a} {b}) {b} {a})"),
                _ => return None,
            }
        }
        (Pat::Compare(predicate, _), [a, b]) => {
            let name = match predicate {
                Predicate::Eq => "=",
                Predicate::Ne => "distinct",
                Predicate::Ult => "<",
                Predicate::Ule => "<=",
                Predicate::Ugt => ">",
                Predicate::Uge => ">=",
                _ => return None,
            };
            format!("(ite ({name} {} {}) 1 0)", a.text, b.text)
        }
        (Pat::Cast(Cast::ZeroExtend, _), [a]) => a.text.clone(),
        (Pat::Cast(Cast::Truncate, _), [a]) => format!("(mod {} {wrap})", a.text),
        _ => return None,
    };
    Some(Term {
        text,
        defined: is_defined,
    })
}

//! Tuples, layouts and tilers as texts of types, where symbols are parameters.

use std::collections::BTreeSet;

use cute_layout::symbolic::Poly;
use cute_layout::{Dyn, IntTuple, Layout, Leaf, Term, Tile};

use crate::failure::Fault;

/// The functions that parameters have, besides `floor_div`, which is written with others.
const FUNCTIONS: [&str; 3] = ["ceil_div", "min", "max"];

/// Names of symbols that were met.
pub type Symbols = BTreeSet<String>;

/// A tuple as in a type.
pub fn tuple(t: &IntTuple, symbols: &mut Symbols) -> Result<String, Fault> {
    match t {
        IntTuple::Leaf(l) => leaf(l, symbols),
        IntTuple::Tuple(modes) => {
            let modes = modes.iter().map(|m| tuple(m, symbols));
            let modes: Vec<String> = modes.collect::<Result<_, _>>()?;
            Ok(format!("({})", modes.join(",")))
        }
    }
}

/// A layout as in a type.
pub fn layout(l: &Layout, symbols: &mut Symbols) -> Result<String, Fault> {
    let (shape, stride) = (tuple(l.shape(), symbols)?, tuple(l.stride(), symbols)?);
    Ok(format!("{shape}:{stride}"))
}

/// A tiler as in a type.
pub fn tile(t: &Tile, symbols: &mut Symbols) -> Result<String, Fault> {
    match t {
        Tile::Layout(l) => layout(l, symbols),
        Tile::Underscore => Ok("_".into()),
        Tile::Modes(modes) => {
            let modes = modes.iter().map(|m| tile(m, symbols));
            let modes: Vec<String> = modes.collect::<Result<_, _>>()?;
            Ok(format!("[{}]", modes.join(";")))
        }
    }
}

fn leaf(l: &Leaf, symbols: &mut Symbols) -> Result<String, Fault> {
    match l {
        Leaf::Dynamic(Dyn {
            term: Term::Symbolic(p),
            ..
        }) => parameter(p, symbols),
        Leaf::Basis { value, path } => {
            let path: String = path.iter().rev().map(|i| format!("@{i}")).collect();
            Ok(leaf(value, symbols)? + &path)
        }
        other => Ok(other.to_string()),
    }
}

fn parameter(p: &Poly, symbols: &mut Symbols) -> Result<String, Fault> {
    let text = p.to_string();
    let written = rewrite(&text).ok_or_else(|| {
        Fault::Call(format!(
            "expected sums, products, quotients, remainders, ceil_div, min and max of symbols, which types can have, \
             found {text}; say more of its symbols, as in --where 'M >= 32'"
        ))
    })?;
    symbols.extend(p.symbols().iter().map(|s| s.name.to_string()));
    Ok(match is_word(&written) {
        true => format!("${written}"),
        false => format!("$({written})"),
    })
}

/// A polynomial's text in the words of parameters: powers are products, and `floor_div(a,b)` is `(a-a%b)/b`. None where it has
/// another function.
fn rewrite(text: &str) -> Option<String> {
    let mut out = String::new();
    // Where the factor that a `^` would be of begins.
    let mut factor = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c == '^' {
            let digits = text[at + 1..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            let exponent: usize = text[at + 1..at + 1 + digits].parse().ok()?;
            let one = out[factor..].to_string();
            let rest = vec![one; exponent.checked_sub(1)?];
            // A quotient by a power is one by each factor.
            let over = out[..factor].ends_with('/');
            rest.iter()
                .for_each(|f| out += &format!("{}{f}", if over { '/' } else { '*' }));
            at += 1 + digits;
            continue;
        }
        factor = out.len();
        let name = text[at..].bytes();
        let name = name
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        let (word, behind) = (&text[at..at + name], at + name);
        if text[behind..].starts_with('(') {
            let end = behind + closing(&text[behind..])?;
            let arguments = arguments(&text[behind + 1..end]);
            let arguments: Vec<String> =
                arguments.into_iter().map(rewrite).collect::<Option<_>>()?;
            match (word, &arguments[..]) {
                ("floor_div", [a, b]) => {
                    let [a, b] = [a, b].map(|part| apart(part));
                    out += &format!("(({a}-{a}%{b})/{b})");
                }
                ("", [inner]) => out += &format!("({inner})"),
                (word, [first, others @ ..]) if FUNCTIONS.contains(&word) => {
                    // Parameters take two at a time.
                    let one = |all: String, b: &String| format!("{word}({all},{b})");
                    out += &others.iter().fold(first.clone(), one);
                }
                _ => return None,
            }
            at = end + 1;
        } else if name > 0 {
            out += word;
            at = behind;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    Some(out)
}

/// An expression as a factor.
fn apart(text: &str) -> String {
    match is_word(text) {
        true => text.into(),
        false => format!("({text})"),
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The place of the parenthesis that closes the first.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.bytes().position(|b| {
        depth += i32::from(b == b'(') - i32::from(b == b')');
        depth == 0
    })
}

/// The arguments between commas that stand in no parentheses.
fn arguments(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && c == ','
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_layout::parameter::{Parameter, evaluate};

    #[test]
    fn polynomials_are_written_as_parameters_are() {
        let known = |name: &str| {
            Ok(Parameter::Integer(match name {
                "M" => 7,
                _ => 3,
            }))
        };
        for (text, written, value) in [
            ("M", "M", 7),
            ("128*K", "128*K", 384),
            ("M^2*K", "M*M*K", 147),
            ("441/K^2", "441/K/K", 49),
            ("min(M,K,0)^2", "min(min(M,K),0)*min(min(M,K),0)", 0),
            ("floor_div(M,K)+1", "((M-M%K)/K)+1", 3),
            ("floor_div(M+1,2*K)", "(((M+1)-(M+1)%(2*K))/(2*K))", 1),
            ("K*(M%4)", "K*(M%4)", 9),
            ("-ceil_div(M,K)", "-ceil_div(M,K)", -3),
        ] {
            let found = rewrite(text).unwrap_or_default();
            assert_eq!(found, written, "{text}");
            assert_eq!(evaluate(&found, &known), Ok(Some(value)), "{text}");
        }
        assert_eq!(rewrite("sign(M)"), None);
        assert_eq!(rewrite("2*(M+sign(M-K))"), None);
    }
}

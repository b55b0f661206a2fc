//! The sides of rules: their text, and the widths in them, which are inferred.

use super::{BOUND, WIDTHS, is_constant_slot, is_varying_slot};
use cute_arith::{Cast, Op, Predicate};

/// One side of a rule, or a part of it, and the number of its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) pat: Pat<Typed>,
    pub(crate) width: usize,
    /// The number of levels that a match can look below its root.
    pub(crate) height: usize,
    /// The parts in the order in which they are looked for: variables first, which leave less to try for the others.
    pub(crate) order: [u8; 3],
    /// The bits that a class has to have for a match: that of a kind of term ([`Kind::bit`]), or what is known of its value ([`value_bits`]).
    pub(crate) needs: u64,
    /// The bits that operands of its terms have to have, one or the other.
    pub(crate) needs_below: u64,
}

/// The bit of classes of which the value is known.
const KNOWN: u64 = 1 << 62;
/// The bit of classes of which the value is not known.
const UNKNOWN: u64 = 1 << 63;
/// The bits of classes that are 0, and that are 1.
const SMALL: [u64; 2] = [1 << 60, 1 << 61];

/// The bits of a class by its value, if that is known.
pub(crate) fn value_bits(constant: Option<u64>) -> u64 {
    match constant {
        None => UNKNOWN,
        Some(value @ (0 | 1)) => KNOWN | SMALL[value as usize],
        Some(_) => KNOWN,
    }
}

/// A pattern of parts that are known as `P`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pat<P> {
    Const(u64),
    /// A variable that the left side binds, by slot.
    Var(usize),
    /// A computed constant.
    Computed(usize),
    Op(Op, Box<[P; 2]>),
    Compare(Predicate, Box<[P; 2]>),
    Cast(Cast, Box<[P; 1]>),
    Select(Box<[P; 3]>),
}

/// A side of a rule as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written(Pat<Written>);

/// The operation of a term without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Op(Op),
    Compare(Predicate),
    Cast(Cast),
    Select,
}

impl Kind {
    /// A number for each.
    pub(crate) const fn number(self) -> u32 {
        const OPS: u32 = Op::ALL.len() as u32;
        const PREDICATES: u32 = Predicate::ALL.len() as u32;
        const CASTS: u32 = Cast::ALL.len() as u32;
        match self {
            Kind::Op(op) => op as u32,
            Kind::Compare(predicate) => OPS + predicate as u32,
            Kind::Cast(cast) => OPS + PREDICATES + cast as u32,
            Kind::Select => OPS + PREDICATES + CASTS,
        }
    }

    /// A bit for each.
    pub(crate) const fn bit(self) -> u64 {
        1 << self.number()
    }
}

/// The words that operations are written with.
const OPS: [(&str, Op); 20] = [
    ("+", Op::Add),
    ("-", Op::Sub),
    ("*", Op::Mul),
    ("/", Op::DivU),
    ("%", Op::RemU),
    ("&", Op::And),
    ("|", Op::Or),
    ("^", Op::Xor),
    ("<<", Op::Shl),
    (">>", Op::ShrU),
    ("min", Op::MinU),
    ("max", Op::MaxU),
    ("ceil", Op::CeilDivU),
    ("divs", Op::DivS),
    ("rems", Op::RemS),
    ("floors", Op::FloorDivS),
    ("ceils", Op::CeilDivS),
    ("mins", Op::MinS),
    ("maxs", Op::MaxS),
    ("shrs", Op::ShrS),
];

/// The words that conversions are written with.
const CASTS: [(&str, Cast); 3] = [
    ("sext", Cast::SignExtend),
    ("zext", Cast::ZeroExtend),
    ("trunc", Cast::Truncate),
];

/// The word that an operation is written with.
pub(crate) fn word(op: Op) -> &'static str {
    let found = OPS.iter().find(|(_, known)| *known == op);
    found.map_or("?", |(word, _)| word)
}

/// The word that a conversion is written with.
pub(crate) fn cast_word(cast: Cast) -> &'static str {
    let found = CASTS.iter().find(|(_, known)| *known == cast);
    found.map_or("?", |(word, _)| word)
}

impl<P> Pat<P> {
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Pat::Const(_) | Pat::Var(_) | Pat::Computed(_) => None,
            Pat::Op(op, _) => Some(Kind::Op(*op)),
            Pat::Compare(predicate, _) => Some(Kind::Compare(*predicate)),
            Pat::Cast(cast, _) => Some(Kind::Cast(*cast)),
            Pat::Select(_) => Some(Kind::Select),
        }
    }

    /// The parts of the pattern, in their order.
    pub(crate) fn parts(&self) -> &[P] {
        match self {
            Pat::Const(_) | Pat::Var(_) | Pat::Computed(_) => &[],
            Pat::Op(_, parts) | Pat::Compare(_, parts) => &parts[..],
            Pat::Cast(_, parts) => &parts[..],
            Pat::Select(parts) => &parts[..],
        }
    }
}

impl Pat<Typed> {
    pub(crate) fn parse(text: &str) -> Result<Pat<Written>, String> {
        let mut tokens = tokens(text);
        let pat = from_tokens(&mut tokens)?;
        match tokens.next() {
            None => Ok(pat),
            Some(more) => Err(format!("`{more}` after the end")),
        }
    }
}

/// The words, variables, numbers and parentheses of a text.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let is_end = |byte: u8| matches!(byte, b'(' | b')') || byte.is_ascii_whitespace();
        let end = match rest.bytes().position(is_end) {
            Some(0) => 1,
            end => end.unwrap_or(rest.len()),
        };
        let token;
        (token, rest) = rest.split_at(end);
        (!token.is_empty()).then_some(token)
    })
}

fn from_tokens<'a>(tokens: &mut impl Iterator<Item = &'a str>) -> Result<Pat<Written>, String> {
    let token = tokens.next().ok_or("it ends too early")?;
    if let Some(name) = token.strip_prefix('?') {
        let of = |names: &str| names.find(name).filter(|_| name.len() == 1);
        return of("xyzucdm")
            .map(Pat::Var)
            .or_else(|| of("kl").map(Pat::Computed))
            .ok_or_else(|| format!("no variable `{name}`"));
    }
    if token != "(" {
        return token
            .parse()
            .map(Pat::Const)
            .map_err(|_| format!("`{token}` is no number"));
    }
    let word = tokens.next().ok_or("it ends too early")?;
    let mut part = || from_tokens(tokens).map(Written);
    let pat = if let Some((_, op)) = OPS.iter().find(|(name, _)| *name == word) {
        Pat::Op(*op, Box::new([part()?, part()?]))
    } else if let Some(predicate) = Predicate::ALL.iter().find(|p| p.name() == word) {
        Pat::Compare(*predicate, Box::new([part()?, part()?]))
    } else if let Some((_, cast)) = CASTS.iter().find(|(name, _)| *name == word) {
        Pat::Cast(*cast, Box::new([part()?]))
    } else if word == "select" {
        Pat::Select(Box::new([part()?, part()?, part()?]))
    } else {
        return Err(format!("no operation `{word}`"));
    };
    match tokens.next() {
        Some(")") => Ok(pat),
        _ => Err("a `)` is missing".to_string()),
    }
}

impl Typed {
    /// Returns what `pick` finds in the pattern, in order.
    pub(crate) fn slots(&self, pick: &dyn Fn(&Pat<Typed>) -> Option<usize>) -> Vec<usize> {
        type Pick<'a> = &'a dyn Fn(&Pat<Typed>) -> Option<usize>;
        fn visit(typed: &Typed, pick: Pick, found: &mut Vec<usize>) {
            found.extend(pick(&typed.pat));
            for part in typed.pat.parts() {
                visit(part, pick, found);
            }
        }
        let mut found = Vec::new();
        visit(self, pick, &mut found);
        found
    }

    /// Tells whether the pattern is another one with variables renamed, which `names` says or is told: the operands of operations in order, or in
    /// either order where these commute.
    pub(crate) fn is_renamed(
        &self,
        other: &Typed,
        names: &mut [Option<usize>; BOUND],
        in_order: bool,
    ) -> bool {
        let (parts, others) = (self.pat.parts(), other.pat.parts());
        if self.needs != other.needs || parts.len() != others.len() {
            return false;
        }
        match (&self.pat, &other.pat) {
            (Pat::Const(a), Pat::Const(b)) => return a == b,
            (Pat::Var(a), Pat::Var(b)) => return *names[*a].get_or_insert(*b) == *b,
            (Pat::Computed(_), _) => return false,
            _ if self.pat.kind() != other.pat.kind() => return false,
            _ => {}
        }
        let before = *names;
        let mut pairs = parts.iter().zip(others);
        if pairs.all(|(a, b)| a.is_renamed(b, names, in_order)) {
            return true;
        }
        *names = before;
        match (&self.pat, parts, others) {
            (Pat::Op(op, _), [a, b], [c, d]) if !in_order && op.commutes() => {
                a.is_renamed(d, names, in_order) && b.is_renamed(c, names, in_order)
            }
            _ => false,
        }
    }

    /// The variables of the pattern.
    #[cfg(test)]
    pub(crate) fn vars(&self) -> Vec<usize> {
        self.slots(&|p| {
            if let Pat::Var(slot) = p {
                Some(*slot)
            } else {
                None
            }
        })
    }

    /// The numbers of the widths in the pattern, in order.
    fn widths(&self) -> Vec<usize> {
        fn visit(typed: &Typed, found: &mut Vec<usize>) {
            found.push(typed.width);
            for part in typed.pat.parts() {
                visit(part, found);
            }
        }
        let mut found = Vec::with_capacity(8);
        visit(self, &mut found);
        found
    }

    fn renumber(&mut self, of: &dyn Fn(usize) -> usize) {
        self.width = of(self.width);
        match &mut self.pat {
            Pat::Op(_, parts) | Pat::Compare(_, parts) => {
                parts.iter_mut().for_each(|p| p.renumber(of));
            }
            Pat::Cast(_, parts) => parts.iter_mut().for_each(|p| p.renumber(of)),
            Pat::Select(parts) => parts.iter_mut().for_each(|p| p.renumber(of)),
            Pat::Const(_) | Pat::Var(_) | Pat::Computed(_) => {}
        }
    }
}

/// Both sides of a rule with the widths of their parts, and what has to be true of these.
pub(super) struct Typing {
    pub(super) lhs: Typed,
    pub(super) rhs: Typed,
    /// The number of widths.
    #[cfg(test)]
    pub(super) widths: usize,
    /// The widths that are 1.
    pub(super) ones: Vec<usize>,
    /// Pairs of widths of which the first is smaller.
    pub(super) rising: Vec<(usize, usize)>,
}

/// The inference: widths by number, each the same as another or a width of its own.
struct Infer {
    same: Vec<usize>,
    slots: [usize; BOUND],
    ones: Vec<usize>,
    rising: Vec<(usize, usize)>,
}

impl Infer {
    fn fresh(&mut self) -> usize {
        self.same.push(self.same.len());
        self.same.len() - 1
    }

    fn find(&self, mut width: usize) -> usize {
        while self.same[width] != width {
            width = self.same[width];
        }
        width
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.same[b] = a;
    }

    fn part(&mut self, written: &Written, width: usize) -> Typed {
        self.typed(&written.0, width)
    }

    fn typed(&mut self, pat: &Pat<Written>, width: usize) -> Typed {
        let pat = match pat {
            Pat::Const(value) => Pat::Const(*value),
            Pat::Computed(index) => Pat::Computed(*index),
            Pat::Var(slot) => {
                self.unite(self.slots[*slot], width);
                Pat::Var(*slot)
            }
            Pat::Op(op, parts) => {
                let [a, b] = &**parts;
                Pat::Op(*op, Box::new([self.part(a, width), self.part(b, width)]))
            }
            Pat::Compare(predicate, parts) => {
                let [a, b] = &**parts;
                let inner = self.fresh();
                self.ones.push(width);
                Pat::Compare(
                    *predicate,
                    Box::new([self.part(a, inner), self.part(b, inner)]),
                )
            }
            Pat::Cast(cast, parts) => {
                let inner = self.fresh();
                self.rising.push(match cast {
                    Cast::Truncate => (width, inner),
                    _ => (inner, width),
                });
                Pat::Cast(*cast, Box::new([self.part(&parts[0], inner)]))
            }
            Pat::Select(parts) => {
                let [condition, yes, no] = &**parts;
                let one = self.fresh();
                self.ones.push(one);
                Pat::Select(Box::new([
                    self.part(condition, one),
                    self.part(yes, width),
                    self.part(no, width),
                ]))
            }
        };
        let below = pat.parts().iter().map(|part| 1 + part.height);
        let height = below.max().unwrap_or(0);
        let needs = match &pat {
            Pat::Const(value) => value_bits(Some(*value)),
            Pat::Var(slot) if is_constant_slot(*slot) => KNOWN,
            Pat::Var(slot) if is_varying_slot(*slot) => UNKNOWN,
            _ => pat.kind().map_or(0, Kind::bit),
        };
        let below = pat.parts().iter().map(|part| part.needs);
        let needs_below = below.fold(0, |all, needs| all | needs);
        let mut order = [0, 1, 2];
        order[..pat.parts().len()].sort_by_key(|&at| {
            let part: &Typed = &pat.parts()[usize::from(at)];
            part.pat.kind().is_some()
        });
        Typed {
            pat,
            width,
            height,
            order,
            needs,
            needs_below,
        }
    }
}

impl Typing {
    pub(super) fn of(lhs: &Pat<Written>, rhs: &Pat<Written>) -> Result<Typing, String> {
        let mut infer = Infer {
            same: (0..=BOUND).collect(),
            slots: std::array::from_fn(|slot| slot + 1),
            ones: Vec::new(),
            rising: Vec::new(),
        };
        let (mut lhs, mut rhs) = (infer.typed(lhs, 0), infer.typed(rhs, 0));
        let mut numbers: Vec<usize> = Vec::new();
        for width in lhs.widths() {
            let width = infer.find(width);
            if !numbers.contains(&width) {
                numbers.push(width);
            }
        }
        if numbers.len() > WIDTHS {
            return Err(format!("it has more than {WIDTHS} widths"));
        }
        if rhs
            .widths()
            .iter()
            .any(|w| !numbers.contains(&infer.find(*w)))
        {
            return Err("the right side has a width that the left side has not".to_owned());
        }
        let number = |width: usize| {
            let width = infer.find(width);
            numbers.iter().position(|w| *w == width).unwrap_or(0)
        };
        lhs.renumber(&number);
        rhs.renumber(&number);
        let mut ones: Vec<usize> = infer.ones.iter().map(|w| number(*w)).collect();
        ones.sort_unstable();
        ones.dedup();
        let rising = infer.rising.iter();
        Ok(Typing {
            lhs,
            rhs,
            #[cfg(test)]
            widths: numbers.len(),
            ones,
            rising: rising.map(|&(a, b)| (number(a), number(b))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "(+ ?x",
            "(+ ?x ?y) ?z",
            "(? ?x ?y)",
            "?w",
            "?xy",
            "(+ ?x ?y ?z)",
            "(zext ?x ?y)",
            "(select ?x ?y)",
            "one",
        ] {
            assert!(Pat::parse(text).is_err(), "`{text}` was taken");
        }
    }

    fn typing(lhs: &str, rhs: &str) -> Result<Typing, String> {
        Typing::of(&Pat::parse(lhs)?, &Pat::parse(rhs)?)
    }

    #[test]
    fn widths_are_inferred_from_both_sides() {
        let back = typing("(trunc (zext ?x))", "?x").unwrap();
        assert_eq!((back.widths, &back.ones[..]), (2, &[][..]));
        assert_eq!(back.rising, [(0, 1), (0, 1)]);
        let shorter = typing("(trunc (zext ?x))", "(zext ?x)").unwrap();
        assert_eq!(shorter.rising, [(0, 1), (2, 1), (2, 0)]);
        let compared = typing("(ult (zext ?x) ?c)", "(ult ?x ?k)").unwrap();
        assert_eq!((compared.widths, &compared.ones[..]), (3, &[0][..]));
        // A condition is of one bit, and so is what it is compared with.
        let chosen = typing("(select ?x ?y ?z)", "(& ?x ?y)").unwrap();
        assert_eq!((chosen.widths, &chosen.ones[..]), (1, &[0][..]));
    }

    #[test]
    fn a_width_that_only_the_right_side_has_is_refused() {
        assert!(typing("(+ ?x ?y)", "(trunc (zext (+ ?x ?y)))").is_err());
    }

    #[test]
    fn each_operation_has_a_word_and_a_bit_of_its_own() {
        let mut bits = 0;
        let ops = Op::ALL.iter().map(|op| Kind::Op(*op));
        let predicates = Predicate::ALL.iter().map(|p| Kind::Compare(*p));
        let casts = Cast::ALL.iter().map(|c| Kind::Cast(*c));
        for kind in ops.chain(predicates).chain(casts).chain([Kind::Select]) {
            assert_eq!(bits & kind.bit(), 0, "{kind:?}");
            bits |= kind.bit();
        }
        for op in Op::ALL {
            assert!(OPS.iter().any(|(_, known)| known == op), "{op:?}");
        }
    }
}

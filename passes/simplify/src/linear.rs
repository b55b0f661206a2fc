//! Sums in order. Commutativity and associativity as rules make an e-graph explode; here every sum is flattened once
//! to `constant + coefficient * atom + ...` and written back in one order, so that equal sums are the same terms,
//! whatever the order in which they were added up, and opposite terms cancel:
//!
//! - atoms that depend on lower leaves first, so that what changes least is added first;
//! - atoms with the same coefficient together, multiplied once;
//! - `x / c` and `x % c` with fitting coefficients as `x`; two masks of one value as one mask;
//! - the constant last.

use crate::egraph::Graph;
use crate::graph::{Data, Term, add_constant, add_op, constant, data, width};
use crate::rules::Kind;
use cute_arith::{Op, mask};
use egg::Id;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;

/// Longer sums stay as they are.
const MOST_TERMS: usize = 16;
/// Sums nested deeper count as atoms. Bounds the stack; sums below are flattened on their own.
const MOST_NESTING: usize = 64;

/// `constant + sum of coefficient * atom`, wrapping.
#[derive(Debug, Default, PartialEq, Eq)]
struct Form {
    constant: u64,
    /// Atoms in order, each with its coefficient, which is not 0.
    terms: Terms,
}

type Terms = SmallVec<[(Id, u64); 4]>;

/// Copies the terms as they lie, where a vector's own way is one after the other.
impl Clone for Form {
    fn clone(&self) -> Form {
        Form {
            constant: self.constant,
            terms: SmallVec::from_slice(&self.terms),
        }
    }
}

impl Form {
    fn atom(id: Id) -> Form {
        Form {
            constant: 0,
            terms: smallvec![(id, 1)],
        }
    }

    fn add_scaled(&mut self, other: &Form, scale: u64, all: u64) {
        self.constant = self
            .constant
            .wrapping_add(other.constant.wrapping_mul(scale))
            & all;
        for &(atom, coefficient) in &other.terms {
            self.add_atom(atom, coefficient.wrapping_mul(scale) & all, all);
        }
    }

    fn add_atom(&mut self, atom: Id, coefficient: u64, all: u64) {
        match self.terms.binary_search_by_key(&atom, |&(atom, _)| atom) {
            Ok(at) => {
                let sum = self.terms[at].1.wrapping_add(coefficient) & all;
                match sum {
                    0 => drop(self.terms.remove(at)),
                    _ => self.terms[at].1 = sum,
                }
            }
            Err(_) if coefficient == 0 => {}
            Err(at) => self.terms.insert(at, (atom, coefficient)),
        }
    }

    fn remove(&mut self, atom: Id) {
        self.terms.retain(|&mut (other, _)| other != atom);
    }

    /// A hash of terms and their width that is the sum of those of the terms.
    fn hash_of(terms: &Terms, width: u32) -> u64 {
        let terms = terms.iter().map(hash);
        terms.fold(u64::from(width), u64::wrapping_add)
    }
}

/// Writes the sums among `classes` in order, beside what stands there already.
pub(crate) fn normalise(graph: &mut Graph, classes: &[Id], forms: &mut Forms) {
    forms.clear(graph);
    let mut written = std::mem::take(&mut forms.written);
    written.clear();
    // All forms are of the graph as it is, before any sum is written.
    let sums = classes
        .iter()
        .filter(|&&id| constant(graph, id).is_none() && is_linear(graph, id));
    let sums: Vec<(Id, usize)> = sums.map(|&id| (id, forms.of(graph, id))).collect();
    for (id, place) in sums {
        let mut form = forms.all[place].clone();
        let width = width(graph, id);
        combine(graph, &mut form, width);
        if form.terms.len() <= MOST_TERMS {
            let Form { constant, terms } = form;
            let sum = match written.entry((width, terms)) {
                Entry::Occupied(sum) => *sum.get(),
                Entry::Vacant(new) => {
                    let sum = write_terms(graph, &new.key().1, width);
                    *new.insert(sum)
                }
            };
            let sum = with_constant(graph, sum, constant, width);
            graph.join(id, sum, "the terms of a sum in order");
        }
    }
    forms.written = written;
}

/// Tells whether a class is a sum, or a product with a constant.
fn is_linear(graph: &Graph, id: Id) -> bool {
    const SUMS: u64 = Kind::Op(Op::Add).bit() | Kind::Op(Op::Sub).bit();
    let class = &graph[id];
    let scaled = |t: &Term| match *t {
        Term::Op(Op::Mul, [_, scale]) => constant(graph, scale).is_some(),
        _ => false,
    };
    class.kinds & SUMS != 0
        || class.kinds & Kind::Op(Op::Mul).bit() != 0 && class.nodes.iter().any(scaled)
}

/// The forms of classes, each found out once.
#[derive(Default)]
pub(crate) struct Forms {
    /// The place of each class's form, by the class's number.
    places: Vec<u32>,
    all: Vec<Form>,
    /// The classes of sums that were written, without their constants: rows of a tile are the same terms and a constant each.
    written: FxHashMap<Rest, Option<Id>>,
}

/// The place of the form of a class that was not asked for.
const UNKNOWN: u32 = u32::MAX;
/// The place of the form of a class that is being flattened: in a cycle, it is an atom.
const OPEN: u32 = u32::MAX - 1;

impl Forms {
    /// Leaves no forms, for those of the classes of a graph, to which none is added while forms are asked for.
    fn clear(&mut self, graph: &Graph) {
        self.places.clear();
        self.places.resize(graph.count(), UNKNOWN);
        self.all.clear();
    }

    /// The place of the form of a class.
    fn of(&mut self, graph: &Graph, id: Id) -> usize {
        self.place(graph, id, 0)
    }

    fn keep(&mut self, form: Form) -> usize {
        self.all.push(form);
        self.all.len() - 1
    }

    /// The place of the form of a class.
    fn place(&mut self, graph: &Graph, id: Id, nesting: usize) -> usize {
        let id = graph.find(id);
        let at = usize::from(id);
        match self.places[at] {
            UNKNOWN => {}
            OPEN => return self.keep(Form::atom(id)),
            place => return place as usize,
        }
        if let Some(value) = constant(graph, id) {
            let place = self.keep(Form {
                constant: value,
                ..Form::default()
            });
            self.places[at] = place as u32;
            return place;
        }
        if nesting > MOST_NESTING {
            return self.keep(Form::atom(id));
        }
        self.places[at] = OPEN;
        let form = self
            .flatten(graph, id, nesting + 1)
            .filter(|f| f.terms.len() <= MOST_TERMS);
        let place = self.keep(form.unwrap_or_else(|| Form::atom(id)));
        self.places[at] = place as u32;
        place
    }

    /// Returns the form of a class by a sum in it if it has one, else by its product with the smallest constant, whose other
    /// factor says most about the value.
    fn flatten(&mut self, graph: &Graph, id: Id, nesting: usize) -> Option<Form> {
        let nodes = &graph[id].nodes;
        let sum = nodes.iter().find_map(|t| match *t {
            Term::Op(op @ (Op::Add | Op::Sub), [a, b]) => Some((op, a, b)),
            _ => None,
        });
        if let Some((op, a, b)) = sum {
            let all = mask(width(graph, id));
            let sign = if op == Op::Add { 1 } else { all };
            let [one, other] = [a, b].map(|operand| self.place(graph, operand, nesting));
            let mut form = self.all[one].clone();
            form.add_scaled(&self.all[other], sign, all);
            return Some(form);
        }
        let scaled = |t: &Term| match *t {
            Term::Op(Op::Mul, [a, b]) => constant(graph, b)
                .map(|c| (c, a))
                .or(constant(graph, a).map(|c| (c, b))),
            _ => None,
        };
        let (scale, factor) = nodes.iter().filter_map(scaled).min()?;
        let factor = self.place(graph, factor, nesting);
        let mut form = Form::default();
        form.add_scaled(&self.all[factor], scale, mask(width(graph, id)));
        Some(form)
    }
}

/// The bits of terms that may be a remainder or a mask.
const RESTS: u64 = Kind::Op(Op::RemU).bit() | Kind::Op(Op::And).bit();

/// Puts quotients and remainders, and masks of one value, together until no two atoms fit.
fn combine(graph: &mut Graph, form: &mut Form, width: u32) {
    while let Some((one, other, merged)) = fitting(graph, form, width) {
        form.remove(one);
        form.remove(other);
        form.add_scaled(&merged, 1, mask(width));
    }
}

/// Two atoms of a form that fit, and what they are together.
fn fitting(graph: &mut Graph, form: &Form, width: u32) -> Option<(Id, Id, Form)> {
    let all = mask(width);
    if !(2..=MOST_TERMS).contains(&form.terms.len()) {
        return None;
    }
    // Few sums have a remainder or a mask, and of the others nothing more is asked.
    let mut atoms = form.terms.iter().map(|&(atom, _)| atom);
    if !atoms.any(|atom| graph[atom].kinds & RESTS != 0) {
        return None;
    }
    let parts: SmallVec<[Parts; 4]> = form
        .terms
        .iter()
        .map(|&(atom, _)| Parts::of(graph, atom))
        .collect();
    for (&(rest, small), of_rest) in form.terms.iter().zip(&parts) {
        if of_rest.is_no_rest() {
            continue;
        }
        for (&(other, large), of_other) in form.terms.iter().zip(&parts) {
            if rest == other {
                continue;
            }
            let mut merged = Form::default();
            if let Some((x, c)) = of_other.quotient_of(of_rest)
                && large == c.wrapping_mul(small) & all
            {
                merged.add_scaled(&Form::atom(x), small, all);
                return Some((rest, other, merged));
            }
            if large == small
                && let Some((x, bits)) = of_other.mask_beside(of_rest)
            {
                let bits = add_constant(graph, bits, width);
                let masked = add_op(graph, Op::And, x, bits);
                merged.add_scaled(&Form::atom(masked), small, all);
                return Some((rest, other, merged));
            }
        }
    }
    None
}

/// The ways in which a class is a part of a value: the value, and the divisor or the mask of each.
#[derive(Default)]
struct Parts {
    quotients: SmallVec<[(Id, u64); 2]>,
    /// Remainders, masks of low bits among them.
    remainders: SmallVec<[(Id, u64); 2]>,
    masks: SmallVec<[(Id, u64); 2]>,
}

impl Parts {
    fn of(graph: &Graph, id: Id) -> Parts {
        let mut parts = Parts::default();
        let class = &graph[id];
        if class.kinds & (RESTS | Kind::Op(Op::DivU).bit()) == 0 {
            return parts;
        }
        for term in &class.nodes {
            let Term::Op(op @ (Op::DivU | Op::RemU | Op::And), [x, c]) = *term else {
                continue;
            };
            let Some(c) = constant(graph, c) else {
                continue;
            };
            let x = graph.find(x);
            match op {
                Op::DivU if c != 0 => parts.quotients.push((x, c)),
                Op::RemU => parts.remainders.push((x, c)),
                Op::And => {
                    parts.masks.push((x, c));
                    let divisor = c.checked_add(1).filter(|c| c.is_power_of_two());
                    parts.remainders.extend(divisor.map(|c| (x, c)));
                }
                _ => {}
            }
        }
        parts
    }

    /// Tells whether nothing fits the class as a remainder or a mask.
    fn is_no_rest(&self) -> bool {
        self.remainders.is_empty() && self.masks.is_empty()
    }

    /// `x` and `c`, if the class is `x / c` and the other `x % c`.
    fn quotient_of(&self, rest: &Parts) -> Option<(Id, u64)> {
        let mut quotients = self.quotients.iter().copied();
        quotients.find(|pair| rest.remainders.contains(pair))
    }

    /// `x` and the bits of both masks, if the classes are masks of `x` with no bit in common.
    fn mask_beside(&self, other: &Parts) -> Option<(Id, u64)> {
        self.masks.iter().find_map(|&(x, m)| {
            let mut others = other.masks.iter();
            let fits = others.find(|&&(y, n)| x == y && m & n == 0);
            fits.map(|&(_, n)| (x, m | n))
        })
    }
}

/// A hash of a term of a sum.
fn hash(term: &(Id, u64)) -> u64 {
    FxBuildHasher.hash_one(term)
}

/// A sum, or one without one of its terms: its width and its terms.
type Rest = (u32, Terms);

/// A sum that has others' terms in common: its class, its constant, and the term that it has besides, if any. All three are of one way of taking the
/// sum apart: once classes are joined, the same class may come apart otherwise.
struct Like {
    id: Id,
    constant: u64,
    term: Option<(Id, u64)>,
}

/// Writes sums that differ in one term only as what they have in common and that term, so that they can share it: rows of a
/// tile are a distance from the first one, in whatever order sums are written else.
pub(crate) fn group(graph: &mut Graph, most: usize) {
    let mut forms = Forms::default();
    let mut classes: Vec<Id> = graph.classes().collect();
    classes.sort_unstable();
    // All forms are of the graph as it is, before sums are taken apart otherwise.
    forms.clear(graph);
    classes.retain(|&id| constant(graph, id).is_none() && is_linear(graph, id));
    let found: Vec<usize> = classes.iter().map(|&id| forms.of(graph, id)).collect();
    // Rows of a tile are the same terms, each with a constant.
    let mut sums: FxHashMap<Rest, Vec<(Id, u64)>> =
        FxHashMap::with_capacity_and_hasher(classes.len() / 2, FxBuildHasher);
    for (&id, place) in classes.iter().zip(found) {
        let mut form = forms.all[place].clone();
        let width = width(graph, id);
        combine(graph, &mut form, width);
        if (2..=MOST_TERMS).contains(&form.terms.len()) {
            let alike = sums.entry((width, form.terms)).or_default();
            alike.push((id, form.constant));
        }
    }
    // Most are alone with what they have: those are told by sums of hashes, from which one term is easily taken.
    let mut met: FxHashMap<u64, u32> =
        FxHashMap::with_capacity_and_hasher(4 * sums.len(), FxBuildHasher);
    for (width, terms) in sums.keys() {
        let all = Form::hash_of(terms, *width);
        let parts = terms.iter().map(|term| all.wrapping_sub(hash(term)));
        for rest in parts.chain([all]) {
            *met.entry(rest).or_default() += 1;
        }
    }
    let mut rests: FxHashMap<Rest, Vec<Like>> = FxHashMap::default();
    for ((width, terms), alike) in sums {
        let all = Form::hash_of(&terms, width);
        let likes = |term| {
            let like = move |&(id, constant): &(Id, u64)| Like { id, constant, term };
            alike.iter().map(like)
        };
        for (at, &term) in terms.iter().enumerate() {
            if met[&all.wrapping_sub(hash(&term))] > 1 {
                let (before, behind) = (&terms[..at], &terms[at + 1..]);
                let mut rest = SmallVec::from_slice(before);
                rest.extend_from_slice(behind);
                rests
                    .entry((width, rest))
                    .or_default()
                    .extend(likes(Some(term)));
            }
        }
        if met[&all] > 1 {
            rests.entry((width, terms)).or_default().extend(likes(None));
        }
    }
    rests.retain(|_, alike| alike.iter().any(|like| like.term != alike[0].term));
    let mut rests: Vec<(&Rest, &mut Vec<Like>)> = rests.iter_mut().collect();
    rests.sort_unstable_by_key(|(rest, _)| *rest);
    for ((width, terms), alike) in rests {
        if graph.total_size() > most {
            continue;
        }
        alike.sort_unstable_by_key(|like| like.id);
        let width = *width;
        let sum = write_terms(graph, terms, width);
        let common = with_constant(graph, sum, 0, width);
        // Those that differ in their constant alone are one sum up to that.
        let mut written: SmallVec<[((Id, u64), Id); 8]> = SmallVec::new();
        for &mut Like { id, constant, term } in alike {
            let Some(term) = term else {
                continue;
            };
            let known = written.iter().find(|(other, _)| *other == term);
            let sum = known.map(|&(_, sum)| sum).unwrap_or_else(|| {
                let (atom, coefficient) = term;
                let scale = add_constant(graph, coefficient, width);
                let product = add_op(graph, Op::Mul, atom, scale);
                let sum = add_op(graph, Op::Add, common, product);
                written.push((term, sum));
                sum
            });
            let offset = add_constant(graph, constant, width);
            let sum = add_op(graph, Op::Add, sum, offset);
            graph.join(id, sum, "a sum by what others share");
        }
    }
    graph.rebuild();
}

/// The class of a sum and a constant.
fn with_constant(graph: &mut Graph, sum: Option<Id>, constant: u64, width: u32) -> Id {
    match (sum, constant) {
        (Some(sum), 0) => graph.find(sum),
        (Some(sum), _) => {
            let offset = add_constant(graph, constant, width);
            add_op(graph, Op::Add, sum, offset)
        }
        (None, _) => add_constant(graph, constant, width),
    }
}

/// The class of the terms of a sum, written in order; none of no terms.
fn write_terms(graph: &mut Graph, terms: &Terms, width: u32) -> Option<Id> {
    let all = mask(width);
    // Whatever is subtracted comes after whatever is added, if anything is added.
    let negative = |c: u64| c > all / 2;
    let ranked = terms.iter().map(|&(atom, coefficient)| {
        let Data { depth, .. } = *data(graph, atom);
        ((negative(coefficient), depth, coefficient), atom)
    });
    let mut ranked: SmallVec<[_; 8]> = ranked.collect();
    ranked.sort_unstable();
    let mut sum: Option<Id> = None;
    for alike in ranked.chunk_by(|(a, _), (b, _)| a == b) {
        let ((negative, _, coefficient), _) = alike[0];
        let subtract = negative && sum.is_some();
        let scale = if subtract {
            coefficient.wrapping_neg() & all
        } else {
            coefficient
        };
        let atoms = alike.iter().map(|&(_, atom)| atom);
        let group = atoms.reduce(|a, b| add_op(graph, Op::Add, a, b));
        let Some(group) = group else { continue };
        let term = match scale {
            1 => graph.find(group),
            _ => {
                let scale = add_constant(graph, scale, width);
                add_op(graph, Op::Mul, group, scale)
            }
        };
        sum = Some(match sum {
            None => term,
            Some(before) if subtract => add_op(graph, Op::Sub, before, term),
            Some(before) => add_op(graph, Op::Add, before, term),
        });
    }
    sum
}

//! The functions of the language, by CuTe's names. A file a family; each function stands in a table with its signature and
//! an example, from which the help is made and which the tests run.

mod algebra;
mod arithmetic;
mod coordinates;
mod modes;
mod queries;
mod swizzles;
pub mod tiled;
mod tiling;
mod tuples;

use std::ops::{Range, RangeInclusive};

use cute_layout::{ComposedLayout, IntTuple, Layout, Tile};

use crate::failure::Fault;
use crate::value::Value;

pub use algebra::composition;

/// The most notes of one expression.
const MAX_NOTES: usize = 16;

/// The result of a function.
pub type Answer = Result<Value, Fault>;

/// The parameters of a function that takes any number.
const MANY: usize = usize::MAX;

/// A function of the language.
pub struct Function {
    /// Its names, CuTe's first.
    pub names: &'static [&'static str],
    /// The form of a call.
    pub signature: &'static str,
    /// The effect of the function, in a line.
    pub about: &'static str,
    /// An expression.
    pub example: &'static str,
    /// The result of the example.
    pub gives: &'static str,
    /// The numbers of arguments that it takes.
    pub arity: RangeInclusive<usize>,
    /// The code that evaluates a call.
    pub run: fn(&mut Call<'_>) -> Answer,
}

/// All functions, by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    [
        queries::FUNCTIONS,
        tuples::FUNCTIONS,
        modes::FUNCTIONS,
        coordinates::FUNCTIONS,
        algebra::FUNCTIONS,
        tiling::FUNCTIONS,
        swizzles::FUNCTIONS,
        tiled::FUNCTIONS,
        arithmetic::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// The function of this name.
pub fn find(name: &str) -> Option<&'static Function> {
    all().find(|f| f.names.contains(&name))
}

/// `"; did you mean ..."` where a name is near, else nothing.
pub fn nearest(name: &str) -> String {
    if name.len() < 3 || name.len() > 40 {
        return String::new();
    }
    let best = all()
        .flat_map(|f| f.names)
        .map(|n| (distance(name, n), n))
        .min();
    match best {
        Some((d, n)) if d <= 1 + name.len() / 4 => format!("; did you mean `{n}`?"),
        _ => String::new(),
    }
}

// Edits between two short names.
fn distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let step = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = step.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A call: evaluated arguments with their places.
pub struct Call<'a> {
    /// The arguments.
    pub args: Vec<(Value, Range<usize>)>,
    /// The place of the call.
    pub span: Range<usize>,
    /// The list that remarks go to.
    pub notes: &'a mut Vec<String>,
}

impl Call<'_> {
    fn len(&self) -> usize {
        self.args.len()
    }

    fn value(&self, i: usize) -> &Value {
        &self.args[i].0
    }

    // Locates a fault at argument `i`.
    fn at<T>(&self, i: usize, r: Result<T, Fault>) -> Result<T, Fault> {
        r.map_err(|e| Fault::At(e.locate(self.args[i].1.clone())))
    }

    fn bad<T>(&self, i: usize, message: impl Into<String>) -> Result<T, Fault> {
        self.at(i, Err(Fault::Call(message.into())))
    }

    fn layout(&self, i: usize) -> Result<Layout, Fault> {
        self.at(i, self.value(i).to_layout())
    }

    fn tuple(&self, i: usize) -> Result<IntTuple, Fault> {
        self.at(i, self.value(i).to_tuple())
    }

    fn shape(&self, i: usize) -> Result<IntTuple, Fault> {
        self.at(i, self.value(i).to_shape())
    }

    fn tile(&self, i: usize) -> Result<Tile, Fault> {
        self.at(i, self.value(i).to_tile())
    }

    fn int(&self, i: usize) -> Result<i64, Fault> {
        self.at(i, self.value(i).to_int())
    }

    // A mode number or a rank.
    fn index(&self, i: usize) -> Result<usize, Fault> {
        let v = self.int(i)?;
        match usize::try_from(v) {
            Ok(n) if n <= crate::value::MAX_LEAVES => Ok(n),
            _ => self.bad(
                i,
                format!(
                    "expected a number from 0 to {}, found {v}",
                    crate::value::MAX_LEAVES
                ),
            ),
        }
    }

    // Applies `f` to a layout, or under the swizzle of a composed layout.
    fn map(&self, i: usize, f: impl FnOnce(&Layout) -> Result<Layout, Fault>) -> Answer {
        match self.value(i) {
            Value::Composed(c) => {
                let outer = f(c.outer())?;
                Ok(
                    ComposedLayout::new(c.inner().clone(), c.offset().clone(), outer)
                        .map(Value::from)?,
                )
            }
            _ => Ok(f(&self.layout(i)?)?.into()),
        }
    }

    // Whether argument `i` is a tuple or an integer, not a layout.
    fn is_tuple(&self, i: usize) -> bool {
        matches!(self.value(i), Value::Tuple(_))
    }

    // Notes are few: each once, and no more than are read.
    fn note(&mut self, note: impl Into<String>) {
        let note = crate::failure::shorten(note.into());
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

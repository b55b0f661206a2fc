//! Tiled operations against CuTe C++ itself: every line of `cute/figures.txt`, which `cute/generate.py` made.
//!
//! A figure has integers that CuTe knows when it compiles, and ones that it knows only when the program runs (`8?`). Three
//! things are asked of each:
//! - of known leaves, the very text that CuTe prints;
//! - of dynamic leaves (`?`), CuTe's text with its dynamic integers as `?`;
//! - of traced leaves, that every condition holds for CuTe's numbers, and that the result with these put in is CuTe's
//!   function.
//!
//! Where our text is another one, it is the same function, and of a kind that [`Differs`] names; how many there are of each
//! is part of the test. In two cases CuTe's figure is wrong, and the test shows that it is:
//! - A composition that CuTe accepts though no layout is that function; it is an error here ([`CARRIED`]).
//! - Accumulators of an MMA whose atoms also lie along K: CuTe's `get_layoutC_TV` gives the threads of the second atom along
//!   K elements beyond the tile, where its own `partition_C` gives them those of the first, as we do. Such figures are
//!   compared for the threads of the first ([`Report::threads_along_k`]).

use std::collections::BTreeMap;
use std::fmt::Write;

use cute_layout::ops::Value;
use cute_layout::{
    CopyAtom, IntTuple, Kind, Layout, LayoutError, Leaf, MmaAtom, Operand, Part, Partition,
    Residue, Side, Term, Tile, TiledCopy, TiledMma, int, record,
};
use expect_test::expect;

const FIGURES: &str = include_str!("cute/figures.txt");

/// A tile of 24 in modes of 32: elements 48 to 71 begin inside the second mode, and CuTe puts them at its start.
const CARRIED: &str =
    "partB ((32,3),16):((1,512),32) SM80_16x8x16_F16F16F16F16_TN (1,3,1):(0,1,0) [_;_;_]";

type Outcome<T> = Result<T, LayoutError>;

/// The reason why a text differs though the function is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Differs {
    /// The stride of a mode of one element, which no offset depends on: CuTe mostly prints 0, we what the composition of
    /// such a mode gives.
    UnitStride,
    /// Anything else; none so far.
    Shape,
}

/// `8?` as a number, or as `?`.
fn known(text: &str) -> String {
    text.replace('?', "")
}

fn dynamic(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive('?') {
        match part.strip_suffix('?') {
            Some(before) => {
                out.push_str(before.trim_end_matches(|c: char| c.is_ascii_digit()));
                out.push('?');
            }
            None => out.push_str(part),
        }
    }
    out
}

/// The numbers that stand before `?`, in order.
fn inputs(text: &str) -> Vec<i64> {
    let parts = text.split('?').collect::<Vec<_>>();
    let number = |p: &&str| {
        let digits = p.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        p[digits..].parse().expect("digits before `?`")
    };
    parts[..parts.len() - 1].iter().map(number).collect()
}

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn tuple(text: &str) -> IntTuple {
    IntTuple::parse(text, Kind::Coord).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A layout, or the coordinates of a shape: `id(8,4)`.
fn tensor(text: &str) -> Layout {
    match text.strip_prefix("id") {
        Some(shape) => Layout::identity(&tuple(shape)).expect(text),
        None => layout(text),
    }
}

fn copy_atom(name: &str, bits: &str) -> CopyAtom {
    let bits = bits.parse().expect(bits);
    let width = name
        .split(['<', '>'])
        .nth(1)
        .map(|ty| match ty.trim_start_matches("uint") {
            "8_t" => 8,
            "16_t" => 16,
            "32_t" => 32,
            "64_t" => 64,
            _ => 128,
        });
    match width {
        Some(w) if name.starts_with("UniversalCopy") => CopyAtom::universal(w, bits),
        Some(w) => CopyAtom::cp_async(w / 8, bits),
        None => CopyAtom::named(name, bits),
    }
    .expect(name)
}

fn mma_atom(name: &str) -> MmaAtom {
    if !name.starts_with("UniversalFMA") {
        return MmaAtom::named(name).expect(name);
    }
    // One multiply-add of one thread.
    let mut atom = MmaAtom::named("SM80_8x8x4_F64F64F64F64_TN").expect("atom");
    atom.shape_mnk = [1, 1, 1];
    atom.thr_id = layout("1:0");
    for tv in [&mut atom.a_tv, &mut atom.b_tv, &mut atom.c_tv] {
        *tv = layout("(1,1):(0,0)");
    }
    atom
}

fn tiled_mma(words: &[&str]) -> TiledMma {
    let [atom, atoms, permutation] = words else {
        panic!("{words:?}")
    };
    let permutation = Tile::parse(permutation).expect(permutation);
    TiledMma::new(mma_atom(atom), layout(atoms), permutation).expect(atom)
}

fn tiled_copy(words: &[&str]) -> Outcome<TiledCopy> {
    let [kind, name, bits, rest @ ..] = words else {
        panic!("{words:?}")
    };
    let atom = copy_atom(name, bits);
    match *kind {
        "thrval" => TiledCopy::make_tiled_copy(atom, &layout(rest[0]), &layout(rest[1])),
        "A" => TiledCopy::make_tiled_copy_a(atom, &tiled_mma(rest)),
        "B" => TiledCopy::make_tiled_copy_b(atom, &tiled_mma(rest)),
        "C" => TiledCopy::make_tiled_copy_c(atom, &tiled_mma(rest)),
        "Catom" => TiledCopy::make_tiled_copy_c_atom(atom, &tiled_mma(rest)),
        "S" => TiledCopy::make_tiled_copy_s(atom, &tiled_copy(rest)?),
        "D" => TiledCopy::make_tiled_copy_d(atom, &tiled_copy(rest)?),
        "cotiled" => TiledCopy::make_cotiled_copy(atom, &layout(rest[0]), &layout(rest[1])),
        _ => TiledCopy::make_tiled_copy_impl(
            atom,
            layout(rest[0]),
            Tile::parse(rest[1]).expect(rest[1]),
        ),
    }
}

/// An operation on a tensor: it gives the layout of a part, and where that begins for a thread.
type Parted = Box<dyn Fn(&Layout, &Leaf) -> Outcome<Part>>;

fn parted(words: &[&str]) -> Option<Parted> {
    let of_partition = |p: Outcome<Partition>, t: &Leaf| p?.part(t);
    Some(match words[0] {
        "partA" | "partB" | "partC" => {
            let o = match words[0] {
                "partA" => Operand::A,
                "partB" => Operand::B,
                _ => Operand::C,
            };
            let mma = tiled_mma(&words[2..]);
            Box::new(move |l, t| of_partition(mma.partition(o, l, Residue::RoundUp), t))
        }
        "partS" | "partD" => {
            let side = if words[0] == "partS" {
                Side::Source
            } else {
                Side::Destination
            };
            let copy = tiled_copy(&words[2..]).expect("a copy that CuTe makes");
            Box::new(move |l, t| of_partition(copy.partition(side, l, Residue::RoundUp), t))
        }
        "retile" => {
            let copy = tiled_copy(&words[2..]).expect("a copy that CuTe makes");
            Box::new(move |l, _| {
                let (offset, layout) = (int(0), copy.retile(l)?);
                Ok(Part { offset, layout })
            })
        }
        "local_tile" | "inner" | "outer" | "local_partition" => {
            let [op, _, by, coord, projection] = <[&str; 5]>::try_from(words).expect("five words");
            let projection = (projection != "-").then(|| tuple(projection));
            let (coord, by) = (tuple(&known(coord)), by.to_string());
            let op = op.to_string();
            Box::new(move |l, _| {
                let p = projection.as_ref();
                let up = Residue::RoundUp;
                if op == "local_partition" {
                    let index = coord.as_leaf().expect("an index");
                    return l.local_partition(&layout(&by), index, p, up);
                }
                let tiler = Tile::parse(&by).expect("a tiler");
                match &op[..] {
                    "inner" => l.inner_partition(&tiler, &coord, up),
                    "outer" => l.outer_partition(&tiler, &coord, up),
                    _ => l.local_tile(&tiler, &coord, p, up),
                }
            })
        }
        _ => return None,
    })
}

/// Tells whether offsets or coordinates are the same, where what is not there counts as 0.
fn same(a: &IntTuple, b: &IntTuple) -> bool {
    let zero = |d: IntTuple| d.leaves().iter().all(|l| l.is(0));
    a.sub(b).is_ok_and(zero) && b.sub(a).is_ok_and(zero)
}

/// Equal as functions, mode by mode, of known layouts.
fn same_function(a: &Layout, b: &Layout) -> bool {
    a.rank() == b.rank()
        && a.size() == b.size()
        && (0..a.size().expect("known")).all(|i| {
            same(
                &a.eval(&int(i)).expect("in range"),
                &b.eval(&int(i)).expect("in range"),
            )
        })
}

/// Returns the way in which two texts of the same function differ.
fn difference(ours: &str, theirs: &str) -> Differs {
    let (a, b) = (layout(ours), layout(theirs));
    if !a.shape().congruent(b.shape()) {
        return Differs::Shape;
    }
    let leaves = |l: &Layout| -> Vec<(Leaf, Leaf)> {
        let (shape, stride) = (l.shape().leaves(), l.stride().leaves());
        let pairs = shape.into_iter().zip(stride);
        pairs.map(|(s, d)| (s.clone(), d.clone())).collect()
    };
    let units = leaves(&a)
        .iter()
        .zip(&leaves(&b))
        .all(|((s, d), (t, e))| s == t && (d == e || s.is(1)));
    if units {
        Differs::UnitStride
    } else {
        Differs::Shape
    }
}

fn put_in(t: &IntTuple, inputs: &[i64]) -> IntTuple {
    match t {
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| put_in(t, inputs)).collect()),
        IntTuple::Leaf(l) => IntTuple::Leaf(leaf(l, inputs)),
    }
}

fn leaf(l: &Leaf, inputs: &[i64]) -> Leaf {
    match l {
        Leaf::Dynamic(d) => match &d.term {
            Term::Traced(e) => Leaf::Static(e.eval(inputs).expect("defined")),
            _ => panic!("a leaf lost its trace"),
        },
        Leaf::Basis { value, path } => Leaf::Basis {
            value: Box::new(leaf(value, inputs)),
            path: path.clone(),
        },
        l => l.clone(),
    }
}

/// Without what is known of a `?`.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

#[derive(Default)]
struct Report {
    lines: usize,
    exact: usize,
    traced: usize,
    carried: usize,
    along_k: usize,
    differs: BTreeMap<Differs, usize>,
    wrong: String,
}

impl Report {
    fn compare(&mut self, line: &str, key: &str, ours: &Layout, theirs: &str) {
        let (text, expected) = (ours.to_string(), known(theirs));
        if text == expected {
            self.exact += 1;
            return;
        }
        if !same_function(ours, &layout(&expected)) {
            let _ = writeln!(self.wrong, "{line}\n    {key}: {text}");
            return;
        }
        *self
            .differs
            .entry(difference(&text, &expected))
            .or_default() += 1;
    }

    fn fail(&mut self, line: &str, what: impl std::fmt::Display) {
        let _ = writeln!(self.wrong, "{line}\n    {what}");
    }

    /// A figure of accumulators where atoms lie along K, of the threads below `first`.
    fn threads_along_k(&mut self, line: &str, ours: &Layout, theirs: &str, first: i64) {
        if same_function(ours, &layout(theirs)) {
            return self.compare(line, "TV", ours, theirs);
        }
        let theirs = layout(theirs);
        let size = |l: &Layout, i| l.mode(i).and_then(|m| m.size()).expect("known");
        let (threads, values) = (size(ours, 0), size(ours, 1));
        assert_eq!(
            (size(&theirs, 0), size(&theirs, 1)),
            (threads, values),
            "{line}"
        );
        let all = (0..values).flat_map(|v| (0..threads).map(move |t| (t, t + threads * v)));
        let (below, beyond): (Vec<_>, Vec<_>) = all.partition(|(t, _)| *t < first);
        if below.iter().any(|(_, i)| ours.at(*i) != theirs.at(*i)) {
            self.fail(line, ours);
        }
        // What CuTe gives the others lies beyond, ours is that of the first.
        let tile = below
            .iter()
            .map(|(_, i)| ours.at(*i))
            .max()
            .expect("values");
        assert!(beyond.iter().any(|(_, i)| theirs.at(*i) > tile), "{line}");
        assert!(
            beyond
                .iter()
                .all(|(t, i)| ours.at(*i) == ours.at(*i - t + t % first)),
            "{line}"
        );
        self.along_k += 1;
    }

    /// Checks that no layout is the function, and that CuTe's is another one.
    fn carried(&mut self, line: &str, f: &Parted, want: &str) {
        let data = layout(line.split(' ').nth(1).expect("a tensor"));
        let refused = f(&data, &Leaf::Static(0));
        assert!(
            matches!(refused, Err(LayoutError::Composition { .. })),
            "{refused:?}"
        );
        let at = f(
            &Layout::identity(&tuple("(96,16)")).expect("identity"),
            &Leaf::Static(0),
        );
        let (at, theirs) = (at.expect("coordinates").layout, layout(want));
        let wrong = (0..theirs.size().expect("known")).any(|i| {
            let here = at.eval(&int(i)).expect("inside");
            data.eval(&here).expect("inside") != theirs.eval(&int(i)).expect("inside")
        });
        assert!(wrong, "{line}");
        self.carried += 1;
    }

    fn parts(&mut self, line: &str, words: &[&str], f: &Parted, want: &BTreeMap<&str, &str>) {
        let text = words[1];
        let numbers = inputs(text);
        let thread = |t: i64| Leaf::Static(t);
        if line.starts_with(CARRIED) {
            return self.carried(line, f, want["val"]);
        }
        // Known leaves.
        match f(&tensor(&known(text)), &thread(0)) {
            // Where leaves are dynamic CuTe keeps modes apart that it merges where they are known.
            Ok(p) if !numbers.is_empty() => {
                if !same_function(&p.layout, &layout(&known(want["val"]))) {
                    self.fail(line, format!("known: {}", p.layout));
                }
            }
            Ok(p) => self.compare(line, "val", &p.layout, want["val"]),
            Err(e) => self.fail(line, e),
        }
        let offsets: Vec<(i64, IntTuple)> = want.get("off").map_or(vec![], |all| {
            let one = |o: &str| {
                let (t, o) = o.split_once(':').expect("thread:offset");
                (t.parse().expect(t), tuple(o))
            };
            all.split(';').map(one).collect()
        });
        let offsets: Vec<_> = match first_along_k(words) {
            Some(first) => offsets.into_iter().filter(|(t, _)| *t < first).collect(),
            None => offsets,
        };
        for (t, offset) in &offsets {
            match f(&tensor(&known(text)), &thread(*t)) {
                Ok(p) if same(&p.offset, offset) => {}
                Ok(p) => self.fail(line, format!("thread {t} begins at {}", p.offset)),
                Err(e) => self.fail(line, e),
            }
        }
        if numbers.is_empty() {
            return;
        }
        // Dynamic leaves.
        let unknown = tensor(&dynamic(text));
        match f(&unknown, &thread(0)) {
            Ok(p) => {
                let (ours, theirs) = (bare(&p.layout.to_string()), dynamic(want["val"]));
                if ours != theirs {
                    *self.differs.entry(difference(&ours, &theirs)).or_default() += 1;
                }
            }
            Err(e) => self.fail(line, format!("dynamic: {e}")),
        }
        // Traced leaves.
        let Value::Layout(traced) = Value::Layout(unknown).traced_wide(0) else {
            panic!("a layout stays one")
        };
        let (first, _) = offsets.first().cloned().unwrap_or((0, int(0)));
        for (t, offset) in offsets
            .iter()
            .chain((offsets.is_empty()).then_some(&(first, int(0))))
        {
            let (part, checks) = record(|| f(&traced, &thread(*t)));
            let part = match part {
                Ok(p) => p,
                Err(e) => return self.fail(line, format!("traced: {e}")),
            };
            let failed = checks
                .iter()
                .find(|c| c.condition.eval(&numbers) != Some(1));
            if let Some(check) = failed {
                return self.fail(
                    line,
                    format!("a condition does not hold: {}", check.message),
                );
            }
            let ours = Layout::new(
                put_in(part.layout.shape(), &numbers),
                put_in(part.layout.stride(), &numbers),
            )
            .expect("a layout");
            if !same_function(&ours, &layout(&known(want["val"]))) {
                self.fail(line, format!("traced: {ours}"));
            }
            let at = put_in(&part.offset, &numbers);
            if !same(&at, offset) {
                self.fail(line, format!("traced: thread {t} begins at {at}"));
            }
        }
        self.traced += 1;
    }

    fn line(&mut self, line: &str) {
        self.lines += 1;
        let (words, results) = line.split_once(" => ").expect(line);
        let words: Vec<&str> = words.split(' ').collect();
        let want: BTreeMap<&str, &str> = results
            .split(' ')
            .map(|r| r.split_once('=').expect(line))
            .collect();
        match words[0] {
            "mma" => {
                let mma = tiled_mma(&words[1..]);
                let tile: Vec<String> = mma.tile_shape().iter().map(|n| format!("{n}:1")).collect();
                assert_eq!(format!("[{}]", tile.join(";")), want["tile"], "{line}");
                self.compare(line, "vmnk", mma.thr_layout_vmnk(), want["vmnk"]);
                let first = along_k(&words[1..]);
                for (key, tv) in [
                    ("a", mma.layout_a_tv()),
                    ("b", mma.layout_b_tv()),
                    ("c", mma.layout_c_tv()),
                ] {
                    match tv {
                        Ok(tv) if key == "c" && first.is_some() => {
                            let first = first.expect("some");
                            self.threads_along_k(line, &tv, want[key], first);
                        }
                        Ok(tv) => self.compare(line, key, &tv, want[key]),
                        Err(e) => self.fail(line, e),
                    }
                }
            }
            "copy" => match tiled_copy(&words[1..]) {
                Ok(c) if first_along_k(&words).is_some() => {
                    let first = first_along_k(&words).expect("some");
                    // The smallest tile of what lies beyond is another one.
                    if words[1] == "C" {
                        self.threads_along_k(line, c.layout_tv(), want["tv"], first);
                        let side = |tv: Outcome<Layout>| tv.expect("a side");
                        self.threads_along_k(line, &side(c.layout_s_tv()), want["s"], first);
                        self.threads_along_k(line, &side(c.layout_d_tv()), want["d"], first);
                    }
                }
                Ok(c) => {
                    if c.tiler_mn().to_string() != want["tiler"] {
                        self.fail(line, c.tiler_mn());
                    }
                    self.compare(line, "tv", c.layout_tv(), want["tv"]);
                    self.compare(line, "s", &c.layout_s_tv().expect("source"), want["s"]);
                    self.compare(line, "d", &c.layout_d_tv().expect("destination"), want["d"]);
                }
                Err(e) => self.fail(line, e),
            },
            _ => {
                let f = parted(&words).unwrap_or_else(|| panic!("{line}"));
                self.parts(line, &words, &f, &want);
                if let Some(frag) = want.get("frag") {
                    let o = match words[0] {
                        "partA" => Operand::A,
                        "partB" => Operand::B,
                        _ => Operand::C,
                    };
                    let tensor = tensor(&dynamic(words[1]));
                    let mma = tiled_mma(&words[2..]);
                    match mma.partition_fragment(o, &tensor, Residue::RoundUp) {
                        Err(_) if line.starts_with(CARRIED) => {}
                        Ok(f) => self.compare(line, "frag", &f, frag),
                        Err(e) => self.fail(line, e),
                    }
                }
            }
        }
    }
}

/// The number of threads of the atoms of an MMA that are first along K, where atoms lie along K too.
fn along_k(mma: &[&str]) -> Option<i64> {
    let [name, atoms, _] = mma else { return None };
    let (atoms, threads) = (
        layout(atoms),
        mma_atom(name).num_threads().expect("threads"),
    );
    let k = atoms.mode(2).and_then(|m| m.size()).unwrap_or(1);
    // In these figures K is the slowest mode.
    (k > 1).then(|| threads * atoms.size().expect("known") / k)
}

/// The same of a copy of the accumulators, alone or in a partition.
fn first_along_k(words: &[&str]) -> Option<i64> {
    let at = words.iter().position(|w| *w == "C" || *w == "Catom")?;
    along_k(words.get(at + 3..)?)
}

#[test]
fn every_figure_of_cute_comes_out() {
    let mut report = Report::default();
    let lines = FIGURES.lines().filter(|l| !l.starts_with('#'));
    lines.for_each(|l| report.line(l));
    assert!(report.wrong.is_empty(), "{}", report.wrong);
    expect!["919 figures, 216 of them traced; 936 layouts exactly, {UnitStride: 714}; 1 carried, 22 along K"].assert_eq(&format!(
        "{} figures, {} of them traced; {} layouts exactly, {:?}; {} carried, {} along K",
        report.lines, report.traced, report.exact, report.differs, report.carried, report.along_k
    ));
}

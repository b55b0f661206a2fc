//! Boxes of TMA in shared memory, and operands of `wgmma` as their descriptors read them.

use std::fmt::Write;

use cute_layout::{
    Inner, Layout, MmaAtom, Operand, Swizzle,
    atoms::{Major, Source},
    descriptor::{GRANULE, Steps},
    int,
    tiled::Residue,
    tma::TmaBox,
    tuple,
};
use serde_json::{Value as Json, json};

use crate::banks::verdict;
use crate::failure::Fault;
use crate::functions::tiled;
use crate::grid::{FULL_PICTURE, SHOWN, Window};
use crate::latex;
use crate::svg::{Cell, Panel, caption, draw, labels};
use crate::table;
use crate::value::Value;

/// Colours from one core matrix to its neighbour along K, so that no two neighbours have one.
const CORES: i64 = 3;

/// A layout in shared memory, of which the swizzle acts on bytes.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The text of it.
    title: String,
    layout: Layout,
    swizzle: Option<Swizzle>,
    bits: i64,
}

impl Placed {
    /// The layout that a value is, of elements of so many bits, with a swizzle of bytes or none. A swizzle that a composed layout has acts on elements.
    ///
    /// Errors: a value that is none; swizzles of both kinds; one of elements that bytes do not have; elements that are no whole bytes.
    pub fn new(value: &Value, bits: i64, swizzle: Option<Swizzle>) -> Result<Placed, Fault> {
        if bits % 8 != 0 {
            return Err(Fault::Call(format!(
                "expected elements of whole bytes, found {bits} bits; say what is moved as one element, such as --elem 8"
            )));
        }
        let title = match swizzle {
            Some(swizzle) => format!("{value}, {swizzle} on bytes"),
            None => value.to_string(),
        };
        let (layout, swizzle) = match value {
            Value::Composed(composed) => {
                let Inner::Swizzle(own) = composed.inner() else {
                    return Err(value.unlike("a layout, or a swizzle of one"));
                };
                if composed.offset().as_static() != Some(0) {
                    return Err(value.unlike("a swizzled layout that begins at 0"));
                }
                if swizzle.is_some() {
                    return Err(Fault::Call(format!(
                        "expected a swizzle of elements in {value} or one of bytes by --swizzle, found both; leave one out"
                    )));
                }
                let shift = i64::from((bits / 8).trailing_zeros());
                let own = Swizzle::new(
                    i64::from(own.b()),
                    i64::from(own.m()) + shift,
                    i64::from(own.s()),
                )?;
                (composed.outer().clone(), Some(own))
            }
            other => (other.to_layout()?, swizzle),
        };
        Ok(Placed {
            title,
            layout,
            swizzle,
            bits,
        })
    }
}

/// Cells of a picture: of each a number, and the group that gives it its colour.
#[derive(Debug)]
struct Cells {
    title: String,
    size: (i64, i64),
    at: Vec<Vec<(i64, i64)>>,
    window: Window,
}

impl Cells {
    fn new(
        title: String,
        size: (i64, i64),
        full: bool,
        at: impl Fn(i64, i64) -> Result<(i64, i64), Fault>,
    ) -> Result<Cells, Fault> {
        let window = Window::new(size, full.then_some(FULL_PICTURE), (SHOWN.0, SHOWN.0))?;
        let rows = 0..window.rows;
        let at = rows
            .map(|row| (0..window.columns).map(|column| at(row, column)).collect())
            .collect::<Result<_, Fault>>()?;
        Ok(Cells {
            title,
            size,
            at,
            window,
        })
    }

    fn numbers(&self) -> Vec<Vec<i64>> {
        let rows = self.at.iter();
        rows.map(|row| row.iter().map(|(number, _)| *number).collect())
            .collect()
    }

    fn text(&self) -> String {
        table::matrix(0, &self.numbers())
    }

    fn svg(&self) -> String {
        let cell = |(number, group): &(i64, i64)| {
            let (r, g, b) = latex::thread(*group);
            Cell {
                fill: format!("#{r:02x}{g:02x}{b:02x}"),
                lines: vec![number.to_string()],
            }
        };
        let panel = Panel {
            caption: caption(&self.title, &[self.window]),
            rows: labels(&int(self.size.0), self.window.rows, ""),
            columns: labels(&int(self.size.1), self.window.columns, ""),
            cells: self
                .at
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect(),
        };
        draw(None, &[panel])
    }

    fn latex(&self) -> String {
        latex::coloured(&self.title, &self.at, self.window)
    }
}

/// The forms of what these commands show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A description in words, and a table.
    Text,
    /// A picture, coloured by what belongs together.
    Svg,
    /// The same in TikZ, as CuTe's print_latex draws.
    Latex,
    /// One object.
    Json,
}

/// Something that both commands show.
pub trait Shown {
    /// A description in words.
    fn words(&self) -> String;
    /// The same for programs.
    fn json(&self) -> Json;
}

/// The text of a form, and remarks on what is left out.
fn shown(of: &impl Shown, cells: &Cells, form: Form) -> (String, Vec<String>) {
    let notes = cells.window.note().into_iter().collect();
    match form {
        Form::Text => (format!("{}{}", of.words(), cells.text()), notes),
        Form::Svg => (cells.svg(), notes),
        Form::Latex => (cells.latex(), notes),
        Form::Json => {
            let mut object = of.json();
            object["cells"] = json!(cells.numbers());
            object["cut"] = json!(cells.window.note());
            (format!("{object}\n"), Vec::new())
        }
    }
}

/// A tile of a tensor, as TMA copies it.
#[derive(Debug)]
pub struct Boxed {
    map: TmaBox,
    smem: Placed,
    /// The coordinates at which each box begins, in the dimensions of the map, in the order of shared memory.
    starts: Vec<Vec<i64>>,
}

impl Boxed {
    /// The boxes of a tile of `gmem` that lies as `smem`. Errors: what TMA cannot copy; tiles of other than two modes.
    pub fn new(gmem: &Layout, smem: Placed) -> Result<Boxed, Fault> {
        if smem.layout.rank() != 2 {
            return Err(Fault::Call(format!(
                "expected a tile of two modes, which a picture has, found {}; group its modes, as in group(layout,1,{})",
                smem.layout,
                smem.layout.rank()
            )));
        }
        let map = TmaBox::of(gmem, &smem.layout, smem.swizzle, smem.bits)?;
        let whole = map.coordinates(gmem)?;
        let modes = (0..2).map(|mode| {
            let extent = smem.layout.mode(mode)?.size()?;
            whole.mode(mode)?.composition(&Layout::leaf(extent, 1)?)
        });
        let modes = modes.collect::<Result<Vec<_>, _>>()?;
        let tile = Layout::new(
            tuple(modes.iter().map(|mode| mode.shape().clone())),
            tuple(modes.iter().map(|mode| mode.stride().clone())),
        )?;
        let starts = map.boxes(&tile, &smem.layout)?;
        Ok(Boxed { map, smem, starts })
    }

    /// The tile in a form: of each element the place in shared memory, in elements, coloured by the box that brings it.
    pub fn shown(&self, form: Form, full: bool) -> Result<(String, Vec<String>), Fault> {
        let [rows, columns] = [0, 1].map(|mode| self.smem.layout.mode(mode));
        let (rows, columns) = (rows?, columns?);
        let size = (rows.size()?, columns.size()?);
        let (rows, columns) = (rows.flat_or("tma")?, columns.flat_or("tma")?);
        let bits = self.smem.bits;
        let cells = Cells::new(self.title(), size, full, |row, column| {
            let element = rows.at(row) + columns.at(column);
            let place = self.map.place(element, bits) * 8 / bits;
            Ok((place, element / self.map.size()))
        })?;
        Ok(shown(self, &cells, form))
    }

    fn title(&self) -> String {
        format!(
            "{} by boxes {}",
            self.smem.title,
            self.map.basis().map(|b| b.to_string()).unwrap_or_default()
        )
    }
}

impl Shown for Boxed {
    fn words(&self) -> String {
        let bits = self.smem.bits;
        let row = self.map.row_bytes(bits);
        let (found, ideal) = self.map.wavefronts(bits);
        let swizzle = match self.map.swizzle {
            0 => "not swizzled".to_owned(),
            bytes => format!("swizzled by {bytes} bytes"),
        };
        let mut out = format!("{}\n", self.title());
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "a box: {} bytes in rows of {row} bytes, {swizzle}; {found} wavefronts, ideal {ideal}, {}",
            self.map.size() * bits / 8,
            verdict(found, ideal)
        );
        let _ = writeln!(
            out,
            "coordinates of boxes in the tile, that of the contiguous mode first"
        );
        for (i, start) in self.starts.iter().enumerate() {
            let start: Vec<String> = start.iter().map(i64::to_string).collect();
            let _ = writeln!(
                out,
                "box {i}: at ({}), to byte {} of shared memory",
                start.join(","),
                i as i64 * self.map.size() * bits / 8
            );
        }
        out + "place of each element in shared memory, in elements\n"
    }

    fn json(&self) -> Json {
        let bits = self.smem.bits;
        let (found, ideal) = self.map.wavefronts(bits);
        json!({
            "layout": self.smem.title,
            "box": self.map.basis().map(|basis| basis.to_string()).ok(),
            "bytes": self.map.size() * bits / 8,
            "row_bytes": self.map.row_bytes(bits),
            "swizzle": self.map.swizzle,
            "boxes": self.starts,
            "wavefronts": found,
            "ideal": ideal,
        })
    }
}

/// An operand of `wgmma` in shared memory.
#[derive(Debug)]
pub struct Described {
    atom: MmaAtom,
    operand: Operand,
    smem: Placed,
    steps: Steps,
}

impl Described {
    /// The operand that a tile (M,K) or (N,K) in shared memory is to an atom, which says of how many bits its elements are.
    ///
    /// Errors: a tile that no descriptor is of.
    pub fn new(
        atom: &MmaAtom,
        operand: Operand,
        tile: &Value,
        swizzle: Option<Swizzle>,
    ) -> Result<Described, Fault> {
        let number = number(operand);
        let smem = Placed::new(tile, bits(atom, operand), swizzle)?;
        let part = tiled::single(atom)?.partition(operand, &smem.layout, Residue::Refuse)?;
        let steps = Steps::of(atom, number, &part.val, smem.swizzle).map_err(Fault::Call)?;
        Ok(Described {
            atom: atom.clone(),
            operand,
            smem,
            steps,
        })
    }

    /// The extents of the atom's operand along M or N, and along K.
    fn extents(&self) -> [i64; 2] {
        let [m, n, k] = self.atom.shape_mnk;
        match self.operand {
            Operand::A => [m, k],
            _ => [n, k],
        }
    }

    /// Passes over the banks for each step along K, of the first atom, and the fewest.
    fn wavefronts(&self) -> Vec<(u32, u32)> {
        let [first, along_k] = &self.steps.bytes;
        let start = first.first().copied().unwrap_or(0);
        let bytes = self.smem.bits / 8;
        let each = along_k.iter().map(|step| {
            let descriptor = &self.steps.descriptor;
            descriptor.wavefronts(start + step, self.extents(), bytes)
        });
        each.collect()
    }

    /// The first atom's part in a form: of each 16 bytes of a core matrix's rows the place in shared memory, in bytes, coloured by core matrix.
    pub fn shown(&self, form: Form, full: bool) -> Result<(String, Vec<String>), Fault> {
        let descriptor = &self.steps.descriptor;
        let (bytes, [mn, k]) = (self.smem.bits / 8, self.extents());
        let [of_mn, of_k] = descriptor.core_shape(bytes);
        let [along_mn, along_k] = descriptor.core_matrices(mn, k, bytes);
        let steps = &self.steps.bytes[1];
        let first = self.steps.bytes[0].first().copied().unwrap_or(0);
        // Rows of core matrices go down for K-major operands, and across for the others.
        let (size, major) = match descriptor.major {
            Major::K => ((mn, along_k * steps.len() as i64), Major::K),
            Major::Mn => ((along_mn, k * steps.len() as i64), Major::Mn),
        };
        let cells = Cells::new(self.title(), size, full, |row, column| {
            let (core_mn, within, column, at_k) = match major {
                Major::K => (row / of_mn, row % of_mn, column, column % along_k),
                Major::Mn => (row, column % of_k, column / of_k, column / of_k % along_k),
            };
            let step = (column / along_k) as usize;
            let start = first + steps.get(step).copied().unwrap_or(0);
            let rows = descriptor.core_rows(start, [core_mn, at_k], bytes);
            Ok((rows[within as usize], core_mn + CORES * column))
        })?;
        Ok(shown(self, &cells, form))
    }

    fn title(&self) -> String {
        format!(
            "{:?} of {} in {}",
            self.operand, self.atom.name, self.smem.title
        )
    }

    /// The access as `banks` tells it: step by step, and the sum.
    pub fn access(&self) -> String {
        let [mn, k] = self.extents();
        let [along_mn, along_k] = self
            .steps
            .descriptor
            .core_matrices(mn, k, self.smem.bits / 8);
        let mut out = format!(
            "{:?} of {} by descriptors: {}\n",
            self.operand, self.atom.name, self.steps.descriptor
        );
        let mut total = (0, 0);
        // Writing to a string cannot fail.
        for (step, (found, ideal)) in self.wavefronts().into_iter().enumerate() {
            let _ = writeln!(
                out,
                "step {step} of K: {along_mn} by {along_k} core matrices of 8 rows of {GRANULE} bytes, {found} wavefronts, ideal {ideal}, {}",
                verdict(found, ideal)
            );
            total = (total.0 + found, total.1 + ideal);
        }
        let (found, ideal) = total;
        let _ = writeln!(
            out,
            "total: {found} wavefronts, ideal {ideal}, {}",
            verdict(found, ideal)
        );
        out
    }

    /// The access for programs.
    pub fn access_json(&self) -> Json {
        let descriptor = &self.steps.descriptor;
        let each = self.wavefronts().into_iter();
        json!({
            "operand": format!("{:?}", self.operand),
            "major": descriptor.major.name(),
            "swizzle": if descriptor.swizzle_bits == 0 { 0 } else { descriptor.width() },
            "leading_byte_offset": descriptor.leading,
            "stride_byte_offset": descriptor.stride,
            "fields": format!("{:#018x}", descriptor.fields()),
            "atoms": self.steps.bytes[0],
            "steps": self.steps.bytes[1],
            "wavefronts": each.map(|(found, ideal)| json!({"wavefronts": found, "ideal": ideal})).collect::<Vec<_>>(),
        })
    }
}

impl Shown for Described {
    fn words(&self) -> String {
        let descriptor = &self.steps.descriptor;
        let list = |bytes: &[i64]| {
            let shown: Vec<String> = bytes.iter().take(8).map(i64::to_string).collect();
            let more = if bytes.len() > 8 { ", ..." } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let mode = if self.operand == Operand::A { "M" } else { "N" };
        let what = match descriptor.major {
            Major::K => format!("row of {mode}, chunk of {GRANULE} bytes of K"),
            Major::Mn => format!("chunk of {GRANULE} bytes of {mode}, column of K"),
        };
        format!(
            "{}\ndescriptor: {descriptor}\nfields but for the start: {:#018x}\natoms along {mode} begin at bytes {}\nsteps along K begin at bytes {}\n\
             byte of shared memory of each ({what}) of the first atom, a step after the other\n",
            self.title(),
            descriptor.fields(),
            list(&self.steps.bytes[0]),
            list(&self.steps.bytes[1]),
        )
    }

    fn json(&self) -> Json {
        let mut object = self.access_json();
        object["layout"] = json!(self.smem.title);
        object["atom"] = json!(self.atom.name);
        object
    }
}

/// The atom that a value is, which reads a factor by descriptors. Errors: another value.
pub fn atom(value: &Value, operand: Operand) -> Result<MmaAtom, Fault> {
    let found = match value {
        Value::MmaAtom(atom) => atom,
        other => {
            return Err(other.unlike("an MMA atom, such as SM90_64x128x16_F32F16F16_SS_TN"));
        }
    };
    match found.sources[number(operand)] {
        Source::SharedDescriptor => Ok((**found).clone()),
        _ => Err(Fault::Call(format!(
            "expected an atom that reads {operand:?} by descriptors, such as SM90_64x128x16_F32F16F16_SS_TN, found {}",
            found.name
        ))),
    }
}

/// The number of an operand in an atom.
fn number(operand: Operand) -> usize {
    match operand {
        Operand::A => 0,
        Operand::B => 1,
        Operand::C => 2,
    }
}

/// Bits of an element of a factor of an atom.
pub fn bits(atom: &MmaAtom, operand: Operand) -> i64 {
    match operand {
        Operand::A => atom.a.bits(),
        _ => atom.b.bits(),
    }
}

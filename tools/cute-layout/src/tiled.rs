//! Tiled copies and MMAs as pictures: whose elements of the tile are which.

use std::fmt::Write;

use cute_layout::{IntTuple, Operand, Side, TiledCopy, TiledMma, int, tuple};
use serde_json::{Value as Json, json};

use crate::failure::Fault;
use crate::functions::tiled;
use crate::grid::Window;
use crate::tv::ThreadValue;
use crate::value::Value;

/// The things that CuTe's `print` and `print_latex` take besides layouts.
#[derive(Debug)]
pub enum Tiled {
    /// Both sides of a copy.
    Copy {
        /// The text as CuTe prints it.
        text: String,
        /// The elements that are read, and their readers.
        source: ThreadValue,
        /// The elements that are written, and their writers.
        destination: ThreadValue,
    },
    /// The operands of an MMA.
    Mma {
        /// The text as CuTe prints it.
        text: String,
        /// (M,K).
        a: ThreadValue,
        /// (N,K).
        b: ThreadValue,
        /// (M,N).
        c: ThreadValue,
    },
}

impl Tiled {
    /// The picture of a copy, an MMA, or an atom of one; `None` for another value. Errors: tiles of rank above 2, or too
    /// large to enumerate.
    pub fn new(value: &Value) -> Result<Option<Tiled>, Fault> {
        Ok(Some(match value {
            Value::TiledCopy(c, _) => Self::of_copy(c)?,
            Value::CopyAtom(a, _) => Self::of_copy(&tiled::rows(a)?)?,
            Value::TiledMma(m) => Self::of_mma(m)?,
            Value::MmaAtom(a) => Self::of_mma(&tiled::single(a)?)?,
            _ => return Ok(None),
        }))
    }

    fn of_copy(c: &TiledCopy) -> Result<Tiled, Fault> {
        let shape = c.tile_shape()?;
        let side = |side| ThreadValue::new(&c.layout_side_tv(side)?, &shape);
        let atom = c.atom();
        let text = format!(
            "TiledCopy\n  Tiler_MN:       {}\n  TiledLayout_TV: {}\nCopy_Atom {}\n  ThrID:        {}\n  \
             ValLayoutSrc: {}\n  ValLayoutDst: {}\n  ValLayoutRef: {}\n  ValueType:    {}b\n",
            c.tiler_mn(),
            c.layout_tv(),
            atom.name,
            atom.thr_id,
            atom.src_tv()?,
            atom.dst_tv()?,
            atom.ref_tv()?,
            atom.val_bits
        );
        let (source, destination) = (side(Side::Source)?, side(Side::Destination)?);
        Ok(Tiled::Copy {
            text,
            source,
            destination,
        })
    }

    fn of_mma(m: &TiledMma) -> Result<Tiled, Fault> {
        let operand = |o: Operand| {
            let shape: IntTuple = tuple(o.axes().map(|i| int(m.tile_shape()[i])));
            ThreadValue::new(&m.layout_tv(o)?, &shape)
        };
        let (atom, [p, q, r]) = (m.atom(), m.permutation());
        let [rows, columns, depth] = atom.shape_mnk;
        let text = format!(
            "TiledMMA\n  ThrLayoutVMNK:  {}\n  PermutationMNK: [{p};{q};{r}]\nMMA_Atom {}\n  ThrID:      {}\n  \
             Shape_MNK:  ({rows},{columns},{depth})\n  LayoutA_TV: {}\n  LayoutB_TV: {}\n  LayoutC_TV: {}\n",
            m.thr_layout_vmnk(),
            atom.name,
            atom.thr_id,
            atom.a_tv,
            atom.b_tv,
            atom.c_tv,
        );
        let (a, b, c) = (
            operand(Operand::A)?,
            operand(Operand::B)?,
            operand(Operand::C)?,
        );
        Ok(Tiled::Mma { text, a, b, c })
    }

    /// Its tables, each with its name.
    pub fn parts(&self) -> Vec<(&'static str, &ThreadValue)> {
        match self {
            Tiled::Copy {
                source,
                destination,
                ..
            } => vec![("source", source), ("destination", destination)],
            Tiled::Mma { a, b, c, .. } => vec![("A", a), ("B", b), ("C", c)],
        }
    }

    /// The part of each tile that is drawn, in the order of [`Tiled::parts`]. Errors: more cells than are drawn in full.
    pub fn windows(&self, full: bool) -> Result<Vec<Window>, Fault> {
        let parts = self.parts();
        let all = parts.iter().map(|(_, tv)| Ok(tv.windows(full, true)?.1));
        all.collect()
    }

    /// Remarks on elements that nobody, or more than one, has. An operand that several threads read is no remark.
    pub fn notes(&self) -> Vec<String> {
        let parts = self.parts();
        let missing = parts.iter().filter_map(|(name, tv)| {
            let n = tv.missing();
            (n > 0).then(|| format!("{n} elements of {name} are held by no thread"))
        });
        missing.collect()
    }

    /// CuTe's `print`, and the tables of (thread,value). Errors: more cells than are printed in full.
    pub fn print(&self, full: bool) -> Result<(String, Vec<Window>), Fault> {
        let (Tiled::Copy { text, .. } | Tiled::Mma { text, .. }) = self;
        let (mut out, mut windows) = (text.clone(), Vec::new());
        for (name, tv) in self.parts() {
            let (threads, tile) = tv.windows(full, false)?;
            // Writing to a string cannot fail.
            let _ = write!(out, "\n{name}: {}", tv.text(threads, tile));
            windows.extend([threads, tile]);
        }
        Ok((out, windows))
    }

    /// Both directions of each table as arrays. Errors: more cells than are printed in full.
    pub fn json(&self, full: bool) -> Result<Json, Fault> {
        let mut out = json!({});
        for (name, tv) in self.parts() {
            let (threads, tile) = tv.windows(full, false)?;
            out[name] = tv.json(threads, tile);
        }
        Ok(out)
    }
}

//! Single elements, and rows and columns of matrices, as `f64`.

use half::{bf16, f16};

use super::{HostTensor, small};
use crate::element::Element;
use crate::package::Known;

/// The element at an offset, in elements.
pub(super) fn load(element: Element, bytes: &[u8], offset: i64) -> f64 {
    macro_rules! read {
        ($type:ty) => {{
            let at = offset as usize * size_of::<$type>();
            let mut raw = [0; size_of::<$type>()];
            raw.copy_from_slice(&bytes[at..at + size_of::<$type>()]);
            <$type>::from_le_bytes(raw)
        }};
    }
    match element {
        Element::F8E4M3FN => small::E4M3.decode(read!(u8)),
        Element::F8E5M2 => small::E5M2.decode(read!(u8)),
        Element::F16 => read!(f16).to_f64(),
        // What tensor cores see of it.
        Element::Tf32 => f64::from(f32::from_bits(read!(u32) & !0x1fff)),
        Element::Bf16 => read!(bf16).to_f64(),
        Element::F32 => f64::from(read!(f32)),
        Element::F64 => read!(f64),
        Element::I8 => f64::from(read!(i8)),
        Element::U8 => f64::from(read!(u8)),
        Element::I32 => f64::from(read!(i32)),
        Element::I64 => read!(i64) as f64,
    }
}

/// Writes the element at an offset, in elements: rounded to nearest even, integers saturated.
pub(super) fn store(element: Element, bytes: &mut [u8], offset: i64, value: f64) {
    macro_rules! write {
        ($value:expr) => {{
            let raw = $value.to_le_bytes();
            let at = offset as usize * raw.len();
            bytes[at..at + raw.len()].copy_from_slice(&raw);
        }};
    }
    match element {
        Element::F8E4M3FN => write!(small::E4M3.encode(value)),
        Element::F8E5M2 => write!(small::E5M2.encode(value)),
        Element::F16 => write!(f16::from_f32(to_f32_odd(value))),
        Element::Tf32 => write!(small::to_tf32(to_f32_odd(value))),
        Element::Bf16 => write!(bf16::from_f32(to_f32_odd(value))),
        Element::F32 => write!((value as f32)),
        Element::F64 => write!(value),
        Element::I8 => write!((value.round_ties_even() as i8)),
        Element::U8 => write!((value.round_ties_even() as u8)),
        Element::I32 => write!((value.round_ties_even() as i32)),
        Element::I64 => write!((value.round_ties_even() as i64)),
    }
}

/// The number that a type has for a value: rounded to nearest even, integers saturated.
pub fn round_to(element: Element, value: f64) -> f64 {
    match element {
        // Most are of these types, and need no bytes.
        Element::F32 => f64::from(value as f32),
        Element::F64 => value,
        _ => {
            let mut bytes = [0; 8];
            store(element, &mut bytes, 0, value);
            load(element, &bytes, 0)
        }
    }
}

/// Rounds to odd: what is then rounded to a shorter type is as if it had been rounded once. (Boldo
/// and Melquiond 2008; `half` goes through the nearest `f32` where the CPU converts.)
fn to_f32_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if nearest.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let truncated = nearest.to_bits() - u32::from(f64::from(nearest.abs()) > value.abs());
    f32::from_bits(truncated | 1)
}

pub(super) fn is_poison(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == super::POISON)
}

/// A tensor of two modes, read by rows and columns.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    tensor: &'a HostTensor,
    rows: Vec<i64>,
    columns: Vec<i64>,
    /// The coordinates that say which elements there are; all, where there are none.
    inside: Vec<Coordinates>,
}

/// One coordinate of the elements of a matrix: an element is there where the sum of its row's and its column's part is at least 0 and below
/// the limit.
#[derive(Clone, Debug)]
struct Coordinates {
    rows: Vec<i64>,
    columns: Vec<i64>,
    limit: i64,
}

impl<'a> Matrix<'a> {
    /// None if the tensor has not two modes.
    pub fn new(tensor: &'a HostTensor) -> Option<Matrix<'a>> {
        (tensor.layout().rank() == 2).then(|| Matrix::lines(tensor))
    }

    /// One product of a batch: the first two modes at an index of the third, of which there is one where there is no third.
    /// None if the tensor has neither two nor three modes, or no such index.
    pub fn of_batch(tensor: &'a HostTensor, index: usize) -> Option<Matrix<'a>> {
        let layout = tensor.layout();
        let starts = match layout.rank() {
            2 => vec![0],
            3 => layout.mode_offsets(2),
            _ => return None,
        };
        let rows = layout.mode_offsets(0);
        let rows = match starts.get(index) {
            Some(start) => rows.into_iter().map(|row| row + start).collect(),
            // The first product of none has no rows.
            None if index == 0 => Vec::new(),
            None => return None,
        };
        Some(Matrix {
            tensor,
            rows,
            columns: layout.mode_offsets(1),
            inside: Vec::new(),
        })
    }

    /// One product of a batch of a matrix that a tensor has at coordinates. None if there is no such index.
    pub(crate) fn at_coordinates(
        tensor: &'a HostTensor,
        known: &Known,
        index: usize,
    ) -> Option<Matrix<'a>> {
        let layout = tensor.layout();
        let rank = layout.rank().max(1);
        // The tensor's modes have one stride each.
        let offsets = |mode: usize| layout.mode_offsets(mode);
        let modes: Vec<Vec<i64>> = (0..rank).map(offsets).collect();
        let stride = |mode: usize| modes[mode].get(1).copied().unwrap_or(0);
        let [rows, columns, batch @ ..] = &known.modes[..] else {
            return None;
        };
        let product = match (batch, index) {
            ([], 0) => vec![0; rank],
            ([batch], index) => batch.get(index)?.clone(),
            _ => return None,
        };
        let start: Vec<i64> = known
            .start
            .iter()
            .zip(product)
            .map(|(a, b)| a.saturating_add(b))
            .collect();
        let offset = |place: &Vec<i64>| {
            let parts = place.iter().enumerate();
            parts.fold(0i64, |sum, (mode, at)| {
                sum.saturating_add(at.saturating_mul(stride(mode)))
            })
        };
        let first = offset(&start);
        let along = |all: &[Vec<i64>], mode: usize, start: i64| {
            let all = all.iter();
            all.map(|place| place[mode].saturating_add(start)).collect()
        };
        let inside = (0..rank).map(|mode| Coordinates {
            rows: along(rows, mode, start[mode]),
            columns: along(columns, mode, 0),
            limit: modes[mode].len() as i64,
        });
        Some(Matrix {
            tensor,
            rows: rows
                .iter()
                .map(|place| offset(place).saturating_add(first))
                .collect(),
            columns: columns.iter().map(offset).collect(),
            inside: inside.collect(),
        })
    }

    /// The matrix of the rows from one up to another of this one, as far as it has them; of one that is at no coordinates.
    pub(crate) fn rows_between(mut self, [from, to]: [usize; 2]) -> Matrix<'a> {
        let to = to.min(self.rows.len());
        self.rows = self.rows[from.min(to)..to].to_vec();
        self
    }

    /// The matrix of those rows of this one, of which there may be none: all their elements are 0.
    pub(crate) fn by_rows(self, index: &[i64]) -> Matrix<'a> {
        let row = |index: &i64| usize::try_from(*index).ok().and_then(|i| self.rows.get(i));
        let is_there = |index: &i64| if row(index).is_some() { 0 } else { -1 };
        Matrix {
            rows: index
                .iter()
                .map(|index| row(index).copied().unwrap_or(0))
                .collect(),
            inside: vec![Coordinates {
                rows: index.iter().map(is_there).collect(),
                columns: vec![0; self.columns.len()],
                limit: 1,
            }],
            ..self
        }
    }

    /// Tells whether there is an element in that row and column; 0 is read where there is none.
    pub fn is_there(&self, row: usize, column: usize) -> bool {
        self.inside.iter().all(|along| {
            let place = along.rows[row].saturating_add(along.columns[column]);
            (0..along.limit).contains(&place)
        })
    }

    /// The offsets of all elements that there are.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = i64> {
        let all = self.rows.iter().enumerate();
        all.flat_map(move |(row, first)| {
            let there = self.columns.iter().enumerate();
            let there = there.filter(move |(column, _)| self.is_there(row, *column));
            there.map(move |(_, offset)| first + offset)
        })
    }

    /// Tells whether there are all elements.
    pub(crate) fn is_complete(&self) -> bool {
        let ends = |all: &[i64]| Some([*all.iter().min()?, *all.iter().max()?]);
        self.inside.iter().all(|along| {
            let (Some(rows), Some(columns)) = (ends(&along.rows), ends(&along.columns)) else {
                return true;
            };
            rows[0].saturating_add(columns[0]) >= 0
                && rows[1].saturating_add(columns[1]) < along.limit
        })
    }

    /// The last mode as columns, and all before it together, the first the fastest, as rows.
    pub fn lines(tensor: &'a HostTensor) -> Matrix<'a> {
        Matrix::of_modes(tensor, |mode| tensor.layout().mode_offsets(mode))
    }

    /// The matrices of the first two modes, one below the other: one for each index of the modes beyond, of which the first is the
    /// fastest. A tensor of fewer modes is what [`Matrix::lines`] makes of it.
    pub(crate) fn stacked(tensor: &'a HostTensor) -> Matrix<'a> {
        let layout = tensor.layout();
        if layout.rank() < 2 {
            return Matrix::lines(tensor);
        }
        let [mut rows, columns] = [0, 1].map(|mode| layout.mode_offsets(mode));
        for mode in 2..layout.rank() {
            rows = layout
                .mode_offsets(mode)
                .iter()
                .flat_map(|offset| rows.iter().map(move |rest| offset + rest))
                .collect();
        }
        Matrix {
            tensor,
            rows,
            columns,
            inside: Vec::new(),
        }
    }

    /// The matrix of [`Matrix::lines`], but of modes whose elements all lie at one place the first element only.
    pub(crate) fn places(tensor: &'a HostTensor) -> Matrix<'a> {
        let layout = tensor.layout();
        Matrix::of_modes(tensor, |mode| match layout.is_repeated(mode) {
            true => vec![0],
            false => layout.mode_offsets(mode),
        })
    }

    /// The matrix of [`Matrix::lines`], of the offsets of each mode.
    fn of_modes(tensor: &'a HostTensor, offsets: impl Fn(usize) -> Vec<i64>) -> Matrix<'a> {
        let rank = tensor.layout().rank();
        let last = rank.saturating_sub(1);
        let mut rows = vec![0];
        for mode in 0..last {
            let inner = rows;
            rows = offsets(mode)
                .iter()
                .flat_map(|offset| inner.iter().map(move |rest| offset + rest))
                .collect();
        }
        let columns = if rank == 0 { vec![0] } else { offsets(last) };
        Matrix {
            tensor,
            rows,
            columns,
            inside: Vec::new(),
        }
    }

    /// The bytes of the element in that row and column, both in range, where there is one.
    pub fn bytes(&self, row: usize, column: usize) -> &'a [u8] {
        let size = self.tensor.element.size();
        let at = (self.rows[row] + self.columns[column]) as usize * size;
        &self.tensor.bytes[at..at + size]
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> Element {
        self.tensor.element
    }

    /// The element in that row and column, both in range.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        if !self.is_there(row, column) {
            return 0.0;
        }
        load(
            self.tensor.element,
            &self.tensor.bytes,
            self.rows[row] + self.columns[column],
        )
    }

    /// Tells whether that element's bytes are all poison.
    pub fn is_poison(&self, row: usize, column: usize) -> bool {
        is_poison(self.bytes(row, column))
    }

    /// A row from column `from` on, as many elements as `out` has.
    pub fn read_row(&self, row: usize, from: usize, out: &mut [f64]) {
        if !self.inside.is_empty() {
            for (column, value) in out.iter_mut().enumerate() {
                *value = self.get(row, from + column);
            }
            return;
        }
        let offsets = self.columns[from..from + out.len()]
            .iter()
            .map(|column| self.rows[row] + column);
        self.read(offsets, out);
    }

    /// A column from row `from` on, as many elements as `out` has.
    pub fn read_column(&self, column: usize, from: usize, out: &mut [f64]) {
        if !self.inside.is_empty() {
            for (row, value) in out.iter_mut().enumerate() {
                *value = self.get(from + row, column);
            }
            return;
        }
        let offsets = self.rows[from..from + out.len()]
            .iter()
            .map(|row| self.columns[column] + row);
        self.read(offsets, out);
    }

    fn read(&self, offsets: impl Iterator<Item = i64>, out: &mut [f64]) {
        let bytes = &self.tensor.bytes;
        // The match stands outside of the loop, as a row is read element by element.
        macro_rules! read_all {
            ($element:expr) => {
                for (value, offset) in out.iter_mut().zip(offsets) {
                    *value = load($element, bytes, offset);
                }
            };
        }
        match self.tensor.element {
            Element::F16 => read_all!(Element::F16),
            Element::Bf16 => read_all!(Element::Bf16),
            Element::F32 => read_all!(Element::F32),
            Element::F64 => read_all!(Element::F64),
            other => read_all!(other),
        }
    }
}

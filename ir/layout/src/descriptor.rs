//! Matrix descriptors of `wgmma`: how an operand in shared memory is told to the instruction.
//!
//! An operand is one atom's tile, MN by K, and K is 32 bytes. The hardware knows eight arrangements of it, four for each major mode: what
//! is swizzled by 128, 64 or 32 bytes, and what is not. Each has two strides that are free. [`Descriptor::of`] finds the strides of a
//! layout, or refuses it with the layout that would do. Sources: PTX ISA, "Matrix descriptor format" and "Strides" of
//! `wgmma.mma_async`; CuTe's `mma_sm90_desc.hpp` and `mma_traits_sm90_gmma.hpp`.

use crate::atoms::{Major, MmaAtom};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use cute_target::banks;

/// Bytes of a row of a core matrix, in which everything of a descriptor is counted.
pub const GRANULE: i64 = 16;
/// Rows of a core matrix.
const ROWS: i64 = 8;
/// Bytes that the fields of a descriptor can tell apart: 14 bits of granules.
const REACH: i64 = 1 << 18;

/// Atoms of an operand along a mode, at most: shared memory has room for fewer.
pub const MOST_ATOMS: i64 = 1 << 18;

/// The arrangement of one operand of one `wgmma` in shared memory, but for the address at which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// The mode along which elements are next to each other.
    pub major: Major,
    /// The bits of the swizzle: 3 of 128 bytes, 2 of 64, 1 of 32, 0 of none.
    pub swizzle_bits: u32,
    /// The field "leading dimension byte offset", in bytes.
    pub leading: i64,
    /// The field "stride dimension byte offset", in bytes.
    pub stride: i64,
}

/// An operand of one atom: its layout in shared memory, and what the atom is.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// (MN, K) to elements from the operand's start, before the swizzle.
    pub layout: &'a Layout,
    /// The extent of M or N.
    pub mn: i64,
    /// The extent of K.
    pub k: i64,
    /// Bits of an element.
    pub bits: i64,
    /// The mode along which the atom takes elements as next to each other.
    pub major: Major,
    /// The swizzle of the tensor, which acts on byte addresses.
    pub swizzle: Option<Swizzle>,
}

impl Descriptor {
    /// The descriptor of an operand. Errors: a swizzle that the hardware has not; a layout that is none of the canonical ones, with one
    /// that is.
    pub fn of(operand: Operand<'_>) -> Result<Descriptor> {
        let swizzle_bits = match operand.swizzle {
            None => 0,
            Some(s) if s.b() == 0 => 0,
            Some(s) if s.m() == 4 && s.s() == 3 && s.b() <= 3 => s.b(),
            Some(other) => {
                return Err(operand.refuse(
                    format!("{other}"),
                    "swizzle the tensor by S<3,4,3>, S<2,4,3>, S<1,4,3> or not at all".to_owned(),
                ));
            }
        };
        let bytes = operand.bits / 8;
        let flat = operand.layout.flat_or("wgmma descriptor")?;
        if flat.size() != operand.mn * operand.k {
            return Err(operand.refuse(
                format!("{} with {} elements", operand.layout, flat.size()),
                "partition the tensor by the tiled MMA of the atom".to_owned(),
            ));
        }
        let at = |mn: i64, k: i64| flat.at(mn + k * operand.mn) * bytes;
        // The free strides are those of the first element behind a block, where there is one.
        let mut candidate = Descriptor {
            major: operand.major,
            swizzle_bits,
            leading: 0,
            stride: 0,
        };
        let width = candidate.width();
        let chunk = width / bytes;
        let (along_mn, along_k) = match operand.major {
            Major::K => (ROWS, GRANULE / bytes),
            Major::Mn => (chunk, ROWS),
        };
        let next = |mn: i64, k: i64| {
            if mn < operand.mn && k < operand.k {
                at(mn, k) - at(0, 0)
            } else {
                0
            }
        };
        let (mn, k) = (next(along_mn, 0), next(0, along_k));
        (candidate.leading, candidate.stride) = match (operand.major, swizzle_bits) {
            (Major::K, 0) => (k, mn),
            // Within a swizzled atom the chunks of K are where the swizzle has them: the field is not read, and CuTe writes 1.
            (Major::K, _) => (GRANULE, mn),
            (Major::Mn, 0) => (k, mn),
            (Major::Mn, _) => (mn, k),
        };
        for k in 0..operand.k {
            for mn in 0..operand.mn {
                if at(mn, k) - at(0, 0) != candidate.offset(mn, k, bytes) {
                    return Err(operand.refuse(
                        format!(
                            "{}, which has ({mn},{k}) at {}",
                            operand.layout,
                            at(mn, k) / bytes
                        ),
                        format!("lay it out as {}", candidate.canonical(&operand)),
                    ));
                }
            }
        }
        let fits = |field: i64| (0..REACH).contains(&field) && field % GRANULE == 0;
        if !fits(candidate.leading) || !fits(candidate.stride) {
            return Err(operand.refuse(
                format!(
                    "{}, with strides of {} and {} bytes",
                    operand.layout, candidate.leading, candidate.stride
                ),
                format!("keep the strides between blocks of {ROWS} rows multiples of {GRANULE} bytes below {REACH}"),
            ));
        }
        // The XOR takes bits of the address: a block of eight rows has to begin where its pattern does, or the field "base offset"
        // would not be 0.
        if swizzle_bits > 0
            && [candidate.leading, candidate.stride]
                .iter()
                .enumerate()
                .any(|(i, field)| {
                    (operand.major == Major::Mn || i == 1) && field % (ROWS * width) != 0
                })
        {
            return Err(operand.refuse(
                format!(
                    "{}, with strides of {} and {} bytes",
                    operand.layout, candidate.leading, candidate.stride
                ),
                format!("keep the strides between blocks of {ROWS} rows multiples of {} bytes, the swizzle's period", ROWS * width),
            ));
        }
        Ok(candidate)
    }

    /// Bytes of the major mode that the swizzle spans; a granule without one.
    pub fn width(&self) -> i64 {
        GRANULE << self.swizzle_bits
    }

    /// The byte of an element from the start of the operand, before the swizzle, as the hardware computes it of the fields.
    pub fn offset(&self, mn: i64, k: i64, bytes: i64) -> i64 {
        let width = self.width();
        match (self.major, self.swizzle_bits) {
            (Major::K, 0) => {
                let k = k * bytes;
                mn % ROWS * GRANULE
                    + mn / ROWS * self.stride
                    + k / GRANULE * self.leading
                    + k % GRANULE
            }
            (Major::K, _) => mn % ROWS * width + mn / ROWS * self.stride + k * bytes,
            (Major::Mn, bits) => {
                let mn = mn * bytes;
                // Without a swizzle the two strides have each other's part.
                let (of_mn, of_k) = if bits == 0 {
                    (self.stride, self.leading)
                } else {
                    (self.leading, self.stride)
                };
                mn / width * of_mn + mn % width + k % ROWS * width + k / ROWS * of_k
            }
        }
    }

    /// The core matrices of an operand of `mn` by `k` elements of so many bytes, along MN and along K. One has 8 rows of 16 bytes along the major mode.
    pub fn core_matrices(&self, mn: i64, k: i64, bytes: i64) -> [i64; 2] {
        let [of_mn, of_k] = self.core_shape(bytes);
        [mn / of_mn, k / of_k]
    }

    /// Elements of a core matrix along MN and along K, where each has so many bytes.
    pub fn core_shape(&self, bytes: i64) -> [i64; 2] {
        match self.major {
            Major::K => [ROWS, GRANULE / bytes],
            Major::Mn => [GRANULE / bytes, ROWS],
        }
    }

    /// The addresses of the 8 rows of a core matrix, by its numbers along MN and K, of an operand that begins at byte `start`: those to which the swizzle takes them.
    pub fn core_rows(&self, start: i64, [mn, k]: [i64; 2], bytes: i64) -> [i64; ROWS as usize] {
        let [of_mn, of_k] = self.core_shape(bytes);
        let swizzle = Swizzle::new(i64::from(self.swizzle_bits), 4, 3).ok();
        std::array::from_fn(|row| {
            let row = row as i64;
            let (mn, k) = match self.major {
                Major::K => (mn * of_mn + row, k * of_k),
                Major::Mn => (mn * of_mn, k * of_k + row),
            };
            let address = start + self.offset(mn, k, bytes);
            swizzle.map_or(address, |swizzle| swizzle.apply(address))
        })
    }

    /// The passes over the banks that reading an operand of `mn` by `k` elements takes, which begins at byte `start`, and the fewest: one for each core matrix, whose 8 rows
    /// are read at once.
    pub fn wavefronts(&self, start: i64, [mn, k]: [i64; 2], bytes: i64) -> (u32, u32) {
        let [along_mn, along_k] = self.core_matrices(mn, k, bytes);
        let each = (0..along_k).flat_map(|k| (0..along_mn).map(move |mn| [mn, k]));
        each.map(|at| banks::wavefronts(&self.core_rows(start, at, bytes), GRANULE as u32))
            .fold((0, 0), |(found, ideal), passes| (found + passes, ideal + 1))
    }

    /// The descriptor of the values of an atom's operand in shared memory, whose swizzle acts on bytes: of A as operand 0, of B as operand 1. Errors: those of [`Descriptor::of`].
    pub fn of_atom(
        atom: &MmaAtom,
        operand: usize,
        values: &Layout,
        swizzle: Option<Swizzle>,
    ) -> Result<Descriptor> {
        let [m, n, k] = atom.shape_mnk;
        let (mn, elem) = match operand {
            0 => (m, atom.a),
            _ => (n, atom.b),
        };
        Descriptor::of(Operand {
            layout: values,
            mn,
            k,
            bits: elem.bits(),
            major: atom.majors[operand],
            swizzle,
        })
    }

    /// Bytes from the start of a partition to each atom along a mode of it, of elements of so many bytes. Errors: atoms that begin elsewhere than in the first row of a pattern of
    /// the swizzle, and more than shared memory has room for.
    pub fn starts(
        &self,
        mode: &Layout,
        of: &Layout,
        bytes: i64,
        swizzle: Option<Swizzle>,
    ) -> std::result::Result<Vec<i64>, String> {
        let flat = mode.flat_or("wgmma").map_err(|e| e.to_string())?;
        if flat.size() > MOST_ATOMS {
            return Err(format!(
                "expected at most {MOST_ATOMS} atoms along a mode, found {mode}"
            ));
        }
        let found: Vec<i64> = (0..flat.size()).map(|i| flat.at(i) * bytes).collect();
        let (row, period) = (self.width(), swizzle.map_or(1, |s| s.period().max(1)));
        let is_swizzled = self.swizzle_bits > 0;
        let wrong =
            |offset: &&i64| **offset % GRANULE != 0 || (is_swizzled && **offset % period >= row);
        match found.iter().find(wrong) {
            Some(offset) => Err(format!(
                "expected atoms that start in the first row of a pattern of the swizzle, at multiples of {GRANULE} bytes, found one at byte {offset} of {of}"
            )),
            None => Ok(found),
        }
    }

    /// The fields but for the start address: bits 16 to 63.
    pub fn fields(&self) -> u64 {
        let granules = |bytes: i64| (bytes / GRANULE) as u64 & 0x3fff;
        let layout: u64 = match self.swizzle_bits {
            3 => 1,
            2 => 2,
            1 => 3,
            _ => 0,
        };
        granules(self.leading) << 16 | granules(self.stride) << 32 | layout << 62
    }

    /// The start field of a shared address: bits 0 to 13.
    pub fn start(address: u32) -> u64 {
        u64::from((address & 0x3ffff) / GRANULE as u32)
    }

    /// A canonical layout for an operand, as packed as it can be.
    fn canonical(&self, operand: &Operand<'_>) -> String {
        let bytes = operand.bits / 8;
        let (width, granule) = (self.width() / bytes, GRANULE / bytes);
        let (mn, k) = (operand.mn, operand.k);
        match (self.major, self.swizzle_bits) {
            (Major::K, 0) => format!(
                "(({ROWS},{}),({granule},{})):(({granule},{}),(1,{}))",
                mn / ROWS,
                k / granule,
                ROWS * granule * (k / granule),
                ROWS * granule
            ),
            (Major::K, bits) => format!(
                "S<{bits},4,3> o (({ROWS},{}),{k}):(({width},{}),1)",
                mn / ROWS,
                ROWS * width
            ),
            (Major::Mn, 0) => format!(
                "(({granule},{}),({ROWS},{})):((1,{}),({granule},{}))",
                mn / granule,
                k / ROWS,
                ROWS * granule,
                ROWS * mn
            ),
            (Major::Mn, bits) => format!(
                "S<{bits},4,3> o (({width},{}),({ROWS},{})):((1,{}),({width},{}))",
                (mn / width).max(1),
                k / ROWS,
                k * width,
                ROWS * width
            ),
        }
    }
}

/// The modes (values, M or N, K) of an operand of a product, with those that its rank leaves out. Errors: more modes.
pub fn modes_of(layout: &Layout) -> std::result::Result<[Layout; 3], String> {
    let mut modes = layout.modes();
    let one = Layout::leaf(1, 0).map_err(|e| e.to_string())?;
    modes.resize(modes.len().max(3), one);
    <[Layout; 3]>::try_from(modes).map_err(|_| format!("expected modes (V,M,K), found {layout}"))
}

/// The place of an operand's partition in shared memory, by the descriptors that a product takes.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The arrangement of the atom's values.
    pub descriptor: Descriptor,
    /// Bytes from the partition's start to each atom along M or N, and along K.
    pub bytes: [Vec<i64>; 2],
}

impl Steps {
    /// The descriptors of a partition (values, M or N, K) of shared memory, whose swizzle acts on bytes: of A as operand 0, of B as operand 1.
    ///
    /// Errors: values that no descriptor is of, as of [`Descriptor::of`]; atoms that begin elsewhere than in the first row of a pattern of the swizzle.
    pub fn of(
        atom: &MmaAtom,
        operand: usize,
        layout: &Layout,
        swizzle: Option<Swizzle>,
    ) -> std::result::Result<Steps, String> {
        let [values, first, second] = modes_of(layout)?;
        let descriptor =
            Descriptor::of_atom(atom, operand, &values, swizzle).map_err(|e| e.to_string())?;
        let elem = if operand == 0 { atom.a } else { atom.b };
        let bytes = elem.bits() / 8;
        let starts = |mode: &Layout| descriptor.starts(mode, layout, bytes, swizzle);
        let found = [starts(&first)?, starts(&second)?];
        Ok(Steps {
            descriptor,
            bytes: found,
        })
    }
}

impl std::fmt::Display for Descriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let major = match self.major {
            Major::K => "K",
            Major::Mn => "MN",
        };
        match self.swizzle_bits {
            0 => write!(f, "{major}-major without a swizzle")?,
            _ => write!(f, "{major}-major, swizzled by {} bytes", self.width())?,
        }
        // Of a field that is not read there is nothing to tell.
        match (self.major, self.swizzle_bits) {
            (Major::K, 1..) => write!(f, ", stride byte offset {}", self.stride),
            _ => write!(
                f,
                ", leading byte offset {}, stride byte offset {}",
                self.leading, self.stride
            ),
        }
    }
}

impl Operand<'_> {
    fn refuse(&self, found: String, cure: String) -> LayoutError {
        let major = match self.major {
            Major::K => "K",
            Major::Mn => "MN",
        };
        LayoutError::Divisibility {
            op: "wgmma descriptor",
            expected: format!(
                "an operand of {} by {} elements of {} bits in one of the canonical {major}-major layouts",
                self.mn, self.k, self.bits
            ),
            found,
            cure,
        }
    }
}

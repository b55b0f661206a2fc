//! Factors whose lines begin where neither TMA nor copies of 16 bytes can take them, such as rows of an odd number of elements of f16.
//!
//! A kernel can load them element by element, or a map copies them into a workspace first, in lines that begin at multiples of 128 bytes. The
//! copy costs the time of two passes over memory, whatever M, N and K are, so that it pays where there are many products of each element; the estimate of a plan has it.

use super::{
    Gemm,
    leaves::{extent_of_mode, leaves_of, view_at},
    map::{
        Kernels, Map,
        beside::{self, Beside},
    },
    matrix::{Matrices, Matrix, Role, WIDEST},
};
use crate::plan::{Pack, Packed};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{MemRef, Space, memref_of, register_type},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, int, tuple};
use melior::ir::r#type::IntegerType;

/// Bytes that lines of a copied factor begin at multiples of: a line of L2.
const LINE: i64 = 128;

/// Kernels of a map that copies a factor: what is copied has lines of any lengths.
const MAPS: usize = 1;

/// Kernels of a product of open sizes, at least, of which two are for lines that begin anywhere, by each way.
const MANY: usize = 12;

/// The kernels that copy A and B, as far as they are written: several plans of one product share them.
#[derive(Default)]
pub(super) struct Copies {
    /// Those that copy one of them.
    alone: [Option<Kernels>; 2],
    /// The one that copies both.
    both: Option<Beside>,
}

/// The least multiple of a number that is at least another; none of one that 64 bits do not hold.
fn rounded_up(number: i64, of: i64) -> Option<i64> {
    number.checked_add(of - 1).map(|all| all / of * of)
}

/// Tells whether all strides of a mode are 0.
fn is_zero(mode: &IntTuple) -> bool {
    mode.leaves().iter().all(|leaf| **leaf == Leaf::Static(0))
}

impl<'c> Matrices<'c> {
    /// The place, among A, B and C as the kernel sees them, of A (0) or B (1) of the op.
    fn place_of_operand(&self, operand: usize) -> usize {
        match self.exchanged {
            true => 1 - operand,
            false => operand,
        }
    }

    /// The same tensors with those factors copied first that are asked for, or all that it may be good for where nothing is asked for; none where there is
    /// nothing to copy. Errors: a factor that is asked for and cannot be copied.
    pub(super) fn packed(&self, asked: Option<Pack>) -> Result<Option<(Self, Packed)>, String> {
        let mut all = self.clone();
        let mut packed = Packed::default();
        for operand in 0..2 {
            let place = self.place_of_operand(operand);
            let matrix = &self.product[place];
            let is_wanted = match asked {
                Some(Pack(wanted)) => wanted[operand],
                None => !matrix.access.is_in_lines(8 * matrix.memref.element_bytes()),
            };
            if !is_wanted {
                continue;
            }
            let own = matrix.packed().filter(|_| !self.is_shared(matrix));
            match own {
                Some(own) => {
                    packed.asked.0[operand] = true;
                    packed.bits[place] = 8 * own.memref.element_bytes();
                    all.product[place] = own;
                }
                None if asked.is_none() => {}
                None => {
                    return Err(format!(
                        "asks for pack={} of {}, {}, which cannot be copied first; expected a tensor of the product alone, of elements of whole bytes, with one extent \
                         and one stride along rows and columns, without coordinates, indices and groups of rows",
                        ["a", "b"][operand],
                        matrix.name,
                        matrix.memref.layout
                    ));
                }
            }
        }
        Ok((packed != Packed::default()).then_some((all, packed)))
    }

    /// Tells whether a tensor has another part in the product as well.
    fn is_shared(&self, matrix: &Matrix<'c>) -> bool {
        let others = self.product.iter().chain(self.beside.iter().flatten());
        let others = others.chain(&self.inputs).chain(&self.outputs);
        others
            .filter(|other| other.argument == matrix.argument)
            .count()
            > 1
    }
}

impl<'c> Matrix<'c> {
    /// The factor as a map copies it; none of what no map copies line by line.
    fn packed(&self) -> Option<Self> {
        let bytes = self.memref.element_bytes();
        let is_plain = self.role == Role::Factor
            && self.places.is_none()
            && !self.has_groups
            && self.layout == self.memref.layout
            && (1..=WIDEST).contains(&bytes)
            && element_bits(self.memref.element) == Some(8 * bytes);
        let along = self.place(self.access.major);
        let strides = self.layout.stride().modes();
        if !is_plain || strides.len() < 2 || strides[..2].iter().any(is_zero) {
            return None;
        }
        let shape = self.layout.shape().modes();
        // Rows, columns, and the batch, each behind those before it.
        let step = LINE / bytes;
        let line = match shape[along].as_leaf()?.as_static() {
            Some(known) => Some(rounded_up(known.max(1), step)?),
            None => None,
        };
        let open = IntTuple::Leaf(Leaf::Dynamic(Dyn::new(64, step)));
        let mut apart = line;
        let mut stride = vec![int(1); shape.len()];
        let mut next = |extent: &Leaf| -> Option<IntTuple> {
            let own = apart.map_or_else(|| open.clone(), int);
            apart = match (apart, extent.as_static()) {
                (Some(apart), Some(extent)) => Some(apart.checked_mul(extent.max(1))?),
                _ => None,
            };
            Some(own)
        };
        stride[1 - along] = next(shape[1 - along].as_leaf()?)?;
        for at in 2..shape.len() {
            // What all products share is copied once.
            let is_shared = is_zero(&strides[at]);
            let mut own = Vec::new();
            for extent in shape[at].leaves() {
                own.push(if is_shared { int(0) } else { next(extent)? });
            }
            stride[at] = match shape[at].is_tuple() {
                true => tuple(own),
                false => own.pop()?,
            };
        }
        // A map counts its rows in 32 bits.
        let rows = shape.iter().enumerate().filter(|(at, _)| *at != along);
        let rows = rows.map(|(_, mode)| mode.size().unwrap_or(1));
        let rows = rows.fold(1i64, i64::saturating_mul);
        if rows > i32::MAX.into() {
            return None;
        }
        let layout = Layout::new(self.layout.shape().clone(), tuple(stride)).ok()?;
        let memref = MemRef {
            space: Space::Gmem,
            align: LINE,
            swizzle: None,
            inner: None,
            layout: layout.clone(),
            ..self.memref.clone()
        };
        self.lying(memref, layout)
    }
}

/// A way to compute a product, and its estimated time where all sizes are known.
type Timed<'c> = (Option<i64>, Gemm<'c>);

/// The choice of at most so many ways for tensors of which some are copied first; or the reason why there is none.
type Choose<'a, 'c> = dyn Fn((&Matrices<'c>, Packed), usize) -> Result<Vec<Timed<'c>>, String> + 'a;

impl<'c> Gemm<'c> {
    /// The ways to compute a product of which factors may be copied first: of known sizes the faster of both, or what candidates are the fastest; of open ones those of
    /// which a launch takes one, at most so many, where `aligned` is for launches whose lines all begin at multiples of 16 bytes. Errors: the reason why there is no plan.
    pub(super) fn of_tiers(
        choose: &Choose<'_, 'c>,
        [plain, copied]: [(&Matrices<'c>, Packed); 2],
        aligned: Option<Matrices<'c>>,
        (most, is_open): (usize, bool),
    ) -> Result<Vec<Timed<'c>>, String> {
        if !is_open || most == 1 {
            let (mut ways, copied) = match (choose(plain, most), choose(copied, most)) {
                (Ok(plain), _) if is_open => return Ok(plain),
                (Ok(plain), Ok(copied)) => (plain, copied),
                (Ok(only), Err(_)) | (Err(_), Ok(only)) => return Ok(only),
                (Err(why), Err(_)) => return Err(why),
            };
            let most = ways.len().max(copied.len());
            ways.extend(copied);
            ways.sort_by_key(|(time, _)| *time);
            ways.truncate(most);
            return Ok(ways);
        }
        let mut ways = Vec::new();
        let (of_copied, of_plain) = match &aligned {
            None => (most / 2, most - most / 2),
            Some(aligned) => {
                // C may have lines that begin anywhere where those of A and B do not.
                let mut factors = aligned.clone();
                factors.product[2] = plain.0.product[2].clone();
                let differs = |of: &Matrices<'c>, from: &Matrices<'c>| {
                    let both = of.product.iter().zip(&from.product);
                    both.into_iter().any(|(of, from)| of.access != from.access)
                };
                let is_between =
                    most > 3 && differs(&factors, aligned) && differs(&factors, plain.0);
                // Of many kernels two, for small and large sizes.
                let of_each = if most >= MANY { 2 } else { 1 };
                let (of_copied, of_plain) = (if most > 2 { of_each } else { 0 }, of_each);
                let others = of_plain + of_copied + usize::from(is_between);
                ways.extend(choose((aligned, plain.1), most - others)?);
                if is_between {
                    ways.extend(choose((&factors, plain.1), 1)?);
                }
                (of_copied, of_plain)
            }
        };
        let (plain, copied) = (
            choose(plain, of_plain),
            match of_copied {
                0 => Ok(Vec::new()),
                most => choose(copied, most),
            },
        );
        match (plain, copied) {
            (Err(why), Err(_)) => return Err(why),
            (plain, copied) => {
                ways.extend(copied.unwrap_or_default());
                ways.extend(plain.unwrap_or_default());
            }
        }
        Ok(ways)
    }

    /// The places of the kernel's arguments that are copies of factors, and their types.
    pub(super) fn copied_arguments(&self) -> impl Iterator<Item = (usize, &MemRef<'c>)> {
        let factors = self.matrices.product.iter().zip(self.packed.bits);
        let copied = factors.filter(|(_, bits)| *bits > 0);
        copied.map(|(matrix, _)| (matrix.argument, &matrix.memref))
    }

    /// The same product of factors that are copied before, by maps that are written where it is launched.
    pub(super) fn pack(
        &self,
        rewriter: &Rewriter<'c>,
        host: Builder<'c>,
        (module, home, name): (Op<'c>, Op<'c>, &str),
        copies: &mut Copies,
    ) -> Result<Self, Failure> {
        let mut own = self.clone();
        let mut maps = Vec::new();
        let factors = self.matrices.product.iter().zip(self.packed.bits);
        for (at, (matrix, _)) in factors.enumerate().filter(|(_, (_, bits))| *bits > 0) {
            let step = host.step(&format!("copy {}", matrix.name));
            let whole = self.workspace_of_packed(step, matrix)?;
            let ends = [matrix.tensor, whole].map(|tensor| copied(step, matrix, tensor));
            let [from, to] = ends;
            let ends = [from?, to?];
            let map = self.map_of_packed(step, ends)?;
            maps.push((
                at,
                Map::of_values(map, self.function, &self.archs, (&[], None))?,
            ));
            own.arguments[matrix.argument] = whole;
            own.matrices.product[at].tensor = whole;
        }
        let ops: Vec<_> = maps.iter().map(|(_, map)| map.op()).collect();
        let home = &mut Some(home);
        match <[_; 2]>::try_from(maps) {
            Ok(maps) => match beside::ways([&maps[0].1, &maps[1].1]) {
                Some(ways) => {
                    let name = format!("{name}_pack");
                    let maps = (maps.map(|(_, map)| map), ways);
                    beside::lower(maps, module, &name, home, &mut copies.both)?;
                }
                None => self.copy_alone(module, name, home, &maps, copies)?,
            },
            Err(maps) => self.copy_alone(module, name, home, &maps, copies)?,
        }
        for op in ops {
            rewriter.erase(op)?;
        }
        Ok(own)
    }

    /// Writes a kernel for each map that copies a factor, of which the place among the factors is given, where it is not written yet, and its launch.
    fn copy_alone(
        &self,
        module: Op<'c>,
        name: &str,
        home: &mut Option<Op<'c>>,
        maps: &[(usize, Map<'c>)],
        copies: &mut Copies,
    ) -> Result<(), Failure> {
        maps.iter().try_for_each(|(at, map)| {
            let matrix = &self.matrices.product[*at];
            let name = format!("{name}_pack_{}", matrix.name.to_lowercase());
            map.lower_again(module, &name, MAPS, home, &mut copies.alone[*at])
        })
    }

    /// The tensor in a workspace that a factor is copied to.
    fn workspace_of_packed(
        &self,
        host: Builder<'c>,
        matrix: &Matrix<'c>,
    ) -> Result<Val<'c>, Failure> {
        let index = host.index_type();
        let layout = &matrix.layout;
        let along = matrix.place(matrix.access.major);
        let times = |x: Val<'c>, y: Val<'c>| host.value(arith::MULI, &[x, y], index, &[]);
        let given = host.infer(cute::GET_LAYOUT, &[matrix.tensor], &[])?;
        let values = leaves_of(host, given)?;
        let extents: Vec<Val<'c>> = values[..values.len() / 2]
            .iter()
            .copied()
            .flatten()
            .collect();
        let step = host.constant(index, LINE / matrix.memref.element_bytes())?;
        let line = extent_of_mode(host, matrix.tensor, along)?;
        let line = host.value(arith::CEILDIVSI, &[line, step], index, &[])?;
        let mut apart = times(line, step)?;
        // In the order in which the layout was made: across lines, then the batch.
        let mut strides: Vec<Vec<Val<'c>>> = vec![Vec::new(); layout.rank()];
        let shape = layout.shape().modes();
        for at in std::iter::once(1 - along).chain(2..layout.rank()) {
            let before = shape[..at]
                .iter()
                .map(|mode| mode.leaves().len())
                .sum::<usize>();
            let of_mode = layout.mode(at).map_err(|e| host.error(e.to_string()))?;
            if is_zero(of_mode.stride()) {
                continue;
            }
            let (own, steps) = (of_mode.shape().leaves(), of_mode.stride().leaves());
            for (leaf, (extent, stride)) in own.into_iter().zip(steps).enumerate() {
                if !stride.is_static() {
                    strides[at].push(host.value(
                        arith::INDEX_CAST,
                        &[apart],
                        host.i64_type(),
                        &[],
                    )?);
                }
                let extent = match extent.as_static() {
                    Some(known) => host.constant(index, known)?,
                    None => {
                        let value = values.get(before + leaf).copied().flatten();
                        let value = value.expected(host, "an extent that a launch brings")?;
                        host.value(arith::INDEX_CAST, &[value], index, &[])?
                    }
                };
                apart = times(apart, extent)?;
            }
        }
        let bytes = host.constant(index, matrix.memref.element_bytes())?;
        let bytes = times(apart, bytes)?;
        let ty = matrix.memref.to_ptr_type(host.location)?;
        let start = host.value(cute::WORKSPACE, &[bytes], ty, &[])?;
        view_at(host, start, &matrix.memref, [&extents, &strides.concat()])
    }

    /// The map that copies a tensor.
    fn map_of_packed(
        &self,
        host: Builder<'c>,
        [input, output]: [Val<'c>; 2],
    ) -> Result<Op<'c>, Failure> {
        let element = memref_of(input).expected(host, "a tensor")?.element;
        let (region, block) = Detached::with_block(&[(element, host.location)]);
        let segments = [("operandSegmentSizes", host.i32_array(&[1, 1]))];
        let op = host.with_regions(cute::MAP, &[input, output], &[], &segments, vec![region])?;
        let l = Builder::at_end(host.context, block, host.location);
        l.op(cute::YIELD, &[argument(block, 0)], &[], &[])?;
        Ok(op)
    }
}

/// A factor, or its copy, as a map reads and writes it: without the batch where all products share it, and of integers of as many bits where no register holds
/// its elements.
fn copied<'c>(host: Builder<'c>, matrix: &Matrix<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
    let memref = memref_of(tensor).expected(host, "a tensor")?;
    let is_held = register_type(memref.element) == memref.element;
    let batch = matrix.layout.stride().get(2);
    let is_shared = batch.is_some_and(is_zero);
    if is_held && !is_shared {
        return Ok(tensor);
    }
    let bits = element_bits(memref.element).expected(host, "a type of elements")?;
    let modes = memref.layout.modes();
    let modes = if is_shared { &modes[..2] } else { &modes[..] };
    let own = MemRef {
        element: match is_held {
            true => memref.element,
            false => IntegerType::new(host.context, bits as u32).into(),
        },
        layout: Layout::from_modes(modes).map_err(|e| host.error(e.to_string()))?,
        ..memref
    };
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let leaves = leaves_of(host, layout)?;
    let (shape, stride) = leaves.split_at(leaves.len() / 2);
    let count = own.layout.shape().leaves().len();
    let open = |leaves: &[Option<Val<'c>>]| -> Vec<Val<'c>> {
        leaves[..count].iter().copied().flatten().collect()
    };
    let mut start = host.infer(cute::GET_ITER, &[tensor], &[])?;
    if !is_held {
        let pointer = own.to_ptr_type(host.location)?;
        start = host.value(cute::RECAST_ITER, &[start], pointer, &[])?;
    }
    view_at(host, start, &own, [&open(shape), &open(stride)])
}

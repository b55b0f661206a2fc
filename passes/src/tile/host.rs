//! The launch of a kernel that `cute-tile` wrote, and what the function must be given.

use super::{
    Gemm,
    indexed::Places,
    kernel::Part,
    leaves::{extent_of_leaves, extent_of_mode, leaves_of, places_of},
    matrix::{self, Matrix, holders},
    variants::Host,
};
use crate::plan::clusters_at_once;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cf, cute, gpu, scf};
use cute_ir::{
    Expected, Failure, diag,
    maps::is_same_along,
    mlir::*,
    types::{MemRef, memref_of},
};
use cute_layout::{IntTuple, Layout, Leaf};
use melior::ir::{ValueLike, operation::OperationLike};

/// The grid of a launch.
#[derive(Clone, Copy)]
pub(super) struct LaunchSizes<'c> {
    /// Blocks along x.
    pub(super) blocks: Val<'c>,
    /// Blocks along y.
    pub(super) rows: i64,
    /// Threads of a block.
    pub(super) threads: i64,
    /// Blocks of a cluster; 1 is no cluster.
    pub(super) cluster: i64,
}

/// Launches a kernel, a symbol.
pub(super) fn launch_kernel<'c>(
    host: Builder<'c>,
    kernel: &str,
    sizes: LaunchSizes<'c>,
    arguments: &[Val<'c>],
) -> Result<(), Failure> {
    let index = host.index_type();
    let mut operands = vec![sizes.blocks];
    for size in [sizes.rows, 1, sizes.threads, 1, 1] {
        operands.push(host.constant(index, size)?);
    }
    let in_cluster = i32::from(sizes.cluster > 1);
    if sizes.cluster > 1 {
        for size in [sizes.cluster, 1, 1] {
            operands.push(host.constant(index, size)?);
        }
    }
    operands.push(host.i32(0)?);
    operands.extend(arguments);
    let arguments = i32::try_from(arguments.len()).unwrap_or(0);
    let segments = host.i32_array(&[
        0, 1, 1, 1, 1, 1, 1, in_cluster, in_cluster, in_cluster, 1, arguments, 0,
    ]);
    let attributes = [
        ("kernel", host.attribute(kernel)?),
        ("operandSegmentSizes", segments),
    ];
    host.op(gpu::LAUNCH_FUNC, &operands, &[], &attributes)?;
    Ok(())
}

/// Asserts that lines of an output that are `apart` elements from each other do not overlap; `modes` are those across and along
/// lines.
pub(super) fn assert_apart<'c>(
    host: Builder<'c>,
    name: &str,
    [across, along]: [usize; 2],
    [lines, length]: [Val<'c>; 2],
    apart: Val<'c>,
) -> Result<(), Failure> {
    let one = host.constant(host.index_type(), 1)?;
    let single = host.compare(Predicate::Sle, lines, one)?;
    let clear = host.compare(Predicate::Sle, length, apart)?;
    let holds = host.value(arith::ORI, &[single, clear], single.r#type(), &[])?;
    let message = format!(
        "expected elements of {name} that do not overlap: a stride of mode {across} that is at least the extent of mode {along}"
    );
    host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(&message))])?;
    Ok(())
}

/// Asserts that elements of an output along some of its modes do not overlap, where only a launch knows how far they are apart: each stride is
/// larger than what the modes of smaller strides reach over.
pub(super) fn assert_no_overlap<'c>(
    host: Builder<'c>,
    (tensor, memref, name): (Val<'c>, &MemRef<'c>, &str),
    modes: &[usize],
) -> Result<(), Failure> {
    let index = host.index_type();
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let values = leaves_of(host, layout)?;
    let (of_shape, of_stride) = values.split_at(values.len() / 2);
    let (shape, stride) = (
        memref.layout.shape().leaves(),
        memref.layout.stride().leaves(),
    );
    let mut leaves = Vec::new();
    for mode in modes {
        for at in places_of(memref, *mode) {
            let (extent, stride) = (shape[at], stride[at]);
            if *extent != Leaf::Static(1) {
                leaves.push((*mode, at, [extent, stride]));
            }
        }
    }
    let is_known = |(_, _, [extent, stride]): &(usize, usize, [&Leaf; 2])| {
        extent.is_static() && stride.is_static()
    };
    // Nothing is known to be wrong of what is known: the type was checked.
    let is_one_line = |leaves: &[(usize, usize, [&Leaf; 2])]| match leaves {
        [(_, _, [_, stride])] => stride.is_static(),
        _ => leaves.is_empty(),
    };
    if leaves.iter().all(is_known) || is_one_line(&leaves) {
        return Ok(());
    }
    let value = |known: &Leaf, value: Option<Val<'c>>| match value {
        Some(value) => host.value(arith::INDEX_CAST, &[value], index, &[]),
        None => host.constant(index, known.as_static().expected(host, "a number")?),
    };
    let mut numbers = Vec::new();
    for (_, at, [extent, stride]) in &leaves {
        numbers.push((
            value(extent, of_shape[*at])?,
            value(stride, of_stride[*at])?,
            **stride == Leaf::Static(1),
        ));
    }
    // One line behind another: what is said of it is simpler.
    if let [(_, first, of_first), (_, second, of_second)] = &numbers[..]
        && of_first != of_second
    {
        let (lines, along) = if *of_first { (1, 0) } else { (0, 1) };
        let apart = if *of_first { second } else { first };
        let modes = [leaves[lines].0, leaves[along].0];
        let extents = [numbers[lines].0, numbers[along].0];
        return assert_apart(host, name, modes, extents, *apart);
    }
    // Where two have the stride 1, one of them overlaps the other.
    let firsts = numbers.iter().filter(|(_, _, is_first)| *is_first);
    let has_one_first = firsts.count() == 1;
    let apply = |op: &str, x: Val<'c>, y: Val<'c>| host.value(op, &[x, y], index, &[]);
    let [zero, one] = [host.constant(index, 0)?, host.constant(index, 1)?];
    let mut holds: Option<Val<'c>> = None;
    let mut all = one;
    for (at, (extent, stride, is_first)) in numbers.iter().enumerate() {
        all = apply(arith::MULI, all, *extent)?;
        // What others reach over is more than the stride of 1 where one of them is not larger.
        if *is_first && has_one_first {
            continue;
        }
        let mut reach = one;
        for (other, (extent, of_other, is_one)) in numbers.iter().enumerate() {
            if other == at {
                continue;
            }
            let more = apply(arith::SUBI, *extent, one)?;
            let mut own = more;
            if !is_one {
                own = apply(arith::MULI, more, *of_other)?;
                let is_within = host.compare(Predicate::Sle, *of_other, *stride)?;
                own = host.value(arith::SELECT, &[is_within, own, zero], index, &[])?;
            }
            reach = apply(arith::ADDI, reach, own)?;
        }
        let single = host.compare(Predicate::Sle, *extent, one)?;
        let clear = host.compare(Predicate::Sle, reach, *stride)?;
        let own = host.value(arith::ORI, &[single, clear], single.r#type(), &[])?;
        holds = Some(match holds {
            Some(before) => host.value(arith::ANDI, &[before, own], own.r#type(), &[])?,
            None => own,
        });
    }
    let Some(holds) = holds else { return Ok(()) };
    let is_empty = host.compare(Predicate::Eq, all, zero)?;
    let holds = host.value(arith::ORI, &[holds, is_empty], holds.r#type(), &[])?;
    let modes: std::collections::BTreeSet<_> = leaves.iter().map(|leaf| leaf.0).collect();
    let message = format!(
        "expected elements of {name} that do not overlap: strides of modes {:?}, each larger than what those of smaller strides reach over",
        modes.into_iter().collect::<Vec<_>>()
    );
    host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(&message))])?;
    Ok(())
}

/// Asserts that tensors, each with its type and its name, have the extents of the first one, where types do not say so.
pub(super) fn assert_one_shape<'a, 'c: 'a>(
    host: Builder<'c>,
    tensors: impl IntoIterator<Item = (Val<'c>, &'a MemRef<'c>, &'a str)>,
) -> Result<(), Failure> {
    let mut others = tensors.into_iter();
    let Some((first, of_first, name)) = others.next() else {
        return Ok(());
    };
    let others: Vec<_> = others.collect();
    let known = |memref: &MemRef<'_>, mode: usize| {
        let mode = memref.layout.mode(mode);
        mode.is_ok_and(|mode| mode.shape().is_static())
    };
    for mode in 0..of_first.layout.rank() {
        for (other, of_other, others) in &others {
            if known(of_first, mode) && known(of_other, mode) {
                continue;
            }
            let one = extent_of_mode(host, first, mode)?;
            let two = extent_of_mode(host, *other, mode)?;
            let same = host.compare(Predicate::Eq, one, two)?;
            let message = format!(
                "expected mode {mode} of {others} to have the extent of mode {mode} of {name}"
            );
            host.op(cf::ASSERT, &[same], &[], &[("msg", host.string(&message))])?;
        }
    }
    Ok(())
}

/// Asserts how an extent, of type `index`, compares with a number.
pub(super) fn assert_extent<'c>(
    host: Builder<'c>,
    extent: Val<'c>,
    (by, number): (Predicate, i64),
    message: &str,
) -> Result<(), Failure> {
    let number = host.constant(host.index_type(), number)?;
    let holds = host.compare(by, extent, number)?;
    host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(message))])?;
    Ok(())
}

/// Checks that modes along which something is reduced are not known to have no elements: an output has those modes too, and no elements then, so that what is
/// reduced of nothing has no place.
pub(super) fn check_reduced(op: Op<'_>, layout: &Layout, modes: &[usize]) -> Result<(), Failure> {
    let is_empty = |mode: &&usize| layout.mode(**mode).is_ok_and(|mode| mode.is_empty());
    match modes.iter().find(is_empty) {
        None => Ok(()),
        Some(mode) => Err(diag::error(
            op.location(),
            format!(
                "'{}' op reduces along mode {mode}, which has no elements, so that an output of that shape, {}, has none either; expected at least one \
                 element: what comes of none, as 0 of a sum, is stored by a cute.map of one element along the mode",
                name_of(op),
                layout.text_of_tensor()
            ),
        )),
    }
}

impl<'c> Gemm<'c> {
    /// Tells whether there is a batch of products.
    pub(super) fn is_batched(&self) -> bool {
        self.matrices.product[2].layout.rank() == 3
    }

    /// The tiles of C of all products, where they are known: as many blocks, if each computes one.
    pub(super) fn known_tiles_of_c(&self) -> Option<i64> {
        let tiles = self.known_tiles(0)?.checked_mul(self.known_tiles(1)?)?;
        tiles.checked_mul(matrix::batch(&self.matrices.product)?)
    }

    /// Asserts what must hold for any kernel.
    pub(super) fn check_launch(&self, host: Builder<'c>) -> Result<(), Failure> {
        self.check_extents(host)?;
        self.check_lines(host)?;
        self.check_indices(host)?;
        self.check_groups(host)?;
        self.check_sizes(host)?;
        let outputs = std::iter::once(&self.matrices.product[2]).chain(&self.matrices.outputs);
        for output in outputs {
            self.check_apart(host, output)?;
            self.check_inside(host, output)?;
        }
        self.check_coordinates(host)?;
        Ok(())
    }

    /// Launches the kernels, of which these are the symbols: the one that multiplies, and of a plan that splits K the one that adds. Returns
    /// the workspaces that they leave outputs in, which are to be reduced.
    pub(super) fn launch(
        &self,
        host: Builder<'c>,
        kernels: &[String],
    ) -> Result<Vec<Val<'c>>, Failure> {
        let index = host.index_type();
        // Tiles of each axis, where they are not known, and all of C.
        let mut counted = Vec::new();
        for axis in self.counted_by_launch() {
            let (matrix, mode) = self.extents[axis].from;
            let extent = self.dimension(host, &self.matrices.product[matrix], mode)?;
            let tile = host.constant(index, self.plan.step()[axis])?;
            let tiles = match self.groups.filter(|_| axis == 0) {
                Some(groups) => {
                    let whole = host.value(arith::DIVSI, &[extent, tile], index, &[])?;
                    let groups = self.groups_of_launch(host, groups)?;
                    let places = host.value(arith::ADDI, &[whole, groups], index, &[])?;
                    // Without rows there is nothing to do.
                    let none = host.constant(index, 0)?;
                    let is_empty = host.compare(Predicate::Eq, extent, none)?;
                    host.value(arith::SELECT, &[is_empty, none, places], index, &[])?
                }
                None => host.value(arith::CEILDIVSI, &[extent, tile], index, &[])?,
            };
            counted.push((axis, tiles));
        }
        let tiles = match self.known_tiles_of_c() {
            Some(blocks) => host.constant(index, blocks)?,
            None => self.blocks(host, &counted)?,
        };
        let mut arguments = self.arguments.clone();
        for (_, tiles) in &counted {
            arguments.push(host.value(arith::INDEX_CAST, &[*tiles], host.i32_type(), &[])?);
        }
        let (mut grids, mut adds) = (Vec::new(), None);
        for divisor in self.reciprocals_of_launch() {
            let along_m = self.tiles_at_launch(host, &counted, 0)?;
            let along_n = self.tiles_at_launch(host, &counted, 1)?;
            arguments.push(self.reciprocal(host, divisor, [along_m, along_n])?);
        }
        if self.plan.is_streamed() {
            let sum = |x, y| host.value(arith::ADDI, &[x, y], index, &[]);
            let along_k = self.tiles_at_launch(host, &counted, 2)?;
            let deal = self.deal(host, [tiles, along_k])?;
            arguments.extend(self.launch_ranges(host, &deal)?);
            let sums = sum(deal.dealt, deal.ranges)?;
            arguments.push(self.workspace(host, (sums, 1))?);
            grids.push((sum(deal.whole, deal.ranges)?, 1));
            grids.push((deal.dealt, self.pieces(host)?));
            adds = Some(deal.is_shared);
        } else {
            if self.parts_of_launch() > 0 {
                let along_k = self.tiles_at_launch(host, &counted, 2)?;
                arguments.extend(self.launch_parts(host, along_k)?);
            }
            grids.push((tiles, self.plan.split));
            if self.plan.is_split() {
                arguments.push(self.workspace(host, (tiles, self.plan.split))?);
                grids.push((tiles, self.pieces(host)?));
            }
        }
        let workspaces = self.workspaces_of_reduced(host)?;
        arguments.extend(&workspaces);
        let bulk = self.make_bulk(host)?;
        let parts = [Part::Product, Part::Sums];
        for ((kernel, (tiles, blocks)), part) in kernels.iter().zip(grids).zip(parts) {
            let branch = adds.filter(|_| part == Part::Sums);
            let host = match branch {
                Some(is_taken) => {
                    let (then, body) = Detached::with_block(&[]);
                    let regions = vec![then, Detached::empty()];
                    host.with_regions(scf::IF, &[is_taken], &[], &[], regions)?;
                    Builder::at_end(host.context, body, host.location)
                }
                None => host,
            };
            let mut grid = tiles;
            if blocks != 1 {
                let blocks = host.constant(index, blocks)?;
                grid = host.value(arith::MULI, &[tiles, blocks], index, &[])?;
            }
            let cluster = match part {
                Part::Product => self.plan.blocks_of_cluster(),
                Part::Sums => 1,
            };
            let stays = self.plan.has_roles() && part == Part::Product;
            if stays {
                let sms = host.value(cute::SM_COUNT, &[], index, &[])?;
                let most = clusters_at_once(&Host(host), &sms, cluster)?;
                grid = host.value(arith::MINSI, &[most, grid], index, &[])?;
                if cluster > 1 {
                    let own = host.constant(index, cluster)?;
                    grid = host.value(arith::MULI, &[grid, own], index, &[])?;
                }
            }
            let sizes = LaunchSizes {
                blocks: grid,
                rows: 1,
                threads: self.threads(part)?,
                cluster,
            };
            let bulk = bulk.iter().filter(|_| part == Part::Product);
            let arguments: Vec<_> = arguments.iter().chain(bulk).copied().collect();
            launch_kernel(host, kernel, sizes, &arguments)?;
            if branch.is_some() {
                host.op(scf::YIELD, &[], &[], &[])?;
            }
        }
        Ok(workspaces)
    }

    /// The product of the tiles along M, of those along N, and of the batch.
    fn blocks(&self, host: Builder<'c>, counted: &[(usize, Val<'c>)]) -> Result<Val<'c>, Failure> {
        let index = host.index_type();
        let mut blocks = None;
        let mut times = |value: Val<'c>| -> Result<(), Failure> {
            blocks = Some(match blocks {
                Some(before) => host.value(arith::MULI, &[before, value], index, &[])?,
                None => value,
            });
            Ok(())
        };
        for axis in [0, 1] {
            times(self.tiles_at_launch(host, counted, axis)?)?;
        }
        if self.is_batched() {
            match matrix::batch(&self.matrices.product) {
                Some(known) => times(host.constant(index, known)?)?,
                None => times(self.dimension(host, &self.matrices.product[2], 2)?)?,
            }
        }
        blocks.expected(self.op, "a grid")
    }

    /// The extent of a mode of a matrix, of type `index`.
    pub(super) fn dimension(
        &self,
        host: Builder<'c>,
        matrix: &Matrix<'c>,
        mode: usize,
    ) -> Result<Val<'c>, Failure> {
        let place = matrix.place(mode);
        match &matrix.places {
            Some(Places::At(own)) => {
                let extents = own.at.places.shape().get(place);
                let extents = extents.expected(host, "an extent")?;
                extent_of_leaves(host, extents, &own.extents(place))
            }
            Some(Places::Rows(index)) if place == 0 => {
                let memref = memref_of(index.tensor).expected(host, "an index tensor")?;
                if memref.layout.rank() > 1 {
                    return extent_of_mode(host, index.tensor, 0);
                }
                let layout = host.infer(cute::GET_LAYOUT, &[index.tensor], &[])?;
                let leaves = leaves_of(host, layout)?;
                extent_of_leaves(host, memref.layout.shape(), &leaves[..leaves.len() / 2])
            }
            _ => extent_of_mode(host, matrix.tensor, place),
        }
    }

    /// Asserts that coordinates of A and of B are integers of 32 bits, where the types do not say so: kernels compute them in so many.
    fn check_coordinates(&self, host: Builder<'c>) -> Result<(), Failure> {
        for factor in &self.matrices.product[..2] {
            let Some(Places::At(own)) = &factor.places else {
                continue;
            };
            for (mode, [least, most, _]) in own.reach(host, factor.tensor)? {
                if own.at.is_in_32_bits(mode) {
                    continue;
                }
                let limits = [i64::from(i32::MIN), i64::from(i32::MAX) + 1];
                let [from, end] = limits.map(|limit| host.constant(host.index_type(), limit));
                let message = format!(
                    "expected coordinates of {} along mode {mode} of its tensor that are integers of 32 bits",
                    factor.name
                );
                assert_between(host, [least, most], [from?, end?], &message)?;
            }
        }
        Ok(())
    }

    /// Asserts that coordinates of C are inside of its tensor, where the types do not say so, and that no two are the same.
    fn check_inside(&self, host: Builder<'c>, c: &Matrix<'c>) -> Result<(), Failure> {
        let Some(Places::At(own)) = &c.places else {
            return Ok(());
        };
        for (mode, extent, step) in own.open_steps(host)? {
            let one = host.constant(host.index_type(), 1)?;
            let zero = host.constant(host.index_type(), 0)?;
            let is_one = host.compare(Predicate::Sle, extent, one)?;
            let is_step = host.compare(Predicate::Ne, step, zero)?;
            let holds = host.value(arith::ORI, &[is_one, is_step], is_one.r#type(), &[])?;
            let message = format!(
                "expected steps along mode {mode} of the tensor of {} that are not 0: each element is written once",
                c.name
            );
            host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(&message))])?;
        }
        for (mode, [least, most, extent]) in own.reach(host, c.tensor)? {
            let zero = host.constant(host.index_type(), 0)?;
            let message = format!(
                "expected coordinates of {} that are inside of its tensor along mode {mode}",
                c.name
            );
            assert_between(host, [least, most], [zero, extent], &message)?;
        }
        Ok(())
    }

    /// Asserts of M, N, K and the batch that both tensors that have one have the same, where a type does not say so.
    fn check_extents(&self, host: Builder<'c>) -> Result<(), Failure> {
        let batch = [[(0, 2), (1, 2)], [(0, 2), (2, 2)]];
        let pairs = [0, 1, 2].map(holders).into_iter().chain(batch);
        let product = &self.matrices.product;
        let pairs = pairs.map(|pair| pair.map(|(matrix, mode)| (&product[matrix], mode)));
        let shape = |(matrix, like)| [0, 1, 2].map(|mode| [(matrix, mode), (like, mode)]);
        let others = self.matrices.outputs.iter().chain(&self.matrices.inputs);
        let others = others.map(|matrix| (matrix, &product[2]));
        let factors = self.matrices.beside.iter().zip(product);
        let beside = factors.flat_map(|(beside, factor)| {
            let all = beside.iter();
            all.map(move |matrix| (matrix, factor))
        });
        for [x, y] in pairs.chain(others.chain(beside).flat_map(shape)) {
            let known = |(matrix, mode): (&Matrix<'c>, usize)| {
                matrix.extent(mode).map(|extent| extent.is_static())
            };
            if known(x).is_none() || (known(x), known(y)) == (Some(true), Some(true)) {
                continue;
            }
            let (one, other) = (
                self.dimension(host, x.0, x.1)?,
                self.dimension(host, y.0, y.1)?,
            );
            let same = host.compare(Predicate::Eq, one, other)?;
            let message = format!(
                "expected mode {} of {} to have the extent of mode {} of {}",
                x.0.place(x.1),
                x.0.name,
                y.0.place(y.1),
                y.0.name
            );
            host.op(cf::ASSERT, &[same], &[], &[("msg", host.string(&message))])?;
        }
        Ok(())
    }

    /// Asserts that M, N and K fit the integers that a kernel counts them in, where they are products of leaves that only a launch knows.
    fn check_sizes(&self, host: Builder<'c>) -> Result<(), Failure> {
        for axis in 0..3 {
            for (matrix, mode) in holders(axis) {
                let matrix = &self.matrices.product[matrix];
                let leaves = matrix
                    .extent(mode)
                    .map(IntTuple::leaves)
                    .unwrap_or_default();
                let wide =
                    |leaf: &&Leaf| matches!(leaf, Leaf::Dynamic(dynamic) if dynamic.width == 64);
                let open = leaves.iter().any(|leaf| !leaf.is_static());
                if leaves.len() < 2 || !open || leaves.iter().any(wide) {
                    continue;
                }
                let most = host.constant(host.index_type(), i64::from(i32::MAX))?;
                let size = self.dimension(host, matrix, mode)?;
                let fits = host.compare(Predicate::Sle, size, most)?;
                let message = format!(
                    "expected at most 2147483647 elements along mode {} of {}; write one of its extents as ?{{i64}}",
                    matrix.place(mode),
                    matrix.name
                );
                host.op(cf::ASSERT, &[fits], &[], &[("msg", host.string(&message))])?;
            }
        }
        Ok(())
    }

    /// Asserts that there are indices of rows for each product of a batch, where the types do not say so.
    fn check_indices(&self, host: Builder<'c>) -> Result<(), Failure> {
        for matrix in &self.matrices.product[..2] {
            let Some(Places::Rows(index)) = &matrix.places else {
                continue;
            };
            let shape = memref_of(index.tensor)
                .expected(host, "an index tensor")?
                .layout;
            let open = [shape.shape().get(1), matrix.extent(2)];
            if open
                .iter()
                .all(|extent| extent.is_none_or(|extent| extent.is_static()))
            {
                continue;
            }
            let one = extent_of_mode(host, index.tensor, 1)?;
            let other = self.dimension(host, matrix, 2)?;
            let same = host.compare(Predicate::Eq, one, other)?;
            let message = format!(
                "expected indices of rows of {} for each of its batch",
                matrix.name
            );
            host.op(cf::ASSERT, &[same], &[], &[("msg", host.string(&message))])?;
        }
        Ok(())
    }

    /// Asserts that elements of an output do not overlap, where only a launch knows how far they are apart.
    fn check_apart(&self, host: Builder<'c>, c: &Matrix<'c>) -> Result<(), Failure> {
        let layout = &c.memref.layout;
        let known = |part: &IntTuple, mode: usize| {
            part.get(mode)
                .and_then(IntTuple::as_leaf)
                .and_then(Leaf::as_static)
        };
        // Lines of a length that is known are so far apart.
        if !c.is_whole()
            && !self.is_batched()
            && known(layout.stride(), c.place(1)) == Some(1)
            && let (Some(apart), Some(length)) = (
                known(layout.stride(), c.place(0)),
                known(layout.shape(), c.place(1)),
            )
            && length <= apart
        {
            return Ok(());
        }
        // Coordinates differ where elements of the matrix do: those of the tensor must not overlap.
        let memref = match &c.places {
            Some(Places::At(_)) => memref_of(c.tensor).expected(host, "a tensor")?,
            _ => c.memref.clone(),
        };
        // Along the others the type says that there is one element, or that it is reduced.
        let modes = (0..memref.layout.rank()).filter(|mode| !is_same_along(&memref.layout, *mode));
        let modes: Vec<_> = modes.collect();
        assert_no_overlap(host, (c.tensor, &memref, &c.name), &modes)
    }
}

/// Asserts that the least of some numbers is not below one, and the greatest below another.
fn assert_between<'c>(
    host: Builder<'c>,
    [least, most]: [Val<'c>; 2],
    [from, end]: [Val<'c>; 2],
    message: &str,
) -> Result<(), Failure> {
    let is_from = host.compare(Predicate::Sge, least, from)?;
    let is_below = host.compare(Predicate::Slt, most, end)?;
    let holds = host.value(arith::ANDI, &[is_from, is_below], is_from.r#type(), &[])?;
    host.op(cf::ASSERT, &[holds], &[], &[("msg", host.string(message))])?;
    Ok(())
}

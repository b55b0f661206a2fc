//! Maps over whole tensors, with reductions.

use super::super::Checked;
use super::elementwise::{check_body, one_block};
use super::gemm::{check_shape, check_space};
use super::reduced::{check_reducible, known_kinds};
use crate::{
    algorithm,
    attributes::PLAN,
    fused::{self, Dependences},
    maps::{self, is_same_along, kind_of, modes_of, reductions, repeats_along, varying},
    mlir::*,
    ops::{cute, func},
    plan::Plan,
    types::{self, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, Leaf, Tile, int};
use melior::ir::ValueLike;

/// Threads of a block, at most.
const THREADS: i64 = cute_target::THREADS_PER_BLOCK as i64;

pub(in super::super) fn verify_all_reduce(op: cute::AllReduce<'_>) -> Checked {
    let kind = kind_of(&op).ok_or_else(|| {
        let found = op.kind().and_then(string_value).unwrap_or_default();
        format!("expected the kind {}, found \"{found}\"", known_kinds())
    })?;
    check_reducible(kind, op.value().r#type())?;
    let along = modes_of(&op);
    let ascends = along.windows(2).all(|two| two[0] < two[1]);
    if along.is_empty() || along[0] < 0 || !ascends {
        return Err(format!(
            "expected the modes that are reduced, ascending, such as along [1], found {along:?}"
        ));
    }
    let is_in_region = parent_op(op.op()).is_some_and(|around| match name_of(around) {
        cute::MAP | cute::BLOCK_MAP | cute::BLOCK_FUSE => true,
        func::FUNC => is_region(around),
        _ => false,
    });
    if !is_in_region {
        return Err(
            "expected to be in the region of a cute.map; threads of a kernel reduce by gpu.all_reduce or gpu.subgroup_reduce, a tensor \
             of one thread by cute.reduce"
                .to_owned(),
        );
    }
    Ok(())
}

/// Tells whether a function may be what a map's region is to the host, which verifies it: private, and of numbers.
fn is_region(function: Op) -> bool {
    let arguments = body_of(function, 0).map(arguments_of).unwrap_or_default();
    let is_number =
        |value: &Val| types::is_float(value.r#type()) || types::int_width(value.r#type()).is_some();
    string_of(function, "sym_visibility") == Some("private") && arguments.iter().all(is_number)
}

pub(in super::super) fn verify_map(op: cute::Map<'_>) -> Checked {
    let block = op
        .body()
        .ok_or("expected a region that computes elements")?;
    let (inputs, outputs) = check_tensors(block, &op.inputs(), &op.outputs())?;
    let all = reductions(block);
    let mut along = all.first().map(modes_of).unwrap_or_default();
    let rank = outputs[0].layout.rank();
    let is_fused = fused::is_fused(block, &inputs);
    for reduce in &all {
        let found = modes_of(reduce);
        if is_fused {
            along.extend(&found);
        } else if found != along {
            return Err(format!(
                "expected reductions along the same modes, found {along:?} and {found:?}; write them as several maps, with a tensor \
                 between them"
            ));
        }
        if found.iter().any(|mode| *mode >= rank as i64) {
            return Err(format!(
                "expected reductions along modes of tensors of rank {rank}, found {found:?}"
            ));
        }
    }
    let end = ops_of(block).pop().ok_or("expected cute.yield")?;
    for ((at, output), value) in outputs.iter().enumerate().zip(operands_of(end)) {
        for mode in 0..rank {
            if !repeats_along(&output.layout, mode) {
                continue;
            }
            // Beside sums of products cute-tile says which modes a block has the whole of.
            if !is_fused && !along.contains(&(mode as i64)) {
                return Err(format!(
                    "expected output {at} to have elements of its own along mode {mode}, found {}; only along what is reduced, an \
                     output is written once",
                    output.layout
                ));
            }
            if op.inputs().contains(&op.outputs()[at]) {
                return Err(format!(
                    "reads output {at}, which is written once along mode {mode} while others may still read it; expected an output of \
                     its own"
                ));
            }
            if varying(block, &inputs, |other| other == mode).contains(&key(value)) {
                return Err(format!(
                    "yields values that differ along mode {mode} to output {at}, which has one there, as {} has the stride 0; \
                     expected the result of a cute.all_reduce along it, or what is computed of such",
                    output.layout
                ));
            }
        }
    }
    Ok(())
}

pub(in super::super) fn verify_block_map(op: cute::BlockMap<'_>) -> Checked {
    let block = op
        .body()
        .ok_or("expected a region that computes elements")?;
    let (inputs, outputs) = check_tensors(block, &op.inputs(), &op.outputs())?;
    if outputs[0].layout.rank() != 2 {
        return Err(format!(
            "expected tensors of rows and columns, found {}",
            outputs[0].layout
        ));
    }
    if let Some(reduce) = reductions(block).iter().find(|op| modes_of(op) != [1]) {
        return Err(format!(
            "expected reductions along mode 1, found {:?}",
            modes_of(reduce)
        ));
    }
    let at = types::CuteType::get(op.at().r#type());
    check_corner(op.at())?;
    let numbers = |what: &str, found: Option<Vec<i64>>| match found.as_deref() {
        Some(&[x, y]) if x >= 1 && y >= 1 && x.saturating_mul(y) <= THREADS => Ok([x, y]),
        found => Err(format!(
            "expected two {what} of at least 1, with a product of at most {THREADS}, found {found:?}"
        )),
    };
    let threads = numbers("numbers of threads", op.threads().and_then(i64s_of))?;
    let [vector, vectors] = numbers("numbers of values", op.values().and_then(i64s_of))?;
    if let Some(types::CuteType::Coord(at)) = &at
        && let Some(first) = at.get(1).and_then(IntTuple::as_leaf)
        && !divides(vector, first)
    {
        return Err(format!(
            "expected a first column that is a multiple of the {vector} neighbours that a thread holds together, found {first}"
        ));
    }
    if let Some(columns) = op.columns().and_then(integer_value) {
        let once = outputs
            .iter()
            .all(|output| is_same_along(&output.layout, 1));
        if op.held().is_some()
            || !once
            || columns < 1
            || columns % (threads[1] * vector * vectors) != 0
        {
            return Err(format!(
                "expected columns to be a multiple of the {} that threads take at once, of rows that are not held and of which numbers alone \
                 are written, found {columns}",
                threads[1] * vector * vectors
            ));
        }
    }
    let all = [inputs, outputs].concat();
    match op.aligned_by().and_then(integer_value) {
        Some(lead) => check_aligned(&op, lead, (threads[1], vector), &all)?,
        None => check_divided("columns", 1, vector, &all)?,
    }
    if op.stays().is_some() && (op.held().is_none() || op.columns().is_some()) {
        return Err(
            "expected rows that are held, and all of their columns, where blocks stay; write held beside stays, and no columns".to_owned(),
        );
    }
    let staged = op.staged().and_then(i64s_of).unwrap_or_default();
    let of_rows = op.row_vector().and_then(integer_value).unwrap_or(1);
    if !staged.is_empty() {
        check_divided("rows", 0, of_rows, &all)?;
    }
    check_staged(&op, threads, vector * vectors)
}

/// Checks that whole vectors of neighbours along a mode are there, or none of a vector.
fn check_divided(what: &str, mode: usize, vector: i64, tensors: &[MemRef]) -> Checked {
    let is_divided = |tensor: &MemRef| {
        let extent = tensor.layout.shape().get(mode).and_then(IntTuple::as_leaf);
        extent.is_some_and(|extent| divides(vector, extent))
    };
    if vector == 1 || tensors.iter().any(is_divided) {
        return Ok(());
    }
    Err(format!(
        "expected {what} in multiples of the {vector} neighbours that are moved together, found {}",
        tensors
            .first()
            .map_or_else(String::new, |tensor| tensor.layout.shape().to_string())
    ))
}

/// Checks that vectors can begin where rows of a tensor are aligned, by its place among all.
fn check_aligned(
    op: &cute::BlockMap<'_>,
    lead: i64,
    (threads, vector): (i64, i64),
    tensors: &[MemRef],
) -> Checked {
    let is_along = |tensor: &MemRef| tensor.layout.stride().get(1) == Some(&int(1));
    let is_full = |tensor: &MemRef| is_along(tensor) && !is_same_along(&tensor.layout, 0);
    let found = usize::try_from(lead).ok().and_then(|at| tensors.get(at));
    if !found.is_some_and(is_full) {
        return Err(format!(
            "expected aligned_by to be the place of a tensor with the stride 1 along columns and elements of its own in each row, among {} \
             tensors, found {lead}",
            tensors.len()
        ));
    }
    let bytes = |tensor: &MemRef| vector * tensor.element_bytes();
    let mut full = tensors.iter().filter(|tensor| is_full(tensor));
    if let Some(tensor) = full.find(|tensor| tensor.align % bytes(tensor) != 0) {
        return Err(format!(
            "expected tensors aligned to the {} bytes of a vector where vectors begin at aligned elements, found align<{}>",
            bytes(tensor),
            tensor.align
        ));
    }
    if vector < 2 || vector & (vector - 1) != 0 || threads < 2 * vector {
        return Err(format!(
            "expected vectors of a power of two of at least 2 neighbours, and twice as many threads along columns, where vectors begin at \
             aligned elements, found {vector} and {threads}"
        ));
    }
    let others = [
        op.by_rows().is_some(),
        op.columns().is_some(),
        op.staged().is_some(),
    ];
    if others.contains(&true) {
        return Err(
            "expected no by_rows, columns or staged where vectors begin at aligned elements"
                .to_owned(),
        );
    }
    Ok(())
}

/// Checks the inputs that come through shared memory.
fn check_staged(op: &cute::BlockMap<'_>, [rows, _]: [i64; 2], values: i64) -> Checked {
    let staged = op.staged().and_then(i64s_of).unwrap_or_default();
    let vector = op.row_vector().and_then(integer_value).unwrap_or(1);
    if vector < 1 || rows % vector != 0 || values % vector != 0 {
        return Err(format!(
            "expected row_vector to divide the {rows} threads along rows and the {values} values of a thread, found {vector}"
        ));
    }
    let count = op.inputs().len();
    let is_there = |at: &&i64| usize::try_from(**at).is_ok_and(|at| at < count);
    if let Some(at) = staged.iter().find(|at| !is_there(at)) {
        return Err(format!("expected staged inputs below {count}, found {at}"));
    }
    if !staged.is_empty() && op.body().is_some_and(|body| !reductions(body).is_empty()) {
        return Err("expected staged inputs where nothing is reduced".to_owned());
    }
    Ok(())
}

/// Tells whether a number is known to divide an integer.
fn divides(number: i64, leaf: &Leaf) -> bool {
    match leaf {
        Leaf::Static(value) => value % number == 0,
        Leaf::Dynamic(dynamic) => dynamic.div % number == 0,
        _ => false,
    }
}

/// Checks tensors in global memory of one shape and a region on their elements; returns their types, inputs and outputs, of which there
/// is one.
fn check_tensors<'c>(
    block: Blk<'c>,
    inputs: &[Val<'c>],
    outputs: &[Val<'c>],
) -> Result<(Vec<MemRef<'c>>, Vec<MemRef<'c>>), String> {
    let read = |values: &[Val<'c>]| maps::tensors(values).ok_or("expected tensors");
    let (ins, outs) = (read(inputs)?, read(outputs)?);
    let first = outs.first().ok_or("expected a tensor behind outs")?;
    for (at, output) in outputs.iter().enumerate() {
        if outputs[..at].contains(output) {
            return Err(
                "writes one tensor as two outputs; expected tensors of their own".to_owned(),
            );
        }
    }
    for (what, tensors) in [("input", &ins), ("output", &outs)] {
        for (at, tensor) in tensors.iter().enumerate() {
            check_space(&format!("{what} {at}"), tensor, Space::Gmem)?;
            check_shape(&format!("{what} {at}"), tensor, ("output 0", first))?;
        }
    }
    one_block(block)?;
    let arguments = ins
        .iter()
        .map(|tensor| algorithm::argument_type(tensor.element));
    let yields: Vec<_> = outs.iter().map(|tensor| tensor.element).collect();
    check_body(block, &arguments.collect::<Vec<_>>(), &yields)?;
    Ok((ins, outs))
}

pub(in super::super) fn verify_block_fuse(op: cute::BlockFuse<'_>) -> Checked {
    let block = op
        .body()
        .ok_or("expected a region that computes elements")?;
    let (inputs, outputs) = check_tensors(block, &op.inputs(), &op.outputs())?;
    if outputs[0].layout.rank() != 4 {
        return Err(format!(
            "expected tensors of rows, columns, K and E, found {}",
            outputs[0].layout
        ));
    }
    check_first(
        op.at(),
        &[2, 3],
        "the first row and the first column, and where blocks share E its first element,",
    )?;
    let dependences = Dependences::of(block, &inputs);
    let products = fused::products(block, &dependences);
    if products.is_empty() {
        return Err("expected a sum of products; rows without any are a cute.block.map".to_owned());
    }
    let (mut block_tile, mut outer) = (None, None);
    for product in products {
        let plan = attribute_of(product.reduce.op(), PLAN).and_then(Plan::of);
        let plan =
            plan.ok_or("expected cute.plan on each sum of products, by which it is multiplied")?;
        let narrow = product.narrow()?;
        let [a, b, acc] = plan.multiplied()?;
        for (planned, found) in [
            (a, narrow[0]),
            (b, narrow[1]),
            (acc, product.reduce.value()),
        ] {
            if planned != found.r#type() {
                return Err(format!(
                    "expected a sum of products as its cute.plan multiplies, of {planned}, found {}",
                    found.r#type()
                ));
            }
        }
        check_rows(&plan)?;
        let [m, n, k] = plan.tile;
        let tile = match product.along {
            2 => [m, n],
            1 => {
                outer = Some(n);
                [m, k]
            }
            other => {
                return Err(format!(
                    "expected sums of products along K or columns, mode 2 or 1, found mode {other}"
                ));
            }
        };
        let first = *block_tile.get_or_insert(tile);
        if first != tile {
            return Err(format!(
                "expected plans of one tile of rows and columns, found {first:?} and {tile:?}"
            ));
        }
    }
    if let (Some(types::CuteType::Coord(at)), Some(tile)) =
        (types::CuteType::get(op.at().r#type()), block_tile)
    {
        if at.rank() == 3 && outer.is_none() {
            return Err(format!(
                "expected a first element along E only beside products along columns, found {at}"
            ));
        }
        let tiles = tile.into_iter().chain(outer);
        let mut leaves = at.modes().iter().filter_map(IntTuple::as_leaf).zip(tiles);
        if let Some((leaf, tile)) = leaves.find(|(leaf, tile)| !divides(*tile, leaf)) {
            return Err(format!(
                "expected a first row and a first column that are multiples of the {tile} that a block takes, found {leaf}"
            ));
        }
    }
    Ok(())
}

/// Checks that each warp of a plan has an atom's rows to itself, and columns in their order, so that a thread's numbers of rows are those of its accumulators.
fn check_rows(plan: &Plan<'_>) -> Checked {
    const ATOM: [i64; 3] = [16, 8, 16];
    let mma = plan.tiled_mma()?;
    let warps = [0, 1, 2].map(|mode| mma.atom_layout().mode(mode).and_then(|mode| mode.size()));
    let in_order = |tile: &Tile| match tile {
        Tile::Underscore => true,
        Tile::Layout(layout) => {
            let identity = layout.size().and_then(|size| Layout::leaf(size, 1));
            identity.is_ok() && layout.coalesce() == identity
        }
        _ => false,
    };
    let rows = plan.tile[0] / ATOM[0];
    if mma.atom().shape_mnk == ATOM
        && warps == [Ok(rows), Ok(1), Ok(1)]
        && mma.permutation().iter().all(in_order)
    {
        return Ok(());
    }
    Err(format!(
        "expected a cute.plan with an atom of 16x8x16 for each 16 rows, one below the other, found {} of {} for {} rows",
        mma.atom_layout().shape(),
        mma.atom().name,
        plan.tile[0]
    ))
}

/// Checks that a place is a first row and a first column.
fn check_corner(at: Val<'_>) -> Checked {
    check_first(at, &[2], "the first row and the first column")
}

/// Checks that a place is a coordinate of so many integers.
fn check_first(at: Val<'_>, ranks: &[usize], what: &str) -> Checked {
    let place = types::CuteType::get(at.r#type());
    let is_first = matches!(&place, Some(types::CuteType::Coord(at))
        if ranks.contains(&at.rank()) && at.is_tuple() && at.modes().iter().all(|leaf| !leaf.is_tuple() && !leaf.has_underscore()));
    if is_first {
        return Ok(());
    }
    Err(format!(
        "expected {what} as a coordinate, found {}",
        at.r#type()
    ))
}

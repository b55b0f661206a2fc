//! Products.

use super::super::{Checked, tensor as operand};
use super::copy::{check_thread, verify_within};
use super::elementwise::{check_body, one_block};
use super::located::Located;
use super::prologue::{verify_factor_transform, verify_prologues};
use super::reduced::check_outputs;
use crate::hopper::SENT_AT_ONCE;
use crate::mlir::*;
use crate::ops::cute;
use crate::{
    algorithm::{self, Product},
    args::{CooperativeGemmArgs, GemmArgs, Scale},
    contract, hopper, reduced, tensor,
    types::{self, CuteType, MemRef, Space, memref_of},
};
use cute_arith::ReduceOp;
use cute_layout::{
    Layout,
    atoms::{Elem, Source},
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

fn extent(memref: &MemRef, mode: usize) -> Result<i64, String> {
    let mode = memref.layout.mode(mode);
    let size = mode.and_then(|mode| match mode.is_empty() {
        true => Ok(0),
        false => mode.size(),
    });
    size.map_err(|e| e.to_string())
}

pub(in super::super) fn verify_gemm(op: Op<'_>) -> Checked {
    let args = GemmArgs::of(op).ok_or_else(|| {
        format!(
            "expected (mma, D, A, B, C), (mma, A, B, C) or (D, A, B, C), found {} operands{}",
            op.operand_count(),
            match op.operand_count() {
                3 => "; a product of tiles by all threads of the block is cute.block.gemm, one of whole tensors cute.contract",
                _ => "",
            }
        )
    })?;
    match args {
        GemmArgs::Elements { d, a, b, c } => {
            let (d, a) = (operand(0, d)?, operand(1, a)?);
            let (b, c) = (operand(2, b)?, operand(3, c)?);
            a.check_elements()?;
            b.check_elements()?;
            let elements = [a.element, b.element, c.element];
            check_product(elements, [1; 3], [&d, &a, &b, &c])
        }
        GemmArgs::MmaInPlace { mma, a, b, c } => {
            let (a, b, c) = (operand(1, a)?, operand(2, b)?, operand(3, c)?);
            check_mma(&multiplier(mma)?, [&c, &a, &b, &c])
        }
        GemmArgs::Mma { mma, d, a, b, c } => {
            let (d, a) = (operand(1, d)?, operand(2, a)?);
            let (b, c) = (operand(3, b)?, operand(4, c)?);
            check_mma(&multiplier(mma)?, [&d, &a, &b, &c])
        }
    }
}

/// The product by an MMA.
fn multiplier(mma: Val<'_>) -> Result<Product<'_>, String> {
    let ty = mma.r#type();
    algorithm::product_of(ty).unwrap_or_else(|| {
        Err(format!(
            "expected an MMA atom or a tiled MMA, found {ty}; make one by cute.make_atom and cute.make_tiled_mma"
        ))
    })
}

fn is_kept(found: Type, expected: Type) -> bool {
    found == expected || found == types::register_type(expected)
}

/// A product by an MMA, whose row says where it takes A and B from.
fn check_mma(product: &Product, operands: [&MemRef; 4]) -> Checked {
    let elements = [product.a, product.b, product.acc];
    let [_, a, b, _] = operands;
    let values = hopper::values_of(product.values, [a, b]);
    check_product(elements, values, operands)?;
    for (operand, (what, memref)) in [("A", a), ("B", b)].into_iter().enumerate() {
        if memref.space == Space::Descriptors && !hopper::is_read_in_place(&product.atom, operand) {
            return Err(format!(
                "expected {what} in rmem or smem, as {} takes it, found descriptors, which products of a warpgroup take; give the partition that they were made of",
                product.atom.name
            ));
        }
    }
    for (source, (what, memref)) in product.atom.sources.iter().zip([("A", a), ("B", b)]) {
        let in_place = [Space::Smem, Space::Descriptors].contains(&memref.space);
        if *source == Source::SharedDescriptor && !in_place {
            return Err(format!(
                "expected {what} in smem, where {} reads it, found {}; copy it into shared memory",
                product.atom.name, memref.space
            ));
        }
    }
    Ok(())
}

/// A product of one thread, of A, B and C of these elements.
fn check_product(
    [of_a, of_b, of_c]: [Type; 3],
    values: [i64; 3],
    [d, a, b, c]: [&MemRef; 4],
) -> Checked {
    for (what, memref, element) in [
        ("D", d, of_c),
        ("A", a, of_a),
        ("B", b, of_b),
        ("C", c, of_c),
    ] {
        if memref.space != Space::Descriptors && !is_kept(memref.element, element) {
            return Err(format!(
                "expected {what} of {element}, as the atom has it, found {}; make it by cute.mma.make_fragment {}, or choose an atom of \
                 other types",
                memref.element,
                if what == "D" { "C" } else { what }
            ));
        }
    }
    for (what, memref) in [("D", d), ("C", c)] {
        if memref.space != Space::Rmem {
            return Err(format!(
                "expected {what} in rmem, found {}; accumulate in a fragment and copy it",
                memref.space
            ));
        }
    }
    for (what, memref) in [("A", a), ("B", b)] {
        if memref.space == Space::Gmem {
            return Err(format!(
                "expected {what} in rmem or smem, found gmem; copy it into a fragment"
            ));
        }
    }
    algorithm::product_extents([&a.layout, &b.layout, &c.layout], values)?;
    let (ld, lc) = (
        algorithm::extents("D", &d.layout)?,
        algorithm::extents("C", &c.layout)?,
    );
    if ld != lc {
        return Err(format!(
            "expected D and C of one shape, found {} and {}",
            d.layout.shape(),
            c.layout.shape()
        ));
    }
    Ok(())
}

pub(in super::super) fn verify_contract(op: cute::Contract<'_>) -> Checked {
    let (outputs, inputs) = (op.outputs(), op.inputs());
    let [first, others @ ..] = &outputs[..] else {
        return Err("expected C behind outs".to_owned());
    };
    let tensors = [op.a(), op.b(), *first];
    let mut matrices = Vec::new();
    for (at, (name, value)) in contract::NAMES.into_iter().zip(tensors).enumerate() {
        check_space(name, &operand(at, value)?, Space::Gmem)?;
        matrices.push(contract::matrix_of(op, at, value)?);
    }
    let [a, b, c] = &matrices[..] else {
        return Err("expected A, B and C".to_owned());
    };
    let (a, b, c) = (a.clone(), b.clone(), c.clone());
    if let (Some(coords), _) = contract::places_of(op, 2) {
        let at = contract::coordinates(&operand(2, *first)?, coords)?;
        let checked = at.check_output();
        checked.map_err(|e| format!("writes C at coordinates: {e}"))?;
        if inputs.contains(first) {
            return Err(
                "reads C by its epilogue and writes it at coordinates: an element is read at its row and column, where another one may have been stored before; expected an input that is no output, and what was in C to be added by a cute.map of its own".to_owned(),
            );
        }
    }
    if let (_, Some(rows)) = contract::places_of(op, 0) {
        check_space(
            "an index tensor",
            &memref_of(rows).ok_or("expected tensors")?,
            Space::Gmem,
        )?;
    }
    if let (_, Some(rows)) = contract::places_of(op, 1) {
        check_space(
            "an index tensor",
            &memref_of(rows).ok_or("expected tensors")?,
            Space::Gmem,
        )?;
    }
    match contract::groups_of(op, [&a, &b, &c])? {
        Some(ends) => {
            check_space("a tensor of ends of groups", &ends, Space::Gmem)?;
            let of_group: Vec<_> = b.layout.modes().into_iter().take(2).collect();
            let layout = Layout::from_modes(&of_group).map_err(|e| e.to_string())?;
            let of_group = MemRef {
                layout,
                ..b.clone()
            };
            check_matrices([&a, &of_group, &c], true)?;
        }
        None => check_matrices([&a, &b, &c], true)?,
    }
    let accumulate = op.accumulate().and_then(type_value);
    let accumulate = accumulate.ok_or("expected a type to accumulate in")?;
    if types::element_bits(accumulate).is_none() {
        return Err(format!(
            "expected a number type to accumulate in, found {accumulate}"
        ));
    }
    verify_prologues(op, [&a, &b])?;
    let read = [op.inputs(), op.inputs_a(), op.inputs_b()].concat();
    let mut elements = [vec![accumulate], vec![c.element]];
    for (at, (values, name)) in [
        (inputs, "an input of the epilogue"),
        (others.to_vec(), "an output"),
    ]
    .into_iter()
    .enumerate()
    {
        for value in values {
            let tensor = memref_of(value).ok_or("expected tensors")?;
            check_space(name, &tensor, Space::Gmem)?;
            check_shape(name, &tensor, ("C", &c))?;
            elements[at].push(tensor.element);
        }
    }
    check_outputs(&outputs, op.reduce(), &read)?;
    let [arguments, yields] = elements;
    match op.epilogue() {
        Some(block) => {
            one_block(block)?;
            check_body(block, &arguments, &yields)
        }
        None if yields.len() > 1 || arguments.len() > 1 => Err(
            "expected an epilogue, a region that says what is stored in each tensor behind outs, found none".to_owned(),
        ),
        None => Ok(()),
    }
}

/// Checks that a tensor has the shape of a matrix of the product, which has a name, as far as both are known.
pub(super) fn check_shape(name: &str, tensor: &MemRef, (of, matrix): (&str, &MemRef)) -> Checked {
    let fits = tensor.layout.rank() == matrix.layout.rank()
        && (0..matrix.layout.rank()).all(|mode| {
            match (extent(tensor, mode), extent(matrix, mode)) {
                (Ok(found), Ok(expected)) => found == expected,
                // What only a launch knows is compared there.
                _ => true,
            }
        });
    if fits {
        return Ok(());
    }
    Err(format!(
        "expected {name} to have the shape of {of}, {}, found {}; what is the same along a mode has the stride 0 there",
        matrix.layout.shape(),
        tensor.layout
    ))
}

pub(in super::super) fn verify_block_transform(op: cute::BlockTransform<'_>) -> Checked {
    let id = integer_of(op.op(), "operand_id");
    if op.reduce().is_some() && id != Some(2) {
        return Err("reduces a factor; expected reduce behind outputs of C".to_owned());
    }
    match id {
        Some(0) => return verify_factor_transform(op, "A"),
        Some(1) => return verify_factor_transform(op, "B"),
        Some(2) => {}
        _ => return Err("expected operand_id 0, 1 or 2, for A, B or C".to_owned()),
    }
    let mut elements = [Vec::new(), Vec::new()];
    let (mut shape, mut is_held) = (None, false);
    let all = [(0, op.inputs()), (1, op.outputs())];
    let located = Located::of(op.op(), op.inputs().len() + op.outputs().len())?;
    located.check_no_factor()?;
    for (at, values) in &all {
        for (place, value) in values.iter().enumerate() {
            let tensor = memref_of(*value).ok_or("expected tensors")?;
            let tensor = located.tile(tensor, place + at * op.inputs().len())?;
            match (at, place) {
                (0, 0) if tensor.space == Space::Gmem => {}
                (0, 0) if tensor.space == Space::Rmem => is_held = true,
                (0, 0) => check_space("the first input", &tensor, Space::Smem)?,
                (0, _) => check_space("an input behind the first", &tensor, Space::Gmem)?,
                _ if is_held => {
                    check_space("an output of sums in registers", &tensor, Space::Rmem)?
                }
                _ => check_space("an output", &tensor, Space::Gmem)?,
            }
            let found = algorithm::extents("a tile", &tensor.layout)?;
            let expected = shape.get_or_insert_with(|| found.clone());
            if found != *expected {
                return Err(format!(
                    "expected tiles of one shape, found {} beside {expected:?}",
                    tensor.layout
                ));
            }
            elements[*at].push(tensor.element);
        }
    }
    let (Some(first), Some(output)) = (op.inputs().first().copied(), op.outputs().first().copied())
    else {
        return Err("expected a tile that is read and a tile that is written".to_owned());
    };
    match (op.coords(), op.end()) {
        (None, None) => {}
        (Some(coords), Some(end)) => {
            // Of sums in registers it is what stands beside them that lies over an end.
            let (other, at) = match (is_held, op.inputs().get(1)) {
                (false, _) => (output, op.inputs().len()),
                (true, Some(beside)) => (*beside, 1),
                (true, None) => {
                    return Err(
                        "expected an input beside sums in registers where coordinates are given"
                            .to_owned(),
                    );
                }
            };
            let tiles = [(operand(0, first)?, 0), (operand(0, other)?, at)];
            let [first, other] = tiles.map(|(tile, at)| located.tile(tile, at));
            verify_within(&first?, &other?, coords, end)?;
        }
        _ => return Err("expected both coordinates and an end, or neither".to_owned()),
    }
    if is_held && (op.outputs().len() > 1 || op.reduce().is_some()) {
        return Err(
            "has its sums in registers; expected one output, which is not reduced".to_owned(),
        );
    }
    check_outputs(&op.outputs(), op.reduce(), &op.inputs())?;
    if reduced::kinds(op.reduce(), op.outputs().len()).contains(&Some(ReduceOp::Mean)) {
        return Err(
            "takes the mean of a part of a line; expected the sum of it, which is divided where all parts are added"
                .to_owned(),
        );
    }
    let [arguments, yields] = elements;
    let block = op
        .body()
        .ok_or("expected a region that computes elements")?;
    one_block(block)?;
    check_body(block, &arguments, &yields)
}

pub(in super::super) fn verify_block_gemm(op: cute::BlockGemm<'_>) -> Checked {
    let (a, b) = (operand(0, op.a())?, operand(1, op.b())?);
    let c = operand(2, op.c())?;
    check_matrices([&a, &b, &c], false)?;
    for (name, factor) in [("A", &a), ("B", &b)] {
        // In registers it is what a cute.block.transform computes there.
        if factor.space != Space::Rmem {
            check_space(name, factor, Space::Smem)?;
        }
    }
    check_space("C", &c, Space::Rmem)
}

pub(in super::super) fn verify_block_promote(op: cute::BlockPromote<'_>) -> Checked {
    let (group, sums) = (operand(0, op.group())?, operand(1, op.sums())?);
    check_space("sums of a group", &group, Space::Rmem)?;
    check_space("sums", &sums, Space::Rmem)?;
    if group.layout.shape() != sums.layout.shape()
        || group.element != sums.element
        || types::elem(sums.element) != Ok(Elem::F32)
    {
        return Err(format!(
            "expected sums of f32 of one shape, found {} of {} and {} of {}",
            group.element,
            group.layout.shape(),
            sums.element,
            sums.layout.shape()
        ));
    }
    let mut arguments = Vec::new();
    for (at, value) in op.inputs().into_iter().enumerate() {
        let input = operand(at + 2, value)?;
        check_space("an input", &input, Space::Rmem)?;
        if algorithm::extents("a tile", &input.layout)? != algorithm::extents("sums", &sums.layout)?
        {
            return Err(format!(
                "expected a tile of the shape of the sums, {}, found {}",
                sums.layout.shape(),
                input.layout
            ));
        }
        arguments.push(algorithm::argument_type(input.element));
    }
    let block = op.body().ok_or("expected a region that computes scales")?;
    one_block(block)?;
    check_body(block, &arguments, &[sums.element])
}

/// Checks sums in registers of a block or a thread, and the room for those of other blocks: (values of a thread, threads, other blocks), or a thread's part of it.
pub(in super::super) fn verify_block_cluster_sum(op: cute::BlockClusterSum<'_>) -> Checked {
    let (sums, exchange) = (operand(0, op.sums())?, operand(1, op.exchange())?);
    check_space("sums", &sums, Space::Rmem)?;
    check_space("the exchange", &exchange, Space::Smem)?;
    if sums.element != exchange.element || sums.element_bytes() != 4 {
        return Err(format!(
            "expected sums of one type of 32 bits on both sides, found {} and {}",
            sums.element, exchange.element
        ));
    }
    if !matches!(exchange.layout.rank(), 2 | 3)
        || !exchange.layout.is_static()
        || exchange.swizzle.is_some()
        || exchange.inner.is_some()
        || exchange.align % 16 != 0
    {
        return Err(format!(
            "expected an exchange of (values, threads, other blocks) of a known layout without a swizzle, at a multiple of 16 bytes, found {} and align<{}>",
            exchange.layout, exchange.align
        ));
    }
    let values = exchange.layout.mode(0).and_then(|mode| mode.size());
    let values = values.map_err(|e| e.to_string())?;
    if values % SENT_AT_ONCE != 0 {
        return Err(format!(
            "expected a multiple of {SENT_AT_ONCE} values of a thread, which are sent at once, found {values}"
        ));
    }
    Ok(())
}

pub(super) fn check_space(name: &str, tensor: &MemRef, expected: Space) -> Checked {
    if tensor.space == expected {
        return Ok(());
    }
    Err(format!(
        "expected {name} in {expected}, found {}",
        tensor.space
    ))
}

/// Matrices A (M,K), B (N,K) and C (M,N) of one product; a third mode of whole tensors is the batch.
fn check_matrices([a, b, c]: [&MemRef; 3], whole: bool) -> Checked {
    let rank = if whole && a.layout.rank() == 3 { 3 } else { 2 };
    for (what, memref) in [("A (M,K)", a), ("B (N,K)", b), ("C (M,N)", c)] {
        if memref.layout.rank() != rank {
            return Err(format!(
                "expected {what} of rank {rank}{}, found {}",
                match rank {
                    3 => ", as A has a batch behind M and K",
                    _ if whole && memref.layout.rank() > 3 => {
                        ", or 3 with a batch, whose modes are one: (M,K,(L0,L1))"
                    }
                    _ => "",
                },
                memref.layout
            ));
        }
    }
    let same = [
        ("K of A and B", (a, 1), (b, 1)),
        ("M of A and C", (a, 0), (c, 0)),
        ("N of B and C", (b, 0), (c, 1)),
        ("batch of A and B", (a, 2), (b, 2)),
        ("batch of A and C", (a, 2), (c, 2)),
    ];
    for (what, (x, i), (y, j)) in same.into_iter().filter(|(_, (_, i), _)| *i < rank) {
        let [left, right] = [(x, i), (y, j)].map(|(tensor, mode)| {
            let mode = tensor.layout.mode(mode);
            mode.is_ok_and(|mode| mode.shape().is_static() || mode.is_empty())
        });
        // What only a launch knows is compared there.
        if !left || !right {
            continue;
        }
        let (left, right) = (extent(x, i)?, extent(y, j)?);
        if left != right {
            return Err(format!(
                "expected the same {what}, found {left} and {right}: A is {}, B is {}, C is {}",
                a.layout.shape(),
                b.layout.shape(),
                c.layout.shape()
            ));
        }
    }
    // Which types go together, the product of the plan says.
    Ok(())
}

pub(in super::super) fn verify_cooperative_gemm(op: Op<'_>) -> Checked {
    let args = CooperativeGemmArgs::of(op).ok_or_else(|| {
        format!(
            "expected (thread, mma, A, B, C) or (thread, mma, alpha, A, B, beta, C), found {} operands",
            op.operand_count()
        )
    })?;
    let product = multiplier(args.mma)?;
    let mma = CuteType::of(args.mma.r#type()).ok_or("expected a tiled MMA")?;
    let CuteType::TiledMma { .. } = mma else {
        return Err(
            "expected a tiled MMA, found an atom; tile it by cute.make_tiled_mma".to_owned(),
        );
    };
    let tiled = types::tiled_mma(&mma)?;
    check_thread(op, args.thread, tiled.num_threads())?;
    let places = match args.scale {
        None => [2, 3, 4],
        Some(_) => [3, 4, 6],
    };
    let [at_a, at_b, at_c] = places;
    let (a, b) = (&operand(at_a, args.a)?, &operand(at_b, args.b)?);
    let c = &operand(at_c, args.c)?;
    for (what, memref, element) in [("A", a, product.a), ("B", b, product.b)] {
        if memref.space != Space::Smem {
            return Err(format!(
                "expected {what} in smem, which all threads see, found {}",
                memref.space
            ));
        }
        if !is_kept(memref.element, element) {
            return Err(format!(
                "expected {what} of {element}, as the atom multiplies, found {}",
                memref.element
            ));
        }
    }
    let mut sizes = Vec::new();
    for (what, memref) in [("A (M,K)", a), ("B (N,K)", b)] {
        let found = algorithm::extents(what, &memref.layout)?;
        if found.len() != 2 {
            return Err(format!(
                "expected {what} of rank 2, found {}",
                memref.layout
            ));
        }
        sizes.push(found);
    }
    let (m, n, k) = (sizes[0][0], sizes[1][0], sizes[0][1]);
    if k != sizes[1][1] {
        return Err(format!(
            "expected the same K of A and B, found {k} and {}",
            sizes[1][1]
        ));
    }
    let tile = tiled.tile_shape();
    for ((what, size), step) in ["M", "N", "K"].iter().zip([m, n, k]).zip(tile) {
        if size % step != 0 {
            return Err(format!(
                "expected {what} to be a multiple of the tiled MMA's {step}, found {size}; pad the shared tiles with zeros, or \
                 tile the atom less"
            ));
        }
    }
    for (name, element) in [("copy_a", product.a), ("copy_b", product.b)] {
        check_copy(op, name, element)?;
    }
    let Some(Scale { alpha, beta }) = args.scale else {
        let whole = cute_layout::tuple([m, n].map(cute_layout::int));
        let part = tensor::partition_shape(&mma, &whole, 2)?;
        if c.space != Space::Rmem || !is_kept(c.element, product.acc) {
            return Err(format!(
                "expected a fragment of {} in rmem as C, found {} in {}; C in smem takes alpha and beta",
                product.acc, c.element, c.space
            ));
        }
        if part.size().ok() != c.layout.size().ok() || part.rank() != c.layout.rank() {
            return Err(format!(
                "expected the fragment of a C of ({m},{n}), of shape {part}, found {}; make it by cute.mma.make_fragment",
                c.layout
            ));
        }
        return Ok(());
    };
    if c.space != Space::Smem {
        return Err(format!(
            "expected C in smem where alpha and beta are given, found {}",
            c.space
        ));
    }
    let found = algorithm::extents("C (M,N)", &c.layout)?;
    if found != [m, n] {
        return Err(format!(
            "expected C of ({m},{n}), as A and B give, found {}",
            c.layout.shape()
        ));
    }
    for (what, factor) in [("alpha", alpha), ("beta", beta)] {
        let ty = factor.r#type();
        if ty != product.acc {
            return Err(format!(
                "expected {what} of {}, as the atom adds, found {ty}",
                product.acc
            ));
        }
    }
    if c.element != product.acc && !(types::is_float(c.element) && types::is_float(product.acc)) {
        return Err(format!(
            "expected C of {} or of another floating-point type, found {}",
            product.acc, c.element
        ));
    }
    Ok(())
}

/// An atom that loads an operand.
fn check_copy(op: Op<'_>, name: &str, element: Type) -> Checked {
    let Ok(attribute) = op.attribute(name) else {
        return Ok(());
    };
    let ty = type_value(attribute).ok_or_else(|| format!("expected {name} = a type"))?;
    match CuteType::of(ty) {
        Some(CuteType::CopyAtom { value, .. })
            if types::element_bits(value) == types::element_bits(element) =>
        {
            Ok(())
        }
        _ => Err(format!(
            "expected {name} to be a copy atom of {element}, found {ty}"
        )),
    }
}

//! Two maps that one kernel computes: the second index of a block says which one it is of. What neither of two small maps would fill a GPU with takes the time of one then.

use super::{Arrangement, Map, Whole};
use crate::launch::follow;
use crate::tile::{
    function::{Kernel, block_index, block_index_along},
    host::{LaunchSizes, launch_kernel},
    targets_of,
};
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, scf},
};
use melior::ir::ValueLike;

/// The parts that threads take of each of two maps which have one form.
pub(in crate::tile) struct Ways([Arrangement; 2]);

/// The kernel of two maps, a symbol, and the parts that its threads take of each map.
pub(in crate::tile) struct Beside {
    ways: [Arrangement; 2],
    kernel: String,
}

/// The parts that threads take of two maps which have one form, so that blocks of one kernel may compute both; none of others. They are without reductions and without
/// anything in shared memory.
pub(in crate::tile) fn ways(maps: [&Map<'_>; 2]) -> Option<Ways> {
    let [first, second] = maps.map(|map| map.arrangements(1).pop());
    let ways = [first?, second?];
    let is_plain = |map: &Map<'_>| !map.reduces && map.ranges.is_none();
    let is_alone = |way: &Arrangement| way.staged.is_empty() && way.most.is_none();
    let are_alike = maps.into_iter().all(is_plain)
        && ways.iter().all(is_alone)
        && ways[0].threads == ways[1].threads;
    are_alike.then_some(Ways(ways))
}

/// Writes the kernel of two maps that are alike, where it is not written yet, and its launch in place of the ops.
pub(in crate::tile) fn lower<'c>(
    (maps, Ways(ways)): ([Map<'c>; 2], Ways),
    module: Op<'c>,
    name: &str,
    home: &mut Option<Op<'c>>,
    written: &mut Option<Beside>,
) -> Result<(), Failure> {
    let host = Builder::before(maps[1].op);
    for map in &maps {
        map.check_launch(host)?;
    }
    let [first, second] = maps;
    let second = second.behind(first.arguments.len());
    let maps = [first, second];
    let beside = match written {
        Some(beside) => beside,
        None => {
            let archs = &maps[0].archs;
            let named = format!("{name}_kernels");
            let kernels =
                crate::tile::kernels_of(maps[0].op, module, &named, &targets_of(archs), home)?;
            let body = body_of(kernels, 0).expected(kernels, "a body")?;
            let place = Builder::at_end(host.context, body, host.location);
            let kernel = format!("{name}_kernel");
            write(place, &kernel, &maps, &ways)?;
            let home = string_of(kernels, "sym_name").unwrap_or_default();
            written.insert(Beside {
                ways,
                kernel: format!("@{home}::@{kernel}"),
            })
        }
    };
    launch(host, &maps, beside)
}

fn write<'c>(
    place: Builder<'c>,
    name: &str,
    maps: &[Map<'c>; 2],
    ways: &[Arrangement; 2],
) -> Result<(), Failure> {
    let all = maps.iter().flat_map(|map| &map.arguments);
    let mut arguments: Vec<_> = all.map(|value| value.r#type()).collect();
    // Behind them what the launch counts for each, and the blocks of each.
    let mut places = Vec::new();
    for (map, way) in maps.iter().zip(ways) {
        let counted = map.grid(way).counted();
        places.push((arguments.len(), arguments.len() + counted.len()));
        arguments.extend(counted.iter().map(|_| place.i32_type()));
        arguments.push(place.i32_type());
    }
    let mut attributes = Vec::new();
    for (map, way) in maps.iter().zip(ways) {
        if attributes.is_empty() {
            attributes = map.attributes(place, way)?;
        }
    }
    let [along, across] = ways[0].threads;
    let kernel = Kernel {
        name,
        arguments,
        threads: along * across,
        blocks: None,
        attributes,
    };
    kernel.write(place, |b, body| {
        follow(b, &maps[0].archs)?;
        let (block, of) = (block_index(b)?, block_index_along(b, "y")?);
        for (number, (map, way)) in maps.iter().zip(ways).enumerate() {
            let (counted, blocks) = places[number];
            let is_of = b.compare(Predicate::Eq, of, b.i32(number as i64)?)?;
            let is_there = b.compare(Predicate::Ult, block, argument(body, blocks))?;
            let is_own = b.value(arith::ANDI, &[is_of, is_there], is_of.r#type(), &[])?;
            let (then, inner) = Detached::with_block(&[]);
            b.with_regions(scf::IF, &[is_own], &[], &[], vec![then, Detached::empty()])?;
            let inner = Builder::at_end(b.context, inner, b.location);
            map.body_of_block(inner, body, way, (block, counted))?;
            inner.op(scf::YIELD, &[], &[], &[])?;
        }
        Ok(())
    })
}

fn launch<'c>(host: Builder<'c>, maps: &[Map<'c>; 2], beside: &Beside) -> Result<(), Failure> {
    let index = host.index_type();
    let mut arguments: Vec<_> = maps.iter().flat_map(|map| map.arguments.clone()).collect();
    let mut most: Option<Val<'c>> = None;
    for (map, way) in maps.iter().zip(&beside.ways) {
        let extent = |axis| map.extent(host, axis);
        let (blocks, counted) = map.grid(way).of_launch(host, extent)?;
        arguments.extend(counted);
        arguments.push(host.value(arith::INDEX_CAST, &[blocks], host.i32_type(), &[])?);
        most = Some(match most {
            Some(most) => host.value(arith::MAXSI, &[most, blocks], index, &[])?,
            None => blocks,
        });
    }
    let [along, across] = beside.ways[0].threads;
    let sizes = LaunchSizes {
        blocks: most.expected(host, "a grid")?,
        rows: 2,
        threads: along * across,
        cluster: 1,
    };
    launch_kernel(host, &beside.kernel, sizes, &arguments)
}

impl<'c> Map<'c> {
    /// The same map in a kernel that has so many other arguments first.
    fn behind(self, others: usize) -> Self {
        let behind = |whole: Whole<'c>| Whole {
            argument: whole.argument + others,
            view: whole
                .view
                .map(|view| view.map(|places| places.iter().map(|at| at + others).collect())),
            ..whole
        };
        Self {
            tensors: self.tensors.into_iter().map(behind).collect(),
            ..self
        }
    }
}

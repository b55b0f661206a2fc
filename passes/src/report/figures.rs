//! The costs of one warp's access, from its lanes' addresses, as far as they are known.

use super::{
    linear::{Linear, Symbols},
    walk::{Access, Kind, Side},
};
use cute_layout::Swizzle;
use cute_target::{
    banks::{self, Access as BankAccess, BANK_BYTES, NUM_BANKS},
    sectors::{LINE_BYTES, SECTOR_BYTES, sectors_and_lines},
};
use std::collections::{BTreeMap, BTreeSet};

/// Lanes of a warp.
pub(super) const LANES: usize = 32;

/// A count that is known, or known to be between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The least number.
    pub least: u32,
    /// The greatest number.
    pub most: u32,
}

impl Range {
    fn of(value: u32) -> Self {
        Self {
            least: value,
            most: value,
        }
    }

    fn join(self, other: Range) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn add(self, other: Range) -> Self {
        Self {
            least: self.least + other.least,
            most: self.most + other.most,
        }
    }

    /// Tells whether the number is the same for all that is not known.
    pub fn is_known(self) -> bool {
        self.least == self.most
    }
}

/// The demands of a warp's access on global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global {
    /// Sectors of 32 bytes.
    pub sectors: Range,
    /// Lines of 128 bytes.
    pub lines: Range,
    /// The fewest that the bytes fill.
    pub ideal_sectors: u32,
    /// Lines of the same bytes, side by side.
    pub ideal_lines: u32,
    /// Tells whether lanes lie at distances that are not known, and were taken to share no line.
    pub apart: bool,
}

impl Global {
    /// Tells whether a better arrangement of the threads could touch less, even where the start is as well aligned as it can be.
    pub fn is_wasteful(&self) -> bool {
        self.sectors.least > self.ideal_sectors || self.lines.least > self.ideal_lines
    }
}

/// Passes over the banks of a warp's access to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Passes over the banks.
    pub wavefronts: Range,
    /// Passes that the same bytes need without conflicts.
    pub ideal: u32,
    /// The passes that the arrangement of shared memory is the reason for; fewer than `wavefronts` for `cp.async` only.
    pub banks: Range,
}

/// One warp of an access.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// The threads that take part, whether or not their addresses count.
    pub threads: u32,
    /// The demands on global memory; nothing where there is no such side, and an error that says what is not known where it is not.
    pub global: Option<Result<Global, String>>,
    pub shared: Option<Result<Shared, String>>,
}

/// Lanes whose addresses differ by numbers that are known: their mask, the numbers, and what divides the rest; 0 for all.
#[derive(Clone)]
struct Group {
    active: u32,
    at: [u64; LANES],
    divisor: i64,
}

fn groups(side: &Side, warp: usize, active: u32, symbols: &Symbols) -> Result<Vec<Group>, String> {
    let mut all: BTreeMap<Vec<(u32, i64)>, Group> = BTreeMap::new();
    for lane in lanes(active) {
        let address = side.bytes.at(warp * LANES + lane).ok_or(
            "the address depends on something other than indices of threads, blocks and loops and the kernel's integers",
        )?;
        let group = all.entry(address.terms.clone()).or_insert_with(|| Group {
            active: 0,
            at: [0; LANES],
            divisor: symbols.divisor(&Linear {
                constant: 0,
                terms: address.terms.clone(),
            }),
        });
        group.active |= 1 << lane;
        // 2^64 is a multiple of all periods, so that a negative offset keeps its place in one.
        group.at[lane] = address.constant as u64;
    }
    Ok(all.into_values().collect())
}

pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// The remainders, modulo a power of two, of the numbers that `divisor` divides.
fn shifts(divisor: i64, period: i64) -> impl Iterator<Item = u64> {
    let step = if divisor == 0 {
        period
    } else {
        1 << divisor.trailing_zeros().min(period.trailing_zeros())
    };
    (0..period).step_by(step as usize).map(|s| s as u64)
}

fn moved(at: &[u64; LANES], by: u64) -> [u64; LANES] {
    at.map(|a| a.wrapping_add(by))
}

fn swizzled(at: &[u64; LANES], swizzle: Option<Swizzle>) -> [u64; LANES] {
    match swizzle {
        Some(swizzle) => at.map(|a| swizzle.apply(a as i64) as u64),
        None => *at,
    }
}

fn global(groups: &[Group], active: u32, bytes: u32) -> Global {
    let moves = u64::from(active.count_ones()) * u64::from(bytes);
    let (mut sectors, mut lines) = (Range::default(), Range::default());
    for group in groups {
        let mut own: Option<(Range, Range)> = None;
        for shift in shifts(group.divisor, LINE_BYTES as i64) {
            let (s, l) = sectors_and_lines(&moved(&group.at, shift), group.active, bytes);
            let now = (Range::of(s), Range::of(l));
            own = Some(own.map_or(now, |old| (old.0.join(now.0), old.1.join(now.1))));
        }
        let (s, l) = own.unwrap_or_default();
        (sectors, lines) = (sectors.add(s), lines.add(l));
    }
    Global {
        sectors,
        lines,
        // Lanes that share what they read need less than their bytes.
        ideal_sectors: (moves.div_ceil(SECTOR_BYTES) as u32).min(sectors.least),
        ideal_lines: (moves.div_ceil(LINE_BYTES) as u32).min(lines.least),
        apart: groups.len() > 1,
    }
}

/// The costs of a reduction: lanes that change one element take turns.
fn atomic(groups: &[Group], active: u32, bytes: u32) -> Global {
    let at_once = global(groups, active, bytes);
    let (mut sectors, mut lines) = (Range::default(), Range::default());
    let mut rest = groups.to_vec();
    while rest.iter().any(|group| group.active != 0) {
        let mut round = rest.clone();
        for (group, left) in round.iter_mut().zip(&mut rest) {
            let mut met = BTreeSet::new();
            let turn = lanes(group.active).filter(|lane| met.insert(group.at[*lane]));
            group.active = turn.fold(0, |mask, lane| mask | 1 << lane);
            left.active &= !group.active;
        }
        let turn = global(
            &round,
            round.iter().fold(0, |all, group| all | group.active),
            bytes,
        );
        (sectors, lines) = (sectors.add(turn.sectors), lines.add(turn.lines));
    }
    Global {
        sectors,
        lines,
        ..at_once
    }
}

/// Returns the one group of lanes of an access to shared memory, empty where no lane takes part. Errors: several groups.
fn one(groups: Vec<Group>) -> Result<Group, String> {
    let mut groups = groups.into_iter();
    match (groups.next(), groups.next()) {
        (Some(group), None) => Ok(group),
        (None, _) => Ok(Group {
            active: 0,
            at: [0; LANES],
            divisor: 0,
        }),
        _ => Err("lanes lie at distances that are not known".to_owned()),
    }
}

const ROW: i64 = NUM_BANKS * BANK_BYTES;

fn shared(access: &Access, group: &Group, swizzle: Option<Swizzle>) -> Shared {
    let period = swizzle.map_or(ROW, |s| s.period().max(ROW));
    let rule = if access.kind.is_load() {
        BankAccess::Load
    } else {
        BankAccess::Store
    };
    let mut all: Option<Range> = None;
    for shift in shifts(group.divisor, period) {
        let at = swizzled(&moved(&group.at, shift), swizzle);
        let passes = Range::of(banks::warp_wavefronts(
            &at,
            group.active,
            access.bytes,
            rule,
        ));
        all = Some(all.map_or(passes, |old| old.join(passes)));
    }
    let wavefronts = all.unwrap_or_default();
    Shared {
        wavefronts,
        ideal: banks::ideal(group.active.count_ones(), access.bytes).min(wavefronts.least),
        banks: wavefronts,
    }
}

/// cp.async waits for the banks of its sources as well.
fn asynchronous(access: &Access, to: &Group, swizzle: Option<Swizzle>, from: &[Group]) -> Shared {
    let period = swizzle.map_or(ROW, |s| s.period().max(ROW));
    let (mut all, mut alone): (Option<Range>, Option<Range>) = (None, None);
    // Sources at several distances that are not known are taken to begin alike, and then each anywhere.
    let divisor = from.iter().map(|g| g.divisor).fold(0, |a, b| match (a, b) {
        (0, other) | (other, 0) => other,
        (a, b) => a.min(b),
    });
    let mut sources = [0; LANES];
    for group in from {
        for lane in lanes(group.active) {
            sources[lane] = group.at[lane];
        }
    }
    for shift in shifts(to.divisor, period) {
        let at = swizzled(&moved(&to.at, shift), swizzle);
        let count = |from: &[u64; LANES], zeros| {
            Range::of(banks::async_copy_wavefronts(
                &at,
                from,
                to.active,
                zeros,
                access.bytes,
            ))
        };
        let own = count(&sources, to.active);
        alone = Some(alone.map_or(own, |old| old.join(own)));
        for shift in shifts(divisor, LINE_BYTES as i64) {
            let passes = count(&moved(&sources, shift), 0);
            all = Some(all.map_or(passes, |old| old.join(passes)));
        }
    }
    let wavefronts = all.unwrap_or_default();
    Shared {
        wavefronts,
        ideal: banks::ideal(to.active.count_ones(), access.bytes).min(wavefronts.least),
        banks: alone.unwrap_or_default(),
    }
}

/// The costs of an access, warp by warp; warps of which no thread takes part are left out.
pub(super) fn warps(access: &Access, symbols: &Symbols) -> Vec<Warp> {
    let count = access.active.len().div_ceil(LANES);
    (0..count)
        .filter_map(|warp| {
            let takes_part = |lane: &usize| access.active.get(warp * LANES + lane) == Some(&true);
            let threads = (0..LANES).filter(takes_part).count() as u32;
            let addresses = (0..access.lanes as usize).filter(takes_part);
            let active = addresses.fold(0, |all, lane| all | 1 << lane);
            (active != 0).then(|| one_warp(access, warp, threads, active, symbols))
        })
        .collect()
}

/// The costs of a warp of which so many threads take part, and the addresses of the lanes in `active` count.
fn one_warp(access: &Access, warp: usize, threads: u32, active: u32, symbols: &Symbols) -> Warp {
    let found = |side: &Option<Side>| {
        side.as_ref()
            .map(|side| groups(side, warp, active, symbols))
    };
    let (from, to) = (found(&access.global), found(&access.shared));
    let swizzle = access.shared.as_ref().and_then(|side| side.swizzle);
    let passes = to.map(|to| {
        let to = one(to?)?;
        if access.kind != Kind::AsyncCopy {
            return Ok(shared(access, &to, swizzle));
        }
        match &from {
            Some(Ok(from)) => Ok(asynchronous(access, &to, swizzle, from)),
            Some(Err(error)) => Err(error.clone()),
            None => Err("the source is not known".to_owned()),
        }
    });
    Warp {
        threads,
        global: from.map(|from| {
            let cost = match access.kind {
                Kind::Atomic => atomic,
                _ => global,
            };
            Ok(cost(&from?, active, access.bytes))
        }),
        shared: passes,
    }
}

/// The passes of all warps of an access with another swizzle, as it is known; nothing where it is not.
pub(super) fn with_swizzle(
    access: &Access,
    swizzle: Swizzle,
    symbols: &Symbols,
) -> Option<(u32, u32)> {
    let side = access.shared.as_ref()?;
    let other = Access {
        shared: Some(Side {
            swizzle: Some(swizzle),
            ..side.clone()
        }),
        ..access.clone()
    };
    let mut sums = (0, 0);
    for warp in warps(&other, symbols) {
        let found = warp.shared?.ok()?;
        sums = (sums.0 + found.banks.most, sums.1 + found.ideal);
    }
    Some(sums)
}

/// The arrangement of the lanes of a warp's access in memory: runs of so many lanes, each of so many bytes in one piece; nothing
/// where runs are not alike.
pub(super) fn runs(access: &Access, symbols: &Symbols) -> Option<(usize, u64)> {
    let side = access.global.as_ref()?;
    let mut active = 0;
    for lane in 0..LANES {
        if access.active.get(lane) == Some(&true) {
            active |= 1 << lane;
        }
    }
    let mut lengths = Vec::new();
    for group in groups(side, 0, active, symbols).ok()? {
        let mut at: Vec<u64> = lanes(group.active).map(|lane| group.at[lane]).collect();
        // Negative offsets before the others.
        at.sort_by_key(|a| *a as i64);
        let mut length = 0usize;
        for (i, a) in at.iter().enumerate() {
            length += 1;
            if at.get(i + 1) != Some(&a.wrapping_add(u64::from(access.bytes))) {
                lengths.push(std::mem::take(&mut length));
            }
        }
    }
    let first = *lengths.first()?;
    lengths
        .iter()
        .all(|l| *l == first)
        .then(|| (first, first as u64 * u64::from(access.bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::scalars::Lanes;
    use cute_ir::mlir::{arguments_of, body_of, key, nested_ops, op_key};
    use melior::ir::Module;

    #[test]
    fn all_threads_take_part_in_what_some_have_addresses_of() {
        let context = cute_ir::context();
        let text = "func.func @f(%a: i32) { func.return }";
        let module = Module::parse(&context, text).expect("the text parses");
        let function = nested_ops(module.as_operation())[0];
        let body = body_of(function, 0).expect("a body");
        // Two matrices: 16 rows of 16 bytes, side by side.
        let rows = (0..32).map(|lane| Some(Linear::from(lane % 16 * 16)));
        let access = Access {
            op: op_key(function),
            kind: Kind::LoadMatrix,
            bytes: 16,
            lanes: 16,
            global: None,
            shared: Some(Side {
                root: key(arguments_of(body)[0]),
                swizzle: None,
                bytes: Lanes::each(rows.collect()),
            }),
            active: vec![true; 32],
            assumed: false,
        };
        let found = warps(&access, &Symbols::default());
        let [warp] = &found[..] else {
            panic!("expected one warp, found {found:?}")
        };
        assert_eq!(warp.threads, 32);
        let shared = warp.shared.as_ref().expect("a side").as_ref();
        assert_eq!(shared.expect("known").wavefronts.most, 2);
    }
}

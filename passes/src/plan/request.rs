//! The wishes for a plan: of options, and of attributes on the op.

use super::warps_of;
use cute_ir::attributes::{RASTER, SPLIT, STAGES, STREAM, SWIZZLE, TILE, WARPS};
use cute_ir::mlir::*;
use cute_ir::options::OptionValue;
use cute_ir::plan::{MOST_AT_ONCE, MOST_BLOCKS, MOST_SPLIT, Plan};
use cute_layout::Swizzle;

/// The choice of the swizzle of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwizzleChoice {
    /// The one that makes loads of fragments and copies of vectors free of bank conflicts for the row's size.
    Auto,
    /// None.
    None,
    /// This one of byte addresses, for A and B.
    Given(Swizzle),
}

/// Reads `auto`, `none` or `B,M,S`, also written `S<B,M,S>`.
impl OptionValue for SwizzleChoice {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected auto, none or S<B,M,S>, found '{text}'");
        match text {
            "auto" => Ok(SwizzleChoice::Auto),
            "none" => Ok(SwizzleChoice::None),
            _ => {
                let inner = text.strip_prefix("S<").and_then(|t| t.strip_suffix('>'));
                let parts = inner.unwrap_or(text).split(',');
                let parts: Vec<i64> = parts
                    .map(|part| part.trim().parse().map_err(|_| wrong()))
                    .collect::<Result<_, _>>()?;
                let [b, m, s] = parts[..] else {
                    return Err(wrong());
                };
                let swizzle = Swizzle::new(b, m, s).map_err(|error| error.to_string())?;
                Ok(SwizzleChoice::Given(swizzle))
            }
        }
    }

    fn written(&self) -> String {
        match self {
            SwizzleChoice::Auto => "auto".to_owned(),
            SwizzleChoice::None => "none".to_owned(),
            SwizzleChoice::Given(swizzle) => swizzle.to_string(),
        }
    }
}

/// The instructions that multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Products of warps, of operands in registers.
    Mma,
    /// Products of warpgroups, of operands that TMA brings into shared memory.
    Wgmma,
}

/// Reads `mma` or `wgmma`.
impl OptionValue for Instructions {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "mma" => Ok(Instructions::Mma),
            "wgmma" => Ok(Instructions::Wgmma),
            _ => Err(format!("expected mma or wgmma, found '{text}'")),
        }
    }

    fn written(&self) -> String {
        match self {
            Instructions::Mma => "mma".to_owned(),
            Instructions::Wgmma => "wgmma".to_owned(),
        }
    }
}

/// Blocks along M, N and K of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster(pub [i64; 3]);

/// Reads `2x1`, or `1x1x2`.
impl OptionValue for Cluster {
    fn read(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<i64>> = text
            .split('x')
            .map(|number| number.parse().ok())
            .map(|number| number.filter(|number| (1..=MOST_BLOCKS).contains(number)))
            .collect();
        match numbers.as_deref() {
            Some([m, n]) => Ok(Self([*m, *n, 1])),
            Some([m, n, k]) => Ok(Self([*m, *n, *k])),
            _ => Err(format!(
                "expected at most {MOST_BLOCKS} blocks along M and N, such as 2x1, or along M, N and K, such as 1x1x2, found '{text}'"
            )),
        }
    }

    fn written(&self) -> String {
        match self.0 {
            [m, n, 1] => format!("{m}x{n}"),
            [m, n, k] => format!("{m}x{n}x{k}"),
        }
    }
}

/// The factors, A and B of the op, that are copied into a workspace before they are multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pack(pub [bool; 2]);

/// Reads `none`, `a`, `b` or `ab`.
impl OptionValue for Pack {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self([false, false])),
            "a" => Ok(Self([true, false])),
            "b" => Ok(Self([false, true])),
            "ab" => Ok(Self([true, true])),
            _ => Err(format!("expected none, a, b or ab, found '{text}'")),
        }
    }

    fn written(&self) -> String {
        match self.0 {
            [false, false] => "none",
            [true, false] => "a",
            [false, true] => "b",
            [true, true] => "ab",
        }
        .to_owned()
    }
}

/// The blocks of a multiprocessor that the last tiles are dealt out to, by even ranges along K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// None: each tile is one block's, or that of as many as share K.
    None,
    /// As many as run at once.
    Auto,
    /// So many.
    Blocks(i64),
}

/// Reads `none`, `auto` or a number.
impl OptionValue for Stream {
    fn read(text: &str) -> Result<Self, String> {
        let number = || text.parse().ok();
        match text {
            "none" => Ok(Stream::None),
            "auto" => Ok(Stream::Auto),
            _ => match number().filter(|number| (1..=MOST_AT_ONCE).contains(number)) {
                Some(number) => Ok(Stream::Blocks(number)),
                None => Err(format!(
                    "expected none, auto, or 1 to {MOST_AT_ONCE} blocks that a multiprocessor runs at once, found '{text}'"
                )),
            },
        }
    }

    fn written(&self) -> String {
        match self {
            Stream::None => "none".to_owned(),
            Stream::Auto => "auto".to_owned(),
            Stream::Blocks(number) => number.to_string(),
        }
    }
}

/// The place where what is multiplied is computed of what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prologue {
    /// The conversion on the way to shared memory, once for all warps of a block.
    Shared,
    /// In registers, of elements that lie in shared memory as they are stored: of 8 bits by warps, of 8, 16 or 32 by warpgroups.
    Registers,
}

/// Reads `shared` or `registers`.
impl OptionValue for Prologue {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "shared" => Ok(Prologue::Shared),
            "registers" => Ok(Prologue::Registers),
            _ => Err(format!("expected shared or registers, found '{text}'")),
        }
    }

    fn written(&self) -> String {
        match self {
            Prologue::Shared => "shared",
            Prologue::Registers => "registers",
        }
        .to_owned()
    }
}

cute_ir::options! {
    /// The parts of a plan that were asked for; what is missing is chosen.
    #[derive(Copy)]
    pub struct Request {
        tile: Option<[i64; 3]> = None, "",
            "M, N and K of a block's tile, such as 128x128x32; chosen where not given";
        warps: Option<[i64; 2]> = None, "",
            "Warps along M and N of a block, or of each of its teams, such as 2x2; chosen where not given";
        stages: Option<i64> = None, "",
            "Buffers of the ring in shared memory, where 1 is no pipelining; chosen where not given";
        swizzle: Option<SwizzleChoice> = None, "",
            "Swizzle of shared memory on byte addresses: auto, none or S<B,M,S>; auto where not given";
        raster: Option<i64> = None, "",
            "Blocks along M that are neighbours in launch order; chosen where not given";
        split: Option<i64> = None, "",
            "Blocks that share the sums of a tile along K, which a second kernel adds, where 1 is one kernel; chosen where not given";
        stream: Option<Stream> = None, "",
            "Blocks of a multiprocessor that the last tiles are dealt out to by even ranges along K where they fill no whole wave (stream-K), of which split share a tile at most: none, auto for as many as run at once, or a number; none where not given";
        instructions: Option<Instructions> = None, "",
            "The instructions that multiply: mma, of warps, or wgmma, of warpgroups with operands that TMA brings (sm_90a); chosen where not given";
        cluster: Option<Cluster> = None, "",
            "Blocks along M and N of a cluster, which share what TMA loads, such as 2x1, or along K, which share a tile, such as 1x1x2; chosen where not given";
        teams: Option<i64> = None, "",
            "Groups of warpgroups of a block that take tiles in turn, each of so many warps: 1, or 2, of which one multiplies while the other's sums go out (sm_90a); chosen where not given";
        swap: Option<bool> = None, "",
            "Whether warpgroups multiply B by A, for the transpose of C, as is fast where C has few columns: true or false; chosen where not given";
        pack: Option<Pack> = None, "",
            "Factors that are copied into a workspace first, in lines that begin at multiples of 128 bytes, as their own begin at no multiples of 16: none, a, b or ab; chosen where not given";
        prologue: Option<Prologue> = None, "",
            "The place where a prologue computes: shared, on the way to shared memory, or registers, where threads make what they multiply of elements as they are stored; chosen where not given";
        variants: Option<i64> = None, "",
            "Kernels for a problem whose sizes are open, at most, of which a launch takes one; where not given 30 for a product and 19 for a map";
        candidates: Option<i64> = None, "",
            "Plans for each product that a package holds, at most, for cute-run --tune to choose from; one plan, or variants, where not given";
        sms: Option<i64> = None, "",
            "Multiprocessors of the GPU, by which a plan is chosen; those of a GPU of the architecture where not given";
    }
}

/// Plans that are not to be chosen, by name, or by the number of elements that a thread has at least: `64held`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Avoid(pub Vec<String>);

/// The word behind a number of elements.
const HELD: &str = "held";

impl Avoid {
    /// The name of a plan among those for one problem: its tile, its warps, its stages, its parts of K, and its clusters and teams where it has some.
    pub fn name_of(plan: &Plan<'_>) -> String {
        let ([m, n, k], [wm, wn]) = (plan.tile, warps_of(plan));
        let name = format!("{m}x{n}x{k}-{wm}x{wn}-{}-{}", plan.stages, plan.split);
        let name = match plan.cluster {
            [1, 1, 1] => name,
            [cm, cn, 1] => format!("{name}-{cm}x{cn}"),
            [cm, cn, ck] => format!("{name}-{cm}x{cn}x{ck}"),
        };
        let name = match plan.stream {
            0 => name,
            stream => format!("{name}-{stream}stream"),
        };
        match plan.teams {
            1 => name,
            teams => format!("{name}-{teams}teams"),
        }
    }

    /// The name of all plans of which a thread has half as many elements, or more, as of the smallest of the named ones.
    pub fn half_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
        let least = names.into_iter().filter_map(held_by_name).min()?;
        Some(format!("{}{HELD}", (least / 2).max(1)))
    }

    /// The name of the blocks of maps that compute one row after another, among those of plans.
    pub const STAYS: &str = "stays";

    /// Tells whether blocks of maps that stay are among them.
    pub(crate) fn has_stays(&self) -> bool {
        self.0.iter().any(|name| name == Self::STAYS)
    }

    /// Tells whether a plan is among those that are named. One that shares the sums of a tile has the registers of the same one that does in other parts.
    fn names(&self, plan: &Plan<'_>) -> bool {
        let in_parts = |split: i64| {
            let other = Plan {
                split,
                ..plan.clone()
            };
            self.0.contains(&Self::name_of(&other))
        };
        match plan.split {
            1 => in_parts(1),
            _ => (2..=MOST_SPLIT).any(in_parts),
        }
    }

    /// The number of elements of a thread from which on plans are among them; none where no number is.
    fn most_held(&self) -> Option<i64> {
        self.0.iter().filter_map(|name| least_held(name)).min()
    }

    /// Tells whether a plan is among them.
    pub(crate) fn has(&self, plan: &Plan<'_>) -> bool {
        let held = held_by_name(&Self::name_of(plan));
        let is_large = self.most_held().zip(held);
        is_large.is_some_and(|(least, held)| held >= least) || self.names(plan)
    }

    /// The plans that are left of some: those that are neither named nor have as many elements as are not to be had; where there are none, those of the fewest that are not named,
    /// and where all are named, all.
    pub(crate) fn left<'p, 'c: 'p>(
        &self,
        plans: impl Iterator<Item = &'p Plan<'c>> + Clone,
    ) -> Vec<bool> {
        let is_named: Vec<bool> = plans.clone().map(|plan| self.names(plan)).collect();
        let held: Vec<i64> = plans
            .map(|plan| held_by_name(&Self::name_of(plan)).unwrap_or(0))
            .collect();
        let others = held.iter().zip(&is_named).filter(|(_, named)| !**named);
        let Some(fewest) = others.map(|(held, _)| *held).min() else {
            return vec![true; held.len()];
        };
        let most = self
            .most_held()
            .map_or(i64::MAX, |least| (least - 1).max(fewest));
        let all = held.iter().zip(&is_named);
        all.map(|(held, named)| !named && *held <= most).collect()
    }
}

/// The elements that a thread has by the plan of a name: its sums, and its part of a stage of A and B.
fn held_by_name(name: &str) -> Option<i64> {
    let numbers = name.split(['x', '-']).map(|part| part.parse::<i64>());
    let numbers: Vec<i64> = numbers.take(5).collect::<Result<_, _>>().ok()?;
    let [m, n, k, wm, wn] = numbers[..] else {
        return None;
    };
    Some((m * n + (m + n) * k) / (wm * wn * i64::from(cute_target::WARP)).max(1))
}

/// The number of a name such as `64held`.
fn least_held(name: &str) -> Option<i64> {
    let number = name.strip_suffix(HELD)?;
    number.parse().ok().filter(|held| *held > 0)
}

/// Reads `128x256x64-2x4-3-1`, or several that are joined by `+`.
impl OptionValue for Avoid {
    fn read(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split('+').map(str::to_owned).collect();
        let known = |name: &String| {
            if least_held(name).is_some() || name == Self::STAYS {
                return true;
            }
            // What names of plans end in where they have teams, or deal ranges out.
            let mut ends = [("teams", 2), ("stream", 1)].into_iter();
            let end = ends.find_map(|(word, least)| {
                let (name, number) = name.strip_suffix(word)?.rsplit_once('-')?;
                Some((name, number, least))
            });
            let name = end.map_or(name.as_str(), |(name, ..)| name);
            let parts: Vec<&str> = name.split(['x', '-']).collect();
            matches!(parts.len(), 7 | 9 | 10)
                && end.is_none_or(|(_, number, least)| {
                    number.parse::<i64>().is_ok_and(|n| n >= least)
                })
                && parts
                    .iter()
                    .all(|part| part.parse::<i64>().is_ok_and(|n| n > 0))
        };
        match names.iter().find(|name| !known(name)) {
            None => Ok(Avoid(names)),
            Some(name) => Err(format!(
                "expected tile, warps, stages and split of plans, such as 128x256x64-2x4-3-1, or a number of elements of a thread, such as 64held, \
                 or {}, joined by +, found '{name}'",
                Self::STAYS
            )),
        }
    }

    fn written(&self) -> String {
        self.0.join("+")
    }
}

/// Kernels for a product whose sizes are open, at most, where nothing else is asked for: with more of them products of any sizes are not faster (`docs/performance/choice.md`).
const VARIANTS: i64 = 30;

/// Kernels for a map whose columns are open, at most, where nothing else is asked for: they are small.
const VARIANTS_OF_MAP: i64 = 19;

impl Request {
    /// Kernels for a problem whose sizes are open, at most.
    pub fn most_variants(&self) -> usize {
        usize::try_from(self.variants.unwrap_or(VARIANTS)).unwrap_or(usize::MAX)
    }

    /// Kernels for a map whose columns are open, at most.
    pub fn most_of_map(&self) -> usize {
        usize::try_from(self.variants.unwrap_or(VARIANTS_OF_MAP)).unwrap_or(usize::MAX)
    }

    /// Tells whether ranges along K are to be dealt out.
    pub fn is_streamed(&self) -> bool {
        self.stream.is_some_and(|stream| stream != Stream::None)
    }

    /// The plans of a package of candidates, if one is asked for.
    pub fn candidates(&self) -> Option<usize> {
        let count = self.candidates?;
        Some(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Adds what `cute.tile`, `cute.warps`, ... on an op ask for, where the options ask for nothing.
    /// Errors: a swizzle that is none; the verifier has seen to the forms of the others.
    pub fn or_attributes(mut self, op: Op) -> Result<Self, String> {
        let array = |name: &str| -> Option<Vec<i64>> { attribute_of(op, name).and_then(i64s_of) };
        self.tile = self.tile.or_else(|| array(TILE)?.try_into().ok());
        self.warps = self.warps.or_else(|| array(WARPS)?.try_into().ok());
        self.stages = self.stages.or_else(|| integer_of(op, STAGES));
        self.raster = self.raster.or_else(|| integer_of(op, RASTER));
        self.split = self.split.or_else(|| integer_of(op, SPLIT));
        let stream = || integer_of(op, STREAM).map(Stream::Blocks);
        self.stream = self.stream.or_else(stream);
        if self.swizzle.is_none()
            && let Some(text) = string_of(op, SWIZZLE)
        {
            self.swizzle = Some(SwizzleChoice::read(text)?);
        }
        Ok(self)
    }

    /// The first part of a plan that is asked for, by its name; none where all is left open.
    pub fn first(&self) -> Option<&'static str> {
        let parts = [
            ("tile", self.tile.is_some()),
            ("warps", self.warps.is_some()),
            ("stages", self.stages.is_some()),
            ("swizzle", self.swizzle.is_some()),
            ("raster", self.raster.is_some()),
            ("split", self.split.is_some()),
            ("stream", self.is_streamed()),
        ];
        let asked = parts.into_iter().find(|(_, asked)| *asked);
        asked.map(|(name, _)| name)
    }
}

//! The way in which a GEMM is cut up: the tile, the warps, the stages, the swizzle, the order of blocks.
//!
//! `cute-tile` decides it from its options, an attribute of the op, or a table, checks that it
//! fits the architecture, and leaves it on the kernel as `cute.config`; every later pass reads it
//! there.

use crate::arch::{REGISTERS, REGISTERS_PER_THREAD, THREADS_PER_BLOCK, WARP};
use crate::shared::{self, Buffer, SharedTile, pack};
use cute_ir::attributes::{CONFIG, RASTER, STAGES, SWIZZLE, TILE, WARPS};
use cute_ir::diag::Failure;
use cute_ir::mlir::*;
use cute_ir::types::MOST_STAGES;
use cute_target::Arch;
use melior::ir::Attribute;

/// Extents M, N and K of an m16n8k16 MMA, in elements.
pub const ATOM: [i64; 3] = [16, 8, 16];
/// Bytes of an f16.
const F16: i64 = 2;
/// Bytes that one cp.async copies, and one vector store.
pub const VECTOR: i64 = 16;

/// The choice of the swizzle of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwizzleChoice {
    /// The one that makes ldmatrix and 16-byte accesses free of bank conflicts for the row's size.
    Auto,
    None,
    /// S<B,M,S> on byte addresses, for A and B.
    Given(i64, i64, i64),
}

/// A configuration of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// M, N and K of a block's tile, in elements.
    pub tile: [i64; 3],
    /// Warps along M and N.
    pub warps: [i64; 2],
    /// Buffers of the ring in shared memory; 1 is no pipelining.
    pub stages: i64,
    pub swizzle: SwizzleChoice,
    /// Blocks along M that are neighbours in launch order, so that they share B in L2.
    pub raster: i64,
}

impl Config {
    pub fn threads(&self) -> i64 {
        self.warps[0] * self.warps[1] * WARP
    }

    /// M and N of a warp's tile.
    pub fn warp_tile(&self) -> [i64; 2] {
        [self.tile[0] / self.warps[0], self.tile[1] / self.warps[1]]
    }

    /// The tiles of A, B and C in shared memory. Errors: a swizzle that is none.
    pub(crate) fn shared_tiles(&self) -> Result<[SharedTile; 3], String> {
        let [m, n, k] = self.tile;
        let tile = |rows, columns, choice| SharedTile::new(rows, columns, F16, choice);
        Ok([
            tile(m, k, self.swizzle)?,
            tile(n, k, self.swizzle)?,
            tile(m, n, SwizzleChoice::Auto)?,
        ])
    }

    /// Bytes of shared memory: the rings of A and B tiles, reused by the C tile, placed as cute-allocate-shared does.
    /// Errors: a swizzle that is none.
    pub fn shared_memory(&self) -> Result<i64, String> {
        let [a, b, c] = self.shared_tiles()?;
        let buffer = |tile: SharedTile, stages, position| Buffer {
            bytes: tile.ring_bytes(stages),
            align: tile.align(),
            first: position,
            last: position,
        };
        let buffers = [
            buffer(a, self.stages, 0),
            buffer(b, self.stages, 0),
            buffer(c, 1, 1),
        ];
        Ok(shared::size(&buffers, &pack(&buffers, Buffer::meets)))
    }

    /// Registers of a thread, estimated: accumulators, two sets of fragments, and addresses.
    /// ptxas needs 26 to 34 beyond accumulators and fragments in the measured configurations.
    pub fn registers(&self) -> i64 {
        let [m, n] = self.warp_tile();
        let accumulators = m * n / WARP;
        // f16 pairs of a k-slice of 16.
        let fragments = (m + n) * ATOM[2] / WARP / 2;
        accumulators + 2 * fragments + 34
    }

    /// Numbers that can be reckoned with.
    fn check_range(&self) -> Result<(), String> {
        let [m, n, k] = self.tile;
        let [wm, wn] = self.warps;
        for (name, value, most) in [
            ("tile", m.max(n).max(k), 1 << 16),
            ("warps", wm.max(wn), THREADS_PER_BLOCK / WARP),
            ("stages", self.stages, MOST_STAGES),
            ("raster", self.raster, i64::from(i32::MAX)),
        ] {
            if value > most {
                return Err(format!("{name} is at most {most}, found {value}"));
            }
        }
        if [m, n, k, wm, wn, self.stages, self.raster]
            .iter()
            .any(|v| *v < 1)
        {
            return Err("tile, warps, stages and raster are at least 1".to_owned());
        }
        Ok(())
    }

    /// Checks that the configuration fits the architecture. Errors: what does not fit, with both figures.
    pub fn check(&self, arch: Arch) -> Result<(), String> {
        let [m, n, k] = self.tile;
        let [wm, wn] = self.warps;
        self.check_range()?;
        if self.threads() > THREADS_PER_BLOCK {
            return Err(format!(
                "{wm}x{wn} warps are {} threads, a block has at most {THREADS_PER_BLOCK}",
                self.threads()
            ));
        }
        if m % (wm * ATOM[0]) != 0 || n % (wn * 2 * ATOM[1]) != 0 || k % ATOM[2] != 0 {
            return Err(format!(
                "the tile {m}x{n}x{k} is not a multiple of {}x{}x{}, which {wm}x{wn} warps of \
                 m16n8k16 with ldmatrix.x4 compute",
                wm * ATOM[0],
                wn * 2 * ATOM[1],
                ATOM[2]
            ));
        }
        for (what, rows, columns) in [("A", m, k), ("B", n, k), ("C", m, n)] {
            let (_, per_pass) = copy_threads(self.threads(), columns);
            if per_pass == 0 || rows % per_pass != 0 {
                return Err(format!(
                    "{} threads copy {} rows of the {rows}x{columns} tile of {what} at a time, \
                     which does not divide {rows}",
                    self.threads(),
                    per_pass.max(1)
                ));
            }
        }
        let limit = REGISTERS_PER_THREAD.min(REGISTERS / self.threads() / 8 * 8);
        if self.registers() > limit {
            return Err(format!(
                "{wm}x{wn} warps on {m}x{n} need about {} registers a thread, at most {limit} \
                 can be had",
                self.registers()
            ));
        }
        // Without what alignment adds, which takes longer to tell.
        let least = (self.stages * (m + n) * k * F16).max(m * n * F16);
        let most = i64::from(arch.max_smem());
        let bytes = if least > most {
            least
        } else {
            self.shared_memory()?
        };
        if bytes > most {
            return Err(format!(
                "{} stages of {m}x{n}x{k} need {bytes} bytes of shared memory, {arch} has {most}",
                self.stages
            ));
        }
        Ok(())
    }

    /// Tells whether the tile divides the problem.
    pub fn divides(&self, problem: [i64; 3]) -> bool {
        problem
            .iter()
            .zip(self.tile)
            .all(|(extent, tile)| tile > 0 && extent % tile == 0)
    }

    /// Writes the configuration as pass options.
    pub fn to_options(&self) -> String {
        let [m, n, k] = self.tile;
        let [wm, wn] = self.warps;
        format!("tile={m}x{n}x{k} warps={wm}x{wn} stages={}", self.stages)
    }

    /// Leaves it on a kernel.
    pub fn store<'c>(&self, builder: &Builder<'c>, arch: Arch) -> Result<Attribute<'c>, Failure> {
        let [m, n, k] = self.tile;
        let [wm, wn] = self.warps;
        let swizzle = match self.swizzle {
            SwizzleChoice::Auto => "auto".to_owned(),
            SwizzleChoice::None => "none".to_owned(),
            SwizzleChoice::Given(b, base, s) => format!("{b},{base},{s}"),
        };
        builder.attribute(&format!(
            "{{arch = \"{arch}\", tile = array<i64: {m}, {n}, {k}>, warps = array<i64: {wm}, {wn}>, \
             stages = {} : i64, raster = {} : i64, swizzle = \"{swizzle}\"}}",
            self.stages, self.raster
        ))
    }

    /// Reads it from a kernel.
    pub fn load(kernel: Op) -> Result<(Config, Arch), String> {
        Self::from_attribute(attribute_of(kernel, CONFIG).ok_or_else(missing)?)
    }

    /// Reads it as [`Config::load`] does; nothing where the kernel was written by hand and has none.
    pub fn load_if_any(kernel: Op) -> Result<Option<(Config, Arch)>, String> {
        attribute_of(kernel, CONFIG)
            .map(Self::from_attribute)
            .transpose()
    }

    /// Reads it from the attribute that [`Config::store`] makes.
    pub fn from_attribute(attribute: Attribute) -> Result<(Config, Arch), String> {
        let get = |name: &str| entry_of(attribute, name);
        let integers = |name: &str| -> Result<Vec<i64>, String> {
            let value = get(name).ok_or_else(missing)?;
            i64s_of(value)
                .or_else(|| Some(vec![integer_value(value)?]))
                .ok_or_else(missing)
        };
        let text = |name: &str| {
            get(name)
                .and_then(cute_ir::mlir::string_value)
                .ok_or_else(missing)
        };
        let arch = Arch::find(text("arch")?).map_err(|e| e.to_string())?;
        let config = Config {
            tile: integers("tile")?.try_into().map_err(|_| missing())?,
            warps: integers("warps")?.try_into().map_err(|_| missing())?,
            stages: *integers("stages")?.first().ok_or_else(missing)?,
            raster: *integers("raster")?.first().ok_or_else(missing)?,
            swizzle: parse_swizzle(text("swizzle")?)?,
        };
        config.check_range()?;
        Ok((config, arch))
    }
}

fn missing() -> String {
    "expected the attribute cute.config on the kernel, as cute-tile leaves it: {arch, tile, \
     warps, stages, raster, swizzle}"
        .to_owned()
}

/// Returns the way in which threads cover rows of `columns` f16 with 16-byte vectors: threads along a row, and rows
/// at a time.
pub fn copy_threads(threads: i64, columns: i64) -> (i64, i64) {
    let vectors = columns * 2 / VECTOR;
    let across = (1..=vectors.min(threads))
        .rev()
        .find(|n| vectors % n == 0 && threads % n == 0);
    across.map_or((0, 0), |across| (across, threads / across))
}

/// `128x256x32`
pub fn parse_extents<const N: usize>(name: &str, text: &str) -> Result<[i64; N], String> {
    let parts: Vec<i64> = text
        .split('x')
        .map(|part| part.parse().map_err(|_| ()))
        .collect::<Result<_, ()>>()
        .unwrap_or_default();
    parts.try_into().map_err(|_| {
        let form = if N == 3 { "128x128x32" } else { "2x2" };
        format!("expected {name} such as {form}, found '{text}'")
    })
}

/// `auto`, `none` or `B,M,S`, also written `S<B,M,S>`
pub fn parse_swizzle(text: &str) -> Result<SwizzleChoice, String> {
    let wrong = || format!("expected swizzle=auto, none or S<B,M,S>, found '{text}'");
    match text {
        "" | "auto" => Ok(SwizzleChoice::Auto),
        "none" => Ok(SwizzleChoice::None),
        _ => {
            let inner = text
                .strip_prefix("S<")
                .and_then(|t| t.strip_suffix('>'))
                .unwrap_or(text);
            let parts: Vec<i64> = inner
                .split(',')
                .map(|part| part.trim().parse().map_err(|_| wrong()))
                .collect::<Result<_, _>>()?;
            let [b, m, s] = parts[..] else {
                return Err(wrong());
            };
            if (0..4).contains(&m) {
                return Err(format!(
                    "S<{b},{m},{s}> swizzles within the {VECTOR} bytes that are copied at once; \
                     expected M of at least 4"
                ));
            }
            cute_layout::Swizzle::new(b, m, s).map_err(|error| error.to_string())?;
            Ok(SwizzleChoice::Given(b, m, s))
        }
    }
}

/// Configurations that were measured, the fastest on large problems first; `docs/performance.md`.
const TABLE: &[([i64; 3], [i64; 2], i64)] = &[
    ([128, 256, 64], [2, 4], 3),
    ([256, 128, 64], [4, 2], 3),
    ([128, 128, 64], [2, 2], 3),
    ([128, 128, 32], [2, 2], 4),
    ([128, 64, 32], [2, 2], 4),
    ([64, 128, 32], [2, 2], 4),
    ([64, 64, 32], [2, 2], 4),
    ([64, 64, 16], [2, 2], 4),
    ([32, 64, 32], [1, 2], 4),
    ([64, 32, 32], [2, 1], 4),
    ([32, 32, 32], [1, 2], 4),
    ([32, 32, 16], [1, 1], 4),
    ([16, 16, 16], [1, 1], 3),
];

fn table(raster: i64) -> impl Iterator<Item = Config> {
    TABLE.iter().map(move |&(tile, warps, stages)| Config {
        tile,
        warps,
        stages,
        swizzle: SwizzleChoice::Auto,
        raster,
    })
}

/// The parts of a configuration that were asked for; what is missing comes from the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    pub tile: Option<[i64; 3]>,
    pub warps: Option<[i64; 2]>,
    pub stages: Option<i64>,
    pub swizzle: Option<SwizzleChoice>,
    pub raster: Option<i64>,
    /// Multiprocessors of the GPU.
    pub sms: Option<i64>,
}

const DEFAULT_RASTER: i64 = 8;

impl Request {
    /// From the values of options, empty where not given.
    pub fn parse(
        tile: &str,
        warps: &str,
        stages: &str,
        swizzle: &str,
        raster: &str,
        sms: &str,
    ) -> Result<Self, String> {
        let number = |name: &str, text: &str| -> Result<Option<i64>, String> {
            match text {
                "" => Ok(None),
                _ => text
                    .parse()
                    .ok()
                    .filter(|n| *n >= 1)
                    .map(Some)
                    .ok_or_else(|| format!("expected {name}= a positive number, found '{text}'")),
            }
        };
        Ok(Self {
            tile: if tile.is_empty() {
                None
            } else {
                Some(parse_extents("tile", tile)?)
            },
            warps: if warps.is_empty() {
                None
            } else {
                Some(parse_extents("warps", warps)?)
            },
            stages: number("stages", stages)?,
            swizzle: if swizzle.is_empty() {
                None
            } else {
                Some(parse_swizzle(swizzle)?)
            },
            raster: number("raster", raster)?,
            sms: number("sms", sms)?,
        })
    }

    /// Adds what `cute.tile`, `cute.warps`, ... on an op ask for, where the options ask for nothing.
    /// Errors: a swizzle that is none; the verifier has seen to the forms of the others.
    pub fn or_attributes(mut self, op: Op) -> Result<Self, String> {
        let array = |name: &str| -> Option<Vec<i64>> { attribute_of(op, name).and_then(i64s_of) };
        self.tile = self.tile.or_else(|| array(TILE)?.try_into().ok());
        self.warps = self.warps.or_else(|| array(WARPS)?.try_into().ok());
        self.stages = self.stages.or_else(|| integer_of(op, STAGES));
        self.raster = self.raster.or_else(|| integer_of(op, RASTER));
        if self.swizzle.is_none()
            && let Some(text) = string_of(op, SWIZZLE)
        {
            self.swizzle = Some(parse_swizzle(text)?);
        }
        Ok(self)
    }

    /// A configuration for the problem M, N, K, or why there is none and one that would do.
    pub fn resolve(&self, problem: [i64; 3], arch: Arch) -> Result<Config, String> {
        let fits = |config: &Config| config.divides(problem) && config.check(arch).is_ok();
        let raster = self.raster.unwrap_or(DEFAULT_RASTER);
        let complete = |base: Config| Config {
            tile: self.tile.unwrap_or(base.tile),
            warps: self.warps.unwrap_or(base.warps),
            stages: self.stages.unwrap_or(base.stages),
            swizzle: self.swizzle.unwrap_or(base.swizzle),
            raster,
        };
        let mut candidates = table(raster).map(complete).filter(fits).collect::<Vec<_>>();
        if candidates.is_empty() && self.stages.is_none() {
            // With fewer buffers than were measured to be best.
            let fewer = |base: Config| {
                (2..base.stages)
                    .rev()
                    .map(move |stages| Config { stages, ..base })
            };
            candidates = table(raster)
                .map(complete)
                .flat_map(fewer)
                .filter(fits)
                .collect();
        }
        // With nothing left open the candidates are all the same.
        if self.tile.is_none() && self.warps.is_none() {
            let sms = self.sms.unwrap_or_else(|| arch.multiprocessors().into());
            prefer_full_waves(&mut candidates, problem, sms);
        }
        if let Some(config) = candidates.first() {
            return Ok(*config);
        }
        let asked = complete(table(raster).next().expect("the table is not empty"));
        let mut reason = match asked.check(arch) {
            Err(reason) => reason,
            Ok(()) => {
                let [m, n, k] = problem;
                let [tm, tn, tk] = asked.tile;
                format!(
                    "the tile {tm}x{tn}x{tk} does not divide the problem {m}x{n}x{k}; tails are not supported yet"
                )
            }
        };
        match self.alternative(asked, problem, arch) {
            Some(config) => reason += &format!("; {} fits", config.to_options()),
            None if asked.divides(problem) && matches!(asked.swizzle, SwizzleChoice::Given(..)) => {
                reason += "; nothing fits with this swizzle, whose period is the alignment of each buffer: take a shorter \
                           one, or swizzle=auto";
            }
            None => {
                reason += "; no tile divides it: pad M, N and K to multiples of 16, better of 128";
            }
        }
        Err(reason)
    }

    /// The configuration of the same problem with the next fewer registers that fits.
    pub fn lighter(&self, asked: Config, arch: Arch) -> Option<Config> {
        let swizzled = |config| Config {
            swizzle: asked.swizzle,
            ..config
        };
        let warps = [[2, 2], [2, 4], [4, 2], [4, 4]].map(|warps| Config { warps, ..asked });
        warps
            .into_iter()
            .chain(table(asked.raster).map(swizzled))
            .filter(|config| {
                asked
                    .tile
                    .iter()
                    .zip(config.tile)
                    .all(|(old, new)| old % new == 0)
                    && config.registers() < asked.registers()
                    && config.check(arch).is_ok()
            })
            .max_by_key(Config::registers)
    }

    /// A configuration that fits, as near to what was asked for as can be.
    pub fn alternative(&self, asked: Config, problem: [i64; 3], arch: Arch) -> Option<Config> {
        let fits = |config: &Config| config.divides(problem) && config.check(arch).is_ok();
        // More buffers than that never fit.
        let most = asked.stages.clamp(1, 64);
        let stages = (1..=most).rev().map(|stages| Config { stages, ..asked });
        // What is named keeps what it does not name.
        let swizzled = |config| Config {
            swizzle: asked.swizzle,
            ..config
        };
        let warps = [
            [2, 2],
            [2, 4],
            [4, 2],
            [4, 4],
            [1, 2],
            [2, 1],
            [1, 4],
            [4, 1],
            [1, 1],
        ]
        .into_iter()
        .flat_map(|warps| {
            (1..=most).rev().map(move |stages| Config {
                warps,
                stages,
                ..asked
            })
        });
        stages
            .chain(warps)
            .chain(table(asked.raster).map(swizzled))
            .filter(|config| *config != asked)
            .find(fits)
    }
}

/// Puts the configurations first that leave fewer of `sms` multiprocessors idle, where the grid is small.
///
/// A grid on more than half of them is not: tiles of half the size would be two for some multiprocessor, which takes as
/// long as one of the whole size, and longer (`docs/performance.md` has the times).
fn prefer_full_waves(candidates: &mut [Config], problem: [i64; 3], sms: i64) {
    let blocks = |c: &Config| (problem[0] / c.tile[0]) * (problem[1] / c.tile[1]);
    candidates.sort_by_key(|config| match blocks(config) {
        enough if 2 * enough > sms => 0,
        few => sms - few,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_target::Requirement;

    fn arch(name: &str) -> Arch {
        Arch::find(name).unwrap()
    }

    #[test]
    fn the_number_of_multiprocessors_decides_where_the_grid_is_small() {
        let tile = |sms| {
            let request = Request {
                sms,
                ..Request::default()
            };
            request
                .resolve([1024, 1024, 1024], arch("sm_90a"))
                .unwrap()
                .tile
        };
        assert_eq!(tile(Some(16)), [128, 256, 64]);
        assert_eq!(tile(Some(64)), [128, 128, 64]);
        assert_eq!(tile(Some(127)), [128, 128, 64]);
        assert_eq!(tile(Some(128)), [128, 64, 32]);
        assert_eq!(tile(None), tile(Some(132)));
    }

    #[test]
    fn every_entry_of_the_table_fits_every_architecture_somehow() {
        for config in table(DEFAULT_RASTER) {
            for arch in Requirement::Since(8, 0).archs() {
                let request = Request {
                    tile: Some(config.tile),
                    warps: Some(config.warps),
                    ..Request::default()
                };
                assert!(
                    request.resolve(config.tile, arch).is_ok(),
                    "{config:?} {arch}"
                );
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_answered_with_what_does() {
        let request = Request {
            tile: Some([256, 256, 64]),
            warps: Some([2, 2]),
            stages: Some(4),
            ..Request::default()
        };
        let error = request
            .resolve([4096, 4096, 4096], arch("sm_90a"))
            .unwrap_err();
        let (_, cure) = error.rsplit_once("; ").unwrap();
        let cure = cure.strip_suffix(" fits").unwrap();
        let value = |name: &str| {
            cure.split(' ')
                .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
                .unwrap()
        };
        let cured =
            Request::parse(value("tile"), value("warps"), value("stages"), "", "", "").unwrap();
        assert!(
            cured.resolve([4096, 4096, 4096], arch("sm_90a")).is_ok(),
            "{error}"
        );
    }

    #[test]
    fn cures_have_room_for_the_swizzle_that_was_asked_for() {
        let arch = arch("sm_120");
        for (tile, swizzle) in [
            ([160, 16, 48], "S<3,4,4>"),
            ([96, 64, 96], "S<4,5,-7>"),
            ([64, 64, 32], "S<1,5,-7>"),
            ([16, 16, 48], "S<3,4,-3>"),
        ] {
            let mut asked = Request {
                tile: Some(tile),
                warps: Some([1, 1]),
                stages: Some(64),
                swizzle: Some(parse_swizzle(swizzle).unwrap()),
                ..Request::default()
            };
            let problem = tile.map(|extent| 3 * extent);
            // Each cure is asked for, until there is nothing to cure; the first one is right.
            let Err(error) = asked.resolve(problem, arch) else {
                panic!("64 stages of {tile:?} fit");
            };
            let Some((_, cure)) = error.rsplit_once("; tile=") else {
                assert!(error.contains("nothing fits with this swizzle"), "{error}");
                continue;
            };
            let value = |name: &str| {
                let cure = format!("tile={}", cure.trim_end_matches(" fits"));
                let found = cure
                    .split(' ')
                    .find_map(|part| Some(part.strip_prefix(name)?.strip_prefix('=')?.to_owned()));
                found.unwrap()
            };
            asked.tile = Some(parse_extents("tile", &value("tile")).unwrap());
            asked.warps = Some(parse_extents("warps", &value("warps")).unwrap());
            asked.stages = value("stages").parse().ok();
            assert!(asked.resolve(problem, arch).is_ok(), "{error}");
        }
    }

    #[test]
    fn a_tile_that_does_not_divide_is_an_error() {
        let request = Request {
            tile: Some([128, 128, 32]),
            ..Request::default()
        };
        let error = request
            .resolve([4096, 4000, 4096], arch("sm_80"))
            .unwrap_err();
        assert!(
            error.contains("does not divide the problem 4096x4000x4096"),
            "{error}"
        );
        let error = Request::default()
            .resolve([1000, 1000, 1001], arch("sm_80"))
            .unwrap_err();
        assert!(error.contains("pad M, N and K"), "{error}");
    }

    #[test]
    fn threads_cover_rows() {
        assert_eq!(copy_threads(128, 32), (4, 32));
        assert_eq!(copy_threads(128, 64), (8, 16));
        assert_eq!(copy_threads(256, 16), (2, 128));
        assert_eq!(copy_threads(32, 96), (4, 8));
    }
}

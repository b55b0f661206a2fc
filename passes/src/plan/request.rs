//! The wishes for a plan: of options, and of attributes on the op.

use cute_ir::attributes::{RASTER, STAGES, SWIZZLE, TILE, WARPS};
use cute_ir::mlir::*;
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

/// The parts of a plan that were asked for; what is missing is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// M, N and K of a block's tile.
    pub tile: Option<[i64; 3]>,
    /// Warps along M and N.
    pub warps: Option<[i64; 2]>,
    /// Buffers of the ring in shared memory.
    pub stages: Option<i64>,
    /// The swizzle of shared memory.
    pub swizzle: Option<SwizzleChoice>,
    /// Blocks along M that are neighbours in launch order.
    pub raster: Option<i64>,
    /// Multiprocessors of the GPU.
    pub sms: Option<i64>,
}

impl Request {
    /// Reads the values of options, empty where not given. Errors: a value that cannot be read.
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

    /// The first part of a plan that is asked for, by its name; none where all is left open.
    pub fn first(&self) -> Option<&'static str> {
        let parts = [
            ("tile", self.tile.is_some()),
            ("warps", self.warps.is_some()),
            ("stages", self.stages.is_some()),
            ("swizzle", self.swizzle.is_some()),
            ("raster", self.raster.is_some()),
        ];
        let asked = parts.into_iter().find(|(_, asked)| *asked);
        asked.map(|(name, _)| name)
    }
}

/// Reads extents such as `128x256x32`. Errors: another form, or another number of them.
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

/// Reads `auto`, `none` or `B,M,S`, also written `S<B,M,S>`. Errors: another form; a swizzle that is none.
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
            let swizzle = Swizzle::new(b, m, s).map_err(|error| error.to_string())?;
            Ok(SwizzleChoice::Given(swizzle))
        }
    }
}

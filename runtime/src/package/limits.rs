//! The limits that CUDA sets to a launch, and the sizes of one for some arguments.

use super::expr::{Environment, Expr};
use super::manifest::{Function, Launch, Param};

/// The limits that CUDA sets to a launch on any GPU of compute capability 7.0 to 12.x.
/// (CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".)
pub struct Limits;

impl Limits {
    /// The most threads of a block along x, y and z.
    pub const BLOCK: [u32; 3] = [1024, 1024, 64];
    /// The most threads of a block, over all three axes.
    pub const THREADS_PER_BLOCK: u64 = cute_target::THREADS_PER_BLOCK as u64;
    /// The most blocks of a grid along x, y and z.
    pub const GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
    /// Blocks of a cluster with the opt-in for non-portable cluster sizes.
    pub const BLOCKS_PER_CLUSTER: u64 = 16;
    /// 227 KiB, bytes a block on 9.0 and 10.0; less elsewhere, which the device checks.
    pub const DYNAMIC_SMEM: u32 = 232_448;
    /// Bytes. No kernel needs more than the allocator of the driver gives.
    pub const ALIGN: u32 = 256;
    /// The most bytes of a workspace, far more than a GPU has.
    pub const WORKSPACE: u64 = 1 << 40;
}

/// The sizes of a launch, known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub dynamic_smem: u32,
    /// Tells whether blocks may start while what is before in the stream still runs.
    pub dependent: bool,
}

impl Sizes {
    /// Makes sizes of numbers that were computed.
    ///
    /// # Errors
    /// As [`Sizes::check`].
    pub(crate) fn new(
        grid: [i64; 3],
        block: [i64; 3],
        cluster: [u32; 3],
        dynamic_smem: i64,
    ) -> Result<Sizes, [String; 3]> {
        let fits = |what: &str, sizes: [i64; 3], limits: [u32; 3]| {
            let inside = |(size, limit): (i64, u32)| (1..=i64::from(limit)).contains(&size);
            if sizes.into_iter().zip(limits).all(inside) {
                return Ok(sizes.map(|size| size as u32));
            }
            let expected = format!("a {what} from [1, 1, 1] to {limits:?}");
            Err([expected, format!("{sizes:?}"), String::new()])
        };
        let block = fits("block", block, Limits::BLOCK)?;
        let grid = fits("grid", grid, Limits::GRID)?;
        let smem = u32::try_from(dynamic_smem).ok();
        let Some(dynamic_smem) = smem.filter(|bytes| *bytes <= Limits::DYNAMIC_SMEM) else {
            return Err([
                format!(
                    "at most {} bytes of dynamic shared memory",
                    Limits::DYNAMIC_SMEM
                ),
                dynamic_smem.to_string(),
                "choose smaller tiles or fewer stages".into(),
            ]);
        };
        let sizes = Sizes {
            grid,
            block,
            cluster,
            dynamic_smem,
            dependent: false,
        };
        sizes.check()?;
        Ok(sizes)
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u64 {
        volume(self.block)
    }

    fn check(&self) -> Result<(), [String; 3]> {
        let threads = self.threads();
        if threads > Limits::THREADS_PER_BLOCK {
            return Err([
                "at most 1024 threads in a block".into(),
                threads.to_string(),
                "choose a smaller block".into(),
            ]);
        }
        check_cluster(self.cluster)?;
        let whole = self
            .grid
            .iter()
            .zip(self.cluster)
            .all(|(grid, cluster)| grid % cluster == 0);
        if !whole {
            return Err([
                format!(
                    "a grid that is a multiple of the cluster {:?}",
                    self.cluster
                ),
                format!("{:?}", self.grid),
                String::new(),
            ]);
        }
        Ok(())
    }
}

/// Checks that a cluster has no more blocks than it can have.
pub(super) fn check_cluster(cluster: [u32; 3]) -> Result<(), [String; 3]> {
    if (1..=Limits::BLOCKS_PER_CLUSTER).contains(&volume(cluster)) {
        return Ok(());
    }
    Err([
        "a cluster of 1 to 16 blocks".into(),
        format!("{cluster:?}"),
        String::new(),
    ])
}

fn volume(sizes: [u32; 3]) -> u64 {
    sizes
        .iter()
        .fold(1u64, |volume, &size| volume.saturating_mul(u64::from(size)))
}

/// The reason why a launch has no sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SizesError {
    /// They depend on arguments that were not given.
    Unknown,
    /// The sizes are beyond a limit: what is expected, what was found, and the cure.
    Limits([String; 3]),
    /// The operation that has no result.
    Arithmetic(String),
}

impl std::fmt::Display for SizesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SizesError::Unknown => f.write_str("its sizes depend on arguments that are not known"),
            SizesError::Arithmetic(message) => f.write_str(message),
            SizesError::Limits([expected, found, cure]) => {
                write!(f, "expected {expected}, found {found}")?;
                if cure.is_empty() {
                    Ok(())
                } else {
                    write!(f, "; {cure}")
                }
            }
        }
    }
}

/// Tells whether a part of an expression suits.
fn any(expr: &Expr, suits: fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= suits(part));
    found
}

fn is_open(expr: &Expr) -> bool {
    any(expr, |part| {
        matches!(
            part,
            Expr::Leaf(..) | Expr::Scalar(_) | Expr::SmCount | Expr::Value(_)
        )
    })
}

fn asks_device(expr: &Expr) -> bool {
    any(expr, |part| matches!(part, Expr::SmCount))
}

impl Function {
    /// Tells whether anything of it depends on the device that runs it.
    pub fn asks_device(&self) -> bool {
        let conditions = self.requires.iter().map(|required| &required.condition);
        // Of what a value is used for is not asked.
        let all = conditions.chain(&self.workspace).chain(&self.values);
        all.into_iter().any(asks_device) || self.launches.iter().any(Launch::asks_device)
    }
}

impl Launch {
    /// Tells whether its sizes, and that it takes place, are the same for all arguments and devices.
    pub fn is_fixed(&self) -> bool {
        self.has_fixed_sizes() && !self.when.as_ref().is_some_and(is_open)
    }

    fn has_fixed_sizes(&self) -> bool {
        let sizes = self.grid.iter().chain(&self.block);
        !sizes.chain([&self.dynamic_smem]).any(is_open)
    }

    /// Tells whether it takes place for no arguments.
    pub(crate) fn is_never(&self) -> bool {
        self.when.as_ref().and_then(Expr::constant) == Some(0)
    }

    /// Tells whether anything of it depends on the device that runs it.
    pub fn asks_device(&self) -> bool {
        let params = self.params.iter().flat_map(|param| match param {
            Param::Integer(value, _)
            | Param::Workspace(value)
            | Param::Byte { offset: value, .. } => vec![value],
            Param::TensorMap(map) => map.expressions().collect(),
            _ => Vec::new(),
        });
        let sizes = self.grid.iter().chain(&self.block);
        let all = sizes.chain([&self.dynamic_smem]).chain(params);
        all.chain(&self.when).any(asks_device)
    }

    /// Its sizes for some arguments.
    pub(crate) fn sizes(&self, environment: &Environment) -> Result<Sizes, SizesError> {
        let known = !environment.scalars.is_empty() || self.has_fixed_sizes();
        if !known {
            return Err(SizesError::Unknown);
        }
        let value = |what: &str, expr: &Expr| {
            let value = expr.evaluate(environment);
            value.map_err(|error| SizesError::Arithmetic(format!("{what}: {error}")))
        };
        let three = |what: &str, exprs: &[Expr; 3]| {
            let [x, y, z] = exprs;
            Ok([value(what, x)?, value(what, y)?, value(what, z)?])
        };
        let (grid, block) = (three("grid", &self.grid)?, three("block", &self.block)?);
        let smem = value("dynamic_smem", &self.dynamic_smem)?;
        Sizes::new(grid, block, self.cluster, smem).map_err(SizesError::Limits)
    }
}

//! What holds of every package in memory:
//!
//! 1. every blob starts at a multiple of 16 and lies within the blob section;
//! 2. every image has PTX or a cubin, and an architecture that can be read; PTX is not checked
//!    beyond its bounds;
//! 3. names of functions, of arguments in a function, and of kernels in an image are unique;
//! 4. every layout and element type can be read; every alignment is a power of two and at least one
//!    element;
//! 5. every index of an argument is in range;
//! 6. every launch is within what CUDA allows, and its kernel is in every image, with as many
//!    parameters;
//! 7. the shapes of a `gemm` fit: A (M,K), B (N,K), C (M,N); C is written, and is neither A nor B.

use std::collections::HashSet;

use super::PackageError;
use super::manifest::{Arg, Blob, Compute, Function, Image, Launch, Manifest};
use crate::arch::Arch;
use crate::element::Element;
use crate::layout::Parsed;

/// What CUDA allows of a launch on any GPU of compute capability 7.0 to 12.x.
/// (CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".)
pub struct Limits;

impl Limits {
    pub const BLOCK: [u32; 3] = [1024, 1024, 64];
    pub const THREADS_PER_BLOCK: u64 = cute_layout::sm::THREADS_PER_BLOCK as u64;
    pub const GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
    /// With the opt-in for non-portable cluster sizes.
    pub const BLOCKS_PER_CLUSTER: u64 = 16;
    /// 227 KiB, bytes a block on 9.0 and 10.0; less elsewhere, which the device checks.
    pub const DYNAMIC_SMEM: u32 = 232_448;
    /// Bytes. No kernel needs more than the allocator of the driver gives.
    pub const ALIGN: u32 = 256;
}

type Checked<T = ()> = Result<T, PackageError>;

pub(super) fn validate(manifest: &Manifest, blob_bytes: u64) -> Checked {
    unique(
        "images",
        manifest.images.iter().map(|image| image.arch.as_str()),
    )?;
    for image in &manifest.images {
        validate_image(image, blob_bytes)?;
    }
    unique(
        "functions",
        manifest
            .functions
            .iter()
            .map(|function| function.name.as_str()),
    )?;
    for function in &manifest.functions {
        validate_function(function, &manifest.images)?;
    }
    Ok(())
}

fn invalid<T>(
    place: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
    cure: &str,
) -> Checked<T> {
    Err(PackageError::Invalid {
        place: place.into(),
        expected: expected.into(),
        found: found.into(),
        cure: cure.to_string(),
    })
}

fn unique<'a>(place: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = HashSet::new();
    for name in names {
        if name.is_empty() {
            return invalid(place, "a name for each", "an empty name", "");
        }
        if !seen.insert(name) {
            return invalid(place, "each name once", format!("`{name}` twice"), "");
        }
    }
    Ok(())
}

fn validate_image(image: &Image, blob_bytes: u64) -> Checked {
    let place = format!("image {}", image.arch);
    if let Err(error) = image.arch.parse::<Arch>() {
        return invalid(
            "images",
            "an architecture such as sm_80 or sm_90a",
            error.to_string(),
            "",
        );
    }
    if image.ptx.is_none() && image.cubin.is_none() {
        return invalid(place, "PTX or a cubin", "neither", "");
    }
    for (what, blob) in [("PTX", image.ptx), ("cubin", image.cubin)] {
        if let Some(blob) = blob {
            validate_blob(&format!("{place}, {what}"), blob, blob_bytes)?;
        }
    }
    unique(
        &format!("{place}, kernels"),
        image.kernels.iter().map(|kernel| kernel.name.as_str()),
    )
}

fn validate_blob(place: &str, blob: Blob, blob_bytes: u64) -> Checked {
    let end = blob.offset.checked_add(blob.length);
    if end.is_none_or(|end| end > blob_bytes) {
        let found = format!("{} bytes at {}", blob.length, blob.offset);
        return invalid(
            place,
            format!("a range within the {blob_bytes} bytes of blobs"),
            found,
            "",
        );
    }
    if blob.length == 0 {
        return invalid(place, "at least one byte", "none", "");
    }
    if !blob.offset.is_multiple_of(super::BLOB_ALIGN as u64) {
        return invalid(
            place,
            "an offset that is a multiple of 16",
            blob.offset.to_string(),
            "",
        );
    }
    Ok(())
}

fn validate_function(function: &Function, images: &[Image]) -> Checked {
    let place = format!("function {}", function.name);
    unique(
        &format!("{place}, arguments"),
        function.args.iter().map(Arg::name),
    )?;
    for arg in &function.args {
        validate_arg(&place, arg)?;
    }
    for (i, launch) in function.launches.iter().enumerate() {
        validate_launch(
            &format!("{place}, launch {i} ({})", launch.kernel),
            launch,
            function,
            images,
        )?;
    }
    for (i, compute) in function.computes.iter().enumerate() {
        validate_compute(&format!("{place}, compute {i}"), compute, function)?;
    }
    Ok(())
}

fn validate_arg(function: &str, arg: &Arg) -> Checked {
    let Arg::Tensor {
        name,
        element,
        layout,
        align,
        ..
    } = arg;
    let place = format!("{function}, argument {name}");
    let element = match element.parse::<Element>() {
        Ok(element) => element,
        Err(error) => return invalid(place, "an element type", error.to_string(), ""),
    };
    if let Err(error) = Parsed::parse(layout) {
        return invalid(
            place,
            "a static layout",
            error.to_string(),
            "compile for static shapes",
        );
    }
    let least = element.size() as u32;
    if !align.is_power_of_two() || *align < least || *align > Limits::ALIGN {
        let expected = format!(
            "an alignment that is a power of two from {least} to {} bytes",
            Limits::ALIGN
        );
        return invalid(place, expected, align.to_string(), "");
    }
    Ok(())
}

fn index_in_range(place: &str, index: usize, function: &Function) -> Checked {
    if index < function.args.len() {
        return Ok(());
    }
    let expected = format!("an argument index below {}", function.args.len());
    invalid(place, expected, index.to_string(), "")
}

fn validate_launch(place: &str, launch: &Launch, function: &Function, images: &[Image]) -> Checked {
    for &index in &launch.args {
        index_in_range(place, index, function)?;
    }
    for (what, sizes, limits) in [
        ("block", launch.block, Limits::BLOCK),
        ("grid", launch.grid, Limits::GRID),
    ] {
        if sizes
            .iter()
            .zip(limits)
            .any(|(&size, limit)| size == 0 || size > limit)
        {
            let expected = format!("a {what} from [1, 1, 1] to {limits:?}");
            return invalid(place, expected, format!("{sizes:?}"), "");
        }
    }
    let threads = volume(launch.block);
    if threads > Limits::THREADS_PER_BLOCK {
        return invalid(
            place,
            "at most 1024 threads in a block",
            format!("{threads}"),
            "choose a smaller block",
        );
    }
    let cluster = volume(launch.cluster);
    if cluster == 0 || cluster > Limits::BLOCKS_PER_CLUSTER {
        return invalid(
            place,
            "a cluster of 1 to 16 blocks",
            format!("{:?}", launch.cluster),
            "",
        );
    }
    if launch
        .grid
        .iter()
        .zip(launch.cluster)
        .any(|(&grid, cluster)| grid % cluster != 0)
    {
        let expected = format!(
            "a grid that is a multiple of the cluster {:?}",
            launch.cluster
        );
        return invalid(place, expected, format!("{:?}", launch.grid), "");
    }
    if launch.dynamic_smem > Limits::DYNAMIC_SMEM {
        let expected = format!(
            "at most {} bytes of dynamic shared memory",
            Limits::DYNAMIC_SMEM
        );
        return invalid(
            place,
            expected,
            launch.dynamic_smem.to_string(),
            "choose smaller tiles or fewer stages",
        );
    }
    for image in images {
        let Some(kernel) = image
            .kernels
            .iter()
            .find(|kernel| kernel.name == launch.kernel)
        else {
            let found: Vec<_> = image
                .kernels
                .iter()
                .map(|kernel| kernel.name.as_str())
                .collect();
            let found = if found.is_empty() {
                "none".into()
            } else {
                found.join(", ")
            };
            return invalid(
                place,
                format!("the kernel in image {}", image.arch),
                found,
                "",
            );
        };
        if !kernel.params.is_empty() && kernel.params.len() != launch.args.len() {
            let expected = format!(
                "{} arguments, the parameters of {}",
                kernel.params.len(),
                kernel.name
            );
            return invalid(place, expected, launch.args.len().to_string(), "");
        }
        if kernel.max_threads != 0 && threads > u64::from(kernel.max_threads) {
            let expected = format!(
                "at most {} threads, the .maxntid of {}",
                kernel.max_threads, kernel.name
            );
            return invalid(place, expected, threads.to_string(), "");
        }
    }
    Ok(())
}

fn volume(sizes: [u32; 3]) -> u64 {
    sizes
        .iter()
        .fold(1u64, |volume, &size| volume.saturating_mul(u64::from(size)))
}

fn validate_compute(place: &str, compute: &Compute, function: &Function) -> Checked {
    let Compute::Gemm {
        a,
        b,
        c,
        accumulate,
        tolerance,
    } = compute;
    for &index in [a, b, c] {
        index_in_range(place, index, function)?;
    }
    if let Err(error) = accumulate.parse::<Element>() {
        return invalid(place, "an accumulator type", error.to_string(), "");
    }
    if tolerance.is_some_and(|t| !(t.is_finite() && t >= 0.0)) {
        return invalid(
            place,
            "a tolerance that is zero or positive",
            format!("{tolerance:?}"),
            "",
        );
    }
    if !function.args[*c].access().writes() {
        return invalid(
            place,
            "C to be written",
            format!("{} is only read", function.args[*c].name()),
            "",
        );
    }
    if a == c || b == c {
        let found = format!("{} for both", function.args[*c].name());
        return invalid(place, "C to be another argument than A and B", found, "");
    }
    gemm_shape(place, function, [*a, *b, *c]).map(|_| ())
}

/// M, N and K of a `gemm` whose A, B and C are the arguments with those indices.
///
/// # Errors
/// [`PackageError::Invalid`] if the tensors are not A (M,K), B (N,K), C (M,N).
pub fn gemm_shape(
    place: &str,
    function: &Function,
    indices: [usize; 3],
) -> Result<[i64; 3], PackageError> {
    let mut shapes = [[0; 2]; 3];
    for (shape, index) in shapes.iter_mut().zip(indices) {
        index_in_range(place, index, function)?;
        let Arg::Tensor { name, layout, .. } = &function.args[index];
        let parsed = match Parsed::parse(layout) {
            Ok(parsed) => parsed,
            Err(error) => return invalid(place, "a static layout", error.to_string(), ""),
        };
        *shape = match parsed.shape().try_into() {
            Ok(shape) => shape,
            Err(_) => return invalid(place, format!("{name} with two modes"), layout.clone(), ""),
        };
    }
    let [[m, k], [n, bk], [cm, cn]] = shapes;
    if k != bk || m != cm || n != cn {
        let found = format!("A ({m},{k}), B ({n},{bk}), C ({cm},{cn})");
        return invalid(
            place,
            "A (M,K), B (N,K), C (M,N)",
            found,
            "B has its N mode first, as in CuTe",
        );
    }
    Ok([m, n, k])
}

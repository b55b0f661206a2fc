mod candidates;
mod dynamic;
mod epilogue;
mod map;
mod places;
mod prologue;
mod tensor_map;
mod views;
mod workspace;

use cute_runtime::package::*;
use serde_json::Value;

/// A package with every kind of field: two images, one function, one gemm.
pub fn sample() -> Package {
    sample_builder(sample_function()).build().unwrap()
}

fn aligned(name: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: "f16".into(),
        layout: layout.into(),
        align: 16,
        access,
    }
}

/// A tensor that is aligned by 8 bytes.
pub fn tensor(name: &str, element: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 8,
        access,
    }
}

/// A step of coordinates.
pub fn step(extent: i64, by: i64, along: usize) -> Step {
    Step {
        extent: Expr::Constant(extent),
        by: Expr::Constant(by),
        along,
    }
}

/// A package of a function alone.
pub fn build(function: Function) -> Result<Package, PackageError> {
    Package::builder("test").function(function).build()
}

/// The manifest as the bytes of a package have it.
pub fn manifest(package: &Package) -> Value {
    let bytes = package.to_bytes().unwrap();
    let length = u32::from_le_bytes(bytes[20..24].try_into().unwrap());
    serde_json::from_slice(&bytes[HEADER_LENGTH..][..length as usize]).unwrap()
}

/// A function that computes what a text says, which nothing else of it has to fit.
pub fn computing(compute: &str) -> Result<Function, String> {
    let text = format!(r#"{{"name": "f", "args": [], "launches": [], "computes": [{compute}]}}"#);
    Function::from_json(&text).map_err(|error| error.to_string())
}

/// An operation of a region as a text says it.
pub fn operation(op: &str) -> Result<RegionOp, String> {
    let map =
        format!(r#"{{"kind": "map", "outputs": [0], "region": {{"ops": [{op}], "yields": [0]}}}}"#);
    match computing(&map)?.computes.remove(0) {
        Compute::Map(mut map) => Ok(map.region.ops.remove(0)),
        other => Err(format!("expected a map, found {other:?}")),
    }
}

/// A package of a function, which reads back as it was written, and what its manifest says that the function computes.
#[track_caller]
pub fn round_trip(function: Function) -> (Package, Value) {
    let package = build(function).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    let json = manifest(&package);
    let computes = json["functions"][0]["computes"][0].clone();
    (package, computes)
}

fn sample_function() -> Function {
    Function::new(
        "gemm",
        vec![
            aligned("A", "(8,4):(4,1)", Access::Read),
            aligned("B", "(6,4):(4,1)", Access::Read),
            aligned("C", "(8,6):(6,1)", Access::Write),
        ],
        vec![Launch {
            cluster: [2, 1, 1],
            ..Launch::fixed("gemm_kernel", [2, 1, 1], [128, 1, 1], 49152, 0..3)
        }],
    )
    .computing(vec![Compute::Gemm(Gemm {
        tolerance: Some(1e-3),
        ..Gemm::new(0, 1, 2, "f32")
    })])
}

fn sample_builder(function: Function) -> PackageBuilder {
    let kernel = KernelInfo {
        name: "gemm_kernel".into(),
        registers: 168,
        dynamic_smem: 49152,
        threads: 128,
        max_threads: 128,
        params: vec![".u64".into(); 3],
        ..KernelInfo::default()
    };
    let image = |arch: &str| ImageSource {
        arch: arch.into(),
        ptx: Some(".version 9.0\n".into()),
        cubin: Some(b"\x7fELF and so on".to_vec()),
        kernels: vec![kernel.clone()],
    };
    Package::builder("test 1.0")
        .function(function)
        .image(image("sm_80"))
        .image(image("sm_90a"))
}

#[test]
fn packages_round_trip() {
    let package = sample();
    let bytes = package.to_bytes().unwrap();
    let read = Package::from_bytes(&bytes).unwrap();
    assert_eq!(read, package);
    assert_eq!(read.to_bytes().unwrap(), bytes);
    let image = &read.manifest().images[1];
    assert_eq!(read.blob(&image.ptx.unwrap()), b".version 9.0\n");
    assert_eq!(read.blob(&image.cubin.unwrap()), b"\x7fELF and so on");
}

#[test]
fn header_is_as_documented() {
    let bytes = sample().to_bytes().unwrap();
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(bytes[..8], *b"CUTEPKG\0");
    assert_eq!(u32_at(8), 3);
    assert_eq!(
        u64::from_le_bytes(bytes[12..20].try_into().unwrap()),
        bytes.len() as u64
    );
    let manifest_end = 32 + u32_at(20) as usize;
    assert!(serde_json::from_slice::<Value>(&bytes[32..manifest_end]).is_ok());
    assert_eq!(u32_at(24), crc32fast::hash(&bytes[32..]));
    assert_eq!(u32_at(28), crc32fast::hash(&bytes[..28]));
    assert_eq!(
        bytes[manifest_end.next_multiple_of(16)..][..13],
        *b".version 9.0\n"
    );
}

#[test]
fn every_prefix_is_refused() {
    let bytes = sample().to_bytes().unwrap();
    for length in 1..bytes.len() {
        let error = Package::from_bytes(&bytes[..length]).unwrap_err();
        let PackageError::Truncated { found, expected } = error else {
            panic!("{length}: {error}")
        };
        assert_eq!(found, length as u64);
        assert_eq!(expected, if length < 32 { 32 } else { bytes.len() as u64 });
    }
    assert!(matches!(
        Package::from_bytes(b""),
        Err(PackageError::Foreign { .. })
    ));
}

#[test]
fn every_bit_flip_is_refused() {
    let bytes = sample().to_bytes().unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(
                Package::from_bytes(&damaged).is_err(),
                "byte {at}, bit {bit}"
            );
        }
    }
}

#[test]
fn foreign_files_and_other_versions_are_named() {
    let says = |bytes: &[u8]| Package::from_bytes(bytes).unwrap_err().to_string();
    assert!(says(b"\x7fELF\x02\x01\x01 and more").contains("a bare cubin?"));
    assert!(says(b".version 9.0").contains("found `.version`"));
    assert!(says(b"").contains("an empty file"));
    let with_version = |version: u32| {
        let mut bytes = sample().to_bytes().unwrap();
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        says(&bytes)
    };
    assert!(
        with_version(4).contains("version 4 is newer than version 3"),
        "{}",
        with_version(4)
    );
    assert!(
        with_version(2).contains("version 2 is older than version 3"),
        "{}",
        with_version(2)
    );
    let mut longer = sample().to_bytes().unwrap();
    longer.push(0);
    assert!(matches!(
        Package::from_bytes(&longer),
        Err(PackageError::TooLong { .. })
    ));
}

#[test]
fn manifest_length_beyond_the_file_is_refused() {
    let mut bytes = sample().to_bytes().unwrap();
    bytes[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[..28]);
    bytes[28..32].copy_from_slice(&checksum.to_le_bytes());
    assert!(matches!(
        Package::from_bytes(&bytes),
        Err(PackageError::Truncated { .. })
    ));
}

/// Another product of the sample's tensors, and the error that it is.
#[track_caller]
pub fn says_of(gemm: Gemm, says: &str) {
    refused(|f| f.computes = vec![Compute::Gemm(gemm)], says);
}

/// Changes the sample's function and expects an error that says `says`.
#[track_caller]
pub fn refused(change: impl FnOnce(&mut Function), says: &str) {
    let mut function = sample_function();
    change(&mut function);
    let error = sample_builder(function).build().unwrap_err().to_string();
    assert!(error.contains(says), "{error}");
}

#[test]
fn functions_that_cannot_be_are_refused() {
    refused(
        |f| f.launches[0].params[1] = Param::Pointer(3),
        "expected an argument index below 3, found 3",
    );
    refused(
        |f| f.launches[0].params.truncate(2),
        "expected 3 arguments, the parameters of gemm_kernel, found 2",
    );
    refused(
        |f| f.launches[0].grid = Expr::all([0, 1, 1]),
        "expected a grid from [1, 1, 1]",
    );
    refused(
        |f| f.launches[0].grid = Expr::all([2, 65536, 1]),
        "expected a grid from [1, 1, 1]",
    );
    refused(
        |f| f.launches[0].grid = Expr::all([3, 1, 1]),
        "a multiple of the cluster [2, 1, 1], found [3, 1, 1]",
    );
    refused(
        |f| f.launches[0].block = Expr::all([0, 1, 1]),
        "expected a block from [1, 1, 1]",
    );
    refused(
        |f| f.launches[0].block = Expr::all([1, 1, 65]),
        "expected a block from [1, 1, 1]",
    );
    refused(
        |f| f.launches[0].block = Expr::all([64, 32, 1]),
        "at most 1024 threads in a block, found 2048",
    );
    refused(
        |f| f.launches[0].block = Expr::all([256, 1, 1]),
        "at most 128 threads, the .maxntid of gemm_kernel",
    );
    refused(
        |f| f.launches[0].cluster = [0, 1, 1],
        "a cluster of 1 to 16 blocks",
    );
    refused(
        |f| f.launches[0].cluster = [u32::MAX; 3],
        "a cluster of 1 to 16 blocks",
    );
    refused(
        |f| f.launches[0].dynamic_smem = 300_000.into(),
        "at most 232448 bytes of dynamic shared memory",
    );
    refused(
        |f| f.launches[0].kernel = "other".into(),
        "expected the kernel in image sm_80, found gemm_kernel",
    );
    refused(
        |f| f.args[1] = aligned("A", "(6,4):(4,1)", Access::Read),
        "`A` twice",
    );
    refused(
        |f| f.args[1] = aligned("B", "(5,4):(4,1)", Access::Read),
        "A (8,4), B (5,4), C (8,6)",
    );
    refused(
        |f| f.args[1] = aligned("B", "24:1", Access::Read),
        "B with two modes",
    );
    refused(
        |f| f.args[1] = aligned("B", "(6,4):(4", Access::Read),
        "expected a layout of a tensor",
    );
    refused(
        |f| f.args[2] = aligned("C", "(8,6):(6,1)", Access::Read),
        "C to be written",
    );
    refused(
        |f| f.computes = vec![Compute::Gemm(Gemm::new(0, 1, 9, "f32"))],
        "below 3, found 9",
    );
    refused(
        |f| f.computes = vec![Compute::Gemm(Gemm::new(0, 1, 2, "f33"))],
        "unknown element type `f33`",
    );
    refused(
        |f| f.computes = vec![Compute::Gemm(Gemm::new(2, 1, 2, "f32"))],
        "C to be another argument than A and B, found C for both",
    );
    for align in [0, 1, 24, 512] {
        refused(
            |f| {
                let Arg::Tensor { align: a, .. } = &mut f.args[0] else {
                    unreachable!()
                };
                *a = align;
            },
            "a power of two from 2 to 256 bytes",
        );
    }
}

/// The bytes of a package, valid or not, as the documentation has them.
fn encoded(manifest: &Value, blobs: &[u8]) -> Vec<u8> {
    let json = serde_json::to_vec(manifest).unwrap();
    let mut rest = json.clone();
    rest.resize(
        (HEADER_LENGTH + json.len()).next_multiple_of(BLOB_ALIGN) - HEADER_LENGTH,
        0,
    );
    rest.extend_from_slice(blobs);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(((HEADER_LENGTH + rest.len()) as u64).to_le_bytes());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(&rest).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend(rest);
    bytes
}

#[test]
fn blobs_out_of_bounds_are_refused() {
    let says = |offset: u64, length: u64| {
        let mut manifest = manifest(&sample());
        manifest["images"][0]["cubin"] = serde_json::json!({"offset": offset, "length": length});
        let bytes = encoded(&manifest, &[0; 64]);
        Package::from_bytes(&bytes).unwrap_err().to_string()
    };
    assert!(says(0, 65).contains("within the 64 bytes of blobs, found 65 bytes at 0"));
    assert!(says(u64::MAX, 16).contains("within the 64 bytes"));
    assert!(says(8, 16).contains("a multiple of 16"));
    assert!(says(16, 0).contains("at least one byte"));
}

#[test]
fn files_are_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gemm.cutepkg");
    std::fs::write(&path, b"something older").unwrap();
    sample().write_file(&path).unwrap();
    assert_eq!(Package::read_file(&path).unwrap(), sample());
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "the temporary file is gone");
    let error = sample()
        .write_file(folder.path().join("no/such/folder.cutepkg"))
        .unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
}

#[test]
fn functions_are_found_by_name() {
    let package = sample();
    assert_eq!(package.function(None).unwrap().name, "gemm");
    assert_eq!(package.function(Some("gemm")).unwrap().name, "gemm");
    let error = package.function(Some("gem")).unwrap_err().to_string();
    assert!(
        error.contains("`gem`, found `gemm`; ask for one by its name"),
        "{error}"
    );
}

#[test]
fn tensors_that_must_be_apart() {
    use cute_runtime::plan::{Planned, check_disjoint};
    let mut function = sample_function();
    function.launches[0].disjoint = vec![[0, 2], [1, 2]];
    let package = sample_builder(function.clone()).build().unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read.manifest(), package.manifest());
    let of = &package.manifest().functions[0];
    // A and B are only read, and may be one tensor; C begins where A ends.
    let launches = [Planned::fixed(of, 0).unwrap()];
    assert!(check_disjoint(of, &launches, &[(0x1000, 64), (0x1000, 48), (0x1040, 96)]).is_ok());
    assert!(check_disjoint(of, &launches, &[(0x1060, 64), (0x1060, 48), (0x1000, 96)]).is_ok());
    let error =
        check_disjoint(of, &launches, &[(0x1000, 64), (0x2000, 48), (0x103f, 96)]).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("A (64 bytes at 0x1000) and C (96 bytes at 0x103f) overlap")
            && text.contains("cute.noalias"),
        "{text}"
    );
    for bad in [[0, 0], [0, 3], [7, 1]] {
        function.launches[0].disjoint = vec![bad];
        let error = sample_builder(function.clone()).build().unwrap_err();
        assert!(error.to_string().contains("disjoint"), "{error}");
    }
}

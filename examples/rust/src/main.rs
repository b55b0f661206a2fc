//! Calls a function of a package (`examples/add_one.mlir`) on slices, by the emulator: no GPU and no driver are needed.
//!
//! ```sh
//! cute-opt examples/add_one.mlir --cute-compile="arch=sm_80 package=add_one.cutepkg" -o /dev/null
//! cargo run --manifest-path examples/rust/Cargo.toml -- add_one.cutepkg
//! ```
//!
//! On a GPU it is `Entry::on_gpu`, and views of device pointers (`TensorView::from_raw`, or cudarc's slices) with a stream of the
//! program's own (`Stream::from_raw`): the call queues the kernels and returns.

use std::error::Error;

use cute_runtime::Package;
use cute_runtime::call::{Entry, Stream, TensorView, Workspace};
use cute_runtime::emulator::Config;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("expected the path of a package; usage: calls-cute PACKAGE")?;
    let package = Package::from_bytes(&std::fs::read(&path)?)?;
    let function = package.function(Some("add_one_cpu"))?;
    let entry = Entry::on_emulator(&package, function, Config::default())?;

    let x: Vec<f32> = (0..5).map(|i| i as f32).collect();
    let mut y = vec![0.0f32; 5];
    let shape = [5];
    let arguments = [
        TensorView::from_slice(&x, &shape, None)?.into(),
        TensorView::from_slice_mut(&mut y, &shape, None)?.into(),
    ];
    entry.launch(&arguments, Workspace::none(), Stream::DEFAULT)?;
    println!("{y:?}");
    Ok(())
}

//! The compiler as a library: IR in, a package in memory, a launch.
//!
//! `cargo run --release -p cute-lowering --example embed [ARCH]`

use cute_ir::ops::cute;
use cute_lowering::{CompileOptions, compile};
use cute_runtime::{cuda::CudaDevice, device::Device, tensor, verify};
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::{
    Block, BlockLike, Location, Module, Region, RegionLike, Type, Value, r#type::FunctionType,
};

fn main() -> anyhow::Result<()> {
    let arch = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "sm_90a".to_owned());
    let context = cute_ir::context();
    let location = Location::unknown(&context);

    // IR that was parsed,
    let mut parsed =
        Module::parse(&context, include_str!("gemm_f16.mlir")).expect("the example parses");
    compile(&mut parsed, &CompileOptions::new(&arch))?;

    // and IR that is built: C (256,128) = A (256,64) B (128,64)^T.
    let tensor = |m, n| {
        Type::parse(
            &context,
            &format!("!cute.memref<f16, gmem, align<16>, \"({m},{n}):({n},1)\">"),
        )
    };
    let types =
        [tensor(256, 64), tensor(128, 64), tensor(256, 128)].map(|ty| ty.expect("a tensor type"));
    let block = Block::new(&types.map(|ty| (ty, location)));
    let args: Vec<Value> = (0..3)
        .map(|i| block.argument(i).map(Value::from))
        .collect::<Result<_, _>>()?;
    let f32_type = TypeAttribute::new(Type::float32(&context));
    block.append_operation(
        cute::GemmOperation::builder(&context, location)
            .args(&args)
            .accumulate(f32_type)
            .build()
            .into(),
    );
    block.append_operation(melior::dialect::func::r#return(&[], location));
    let (region, name) = (Region::new(), StringAttribute::new(&context, "gemm"));
    region.append_block(block);
    let ty = TypeAttribute::new(FunctionType::new(&context, &types, &[]).into());
    let mut built = Module::new(location);
    built.body().append_operation(melior::dialect::func::func(
        &context,
        name,
        ty,
        region,
        &[],
        location,
    ));
    let package = compile(&mut built, &CompileOptions::new(&arch))?;
    println!("{:#?}", package.manifest().images[0].kernels);

    // A launch, where there is a GPU.
    let function = package.function(None)?;
    match CudaDevice::open(0) {
        Err(error) => println!("not launched: {error}"),
        Ok(device) => {
            let mut arguments = tensor::generate(function, 0)?;
            device.load(&package, function)?.run(&mut arguments)?;
            println!(
                "{}",
                verify::verify(function, &arguments, &verify::Config::default())?[0]
            );
        }
    }
    Ok(())
}

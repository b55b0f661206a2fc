//! The compiler as a library: IR in, a package in memory, a launch on a GPU or on the emulator.
//!
//! `cargo run --release -p cute-lowering --example embed [ARCH [DEVICE]]`, where DEVICE is `auto`, `cuda:N` or
//! `emulator`.

use cute_ir::ops::cute;
use cute_lowering::{CompileOptions, Compiler, Options};
use cute_runtime::device::{Choice, DeviceError, Opened, open};
use cute_runtime::{emulator, tensor, verify};
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::{
    Block, BlockLike, Identifier, Location, Module, Region, RegionLike, Type, Value,
    operation::OperationBuilder, r#type::FunctionType,
};

fn main() -> anyhow::Result<()> {
    let mut options = std::env::args().skip(1);
    let arch = options.next().unwrap_or_else(|| "sm_90a".to_owned());
    let choice: Choice = options
        .next()
        .map_or(Ok(Choice::Auto), |text| text.parse())?;
    let compiler = Compiler::new(
        &CompileOptions::parse(&format!("arch={arch}")).map_err(anyhow::Error::msg)?,
    )?;
    let context = compiler.context();
    let location = Location::unknown(context);

    // IR as text,
    compiler.compile_text("gemm_f16.mlir", include_str!("gemm_f16.mlir"))?;

    // and IR that is built: C (256,128) = A (256,64) B (128,64)^T.
    let tensor = |m, n| {
        Type::parse(
            context,
            &format!("!cute.memref<f16, gmem, align<16>, \"({m},{n}):({n},1)\">"),
        )
    };
    let types =
        [tensor(256, 64), tensor(128, 64), tensor(256, 128)].map(|ty| ty.expect("a tensor type"));
    let block = Block::new(&types.map(|ty| (ty, location)));
    let args: Vec<Value> = (0..3)
        .map(|i| block.argument(i).map(Value::from))
        .collect::<Result<_, _>>()?;
    let f32_type = TypeAttribute::new(Type::float32(context));
    let accumulate = Identifier::new(context, "accumulate");
    block.append_operation(
        OperationBuilder::new(cute::CONTRACT, location)
            .add_operands(&args)
            .add_attributes(&[(accumulate, f32_type.into())])
            .build()?,
    );
    block.append_operation(melior::dialect::func::r#return(&[], location));
    let (region, name) = (Region::new(), StringAttribute::new(context, "gemm"));
    region.append_block(block);
    let ty = TypeAttribute::new(FunctionType::new(context, &types, &[]).into());
    let mut built = Module::new(location);
    built.body().append_operation(melior::dialect::func::func(
        context,
        name,
        ty,
        region,
        &[],
        location,
    ));
    let package = compiler.compile(&mut built)?.package;
    println!("{:#?}", package.manifest().images[0].kernels);

    // A launch: on a GPU, or on the emulator where there is none or where it was asked for.
    let function = package.function(None)?;
    let Opened { device, no_gpu } = open(choice, emulator::Config::default())?;
    if let Some(why) = no_gpu {
        println!("emulated: {why}");
    }
    let mut arguments = tensor::generate(function, 0)?;
    let mut program = device.load(&package, function)?;
    match program.run(&mut arguments) {
        // What the emulator finds are values: a kind, two instructions, a thread, an address.
        Err(DeviceError::Findings(findings)) => {
            for finding in &findings {
                println!("{:?} in {}: {finding}", finding.kind, finding.kernel);
            }
            anyhow::bail!("the kernel is wrong");
        }
        done => done?,
    }
    println!(
        "on {}: {}",
        device.info().name,
        verify::verify(function, &arguments, &verify::Config::default())?[0]
    );
    for launch in program.report().iter().flat_map(|report| &report.launches) {
        println!(
            "{}: {} instructions by threads",
            launch.kernel, launch.thread_instructions
        );
    }
    Ok(())
}

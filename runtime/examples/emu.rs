use cute_runtime::{Package, device::Device, emulator::*, tensor, verify};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let seed = std::env::args().nth(2).map_or(0, |s| s.parse().unwrap());
    let package = Package::read_file(path).unwrap();
    let function = package.function(None).unwrap();
    let emulator = Emulator::new(Config {
        seed,
        ..Config::default()
    });
    let t = std::time::Instant::now();
    let mut program = match emulator.load(&package, function) {
        Ok(p) => p,
        Err(e) => {
            println!("load: {e}");
            return;
        }
    };
    println!("loaded {:?}", t.elapsed());
    let mut tensors = tensor::generate(function, 0).unwrap();
    let t = std::time::Instant::now();
    let r = program.run(&mut tensors);
    let took = t.elapsed();
    if let Err(e) = r {
        println!("{e}");
    }
    let report = program.report().unwrap();
    println!(
        "{:?} {:.1} M thread-instr/s",
        took,
        report.launches[0].thread_instructions as f64 / took.as_secs_f64() / 1e6
    );
    println!("{}", report.printed);
    for r in verify::verify(function, &tensors, &verify::Config::default()).unwrap() {
        println!("{r:?}");
    }
    if std::env::var("LINES").is_ok() {
        for l in &report.launches[0].lines {
            println!("{l:?}");
        }
    }
}

use cute_runtime::{Package, device::Device, emulator::*, tensor};
fn main() {
    for path in std::env::args().skip(1) {
        let package = Package::read_file(&path).unwrap();
        let function = package.function(None).unwrap();
        let emulator = Emulator::new(Config::default());
        let mut program = emulator.load(&package, function).unwrap();
        let mut tensors = tensor::generate(function, 0).unwrap();
        if let Err(e) = program.run(&mut tensors) {
            println!("{e}");
        }
        let l = &program.report().unwrap().launches[0];
        println!(
            "== {path} {:?} macs {} warps {}",
            l.occupancy, l.multiply_adds, l.warp_instructions
        );
        for (c, n) in &l.instructions {
            println!("{c:?} {n:?}");
        }
        for s in &l.steps {
            println!("  {:?} {:?} {:?}", s.class, s.ptx_lines, s.counts);
        }
    }
}

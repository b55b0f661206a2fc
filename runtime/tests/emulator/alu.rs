//! Each family against arithmetic written down anew.

mod bits;
mod by_hand;
mod conversions;
mod errors;
mod floats;
mod integers;
mod oracle;
mod selections;

use cute_runtime::emulator::alu::{Alu, Kind, lookup};
use cute_runtime::emulator::{LANES, Mask, Row};
use cute_runtime::ptx::Type;

/// Numbers that look random, and are the same in each run (SplitMix64).
struct Random(u64);

impl Random {
    /// Others for each name.
    fn new(name: &str) -> Random {
        let start = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Random(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }

    /// A value of a type: one at an edge, a small one, or any. Bits above the type's are random.
    fn value(&mut self, ty: Type) -> u64 {
        let width = ty.bytes().unwrap_or(4) * 8;
        let any = self.next();
        let value = match (ty, self.next() % 4) {
            (Type::F32, 0) => {
                self.pick(&[
                    0,
                    1,
                    0x7f_ffff,
                    0x80_0000,
                    0x3f80_0000,
                    0x3f7f_ffff,
                    0x7f7f_ffff,
                    0x7f80_0000,
                    0x7fc0_0000,
                    0x7f80_0001,
                    0x7fff_ffff,
                ]) | any & 0x8000_0000
            }
            (Type::F32, 1) => any & 0x80ff_ffff | 0x3f00_0000,
            (Type::F64, 0) => {
                self.pick(&[
                    0,
                    1,
                    0xf_ffff_ffff_ffff,
                    0x10_0000_0000_0000,
                    0x3ff0_0000_0000_0000,
                    0x7fef_ffff_ffff_ffff,
                    0x7ff0_0000_0000_0000,
                    0x7ff8_0000_0000_0000,
                    0x47ef_ffff_e000_0000,
                    0x3690_0000_0000_0000,
                ]) | any & 1 << 63
            }
            (Type::F64, 1) => any & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000,
            (Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2, 0) => {
                let mut half = || {
                    self.pick(&[
                        0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7e00, 0x7f, 0x80, 0x3f80,
                        0x7f7f, 0x7f80, 0x7fff,
                    ])
                };
                (half() | half() << 16) ^ any & 0x8000_8000
            }
            (_, 0) => self.pick(&[
                0,
                1,
                u64::MAX,
                u64::MAX - 1,
                1 << (width - 1),
                (1 << (width - 1)) - 1,
            ]),
            (_, 1) => (any as i8) as i64 as u64,
            _ => any,
        };
        let mask = u64::MAX >> (64 - width);
        value & mask | self.next() & !mask
    }
}

fn alu(name: &str) -> Alu {
    let mut parts = name.split('.');
    let opcode = parts.next().unwrap();
    lookup(opcode, &parts.collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{error}"))
}

/// The result of an instruction for rows of operands, and predicates or carries where it has such.
fn run(alu: &Alu, rows: &[Row], mask: Mask) -> (Row, Mask) {
    let junk = [0xdead_beef_dead_beef; LANES];
    let row = |at: usize| rows.get(at).unwrap_or(&junk);
    let mut d = [0; LANES];
    let mut out = 0;
    match alu.kind {
        Kind::Value(f) => f(&mut d, row(0), row(1), row(2)),
        Kind::Value4(f) => f(&mut d, row(0), row(1), row(2), row(3)),
        Kind::Convert(f, how) => f(&mut d, row(0), how),
        Kind::Select(f) => f(&mut d, row(0), row(1), mask),
        Kind::Carry { run, .. } => out = run(&mut d, row(0), row(1), row(2), mask),
        Kind::Test { test, combine } => {
            out = test(row(0), row(1));
            out = combine.map_or(out, |combine| combine(out, mask));
        }
        _ => panic!("another kind"),
    }
    (d, out)
}

/// The result of an instruction for one lane.
fn value(name: &str, operands: &[u64]) -> u64 {
    let alu = alu(name);
    assert_eq!(alu.sources.len(), operands.len(), "{name}");
    let rows: Vec<_> = operands.iter().map(|x| [*x; LANES]).collect();
    run(&alu, &rows, 0).0[0]
}

/// Tries an instruction on 1,600 operands. The oracle gets them cut to their types' widths.
fn check(name: &str, oracle: impl Fn(&[u64]) -> u64) {
    let alu = alu(name);
    let mut random = Random::new(name);
    for _ in 0..50 {
        let rows: Vec<Row> = (alu.sources.iter())
            .map(|ty| [(); LANES].map(|()| random.value(*ty)))
            .collect();
        let (d, _) = run(&alu, &rows, 0);
        for lane in 0..LANES {
            let operands: Vec<u64> = (alu.sources.iter().zip(&rows))
                .map(|(ty, row)| {
                    let width = ty.bytes().unwrap() * 8;
                    row[lane] & u64::MAX >> (64 - width)
                })
                .collect();
            let expected = oracle(&operands);
            assert_eq!(
                d[lane], expected,
                "{name} {operands:x?}: {:x} {expected:x}",
                d[lane]
            );
        }
    }
}

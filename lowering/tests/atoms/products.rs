//! Products: C is loaded, A B is added by one atom, or by a block of atoms where one has fewer threads than a warp, and the sum
//! stored. Numbers are small integers, so that sums are exact in any order.

use crate::kernel::{Case, Parts, Random, mutated};
use cute_ir::{Expected, Failure, ops::cute, types};
use cute_layout::{
    Elem, Layout, MmaAtom, Tile, TiledCopy, TiledMma,
    atoms::{Family, Major},
};
use cute_target::Arch;

/// The operand whose table is wrong.
type Mutation = Option<usize>;

/// The products that are lowered and that the architecture has.
pub fn all(arch: &str) -> Vec<Case> {
    let arch: Arch = arch.parse().expect("an architecture");
    let named = |name: &str| MmaAtom::named(name).expect("an atom of the table");
    let mut atoms: Vec<MmaAtom> = MmaAtom::names().map(named).collect();
    let saturating: Vec<MmaAtom> = atoms
        .iter()
        .filter(|atom| atom.family == Family::Sm80 && atom.a.bits() == 8)
        .map(|atom| named(&format!("{}_SATURATE", atom.name)))
        .collect();
    atoms.extend(saturating);
    atoms
        .into_iter()
        .filter(|atom| cute_lowering::lowers(atom) && arch.has(atom.requires))
        .map(|atom| case(atom, None))
        .collect()
}

/// Some with a table that is wrong.
pub fn mutants() -> Vec<Case> {
    [
        ("SM80_16x8x16_F32F16F16F32_TN", 0),
        ("SM80_16x8x16_F32F16F16F32_TN", 1),
        ("SM80_16x8x16_F32F16F16F32_TN", 2),
        ("SM80_16x8x8_F32TF32TF32F32_TN", 0),
        ("SM80_16x8x32_S32S8S8S32_TN", 0),
        ("SM70_8x8x4_F32F16F16F32_TN", 2),
        ("SM80_8x8x4_F64F64F64F64_TN", 0),
    ]
    .into_iter()
    .map(|(name, mutation)| case(MmaAtom::named(name).expect(name), Some(mutation)))
    .collect()
}

/// The type in `cute_nvgpu`.
fn type_of(atom: &MmaAtom) -> String {
    let [m, n, k] = atom.shape_mnk;
    let name = atom.family.mnemonic();
    let (a, b, c) = (atom.a, atom.b, atom.c);
    if atom.family == Family::Universal {
        return format!("!cute_nvgpu.{name}<{m}x{n}x{k}, ({a}, {b}) -> {c} >");
    }
    let majors = match atom.family {
        Family::Sm70 => {
            let [x, y] = atom.majors.map(Major::name);
            format!("ab_major = ({x}, {y}), ")
        }
        _ => String::new(),
    };
    let overflow = if atom.saturate {
        "int_overflow = satfinite"
    } else {
        ""
    };
    format!("!cute_nvgpu.{name}<{m}x{n}x{k}, {majors}elem_type = ({a}, {b}, {c}) {overflow}>")
}

/// The layout of the atoms that make a warp, along M, N and K.
fn atoms_of(atom: &MmaAtom) -> &'static str {
    match atom.num_threads() {
        Ok(1) => "(4,8,1):(8,1,0)",
        Ok(8) => "(2,2,1):(1,2,0)",
        _ => "(1,1,1):(0,0,0)",
    }
}

/// The type of a tensor in memory whose bits an operand has.
fn memory(elem: Elem) -> &'static str {
    match elem {
        Elem::TF32 => "f32",
        Elem::U8 | Elem::F8E4M3 | Elem::F8E5M2 => "i8",
        elem => elem.name(),
    }
}

fn tiled(atom: &MmaAtom) -> TiledMma {
    let atoms = Layout::parse(atoms_of(atom)).expect("a layout");
    let whole = Tile::Modes(vec![Tile::Underscore, Tile::Underscore, Tile::Underscore]);
    TiledMma::new(atom.clone(), atoms, whole).expect("a tiled MMA")
}

fn case(atom: MmaAtom, mutation: Mutation) -> Case {
    let [m, n, k] = tiled(&atom).tile_shape();
    let (a, b, c) = (memory(atom.a), memory(atom.b), memory(atom.c));
    let rows = |rows: i64, columns: i64| format!("({rows},{columns}):({columns},1)");
    let arguments = vec![
        (a, rows(m, k)),
        (b, rows(n, k)),
        (c, rows(m, n)),
        (c, rows(m, n)),
    ];
    let of_data = atom.clone();
    Case {
        name: atom.name.clone(),
        arguments,
        build: Box::new(move |parts| build(&atom, mutation, parts)),
        data: Box::new(move |seed| data(&of_data, [m, n, k], seed)),
    }
}

fn build(atom: &MmaAtom, mutation: Mutation, parts: &Parts<'_>) -> Result<(), Failure> {
    let b = parts.b;
    let mma = tiled(atom);
    let ty = b.ty(&type_of(atom))?;
    let permutation = Tile::Modes(mma.permutation().to_vec());
    let mma_type = types::tiled_mma_type(b.location, ty, mma.atom_layout(), &permutation)?;
    let value = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
    let value = b.value(cute::MAKE_TILED_MMA, &[value], mma_type, &[])?;

    let makers: [fn(cute_layout::CopyAtom, &TiledMma) -> cute_layout::Result<TiledCopy>; 3] = [
        TiledCopy::make_tiled_copy_a,
        TiledCopy::make_tiled_copy_b,
        TiledCopy::make_tiled_copy_c,
    ];
    let elements = [atom.a, atom.b, atom.c];
    let mut fragments = Vec::new();
    let mut last = None;
    for (id, make) in makers.iter().enumerate() {
        let element = memory(elements[id]);
        let bits = 8 * crate::kernel::bytes(element) as i64;
        let universal =
            cute_layout::CopyAtom::universal(bits, bits).map_err(|e| b.error(e.to_string()))?;
        let copy = make(universal.clone(), &mma).map_err(|e| b.error(e.to_string()))?;
        let copy = match mutation {
            Some(operand) if operand == id => {
                let tv = mutated(copy.layout_tv());
                TiledCopy::new(universal, tv, copy.tiler_mn().clone())
                    .map_err(|e| b.error(e.to_string()))?
            }
            _ => copy,
        };
        let copy = parts.elementwise(element, &copy)?;
        let operand = [("operand_id", b.integer(b.i32_type(), id as i64))];
        let tensor = parts.tensors[id];
        let part = b.infer(
            cute::TILED_MMA_PARTITION,
            &[value, tensor, parts.thread],
            &operand,
        )?;
        let fragment = b.infer(cute::MMA_MAKE_FRAGMENT, &[value, part], &operand)?;
        let source = parts.partition('S', copy, tensor)?;
        let destination = parts.retile(copy, fragment)?;
        parts.copy(copy, source, destination)?;
        fragments.push(fragment);
        last = Some((copy, destination));
    }
    let [fa, fb, fc] = fragments[..] else {
        return Err(b.error("expected fragments of A, B and C"));
    };
    b.op(cute::GEMM, &[value, fc, fa, fb, fc], &[], &[])?;
    let (copy, source) = last.expected(b, "the copy of C")?;
    let destination = parts.partition('D', copy, parts.tensors[3])?;
    parts.copy(copy, source, destination)
}

/// Bits of a small integer in a type.
fn encode(elem: Elem, value: i64) -> u64 {
    let x = value as f64;
    match elem {
        Elem::F16 => small_float(x, 5, 10),
        Elem::BF16 => small_float(x, 8, 7),
        Elem::F8E4M3 => small_float(x, 4, 3),
        Elem::F8E5M2 => small_float(x, 5, 2),
        Elem::F32 | Elem::TF32 => (x as f32).to_bits().into(),
        Elem::F64 => x.to_bits(),
        Elem::I8 | Elem::U8 => value as u64 & 0xff,
        _ => value as u64 & 0xffff_ffff,
    }
}

/// A number that the format has, with so many bits of exponent and of mantissa.
fn small_float(x: f64, exponent: u32, mantissa: u32) -> u64 {
    if x == 0.0 {
        return 0;
    }
    let bits = x.abs().to_bits();
    let power = (bits >> 52) as i64 - 1023;
    let fraction = bits & ((1 << 52) - 1);
    assert_eq!(fraction % (1 << (52 - mantissa)), 0, "{x} is rounded");
    let biased = power + (1 << (exponent - 1)) - 1;
    assert!(
        biased > 0 && biased < (1 << exponent) - 1,
        "{x} is no normal number"
    );
    let sign = u64::from(x < 0.0);
    sign << (exponent + mantissa) | (biased as u64) << mantissa | fraction >> (52 - mantissa)
}

/// A, B, C and what D must be.
fn data(atom: &MmaAtom, [m, n, k]: [i64; 3], seed: u64) -> (Vec<Vec<u64>>, Vec<u64>) {
    let mut random = Random(seed);
    let mut numbers = |elem: Elem, count: i64| -> Vec<i64> {
        let (low, high) = match elem {
            Elem::U8 => (0, 255),
            Elem::I8 => (-128, 127),
            Elem::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (-4, 4),
        };
        (0..count).map(|_| random.range(low, high)).collect()
    };
    let (a, b) = (numbers(atom.a, m * k), numbers(atom.b, n * k));
    let mut c = numbers(atom.c, m * n);
    if atom.c == Elem::I32 {
        // Some sums leave the 32 bits.
        for (i, value) in c.iter_mut().enumerate() {
            match i % 4 {
                0 => *value = i64::from(i32::MAX) - *value % 100,
                1 => *value = i64::from(i32::MIN) + (*value % 100).abs(),
                _ => *value %= 1000,
            }
            *value = (*value).clamp(i32::MIN.into(), i32::MAX.into());
        }
    }
    // The tensors' indices run over rows first.
    let at = |rows: i64, row: i64, column: i64| (row + rows * column) as usize;
    let mut d = vec![0; (m * n) as usize];
    for row in 0..m {
        for column in 0..n {
            let products: i64 = (0..k)
                .map(|i| a[at(m, row, i)].wrapping_mul(b[at(n, column, i)]))
                .fold(0, i64::wrapping_add);
            let sum = products.wrapping_add(c[at(m, row, column)]);
            let sum = if atom.saturate {
                sum.clamp(i32::MIN.into(), i32::MAX.into())
            } else {
                sum
            };
            d[at(m, row, column)] = encode(atom.d, sum);
        }
    }
    let bits = |elem: Elem, values: &[i64]| values.iter().map(|v| encode(elem, *v)).collect();
    let given = vec![bits(atom.a, &a), bits(atom.b, &b), bits(atom.c, &c)];
    (given, d)
}

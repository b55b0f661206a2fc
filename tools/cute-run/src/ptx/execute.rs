//! A plan, executed on the emulator.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use cute_runtime::emulator::{self, Config, Memory, Pointer, Session};
use cute_runtime::tensor::Array;

use super::plan::{Named, Plan};
use super::spec::{self, Argument, Fill, Item};
use super::types::Type;
use crate::expect::{Compared, Wrong, coordinates};

/// The results of a run with one seed.
pub struct Ran {
    pub session: Session,
    pub compared: Vec<Compared>,
    pub notes: Vec<String>,
}

/// Memory that was allocated.
struct Placed<'p> {
    named: &'p Named,
    ty: Type,
    shape: Vec<u64>,
    pointer: Pointer,
}

/// Runs the launches in order. Outputs are written if `write` says so.
pub fn execute(plan: &Plan, text: &str, config: Config, write: bool) -> anyhow::Result<Ran> {
    let seed = config.seed;
    let mut session = Session::empty(config)?;
    let module = session.add_module(text)?;
    let mut placed: BTreeMap<&str, Placed> = BTreeMap::new();
    for (index, named) in plan.memory.iter().enumerate() {
        let contents = contents(named, &plan.folder, seed, index as u64);
        let (ty, shape, bytes) = contents.with_context(|| named.place.clone())?;
        let memory = match bytes {
            Some(bytes) => Memory::holding(&bytes),
            None => Memory::uninitialized(count(&shape) * ty.bytes()),
        };
        let memory = match named.read_only {
            true => memory.read_only(),
            false => memory,
        };
        let pointer = session.allocate(&named.name, memory.aligned(named.align));
        let pointer = pointer.with_context(|| named.place.clone())?;
        placed.insert(
            &named.name,
            Placed {
                named,
                ty,
                shape,
                pointer,
            },
        );
    }
    // Pointers in memory, once all of it has an address.
    for memory in placed.values() {
        let Fill::List(items) = &memory.named.is.fill else {
            continue;
        };
        for (index, item) in items.iter().enumerate() {
            if let Item::Pointer(pointer) = item {
                let address =
                    address(&placed, pointer).with_context(|| memory.named.place.clone())?;
                let to = memory.pointer.offset(8 * index as i64);
                session.write(to, &address.to_le_bytes())?;
            }
        }
    }
    for launch in &plan.launches {
        let kernel = match (&launch.kernel, session.kernels_of(module)) {
            (Some(kernel), _) => kernel.clone(),
            (None, [kernel]) => kernel.name.clone(),
            (None, kernels) => {
                let names: Vec<&str> = kernels.iter().map(|k| k.name.as_str()).collect();
                let found = match names.len() {
                    0 => "no kernel".into(),
                    _ => names.join(", "),
                };
                bail!(
                    "{}: expected the name of a kernel, as the file has {found}",
                    launch.place
                );
            }
        };
        let mut arguments = Vec::new();
        for argument in &launch.args {
            let (bytes, _) = bytes(&placed, argument).with_context(|| launch.place.clone())?;
            arguments.push(emulator::Argument::bytes(&bytes));
        }
        let done = session.launch(&kernel, launch.grid, &arguments);
        done.with_context(|| launch.place.clone())?;
        if session.report().halted {
            break;
        }
    }
    let mut ran = Ran {
        session,
        compared: Vec::new(),
        notes: Vec::new(),
    };
    if ran.session.report().halted {
        ran.notes.push(format!(
            "ended before its time with seed {seed}, so memory is not whole, and neither written nor compared"
        ));
        return Ok(ran);
    }
    for memory in placed.values() {
        ran.finish(plan, memory, seed, write)?;
    }
    Ok(ran)
}

impl Ran {
    fn finish(
        &mut self,
        plan: &Plan,
        memory: &Placed<'_>,
        seed: u64,
        write: bool,
    ) -> anyhow::Result<()> {
        let (ty, shape) = (memory.ty, &memory.shape);
        let found = self.session.read(memory.pointer);
        let wanted = memory.named.expect.is_some() || memory.named.output.is_some();
        if let Some((bytes, first)) = self.session.unwritten(memory.pointer)
            && (wanted || memory.named.whole)
        {
            self.notes.push(format!(
                "{bytes} bytes of {} were never written, the first of element {:?}",
                memory.named.name,
                coordinates(shape, first as usize / ty.bytes())
            ));
            if memory.named.whole {
                self.compared.push(Compared {
                    name: memory.named.name.clone(),
                    elements: count(shape),
                    wrong: bytes as usize / ty.bytes(),
                    first: Some(Wrong {
                        at: coordinates(shape, first as usize / ty.bytes()),
                        expected: "a value".into(),
                        found: "nothing that was written".into(),
                    }),
                });
            }
        }
        if let Some(expected) = &memory.named.expect {
            let values = || {
                let fill = spec::fill(expected, ty).map_err(anyhow::Error::msg)?;
                filled(&fill, ty, shape, &plan.folder, seed, 0)?
                    .context("expected values to compare with, found `none`")
            };
            let expected = values().with_context(|| memory.named.expect_place.clone())?;
            self.compared.push(compare(memory, &expected, &found));
        }
        if let (true, Some(path)) = (write, &memory.named.output) {
            let bytes = match ty.is_converted() {
                true => found
                    .chunks_exact(ty.bytes())
                    .flat_map(|element| (ty.to_f64(element) as f32).to_le_bytes())
                    .collect(),
                false => found,
            };
            let array = Array {
                descr: ty.descr().into(),
                shape: shape.clone(),
                bytes,
            };
            let written = array.write_npy(plan.folder.join(path));
            written.with_context(|| memory.named.place.clone())?;
        }
        Ok(())
    }
}

fn count(shape: &[u64]) -> usize {
    shape.iter().product::<u64>() as usize
}

/// Type, sizes and bytes of memory; no bytes of what nobody has written.
fn contents(
    named: &Named,
    folder: &Path,
    seed: u64,
    stream: u64,
) -> anyhow::Result<(Type, Vec<u64>, Option<Vec<u8>>)> {
    match (&named.is.is, &named.is.fill) {
        (None, Fill::File(path)) => {
            let array = Array::read_npy(folder.join(path))?;
            let ty = Type::of_descr(&array.descr);
            let ty =
                ty.with_context(|| format!("{}: no type for {}", path.display(), array.descr))?;
            Ok((ty, array.shape, Some(array.bytes)))
        }
        (Some((ty, shape)), fill) => {
            let bytes = filled(fill, *ty, shape, folder, seed, stream)?;
            Ok((*ty, shape.clone(), bytes))
        }
        (None, _) => bail!("expected a type and sizes"),
    }
}

fn filled(
    fill: &Fill,
    ty: Type,
    shape: &[u64],
    folder: &Path,
    seed: u64,
    stream: u64,
) -> anyhow::Result<Option<Vec<u8>>> {
    let count = count(shape);
    let each = |value: &mut dyn FnMut(usize) -> anyhow::Result<Vec<u8>>| {
        let mut bytes = Vec::with_capacity(count * ty.bytes());
        for index in 0..count {
            bytes.extend(value(index)?);
        }
        anyhow::Ok(Some(bytes))
    };
    let number = |value: f64| {
        ty.of_f64(value)
            .with_context(|| format!("expected numbers of type {ty}, found {value}"))
    };
    let mut random = Random::new(seed, stream);
    match fill {
        Fill::Nothing => Ok(None),
        Fill::Number(bytes) => Ok(Some(bytes.repeat(count))),
        Fill::Iota => each(&mut |index| number(index as f64)),
        Fill::Random => each(&mut |_| {
            number(match ty {
                Type::Integer { signed: true, .. } => random.between(-8.0, 7.0, true),
                Type::Integer { .. } => random.between(0.0, 15.0, true),
                Type::Float(_) => random.normal(),
            })
        }),
        Fill::Between(low, high) => {
            let whole = matches!(ty, Type::Integer { .. });
            each(&mut |_| number(random.between(*low, *high, whole)))
        }
        Fill::File(path) => {
            let path = folder.join(path);
            let array = Array::read_npy(&path)?;
            let found = (array.descr.as_str(), &array.shape);
            if found.0 != ty.descr() || array.shape != shape {
                bail!(
                    "{}: expected elements of type {} and shape {shape:?}, found {} and {:?}",
                    path.display(),
                    ty.descr(),
                    found.0,
                    found.1
                );
            }
            if !ty.is_converted() {
                return Ok(Some(array.bytes));
            }
            let elements = array.bytes.chunks_exact(4);
            let mut bytes = Vec::new();
            for element in elements {
                let value = f32::from_le_bytes(element.try_into()?);
                bytes.extend(number(value.into())?);
            }
            Ok(Some(bytes))
        }
        Fill::List(items) => {
            if items.len() != count {
                bail!(
                    "expected {count} elements in the list, found {}",
                    items.len()
                );
            }
            each(&mut |index| {
                Ok(match &items[index] {
                    Item::Number(bytes) => bytes.clone(),
                    // Comes when all memory has an address.
                    Item::Pointer(_) => vec![0; 8],
                })
            })
        }
    }
}

/// SplitMix64: the same seed gives the same numbers on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to 1, without 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64, whole: bool) -> f64 {
        match whole {
            true => (low + self.unit() * (high - low + 1.0))
                .floor()
                .clamp(low, high),
            false => low + self.unit() * (high - low),
        }
    }

    /// Normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

fn address(placed: &BTreeMap<&str, Placed<'_>>, pointer: &spec::Pointer) -> anyhow::Result<u64> {
    let found = placed.get(pointer.name.as_str()).with_context(|| {
        let names: Vec<&str> = placed.keys().copied().collect();
        format!(
            "expected the name of memory ({}), found &{}",
            names.join(", "),
            pointer.name
        )
    })?;
    Ok(found.pointer.offset(pointer.offset).address())
}

/// The bytes of an argument and its alignment.
fn bytes(
    placed: &BTreeMap<&str, Placed<'_>>,
    argument: &Argument,
) -> anyhow::Result<(Vec<u8>, usize)> {
    Ok(match argument {
        Argument::Number(bytes) => (bytes.clone(), bytes.len()),
        Argument::Bytes(bytes) => (bytes.clone(), 1),
        Argument::Pointer(pointer) => (address(placed, pointer)?.to_le_bytes().to_vec(), 8),
        Argument::Structure(parts) => {
            let (mut all, mut largest) = (Vec::new(), 1);
            for part in parts {
                let (part, align) = bytes(placed, part)?;
                all.resize(all.len().next_multiple_of(align), 0);
                all.extend(part);
                largest = largest.max(align);
            }
            all.resize(all.len().next_multiple_of(largest), 0);
            (all, largest)
        }
        // The plan has given it a name.
        Argument::Memory(_) => bail!("expected memory that has a name"),
    })
}

fn compare<'b>(memory: &Placed<'_>, expected: &'b [u8], found: &'b [u8]) -> Compared {
    let (ty, tolerance) = (memory.ty, memory.named.tolerance);
    let size = ty.bytes();
    let equal = |expected: &[u8], found: &[u8]| {
        if expected == found || tolerance == 0.0 {
            return expected == found;
        }
        let (expected, found) = (ty.to_f64(expected), ty.to_f64(found));
        let both_nan = expected.is_nan() && found.is_nan();
        both_nan
            || expected == found
            || (expected - found).abs() <= tolerance * (1.0 + expected.abs())
    };
    let each = |bytes: &'b [u8], index: usize| &bytes[index * size..][..size];
    Compared::new(
        &memory.named.name,
        &memory.shape,
        |index| equal(each(expected, index), each(found, index)),
        |index| [expected, found].map(|bytes| ty.show(each(bytes, index))),
    )
}

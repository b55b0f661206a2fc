//! `cute-fragments-to-values`: register tensors become SSA values.
//!
//! A fragment is held as one vector for each run of its first mode, which is what one MMA atom
//! takes. Copies and products are unrolled to atoms on these vectors; a loop carries the vectors
//! of the fragments that it writes. What a copy delivers in another arrangement than the fragment's
//! is taken apart and put together again element by element, as the layouts say.

use crate::partition::{body_of_kernel, drop_body, kernels, second_body, space_of};
use crate::vectorize;
use cute_ir::{
    Failure, PassSpec,
    build::*,
    infer::memref_of,
    tensor::{atom_access, atom_extents},
    types::{self, CopyOp, MemRef, Space},
    verify::copy_op,
};
use cute_layout::Layout;
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::{BTreeSet, HashMap};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-fragments-to-values",
    description: "Turn register tensors into SSA vectors carried by loops",
    anchor: "builtin.module",
    options: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        crate::atoms::check(kernel)?;
        let old = body_of_kernel(kernel)?;
        let mut values = Values::default();
        let new = second_body(kernel, old, &mut values.mapping);
        let b = Builder::at_end(context_of(kernel), new, kernel.location());
        values.block(old, b)?;
        drop_body(old);
    }
    Ok(())
}

/// The registers of a fragment: `chunk` elements a vector.
#[derive(Clone)]
struct File<'c> {
    element: Type<'c>,
    chunk: i64,
    vectors: Vec<Option<Val<'c>>>,
}

#[derive(Default)]
struct Values<'c> {
    files: Vec<File<'c>>,
    /// Which file a register tensor is in, by value.
    views: HashMap<usize, usize>,
    mapping: Mapping<'c>,
}

impl<'c> Values<'c> {
    fn map(&self, value: Val<'c>) -> Val<'c> {
        self.mapping.get(&key(value)).copied().unwrap_or(value)
    }

    fn block(&mut self, block: Blk<'c>, b: Builder<'c>) -> Result<(), Failure> {
        for op in ops_of(block) {
            self.op(op, b.at_location(op.location()))?;
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        match name_of(op) {
            "cute.mma.make_fragment" => self.allocate(result_of(op, 0), b),
            "cute.memref.alloca" if space_of(result_of(op, 0)) == Some(Space::Rmem) => {
                self.allocate(result_of(op, 0), b)
            }
            "cute.tiled.copy.retile" => {
                let file = self.file(operands[1], b)?;
                self.views.insert(key(result_of(op, 0)), file);
                Ok(())
            }
            "cute.clear" if self.views.contains_key(&key(operands[0])) => {
                self.clear(operands[0], b)
            }
            "cute.convert" => self.convert(op, operands[0], b),
            "cute.copy" => self.copy(&operands, b),
            "cute.gemm" => self.gemm(&operands, b),
            "scf.for" => self.for_loop(op, b),
            "scf.yield" => Err(b.error("a loop's end outside of a loop")),
            _ => {
                let within = nested_ops(op);
                let touches = |inner: &Op<'c>| {
                    operands_of(*inner)
                        .iter()
                        .any(|v| self.views.contains_key(&key(*v)))
                        || (0..inner.result_count())
                            .any(|i| space_of(result_of(*inner, i)) == Some(Space::Rmem))
                };
                if touches(&op) || within.iter().any(touches) {
                    return Err(b.error(format!(
                        "'{}' uses a register tensor in a way that has no value form; register \
                         tensors are used in the kernel's body and in scf.for",
                        name_of(op)
                    )));
                }
                b.clone_op(op, &mut self.mapping);
                Ok(())
            }
        }
    }

    fn file(&self, value: Val<'c>, b: Builder<'c>) -> Result<usize, Failure> {
        self.views
            .get(&key(value))
            .copied()
            .ok_or_else(|| b.error("expected a tensor in rmem that this kernel allocates"))
    }

    fn allocate(&mut self, value: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let memref = memref_of(value).ok_or(Failure)?;
        let file = new_file(&memref).map_err(|e| b.error(e))?;
        self.views.insert(key(value), self.files.len());
        self.files.push(file);
        Ok(())
    }

    fn clear(&mut self, value: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let index = self.file(value, b)?;
        let file = &mut self.files[index];
        let ty = b.vector(file.chunk, file.element);
        let zero = if types::is_float(file.element) {
            "0.0"
        } else {
            "0"
        };
        let zero = b.attribute(&format!("dense<{zero}> : {ty}"))?;
        let zero = b.value("arith.constant", &[], ty, &[("value", zero)])?;
        file.vectors.fill(Some(zero));
        Ok(())
    }

    fn convert(&mut self, op: Op<'c>, from: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let source = self.files[self.file(from, b)?].clone();
        let memref = memref_of(result_of(op, 0)).ok_or(Failure)?;
        let bits = |ty| types::element_bits(ty).unwrap_or(0);
        let from_type = memref_of(from).ok_or(Failure)?.element;
        if let Some(small) = [from_type, memref.element]
            .into_iter()
            .find(|ty| types::register_type(*ty) != *ty)
        {
            return Err(b.error(format!(
                "converts {from_type} to {}, and {small} has no conversion yet; convert between f16, bf16, f32 and f64",
                memref.element
            )));
        }
        let name = match bits(memref.element).cmp(&bits(source.element)) {
            std::cmp::Ordering::Less => "arith.truncf",
            std::cmp::Ordering::Greater => "arith.extf",
            std::cmp::Ordering::Equal => return Err(b.error("expected types of different widths")),
        };
        let ty = b.vector(source.chunk, memref.element);
        let mut vectors = Vec::new();
        for vector in &source.vectors {
            let vector = vector.ok_or_else(|| uninitialized(b))?;
            vectors.push(Some(b.value(name, &[vector], ty, &[])?));
        }
        self.views.insert(key(result_of(op, 0)), self.files.len());
        self.files.push(File {
            element: memref.element,
            chunk: source.chunk,
            vectors,
        });
        Ok(())
    }

    fn copy(&mut self, operands: &[Val<'c>], b: Builder<'c>) -> Result<(), Failure> {
        let [copy, source, destination] = operands[..] else {
            return Err(b.error("expected a partitioned copy; run cute-partition first"));
        };
        let op = copy_op(copy.r#type()).ok_or(Failure)?;
        let (Some(from), Some(to)) = (memref_of(source), memref_of(destination)) else {
            return Err(b.error("expected tensors"));
        };
        let copy = self.map(copy);
        if op == CopyOp::Auto {
            return self.copy_vectors(copy, (source, &from), (destination, &to), b);
        }
        for at in positions(&atom_extents(&from.layout).map_err(|e| b.error(e))?) {
            let attribute = [("at", b.i64_array(&at))];
            if matches!(op, CopyOp::SimtAsync { .. }) {
                let arguments = [copy, self.map(source), self.map(destination)];
                b.op("cute.atom_copy", &arguments, &[], &attribute)?;
                continue;
            }
            let value = if from.space == Space::Rmem {
                let file = self.file(source, b)?;
                self.read(file, &elements(&from.layout, &at, b)?, b)?
            } else {
                let length = register_values(&from, &to, &at, b)?;
                let ty = b.vector(length, types::register_type(from.element));
                b.value("cute.atom_load", &[copy, self.map(source)], ty, &attribute)?
            };
            let value = if op == CopyOp::Movm {
                b.value("cute.atom_move", &[copy, value], value.r#type(), &[])?
            } else {
                value
            };
            if to.space == Space::Rmem {
                let file = self.file(destination, b)?;
                self.write(file, &elements(&to.layout, &at, b)?, value, b)?;
            } else {
                b.op(
                    "cute.atom_store",
                    &[copy, value, self.map(destination)],
                    &[],
                    &attribute,
                )?;
            }
        }
        Ok(())
    }

    /// An auto-vectorising copy: as much at once as lies in one piece on both sides.
    fn copy_vectors(
        &mut self,
        copy: Val<'c>,
        (source, from): (Val<'c>, &MemRef<'c>),
        (destination, to): (Val<'c>, &MemRef<'c>),
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        for vector in vectorize::vectors(from, to).map_err(|e| b.error(e))? {
            let at = [("at", b.i64_array(&vector.at))];
            let value = if from.space == Space::Rmem {
                self.read(self.file(source, b)?, &vector.source, b)?
            } else {
                let ty = b.vector(
                    vector.source.len() as i64,
                    types::register_type(from.element),
                );
                b.value("cute.atom_load", &[copy, self.map(source)], ty, &at)?
            };
            if to.space == Space::Rmem {
                let file = self.file(destination, b)?;
                self.write(file, &vector.destination, value, b)?;
            } else {
                let operands = [copy, value, self.map(destination)];
                b.op("cute.atom_store", &operands, &[], &at)?;
            }
        }
        Ok(())
    }

    /// Atom by atom, a k-slice at a time; odd rows of M backwards over N, so that the B of the
    /// turn is used again.
    fn gemm(&mut self, operands: &[Val<'c>], b: Builder<'c>) -> Result<(), Failure> {
        let [mma, d, a, bb, c] = operands[..] else {
            return Err(b.error("expected a product of fragments; run cute-partition first"));
        };
        let layouts: Vec<Layout> = [d, a, bb, c]
            .iter()
            .filter_map(|v| memref_of(*v))
            .map(|m| m.layout)
            .collect();
        let [ld, la, lb, lc] = &layouts[..] else {
            return Err(b.error("expected tensors"));
        };
        let size = |layout: &Layout, mode: usize| {
            layout
                .mode(mode)
                .and_then(|m| m.size())
                .map_err(|e| b.error(e.to_string()))
        };
        let (m_size, n_size, k_size) = (size(la, 1)?, size(lb, 1)?, size(la, 2)?);
        let (fd, fa, fb, fc) = (
            self.file(d, b)?,
            self.file(a, b)?,
            self.file(bb, b)?,
            self.file(c, b)?,
        );
        let mma = self.map(mma);
        for k in 0..k_size {
            for m in 0..m_size {
                for step in 0..n_size {
                    let n = if m % 2 == 0 { step } else { n_size - 1 - step };
                    let left = self.read(fa, &run_of(la, m, k, b)?, b)?;
                    let right = self.read(fb, &run_of(lb, n, k, b)?, b)?;
                    let sum = self.read(fc, &run_of(lc, m, n, b)?, b)?;
                    let sum =
                        b.value("cute.atom_mma", &[mma, left, right, sum], sum.r#type(), &[])?;
                    self.write(fd, &run_of(ld, m, n, b)?, sum, b)?;
                }
            }
        }
        Ok(())
    }

    /// A loop that carries the fragments from outside that it writes.
    fn for_loop(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let old = body_of(op, 0).ok_or(Failure)?;
        let written = self.written(old);
        let operands = operands_of(op);
        let mut initial: Vec<Val<'c>> = operands.iter().map(|v| self.map(*v)).collect();
        let carried = operands.len() - 3;
        for index in &written {
            for vector in &self.files[*index].vectors {
                initial.push(vector.ok_or_else(|| uninitialized(b))?);
            }
        }
        let types: Vec<_> = initial[3..].iter().map(|v| v.r#type()).collect();
        let mut arguments = vec![(argument(old, 0).r#type(), b.location)];
        arguments.extend(types.iter().map(|ty| (*ty, b.location)));
        let (region, new) = region_with_block(&arguments);
        let built = b.with_regions("scf.for", &initial, &types, &[], vec![region])?;
        for i in 0..=carried {
            self.mapping.insert(key(argument(old, i)), argument(new, i));
        }
        self.take(&written, |i| argument(new, 1 + carried + i));

        let inner = Builder::at_end(b.context, new, b.location);
        let mut ops = ops_of(old);
        let end = ops.pop().ok_or(Failure)?;
        for op in ops {
            self.op(op, inner.at_location(op.location()))?;
        }
        let mut yielded: Vec<_> = operands_of(end).iter().map(|v| self.map(*v)).collect();
        for index in &written {
            for vector in &self.files[*index].vectors {
                yielded.push(vector.ok_or_else(|| uninitialized(b))?);
            }
        }
        inner.op("scf.yield", &yielded, &[], &[])?;

        for i in 0..carried {
            self.mapping
                .insert(key(result_of(op, i)), result_of(built, i));
        }
        self.take(&written, |i| result_of(built, carried + i));
        Ok(())
    }

    /// Sets the vectors of these files to consecutive values.
    fn take(&mut self, files: &BTreeSet<usize>, value: impl Fn(usize) -> Val<'c>) {
        let mut next = 0;
        for index in files {
            for vector in &mut self.files[*index].vectors {
                *vector = Some(value(next));
                next += 1;
            }
        }
    }

    /// The files made so far that the block writes.
    fn written(&self, block: Blk<'c>) -> BTreeSet<usize> {
        let mut files = BTreeSet::new();
        for op in ops_of(block) {
            let operands = operands_of(op);
            let target = match name_of(op) {
                "cute.clear" => operands.first(),
                "cute.copy" => operands.get(2),
                "cute.gemm" => operands.get(1),
                _ => None,
            };
            files.extend(target.and_then(|v| self.views.get(&key(*v))));
            if let Some(inner) = body_of(op, 0) {
                files.extend(self.written(inner));
            }
        }
        files
    }

    //===-- Registers -----------------------------------------------------===//

    /// The elements at these offsets of a file, as one vector.
    fn read(&self, file: usize, offsets: &[i64], b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let file = &self.files[file];
        let chunk = file.chunk;
        let vector = |offset: i64| {
            file.vectors
                .get((offset / chunk) as usize)
                .ok_or_else(|| b.error("a fragment's layout leaves its registers"))?
                .ok_or_else(|| uninitialized(b))
        };
        let (first, length) = (offsets[0], offsets.len() as i64);
        if is_run(offsets) && first / chunk == (first + length - 1) / chunk {
            let whole = vector(first)?;
            return if length == chunk {
                Ok(whole)
            } else {
                extract(b, whole, first % chunk, length, file.element)
            };
        }
        let mut parts = Vec::new();
        for offset in offsets {
            parts.push(extract_element(
                b,
                vector(*offset)?,
                offset % chunk,
                file.element,
            )?);
        }
        b.value(
            "vector.from_elements",
            &parts,
            b.vector(length, file.element),
            &[],
        )
    }

    /// Sets the elements at these offsets of a file.
    fn write(
        &mut self,
        file: usize,
        offsets: &[i64],
        value: Val<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let file = &mut self.files[file];
        let (chunk, element) = (file.chunk, file.element);
        if offsets
            .iter()
            .any(|o| !(0..chunk * file.vectors.len() as i64).contains(o))
        {
            return Err(b.error("a fragment's layout leaves its registers"));
        }
        let length = offsets.len() as i64;
        // Whole vectors, each a run of the value.
        let whole = length % chunk == 0
            && offsets
                .chunks(chunk as usize)
                .all(|run| is_run(run) && run[0] % chunk == 0);
        if whole {
            for (i, run) in offsets.chunks(chunk as usize).enumerate() {
                let part = if length == chunk {
                    value
                } else {
                    extract(b, value, i as i64 * chunk, chunk, element)?
                };
                file.vectors[(run[0] / chunk) as usize] = Some(part);
            }
            return Ok(());
        }
        let ty = b.vector(chunk, element);
        for (i, offset) in offsets.iter().enumerate() {
            let part = extract_element(b, value, i as i64, element)?;
            let slot = &mut file.vectors[(offset / chunk) as usize];
            let old = match slot {
                Some(old) => *old,
                None => b.value(
                    "ub.poison",
                    &[],
                    ty,
                    &[("value", b.attribute("#ub.poison")?)],
                )?,
            };
            let position = [("static_position", b.i64_array(&[offset % chunk]))];
            *slot = Some(b.value("vector.insert", &[part, old], ty, &position)?);
        }
        Ok(())
    }
}

/// Elements of a register tensor: far beyond what a thread has registers for.
const MOST_REGISTERS: i64 = 65536;

fn new_file<'c>(memref: &MemRef<'c>) -> Result<File<'c>, String> {
    let total = memref.layout.cosize().map_err(|e| e.to_string())?;
    if total > MOST_REGISTERS {
        return Err(format!(
            "expected a register tensor that spans at most {MOST_REGISTERS} elements, found {total}: {}",
            memref.layout
        ));
    }
    let first = memref.layout.mode(0).map_err(|e| e.to_string())?;
    let chunk = first.size().map_err(|e| e.to_string())?;
    // Only where the first mode is the run that one vector holds.
    let runs = (0..chunk).all(|i| first.at(i) == i) && total % chunk == 0;
    let chunk = if runs { chunk } else { 1 };
    Ok(File {
        element: types::register_type(memref.element),
        chunk,
        vectors: vec![None; (total / chunk) as usize],
    })
}

fn uninitialized(b: Builder) -> Failure {
    b.error("reads registers that nothing has written; cute.clear them first")
}

fn is_run(offsets: &[i64]) -> bool {
    offsets
        .iter()
        .enumerate()
        .all(|(i, o)| *o == offsets[0] + i as i64)
}

/// All index tuples below `extents`, the first fastest.
pub(crate) fn positions(extents: &[i64]) -> Vec<Vec<i64>> {
    let count: i64 = extents.iter().product();
    (0..count)
        .map(|mut i| {
            extents
                .iter()
                .map(|n| {
                    let index = i % n;
                    i /= n;
                    index
                })
                .collect()
        })
        .collect()
}

/// The registers of the atom `at` of a retiled fragment.
fn elements(layout: &Layout, at: &[i64], b: Builder) -> Result<Vec<i64>, Failure> {
    let access = atom_access(layout, at).map_err(|e| b.error(e))?;
    Ok(access.values.iter().map(|v| access.offset + v).collect())
}

/// How many elements an atom delivers: the register side says, which for ldmatrix differs from
/// what each thread points at.
fn register_values(from: &MemRef, to: &MemRef, at: &[i64], b: Builder) -> Result<i64, Failure> {
    let side = if to.space == Space::Rmem { to } else { from };
    let access = atom_access(&side.layout, at).map_err(|e| b.error(e))?;
    Ok(access.values.len() as i64)
}

/// The registers of the MMA atom at (., i, j) of a fragment (V, I, J).
fn run_of(layout: &Layout, i: i64, j: i64, b: Builder) -> Result<Vec<i64>, Failure> {
    let fail = |e: cute_layout::LayoutError| b.error(e.to_string());
    let values = layout.mode(0).map_err(fail)?;
    let start = layout.mode(1).map_err(fail)?.at(i) + layout.mode(2).map_err(fail)?.at(j);
    Ok((0..values.size().map_err(fail)?)
        .map(|v| start + values.at(v))
        .collect())
}

fn extract<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    from: i64,
    length: i64,
    element: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let attributes = [
        ("offsets", b.attribute(&format!("[{from}]"))?),
        ("sizes", b.attribute(&format!("[{length}]"))?),
        ("strides", b.attribute("[1]")?),
    ];
    b.value(
        "vector.extract_strided_slice",
        &[vector],
        b.vector(length, element),
        &attributes,
    )
}

fn extract_element<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    index: i64,
    element: Type<'c>,
) -> Result<Val<'c>, Failure> {
    b.value(
        "vector.extract",
        &[vector],
        element,
        &[("static_position", b.i64_array(&[index]))],
    )
}

#[cfg(test)]
mod tests {
    use super::positions;

    #[test]
    fn the_first_extent_is_the_fastest() {
        assert_eq!(
            positions(&[2, 1, 2]),
            [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]
        );
    }
}

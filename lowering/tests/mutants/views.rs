//! Mutants of views: where shared memory has its place and nothing is address arithmetic yet, one user of a
//! tensor sees it by another layout.

use crate::common::{self, Gemm, compile, package_of, parallel, run_passes, said};
use crate::list::{Entry, Verdict};
use cute_ir::{
    mlir::*,
    ops::cute,
    types::memref_of,
    types::{MemRef, Space},
};
use cute_layout::{Layout, Swizzle};
use cute_lowering::CompileOptions;
use cute_runtime::Package;
use melior::{
    Context,
    ir::{Module, Operation, operation::OperationLike},
};

/// Mutants that one thread makes from one module.
const PIECE: usize = 8;

/// All mutants with their verdicts.
pub fn mutants(
    problem: &Gemm,
    options: &CompileOptions,
    judge: &(impl Fn(&Package) -> Verdict + Sync),
) -> Vec<Entry> {
    let passes = common::passes(options).unwrap();
    let (before, after) = passes
        .split_once("cute-lower-layouts")
        .expect("a pass after cute-allocate-shared");
    let (before, after) = (
        before.trim_end_matches(','),
        format!("cute-lower-layouts{after}"),
    );
    let source = problem.source();
    let count = {
        let context = cute_ir::context();
        let module = before_layouts(&context, &source, before);
        changes(module.as_operation()).len()
    };
    let pieces: Vec<usize> = (0..count).step_by(PIECE).collect();
    let made = parallel(&pieces, |from| {
        let context = cute_ir::context();
        let module = before_layouts(&context, &source, before);
        let piece = *from..(*from + PIECE).min(count);
        piece
            .map(|index| {
                let clone = Operation::clone(&module.as_operation());
                let mut clone = Module::from_operation(clone).expect("a module");
                let (entry, applied) = Rewriter::within(&mut clone, |rewriter, root| {
                    let change = changes(root).swap_remove(index);
                    let entry = Entry {
                        id: change.id(),
                        kind: change.kind,
                        place: change.place(),
                        what: change.what(),
                        verdict: Verdict::Rejected,
                    };
                    let applied = said(&context, || apply(rewriter, &change, root));
                    (entry, applied)
                });
                let compiled = applied.and_then(|()| {
                    run_passes(&mut clone, &after, true)?;
                    package_of(&clone)
                });
                match compiled {
                    Ok(package) => Entry {
                        verdict: judge(&package),
                        ..entry
                    },
                    Err(_) => entry,
                }
            })
            .collect::<Vec<_>>()
    });
    let mut entries: Vec<Entry> = made.into_iter().flatten().collect();
    entries.extend(arguments(problem, options, judge));
    entries
}

/// Rows of an argument as far apart as in another tensor.
fn arguments(
    problem: &Gemm,
    options: &CompileOptions,
    judge: &(impl Fn(&Package) -> Verdict + Sync),
) -> Vec<Entry> {
    let all: Vec<(usize, i64)> = (0..3)
        .flat_map(|which| [-8, -1, 1, 8].map(|by| (which, by)))
        .collect();
    parallel(&all, |&(which, by)| {
        let mut other = *problem;
        other.gaps[which] += by;
        let name = ["A", "B", "C"][which];
        let verdict = match compile(&cute_ir::context(), &other.source(), options) {
            Ok(package) => judge(&package),
            Err(_) => Verdict::Rejected,
        };
        Entry {
            id: format!("argument {name} rows {by:+}"),
            kind: "stride of an argument",
            place: "the kernel's argument".to_owned(),
            what: format!(
                "rows of {name} are {by:+} elements further apart for the kernel than in memory"
            ),
            verdict,
        }
    })
}

/// The module where shared memory has its place.
fn before_layouts<'c>(context: &'c Context, source: &str, passes: &str) -> Module<'c> {
    let mut module = Module::parse(context, source).unwrap();
    run_passes(&mut module, passes, true).unwrap();
    module
}

/// Another layout for one partition of a tensor in shared memory.
struct Change<'c> {
    partition: Op<'c>,
    /// The tensor of which it is one.
    tensor: Val<'c>,
    /// Its number among the partitions.
    number: usize,
    alloca: Op<'c>,
    old: MemRef<'c>,
    new: MemRef<'c>,
    kind: &'static str,
}

impl Change<'_> {
    fn id(&self) -> String {
        format!("view#{} {}", self.number, self.text())
    }

    /// The layout, with the swizzle where that is what changes.
    fn text(&self) -> String {
        let swizzle = |memref: &MemRef| {
            memref
                .swizzle
                .map_or_else(|| "no swizzle".to_owned(), |s| s.to_string())
        };
        if self.old.swizzle != self.new.swizzle {
            swizzle(&self.new)
        } else {
            self.new.layout.to_string()
        }
    }

    fn place(&self) -> String {
        let user = users_of(result_of(self.partition, 0)).pop();
        let step = user
            .map(|user| user.location().to_string())
            .and_then(|location| {
                let rest = location.strip_prefix("loc(\"")?;
                let (name, rest) = rest.split_once('"')?;
                rest.starts_with('(').then(|| name.to_owned())
            });
        let name = name_of(self.partition)
            .rsplit('.')
            .next()
            .unwrap_or_default();
        format!(
            "{name} {}, {}",
            self.number,
            step.unwrap_or_else(|| "no step".to_owned())
        )
    }

    fn what(&self) -> String {
        let text = |memref: &MemRef| match memref.swizzle {
            Some(swizzle) => format!("{swizzle}, {}", memref.layout),
            None => memref.layout.to_string(),
        };
        format!("{} becomes {}", text(&self.old), text(&self.new))
    }
}

/// Every change there is, in the order of the text.
fn changes<'c>(module: Op<'c>) -> Vec<Change<'c>> {
    let mut all = Vec::new();
    let mut number = 0;
    for op in nested_ops(module) {
        let source = cute::TiledCopyPartitionS::of(op).map(|partition| partition.tensor());
        let destination = cute::TiledCopyPartitionD::of(op).map(|partition| partition.tensor());
        let Some(tensor) = source.or(destination) else {
            continue;
        };
        let Some(alloca) = alloca_of(tensor) else {
            continue;
        };
        let old = memref_of(result_of(alloca, 0)).expect("a tensor");
        number += 1;
        let mut add = |kind, new| {
            all.push(Change {
                partition: op,
                tensor,
                number,
                alloca,
                old: old.clone(),
                new,
                kind,
            })
        };
        for swizzle in swizzles(old.swizzle) {
            let align = old.align.max(swizzle.map_or(1, |s| s.period()));
            add(
                "swizzle of a view",
                MemRef {
                    swizzle,
                    align,
                    ..old.clone()
                },
            );
        }
        for layout in layouts(&old.layout) {
            add(
                "stride of a view",
                MemRef {
                    layout,
                    ..old.clone()
                },
            );
        }
    }
    all
}

/// The allocation in shared memory that a value is a slice of.
fn alloca_of(value: Val<'_>) -> Option<Op<'_>> {
    let op = defining_op(value)?;
    if let Some(slice) = cute::Slice::of(op) {
        return alloca_of(slice.input());
    }
    let alloca = cute::MemrefAlloca::of(op)?;
    let memref = memref_of(alloca.result())?;
    (memref.space == Space::Smem).then_some(op)
}

/// A swizzle with one of its numbers one more or less.
fn swizzles(old: Option<Swizzle>) -> Vec<Option<Swizzle>> {
    let Some(old) = old else {
        return vec![Swizzle::new(1, 4, 3).ok()];
    };
    let (b, m, s) = (i64::from(old.b()), i64::from(old.m()), i64::from(old.s()));
    let near = [
        (b - 1, m, s),
        (b + 1, m, s),
        (b, m - 1, s),
        (b, m + 1, s),
        (b, m, s - 1),
        (b, m, s + 1),
    ];
    // Some are no swizzles: S<3,4,2> has bits that select themselves.
    near.into_iter()
        .filter_map(|(b, m, s)| Swizzle::new(b, m, s).ok())
        .map(Some)
        .collect()
}

/// A layout with one of its strides one element or one vector more or less.
fn layouts(old: &Layout) -> Vec<Layout> {
    let text = old.to_string();
    let Some((shape, strides)) = text.split_once(':') else {
        return Vec::new();
    };
    let strides: Vec<i64> = strides
        .trim_matches(['(', ')'])
        .split(',')
        .filter_map(|s| s.parse().ok())
        .collect();
    let mut all = Vec::new();
    for at in 0..strides.len() {
        for by in [-8, -1, 1, 8] {
            let mut new = strides.clone();
            new[at] += by;
            if new[at] < 0 {
                continue;
            }
            let new: Vec<String> = new.iter().map(i64::to_string).collect();
            all.extend(format!("{shape}:({})", new.join(",")).parse::<Layout>());
        }
    }
    all
}

/// Gives the partition a tensor of its own at the same place. What follows from its type is inferred anew;
/// fails where that, or what uses it, does not take it.
fn apply<'c>(rewriter: &Rewriter<'c>, change: &Change<'c>, module: Op<'c>) -> Result<(), String> {
    let rejected = || "rejected".to_owned();
    let before = Builder::before(change.alloca);
    let alloca = before.clone_op(change.alloca, &mut Mapping::new());
    let ty = change
        .new
        .to_type(change.alloca.location())
        .map_err(|_| rejected())?;
    set_type(result_of(alloca, 0), ty);
    let view = view_of(change.tensor, change.alloca, result_of(alloca, 0)).ok_or_else(rejected)?;
    let mut operands = operands_of(change.partition);
    operands[1] = view;
    let partition = Builder::before(change.partition)
        .infer(name_of(change.partition), &operands, &[])
        .map_err(|_| rejected())?;
    let old = result_of(change.partition, 0);
    for user in users_of(old) {
        for (index, operand) in operands_of(user).into_iter().enumerate() {
            if key(operand) == key(old) {
                set_operand(user, index, partition);
            }
        }
    }
    rewriter.erase(change.partition).map_err(|_| rejected())?;
    if module.verify() {
        Ok(())
    } else {
        Err(rejected())
    }
}

/// The same slices of another tensor.
fn view_of<'c>(value: Val<'c>, alloca: Op<'c>, with: Val<'c>) -> Option<Val<'c>> {
    let op = defining_op(value)?;
    if key(result_of(op, 0)) == key(result_of(alloca, 0)) {
        return Some(with);
    }
    let mut operands = operands_of(op);
    operands[0] = view_of(operands[0], alloca, with)?;
    Builder::before(op).infer(name_of(op), &operands, &[]).ok()
}

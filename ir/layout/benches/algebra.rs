//! The time that the algebra takes on the layouts of real GEMMs.
//!
//! `cargo bench -p cute-layout --bench algebra` measures each operation on each layout with criterion;
//! `cargo bench -p cute-layout --bench algebra -- --table` prints the medians over the list, and counts allocations.

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::Criterion;
use cute_layout::{IntTuple, Layout, Tile, int};

#[path = "gemm_layouts.rs"]
mod gemm_layouts;
use gemm_layouts::CASES;

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, m: Memory) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(m) }
    }
    unsafe fn dealloc(&self, p: *mut u8, m: Memory) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(p, m) }
    }
    unsafe fn realloc(&self, p: *mut u8, m: Memory, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.realloc(p, m, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The operands of a case, parsed.
struct Ready {
    name: &'static str,
    text: &'static str,
    layout: Layout,
    rhs: Layout,
    tile: Tile,
    fill: Layout,
    target: IntTuple,
}

fn ready() -> Vec<Ready> {
    let layout = |t: &str| Layout::parse(t).expect(t);
    CASES
        .iter()
        .map(|c| Ready {
            name: c.name,
            text: c.layout,
            layout: layout(c.layout),
            rhs: layout(c.rhs),
            tile: Tile::parse(c.tile).expect(c.tile),
            fill: layout(c.fill.0),
            target: int(c.fill.1),
        })
        .collect()
}

/// The result of an operation.
#[derive(Clone)]
enum Made {
    Layout(#[expect(dead_code, reason = "made to be dropped")] Layout),
    Text(#[expect(dead_code, reason = "made to be dropped")] String),
}

/// One operation on one case. A result that is refused would be measured for nothing, so it ends the run.
type Op = fn(&Ready) -> Made;

fn made<E: std::fmt::Display>(c: &Ready, r: Result<Layout, E>) -> Made {
    match r {
        Ok(l) => Made::Layout(l),
        Err(e) => panic!("{}: {e}", c.name),
    }
}

/// The operations, in the order of the table.
const OPS: [(&str, Op); 9] = [
    ("composition", |c| made(c, c.layout.composition(&c.rhs))),
    ("complement", |c| made(c, c.fill.complement(&c.target))),
    ("logical_divide", |c| {
        made(c, c.layout.logical_divide(&c.tile))
    }),
    ("zipped_divide", |c| {
        made(c, c.layout.zipped_divide(&c.tile))
    }),
    ("coalesce", |c| made(c, c.layout.coalesce())),
    ("right_inverse", |c| made(c, c.layout.right_inverse())),
    ("left_inverse", |c| made(c, c.layout.left_inverse())),
    ("parse", |c| made(c, Layout::parse(c.text))),
    ("print", |c| Made::Text(c.layout.to_string())),
];

fn median(v: &mut [f64]) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

/// Nanoseconds a call, with dropping what it makes: the best of the batches, since other work on the machine only adds.
fn measure(f: impl Fn() -> Made) -> f64 {
    const BATCHES: usize = 25;
    let time = |n: u32| {
        let start = Instant::now();
        (0..n).for_each(|_| drop(black_box(f())));
        start.elapsed()
    };
    let mut n = 64u32;
    while time(n) < Duration::from_millis(1) {
        n *= 2;
    }
    let batches = (0..BATCHES).map(|_| time(n).as_nanos() as f64 / f64::from(n));
    batches.fold(f64::INFINITY, f64::min)
}

/// Allocations of one call.
fn allocations(f: impl Fn() -> Made) -> f64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(black_box(f()));
    (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64
}

/// Medians over the list. The floor is a copy of the result: its memory, and no thought.
fn table() {
    let cases = ready();
    println!("medians over {} layouts", cases.len());
    println!(
        "{:<16} {:>8} {:>12} {:>9} {:>12} {:>12}",
        "", "ns", "slowest, ns", "floor, ns", "allocations", "of the floor"
    );
    for (name, op) in OPS {
        let over = |f: &dyn Fn(&Ready) -> f64| {
            let mut all: Vec<f64> = cases.iter().map(f).collect();
            let middle = median(&mut all);
            (middle, all.last().copied().unwrap_or(middle))
        };
        let (time, slowest) = over(&|c| measure(|| op(black_box(c))));
        let (floor, _) = over(&|c| {
            let result = op(c);
            measure(|| black_box(&result).clone())
        });
        let (made, _) = over(&|c| allocations(|| op(c)));
        let (least, _) = over(&|c| {
            let result = op(c);
            allocations(|| result.clone())
        });
        println!("{name:<16} {time:>8.0} {slowest:>12.0} {floor:>9.0} {made:>12.0} {least:>12.0}");
    }
}

fn each(criterion: &mut Criterion) {
    for (name, op) in OPS {
        let mut group = criterion.benchmark_group(name);
        for c in ready() {
            group.bench_function(c.name, |b| b.iter(|| op(black_box(&c))));
        }
        group.finish();
    }
}

fn main() {
    if std::env::args().any(|a| a == "--table") {
        return table();
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .configure_from_args();
    each(&mut criterion);
    criterion.final_summary();
}

//! Measures how long the addresses of one GEMM kernel take: `cargo run --release -p cute-simplify --example gemm_speed`.

#[path = "../tests/common/mod.rs"]
mod common;

use cute_simplify::{Limits, simplify};
use std::time::Instant;

fn main() {
    let region = common::gemm_region();
    let mut times = Vec::new();
    let mut answer = None;
    for _ in 0..30 {
        let start = Instant::now();
        answer = simplify(&region, &Limits::default()).ok();
        times.push(start.elapsed());
    }
    let Some(answer) = answer else { return };
    println!(
        "{} nodes, {} roots: first {:?}",
        region.nodes.len(),
        region.roots.len(),
        times[0]
    );
    times.sort();
    println!(
        "median {:?}, min {:?}, max {:?}",
        times[times.len() / 2],
        times[0],
        times[times.len() - 1]
    );
    println!("{:#?}", answer.stats);
    for (root, text) in answer.roots.iter().zip(common::show_all(&answer)) {
        println!("{root:4} {text}");
    }
}

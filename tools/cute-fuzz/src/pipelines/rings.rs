//! Several rings of buffers in one kernel, of depths and manners of their own: tokens through loops and branches say all that must be waited
//! for.

use super::program;
use crate::emulate::Expected;
use crate::kernels::ring::{Ring, finish, noise, rotate};
use crate::kernels::text::{Kernel, Text};
use crate::random::Random;

/// A kernel of this kind, and what it leaves in its tensors: of each ring what went in, and the same where it comes out.
pub fn kernel(random: &mut Random) -> (Kernel, Expected) {
    let threads = *random.pick(&[32, 64, 128]);
    let n = random.range(0, 6);
    let mut text = Text::default();
    text.line("%thread = cute.make_coord(%t) : (i32) -> !cute.coord<\"?\">");
    let mut rings: Vec<Ring> = (0..random.range(2, 3))
        .map(|i| {
            let kind = *random.pick(&[("f32", 4), ("f16", 8), ("i32", 4), ("f64", 2), ("i8", 16)]);
            let stages = random.range(1, 4);
            Ring::new(&i.to_string(), kind, threads, stages, random.chance(60))
        })
        .collect();
    rings.iter().for_each(|ring| ring.begin(&mut text));
    for _ in 0..random.range(3, 10) {
        noise(&mut text, random, 0);
        let one = random.below(rings.len());
        match random.below(8) {
            0..=2 => rings[one].produce_next(&mut text, random),
            3 | 4 => rings[one].consume_next(&mut text, random),
            5 => rotate(&mut text, &mut rings[one..=one], random, n),
            _ => rotate(&mut text, &mut rings, random, n),
        }
    }
    let (kernel, sizes) = finish(text, rings, random, threads, n);
    let copied = |ring: usize, size: i64| -> Vec<f64> {
        (0..size).map(|at| program::value(2 * ring, at)).collect()
    };
    let elements = sizes.iter().enumerate().flat_map(|(ring, size)| {
        let rows = copied(ring, *size);
        [rows.clone(), rows]
    });
    let expected = Expected::Holds {
        given: program::value,
        first: 0,
        elements: elements.collect(),
    };
    (kernel, expected)
}

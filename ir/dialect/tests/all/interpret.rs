//! Tests of the interpreter in numbers of their own, integers that are all known: each start is what the layouts give.

use cute_ir::{
    args::ElementArgs,
    infer::dynamic_leaves,
    interpret::{Domain, Leaves, Numbers, Place, Trouble, Views, digits},
    mlir::*,
    ops::cute,
    types::{self, CuteType, MemRef, Space},
    view::{self, View},
};
use cute_layout::{Dyn, IntTuple, Layout, Leaf, Tile, int, ops::Attrs, tuple};
use melior::ir::{Location, Module};
use std::collections::HashMap;

/// Integers. Where the domain `knows` indices, it says so of the even ones, and views are taken at these.
struct Integers {
    arguments: HashMap<ValueKey, i64>,
    knows: bool,
}

impl Numbers for Integers {
    type Index = i64;
    type Start = i64;
    type Error = String;

    fn add_known(&mut self, start: i64, elements: i64, scale: i64) -> Result<i64, String> {
        Ok(start + elements * scale)
    }

    fn add_index(&mut self, start: i64, elements: &i64, scale: i64) -> Result<i64, String> {
        Ok(start + elements * scale)
    }

    fn add_layout(
        &mut self,
        start: i64,
        layout: &Layout,
        index: &i64,
        signed: bool,
        scale: i64,
    ) -> Result<i64, String> {
        let digits = digits(layout, signed).map_err(|e| e.to_string())?;
        let parts = digits.iter().map(|digit| {
            let part = index / digit.divisor;
            digit.modulus.map_or(part, |modulus| part % modulus) * digit.stride
        });
        Ok(start + parts.sum::<i64>() * scale)
    }

    fn error(&self, trouble: Trouble<'_>) -> String {
        format!("{trouble:?}")
    }
}

impl<'c> Domain<'c> for Integers {
    fn follows(&self, memref: &MemRef<'c>) -> bool {
        memref.space != Space::Rmem
    }

    fn index(&mut self, value: Val<'c>) -> Result<i64, String> {
        let known = self.arguments.get(&key(value));
        known.copied().ok_or_else(|| "no number".to_owned())
    }

    fn known(&self, index: &i64) -> Option<i64> {
        (self.knows && index % 2 == 0).then_some(*index)
    }

    fn begin(&mut self, _: Op<'c>, _: &MemRef<'c>) -> Result<Option<i64>, String> {
        Ok(None)
    }

    fn seen_as(&mut self, from: &Place<'c, i64>, _: &MemRef<'c>) -> Result<i64, String> {
        Ok(from.start)
    }
}

/// Numbers that are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as i64 % n
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as i64) as usize]
    }
}

const LAYOUTS: [&str; 6] = [
    "(16,8):(8,1)",
    "(16,8):(1,16)",
    "(16,(4,2)):(2,(1,64))",
    "((2,8),8):((1,16),2)",
    "((4,4),(2,4)):((1,32),(4,8))",
    "(16,8):(0,1)",
];

#[test]
fn digits_are_what_a_layout_gives() {
    for text in LAYOUTS {
        let layout = Layout::parse(text).expect("a layout");
        let mut integers = Integers {
            arguments: HashMap::new(),
            knows: false,
        };
        for index in -300..300 {
            let signed = integers.add_layout(0, &layout, &index, true, 1);
            assert_eq!(signed, Ok(layout.at(index)), "{text} at {index}");
            if (0..layout.size().expect("static")).contains(&index) {
                let within = integers.add_layout(0, &layout, &index, false, 1);
                assert_eq!(within, signed, "{text} at {index}");
            }
        }
    }
}

/// A kernel's tensor, some integers, and nothing else.
const KERNEL: &str = "
func.func @f(%t: !cute.memref<f32, gmem, align<16>, \"LAYOUT\">, %a: i32, %b: i32) {
  func.return
}";

/// An op that makes a view, with a random coordinate: its name, a tile where it takes one, the coordinate's form, and its numbers.
fn random_view(
    random: &mut Random,
    layout: &Layout,
) -> (&'static str, Option<Tile>, IntTuple, [i64; 2]) {
    let dynamic = || IntTuple::Leaf(Leaf::Dynamic(Dyn::I32));
    let free = || IntTuple::Leaf(Leaf::Underscore);
    let sizes: Vec<i64> = (layout.modes().iter())
        .map(|mode| mode.size().expect("static"))
        .collect();
    let mut at = |sizes: [i64; 2]| [random.below(sizes[0]), random.below(sizes[1])];
    let both = at([sizes[0], sizes[1]]);
    let of_tiles = at([sizes[0] / 4, sizes[1] / 2]);
    match random.below(5) {
        0 => (cute::SLICE, None, tuple([dynamic(), free()]), both),
        1 => (cute::SLICE, None, tuple([free(), dynamic()]), [both[1], 0]),
        2 => (
            cute::DOMAIN_OFFSET,
            None,
            tuple([dynamic(), dynamic()]),
            [both[0], -both[1]],
        ),
        3 => (
            cute::DOMAIN_OFFSET,
            None,
            tuple([int(1), dynamic()]),
            [both[1], 0],
        ),
        _ => {
            let tile = Tile::parse("[4;2]").expect("a tile");
            (
                cute::LOCAL_TILE,
                Some(tile),
                tuple([dynamic(), dynamic()]),
                of_tiles,
            )
        }
    }
}

/// The same coordinate with its numbers.
fn numbered(coord: &IntTuple, numbers: &[i64]) -> IntTuple {
    fn numbered(coord: &IntTuple, numbers: &mut impl Iterator<Item = i64>) -> IntTuple {
        match coord {
            IntTuple::Leaf(Leaf::Dynamic(_)) => {
                int(numbers.next().expect("a number for each leaf"))
            }
            IntTuple::Leaf(_) => coord.clone(),
            IntTuple::Tuple(parts) => {
                IntTuple::Tuple(parts.iter().map(|part| numbered(part, numbers)).collect())
            }
        }
    }
    numbered(coord, &mut numbers.iter().copied())
}

#[test]
fn starts_of_random_views_are_what_their_layouts_give() {
    let context = cute_ir::context();
    let mut random = Random(7);
    let mut seen = 0;
    for round in 0..120 {
        let text = random.one_of(&LAYOUTS);
        let layout = Layout::parse(text).expect("a layout");
        let (name, tile, coord, numbers) = random_view(&mut random, &layout);
        let given = numbered(&coord, &numbers);
        // What the layout algebra says at the numbers themselves.
        let mut operands = Vec::from_iter(tile.clone().map(CuteType::Tile));
        operands.push(CuteType::Coord(given.clone()));
        let expected = view::apply(name, &layout, &operands, &Attrs::default(), None, None)
            .expect("a view")
            .expect("a view of these operands");
        let start = expected.start(&int(0), &[]).expect("a start");
        let start = start.as_static().expect("a number");

        let mut module =
            Module::parse(&context, &KERNEL.replace("LAYOUT", text)).expect("the text parses");
        Rewriter::within(&mut module, |_, module| {
            let function = nested_ops(module)[0];
            let body = body_of(function, 0).expect("a body");
            let [tensor, a, b] = arguments_of(body)[..] else {
                panic!("three arguments")
            };
            let builder = Builder::before(ops_of(body)[0]);
            let leaves = &[a, b][..dynamic_leaves(&coord).len()];
            let made = builder.coord(&coord, leaves).expect("a coordinate");
            let mut operands = vec![tensor];
            if let Some(tile) = &tile {
                let ty = types::tile_type(builder.context, tile);
                operands.push(builder.static_value(ty).expect("a tile"));
            }
            operands.push(made);
            let part = builder.infer(name, &operands, &[]).expect("a view");
            let pointer = builder
                .infer(cute::GET_ITER, &[part], &[])
                .expect("a pointer");

            let mut integers = Integers {
                arguments: HashMap::from([(key(a), numbers[0]), (key(b), numbers[1])]),
                knows: round % 2 == 0,
            };
            let mut views = Views::default();
            let memref = types::memref_of(tensor).expect("a tensor");
            let bytes = memref.element_bytes();
            let start_of_all = 1000;
            views.set(
                tensor,
                Place {
                    memref,
                    start: start_of_all,
                },
            );
            for op in ops_of(body) {
                views.op(&mut integers, op).expect("a start");
            }
            let place = views.get(pointer).expect("a pointer");
            assert_eq!(
                place.start,
                start_of_all + start * bytes,
                "{name} of {text} at {given}"
            );
            // Every element of the view, at a coordinate that is an argument.
            let size = expected.layout.size().expect("static");
            let one = types::coord_type(builder.context, &IntTuple::Leaf(Leaf::Dynamic(Dyn::I32)));
            let coord = builder
                .value(cute::MAKE_COORD, &[b], one, &[])
                .expect("a coordinate");
            for index in 0..size {
                integers.arguments.insert(key(b), index);
                let element = ElementArgs {
                    tensor: part,
                    coord,
                };
                let place = views.element(&mut integers, element).expect("an element");
                let behind = (start + expected.layout.at(index)) * bytes;
                assert_eq!(place.start, start_of_all + behind, "{name} of {text}");
                seen += 1;
            }
        });
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn an_atom_starts_at_its_place_in_the_partition() {
    let context = cute_ir::context();
    let text = "((4,2),3,5):((1,8),16,64)";
    let mut module =
        Module::parse(&context, &KERNEL.replace("LAYOUT", text)).expect("the text parses");
    Rewriter::within(&mut module, |_, module| {
        let body = body_of(nested_ops(module)[0], 0).expect("a body");
        let tensor = arguments_of(body)[0];
        let mut integers = Integers {
            arguments: HashMap::new(),
            knows: false,
        };
        let mut views = Views::default();
        let memref = types::memref_of(tensor).expect("a tensor");
        views.set(tensor, Place { memref, start: 0 });
        let place = views.atom(&mut integers, tensor, &[1, 2, 3]);
        let place = place.expect("an atom");
        assert_eq!(place.start, 4 * (8 + 2 * 16 + 3 * 64));
        assert_eq!(place.memref.layout.size(), Ok(4));
        assert!(views.atom(&mut integers, tensor, &[2, 0, 0]).is_err());
        assert!(views.atom(&mut integers, tensor, &[0, 0]).is_err());
    });
}

#[test]
fn what_nothing_is_known_of_is_said_to_be_so() {
    let context = cute_ir::context();
    let mut module =
        Module::parse(&context, &KERNEL.replace("LAYOUT", LAYOUTS[0])).expect("the text parses");
    Rewriter::within(&mut module, |_, module| {
        let body = body_of(nested_ops(module)[0], 0).expect("a body");
        let [tensor, a, _] = arguments_of(body)[..] else {
            panic!("three arguments")
        };
        let builder = Builder::before(ops_of(body)[0]);
        let coord = tuple([
            IntTuple::Leaf(Leaf::Dynamic(Dyn::I32)),
            IntTuple::Leaf(Leaf::Underscore),
        ]);
        let coord = builder.coord(&coord, &[a]).expect("a coordinate");
        let part = builder.infer(cute::SLICE, &[tensor, coord], &[]);
        let op = defining_op(part.expect("a view")).expect("an op");
        let mut integers = Integers {
            arguments: HashMap::new(),
            knows: true,
        };
        let mut views: Views<i64> = Views::default();
        integers.arguments.insert(key(a), 3);
        assert_eq!(views.op(&mut integers, op), Err("NoStart".to_owned()));
        let memref = types::memref_of(tensor).expect("a tensor");
        views.set(tensor, Place { memref, start: 0 });
        integers.arguments.clear();
        assert_eq!(views.op(&mut integers, op), Err("no number".to_owned()));
        // An index that is known is checked.
        integers.arguments.insert(key(a), 16);
        let said = views.op(&mut integers, op).expect_err("beyond the mode");
        assert!(said.contains("expected a coordinate in [0, 16)"), "{said}");
        let location = Location::unknown(builder.context);
        let unrelated = Builder::at_end(builder.context, body, location).i32(1);
        let unrelated = defining_op(unrelated.expect("a constant")).expect("an op");
        assert_eq!(views.op(&mut integers, unrelated), Ok(false));
    });
}

#[test]
fn leaves_of_the_algebra_are_numbers_too() {
    let sum = View {
        layout: Layout::leaf(1, 0).expect("a layout"),
        terms: vec![],
    };
    let mut leaves = Leaves;
    let start = sum.advance(&mut leaves, tuple([int(1), int(2)]), &[], 4);
    assert_eq!(start, Ok(tuple([int(1), int(2)])));
    assert_eq!(leaves.add_known(int(1), 3, 4), Ok(int(13)));
    assert_eq!(leaves.add_index(int(1), &Leaf::Static(-3), 2), Ok(int(-5)));
    let coordinates = Layout::parse("(4,8):(1@0,1@1)").expect("a layout");
    let start = leaves.add_layout_known(tuple([int(10), int(20)]), &coordinates, 6, 2);
    assert_eq!(start, Ok(tuple([int(14), int(22)])));
}

//! Divides and products.

use cute_layout::{IntTuple, Layout, LayoutError, Result as Algebra, Tile};

use super::{Answer, Call, Function};
use crate::value::{Major, Value};

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["logical_divide"],
        signature: "logical_divide(layout, tiler)",
        about: "(tile, rest) in each mode",
        example: "logical_divide((9,(4,8)):(59,(13,1)), <3:3, (2,4):(1,8)>)",
        gives: "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))",
        arity: 2..=2,
        run: |c| divide(c, Layout::logical_divide),
    },
    Function {
        names: &["zipped_divide"],
        signature: "zipped_divide(layout, tiler)",
        about: "((tile modes), (rest modes))",
        example: "zipped_divide((9,(4,8)):(59,(13,1)), <3:3, (2,4):(1,8)>)",
        gives: "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
        arity: 2..=2,
        run: |c| divide(c, Layout::zipped_divide),
    },
    Function {
        names: &["tiled_divide"],
        signature: "tiled_divide(layout, tiler)",
        about: "((tile modes), rest, rest, ..)",
        example: "tiled_divide((8,16):(1,8), (4,4))",
        gives: "((4,4),2,4):((1,8),4,32)",
        arity: 2..=2,
        run: |c| divide(c, Layout::tiled_divide),
    },
    Function {
        names: &["flat_divide"],
        signature: "flat_divide(layout, tiler)",
        about: "(tile, tile, .., rest, rest, ..)",
        example: "flat_divide((8,16):(1,8), (4,4))",
        gives: "(4,4,2,4):(1,8,4,32)",
        arity: 2..=2,
        run: |c| divide(c, Layout::flat_divide),
    },
    Function {
        names: &["domain_distribute"],
        signature: "domain_distribute(shape, n)",
        about: "a tiler of n elements, as many from each leaf as divide both; fewer, with a note, where the leaves lack factors",
        example: "domain_distribute((15,14), 6)",
        gives: "(3,2):(1,15)",
        arity: 2..=2,
        run: |c| {
            let n = c.shape(1)?.size()?;
            let made = Layout::domain_distribute(&c.shape(0)?, n)?;
            let size = made.size()?;
            if size != n {
                c.note(format!(
                    "{made} takes {size} elements, not {n}: the leaves lack factors of it"
                ));
            }
            Ok(made.into())
        },
    },
    Function {
        names: &["logical_product"],
        signature: "logical_product(layout, tiler)",
        about: "(block, copies) in each mode",
        example: "logical_product((2,2):(4,1), 6:1)",
        gives: "((2,2),(2,3)):((4,1),(2,8))",
        arity: 2..=2,
        run: |c| product(c, Layout::logical_product),
    },
    Function {
        names: &["zipped_product"],
        signature: "zipped_product(layout, tiler)",
        about: "((block modes), (copy modes))",
        example: "zipped_product((2,5):(5,1), (3,4):(1,3))",
        gives: "((2,5),(3,4)):((5,1),(10,30))",
        arity: 2..=2,
        run: |c| product(c, Layout::zipped_product),
    },
    Function {
        names: &["tiled_product"],
        signature: "tiled_product(layout, tiler)",
        about: "((block modes), copies, copies, ..)",
        example: "tiled_product((2,5):(5,1), (3,4):(1,3))",
        gives: "((2,5),3,4):((5,1),10,30)",
        arity: 2..=2,
        run: |c| product(c, Layout::tiled_product),
    },
    Function {
        names: &["flat_product"],
        signature: "flat_product(layout, tiler)",
        about: "(block, .., copies, ..)",
        example: "flat_product((2,5):(5,1), (3,4):(1,3))",
        gives: "(2,5,3,4):(5,1,10,30)",
        arity: 2..=2,
        run: |c| product(c, Layout::flat_product),
    },
    Function {
        names: &["blocked_product"],
        signature: "blocked_product(layout, layout)",
        about: "each mode (block, copies): the block stays whole",
        example: "blocked_product((2,5):(5,1), (3,4):(1,3))",
        gives: "((2,3),(5,4)):((5,10),(1,30))",
        arity: 2..=2,
        run: |c| {
            let tiler = c.layout(1)?;
            c.map(0, |l| Ok(l.blocked_product(&tiler)?))
        },
    },
    Function {
        names: &["raked_product"],
        signature: "raked_product(layout, layout)",
        about: "each mode (copies, block): the copies interleave",
        example: "raked_product((2,5):(5,1), (3,4):(1,3))",
        gives: "((3,2),(4,5)):((10,5),(30,1))",
        arity: 2..=2,
        run: |c| {
            let tiler = c.layout(1)?;
            c.map(0, |l| Ok(l.raked_product(&tiler)?))
        },
    },
    Function {
        names: &["tile_to_shape"],
        signature: "tile_to_shape(layout, shape[, order])",
        about: "the block repeated until the modes have these sizes",
        example: "tile_to_shape(S<2,4,3> o 0 o (8,32):(32,1), (128,32,3))",
        gives: "S<2,4,3> o 0 o ((8,16),(32,1),(1,3)):((32,256),(1,0),(0,4096))",
        arity: 2..=3,
        run: tile_to_shape,
    },
];

type ByTile = fn(&Layout, &Tile) -> Algebra<Layout>;

fn divide(c: &mut Call<'_>, f: ByTile) -> Answer {
    let tile = c.tile(1)?;
    let mut note = None;
    let answer = c.map(0, |l| {
        let made = f(l, &tile)?;
        note = match (l.size(), made.size()) {
            (Ok(before), Ok(after)) if after == before => None,
            (Ok(before), Ok(after)) => Some(format!(
                "{tile} does not divide {l}, so the divide rounds up: size {after} where {before} elements exist; mask the others"
            )),
            _ => match l.divides_evenly(&tile) {
                Ok(true) => None,
                Ok(false) => Some(format!(
                    "{tile} does not divide {l}, so the divide rounds up; mask what is beyond"
                )),
                Err(LayoutError::NeedsFact { fact, .. }) => Some(format!(
                    "the divide rounds up where {tile} does not divide {l}; exact with {fact}"
                )),
                Err(_) => Some(format!("the divide rounds up where {tile} does not divide {l}")),
            },
        };
        Ok(made)
    });
    note.into_iter().for_each(|n| c.note(n));
    answer
}

fn product(c: &mut Call<'_>, f: ByTile) -> Answer {
    let tile = c.tile(1)?;
    c.map(0, |l| Ok(f(l, &tile)?))
}

fn tile_to_shape(c: &mut Call<'_>) -> Answer {
    let shape = c.shape(1)?;
    let order = match c.args.get(2).map(|a| &a.0) {
        None | Some(Value::Major(Major::Left)) => None,
        Some(Value::Major(Major::Right)) => {
            Some((0..shape.rank() as i64).rev().collect::<IntTuple>())
        }
        Some(_) => Some(c.tuple(2)?),
    };
    c.map(0, |l| Ok(l.tile_to_shape(&shape, order.as_ref())?))
}

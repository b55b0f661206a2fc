//! Tiles of numbers in global and shared memory, and the ways in which the threads of a block move them: all as types, which the layout
//! algebra gives.

use crate::random::Random;
use cute_layout::{CopyAtom, Layout, Leaf, Result, Swizzle, TiledCopy, int, tuple};

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub name: &'static str,
    pub bytes: i64,
    /// Numbers that are added and multiplied: small ones exactly.
    pub computes: bool,
}

impl Element {
    pub const ALL: [Element; 7] = [
        Element::of("f32", 4, true),
        Element::of("f16", 2, true),
        Element::of("i32", 4, true),
        Element::of("f64", 8, true),
        Element::of("i64", 8, true),
        Element::of("bf16", 2, false),
        Element::of("i8", 1, false),
    ];
    pub const F16: Element = Element::ALL[1];

    const fn of(name: &'static str, bytes: i64, computes: bool) -> Element {
        Element {
            name,
            bytes,
            computes,
        }
    }

    pub fn is_float(self) -> bool {
        !self.name.starts_with('i')
    }

    /// The text of a constant.
    pub fn constant(self, value: i64) -> String {
        let point = if self.is_float() { ".0" } else { "" };
        format!("{value}{point} : {}", self.name)
    }

    /// The operation that adds (`add`) or multiplies (`mul`).
    pub fn operation(self, name: &str) -> String {
        format!("arith.{name}{}", if self.is_float() { 'f' } else { 'i' })
    }
}

/// A tile of `m` rows and `n` columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    pub element: Element,
    pub m: i64,
    pub n: i64,
    /// Elements of a row are neighbours, else those of a column.
    pub by_rows: bool,
}

/// The layout of a tensor as its type says it.
#[derive(Clone, Debug)]
pub struct Place {
    pub space: &'static str,
    pub align: i64,
    pub swizzle: Option<Swizzle>,
    pub layout: Layout,
}

impl Place {
    /// The type of a tensor that lies so.
    pub fn ty(&self, element: Element) -> String {
        let swizzle = match &self.swizzle {
            Some(swizzle) => format!("S<{},{},{}>, ", swizzle.b(), swizzle.m(), swizzle.s()),
            None => String::new(),
        };
        format!(
            "!cute.memref<{}, {}, align<{}>, {swizzle}\"{}\">",
            element.name, self.space, self.align, self.layout
        )
    }
}

impl Tile {
    pub fn size(&self) -> i64 {
        self.m * self.n
    }

    /// So many tiles in global memory, each `pad` elements wider than it need be.
    pub fn global(&self, tiles: i64, pad: i64) -> Result<Place> {
        let (inner, outer) = if self.by_rows {
            (self.n, self.m)
        } else {
            (self.m, self.n)
        };
        let apart = inner + pad;
        let (dm, dn) = if self.by_rows { (apart, 1) } else { (1, apart) };
        let layout = Layout::parse(&format!(
            "({},{},{tiles}):({dm},{dn},{})",
            self.m,
            self.n,
            apart * outer
        ));
        Ok(Place {
            space: "gmem",
            align: 16,
            swizzle: None,
            layout: layout?,
        })
    }

    /// A place in shared memory: rows of any distance, or a swizzle.
    pub fn shared(&self, random: &mut Random) -> Result<Place> {
        let inner = if self.by_rows { self.n } else { self.m };
        let swizzle = match random.chance(40) {
            true => {
                let bits = random.range(1, 3);
                let base = random.range(i64::from(self.element.bytes.trailing_zeros()), 4);
                let shift = bits + random.range(0, 1);
                Swizzle::new(bits, base, shift).ok()
            }
            false => None,
        };
        let pad = match swizzle {
            None if random.chance(40) => *random.pick(&[1, 2, 8, 16]),
            _ => 0,
        };
        let apart = inner + pad;
        let (dm, dn) = if self.by_rows { (apart, 1) } else { (1, apart) };
        let layout = Layout::parse(&format!("({},{}):({dm},{dn})", self.m, self.n));
        Ok(Place {
            space: "smem",
            align: swizzle.as_ref().map_or(16, |s| s.period().max(16)),
            swizzle,
            layout: layout?,
        })
    }
}

/// A way to deal a tile out to threads: each moves so many neighbours at once.
#[derive(Clone, Debug)]
pub struct Move {
    pub copy: TiledCopy,
    pub vector: i64,
    element: Element,
}

/// A thread's part of a tensor, as a type and as what that says.
pub struct Part {
    pub ty: String,
    pub place: Place,
}

impl Move {
    /// A way to deal a tile out, at random among those that all of the places allow.
    pub fn of(
        random: &mut Random,
        tile: &Tile,
        threads: i64,
        places: &[&Place],
        asynchronous: bool,
    ) -> Option<Move> {
        let bytes = tile.element.bytes;
        let mut fitting = Vec::new();
        for vector in [1, 2, 4, 8, 16] {
            let width = vector * bytes;
            if width > 16 || (asynchronous && width < 4) {
                continue;
            }
            let torn = |place: &&&Place| {
                let low = place.swizzle.as_ref().map_or(16, |s| 1i64 << s.m().min(4));
                width > low
            };
            if places.iter().any(|place| torn(&place)) {
                continue;
            }
            for down in [1, 2, 4, 8, 16, 32, 64, 128] {
                let across = threads / down;
                if down * across != threads {
                    continue;
                }
                for order in [true, false] {
                    if let Some(found) = Move::so(tile, vector, (down, across), order)
                        && places.iter().all(|place| {
                            found.part(place).is_some_and(|part| {
                                part.place.align >= width && part.is_in_vectors(vector)
                            })
                        })
                    {
                        fitting.push(found);
                    }
                }
            }
        }
        match fitting.is_empty() {
            true => None,
            false => Some(random.pick(&fitting).clone()),
        }
    }

    /// So many threads down and across, numbered along rows or along columns.
    fn so(tile: &Tile, vector: i64, (down, across): (i64, i64), rows: bool) -> Option<Move> {
        let (vm, vn) = if tile.by_rows {
            (1, vector)
        } else {
            (vector, 1)
        };
        if tile.m % (down * vm) != 0 || tile.n % (across * vn) != 0 {
            return None;
        }
        let grid = tuple([int(down), int(across)]);
        let threads = match rows {
            true => Layout::row_major(&grid).ok()?,
            false => Layout::col_major(&grid).ok()?,
        };
        let values = Layout::col_major(&tuple([int(vm), int(vn)])).ok()?;
        let element = tile.element;
        let bits = element.bytes * 8;
        let atom = CopyAtom::universal(vector * bits, bits).ok()?;
        let copy = TiledCopy::make_tiled_copy(atom, &threads, &values).ok()?;
        Some(Move {
            copy,
            vector,
            element,
        })
    }

    /// The type of the tiled copy: by `cp.async`, or by a load and a store.
    pub fn ty(&self, asynchronous: bool) -> (String, String) {
        let bits = self.vector * self.element.bytes * 8;
        let name = self.element.name;
        let atom = match asynchronous {
            true => {
                let cache = if bits == 128 { "global" } else { "always" };
                format!("!cute_nvgpu.atom.simt_async_copy<{name}, cache = {cache}, {bits} b>")
            }
            false => format!("!cute_nvgpu.atom.universal_copy<{name}, {bits} b>"),
        };
        let copy = format!(
            "!cute.tiled_copy<{atom}, layout_copy_tv = <\"{}\">, tiler_mn = <\"{}\">>",
            self.copy.layout_tv(),
            self.copy.tiler_mn()
        );
        (atom, copy)
    }

    /// The part of a thread of what lies so: it is the same of a source as of a destination, as the atom is one thread's.
    pub fn part(&self, place: &Place) -> Option<Part> {
        let part = self.copy.partition_s(&place.layout).ok()?;
        let mut found = Place {
            layout: part.val.without_unit_strides(),
            ..place.clone()
        };
        found.align = aligned(found.align, &part.thr, self.element);
        Some(Part {
            ty: found.ty(self.element),
            place: found,
        })
    }

    /// Registers for a thread's part.
    pub fn registers(&self, part: &Part) -> Option<(String, i64)> {
        let layout = Layout::col_major(part.place.layout.modes_of(3)?.shape()).ok()?;
        let size = layout.size().ok()?;
        let place = Place {
            space: "rmem",
            align: 16,
            swizzle: None,
            layout: layout.without_unit_strides(),
        };
        Some((place.ty(self.element), size))
    }
}

/// The first modes of a layout.
pub trait Modes: Sized {
    /// The first so many of them.
    fn modes_of(&self, count: usize) -> Option<Self>;
}

impl Modes for Layout {
    fn modes_of(&self, count: usize) -> Option<Layout> {
        Layout::from_modes(self.modes().get(..count)?).ok()
    }
}

/// The alignment that is left at every place where a layout may lead.
pub fn aligned(align: i64, by: &Layout, element: Element) -> i64 {
    let strides = by
        .stride()
        .leaves()
        .into_iter()
        .filter_map(|leaf| match leaf {
            Leaf::Static(stride) if *stride != 0 => {
                Some(1i64 << (stride * element.bytes).trailing_zeros().min(20))
            }
            _ => None,
        });
    strides.fold(align, i64::min)
}

impl Part {
    /// Tells whether all steps but those within a vector are of whole vectors.
    fn is_in_vectors(&self, vector: i64) -> bool {
        let (shape, stride) = (self.place.layout.shape(), self.place.layout.stride());
        let steps = shape.leaves().into_iter().zip(stride.leaves());
        steps.skip(1).all(|(extent, step)| match (extent, step) {
            (Leaf::Static(1), _) => true,
            (_, Leaf::Static(step)) => step % vector == 0,
            _ => false,
        })
    }

    /// The tile of that mode at a number that is not known: the type of what is left.
    pub fn slice(&self, element: Element) -> Option<String> {
        let last = self.place.layout.modes().pop()?;
        let place = Place {
            layout: self.place.layout.modes_of(self.place.layout.rank() - 1)?,
            align: aligned(self.place.align, &last, element),
            ..self.place.clone()
        };
        Some(place.ty(element))
    }
}

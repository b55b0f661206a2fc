//! Atoms, tiled copies and MMAs, and what threads get of tensors.

use cute_layout::{
    CopyAtom, IntTuple, Layout, Leaf, MmaAtom, Operand, Part, Partition, Residue,
    Result as Algebra, Side, Tile, TiledCopy, TiledMma,
};

use super::{Answer, Call, Function};
use crate::failure::Fault;
use crate::value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["copy_atom"],
        signature: "copy_atom(operation, type | bits)",
        about: "a copy instruction for elements of a type: `UniversalCopy<128>`, `SM80_CP_ASYNC_16`, `SM75_U32x4_LDSM_N`",
        example: "layoutD_TV(copy_atom(SM75_U32x1_LDSM_N, f16))",
        gives: "(32,2):(2,1)",
        arity: 2..=2,
        run: |c| {
            let Value::CopyOp(name) = c.value(0) else {
                return Err(c.unlike(0, "a copy operation, such as UniversalCopy<128>"));
            };
            let bits = c.bits(1)?;
            let elem = match c.value(1) {
                Value::Elem(e) => Some(*e),
                _ => None,
            };
            let atom = Box::new(CopyAtom::named(name, bits)?);
            Ok(Value::CopyAtom(atom, elem))
        },
    },
    Function {
        names: &["make_tiled_copy", "tiled_copy"],
        signature: "make_tiled_copy(copy_atom, thread_layout[, value_layout])",
        about: "threads and values, both (m,n) -> index: each thread owns a block of values",
        example: "make_tiled_copy(copy_atom(UniversalCopy<16>, f16), (16,8):(8,1), (1,4))",
        gives: "make_tiled_copy_impl(copy_atom(UniversalCopy<16>, 16), ((8,16),4):((64,1),16), [16:1;32:1])",
        arity: 2..=3,
        run: |c| {
            let value = match c.len() {
                2 => Layout::leaf(1, 0)?,
                _ => c.layout(2)?,
            };
            copy(
                c,
                TiledCopy::make_tiled_copy(c.copy_atom(0)?, &c.layout(1)?, &value)?,
            )
        },
    },
    Function {
        names: &["make_tiled_copy_impl"],
        signature: "make_tiled_copy_impl(copy_atom, tv_layout, tiler)",
        about: "a TV layout, (thread,value) -> element of the tile that the tiler cuts out",
        example: "tile_size(make_tiled_copy_impl(copy_atom(UniversalCopy<64>, f32), ((4,8),2):((16,1),8), [8:1;8:1]))",
        gives: "64",
        arity: 3..=3,
        run: |c| {
            let (atom, tv, tiler) = (c.copy_atom(0)?, c.layout(1)?, c.tile(2)?);
            copy(c, TiledCopy::make_tiled_copy_impl(atom, tv, tiler)?)
        },
    },
    Function {
        names: &["make_tiled_copy_A"],
        signature: "make_tiled_copy_A(copy_atom, mma)",
        about: "the copy whose registers are the A fragments",
        example: "layoutS_TV(make_tiled_copy_A(copy_atom(SM75_U32x4_LDSM_N, f16), SM80_16x8x16_F32F16F16F32_TN))",
        gives: "((16,2),(8,1)):((1,128),(16,256))",
        arity: 2..=2,
        run: |c| {
            copy(
                c,
                TiledCopy::make_tiled_copy_a(c.copy_atom(0)?, &c.mma(1)?)?,
            )
        },
    },
    Function {
        names: &["make_tiled_copy_B"],
        signature: "make_tiled_copy_B(copy_atom, mma)",
        about: "the copy whose registers are the B fragments",
        example: "layoutS_TV(make_tiled_copy_B(copy_atom(SM75_U32x2_LDSM_N, f16), SM80_16x8x16_F32F16F16F32_TN))",
        gives: "((8,2,2),(8,1)):((1,64,0),(8,128))",
        arity: 2..=2,
        run: |c| {
            copy(
                c,
                TiledCopy::make_tiled_copy_b(c.copy_atom(0)?, &c.mma(1)?)?,
            )
        },
    },
    Function {
        names: &["make_tiled_copy_C"],
        signature: "make_tiled_copy_C(copy_atom, mma)",
        about: "the copy whose registers are the accumulators",
        example: "tile_size(make_tiled_copy_C(copy_atom(UniversalCopy<64>, f32), SM80_16x8x16_F32F16F16F32_TN))",
        gives: "128",
        arity: 2..=2,
        run: |c| {
            copy(
                c,
                TiledCopy::make_tiled_copy_c(c.copy_atom(0)?, &c.mma(1)?)?,
            )
        },
    },
    Function {
        names: &["make_tiled_copy_C_atom"],
        signature: "make_tiled_copy_C_atom(copy_atom, mma)",
        about: "the smallest copy of the accumulators: as many of each thread as one atom takes",
        example: "tiler_mn(make_tiled_copy_C_atom(copy_atom(UniversalCopy<64>, f32), SM80_16x8x16_F32F16F16F32_TN))",
        gives: "[8:1;(4,2):(2,1)]",
        arity: 2..=2,
        run: |c| {
            copy(
                c,
                TiledCopy::make_tiled_copy_c_atom(c.copy_atom(0)?, &c.mma(1)?)?,
            )
        },
    },
    Function {
        names: &["make_tiled_copy_S"],
        signature: "make_tiled_copy_S(copy_atom, tiled_copy)",
        about: "the copy of another atom, of what the source of a copy is",
        example: "layout_tv(make_tiled_copy_S(copy_atom(UniversalCopy<128>, f16), make_tiled_copy_A(copy_atom(SM75_U32x4_LDSM_N, f16), SM80_16x8x16_F32F16F16F32_TN)))",
        gives: "((16,2),(8,1)):((1,128),(16,256))",
        arity: 2..=2,
        run: |c| {
            copy(
                c,
                TiledCopy::make_tiled_copy_s(c.copy_atom(0)?, &c.tiled_copy(1)?)?,
            )
        },
    },
    Function {
        names: &["make_tiled_copy_D"],
        signature: "make_tiled_copy_D(copy_atom, tiled_copy)",
        about: "the copy of another atom, of what the destination of a copy is",
        example: "layout_tv(make_tiled_copy_D(copy_atom(UniversalCopy<16>, f16), make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (4,8), (4,1))))",
        gives: "(32,(4,1)):(4,(1,4))",
        arity: 2..=2,
        run: |c| {
            copy(
                c,
                TiledCopy::make_tiled_copy_d(c.copy_atom(0)?, &c.tiled_copy(1)?)?,
            )
        },
    },
    Function {
        names: &["make_cotiled_copy"],
        signature: "make_cotiled_copy(copy_atom, tv_layout, data_layout)",
        about: "threads and values by their offsets in the data",
        example: "make_cotiled_copy(copy_atom(UniversalCopy<64>, f16), (8,4):(4,1), (8,4):(4,1))",
        gives: "make_tiled_copy_impl(copy_atom(UniversalCopy<64>, 16), (8,4):(1,8), [8:1;4:1])",
        arity: 3..=3,
        run: |c| {
            let (atom, tv, data) = (c.copy_atom(0)?, c.layout(1)?, c.layout(2)?);
            copy(c, TiledCopy::make_cotiled_copy(atom, &tv, &data)?)
        },
    },
    Function {
        names: &["make_tiled_mma", "tiled_mma"],
        signature: "make_tiled_mma(mma_atom[, atom_layout[, permutation]])",
        about: "atoms over threads along M, N and K, and which elements of each one step takes",
        example: "make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT, (2,2):(2,1), [(4,4,2):(1,8,4);32:1;_])",
        gives: "make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT, (2,2,1):(2,1,0), [(4,4,2):(1,8,4);32:1;4:1])",
        arity: 1..=3,
        run: |c| {
            let atom = match c.value(0) {
                Value::MmaAtom(a) => (**a).clone(),
                _ => return Err(c.unlike(0, "an MMA atom, such as SM80_16x8x16_F32F16F16F32_TN")),
            };
            let atoms = match c.len() {
                1 => Layout::leaf(1, 0)?,
                _ => c.layout(1)?,
            };
            let permutation = match c.len() {
                3 => c.tile(2)?,
                _ => Tile::Underscore,
            };
            Ok(Value::TiledMma(Box::new(TiledMma::new(
                atom,
                atoms,
                permutation,
            )?)))
        },
    },
    Function {
        names: &["thr_layout", "thr_layout_vmnk"],
        signature: "thr_layout(mma)",
        about: "(ThrV,ThrM,ThrN,ThrK) -> thread",
        example: "thr_layout(make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT, (2,2):(2,1)))",
        gives: "((4,2),2,2,1):((1,16),8,4,0)",
        arity: 1..=1,
        run: |c| Ok(c.mma(0)?.thr_layout_vmnk().clone().into()),
    },
    Function {
        names: &["permutation_mnk"],
        signature: "permutation_mnk(mma)",
        about: "the elements of M, N and K that one step takes",
        example: "permutation_mnk(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2), [_;32:1;_]))",
        gives: "[32:1;32:1;16:1]",
        arity: 1..=1,
        run: |c| Ok(Value::Tile(Tile::Modes(c.mma(0)?.permutation().to_vec()))),
    },
    Function {
        names: &["tile_shape"],
        signature: "tile_shape(copy | mma)",
        about: "extents of the tile: a copy's modes, or M, N and K of one step",
        example: "tile_shape(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)))",
        gives: "(32,16,16)",
        arity: 1..=1,
        run: |c| {
            if let Ok(m) = c.mma(0) {
                return Ok(Value::Tuple(m.tile_shape().into_iter().collect()));
            }
            Ok(c.tiled_copy(0)?.tile_shape()?.into())
        },
    },
    Function {
        names: &["tile_size"],
        signature: "tile_size(copy | mma[, mode])",
        about: "the extent of a mode of the tile, or the product of all",
        example: "tile_size<1>(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)))",
        gives: "16",
        arity: 1..=2,
        run: |c| {
            let shape = match c.mma(0) {
                Ok(m) => m.tile_shape().into_iter().collect(),
                Err(_) => c.tiled_copy(0)?.tile_shape()?,
            };
            if c.len() == 1 {
                return Ok(shape.size()?.into());
            }
            let at = c.index(1)?;
            match shape.get(at) {
                Some(n) => Ok(n.clone().into()),
                None => c.bad(
                    1,
                    format!("expected a mode below {}, found {at}", shape.rank()),
                ),
            }
        },
    },
    Function {
        names: &["thr_size"],
        signature: "thr_size(copy | mma)",
        about: "threads that take part",
        example: "thr_size(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)))",
        gives: "128",
        arity: 1..=1,
        run: |c| {
            Ok(match c.mma(0) {
                Ok(m) => m.num_threads(),
                Err(_) => c.tiled_copy(0)?.num_threads(),
            }
            .into())
        },
    },
    Function {
        names: &["tiler_mn"],
        signature: "tiler_mn(copy)",
        about: "what cuts the copy's tile out of a tensor",
        example: "tiler_mn(make_tiled_copy(copy_atom(UniversalCopy<16>, f16), (16,8):(8,1), (1,4)))",
        gives: "[16:1;32:1]",
        arity: 1..=1,
        run: |c| Ok(Value::Tile(c.tiled_copy(0)?.tiler_mn().clone())),
    },
    Function {
        names: &["layout_tv"],
        signature: "layout_tv(copy)",
        about: "(thread,value) -> element of the tile, first mode fastest",
        example: "layout_tv(make_tiled_copy(copy_atom(UniversalCopy<16>, f16), (16,8):(8,1), (1,4)))",
        gives: "((8,16),4):((64,1),16)",
        arity: 1..=1,
        run: |c| Ok(c.tiled_copy(0)?.layout_tv().clone().into()),
    },
    Function {
        names: &["layoutS_TV"],
        signature: "layoutS_TV(copy)",
        about: "(thread,value) -> element of the tile, as the source is read; of an atom, its own",
        example: "layoutS_TV(copy_atom(SM75_U32x4_LDSM_N, f16))",
        gives: "(32,8):(8,1)",
        arity: 1..=1,
        run: |c| side_tv(c, Side::Source),
    },
    Function {
        names: &["layoutD_TV"],
        signature: "layoutD_TV(copy)",
        about: "(thread,value) -> element of the tile, as the destination is written; of an atom, its own",
        example: "layoutD_TV(make_tiled_copy(copy_atom(UniversalCopy<32>, f16), (16,8):(8,1), (1,4)))",
        gives: "((8,16),(2,2)):((64,1),(16,32))",
        arity: 1..=1,
        run: |c| side_tv(c, Side::Destination),
    },
    Function {
        names: &["layoutA_TV"],
        signature: "layoutA_TV(mma)",
        about: "(thread,value) -> element of the (M,K) tile",
        example: "layoutA_TV(SM70_8x8x4_F32F16F16F32_NT)",
        gives: "((4,4,2),(4,(1,1))):((8,0,4),(1,(8,32)))",
        arity: 1..=1,
        run: |c| operand_tv(c, Operand::A),
    },
    Function {
        names: &["layoutB_TV"],
        signature: "layoutB_TV(mma)",
        about: "(thread,value) -> element of the (N,K) tile",
        example: "layoutB_TV(SM80_16x8x16_F32F16F16F32_TN)",
        gives: "((4,8),((2,2),(1,1))):((16,1),((8,64),(8,128)))",
        arity: 1..=1,
        run: |c| operand_tv(c, Operand::B),
    },
    Function {
        names: &["layoutC_TV"],
        signature: "layoutC_TV(mma)",
        about: "(thread,value) -> element of the (M,N) tile",
        example: "layoutC_TV(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,1)))",
        gives: "((4,8,2),((2,2),(1,1))):((64,1,16),((32,8),(32,256)))",
        arity: 1..=1,
        run: |c| operand_tv(c, Operand::C),
    },
    Function {
        names: &["tidfrg_S"],
        signature: "tidfrg_S(copy, tensor)",
        about: "(Thr,(ATOM_V,REST_V),(REST_M,REST_N,..)) of a source",
        example: "tidfrg_S(make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (16,8):(8,1), (1,4)), (32,64):(64,1))",
        gives: "((8,16),(4,1),(2,2)):((4,64),(1,4),(1024,32))",
        arity: 2..=2,
        run: |c| tidfrg(c, Side::Source),
    },
    Function {
        names: &["tidfrg_D"],
        signature: "tidfrg_D(copy, tensor)",
        about: "the same of a destination",
        example: "tidfrg_D(make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (16,8):(8,1), (1,4)), (32,64):(64,1))",
        gives: "((8,16),(4,1),(2,2)):((4,64),(1,4),(1024,32))",
        arity: 2..=2,
        run: |c| tidfrg(c, Side::Destination),
    },
    Function {
        names: &["partition_S"],
        signature: "partition_S(copy, tensor[, thread])",
        about: "a thread's part of a source, ((ATOM_V,REST_V),REST_M,REST_N,..); where it begins is given in a note",
        example: "partition_S(make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (16,8):(8,1), (1,4)), (32,?):(?,1))",
        gives: "((4,1),2,?):((1,4),?,32)",
        arity: 2..=3,
        run: |c| partition(c, Side::Source),
    },
    Function {
        names: &["partition_D"],
        signature: "partition_D(copy, tensor[, thread])",
        about: "a thread's part of a destination",
        example: "partition_D(make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (16,8):(8,1), (1,4)), make_identity_layout((16,32)))",
        gives: "((4,1),1,1):((1@1,4@1),16@0,32@1)",
        arity: 2..=3,
        run: |c| partition(c, Side::Destination),
    },
    Function {
        names: &["retile", "retile_S", "retile_D"],
        signature: "retile(copy, fragment)",
        about: "an MMA's fragment (V,M,N,..) as the values of a copy that was made for it",
        example: "retile(make_tiled_copy_A(copy_atom(SM75_U32x4_LDSM_N, f16), SM80_16x8x16_F32F16F16F32_TN), ((2,2,2),4,2):((1,2,4),8,32))",
        gives: "((8,1),4,2):((1,0),8,32)",
        arity: 2..=2,
        run: |c| Ok(c.tiled_copy(0)?.retile(&c.layout(1)?)?.into()),
    },
    Function {
        names: &["thrfrg_A"],
        signature: "thrfrg_A(mma, tensor)",
        about: "((ThrV,(ThrM,ThrK)),(V,(REST_M,REST_K,..)))",
        example: "thrfrg_A(SM70_8x8x4_F32F16F16F32_NT, (16,8):(1,16))",
        gives: "(((4,2),(1,1)),(4,(2,2))):(((16,4),(8,64)),(1,(8,64)))",
        arity: 2..=2,
        run: |c| thrfrg(c, Operand::A),
    },
    Function {
        names: &["thrfrg_B"],
        signature: "thrfrg_B(mma, tensor)",
        about: "((ThrV,(ThrN,ThrK)),(V,(REST_N,REST_K,..)))",
        example: "thrfrg_B(SM70_8x8x4_F32F16F16F32_NT, (16,8):(1,16))",
        gives: "(((4,2),(1,1)),(4,(2,2))):(((16,4),(8,64)),(1,(8,64)))",
        arity: 2..=2,
        run: |c| thrfrg(c, Operand::B),
    },
    Function {
        names: &["thrfrg_C"],
        signature: "thrfrg_C(mma, tensor)",
        about: "((ThrV,(ThrM,ThrN)),(V,(REST_M,REST_N,..)))",
        example: "thrfrg_C(SM80_16x8x16_F32F16F16F32_TN, (32,8):(1,32))",
        gives: "(((4,8),(1,1)),((2,2),(2,1))):(((64,1),(16,256)),((32,8),(16,256)))",
        arity: 2..=2,
        run: |c| thrfrg(c, Operand::C),
    },
    Function {
        names: &["partition_A"],
        signature: "partition_A(mma, tensor[, thread])",
        about: "a thread's part of A, (V,MMA_M,MMA_K,..); where it begins is given in a note",
        example: "partition_A(SM80_16x8x16_F32F16F16F32_TN, (32,?):(?,1))",
        gives: "((2,2,2),2,?):((1,?,8),?,16)",
        arity: 2..=3,
        run: |c| partition_operand(c, Operand::A),
    },
    Function {
        names: &["partition_B"],
        signature: "partition_B(mma, tensor[, thread])",
        about: "a thread's part of B, (V,MMA_N,MMA_K,..)",
        example: "partition_B(SM80_16x8x16_F32F16F16F32_TN, (32,16):(16,1))",
        gives: "((2,2),4,1):((1,8),128,16)",
        arity: 2..=3,
        run: |c| partition_operand(c, Operand::B),
    },
    Function {
        names: &["partition_C"],
        signature: "partition_C(mma, tensor[, thread])",
        about: "a thread's part of C, (V,MMA_M,MMA_N,..)",
        example: "partition_C(SM80_16x8x16_F32F16F16F32_TN, (32,16):(16,1))",
        gives: "((2,2),2,2):((1,128),256,8)",
        arity: 2..=3,
        run: |c| partition_operand(c, Operand::C),
    },
    Function {
        names: &["partition_fragment_A"],
        signature: "partition_fragment_A(mma, tensor)",
        about: "a thread's registers for A",
        example: "partition_fragment_A(SM80_16x8x16_F32F16F16F32_TN, (32,32):(32,1))",
        gives: "((2,2,2),2,2):((1,2,4),16,8)",
        arity: 2..=2,
        run: |c| fragment(c, Operand::A),
    },
    Function {
        names: &["partition_fragment_B"],
        signature: "partition_fragment_B(mma, tensor)",
        about: "a thread's registers for B",
        example: "partition_fragment_B(SM80_16x8x16_F32F16F16F32_TN, (32,32):(32,1))",
        gives: "((2,2),4,2):((1,2),8,4)",
        arity: 2..=2,
        run: |c| fragment(c, Operand::B),
    },
    Function {
        names: &["partition_fragment_C"],
        signature: "partition_fragment_C(mma, tensor | shape)",
        about: "a thread's registers for C",
        example: "partition_fragment_C(SM80_16x8x16_F32F16F16F32_TN, (32,32))",
        gives: "((2,2),2,4):((1,2),4,8)",
        arity: 2..=2,
        run: |c| fragment(c, Operand::C),
    },
    Function {
        names: &["local_tile"],
        signature: "local_tile(tensor, tiler, coord[, projection])",
        about: "the tile at a coordinate of the tiles; modes at `_` of a projection are left out of tiler and coordinate",
        example: "local_tile((512,?):(?,1), (128,128,64), (0,1,_), (1,_,1))",
        gives: "(128,64,?):(?,1,64)",
        arity: 3..=4,
        run: |c| {
            let (tensor, tiler, coord) = (c.layout(0)?, c.tile(1)?, c.tuple(2)?);
            let projection = (c.len() == 4).then(|| c.tuple(3)).transpose()?;
            let part = rounded(c, |r| {
                tensor.local_tile(&tiler, &coord, projection.as_ref(), r)
            })?;
            Ok(noted(c, part))
        },
    },
    Function {
        names: &["inner_partition"],
        signature: "inner_partition(tensor, tiler, coord)",
        about: "the tile at a coordinate of the tiles",
        example: "inner_partition((64,32):(32,1), (16,8), (0,_))",
        gives: "(16,8,4):(32,1,8)",
        arity: 3..=3,
        run: |c| {
            let (tensor, tiler, coord) = (c.layout(0)?, c.tile(1)?, c.tuple(2)?);
            let part = rounded(c, |r| tensor.inner_partition(&tiler, &coord, r))?;
            Ok(noted(c, part))
        },
    },
    Function {
        names: &["outer_partition"],
        signature: "outer_partition(tensor, tiler, coord)",
        about: "what stands at a coordinate of every tile",
        example: "outer_partition((64,32):(32,1), (16,8), (0,0))",
        gives: "(4,4):(512,8)",
        arity: 3..=3,
        run: |c| {
            let (tensor, tiler, coord) = (c.layout(0)?, c.tile(1)?, c.tuple(2)?);
            let part = rounded(c, |r| tensor.outer_partition(&tiler, &coord, r))?;
            Ok(noted(c, part))
        },
    },
    Function {
        names: &["local_partition"],
        signature: "local_partition(tensor, thread_layout, thread[, projection])",
        about: "a thread's elements, where the layout gives each place of a tile its thread",
        example: "local_partition((128,8):(1,128), (32,8), 0)",
        gives: "(4,1):(32,1024)",
        arity: 3..=4,
        run: |c| {
            let (tensor, threads, index) = (c.layout(0)?, c.layout(1)?, c.leaf(2)?);
            let projection = (c.len() == 4).then(|| c.tuple(3)).transpose()?;
            let part = rounded(c, |r| {
                tensor.local_partition(&threads, &index, projection.as_ref(), r)
            })?;
            Ok(noted(c, part))
        },
    },
];

impl Call<'_> {
    fn unlike(&self, i: usize, expected: &str) -> Fault {
        let fault = self.value(i).unlike(expected);
        match self.at::<()>(i, Err(fault)) {
            Err(fault) => fault,
            Ok(()) => Fault::Call(format!("expected {expected}")),
        }
    }

    fn bits(&self, i: usize) -> Result<i64, Fault> {
        match self.value(i) {
            Value::Elem(e) => Ok(e.bits()),
            _ => self.int(i),
        }
    }

    fn copy_atom(&self, i: usize) -> Result<CopyAtom, Fault> {
        match self.value(i) {
            Value::CopyAtom(a, _) => Ok((**a).clone()),
            _ => Err(self.unlike(i, "a copy atom, as copy_atom(UniversalCopy<128>, f16)")),
        }
    }

    fn tiled_copy(&self, i: usize) -> Result<TiledCopy, Fault> {
        match self.value(i) {
            Value::TiledCopy(c, _) => Ok((**c).clone()),
            _ => Err(self.unlike(i, "a tiled copy, as make_tiled_copy(..)")),
        }
    }

    // An atom alone is a tiled MMA of one.
    fn mma(&self, i: usize) -> Result<TiledMma, Fault> {
        match self.value(i) {
            Value::TiledMma(m) => Ok((**m).clone()),
            Value::MmaAtom(a) => Ok(single(a)?),
            _ => Err(self.unlike(i, "a tiled MMA, as make_tiled_mma(..)")),
        }
    }

    // A known or dynamic integer.
    fn leaf(&self, i: usize) -> Result<Leaf, Fault> {
        match self.tuple(i)?.as_leaf() {
            Some(l @ (Leaf::Static(_) | Leaf::Dynamic(_))) => Ok(l.clone()),
            _ => Err(self.unlike(i, "an integer")),
        }
    }
}

/// The tiled MMA of one atom.
pub fn single(atom: &MmaAtom) -> Algebra<TiledMma> {
    TiledMma::new(atom.clone(), Layout::leaf(1, 0)?, Tile::Underscore)
}

/// A copy atom alone, over rows of what one thread reads.
pub fn rows(atom: &CopyAtom) -> Algebra<TiledCopy> {
    let reference = atom.ref_tv()?;
    let size = reference.cosize()?;
    let row = atom.num_val_src()?.max(1);
    let (rows, columns) = (size / row, row);
    // The atom's elements go along rows, the tile's down columns.
    let turned = Layout::new(
        [columns, rows].into_iter().collect(),
        [rows, 1].into_iter().collect(),
    )?;
    let tiler = Tile::from_shape(&[rows, columns].into_iter().collect())?;
    TiledCopy::new(atom.clone(), turned.composition(&reference)?, tiler)
}

// A tiled copy of the atom that is the first argument.
fn copy(c: &Call<'_>, made: TiledCopy) -> Answer {
    let elem = match c.value(0) {
        Value::CopyAtom(_, elem) => *elem,
        _ => None,
    };
    Ok(Value::TiledCopy(Box::new(made), elem))
}

// Exact where it can be; else rounded up, with a note.
fn rounded<T>(c: &mut Call<'_>, f: impl Fn(Residue) -> Algebra<T>) -> Result<T, Fault> {
    let refused = match f(Residue::Refuse) {
        Ok(exact) => return Ok(exact),
        Err(e) => e,
    };
    let up = f(Residue::RoundUp)?;
    c.note(format!("rounded up, mask what is beyond: {refused}"));
    Ok(up)
}

fn noted(c: &mut Call<'_>, part: Part) -> Value {
    begins(c, &part.offset);
    part.layout.into()
}

fn begins(c: &mut Call<'_>, offset: &IntTuple) {
    if offset.leaves().iter().any(|l| !l.is(0)) {
        let what = if offset.is_tuple() {
            "coordinate"
        } else {
            "offset"
        };
        c.note(format!("the part begins at {what} {offset}"));
    }
}

fn side_tv(c: &mut Call<'_>, side: Side) -> Answer {
    if let Value::CopyAtom(a, _) = c.value(0) {
        return Ok(match side {
            Side::Source => a.src_tv()?,
            Side::Destination => a.dst_tv()?,
        }
        .into());
    }
    Ok(c.tiled_copy(0)?.layout_side_tv(side)?.into())
}

fn operand_tv(c: &mut Call<'_>, o: Operand) -> Answer {
    Ok(c.mma(0)?.layout_tv(o)?.into())
}

fn tidfrg(c: &mut Call<'_>, side: Side) -> Answer {
    let (copy, tensor) = (c.tiled_copy(0)?, c.layout(1)?);
    Ok(rounded(c, |r| copy.tidfrg(side, &tensor, r))?.into())
}

fn thrfrg(c: &mut Call<'_>, o: Operand) -> Answer {
    let (mma, tensor) = (c.mma(0)?, c.layout(1)?);
    Ok(rounded(c, |r| mma.thrfrg(o, &tensor, r))?.into())
}

fn partition(c: &mut Call<'_>, side: Side) -> Answer {
    let copy = c.tiled_copy(0)?;
    let thread = thread(c)?;
    copy.get_slice(&thread)?;
    part_of(c, &thread, |tensor, r| copy.partition(side, tensor, r))
}

fn partition_operand(c: &mut Call<'_>, o: Operand) -> Answer {
    let mma = c.mma(0)?;
    let thread = thread(c)?;
    mma.get_slice(&thread)?;
    part_of(c, &thread, |tensor, r| mma.partition(o, tensor, r))
}

// The first, where none is named.
fn thread(c: &Call<'_>) -> Result<Leaf, Fault> {
    match c.len() {
        3 => c.leaf(2),
        _ => Ok(Leaf::Static(0)),
    }
}

// A thread's part of the tensor that is argument 1, plain or swizzled.
fn part_of(
    c: &mut Call<'_>,
    thread: &Leaf,
    f: impl Fn(&Layout, Residue) -> Algebra<Partition>,
) -> Answer {
    if let Value::Composed(tensor) = c.value(1) {
        let tensor = tensor.clone();
        let all = rounded(c, |r| f(tensor.outer(), r))?;
        let (layout, offset) = all.part_composed(&tensor, thread)?;
        begins(c, &offset);
        return Ok(layout.into());
    }
    let tensor = c.layout(1)?;
    let part = rounded(c, |r| f(&tensor, r)?.part(thread))?;
    Ok(noted(c, part))
}

fn fragment(c: &mut Call<'_>, o: Operand) -> Answer {
    let (mma, tensor) = (c.mma(0)?, c.layout(1)?);
    Ok(rounded(c, |r| mma.partition_fragment(o, &tensor, r))?.into())
}

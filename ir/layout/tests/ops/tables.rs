//! Cases by hand, a table a group. `?` is an i32, `?{i64}` an i64.

use std::collections::BTreeMap;

use cute_layout::ops::{Attrs, OPS, OpError, Value, apply};

use super::runner::{cases, check, value};

pub const CONSTRUCTORS: &str = "
static<shape (4,(2,8))> | | shape (4,(2,8))
static<layout (3,5):(5,1)> | | layout (3,5):(5,1)
static<composed S<2,3,3> o 16 o (8,8):(1,8)> | | composed S<2,3,3> o 16 o (8,8):(1,8)
static<stride (1@0,2@1)> | | stride (1@0,2@1)
static<tile [4:1;_]> | | tile [4:1;_]
static<shape (4,?)> | | error expected a result without `?`, found (4,?)
static<layout (4,8):(1,?)> | | error expected a result without `?`, found (4,8):(1,?)
static | | error expected the attribute `result`, found none
static<shape 4> | shape 4 | error expected 0 operand(s), found 1
print | layout (?,8):(1,?) |
print | swizzle S<1,2,3> |
print | | error expected 1 operand(s), found 0
print | i32 | error expected value to be a type of the dialect, found an integer `?`
make_int_tuple<int_tuple (?,(3,?))> | i32 ; i32 | int_tuple (?,(3,?))
make_int_tuple<int_tuple (?{i64},7)> | i64 | int_tuple (?{i64},7)
make_int_tuple<int_tuple ?> | int_tuple 12 | int_tuple ?
make_int_tuple<int_tuple (?,?)> | i32 | error expected 2 operand(s), one for each `?` of (?,?), found 1
make_int_tuple<int_tuple ?> | int_tuple 4294967296 | error expected operand 0 to fit `?` (32 bits), found 4294967296
make_int_tuple<shape ?> | i32 | error expected result to be the type in the op's name, found !cute.shape `?`
make_shape<shape (?,4,(?,2))> | i32 ; int_tuple ? | shape (?,4,(?,2))
make_shape<shape (8,8)> | | shape (8,8)
make_shape<shape ?{i64}> | i64 | shape ?{i64}
make_shape<shape ?{div=8}> | i32 | shape ?{div=8}
make_shape<shape ?{div=8}> | int_tuple 24 | shape ?{div=8}
make_shape<shape ?{div=8}> | int_tuple 25 | error expected operand 0 to fit `?{div=8}` (32 bits), found 25
make_shape<shape ?> | i64 | error expected operand 0 to fit `?` (32 bits), found `?{i64}` of 64 bits
make_shape<shape ?> | shape ? | error expected operands to be i32, i64 or a !cute.int_tuple of one leaf, found !cute.shape `?`
make_stride<stride (1,?)> | i32 | stride (1,?)
make_stride<stride (?@0,(?{i64}@1,0))> | i32 ; i64 | stride (?@0,(?{i64}@1,0))
make_stride<stride (1,4)> | | stride (1,4)
make_stride<stride ?> | int_tuple (?,?) | error expected operands to be i32, i64 or a !cute.int_tuple of one leaf, found !cute.int_tuple `(?,?)`
make_coord<coord (?,_,3)> | i32 | coord (?,_,3)
make_coord<coord (_,_)> | | coord (_,_)
make_coord<coord (?,?)> | i32 ; i32 ; i32 | error expected 2 operand(s), one for each `?` of (?,?), found 3
make_layout | shape (4,(2,?)) ; stride (1,(?,8)) | layout (4,(2,?)):(1,(?,8))
make_layout | shape (6,5) ; stride (1@1,1@0) | layout (6,5):(1@1,1@0)
make_layout | shape (?{i64},4) ; stride (1,?{i64}) | layout (?{i64},4):(1,?{i64})
make_layout | shape () ; stride () | layout ():()
make_layout | shape (4,2) ; stride 1 | error expected a stride congruent to shape (4,2), found 1
make_layout | shape (4,2) ; int_tuple (1,4) | error expected stride to be !cute.stride, found !cute.int_tuple `(1,4)`
make_layout | stride 4 ; shape 1 | error expected shape to be !cute.shape, found !cute.stride `4`
make_layout | shape (0,2) ; stride (1,4) | error expected positive integers (or `?`) in a shape, found (0,2)
make_tile<tile [?:1;_;(4,?):(?,1)]> | i32 ; i32 ; i32 | tile [?:1;_;(4,?):(?,1)]
make_tile<tile [[8:2;_];3:1]> | | tile [[8:2;_];3:1]
make_tile<tile [?:?{i64}]> | i32 ; i64 | tile [?:?{i64}]
make_tile<tile [?:1]> | i64 | error expected operand 0 to fit `?` (32 bits), found `?{i64}` of 64 bits
make_tile<tile [?:1]> | layout 4:1 | error expected operands to be i32, i64 or a !cute.int_tuple of one leaf, found !cute.layout `4:1`
make_composed_layout | swizzle S<3,4,3> ; int_tuple 0 ; layout (64,8):(1,64) | composed S<3,4,3> o 0 o (64,8):(1,64)
make_composed_layout | layout (6,2):(1,3) ; int_tuple (2,1) ; layout (2,3):(1@1,2@0) | composed (6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)
make_composed_layout | layout ?:? ; int_tuple ? ; layout (?,4):(4,1) | composed ?:? o ? o (?,4):(4,1)
make_composed_layout | swizzle S<3,4,3> ; int_tuple (1,2) ; layout (64,8):(1,64) | error expected a scalar offset and integer strides under a swizzle, found offset (1,2) and outer (64,8):(1,64)
make_composed_layout | layout 8:1 ; int_tuple 2 ; layout (2,3):(1@1,2@0) | error expected an offset that can be added to what the outer layout gives, found offset 2 and outer (2,3):(1@1,2@0)
make_composed_layout | shape 8 ; int_tuple 2 ; layout 4:1 | error expected inner to be !cute.layout or !cute.swizzle, found !cute.shape `8`
make_layout_like | layout (4,8):(8,1) | layout (4,8):(8,1)
make_layout_like | layout (2,(4,3)):(24,(1,5)) | layout (2,(4,3)):(12,(1,4))
make_layout_like | layout (4,8):(0,3) | layout (4,8):(0,1)
make_layout_like | layout (?,8):(8,1) | layout (?,8):(8,1)
make_layout_like | layout (2,5):(?,?) | layout (2,5):(?,?)
make_layout_like | layout (?,(3,1)):(?,(2,?)) | layout (?,(3,1)):(?,(?,0))
make_layout_like | composed S<3,4,3> o 0 o (8,64):(64,1) | layout (8,64):(64,1)
make_layout_like | layout (4,8):(1@0,1@1) | error expected integer strides, found (4,8):(1@0,1@1)
make_layout_like | composed 4:2 o 0 o 8:1 | error expected a composed layout whose inner function is a swizzle, found 4:2 o 0 o 8:1
make_layout_like | shape 8 | error expected src to be !cute.layout or !cute.composed_layout, found !cute.shape `8`
make_ordered_layout | shape (4,3,5) ; int_tuple (2,0,1) | layout (4,3,5):(15,1,3)
make_ordered_layout | shape ((2,3),4) ; int_tuple (1,0) | layout ((2,3),4):((4,8),1)
make_ordered_layout | shape (?,8) ; int_tuple (1,0) | layout (?,8):(8,1)
make_ordered_layout | shape (?,?{i64},2) ; int_tuple (0,1,2) | layout (?,?{i64},2):(1,?,?{i64})
make_ordered_layout | shape (4,8) ; int_tuple (?,0) | error expected a static order, found (?,0)
make_ordered_layout | shape (4,8) ; int_tuple (0,1,2) | error expected an order whose profile (4,8) refines, found (0,1,2)
make_ordered_layout | int_tuple (4,8) ; int_tuple (0,1) | error expected shape to be !cute.shape, found !cute.int_tuple `(4,8)`
make_identity_layout | shape (4,8) | layout (4,8):(1@0,1@1)
make_identity_layout | shape (4,(?,2)) | layout (4,(?,2)):(1@0,(1@0@1,1@1@1))
make_identity_layout | shape 6 | layout 6:1
make_identity_layout | layout 4:1 | error expected shape to be !cute.shape, found !cute.layout `4:1`
make_identity_layout | shape (4,0) | error expected positive integers (or `?`) in a shape, found (4,0)
";

pub const ACCESSORS: &str = "
get_shape | layout (4,(?,2)):(1,(4,?)) | shape (4,(?,2))
get_shape | composed S<3,4,3> o 0 o (64,8):(1,64) | shape (64,8)
get_shape | tile [4:1;[(2,?):(1,2);3:1]] | shape (4,((2,?),3))
get_shape | tile [4:1;_] | error expected a tile without `_`, found [4:1;_]
get_shape | shape 4 | error expected input to be !cute.layout, !cute.composed_layout or !cute.tile, found !cute.shape `4`
get_stride | layout (4,(?,2)):(1,(4,?)) | stride (1,(4,?))
get_stride | layout (4,8):(1@0,?@1) | stride (1@0,?@1)
get_stride | composed S<3,4,3> o 0 o 8:1 | error expected input to be !cute.layout, found !cute.composed_layout `S<3,4,3> o 0 o 8:1`
composed_get_inner | composed S<3,4,3> o 0 o (64,8):(1,64) | swizzle S<3,4,3>
composed_get_inner | composed (?,5):(1,?) o 2 o 4:1 | layout (?,5):(1,?)
composed_get_inner | layout 4:1 | error expected input to be !cute.composed_layout, found !cute.layout `4:1`
composed_get_offset | composed S<3,4,3> o ? o (64,8):(1,64) | int_tuple ?
composed_get_offset | composed (6,2):(1,3) o (2,1) o (2,3):(1@1,2@0) | int_tuple (2,1)
composed_get_offset | shape 4 | error expected input to be !cute.composed_layout, found !cute.shape `4`
composed_get_outer | composed S<3,4,3> o 0 o (64,?):(1,64) | layout (64,?):(1,64)
composed_get_outer | composed 4:2 o 1 o 8:1 | layout 8:1
composed_get_outer | tile [4:1] | error expected input to be !cute.composed_layout, found !cute.tile `[4:1]`
get_leaves | shape (4,(?,(2,3))) | shape 4 ; shape ? ; shape 2 ; shape 3
get_leaves | stride (1@0,(?@1,0)) | stride 1@0 ; stride ?@1 ; stride 0
get_leaves | coord (_,(3,?{i64})) | coord _ ; coord 3 ; coord ?{i64}
get_leaves | int_tuple 7 | int_tuple 7
get_leaves | tile [[4:1;_];(2,?):(1,2)] | layout 4:1 ; tile _ ; layout (2,?):(1,2)
get_leaves | shape () |
get_leaves | layout 4:1 | error expected input to be !cute.shape, !cute.stride, !cute.coord, !cute.int_tuple or !cute.tile, found !cute.layout `4:1`
get_scalars | layout (?,8):(1,?{i64}) | i32 ; 8 ; 1 ; i64
get_scalars<dynamic> | layout (?,8):(1,?{i64}) | i32 ; i64
get_scalars | stride (3@1@0,?@2) | 3 ; 0 ; 1 ; i32 ; 2
get_scalars<dynamic> | stride (3@1@0,?@2) | i32
get_scalars | swizzle S<2,3,-4> | 2 ; 3 ; -4
get_scalars<dynamic> | swizzle S<2,3,-4> |
get_scalars | coord (_,(3,?)) | 3 ; i32
get_scalars | tile [4:?;_] | 4 ; i32
get_scalars<dynamic> | composed ?:1 o ?{i64} o (4,?):(1,4) | i32 ; i64 ; i32
get_scalars | composed S<2,3,4> o 5 o 4:1 | 4 ; 1 ; 5 ; 2 ; 3 ; 4
get_scalars | i32 | error expected cute_value to be a type of the dialect, found an integer `?`
get<1,0> | layout (4,((2,?),8)):(1,((4,?),16)) | layout (2,?):(4,?)
get<1> | shape (4,(2,3)) | shape (2,3)
get<0> | shape 4 | shape 4
get | coord (1,_) | coord (1,_)
get<1> | tile [4:1;[_;8:1]] | tile [_;8:1]
get<1,1> | tile [4:1;[_;8:1]] | tile 8:1
get<1> | composed S<3,4,3> o 8 o (64,(2,8)):(1,(64,128)) | composed S<3,4,3> o 8 o (2,8):(64,128)
get<1> | composed (6,2):(1,3) o (2,1) o (2,3):(1@1,2@0) | composed (6,2):(1,3) o (2,1) o 3:2@0
get<2> | shape (4,(2,3)) | error expected a mode index in [0, 2) at depth 0, found 2
get<0,0> | shape (4,(2,3)) | error expected mode indices that end at a leaf, found 1 more after depth 1
get<1,-1> | shape (4,(2,3)) | error expected a mode index in [0, 2) at depth 1, found -1
get<0> | swizzle S<1,2,3> | error expected input to be !cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout or !cute.composed_layout, found !cute.swizzle `S<1,2,3>`
select<2,0> | shape (4,5,?) | shape (?,4)
select<1,1> | layout (4,?):(1,4) | layout (?,?):(4,4)
select<0> | int_tuple 9 | int_tuple (9)
select<1> | tile [4:1;[_;8:1]] | tile [[_;8:1]]
select<1> | stride (1@0,2@1) | stride (2@1)
select<1,0> | composed S<3,4,3> o 8 o (64,8):(1,64) | composed S<3,4,3> o 8 o (8,64):(64,1)
select<3> | shape (4,5,?) | error expected a mode index in [0, 3) at depth 0, found 3
select | shape (4,5) | error expected the attribute `mode`, found none
select<0> | swizzle S<1,2,3> | error expected input to be !cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout or !cute.composed_layout, found !cute.swizzle `S<1,2,3>`
to_int_tuple | shape (4,(?,2)) | int_tuple (4,(?,2))
to_int_tuple | coord (1,?{i64}) | int_tuple (1,?{i64})
to_int_tuple | stride (1,?) | int_tuple (1,?)
to_int_tuple | coord (1,_) | error expected integers throughout, found (1,_)
to_int_tuple | stride (1@0,1@1) | error expected integers throughout, found (1@0,1@1)
to_int_tuple | layout 4:1 | error expected src to be !cute.shape, !cute.stride, !cute.coord or !cute.int_tuple, found !cute.layout `4:1`
to_shape | int_tuple (4,(?,2)) | shape (4,(?,2))
to_shape | int_tuple ?{i64 div=16} | shape ?{i64 div=16}
to_shape | coord 1 | error expected src to be !cute.int_tuple, found !cute.coord `1`
to_stride | int_tuple (4,(?,2)) | stride (4,(?,2))
to_stride | int_tuple 0 | stride 0
to_stride | stride 1 | error expected src to be !cute.int_tuple, found !cute.stride `1`
to_coord | int_tuple (4,(?,2)) | coord (4,(?,2))
to_coord | int_tuple -3 | coord -3
to_coord | shape 1 | error expected src to be !cute.int_tuple, found !cute.shape `1`
get_layouts_from_tile | tile [[4:1;_];(2,?):(1,2)] | layout 4:1 ; layout (2,?):(1,2)
get_layouts_from_tile | tile (4,8):(1,4) | layout (4,8):(1,4)
get_layouts_from_tile | tile [_;[_;_]] | error expected a tile with at least one layout, found [_;[_;_]]
get_layouts_from_tile | layout 4:1 | error expected tile to be !cute.tile, found !cute.layout `4:1`
";

pub const ALGEBRA: &str = "
composition | layout (6,2):(8,2) ; layout (4,3):(3,1) | layout ((2,2),3):((24,2),8)
composition | layout (8,8):(8,1) ; shape (4,2) | layout (4,2):(8,1)
composition | layout (8,8):(8,1) ; tile [_;(2,2):(1,4)] | layout (8,(2,2)):(8,(1,4))
composition | layout (?,8):(1,?) ; tile [_;4:2] | layout (?,4):(1,?)
composition | layout (20,?):(1@0,1@1) ; layout (5,4):(1,5) | layout (5,4):(1@0,5@0)
composition | composed S<3,4,3> o 64 o (64,8):(1,64) ; layout (8,4):(64,2) | composed S<3,4,3> o 64 o (8,4):(64,2)
composition | layout (6,2):(1,100) ; layout 4:4 | error expected (6,2):(1,100) o 4:4 to be a layout of the right side's profile, found that at 3 of its leaf 4:4 the function is 200 where such a layout would give 106
composition | layout (8,8):(8,1) ; tile [4:1;4:1;4:1] | error expected a tile of at most 2 modes for (8,8):(8,1), found [4:1;4:1;4:1]
composition | shape 8 ; layout 4:1 | error expected lhs to be !cute.layout or !cute.composed_layout, found !cute.shape `8`
coalesce | layout (2,(1,6)):(1,(6,2)) | layout 12:1
coalesce | layout ((2,4),(8,1)):((1,2),(8,7)) | layout 64:1
coalesce | layout ((2,4),(8,3)):((1,2),(8,64)) ; coord (1,1) | layout (8,24):(1,8)
coalesce | layout (4,?):(1,4) | layout (4,?):(1,4)
coalesce | layout (2,2):(1@0,2@0) | layout 4:1@0
coalesce | layout ():() | layout ():()
coalesce | composed S<3,4,3> o 0 o (8,8):(1,8) | composed S<3,4,3> o 0 o 64:1
coalesce | layout (4,8):(1,4) ; coord (1,1,1) | error expected a profile of at most 2 modes for (4,8):(1,4), found (1,1,1)
coalesce | shape (4,8) | error expected input to be !cute.layout or !cute.composed_layout, found !cute.shape `(4,8)`
flatten | shape (4,(?,(2,3))) | shape (4,?,2,3)
flatten | stride (1@0,(2@1,0)) | stride (1@0,2@1,0)
flatten | layout ((2,?),3):((1,2),?) | layout (2,?,3):(1,2,?)
flatten | tile [4:1;[_;8:1]] | tile [4:1;_;8:1]
flatten | composed S<3,4,3> o 0 o ((2,4),8):((1,2),8) | composed S<3,4,3> o 0 o (2,4,8):(1,2,8)
flatten | int_tuple 5 | int_tuple 5
flatten | swizzle S<1,2,3> | error expected input to be !cute.layout or !cute.composed_layout, found !cute.swizzle `S<1,2,3>`
complement | layout (2,3):(1,4) ; shape 48 | layout (2,4):(2,12)
complement | layout 4:2 | layout (2,1):(1,8)
complement | layout 4:1 ; layout ?:7 | layout ?:4
complement | layout 4:1 ; shape (3,?) | layout ?:4
complement | layout 4:1 ; shape (8,?) | layout (2,?):(4,8)
complement | layout (2,3):(1@1,4@0) | layout ((4,1),1):((1@0,12@0),2@1)
complement | layout (4,8):(1,4) | layout 1:32
complement | layout (2,2):(1,?) ; shape 24 | error expected static integers, found (2,2):(1,?)
complement | layout ?:1 | error expected a static layout where there is no cotarget, found ?:1
complement | shape 4 | error expected input to be !cute.layout, found !cute.shape `4`
complement | layout (4,2):(1,6) ; shape 24 | error expected an injective layout whose strides divide in order, found (4,2):(1,6)
group_modes<0,2> | layout (4,?,6):(1,4,?) | layout ((4,?),6):((1,4),?)
group_modes<1,3> | composed S<3,4,3> o 0 o (4,5,6):(1,4,20) | composed S<3,4,3> o 0 o (4,(5,6)):(1,(4,20))
group_modes<2,4> | layout (4,5,6):(1,4,20) | error expected 0 <= begin < end <= 3, the rank of (4,5,6):(1,4,20), found begin 2 and end 4
group_modes<1,1> | layout (4,5,6):(1,4,20) | error expected 0 <= begin < end <= 3, the rank of (4,5,6):(1,4,20), found begin 1 and end 1
group_modes<0,1> | shape (4,5) | error expected input to be !cute.layout or !cute.composed_layout, found !cute.shape `(4,5)`
recast_layout<32,8> | layout (64,5):(1,64) | layout (16,5):(1,16)
recast_layout<8,32> | layout (16,?):(1,?) | layout (64,?):(1,?)
recast_layout<16,16> | layout (?,3):(1,?) | layout (?,3):(1,?)
recast_layout<32,16> | composed S<3,4,3> o 64 o (64,8):(1,64) | composed S<3,3,3> o 32 o (32,8):(1,32)
recast_layout<8,32> | composed S<3,4,3> o 64 o (64,8):(1,64) | composed S<3,6,3> o 256 o (256,8):(1,256)
recast_layout<32,8> | layout (?,5):(1,?{i64}) | layout (?,5):(1,?{i64})
recast_layout<32,8> | composed S<3,4,3> o 0 o (64,?):(1,64) | composed S<3,2,3> o 0 o (16,?):(1,16)
recast_layout<8,32> | layout ?:? | layout ?:?
recast_layout<24,16> | layout (12,5):(1,12) | layout (8,5):(1,8)
recast_layout<64,16> | composed (8,5):(1,8) o 4 o (8,3):(1,8) | composed (2,5):(1,2) o 1 o (2,3):(1,2)
recast_layout<32,16> | composed S<3,4,3> o 5 o (64,8):(1,64) | error expected an offset that is a multiple of 2, found S<3,4,3> o 5 o (64,8):(1,64)
recast_layout<32,16> | composed S<3,0,3> o 0 o (64,8):(1,64) | error expected a swizzle that leaves the 1 lowest bits alone, found S<3,0,3> o 0 o (64,8):(1,64)
recast_layout<24,8> | composed S<3,4,3> o 0 o (48,8):(1,48) | error expected widths in the ratio of a power of 2 under a swizzle, not 3 to 1, found S<3,4,3> o 0 o (48,8):(1,48)
recast_layout<32,16> | composed (5,8):(8,1) o 0 o (4,3):(1,4) | error expected an inner layout whose first mode is contiguous and a multiple of 2, found (5,8):(8,1) o 0 o (4,3):(1,4)
recast_layout<0,16> | layout 4:1 | error expected positive widths in bits, found new 0 and old 16
recast_layout<16,-8> | layout 4:1 | error expected positive widths in bits, found new 16 and old -8
recast_layout<32,8> | layout (4,8):(1@0,1@1) | error expected integer strides, found (4,8):(1@0,1@1)
slice | layout (2,3,4):(1,2,6) ; coord (1,_,?) | layout (3):(2)
slice | layout ((2,4),3):((1,2),8) ; coord ((_,0),_) | layout (2,3):(1,8)
slice | shape (?,(3,4)) ; coord (_,1) | shape (?)
slice | coord (0,_,5) ; coord (_,_,0) | coord (0,_)
slice | stride (1@0,2@1) ; coord (1,_) | stride (2@1)
slice | int_tuple (7,(8,9)) ; coord 3 | int_tuple ()
slice | composed (4,5):(1,4) o 2 o (8,3):(1,8) ; coord (3,_) | composed (4,5):(1,4) o 5 o (3):(8)
slice | composed (4,5):(1,4) o 2 o (8,3):(1,8) ; coord (?,_) | composed (4,5):(1,4) o ? o (3):(8)
slice | composed (6,2):(1,3) o (2,1) o (2,3):(1@1,2@0) ; coord (1,_) | composed (6,2):(1,3) o (2,2) o (3):(2@0)
slice | composed S<3,4,3> o 0 o (64,128):(1,64) ; coord (1,_) | composed S<3,4,3> o 0 o (128):(64)
slice | composed S<2,0,3> o 0 o (4,16):(1,8) ; coord (_,5) | layout ((2,2)):((-1,2))
slice | composed S<2,0,3> o 0 o (4,16):(1,8) ; coord (_,?) | layout ((2,2)):((?,?))
slice | composed S<2,0,3> o 3 o (4,16):(1,8) ; coord (_,5) | composed S<2,0,3> o 43 o (4):(1)
slice | composed S<2,0,-3> o 0 o (4,4):(8,1) ; coord (_,3) | layout (4):(-8)
slice | composed S<2,0,3> o ? o (4,16):(1,8) ; coord (_,5) | composed S<2,0,3> o ? o (4):(1)
slice | layout (8,4):(1,8) ; coord (0,_,1) | error expected a coordinate whose profile (8,4) refines, found (0,_,1)
slice | composed S<3,4,3> o 0 o (?,8):(1,64) ; coord (_,1) | error expected a static outer layout under a swizzle, found S<3,4,3> o 0 o (?,8):(1,64)
slice | composed S<3,4,3> o 0 o (64,8):(1,64) ; coord (1,1) | error expected a coordinate with at least one `_` under a swizzle, found (1,1)
slice | swizzle S<1,2,3> ; coord _ | error expected input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout or !cute.composed_layout, found !cute.swizzle `S<1,2,3>`
slice | shape (4,8) ; shape (1,1) | error expected coord to be !cute.coord, found !cute.shape `(1,1)`
dice | layout (2,3,4):(1,2,6) ; coord (1,_,0) | layout (2,4):(1,6)
dice | shape ((2,?),3) ; coord ((1,_),_) | shape (2)
dice | int_tuple (7,(8,9)) ; coord 3 | int_tuple (7,(8,9))
dice | composed S<3,4,3> o 8 o (64,8):(1,64) ; coord (_,1) | composed S<3,4,3> o 8 o (8):(64)
dice | layout (2,3):(1,2) ; coord (_,_) | layout ():()
dice | layout (2,3):(1,2) ; coord (?,_) | error expected a static coordinate, found (?,_)
dice | layout (2,3):(1,2) ; coord (0,_,1) | error expected a coordinate whose profile (2,3) refines, found (0,_,1)
dice | tile [4:1;_] ; coord (0,_) | error expected input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout or !cute.composed_layout, found !cute.tile `[4:1;_]`
right_inverse | layout (4,8):(8,1) | layout (8,4):(4,1)
right_inverse | layout 4:2 | layout 1:0
right_inverse | layout (4,8,?):(1,4,32) | layout (32,?):(1,32)
right_inverse | layout (?,8):(8,1) | layout (8,?):(?,1)
right_inverse | layout (?,?):(1,?) | layout ?:1
right_inverse | layout (?,4):(1@0,1@1) | error expected a static shape beside basis strides, found (?,4):(1@0,1@1)
right_inverse | layout (4,8):(1,?) | layout 4:1
right_inverse | layout (4,5):(1@1,1@0) | layout (5,4):(4,1)
right_inverse | layout ((2,3),4):((3@0,1@0),?@1) | layout ((3,2),1):((2,1),0)
right_inverse | layout (2,3):(2@0,1@1@1) | layout (1,(1,3)):(0,(0,2))
right_inverse | shape 4 | error expected input to be !cute.layout, found !cute.shape `4`
left_inverse | layout (4,8):(8,1) | layout (8,4):(4,1)
left_inverse | layout 4:4 | layout (4,4):(0,1)
left_inverse | layout (4,5):(1@1,1@0) | layout (5,4):(4,1)
left_inverse | layout ((2,3),4):((6@0,1@0),2@1) | layout ((6,2),(2,4)):((2,1),(0,6))
left_inverse | layout (4,5):(1@0,2@0) | error expected an injective layout whose strides divide in order, found (4,5):(1@0,2@0)
left_inverse | layout (4,5):(1@0,?@1) | error expected static strides, found (4,5):(1@0,?@1)
left_inverse | layout (4,8):(1,?) | error expected static strides, found (4,8):(1,?)
left_inverse | layout (?,8):(1,8) | error expected a static shape, found (?,8):(1,8)
left_inverse | composed S<1,2,3> o 0 o 8:1 | error expected input to be !cute.layout, found !cute.composed_layout `S<1,2,3> o 0 o 8:1`
";

pub const SIZE_INDEX: &str = "
size | shape (4,(3,5)) | int_tuple 60
size<1> | layout (4,(?,5)):(1,(4,?)) | int_tuple ?
size | int_tuple (4,?{i64}) | int_tuple ?{i64}
size | composed S<3,4,3> o 0 o (64,8):(1,64) | int_tuple 512
size<0> | shape 6 | int_tuple 6
size | shape () | int_tuple 1
size<1,1,0> | shape (4,(3,5)) | error expected mode indices that end at a leaf, found 1 more after depth 2
size<2> | shape (4,(3,5)) | error expected a mode index in [0, 2) at depth 0, found 2
size | stride (1,4) | error expected input to be !cute.shape, !cute.int_tuple, !cute.layout or !cute.composed_layout, found !cute.stride `(1,4)`
size | shape (4294967296,4294967296) | error expected values that fit a signed 64-bit integer, found an overflow
cosize | layout (4,3):(1,5) | int_tuple 14
cosize | layout (4,3):(-1,5) | int_tuple 14
cosize<1> | layout (4,(3,2)):(1,(?,40)) | int_tuple ?
cosize | layout (4,8):(1@0,2@1) | int_tuple 60
cosize | layout (?,8):(1,?{i64}) | int_tuple ?{i64}
cosize | layout ():() | int_tuple 1
cosize | composed S<3,4,3> o 0 o (64,8):(1,64) | int_tuple 512
cosize | composed 4:2 o 0 o 8:1 | error expected a composed layout whose inner function is a swizzle, found 4:2 o 0 o 8:1
cosize<2> | layout (4,3):(1,5) | error expected a mode index in [0, 2) at depth 0, found 2
cosize | shape 4 | error expected input to be !cute.layout or !cute.composed_layout, found !cute.shape `4`
tuple_product | int_tuple (2,(3,4)) | int_tuple 24
tuple_product | shape (2,(?,4)) | shape ?
tuple_product | shape (?,?{i64}) | shape ?{i64}
tuple_product | int_tuple (?,0) | int_tuple 0
tuple_product | coord 4 | error expected input to be !cute.int_tuple or !cute.shape, found !cute.coord `4`
tuple_product_each | shape ((2,3),(?,4),5) | shape (6,?,5)
tuple_product_each | int_tuple (0,(2,?)) | int_tuple (0,?)
tuple_product_each | int_tuple 7 | int_tuple (7)
tuple_product_each | layout 4:1 | error expected input to be !cute.int_tuple or !cute.shape, found !cute.layout `4:1`
layout_eval | coord (3,2) ; layout (4,8):(8,1) | int_tuple 26
layout_eval | coord 13 ; layout (4,(2,3)):(1,(100,10)) | int_tuple 111
layout_eval | coord (?,2) ; layout (4,8):(8,1) | int_tuple ?
layout_eval | coord (?,_) ; layout (4,8):(0,1) | int_tuple 0
layout_eval | coord (3,(?,1)) ; layout (4,(5,2)):(1@1,(2@0@0,3@1@0)) | int_tuple ((?,3),3)
layout_eval | coord 0 ; layout (4,(5,2)):(1@1,(2@0@0,3@1@0)) | int_tuple ((0,0),0)
layout_eval | coord -3 ; layout 4:5 | int_tuple -15
layout_eval | coord 7 ; composed S<2,0,3> o 1 o (4,16):(1,8) | int_tuple 13
layout_eval | coord ?{i64} ; composed S<2,0,3> o 1 o (4,16):(1,8) | int_tuple ?{i64}
layout_eval | coord 3 ; composed (6,2):(1,3) o (2,1) o (2,3):(1@1,2@0) | int_tuple 10
layout_eval | coord 0 ; layout ():() | int_tuple ()
layout_eval | coord (1,2,3) ; layout (4,8):(8,1) | error expected a coordinate of rank 2 (that of (4,8)), or an integer, found (1,2,3)
layout_eval | coord (1,(2,3)) ; layout (4,8):(8,1) | error expected a coordinate of shape (4,8), found (2,3)
layout_eval | int_tuple 1 ; layout (4,8):(8,1) | error expected coord to be !cute.coord, found !cute.int_tuple `1`
layout_eval | coord 1 ; shape 4 | error expected layout to be !cute.layout or !cute.composed_layout, found !cute.shape `4`
crd2idx | coord (3,(1,2)) ; shape (4,(2,5)) | int_tuple 23
crd2idx | coord 17 ; shape (4,(2,5)) | int_tuple 17
crd2idx | coord ? ; shape (4,(2,5)) | int_tuple ?
crd2idx | coord (1,?) ; shape (?{i64},5) | int_tuple ?{i64}
crd2idx | coord (_,1) ; shape (4,5) | int_tuple 4
crd2idx | coord (0,0) ; shape (?,?) | int_tuple 0
crd2idx | coord (1,2,3) ; shape (4,5) | error expected a coordinate whose profile (4,5) refines, found (1,2,3)
crd2idx | int_tuple 1 ; shape 4 | error expected coord to be !cute.coord, found !cute.int_tuple `1`
crd2idx | coord 1 ; layout 4:1 | error expected shape to be !cute.shape, found !cute.layout `4:1`
idx2crd | int_tuple 23 ; shape (4,(2,5)) | coord (3,(1,2))
idx2crd | int_tuple ? ; shape (4,(2,5)) | coord (?,(?,?))
idx2crd | int_tuple 9 ; shape (4,?) | coord (1,2)
idx2crd | int_tuple 9 ; shape (?,4) | coord (?,?)
idx2crd | int_tuple (3,7) ; shape (4,(2,5)) | coord (3,(1,3))
idx2crd | int_tuple 99 ; shape (4,5) | coord (3,24)
idx2crd | int_tuple ? ; shape (1,?{i64}) | coord (0,?)
idx2crd | int_tuple (1,2,3) ; shape (4,5) | error expected an index of rank 2 (that of (4,5)), or an integer, found (1,2,3)
idx2crd | int_tuple (1,(2,3)) ; shape (4,5) | error expected a coordinate of shape 5, found (2,3)
idx2crd | int_tuple 3 ; shape (0,5) | error expected a divisor other than 0 for 3, found 0
idx2crd | coord 3 ; shape 4 | error expected index to be !cute.int_tuple, found !cute.coord `3`
increment_coord | coord (3,(1,2)) ; shape (4,(2,5)) | coord (0,(0,3))
increment_coord | coord (0,(1,2)) ; shape (4,(2,5)) | coord (1,(1,2))
increment_coord | coord (3,(1,4)) ; shape (4,(2,5)) | coord (0,(0,5))
increment_coord | coord (0,3) ; shape (1,5) | coord (0,4)
increment_coord | coord (?,3) ; shape (4,5) | coord (?,?)
increment_coord | coord (3,?{i64}) ; shape (4,5) | coord (0,?{i64})
increment_coord | coord 6 ; shape 7 | coord 7
increment_coord | coord (1,_) ; shape (4,5) | error expected a coordinate without `_`, found (1,_)
increment_coord | coord 3 ; shape (4,5) | error expected a coordinate congruent to (4,5), found 3
increment_coord | int_tuple 3 ; shape 4 | error expected coord to be !cute.coord, found !cute.int_tuple `3`
append_to_rank<4> | shape (4,?) ; shape (2,3) | shape (4,?,(2,3),(2,3))
append_to_rank<3> | layout (4,8):(1,4) ; layout 1:0 | layout (4,8,1):(1,4,0)
append_to_rank<2> | int_tuple (1,2,3) ; int_tuple 9 | int_tuple (1,2,3)
append_to_rank<3> | coord 5 ; coord _ | coord (5,_,_)
append_to_rank<3> | composed S<3,4,3> o 0 o (64,8):(1,64) ; layout 2:512 | composed S<3,4,3> o 0 o (64,8,2):(1,64,512)
append_to_rank<0> | shape 4 ; shape 1 | error expected a rank from 1 to 4096, found 0
append_to_rank<3> | shape 4 ; int_tuple 1 | error expected element to be of the kind of the input, found !cute.int_tuple `1`
append_to_rank<3> | stride (1@0,1@1) ; stride 2 | error expected strides that are all integers or all scaled basis elements (zeros may be mixed in), found (1@0,1@1,2)
append_to_rank | shape 4 ; shape 1 | error expected the attribute `rank`, found none
append_to_rank<3> | tile [4:1] ; tile _ | error expected input to be !cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, !cute.layout or !cute.composed_layout, found !cute.tile `[4:1]`
prepend_to_rank<4> | stride (4,?) ; stride 0 | stride (0,0,4,?)
prepend_to_rank<3> | layout 4:1 ; layout (2,2):(8,4) | layout ((2,2),(2,2),4):((8,4),(8,4),1)
prepend_to_rank<1> | coord (1,_) ; coord 0 | coord (1,_)
prepend_to_rank<3> | composed S<3,4,3> o 0 o (64,8):(1,64) ; layout 2:512 | composed S<3,4,3> o 0 o (2,64,8):(512,1,64)
prepend_to_rank<-2> | shape 4 ; shape 1 | error expected a rank from 1 to 4096, found -2
prepend_to_rank<3> | composed S<3,4,3> o 0 o (64,8):(1,64) ; composed S<3,4,3> o 0 o 8:1 | error expected element to be !cute.layout beside a !cute.composed_layout, found !cute.composed_layout `S<3,4,3> o 0 o 8:1`
";

pub const ARITHMETIC: &str = "
tuple_add | int_tuple (1,(2,3)) ; int_tuple (10,(20,30)) | int_tuple (11,(22,33))
tuple_add | shape (4,?) ; shape (?{i64},2) | shape (?{i64},?)
tuple_add | int_tuple (1,2) ; int_tuple (3,4,(5,6)) | int_tuple (4,6,(5,6))
tuple_add | int_tuple 0 ; int_tuple (?,4) | int_tuple (?,4)
tuple_add | int_tuple (?{div=8},?{div=8}) ; int_tuple (16,?{div=12}) | int_tuple (?{div=8},?{div=4})
tuple_add | int_tuple 4294967296 ; int_tuple ? | int_tuple ?{i64}
tuple_add | int_tuple (1,2) ; int_tuple 3 | error expected tuples of one nesting, where only a known 0 may stand for a tuple, found (1,2) and 3
tuple_add | int_tuple (1,(2,3)) ; int_tuple (1,0) | error expected one nesting within the common rank, found (1,(2,3)) and (1,0)
tuple_add | int_tuple 1 ; shape 1 | error expected rhs to be of the kind of lhs, found !cute.shape `1`
tuple_add | int_tuple 9223372036854775807 ; int_tuple 1 | error expected values that fit a signed 64-bit integer, found an overflow
tuple_add | coord 1 ; coord 1 | error expected lhs to be !cute.int_tuple or !cute.shape, found !cute.coord `1`
tuple_sub | int_tuple (1,(2,3)) ; int_tuple (10,(20,30)) | int_tuple (-9,(-18,-27))
tuple_sub | shape (4,?) ; shape (2,2) | shape (2,?)
tuple_sub | int_tuple (8,7) ; int_tuple (3,4,5) | int_tuple (5,3,5)
tuple_sub | int_tuple (8,?) ; int_tuple 0 | int_tuple (8,?)
tuple_sub | int_tuple 0 ; int_tuple (8,7) | error expected tuples of one nesting, where only a known 0 may stand for a tuple, found 0 and (8,7)
tuple_sub | int_tuple (8,7) ; int_tuple 1 | error expected tuples of one nesting, where only a known 0 may stand for a tuple, found (8,7) and 1
tuple_sub | layout 4:1 ; layout 4:1 | error expected lhs to be !cute.int_tuple or !cute.shape, found !cute.layout `4:1`
shape_div | shape (12,(6,4)) ; shape (4,(2,8)) | shape (3,(3,1))
shape_div | shape (4,6,10) ; shape 24 | shape (1,1,10)
shape_div | shape (4,6) ; shape 96 | shape (1,1)
shape_div | shape 24 ; shape (2,3) | shape 4
shape_div | shape (?,8) ; shape (4,?) | shape (?,?)
shape_div | shape ?{div=16} ; shape 8 | shape ?{div=2}
shape_div | shape (?,8) ; shape 4 | shape (?,?)
shape_div | shape 10 ; shape 4 | error expected sizes one of which divides the other, found 10 by 4
shape_div | shape 10 ; shape 0 | error expected a divisor other than 0 for 10, found 0
shape_div | shape (4,6) ; shape (2,3,1) | error expected a divisor of 2 modes, or an integer, found (2,3,1)
shape_div | shape 4 ; int_tuple 2 | error expected b to be !cute.shape, found !cute.int_tuple `2`
ceil_div | int_tuple (10,7) ; int_tuple (4,2) | int_tuple (3,4)
ceil_div | shape (10,7,3) ; int_tuple (4,2) | shape (3,4,3)
ceil_div | int_tuple (4,8) ; shape 8 | int_tuple (1,4)
ceil_div | int_tuple 25 ; int_tuple (2,3) | int_tuple 5
ceil_div | shape (?,7) ; shape (4,?) | shape (?,?)
ceil_div | int_tuple (30,7) ; tile [4:1;2:3] | int_tuple (8,(3,2))
ceil_div | shape (30,(7,4)) ; tile [(2,3):(1,8);4:1] | shape ((4,2),7)
ceil_div | int_tuple (?,8) ; tile [4:1] | int_tuple (?,8)
ceil_div | int_tuple 25 ; tile [2:1;3:1] | int_tuple 5
ceil_div | int_tuple (4,8) ; tile [_;4:1] | error expected a tiler without `_`, found [_;4:1]
ceil_div | int_tuple (4,8) ; int_tuple (1,2,3) | error expected a divisor of at most 2 modes, found (1,2,3)
ceil_div | int_tuple 4 ; int_tuple 0 | error expected positive integers (or `?`) in a shape, found 0
ceil_div | int_tuple 4 ; coord 2 | error expected tiler to be !cute.int_tuple, !cute.shape or !cute.tile, found !cute.coord `2`
ceil_div | coord 4 ; int_tuple 2 | error expected input to be !cute.int_tuple or !cute.shape, found !cute.coord `4`
elem_less | coord (3,(1,2)) ; shape (4,(2,3)) | true
elem_less | coord (3,(2,2)) ; shape (4,(2,3)) | false
elem_less | int_tuple (?,3) ; int_tuple (4,?) | i1
elem_less | int_tuple (?,5) ; int_tuple (4,5) | false
elem_less | int_tuple () ; int_tuple () | true
elem_less | int_tuple (3,4) ; int_tuple 5 | error expected congruent tuples, found (3,4) and 5
elem_less | coord (_,1) ; shape (4,2) | error expected coordinates without `_`, found (_,1)
elem_less | stride 1 ; stride 2 | error expected lhs to be !cute.int_tuple, !cute.shape or !cute.coord, found !cute.stride `1`
equal | shape (4,(2,3)) ; shape (4,(2,3)) | true
equal | shape (4,(2,3)) ; shape (4,2,3) | false
equal | layout (4,2):(1,4) ; layout (4,2):(2,1) | false
equal | layout (4,?):(1,4) ; layout (4,?):(1,4) | i1
equal | layout (4,?):(1,4) ; layout (4,?):(1,5) | false
equal | stride (1@0,?@1) ; stride (1@0,2@1) | i1
equal | stride (1@0,?@1) ; stride (1@0,2@0) | false
equal | coord (_,1) ; coord (_,1) | true
equal | int_tuple ? ; int_tuple 4294967296 | false
equal | int_tuple 1 ; shape 1 | error expected rhs to be of the kind of lhs, found !cute.shape `1`
equal | tile [4:1] ; tile [4:1] | error expected lhs to be !cute.int_tuple, !cute.shape, !cute.coord, !cute.stride or !cute.layout, found !cute.tile `[4:1]`
";

pub const TILING: &str = "
logical_product | layout (2,3):(1,2) ; layout (4,2):(1,4) | layout ((2,3),(4,2)):((1,2),(6,24))
logical_product | layout 4:2 ; layout ?:1 | layout (4,(?,?)):(2,(1,8))
logical_product | composed S<3,4,3> o 0 o (8,8):(1,8) ; layout 4:1 | composed S<3,4,3> o 0 o ((8,8),4):((1,8),64)
logical_product | layout (?,3):(1,2) ; layout 4:1 | error expected a static block, found (?,3):(1,2)
logical_product | layout 4:1 ; layout 4:1@0 | error expected a tiler of integer strides, found 4:1@0
logical_product | layout 4:1 ; shape 4 | error expected rhs to be !cute.layout, found !cute.shape `4`
logical_product | layout (4,2):(1,6) ; layout 3:1 | layout ((4,2),3):((1,6),12)
zipped_product | layout (2,3):(1,2) ; layout (4,2):(1,4) | layout ((2,3),(4,2)):((1,2),(6,24))
zipped_product | composed S<3,4,3> o 0 o (8,8):(1,8) ; layout 4:1 | composed S<3,4,3> o 0 o ((8,8),4):((1,8),64)
zipped_product | layout (?,3):(1,2) ; layout 4:1 | error expected a static block, found (?,3):(1,2)
tiled_product | layout (2,3):(1,2) ; layout (4,2):(1,4) | layout ((2,3),4,2):((1,2),6,24)
tiled_product | layout 4:1 ; layout 3:2 | layout (4,3):(1,8)
tiled_product | layout 4:1 ; tile [4:1] | error expected rhs to be !cute.layout, found !cute.tile `[4:1]`
flat_product | layout (2,3):(1,2) ; layout (4,2):(1,4) | layout (2,3,4,2):(1,2,6,24)
flat_product | layout 4:1 ; layout 3:2 | layout (4,3):(1,8)
flat_product | shape 4 ; layout 4:1 | error expected lhs to be !cute.layout or !cute.composed_layout, found !cute.shape `4`
raked_product | layout (2,3):(3,1) ; layout (4,2):(1,4) | layout ((4,2),(2,3)):((6,3),(24,1))
raked_product | layout 8:1 ; layout (4,4):(1,4) | layout ((4,8),4):((8,1),32)
raked_product | layout (2,3):(1,?) ; layout 4:1 | error expected a static block, found (2,3):(1,?)
blocked_product | layout (2,3):(3,1) ; layout (4,2):(1,4) | layout ((2,4),(3,2)):((3,6),(1,24))
blocked_product | layout 8:1 ; layout (4,4):(1,4) | layout ((8,4),(1,4)):((1,8),(0,32))
blocked_product | composed S<3,4,3> o 0 o (8,8):(1,8) ; layout (2,4):(4,1) | composed S<3,4,3> o 0 o ((8,2),(8,4)):((1,256),(8,64))
blocked_product | layout 8:1 ; layout 4:1@1 | error expected a tiler of integer strides, found 4:1@1
logical_divide | layout (16,12):(1,16) ; layout 4:2 | layout (4,(2,24)):(2,(1,8))
logical_divide | layout (16,12):(1,16) ; tile [4:1;3:4] | layout ((4,4),(3,4)):((1,4),(64,16))
logical_divide | layout (16,12,5):(1,16,192) ; shape (4,3) | layout ((4,4),(3,4),5):((1,4),(16,48),192)
logical_divide | layout (?,12):(1,?) ; shape (4,3) | layout ((4,?),(3,4)):((1,4),(?,?))
logical_divide | composed S<3,4,3> o 0 o (64,8):(1,64) ; shape (16,2) | composed S<3,4,3> o 0 o ((16,4),(2,4)):((1,16),(64,128))
logical_divide | layout 10:1 ; layout 4:1 | layout (4,3):(1,4)
logical_divide | layout (16,12):(1,16) ; shape (4,3,2) | error expected a tiler of at most 2 modes, the rank of (16,12):(1,16), found [4:1;3:1;2:1]
logical_divide | layout (16,12):(1,16) ; tile [4:1@0;_] | error expected layouts of integer strides in a tile, found 4:1@0
logical_divide | layout (16,12):(1,16) ; layout (2,2):(1,?) | error expected a tiler of static strides, or of rank 1, found (2,2):(1,?)
logical_divide | layout (16,12):(1,16) ; coord 4 | error expected tiler to be !cute.layout, !cute.shape or !cute.tile, found !cute.coord `4`
zipped_divide | layout (16,12):(1,16) ; tile [4:1;3:4] | layout ((4,3),(4,4)):((1,64),(4,16))
zipped_divide | layout (?,12):(1,?) ; shape (4,3) | layout ((4,3),(?,4)):((1,?),(4,?))
zipped_divide | layout (16,12,5):(1,16,192) ; shape (4,3) | layout ((4,3),(4,4,5)):((1,16),(4,48,192))
zipped_divide | layout (16,12):(1,16) ; shape (4,3,2) | error expected a tiler of at most 2 modes, the rank of (16,12):(1,16), found [4:1;3:1;2:1]
tiled_divide | layout (16,12):(1,16) ; tile [4:1;3:4] | layout ((4,3),4,4):((1,64),4,16)
tiled_divide | composed S<3,4,3> o 0 o (64,8):(1,64) ; shape (16,2) | composed S<3,4,3> o 0 o ((16,2),4,4):((1,64),16,128)
tiled_divide | shape 16 ; shape 4 | error expected input to be !cute.layout or !cute.composed_layout, found !cute.shape `16`
flat_divide | layout (16,12):(1,16) ; tile [4:1;3:4] | layout (4,3,4,4):(1,64,4,16)
flat_divide | layout 24:3 ; layout 6:2 | layout (6,2,2):(6,3,36)
flat_divide | layout (16,12):(1,16) ; shape (4,3,2) | error expected a tiler of at most 2 modes, the rank of (16,12):(1,16), found [4:1;3:1;2:1]
tile_to_shape | layout (2,2):(1,2) ; shape (4,6) | layout ((2,2),(2,3)):((1,4),(2,8))
tile_to_shape | layout (2,2):(1,2) ; shape (4,6) ; int_tuple (1,0) | layout ((2,2),(2,3)):((1,12),(2,4))
tile_to_shape | layout (2,2):(1,2) ; shape (?,6) | layout ((2,?),(2,3)):((1,4),(2,?))
tile_to_shape | composed S<3,4,3> o 0 o (64,8):(1,64) ; shape (128,16) | composed S<3,4,3> o 0 o ((64,2),(8,2)):((1,512),(64,1024))
tile_to_shape | layout 4:1 ; shape (8,3,2) ; int_tuple (0,2,1) | layout ((4,2),(1,3),(1,2)):((1,4),(0,16),(0,8))
tile_to_shape | layout (2,2):(1,2) ; shape 8 | error expected a shape of at least 2 modes, the rank of (2,2):(1,2), found 8
tile_to_shape | layout (2,2):(1,2) ; shape (4,6) ; int_tuple (1,1) | error expected a static permutation of 0 to 1, found (1,1)
tile_to_shape | layout (2,2):(1,2) ; shape (4,6) ; int_tuple (0,?) | error expected a static permutation of 0 to 1, found (0,?)
tile_to_shape | layout (2,2):(1,2) ; shape (4,6) ; int_tuple 0 | error expected a static permutation of 0 to 1, found 0
tile_to_shape | shape 4 ; shape 8 | error expected input to be !cute.layout or !cute.composed_layout, found !cute.shape `4`
";

/// Ops that CuTe DSL alone prints.
pub const DSL: &str = "
make_layout | shape (4,(2,?)) | layout (4,(2,?)):(1,(4,8))
filter | layout (1,8):(0,1) | layout 8:1
filter | layout (4,8,2):(0,1,8) | layout 16:1
filter | shape 4 | error expected input to be !cute.layout, found !cute.shape `4`
tuple_mul | int_tuple (2,?) ; int_tuple (3,8) | int_tuple (6,?{div=8})
tuple_mul | int_tuple 32 ; int_tuple ? | int_tuple ?{div=32}
tuple_mul | shape (2,(3,4)) ; shape 5 | shape (10,(15,20))
tuple_mul | int_tuple 1 ; shape 2 | error expected rhs to be of the kind of lhs, found !cute.shape `2`
tuple_mul | int_tuple (1,2) ; int_tuple (1,2,3) | error expected congruent tuples, or an integer beside a tuple, found (1,2) and (1,2,3)
tuple_div | int_tuple (9,?) ; int_tuple 2 | int_tuple (4,?)
tuple_div | int_tuple -7 ; int_tuple 2 | int_tuple -3
tuple_div | int_tuple 1 ; shape 2 | error expected rhs to be of the kind of lhs, found !cute.shape `2`
tuple_mod | int_tuple (9,?) ; int_tuple 2 | int_tuple (1,?)
tuple_mod | int_tuple -7 ; int_tuple 2 | int_tuple -1
tuple_mod | layout 1:0 ; int_tuple 2 | error expected lhs to be !cute.int_tuple or !cute.shape, found !cute.layout `1:0`
tuple.product | int_tuple (2,(3,4)) | int_tuple 24
tuple.product | shape (2,?) | shape ?
tuple.product | layout 1:0 | error expected input to be !cute.int_tuple or !cute.shape, found !cute.layout `1:0`
tuple.product_each | int_tuple (2,(3,4)) | int_tuple (2,12)
tuple.product_each | shape ((8,16),8) | shape (128,8)
tuple.product_each | layout 1:0 | error expected input to be !cute.int_tuple or !cute.shape, found !cute.layout `1:0`
derefine | coord (0,?{div=8}) | coord (0,?{div=8})
derefine | layout (4,2):(1,4) | layout (4,2):(1,4)
derefine | | error expected 1 operand(s), found 0
";

pub const ALL: [&str; 7] = [
    CONSTRUCTORS,
    ACCESSORS,
    ALGEBRA,
    SIZE_INDEX,
    ARITHMETIC,
    TILING,
    DSL,
];

#[test]
fn ops_of_the_dsl() {
    check(DSL);
}

#[test]
fn constructors() {
    check(CONSTRUCTORS);
}

#[test]
fn accessors() {
    check(ACCESSORS);
}

#[test]
fn layout_algebra() {
    check(ALGEBRA);
}

#[test]
fn size_index() {
    check(SIZE_INDEX);
}

#[test]
fn arithmetic() {
    check(ARITHMETIC);
}

#[test]
fn tiling() {
    check(TILING);
}

#[test]
fn every_op_has_cases_and_refusals() {
    let mut seen: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for case in ALL.iter().flat_map(|t| cases(t)) {
        let counts = seen.entry(case.op).or_default();
        if case.expected.starts_with("error ") {
            counts.1 += 1;
        } else {
            counts.0 += 1;
        }
    }
    for op in OPS {
        let (right, refused) = seen.remove(op).unwrap_or_default();
        assert!(
            right >= 2 && refused >= 1,
            "{op}: {right} cases and {refused} refusals"
        );
    }
    assert!(seen.is_empty(), "no ops: {seen:?}");
}

#[test]
fn operands_are_counted() {
    let shape = value("shape 4");
    for op in OPS {
        let many = vec![shape.clone(); 4];
        let attrs = Attrs {
            result: Some(shape.clone()),
            ..Attrs::default()
        };
        assert!(apply(op, &many, &attrs).is_err(), "{op} took four shapes");
    }
}

#[test]
fn unknown_ops_are_named() {
    let e = apply("transmogrify", &[], &Attrs::default()).unwrap_err();
    assert!(
        matches!(&e, OpError::Unknown { op } if op == "transmogrify"),
        "{e}"
    );
    assert!(apply("cute.size", &[value("shape 4")], &Attrs::default()).is_err());
}

#[test]
fn nothing_panics_on_operands_of_any_kind() {
    let pool = [
        "int_tuple (3,(?,2))",
        "int_tuple 0",
        "int_tuple ()",
        "shape (4,(2,?))",
        "shape 6",
        "shape (0,-2)",
        "stride (1@0,(0,?@1))",
        "stride (-1,(?,9223372036854775807))",
        "coord (_,(1,?))",
        "coord -9223372036854775808",
        "layout (4,(2,?)):(1,(?,8))",
        "layout ():()",
        "layout (2,2):(1@1,2@0)",
        "layout 4611686018427387904:1",
        "tile [4:1;[_;?:2]]",
        "tile _",
        "swizzle S<3,4,-5>",
        "swizzle S<0,4,3>",
        "composed S<2,1,3> o 5 o (4,(2,8)):(1,(4,8))",
        "composed (6,2):(1,3) o (?,1) o (2,3):(1@1,2@0)",
        "composed ?:? o ? o 4:1",
        "i32",
        "-9223372036854775808",
        "true",
    ];
    let pool: Vec<Value> = pool.into_iter().map(value).collect();
    let paths = [None, Some(vec![]), Some(vec![1, 0]), Some(vec![-1, 99])];
    for op in OPS {
        for mode in &paths {
            for number in [-3i64, 0, 2, i64::MAX] {
                let attrs = Attrs {
                    mode: mode.clone(),
                    begin: Some(number.saturating_sub(2)),
                    end: Some(number),
                    new_type_bits: Some(number),
                    old_type_bits: Some(8),
                    rank: Some(number),
                    only_dynamic: number > 0,
                    result: pool.get(number.clamp(0, 20) as usize).cloned(),
                };
                let _ = apply(op, &[], &attrs);
                for a in &pool {
                    let _ = apply(op, std::slice::from_ref(a), &attrs);
                    if number != 2 {
                        continue;
                    }
                    for b in &pool {
                        let _ = apply(op, &[a.clone(), b.clone()], &attrs);
                        let _ = apply(op, &[a.clone(), b.clone(), a.clone()], &attrs);
                    }
                }
            }
        }
    }
}

// Parameters of each kind: integers, a type, an atom and a layout.
module attributes {cute.parameters = {
    D = "integer", V = 4, T = "type", A = !cute_nvgpu.atom.universal_copy<f32, 128 b>, L = #cute.layout<"(4,8):(8,1)">}} {
  func.func @copy(%x: !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,$D):($D,1)">) -> vector<8x!cute.param<"T">> {
    %copy = cute.static : !cute.tiled_copy<!cute.param<"A">, layout_copy_tv = <"($(D/V),$V):($V,1)">, tiler_mn = <"[$D:1]">>
    %l = cute.static : !cute.layout<"$L">
    %r = cute.memref.alloca() : !cute.memref<!cute.param<"T">, rmem, "8:1">
    %v = cute.memref.load_vec %r -> vector<8x!cute.param<"T">>
    return %v : vector<8x!cute.param<"T">>
  }
}

// RUN: cute-opt %s --cute-inline --split-input-file --verify-diagnostics

gpu.module @missing {
  func.func private @copy(%t: !cute.any) {
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op expected a func.func @cpoy in this gpu.module, found none; did you mean 'copy'?}}
    cute.call @cpoy(%t)
    gpu.return
  }
  // Of what uses the result of such a call nothing more is said.
  gpu.func @uses(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op expected a func.func @first in this gpu.module, found none}}
    %x = cute.call @first(%t)
    %layout = cute.get_layout(%x)
    %size = cute.size(%layout)
    gpu.return
  }
}

// -----

gpu.module @unknown {
  gpu.func @uses(%u: !cute.any) kernel {
    // expected-error @below {{'cute.get_layout' op has a result of type !cute.any, which does not follow from its operands; write its type}}
    %other = cute.get_layout(%u)
    gpu.return
  }
}

// -----

gpu.module @count {
  // expected-note @below {{the function is here}}
  func.func private @copy(%t: !cute.any, %u: !cute.any) {
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op expected 2 arguments, as @copy takes, found 1}}
    cute.call @copy(%t)
    gpu.return
  }
}

// -----

gpu.module @type {
  // expected-note @below {{the function is here}}
  func.func private @copy(%n: i32, %t: !cute.any) {
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op expected argument 0 of type i32, as @copy takes it, found !cute.memref<f32, gmem, "8:1">; write !cute.any there, if the function takes others as well}}
    cute.call @copy(%t, %t)
    gpu.return
  }
}

// -----

// What does not fit is said at the op of the function, with the types of the call.
gpu.module @op {
  func.func private @copy(%from: !cute.any, %to: !cute.any) {
    // expected-error @below {{'cute.autovec_copy' op expected the same element type on both sides, found f32 and f16; use cute.convert}}
    cute.autovec_copy(%from, %to)
    return
  }
  gpu.func @kernel(%s: !cute.memref<f32, gmem, "8:1">, %t: !cute.memref<f32, gmem, "8:1">, %u: !cute.memref<f16, gmem, "8:1">) kernel {
    cute.call @copy(%s, %t)
    cute.call @copy(%t, %u)
    gpu.return
  }
}

// -----

gpu.module @inference {
  func.func private @part(%copy: !cute.any, %t: !cute.any, %i: !cute.coord<"?">) {
    // expected-error @below {{'cute.tiled.copy.partition_S' op `partition_S` expected a tensor whose mode 0 (M) is a multiple of 128, found (64,64):(1,64)}}
    %p = cute.tiled.copy.partition_S(%copy, %t, %i)
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, align<16>, "(64,64):(1,64)">, %i: !cute.coord<"?">) kernel {
    %copy = cute.static : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
    cute.call @part(%copy, %t, %i)
    gpu.return
  }
}

// -----

// A type that does not follow is written, in a generic function too.
func.func private @recast(%t: !cute.any) {
  // expected-error @below {{'cute.recast' op expected the type of its result, which does not follow from its operands: write it behind them, ' -> ' and the type}}
  %r = cute.recast(%t)
  return
}

// -----

// Names of attributes are known without types.
func.func private @attribute(%t: !cute.any) {
  // expected-error @below {{'cute.copy' op has the attribute 'cute.stages', where nothing reads it}}
  cute.copy(%t, %t, %t) {cute.stages = 3 : i64}
  return
}

// -----

func.func @outside(%t: !cute.memref<f32, gmem, "8:1">) {
  // expected-error @below {{'cute.call' op calls outside of a gpu.module, where nothing is put in place of it; expected func.call}}
  cute.call @outside(%t)
  return
}

// -----

gpu.module @recursion {
  func.func private @again(%t: !cute.any) {
    // expected-error @below {{'cute.call' op calls @again within itself}}
    cute.call @again(%t)
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    cute.call @again(%t)
    gpu.return
  }
}

// -----

gpu.module @results {
  func.func private @nothing(%t: !cute.any) {
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op gives no results, but 1 has a name; leave it out}}
    %x = cute.call @nothing(%t)
    gpu.return
  }
}

// -----

gpu.module @written {
  func.func private @same(%t: !cute.any) -> !cute.any {
    return %t : !cute.any
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op expected result 0 of type !cute.memref<f32, gmem, "8:1">, as @same gives it, found i32; leave the type out}}
    %x = cute.call @same(%t) -> i32
    gpu.return
  }
}

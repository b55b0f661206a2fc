// What test/issues/loops-of-bytes.test compiles.
!X = !cute.memref<i8, gmem, align<16>, "1024:1">
!s = !cute.memref<i8, smem, align<16>, "1024:1">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @turned(%X: !X {cute.noalias}, %Y: !X {cute.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %thread = arith.index_cast %t : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c16 = arith.constant 16 : i32
      %c849 = arith.constant 849 : i32
      %c1024 = arith.constant 1024 : i32
      %first = arith.muli %thread, %c16 : i32
      %s = cute.memref.alloca() : !s
      scf.for %i = %c0 to %c16 step %c1 : i32 {
        %at = arith.addi %first, %i : i32
        %coord = cute.make_coord(%at) : (i32) -> !cute.coord<"?">
        %x = cute.memref.load(%X, %coord) : (!X, !cute.coord<"?">) -> i8
        cute.memref.store(%s, %coord, %x) : (!s, !cute.coord<"?">, i8) -> ()
      }
      gpu.barrier
      scf.for %i = %c0 to %c16 step %c1 : i32 {
        %own = arith.addi %first, %i : i32
        %far = arith.addi %own, %c849 : i32
        %at = arith.remui %far, %c1024 : i32
        %coord = cute.make_coord(%at) : (i32) -> !cute.coord<"?">
        %y = cute.memref.load(%s, %coord) : (!s, !cute.coord<"?">) -> i8
        cute.memref.store(%Y, %coord, %y) : (!X, !cute.coord<"?">, i8) -> ()
      }
      gpu.return
    }
  }
  func.func @copy(%X: !X, %Y: !X) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %none = arith.constant 0 : i32
    gpu.launch_func @kernels::@turned blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %none args(%X : !X, %Y : !X)
    return
  }
}

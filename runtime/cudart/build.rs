//! Options by which the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    for option in [
        "-Wl,-soname,libcute_cudart.so",
        // Calls within the library stay in it, where a CUDA runtime is loaded beside it.
        "-Wl,-Bsymbolic",
        // The handler of the program's end outlives dlclose.
        "-Wl,-z,nodelete",
    ] {
        println!("cargo::rustc-cdylib-link-arg={option}");
    }
}

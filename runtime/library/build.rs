//! Options by which the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    for option in [
        // The export writes another name over it.
        "-Wl,-soname,libcute.so",
        // Calls within the library stay in it, whichever library of its kind was loaded before.
        "-Wl,-Bsymbolic",
        // Threads, handlers of fork and contexts of a GPU outlive dlclose.
        "-Wl,-z,nodelete",
    ] {
        println!("cargo::rustc-cdylib-link-arg={option}");
    }
}

//! Heads of functions that calls look for in the text around them.

use cute_ir::context;
use cute_ir::mlir::{heard, parse_module};

#[test]
fn what_lies_behind_a_text_in_memory_is_no_part_of_it() {
    let text = "func.func @f() -> i32 {\n  %x = cute.call @g()\n  return %x : i32\n}\nfunc.func private @g() -> i32\n";
    // Another function of the name, and what is no UTF-8.
    for behind in [&b"func.func private @g() -> f32\n\0"[..], b"\xff\xfe\0"] {
        let all = [text.as_bytes(), behind].concat();
        let text = std::str::from_utf8(&all[..text.len()]).unwrap();
        let context = context();
        let (module, said) = heard(&context, || parse_module(&context, "f.mlir", text));
        let said: Vec<_> = said.into_iter().map(|said| said.message).collect();
        assert!(module.is_some(), "{said:?}");
    }
}

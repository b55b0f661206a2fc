//! The headers of an exported library.

use std::fmt::Write;

use cute_runtime::{Access, Arg};

use super::names;
use super::{Library, Named};

/// The part that the headers of all libraries have in common.
const COMMON: &str = include_str!("common.h");
const COMMON_CPP: &str = include_str!("common.hpp");

/// The C header.
pub fn c(library: &Library) -> String {
    let name = &library.name;
    let guard = format!("CUTE_EXPORT_{}_H", name.to_uppercase());
    let mut text = format!(
        "/* Functions of the library lib{name}.so, which `cute-run --export` wrote. */\n#ifndef {guard}\n#define {guard}\n\n{COMMON}\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
    );
    for named in &library.functions {
        let symbol = &named.symbols.c;
        let parameters: Vec<String> = parameters(named)
            .iter()
            .map(|(name, arg)| match arg {
                Arg::Tensor { .. } => format!("const DLTensor *{name}, "),
                Arg::Scalar { element, .. } => format!("{} {name}, ", scalar(element)),
            })
            .collect();
        let values: Vec<String> = self::parameters(named)
            .iter()
            .map(|(name, arg)| match arg {
                Arg::Tensor { .. } => format!("cute_tensor({name})"),
                Arg::Scalar { element, .. } if scalar(element).starts_with("int") => {
                    format!("cute_integer({name})")
                }
                Arg::Scalar { .. } => format!("cute_real({name})"),
            })
            .collect();
        let count = values.len();
        // A list of nothing is no list in C.
        let values = match count {
            0 => "{{0, 0, {0}}}".to_owned(),
            _ => format!("{{{}}}", values.join(", ")),
        };
        let _ = write!(
            text,
            "\n/* {}\n   The same with its arguments as a list; cute_default() is a number that the package gives. */\n\
             CUTE_IMPORT int {symbol}(const cute_value *values, int32_t count, void *stream, char *error, size_t error_bytes);\n\n\
             {}static inline int {name}_{}({}void *stream, char *error, size_t error_bytes) {{\n  \
             const cute_value values[] = {values};\n  return {symbol}(values, {count}, stream, error, error_bytes);\n}}\n",
            named.function.name.replace("*/", "* /"),
            comment(named),
            named.name,
            parameters.concat(),
        );
    }
    let _ = write!(text, "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n");
    text
}

/// The C++ header.
pub fn cpp(library: &Library) -> String {
    let name = &library.name;
    let guard = format!("CUTE_EXPORT_{}_HPP", name.to_uppercase());
    let mut text = format!(
        "// Functions of the library lib{name}.so, which `cute-run --export` wrote, for C++17.\n#ifndef {guard}\n#define {guard}\n\n\
         #include \"{name}.h\"\n\n{COMMON_CPP}\nnamespace {name} {{\n"
    );
    for named in &library.functions {
        let parameters: Vec<(String, &Arg)> = parameters(named);
        let typed: Vec<String> = parameters
            .iter()
            .map(|(name, arg)| match arg {
                Arg::Tensor { .. } => format!("const DLTensor &{name}, "),
                Arg::Scalar { element, .. } => format!("{} {name}, ", scalar(element)),
            })
            .collect();
        let passed: Vec<String> = parameters
            .iter()
            .map(|(name, arg)| match arg {
                Arg::Tensor { .. } => format!("&{name}, "),
                Arg::Scalar { .. } => format!("{name}, "),
            })
            .collect();
        let _ = write!(
            text,
            "\n{}inline void {}({}void *stream = nullptr) {{\n  char error[cute::error_bytes];\n  \
             cute::check(::{name}_{}({}stream, error, sizeof error), error);\n}}\n",
            comment(named),
            named.name,
            typed.concat(),
            named.name,
            passed.concat(),
        );
    }
    let _ = write!(text, "\n}} // namespace {name}\n\n#endif\n");
    text
}

/// The arguments with their names in C.
fn parameters<'a>(named: &Named<'a>) -> Vec<(String, &'a Arg)> {
    let args = &named.function.args;
    let names = names::arguments(args.iter().map(Arg::name));
    names.into_iter().zip(args).collect()
}

/// The type in C of a number.
fn scalar(element: &str) -> &'static str {
    match element {
        "i32" => "int32_t",
        "i64" => "int64_t",
        "f64" => "double",
        _ => "float",
    }
}

/// A comment that says what each argument has to be.
fn comment(named: &Named) -> String {
    let mut text = String::new();
    for (name, arg) in parameters(named) {
        let what = match arg {
            Arg::Tensor {
                element,
                layout,
                align,
                access,
                ..
            } => {
                let access = match access {
                    Access::Read => "read",
                    Access::Write => "written",
                    Access::ReadWrite => "read and written",
                };
                format!("{element} {layout}, aligned to {align} bytes, {access}")
            }
            Arg::Scalar {
                element, default, ..
            } => match default {
                Some(default) => format!("{element}, {default} by default"),
                None => element.clone(),
            },
        };
        let _ = writeln!(text, "// {name}: {}", what.replace('\n', " "));
    }
    for requirement in &named.function.requires {
        let _ = writeln!(
            text,
            "// requires: {}",
            requirement.message.replace('\n', " ")
        );
    }
    // Such a line would go on with the next one.
    text.replace('\\', "/")
}

//! The types of the dialects, numbered, taken apart and put together: C++ and Rust from one list.

use crate::records::{Category, TypeDef};
use std::fmt::Write;

const CATEGORIES: [(Category, &str, &str); 3] = [
    (Category::Type, "types", "Type"),
    (Category::Text, "texts", "Text"),
    (Category::Int, "ints", "Int"),
];

fn count(ty: &TypeDef, category: Category) -> usize {
    let of = ty.parameters.iter().filter(|p| p.category == category);
    of.count()
}

/// The most parameters of a category that a type has; at least one, as C has no empty arrays.
fn most(types: &[TypeDef], category: Category) -> usize {
    let counts = types.iter().map(|ty| count(ty, category));
    counts.max().unwrap_or_default().max(1)
}

/// `CuteKinds.h.inc`: the numbers of the types, and the most parameters of each category.
pub fn kinds_header(types: &[TypeDef]) -> String {
    let mut text = "enum CuteTypeKind {\n".to_owned();
    for ty in types {
        writeln!(text, "  Cute{},", ty.name).unwrap();
    }
    text += "};\n";
    for (category, _, name) in CATEGORIES {
        writeln!(
            text,
            "#define CUTE_MAX_{}S {}",
            name.to_uppercase(),
            most(types, category)
        )
        .unwrap();
    }
    text
}

/// `CuteParts.cpp.inc`: verification, parts and types of parts.
pub fn parts_source(types: &[TypeDef]) -> String {
    let mut text = String::new();
    for ty in types.iter().filter(|ty| ty.verified) {
        let parameters: Vec<String> = ty
            .parameters
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let class = match p.category {
                    Category::Type => "Type",
                    Category::Text => "StringRef",
                    Category::Int => "int64_t",
                };
                format!("{class} p{i}")
            })
            .collect();
        writeln!(
            text,
            "LogicalResult {}::verify(Emit emit, {}) {{\n  return verifyParts(emit, {});\n}}",
            ty.class,
            parameters.join(", "),
            make_parts(ty, |i| format!("p{i}")),
        )
        .unwrap();
    }
    text += "\nbool cuteTypeGetParts(MlirType type, CuteTypeParts *result) {\n  \
             return llvm::TypeSwitch<Type, bool>(unwrap(type))\n";
    for ty in types {
        let parts = make_parts(ty, |i| format!("t.{}()", ty.parameters[i].getter));
        writeln!(
            text,
            "      .Case([&]({} t) {{\n        *result = {parts};\n        return true;\n      }})",
            ty.class
        )
        .unwrap();
    }
    text += "      .Default([](Type) { return false; });\n}\n";
    text += "\nstatic Type typeOf(const Reader &p) {\n  switch (p.kind()) {\n";
    for ty in types {
        let counts = CATEGORIES.map(|(category, ..)| count(ty, category).to_string());
        let mut next = [0; 3];
        let arguments: String = ty
            .parameters
            .iter()
            .map(|p| {
                let slot = CATEGORIES.iter().position(|(c, ..)| *c == p.category);
                let slot = slot.expect("every category is listed");
                let argument = format!(", p.{}({})", CATEGORIES[slot].1, next[slot]);
                next[slot] += 1;
                argument
            })
            .collect();
        let (get, emit) = match ty.verified {
            true => ("getChecked", "p.emit, "),
            false => ("get", ""),
        };
        writeln!(
            text,
            "  case Cute{}:\n    if (!p.has({}))\n      return {{}};\n    return {}::{get}({emit}p.context(){arguments});",
            ty.name,
            counts.join(", "),
            ty.class
        )
        .unwrap();
    }
    text += "  }\n  return p.unknown();\n}\n";
    text
}

fn make_parts(ty: &TypeDef, argument: impl Fn(usize) -> String) -> String {
    let lists = CATEGORIES.map(|(category, ..)| {
        let of = ty.parameters.iter().enumerate();
        let of = of.filter(|(_, p)| p.category == category);
        let of: Vec<String> = of.map(|(i, _)| argument(i)).collect();
        format!("{{{}}}", of.join(", "))
    });
    format!("parts(Cute{}, {})", ty.name, lists.join(", "))
}

/// `kinds.rs`: the same numbers for Rust.
pub fn kinds_rust(types: &[TypeDef]) -> String {
    let names: Vec<&str> = types.iter().map(|ty| ty.name.as_str()).collect();
    let mut text = format!(
        "/// A kind of type of the dialects, as C++ numbers it too.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[repr(i32)]\npub enum Kind {{ {} }}\n",
        names.join(", ")
    );
    let all: Vec<String> = names.iter().map(|name| format!("Kind::{name}")).collect();
    writeln!(
        text,
        "/// Every kind, at its number.\npub const KINDS: [Kind; {}] = [{}];",
        all.len(),
        all.join(", ")
    )
    .unwrap();
    for (category, list, _) in CATEGORIES {
        writeln!(
            text,
            "/// The most {list} that a type is made of.\npub const MAX_{}: usize = {};",
            list.to_uppercase(),
            most(types, category)
        )
        .unwrap();
    }
    text += "impl Kind {\n    /// How many types, texts and integers a type of this kind is made of.\n    \
             pub const fn counts(self) -> [usize; 3] {\n        match self {\n";
    for ty in types {
        let counts = CATEGORIES.map(|(category, ..)| count(ty, category));
        writeln!(text, "            Kind::{} => {counts:?},", ty.name).unwrap();
    }
    text += "        }\n    }\n}\n";
    text
}

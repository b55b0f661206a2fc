//! The types and attributes of the dialects, numbered, taken apart and put together: C++ and Rust from one list.

use crate::records::{Category, PartsDef};
use std::fmt::Write;

const CATEGORIES: [(Category, &str, &str); 4] = [
    (Category::Type, "types", "Type"),
    (Category::Text, "texts", "Text"),
    (Category::Int, "ints", "Int"),
    (Category::Array, "arrays", "Array"),
];

fn count(ty: &PartsDef, category: Category) -> usize {
    let of = ty.parameters.iter().filter(|p| p.category == category);
    of.count()
}

/// The most parameters of a category that a type has; at least one, as C has no empty arrays.
fn most(types: &[PartsDef], category: Category) -> usize {
    let counts = types.iter().map(|ty| count(ty, category));
    counts.max().unwrap_or_default().max(1)
}

/// `CuteKinds.h.inc`: the numbers of types and attributes, and the most parameters of each category.
pub fn kinds_header(types: &[PartsDef]) -> String {
    let mut text = "enum CuteKind {\n".to_owned();
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

/// `CuteParts.cpp.inc`: verification, parts, and types and attributes of parts.
pub fn parts_source(types: &[PartsDef]) -> String {
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
                    Category::Array => "ArrayAttr",
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
    for (is_attribute, class) in [(false, "Type"), (true, "Attribute")] {
        let all: Vec<&PartsDef> = types
            .iter()
            .filter(|def| def.is_attribute == is_attribute)
            .collect();
        taken_apart(&mut text, &all, class);
        put_together(&mut text, &all, class);
    }
    text
}

/// `cuteTypeGetParts` or `cuteAttributeGetParts`.
fn taken_apart(text: &mut String, defs: &[&PartsDef], class: &str) {
    writeln!(
        text,
        "\nbool cute{class}GetParts(Mlir{class} it, CuteParts *result) {{\n  \
         return llvm::TypeSwitch<{class}, bool>(unwrap(it))"
    )
    .unwrap();
    for ty in defs {
        let parts = make_parts(ty, |i| format!("t.{}()", ty.parameters[i].getter));
        writeln!(
            text,
            "      .Case([&]({} t) {{\n        *result = {parts};\n        return true;\n      }})",
            ty.class
        )
        .unwrap();
    }
    writeln!(text, "      .Default([]({class}) {{ return false; }});\n}}").unwrap();
}

/// `typeOf` or `attributeOf`.
fn put_together(text: &mut String, defs: &[&PartsDef], class: &str) {
    let name = class.to_lowercase();
    writeln!(
        text,
        "\nstatic {class} {name}Of(const Reader &p) {{\n  switch (p.kind()) {{"
    )
    .unwrap();
    for ty in defs {
        let counts = CATEGORIES.map(|(category, ..)| count(ty, category).to_string());
        let mut next = [0; CATEGORIES.len()];
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
    *text += "  default:\n    return p.unknown();\n  }\n}\n";
}

fn make_parts(ty: &PartsDef, argument: impl Fn(usize) -> String) -> String {
    let lists = CATEGORIES.map(|(category, ..)| {
        let of = ty.parameters.iter().enumerate();
        let of = of.filter(|(_, p)| p.category == category);
        let of: Vec<String> = of.map(|(i, _)| argument(i)).collect();
        format!("{{{}}}", of.join(", "))
    });
    format!("parts(Cute{}, {})", ty.name, lists.join(", "))
}

/// `kinds.rs`: the same numbers for Rust.
pub fn kinds_rust(types: &[PartsDef]) -> String {
    let names: Vec<&str> = types.iter().map(|ty| ty.name.as_str()).collect();
    let mut text = format!(
        "/// A kind of type or attribute of the dialects, as C++ numbers it too.\n\
         #[doc(hidden)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[repr(i32)]\npub enum Kind {{ {} }}\n",
        names.join(", ")
    );
    let all: Vec<String> = names.iter().map(|name| format!("Kind::{name}")).collect();
    writeln!(
        text,
        "/// Every kind, at its number.\npub(crate) const KINDS: [Kind; {}] = [{}];",
        all.len(),
        all.join(", ")
    )
    .unwrap();
    for (category, list, _) in CATEGORIES {
        writeln!(
            text,
            "/// The most {list} that one of them is made of.\npub(crate) const MAX_{}: usize = {};",
            list.to_uppercase(),
            most(types, category)
        )
        .unwrap();
    }
    text += "impl Kind {\n    /// How many types, texts, integers and arrays one of this kind is made of.\n    \
             pub(crate) const fn counts(self) -> [usize; 4] {\n        match self {\n";
    for ty in types {
        let counts = CATEGORIES.map(|(category, ..)| count(ty, category));
        writeln!(text, "            Kind::{} => {counts:?},", ty.name).unwrap();
    }
    text += "        }\n    }\n}\n";
    text
}

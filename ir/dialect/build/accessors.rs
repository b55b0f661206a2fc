//! Names of ops and typed accessors to what they are made of, for Rust.

use crate::records::{Arity, Group, OpDef};
use std::{collections::BTreeSet, fmt::Write};

/// Words that Rust keeps for itself, and names that every accessor has.
const TAKEN: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "of", "op", "override", "priv", "pub", "ref", "return", "self",
    "static", "struct", "super", "trait", "true", "try", "type", "union", "unsafe", "use", "where",
    "while", "yield",
];

/// `lowerBound` and `lower_bound` as `lower_bound`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            if !text.is_empty() && !text.ends_with('_') {
                text.push('_');
            }
            text.push(letter.to_ascii_lowercase());
        } else {
            text.push(letter);
        }
    }
    if TAKEN.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// `atom.get_value` as `AtomGetValue`.
fn camel(mnemonic: &str) -> String {
    let words = mnemonic.split(['.', '_']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect()
}

/// `atom.get_value` as `ATOM_GET_VALUE`.
fn constant(mnemonic: &str) -> String {
    mnemonic.replace('.', "_").to_ascii_uppercase()
}

/// A module with the names of a dialect's ops and, where `accessors` says so, a handle for each.
pub fn dialect(name: &str, ops: &[OpDef], accessors: bool) -> String {
    let mut text = format!("/// The ops of the dialect `{name}`.\npub mod {name} {{\n");
    if accessors {
        text += "    #[allow(unused_imports)]\n    use super::*;\n";
    }
    let mut known = BTreeSet::new();
    for op in ops {
        assert_eq!(op.dialect, name);
        // DslOps.td has some names twice, with a dot for a `_`: those are told apart by two.
        let twin = |other: &OpDef| {
            other.mnemonic != op.mnemonic && constant(&other.mnemonic) == constant(&op.mnemonic)
        };
        let dotted = op.mnemonic.contains('.') && ops.iter().any(twin);
        let (constant, class) = match dotted {
            true => (
                constant(&op.mnemonic.replace('.', "__")),
                camel(&op.mnemonic) + "Dotted",
            ),
            false => (constant(&op.mnemonic), camel(&op.mnemonic)),
        };
        assert!(known.insert(constant.clone()), "{} is there twice", op.name);
        writeln!(
            text,
            "    /// `{0}`\n    pub const {constant}: &str = \"{0}\";",
            op.name
        )
        .unwrap();
        if accessors {
            accessor(&mut text, op, &class, &constant);
        }
    }
    text += "}\n";
    text
}

/// A function that tells of ops which operands they take, in the words of messages.
pub fn taken(ops: &[OpDef]) -> String {
    let mut text = String::from(
        "/// The operands that an op takes, each with its types.\npub fn taken(op: &str) -> Option<&'static str> {\n    Some(match op {\n",
    );
    for op in ops.iter().filter(|op| !op.operands.is_empty()) {
        let groups = op.operands.iter().map(|group| {
            let many = match group.arity {
                Arity::One => "",
                Arity::Optional => "perhaps ",
                Arity::Variadic => "any number of ",
            };
            format!("{many}{} ({})", group.name, group.types)
        });
        let groups = groups.collect::<Vec<_>>().join(", ");
        writeln!(text, "        {:?} => {groups:?},", op.name).unwrap();
    }
    text += "        _ => return None,\n    })\n}\n";
    text
}

fn arities(groups: &[Group]) -> String {
    let arities: Vec<&str> = groups
        .iter()
        .map(|group| match group.arity {
            Arity::One => "Arity::One",
            Arity::Optional => "Arity::Optional",
            Arity::Variadic => "Arity::Variadic",
        })
        .collect();
    format!("&[{}]", arities.join(", "))
}

fn accessor(text: &mut String, op: &OpDef, class: &str, constant: &str) {
    writeln!(
        text,
        "    /// A `{}`.\n    #[derive(Clone, Copy)]\n    pub struct {class}<'c>(Op<'c>);\n    \
         impl<'c> {class}<'c> {{\n        \
         /// `op` as what it is; nothing where it is another op.\n        \
         pub fn of(op: Op<'c>) -> Option<Self> {{ (name_of(op) == {constant}).then_some(Self(op)) }}\n        \
         /// The op itself.\n        pub fn op(self) -> Op<'c> {{ self.0 }}",
        op.name
    )
    .unwrap();
    let mut names = BTreeSet::new();
    for (field, groups, segments) in [
        ("operand", &op.operands, op.operand_segments),
        ("result", &op.results, op.result_segments),
    ] {
        for (index, group) in groups.iter().enumerate() {
            let mut name = snake(&group.name);
            if !names.insert(name.clone()) {
                name = format!("{name}_{field}");
                names.insert(name.clone());
            }
            let (ty, form) = match group.arity {
                Arity::One => ("Val<'c>", "one"),
                Arity::Optional => ("Option<Val<'c>>", "optional"),
                Arity::Variadic => ("Vec<Val<'c>>", "variadic"),
            };
            writeln!(
                text,
                "        /// The {field} `{}`.\n        #[track_caller]\n        \
                 pub fn {name}(self) -> {ty} {{ {form}_{field}(self.0, \"{}\", {}, {segments}, {index}) }}",
                group.name,
                group.name,
                arities(groups),
            )
            .unwrap();
        }
    }
    let variadic = op.regions.iter().any(|region| region.arity != Arity::One);
    for (index, region) in op.regions.iter().enumerate().filter(|_| !variadic) {
        let mut name = snake(&region.name);
        if !names.insert(name.clone()) {
            name += "_region";
            names.insert(name.clone());
        }
        writeln!(
            text,
            "        /// The first block of the region `{}`; nothing where it is empty.\n        \
             pub fn {name}(self) -> Option<Blk<'c>> {{ body_of(self.0, {index}) }}",
            region.name
        )
        .unwrap();
    }
    for attribute in &op.attributes {
        let mut name = snake(attribute);
        if !names.insert(name.clone()) {
            name += "_attribute";
            names.insert(name.clone());
        }
        writeln!(
            text,
            "        /// The attribute `{attribute}`, if it is given.\n        \
             pub fn {name}(self) -> Option<Attribute<'c>> {{ attribute_of(self.0, \"{attribute}\") }}"
        )
        .unwrap();
    }
    *text += "    }\n";
}

//! The records of `.td` files, as `llvm-tblgen --dump-json` gives them.

use serde_json::Value;
use std::{path::Path, process::Command};

/// The records of one `.td` file and of what it includes.
pub struct Records {
    all: Value,
}

/// A parameter of a type or an attribute.
pub struct Parameter {
    /// The getter in C++, such as `getNumMatrices`.
    pub getter: String,
    pub category: Category,
}

/// The four sorts of parameters that types and attributes of the dialects have, each kept in a list of its own between C++ and Rust.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Category {
    Type,
    Text,
    Int,
    /// An array of attributes.
    Array,
}

/// A type of a dialect, or an attribute of several parameters.
pub struct PartsDef {
    /// The name without `Type` or `Attr`, such as `MemRef`.
    pub name: String,
    /// The class in C++ with its namespace.
    pub class: String,
    pub parameters: Vec<Parameter>,
    pub is_attribute: bool,
    /// Tells whether Rust verifies it.
    pub verified: bool,
}

/// The arity of operands or results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

/// A named operand, result or region, and how many there are of it.
pub struct Group {
    pub name: String,
    pub arity: Arity,
    /// The types that it may have, for messages.
    pub types: String,
}

/// An op of a dialect.
pub struct OpDef {
    /// The name with the dialect's, such as `cute.atom_copy`.
    pub name: String,
    pub dialect: String,
    pub mnemonic: String,
    pub operands: Vec<Group>,
    pub results: Vec<Group>,
    pub regions: Vec<Group>,
    pub attributes: Vec<String>,
    /// Tells whether the sizes of groups stand in `operandSegmentSizes` and `resultSegmentSizes`.
    pub operand_segments: bool,
    pub result_segments: bool,
}

impl Records {
    /// Reads `file`. Panics, as build scripts do, with what is wrong.
    pub fn read(tool: &Path, includes: &[&Path], file: &Path) -> Records {
        let mut command = Command::new(tool);
        command.arg("--dump-json").arg(file);
        for folder in includes {
            command.arg(format!("-I{}", folder.display()));
        }
        let output = command.output().unwrap_or_else(|error| {
            panic!(
                "cannot run {}: {error}; run `cargo xtask setup`, or set MLIR_SYS_220_PREFIX to LLVM 22",
                tool.display()
            )
        });
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            panic!("llvm-tblgen failed on {}", file.display());
        }
        let all = serde_json::from_slice(&output.stdout).expect("llvm-tblgen prints JSON");
        Records { all }
    }

    fn record(&self, name: &str) -> &Value {
        &self.all[name]
    }

    fn text<'a>(record: &'a Value, field: &str) -> &'a str {
        record[field].as_str().unwrap_or_default()
    }

    fn instances<'a>(&'a self, class: &str) -> impl Iterator<Item = &'a str> {
        let names = self.all["!instanceof"][class].as_array();
        names.into_iter().flatten().filter_map(Value::as_str)
    }

    fn is(&self, record: &Value, class: &str) -> bool {
        let classes = record["!superclasses"].as_array();
        classes.into_iter().flatten().any(|name| name == class)
    }

    fn dialect_of<'a>(&'a self, record: &'a Value, field: &str) -> Option<&'a Value> {
        Some(self.record(record[field]["def"].as_str()?))
    }

    /// The types of all dialects in the file whose name begins with `prefix`, and the attributes that Rust verifies, in
    /// alphabetical order.
    pub fn parts(&self, prefix: &str) -> Vec<PartsDef> {
        let types = self.instances("TypeDef").map(|name| (name, false));
        let attributes = self.instances("AttrDef").map(|name| (name, true));
        let mut all = Vec::new();
        for (name, is_attribute) in types.chain(attributes) {
            let record = self.record(name);
            let verified = record["genVerifyDecl"] == 1;
            if is_attribute && !verified {
                continue;
            }
            let Some(dialect) = self.dialect_of(record, "dialect") else {
                continue;
            };
            if !Self::text(dialect, "name").starts_with(prefix) {
                continue;
            }
            let class = Self::text(record, "cppClassName");
            let parameters = record["parameters"]["args"].as_array();
            let parameters = parameters.into_iter().flatten().map(|argument| {
                let name = argument[1].as_str().expect("a parameter with a name");
                let mut letters = name.chars();
                let first = letters.next().expect("a name").to_ascii_uppercase();
                // A type in C++, or a record of one and of how it is printed.
                let ty = argument[0].as_str().unwrap_or_else(|| {
                    let record = argument[0]["def"].as_str().expect("a parameter's type");
                    Self::text(self.record(record), "cppType")
                });
                Parameter {
                    getter: format!("get{first}{}", letters.as_str()),
                    category: match ty {
                        "::mlir::Type" => Category::Type,
                        "int64_t" => Category::Int,
                        "::mlir::ArrayAttr" => Category::Array,
                        "::llvm::StringRef" => Category::Text,
                        other => panic!("{class}: a parameter of type {other}"),
                    },
                }
            });
            let suffix = if is_attribute { "Attr" } else { "Type" };
            all.push(PartsDef {
                name: class.trim_end_matches(suffix).to_owned(),
                class: format!(
                    "{}::{class}",
                    Self::text(dialect, "cppNamespace").trim_start_matches("::")
                ),
                parameters: parameters.collect(),
                is_attribute,
                verified,
            });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(
            all.windows(2).all(|pair| pair[0].name != pair[1].name),
            "two types or attributes have one name"
        );
        all
    }

    /// The ops of a dialect, in alphabetical order.
    pub fn ops(&self, dialect: &str) -> Vec<OpDef> {
        let mut all: Vec<OpDef> = self
            .instances("Op")
            .filter_map(|name| self.op(self.record(name), dialect))
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(!all.is_empty(), "no ops of the dialect {dialect}");
        all
    }

    fn op(&self, record: &Value, wanted: &str) -> Option<OpDef> {
        let dialect = Self::text(self.dialect_of(record, "opDialect")?, "name");
        let mnemonic = Self::text(record, "opName");
        if dialect != wanted || mnemonic.is_empty() {
            return None;
        }
        let (mut operands, mut attributes) = (Vec::new(), Vec::new());
        for (index, argument) in self.named(&record["arguments"]).enumerate() {
            let (name, constraint) = argument;
            if self.is(constraint, "TypeConstraint") {
                operands.push(self.group(name, index, constraint));
            } else if !name.is_empty() {
                attributes.push(name.to_owned());
            }
        }
        let groups = |field: &str| {
            let all = self.named(&record[field]).enumerate();
            all.map(|(index, (name, constraint))| self.group(name, index, constraint))
                .collect::<Vec<_>>()
        };
        let has_trait = |name: &str| {
            let traits = record["traits"].as_array();
            traits
                .into_iter()
                .flatten()
                .any(|item| item["def"].as_str() == Some(name))
        };
        Some(OpDef {
            name: format!("{dialect}.{mnemonic}"),
            dialect: dialect.to_owned(),
            mnemonic: mnemonic.to_owned(),
            operands,
            results: groups("results"),
            regions: groups("regions"),
            attributes,
            operand_segments: has_trait("AttrSizedOperandSegments"),
            result_segments: has_trait("AttrSizedResultSegments"),
        })
    }

    /// The entries of a dag: names and what they must be.
    fn named<'a>(&'a self, dag: &'a Value) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let entries = dag["args"].as_array();
        entries.into_iter().flatten().filter_map(|entry| {
            let constraint = self.record(entry[0]["def"].as_str()?);
            Some((
                entry[1].as_str().unwrap_or_default(),
                self.plain(constraint),
            ))
        })
    }

    /// Returns the constraint that stands in `Arg<...>` and `Res<...>`.
    fn plain<'a>(&'a self, constraint: &'a Value) -> &'a Value {
        match constraint["constraint"]["def"].as_str() {
            Some(inner) if self.is(constraint, "OpVariable") => self.plain(self.record(inner)),
            _ => constraint,
        }
    }

    fn group(&self, name: &str, index: usize, constraint: &Value) -> Group {
        let arity = if self.is(constraint, "Optional") {
            Arity::Optional
        } else if ["Variadic", "VariadicOfVariadic", "VariadicRegion"]
            .iter()
            .any(|class| self.is(constraint, class))
        {
            Arity::Variadic
        } else {
            Arity::One
        };
        let name = match name {
            "" => format!("unnamed{index}"),
            name => name.to_owned(),
        };
        // A group of a variadic or optional number has the constraint of each within it.
        let each = match constraint["baseType"]["def"].as_str() {
            Some(each) => self.plain(self.record(each)),
            None => constraint,
        };
        let mnemonic = Self::text(each, "mnemonic");
        let types = match self.is(each, "TypeDef") && !mnemonic.is_empty() {
            true => {
                let dialect = self.dialect_of(each, "dialect");
                let dialect = dialect.map_or("", |dialect| Self::text(dialect, "name"));
                format!("!{dialect}.{mnemonic}")
            }
            false => Self::text(each, "summary").to_owned(),
        };
        Group { name, arity, types }
    }
}

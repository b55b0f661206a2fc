//! The results of functions, as the heads of a text say it before anything of it is read: a call may stand before its function, and the functions of other
//! files are nowhere in the text.

use super::Imported;
use std::{
    cell::RefCell,
    collections::{HashMap, VecDeque},
    rc::Rc,
};

/// The heads of a text.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// The definitions of aliases, a line each.
    pub(crate) aliases: String,
    /// The functions of a name; several modules may have one of the name.
    functions: HashMap<String, Vec<Head>>,
    /// The names that are imported, each with the byte behind it.
    imports: Vec<(String, usize)>,
}

/// The head of a function.
#[derive(Clone, Debug)]
struct Head {
    /// The types of its results, as text behind the arrow.
    given: String,
    /// The byte at which its name begins.
    at: usize,
}

/// The definitions of a text's aliases, a line each or several.
pub(super) fn aliases(text: &str) -> String {
    heads(text).aliases.clone()
}

/// The byte at which the name of a function begins where a text defines it.
pub(super) fn definition(text: &str, name: &str) -> Option<usize> {
    let heads = heads(text);
    heads.functions.get(name)?.first().map(|head| head.at)
}

/// The names of the functions that a text defines.
pub(super) fn functions(text: &str) -> Vec<String> {
    heads(text).functions.keys().cloned().collect()
}

/// Tells whether a text defines a function of a name.
pub(super) fn defines(text: &str, name: &str) -> bool {
    heads(text).functions.contains_key(name)
}

/// The names that a text imports, each with the byte behind it.
pub(super) fn imports(text: &str) -> Vec<(String, usize)> {
    heads(text).imports.clone()
}

/// The results of the functions that a call of a name may mean, each with the heads of its text: those of the text itself, else those that are imported.
pub(crate) fn of_function(file: &str, text: &str, name: &str) -> Vec<(Rc<Heads>, String)> {
    let found = results(&heads(text), name);
    match found.is_empty() {
        true => imported(file, text, name),
        false => found,
    }
}

/// The results of the functions of a name that a text imports.
pub(crate) fn imported(file: &str, text: &str, name: &str) -> Vec<(Rc<Heads>, String)> {
    let imported = Imported::all(file, text).into_iter();
    imported
        .flat_map(|imported| results(&heads(&imported.text), name))
        .collect()
}

fn results(heads: &Rc<Heads>, name: &str) -> Vec<(Rc<Heads>, String)> {
    let all = heads.functions.get(name).into_iter().flatten();
    all.map(|head| (heads.clone(), head.given.clone()))
        .collect()
}

/// The heads of a text, which are kept for its next call.
fn heads(text: &str) -> Rc<Heads> {
    /// Texts that are kept at once.
    const KEPT: usize = 32;
    thread_local! {
        static HEADS: RefCell<VecDeque<(Box<str>, Rc<Heads>)>> = RefCell::default();
    }
    HEADS.with_borrow_mut(|kept| {
        // Each call of a long text asks: to compare takes a tenth of the time of a hash.
        if let Some((_, heads)) = kept.iter().find(|(of, _)| **of == *text) {
            return heads.clone();
        }
        let heads = Rc::new(Heads::read(text));
        kept.truncate(KEPT - 1);
        kept.push_front((text.into(), heads.clone()));
        heads
    })
}

impl Heads {
    /// Reads the heads of a text. What is not understood is no head.
    fn read(text: &str) -> Self {
        let mut heads = Self::default();
        let mut cursor = Cursor { text, at: 0 };
        let mut before = None;
        while let Some(c) = cursor.peek() {
            let starts_line = before.is_none_or(|before| before == '\n');
            let in_word =
                before.is_some_and(|c: char| c.is_alphanumeric() || "_$.%@!#".contains(c));
            let rest = cursor.rest();
            before = Some(c);
            if starts_line && matches!(c, '!' | '#') {
                if let Some(alias) = cursor.alias() {
                    heads.aliases += alias;
                    heads.aliases.push('\n');
                    before = None;
                }
            } else if !in_word && rest.starts_with("func.func") {
                cursor.at += "func.func".len();
                if let Some((name, head)) = cursor.function() {
                    heads.functions.entry(name).or_default().push(head);
                }
                before = Some(' ');
            } else if !in_word && rest.starts_with("cute.import") {
                cursor.at += "cute.import".len();
                cursor.skip_space();
                let start = cursor.at;
                if cursor.peek() == Some('"') {
                    cursor.step();
                    let string = text.get(start + 1..cursor.at.saturating_sub(1));
                    let end = cursor.at;
                    heads
                        .imports
                        .extend(string.map(|name| (name.to_owned(), end)));
                }
            } else {
                cursor.step();
            }
        }
        heads
    }
}

/// A place in a text.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes behind a character, a comment's last one, or a string's closing quote.
    fn step(&mut self) {
        let rest = self.rest();
        self.at += match rest.chars().next() {
            Some('"') => {
                let mut escaped = false;
                let end = rest.char_indices().skip(1).find(|(_, c)| {
                    let ends = *c == '\n' || (*c == '"' && !escaped);
                    escaped = *c == '\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |(at, _)| at + 1)
            }
            Some('/') if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            Some('-') if rest.starts_with("->") => 2,
            Some(c) => c.len_utf8(),
            None => 0,
        };
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) || self.rest().starts_with("//") {
            self.step();
        }
    }

    /// Goes over one piece of text that is not parted by a character of `ends` outside of brackets, and gives it.
    fn piece(&mut self, ends: fn(char) -> bool) -> &'t str {
        let start = self.at;
        let mut depth = 0usize;
        while let Some(c) = self.peek() {
            if depth == 0 && ends(c) {
                break;
            }
            match c {
                '(' | '[' | '{' | '<' => depth += 1,
                ')' | ']' | '}' | '>' => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => break,
                },
                _ => {}
            }
            self.step();
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads the definition of an alias, `!name = type`.
    fn alias(&mut self) -> Option<&'t str> {
        let start = self.at;
        self.step();
        self.piece(|c| !c.is_alphanumeric() && !"_$.-".contains(c));
        self.skip_space();
        if self.peek() != Some('=') {
            return None;
        }
        self.step();
        self.skip_space();
        self.piece(|c| c == '\n' || c == '/');
        self.text.get(start..self.at)
    }

    /// Reads what stands behind `func.func`: the name, and the head.
    fn function(&mut self) -> Option<(String, Head)> {
        self.skip_space();
        if self.peek() != Some('@') {
            // The word before it says who sees the function.
            self.piece(|c| !c.is_alphanumeric());
            self.skip_space();
        }
        if self.peek() != Some('@') {
            return None;
        }
        self.step();
        let at = self.at;
        let name = if self.peek() == Some('"') {
            self.step();
            let quoted = self.text.get(at..self.at).unwrap_or_default();
            quoted.trim_matches('"')
        } else {
            self.piece(|c| !c.is_alphanumeric() && !"_$.-".contains(c))
        };
        self.skip_space();
        if name.is_empty() || self.peek() != Some('(') {
            return None;
        }
        self.brackets();
        self.skip_space();
        if !self.rest().starts_with("->") {
            let given = "()".to_owned();
            return Some((name.to_owned(), Head { given, at }));
        }
        self.step();
        self.skip_space();
        let given = match self.peek() {
            Some('(') => self.brackets(),
            _ => self.piece(|c| c.is_whitespace() || c == '{'),
        };
        let given = given.to_owned();
        (!given.is_empty()).then(|| (name.to_owned(), Head { given, at }))
    }

    /// Goes over brackets with what is in them, and gives that.
    fn brackets(&mut self) -> &'t str {
        let start = self.at;
        self.step();
        self.piece(|_| false);
        self.step();
        self.text.get(start..self.at).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn heads_are_found_where_they_stand() {
        let text = r#"
!frag = !cute.memref<f16, rmem, "(8,2):(1,8)"> // Of a thread.
!copy = !cute.tiled_copy<
  !cute.any, layout_copy_tv = <"4:1">>
#l = #cute.layout<"4:1">
// func.func @comment() -> i32
func.func private @one(%x: !frag, %y: i32 {a = "->"}) -> i32 attributes {b = 1} { return }
gpu.module @m {
  cute.import "std/index"
  cute.import // Of a file.
    "x/a.mlir"
  func.func @two(%f: (i32) -> i32)
      -> (!frag, vector<4xf32>) {
    %s = "func.func @string() -> i32"
    cute.call @one(%x, %y)
  }
  func.func private @none()
  func.func private @bare() -> !cute.memref<f32, rmem, "4:1">
  func.func @"quoted"() -> i32 { }
}
"#;
        let heads = Heads::read(text);
        let given = |name: &str| {
            let all = heads.functions.get(name)?.iter();
            Some(all.map(|head| &*head.given).collect::<Vec<_>>().join("; "))
        };
        assert_eq!(given("one").as_deref(), Some("i32"));
        assert_eq!(given("two").as_deref(), Some("(!frag, vector<4xf32>)"));
        assert_eq!(given("none").as_deref(), Some("()"));
        let bare = "!cute.memref<f32, rmem, \"4:1\">";
        assert_eq!(given("bare").as_deref(), Some(bare));
        assert_eq!(given("quoted").as_deref(), Some("i32"));
        assert_eq!(heads.functions.len(), 5, "{heads:?}");
        let imports: Vec<&str> = heads.imports.iter().map(|(name, _)| &**name).collect();
        assert_eq!(imports, ["std/index", "x/a.mlir"]);
        let at = definition(text, "two").unwrap();
        assert!(text[at..].starts_with("two(%f"), "{at}");
        assert_eq!(heads.aliases.lines().count(), 4, "{}", heads.aliases);
        for broken in [
            "func.func @f(",
            "func.func",
            "!a =",
            "\"",
            "func.func @f() ->",
            "cute.import",
        ] {
            Heads::read(broken);
        }
    }

    #[test]
    fn files_that_import_each_other_by_other_paths_come_to_an_end() {
        let folder = std::env::temp_dir().join(format!("cute-signatures-{}", std::process::id()));
        let at = |name: &str| folder.join(name).display().to_string();
        fs::create_dir_all(at("x")).unwrap();
        fs::write(at("x/b.mlir"), "cute.import \"../c.mlir\"\n").unwrap();
        let back = "cute.import \"x/b.mlir\"\nfunc.func @deep() -> f32 { }\n";
        fs::write(at("c.mlir"), back).unwrap();
        let import = "cute.import \"x/b.mlir\"\n";
        let found = of_function(&at("a.mlir"), import, "deep");
        assert_eq!(found.len(), 1);
        assert!(of_function(&at("a.mlir"), import, "none").is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_name_means_the_texts_own_function_first() {
        let given = |text: &str, name: &str| -> Vec<String> {
            let all = of_function("", text, name).into_iter();
            all.map(|(_, given)| given).collect()
        };
        let import = "cute.import \"std/softmax\"\n";
        // A part that the part imports.
        assert_eq!(given(import, "warp_sum"), ["f32"]);
        let own = format!("{import}func.func @warp_sum() -> i32 {{ }}");
        assert_eq!(given(&own, "warp_sum"), ["i32"]);
        assert!(given("", "warp_sum").is_empty());
    }
}

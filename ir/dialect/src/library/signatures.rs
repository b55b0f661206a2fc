//! What functions give, as the heads of a text say it before anything of it is read: a call may stand before its function, and the functions of other
//! files are nowhere in the text.

use super::{files, parts};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    rc::Rc,
};

/// The heads of a text.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// The definitions of aliases, a line each.
    pub(crate) aliases: String,
    /// What the functions of a name give, as text behind the arrow; several modules may have one of the name.
    functions: HashMap<String, Vec<String>>,
    /// The names that are imported.
    imports: Vec<String>,
}

/// The definitions of a text's aliases, a line each or several.
pub(super) fn aliases(text: &str) -> String {
    heads(text).aliases.clone()
}

/// What the functions give that a call of a name may mean, each with the heads of its text: those of the text itself, else those that are imported.
pub(crate) fn of_function(file: &str, text: &str, name: &str) -> Vec<(Rc<Heads>, String)> {
    let own = heads(text);
    let found = results(&own, name);
    if !found.is_empty() {
        return found;
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut left: Vec<(String, String)> = imported(file, &own);
    while let Some((importer, import)) = left.pop() {
        let of_part = parts().iter().find(|(part, _)| *part == import);
        let (file, text) = match (of_part, files::is_path(&import)) {
            (Some((part, text)), false) => ((*part).to_owned(), (*text).to_owned()),
            (_, true) => {
                let file = files::file_of(&importer, &import);
                // What is wrong with a file is said where it is imported.
                let read = files::read(&file).map(String::from_utf8);
                let Ok(Ok(text)) = read else {
                    continue;
                };
                (file.display().to_string(), text)
            }
            _ => continue,
        };
        if seen.insert(file.clone()) {
            let heads = heads(&text);
            found.extend(results(&heads, name));
            left.extend(imported(&file, &heads));
        }
    }
    found
}

fn imported(file: &str, heads: &Heads) -> Vec<(String, String)> {
    let all = heads.imports.iter();
    all.map(|import| (file.to_owned(), import.clone()))
        .collect()
}

fn results(heads: &Rc<Heads>, name: &str) -> Vec<(Rc<Heads>, String)> {
    let all = heads.functions.get(name).into_iter().flatten();
    all.map(|given| (heads.clone(), given.clone())).collect()
}

/// The heads of a text, which are kept for its next call.
fn heads(text: &str) -> Rc<Heads> {
    /// Texts that are kept at once.
    const KEPT: usize = 32;
    thread_local! {
        static HEADS: RefCell<HashMap<(u64, usize), Rc<Heads>>> = RefCell::default();
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let key = (hasher.finish(), text.len());
    HEADS.with_borrow_mut(|kept| {
        if let Some(heads) = kept.get(&key) {
            return heads.clone();
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        let heads = Rc::new(Heads::read(text));
        kept.insert(key, heads.clone());
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
                if let Some((name, given)) = cursor.function() {
                    heads.functions.entry(name).or_default().push(given);
                }
                before = Some(' ');
            } else if !in_word && rest.starts_with("cute.import") {
                cursor.at += "cute.import".len();
                cursor.skip_space();
                let start = cursor.at;
                if cursor.peek() == Some('"') {
                    cursor.step();
                    let string = text.get(start + 1..cursor.at.saturating_sub(1));
                    heads.imports.extend(string.map(str::to_owned));
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

    /// Reads what stands behind `func.func`: the name, and what the function gives.
    fn function(&mut self) -> Option<(String, String)> {
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
        let name = self.piece(|c| !c.is_alphanumeric() && !"_$.-".contains(c));
        self.skip_space();
        if name.is_empty() || self.peek() != Some('(') {
            return None;
        }
        self.brackets();
        self.skip_space();
        if !self.rest().starts_with("->") {
            return Some((name.to_owned(), "()".to_owned()));
        }
        self.step();
        self.skip_space();
        let given = match self.peek() {
            Some('(') => self.brackets(),
            _ => self.piece(|c| c.is_whitespace() || c == '{'),
        };
        (!given.is_empty()).then(|| (name.to_owned(), given.to_owned()))
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
        let given = |name: &str| heads.functions.get(name).map(|given| given.join("; "));
        assert_eq!(given("one").as_deref(), Some("i32"));
        assert_eq!(given("two").as_deref(), Some("(!frag, vector<4xf32>)"));
        assert_eq!(given("none").as_deref(), Some("()"));
        let bare = "!cute.memref<f32, rmem, \"4:1\">";
        assert_eq!(given("bare").as_deref(), Some(bare));
        assert_eq!(heads.functions.len(), 4, "{heads:?}");
        assert_eq!(heads.imports, ["std/index", "x/a.mlir"]);
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

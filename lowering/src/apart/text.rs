//! PTX of several modules as that of one: what LLVM's NVPTX back end writes around and within functions.

use std::collections::{BTreeSet, HashMap};

/// The text of a module of kernels.
struct Module<'t> {
    /// Version, target and size of addresses.
    head: &'t str,
    /// Declarations and variables.
    statements: Vec<&'t str>,
    /// The functions: the comment that names each, and from `.visible .entry` to the bracket that ends it.
    functions: Vec<[&'t str; 2]>,
    /// Files and sections.
    tail: &'t str,
}

/// The text of a module that has the functions of all texts, in their order; nothing where it may be another than LLVM would write of all at once.
/// `names` are those of all that the modules have, in their order.
pub(super) fn joined(texts: &[String], names: &[&str]) -> Option<String> {
    let modules: Option<Vec<Module>> = texts.iter().map(|text| Module::of(text)).collect();
    let modules = modules?;
    let first = modules.first()?;
    let is_like = |module: &Module| module.head == first.head && module.tail == first.tail;
    if !modules.iter().all(is_like) {
        return None;
    }
    let mut out = String::with_capacity(texts.iter().map(String::len).sum());
    out += first.head;
    out += first.functions.first()?[0];
    statements(&modules, names)?
        .into_iter()
        .for_each(|statement| out += statement);
    out.push('\n');
    let (mut calls, mut before) = (0, 0);
    for module in &modules {
        for (at, [name, function]) in module.functions.iter().enumerate() {
            if before > 0 {
                out += name;
            }
            let (mut function, further) = renumbered(function, calls);
            calls = further;
            // The number of the function among those of the module, with what follows it.
            for (label, end) in [("$L__BB", "_"), ("__local_depot", "")] {
                if at != before {
                    let [from, to] = [at, before].map(|at| format!("{label}{at}{end}"));
                    function = function.replace(&from, &to);
                }
            }
            out += &function;
            before += 1;
        }
    }
    out += first.tail;
    Some(out)
}

impl<'t> Module<'t> {
    fn of(text: &'t str) -> Option<Self> {
        const NAME: &str = "\t// .globl\t";
        const ENTRY: &str = ".visible .entry ";
        let name = text.find(NAME)?;
        let (head, rest) = text.split_at(name);
        let (mut name, rest) = rest.split_at(rest.find('\n')? + 1);
        let (before, rest) = rest.split_at(rest.find(ENTRY)?);
        // What stands before the first function ends with an empty line.
        let statements = statements_of(before.strip_suffix('\n')?)?;
        let (mut all, tail) = rest.split_at(rest.rfind("\n}\n")? + "\n}\n".len());
        let mut functions = Vec::new();
        while let Some(next) = all.find(NAME) {
            let (function, rest) = all.split_at(next);
            functions.push([name, function]);
            (name, all) = rest.split_at(rest.find('\n')? + 1);
        }
        functions.push([name, all]);
        let is_closing = |line: &str| {
            let word = line.trim_start();
            word.is_empty() || word.starts_with(".file") || word.starts_with(".section")
        };
        let is_kernel = |[_, function]: &[&str; 2]| {
            let is_whole = function.starts_with(ENTRY) && function.ends_with("\n}\n");
            is_whole && function.matches(ENTRY).count() == 1
        };
        let are_kernels = functions.iter().all(is_kernel);
        // Prototypes of calls have numbers in their names.
        let is_known = head.ends_with(".address_size 64\n\n") && !rest.contains(".callprototype");
        (are_kernels && is_known && tail.lines().all(is_closing)).then_some(Self {
            head,
            statements,
            functions,
            tail,
        })
    }
}

/// The words behind the name of a variable that stands in its function, in a line of its own.
const DEMOTED: &str = " has been demoted\n";

/// The statements of a text, each to the end of the line with its semicolon.
fn statements_of(text: &str) -> Option<Vec<&str>> {
    let (mut all, mut start, mut end) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        end += line.len();
        if line.ends_with(";\n") || line.ends_with(DEMOTED) {
            all.push(&text[start..end]);
            start = end;
        }
    }
    (start == text.len()).then_some(all)
}

/// The name that a statement declares, and what it says without the name.
fn declared(statement: &str) -> Option<(&str, [&str; 2])> {
    if let Some(name) = statement.strip_suffix(DEMOTED) {
        return Some((name.strip_prefix("// ")?, ["", ""]));
    }
    let line = statement.lines().next()?;
    let end = match line.find(".func ") {
        // A function, which may have a result in brackets before its name.
        Some(_) => line.trim_end().len(),
        None => line.find(['[', '=', ';'])?,
    };
    let before = line[..end].trim_end();
    let start = before.rfind(|c: char| c.is_whitespace() || c == ')')? + 1;
    let name = &before[start..];
    let around = [&statement[..start], &statement[before.len()..]];
    (!name.is_empty()).then_some((name, around))
}

/// The statements of all modules, each once, in the order of the names; nothing where two of a name differ, and where LLVM would make one of two that
/// differ by their names.
fn statements<'t>(modules: &[Module<'t>], names: &[&str]) -> Option<Vec<&'t str>> {
    let places = names.iter().enumerate().map(|(place, name)| {
        // What LLVM writes for what PTX has no letters for.
        (name.replace(['.', '@'], "_$_"), place)
    });
    let places: HashMap<String, usize> = places.collect();
    let mut found: HashMap<&str, (usize, &'t str)> = HashMap::new();
    let mut contents: HashMap<[&str; 2], &str> = HashMap::new();
    for module in modules {
        let mut last = None;
        for statement in &module.statements {
            let (name, around) = declared(statement)?;
            let is_function = statement.contains(".func ");
            let place = (!is_function, *places.get(name)?);
            // Functions stand before variables, and both in their order.
            if last.is_some_and(|last| last >= place) {
                return None;
            }
            last = Some(place);
            let (_, known) = *found.entry(name).or_insert((place.1, statement));
            if known != *statement {
                return None;
            }
            if around[1].contains('=') && *contents.entry(around).or_insert(name) != name {
                return None;
            }
        }
    }
    let mut all: Vec<_> = found.into_values().collect();
    all.sort_by_key(|(place, statement)| (!statement.contains(".func "), *place));
    Some(all.into_iter().map(|(_, statement)| statement).collect())
}

/// A text whose calls are numbered from `first` on, in the order of their numbers there, and the number behind the last one. LLVM counts calls, for comments, from
/// the start of the process on.
pub(super) fn renumbered(text: &str, first: usize) -> (String, usize) {
    const BEFORE: &str = "// callseq ";
    let number = |at: usize| -> Option<(usize, usize)> {
        let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        Some((text[at..at + digits].parse().ok()?, at + digits))
    };
    let places = text.match_indices(BEFORE);
    let places: Vec<usize> = places.map(|(at, before)| at + before.len()).collect();
    let met: BTreeSet<usize> = places
        .iter()
        .filter_map(|at| Some(number(*at)?.0))
        .collect();
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for at in places {
        if let Some((found, end)) = number(at) {
            out += &text[done..at];
            out += &(first + met.range(..found).count()).to_string();
            done = end;
        }
    }
    out += &text[done..];
    (out, first + met.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_numbered_anew_in_their_order() {
        let text = "{ // callseq 17, 0\ncall;\n} // callseq 17\n{ // callseq 9, 0\n// callseq x\n";
        let expected =
            "{ // callseq 5, 0\ncall;\n} // callseq 5\n{ // callseq 4, 0\n// callseq x\n";
        assert_eq!(renumbered(text, 4), (expected.to_owned(), 6));
    }

    fn module(name: &str, statements: &str) -> String {
        format!(
            "//\n.version 8.0\n.target sm_80\n.address_size 64\n\n\t// .globl\t{name}\n{statements}\n.visible .entry {name}()\n{{\n\
             $L__BB0_1:\n\tbra \t$L__BB0_1;\n\n}}\n\t.file\t1 \"places\"\n"
        )
    }

    #[test]
    fn statements_stand_once_in_the_order_of_names() {
        let [f, a, b] = [
            ".extern .func  (.param .b32 func_retval0) f\n(\n\t.param .b64 f_param_0\n)\n;\n",
            ".global .align 1 .b8 a_$_b[2] = {104, 0};\n",
            ".extern .shared .align 16 .b8 b[];\n",
        ];
        let names = ["b", "a.b", "f", "k", "l", "m"];
        let texts = [
            module("k", &format!("{f}{a}")),
            module("l", b),
            module("m", &format!("{b}{a}")),
        ];
        let text = joined(&texts, &names).unwrap();
        let head = format!("\t// .globl\tk\n{f}{b}{a}\n.visible .entry k()\n{{\n$L__BB0_1:");
        assert!(text.contains(&head), "{text}");
        assert!(
            text.contains(
                "}\n\t// .globl\tl\n.visible .entry l()\n{\n$L__BB1_1:\n\tbra \t$L__BB1_1;"
            )
        );
        assert!(
            text.ends_with("$L__BB2_1;\n\n}\n\t.file\t1 \"places\"\n"),
            "{text}"
        );
    }

    #[test]
    fn what_may_differ_is_not_joined() {
        let a = ".global .align 1 .b8 a[2] = {104, 0};\n";
        let k = module("k", a);
        let same = |text: &str| joined(&[k.clone(), text.to_owned()], &["a", "b", "k", "l"]);
        assert!(same(&module("l", a)).is_some());
        for (statements, why) in [
            (
                ".global .align 4 .b8 a[2] = {104, 0};\n",
                "another alignment",
            ),
            (
                ".global .align 1 .b8 b[2] = {104, 0};\n",
                "constants that are one",
            ),
            (".global .align 1 .b8 c[2] = {105, 0};\n", "another name"),
            (
                ".global .align 1 .b8 b[1] = {1};\n.global .align 1 .b8 a[2] = {104, 0};\n",
                "another order",
            ),
            (".global .align 1 .b8 b[1]\n", "no statement"),
        ] {
            assert_eq!(same(&module("l", statements)), None, "{why}");
        }
        assert_eq!(same(&module("l", a).replace("8.0", "8.1")), None);
        assert_eq!(same(&module("l", a).replace(".file", "x")), None);
        assert_eq!(
            same(&module("l", a).replace("$L__BB0_1:", "p : .callprototype")),
            None
        );
        assert_eq!(same(""), None);
    }
}

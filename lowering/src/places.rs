//! Places: which operation of the user's text each instruction of PTX comes from.
//!
//! LLVM carries line numbers through its passes, but not what MLIR knows beside them: a file for each
//! operation, and the name of the step that it is part of. So LLVM is given numbers of [`Place`]s where
//! it expects lines, and its `.loc` directives are written anew with what the numbers stand for. A step
//! is to PTX a function that was inlined at the place: `.loc 1 5 3, function_name $L__info_string0,
//! inlined_at 1 5 3`, the name in `.debug_str` (PTX ISA 9.0, 11.5.4).

use cute_ir::{
    Failure, diag,
    mlir::{
        Builder, Lines, LocationKey, Op, arguments_of, blocks_of, body_of, callers_of, context_of,
        heard, location_key, location_of, name_of, nested_ops, place_of, set_argument_location,
        set_location,
    },
    ops::llvm,
};
use melior::{
    Context,
    diagnostic::DiagnosticSeverity,
    ir::{Location, operation::OperationLike},
};
use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
    hash::Hash,
};

/// The first version of the PTX ISA with `inlined_at`.
const STEPS_SINCE: (u32, u32) = (7, 2);

/// A place in a text, and the step of the compiler that works for it there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// Index into the names of files.
    file: usize,
    line: u32,
    column: u32,
    /// Index into the names of steps.
    step: Option<usize>,
}

/// Things, each once, numbered in the order in which they were met.
#[derive(Debug)]
struct Numbered<T>(Vec<T>, HashMap<T, usize>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered(Vec::new(), HashMap::new())
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn index(&mut self, item: T) -> usize {
        if let Some(index) = self.1.get(&item) {
            return *index;
        }
        self.0.push(item.clone());
        self.1.insert(item, self.0.len() - 1);
        self.0.len() - 1
    }
}

/// The places of a module's operations. Number n of LLVM's lines is place n - 1; 0 is nowhere.
#[derive(Debug, Default)]
pub(crate) struct Places {
    files: Numbered<String>,
    steps: Numbered<String>,
    places: Numbered<Place>,
    /// Numbers by MLIR's location.
    known: HashMap<LocationKey, u32>,
}

/// Numbers the places of a module in the LLVM dialect, and puts the numbers in place of its
/// locations. Nothing is changed where no operation says where it is from.
pub(crate) fn number(module: Op) -> Places {
    let mut places = Places::default();
    let functions: Vec<_> = nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == llvm::FUNC && body_of(*op, 0).is_some())
        .map(|function| {
            let own = places.number(function.location());
            // LLVM gives what joins values of several blocks the location of the argument; those of the function are from nowhere.
            let arguments: Vec<_> = blocks_of(function)
                .into_iter()
                .skip(1)
                .flat_map(arguments_of)
                .map(|argument| (argument, places.number(location_of(argument))))
                .collect();
            let ops: Vec<_> = nested_ops(function)
                .into_iter()
                .map(|op| (op, places.number(op.location())))
                .collect();
            (function, own, arguments, ops)
        })
        .collect();
    if places.places.0.is_empty() {
        return places;
    }
    let lines = Lines::new(context_of(module));
    for (function, own, arguments, ops) in functions {
        lines.set(function, own);
        for (argument, number) in arguments {
            set_argument_location(argument, lines.line(number));
        }
        // What is from nowhere gets a location as well: LLVM demands one of every call.
        for (op, number) in ops {
            set_location(op, lines.line(number));
        }
    }
    places
}

impl Places {
    /// Returns what `translate` gives; diagnostics at a number's line are said at the place that it stands for.
    ///
    /// # Errors
    /// `translate`'s, at the builder's location, where no diagnostic has said it.
    pub(crate) fn led_back<'c, T>(
        &self,
        b: &Builder<'c>,
        translate: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, Failure> {
        let context = b.context;
        let (result, all) = heard(context, translate);
        let mut said: Option<Failure> = None;
        for heard in all {
            let message = heard.message;
            let location = self.of_line(context, heard.location);
            let location = location.unwrap_or(heard.location);
            if matches!(heard.severity, DiagnosticSeverity::Error) {
                // MLIR says that much of every error, behind it.
                if said.is_some() && message.starts_with("LLVM Translation failed for operation") {
                    continue;
                }
                let message = format!("LLVM IR cannot be made of this: {message}");
                said = Some(diag::error(location, message));
            } else {
                diag::warning(location, message, &[]);
            }
        }
        result.map_err(|error| said.unwrap_or_else(|| b.error(error)))
    }

    /// The place that the number of a line stands for.
    fn of_line<'c>(&self, context: &'c Context, location: Location<'c>) -> Option<Location<'c>> {
        let said = place_of(location).filter(|place| place.file == Lines::FILE)?;
        let number = usize::try_from(said.line).ok()?;
        let place = self.places.0.get(number.checked_sub(1)?)?;
        let file = self.files.0.get(place.file)?;
        let (line, column) = (place.line as usize, place.column as usize);
        Some(Location::new(context, file, line, column))
    }

    fn number(&mut self, location: Location) -> u32 {
        let key = location_key(location);
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let number = match self.place(location) {
            Some(place) => u32::try_from(self.places.index(place) + 1).unwrap_or(0),
            None => 0,
        };
        self.known.insert(key, number);
        number
    }

    fn place(&mut self, location: Location) -> Option<Place> {
        let place = place_of(location)?;
        // Of a function that was put in place of its call, the line alone does not say which call.
        let callers = callers_of(location).into_iter();
        let call = callers.filter_map(place_of).next_back();
        let call = call.map(|at| format!("called from {}:{}:{}", at.file, at.line, at.column));
        let step: Vec<_> = place.step.into_iter().chain(call).collect();
        Some(Place {
            file: self.files.index(place.file),
            line: place.line,
            column: place.column,
            step: (!step.is_empty()).then(|| self.steps.index(step.join(", "))),
        })
    }

    /// LLVM's PTX, with what the numbers stand for.
    ///
    /// # Errors
    /// If a number stands for nothing.
    pub(crate) fn write(&self, ptx: &str) -> Result<String, String> {
        let Some(first) = self.places.0.first() else {
            return Ok(ptx.to_owned());
        };
        let mut writer = Writer {
            out: String::with_capacity(ptx.len() * 3 / 2),
            files: Numbered::default(),
            steps: (version(ptx) >= STEPS_SINCE).then(Numbered::default),
            said: HashSet::new(),
            last: String::new(),
        };
        for line in ptx.split_inclusive('\n') {
            let word = line.split_whitespace().next().unwrap_or_default();
            if word == ".loc" {
                match self.at(line)? {
                    Some(place) => writer.place(place),
                    None => writer.nowhere(first.file),
                }
                continue;
            }
            if line.contains(".entry ") || line.contains(".func ") {
                writer.said.clear();
                writer.last.clear();
            }
            if !is_debug(line, word) {
                writer.out.push_str(line);
            }
        }
        Ok(writer.finish(&self.files.0, &self.steps.0))
    }

    /// The place that a `.loc` of LLVM's names.
    fn at(&self, line: &str) -> Result<Option<&Place>, String> {
        let number = line.split_whitespace().nth(2);
        match number.and_then(|n| n.parse::<usize>().ok()) {
            Some(0) => Ok(None),
            Some(n) if n <= self.places.0.len() => Ok(Some(&self.places.0[n - 1])),
            _ => Err(format!(
                "LLVM emitted a place that it was not given: {}",
                line.trim()
            )),
        }
    }
}

/// PTX with directives of its own.
struct Writer {
    out: String,
    /// The files by their own numbers: those that LLVM dropped are not named.
    files: Numbered<usize>,
    /// The same; none where PTX has no way to name them.
    steps: Option<Numbered<usize>>,
    /// Places without a step in this function: where something is inlined must be among those that came
    /// before, says ptxas.
    said: HashSet<(usize, u32, u32)>,
    /// The last directive of this function.
    last: String,
}

impl Writer {
    fn place(&mut self, place: &Place) {
        let file = self.files.index(place.file) + 1;
        let at = format!("{file} {} {}", place.line, place.column);
        let key = (place.file, place.line, place.column);
        let name = self.steps.as_mut().zip(place.step);
        let Some(name) = name.map(|(steps, step)| steps.index(step)) else {
            self.said.insert(key);
            return self.directive(at);
        };
        if self.said.insert(key) {
            self.directive(at.clone());
        }
        self.directive(format!(
            "{at}, function_name $L__info_string{name}, inlined_at {at}"
        ));
    }

    fn nowhere(&mut self, file: usize) {
        let file = self.files.index(file) + 1;
        self.directive(format!("{file} 0 0"));
    }

    fn directive(&mut self, text: String) {
        if text != self.last {
            let _ = writeln!(self.out, "\t.loc\t{text}");
            self.last = text;
        }
    }

    fn finish(mut self, files: &[String], steps: &[String]) -> String {
        let out = &mut self.out;
        for (index, file) in self.files.0.iter().enumerate() {
            let _ = writeln!(out, "\t.file\t{} \"{}\"", index + 1, quoted(&files[*file]));
        }
        let order = self.steps.unwrap_or_default().0;
        if !order.is_empty() {
            out.push_str("\t.section\t.debug_str\n\t{\n");
            for (index, step) in order.iter().enumerate() {
                let bytes = steps[*step].bytes().filter(|byte| *byte != 0);
                let bytes: String = bytes.map(|byte| format!("{byte},")).collect();
                let _ = writeln!(out, "$L__info_string{index}:\n\t.b8 {bytes}0");
            }
            out.push_str("\t}\n");
        }
        self.out
    }
}

/// Tells whether LLVM wrote this line for debug information alone: its file, an empty section, and labels that nothing
/// here refers to.
fn is_debug(line: &str, word: &str) -> bool {
    let label = |prefix: &str| {
        word.strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(':'))
            .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    };
    word == ".file"
        || (word == ".section" && line.contains(".debug_macinfo"))
        || label("$L__tmp")
        || label("$L__func_begin")
        || label("$L__func_end")
}

/// The version in a line `.version 8.0`: major, minor.
fn version(ptx: &str) -> (u32, u32) {
    ptx.lines()
        .find_map(|line| line.trim().strip_prefix(".version "))
        .and_then(|version| version.trim().split_once('.'))
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
        .unwrap_or((0, 0))
}

/// A name between quotes of PTX. ptxas takes ASCII without quotes in it, and makes slashes of
/// backslashes; other bytes, and the sign itself, are `%` and two hexadecimal digits.
fn quoted(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' | b'%' => {}
            b' '..=b'~' => {
                text.push(char::from(byte));
                continue;
            }
            _ => {}
        }
        let _ = write!(text, "%{byte:02X}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Attribute;

    /// The places that these locations have, as `file line column step`.
    fn places(locations: &[Location]) -> (Places, Vec<String>) {
        let mut places = Places::default();
        let texts = locations
            .iter()
            .map(|location| match places.number(*location) {
                0 => "nowhere".to_owned(),
                number => {
                    let place = &places.places.0[number as usize - 1];
                    let step = place.step.map_or("", |step| places.steps.0[step].as_str());
                    let file = &places.files.0[place.file];
                    format!("{file} {} {} {step}", place.line, place.column)
                }
            })
            .collect();
        (places, texts)
    }

    #[test]
    fn the_outermost_name_and_the_first_place_count() {
        let context = cute_ir::context();
        let line = Location::new(&context, "a.mlir", 5, 3);
        let other = Location::new(&context, "b.mlir", 7, 1);
        let unknown = Location::unknown(&context);
        let name = |name: &str, location| Location::name(&context, name, location);
        let unit = Attribute::unit(&context);
        let (places, texts) = places(&[
            line,
            unknown,
            name("copy A", name("tile", line)),
            name("", name("tile", line)),
            Location::fused(&context, &[unknown, other, line], unit),
            name(
                "x",
                Location::fused(&context, &[name("y", unknown), other], unit),
            ),
            name(
                "x",
                Location::call_site(other, Location::call_site(unknown, line)),
            ),
            Location::call_site(other, unknown),
            Location::new(&context, "a.mlir", 0, 0),
            name("nothing", unknown),
            name("copy A", line),
        ]);
        assert_eq!(
            texts,
            [
                "a.mlir 5 3 ",
                "nowhere",
                "a.mlir 5 3 copy A",
                "a.mlir 5 3 tile",
                "b.mlir 7 1 ",
                "b.mlir 7 1 x",
                "b.mlir 7 1 x, called from a.mlir:5:3",
                "b.mlir 7 1 ",
                "nowhere",
                "nowhere",
                "a.mlir 5 3 copy A",
            ]
        );
        assert_eq!(places.places.0.len(), 6);
    }

    #[test]
    fn locations_nest_as_deep_as_they_like() {
        let context = cute_ir::context();
        let mut deep = Location::unknown(&context);
        let mut wide = Location::unknown(&context);
        for i in 0..100_000 {
            deep = Location::name(&context, &i.to_string(), deep);
        }
        let unit = Attribute::unit(&context);
        for i in 0..100 {
            let (a, b) = (
                Location::name(&context, &format!("a{i}"), wide),
                Location::name(&context, &format!("b{i}"), wide),
            );
            wide = Location::fused(&context, &[a, b], unit);
        }
        let (_, texts) = places(&[deep, wide]);
        assert_eq!(texts, ["nowhere", "nowhere"]);
    }

    fn two_places() -> Places {
        let context = cute_ir::context();
        let line = Location::new(&context, "a \"b\".mlir", 5, 3);
        places(&[line, Location::name(&context, "copy A", line)]).0
    }

    #[test]
    fn numbers_become_places() {
        let ptx = ".version 8.0\n.target sm_80\n.entry k()\n{\n$L__func_begin0:\n\t.loc\t1 2 0  // x\n$L__tmp0:\n\
                   \tret;\n\t.loc\t1 0 0\n\tret;\n\t.loc\t1 2 0\n\tbra $L__BB0_1;\n\t.loc\t1 2 0\n\
                   $L__BB0_1:\n$L__func_end0:\n}\n\t.section\t.debug_macinfo\t{\t}\n\t.file\t1 \"places\"\n";
        let step = "1 5 3, function_name $L__info_string0, inlined_at 1 5 3";
        let expected = format!(
            ".version 8.0\n.target sm_80\n.entry k()\n{{\n\t.loc\t1 5 3\n\t.loc\t{step}\n\tret;\n\t.loc\t1 0 0\n\
             \tret;\n\t.loc\t{step}\n\tbra $L__BB0_1;\n$L__BB0_1:\n}}\n\
             \t.file\t1 \"a %22b%22.mlir\"\n\
             \t.section\t.debug_str\n\t{{\n$L__info_string0:\n\t.b8 99,111,112,121,32,65,0\n\t}}\n"
        );
        assert_eq!(two_places().write(ptx).unwrap(), expected);
        let early = two_places().write(&ptx.replace("8.0", "7.1")).unwrap();
        assert!(!early.contains("function_name") && early.contains("\t.loc\t1 5 3\n"));
        // What the text says of itself is right PTX.
        let module = cute_runtime::ptx::parse(&expected);
        assert!(module.is_ok(), "{module:?}");
    }

    #[test]
    fn numbers_that_stand_for_nothing_are_an_error() {
        for line in ["\t.loc\t1 3 0\n", "\t.loc\n", "\t.loc\t1 -1 0\n"] {
            let error = two_places().write(line).unwrap_err();
            assert!(error.contains(line.trim()), "{error}");
        }
        // Without places PTX is left as it is.
        let text = "\t.loc\t1 3 0\n";
        assert_eq!(Places::default().write(text).unwrap(), text);
    }
}

//! Functions that a GPU module imports: of parts of the library, and of files by their paths.
//!
//! A text is taken once, however often and by whatever path it is imported. What a text needs of others it imports itself, and a relative path in it
//! starts at its own folder; a file that comes to import itself is refused, as functions that call each other in a circle would be.

use cute_ir::{
    Expected, Failure,
    diag::{self, each},
    library::{files, parts},
    mlir::*,
    names::{builtin, did_you_mean},
    ops::{cute, func},
};
use melior::ir::{Location, operation::OperationLike};
use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::PathBuf,
};

/// Takes the functions that a GPU module imports into it, and those that these need, and gives their names.
pub(super) fn take<'c>(
    rewriter: &'c Rewriter<'c>,
    module: Op<'c>,
) -> Result<Vec<&'c str>, Failure> {
    let Some(body) = body_of(module, 0) else {
        return Ok(Vec::new());
    };
    let mut functions = HashMap::new();
    let mut imports = Vec::new();
    for op in ops_of(body) {
        if let Some(name) = string_of(op, "sym_name") {
            functions.insert(name, (op, None));
        }
        imports.extend(cute::Import::of(op));
    }
    let mut taking = Imports {
        rewriter,
        body,
        functions,
        taken: HashSet::new(),
        chain: Vec::new(),
    };
    // A file that comes to import the one of the module is in a circle as well.
    if let Some(place) = imports
        .first()
        .and_then(|one| place_of(one.op().location()))
        && let Ok(id) = fs::canonicalize(files::file_of_text(&place.file))
    {
        taking.chain.push(Link {
            source: Source::File(id),
            name: place.file,
            import: None,
        });
    }
    each(imports, |import| taking.import(import))?;
    let imported = taking.functions.into_iter();
    let imported = imported.filter(|(_, (_, origin))| origin.is_some());
    Ok(imported.map(|(name, _)| name).collect())
}

/// The identity of a text that is imported.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Source {
    /// A part of the library, by name.
    Part(&'static str),
    /// A file, by its path without links.
    File(PathBuf),
}

/// A text whose imports are being taken.
struct Link<'c> {
    source: Source,
    name: String,
    /// The import that named it; none for the module's own file.
    import: Option<Op<'c>>,
}

/// The work on the imports of a GPU module.
struct Imports<'c> {
    rewriter: &'c Rewriter<'c>,
    body: Blk<'c>,
    /// The functions by name, and the text that each was imported from; none for the module's own.
    functions: HashMap<&'c str, (Op<'c>, Option<String>)>,
    taken: HashSet<Source>,
    /// The texts that are being imported, each by the one before it.
    chain: Vec<Link<'c>>,
}

impl<'c> Imports<'c> {
    /// Takes the functions of the text that an import names, and erases the import.
    fn import(&mut self, import: cute::Import<'c>) -> Result<(), Failure> {
        let op = import.op();
        let name = import.part().and_then(string_value).unwrap_or_default();
        let (source, name, text) = match files::is_path(name) {
            true => file(op, name)?,
            false => {
                let (part, text) = part(op, name)?;
                (Source::Part(part), format!("{part}.mlir"), text.to_owned())
            }
        };
        if let Some(at) = self.chain.iter().position(|link| link.source == source) {
            return Err(self.circle(op, at, &name));
        }
        if !self.taken.insert(source.clone()) {
            return self.rewriter.erase(op);
        }
        self.chain.push(Link {
            source,
            name,
            import: Some(op),
        });
        let done = self.take_from(op, &text);
        self.chain.pop();
        done?;
        self.rewriter.erase(op)
    }

    /// Takes the functions of the text at the end of the chain, and of those that it imports.
    fn take_from(&mut self, import: Op<'c>, text: &str) -> Result<(), Failure> {
        let name = match self.chain.last() {
            Some(link) => link.name.clone(),
            None => return Ok(()),
        };
        let notes = self.imported_here();
        let module = diag::parse(import.location(), &name, text, &notes)?;
        let own = attributes_of(module.as_operation());
        if let Some((attribute, _)) = own.iter().find(|(name, _)| *name != "sym_name") {
            return Err(self.wrong(
                module.as_operation().location(),
                &format!(
                    "expected functions for kernels in a file that is imported, found a module with '{attribute}', which says nothing of \
                     them; give parameters to the functions themselves"
                ),
            ));
        }
        let mut needed = Vec::new();
        each(take_ops(module, self.body), |op| {
            if let Some(import) = cute::Import::of(op) {
                needed.push(import);
                return Ok(());
            }
            if name_of(op) != func::FUNC {
                let found = name_of(op);
                let expected = "expected functions for kernels, func.func, and cute.import in a file that is imported";
                let said = match found == builtin::MODULE || found == ops::gpu::MODULE {
                    true => {
                        format!("{expected}, found '{found}'; move its functions to the file's top")
                    }
                    false => format!("{expected}, found '{found}'"),
                };
                return Err(self.wrong(op.location(), &said));
            }
            self.take_function(import, op, &name)
        })?;
        each(needed, |import| self.import(import))
    }

    /// Notes a function of a text that is imported; another one of its name is an error.
    fn take_function(&mut self, import: Op<'c>, op: Op<'c>, file: &str) -> Result<(), Failure> {
        let name = string_of(op, "sym_name").expected(op, "functions with names")?;
        let Some((other, origin)) = self.functions.get(name) else {
            self.functions.insert(name, (op, Some(file.to_owned())));
            return Ok(());
        };
        let (message, here) = match origin {
            None => (
                format!(
                    "'cute.import' op imports @{name}, which this gpu.module has itself; expected another name there"
                ),
                format!("@{name} of the gpu.module is here"),
            ),
            Some(origin) => (
                format!(
                    "'cute.import' op imports @{name} of {file}, which {origin} has as well; expected another name in one of both"
                ),
                format!("@{name} of {origin} is here"),
            ),
        };
        let there = format!("@{name} of {file} is here");
        let notes = [(op.location(), &*there), (other.location(), &*here)];
        Err(diag::error_with_notes(import.location(), message, &notes))
    }

    /// An error in the text at the end of the chain, with the imports that led to it.
    fn wrong(&self, location: Location<'c>, message: &str) -> Failure {
        diag::error_with_notes(location, message, &self.imported_here())
    }

    /// The notes that lead from a text to the module, its own import first.
    fn imported_here(&self) -> Vec<(Location<'c>, &'static str)> {
        let imports = self.chain.iter().rev().filter_map(|link| link.import);
        imports
            .map(|import| (import.location(), "imported here"))
            .collect()
    }

    /// The error of an import that leads back to the text at a place of the chain.
    fn circle(&self, import: Op<'c>, at: usize, name: &str) -> Failure {
        let links = self.chain.get(at..).unwrap_or_default();
        let names: Vec<&str> = links.iter().map(|link| &*link.name).collect();
        let chain = names.join(" imports ");
        diag::error_with_notes(
            import.location(),
            format!(
                "'cute.import' op imports {name} within itself: {chain} imports {name}; move what both need to a file that imports neither"
            ),
            &self.imported_here(),
        )
    }
}

/// The part of the library of a name.
fn part(import: Op<'_>, name: &str) -> Result<(&'static str, &'static str), Failure> {
    let found = parts().iter().find(|(part, _)| *part == name);
    found.copied().ok_or_else(|| {
        let names = parts().iter().map(|(part, _)| *part);
        let (last, others) = parts().split_last().unwrap_or((&("", ""), &[]));
        let others: Vec<&str> = others.iter().map(|(part, _)| *part).collect();
        diag::error(
            import.location(),
            format!(
                "'cute.import' op expected a part of the library, {} or {}, or a path that ends in {}, found \"{name}\"{}",
                others.join(", "),
                last.0,
                files::ENDING,
                did_you_mean(name, names)
            ),
        )
    })
}

/// The file of a path: which it is, its name in diagnostics, and its text.
fn file(import: Op<'_>, path: &str) -> Result<(Source, String, String), Failure> {
    let place = place_of(import.location());
    let importer = place.map(|place| place.file).unwrap_or_default();
    let file = files::file_of(&importer, path);
    let read = fs::canonicalize(&file).and_then(|id| Ok((id.clone(), files::read(&id)?)));
    let wrong = |what: String| {
        let from = match (file.is_absolute(), files::folder_of(&importer)) {
            (true, _) => "",
            (false, "") => "; a relative path starts at the current folder here",
            (false, _) => "; a relative path starts at the file that imports",
        };
        diag::error(
            import.location(),
            format!(
                "'cute.import' op expected a file of functions at {}, {what}{from}",
                file.display()
            ),
        )
    };
    let (id, bytes) = read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => wrong("found none".to_owned()),
        _ => wrong(format!("which cannot be read: {error}")),
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((Source::File(id), file.display().to_string(), text)),
        Err(_) => Err(wrong("found one that is no text in UTF-8".to_owned())),
    }
}

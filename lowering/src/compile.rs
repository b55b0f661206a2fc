//! The compiler as a library: a module or its text in, a package out.

use crate::{
    CompileOptions,
    cache::{self, Cache, CacheError, Entry, Key},
    diagnostics::{Diagnostic, Severity, collect},
    package,
};
use cute_ir::mlir::{context_of, parse_module, run_pipeline};
use cute_runtime::package::Package;
use cute_target::Archs;
use melior::{Context, ir::Module};
use std::sync::OnceLock;

/// The reason why something was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// Options that name no architecture, or one that is not there.
    #[error("{0}")]
    Options(String),
    /// All that was said of the input, in order.
    #[error("{}", listed(.0))]
    Failed(Vec<Diagnostic>),
}

fn listed(said: &[Diagnostic]) -> String {
    let lines: Vec<String> = said.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// The outcome of a compilation.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The kernels, and the functions of the host that launch them.
    pub package: Package,
    /// Warnings and remarks. One that comes from the cache has those of its compilation; what is wrong with the cache is a warning
    /// without a place.
    pub diagnostics: Vec<Diagnostic>,
    /// The origin: true of what comes from the cache.
    pub cached: bool,
}

/// A compiler with its options and a context of its own. It compiles any number of modules, one after the other; several
/// compilers may work side by side.
pub struct Compiler {
    /// The context, made when it is first needed: a text that is in the cache needs none.
    context: OnceLock<Context>,
    options: CompileOptions,
    archs: Archs,
    passes: String,
    cache: Option<Cache>,
}

impl Compiler {
    /// Makes a compiler, without a cache.
    ///
    /// # Errors
    /// No architecture, and with `native` no driver, no GPU, or one that nothing is compiled for.
    pub fn new(options: &CompileOptions) -> Result<Self, CompileError> {
        let options = options.resolved().map_err(CompileError::Options)?;
        let (archs, passes) = options.tried().map_err(CompileError::Options)?;
        Ok(Self {
            context: OnceLock::new(),
            options,
            archs,
            passes,
            cache: None,
        })
    }

    /// Looks in a cache for what [`Compiler::compile_text`] is asked, and keeps there what it compiles. A compiler uses none
    /// unless it is given one: it is the program's to say whether files of its user are written.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Compiles everything anew.
    #[must_use]
    pub fn without_cache(mut self) -> Self {
        self.cache = None;
        self
    }

    /// The cache, if there is one.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// The architectures that are compiled for.
    pub fn archs(&self) -> &Archs {
        &self.archs
    }

    /// A context with the dialects: for modules that are built. One that somebody else made needs those of
    /// [`cute_ir::registry`].
    pub fn context(&self) -> &Context {
        crate::initialize();
        self.context.get_or_init(cute_ir::context)
    }

    /// Compiles the text of a module, or finds it in the cache; `name` stands for its file in diagnostics and in PTX. A file that the text imports by a
    /// relative path is looked for from the folder that `name` has; with a name without one, such as `gemm.mlir` or `-`, from the current folder.
    ///
    /// # Errors
    /// [`CompileError::Failed`]: text that is no module, or that cannot be compiled.
    pub fn compile_text(&self, name: &str, text: &str) -> Result<Compiled, CompileError> {
        let Some(cache) = &self.cache else {
            return self.compile_anew(name, text);
        };
        let now = || Key::new(&self.options, name, text.as_bytes(), &[b"library"]);
        let key = match now() {
            Ok(key) => key,
            Err(why) => return with_warning(self.compile_anew(name, text), why),
        };
        let mut trouble = None;
        match cache.load(&key) {
            Ok(entry) => {
                if let Some(found) = entry.and_then(|entry| self.found(&entry)) {
                    return Ok(found);
                }
            }
            Err(why) => trouble = Some(why),
        }
        let compiled = self.compile_anew(name, text)?;
        // Whoever puts another assembler in its place meanwhile, or changes what is imported, must not find this again.
        if trouble.is_none() && now().is_ok_and(|now| now == key) {
            trouble = keep(cache, &key, &compiled).err();
        }
        match trouble {
            None => Ok(compiled),
            Some(why) => with_warning(Ok(compiled), why),
        }
    }

    /// The outcome that an entry holds, if it is one that this version reads; its package is written where that was asked for.
    fn found(&self, entry: &Entry) -> Option<Compiled> {
        let [package, said] = entry.parts()[..] else {
            return None;
        };
        let package = Package::from_bytes(package).ok()?;
        if let Some(file) = &self.options.package {
            // What is wrong is said by the compilation that follows.
            package.write_file(file).ok()?;
        }
        Some(Compiled {
            package,
            diagnostics: cache::read_said(said)?,
            cached: true,
        })
    }

    fn compile_anew(&self, name: &str, text: &str) -> Result<Compiled, CompileError> {
        let context = self.context();
        let (module, mut said) = collect(context, || parse_module(context, name, text));
        let Some(mut module) = module else {
            return Err(CompileError::Failed(said));
        };
        // What the parser warned of comes first.
        let compiled = self.compile(&mut module);
        compiled.map(|mut compiled| {
            said.append(&mut compiled.diagnostics);
            compiled.diagnostics = said;
            compiled
        })
    }

    /// Compiles the functions of `module`, of this compiler's context or of another. The module is changed: what is left of
    /// it is the launch plan and the `gpu.binary`. The cache has no part in it.
    ///
    /// # Errors
    /// [`CompileError::Failed`]: what cannot be compiled.
    pub fn compile(&self, module: &mut Module<'_>) -> Result<Compiled, CompileError> {
        crate::initialize();
        let context = context_of(module.as_operation());
        let (result, mut said) = collect(context, || {
            run_pipeline(module, &self.passes)?;
            package::from_module(module.as_operation()).map_err(|_| None)
        });
        match result {
            Ok(package) => Ok(Compiled {
                package,
                diagnostics: said,
                cached: false,
            }),
            Err(more) => {
                said.extend(more.map(|message| Diagnostic {
                    severity: Severity::Error,
                    place: None,
                    message,
                    notes: Vec::new(),
                }));
                Err(CompileError::Failed(said))
            }
        }
    }
}

fn keep(cache: &Cache, key: &Key, compiled: &Compiled) -> Result<(), CacheError> {
    // What cannot be read again is not kept.
    let Some(said) = cache::write_said(&compiled.diagnostics) else {
        return Ok(());
    };
    match compiled.package.to_bytes() {
        Ok(package) => cache.store(key, &[&package, &said]),
        Err(_) => Ok(()),
    }
}

/// Adds what was wrong with the cache to what was said.
fn with_warning(
    compiled: Result<Compiled, CompileError>,
    why: CacheError,
) -> Result<Compiled, CompileError> {
    compiled.map(|mut compiled| {
        compiled.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            place: None,
            message: why.to_string(),
            notes: Vec::new(),
        });
        compiled
    })
}

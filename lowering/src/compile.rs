//! The compiler as a library: a module or its text in, a package out.

use crate::{
    CompileOptions,
    diagnostics::{Diagnostic, Severity, collect},
    package,
};
use cute_ir::mlir::{context_of, parse_module, run_pipeline};
use cute_runtime::package::Package;
use cute_target::Archs;
use melior::{Context, ir::Module};

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
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// A compiler with its options and a context of its own. It compiles any number of modules, one after the other; several
/// compilers may work side by side.
pub struct Compiler {
    context: Context,
    archs: Archs,
    passes: String,
}

impl Compiler {
    /// Makes a compiler.
    ///
    /// # Errors
    /// No architecture, and with `native` no driver, no GPU, or one that nothing is compiled for.
    pub fn new(options: &CompileOptions) -> Result<Self, CompileError> {
        crate::initialize();
        let (archs, passes) = options.passes().map_err(CompileError::Options)?;
        Ok(Self {
            context: cute_ir::context(),
            archs,
            passes,
        })
    }

    /// The architectures that are compiled for.
    pub fn archs(&self) -> &Archs {
        &self.archs
    }

    /// A context with the dialects: for modules that are built. One that somebody else made needs those of
    /// [`cute_ir::registry`].
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Compiles the text of a module; `name` stands for its file in diagnostics and in PTX.
    ///
    /// # Errors
    /// [`CompileError::Failed`]: text that is no module, or that cannot be compiled.
    pub fn compile_text(&self, name: &str, text: &str) -> Result<Compiled, CompileError> {
        let (module, mut said) = collect(&self.context, || parse_module(&self.context, name, text));
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
    /// it is the launch plan and the `gpu.binary`.
    ///
    /// # Errors
    /// [`CompileError::Failed`]: what cannot be compiled.
    pub fn compile(&self, module: &mut Module<'_>) -> Result<Compiled, CompileError> {
        let context = context_of(module.as_operation());
        let (result, mut said) = collect(context, || {
            run_pipeline(module, &self.passes)?;
            package::from_module(module.as_operation()).map_err(|_| None)
        });
        match result {
            Ok(package) => Ok(Compiled {
                package,
                diagnostics: said,
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

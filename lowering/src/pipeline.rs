//! `--cute-compile`: the whole way down, from an algorithm to a `gpu.binary`.

use crate::{binary::AssembleOptions, fallback, package::PackageOptions};
use cute_ir::{
    PipelineSpec,
    options::{OptionValue, Options},
};
use cute_passes::{
    instantiate::{self, InstantiateOptions},
    order::{ON_KERNELS, ON_MODULES, Step},
    plan::{Avoid, Request},
    simplify_indices::{Rules, SimplifyOptions},
    tile::TileOptions,
};
use cute_runtime::cuda::CudaDevice;
use cute_target::{Arch, Archs};
use std::path::PathBuf;

/// The pipeline.
pub(crate) const PIPELINE: PipelineSpec = PipelineSpec {
    name: "cute-compile",
    description: "Compile algorithms on whole tensors to a gpu.binary",
    options: CompileOptions::SPECS,
    build,
};

/// The architectures to compile for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetArch {
    /// These.
    Archs(Archs),
    /// The architecture of the first GPU of this machine, which also says how many multiprocessors there are.
    Native,
}

impl From<Archs> for TargetArch {
    fn from(archs: Archs) -> Self {
        TargetArch::Archs(archs)
    }
}

impl From<Arch> for TargetArch {
    fn from(arch: Arch) -> Self {
        TargetArch::Archs(arch.into())
    }
}

impl OptionValue for TargetArch {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "native" => Ok(TargetArch::Native),
            _ => Archs::read(text).map(TargetArch::Archs),
        }
    }

    fn written(&self) -> String {
        match self {
            TargetArch::Archs(archs) => archs.written(),
            TargetArch::Native => "native".to_owned(),
        }
    }
}

cute_ir::options! {
    /// The target of a compilation, and the choices for it.
    pub struct CompileOptions {
        arch: Option<TargetArch> = None, "",
            "The architecture, from sm_75 to sm_121a, or several that commas separate, of which plans are chosen for the first; or native: that of this machine's first GPU, with its number of multiprocessors; required";
        simplify: bool = true, "true", "Whether egg simplifies index arithmetic: true or false";
        watchdog: bool = false, "false", "Whether waits for mbarriers end the kernel after two seconds with an assertion that names the barrier: true or false; for finding what hangs on a GPU";
        package: Option<PathBuf> = None, "", "Where to write the kernel package; nowhere where not given";
        measured: Option<PathBuf> = None, "", "A table of measured times by which plans are ranked (docs/tuning.md); the compiler's own where not given";
        ..instantiate: InstantiateOptions, "The values of parameters.";
        ..explained: SimplifyOptions, "The options of the pass that simplifies index arithmetic.";
        ..assemble: AssembleOptions, "The options of the assembler's pass.";
        ..request: Request, "The parts of a plan that are asked for.";
    }
}

impl CompileOptions {
    /// The options for an architecture, with everything else chosen.
    pub fn new(arch: impl Into<TargetArch>) -> Self {
        Self {
            arch: Some(arch.into()),
            ..Self::default()
        }
    }

    /// The same options with `native` replaced by what it stands for: the architecture of this machine's GPU and its number of
    /// multiprocessors.
    ///
    /// # Errors
    /// Those of [`CompileOptions::pipeline`].
    pub fn resolved(&self) -> Result<Self, String> {
        let (archs, request) = self.target()?;
        Ok(Self {
            arch: Some(archs.into()),
            request,
            ..self.clone()
        })
    }

    /// The architectures, and what is asked for with the multiprocessors of the GPU where it is this machine's.
    fn target(&self) -> Result<(Archs, Request), String> {
        let mut request = self.request;
        match &self.arch {
            None => Ok((Archs::read("")?, request)),
            Some(TargetArch::Archs(archs)) => Ok((archs.clone(), request)),
            Some(TargetArch::Native) => {
                let cure = "name the architecture to compile for, such as arch=sm_90a";
                let gpu = CudaDevice::describe(0).map_err(|e| {
                    format!("arch=native asks for this machine's GPU: {e}; or {cure}")
                })?;
                let arch = Arch::for_gpu(gpu.compute_capability)
                    .map_err(|e| format!("arch=native found {}: {e}", gpu.name))?;
                let multiprocessors = i64::from(gpu.multiprocessors);
                request.sms = request.sms.or(Some(multiprocessors));
                Ok((arch.into(), request))
            }
        }
    }

    /// The textual pass pipeline. Errors: no architecture, and with `native` no driver, no GPU, or one that nothing is compiled
    /// for.
    pub fn pipeline(&self) -> Result<String, String> {
        let (_, passes) = self.passes(None)?;
        Ok(format!("builtin.module({passes})"))
    }

    /// The architectures, and the passes as text, or the one pass that runs them with other plans where chosen ones have too few registers: where a tile is asked
    /// for there are no others. Errors: those of [`CompileOptions::pipeline`].
    pub(crate) fn tried(&self) -> Result<(Archs, String), String> {
        let resolved = self.resolved()?;
        let (archs, passes) = resolved.passes(None)?;
        if resolved.request.tile.is_some() || resolved.request.warps.is_some() {
            return Ok((archs, passes));
        }
        Ok((archs, resolved.pass(fallback::PASS.name)))
    }

    /// The architectures, and the passes of the pipeline as text, which choose no plan that is to be avoided. Errors: those of
    /// [`CompileOptions::pipeline`].
    pub(crate) fn passes(&self, avoid: Option<Avoid>) -> Result<(Archs, String), String> {
        let (archs, request) = self.target()?;
        let tile = TileOptions {
            arch: Some(archs.clone()),
            measured: self.measured.clone(),
            avoid: avoid.filter(|avoid| !avoid.0.is_empty()),
            request,
        };
        let names = |steps: &[Step]| {
            let names: Vec<_> = steps.iter().map(|step| step.pass).collect();
            names.join(",")
        };
        let mut passes = vec![
            self.instantiate.pass(instantiate::PASS.name),
            "cute-warn-uncalled".to_owned(),
            "cute-inline".to_owned(),
            "cute-read-dsl".to_owned(),
            "cute-check".to_owned(),
            tile.pass("cute-tile"),
            format!("gpu.module(gpu.func({}))", names(ON_KERNELS)),
            names(ON_MODULES),
        ];
        if self.watchdog {
            passes.push("gpu.module(gpu.func(cute-watchdog))".to_owned());
        }
        passes.extend([
            "cute-to-nvvm".to_owned(),
            "cute-assert-at-launch".to_owned(),
        ]);
        if self.simplify {
            let simplify = self.explained.pass("cute-simplify-indices");
            let simplify = match self.explained.rules() {
                Rules::Applied(_) => simplify,
                Rules::Mlir => "canonicalize".to_owned(),
            };
            passes.push("cute-divide-by-arguments".to_owned());
            passes.push(format!(
                "gpu.module(gpu.func(cute-carry-remainders,{simplify}))"
            ));
        }
        passes.push("cse".to_owned());
        passes.push(
            "gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},\
             reconcile-unrealized-casts),cute-emit-ptx"
                .to_owned(),
        );
        passes.push(self.assemble.pass("cute-assemble"));
        if self.package.is_some() {
            let package = PackageOptions {
                file: self.package.clone(),
            };
            passes.push(package.pass("cute-emit-package"));
        }
        Ok((archs, passes.join(",")))
    }
}

fn build(text: &str) -> Result<String, String> {
    let options = CompileOptions::parse(text).map_err(|e| format!("--cute-compile: {e}"))?;
    // The driver has the module already.
    let (_, passes) = options
        .tried()
        .map_err(|e| format!("--cute-compile: {e}"))?;
    Ok(passes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_a_pipeline() {
        let options =
            CompileOptions::parse("arch=sm_90a tile=128x128x32 stages=3 package=\"a b.cutepkg\"")
                .unwrap();
        let text = options.pipeline().unwrap();
        assert!(
            text.contains("cute-tile{arch=sm_90a tile=128x128x32 stages=3}"),
            "{text}"
        );
        assert!(
            text.ends_with("cute-emit-package{file=\"a b.cutepkg\"})"),
            "{text}"
        );
    }

    #[test]
    fn wrong_options_are_named() {
        let error = |text: &str| {
            CompileOptions::parse(text)
                .and_then(|options| options.pipeline())
                .unwrap_err()
        };
        assert!(error("arch=sm_70").contains("sm_70"));
        assert!(error("").contains("give arch="));
        assert!(error("arch=sm_80 tiles=3").contains("'tiles'"));
        assert!(error("arch=sm_80 tile=128x128").contains("3 extents joined by x"));
        assert!(error("arch=sm_80 stages=0").contains("positive"));
        assert!(error("arch=sm_80 lineinfo=yes").contains("lineinfo: expected true or false"));
        assert!(error("arch").contains("name=value"));
        assert!(error("arch=sm_80 package=\"x").contains("closing"));
    }
}

//! `--cute-compile`: the whole way down, from an algorithm to a `gpu.binary`.

use crate::binary::LINEINFO;
use cute_ir::{OptionSpec, PipelineSpec};
use cute_passes::{
    order::{ON_KERNELS, ON_MODULES},
    plan::Request,
    tile,
};
use cute_runtime::cuda::CudaDevice;
use cute_target::Arch;

/// The architecture of this machine's GPU.
const NATIVE: &str = "native";

/// The pipeline.
pub const PIPELINE: PipelineSpec = PipelineSpec {
    name: "cute-compile",
    description: "Compile algorithms on whole tensors to a gpu.binary",
    options: OPTIONS,
    build,
};

/// The options of `cute-tile`, which it hands on, and its own.
const OPTIONS: &[OptionSpec] = &[
    tile::OPTIONS[0],
    tile::OPTIONS[1],
    tile::OPTIONS[2],
    tile::OPTIONS[3],
    tile::OPTIONS[4],
    tile::OPTIONS[5],
    OptionSpec {
        name: "simplify",
        description: "Whether egg simplifies index arithmetic: true or false",
        default: "true",
    },
    tile::OPTIONS[6],
    LINEINFO,
    OptionSpec {
        name: "package",
        description: "Where to write the kernel package, if anywhere",
        default: "",
    },
];

/// The target of a compilation, and the choices for it.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// `sm_90a`, ..., or `native`: that of the first GPU of this machine, with its number of multiprocessors.
    pub arch: String,
    /// `128x128x32`; chosen where empty, as are those that follow.
    pub tile: String,
    pub warps: String,
    pub stages: String,
    pub swizzle: String,
    pub raster: String,
    /// Multiprocessors to cut problems up for; those of the GPU for `native`, else those of a GPU of the architecture.
    pub sms: String,
    /// Leaves index arithmetic as the layouts give it.
    pub no_simplify: bool,
    /// Puts into the cubin which line each instruction is from, for profilers and compute-sanitizer. PTX
    /// says it anyway.
    pub lineinfo: bool,
    /// A file to write the package to.
    pub package: String,
}

impl CompileOptions {
    /// The options for an architecture, with everything else chosen.
    pub fn new(arch: impl Into<String>) -> Self {
        Self {
            arch: arch.into(),
            ..Self::default()
        }
    }

    /// From the text of a pipeline's options, `name=value` separated by spaces; values may be
    /// quoted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        let given = split(text)?;
        for (i, (name, value)) in given.iter().enumerate() {
            if let Some((_, before)) = given[..i].iter().find(|(other, _)| other == name) {
                return Err(format!(
                    "the option {name} is given twice, as '{before}' and as '{value}'; expected it once"
                ));
            }
            let slot = match name.as_str() {
                "arch" => &mut options.arch,
                "tile" => &mut options.tile,
                "warps" => &mut options.warps,
                "stages" => &mut options.stages,
                "swizzle" => &mut options.swizzle,
                "raster" => &mut options.raster,
                "sms" => &mut options.sms,
                "package" => &mut options.package,
                "simplify" => {
                    options.no_simplify = !boolean(name, value)?;
                    continue;
                }
                "lineinfo" => {
                    options.lineinfo = boolean(name, value)?;
                    continue;
                }
                _ => {
                    let known: Vec<_> = OPTIONS.iter().map(|o| o.name).collect();
                    return Err(format!(
                        "no such option '{name}': expected {}",
                        known.join(", ")
                    ));
                }
            };
            slot.clone_from(value);
        }
        Ok(options)
    }

    /// The architecture, and the multiprocessors to cut problems up for, as text.
    fn target(&self) -> Result<(Arch, String), String> {
        if self.arch != NATIVE {
            let arch = Arch::find(&self.arch).map_err(|e| e.to_string())?;
            return Ok((arch, self.sms.clone()));
        }
        let cure = "name the architecture to compile for, such as arch=sm_90a";
        let gpu = CudaDevice::describe(0)
            .map_err(|e| format!("arch=native asks for this machine's GPU: {e}; or {cure}"))?;
        let arch = Arch::for_gpu(gpu.compute_capability)
            .map_err(|e| format!("arch=native found {}: {e}", gpu.name))?;
        let sms = match self.sms.as_str() {
            "" => gpu.multiprocessors.to_string(),
            given => given.to_owned(),
        };
        Ok((arch, sms))
    }

    /// The textual pass pipeline. Errors: an option that has no meaning, and with `native` no driver, no GPU, or one that
    /// nothing is compiled for.
    pub fn pipeline(&self) -> Result<String, String> {
        Ok(format!("builtin.module({})", self.passes()?))
    }

    /// The passes of the pipeline, as text: what is run on a module. Errors: those of [`CompileOptions::pipeline`].
    pub(crate) fn passes(&self) -> Result<String, String> {
        let (arch, sms) = self.target()?;
        Request::parse(
            &self.tile,
            &self.warps,
            &self.stages,
            &self.swizzle,
            &self.raster,
            &sms,
        )?;
        let mut cut = format!("arch={arch}");
        for (name, value) in [
            ("tile", &self.tile),
            ("warps", &self.warps),
            ("stages", &self.stages),
            ("swizzle", &self.swizzle),
            ("raster", &self.raster),
            ("sms", &sms),
        ] {
            if !value.is_empty() {
                cut += &format!(" {name}={value}");
            }
        }
        let mut passes = vec!["cute-check".to_owned(), format!("cute-tile{{{cut}}}")];
        let steps = ON_KERNELS.iter().chain(ON_MODULES);
        passes.extend(steps.map(|step| step.pass.to_owned()));
        passes.push("cute-to-nvvm".to_owned());
        if !self.no_simplify {
            passes.push("cute-simplify-indices".to_owned());
        }
        passes.push("cse".to_owned());
        passes.push(
            "gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},\
             reconcile-unrealized-casts),cute-emit-ptx"
                .to_owned(),
        );
        passes.push(format!("cute-assemble{{lineinfo={}}}", self.lineinfo));
        if !self.package.is_empty() {
            if self.package.contains(['"', '\'', '{', '}']) {
                return Err(format!(
                    "expected a path without quotes and braces, found {}",
                    self.package
                ));
            }
            passes.push(format!("cute-emit-package{{file=\"{}\"}}", self.package));
        }
        Ok(passes.join(","))
    }
}

fn boolean(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("expected {name}=true or false, found '{value}'")),
    }
}

fn build(text: &str) -> Result<String, String> {
    let options = CompileOptions::parse(text).map_err(|e| format!("--cute-compile: {e}"))?;
    // The driver has the module already.
    options.passes().map_err(|e| format!("--cute-compile: {e}"))
}

/// `name=value` pairs, values bare or in quotes.
fn split(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once('=') else {
            return Err(format!("expected name=value, found '{rest}'"));
        };
        let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
        let (value, after) = match quote {
            Some(quote) => after[1..]
                .split_once(quote)
                .ok_or_else(|| format!("expected a closing {quote} in '{after}'"))?,
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        pairs.push((name.trim().to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Ok(pairs)
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
        assert!(error("arch=sm_80 tile=128x128").contains("128x128x32"));
        assert!(error("arch=sm_80 stages=0").contains("positive"));
        assert!(error("arch=sm_80 lineinfo=yes").contains("lineinfo=true or false"));
        assert!(error("arch").contains("name=value"));
        assert!(error("arch=sm_80 package=\"x").contains("closing"));
    }
}

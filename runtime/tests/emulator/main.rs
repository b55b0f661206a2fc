//! Kernels written as PTX, and what running them shows.
//!
//! They ask the emulator as any program does, so that the library is not compiled once more for them.

mod alu;
mod calls;
mod causes;
mod control;
mod control_oracle;
mod declared;
mod definedness;
mod findings;
mod forms;
mod global_oracle;
mod handoff;
mod hopper;
mod mbarrier;
mod memory;
mod opened;
mod own_memory;
mod padding;
mod races_oracle;
mod random;
mod report;
mod robustness;
mod session;
mod sparse;
mod speculation;
mod sync;
mod tilelang;
mod types;
mod video;
mod wide;
mod wmma;

use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::{Config, Emulator, Finding, Kind, Report};
use cute_runtime::package::{Access, Arg, Function, ImageSource, Launch, Package};
use cute_runtime::tensor::{HostTensor, tensor_for};

/// A kernel on tensors of 32-bit integers.
struct Run {
    body: String,
    /// Tells whether the body is the text of a whole module.
    whole: bool,
    /// Layout and access of each tensor.
    args: Vec<(String, Access)>,
    inputs: Vec<Vec<i64>>,
    grid: u32,
    block: u32,
    dynamic_smem: u32,
    limit: u64,
    stops: bool,
}

/// The results of a run.
struct Ran {
    pub report: Report,
    pub tensors: Vec<HostTensor>,
}

/// A kernel with that body, after declarations of registers `%r`, `%s` (64 bits), `%p`, `%h` (16 bits), `%f`.
fn kernel(body: &str) -> Run {
    Run {
        body: body.into(),
        whole: false,
        args: Vec::new(),
        inputs: Vec::new(),
        grid: 1,
        block: 32,
        dynamic_smem: 0,
        limit: 1_000_000,
        stops: false,
    }
}

impl Run {
    /// A tensor of `i32` that is read; its address is `%s90` for the first argument, `%s91` for the second, ...
    fn input(mut self, values: impl IntoIterator<Item = i64>) -> Run {
        let values: Vec<i64> = values.into_iter().collect();
        self.args
            .push((format!("{}:1", values.len()), Access::Read));
        self.inputs.push(values);
        self
    }

    /// A tensor of `count` `i32` that is written.
    fn output(self, count: usize) -> Run {
        self.output_at(&format!("{count}:1"))
    }

    fn output_at(mut self, layout: &str) -> Run {
        self.args.push((layout.into(), Access::Write));
        self.inputs.push(Vec::new());
        self
    }

    /// A tensor that is read and written.
    fn in_out(mut self, values: impl IntoIterator<Item = i64>) -> Run {
        self = self.input(values);
        if let Some(last) = self.args.last_mut() {
            last.1 = Access::ReadWrite;
        }
        self
    }

    fn grid(mut self, blocks: u32) -> Run {
        self.grid = blocks;
        self
    }

    fn block(mut self, threads: u32) -> Run {
        self.block = threads;
        self
    }

    fn smem(mut self, bytes: u32) -> Run {
        self.dynamic_smem = bytes;
        self
    }

    fn limit(mut self, instructions: u64) -> Run {
        self.limit = instructions;
        self
    }

    /// Ends the launch behind the first block with findings.
    fn stopping(mut self) -> Run {
        self.stops = true;
        self
    }

    /// Declares that the text that was given as the body is a module.
    fn module(mut self) -> Run {
        self.whole = true;
        self
    }

    fn text(&self) -> String {
        if self.whole {
            return self.body.clone();
        }
        let params: Vec<String> = (0..self.args.len())
            .map(|i| format!(".param .u64 p{i}"))
            .collect();
        let loads: Vec<String> = (0..self.args.len())
            .map(|i| format!("ld.param.u64 %s9{i}, [p{i}];"))
            .collect();
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n\
             .visible .entry k({})\n{{\n.reg .pred %p<100>; .reg .b32 %r<100>; .reg .b64 %s<100>; .reg .b16 %h<100>; \
             .reg .f32 %f<100>; {}\n{}\n}}\n",
            params.join(", "),
            loads.join(" "),
            self.body
        )
    }

    fn package(&self) -> (Package, Function) {
        let args: Vec<Arg> = self
            .args
            .iter()
            .enumerate()
            .map(|(i, (layout, access))| Arg::Tensor {
                name: format!("T{i}"),
                element: "i32".into(),
                layout: layout.clone(),
                align: 16,
                access: *access,
            })
            .collect();
        let function = Function {
            launches: vec![Launch::fixed(
                "k",
                [self.grid, 1, 1],
                [self.block, 1, 1],
                self.dynamic_smem,
                0..args.len(),
            )],
            ..Function::new("f", args, vec![])
        };
        let image = ImageSource {
            arch: "sm_80".into(),
            cubin: None,
            ptx: Some(self.text()),
            kernels: vec![cute_runtime::package::KernelInfo {
                name: "k".into(),
                ..Default::default()
            }],
        };
        let package = Package::builder("test")
            .function(function.clone())
            .image(image)
            .build();
        (package.unwrap(), function)
    }

    /// Runs it with that seed.
    fn seeded(&self, seed: u64) -> Result<Ran, DeviceError> {
        let (package, function) = self.package();
        let emulator = Emulator::new(Config {
            seed,
            max_instructions: self.limit,
            stop_at_findings: self.stops,
            ..Config::default()
        });
        let mut program = emulator.load(&package, &function)?;
        let mut tensors: Vec<HostTensor> = function
            .args
            .iter()
            .map(|arg| tensor_for(arg).unwrap())
            .collect();
        for (tensor, values) in tensors.iter_mut().zip(&self.inputs) {
            for (i, value) in values.iter().enumerate() {
                tensor.set(i as i64, *value as f64);
            }
        }
        match program.run(&mut tensors) {
            Ok(()) | Err(DeviceError::Findings(_)) => Ok(Ran {
                report: program.report().unwrap().clone(),
                tensors,
            }),
            Err(error) => Err(error),
        }
    }

    fn run(&self) -> Ran {
        self.seeded(0).unwrap()
    }

    /// The reason why it cannot be run.
    fn refused(&self) -> String {
        match self.seeded(0) {
            Ok(_) => panic!("it runs"),
            Err(error) => error.to_string(),
        }
    }
}

impl Ran {
    /// A tensor's elements; the run must be without findings.
    fn clean(&self, tensor: usize) -> Vec<i64> {
        assert_eq!(self.report.findings, [], "{:#?}", self.report.findings);
        self.values(tensor)
    }

    fn values(&self, tensor: usize) -> Vec<i64> {
        let tensor = &self.tensors[tensor];
        (0..tensor.layout().size())
            .map(|i| tensor.get(i).unwrap() as i64)
            .collect()
    }

    /// Kinds of findings with their PTX lines, counted from the first line of the body.
    fn kinds(&self) -> Vec<(Kind, i64)> {
        let line = |finding: &Finding| {
            finding
                .site
                .as_ref()
                .map_or(-1, |site| i64::from(site.ptx_line) - 8)
        };
        self.report
            .findings
            .iter()
            .map(|finding| (finding.kind, line(finding)))
            .collect()
    }
}

//! Hopper's instructions: kernels by hand that take tensor maps, and what running them shows.

mod blocks;
mod bulk;
mod cluster;
mod distributed;
mod gemm;
mod im2col;
mod llvm;
mod made_maps;
mod reductions;
mod tma;
mod wgmma;

use super::Kind;
use cute_runtime::device::DeviceError;
use cute_runtime::emulator::{Argument, Config, Finding, Grid, KernelFacts, Memory, Session};
use cute_runtime::tensor_map::TensorMap;

/// A kernel on tensors of bytes: their addresses are `%s90`, `%s91`, ...; those of tensor maps are `%s80`, `%s81`, ...; `%s0` is that of
/// shared memory.
pub(super) struct Hopper {
    body: String,
    tensors: Vec<(Vec<u8>, Way)>,
    maps: Vec<TensorMap>,
    threads: u32,
    grid: u32,
    smem: u32,
    cluster: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    In,
    Out,
    Both,
}

pub(super) struct Ran {
    pub findings: Vec<Finding>,
    pub tensors: Vec<Vec<u8>>,
}

pub(super) fn hopper(body: &str) -> Hopper {
    Hopper {
        body: body.into(),
        tensors: Vec::new(),
        maps: Vec::new(),
        threads: 32,
        grid: 1,
        smem: 4096,
        cluster: 1,
    }
}

impl Hopper {
    pub(super) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.tensors.push((bytes, Way::In));
        self
    }

    pub(super) fn output(mut self, bytes: usize) -> Self {
        self.tensors.push((vec![0; bytes], Way::Out));
        self
    }

    pub(super) fn in_out(mut self, bytes: Vec<u8>) -> Self {
        self.tensors.push((bytes, Way::Both));
        self
    }

    /// The number of its tensors.
    pub(super) fn tensors(&self) -> usize {
        self.tensors.len()
    }

    /// A map, whose address is the number of its tensor.
    pub(super) fn map(mut self, map: TensorMap) -> Self {
        self.maps.push(map);
        self
    }

    pub(super) fn block(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    pub(super) fn smem(mut self, bytes: u32) -> Self {
        self.smem = bytes;
        self
    }

    /// Clusters of so many blocks, and as many of them as blocks are asked for.
    pub(super) fn cluster(mut self, blocks: u32) -> Self {
        (self.cluster, self.grid) = (blocks, self.grid * blocks);
        self
    }

    fn text(&self) -> String {
        let pointers = (0..self.tensors.len()).map(|i| format!(".param .u64 p{i}"));
        let maps = (0..self.maps.len()).map(|i| format!(".param .align 64 .b8 map{i}[128]"));
        let params: Vec<String> = pointers.chain(maps).collect();
        let pointers = (0..self.tensors.len()).map(|i| format!("ld.param.u64 %s9{i}, [p{i}];"));
        let maps = (0..self.maps.len())
            .map(|i| format!("mov.b64 %s8{i}, map{i}; cvta.param.u64 %s8{i}, %s8{i};"));
        let loads: Vec<String> = pointers.chain(maps).collect();
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n\
             .visible .entry k({})\n{{\n.reg .pred %p<30>; .reg .b32 %r<300>; .reg .b64 %s<100>; .reg .b16 %h<30>; .reg .f32 %f<300>; {} \
             mov.u64 %s0, smem; mov.u32 %r0, %tid.x;\n{}\n}}\n",
            params.join(", "),
            loads.join(" "),
            self.body
        )
    }

    /// The facts of the kernel, or why it cannot be executed.
    pub(super) fn decoded(&self) -> Result<KernelFacts, String> {
        let facts = || {
            let mut session = Session::empty(Config::default())?;
            let module = session.add_module(&self.text())?;
            session.facts(module, "k")
        };
        facts().map_err(|error: DeviceError| error.to_string())
    }

    /// Runs it with that seed.
    pub(super) fn seeded(&self, seed: u64) -> Ran {
        let config = Config {
            seed,
            max_instructions: 2_000_000,
            ..Config::default()
        };
        let mut session = Session::new(&self.text(), config).unwrap();
        let mut tensors = Vec::new();
        for (index, (bytes, way)) in self.tensors.iter().enumerate() {
            let memory = match way {
                Way::In => Memory::holding(bytes).read_only(),
                Way::Out => Memory::uninitialized(bytes.len()),
                Way::Both => Memory::holding(bytes),
            };
            let name = format!("T{index}");
            tensors.push(session.allocate(&name, memory.aligned(16)).unwrap());
        }
        let mut arguments: Vec<Argument> = tensors.iter().map(|&at| at.into()).collect();
        for map in &self.maps {
            let tensor = tensors[map.address as usize];
            arguments.push(Argument::tensor_map(map, tensor).unwrap());
        }
        let grid = Grid {
            cluster: [self.cluster, 1, 1],
            ..Grid::new(self.grid, self.threads).with_shared(self.smem)
        };
        session.launch("k", grid, &arguments).unwrap();
        Ran {
            findings: session.report().findings.clone(),
            tensors: tensors.iter().map(|&at| session.read(at)).collect(),
        }
    }

    /// The contents of a tensor, which are the same with every seed, without a finding.
    pub(super) fn clean(&self, tensor: usize) -> Vec<u8> {
        let mut all: Vec<Vec<u8>> = (0..8)
            .map(|seed| {
                let mut ran = self.seeded(seed);
                assert_eq!(ran.findings, [], "seed {seed}: {:#?}", ran.findings);
                ran.tensors.swap_remove(tensor)
            })
            .collect();
        assert!(all.windows(2).all(|two| two[0] == two[1]));
        all.swap_remove(0)
    }

    /// Kinds of what is found with some seeds, in order.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.found().iter().map(|finding| finding.kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    pub(super) fn found(&self) -> Vec<Finding> {
        (0..8).flat_map(|seed| self.seeded(seed).findings).collect()
    }

    /// Asserts that a finding of that kind says that.
    pub(super) fn finds(&self, kind: Kind, text: &str) {
        let found = self.found();
        let says = |finding: &Finding| finding.kind == kind && finding.message.contains(text);
        assert!(found.iter().any(says), "{found:#?}");
    }
}

pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |part: &[u8]| u32::from_le_bytes([part[0], part[1], part[2], part[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

pub(super) fn bytes_of(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

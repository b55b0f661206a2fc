//! Hopper's instructions: kernels by hand that take tensor maps, and what running them shows.

mod blocks;
mod bulk;
mod cluster;
mod distributed;
mod gemm;
mod im2col;
mod llvm;
mod reductions;
mod tma;
mod wgmma;

use super::super::finding::Finding;
use super::super::global::{Buffer, Global};
use super::super::launch;
use super::super::{address, decode, exec};
use super::Kind;
use crate::tensor_map::TensorMap;

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
    cores: usize,
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
        cores: 1,
    }
}

impl Hopper {
    pub(super) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.tensors.push((bytes, Way::In));
        self
    }

    pub(super) fn output(mut self, bytes: usize) -> Self {
        self.tensors.push((vec![0xaa; bytes], Way::Out));
        self
    }

    pub(super) fn in_out(mut self, bytes: Vec<u8>) -> Self {
        self.tensors.push((bytes, Way::Both));
        self
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

    pub(super) fn decoded(&self) -> Result<super::super::program::Kernel, String> {
        let text = self.text();
        let module = crate::ptx::parse(&text).map_err(|error| error.to_string())?;
        decode::kernel(&module, 0, "k").map_err(|error| error.to_string())
    }

    /// Runs it with that seed.
    pub(super) fn seeded(&self, seed: u64) -> Ran {
        let kernel = self.decoded().unwrap();
        let mut params = Vec::new();
        let mut tensors = Vec::new();
        for (index, (bytes, way)) in self.tensors.iter().enumerate() {
            let base = address::tensor(index, 16);
            let never: &dyn Fn(u64) -> bool = &|_| false;
            let init = (*way == Way::Out).then_some(never);
            let name = format!("T{index}");
            let mut buffer = Buffer::new(name, base, bytes, init, *way != Way::In);
            buffer.start_launch(kernel.global_granule);
            tensors.push(buffer);
            params.extend(base.to_le_bytes());
        }
        for map in &self.maps {
            params.resize(params.len().next_multiple_of(64), 0);
            let mut map = map.clone();
            map.address = address::tensor(map.address as usize, 16);
            params.extend(map.to_emulated().unwrap());
        }
        let global = Global::new(tensors);
        let outcome = launch::run(&exec::Launch {
            kernel: &kernel,
            global: &global,
            params: &params,
            grid: [self.grid, 1, 1],
            block: [self.threads, 1, 1],
            cluster: [self.cluster, 1, 1],
            dynamic_smem: self.smem,
            arch: "sm_90a".parse().unwrap(),
            registers: 0,
            seed,
            limit: 2_000_000,
            cores: self.cores,
        });
        Ran {
            findings: outcome.findings,
            tensors: global.tensors.iter().map(Buffer::contents).collect(),
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

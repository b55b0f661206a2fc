//! Tests of the emulator's counts of whole kernels against hardware counters, and of its results against the hardware's.
//!
//! `kernels/kernels.json` has the launches and what Nsight Compute counted on an H100; `tools/kernel_counters.py` measures it
//! again. `CUTE_KERNELS` names another such table, and `--nocapture` prints both counts of each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::{Config, Counts, Emulator, LaunchReport};
use cute_runtime::ptx::Class;
use cute_runtime::tensor::tensor_for;
use cute_runtime::{Access, Arg, Function, HostTensor, ImageSource, KernelInfo, Launch, Package};
use serde::Deserialize;

#[derive(Deserialize)]
struct Entry {
    ptx: String,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_smem: u32,
    /// Element, layout and access.
    args: Vec<(String, String, Access)>,
    /// A hash of what the hardware left in the last argument.
    left: String,
    counters: BTreeMap<String, u64>,
}

fn table() -> (PathBuf, Vec<Entry>) {
    let path = match std::env::var_os("CUTE_KERNELS") {
        Some(path) => path.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels/kernels.json"),
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let table = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (path, table)
}

impl Entry {
    fn package(&self, ptx: String) -> (Package, Function) {
        let args: Vec<Arg> = self
            .args
            .iter()
            .enumerate()
            .map(|(i, (element, layout, access))| Arg::Tensor {
                name: format!("T{i}"),
                element: element.clone(),
                layout: layout.clone(),
                align: 16,
                access: *access,
            })
            .collect();
        let target = ptx.lines().find_map(|line| line.strip_prefix(".target "));
        let arch = target.and_then(|rest| rest.split([',', ' ']).next());
        let function = Function {
            launches: vec![Launch::fixed(
                &*self.kernel,
                self.grid,
                self.block,
                self.dynamic_smem,
                0..args.len(),
            )],
            ..Function::new("f", args, vec![])
        };
        let image = ImageSource {
            arch: arch.expect("a target").into(),
            cubin: None,
            kernels: vec![KernelInfo {
                name: self.kernel.clone(),
                registers: self.counters["launch__registers_per_thread"] as u32,
                ..KernelInfo::default()
            }],
            ptx: Some(ptx),
        };
        let package = Package::builder("test")
            .function(function.clone())
            .image(image)
            .build();
        (package.unwrap(), function)
    }

    /// Emulates it: the report, and the last argument.
    fn run(&self, ptx: String) -> (LaunchReport, HostTensor) {
        let (package, function) = self.package(ptx);
        let emulator = Emulator::new(Config::default());
        let mut program = emulator.load(&package, &function).unwrap();
        let tensors = function.args.iter().map(|arg| {
            let mut tensor = tensor_for(arg).unwrap();
            let reads = !arg.access().writes();
            for (i, bytes) in tensor.bytes_mut().chunks_exact_mut(4).enumerate() {
                let word = if reads { word(i as u64) } else { 0 };
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            tensor
        });
        let mut tensors: Vec<HostTensor> = tensors.collect();
        match program.run(&mut tensors) {
            Ok(()) => {}
            Err(DeviceError::Findings(findings)) => panic!("{}: {findings:#?}", self.kernel),
            Err(error) => panic!("{}: {error}", self.kernel),
        }
        let report = program.report().unwrap().launches[0].clone();
        (report, tensors.pop().unwrap())
    }
}

/// Word `i` of an argument that is read, as the tool writes it.
fn word(i: u64) -> u32 {
    (((i * 2_654_435_761) >> 7) ^ (i * i)) as u32 & 0x3fff_3fff
}

fn hash(tensor: &HostTensor) -> String {
    let words = tensor.bytes().chunks_exact(4);
    let h = words.fold(0xcbf2_9ce4_8422_2325, |h: u64, bytes| {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        (h ^ u64::from(word)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{h:016x}")
}

/// The emulator's count for a counter; none for one that it says nothing of.
fn counted(report: &LaunchReport, counter: &str) -> Option<u64> {
    let of = |class| report.instructions.get(&class).copied().unwrap_or_default();
    let all = |f: fn(&Counts) -> u64| report.instructions.values().map(f).sum();
    let name = counter.trim_end_matches(".sum");
    let (name, op) = name.split_once("_op_").unwrap_or((name, ""));
    // The hardware counts cp.async among the loads of global memory.
    let global = |f: fn(&Counts) -> u64| match op {
        "ld" => Some(f(&of(Class::GlobalLoad)) + f(&of(Class::AsyncCopy))),
        "st" => Some(f(&of(Class::GlobalStore))),
        "red" => Some(f(&of(Class::Atomic))),
        _ => None,
    };
    match name {
        "memory_l1_wavefronts_shared" => Some(all(|counts| counts.shared.actual)),
        "memory_l1_wavefronts_shared_ideal" => Some(all(|counts| counts.shared.ideal)),
        "memory_l2_theoretical_sectors_global_ideal" => Some(all(|counts| counts.global.ideal)),
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared" => {
            let class = match op {
                "ldsm" => Class::LoadMatrix,
                "st" => Class::SharedStore,
                "ld" => Class::SharedLoad,
                "ldgsts" => Class::AsyncCopy,
                "atom" => Class::Atomic,
                _ => return None,
            };
            Some(of(class).shared.actual)
        }
        "l1tex__t_requests_pipe_lsu_mem_global" => global(|counts| counts.global.requests),
        "l1tex__t_sectors_pipe_lsu_mem_global" => global(|counts| counts.global.sectors),
        _ => None,
    }
}

/// Counts that are bounds: the kernel, the end of the counter's name, and how many times too high the count may be.
/// ptxas makes one access of four of words side by side, one of two to the same word, and of `atom.shared.add` of 1 without
/// use for its result an instruction for which lanes with the same word share a pass.
const BOUNDS: [(&str, &str, u64); 11] = [
    ("side_by_side", "wavefronts_shared", 4),
    ("side_by_side", "shared_op_ld.sum", 4),
    ("side_by_side", "shared_op_st.sum", 4),
    ("read_twice", "wavefronts_shared", 2),
    ("read_twice", "wavefronts_shared_ideal", 2),
    ("read_twice", "shared_op_ld.sum", 2),
    ("read_twice", "requests_pipe_lsu_mem_global_op_ld.sum", 2),
    ("read_twice", "sectors_pipe_lsu_mem_global_op_ld.sum", 2),
    ("read_twice", "theoretical_sectors_global_ideal", 2),
    ("histogram", "wavefronts_shared", 2),
    ("histogram", "shared_op_atom.sum", 2),
];

/// The figures that are off by more than 2 %.
fn deviations(entry: &Entry, report: &LaunchReport) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut known = 0;
    for (counter, &measured) in &entry.counters {
        let Some(counted) = counted(report, counter) else {
            continue;
        };
        known += 1;
        println!(
            "{:20} {:16} {counter:70} {measured:8} {counted:8}",
            entry.ptx, entry.kernel
        );
        let bound = BOUNDS
            .iter()
            .find(|(kernel, end, _)| *kernel == entry.kernel && counter.ends_with(end));
        let good = match bound {
            // Not a bound any more if they agree.
            Some((_, _, times)) => counted > measured && counted <= times * measured,
            None => 100 * counted.abs_diff(measured) <= 2 * measured,
        };
        if !good {
            wrong.push(format!(
                "{} of {}: {counter} is {measured}, counted {counted}",
                entry.kernel, entry.ptx
            ));
        }
    }
    assert_eq!(known, 14, "{}: expected all counters", entry.kernel);
    wrong
}

#[test]
fn kernels_cost_what_the_hardware_counts() {
    let (path, table) = table();
    let mut wrong = Vec::new();
    for entry in &table {
        let text = std::fs::read_to_string(path.with_file_name(&entry.ptx)).unwrap();
        let (report, left) = entry.run(text);
        wrong.extend(deviations(entry, &report));
        // Tensor cores add in an order of their own; integers are the same in any order.
        if entry.args.iter().all(|(element, ..)| element == "i32") {
            assert_eq!(hash(&left), entry.left, "{}: its result", entry.kernel);
        }
        let limits = ["registers", "warps", "blocks"];
        let blocks = limits.map(|what| entry.counters[&format!("launch__occupancy_limit_{what}")]);
        assert_eq!(
            Some(&u64::from(report.occupancy.blocks)),
            blocks.iter().min(),
            "{}: {:?}",
            entry.kernel,
            report.occupancy
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(table.len() >= 13, "{} launches", table.len());
}

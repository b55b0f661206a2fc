//! The chips that kernels are compiled for.
//!
//! Sources: PTX ISA 9.0, "Release Notes", for the version that brought each target; CUDA C++ Programming Guide, "Technical
//! Specifications per Compute Capability", for what a multiprocessor has ([`crate::Multiprocessor`]), and the CUDA 13.0
//! toolkit's `cuda_occupancy.h` where the guide has no column; NVIDIA's whitepapers and data sheets for the number of
//! multiprocessors. A figure that none of them has is the smallest of the chip's family, and the row says so.

use crate::arch::{Arch, Features};

/// A compute capability, and what is known of the GPUs that have it.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// Major and minor version.
    pub capability: (u32, u32),
    /// GPUs with this chip.
    pub gpus: &'static str,
    /// Multiprocessors of the first of these GPUs. Others have more or fewer, so that this serves to rank, where nobody
    /// says how many there are, and for nothing else.
    pub multiprocessors: u32,
    /// The figures that are not from a source, but the smallest of the family.
    pub assumed: &'static [&'static str],
    /// The PTX ISA version that brought each target, as in 80 for 8.0: the plain one, the family's (`f`), the specific
    /// one (`a`); 0 where there is none.
    ptx: [u32; 3],
}

/// The PTX ISA version that everything needs which is emitted for any chip: names of inlined functions in `.loc` (7.2),
/// `movmatrix` and `stmatrix` (7.8), vectors of bf16 (8.0). What needs more says so itself.
pub(crate) const EMITTED: u32 = 80;

const fn chip(
    capability: (u32, u32),
    ptx: [u32; 3],
    (multiprocessors, gpus): (u32, &'static str),
    assumed: &'static [&'static str],
) -> Chip {
    Chip {
        capability,
        gpus,
        multiprocessors,
        assumed,
        ptx,
    }
}

const SMS: &str = "multiprocessors";
const WARPS: &str = "warps";

/// The oldest first.
static CHIPS: &[Chip] = &[
    chip((7, 5), [63, 0, 0], (40, "T4, RTX 20"), &[]),
    chip((8, 0), [70, 0, 0], (108, "A100, A30"), &[]),
    chip((8, 6), [71, 0, 0], (82, "RTX 3090, A40, A10, RTX 30"), &[]),
    chip((8, 7), [74, 0, 0], (16, "Jetson AGX Orin"), &[]),
    chip((8, 8), [90, 0, 0], (16, "none is named"), &[WARPS, SMS]),
    chip((8, 9), [78, 0, 0], (142, "L40S, L4, RTX 40"), &[]),
    chip((9, 0), [78, 0, 80], (132, "H100, H200, GH200"), &[]),
    chip((10, 0), [86, 88, 86], (148, "B200, GB200"), &[]),
    chip((10, 3), [88, 88, 88], (148, "B300, GB300"), &[WARPS, SMS]),
    chip((11, 0), [90, 90, 90], (20, "Jetson AGX Thor"), &[]),
    chip(
        (12, 0),
        [87, 88, 87],
        (170, "RTX 5090, RTX PRO 6000, RTX 50"),
        &[],
    ),
    chip((12, 1), [88, 88, 88], (48, "GB10 (DGX Spark)"), &[WARPS]),
];

impl Chip {
    /// All, the oldest first.
    pub fn all() -> &'static [Chip] {
        CHIPS
    }

    /// The chip of a compute capability.
    pub fn of(capability: (u32, u32)) -> Option<&'static Chip> {
        CHIPS.iter().find(|chip| chip.capability == capability)
    }

    /// Its targets: the plain one, then the family's, then the specific one.
    pub fn archs(&self) -> impl Iterator<Item = Arch> {
        let (major, minor) = self.capability;
        let all = [Features::Baseline, Features::Family, Features::Specific];
        all.into_iter()
            .zip(self.ptx)
            .filter(|(_, ptx)| *ptx > 0)
            .map(move |(features, _)| Arch {
                major,
                minor,
                features,
            })
    }

    /// The PTX ISA version that brought a target of it, as in 80 for 8.0; nothing where there is no such target.
    pub(crate) fn brought_by(&self, features: Features) -> Option<u32> {
        let at = match features {
            Features::Baseline => 0,
            Features::Family => 1,
            Features::Specific => 2,
        };
        Some(self.ptx[at]).filter(|ptx| *ptx > 0)
    }
}

/// The chips as a table in Markdown, as `docs/architectures.md` has it.
pub fn table() -> String {
    let mut text = String::from(
        "| `arch` | GPUs | PTX | shared memory a multiprocessor, a block | threads, warps, blocks a multiprocessor | multiprocessors |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for chip in CHIPS {
        let names: Vec<String> = chip.archs().map(|arch| format!("`{arch}`")).collect();
        let mut versions: Vec<u32> = chip.archs().filter_map(Arch::ptx_version).collect();
        versions.dedup();
        let versions: Vec<String> = versions
            .iter()
            .map(|ptx| format!("{}.{}", ptx / 10, ptx % 10))
            .collect();
        let sm = crate::Multiprocessor::of(chip.capability.0, chip.capability.1);
        // An asterisk, which the page explains.
        let mark = |figure: &str| {
            if chip.assumed.contains(&figure) {
                "\\*"
            } else {
                ""
            }
        };
        text += &format!(
            "| {} | {} | {} | {} KB, {} KB | {}{w}, {}{w}, {} | {}{} |\n",
            names.join(" "),
            chip.gpus,
            versions.join(", "),
            sm.shared_memory / 1024,
            sm.block_shared_memory / 1024,
            sm.warps * crate::WARP,
            sm.warps,
            sm.blocks,
            chip.multiprocessors,
            mark(SMS),
            w = mark(WARPS),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_in_order_and_their_targets_have_names() {
        assert!(
            CHIPS
                .windows(2)
                .all(|pair| pair[0].capability < pair[1].capability)
        );
        let names: Vec<String> = Arch::all().map(|arch| arch.to_string()).collect();
        assert_eq!(
            names.join(" "),
            "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100f sm_100a sm_103 sm_103f sm_103a sm_110 sm_110f \
             sm_110a sm_120 sm_120f sm_120a sm_121 sm_121f sm_121a"
        );
    }

    /// Assumes the least that a chip of the same major version has.
    #[test]
    fn what_is_assumed_is_the_smallest_of_the_family() {
        let family = |chip: &Chip| {
            let major = chip.capability.0;
            CHIPS.iter().filter(move |c| c.capability.0 == major)
        };
        let sm = |chip: &Chip| crate::Multiprocessor::of(chip.capability.0, chip.capability.1);
        for chip in CHIPS {
            for figure in chip.assumed {
                let of = |chip: &Chip| match *figure {
                    "multiprocessors" => chip.multiprocessors,
                    "warps" => sm(chip).warps,
                    other => unreachable!("{other}"),
                };
                let known = family(chip).filter(|c| !c.assumed.contains(figure));
                assert_eq!(
                    known.map(of).min(),
                    Some(of(chip)),
                    "{:?} {figure}",
                    chip.capability
                );
            }
        }
    }

    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../docs/architectures.md");
        assert!(
            page.contains(&table()),
            "docs/architectures.md: expected the table\n{}",
            table()
        );
    }
}

//! Copy atoms.
//!
//! The layouts map (thread, bit) to a bit of the whole copy: bits, so that one atom serves every element width. Sources:
//! PTX ISA, `ldmatrix`, `movmatrix`, `stmatrix`, `cp.async`; CuTe's `copy_traits.hpp`, `copy_traits_sm75.hpp`, `_sm80`, `_sm90`.

use super::execution::{Completion, Issue};
use super::mma::unknown;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use cute_target::{Requirement, Space};

/// The kind of work that a copy atom does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A load or a store, as one side or the other is in registers.
    LoadOrStore,
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Memory to memory.
    Copy,
    /// Registers to registers.
    Move,
    /// Registers into memory, where each element is combined with what is there. Such accesses of one element by several threads
    /// are atomic, and in no order.
    Reduce,
}

impl Form {
    /// Tells whether an atom of this form may have its source in memory.
    pub fn reads_memory(self) -> bool {
        matches!(self, Form::LoadOrStore | Form::Load | Form::Copy)
    }

    /// Tells whether an atom of this form may have its destination in memory.
    pub fn writes_memory(self) -> bool {
        matches!(
            self,
            Form::LoadOrStore | Form::Store | Form::Copy | Form::Reduce
        )
    }
}

/// One copy instruction, for elements of one width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyAtom {
    /// CuTe's name of the operation; `UniversalCopy<N>` for N bits, `SM80_CP_ASYNC_<N>` for N bytes.
    pub name: String,
    /// Threads of the atom to thread index.
    pub thr_id: Layout,
    /// (thread, bit) to bit, as the source is read.
    pub src_bits: Layout,
    /// (thread, bit) to bit, as the destination is written.
    pub dst_bits: Layout,
    /// Tells whether the reference, by which threads and values are counted, is the source; else it is the destination.
    pub ref_is_src: bool,
    /// Width of an element, in bits.
    pub val_bits: i64,
    /// Elements a thread has in the reference.
    pub num_val: i64,
    /// The bytes that addresses in memory must be multiples of; 1 where it touches none.
    pub align: i64,
    /// The kind of work that it does.
    pub form: Form,
    /// The spaces that it copies from and to; none where any that the form allows will do.
    pub spaces: Option<[Space; 2]>,
    /// The way in which threads know that it is done.
    pub completion: Completion,
    /// The threads that issue it together.
    pub issue: Issue,
    /// The architectures that have it.
    pub requires: Requirement,
    /// The architectures on which it is one instruction; on others it is one for each [`PIECE`] bytes.
    pub whole: Requirement,
}

/// The bytes of an instruction of an atom that is not one as a whole.
pub const PIECE: i64 = 4;

/// Facts of an atom beside its layouts.
struct Facts {
    align: i64,
    requires: Requirement,
    whole: Requirement,
    form: Form,
    spaces: Option<[Space; 2]>,
    completion: Completion,
    issue: Issue,
}

impl Facts {
    /// The facts of an instruction that each thread issues and that is done at once.
    fn of_a_thread(form: Form, align: i64, requires: Requirement) -> Facts {
        Facts {
            align,
            requires,
            whole: requires,
            form,
            spaces: None,
            completion: Completion::Immediate,
            issue: Issue::Thread,
        }
    }

    /// The facts of an instruction that a warp issues and that is done at once.
    fn of_a_warp(form: Form, align: i64, requires: Requirement, spaces: [Space; 2]) -> Facts {
        Facts {
            spaces: Some(spaces),
            issue: Issue::Warp,
            ..Facts::of_a_thread(form, align, requires)
        }
    }
}

struct Ldmatrix {
    name: &'static str,
    /// The name of `stmatrix`, which goes the other way.
    store: &'static str,
    src: &'static str,
    dst: &'static str,
}

// Addresses come from lanes 0-7, 0-15 or 0-31; the other lanes' are ignored, hence stride 0.
const LDMATRIX: &[Ldmatrix] = &[
    Ldmatrix {
        name: "SM75_U32x1_LDSM_N",
        store: "SM90_U32x1_STSM_N",
        src: "((8,4),128):((128,0),1)",
        dst: "(32,32):(32,1)",
    },
    Ldmatrix {
        name: "SM75_U32x2_LDSM_N",
        store: "SM90_U32x2_STSM_N",
        src: "((16,2),128):((128,0),1)",
        dst: "(32,(32,2)):(32,(1,1024))",
    },
    Ldmatrix {
        name: "SM75_U32x4_LDSM_N",
        store: "SM90_U32x4_STSM_N",
        src: "(32,128):(128,1)",
        dst: "(32,(32,4)):(32,(1,1024))",
    },
    Ldmatrix {
        name: "SM75_U16x2_LDSM_T",
        store: "SM90_U16x2_STSM_T",
        src: "((8,4),128):((128,0),1)",
        dst: "((4,8),(16,2)):((256,16),(1,128))",
    },
    Ldmatrix {
        name: "SM75_U16x4_LDSM_T",
        store: "SM90_U16x4_STSM_T",
        src: "((16,2),128):((128,0),1)",
        dst: "((4,8),(16,2,2)):((256,16),(1,128,1024))",
    },
    Ldmatrix {
        name: "SM75_U16x8_LDSM_T",
        store: "SM90_U16x8_STSM_T",
        src: "(32,128):(128,1)",
        dst: "((4,8),(16,2,4)):((256,16),(1,128,1024))",
    },
];

/// Addresses of rows of matrices (PTX ISA, ldmatrix: `.m8n8`).
const ROW_BYTES: i64 = 16;

const UNIVERSAL: [&str; 5] = [
    "UniversalCopy<8>",
    "UniversalCopy<16>",
    "UniversalCopy<32>",
    "UniversalCopy<64>",
    "UniversalCopy<128>",
];
const AUTO: &str = "AutoVectorizingCopy";
const CP_ASYNC: [&str; 3] = ["SM80_CP_ASYNC_4", "SM80_CP_ASYNC_8", "SM80_CP_ASYNC_16"];
const MOVMATRIX: &str = "SM75_U32x1_MOVM_T";
const REDUCE: [&str; 3] = ["RED_ADD<32>", "RED_ADD<64>", "RED_ADD<128>"];

impl CopyAtom {
    /// The names that [`CopyAtom::named`] takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        UNIVERSAL
            .into_iter()
            .chain([AUTO])
            .chain(CP_ASYNC)
            .chain(LDMATRIX.iter().map(|r| r.name))
            .chain([MOVMATRIX])
            .chain(REDUCE)
            .chain(LDMATRIX.iter().map(|r| r.store))
    }

    /// The atom of that name for elements of `val_bits`. Errors: no such atom; a width that the atom cannot carry.
    pub fn named(name: &str, val_bits: i64) -> Result<CopyAtom> {
        let matrices = |i: usize| (1 << (i % 3), i >= 3);
        if let Some(i) = LDMATRIX.iter().position(|r| r.name == name) {
            let (num, transposed) = matrices(i);
            return Self::ldmatrix(num, transposed, val_bits);
        }
        if let Some(i) = LDMATRIX.iter().position(|r| r.store == name) {
            let (num, transposed) = matrices(i);
            return Self::stmatrix(num, transposed, val_bits);
        }
        match name {
            "UniversalCopy<8>" => Self::universal(8, val_bits),
            "UniversalCopy<16>" => Self::universal(16, val_bits),
            "UniversalCopy<32>" => Self::universal(32, val_bits),
            "UniversalCopy<64>" => Self::universal(64, val_bits),
            "UniversalCopy<128>" => Self::universal(128, val_bits),
            AUTO => Self::auto_vectorizing(val_bits),
            "SM80_CP_ASYNC_4" => Self::cp_async(4, val_bits),
            "SM80_CP_ASYNC_8" => Self::cp_async(8, val_bits),
            "SM80_CP_ASYNC_16" => Self::cp_async(16, val_bits),
            MOVMATRIX => Self::movmatrix(val_bits),
            "RED_ADD<32>" => Self::reduce_add(32, val_bits, false),
            "RED_ADD<64>" => Self::reduce_add(64, val_bits, false),
            "RED_ADD<128>" => Self::reduce_add(128, val_bits, false),
            _ => Err(unknown("a copy atom", name, Self::names())),
        }
    }

    /// A load and a store of `bits` by one thread: 8, 16, 32, 64 or 128.
    pub fn universal(bits: i64, val_bits: i64) -> Result<CopyAtom> {
        Self::check_width("UniversalCopy", bits, &[8, 16, 32, 64, 128], "bits")?;
        Self::by_threads(
            &format!("UniversalCopy<{bits}>"),
            bits,
            val_bits,
            Facts::of_a_thread(Form::LoadOrStore, bits / 8, Requirement::Since(5, 0)),
        )
    }

    /// One element of a thread, of which as many are moved at once as both sides have next to each other, and aligned: what
    /// is moved at once is a [`CopyAtom::universal`].
    pub fn auto_vectorizing(val_bits: i64) -> Result<CopyAtom> {
        Self::check_width(
            "AutoVectorizingCopy",
            val_bits,
            &[8, 16, 32, 64, 128],
            "bits an element",
        )?;
        Ok(CopyAtom {
            name: AUTO.to_owned(),
            ..Self::universal(val_bits, val_bits)?
        })
    }

    /// `cp.async` of 4, 8 or 16 bytes from global to shared memory. 16 may bypass L1 (`.cg`), which changes nothing here.
    pub fn cp_async(bytes: i64, val_bits: i64) -> Result<CopyAtom> {
        Self::check_width("cp.async", bytes, &[4, 8, 16], "bytes")?;
        Self::by_threads(
            &format!("SM80_CP_ASYNC_{bytes}"),
            bytes * 8,
            val_bits,
            Facts {
                spaces: Some([Space::Gmem, Space::Smem]),
                completion: Completion::Group,
                ..Facts::of_a_thread(Form::Copy, bytes, Requirement::Since(8, 0))
            },
        )
    }

    /// `red.global.add` of `bits` bits by one thread: 32, 64 or 128, of f32, f16 or bf16. (PTX ISA, `red`.)
    ///
    /// An f32 and two f16 are one instruction everywhere; wider ones are one on sm_90, and several before. bf16 has been there since
    /// sm_90.
    pub fn reduce_add(bits: i64, val_bits: i64, is_bf16: bool) -> Result<CopyAtom> {
        Self::check_width("red.add", bits, &[32, 64, 128], "bits")?;
        Self::check_width("red.add", val_bits, &[16, 32], "bits an element")?;
        let since = match is_bf16 {
            true => Requirement::Since(9, 0),
            false => Requirement::Since(6, 0),
        };
        Self::by_threads(
            &format!("RED_ADD<{bits}>"),
            bits,
            val_bits,
            Facts {
                spaces: Some([Space::Rmem, Space::Gmem]),
                whole: if bits == 32 {
                    since
                } else {
                    Requirement::Since(9, 0)
                },
                ..Facts::of_a_thread(Form::Reduce, bits / 8, since)
            },
        )
    }

    /// `ldmatrix` of 1, 2 or 4 matrices of 8 rows of 16 bytes, plain or transposed.
    pub fn ldmatrix(num: i64, transposed: bool, val_bits: i64) -> Result<CopyAtom> {
        Self::check_width("ldmatrix", num, &[1, 2, 4], "matrices")?;
        let at = num.trailing_zeros() as usize + if transposed { 3 } else { 0 };
        let r = &LDMATRIX[at];
        Self::build(
            r.name,
            "32:1",
            r.src,
            r.dst,
            false,
            val_bits,
            Facts::of_a_warp(
                Form::Load,
                ROW_BYTES,
                Requirement::Since(7, 5),
                [Space::Smem, Space::Rmem],
            ),
        )
    }

    /// `stmatrix`, the way back of [`CopyAtom::ldmatrix`].
    pub fn stmatrix(num: i64, transposed: bool, val_bits: i64) -> Result<CopyAtom> {
        Self::check_width("stmatrix", num, &[1, 2, 4], "matrices")?;
        let at = num.trailing_zeros() as usize + if transposed { 3 } else { 0 };
        let r = &LDMATRIX[at];
        Self::build(
            r.store,
            "32:1",
            r.dst,
            r.src,
            true,
            val_bits,
            Facts::of_a_warp(
                Form::Store,
                ROW_BYTES,
                Requirement::Since(9, 0),
                [Space::Rmem, Space::Smem],
            ),
        )
    }

    /// `movmatrix`: an 8x8 matrix of 16-bit elements in registers, transposed into registers.
    ///
    /// Both layouts are on one matrix, so that the destination's is that of a transposed `ldmatrix`. CuTe's traits have the
    /// source's on both sides: there the instruction is told of as moving registers, and who calls it renames the elements.
    pub fn movmatrix(val_bits: i64) -> Result<CopyAtom> {
        Self::check_width("movmatrix", val_bits, &[8, 16], "bits an element")?;
        let (plain, transposed) = (&LDMATRIX[0], &LDMATRIX[3]);
        Self::build(
            MOVMATRIX,
            "32:1",
            plain.dst,
            transposed.dst,
            false,
            val_bits,
            Facts::of_a_warp(
                Form::Move,
                1,
                Requirement::Since(7, 5),
                [Space::Rmem, Space::Rmem],
            ),
        )
    }

    /// Tells whether it moves as many elements at once as both sides allow, which the tensors decide.
    pub fn is_auto_vectorizing(&self) -> bool {
        self.name == AUTO
    }

    /// Tells whether each thread that takes part gives the address of a row of a matrix, and not of its own values.
    pub fn is_by_rows(&self) -> bool {
        self.issue == Issue::Warp && self.form != Form::Move
    }

    fn check_width(op: &'static str, found: i64, allowed: &[i64], unit: &str) -> Result<()> {
        if allowed.contains(&found) {
            return Ok(());
        }
        Err(LayoutError::Divisibility {
            op,
            expected: format!("one of {allowed:?} {unit}"),
            found: found.to_string(),
            cure: "split the copy into widths that the instruction has".to_string(),
        })
    }

    /// An atom that moves `bits` bits of each thread by itself, which lie side by side.
    fn by_threads(name: &str, bits: i64, val_bits: i64, facts: Facts) -> Result<CopyAtom> {
        let tv = format!("(1,{bits}):(0,1)");
        Self::build(name, "1:0", &tv, &tv, true, val_bits, facts)
    }

    fn build(
        name: &str,
        thr: &str,
        src: &str,
        dst: &str,
        ref_is_src: bool,
        val_bits: i64,
        facts: Facts,
    ) -> Result<CopyAtom> {
        let mut atom = CopyAtom {
            name: name.to_string(),
            thr_id: Layout::parse(thr)?,
            src_bits: Layout::parse(src)?,
            dst_bits: Layout::parse(dst)?,
            ref_is_src,
            val_bits,
            num_val: 0,
            align: facts.align,
            form: facts.form,
            spaces: facts.spaces,
            completion: facts.completion,
            issue: facts.issue,
            requires: facts.requires,
            whole: facts.whole,
        };
        let threads = atom.thr_id.size()?;
        for side in [atom.src_tv(), atom.dst_tv()] {
            let fits = side
                .as_ref()
                .is_ok_and(|l| l.mode(0).and_then(|m| m.size()) == Ok(threads));
            if !fits {
                return Err(LayoutError::Divisibility {
                    op: "copy atom",
                    expected: format!("elements that {name} moves whole"),
                    found: format!("elements of {val_bits} bits"),
                    cure: "choose a wider copy, or the untransposed load for wider elements"
                        .to_string(),
                });
            }
        }
        atom.num_val = atom.ref_tv()?.mode(1)?.size()?;
        Ok(atom)
    }

    /// (thread, value) to element, of the source.
    pub fn src_tv(&self) -> Result<Layout> {
        self.src_bits.recast(1, self.val_bits)
    }

    /// (thread, value) to element, of the destination.
    pub fn dst_tv(&self) -> Result<Layout> {
        self.dst_bits.recast(1, self.val_bits)
    }

    /// (thread, value) to element, of the reference.
    pub fn ref_tv(&self) -> Result<Layout> {
        if self.ref_is_src {
            self.src_tv()
        } else {
            self.dst_tv()
        }
    }

    /// Elements that a thread reads.
    pub fn num_val_src(&self) -> Result<i64> {
        self.src_tv()?.mode(1)?.size()
    }

    /// Elements that a thread writes.
    pub fn num_val_dst(&self) -> Result<i64> {
        self.dst_tv()?.mode(1)?.size()
    }

    /// Threads that take part.
    pub fn num_threads(&self) -> Result<i64> {
        self.thr_id.size()
    }
}

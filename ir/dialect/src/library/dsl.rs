//! Ops as CuTe DSL prints them whose names MLIR does not know: those of NVIDIA's own NVVM dialect, and calls of atoms. What they are here, and what stands in place of
//! those that are not read.

use std::borrow::Cow;

/// Returns a text with those ops of it spelt as they are spelt here. Each stands on lines as before; what is not of their form is left as it is.
pub fn respelled(text: &str) -> Cow<'_, str> {
    if !NAMES.iter().any(|name| text.contains(name)) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        let indent = body.len() - body.trim_start().len();
        let statement = Statement::of(body.trim()).and_then(|found| found.here(number + 1));
        match statement {
            Some(here) => {
                result += &body[..indent];
                result += &here;
            }
            None => result += body,
        }
        result += end;
    }
    Cow::Owned(result)
}

/// The ops that [`respelled`] knows.
const NAMES: [&str; 10] = [
    "nvvm.mbarrier.init.shared",
    "nvvm.mbarrier.txn",
    "nvvm.mbarrier.try_wait.parity.shared",
    "nvvm.mbarrier.wait.parity",
    "nvvm.cp.async.mbarrier.arrive.shared",
    "nvvm.mapa.shared.cluster",
    "\"nvvm.barrier\"",
    "\"nvvm.fence.mbarrier.init\"",
    "\"cute.make_layout\"",
    "_atom_call",
];

/// An op on a line of its own, in its pretty form, `%r = name %a, %b {...} : T, T -> R`, or in the generic one, `%r = "name"(%a, %b) <{...}> : (T, T) -> R`.
struct Statement<'t> {
    /// The results with the `=` behind them; empty where there are none.
    results: &'t str,
    name: &'t str,
    operands: Vec<&'t str>,
    /// The attributes without brackets; empty where there are none.
    attributes: &'t str,
    /// The types of the operands.
    types: Vec<&'t str>,
    /// The whole of it from behind the name on.
    rest: &'t str,
}

impl<'t> Statement<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let (results, rest) = match line.strip_prefix('%').and_then(|_| line.find(" = ")) {
            Some(at) => line.split_at(at + 3),
            None => ("", line),
        };
        let generic = rest.strip_prefix('"');
        let start = generic.unwrap_or(rest);
        let end = start.find(|c: char| !(c.is_alphanumeric() || "._".contains(c)));
        let (name, rest) = start.split_at(end.unwrap_or(start.len()));
        let rest = match generic {
            Some(_) => rest.strip_prefix('"')?,
            None => rest,
        };
        let (head, types) = match rest.split_once(" : ") {
            Some((head, types)) => (head, types),
            None => (rest, ""),
        };
        let (operands, attributes) = match head.find('{') {
            Some(at) => (
                head[..at].trim_end_matches('<'),
                head[at + 1..].rsplit_once('}')?.0,
            ),
            None => (head, ""),
        };
        let types = types.split_once("->").map_or(types, |(types, _)| types);
        Some(Self {
            results,
            name,
            operands: listed(operands),
            attributes,
            types: listed(types),
            rest,
        })
    }

    /// Tells whether an attribute is one of `#nvvm.mbar_...<...>` with that value; `default` where it is not written.
    fn is(&self, attribute: &str, value: &str, default: bool) -> bool {
        match self.attributes.split_once(&format!("{attribute}<")) {
            Some((_, rest)) => rest.split('>').next() == Some(value),
            None => default,
        }
    }

    /// The op as it is spelt here; nothing where it is another one, or of another form. What needs a name of its own is called by the number of the line.
    fn here(&self, line: usize) -> Option<String> {
        let (results, operands) = (self.results, self.operands.join(", "));
        let ty = self.types.first().copied().unwrap_or_default();
        let same = self.types.len() == self.operands.len();
        let counted = |count: usize| (same && self.operands.len() == count).then_some(());
        Some(match self.name {
            "cute.copy_atom_call" => format!("{results}cute.copy{}", self.call()?),
            "cute.mma_atom_call" => format!("{results}cute.gemm{}", self.call()?),
            "nvvm.mbarrier.init.shared" => {
                counted(2)?;
                format!("cute_nvgpu.mbarrier_init {operands} : {ty}")
            }
            "nvvm.mbarrier.txn" => {
                counted(2)?;
                let own = self.is("mbar_space", "cta", true);
                let kind = |name| self.is("mbar_txn_kind", name, false);
                if kind("arrive") && own {
                    format!(
                        "%arrived_of_line_{line} = nvvm.mbarrier.arrive {operands} : {ty} -> i64"
                    )
                } else if kind("arrive") && self.is("mbar_space", "cluster", false) {
                    format!("nvvm.mbarrier.arrive {operands} : !llvm.ptr<7>")
                } else if kind("arrive_expect_tx") && own {
                    format!("cute_nvgpu.mbarrier_arrive_and_expect_tx {operands} : {ty}")
                } else if kind("expect_tx") && own {
                    format!("cute_nvgpu.mbarrier_expect_tx {operands} : {ty}")
                } else {
                    return None;
                }
            }
            // The third operand is how long an attempt may sleep: the op goes on until one succeeds.
            "nvvm.mbarrier.try_wait.parity.shared" => {
                counted(3)?;
                format!(
                    "cute_nvgpu.mbarrier_wait {} : {ty}",
                    self.operands[..2].join(", ")
                )
            }
            "nvvm.mbarrier.wait.parity" if self.is("mbar_wait", "try", false) => {
                counted(2)?;
                format!("{results}cute_nvgpu.mbarrier_try_wait {operands} : {ty}")
            }
            "nvvm.cp.async.mbarrier.arrive.shared" => {
                counted(1)?;
                let noinc = match self.attributes.contains("noinc = true") {
                    true => " noinc",
                    false => "",
                };
                format!("cute_nvgpu.cp_async_mbarrier_arrive {operands}{noinc} : {ty}")
            }
            "nvvm.mapa.shared.cluster" => {
                counted(2)?;
                format!("{results}nvvm.mapa {operands} : !llvm.ptr<3> -> !llvm.ptr<7>")
            }
            // MLIR's has a third operand, which is not there.
            "nvvm.barrier" if self.is_generic() => {
                let given = ["0, 0", "1, 0", "1, 1"].into_iter().find(|given| {
                    let found = self.attributes.trim();
                    found == format!("operandSegmentSizes = array<i32: {given}>")
                })?;
                let rest = self.rest.replacen(given, &format!("{given}, 0"), 1);
                format!("\"nvvm.barrier\"{rest}")
            }
            // It has no attributes here, as the next one.
            "cute.make_layout" if self.is_generic() && !self.attributes.is_empty() => {
                let known = self
                    .attributes
                    .starts_with("operandSegmentSizes = array<i32: 1, ");
                let attributes = format!(" <{{{}}}>", self.attributes);
                let rest = known.then(|| self.rest.replacen(&attributes, "", 1))?;
                format!("{results}\"cute.make_layout\"{rest}")
            }
            "nvvm.fence.mbarrier.init" if self.is_generic() && !self.attributes.is_empty() => {
                "\"nvvm.fence.mbarrier.init\"() : () -> ()".to_owned()
            }
            _ => return None,
        })
    }

    fn is_generic(&self) -> bool {
        self.rest.starts_with('(')
    }

    /// The text behind the name of an op of an atom on tensors: the same as behind that of one on several atoms, which has no results.
    fn call(&self) -> Option<&str> {
        let rest = self.rest.strip_suffix(" -> ()");
        (self.results.is_empty() && self.is_generic()).then(|| rest.unwrap_or(self.rest))
    }
}

/// The entries of a list, with or without brackets around it; commas within brackets of an entry's own part nothing.
fn listed(text: &str) -> Vec<&str> {
    let text = text.trim();
    let text = match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) => inner,
        None => text,
    };
    let (mut depth, mut start, mut found) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

/// The text that says what to write in place of an op, a type or an attribute of CuTe DSL that is not read; nothing of other names.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    let begins = |(begin, _): &&(&str, _)| name.starts_with(begin);
    INSTEAD.iter().find(begins).map(|(_, cure)| *cure)
}

/// The beginnings of names, the longer one first, and what to write.
const INSTEAD: &[(&str, &str)] = &[
    (
        "nvvm.mbarrier.",
        "it is read on a line of its own, with its kind in its attributes, as CuTe DSL prints it; here it is cute_nvgpu.mbarrier_init, \
         mbarrier_arrive_and_expect_tx, mbarrier_wait or one of their like, on %bars[%i] or on a pointer",
    ),
    (
        "mbar_",
        "it is read as part of an nvvm.mbarrier.txn or nvvm.mbarrier.wait.parity on a line of its own; here the op's name says it: \
         cute_nvgpu.mbarrier_arrive_and_expect_tx, mbarrier_try_wait and their like",
    ),
    (
        "cute_nvgpu.arch.copy.SM100.tma_",
        "CuTe DSL lowers copies to it: give the IR before its pass CuteExpandOps, or write cute_nvgpu.tma_load(%atom, [%c0, %c1], %tile) on %bars[%i], \
         or cute_nvgpu.tma_store",
    ),
    (
        "cute_nvgpu.arch.copy.",
        "CuTe DSL lowers copies to it: give the IR before its pass CuteExpandOps, or write cute.copy of a tiled copy, as of atom.stsm or atom.ldsm",
    ),
    (
        "cute_nvgpu.arch.mma.",
        "CuTe DSL lowers products to it: give the IR before its pass CuteExpandOps, or write cute.gemm(%mma, %d, %a, %b, %d)",
    ),
    (
        "cute_nvgpu.get_tma_desc_addr",
        "a kernel's atom is its tensor map: write cute_nvgpu.tma_load, tma_store or prefetch_tma_desc of the atom",
    ),
    (
        "cute_nvgpu.tma_descriptor",
        "the launch makes tensor maps: write cute_nvgpu.atom.make_tma_load or make_tma_store in the function that launches, and pass the atom",
    ),
    (
        "cute_nvgpu.atom_copy_field_non_exec",
        "the launch fills tensor maps: write cute_nvgpu.atom.make_tma_load or make_tma_store, and pass the atom",
    ),
    (
        "cute_nvgpu.arch.sm100.",
        "there is no tensor memory here: products of warpgroups are those of !cute_nvgpu.sm90.mma, of warps those of !cute_nvgpu.sm80.mma",
    ),
    (
        "cute_nvgpu.make_umma_smem_desc",
        "there are no products of SM100 here: descriptors of SM90's are made by cute_nvgpu.make_gmma_smem_desc",
    ),
    (
        "nvvm.tcgen05.",
        "there is no tensor memory here: products of warpgroups are those of !cute_nvgpu.sm90.mma",
    ),
    (
        "cuda.kernel",
        "write the kernel as gpu.func @name(...) kernel in a gpu.module, and threads of a block as known_block_size",
    ),
    (
        "cuda.launch",
        "write gpu.launch_func @module::@kernel, with blocks in, threads in, clusters in and dynamic_shared_memory_size, or cute.launch",
    ),
    (
        "cuda.",
        "the host's side of a launch is a func.func with gpu.launch_func or cute.launch here",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(there: &str, here: &str) {
        assert_eq!(respelled(there), here);
    }

    #[test]
    fn barriers_are_read_in_both_forms() {
        reads(
            "  nvvm.mbarrier.init.shared %1, %c : !llvm.ptr<3>, i32\n",
            "  cute_nvgpu.mbarrier_init %1, %c : !llvm.ptr<3>\n",
        );
        reads(
            "\"nvvm.mbarrier.init.shared\"(%1, %c) : (!llvm.ptr<3>, i32) -> ()",
            "cute_nvgpu.mbarrier_init %1, %c : !llvm.ptr<3>",
        );
        reads(
            "nvvm.mbarrier.txn %1, %n {kind = #nvvm.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32",
            "cute_nvgpu.mbarrier_arrive_and_expect_tx %1, %n : !llvm.ptr<3>",
        );
        reads(
            "\n\"nvvm.mbarrier.txn\"(%1, %n) <{kind = #nvvm.mbar_txn_kind<arrive>, scope = #nvvm.mbar_scope<cta>, space = #nvvm.mbar_space<cta>}> : (!llvm.ptr<3>, i32) -> ()",
            "\n%arrived_of_line_2 = nvvm.mbarrier.arrive %1, %n : !llvm.ptr<3> -> i64",
        );
        reads(
            "nvvm.mbarrier.txn %1, %n {kind = #nvvm.mbar_txn_kind<arrive>, space = #nvvm.mbar_space<cluster>} : !llvm.ptr<3>, i32",
            "nvvm.mbarrier.arrive %1, %n : !llvm.ptr<7>",
        );
        reads(
            "\"nvvm.mbarrier.try_wait.parity.shared\"(%1, %p, %t) <{useIntrinsic = false}> : (!llvm.ptr<3>, i32, i32) -> ()",
            "cute_nvgpu.mbarrier_wait %1, %p : !llvm.ptr<3>",
        );
        reads(
            "%7 = nvvm.mbarrier.wait.parity %1, %p {kind = #nvvm.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1",
            "%7 = cute_nvgpu.mbarrier_try_wait %1, %p : !llvm.ptr<3>",
        );
        reads(
            "nvvm.cp.async.mbarrier.arrive.shared %1 {noinc = true} : !llvm.ptr<3>",
            "cute_nvgpu.cp_async_mbarrier_arrive %1 noinc : !llvm.ptr<3>",
        );
        reads(
            "%2 = nvvm.mapa.shared.cluster %1, %r : !llvm.ptr<3>, i32 -> <3>",
            "%2 = nvvm.mapa %1, %r : !llvm.ptr<3> -> !llvm.ptr<7>",
        );
    }

    #[test]
    fn attributes_that_mlir_has_not_are_left_out() {
        reads(
            "\"nvvm.barrier\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()",
            "\"nvvm.barrier\"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()",
        );
        reads(
            "\"nvvm.barrier\"(%0, %1) <{operandSegmentSizes = array<i32: 1, 1>}> : (i32, i32) -> ()",
            "\"nvvm.barrier\"(%0, %1) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()",
        );
        reads(
            "\"nvvm.fence.mbarrier.init\"() <{useIntrinsic = false}> : () -> ()",
            "\"nvvm.fence.mbarrier.init\"() : () -> ()",
        );
    }

    #[test]
    fn segments_of_layouts_are_left_out() {
        reads(
            "%2 = \"cute.make_layout\"(%0, %1) <{operandSegmentSizes = array<i32: 1, 1>}> : (!s, !d) -> !l",
            "%2 = \"cute.make_layout\"(%0, %1) : (!s, !d) -> !l",
        );
        let plain = "%2 = \"cute.make_layout\"(%0) : (!s) -> !l";
        reads(plain, plain);
    }

    #[test]
    fn calls_of_atoms_are_copies_and_products() {
        reads(
            "cute.copy_atom_call(%a, %s, %d) : (!a, !s, !cute.memref<f16, smem, \"(8,1):(1,0)\">) -> ()",
            "cute.copy(%a, %s, %d) : (!a, !s, !cute.memref<f16, smem, \"(8,1):(1,0)\">)",
        );
        reads(
            "\"cute.mma_atom_call\"(%m, %d, %a, %b, %c) : (!m, !d, !a, !b, !c) -> ()",
            "cute.gemm(%m, %d, %a, %b, %c) : (!m, !d, !a, !b, !c)",
        );
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "// nvvm.mbarrier.txn %1, %n {kind = #nvvm.mbar_txn_kind<arrive>} : !llvm.ptr<3>, i32\n",
            "nvvm.mbarrier.txn %1, %n {kind = #nvvm.mbar_txn_kind<drop>} : !llvm.ptr<3>, i32",
            "nvvm.mbarrier.txn %1 : !llvm.ptr<3>",
            "nvvm.mbarrier.init.shared %1, %c, %d : !llvm.ptr<3>, i32, i1",
            "cute.print(\"nvvm.mbarrier.txn\") :",
            "",
            "nvvm.mbarrier.txn",
            "\"nvvm.barrier\"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()",
            "\"nvvm.fence.mbarrier.init\"() : () -> ()",
            "\"nvvm.mbarrier.txn\"(",
            "x_atom_call(",
        ] {
            reads(text, text);
        }
    }

    #[test]
    fn what_is_not_read_has_something_in_its_place() {
        assert!(instead("cuda.return").is_some_and(|cure| cure.contains("gpu.launch_func")));
        assert!(instead("cute_nvgpu.arch.mma.SM90").is_some_and(|cure| cure.contains("cute.gemm")));
        assert_eq!(instead("cute.copy"), None);
    }
}

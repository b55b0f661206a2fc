//! Every atom of the tables that is lowered runs alone in a kernel of its own, on the emulator: the table places each element
//! of its operands, and the result is exact.
//!
//! One module has the kernels of an architecture, and one function launches them all. With `CUTE_ATOMS_OUT=folder`, the
//! packages, their arguments and what must come out are written there, for a GPU: `sh folder/run.sh cute-run`.

#[path = "../common/mod.rs"]
mod common;
mod copies;
mod kernel;
mod products;
mod run;

use cute_target::Chip;
use kernel::{Case, Module};
use std::path::PathBuf;

/// The folder that packages for a GPU go to, if any.
fn out() -> Option<PathBuf> {
    std::env::var_os("CUTE_ATOMS_OUT").map(PathBuf::from)
}

/// Compiles the cases for an architecture, runs them with several seeds, and compares every element.
fn check(name: &str, arch: &str, cases: &[Case]) {
    let module = Module::of(arch, cases);
    for seed in 0..2 {
        let wrong = run::failures(&module, cases, seed);
        assert!(wrong.is_empty(), "{arch}: {}", wrong.join("\n"));
    }
    if let Some(folder) = out() {
        run::write(&folder.join(name), &module, cases);
    }
}

#[test]
fn products_of_sm80_are_exact() {
    let cases = products::all("sm_80");
    assert!(cases.len() >= 50, "{} products", cases.len());
    check("products-80", "sm_80", &cases);
}

#[test]
fn products_of_sm89_are_exact() {
    let cases = products::all("sm_89");
    assert!(cases.len() >= 58, "{} products", cases.len());
    check("products-89", "sm_89", &cases);
}

#[test]
fn products_of_sm90_are_exact() {
    let cases = products::all("sm_90a");
    assert!(cases.len() >= 61, "{} products", cases.len());
    check("products-90", "sm_90a", &cases);
}

/// An instruction that exists since an architecture is on every later one: LLVM selects it, and ptxas takes it.
#[test]
fn every_chip_has_what_the_tables_say() {
    for chip in Chip::all() {
        let Some(arch) = chip.archs().last().map(|arch| arch.to_string()) else {
            unreachable!("a chip has an architecture");
        };
        let cases: Vec<Case> = products::all(&arch)
            .into_iter()
            .chain(copies::all(&arch))
            .collect();
        assert!(cases.len() >= 40, "{arch}: {} cases", cases.len());
        let cubins = Module::assembled(&arch, &cases);
        assert!(cubins.is_ok(), "{arch}: {:?}", cubins.err());
    }
}

#[test]
fn copies_of_sm80_move_every_element() {
    let cases = copies::all("sm_80");
    assert!(cases.len() >= 30, "{} copies", cases.len());
    check("copies-80", "sm_80", &cases);
}

#[test]
fn copies_of_sm90_move_every_element() {
    let cases = copies::all("sm_90a");
    assert!(cases.len() >= 36, "{} copies", cases.len());
    check("copies-90", "sm_90a", &cases);
}

/// A table in which two strides have changed places gives other results: the checks can fail.
#[test]
fn a_wrong_table_is_found() {
    let cases: Vec<Case> = products::mutants()
        .into_iter()
        .chain(copies::mutants())
        .collect();
    assert!(cases.len() >= 8, "{} mutants", cases.len());
    for case in cases {
        let name = case.name.clone();
        let one = [case];
        let module = Module::of("sm_90a", &one);
        let wrong = run::failures(&module, &one, 0);
        assert!(!wrong.is_empty(), "{name} with a wrong table is not found");
    }
}

#[test]
fn what_an_architecture_has_not_is_an_error() {
    let late: Vec<Case> = products::all("sm_90a")
        .into_iter()
        .filter(|case| case.name.contains("SM90_16x8x4_F64"))
        .collect();
    let error = Module::compile("sm_80", &late).err().unwrap_or_default();
    assert!(
        error.contains("SM90_16x8x4_F64F64F64F64_TN, which exists on sm_90 and later; the kernel is compiled for sm_80"),
        "{error}"
    );
}

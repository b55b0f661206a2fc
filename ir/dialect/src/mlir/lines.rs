//! Lines that LLVM carries through its passes.

use super::{Op, changes, string_of};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, attribute::StringAttribute},
};
use mlir_sys::*;
use std::ptr;

/// The only file that LLVM is told of.
const FILE: &str = "places";
/// DWARF's DW_LANG_C.
const LANGUAGE: u32 = 2;
/// Definition and optimised (LLVM's DISPFlags).
const DEFINITION: u64 = 1 << 3 | 1 << 4;

/// The debug information that LLVM wants of functions before it looks at the lines of their instructions: one file, whose lines
/// are numbers that mean something to the caller.
pub struct Lines<'c> {
    context: &'c Context,
    file: MlirAttribute,
    unit: MlirAttribute,
    ty: MlirAttribute,
    version: MlirAttribute,
}

impl<'c> Lines<'c> {
    /// The name of the file.
    pub const FILE: &'static str = FILE;

    /// Debug information of directives alone.
    pub fn new(context: &'c Context) -> Self {
        let string = |text: &str| Attribute::from(StringAttribute::new(context, text)).to_raw();
        let raw = context.to_raw();
        // SAFETY: every attribute is of this context.
        unsafe {
            let version = mlirUnitAttrGet(raw);
            let file = mlirLLVMDIFileAttrGet(raw, string(FILE), string(""));
            let unit = mlirLLVMDICompileUnitAttrGet(
                raw,
                mlirDisctinctAttrCreate(version),
                LANGUAGE,
                file,
                string("cute-opt"),
                true,
                MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindDebugDirectivesOnly,
                MlirLLVMDINameTableKind_MlirLLVMDINameTableKindDefault,
                string(""),
            );
            let ty = mlirLLVMDISubroutineTypeAttrGet(raw, 0, 0, ptr::null());
            Self {
                context,
                file,
                unit,
                ty,
                version,
            }
        }
    }

    /// The location of a line.
    pub fn line(&self, number: u32) -> Location<'c> {
        Location::new(self.context, FILE, number as usize, 0)
    }

    /// Makes a function one that has lines, and is at `line` itself.
    pub fn set(&self, function: Op<'c>, line: u32) {
        changes::count();
        let raw = self.context.to_raw();
        let name = string_of(function, "sym_name").unwrap_or_default();
        let name = Attribute::from(StringAttribute::new(self.context, name)).to_raw();
        // SAFETY: every attribute is of this context; lists that are null are empty.
        unsafe {
            let scope = mlirLLVMDISubprogramAttrGet(
                raw,
                MlirAttribute { ptr: ptr::null() },
                false,
                mlirDisctinctAttrCreate(self.version),
                self.unit,
                self.file,
                name,
                name,
                self.file,
                line,
                line,
                DEFINITION,
                self.ty,
                0,
                ptr::null(),
                0,
                ptr::null(),
            );
            let at = self.line(line).to_raw();
            let fused = mlirLocationFusedGet(raw, 1, &at, scope);
            mlirOperationSetLocation(function.to_raw(), fused);
        }
    }
}

//! `cute-to-nvvm`: from atoms on views to instructions on addresses.
//!
//! A view becomes a base pointer and a byte offset: what depends on the thread, the block or a
//! loop as integer operations that its layouts spell out, and a constant. Each atom adds its
//! place, swizzles the sum, and becomes the instruction of its table (`atoms.rs`), a file an architecture. The
//! arithmetic is left as the layouts give it; `cute-simplify-indices` comes next.

mod address;
mod atoms;
mod mma_sync;
mod registers;
mod sm75;
mod sm80;
mod sm90;
mod universal;

use address::Address;
use cute_ir::{
    Failure, PassSpec,
    build::*,
    diag,
    infer::memref_of,
    tensor,
    types::{self, CuteType},
};
use cute_layout::IntTuple;
use cute_passes::partition::{body_of_kernel, kernels};
use melior::ir::{
    ValueLike, attribute::TypeAttribute, operation::OperationLike, r#type::FunctionType,
};
use mlir_sys::*;
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-to-nvvm",
    description: "Lower views and atoms to pointers and NVVM instructions",
    anchor: "builtin.module",
    options: &[],
    run,
};

/// The symbol of a kernel's dynamic shared memory.
const SHARED: &str = "dynamic_smem";

fn run<'c>(module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        cute_passes::atoms::check(kernel)?;
        Lowering::new(kernel)?.run()?;
    }
    for launch in nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == "gpu.launch_func")
    {
        pass_pointers(launch)?;
    }
    Ok(())
}

/// A launch passes the pointers of its tensors.
fn pass_pointers<'c>(launch: Op<'c>) -> Result<(), Failure> {
    let b = Builder::before(launch);
    let pointer = b.ty("!llvm.ptr<1>")?;
    for (i, operand) in operands_of(launch).into_iter().enumerate() {
        if memref_of(operand).is_some() {
            let cast = b.value(
                "builtin.unrealized_conversion_cast",
                &[operand],
                pointer,
                &[],
            )?;
            unsafe { mlirOperationSetOperand(launch.to_raw(), i as isize, cast.to_raw()) };
        }
    }
    Ok(())
}

struct Lowering<'c> {
    kernel: Op<'c>,
    addresses: HashMap<usize, Address<'c>>,
    /// Integers that cute values stand for: coordinates and integer tuples, by value.
    scalars: HashMap<usize, Vec<Val<'c>>>,
    /// Start of the dynamic shared memory, once used.
    shared: Option<Val<'c>>,
    /// What atoms are given beside their operands, by value.
    states: HashMap<usize, atoms::State<'c>>,
    dead: Vec<Op<'c>>,
}

impl<'c> Lowering<'c> {
    fn new(kernel: Op<'c>) -> Result<Self, Failure> {
        Ok(Self {
            kernel,
            addresses: HashMap::new(),
            scalars: HashMap::new(),
            shared: None,
            states: HashMap::new(),
            dead: Vec::new(),
        })
    }

    fn run(mut self) -> Result<(), Failure> {
        let body = body_of_kernel(self.kernel)?;
        self.arguments(body)?;
        self.block(body)?;
        // Users before what they use.
        std::mem::take(&mut self.dead)
            .into_iter()
            .rev()
            .for_each(erase);
        Ok(())
    }

    /// Tensors of the kernel become pointers.
    fn arguments(&mut self, body: Blk<'c>) -> Result<(), Failure> {
        let b = Builder::before(self.kernel);
        let pointer = b.ty("!llvm.ptr<1>")?;
        let count = unsafe { mlirBlockGetNumArguments(body.to_raw()) } as usize;
        let mut inputs = Vec::new();
        let mut attributes = Vec::new();
        for i in 0..count {
            let value = argument(body, i);
            match memref_of(value) {
                Some(memref) => {
                    let bytes = memref.bytes().map_err(|e| b.error(e))?;
                    set_type(value, pointer);
                    inputs.push(pointer);
                    attributes.push(format!(
                        "{{llvm.align = {} : i32, llvm.noalias}}",
                        memref.align
                    ));
                    self.addresses
                        .insert(key(value), Address::global(value, &memref, bytes));
                }
                None => {
                    inputs.push(value.r#type());
                    attributes.push("{}".to_owned());
                }
            }
        }
        let ty = FunctionType::new(b.context, &inputs, &[]).into();
        set_attribute(self.kernel, "function_type", TypeAttribute::new(ty).into());
        let attributes = b.attribute(&format!("[{}]", attributes.join(", ")))?;
        set_attribute(self.kernel, "arg_attrs", attributes);
        Ok(())
    }

    fn block(&mut self, block: Blk<'c>) -> Result<(), Failure> {
        for op in ops_of(block) {
            if name_of(op).starts_with("cute.") || name_of(op).starts_with("cute_nvgpu.") {
                self.op(op, Builder::before(op))?;
                self.dead.push(op);
            } else if name_of(op).starts_with("vector.") {
                registers::vector_op(op)?;
            } else if let Some(inner) = body_of(op, 0) {
                self.block(inner)?;
            }
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        let wrong = |e: String| diag::error(op.location(), format!("'{}' op {e}", name_of(op)));
        match name_of(op) {
            "cute.static" | "cute.tiled.mma.partition_shape" => Ok(()),
            "cute.make_coord" => {
                self.scalars.insert(key(result_of(op, 0)), operands);
                Ok(())
            }
            "cute.memref.alloca" => self.alloca(op, b),
            "cute.slice" => {
                let coord = self.coordinate(operands[1], b)?;
                let view = self.source(operands[0], b)?.and_then(|s| tensor::slice(&s, &coord)).map_err(wrong)?;
                self.view(op, operands[0], operands[1], view, b)
            }
            "cute.local_tile" => {
                let Some(CuteType::Tile(tile)) = CuteType::of(operands[1].r#type()) else { return Err(Failure) };
                let coord = self.coordinate(operands[2], b)?;
                let view = self
                    .source(operands[0], b)?
                    .and_then(|s| tensor::local_tile(&s, &tile, &coord))
                    .map_err(wrong)?;
                self.view(op, operands[0], operands[2], view, b)
            }
            name @ ("cute.tiled.copy.partition_S" | "cute.tiled.copy.partition_D") => {
                let copy = CuteType::of(operands[0].r#type()).ok_or(Failure)?;
                let destination = name.ends_with('D');
                let view = self
                    .source(operands[1], b)?
                    .and_then(|s| tensor::partition_copy(&copy, &s, destination))
                    .map_err(wrong)?;
                self.view(op, operands[1], operands[2], view, b)
            }
            "cute.tiled.mma.partition" => {
                let mma = CuteType::of(operands[0].r#type()).ok_or(Failure)?;
                let id = integer_of(op, "operand_id").unwrap_or(0);
                let view = self
                    .source(operands[1], b)?
                    .and_then(|s| tensor::partition_mma(&mma, &s, id))
                    .map_err(wrong)?;
                self.view(op, operands[1], operands[2], view, b)
            }
            _ if self.atom_op(op, b)? => Ok(()),
            name => Err(b.error(format!(
                "'{name}' has no instruction form; an earlier pass of --cute-compile lowers it: cute-lower-layouts where it computes layouts"
            ))),
        }
    }

    /// The tensor type behind a value, whose MLIR type may have been replaced by now.
    fn source(
        &self,
        value: Val<'c>,
        b: Builder<'c>,
    ) -> Result<Result<types::MemRef<'c>, String>, Failure> {
        Ok(Ok(self.address(value, b)?.memref.clone()))
    }

    fn address(&self, value: Val<'c>, b: Builder<'c>) -> Result<&Address<'c>, Failure> {
        self.addresses.get(&key(value)).ok_or_else(|| {
            b.error("expected a tensor in memory; register tensors are turned into values by cute-fragments-to-values")
        })
    }

    fn coordinate(&self, value: Val<'c>, b: Builder<'c>) -> Result<IntTuple, Failure> {
        match CuteType::of(value.r#type()) {
            Some(CuteType::Coord(coord)) => Ok(coord),
            _ => Err(b.error("expected a coordinate")),
        }
    }

    /// The integers of a coordinate's dynamic leaves.
    fn scalars_of(&self, value: Val<'c>, b: Builder<'c>) -> Result<Vec<Val<'c>>, Failure> {
        if let Some(values) = self.scalars.get(&key(value)) {
            return Ok(values.clone());
        }
        match CuteType::of(value.r#type()) {
            Some(CuteType::Coord(coord)) if coord.is_static() => Ok(Vec::new()),
            _ => Err(b.error(
                "expected a coordinate that this kernel makes; run cute-lower-layouts first",
            )),
        }
    }

    fn alloca(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let memref = memref_of(result_of(op, 0)).ok_or(Failure)?;
        let Some(offset) = integer_of(op, "offset") else {
            return Err(b.error("expected a tensor that has its place in shared memory; run cute-allocate-shared first"));
        };
        let base = match self.shared {
            Some(base) => base,
            None => self.shared_memory(b)?,
        };
        self.addresses.insert(
            key(result_of(op, 0)),
            Address::shared(base, &memref, offset),
        );
        Ok(())
    }

    /// The start of dynamic shared memory, as a symbol of the kernel's module.
    fn shared_memory(&mut self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let module = parent_of(self.kernel, "gpu.module").ok_or(Failure)?;
        let body = body_of(module, 0).ok_or(Failure)?;
        let exists = ops_of(body)
            .into_iter()
            .any(|op| string_of(op, "sym_name") == Some(SHARED));
        if !exists {
            let place = Builder::before(ops_of(body)[0]);
            let region = melior::ir::Region::new();
            place.with_regions(
                "llvm.mlir.global",
                &[],
                &[],
                &[
                    ("sym_name", place.string(SHARED)),
                    (
                        "global_type",
                        place.type_attribute(place.ty("!llvm.array<0 x i8>")?),
                    ),
                    ("linkage", place.attribute("#llvm.linkage<external>")?),
                    ("addr_space", place.integer(place.i32_type(), 3)),
                    // The most that the hardware's own swizzles need.
                    ("alignment", place.i64_attribute(1024)),
                ],
                vec![region],
            )?;
        }
        // Where every use sees it.
        let first = ops_of(body_of(self.kernel, 0).ok_or(Failure)?)[0];
        let top = Builder::before(first).at_location(b.location);
        let pointer = top.ty("!llvm.ptr<3>")?;
        let name = top.attribute(&format!("@{SHARED}"))?;
        let base = top.value(
            "llvm.mlir.addressof",
            &[],
            pointer,
            &[("global_name", name)],
        )?;
        self.shared = Some(base);
        Ok(base)
    }

    /// Records a view: the source's address, and what the coordinate adds.
    fn view(
        &mut self,
        op: Op<'c>,
        source: Val<'c>,
        coord: Val<'c>,
        view: tensor::View<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let leaves = if view.terms.is_empty() {
            Vec::new()
        } else {
            self.scalars_of(coord, b)?
        };
        let mut address = self.address(source, b)?.clone();
        let bytes = address.memref.element_bytes();
        address.constant += view.offset * bytes;
        for (term, leaf) in view.terms.iter().zip(leaves) {
            let added = address::evaluate(b, term, leaf, bytes, address.width)?;
            address.add(b, added)?;
        }
        address.memref = view.result;
        self.addresses.insert(key(result_of(op, 0)), address);
        Ok(())
    }

    /// The pointer of one atom of a partition.
    fn atom(&self, value: Val<'c>, at: &[i64], b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let address = self.address(value, b)?;
        let access = tensor::atom_access(&address.memref.layout, at).map_err(|e| b.error(e))?;
        address.pointer(b, access.offset * address.memref.element_bytes())
    }
}

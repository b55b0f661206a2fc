//! Addresses as the numbers of `cute_ir::interpret`: each step from a tensor to a view of it as arithmetic on the start.

use super::{
    address::{Address, evaluate},
    pointers,
};
use cute_ir::{
    Expected, Failure,
    interpret::{Domain, Numbers, Place, Trouble},
    mlir::*,
    ops::{cute, gpu, llvm},
    types::{MemRef, Space},
};
use cute_layout::Layout;

/// The symbol of a kernel's dynamic shared memory.
const SHARED: &str = "dynamic_smem";

/// The dynamic shared memory of a kernel.
pub(super) struct SharedMemory<'c> {
    kernel: Op<'c>,
    /// Its start, once used.
    start: Option<Val<'c>>,
}

/// The addresses that are computed in front of an op.
pub(super) struct Starts<'c, 'a> {
    op: Op<'c>,
    b: Builder<'c>,
    shared: &'a mut SharedMemory<'c>,
}

/// An error of a tensor that has no address.
pub(super) fn no_start(b: Builder<'_>) -> Failure {
    b.error("expected a tensor in memory; register tensors are turned into values by cute-fragments-to-values")
}

impl<'c> SharedMemory<'c> {
    pub(crate) fn of(kernel: Op<'c>) -> Self {
        Self {
            kernel,
            start: None,
        }
    }

    /// The numbers of what `op` does.
    pub(crate) fn at(&mut self, op: Op<'c>) -> Starts<'c, '_> {
        Starts {
            op,
            b: Builder::before(op),
            shared: self,
        }
    }

    /// The start, as a symbol of the kernel's module.
    fn start(&mut self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        if let Some(start) = self.start {
            return Ok(start);
        }
        let module = parent_of(self.kernel, gpu::MODULE);
        let module = module.expected(self.kernel, "a gpu.module around the kernel")?;
        let all = ops_of(body_of(module, 0).expected(module, "a body")?);
        let exists = all
            .iter()
            .any(|op| string_of(*op, "sym_name") == Some(SHARED));
        if !exists {
            let place = Builder::before(*all.first().expected(module, "an op in the body")?);
            place.with_regions(
                llvm::MLIR_GLOBAL,
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
                vec![Detached::empty()],
            )?;
        }
        // Where every use sees it.
        let body = body_of(self.kernel, 0).expected(self.kernel, "a body")?;
        let first = ops_of(body).into_iter().next();
        let first = first.expected(self.kernel, "an op in the body")?;
        let top = Builder::before(first).at_location(b.location);
        let pointer = top.ty("!llvm.ptr<3>")?;
        let name = top.attribute(&format!("@{SHARED}"))?;
        let start = top.value(llvm::MLIR_ADDRESSOF, &[], pointer, &[("global_name", name)])?;
        self.start = Some(start);
        Ok(start)
    }
}

impl<'c> Starts<'c, '_> {
    /// Refuses a tensor in a space that has no addresses here.
    fn check_space(&self, memref: &MemRef<'c>) -> Result<(), Failure> {
        match memref.space {
            Space::Generic | Space::Tmem => Err(self.error(Trouble::Broken(format!(
                "is in {}, which is not lowered; expected gmem or smem",
                memref.space
            )))),
            Space::Gmem | Space::Smem | Space::Dsmem | Space::Rmem | Space::Descriptors => Ok(()),
        }
    }
}

impl<'c> Numbers for Starts<'c, '_> {
    type Index = Val<'c>;
    type Start = Address<'c>;
    type Error = Failure;

    fn add_known(
        &mut self,
        mut start: Address<'c>,
        elements: i64,
        scale: i64,
    ) -> Result<Address<'c>, Failure> {
        start.constant = elements
            .checked_mul(scale)
            .and_then(|bytes| bytes.checked_add(start.constant))
            .ok_or_else(|| self.error(Trouble::Overflow))?;
        Ok(start)
    }

    fn add_index(
        &mut self,
        mut start: Address<'c>,
        elements: &Val<'c>,
        scale: i64,
    ) -> Result<Address<'c>, Failure> {
        start.add_elements(self.b, *elements, scale)?;
        Ok(start)
    }

    fn add_layout(
        &mut self,
        mut start: Address<'c>,
        layout: &Layout,
        index: &Val<'c>,
        signed: bool,
        scale: i64,
    ) -> Result<Address<'c>, Failure> {
        if layout.flat().is_none() {
            return Err(self.error(Trouble::Dynamic(layout)));
        }
        let bytes = evaluate(self.b, layout, *index, signed, scale, start.width)?;
        start.add(self.b, bytes)?;
        Ok(start)
    }

    fn error(&self, trouble: Trouble<'_>) -> Failure {
        match trouble {
            Trouble::NoStart => no_start(self.b),
            Trouble::NoLeaves => self.b.error(
                "expected a coordinate that this kernel makes; run cute-lower-layouts first",
            ),
            Trouble::Dynamic(layout) => self.b.error(format!(
                "expected a tensor of static layout, found {layout}; run cute-lower-layouts first"
            )),
            Trouble::Overflow => self.b.error("an offset overflows 64 bits"),
            Trouble::Broken(rule) => self.b.error(format!("'{}' op {rule}", name_of(self.op))),
        }
    }
}

impl<'c> Domain<'c> for Starts<'c, '_> {
    fn follows(&self, _: &MemRef<'c>) -> bool {
        true
    }

    fn index(&mut self, value: Val<'c>) -> Result<Val<'c>, Failure> {
        Ok(value)
    }

    fn begin(&mut self, op: Op<'c>, memref: &MemRef<'c>) -> Result<Option<Address<'c>>, Failure> {
        if let Some(cast) = cute::Inttoptr::of(op) {
            self.check_space(memref)?;
            return pointers::from_integer(cast, memref, self.b).map(Some);
        }
        let Some(made) = cute::MemrefAlloca::of(op) else {
            return Ok(None);
        };
        self.check_space(memref)?;
        let Some(offset) = made.offset().and_then(integer_value) else {
            return Err(self.b.error(
                "expected a tensor that has its place in shared memory; run cute-allocate-shared first",
            ));
        };
        let start = self.shared.start(self.b)?;
        Ok(Some(Address::shared(start, offset)))
    }

    fn mapped(
        &mut self,
        from: &Place<'c, Address<'c>>,
        block: Val<'c>,
        _: &MemRef<'c>,
    ) -> Result<Address<'c>, Failure> {
        from.start.in_block(self.b, block)
    }

    fn seen_as(
        &mut self,
        from: &Place<'c, Address<'c>>,
        to: &MemRef<'c>,
    ) -> Result<Address<'c>, Failure> {
        self.check_space(to)?;
        let start = from.start.clone();
        if to.swizzle.is_none() && !start.is_where_swizzled(from.memref.swizzle) {
            return Err(self.b.error(format!(
                "'{}' starts within a swizzled tensor; expected the pointer of the whole tensor, or a pointer with the swizzle",
                name_of(self.op)
            )));
        }
        Ok(start)
    }
}

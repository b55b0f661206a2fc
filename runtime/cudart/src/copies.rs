//! Calls that copy and fill memory, and reach variables of the device.

use std::ffi::{c_int, c_void};

use crate::Error;
use crate::abi::{Copy3D, Direction, Extent, PitchedPointer, Position, Stream};
use crate::calls::{calls, put};
use crate::program::{Program, call};
use crate::transfers::{Copy, Fill, Place};
use crate::work::Work;

impl Program {
    /// The direction of a number.
    fn direction(&mut self, call: &str, kind: c_int) -> Result<Direction, Error> {
        Direction::of(kind).ok_or_else(|| {
            let text = format!("expected a direction of copies (0 to 4), found {kind}");
            self.refuse(call, &text, Error::InvalidValue)
        })
    }

    /// A copy of bytes in a row.
    pub fn row_copy(
        &mut self,
        call: &str,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) -> Result<Work, Error> {
        self.rows_copy(call, (to, 0), (from, 0), Extent::bytes(bytes), kind)
    }

    /// A copy of rows, from and to an address with a pitch.
    fn rows_copy(
        &mut self,
        call: &str,
        (to, to_pitch): (*mut c_void, usize),
        (from, from_pitch): (*const c_void, usize),
        extent: Extent,
        kind: c_int,
    ) -> Result<Work, Error> {
        Ok(Work::Copy(Copy {
            to: Place::rows(to, to_pitch),
            from: Place::rows(from, from_pitch),
            extent,
            direction: self.direction(call, kind)?,
        }))
    }

    /// A copy of planes of rows.
    ///
    /// # Safety
    /// The pointer is null, or one to a structure.
    pub unsafe fn box_copy(
        &mut self,
        call: &str,
        parameters: *const Copy3D,
    ) -> Result<Work, Error> {
        // SAFETY: the caller says so.
        let Some(parameters) = (unsafe { parameters.as_ref() }) else {
            let text = "expected the parameters of a copy, found a null pointer";
            return Err(self.refuse(call, text, Error::InvalidValue));
        };
        if !parameters.from_array.is_null() || !parameters.to_array.is_null() {
            let text = "expected memory with a pitch, found an array, which the emulator does not have; copy from and to a cudaPitchedPtr";
            return Err(self.refuse(call, text, Error::NotSupported));
        }
        let extent = parameters.extent;
        let direction = self.direction(call, parameters.kind)?;
        if extent.is_empty() {
            return Ok(Work::Copy(Copy {
                to: Place::row(std::ptr::null()),
                from: Place::row(std::ptr::null()),
                extent,
                direction,
            }));
        }
        Ok(Work::Copy(Copy {
            to: self.pitched(call, parameters.to, parameters.to_position, extent)?,
            from: self.pitched(call, parameters.from, parameters.from_position, extent)?,
            extent,
            direction,
        }))
    }

    /// The place of a box in pitched memory.
    fn pitched(
        &mut self,
        call: &str,
        memory: PitchedPointer,
        position: Position,
        extent: Extent,
    ) -> Result<Place, Error> {
        let plane = memory.pitch.checked_mul(memory.height);
        let at = plane.and_then(|plane| {
            let row = position.y.checked_mul(memory.pitch)?;
            let offset = position.z.checked_mul(plane)?.checked_add(row)?;
            offset
                .checked_add(position.x)?
                .checked_add(memory.pointer as usize)
        });
        let rows = extent.height > 1 || extent.depth > 1;
        let end = position.x.checked_add(extent.width);
        let inside = !rows || end.is_some_and(|end| end <= memory.pitch);
        match (at, plane) {
            (Some(at), Some(plane)) if inside && !memory.pointer.is_null() => Ok(Place {
                at,
                pitch: memory.pitch,
                plane,
            }),
            _ => {
                let found = match memory.pointer.is_null() {
                    true => "a null pointer".into(),
                    false => format!(
                        "{} bytes at byte {} of rows of {}",
                        extent.width, position.x, memory.pitch
                    ),
                };
                let text = format!(
                    "expected rows inside of the pitch of a cudaPitchedPtr, found {found}; make it by make_cudaPitchedPtr or cudaMalloc3D"
                );
                Err(self.refuse(call, &text, Error::InvalidValue))
            }
        }
    }

    /// A fill of planes of rows.
    fn box_fill(
        &mut self,
        call: &str,
        memory: PitchedPointer,
        value: c_int,
        extent: Extent,
    ) -> Result<Work, Error> {
        let start = Position { x: 0, y: 0, z: 0 };
        let to = match extent.is_empty() {
            true => Place::row(std::ptr::null()),
            false => self.pitched(call, memory, start, extent)?,
        };
        Ok(byte_fill(to, value, extent))
    }

    /// The address of a byte of a variable.
    fn with_offset(
        &mut self,
        call: &str,
        symbol: *const c_void,
        offset: usize,
    ) -> Result<*mut c_void, Error> {
        let (pointer, _) = self.symbol(call, symbol)?;
        Ok(pointer.offset(offset as i64).address() as *mut c_void)
    }

    /// A copy to a variable.
    pub fn copy_to_symbol(
        &mut self,
        call: &str,
        (symbol, offset): (*const c_void, usize),
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) -> Result<Work, Error> {
        let to = self.with_offset(call, symbol, offset)?;
        self.row_copy(call, to, from, bytes, kind)
    }

    /// A copy from a variable.
    pub fn copy_from_symbol(
        &mut self,
        call: &str,
        to: *mut c_void,
        (symbol, offset): (*const c_void, usize),
        bytes: usize,
        kind: c_int,
    ) -> Result<Work, Error> {
        let from = self.with_offset(call, symbol, offset)?;
        self.row_copy(call, to, from, bytes, kind)
    }
}

/// A fill with a byte.
fn byte_fill(to: Place, value: c_int, extent: Extent) -> Work {
    Work::Fill(Fill {
        to,
        value: value as u32,
        element: 1,
        extent,
    })
}

calls! {
    /// Copies bytes.
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) |program, name, to, from, bytes, kind| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.row_copy(name, to, from, bytes, kind)) }
    };

    /// Copies bytes in the order of a stream.
    fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int, stream: Stream) |program, name, to, from, bytes, kind, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.row_copy(name, to, from, bytes, kind)) }
    };

    /// Copies bytes between devices, of which there is one.
    fn cudaMemcpyPeer(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, bytes: usize) |program, name, to, to_device, from, from_device, bytes| {
        program.only_device(name, to_device)?;
        program.only_device(name, from_device)?;
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.row_copy(name, to, from, bytes, 3)) }
    };

    /// Copies bytes between devices in the order of a stream.
    fn cudaMemcpyPeerAsync(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, bytes: usize, stream: Stream)
        |program, name, to, to_device, from, from_device, bytes, stream| {
        program.only_device(name, to_device)?;
        program.only_device(name, from_device)?;
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.row_copy(name, to, from, bytes, 3)) }
    };

    /// Copies rows.
    fn cudaMemcpy2D(to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int)
        |program, name, to, to_pitch, from, from_pitch, width, height, kind| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.rows_copy(name, (to, to_pitch), (from, from_pitch), Extent::rows(width, height), kind)) }
    };

    /// Copies rows in the order of a stream.
    fn cudaMemcpy2DAsync(to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int, stream: Stream)
        |program, name, to, to_pitch, from, from_pitch, width, height, kind, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.rows_copy(name, (to, to_pitch), (from, from_pitch), Extent::rows(width, height), kind)) }
    };

    /// Copies planes of rows.
    fn cudaMemcpy3D(parameters: *const Copy3D) |program, name, parameters| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.box_copy(name, parameters)) }
    };

    /// Copies planes of rows in the order of a stream.
    fn cudaMemcpy3DAsync(parameters: *const Copy3D, stream: Stream) |program, name, parameters, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.box_copy(name, parameters)) }
    };

    /// Fills bytes of the device.
    fn cudaMemset(to: *mut c_void, value: c_int, bytes: usize) |program, name, to, value, bytes| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |_| Ok(byte_fill(Place::row(to), value, Extent::bytes(bytes)))) }
    };

    /// Fills bytes of the device in the order of a stream.
    fn cudaMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: Stream) |program, name, to, value, bytes, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |_| Ok(byte_fill(Place::row(to), value, Extent::bytes(bytes)))) }
    };

    /// Fills rows of the device.
    fn cudaMemset2D(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) |program, name, to, pitch, value, width, height| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |_| Ok(byte_fill(Place::rows(to, pitch), value, Extent::rows(width, height)))) }
    };

    /// Fills rows of the device in the order of a stream.
    fn cudaMemset2DAsync(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: Stream) |program, name, to, pitch, value, width, height, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |_| Ok(byte_fill(Place::rows(to, pitch), value, Extent::rows(width, height)))) }
    };

    /// Fills planes of rows of the device.
    fn cudaMemset3D(to: PitchedPointer, value: c_int, extent: Extent) |program, name, to, value, extent| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.box_fill(name, to, value, extent)) }
    };

    /// Fills planes of rows of the device in the order of a stream.
    fn cudaMemset3DAsync(to: PitchedPointer, value: c_int, extent: Extent, stream: Stream) |program, name, to, value, extent, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.box_fill(name, to, value, extent)) }
    };

    /// Copies bytes to a variable of the device.
    fn cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int) |program, name, symbol, from, bytes, offset, kind| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.copy_to_symbol(name, (symbol, offset), from, bytes, kind)) }
    };

    /// Copies bytes to a variable of the device in the order of a stream.
    fn cudaMemcpyToSymbolAsync(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int, stream: Stream)
        |program, name, symbol, from, bytes, offset, kind, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.copy_to_symbol(name, (symbol, offset), from, bytes, kind)) }
    };

    /// Copies bytes from a variable of the device.
    fn cudaMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int) |program, name, to, symbol, bytes, offset, kind| {
        // SAFETY: the caller says so.
        unsafe { program.complete(name, |program| program.copy_from_symbol(name, to, (symbol, offset), bytes, kind)) }
    };

    /// Copies bytes from a variable of the device in the order of a stream.
    fn cudaMemcpyFromSymbolAsync(to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int, stream: Stream)
        |program, name, to, symbol, bytes, offset, kind, stream| {
        // SAFETY: the caller says so.
        unsafe { program.submit(name, stream, |program| program.copy_from_symbol(name, to, (symbol, offset), bytes, kind)) }
    };

    /// Tells the address of a variable of the device.
    fn cudaGetSymbolAddress(place: *mut *mut c_void, symbol: *const c_void) |program, name, place, symbol| {
        let at = program.with_offset(name, symbol, 0)?;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, at) }
    };

    /// Tells the bytes of a variable of the device.
    fn cudaGetSymbolSize(place: *mut usize, symbol: *const c_void) |program, name, place, symbol| {
        let (_, bytes) = program.symbol(name, symbol)?;
        // SAFETY: the caller says so.
        unsafe { put(program, name, place, bytes as usize) }
    };
}

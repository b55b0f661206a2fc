//! Copies and fills as data: boxes of rows and planes, which are checked as a whole before any byte moves.

use std::ffi::c_void;

use crate::Error;
use crate::abi::{Direction, Extent};
use crate::memory::Side;
use crate::program::Program;

/// The place of a box: its first byte, bytes from row to row, and bytes from plane to plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub at: usize,
    pub pitch: usize,
    pub plane: usize,
}

impl Place {
    /// The place of a single row.
    pub fn row(at: *const c_void) -> Place {
        Place::rows(at, 0)
    }

    /// The place of a single plane.
    pub fn rows(at: *const c_void, pitch: usize) -> Place {
        let at = at as usize;
        Place {
            at,
            pitch,
            plane: 0,
        }
    }

    /// The addresses of the rows of a box that [`Program::check_box`] has accepted.
    fn starts(self, extent: Extent) -> impl Iterator<Item = usize> {
        let rows =
            move |z| (0..extent.height).map(move |y| self.at + z * self.plane + y * self.pitch);
        (0..extent.depth).flat_map(rows)
    }
}

impl Extent {
    /// The extent of a number of bytes in a row.
    pub fn bytes(width: usize) -> Extent {
        Extent::rows(width, 1)
    }

    /// The extent of rows.
    pub fn rows(width: usize, height: usize) -> Extent {
        Extent {
            width,
            height,
            depth: 1,
        }
    }

    /// Tells whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// A copy of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub to: Place,
    pub from: Place,
    pub extent: Extent,
    pub direction: Direction,
}

/// A fill of a box, whose width is in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub to: Place,
    pub value: u32,
    /// Bytes of the value that are written: 1, 2 or 4.
    pub element: usize,
    pub extent: Extent,
}

impl Program {
    /// Checks that a box's rows and planes lie apart, and end below the last address.
    fn check_box(&mut self, call: &str, place: Place, extent: Extent) -> Result<(), Error> {
        let Extent {
            width,
            height,
            depth,
        } = extent;
        if (height > 1 || depth > 1) && width > place.pitch {
            let text = format!(
                "expected rows of at most a pitch, found {width} bytes with a pitch of {}; pass the pitch that the allocation has",
                place.pitch
            );
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        let plane = height.checked_mul(place.pitch);
        if depth > 1 && plane.is_none_or(|plane| plane > place.plane) {
            let text = format!(
                "expected at most the {} bytes from plane to plane, found {height} rows of {}; the ysize of a cudaPitchedPtr is the number of rows that the allocation has",
                place.plane, place.pitch
            );
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        let planes = (depth - 1).checked_mul(place.plane);
        let rows = (height - 1).checked_mul(place.pitch);
        let end = planes.zip(rows).and_then(|(planes, rows)| {
            planes
                .checked_add(rows)?
                .checked_add(width)?
                .checked_add(place.at)
        });
        if end.is_none() {
            let text = format!(
                "expected bytes in memory, found {width} x {height} x {depth} from address {:#x} on",
                place.at
            );
            return Err(self.refuse(call, &text, Error::InvalidValue));
        }
        Ok(())
    }

    /// Checks that the rows of a box lie in memory. Memory that the host alone has is not known.
    fn check_rows(
        &mut self,
        call: &str,
        what: &str,
        place: Place,
        extent: Extent,
    ) -> Result<(), Error> {
        for at in place.starts(extent) {
            match self.side(at as *const c_void) {
                Side::Device(pointer) => {
                    let fits = self.session.check_range(what, pointer, extent.width as u64);
                    fits.map_err(|error| self.failed(call, &error, Error::InvalidValue))?;
                }
                Side::Host(_) => {
                    // How long memory of the host's own is nobody tells.
                    if !self.is_mapped(place.at as *const c_void) {
                        return Ok(());
                    }
                    let left = self.mapped_left(at as *const c_void).unwrap_or(0);
                    if left < extent.width {
                        let text = format!(
                            "{what} memory that the host has, too: expected at most the {left} bytes that it has from there on, found {}; take fewer bytes, or allocate more",
                            extent.width
                        );
                        return Err(self.refuse(call, &text, Error::InvalidValue));
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks a copy, of which nothing is done.
    pub fn check_copy(&mut self, call: &str, copy: &Copy) -> Result<(), Error> {
        if copy.extent.is_empty() {
            return Ok(());
        }
        let (wants_to, wants_from) = match copy.direction {
            Direction::HostToHost => (Some(false), Some(false)),
            Direction::HostToDevice => (Some(true), Some(false)),
            Direction::DeviceToHost => (Some(false), Some(true)),
            Direction::DeviceToDevice => (Some(true), Some(true)),
            Direction::Default => (None, None),
        };
        let sides = [
            (wants_to, copy.to.at, "destination"),
            (wants_from, copy.from.at, "source"),
        ];
        for (wanted, at, role) in sides {
            let address = at as *const c_void;
            let device = matches!(self.side(address), Side::Device(_));
            let wrong = match wanted {
                // Memory that both have is either's.
                Some(wanted) => wanted != device && !self.is_mapped(address),
                None => false,
            };
            if wrong || address.is_null() {
                let (expected, found) = match (wanted, device) {
                    (Some(true), _) => (
                        "memory of the device",
                        if address.is_null() {
                            "a null pointer"
                        } else {
                            "an address of the host"
                        },
                    ),
                    (_, true) => ("memory of the host", "an address of the device"),
                    _ => ("memory", "a null pointer"),
                };
                let text = format!(
                    "expected {expected} as the {role}, found {found}; exchange the pointers, or mend the direction"
                );
                return Err(self.refuse(call, &text, Error::InvalidValue));
            }
        }
        self.check_box(call, copy.to, copy.extent)?;
        self.check_box(call, copy.from, copy.extent)?;
        self.check_rows(call, "a copy to", copy.to, copy.extent)?;
        self.check_rows(call, "a copy from", copy.from, copy.extent)
    }

    /// Copies what [`Program::check_copy`] has accepted.
    ///
    /// # Safety
    /// Memory that is the host's has the bytes.
    pub unsafe fn copy(&mut self, call: &str, copy: &Copy) -> Result<(), Error> {
        if copy.extent.is_empty() {
            return Ok(());
        }
        let bytes = copy.extent.width;
        let rows = copy.to.starts(copy.extent);
        for (to, from) in rows.zip(copy.from.starts(copy.extent)) {
            let done = match (
                self.side(to as *const c_void),
                self.side(from as *const c_void),
            ) {
                (Side::Host(to), Side::Host(from)) => {
                    // SAFETY: the caller says so.
                    unsafe { std::ptr::copy(from, to, bytes) };
                    Ok(())
                }
                (Side::Device(to), Side::Host(from)) => {
                    // SAFETY: the caller says so.
                    let from = unsafe { std::slice::from_raw_parts(from, bytes) };
                    self.session.write(to, from)
                }
                (Side::Host(to), Side::Device(from)) => {
                    // SAFETY: the caller says so.
                    let to = unsafe { std::slice::from_raw_parts_mut(to, bytes) };
                    self.session.read_to(from, to)
                }
                (Side::Device(to), Side::Device(from)) => self.session.copy(to, from, bytes as u64),
            };
            done.map_err(|error| self.failed(call, &error, Error::InvalidValue))?;
        }
        Ok(())
    }

    /// Checks a fill, of which nothing is done.
    pub fn check_fill(&mut self, call: &str, fill: &Fill) -> Result<(), Error> {
        if fill.extent.is_empty() {
            return Ok(());
        }
        let at = fill.to.at as *const c_void;
        if matches!(self.side(at), Side::Host(_)) && !self.is_mapped(at) {
            let text = "expected memory of the device, found an address of the host; use memset";
            return Err(self.refuse(call, text, Error::InvalidValue));
        }
        self.check_box(call, fill.to, fill.extent)?;
        self.check_rows(call, "a fill of", fill.to, fill.extent)
    }

    /// Fills what [`Program::check_fill`] has accepted.
    ///
    /// # Safety
    /// Memory of the host has the bytes.
    pub unsafe fn fill(&mut self, call: &str, fill: &Fill) -> Result<(), Error> {
        if fill.extent.is_empty() {
            return Ok(());
        }
        let value = &fill.value.to_le_bytes()[..fill.element];
        let mut row = value.repeat(fill.extent.width.div_ceil(fill.element));
        row.truncate(fill.extent.width);
        for at in fill.to.starts(fill.extent) {
            match self.side(at as *const c_void) {
                Side::Host(host) => {
                    // SAFETY: the caller says so.
                    unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), host, row.len()) };
                }
                Side::Device(pointer) => {
                    let done = self.session.write(pointer, &row);
                    done.map_err(|error| self.failed(call, &error, Error::InvalidValue))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    use crate::abi::{Copy3D, Extent, PitchedPointer, Position};
    use crate::copies::*;
    use crate::memory::{cudaFree, cudaFreeHost, cudaMalloc3D, cudaMallocHost};

    const INVALID: i32 = 1;
    const START: Position = Position { x: 0, y: 0, z: 0 };

    fn pitched(pointer: *mut c_void, pitch: usize, height: usize) -> PitchedPointer {
        PitchedPointer {
            pointer,
            pitch,
            width: pitch,
            height,
        }
    }

    fn extent(width: usize, height: usize, depth: usize) -> Extent {
        Extent {
            width,
            height,
            depth,
        }
    }

    #[test]
    fn boxes_are_filled_and_copied() {
        let mut memory = pitched(null_mut(), 0, 0);
        let mut host = [0u8; 2 * 3 * 4];
        // SAFETY: the boxes lie in the 1024 bytes of each of 6 rows, or in the 24 of the array.
        unsafe {
            assert_eq!(cudaMalloc3D(&mut memory, extent(700, 3, 2)), 0);
            assert_eq!((memory.pitch, memory.height), (1024, 3));
            assert_eq!(cudaMemset3D(memory, i32::from(b'.'), extent(700, 3, 2)), 0);
            let inner = pitched(memory.pointer.wrapping_byte_add(1024 + 2), 1024, 3);
            assert_eq!(cudaMemset3D(inner, i32::from(b'x'), extent(2, 1, 2)), 0);
            let copy = Copy3D {
                from_array: null_mut(),
                from_position: Position { x: 1, y: 0, z: 0 },
                from: memory,
                to_array: null_mut(),
                to_position: START,
                to: pitched(host.as_mut_ptr().cast(), 4, 3),
                extent: extent(4, 3, 2),
                kind: 2,
            };
            assert_eq!(cudaMemcpy3D(&copy), 0);
            assert_eq!(&host, b".....xx..........xx.....");
            // Nothing of a wrong copy is done.
            host.fill(0);
            for (width, height, depth, x) in [
                (4, 3, 3, 0),
                (4, 4, 2, 0),
                (5, 3, 2, 0),
                (4, 3, 2, 1021),
                (usize::MAX, 3, 2, 1),
                (4, usize::MAX, 2, 0),
                (4, 3, usize::MAX, 0),
                (4, 3, 2, usize::MAX),
            ] {
                let wrong = Copy3D {
                    extent: extent(width, height, depth),
                    from_position: Position { x, y: 0, z: 0 },
                    ..copy
                };
                assert_eq!(cudaMemcpy3D(&wrong), INVALID, "{wrong:?}");
            }
            assert_eq!(host, [0; 24]);
            let nothing = Copy3D {
                extent: extent(4, 0, 2),
                ..copy
            };
            assert_eq!(cudaMemcpy3D(&nothing), 0);
            let array = Copy3D {
                to_array: 8 as *mut c_void,
                ..copy
            };
            assert_eq!(cudaMemcpy3D(&array), 801);
            assert_eq!(cudaMemcpy3D(std::ptr::null()), INVALID);
            assert_eq!(cudaMemset2D(memory.pointer, 0, 1, 1, usize::MAX), INVALID);
            assert_eq!(cudaMemset3D(memory, 1, extent(700, 3, 3)), INVALID);
            assert_eq!(cudaFree(memory.pointer), 0);
        }
    }

    #[test]
    fn memory_of_both_has_an_end() {
        let mut memory = null_mut();
        // SAFETY: what is more than the 100 bytes is refused.
        unsafe {
            assert_eq!(cudaMallocHost(&mut memory, 100), 0);
            assert_eq!(cudaMemset(memory, 7, 100), 0);
            assert_eq!(*memory.cast::<u8>().add(99), 7);
            assert_eq!(cudaMemset(memory.wrapping_byte_add(1), 7, 100), INVALID);
            assert_eq!(cudaMemset2D(memory, 50, 7, 50, 3), INVALID);
            let mut bytes = [0u8; 101];
            assert_eq!(
                cudaMemcpy(bytes.as_mut_ptr().cast(), memory, 101, 4),
                INVALID
            );
            assert_eq!(bytes, [0; 101]);
            assert_eq!(cudaFreeHost(memory), 0);
        }
    }
}

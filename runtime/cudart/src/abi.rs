//! Types of the interface, as C has them.

use std::ffi::{c_int, c_void};

/// Sizes of a grid or a block.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim3 {
    /// Along x, y and z.
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    /// The sizes as the emulator takes them.
    pub(crate) fn extents(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// The handle of a stream: a number, as the order of the calls is that of their work.
pub type Stream = *mut c_void;
/// The handle of an event.
pub type Event = *mut c_void;

/// The direction of a copy (`cudaMemcpyKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The direction that the addresses say.
    Default,
}

impl Direction {
    /// The direction of a number; none of one that is no direction.
    pub(crate) fn of(kind: c_int) -> Option<Direction> {
        Some(match kind {
            0 => Direction::HostToHost,
            1 => Direction::HostToDevice,
            2 => Direction::DeviceToHost,
            3 => Direction::DeviceToDevice,
            4 => Direction::Default,
            _ => return None,
        })
    }
}

/// A pitched allocation (`cudaPitchedPtr`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PitchedPointer {
    /// The start.
    pub pointer: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes of a row, and rows, as they were asked for.
    pub width: usize,
    pub height: usize,
}

/// The sizes of a copy in three dimensions (`cudaExtent`); the width is in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// An attribute of a launch (`cudaLaunchAttribute`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchAttribute {
    /// The number of the attribute (`cudaLaunchAttributeID`).
    pub id: c_int,
    padding: c_int,
    /// Its value; a cluster has its sizes in the first three.
    pub value: [u32; 16],
}

/// A launch (`cudaLaunchConfig_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// The stream.
    pub stream: Stream,
    /// Attributes.
    pub attributes: *const LaunchAttribute,
    /// Number of attributes.
    pub count: u32,
}

/// The format of a texture's elements (`cudaChannelFormatDesc`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChannelFormat {
    /// Bits of each channel.
    pub bits: [c_int; 4],
    /// The kind of the numbers.
    pub kind: c_int,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_headers() {
        assert_eq!(size_of::<Dim3>(), 12);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(std::mem::offset_of!(LaunchAttribute, value), 8);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<PitchedPointer>(), 32);
        assert_eq!(size_of::<ChannelFormat>(), 20);
    }
}

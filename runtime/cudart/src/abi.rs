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
/// The handle of a graph, of a node of one, or of an executable graph.
pub type Handle = *mut c_void;

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

/// A place in an array or in pitched memory (`cudaPos`); x is in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// A copy in three dimensions (`cudaMemcpy3DParms`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    /// An array to copy from, or null.
    pub from_array: *mut c_void,
    pub from_position: Position,
    /// Memory to copy from, where there is no array.
    pub from: PitchedPointer,
    /// An array to copy to, or null.
    pub to_array: *mut c_void,
    pub to_position: Position,
    /// Memory to copy to, where there is no array.
    pub to: PitchedPointer,
    pub extent: Extent,
    /// The direction.
    pub kind: c_int,
}

/// The parameters of a node of a graph that launches a kernel (`cudaKernelNodeParams`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelNode {
    /// The function that stands for the kernel.
    pub function: *const c_void,
    pub grid: Dim3,
    pub block: Dim3,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// A pointer to a value for each parameter.
    pub arguments: *mut *mut c_void,
    /// The other way of passing values, in a buffer.
    pub extra: *mut *mut c_void,
}

/// The parameters of a node of a graph that fills memory (`cudaMemsetParams`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FillNode {
    /// The start.
    pub to: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    pub value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub element: u32,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A function of the host that a graph or a stream calls (`cudaHostFn_t`).
pub type HostFunction = unsafe extern "C" fn(*mut c_void);

/// The parameters of a node of a graph that calls a function of the host (`cudaHostNodeParams`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostNode {
    pub function: Option<HostFunction>,
    /// The argument of the function.
    pub data: *mut c_void,
}

/// The parameters of a node of any kind (`cudaGraphNodeParams`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NodeParameters {
    /// The kind (`cudaGraphNodeType`).
    pub kind: c_int,
    reserved: [c_int; 3],
    /// The parameters of that kind.
    pub data: [u64; 29],
    end: u64,
}

/// The part of another node that a node waits for (`cudaGraphEdgeData`): its end, where all is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeData {
    pub bytes: [u8; 8],
}

/// The outcome of an update of an executable graph (`cudaGraphExecUpdateResultInfo`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UpdateResult {
    pub result: c_int,
    /// The node of the graph at fault, and the node that an edge at fault comes from.
    pub node: Handle,
    pub from: Handle,
}

/// Sizes and places of an instantiation (`cudaGraphInstantiateParams`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct InstantiateParams {
    pub flags: u64,
    /// The stream of an upload.
    pub stream: Stream,
    /// The node at fault.
    pub node: Handle,
    pub result: c_int,
}

/// An attribute of a launch (`cudaLaunchAttribute`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchAttribute {
    /// The number of the attribute (`cudaLaunchAttributeID`).
    pub id: c_int,
    padding: c_int,
    /// Its value.
    pub value: AttributeValue,
}

/// The value of an attribute of launches or streams (`cudaLaunchAttributeValue`); a cluster has its sizes in the first three.
pub type AttributeValue = [u32; 16];

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
        assert_eq!(size_of::<Copy3D>(), 160);
        assert_eq!(std::mem::offset_of!(Copy3D, to), 96);
        assert_eq!(size_of::<KernelNode>(), 56);
        assert_eq!(size_of::<FillNode>(), 40);
        assert_eq!(size_of::<HostNode>(), 16);
        assert_eq!(size_of::<NodeParameters>(), 256);
        assert_eq!(size_of::<UpdateResult>(), 24);
        assert_eq!(size_of::<InstantiateParams>(), 32);
    }
}

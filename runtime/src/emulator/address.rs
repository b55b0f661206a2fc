//! The places of memory in the emulator's address space.
//!
//! Every tensor, and every variable of a module, has a window of 2^40 bytes to itself, so that an
//! access out of bounds never falls into another one.

/// Bytes of a window, as a power of two.
pub(super) const WINDOW_BITS: u32 = 40;
/// Generic addresses of shared memory start here.
pub(super) const SHARED: u64 = 1 << 62;
/// Generic addresses of local memory start here.
pub(super) const LOCAL: u64 = 1 << 61;
/// Windows from here on are variables of the module.
pub(super) const FIRST_VARIABLE: u64 = 1 << 16;
/// The system's part of shared memory, which comes first (PTX ISA, `%reserved_smem_offset_begin`).
pub(super) const SHARED_START: u64 = cute_target::RESERVED_SHARED as u64;

/// The address of a tensor. It is aligned as its argument promises and no better, so that a kernel
/// that assumes more is found out.
pub(super) fn tensor(index: usize, align: u32) -> u64 {
    ((index as u64 + 1) << WINDOW_BITS) + u64::from(align)
}

/// Variables of a module, as a power of two, at most: each module has as many windows in a row.
const VARIABLE_BITS: u32 = 12;
/// Modules that have windows for their variables.
pub(super) const MODULES: usize = 64;
/// Variables that a module may have.
pub(super) const VARIABLES: usize = 1 << VARIABLE_BITS;

/// Tensors whose windows lie where a process on a CPU may have memory of its own: below 2^47. In the last of them it has its stack.
pub(super) const HOST_WINDOWS: usize = (1 << (47 - WINDOW_BITS)) - 1;

/// The address of a variable of the module of that number.
pub(super) fn variable(module: usize, index: usize, align: u64) -> u64 {
    let window = FIRST_VARIABLE + ((module as u64) << VARIABLE_BITS) + index as u64;
    (window << WINDOW_BITS) + align
}

/// The module and the index of the variable that has a window; none of one below [`FIRST_VARIABLE`].
pub(super) fn variable_of(window: u64) -> Option<(usize, usize)> {
    let index = usize::try_from(window.checked_sub(FIRST_VARIABLE)?).ok()?;
    Some((index >> VARIABLE_BITS, index % VARIABLES))
}

/// The window that an address lies in.
pub(super) fn window(address: u64) -> u64 {
    address >> WINDOW_BITS
}

/// The distance, in bytes, of an address that [`tensor`] or [`variable`] gives from the alignment that allocated memory has.
pub(super) fn skew(base: u64) -> u64 {
    base % (1 << WINDOW_BITS)
}

/// Bits of an address in the shared memory of one block. Above them, an address of `.shared::cluster` has the rank of the block and one
/// more; 0 is the thread's own block.
pub(super) const RANK_BITS: u32 = 24;

/// The place in the shared memory of a cluster of what lies at an address of `.shared::cta` or `.shared::cluster`, for a thread of the block of
/// that rank.
pub(super) fn shared_place(rank: u32, address: u64) -> u64 {
    let rank = match address >> RANK_BITS {
        0 => u64::from(rank),
        other => other - 1,
    };
    rank << RANK_BITS | address & ((1 << RANK_BITS) - 1)
}

/// The block of a place in the shared memory of a cluster, and the address there.
pub(super) fn block_of_place(place: u64) -> (u64, u64) {
    (place >> RANK_BITS, place & ((1 << RANK_BITS) - 1))
}

/// Addresses of functions start here.
pub(super) const FUNCTION: u64 = 1 << 59;

/// The address of the function that stands at that place of the module.
pub(super) fn function(item: usize) -> u64 {
    FUNCTION + 16 * (item as u64 + 1)
}

/// Generic addresses of a kernel's parameters start here.
pub(super) const PARAM: u64 = 1 << 60;

/// The state space of a generic address.
pub(super) fn space_of(address: u64) -> super::program::Space {
    use super::program::Space;
    match address {
        SHARED.. => Space::Shared,
        LOCAL.. => Space::Local,
        PARAM.. => Space::Param,
        _ => Space::Global,
    }
}

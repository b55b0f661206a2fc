//! The contract between the library and the export, which writes into it.

/// The symbol of the [`Package`], which the export fills in and takes away.
pub const PACKAGE: &str = "cute_package";

/// The start of the symbols of C functions; a number follows.
pub const C_SLOT: &str = "cute_slot_c_";

/// The start of the symbols of TVM-FFI functions; a number follows.
pub const TVM_SLOT: &str = "cute_slot_tvm_";

/// The start of the symbols that an exported TVM-FFI function has; its name follows.
pub const TVM_PREFIX: &str = "__tvm_ffi_";

/// The first bytes of a [`Package`]: another version has others.
pub const MAGIC: [u8; 16] = *b"cute package  1\0";

/// The place of the package in the library. All numbers are little endian.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The bytes of [`MAGIC`].
    pub magic: [u8; 16],
    /// Bytes from this struct to the package; 0 where there is none.
    pub offset: i64,
    /// Bytes of the package.
    pub length: u64,
}

impl Package {
    /// Bytes of the struct.
    pub const BYTES: usize = 32;

    /// The struct as the generic object has it.
    pub const NONE: Package = Package {
        magic: MAGIC,
        offset: 0,
        length: 0,
    };

    /// Returns the bytes of the struct.
    pub fn to_bytes(self) -> [u8; Package::BYTES] {
        let mut bytes = [0; Package::BYTES];
        bytes[..16].copy_from_slice(&self.magic);
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }
}

const _: () = assert!(size_of::<Package>() == Package::BYTES);

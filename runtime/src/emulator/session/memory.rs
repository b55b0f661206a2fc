//! Memory of a session: what a program allocates, frees, copies and fills between launches.

use super::{Module, Session};
use crate::device::DeviceError;
use crate::emulator::address;
use crate::emulator::decode;
use crate::emulator::device::unsupported;
use crate::emulator::global::{Buffer, Gone};
use crate::emulator::memory as buffers;
use crate::ptx;
use crate::tensor::POISON;

/// Bytes of all memory of a session, at most: what is known of each byte takes several times as much.
pub(super) const MAX_MEMORY: u64 = 1 << 30;
/// The largest alignment of memory.
const MAX_ALIGN: u32 = 1 << 20;

/// Memory to allocate: its contents, its alignment, and who may write it.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Empty where nobody has written it.
    contents: Vec<u8>,
    bytes: usize,
    initialized: bool,
    align: u32,
    writable: bool,
    shared_with_host: bool,
}

impl Memory {
    /// Memory that holds these bytes.
    pub fn holding(bytes: &[u8]) -> Memory {
        Memory {
            contents: bytes.to_vec(),
            bytes: bytes.len(),
            initialized: true,
            // As the driver's allocations.
            align: 256,
            writable: true,
            shared_with_host: false,
        }
    }

    /// Memory of so many bytes that nobody has written: to read it is a finding.
    pub fn uninitialized(bytes: usize) -> Memory {
        Memory {
            bytes,
            initialized: false,
            ..Memory::holding(&[])
        }
    }

    /// The same memory at an address that is a multiple of so many bytes, and of no more. It is 256 where nothing is said.
    pub fn aligned(self, align: u32) -> Memory {
        Memory { align, ..self }
    }

    /// The same memory at an address below 2^47, where a process may have memory of its own: what a program shares between the CPU and
    /// a GPU has one address. [`Session::keep_low_addresses`] comes first.
    pub fn shared_with_host(self) -> Memory {
        Memory {
            shared_with_host: true,
            ..self
        }
    }

    /// The same memory, for reading alone: a write is a finding.
    pub fn read_only(self) -> Memory {
        Memory {
            writable: false,
            ..self
        }
    }
}

/// An address in memory that a session has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    address: u64,
}

impl Pointer {
    /// The address so many bytes further, which may lie outside of the memory.
    pub fn offset(self, bytes: i64) -> Pointer {
        Pointer {
            address: self.address.wrapping_add_signed(bytes),
        }
    }

    /// The pointer that a kernel gets as this address.
    pub fn of_address(address: u64) -> Pointer {
        Pointer { address }
    }

    /// The address as a kernel gets it, such as for a structure that has pointers.
    pub fn address(self) -> u64 {
        self.address
    }
}

impl Session {
    /// Keeps addresses below 2^47 for memory that is [`Memory::shared_with_host`], of which there are 126 pieces then at a time; no other memory
    /// is there. It is called before any memory is allocated, else it does nothing.
    pub fn keep_low_addresses(&mut self) {
        if !self.global.tensors.is_empty() {
            return;
        }
        let none = |index| {
            let base = address::tensor(index, 1);
            let mut none = Buffer::new("no memory".into(), base, &[], None, true);
            none.gone = Some(Gone::Host);
            none
        };
        self.global.tensors = (0..address::HOST_WINDOWS).map(none).collect();
        self.shared = (0..address::HOST_WINDOWS - 1).collect();
        self.keeps_low = true;
    }

    /// Allocates memory, which findings call by the name.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the alignment is none, or if it is more than the emulator has room for.
    pub fn allocate(&mut self, name: &str, mut memory: Memory) -> Result<Pointer, DeviceError> {
        let place = || format!("memory {name}");
        if !memory.align.is_power_of_two() || memory.align > MAX_ALIGN {
            return Err(unsupported(
                place(),
                format!("an alignment that is a power of two up to {MAX_ALIGN}"),
                memory.align.to_string(),
                "allocated memory is aligned to 256 bytes",
            ));
        }
        let bytes = memory.bytes as u64;
        if bytes > MAX_MEMORY - self.bytes {
            return Err(unsupported(
                place(),
                format!("at most {MAX_MEMORY} bytes of memory"),
                format!("{} bytes with it", self.bytes.saturating_add(bytes)),
                "emulate a smaller problem",
            ));
        }
        if !memory.initialized {
            if memory.contents.try_reserve_exact(memory.bytes).is_err() {
                return Err(unsupported(
                    place(),
                    "memory that the process can have",
                    format!("{bytes} bytes, which it cannot"),
                    "emulate a smaller problem",
                ));
            }
            memory.contents.resize(memory.bytes, POISON);
        }
        if memory.shared_with_host {
            let index = self.shared.pop_front().ok_or_else(|| {
                unsupported(
                    place(),
                    format!(
                        "at most {} pieces of memory that the host has, too",
                        address::HOST_WINDOWS
                    ),
                    "one more, or none kept for them".to_string(),
                    "allocate larger pieces",
                )
            })?;
            return Ok(self.place(index, name, &memory));
        }
        let fresh = self.global.tensors.len();
        // Freed places are used again as late as can be, so that a pointer to what was there finds nothing for long.
        let index = match fresh as u64 + 1 < address::FIRST_VARIABLE {
            true => fresh,
            false => self.freed.pop_front().ok_or_else(|| {
                unsupported(
                    place(),
                    format!("fewer than {} pieces of memory", address::FIRST_VARIABLE),
                    fresh.to_string(),
                    "allocate larger pieces",
                )
            })?,
        };
        Ok(self.place(index, name, &memory))
    }

    /// Puts memory into a window that has none.
    fn place(&mut self, index: usize, name: &str, memory: &Memory) -> Pointer {
        self.bytes += memory.contents.len() as u64;
        let base = address::tensor(index, memory.align);
        let never: &dyn Fn(u64) -> bool = &|_| false;
        let init = (!memory.initialized).then_some(never);
        let made = Buffer::new(name.into(), base, &memory.contents, init, memory.writable);
        match self.global.tensors.get_mut(index) {
            Some(slot) => *slot = made,
            None => self.global.tensors.push(made),
        }
        Pointer { address: base }
    }

    /// Frees memory; an access to it is a finding from here on.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the pointer is not the start of memory that is allocated.
    pub fn free(&mut self, memory: Pointer) -> Result<(), DeviceError> {
        let index = self.tensor_at(memory);
        let Some((index, buffer)) =
            index.filter(|(_, buffer)| buffer.base == memory.address && buffer.gone.is_none())
        else {
            return Err(self.no_memory("freeing memory", memory));
        };
        let mut gone = Buffer::new(buffer.name.clone(), buffer.base, &[], None, true);
        self.bytes -= buffer.bytes;
        gone.gone = Some(Gone::Freed);
        self.global.tensors[index] = gone;
        match index < address::HOST_WINDOWS && self.keeps_low {
            true => self.shared.push_back(index),
            false => self.freed.push_back(index),
        }
        Ok(())
    }

    /// Frees all memory but that of variables, which hold what they begin with again. After a launch that was stopped others may follow.
    ///
    /// # Errors
    /// [`DeviceError::Ptx`] if a module cannot be read again.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        let placed: Vec<u64> = self
            .modules
            .iter()
            .flat_map(|module| module.placed.values().copied())
            .collect();
        let there = self
            .global
            .tensors
            .iter()
            .filter(|buffer| buffer.gone.is_none());
        let bases: Vec<u64> = there.map(|buffer| buffer.base).collect();
        for address in bases.into_iter().filter(|base| !placed.contains(base)) {
            self.free(Pointer { address })?;
        }
        for number in 0..self.modules.len() {
            self.begin_variables(number, self.modules[number].placed.clone())?;
        }
        self.report.halted = false;
        Ok(())
    }

    /// The start and the bytes of the memory or the variable whose window a pointer lies in, freed memory left out.
    pub fn extent(&self, pointer: Pointer) -> Option<(Pointer, u64)> {
        let (buffer, _) = self.global.find(pointer.address)?;
        let address = buffer.base;
        (buffer.gone.is_none()).then_some((Pointer { address }, buffer.bytes))
    }

    /// The address and the bytes of a variable of a module in global or constant memory.
    pub fn variable(&self, module: Module, name: &str) -> Option<(Pointer, u64)> {
        let variable = self.global.variable(module.0, name)?;
        let address = variable.base;
        Some((Pointer { address }, variable.bytes))
    }

    /// Makes memory that was allocated the memory of a module's variables, which get its addresses, and writes what the variables begin
    /// with there. It comes before the module's launches.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if a kernel of the module was launched, if the module has no such variable, or if the memory is smaller.
    pub fn place_variables(
        &mut self,
        module: Module,
        places: &[(String, Pointer)],
    ) -> Result<(), DeviceError> {
        let loaded = &self.modules[module.0];
        if let Some(kernel) = loaded.kernels.keys().next() {
            return Err(unsupported(
                format!("variables of the module of {kernel}"),
                "a module without launches",
                "one",
                "place them after the module was added",
            ));
        }
        let mut placed = loaded.placed.clone();
        placed.extend(places.iter().map(|(name, at)| (name.clone(), at.address)));
        self.begin_variables(module.0, placed)
    }

    /// Gives a module's variables what they begin with, some of them in memory that was allocated.
    fn begin_variables(
        &mut self,
        number: usize,
        placed: decode::Placed,
    ) -> Result<(), DeviceError> {
        let failed = |message: String| DeviceError::Ptx {
            arch: self.arch.to_string(),
            message,
        };
        let parsed =
            ptx::parse(&self.modules[number].text).map_err(|error| failed(error.to_string()))?;
        let variables = decode::variables(&parsed, number, &placed);
        let variables = variables.map_err(|error| failed(error.to_string()))?;
        for (name, address) in &placed {
            let known = variables.iter().find(|variable| variable.name == *name);
            let Some(known) = known else {
                return Err(unsupported(
                    format!("the variable {name}"),
                    "one in global memory",
                    "none of the name",
                    "name a variable of the module",
                ));
            };
            self.write(Pointer { address: *address }, &known.bytes)?;
        }
        *self.global.variables_of(number) = variables.iter().map(buffers::variable).collect();
        self.modules[number].placed = placed;
        Ok(())
    }

    /// Writes bytes where a pointer points to, as a copy from the host does between launches.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if they do not lie in memory.
    pub fn write(&mut self, to: Pointer, bytes: &[u8]) -> Result<(), DeviceError> {
        match self.global.range_mut(to.address, bytes.len() as u64) {
            Some((buffer, offset)) => buffer.fill(offset, bytes),
            None => return Err(self.no_range("a copy to", to, bytes.len() as u64)),
        }
        Ok(())
    }

    /// Writes a byte so many times from where a pointer points to on, as a fill does between launches.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if they do not lie in memory.
    pub fn fill(&mut self, to: Pointer, value: u8, bytes: u64) -> Result<(), DeviceError> {
        match self.global.range_mut(to.address, bytes) {
            // No memory is larger than what a process can have.
            Some((buffer, offset)) => buffer.fill(offset, &vec![value; bytes as usize]),
            None => return Err(self.no_range("a fill of", to, bytes)),
        }
        Ok(())
    }

    /// The bytes of the whole memory that a pointer points into; none of what is freed, or is no memory.
    pub fn read(&self, memory: Pointer) -> Vec<u8> {
        let found = self.global.find(memory.address);
        found.map_or_else(Vec::new, |(buffer, _)| buffer.contents())
    }

    /// Reads bytes from where a pointer points to, as a copy to the host does between launches.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if they do not lie in memory.
    pub fn read_to(&self, from: Pointer, bytes: &mut [u8]) -> Result<(), DeviceError> {
        match self.global.range(from.address, bytes.len() as u64) {
            Some((buffer, offset)) => buffer.copy_out(offset, bytes),
            None => return Err(self.no_range("a copy from", from, bytes.len() as u64)),
        }
        Ok(())
    }

    /// Copies bytes from memory to memory between launches. Those that nobody has written stay so.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if one of the ranges does not lie in memory.
    pub fn copy(&mut self, to: Pointer, from: Pointer, bytes: u64) -> Result<(), DeviceError> {
        let Some((source, offset)) = self.global.range(from.address, bytes) else {
            return Err(self.no_range("a copy from", from, bytes));
        };
        let mut contents = vec![0; bytes as usize];
        source.copy_out(offset, &mut contents);
        let missing: Vec<u64> = match source.all_initialized(offset, bytes) {
            true => Vec::new(),
            false => {
                let missing = |byte: &u64| !source.initialized(offset + byte, 1);
                (0..bytes).filter(missing).collect()
            }
        };
        self.write(to, &contents)?;
        if let Some((buffer, offset)) = self.global.range_mut(to.address, bytes) {
            for byte in missing {
                buffer.forget(offset + byte);
            }
        }
        Ok(())
    }

    /// Checks that bytes lie in memory, for `what` of them, such as "a copy to".
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if they do not.
    pub fn check_range(&self, what: &str, pointer: Pointer, bytes: u64) -> Result<(), DeviceError> {
        match self.global.range(pointer.address, bytes) {
            Some(_) => Ok(()),
            None => Err(self.no_range(what, pointer, bytes)),
        }
    }

    /// Tells whether the last launch has accessed the memory that a pointer points into.
    pub fn touched(&self, memory: Pointer) -> bool {
        let found = self.global.find(memory.address);
        found.is_some_and(|(buffer, _)| buffer.is_noted())
    }

    /// The number of bytes of the memory that nobody has written, and the first of them.
    pub fn unwritten(&self, memory: Pointer) -> Option<(u64, u64)> {
        let (buffer, _) = self.global.find(memory.address)?;
        let mut bytes = (0..buffer.bytes).filter(|byte| !buffer.initialized(*byte, 1));
        let first = bytes.next()?;
        Some((1 + bytes.count() as u64, first))
    }

    fn tensor_at(&self, pointer: Pointer) -> Option<(usize, &Buffer)> {
        let index = usize::try_from(address::window(pointer.address))
            .ok()?
            .checked_sub(1)?;
        Some((index, self.global.tensors.get(index)?))
    }

    fn no_memory(&self, place: &str, pointer: Pointer) -> DeviceError {
        let found = match self.global.find(pointer.address) {
            Some((buffer, _)) if buffer.gone == Some(Gone::Freed) => {
                format!("{}, which has been freed", buffer.name)
            }
            Some((buffer, _)) if buffer.gone.is_some() => "an address of the host".into(),
            Some((buffer, offset)) => format!("byte {} of {}", offset as i64, buffer.name),
            None => format!("address {:#x}", pointer.address),
        };
        unsupported(
            place.into(),
            "the start of memory that is allocated",
            found,
            "free what was allocated, once",
        )
    }

    fn no_range(&self, what: &str, pointer: Pointer, length: u64) -> DeviceError {
        match self.global.find(pointer.address) {
            Some((buffer, offset)) if buffer.gone.is_none() => unsupported(
                format!("{what} {}", buffer.name),
                format!("bytes inside of its {}", buffer.bytes),
                format!("{length} at byte {}", offset as i64),
                "take fewer bytes, or allocate more",
            ),
            Some((buffer, _)) if buffer.gone == Some(Gone::Freed) => unsupported(
                format!("{what} {}", buffer.name),
                "memory that is allocated",
                "memory that has been freed".to_string(),
                "free it after the last use",
            ),
            _ => unsupported(
                format!("{what} address {:#x}", pointer.address),
                "memory that is allocated",
                "none there".to_string(),
                "pass a pointer to memory of the device",
            ),
        }
    }
}

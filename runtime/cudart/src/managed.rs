//! Variables that the host and kernels share (`__managed__`).
//!
//! nvcc gives such a variable a pointer on the host, and asks for its module before the host follows that the first time. The variable is
//! memory that both have at one address, which the module is told.

use std::ffi::{c_char, c_int, c_void};

use cute_runtime::emulator::{Module, Pointer};

use crate::Error;
use crate::program::{Program, register};
use crate::registered::{Variable, binary, text};

/// A variable that the host and kernels share.
pub(crate) struct Managed {
    variable: Variable,
    /// The address of its pointer on the host.
    pointer: usize,
}

const NAME: &str = "__managed__";

impl Program {
    /// Gives the variables of a binary their memory. Without a module, or without room, the host has some of its own, so that it comes as
    /// far as its launches.
    pub fn place_managed(
        &mut self,
        call: &str,
        binary: usize,
        module: Option<Module>,
    ) -> Result<(), Error> {
        let mut places = Vec::new();
        let mut outcome = Ok(());
        let all = std::mem::take(&mut self.managed);
        let (own, others): (Vec<Managed>, Vec<Managed>) = all
            .into_iter()
            .partition(|managed| managed.variable.binary == binary);
        self.managed = others;
        for Managed { variable, pointer } in own {
            let bytes = variable.size.max(1);
            let name = format!("the {NAME} variable {} of {bytes} bytes", variable.name);
            let shared = module.map(|_| self.share(call, &name, bytes));
            let at = match shared {
                Some(Ok(at)) => at,
                other => {
                    outcome = other.unwrap_or(Err(Error::NoKernelImage)).map(|_| ());
                    vec![0_u8; bytes].leak().as_mut_ptr().cast()
                }
            };
            places.push((variable.name.clone(), Pointer::of_address(at as u64)));
            // A program passes the variable itself to copies.
            self.variables.insert(at as usize, variable);
            // SAFETY: the program has registered the address of a pointer of its own.
            unsafe { (pointer as *mut *mut c_void).write(at) };
        }
        outcome?;
        if let Some(module) = module
            && !places.is_empty()
        {
            let placed = self.session.place_variables(module, &places);
            placed.map_err(|error| self.failed(NAME, &error, Error::InvalidSymbol))?;
            for (_, place) in places {
                self.fetch(place.address());
            }
        }
        Ok(())
    }
}

/// Registers a variable that the host and kernels share.
///
/// # Safety
/// The arguments are those that a compiler passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    pointer: *mut *mut c_void,
    _: *mut c_char,
    name: *const c_char,
    _: c_int,
    size: usize,
    _: c_int,
    _: c_int,
) {
    // SAFETY: the caller says so.
    let (binary, name) = unsafe { (binary(handle), text(name)) };
    register(|program| {
        let variable = Variable { binary, name, size };
        let pointer = pointer as usize;
        program.managed.push(Managed { variable, pointer });
    });
}

/// Prepares the module of a binary, after which the host may follow the pointers of variables that it shares. Returns that this is done.
///
/// # Safety
/// The handle is one that a compiler passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    // SAFETY: the caller says so.
    let binary = unsafe { binary(handle) };
    register(|program| {
        if program
            .managed
            .iter()
            .any(|managed| managed.variable.binary == binary)
            && program.module(NAME, binary).is_err()
        {
            // What is wrong has been told, and launches tell it again.
            let _ = program.place_managed(NAME, binary, None);
        }
    });
    1
}

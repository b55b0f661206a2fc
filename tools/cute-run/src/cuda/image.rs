//! The CUDA runtime that a program uses, by its file.

use std::path::Path;

use anyhow::{Context, bail};
use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, SectionHeader};

use super::RUNTIMES;

/// The section that compilers put device code into.
const DEVICE_CODE: &[u8] = b".nv_fatbin";

/// Refuses programs whose calls of a CUDA runtime cannot be taken. A file that is no program of this machine, such as a script, may start one.
///
/// # Errors
/// A runtime that is linked in, one of another version, and code of another processor.
pub fn check(program: &Path) -> anyhow::Result<()> {
    let data = std::fs::read(program).context("cannot read it")?;
    if !data.starts_with(b"\x7fELF") {
        return Ok(());
    }
    let read = "it is damaged";
    let header = FileHeader64::<Endianness>::parse(&*data).context(read)?;
    let endian = header.endian().context(read)?;
    if header.e_machine(endian) != elf::EM_X86_64 {
        bail!("expected a program for x86-64, found one for another processor");
    }
    let sections = header.sections(endian, &*data).context(read)?;
    let mut needed = Vec::new();
    if let Some((entries, strings)) = sections.dynamic(endian, &*data).context(read)? {
        let strings = sections.strings(endian, &*data, strings).context(read)?;
        for entry in entries {
            if entry.tag(endian) == elf::DT_NEEDED {
                let name = entry.string(endian, strings).context(read)?;
                needed.push(String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    if let Some(runtime) = needed.iter().find(|name| name.starts_with("libcudart.so")) {
        if !RUNTIMES.contains(&runtime.as_str()) {
            bail!(
                "expected a CUDA runtime of version 12 or 13, found {runtime}; compile it with a newer toolkit"
            );
        }
        return Ok(());
    }
    let named = |section: &elf::SectionHeader64<Endianness>| {
        sections
            .section_name(endian, section)
            .is_ok_and(|name| name == DEVICE_CODE)
    };
    if sections
        .iter()
        .any(|section| named(section) && section.sh_size(endian) > 0)
    {
        bail!(
            "expected the CUDA runtime as a shared library, found device code and no libcudart.so, so that the runtime is linked in; link the \
             program with -cudart shared (nvcc) or -lcudart (clang)"
        );
    }
    Ok(())
}

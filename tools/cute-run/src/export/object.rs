//! The library: the generic object with the package in it, and names for as many of its functions as the package has.
//!
//! Nothing is linked: code and data stay where they are. The tables that have grown, of dynamic symbols and their hashes, go into a new
//! segment with the package, and the room that they had takes the header of that segment.

use std::collections::HashMap;

use anyhow::{Context, anyhow, bail};
use cute::contract::{self, Package};
use cute::slots;
use object::build::elf::{Builder, Dynamic, SectionData, SectionId};
use object::elf;

/// The names of a function in the library.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The symbol of the C function.
    pub c: String,
    /// The symbol of the TVM-FFI function.
    pub tvm: String,
}

/// Makes the library of a package: `generic` with `functions`, in the order of the package's, and the bytes of the package.
///
/// # Errors
/// A generic object that is none, or that is of another version.
pub fn library(
    generic: &[u8],
    soname: &str,
    functions: &[Exported],
    package: &[u8],
) -> anyhow::Result<Vec<u8>> {
    if functions.len() > slots::SLOTS {
        bail!(
            "expected a package of at most {} functions, found {}; split it",
            slots::SLOTS,
            functions.len()
        );
    }
    let mut builder = Builder::read(generic).context("the generic object is no ELF library")?;
    let place = place_of_package(&builder)?;
    name(&mut builder, functions)?;
    leave_out(&mut builder);
    set_soname(&mut builder, soname)?;
    builder.delete_orphans();
    builder.delete_unused_versions();
    let tables = tables(&builder);

    let section = builder.sections.add();
    section.name = b".cute.package"[..].into();
    section.sh_type = elf::SHT_PROGBITS;
    section.sh_flags = elf::SHF_ALLOC;
    section.sh_addralign = 16;
    section.data = SectionData::Data(package.into());
    let own = section.id();
    builder.set_section_sizes();

    let segment = builder
        .segments
        .add_load_segment(elf::PF_R, builder.load_align);
    for id in tables.into_iter().chain([own]) {
        segment.append_section(builder.sections.get_mut(id));
    }
    let address = builder.sections.get(own).sh_addr;
    // Both are addresses of one image, which is far smaller than 2^63 bytes.
    fill_in(
        &mut builder,
        place,
        Package {
            magic: contract::MAGIC,
            offset: address.wrapping_sub(place.address) as i64,
            length: package.len() as u64,
        },
    )?;
    check_headers(&mut builder)?;
    let mut bytes = Vec::new();
    builder
        .write(&mut bytes)
        .context("the library cannot be written")?;
    Ok(bytes)
}

/// The place of the struct that says where the package is.
#[derive(Clone, Copy)]
struct Place {
    section: SectionId,
    address: u64,
}

fn place_of_package(builder: &Builder) -> anyhow::Result<Place> {
    let mut symbols = builder.dynamic_symbols.iter();
    let symbol = symbols.find(|symbol| symbol.name.as_slice() == contract::PACKAGE.as_bytes());
    let found = symbol.and_then(|symbol| Some((symbol.section?, symbol.st_value)));
    let (section, address) = found.ok_or_else(|| {
        anyhow!(
            "the generic object has no symbol {}: it is none of cute-run's",
            contract::PACKAGE
        )
    })?;
    Ok(Place { section, address })
}

/// Gives the functions their names, and takes away those of all others.
fn name(builder: &mut Builder, functions: &[Exported]) -> anyhow::Result<()> {
    let mut names: HashMap<Vec<u8>, &str> = HashMap::new();
    for (number, function) in functions.iter().enumerate() {
        let end = slots::symbol(number);
        names.insert(
            format!("{}{end}", contract::C_SLOT).into_bytes(),
            &function.c,
        );
        names.insert(
            format!("{}{end}", contract::TVM_SLOT).into_bytes(),
            &function.tvm,
        );
    }
    for symbol in &mut builder.dynamic_symbols {
        if symbol.section.is_none() {
            continue;
        }
        match names.remove(symbol.name.as_slice()) {
            Some(name) => symbol.name = name.as_bytes().to_vec().into(),
            None => symbol.delete = true,
        }
    }
    if !names.is_empty() {
        bail!(
            "the generic object lacks {} functions: it is of another version of cute-run",
            names.len()
        );
    }
    Ok(())
}

/// Leaves out what is not loaded (symbols and lines for debuggers), and notes, which stand where the headers of segments grow.
fn leave_out(builder: &mut Builder) {
    for section in &mut builder.sections {
        let is_note = matches!(section.data, SectionData::Note(_));
        let is_name = matches!(section.data, SectionData::SectionString);
        section.delete = is_note || !section.is_alloc() && !is_name;
    }
    for symbol in &mut builder.symbols {
        symbol.delete = true;
    }
    for segment in &mut builder.segments {
        if segment.p_type == elf::PT_NOTE || segment.p_type == elf::PT_GNU_PROPERTY {
            segment.delete = true;
        }
    }
}

fn set_soname(builder: &mut Builder, soname: &str) -> anyhow::Result<()> {
    let entries = builder.dynamic_data_mut().into_iter().flatten();
    for entry in entries {
        if let Dynamic::String { tag, val } = entry
            && *tag == elf::DT_SONAME
        {
            *val = soname.as_bytes().to_vec().into();
            return Ok(());
        }
    }
    // One that is added would be behind the end of the section.
    bail!("the generic object has no DT_SONAME: it is of another version of cute-run")
}

/// The sections of dynamic symbols, which are found by the dynamic section alone.
fn tables(builder: &Builder) -> Vec<SectionId> {
    let sections = builder.sections.iter().filter(|section| {
        let is_table = matches!(
            section.data,
            SectionData::DynamicSymbol
                | SectionData::DynamicString
                | SectionData::Hash
                | SectionData::GnuHash
                | SectionData::GnuVersym
                | SectionData::GnuVerdef
                | SectionData::GnuVerneed
        );
        is_table && !section.delete
    });
    sections.map(|section| section.id()).collect()
}

fn fill_in(builder: &mut Builder, place: Place, package: Package) -> anyhow::Result<()> {
    let section = builder.sections.get_mut(place.section);
    let at = place.address.wrapping_sub(section.sh_addr) as usize;
    let SectionData::Data(data) = &mut section.data else {
        bail!(
            "the generic object has {} in a section without data: it is of another version of cute-run",
            contract::PACKAGE
        );
    };
    let bytes = data.to_mut().get_mut(at..at + Package::BYTES);
    let bytes = bytes.filter(|bytes| **bytes == Package::NONE.to_bytes());
    let bytes = bytes.ok_or_else(|| {
        anyhow!(
            "the generic object's {} is not as this cute-run has it: it is of another version",
            contract::PACKAGE
        )
    })?;
    bytes.copy_from_slice(&package.to_bytes());
    Ok(())
}

/// Checks that the headers of segments do not reach into what follows them.
fn check_headers(builder: &mut Builder) -> anyhow::Result<()> {
    builder.delete_orphan_segments();
    let size = builder.program_headers_size();
    let end = builder.header.e_phoff + size;
    for segment in &mut builder.segments {
        if segment.p_type == elf::PT_PHDR {
            (segment.p_filesz, segment.p_memsz) = (size, size);
        }
    }
    let sections = builder
        .sections
        .iter()
        .filter(|section| !section.delete && section.is_alloc());
    match sections.map(|section| section.sh_offset).min() {
        Some(first) if first < end => bail!(
            "the generic object has a section at byte {first}, where the headers of segments end at {end}: it was linked in a way that this \
             cute-run does not know"
        ),
        _ => Ok(()),
    }
}

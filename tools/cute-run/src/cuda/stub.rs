//! Libraries without functions that stand for a CUDA runtime of some version: a program that was linked with one starts, and finds the
//! functions in the library that was loaded before.

use object::elf;
use object::write::elf::{FileHeader, ProgramHeader, Verdef, Writer};

/// The address and the file's place of what is loaded are the same, in one segment of this alignment.
const PAGE: u64 = 4096;

/// The bytes of a library for x86-64 whose name and whose only version are `soname`, as those of `libcudart.so` are.
///
/// # Errors
/// None that depends on the name.
pub fn library(soname: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(object::Endianness::Little, true, &mut bytes);
    let name = writer.add_dynamic_string(soname.as_bytes());

    writer.reserve_file_header();
    writer.reserve_program_headers(2);
    writer.reserve_null_dynamic_symbol_index();
    let dynsym = writer.reserve_dynsym();
    let dynstr = writer.reserve_dynstr()?;
    let versym = writer.reserve_gnu_versym();
    let verdef = writer.reserve_gnu_verdef(1, 1);
    let hash = writer.reserve_hash(1, 1);
    let dynamic = writer.reserve_dynamic(DYNAMIC);
    let end = writer.reserved_len();
    writer.reserve_null_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_dynstr_section_index();
    writer.reserve_dynsym_section_index();
    writer.reserve_gnu_versym_section_index();
    writer.reserve_gnu_verdef_section_index();
    writer.reserve_hash_section_index();
    writer.reserve_dynamic_section_index();
    writer.reserve_shstrtab()?;
    writer.reserve_section_headers();
    let strings = writer.dynstr_len();
    let text = writer.dynamic_string_offset(Some(name));

    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_DYN,
        e_machine: elf::EM_X86_64,
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })?;
    writer.write_align_program_headers();
    let segment = |p_type, offset: u64, length: u64, align| ProgramHeader {
        p_type,
        p_flags: elf::PF_R | elf::PF_W,
        p_offset: offset,
        p_vaddr: offset,
        p_paddr: offset,
        p_filesz: length,
        p_memsz: length,
        p_align: align,
    };
    writer.write_program_header(&segment(elf::PT_LOAD, 0, end, PAGE));
    writer.write_program_header(&segment(elf::PT_DYNAMIC, dynamic, end - dynamic, 8));
    writer.write_null_dynamic_symbol();
    writer.write_dynstr();
    writer.write_null_gnu_versym();
    writer.write_align_gnu_verdef();
    writer.write_gnu_verdef(&Verdef {
        version: elf::VER_DEF_CURRENT,
        flags: elf::VER_FLG_BASE,
        index: elf::VER_NDX_GLOBAL,
        aux_count: 1,
        name: text,
        hash: elf::hash(soname.as_bytes()),
    });
    writer.write_hash(1, 1, |_| None);
    writer.write_align_dynamic();
    writer.write_dynamic_string(elf::DT_SONAME, name)?;
    for (tag, value) in [
        (elf::DT_HASH, hash),
        (elf::DT_STRTAB, dynstr),
        (elf::DT_STRSZ, strings.into()),
        (elf::DT_SYMTAB, dynsym),
        (elf::DT_SYMENT, 24),
        (elf::DT_VERSYM, versym),
        (elf::DT_VERDEF, verdef),
        (elf::DT_VERDEFNUM, 1),
        (elf::DT_NULL, 0),
    ] {
        writer.write_dynamic(tag, value)?;
    }
    writer.write_shstrtab();
    writer.write_null_section_header();
    writer.write_shstrtab_section_header();
    writer.write_dynstr_section_header(dynstr);
    writer.write_dynsym_section_header(dynsym, 1);
    writer.write_gnu_versym_section_header(versym);
    writer.write_gnu_verdef_section_header(verdef);
    writer.write_hash_section_header(hash);
    writer.write_dynamic_section_header(dynamic);
    Ok(bytes)
}

/// Entries of the dynamic section.
const DYNAMIC: usize = 10;

//! The identities of programs: which build of the compiler runs, and which assembler it calls.
//!
//! A build is known by a hash of the compiler's sources, which its build script takes, and by the size and the time of the file
//! that this code was loaded from, a program or a shared library: dependencies and LLVM are in that file and not in the sources.
//! A hash of the file itself would take longer than everything else of a lookup.

use super::CacheError;
use std::{
    env, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The build of the compiler that runs.
pub(super) fn build() -> Result<&'static str, CacheError> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(known) = BUILD.get() {
        return Ok(known);
    }
    let file = figures(&fs::metadata(loaded_from()).map_err(CacheError::NoBuild)?);
    let version = env!("CARGO_PKG_VERSION");
    let sources = env!("CUTE_SOURCES");
    Ok(BUILD.get_or_init(|| format!("{version} {sources} {file}")))
}

/// A file that something is computed with: its path, its size and its time.
pub(super) fn of_file(path: &Path) -> io::Result<String> {
    let path = path.canonicalize()?;
    let figures = figures(&fs::metadata(&path)?);
    Ok(format!("{} {figures}", path.display()))
}

fn figures(file: &fs::Metadata) -> String {
    format!("{} {} {}", file.len(), file.mtime(), file.mtime_nsec())
}

/// The file that this code was loaded from.
fn loaded_from() -> PathBuf {
    // Leads to the program even where another one has taken its place since it was started.
    let program = PathBuf::from("/proc/self/exe");
    let running = env::current_exe().ok();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    match mapped_at(&maps, loaded_from as *const () as usize) {
        Some(library) if running.as_deref() != Some(library) => library.to_path_buf(),
        _ if program.exists() => program,
        _ => running.unwrap_or(program),
    }
}

/// The file that is mapped at an address, by the lines of `/proc/self/maps`.
fn mapped_at(maps: &str, address: usize) -> Option<&Path> {
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let from = usize::from_str_radix(from, 16).ok()?;
        let to = usize::from_str_radix(to, 16).ok()?;
        let path = rest.find('/').map(|at| Path::new(&rest[at..]))?;
        (from..to).contains(&address).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_program_is_found() {
        let own = fs::metadata(env::current_exe().unwrap()).unwrap();
        let found = fs::metadata(loaded_from()).unwrap();
        assert_eq!(own.ino(), found.ino());
        assert_eq!(build().unwrap(), build().unwrap());
        assert!(build().unwrap().contains(env!("CUTE_SOURCES")));
    }

    #[test]
    fn the_file_of_an_address_is_read() {
        let maps = "10000-20000 r--p 00000000 fe:00 7 /usr/bin/python3\n\
                    30000-38000 r-xp 00000000 fe:00 8    /opt/a b/libcute.so\n\
                    40000-50000 rw-p 00000000 00:00 0 [heap]\n";
        assert_eq!(
            mapped_at(maps, 0x37fff),
            Some(Path::new("/opt/a b/libcute.so"))
        );
        assert_eq!(mapped_at(maps, 0x38000), None);
        assert_eq!(mapped_at(maps, 0x48000), None);
        assert_eq!(mapped_at("nothing of the kind", 0), None);
    }

    #[test]
    fn a_file_that_changes_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::write(&one, "1").unwrap();
        fs::hard_link(&one, &other).unwrap();
        let first = of_file(&one).unwrap();
        assert_eq!(of_file(&one).unwrap(), first);
        assert_ne!(of_file(&other).unwrap(), first);
        fs::write(&one, "12").unwrap();
        assert_ne!(of_file(&one).unwrap(), first);
        assert!(of_file(&folder.path().join("none")).is_err());
    }
}

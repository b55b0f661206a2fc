//! Entries as files: how they are read, written, and removed.
//!
//! An entry is one file, named by its key. Numbers are little-endian:
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `CUTEKEPT` |
//! | 4 | the version of this form |
//! | 4 | how many parts there are |
//! | 32 | the key |
//! | 32 | BLAKE3 of all other bytes of the file |
//! | 8 each | the lengths of the parts |
//! | | the parts |
//!
//! It is written beside its place and renamed, so that a reader finds all of it or nothing. What a killed process leaves is
//! a file of another name, which is removed when it is old.

use super::{Cache, CacheError, Key};
use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use tempfile::NamedTempFile;

const MAGIC: &[u8; 8] = b"CUTEKEPT";
const VERSION: u32 = 1;
/// The bytes before the checksum.
const CHECKED: usize = 48;
/// The bytes before the lengths.
const HEADER: usize = 80;
/// The end of an entry's name.
const ENDING: &str = ".kept";
/// The beginning of the name of a file that is being written; a package that is written there has another dot before.
const HALF: &str = ".half-";
/// The time after which nobody writes any more to a file that is being written.
const ABANDONED: Duration = Duration::from_secs(600);

/// The byte strings that were kept under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    bytes: Vec<u8>,
    /// The place of the first one in the bytes.
    first: usize,
    /// The end of each, from there.
    ends: Vec<usize>,
}

impl Entry {
    /// The byte strings, in the order in which they were given.
    pub fn parts(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        let part = |(start, end): (usize, &usize)| {
            let range = self.first + start..self.first + end;
            self.bytes.get(range).unwrap_or_default()
        };
        ranges.map(part).collect()
    }
}

impl Cache {
    /// Finds an entry; none where there is none, or one that is damaged or of something else. It is now the one that was used last.
    ///
    /// # Errors
    /// [`CacheError::Io`]: a file that is there and cannot be read.
    pub fn load(&self, key: &Key) -> Result<Option<Entry>, CacheError> {
        let path = self.path(key);
        let wrong = |error| CacheError::Io {
            action: "read",
            path: path.clone(),
            error,
        };
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(wrong)?,
        };
        let length = file.metadata().map_err(wrong)?.len();
        // One that is larger was never kept.
        if length > self.limit {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.read_to_end(&mut bytes).map_err(wrong)?;
        let entry = decode(key, bytes);
        if entry.is_some() {
            // In a folder that is only read, entries keep their times.
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(entry)
    }

    /// Keeps an entry, in place of one that is there, and removes those that were not used for the longest time where there is
    /// no room for it. One that is larger than the whole cache may be is not kept.
    ///
    /// # Errors
    /// [`CacheError::Io`]: a folder that cannot be made, listed or written.
    pub fn store(&self, key: &Key, parts: &[&[u8]]) -> Result<(), CacheError> {
        let bytes = encode(key, parts);
        if bytes.len() as u64 > self.limit {
            return Ok(());
        }
        let path = self.path(key);
        let mut half = self.half()?;
        let written = half
            .write_all(&bytes)
            .and_then(|()| half.as_file().sync_all());
        written.map_err(|error| self.cannot("write", half.path(), error))?;
        // What others are writing counts, so that writers together keep the bound.
        if !self.make_room(&path)? {
            return Ok(());
        }
        match half.persist(&path) {
            Ok(_) => Ok(()),
            Err(failed) => Err(self.cannot("write", &path, failed.error)),
        }
    }

    /// A file in the folder to write to, which is removed with the value, and by others if this process is killed.
    ///
    /// # Errors
    /// [`CacheError::Io`]: a folder that cannot be made or written.
    pub fn half(&self) -> Result<NamedTempFile, CacheError> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder);
        made.map_err(|error| self.cannot("make", &self.folder, error))?;
        let file = tempfile::Builder::new()
            .prefix(HALF)
            .tempfile_in(&self.folder);
        file.map_err(|error| self.cannot("write", &self.folder, error))
    }

    /// Removes what was abandoned, and the oldest entries until all files together are within the bound; the entry at `path`,
    /// which is about to be replaced, does not count. Tells whether they are.
    fn make_room(&self, path: &Path) -> Result<bool, CacheError> {
        let list = |error| self.cannot("list", &self.folder, error);
        let now = SystemTime::now();
        let mut total = 0u64;
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.folder).map_err(list)? {
            let file = file.map_err(list)?;
            let name = file.file_name();
            let Some(kind) = name.to_str().and_then(kind_of) else {
                continue;
            };
            // Somebody else has removed it.
            let Ok(figures) = file.metadata() else {
                continue;
            };
            let used = figures.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let age = now.duration_since(used).unwrap_or_default();
            if kind == Kind::Half && age > ABANDONED && fs::remove_file(file.path()).is_ok() {
                continue;
            }
            if file.path() == path {
                continue;
            }
            total = total.saturating_add(figures.len());
            if kind == Kind::Entry {
                entries.push((used, file.path(), figures.len()));
            }
        }
        entries.sort();
        for (_, path, length) in entries {
            if total <= self.limit {
                break;
            }
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => total -= length,
            }
        }
        Ok(total <= self.limit)
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{key}{ENDING}"))
    }

    fn cannot(&self, action: &'static str, path: &Path, error: io::Error) -> CacheError {
        CacheError::Io {
            action,
            path: path.to_path_buf(),
            error,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Entry,
    Half,
}

/// The kind of a file of the cache, by its name; none of a file of somebody else.
fn kind_of(name: &str) -> Option<Kind> {
    let half = name.strip_prefix('.').unwrap_or(name).starts_with(HALF);
    let entry = name
        .strip_suffix(ENDING)
        .is_some_and(|key| key.len() == 64 && key.bytes().all(|c| c.is_ascii_hexdigit()));
    match (name.starts_with(HALF) || half, entry) {
        (true, _) => Some(Kind::Half),
        (_, true) => Some(Kind::Entry),
        _ => None,
    }
}

fn encode(key: &Key, parts: &[&[u8]]) -> Vec<u8> {
    let size = parts.iter().map(|part| 8 + part.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(HEADER + size);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((parts.len() as u32).to_le_bytes());
    bytes.extend(key.0.as_bytes());
    bytes.resize(HEADER, 0);
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
    }
    for part in parts {
        bytes.extend(*part);
    }
    let sum = checksum(&bytes);
    bytes[CHECKED..HEADER].copy_from_slice(sum.as_bytes());
    bytes
}

/// The parts of an entry, if these bytes are one of this key, whole and as it was written.
fn decode(key: &Key, bytes: Vec<u8>) -> Option<Entry> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let (name, rest) = rest.split_first_chunk::<32>()?;
    let (sum, mut rest) = rest.split_first_chunk::<32>()?;
    if u32::from_le_bytes(*version) != VERSION || key.0 != *name || checksum(&bytes) != *sum {
        return None;
    }
    let mut ends = Vec::new();
    let mut end = 0usize;
    for _ in 0..u32::from_le_bytes(*count) {
        let (length, after) = rest.split_first_chunk()?;
        end = end.checked_add(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        ends.push(end);
        rest = after;
    }
    let first = bytes.len() - rest.len();
    (rest.len() == end).then_some(Entry { bytes, first, ends })
}

/// The hash of all bytes of an entry but the place of the hash.
fn checksum(bytes: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytes.get(..CHECKED).unwrap_or(bytes));
    hasher.update(bytes.get(HEADER..).unwrap_or_default());
    hasher.finalize()
}

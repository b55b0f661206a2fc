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
//! It is written beside its place and renamed, so that a reader finds all of it or nothing. One writer at a time has the folder, by a lock
//! that the system takes back from a killed process: it makes room before it writes, so that the files together are within the bound at any
//! time. What a killed process leaves is a file of another name, which the next writer removes.

use super::{Cache, CacheError, Key};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
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
/// The beginning of the name of an entry that is being written.
const PART: &str = ".part-";
/// The beginning of the names of files that former versions write, which take no lock; of a package it has another dot before.
const HALF: &str = ".half-";
/// The time after which nobody writes any more to one of these.
const ABANDONED: Duration = Duration::from_secs(600);
/// The time that a writer waits for another one, of which nobody knows whether it goes on.
const PATIENCE: Duration = Duration::from_secs(2);

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
    /// no room for it. One that is larger than the whole cache may be is not kept, nor one for which another writer leaves no time.
    ///
    /// # Errors
    /// [`CacheError::Io`]: a folder that cannot be made, listed or written.
    pub fn store(&self, key: &Key, parts: &[&[u8]]) -> Result<(), CacheError> {
        let bytes = encode(key, parts);
        if bytes.len() as u64 > self.limit {
            return Ok(());
        }
        self.make_folder()?;
        let Some(_alone) = self.lock()? else {
            return Ok(());
        };
        let path = self.path(key);
        if !self.make_room(&path, bytes.len() as u64)? {
            return Ok(());
        }
        let mut part = self.part()?;
        let written = part
            .write_all(&bytes)
            .and_then(|()| part.as_file().sync_all());
        written.map_err(|error| self.cannot("write", part.path(), error))?;
        match part.persist(&path) {
            Ok(_) => Ok(()),
            Err(failed) => Err(self.cannot("write", &path, failed.error)),
        }
    }

    /// Checks that entries can be kept, before something takes its time to be made for that.
    ///
    /// # Errors
    /// [`CacheError::Io`]: a folder that cannot be made or written.
    pub fn check(&self) -> Result<(), CacheError> {
        self.make_folder()?;
        let file = tempfile::tempfile_in(&self.folder);
        file.map_err(|error| self.cannot("write", &self.folder, error))?;
        Ok(())
    }

    /// A file in the folder to write to, which is removed with the value, and by others if this process is killed, or does not have the folder to
    /// itself.
    ///
    /// # Errors
    /// [`CacheError::Io`]: a folder that cannot be made or written.
    pub fn part(&self) -> Result<NamedTempFile, CacheError> {
        self.make_folder()?;
        let part = tempfile::Builder::new()
            .prefix(PART)
            .tempfile_in(&self.folder);
        part.map_err(|error| self.cannot("write", &self.folder, error))
    }

    fn make_folder(&self) -> Result<(), CacheError> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder);
        made.map_err(|error| self.cannot("make", &self.folder, error))
    }

    /// The folder, which nobody else writes to while the value is there; none where somebody else does for too long.
    fn lock(&self) -> Result<Option<File>, CacheError> {
        let wrong = |error| self.cannot("lock", &self.folder, error);
        let folder = File::open(&self.folder).map_err(wrong)?;
        let began = Instant::now();
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(folder)),
                Err(Errno::WOULDBLOCK) if began.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => {}
                // A file system without locks.
                Err(Errno::OPNOTSUPP | Errno::NOLCK) => return Ok(Some(folder)),
                Err(error) => return Err(wrong(error.into())),
            }
        }
    }

    /// Removes what was abandoned, and the oldest entries until all files together are within the bound with `needed` bytes more; first the
    /// entry at `path`, which is about to be replaced. Tells whether they are.
    fn make_room(&self, path: &Path, needed: u64) -> Result<bool, CacheError> {
        let list = |error| self.cannot("list", &self.folder, error);
        let now = SystemTime::now();
        let mut total = needed;
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
            let is_abandoned = match kind {
                Kind::Entry => false,
                Kind::Part => true,
                Kind::Half => age > ABANDONED,
            };
            if is_abandoned && fs::remove_file(file.path()).is_ok() {
                continue;
            }
            total = total.saturating_add(figures.len());
            if kind == Kind::Entry {
                let stays = file.path() != path;
                entries.push((stays, used, file.path(), figures.len()));
            }
        }
        entries.sort();
        for (_, _, path, length) in entries {
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
    Part,
    Half,
}

/// The kind of a file of the cache, by its name; none of a file of somebody else.
fn kind_of(name: &str) -> Option<Kind> {
    let half = name
        .strip_prefix('.')
        .is_some_and(|name| name.starts_with(HALF));
    let entry = name
        .strip_suffix(ENDING)
        .is_some_and(|key| key.len() == 64 && key.bytes().all(|c| c.is_ascii_hexdigit()));
    match name {
        _ if name.starts_with(PART) => Some(Kind::Part),
        _ if name.starts_with(HALF) || half => Some(Kind::Half),
        _ if entry => Some(Kind::Entry),
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

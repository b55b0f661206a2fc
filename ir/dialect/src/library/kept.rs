//! The texts of files that are imported, each read again only when the file has changed: every call of a text asks for those that it imports.

use super::files;
use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{self, Path, PathBuf},
    sync::{Arc, LazyLock, PoisonError, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A file that has been read.
#[derive(Clone)]
pub(super) struct Kept {
    /// The name that the file has without links.
    pub name: Arc<str>,
    /// The text that stands in it.
    pub text: Arc<str>,
}

/// The marks of a file that are others when something else has been written there.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    length: u64,
    /// The last change of what is in it, and of what is said of it, in seconds and nanoseconds.
    times: [(i64, i64); 2],
}

/// The age from which on a file has another time when it is written once more: clocks of file systems go in steps, the longest of two seconds.
const SETTLED: Duration = Duration::from_secs(3);

impl Stamp {
    fn of(file: &fs::Metadata) -> Self {
        Self {
            file: (file.dev(), file.ino()),
            length: file.len(),
            times: [
                (file.mtime(), file.mtime_nsec()),
                (file.ctime(), file.ctime_nsec()),
            ],
        }
    }

    /// Tells whether a file that is written after `now` has another stamp.
    fn is_settled(&self, now: SystemTime) -> bool {
        let [written, said] = self.times.map(|(seconds, _)| seconds);
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let last = u64::try_from(written.max(said)).unwrap_or_default();
        Duration::from_secs(last) + SETTLED < now
    }
}

static FILES: LazyLock<RwLock<HashMap<PathBuf, (Stamp, Kept)>>> = LazyLock::new(RwLock::default);

/// The text of a file; nothing where it cannot be read, and where it is no text.
pub(super) fn read(file: &Path) -> Option<Kept> {
    let path = path::absolute(file).ok()?;
    let stamp = Stamp::of(&fs::metadata(&path).ok()?);
    let kept = FILES.read().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, kept)) = kept.get(&path).filter(|(of, _)| *of == stamp) {
        return Some(kept.clone());
    }
    drop(kept);
    let now = SystemTime::now();
    let read = Kept {
        text: String::from_utf8(files::read(&path).ok()?).ok()?.into(),
        name: fs::canonicalize(&path).ok()?.to_str()?.into(),
    };
    if stamp.is_settled(now) {
        let mut all = FILES.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(path, (stamp, read.clone()));
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};

    #[test]
    fn a_file_is_read_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.mlir");
        let text = || read(&file).map(|kept| kept.text.to_string());
        assert_eq!(text(), None);
        for written in ["one", "two", "three", "two"] {
            fs::write(&file, written).unwrap();
            assert_eq!(text().as_deref(), Some(written));
            assert_eq!(text().as_deref(), Some(written));
        }
        // Another file of the same length and the same time in its place.
        let old = SystemTime::now() - Duration::from_secs(100);
        let write = |at: &Path, written: &str| {
            fs::write(at, written).unwrap();
            let times = FileTimes::new().set_modified(old);
            File::options()
                .write(true)
                .open(at)
                .and_then(|file| file.set_times(times))
                .unwrap();
        };
        write(&file, "one");
        assert_eq!(text().as_deref(), Some("one"));
        let other = folder.path().join("b.mlir");
        write(&other, "two");
        fs::rename(&other, &file).unwrap();
        assert_eq!(text().as_deref(), Some("two"));
        fs::remove_file(&file).unwrap();
        assert_eq!(text(), None);
        fs::write(&file, b"\xff").unwrap();
        assert_eq!(text(), None);
    }

    #[test]
    fn only_a_file_that_was_written_long_ago_is_kept() {
        let stamp = |written, said| Stamp {
            file: (1, 2),
            length: 3,
            times: [(written, 0), (said, 0)],
        };
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        assert!(stamp(900, 900).is_settled(now));
        assert!(stamp(0, 996).is_settled(now));
        // Just written, given an old time just now, and of a clock that is ahead.
        assert!(!stamp(1000, 1000).is_settled(now));
        assert!(!stamp(0, 998).is_settled(now));
        assert!(!stamp(2000, 900).is_settled(now));
    }
}

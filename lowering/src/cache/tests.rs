//! The folder of entries: what is used, what is replaced, what is removed, and by how many at once.

use super::{Cache, CacheError, Key, bytes};
use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

fn key(name: &str) -> Key {
    Key(blake3::hash(name.as_bytes()))
}

/// A cache in a folder that is removed with the first value.
fn cache() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("a/b"));
    (folder, cache)
}

fn load(cache: &Cache, name: &str) -> Option<Vec<Vec<u8>>> {
    let entry = cache.load(&key(name)).unwrap()?;
    Some(entry.parts().into_iter().map(<[u8]>::to_vec).collect())
}

fn files(cache: &Cache) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.folder()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    File::open(path).unwrap().set_modified(then).unwrap();
}

fn entry_of(cache: &Cache, name: &str) -> PathBuf {
    cache.folder().join(format!("{}.kept", key(name)))
}

#[test]
fn what_is_kept_is_found_under_its_key_alone() {
    let (_folder, cache) = cache();
    assert_eq!(load(&cache, "one"), None);
    cache.store(&key("one"), &[b"1", b"", b"three"]).unwrap();
    cache.store(&key("none"), &[]).unwrap();
    let found = load(&cache, "one").unwrap();
    assert_eq!(found, [&b"1"[..], b"", b"three"]);
    assert_eq!(load(&cache, "none"), Some(Vec::new()));
    assert_eq!(load(&cache, "two"), None);
    // An entry under the name of another.
    fs::copy(entry_of(&cache, "one"), entry_of(&cache, "two")).unwrap();
    assert_eq!(load(&cache, "two"), None);
    // It is replaced.
    cache.store(&key("two"), &[b"2"]).unwrap();
    assert_eq!(load(&cache, "two").unwrap(), [b"2"]);
    assert_eq!(files(&cache).len(), 3);
}

#[test]
fn no_damaged_entry_is_used() {
    let (_folder, cache) = cache();
    cache.store(&key("one"), &[b"some", b"parts"]).unwrap();
    let path = entry_of(&cache, "one");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        for bit in [1, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= bit;
            fs::write(&path, bytes).unwrap();
            assert_eq!(load(&cache, "one"), None, "byte {at}");
        }
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(load(&cache, "one"), None, "{at} bytes");
    }
    fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
    assert_eq!(load(&cache, "one"), None);
    fs::write(&path, &whole).unwrap();
    assert!(load(&cache, "one").is_some());
}

#[test]
fn lengths_that_lie_are_not_followed() {
    let (_folder, cache) = cache();
    cache.store(&key("one"), &[b"some"]).unwrap();
    let path = entry_of(&cache, "one");
    let whole = fs::read(&path).unwrap();
    for (at, with) in [(12, &[0xff; 4][..]), (80, &[0xff; 8])] {
        let mut bytes = whole.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        // With a checksum that is right.
        let sum = blake3::hash(&[&bytes[..48], &bytes[80..]].concat());
        bytes[48..80].copy_from_slice(sum.as_bytes());
        fs::write(&path, bytes).unwrap();
        assert_eq!(load(&cache, "one"), None, "at {at}");
    }
}

#[test]
fn the_entries_that_were_used_longest_ago_make_room() {
    let (_folder, cache) = cache();
    // 88 bytes around each.
    let cache = cache.limit(3 * 1088);
    let part = [7u8; 1000];
    for (name, seconds) in [("a", 30), ("b", 20), ("c", 10)] {
        cache.store(&key(name), &[&part]).unwrap();
        age(&entry_of(&cache, name), seconds);
    }
    let theirs = cache.folder().join("somebody-elses.txt");
    fs::write(&theirs, [0; 5000]).unwrap();
    age(&theirs, 100_000);
    assert!(load(&cache, "a").is_some(), "used again");
    cache.store(&key("d"), &[&part]).unwrap();
    let there = |name| load(&cache, name).is_some();
    assert!(there("a") && !there("b") && there("c") && there("d"));
    // The same once more takes no room of others.
    cache.store(&key("d"), &[&part]).unwrap();
    assert!(there("a") && there("c") && there("d") && theirs.exists());
    // A bound that is lower now.
    let smaller = cache.clone().limit(1088);
    smaller.store(&key("e"), &[&part]).unwrap();
    assert!(there("e") && !there("a") && !there("c") && !there("d"));
    // What has no room at all is not kept, and takes none from others.
    smaller.store(&key("f"), &[&[0; 1001]]).unwrap();
    assert!(there("e") && !there("f"));
    assert_eq!(files(&cache).len(), 2);
}

#[test]
fn what_killed_writers_leave_is_removed() {
    let (_folder, cache) = cache();
    cache.store(&key("a"), &[b"a"]).unwrap();
    let half = |name: &str, seconds| {
        let path = cache.folder().join(name);
        fs::write(&path, "half of it").unwrap();
        age(&path, seconds);
        path
    };
    let part = half(".part-abc", 0);
    // Former versions' files: somebody may be writing them.
    let old = half(".half-abc", 3600);
    let package = half("..half-abc.77.0.tmp", 3600);
    let young = half(".half-def", 5);
    let theirs = half(".halves", 3600);
    cache.store(&key("b"), &[b"b"]).unwrap();
    assert!(!part.exists() && !old.exists() && !package.exists());
    assert!(young.exists() && theirs.exists());
    assert_eq!(files(&cache).len(), 4);
    // They count: one that is being written leaves no room for another one.
    let tight = cache.clone().limit(100);
    fs::write(&young, [0; 90]).unwrap();
    tight.store(&key("c"), &[b"c"]).unwrap();
    assert_eq!(load(&tight, "c"), None);
}

#[test]
fn the_bound_holds_while_an_entry_is_written() {
    let (_folder, cache) = cache();
    let cache = cache.limit(3 * 1088);
    let done = std::sync::atomic::AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                // What is counted twice was renamed meanwhile, and stands for one file.
                let Ok(all) = fs::read_dir(cache.folder()) else {
                    continue;
                };
                let mut seen = std::collections::BTreeMap::new();
                for figures in all.flatten().filter_map(|file| file.metadata().ok()) {
                    seen.insert(std::os::unix::fs::MetadataExt::ino(&figures), figures.len());
                }
                most = most.max(seen.values().sum());
            }
            most
        });
        for name in 0..200 {
            let name = format!("{}", name % 7);
            cache.store(&key(&name), &[&[7u8; 1000]]).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        watcher.join().unwrap()
    });
    assert!(most > 1088 && most <= 3 * 1088, "{most}");
}

#[test]
fn a_writer_that_stands_still_keeps_nobody() {
    let (_folder, cache) = cache();
    cache.store(&key("a"), &[b"a"]).unwrap();
    let folder = File::open(cache.folder()).unwrap();
    flock(&folder, FlockOperation::LockExclusive).unwrap();
    cache.store(&key("b"), &[b"b"]).unwrap();
    assert!(load(&cache, "a").is_some() && load(&cache, "b").is_none());
    flock(&folder, FlockOperation::Unlock).unwrap();
    cache.store(&key("b"), &[b"b"]).unwrap();
    assert!(load(&cache, "b").is_some());
}

#[test]
fn many_writers_keep_the_bound_and_every_entry_whole() {
    let (_folder, cache) = cache();
    let cache = cache.limit(8_000);
    let part = |name: &str| name.repeat(500).into_bytes();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (cache, part) = (&cache, &part);
            scope.spawn(move || {
                for turn in 0..60 {
                    let name = format!("{}", (writer * 7 + turn) % 16);
                    match load(cache, &name) {
                        Some(found) => assert_eq!(found, [part(&name)]),
                        None => cache.store(&key(&name), &[&part(&name)]).unwrap(),
                    }
                    if writer == 0 {
                        let path = entry_of(cache, &name);
                        let file = File::options().write(true).open(path);
                        let _ = file.and_then(|mut file| file.write_all(b"damaged"));
                    }
                }
            });
        }
    });
    let left = files(&cache);
    assert!(!left.is_empty() && left.iter().all(|path| path.extension().is_some()));
    let total: u64 = left.iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(total <= 8_000, "{total}");
}

#[test]
fn a_folder_that_is_none_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let cache = Cache::at(file.join("below"));
    let said = |error: CacheError| error.to_string();
    let error = said(cache.store(&key("a"), &[]).unwrap_err());
    assert!(error.contains("cannot make"), "{error}");
    assert!(error.contains(file.to_str().unwrap()), "{error}");
    let error = said(cache.load(&key("a")).unwrap_err());
    assert!(error.contains("cannot read"), "{error}");
    // An entry that is a folder.
    let cache = Cache::at(folder.path());
    fs::create_dir(entry_of(&cache, "a")).unwrap();
    assert!(cache.load(&key("a")).is_err());
    assert!(cache.store(&key("a"), &[]).is_err());
}

#[test]
fn bounds_are_read() {
    assert_eq!(bytes("300"), Some(300));
    assert_eq!(bytes("2k"), Some(2048));
    assert_eq!(bytes("512M"), Some(512 << 20));
    assert_eq!(bytes("2G"), Some(2 << 30));
    for wrong in [
        "",
        "G",
        "-1",
        "1.5G",
        "2T",
        "99999999999999999999",
        "99999999999G",
        "ä",
    ] {
        assert_eq!(bytes(wrong), None, "{wrong}");
    }
}

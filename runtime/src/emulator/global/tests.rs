//! Bytes, writers and what is handed on, without a kernel around them.

use super::super::clocks::Clocks;
use super::super::program::{Order, Scope};
use super::*;

fn buffer(length: usize) -> Buffer {
    let mut buffer = Buffer::new(
        "C".into(),
        1 << 40,
        &vec![0xff; length],
        Some(&|_| false),
        true,
    );
    buffer.start_launch(2, true);
    buffer
}

/// Weak accesses of a thread of a block.
fn by(clocks: &Clocks, block: u64, thread: u32) -> Accessor<'_> {
    Accessor {
        block,
        rank: 0,
        thread,
        inst: 7,
        order: Order::default(),
        agent: None,
        clocks,
    }
}

fn strong(clocks: &Clocks, block: u64, thread: u32, scope: Scope) -> Accessor<'_> {
    let order = Order {
        width: 4,
        scope,
        ..Order::default()
    };
    Accessor {
        order,
        ..by(clocks, block, thread)
    }
}

fn whom(found: Option<Unordered>) -> Option<(u64, u32)> {
    found.map(|found| (found.who.block, found.who.thread))
}

#[test]
fn values_of_all_widths_are_stored() {
    let clocks = Clocks::new(1, false);
    let (b, by) = (buffer(30), by(&clocks, 0, 0));
    b.write(28, &[1, 2], &by, None);
    b.write(3, &[9], &by, None);
    b.write(16, &[1, 2, 3, 4, 5, 6, 7, 8], &by, None);
    let contents = b.contents();
    assert_eq!(
        (contents[28], contents[29], contents[3], contents[2]),
        (1, 2, 9, 0xff)
    );
    assert_eq!(&contents[16..24], [1, 2, 3, 4, 5, 6, 7, 8]);
    let mut out = [0; 2];
    b.read(28, &mut out);
    assert_eq!(out, [1, 2]);
    assert!(
        b.initialized(16, 8)
            && !b.initialized(12, 4)
            && b.initialized(28, 2)
            && b.initialized(3, 1)
    );
    assert!(b.holds(28, 2) && !b.holds(28, 4) && !b.holds(u64::MAX, 2));
}

#[test]
fn different_values_by_unordered_threads_conflict() {
    let (clocks, b) = (Clocks::new(8, false), buffer(64));
    assert_eq!(b.write(0, &[1, 1, 2, 2], &by(&clocks, 0, 0), None), None);
    let same = b.write(0, &[1, 1], &by(&clocks, 1, 0), None);
    assert_eq!(same, None, "the same value");
    let found = b.write(2, &[4, 2], &by(&clocks, 2, 5), None);
    assert_eq!(whom(found), Some((0, 0)));
    // Both writers of the one value are known.
    assert_eq!(whom(b.note_read(0, 2, &by(&clocks, 1, 0))), Some((0, 0)));
    assert_eq!(whom(b.note_read(0, 2, &by(&clocks, 0, 0))), Some((1, 0)));
    assert_eq!(b.note_read(8, 4, &by(&clocks, 7, 0)), None);
    // Every reader is: of one block, and of several.
    assert_eq!(b.note_read(8, 4, &by(&clocks, 7, 1)), None);
    let found = b.write(8, &[0; 4], &by(&clocks, 7, 1), None);
    assert_eq!(whom(found), Some((7, 0)));
    assert_eq!(found.map(|found| found.other), Some(Class::WEAK_READ));
}

#[test]
fn strong_accesses_conflict_with_weak_ones_and_by_scope() {
    let (clocks, b) = (Clocks::new(2, false), buffer(64));
    let add = |by: &Accessor<'_>| b.modify(0, 4, by, None, |before| Some(before + 1)).1;
    let [block, device] = [Scope::Block, Scope::Device];
    assert_eq!(add(&strong(&clocks, 0, 0, device)), None);
    assert_eq!(add(&strong(&clocks, 1, 0, device)), None);
    assert_eq!(add(&strong(&clocks, 1, 1, device)), None);
    let mut out = [0; 4];
    let read = b.read_noted(0, &mut out, &strong(&clocks, 2, 0, device));
    assert_eq!(read.0, None);
    let (weak, _) = b.read_noted(0, &mut out, &by(&clocks, 0, 1));
    assert_eq!(whom(weak), Some((0, 0)));
    // An atomic operation comes after a plain read, too.
    assert_eq!(whom(add(&strong(&clocks, 2, 0, device))), Some((0, 1)));
    let add = |by: &Accessor<'_>| b.modify(8, 4, by, None, |before| Some(before + 1)).1;
    assert_eq!(add(&strong(&clocks, 0, 0, block)), None);
    assert_eq!(add(&strong(&clocks, 0, 1, device)), None);
    assert_eq!(whom(add(&strong(&clocks, 1, 0, device))), Some((0, 0)));
}

#[test]
fn what_is_handed_on_is_seen_until_it_is_hidden() {
    let (mut clocks, b) = (Clocks::new(2, false), buffer(64));
    let near = std::sync::Arc::new(clocks.release_alone(0));
    let far = Some(near.clone());
    let handed = Handed { near, far };
    let writer = strong(&clocks, 0, 0, Scope::Device);
    b.write(4, &[1; 4], &writer, Some(&handed));
    let seen = |block, thread| {
        let by = strong(&clocks, block, thread, Scope::Device);
        let (_, seen) = b.read_noted(4, &mut [0; 4], &by);
        (seen.near.is_some(), seen.far.is_some())
    };
    assert_eq!((seen(0, 1), seen(1, 0)), ((true, true), (false, true)));
    // An atomic operation leads back to it; a write does not.
    b.modify(4, 4, &writer, None, |_| Some(2));
    assert_eq!(seen(1, 0), (false, true));
    b.write(6, &[1; 2], &by(&clocks, 0, 0), None);
    assert_eq!(seen(0, 1), (false, false));
}

#[test]
fn addresses_find_their_window() {
    let global = Global::new(vec![buffer(64)]);
    assert!(global.find(0).is_none());
    let (found, offset) = global.find((1 << 40) + 100).unwrap();
    assert_eq!((found.name.as_str(), offset), ("C", 100));
    assert!(global.find(1 << 41).is_none());
    assert!(global.find(address::FIRST_VARIABLE << 40).is_none());
}

//! Knowledge that strong writes to a place of global memory hand on, and to whom. (PTX ISA, "Release and Acquire Patterns".)
//!
//! Threads of one block synchronise by accesses of any scope; those of two blocks only where the scopes of all that takes part, the
//! write, the read and their fences, hold both.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::clocks::{Others, Told, View, join_others};

/// The knowledge that a strong write hands on.
#[derive(Clone)]
pub(in crate::emulator) struct Handed {
    /// The view that its own block gets.
    pub near: Arc<View>,
    /// The view that other blocks get, if its scope and that of the release hold them.
    pub far: Option<Arc<View>>,
}

/// The knowledge that a strong read sees.
#[derive(Clone, Default)]
pub(in crate::emulator) struct Seen {
    /// The view that its own block handed on.
    pub near: Option<Arc<View>>,
    /// The views of all blocks, for a read whose scope holds them.
    pub far: Option<Others>,
}

impl Handed {
    pub(crate) fn join(&mut self, new: &Handed) {
        Arc::make_mut(&mut self.near).join(&new.near);
        match (&mut self.far, &new.far) {
            (Some(far), Some(new)) => Arc::make_mut(far).join(new),
            (None, Some(new)) => self.far = Some(Arc::clone(new)),
            (_, None) => {}
        }
    }
}

impl Seen {
    pub(crate) fn is_empty(&self) -> bool {
        self.near.is_none() && self.far.is_none()
    }

    pub(crate) fn join(&mut self, new: &Seen) {
        match (&mut self.near, &new.near) {
            (Some(near), Some(new)) => {
                if !Arc::ptr_eq(near, new) {
                    Arc::make_mut(near).join(new);
                }
            }
            (None, Some(new)) => self.near = Some(Arc::clone(new)),
            (_, None) => {}
        }
        join_others(&mut self.far, new.far.as_ref());
    }
}

/// The knowledge that is handed on at one place: by its last write, and those before it that atomic operations lead back to.
#[derive(Default)]
pub(super) struct Place {
    /// Bytes of the element.
    pub width: u8,
    near: BTreeMap<u64, Arc<View>>,
    far: Option<Others>,
}

impl Place {
    /// A write of a block hands something on.
    pub(super) fn add(&mut self, block: u64, handed: &Handed) {
        match self.near.entry(block) {
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert(Arc::clone(&handed.near));
            }
            std::collections::btree_map::Entry::Occupied(mut slot) => {
                Arc::make_mut(slot.get_mut()).join(&handed.near);
            }
        }
        if let Some(view) = &handed.far {
            let far = self.far.get_or_insert_with(|| Arc::new(Told::nothing()));
            Arc::make_mut(far).add(block, view);
        }
    }

    /// The state that a read of a block sees.
    pub(super) fn seen(&self, block: u64) -> Seen {
        Seen {
            near: self.near.get(&block).cloned(),
            far: self.far.clone(),
        }
    }
}

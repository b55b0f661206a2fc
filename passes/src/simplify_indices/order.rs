//! The places of a kernel's operations in the program.

use cute_ir::mlir::Op;

/// The place of each of some operations. They are all known when it is made, and asked for more often than anything else: a table of twice as many slots
/// as operations, in which the next slot is taken where one is not free.
pub(super) struct Order {
    /// The operations in the program.
    keys: Vec<usize>,
    /// The place of the operation in each slot, if any.
    slots: Vec<u32>,
    /// The number of low bits of a hash that do not say the slot.
    unused: u32,
}

impl Order {
    /// The order of some operations, each of which is there once.
    pub(super) fn of(all: &[Op]) -> Self {
        Self::of_keys(all.iter().map(|op| address(*op)).collect())
    }

    fn of_keys(keys: Vec<usize>) -> Self {
        let bits = (2 * keys.len()).next_power_of_two().trailing_zeros().max(1);
        let mut order = Self {
            keys,
            slots: vec![FREE; 1 << bits],
            unused: u64::BITS - bits,
        };
        for place in 0..order.keys.len() {
            let slot = order.slot(order.keys[place]);
            order.slots[slot] = place as u32;
        }
        order
    }

    /// The place of an operation; nothing of one that was not among them.
    pub(super) fn place(&self, op: Op) -> Option<usize> {
        self.place_of_key(address(op))
    }

    fn place_of_key(&self, key: usize) -> Option<usize> {
        let place = self.slots[self.slot(key)];
        (place != FREE).then_some(place as usize)
    }

    /// The slot that an operation has, or else would have.
    fn slot(&self, key: usize) -> usize {
        // The golden ratio: its product has addresses that are near each other far apart in its high bits.
        let hash = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (hash >> self.unused) as usize;
        while self.slots[slot] != FREE && self.keys[self.slots[slot] as usize] != key {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }
}

/// The place in a slot that is free.
const FREE: u32 = u32::MAX;

/// The address of an operation.
fn address(op: Op) -> usize {
    op.to_raw().ptr as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place_and_others_have_none() {
        for count in [0_usize, 1, 2, 7, 64, 1000] {
            // Addresses as an allocator gives them, and the same again where all bits but high ones are alike.
            for step in [48, 1 << 40] {
                let key = |at: usize| 0x7f00_0000_1000 + at * step;
                let order = Order::of_keys((0..count).map(key).collect());
                for at in 0..count {
                    assert_eq!(order.place_of_key(key(at)), Some(at), "{count} {step}");
                }
                assert_eq!(order.place_of_key(key(count)), None, "{count} {step}");
            }
        }
    }
}

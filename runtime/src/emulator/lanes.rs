//! The values of one register in all lanes of a warp.

/// Lanes of a warp.
pub const LANES: usize = 32;

/// One register of a warp: what each lane holds, zero-extended from the register's width.
pub type Row = [u64; LANES];

/// One bit a lane.
pub type Mask = u32;

/// The lanes of a mask, in order.
pub fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The lanes of a mask that a condition holds for, as a mask.
pub fn select(mask: Mask, holds: impl Fn(usize) -> bool) -> Mask {
    lanes(mask)
        .filter(|&lane| holds(lane))
        .fold(0, |found, lane| found | 1 << lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_in_order() {
        assert_eq!(lanes(0).count(), 0);
        assert_eq!(lanes(0x8000_0005).collect::<Vec<_>>(), [0, 2, 31]);
        assert_eq!(lanes(u32::MAX).count(), 32);
        assert_eq!(select(0x8000_0005, |lane| lane > 1), 0x8000_0004);
    }
}

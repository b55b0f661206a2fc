//! Calls of what the system provides: printing and assertions.

use super::conversions::Spec;
use super::unwritten::{WRITTEN, all_written};
use super::*;
use crate::emulator::address;

impl Context<'_> {
    /// `vprintf(format, arguments)`: the format's text and a buffer of arguments, each at a multiple of its
    /// size. (CUDA C++ Programming Guide, "Formatted Output".)
    pub(super) fn printf(
        &mut self,
        warp: &mut Warp,
        active: Mask,
        [format, arguments]: [u64; 2],
        result: Option<u64>,
        pc: u32,
    ) {
        for lane in lanes(active) {
            self.check_own(warp, lane, pc, format, 8);
            self.check_own(warp, lane, pc, arguments, 8);
            let text = self
                .local_u64(warp, lane, format)
                .and_then(|at| self.text(at));
            let buffer = self.local_u64(warp, lane, arguments).unwrap_or(0);
            let Some(text) = text else { continue };
            let printed = self.formatted(warp, lane, &text, buffer);
            if let Some(at) = printed.2 {
                self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, Space::Local, at);
            }
            self.printed.push_str(&printed.0);
            if let Some(at) = result {
                let range = self.own(lane, at, 4);
                if let Some(range) = range {
                    warp.local[range.clone()].copy_from_slice(&printed.1.to_le_bytes());
                    warp.local_written[range].fill(WRITTEN);
                }
            }
        }
    }

    fn local_u64(&self, warp: &Warp, lane: usize, at: u64) -> Option<u64> {
        let range = self.own(lane, at, 8)?;
        Some(u64::from_le_bytes(warp.local[range].try_into().ok()?))
    }

    /// Bytes at a generic address in global or local memory.
    fn byte(&self, warp: Option<(&Warp, usize)>, at: u64) -> Option<u8> {
        if let (Some(offset), Some((warp, lane))) = (at.checked_sub(address::LOCAL), warp) {
            let range = self.own(lane, offset, 1)?;
            return Some(warp.local[range.start]);
        }
        let (buffer, offset) = self.launch.global.range(at, 1)?;
        let mut byte = [0];
        buffer.read(offset, &mut byte);
        Some(byte[0])
    }

    /// A text that ends with a zero.
    fn text(&self, at: u64) -> Option<String> {
        let mut bytes = Vec::new();
        loop {
            match self.byte(None, at + bytes.len() as u64)? {
                0 => return Some(String::from_utf8_lossy(&bytes).into_owned()),
                _ if bytes.len() > 1 << 16 => return None,
                byte => bytes.push(byte),
            }
        }
    }

    /// The text with its arguments in it, how many there are, and the first place of the thread's own memory that nothing wrote.
    fn formatted(
        &self,
        warp: &Warp,
        lane: usize,
        format: &str,
        buffer: u64,
    ) -> (String, u32, Option<u64>) {
        let mut unwritten = None;
        let mut out = String::new();
        let mut count = 0;
        let mut at = buffer;
        let mut argument = |bytes: u64| {
            at = at.next_multiple_of(bytes);
            let own = at.checked_sub(address::LOCAL);
            let range = own.and_then(|own| self.own(lane, own, bytes as usize));
            if range.is_some_and(|range| !all_written(&warp.local_written[range])) {
                unwritten = unwritten.or(own);
            }
            let value = (0..bytes).try_fold(0u64, |value, i| {
                Some(value | u64::from(self.byte(Some((warp, lane)), at + i)?) << (8 * i))
            });
            at += bytes;
            value.unwrap_or(0)
        };
        let mut rest = format;
        while let Some(percent) = rest.find('%') {
            out.push_str(&rest[..percent]);
            let mut arguments = 0;
            let star = || {
                arguments += 1;
                argument(4) as i32
            };
            let Some((spec, length)) = Spec::read(&rest[percent + 1..], star) else {
                out.push('%');
                rest = &rest[percent + 1..];
                continue;
            };
            rest = &rest[percent + 1 + length..];
            count += arguments;
            if spec.conversion == '%' {
                out.push('%');
                continue;
            }
            count += 1;
            let value = argument(spec.bytes());
            out.push_str(&match spec.conversion {
                's' => spec.text(&self.text(value).unwrap_or_else(|| "(null)".into())),
                _ => spec.number(value),
            });
        }
        out.push_str(rest);
        (out, count, unwritten)
    }

    /// `__assertfail`: the block ends, and the finding says what the program says.
    pub(super) fn assert_fail(&mut self, warp: &mut Warp, active: Mask, pc: u32, places: [u64; 4]) {
        let lane = first(active);
        for (place, bytes) in places.into_iter().zip([8, 8, 4, 8]) {
            self.check_own(warp, lane, pc, place, bytes);
        }
        let mut texts = [0, 1, 3].map(|i| {
            let at = self.local_u64(warp, lane, places[i]);
            at.and_then(|at| self.text(at)).unwrap_or_default()
        });
        let line = self.own(lane, places[2], 4).map_or(0, |range| {
            warp.local[range]
                .iter()
                .rev()
                .fold(0u32, |value, byte| value << 8 | u32::from(*byte))
        });
        let [message, file, function] = &mut texts;
        self.find(Kind::Trap, pc, None, warp.index, lane, None, || {
            format!("assertion failed: {message} ({file}:{line}, in {function})")
        });
    }
}

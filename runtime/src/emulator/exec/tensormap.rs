//! Tensor maps that kernels make in shared and in global memory.

use super::*;
use crate::emulator::address;
use crate::emulator::global::{Global, Lack};
use crate::emulator::program::{At, MapOp, Order, Scope, Space};
use crate::tensor_map::{MapField, TENSOR_MAP_BYTES, TensorMap};

/// Bytes of a map, which its address is a multiple of where an instruction takes it as one object.
const BYTES: u64 = TENSOR_MAP_BYTES as u64;
/// Bytes of a map that are read or written at once.
const PART: usize = 32;

impl Context<'_> {
    /// `tensormap` and `fence.proxy.tensormap`.
    pub(super) fn tensor_map_op(
        &mut self,
        warp: &mut Warp,
        at: usize,
        op: &MapOp,
        active: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        match op {
            MapOp::Replace { at, field, value } => {
                self.check(warp, *value, active, pc);
                let place = self.addresses(warp, at.base, at.offset, active, pc);
                for lane in lanes(active) {
                    let value = warp.rows[*value as usize][lane];
                    self.replace(warp, lane, pc, (at.space, place[lane]), (*field, value));
                }
            }
            MapOp::Copy { to, from, scope } => {
                let (to, from, scope, exists) = (*to, *from, *scope, warp.exists);
                return self.with_lanes(warp, at, active, exists, |context, warp, mask| {
                    context.copy_map(warp, mask, pc, [to, from], scope);
                });
            }
            MapOp::Release(scope) => self.release_maps(warp, active, *scope),
            MapOp::Acquire(map, scope) => {
                let place = self.addresses(warp, map.base, map.offset, active, pc);
                for lane in lanes(active) {
                    self.acquire_map(warp, lane, pc, (map.space, place[lane]), *scope);
                }
            }
        }
        Next::Advance
    }

    /// Replaces a field of a map for one thread.
    fn replace(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: u32,
        place: (Space, u64),
        (field, value): (MapField, u64),
    ) {
        self.progress += 1;
        let Some(mut map) = self.read_map(warp, lane, pc, place) else {
            return;
        };
        if let Err(error) = TensorMap::replace_emulated(&mut map, field, value) {
            let address = Some(Self::resolve(warp.rank, place.0, place.1));
            self.find(Kind::Undefined, pc, None, warp.index, lane, address, || {
                format!("{error}; begin with a map of the host, or with {BYTES} bytes of zeros")
            });
            return;
        }
        self.write_map(warp, lane, pc, place, &map);
    }

    /// Copies a map for all threads of a warp, and releases it. Each of them has taken part and knows of it.
    fn copy_map(&mut self, warp: &mut Warp, mask: Mask, pc: u32, operands: [At; 2], scope: Scope) {
        self.progress += 1;
        let lane = first(mask);
        let mut places = [(Space::Generic, 0); 2];
        for (place, operand) in places.iter_mut().zip(operands) {
            let all = self.addresses(warp, operand.base, operand.offset, mask, pc);
            if let Some(other) = lanes(mask).find(|&other| all[other] != all[lane]) {
                self.find(Kind::Undefined, pc, None, warp.index, other, None, || {
                    format!(
                        "expected one source and one destination in all threads of the warp, found {:#x} and {:#x}",
                        all[lane], all[other]
                    )
                });
            }
            *place = (operand.space, all[lane]);
        }
        let [to, from] = places;
        if let Some(map) = self.read_map(warp, lane, pc, from) {
            self.write_map(warp, lane, pc, to, &map);
        }
        self.meet(warp, mask);
        // It knows what all of them have done.
        self.release_maps(warp, 1 << lane, scope);
    }

    fn release_maps(&mut self, warp: &Warp, active: Mask, scope: Scope) {
        for lane in lanes(active) {
            let thread = warp.thread(lane);
            let view = self.clocks.release_alone(thread);
            let by = (self.linear, thread);
            let maps = &self.launch.global.maps;
            maps.release(by, warp.rank as u8, scope, view);
        }
    }

    /// Makes a map in global memory known to copies that come behind.
    fn acquire_map(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        place: (Space, u64),
        scope: Scope,
    ) {
        let (space, at) = Self::space_of(place.0, place.1);
        // Parameters and constants are as the host made them.
        if matches!(space, Space::Param | Space::Const)
            || !self.has_map(warp, lane, pc, place, "acquires")
        {
            return;
        }
        let global: &Global = self.launch.global;
        let Some((buffer, offset)) = global.range(at, BYTES).filter(|_| space == Space::Global)
        else {
            return;
        };
        let writers = buffer.writers(offset, TENSOR_MAP_BYTES);
        if writers.is_empty() {
            return;
        }
        let mut bytes = [0; TENSOR_MAP_BYTES];
        buffer.copy_out(offset, &mut bytes);
        let by = self.accessor(warp, lane, pc, Order::default());
        global.maps.acquire(at, &by, scope, &writers, bytes);
    }

    /// Notes that a thread's copy reads the map at a generic address, and what is lacking for it to see what the launch has written there.
    pub(super) fn check_map(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64) {
        let global: &Global = self.launch.global;
        let Some((buffer, offset)) = global.range(at, BYTES) else {
            return;
        };
        if address::space_of(at) != Space::Global || !buffer.writable || !at.is_multiple_of(16) {
            return;
        }
        let by = self.accessor(warp, lane, pc, Order::default());
        let conflict = buffer.note_later(offset, BYTES, false, &by);
        let lack = if buffer.writers(offset, TENSOR_MAP_BYTES).is_empty() {
            None
        } else {
            let mut bytes = [0; TENSOR_MAP_BYTES];
            buffer.copy_out(offset, &mut bytes);
            global.maps.lacks(at, &by, &bytes)
        };
        if let Some(conflict) = conflict {
            self.global_conflict(warp, lane, pc, at, conflict);
            return;
        }
        let Some(lack) = lack else { return };
        let address = Some((Space::Global, at));
        self.find(Kind::MissingFence, pc, None, warp.index, lane, address, || {
            let cure = match lack {
                Lack::Acquire => {
                    "no fence makes what was written there known to it; put fence.proxy.tensormap::generic.acquire.gpu [map], 128 behind what \
                     writes the map and is ordered before that fence, and before this copy"
                }
                Lack::Release => {
                    "nothing has released what was written there; put fence.proxy.tensormap::generic.release.gpu behind what writes the map, or \
                     write it by tensormap.cp_fenceproxy"
                }
            };
            format!("this copy reads a tensor map that the launch has written, and {cure}")
        });
    }

    /// Tells whether there is room for a map, and notes where there is none.
    fn has_map(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        what: &str,
    ) -> bool {
        let (space, at) = Self::resolve(warp.rank, space, at);
        if !self.aligned(warp, lane, pc, space, at, TENSOR_MAP_BYTES) {
            return false;
        }
        match space {
            Space::Shared => self.holds_shared(warp, lane, pc, at, TENSOR_MAP_BYTES as u32, what),
            Space::Global if self.launch.global.range(at, BYTES).is_some() => true,
            _ => {
                self.outside(warp, lane, pc, space, at, TENSOR_MAP_BYTES as u32, what);
                false
            }
        }
    }

    /// Reads a map as one object of 1024 bits; none where there is none.
    fn read_map(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
    ) -> Option<[u8; TENSOR_MAP_BYTES]> {
        if !self.has_map(warp, lane, pc, (space, at), "reads") {
            return None;
        }
        let mut map = [0; TENSOR_MAP_BYTES];
        for (part, offset) in map.chunks_exact_mut(PART).zip((0..).step_by(PART)) {
            self.read_lane(warp, lane, pc, (space, at + offset), part, Order::default());
        }
        Some(map)
    }

    fn write_map(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        map: &[u8; TENSOR_MAP_BYTES],
    ) {
        if !self.has_map(warp, lane, pc, (space, at), "writes") {
            return;
        }
        for (part, offset) in map.chunks_exact(PART).zip((0..).step_by(PART)) {
            self.write_lane(warp, lane, pc, (space, at + offset), part, Order::default());
        }
    }
}

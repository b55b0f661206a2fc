//! Calls of functions that recur or that are called through pointers: frames of threads.

use super::unwritten::WRITTEN;
use super::*;
use crate::emulator::program::{Call, Callee, Routine};

/// An activation of a function, of one thread.
pub(super) struct Activation {
    /// Index into the kernel's functions.
    function: u32,
    /// The instruction to go on with.
    back: u32,
    /// The registers of the activation around this one of the same function.
    rows: Vec<Kept>,
    preds: Vec<(bool, bool)>,
    /// Places of results, and bytes, in the thread's memory.
    returns: Vec<(u64, u64)>,
    /// The stack pointer of `alloca`, where there is one.
    stack_pointer: u64,
}

/// A register of one thread: its value and its bits that are defined.
struct Kept {
    value: u64,
    defined: bool,
    bits: Option<u64>,
}

/// The activations of each lane of a warp; empty until something is called.
#[derive(Default)]
pub(super) struct Stacks(Vec<Vec<Activation>>);

impl Stacks {
    fn of(&mut self, lane: usize) -> &mut Vec<Activation> {
        if self.0.is_empty() {
            self.0.resize_with(LANES, Vec::new);
        }
        &mut self.0[lane]
    }
}

impl Context<'_> {
    /// Lets the active lanes of a group go into a function, each into the one that it calls.
    pub(super) fn call(
        &mut self,
        warp: &mut Warp,
        at: usize,
        active: Mask,
        call: &Call,
    ) -> Option<Stop> {
        let kernel = self.launch.kernel;
        let pc = warp.groups[at].pc;
        let mut rest = active;
        while rest != 0 {
            let lane = first(rest);
            let (index, same) = match call.callee {
                Callee::Function(index) => (index as usize, rest),
                Callee::Pointer(register) => {
                    self.check(warp, register, rest, pc);
                    let row = &warp.rows[register as usize];
                    let value = row[lane];
                    let same = select(rest, |l| row[l] == value);
                    let found = kernel.functions.iter().position(|f| f.address == value);
                    let Some(index) = found else {
                        self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                            format!("expected the address of a function, found {value:#x}")
                        });
                        return Some(Stop::Halt);
                    };
                    (index, same)
                }
            };
            rest &= !same;
            let function = &kernel.functions[index];
            if !fits(call, function) {
                self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                    format!(
                        "expected a function with parameters and results of the call's sizes, found {}",
                        function.name
                    )
                });
                return Some(Stop::Halt);
            }
            self.use_registers(warp, &function.rows, same);
            for pred in function.preds.clone() {
                self.use_predicate(warp, pred, same);
            }
            warp.forget_pred_origins(function.preds.clone(), same);
            for lane in lanes(same) {
                if !self.enter(warp, lane, pc, index as u32, call) {
                    self.find(Kind::OutOfBounds, pc, None, warp.index, lane, None, || {
                        format!(
                            "the stack of the thread overflows in a call of {}; the emulator has {} bytes and {MAX_KEPT} registers \
                             for at most {MAX_DEPTH} frames of functions that recur or are called through pointers",
                            function.name,
                            kernel.frames_end - kernel.stack_at
                        )
                    });
                    return Some(Stop::Halt);
                }
            }
            if same == warp.groups[at].mask {
                warp.groups[at].pc = function.entry;
                return None;
            }
            split(warp, at, same, function.entry);
        }
        warp.groups[at].pc = pc + 1;
        None
    }

    fn enter(&self, warp: &mut Warp, lane: usize, pc: u32, index: u32, call: &Call) -> bool {
        let kernel = self.launch.kernel;
        let function = &kernel.functions[index as usize];
        let stack = warp.stacks.of(lane);
        let used: u64 = stack
            .iter()
            .map(|activation| kernel.functions[activation.function as usize].frame_bytes)
            .sum();
        let base = kernel.stack_at + used;
        let kept: usize = stack.iter().map(|activation| activation.rows.len()).sum();
        // A frame of no bytes must not let a thread call for ever.
        if base + function.frame_bytes > kernel.frames_end
            || stack.len() >= MAX_DEPTH
            || kept + function.rows.len() > MAX_KEPT
        {
            return false;
        }
        let bit = 1 << lane;
        let rows = function.rows.iter().map(|&row| {
            let row = row as usize;
            Kept {
                value: warp.rows[row][lane],
                defined: warp.defined[row] & bit != 0,
                bits: warp.partly[row].as_deref().map(|bits| bits[lane]),
            }
        });
        let rows = rows.collect();
        let preds = function.preds.clone().map(|pred| {
            let pred = pred as usize;
            (
                warp.preds[pred] & bit != 0,
                warp.preds_defined[pred] & bit != 0,
            )
        });
        let preds = preds.collect();
        warp.stacks.of(lane).push(Activation {
            function: index,
            back: pc + 1,
            rows,
            preds,
            returns: call.returns.clone(),
            stack_pointer: kernel
                .stack_pointer
                .map_or(0, |reg| warp.rows[reg as usize][lane]),
        });
        for &row in &function.rows {
            warp.defined[row as usize] &= !bit;
            if let Some(bits) = &mut warp.partly[row as usize] {
                bits[lane] = 0;
            }
            warp.forget_origin(row, bit);
        }
        for pred in function.preds.clone() {
            warp.preds_defined[pred as usize] &= !bit;
        }
        warp.unwritten
            .forget(&function.rows, function.preds.clone(), lane);
        warp.rows[function.frame as usize][lane] = base;
        warp.defined[function.frame as usize] |= bit;
        // A new frame holds nothing but the parameters.
        if let Some(range) = self.own(lane, base, function.frame_bytes as usize) {
            warp.local_written[range].fill(0);
        }
        for ((from, bytes), (to, _)) in call.arguments.iter().zip(&function.params) {
            self.copy_own(warp, lane, *from, base + to, *bytes);
        }
        true
    }

    /// Lets the active lanes of a group go back to where they were called.
    pub(super) fn return_from(&mut self, warp: &mut Warp, at: usize, active: Mask) -> Option<Stop> {
        let kernel = self.launch.kernel;
        let pc = warp.groups[at].pc;
        let mut targets = [u32::MAX; LANES];
        for lane in lanes(active) {
            let Some(activation) = warp.stacks.of(lane).pop() else {
                continue;
            };
            targets[lane] = activation.back;
            let function = &kernel.functions[activation.function as usize];
            let base = warp.rows[function.frame as usize][lane];
            for ((from, bytes), (to, _)) in function.returns.iter().zip(&activation.returns) {
                self.copy_own(warp, lane, base + from, *to, *bytes);
            }
            if let Some(pointer) = kernel.stack_pointer {
                self.release(warp, lane, pointer, activation.stack_pointer);
            }
            let bit: Mask = 1 << lane;
            warp.forget_pred_origins(function.preds.clone(), bit);
            warp.unwritten
                .forget(&function.rows, function.preds.clone(), lane);
            for (&row, kept) in function.rows.iter().zip(activation.rows) {
                let row = row as usize;
                warp.rows[row][lane] = kept.value;
                set_bit(&mut warp.defined[row], bit, kept.defined);
                if let Some(bits) = &mut warp.partly[row] {
                    bits[lane] = kept.bits.unwrap_or(0);
                }
                warp.forget_origin(row as Reg, bit);
            }
            for (pred, (value, defined)) in function.preds.clone().zip(activation.preds) {
                set_bit(&mut warp.preds[pred as usize], bit, value);
                set_bit(&mut warp.preds_defined[pred as usize], bit, defined);
            }
        }
        let mut rest = active;
        while rest != 0 {
            let target = targets[first(rest)];
            let same = select(rest, |lane| targets[lane] == target);
            rest &= !same;
            if same == warp.groups[at].mask {
                warp.groups[at].pc = target;
                return None;
            }
            split(warp, at, same, target);
        }
        warp.groups[at].pc = pc + 1;
        None
    }

    /// Copies bytes within a thread's own memory, with what is known of them.
    fn copy_own(&self, warp: &mut Warp, lane: usize, from: u64, to: u64, bytes: u64) {
        let bytes = bytes as usize;
        if let (Some(from), Some(to)) = (self.own(lane, from, bytes), self.own(lane, to, bytes)) {
            warp.local.copy_within(from.clone(), to.start);
            warp.local_written.copy_within(from, to.start);
        }
    }

    /// `malloc`: bytes that nobody else has, or a null pointer.
    pub(super) fn allocate(&mut self, warp: &mut Warp, active: Mask, places: [u64; 4], pc: u32) {
        let [bytes, result, heap, size] = places;
        for lane in lanes(active) {
            self.check_own(warp, lane, pc, bytes, 8);
            let wanted = self.own(lane, bytes, 8).map_or(0, |range| {
                let mut value = [0; 8];
                value.copy_from_slice(&warp.local[range]);
                u64::from_le_bytes(value)
            });
            let address = self.launch.global.allocate(wanted, size);
            let address = address.map_or(0, |offset| heap + offset);
            if let Some(range) = self.own(lane, result, 8) {
                warp.local[range.clone()].copy_from_slice(&address.to_le_bytes());
                warp.local_written[range].fill(WRITTEN);
            }
        }
    }
}

/// Activations of a thread, at most.
const MAX_DEPTH: usize = 1 << 10;
/// Registers that the activations of a thread keep, at most: half a megabyte.
const MAX_KEPT: usize = 1 << 15;

fn fits(call: &Call, function: &Routine) -> bool {
    let bytes = |list: &[(u64, u64)]| list.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>();
    bytes(&call.arguments) == bytes(&function.params)
        && bytes(&call.returns) == bytes(&function.returns)
}

fn set_bit(mask: &mut Mask, bit: Mask, value: bool) {
    *mask = *mask & !bit | if value { bit } else { 0 };
}

//! Repeated, timed launches.

use super::driver::Event;
use super::graph::Graph;
use super::memory::{Buffer, footprint, free};
use super::program::{CudaProgram, check_places, wait_for_all};
use crate::device::{DeviceError, Stopwatch};
use crate::plan::Planned;
use crate::tensor::HostTensor;

/// All sets together are this many times as large as the second-level cache, so that no input is
/// left in it.
const CACHES: u64 = 2;
/// The part of the free memory that sets may take: half, as other stopwatches may follow.
const MEMORY_PART: u64 = 2;
/// More sets than this are only needed by tensors so small that nothing but the launch is measured.
const MOST_SETS: u64 = 256;

pub(super) struct CudaStopwatch<'p, 'd> {
    program: &'p CudaProgram<'d>,
    launches: Vec<Planned>,
    sets: Vec<Vec<Buffer<'d>>>,
    /// One for all runs, as they follow each other.
    workspace: Option<Buffer<'d>>,
    next: usize,
    /// Start and end of the runs that were queued and not collected.
    pending: Vec<(Event, Event)>,
    /// Events to use again.
    spare: Vec<(Event, Event)>,
}

impl<'p, 'd> CudaStopwatch<'p, 'd> {
    pub(super) fn new(
        program: &'p CudaProgram<'d>,
        launches: Vec<Planned>,
        tensors: &[HostTensor],
    ) -> Result<Self, DeviceError> {
        let stream = program.stream();
        let workspace = program.workspace(tensors)?;
        let bytes: u64 = tensors
            .iter()
            .map(|tensor| footprint(tensor.bytes().len()))
            .sum();
        let count = sets(bytes, program.l2(), free()?);
        let upload = |tensor: &HostTensor| Buffer::upload(tensor.bytes(), stream);
        let first: Vec<Buffer> = tensors.iter().map(upload).collect::<Result<_, _>>()?;
        check_places(program.function(), &launches, &first, tensors)?;
        let mut sets = vec![first];
        while sets.len() < count {
            let copy = sets[0]
                .iter()
                .map(|buffer| buffer.duplicate(stream))
                .collect::<Result<_, _>>()?;
            sets.push(copy);
        }
        wait_for_all()?;
        Ok(CudaStopwatch {
            program,
            launches,
            sets,
            workspace,
            next: 0,
            pending: Vec::new(),
            spare: Vec::new(),
        })
    }

    fn launch_next(&mut self) -> Result<(), DeviceError> {
        let set = self.next % self.sets.len();
        self.next += 1;
        let workspace = self.workspace.as_ref();
        self.program
            .launch(&self.launches, &self.sets[set], workspace)
    }

    fn events(&mut self) -> Result<(Event, Event), DeviceError> {
        let stream = self.program.stream();
        match self.spare.pop() {
            Some(events) => Ok(events),
            None => Ok((Event::new(stream)?, Event::new(stream)?)),
        }
    }
}

/// The number of copies of `bytes` bytes that exceeds the cache, as far as there is memory.
fn sets(bytes: u64, l2: u64, free: u64) -> usize {
    let bytes = bytes.max(1);
    let wanted = (CACHES * l2).div_ceil(bytes) + 1;
    let possible = free / MEMORY_PART / bytes;
    wanted.min(possible).clamp(1, MOST_SETS) as usize
}

impl Stopwatch for CudaStopwatch<'_, '_> {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self) -> Result<(), DeviceError> {
        let (start, end) = self.events()?;
        start.record(self.program.stream())?;
        self.launch_next()?;
        end.record(self.program.stream())?;
        self.pending.push((start, end));
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<f64>, DeviceError> {
        self.program.stream().wait("the timed launches")?;
        let times = self
            .pending
            .iter()
            .map(|(start, end)| end.since(start))
            .collect();
        self.spare.append(&mut self.pending);
        times
    }

    fn batch(&mut self, count: usize) -> Result<f64, DeviceError> {
        let (start, end) = self.events()?;
        // What a launch asks for the first time may not be recorded.
        self.launch_next()?;
        let stream = self.program.stream();
        let graph = Graph::record(stream, || (0..count).try_for_each(|_| self.launch_next()))?;
        // The first time fills the queue, so that what is timed does not wait for the host.
        graph.launch(stream)?;
        start.record(stream)?;
        graph.launch(stream)?;
        end.record(stream)?;
        self.program.stream().wait("the batch of launches")?;
        let seconds = end.since(&start);
        self.spare.push((start, end));
        seconds
    }
}

impl Drop for CudaStopwatch<'_, '_> {
    fn drop(&mut self) {
        // Memory must not be freed while launches use it. An error was reported by the call that
        // waited.
        let _ = self.program.stream().wait("the timed launches");
    }
}

#[cfg(test)]
mod tests {
    use super::sets;

    #[test]
    fn sets_exceed_the_cache_within_memory() {
        const MB: u64 = 1 << 20;
        assert_eq!(sets(96 * MB, 50 * MB, 80_000 * MB), 3);
        assert_eq!(sets(384 * MB, 50 * MB, 80_000 * MB), 2);
        assert_eq!(sets(384 * MB, 50 * MB, 1000 * MB), 1);
        assert_eq!(sets(6 * MB, 50 * MB, 80_000 * MB), 18);
        assert_eq!(sets(1, 50 * MB, 80_000 * MB), 256);
        assert_eq!(sets(0, 0, 0), 1);
    }
}

//! Tensors of a GPU on the emulator: their memory is copied to the host, and what may have been written back.

use cute_runtime::call::{Argument, Entry, Memory, Stream, TensorView, Workspace};
use cute_runtime::cuda::Copies;

use crate::failure::{Class, Failure};

/// Memory of a GPU that tensors of a call lie in, from the first of their bytes to the last, and its copy.
struct Part {
    from: u64,
    to: u64,
    bytes: Vec<u64>,
}

/// Calls a function of the emulator with tensors of a GPU. What the stream was given before is waited for.
///
/// # Safety
/// The memory of the tensors is there, and nothing but the stream's work uses it meanwhile.
///
/// # Errors
/// As of [`Entry::launch`], and the driver's.
pub(crate) unsafe fn call(
    entry: &Entry,
    arguments: &[Argument],
    gpu: u32,
    stream: Stream,
) -> Result<(), Failure> {
    for argument in arguments {
        if let Argument::Tensor(view) = argument
            && view.memory() != Memory::Cuda(gpu)
        {
            let expected = format!("a tensor in memory of {}", Memory::Cuda(gpu));
            let found = format!("a tensor of {}", view.memory());
            return Err(refused(entry, arguments, view, expected, found));
        }
    }
    // Tensors that overlap keep doing so.
    let mut parts: Vec<Part> = Vec::new();
    let views = || {
        arguments.iter().filter_map(|argument| match argument {
            Argument::Tensor(view) if view.memory() == Memory::Cuda(gpu) => Some(view),
            _ => None,
        })
    };
    for view in views() {
        let bytes = view.bytes().ok_or_else(|| {
            let expected = "a shape and strides that are not negative, and at most 2^40 elements";
            refused(
                entry,
                arguments,
                view,
                expected.to_owned(),
                view.to_string(),
            )
        })?;
        let (mut from, mut to) = (view.address(), view.address().saturating_add(bytes));
        parts.retain(|part| {
            let meets = part.from < to && from < part.to;
            if meets {
                (from, to) = (from.min(part.from), to.max(part.to));
            }
            !meets
        });
        if from != 0 && from < to {
            parts.push(Part {
                from,
                to,
                bytes: Vec::new(),
            });
        }
    }
    let copies = Copies::open(gpu)?;
    copies.wait(stream)?;
    for part in &mut parts {
        let length = (part.to - part.from) as usize;
        // Room for the start to lie as it does on the GPU, so that alignments hold.
        part.bytes = vec![0; (length + ALIGN as usize) / 8 + 1];
        // SAFETY: the caller says that the memory is there.
        unsafe { copies.read(part.from, part.host_bytes())? };
    }
    let moved = |argument: &Argument<'_>| -> u64 {
        let Argument::Tensor(view) = argument else {
            return 0;
        };
        let part = parts
            .iter()
            .find(|part| (part.from..part.to).contains(&view.address()));
        part.map_or(view.address(), |part| {
            part.start() + (view.address() - part.from)
        })
    };
    let mut on_host = Vec::new();
    for argument in arguments {
        on_host.push(match argument {
            Argument::Tensor(view) if view.memory() == Memory::Cuda(gpu) => {
                // SAFETY: the part that the tensor lies in was copied as a whole, and lives through the call.
                Argument::Tensor(unsafe { view.at(moved(argument), Memory::Host) })
            }
            other => *other,
        });
    }
    let result = entry.launch(&on_host, Workspace::of_stream(), Stream::DEFAULT);
    drop(on_host);
    for part in &mut parts {
        // SAFETY: as above.
        unsafe { copies.write(part.from, part.host_bytes())? };
    }
    Ok(result?)
}

/// The reason why a tensor cannot be copied, in the words of other refusals.
fn refused(
    entry: &Entry,
    arguments: &[Argument],
    view: &TensorView,
    expected: String,
    found: String,
) -> Failure {
    let function = entry.function();
    let is_it =
        |argument: &Argument| matches!(argument, Argument::Tensor(one) if std::ptr::eq(one, view));
    let index = arguments.iter().position(is_it).unwrap_or_default();
    let name = function.args.get(index).map_or("", |arg| arg.name());
    let text = format!(
        "{}: argument {index} ({name}): expected {expected}, found {found}",
        function.name
    );
    Failure::new(Class::Value, text)
}

/// The largest alignment that a tensor may be promised to have: that of the driver's allocations.
const ALIGN: u64 = 256;

impl Part {
    /// The address of the copy, as aligned as the original.
    fn start(&self) -> u64 {
        let base = self.bytes.as_ptr() as u64;
        base + (self.from.wrapping_sub(base)) % ALIGN
    }

    fn host_bytes(&mut self) -> &mut [u8] {
        let skipped = (self.start() - self.bytes.as_ptr() as u64) as usize;
        let length = (self.to - self.from) as usize;
        // SAFETY: the numbers are as many bytes and more, any bytes are numbers, and they are borrowed for as long.
        let all = unsafe {
            std::slice::from_raw_parts_mut(
                self.bytes.as_mut_ptr().cast::<u8>(),
                self.bytes.len() * 8,
            )
        };
        &mut all[skipped..skipped + length]
    }
}

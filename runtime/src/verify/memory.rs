//! The tensors of a run: its arguments, those in the workspace, views of arguments; and which of them have bytes in common.
//!
//! An op that reads what another one left in the workspace is compared with what it computes of what is there, and so is each op of a chain: an intermediate is rounded as it was, no
//! bound is carried from one op into the next, and what a region decides by it (a comparison, a rounding) is decided by the number that the kernel had. A chain is right where each
//! of its ops is; the op that is not is named.

use std::borrow::Cow;

use super::VerifyError;
use crate::layout::Parsed;
use crate::package::{Compute, Environment, Function, View};
use crate::plan;
use crate::tensor::{ArgError, HostTensor, check_args};

/// The memory of a run, which its results are verified by.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// The arguments from before the launches, where they are known.
    pub before: Option<&'a [HostTensor]>,
    /// The arguments as the launches left them.
    pub after: &'a [HostTensor],
    /// The workspace as the launches left it ([`crate::device::Program::workspace`]), where it is known.
    pub workspace: Option<&'a [u8]>,
    /// The multiprocessors of the device that ran ([`crate::device::Program::multiprocessors`]), where they are known: launches may depend on them.
    pub sm_count: Option<u32>,
}

/// The place where a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// An argument, and a byte of it.
    Argument(usize, usize),
    /// That byte of the workspace.
    Workspace(usize),
    /// Of a view that nothing of this run has.
    Nowhere,
}

/// The views of a run, and what of it takes place.
pub(super) struct Views<'a> {
    /// The function with its views among its arguments, and those of its computes that take place, without conditions.
    pub(super) function: Cow<'a, Function>,
    /// The views as they were before the launches; nothing in place of those in the workspace.
    pub(super) before: Vec<HostTensor>,
    pub(super) after: Vec<HostTensor>,
    /// The values that expressions depend on.
    pub(super) known: Environment,
    bases: Vec<Base>,
    /// The elements of each tensor that each other one has as well.
    shared: Vec<Vec<Shared>>,
}

/// The elements of a tensor that another one has as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    None,
    Some,
    All,
}

impl<'a> Views<'a> {
    /// Takes the views of a function out of the memory of a run.
    ///
    /// # Errors
    /// Arguments that do not suit the function; a condition that is not known; a view of memory that there is not.
    pub(super) fn of(function: &'a Function, memory: &Memory<'_>) -> Result<Self, VerifyError> {
        check_args(function, memory.after)?;
        if let Some(before) = memory.before {
            check_args(function, before)?;
        }
        let known = plan::known(function, memory.after, memory.sm_count)?;
        let mut views = Views {
            bases: (0..function.args.len())
                .map(|arg| Base::Argument(arg, 0))
                .collect(),
            function: Cow::Borrowed(function),
            before: Vec::new(),
            after: Vec::new(),
            known,
            shared: Vec::new(),
        };
        let mut computes = function.computes.iter();
        if function.views.is_empty() && computes.all(|one| one.condition().is_none()) {
            return Ok(views);
        }
        let mut whole = function.with_views().into_owned();
        whole.computes = views.taken(function)?;
        for (at, view) in function.views.iter().enumerate() {
            let at = function.args.len() + at;
            let is_of = |compute: &Compute| compute.roles().iter().any(|role| role.arg == at);
            let is_used = whole.computes.iter().any(is_of);
            views.add(function, view, memory, is_used)?;
        }
        for compute in &whole.computes {
            views.check_shapes(&whole, compute, memory)?;
        }
        views.function = Cow::Owned(whole);
        let all: Vec<&HostTensor> = memory.after.iter().chain(&views.after).collect();
        let of = |tensor: usize| {
            let others = (0..all.len()).map(|other| views.compared(&all, tensor, other));
            others.collect()
        };
        views.shared = (0..all.len()).map(of).collect();
        Ok(views)
    }

    /// The computes that take place, without their conditions.
    fn taken(&self, function: &Function) -> Result<Vec<Compute>, VerifyError> {
        let mut taken = Vec::new();
        for compute in &function.computes {
            let condition = compute.condition();
            let holds = condition.map_or(Ok(1), |condition| condition.evaluate(&self.known));
            let holds = holds.map_err(|reason| {
                let reason = format!("nothing tells which branch was taken: {reason}");
                refused(function, reason)
            })?;
            if holds != 0 {
                taken.push(compute.unconditional().clone());
            }
        }
        Ok(taken)
    }

    /// Adds the tensor of a view; nothing in place of one that nothing of this run has.
    fn add(
        &mut self,
        function: &Function,
        view: &View,
        memory: &Memory<'_>,
        is_used: bool,
    ) -> Result<(), VerifyError> {
        let failed = |reason: String| refused(function, format!("{}: {reason}", view.name));
        let element = view.element.parse()?;
        let nothing = || {
            let layout = Parsed::parse("1:0").map_err(|error| failed(error.to_string()))?;
            HostTensor::poisoned(element, layout).map_err(|error| failed(error.to_string()))
        };
        if !is_used {
            self.before.push(nothing()?);
            self.after.push(nothing()?);
            self.bases.push(Base::Nowhere);
            return Ok(());
        }
        let layout = view.layout(&self.known).map_err(failed)?;
        let tensor = |bytes: &[u8]| {
            let tensor = HostTensor::of_bytes(element, layout.clone(), bytes);
            tensor.map_err(|error| failed(format!("{error} {}", at_place(function, view))))
        };
        let offset = match view.of.offset() {
            Some(offset) => offset.evaluate(&self.known).map_err(failed)?,
            None => 0,
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        match view.of.argument() {
            Some(arg) => {
                let before = memory.before.unwrap_or(memory.after);
                for (all, views) in [(before, &mut self.before), (memory.after, &mut self.after)] {
                    views.push(tensor(all[arg].bytes().get(offset..).unwrap_or_default())?);
                }
                self.bases.push(Base::Argument(arg, offset));
            }
            None => {
                let workspace = memory.workspace;
                let workspace =
                    workspace.ok_or_else(|| VerifyError::NoWorkspace(view.name.clone()))?;
                self.before.push(nothing()?);
                let behind = workspace.get(offset..).unwrap_or_default();
                self.after.push(tensor(behind)?);
                self.bases.push(Base::Workspace(offset));
            }
        }
        Ok(())
    }

    /// Checks that the tensors of a compute fit together, views among them.
    fn check_shapes(
        &self,
        function: &Function,
        compute: &Compute,
        memory: &Memory<'_>,
    ) -> Result<(), VerifyError> {
        let all: Vec<&HostTensor> = memory.after.iter().chain(&self.after).collect();
        let roles = compute.roles().into_iter();
        let sizes = roles.map(|role| {
            let shape = all[role.arg].layout().shape().into_iter();
            shape.map(Some).collect()
        });
        let sizes: Vec<_> = sizes.collect();
        let checked = compute.check_shapes(&sizes, &self.known);
        checked.map_err(|[expected, found, cure]| {
            let function = function.name.clone();
            VerifyError::Args(ArgError::Shapes {
                function,
                expected,
                found,
                cure,
            })
        })
    }

    /// The argument that a tensor is, or is a view of.
    pub(super) fn argument_of(&self, tensor: usize) -> Option<usize> {
        match self.bases.get(tensor)? {
            Base::Argument(arg, _) => Some(*arg),
            _ => None,
        }
    }

    /// Tells which elements of a tensor another one has as well.
    pub(super) fn shared(&self, tensor: usize, other: usize) -> Shared {
        let known = self.shared.get(tensor).and_then(|of| of.get(other));
        match known {
            Some(known) => *known,
            // Without views.
            None if tensor == other => Shared::All,
            None => Shared::None,
        }
    }

    /// Does as [`Views::shared`], from where the tensors are; `all` are those of the run.
    fn compared(&self, all: &[&HostTensor], tensor: usize, other: usize) -> Shared {
        if tensor == other {
            return Shared::All;
        }
        let (Some(from), Some(of_other)) = (self.start(tensor), self.start(other)) else {
            return Shared::None;
        };
        if from.0 != of_other.0 {
            return Shared::None;
        }
        let (one, two) = (all[tensor], all[other]);
        let ends = |start: usize, tensor: &HostTensor| start..start + tensor.bytes().len();
        let (own, others) = (ends(from.1, one), ends(of_other.1, two));
        if own.end <= others.start || others.end <= own.start {
            return Shared::None;
        }
        // A layout may have far more elements than bytes; nothing writes such a tensor whole.
        let is_dense = |tensor: &HostTensor| {
            usize::try_from(tensor.layout().places_count())
                .is_ok_and(|count| count <= tensor.bytes().len())
        };
        if !is_dense(one) || !is_dense(two) {
            return Shared::Some;
        }
        // Bytes of the other one, counted from where either begins.
        let first = own.start.min(others.start);
        let mut taken = vec![false; own.end.max(others.end) - first];
        for element in elements(two, of_other.1 - first) {
            taken[element].fill(true);
        }
        let (mut has, mut lacks) = (false, false);
        for byte in elements(one, from.1 - first).flatten() {
            has |= taken[byte];
            lacks |= !taken[byte];
        }
        match (has, lacks) {
            (false, _) => Shared::None,
            (true, true) => Shared::Some,
            (true, false) => Shared::All,
        }
    }

    /// The first byte of an argument that no output of these computes has and that is another one than before; none where an output is the argument itself, or nothing is known of before.
    /// `all` are the tensors of the run.
    pub(super) fn changed_outside(
        &self,
        argument: usize,
        computes: impl IntoIterator<Item = &'a Compute>,
        (before, all): (Option<&[&HostTensor]>, &[&HostTensor]),
    ) -> Option<usize> {
        let (before, after) = (before?[argument].bytes(), all[argument].bytes());
        let mut written = vec![false; after.len()];
        for output in computes.into_iter().flat_map(Compute::outputs) {
            let Some((Some(of), start)) = self.start(output.arg) else {
                continue;
            };
            if output.arg == argument {
                return None;
            }
            if of == argument {
                elements(all[output.arg], start).for_each(|element| written[element].fill(true));
            }
        }
        let mut bytes = before.iter().zip(after).zip(written);
        bytes.position(|((before, after), written)| !written && before != after)
    }

    /// The memory that a tensor is in, none of the workspace, and its first byte there.
    fn start(&self, tensor: usize) -> Option<(Option<usize>, usize)> {
        match self.bases.get(tensor)? {
            Base::Argument(arg, byte) => Some((Some(*arg), *byte)),
            Base::Workspace(byte) => Some((None, *byte)),
            Base::Nowhere => None,
        }
    }
}

/// The bytes of each element of a tensor that begins at a byte.
fn elements(tensor: &HostTensor, start: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let size = tensor.element().size();
    let places = tensor.layout().places();
    places.map(move |place| {
        let first = start + place as usize * size;
        first..first + size
    })
}

/// `of A`, or `of the workspace`.
fn at_place(function: &Function, view: &View) -> String {
    match view.of.argument() {
        Some(arg) => format!("of {}", function.args[arg].name()),
        None => "of the workspace".to_owned(),
    }
}

fn refused(function: &Function, reason: String) -> VerifyError {
    let function = function.name.clone();
    VerifyError::Args(ArgError::Call { function, reason })
}

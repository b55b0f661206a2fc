//! The place in a text that an operation is from.

use super::ffi;
use melior::ir::Location;
use mlir_sys::*;
use std::collections::HashSet;

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 is not known.
    pub column: u32,
    /// The part of the line's work, such as `copy A`.
    pub step: Option<String>,
}

/// Returns the place that a location says: the outermost name is the step; of several places, the first.
pub fn place_of(location: Location) -> Option<Place> {
    // Locations nest as deep as anybody likes, and share what they nest.
    let mut seen = HashSet::new();
    let mut stack = vec![(location.to_raw(), None::<String>)];
    while let Some((location, step)) = stack.pop() {
        if !seen.insert(location.ptr as usize) {
            continue;
        }
        // SAFETY: each getter is called of a location of its kind, and `all` has room for as many as are said.
        unsafe {
            if mlirLocationIsAFileLineColRange(location) {
                let file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
                let line = mlirLocationFileLineColRangeGetStartLine(location);
                let column = mlirLocationFileLineColRangeGetStartColumn(location);
                // Line 0 is no place in a text: a parser says it of what stands around it.
                let Some(line) = u32::try_from(line).ok().filter(|line| *line > 0) else {
                    continue;
                };
                return Some(Place {
                    file: text(file),
                    line,
                    column: u32::try_from(column).unwrap_or(0),
                    step,
                });
            }
            if mlirLocationIsAName(location) {
                let name = text(mlirIdentifierStr(mlirLocationNameGetName(location)));
                let step = step.or(Some(name).filter(|name| !name.is_empty()));
                stack.push((mlirLocationNameGetChildLoc(location), step));
            } else if mlirLocationIsACallSite(location) {
                stack.push((mlirLocationCallSiteGetCallee(location), step));
            } else if mlirLocationIsAFused(location) {
                let count = mlirLocationFusedGetNumLocations(location) as usize;
                let mut all = vec![location; count];
                mlirLocationFusedGetLocations(location, all.as_mut_ptr());
                stack.extend(all.into_iter().rev().map(|one| (one, step.clone())));
            }
        }
    }
    None
}

/// The location of what is at `location` in a function that is called at `caller`.
pub fn called_from<'c>(location: Location<'c>, caller: Location<'c>) -> Location<'c> {
    // SAFETY: both live in one context.
    unsafe { Location::from_raw(mlirLocationCallSiteGet(location.to_raw(), caller.to_raw())) }
}

/// The calls that led to a location, innermost first.
pub fn callers_of<'c>(location: Location<'c>) -> Vec<Location<'c>> {
    let mut callers = Vec::new();
    let mut at = location.to_raw();
    loop {
        // SAFETY: each getter is called of a location of its kind.
        unsafe {
            if mlirLocationIsAName(at) {
                at = mlirLocationNameGetChildLoc(at);
            } else if mlirLocationIsACallSite(at) {
                at = mlirLocationCallSiteGetCaller(at);
                callers.push(Location::from_raw(at));
            } else {
                return callers;
            }
        }
    }
}

/// # Safety
/// `string` must be valid.
unsafe fn text(string: MlirStringRef) -> String {
    // SAFETY: the caller's.
    String::from_utf8_lossy(unsafe { ffi::bytes(string) }).into_owned()
}

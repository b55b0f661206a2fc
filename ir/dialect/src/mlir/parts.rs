//! Types and attributes of the dialects, taken apart and put together, with each type read once in a context.

use super::{
    attributes::{array_attribute, array_of},
    context::context_from_raw,
    ffi::{self, CuteParts},
};
use crate::{
    diag::{self, Failure},
    types::{self, CuteType},
};
use cute_layout::TiledMma;
use melior::ir::{Attribute, AttributeLike, Location, Type, TypeLike};
use mlir_sys::{MlirStringRef, MlirType, mlirLocationGetContext};
use rustc_hash::FxHashSet;
use std::{
    collections::HashMap,
    ffi::{c_int, c_void},
    sync::{OnceLock, PoisonError, RwLock},
};

include!(concat!(env!("OUT_DIR"), "/kinds.rs"));

/// A type or an attribute of the dialects as its parameters by sort, each in the order of its `.td` file.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Parts<'c, 't> {
    pub kind: Kind,
    pub types: Vec<Type<'c>>,
    pub texts: Vec<&'t str>,
    pub ints: Vec<i64>,
    /// The elements of each array.
    pub arrays: Vec<Vec<Attribute<'c>>>,
}

impl<'c> Parts<'c, 'c> {
    /// # Safety
    /// Types, texts and arrays must be valid, in a context that outlives `'c`.
    pub(super) unsafe fn from_raw(raw: &CuteParts) -> Result<Self, String> {
        let kind = usize::try_from(raw.kind).ok().and_then(|at| KINDS.get(at));
        let kind =
            *kind.ok_or_else(|| format!("expected a kind of type, found number {}", raw.kind))?;
        let [types, texts, ints, arrays] = kind.counts();
        let found = [raw.num_types, raw.num_texts, raw.num_ints, raw.num_arrays];
        if found != [types, texts, ints, arrays].map(|count| count as isize) {
            return Err(format!(
                "expected other parts of a {kind:?}, found {found:?}"
            ));
        }
        let text = |text: &MlirStringRef| {
            // SAFETY: the caller's.
            std::str::from_utf8(unsafe { ffi::bytes(*text) })
                .map_err(|e| format!("expected UTF-8: {e}"))
        };
        Ok(Self {
            kind,
            // SAFETY: the caller's.
            types: raw.types[..types]
                .iter()
                .map(|ty| unsafe { Type::from_raw(*ty) })
                .collect(),
            texts: raw.texts[..texts]
                .iter()
                .map(text)
                .collect::<Result<_, _>>()?,
            ints: raw.ints[..ints].to_vec(),
            arrays: raw.arrays[..arrays]
                .iter()
                // SAFETY: the caller's.
                .map(|array| array_of(unsafe { Attribute::from_raw(*array) }))
                .collect::<Option<_>>()
                .ok_or_else(|| format!("expected arrays in a {kind:?}"))?,
        })
    }
}

impl<'c, 't> Parts<'c, 't> {
    /// With the type itself as a part of it, where it has no other and is to be made again of what it is read as.
    fn with_itself(mut self, ty: Type<'c>) -> Self {
        if self.kind == Kind::SmemDesc {
            self.types.push(ty);
        }
        self
    }
}

/// The type of these parts. Errors, at `location`: parts that are none of such a type.
pub fn type_of<'c>(location: Location<'c>, parts: &Parts<'c, '_>) -> Result<Type<'c>, Failure> {
    let raw = to_raw(location, parts);
    // SAFETY: the lists are as long as is said or, where there are too many, refused for their number.
    let ty = unsafe { Type::from_option_raw(ffi::cuteTypeGet(location.to_raw(), &raw)) };
    ty.ok_or_else(diag::said)
}

/// The attribute of these parts. Errors, at `location`: parts that are none of such an attribute.
pub(crate) fn attribute_of_parts<'c>(
    location: Location<'c>,
    parts: &Parts<'c, '_>,
) -> Result<Attribute<'c>, Failure> {
    let raw = to_raw(location, parts);
    // SAFETY: as of a type.
    let attribute =
        unsafe { Attribute::from_option_raw(ffi::cuteAttributeGet(location.to_raw(), &raw)) };
    attribute.ok_or_else(diag::said)
}

/// The parts of a type; nothing where it is not one of the dialects.
pub(crate) fn parts_of_type<'c>(ty: Type<'c>) -> Option<Result<Parts<'c, 'c>, String>> {
    let mut raw = CuteParts::empty(0);
    // SAFETY: types, texts and arrays are the type's own, which lives as long as its context.
    unsafe { ffi::cuteTypeGetParts(ty.to_raw(), &mut raw).then(|| Parts::from_raw(&raw)) }
}

/// The parts of an attribute; nothing where it is not one that is verified here.
pub(crate) fn parts_of_attribute<'c>(
    attribute: Attribute<'c>,
) -> Option<Result<Parts<'c, 'c>, String>> {
    let mut raw = CuteParts::empty(0);
    // SAFETY: types, texts and arrays are the attribute's own, which lives as long as its context.
    unsafe {
        ffi::cuteAttributeGetParts(attribute.to_raw(), &mut raw).then(|| Parts::from_raw(&raw))
    }
}

/// The parts as C++ takes them; texts are those of `parts`.
fn to_raw<'c>(location: Location<'c>, parts: &Parts<'c, '_>) -> CuteParts {
    // SAFETY: the context outlives every location in it.
    let context = unsafe { context_from_raw(mlirLocationGetContext(location.to_raw())) };
    let mut raw = CuteParts::empty(parts.kind as c_int);
    raw.num_types = parts.types.len() as isize;
    raw.num_texts = parts.texts.len() as isize;
    raw.num_ints = parts.ints.len() as isize;
    for (slot, ty) in raw.types.iter_mut().zip(&parts.types) {
        *slot = ty.to_raw();
    }
    for (slot, text) in raw.texts.iter_mut().zip(&parts.texts) {
        *slot = ffi::string_ref(text);
    }
    for (slot, int) in raw.ints.iter_mut().zip(&parts.ints) {
        *slot = *int;
    }
    raw.num_arrays = parts.arrays.len() as isize;
    for (slot, array) in raw.arrays.iter_mut().zip(&parts.arrays) {
        *slot = array_attribute(context, array).to_raw();
    }
    raw
}

/// The types of one dialect in one context that have been read, and those that have been inferred, by MLIR's own unique handles.
///
/// It only grows, and lives as long as the context.
#[derive(Default)]
pub(super) struct Table {
    read: RwLock<HashMap<usize, Box<Entry>>>,
    inferred: RwLock<HashMap<String, Inferred>>,
    /// The ops that have been found to be in order, by a name, types and numbers.
    checked: RwLock<HashMap<&'static str, FxHashSet<Vec<usize>>>>,
}

/// The result types of the ops of one name, by the dictionary of attributes and the types of operands behind each other.
type Inferred = HashMap<Vec<usize>, Vec<usize>>;

/// A type that has been read.
struct Entry {
    ty: CuteType<'static>,
    /// The tiled MMA that it stands for, made when it is asked for: it takes longer than the reading.
    mma: OnceLock<Result<TiledMma, String>>,
}

/// The table of a new dialect, which [`drop_table`] frees.
pub(super) unsafe extern "C" fn new_table() -> *mut c_void {
    Box::into_raw(Box::<Table>::default()).cast()
}

pub(super) unsafe extern "C" fn drop_table(table: *mut c_void) {
    // SAFETY: the dialect has it from `new_table`, and hands it back once, with its context.
    drop(unsafe { Box::from_raw(table.cast::<Table>()) });
}

/// Returns what `ty` says, read once in its context; nothing where it is not a type of the dialects.
///
/// Panics where its text cannot be read, which the verifier of types has ruled out; the boundary to MLIR makes an error of it.
pub(crate) fn read<'c>(ty: Type<'c>) -> Option<&'c CuteType<'c>> {
    let ty = std::ptr::from_ref(&entry(ty)?.ty);
    // SAFETY: the entry lives as long as the context, as do the types in it.
    Some(unsafe { &*ty.cast::<CuteType<'c>>() })
}

/// The tiled MMA that `ty` stands for, made once in its context. Errors: a type that stands for none.
pub(crate) fn tiled_mma(ty: Type<'_>) -> Result<&TiledMma, String> {
    let entry = entry(ty).ok_or_else(|| format!("expected a tiled MMA, found {ty}"))?;
    let mma = entry.mma.get_or_init(|| types::tiled_mma(&entry.ty));
    mma.as_ref().map_err(Clone::clone)
}

/// The result types of the op of that name on operands of these types, with these attributes, inferred once in a context: ops are verified
/// behind each pass, and most are like others. Errors: those of `infer`, each time.
pub fn inferred<'c>(
    name: &str,
    operands: &[Type<'c>],
    attributes: Attribute<'c>,
    infer: impl FnOnce() -> Result<Vec<Type<'c>>, Failure>,
) -> Result<Vec<Type<'c>>, Failure> {
    let Some(table) = operands.iter().find_map(|ty| table_of(*ty)) else {
        return infer();
    };
    let of_operands = operands.iter().map(|ty| ty.to_raw().ptr as usize);
    let from: Vec<usize> = std::iter::once(attributes.to_raw().ptr as usize)
        .chain(of_operands)
        .collect();
    {
        let known = table
            .inferred
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(types) = known.get(name).and_then(|known| known.get(&from)) {
            let raw = types.iter().map(|ty| MlirType {
                ptr: *ty as *const c_void,
            });
            // SAFETY: these are types of the context that the operands are of, which lives as long as they do.
            return Ok(raw.map(|ty| unsafe { Type::from_raw(ty) }).collect());
        }
    }
    let types = infer()?;
    let handles = types.iter().map(|ty| ty.to_raw().ptr as usize).collect();
    let mut known = table
        .inferred
        .write()
        .unwrap_or_else(PoisonError::into_inner);
    known
        .entry(name.to_owned())
        .or_default()
        .insert(from, handles);
    Ok(types)
}

/// Checks what follows from the kind of an op, types and numbers alone, once in a context where nothing is wrong: ops are verified behind each pass that
/// changes something, and most are like others. Errors: those of `check`, each time.
pub(crate) fn checked(
    name: &'static str,
    types: &[Type<'_>],
    numbers: &[i64],
    check: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let Some(table) = types.iter().find_map(|ty| table_of(*ty)) else {
        return check();
    };
    // How many there are of each keeps one list from being taken for another.
    let counts = [types.len(), numbers.len()];
    let types = types.iter().map(|ty| ty.to_raw().ptr as usize);
    let numbers = numbers.iter().map(|number| *number as usize);
    let key: Vec<usize> = counts.into_iter().chain(types).chain(numbers).collect();
    {
        let known = table.checked.read().unwrap_or_else(PoisonError::into_inner);
        if known.get(name).is_some_and(|known| known.contains(&key)) {
            return Ok(());
        }
    }
    check()?;
    let mut known = table
        .checked
        .write()
        .unwrap_or_else(PoisonError::into_inner);
    known.entry(name).or_default().insert(key);
    Ok(())
}

/// The table that a type of the dialects is in.
fn table_of<'c>(ty: Type<'c>) -> Option<&'c Table> {
    // SAFETY: the type's dialect has the table as long as the context lives, which outlives 'c.
    unsafe { ffi::cuteTypeTable(ty.to_raw()).cast::<Table>().as_ref() }
}

fn entry<'c>(ty: Type<'c>) -> Option<&'c Entry> {
    /// # Safety
    /// The table that `entry` is in must outlive `'c`.
    unsafe fn outlived<'c>(entry: &Entry) -> &'c Entry {
        // SAFETY: entries lie in boxes that are freed with the table.
        unsafe { &*std::ptr::from_ref(entry) }
    }
    let raw: MlirType = ty.to_raw();
    let table = table_of(ty)?;
    let id = raw.ptr as usize;
    {
        let known = table.read.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known.get(&id) {
            // SAFETY: the table outlives 'c.
            return Some(unsafe { outlived(entry) });
        }
    }
    let mut parts = CuteParts::empty(0);
    // SAFETY: the type is one of the dialects, and the texts are its own; a `Type<'static>` is kept no longer than the context.
    let ty: CuteType<'static> = unsafe {
        if !ffi::cuteTypeGetParts(raw, &mut parts) {
            return None;
        }
        let itself = Type::from_raw(raw);
        Parts::from_raw(&parts).and_then(|parts| CuteType::from_parts(&parts.with_itself(itself)))
    }
    .unwrap_or_else(|message| panic!("the type {ty} cannot be read: {message}"));
    let mut known = table.read.write().unwrap_or_else(PoisonError::into_inner);
    let entry = known.entry(id).or_insert_with(|| {
        let mma = OnceLock::new();
        Box::new(Entry { ty, mma })
    });
    // SAFETY: as above.
    Some(unsafe { outlived(entry) })
}

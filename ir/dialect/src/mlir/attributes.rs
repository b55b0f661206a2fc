//! Attributes: of ops, and what they hold.

use super::{Op, Val, changes, defining_op, ffi};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Type},
};
use mlir_sys::*;

/// An attribute of `op`.
pub fn attribute_of<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    // SAFETY: the op lives, and the name outlives the call.
    unsafe {
        Attribute::from_option_raw(mlirOperationGetAttributeByName(
            op.to_raw(),
            ffi::string_ref(name),
        ))
    }
}

/// All attributes of `op`, by name.
pub fn attributes_of<'c>(op: Op<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    // SAFETY: indices are below the count; names and attributes belong to the context.
    unsafe {
        (0..mlirOperationGetNumAttributes(op.to_raw()))
            .map(|i| named(mlirOperationGetAttribute(op.to_raw(), i)))
            .collect()
    }
}

/// # Safety
/// The attribute must be valid, in a context that outlives `'c`.
unsafe fn named<'c>(entry: MlirNamedAttribute) -> (&'c str, Attribute<'c>) {
    // SAFETY: the caller's.
    unsafe {
        let name = ffi::bytes(mlirIdentifierStr(entry.name));
        let name = std::str::from_utf8(name).unwrap_or_default();
        (name, Attribute::from_raw(entry.attribute))
    }
}

/// An attribute of argument `index` of a function.
pub fn argument_attribute<'c>(function: Op<'c>, index: usize, name: &str) -> Option<Attribute<'c>> {
    let all = array_of(attribute_of(function, "arg_attrs")?)?;
    entry_of(*all.get(index)?, name)
}

/// Sets an attribute of `op`.
pub fn set_attribute<'c>(op: Op<'c>, name: &str, attribute: Attribute<'c>) {
    changes::count();
    // SAFETY: both live, and the name outlives the call.
    unsafe {
        mlirOperationSetAttributeByName(op.to_raw(), ffi::string_ref(name), attribute.to_raw());
    }
}

/// Removes an attribute of `op`, if it has it.
pub fn remove_attribute(op: Op<'_>, name: &str) {
    changes::count();
    // SAFETY: the op lives, and the name outlives the call.
    unsafe {
        mlirOperationRemoveAttributeByName(op.to_raw(), ffi::string_ref(name));
    }
}

/// An integer attribute of `op`, as [`integer_value`] reads it.
pub fn integer_of(op: Op<'_>, name: &str) -> Option<i64> {
    integer_value(attribute_of(op, name)?)
}

/// The integer that a constant gives; nothing of other values.
pub fn constant_of(value: Val<'_>) -> Option<i64> {
    integer_of(defining_op(value)?, "value")
}

/// A string attribute of `op`.
pub fn string_of<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    string_value(attribute_of(op, name)?)
}

/// The value of an integer or index attribute of at most 64 bits, sign-extended; nothing of other attributes.
pub fn integer_value(attribute: Attribute<'_>) -> Option<i64> {
    // SAFETY: each getter is called of an attribute and a type of its kind.
    unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsAInteger(raw) {
            return None;
        }
        let ty = mlirAttributeGetType(raw);
        let narrow =
            mlirTypeIsAIndex(ty) || mlirTypeIsAInteger(ty) && mlirIntegerTypeGetWidth(ty) <= 64;
        narrow.then(|| mlirIntegerAttrGetValueInt(raw))
    }
}

/// The value of a floating-point attribute, rounded to 64 bits; nothing of other attributes.
pub fn float_value(attribute: Attribute<'_>) -> Option<f64> {
    // SAFETY: the value is asked of a float.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAFloat(raw).then(|| mlirFloatAttrGetValueDouble(raw))
    }
}

/// The text of a string attribute.
pub fn string_value(attribute: Attribute<'_>) -> Option<&str> {
    // SAFETY: the text is asked of a string, and belongs to the context.
    unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsAString(raw) {
            return None;
        }
        std::str::from_utf8(ffi::bytes(mlirStringAttrGetValue(raw))).ok()
    }
}

/// The type that an attribute holds.
pub fn type_value(attribute: Attribute<'_>) -> Option<Type<'_>> {
    // SAFETY: the type is asked of a type attribute.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAType(raw).then(|| Type::from_raw(mlirTypeAttrGetValue(raw)))
    }
}

/// The type of a typed attribute, such as an integer's; `none` of others.
pub fn type_of_attribute(attribute: Attribute<'_>) -> Type<'_> {
    // SAFETY: every attribute has one.
    unsafe { Type::from_raw(mlirAttributeGetType(attribute.to_raw())) }
}

/// Tells whether it is `unit`.
pub fn is_unit(attribute: Attribute<'_>) -> bool {
    // SAFETY: any attribute may be asked.
    unsafe { mlirAttributeIsAUnit(attribute.to_raw()) }
}

/// The elements of an array attribute.
pub fn array_of(attribute: Attribute<'_>) -> Option<Vec<Attribute<'_>>> {
    // SAFETY: the elements are asked of an array, below its length.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAArray(raw).then(|| {
            (0..mlirArrayAttrGetNumElements(raw))
                .map(|i| Attribute::from_raw(mlirArrayAttrGetElement(raw, i)))
                .collect()
        })
    }
}

/// The elements of a dense array of 64-bit integers.
pub fn i64s_of(attribute: Attribute<'_>) -> Option<Vec<i64>> {
    // SAFETY: the elements are asked of an array of them, below its length.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsADenseI64Array(raw).then(|| {
            (0..mlirDenseArrayGetNumElements(raw))
                .map(|i| mlirDenseI64ArrayGetElement(raw, i))
                .collect()
        })
    }
}

/// The elements of a dense array of 32-bit integers.
pub fn i32s_of(attribute: Attribute<'_>) -> Option<Vec<i32>> {
    // SAFETY: the elements are asked of an array of them, below its length.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsADenseI32Array(raw).then(|| {
            (0..mlirDenseArrayGetNumElements(raw))
                .map(|i| mlirDenseI32ArrayGetElement(raw, i))
                .collect()
        })
    }
}

/// The entries of a dictionary attribute.
pub fn entries_of(attribute: Attribute<'_>) -> Option<Vec<(&str, Attribute<'_>)>> {
    // SAFETY: the entries are asked of a dictionary, below its length, and belong to the context.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsADictionary(raw).then(|| {
            (0..mlirDictionaryAttrGetNumElements(raw))
                .map(|i| named(mlirDictionaryAttrGetElement(raw, i)))
                .collect()
        })
    }
}

/// The entry of a dictionary attribute.
pub fn entry_of<'c>(dictionary: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    // SAFETY: the entry is asked of a dictionary, and the name outlives the call.
    unsafe {
        let raw = dictionary.to_raw();
        if !mlirAttributeIsADictionary(raw) {
            return None;
        }
        let name = ffi::string_ref(name);
        Attribute::from_option_raw(mlirDictionaryAttrGetElementByName(raw, name))
    }
}

/// The names of a symbol reference, outermost first.
pub fn symbol_of(attribute: Attribute<'_>) -> Option<Vec<&str>> {
    // SAFETY: the names are asked of symbol references, below their number, and belong to the context.
    unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsASymbolRef(raw) {
            return None;
        }
        let text = |text: MlirStringRef| std::str::from_utf8(ffi::bytes(text)).ok();
        let nested = (0..mlirSymbolRefAttrGetNumNestedReferences(raw)).map(|i| {
            text(mlirSymbolRefAttrGetRootReference(
                mlirSymbolRefAttrGetNestedReference(raw, i),
            ))
        });
        std::iter::once(text(mlirSymbolRefAttrGetRootReference(raw)))
            .chain(nested)
            .collect()
    }
}

/// An array attribute.
pub fn array_attribute<'c>(context: &'c Context, elements: &[Attribute<'c>]) -> Attribute<'c> {
    let raw: Vec<_> = elements.iter().map(|element| element.to_raw()).collect();
    // SAFETY: the list has as many elements as is said, all of this context.
    unsafe {
        Attribute::from_raw(mlirArrayAttrGet(
            context.to_raw(),
            raw.len() as isize,
            raw.as_ptr(),
        ))
    }
}

/// A dictionary attribute with these entries.
pub fn dictionary<'c>(context: &'c Context, entries: &[(&str, Attribute<'c>)]) -> Attribute<'c> {
    // SAFETY: the list has as many entries as is said, and names are copied.
    unsafe {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, attribute)| MlirNamedAttribute {
                name: mlirIdentifierGet(context.to_raw(), ffi::string_ref(name)),
                attribute: attribute.to_raw(),
            })
            .collect();
        Attribute::from_raw(mlirDictionaryAttrGet(
            context.to_raw(),
            entries.len() as isize,
            entries.as_ptr(),
        ))
    }
}

/// A dictionary attribute without entries.
pub fn empty_dictionary(context: &Context) -> Attribute<'_> {
    // SAFETY: no entry is read.
    unsafe { Attribute::from_raw(mlirDictionaryAttrGet(context.to_raw(), 0, std::ptr::null())) }
}

/// A form that a `gpu.object` is in: text for the assembler.
pub const FORMAT_ASSEMBLY: u32 = 2;
/// A form that a `gpu.object` is in: the assembler's code.
pub const FORMAT_BINARY: u32 = 3;

/// A `#gpu.object`.
#[derive(Clone, Copy, Debug)]
pub struct Object<'c, 'b> {
    /// The target that it was compiled for.
    pub target: Attribute<'c>,
    /// [`FORMAT_ASSEMBLY`], [`FORMAT_BINARY`] or another one.
    pub format: u32,
    /// The text or the code.
    pub bytes: &'b [u8],
    /// The properties that are noted of it, a dictionary.
    pub properties: Option<Attribute<'c>>,
}

impl<'c> Object<'c, 'c> {
    /// Reads a `#gpu.object`; nothing of other attributes.
    pub fn of(attribute: Attribute<'c>) -> Option<Self> {
        // SAFETY: the parts are asked of an object, and belong to the context.
        unsafe {
            let raw = attribute.to_raw();
            mlirAttributeIsAGPUObjectAttr(raw).then(|| Self {
                target: Attribute::from_raw(mlirGPUObjectAttrGetTarget(raw)),
                format: mlirGPUObjectAttrGetFormat(raw),
                bytes: ffi::bytes(mlirGPUObjectAttrGetObject(raw)),
                properties: mlirGPUObjectAttrHasProperties(raw)
                    .then(|| Attribute::from_raw(mlirGPUObjectAttrGetProperties(raw))),
            })
        }
    }
}

impl<'c> Object<'c, '_> {
    /// The attribute.
    pub fn attribute(&self, context: &'c Context) -> Attribute<'c> {
        let properties = self.properties.unwrap_or_else(|| empty_dictionary(context));
        let bytes = MlirStringRef {
            data: self.bytes.as_ptr().cast(),
            length: self.bytes.len(),
        };
        // SAFETY: target and properties are of this context, and the bytes are copied.
        unsafe {
            Attribute::from_raw(mlirGPUObjectAttrGet(
                context.to_raw(),
                self.target.to_raw(),
                self.format,
                bytes,
                properties.to_raw(),
            ))
        }
    }
}

/// Tells whether an op has `fastmath<afn>`, or `fast`, which includes it.
pub fn may_approximate(op: Op<'_>) -> bool {
    let flags = attribute_of(op, "fastmath").map(|flags| flags.to_string());
    flags.is_some_and(|flags| {
        flags
            .split(['<', '>', ','])
            .any(|flag| matches!(flag.trim(), "afn" | "fast"))
    })
}

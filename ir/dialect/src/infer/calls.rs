//! Result types of calls whose text leaves them out, as the functions that are called say them.

use crate::{
    library::signatures::{self, Heads},
    mlir::*,
    types::{self, CuteType},
};
use melior::{
    Context,
    ir::{Attribute, Type},
};

/// The result types of a call whose own text is `text`, of a file of some name; those that only a call's arguments or parameters give are open. Nothing where no
/// function of its name is found, and where several of the name give different types.
pub(super) fn results<'c>(
    context: &'c Context,
    attributes: Attribute<'c>,
) -> Option<Vec<Type<'c>>> {
    let entry = |name: &str| entry_of(attributes, name).and_then(string_value);
    let callee = entry_of(attributes, "callee").and_then(symbol_of)?;
    let [name] = callee[..] else {
        return None;
    };
    let (file, text) = (entry("file")?, entry("text")?);
    let mut found = signatures::of_function(file, text, name);
    // To refuse what is written, all have to agree that a call may mean in any module of the text.
    if entry_of(attributes, "checks").is_some() {
        found.extend(signatures::imported(file, text, name));
    }
    let mut known: Option<Vec<Type<'c>>> = None;
    for (heads, given) in found {
        let types = read(context, &heads, &given)?;
        if known.as_ref().is_some_and(|known| *known != types) {
            return None;
        }
        known = Some(types);
    }
    let types = known?;
    let is_open = |ty: &Type<'c>| {
        matches!(CuteType::of(*ty), Some(CuteType::Any)) || !types::names_in_type(*ty).is_empty()
    };
    let all = types.into_iter();
    let all = all.map(|ty| match is_open(&ty) {
        true => types::any_type(context),
        false => ty,
    });
    Some(all.collect())
}

/// The types that a text behind the arrow of a function says.
fn read<'c>(context: &'c Context, heads: &Heads, given: &str) -> Option<Vec<Type<'c>>> {
    let aliases = match given.contains(['!', '#']) {
        true => &*heads.aliases,
        false => "",
    };
    // Aliases are known to a text alone.
    let text = format!("{aliases}module attributes {{builtin.given = () -> {given}}} {{}}");
    let (module, _) = heard(context, || parse_module(context, "", &text));
    let given = attribute_of(module?.as_operation(), "builtin.given")?.to_string();
    function_types(Type::parse(context, &given)?).map(|(_, results)| results)
}

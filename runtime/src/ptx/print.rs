//! The tree as text.

use std::fmt::{self, Display, Formatter, Write};

use super::ast::*;

/// Items with commas between them.
fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

fn pragma(f: &mut Formatter<'_>, texts: &[&str]) -> fmt::Result {
    for (i, text) in texts.iter().enumerate() {
        write!(f, "{}\"{text}\"", if i > 0 { ", " } else { ".pragma " })?;
    }
    f.write_char(';')
}

fn offset(f: &mut Formatter<'_>, offset: i64) -> fmt::Result {
    match offset {
        0 => Ok(()),
        offset => write!(f, "{offset:+}"),
    }
}

/// Writes the words between a state space and a name, `.ptr` apart.
fn shape(f: &mut Formatter<'_>, vector: Option<u32>, ty: Type) -> fmt::Result {
    if let Some(vector) = vector {
        write!(f, ".v{vector} ")?;
    }
    write!(f, "{ty} ")
}

fn dims(f: &mut Formatter<'_>, dims: &[Option<u64>]) -> fmt::Result {
    for dim in dims {
        match dim {
            Some(dim) => write!(f, "[{dim}]")?,
            None => f.write_str("[]")?,
        }
    }
    Ok(())
}

macro_rules! display_names {
    ($($ty:ident),*) => {
        $(impl Display for $ty {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, ".{}", name_of(&$ty::ALL, *self))
            }
        })*
    };
}
display_names!(Linkage, Space, Type);

impl Display for Module<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            ".version {}.{}\n.target ",
            self.version.0, self.version.1
        )?;
        list(f, &self.target)?;
        f.write_char('\n')?;
        if let Some(size) = self.address_size {
            writeln!(f, ".address_size {size}")?;
        }
        for item in &self.items {
            writeln!(f, "{item}")?;
        }
        Ok(())
    }
}

impl Display for Item<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Variable(variable) => write!(f, "{variable};"),
            Item::Function(function) => write!(f, "{function}"),
            Item::File(File { index, name, stamp }) => {
                write!(f, ".file {index} \"{name}\"")?;
                match stamp {
                    Some((time, size)) => write!(f, ", {time}, {size}"),
                    None => Ok(()),
                }
            }
            Item::Alias { name, of } => write!(f, ".alias {name}, {of};"),
            Item::Pragma(texts) => pragma(f, texts),
            Item::Section { name, text } => write!(f, ".section .{name}\n{{\n{text}\n}}"),
        }
    }
}

impl Display for Variable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(linkage) = self.linkage {
            write!(f, "{linkage} ")?;
        }
        write!(f, "{} ", self.space)?;
        if !self.attributes.is_empty() {
            f.write_str(".attribute(")?;
            list(f, &self.attributes)?;
            f.write_str(") ")?;
        }
        if let Some(align) = self.align {
            write!(f, ".align {align} ")?;
        }
        shape(f, self.vector, self.ty)?;
        f.write_str(self.name)?;
        dims(f, &self.dims)?;
        match &self.init {
            Some(init) => write!(f, " = {init}"),
            None => Ok(()),
        }
    }
}

impl Display for Attribute<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name)?;
        if !self.values.is_empty() {
            f.write_char('(')?;
            list(f, &self.values)?;
            f.write_char(')')?;
        }
        Ok(())
    }
}

impl Display for Init<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Init::Value(value) => write!(f, "{value}"),
            Init::Address {
                symbol,
                offset: by,
                generic,
                mask,
            } => {
                if let Some(mask) = mask {
                    write!(f, "{mask:#x}(")?;
                }
                if *generic {
                    write!(f, "generic({symbol})")?;
                } else {
                    f.write_str(symbol)?;
                }
                offset(f, *by)?;
                f.write_str(if mask.is_some() { ")" } else { "" })
            }
            Init::List(items) => {
                f.write_char('{')?;
                list(f, items)?;
                f.write_char('}')
            }
        }
    }
}

impl Display for Function<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(linkage) = self.linkage {
            write!(f, "{linkage} ")?;
        }
        f.write_str(if self.is_entry { ".entry " } else { ".func " })?;
        if !self.returns.is_empty() {
            f.write_char('(')?;
            list(f, &self.returns)?;
            f.write_str(") ")?;
        }
        write!(f, "{}(", self.name)?;
        for (i, param) in self.params.iter().enumerate() {
            write!(f, "{}\n\t{param}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("\n)")?;
        for directive in &self.directives {
            write!(f, "\n{directive}")?;
        }
        let Some(body) = &self.body else {
            return f.write_char(';');
        };
        f.write_str("\n{\n")?;
        statements(f, body, &mut None)?;
        f.write_char('}')
    }
}

impl Display for Directive<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Directive::Limit { name, values } => {
                write!(f, ".{name} ")?;
                list(f, values)
            }
            Directive::Pragma(texts) => pragma(f, texts),
        }
    }
}

impl Display for Param<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.space)?;
        if let Some(align) = self.align {
            write!(f, ".align {align} ")?;
        }
        shape(f, self.vector, self.ty)?;
        if let Some(pointer) = self.pointer {
            f.write_str(".ptr ")?;
            if let Some(space) = pointer.space {
                write!(f, "{space} ")?;
            }
            if let Some(align) = pointer.align {
                write!(f, ".align {align} ")?;
            }
        }
        f.write_str(self.name)?;
        dims(f, &self.dims)
    }
}

/// `source` is what the last `.loc` said.
fn statements<'a>(
    f: &mut Formatter<'_>,
    body: &[Statement<'a>],
    source: &mut Option<Source<'a>>,
) -> fmt::Result {
    for statement in body {
        match statement {
            Statement::Scope(inside) => {
                f.write_str("{\n")?;
                statements(f, inside, source)?;
                f.write_str("}\n")?;
            }
            Statement::Instruction(instruction) => {
                if let Some(new) = instruction.source.filter(|_| instruction.source != *source) {
                    writeln!(f, "\t{new}")?;
                    *source = Some(new);
                }
                writeln!(f, "\t{instruction};")?;
            }
            Statement::Registers(registers) => writeln!(f, "\t{registers};")?,
            Statement::Variable(variable) => writeln!(f, "\t{variable};")?,
            Statement::Label(name) => writeln!(f, "{name}:")?,
            Statement::Pragma(texts) => {
                f.write_char('\t')?;
                pragma(f, texts)?;
                f.write_char('\n')?;
            }
            Statement::Prototype {
                name,
                returns,
                params,
                noreturn,
            } => {
                write!(f, "{name}: .callprototype (")?;
                list(f, returns)?;
                f.write_str(") _ (")?;
                list(f, params)?;
                writeln!(f, "){};", if *noreturn { " .noreturn" } else { "" })?;
            }
            Statement::Targets {
                name,
                calls,
                targets,
            } => {
                let what = if *calls {
                    "calltargets"
                } else {
                    "branchtargets"
                };
                write!(f, "{name}: .{what} ")?;
                list(f, targets)?;
                f.write_str(";\n")?;
            }
        }
    }
    Ok(())
}

impl Display for Registers<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(".reg ")?;
        shape(f, self.vector, self.ty)?;
        for (i, (name, count)) in self.names.iter().enumerate() {
            write!(f, "{}{name}", if i > 0 { ", " } else { "" })?;
            if let Some(count) = count {
                write!(f, "<{count}>")?;
            }
        }
        Ok(())
    }
}

impl Display for Source<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".loc {} {} {}", self.file, self.line, self.column)?;
        let Some(inlined) = self.inlined else {
            return match self.called_from {
                "" => Ok(()),
                call => write!(f, " // @[ {call} ]"),
            };
        };
        write!(f, ", function_name {}", inlined.function.0)?;
        if inlined.function.1 != 0 {
            write!(f, "+{}", inlined.function.1)?;
        }
        let Inlined {
            file, line, column, ..
        } = inlined;
        write!(f, ", inlined_at {file} {line} {column}")
    }
}

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(Guard { negated, register }) = self.guard {
            write!(f, "@{}{register} ", if negated { "!" } else { "" })?;
        }
        f.write_str(self.opcode)?;
        for modifier in &self.modifiers {
            write!(f, ".{modifier}")?;
        }
        if !self.operands.is_empty() {
            f.write_char('\t')?;
            list(f, &self.operands)?;
        }
        Ok(())
    }
}

impl Display for Register<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.element {
            Some(element) => write!(f, ".{element}"),
            None => Ok(()),
        }
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(register) | Operand::Special(register) => write!(f, "{register}"),
            Operand::Immediate(value) => write!(f, "{value}"),
            Operand::Symbol { name, offset: by } => {
                f.write_str(name)?;
                offset(f, *by)
            }
            Operand::Not(register) => write!(f, "!{register}"),
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::Vector(items) => {
                f.write_char('{')?;
                list(f, items)?;
                f.write_char('}')
            }
            Operand::List(items) => {
                f.write_char('(')?;
                list(f, items)?;
                f.write_char(')')
            }
            Operand::Address(address) => write!(f, "{address}"),
            Operand::Discard => f.write_char('_'),
        }
    }
}

impl Display for Address<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.base {
            Base::Register(register) => write!(f, "[{register}")?,
            Base::Symbol(name) => write!(f, "[{name}")?,
            Base::Absolute(address) => write!(f, "[{address}")?,
        }
        offset(f, self.offset)?;
        for operand in &self.more {
            write!(f, ", {operand}")?;
        }
        f.write_char(']')
    }
}

impl Display for Immediate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Immediate::Int {
                bits,
                unsigned: true,
            } => write!(f, "{bits}U"),
            Immediate::Int { bits, .. } => write!(f, "{}", bits.cast_signed()),
            Immediate::F32(bits) => write!(f, "0f{bits:08X}"),
            Immediate::F64(bits) => write!(f, "0d{bits:016X}"),
        }
    }
}

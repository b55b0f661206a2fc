//! The contents of PTX text. Names and strings borrow from the text.

/// A whole text.
#[derive(Clone, Debug, PartialEq)]
pub struct Module<'a> {
    /// The version of the PTX ISA: major, minor.
    pub version: (u32, u32),
    /// An architecture, and options after it.
    pub target: Vec<&'a str>,
    /// The width of an address in bits: 32 where the text does not say.
    pub address_size: Option<u32>,
    /// The parts of the text, in their order.
    pub items: Vec<Item<'a>>,
}

/// A part of a text at module scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'a> {
    /// A variable at module scope.
    Variable(Variable<'a>),
    /// A kernel or a function, defined or only declared.
    Function(Function<'a>),
    /// A file that `.loc` refers to.
    File(File<'a>),
    /// `.alias NAME, OF;`
    Alias {
        /// The name that the alias adds.
        name: &'a str,
        /// The function that the alias stands for.
        of: &'a str,
    },
    /// `.pragma`: strings for the assembler, without their quotes.
    Pragma(Vec<&'a str>),
    /// A section with debug information; what it holds is not looked at.
    Section {
        /// The name of the section without its dot: `debug_info`.
        name: &'a str,
        /// The text between the braces.
        text: &'a str,
    },
}

/// `.file 1 "kernel.mlir", 0, 0`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'a> {
    /// The number that `.loc` knows the file by.
    pub index: u32,
    /// The name as it is written between the quotes.
    pub name: &'a str,
    /// Time of last change, and size in bytes.
    pub stamp: Option<(u64, u64)>,
}

/// The modules that see a name. (PTX ISA, "Linking Directives".)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// `.extern`: another module defines the name.
    Extern,
    /// `.visible`: other modules see the name.
    Visible,
    /// `.weak`: other modules see the name, and may define it as well.
    Weak,
    /// `.common`: other modules see the name, and those that define it share one variable.
    Common,
}

/// The kind of memory that a variable lives in. (PTX ISA, "State Spaces".)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `.global`: memory of the device, which all threads access.
    Global,
    /// `.const`: constant memory, which threads only read.
    Const,
    /// `.shared`: memory of a block, which the other blocks of its cluster reach too.
    Shared,
    /// `.local`: memory of one thread.
    Local,
    /// `.param`: parameters of a kernel or of a call.
    Param,
    /// `.reg`: registers of a thread.
    Reg,
}

/// The type of a variable, a register or a parameter. (PTX ISA, "Types".)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `.b8`: 8 bits without a type.
    B8,
    /// `.b16`: 16 bits without a type.
    B16,
    /// `.b32`: 32 bits without a type.
    B32,
    /// `.b64`: 64 bits without a type.
    B64,
    /// `.b128`: 128 bits without a type.
    B128,
    /// `.u8`: an integer of 8 bits without a sign.
    U8,
    /// `.u16`: an integer of 16 bits without a sign.
    U16,
    /// `.u32`: an integer of 32 bits without a sign.
    U32,
    /// `.u64`: an integer of 64 bits without a sign.
    U64,
    /// `.s8`: an integer of 8 bits with a sign.
    S8,
    /// `.s16`: an integer of 16 bits with a sign.
    S16,
    /// `.s32`: an integer of 32 bits with a sign.
    S32,
    /// `.s64`: an integer of 64 bits with a sign.
    S64,
    /// `.f16`: a floating-point number of half precision.
    F16,
    /// `.f16x2`: two `.f16` in 32 bits.
    F16x2,
    /// `.bf16`: a floating-point number with 8 bits of exponent and 7 of significand.
    Bf16,
    /// `.bf16x2`: two `.bf16` in 32 bits.
    Bf16x2,
    /// `.tf32`: a number for tensor cores, with the exponent of `.f32` and 10 bits of significand, in 32 bits.
    Tf32,
    /// `.f32`: a floating-point number of single precision.
    F32,
    /// `.f32x2`: two `.f32` in 64 bits.
    F32x2,
    /// `.f64`: a floating-point number of double precision.
    F64,
    /// `.pred`: a predicate, true or false.
    Pred,
    /// `.texref`: an opaque reference to a texture.
    TexRef,
    /// `.samplerref`: an opaque reference to a sampler.
    SamplerRef,
    /// `.surfref`: an opaque reference to a surface.
    SurfRef,
}

/// A variable in memory, or a parameter in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    /// The modules that see the variable; none where the text does not say.
    pub linkage: Option<Linkage>,
    /// The state space that the variable lives in.
    pub space: Space,
    /// The attributes, in their order.
    pub attributes: Vec<Attribute<'a>>,
    /// The alignment, in bytes.
    pub align: Option<u32>,
    /// 2, 4 or 8 elements.
    pub vector: Option<u32>,
    /// The type of the variable, or of the elements of its vectors and arrays.
    pub ty: Type,
    /// The name of the variable.
    pub name: &'a str,
    /// Elements of an array; none for one whose size is given elsewhere.
    pub dims: Vec<Option<u64>>,
    /// The value that the variable starts with; none where the text gives none.
    pub init: Option<Init<'a>>,
    /// The line of the PTX text with its name.
    pub line: TextLine,
}

/// `.attribute(.managed)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The name of the attribute without its dot: `managed`.
    pub name: &'a str,
    /// The numbers in parentheses after the name; empty where there are none.
    pub values: Vec<u64>,
}

/// The value that a variable starts with.
#[derive(Clone, Debug, PartialEq)]
pub enum Init<'a> {
    /// A number, which is the value itself.
    Value(Immediate),
    /// The address of a symbol, plus `offset`, of which `mask` selects bits.
    Address {
        /// The variable or the function whose address it is.
        symbol: &'a str,
        /// Bytes from the symbol to the address.
        offset: i64,
        /// Tells whether it is a generic address.
        generic: bool,
        /// The mask of `0xFF00(symbol)`; none where the value is the whole address.
        mask: Option<u64>,
    },
    /// `{a, b}`: values of elements, which may be lists again.
    List(Vec<Init<'a>>),
}

/// A kernel (`.entry`) or a function (`.func`).
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'a> {
    /// The modules that see the function; none where the text does not say.
    pub linkage: Option<Linkage>,
    /// Tells whether it is a kernel.
    pub is_entry: bool,
    /// The name of the function.
    pub name: &'a str,
    /// The results, in their order; empty for a kernel.
    pub returns: Vec<Param<'a>>,
    /// The parameters, in their order.
    pub params: Vec<Param<'a>>,
    /// `.maxntid 64, 1, 1`, `.noreturn`, ...
    pub directives: Vec<Directive<'a>>,
    /// None where it is only declared.
    pub body: Option<Vec<Statement<'a>>>,
}

impl<'a> Function<'a> {
    /// The instructions of the body, in their order, those in scopes within it too; none where the function is only declared.
    pub fn instructions(&self) -> Vec<&Instruction<'a>> {
        let mut all = Vec::new();
        instructions_of(self.body.as_deref().unwrap_or_default(), &mut all);
        all
    }
}

fn instructions_of<'i, 'a>(body: &'i [Statement<'a>], all: &mut Vec<&'i Instruction<'a>>) {
    for statement in body {
        match statement {
            Statement::Instruction(instruction) => all.push(instruction),
            Statement::Scope(inside) => instructions_of(inside, all),
            _ => {}
        }
    }
}

/// A promise or a demand of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive<'a> {
    /// A name without its dot, and numbers.
    Limit {
        /// The name without its dot: `maxntid`.
        name: &'a str,
        /// The numbers after the name, three at most.
        values: Vec<u64>,
    },
    /// `.pragma`: strings for the assembler, without their quotes.
    Pragma(Vec<&'a str>),
}

/// A parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    /// [`Space::Param`] or [`Space::Reg`].
    pub space: Space,
    /// The alignment, in bytes; none where the text does not say.
    pub align: Option<u32>,
    /// 2, 4 or 8 elements of a vector; none for a scalar.
    pub vector: Option<u32>,
    /// The type of the parameter, or of the elements of its vectors and arrays.
    pub ty: Type,
    /// The memory that the parameter points to; none where the text does not say.
    pub pointer: Option<Pointer>,
    /// `_` in a prototype.
    pub name: &'a str,
    /// Elements of an array, one number for each dimension; none for one whose size is left open.
    pub dims: Vec<Option<u64>>,
}

/// The memory that a parameter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// None for a generic address.
    pub space: Option<Space>,
    /// The alignment of that memory, in bytes.
    pub align: Option<u32>,
}

/// A part of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'a> {
    /// A declaration of registers.
    Registers(Registers<'a>),
    /// A variable of the function.
    Variable(Variable<'a>),
    /// A label, without its colon.
    Label(&'a str),
    /// `{ ... }`: statements whose declarations nothing outside sees.
    Scope(Vec<Statement<'a>>),
    /// An instruction, with its guard and its operands.
    Instruction(Instruction<'a>),
    /// `.pragma`: strings for the assembler, without their quotes.
    Pragma(Vec<&'a str>),
    /// `NAME: .callprototype ...`, what an indirect call calls.
    Prototype {
        /// The label by which calls name the prototype.
        name: &'a str,
        /// The results of a call, in their order.
        returns: Vec<Param<'a>>,
        /// The parameters of a call, in their order.
        params: Vec<Param<'a>>,
        /// Tells whether a call does not return (`.noreturn`).
        noreturn: bool,
    },
    /// `NAME: .branchtargets ...` or `NAME: .calltargets ...`.
    Targets {
        /// The label by which instructions name the list.
        name: &'a str,
        /// True for `.calltargets`, false for `.branchtargets`.
        calls: bool,
        /// The labels or the functions of the list.
        targets: Vec<&'a str>,
    },
}

/// `.reg .b32 %r<123>, %x;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers<'a> {
    /// 2, 4 or 8 elements of each register; none for scalars.
    pub vector: Option<u32>,
    /// The type of each register, or of its elements.
    pub ty: Type,
    /// A name; with a number n, the names with 0 to n - 1 after it.
    pub names: Vec<(&'a str, Option<u32>)>,
    /// The line of the PTX text with the first of them.
    pub line: TextLine,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'a> {
    /// The predicate under which a thread executes it; none where every thread does.
    pub guard: Option<Guard<'a>>,
    /// `mma` of `mma.sync.aligned`.
    pub opcode: &'a str,
    /// `sync` and `aligned` of `mma.sync.aligned`.
    pub modifiers: Vec<&'a str>,
    /// The operands, in the order of the text.
    pub operands: Vec<Operand<'a>>,
    /// The place in the program that PTX was compiled from, by the last `.loc`.
    pub source: Option<Source<'a>>,
    /// The line of the PTX text with its opcode.
    pub line: TextLine,
}

/// The line of PTX, from 1. Where something stands is no part of what it says: all are equal.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct TextLine(pub u32);

impl PartialEq for TextLine {
    fn eq(&self, _: &TextLine) -> bool {
        true
    }
}

/// `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// True for `@!%p1`: threads execute the instruction where the predicate is false.
    pub negated: bool,
    /// The name of the predicate: `%p1`.
    pub register: &'a str,
}

/// A place in a [`File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// The number of a [`File`], as `.loc` gives it.
    pub file: u32,
    /// The line of that file, from 1, as `.loc` gives it.
    pub line: u32,
    /// The column of that line, as `.loc` gives it.
    pub column: u32,
    /// The function that was inlined there; none where the place is in no inlined code.
    pub inlined: Option<Inlined<'a>>,
    /// The place of the call, in the program, that led to inlined code: LLVM says it in a comment, `FILE:LINE:COLUMN`. Empty where nothing is
    /// said.
    pub called_from: &'a str,
}

/// The function that a place belongs to, and the place where that was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inlined<'a> {
    /// A label in a debug section, and an offset from it.
    pub function: (&'a str, u64),
    /// The number of the [`File`] with the call that was inlined.
    pub file: u32,
    /// The line of that call, from 1.
    pub line: u32,
    /// The column of that call.
    pub column: u32,
}

/// A thing that an instruction works on.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register that the text declares: `%r1`.
    Register(Register<'a>),
    /// A register that PTX defines, such as `%tid.x`.
    Special(Register<'a>),
    /// A number in the text: `4`, `0f3F800000`.
    Immediate(Immediate),
    /// A variable, a function, a label, or a register that was declared without `%`.
    Symbol {
        /// The name as it is written.
        name: &'a str,
        /// Bytes from the symbol to the place.
        offset: i64,
    },
    /// `!%p1`
    Not(Register<'a>),
    /// `%r1|%p1`: two results.
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `[base+offset]`: a place in memory.
    Address(Address<'a>),
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `_`
    Discard,
}

/// `%v.x`; a register without `%` is a [`Operand::Symbol`], unless an element is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'a> {
    /// The name without the element: `%tid` of `%tid.x`.
    pub name: &'a str,
    /// `x` of `%tid.x`.
    pub element: Option<&'a str>,
}

/// `[base+offset]`, or with more operands `[map, {x, y}]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address<'a> {
    /// The start, to which the offset is added.
    pub base: Base<'a>,
    /// The distance from the base, in bytes.
    pub offset: i64,
    /// The operands after the first comma; empty for a plain address.
    pub more: Vec<Operand<'a>>,
}

/// The start of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'a> {
    /// A register that holds an address.
    Register(Register<'a>),
    /// A variable, or a register without `%`.
    Symbol(&'a str),
    /// An address that the text gives as a number, in bytes.
    Absolute(u64),
}

/// A number in the text. Floating-point numbers are kept as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// Two's complement.
    Int {
        /// The 64 bits of the number.
        bits: u64,
        /// True where the text marks it with `U`, or where it is too large for 64 bits with a sign.
        unsigned: bool,
    },
    /// The bits of a number of single precision: `0f3F800000` is 1.
    F32(u32),
    /// The bits of a number of double precision: `0d3FF0000000000000` or `1.0` is 1.
    F64(u64),
}

impl Linkage {
    /// Each with its name, in the order of the variants.
    pub const ALL: [(&'static str, Linkage); 4] = [
        ("extern", Linkage::Extern),
        ("visible", Linkage::Visible),
        ("weak", Linkage::Weak),
        ("common", Linkage::Common),
    ];
}

impl Space {
    pub(super) const ALL: [(&'static str, Space); 6] = [
        ("global", Space::Global),
        ("const", Space::Const),
        ("shared", Space::Shared),
        ("local", Space::Local),
        ("param", Space::Param),
        ("reg", Space::Reg),
    ];
}

impl Type {
    /// Each with its name, in the order of the variants.
    #[rustfmt::skip]
    pub const ALL: [(&'static str, Type); 25] = [
        ("b8", Type::B8), ("b16", Type::B16), ("b32", Type::B32), ("b64", Type::B64), ("b128", Type::B128),
        ("u8", Type::U8), ("u16", Type::U16), ("u32", Type::U32), ("u64", Type::U64),
        ("s8", Type::S8), ("s16", Type::S16), ("s32", Type::S32), ("s64", Type::S64),
        ("f16", Type::F16), ("f16x2", Type::F16x2), ("bf16", Type::Bf16), ("bf16x2", Type::Bf16x2),
        ("tf32", Type::Tf32), ("f32", Type::F32), ("f32x2", Type::F32x2), ("f64", Type::F64),
        ("pred", Type::Pred), ("texref", Type::TexRef), ("samplerref", Type::SamplerRef),
        ("surfref", Type::SurfRef),
    ];

    /// The type that a modifier without its dot names.
    pub fn of(name: &str) -> Option<Type> {
        find(&Type::ALL, name)
    }

    /// The size of a value in bytes; none for predicates and opaque references.
    pub fn bytes(self) -> Option<u32> {
        Some(match self {
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 4,
            Type::F16x2 | Type::Bf16x2 | Type::Tf32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 8,
            Type::B128 => 16,
            Type::Pred | Type::TexRef | Type::SamplerRef | Type::SurfRef => return None,
        })
    }

    /// Tells whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Type::F16
                | Type::F16x2
                | Type::Bf16
                | Type::Bf16x2
                | Type::Tf32
                | Type::F32
                | Type::F32x2
                | Type::F64
        )
    }
}

/// The value of a name in a table.
pub(super) fn find<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<T> {
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// The name of a value in a table that has every value.
pub(super) fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table
        .iter()
        .find(|row| row.1 == value)
        .map_or("", |row| row.0)
}

/// Names of registers that PTX defines; numbered ones without their number.
#[rustfmt::skip]
const SPECIAL: &[&str] = &[
    "%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid", "%gridid",
    "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
    "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
    "%lanemask_gt", "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo",
    "%globaltimer_hi", "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0", "%reserved_smem_offset_1", "%total_smem_size", "%aggr_smem_size",
    "%dynamic_smem_size", "%current_graph_exec",
];

/// Tells whether PTX defines the register. `%pm0` to `%pm7` and `%envreg0` to `%envreg31` are numbered.
pub(super) fn is_special(name: &str) -> bool {
    // Most names are a compiler's `%r12`, and none of PTX's is like that.
    let numbered = |prefix: &str, count: u32| {
        name.strip_prefix(prefix)
            .and_then(|number| number.parse::<u32>().ok())
            .is_some_and(|number| number < count)
    };
    SPECIAL.contains(&name) || numbered("%envreg", 32) || numbered("%pm", 8)
}

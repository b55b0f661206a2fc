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
    pub items: Vec<Item<'a>>,
}

/// A part of a text at module scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'a> {
    Variable(Variable<'a>),
    Function(Function<'a>),
    /// A file that `.loc` refers to.
    File(File<'a>),
    /// `.alias NAME, OF;`
    Alias {
        name: &'a str,
        of: &'a str,
    },
    Pragma(Vec<&'a str>),
    /// A section with debug information; what it holds is not looked at.
    Section {
        name: &'a str,
        text: &'a str,
    },
}

/// `.file 1 "kernel.mlir", 0, 0`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'a> {
    pub index: u32,
    /// The name as it is written between the quotes.
    pub name: &'a str,
    /// Time of last change, and size in bytes.
    pub stamp: Option<(u64, u64)>,
}

/// The modules that see a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    Extern,
    Visible,
    Weak,
    Common,
}

/// The kind of memory that a variable lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    Const,
    Shared,
    Local,
    Param,
    Reg,
}

/// The type of a variable, a register or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub enum Type {
    B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64,
    F16, F16x2, Bf16, Bf16x2, Tf32, F32, F32x2, F64, Pred, TexRef, SamplerRef, SurfRef,
}

/// A variable in memory, or a parameter in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    pub linkage: Option<Linkage>,
    pub space: Space,
    pub attributes: Vec<Attribute<'a>>,
    /// The alignment, in bytes.
    pub align: Option<u32>,
    /// 2, 4 or 8 elements.
    pub vector: Option<u32>,
    pub ty: Type,
    pub name: &'a str,
    /// Elements of an array; none for one whose size is given elsewhere.
    pub dims: Vec<Option<u64>>,
    pub init: Option<Init<'a>>,
}

/// `.attribute(.managed)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    pub name: &'a str,
    pub values: Vec<u64>,
}

/// The value that a variable starts with.
#[derive(Clone, Debug, PartialEq)]
pub enum Init<'a> {
    Value(Immediate),
    /// The address of a symbol, plus `offset`, of which `mask` selects bits.
    Address {
        symbol: &'a str,
        offset: i64,
        /// Tells whether it is a generic address.
        generic: bool,
        mask: Option<u64>,
    },
    List(Vec<Init<'a>>),
}

/// A kernel (`.entry`) or a function (`.func`).
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'a> {
    pub linkage: Option<Linkage>,
    pub is_entry: bool,
    pub name: &'a str,
    pub returns: Vec<Param<'a>>,
    pub params: Vec<Param<'a>>,
    /// `.maxntid 64, 1, 1`, `.noreturn`, ...
    pub directives: Vec<Directive<'a>>,
    /// None where it is only declared.
    pub body: Option<Vec<Statement<'a>>>,
}

/// A promise or a demand of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive<'a> {
    /// A name without its dot, and numbers.
    Limit {
        name: &'a str,
        values: Vec<u64>,
    },
    Pragma(Vec<&'a str>),
}

/// A parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    /// [`Space::Param`] or [`Space::Reg`].
    pub space: Space,
    pub align: Option<u32>,
    pub vector: Option<u32>,
    pub ty: Type,
    pub pointer: Option<Pointer>,
    /// `_` in a prototype.
    pub name: &'a str,
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
    Registers(Registers<'a>),
    Variable(Variable<'a>),
    Label(&'a str),
    Scope(Vec<Statement<'a>>),
    Instruction(Instruction<'a>),
    Pragma(Vec<&'a str>),
    /// `NAME: .callprototype ...`, what an indirect call calls.
    Prototype {
        name: &'a str,
        returns: Vec<Param<'a>>,
        params: Vec<Param<'a>>,
        noreturn: bool,
    },
    /// `NAME: .branchtargets ...` or `NAME: .calltargets ...`.
    Targets {
        name: &'a str,
        calls: bool,
        targets: Vec<&'a str>,
    },
}

/// `.reg .b32 %r<123>, %x;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers<'a> {
    pub vector: Option<u32>,
    pub ty: Type,
    /// A name; with a number n, the names with 0 to n - 1 after it.
    pub names: Vec<(&'a str, Option<u32>)>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'a> {
    pub guard: Option<Guard<'a>>,
    /// `mma` of `mma.sync.aligned`.
    pub opcode: &'a str,
    /// `sync` and `aligned` of `mma.sync.aligned`.
    pub modifiers: Vec<&'a str>,
    pub operands: Vec<Operand<'a>>,
    /// The place in the program that PTX was compiled from, by the last `.loc`.
    pub source: Option<Source<'a>>,
    pub line: TextLine,
}

/// The line of PTX, from 1. Where something stands is no part of what it says: all are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextLine(pub u32);

impl PartialEq for TextLine {
    fn eq(&self, _: &TextLine) -> bool {
        true
    }
}

/// `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    pub negated: bool,
    pub register: &'a str,
}

/// A place in a [`File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub inlined: Option<Inlined<'a>>,
}

/// The function that a place belongs to, and the place where that was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inlined<'a> {
    /// A label in a debug section, and an offset from it.
    pub function: (&'a str, u64),
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// A thing that an instruction works on.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    Register(Register<'a>),
    /// A register that PTX defines, such as `%tid.x`.
    Special(Register<'a>),
    Immediate(Immediate),
    /// A variable, a function, a label, or a register that was declared without `%`.
    Symbol {
        name: &'a str,
        offset: i64,
    },
    /// `!%p1`
    Not(Register<'a>),
    /// `%r1|%p1`: two results.
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    Address(Address<'a>),
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `_`
    Discard,
}

/// `%v.x`; a register without `%` is a [`Operand::Symbol`], unless an element is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'a> {
    pub name: &'a str,
    /// `x` of `%tid.x`.
    pub element: Option<&'a str>,
}

/// `[base+offset]`, or with more operands `[map, {x, y}]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address<'a> {
    pub base: Base<'a>,
    /// The distance from the base, in bytes.
    pub offset: i64,
    pub more: Vec<Operand<'a>>,
}

/// The start of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'a> {
    Register(Register<'a>),
    /// A variable, or a register without `%`.
    Symbol(&'a str),
    Absolute(u64),
}

/// A number in the text. Floating-point numbers are kept as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// Two's complement.
    Int {
        bits: u64,
        unsigned: bool,
    },
    F32(u32),
    F64(u64),
}

impl Linkage {
    pub(super) const ALL: [(&'static str, Linkage); 4] = [
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
    #[rustfmt::skip]
    pub(super) const ALL: [(&'static str, Type); 25] = [
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

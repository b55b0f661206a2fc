//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cute_layout::{Elem, Operand};

use crate::hopper::Form;
use crate::input;

/// Evaluates, prints and draws CuTe layouts.
#[derive(Debug, Parser)]
#[command(
    name = "cute-layout",
    version,
    after_help = "A layout, shape or tiler is an expression everywhere: `(4,8):(8,1)`, `make_layout((4,8), LayoutRight)`,\n\
                  `S<3,4,3> o 0 o (8,64):(64,1)`. `-` reads it from standard input. `cute-layout functions` lists the functions.\n\n\
                  Exit codes:\n  0  done\n  1  the expression is wrong, or has no answer\n  2  the command line is wrong"
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Facts about symbols, such as 'M % 128 == 0, K >= 32, 1 <= N <= 4096'; other symbols are positive integers.
    #[arg(
        long = "where",
        value_name = "FACTS",
        global = true,
        allow_hyphen_values = true
    )]
    pub facts: Option<String>,
    /// Prints the result as types and operations of the dialect, which cute-opt reads. KIND names another type than the one
    /// that follows, such as --ir=shape for a tuple.
    #[arg(
        long,
        value_name = "KIND",
        global = true,
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "auto"
    )]
    pub ir: Option<crate::ir::Kind>,
}

/// The commands of the tool.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Evaluates an expression and prints the result in canonical text.
    Eval {
        /// For example 'composition((6,2):(8,2), (4,3):(3,1))'.
        #[arg(value_name = "EXPR", allow_hyphen_values = true)]
        expr: OsString,
        /// One JSON object, also for an error.
        #[arg(long)]
        json: bool,
    },
    /// Evaluates an expression a line; writes a result or `error: ...` a line, and a blank line for a blank line.
    Batch {
        /// The lines; standard input without it.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Prints a layout as CuTe's print_layout does: a table, or coordinates and indices at rank 1; a tiled copy or MMA as
    /// CuTe's print does, with tables of thread and value.
    Print {
        /// A layout of rank 1 or 2, a tiled copy, a tiled MMA, or an atom.
        #[arg(value_name = "LAYOUT", allow_hyphen_values = true)]
        layout: OsString,
        /// All rows and columns of a large layout.
        #[arg(long)]
        full: bool,
        /// One JSON object instead of the table.
        #[arg(long)]
        json: bool,
    },
    /// Makes a tiled copy of an atom, as make_tiled_copy does; with --ir an alias of its type.
    #[command(name = "tiled_copy")]
    TiledCopy(TiledCopy),
    /// Makes a tiled MMA of an atom, as make_tiled_mma does; with --ir an alias of its type.
    #[command(name = "tiled_mma")]
    TiledMma(TiledMma),
    /// Draws a layout, a tiled copy or a tiled MMA as CuTe's print_latex does, in TikZ.
    Latex {
        /// A layout of rank 1 or 2, a tiled copy, a tiled MMA, or an atom.
        #[arg(value_name = "LAYOUT", allow_hyphen_values = true)]
        layout: OsString,
        /// The picture.
        #[command(flatten)]
        picture: Picture,
    },
    /// Draws a layout as SVG: indices in the cells, coordinates on the edges; a tiled copy or MMA with thread and value.
    Svg {
        /// A layout of rank 1 or 2, a tiled copy, a tiled MMA, or an atom.
        #[arg(value_name = "LAYOUT", allow_hyphen_values = true)]
        layout: OsString,
        /// The picture.
        #[command(flatten)]
        picture: Picture,
    },
    /// Shows a thread-value layout both ways: (thread,value) to coordinate, and coordinate to (thread,value).
    Tv {
        /// A layout of rank 2, (threads, values), whose offsets number the tile's elements first mode fastest.
        #[arg(value_name = "TV_LAYOUT", allow_hyphen_values = true)]
        layout: OsString,
        /// The shape of the tile: (M,N).
        #[arg(value_name = "TILE", allow_hyphen_values = true)]
        tile: OsString,
        /// The picture.
        #[command(flatten)]
        picture: Picture,
        /// The form in which it is shown.
        #[arg(long, value_enum, default_value_t = TvForm::Text)]
        form: TvForm,
        /// Another name for --form svg.
        #[arg(long, conflicts_with_all = ["form", "latex", "json"])]
        svg: bool,
        /// Another name for --form latex.
        #[arg(long, conflicts_with_all = ["form", "json"])]
        latex: bool,
        /// Another name for --form json.
        #[arg(long, conflicts_with = "form")]
        json: bool,
    },
    /// Shows the bank of shared memory of each element, and the conflicts of an access.
    Banks(Banks),
    /// Shows a tile as TMA copies it: the box, and the place of each element in shared memory.
    Tma(Tma),
    /// Shows an operand of wgmma in shared memory: its descriptor, and the core matrices that it reads.
    Wgmma(Wgmma),
    /// Lists the functions of the expression language.
    Functions,
}

/// The arguments of `tma`.
#[derive(Debug, Args)]
pub struct Tma {
    /// The layout of the tensor in global memory, such as '(M,K):(K,1)' or '(?,?):(?{div=8},1)'.
    #[arg(value_name = "GMEM", allow_hyphen_values = true)]
    pub tensor: OsString,
    /// The layout of a tile in shared memory, of two modes, such as 'S<3,3,3> o 0 o (128,64):(64,1)'.
    #[arg(value_name = "SMEM", allow_hyphen_values = true)]
    pub tile: OsString,
    /// The element: a type such as f16, or its bits.
    #[arg(long, value_name = "TYPE", default_value = "f16", value_parser = element)]
    pub elem: Width,
    /// A swizzle of byte addresses, as on a swizzled pointer. (A swizzle of elements is part of SMEM.)
    #[arg(long, value_name = "S<B,M,S>")]
    pub swizzle: Option<OsString>,
    /// The form in which it is shown.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub form: Form,
    /// The file, and how much of it is shown.
    #[command(flatten)]
    pub picture: Picture,
}

/// The arguments of `wgmma`.
#[derive(Debug, Args)]
pub struct Wgmma {
    /// The atom, such as SM90_64x128x16_F32F16F16_SS_TN.
    #[arg(value_name = "ATOM")]
    pub atom: OsString,
    /// The operand.
    #[arg(value_name = "OPERAND", value_enum)]
    pub operand: Factor,
    /// The layout of a tile of it in shared memory, (M,K) or (N,K), such as 'S<3,3,3> o 0 o (128,64):(64,1)'.
    #[arg(value_name = "SMEM", allow_hyphen_values = true)]
    pub tile: OsString,
    /// A swizzle of byte addresses, as on a swizzled pointer. (A swizzle of elements is part of SMEM.)
    #[arg(long, value_name = "S<B,M,S>")]
    pub swizzle: Option<OsString>,
    /// The form in which it is shown.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub form: Form,
    /// The file, and how much of it is shown.
    #[command(flatten)]
    pub picture: Picture,
}

/// A factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Factor {
    /// (M,K).
    #[value(name = "A")]
    A,
    /// (N,K).
    #[value(name = "B")]
    B,
}

impl From<Factor> for Operand {
    fn from(factor: Factor) -> Operand {
        match factor {
            Factor::A => Operand::A,
            Factor::B => Operand::B,
        }
    }
}

/// The arguments of `tiled_copy`.
#[derive(Debug, Args)]
pub struct TiledCopy {
    /// For example 'copy_atom(UniversalCopy<64>, f16)'.
    #[arg(value_name = "ATOM", allow_hyphen_values = true)]
    pub atom: OsString,
    /// Threads: (m,n) -> thread.
    #[arg(value_name = "THREADS", allow_hyphen_values = true)]
    pub threads: OsString,
    /// Values of each thread: (m,n) -> value; one without it.
    #[arg(value_name = "VALUES", allow_hyphen_values = true)]
    pub values: Option<OsString>,
    /// One JSON object, also for an error.
    #[arg(long)]
    pub json: bool,
}

impl TiledCopy {
    /// The expression that they stand for.
    pub fn expression(&self) -> anyhow::Result<OsString> {
        let arguments = [Some(&self.atom), Some(&self.threads), self.values.as_ref()];
        call("make_tiled_copy", arguments)
    }
}

/// The arguments of `tiled_mma`.
#[derive(Debug, Args)]
pub struct TiledMma {
    /// For example SM80_16x8x16_F32F16F16F32_TN.
    #[arg(value_name = "ATOM", allow_hyphen_values = true)]
    pub atom: OsString,
    /// Atoms over threads along M, N and K; one without it.
    #[arg(value_name = "ATOM_LAYOUT", allow_hyphen_values = true)]
    pub atoms: Option<OsString>,
    /// The elements of M, N and K that one step takes; those that the atoms cover once without it.
    #[arg(value_name = "PERMUTATION", allow_hyphen_values = true)]
    pub permutation: Option<OsString>,
    /// One JSON object, also for an error.
    #[arg(long)]
    pub json: bool,
}

impl TiledMma {
    /// The expression that they stand for.
    pub fn expression(&self) -> anyhow::Result<OsString> {
        let arguments = [
            Some(&self.atom),
            self.atoms.as_ref(),
            self.permutation.as_ref(),
        ];
        call("make_tiled_mma", arguments)
    }
}

/// Makes the text of a call of a function of the language, whose arguments are those of the command line.
fn call(function: &str, arguments: [Option<&OsString>; 3]) -> anyhow::Result<OsString> {
    let arguments = arguments.into_iter().flatten().map(|argument| {
        let bytes = input::bytes(argument)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_string())
    });
    let arguments: Vec<String> = arguments.collect::<anyhow::Result<_>>()?;
    Ok(format!("{function}({})", arguments.join(", ")).into())
}

/// The file of a picture, and how much of it is drawn.
#[derive(Debug, Args)]
pub struct Picture {
    /// The file to write; standard output without it.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// All rows and columns of a large layout.
    #[arg(long)]
    pub full: bool,
}

/// The forms of a thread-value layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TvForm {
    /// Two tables.
    Text,
    /// Two pictures, coloured by thread.
    Svg,
    /// CuTe's print_latex picture, coloured by thread.
    Latex,
    /// One object.
    Json,
}

/// The access to shared memory.
#[derive(Debug, Args)]
pub struct Banks {
    /// A layout in shared memory, of rank 1 or 2; offsets count elements.
    #[arg(value_name = "LAYOUT", allow_hyphen_values = true)]
    pub layout: OsString,
    /// The element: a type such as f16, or its bits.
    #[arg(long, value_name = "TYPE", default_value = "f16", value_parser = element)]
    pub elem: Width,
    /// A swizzle of byte addresses, as on a swizzled pointer. (A swizzle of elements is part of LAYOUT.)
    #[arg(long, value_name = "S<B,M,S>")]
    pub swizzle: Option<OsString>,
    /// The access: a layout from the thread to the index, first mode fastest, of the element of LAYOUT where it begins.
    #[arg(long, value_name = "LAYOUT", allow_hyphen_values = true)]
    pub threads: Option<OsString>,
    /// The access of a product of a warpgroup: the atom that reads LAYOUT by descriptors, such as SM90_64x128x16_F32F16F16_SS_TN.
    #[arg(long, value_name = "ATOM", conflicts_with = "threads")]
    pub wgmma: Option<OsString>,
    /// The factor of it that LAYOUT is.
    #[arg(long, value_enum, default_value_t = Factor::A, requires = "wgmma")]
    pub operand: Factor,
    /// Elements in a row that each thread accesses.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "threads")]
    pub vector: i64,
    /// All rows and columns of a large layout.
    #[arg(long)]
    pub full: bool,
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

/// The width of an element, and its type where it was named.
#[derive(Debug, Clone, Copy)]
pub struct Width {
    /// Bits.
    pub bits: i64,
    /// The type.
    pub elem: Option<Elem>,
}

/// The types of elements.
const ELEMS: [Elem; 12] = [
    Elem::F16,
    Elem::BF16,
    Elem::TF32,
    Elem::F32,
    Elem::F64,
    Elem::I4,
    Elem::U4,
    Elem::I8,
    Elem::U8,
    Elem::I32,
    Elem::F8E4M3,
    Elem::F8E5M2,
];

/// The type of this name.
pub fn elem(name: &str) -> Option<Elem> {
    ELEMS.into_iter().find(|e| e.name() == name)
}

fn element(text: &str) -> Result<Width, String> {
    if let Some(e) = elem(text) {
        return Ok(Width {
            bits: e.bits(),
            elem: Some(e),
        });
    }
    match text.parse() {
        Ok(bits @ (1 | 2 | 4 | 8 | 16 | 32 | 64 | 128)) => Ok(Width { bits, elem: None }),
        _ => {
            let names = ELEMS.map(Elem::name).join(", ");
            Err(format!(
                "expected {names}, or 1, 2, 4, 8, 16, 32, 64 or 128 bits"
            ))
        }
    }
}

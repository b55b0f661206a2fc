//! `--ir`: which commands have it, and what each of them prints.

use clap::CommandFactory;
use clap::error::ErrorKind;
use cute_layout::symbolic::Scope;

use super::{Ir, Kind};
use crate::cli::{Cli, Command, TvForm};
use crate::program::swizzle;
use crate::value::Value;
use crate::{batch, input};

/// Ends the program: the command line is wrong.
fn refuse(message: String) -> ! {
    Cli::command()
        .error(ErrorKind::ArgumentConflict, message)
        .exit()
}

/// Prints what a command shows as types and operations of the dialect. Errors: those of its expressions, and values that have none. A
/// wrong command line ends the program.
pub fn run(command: &Command, kind: Kind, scope: &Scope) -> anyhow::Result<()> {
    // `others` is what `--ir` would leave without effect, where it was given.
    let check = |name: &str, others: &[(&str, bool)], any: bool| {
        if let Some((other, _)) = others.iter().find(|(_, given)| *given) {
            refuse(format!("`{name}` takes --ir or {other}; both were given"));
        }
        if !any && kind != Kind::Auto {
            refuse(format!(
                "`{name}` takes --ir without a KIND, as the types of what it shows are known"
            ));
        }
    };
    let expression = match command {
        Command::Eval { expr, json } => {
            check("eval", &[("--json", *json)], true);
            expr.clone()
        }
        Command::Print { layout, full, json } => {
            check("print", &[("--json", *json), ("--full", *full)], true);
            layout.clone()
        }
        Command::TiledCopy(args) => {
            check("tiled_copy", &[("--json", args.json)], false);
            args.expression()?
        }
        Command::TiledMma(args) => {
            check("tiled_mma", &[("--json", args.json)], false);
            args.expression()?
        }
        Command::Batch { file, json } => {
            check("batch", &[("--json", *json)], true);
            return batch::run(file.as_deref(), batch::Form::Ir(kind), scope);
        }
        Command::Tv {
            layout,
            tile,
            picture,
            form,
            svg,
            latex,
            json,
        } => {
            let others = [
                ("--json", *json),
                ("--svg", *svg),
                ("--latex", *latex),
                ("--form", *form != TvForm::Text),
                ("--full", picture.full),
                ("--output", picture.output.is_some()),
            ];
            check("tv", &others, false);
            let tile = input::value(tile, scope, Value::to_shape)?;
            let made = input::value(layout, scope, |v| super::thread_value(v, &tile))?;
            return write_ir(&made);
        }
        Command::Banks(args) => {
            let others = [
                ("--json", args.json),
                ("--threads", args.threads.is_some()),
                ("--wgmma", args.wgmma.is_some()),
                ("--full", args.full),
            ];
            check("banks", &others, false);
            let swizzle = swizzle(args.swizzle.as_deref(), scope)?;
            let made = input::value(&args.layout, scope, |v| {
                super::shared_memory(v, args.elem, swizzle)
            })?;
            return write_ir(&made);
        }
        Command::Latex { .. } => refuse(no_ir("latex")),
        Command::Svg { .. } => refuse(no_ir("svg")),
        Command::Tma(_) => refuse(no_ir("tma")),
        Command::Wgmma(_) => refuse(no_ir("wgmma")),
        Command::Functions => refuse(no_ir("functions")),
    };
    let made = input::evaluated(&expression, scope, |e| super::result(e, kind, ""))?;
    write_ir(&made)
}

fn no_ir(command: &str) -> String {
    format!(
        "`{command}` has no IR; --ir is for eval, batch, print, tiled_copy, tiled_mma, tv and banks"
    )
}

fn write_ir(ir: &Ir) -> anyhow::Result<()> {
    input::notes(&ir.notes);
    input::write(&ir.text, None)
}

//! The commands of `cute-layout`. Exit codes: 0 done; 1 the expression is wrong or has no answer, or a file cannot be read or written; 2 the command line is
//! wrong.

use std::ffi::OsStr;
use std::fmt::Write;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Parser;
use cute_layout::Swizzle;
use cute_layout::symbolic::Scope;
use serde_json::json;

use crate::banks::{self, Memory};
use crate::cli::{Banks, Cli, Command, Picture, Tma, TvForm, Wgmma};
use crate::failure::Fault;
use crate::grid::{Grid, Window};
use crate::hopper::{self, Boxed, Described, Placed};
use crate::tiled::Tiled;
use crate::tv::ThreadValue;
use crate::value::Value;
use crate::{batch, facts, functions, input, ir, latex, svg, svg_tiled, table};

/// Runs the program with its own arguments.
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = format!("{error:#}");
            let prefix = if text.starts_with("error: ") {
                ""
            } else {
                "error: "
            };
            let _ =
                std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{prefix}{text}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let scope = &facts::option(cli.facts.as_deref()).map_err(anyhow::Error::msg)?;
    if let Some(kind) = cli.ir {
        return ir::command::run(&cli.command, kind, scope);
    }
    match cli.command {
        Command::Eval { expr, json } => evaluate(&expr, json, scope),
        Command::TiledCopy(args) => evaluate(&args.expression()?, args.json, scope),
        Command::TiledMma(args) => evaluate(&args.expression()?, args.json, scope),
        Command::Batch { file, json } => {
            let form = if json {
                batch::Form::Json
            } else {
                batch::Form::Text
            };
            batch::run(file.as_deref(), form, scope)
        }
        Command::Print { layout, full, json } => print(&layout, full, json, scope),
        Command::Latex { layout, picture } => draw(&layout, &picture, scope, &LATEX),
        Command::Svg { layout, picture } => draw(&layout, &picture, scope, &SVG),
        Command::Tv {
            layout,
            tile,
            picture,
            form,
            svg,
            latex,
            json,
        } => {
            let form = match (svg, latex, json) {
                (true, ..) => TvForm::Svg,
                (_, true, _) => TvForm::Latex,
                (.., true) => TvForm::Json,
                _ => form,
            };
            thread_value(&layout, &tile, &picture, form, scope)
        }
        Command::Banks(args) => show_banks(&args, scope),
        Command::Tma(args) => show_box(&args, scope),
        Command::Wgmma(args) => show_operand(&args, scope),
        Command::Functions => input::write(&functions(), None),
    }
}

fn evaluate(expr: &OsStr, as_json: bool, scope: &Scope) -> anyhow::Result<()> {
    let (text, outcome) = input::outcome(expr, scope)?;
    match outcome {
        Ok(e) => {
            input::notes(&e.notes);
            let line = if as_json {
                e.to_json().to_string()
            } else {
                e.value.to_string()
            };
            input::write(&format!("{line}\n"), None)
        }
        Err(f) => {
            if as_json {
                input::write(&format!("{}\n", f.to_json()), None)?;
            }
            Err(anyhow!(f.render(&text)))
        }
    }
}

/// Remarks about what is left out of pictures.
fn of_cuts(windows: &[Window]) -> Vec<String> {
    let mut notes: Vec<String> = windows.iter().filter_map(Window::note).collect();
    notes.dedup();
    notes
}

fn cut(windows: &[Window]) {
    input::notes(&of_cuts(windows));
}

fn print(layout: &OsStr, full: bool, as_json: bool, scope: &Scope) -> anyhow::Result<()> {
    let (text, windows) = input::value(layout, scope, |v| {
        if !as_json {
            return printed(v, full);
        }
        if let Some(picture) = Tiled::new(v)? {
            return Ok((format!("{}\n", picture.json(full)?), vec![]));
        }
        let grid = Grid::new(v)?;
        let window = grid.table(full)?;
        let object = json!({
            "layout": grid.title, "rows": grid.size.0, "columns": grid.size.1, "values": grid.values(window)?,
            "cut": window.note(),
        });
        Ok((format!("{object}\n"), vec![window]))
    })?;
    if !as_json {
        cut(&windows);
    }
    input::write(&text, None)
}

/// A value as text, all of it or as much as a page holds, with the parts that are shown.
pub fn printed(v: &Value, full: bool) -> Result<(String, Vec<Window>), Fault> {
    if let Some(picture) = Tiled::new(v)? {
        return picture.print(full);
    }
    let grid = Grid::new(v)?;
    let window = grid.table(full)?;
    Ok((table::print(&grid, window)?, vec![window]))
}

/// A form of pictures.
pub struct Form {
    layout: fn(&Grid, Window) -> Result<String, Fault>,
    tiled: fn(&str, &Tiled, &[Window]) -> String,
}

pub const LATEX: Form = Form {
    layout: latex::layout,
    tiled: |_, picture, windows| latex::tiled(picture, windows),
};
pub const SVG: Form = Form {
    layout: svg::layout,
    tiled: svg_tiled::tiled,
};

fn draw(layout: &OsStr, picture: &Picture, scope: &Scope, form: &Form) -> anyhow::Result<()> {
    let (text, notes) = input::value(layout, scope, |v| drawn(v, picture.full, form))?;
    input::notes(&notes);
    input::write(&text, picture.output.as_deref())
}

/// The picture of a value, and remarks about it.
pub fn drawn(v: &Value, full: bool, form: &Form) -> Result<(String, Vec<String>), Fault> {
    if let Some(tiled) = Tiled::new(v)? {
        let windows = tiled.windows(full)?;
        let text = (form.tiled)(&v.to_string(), &tiled, &windows);
        return Ok((text, [tiled.notes(), of_cuts(&windows)].concat()));
    }
    let grid = Grid::new(v)?;
    let window = grid.picture(full)?;
    Ok(((form.layout)(&grid, window)?, of_cuts(&[window])))
}

fn thread_value(
    layout: &OsStr,
    tile: &OsStr,
    picture: &Picture,
    form: TvForm,
    scope: &Scope,
) -> anyhow::Result<()> {
    let tile = input::value(tile, scope, Value::to_shape)?;
    let (tv, (threads, tile)) = input::value(layout, scope, |v| {
        let tv = ThreadValue::new(&v.to_layout()?, &tile)?;
        let windows = tv.windows(picture.full, form != TvForm::Text)?;
        Ok((tv, windows))
    })?;
    if form != TvForm::Json {
        input::notes(&tv.notes());
    }
    let text = match form {
        TvForm::Json => format!("{}\n", tv.json(threads, tile)),
        TvForm::Text => {
            cut(&[threads, tile]);
            tv.text(threads, tile)
        }
        TvForm::Svg => {
            cut(&[threads, tile]);
            svg::thread_value(&tv, threads, tile)
        }
        TvForm::Latex => {
            cut(&[tile]);
            latex::thread_value(&tv, tile)
        }
    };
    input::write(&text, picture.output.as_deref())
}

/// The swizzle of an option, where it is given.
pub fn swizzle(text: Option<&OsStr>, scope: &Scope) -> anyhow::Result<Option<Swizzle>> {
    let swizzle = text.map(|s| {
        input::value(s, scope, |v| match v {
            Value::Swizzle(s) => Ok(*s),
            other => Err(other.unlike("a swizzle S<B,M,S>")),
        })
    });
    swizzle.transpose()
}

fn show_box(args: &Tma, scope: &Scope) -> anyhow::Result<()> {
    let swizzle = swizzle(args.swizzle.as_deref(), scope)?;
    let tensor = input::value(&args.tensor, scope, Value::to_layout)?;
    let (text, notes) = input::value(&args.tile, scope, |v| {
        let placed = Placed::new(v, args.elem.bits, swizzle)?;
        Boxed::new(&tensor, placed)?.shown(args.form, args.picture.full)
    })?;
    input::notes(&notes);
    input::write(&text, args.picture.output.as_deref())
}

fn show_operand(args: &Wgmma, scope: &Scope) -> anyhow::Result<()> {
    let swizzle = swizzle(args.swizzle.as_deref(), scope)?;
    let atom = input::value(&args.atom, scope, |v| hopper::atom(v, args.operand.into()))?;
    let (text, notes) = input::value(&args.tile, scope, |v| {
        let operand = Described::new(&atom, args.operand.into(), v, swizzle)?;
        operand.shown(args.form, args.picture.full)
    })?;
    input::notes(&notes);
    input::write(&text, args.picture.output.as_deref())
}

fn show_banks(args: &Banks, scope: &Scope) -> anyhow::Result<()> {
    let swizzle = swizzle(args.swizzle.as_deref(), scope)?;
    let (memory, banks, window) = input::value(&args.layout, scope, |v| {
        let grid = Grid::new(v)?;
        let window = grid.table(args.full)?;
        let memory = Memory {
            grid,
            bits: args.elem.bits,
            swizzle,
        };
        let banks = memory.banks(window)?;
        Ok((memory, banks, window))
    })?;
    let access = args
        .threads
        .as_deref()
        .map(|t| input::value(t, scope, |v| memory.access(&v.to_layout()?, args.vector)));
    let access = access.transpose()?;
    let atom = args
        .wgmma
        .as_deref()
        .map(|atom| input::value(atom, scope, |v| hopper::atom(v, args.operand.into())));
    let product = atom.transpose()?.map(|atom| {
        input::value(&args.layout, scope, |v| {
            if memory.bits != hopper::bits(&atom, args.operand.into()) {
                return Err(Fault::Call(format!(
                    "expected elements of {} bits, as {} has of this operand, found {}; say --elem",
                    hopper::bits(&atom, args.operand.into()),
                    atom.name,
                    memory.bits
                )));
            }
            Described::new(&atom, args.operand.into(), v, swizzle)
        })
    });
    let product = product.transpose()?;
    if args.json {
        let access = access.as_ref().map(banks::Access::json);
        let object = json!({
            "layout": memory.grid.title,
            "element_bits": memory.bits,
            "swizzle": memory.swizzle.map(|s| s.to_string()),
            "banks": banks,
            "cut": window.note(),
            "access": access.or(product.as_ref().map(Described::access_json)),
        });
        return input::write(&format!("{object}\n"), None);
    }
    cut(&[window]);
    let mut text = banks::text(&memory, banks);
    if let Some(access) = access {
        text.push('\n');
        text.push_str(&access.text());
    }
    if let Some(product) = product {
        text.push('\n');
        text.push_str(&product.access());
    }
    input::write(&text, None)
}

/// The functions of the language, each with its signature, what it does, and an example.
pub fn functions() -> String {
    let mut out = String::new();
    for f in functions::all() {
        let also = match f.names {
            [_, others @ ..] if !others.is_empty() => format!(" (also {})", others.join(", ")),
            _ => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{}\n    {}{also}\n    {} = {}",
            f.signature, f.about, f.example, f.gives
        );
    }
    out
}

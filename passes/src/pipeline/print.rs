//! `cute-print-schedule`: shows which operation of a loop runs when.
//!
//! Reads what `cute-schedule` left in the IR and writes it to standard output: as a table, with
//! how long each unit is busy in a turn, or as a graph in DOT, the language of
//! Graphviz, with the dependences and a box for each stage.

use super::{
    graph::{self, Body},
    resources::{busy, interval},
};
use cute_ir::ops::scf;
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{ORDER, STAGE},
    diag,
    mlir::*,
    options::{OptionValue, Options},
};
use melior::ir::operation::OperationLike;
use petgraph::{graph::NodeIndex, visit::EdgeRef};
use std::fmt::Write as _;
use std::io::Write as _;

/// The form in which schedules are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A table.
    Text,
    /// A graph for Graphviz.
    Dot,
}

impl OptionValue for Format {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Format::Text),
            "dot" => Ok(Format::Dot),
            _ => Err(format!("expected text or dot, found '{text}'")),
        }
    }

    fn written(&self) -> String {
        match self {
            Format::Text => "text".to_owned(),
            Format::Dot => "dot".to_owned(),
        }
    }
}

cute_ir::options! {
    /// Options of `cute-print-schedule`.
    pub struct PrintOptions {
        format: Format = Format::Text, "text", "text, or dot for Graphviz";
    }
}

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-print-schedule",
    description: "Print the schedules of loops, as text or as DOT",
    anchor: Anchor::Any,
    options: PrintOptions::SPECS,
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::of_option(module, format!("cute-print-schedule: {e}"));
    let PrintOptions { format } = PrintOptions::of(options).map_err(wrong)?;
    let mut all = String::new();
    for kernel in kernels(module) {
        let name = string_of(kernel, "sym_name").unwrap_or("kernel");
        for op in nested_ops(kernel).into_iter().filter_map(scf::For::of) {
            let body = op.region().expected(op.op(), "a body")?;
            if !ops_of(body)
                .iter()
                .any(|op| attribute_of(*op, STAGE).is_some())
            {
                continue;
            }
            let body = graph::build(body);
            let title = match place_of(op.op().location()) {
                Some(place) => {
                    format!(
                        "{name}, the loop at {}:{}:{}",
                        place.file, place.line, place.column
                    )
                }
                None => format!("{name}, a loop"),
            };
            // Nothing fails in writing to a text.
            let _ = if format == Format::Dot {
                graph_of(&mut all, &title, &body)
            } else {
                table(&mut all, &title, &body)
            };
        }
    }
    // Who closes the pipe has read enough.
    let _ = std::io::stdout().write_all(all.as_bytes());
    Ok(())
}

fn attribute(body: &Body<'_>, node: NodeIndex, name: &str) -> i64 {
    let op = body.graph[node].op;
    op.and_then(|op| integer_of(op, name)).unwrap_or(0)
}

fn in_order(body: &Body<'_>) -> Vec<NodeIndex> {
    let mut nodes = body.program.clone();
    nodes.sort_by_key(|node| attribute(body, *node, ORDER));
    nodes
}

fn stages(body: &Body<'_>) -> i64 {
    let stages = body
        .program
        .iter()
        .map(|node| attribute(body, *node, STAGE));
    stages.max().unwrap_or(0) + 1
}

fn table(text: &mut String, title: &str, body: &Body<'_>) -> std::fmt::Result {
    let plural = if stages(body) == 1 { "" } else { "s" };
    let interval = interval(&body.graph);
    writeln!(
        text,
        "{title}: {} stage{plural}, a turn every {interval} cycles at least",
        stages(body)
    )?;
    writeln!(text, "unit        busy  of a turn")?;
    for (unit, cycles) in busy(&body.graph) {
        let part = i128::from(cycles) * 100 / i128::from(interval);
        writeln!(text, "{:<10}  {cycles:>4}  {part:>7} %", unit.name())?;
    }
    writeln!(text, "order  stage  unit        cycles  latency  operation")?;
    for node in in_order(body) {
        let what = &body.graph[node];
        writeln!(
            text,
            "{:>5}  {:>5}  {:<10}  {:>6}  {:>7}  {}",
            attribute(body, node, ORDER),
            attribute(body, node, STAGE),
            what.unit.name(),
            what.cycles,
            what.latency,
            what.op.map_or("", name_of)
        )?;
    }
    Ok(())
}

fn graph_of(text: &mut String, title: &str, body: &Body<'_>) -> std::fmt::Result {
    writeln!(text, "digraph \"{}\" {{", title.replace(['"', '\\'], "'"))?;
    writeln!(text, "  node [shape=box, fontname=monospace];")?;
    for stage in 0..stages(body) {
        writeln!(text, "  subgraph cluster_{stage} {{")?;
        writeln!(text, "    label=\"stage {stage}\";")?;
        for node in in_order(body) {
            if attribute(body, node, STAGE) == stage {
                writeln!(
                    text,
                    "    n{} [label=\"{}: {}\"];",
                    node.index(),
                    attribute(body, node, ORDER),
                    body.graph[node].op.map_or("", name_of)
                )?;
            }
        }
        writeln!(text, "  }}")?;
    }
    for edge in body.graph.edge_references() {
        let dep = edge.weight();
        let style = if dep.distance > 0 {
            ", style=dashed"
        } else {
            ""
        };
        writeln!(
            text,
            "  n{} -> n{} [label=\"{}/{}\"{style}];",
            edge.source().index(),
            edge.target().index(),
            dep.latency,
            dep.distance
        )?;
    }
    writeln!(text, "}}")
}

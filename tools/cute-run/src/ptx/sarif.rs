//! Findings in the Static Analysis Results Interchange Format (SARIF 2.1.0), which editors and code hosts show.

use anyhow::Context;
use cute_runtime::emulator::{Finding, Site};
use serde_json::{Value, json};

use crate::cli::Cli;

/// Writes the log of a run where the command line asks for it.
///
/// # Errors
/// If the file cannot be written.
pub fn write(cli: &Cli, place: &str, findings: &[Finding]) -> anyhow::Result<()> {
    if let Some(path) = &cli.ptx.sarif {
        let text = serde_json::to_string_pretty(&log(place, findings))?;
        std::fs::write(path, text + "\n").with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The log of a run over a PTX file, or over a program with PTX in it.
fn log(ptx: &str, findings: &[Finding]) -> Value {
    let mut kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let rules: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({"id": rule(finding_name(kind)), "shortDescription": {"text": kind.name()}}))
        .collect();
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| result(ptx, finding))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "cute-run",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

fn finding_name(kind: &cute_runtime::emulator::Kind) -> &'static str {
    kind.name()
}

fn rule(name: &str) -> String {
    name.replace(' ', "-")
}

fn result(ptx: &str, finding: &Finding) -> Value {
    let mut text = finding.message.clone();
    if let Some(thread) = finding.thread {
        text += &format!(" ({thread})");
    }
    let mut value = json!({
        "ruleId": rule(finding.kind.name()),
        "level": "error",
        "message": {"text": format!("{}: {text}", finding.kernel)},
        "occurrenceCount": finding.count,
    });
    // What has no instruction is about the file.
    let place = finding.site.as_ref().map_or_else(
        || json!({"physicalLocation": {"artifactLocation": {"uri": ptx}}}),
        |site| location(ptx, site),
    );
    value["locations"] = json!([place]);
    let mut related = Vec::new();
    if let Some(other) = &finding.other {
        let mut place = location(ptx, other);
        place["message"] = json!({"text": format!("the other access: {}", other.instruction)});
        related.push(place);
    }
    // The instruction itself, where the place is that of the source.
    for site in finding.site.iter().filter(|site| site.source.is_some()) {
        let mut place = in_ptx(ptx, site);
        place["message"] = json!({"text": site.instruction.clone()});
        related.push(place);
    }
    if !related.is_empty() {
        value["relatedLocations"] = json!(related);
    }
    value
}

/// The place of an instruction in the source that was compiled, or else in the PTX.
fn location(ptx: &str, site: &Site) -> Value {
    let Some(source) = &site.source else {
        return in_ptx(ptx, site);
    };
    let mut region = json!({"startLine": source.line.max(1)});
    if source.column > 0 {
        region["startColumn"] = json!(source.column);
    }
    json!({"physicalLocation": {"artifactLocation": {"uri": source.file}, "region": region}})
}

fn in_ptx(ptx: &str, site: &Site) -> Value {
    let region = json!({"startLine": site.ptx_line.max(1)});
    json!({"physicalLocation": {"artifactLocation": {"uri": ptx}, "region": region}})
}

//! The compiler's messages, taken apart.

/// Texts that only a defect of the compiler makes it print: panics that became diagnostics, and IR of its own that it could not build.
const INTERNAL: [&str; 5] = [
    "this is a bug in cute-opt",
    "panicked at",
    "internal error",
    "cannot parse the attribute",
    "operation build failed",
];

/// Separates the inputs of one file.
pub(super) const MARKER: &str = "// -----";

/// The first error of some diagnostics, without its place.
pub fn message(said: &str) -> &str {
    let error = said.lines().find_map(|line| line.split_once("error: "));
    error.map_or("no diagnostic", |(_, rest)| rest)
}

/// The first line that only a defect of the compiler makes it say.
pub(super) fn internal(stderr: &str) -> Option<String> {
    let line = stderr
        .lines()
        .find(|line| INTERNAL.iter().any(|mark| line.contains(mark)))?;
    Some(
        line.split_once("error: ")
            .map_or(line, |(_, rest)| rest)
            .to_string(),
    )
}

/// The innermost functions of a stack dump that are not those of the dump itself.
pub(super) fn top(stderr: &str) -> String {
    let frame = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?;
        let (_, name) = rest.split_once(" 0x")?;
        let name = name.split_once(' ')?.1;
        let end = name
            .find(['(', '<'])
            .filter(|at| *at > 0)
            .unwrap_or(name.len());
        Some(name[..end].trim().to_string())
    };
    let noise = [
        "PrintStackTrace",
        "RunSignalHandlers",
        "SignalHandler",
        "libc.so",
        "__restore_rt",
    ];
    let frames = stderr.lines().filter_map(frame);
    let frames = frames.filter(|name| !name.is_empty() && !noise.iter().any(|n| name.contains(n)));
    let names: Vec<String> = frames.take(2).collect();
    match names.is_empty() {
        true => "an unknown place".into(),
        false => names.join(" < "),
    }
}

/// The end of a text that may be long.
pub(super) fn end_of(text: &str) -> String {
    const LINES: usize = 60;
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// The outcomes by input.
pub(super) fn split(stdout: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in stdout.lines() {
        if line == MARKER {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    parts
}

/// The diagnostics of each input, by the lines that they name. What names no line of the file belongs to what comes next.
pub(super) fn attribute(stderr: &str, inputs: &[&str]) -> Vec<String> {
    let mut ends = Vec::new();
    let mut line = 0;
    for input in inputs {
        // The marker is on a line of its own behind each.
        line += input.matches('\n').count() + 2;
        ends.push(line);
    }
    let mut said = vec![String::new(); inputs.len()];
    let mut waiting = String::new();
    let mut at = 0;
    for text in stderr.lines() {
        match text.split_once("input.mlir:").and_then(|(_, rest)| {
            let number: usize = rest.split(':').next()?.parse().ok()?;
            ends.iter().position(|end| number <= *end)
        }) {
            Some(found) => {
                at = found;
                said[at] += &std::mem::take(&mut waiting);
                said[at] += text;
                said[at].push('\n');
            }
            None if text.contains("error: ") => {
                waiting += text;
                waiting.push('\n');
            }
            None => {
                said[at] += text;
                said[at].push('\n');
            }
        }
    }
    // Nothing came next: it is the last one's that has said nothing.
    if let Some(silent) = said.iter_mut().rev().find(|text| text.is_empty()) {
        *silent += &waiting;
    }
    said
}

/// The argument of the pass in `// -----// IR Dump After Name Failed (argument) //----- //`.
pub(super) fn failed_pass(stderr: &str) -> Option<String> {
    let line = stderr
        .lines()
        .rfind(|line| line.contains("// IR Dump After ") && line.contains(" Failed "))?;
    let (_, rest) = line.split_once(" Failed (")?;
    let name = rest.split([')', '{', ' ']).next()?;
    Some(name.to_string())
}

/// The passes of `Pass Manager with N passes: builtin.module(a, b{c=d}, gpu.module(e))`.
pub(super) fn pipeline(stderr: &str) -> Vec<String> {
    let Some((_, rest)) = stderr.split_once("builtin.module(") else {
        return Vec::new();
    };
    let mut passes = vec![String::new()];
    let mut depth = 0;
    for c in rest.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' if depth == 0 => break,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        match passes.last_mut() {
            Some(_) if c == ',' && depth == 0 => passes.push(String::new()),
            Some(last)
                if !c.is_whitespace() || (depth > 0 && !last.ends_with(['(', '{', ',', ' '])) =>
            {
                last.push(if c.is_whitespace() { ' ' } else { c });
            }
            _ => {}
        }
    }
    passes.retain(|pass| !pass.is_empty());
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_are_taken_apart() {
        let text = "Pass Manager with 4 passes:\nbuiltin.module(\n  cute-tile{arch=sm_80 raster= stages=},\n  cse,\n  \
                    gpu.module(\n    convert-scf-to-cf{a=true},\n    cse\n  ),\n  cute-emit-ptx\n)\n";
        assert_eq!(
            pipeline(text),
            [
                "cute-tile{arch=sm_80 raster= stages=}",
                "cse",
                "gpu.module(convert-scf-to-cf{a=true},cse )",
                "cute-emit-ptx"
            ]
        );
        assert!(pipeline("builtin.module()").is_empty());
    }

    #[test]
    fn diagnostics_go_to_their_inputs() {
        let said = attribute(
            "[{x}]:1:2: error: inner\n/t/input.mlir:4:3: error: one\n  text\n   ^\n/t/input.mlir:8:1: error: two\n",
            &["a\nb", "c", "d\ne"],
        );
        assert_eq!(said[0], "");
        assert!(
            said[1].starts_with("[{x}]:1:2: error: inner\n/t/input.mlir:4:3: error: one\n  text")
        );
        assert_eq!(said[2], "/t/input.mlir:8:1: error: two\n");
        assert_eq!(message(&said[2]), "two");
    }

    #[test]
    fn failures_are_read() {
        let stderr =
            "// -----// IR Dump After cute-lower-layouts Failed (cute-lower-layouts) //----- //\n";
        assert_eq!(failed_pass(stderr).as_deref(), Some("cute-lower-layouts"));
        let stack = " #0 0x1 llvm::sys::PrintStackTrace(x) (o+0x1)\n #3 0x2 (/lib/libc.so.6+0x3)\n #4 0x3 \
                     mlir::Type::isSignless() const (o+0x2)\n #5 0x4 f<int>(x)\n #6 0x5 g()\n";
        assert_eq!(top(stack), "mlir::Type::isSignless < f");
        assert_eq!(
            internal("a.mlir:1:2: error: internal error in x: y; this is a bug in cute-opt")
                .as_deref(),
            Some("internal error in x: y; this is a bug in cute-opt")
        );
        assert_eq!(split("a\n// -----\n// -----\nb\n").len(), 3);
    }
}

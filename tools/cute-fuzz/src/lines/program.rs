//! Kernels as lines, and their texts: the plain one, and one that also records what every line writes.

use super::registers::{BLOCKS, THREADS};

/// Words that a traced kernel records of each thread, four a record: the number of a point, a value of 64 bits, and 0.
pub const TRACED: usize = 4 * RECORDS;
/// Values that are recorded of a thread.
const RECORDS: usize = 4096;

/// An instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its PTX.
    pub text: String,
    /// The registers and the words of memory that it changes.
    pub writes: Vec<String>,
    /// Those that it reads.
    pub reads: Vec<String>,
    /// Tells whether the next line has to follow at once.
    joined: bool,
}

impl Step {
    /// The instruction of a line of PTX, with a guard or without.
    fn new(text: String) -> Step {
        let (guard, rest) = match text.strip_prefix('@') {
            Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
            None => ("", text.as_str()),
        };
        let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let first = end_of_first(operands);
        let has_result = !opcode.starts_with("st.") && !opcode.starts_with("red.");
        let (result, sources) = match has_result {
            true => operands.split_at(first),
            false => ("", operands),
        };
        let mut writes = registers(result);
        let mut reads = registers(guard);
        reads.extend(registers(sources));
        let words = memory(opcode, operands);
        if !opcode.starts_with("ld.") {
            writes.extend(words.iter().cloned());
        }
        reads.extend(words);
        Step {
            text,
            writes,
            reads,
            joined: false,
        }
    }

    /// The name of its instruction, with all modifiers.
    pub fn opcode(&self) -> &str {
        let text = match self.text.strip_prefix('@') {
            Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest),
            None => &self.text,
        };
        text.split([' ', ';']).next().unwrap_or_default()
    }

    /// Tells whether its result depends on what other threads hold.
    pub fn is_shared(&self) -> bool {
        let wide = ["shfl.", "vote.", "match.", "redux.", "activemask."];
        wide.iter().any(|name| self.opcode().starts_with(name)) || self.text.contains(OTHERS)
    }
}

/// The register with the address of another thread's words.
pub const OTHERS: &str = "%a7";

/// The place behind the first operand, which may be several registers in braces.
fn end_of_first(operands: &str) -> usize {
    let from = match operands.starts_with('{') {
        true => operands.find('}').unwrap_or(0),
        false => 0,
    };
    operands[from..]
        .find(',')
        .map_or(operands.len(), |at| from + at)
}

fn registers(text: &str) -> Vec<String> {
    let names = text.split('%').skip(1).map(|name| {
        let end = name.find(|c: char| !c.is_ascii_alphanumeric());
        format!("%{}", &name[..end.unwrap_or(name.len())])
    });
    // Special registers have longer names.
    names.filter(|name| class(name).is_some()).collect()
}

/// The whole words of shared or local memory that an instruction accesses.
fn memory(opcode: &str, operands: &str) -> Vec<String> {
    let mut parts = opcode.split('.').skip(1);
    let Some(space @ ("shared" | "local")) = parts.next() else {
        return Vec::new();
    };
    let Some((base, rest)) = operands
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once('+'))
    else {
        return Vec::new();
    };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let at: usize = digits.parse().unwrap_or(0);
    let words = match opcode.contains(".v2.") || opcode.ends_with("64") {
        true => 2,
        false => 1,
    };
    (0..words)
        .map(|word| format!("{space} [{base}+{}]", at / 4 * 4 + 4 * word))
        .collect()
}

/// The letter of a register that kernels declare.
fn class(register: &str) -> Option<char> {
    let mut name = register.strip_prefix('%')?.chars();
    let letter = name.next()?;
    let rest = name.as_str();
    let is_number = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
    (is_number && "rsfehpqaxim".contains(letter)).then_some(letter)
}

#[derive(Clone, Debug)]
enum Line {
    /// Labels, branches, barriers, addresses.
    Plain(String),
    Step(Step),
}

/// A value that a traced kernel records.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    pub step: &'a Step,
    /// The register, or the word of memory.
    pub place: &'a str,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Program {
    lines: Vec<Line>,
}

impl Program {
    pub fn plain(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Plain(text.into()));
    }

    /// Adds an instruction, without its semicolon.
    pub fn step(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Step(Step::new(text.into())));
    }

    /// Adds instructions that nothing comes between: a flag goes from one to the next, or the later ones decide what the first leaves
    /// open. What they leave is recorded behind all of them.
    pub fn together(&mut self, texts: Vec<String>) {
        let last = texts.len().saturating_sub(1);
        for (at, text) in texts.into_iter().enumerate() {
            self.lines.push(Line::Step(Step {
                joined: at < last,
                ..Step::new(text)
            }));
        }
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.lines.iter().filter_map(|line| match line {
            Line::Step(step) => Some(step),
            Line::Plain(_) => None,
        })
    }

    /// All that a traced kernel records, in the order of the text; records count them from 1.
    pub fn points(&self) -> Vec<Point<'_>> {
        self.steps()
            .flat_map(|step| step.writes.iter().map(move |place| Point { step, place }))
            .collect()
    }

    /// The kernel, which leaves nothing but what its last lines store.
    pub fn text(&self) -> String {
        self.render(false)
    }

    /// The kernel with a third parameter, to which each thread writes what each of its instructions leaves.
    pub fn traced(&self) -> String {
        self.render(true)
    }

    fn render(&self, traced: bool) -> String {
        let (parameter, registers, start) = match traced {
            true => (
                ", .param .u64 trace",
                ".reg .b32 %t<4>;\n.reg .b64 %u<2>;\n.reg .pred %v<1>;\n",
                start(),
            ),
            false => ("", "", String::new()),
        };
        let mut body = String::new();
        let mut number = 0;
        let mut held = String::new();
        for line in &self.lines {
            match line {
                Line::Plain(text) => {
                    body += text;
                    body.push('\n');
                }
                Line::Step(step) => {
                    body += &step.text;
                    body += ";\n";
                    for place in &step.writes {
                        number += 1;
                        held += &record(number, place);
                    }
                    if !step.joined {
                        if traced {
                            body += &held;
                        }
                        held.clear();
                    }
                }
            }
        }
        let declared: String = DECLARED
            .iter()
            .map(|(letter, kind)| format!(".reg .{kind} %{letter}<{}>;\n", self.count(*letter)))
            .collect();
        format!(
            ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to{parameter})\n.maxntid {THREADS}, 1, 1\n{{\n\
             {declared}{registers}.shared .align 8 .b8 tile[1024];\n.local .align 8 .b8 own[64];\n{start}{body}ret;\n}}\n"
        )
    }

    /// The number of registers of a letter to declare.
    fn count(&self, letter: char) -> usize {
        let texts = self.lines.iter().map(|line| match line {
            Line::Plain(text) => text,
            Line::Step(step) => &step.text,
        });
        let numbers = texts
            .flat_map(|text| registers(text))
            .filter(|name| class(name) == Some(letter))
            .filter_map(|name| name[2..].parse::<usize>().ok());
        numbers.max().map_or(1, |most| most + 1)
    }
}

/// The letters of registers, and what they hold: `a` and `x` addresses and other scratch, `i` counts of loops, `m` masks, `q` the
/// conditions of loops.
const DECLARED: [(char, &str); 11] = [
    ('r', "b32"),
    ('s', "b64"),
    ('f', "f32"),
    ('e', "f64"),
    ('h', "b16"),
    ('p', "pred"),
    ('q', "pred"),
    ('a', "b32"),
    ('x', "b64"),
    ('i', "b32"),
    ('m', "b32"),
];

/// The lines that find a thread's own part of the trace.
fn start() -> String {
    let bytes = 4 * TRACED;
    format!(
        "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmad.lo.u32 %t0, %t1, {THREADS}, %t0;\nld.param.u64 %u0, [trace];\ncvta.to.global.u64 %u0, %u0;\n\
         mul.wide.u32 %u1, %t0, {bytes};\nadd.s64 %u0, %u0, %u1;\nadd.s64 %u1, %u0, {bytes};\nmov.u32 %t3, 0;\n"
    )
}

/// The lines that record a value, unless the thread's part is full.
fn record(number: usize, place: &str) -> String {
    let value = match (place.split_once(' '), class(place)) {
        (Some((space, address)), _) => format!("ld.{space}.b32 %t1, {address};\nmov.u32 %t2, 0;"),
        (None, Some('s' | 'x' | 'e')) => format!("mov.b64 {{%t1, %t2}}, {place};"),
        (None, Some('h')) => format!("cvt.u32.u16 %t1, {place};\nmov.u32 %t2, 0;"),
        (None, Some('p' | 'q')) => format!("selp.u32 %t1, 1, 0, {place};\nmov.u32 %t2, 0;"),
        (None, _) => format!("mov.b32 %t1, {place};\nmov.u32 %t2, 0;"),
    };
    format!(
        "{value}\nmov.u32 %t0, {number};\nsetp.lt.u64 %v0, %u0, %u1;\n@%v0 st.global.v4.b32 [%u0], {{%t0, %t1, %t2, %t3}};\nadd.s64 %u0, %u0, 16;\n"
    )
}

/// Words of the trace of all threads.
pub fn words_traced() -> usize {
    TRACED * (THREADS * BLOCKS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_reads_and_writes() {
        let cases = [
            ("@!%p1 add.s32 %r0, %r1, 7", "%r0", "%p1 %r1"),
            ("mov.b64 %s0, {%r1, %r2}", "%s0", "%r1 %r2"),
            ("mov.u32 %a0, %tid.x", "%a0", ""),
            (
                "shfl.sync.bfly.b32 %r1|%p0, %r2, %r3, 31, %m1",
                "%r1 %p0",
                "%r2 %r3 %m1",
            ),
            (
                "st.shared.b8 [%a3+7], %r1",
                "shared [%a3+4]",
                "%a3 %r1 shared [%a3+4]",
            ),
            (
                "ld.shared.v2.b32 {%r1, %r2}, [%a3+8]",
                "%r1 %r2",
                "%a3 shared [%a3+8] shared [%a3+12]",
            ),
            (
                "atom.shared.cas.b32 %r1, [%a3+0], %r2, %r3",
                "%r1 shared [%a3+0]",
                "%a3 %r2 %r3 shared [%a3+0]",
            ),
        ];
        for (text, writes, reads) in cases {
            let step = Step::new(text.into());
            assert_eq!(step.writes.join(" "), writes, "{text}");
            assert_eq!(step.reads.join(" "), reads, "{text}");
        }
        assert_eq!(
            Step::new("@%p1 add.s32 %r0, %r1, 7".into()).opcode(),
            "add.s32"
        );
    }

    /// A record between `add.cc` and `addc` would add, and may change the flag.
    #[test]
    fn nothing_comes_between_joined_lines() {
        let mut program = Program::default();
        program.together(vec![
            "add.cc.u32 %r0, %r2, %r3".into(),
            "addc.u32 %r1, %r4, %r5".into(),
        ]);
        let text = program.traced();
        assert!(
            text.contains("add.cc.u32 %r0, %r2, %r3;\naddc.u32 %r1, %r4, %r5;\nmov.b32 %t1, %r0;"),
            "{text}"
        );
    }
}

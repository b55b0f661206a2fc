//! Negated numbers among minima and maxima: a mistake of ptxas that the PTX goes around.
//!
//! For sm_90 and sm_100 ptxas 13.0 makes one `VIMNMX3` of two `min.s32` (or `max.s32`) one behind the other. Where its second operand is what `neg.s32` left, it takes the number
//! that was not negated: `min(min(-a, -b), -c)` becomes `min(-a, b, -c)`. Numbers whose bits are turned over and counted up by one are no negations to ptxas, and right.

use std::collections::HashSet;

/// The instructions whose operands ptxas reads so.
const READERS: [&str; 2] = ["min.s32", "max.s32"];

/// The negation that ptxas loses.
const NEGATION: &str = "neg.s32";

/// The PTX without `neg.s32` in front of `min.s32` and `max.s32`, line by line as it was; none where there is nothing to change.
pub(crate) fn without(ptx: &str) -> Option<String> {
    // Hardly any kernel has one.
    if !ptx.contains(NEGATION) {
        return None;
    }
    let read: HashSet<&str> = ptx
        .lines()
        .filter_map(operands_of_reader)
        .flatten()
        .collect();
    let negation = |line: &str| {
        let (_, operands) = line.split_once(NEGATION)?;
        let (to, from) = operands.trim().strip_suffix(';')?.split_once(',')?;
        let (to, from) = (to.trim(), from.trim());
        read.contains(to)
            .then(|| format!("\tnot.b32 \t{to}, {from}; add.s32 \t{to}, {to}, 1;"))
    };
    if !ptx.lines().any(|line| negation(line).is_some()) {
        return None;
    }
    let lines = ptx
        .lines()
        .map(|line| negation(line).unwrap_or_else(|| line.to_owned()));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if ptx.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

/// The operands of a line that is one of [`READERS`].
fn operands_of_reader(line: &str) -> Option<impl Iterator<Item = &str>> {
    let reader = READERS.iter().find_map(|reader| line.split_once(reader))?;
    let operands = reader.1.trim().strip_suffix(';')?;
    Some(operands.split(',').skip(1).map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn negated_operands_of_minima_are_counted_up() {
        let text =
            "\tneg.s32 \t%r3, %r1;\n\t@%p1 min.s32 \t%r5, %r4, %r3;\n\tneg.s32 \t%r6, %r2;\n";
        assert_eq!(
            without(text).as_deref(),
            Some(
                "\tnot.b32 \t%r3, %r1; add.s32 \t%r3, %r3, 1;\n\t@%p1 min.s32 \t%r5, %r4, %r3;\n\tneg.s32 \t%r6, %r2;\n"
            )
        );
    }

    #[test]
    fn other_negations_stay() {
        assert_eq!(
            without("\tneg.s32 \t%r3, %r1;\n\tmin.u32 \t%r5, %r4, %r3;\n"),
            None
        );
        assert_eq!(
            without("\tneg.s32 \t%r5, %r1;\n\tmin.s32 \t%r5, %r4, %r3;\n"),
            None
        );
    }
}

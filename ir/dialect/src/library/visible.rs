//! Values that a text may use at a place, as its lines and braces say it: MLIR's parser tells of a name whether it is one, and names none.

use super::{meant::is_name, texts};

/// The name of the value that is defined last before a place, a line and a column from 1, and may be used there, by the text of the file that is being read, or else by
/// this one, unless it is empty; an empty name where there is none, and nothing without a text.
pub(crate) fn value_before(file: &str, text: &str, line: usize, column: usize) -> Option<String> {
    let found = texts::with_text(file, line, |text, line| last(text, line, column));
    found.or_else(|| (!text.is_empty()).then(|| last(text, line, column)))
}

fn last(text: &str, line: usize, column: usize) -> String {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let is_head = |line: &&str| line.contains("func.func ") || line.contains("gpu.func ");
    let Some(begin) = lines.iter().rposition(is_head) else {
        return String::new();
    };
    let mut lines = lines[begin..].to_vec();
    if let Some(here) = lines.last_mut() {
        *here = here.get(..column.saturating_sub(1)).unwrap_or(here);
    }
    let last = lines.len() - 1;
    // The names of each region that is open, the function's arguments first.
    let mut regions = vec![Vec::new()];
    let mut is_in_body = false;
    for (number, line) in lines.into_iter().enumerate() {
        let line = line.split("//").next().unwrap_or_default().trim_end();
        if !is_in_body {
            regions[0].extend(arguments(line));
            is_in_body = line.ends_with('{');
            continue;
        }
        for c in line.chars() {
            match c {
                '{' => regions.push(Vec::new()),
                '}' => drop(regions.pop()),
                _ => {}
            }
        }
        // What an op with regions gives is there behind these, and what begins here gives nothing yet.
        if number < last
            && !line.ends_with('{')
            && let Some(inner) = regions.last_mut()
        {
            inner.extend(results(line));
        }
    }
    let mut names = regions
        .into_iter()
        .rev()
        .filter_map(|names| names.last().copied());
    names.next().unwrap_or_default().to_owned()
}

/// The arguments in the head of a function: what stands before a colon.
fn arguments(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = line.find('%').unwrap_or_default();
    for part in line.split('%').skip(1) {
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        if part[end..].trim_start().starts_with(':') {
            names.push(&line[at..=at + end]);
        }
        at += part.len() + 1;
    }
    names
}

/// The first of the results that a line begins with.
fn results(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (results, _) = line.split_once('=')?;
    let rest = results.strip_prefix('%')?;
    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    Some(&line[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "func.func @other(%o: i32) {
}
gpu.func @f(%a: i32 {cute.least = 1 : i64},
            %b: i32) kernel attributes {known = [1]} {
  %c = op(%a) {x = 1}
  %r = scf.for %i = %a to %b iter_args(%j = %c) -> (i32) {
    %d, %e = op() {y}
    %f = here
  } {cute.unroll}
  if {
    %g = op
  } else {
    %h = here
  }
  here
}";

    #[test]
    fn values_of_regions_that_have_ended_are_not_used() {
        let of = |line| last(TEXT, line, 40);
        let at = |line, column| last(TEXT, line, column);
        assert_eq!(at(5, 8), "%b");
        assert_eq!(at(8, 10), "%d");
        // A loop's result is not known by the line that begins it.
        assert_eq!(at(15, 3), "%c");
        assert_eq!(at(13, 10), "%c");
        assert_eq!(at(11, 10), "%c");
        assert_eq!(of(100), "");
        assert_eq!(last("func.func @f() {\n here", 2, 2), "");
        assert_eq!(last("", 1, 1), "");
        assert_eq!(value_before("nothing", "", 1, 1), None);
        assert_eq!(value_before("nothing", TEXT, 5, 8), Some("%b".to_owned()));
    }
}

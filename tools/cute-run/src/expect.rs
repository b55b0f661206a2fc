//! Results beside what a caller expects: `--expect` and `--tolerance`, of packages; and the comparison that runs of PTX share.

use std::path::PathBuf;

use anyhow::{Context, bail};
use cute_runtime::tensor::changed_gap;
use cute_runtime::verify::{Closeness, Data, closeness};
use cute_runtime::{Arg, Function, HostTensor};
use serde::Serialize;

use crate::cli::{Binding, Cli, binding};
use crate::outcome::plural;

/// Memory beside what was expected of it.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    pub name: String,
    pub elements: usize,
    /// Elements that are not as expected.
    pub wrong: usize,
    /// The first of them.
    pub first: Option<Wrong>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    /// Coordinates, the last varying fastest.
    pub at: Vec<u64>,
    pub expected: String,
    pub found: String,
}

impl Compared {
    /// Compares all elements in C order: `right` says whether one is as expected, `show` what was expected and found.
    pub fn new(
        name: &str,
        shape: &[u64],
        right: impl Fn(usize) -> bool,
        show: impl Fn(usize) -> [String; 2],
    ) -> Compared {
        let elements = shape.iter().product::<u64>() as usize;
        let mut wrong = (0..elements).filter(|index| !right(*index));
        let first = wrong.next();
        Compared {
            name: name.to_string(),
            elements,
            wrong: wrong.count() + usize::from(first.is_some()),
            first: first.map(|index| {
                let [expected, found] = show(index);
                Wrong {
                    at: coordinates(shape, index),
                    expected,
                    found,
                }
            }),
        }
    }

    /// The comparison in a line.
    pub fn describe(&self) -> String {
        let elements = plural(self.elements, "element");
        match &self.first {
            None => format!("{}: {elements} as expected", self.name),
            Some(first) => format!(
                "{}: {} of {elements} wrong; at {:?}: expected {}, found {}",
                self.name, self.wrong, first.at, first.expected, first.found
            ),
        }
    }
}

/// The coordinates of an element by its place in C order.
pub fn coordinates(shape: &[u64], mut index: usize) -> Vec<u64> {
    let mut found = Vec::new();
    for &size in shape.iter().rev() {
        found.push(index as u64 % size.max(1));
        index /= size.max(1) as usize;
    }
    found.reverse();
    found
}

/// The bounds of `--tolerance`: relative to the expected value, and absolute.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Given {
    relative: f64,
    absolute: f64,
}

impl Given {
    /// Reads `1e-3`, or `1e-3,1e-6`.
    fn read(option: &str, text: &str) -> anyhow::Result<Given> {
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok();
            number.filter(|number| number.is_finite() && *number >= 0.0)
        };
        let (relative, absolute) = text.split_once(',').unwrap_or((text, "0"));
        let both = number(relative).zip(number(absolute));
        let (relative, absolute) = both.with_context(|| {
            format!(
                "--tolerance {option}: expected a number of at least 0, such as 1e-3, or two, relative and absolute, such as 1e-3,1e-6; found `{text}`"
            )
        })?;
        Ok(Given { relative, absolute })
    }
}

/// An output and the file that it should be as.
#[derive(Debug)]
pub struct Expectation {
    /// The index of the argument.
    pub output: usize,
    path: PathBuf,
    reference: HostTensor,
    root_mean_square: f64,
    given: Option<Given>,
}

/// Tells whether something is expected of outputs: then the shapes of all arguments must be known before a run.
pub fn is_asked(cli: &Cli) -> bool {
    !cli.expect.is_empty() || !cli.tolerance.is_empty()
}

/// The expectations of a command line for a function, whose arguments `tensors` are like. Files are read here, before anything runs.
pub fn expectations(
    cli: &Cli,
    function: &Function,
    tensors: &[HostTensor],
) -> anyhow::Result<Vec<Expectation>> {
    let mut all: Vec<Expectation> = Vec::new();
    for text in &cli.expect {
        let Ok(Binding { name, path }) = binding(text) else {
            bail!(
                "--expect {text}: expected the name of an output, =, and a file, such as C=reference.npy"
            );
        };
        let output = find(function, &name, "--expect")?;
        if all.iter().any(|other| other.output == output) {
            bail!("--expect {name}: expected each output once, found it twice");
        }
        let reference = tensors[output].array_npy(&path);
        let reference = reference.with_context(|| format!("--expect {name}"))?;
        let values = (0..reference.layout().size()).filter_map(|index| reference.get(index));
        let (mut sum, mut count) = (0.0, 0usize);
        for value in values.filter(|value| !value.is_nan()) {
            sum += value * value;
            count += 1;
        }
        all.push(Expectation {
            output,
            path,
            reference,
            root_mean_square: (sum / count.max(1) as f64).sqrt(),
            given: None,
        });
    }
    let (named, plain): (Vec<&String>, Vec<&String>) =
        cli.tolerance.iter().partition(|text| text.contains('='));
    if let [_, second, ..] = plain.as_slice() {
        bail!(
            "--tolerance {second}: expected one tolerance without a name, found two; name outputs, as in C=1e-3"
        );
    }
    if !plain.is_empty() && all.is_empty() {
        bail!("--tolerance is for outputs that --expect names; add --expect NAME=FILE.npy");
    }
    for text in plain {
        let given = Given::read(text, text)?;
        all.iter_mut().for_each(|one| one.given = Some(given));
    }
    let mut seen = Vec::new();
    for text in named {
        let (name, value) = text.split_once('=').unwrap_or_default();
        let output = find(function, name, "--tolerance")?;
        if seen.contains(&output) {
            bail!("--tolerance {name}: expected each output once, found it twice");
        }
        seen.push(output);
        let given = Given::read(text, value)?;
        let of = all.iter_mut().find(|one| one.output == output);
        let of = of.with_context(|| {
            format!("--tolerance {name}: expected an output that --expect names; add --expect {name}=FILE.npy")
        })?;
        of.given = Some(given);
    }
    Ok(all)
}

fn find(function: &Function, name: &str, option: &str) -> anyhow::Result<usize> {
    let suits = |arg: &Arg| arg.is_tensor() && arg.access().writes();
    crate::job::find(function, name, option, suits)
}

/// An output beside the file that it should be as.
#[derive(Clone, Debug, Serialize)]
pub struct Expected {
    #[serde(flatten)]
    pub compared: Compared,
    pub file: PathBuf,
    pub allowed: Closeness,
    /// `|out - ref| / |ref|`, Frobenius norms over all elements; none where that is no number.
    pub relative_error: Option<f64>,
    /// The largest `|out - ref|`; none where that is no number.
    pub max_abs_error: Option<f64>,
    /// A byte between the elements of the output that was overwritten.
    pub padding: Option<usize>,
}

impl Expected {
    pub fn passed(&self) -> bool {
        self.compared.wrong == 0 && self.padding.is_none()
    }

    /// The lines that are printed.
    pub fn describe(&self) -> String {
        let verdict = if self.passed() { "right" } else { "WRONG" };
        let Closeness {
            relative,
            absolute,
            sums,
        } = self.allowed;
        let mut text = format!(
            "{verdict}: {}, by {}",
            self.compared.describe(),
            self.file.display()
        );
        text += &match (relative == 0.0 && absolute == 0.0, sums) {
            (true, _) => "\n  every element equal".to_string(),
            (false, Some(sums)) => format!(
                "\n  |out - ref| at most {relative:.3e} |ref| + {absolute:.3e}, as for sums of {sums}"
            ),
            (false, None) => {
                format!("\n  |out - ref| at most {relative:.3e} |ref| + {absolute:.3e}")
            }
        };
        if let (Some(relative), Some(largest)) = (self.relative_error, self.max_abs_error) {
            text +=
                &format!("\n  |out - ref| / |ref| {relative:.3e}; max |out - ref| {largest:.3e}");
        }
        if let Some(byte) = self.padding {
            let name = &self.compared.name;
            text +=
                &format!("\n  byte {byte} of {name}, between two of its elements, was overwritten");
        }
        text
    }
}

impl Expectation {
    /// Compares the output after a run.
    pub fn compare(&self, function: &Function, tensors: &[HostTensor], data: Data) -> Expected {
        let (arg, out) = (&function.args[self.output], &tensors[self.output]);
        let allowed = match self.given {
            Some(Given { relative, absolute }) => Closeness {
                relative,
                absolute,
                sums: None,
            },
            None => closeness(function, tensors, self.output, data, self.root_mean_square),
        };
        let sizes = out.layout().shape();
        let shape: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
        let index = |place: usize| colexicographic(&sizes, place);
        let pair = |index: i64| {
            let value = |tensor: &HostTensor| tensor.get(index).unwrap_or(f64::NAN);
            [value(&self.reference), value(out)]
        };
        let element = |tensor: &HostTensor, index: i64| {
            let size = tensor.element().size();
            let at = tensor.layout().at(index) as usize * size;
            tensor.bytes()[at..at + size].to_vec()
        };
        let show = |tensor: &HostTensor, index: i64, value: f64| match tensor.integer_at(index) {
            Some(integer) => integer.to_string(),
            None => value.to_string(),
        };
        // Integers beyond 2^53 are compared as they are.
        let exact = self.reference.element() == out.element()
            && (allowed.relative, allowed.absolute) == (0.0, 0.0)
            && !out.element().is_float();
        let compared = Compared::new(
            arg.name(),
            &shape,
            |place| {
                let index = index(place);
                let [reference, found] = pair(index);
                match exact {
                    true => element(&self.reference, index) == element(out, index),
                    // What nobody wrote is a NaN, which no reference means.
                    false => {
                        allowed.holds(found, reference)
                            && !(found.is_nan() && out.is_unwritten(index))
                    }
                }
            },
            |place| {
                let index = index(place);
                let [reference, found] = pair(index);
                let unwritten = found.is_nan() && out.is_unwritten(index);
                let found = match unwritten {
                    true => "nothing that was written".to_string(),
                    false => show(out, index, found),
                };
                [show(&self.reference, index, reference), found]
            },
        );
        let (mut off, mut norm, mut largest) = (0.0, 0.0, 0f64);
        for index in 0..out.layout().size() {
            let [reference, found] = pair(index);
            // Infinities that agree, and NaNs, are no distance.
            if reference == found || reference.is_nan() && found.is_nan() {
                norm += if reference.is_finite() {
                    reference * reference
                } else {
                    0.0
                };
                continue;
            }
            let distance = (found - reference).abs();
            off += distance * distance;
            norm += reference * reference;
            largest = if distance.is_nan() {
                distance
            } else {
                largest.max(distance)
            };
            if largest.is_nan() {
                break;
            }
        }
        let number = |value: f64| Some(value).filter(|value| value.is_finite());
        Expected {
            compared,
            file: self.path.clone(),
            allowed,
            relative_error: number(largest + (off / norm).sqrt()).map(|_| (off / norm).sqrt()),
            max_abs_error: number(largest),
            padding: changed_gap(arg, out),
        }
    }
}

/// The index into a layout of the element at a place in C order.
fn colexicographic(sizes: &[i64], place: usize) -> i64 {
    let mut rest = place as i64;
    let (mut index, mut weight) = (0, sizes.iter().product::<i64>());
    for &size in sizes.iter().rev() {
        weight /= size.max(1);
        index += rest % size.max(1) * weight;
        rest /= size.max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_coordinates_and_indices() {
        // (2,3): the element (1,0) is the fourth in C order, and the second first mode fastest.
        assert_eq!(coordinates(&[2, 3], 3), [1, 0]);
        assert_eq!(colexicographic(&[2, 3], 3), 1);
        assert_eq!(colexicographic(&[2, 3], 1), 2);
        assert_eq!(colexicographic(&[], 0), 0);
    }

    #[test]
    fn tolerances_are_one_number_or_two() {
        let read = |text: &str| Given::read(text, text);
        let both = |given: Given| [given.relative, given.absolute];
        assert_eq!(read("1e-3").map(both).unwrap(), [1e-3, 0.0]);
        assert_eq!(read("0, 2").map(both).unwrap(), [0.0, 2.0]);
        for bad in ["", "x", "-1", "1e-3,", "1,2,3", "inf", "nan", "1e-3,-1"] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains("such as 1e-3,1e-6; found"), "{error}");
        }
    }
}

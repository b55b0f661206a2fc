//! The products that are measured, and their IR.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;

/// A file of problems.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    products: Vec<Product>,
}

/// Products of some types that lie in some way, of several shapes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Product {
    /// Elements of A and B, of sums, and of C.
    types: [String; 4],
    /// The contiguous modes of A, B and C: m or k, n or k, m or n.
    majors: String,
    /// M, N, K, and the number of products where there are several.
    shapes: Vec<Vec<u64>>,
}

/// One product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    types: [String; 4],
    majors: [char; 3],
    shape: [u64; 4],
}

/// Reads the problems of a file, each once.
pub fn read(path: &Path) -> Result<Vec<Problem>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    parse(&text)
        .with_context(|| format!("{} is no list of problems (docs/tuning.md)", path.display()))
}

fn parse(text: &str) -> Result<Vec<Problem>> {
    let file: File = serde_json::from_str(text)?;
    let mut problems: Vec<Problem> = Vec::new();
    let mut names = HashSet::new();
    for product in file.products {
        for shape in &product.shapes {
            let problem = Problem::new(&product, shape)?;
            if !names.insert(problem.name()) {
                bail!("{} is there twice", problem.name());
            }
            problems.push(problem);
        }
    }
    Ok(problems)
}

impl Problem {
    fn new(product: &Product, shape: &[u64]) -> Result<Problem> {
        let majors: Vec<char> = product.majors.chars().collect();
        let known = ["mk", "nk", "mn"];
        let majors = match <[char; 3]>::try_from(majors) {
            Ok(majors)
                if majors
                    .iter()
                    .zip(known)
                    .all(|(major, of)| of.contains(*major)) =>
            {
                majors
            }
            _ => bail!(
                "expected majors of m or k, n or k, m or n, such as kkn, found {}",
                product.majors
            ),
        };
        let shape = match *shape {
            [m, n, k] => [m, n, k, 1],
            [m, n, k, batch] => [m, n, k, batch],
            _ => bail!("expected M, N, K, and perhaps a number of products, found {shape:?}"),
        };
        if shape.contains(&0) {
            bail!("expected extents of at least 1, found {shape:?}");
        }
        Ok(Problem {
            types: product.types.clone(),
            majors,
            shape,
        })
    }

    /// A name for files: `f16-f16-f32-f16_kkn_4096x4096x4096`.
    pub fn name(&self) -> String {
        let shape = self.shape.map(|extent| extent.to_string());
        let shape = match self.shape[3] {
            1 => shape[..3].join("x"),
            _ => shape.join("x"),
        };
        let majors: String = self.majors.iter().collect();
        format!("{}_{majors}_{shape}", self.types.join("-"))
    }

    /// The product as IR: a function `gemm` of A, B and C.
    pub fn ir(&self) -> String {
        let [a, b, sums, c] = &self.types;
        let [m, n, k, batch] = self.shape;
        let [of_a, of_b, of_c] = self.majors;
        let tensor = |element: &str, rows: u64, columns: u64, by_rows: bool| {
            let (row, column) = if by_rows { (columns, 1) } else { (1, rows) };
            let layout = match batch {
                1 => format!("({rows},{columns}):({row},{column})"),
                _ => format!(
                    "({rows},{columns},{batch}):({row},{column},{})",
                    rows * columns
                ),
            };
            format!("!cute.memref<{element}, gmem, align<16>, \"{layout}\">")
        };
        format!(
            "!a = {}\n!b = {}\n!c = {}\nfunc.func @gemm(%A: !a, %B: !b, %C: !c) {{\n  \
             cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate {sums}\n  return\n}}\n",
            tensor(a, m, k, of_a == 'k'),
            tensor(b, n, k, of_b == 'k'),
            tensor(c, m, n, of_c == 'n'),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_list_is_one() {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tune/problems.json");
        let problems = read(&list).unwrap();
        let names: Vec<String> = problems.iter().map(Problem::name).collect();
        for name in [
            "f16-f16-f32-f16_kkn_8192x8192x8192",
            "f16-f16-f32-f16_kkn_1x4096x4096",
            "f16-f16-f32-f16_mnn_4096x4096x4096",
            "i8-i8-i32-i32_kkn_4096x4096x4096",
        ] {
            assert!(names.iter().any(|found| found == name), "{name}");
        }
    }

    #[test]
    fn tensors_lie_as_majors_say() {
        let problem = |majors: &str, shape: &str| {
            let text = format!(
                r#"{{"products": [{{"types": ["i8", "ui8", "i32", "i32"], "majors": "{majors}", "shapes": [{shape}]}}]}}"#
            );
            parse(&text).map(|mut all| all.remove(0))
        };
        let ir = problem("mkn", "[3, 5, 7]").unwrap().ir();
        assert!(
            ir.contains("!a = !cute.memref<i8, gmem, align<16>, \"(3,7):(1,3)\">"),
            "{ir}"
        );
        assert!(
            ir.contains("!b = !cute.memref<ui8, gmem, align<16>, \"(5,7):(7,1)\">"),
            "{ir}"
        );
        assert!(
            ir.contains("!c = !cute.memref<i32, gmem, align<16>, \"(3,5):(5,1)\">"),
            "{ir}"
        );
        assert!(ir.contains("accumulate i32"), "{ir}");
        let batch = problem("knm", "[3, 5, 7, 2]").unwrap();
        assert_eq!(batch.name(), "i8-ui8-i32-i32_knm_3x5x7x2");
        let ir = batch.ir();
        assert!(
            ir.contains("\"(3,7,2):(7,1,21)\"") && ir.contains("\"(5,7,2):(1,5,35)\""),
            "{ir}"
        );
        assert!(ir.contains("\"(3,5,2):(1,3,15)\""), "{ir}");
        for (majors, shape, says) in [
            ("kkk", "[1, 1, 1]", "m or k, n or k, m or n"),
            ("kk", "[1, 1, 1]", "found kk"),
            ("kkn", "[1, 1]", "found [1, 1]"),
            ("kkn", "[1, 0, 1]", "at least 1"),
            ("kkn", "[1, 2, 3], [1, 2, 3]", "is there twice"),
            ("kkn", "[1, 2, -3]", "invalid value"),
        ] {
            let error = format!("{:#}", problem(majors, shape).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }
}

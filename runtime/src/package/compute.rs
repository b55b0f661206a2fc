//! The meaning of a function, so that its result can be verified and its speed stated.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::expr::{Environment, Expr};
use super::manifest::{Access, Arg, Function};
use super::map::Map;
use super::places::At;
use super::region::{Epilogue, Prologue};

/// One thing that a function computes. Roles are indices into [`Function::args`], and behind these into [`Function::views`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a function has a few of them, and nearly all are products"
)]
pub enum Compute {
    /// A product of matrices.
    Gemm(Gemm),
    /// `dst = src`, converted where the element types differ.
    Copy {
        /// Index of the tensor that is read.
        src: usize,
        /// Index of the tensor that is written, of the same shape.
        dst: usize,
    },
    /// `dst(j,i) = src(i,j)`
    Transpose {
        /// Index of the (M,N) tensor that is read.
        src: usize,
        /// Index of the (N,M) tensor that is written.
        dst: usize,
    },
    /// `out = a + b`, element by element.
    Add {
        /// Index of the first addend.
        a: usize,
        /// Index of the second addend, of the same shape.
        b: usize,
        /// Index of the sum, of the same shape.
        out: usize,
        /// The type that is computed in; see [`Compute::accumulate`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accumulate: Option<String>,
    },
    /// `y = alpha x + beta y`, element by element.
    Axpby {
        /// Index of the tensor that `alpha` multiplies.
        x: usize,
        /// Index of the tensor that is written, and read too unless `beta` is 0.
        y: usize,
        /// The factor of `x`.
        alpha: Factor,
        /// The factor of the values that `y` has before.
        beta: Factor,
        /// The type that is computed in; see [`Compute::accumulate`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accumulate: Option<String>,
    },
    /// `out(..,j) = exp(x(..,j)) / sum over l of exp(x(..,l))`, over the last mode.
    Softmax {
        /// Index of the tensor that is read.
        x: usize,
        /// Index of the tensor that is written, of the same shape.
        out: usize,
        /// The type that is computed in; see [`Compute::accumulate`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accumulate: Option<String>,
    },
    /// `out(..,j) = x(..,j) * weight(j) / sqrt(mean over l of x(..,l)^2 + epsilon)`, over the last mode.
    RmsNorm {
        /// Index of the tensor that is normalised.
        x: usize,
        /// Index of the weights: one for each element of the last mode of `x`.
        weight: usize,
        /// Index of the tensor that is written, of the shape of `x`.
        out: usize,
        /// The number that is added to the mean of the squares.
        epsilon: Factor,
        /// The type that is computed in; see [`Compute::accumulate`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accumulate: Option<String>,
    },
    /// `O(m,:) = sum over n of w(m,n) * V(n,:)`, where `w(m,:)` is the softmax of `scale * sum over d of Q(m,d) * K(:,d)`. Tensors
    /// may have further modes, heads and batches: it is so for each index of O's. Q has as many elements along such a mode as O, K and
    /// V as many as each other, and a divisor of that, so that neighbouring heads of Q share one of K.
    Attention {
        /// An (M,D,...) tensor.
        q: usize,
        /// An (N,D,...) tensor.
        k: usize,
        /// An (N,E,...) tensor.
        v: usize,
        /// An (M,E,...) tensor.
        out: usize,
        /// The factor of the sums of products, before the softmax.
        scale: Factor,
        /// Tells whether row m has the keys up to m + N - M alone, so that the last row has all; a row of no keys is 0.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        causal: bool,
        /// The type that is computed in; see [`Compute::accumulate`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accumulate: Option<String>,
    },
    /// A region for each index of tensors of one shape.
    Map(Map),
    /// A compute that takes place where a condition holds.
    When {
        /// The compute takes place where the value is not 0.
        condition: Expr,
        /// The compute, which has no condition of its own.
        compute: Box<Compute>,
    },
}

/// `C(m,n) = alpha * sum over k of A(m,k) * B(n,k) + beta * C(m,n)`, accumulated in `accumulate` and rounded once to C's
/// element type; or what an epilogue makes of the sum, of what prologues make of A and B. Where the tensors have a third mode, it is so for each of its indices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gemm {
    /// An (M,K) tensor.
    pub a: usize,
    /// An (N,K) tensor.
    pub b: usize,
    /// An (M,N) tensor.
    pub c: usize,
    /// Element type of the accumulator.
    pub accumulate: String,
    /// The type that elements of A and B are cut down to before they are multiplied, if it is narrower than theirs: `tf32`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiply: Option<String>,
    /// 1 if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Factor>,
    /// 0 if none: C is then not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Factor>,
    /// The largest `|out - ref| / |ref|` (Frobenius norms) that the producer promises. It can only tighten the bound that
    /// follows from the types; none leaves that bound alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The operations on each element of A before it is multiplied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prologue_a: Option<Box<Prologue>>,
    /// The operations on each element of B before it is multiplied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prologue_b: Option<Box<Prologue>>,
    /// The operations on each sum before it is written; `alpha`, `beta` and `tolerance` are none where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epilogue: Option<Epilogue>,
    /// The coordinates at which a tensor has the elements of A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_a: Option<Box<At>>,
    /// The coordinates at which a tensor has the elements of B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_b: Option<Box<At>>,
    /// The coordinates at which C is written, all of which are inside of the tensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_c: Option<Box<At>>,
    /// The tensor of indices of A's rows: of rows that there are not, all elements are 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_a: Option<usize>,
    /// The tensor of indices of B's rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_b: Option<usize>,
    /// The tensor of the ends of groups of rows: `C(m,n) = sum over k of A(m,k) * B(n,k,g)`, where `g` is the first group whose end is above m. Rows of C behind the last end are not
    /// written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
}

impl Gemm {
    /// `C = A * B^T`, of those arguments, accumulated in that type.
    pub fn new(a: usize, b: usize, c: usize, accumulate: impl Into<String>) -> Gemm {
        Gemm {
            a,
            b,
            c,
            accumulate: accumulate.into(),
            multiply: None,
            alpha: None,
            beta: None,
            tolerance: None,
            prologue_a: None,
            prologue_b: None,
            epilogue: None,
            at_a: None,
            at_b: None,
            at_c: None,
            rows_a: None,
            rows_b: None,
            groups: None,
        }
    }

    /// The coordinates of A, B and C.
    pub fn places(&self) -> [Option<&At>; 3] {
        [&self.at_a, &self.at_b, &self.at_c].map(|at| at.as_deref())
    }

    /// The tensors of indices of the rows of A and B, with their names as roles.
    pub fn rows(&self) -> [(&'static str, Option<usize>); 2] {
        [("IA", self.rows_a), ("IB", self.rows_b)]
    }

    /// The prologues of A and B, by the names of the factors.
    pub fn prologues(&self) -> [(&'static str, Option<&Prologue>); 2] {
        [
            ("A", self.prologue_a.as_deref()),
            ("B", self.prologue_b.as_deref()),
        ]
    }
}

/// A number, or the scalar argument that it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Factor {
    /// A number that is the same in every run.
    Constant(f64),
    /// The value of an argument of the function.
    Argument {
        /// Index of a scalar argument.
        scalar: usize,
    },
}

impl Factor {
    fn is_zero(self) -> bool {
        self == Factor::Constant(0.0)
    }
}

/// A tensor of a compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The name of the tensor in the formula, such as `src`.
    pub name: Cow<'static, str>,
    /// Index into [`Function::args`], and behind these into [`Function::views`].
    pub arg: usize,
    /// The access of the compute to the tensor.
    pub access: Access,
}

/// Elements of each mode of a tensor, where they are known.
pub(crate) type Sizes = Vec<Option<i64>>;

impl Compute {
    /// The compute itself, of one that takes place on a condition.
    pub fn unconditional(&self) -> &Compute {
        match self {
            Compute::When { compute, .. } => compute,
            other => other,
        }
    }

    /// The condition on which it takes place; none of one that always does.
    pub fn condition(&self) -> Option<&Expr> {
        match self {
            Compute::When { condition, .. } => Some(condition),
            _ => None,
        }
    }

    /// The name of the compute in a package.
    pub fn kind(&self) -> &'static str {
        match self {
            Compute::When { .. } => "when",
            Compute::Gemm(_) => "gemm",
            Compute::Copy { .. } => "copy",
            Compute::Transpose { .. } => "transpose",
            Compute::Add { .. } => "add",
            Compute::Axpby { .. } => "axpby",
            Compute::Softmax { .. } => "softmax",
            Compute::RmsNorm { .. } => "rms_norm",
            Compute::Attention { .. } => "attention",
            Compute::Map(_) => "map",
        }
    }

    /// Its tensors: what is read and then the output. An epilogue's tensors come next: those that it reads, `E0`, `E1` and so on,
    /// and those that it writes besides C, `D1` and so on. An output that it reads is there twice, and read and written; so it is
    /// with a map, whose first output is `D0`. Those that prologues read come last, `A0`, `A1` and so on, and `B0`, `B1` and so on; the
    /// indices of A's and B's rows, `IA` and `IB`, or the ends of groups of rows, `ends`, stand behind all others.
    pub fn roles(&self) -> Vec<Role> {
        let role = |name: &'static str, arg: &usize, access| Role {
            name: name.into(),
            arg: *arg,
            access,
        };
        let read = |name, arg| role(name, arg, Access::Read);
        let write = |name, arg| role(name, arg, Access::Write);
        let added_to = |name, arg, beta: Option<Factor>| match beta {
            Some(beta) if !beta.is_zero() => role(name, arg, Access::ReadWrite),
            _ => write(name, arg),
        };
        match self {
            Compute::Gemm(gemm) => {
                let Gemm { a, b, c, beta, .. } = gemm;
                let c = match &gemm.epilogue {
                    Some(epilogue) => role("C", c, epilogue.access(*c)),
                    None => added_to("C", c, *beta),
                };
                let mut roles = vec![read("A", a), read("B", b), c];
                let epilogue = gemm.epilogue.iter();
                roles.extend(epilogue.flat_map(Epilogue::roles));
                for (factor, prologue) in gemm.prologues() {
                    let prologue = prologue.into_iter();
                    roles.extend(prologue.flat_map(|prologue| prologue.roles(factor)));
                }
                let rows = gemm.rows().into_iter();
                roles.extend(rows.filter_map(|(name, rows)| {
                    Some(Role {
                        name: name.into(),
                        arg: rows?,
                        access: Access::Read,
                    })
                }));
                roles.extend(gemm.groups.iter().map(|ends| read("ends", ends)));
                roles
            }
            Compute::Copy { src, dst } | Compute::Transpose { src, dst } => {
                vec![read("src", src), write("dst", dst)]
            }
            Compute::Add { a, b, out, .. } => vec![read("a", a), read("b", b), write("out", out)],
            Compute::Axpby { x, y, beta, .. } => vec![read("x", x), added_to("y", y, Some(*beta))],
            Compute::Softmax { x, out, .. } => vec![read("x", x), write("out", out)],
            Compute::RmsNorm { x, weight, out, .. } => {
                vec![read("x", x), read("weight", weight), write("out", out)]
            }
            Compute::Attention { q, k, v, out, .. } => {
                vec![read("Q", q), read("K", k), read("V", v), write("O", out)]
            }
            Compute::Map(map) => map.roles(),
            Compute::When { compute, .. } => compute.roles(),
        }
    }

    /// The tensors that it writes: of a product of matrices C first, then those of its epilogue; of a map in their order.
    pub fn outputs(&self) -> Vec<Role> {
        let roles = self.roles().into_iter();
        roles.filter(|role| role.access.writes()).collect()
    }

    /// Its index tensors, each with the tensor whose rows they are of.
    pub(crate) fn indices(&self) -> Vec<(usize, usize)> {
        let Compute::Gemm(gemm) = self.unconditional() else {
            return Vec::new();
        };
        let factors = gemm.rows().into_iter().zip([gemm.a, gemm.b]);
        factors
            .filter_map(|((_, rows), of)| Some((rows?, of)))
            .collect()
    }

    /// The tensor of the ends of its groups of rows, with C, which has these rows.
    pub(crate) fn groups(&self) -> Option<(usize, usize)> {
        match self.unconditional() {
            Compute::Gemm(gemm) => gemm.groups.map(|ends| (ends, gemm.c)),
            _ => None,
        }
    }

    /// The epilogue, of a product of matrices that has one.
    pub fn epilogue(&self) -> Option<&Epilogue> {
        match self.unconditional() {
            Compute::Gemm(gemm) => gemm.epilogue.as_ref(),
            _ => None,
        }
    }

    /// Its numbers.
    pub fn factors(&self) -> Vec<(&'static str, Factor)> {
        match self.unconditional() {
            Compute::Gemm(Gemm { alpha, beta, .. }) => {
                let named = [("alpha", *alpha), ("beta", *beta)];
                named
                    .into_iter()
                    .filter_map(|(name, f)| Some((name, f?)))
                    .collect()
            }
            Compute::Axpby { alpha, beta, .. } => vec![("alpha", *alpha), ("beta", *beta)],
            Compute::RmsNorm { epsilon, .. } => vec![("epsilon", *epsilon)],
            Compute::Attention { scale, .. } => vec![("scale", *scale)],
            _ => Vec::new(),
        }
    }

    /// The type that is computed in, where the package says.
    pub fn accumulate(&self) -> Option<&str> {
        match self {
            Compute::Gemm(gemm) => Some(&gemm.accumulate),
            Compute::Copy { .. } | Compute::Transpose { .. } | Compute::Map(_) => None,
            Compute::Add { accumulate, .. }
            | Compute::Axpby { accumulate, .. }
            | Compute::Softmax { accumulate, .. }
            | Compute::RmsNorm { accumulate, .. }
            | Compute::Attention { accumulate, .. } => accumulate.as_deref(),
            Compute::When { compute, .. } => compute.accumulate(),
        }
    }

    /// The formula, with the names of its arguments; `function` is that of [`Function::with_views`]. On which condition it is computed is not told.
    pub fn describe(&self, function: &Function) -> String {
        let name = |arg: &usize| function.args.get(*arg).map_or("?", Arg::name);
        let factor = |factor: &Factor| match factor {
            Factor::Constant(value) => value.to_string(),
            Factor::Argument { scalar } => name(scalar).to_string(),
        };
        let within = |accumulate: &Option<String>| match accumulate {
            Some(accumulate) => format!(", computed in {accumulate}"),
            None => String::new(),
        };
        match self {
            Compute::Gemm(gemm) => {
                let c = name(&gemm.c);
                let mut named = Vec::new();
                let factors = [(&gemm.a, "m"), (&gemm.b, "n")].into_iter();
                let places = gemm.places().into_iter().zip(gemm.rows());
                let elements =
                    factors
                        .zip(places)
                        .map(|((arg, line), (at, (_, rows)))| match (at, rows) {
                            (Some(at), _) => {
                                format!("{}(at {}({line},k))", name(arg), at.describe())
                            }
                            (None, Some(rows)) => {
                                format!("{}({}({line}),k)", name(arg), name(&rows))
                            }
                            (None, None) if line == "n" && gemm.groups.is_some() => {
                                format!("{}(n,k,g)", name(arg))
                            }
                            (None, None) => format!("{}({line},k)", name(arg)),
                        });
                let elements: Vec<_> = elements.collect();
                let factors = gemm.prologues().into_iter().zip(elements);
                let factors = factors.map(|((factor, prologue), element)| match prologue {
                    Some(prologue) => {
                        let (text, uses) = prologue.describe((factor, &element), function);
                        named.extend(uses);
                        text
                    }
                    None => element,
                });
                let factors: Vec<String> = factors.collect();
                let mut sum = format!("sum over k of {}", factors.join(" * "));
                if let Some(ends) = &gemm.groups {
                    sum += &format!(", g the first with m < {}(g)", name(ends));
                }
                for (name, text) in named {
                    sum += &format!(", {name} = {text}");
                }
                let place_of_c = match &gemm.at_c {
                    Some(at) => format!("(at {}(m,n))", at.describe()),
                    None => "(m,n)".to_owned(),
                };
                let mut text = match &gemm.epilogue {
                    Some(epilogue) => epilogue.describe(c, function) + ", where s = ",
                    None => format!("{c}{} = ", place_of_c),
                };
                if let Some(alpha) = &gemm.alpha {
                    text += &format!("{} * ", factor(alpha));
                }
                text += &sum;
                if let Some(beta) = &gemm.beta {
                    text += &format!(" + {} * {c}(m,n)", factor(beta));
                }
                text += &format!(", accumulated in {}", gemm.accumulate);
                if let Some(multiply) = &gemm.multiply {
                    text += &format!(", factors cut down to {multiply}");
                }
                if let Some(tolerance) = gemm.tolerance {
                    text += &format!(", relative error at most {tolerance:e}");
                }
                text
            }
            Compute::Copy { src, dst } => format!("{} = {}", name(dst), name(src)),
            Compute::Transpose { src, dst } => format!("{}(j,i) = {}(i,j)", name(dst), name(src)),
            Compute::Add {
                a,
                b,
                out,
                accumulate,
            } => format!(
                "{} = {} + {}{}",
                name(out),
                name(a),
                name(b),
                within(accumulate)
            ),
            Compute::Axpby {
                x,
                y,
                alpha,
                beta,
                accumulate,
            } => {
                let mut text = format!("{} = {} * {}", name(y), factor(alpha), name(x));
                if !beta.is_zero() {
                    text += &format!(" + {} * {}", factor(beta), name(y));
                }
                text + &within(accumulate)
            }
            Compute::Softmax { x, out, accumulate } => format!(
                "{} = softmax of {} over its last mode{}",
                name(out),
                name(x),
                within(accumulate)
            ),
            Compute::RmsNorm {
                x,
                weight,
                out,
                epsilon,
                accumulate,
            } => format!(
                "{} = {x} * {} / sqrt(mean of {x}^2 + {}), over the last mode{}",
                name(out),
                name(weight),
                factor(epsilon),
                within(accumulate),
                x = name(x)
            ),
            Compute::Attention {
                q,
                k,
                v,
                out,
                scale,
                causal,
                accumulate,
            } => format!(
                "{}(m,:) = sum over n{} of {}(n,:), weighted by the softmax of {} * sum over d of {}(m,d) * {}(n,d){}",
                name(out),
                if *causal { " up to m + N - M" } else { "" },
                name(v),
                factor(scale),
                name(q),
                name(k),
                within(accumulate)
            ),
            Compute::Map(map) => map.describe(function),
            Compute::When { compute, .. } => compute.describe(function),
        }
    }

    /// The modes of each role as letters: equal letters are equal sizes. `ranks` are those of the roles.
    ///
    /// # Errors
    /// The role whose rank does not fit, and what is expected of it.
    pub(crate) fn modes(&self, ranks: &[usize]) -> Result<Vec<Vec<usize>>, (usize, String)> {
        let fixed = |modes: Vec<Vec<usize>>| {
            for (role, (modes, &rank)) in modes.iter().zip(ranks).enumerate() {
                if modes.len() != rank {
                    let count = match modes.len() {
                        1 => "one mode".to_string(),
                        2 => "two modes".to_string(),
                        n => format!("{n} modes"),
                    };
                    return Err((role, count));
                }
            }
            Ok(modes)
        };
        let rank = ranks.first().copied().unwrap_or(0);
        let all: Vec<usize> = (0..rank).collect();
        match self.unconditional() {
            Compute::Gemm(gemm) => {
                // A third mode is the batch, or that of the groups.
                let batched = rank == 3;
                let [a, b, c] = match (batched, gemm.groups) {
                    (true, None) => [vec![0, 2, 3], vec![1, 2, 3], vec![0, 1, 3]],
                    (false, None) => [vec![0, 2], vec![1, 2], vec![0, 1]],
                    (_, Some(_)) => [vec![0, 2], vec![1, 2, 3], vec![0, 1]],
                };
                let [of_a, of_b] = gemm.prologues().map(|(_, prologue)| {
                    let inputs = prologue.map(|prologue| prologue.inputs.len());
                    inputs.unwrap_or(0)
                });
                let rows = [vec![0, 3], vec![1, 3]].into_iter().zip(gemm.rows());
                let rows = rows.filter(|(_, (_, rows))| rows.is_some());
                let mut rows: Vec<_> = rows
                    .map(|(modes, _)| modes[..1 + usize::from(batched)].to_vec())
                    .collect();
                rows.extend(gemm.groups.map(|_| vec![3]));
                let mut modes = vec![a.clone(), b.clone()];
                // C, and the tensors of an epilogue, and those of the prologues.
                modes.resize(ranks.len().saturating_sub(of_a + of_b + rows.len()), c);
                modes.extend(std::iter::repeat_n(a, of_a));
                modes.extend(std::iter::repeat_n(b, of_b));
                modes.extend(rows);
                fixed(modes)
            }
            Compute::Transpose { .. } => fixed(vec![vec![0, 1], vec![1, 0]]),
            Compute::Attention { .. } => {
                // Modes beyond the second are those of Q and O, and those of K and V.
                let further = rank.saturating_sub(2);
                let modes = |first, second, from| {
                    let further = (0..further).map(|mode| from + mode);
                    [first, second].into_iter().chain(further).collect()
                };
                let [queries, keys] = [4, 4 + further];
                fixed(vec![
                    modes(0, 2, queries),
                    modes(1, 2, keys),
                    modes(1, 3, keys),
                    modes(0, 3, queries),
                ])
            }
            Compute::RmsNorm { .. } => fixed(vec![all.clone(), vec![rank.saturating_sub(1)], all]),
            _ => fixed(vec![all; ranks.len()]),
        }
    }

    /// The expected shapes, and the cure.
    fn expected(&self) -> (&'static str, &'static str) {
        match self {
            Compute::Gemm(gemm) if gemm.groups.is_some() => (
                "A and its prologue's tensors (M,K), B and its prologue's tensors (N,K,G), C and the epilogue's tensors (M,N), ends (G)",
                "B has its N mode first, as in CuTe, and a matrix for each group behind K",
            ),
            Compute::Gemm(gemm) => (
                match (gemm.prologues(), &gemm.epilogue) {
                    ([(_, None), (_, None)], Some(_)) => {
                        "A (M,K), B (N,K), C and the epilogue's tensors (M,N)"
                    }
                    ([(_, None), (_, None)], None) => "A (M,K), B (N,K), C (M,N)",
                    (_, Some(_)) => {
                        "A and its prologue's tensors (M,K), B and its prologue's tensors (N,K), C and the epilogue's tensors (M,N)"
                    }
                    (_, None) => {
                        "A and its prologue's tensors (M,K), B and its prologue's tensors (N,K), C (M,N)"
                    }
                },
                "B has its N mode first, as in CuTe",
            ),
            Compute::Transpose { .. } => ("src (M,N), dst (N,M)", ""),
            Compute::RmsNorm { .. } => (
                "x and out of one shape, and as many weights as their last mode has elements",
                "",
            ),
            Compute::Attention { .. } => (
                "Q (M,D,...), K (N,D,...), V (N,E,...), O (M,E,...)",
                "V has a row for each key, as K does, and heads of K divide those of Q",
            ),
            Compute::Copy { .. } => ("src and dst of one shape", ""),
            Compute::Add { .. } => ("a, b and out of one shape", ""),
            Compute::Axpby { .. } => ("x and y of one shape", ""),
            Compute::Softmax { .. } => ("x and out of one shape", ""),
            Compute::Map(_) => (
                "all tensors of one shape",
                "one that is the same along a mode has stride 0 there",
            ),
            Compute::When { compute, .. } => compute.expected(),
        }
    }

    /// The sizes of the roles' modes where these are those of the tensors: of a matrix that a tensor has at coordinates, or by rows, its
    /// own.
    pub(crate) fn shapes(&self, sizes: &[Sizes], environment: &Environment) -> Vec<Sizes> {
        self.shapes_by(sizes, |at| at.sizes(environment))
    }

    /// Does as [`Compute::shapes`], with sizes of any kind; `sized` gives those of a matrix at coordinates.
    pub(crate) fn shapes_by<T: Clone>(
        &self,
        sizes: &[Vec<Option<T>>],
        mut sized: impl FnMut(&At) -> Vec<Option<T>>,
    ) -> Vec<Vec<Option<T>>> {
        let mut shapes = sizes.to_vec();
        let Compute::Gemm(gemm) = self.unconditional() else {
            return shapes;
        };
        for (shape, at) in shapes.iter_mut().zip(gemm.places()) {
            if let Some(at) = at {
                *shape = sized(at);
            }
        }
        // The indices stand last, but for the ends of groups.
        let rows = gemm.rows();
        let behind = rows.iter().filter(|(_, rows)| rows.is_some()).count()
            + usize::from(gemm.groups.is_some());
        let mut indices = sizes.iter().skip(sizes.len().saturating_sub(behind));
        for (shape, (_, rows)) in shapes.iter_mut().zip(gemm.rows()) {
            if rows.is_some()
                && let (Some(first), Some(index)) = (shape.first_mut(), indices.next())
            {
                *first = index.first().cloned().flatten();
            }
        }
        shapes
    }

    /// Checks that the tensors' shapes fit, as far as they are known; `sizes` are those of the roles.
    ///
    /// # Errors
    /// The shapes that are expected, those that were found, and the cure.
    pub(crate) fn check_shapes(
        &self,
        sizes: &[Sizes],
        environment: &Environment,
    ) -> Result<(), [String; 3]> {
        let roles = self.roles();
        let sizes = &self.shapes(sizes, environment)[..];
        let ranks: Vec<usize> = sizes.iter().map(Vec::len).collect();
        let modes = self.modes(&ranks).map_err(|(role, count)| {
            let expected = format!("{} with {count}", roles[role].name);
            [expected, shape_text(&sizes[role]), String::new()]
        })?;
        let mut known = BTreeMap::new();
        let fits = modes.iter().zip(sizes).all(|(modes, sizes)| {
            let sized = modes.iter().zip(sizes);
            sized
                .filter_map(|(mode, size)| Some((*mode, (*size)?)))
                .all(|(mode, size)| *known.entry(mode).or_insert(size) == size)
        });
        if fits && self.shares(sizes) {
            return Ok(());
        }
        let (expected, cure) = self.expected();
        let found: Vec<String> = roles
            .iter()
            .zip(sizes)
            .map(|(role, sizes)| format!("{} {}", role.name, shape_text(sizes)))
            .collect();
        Err([expected.into(), found.join(", "), cure.into()])
    }

    /// Tells whether K's modes beyond the second divide Q's, as far as they are known, of an attention; nothing shares of the others.
    fn shares(&self, sizes: &[Sizes]) -> bool {
        let (Compute::Attention { .. }, [q, k, ..]) = (self.unconditional(), sizes) else {
            return true;
        };
        let further = q.iter().zip(k).skip(2);
        further
            .filter_map(|(q, k)| Some(((*q)?, (*k)?)))
            .all(|(q, k)| (k == 0 && q == 0) || (k != 0 && q % k == 0))
    }

    /// Operations of one run, for those whose speed is measured by them; `sizes` are those of the roles.
    pub fn flops(&self, sizes: &[Vec<i64>]) -> Option<f64> {
        let product = |sizes: &[i64]| sizes.iter().map(|&n| n as f64).product::<f64>();
        let count = |sizes: &[i64], mode: usize| sizes.get(mode).map_or(0.0, |&n| n as f64);
        match (self.unconditional(), sizes) {
            (Compute::Gemm(_), [a, _, c, ..]) => Some(2.0 * product(c) * count(a, 1)),
            // The two products; what the softmax takes is left out, as is customary.
            (Compute::Attention { causal, .. }, [q, k, _, out]) => {
                let [m, n] = [count(q, 0), count(k, 0)];
                let keys = match causal {
                    false => n,
                    true if m == 0.0 => 0.0,
                    // Of each row on average: the last of them has all keys, and each before it one less.
                    true => {
                        let rows = m.min(n);
                        rows * (2.0 * n - rows + 1.0) / (2.0 * m)
                    }
                };
                Some(2.0 * (product(q) + product(out)) * keys)
            }
            _ => None,
        }
    }
}

/// `(8,?)`
fn shape_text(sizes: &Sizes) -> String {
    let sizes: Vec<String> = sizes
        .iter()
        .map(|size| size.map_or("?".to_string(), |size| size.to_string()))
        .collect();
    format!("({})", sizes.join(","))
}

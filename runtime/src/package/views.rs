//! Tensors of computes that are no arguments: those in a call's workspace, and views of arguments.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::expr::{Environment, Expr};
use super::manifest::{Access, Arg, Function};
use super::validate::{Checked, invalid, pattern, validate_expr};
use crate::element::Element;
use crate::layout::{Parsed, Pattern};

/// A tensor that computes have and that is no argument. Its index among their tensors follows those of the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The name that messages use for the tensor, another one than those of the arguments.
    pub name: String,
    /// MLIR's name of the element type.
    pub element: String,
    /// CuTe text; a leaf `?` is the next one of `leaves`.
    pub layout: String,
    /// The dynamic leaves of the layout: those of the shape from left to right, then those of the stride.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<Expr>,
    /// The place where it begins.
    pub of: ViewOf,
}

/// The place where a view begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewOf {
    /// A byte of the call's workspace.
    Workspace(Expr),
    /// The first element of that tensor argument.
    Argument(usize),
    /// A byte of a tensor argument.
    Byte {
        /// The tensor argument.
        tensor: usize,
        /// Bytes from its first element on.
        offset: Expr,
    },
}

impl ViewOf {
    /// The tensor argument; none of a view of the workspace.
    pub fn argument(&self) -> Option<usize> {
        match self {
            ViewOf::Argument(tensor) | ViewOf::Byte { tensor, .. } => Some(*tensor),
            ViewOf::Workspace(_) => None,
        }
    }

    /// Bytes from the first element of the argument on, or from the workspace's first byte on; none where they are none.
    pub fn offset(&self) -> Option<&Expr> {
        match self {
            ViewOf::Argument(_) => None,
            ViewOf::Workspace(offset) | ViewOf::Byte { offset, .. } => Some(offset),
        }
    }
}

impl View {
    /// The sizes of its modes, where they are the same for all arguments.
    pub(crate) fn mode_sizes(&self) -> Vec<Option<i64>> {
        let pattern = Pattern::parse(&self.layout);
        pattern.map_or_else(|_| Vec::new(), |pattern| pattern.mode_sizes())
    }

    /// The layout for some arguments. Errors: the leaf that has no value, or the layout that no tensor has.
    pub(crate) fn layout(&self, environment: &Environment) -> Result<Parsed, String> {
        let pattern = Pattern::parse(&self.layout).map_err(|error| error.to_string())?;
        let mut leaves = self.leaves.iter();
        let mut values = [Vec::new(), Vec::new()];
        for (known, values) in pattern.known_leaves().iter().zip(&mut values) {
            for known in known {
                let value = match known {
                    Some(known) => Ok(*known),
                    None => leaves.next().map_or_else(
                        || Err(format!("{} has too few leaves", self.name)),
                        |leaf| leaf.evaluate(environment),
                    ),
                };
                values.push(value?);
            }
        }
        let [shape, stride] = values;
        let layout = pattern.with_leaves(&shape, &stride);
        layout.map_err(|error| error.to_string())
    }

    /// The view as an argument has it, of which anything may be read and written.
    fn as_argument(&self) -> Arg {
        let element = self.element.parse::<Element>();
        Arg::Tensor {
            name: self.name.clone(),
            element: self.element.clone(),
            layout: self.layout.clone(),
            align: element.map_or(1, |element| element.size() as u32),
            access: Access::ReadWrite,
        }
    }

    /// The text of it: `f16 (64,64):(64,1), workspace + 512`, where `text` has that of an expression.
    pub fn describe(&self, function: &Function, text: impl Fn(&Expr) -> String) -> String {
        let at = match &self.of {
            ViewOf::Workspace(Expr::Constant(0)) => "in the workspace".to_owned(),
            ViewOf::Workspace(offset) => format!("in the workspace at byte {}", text(offset)),
            ViewOf::Argument(arg) => {
                format!(
                    "a view of {}",
                    function.args.get(*arg).map_or("?", Arg::name)
                )
            }
            ViewOf::Byte { tensor, offset } => {
                format!(
                    "a view of {} from byte {} on",
                    function.args.get(*tensor).map_or("?", Arg::name),
                    text(offset)
                )
            }
        };
        let mut all = format!("{} = {} {}, {at}", self.name, self.element, self.layout);
        if !self.leaves.is_empty() {
            let leaves: Vec<String> = self.leaves.iter().map(text).collect();
            all += &format!(", where ? is {}", leaves.join(", "));
        }
        all
    }
}

impl Function {
    /// The function with its views among its arguments, so that all tensors of computes are.
    pub fn with_views(&self) -> Cow<'_, Function> {
        if self.views.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut whole = self.clone();
        whole.args.extend(self.views.iter().map(View::as_argument));
        Cow::Owned(whole)
    }

    /// The argument whose elements a tensor of computes has: itself, or that of which it is a view; none of one in the workspace.
    pub fn argument_of(&self, tensor: usize) -> Option<usize> {
        match tensor.checked_sub(self.args.len()) {
            None => Some(tensor),
            Some(view) => self.views.get(view)?.of.argument(),
        }
    }
}

pub(super) fn validate_view(place: &str, view: &View, function: &Function) -> Checked {
    if let Err(error) = view.element.parse::<Element>() {
        return invalid(place, "an element type", error.to_string(), "");
    }
    let leaves = match Pattern::parse(&view.layout) {
        Ok(pattern) => pattern.dynamic_leaves().len(),
        Err(error) => return invalid(place, "a layout of a tensor", error.to_string(), ""),
    };
    if leaves != view.leaves.len() {
        let expected = format!("{leaves} leaves, as its layout leaves open");
        return invalid(place, expected, view.leaves.len().to_string(), "");
    }
    for leaf in &view.leaves {
        validate_expr(place, "a leaf", leaf, function)?;
    }
    match &view.of {
        ViewOf::Argument(arg) => pattern(place, *arg, function).map(drop),
        ViewOf::Workspace(_) if function.workspace.is_none() => {
            invalid(place, "a function with a workspace", "none", "")
        }
        ViewOf::Workspace(offset) => validate_expr(place, "its first byte", offset, function),
        ViewOf::Byte { tensor, offset } => {
            pattern(place, *tensor, function)?;
            validate_expr(place, "its first byte", offset, function)
        }
    }
}

//! The shared memory of a kernel: of a module's shared variables, a kernel has those that it or a function that it calls names. ptxas
//! gives a kernel no others.

use std::collections::{HashMap, HashSet};

use super::calls::addresses;
use crate::ptx::{Base, Function, Item, Module, Operand, Statement, Variable};

/// All that a kernel names, and what the functions and variables among these name.
pub(super) fn names<'a>(module: &Module<'a>, kernel: &Function<'a>) -> HashSet<&'a str> {
    let mut functions: HashMap<&str, &Function<'a>> = HashMap::new();
    let mut variables: HashMap<&str, &Variable<'a>> = HashMap::new();
    for item in &module.items {
        match item {
            // A declaration may stand before or behind the function itself.
            Item::Function(function) if function.body.is_some() => {
                functions.insert(function.name, function);
            }
            Item::Variable(variable) => {
                variables.insert(variable.name, variable);
            }
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    let mut pending = Vec::new();
    of_body(kernel.body.as_deref().unwrap_or_default(), &mut pending);
    while let Some(name) = pending.pop() {
        if !seen.insert(name) {
            continue;
        }
        if let Some(function) = functions.get(name) {
            of_body(function.body.as_deref().unwrap_or_default(), &mut pending);
        }
        if let Some(variable) = variables.get(name) {
            addresses(variable.init.as_ref(), &mut pending);
        }
    }
    seen
}

fn of_body<'a>(body: &[Statement<'a>], names: &mut Vec<&'a str>) {
    for statement in body {
        match statement {
            Statement::Scope(inside) => of_body(inside, names),
            Statement::Instruction(instruction) => {
                of_operands(&instruction.operands, names);
            }
            Statement::Variable(variable) => addresses(variable.init.as_ref(), names),
            Statement::Targets { targets, .. } => names.extend(targets),
            _ => {}
        }
    }
}

fn of_operands<'a>(operands: &[Operand<'a>], names: &mut Vec<&'a str>) {
    for operand in operands {
        match operand {
            Operand::Symbol { name, .. } => names.push(name),
            Operand::Pair(first, second) => {
                of_operands(std::slice::from_ref(first), names);
                of_operands(std::slice::from_ref(second), names);
            }
            Operand::Vector(parts) | Operand::List(parts) => of_operands(parts, names),
            Operand::Address(address) => {
                if let Base::Symbol(name) = address.base {
                    names.push(name);
                }
                of_operands(&address.more, names);
            }
            _ => {}
        }
    }
}

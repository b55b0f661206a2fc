//! Guards and computed constants as terms of SMT-LIB, read from the source of the rules: a closure is interpreted over symbols in place
//! of numbers. The functions that it calls are those of the rules' files, interpreted the same way; those of the standard library and of
//! `cute_arith` that occur are known here.

use std::collections::HashMap;
use syn::{
    BinOp, Block, Expr, FnArg, ImplItem, Item, Lit, Pat, Signature, Stmt, UnOp, parse_file,
    punctuated::Punctuated, token::Comma,
};

/// A number of 64 bits: a term, and its value where it is known.
#[derive(Clone, Debug)]
pub(super) struct Int {
    pub(super) text: String,
    pub(super) known: Option<u64>,
    /// The term of 64 bits that the number is two to the power of, where it is known to be one.
    pub(super) exponent: Option<String>,
}

impl Int {
    pub(super) fn known(value: u64) -> Int {
        Int {
            text: format!("#x{value:016x}"),
            known: Some(value),
            exponent: None,
        }
    }

    pub(super) fn term(text: String) -> Int {
        Int {
            text,
            known: None,
            exponent: None,
        }
    }

    /// Two to a power below 64.
    pub(super) fn power(exponent: String) -> Int {
        Int {
            text: format!("(bvshl #x0000000000000001 {exponent})"),
            known: None,
            exponent: Some(exponent),
        }
    }

    /// The product, where one of the factors is a power of two: shifts, which the solver knows more of.
    fn product(&self, other: &Int) -> Int {
        match (&self.exponent, &other.exponent) {
            (_, Some(by)) => Int::term(format!("(bvshl {} {by})", self.text)),
            (Some(by), None) => Int::term(format!("(bvshl {} {by})", other.text)),
            _ => op("bvmul", self, other),
        }
    }

    /// The quotient, rounded down.
    fn quotient(&self, by: &Int) -> Int {
        match &by.exponent {
            Some(bits) => Int::term(format!("(bvlshr {} {bits})", self.text)),
            None => op("bvudiv", self, by),
        }
    }

    fn remainder(&self, by: &Int) -> Int {
        match &by.exponent {
            Some(_) => op("bvand", self, &op("bvsub", by, &Int::known(1))),
            None => op("bvurem", self, by),
        }
    }
}

/// The facts about a term, as four terms.
#[derive(Clone, Debug)]
pub(super) struct Symbols {
    pub(super) lo: Int,
    pub(super) hi: Int,
    pub(super) zero_bits: Int,
    pub(super) one_bits: Int,
}

/// The environment that a guard sees.
pub(super) struct Symbolic {
    pub(super) width: u32,
    pub(super) widths: Vec<u32>,
    pub(super) facts: Vec<Symbols>,
    pub(super) consts: Vec<Int>,
}

/// The value of an expression.
#[derive(Clone, Debug)]
enum Value<'s> {
    Bool(String),
    Int(Int),
    Facts(Symbols),
    List(Vec<Value<'s>>),
    /// Something if the term holds.
    Option(String, Int),
    Widths,
    Env,
    Closure(Vec<String>, &'s Expr),
    Function(String),
}

/// A function of the sources.
struct Function {
    parameters: Vec<String>,
    body: Block,
}

/// The guard and the computed constants of a rule.
#[derive(Default)]
struct Law {
    guard: Option<Expr>,
    k: Option<Expr>,
    l: Option<Expr>,
}

/// The source of rules, taken apart.
pub(super) struct Source {
    /// The functions by file and name.
    functions: HashMap<(String, String), Function>,
    laws: HashMap<String, Law>,
}

/// The name of a common divisor of the first two constants.
pub(super) const DIVISOR: &str = "divisor";

/// The file of what all files of rules may call.
const COMMON: &str = "mod";

impl Source {
    /// Reads files of rules, each with the name by which its functions are known.
    pub(super) fn read(files: &[(&str, &str)]) -> Source {
        let mut source = Source {
            functions: HashMap::new(),
            laws: HashMap::new(),
        };
        for (name, text) in files {
            let file = parse_file(text).unwrap();
            for item in file.items {
                source.item(name, item);
            }
        }
        source
    }

    fn item(&mut self, file: &str, item: Item) {
        match item {
            Item::Fn(function) => self.function(file, &function.sig, *function.block),
            Item::Impl(item) => {
                for inner in item.items {
                    if let ImplItem::Fn(function) = inner {
                        self.function(file, &function.sig, function.block);
                    }
                }
            }
            Item::Const(item) => self.rules(file, &item.expr),
            Item::Static(item) => self.rules(file, &item.expr),
            _ => {}
        }
    }

    fn function(&mut self, file: &str, signature: &Signature, body: Block) {
        let parameters = signature.inputs.iter().map(|input| match input {
            FnArg::Receiver(_) => "self".to_owned(),
            FnArg::Typed(typed) => names(&typed.pat).concat(),
        });
        let parameters = parameters.collect();
        let key = (file.to_owned(), signature.ident.to_string());
        self.functions.insert(key, Function { parameters, body });
    }

    /// Takes the rules of a list.
    fn rules(&mut self, file: &str, list: &Expr) {
        let Expr::Reference(reference) = list else {
            return;
        };
        let Expr::Array(array) = &*reference.expr else {
            return;
        };
        for element in &array.elems {
            let mut law = Law::default();
            let mut rest = element;
            while let Expr::MethodCall(call) = rest {
                let given = call.args.first().cloned();
                match call.method.to_string().as_str() {
                    "when" => law.guard = given,
                    "k" => law.k = given,
                    "l" => law.l = given,
                    other => panic!("a rule has no {other}"),
                }
                rest = &call.receiver;
            }
            let Expr::Call(new) = rest else { continue };
            let Some(Expr::Lit(name)) = new.args.first() else {
                continue;
            };
            let Lit::Str(name) = &name.lit else { continue };
            // The rules of two files may call functions of one name.
            self.laws.insert(format!("{file}/{}", name.value()), law);
        }
    }

    /// The guard of a rule as a term that is true or false; nothing where it has none.
    pub(super) fn guard(&self, file: &str, rule: &str, env: &Symbolic) -> Option<String> {
        let guard = self.law(file, rule).guard.as_ref()?;
        match self.called(file, guard, env) {
            Value::Bool(text) => Some(text),
            other => panic!("the guard of {rule} is {other:?}"),
        }
    }

    /// The constants that a rule computes, as terms of 64 bits.
    pub(super) fn computed(&self, file: &str, rule: &str, env: &Symbolic) -> [Option<String>; 2] {
        let law = self.law(file, rule);
        [&law.k, &law.l].map(
            |computed| match self.called(file, computed.as_ref()?, env) {
                Value::Int(int) => Some(int.text),
                other => panic!("a constant of {rule} is {other:?}"),
            },
        )
    }

    fn law(&self, file: &str, rule: &str) -> &Law {
        let law = self.laws.get(&format!("{file}/{rule}"));
        law.unwrap_or_else(|| panic!("{file} has no rule {rule}"))
    }

    fn called<'s>(&'s self, file: &'s str, function: &'s Expr, env: &'s Symbolic) -> Value<'s> {
        let scope = Scope {
            source: self,
            file,
            env,
            names: HashMap::new(),
        };
        let function = scope.value(function);
        scope.apply(&function, vec![Value::Env])
    }
}

/// The names that a pattern binds, in order.
fn names(pat: &Pat) -> Vec<String> {
    match pat {
        Pat::Ident(ident) => vec![ident.ident.to_string()],
        Pat::Type(typed) => names(&typed.pat),
        Pat::Reference(reference) => names(&reference.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().flat_map(names).collect(),
        Pat::Wild(_) => vec!["_".to_owned()],
        other => panic!("a pattern that is not known: {other:?}"),
    }
}

/// The values that names stand for at a place of the source.
#[derive(Clone)]
struct Scope<'s> {
    source: &'s Source,
    file: &'s str,
    env: &'s Symbolic,
    names: HashMap<String, Value<'s>>,
}

fn int(value: Value) -> Int {
    match value {
        Value::Int(int) => int,
        other => panic!("expected a number, found {other:?}"),
    }
}

fn truth(value: Value) -> String {
    match value {
        Value::Bool(text) => text,
        other => panic!("expected true or false, found {other:?}"),
    }
}

fn op(name: &str, a: &Int, b: &Int) -> Int {
    Int::term(format!("({name} {} {})", a.text, b.text))
}

fn is_zero(a: &str) -> String {
    format!("(= {a} #x0000000000000000)")
}

/// The number of zeros below the lowest one, as Rust counts them: 64 of 0.
fn trailing_zeros(a: &Int) -> Int {
    let zero = "#x0000000000000000";
    let steps = [
        ("#x00000000ffffffff", 32),
        ("#x0000ffff0000ffff", 16),
        ("#x00ff00ff00ff00ff", 8),
        ("#x0f0f0f0f0f0f0f0f", 4),
        ("#x3333333333333333", 2),
        ("#x5555555555555555", 1),
    ];
    let sum = steps.iter().fold(zero.to_owned(), |sum, (bits, count)| {
        format!("(bvadd {sum} (ite (= (bvand low {bits}) {zero}) #x{count:016x} {zero}))")
    });
    let a = &a.text;
    Int::term(format!(
        "(let ((low (bvand {a} (bvneg {a})))) (ite {} #x0000000000000040 {sum}))",
        is_zero("low")
    ))
}

/// `cute_arith::cover`: the bits at and below the highest one.
fn cover(a: &Int) -> Int {
    let text = [1_u64, 2, 4, 8, 16, 32]
        .iter()
        .fold(a.text.clone(), |text, by| {
            format!("(let ((v {text})) (bvor v (bvlshr v #x{by:016x})))")
        });
    Int::term(text)
}

impl<'s> Scope<'s> {
    fn with(&self, names: &[String], values: Vec<Value<'s>>) -> Scope<'s> {
        let mut inner = self.clone();
        inner.names.extend(names.iter().cloned().zip(values));
        inner
    }

    fn apply(&self, function: &Value<'s>, given: Vec<Value<'s>>) -> Value<'s> {
        match function {
            Value::Closure(parameters, body) => self.with(parameters, given).value(body),
            Value::Function(name) => self.call(name, given),
            other => panic!("expected a function, found {other:?}"),
        }
    }

    /// Calls a function by its name.
    fn call(&self, name: &str, given: Vec<Value<'s>>) -> Value<'s> {
        let env = self.env;
        let fact = |slot: usize| Value::Facts(env.facts[slot].clone());
        let constant = |slot: usize| Value::Int(env.consts[slot].clone());
        match (name, &given[..]) {
            ("x", [Value::Env]) => return fact(0),
            ("y", [Value::Env]) => return fact(1),
            ("z", [Value::Env]) => return fact(2),
            ("c", [Value::Env]) => return constant(0),
            ("d", [Value::Env]) => return constant(1),
            ("m", [Value::Env]) => return constant(2),
            ("mask", [Value::Int(width)]) => {
                let width = width.known.expect("the width of a mask is known");
                return Value::Int(Int::known(cute_arith::mask(width as u32)));
            }
            ("cover", [Value::Int(a)]) => return Value::Int(cover(a)),
            // Any common divisor: what holds for each of them holds for the greatest.
            ("gcd", [Value::Int(_), Value::Int(_)]) => {
                return Value::Int(Int::term(DIVISOR.to_owned()));
            }
            ("from", [Value::Int(a)]) => return Value::Int(a.clone()),
            _ => {}
        }
        for file in [self.file, COMMON] {
            let found = self
                .source
                .functions
                .get(&(file.to_owned(), name.to_owned()));
            if let Some(function) = found {
                let inner = Scope {
                    file,
                    names: HashMap::new(),
                    ..self.clone()
                };
                let inner = inner.with(&function.parameters, given);
                return inner.block(&function.body.stmts);
            }
        }
        panic!("{}: no function {name} of {given:?}", self.file)
    }

    fn block(&self, statements: &'s [Stmt]) -> Value<'s> {
        let (first, rest) = statements.split_first().expect("a block has a value");
        match first {
            Stmt::Local(local) => {
                let value = self.value(&local.init.as_ref().expect("a value").expr);
                let bound = names(&local.pat);
                let values = match (value, bound.len()) {
                    (Value::List(values), 2..) => values,
                    (value, _) => vec![value],
                };
                self.with(&bound, values).block(rest)
            }
            Stmt::Expr(Expr::If(early), None) if early.else_branch.is_none() => {
                let [Stmt::Expr(Expr::Return(returned), _)] = &early.then_branch.stmts[..] else {
                    panic!("expected nothing but a return")
                };
                let condition = truth(self.value(&early.cond));
                let yes = self.value(returned.expr.as_ref().expect("a value is returned"));
                Self::choose(&condition, yes, self.block(rest))
            }
            Stmt::Expr(expression, None) => self.value(expression),
            other => panic!("a statement that is not known: {other:?}"),
        }
    }

    fn choose(condition: &str, yes: Value<'s>, no: Value<'s>) -> Value<'s> {
        match (yes, no) {
            (Value::Bool(yes), Value::Bool(no)) => {
                Value::Bool(format!("(ite {condition} {yes} {no})"))
            }
            (yes, no) => Value::Int(Int::term(format!(
                "(ite {condition} {} {})",
                int(yes).text,
                int(no).text
            ))),
        }
    }

    fn value(&self, expression: &'s Expr) -> Value<'s> {
        match expression {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Reference(inner) => self.value(&inner.expr),
            Expr::Block(block) => self.block(&block.block.stmts),
            Expr::Closure(closure) => Value::Closure(
                closure.inputs.iter().flat_map(names).collect(),
                &closure.body,
            ),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => Value::Int(Int::known(number.base10_parse().unwrap())),
                Lit::Bool(truth) => Value::Bool(truth.value.to_string()),
                other => panic!("a literal that is not known: {other:?}"),
            },
            Expr::Path(path) => {
                let name = path.path.segments.last().unwrap().ident.to_string();
                self.names
                    .get(&name)
                    .cloned()
                    .unwrap_or(Value::Function(name))
            }
            Expr::Tuple(tuple) => self.list(&tuple.elems),
            Expr::Array(array) => self.list(&array.elems),
            Expr::If(branch) => {
                let no = &branch.else_branch.as_ref().expect("the other branch").1;
                Self::choose(
                    &truth(self.value(&branch.cond)),
                    self.block(&branch.then_branch.stmts),
                    self.value(no),
                )
            }
            Expr::Field(field) => self.field(&field.base, &field.member),
            Expr::Index(index) => match (self.value(&index.expr), self.value(&index.index)) {
                (Value::Widths, Value::Int(Int { known: Some(i), .. })) => {
                    Value::Int(Int::known(self.env.widths[i as usize].into()))
                }
                other => panic!("an index that is not known: {other:?}"),
            },
            Expr::Unary(unary) => match (unary.op, self.value(&unary.expr)) {
                (UnOp::Not(_), Value::Bool(text)) => Value::Bool(format!("(not {text})")),
                (UnOp::Not(_), Value::Int(a)) => {
                    Value::Int(Int::term(format!("(bvnot {})", a.text)))
                }
                (UnOp::Deref(_), value) => value,
                other => panic!("an operation that is not known: {other:?}"),
            },
            Expr::Binary(binary) => {
                let [a, b] = [&*binary.left, &*binary.right].map(|side| self.value(side));
                Self::binary(&binary.op, a, b)
            }
            Expr::Call(call) => {
                let function = self.value(&call.func);
                let given = call.args.iter().map(|given| self.value(given)).collect();
                self.apply(&function, given)
            }
            Expr::MethodCall(call) => {
                let receiver = self.value(&call.receiver);
                let given = call.args.iter().map(|given| self.value(given)).collect();
                self.method(receiver, &call.method.to_string(), given)
            }
            other => panic!("an expression that is not known: {other:?}"),
        }
    }

    fn list(&self, elements: &'s Punctuated<Expr, Comma>) -> Value<'s> {
        Value::List(elements.iter().map(|element| self.value(element)).collect())
    }

    fn field(&self, base: &'s Expr, member: &syn::Member) -> Value<'s> {
        let syn::Member::Named(name) = member else {
            panic!("a field without a name")
        };
        match (self.value(base), name.to_string().as_str()) {
            (Value::Facts(facts), "lo") => Value::Int(facts.lo),
            (Value::Facts(facts), "hi") => Value::Int(facts.hi),
            (Value::Facts(facts), "zero_bits") => Value::Int(facts.zero_bits),
            (Value::Facts(facts), "one_bits") => Value::Int(facts.one_bits),
            (Value::Env, "width") => Value::Int(Int::known(self.env.width.into())),
            (Value::Env, "widths") => Value::Widths,
            other => panic!("a field that is not known: {other:?}"),
        }
    }

    fn binary(operation: &BinOp, a: Value<'s>, b: Value<'s>) -> Value<'s> {
        let connective = match operation {
            BinOp::And(_) => Some("and"),
            BinOp::Or(_) => Some("or"),
            _ => None,
        };
        if let Some(name) = connective {
            return Value::Bool(format!("({name} {} {})", truth(a), truth(b)));
        }
        let (a, b) = (int(a), int(b));
        // A release build takes the number of bits to shift by modulo 64.
        let by = op("bvand", &b, &Int::known(63));
        let number = |name| Value::Int(op(name, &a, &b));
        let compared = |name| Value::Bool(op(name, &a, &b).text);
        match operation {
            BinOp::Add(_) => number("bvadd"),
            BinOp::Sub(_) => number("bvsub"),
            BinOp::Mul(_) => Value::Int(a.product(&b)),
            BinOp::Div(_) => Value::Int(a.quotient(&b)),
            BinOp::Rem(_) => Value::Int(a.remainder(&b)),
            BinOp::BitAnd(_) => number("bvand"),
            BinOp::BitOr(_) => number("bvor"),
            BinOp::BitXor(_) => number("bvxor"),
            BinOp::Shl(_) => Value::Int(op("bvshl", &a, &by)),
            BinOp::Shr(_) => Value::Int(op("bvlshr", &a, &by)),
            BinOp::Eq(_) => compared("="),
            BinOp::Ne(_) => compared("distinct"),
            BinOp::Lt(_) => compared("bvult"),
            BinOp::Le(_) => compared("bvule"),
            BinOp::Gt(_) => compared("bvugt"),
            BinOp::Ge(_) => compared("bvuge"),
            other => panic!("an operation that is not known: {other:?}"),
        }
    }

    fn method(&self, receiver: Value<'s>, name: &str, given: Vec<Value<'s>>) -> Value<'s> {
        match (receiver, name, &given[..]) {
            (Value::Int(a), _, given) => Self::of_number(&a, name, given)
                .unwrap_or_else(|| panic!("a number's method {name} is not known")),
            (Value::Facts(facts), "maybe", []) => {
                Value::Int(Int::term(format!("(bvnot {})", facts.zero_bits.text)))
            }
            (Value::Facts(facts), "as_constant", []) => {
                Value::Option(op("=", &facts.lo, &facts.hi).text, facts.lo)
            }
            (Value::Option(some, value), "is_some_and", [holds]) => {
                let holds = truth(self.apply(holds, vec![Value::Int(value)]));
                Value::Bool(format!("(and {some} {holds})"))
            }
            (Value::Option(some, value), "is_none_or", [holds]) => {
                let holds = truth(self.apply(holds, vec![Value::Int(value)]));
                Value::Bool(format!("(or (not {some}) {holds})"))
            }
            (Value::List(values), "iter", []) => Value::List(values),
            (Value::List(values), "all", [holds]) => {
                let all = values
                    .into_iter()
                    .map(|value| truth(self.apply(holds, vec![value])));
                Value::Bool(format!("(and true {})", all.collect::<Vec<_>>().join(" ")))
            }
            (Value::Env, method, given) => {
                let given = std::iter::once(Value::Env).chain(given.iter().cloned());
                self.call(method, given.collect())
            }
            (receiver, name, _) => panic!("a method that is not known: {name} of {receiver:?}"),
        }
    }

    /// The methods of Rust's `u64`.
    fn of_number(a: &Int, name: &str, given: &[Value<'s>]) -> Option<Value<'s>> {
        let b = given.first().cloned().map(int);
        let zero = Int::known(0);
        let value = match (name, &b) {
            ("wrapping_add", Some(b)) => op("bvadd", a, b),
            ("wrapping_sub", Some(b)) => op("bvsub", a, b),
            ("wrapping_mul", Some(b)) => a.product(b),
            ("wrapping_neg", None) => op("bvsub", &zero, a),
            ("trailing_zeros", None) => match &a.exponent {
                Some(exponent) => Int::term(exponent.clone()),
                None => trailing_zeros(a),
            },
            ("min", Some(b)) => Int::term(format!(
                "(ite {} {} {})",
                op("bvule", a, b).text,
                a.text,
                b.text
            )),
            ("max", Some(b)) => Int::term(format!(
                "(ite {} {} {})",
                op("bvuge", a, b).text,
                a.text,
                b.text
            )),
            ("div_ceil", Some(b)) => Int::term(format!(
                "(bvadd {} (ite {} #x0000000000000000 #x0000000000000001))",
                a.quotient(b).text,
                is_zero(&a.remainder(b).text)
            )),
            ("checked_add", Some(b)) => {
                let sum = op("bvadd", a, b);
                return Some(Value::Option(op("bvuge", &sum, a).text, sum));
            }
            ("checked_mul", Some(b)) => {
                let product = a.product(b);
                // What is shifted out is lost for the way back.
                let comes_back = |by: &str, factor: &Int| {
                    let back = Int::term(format!("(bvlshr {} {by})", product.text));
                    op("=", &back, factor).text
                };
                let fits = match (&a.exponent, &b.exponent) {
                    (_, Some(by)) => comes_back(by, a),
                    (Some(by), None) => comes_back(by, b),
                    _ => format!("(not (bvumulo {} {}))", a.text, b.text),
                };
                return Some(Value::Option(fits, product));
            }
            ("checked_shl", Some(b)) => {
                let fits = op("bvult", b, &Int::known(64)).text;
                return Some(Value::Option(fits, op("bvshl", a, b)));
            }
            ("is_power_of_two", None) if a.exponent.is_some() => {
                return Some(Value::Bool("true".to_owned()));
            }
            ("is_power_of_two", None) => {
                let below = op("bvsub", a, &Int::known(1));
                return Some(Value::Bool(format!(
                    "(and (not {}) {})",
                    is_zero(&a.text),
                    is_zero(&op("bvand", a, &below).text)
                )));
            }
            // Of 0, 0 alone is a multiple, which is what a remainder by 0 says here.
            ("is_multiple_of", Some(b)) => {
                return Some(Value::Bool(is_zero(&a.remainder(b).text)));
            }
            _ => return None,
        };
        Some(Value::Int(value))
    }
}

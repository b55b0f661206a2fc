//! Printing and parsing undo each other, on trees made at random.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use cute_runtime::ptx::*;

fn symbol() -> impl Strategy<Value = &'static str> {
    select(vec![
        "g",
        "$L__BB0_1",
        "_x",
        "generic",
        "ret",
        "function_name",
        "a1$",
    ])
}

fn register() -> impl Strategy<Value = Register<'static>> {
    let element = prop_oneof![4 => Just(None), 1 => select(vec!["x", "b0", "h1"]).prop_map(Some)];
    (select(vec!["%r1", "%rd22", "%p0"]), element)
        .prop_map(|(name, element)| Register { name, element })
}

fn immediate() -> impl Strategy<Value = Immediate> {
    let edge = select(vec![0u64, 1, 7, 1 << 63, u64::MAX, (1 << 63) - 1]);
    let bits = prop_oneof![edge, any::<u64>()];
    prop_oneof![
        // A signed minimum has no literal without its sign, and is printed with it.
        (bits, any::<bool>()).prop_map(|(bits, unsigned)| Immediate::Int { bits, unsigned }),
        any::<u32>().prop_map(Immediate::F32),
        any::<u64>().prop_map(Immediate::F64),
    ]
}

fn operand() -> impl Strategy<Value = Operand<'static>> {
    let special = select(vec![
        ("%tid", Some("x")),
        ("%laneid", None),
        ("%envreg31", None),
    ]);
    let leaf = prop_oneof![
        register().prop_map(Operand::Register),
        special.prop_map(|(name, element)| Operand::Special(Register { name, element })),
        immediate().prop_map(Operand::Immediate),
        (symbol(), any::<i64>()).prop_map(|(name, offset)| Operand::Symbol { name, offset }),
        register().prop_map(Operand::Not),
        Just(Operand::Discard),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let base = prop_oneof![
            register().prop_map(Base::Register),
            symbol().prop_map(Base::Symbol),
            any::<u64>().prop_map(Base::Absolute),
        ];
        let address = (base, any::<i64>(), vec(inner.clone(), 0..3));
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Operand::Vector),
            vec(inner, 0..4).prop_map(Operand::List),
            address.prop_map(|(base, offset, more)| Operand::Address(Address {
                base,
                offset,
                more
            })),
            (register(), register()).prop_map(|(a, b)| Operand::Pair(
                Box::new(Operand::Register(a)),
                Box::new(Operand::Register(b))
            )),
        ]
    })
}

fn instruction() -> impl Strategy<Value = Statement<'static>> {
    let guard = (any::<bool>(), select(vec!["%p1", "p"]))
        .prop_map(|(negated, register)| Guard { negated, register });
    let inlined = (symbol(), any::<u64>(), any::<u32>()).prop_map(|(name, at, n)| Inlined {
        function: (name, at),
        file: n,
        line: n / 3,
        column: 1,
    });
    let source = (any::<u32>(), any::<u32>(), proptest::option::of(inlined));
    // Every instruction has a place: there is no way back to none.
    (
        proptest::option::of(guard),
        select(vec!["mma", "ld", "generic"]),
        vec(select(vec!["b32", "2d", "shared::cta", "L2::128B"]), 0..4),
        vec(operand(), 0..4),
        source,
    )
        .prop_map(
            |(guard, opcode, modifiers, operands, (file, line, inlined))| {
                let source = Source {
                    file,
                    line,
                    column: 5,
                    inlined,
                    // In a comment, which stands where nothing else does.
                    called_from: match (inlined, line % 2) {
                        (None, 1) => "a b.cu:7:3",
                        _ => "",
                    },
                };
                Statement::Instruction(Instruction {
                    guard,
                    opcode,
                    modifiers,
                    operands,
                    source: Some(source),
                    line: TextLine(0),
                })
            },
        )
}

fn init() -> impl Strategy<Value = Init<'static>> {
    let mask = proptest::option::of(any::<u64>());
    let leaf = prop_oneof![
        immediate().prop_map(Init::Value),
        (symbol(), any::<i64>(), any::<bool>(), mask).prop_map(
            |(symbol, offset, generic, mask)| Init::Address {
                symbol,
                offset,
                generic,
                mask
            }
        ),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Init::List))
}

fn variable() -> impl Strategy<Value = Variable<'static>> {
    let ty = select(Type::ALL.map(|row| row.1).to_vec());
    let dims = vec(proptest::option::of(any::<u64>()), 0..3);
    let vector = select(vec![None, Some(2), Some(4), Some(8)]);
    let linkage = proptest::option::of(select(Linkage::ALL.map(|row| row.1).to_vec()));
    let align = proptest::option::of((0..31u32).prop_map(|bit| 1 << bit));
    (
        linkage,
        align,
        vector,
        ty,
        symbol(),
        dims,
        proptest::option::of(init()),
    )
        .prop_map(|(linkage, align, vector, ty, name, dims, init)| Variable {
            linkage,
            space: Space::Global,
            attributes: Vec::new(),
            align,
            vector,
            ty,
            name,
            dims,
            init,
            line: TextLine(0),
        })
}

fn statement() -> impl Strategy<Value = Statement<'static>> {
    let leaf = prop_oneof![
        4 => instruction(),
        1 => symbol().prop_map(Statement::Label),
        1 => variable().prop_map(Statement::Variable),
        1 => vec(symbol(), 1..4).prop_map(|targets| Statement::Targets { name: "t", calls: false, targets }),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        vec(inner, 0..4).prop_map(Statement::Scope)
    })
}

proptest! {
    #[test]
    fn a_tree_is_printed_and_parsed_back(
        body in vec(statement(), 0..8),
        globals in vec(variable().prop_map(Item::Variable), 0..3),
    ) {
        let mut items = globals;
        items.push(Item::Function(Function {
            linkage: None,
            is_entry: true,
            name: "k",
            returns: vec![],
            params: vec![],
            directives: vec![],
            body: Some(body),
        }));
        let module = Module { version: (8, 0), target: vec!["sm_80"], address_size: Some(64), items };
        let printed = module.to_string();
        let parsed = parse(&printed);
        prop_assert_eq!(parsed.as_ref(), Ok(&module), "{}", printed);
    }

    #[test]
    fn random_text_never_panics(text in ".{0,200}", body in "[ -~\n]{0,200}") {
        let _ = parse(&text);
        let _ = parse(&format!(".version 8.0 .target sm_80 .entry k() {{ {body}"));
    }
}

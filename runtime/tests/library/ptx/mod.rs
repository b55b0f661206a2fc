use cute_runtime::ptx::*;

mod bad;
mod property;

/// A module with every construct.
pub const SAMPLE: &str = r#"
// A comment, and /* another */
.version 8.7
.target sm_90a, debug
.address_size 64
.file 1 "a \"b\".mlir", 17, 0x20
.pragma "one", "two";
.extern .shared .align 1024 .b8 dynamic_smem[];
.visible .global .attribute(.managed, .unified(19, 95)) .align 16 .v4 .f32 g[2][3] = {{0f3F800000, -1.5}, {0d3FF0000000000000}};
.const .b8 text[4] = {0x68, 0b1101001, 0, 012};
.global .u64 pointer[3] = {g, generic(g)+8, 0xFF00(generic(text))};
.global .b32 first, second = -7;
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.extern .func __assertfail(.param .b64 message) .noreturn;
.weak .func (.reg .f32 out) half(.reg .f32 in) { mul.f32 out, in, 0f3F000000; ret; }
.alias twin, half;
.visible .entry kernel(
  .param .u64 .ptr .global .align 16 kernel_param_0,
  .param .align 64 .b8 kernel_param_1[128],
  .param .u64 .ptr .align 1 kernel_param_2
)
.reqntid 64, 1, 1
.minnctapersm 1
.maxnreg 128
.explicitcluster
.reqnctapercluster 2
.pragma "nounroll";
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>, plain;
  .reg .v2 .b64 %rd<4>;
  .local .align 8 .b8 __local_depot0[16];
  mov.u32 %r0, %tid.x;
  .loc 1 12 3
$L__BB0_1:
  @!%p1 bra $L__BB0_1;
  .loc 1 13 5, function_name $L__info_string0+4, inlined_at 1 20 7
  setp.lt.and.s32 %p1|%p2, %r1, -8, !%p0;
  ld.global.nc.L2::128B.v4.b32 {%r1, %r2, _, %r4}, [%rd1+-16];
  st.shared::cta.b32 [dynamic_smem+4], 0xFFFFFFFFFFFFFFFF;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r3, 0}], [%r5];
  {
    .param .b64 param0;
    st.param.b64 [param0], 1U;
    call.uni (retval0), vprintf, (param0, param0);
    prototype_0: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
    call (retval0), %rd1, (param0), prototype_0;
  }
  $L_brx_0: .branchtargets $L__BB0_1, $L__BB0_2;
  brx.idx %r1, $L_brx_0;
$L__BB0_2:
  mov.b64 %rd1, g+8;
  mov.f32 plain, %rd1.x;
  ld.b32 %r1, [16];
  made.up.instruction %r1;
  ret;
}
.section .debug_str
{
$L__info_string0:
.b8 67 // }
}
"#;

fn function<'a>(module: &'a Module<'a>, name: &str) -> &'a Function<'a> {
    let found = module.items.iter().find_map(|item| match item {
        Item::Function(function) if function.name == name => Some(function),
        _ => None,
    });
    found.unwrap()
}

/// The only instruction of a kernel.
fn with_instruction<T>(text: &str, check: impl FnOnce(&Instruction<'_>) -> T) -> T {
    let text = format!(".version 8.0 .target sm_80 .entry k() {{ {text} }}");
    let module = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    check(function(&module, "k").instructions()[0])
}

#[test]
fn what_is_printed_is_what_was_parsed() {
    let module = parse(SAMPLE).unwrap();
    let printed = module.to_string();
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
    assert_eq!(again, module);
    assert_eq!(again.to_string(), printed);
}

#[test]
fn heads_are_read() {
    let module = parse(SAMPLE).unwrap();
    assert_eq!(module.version, (8, 7));
    assert_eq!(module.target, ["sm_90a", "debug"]);
    assert_eq!(module.address_size, Some(64));
    let Item::File(file) = &module.items[0] else {
        panic!("{:?}", module.items[0])
    };
    assert_eq!((file.index, file.stamp), (1, Some((17, 32))));
    let kernel = module.items.iter().find_map(|item| match item {
        Item::Function(function) if function.is_entry => Some(function),
        _ => None,
    });
    let kernel = kernel.unwrap();
    assert_eq!(kernel.linkage, Some(Linkage::Visible));
    let pointer = kernel.params[0].pointer.unwrap();
    assert_eq!(
        (pointer.space, pointer.align),
        (Some(Space::Global), Some(16))
    );
    assert_eq!(kernel.params[1].dims, [Some(128)]);
    assert_eq!(kernel.params[1].align, Some(64));
    assert_eq!(kernel.params[2].pointer.unwrap().space, None);
    assert_eq!(
        kernel.directives[0],
        Directive::Limit {
            name: "reqntid",
            values: vec![64, 1, 1]
        }
    );
    assert_eq!(kernel.directives.len(), 6);
    let last = module.items.last().unwrap();
    assert!(
        matches!(last, Item::Section { name: "debug_str", text } if text.ends_with(".b8 67 // }"))
    );
}

#[test]
fn initial_values_are_read() {
    let module = parse(SAMPLE).unwrap();
    let init = |wanted: &str| {
        let found = module.items.iter().find_map(|item| match item {
            Item::Variable(variable) if variable.name == wanted => variable.init.clone(),
            _ => None,
        });
        found.unwrap()
    };
    let int = |bits| {
        Init::Value(Immediate::Int {
            bits,
            unsigned: false,
        })
    };
    assert_eq!(
        init("text"),
        Init::List(vec![int(104), int(105), int(0), int(10)])
    );
    assert_eq!(init("second"), int(7u64.wrapping_neg()));
    let address = |symbol, offset, generic, mask| Init::Address {
        symbol,
        offset,
        generic,
        mask,
    };
    assert_eq!(
        init("pointer"),
        Init::List(vec![
            address("g", 0, false, None),
            address("g", 8, true, None),
            address("text", 0, true, Some(0xff00)),
        ])
    );
    let Init::List(rows) = init("g") else {
        panic!()
    };
    let one = Init::Value(Immediate::F32(1f32.to_bits()));
    let less = Init::Value(Immediate::F64((-1.5f64).to_bits()));
    assert_eq!(rows[0], Init::List(vec![one, less]));
}

#[test]
fn each_instruction_knows_where_it_is_from() {
    let module = parse(SAMPLE).unwrap();
    let all = function(&module, "kernel").instructions();
    let place = |i: usize| all[i].source.map(|s| (s.file, s.line, s.column));
    assert_eq!(place(0), None);
    assert_eq!(place(1), Some((1, 12, 3)));
    assert_eq!(place(2), Some((1, 13, 5)));
    let inlined = all[2].source.unwrap().inlined.unwrap();
    assert_eq!(inlined.function, ("$L__info_string0", 4));
    assert_eq!((inlined.line, inlined.column), (20, 7));
    let line = SAMPLE.lines().position(|l| l.contains("%tid.x")).unwrap() as u32;
    assert_eq!(all[0].line.0, line + 1);
}

#[test]
fn operands_are_read() {
    let plain = |name| Register {
        name,
        element: None,
    };
    with_instruction("mov.u32 %r1, %tid.x;", |i| {
        assert_eq!((i.opcode, &i.modifiers[..]), ("mov", &["u32"][..]));
        assert_eq!(i.operands[0], Operand::Register(plain("%r1")));
        let x = Register {
            name: "%tid",
            element: Some("x"),
        };
        assert_eq!(i.operands[1], Operand::Special(x));
    });
    with_instruction("@!%p2 mma.sync.aligned.m16n8k16 {%a, _}, !%p, g-4;", |i| {
        assert_eq!(
            i.guard,
            Some(Guard {
                negated: true,
                register: "%p2"
            })
        );
        assert_eq!(i.modifiers, ["sync", "aligned", "m16n8k16"]);
        let vector = vec![Operand::Register(plain("%a")), Operand::Discard];
        assert_eq!(i.operands[0], Operand::Vector(vector));
        assert_eq!(i.operands[1], Operand::Not(plain("%p")));
        assert_eq!(
            i.operands[2],
            Operand::Symbol {
                name: "g",
                offset: -4
            }
        );
    });
    for (text, base, offset) in [
        ("[%r1+-8]", Base::Register(plain("%r1")), -8),
        ("[%r1-8]", Base::Register(plain("%r1")), -8),
        ("[name + 0x10]", Base::Symbol("name"), 16),
        ("[32]", Base::Absolute(32), 0),
    ] {
        with_instruction(&format!("x {text};"), |i| {
            let Operand::Address(address) = &i.operands[0] else {
                panic!("{i:?}")
            };
            assert_eq!((address.base, address.offset), (base, offset), "{text}");
        });
    }
}

#[test]
fn constant_expressions_are_evaluated() {
    // As ptxas does it, which has no operators of modulo by sign and shifts by the lowest six bits.
    for (text, expected) in [
        ("1<<4", 16),
        ("3 + 4*2", 11),
        ("(1+2)*3", 9),
        ("~0", -1),
        ("-(-5)", 5),
        ("- -5", 5),
        ("+5", 5),
        ("-7/2", -3),
        ("-8 % 3", 2),
        ("-7U/2", i64::MAX - 3),
        ("-1>>1", -1),
        ("0xFFFFFFFFFFFFFFFF>>1", i64::MAX),
        ("(0-1)>>1U", -1),
        ("1<<64", 1),
        ("-1>1U", 1),
        ("0-1<2", 1),
        ("0x10|1^3", 18),
        ("6&3==3", 0),
        ("5>2?10:20", 10),
        ("1?2:3?4:5", 2),
        ("!5", 0),
        ("5&&0 || 2", 1),
        ("(.s64)7 - (.u64) 8", -1),
        ("WARP_SZ*2", 64),
        ("8-4-2", 2),
        ("2*3<<1+1", 24),
    ] {
        let int = |operand: &Operand<'_>| match operand {
            Operand::Immediate(Immediate::Int { bits, .. }) => bits.cast_signed(),
            other => panic!("{text}: {other:?}"),
        };
        let checks = format!("mov.u64 %a, {text};");
        with_instruction(&checks, |found| {
            assert_eq!(int(&found.operands[1]), expected, "{text}")
        });
        with_instruction(&format!("ld.u64 %a, [s+{text}];"), |found| {
            match &found.operands[1] {
                Operand::Address(address) => assert_eq!(address.offset, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        });
        let module = format!(".version 8.0\n.target sm_80\n.global .u64 x = {text};");
        let parsed = parse(&module).unwrap();
        let Item::Variable(variable) = &parsed.items[0] else {
            panic!("{text}")
        };
        let Some(Init::Value(Immediate::Int { bits, .. })) = variable.init else {
            panic!("{text}")
        };
        assert_eq!(bits.cast_signed(), expected, "{text}");
    }
    with_instruction("mov.f32 %a, -(1.5+2.5);", |found| {
        assert_eq!(
            found.operands[1],
            Operand::Immediate(Immediate::F64((-4f64).to_bits()))
        );
    });
    with_instruction("call f, (3);", |found| {
        assert!(matches!(&found.operands[1], Operand::List(items) if items.len() == 1));
    });
    for (text, says) in [
        ("1/0", "a divisor that is not 0"),
        ("1.5<<2", "two integers"),
        ("1+%r1", "a number"),
        ("(1+2", "`)`"),
    ] {
        let error = parse(&format!(
            ".version 8.0\n.target sm_80\n.entry k() {{ mov.u64 %a, {text}; }}"
        ))
        .unwrap_err();
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

#[test]
fn numbers_are_read() {
    let int = |bits: i64, unsigned| Immediate::Int {
        bits: bits.cast_unsigned(),
        unsigned,
    };
    for (text, value) in [
        ("0", int(0, false)),
        ("-1", int(-1, false)),
        ("0x1F", int(31, false)),
        ("017", int(15, false)),
        ("0b101U", int(5, true)),
        ("9223372036854775808", int(i64::MIN, true)),
        ("-9223372036854775808", int(i64::MIN, false)),
        ("18446744073709551615", int(-1, true)),
        ("0f7F800000", Immediate::F32(f32::INFINITY.to_bits())),
        ("-0f3F800000", Immediate::F32((-1f32).to_bits())),
        ("0dbff0000000000000", Immediate::F64((-1f64).to_bits())),
        ("1.5e-3", Immediate::F64(1.5e-3f64.to_bits())),
        ("2e+2", Immediate::F64(200f64.to_bits())),
    ] {
        with_instruction(&format!("x {text};"), |i| {
            assert_eq!(i.operands, [Operand::Immediate(value)], "{text}");
        });
    }
}

#[test]
fn instructions_are_counted_by_kind() {
    let mix_of = |text: &str| {
        let text = format!(".version 8.0 .target sm_80 .entry k() {{ {text} }}");
        let module = parse(&text).unwrap();
        let Item::Function(function) = &module.items[0] else {
            panic!()
        };
        Mix::of(function)
    };
    let mix = mix_of(
        "ld.global.nc.v4.b32 {%a, %b, %c, %d}, [%e]; ld.global.v2.b64 {%a, %b}, [%e]; ld.global.u8 %a, [%e];
         st.global.f32 [%e], %a; ld.shared::cta.v2.f16 {%a, %b}, [%e]; st.shared.b128 [%e], %a; ld.param.b64 %a, [p];
         { mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %a; wgmma.mma_async.sync %a; }
         wgmma.fence.sync; wgmma.commit_group.sync; bar.sync 0; cp.async.commit_group; cp.async.wait_group 1; mbarrier.init.b64 [a], 1;
         cp.async.cg.shared.global [%a], [%b], 16; cp.async.bulk.tensor.2d.shared::cluster.global.tile [%a], [%b, {%c, %d}], [%e];
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a, %b, %c, %d}, [%e];
         add.s32 %a, %b, 1; setp.lt.s32 %p, %a, 1; shl.b32 %a, %a, 1; cvt.u64.u32 %a, %b;
         add.f32 %a, %b, %c; cvt.rn.f16x2.f32 %a, %b, %c; cvt.rn.satfinite.e4m3x2.f32 %a, %b, %c;
         bra L; L: ret; mov.b32 %a, %b; unheard.of %a;",
    );
    let expected = Mix {
        mma: 2,
        ldmatrix: 1,
        cp_async: 2,
        global_loads: [(16, 2), (1, 1)].into(),
        global_stores: [(4, 1)].into(),
        shared_loads: [(4, 1)].into(),
        shared_stores: [(16, 1)].into(),
        barriers: 6,
        integer: 4,
        floating_point: 3,
        control: 2,
        other: 3,
    };
    assert_eq!(mix, expected);
    assert_eq!(mix.total(), 29);
}

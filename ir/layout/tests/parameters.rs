//! Parameters in texts: before their values are known, and with these.

use cute_layout::parameter::{Parameter, evaluate};
use cute_layout::{IntTuple, Kind, Layout, Tile};

fn known(name: &str) -> Result<Parameter, String> {
    Ok(match name {
        "D" => Parameter::Integer(128),
        "M" => Parameter::Integer(7),
        "L" => Parameter::Layout(Layout::parse("(4,8):(8,1)").unwrap()),
        "T" => Parameter::Tile(Tile::parse("[4:1;_]").unwrap()),
        "U" => Parameter::Unknown,
        _ => return Err(format!("expected a parameter, found {name}")),
    })
}

#[test]
fn expressions_have_values() {
    for (text, expected) in [
        ("D", Some(128)),
        (" ( D + M ) * 2", Some(270)),
        ("D / 4 - M % 4", Some(29)),
        ("-M % 4", Some(1)),
        ("ceil_div(M, 2)", Some(4)),
        ("min(M, D) + max(M, D)", Some(135)),
        ("U * 3", None),
    ] {
        assert_eq!(evaluate(text, &known), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_integer_is_an_error() {
    for (text, expected) in [
        (
            "M / 2",
            "expected a multiple of 2, found 7; ceil_div(7,2) rounds up",
        ),
        ("D / (M - M)", "expected a divisor of at least 1, found 0"),
        ("9223372036854775807 + M", "found an overflow"),
        (
            "D +",
            "expected an integer, a parameter or `(`, found the end",
        ),
        ("(D", "expected an operator or `)`, found the end"),
        ("E", "expected a parameter, found E"),
        ("L + 1", "which is the layout (4,8):(8,1)"),
    ] {
        let said = evaluate(text, &known).unwrap_err().to_string();
        assert!(said.contains(expected), "{text}: {said}");
    }
    let deep = "(".repeat(100) + "D" + &")".repeat(100);
    assert!(evaluate(&deep, &known).is_err());
}

#[test]
fn parameters_stand_in_texts() {
    let layout = |text: &str| Layout::parse_with(text, &known).map(|l| l.to_string());
    assert_eq!(layout("($M,64):(64,1)").unwrap(), "(7,64):(64,1)");
    assert_eq!(
        layout("($(D/4),?{div=$D})").unwrap(),
        "(32,?{div=128}):(1,32)"
    );
    assert_eq!(layout("$L").unwrap(), "(4,8):(8,1)");
    assert_eq!(layout("$M").unwrap(), "7:1");
    assert!(layout("$T").unwrap_err().to_string().contains("tile"));
    assert!(layout("($(M-7),2):(1,2)").is_err());
    let tile = |text: &str| Tile::parse_with(text, &known).map(|t| t.to_string());
    assert_eq!(tile("[$D:1;$L]").unwrap(), "[128:1;(4,8):(8,1)]");
    assert_eq!(tile("$T").unwrap(), "[4:1;_]");
    let tuple = |text: &str| IntTuple::parse_with(text, Kind::Stride, &known);
    assert_eq!(tuple("($D@0,1@1)").unwrap().to_string(), "(128@0,1@1)");
    // Of what is not known yet, the form is checked.
    assert!(layout("($U,64):(64,1)").is_ok());
    assert!(layout("($U,64):(64,1,1)").is_err());
    assert!(Layout::parse("$M").is_err());
}

//! The words of errors.

use cute_layout::LayoutError;

#[test]
fn the_cure_is_for_what_is_dynamic() {
    const RUN_TIME: &str = "make the `?` leaves static";
    const SYMBOLS: &str = "give the symbols values (as in `M == 64`)";
    for (found, cure) in [
        ("(?,4):(1,?{i64 div=8})", RUN_TIME.to_string()),
        ("S<3,4,3> o 0 o (?,8):(8,1)", RUN_TIME.to_string()),
        ("(4,_)", "make every leaf an integer".to_string()),
        ("(M,4):(1,M)", SYMBOLS.to_string()),
        ("S:1", SYMBOLS.to_string()),
        ("S<3,4,3> o 0 o (tile_k,8):(8,1)", SYMBOLS.to_string()),
        ("?{div=4}:K", format!("{RUN_TIME} and {SYMBOLS}")),
    ] {
        let error = LayoutError::Dynamic {
            op: "cosize",
            found: found.to_string(),
        };
        let text = format!(
            "`cosize` expected static integers, found {found}; {cure} or apply `cosize` to a static mode"
        );
        assert_eq!(error.to_string(), text);
    }
}

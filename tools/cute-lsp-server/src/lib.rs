//! `cute-lsp-server`: MLIR's own language server with the cute dialects, what `cute-report` and the reference say on hover, hints of types
//! that are left out, and an action that mends wrong types.
//!
//! MLIR's server has no hook for these, so this is a proxy around it: MLIR's server runs as a child of the same program, every
//! message passes through as it is, the answers to `textDocument/hover` get the report's lines and the op's documentation, those to
//! `textDocument/inlayHint` the hints, and those to `textDocument/codeAction` what a diagnostic names, and the action. What needs the document parsed is made by children
//! too, so that no document can take the server down or hold it up.

mod actions;
mod child;
mod cures;
mod definition;
mod docs;
mod documents;
mod framing;
mod hints;
mod hover;
mod picture;
mod proxy;

/// The name of the program.
pub const NAME: &str = "cute-lsp-server";

/// The argument of a child begins so.
const CHILD: &str = "--cute-child=";
// What a child is.
const SERVER: &str = "--cute-child=server";
const REPORT: &str = "--cute-child=report";
const MEND: &str = "--cute-child=mend";
const HINTS: &str = "--cute-child=hints";
const PICTURE: &str = "--cute-child=picture";

/// Tells whether a program with these arguments is the server, or a child of it: by its own name, or by the first argument of children.
pub fn is_meant(arguments: &[String]) -> bool {
    let program = arguments.first().map(std::path::Path::new);
    let name = program.and_then(std::path::Path::file_name);
    name.is_some_and(|name| name == NAME)
        || arguments.get(1).is_some_and(|one| one.starts_with(CHILD))
}

/// Runs the server, or what a child of it does, and returns the exit status.
pub fn run(mut arguments: Vec<String>) -> i32 {
    let file = arguments.get(2).cloned().unwrap_or_default();
    match arguments.get(1).map(String::as_str) {
        Some(SERVER) => {
            arguments.remove(1);
            cute_lowering::initialize();
            cute_ir::lsp_server_main(arguments)
        }
        Some(REPORT) => {
            cute_lowering::initialize();
            hover::report_on_stdin(&file)
        }
        Some(MEND) => {
            cute_lowering::initialize();
            actions::mend_stdin(&file)
        }
        Some(HINTS) => {
            cute_lowering::initialize();
            hints::hints_on_stdin(&file)
        }
        Some(PICTURE) => {
            cute_lowering::initialize();
            picture::picture_on_stdin()
        }
        _ => proxy::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::is_meant;

    #[test]
    fn one_binary_acts_by_its_name() {
        let of = |text: &str| is_meant(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(of("cute-lsp-server") && of("/somewhere/cute-lsp-server --log=verbose"));
        assert!(of("/somewhere/cute-opt --cute-child=hints"));
        assert!(!of("cute-opt a.mlir") && !of("/cute-lsp-server/cute-opt --help"));
    }
}

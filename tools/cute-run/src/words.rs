//! Errors of the runtime in the words of the command line.

use cute_runtime::PackageError;
use cute_runtime::call::CallError;
use cute_runtime::device::DeviceError;
use cute_runtime::emulator::{Finding, Kind};
use cute_runtime::tensor::{ArgError, Statement};
use cute_runtime::verify::VerifyError;

/// The text of an error and of those it is from.
pub fn text(error: &anyhow::Error) -> String {
    let parts: Vec<String> = error.chain().map(part).collect();
    parts.join(": ")
}

fn part(error: &(dyn std::error::Error + 'static)) -> String {
    let plain = || error.to_string();
    if let Some(error) = error.downcast_ref::<DeviceError>() {
        return device(error);
    }
    match error.downcast_ref::<CallError>() {
        Some(CallError::Device(error)) => return device(error),
        Some(CallError::Facts(error)) => return argument(error),
        _ => {}
    }
    if let Some(error) = error.downcast_ref::<ArgError>() {
        return argument(error);
    }
    if let Some(error) = error.downcast_ref::<VerifyError>() {
        return verification(error);
    }
    match error.downcast_ref::<PackageError>() {
        Some(PackageError::Function { expected, found }) => {
            format!("expected {expected}, found {found}; name one with --function")
        }
        _ => plain(),
    }
}

fn verification(error: &VerifyError) -> String {
    match error {
        VerifyError::NoMeaning(function) => format!(
            "function {function} does not say what it computes, so its result cannot be verified; compare outputs with files \
             (--expect NAME=reference.npy), or pass --no-verify"
        ),
        VerifyError::Lost(_) | VerifyError::LostInPart(_) => {
            format!("{error} (--expect NAME=reference.npy), or pass --no-verify")
        }
        VerifyError::Args(error) => argument(error),
        VerifyError::Element(_) | VerifyError::NoBefore(_) | VerifyError::NoWorkspace(_) => {
            error.to_string()
        }
        VerifyError::Factor { .. }
        | VerifyError::Undecided(_)
        | VerifyError::TooLarge(_)
        | VerifyError::Prologue { .. }
        | VerifyError::NotFinite { .. }
        | VerifyError::Unwritten(_)
        | VerifyError::Overflow { .. } => format!("{error}, or pass --no-verify"),
    }
}

/// Names the option by which a limit is raised in the findings that are about it.
pub fn findings(all: &mut [Finding]) {
    let late = all.iter_mut();
    for finding in late.filter(|finding| finding.kind == Kind::InstructionLimit) {
        finding.message += " by --max-instructions=N";
    }
}

/// The text of an error of a device.
pub fn device(error: &DeviceError) -> String {
    match error {
        DeviceError::NoDriver => "no CUDA driver found (libcuda.so.1); install an NVIDIA driver, or run on a machine that has one; \
                                  `cute-run --device=emulator` runs a package without a GPU"
            .to_owned(),
        DeviceError::Args(error) => argument(error),
        DeviceError::Findings(found) => {
            let mut found = found.clone();
            findings(&mut found);
            DeviceError::Findings(found).to_string()
        }
        DeviceError::Select(select) => match select.arch() {
            Some(arch) => format!("{select}: cute-opt --cute-compile=\"arch={arch}\""),
            None => select.to_string(),
        },
        other => other.to_string(),
    }
}

fn argument(error: &ArgError) -> String {
    let ArgError::Missing {
        name,
        what,
        statement,
    } = error
    else {
        return error.to_string();
    };
    let cure = match statement {
        Statement::Value => "give one, as --set NAME=VALUE does",
        Statement::Shape => "give one, as --shape NAME=64x32, --layout or --input of a file do",
    };
    format!("argument {name}: expected {what}, which the package leaves open; {cure}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn options_are_named_in_errors_of_any_depth() {
        let missing = ArgError::Missing {
            name: "x".into(),
            what: "a value of type f32".into(),
            statement: Statement::Value,
        };
        let error = anyhow::Error::from(DeviceError::Args(missing)).context("a.cutepkg");
        assert_eq!(
            text(&error),
            "a.cutepkg: argument x: expected a value of type f32, which the package leaves open; give one, as --set NAME=VALUE does"
        );
        let function = PackageError::Function {
            expected: "exactly one function".into(),
            found: "`f`, `g`".into(),
        };
        let error = Err::<(), _>(function).context("b.cutepkg").unwrap_err();
        assert!(text(&error).ends_with("found `f`, `g`; name one with --function"));
        let error = anyhow::Error::from(DeviceError::NoDriver);
        assert!(text(&error).contains("cute-run --device=emulator"));
        let package = cute_runtime::Package::builder("test").build().unwrap();
        let select = cute_runtime::device::select(&package, (9, 0), "H100").unwrap_err();
        let error = anyhow::Error::from(DeviceError::Select(select));
        assert!(text(&error).ends_with(
            "compile the package for sm_90a, too: cute-opt --cute-compile=\"arch=sm_90a\""
        ));
    }

    #[test]
    fn what_cannot_be_verified_names_its_options() {
        for (error, end) in [
            (
                VerifyError::NoMeaning("f".into()),
                "compare outputs with files (--expect NAME=reference.npy), or pass --no-verify",
            ),
            (
                VerifyError::Lost("C".into()),
                "or compare it with a result of your own (--expect NAME=reference.npy), or pass --no-verify",
            ),
            (
                VerifyError::TooLarge("C".into()),
                "verify a smaller one, or pass --no-verify",
            ),
            (
                VerifyError::Undecided("C".into()),
                "scale the inputs down, or pass --no-verify",
            ),
            (
                VerifyError::NoBefore("C".into()),
                "pass them to verify_from",
            ),
        ] {
            let own = error.to_string();
            assert!(!own.contains("--"), "{own}");
            let said = text(&anyhow::Error::from(error));
            assert!(said.ends_with(end), "{said}");
        }
    }
}

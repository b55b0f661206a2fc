//! Errors of the runtime in the words of the command line.

use cute_runtime::PackageError;
use cute_runtime::call::CallError;
use cute_runtime::device::DeviceError;
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
    if let Some(VerifyError::NoMeaning(function)) = error.downcast_ref::<VerifyError>() {
        return format!(
            "function {function} does not say what it computes, so its result cannot be verified; compare outputs with files \
             (--expect NAME=reference.npy), or pass --no-verify"
        );
    }
    match error.downcast_ref::<PackageError>() {
        Some(PackageError::Function { expected, found }) => {
            format!("expected {expected}, found {found}; name one with --function")
        }
        _ => plain(),
    }
}

/// The text of an error of a device.
pub fn device(error: &DeviceError) -> String {
    match error {
        DeviceError::NoDriver => "no CUDA driver found (libcuda.so.1); install an NVIDIA driver, or run on a machine that has one; \
                                  `cute-run --device=emulator` runs a package without a GPU"
            .to_owned(),
        DeviceError::Args(error) => argument(error),
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
    }
}

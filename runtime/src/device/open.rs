//! The choice of the device that a program runs on: a GPU, the emulator, or the one that there is.

use std::fmt;
use std::str::FromStr;

use super::{Device, DeviceError};
use crate::cuda::CudaDevice;
use crate::emulator::{self, Emulator};

/// The device to open. As text: `auto`, `cuda`, `cuda:N`, `N`, `emulator`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The first GPU; the emulator where there is no driver or no GPU.
    #[default]
    Auto,
    /// A GPU, as the driver numbers them.
    Cuda(u32),
    /// PTX on the CPU ([`crate::emulator`]).
    Emulator,
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected auto, cuda, cuda:N with the number of a GPU, or emulator; found `{0}`")]
pub struct ChoiceError(String);

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Choice, ChoiceError> {
        let number = |digits: &str| {
            // `parse` alone would take a sign.
            let digits = Some(digits).filter(|d| d.starts_with(|c: char| c.is_ascii_digit()));
            let number = digits.and_then(|digits| digits.parse().ok());
            number.ok_or_else(|| ChoiceError(text.to_string()))
        };
        match text {
            "auto" => Ok(Choice::Auto),
            "cuda" => Ok(Choice::Cuda(0)),
            "emulator" => Ok(Choice::Emulator),
            _ => number(text.strip_prefix("cuda:").unwrap_or(text)).map(Choice::Cuda),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => write!(f, "auto"),
            Choice::Cuda(number) => write!(f, "cuda:{number}"),
            Choice::Emulator => write!(f, "emulator"),
        }
    }
}

/// A device, and why it is not a GPU where a GPU would have been taken.
pub struct Opened {
    /// The device that was opened.
    pub device: Box<dyn Device>,
    /// [`DeviceError::NoDriver`] or [`DeviceError::NoGpu`], for [`Choice::Auto`].
    pub no_gpu: Option<DeviceError>,
}

/// Opens a device. The configuration is that of the emulator, if it is the emulator.
///
/// ```
/// use cute_runtime::device::{Choice, open};
/// use cute_runtime::emulator::Config;
///
/// let opened = open(Choice::Emulator, Config { seed: 7, ..Config::default() })?;
/// assert_eq!(opened.device.info().name, "emulator");
/// # Ok::<(), cute_runtime::device::DeviceError>(())
/// ```
///
/// # Errors
/// As [`CudaDevice::open`]; with [`Choice::Auto`] only what is wrong with a GPU that is there.
pub fn open(choice: Choice, config: emulator::Config) -> Result<Opened, DeviceError> {
    let emulated = |no_gpu| Opened {
        device: Box::new(Emulator::new(config)),
        no_gpu,
    };
    let number = match choice {
        Choice::Emulator => return Ok(emulated(None)),
        Choice::Cuda(number) => number,
        Choice::Auto => 0,
    };
    match CudaDevice::open(number) {
        Ok(device) => Ok(Opened {
            device: Box::new(device),
            no_gpu: None,
        }),
        Err(error @ (DeviceError::NoDriver | DeviceError::NoGpu(_))) if choice == Choice::Auto => {
            Ok(emulated(Some(error)))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written() {
        for (text, choice, written) in [
            ("auto", Choice::Auto, "auto"),
            ("cuda", Choice::Cuda(0), "cuda:0"),
            ("cuda:3", Choice::Cuda(3), "cuda:3"),
            ("2", Choice::Cuda(2), "cuda:2"),
            ("emulator", Choice::Emulator, "emulator"),
        ] {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), written);
        }
        for bad in [
            "",
            "gpu",
            "cuda:",
            "cuda:x",
            "cuda:-1",
            "+1",
            "emulator:0",
            "4294967296",
        ] {
            let error = bad.parse::<Choice>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found `{bad}`")), "{error}");
        }
    }
}

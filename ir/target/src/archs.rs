//! Several architectures that one thing is compiled for.

use crate::{Arch, Requirement};
use std::fmt;

/// The architectures that one thing is compiled for: one at least, each once. The first is the one that choices are made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archs {
    first: Arch,
    others: Vec<Arch>,
}

impl Archs {
    /// Reads names that are separated by commas, such as `sm_80,sm_90a`.
    ///
    /// # Errors
    /// A name of none, and one that stands there twice.
    pub fn find(names: &str) -> Result<Archs, String> {
        let mut all: Vec<Arch> = Vec::new();
        for name in names.split(',') {
            let arch = Arch::find(name.trim()).map_err(|error| error.to_string())?;
            if all.contains(&arch) {
                return Err(format!(
                    "expected each architecture once, found {arch} twice"
                ));
            }
            all.push(arch);
        }
        let mut all = all.into_iter();
        let first = all.next().ok_or("expected an architecture")?;
        let others = all.collect();
        Ok(Archs { first, others })
    }

    /// The first one.
    pub fn first(&self) -> Arch {
        self.first
    }

    /// All of them, in their order.
    pub fn all(&self) -> impl Iterator<Item = Arch> + '_ {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// The first one that lacks what only some have.
    pub fn lacking(&self, requirement: Requirement) -> Option<Arch> {
        self.all().find(|arch| !arch.has(requirement))
    }
}

impl From<Arch> for Archs {
    fn from(first: Arch) -> Archs {
        let others = Vec::new();
        Archs { first, others }
    }
}

impl fmt::Display for Archs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.others.iter().try_for_each(|arch| write!(f, ",{arch}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let archs = Archs::find("sm_90a, sm_80").unwrap();
        assert_eq!(archs.to_string(), "sm_90a,sm_80");
        assert_eq!(Archs::find(&archs.to_string()), Ok(archs.clone()));
        assert_eq!(archs.first().to_string(), "sm_90a");
        assert_eq!(archs.all().count(), 2);
        assert_eq!(archs.lacking(Requirement::Since(8, 9)), archs.all().nth(1));
        assert_eq!(archs.lacking(Requirement::Since(8, 0)), None);
        let one = Archs::from(archs.first());
        assert_eq!(one.to_string(), "sm_90a");
        for (wrong, says) in [
            ("", "no architecture"),
            ("sm_80,", "no architecture"),
            ("sm_80,sm_12", "sm_12"),
            ("sm_80,sm_90,sm_80", "sm_80 twice"),
        ] {
            let error = Archs::find(wrong).unwrap_err();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }
}

//! The architectures on which an instruction exists.

use std::fmt;

use crate::arch::{Arch, Features};

/// The architectures that have an instruction, as the PTX ISA says it under "Target ISA Notes".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// A compute capability, major and minor, and every later one.
    Since(u32, u32),
    /// The architecture-specific target of exactly this compute capability: `sm_90a` has what neither `sm_90` nor any
    /// later target has.
    Specific(u32, u32),
    /// The family-specific target of this compute capability, and the family-specific and architecture-specific targets of
    /// the same and later ones of its family: of `sm_120f` also `sm_120a`, `sm_121f` and `sm_121a`.
    Family(u32, u32),
    /// The architecture-specific and family-specific targets of this compute capability and of all later ones: `sm_90a`, `sm_100f`, `sm_120a`, but not `sm_90` or `sm_120`.
    Accelerated(u32, u32),
}

impl Requirement {
    /// The architectures that are compiled for and have it, the oldest first.
    pub fn archs(self) -> impl Iterator<Item = Arch> {
        Arch::all().filter(move |arch| arch.has(self))
    }
}

impl Arch {
    /// Tells whether the architecture has what requires this.
    pub fn has(self, requirement: Requirement) -> bool {
        let capability = (self.major, self.minor);
        match requirement {
            Requirement::Since(major, minor) => capability >= (major, minor),
            Requirement::Specific(major, minor) => {
                self.features == Features::Specific && capability == (major, minor)
            }
            Requirement::Family(major, minor) => {
                self.features != Features::Baseline && self.major == major && self.minor >= minor
            }
            Requirement::Accelerated(major, minor) => {
                self.features != Features::Baseline && capability >= (major, minor)
            }
        }
    }
}

/// `sm_80 and later`, `sm_90a alone`, `sm_120a, sm_120f, sm_121a, sm_121f alone`.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Requirement::Since(major, minor) => write!(f, "sm_{major}{minor} and later"),
            Requirement::Specific(major, minor) => write!(f, "sm_{major}{minor}a alone"),
            Requirement::Family(..) | Requirement::Accelerated(..) => {
                let archs: Vec<String> = self.archs().map(|arch| arch.to_string()).collect();
                write!(f, "{} alone", archs.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(requirement: Requirement) -> Vec<String> {
        requirement.archs().map(|arch| arch.to_string()).collect()
    }

    #[test]
    fn later_chips_have_what_came_before_them() {
        let since = names(Requirement::Since(8, 9));
        assert_eq!(since[..3], ["sm_89", "sm_90", "sm_90a"]);
        assert!(since.contains(&"sm_121f".to_owned()));
        assert_eq!(
            Requirement::Since(7, 5).archs().count(),
            Arch::all().count()
        );
    }

    #[test]
    fn accelerated_features_are_of_no_baseline() {
        let found = names(Requirement::Accelerated(9, 0));
        assert_eq!(found[0], "sm_90a");
        assert!(found.contains(&"sm_120a".to_owned()) && found.contains(&"sm_100f".to_owned()));
        assert!(
            found.iter().all(|name| name.ends_with(['a', 'f'])),
            "{found:?}"
        );
    }

    #[test]
    fn specific_features_are_of_one_target() {
        assert_eq!(names(Requirement::Specific(9, 0)), ["sm_90a"]);
        assert_eq!(names(Requirement::Specific(10, 0)), ["sm_100a"]);
        assert_eq!(Requirement::Specific(9, 0).to_string(), "sm_90a alone");
    }

    #[test]
    fn features_of_a_family_are_of_its_later_members() {
        assert_eq!(
            names(Requirement::Family(12, 0)),
            ["sm_120f", "sm_120a", "sm_121f", "sm_121a"]
        );
        assert_eq!(
            names(Requirement::Family(10, 3)),
            ["sm_103f", "sm_103a"],
            "not 10.0, which is older, nor 11.0, which is another family"
        );
        assert_eq!(
            Requirement::Family(11, 0).to_string(),
            "sm_110f, sm_110a alone"
        );
    }
}

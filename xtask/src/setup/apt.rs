//! Packages of the distribution, through apt.

use crate::process::{on_path, quiet};
use crate::ui::Step;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Installs packages, as root or through sudo without a password.
pub fn install(packages: &[&str]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!("{}", no_apt(&distribution(), packages));
    }
    let Some(prefix) = root_prefix() else {
        bail!("{}", no_root(packages))
    };
    if !known(packages) {
        let step = Step::new("apt: reading the lists of packages");
        quiet(&mut apt(prefix, &["update"])).context(
            "apt cannot read its lists of packages\ncure: check the network and the files in /etc/apt, then run this again",
        )?;
        step.done("done");
        if !known(packages) {
            bail!(
                "{}",
                not_offered(
                    &distribution(),
                    &packages
                        .iter()
                        .copied()
                        .filter(|p| !known(&[p]))
                        .collect::<Vec<_>>()
                )
            );
        }
    }
    let step = Step::new(format!("apt: installing {}", packages.join(" ")));
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    if quiet(&mut apt(prefix, &arguments)).is_err() {
        // Lists may be older than what the mirror holds.
        quiet(&mut apt(prefix, &["update"]))
            .context("apt cannot read its lists of packages\ncure: check the network")?;
        quiet(&mut apt(prefix, &arguments)).with_context(|| failed(packages))?;
    }
    step.done("done");
    Ok(())
}

fn apt(prefix: &[&str], arguments: &[&str]) -> Command {
    // `env`, because sudo does not pass variables on.
    let words = [
        prefix,
        &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"],
        arguments,
    ]
    .concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

/// The words before a command that run it as root, if that is possible without asking.
fn root_prefix() -> Option<&'static [&'static str]> {
    let user = quiet(Command::new("id").arg("-u")).unwrap_or_default();
    if user.trim() == "0" {
        return Some(&[]);
    }
    let sudo = quiet(Command::new("sudo").args(["-n", "true"])).is_ok();
    sudo.then_some(&["sudo", "-n"])
}

/// Tells whether apt's lists hold all the packages.
fn known(packages: &[&str]) -> bool {
    quiet(
        Command::new("apt-cache")
            .arg("show")
            .arg("--no-all-versions")
            .args(packages),
    )
    .is_ok_and(|shown| {
        packages
            .iter()
            .all(|p| shown.lines().any(|line| line == format!("Package: {p}")))
    })
}

fn distribution() -> String {
    distribution_of(&std::fs::read_to_string("/etc/os-release").unwrap_or_default())
}

/// Reads the text of `/etc/os-release`.
fn distribution_of(os_release: &str) -> String {
    let name = os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or("this system".to_string(), |name| {
        name.trim_matches('"').to_string()
    })
}

fn no_root(packages: &[&str]) -> String {
    format!(
        "these packages are missing, and installing them takes root: {list}\n\
         cure: run `sudo apt-get install {list}`, or run this as root",
        list = packages.join(" ")
    )
}

fn no_apt(distribution: &str, packages: &[&str]) -> String {
    format!(
        "these packages are missing, and {distribution} has no apt-get to install them with: {list}\n\
         cure: install LLVM 22 with MLIR, clang 22 and a C++ compiler the way your system does it, and name LLVM's folder in \
         MLIR_SYS_220_PREFIX and TABLEGEN_220_PREFIX; or use Debian or Ubuntu, in a container too",
        list = packages.join(" ")
    )
}

fn not_offered(distribution: &str, packages: &[&str]) -> String {
    format!(
        "apt does not offer these packages for {distribution}: {}\n\
         cure: add LLVM's own apt repository for your release (LLVM's download page has the line for it), or use a newer Debian or \
         Ubuntu; or install LLVM 22 with MLIR elsewhere and name its folder in MLIR_SYS_220_PREFIX and TABLEGEN_220_PREFIX",
        packages.join(" ")
    )
}

fn failed(packages: &[&str]) -> String {
    format!(
        "apt could not install {list}\ncure: run `apt-get install {list}` by hand and follow what it says",
        list = packages.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cures_name_the_packages_and_the_system() {
        assert!(no_root(&["g++", "clang-22"]).contains("`sudo apt-get install g++ clang-22`"));
        let text = not_offered("Debian GNU/Linux 11", &["llvm-22-dev"]);
        assert!(
            text.starts_with(
                "apt does not offer these packages for Debian GNU/Linux 11: llvm-22-dev\ncure: "
            ),
            "{text}"
        );
        assert!(no_apt("Fedora Linux 43", &["g++"]).contains("Fedora Linux 43 has no apt-get"));
    }

    #[test]
    fn the_name_of_the_distribution() {
        assert_eq!(
            distribution_of("ID=ubuntu\nPRETTY_NAME=\"Ubuntu 26.04 LTS\"\n"),
            "Ubuntu 26.04 LTS"
        );
        assert_eq!(distribution_of(""), "this system");
    }

    #[test]
    fn commands_run_as_root_keep_their_environment() {
        let command = crate::process::spelled(&apt(&["sudo", "-n"], &["update"]));
        assert_eq!(
            command,
            "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get -q update"
        );
        assert!(crate::process::spelled(&apt(&[], &["update"])).starts_with("env DEBIAN_FRONTEND"));
    }
}

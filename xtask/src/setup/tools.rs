//! ptxas, libdevice, nvdisasm, lit and z3 from PyPI, in the build folder: nothing is installed globally.
//!
//! The folder is laid out like a CUDA toolkit (`bin/ptxas`, `nvvm/libdevice/libdevice.10.bc`), so that it can be given
//! to what wants one. A stamp says which versions lie there.

use super::apt;
use crate::process::{on_path, quiet};
use crate::ui::{Step, found};
use anyhow::{Context, Result, anyhow, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Names a ptxas to use instead.
const PTXAS_VARIABLE: &str = "CUTE_PTXAS";
/// The oldest ptxas that takes the PTX that LLVM 22 writes (ISA 9.0).
const OLDEST_PTXAS: (u32, u32) = (13, 0);

/// A wheel on PyPI, and what is taken from it: where it lies in the wheel, where it goes. Folders end in `/`.
struct Wheel {
    requirement: &'static str,
    take: &'static [(&'static str, &'static str)],
}

const PTXAS: Wheel = Wheel {
    requirement: "nvidia-cuda-nvcc==13.0.88",
    take: &[("/bin/ptxas", "bin/ptxas")],
};
const OTHERS: [Wheel; 3] = [
    Wheel {
        requirement: "nvidia-nvvm==13.0.88",
        take: &[(
            "/libdevice/libdevice.10.bc",
            "nvvm/libdevice/libdevice.10.bc",
        )],
    },
    Wheel {
        requirement: "nvidia-cuda-nvdisasm>=13.2,<14",
        take: &[("/bin/nvdisasm", "bin/nvdisasm")],
    },
    Wheel {
        requirement: "lit==18.1.8",
        take: &[("lit/", "py/lit/")],
    },
];

/// The solver that proves rules in tests; nothing else wants it.
const Z3: Wheel = Wheel {
    requirement: "z3-solver==5.4.1.0",
    take: &[("/bin/z3", "bin/z3")],
};

/// Takes files out of a wheel: `WHEEL FROM TO FROM TO ...`. Written beside the target first, so that an interrupted run
/// leaves nothing that looks complete.
const UNPACK: &str = r#"
import os, sys, zipfile
wheel, *pairs = sys.argv[1:]
archive = zipfile.ZipFile(wheel)
for source, target in zip(pairs[::2], pairs[1::2]):
    folder = source.endswith("/")
    names = [n for n in archive.namelist() if (n.startswith(source) if folder else n.endswith(source))]
    if not names:
        sys.exit(f"{os.path.basename(wheel)} has no {source}")
    for name in names:
        if name.endswith("/"):
            continue
        path = os.path.join(target, name[len(source):]) if folder else target
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "wb") as out:
            out.write(archive.read(name))
        os.chmod(path + ".part", 0o755 if "/bin/" in name else 0o644)
        os.replace(path + ".part", path)
"#;

/// The tools, ready.
pub struct Tools {
    pub ptxas: PathBuf,
    pub python: PathBuf,
    pub python_packages: PathBuf,
}

/// Installs what is missing into `folder`.
pub fn ready(folder: &Path) -> Result<Tools> {
    let start = Instant::now();
    let own_ptxas = std::env::var_os(PTXAS_VARIABLE)
        .filter(|p| !p.is_empty())
        .map(PathBuf::from);
    if let Some(ptxas) = &own_ptxas {
        let version = quiet(Command::new(ptxas).arg("--version")).with_context(|| {
            format!(
                "{PTXAS_VARIABLE} names {}, which does not run",
                ptxas.display()
            )
        })?;
        check_ptxas(&version, ptxas)?;
    }
    let wheels: Vec<&Wheel> = OTHERS
        .iter()
        .chain(own_ptxas.is_none().then_some(&PTXAS))
        .collect();
    let (python, installed) = ensure(&wheels, folder)?;
    let result = if installed { "installed" } else { "there" };
    found("ptxas, libdevice, nvdisasm, lit", result, start.elapsed());
    Ok(Tools {
        ptxas: own_ptxas.unwrap_or_else(|| folder.join("bin/ptxas")),
        python,
        python_packages: folder.join("py"),
    })
}

/// Returns z3, after installing it into `folder` where it is missing.
pub fn solver(folder: &Path) -> Result<PathBuf> {
    let start = Instant::now();
    let (_, installed) = ensure(&[&Z3], folder)?;
    found(
        "z3",
        if installed { "installed" } else { "there" },
        start.elapsed(),
    );
    Ok(folder.join("bin/z3"))
}

/// Installs those of the wheels that are missing; the Python that there is, and whether anything was missing.
fn ensure(wheels: &[&Wheel], folder: &Path) -> Result<(PathBuf, bool)> {
    let stamp = folder.join("versions.txt");
    let installed = std::fs::read_to_string(&stamp).unwrap_or_default();
    let missing: Vec<&Wheel> = wheels
        .iter()
        .copied()
        .filter(|wheel| !is_installed(wheel, folder, &installed))
        .collect();
    let python = if missing.is_empty() {
        any_python(folder).map_or_else(|| python_with_pip(folder), Ok)?
    } else {
        let python = python_with_pip(folder)?;
        install(&missing, folder, &python)?;
        // Wheels that are there and were not asked for this time stay on record.
        let mut lines: Vec<&str> = installed
            .lines()
            .filter(|line| missing.iter().all(|w| name(w) != line_name(line)))
            .collect();
        lines.extend(missing.iter().map(|wheel| wheel.requirement));
        lines.sort();
        std::fs::write(&stamp, lines.join("\n") + "\n")
            .with_context(|| format!("{} cannot be written", stamp.display()))?;
        python
    };
    Ok((python, !missing.is_empty()))
}

fn is_installed(wheel: &Wheel, folder: &Path, stamp: &str) -> bool {
    stamp.lines().any(|line| line == wheel.requirement)
        && wheel.take.iter().all(|(_, to)| folder.join(to).exists())
}

fn name(wheel: &Wheel) -> &str {
    line_name(wheel.requirement)
}

/// The package's name in a requirement.
fn line_name(requirement: &str) -> &str {
    requirement
        .split(['=', '>', '<'])
        .next()
        .unwrap_or(requirement)
}

fn install(wheels: &[&Wheel], folder: &Path, python: &Path) -> Result<()> {
    check_machine(std::env::consts::OS, std::env::consts::ARCH)?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    for wheel in wheels {
        let step = Step::new(format!("PyPI: {}", wheel.requirement));
        let download = tempfile::tempdir_in(folder)?;
        let pip = [
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ];
        quiet(
            Command::new(python)
                .args(pip)
                .arg("--dest")
                .arg(download.path())
                .arg(wheel.requirement),
        )
        .with_context(|| no_download(wheel.requirement))?;
        let file = std::fs::read_dir(download.path())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|e| e == "whl"))
            .ok_or_else(|| anyhow!("pip downloaded no wheel for {}", wheel.requirement))?;
        let targets = wheel
            .take
            .iter()
            .flat_map(|(from, to)| [PathBuf::from(from), folder.join(to)]);
        quiet(
            Command::new(python)
                .args(["-c", UNPACK])
                .arg(&file)
                .args(targets),
        )?;
        step.done("done");
    }
    Ok(())
}

fn no_download(requirement: &str) -> String {
    format!(
        "{requirement} could not be downloaded from PyPI\n\
         cure: check the network and pip's settings (`python3 -m pip download {requirement}` must work); for ptxas alone, \
         {PTXAS_VARIABLE} can name one that is installed"
    )
}

/// NVIDIA's wheels exist for these.
fn check_machine(os: &str, arch: &str) -> Result<()> {
    if os != "linux" || !["x86_64", "aarch64"].contains(&arch) {
        bail!(
            "PyPI has NVIDIA's tools for Linux on x86_64 and aarch64, not for {os} on {arch}\n\
             cure: compile on such a machine; kernel packages can be copied from there"
        );
    }
    Ok(())
}

/// Reads what `ptxas --version` prints: `... release 13.0, V13.0.88`.
fn ptxas_version(text: &str) -> Option<(u32, u32)> {
    let release = text.split("release ").nth(1)?.split(',').next()?;
    let (major, minor) = release.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn check_ptxas(text: &str, ptxas: &Path) -> Result<()> {
    let (major, minor) = OLDEST_PTXAS;
    let found = match ptxas_version(text) {
        Some(version) if version >= OLDEST_PTXAS => return Ok(()),
        Some((major, minor)) => format!("ptxas {major}.{minor}"),
        None => "no ptxas".to_string(),
    };
    bail!(
        "{PTXAS_VARIABLE} names {}, which is {found}; {major}.{minor} or newer is needed\n\
         cure: name a newer one, or unset {PTXAS_VARIABLE} to have one downloaded",
        ptxas.display()
    )
}

/// A Python to run lit with: no pip needed.
fn any_python(folder: &Path) -> Option<PathBuf> {
    on_path("python3").or_else(|| Some(venv_python(folder)).filter(|p| p.is_file()))
}

fn venv_python(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python3")
}

/// A Python with pip: the user's, else one in a virtual environment, else after installing what these need.
fn python_with_pip(folder: &Path) -> Result<PathBuf> {
    if let Some(python) = try_python(folder) {
        return Ok(python);
    }
    apt::install(&["python3", "python3-venv", "python3-pip"])
        .context("Python 3 with pip is needed to download tools")?;
    try_python(folder).ok_or_else(|| {
        anyhow!("python3 has neither pip nor venv\ncure: make `python3 -m pip --version` work")
    })
}

fn try_python(folder: &Path) -> Option<PathBuf> {
    let has_pip =
        |python: &Path| quiet(Command::new(python).args(["-m", "pip", "--version"])).is_ok();
    let python = on_path("python3")?;
    if has_pip(&python) {
        return Some(python);
    }
    let own = venv_python(folder);
    if !has_pip(&own) {
        quiet(
            Command::new(&python)
                .args(["-m", "venv"])
                .arg(folder.join("venv")),
        )
        .ok()?;
    }
    has_pip(&own).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_ptxas() {
        let text = "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88\nBuild x\n";
        assert_eq!(ptxas_version(text), Some((13, 0)));
        assert_eq!(ptxas_version("GNU assembler 2.40"), None);
        let here = Path::new("/opt/ptxas");
        assert!(check_ptxas(text, here).is_ok());
        assert!(check_ptxas("release 13.2, V13.2.1", here).is_ok());
        let error = check_ptxas("release 12.9, V12.9.1", here)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(
                "CUTE_PTXAS names /opt/ptxas, which is ptxas 12.9; 13.0 or newer is needed\ncure: "
            ),
            "{error}"
        );
        assert!(
            check_ptxas("hello", here)
                .unwrap_err()
                .to_string()
                .contains("which is no ptxas")
        );
    }

    #[test]
    fn machines_without_wheels_are_refused() {
        assert!(check_machine("linux", "x86_64").is_ok());
        assert!(check_machine("linux", "aarch64").is_ok());
        let error = check_machine("linux", "riscv64").unwrap_err().to_string();
        assert!(error.contains("not for linux on riscv64"), "{error}");
        assert!(check_machine("macos", "aarch64").is_err());
    }

    #[test]
    fn a_wheel_is_installed_when_the_stamp_and_the_files_say_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_installed(
            &PTXAS,
            folder.path(),
            "nvidia-cuda-nvcc==13.0.88\n"
        ));
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::fs::write(folder.path().join("bin/ptxas"), "").unwrap();
        assert!(is_installed(
            &PTXAS,
            folder.path(),
            "lit==18.1.8\nnvidia-cuda-nvcc==13.0.88\n"
        ));
        assert!(!is_installed(
            &PTXAS,
            folder.path(),
            "nvidia-cuda-nvcc==12.9.1\n"
        ));
        assert_eq!(
            line_name("nvidia-cuda-nvdisasm>=13.2,<14"),
            "nvidia-cuda-nvdisasm"
        );
    }

    /// The script takes a file by the end of its name, a folder by its beginning, and makes programs executable.
    #[test]
    fn wheels_are_unpacked() {
        let Some(python) = on_path("python3") else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("a.whl");
        let make = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], 'w')\n\
                    for n in ['nv/cu13/bin/ptxas', 'lit/main.py', 'lit/sub/x.py', 'other']: z.writestr(n, n)\nz.close()";
        quiet(Command::new(&python).args(["-c", make]).arg(&wheel)).unwrap();
        let unpack = |from: &str, to: &str| {
            quiet(
                Command::new(&python)
                    .args(["-c", UNPACK])
                    .arg(&wheel)
                    .arg(from)
                    .arg(folder.path().join(to)),
            )
        };
        unpack("/bin/ptxas", "tools/bin/ptxas").unwrap();
        unpack("lit/", "tools/py/lit/").unwrap();
        let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
        assert_eq!(read("tools/bin/ptxas"), "nv/cu13/bin/ptxas");
        assert_eq!(read("tools/py/lit/sub/x.py"), "lit/sub/x.py");
        assert!(!folder.path().join("tools/py/other").exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &str| {
                std::fs::metadata(folder.path().join(path))
                    .unwrap()
                    .permissions()
                    .mode()
                    & 0o777
            };
            assert_eq!(
                (mode("tools/bin/ptxas"), mode("tools/py/lit/main.py")),
                (0o755, 0o644)
            );
        }
        let error = unpack("/bin/nvcc", "tools/bin/nvcc")
            .unwrap_err()
            .to_string();
        assert!(error.contains("a.whl has no /bin/nvcc"), "{error}");
    }
}

//! `--cache`: what a command would do, done from what was kept when it was done before.
//!
//! An entry holds the package, the module that was printed and what was said. Where there is none, the same command without
//! `--cache` runs as a child, so that what is kept is what it gives, and with the package in a temporary folder, where nobody else
//! writes it meanwhile and it takes nothing of the cache's room. What fails is not kept.

use crate::command::Request;
use cute_lowering::{
    CompileOptions, Options,
    cache::{Cache, Entry, Key},
};
use cute_runtime::package::{Package, PackageError};
use std::{
    env, fmt,
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::{
        fs::MetadataExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::SystemTime,
};
use tempfile::TempDir;

/// Does what is asked, and returns the exit status of the command, or none where it is still to be done without the cache.
///
/// # Errors
/// An error of the cache: the command is still to be done.
pub(crate) fn run(request: &Request) -> Result<Option<i32>, String> {
    // What is wrong with the options, the GPU or the input is said by the compiler.
    let Ok(options) = CompileOptions::parse(&request.options) else {
        return Ok(None);
    };
    let Ok(options) = options.resolved() else {
        return Ok(None);
    };
    let cache = Cache::from_environment(request.folder.clone()).map_err(|e| e.to_string())?;
    // A pipe gives its text once only, and the compiler says what is wrong with a file that is none.
    if let Some(name) = &request.input
        && fs::metadata(name).is_ok_and(|file| !file.is_file())
    {
        return Err(format!(
            "expected a file, found {name}, which is none and is not cached; give a text that is piped as standard input"
        ));
    }
    // Standard input is read once: from here on, the command is done here.
    let Ok(input) = Input::read(request.input.as_deref()) else {
        return Ok(None);
    };
    let compilation = Compilation {
        request,
        options,
        input,
    };
    let status = compilation.done(&cache);
    Ok(Some(status))
}

/// The text that is compiled.
struct Input {
    name: Option<String>,
    text: Vec<u8>,
    /// The time of the file, and its number.
    state: Option<(i64, i64, u64)>,
}

impl Input {
    fn read(name: Option<&str>) -> io::Result<Self> {
        let mut text = Vec::new();
        let state = match name {
            None => {
                io::stdin().lock().read_to_end(&mut text)?;
                None
            }
            Some(name) => {
                let mut file = File::open(name)?;
                let figures = file.metadata()?;
                file.read_to_end(&mut text)?;
                Some((figures.mtime(), figures.mtime_nsec(), figures.ino()))
            }
        };
        Ok(Self {
            name: name.map(str::to_owned),
            text,
            state,
        })
    }

    /// Tells whether the file is still the one that was read.
    fn unchanged(&self) -> bool {
        let Some(name) = &self.name else { return true };
        Self::read(Some(name)).is_ok_and(|now| now.state == self.state && now.text == self.text)
    }
}

struct Compilation<'a> {
    request: &'a Request,
    options: CompileOptions,
    input: Input,
}

/// The outcome of a command.
struct Done<'a> {
    printed: &'a [u8],
    said: &'a [u8],
    package: Option<&'a [u8]>,
}

/// The package in the folder where it is made.
fn package_in(place: &TempDir) -> PathBuf {
    place.path().join("made.cutepkg")
}

impl Compilation<'_> {
    /// Does the command by the cache as far as possible, and returns its exit status.
    fn done(&self, cache: &Cache) -> i32 {
        let found = self.key().and_then(|key| {
            let entry = cache.load(&key).map_err(|e| e.to_string())?;
            match entry.filter(|entry| self.kept(entry).is_some()) {
                Some(entry) => Ok(Ok(entry)),
                None => Ok(Err((key, self.place(cache)?))),
            }
        });
        match found {
            Ok(Ok(entry)) => self.kept(&entry).map_or(1, |done| self.deliver(&done)),
            Ok(Err((key, place))) => self.compile_and_keep(cache, &key, place),
            Err(why) => {
                warn(&why);
                let arguments = self.request.plain.get(1..).unwrap_or_default();
                let done = self.child(arguments, Stdio::inherit);
                done.map_or_else(|e| failed(&e), |done| status_of(&done))
            }
        }
    }

    fn key(&self) -> Result<Key, String> {
        let name = self.input.name.as_deref().unwrap_or("-");
        let package = self.options.package.is_some();
        let printing = self.request.printing.join(" ");
        let more = [&b"cute-opt"[..], &[u8::from(package)], printing.as_bytes()];
        Key::new(&self.options, name, &self.input.text, &more).map_err(|e| e.to_string())
    }

    /// A place for the package while it is made, where one is asked for.
    fn place(&self, cache: &Cache) -> Result<Option<TempDir>, String> {
        cache.check().map_err(|e| e.to_string())?;
        if self.options.package.is_none() {
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("cute-opt-").tempdir();
        let folder = folder.map_err(|e| {
            let all = env::temp_dir();
            format!(
                "cannot write {}: {e}; name another folder by TMPDIR",
                all.display()
            )
        })?;
        match folder.path().to_str() {
            Some(text) if !text.contains(['"', '\'', '{', '}']) => Ok(Some(folder)),
            _ => Err(format!(
                "expected a folder for temporary files in UTF-8 without quotes and braces, found {}; name another one by TMPDIR",
                env::temp_dir().display()
            )),
        }
    }

    /// The outcome that an entry holds, if it is one of such a command.
    fn kept<'a>(&self, entry: &'a Entry) -> Option<Done<'a>> {
        let asked = self.options.package.is_some();
        match entry.parts()[..] {
            [printed, said] if !asked => Some(Done {
                printed,
                said,
                package: None,
            }),
            [printed, said, package] if asked => Some(Done {
                printed,
                said,
                package: Some(package),
            }),
            _ => None,
        }
    }

    /// Runs the command in a child, hands on what it gives, and keeps that.
    fn compile_and_keep(&self, cache: &Cache, key: &Key, place: Option<TempDir>) -> i32 {
        let options = CompileOptions {
            package: place.as_ref().map(package_in),
            ..self.options.clone()
        };
        let mut arguments = vec![format!("--cute-compile={}", options.text())];
        arguments.extend(self.input.name.clone());
        arguments.extend(self.request.printing.iter().cloned());
        let child = match self.child(&arguments, Stdio::piped) {
            Ok(child) => child,
            Err(error) => return failed(&error),
        };
        if !child.status.success() {
            return self.fail(&child);
        }
        let package = match place.map(|place| fs::read(package_in(&place))).transpose() {
            Ok(package) => package,
            Err(error) => return failed(&format!("cannot read the package back: {error}")),
        };
        let done = Done {
            printed: &child.stdout,
            said: &child.stderr,
            package: package.as_deref(),
        };
        let status = self.deliver(&done);
        // Whoever changes the input or the assembler meanwhile must not find this again.
        if self.input.unchanged() && self.key().as_ref() == Ok(key) {
            let mut parts = vec![done.printed, done.said];
            parts.extend(done.package);
            if let Err(why) = cache.store(key, &parts) {
                warn(&why.to_string());
            }
        }
        status
    }

    /// Runs this program with other arguments and the same input.
    fn child(&self, arguments: &[String], output: fn() -> Stdio) -> io::Result<Output> {
        // The very program that runs, even where another one has taken its place.
        let own = Path::new("/proc/self/exe");
        let program = match own.exists() {
            true => own.to_path_buf(),
            false => env::current_exe()?,
        };
        let text = self.input.name.is_none().then_some(&self.input.text);
        let mut command = Command::new(program);
        if let Some(name) = self.request.plain.first() {
            command.arg0(name);
        }
        let mut child = command
            .args(arguments)
            .stdin(text.map_or_else(Stdio::null, |_| Stdio::piped()))
            .stdout(output())
            .stderr(output())
            .spawn()?;
        let input = child.stdin.take();
        thread::scope(|scope| {
            if let (Some(mut input), Some(text)) = (input, text) {
                // One that ends before it has read all has said why.
                scope.spawn(move || input.write_all(text));
            }
            child.wait_with_output()
        })
    }

    /// Does what a command that fails does: what it said, and no output.
    fn fail(&self, child: &Output) -> i32 {
        let _ = io::stderr().write_all(&child.stderr);
        match &self.request.output {
            Some(file) if Path::new(file).is_file() => {
                let _ = fs::remove_file(file);
            }
            Some(_) => {}
            None => {
                let _ = io::stdout().write_all(&child.stdout);
            }
        }
        status_of(child)
    }

    /// Says what was said, writes the package, prints the module, and returns the exit status.
    fn deliver(&self, done: &Done<'_>) -> i32 {
        let _ = io::stderr().write_all(done.said);
        if let (Some(package), Some(path)) = (done.package, &self.options.package)
            && let Err(error) = write_package(package, path)
        {
            return failed(&error);
        }
        let printed = match &self.request.output {
            Some(file) => write_module(done.printed, Path::new(file)).map_err(|error| {
                format!("cannot write {file}: {error}; name another file with -o")
            }),
            None => {
                let mut output = io::stdout().lock();
                let written = output.write_all(done.printed);
                let written = written.and_then(|()| output.flush());
                written.map_err(|error| format!("cannot write to standard output: {error}"))
            }
        };
        printed.map_or_else(|error| failed(&error), |()| 0)
    }
}

/// Writes a package, unless the file is it already.
fn write_package(package: &[u8], path: &Path) -> Result<(), PackageError> {
    match renewed(path, package) {
        true => Ok(()),
        false => Package::from_bytes(package)?.write_file(path),
    }
}

/// Writes a printed module, unless the file is it already.
fn write_module(printed: &[u8], path: &Path) -> io::Result<()> {
    match renewed(path, printed) {
        true => Ok(()),
        false => fs::write(path, printed),
    }
}

/// Gives a file that holds these bytes the time of one that is written now, which is quicker than writing it; whether it does.
fn renewed(path: &Path, bytes: &[u8]) -> bool {
    let file = holds(path, bytes);
    let renewed = file.and_then(|file| file.set_modified(SystemTime::now()));
    renewed.is_ok()
}

/// The file at a path, if it is one and holds these bytes.
fn holds(path: &Path, mut bytes: &[u8]) -> io::Result<File> {
    let other = || Err(io::Error::from(io::ErrorKind::InvalidData));
    let figures = fs::symlink_metadata(path)?;
    if !figures.is_file() || figures.len() != bytes.len() as u64 {
        return other();
    }
    let mut file = File::open(path)?;
    let mut buffer = [0; 16 * 1024];
    loop {
        let count = file.read(&mut buffer)?;
        match bytes.strip_prefix(&buffer[..count]) {
            Some([]) => return Ok(file),
            Some(rest) if count > 0 => bytes = rest,
            _ => return other(),
        }
    }
}

fn warn(why: &str) {
    eprintln!("warning: --cache: {why}");
}

/// Says an error, and returns the exit status that goes with it.
fn failed(error: &dyn fmt::Display) -> i32 {
    eprintln!("error: {error}");
    1
}

/// The exit status of a child as a shell gives it.
fn status_of(child: &Output) -> i32 {
    let signal = || 128 + child.status.signal().unwrap_or(0);
    child.status.code().unwrap_or_else(signal)
}

//! Loads the extension that was just built into the PHP that it was built for, and runs the tests in `bin/run.php` and PHP's own kind in `phpt`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The extension: cargo puts it into the folder of this test.
fn extension() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    let folder = test.parent().expect("a file has a folder");
    let file = format!("{}weighbridge_php{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let extension = folder.join(file);
    assert!(extension.is_file(), "{} was not built", extension.display());
    extension
}

/// The program that a variable names, by which ext-php-rs is told which PHP to build for.
fn program(variable: &str, default: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| default.into(), PathBuf::from)
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Runs a command to its end, which must be good; what it said.
fn run(command: &mut Command) -> String {
    // Panics are provoked: their messages would hide the rest.
    let output = command.env("RUST_BACKTRACE", "0").output().expect("the program starts");
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{out}");
    assert!(output.status.success(), "{out}\n{errors}\n{}", output.status);
    out.into_owned()
}

#[test]
fn the_extension_works_in_php() {
    let (php, extension) = (program("PHP", "php"), extension());
    run(Command::new(&php)
        .arg("-n")
        .args(["-d", &format!("extension={}", extension.display())])
        .arg(tests().join("bin/run.php"))
        .env("WEIGHBRIDGE_EXTENSION", &extension)
        .env("WEIGHBRIDGE_PHP", &php));
}

#[test]
fn the_tests_of_phps_own_kind_pass() {
    let folder = run(Command::new(program("PHP_CONFIG", "php-config")).arg("--extension-dir"));
    let runner = Path::new(folder.trim()).join("build/run-tests.php");
    if !runner.is_file() {
        println!("skipped: {} was not found; it comes with the headers of PHP", runner.display());
        return;
    }
    // It writes beside the tests.
    let room = tempfile::tempdir().expect("a folder");
    let copy = |from: &Path, to: &Path| {
        std::fs::create_dir_all(to).expect("a folder");
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("a file").path();
            let is_test = entry.extension().is_some_and(|ending| ending == "phpt");
            if is_test || entry.ends_with("weighbridge.stub.php") {
                std::fs::copy(&entry, to.join(entry.file_name().expect("a name"))).expect("a copy");
            }
        }
    };
    copy(&tests().join("phpt"), &room.path().join("tests/phpt"));
    copy(Path::new(env!("CARGO_MANIFEST_DIR")), room.path());
    let php = program("PHP", "php");
    let found = run(Command::new(&php).args(["-n", "-r", "echo PHP_BINARY;"]));
    let said = run(Command::new(&php)
        .arg("-n")
        .arg(&runner)
        .args(["-q", "-n", "-d", &format!("extension={}", extension().display())])
        .arg(room.path().join("tests/phpt"))
        .env("TEST_PHP_EXECUTABLE", found.trim()));
    assert!(said.contains("Tests failed    :    0"), "{said}");
}

//! Loads the extension that was just built into the PHP that it was built for, and runs the tests in `run.php`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The extension: cargo puts it into the folder of this test.
fn extension() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    let folder = test.parent().expect("a file has a folder");
    folder.join(format!("{}weighbridge_php{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

#[test]
fn the_extension_works_in_php() {
    // The variable by which ext-php-rs is told which PHP to build for.
    let php = std::env::var_os("PHP").unwrap_or_else(|| "php".into());
    let extension = extension();
    assert!(extension.is_file(), "{} was not built", extension.display());
    let output = Command::new(&php)
        .arg("-n")
        .arg("-d")
        .arg(format!("extension={}", extension.display()))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run.php"))
        .env("WEIGHBRIDGE_EXTENSION", &extension)
        .env("WEIGHBRIDGE_PHP", &php)
        // Panics are provoked: their messages would hide the rest.
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("PHP starts");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "{said}\n{errors}\n{}", output.status);
}

//! Hands on the versions of the libraries that do not report theirs at run time.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Some(version) = libdeflate() {
        println!("cargo:rustc-env=HEADER_LIBDEFLATE={version}");
    }
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let lock = manifest.ancestors().map(|folder| folder.join("Cargo.lock")).find(|file| file.is_file());
    if let Some(lock) = lock {
        println!("cargo:rerun-if-changed={}", lock.display());
        if let Some(version) = locked(&lock, "zlib-rs") {
            println!("cargo:rustc-env=CRATE_ZLIB_RS={version}");
        }
    }
}

/// The version string in the header that libdeflate-sys compiled and exported.
fn libdeflate() -> Option<String> {
    let include = env::var_os("DEP_LIBDEFLATE_INCLUDE")?;
    let header = fs::read_to_string(Path::new(&include).join("libdeflate.h")).ok()?;
    let line = header.lines().find(|line| line.contains("define LIBDEFLATE_VERSION_STRING"))?;
    line.split('"').nth(1).map(str::to_owned)
}

/// The version of a package in a lock file: its line follows that of the name.
fn locked(lock: &Path, package: &str) -> Option<String> {
    let text = fs::read_to_string(lock).ok()?;
    let after = text.split_once(&format!("name = \"{package}\"\nversion = \""))?.1;
    after.split('"').next().map(str::to_owned)
}

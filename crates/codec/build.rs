//! Captures the versions of libraries that do not report them at run time.
//!
//! For every dependency `some-crate` of this crate, `CRATE_SOME_CRATE` is the version in Cargo.lock;
//! `HEADER_LIBDEFLATE` is the version in the header that libdeflate was compiled from.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let lock = lock_file();
    println!("cargo:rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(&lock).expect("Cargo.lock can be read");
    let parsed: toml::Table = text.parse().expect("Cargo.lock is TOML");
    for package in parsed["package"].as_array().expect("Cargo.lock lists packages") {
        let (Some(name), Some(version)) = (package["name"].as_str(), package["version"].as_str()) else {
            continue;
        };
        if package.get("source").is_some() {
            let variable = name.to_uppercase().replace('-', "_");
            println!("cargo:rustc-env=CRATE_{variable}={version}");
        }
    }
    println!("cargo:rustc-env=HEADER_LIBDEFLATE={}", libdeflate_version());
}

/// The lock file that this build resolved its dependencies from.
fn lock_file() -> PathBuf {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let found = [manifest, output]
        .iter()
        .flat_map(|start| start.ancestors().map(Path::to_path_buf).collect::<Vec<_>>())
        .map(|folder| folder.join("Cargo.lock"))
        .find(|file| file.is_file());
    found.expect("a Cargo.lock above the crate or the target folder, for the versions of the codecs")
}

/// `LIBDEFLATE_VERSION_STRING` of the header that libdeflate-sys compiled and exported.
fn libdeflate_version() -> String {
    let include = env::var_os("DEP_LIBDEFLATE_INCLUDE").expect("libdeflate-sys exports its include folder");
    let header = PathBuf::from(include).join("libdeflate.h");
    let text = fs::read_to_string(header).expect("libdeflate.h can be read");
    let line = text.lines().find(|l| l.contains("define LIBDEFLATE_VERSION_STRING"));
    let quoted = line.and_then(|l| l.split('"').nth(1));
    quoted.expect("libdeflate.h defines LIBDEFLATE_VERSION_STRING").to_string()
}

use super::*;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_name_is_looked_up_on_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("php8.2"), "").unwrap();
    let path = folder.path().as_os_str();
    assert_eq!(named(Path::new("php8.2"), path), Some(folder.path().join("php8.2")));
    assert_eq!(named(Path::new("php9"), path), None);
}

#[test]
fn names_are_short_and_unique() {
    assert_eq!(short_name("8.2.36", &[]), "php8.2");
    assert_eq!(short_name("8.2.36", &["php8.2".into()]), "php8.2.36");
    assert_eq!(short_name("8.2.36", &["php8.2".into(), "php8.2.36".into()]), "php8.2.36#2");
}

/// A script that says what a PHP would.
fn program_saying(folder: &Path, name: &str, said: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\n{said}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_program_is_named_by_the_version_it_says_with_its_fpm() {
    let folder = tempfile::tempdir().unwrap();
    let binary = program_saying(folder.path(), "bin/php", "echo 7.0.33");
    let fpm = program_saying(folder.path(), "sbin/php-fpm", "true");
    let found = PhpRuntime::all(folder.path().join("bin").as_os_str(), &folder.path().join("none"));
    let [runtime] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((runtime.name.as_str(), runtime.version.as_str()), ("php7.0", "7.0.33"));
    assert_eq!(runtime.cli, [binary.clone().into_os_string()]);
    assert_eq!(runtime.fpm, Some(vec![fpm.canonicalize().unwrap().into_os_string()]));
    assert_eq!(runtime.origin, Origin::Program(binary));
}

#[test]
fn what_says_no_version_is_named_with_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let binary = program_saying(folder.path(), "php", "echo broken library >&2; exit 1");
    let error = PhpRuntime::of(&binary).unwrap_err().to_string();
    assert!(error.ends_with("does not say its version, but: broken library"), "{error}");
    assert_eq!(PhpRuntime::all(folder.path().as_os_str(), folder.path()), []);
}

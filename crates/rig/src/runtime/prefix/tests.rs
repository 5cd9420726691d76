use std::os::unix::fs::PermissionsExt;

use super::*;

fn lay(root: &Path, files: &[&str]) {
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // The loader starts a PHP that says where its extensions are.
        fs::write(&path, "#!/bin/sh\necho /usr/lib/php/20240924\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

const PARTS: [&str; 6] = [
    "usr/bin/php8.4",
    "usr/sbin/php-fpm8.4",
    "usr/lib/some-triplet/libc.so.6",
    "usr/lib/some-triplet/ld-some.so.2",
    "usr/lib/php/20240924/opcache.so",
    "usr/lib/php/20240924/zstd.so",
];

#[test]
fn programs_start_with_the_loader_and_libraries_of_their_prefix() {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), &PARTS);
    lay(
        root.path(),
        &[
            "usr/lib/php/8.4/php.ini-production",
            "usr/lib/php/20200930/redis.so",
            "lib/some-triplet/libz.so.1",
        ],
    );
    let prefix = Prefix::inspect(root.path(), "php8.4", "debian:trixie").unwrap();
    let at = |path: &str| root.path().join(path).into_os_string();
    let paths = format!("{0}/usr/lib/some-triplet:{0}/lib/some-triplet", root.path().display());
    let extension_dir = format!("extension_dir={}/usr/lib/php/20240924", root.path().display());
    let mut wanted = vec![at("usr/lib/some-triplet/ld-some.so.2"), "--library-path".into(), paths.into()];
    wanted.extend([at("usr/bin/php8.4"), "-n".into(), "-d".into(), extension_dir.into(), "-d".into()]);
    wanted.extend(["zend_extension=opcache.so".into(), "-d".into(), "extension=zstd.so".into()]);
    assert_eq!(prefix.cli_command(root.path()), wanted);
    assert_eq!(prefix.fpm_command(root.path()).unwrap()[3], at("usr/sbin/php-fpm8.4"));
    prefix.write(root.path()).unwrap();
    let (found, read) = Prefix::around(&root.path().join("usr/bin/php8.4")).unwrap();
    assert_eq!((found.as_path(), read), (root.path(), prefix));
}

#[test]
fn a_loader_that_leads_out_of_the_prefix_is_none() {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), &PARTS);
    let loader = root.path().join("usr/lib/some-triplet/ld-some.so.2");
    fs::remove_file(&loader).unwrap();
    std::os::unix::fs::symlink("/bin/true", &loader).unwrap();
    let error = Prefix::inspect(root.path(), "php8.4", "debian:trixie").unwrap_err().to_string();
    assert_eq!(error, "the packages hold no php8.4 with its loader and extensions");
}

#[test]
fn a_folder_that_is_no_prefix_or_of_another_form_is_told_apart() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(Prefix::read(root.path()).unwrap(), None);
    assert_eq!(Prefix::around(Path::new("/usr/bin/php")), None);
    fs::write(root.path().join(FILE), "{}").unwrap();
    assert!(Prefix::read(root.path()).is_err());
}

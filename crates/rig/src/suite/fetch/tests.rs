use super::*;

#[test]
fn only_a_plain_suite_is_taken() {
    assert_eq!(suite_of("debian:trixie").unwrap(), ("trixie", None));
    assert_eq!(suite_of("debian:experimental/8.5").unwrap(), ("experimental", Some("8.5")));
    for wrong in [
        "debian",
        "debian:",
        "debian:../x",
        "debian:-o",
        "debian:a b",
        "debian:x\ny",
        "debian:x/y",
        "debian:x/8.4/..",
    ] {
        assert!(suite_of(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn extensions_that_php_could_not_load_are_told() {
    let stderr = "Warning: PHP Startup: Unable to load dynamic library 'redis.so' (tried: /x/redis.so (no symbol))\n\
        Failed loading /x/opcache.so:  libc.so.6: no\nFailed loading Zend extension 'xdebug.so' (tried: /x/xdebug.so)\nWarning: PHP Startup: Unable to load dynamic library 'redis.so'\n";
    assert_eq!(unloadable(stderr), ["opcache", "redis", "xdebug"]);
    assert_eq!(unloadable(""), Vec::<String>::new());
}

#[test]
fn a_machine_without_the_archive_says_where_was_looked() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../../../../../runtimes/debian.toml");
    let source = RuntimeSource::parse(text, "debian.toml").unwrap();
    let runtimes = folder.path().join("runtimes");
    let error = add("debian:trixie", &source, folder.path(), &runtimes, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("sources.list.d names no archive of Debian"), "{error}");
    assert_eq!(fs::metadata(&runtimes).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_an_ended_call_left_is_cleared_and_two_do_not_work_at_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".draft-x")).unwrap();
    fs::create_dir(folder.path().join(".fetch-debian-trixie")).unwrap();
    let held = lock(folder.path()).unwrap();
    assert!(!folder.path().join(".draft-x").exists());
    assert!(folder.path().join(".fetch-debian-trixie").exists(), "downloads are taken up again");
    assert!(lock(folder.path()).unwrap_err().to_string().contains("is at work"));
    drop(held);
    let error = remove("php8.4", folder.path()).unwrap_err().to_string();
    assert_eq!(error, "no fetched runtime is called `php8.4`; there is none");
}

use super::*;

#[test]
fn only_a_version_may_stand_behind_the_name() {
    for yes in ["php", "php8.2", "php84", "php5"] {
        assert!(is_numbered(OsStr::new(yes), "php"), "{yes}");
    }
    for no in ["php-config", "phpize", "php-fpm8.2", "phpcs", "php8.2-x", "phar"] {
        assert!(!is_numbered(OsStr::new(no), "php"), "{no}");
    }
    assert!(is_numbered(OsStr::new("php-fpm8.2"), "php-fpm"));
    assert!(!is_numbered(OsStr::new("php-fpm8.2.conf"), "php-fpm"));
}

#[test]
fn a_program_behind_several_links_is_found_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("php8.2"), "").unwrap();
    std::os::unix::fs::symlink(folder.path().join("php8.2"), folder.path().join("php")).unwrap();
    std::fs::write(folder.path().join("phpize"), "").unwrap();
    assert_eq!(numbered("php", [folder.path().to_owned()]), [folder.path().join("php")]);
}

#[test]
fn a_program_is_known_by_what_it_says() {
    let query = Query { args: Vec::new(), pattern: r"^PHP (\S+) \(fpm-fcgi\)".into() };
    assert_eq!(query.answers("PHP 8.2.36 (fpm-fcgi) (built: x)\nCopyright"), ["8.2.36"]);
    assert!(query.answers("PHP 8.2.36 (cli) (built: x)").is_empty());
    assert!(query.ask(Path::new("/nonexistent/php-fpm")).is_err());
}

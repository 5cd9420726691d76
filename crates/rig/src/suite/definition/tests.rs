use super::*;

fn debian() -> RuntimeSource {
    RuntimeSource::parse(include_str!("../../../../../runtimes/debian.toml"), "debian.toml").unwrap()
}

fn known(names: &str) -> BTreeSet<String> {
    names.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_newest_php_with_what_the_suite_has() {
    let suite = known(
        "php-cli php8.4-cli php8.4-fpm php8.10-cli php8.10-fpm php8.10-zstd php-redis php8.4-redis libzstd1",
    );
    let (php, packages) = debian().choose(&suite, None).unwrap();
    assert_eq!(php, "php8.10");
    assert_eq!(packages, ["php8.10-cli", "php8.10-fpm", "php8.10-zstd", "php-redis", "libzstd1"]);
    let (php, packages) = debian().choose(&suite, Some("8.4")).unwrap();
    assert_eq!(
        (php.as_str(), &packages[..2]),
        ("php8.4", &["php8.4-cli".to_owned(), "php8.4-fpm".to_owned()][..])
    );
    assert_eq!(debian().choose(&suite, Some("8.5")).unwrap_err().to_string(), "it has no package php8.5-cli");
}

#[test]
fn a_suite_without_php_or_fpm_says_so() {
    let why = |names| debian().choose(&known(names), None).unwrap_err().to_string();
    assert_eq!(why("php-cli perl"), "it has no PHP");
    assert_eq!(why("php8.4-cli"), "it has no package php8.4-fpm");
}

#[test]
fn what_others_need_is_loaded_first_and_a_debugger_never() {
    let found = ["redis", "igbinary", "xdebug", "ctype", "json"].map(str::to_owned).to_vec();
    assert_eq!(debian().order(found), ["json", "igbinary", "ctype", "redis"]);
}

#[test]
fn a_suite_that_is_not_whole_comes_with_another() {
    assert_eq!(["experimental", "sid"].map(|suite| debian().with_needed(suite)), ["experimental sid", "sid"]);
}

#[test]
fn another_schema_is_refused() {
    let text = include_str!("../../../../../runtimes/debian.toml").replace("schema = 1", "schema = 2");
    let error = RuntimeSource::parse(&text, "x.toml").unwrap_err().to_string();
    assert_eq!(error, "x.toml: schema 2 is not known; this program reads 1");
}

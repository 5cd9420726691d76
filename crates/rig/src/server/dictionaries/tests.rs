//! Names of deltas and patterns of files, and what is found below a folder.

use super::*;
use proptest::prelude::*;

#[test]
fn what_changes_with_the_content_becomes_a_star() {
    for (path, wanted) in [
        ("/js/app.3f2a1b.js", Some("/js/app.*.js")),
        ("/css/main-8d7f0a11.css", Some("/css/main-*.css")),
        ("/assets/index-BfX3kQ1z.js", Some("/assets/index-*.js")),
        ("/lib/jquery-3.7.1.min.js", Some("/lib/jquery-*.min.js")),
        ("/lib/v1.2/x.js", Some("/lib/v1.2/x.js")),
        ("/js/app.js", Some("/js/app.js")),
        // Words of the same letters are not digests.
        ("/js/main.facade.js", Some("/js/main.facade.js")),
        ("/js/some-component.js", Some("/js/some-component.js")),
        ("/page.html", None),
        ("/photo.png", None),
        ("/js/a b.js", Some("/js/a%20b.js")),
        ("/js/a\r\nSet-Cookie: x.js", None),
        ("/js/a\"b.js", Some("/js/a%22b.js")),
        ("/js/a*b.js", Some("/js/a\\*b.js")),
        ("/js/what?.js", None),
        ("/app/(shop)/[id]/page-1a2b3c4d.js", Some("/app/\\(shop\\)/*id*/page-*.js")),
        ("/app/@modal/x+y.js", Some("/app/*modal/x\\+y.js")),
        ("/app/{v}.js", Some("/app/%7Bv%7D.js")),
        ("/app/c:d.js", Some("/app/c*d.js")),
        ("/caf\u{e9}.css", Some("/caf%C3%A9.css")),
        ("js/app.js", None),
        ("/../app", None),
    ] {
        assert_eq!(pattern(path).as_deref(), wanted, "{path}");
    }
    assert!(is_for_deltas("/page.html") && is_for_deltas("/js/app.js") && !is_for_deltas("/photo.png"));
}

#[test]
fn a_path_with_other_letters_is_named_by_itself_and_each_of_its_versions() {
    let found = special("/app/(shop)/page-1a2b3c4d.js").unwrap();
    assert_eq!(found.pattern, "/app/\\\\(shop\\\\)/page-*.js", "as a string of a header");
    let expression = Regex::new(&found.expression).unwrap();
    assert!(expression.is_match("/app/(shop)/page-5e6f7a8b.js").unwrap());
    assert!(!expression.is_match("/app/shop/page-5e6f7a8b.js").unwrap());
    assert!(special("/app/page-1a2b3c4d.js").is_none() && special("/a(b).png").is_none());
}

#[test]
fn a_delta_is_named_for_its_file_and_its_dictionary() {
    let digest = delta::digest(b"");
    assert_eq!(ending(&digest, Coding::Dcz), "e3b0c44298fc1c14.dcz");
    assert_eq!(read_name("app.js.e3b0c44298fc1c14.dcz"), Some(("e3b0c44298fc1c14", Coding::Dcz)));
    assert_eq!(offered(&digest), ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    for other in
        ["app.js.br", "app.dcz", ".e3b0c44298fc1c14.dcz", "app.js.E3B0C44298FC1C14.dcz", "app.js.e3b0.dcz"]
    {
        assert_eq!(read_name(other), None, "{other}");
    }
}

#[test]
fn a_folder_tells_its_dictionaries() {
    let root = tempfile::tempdir().unwrap();
    let (old, new) = (b"the old version ".repeat(50), b"the new version ".repeat(50));
    let digest = delta::digest(&old);
    for (coding, more) in [(Coding::Dcb, &b"more than the other"[..]), (Coding::Dcz, b"")] {
        let body = [&delta::encode(coding, &old, &new, 5).unwrap(), more].concat();
        std::fs::write(root.path().join(format!("app.js.{}", ending(&digest, coding))), body).unwrap();
    }
    // Not made for this, whatever it is called.
    std::fs::write(root.path().join("app.js.0000000000000000.dcz"), "garbage").unwrap();
    let found = Dictionaries::of(root.path(), &Wish::default()).unwrap();
    assert_eq!(found.known, [Known { offered: offered(&digest), id: id(&digest) }]);
    assert_eq!(found.codings.len(), 2);
    let none = Dictionaries::of(&root.path().join("nothing"), &Wish::default()).unwrap();
    assert!(none.known.is_empty());
    assert_eq!(none.codings, ["dcb", "dcz"]);
}

#[test]
fn what_no_header_can_hold_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let cache = |cache: &str| Wish { cache: Some(cache.into()), ..Wish::default() };
    assert!(Dictionaries::of(root.path(), &cache("max-age=31536000, immutable")).is_ok());
    let error = Dictionaries::of(root.path(), &cache("x\"; return 200")).unwrap_err().to_string();
    assert!(error.contains("is no Cache-Control"), "{error}");
    for (path, pattern) in [("/d.dict", "/a\"b"), ("/d.dict\n", "/*"), ("d.dict", "/*"), ("/d.dict", "")] {
        let shared = Some(Shared { path: path.into(), pattern: pattern.into() });
        assert!(
            Dictionaries::of(root.path(), &Wish { shared, ..Wish::default() }).is_err(),
            "{path} {pattern}"
        );
    }
}

proptest! {
    #[test]
    fn a_pattern_holds_nothing_that_ends_a_header(path in "/.{0,60}") {
        if let Some(pattern) = pattern(&path) {
            let is_fine = |c: char| c.is_ascii_alphanumeric() || "/._~-*%".contains(c);
            let escaped = Regex::new(r"\\[()*+]").unwrap().replace_all(&pattern, "").into_owned();
            prop_assert!(escaped.chars().all(is_fine), "{pattern}");
        }
    }

    #[test]
    fn a_name_is_read_as_it_was_written(name in "[a-z0-9.-]{1,20}", content in any::<Vec<u8>>()) {
        let digest = delta::digest(&content);
        for coding in Coding::ALL {
            let (made, digits) = (format!("{name}.{}", ending(&digest, coding)), id(&digest));
            prop_assert_eq!(read_name(&made), Some((digits.as_str(), coding)));
        }
    }
}

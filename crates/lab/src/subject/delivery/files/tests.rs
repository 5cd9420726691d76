use super::super::fixture::{cell, delivery, payload};
use super::*;
use weigh_model::setting::Setting;

#[test]
fn a_name_has_the_extension_of_its_kind_once() {
    assert_eq!(file_name(&payload("page-path", "html")), "page-path.html");
    assert_eq!(file_name(&payload("bootstrap-5.3.3.min.css", "css")), "bootstrap-5.3.3.min.css");
    assert_eq!(file_name(&payload("jquery@4096", "js")), "jquery_4096.js");
    assert_eq!(file_name(&payload("../etc", "x")), ".._etc.bin");
}

#[test]
fn each_cell_finds_what_it_needs_and_nothing_beside_it() {
    let (home, php) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(php.path().join("delivery")).unwrap();
    fs::write(php.path().join("delivery/page.php"), "<?php").unwrap();
    let blob = home.path().join("blob");
    fs::write(&blob, "a content a content a content").unwrap();
    let mut files = Files::new(home.path(), php.path()).unwrap();
    let payload = payload("a", "js");
    let mut listed = |subject, by, kind, accept: &str| {
        let cell = cell("cell", subject, Setting::bare("way"), Some(delivery(by, kind, accept)));
        let docroot = files.prepare(&cell, &payload, &blob).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(docroot).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(listed(Subject::PAGE, By::Php, WayKind::OnTheFly, "gzip"), ["page.php"]);
    assert_eq!(listed(Subject::ASSET, By::Server, WayKind::OnTheFly, "gzip"), ["a.js"]);
    let both = listed(Subject::ASSET, By::Server, WayKind::PreEncoded, "gzip, br");
    assert_eq!(both, ["a.js", "a.js.br", "a.js.gz"]);
    assert_eq!(listed(Subject::ASSET, By::Server, WayKind::PreEncoded, "br"), ["a.js", "a.js.br"]);
    assert_eq!(listed(Subject::DOWNLOAD, By::Server, WayKind::Transparent, ""), ["page.php"]);
    assert!(files.contents().join("a.js").is_file());
}

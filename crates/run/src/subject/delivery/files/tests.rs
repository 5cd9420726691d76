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
fn a_family_is_a_file_for_each_instance() {
    let (home, php) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let blob = home.path().join("blob");
    fs::write(&blob, "oneothers").unwrap();
    let mut files = Files::new(home.path(), php.path(), None).unwrap();
    let family = Payload { family: true, items: vec![3, 6], ..payload("a@6", "js") };
    let accept = delivery(By::Server, WayKind::PreEncoded, "gzip");
    let cell = cell("cell", Subject::ASSET, Setting::bare("way"), Some(accept));
    let docroot = files.prepare(&cell, &family, &blob).unwrap();
    for (name, content) in [("a_6-0.js", "one"), ("a_6-1.js", "others")] {
        assert_eq!(fs::read_to_string(docroot.join(name)).unwrap(), content);
        let mut decoded = String::new();
        let coded = fs::File::open(docroot.join(format!("{name}.gz"))).unwrap();
        flate2::read::GzDecoder::new(coded).read_to_string(&mut decoded).unwrap();
        assert_eq!(decoded, content, "its variant is its own");
    }
    assert_eq!(fs::read_dir(&docroot).unwrap().count(), 4);
    fs::write(&blob, "one").unwrap();
    let cut = instances(&family)[1].read(&blob).unwrap_err().to_string();
    assert!(cut.ends_with("it is shorter than it was"), "{cut}");
}

#[test]
fn each_cell_finds_what_it_needs_and_nothing_beside_it() {
    let (home, php) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(php.path().join("delivery")).unwrap();
    fs::write(php.path().join("delivery/page.php"), "<?php").unwrap();
    let blob = home.path().join("blob");
    fs::write(&blob, "a content a content a content").unwrap();
    let mut files = Files::new(home.path(), php.path(), None).unwrap();
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

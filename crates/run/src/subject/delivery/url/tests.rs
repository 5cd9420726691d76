use super::super::files::file_name;
use super::super::fixture::{cell, delivery, payload};
use super::*;
use weigh_model::setting::Setting;

fn request_path(subject: Subject, by: By, kind: WayKind, setting: Setting, site: Option<Setting>) -> String {
    let delivery = Delivery { site, ..delivery(by, kind, "") };
    let cell = cell("cell", subject, setting, Some(delivery.clone()));
    path(&cell, &delivery, &file_name(&payload("a+b", "html")), "secret")
}

#[test]
fn scripts_are_told_what_is_phps() {
    let mut setting = Setting::at("zstd", 3);
    setting.options.insert("pieces".into(), "8".into());
    setting.options.insert("buffering".into(), "off".into());
    let mut site = Setting::bare("plain");
    site.options.insert("buffering".into(), "off".into());
    let path = request_path(Subject::PAGE, By::Php, WayKind::OnTheFly, setting, Some(site));
    assert_eq!(path, "/page.php?content=a_b.html&way=zstd&level=3&pieces=8");
    let offload = Setting::bare("x-accel-redirect");
    let path = request_path(Subject::DOWNLOAD, By::Php, WayKind::Offload, offload.clone(), Some(offload));
    assert_eq!(path, "/download.php?content=a_b.html&way=x-accel-redirect&token=secret");
}

#[test]
fn a_server_is_asked_for_files_and_for_pages_that_php_leaves_alone() {
    let gzip = || Setting::at("gzip", 6);
    let page = request_path(Subject::PAGE, By::Server, WayKind::OnTheFly, gzip(), Some(gzip()));
    assert_eq!(page, "/page.php?content=a_b.html&way=none");
    assert_eq!(
        request_path(Subject::ASSET, By::Server, WayKind::OnTheFly, gzip(), Some(gzip())),
        "/a_b.html"
    );
    let path =
        request_path(Subject::DOWNLOAD, By::Server, WayKind::Transparent, Setting::bare("transparent"), None);
    assert_eq!(path, "/offload/a_b.html");
    assert_eq!(encoded("a b/ü"), "a%20b%2F%C3%BC");
}

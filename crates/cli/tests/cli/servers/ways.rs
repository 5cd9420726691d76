//! Every way of every server: start, 200, a page by PHP, the right coding, the very bytes of the source, a graceful stop.

use weigh_model::way::{WayDescription, WayKind};
use weigh_rig::server::{Found, Instance};

use super::client::get;
use super::fixture::{Rig, server};

fn every_way_of(name: &str) {
    let rig = Rig::new();
    let Some(found) = server(name) else { return };
    let Some(pool) = rig.pool(2) else { return };
    let ways = found.ways.iter().filter(|w| w.missing.is_none());
    let mut seen = 0;
    for way in ways {
        let levels = way.levels.as_ref();
        let mut settings = vec![way.name.clone()];
        settings
            .extend(levels.iter().flat_map(|l| [l.min, l.max]).map(|level| format!("{}:{level}", way.name)));
        for option in &way.options {
            settings.extend(option.words.iter().skip(1).map(|w| format!("{},{}={w}", way.name, option.name)));
        }
        for setting in settings {
            println!("{name} {setting}");

            let instance = rig.start(&found, &rig.with(Some(&pool), &setting));
            judge(&rig, &found, way, &setting, &instance);

            let dir = instance.dir().to_owned();
            assert!(instance.stop(), "{name} {setting} had to be killed");
            assert!(!dir.exists(), "{}", dir.display());
            seen += 1;
        }
    }
    assert!(seen > 3, "{name}: {seen}");
    assert!(pool.stop(), "the pool had to be killed");
    assert!(rig.left_over().is_empty());
}

fn judge(rig: &Rig, found: &Found, way: &WayDescription, setting: &str, instance: &Instance) {
    let (url, name) = (|path: &str| instance.url(path), &way.name);
    let page = get(&url("/page.php"), "identity");
    assert_eq!((page.status, page.coding()), (200, "identity"), "{name}");
    assert!(page.decoded().starts_with(b"<p>line 0 of"), "{name}");
    let asset = get(&url("/lib.js"), "identity");
    assert_eq!((asset.status, asset.coding()), (200, "identity"), "{name}");
    assert!(asset.body() == rig.script(), "{name}");
    let kind = asset.header("content-type").unwrap_or_default();
    assert!(kind.contains("/javascript"), "{name}: {kind}");
    match way.kind {
        WayKind::OnTheFly | WayKind::PreEncoded => {
            // The filter of lighttpd 1.4.69 takes `gzip;q=0` for `gzip`.
            let heeds_zero = found.definition.name != "lighttpd";
            for coding in way.codings.iter().filter(|c| *c != "compress") {
                let asset = get(&url("/lib.js"), coding);
                assert_eq!((asset.status, asset.coding()), (200, coding.as_str()), "{name}");
                assert!(asset.decoded() == rig.script(), "{name} {coding}");
                let kind = asset.header("content-type").unwrap_or_default();
                assert!(kind.contains("/javascript"), "{name} {coding}: {kind}");
                let vary = asset.header("vary").unwrap_or_default().to_ascii_lowercase();
                assert!(vary.contains("accept-encoding"), "{name} {coding}: Vary is `{vary}`");
                if heeds_zero || way.kind == WayKind::PreEncoded {
                    let refused = get(&url("/lib.js"), &format!("{coding};q=0"));
                    assert_ne!(refused.coding(), coding, "{name}");
                }
                // The filter of lighttpd encodes only what it has whole.
                if way.kind == WayKind::OnTheFly && !setting.contains("stream=") {
                    let encoded = get(&url("/page.php"), coding);
                    assert_eq!(encoded.coding(), coding, "{setting}");
                    assert!(encoded.decoded() == page.decoded(), "{setting}");
                }
            }
        }
        // Without a delta in the docroot it sends what all get; `dictionaries.rs` has deltas.
        WayKind::Delta => assert_eq!(get(&url("/lib.js"), "dcz, dcb").coding(), "identity", "{name}"),
        WayKind::Offload => {
            let header = found.definition.offload_header.as_deref().unwrap();
            let value = match header {
                "X-Accel-Redirect" => "/offload/photo.jpg".into(),
                _ => rig.files().join("photo.jpg").display().to_string(),
            };
            let file = get(&url(&format!("/page.php?header={header}&value={value}")), "identity");
            assert_eq!((file.status, file.body().len()), (200, 300_000), "{name}");
            assert_eq!(file.header("content-type"), Some("image/jpeg"), "{name}");
            assert!(file.header(header).is_none(), "{name}");
            assert_ne!(get(&url("/offload/photo.jpg"), "identity").status, 200, "{name}: for PHP alone");
        }
        WayKind::Transparent => {
            let file = get(&url("/offload/photo.jpg"), "identity");
            assert_eq!((file.status, file.body().len()), (200, 300_000), "{name}");
            // A download may be text as well.
            for (download, kind) in
                [("export.csv", "text/csv"), ("list.txt", "text/plain"), ("page.html", "text/html")]
            {
                std::fs::write(rig.files().join(download), "a;b;c\n").unwrap();
                let file = get(&url(&format!("/offload/{download}")), "identity");
                assert_eq!((file.status, file.body()), (200, &b"a;b;c\n"[..]), "{name}: {download}");
                let told = file.header("content-type").unwrap_or_default();
                assert!(told.starts_with(kind), "{name}: {download}: {told}");
            }
        }
        WayKind::Plain => {
            assert_eq!(get(&url("/lib.js"), "gzip, br, zstd").coding(), "identity", "{name}");
            assert_eq!(get(&url("/page.php"), "gzip, br, zstd").coding(), "identity", "{name}");
        }
    }
}

#[test]
fn nginx() {
    every_way_of("nginx");
}

#[test]
fn apache() {
    every_way_of("apache");
}

#[test]
fn lighttpd() {
    every_way_of("lighttpd");
}

#[test]
fn caddy() {
    every_way_of("caddy");
}

#[test]
fn the_server_of_php() {
    let rig = Rig::new();
    let Some(found) = server("php-builtin") else { return };
    let instance = rig.start(&found, &rig.site(None));
    judge(&rig, &found, &found.ways[0], "plain", &instance);
    assert!(instance.stop(), "it had to be killed");
    assert!(rig.left_over().is_empty());
}

//! Shared dictionaries: who has the version of before gets the delta, from the configuration that is written; and a real browser takes it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use weigh_codec::delta::{self, Coding};
use weigh_model::advised::Advised;
use weigh_os::programs::first_of;
use weigh_rig::server::dictionaries::{Dictionaries, Shared, Wish, offered};
use weigh_rig::server::{Definition, Found, Instance, Site};

use super::client::{Answer, get_with};
use super::fixture::{Rig, server, skip};
use super::secure::certified;
use crate::lab::WEIGH;

/// Two versions of a script.
const OLD: &str = "js/app.3f2a1b.js";
const NEW: &str = "js/app.9d1c22.js";

/// A script whose path has letters that mean something in URLs and in patterns: the path, a URL, and what its versions match.
const SPECIAL: [&str; 3] = [
    "js/(shop)/[id]/x+y \u{e9}%.js",
    "/js/(shop)/%5Bid%5D/x+y%20%C3%A9%25.js",
    "match=\"/js/\\\\(shop\\\\)/*id*/x\\\\+y%20%C3%A9%25.js\"",
];

/// The dictionary of the pages.
const SHARED: &str = "/family.dict";

/// A page of a family: most of it is what all have.
fn family(number: u32) -> String {
    let word = |i: u32| format!("{:x}", i.wrapping_mul(2_654_435_761));
    let menu: String =
        (1..150).map(|i| format!("<li><a href=\"/{}\">{}</a></li>\n", word(i), word(i * 7))).collect();
    let own: String =
        (0..20).map(|i| format!("<p>{} words of page {number}</p>\n", i * number + 7)).collect();
    format!("<!doctype html><html><body><ul>{menu}</ul>{own}</body></html>")
}

/// A script of some length that writes its version into the page.
fn script(version: u32) -> String {
    let functions: String = (0..1500).map(|i| format!("function f{i}() {{ return {i} * 7; }}\n")).collect();
    format!("{functions}document.documentElement.dataset.version = 'v{version}-' + f{}();\n", 1000 + version)
}

/// A document root with both versions, the new one packed against the old one.
fn packed(rig: &Rig) -> PathBuf {
    let docroot = rig.docroot();
    let old = rig.home.path().join("old");
    for (root, file, version) in
        [(&old, OLD, 1), (&docroot, NEW, 2), (&old, SPECIAL[0], 1), (&docroot, SPECIAL[0], 2)]
    {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), script(version)).unwrap();
    }
    for number in 0..12 {
        std::fs::write(docroot.join(format!("page{number}.html")), family(number)).unwrap();
    }
    let mut pack = Command::new(WEIGH);
    pack.arg("pack")
        .arg(&docroot)
        .arg("--against")
        .arg(&old)
        .arg("--dictionary")
        .arg(docroot.join(&SHARED[1..]));
    let packed = pack.output().unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    std::fs::copy(old.join(OLD), docroot.join(OLD)).unwrap();
    docroot
}

fn start(rig: &Rig, found: &Found, site: Site) -> Instance {
    let shared = Shared { path: SHARED.into(), pattern: "/*".into() };
    let wish = Wish { cache: Some("max-age=3600".into()), shared: Some(shared) };
    let dictionaries = Dictionaries::of(&rig.docroot(), &wish).unwrap();
    let advised = found.definition.with_advised(&Advised::default());
    let definition = Definition { dictionaries: Some(dictionaries), ..advised };
    rig.start(&definition.at(found.program.clone()), &site)
}

fn ask(instance: &Instance, accept: &str, offers: Option<&str>) -> Answer {
    let fields: Vec<(&str, &str)> = offers.map(|value| ("Available-Dictionary", value)).into_iter().collect();
    get_with(&instance.url(&format!("/{NEW}")), accept, &fields)
}

fn sends_deltas(name: &str) {
    let Some(found) = server(name) else { return };
    let rig = Rig::new();
    packed(&rig);
    let instance = start(&rig, &found, rig.with(None, "advised"));
    let (old, new) = (script(1).into_bytes(), script(2).into_bytes());
    let has_old = offered(&delta::digest(&old));
    for coding in Coding::ALL {
        let accept = format!("gzip, {};q=0.9", coding.name());
        let answer = ask(&instance, &accept, Some(&has_old));
        assert_eq!((answer.status, answer.coding()), (200, coding.name()), "{name}");
        let body = answer.body();
        assert!(body.len() < 300, "{name}: {} bytes of {}", body.len(), new.len());
        assert_eq!(delta::decode_independently(coding, &old, body, new.len()).unwrap().0, new, "{name}");
        let vary = answer.header("vary").unwrap_or_default().to_lowercase();
        assert!(vary.contains("accept-encoding") && vary.contains("available-dictionary"), "{name}: {vary}");
        assert!(answer.header("content-type").unwrap().starts_with("text/javascript"), "{name}");
        assert_eq!(answer.header("use-as-dictionary"), Some("match=\"/js/app.*.js\""), "{name}");
        assert_eq!(answer.header("cache-control"), Some("max-age=3600"), "{name}");
    }
    let answer = get_with(&instance.url(SPECIAL[1]), "dcz", &[("Available-Dictionary", &has_old)]);
    assert_eq!((answer.status, answer.coding()), (200, "dcz"), "{name}: {SPECIAL:?}");
    assert_eq!(
        delta::decode_independently(Coding::Dcz, &old, answer.body(), new.len()).unwrap().0,
        new,
        "{name}"
    );
    assert_eq!(answer.header("use-as-dictionary"), Some(SPECIAL[2]), "{name}");
    let other = offered(&delta::digest(b"another"));
    let all = "gzip, br, zstd, dcb, dcz";
    for (accept, offers) in [
        (all, None),
        (all, Some(other.as_str())),
        (all, Some("")),
        (all, Some(":../../../../etc/passwd:")),
        (all, Some("3f2a1b9d1c22")),
        ("gzip, br, zstd", Some(has_old.as_str())),
        ("", Some(has_old.as_str())),
        ("dcb;q=0, dcz;q=0.000", Some(has_old.as_str())),
        ("xdcz, dcbx", Some(has_old.as_str())),
    ] {
        let answer = ask(&instance, accept, offers);
        assert_eq!(answer.status, 200, "{name}: {accept} {offers:?}");
        assert_eq!(answer.decoded(), new, "{name}: {accept} {offers:?}");
        let vary = answer.header("vary").unwrap_or_default().to_lowercase();
        assert!(vary.contains("available-dictionary"), "{name}: {accept} {offers:?}: {vary}");
    }
    // Pages against what they have in common.
    let dictionary = std::fs::read(rig.docroot().join(&SHARED[1..])).unwrap();
    let has_it = offered(&delta::digest(&dictionary));
    let page =
        |accept: &str| get_with(&instance.url("/page3.html"), accept, &[("Available-Dictionary", &has_it)]);
    let (answer, wanted) = (page("dcz"), family(3).into_bytes());
    assert_eq!((answer.coding(), answer.header("content-type")), ("dcz", Some("text/html")), "{name}");
    assert!(answer.body().len() < 500, "{name}: {} bytes", answer.body().len());
    let decoded =
        delta::decode_independently(Coding::Dcz, &dictionary, answer.body(), wanted.len()).unwrap().0;
    assert_eq!(decoded, wanted, "{name}");
    for answer in [&answer, &page("gzip")] {
        let link = "</family.dict>; rel=\"compression-dictionary\"";
        assert_eq!(answer.header("link"), Some(link), "{name}");
    }
    let shared = get_with(&instance.url(SHARED), "", &[]);
    assert_eq!(
        (shared.body(), shared.header("use-as-dictionary")),
        (&dictionary[..], Some("match=\"/*\"")),
        "{name}"
    );
    // The deltas' own place is nobody's.
    let inner = get_with(&instance.url(&format!("/.weigh-delta/{NEW}")), "", &[]);
    assert_eq!(inner.status, 404, "{name}");
    assert!(instance.stop());
}

#[test]
fn nginx_sends_deltas_to_those_who_have_the_version_of_before() {
    sends_deltas("nginx");
}

#[test]
fn apache_sends_deltas_to_those_who_have_the_version_of_before() {
    sends_deltas("apache");
}

/// A browser that keeps what it knows.
struct Browser {
    program: PathBuf,
    home: PathBuf,
    key: String,
}

impl Browser {
    /// The page as it stands after its scripts ran.
    fn shows(&self, url: &str, log: &Path) -> String {
        let shown = Command::new("timeout")
            .arg("60")
            .arg(&self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"])
            .arg(format!("--user-data-dir={}", self.home.display()))
            .arg(format!("--ignore-certificate-errors-spki-list={}", self.key))
            .arg(format!("--log-net-log={}", log.display()))
            .arg("--net-log-capture-mode=IncludeSensitive")
            .arg(url)
            .env("HOME", &self.home)
            .output()
            .unwrap();
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        String::from_utf8(shown.stdout).unwrap()
    }
}

pub fn chromium() -> Option<PathBuf> {
    let found = first_of(&["chromium", "chromium-browser", "google-chrome"].map(str::to_owned));
    if found.is_none() {
        skip("no Chromium: apt install chromium");
    }
    found
}

/// The page of a version: it shows what the script wrote, and the bytes of its response as the browser counts them.
fn page(file: &str) -> String {
    format!(
        "<!doctype html><html><body><script src=\"/{file}\"></script><script>onload = () => {{\n\
         const [one] = performance.getEntriesByType('resource').filter(e => e.name.endsWith('{file}'));\n\
         document.body.dataset.sizes = one.encodedBodySize + '/' + one.decodedBodySize; }}</script></body></html>"
    )
}

#[test]
fn a_browser_takes_the_delta_and_shows_the_new_version() {
    let (Some(program), Some(found)) = (chromium(), server("nginx")) else { return };
    let rig = Rig::new();
    let docroot = packed(&rig);
    std::fs::write(docroot.join("one.html"), page(OLD)).unwrap();
    std::fs::write(docroot.join("two.html"), page(NEW)).unwrap();
    let (certificate, key) = certified(rig.home.path());
    let site = Site { tls: Some(certificate), ..rig.with(None, "advised") };
    let instance = start(&rig, &found, site);
    let home = rig.home.path().join("browser");
    std::fs::create_dir(&home).unwrap();
    let browser = Browser { program, home, key: STANDARD.encode(delta::digest(&key)) };
    let url = |page: &str| instance.url(page).replace("127.0.0.1", "localhost");
    let log = rig.home.path().join("net.json");

    let first = browser.shows(&url("/one.html"), &log);
    let (old, new) = (script(1), script(2));
    assert!(first.contains("data-version=\"v1-7007\""), "{first}");
    assert!(first.contains(&format!("data-sizes=\"{0}/{0}\"", old.len())), "{first}");
    // A dictionary is offered a moment after it was stored.
    std::thread::sleep(Duration::from_secs(3));
    let second = browser.shows(&url("/two.html"), &log);
    assert!(second.contains("data-version=\"v2-7014\""), "{second}");
    let sizes = second.split("data-sizes=\"").nth(1).unwrap().split('"').next().unwrap();
    let (encoded, decoded) = sizes.split_once('/').unwrap();
    assert_eq!(decoded, new.len().to_string(), "{second}");
    assert!(encoded.parse::<usize>().unwrap() < 300, "{sizes}");
    let wire = std::fs::read_to_string(&log).unwrap().to_lowercase();
    assert!(
        wire.contains("content-encoding: dcz") || wire.contains("content-encoding: dcb"),
        "nothing of it on the wire"
    );
    assert!(instance.stop());
}

//! A real browser: what it says of a page of ours, that hostile pages end in their time, and what `weigh site --browser` makes of it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::Value;
use weigh_model::page::{Found, PageGraph, Repeat, ResourceKind, Run};
use weigh_model::policy::{Encoder, LoadChange, Policy, Rule};
use weigh_model::site::{From, Kind, LinkShare, Site};
use weigh_os::network::Network;
use weigh_rig::browser::{Browser, BrowserSpec, LoadLimits, RecordedLoad, RecordedRequest, Relay};
use weigh_site::recorder;

use crate::lab::{Lab, WEIGH, free_port, has, serves_php};
use crate::load::server::{Server, response};
use crate::servers::advised::{decided, only};
use crate::servers::dictionaries::chromium;
use crate::servers::fixture::skip;

/// Pictures of a point are no content; this one has 20,000 of them in two colours.
fn picture() -> Vec<u8> {
    let mut file = b"BM".to_vec();
    let (width, height) = (200_u32, 100_u32);
    let size = 54 + width * height * 3;
    for number in [size, 0, 54, 40, width, height, 1 | (24 << 16), 0, width * height * 3, 0, 0, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    file.extend((0..width * height * 3).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8));
    file
}

const PAGE: &str = "<!doctype html><html><head><title>T</title><link rel=icon href=data:,><link rel=stylesheet href=a.css>\
     <script src=a.js></script></head><body><h1>Hello</h1><img src=hero.bmp><script>one()</script></body></html>";

/// The page with its style sheet, which imports another, and a script, which loads an image.
fn page(path: &str) -> Option<Vec<u8>> {
    let fresh = "Cache-Control: max-age=600\r\n";
    Some(match path {
        "/shop/" => response("Content-Type: text/html\r\nETag: \"1\"\r\n", PAGE.as_bytes()),
        "/shop/a.css" => response(
            &format!("Content-Type: text/css\r\n{fresh}"),
            b"@import 'b.css'; h1 { color: red }",
        ),
        "/shop/b.css" => response(&format!("Content-Type: text/css\r\n{fresh}"), b"h1 { margin: 0 }"),
        "/shop/a.js" => response(
            "Content-Type: text/javascript\r\nCache-Control: no-store\r\n",
            b"function one() { const image = new Image(20, 20); image.src = 'late.bmp'; document.body.append(image); }",
        ),
        "/shop/hero.bmp" | "/shop/late.bmp" => response("Content-Type: image/bmp\r\n", &picture()),
        _ => return None,
    })
}

/// The path that a head asks for.
fn path(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

fn shop() -> Server {
    Server::new(|head, _| page(path(head)).unwrap_or_else(|| response("", b"nothing")))
}

/// A browser that reaches this server alone; none where it cannot be tested.
struct Ground {
    browser: Browser,
    _relay: Relay,
    base: String,
}

fn ground(server: &Server) -> Option<Ground> {
    chromium()?;
    let network = match Network::private() {
        Ok(network) => network,
        Err(error) => {
            skip(&format!("no private network: {error:#}"));
            return None;
        }
    };
    let base = server.url("");
    let address: SocketAddr = base.trim_start_matches("http://").parse().unwrap();
    let relay = Relay::start(network.try_clone().unwrap(), Ipv4Addr::LOCALHOST, address).unwrap();
    let hosts = vec![("shop.example:80".to_owned(), relay.address())];
    let spec = BrowserSpec { hosts, launcher: WEIGH.into(), ..BrowserSpec::default() };
    let browser =
        network.within(|| Browser::start(&spec)).unwrap().unwrap_or_else(|error| panic!("{error:#}"));
    Some(Ground { browser, _relay: relay, base: "http://shop.example".into() })
}

impl Ground {
    fn load(&mut self, path: &str) -> anyhow::Result<RecordedLoad> {
        let limits = LoadLimits { patience: Duration::from_secs(180), ..LoadLimits::default() };
        self.browser.load(&format!("{}{path}", self.base), &limits)
    }
}

fn named<'l>(load: &'l RecordedLoad, name: &str) -> &'l RecordedRequest {
    let mut all = load.requests.iter();
    all.find(|request| request.url.ends_with(name)).unwrap_or_else(|| panic!("{name}: {load:#?}"))
}

#[test]
fn a_browser_says_what_a_page_loads_and_the_graph_who_asks_for_it() {
    let server = shop();
    let Some(mut ground) = ground(&server) else { return };
    assert!(ground.browser.version().contains("Chrome/"), "{}", ground.browser.version());
    let load = ground.load("/shop/").unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(load.cut, None);
    assert_eq!(load.requests.len(), 6, "{load:#?}");
    assert_eq!(load.markup, PAGE);
    let largest = load.largest.as_ref().unwrap();
    assert!(largest.url.as_ref().unwrap().ends_with("/shop/hero.bmp"), "{largest:?}");
    let (fcp, loaded) = (load.fcp_ms.unwrap(), load.load_ms.unwrap());
    assert!(fcp > 0.0 && largest.at_ms >= fcp && loaded > 0.0, "{fcp} {largest:?} {loaded}");
    let sheet = named(&load, "a.css");
    assert_eq!((sheet.kind.as_str(), sheet.priority.as_str(), sheet.status), ("Stylesheet", "VeryHigh", 200));
    assert_eq!(sheet.cache_control.as_deref(), Some("max-age=600"));
    assert_eq!((sheet.body_bytes, sheet.decoded_bytes, sheet.coding.as_str()), (34.0, 34.0, "identity"));
    assert!(sheet.timing.is_some_and(|timing| timing.first_byte_ms <= sheet.done_ms.unwrap()));
    assert!(named(&load, "b.css").initiator.url.as_ref().unwrap().ends_with("a.css"));
    // A second load finds nothing in the cache.
    assert_eq!(ground.load("/shop/").unwrap().requests.len(), 6);

    let graph = recorder::graph(std::slice::from_ref(&load)).unwrap();
    let at = |name: &str| graph.resources.iter().position(|one| one.url.ends_with(name)).unwrap();
    let one = |name: &str| &graph.resources[at(name)];
    assert_eq!(
        (at("/shop/"), graph.resources[0].kind, graph.resources[0].repeat),
        (0, ResourceKind::Document, Repeat::Validate)
    );
    assert_eq!(one("b.css").found, Found::After(at("a.css")));
    assert_eq!(one("late.bmp").found, Found::After(at("a.js")));
    let place = (PAGE.find("a.css>").unwrap() + 6) as f64 / PAGE.len() as f64;
    assert_eq!(one("a.css").found, Found::Markup(place));
    assert_eq!((one("a.js").run, one("a.js").repeat), (Some(Run::Blocking), Repeat::Again));
    assert_eq!(one("a.css").repeat, Repeat::Fresh);
    let blocking = ["a.css", "b.css", "a.js", "hero.bmp", "late.bmp"].map(|name| one(name).blocks_render);
    assert_eq!(blocking, [true, true, true, false, false]);
    assert!(["a.css", "hero.bmp", "late.bmp"].iter().all(|name| one(name).blocks_load));
    assert_eq!(graph.largest.image, Some(at("hero.bmp")));
    assert_eq!(graph.inline_scripts.len(), 1);
    let again: PageGraph = serde_json::from_str(&serde_json::to_string(&graph).unwrap()).unwrap();
    assert_eq!(again.resources.len(), 6);
}

/// Pages that open pages, ask, save files, and never end.
fn hostile(path: &str) -> Option<Vec<u8>> {
    let page = |script: &str| {
        let html =
            format!("<!doctype html><link rel=icon href=data:,><h1>Hello</h1><script>{script}</script>");
        response("Content-Type: text/html\r\n", html.as_bytes())
    };
    Some(match path.split('?').next().unwrap_or_default() {
        "/popups" => page("for (let n = 0; n < 20; n++) open('/other'); alert(1); confirm(2);"),
        "/download" => page("location = '/file'"),
        "/file" => {
            response("Content-Disposition: attachment\r\nContent-Type: application/octet-stream\r\n", b"x")
        }
        "/elsewhere" => page("location = '/other'"),
        "/moved" => b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/flood" => page(
            "let n = 0; const more = () => { for (let i = 0; i < 50; i++) fetch('/x?' + n++); setTimeout(more) }; more()",
        ),
        "/endless" => page("for (;;);"),
        "/timers" => page("setInterval(() => { document.body.dataset.n = Math.random() }, 1)"),
        "/blank" => response("Content-Type: text/html\r\n", b"<!doctype html><link rel=icon href=data:,>"),
        "/broken" => b"HTTP/1.1 500 Sorry\r\nContent-Length: 5\r\n\r\nsorry".to_vec(),
        _ => page(""),
    })
}

#[test]
fn hostile_pages_end_in_their_time() {
    let server = Server::new(|head, _| hostile(path(head)).unwrap_or_default());
    let Some(mut ground) = ground(&server) else { return };
    let loaded = |ground: &mut Ground, path: &str| {
        ground.load(path).unwrap_or_else(|error| panic!("{path}: {error:#}"))
    };
    assert_eq!(loaded(&mut ground, "/popups").requests.len(), 1, "what it opens is not its own");
    assert_eq!(loaded(&mut ground, "/timers").cut, None);
    let blank = loaded(&mut ground, "/blank");
    assert!(recorder::graph(&[blank]).unwrap_err().to_string().ends_with("nothing was painted"));
    for (path, why) in [
        ("/download", "it leads elsewhere by itself"),
        ("/elsewhere", "it leads elsewhere by itself"),
        ("/moved", "it leads to http://shop.example/other; give that"),
        ("/broken", "status 500"),
    ] {
        let error = format!("{:#}", ground.load(path).unwrap_err());
        assert!(error.contains(why), "{path}: {error}");
    }
    let limits = LoadLimits { requests: 300, patience: Duration::from_secs(180), ..LoadLimits::default() };
    let flood = ground.browser.load(&format!("{}/flood", ground.base), &limits);
    let flood = flood.unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(flood.cut.as_deref(), Some("more than 300 requests"));
    assert_eq!(flood.requests.len(), 300);
    assert!(ground.load("/other").is_ok(), "the browser still works");
    // A page that does nothing else any more does not say what it painted, and the browser goes with it.
    let limits = LoadLimits { patience: Duration::from_secs(3), ..LoadLimits::default() };
    let endless = ground.browser.load(&format!("{}/endless", ground.base), &limits);
    assert!(endless.is_err(), "{endless:?}");
}

#[test]
fn a_site_s_pages_are_recorded_and_their_loads_predicted() {
    let server = shop();
    let Some(ground) = ground(&server) else { return };
    drop(ground);
    let lab = Lab::new();
    let ran = lab.done(&["site", "--url", &server.url("/shop/"), "--browser", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    crate::schema::keeps("site", &found);
    let loads = found["page_loads"].as_array().unwrap_or_else(|| panic!("{}", ran.stderr));
    // Four links, two protocols, a first and a repeated visit.
    assert_eq!(loads.len(), 16, "{loads:?}");
    let ms = |load: &Value, what: &str| load[what].as_f64().unwrap();
    for load in loads {
        assert_eq!(load["page"], "/shop/");
        assert!(ms(load, "fcp_ms") > 0.0 && ms(load, "lcp_ms") >= ms(load, "fcp_ms"), "{load}");
    }
    let of = |link: &str, visit: &str| {
        let is_it =
            |load: &&Value| load["link"] == link && load["visit"] == visit && load["protocol"] == "HTTP/2";
        loads.iter().find(is_it).unwrap()
    };
    assert!(ms(of("4g", "first"), "lcp_ms") > ms(of("fibre", "first"), "lcp_ms"));
    assert!(of("4g", "repeat")["requests"].as_u64() < of("4g", "first")["requests"].as_u64());
    // What is advised follows from the loads.
    let site: Value = toml::from_str(&lab.read("site.toml")).unwrap();
    assert_eq!((&site["loaded"][0]["page"], &site["loaded"][0]["share"]), (&"/shop/".into(), &1.0.into()));
    let kept: Vec<_> = std::fs::read_dir(lab.path("site-sample/loads")).unwrap().flatten().collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    assert!(kept.file_name().to_string_lossy().ends_with("-shop.json"), "{kept:?}");
    let graph: PageGraph = serde_json::from_str(&std::fs::read_to_string(kept.path()).unwrap()).unwrap();
    graph.check().unwrap();
    assert_eq!(lab.left_over(), 0);
    assert_eq!(lab.processes(), Vec::<String>::new());
}

/// The shop with a style sheet that is this long.
fn with_sheet(bytes: usize) -> Server {
    let sheet = format!("h1 {{ color: red }} /* {} */", "x".repeat(bytes));
    Server::new(move |head, _| match path(head) {
        "/shop/a.css" => response("Content-Type: text/css\r\n", sheet.as_bytes()),
        other => page(other).unwrap_or_else(|| response("", b"nothing")),
    })
}

#[test]
fn a_page_is_compared_by_two_protocols() {
    needs!(has("caddy", "apt install caddy"));
    let Some(_) = ground(&shop()) else { return };
    let lab = Lab::new();
    let made = weigh_rig::server::certificate::make(&lab.path(".")).unwrap();
    lab.write(
        "www/index.html",
        "<!doctype html><link rel=icon href=data:,><link rel=stylesheet href=a.css><h1>Hello</h1>",
    );
    lab.write("www/a.css", "h1 { color: red }");
    let port = free_port();
    let [chain, key] = [&made.chain, &made.key].map(|path| path.display().to_string());
    let own = format!(
        "{{\n admin off\n auto_https off\n}}\nhttps://localhost:{port} {{\n bind 127.0.0.1\n tls {chain} {key}\n root * {}\n file_server\n}}\n",
        lab.path("www").display()
    );
    lab.write("Caddyfile", own);
    let _server = lab.serve("caddy", &["run", "--adapter", "caddyfile", "--config", "Caddyfile"], &[port]);
    let url = format!("https://localhost:{port}/");
    let compared = |versions: [&str; 2], time: &str| {
        let own = ["--http", versions[0], "--http", versions[1], "--link", "8mbit/100ms", "--for", time];
        lab.run(&[&["compare", "--paired", &url, &url, "--browser"], &own[..], &["--json"]].concat())
    };
    for versions in [["1.1", "3"], ["2", "3"]] {
        let ran = compared(versions, "10s");
        let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        let bytes = found["rows"].as_array().unwrap().iter().find(|row| row["metric"] == "requests").unwrap();
        assert_eq!((bytes["a"].as_f64(), bytes["b"].as_f64()), (Some(2.0), Some(2.0)), "{found}");
    }
    // What a server does not speak is no result.
    let plain = shop();
    let words =
        ["compare", "--paired", &plain.url("/shop/"), &plain.url("/shop/"), "--browser", "--http", "2"];
    let refused = lab.run(&words);
    assert!(
        refused.code == 2 && refused.stderr.contains("it does not speak HTTP/2, but http/1.1"),
        "{}",
        refused.stderr
    );
}

#[test]
fn two_pages_are_compared_as_visitors_see_them() {
    let (short, long) = (with_sheet(10), with_sheet(1_000_000));
    let Some(ground) = ground(&short) else { return };
    drop(ground);
    let lab = Lab::new();
    let (a, b) = (short.url("/shop/"), long.url("/shop/"));
    // Until there are rounds enough: a busy machine loads fewer pages in a time.
    let compared = |b: &str| {
        let of = |time: &&str| {
            let words = ["compare", "--paired", &a, b, "--browser", "--link", "8mbit/20ms", "--for", time];
            let ran = lab.run(&[&words[..], &["--gate", "lcp<5%", "--full", "--json"]].concat());
            let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
            (found["a"]["rounds"].as_u64() > Some(5)).then_some((ran.code, found))
        };
        ["15s", "60s"].iter().find_map(of).expect("six rounds in six minutes")
    };
    let (code, found) = compared(&b);
    crate::schema::keeps("comparison", &found);
    let row = |found: &Value, metric: &str| {
        let rows = found["rows"].as_array().unwrap();
        rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("{found}")).clone()
    };
    // 1 MB takes a second of the link. Where a busy machine loads the same page late in one of two browsers, that is said in the place
    // of a verdict.
    let is_noise =
        |change: &&Value| change["what"].as_str().unwrap().contains("in two browsers with the first page");
    let (noise, changes): (Vec<&Value>, Vec<&Value>) =
        found["changes"].as_array().unwrap().iter().partition(is_noise);
    assert_eq!(changes, Vec::<&Value>::new(), "the same picture, the same codings");
    let is_noisy =
        |metric: &str| noise.iter().any(|change| change["what"].as_str().unwrap().starts_with(metric));
    for metric in ["lcp", "fcp"] {
        let verdict = row(&found, metric)["verdict"].as_str().unwrap().to_owned();
        assert!(verdict.ends_with("worse") || verdict == "untested" && is_noisy(metric), "{found}");
    }
    assert_eq!(row(&found, "bytes")["verdict"], "worse", "{found}");
    assert_eq!(row(&found, "lcp")["configuration"], "/shop/@8mbit/20ms", "{found}");
    let more = row(&found, "lcp")["b"].as_f64().unwrap() - row(&found, "lcp")["a"].as_f64().unwrap();
    assert!((0.3..4.0).contains(&more) || is_noisy("lcp"), "{found}");
    assert!(code == 4 || row(&found, "lcp")["verdict"] != "worse", "{code}: {found}");
    assert_eq!(row(&found, "requests")["verdict"], "same", "{found}");
    let words = ["compare", "--paired", &a, &b, "--browser", "--for", "5s", "-f", "html"];
    let page = lab.done(&words).stdout;
    for shown in ["class=\"film\"", "data:image/jpeg;base64,", "title=\"/shop/a.css\""] {
        assert!(page.matches(shown).count() >= 2, "{shown}: {page}");
    }
    let (_, same) = compared(&a);
    assert_eq!(row(&same, "bytes")["verdict"], "same", "{same}");
    assert_eq!(lab.processes(), Vec::<String>::new());

    // One that paints nothing has no figures.
    let blank = Server::new(|head, _| hostile(path(head)).unwrap_or_default());
    let words = ["compare", "--paired", &a, &blank.url("/blank"), "--browser", "--for", "5s"];
    let refused = lab.run(&words);
    assert!(refused.code == 2 && refused.stderr.contains("nothing was painted"), "{}", refused.stderr);
    let study = lab.run(&["compare", "--paired", "cache-levels", "--browser"]);
    assert!(study.code == 2 && study.stderr.contains("give two URLs"), "{}", study.stderr);
}

/// A page that PHP makes, with a style sheet of 1.2 MB that is sent as it is.
const NGINX: &str = "events {}\nhttp { types { text/css css; } gzip off; server { listen 80; root ROOT; index index.php;\n\
    location ~ \\.php$ { include fastcgi_params; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_pass unix:/run/php.sock; } } }\n";

#[test]
fn a_policy_is_proved_by_loads_of_the_site_s_page() {
    needs!(serves_php());
    let server = shop();
    let Some(ground) = ground(&server) else { return };
    drop(ground);
    let lab = Lab::new();
    let root = lab.path("public");
    lab.write("nginx.conf", NGINX.replace("ROOT", root.to_str().unwrap()));
    lab.write("fastcgi_params", "fastcgi_param REQUEST_METHOD $request_method;\n");
    lab.write("public/app.css", "h1 { color: red; margin: 1px }\n".repeat(40_000));
    let page = "<!doctype html><link rel=icon href=data:,><link rel=stylesheet href=/app.css><h1>Hello</h1>";
    lab.write("public/index.php", page);
    let looked = ["site", "--docroot", "public", "--server-config", "nginx.conf", "--render", "--browser"];
    let ran = lab.done(&looked);
    let mut site: Site = Site::parse(&lab.read("site.toml"), "site.toml").unwrap();
    assert_eq!(site.loaded.len(), 1, "{}{}", ran.stdout, ran.stderr);
    site.visitors.links = vec![LinkShare { link: "8mbit/20ms".into(), share: 1.0, from: From::Given }];
    lab.write("site.toml", weigh_site::text(&site).unwrap());
    let mut rule = Rule::new("gzip", Encoder::Beforehand, "server/gzip_static");
    rule.encoder = Some("zlib:9".into());
    let ms = [400.0, 100.0];
    let load =
        LoadChange { page: "/".into(), link: "8mbit/20ms".into(), lcp_ms: ms, fcp_ms: ms, load_ms: ms };
    let policy = Policy { loads: vec![load], ..only(decided(Kind::Asset, vec![rule])) };
    lab.write("policy.toml", toml::to_string(&policy).unwrap());
    // Until there are rounds enough.
    let prove = |budget: &&str| {
        let words = ["prove", "policy.toml", "--budget", budget, "--json", "--html", "proof.html"];
        let ran = lab.run(&words);
        let proof: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        let lines = proof["lines"].as_array().unwrap();
        let lcp = lines.iter().find(|line| line["metric"] == "lcp").cloned();
        let lcp = lcp.unwrap_or_else(|| panic!("{} {}", proof["open"], ran.stderr));
        lcp["measured"]["low"].is_number().then_some((lcp, proof.clone()))
    };
    let (lcp, proof) = ["45s", "180s"].iter().find_map(prove).expect("rounds enough in nine minutes");
    assert_eq!(lcp["amount"], "LCP of / over 8mbit/20ms");
    // 1.2 MB take over a second of the link, and a few KB none: a busy machine adds to both.
    let [before, after] = ["before", "after"].map(|side| lcp["measured"][side].as_f64().unwrap());
    assert!(before > after && before - after > 0.1, "{proof:#}");
    let open = proof["open"].to_string();
    assert!(!open.contains("the picture") && !open.contains("not loaded in a browser"), "{proof:#}");
    let page = lab.read("proof.html");
    for shown in
        ["<b>before</b>", "<b>after</b>", "title=\"/app.css\"", "data:image/jpeg;base64,", "LCP of / over"]
    {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!lab.path("public/app.css.gz").exists(), "nothing is written to the site");
    assert_eq!(lab.left_over(), 0);
    assert_eq!(lab.processes(), Vec::<String>::new());
}

#[test]
fn without_a_browser_everything_else_is_as_before() {
    let (lab, server) = (Lab::new(), shop());
    let ran = lab
        .weigh(&["site", "--url", &server.url("/shop/"), "--browser"])
        .env("PATH", lab.path(""))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    assert!(
        errors.contains(
            "--browser: no Chromium was found here: apt install chromium; loads of pages are left out"
        ),
        "{errors}"
    );
    assert!(lab.path("site.toml").is_file());
}

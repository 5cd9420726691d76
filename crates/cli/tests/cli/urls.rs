//! URLs that are only measured: nothing is started, nothing but bytes and response times is claimed.

use serde_json::Value;

use crate::codec::text;
use crate::lab::{Lab, deliveries, serves_php, study};
use crate::load::server::{Server, response};

/// A study that is done in a moment.
const QUICK: [&str; 4] = ["--budget", "3", "--out", "run"];

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut wish = weigh_codec::Params::default();
    wish.options.insert("container".into(), "gzip".into());
    let mut out = Vec::new();
    let codec = weigh_codec::codecs::find("zlib").unwrap();
    codec.coder(&wish).unwrap().encode(text, &mut out).unwrap();
    out
}

/// Answers with gzip where that is asked for, and without a coding otherwise.
fn site() -> Server {
    Server::new(|head, _| {
        let page = text(20_000);
        match head.contains("Accept-Encoding: gzip\r\n") {
            true => response("Server: mine/1\r\nContent-Encoding: gzip\r\n", &gzip(page.as_ref())),
            false => response("Server: mine/1\r\n", page.as_ref()),
        }
    })
}

fn run(lab: &Lab, url: &str, more: &[&str]) -> crate::lab::Ran {
    let args: Vec<&str> = ["run", "--url", url].iter().chain(&QUICK).chain(more).copied().collect();
    lab.run(&args)
}

#[test]
fn a_url_is_measured_for_each_coding_that_it_answers_with() {
    let (lab, server) = (Lab::new(), site());
    let url = server.url("/app/site.css?v=1");
    let ran = run(&lab, &url, &["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    crate::schema::keeps("report", &found);
    crate::schema::keeps("plan", &lab.json("run/plan.json"));
    lab.records("run").iter().for_each(|record| crate::schema::keeps("record", record));
    let cells = found["rows"].as_array().unwrap();
    let ids: Vec<&str> = cells.iter().map(|c| c["cell"]["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["site.css/url/-/http/server/identity", "site.css/url/-/http/server/gzip"]);
    assert!(
        cells.iter().all(|c| c["values"]["cpu"].is_null() && crate::codec::value(c, "response-p50") > 0.0),
        "{cells:?}"
    );
    assert_eq!(
        (crate::codec::value(&cells[0], "body-bytes"), &cells[1]["facts"]["coding"]),
        (20_000.0, &"gzip".into())
    );
    assert!(cells.iter().any(|c| c["front"] == true), "by response time and bytes");
    assert!(
        cells.iter().all(|c| c["caveats"].as_array().unwrap().iter().any(|c| c["code"] == "not-metered"))
    );
    let visit = lab.records("run").into_iter().find(|r| r["type"] == "visit").unwrap();
    assert!(visit["delivery"]["server_cpu_ns"].is_null() && visit["delivery"]["switches"].is_null());
    let excluded = found["exclusions"].as_array().unwrap();
    assert_eq!(excluded[0]["reason"], "asked for br, the server sends no coding");
    let shown = lab.fine(&["runs", "show", "run", "--full"]);
    assert!(shown.contains("gzip in url") && shown.contains("without the server's CPU time"), "{shown}");
    assert!(shown.contains("server's CPU time was not measured"), "{shown}");
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_named_study_lends_its_question_and_budget() {
    let (lab, server) = (Lab::new(), site());
    let url = server.url("/");
    let plan: Value = serde_json::from_str(&lab.fine(&[
        "run",
        "--dry-run",
        "static-assets",
        "--quick",
        "--url",
        &url,
        "--json",
    ]))
    .unwrap();
    assert_eq!(plan["study"]["name"], "static-assets");
    assert_eq!(
        (&plan["servers"][0]["name"], &plan["servers"][0]["version"]),
        (&"url".into(), &"mine/1".into())
    );
    assert_eq!(plan["payloads"][0]["origin"]["url"], url);
    let line = lab.refused(&["run", "--dry-run", "cache-levels", "--url", &url]);
    assert!(line.contains("cache-levels measures codecs"), "{line}");
}

#[test]
fn an_own_page_stands_beside_the_cells_of_a_study() {
    needs!(serves_php());
    let (lab, server) = (Lab::new(), site());
    let url = server.url("/blog/");
    let block = deliveries(
        "page",
        "corpus:page-zlib",
        "php",
        "ways = [\"none\", \"gzencode:6\"]\nlinks = [\"-\", \"data-centre\"]",
    );
    lab.write("pages.toml", study("pages", [60, 2, 2], &block));
    let plan = lab.told(&["run", "--dry-run", "pages.toml", "--page", &url, "--php", "php", "--json"]);
    crate::schema::keeps("plan", &plan);
    let ids: Vec<&str> =
        plan["cells"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[4]), (5, "blog/url/-/http/server/identity"), "{ids:?}");
    let block = block.replace("links = [\"-\", \"data-centre\"]", "");
    lab.write("pages.toml", study("pages", [60, 5, 2], &block));
    let ran = lab.done(&["run", "pages.toml", "--page", &url, "--php", "php", "--out", "run", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let said: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|f| f["text"].as_str().unwrap()).collect();
    assert!(said.iter().any(|text| text.ends_with(" of your page.")), "{said:#?}");
    assert!(said.iter().any(|text| text.starts_with(&format!("{url} sends 20 KB"))), "{said:#?}");
    let line = lab.refused(&["run", "--dry-run", "cache-levels", "--page", &url]);
    assert!(line.contains("--page: cache-levels measures codecs"), "{line}");
    assert_eq!(lab.left_over(), 0, "{:?}", lab.processes());
}

#[test]
fn content_that_changes_is_said_to_change() {
    let lab = Lab::new();
    let server = Server::new(|_, n| response("", format!("{}{:08}", "page ".repeat(400), n).as_bytes()));
    let ran = run(&lab, &server.url("/"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let full = lab.fine(&["runs", "show", "run", "--full"]);
    assert!(full.contains("changed during the run"), "{full}");
}

#[test]
fn what_needs_a_login_or_is_elsewhere_is_refused() {
    let lab = Lab::new();
    let server = Server::new(|head, _| {
        let path = head.split(' ').nth(1).unwrap();
        let plain = |status: &str, more: &str| {
            format!("HTTP/1.1 {status}\r\n{more}Content-Length: 2\r\n\r\nno").into_bytes()
        };
        match path {
            "/401" => plain("401 Unauthorized", "WWW-Authenticate: Basic realm=x\r\n"),
            "/403" => plain("403 Forbidden", ""),
            "/admin" => plain("302 Found", "Location: /login?next=/admin\r\n"),
            "/moved" => plain("301 Moved Permanently", "Location: https://example.org/\r\n"),
            "/evil" => plain("302 Found", "Location: /\u{1b}[31m\r\n"),
            "/empty" => response("", b""),
            "/garbage" => b"hello\r\n\r\n".to_vec(),
            "/short" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz".to_vec(),
            _ => plain("404 Not Found", ""),
        }
    });
    for (path, said) in [
        ("/401", "status 401, it needs a login; measure what a user sees with: weigh load --header"),
        ("/403", "status 403, it needs a login"),
        ("/admin", "status 302, it leads to a login at /login?next=/admin"),
        ("/moved", "status 301, it leads to https://example.org/; measure that"),
        ("/evil", "a header with a control character"),
        ("/empty", "status 200 without a body"),
        ("/garbage", "not an HTTP/1 status line"),
        ("/short", "a chunk without a size"),
        ("/nothing", "status 404; give a URL that answers with 200"),
    ] {
        let line = lab.refused(&["run", "--url", &server.url(path)]);
        assert!(line.contains(said) && line.contains(path), "{path}: {line}");
    }
    for (args, said) in [
        (
            &["run", "--url", "http://192.0.2.1/"][..],
            "192.0.2.1 (192.0.2.1) is not this machine; load is sent there only with --allow-remote 192.0.2.1",
        ),
        (&["run", "--url", "127.0.0.1:1/x"], "did you mean http://127.0.0.1:1/x?"),
        (&["run", "--url", "http://user:secret@127.0.0.1/"], "a user name or password is refused"),
        (&["run", "--url", "http://127.0.0.1:9/"], "nobody answers there"),
        (&["run", "--url", "http://127.0.0.1/", "--content", "x"], "cannot be used with"),
        (&["run", "--allow-remote", "x"], "--url"),
    ] {
        let line = lab.refused(args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
    assert!(!lab.path("weigh-runs").exists());
}

//! Policies on the servers of this machine: each response is served as the policy says, and negotiates no worse than without it.

use weigh_answer::report::exhibit::{negotiation::NegotiationResult, quirk::Quirk};
use weigh_load::accept::Accept;
use weigh_model::policy::{Change, Decision, Encoder, Objective, Policy, Rule, SCHEMA};
use weigh_model::setting::Setting;
use weigh_model::site::{Kind, Site};
use weigh_os::interrupt::Interrupt;
use weigh_rig::fpm::Pool;
use weigh_rig::server::{Found, Instance};
use weigh_run::subject::delivery::negotiation::ask;
use weigh_site::configuration::{WritingContext, advised, emit};

use super::client::{get, get_with};
use super::fixture::{Rig, server};
use super::negotiation::cell;

/// Contents from here up are encoded.
const THRESHOLD: u64 = 1024;
const ACCEPT: [&str; 9] = [
    "zstd, br, gzip",
    "br, gzip",
    "gzip, deflate",
    "gzip",
    "br",
    "",
    "gzip;q=0",
    "br;q=0, gzip;q=0.5",
    "identity;q=0, gzip",
];

/// A page of PHP of a size, with its length.
const SIZED: &str = r#"<?php
$page = str_repeat("<p>a page that is well worth encoding</p>\n", (int) $_GET['lines']);
header('Content-Type: text/html; charset=utf-8');
header('Content-Length: ' . strlen($page));
echo $page;
"#;

fn rule(coding: &str, by: Encoder, method: &str, types: &[&str]) -> Rule {
    let types = types.iter().map(|name| (*name).to_owned()).collect();
    Rule { min_bytes: THRESHOLD, types, ..Rule::new(coding, by, method) }
}

pub fn decided(kind: Kind, rules: Vec<Rule>) -> Decision {
    Decision {
        kind,
        keep: false,
        text: format!("Encode {}.", kind.plural()),
        today: String::new(),
        rules,
        method: None,
        needs: Vec::new(),
        change: Change::default(),
        parts: Vec::new(),
        at_rate: None,
        flips: Vec::new(),
    }
}

fn policy(assets: Vec<Rule>, pages: Vec<Rule>) -> Policy {
    Policy {
        schema: SCHEMA,
        site: "shop".into(),
        site_sha256: String::new(),
        objective: Objective::Time,
        server: None,
        decisions: vec![decided(Kind::Asset, assets), decided(Kind::Page, pages)],
        unsettled: Vec::new(),
        machines: Vec::new(),
        pool: None,
        page_cache: None,
        php: Vec::new(),
        total: Change::default(),
        loads: Vec::new(),
        coverage: Vec::new(),
        trial: None,
        gates: Vec::new(),
    }
}

/// A policy of one decision.
pub fn only(decision: Decision) -> Policy {
    Policy { decisions: vec![decision], ..policy(Vec::new(), Vec::new()) }
}

const SCRIPTS: [&str; 2] = ["text/javascript", "text/css"];
const PAGES: [&str; 1] = ["text/html"];

/// Each response on the fly, alike for assets and pages.
fn on_the_fly(codings: &[&str]) -> Policy {
    let rules = |types: &[&str]| codings.iter().map(|c| rule(c, Encoder::Server, c, types)).collect();
    policy(rules(&SCRIPTS), rules(&PAGES))
}

/// Precompressed assets; gzip on the fly for others, with another level for pages.
fn before() -> Policy {
    let mut page = rule("gzip", Encoder::Server, "gzip", &PAGES);
    page.level = Some(4);
    let assets = vec![
        rule("br", Encoder::Beforehand, "before", &SCRIPTS),
        rule("gzip", Encoder::Beforehand, "before", &SCRIPTS),
    ];
    policy(assets, vec![page])
}

/// A file or page that is asked for.
struct Content {
    path: &'static str,
    kind: Kind,
    bytes: u64,
    /// Codings that there are precompressed files of.
    variants: &'static [&'static str],
    is_text: bool,
}

/// What the policy says of a response: codings from which the first that the client accepts is sent.
fn due<'p>(policy: &'p Policy, content: &Content) -> Vec<&'p str> {
    let decision = policy.decisions.iter().find(|decision| decision.kind == content.kind).unwrap();
    let holds = |rule: &&Rule| match rule.by {
        Encoder::Beforehand => content.variants.contains(&rule.coding.as_str()),
        _ => content.is_text && content.bytes >= rule.min_bytes,
    };
    decision.rules.iter().filter(holds).map(|rule| rule.coding.as_str()).collect()
}

struct Bench {
    rig: Rig,
    pool: Pool,
    found: Found,
}

impl Bench {
    fn of(name: &str) -> Option<Bench> {
        let found = server(name)?;
        let rig = Rig::new();
        let pool = rig.pool(2)?;
        let docroot = rig.docroot();
        std::fs::write(docroot.join("sized.php"), SIZED).unwrap();
        std::fs::write(docroot.join("small.js"), "f(1);\n".repeat(50)).unwrap();
        for variant in ["", ".br", ".gz"] {
            let from = docroot.join(format!("lib.js{variant}"));
            std::fs::copy(from, docroot.join(format!("lib.css{variant}"))).unwrap();
        }
        std::fs::write(docroot.join("photo.png"), vec![0x89; 5000]).unwrap();
        // Servers of precompressed files look at what is there.
        for variant in ["lib.js.zz", "lib.js.zst"] {
            std::fs::remove_file(docroot.join(variant)).unwrap();
        }
        Some(Bench { rig, pool, found })
    }

    fn site(&self) -> Site {
        let text = "schema = 1\nname = \"shop\"\nlooked = \"2026-11-24\"\n";
        let mut site: Site = toml::from_str(text).unwrap();
        site.sources.docroot = Some(self.rig.docroot().display().to_string());
        site
    }

    /// The server with a policy among its ways; none if it lacks something here.
    fn advised(&self, policy: &Policy) -> Option<Found> {
        let definition = &self.found.definition;
        let found = definition.with_advised(&advised(policy, &self.site(), definition, None).unwrap()).find();
        let way = found.ways.iter().find(|way| way.name == "advised").unwrap();
        if let Some(why) = &way.missing {
            println!("skipped: {} {policy:?}: {why}", definition.name);
        }
        way.missing.is_none().then_some(found)
    }

    fn asked(&self, instance: &Instance, path: &str) -> NegotiationResult {
        let content = get(&instance.url(path), "identity");
        assert_eq!((content.status, content.coding()), (200, "identity"), "{path}");
        let told = ask(&instance.url(path), None, content.body(), &Interrupt::new()).unwrap();
        assert_eq!((told.wrong_body(), &told.ended), (None, &None), "{path}");
        NegotiationResult::of(&cell(&self.found, Setting::bare("advised")), &told).unwrap()
    }
}

/// Quirks of every server's own filters, which no directive changes.
fn known(server: &str, policy: &Policy) -> Vec<Quirk> {
    let is_fly = policy.decisions.iter().flat_map(|d| &d.rules).any(|rule| rule.by == Encoder::Server);
    match server {
        // Of the uncompressed file.
        "apache" if is_fly => vec![Quirk::FalseMatch],
        "caddy" if is_fly => vec![Quirk::SharedEtag, Quirk::FalseMatch],
        // 1.4.69 takes `gzip;q=0` for `gzip`; the ETag is that of the uncompressed file, too.
        "lighttpd" if is_fly => vec![Quirk::Excluded, Quirk::FalseMatch],
        _ => Vec::new(),
    }
}

/// Where a remark was seen; nowhere without one.
fn seen(one: &NegotiationResult, quirk: Quirk) -> &[String] {
    one.remarks.iter().find(|remark| remark.quirk == quirk).map_or(&[], |remark| &remark.seen_in)
}

fn judge(bench: &Bench, policy: &Policy, contents: &[Content]) {
    let name = bench.found.definition.name.as_str();
    let emitted = emit(
        policy,
        &bench.site(),
        WritingContext {
            servers: std::slice::from_ref(&bench.found),
            place: Some(&bench.rig.place()),
            own: None,
        },
    );
    for file in emitted.unwrap() {
        assert_eq!(file.unchecked, None, "{}", file.text());
    }
    let Some(found) = bench.advised(policy) else { return };
    let plain = bench.rig.start(&bench.found, &bench.rig.site(Some(&bench.pool)));
    let instance = bench.rig.start(&found, &bench.rig.with(Some(&bench.pool), "advised"));
    for content in contents {
        let path = content.path;
        let due = due(policy, content);
        for accept in ACCEPT {
            let response = get(&instance.url(path), accept);
            assert_eq!(response.status, 200, "{name} {path} {accept}");
            let accepted = Accept::parse(accept);
            let first = due.iter().copied().find(|coding| accepted.takes(coding)).unwrap_or("identity");
            let is_excluded =
                name == "lighttpd" && accept.contains("q=0") && accepted.refuses(response.coding());
            assert!(
                is_excluded || response.coding() == first,
                "{name} {path} `{accept}`: {}, not {first}",
                response.coding()
            );
            let whole = get(&plain.url(path), "identity");
            assert!(response.decoded() == whole.body(), "{name} {path} {accept}");
            let kind = |answer: &super::client::Answer| answer.header("content-type").map(str::to_owned);
            assert_eq!(kind(&response), kind(&whole), "{name} {path} {accept}");
            if response.coding() != "identity" {
                let vary = response.header("vary").unwrap_or_default().to_ascii_lowercase();
                assert!(vary.contains("accept-encoding"), "{name} {path} {accept}: Vary is `{vary}`");
            }
        }
        if !content.is_text || content.bytes < THRESHOLD {
            continue;
        }
        let (was, is) = (bench.asked(&plain, path), bench.asked(&instance, path));
        let wrong = is.wrong().filter(|remark| !known(name, policy).contains(&remark.quirk));
        let wrong: Vec<_> = wrong.map(|remark| (remark.quirk, &remark.seen_in)).collect();
        assert!(wrong.is_empty(), "{name} {path}: {wrong:?}");
        for quirk in [Quirk::NoEtag, Quirk::NotMatched] {
            let is_worse = seen(&was, quirk).is_empty() && !seen(&is, quirk).is_empty();
            assert!(!is_worse, "{name} {path}: {quirk:?} of {:?}", seen(&is, quirk));
        }
        for quirk in [Quirk::WeakEtag, Quirk::HeadDiffers, Quirk::RangesIgnored, Quirk::NotResumed] {
            // These send precompressed files whole.
            let is_inherent = ["nginx", "lighttpd"].contains(&name)
                && [Quirk::RangesIgnored, Quirk::NotResumed].contains(&quirk);
            let before = |coding: &&String| {
                *coding == "identity" || !is_inherent && content.variants.contains(&coding.as_str())
            };
            let worse: Vec<_> =
                seen(&is, quirk).iter().filter(before).filter(|c| !seen(&was, quirk).contains(c)).collect();
            assert!(worse.is_empty(), "{name} {path}: {quirk:?} of {worse:?}");
        }
    }
    assert!(instance.stop() && plain.stop(), "{name} had to be killed");
}

/// Files and pages below and above the threshold.
fn contents(variants: &'static [&'static str]) -> Vec<Content> {
    let of = |path, kind, bytes, variants, is_text| Content { path, kind, bytes, variants, is_text };
    vec![
        of("/lib.js", Kind::Asset, 90_000, variants, true),
        of("/small.js", Kind::Asset, 300, &[], true),
        of("/photo.png", Kind::Asset, 5000, &[], false),
        of("/sized.php?lines=100", Kind::Page, 4100, &[], true),
        of("/sized.php?lines=3", Kind::Page, 123, &[], true),
    ]
}

fn every_policy_of(name: &str, codings: &[&str]) {
    let Some(bench) = Bench::of(name) else { return };
    judge(&bench, &on_the_fly(codings), &contents(&[]));
    let mut before_too = contents(&["br", "gzip"]);
    if name == "lighttpd" {
        // It sends variants of extensions only whose files all have one, and not every script has.
        before_too[0] = Content { path: "/lib.css", ..contents(&["br", "gzip"]).remove(0) };
    }
    judge(&bench, &before(), &before_too);
}

#[test]
fn nginx() {
    every_policy_of("nginx", &["br", "gzip"]);
}

#[test]
fn apache() {
    every_policy_of("apache", &["br", "gzip"]);
}

#[test]
fn lighttpd() {
    every_policy_of("lighttpd", &["br", "gzip"]);
}

#[test]
fn caddy() {
    every_policy_of("caddy", &["zstd", "gzip"]);
}

/// Which requests are answered uncompressed against BREACH, by the cases of the PHP library and the extension.
#[test]
fn pages_that_other_sites_ask_for() {
    let cases = include_str!("../../../../../php/rules/cases.json");
    let cases: serde_json::Value = serde_json::from_str(cases).unwrap();
    for name in ["apache", "caddy", "lighttpd"] {
        let Some(bench) = Bench::of(name) else { continue };
        let Some(found) = bench.advised(&on_the_fly(&["gzip"])) else { continue };
        let instance = bench.rig.start(&found, &bench.rig.with(Some(&bench.pool), "advised"));
        let mut withheld = 0;
        for case in cases["breach"].as_array().unwrap().iter().filter(|c| c["setting"] == "cross-site") {
            let fields = case["fields"].as_object().unwrap();
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
            let says_site = fields.iter().any(|(name, _)| *name == "Sec-Fetch-Site");
            // lighttpd cannot tell where the others come from.
            let expected = case["is_withheld"] == true && (name != "lighttpd" || says_site);
            let answer = get_with(&instance.url("/sized.php?lines=100"), "gzip", &fields);
            let coding = if expected { "identity" } else { "gzip" };
            assert_eq!((answer.status, answer.coding()), (200, coding), "{name}: {case}");
            let is_private = answer.header("cache-control").is_some_and(|value| value.contains("private"));
            assert_eq!(is_private, expected && name != "lighttpd", "{name}: {case}");
            withheld += u32::from(expected);
            if name != "apache" {
                let file = get_with(&instance.url("/lib.js"), "gzip", &fields);
                assert_eq!(
                    (file.coding(), file.header("cache-control")),
                    ("gzip", None),
                    "{name}: {case}: a file"
                );
            }
        }
        assert!(withheld > 15, "{name}: {withheld}");
        assert!(instance.stop(), "{name} had to be killed");
    }
}

/// Apache tells pages from files of the same type: what is not for pages leaves them as they are, and files are sent to everybody as before.
#[test]
fn apache_tells_pages_from_files() {
    let Some(bench) = Bench::of("apache") else { return };
    std::fs::write(bench.rig.docroot().join("file.html"), "<p>a file</p>\n".repeat(200)).unwrap();
    let for_assets = only(decided(Kind::Asset, vec![rule("gzip", Encoder::Server, "gzip", &PAGES)]));
    for (policy, of_page) in [(on_the_fly(&["gzip"]), "gzip"), (for_assets, "identity")] {
        let Some(found) = bench.advised(&policy) else { continue };
        let instance = bench.rig.start(&found, &bench.rig.with(Some(&bench.pool), "advised"));
        let ask = |path: &str, fields: &[(&str, &str)]| {
            let answer = get_with(&instance.url(path), "gzip", fields);
            (answer.coding().to_owned(), answer.header("cache-control").is_some())
        };
        let by_another_site = [("Cookie", "sid=1"), ("Sec-Fetch-Site", "cross-site")];
        let page = "/sized.php?lines=100";
        for fields in [&[][..], &by_another_site] {
            assert_eq!(ask("/file.html", fields), ("gzip".into(), false), "{policy:?}");
        }
        assert_eq!(ask(page, &[]), (of_page.into(), false), "{policy:?}");
        assert_eq!(ask(page, &by_another_site), ("identity".into(), of_page == "gzip"), "{policy:?}");
        assert!(instance.stop(), "it had to be killed");
    }
}

/// What the marshaller that is emitted does with Debian's Symfony: compresses from the threshold up, and reads what it did not compress.
#[test]
fn symfony_keeps_its_values() {
    let values = Rule { min_bytes: 100, ..rule("gzcompress", Encoder::Php, "gzcompress:6", &[]) };
    let mut policy = policy(Vec::new(), Vec::new());
    policy.decisions = vec![decided(Kind::Value, vec![values])];
    let site: Site = toml::from_str("schema = 1\nname = \"shop\"\nlooked = \"2026-11-24\"\n").unwrap();
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("config");
    let emitted = emit(&policy, &site, WritingContext { servers: &[], place: None, own: None }).unwrap();
    weigh_os::atomic_dir::write(&weigh_site::configuration::files(&emitted), &into).unwrap();
    let script = r#"<?php
        set_include_path('/usr/share/php');
        if (!@include 'Symfony/Component/Cache/autoload.php') { exit('no symfony'); }
        require $argv[1];
        $inner = new Symfony\Component\Cache\Marshaller\DefaultMarshaller(false);
        $ours = new App\Cache\WeighMarshaller($inner);
        foreach (array('small', str_repeat('large', 100), array(1, 2), random_bytes(500)) as $value) {
            $made = $ours->marshall(array('k' => $value), $failed)['k'];
            $plain = $inner->marshall(array('k' => $value), $failed)['k'];
            if ($ours->unmarshall($made) !== $value || $ours->unmarshall($plain) !== $value) { exit('lost'); }
            echo $made === $plain ? 'as it is ' : 'smaller ';
        }"#;
    let file = home.path().join("try.php");
    std::fs::write(&file, script).unwrap();
    let marshaller = into.join("symfony/WeighMarshaller.php");
    let Ok(ran) = std::process::Command::new("php").arg(&file).arg(&marshaller).output() else {
        return super::fixture::skip("no PHP: apt install php-cli");
    };
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    if said == "no symfony" {
        return super::fixture::skip("no Symfony: apt install php-symfony-cache");
    }
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(said, "as it is smaller as it is as it is ", "{errors}");
}

/// A site's configuration that compresses already, read from a file.
fn on_top(name: &str, text: &str) -> Option<weigh_site::configuration::own::OnTop> {
    let bench = Bench::of(name)?;
    let text = text.replace("DOCROOT", &bench.rig.docroot().display().to_string());
    // Where all files of an extension need a variant, small ones have one, too.
    let is_every = bench.found.definition.policy.as_ref().is_some_and(|emission| emission.every);
    for variant in ["br", "gz"].iter().filter(|_| is_every) {
        let at = |name: &str| bench.rig.docroot().join(format!("{name}.js.{variant}"));
        std::fs::copy(at("lib"), at("small")).unwrap();
    }
    let file = bench.rig.home.path().join("site.conf");
    std::fs::write(&file, &text).unwrap();
    let read = weigh_rig::server::own::read(&bench.found, &file, &text, &Default::default());
    let read = read.unwrap_or_else(|e| panic!("{e:#}"));
    let mut policy = before();
    policy.decisions[0].rules.push(rule("gzip", Encoder::Server, "gzip", &SCRIPTS));
    bench.advised(&policy)?;
    let place = bench.rig.place();
    let made =
        weigh_site::configuration::own::on_top(&policy, &bench.site(), &bench.found, &read, Some(&place));
    let made = made.unwrap_or_else(|e| panic!("{e:#}"));
    assert_eq!(made.refused, None, "{}", made.config.text);

    // Before and after stand side by side, and the policy holds in the user's own site.
    let found = bench.found.definition.with_own([&read.config, &made.config]).find();
    let tree = bench.rig.home.path().join("tree");
    let docroot = tree.join(bench.rig.docroot().strip_prefix("/").unwrap());
    std::fs::create_dir_all(&docroot).unwrap();
    for entry in std::fs::read_dir(bench.rig.docroot()).unwrap().flatten() {
        std::fs::copy(entry.path(), docroot.join(entry.file_name())).unwrap();
    }
    let site = |way: &str| weigh_rig::server::Site { docroot: tree.clone(), ..bench.rig.with(None, way) };
    let codings = |way: &str| {
        let instance = bench.rig.start(&found, &site(way));
        let coding = |path: &str| {
            let answer = get(&instance.url(path), "br, gzip");
            assert_eq!(answer.status, 200, "{name} {path}");
            let whole = std::fs::read(bench.rig.docroot().join(&path[1..])).unwrap();
            // Not the file that is beside the small one.
            assert!(path == "/small.js" || answer.decoded() == whole, "{name} {path}");
            answer.coding().to_owned()
        };
        let codings = [coding("/lib.js"), coding("/small.js"), coding("/lib.css")];
        assert!(instance.stop(), "{name} {way} had to be killed");
        codings
    };
    assert_eq!(codings("config"), ["gzip", "gzip", "gzip"], "{name}: as it was");
    // What the user's own filters compress below the threshold stays compressed; nginx has one threshold for all.
    let small = match name {
        "lighttpd" => "br",
        "nginx" => "identity",
        _ => "gzip",
    };
    assert_eq!(codings("advised"), ["br", small, "br"], "{name}: {}", made.config.text);
    Some(made)
}

/// `7 gzip_comp_level 9`: the line, and the directive.
fn told(clash: &weigh_site::configuration::own::Clash) -> String {
    let place = clash.place.rsplit(':').next().unwrap().to_owned();
    format!("{place} {}{}", clash.directive, if clash.stays { " stays" } else { "" })
}

#[test]
fn nginx_on_top_of_the_users_own() {
    let text = "server {\n    root DOCROOT;\n    gzip on;\n    gzip_types text/javascript text/css;\n    gzip_min_length 20;\n\
        \x20   location ~ \\.php$ {\n        gzip_comp_level 9;\n        fastcgi_pass unix:/run/php.sock;\n    }\n\
        \x20   location /old/ {\n        gzip off;\n    }\n}\n";
    let Some(made) = on_top("nginx", text) else { return };
    let mut told: Vec<String> = made.clashes.iter().map(told).collect();
    told.sort();
    assert_eq!(
        told,
        [
            "11 gzip off stays",
            "3 gzip on",
            "4 gzip_types text/javascript text/css",
            "5 gzip_min_length 20",
            "7 gzip_comp_level 9"
        ]
    );
}

#[test]
fn apache_on_top_of_the_users_own() {
    let text = "<VirtualHost *:80>\n    DocumentRoot DOCROOT\n    <Directory DOCROOT>\n        Require all granted\n    </Directory>\n\
        \x20   AddOutputFilterByType DEFLATE text/javascript text/css\n</VirtualHost>\n";
    let Some(made) = on_top("apache", text) else { return };
    assert_eq!(made.clashes, []);
}

#[test]
fn lighttpd_on_top_of_the_users_own() {
    let text = "server.modules = ( \"mod_deflate\", \"mod_staticfile\" )\nserver.document-root = \"DOCROOT\"\n\
        mimetype.assign = ( \".js\" => \"text/javascript\", \".css\" => \"text/css\" )\n\
        deflate.mimetypes = ( \"text/\" )\ndeflate.allowed-encodings = ( \"gzip\" )\n\
        $HTTP[\"url\"] =~ \"^/old/\" { deflate.compression-level = 9 }\n";
    let Some(made) = on_top("lighttpd", text) else { return };
    let mut told: Vec<String> = made.clashes.iter().map(told).collect();
    told.sort();
    // gzip's own level is another directive.
    assert_eq!(told, ["5 deflate.allowed-encodings = (\"gzip\")"]);
}

#[test]
fn caddy_on_top_of_the_users_own() {
    let text = ":80 {\n\troot * DOCROOT\n\tencode {\n\t\tgzip 1\n\t\tminimum_length 20\n\t}\n\tfile_server\n\
        \thandle /old/* {\n\t\tencode zstd\n\t}\n}\n";
    let Some(made) = on_top("caddy", text) else { return };
    assert_eq!(made.clashes, []);
}

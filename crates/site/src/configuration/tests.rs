//! What is emitted: what a policy's rules become for each server, what the files say, and where they are written.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use weigh_content::defs::Definitions;
use weigh_model::policy::{Change, Decision, Encoder, Objective, PageCaching, Rule, SCHEMA};
use weigh_model::site::{Alias, From, Kind, Today};
use weigh_model::way::WayKind;
use weigh_rig::server::Definition;
use weigh_rig::server::fixture::complete;
use weigh_rig::service::FolderDefinition;

fn servers() -> Vec<Found> {
    let all = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    all.iter().filter(|d| d.policy.is_some()).map(complete).collect()
}

fn rule(coding: &str, by: Encoder, method: &str, min_bytes: u64) -> Rule {
    Rule { min_bytes, ..Rule::new(coding, by, method) }
}

fn decided(kind: Kind, rules: Vec<Rule>, method: Option<&str>) -> Decision {
    Decision {
        kind,
        keep: false,
        text: format!("Do this with {}.", kind.plural()),
        today: "nothing".into(),
        rules,
        method: method.map(str::to_owned),
        needs: Vec::new(),
        change: Change::default(),
        parts: Vec::new(),
        at_rate: None,
        flips: Vec::new(),
    }
}

fn policy(decisions: Vec<Decision>) -> Policy {
    Policy {
        schema: SCHEMA,
        site: "shop".into(),
        site_sha256: "0".repeat(64),
        objective: Objective::Time,
        server: None,
        decisions,
        pool: None,
        page_cache: None,
        unsettled: Vec::new(),
        machines: Vec::new(),
        php: Vec::new(),
        total: Change::default(),
        loads: Vec::new(),
        coverage: Vec::new(),
        trial: None,
        gates: Vec::new(),
    }
}

/// Precompressed assets, gzip for those without a variant, another level for pages, downloads handed over, values with igbinary and zstd.
fn whole() -> Policy {
    let typed = |rule: Rule| Rule { types: vec!["text/css".into(), "text/javascript".into()], ..rule };
    let html = |rule: Rule| Rule { types: vec!["text/html".into()], ..rule };
    let decisions = vec![
        decided(
            Kind::Asset,
            vec![
                typed(rule("br", Encoder::Beforehand, "brotli_static", 1000)),
                typed(rule("gzip", Encoder::Beforehand, "gzip_static", 1000)),
                typed(rule("gzip", Encoder::Server, "gzip:6", 500)),
            ],
            None,
        ),
        decided(Kind::Page, vec![html(rule("gzip", Encoder::Server, "gzip:4", 1000))], None),
        decided(Kind::Download, Vec::new(), Some("x-accel-redirect")),
        decided(
            Kind::Value,
            vec![Rule { serializer: Some("igbinary".into()), ..rule("zstd", Encoder::Php, "zstd:1", 2048) }],
            None,
        ),
    ];
    policy(decisions)
}

fn site() -> Site {
    let text = "schema = 1\nname = \"shop\"\nlooked = \"2026-11-24\"\n";
    let mut site: Site = toml::from_str(text).unwrap();
    site.sources.docroot = Some("/var/www/shop".into());
    site
}

/// The same where PHP compresses pages by a setting today.
fn setting_today() -> Site {
    let method = "php/zlib.output_compression:1".into();
    let today = Today { kind: Kind::Page, method, about: "gzip 1 in PHP".into(), from: From::Assumed };
    Site { today: vec![today], ..site() }
}

fn emitted(policy: &Policy) -> Vec<Emitted> {
    emitted_at(policy, &site())
}

fn emitted_at(policy: &Policy, site: &Site) -> Vec<Emitted> {
    emit(policy, site, WritingContext { servers: &servers(), place: None, own: None }).unwrap()
}

#[test]
fn a_policy_is_written_like_this() {
    let all = emitted(&whole());
    let shown = |file: &Emitted| {
        // Whether a module is on this machine is not the policy's.
        let file = Emitted { unchecked: None, ..file.clone() };
        format!("==== {}\n{}\n", file.file.display(), file.text())
    };
    insta::assert_snapshot!(all.iter().map(shown).collect::<String>());
}

#[test]
fn what_is_emitted_is_said_as_data() {
    let all = emitted(&whole());
    let of =
        |file: &str| all.iter().find(|e| e.file == Path::new(file)).unwrap_or_else(|| panic!("no {file}"));
    let line = of("nginx/pages.conf");
    assert_eq!(line.line, "include /etc/nginx/weigh/pages.conf;");
    assert_eq!(line.place, "in the location that has fastcgi_pass");
    // A virtual host of Apache has one level per filter, and the second rule's is another.
    let apache = of("apache/encoding.conf").cannot();
    assert!(apache.iter().any(|what| what.starts_with("level 4 for text/html")), "{apache:?}");
    assert!(!of("nginx/encoding.conf").cannot().is_empty());
    assert!(of("apache/downloads.conf").body.contains("XSendFilePath \"/srv/downloads\""));
}

#[test]
fn files_behind_an_alias_have_variants_too() {
    let mut site = site();
    let alias = |url: &str, folder: &str| Alias { url: url.into(), folder: folder.into() };
    site.sources.aliases =
        vec![alias("/wp-content", "/var/lib/wordpress/wp-content"), alias("/a.b", "/srv/ab")];
    let all = emit(&whole(), &site, WritingContext { servers: &servers(), place: None, own: None }).unwrap();
    let apache = all.iter().find(|e| e.file == Path::new("apache/encoding.conf")).unwrap();
    for line in [
        "RewriteCond \"%{REQUEST_URI}\" \"^/wp-content(/.+)$\"",
        "RewriteCond \"/var/lib/wordpress/wp-content%1.br\" -f",
        "RewriteCond \"%{REQUEST_URI}\" \"^/a\\.b(/.+)$\"",
        "RewriteRule \"^(.+)$\" \"$1.br\" [L,PT]",
    ] {
        assert!(apache.body.lines().any(|l| l == line), "{line}: {}", apache.body);
    }
    site.sources.aliases = vec![alias("/x\"y", "/srv/x")];
    assert!(emit(&whole(), &site, WritingContext { servers: &servers(), place: None, own: None }).is_err());
}

#[test]
fn rules_become_the_methods_of_each_server() {
    let named = |name: &str| servers().into_iter().find(|s| s.definition.name == name).unwrap().definition;
    let methods = |wish: &weigh_model::advised::Advised| -> Vec<String> {
        wish.rules.iter().map(|e| format!("{} {}", e.method, e.codings.join("+"))).collect()
    };
    let apache = advised(&whole(), &site(), &named("apache"), None).unwrap();
    assert_eq!(methods(&apache), ["rewrite br+gzip", "mod_deflate gzip", "mod_deflate gzip"]);
    assert_eq!((apache.pages.is_none(), apache.downloads.as_deref()), (true, Some("x-sendfile")));
    let nginx = advised(&whole(), &site(), &named("nginx"), None).unwrap();
    assert_eq!(methods(&nginx), ["brotli_static br", "gzip_static gzip", "gzip gzip", "brotli br"]);
    let pages = nginx.pages.unwrap();
    assert_eq!((pages.len(), pages[0].level, pages[0].off, pages[1].off), (2, Some(4), false, true));
    // Where PHP compresses pages, the server leaves them alone.
    let mut by_php = whole();
    by_php.decisions[1].rules = vec![rule("gzip", Encoder::Php, "zlib.output_compression:6", 0)];
    let pages = advised(&by_php, &site(), &named("nginx"), None).unwrap().pages.unwrap();
    assert!(pages.len() == 2 && pages.iter().all(|page| page.off), "{pages:?}");
    let ini = emitted_at(&by_php, &setting_today());
    let ini = ini.into_iter().find(|e| e.file == Path::new("php/weigh.ini")).unwrap();
    assert!(ini.body.contains("\nzlib.output_compression = On\n"), "{}", ini.body);
    assert!(ini.body.ends_with("\nzlib.output_compression_level = 6\n"), "{}", ini.body);
}

#[test]
fn what_stays_as_it_is_is_not_written() {
    let mut keep = whole();
    keep.decisions.iter_mut().for_each(|decision| decision.keep = true);
    assert_eq!(emitted(&keep), []);
    // A server that cannot tell pages from assets leaves HTML alone where nothing is decided for pages.
    let assets = policy(vec![decided(Kind::Asset, vec![rule("gzip", Encoder::Server, "gzip:6", 0)], None)]);
    for file in emitted(&assets) {
        let has_html =
            file.body.lines().any(|line| !line.trim().starts_with('#') && line.contains("text/html"));
        assert!(!has_html, "{}", file.text());
    }
}

/// The library itself reads the array and says what it holds.
#[test]
fn the_library_reads_the_policy() {
    let Ok(php) = std::process::Command::new("php").arg("-v").output() else {
        println!("skipped: the library reads the policy: php is not installed: apt install php-cli");
        return;
    };
    assert!(php.status.success());
    let mut policy = whole();
    policy.decisions[1].rules = vec![
        Rule {
            types: vec!["text/html".into()],
            ..rule("zstd", Encoder::Php, "weighbridge:3,coding=zstd", 900)
        },
        rule("gzip", Encoder::Php, "php/gzencode:5", 1000),
        rule("snappy", Encoder::Php, "snappy", 1000),
        rule("gzip", Encoder::Server, "gzip:4", 1000),
    ];
    let all = emitted(&policy);
    let file = all.iter().find(|one| one.file == Path::new("php/weighbridge.php")).unwrap();
    assert_eq!(file.cannot(), ["snappy, which the library does not have."]);
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("it's.php");
    std::fs::write(&path, file.text()).unwrap();
    let autoload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../php/library/autoload.php");
    let code = "require $argv[1]; echo json_encode(Weighbridge\\Library\\Settings::fromFile($argv[2]), JSON_UNESCAPED_SLASHES);";
    let said = std::process::Command::new("php")
        .args(["-n", "-r", code, "--"])
        .args([&autoload, &path])
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    let read: serde_json::Value =
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}: {}", file.text()));
    let rule = |at: usize| {
        let rule = &read["page"]["rules"][at];
        [&rule["coding"], &rule["codec"], &rule["level"], &rule["minBytes"]]
            .map(ToString::to_string)
            .join(" ")
    };
    assert_eq!((rule(0), rule(1)), (r#""zstd" "zstd" 3 900"#.into(), r#""gzip" "zlib" 5 1000"#.into()));
    assert_eq!(read["page"]["rules"].as_array().unwrap().len(), 2);
    assert_eq!((&read["value"]["codec"], &read["value"]["level"]), (&"zstd".into(), &1.into()));
    assert_eq!(
        (&read["download"]["prefix"], &read["download"]["root"]),
        (&"/offload/".into(), &"/srv/downloads".into())
    );
}

#[test]
fn a_hostile_policy_is_refused_with_a_line_or_cannot_leave_a_comment() {
    let with = |change: fn(&mut Rule)| {
        let mut policy = whole();
        change(&mut policy.decisions[0].rules[2]);
        let emitted = emit(&policy, &site(), WritingContext { servers: &servers(), place: None, own: None });
        emitted.unwrap_err().to_string()
    };
    let types = with(|rule| rule.types = vec!["text/css; } evil on; #".into()]);
    assert_eq!(types, "policy: `text/css; } evil on; #` is not a media type");
    let level = with(|rule| rule.level = Some(99));
    assert!(level.contains("levels 1 to 9, not 99"), "{level}");
    let coding = with(|rule| rule.coding = "\u{1b}[2Jevil".into());
    assert!(coding.contains("no method that sends") && !coding.contains('\u{1b}'), "{coding}");
    let mut told = whole();
    told.decisions[0].text = "Precompress.\ngzip off;\n".into();
    for file in emitted(&told) {
        assert!(!file.text().lines().any(|line| line.starts_with("gzip off")), "{}", file.text());
    }
    let mut value = whole();
    value.decisions[3].rules[0].serializer = Some("msgpack".into());
    let error = emit(&value, &site(), WritingContext { servers: &[], place: None, own: None })
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot use the serializer `msgpack`"), "{error}");
}

#[test]
fn the_folder_is_private_and_has_every_file_and_a_list_of_them() {
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("config");
    let here = servers();
    let here = WritingContext { servers: &here, place: None, own: None };
    let all = emit(&whole(), &site(), here).unwrap();
    weigh_os::atomic_dir::write(&files(&all), &into).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&into), mode(&into.join("nginx"))), (0o700, 0o700));
    for file in &all {
        assert_eq!(mode(&into.join(&file.file)), 0o600);
        assert_eq!(std::fs::read_to_string(into.join(&file.file)).unwrap(), file.text());
    }
    let readme = std::fs::read_to_string(into.join("README")).unwrap();
    assert!(
        readme.contains("nginx/encoding.conf") && readme.contains("include /etc/nginx/weigh/encoding.conf;")
    );
    assert!(
        all.iter().flat_map(|one| &one.first).all(|first| readme.contains(&format!("    first: {first}\n")))
    );
}

/// Clients without br and zstd, proxies among them, lose nothing, whoever encodes.
#[test]
fn gzip_stands_beside_other_codings() {
    for definition in servers().into_iter().map(|found| found.definition) {
        for coding in ["br", "zstd"] {
            let kinds = [WayKind::OnTheFly, WayKind::PreEncoded];
            for kind in kinds.into_iter().filter(|kind| {
                definition.ways.iter().any(|row| row.kind == *kind && row.codings.iter().any(|c| c == coding))
            }) {
                let by = if kind == WayKind::OnTheFly { Encoder::Server } else { Encoder::Beforehand };
                let policy = policy(vec![decided(Kind::Asset, vec![rule(coding, by, "any", 0)], None)]);
                let wish = advised(&policy, &site(), &definition, None).unwrap();
                let gzip: Vec<_> =
                    wish.rules.iter().filter(|r| r.is_on_the_fly() && r.codings == ["gzip"]).collect();
                assert_eq!(gzip.len(), 1, "{} {coding}: {wish:?}", definition.name);
                assert!(gzip[0].types.iter().any(|name| name == "application/json"), "{gzip:?}");
            }
        }
    }
    let by_php =
        policy(vec![decided(Kind::Page, vec![rule("br", Encoder::Php, "weighbridge:5,coding=br", 0)], None)]);
    let all = emitted(&by_php);
    let file = all.iter().find(|one| one.file == Path::new("php/weighbridge.php")).unwrap();
    assert!(file.body.contains("['coding' => 'gzip', 'codec' => 'zlib', "), "{}", file.body);
}

/// `brotli_static` takes gzip from clients that accept br, also for files without a variant and for error pages.
#[test]
fn a_filter_of_the_same_coding_stands_beside_precompressed_files_that_switch_the_others_off() {
    let nginx = servers().into_iter().find(|s| s.definition.name == "nginx").unwrap().definition;
    let wish = advised(&whole(), &site(), &nginx, None).unwrap();
    let brotli = |rules: &[weigh_model::advised::Encoding]| -> Vec<_> {
        let found = rules.iter().filter(|rule| rule.method == "brotli");
        found.map(|rule| (rule.off, rule.min_bytes, rule.types.clone())).collect()
    };
    let gzip = wish.rules.iter().find(|rule| rule.method == "gzip").unwrap();
    assert_eq!(brotli(&wish.rules), [(false, gzip.min_bytes, gzip.types.clone())]);
    // Pages are as they were decided.
    assert_eq!(brotli(&wish.pages.unwrap()).len(), 1);
    assert!(brotli(&advised(&whole(), &site(), &nginx, None).unwrap().pages.unwrap())[0].0);
    let mut only_assets = whole();
    only_assets.decisions.remove(1);
    let wish = advised(&only_assets, &site(), &nginx, None).unwrap();
    assert!(brotli(&wish.rules).len() == 1 && brotli(&wish.pages.unwrap())[0].0);
    // Where the policy has the filter, one is enough; other servers leave gzip alone.
    let mut both = whole();
    both.decisions[0].rules.push(rule("br", Encoder::Server, "brotli:5", 0));
    assert_eq!(brotli(&advised(&both, &site(), &nginx, None).unwrap().rules).len(), 1);
    for found in servers().into_iter().filter(|s| s.definition.name != "nginx") {
        let wish = advised(&whole(), &site(), &found.definition, None).unwrap();
        assert!(wish.rules.iter().all(|rule| !rule.is_on_the_fly() || rule.codings != ["br"]), "{wish:?}");
    }
}

/// The parts of nginx's own configuration that are read here.
fn nginx_with(http: &str, php: &str) -> (Found, Read) {
    let found = servers().into_iter().find(|s| s.definition.name == "nginx").unwrap();
    let text = format!(
        "http {{\n{http}\nserver {{\nroot /var/www/shop;\nlocation ~ \\.php$ {{\n{php}\nfastcgi_pass unix:/run/php.sock;\n}}\n}}\n}}\n"
    );
    let read = weigh_rig::server::own::read(&found, Path::new("nginx.conf"), &text, &Default::default());
    (found, read.unwrap_or_else(|error| panic!("{error:#}")))
}

#[test]
fn a_cache_of_pages_stands_around_the_site_and_beside_php() {
    let (found, read) = nginx_with("", "");
    let (text, pages) = ("Hold pages.".to_owned(), vec!["/".to_owned(), "/b\"; }\n$uri".to_owned()]);
    let (keep, seconds, no_cookies, hits, cpu_ms, refused) = (false, 60, true, None, None, Vec::new());
    let cache = PageCaching { keep, text, seconds, pages, no_cookies, hits, cpu_ms, refused };
    let mut policy = Policy { page_cache: Some(cache), ..policy(Vec::new()) };
    let text_of = |policy: &Policy| own::on_top(policy, &site(), &found, &read, None).unwrap().config.text;
    assert!(!text_of(&policy).contains("_ga"), "nobody with a cookie");
    policy.page_cache.iter_mut().for_each(|cache| cache.no_cookies = false);
    let text = text_of(&policy);
    assert!(text.contains("_ga"), "{text}");
    let line = |what: &str| {
        text.lines().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {text}"))
    };
    assert!(
        line("server {") < line("fastcgi_cache_valid 200 60s")
            && line("fastcgi_cache_lock on") < line("map $request_uri $weigh_held"),
        "{text}"
    );
    // A page's name ends no word.
    assert!(text.contains(r#""~^/b\x22\x3B\x20\x7D\x0A\x24uri$" "held";"#), "{text}");
    let files = carriers(&policy, &site(), &found, Some(&read)).unwrap();
    assert_eq!(
        files.iter().map(|(file, kinds)| (file.as_str(), kinds.len())).collect::<Vec<_>>(),
        [("nginx/page-cache-zone.conf", 0), ("nginx/page-cache.conf", 0)]
    );
}

/// Feeds have validators that applications do not know again once nginx has compressed them.
#[test]
fn pages_are_html_and_what_is_compressed_of_them_today() {
    let gzip = |kind| decided(kind, vec![rule("gzip", Encoder::Server, "gzip:6", 0)], None);
    let types = |policy: &Policy, http: &str, php: &str| {
        let (found, read) = nginx_with(http, php);
        let wish = advised(policy, &site(), &found.definition, Some(&read)).unwrap();
        assert!(wish.rules[0].types.iter().any(|name| name == "application/rss+xml"), "{wish:?}");
        wish.pages.unwrap_or_default().into_iter().map(|rule| (rule.off, rule.types)).collect::<Vec<_>>()
    };
    let html = vec!["text/html".to_owned()];
    let by_php = decided(Kind::Page, vec![rule("gzip", Encoder::Php, "gzencode:6", 0)], None);
    let told = policy(vec![gzip(Kind::Asset), gzip(Kind::Page)]);
    assert_eq!(types(&told, "", ""), [(false, html.clone())]);
    for (http, php) in [("gzip_types application/json;", ""), ("", "gzip_types application/json;")] {
        let more = vec!["text/html".to_owned(), "application/json".to_owned()];
        assert_eq!(types(&told, http, php), [(false, more)]);
    }
    // Where nothing is decided for pages they are as they were.
    let untold = policy(vec![gzip(Kind::Asset)]);
    assert!(types(&untold, "", "").iter().all(|(off, _)| *off));
    assert_eq!(types(&untold, "gzip on;", ""), [(false, html)]);
    // At the level of today, whatever holds for assets.
    for (own, level) in [("", 1), ("gzip_comp_level 5;", 5)] {
        for policy in [&untold, &policy(vec![gzip(Kind::Asset), by_php.clone()])] {
            let (found, read) = nginx_with(&format!("gzip on; {own}"), "");
            let pages = advised(policy, &site(), &found.definition, Some(&read)).unwrap().pages.unwrap();
            assert_eq!((pages[0].off, pages[0].level), (false, Some(level)), "{policy:?}");
        }
    }
}

/// Apache has one level per filter.
#[test]
fn what_is_compressed_beside_precompressed_files_leaves_the_level_of_pages() {
    let before = rule("br", Encoder::Beforehand, "any", 0);
    let gzip = rule("gzip", Encoder::Server, "gzip:1", 0);
    let pages = decided(Kind::Page, vec![rule("gzip", Encoder::Server, "gzip:4", 0)], None);
    let level = |decisions: Vec<Decision>| {
        let servers = servers();
        let apache = servers.iter().find(|s| s.definition.name == "apache").unwrap();
        let wish = advised(&policy(decisions), &site(), &apache.definition, None).unwrap();
        wish.rules.iter().find(|rule| rule.is_on_the_fly()).unwrap().level
    };
    let assets = decided(Kind::Asset, vec![before, gzip.clone()], None);
    assert_eq!(level(vec![assets.clone()]), None);
    assert_eq!(level(vec![assets, pages]), Some(1));
    assert_eq!(level(vec![decided(Kind::Asset, vec![gzip], None)]), Some(1));
}

/// What one has encoded stops the other; and a setting that is new would also encode what is not a page.
#[test]
fn settings_of_php_or_the_library_compress_pages_and_no_file_is_empty() {
    let by = |site: &Site, methods: &[&str]| {
        let rules = methods.iter().map(|method| rule("gzip", Encoder::Php, method, 0)).collect();
        let value = decided(Kind::Value, vec![rule("zstd", Encoder::Php, "zstd:1", 2048)], None);
        let all = emitted_at(&policy(vec![decided(Kind::Page, rules, None), value]), site);
        let body =
            |name: &str| all.iter().find(|one| one.file == Path::new(name)).map(|one| one.body.clone());
        let library = body("php/weighbridge.php").unwrap();
        (body("php/weigh.ini").is_some(), library.contains("'codec' => 'zlib', "))
    };
    let set = setting_today();
    assert_eq!(by(&set, &["zlib.output_compression:6"]), (true, false));
    assert_eq!(by(&site(), &["zlib.output_compression:6"]), (false, true));
    assert_eq!(by(&set, &["gzencode:6"]), (false, true));
    assert_eq!(by(&set, &["gzencode:6", "zlib.output_compression:6"]), (false, true));
}

#[test]
fn the_library_says_what_ffi_takes() {
    let first = |what: &str| {
        let mut policy = whole();
        policy.decisions[1].rules = vec![rule("zstd", Encoder::Php, "zstd:3", 0)];
        policy.decisions[1].needs = vec![weigh_model::policy::Need { what: what.into(), how: String::new() }];
        let all = emitted(&policy);
        all.iter().find(|one| one.file == Path::new("php/weighbridge.php")).unwrap().first.join("\n")
    };
    for what in ["ext-zstd (through FFI here)", "FFI"] {
        let steps = first(what);
        for word in ["ffi.enable=preload", "opcache.preload=", "preload.php", "opcache.preload_user="] {
            assert!(steps.contains(word), "{what}: {steps}");
        }
    }
    assert!(!first("ext-zstd").contains("ffi.enable"));
}

/// The size is the policy's; of one that says none it is the server's or the site's own, or 256 bytes.
#[test]
fn small_content_stays_compressed() {
    let nginx = servers().into_iter().find(|s| s.definition.name == "nginx").unwrap().definition;
    for (size, expected) in [(0, 256), (145, 145), (256, 256), (10_000, 10_000)] {
        let policy =
            policy(vec![decided(Kind::Asset, vec![rule("gzip", Encoder::Server, "gzip:6", size)], None)]);
        let wish = advised(&policy, &site(), &nginx, None).unwrap();
        assert_eq!(wish.rules[0].min_bytes, expected, "{size}");
        // gzip beside another coding has the same size.
        let br = decided(Kind::Asset, vec![rule("br", Encoder::Server, "brotli:5", size)], None);
        let wish = advised(&self::policy(vec![br]), &site(), &nginx, None).unwrap();
        assert_eq!([0, 1].map(|at| wish.rules[at].min_bytes), [expected; 2], "{size}");
    }
}

/// A site with downloads in these files.
fn with_downloads(files: &[&str]) -> Site {
    let text = "kind = \"download\"\nformat = \"application/zip\"\nfrom_bytes = 0\nfiles = { value = 1, from = \"counted\" }\n\
        bytes = { value = 1, from = \"counted\" }\nrequests = { value = 1, from = \"counted\" }\n";
    let mut stratum: weigh_model::site::Stratum = toml::from_str(text).unwrap();
    let sample = |path: &&str| weigh_model::site::Sample {
        path: (*path).to_owned(),
        bytes: 1,
        sha256: String::new(),
        share: 1.0,
        sent: Vec::new(),
    };
    stratum.sample = files.iter().map(sample).collect();
    let mut site = site();
    site.sources.aliases = vec![
        Alias { url: "/a".into(), folder: "/srv/one".into() },
        Alias { url: "/b".into(), folder: "/srv/two".into() },
        Alias { url: "/up".into(), folder: "/var".into() },
        Alias { url: "/all".into(), folder: "/".into() },
    ];
    site.strata = vec![stratum];
    site
}

#[test]
fn each_folder_of_downloads_has_a_rule_and_none_is_wider_than_its_downloads() {
    let by = |method: &str| policy(vec![decided(Kind::Download, Vec::new(), Some(method))]);
    let bodies = |site: &Site, method: &str| -> String {
        let all =
            emit(&by(method), site, WritingContext { servers: &servers(), place: None, own: None }).unwrap();
        all.iter().map(|one| format!("==== {}\n{}", one.file.display(), one.body)).collect()
    };
    let two = with_downloads(&["a/x.zip", "a/deep/y.zip", "b/z.zip"]);
    let text = bodies(&two, "php/x-sendfile");
    for line in [
        "XSendFilePath \"/srv/one\"",
        "XSendFilePath \"/srv/two\"",
        "location /offload/1/ {",
        "    alias \"/srv/two/\";",
        "\"x-sendfile-docroot\" => ( \"/srv/one\", \"/srv/two\" ),",
        "\turi strip_prefix /offload/2",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
    assert!(!text.contains("\"/srv\"") && !text.contains("/srv/one/deep"), "{text}");
    for (file, why) in [
        ("x.zip", "downloads in /var/www/shop: it is the document root"),
        ("up/x.zip", "downloads in /var: the document root lies in it"),
        ("all/x.zip", "downloads in /: a rule for / would hand out every file"),
        ("a/../../x.zip", "downloads in /: a rule for / would hand out every file"),
    ] {
        for method in ["php/x-sendfile", "server/transparent"] {
            let text = bodies(&with_downloads(&[file]), method);
            assert!(text.contains(why), "{file}: {text}");
            let is_rule = |line: &str| !line.trim().is_empty() && !line.trim().starts_with(['#', '/']);
            let rules = text.lines().filter(|line| is_rule(line) && !line.starts_with("===="));
            let rules: Vec<&str> =
                rules.filter(|line| line.contains("/var") || line.contains("ffload")).collect();
            assert!(rules.is_empty(), "{file}: {rules:?}");
        }
    }
}

#[test]
fn downloads_are_handed_out_of_folders_that_have_them_unless_the_configuration_speaks_against_it() {
    let home = tempfile::tempdir().unwrap();
    let of = |name: &str| home.path().join(name);
    for folder in ["files", "private"] {
        std::fs::create_dir_all(of(folder)).unwrap();
        std::fs::write(of(folder).join("x.zip"), "x").unwrap();
    }
    let made = "site-sample/made/001-dl.php.zip";
    let mut site = with_downloads(&["files/x.zip", "private/x.zip", "gone/y.zip", made]);
    site.sources.docroot = Some(home.path().display().to_string());
    let found = downloads(&site);
    assert_eq!(found.folders, [of("files"), of("private")]);
    let refused: Vec<_> = found.refused.iter().map(|(folder, _)| folder.as_path()).collect();
    assert_eq!(refused, [Path::new("site-sample/made")]);
    let beside = |options: &str| {
        let text =
            format!("fastcgi.server = ( \".php\" => (( \"socket\" => \"/run/php.sock\", {options} )) )\n");
        let text = format!("{text}$HTTP[\"url\"] =~ \"^/(private|\\.git)\" {{ url.access-deny = (\"\") }}\n");
        let own = weigh_serverconf::Syntax::Assigned.parse(&text, 0).unwrap();
        served::beside_own(downloads(&site), &own, &home.path().display().to_string()).folders
    };
    assert_eq!(beside(""), [of("files")]);
    // A list would take the place of what the program has.
    assert!(beside("\"x-sendfile\" => \"enable\", \"x-sendfile-docroot\" => ( \"/srv/own\" )").is_empty());
}

/// A private instance has no such lines.
#[test]
fn lines_inside_a_directive_for_downloads_are_not_said_to_be_tried() {
    let trial = weigh_model::policy::Trial { answers: 9, ..Default::default() };
    let all = emitted(&Policy { trial: Some(trial), ..whole() });
    for (file, is_tried) in
        [("lighttpd/php.conf", false), ("caddy/php.caddy", false), ("caddy/files.caddy", true)]
    {
        let text = all.iter().find(|one| one.file == Path::new(file)).unwrap().text();
        assert_eq!(
            (text.contains("# Checked: "), text.contains("# Not checked: ")),
            (is_tried, !is_tried),
            "{text}"
        );
    }
}

/// The library takes its own words and one confined folder.
#[test]
fn the_library_is_told_only_what_it_takes() {
    let body = |site: &Site, servers: &[Found], method: &str| {
        let policy = policy(vec![decided(Kind::Download, Vec::new(), Some(method))]);
        let all = emit(&policy, site, WritingContext { servers, place: None, own: None }).unwrap();
        all.into_iter().find(|one| one.file == Path::new("php/weighbridge.php")).unwrap().body
    };
    let one = with_downloads(&["a/x.zip"]);
    let apache: Vec<Found> = servers().into_iter().filter(|s| s.definition.name == "apache").collect();
    for (servers, method, expected) in [
        (&apache[..], "php/x-sendfile", "'method' => 'x-sendfile', 'root' => '/srv/one'"),
        (&apache, "php/x-accel-redirect", "'method' => 'x-sendfile', 'root' => '/srv/one'"),
        (
            &[],
            "php/x-accel-redirect",
            "'method' => 'x-accel-redirect', 'prefix' => '/offload/', 'root' => '/srv/one'",
        ),
        (&[], "php/readfile", "'method' => 'stream', 'root' => '/srv/one'"),
    ] {
        let body = body(&one, servers, method);
        assert!(body.contains(expected), "{method}: {body}");
    }
    for (site, method) in [
        (with_downloads(&["x.zip"]), "php/x-sendfile"),
        (with_downloads(&["a/x.zip", "b/x.zip"]), "php/x-sendfile"),
        (one.clone(), "server/transparent"),
    ] {
        let body = body(&site, &apache, method);
        assert!(!body.contains("'download'") && body.contains("Cannot be expressed: downloads"), "{body}");
    }
}

#[test]
fn filters_of_pages_say_what_they_tell_and_how_it_is_switched() {
    for file in emitted(&whole()) {
        let compresses = ["gzip on;", "FilterChain weigh", "encode {", "deflate.mimetypes +="];
        if compresses.iter().any(|line| file.body.contains(line)) {
            assert!(file.body.contains("# BREACH: ") && file.body.contains("The switch"), "{}", file.text());
        }
    }
}

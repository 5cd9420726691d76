//! Which requests a cache of pages answers, as it is simulated, beside what nginx and Apache say of each.

use std::collections::HashMap;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use weigh_model::page_cache::{CacheAnswer, CacheSetup, PageCache};
use weigh_model::policy::Policy;
use weigh_model::site::Site;

use crate::lab::{Lab, RunningServer, free_port, has, serves_php, wait_until};

const REQUESTS: usize = 20_000;
/// Seconds that pages are held.
const TTL: u64 = 2;

/// The numbers of pages that are asked for: few are asked for often, many rarely, all alike.
fn traces() -> [Vec<u64>; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut draw = |pages: f64, power: f64| {
        (0..REQUESTS).map(|_| (pages * random.random::<f64>().powf(power)) as u64).collect::<Vec<u64>>()
    };
    [draw(300.0, 4.0), draw(20_000.0, 6.0), draw(2_000.0, 1.0)]
}

/// A field of a head.
fn field<'h>(head: &'h str, name: &str) -> &'h str {
    let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name} in {head}"))
}

/// An answer, and when it was asked for and came, since 1970.
type Timed = (String, [Duration; 2]);

/// Asks for each page of a trace over one connection, with a pause before each: the heads of the answers. Nothing is asked for just before a second ends.
fn asked(port: u16, trace: &[u64], pause: Duration) -> Vec<Timed> {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    let mut heads = Vec::with_capacity(trace.len());
    for page in trace {
        std::thread::sleep(pause);
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let left = 1_000_000_000 - now().subsec_nanos();
        if left < 20_000_000 {
            std::thread::sleep(Duration::from_nanos(u64::from(left) + 2_000_000));
        }
        let begun = now();
        write!(writer, "GET /page/{page} HTTP/1.1\r\nHost: shop.example\r\n\r\n").unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let length: usize = field(&head, "Content-Length").parse().unwrap();
        reader.read_exact(&mut vec![0; length]).unwrap();
        heads.push((head, [begun, now()]));
    }
    heads
}

/// Compares each answer with the simulation; `seen` reads the second and whether the cache answered. What was answered while a second ended may have been
/// made in either: such a page is compared again once it is made anew. Apache adds to a page's age what it waited for it.
fn compare(trace: &[u64], answers: &[Timed], setup: CacheSetup, seen: impl Fn(&str) -> (u64, bool)) {
    let mut cache = PageCache::new(setup);
    let (mut wrong, mut hits, mut compared) = (Vec::new(), 0, 0);
    // By page: how often it was in doubt, whether it is, and what it took to be made.
    let mut doubts: HashMap<u64, (u64, bool, Duration)> = HashMap::new();
    for (number, (page, (answer, [begun, done]))) in trace.iter().zip(answers).enumerate() {
        let (at, is_hit) = seen(answer);
        hits += usize::from(is_hit);
        let doubt = doubts.entry(*page).or_default();
        let is_late = begun.as_secs() != (*done + doubt.2).as_secs();
        if !is_hit {
            doubt.2 = *done - *begun;
        }
        if is_late || doubt.1 && is_hit {
            doubt.1 = true;
            continue;
        }
        if std::mem::take(&mut doubt.1) {
            doubt.0 += 1;
        }
        compared += 1;
        let simulated = cache.ask(at, page + (doubt.0 << 32), 1_000);
        if (simulated == CacheAnswer::Hit) != is_hit {
            wrong.push(format!("request {number} for {page} at {at}: {simulated:?}, {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {REQUESTS}, such as {:?}", wrong.len(), wrong[0]);
    assert!(compared > REQUESTS / 2, "{compared}");
    assert!((REQUESTS / 20..REQUESTS).contains(&hits), "{hits}");
}

const NGINX: &str = "user root; daemon off; master_process off; pid PID; error_log ERR; events {}\n\
    http { access_log off; keepalive_requests 100000; proxy_cache_path CACHE keys_zone=pages:10m; client_body_temp_path T1; proxy_temp_path T2;\n\
    fastcgi_temp_path T3; uwsgi_temp_path T4; scgi_temp_path T5;\n\
    server { listen 127.0.0.1:ORIGIN; keepalive_requests 100000; location / { default_type text/html; return 200 'a page'; } }\n\
    server { listen 127.0.0.1:FRONT; location / { proxy_pass http://127.0.0.1:ORIGIN; proxy_cache pages; proxy_cache_valid 200 2s;\n\
    add_header X-Status $upstream_cache_status; add_header X-Now $msec; } } }\n";

const APACHE: &str = "ServerRoot /usr/lib/apache2\nPidFile PID\nErrorLog ERR\nListen 127.0.0.1:FRONT\nServerName shop.example\nUser nobody\nGroup nogroup\n\
    LoadModule mpm_event_module modules/mod_mpm_event.so\nLoadModule authz_core_module modules/mod_authz_core.so\n\
    LoadModule cache_module modules/mod_cache.so\nLoadModule cache_disk_module modules/mod_cache_disk.so\n\
    LoadModule proxy_module modules/mod_proxy.so\n\
    LoadModule proxy_http_module modules/mod_proxy_http.so\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\nCacheRoot STORE\n\
    CacheEnable disk /\nCacheDefaultExpire 2\nCacheIgnoreNoLastMod On\nProxyPass / http://127.0.0.1:ORIGIN/\n\
    LogFormat \"%{begin:sec}t %{cache-status}e\" cached\nCustomLog LOG cached\n";

/// The configuration of nginx with a cache, and the origin's and the front's ports.
fn nginx_text(lab: &Lab) -> (String, u16, u16) {
    let (origin, front) = (free_port(), free_port());
    let path = |name: &str| lab.path(name).display().to_string();
    let mut text = NGINX.replace("ORIGIN", &origin.to_string()).replace("FRONT", &front.to_string());
    for name in ["PID", "ERR", "CACHE", "T1", "T2", "T3", "T4", "T5"] {
        text = text.replace(name, &path(&name.to_lowercase()));
    }
    (text, origin, front)
}

/// Starts it.
fn nginx(lab: &Lab) -> (RunningServer, u16, u16) {
    let (text, origin, front) = nginx_text(lab);
    let file = lab.write("nginx.conf", text).display().to_string();
    (lab.serve("nginx", &["-c", &file], &[origin, front]), origin, front)
}

#[test]
fn hits_of_nginx_are_those_that_are_simulated() {
    needs!(has("nginx", "apt install nginx-light"));
    let lab = Lab::new();
    let (_running, _, front) = nginx(&lab);
    for trace in traces() {
        let heads = asked(front, &trace, Duration::ZERO);
        compare(&trace, &heads, CacheSetup::nginx(TTL), |head| {
            let now: f64 = field(head, "X-Now").parse().unwrap();
            (now as u64, field(head, "X-Status") == "HIT")
        });
        // The next trace begins with an empty cache.
        std::thread::sleep(Duration::from_secs(TTL + 2));
    }
}

/// Where nginx has room for fewer pages than are asked for, it holds, and has removed, as many as the simulation. Its cache manager looks every ten seconds.
#[test]
fn pages_that_nginx_has_no_room_for_go_as_simulated() {
    needs!(has("nginx", "apt install nginx-light"));
    const PAGES: u64 = 2_000;
    /// What a page takes: a block of the file system.
    const BLOCK: u64 = 4_096;
    let lab = Lab::new();
    let (text, origin, front) = nginx_text(&lab);
    let bounded = format!(
        "keys_zone=pages:10m manager_files={PAGES} manager_threshold=10s max_size={}",
        PAGES / 4 * BLOCK
    );
    let text = text.replace("keys_zone=pages:10m", &bounded).replace("200 2s", "200 1h");
    let file = lab.write("nginx.conf", text.replace("master_process off;", "")).display().to_string();
    // The manager looks first when it starts: here, when a second begins.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into()));
    let _running = lab.serve("nginx", &["-c", &file], &[origin, front]);
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let trace: Vec<u64> =
        (0..REQUESTS).map(|_| (PAGES as f64 * random.random::<f64>().powi(2)) as u64).collect();
    let answers = asked(front, &trace, Duration::from_micros(1_500));
    let mut cache = PageCache::new(CacheSetup { bytes: Some(PAGES / 4 * BLOCK), ..CacheSetup::nginx(3_600) });
    let (mut made, mut simulated, mut at) = (0, 0, 0);
    for (page, (head, _)) in trace.iter().zip(&answers) {
        at = field(head, "X-Now").parse::<f64>().unwrap() as u64;
        made += u64::from(field(head, "X-Status") == "MISS");
        simulated += u64::from(cache.ask(at, *page, BLOCK) == CacheAnswer::Miss);
    }
    cache.sweep(at + 10);
    let held = || std::fs::read_dir(lab.path("cache")).unwrap().count() as u64;
    wait_until("the cache manager has looked", || held() <= PAGES / 4);
    for (what, nginx, simulated) in [
        ("made", made, simulated),
        ("removed", made - held(), cache.evicted()),
        ("held", held(), cache.pages() as u64),
    ] {
        println!("{what}: {nginx}, simulated {simulated}");
        assert!(
            nginx.abs_diff(simulated) as f64 <= 0.02 * nginx as f64,
            "{what}: {nginx}, simulated {simulated}"
        );
    }
    assert!(cache.evicted() > PAGES, "{}", cache.evicted());
}

#[test]
fn hits_of_apache_are_those_that_are_simulated() {
    needs!(has("nginx", "apt install nginx-light"), has("apache2", "apt install apache2"));
    let lab = Lab::new();
    let (_running, origin, _) = nginx(&lab);
    let front = free_port();
    let path = |name: &str| lab.path(name).display().to_string();
    let mut text = APACHE.replace("ORIGIN", &origin.to_string()).replace("FRONT", &front.to_string());
    for (name, file) in
        [("PID", "apache.pid"), ("ERR", "apache.err"), ("STORE", "store"), ("LOG", "apache.log")]
    {
        text = text.replace(name, &path(file));
    }
    // Its own user writes there.
    std::fs::create_dir(lab.path("store")).unwrap();
    std::fs::set_permissions(lab.path("store"), Permissions::from_mode(0o777)).unwrap();
    let file = lab.write("apache.conf", text).display().to_string();
    let _apache = lab.serve("apache2", &["-X", "-f", &file], &[front]);
    for trace in traces() {
        lab.write("apache.log", "");
        let heads = asked(front, &trace, Duration::ZERO);
        let lines = || lab.read("apache.log").lines().map(str::to_owned).collect::<Vec<String>>();
        wait_until("every request is logged", || lines().len() == heads.len());
        let answers: Vec<Timed> =
            lines().into_iter().zip(heads).map(|(line, (_, when))| (line, when)).collect();
        compare(&trace, &answers, CacheSetup::apache(TTL), |line| {
            let (second, status) = line.split_once(' ').unwrap();
            (second.parse().unwrap(), status.starts_with("cache hit"))
        });
        std::thread::sleep(Duration::from_secs(TTL + 2));
    }
}

/// What each page does beside its text.
const PAGES: [(&str, &str); 9] = [
    ("index.php", "for ($i = 0, $x = 'a'; $i < 20000; $i++) { $x = md5($x); } echo 'A page ', $x;"),
    (
        "rare.php",
        "$f = sys_get_temp_dir() . '/n'; $n = (int) @file_get_contents($f) + 1; file_put_contents($f, $n); echo $n % 200 ? 'Hello' : 'Hello, Ada';",
    ),
    ("phone.php", "echo str_contains($_SERVER['HTTP_USER_AGENT'] ?? '', 'iPhone') ? 'small' : 'large';"),
    ("begin.php", "session_start(); echo 'A session';"),
    (
        "account.php",
        "header('Vary: Cookie, Origin'); if (isset($_COOKIE['session'])) { echo 'Hello, ', $_COOKIE['session']; } else { echo 'Hello, ', $_SERVER['HTTP_ORIGIN'] ?? 'stranger'; }",
    ),
    ("list.php", "echo 'Page ', (int) ($_GET['page'] ?? 1);"),
    ("part.php", "if (isset($_SERVER['HTTP_HX_REQUEST'])) { exit('A part'); }"),
    ("picture.php", "echo str_contains($_SERVER['HTTP_ACCEPT'] ?? '', 'image/webp') ? 'a.webp' : 'a.jpg';"),
    ("price.php", "echo ($_SERVER['HTTP_CF_IPCOUNTRY'] ?? 'DE') === 'US' ? 'USD' : 'EUR';"),
];

const SITE: &str = "events {}\nhttp { server { listen 80; server_name shop.example; root ROOT; index index.php;\n\
    location ~ \\.php$ { include fastcgi_params; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_pass unix:/run/php.sock; } } }\n";

/// A site with a log in which each page is asked for every three seconds.
fn shop(lab: &Lab) {
    let root = lab.path("public");
    lab.write("nginx.conf", SITE.replace("ROOT", root.to_str().unwrap()));
    lab.write(
        "fastcgi_params",
        "fastcgi_param REQUEST_METHOD $request_method;\nfastcgi_param QUERY_STRING $query_string;\n",
    );
    for (name, code) in PAGES {
        let filler = "<p>A paragraph of the page.</p>\n".repeat(100) + "<a href=/list.php?page=2>More</a>";
        lab.write(
            &format!("public/{name}"),
            format!("<?php {code} ?><!doctype html><title>{name}</title>{filler}"),
        );
    }
    let names = [
        "",
        "rare.php",
        "phone.php",
        "begin.php",
        "account.php",
        "list.php?page=2",
        "part.php",
        "picture.php",
        "price.php",
    ];
    let line = |(at, name): (usize, &str)| {
        let (minute, second) = (at / 60 % 60, at % 60);
        format!(
            "192.0.2.1 - - [02/Nov/2026:10:{minute:02}:{second:02} +0000] \"GET /{name} HTTP/1.1\" 200 3400 \"-\" \"Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0\"\n"
        )
    };
    lab.write("access.log", (0..2997).map(|at| line((at / 9 * 3, names[at % 9]))).collect::<String>());
}

#[test]
fn only_pages_that_are_the_same_for_all_are_held_and_a_proof_tells_what_that_brings() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab);
    let looked = [
        "site",
        "--docroot",
        "public",
        "--server-config",
        "nginx.conf",
        "--render",
        "--log",
        "access.log",
        "--page-cache",
    ];
    let ran = lab.done(&looked);
    let site = Site::parse(&lab.read("site.toml"), "site.toml").unwrap();
    let refused = |page: &str| {
        let found = site.cacheable.iter().find(|one| one.page == page);
        found
            .unwrap_or_else(|| panic!("{page}: {:?}\n{}", site.cacheable, ran.stderr))
            .refused
            .clone()
            .unwrap_or_default()
    };
    assert_eq!(["/", "/account.php", "/list.php?page=2"].map(refused), ["", "", ""]);
    assert!(
        refused("/rare.php").contains("from one request to the next: line 1: \"Hello, Ada"),
        "{}",
        refused("/rare.php")
    );
    for (page, field) in [
        ("/phone.php", "User-Agent"),
        ("/part.php", "HX-Request"),
        ("/picture.php", "Accept"),
        ("/price.php", "CF-IPCountry"),
    ] {
        assert!(refused(page).contains(&format!("it differs by {field}: ")), "{page}: {}", refused(page));
    }
    assert_eq!(refused("/begin.php"), "it sets a cookie");
    let front = site.cacheable.iter().find(|one| one.page == "/").unwrap();
    assert!(
        front.cpu_ms.is_some_and(|[php, server]| php > server)
            && front.share == Some(0.1111)
            && front.hits[2] > 0.9,
        "{front:?}"
    );
    assert!(ran.stdout.contains("3 of 9 pages may be"), "{}", ran.stdout);

    // A page that differs from one request to the next is a failure there.
    lab.run(&["advise", "--budget", "20s"]);
    let policy: Policy = toml::from_str(&lab.read("advice/policy.toml")).unwrap();
    let cache = policy.page_cache.clone().unwrap();
    assert_eq!((cache.keep, cache.pages.len(), cache.refused.len()), (false, 3, 5), "{cache:?}");
    assert!(cache.no_cookies, "the account says that it varies by cookies");
    let zone = lab.read("advice/config/nginx/page-cache-zone.conf");
    assert!(zone.contains("\"~^/account\\x2Ephp$\" \"held\"") && !zone.contains("begin"), "{zone}");
    assert!(zone.contains("\"~^/list\\x2Ephp\\x3Fpage\\x3D2$\" \"held\""), "only with its query: {zone}");
    assert!(zone.contains("$http_hx_request"), "no script has a part of a page from it: {zone}");
    assert!(
        lab.read("advice/config/nginx/page-cache.conf").contains("# Checked: "),
        "{}",
        lab.read("advice/config/nginx/page-cache.conf")
    );

    let ran = lab.run(&["prove", "--budget", "80s", "--json"]);
    let proof: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let line = |metric: &str| {
        let lines = proof["lines"].as_array().unwrap();
        let is_it =
            |line: &&Value| line["metric"] == metric && line["amount"].as_str().unwrap().contains("page");
        lines.iter().find(is_it).unwrap_or_else(|| panic!("{metric}: {proof:#} {}", ran.stderr)).clone()
    };
    assert_eq!(line("php_requests")["verdict"], "held", "{proof:#}");
    let cpu = &line("cpu")["measured"];
    assert!(cpu["after"].as_f64() < cpu["before"].as_f64().map(|ms| ms / 2.0), "{proof:#}");
    assert!(
        proof["answers"]["compared"].as_u64() > Some(20)
            && proof["answers"]["differing"] == 0
            && ["held_ms", "made_ms"].iter().all(|took| proof["answers"][took].as_f64() > Some(0.0)),
        "{proof:#}"
    );
    assert_eq!(lab.left_over(), 0);
    assert_eq!(lab.processes(), Vec::<String>::new());
}

/// Looks at a site and advises; what is decided for its pages, which are not to be held.
fn kept(lab: &Lab) -> String {
    let looked =
        ["site", "--docroot", "public", "--server-config", "nginx.conf", "--render", "--log", "access.log"];
    lab.done(&[&looked[..], &["--page-cache", "--force"]].concat());
    // What is sent from a cache of the site's own is not measured.
    lab.run(&["advise", "--budget", "15s", "--force"]);
    let policy: Policy = toml::from_str(&lab.read("advice/policy.toml")).unwrap();
    let cache = policy.page_cache.unwrap();
    assert!(cache.keep && !lab.path("advice/config/nginx/page-cache.conf").exists(), "{cache:?}");
    cache.text
}

#[test]
fn where_there_is_a_cache_or_one_would_mix_visitors_up_nothing_is_changed() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab);
    let plain = lab.read("nginx.conf");
    let text =
        plain.replace("index index.php;", "index index.php; fastcgi_cache mine; fastcgi_cache_key $uri;");
    lab.write(
        "nginx.conf",
        text.replace("http {", "http { fastcgi_cache_path /var/cache/mine keys_zone=mine:1m;"),
    );
    assert_eq!(kept(&lab), "Let PHP make every page: the configuration has a cache already.");

    // A page that encodes itself, and does not say that it varies.
    lab.write("nginx.conf", plain);
    let code = "<?php $page = str_repeat('<p>A paragraph.</p>', 200);\n\
        if (str_contains($_SERVER['HTTP_ACCEPT_ENCODING'] ?? '', 'gzip')) { header('Content-Encoding: gzip'); echo gzencode($page); } else { echo $page; }";
    for (name, _) in PAGES {
        lab.write(&format!("public/{name}"), code);
    }
    let text = kept(&lab);
    assert!(text.contains("with it, ") && text.contains("identity"), "{text}");
}

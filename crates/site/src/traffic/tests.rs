use super::*;
use crate::tests::Quiet;
use weigh_model::site::Kind;

fn answered(key: String, kind: Kind, format: &str) -> (String, Answered) {
    let url = format!("/{key}");
    (key, Answered { kind, format: format.into(), url, body: Vec::new() })
}

const AGENT: &str = "\"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\"";

fn line(day: u32, request: &str, status: u32, bytes: u32) -> String {
    let request = if request.starts_with('/') { format!("GET {request}") } else { request.to_owned() };
    format!(
        "192.0.2.1 - - [{day:02}/Nov/2026:10:00:00 +0000] \"{request} HTTP/1.1\" {status} {bytes} {AGENT}\n"
    )
}

/// Two whole weeks of November 2026 with a request in each hour, and these lines.
fn read(text: &str, hosts: &SiteHosts, served: Option<&Served>) -> (Result<Traffic>, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let log = root.path().join("access.log");
    std::fs::write(&log, text).unwrap();
    let mut told = Quiet::default();
    let traffic = Traffic::read(&[log], hosts, served, &mut told);
    (traffic, told.0)
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < wanted * 0.01 + 1e-6, "{found} {wanted}");
}

/// Per month, of what came once in a log of a week and of the same hours only.
const MONTH: f64 = MONTH_DAYS / 7.0;

/// Marks that the log covers a week, without a visitor.
fn week() -> String {
    let hour = |n: u32| {
        format!(
            "192.0.2.1 - - [{:02}/Nov/2026:{:02}:59:59 +0000] \"-\" 400 0 \"-\" \"-\"\n",
            2 + n / 24,
            n % 24
        )
    };
    "192.0.2.1 - - [02/Nov/2026:00:00:00 +0000] \"-\" 400 0 \"-\" \"-\"\n".to_owned()
        + &(0..168).map(hour).collect::<String>()
}

#[test]
fn what_php_answers_is_counted_of_all_clients_with_every_method_and_status() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("docs")).unwrap();
    std::fs::write(root.path().join("docs/index.html"), "x").unwrap();
    let bot = "\"-\" \"Googlebot/2.1 (+http://www.google.com/bot.html)\"";
    let at = |hour: u32, request: &str, status: u32, agent: &str, seconds: &str| {
        format!(
            "192.0.2.1 - - [03/Nov/2026:{hour:02}:10:00 +0000] \"{request} HTTP/1.1\" {status} 90 {agent} rt={seconds} urt={seconds}\n"
        )
    };
    let mut text = String::new();
    for _ in 0..900 {
        text += &at(3, "GET /shop/item", 200, bot, "4.000");
        text += &at(3, "POST /cart", 302, AGENT, "2.000");
        text += &at(3, "GET /gone", 404, AGENT, "1.000");
        text += &at(3, "HEAD /", 200, bot, "1.000");
        // Not PHP's.
        text += &at(3, "GET /app.js", 200, AGENT, "0.000");
        text += &at(9, "GET /", 200, AGENT, "0.100").repeat(5);
    }
    let served = Served::new(Some(root.path()), None);
    let (traffic, told) = read(&text, &SiteHosts::default(), Some(&served));
    let traffic = traffic.unwrap();
    assert_eq!(traffic.php_peak, Some(Figure::counted(1.0)), "{told:?}");
    assert_eq!(traffic.php_peak_ms, Some(Figure::counted(2000.0)));
    // A folder's front page that is a file is the server's.
    let quiet: String = (0..40).map(|_| at(3, "GET /docs/", 200, AGENT, "0.000")).collect();
    let traffic = read(&quiet, &SiteHosts::default(), Some(&served)).0.unwrap();
    assert_eq!((traffic.php_peak, traffic.php_peak_ms), (None, None));
}

#[test]
fn a_log_of_a_week_is_scaled_to_a_month() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("docs")).unwrap();
    std::fs::write(root.path().join("docs/index.html"), "x").unwrap();
    let text = [
        week(),
        line(2, "/js/app.js?v=1", 200, 3000),
        line(2, "/js/app.js", 304, 0),
        line(3, "/files/a.zip", 206, 500),
        line(4, "/blog/post", 200, 9000),
        line(4, "/", 200, 8000),
        line(4, "/docs/", 200, 100),
        line(5, "/gone", 404, 10),
        line(6, "/gone", 404, 10),
        line(7, "/index.php", 200, 7000),
        "rubbish\n".to_owned(),
    ];
    let (traffic, told) =
        read(&text.concat(), &SiteHosts::default(), Some(&Served::new(Some(root.path()), None)));
    let traffic = traffic.unwrap();
    let app = traffic.asked.of("js/app.js");
    near(app.requests, MONTH);
    near(app.not_modified, MONTH);
    near(app.bytes, 3000.0 * MONTH);
    near(traffic.asked.of("files/a.zip").ranges, MONTH);
    near(traffic.asked.of("docs/index.html").requests, MONTH);
    near(traffic.pages.requests, 3.0 * MONTH);
    // The front page of `docs/` is a file, and a page.
    near(traffic.views, 4.0 * MONTH);
    near(traffic.bytes.unwrap(), 27_600.0 * MONTH);
    assert_eq!((traffic.page_paths, traffic.unreadable), (3, 1));
    near(traffic.days, 7.0);
    assert_eq!(traffic.accept.len(), 1, "{:?}", traffic.accept);
    near(traffic.accept[0].share, 1.0);
    assert!(
        told.iter().any(|line| line.contains("1 line could not be read, such as line 179 of")),
        "{told:?}"
    );
    let none =
        Traffic::read(&["/nonexistent/log".into()], &SiteHosts::default(), None, &mut Quiet::default());
    assert!(none.unwrap_err().to_string().contains("no request of a visitor"));
}

#[test]
fn a_view_is_a_page_that_a_visitor_is_shown() {
    let viewed = [
        line(2, "/a", 200, 9),
        line(2, "/a?utm=1", 200, 9),
        line(2, "/index.php?title=B", 200, 9),
        line(2, "/a", 304, 0),
    ];
    let others = [
        line(2, "/old", 301, 0),
        line(2, "/empty", 204, 0),
        line(2, "HEAD /a", 200, 0),
        line(2, "POST /contact", 200, 9),
        line(2, "/feed/", 200, 9),
        line(2, "/?feed=rss2", 200, 9),
        line(2, "/wp-json/wp/v2/posts", 200, 9),
        line(2, "/wp-admin/admin-ajax.php?action=x", 200, 9),
        line(2, "/lib/exe/css.php?t=1", 200, 9),
        line(2, "/robots.txt", 200, 9),
        line(2, "/favicon.ico", 200, 9),
        line(2, "/gone", 404, 9),
        line(2, "/a", 500, 9),
        line(2, "/a", 200, 9).replace("Mozilla/5.0 (X11", "Mozilla/5.0 (compatible; Googlebot/2.1"),
    ];
    let (traffic, _) = read(&(week() + &viewed.concat() + &others.concat()), &SiteHosts::default(), None);
    near(traffic.unwrap().views, 4.0 * MONTH);
}

#[test]
fn scripts_that_answer_no_page_are_taken_out_of_the_pages() {
    let raw = |title: &str| line(3, &format!("/index.php?title={title}&action=raw"), 200, 500);
    let text = [
        week(),
        line(2, "/index.php?title=A", 200, 9000),
        raw("Secret"),
        raw("Other"),
        line(4, "/download/12", 200, 70_000),
        line(4, "/", 200, 8000),
    ];
    let (traffic, told) = read(&text.concat(), &SiteHosts::default(), None);
    let mut traffic = traffic.unwrap();
    let keys: Vec<&str> = traffic.scripts().iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["index.php?action&title", "", "download/12", "index.php?title"]);
    assert_eq!(traffic.scripts()[0].url, "/index.php?title=Secret&action=raw");
    near(traffic.views, 5.0 * MONTH);
    assert!(told.iter().all(|line| !line.contains("response times")), "{told:?}");
    let kinds = HashMap::from([
        answered("index.php?action&title".to_owned(), Kind::Asset, "text/css"),
        answered("download/12".to_owned(), Kind::Download, "application/pdf"),
        answered("".to_owned(), Kind::Page, "text/html"),
    ]);
    traffic.reclassify(&kinds);
    near(traffic.views, 2.0 * MONTH);
    near(traffic.pages.bytes, 17_000.0 * MONTH);
    near(traffic.asked.of("index.php").requests, MONTH);
    assert_eq!((traffic.page_paths, traffic.scripts().len(), traffic.made.len()), (2, 2, 2));
    near(traffic.made[0].hits.bytes, 1_000.0 * MONTH);
    assert_eq!((traffic.made[1].kind, traffic.made[1].format.as_str()), (Kind::Download, "application/pdf"));
}

#[test]
fn a_feed_is_no_page_and_has_its_own_type() {
    let feed = line(3, "/?feed=rss2", 200, 30_000).repeat(3);
    let text = week() + &line(2, "/", 200, 8000) + &feed;
    let mut traffic = read(&text, &SiteHosts::default(), None).0.unwrap();
    traffic.reclassify(&HashMap::from([answered("?feed".into(), Kind::Page, "application/rss+xml")]));
    near(traffic.pages.bytes, 8_000.0 * MONTH);
    near(traffic.views, MONTH);
    near(traffic.asked.of("").requests, MONTH);
    let made = &traffic.made[0];
    assert_eq!((made.kind, made.format.as_str()), (Kind::Page, "application/rss+xml"));
    near(made.hits.requests, 3.0 * MONTH);
}

#[test]
fn a_file_takes_what_is_asked_of_its_path_without_a_query_string() {
    let text = week() + &line(2, "/", 200, 8000) + &line(3, "/?p=7", 200, 9000).repeat(2);
    let mut traffic = read(&text, &SiteHosts::default(), None).0.unwrap();
    let own = traffic.scripts.iter().find(|one| one.key.is_empty()).unwrap().hits;
    traffic.take_for_file("", &own, "cache/index.html");
    near(traffic.pages.bytes, 18_000.0 * MONTH);
    let left: Vec<&str> = traffic.scripts.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(left, ["?p"]);
    near(traffic.views, 3.0 * MONTH);
}

#[test]
fn a_script_has_an_example_for_each_length_of_its_responses() {
    let pages = [("/?p=1", 9_000), ("/?p=2", 9_100), ("/?p=3", 90_000), ("/?p=1", 9_000)];
    let lines: String = pages.iter().map(|(path, bytes)| line(2, path, 200, *bytes)).collect();
    let traffic = read(&(week() + &lines), &SiteHosts::default(), None).0.unwrap();
    let [script] = traffic.scripts() else { panic!("{:?}", traffic.scripts()) };
    assert_eq!((script.key.as_str(), script.url.as_str()), ("?p", "/?p=1"));
    near(script.hits.requests, 4.0 * MONTH);
    let examples: Vec<&str> = script.examples.iter().map(|(url, _)| url.as_str()).collect();
    assert_eq!(examples, ["/?p=1", "/?p=3"]);
    near(script.examples[0].1.bytes, 27_100.0 * MONTH);
}

#[test]
fn heads_of_responses_without_a_body_are_no_bytes_of_content() {
    let text = week()
        + &line(2, "/a.css", 200, 3000)
        + &line(2, "/a.css", 304, 220).repeat(9)
        + &line(2, "/a.css", 206, 100)
        + &line(2, "HEAD /a.css", 200, 300);
    let traffic = read(&text, &SiteHosts::default(), None).0.unwrap();
    near(traffic.asked.of("a.css").bytes, 3_100.0 * MONTH);
    near(traffic.bytes.unwrap(), 3_100.0 * MONTH);
}

#[test]
fn lines_of_other_hosts_are_left_out_and_said() {
    let of = |host: &str, path: &str| format!("{host}:80 {}", line(2, path, 200, 9));
    let text = week().replace("192.0.2.1 -", "shop.example:80 192.0.2.1 -")
        + &of("shop.example", "/a")
        + &of("blog.example", "/b").repeat(9);
    let named = |names: &[&str], is_sure| SiteHosts {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        is_sure,
    };
    let (traffic, told) = read(&text, &named(&["shop.example"], true), None);
    near(traffic.unwrap().pages.requests, MONTH);
    assert!(
        told.iter()
            .any(|line| line
                .contains("left out 9 lines of other hosts than shop.example: blog.example (9 lines)")),
        "{told:?}"
    );
    let (traffic, told) = read(&text, &SiteHosts::default(), None);
    near(traffic.unwrap().pages.requests, 10.0 * MONTH);
    assert!(
        told.iter().any(|line| line.contains("several hosts") && line.contains("--host NAME")),
        "{told:?}"
    );
    let refused = read(&text, &named(&["other.example"], true), None).0.unwrap_err().to_string();
    assert!(
        refused.contains(
            "no request for other.example; it has shop.example (170 lines) and blog.example (9 lines)"
        ),
        "{refused}"
    );
    let (traffic, told) = read(&text, &named(&["staging.example"], false), None);
    near(traffic.unwrap().pages.requests, 10.0 * MONTH);
    assert!(told.iter().any(|line| line.contains("no request for staging.example")), "{told:?}");
}

/// 1,000 page views, and these lines.
fn pages_and(others: &str) -> (Traffic, Vec<String>) {
    let text = week() + &line(2, "/a", 200, 9).repeat(1_000) + others;
    let (traffic, told) = read(&text, &SiteHosts::default(), None);
    (traffic.unwrap(), told)
}

#[test]
fn what_is_not_logged_is_assumed_and_said() {
    let loads = HashMap::from([("a.css".to_owned(), 1.0), ("b.png".to_owned(), 0.5)]);
    let (mut traffic, _) = pages_and("");
    let mut told = Quiet::default();
    traffic.assume_unlogged(&loads, &|_| false, &mut told);
    assert_eq!(traffic.assumed, AssetType::ALL);
    near(traffic.asked.of("a.css").requests, traffic.views);
    near(traffic.asked.of("b.png").requests, traffic.views / 2.0);
    assert!(told.0[0].contains("are not logged (1,000 page views without one): their requests are assumed, from what the pages load"), "{told:?}");
    // Images are logged, style sheets are loaded and are not.
    let (mut traffic, _) = pages_and(&line(2, "/b.png", 200, 9));
    traffic.assume_unlogged(&loads, &|_| false, &mut told);
    assert_eq!(traffic.assumed, [AssetType::StyleSheet]);
    near(traffic.asked.of("b.png").requests, MONTH);
    // What is not there is logged whatever is left out.
    let (mut traffic, _) = pages_and(&line(2, "/gone.png", 404, 9).repeat(9));
    traffic.assume_unlogged(&loads, &|_| false, &mut told);
    assert_eq!(traffic.assumed, AssetType::ALL);
    // A log with some of everything that is loaded has what was asked.
    let (mut traffic, _) = pages_and(&(line(2, "/b.png", 200, 9) + &line(2, "/a.css", 200, 9)));
    traffic.assume_unlogged(&loads, &|_| false, &mut told);
    assert!(traffic.assumed.is_empty());
    // The configuration tells it, however few views there are.
    let mut traffic = read(&(week() + &line(2, "/a", 200, 9)), &SiteHosts::default(), None).0.unwrap();
    traffic.assume_unlogged(&HashMap::new(), &|path| path.ends_with(".js"), &mut told);
    assert_eq!(traffic.assumed, [AssetType::Script]);
    assert!(told.0.last().unwrap().contains("from the published mix"), "{told:?}");
}

#[test]
fn response_times_that_cannot_be_true_are_said() {
    let text = week() + &line(2, "/a", 200, 9).replace('\n', " rt=0.000\n").repeat(9);
    let (traffic, told) = read(&text, &SiteHosts::default(), None);
    assert_eq!(traffic.unwrap().made_ms, None);
    assert!(told.iter().any(|line| line.contains("response times are left out")), "{told:?}");
}

#[test]
fn lines_that_are_lost_are_said_loudly() {
    let broken = line(2, "/a.css", 200, 9).replace(" 200 ", " x ");
    let (mut traffic, told) = pages_and(&broken.repeat(500));
    assert!(
        told.iter().any(|line| line.contains("500 lines, 30% of all,")
            && line.contains("of assets, whose figures are therefore assumed")),
        "{told:?}"
    );
    traffic.assume_unlogged(&HashMap::new(), &|_| false, &mut Quiet::default());
    assert_eq!(traffic.assumed, AssetType::ALL);
}

//! Pages that are none of the site though their status is 200: a PHP error, a missing database, an installer, maintenance, a server's welcome
//! page. Told by usual signs of the application's and the server's own pages, and by the size that a log has.

use std::sync::OnceLock;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use regex::bytes::Regex;

/// Bytes of a page that are looked at, from its begin and from its end.
const LOOKED_AT: usize = 64 << 10;
/// The most letters of text that a page has of which words alone are a sign. A page of the site about errors has more.
const SHORT: usize = 1500;
/// A page with a warning of PHP's and no more bytes than this is taken for the warning alone.
const BARE: usize = 4096;
/// Bytes of a page that say nothing beside a logged size, in which some logs count the head.
const HEAD: f64 = 1024.0;
/// What a logged size is divided by: a page of the site may be shorter today, and is not smaller than its own compressed form.
const SMALLER: f64 = 2.0;

/// What pages are by their titles and first headings in lower case; `; ` between them; `*` stands for anything.
const HEADINGS: [(&str, &str); 14] = [
    ("the welcome page of nginx", "welcome to nginx*"),
    ("the default page of Apache", "apache2 * default page*; it works!"),
    ("the test page of the web server", "*http server test page*; test page for the *http server*"),
    ("the welcome page of Caddy", "caddy works!"),
    ("the placeholder page of lighttpd", "placeholder page"),
    ("a list of files", "index of /*"),
    ("phpinfo()", "*phpinfo()"),
    ("a setup error", "*setup error"),
    ("a database error", "database error; error establishing a database connection"),
    ("an error page of WordPress", "wordpress › error"),
    (
        "an installer",
        "wordpress › installation; wordpress › setup configuration file; mediawiki * installation*; dokuwiki installer; phpmyadmin setup; joomla* installer; choose language | drupal; select an installation profile | drupal; *web installer",
    ),
    ("an error page of phpMyAdmin", "phpmyadmin - error"),
    (
        "a maintenance page",
        "maintenance mode; under maintenance; *undergoing maintenance; *under maintenance; briefly unavailable for scheduled maintenance*",
    ),
    (
        "an error page",
        "503 service*unavailable; service unavailable; 500 internal server error; internal server error; server error; 502 bad gateway; 504 gateway time*; 403 forbidden; 404 not found",
    ),
];
/// What short pages are by words in them, in lower case, `; ` between them.
const WORDS: [(&str, &str); 9] = [
    (
        "a database error",
        "error establishing a database connection; database connection error; can't connect to the database; could not connect to the database; cannot access the database; sqlstate[; access denied for user",
    ),
    ("an error page of MediaWiki", "localsettings.php not"),
    ("a setup error", "setup error"),
    (
        "a maintenance page",
        "briefly unavailable for scheduled maintenance; under maintenance; down for maintenance; scheduled maintenance; maintenance mode",
    ),
    ("an error page of WordPress", "there has been a critical error on this website"),
    ("an error page of Drupal", "the website encountered an unexpected error"),
    (
        "an error page",
        "whoops, looks like something went wrong; an error occurred; internal server error; service unavailable",
    ),
    ("an error of PHP", "no input file specified"),
    ("an error page: its packages are not installed", "composer install"),
];

/// What a page is in place of one of the site, with the words that say so; none: nothing says so. `is_html`: its media type.
pub fn sign(body: &[u8], is_html: bool) -> Option<String> {
    if let Some(line) = php_error(body) {
        return Some(format!("an error of PHP ({})", shortened(&line)));
    }
    if !is_html {
        return None;
    }
    let page = Text::of(&body[..body.len().min(LOOKED_AT)]);
    for (what, patterns) in HEADINGS {
        let fits = |heading: &&String| patterns.split("; ").any(|one| matches(one, &heading.to_lowercase()));
        if let Some(heading) = page.headings.iter().find(fits) {
            return Some(format!("{what} ({})", shortened(heading)));
        }
    }
    let lower = page.text.to_lowercase();
    let is_short = body.len() <= LOOKED_AT && lower.chars().count() <= SHORT;
    WORDS.iter().filter(|_| is_short).find_map(|(what, all)| {
        let words = all.split("; ").find(|words| lower.contains(words))?;
        Some(format!("{what} ({words})"))
    })
}

/// Whether a page of this many bytes is far smaller than what a log says was sent of it per response, compressed or not.
pub fn is_too_small(bytes: usize, logged: f64) -> bool {
    (bytes as f64 + HEAD) * SMALLER < logged
}

/// The first line of an error that PHP printed into a page. As HTML it has tags that no text about errors has; as text it ends the page.
fn php_error(body: &[u8]) -> Option<String> {
    static FATAL: OnceLock<Option<[Regex; 3]>> = OnceLock::new();
    let patterns = FATAL.get_or_init(|| {
        let html = r"<b>(?:Fatal error|Parse error|Recoverable fatal error)</b>:  ?[^\n]{1,2000}";
        let text = r"(?m)^(?:PHP )?(?:Fatal error|Parse error|Recoverable fatal error): +[^\n]{1,2000}";
        let lesser = r"(?m)(?:<b>|^(?:PHP )?)(?:Warning|Notice|Deprecated)(?:</b>)?: +[^\n]{1,2000} on line (?:<b>)?\d";
        Some([Regex::new(html).ok()?, Regex::new(text).ok()?, Regex::new(lesser).ok()?])
    });
    let [html, text, lesser] = patterns.as_ref()?;
    let ends_page = |found: &regex::bytes::Match<'_>| {
        !body[found.end()..].to_ascii_lowercase().windows(7).any(|tail| tail == b"</body>")
    };
    let tail = &body[body.len().saturating_sub(LOOKED_AT)..];
    let head = &body[..body.len().min(LOOKED_AT)];
    let found = html.find(head).or_else(|| html.find(tail));
    let found = found.or_else(|| text.find(body).filter(ends_page));
    let found = found.or_else(|| lesser.find(body).filter(|_| body.len() <= BARE))?;
    Some(Text::of(found.as_bytes()).text)
}

/// What a reader sees of a page.
#[derive(Default)]
struct Text {
    /// The title and the first heading.
    headings: Vec<String>,
    /// All text, in one line.
    text: String,
}

impl Text {
    fn of(html: &[u8]) -> Text {
        let mut found = Text::default();
        let mut emitter = DefaultEmitter::<()>::default();
        emitter.naively_switch_states(true);
        let mut within = Vec::new();
        let is_told = |name: &[u8]| matches!(name, b"title" | b"h1" | b"script" | b"style");
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) if is_told(&tag.name) => {
                    within = tag.name.to_vec();
                    if matches!(within.as_slice(), b"title" | b"h1") && found.headings.len() < 2 {
                        found.headings.push(String::new());
                    }
                }
                Token::EndTag(tag) if is_told(&tag.name) => within.clear(),
                Token::String(text) => found.add(&within, &String::from_utf8_lossy(&text)),
                _ => {}
            }
        }
        let plain = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Text { headings: found.headings.iter().map(plain).collect(), text: plain(&found.text) }
    }

    fn add(&mut self, within: &[u8], text: &str) {
        match within {
            b"script" | b"style" => return,
            b"title" | b"h1" => {
                self.headings.last_mut().into_iter().for_each(|heading| heading.push_str(text))
            }
            _ => {}
        }
        self.text.push_str(text);
        self.text.push(' ');
    }
}

/// Whether a text is what a pattern says, of which `; ` between them; `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|after| {
            (0..=after.len()).filter(|at| after.is_char_boundary(*at)).any(|at| matches(rest, &after[at..]))
        }),
    }
}

/// Safe to print, and no longer than a line.
fn shortened(text: &str) -> String {
    weigh_model::text::clean(text).chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, body: &str) -> String {
        format!(
            "<!doctype html><html><head><title>{title}</title><style>p {{}}</style></head><body>{body}</body></html>"
        )
    }

    #[test]
    fn pages_of_installers_servers_and_errors_are_none_of_the_site() {
        let long = "<p>text</p>".repeat(5000);
        for (html, wanted) in [
            (page("MediaWiki 1.39.17", "<h1>MediaWiki 1.39.17</h1><p>LocalSettings.php not readable.</p>"), "MediaWiki"),
            (page("MediaWiki 1.39.17 installation", &long), "installer"),
            (page("DokuWiki Setup Error", "<h1>DokuWiki Setup Error</h1><p>Run the installer.</p>"), "setup error"),
            (page("Database Error", "<h1>Error establishing a database connection</h1>"), "database error"),
            (page("WordPress &rsaquo; Installation", &long), "installer"),
            (page("WordPress &rsaquo; Error", "<p>Sorry.</p>"), "WordPress"),
            (page("Maintenance", "Briefly unavailable for scheduled maintenance. Check back in a minute."), "maintenance"),
            (page("Shop", "<h1>We are down for maintenance</h1>"), "maintenance"),
            (page("Welcome to nginx!", "<h1>Welcome to nginx!</h1>"), "nginx"),
            (page("Apache2 Debian Default Page: It works", &long), "Apache"),
            ("<html><body><h1>It works!</h1></body></html>".into(), "Apache"),
            (page("503 Service Temporarily Unavailable", ""), "error page"),
            (page("PHP 8.2.29 - phpinfo()", &long), "phpinfo"),
            ("No input file specified.\n".into(), "PHP"),
            (page("Shop", &format!("{long}<br />\n<b>Fatal error</b>:  Uncaught Error: x in /srv/a.php:3\n")), "Uncaught Error: x"),
            (format!("{long}\nFatal error: Uncaught PDOException: SQLSTATE[HY000] in /srv/a.php:3\n"), "PDOException"),
            ("<br />\n<b>Warning</b>:  require(../vendor/autoload.php): Failed in <b>/srv/a.php</b> on line <b>1</b><br />".into(), "vendor/autoload.php"),
        ] {
            let found = sign(html.as_bytes(), true).unwrap_or_default();
            assert!(found.contains(wanted), "{wanted}: {found:?}");
        }
    }

    #[test]
    fn pages_about_errors_and_small_pages_are_of_the_site() {
        let long = "<p>The next steps, one by one.</p>".repeat(200);
        for html in [
            page(
                "Error establishing a database connection: what to do - Blog",
                &format!("<h1>A database error</h1>{long}"),
            ),
            page(
                "How to",
                &format!("<pre>\nFatal error: Uncaught Error: x in a.php on line 3\n</pre>{long}"),
            ),
            page("Shop", "<h1>Welcome</h1><p>Installation in your home within 2 days.</p>"),
            page("Maintenance of bicycles", "<h1>Maintenance of bicycles</h1>"),
            page("Installation", &format!("<h1>Installation</h1>{long}")),
            page("Maintenance", &format!("<h1>Maintenance</h1>{long}")),
            page("Shop", &format!("<b>Warning</b>: contains nuts<br>{long}")),
            "[1,2,3]".to_owned(),
        ] {
            assert_eq!(sign(html.as_bytes(), true), None, "{html}");
        }
        assert_eq!(sign(b"{\"title\": \"under maintenance\"}", false), None);
    }

    #[test]
    fn a_page_far_smaller_than_the_log_has_it_is_another() {
        // As sent uncompressed, gzipped, a little shorter today, and so short that the head counts.
        for (bytes, logged) in
            [(30_000, 30_300.0), (30_000, 6_000.0), (20_000, 30_000.0), (100, 500.0), (100, 0.0)]
        {
            assert!(!is_too_small(bytes, logged), "{bytes} {logged}");
        }
        assert!(is_too_small(600, 9_000.0) && is_too_small(3_000, 30_000.0));
    }
}

use super::*;

fn stratum() -> Stratum {
    Stratum {
        kind: Kind::Asset,
        format: "text/javascript".into(),
        from_bytes: 10_000,
        to_bytes: Some(50_000),
        files: Figure::counted(3.0),
        bytes: Figure::counted(90_000.0),
        requests: Figure::counted(1200.0),
        not_modified: None,
        ranges: None,
        sent_bytes: None,
        writes: Some(Figure::assumed(4.0)),
        made_ms: None,
        saving: None,
        sample: vec![Sample {
            path: "js/app.js".into(),
            bytes: 30_000,
            sha256: "0".repeat(64),
            share: 1.0,
            sent: Vec::new(),
        }],
    }
}

fn site() -> Site {
    Site {
        schema: SCHEMA,
        name: "shop".into(),
        looked: "2026-11-24".into(),
        sources: Sources { docroot: Some("/srv/shop".into()), ..Sources::default() },
        visitors: Visitors::default(),
        store_link: Default::default(),
        prices: Prices::default(),
        limits: Limits::default(),
        today: vec![Today {
            kind: Kind::Asset,
            method: "server/gzip:1".into(),
            about: "gzip 1 on the fly".into(),
            from: From::Configured,
        }],
        strata: vec![stratum()],
        loaded: Vec::new(),
        page_cache: Vec::new(),
        cacheable: Vec::new(),
        page_php: Vec::new(),
        worker: None,
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = toml::to_string(&site()).unwrap();
    assert_eq!(Site::parse(&text, "site.toml").unwrap(), site());
}

#[test]
fn a_bare_number_is_one_that_the_user_gave() {
    let text = toml::to_string(&site()).unwrap();
    let own = text.replace("[prices.core_hour]\nvalue = 0.03\nfrom = \"assumed\"\n", "");
    assert_ne!(own, text);
    let own = own.replace("currency = \"EUR\"", "currency = \"EUR\"\ncore_hour = 0.5");
    let read = Site::parse(&own, "site.toml").unwrap();
    assert_eq!(read.prices.core_hour, Figure { value: 0.5, from: From::Given });
}

const EUR: &str = "currency = \"EUR\"";
const TWICE: &str = "currency = \"EUR\"
machines = [{ kind = \"a\", core_hour = 1 }, { kind = \"a\", core_hour = 2 }]";

#[test]
fn what_cannot_be_is_refused_in_one_line_with_its_key() {
    let text = toml::to_string(&site()).unwrap();
    for (from, to, said) in [
        ("schema = 1", "schema = 2", "schema = 2 is not known"),
        ("name = \"shop\"", "name = \"\\u001b[31m\"", "may have lower-case letters"),
        ("[visitors.new_connections]", "[visitors.new_conections]", "did you mean `new_connections`?"),
        ("share = 0.864", "share = 0.5", "visitors.accept: the shares add up to 0.636"),
        ("share = 1.0", "share = 0.9", "strata 1 (text/javascript, 10 KB to 50 KB): sample: the shares add"),
        ("value = 0.03", "value = -1.0", "prices.core_hour = -1 must be zero or more"),
        (
            EUR,
            "currency = \"EUR\"\nmachines = [{ kind = \"a\", core_hour = 0 }]",
            "core_hour of a must be above zero",
        ),
        (EUR, TWICE, "prices.machines has two prices for a"),
        ("kind = \"asset\"", "kind = \"assets\"", "assets"),
        ("to_bytes = 50000", "to_bytes = 5", "to_bytes must be above"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        let error = Site::parse(&wrong, "site.toml").unwrap_err().to_string();
        assert!(error.contains(said) && error.starts_with("site.toml"), "{error}");
        assert!(!error.chars().any(char::is_control), "{error:?}");
    }
}

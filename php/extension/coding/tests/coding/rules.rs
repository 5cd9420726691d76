//! The table of cases that the PHP library's tests read too.

use serde_json::Value;
use weighbridge_coding::{Breach, Coding, Head, Settings, choose, is_withheld, without_weakness};

/// The cases of a section, which must not be empty.
fn cases(section: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(include_str!("../../../../rules/cases.json")).expect("JSON");
    let cases = table[section].as_array().expect("a section of the table").clone();
    assert!(!cases.is_empty());
    cases
}

fn settings() -> Settings {
    Settings::read(Settings::ALL.map(|(_, default)| default)).expect("the defaults")
}

/// A header with these fields; without a type it has none.
fn head(status: u16, fields: &Value) -> Head {
    let lines: Vec<String> = fields.as_object().map_or(Vec::new(), |fields| {
        fields.iter().map(|(name, value)| format!("{name}: {}", value.as_str().expect("a value"))).collect()
    });
    Head::read(status, b"", lines.iter().map(String::as_bytes))
}

fn page(name: &str, value: &Value) -> Head {
    let mut fields = serde_json::json!({"Content-Type": "text/html"});
    if !value.is_null() {
        fields[name] = value.clone();
    }
    head(200, &fields)
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let table: Value = serde_json::from_str(include_str!("../../../../rules/cases.json")).expect("JSON");
    let settings = settings();
    let offered: Vec<&str> = settings.codings.iter().map(|coding| coding.name()).collect();
    assert_eq!(table["offered"], serde_json::json!(offered));
    assert_eq!(table["min_bytes"], settings.min_bytes);
    for coding in &settings.codings {
        assert_eq!(table["levels"][coding.name()], settings.level(*coding), "{coding}");
    }
}

#[test]
fn negotiation() {
    for case in cases("negotiation") {
        let accept = case["accept"].as_str().map(str::as_bytes);
        let coding = choose(accept, &settings().codings);
        assert_eq!(coding.map(Coding::name), case["coding"].as_str(), "{case}");
    }
    let long = format!("gzip{}", ",x".repeat(32 * 1024));
    assert_eq!(choose(Some(long.as_bytes()), &Coding::ALL), None);
    assert_eq!(choose(Some(b"gzip"), &[]), None);
}

#[test]
fn types() {
    // Cases with a list of types are for the library, which has that setting.
    for case in cases("types").iter().filter(|case| case["types"].is_null()) {
        let head = head(200, &serde_json::json!({"Content-Type": case["type"]}));
        assert_eq!(Value::from(head.may_be_encoded()), case["is_encoded"], "{case}");
    }
}

#[test]
fn streams() {
    for case in cases("streams") {
        let head = head(200, &case["fields"]);
        assert_eq!(Value::from(head.is_stream), case["is_stream"], "{case}");
        assert!(!(head.is_stream && head.may_be_encoded()), "{case}");
    }
}

#[test]
fn responses() {
    for case in cases("responses") {
        let status = case["status"].as_u64().expect("a status") as u16;
        let head = head(status, &case["fields"]);
        assert_eq!(Value::from(head.may_be_encoded()), case["is_encoded"], "{case}");
    }
}

#[test]
fn fields() {
    for case in cases("vary") {
        assert_eq!(page("Vary", &case["vary"]).varies, case["vary"] == case["sent"], "{case}");
    }
    for case in cases("etags") {
        let head = page("ETag", &case["etag"]);
        let sent = head.weakened_etag().unwrap_or_else(|| case["etag"].as_str().unwrap_or_default().into());
        assert_eq!(case["sent"], sent, "{case}");
    }
    for case in cases("withheld") {
        let sent = page("Cache-Control", &case["cache_control"]).private_cache_control();
        let same = || case["cache_control"].as_str().unwrap_or_default().to_owned();
        assert_eq!(case["sent"], sent.unwrap_or_else(same), "{case}");
    }
}

#[test]
fn conditions() {
    for case in cases("if_none_match") {
        assert_eq!(case["seen"], without_weakness(case["sent"].as_str().expect("a field")), "{case}");
    }
    for case in cases("not_modified") {
        let head = head(304, &serde_json::json!({"Content-Type": "text/html", "ETag": case["etag"]}));
        let sent = head.unchanged_etag(case["if_none_match"].as_str().expect("a field"));
        assert_eq!(case["sent"], sent.unwrap_or_else(|| case["etag"].as_str().unwrap().into()), "{case}");
        assert!(head.is_unchanged(), "{case}");
    }
}

#[test]
fn requests_of_other_sites() {
    for case in cases("breach") {
        let rule = match case["setting"].as_str() {
            Some("cross-site") => Breach::CrossSite,
            Some("cookies") => Breach::Cookies,
            _ => Breach::Off,
        };
        let fields = case["fields"].as_object().expect("fields");
        let field = |asked: &str| {
            let found = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(asked));
            found.and_then(|(_, value)| value.as_str()).map(str::to_owned)
        };
        assert_eq!(Value::from(is_withheld(rule, field)), case["is_withheld"], "{case}");
    }
}

//! Whole conversations, invented.

use super::*;
use crate::subject::delivery::fixture::negotiation::{Server, talk};

fn remarks_of(server: &Server) -> Vec<Remark> {
    let told = talk(server);
    let variants = variants(&told.exchanges);
    remarks(&judge(&told.exchanges, &variants), &variants)
}

fn seen(remarks: &[Remark], quirk: Quirk) -> Option<Vec<&str>> {
    let found = remarks.iter().find(|remark| remark.quirk == quirk)?;
    Some(found.seen_in.iter().map(String::as_str).collect())
}

#[test]
fn a_server_that_keeps_every_rule_has_nothing_said_of_it() {
    assert_eq!(remarks_of(&Server::default()), []);
}

#[test]
fn variants_are_found_in_what_was_sent() {
    let told = talk(&Server::default());
    let found = variants(&told.exchanges);
    let codings: Vec<&str> = found.iter().map(|variant| variant.coding.as_str()).collect();
    assert_eq!(codings, [IDENTITY, "gzip", "br"]);
    assert!(found.iter().all(|variant| variant.varies));
    assert!(found[0].bytes > found[1].bytes && found[1].bytes > found[2].bytes);
}

#[test]
fn etags_that_lack_a_quote_or_are_shared_are_told() {
    let unclosed = remarks_of(&Server { etag: |coding| Some(format!("\"1-{coding}")), ..Server::default() });
    assert_eq!(seen(&unclosed, Quirk::UnclosedEtag), Some(vec![IDENTITY, "gzip", "br"]));
    assert_eq!(unclosed.len(), 1, "{unclosed:?}");
    let shared = remarks_of(&Server { etag: |_| Some("\"1\"".into()), ..Server::default() });
    assert_eq!(seen(&shared, Quirk::SharedEtag), Some(vec![IDENTITY, "gzip", "br"]));
    let weak = remarks_of(&Server { etag: |_| Some("W/\"1\"".into()), ..Server::default() });
    assert_eq!(seen(&weak, Quirk::WeakEtag), Some(vec![IDENTITY, "gzip", "br"]));
    assert!(seen(&weak, Quirk::SharedEtag).is_none(), "a weak one may stand for all");
    let none = remarks_of(&Server { etag: |_| None, ..Server::default() });
    assert_eq!(seen(&none, Quirk::NoEtag), Some(vec![IDENTITY, "gzip", "br"]));
    let broken = remarks_of(&Server { etag: |coding| Some(coding.into()), ..Server::default() });
    assert_eq!(seen(&broken, Quirk::BrokenEtag), Some(vec![IDENTITY, "gzip", "br"]));
}

#[test]
fn vary_is_missed_only_where_there_are_several_variants() {
    let none = remarks_of(&Server { vary: None, ..Server::default() });
    assert_eq!(seen(&none, Quirk::NoVary), Some(vec!["gzip", "br"]));
    assert_eq!(seen(&none, Quirk::PlainWithoutVary), Some(vec![IDENTITY]));
    assert!(none[0].quirk.is_wrong() && !none[1].quirk.is_wrong());
    assert_eq!(remarks_of(&Server { vary: None, codings: &[], ..Server::default() }), []);
}

#[test]
fn a_rule_for_old_browsers_is_told_and_needs_its_vary() {
    let rule = remarks_of(&Server { is_wary: true, ..Server::default() });
    assert_eq!(seen(&rule, Quirk::BrowserRule), Some(vec!["MSIE 6"]));
    assert_eq!(seen(&rule, Quirk::NoVary), Some(vec!["MSIE 6"]));
    let varied = Server { is_wary: true, vary: Some("Accept-Encoding, User-Agent"), ..Server::default() };
    assert_eq!(remarks_of(&varied).len(), 1);
}

#[test]
fn one_that_takes_a_name_for_a_wish_is_told_where() {
    let deaf = remarks_of(&Server { is_deaf: true, ..Server::default() });
    assert_eq!(seen(&deaf, Quirk::Excluded), Some(vec!["gzip;q=0", "gzip;q=0, br"]));
    assert!(deaf.is_sorted_by_key(|remark| !remark.quirk.is_wrong()), "what is wrong comes first");
}

#[test]
fn hostile_records_are_judged_too() {
    let mut told = talk(&Server::default());
    for (at, exchange) in told.exchanges.iter_mut().enumerate() {
        match at % 7 {
            0 => exchange.ask.accept = Some(";q=,,\u{0}é;q=9".repeat(500)),
            1 => exchange.answer.content_range = Some("bytes 18446744073709551615-0/0".into()),
            2 => exchange.answer.content_encoding = Some("\u{202e}x\x1b[2J".into()),
            3 => exchange.ask.variant = Some("nobody".into()),
            4 => exchange.answer.etag = Some("W/".into()),
            5 => exchange.answer.status = 206,
            _ => exchange.ask.range = Some("bytes=--".into()),
        }
    }
    let found = variants(&told.exchanges);
    let judged = judge(&told.exchanges, &found);
    assert_eq!(judged.len(), told.exchanges.len());
    assert!(!remarks(&judged, &found).is_empty());
}

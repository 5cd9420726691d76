//! Which variant the servers of this machine send to whom, with the quirks that are known of them.

use std::collections::BTreeMap;

use weigh_answer::report::exhibit::{negotiation::NegotiationResult, quirk::Quirk};
use weigh_model::cell::{Cell, Delivery, Subject, Transport};
use weigh_model::setting::Setting;
use weigh_model::way::{By, WayKind};
use weigh_os::interrupt::Interrupt;
use weigh_rig::server::Found;
use weigh_run::subject::delivery::negotiation::ask;

use super::fixture::{Rig, server};

/// Asks a fresh instance with this way, and has its answers judged.
fn asked(rig: &Rig, found: &Found, way: &str) -> NegotiationResult {
    let site = rig.with(None, way);
    let instance = rig.start(found, &site);
    let told = ask(&instance.url("/lib.js"), None, &rig.script(), &Interrupt::new()).unwrap();
    assert!(instance.stop(), "{way} had to be killed");
    assert_eq!((told.wrong_body(), &told.ended), (None, &None), "{way}");
    NegotiationResult::of(&cell(found, site.way.unwrap()), &told).unwrap()
}

pub fn cell(found: &Found, setting: Setting) -> Cell {
    let delivery = Delivery {
        server: found.definition.name.clone(),
        transport: Transport::Http,
        by: By::Server,
        kind: WayKind::PreEncoded,
        negotiation: true,
        accept: String::new(),
        connections: 1,
        instances: 1,
        ..Delivery::default()
    };
    Cell {
        id: Cell::make_delivery_id("lib", "-", &setting, &delivery),
        subject: Subject::ASSET,
        payload: "lib".into(),
        runtime: "-".into(),
        setting,
        expected_seconds: 0.1,
        delivery: Some(delivery),
        ..Cell::default()
    }
}

/// Whether the way is here; where it is not, says so.
fn has(found: &Found, name: &str) -> bool {
    let way = found.ways.iter().find(|way| way.name == name).unwrap();
    if let Some(why) = &way.missing {
        println!("skipped: {} {name}: {why}", found.definition.name);
    }
    way.missing.is_none()
}

fn codings(one: &NegotiationResult) -> Vec<&str> {
    one.variants.iter().map(|variant| variant.coding.as_str()).collect()
}

fn wrong(one: &NegotiationResult) -> Vec<Quirk> {
    one.remarks.iter().map(|remark| remark.quirk).filter(|quirk| quirk.is_wrong()).collect()
}

/// What was sent for each Accept-Encoding, browsers left out.
fn sent(one: &NegotiationResult) -> BTreeMap<&str, String> {
    let choices = one.exchanges.iter().filter(|e| e.ask.variant.is_none() && e.ask.browser.is_none());
    choices
        .map(|e| {
            (e.ask.accept.as_deref().unwrap_or("none"), format!("{} {}", e.answer.status, e.answer.coding()))
        })
        .collect()
}

/// What a quirk is seen in; none where it is not.
fn seen(one: &NegotiationResult, quirk: Quirk) -> Vec<&str> {
    let found = one.remarks.iter().find(|remark| remark.quirk == quirk);
    found.map(|remark| remark.seen_in.iter().map(String::as_str).collect()).unwrap_or_default()
}

/// What holds for every way of every server.
fn keeps_its_word(one: &NegotiationResult) {
    let place = format!("{} {}", one.server, one.way);
    assert_eq!(codings(one)[0], "identity", "{place}");
    let sent = sent(one);
    assert_eq!(sent["none"], "200 identity", "{place}");
    assert_eq!(sent["identity"], "200 identity", "{place}");
    for coding in ["gzip", "br", "zstd", "deflate"] {
        let is_there = codings(one).contains(&coding);
        let expected = format!("200 {}", if is_there { coding } else { "identity" });
        assert_eq!(sent[coding], expected, "{place}");
    }
    for never in
        [Quirk::WrongBody, Quirk::Failed, Quirk::Unnamed, Quirk::WrongPart, Quirk::StalePart, Quirk::NoVary]
    {
        assert_eq!(seen(one, never), [""; 0], "{place}: {never:?}");
    }
    assert!(one.exchanges.len() > 22, "{place}: {}", one.exchanges.len());
}

/// Every way of a server for files, by its name.
fn every(name: &str) -> Option<BTreeMap<String, NegotiationResult>> {
    let found = server(name)?;
    let rig = Rig::new();
    let ways =
        found.ways.iter().filter(|way| way.subjects.iter().any(|s| s == "asset") && has(&found, &way.name));
    let all: BTreeMap<_, _> = ways.map(|way| (way.name.clone(), asked(&rig, &found, &way.name))).collect();
    all.values().for_each(keeps_its_word);
    assert!(rig.left_over().is_empty());
    Some(all)
}

#[test]
fn nginx() {
    let Some(all) = every("nginx") else { return };
    let (fly, before) = (&all["gzip"], &all["gzip_static"]);
    assert_eq!((codings(fly), codings(before)), (vec!["identity", "gzip"], vec!["identity", "gzip"]));
    assert_eq!((wrong(fly), wrong(before)), (vec![], vec![]));
    assert_eq!(seen(fly, Quirk::WeakEtag), ["gzip"]);
    assert!(seen(before, Quirk::WeakEtag).is_empty(), "each file has its own");
    assert_eq!(sent(before)["gzip;q=0"], "200 identity");
    assert_eq!(seen(before, Quirk::IdentityRefused), ["identity;q=0", "*;q=0"]);
    if let Some(brotli) = all.get("brotli_static") {
        assert_eq!(codings(brotli), ["identity", "br"]);
        assert_eq!(seen(brotli, Quirk::PlainWithoutVary), ["identity"]);
    }
}

#[test]
fn apache() {
    let Some(all) = every("apache") else { return };
    for way in ["type-map", "multiviews"] {
        let one = &all[way];
        assert_eq!(codings(one), ["identity", "gzip", "br", "zstd", "deflate"], "{way}");
        assert_eq!(wrong(one), [Quirk::UnclosedEtag], "{way}");
        assert_eq!(seen(one, Quirk::NotAcceptable), ["identity;q=0", "*;q=0"], "{way}");
        assert_eq!(sent(one)["br;q=0.5, gzip;q=1.0"], "200 gzip", "{way} heeds weights");
        assert_eq!(sent(one)["GZIP"], "200 gzip", "{way}");
        let tags: Vec<&str> = one.variants.iter().filter_map(|v| v.etag.as_deref()).collect();
        assert!(tags.iter().all(|tag| tag.starts_with('"') && !tag.ends_with('"')), "{way}: {tags:?}");
    }
    let rewrite = &all["rewrite"];
    assert_eq!((codings(rewrite).len(), wrong(rewrite)), (5, vec![]));
    assert_eq!(seen(rewrite, Quirk::Lesser), ["br;q=0.5, gzip;q=1.0"], "its own order");
    if let Some(deflate) = all.get("mod_deflate") {
        // Conditions are looked at before the filter has changed the ETag.
        assert_eq!(wrong(deflate), [Quirk::FalseMatch]);
        assert_eq!(seen(deflate, Quirk::NotMatched), ["gzip"]);
    }
}

#[test]
fn lighttpd() {
    let Some(all) = every("lighttpd") else { return };
    let rewrite = &all["rewrite"];
    assert_eq!((codings(rewrite).len(), wrong(rewrite)), (5, vec![]));
    assert_eq!(seen(rewrite, Quirk::Lesser), ["br;q=0.5, gzip;q=1.0"], "its own order");
    if let Some(gzip) = all.get("gzip") {
        assert_eq!(codings(gzip), ["identity", "gzip"]);
        assert_eq!(seen(gzip, Quirk::PlainWithoutVary), ["identity"]);
        // The filter of 1.4.69 takes `gzip;q=0` for `gzip`; a later one need not.
        let refused = seen(gzip, Quirk::Excluded);
        assert!(refused.is_empty() || refused == ["gzip;q=0", "gzip;q=0, br"], "{refused:?}");
    }
}

#[test]
fn caddy() {
    let Some(all) = every("caddy") else { return };
    let before = &all["precompressed"];
    assert_eq!(codings(before), ["identity", "gzip", "br", "zstd"]);
    assert_eq!(wrong(before), []);
    assert_eq!(sent(before)["br;q=0.5, gzip;q=1.0"], "200 gzip", "it heeds weights");
    // Of 2.6 one strong ETag is that of every encoding; a later one need not have that.
    let shared = seen(&all["gzip"], Quirk::SharedEtag);
    assert!(shared.is_empty() || shared == ["identity", "gzip"], "{shared:?}");
    let tags: Vec<_> = all["gzip"].variants.iter().map(|variant| &variant.etag).collect();
    assert_eq!(shared.is_empty(), tags[0] != tags[1]);
}

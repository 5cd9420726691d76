//! Which variant the servers of this machine send to whom, with the quirks that are known of them.

use std::collections::BTreeMap;

use weigh::analysis::delivery::model::{NegotiationResult, Quirk};
use weigh::analysis::delivery::negotiation;
use weigh::cell::{Cell, Delivery, Subject, Transport};
use weigh::interrupt::Interrupt;
use weigh::rig::server::Found;
use weigh::setting::Setting;
use weigh::subject::delivery::negotiation::ask;
use weigh::way::{By, WayKind};

use crate::fixture::{Rig, server};

/// Asks a fresh instance with this way, and has its answers judged.
fn asked(rig: &Rig, found: &Found, way: &str) -> NegotiationResult {
    let site = rig.with(None, way);
    let instance = rig.start(found, &site);
    let told = ask(&instance.url("/lib.js"), &rig.script(), &Interrupt::new()).unwrap();
    assert!(instance.stop(), "{way} had to be killed");
    assert_eq!((told.wrong_body(), &told.ended), (None, &None), "{way}");
    negotiation::result(&cell(found, site.way.unwrap()), &told).unwrap()
}

fn cell(found: &Found, setting: Setting) -> Cell {
    let delivery = Delivery {
        server: found.definition.name.clone(),
        transport: Transport::Http,
        by: By::Server,
        kind: WayKind::PreEncoded,
        negotiation: true,
        accept: String::new(),
        connections: 1,
        site: None,
    };
    Cell {
        id: Cell::make_delivery_id("lib", "-", &setting, &delivery),
        subject: Subject::Asset,
        payload: "lib".into(),
        runtime: "-".into(),
        serializer: None,
        setting,
        keep: false,
        expected_seconds: 0.1,
        delivery: Some(delivery),
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

fn show(one: &NegotiationResult) {
    println!("== {} {}: {:?}", one.server, one.way, one.variants);
    for remark in &one.remarks {
        println!("  {:?} {:?}", remark.quirk, remark.seen_in);
    }
    println!("  {:?}", sent(one));
}

#[test]
fn survey() {
    for name in ["nginx", "apache", "lighttpd", "caddy"] {
        let rig = Rig::new();
        let Some(found) = server(name) else { continue };
        for way in
            found.ways.iter().filter(|w| w.missing.is_none() && w.subjects.iter().any(|s| s == "asset"))
        {
            show(&asked(&rig, &found, &way.name));
        }
    }
    let _ = has;
    let _ = (codings, wrong);
}

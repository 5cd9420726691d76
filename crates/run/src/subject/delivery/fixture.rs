//! Cells and payloads for the tests of deliveries.

use weigh_model::cell::{Cell, Delivery, Subject, Transport};
use weigh_model::payload::{Origin, Payload};
use weigh_model::setting::Setting;
use weigh_model::way::{By, WayKind};

/// Nine bytes of no meaning.
pub fn payload(name: &str, kind: &str) -> Payload {
    let origin = Origin::Synthetic { imitates: "text".into() };
    let (name, kind, sha256) = (name.to_owned(), kind.to_owned(), "0".repeat(64));
    Payload {
        name,
        kind,
        blob: "blob".into(),
        sha256,
        bytes: 9,
        items: vec![9],
        family: false,
        value: None,
        parts: Vec::new(),
        origin,
    }
}

/// From nginx, over one connection without TLS.
pub fn delivery(by: By, kind: WayKind, accept: &str) -> Delivery {
    Delivery {
        server: "nginx".into(),
        transport: Transport::Http,
        by,
        kind,
        accept: accept.into(),
        connections: 1,
        instances: 1,
        ..Delivery::default()
    }
}

pub fn cell(id: &str, subject: Subject, setting: Setting, delivery: Option<Delivery>) -> Cell {
    Cell {
        id: id.into(),
        subject,
        payload: "a".into(),
        runtime: "-".into(),
        setting,
        expected_seconds: 0.1,
        delivery,
        ..Cell::default()
    }
}

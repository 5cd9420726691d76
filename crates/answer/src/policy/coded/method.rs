//! A method of one content coding, as a row measured it.

use weigh_model::policy::{Encoder, Need, Rule};
use weigh_model::site::{Kind, Today};
use weigh_model::way::{By, ENCODER, OUTPUT_COMPRESSION, WayKind};

use crate::advice::delivery::{default_encoder, need};
use crate::finding::delivery::sent::Sent;
use crate::label;
use crate::metric::delivery::CODING;
use crate::row::Row;

/// Content codings in the order in which clients prefer them where their values are equal.
pub(super) const CODINGS: [&str; 3] = ["br", "zstd", GZIP];
pub(super) const GZIP: &str = "gzip";

/// A method of one content coding.
#[derive(Clone, Debug)]
pub(super) struct Method<'a> {
    pub coding: &'a str,
    /// As a study names it: `server/gzip:6`.
    pub way: String,
    pub by: Encoder,
    pub row: &'a Row,
}

/// The method of a row as studies write it.
pub(crate) fn way_of(row: &Row) -> String {
    row.cell.delivery.as_ref().map(|delivery| delivery.way(&row.cell.setting)).unwrap_or_default()
}

/// Whether a row sends the content as it is, without any option.
pub(super) fn is_plain(row: &Row) -> bool {
    let is_plain = row.cell.delivery.as_ref().is_some_and(|delivery| delivery.kind == WayKind::Plain);
    is_plain && row.cell.setting.options.is_empty() && row.fact(CODING).is_none()
}

impl<'a> Method<'a> {
    /// That of a row that was sent in a content coding; the user's own configuration is not a method to advise.
    pub(super) fn new(row: &'a Row) -> Option<Method<'a>> {
        let delivery = row.cell.delivery.as_ref()?;
        let coding = row.fact(CODING).filter(|coding| CODINGS.contains(coding))?;
        let by = match (delivery.by, delivery.kind) {
            (By::Server, WayKind::PreEncoded) => Encoder::Beforehand,
            (By::Server, WayKind::OnTheFly) => Encoder::Server,
            (By::Php, WayKind::OnTheFly) => Encoder::Php,
            _ => return None,
        };
        (!is_own(row)).then(|| Method { coding, way: way_of(row), by, row })
    }

    /// The encoder of precompressed files.
    pub(super) fn encoder(&self) -> Option<String> {
        let encoder = match self.row.cell.setting.options.get(ENCODER).map(String::as_str) {
            Some("libdeflate") => "libdeflate:12".to_owned(),
            Some(named) => named.to_owned(),
            None => default_encoder(self.coding).replace(' ', ":"),
        };
        (self.by == Encoder::Beforehand).then_some(encoder)
    }

    pub(super) fn rule(&self, min_bytes: u64, types: Vec<String>) -> Rule {
        let (encoder, level) = (self.encoder(), self.row.cell.setting.level);
        Rule { encoder, level, min_bytes, types, ..Rule::new(self.coding, self.by, &self.way) }
    }

    /// What the site does not have for it.
    pub(super) fn needs(&self) -> Option<Need> {
        let sent = Sent::of(self.row).filter(|_| self.by != Encoder::Beforehand)?;
        Some(Need { what: need(&sent)?, how: String::new() })
    }
}

/// Whether a row is of the site's own configuration.
pub(in super::super) fn is_own(row: &Row) -> bool {
    row.cell.setting.codec == weigh_model::way::CONFIG
}

/// `Precompress assets with brotli 11 (br) and zopfli (gzip)`, `Send pages with brotli 5 in nginx (br) and gzip 6 in nginx (gzip)`.
pub(super) fn named(kind: Kind, methods: &[&Method], today: Option<&Today>) -> String {
    // What a setting of PHP does is done by a library where the site has no such setting.
    let is_set = today.is_some_and(Today::is_php_setting);
    let named = |method: &Method| {
        let name = crate::names::method(method.row);
        if is_set { name } else { name.replace(OUTPUT_COMPRESSION, "") }
    };
    let of = |method: &&Method| {
        let encoder = method.encoder().map(|encoder| encoder.replace(':', " "));
        format!("{} ({})", encoder.unwrap_or_else(|| named(method)), method.coding)
    };
    let names: Vec<String> = methods.iter().map(of).collect();
    let is_before = methods.iter().any(|method| method.by == Encoder::Beforehand);
    match (names.is_empty(), is_before) {
        (true, _) => format!("Send {} uncompressed", kind.plural()),
        (_, true) => format!("Precompress {} with {}", kind.plural(), label::some(&names, 3)),
        (_, false) => format!("Send {} with {}", kind.plural(), label::some(&names, 3)),
    }
}

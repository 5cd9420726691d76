//! Names of rows in pictures: `zstd 3 in PHP`, `igbinary + zstd 3`, `Redis, phpredis`.

use weigh_model::cell::{Cell, NO_PHP};
use weigh_model::client::Mix;
use weigh_model::way::{By, WayKind};

use crate::finding::client::label::name;
use crate::finding::label;
use crate::report::Report;
use crate::row::Row;
use crate::subject::client;
use crate::subject::delivery::is_not_encoded;
use crate::text::clean;

/// `igbinary + zstd 3`, `serialize alone`.
pub(super) fn setting(row: &Row) -> String {
    clean(&label::of_cell(&row.cell))
}

/// `zstd 3 in PHP`, `gzip 6 in nginx`, `readfile in PHP`, `none in PHP (php8.4)`.
pub(super) fn method(row: &Row) -> String {
    let Some(delivery) = row.cell.delivery.as_ref() else { return setting(row) };
    let hand = match delivery.by {
        By::Php => "PHP",
        By::Server => server(&delivery.server),
    };
    let name = match (row.cell.setting.codec.as_str(), delivery.kind) {
        ("none" | "plain", WayKind::Plain) => "uncompressed".to_owned(),
        _ => way(&row.cell),
    };
    let link = if delivery.kind == WayKind::Offload { "from" } else { "in" };
    let mut said = format!("{name} {link} {hand}");
    if row.cell.runtime != row.cell.runtime_in_common() && row.cell.runtime != NO_PHP {
        said.push_str(&format!(" ({})", runtime(&row.cell.runtime)));
    }
    clean(&if is_not_encoded(row) { format!("{said}, not encoded") } else { said })
}

/// `Redis, phpredis`, `Redis, plain socket`, `APCu`.
pub(super) fn store(row: &Row) -> String {
    let Some(of) = row.cell.client.as_ref() else { return String::new() };
    clean(&name((&of.store, &of.driver)))
}

/// `readfile (buffering=off)`, `X-Sendfile`.
pub(super) fn way(cell: &Cell) -> String {
    let setting = &cell.setting;
    let said = label::setting(setting);
    clean(&said.replacen(setting.codec.as_str(), label::owned(&setting.codec), 1))
}

/// The answer recommends it.
pub(super) fn is_recommended(report: &Report, row: &Row) -> bool {
    report.advice.as_ref().is_some_and(|advice| advice.recommends(row.id()))
}

/// A name with an arrow before it where the answer recommends the row.
pub(super) fn marked(report: &Report, row: &Row, name: &str) -> String {
    if is_recommended(report, row) { format!("→ {name}") } else { name.to_owned() }
}

/// `Apache`, `nginx`.
pub(super) fn server(name: &str) -> &str {
    label::owned(name)
}

/// `9 reads : 1 write`, `reads`, `writes`.
pub(super) fn mix(mix: Mix) -> String {
    match mix.write_every {
        0 => "reads".into(),
        1 => "writes".into(),
        2 => "1 read : 1 write".into(),
        every => format!("{} reads : 1 write", every - 1),
    }
}

/// `PHP 8.2 with JIT`, `native`.
pub(super) fn runtime(name: &str) -> String {
    clean(&label::runtime(name))
}

/// The setting of a worker that encodes, `igbinary + zstd 3`; empty for a worker that does not.
pub(super) fn encoded(row: &Row) -> String {
    if client::setting(row).is_empty() { String::new() } else { setting(row) }
}

//! Names of rows, the same in tables and pictures: `zstd 3 in PHP`, `igbinary with zstd 3`, `Redis, phpredis`. All are clean.

use weigh_model::cell::{Cell, NO_PHP};
use weigh_model::client::Mix;
use weigh_model::way::{By, WayKind};

use crate::finding::client::label::name;
use crate::finding::label;
use crate::report::Report;
use crate::row::Row;
use crate::subject::delivery::is_not_encoded;
use crate::text::clean;

/// `igbinary with zstd 3`, `serialize alone`.
pub(crate) fn setting(row: &Row) -> String {
    clean(&label::of_cell(&row.cell))
}

/// `zstd 3 in PHP`, `gzip 6 in nginx`, `readfile in PHP`, `uncompressed in PHP (PHP 8.4)`.
pub(crate) fn method(row: &Row) -> String {
    let Some(delivery) = row.cell.delivery.as_ref() else { return setting(row) };
    let hand = match delivery.by {
        By::Php => "PHP",
        By::Server => label::owned(&delivery.server),
    };
    let name = match (row.cell.setting.codec.as_str(), delivery.kind) {
        ("none" | "plain", WayKind::Plain) if row.cell.setting.options.is_empty() => {
            "uncompressed".to_owned()
        }
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
pub(crate) fn store(row: &Row) -> String {
    let Some(of) = row.cell.client.as_ref() else { return String::new() };
    clean(&name((&of.store, &of.driver)))
}

/// `Redis, phpredis, PHP 8.2`.
pub(crate) fn client(row: &Row) -> String {
    format!("{}, {}", store(row), runtime(&row.cell.runtime))
}

/// `readfile (buffering=off)`, `X-Sendfile`.
pub(crate) fn way(cell: &Cell) -> String {
    let setting = &cell.setting;
    let said = label::setting(setting);
    clean(&said.replacen(setting.codec.as_str(), label::owned(&setting.codec), 1))
}

/// A name with an arrow before it if the answer recommends the row.
pub(crate) fn marked(report: &Report, row: &Row, name: &str) -> String {
    if report.recommends(row.id()) { format!("→ {name}") } else { name.to_owned() }
}

/// `Apache`, `nginx`.
pub(crate) fn server(name: &str) -> String {
    clean(label::owned(name))
}

/// `nginx, PHP 8.2`; only the server without PHP.
pub(crate) fn stack(of: &str, php: &str) -> String {
    if php == NO_PHP { server(of) } else { format!("{}, {}", server(of), runtime(php)) }
}

/// `9 reads : 1 write`, `reads`, `writes`.
pub(crate) fn mix(mix: Mix) -> String {
    match mix.write_every {
        0 => "reads".into(),
        1 => "writes".into(),
        2 => "1 read : 1 write".into(),
        every => format!("{} reads : 1 write", every - 1),
    }
}

/// `PHP 8.2 with JIT`, `native`.
pub(crate) fn runtime(name: &str) -> String {
    clean(&label::runtime(name))
}

/// The setting of a worker that encodes, `igbinary with zstd 3`; empty for a worker that does not.
pub(crate) fn encoded(row: &Row) -> String {
    if row.cell.client.as_ref().is_some_and(|client| client.encoded) { setting(row) } else { String::new() }
}

//! Names of rows in pictures: `zstd 3 in PHP`, `igbinary + zstd 3`, `Redis, phpredis`.

use weigh_model::cell::{Cell, NO_PHP};
use weigh_model::client::Mix;
use weigh_model::way::{By, WayKind};

use crate::finding::label;
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
    let Some(client) = row.cell.client.as_ref() else { return String::new() };
    let store = owned(&client.store);
    match client.driver.as_str() {
        driver if driver == client.store => clean(store),
        "socket" => clean(&format!("{store}, plain socket")),
        driver => clean(&format!("{store}, {driver}")),
    }
}

/// `readfile (buffering=off)`, `X-Sendfile`.
pub(super) fn way(cell: &Cell) -> String {
    let setting = &cell.setting;
    let said = label::setting(setting);
    clean(&said.replacen(setting.codec.as_str(), owned(&setting.codec), 1))
}

/// `Apache`, `nginx`.
pub(super) fn server(name: &str) -> &str {
    owned(name)
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
    let (php, with) = name.split_once('+').unwrap_or((name, ""));
    let php = match php.strip_prefix("php") {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => format!("PHP {version}"),
        _ => php.to_owned(),
    };
    let with = if with == "jit" { "JIT" } else { with };
    clean(&if with.is_empty() { php } else { format!("{php} with {with}") })
}

/// A name as its owner writes it.
fn owned(name: &str) -> &str {
    OWNED.iter().find(|(known, _)| *known == name).map_or(name, |(_, owned)| owned)
}

const OWNED: [(&str, &str); 9] = [
    ("apache", "Apache"),
    ("caddy", "Caddy"),
    ("x-sendfile", "X-Sendfile"),
    ("x-accel-redirect", "X-Accel-Redirect"),
    ("redis", "Redis"),
    ("valkey", "Valkey"),
    ("memcached", "Memcached"),
    ("aerospike", "Aerospike"),
    ("apcu", "APCu"),
];

/// The setting of a worker that encodes, `igbinary + zstd 3`; empty for a worker that does not.
pub(super) fn encoded(row: &Row) -> String {
    if client::setting(row).is_empty() { String::new() } else { setting(row) }
}

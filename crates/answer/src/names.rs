//! Names of rows, the same in tables and pictures: `zstd 3 in PHP`, `igbinary with zstd 3`, `Redis, phpredis`. All are clean.

use label::owned;
use weigh_model::cell::{Cell, NO_PHP};
use weigh_model::client::Mix;
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use crate::group::Group;
use crate::label;
use crate::metric::delivery::is_not_encoded;
use crate::report::Report;
use crate::row::Row;
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
        By::Server => owned(&delivery.server),
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
    clean(&store_and_driver((&of.store, &of.driver)))
}

/// `Redis, phpredis, PHP 8.2`.
pub(crate) fn client(row: &Row) -> String {
    format!("{}, {}", store(row), runtime(&row.cell.runtime))
}

/// `readfile (buffering=off)`, `X-Sendfile`.
pub(crate) fn way(cell: &Cell) -> String {
    let setting = &cell.setting;
    let said = label::setting(setting);
    clean(&said.replacen(setting.codec.as_str(), owned(&setting.codec), 1))
}

/// A name with an arrow before it if the answer recommends the row.
pub(crate) fn marked(report: &Report, row: &Row, name: &str) -> String {
    if report.recommends(row.id()) { format!("→ {name}") } else { name.to_owned() }
}

/// `Apache`, `nginx`.
pub(crate) fn server(name: &str) -> String {
    clean(owned(name))
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

/// `Redis, phpredis`, `Redis, plain socket`, `APCu`.
pub(crate) fn store_and_driver((store, driver): (&str, &str)) -> String {
    match driver {
        driver if driver == store => owned(store).to_owned(),
        "socket" => format!("{}, plain socket", owned(store)),
        driver => format!("{}, {driver}", owned(store)),
    }
}

/// `Redis with phpredis`, `Redis over a plain socket`, `APCu`: a comma would divide a sentence.
pub(crate) fn store_with_driver((store, driver): (&str, &str)) -> String {
    match driver {
        driver if driver == store => owned(store).to_owned(),
        "socket" => format!("{} over a plain socket", owned(store)),
        driver => format!("{} with {driver}", owned(store)),
    }
}

/// `5`, of requests every 200 ms.
pub(crate) fn per_second(every_ms: u32) -> String {
    units::trimmed_number(1e3 / f64::from(every_ms))
}

/// `Redis, phpredis, PHP 8.2`, with the setting of a worker that encodes.
pub fn client_and_setting(row: &Row) -> String {
    let setting = encoded(row);
    let comma = if setting.is_empty() { "" } else { ", " };
    format!("{}{comma}{setting}", client(row))
}

/// `nginx, PHP 8.2, https, 10 connections, over cable`, cleaned.
pub fn stack_of_group(group: &Group) -> String {
    let mut parts = vec![stack(group.factor("server"), group.runtime())];
    parts.push(group.factor("transport").to_owned());
    if group.factor("connections") != "1" {
        parts.push(format!("{} connections", group.factor("connections")));
    }
    if let Ok(ms) = group.factor("every_ms").parse() {
        parts.push(format!("{} requests/s", per_second(ms)));
    }
    if !group.factor("link").is_empty() {
        parts.push(format!("over {}", clean(group.factor("link"))));
    }
    parts.join(", ")
}

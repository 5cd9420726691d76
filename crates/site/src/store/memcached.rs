//! Memcached: `stats`, `lru_crawler metadump` where it is allowed, and `get`.

use std::rc::Rc;

use anyhow::{Context, Result, bail};

use super::wire::Wire;
use super::{Calls, MOST_KEYS, Read, Room, Stored};
use crate::budget::Budget;
use crate::strata::band;
use crate::values::LONGEST;
use weigh_model::protocol::client::Address;
use weigh_model::text::clean_bytes;

/// The most lines of `stats`.
const MOST_STATS: usize = 1000;

pub(super) fn inspect_memcached(address: &Address, budget: &Rc<Budget>) -> Result<Stored> {
    if address.password.is_some() {
        bail!("memcached with a password is not supported; write some values to a folder and give --values");
    }
    let mut wire = Wire::open(address, budget)?;
    let stats = stats(&mut wire)?;
    let stat = |name: &str| stats.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let calls =
        || Some(Calls { reads: stat("get_hits")?, writes: stat("cmd_set")?, seconds: stat("uptime")? });
    let keys = stat("curr_items").unwrap_or(0.0) as u64;
    let mut stored = Stored { calls: calls(), ..Stored::default() };
    let (mut listed, all) = keys_of(Wire::open(address, budget)?)?;
    // `stats` counts what is flushed or expired, too, until it is reclaimed.
    stored.keys = all.unwrap_or(keys);
    // They come by size and age: values of all kinds are to be among those that are read.
    listed.sort_by_key(|(key, _)| crc32fast::hash(key.as_bytes()));
    let mut room = Room::default();
    for (key, size) in listed {
        stored.count(size);
        if room.take(size) && !wire.is_spent() {
            stored.values.extend(get(&mut wire, key, band(size))?);
        }
    }
    Ok(stored)
}

/// The figures of `stats`.
fn stats(wire: &mut Wire) -> Result<Vec<(String, f64)>> {
    wire.send(b"stats\r\n")?;
    let mut found = Vec::new();
    for _ in 0..MOST_STATS {
        let line = String::from_utf8_lossy(&wire.line()?).into_owned();
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some("END"), ..) => return Ok(found),
            (Some("STAT"), Some(name), Some(value)) => {
                found.extend(value.parse().ok().map(|value| (name.to_owned(), value)));
            }
            _ => bail!("it answers `{}` to stats; is it memcached?", clean_bytes(line.as_bytes())),
        }
    }
    bail!("it has no end of its stats")
}

/// A key, and the bytes of its item.
type Listed = (String, u64);

/// What is listed, and how many keys there are, those that cannot be asked for among them; none: the list is longer than what is wanted,
/// and the connection closed.
fn keys_of(mut wire: Wire) -> Result<(Vec<Listed>, Option<u64>)> {
    wire.send(b"lru_crawler metadump all\r\n")?;
    let (mut found, mut all) = (Vec::new(), 0);
    while found.len() < MOST_KEYS && !wire.is_spent() {
        let line = String::from_utf8_lossy(&wire.line()?).into_owned();
        if line == "END" {
            return Ok((found, Some(all)));
        }
        if !line.starts_with("key=") {
            bail!(
                "it does not list its keys (`{}`); write some values to a folder and give --values",
                clean_bytes(line.as_bytes())
            );
        }
        all += 1;
        let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name));
        let key = field("key=").and_then(|key| percent_encoding::percent_decode_str(key).decode_utf8().ok());
        let (Some(key), Some(Ok(size))) = (key, field("size=").map(str::parse)) else { continue };
        // What is sent back is one word of the protocol.
        if !key.is_empty() && key.len() <= 250 && !key.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            found.push((key.into_owned(), size));
        }
    }
    Ok((found, None))
}

fn get(wire: &mut Wire, key: String, band: usize) -> Result<Option<Read>> {
    wire.send(format!("get {key}\r\n").as_bytes())?;
    let line = String::from_utf8_lossy(&wire.line()?).into_owned();
    if line == "END" {
        return Ok(None);
    }
    // `VALUE key flags bytes`
    let mut words = line.rsplit(' ');
    let length = words.next().and_then(|length| length.parse().ok());
    let flags = words.next().and_then(|flags| flags.parse().ok());
    let bytes = wire.block(length.context("it answers with a wrong length")?, LONGEST)?;
    if wire.line()? != b"END" {
        bail!("it answers with more than was asked for");
    }
    Ok(Some(Read { key, bytes, flags, band }))
}

//! Redis and what speaks its protocol: `INFO`, `DBSIZE`, `SCAN`, `STRLEN`, `GETRANGE`, and of keys that are no
//! strings `TYPE`, `HSTRLEN` and `HGET`.

use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};

use super::wire::Wire;
use super::{Calls, MOST_KEYS, Read, Room, Stored};
use crate::budget::Budget;
use crate::strata::band;
use crate::values::LONGEST;
use weigh_model::protocol::client::Address;
use weigh_model::text::clean_bytes;

/// Keys that one `SCAN` goes through.
const BATCH: &str = "200";
/// The most items of a list that is answered, and of one in it; there is none in that.
const MOST_ITEMS: [usize; 2] = [2, 5000];
const LONGEST_KEY: usize = 16 << 10;
/// The longest text that is answered, such as that of `INFO`.
const LONGEST_TEXT: usize = 1 << 20;
/// Commands that write a value, as `INFO commandstats` names them.
const WRITES: [&str; 10] =
    ["set", "setex", "psetex", "setnx", "mset", "getset", "append", "setrange", "hset", "hmset"];
/// Fields of hashes that have the value of a cache: those of Magento, and of Drupal and Magento's sessions. Others say when it ends, and more.
const FIELDS: [&str; 2] = ["d", "data"];

#[derive(Debug)]
enum Reply {
    Status(String),
    Number(i64),
    Bytes(Option<Vec<u8>>),
    List(Vec<Reply>),
    Refused(String),
}

pub(super) fn inspect_redis(address: &Address, budget: &Rc<Budget>) -> Result<Stored> {
    let mut redis = Redis(Wire::open(address, budget)?);
    redis.greet(address)?;
    // Before anything is read: what is read here is counted there.
    let calls = calls(
        &redis.text(&["INFO", "stats"])?,
        &redis.text(&["INFO", "commandstats"])?,
        &redis.text(&["INFO", "server"])?,
    );
    let keys = match redis.ask(&["DBSIZE"])? {
        Reply::Number(keys) => u64::try_from(keys).unwrap_or(0),
        other => bail!("DBSIZE: {}", other.wrong()),
    };
    let mut stored = Stored { keys, calls, ..Stored::default() };
    redis.sample(&mut stored)?;
    Ok(stored)
}

struct Redis(Wire);

impl Redis {
    fn greet(&mut self, address: &Address) -> Result<()> {
        if let Some(password) = &address.password {
            let user = address.user.as_deref();
            let words: Vec<&str> = ["AUTH"].into_iter().chain(user).chain([password.as_str()]).collect();
            self.accepted(&words)?;
        }
        match address.database {
            Some(number) if number > 0 => self.accepted(&["SELECT", &number.to_string()]),
            _ => Ok(()),
        }
    }

    fn accepted(&mut self, words: &[&str]) -> Result<()> {
        match self.ask(words)? {
            Reply::Status(_) => Ok(()),
            other => bail!("{}: {}", words[0], other.wrong()),
        }
    }

    /// Goes through the keys, by cursor, until all are seen or the bounds are reached.
    fn sample(&mut self, stored: &mut Stored) -> Result<()> {
        let mut room = Room::default();
        let mut cursor = "0".to_owned();
        loop {
            let parts = match self.ask(&["SCAN", &cursor, "COUNT", BATCH])? {
                Reply::List(parts) => parts,
                other => bail!("SCAN: {}", other.wrong()),
            };
            let mut parts = parts.into_iter();
            let (Some(Reply::Bytes(Some(next))), Some(Reply::List(keys))) = (parts.next(), parts.next())
            else {
                bail!("SCAN is not answered with a cursor and keys");
            };
            cursor = String::from_utf8(next).context("its cursor is no number")?;
            let keys = keys.into_iter().filter_map(|key| match key {
                Reply::Bytes(Some(key)) => Some(key),
                _ => None,
            });
            self.batch(&keys.collect::<Vec<_>>(), &mut room, stored)?;
            if cursor == "0" || stored.seen as usize >= MOST_KEYS || self.0.is_spent() {
                return Ok(());
            }
        }
    }

    /// The lengths of these keys' values, and some of the values.
    fn batch(&mut self, keys: &[Vec<u8>], room: &mut Room, stored: &mut Stored) -> Result<()> {
        let questions: Vec<u8> = keys.iter().flat_map(|key| request(&[b"STRLEN", key])).collect();
        self.0.send(&questions)?;
        let (mut wanted, mut others) = (Vec::new(), Vec::new());
        for key in keys {
            match self.length("STRLEN")? {
                Some(length) => {
                    stored.count(length);
                    wanted.extend(room.take(length).then_some((key, None, length)));
                }
                None => others.push(key),
            }
        }
        for (key, found) in others.iter().zip(self.fields(&others)?) {
            match found {
                Ok((field, length)) => {
                    stored.count(length);
                    wanted.extend(room.take(length).then_some((*key, Some(field), length)));
                }
                Err(other) => {
                    stored.seen += 1;
                    *stored.other_types.entry(other).or_default() += 1;
                }
            }
        }
        for (key, field, length) in wanted {
            if self.0.is_spent() {
                break;
            }
            let last = (LONGEST - 1).to_string();
            match field {
                Some(field) => self.0.send(&request(&[b"HGET", key, field.as_bytes()]))?,
                None => self.0.send(&request(&[b"GETRANGE", key, b"0", last.as_bytes()]))?,
            }
            if let Reply::Bytes(Some(bytes)) = self.reply(0)? {
                let key = String::from_utf8_lossy(key).into_owned();
                stored.values.push(Read { key, bytes, flags: None, band: band(length) });
            }
        }
        Ok(())
    }

    /// The length that is answered; none if the key is of another type.
    fn length(&mut self, command: &str) -> Result<Option<u64>> {
        match self.reply(0)? {
            Reply::Number(length) => Ok(Some(u64::try_from(length).unwrap_or(0))),
            Reply::Refused(why) if why.starts_with("WRONGTYPE") => Ok(None),
            other => bail!("{command}: {}", other.wrong()),
        }
    }

    /// The field of each hash that has the value, with its length; else the key's type.
    fn fields(&mut self, keys: &[&Vec<u8>]) -> Result<Vec<Result<(&'static str, u64), String>>> {
        let mut questions = Vec::new();
        for key in keys {
            FIELDS.iter().for_each(|field| questions.extend(request(&[b"HSTRLEN", key, field.as_bytes()])));
            questions.extend(request(&[b"TYPE", key]));
        }
        self.0.send(&questions)?;
        keys.iter().map(|_| self.field()).collect()
    }

    fn field(&mut self) -> Result<Result<(&'static str, u64), String>> {
        let mut found = None;
        for field in FIELDS {
            let length = self.length("HSTRLEN")?.filter(|length| *length > 0);
            found = found.or(length.map(|length| (field, length)));
        }
        match self.reply(0)? {
            Reply::Status(name) => Ok(found.ok_or(name)),
            other => bail!("TYPE: {}", other.wrong()),
        }
    }

    fn ask(&mut self, words: &[&str]) -> Result<Reply> {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.0.send(&request(&words))?;
        self.reply(0)
    }

    fn text(&mut self, words: &[&str]) -> Result<String> {
        match self.ask(words)? {
            Reply::Bytes(Some(text)) if text.len() <= LONGEST_TEXT => {
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            // A user may not be allowed to ask: then nothing is known of reads and writes.
            Reply::Refused(why) if why.starts_with("NOPERM") => Ok(String::new()),
            other => bail!("{}: {}", words[0], other.wrong()),
        }
    }

    /// One answer; `depth` is how many lists it is in.
    fn reply(&mut self, depth: usize) -> Result<Reply> {
        let line = self.0.line()?;
        let (kind, rest) = line.split_first().context("it answers with an empty line")?;
        let number = || std::str::from_utf8(rest).ok().and_then(|text| text.parse::<i64>().ok());
        Ok(match kind {
            b'+' => Reply::Status(clean_bytes(&rest[..rest.len().min(40)])),
            b'-' => Reply::Refused(clean_bytes(rest)),
            b':' => Reply::Number(number().context("it answers with something that is no number")?),
            b'$' => match number() {
                Some(-1) => Reply::Bytes(None),
                length => {
                    let length = length.and_then(|length| usize::try_from(length).ok());
                    let most = if depth == 0 { LONGEST } else { LONGEST_KEY };
                    Reply::Bytes(Some(self.0.block(length.context("it answers with a wrong length")?, most)?))
                }
            },
            b'*' => {
                let count = number().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
                let most = MOST_ITEMS.get(depth).copied().unwrap_or(0);
                ensure!(count <= most, "it answers with more than was asked for");
                Reply::List((0..count).map(|_| self.reply(depth + 1)).collect::<Result<_>>()?)
            }
            _ => bail!("it answers `{}`; is it Redis?", clean_bytes(&line[..line.len().min(40)])),
        })
    }
}

impl Reply {
    /// What it says in place of what was asked for.
    fn wrong(&self) -> String {
        match self {
            Reply::Refused(why) if why.starts_with("NOPERM") => {
                format!(
                    "{why}; give a user that may read, or write some values to a folder and give --values"
                )
            }
            Reply::Refused(why) if why.starts_with("MOVED") || why.starts_with("ASK ") => {
                format!(
                    "{why}; it is a node of a cluster that has not this key: give a node that serves its keys"
                )
            }
            Reply::Refused(why) => why.clone(),
            _ => "an answer of another kind".into(),
        }
    }
}

/// A command in the store's protocol.
fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Reads and writes since the start, as the store counts them.
fn calls(stats: &str, commands: &str, server: &str) -> Option<Calls> {
    // A user may be refused this part alone.
    if commands.is_empty() {
        return None;
    }
    let field = |text: &str, name: &str| -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    let made = |command: &str| -> Option<f64> {
        let line = commands
            .lines()
            .find_map(|line| line.strip_prefix("cmdstat_")?.strip_prefix(command)?.strip_prefix(':'))?;
        line.strip_prefix("calls=")?.split(',').next()?.parse().ok()
    };
    let reads = field(stats, "keyspace_hits")?;
    let writes = WRITES.iter().filter_map(|command| made(command)).sum();
    Some(Calls { reads, writes, seconds: field(server, "uptime_in_seconds")? })
}

//! What is emitted for Symfony: a marshaller with the serializer and codec of the policy, and the services that use it.

use anyhow::{Result, bail};
use serde::Serialize;

use super::decided::{decision, parse_method};
use super::emitted::{Emitted, OF_APPLICATION};
use weigh_model::policy::{Policy, Rule};
use weigh_model::site::Kind;
use weigh_model::text::clean;
use weigh_os::template;

const CACHE: &str = include_str!("cache.yaml");
const MARSHALLER: &str = include_str!("Marshaller.php");

/// Codecs of values: name, extension, function that encodes, whether it takes a level, function that decodes.
const CODECS: [(&str, &str, &str, bool, &str); 7] = [
    ("zstd", "zstd", "zstd_compress", true, "zstd_uncompress"),
    ("lz4", "lz4", "lz4_compress", false, "lz4_uncompress"),
    ("brotli", "brotli", "brotli_compress", true, "brotli_uncompress"),
    ("snappy", "snappy", "snappy_compress", false, "snappy_uncompress"),
    ("gzdeflate", "zlib", "gzdeflate", true, "gzinflate"),
    ("gzcompress", "zlib", "gzcompress", true, "gzuncompress"),
    ("gzencode", "zlib", "gzencode", true, "gzdecode"),
];

/// What the templates are given.
#[derive(Serialize)]
struct Values {
    igbinary: bool,
    codec: Option<Codec>,
    min_bytes: u64,
}

#[derive(Serialize)]
struct Codec {
    name: &'static str,
    extension: &'static str,
    encode: &'static str,
    decode: &'static str,
    level: Option<i32>,
}

/// The files for Symfony; none if the policy leaves cached values as they are.
pub fn emit(policy: &Policy) -> Result<Vec<Emitted>> {
    let Some(values) = decision(policy, Kind::Value) else { return Ok(Vec::new()) };
    let Some(rule) = values.rules.first() else { return Ok(Vec::new()) };
    let given = Values { igbinary: igbinary(rule)?, codec: codec(rule)?, min_bytes: rule.min_bytes };
    let file = |name: &str, place: &str, comment, body| Emitted {
        file: format!("symfony/{name}").into(),
        what: clean(&values.text),
        place: format!("{place}{OF_APPLICATION}"),
        check: "bin/console lint:container".into(),
        undo: "remove the file, then: bin/console cache:pool:clear --all".into(),
        comment,
        body,
        ..Emitted::default()
    };
    let body = template::render("cache.yaml", CACHE, &given)?;
    let mut emitted = vec![file("weigh_cache.yaml", "config/packages/weigh_cache.yaml", "#", body)];
    if given.codec.is_some() {
        let body = template::render("Marshaller.php", MARSHALLER, &given)?;
        emitted.push(file("WeighMarshaller.php", "src/Cache/WeighMarshaller.php", "//", body));
    }
    Ok(emitted)
}

fn igbinary(rule: &Rule) -> Result<bool> {
    match rule.serializer.as_deref() {
        Some("igbinary") => Ok(true),
        None | Some("serialize") => Ok(false),
        Some(other) => bail!(
            "policy: Symfony's cache cannot use the serializer `{}`; it has igbinary and serialize",
            clean(other)
        ),
    }
}

fn codec(rule: &Rule) -> Result<Option<Codec>> {
    let (method, level) = parse_method(rule)?;
    let named = if method.is_empty() { rule.coding.as_str() } else { method.as_str() };
    // A method may be the serializer's, `igbinary`: the codec is then the coding.
    let known = |name: &str| CODECS.iter().find(|(known, ..)| *known == name);
    if ["identity", ""].contains(&rule.coding.as_str()) {
        return Ok(None);
    }
    let Some((name, extension, encode, has_level, decode)) = known(named).or_else(|| known(&rule.coding))
    else {
        let all: Vec<&str> = CODECS.iter().map(|(name, ..)| *name).collect();
        bail!("policy: no codec of values `{}`; known: {}", clean(&rule.coding), all.join(", "));
    };
    Ok(Some(Codec { name, extension, encode, decode, level: level.filter(|_| *has_level) }))
}

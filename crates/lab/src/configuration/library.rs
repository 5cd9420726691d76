//! What is emitted for the PHP library: the policy as an array that PHP reads from its opcode cache.

use std::fmt::Write;

use anyhow::{Result, bail};

use super::server::downloads;
use super::{Emitted, asked, decision};
use weigh_model::policy::{Encoder, Policy, Rule};
use weigh_model::site::{Kind, Site};
use weigh_model::text::clean;

/// Methods and codecs of PHP, and which of the library's does the same: coding, codec.
const SAME: &[(&str, &str, &str)] = &[
    ("gzencode", "gzip", "zlib"),
    ("ob_gzhandler", "gzip", "zlib"),
    ("zlib.output_compression", "gzip", "zlib"),
    ("libdeflate", "gzip", "libdeflate"),
    ("gzdeflate", "deflate", "zlib"),
    ("gzcompress", "deflate", "zlib"),
    ("zstd", "zstd", "zstd"),
    ("ob_zstd_handler", "zstd", "zstd"),
    ("zstd.output_compression", "zstd", "zstd"),
    ("brotli", "br", "br"),
    ("brotli.output_compression", "br", "br"),
    ("identity", "identity", "identity"),
    ("", "identity", "identity"),
];

/// What its own methods encode with, by coding.
const OWN: [(&str, &str); 3] = [("gzip", "libdeflate"), ("zstd", "zstd"), ("br", "br")];

/// The file for the library; none if the policy leaves everything as it is that PHP does.
pub fn emit(policy: &Policy, site: &Site) -> Result<Option<Emitted>> {
    let pages =
        decision(policy, Kind::Page).filter(|page| page.rules.iter().any(|rule| rule.by == Encoder::Php));
    let values = decision(policy, Kind::Value);
    let handed = decision(policy, Kind::Download).filter(|download| download.method.is_some());
    let told: Vec<String> = [pages, values, handed].iter().flatten().map(|one| clean(&one.text)).collect();
    if told.is_empty() {
        return Ok(None);
    }
    // Pages that the policy leaves to others are left alone.
    let mut body = String::from("return [\n    'schema' => 1,\n    'page' => ['rules' => [\n");
    for rule in pages.iter().flat_map(|page| &page.rules).filter(|rule| rule.by == Encoder::Php) {
        page(rule, &mut body)?;
    }
    body.push_str("    ]],\n");
    if let Some(rule) = values.and_then(|values| values.rules.first()) {
        value(rule, &mut body)?;
    }
    if let Some(method) = handed.and_then(|handed| handed.method.as_deref()) {
        let root = quoted(&downloads(site).to_string_lossy())?;
        let prefix = if method == "x-accel-redirect" { "'prefix' => '/offload/', " } else { "" };
        writeln!(body, "    'download' => ['method' => {}, {prefix}'root' => {root}],", quoted(method)?)?;
    }
    body.push_str("];\n");
    Ok(Some(Emitted {
        file: "php/weighbridge.php".into(),
        what: told.join(" "),
        first: vec!["composer require weighbridge/weighbridge".into()],
        place: "anywhere that the application can read; it is read with Weighbridge\\Library\\Settings::fromFile()".into(),
        line: String::new(),
        clash: "It does in PHP what weigh.ini and WeighMarshaller.php do: use it or them.".into(),
        check: "php -l weighbridge.php".into(),
        undo: "remove the file; the library then has its defaults".into(),
        unchecked: None,
        tried: None,
        comment: "//",
        body,
    }))
}

/// A rule of pages, as a line of the array.
fn page(rule: &Rule, body: &mut String) -> Result<()> {
    let (method, level) = asked(rule)?;
    let known = match method.as_str() {
        "weighbridge" | "weighbridge_output_handler" => {
            OWN.iter().copied().find(|(coding, _)| *coding == rule.coding)
        }
        method => same(method),
    };
    let Some((coding, codec)) = known else {
        writeln!(
            body,
            "        // Cannot be expressed: {}, which the library does not have.",
            clean(&method)
        )?;
        return Ok(());
    };
    let types = rule.types.iter().map(|one| quoted(one)).collect::<Result<Vec<_>>>()?.join(", ");
    let level = level.map(|level| format!("'level' => {level}, ")).unwrap_or_default();
    writeln!(
        body,
        "        ['coding' => '{coding}', 'codec' => '{codec}', {level}'min_bytes' => {}, 'types' => [{types}]],",
        rule.min_bytes
    )?;
    Ok(())
}

/// The rule of values, as a line of the array.
fn value(rule: &Rule, body: &mut String) -> Result<()> {
    let (method, level) = asked(rule)?;
    let Some((codec, _)) = same(&method).or_else(|| same(&rule.coding)) else {
        writeln!(
            body,
            "    // Cannot be expressed: values with {}, which the library does not have.",
            clean(&method)
        )?;
        return Ok(());
    };
    let level = level.map(|level| format!("'level' => {level}, ")).unwrap_or_default();
    let serializer = rule.serializer.as_deref().unwrap_or("serialize");
    writeln!(
        body,
        "    'value' => ['codec' => '{codec}', {level}'min_bytes' => {}, 'serializer' => {}],",
        rule.min_bytes,
        quoted(serializer)?
    )?;
    Ok(())
}

fn same(method: &str) -> Option<(&'static str, &'static str)> {
    SAME.iter().find(|(name, ..)| *name == method).map(|(_, coding, codec)| (*coding, *codec))
}

/// A text as PHP writes it.
fn quoted(text: &str) -> Result<String> {
    if text.chars().any(char::is_control) {
        bail!("policy: `{}` holds a control character", clean(text));
    }
    Ok(format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")))
}

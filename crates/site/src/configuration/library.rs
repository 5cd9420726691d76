//! What is emitted for the PHP library: the policy as an array that PHP reads from its opcode cache.

use anyhow::{Result, bail};

use super::advised::advised;
use super::decided::{decision, parse_method};
use super::emitted::Emitted;
use super::here::WritingContext;
use super::php::is_by_settings;
use super::served::downloads;
use weigh_model::policy::{Decision, Encoder, Policy, Rule};
use weigh_model::site::{Kind, Site};
use weigh_model::text::clean;
use weigh_rig::server::emission::Downloads;

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

/// How the library sends downloads.
const METHODS: [&str; 4] = ["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file", "stream"];

/// What its own methods encode with, by coding.
const OWN: [(&str, &str); 3] = [("gzip", "libdeflate"), ("zstd", "zstd"), ("br", "br")];

/// What PHP needs where codecs are reached through FFI.
const PRELOAD: [&str; 2] = [
    "in php.ini of the PHP-FPM that serves the site: ffi.enable=preload and opcache.preload=/path/to/vendor/weighbridge/weighbridge/preload.php; without them \
     pages are not encoded through FFI, and values whose codec needs it are refused",
    "where PHP-FPM is started as root, also: opcache.preload_user=NAME, the user that the pool runs as; then restart PHP-FPM",
];

/// The file for the library; none if the policy leaves everything as it is that PHP does.
pub fn emit(policy: &Policy, site: &Site, here: WritingContext<'_>) -> Result<Option<Emitted>> {
    let by_php = |page: &&Decision| page.rules.iter().any(|rule| rule.by == Encoder::Php);
    let pages = decision(policy, Kind::Page).filter(by_php).filter(|page| !is_by_settings(page, site));
    let values = decision(policy, Kind::Value);
    let handed = decision(policy, Kind::Download).filter(|download| download.method.is_some());
    let told: Vec<String> = [pages, values, handed].iter().flatten().map(|one| clean(&one.text)).collect();
    if told.is_empty() {
        return Ok(None);
    }
    // Pages that the policy leaves to others are left alone.
    let mut body = String::from("return [\n    'schema' => 1,\n    'page' => ['rules' => [\n");
    let rules: Vec<&Rule> =
        pages.iter().flat_map(|page| &page.rules).filter(|rule| rule.by == Encoder::Php).collect();
    for rule in &rules {
        body.push_str(&page(rule)?);
    }
    // Proxies, older clients and those without TLS accept nothing else.
    let lacks_gzip = pages.is_some_and(|page| !page.rules.iter().any(|rule| rule.coding == "gzip"));
    if let Some(first) = rules.first().filter(|_| lacks_gzip) {
        let gzip = Rule { level: None, method: "gzencode".into(), coding: "gzip".into(), ..(*first).clone() };
        body.push_str(&page(&gzip)?);
    }
    body.push_str("    ]],\n");
    if let Some(rule) = values.and_then(|values| values.rules.first()) {
        body.push_str(&value(rule)?);
    }
    if let Some(method) = handed.and_then(|handed| handed.method.as_deref()) {
        body.push_str(&download(method, policy, site, here)?);
    }
    body.push_str("];\n");
    Ok(Some(Emitted {
        file: "php/weighbridge.php".into(),
        what: told.join(" "),
        first: first(&[pages, values]),
        place: "anywhere that the application can read; it is read with Weighbridge\\Library\\Settings::fromFile()".into(),
        clash: "It does in PHP what WeighMarshaller.php does: use one of them.".into(),
        check: "php -l weighbridge.php".into(),
        undo: "remove the file; the library then has its defaults".into(),
        comment: "//",
        body,
        ..Emitted::default()
    }))
}

/// What to do before the library is used. A web server's PHP lets only preloaded code call C libraries.
fn first(decisions: &[Option<&Decision>]) -> Vec<String> {
    let mut needs = decisions.iter().flatten().flat_map(|one| &one.needs);
    let is_ffi = needs.any(|need| need.what.contains("FFI"));
    let steps = ["composer require weighbridge/weighbridge"]
        .into_iter()
        .chain(PRELOAD.into_iter().filter(|_| is_ffi));
    steps.map(str::to_owned).collect()
}

/// How downloads are sent, as a line of the array, or why it has none: the library takes one method and one folder.
fn download(method: &str, policy: &Policy, site: &Site, here: WritingContext<'_>) -> Result<String> {
    let cannot = |why: &str| Ok(format!("    // Cannot be expressed: {why}.\n"));
    let named = method.rsplit(['/', ':']).next().unwrap_or_default();
    // A server that hands files over by another field has a method of its own.
    let of_server = match here.servers {
        [found] => advised(policy, site, &found.definition, here.own)?.downloads,
        _ => None,
    };
    let named = match named {
        "readfile" | "fpassthru" | "fread" => "stream",
        named => of_server.as_deref().unwrap_or(named),
    };
    if !METHODS.contains(&named) {
        return cannot(&format!("downloads by {}, which PHP has no part in", clean(named)));
    }
    let Downloads { folders, refused } = downloads(site);
    let root = match (folders.as_slice(), refused.as_slice()) {
        ([root], []) => quoted(&root.to_string_lossy())?,
        ([], _) | (_, [_, ..]) => {
            return cannot(
                "downloads of a folder that holds more than downloads: nothing may be handed out of it",
            );
        }
        _ => {
            return cannot(
                "downloads of several folders: give each call of Download::send its root and method",
            );
        }
    };
    let prefix = if named == "x-accel-redirect" { "'prefix' => '/offload/', " } else { "" };
    Ok(format!("    'download' => ['method' => '{named}', {prefix}'root' => {root}],\n"))
}

/// A rule of pages, as a line of the array.
fn page(rule: &Rule) -> Result<String> {
    let (method, level) = parse_method(rule)?;
    let known = match method.as_str() {
        "weighbridge" | "weighbridge_output_handler" => {
            OWN.iter().copied().find(|(coding, _)| *coding == rule.coding)
        }
        method => same(method),
    };
    let Some((coding, codec)) = known else {
        let method = clean(&method);
        return Ok(format!("        // Cannot be expressed: {method}, which the library does not have.\n"));
    };
    let types = rule.types.iter().map(|one| quoted(one)).collect::<Result<Vec<_>>>()?.join(", ");
    let level = level.map(|level| format!("'level' => {level}, ")).unwrap_or_default();
    Ok(format!(
        "        ['coding' => '{coding}', 'codec' => '{codec}', {level}'min_bytes' => {}, 'types' => [{types}]],\n",
        rule.min_bytes
    ))
}

/// The rule of values, as a line of the array.
fn value(rule: &Rule) -> Result<String> {
    let (method, level) = parse_method(rule)?;
    let Some((codec, _)) = same(&method).or_else(|| same(&rule.coding)) else {
        let method = clean(&method);
        return Ok(format!(
            "    // Cannot be expressed: values with {method}, which the library does not have.\n"
        ));
    };
    let level = level.map(|level| format!("'level' => {level}, ")).unwrap_or_default();
    let serializer = quoted(rule.serializer.as_deref().unwrap_or("serialize"))?;
    Ok(format!(
        "    'value' => ['codec' => '{codec}', {level}'min_bytes' => {}, 'serializer' => {serializer}],\n",
        rule.min_bytes
    ))
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

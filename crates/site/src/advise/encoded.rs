//! What the rules of a policy make of sample files that were not measured, in bytes: each is encoded once, by the codec that the rule names or
//! that its method uses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::located;
use weigh_model::policy::{Encoder, Rule};
use weigh_model::site::{Kind, Sample, Site};
use weigh_os::digest::sha256;
use weigh_os::regular;
use weigh_pack::recipe::{Coded, Recipe, Scope};

/// The largest file that is encoded, in bytes.
const LARGEST: u64 = 8 << 20;

/// The sample of a site with the bytes that are known.
pub struct Encodings<'s> {
    site: &'s Site,
    /// The folder of the site's file.
    folder: &'s Path,
    /// By the digest of a file, and by encoder.
    known: RefCell<HashMap<(String, String), Option<u64>>>,
}

impl<'s> Encodings<'s> {
    /// Of a site's sample; nothing is encoded yet. `folder` is that of its file.
    pub fn new(site: &'s Site, folder: &'s Path) -> Encodings<'s> {
        Encodings { site, folder, known: RefCell::default() }
    }

    /// Bytes that a rule makes of a sample file; none: the file is another one now, or too large, or nothing here encodes so.
    pub fn bytes(&self, kind: Kind, sample: &Sample, rule: &Rule) -> Option<u64> {
        let key = (sample.sha256.clone(), format!("{} {}", rule.coding, encoder(rule)));
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let bytes = self.encode(kind, sample, rule).ok();
        self.known.borrow_mut().insert(key, bytes);
        bytes
    }

    fn encode(&self, kind: Kind, sample: &Sample, rule: &Rule) -> Result<u64> {
        let path = located(self.site, self.folder, kind, &sample.path)?;
        let content = regular::read(path.as_ref(), LARGEST)?;
        ensure!(sha256(&content) == sample.sha256, "another file");
        let rule = Rule { encoder: Some(encoder(rule)), ..rule.clone() };
        let recipe = Coded::of_rule(&rule, Scope::All)?;
        let (mut coder, mut out) = (recipe.coder(Path::new(&path), sample.bytes)?, Vec::new());
        coder.encode(&content, &mut out).context("not encoded")?;
        Ok(out.len() as u64)
    }
}

/// The codec of a rule with its level; of what is encoded per response, the library that servers and PHP use.
fn encoder(rule: &Rule) -> String {
    let name = match (&rule.encoder, rule.by, rule.coding.as_str()) {
        (Some(encoder), Encoder::Beforehand, _) => return encoder.clone(),
        (_, _, "br") => "brotli",
        (_, _, "gzip") => "zlib",
        (_, _, other) => other,
    };
    rule.level.map_or_else(|| name.to_owned(), |level| format!("{name}:{level}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_makes_of_a_file_what_its_encoder_does_and_of_another_file_nothing() {
        let home = tempfile::tempdir().unwrap();
        let text = "a line of text, and another\n".repeat(400);
        std::fs::write(home.path().join("a.css"), &text).unwrap();
        let sample = |sha256: String| Sample {
            path: "a.css".into(),
            bytes: text.len() as u64,
            sha256,
            share: 1.0,
            sent: Vec::new(),
        };
        let mut site = crate::advise::study::tests::site();
        site.sources.docroot = home.path().to_str().map(str::to_owned);
        site.sources.aliases.clear();
        let all = Encodings::new(&site, home.path());
        let before = Rule {
            encoder: Some("brotli:11".into()),
            ..Rule::new("br", Encoder::Beforehand, "server/brotli_static")
        };
        let filter = |level| Rule { level: Some(level), ..Rule::new("gzip", Encoder::Server, "server/gzip") };
        let own = sample(sha256(text.as_bytes()));
        let (br, one, six) = (
            all.bytes(Kind::Asset, &own, &before).unwrap(),
            all.bytes(Kind::Asset, &own, &filter(1)).unwrap(),
            all.bytes(Kind::Asset, &own, &filter(6)).unwrap(),
        );
        assert!(br < six && six < one && one < own.bytes / 10, "{br} {six} {one}");
        std::fs::remove_file(home.path().join("a.css")).unwrap();
        assert_eq!(all.bytes(Kind::Asset, &own, &before), Some(br), "each is encoded once");
        std::fs::write(home.path().join("a.css"), text.to_uppercase()).unwrap();
        assert_eq!(all.bytes(Kind::Asset, &sample("0".repeat(64)), &before), None);
        let unknown = Rule::new("dcz", Encoder::Server, "server/dcz");
        assert_eq!(all.bytes(Kind::Asset, &own, &unknown), None);
    }
}

//! Whether an answer is worse than another to the same question. Pure.

use std::collections::BTreeSet;

use super::answers::{Answer, Answered, Asking, Form, Target};
use weigh_model::policy::{Policy, Worse};
use weigh_model::site::Kind;
use weigh_model::text::clean;
use weigh_model::units::bytes;
use weigh_rig::asker::CLASSES;

/// A body may be longer by this share.
const TOLERANCE: f64 = 0.02;
/// Or by these bytes: another encoder, or the next level, makes a small file longer by some, and what a content coding cannot make smaller is longer
/// by its frame. The header and the trailer of gzip are 18, its blocks have 5 each.
const FLOOR: u64 = 32;
/// Letters of a value that are shown.
const SHOWN: usize = 120;

/// What a policy means to make longer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    assets: bool,
    pages: bool,
}

impl Allowed {
    /// Kinds whose traffic the policy says grows, for something else that it brings.
    pub fn by(policy: &Policy) -> Allowed {
        let grows = |kind: Kind| {
            let decisions = policy.decisions.iter().filter(|one| one.kind == kind && !one.keep);
            decisions.filter_map(|one| one.change.gb_out.share()).any(|share| share > TOLERANCE)
        };
        Allowed { assets: grows(Kind::Asset), pages: grows(Kind::Page) }
    }

    fn is_for(self, target: Target) -> bool {
        match target {
            Target::Content(Kind::Page) => self.pages,
            Target::Content(_) => self.assets,
            _ => false,
        }
    }
}

/// What is worse, and how many answers were compared: those that both sides gave, and such as only the first gave.
pub fn compare(before: &[Answered], after: &[Answered], allowed: Allowed) -> (u64, Vec<Worse>) {
    let (mut compared, mut worse) = (0, Vec::new());
    let coded =
        after.iter().filter(|(_, answer)| answer.as_ref().is_some_and(|one| one.coding != "identity"));
    let encoded: BTreeSet<&str> = coded.map(|(question, _)| question.path.as_str()).collect();
    for ((question, before), (_, after)) in before.iter().zip(after) {
        let Some(before) = before else { continue };
        compared += 1;
        let found = match after {
            Some(after) => {
                found(question, (before, after), allowed, encoded.contains(question.path.as_str()))
            }
            // Without a validator a conditional request is not put; that the validator is gone is said of the answer before.
            None if matches!(question.form, Form::IfNoneMatch | Form::IfModifiedSince) => None,
            None => Some(("status", before.status.to_string(), "no answer".to_owned())),
        };
        worse.extend(found.map(|(what, before, after)| Worse {
            url: clean(&question.path),
            request: question.request(),
            what: what.to_owned(),
            before: shown(&before),
            after: shown(&after),
        }));
    }
    (compared, worse)
}

fn shown(value: &str) -> String {
    clean(value).chars().take(SHOWN).collect()
}

/// What is worse, with its values before and after.
type Found<'a> = (&'a str, String, String);

/// The first thing that is worse. `is_encoded`: some clients are sent what was asked for in a content coding.
fn found<'a>(
    question: &Asking,
    (before, after): (&'a Answer, &Answer),
    allowed: Allowed,
    is_encoded: bool,
) -> Option<Found<'a>> {
    let statuses = ("status", before.status.to_string(), after.status.to_string());
    match question.target {
        Target::HandedOver => {
            let is_worse = after.is_secret && !before.is_secret;
            return is_worse
                .then(|| ("reach", "not sent".to_owned(), "a file that is not for downloads".to_owned()));
        }
        Target::Refused => {
            let is_worse = after.status < 400 && before.status >= 400;
            return is_worse.then_some(statuses);
        }
        Target::Content(_) => {}
    }
    if before.status != after.status {
        return (!is_gained(question, before, after)).then_some(statuses);
    }
    // A range of content in another coding is other bytes.
    let is_other_range = question.form == Form::Range && before.coding != after.coding;
    // An error page may be another one, but it can be read.
    let is_meant = before.is_content() || after.content.is_none();
    if before.content.is_some() && is_meant && !is_other_range && before.content != after.content {
        return Some(("content", "the content".to_owned(), "other content".to_owned()));
    }
    coded(question, before, after, allowed).or_else(|| field(before, after, is_encoded))
}

/// Whether another status is better, or at least no worse: less is sent again, or all of it in a content coding.
fn is_gained(question: &Asking, before: &Answer, after: &Answer) -> bool {
    match question.form {
        Form::IfNoneMatch | Form::IfModifiedSince => before.status == 200 && after.status == 304,
        // Servers send a precompressed file whole. It is smaller, and clients that accept no content coding are sent ranges as before: they are
        // asked, too.
        Form::Range if before.status == 206 => {
            after.status == 200 && after.coding != "identity" && accepts(question, &after.coding)
        }
        Form::Range => before.status == 200 && after.status == 206,
        _ => false,
    }
}

fn accepts(question: &Asking, coding: &str) -> bool {
    coding == "identity" || CLASSES[question.class].header.split(", ").any(|one| one == coding)
}

/// What is worse of the content coding, and of the length.
fn coded<'a>(question: &Asking, before: &'a Answer, after: &Answer, allowed: Allowed) -> Option<Found<'a>> {
    let accepts = |coding: &str| accepts(question, coding);
    let codings = || ("Content-Encoding", before.coding.clone(), after.coding.clone());
    if accepts(&before.coding) && !accepts(&after.coding) {
        return Some(codings());
    }
    let (Some(long), Some(longer)) = (before.bytes, after.bytes) else { return None };
    // What a HEAD says of a body that is encoded meanwhile is nothing.
    if question.form == Form::Range
        || longer as f64 <= (long as f64 * (1.0 + TOLERANCE)).max((long + FLOOR) as f64)
    {
        return None;
    }
    if after.coding == "identity" && before.coding != "identity" {
        let with = |coding: &str, length: u64| format!("{coding}, {}", bytes(length));
        return Some(("Content-Encoding", with(&before.coding, long), with(&after.coding, longer)));
    }
    (!allowed.is_for(question.target)).then(|| ("body", bytes(long), bytes(longer)))
}

/// The first field that is worse.
fn field<'a>(before: &'a Answer, after: &Answer, is_encoded: bool) -> Option<Found<'a>> {
    let is_encoded_now = before.coding == "identity" && after.coding != "identity";
    let tokens = |value: Option<&String>| -> Vec<String> {
        let parts = value.map(String::as_str).unwrap_or_default().split(',');
        parts.map(|part| part.trim().to_lowercase()).filter(|part| !part.is_empty()).collect()
    };
    for (name, value) in &before.fields {
        let now = after.fields.get(name);
        let is_worse = match name.as_str() {
            "vary" => {
                let now = tokens(now);
                // What is the same for all clients need not say that it is for some.
                let mut needed =
                    tokens(Some(value)).into_iter().filter(|one| is_encoded || one != "accept-encoding");
                !now.contains(&"*".to_owned()) && needed.any(|one| !now.contains(&one))
            }
            // Ranges of what is encoded while it is sent do not exist.
            "accept-ranges" => now.is_none() && !is_encoded_now,
            _ if value.is_empty() => now.is_none(),
            _ => now != Some(value),
        };
        if is_worse {
            return Some((name, shown(value), now.cloned().unwrap_or_else(|| "not sent".to_owned())));
        }
    }
    let varies = |answer: &Answer| {
        tokens(answer.fields.get("vary")).iter().any(|one| one == "accept-encoding" || one == "*")
    };
    let is_mixed_up = is_encoded_now && after.is_content() && !varies(after);
    is_mixed_up.then(|| {
        ("vary", "not encoded".to_owned(), format!("{} without Vary: Accept-Encoding", after.coding))
    })
}

//! Whether a private instance answers as its configuration says: type and content coding have to agree, or the measurement is of something
//! else.

use weigh_load::fault::{Fault, FaultKind};
use weigh_load::result::Preflight;

use weigh_model::text::clean;
use weigh_model::way::Expected;

/// What was seen of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The status.
    pub status: u16,
    /// Content-Type.
    pub media_type: Option<String>,
    /// Content-Encoding; `identity` without.
    pub coding: String,
    /// Cache-Control.
    pub cache_control: Option<String>,
    /// The length of the body.
    pub length: u64,
}

/// A difference between a response and its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Whether figures of such responses would be of something else.
    pub is_grave: bool,
    /// What differs: a line.
    pub what: String,
}

/// How a response differs from what the configuration says. `length` is that of the content, where it is known.
pub fn differences(expected: &Expected, accept: &str, seen: &Seen, length: Option<u64>) -> Vec<Difference> {
    let decided = match expected.decided.as_str() {
        "" => String::new(),
        at => format!(" ({at})"),
    };
    let differs = |what: &str, is: &str, said: &str, is_grave| Difference {
        is_grave,
        what: format!("{what} is {}, the configuration says {}{decided}", clean(is), clean(said)),
    };
    if seen.status != expected.status {
        return vec![differs("the status", &seen.status.to_string(), &expected.status.to_string(), true)];
    }
    let mut found = Vec::new();
    let bare = |of: &str| of.split(';').next().unwrap_or_default().trim().to_lowercase();
    let is = seen.media_type.as_deref().map(bare);
    if let Some(said) = expected.media_type.as_deref().filter(|said| is.as_deref() != Some(&*bare(said))) {
        found.push(differs("the type", is.as_deref().unwrap_or("not sent"), said, true));
    }
    if let Some(said) = expected.codings.get(accept).filter(|said| **said != seen.coding) {
        let asked = if accept.is_empty() { "no coding".to_owned() } else { clean(accept) };
        found.push(differs(&format!("the content coding for {asked}"), &seen.coding, said, true));
    }
    if let Some(length) = length.filter(|length| seen.coding == "identity" && *length != seen.length) {
        found.push(differs("the length", &seen.length.to_string(), &length.to_string(), false));
    }
    let words = |text: &Option<String>| -> Vec<String> {
        let mut words: Vec<String> =
            text.iter().flat_map(|t| t.split(',')).map(|w| w.trim().to_lowercase()).collect();
        words.sort();
        words
    };
    if words(&seen.cache_control) != words(&expected.cache_control) {
        let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "not sent".to_owned());
        found.push(differs(
            "Cache-Control",
            &word(&seen.cache_control),
            &word(&expected.cache_control),
            false,
        ));
    }
    found
}

/// Makes a response that is not what the configuration says a fault: its figures would be of something else.
pub fn judge(expected: &Expected, accept: &str, first: &mut Preflight) {
    if first.fault.is_some() || !(200..300).contains(&first.status) {
        return;
    }
    let seen = Seen {
        status: first.status,
        media_type: first.content_type.clone(),
        coding: first.content_encoding.clone().unwrap_or_else(|| "identity".into()),
        cache_control: expected.cache_control.clone(),
        length: 0,
    };
    let grave = differences(expected, accept, &seen, None).into_iter().find(|d| d.is_grave);
    first.fault = grave.map(|difference| Fault::new(FaultKind::Mismatch, difference.what));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expected {
        Expected {
            status: 200,
            media_type: Some("text/css".into()),
            codings: [("gzip".to_owned(), "gzip".to_owned()), (String::new(), "identity".into())].into(),
            cache_control: Some("public, max-age=60".into()),
            decided: "nginx.conf:7".into(),
        }
    }

    fn seen() -> Seen {
        Seen {
            status: 200,
            media_type: Some("text/css; charset=utf-8".into()),
            coding: "gzip".into(),
            cache_control: Some("max-age=60, public".into()),
            length: 9,
        }
    }

    #[test]
    fn type_and_coding_are_grave_and_headers_are_told() {
        assert_eq!(differences(&expected(), "gzip", &seen(), Some(20)), []);
        let plain = Seen { coding: "identity".into(), ..seen() };
        let found = differences(&expected(), "gzip", &plain, Some(20));
        assert_eq!(
            found[0].what,
            "the content coding for gzip is identity, the configuration says gzip (nginx.conf:7)"
        );
        assert!(found[0].is_grave && !found[1].is_grave && found[1].what.starts_with("the length is 9"));
        assert_eq!(differences(&expected(), "", &plain, Some(9)), []);
        let other = Seen { media_type: None, cache_control: None, ..seen() };
        let found: Vec<bool> =
            differences(&expected(), "gzip", &other, None).iter().map(|d| d.is_grave).collect();
        assert_eq!(found, [true, false]);
        let lost = Seen { status: 404, ..seen() };
        assert!(differences(&expected(), "gzip", &lost, None)[0].what.starts_with("the status is 404"));
    }

    #[test]
    fn a_response_of_another_coding_is_a_fault() {
        let mut first = Preflight {
            status: 200,
            content_type: Some("text/css".into()),
            content_encoding: Some("br".into()),
            ..Preflight::default()
        };
        judge(&expected(), "gzip", &mut first);
        assert_eq!(first.fault.unwrap().kind, FaultKind::Mismatch);
    }
}

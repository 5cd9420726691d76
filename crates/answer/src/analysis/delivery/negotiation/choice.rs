//! Which variant was chosen, and whether it may be.

use crate::analysis::delivery::model::Quirk;
use weigh_load::accept::Accept;
use weigh_model::record::negotiation::{Answer, Body, IDENTITY};

/// What is to be said of the answer to a request for any variant. `available` are the codings of all variants there are.
pub(super) fn judge(accept: Option<&str>, answer: &Answer, available: &[String]) -> Option<Quirk> {
    let accept = accept.map(Accept::parse);
    let takes = |coding: &str| accept.as_ref().is_none_or(|accept| accept.takes(coding));
    match (answer.status, answer.body) {
        (200, Body::Wrong) => return Some(Quirk::WrongBody),
        (200, Body::Content | Body::Unknown) => {}
        (406, _) if available.iter().any(|coding| takes(coding)) => return Some(Quirk::NeedlessRefusal),
        (406, _) => return Some(Quirk::NotAcceptable),
        _ => return Some(Quirk::Failed),
    }
    let coding = answer.coding();
    let Some(accept) = accept else {
        return (coding != IDENTITY).then_some(Quirk::Unasked);
    };
    let others = available.iter().filter(|other| *other != IDENTITY && accept.takes(other));
    let best = others.filter_map(|other| accept.weight(other)).max();
    match (coding.as_str(), best) {
        (IDENTITY, Some(_)) if !accept.takes(IDENTITY) => Some(Quirk::IdentityForced),
        (IDENTITY, None) if !accept.takes(IDENTITY) => Some(Quirk::IdentityRefused),
        (IDENTITY, best) => best.map(|_| Quirk::AsItIs),
        (coding, _) if accept.refuses(coding) => Some(Quirk::Excluded),
        (coding, _) if !accept.takes(coding) => Some(Quirk::Unnamed),
        (coding, best) => (accept.weight(coding) < best).then_some(Quirk::Lesser),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(coding: &str) -> Answer {
        let content_encoding = (coding != IDENTITY).then(|| coding.to_owned());
        Answer { status: 200, content_encoding, body: Body::Content, ..Answer::default() }
    }

    fn said(accept: Option<&str>, coding: &str) -> Option<Quirk> {
        judge(accept, &sent(coding), &[IDENTITY, "gzip", "br"].map(str::to_owned))
    }

    #[test]
    fn every_rule_of_the_choice() {
        use Quirk::*;
        for (accept, coding, quirk) in [
            (None, "identity", None),
            (None, "gzip", Some(Unasked)),
            (Some("identity"), "identity", None),
            (Some("identity"), "gzip", Some(Unnamed)),
            (Some("gzip"), "gzip", None),
            (Some("gzip"), "identity", Some(AsItIs)),
            (Some("gzip"), "br", Some(Unnamed)),
            (Some("zstd"), "identity", None),
            (Some("gzip, br"), "gzip", None),
            (Some("gzip, deflate, br, zstd"), "br", None),
            (Some("gzip;q=0"), "identity", None),
            (Some("gzip;q=0"), "gzip", Some(Excluded)),
            (Some("gzip;q=0, br"), "br", None),
            (Some("gzip;q=0, br"), "gzip", Some(Excluded)),
            (Some("br;q=0.5, gzip;q=1.0"), "gzip", None),
            (Some("br;q=0.5, gzip;q=1.0"), "br", Some(Lesser)),
            (Some("gzip;q=0.5, br;q=1.0"), "gzip", Some(Lesser)),
            (Some("identity;q=0"), "identity", Some(IdentityRefused)),
            (Some("identity;q=0"), "gzip", Some(Unnamed)),
            (Some("identity;q=0, gzip"), "gzip", None),
            (Some("identity;q=0, gzip"), "identity", Some(IdentityForced)),
            (Some("*"), "br", None),
            (Some("*"), "identity", Some(AsItIs)),
            (Some("*;q=0"), "identity", Some(IdentityRefused)),
            (Some("*;q=0"), "gzip", Some(Excluded)),
            (Some("GZIP"), "gzip", None),
            (Some("gzip"), "GZip", None),
            (Some("x-gzip"), "gzip", None),
            (Some("gzip"), "x-gzip", None),
            (Some("gzip"), "gzip, br", Some(Unnamed)),
        ] {
            assert_eq!(said(accept, coding), quirk, "{accept:?} → {coding}");
        }
    }

    #[test]
    fn a_406_is_right_only_where_nothing_would_do() {
        let refused = Answer { status: 406, body: Body::Message, ..Answer::default() };
        let available = [IDENTITY.to_owned(), "gzip".to_owned()];
        assert_eq!(judge(Some("identity;q=0"), &refused, &available), Some(Quirk::NotAcceptable));
        assert_eq!(judge(Some("identity;q=0, gzip"), &refused, &available), Some(Quirk::NeedlessRefusal));
        assert_eq!(judge(Some("br"), &refused, &available), Some(Quirk::NeedlessRefusal), "as it is");
        assert_eq!(judge(None, &refused, &available), Some(Quirk::NeedlessRefusal));
        assert_eq!(judge(None, &refused, &[]), Some(Quirk::NotAcceptable));
    }

    #[test]
    fn bodies_and_statuses_come_before_codings() {
        let wrong = Answer { body: Body::Wrong, ..sent("gzip") };
        assert_eq!(judge(Some("gzip;q=0"), &wrong, &[]), Some(Quirk::WrongBody));
        for status in [0, 100, 204, 206, 301, 304, 404, 500, u16::MAX] {
            let other = Answer { status, ..sent("gzip") };
            assert_eq!(judge(Some("gzip"), &other, &[]), Some(Quirk::Failed), "{status}");
        }
        let empty = Answer { body: Body::None, ..sent("gzip") };
        assert_eq!(judge(Some("gzip"), &empty, &[]), Some(Quirk::Failed));
        let unknown = Answer { body: Body::Unknown, ..sent("compress") };
        assert_eq!(judge(Some("gzip"), &unknown, &[]), Some(Quirk::Unnamed));
        assert_eq!(judge(Some("x-compress"), &unknown, &[]), None);
    }
}

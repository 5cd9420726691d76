//! Whether two targets send the same content.

use crate::fault::{Fault, FaultKind};
use crate::result::Preflight;

/// Why two preflights cannot be compared with each other: the targets answer with another status, or bodies decode to
/// something else. Bodies that differ from response to response by themselves say nothing; none: no reason is known.
pub fn unequal(a: &Preflight, b: &Preflight) -> Option<Fault> {
    let names = |what: &str| format!("`{}` and `{}` are answered with {what}", a.request, b.request);
    if a.status != b.status {
        let message = format!("{}: {} and {}", names("another status"), a.status, b.status);
        return Some(Fault::new(FaultKind::Status, message));
    }
    let (Some(first), Some(second)) = (&a.decoded_sha256, &b.decoded_sha256) else { return None };
    if first == second {
        return None;
    }
    let told = |p: &Preflight, sha: &str| {
        format!("{} bytes with SHA-256 {}…", p.decoded_bytes.unwrap_or(0), sha.get(..12).unwrap_or(sha))
    };
    let message =
        format!("{} after decoding: {} and {}", names("other content"), told(a, first), told(b, second));
    Some(Fault::new(FaultKind::Mismatch, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preflight(status: u16, sha: Option<&str>) -> Preflight {
        Preflight {
            request: "page".into(),
            status,
            decoded_bytes: Some(5),
            decoded_sha256: sha.map(Into::into),
            ..Preflight::default()
        }
    }

    #[test]
    fn only_known_differences_are_faults() {
        let kind = |a, b| unequal(&a, &b).map(|f| f.kind);
        assert_eq!(kind(preflight(200, Some("ab")), preflight(200, Some("ab"))), None);
        assert_eq!(kind(preflight(200, Some("ab")), preflight(200, Some("cd"))), Some(FaultKind::Mismatch));
        assert_eq!(kind(preflight(200, None), preflight(200, Some("cd"))), None);
        assert_eq!(kind(preflight(200, Some("ab")), preflight(404, Some("ab"))), Some(FaultKind::Status));
        let fault = unequal(&preflight(200, Some(&"a".repeat(64))), &preflight(200, Some("b"))).unwrap();
        assert!(fault.message.contains("5 bytes with SHA-256 aaaaaaaaaaaa…"), "{}", fault.message);
    }
}

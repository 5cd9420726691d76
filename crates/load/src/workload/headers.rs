//! Headers of a request: defaults and ranges filled in, and what must not be sent refused.

use crate::plan::Request;

/// Puts a range into a Range header (RFC 9110, 14.2); one range, as several come back in another form.
pub(super) fn ranged(headers: &mut Vec<(String, String)>, range: Option<&str>) -> Result<(), String> {
    let Some(range) = range else { return Ok(()) };
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    let is_one = match range.split_once('-') {
        Some(("", last)) => number(last).is_some_and(|n| n > 0),
        Some((first, "")) => number(first).is_some(),
        Some((first, last)) => matches!((number(first), number(last)), (Some(f), Some(l)) if f <= l),
        None => false,
    };
    if !is_one {
        return Err(format!("{range:?} is no range of bytes; write 0-1023, 1024-, or -500 for the last"));
    }
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("range")) {
        return Err("it has a range and a Range header; one of them is enough".into());
    }
    headers.push(("Range".into(), format!("bytes={range}")));
    Ok(())
}

/// Adds those of the defaults whose names are not there.
pub(super) fn with_defaults(headers: &mut Vec<(String, String)>, defaults: &[(String, String)]) {
    let own: Vec<String> = headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    let missing = defaults.iter().filter(|(name, _)| !own.contains(&name.to_ascii_lowercase()));
    headers.extend(missing.cloned());
}

/// What must not be sent: line ends would begin another header, and a wrong length another request.
pub(super) fn check(request: &Request) -> Result<(), String> {
    let is_token = |text: &str| {
        let of_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        !text.is_empty() && text.bytes().all(of_token)
    };
    if !is_token(&request.method) || request.method == "CONNECT" {
        return Err(format!("{:?} is no method to be sent, as GET or POST are", request.method));
    }
    for (name, value) in &request.headers {
        if !is_token(name) {
            return Err(format!("{name:?} is no name of a header: letters, digits and hyphens"));
        }
        if value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f) {
            return Err(format!("the value of the header {name} has a control character in it"));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err("Transfer-Encoding is refused: bodies are sent with their length".into());
        }
        if name.eq_ignore_ascii_case("content-length") && value.trim().parse() != Ok(request.body.len()) {
            return Err(format!(
                "Content-Length {value:?}, but the body has {} bytes; leave it out",
                request.body.len()
            ));
        }
    }
    if request.class.is_empty() || request.class.chars().any(char::is_control) {
        return Err(format!("{:?} is no class: it is empty or has a control character in it", request.class));
    }
    Ok(())
}

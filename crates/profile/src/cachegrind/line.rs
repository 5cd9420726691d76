//! One line of a cachegrind file, whoever wrote it. Owns the grammar; knows nothing of what lines mean together.

use weigh_model::profile::LARGEST;

/// Which table of short names a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `fn=` and `cfn=`.
    Function,
    /// `fl=`, `fi=`, `fe=`, `cfi=` and `cfl=`.
    File,
    /// `ob=` and `cob=`.
    Object,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Blank, a comment, or something that bears no cost (`jump=`).
    Nothing,
    /// `events: …`, `summary: …` and the like.
    Header(&'a str, &'a str),
    /// Another profile begins in the same file.
    NextPart,
    /// `fn=`, `fl=`, `ob=`: what the costs that follow belong to.
    Here(Kind, &'a [u8]),
    /// `cfn=`, `cfl=`, `cob=`: what is called.
    There(Kind, &'a [u8]),
    /// `calls=N …`.
    Calls(u64),
    /// A place in the source, then costs.
    Costs(&'a str),
    Unknown,
}

impl<'a> Line<'a> {
    /// Reads a line without its end.
    pub fn of(line: &'a [u8]) -> Line<'a> {
        match line.first() {
            None | Some(b'#') => Line::Nothing,
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => costs(line),
            Some(b' ' | b'\t') if line.iter().all(u8::is_ascii_whitespace) => Line::Nothing,
            Some(b'=') if line.starts_with(b"==== NEW PROFILING FILE") => Line::NextPart,
            Some(_) => keyed(line),
        }
    }
}

fn costs(line: &[u8]) -> Line<'_> {
    let is_cost = |b: &u8| b.is_ascii_hexdigit() || b" \t+-*x".contains(b);
    match std::str::from_utf8(line) {
        Ok(text) if line.iter().all(is_cost) => Line::Costs(text),
        _ => Line::Unknown,
    }
}

fn keyed(line: &[u8]) -> Line<'_> {
    let Some(at) = line.iter().position(|b| matches!(b, b'=' | b':')) else { return Line::Unknown };
    let Ok(key) = std::str::from_utf8(&line[..at]) else { return Line::Unknown };
    let value = &line[at + 1..];
    if line[at] == b':' {
        return match std::str::from_utf8(value) {
            Ok(text) if is_word(key) => Line::Header(key, text.trim()),
            // A command line need not be text.
            _ if key == "cmd" || key == "desc" => Line::Nothing,
            _ => Line::Unknown,
        };
    }
    match key {
        "fn" => Line::Here(Kind::Function, value),
        "fl" | "fi" | "fe" => Line::Here(Kind::File, value),
        "ob" => Line::Here(Kind::Object, value),
        "cfn" => Line::There(Kind::Function, value),
        "cfl" | "cfi" => Line::There(Kind::File, value),
        "cob" => Line::There(Kind::Object, value),
        "calls" => match std::str::from_utf8(value).ok().and_then(|v| v.split_whitespace().next()) {
            Some(count) if count.bytes().all(|b| b.is_ascii_digit()) => Line::Calls(natural(count)),
            _ => Line::Unknown,
        },
        "jump" | "jcnd" | "jfi" | "jfn" | "jfl" | "rcalls" => Line::Nothing,
        _ => Line::Unknown,
    }
}

fn is_word(key: &str) -> bool {
    !key.is_empty()
        && key.len() < 40
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A name as written: `(id) name`, `(id)`, or the bare name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling<'a> {
    /// The number stands for this name from here on.
    Defined(u64, &'a [u8]),
    /// The name that the number stands for.
    Short(u64),
    Plain(&'a [u8]),
}

impl<'a> Spelling<'a> {
    /// Reads the part after `fn=`.
    pub fn of(text: &'a [u8]) -> Spelling<'a> {
        let number = || {
            let rest = text.strip_prefix(b"(")?;
            let end = rest.iter().position(|b| *b == b')')?;
            let digits = std::str::from_utf8(&rest[..end]).ok()?;
            let is_number = (1..=19).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
            Some((digits.parse().ok().filter(|_| is_number)?, rest[end + 1..].trim_ascii()))
        };
        match number() {
            Some((id, [])) => Spelling::Short(id),
            Some((id, name)) => Spelling::Defined(id, name),
            None => Spelling::Plain(text.trim_ascii()),
        }
    }
}

/// A number of calls, cut to what fits.
fn natural(digits: &str) -> u64 {
    digits.parse().unwrap_or(LARGEST as u64).min(LARGEST as u64)
}

/// A cost as a number within ±[`LARGEST`]; none where it is not a number.
///
/// What is larger than a signed number can be is a negative one that was written without its sign.
pub fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = match text.parse::<i128>() {
        Ok(number) if number > i128::from(i64::MAX) && number <= i128::from(u64::MAX) => number - (1 << 64),
        Ok(number) => number,
        Err(_) if text.starts_with('-') => i128::from(i64::MIN),
        Err(_) => i128::from(i64::MAX),
    };
    Some(number.clamp(-i128::from(LARGEST), i128::from(LARGEST)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_known() {
        assert_eq!(Line::of(b"fn=(1) {main}"), Line::Here(Kind::Function, b"(1) {main}"));
        assert_eq!(Line::of(b"cfi=(2)"), Line::There(Kind::File, b"(2)"));
        assert_eq!(Line::of(b"calls=3 0 0"), Line::Calls(3));
        assert_eq!(Line::of(b"calls=99999999999999999999 0"), Line::Calls(LARGEST as u64));
        assert_eq!(Line::of(b"+3 10 -20"), Line::Costs("+3 10 -20"));
        assert_eq!(Line::of(b"0x40af +2 7"), Line::Costs("0x40af +2 7"));
        assert_eq!(Line::of(b"summary: 1 2"), Line::Header("summary", "1 2"));
        assert_eq!(Line::of(b"==== NEW PROFILING FILE ====="), Line::NextPart);
        for nothing in [&b""[..], b"# a comment", b"jump=1 2", b"  "] {
            assert_eq!(Line::of(nothing), Line::Nothing);
        }
        for unknown in [&b"\x00\xff"[..], b"hello", b"what=ever", b"calls=x", b"12 <html>", b": 3"] {
            assert_eq!(Line::of(unknown), Line::Unknown, "{unknown:?}");
        }
    }

    #[test]
    fn names_are_short_or_long() {
        assert_eq!(Spelling::of(b"(12) php::strlen"), Spelling::Defined(12, b"php::strlen"));
        assert_eq!(Spelling::of(b"(12)"), Spelling::Short(12));
        assert_eq!(Spelling::of(b"main"), Spelling::Plain(b"main"));
        assert_eq!(Spelling::of(b"(below main)"), Spelling::Plain(b"(below main)"));
        assert_eq!(Spelling::of(b"(99999999999999999999)"), Spelling::Plain(b"(99999999999999999999)"));
    }

    #[test]
    fn numbers_saturate_and_lost_signs_are_found() {
        assert_eq!(
            (number("12"), number("-12"), number("1x"), number("-")),
            (Some(12), Some(-12), None, None)
        );
        assert_eq!(number("18446744073709551600"), Some(-16));
        assert_eq!(number("99999999999999999999999999999999999999999999"), Some(LARGEST));
        assert_eq!(number("-99999999999999999999999999999999999999999999"), Some(-LARGEST));
    }
}

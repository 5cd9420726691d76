//! Accept-Encoding: which content codings a request asks for (RFC 9110, section 12.5.3).

/// The content coding of an uncompressed body.
pub const IDENTITY: &str = "identity";
const ANY: &str = "*";

type Weight = u16;
/// The weight if none is given.
const FULL: Weight = 1000;

/// The parsed Accept-Encoding header: codings by their usual names, with weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accept(Vec<(String, Weight)>);

impl Accept {
    /// Parses a value. White space is allowed around names and weights; an invalid weight counts as the full weight.
    pub fn parse(value: &str) -> Accept {
        let member = |member: &str| {
            let mut parts = member.split(';');
            let coding = parts.next().map(str::trim).filter(|name| !name.is_empty())?;
            Some((usual(coding), parts.find_map(weight).unwrap_or(FULL)))
        };
        Accept(value.split(',').filter_map(member).collect())
    }

    /// The combined value of all Accept-Encoding headers of a request; none without such a header.
    pub fn of(headers: &[(String, String)]) -> Option<Accept> {
        let fields = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
        let values: Vec<&str> = fields.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| Accept::parse(&values.join(",")))
    }

    /// The codings that are named with a weight above 0, in the order of the request.
    pub fn asked(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, weight)| *weight > 0).map(|(name, _)| name.as_str())
    }

    /// The weight of a coding; none if neither it nor `*` is named.
    pub fn weight(&self, coding: &str) -> Option<Weight> {
        let of = |name: &str| self.0.iter().find(|(known, _)| known == name).map(|(_, weight)| *weight);
        of(coding).or_else(|| of(ANY))
    }

    /// Whether a coding may be sent. A coding without a weight may be sent if it is `identity`, unless it is refused.
    pub fn takes(&self, coding: &str) -> bool {
        self.weight(coding).map_or(coding == IDENTITY, |weight| weight > 0)
    }

    /// Whether a coding has the weight 0, by its name or by `*`.
    pub fn refuses(&self, coding: &str) -> bool {
        self.weight(coding) == Some(0)
    }
}

/// A coding's usual name: names ignore case, and two have an older alias (RFC 9110, section 8.4.1).
pub fn usual(coding: &str) -> String {
    match coding.trim().to_ascii_lowercase().as_str() {
        "" => IDENTITY.to_owned(),
        "x-gzip" => "gzip".to_owned(),
        "x-compress" => "compress".to_owned(),
        name => name.to_owned(),
    }
}

/// The weight of a parameter: `q=0.5` is 500. None for any other parameter.
fn weight(parameter: &str) -> Option<Weight> {
    let (name, value) = parameter.split_once('=')?;
    let is_weight = name.trim().eq_ignore_ascii_case("q");
    is_weight.then(|| match value.trim().parse::<f64>() {
        Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * f64::from(FULL)).round() as Weight,
        _ => FULL,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_name_before_those_of_any() {
        let accept = Accept::parse("gzip;q=0.5, BR ; q=1.0 ,zstd;q=0,x-gzip;q=0, *;q=0.25");
        assert_eq!(accept.weight("gzip"), Some(500), "the first of two names for it");
        assert_eq!(accept.weight("br"), Some(1000));
        assert_eq!(accept.weight("deflate"), Some(250));
        assert!(accept.refuses("zstd") && !accept.takes("zstd"));
        assert!(accept.takes("deflate") && accept.takes(IDENTITY));
        assert_eq!(accept.asked().collect::<Vec<_>>(), ["gzip", "br", ANY]);
    }

    #[test]
    fn what_is_named_may_be_sent_and_zero_refuses() {
        for (value, taken, refused) in [
            ("gzip, br;q=0.5", "gzip", "zstd"),
            ("X-GZIP", "gzip", "br"),
            ("gzip;q=0, *", "br", "gzip"),
            ("*, gzip; Q=0.000", "br", "gzip"),
            ("*;q=0, br", "br", "zstd"),
            ("gzip", IDENTITY, "br"),
            ("", IDENTITY, "gzip"),
            ("*;q=0, identity;q=0.1", IDENTITY, "gzip"),
            ("gzip", "gzip", "br"),
        ] {
            let accept = Accept::parse(value);
            assert!(accept.takes(taken) && !accept.takes(refused), "{value}");
        }
        for value in ["identity;q=0", "*;q=0", "gzip, *;q=0.000", "identity;Q=0"] {
            assert!(!Accept::parse(value).takes(IDENTITY), "{value}");
        }
    }

    /// Optional white space is allowed around `;` (RFC 9110, section 12.4.2). It is not allowed around `=`, but some
    /// clients write it.
    #[test]
    fn white_space_hides_no_weight() {
        for value in
            ["gzip;q=0", "gzip; q=0", "gzip ;\tq=0", "gzip;q = 0", "gzip ; Q = 0.000 ", " gzip;q\t=\t0, br"]
        {
            assert!(Accept::parse(value).refuses("gzip"), "{value}");
        }
        assert_eq!(Accept::parse("gzip ; q = 0.5").weight("gzip"), Some(500));
        assert_eq!(Accept::parse("gzip;level=1;q=0.5").weight("gzip"), Some(500));
    }

    #[test]
    fn nonsense_is_no_reason_to_stop() {
        for value in [";;;", ",", "q=0", "gzip;q=", "gzip;q=-1", "gzip;q=NaN", "gzip;q=1e9", "\u{0}"] {
            let accept = Accept::parse(value);
            assert!(!accept.refuses("gzip"), "{value}");
        }
        assert!(Accept::parse("gzip;q=inf").takes("gzip"));
    }

    #[test]
    fn all_fields_of_a_request_count_and_silence_is_none() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers =
            [header("accept-encoding", "gzip;q=0"), header("Host", "a"), header("Accept-Encoding", "*")];
        let accept = Accept::of(&headers).unwrap();
        assert!(accept.refuses("gzip") && accept.takes("br"));
        assert_eq!(Accept::of(&headers[1..2]), None);
    }

    #[test]
    fn codings_have_one_name_each() {
        for (said, is) in
            [("", IDENTITY), ("GZip", "gzip"), ("x-gzip", "gzip"), (" br ", "br"), ("a, b", "a, b")]
        {
            assert_eq!(usual(said), is);
        }
    }
}

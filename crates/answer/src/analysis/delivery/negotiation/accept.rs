//! Accept-Encoding as RFC 9110, section 12.5.3, has it.

use weigh_model::record::negotiation::{IDENTITY, usual};

/// A weight in thousandths.
type Weight = u16;
/// The weight where none is said.
const FULL: Weight = 1000;
const ANY: &str = "*";

/// A value of Accept-Encoding.
pub(super) struct Accept(Vec<(String, Weight)>);

impl Accept {
    /// Reads a value; a weight that is none counts as the full one.
    pub fn parse(value: &str) -> Accept {
        let one = |part: &str| {
            let mut words = part.split(';').map(str::trim);
            let coding = words.next().filter(|name| !name.is_empty())?;
            let weight = words.find_map(|word| word.strip_prefix("q=").or(word.strip_prefix("Q=")));
            Some((usual(coding), weight.map_or(FULL, weigh)))
        };
        Accept(value.split(',').filter_map(one).collect())
    }

    /// The weight of a coding; none where neither it nor `*` is named.
    pub fn weight(&self, coding: &str) -> Option<Weight> {
        let of = |name: &str| self.0.iter().find(|(known, _)| known == name).map(|(_, weight)| *weight);
        of(coding).or_else(|| of(ANY))
    }

    /// Whether a coding may be sent. What has none may, unless it is refused.
    pub fn takes(&self, coding: &str) -> bool {
        self.weight(coding).map_or(coding == IDENTITY, |weight| weight > 0)
    }

    /// Whether a coding is refused by its name or by `*`.
    pub fn refuses(&self, coding: &str) -> bool {
        self.weight(coding) == Some(0)
    }
}

/// `0.5` is 500.
fn weigh(text: &str) -> Weight {
    match text.parse::<f64>() {
        Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * f64::from(FULL)).round() as Weight,
        _ => FULL,
    }
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
    }

    #[test]
    fn what_is_as_it_is_is_taken_unless_it_is_refused() {
        assert!(Accept::parse("gzip").takes(IDENTITY));
        assert!(Accept::parse("").takes(IDENTITY) && !Accept::parse("").takes("gzip"));
        for refusing in ["identity;q=0", "*;q=0", "gzip, *;q=0.000", "identity;Q=0"] {
            assert!(!Accept::parse(refusing).takes(IDENTITY), "{refusing}");
        }
        assert!(Accept::parse("*;q=0, identity;q=0.1").takes(IDENTITY));
    }

    #[test]
    fn nonsense_is_no_reason_to_stop() {
        for value in [";;;", ",", "q=0", "gzip;q=", "gzip;q=-1", "gzip;q=NaN", "gzip;q=1e9", "\u{0}"] {
            let accept = Accept::parse(value);
            assert!(!accept.refuses("gzip"), "{value}");
        }
        assert!(Accept::parse("gzip;q=inf").takes("gzip"));
    }
}

//! Runs of one study on several machines, by what its operations cost there.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, anyhow, bail, ensure};

use weigh_answer::compare::machines::{Machines, Measured, document};
use weigh_answer::format::{self, Options};
use weigh_answer::report::Report;
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;

/// The price of a core of a kind of machine for an hour: `c7g.large=0.036`.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreHour {
    kind: String,
    price: f64,
}

impl FromStr for CoreHour {
    type Err = String;

    fn from_str(text: &str) -> Result<CoreHour, String> {
        let parsed =
            text.rsplit_once('=').and_then(|(kind, price)| Some((kind.trim(), price.trim().parse().ok()?)));
        match parsed {
            Some((kind, price)) if !kind.is_empty() && price > 0.0 && f64::is_finite(price) => {
                Ok(CoreHour { kind: kind.into(), price })
            }
            _ => Err("write KIND=PRICE with a price above zero, such as c7g.large=0.036".into()),
        }
    }
}

/// A run on one kind of machine.
pub struct Run {
    pub kind: String,
    pub report: Report,
}

/// Makes sure that prices are of these kinds: of all or of none.
///
/// # Errors
/// One line: which is too much, twice there or missing.
pub fn check(kinds: &[&str], prices: &[CoreHour]) -> Result<()> {
    for (at, CoreHour { kind, .. }) in prices.iter().enumerate() {
        let hint = nearest_hint(kind, kinds.iter().copied());
        let known: Vec<String> = kinds.iter().map(|kind| clean(kind)).collect();
        ensure!(
            kinds.contains(&kind.as_str()),
            "--core-hour {}: no such kind of machine{hint}; there are: {}",
            clean(kind),
            known.join("; ")
        );
        ensure!(
            prices[..at].iter().all(|other| other.kind != *kind),
            "--core-hour {} is given twice",
            clean(kind)
        );
    }
    let missing = kinds.iter().find(|kind| prices.iter().all(|price| price.kind != **kind));
    match missing.filter(|_| !prices.is_empty()) {
        Some(kind) => bail!("the price of {0} is missing: --core-hour '{0}=PRICE'", clean(kind)),
        None => Ok(()),
    }
}

/// Compares runs at these prices.
///
/// # Errors
/// One line: see [`Machines::of`] and [`check`].
pub fn compared(runs: &[Run], prices: &[CoreHour]) -> Result<Machines> {
    check(&runs.iter().map(|run| run.kind.as_str()).collect::<Vec<_>>(), prices)?;
    let price = |kind: &str| prices.iter().find(|of| of.kind == kind).map(|of| of.price);
    let measured = |run| {
        let Run { kind, report }: &Run = run;
        Measured { kind, report, core_hour: price(kind) }
    };
    Machines::of(&runs.iter().map(measured).collect::<Vec<_>>()).map_err(|why| anyhow!(why))
}

pub fn text(machines: &Machines, options: &Options) -> String {
    format::terminal::text(&document::blocks(machines, options), options)
}

/// A name for a folder of a kind of machine.
pub fn folder(kind: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = kind.chars().map(plain).take(64).collect();
    PathBuf::from(name.trim_matches(['.', '-']))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn prices_are_read_and_belong_to_kinds() {
        let price = |text: &str| text.parse::<CoreHour>();
        assert_eq!(price("a=b=0.5").unwrap(), CoreHour { kind: "a=b".into(), price: 0.5 });
        for text in ["", "a", "a=", "=1", "a=0", "a=-1", "a=inf", "a=NaN", "a=x"] {
            assert!(price(text).unwrap_err().contains("KIND=PRICE"), "{text}");
        }
        let (a, b) = (price("a=1").unwrap(), price("b=2").unwrap());
        check(&["a", "b"], &[]).unwrap();
        check(&["a", "b"], &[b.clone(), a.clone()]).unwrap();
        let line = |prices: &[CoreHour]| check(&["a", "c"], prices).unwrap_err().to_string();
        assert!(line(&[b]).contains("there are: a; c"));
        assert!(line(std::slice::from_ref(&a)).contains("the price of c is missing"));
        assert!(line(&[a.clone(), a]).contains("given twice"));
    }

    #[test]
    fn folders_of_kinds_have_plain_names() {
        assert_eq!(folder("c7g.large"), Path::new("c7g.large"));
        assert_eq!(folder("../Xeon(R) 2.8 GHz, 2 CPUs"), Path::new("Xeon-R--2.8-GHz--2-CPUs"));
    }
}

//! The settings of the output handler, as php.ini has them.

use crate::{Breach, Coding, Error};

/// Which pages are encoded, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The codings offered, the preferred one first.
    pub codings: Vec<Coding>,
    levels: Vec<(Coding, i32)>,
    /// Pages with fewer bytes are sent as they are.
    pub min_bytes: usize,
    /// For which requests nothing is encoded.
    pub breach: Breach,
}

impl Settings {
    /// The settings' names in php.ini, and their defaults. Each coding has a level of its own; what fits into one packet with its header gains
    /// nothing.
    pub const ALL: [(&str, &str); 4] = [
        ("weighbridge.codings", "zstd,br,gzip"),
        ("weighbridge.level", ""),
        ("weighbridge.min_bytes", "860"),
        ("weighbridge.breach", "cross-site"),
    ];

    /// Reads the four settings, in the order of [`Settings::ALL`].
    ///
    /// # Errors
    /// [`Error::Setting`] names the setting and what it may be.
    pub fn read(values: [&str; 4]) -> Result<Settings, Error> {
        let expected = [
            "write zstd, br, gzip and deflate with commas between, the preferred one first",
            "write one number, or one for each coding as in gzip=6,br=4, within the coding's levels",
            "write a number of bytes, such as 860",
            "write cross-site, cookies or off",
        ];
        let refused = |at: usize| {
            let value = values[at].chars().take(64).flat_map(char::escape_debug).collect();
            Error::Setting(Settings::ALL[at].0, value, expected[at])
        };
        let breaches =
            [("cross-site", Breach::CrossSite), ("cookies", Breach::Cookies), ("off", Breach::Off)];
        let breach = breaches.into_iter().find(|(name, _)| *name == values[3].trim());
        Ok(Settings {
            codings: codings(values[0]).ok_or_else(|| refused(0))?,
            levels: levels(values[1]).ok_or_else(|| refused(1))?,
            min_bytes: values[2].trim().parse().map_err(|_| refused(2))?,
            breach: breach.ok_or_else(|| refused(3))?.1,
        })
    }

    /// The level of a coding.
    pub fn level(&self, coding: Coding) -> i32 {
        let set = self.levels.iter().find(|(of, _)| *of == coding);
        set.map_or(coding.default_level(), |(_, level)| *level)
    }
}

fn codings(text: &str) -> Option<Vec<Coding>> {
    let mut codings = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let coding = Coding::named(name).ok()?;
        if !codings.contains(&coding) {
            codings.push(coding);
        }
    }
    Some(codings)
}

fn levels(text: &str) -> Option<Vec<(Coding, i32)>> {
    if let Ok(level) = text.trim().parse::<i32>() {
        let within = |coding: Coding| level.clamp(*coding.levels().start(), *coding.levels().end());
        return Some(Coding::ALL.map(|coding| (coding, within(coding))).to_vec());
    }
    let read = |part: &str| {
        let (name, level) = part.split_once('=')?;
        let (coding, level) = (Coding::named(name.trim()).ok()?, level.trim().parse().ok()?);
        coding.levels().contains(&level).then_some((coding, level))
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(read).collect()
}

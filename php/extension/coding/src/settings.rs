//! The settings of the output handler, as php.ini has them.

use crate::{Coding, Error};

/// Codings in the order of preference with their levels, and the smallest page that is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    codings: Vec<Coding>,
    levels: Vec<(Coding, i32)>,
    /// Pages with fewer bytes are sent as they are.
    pub min_bytes: usize,
}

/// The defaults, as they stand in php.ini.
impl Settings {
    /// `weighbridge.codings`.
    pub const CODINGS: &str = "zstd,br,gzip";
    /// `weighbridge.level`: each coding's own.
    pub const LEVEL: &str = "";
    /// `weighbridge.min_bytes`: what fits into one packet with its header gains nothing.
    pub const MIN_BYTES: &str = "1000";

    /// Reads the three settings.
    ///
    /// # Errors
    /// [`Error::Setting`] names the setting and what it may be.
    pub fn read(codings: &str, level: &str, min_bytes: &str) -> Result<Settings, Error> {
        let codings = read_codings(codings)?;
        let levels = read_levels(level)?;
        let min_bytes = min_bytes.trim().parse().map_err(|_| {
            setting("weighbridge.min_bytes", min_bytes, "write a number of bytes, such as 1000")
        })?;
        Ok(Settings { codings, levels, min_bytes })
    }

    /// The codings offered, the preferred one first.
    pub fn codings(&self) -> &[Coding] {
        &self.codings
    }

    /// The level of a coding.
    pub fn level(&self, coding: Coding) -> i32 {
        let set = self.levels.iter().find(|(of, _)| *of == coding);
        set.map_or(coding.default_level(), |(_, level)| *level)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        let codings = vec![Coding::Zstd, Coding::Br, Coding::Gzip];
        Settings { codings, levels: Vec::new(), min_bytes: 1000 }
    }
}

/// What clients take without a dictionary.
const OFFERED: [Coding; 4] = [Coding::Zstd, Coding::Br, Coding::Gzip, Coding::Deflate];

fn setting(name: &'static str, value: &str, what: &'static str) -> Error {
    let value = value.chars().take(64).flat_map(char::escape_debug).collect();
    Error::Setting { name, value, what }
}

fn read_codings(text: &str) -> Result<Vec<Coding>, Error> {
    let refused = || {
        setting(
            "weighbridge.codings",
            text,
            "write zstd, br, gzip and deflate with commas between, the preferred one first",
        )
    };
    let named = |name: &str| Coding::named(name).ok().filter(|coding| OFFERED.contains(coding));
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut codings = Vec::new();
    for name in names {
        let coding = named(name).ok_or_else(refused)?;
        if !codings.contains(&coding) {
            codings.push(coding);
        }
    }
    Ok(codings)
}

/// `6` is a level for every coding, as far as it has it; `gzip=6,br=4` one for each.
fn read_levels(text: &str) -> Result<Vec<(Coding, i32)>, Error> {
    let refused = || {
        setting(
            "weighbridge.level",
            text,
            "write one number, or one for each coding as in gzip=6,br=4, within the coding's levels",
        )
    };
    let text = text.trim();
    if let Ok(level) = text.parse::<i32>() {
        let within = |coding: Coding| level.clamp(*coding.levels().start(), *coding.levels().end());
        return Ok(OFFERED.into_iter().map(|coding| (coding, within(coding))).collect());
    }
    let read = |part: &str| {
        let (name, level) = part.split_once('=')?;
        let coding = Coding::named(name.trim()).ok()?;
        let level = level.trim().parse().ok()?;
        coding.levels().contains(&level).then_some((coding, level))
    };
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    parts.map(|part| read(part).ok_or_else(refused)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_of_php_ini_are_the_defaults() {
        let read = Settings::read(Settings::CODINGS, Settings::LEVEL, Settings::MIN_BYTES);
        assert_eq!(read, Ok(Settings::default()));
    }

    #[test]
    fn levels_are_one_for_all_or_one_each() {
        let level = |text: &str, coding| Settings::read("gzip", text, "0").map(|read| read.level(coding));
        assert_eq!(level("9", Coding::Gzip), Ok(9));
        assert_eq!(level("99", Coding::Br), Ok(11));
        assert_eq!(level("gzip=12, zstd=-1", Coding::Zstd), Ok(-1));
        assert_eq!(level("gzip=12", Coding::Br), Ok(Coding::Br.default_level()));
        for wrong in ["six", "gzip", "gzip=13", "lzma=1", "gzip=6;br=4"] {
            let error = level(wrong, Coding::Gzip).unwrap_err();
            assert!(error.to_string().starts_with("weighbridge.level = "), "{error}");
        }
    }

    #[test]
    fn codings_are_those_that_need_no_dictionary() {
        let codings = |text: &str| Settings::read(text, "", "0").map(|read| read.codings().to_vec());
        assert_eq!(codings(" GZIP , br,gzip,"), Ok(vec![Coding::Gzip, Coding::Br]));
        assert_eq!(codings(""), Ok(vec![]));
        for wrong in ["dcz", "gzip br", "lzma"] {
            assert!(codings(wrong).is_err(), "{wrong}");
        }
        assert!(Settings::read("gzip", "", "-1").is_err());
        assert!(Settings::read("gzip", "", "1 KB").is_err());
    }
}

//! What php.ini may say.

use weighbridge_coding::{Breach, Coding, Settings};

/// Reads with one setting changed.
fn read(at: usize, value: &str) -> Result<Settings, String> {
    let mut values = Settings::ALL.map(|(_, default)| default);
    values[at] = value;
    Settings::read(values).map_err(|error| error.to_string())
}

#[test]
fn levels_are_one_for_all_or_one_each() {
    let level = |text: &str, coding| read(1, text).map(|settings| settings.level(coding));
    assert_eq!(level("", Coding::Br), Ok(5));
    assert_eq!(level("9", Coding::Gzip), Ok(9));
    assert_eq!(level("99", Coding::Br), Ok(11));
    assert_eq!(level("gzip=12, zstd=-1", Coding::Zstd), Ok(-1));
    assert_eq!(level("gzip=12", Coding::Br), Ok(Coding::Br.default_level()));
    for wrong in ["six", "gzip", "gzip=13", "lzma=1", "gzip=6;br=4"] {
        let error = level(wrong, Coding::Gzip).unwrap_err();
        assert!(error.starts_with(&format!("weighbridge.level = \"{wrong}\" is not")), "{error}");
    }
}

#[test]
fn every_setting_names_itself_and_what_it_may_be() {
    assert_eq!(read(0, " GZIP , br,gzip,").unwrap().codings, [Coding::Gzip, Coding::Br]);
    assert_eq!(read(0, "").unwrap().codings, []);
    assert_eq!(read(2, " 0 ").unwrap().min_bytes, 0);
    assert_eq!(read(3, "off").unwrap().breach, Breach::Off);
    for (at, wrong) in [(0, "dcz"), (0, "gzip br"), (2, "-1"), (2, "1 KB"), (3, "same-site"), (3, "")] {
        let error = read(at, wrong).unwrap_err();
        let name = Settings::ALL[at].0;
        assert!(error.starts_with(&format!("{name} = \"{wrong}\" is not understood: write ")), "{error}");
    }
}

//! Colours that colour-blind readers can distinguish (Okabe and Ito, "Color Universal Design", 2008).

use super::canvas::{Color, QUIET};

pub const GREEN: Color = Color::new(0, 138, 100);
pub const ORANGE: Color = Color::new(213, 94, 0);
pub const VIOLET: Color = Color::new(119, 90, 170);
const BLUE: Color = Color::new(0, 114, 178);
const OTHER: Color = Color::new(70, 70, 70);

/// One colour per family of formats, by a part of the name, with three shades for the libraries of a family.
const FAMILIES: &[(&[&str], [Color; 3])] = &[
    (
        &["gz", "zlib", "deflate", "isal", "isa-l", "zopfli", "symfony"],
        [BLUE, Color::new(60, 150, 205), Color::new(0, 74, 122)],
    ),
    (&["zstd"], [GREEN, Color::new(46, 168, 130), Color::new(0, 96, 70)]),
    (&["br"], [ORANGE, Color::new(230, 130, 50), Color::new(160, 66, 0)]),
    (
        &["lz4", "snappy", "lzw", "lzf"],
        [Color::new(190, 95, 150), Color::new(204, 121, 167), Color::new(140, 60, 108)],
    ),
    (&["xz", "lzma", "bz"], [Color::new(150, 110, 0), Color::new(180, 138, 20), Color::new(110, 80, 0)]),
    (&["identity", "none"], [QUIET; 3]),
];

/// The colour of a codec by its name; the same in every chart.
pub fn codec(name: &str) -> Color {
    let family = FAMILIES.iter().find(|(parts, _)| parts.iter().any(|part| name.contains(part)));
    family.map_or(OTHER, |(_, shades)| {
        let sum: usize = name.bytes().map(usize::from).sum();
        shades[sum % shades.len()]
    })
}

/// Colours of waiting times, from light to dark, each up to this many seconds (Nielsen, "Usability Engineering", 1993:
/// at 0.1 s an answer feels immediate, at 1 s the flow of thought breaks, at 10 s attention is lost).
const WAITS: [(f64, &str, Color); 4] = [
    (0.1, "up to 0.1 s", Color::new(222, 235, 247)),
    (1.0, "up to 1 s", Color::new(146, 192, 224)),
    (10.0, "up to 10 s", Color::new(42, 108, 172)),
    (f64::INFINITY, "longer", Color::new(8, 40, 88)),
];

/// The colour of this waiting time in seconds.
pub fn heat(seconds: f64) -> Color {
    WAITS.iter().find(|(most, ..)| seconds <= *most).map_or(WAITS[WAITS.len() - 1].2, |wait| wait.2)
}

/// The legend of these colours.
pub fn heat_legend() -> Vec<(&'static str, Color)> {
    WAITS.map(|(_, words, color)| (words, color)).to_vec()
}

/// Colours of things in one chart, in their order.
const BESIDE: [Color; 6] = [BLUE, ORANGE, GREEN, Color::new(190, 95, 150), Color::new(150, 110, 0), OTHER];

/// The colour of the thing at a place.
pub fn beside(place: usize) -> Color {
    BESIDE[place % BESIDE.len()]
}

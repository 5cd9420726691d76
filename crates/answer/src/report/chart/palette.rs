//! Colours that colour-blind readers can tell apart (Okabe and Ito, "Color Universal Design", 2008), one a
//! family of formats, with three shades for the libraries inside a family.

use plotters::style::RGBColor;

use super::super::view::Row;

const FAMILIES: &[(&[&str], [RGBColor; 3])] = &[
    (
        &["gz", "zlib", "deflate", "isal", "isa-l", "zopfli", "symfony"],
        [RGBColor(0, 114, 178), RGBColor(60, 150, 205), RGBColor(0, 74, 122)],
    ),
    (&["zstd"], [RGBColor(0, 138, 100), RGBColor(46, 168, 130), RGBColor(0, 96, 70)]),
    (&["br"], [RGBColor(213, 94, 0), RGBColor(230, 130, 50), RGBColor(160, 66, 0)]),
    (
        &["lz4", "snappy", "lzw", "lzf"],
        [RGBColor(190, 95, 150), RGBColor(204, 121, 167), RGBColor(140, 60, 108)],
    ),
    (&["xz", "lzma", "bz"], [RGBColor(150, 110, 0), RGBColor(180, 138, 20), RGBColor(110, 80, 0)]),
    (&["identity", "none"], [RGBColor(96, 104, 116); 3]),
];

const OTHER: RGBColor = RGBColor(70, 70, 70);

/// The colour of a codec; the same in every chart.
pub(super) fn codec(name: &str) -> RGBColor {
    let family = FAMILIES.iter().find(|(parts, _)| parts.iter().any(|part| name.contains(part)));
    family.map_or(OTHER, |(_, shades)| {
        let sum: usize = name.bytes().map(usize::from).sum();
        shades[sum % shades.len()]
    })
}

/// Colours of things that stand beside each other without being codecs: servers, in their order.
const BESIDE: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 138, 100),
    RGBColor(190, 95, 150),
    RGBColor(150, 110, 0),
    RGBColor(70, 70, 70),
];

/// The colour of the thing at a place.
pub(super) fn beside(place: usize) -> RGBColor {
    BESIDE[place % BESIDE.len()]
}

/// The colour of a cell: its codec's.
pub(super) fn row(row: &Row) -> RGBColor {
    codec(&row.result.cell.setting.codec)
}

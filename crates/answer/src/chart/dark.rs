//! Charts on a dark page: the same hues with lightness turned around, so that paper becomes dark and ink light, and what
//! stands out stands out as much. Files stay as they are: a page lays style rules over the colours of its charts.

use std::collections::BTreeSet;

use super::canvas::{Color, PAPER, linear};

/// The lightness (Oklab) of a page's dark paper and that of white paper together: one colour's lightness and that of its
/// counterpart add up to it.
const SUM: f64 = 1.205;
/// The largest lightness, a little below white.
const LIGHTEST: f64 = 0.96;
/// Steps by which a colour loses chroma until screens can show it.
const STEPS: u32 = 32;

impl Color {
    /// The colour on a dark page: hue and chroma stay, as far as screens can show them.
    pub fn in_dark(self) -> Color {
        let [lightness, a, b] = oklab(self.rgb());
        let lightness = (SUM - lightness).clamp(0.0, LIGHTEST);
        let at = |step: u32| {
            let share = 1.0 - f64::from(step) / f64::from(STEPS);
            rgb([lightness, a * share, b * share])
        };
        let shown = (0..=STEPS).find_map(at).unwrap_or((0, 0, 0));
        Color::new(shown.0, shown.1, shown.2)
    }

    /// For a style sheet: the colour on a light page, and on a dark one.
    pub fn css(self) -> String {
        format!("light-dark({},{})", self.hex(), self.in_dark().hex())
    }
}

/// `fill` or `stroke`, and red, green and blue.
pub type Paint = (&'static str, (u8, u8, u8));

/// The colours of a picture: `#rrggbb` of its fills and strokes.
pub fn colors(svg: &str) -> BTreeSet<Paint> {
    let of = |attribute: &'static str| {
        let start = format!("{attribute}=\"#");
        let found: Vec<_> = svg.match_indices(&start).map(|(at, _)| at + start.len()).collect();
        found.into_iter().filter_map(move |at| {
            let hex = svg.get(at..at + 6).filter(|_| svg.get(at + 6..at + 7) == Some("\""))?;
            let channel = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
            Some((attribute, (channel(0)?, channel(2)?, channel(4)?)))
        })
    };
    of("fill").chain(of("stroke")).collect()
}

/// Rules that give charts in a page these colours, light or dark as the page is.
pub fn rules(colors: &BTreeSet<Paint>) -> String {
    let rule = |(attribute, (red, green, blue)): &Paint| {
        let color = Color::new(*red, *green, *blue);
        let shown = if color == PAPER { "var(--paper)".to_owned() } else { color.css() };
        format!("figure.chart [{attribute}=\"{}\"]{{{attribute}:{shown}}}", color.hex())
    };
    colors.iter().map(rule).collect()
}

/// Lightness and the two colour axes of Oklab (Ottosson, "A perceptual color space for image processing", 2020).
fn oklab((red, green, blue): (u8, u8, u8)) -> [f64; 3] {
    let [r, g, b] = [red, green, blue].map(|part| linear(f64::from(part)));
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

/// The way back; none for a colour that screens cannot show.
fn rgb([lightness, a, b]: [f64; 3]) -> Option<(u8, u8, u8)> {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    let linear = [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ];
    let parts = linear.map(|part| {
        let part = if part <= 0.0031308 { part * 12.92 } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
        part * 255.0
    });
    let is_shown = parts.iter().all(|part| (-0.5..=255.5).contains(part));
    let [red, green, blue] = parts.map(|part| part.round() as u8);
    is_shown.then_some((red, green, blue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::canvas::{INK, QUIET, READABLE};
    use crate::chart::palette::{beside, codec, heat, heat_legend};

    #[test]
    fn what_can_be_read_on_paper_can_be_read_in_the_dark() {
        let names = ["zlib", "zstd", "br", "lz4", "xz", "identity", "other"];
        let inks = [INK, QUIET].into_iter().chain((0..6).map(beside)).chain(names.map(codec));
        for ink in inks.map(Color::legible) {
            let contrast = ink.in_dark().contrast(PAPER.in_dark());
            assert!(contrast >= READABLE, "{} on {}: {contrast}", ink.css(), PAPER.css());
        }
        for (_, fill) in heat_legend() {
            let contrast = fill.ink().in_dark().contrast(fill.in_dark());
            assert!(contrast >= READABLE, "{} on {}: {contrast}", fill.ink().css(), fill.css());
        }
    }

    #[test]
    fn longer_waits_stand_out_more_in_the_dark_too() {
        let waits = [0.003, 0.677, 4.0, 60.0].map(|seconds| heat(seconds).in_dark().luminance());
        assert!(waits.windows(2).all(|pair| pair[1] > pair[0] * 1.3), "{waits:?}");
    }

    #[test]
    fn colours_keep_their_hue_and_each_has_one_rule() {
        let (red, green, blue) = beside(0).in_dark().rgb();
        assert!(blue > green && green > red, "{red} {green} {blue}");
        let svg =
            "<rect fill=\"#0072b2\"/><text fill=\"#0072b2\">fill=\"#12\"</text><path stroke=\"#ffffff\"/>";
        let rules = rules(&colors(svg));
        assert_eq!(rules.matches("figure.chart [").count(), 2, "{rules}");
        assert!(rules.contains("[stroke=\"#ffffff\"]{stroke:var(--paper)}"), "{rules}");
    }
}

//! The sheet that charts are drawn on: SVG in pixels, and text whose width is known.

use std::fmt::Display;
use std::sync::LazyLock;

use ttf_parser::Face;

use crate::text::{clean, columns, shorten};

/// The sheet's width in pixels.
pub const WIDTH: f64 = 1200.0;
/// The margin at both sides, in pixels.
pub const MARGIN: f64 = 44.0;
/// The embedded font first; browsers without it use one of the others.
const FAMILY: &str = "Noto Sans, DejaVu Sans, Segoe UI, Helvetica, Arial, sans-serif";
/// From the middle of small letters down to the line they stand on, in ems of the embedded font.
const HALF_X: f64 = 0.26;
/// How much wider a browser's own font may be.
const SLACK: f64 = 1.04;

pub const INK: Color = Color::new(34, 40, 49);
pub const QUIET: Color = Color::new(96, 104, 116);
pub const GRID: Color = Color::new(226, 229, 234);
pub const PAPER: Color = Color::new(255, 255, 255);

static FONTS: LazyLock<[Face<'static>; 2]> = LazyLock::new(|| {
    [notosans::REGULAR_TTF, notosans::BOLD_TTF]
        .map(|bytes| Face::parse(bytes, 0).expect("the embedded font can be read"))
});

/// The text with its spaces made unbreakable, for names inside a title.
pub fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The contrast from which on text is readable (WCAG 2.2, level AA).
pub const READABLE: f64 = 4.5;

/// A colour with its opacity, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    rgb: (u8, u8, u8),
    opacity: f64,
}

impl Color {
    pub const fn new(red: u8, green: u8, blue: u8) -> Color {
        Color { rgb: (red, green, blue), opacity: 1.0 }
    }

    pub const fn faded(self, opacity: f64) -> Color {
        Color { opacity, ..self }
    }

    fn on_paper(self) -> [f64; 3] {
        let (red, green, blue) = self.rgb;
        [red, green, blue].map(|part| f64::from(part) * self.opacity + 255.0 * (1.0 - self.opacity))
    }

    /// Relative luminance, 0 to 1 (WCAG 2.2).
    pub fn luminance(self) -> f64 {
        let [red, green, blue] = self.on_paper().map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Contrast with another colour, 1 to 21 (WCAG 2.2).
    pub fn contrast(self, other: Color) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The text colour on a field of this colour.
    pub fn ink(self) -> Color {
        if self.contrast(PAPER) >= READABLE { PAPER } else { INK }
    }

    /// The colour, darkened until it is readable on white.
    pub fn legible(self) -> Color {
        let darker = |color: &Color| {
            let (red, green, blue) = color.rgb;
            let [red, green, blue] = [red, green, blue].map(|part| (f64::from(part) * 0.95) as u8);
            (color.contrast(PAPER) < READABLE).then_some(Color { rgb: (red, green, blue), ..*color })
        };
        std::iter::successors(Some(self), darker).last().unwrap_or(self)
    }

    pub fn rgb(self) -> (u8, u8, u8) {
        self.rgb
    }

    /// `#rrggbb`.
    pub fn hex(self) -> String {
        let (red, green, blue) = self.rgb;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// As the attribute `fill` or `stroke`.
    fn paint(self, attribute: &str) -> String {
        let color = format!("{attribute}=\"{}\"", self.hex());
        if self.opacity < 1.0 { format!("{color} opacity=\"{}\"", self.opacity) } else { color }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Smaller by this many pixels on each side.
    pub fn inset(&self, by: f64) -> Rect {
        let Rect { left, top, right, bottom } = *self;
        Rect { left: left + by, top: top + by, right: right - by, bottom: bottom - by }
    }

    pub fn middle(&self) -> (f64, f64) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }
}

/// The end of a text that stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    pub color: Color,
    pub size: f64,
    pub is_bold: bool,
    pub anchor: Anchor,
    pub is_upright: bool,
}

impl Pen {
    /// A colour that is not readable on white is darkened; white itself is for fields.
    pub fn new(size: f64, color: Color) -> Pen {
        let color = if color == PAPER { color } else { color.legible() };
        Pen { size, is_bold: false, color, anchor: Anchor::Start, is_upright: false }
    }

    pub fn bold(self) -> Pen {
        self.weighted(true)
    }

    pub fn weighted(self, is_bold: bool) -> Pen {
        Pen { is_bold, ..self }
    }

    pub fn anchored(self, anchor: Anchor) -> Pen {
        Pen { anchor, ..self }
    }

    /// Turned to be read from below.
    pub fn upright(self) -> Pen {
        Pen { is_upright: true, ..self }
    }
}

#[derive(Default)]
pub struct Canvas {
    body: String,
}

impl Canvas {
    /// The whole picture; `title` and `about` are for screen readers.
    pub fn finish(self, title: &str, about: &str, height: f64) -> String {
        let height = height.ceil();
        format!(
            "<svg role=\"img\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"{FAMILY}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" {}/>\n{}</svg>\n",
            xml(title),
            xml(about),
            PAPER.paint("fill"),
            self.body
        )
    }

    fn push(&mut self, element: impl Display) {
        self.body += &format!("{element}\n");
    }

    /// Text with its middle at the height `y`.
    pub fn text(&mut self, text: &str, (x, y): (f64, f64), pen: Pen) {
        if text.is_empty() {
            return;
        }
        let anchor = match pen.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if pen.is_bold { " font-weight=\"bold\"" } else { "" };
        let turn = if pen.is_upright {
            format!(" transform=\"rotate(-90 {} {})\"", px(x), px(y))
        } else {
            "".into()
        };
        let (x, y, paint) = (px(x), px(y + pen.size * HALF_X), pen.color.paint("fill"));
        let size = px(pen.size);
        self.push(format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{turn} {paint}>{}</text>",
            xml(text)
        ));
    }

    pub fn legend(&mut self, parts: &[(&str, Color)], (mut x, y): (f64, f64)) {
        let pen = Pen::new(15.0, INK);
        for (name, color) in parts {
            let field = Rect { left: x, top: y - 7.0, right: x + 14.0, bottom: y + 7.0 };
            self.rect(field, QUIET.faded(0.5));
            self.rect(field.inset(0.75), PAPER);
            self.rect(field.inset(0.75), *color);
            self.text(name, (x + 20.0, y), pen);
            x += 46.0 + self.width(name, pen);
        }
    }

    /// Width in pixels, with some slack for a browser's other font.
    pub fn width(&self, text: &str, pen: Pen) -> f64 {
        let font = &FONTS[usize::from(pen.is_bold)];
        let advance = |c: char| font.glyph_hor_advance(font.glyph_index(c).unwrap_or_default()).unwrap_or(0);
        let units: f64 = text.chars().map(|c| f64::from(advance(c))).sum();
        units * pen.size / f64::from(font.units_per_em()) * SLACK
    }

    pub fn line(&mut self, points: &[(f64, f64)], color: Color, stroke: f64) {
        self.path("polyline", points, &format!("fill=\"none\" {}", stroked(color, stroke)));
    }

    /// A line of short strokes.
    pub fn dashes(&mut self, points: &[(f64, f64)], color: Color, stroke: f64) {
        let style = format!("fill=\"none\" stroke-dasharray=\"6 5\" {}", stroked(color, stroke));
        self.path("polyline", points, &style);
    }

    pub fn area(&mut self, points: &[(f64, f64)], color: Color) {
        self.path("polygon", points, &color.paint("fill"));
    }

    fn path(&mut self, element: &str, points: &[(f64, f64)], style: &str) {
        if points.len() > 1 {
            let points: Vec<_> = points.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
            self.push(format!("<{element} points=\"{}\" {style}/>", points.join(" ")));
        }
    }

    pub fn rect(&mut self, rect: Rect, color: Color) {
        let (x, y, width, height) = (px(rect.left), px(rect.top), px(rect.width()), px(rect.height()));
        let paint = color.paint("fill");
        self.push(format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {paint}/>"));
    }

    fn circle(&mut self, (x, y): (f64, f64), radius: f64, style: &str) {
        self.push(format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {style}/>", px(x), px(y), px(radius)));
    }

    /// A filled circle with a thin rim of paper, so that neighbours stay apart.
    pub fn dot(&mut self, at: (f64, f64), radius: f64, color: Color) {
        self.circle(at, radius + 1.5, &PAPER.paint("fill"));
        self.circle(at, radius, &color.paint("fill"));
    }

    pub fn ring(&mut self, at: (f64, f64), radius: f64, color: Color) {
        self.circle(at, radius, &format!("{} {}", PAPER.paint("fill"), stroked(color, 2.0)));
    }

    /// The text broken at `separator` into lines of at most `width` pixels, at most `most` lines, of about
    /// the same length; the last is cut with `…`.
    pub fn wrap(&self, text: &str, separator: &str, pen: Pen, width: f64, most: usize) -> Vec<String> {
        let is_wide = |part: &str| self.width(part, pen) > width;
        let separator = if text.split(separator).any(is_wide) { " " } else { separator };
        let mut lines = self.broken(text, separator, pen, width);
        if lines.len() > most {
            lines.truncate(most);
            lines[most - 1].push_str(" …");
        } else {
            let mut narrower = width;
            while lines.len() > 1 && narrower > width / 2.0 {
                narrower -= width / 40.0;
                let tried = self.broken(text, separator, pen, narrower);
                if tried.len() > lines.len() || tried.iter().any(|line| self.width(line, pen) > width) {
                    break;
                }
                lines = tried;
            }
        }
        lines.iter().map(|line| self.fit(line, pen, width)).collect()
    }

    fn broken(&self, text: &str, separator: &str, pen: Pen, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for part in text.split(separator) {
            match lines.last_mut() {
                Some(last) if self.width(&format!("{last}{separator}{part}"), pen) <= width => {
                    last.push_str(separator);
                    last.push_str(part);
                }
                _ => lines.push(part.to_owned()),
            }
        }
        lines
    }

    /// The text, its middle left out until it is at most `width` pixels wide.
    pub fn fit(&self, text: &str, pen: Pen, width: f64) -> String {
        let mut left = columns(text);
        let mut shown = text.to_owned();
        while left > 3 && self.width(&shown, pen) > width {
            left -= 1;
            shown = shorten(text, left);
        }
        shown
    }

    /// The widest of some texts in pixels.
    pub fn widest<'a>(&self, texts: impl IntoIterator<Item = &'a str>, pen: Pen) -> f64 {
        texts.into_iter().map(|text| self.width(text, pen)).fold(0.0, f64::max)
    }
}

/// A channel of sRGB, 0 to 255, as linear light, 0 to 1.
pub(super) fn linear(channel: f64) -> f64 {
    let part = channel / 255.0;
    if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}

fn stroked(color: Color, width: f64) -> String {
    format!("{} stroke-width=\"{}\"", color.paint("stroke"), px(width))
}

/// A number of pixels as text; a value that is not a number becomes 0.
fn px(pixels: f64) -> f64 {
    if pixels.is_finite() { (pixels * 100.0).round() / 100.0 } else { 0.0 }
}

fn xml(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

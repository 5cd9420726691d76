//! The sheet that charts are drawn on: pixels, text with a known width, a head and a foot.

use std::sync::{Arc, Once};

use anyhow::{Result, anyhow};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resvg::usvg::fontdb::Database;

use super::super::text::clean;

/// The sheet in pixels.
pub(super) const SIZE: (f64, f64) = (1200.0, 750.0);
/// plotters places on whole numbers; four of them a pixel keep curves smooth.
pub(super) const FINE: f64 = 4.0;
/// plotters takes the height of a line for the size of a font.
const LINE: f64 = 1.24;
/// Height of the embedded font from its lowest to its highest point, in ems.
const GLYPHS: f64 = 1.362;
/// The embedded font first; browsers without it have one of the others.
const FAMILY: &str = "Noto Sans, DejaVu Sans, Segoe UI, Helvetica, Arial, sans-serif";

pub(super) const INK: RGBColor = RGBColor(34, 40, 49);
pub(super) const QUIET: RGBColor = RGBColor(96, 104, 116);
pub(super) const GRID: RGBColor = RGBColor(226, 229, 234);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The fonts the rasteriser may use: those embedded, so that a picture is the same on every machine.
pub(in crate::report) fn fonts() -> Arc<Database> {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
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
}

/// How a text is set.
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub size: f64,
    pub bold: bool,
    pub color: RGBColor,
    pub anchor: HPos,
    pub upright: bool,
}

impl Pen {
    pub fn new(size: f64, color: RGBColor) -> Pen {
        Pen { size, bold: false, color, anchor: HPos::Left, upright: false }
    }

    pub fn bold(self) -> Pen {
        Pen { bold: true, ..self }
    }

    pub fn anchored(self, anchor: HPos) -> Pen {
        Pen { anchor, ..self }
    }

    pub fn upright(self) -> Pen {
        Pen { upright: true, ..self }
    }

    pub fn style(self) -> TextStyle<'static> {
        let weight = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::Name(FAMILY), self.size * LINE * FINE, weight);
        let font = if self.upright { font.transform(FontTransform::Rotate270) } else { font };
        font.color(&self.color).pos(Pos::new(self.anchor, VPos::Center))
    }
}

/// The sheet.
pub(super) struct Canvas<'a> {
    pub root: Area<'a>,
}

/// Draws a sheet and gives its SVG.
pub(super) fn sheet(about: &str, draw: impl FnOnce(&Canvas) -> Result<()>) -> Result<String> {
    register();
    let size = ((SIZE.0 * FINE) as u32, (SIZE.1 * FINE) as u32);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&PAPER).map_err(failed)?;
        let canvas = Canvas { root };
        draw(&canvas)?;
        canvas.root.present().map_err(failed)?;
    }
    let fine = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    let shown = format!("<svg role=\"img\" width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1);
    let (head, body) = svg.split_once('>').ok_or_else(|| anyhow!("the SVG has no head"))?;
    Ok(format!("{}>\n<title>{}</title>{body}", head.replacen(&fine, &shown, 1), xml(about)))
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (style, bytes) in
            [(FontStyle::Normal, notosans::REGULAR_TTF), (FontStyle::Bold, notosans::BOLD_TTF)]
        {
            let registered = plotters::style::register_font(FAMILY, style, bytes);
            assert!(registered.is_ok(), "the embedded font cannot be read");
        }
    });
}

fn xml(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text with its spaces made unbreakable, for names inside a title.
pub(super) fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// plotters' error as ours.
pub(super) fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> anyhow::Error {
    anyhow!("{error}")
}

/// Pixels in plotters' unit.
pub(super) fn fine(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

/// A place in plotters' unit.
pub(super) fn at(x: f64, y: f64) -> (i32, i32) {
    (fine(x), fine(y))
}

impl Canvas<'_> {
    /// Text with its middle at the height `y`.
    pub fn text(&self, text: &str, (x, y): (f64, f64), pen: Pen) -> Result<()> {
        self.root.draw(&Text::new(text.to_owned(), at(x, y), pen.style())).map_err(failed)
    }

    /// Width in pixels, with some slack for a browser's other font.
    pub fn width(&self, text: &str, pen: Pen) -> f64 {
        let style = Pen { upright: false, ..pen }.style();
        let width = self.root.estimate_text_size(text, &style).map_or(0.0, |(width, _)| f64::from(width));
        // plotters sets the font LINE times smaller than asked for, and measures it GLYPHS times smaller.
        width * GLYPHS / LINE / FINE * 1.04
    }

    pub fn line(&self, points: &[(f64, f64)], color: RGBAColor, stroke: f64) -> Result<()> {
        let points: Vec<_> = points.iter().map(|(x, y)| at(*x, *y)).collect();
        self.root.draw(&PathElement::new(points, color.stroke_width(fine(stroke) as u32))).map_err(failed)
    }

    /// A line of short strokes.
    pub fn dashes(&self, points: &[(f64, f64)], color: RGBAColor, stroke: f64) -> Result<()> {
        for dash in super::axis::dashes(points, 6.0, 5.0) {
            self.line(&dash, color, stroke)?;
        }
        Ok(())
    }

    pub fn area(&self, points: &[(f64, f64)], color: RGBAColor) -> Result<()> {
        let points: Vec<_> = points.iter().map(|(x, y)| at(*x, *y)).collect();
        self.root.draw(&Polygon::new(points, color.filled())).map_err(failed)
    }

    pub fn rect(&self, rect: Rect, color: RGBAColor) -> Result<()> {
        let corners = [at(rect.left, rect.top), at(rect.right, rect.bottom)];
        self.root.draw(&Rectangle::new(corners, color.filled())).map_err(failed)
    }

    /// A filled circle with a thin rim of paper, so that neighbours stay apart.
    pub fn dot(&self, (x, y): (f64, f64), radius: f64, color: RGBAColor) -> Result<()> {
        self.root.draw(&Circle::new(at(x, y), fine(radius + 1.5), PAPER.filled())).map_err(failed)?;
        self.root.draw(&Circle::new(at(x, y), fine(radius), color.filled())).map_err(failed)
    }

    /// An open circle.
    pub fn ring(&self, (x, y): (f64, f64), radius: f64, color: RGBColor) -> Result<()> {
        self.root.draw(&Circle::new(at(x, y), fine(radius), PAPER.filled())).map_err(failed)?;
        let stroke = color.stroke_width(fine(2.0) as u32);
        self.root.draw(&Circle::new(at(x, y), fine(radius), stroke)).map_err(failed)
    }

    /// The text broken at `separator` into lines of at most `width` pixels, at most `most` lines, of about
    /// the same length; the last is cut with `…`.
    pub fn wrap(&self, text: &str, separator: &str, pen: Pen, width: f64, most: usize) -> Vec<String> {
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
        let mut columns = super::super::text::columns(text);
        let mut shown = text.to_owned();
        while columns > 3 && self.width(&shown, pen) > width {
            columns -= 1;
            shown = super::super::text::shorten(text, columns);
        }
        shown
    }
}

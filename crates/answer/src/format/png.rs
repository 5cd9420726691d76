//! The charts as PNG: the very same SVG, rasterised with the fonts embedded in this program.

use std::sync::Arc;

use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options as Reading, Tree};

use super::composed::Composed;
use crate::format::form::{Form, Format, Medium};
use crate::output::{Options, Picture, Rendered};
use crate::report::Report;

#[derive(Debug)]
pub struct Png;

impl Format for Png {
    fn form(&self) -> Form {
        Form { name: "png", extension: "png", medium: Medium::Picture }
    }

    fn render(&self, report: &Report, _: &Options) -> Result<Vec<Rendered>> {
        let reading = Reading { fontdb: fonts(), ..Reading::default() };
        report.pictures().iter().map(|picture| file(picture, &reading)).collect()
    }

    fn render_composed(&self, composed: &Composed, _: &Options) -> Result<Vec<Rendered>> {
        let reading = Reading { fontdb: fonts(), ..Reading::default() };
        composed.drawn(|picture| file(picture, &reading))
    }
}

/// The fonts the rasteriser may use: those embedded, so that a picture is the same on every machine.
pub fn fonts() -> Arc<Database> {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
}

fn file(picture: &Picture, reading: &Reading) -> Result<Rendered> {
    let bytes = pixels(&picture.chart.svg(), reading);
    let bytes = bytes.with_context(|| format!("rasterising the chart {}", picture.stem))?;
    Ok(Rendered::new(format!("{}.png", picture.stem), bytes))
}

fn pixels(svg: &str, reading: &Reading) -> Result<Vec<u8>> {
    let tree = Tree::from_str(svg, reading).context("reading the SVG back")?;
    let size = tree.size().to_int_size();
    let mut pixmap = Pixmap::new(size.width(), size.height()).context("the picture has no size")?;
    resvg::render(&tree, Transform::default(), &mut pixmap.as_mut());
    pixmap.encode_png().context("encoding PNG")
}

//! The charts as PNG: the very same SVG, rasterised with the fonts embedded in this program.

use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options as Reading, Tree};

use super::{Format, Medium, Options, Rendered, chart};
use crate::analysis::client::model::ClientAnalysis;
use crate::analysis::delivery::model::DeliveryAnalysis;
use crate::analysis::model::Analysis;

/// `--format png`.
#[derive(Debug)]
pub struct Png;

impl Format for Png {
    fn name(&self) -> &'static str {
        "png"
    }

    fn extension(&self) -> &'static str {
        "png"
    }

    fn about(&self) -> &'static str {
        "the same charts, 1200 × 750 pixels"
    }

    fn medium(&self) -> Medium {
        Medium::Picture
    }

    fn announced(&self) -> Option<(&'static str, usize)> {
        Some(("picture", 3))
    }

    fn render(&self, analysis: &Analysis, _: &Options) -> Result<Vec<Rendered>> {
        files(chart::draw(analysis)?)
    }

    fn render_delivery(&self, analysis: &DeliveryAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        files(chart::delivery::draw(analysis)?)
    }

    fn render_client(&self, analysis: &ClientAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        files(chart::client::draw(analysis)?)
    }
}

fn files(charts: Vec<(chart::Entry, String)>) -> Result<Vec<Rendered>> {
    let reading = Reading { fontdb: chart::fonts(), ..Reading::default() };
    let render = |(entry, svg): (chart::Entry, String)| {
        let bytes =
            pixels(&svg, &reading).with_context(|| format!("rasterising the chart {}", entry.stem))?;
        Ok(Rendered::new(format!("{}.png", entry.stem), bytes))
    };
    charts.into_iter().map(render).collect()
}

fn pixels(svg: &str, reading: &Reading) -> Result<Vec<u8>> {
    let tree = Tree::from_str(svg, reading).context("reading the SVG back")?;
    let size = tree.size().to_int_size();
    let mut pixmap = Pixmap::new(size.width(), size.height()).context("the picture has no size")?;
    resvg::render(&tree, Transform::default(), &mut pixmap.as_mut());
    pixmap.encode_png().context("encoding PNG")
}

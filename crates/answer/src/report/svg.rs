//! The charts as SVG.

use anyhow::Result;

use super::{Format, Medium, Options, Rendered, chart};
use crate::analysis::client::model::ClientAnalysis;
use crate::analysis::delivery::model::DeliveryAnalysis;
use crate::analysis::model::Analysis;

/// `--format svg`.
#[derive(Debug)]
pub struct Svg;

impl Format for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }

    fn extension(&self) -> &'static str {
        "svg"
    }

    fn about(&self) -> &'static str {
        "charts: encode time against bytes, total time against link speed"
    }

    fn medium(&self) -> Medium {
        Medium::Picture
    }

    fn render(&self, analysis: &Analysis, _: &Options) -> Result<Vec<Rendered>> {
        Ok(files(chart::draw(analysis)?))
    }

    fn render_delivery(&self, analysis: &DeliveryAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        Ok(files(chart::delivery::draw(analysis)?))
    }

    fn render_client(&self, analysis: &ClientAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        Ok(files(chart::client::draw(analysis)?))
    }
}

fn files(charts: Vec<(chart::Entry, String)>) -> Vec<Rendered> {
    let charts = charts.into_iter();
    charts.map(|(entry, svg)| Rendered::new(format!("{}.svg", entry.stem), svg)).collect()
}

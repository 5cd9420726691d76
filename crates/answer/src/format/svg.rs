//! The pictures as SVG.

use anyhow::Result;

use super::composed::Composed;
use crate::format::form::{Form, Format, Medium};
use crate::output::{Options, Picture, Rendered};
use crate::report::Report;

#[derive(Debug)]
pub struct Svg;

impl Format for Svg {
    fn form(&self) -> Form {
        Form { name: "svg", extension: "svg", medium: Medium::Picture }
    }

    fn render(&self, report: &Report, _: &Options) -> Result<Vec<Rendered>> {
        Ok(report.pictures().iter().map(file).collect())
    }

    fn render_composed(&self, composed: &Composed, _: &Options) -> Result<Vec<Rendered>> {
        composed.drawn(|picture| Ok(file(picture)))
    }
}

fn file(picture: &Picture) -> Rendered {
    Rendered::new(format!("{}.svg", picture.stem), picture.chart.svg())
}

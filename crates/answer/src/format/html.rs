//! The complete report as one file for a browser, see [`crate::page`].

use anyhow::Result;

use super::composed::Composed;
use crate::format::form::{Form, Format, Medium};
use crate::output::{Options, Rendered};
use crate::page::data::{Data, FlameData};
use crate::report::Report;
use crate::{document, page};

#[derive(Debug)]
pub struct Html;

impl Format for Html {
    fn form(&self) -> Form {
        Form { name: "html", extension: "html", medium: Medium::Text }
    }

    fn unavailable(&self) -> Option<&'static str> {
        (!page::is_built_in()).then_some(page::MISSING)
    }

    fn render(&self, report: &Report, options: &Options) -> Result<Vec<Rendered>> {
        let blocks = document::for_page(report, options);
        let data = Data::of(report, options);
        let page = page::page(&blocks, &report.pictures(), Some(&data))?;
        Ok(vec![Rendered::new("report.html", page)])
    }

    fn render_composed(&self, composed: &Composed, _: &Options) -> Result<Vec<Rendered>> {
        let data = FlameData::of(&composed.flames);
        let page = page::page(&composed.blocks, &composed.pictures, Some(&data))?;
        Ok(vec![Rendered::new("report.html", page)])
    }
}

//! The head and the foot that every chart has: the answer as title, what it is about, and the source.

use anyhow::Result;
use plotters::style::text_anchor::HPos;

use super::super::text::clean;
use super::canvas::{Canvas, INK, Pen, QUIET, SIZE};
use crate::analysis::model::{Analysis, RunFacts};

/// What the foot names as the source.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub run: &'a RunFacts,
    pub study: &'a str,
}

impl<'a> From<&'a Analysis> for Source<'a> {
    fn from(analysis: &'a Analysis) -> Source<'a> {
        Source { run: &analysis.run, study: &analysis.study.name }
    }
}

/// The margin at both sides, in pixels.
pub(super) const MARGIN: f64 = 44.0;

/// Draws title and subtitle; gives the height where the chart may begin.
pub(super) fn head(canvas: &Canvas, title: &str, subtitle: &str) -> Result<f64> {
    let width = SIZE.0 - 2.0 * MARGIN;
    let pen = Pen::new(26.0, INK).bold();
    let mut y = 44.0;
    for line in canvas.wrap(title, " ", pen, width, 2) {
        canvas.text(&line, (MARGIN, y), pen)?;
        y += 34.0;
    }
    let pen = Pen::new(16.0, QUIET);
    for line in canvas.wrap(subtitle, " · ", pen, width, 2) {
        canvas.text(&line, (MARGIN, y), pen)?;
        y += 23.0;
    }
    Ok(y + 4.0)
}

/// Draws the line with the source.
pub(super) fn foot<'a>(
    canvas: &Canvas,
    source: impl Into<Source<'a>>,
    synthetic: bool,
    remark: &str,
) -> Result<()> {
    let Source { run, study } = source.into();
    let day = run.started.get(..10).unwrap_or(&run.started);
    let mut parts = vec![
        format!("weigh {}", clean(&run.version)),
        format!("study {}", clean(study)),
        format!("seed {}", run.seed),
        clean(day),
    ];
    parts.retain(|part| !part.trim_end().is_empty());
    if synthetic {
        parts.push("SYNTHETIC content".into());
    }
    let y = SIZE.1 - 24.0;
    let pen = Pen::new(14.0, QUIET);
    let right = pen.anchored(HPos::Right);
    let source = parts.join(" · ");
    let room = SIZE.0 - 2.0 * MARGIN - canvas.width(&source, right) - 30.0;
    canvas.text(&source, (SIZE.0 - MARGIN, y), right)?;
    canvas.text(&canvas.fit(remark, pen, room), (MARGIN, y), pen)
}

//! The report for a terminal: fits a given width, and uses styles only if requested.

use anyhow::Result;
use console::Style;

use super::composed::Composed;
use crate::block::Block;
use crate::document;
use crate::format::form::{Form, Format, Medium};
use crate::output::{Options, Rendered};
use crate::report::Report;
use crate::text::wrap;

/// Prose wider than this is hard to read, whatever the terminal.
const PROSE: usize = 110;

#[derive(Debug)]
pub struct Terminal;

impl Format for Terminal {
    fn form(&self) -> Form {
        Form { name: "terminal", extension: "txt", medium: Medium::Screen }
    }

    fn render(&self, report: &Report, options: &Options) -> Result<Vec<Rendered>> {
        Ok(vec![Rendered::new("report.txt", text(&document::build(report, options), options))])
    }

    fn render_composed(&self, composed: &Composed, options: &Options) -> Result<Vec<Rendered>> {
        let options = &Options { more: "--json", ..options.clone() };
        Ok(vec![Rendered::new("report.txt", text(&composed.blocks, options))])
    }
}

pub fn text(blocks: &[Block], options: &Options) -> String {
    let style = Styles::new(options.color);
    let prose = options.width.clamp(20, PROSE);
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Heading(1, text) => push(&mut out, text, prose, "", &style.title),
            Block::Heading(_, text) => {
                out.push('\n');
                push(&mut out, text, prose, "", &style.heading);
            }
            Block::Text(text) => push(&mut out, text, prose, "", &style.plain),
            Block::Remark(text) if text.is_empty() => {}
            Block::Remark(text) => push(&mut out, text, prose, "", &style.quiet),
            Block::Answer(sentences) => {
                out.push('\n');
                for (index, sentence) in sentences.iter().enumerate() {
                    push(
                        &mut out,
                        sentence,
                        prose,
                        "",
                        if index == 0 { &style.heading } else { &style.plain },
                    );
                }
                out.push('\n');
            }
            Block::Steps(steps) => {
                for (index, step) in steps.iter().enumerate() {
                    push(&mut out, &step.sentences(), prose, &format!("{:>2}. ", index + 1), &style.plain);
                }
            }
            Block::Points(points) => {
                for (what, remedy) in points {
                    push(&mut out, what, prose, "- ", &style.plain);
                    if let Some(remedy) = remedy {
                        push(&mut out, remedy, prose, "  → ", &style.quiet);
                    }
                }
            }
            Block::Table(grid) => out.push_str(&grid.draw(&options.sheet())),
            Block::Literal(lines) => {
                lines.split('\n').for_each(|line| out.push_str(&format!("  {line}\n")));
            }
            Block::Charts(_) | Block::StudyCharts | Block::Tiles(..) | Block::Loads(_) => {}
        }
    }
    out
}

/// Appends wrapped lines: the first with `lead`, the others indented as far.
fn push(out: &mut String, text: &str, width: usize, lead: &str, style: &Style) {
    let indent = crate::text::columns(lead);
    for (index, line) in wrap(text, width - indent).iter().enumerate() {
        let lead = if index == 0 { lead.to_owned() } else { " ".repeat(indent) };
        out.push_str(&lead);
        out.push_str(&style.apply_to(line).to_string());
        out.push('\n');
    }
}

struct Styles {
    title: Style,
    heading: Style,
    plain: Style,
    quiet: Style,
}

impl Styles {
    fn new(color: bool) -> Styles {
        let style = || Style::new().force_styling(color);
        Styles {
            title: style().bold().underlined(),
            heading: style().bold(),
            plain: style(),
            quiet: style().dim(),
        }
    }
}

//! The complete report as Markdown with its charts. All text from outside is escaped.

use anyhow::Result;

use super::composed::Composed;
use crate::block::Block;
use crate::document;
use crate::format::form::{Form, Format, Medium};
use crate::output::{Options, Picture, Rendered};
use crate::report::Report;
use crate::table::{Grid, Kind, Role, Tone};
use crate::text::{clean, markdown as escape};

#[derive(Debug)]
pub struct Markdown;

impl Format for Markdown {
    fn form(&self) -> Form {
        Form { name: "markdown", extension: "md", medium: Medium::Text }
    }

    fn render(&self, report: &Report, options: &Options) -> Result<Vec<Rendered>> {
        let blocks = document::build(report, &options.whole());
        Ok(vec![Rendered::new("report.md", text(&blocks, &report.pictures(), options))])
    }

    fn render_composed(&self, composed: &Composed, options: &Options) -> Result<Vec<Rendered>> {
        Ok(vec![Rendered::new("report.md", text(&composed.blocks, &composed.pictures, options))])
    }
}

/// The blocks as Markdown, with links to these charts.
pub fn text(blocks: &[Block], charts: &[Picture], options: &Options) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, text) => {
                out.push_str(&format!("{} {}\n\n", "#".repeat(usize::from(*level)), escape(text)));
            }
            Block::Text(text) => out.push_str(&format!("{}\n\n", escape(text))),
            Block::Remark(text) if text.is_empty() => {}
            Block::Remark(text) => out.push_str(&format!("*{}*\n\n", escape(text))),
            Block::Answer(sentences) => {
                let sentence = |(index, text): (usize, &String)| match index {
                    0 => format!("**{}**", escape(text)),
                    _ => escape(text),
                };
                let all: Vec<String> = sentences.iter().enumerate().map(sentence).collect();
                out.push_str(&format!("{}\n\n", all.join(" ")));
            }
            Block::Steps(steps) => {
                for (index, step) in steps.iter().enumerate() {
                    out.push_str(&format!("{}. {}\n", index + 1, escape(&step.sentences())));
                }
                out.push('\n');
            }
            Block::Points(points) => {
                for (what, remedy) in points {
                    let remedy = remedy.as_deref().map(|remedy| format!(" → {}", escape(remedy)));
                    out.push_str(&format!("- {}{}\n", escape(what), remedy.unwrap_or_default()));
                }
                out.push('\n');
            }
            Block::Tiles(..) | Block::Loads(_) => {}
            Block::Table(grid) => out.push_str(&table(grid, options)),
            Block::Literal(lines) => {
                lines.lines().for_each(|line| out.push_str(&format!("    {}\n", clean(line))));
                out.push('\n');
            }
            Block::Charts(group) => {
                charts
                    .iter()
                    .filter(|entry| entry.group == Some(*group))
                    .for_each(|entry| image(&mut out, entry));
            }
            Block::StudyCharts => {
                charts.iter().filter(|entry| entry.group.is_none()).for_each(|entry| image(&mut out, entry));
            }
        }
    }
    out
}

fn image(out: &mut String, entry: &Picture) {
    out.push_str(&format!("![{}]({}.svg)\n\n", escape(&entry.about), entry.stem));
}

fn table(grid: &Grid, options: &Options) -> String {
    let (shown, left) = grid.chosen(&options.columns);
    if shown.is_empty() {
        return String::new();
    }
    let columns: Vec<_> = shown.iter().map(|index| &grid.columns[*index]).collect();
    let texts: Vec<_> = shown.iter().map(|index| grid.texts(*index)).collect();
    let heads = columns.iter().map(|column| escape(format!("{} {}", column.name, column.unit).trim()));
    let rules = columns.iter().map(|column| match column.kind {
        Kind::Text | Kind::Bar => "---".to_owned(),
        Kind::Three | Kind::Fixed(_) | Kind::Whole => "--:".to_owned(),
    });
    let mut out = line(heads) + &line(rules);
    for (row, (tone, _)) in grid.rows.iter().enumerate() {
        let cells = columns.iter().zip(&texts).map(|(column, texts)| {
            let text = escape(texts[row].trim());
            let name = *tone == Tone::Strong && column.role == Role::Factor && !text.is_empty();
            if name { format!("**{text}**") } else { text }
        });
        out.push_str(&line(cells));
    }
    out.push('\n');
    if let Some(line) = grid.left_out(&left, options.more) {
        out.push_str(&format!("*{}*\n\n", escape(&line)));
    }
    let legend = grid.legend(&shown);
    legend.iter().for_each(|(name, about)| out.push_str(&format!("- {}: {}\n", escape(name), escape(about))));
    out.push_str(if legend.is_empty() { "" } else { "\n" });
    out
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

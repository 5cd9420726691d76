//! Blocks as HTML. Every text is escaped here, and nowhere else.

use std::collections::BTreeSet;

use super::{Block, Picture};
use crate::chart::dark;
use crate::document::group::RECOMMENDED;
use crate::table::{Columns, Grid, Role, Tone};
use crate::text::{clean, slug};

/// A text in HTML, also inside a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A text from outside: without control characters, and escaped.
pub fn safe(of: &str) -> String {
    escape(&clean(of))
}

/// What is being written: the parts and the entries of the contents.
#[derive(Default)]
struct Body {
    head: String,
    answer: String,
    main: String,
    contents: String,
    parts: usize,
    tables: usize,
    is_open: bool,
    paints: BTreeSet<dark::Paint>,
}

/// The body of a page: title and question, the answer, the place of the page's program, contents, and the parts; and the
/// style of its charts.
pub(super) fn body(blocks: &[Block], pictures: &[Picture]) -> (String, String) {
    let mut body = Body::default();
    blocks.iter().for_each(|block| body.add(block, pictures));
    body.close();
    let Body { head, answer, main, contents, paints, .. } = body;
    let contents = match contents.is_empty() {
        true => String::new(),
        false => {
            format!(
                "<nav id=\"contents\" aria-label=\"Contents\"><h2>Contents</h2><ul>{contents}</ul></nav>\n"
            )
        }
    };
    let answer = match answer.is_empty() {
        true => String::new(),
        false => format!("<section id=\"answer\" aria-label=\"Answer\">{answer}</section>\n"),
    };
    let body = format!(
        "<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n<header id=\"head\">{head}</header>\n<main id=\"main\">\n\
         {answer}<section id=\"explore\" aria-label=\"Your own conditions\" hidden></section>\n{contents}{main}</main>\n"
    );
    (body, dark::rules(&paints))
}

impl Body {
    /// Where blocks go: title and question into the head, everything before the first part into the answer.
    fn out(&mut self) -> &mut String {
        match (self.is_open, self.answer.is_empty() && !self.head.contains("<p")) {
            (true, _) => &mut self.main,
            (false, true) => &mut self.head,
            (false, false) => &mut self.answer,
        }
    }

    fn close(&mut self) {
        if self.is_open {
            self.main.push_str("</section>\n");
        }
    }

    fn add(&mut self, block: &Block, pictures: &[Picture]) {
        match block {
            Block::Heading(1, title) => self.head.push_str(&format!("<h1>{}</h1>\n", safe(title))),
            Block::Heading(2, title) => self.part(title),
            Block::Heading(level, title) => {
                let line = format!("<h{level}>{}</h{level}>\n", safe(title));
                self.out().push_str(&line);
            }
            Block::Answer(sentences) => {
                let sentence = |(at, of): (usize, &String)| {
                    let class = if at == 0 { " class=\"lead\"" } else { "" };
                    format!("<p{class}>{}</p>\n", safe(of))
                };
                let all: String = sentences.iter().enumerate().map(sentence).collect();
                self.answer.push_str(&all);
            }
            Block::Text(of) => {
                let line = format!("<p>{}</p>\n", safe(of));
                self.out().push_str(&line);
            }
            Block::Remark(of) if of.is_empty() => {}
            Block::Remark(of) => {
                let line = format!("<p class=\"remark\">{}</p>\n", safe(of));
                self.out().push_str(&line);
            }
            Block::Steps(steps) => {
                let items: String = steps.iter().map(|step| format!("<li>{}</li>\n", safe(step))).collect();
                self.out().push_str(&format!("<ol>\n{items}</ol>\n"));
            }
            Block::Points(points) => {
                let items: String = points.iter().map(point).collect();
                self.out().push_str(&format!("<ul class=\"points\">\n{items}</ul>\n"));
            }
            Block::Table(grid) => {
                self.tables += 1;
                // The answer has what is most important; the parts have every column.
                let columns = if self.is_open { Columns::All } else { Columns::Few };
                let table = table(grid, self.tables, &columns);
                self.out().push_str(&table);
            }
            Block::Literal(lines) => {
                let lines: Vec<String> = lines.lines().map(safe).collect();
                let line = format!("<pre class=\"literal\"><code>{}</code></pre>\n", lines.join("\n"));
                self.out().push_str(&line);
            }
            Block::Charts(group) => self.pictures(pictures, Some(*group)),
            Block::StudyCharts => self.pictures(pictures, None),
        }
    }

    /// Opens a part, and names it in the contents.
    fn part(&mut self, title: &str) {
        self.close();
        self.parts += 1;
        let id = format!("part-{}-{}", self.parts, slug(title));
        let title = safe(title);
        self.contents.push_str(&format!("<li><a href=\"#{id}\">{title}</a></li>\n"));
        self.main.push_str(&format!("<section class=\"part\" id=\"{id}\">\n<h2>{title}</h2>\n"));
        self.is_open = true;
    }

    fn pictures(&mut self, pictures: &[Picture], group: Option<usize>) {
        for picture in pictures.iter().filter(|picture| picture.group == group) {
            let about = safe(&picture.about);
            let svg = picture.chart.svg();
            // The file starts with a declaration that has no place inside a page.
            let svg = svg.find("<svg").map_or("", |at| &svg[at..]);
            self.paints.extend(dark::colors(svg));
            let figure = format!(
                "<figure class=\"chart\">\n{svg}<figcaption>{about}. The figures are in the tables.</figcaption>\n</figure>\n"
            );
            self.out().push_str(&figure);
        }
    }
}

fn point((what, remedy): &(String, Option<String>)) -> String {
    let remedy = remedy.as_deref().map(|remedy| format!(" <span class=\"remedy\">→ {}</span>", safe(remedy)));
    format!("<li>{}{}</li>\n", safe(what), remedy.unwrap_or_default())
}

/// A table in a box of its own that scrolls.
fn table(grid: &Grid, number: usize, wanted: &Columns) -> String {
    let (mut shown, _) = grid.chosen(wanted);
    // A column that says nothing takes room from the others.
    shown.retain(|index| grid.texts(*index).iter().any(|text| !text.trim().is_empty()));
    if shown.is_empty() {
        return String::new();
    }
    let columns: Vec<_> = shown.iter().map(|index| &grid.columns[*index]).collect();
    let texts: Vec<_> = shown.iter().map(|index| grid.texts(*index)).collect();
    let class = |column: &crate::table::Column| match (column.kind.is_right(), column.role) {
        (true, _) => " class=\"number\"",
        (false, Role::Note) => " class=\"note\"",
        (false, _) => "",
    };
    let head = |column: &&crate::table::Column| {
        let about = match column.about {
            "" => String::new(),
            about => format!(" title=\"{}\"", escape(about)),
        };
        let unit = match column.unit.as_str() {
            "" => String::new(),
            unit => format!(" <span class=\"unit\">{}</span>", safe(unit)),
        };
        format!("<th scope=\"col\"{}{about}>{}{unit}</th>", class(column), safe(column.name))
    };
    let heads: String = columns.iter().map(head).collect();
    let named = columns.iter().position(|column| column.role == Role::Factor);
    let mut rows = String::new();
    for (row, (tone, _)) in grid.rows.iter().enumerate() {
        let is_recommended = named.is_some_and(|at| texts[at][row].starts_with(RECOMMENDED));
        let tone = match (is_recommended, tone) {
            (true, _) => " class=\"best\"",
            (false, Tone::Strong) => " class=\"strong\"",
            (false, Tone::Dim) => " class=\"dim\"",
            (false, Tone::Plain) => "",
        };
        let cell = |(at, (column, texts)): (usize, (&&crate::table::Column, &Vec<String>))| {
            let content = safe(texts[row].trim());
            match Some(at) == named {
                true => format!("<th scope=\"row\">{content}</th>"),
                false => format!("<td{}>{content}</td>", class(column)),
            }
        };
        let cells: String = columns.iter().zip(&texts).enumerate().map(cell).collect();
        rows.push_str(&format!("<tr{tone}>{cells}</tr>\n"));
    }
    let legend: String = grid
        .legend(&shown)
        .iter()
        .map(|(name, about)| format!("<dt>{}</dt><dd>{}</dd>\n", safe(name), safe(about)))
        .collect();
    let legend = match legend.is_empty() {
        true => String::new(),
        false => format!(
            "<details class=\"legend\"><summary>What the columns mean</summary><dl>{legend}</dl></details>\n"
        ),
    };
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Table {number}\" tabindex=\"0\"><table class=\"grid\">\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{legend}"
    )
}

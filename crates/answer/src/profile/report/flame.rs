//! The flame graph: call paths from the bottom, with widths in proportion to costs. Drawn by inferno, which makes it
//! zoomable and searchable in a browser. Colours distinguish the script's own functions from PHP's, and follow the
//! reader's light or dark setting.

use anyhow::{Context, Result};
use inferno::flamegraph::color::{BackgroundColor, BasicPalette, Color, Palette, PaletteMap};
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};

use super::amount;
use crate::flame::{Kind, kind};
use crate::text::{clean, shorten};
use weigh_model::profile::{Function, Profile, Unit};

/// Percent of the width below which a frame is left out.
const LEAST: f64 = 0.05;
/// Columns of the title and of a frame's name at most.
const TITLE: usize = 90;
const NAME: usize = 300;

/// The name by which inferno asks for the colour of the frame below all others.
const ALL: &str = "";

/// Text is legible also with a dark screen.
const STYLE: &str = "#subtitle { fill:#6b6b6b; }
#search { opacity:0.6; }
@media (prefers-color-scheme: dark) {
  stop { stop-color:#15181e; }
  #title, #details, #search, #matched, #unzoom { fill:#eceff4; }
  #subtitle { fill:#a3abb8; }
}
";

/// The picture; none without costs.
///
/// # Errors
/// It cannot be drawn.
pub fn svg(name: &str, profile: &Profile) -> Result<Option<String>> {
    let names: Vec<String> = profile.functions.iter().map(frame).collect();
    // Nanoseconds would be hard to read.
    let (factor, unit) = match &profile.unit {
        Unit::Nanoseconds => (1e-3, "µs".to_owned()),
        Unit::Samples => (1.0, "samples".to_owned()),
        Unit::Event(event) => (1.0, clean(event)),
    };
    let nodes = profile.stacks.nodes().iter().enumerate().filter(|(_, node)| node.own.amount > 0);
    let mut lines: Vec<String> = nodes
        .map(|(at, node)| {
            let path = profile.stacks.path(at as u32);
            let path: Vec<&str> = path.iter().map(|function| names[*function as usize].as_str()).collect();
            format!("{} {}", path.join(";"), node.own.amount)
        })
        .collect();
    if lines.is_empty() {
        return Ok(None);
    }
    lines.sort_unstable();
    let mut colours = PaletteMap::default();
    colours.insert(ALL, Color::new(0xd8, 0xd4, 0xce));
    for (function, name) in profile.functions.iter().zip(&names) {
        colours.insert(name, colour(function));
    }
    let mut options = Options::default();
    options.title = shorten(&clean(name), TITLE);
    options.subtitle = Some(subtitle(profile));
    options.count_name = unit;
    options.factor = factor;
    options.colors = Palette::Basic(BasicPalette::Orange);
    options.bgcolors = Some(BackgroundColor::Flat(Color::new(0xff, 0xff, 0xff)));
    options.palette_map = Some(&mut colours);
    options.frame_height = 18;
    options.min_width = LEAST;
    options.text_truncate_direction = TextTruncateDirection::Left;
    options.no_sort = true;
    let mut svg = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .context("drawing the flame graph")?;
    let svg = String::from_utf8(svg).context("drawing the flame graph")?;
    Ok(Some(svg.replacen("</style>", &format!("{STYLE}</style>"), 1)))
}

fn subtitle(profile: &Profile) -> String {
    let mut parts = vec![amount(profile.total.amount, &profile.unit), "orange: the script's own".into()];
    parts.push("blue: PHP's own functions".into());
    if profile.stacks.is_guessed() {
        parts.push("call paths estimated from sums".into());
    }
    if profile.stacks.is_folded() {
        parts.push("the deepest paths are left out".into());
    }
    parts.join(" · ")
}

/// A name without characters that separate frames.
fn frame(function: &Function) -> String {
    let name = shorten(&clean(&function.name), NAME).replace(';', ":");
    if name.trim().is_empty() { "(no name)".into() } else { name }
}

/// The kind of a function in its hue, each name in a shade of its own.
fn colour(function: &Function) -> Color {
    let name = function.name.as_str();
    let (base, span): ([u8; 3], [u8; 3]) = match kind(function) {
        Kind::Php => ([126, 176, 222], [34, 26, 20]),
        Kind::File => ([196, 190, 182], [22, 22, 22]),
        Kind::Own => ([236, 140, 60], [14, 62, 40]),
    };
    let shade = crc32fast::hash(name.as_bytes()) % 256;
    let channel = |at: usize| base[at].saturating_add((u32::from(span[at]) * shade / 255) as u8);
    Color::new(channel(0), channel(1), channel(2))
}

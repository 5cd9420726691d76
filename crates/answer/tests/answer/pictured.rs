//! What holds for every picture: texts are whole, apart, on the sheet and beside the axes; they can be read on what they stand on; what is drawn
//! fills the canvas. Used by the tests of this crate and of its rooms.

use resvg::tiny_skia::{Pixmap, Rect};
use resvg::usvg::roxmltree::{Document as Xml, Node as Element};
use resvg::usvg::{Group, Node, Options as Reading, Tree};
use weigh_answer::format::png::fonts;

use weigh_answer::output::Rendered;

/// Elements that charts are made of.
const DRAWN: [&str; 9] = ["svg", "title", "desc", "text", "polyline", "polygon", "line", "rect", "circle"];
/// No picture is higher.
const HIGHEST: f32 = 1000.0;
/// The contrast that WCAG 2.2 asks for (level AA).
const READABLE: f64 = 4.5;
/// Pixels from one text or mark down to the next, at most.
const BLANK: f32 = 90.0;
/// The share of a plot's height that its marks reach over at least.
const FILLED: f32 = 0.4;
/// Grid lines.
const GRID: &str = "#e2e5ea";

/// A chart is XML of nothing but shapes and texts.
pub fn is_well_formed(chart: &Rendered) {
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let xml = Xml::parse(svg).unwrap_or_else(|error| panic!("{}: {error}", chart.file_name));
    let mut nodes = xml.descendants();
    let odd = nodes.find(|node| node.is_element() && !DRAWN.contains(&node.tag_name().name()));
    assert!(odd.is_none(), "{}: {odd:?}", chart.file_name);
}

/// A picture has its size, and is not blank.
#[allow(dead_code, reason = "of the two that use this file one has no pixels")]
pub fn is_inked(picture: &Rendered) {
    let pixels = Pixmap::decode_png(&picture.bytes).unwrap();
    assert!(pixels.width() == 1200 && pixels.height() as f32 <= HIGHEST);
    let inked = pixels.pixels().iter().filter(|pixel| pixel.red() < 200).count();
    assert!(inked > 3_000, "{}: only {inked} dark pixels", picture.file_name);
}

/// Everything that is to be seen of a text.
pub fn is_readable(report: &str, chart: &Rendered) {
    let name = &format!("{report}/{}", chart.file_name);
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let xml = Xml::parse(svg).unwrap();
    let tree = Tree::from_str(svg, &Reading { fontdb: fonts(), ..Reading::default() }).unwrap();
    let mut boxes = Vec::new();
    texts_of(tree.root(), &mut boxes);
    let texts: Vec<Element> = named(&xml, "text").collect();
    assert!(boxes.len() > 8 && boxes.len() == texts.len(), "{name}: texts are there");
    are_apart(name, &boxes, (tree.size().width(), tree.size().height()));
    for (text, own) in texts.iter().zip(&boxes) {
        let words = text.text().unwrap_or_default();
        are_axes_clear(name, &xml, words, own);
        let contrast = contrast(color(*text, "fill"), below(&xml, *text, own));
        assert!(contrast >= READABLE, "{name}: {words} has a contrast of {contrast:.2}");
    }
    is_full(name, &xml, &boxes, tree.size().height());
}

fn texts_of(group: &Group, boxes: &mut Vec<Rect>) {
    for node in group.children() {
        match node {
            Node::Text(text) => boxes.push(text.abs_bounding_box()),
            Node::Group(group) => texts_of(group, boxes),
            _ => {}
        }
    }
}

fn named<'a>(xml: &'a Xml, name: &'static str) -> impl Iterator<Item = Element<'a, 'a>> {
    xml.descendants().filter(move |node| node.tag_name().name() == name)
}

/// Texts stay on the sheet and do not cover each other.
fn are_apart(name: &str, boxes: &[Rect], (width, height): (f32, f32)) {
    assert!(width == 1200.0 && height <= HIGHEST, "{name}: {width} × {height}");
    for (index, one) in boxes.iter().enumerate() {
        let inside = one.left() >= 0.0 && one.right() <= width && one.top() >= 0.0 && one.bottom() <= height;
        assert!(inside, "{name}: {one:?}");
        for other in &boxes[..index] {
            let wide = one.right().min(other.right()) - one.left().max(other.left());
            let high = one.bottom().min(other.bottom()) - one.top().max(other.top());
            assert!(wide < 2.0 || high < 8.0, "{name}: {one:?} {other:?}");
        }
    }
}

/// The points of an axis' corner: down at the left, then to the right.
fn frames(xml: &Xml) -> Vec<[(f32, f32); 3]> {
    let points = named(xml, "polyline").filter(|line| line.attribute("stroke") != Some(GRID)).map(points);
    let corners = points.filter_map(|points| <[(f32, f32); 3]>::try_from(points).ok());
    corners.filter(|[a, b, c]| a.0 == b.0 && b.1 == c.1 && a.1 < b.1 && c.0 > b.0 + 100.0).collect()
}

fn points(line: Element) -> Vec<(f32, f32)> {
    let all = line.attribute("points").unwrap_or_default().split_whitespace();
    all.map(|point| point.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap())
        .collect()
}

/// No text lies across an axis.
fn are_axes_clear(name: &str, xml: &Xml, words: &str, own: &Rect) {
    for [top, corner, end] in frames(xml) {
        let beside = own.bottom() < top.1 || own.top() > corner.1;
        let across = own.left() < corner.0 - 0.5 && own.right() > corner.0 + 0.5;
        assert!(beside || !across, "{name}: {words} lies across the axis at the left");
        let beside = own.right() < corner.0 || own.left() > end.0;
        let across = own.top() < corner.1 - 4.0 && own.bottom() > corner.1 + 4.0;
        assert!(beside || !across, "{name}: {words} lies across the axis below");
    }
}

type Rgb = [f64; 3];

fn color(node: Element, attribute: &str) -> Rgb {
    let text = node.attribute(attribute).unwrap();
    let part = |at: usize| f64::from(u8::from_str_radix(&text[at..at + 2], 16).unwrap());
    [part(1), part(3), part(5)]
}

/// What a text stands on: all rectangles before it that hold its middle, one over the other.
fn below(xml: &Xml, text: Element, own: &Rect) -> Rgb {
    let (x, y) = ((own.left() + own.right()) / 2.0, (own.top() + own.bottom()) / 2.0);
    let mut under = [255.0; 3];
    for rect in named(xml, "rect").take_while(|rect| rect.range().start < text.range().start) {
        let of = |attribute: &str| rect.attribute(attribute).map_or(0.0, |text| text.parse::<f32>().unwrap());
        let holds =
            (of("x")..of("x") + of("width")).contains(&x) && (of("y")..of("y") + of("height")).contains(&y);
        if holds {
            let opacity: f64 = rect.attribute("opacity").map_or(1.0, |text| text.parse().unwrap());
            let over = color(rect, "fill");
            under = [0, 1, 2].map(|part| over[part] * opacity + under[part] * (1.0 - opacity));
        }
    }
    under
}

/// Relative luminance, as WCAG 2.2 defines it.
fn luminance(color: Rgb) -> f64 {
    let [red, green, blue] = color.map(|part| {
        let part = part / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Nowhere is a broad band without text or mark, and what is drawn between axes reaches over a good part of their height.
fn is_full(name: &str, xml: &Xml, texts: &[Rect], height: f32) {
    let number = |node: Element, attribute: &str| node.attribute(attribute).unwrap().parse::<f32>().unwrap();
    let dots = || named(xml, "circle").map(|dot| (number(dot, "cx"), number(dot, "cy")));
    let rects = named(xml, "rect")
        .skip(1)
        .map(|rect| (number(rect, "y"), number(rect, "y") + number(rect, "height")));
    let frames = frames(xml);
    let mut bands: Vec<(f32, f32)> =
        texts.iter().map(|text| (text.top(), text.bottom())).chain(rects).collect();
    bands.extend(frames.iter().map(|[top, corner, _]| (top.1, corner.1)));
    bands.push((height, height));
    bands.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut reached = 0.0;
    for (top, bottom) in bands {
        assert!(top - reached <= BLANK, "{name}: nothing from {reached} to {top}");
        reached = f32::max(reached, bottom);
    }
    for [top, corner, end] in frames {
        let inside = |(x, y): &(f32, f32)| (corner.0..=end.0).contains(x) && (top.1..=corner.1).contains(y);
        let lines = named(xml, "polyline").filter(|line| line.attribute("stroke") != Some(GRID)).map(points);
        let marks = lines.filter(|line| line.len() != 3 || line[1] != corner).flatten().chain(dots());
        let heights: Vec<f32> = marks.filter(inside).map(|(_, y)| y).collect();
        let reach =
            heights.iter().copied().fold(0.0, f32::max) - heights.iter().copied().fold(f32::MAX, f32::min);
        assert!(
            reach >= FILLED * (corner.1 - top.1),
            "{name}: marks reach over {reach} of {}",
            corner.1 - top.1
        );
    }
}

/// A longer wait has a darker field, however it is written: in the legend, and in every field.
#[allow(dead_code, reason = "of the two that use this file one has no such picture")]
pub fn are_waits_sequential(chart: &Rendered) {
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let xml = Xml::parse(svg).unwrap();
    let tree = Tree::from_str(svg, &Reading { fontdb: fonts(), ..Reading::default() }).unwrap();
    let mut boxes = Vec::new();
    texts_of(tree.root(), &mut boxes);
    let mut waits: Vec<(f64, f64)> = Vec::new();
    for (text, own) in named(&xml, "text").zip(&boxes) {
        let words = text.text().unwrap_or_default().trim_start_matches("> ");
        let seconds = words.split_once(' ').and_then(|(number, unit)| {
            let unit =
                [("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)].into_iter().find(|(name, _)| *name == unit)?.1;
            Some(number.replace(',', "").parse::<f64>().ok()? * unit)
        });
        waits.extend(seconds.map(|seconds| (seconds, luminance(below(&xml, text, own)))));
    }
    waits.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(waits.len() > 4 && waits[0].1 > waits[waits.len() - 1].1, "{waits:?}");
    assert!(waits.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{waits:?}");
}

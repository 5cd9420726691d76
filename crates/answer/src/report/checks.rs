//! What tests of every kind of report ask of its files.

use resvg::tiny_skia::{Pixmap, Rect};
use resvg::usvg::roxmltree::Document as Xml;
use resvg::usvg::{Group, Node, Options as Reading, Tree};

use super::{Rendered, chart};

/// Elements that charts are made of.
const DRAWN: [&str; 8] = ["svg", "title", "text", "polyline", "polygon", "line", "rect", "circle"];

/// A chart is XML of nothing but shapes and texts.
pub(super) fn is_well_formed(chart: &Rendered) {
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let xml = Xml::parse(svg).unwrap_or_else(|error| panic!("{}: {error}", chart.file_name));
    let mut nodes = xml.descendants();
    let odd = nodes.find(|node| node.is_element() && !DRAWN.contains(&node.tag_name().name()));
    assert!(odd.is_none(), "{}: {odd:?}", chart.file_name);
}

/// A picture has its size, and is not blank.
pub(super) fn is_inked(picture: &Rendered) {
    let pixels = Pixmap::decode_png(&picture.bytes).unwrap();
    assert_eq!((pixels.width(), pixels.height()), (1200, 750));
    let inked = pixels.pixels().iter().filter(|pixel| pixel.red() < 200).count();
    assert!(inked > 5_000, "{}: only {inked} dark pixels", picture.file_name);
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

/// The texts of a chart stay on the sheet and do not cover each other.
pub(super) fn are_texts_apart(chart: &Rendered) {
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let reading = Reading { fontdb: chart::fonts(), ..Reading::default() };
    let tree = Tree::from_str(svg, &reading).unwrap();
    let mut boxes = Vec::new();
    texts_of(tree.root(), &mut boxes);
    for (index, one) in boxes.iter().enumerate() {
        let inside = one.left() >= 0.0 && one.right() <= 1200.0 && one.top() >= 0.0 && one.bottom() <= 750.0;
        assert!(inside, "{}: {one:?}", chart.file_name);
        for other in &boxes[..index] {
            let wide = one.right().min(other.right()) - one.left().max(other.left());
            let high = one.bottom().min(other.bottom()) - one.top().max(other.top());
            assert!(wide < 2.0 || high < 8.0, "{}: {one:?} {other:?}", chart.file_name);
        }
    }
}

/// Files have names that every file system takes, each its own.
pub(super) fn have_plain_names(files: &[Rendered]) {
    let mut names: Vec<&str> = files.iter().map(|file| file.file_name.as_str()).collect();
    let is_plain =
        |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)) && name.len() < 120;
    assert!(names.iter().all(is_plain), "{names:?}");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}

//! Pictures of every invented report: well-formed, inked, their texts apart.

use resvg::tiny_skia::{Pixmap, Rect};
use resvg::usvg::roxmltree::Document as Xml;
use resvg::usvg::{Group, Node, Options as Reading, Tree};
use weigh_answer::format::png::fonts;
use weigh_answer::format::{Options, Rendered, named};
use weigh_answer::report::Report;

use crate::formats::{every, ordinary};

fn render(format: &str, report: &Report) -> Vec<Rendered> {
    named(format).unwrap().render(report, &Options::default()).unwrap()
}

/// Elements that charts are made of.
const DRAWN: [&str; 9] = ["svg", "title", "desc", "text", "polyline", "polygon", "line", "rect", "circle"];

/// A chart is XML of nothing but shapes and texts.
fn is_well_formed(chart: &Rendered) {
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let xml = Xml::parse(svg).unwrap_or_else(|error| panic!("{}: {error}", chart.file_name));
    let mut nodes = xml.descendants();
    let odd = nodes.find(|node| node.is_element() && !DRAWN.contains(&node.tag_name().name()));
    assert!(odd.is_none(), "{}: {odd:?}", chart.file_name);
}

/// A picture has its size, and is not blank.
fn is_inked(picture: &Rendered) {
    let pixels = Pixmap::decode_png(&picture.bytes).unwrap();
    assert!(pixels.width() == 1200 && pixels.height() <= 750);
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
fn are_texts_apart(chart: &Rendered) {
    let svg = std::str::from_utf8(&chart.bytes).unwrap();
    let reading = Reading { fontdb: fonts(), ..Reading::default() };
    let tree = Tree::from_str(svg, &reading).unwrap();
    let mut boxes = Vec::new();
    texts_of(tree.root(), &mut boxes);
    assert!(boxes.len() > 8, "{}: texts are there", chart.file_name);
    let (width, height) = (tree.size().width(), tree.size().height());
    assert!(width == 1200.0 && height <= 750.0, "{}: {width} × {height}", chart.file_name);
    for (index, one) in boxes.iter().enumerate() {
        let inside = one.left() >= 0.0 && one.right() <= width && one.top() >= 0.0 && one.bottom() <= height;
        assert!(inside, "{}: {one:?}", chart.file_name);
        for other in &boxes[..index] {
            let wide = one.right().min(other.right()) - one.left().max(other.left());
            let high = one.bottom().min(other.bottom()) - one.top().max(other.top());
            assert!(wide < 2.0 || high < 8.0, "{}: {one:?} {other:?}", chart.file_name);
        }
    }
}

#[test]
fn charts_are_well_formed_and_keep_hostile_names_as_text() {
    for (name, report) in every() {
        for chart in render("svg", &report) {
            is_well_formed(&chart);
            let svg = String::from_utf8(chart.bytes).unwrap();
            let xml = Xml::parse(&svg).unwrap_or_else(|error| panic!("{name}/{}: {error}", chart.file_name));
            assert_eq!(xml.root_element().attribute("width"), Some("1200"));
            assert!(name != "hostile" || !svg.contains("<script"), "{}", chart.file_name);
        }
    }
}

#[test]
fn texts_of_a_chart_stay_on_the_sheet_and_apart() {
    for (_, report) in every() {
        render("svg", &report).iter().for_each(are_texts_apart);
    }
}

#[test]
fn pictures_decode_and_are_not_blank() {
    for (name, report) in every() {
        for chart in render("png", &report) {
            is_inked(&chart);
            let picture = Pixmap::decode_png(&chart.bytes).unwrap();
            // Text is drawn, so the font was found: the title's line has ink.
            let title =
                picture.pixels()[1200 * 30..1200 * 55].iter().filter(|pixel| pixel.red() < 100).count();
            assert!(title > 500, "{name}/{}: the title has {title} dark pixels", chart.file_name);
        }
    }
}

#[test]
fn odd_figures_do_not_break_a_chart() {
    let mut report = ordinary();
    let all = render("svg", &report).len();
    let links = report.exhibits.links.as_mut().unwrap();
    for totals in links.groups.iter_mut().flat_map(|group| &mut group.mixes).flat_map(|mix| &mut mix.totals) {
        (totals.at[0].2, totals.at[1].3) = (Some(0.0), Some(f64::INFINITY));
    }
    let daily = links.groups[0].mixes.iter_mut().find(|mix| format!("{:?}", mix.mix).contains("10.0"));
    daily.unwrap().totals[0].at[0].1 = f64::NAN;
    report.rows[3].values.get_mut("encoded-bytes").unwrap().value = 0.0;
    report.rows[4].values.values_mut().for_each(|estimate| estimate.value = 0.0);
    let charts = render("svg", &report);
    assert_eq!(charts.len(), all - 1, "the links of one group cannot be drawn");
    for chart in charts {
        let svg = String::from_utf8(chart.bytes).unwrap();
        let far = |number: &str| number.parse::<f64>().is_ok_and(|number| number.abs() > 1500.0);
        let xml = Xml::parse(&svg).unwrap();
        let points = xml.descendants().filter_map(|node| node.attribute("points"));
        assert!(!points.flat_map(|points| points.split([' ', ','])).any(far), "{}", chart.file_name);
    }
    render("terminal", &report);
}

#[test]
fn the_page_links_to_every_picture_and_synthetic_content_is_labelled() {
    let report = ordinary();
    let page = String::from_utf8(render("markdown", &report).remove(0).bytes).unwrap();
    let charts = render("svg", &report);
    assert_eq!(charts.len(), 7);
    for chart in charts {
        assert!(page.contains(&format!("]({})", chart.file_name)), "{}", chart.file_name);
        let svg = String::from_utf8(chart.bytes).unwrap();
        assert_eq!(
            svg.contains("SYNTHETIC content"),
            chart.file_name.contains("rows-1k"),
            "{}",
            chart.file_name
        );
    }
}

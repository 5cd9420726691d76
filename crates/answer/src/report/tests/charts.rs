//! Charts and pictures.

use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::Document as Xml;

use super::*;

#[test]
fn charts_are_well_formed_and_keep_hostile_names_as_text() {
    for (name, analysis) in every() {
        for chart in render("svg", &analysis, &Options::default()) {
            let svg = String::from_utf8(chart.bytes).unwrap();
            let xml = Xml::parse(&svg).unwrap_or_else(|error| panic!("{name}/{}: {error}", chart.file_name));
            let allowed = ["svg", "title", "text", "polyline", "polygon", "line", "rect", "circle"];
            let odd = xml
                .descendants()
                .find(|node| node.is_element() && !allowed.contains(&node.tag_name().name()));
            assert!(odd.is_none(), "{name}: {odd:?}");
            assert_eq!(xml.root_element().attribute("width"), Some("1200"));
            if name == "hostile" {
                let title =
                    xml.descendants().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")));
                assert!(title.unwrap().text().unwrap().contains("</text><script>a"));
            }
        }
    }
}

fn texts_of(group: &resvg::usvg::Group, boxes: &mut Vec<resvg::tiny_skia::Rect>) {
    for node in group.children() {
        match node {
            resvg::usvg::Node::Text(text) => boxes.push(text.abs_bounding_box()),
            resvg::usvg::Node::Group(group) => texts_of(group, boxes),
            _ => {}
        }
    }
}

#[test]
fn texts_of_a_chart_stay_on_the_sheet_and_apart() {
    for (name, analysis) in every() {
        for chart in render("svg", &analysis, &Options::default()) {
            let svg = String::from_utf8(chart.bytes).unwrap();
            let reading = resvg::usvg::Options { fontdb: chart::fonts(), ..Default::default() };
            let tree = resvg::usvg::Tree::from_str(&svg, &reading).unwrap();
            let mut boxes = Vec::new();
            texts_of(tree.root(), &mut boxes);
            assert!(boxes.len() > 8, "{name}: texts are there");
            for (index, one) in boxes.iter().enumerate() {
                let inside =
                    one.left() >= 0.0 && one.right() <= 1200.0 && one.top() >= 0.0 && one.bottom() <= 750.0;
                assert!(inside, "{name}/{}: {one:?}", chart.file_name);
                for other in &boxes[..index] {
                    let wide = one.right().min(other.right()) - one.left().max(other.left());
                    let high = one.bottom().min(other.bottom()) - one.top().max(other.top());
                    assert!(wide < 2.0 || high < 8.0, "{name}/{}: {one:?} {other:?}", chart.file_name);
                }
            }
        }
    }
}

#[test]
fn pictures_decode_and_are_not_blank() {
    for (name, analysis) in every() {
        for chart in render("png", &analysis, &Options::default()) {
            let picture = Pixmap::decode_png(&chart.bytes).unwrap();
            assert_eq!((picture.width(), picture.height()), (1200, 750));
            let inked = picture.pixels().iter().filter(|pixel| pixel.red() < 200).count();
            assert!(inked > 5_000, "{name}/{}: only {inked} dark pixels", chart.file_name);
            // Text is drawn, so the font was found: the title's line has ink.
            let title =
                picture.pixels()[1200 * 30..1200 * 55].iter().filter(|pixel| pixel.red() < 100).count();
            assert!(title > 500, "{name}/{}: the title has {title} dark pixels", chart.file_name);
        }
    }
}

#[test]
fn odd_figures_do_not_break_a_chart() {
    let mut analysis = fixture::analysis();
    for totals in
        analysis.groups.iter_mut().flat_map(|group| &mut group.links).flat_map(|mix| &mut mix.totals)
    {
        (totals.at[0].2, totals.at[1].3) = (0.0, f64::INFINITY);
    }
    analysis.groups[0].links[2].totals[0].at[0].1 = f64::NAN;
    analysis.cells[3].encoded_bytes = 0;
    let lines = analysis.cells[4].phases.values_mut();
    lines.for_each(|estimate| estimate.cpu = 0.0);
    let charts = render("svg", &analysis, &Options::default());
    assert_eq!(charts.len(), 6, "the links of one group cannot be drawn");
    for chart in charts {
        let svg = String::from_utf8(chart.bytes).unwrap();
        let far = |number: &str| number.parse::<f64>().is_ok_and(|number| number.abs() > 6000.0);
        let xml = Xml::parse(&svg).unwrap();
        let points = xml.descendants().filter_map(|node| node.attribute("points"));
        assert!(!points.flat_map(|points| points.split([' ', ','])).any(far), "{}", chart.file_name);
    }
    render("terminal", &analysis, &Options::default());
}

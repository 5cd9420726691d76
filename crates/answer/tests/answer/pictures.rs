//! Pictures of every invented and stored report: well-formed, inked, their texts apart.

use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::Document as Xml;
use weigh_answer::format::named;
use weigh_answer::report::Report;

use crate::formats::ordinary;
use crate::pictured;
use weigh_answer::output::{Options, Rendered};

/// The invented reports and the stored ones.
fn every() -> Vec<(&'static str, Report)> {
    let stored = crate::stored::RUNS.map(|run| (run, crate::stored::report(run)));
    crate::formats::every().into_iter().chain(stored).collect()
}

fn render(format: &str, report: &Report) -> Vec<Rendered> {
    named(format).unwrap().render(report, &Options::default()).unwrap()
}

#[test]
fn charts_are_well_formed_and_keep_hostile_names_as_text() {
    for (name, report) in every() {
        for chart in render("svg", &report) {
            pictured::is_well_formed(&chart);
            let svg = String::from_utf8(chart.bytes).unwrap();
            let xml = Xml::parse(&svg).unwrap_or_else(|error| panic!("{name}/{}: {error}", chart.file_name));
            assert_eq!(xml.root_element().attribute("width"), Some("1200"));
            assert!(name != "hostile" || !svg.contains("<script"), "{}", chart.file_name);
        }
    }
}

#[test]
fn texts_of_a_chart_can_be_read_and_no_chart_is_half_empty() {
    for (name, report) in every() {
        render("svg", &report).iter().for_each(|chart| pictured::is_readable(name, chart));
    }
}

/// A front of which one setting alone is worth considering is not beaten by it.
#[test]
fn a_title_says_beats_only_of_a_front_of_one() {
    for (name, report) in every() {
        for chart in render("svg", &report).iter().filter(|chart| chart.file_name.starts_with("tradeoff")) {
            let svg = std::str::from_utf8(&chart.bytes).unwrap();
            let title = svg.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
            let place: usize = chart.file_name.split('-').nth(1).unwrap().parse().unwrap();
            let front = report.groups[place - 1]
                .front
                .iter()
                .filter(|id| !id.contains("identity") && !id.contains("none"));
            assert!(!title.contains(" beats ") || front.count() == 1, "{name}/{}: {title}", chart.file_name);
        }
    }
}

#[test]
fn pictures_decode_and_are_not_blank() {
    for (name, report) in every() {
        for chart in render("png", &report) {
            pictured::is_inked(&chart);
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
    assert_eq!(charts.len(), 6);
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

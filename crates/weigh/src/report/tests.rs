//! Every format on invented analyses: ordinary, crowded, tiny and hostile ones.

use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::Document as Xml;

use super::text::columns;
use super::*;

fn render(name: &str, analysis: &Analysis, options: &Options) -> Vec<Rendered> {
    format(name).unwrap().render(analysis, options).unwrap()
}

fn text(name: &str, analysis: &Analysis, options: &Options) -> String {
    String::from_utf8(render(name, analysis, options).remove(0).bytes).unwrap()
}

fn sized(width: usize, detail: Detail) -> Options {
    Options { width, detail, ..Options::default() }
}

fn every() -> Vec<(&'static str, Analysis)> {
    let two = [("zlib:6", 18.0, 323.0, 32.4), ("zstd:3", 158.0, 1012.0, 31.2)];
    let mut together = fixture::analysis();
    let name = together.payloads[0].name.clone();
    for cell in &mut together.cells {
        (cell.cell.payload, cell.cell.runtime) = (name.clone(), "native".into());
    }
    together.groups.truncate(1);
    let long = "assets/".repeat(30) + "a-very-long-name-of-a-file.min.js";
    vec![
        ("ordinary", fixture::analysis()),
        ("crowd", fixture::crowd()),
        ("two", fixture::small("two.html", "html", fixture::corpus("two"), &two)),
        ("one", fixture::small("one.html", "html", fixture::corpus("one"), &two[..1])),
        ("together", together),
        ("long", fixture::small(&long, "js", fixture::corpus("long"), &two)),
        ("hostile", fixture::hostile()),
    ]
}

#[test]
fn show() {
    for (name, analysis) in every() {
        for format in ["png", "svg"] {
            for file in render(format, &analysis, &Options::default()) {
                std::fs::create_dir_all("/tmp/show").unwrap();
                std::fs::write(format!("/tmp/show/{name}-{}", file.file_name), file.bytes).unwrap();
            }
        }
    }
    for width in [80, 100, 160] {
        for (which, detail) in [("sum", Detail::Summary), ("full", Detail::Full)] {
            std::fs::write(
                format!("/tmp/show/term-{width}-{which}.txt"),
                text("terminal", &fixture::analysis(), &sized(width, detail)),
            )
            .unwrap();
        }
    }
    std::fs::write("/tmp/show/report.md", text("markdown", &fixture::analysis(), &sized(80, Detail::Full)))
        .unwrap();
    std::fs::write("/tmp/show/hostile.md", text("markdown", &fixture::hostile(), &sized(80, Detail::Full)))
        .unwrap();
}

use super::*;
use crate::table::{Column, Grid, Kind, Tone};

const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{0}";

fn hostile_blocks() -> Vec<Block> {
    let mut grid = Grid::new(vec![
        Column::factor("name", HOSTILE, Kind::Text),
        Column::new("time", "ms", Kind::Three, 0),
    ]);
    grid.push(Tone::Strong, vec![HOSTILE.into(), 1.5.into()]);
    vec![
        Block::Heading(1, HOSTILE.into()),
        Block::Remark(HOSTILE.into()),
        Block::Answer(vec![HOSTILE.into(), HOSTILE.into()]),
        Block::Heading(2, HOSTILE.into()),
        Block::Heading(3, HOSTILE.into()),
        Block::Text(HOSTILE.into()),
        Block::Steps(vec![HOSTILE.into()]),
        Block::Points(vec![(HOSTILE.into(), Some(HOSTILE.into()))]),
        Block::Table(grid),
        Block::Literal(HOSTILE.into()),
    ]
}

#[test]
fn no_text_becomes_an_element() {
    let (body, _) = markup::body(&hostile_blocks(), &[]);
    assert!(!body.contains("<script") && !body.contains("<img") && !body.contains('\u{202e}'), "{body}");
    assert_eq!(body.matches("&lt;script&gt;alert(1)").count(), 14, "{body}");
    let data = json(&HOSTILE).unwrap();
    assert!(!data.contains('<'), "{data}");
    assert_eq!(serde_json::from_str::<String>(&data).unwrap(), HOSTILE);
}

#[test]
fn the_answer_comes_before_the_parts_and_every_part_is_in_the_contents() {
    let blocks = [
        Block::Heading(1, "Title".into()),
        Block::Remark("Question?".into()),
        Block::Answer(vec!["Do this.".into()]),
        Block::Remark("Measured.".into()),
        Block::Heading(2, "One".into()),
        Block::Text("a".into()),
        Block::Heading(2, "Two".into()),
    ];
    let (body, _) = markup::body(&blocks, &[]);
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text} is not in {body}"));
    let order = [
        "<h1>Title",
        "Question?",
        "id=\"answer\"",
        "Do this.",
        "Measured.",
        "id=\"explore\"",
        "<h2>One",
        ">a<",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{body}");
    assert!(body.contains("href=\"#part-2-two\"") && body.contains("id=\"part-2-two\""), "{body}");
    assert_eq!(body.matches("<section").count(), body.matches("</section>").count());
}

#[test]
fn a_page_loads_nothing_and_runs_only_its_own_program() {
    let policy = content_security_policy();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    let page = page(&hostile_blocks(), &[], None::<&()>);
    match is_built_in() {
        true => {
            let page = page.unwrap();
            assert!(page.contains(policy) && page.matches("<script").count() == 2);
        }
        false => assert!(page.unwrap_err().to_string().contains("make web")),
    }
}

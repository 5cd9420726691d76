use super::*;
use crate::block::{Step, Tile};
use crate::load_view::{LoadView, PicturedLoad, PicturedRequest};
use crate::table::{Column, Grid, Kind, Tone};

const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{0}";

fn hostile_blocks() -> Vec<Block> {
    let mut grid = Grid::new(vec![
        Column::factor("name", HOSTILE, Kind::Text),
        Column::new("time", "ms", Kind::Three, 0),
    ]);
    grid.push(Tone::Strong, vec![HOSTILE.into(), 1.5.into()]);
    let of = || HOSTILE.to_owned();
    let tile = Tile { name: of(), before: of(), after: of(), change: of(), is_better: None };
    let step =
        Step { text: of(), change: vec![of()], needs: vec![of()], install: vec![of()], deploy: Some(of()) };
    vec![
        Block::Heading(1, HOSTILE.into()),
        Block::Remark(HOSTILE.into()),
        Block::Answer(vec![HOSTILE.into(), HOSTILE.into()]),
        Block::Heading(2, HOSTILE.into()),
        Block::Heading(3, HOSTILE.into()),
        Block::Text(HOSTILE.into()),
        Block::Steps(vec![Step::new(HOSTILE)]),
        Block::Tiles(HOSTILE.into(), vec![tile]),
        Block::Steps(vec![step]),
        Block::Points(vec![(HOSTILE.into(), Some(HOSTILE.into()))]),
        Block::Table(grid),
        Block::Literal(HOSTILE.into()),
    ]
}

#[test]
fn no_text_becomes_an_element() {
    let (body, _) = markup::body(&hostile_blocks(), &[]);
    assert!(!body.contains("<script") && !body.contains("<img") && !body.contains('\u{202e}'), "{body}");
    assert_eq!(body.matches("&lt;script&gt;alert(1)").count(), 23, "{body}");
    let data = json(&HOSTILE).unwrap();
    assert!(!data.contains('<'), "{data}");
    assert_eq!(serde_json::from_str::<String>(&data).unwrap(), HOSTILE);
}

#[test]
fn the_answer_comes_first_then_failures_and_the_evidence_of_a_run_is_folded() {
    let blocks = [
        Block::Heading(1, "Title".into()),
        Block::Remark("Question?".into()),
        Block::Answer(vec!["Do this.".into(), "Settled.".into(), "It needs that.".into()]),
        Block::Remark("Measured.".into()),
        Block::Heading(2, "One".into()),
        Block::Text("a".into()),
        Block::StudyCharts,
        Block::Heading(2, "Failures".into()),
        Block::Points(vec![("b".into(), Some("c".into()))]),
    ];
    let (body, _) = markup::body(&blocks, &[]);
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text} is not in {body}"));
    let order = "<h1>Title|Question?|id=\"answer\"|Do this.|Settled.|id=\"tiles\"|It needs|Measured.|id=\"view\"|<h2>Failures|id=\"explore\"|<h2>One|>a<";
    let order: Vec<&str> = order.split('|').collect();
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{body}");
    assert!(body.contains("id=\"part-1-one\">"), "folded: {body}");
    assert_eq!(body.matches("<details").count(), body.matches("</details>").count());
    let (body, _) = markup::body(&blocks[..6], &[]);
    assert!(body.contains("id=\"part-1-one\" open>"), "no run: {body}");
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

#[test]
fn no_line_ends_within_a_flag() {
    let (body, _) = markup::body(&[Block::Text("Give --server-config <FILE>, or (--url).".into())], &[]);
    let text = "<p>Give <span class=\"flag\">--server-config</span> &lt;FILE&gt;, or <span class=\"flag\">(--url).</span></p>";
    assert!(body.contains(text), "{body}");
}

#[test]
fn loads_of_a_page_are_drawn_on_one_scale_and_hostile_paths_stay_text() {
    let request = |wanted_ms: f64, done_ms: f64| PicturedRequest {
        path: HOSTILE.into(),
        coding: HOSTILE.into(),
        bytes: 2_000.0,
        wanted_ms,
        first_byte_ms: (wanted_ms + done_ms) / 2.0,
        done_ms,
    };
    let side = |end_ms: f64| PicturedLoad {
        fcp_ms: end_ms / 2.0,
        lcp_ms: end_ms / 2.0,
        load_ms: end_ms,
        requests: vec![request(0.0, end_ms)],
        frames: vec![(end_ms / 2.0, "AAAA".into())],
    };
    let view = LoadView {
        title: HOSTILE.into(),
        names: [HOSTILE.into(), "B".into()],
        sides: [side(2000.0), side(1000.0)],
    };
    let (body, _) = markup::body(&[Block::Heading(2, "Loads".into()), Block::Loads(vec![view])], &[]);
    assert!(!body.contains("<script") && !body.contains("<img src=x"), "{body}");
    // What takes half as long as the longest is half as wide; the page can be seen at half of its load.
    assert!(body.contains("--fcp:50.00%;--lcp:50.00%;--load:100.00%"), "{body}");
    assert!(body.contains("--fcp:25.00%;--lcp:25.00%;--load:50.00%"), "{body}");
    assert_eq!(body.matches("left:50.00%;width:50.00%").count(), 1, "{body}");
    assert_eq!(
        (body.matches("data:image/jpeg;base64,AAAA").count(), body.matches("class=\"blank\"").count()),
        (5, 11)
    );
}

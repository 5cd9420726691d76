//! Studies as written: accepted, refused, and in their quick form.

use super::*;
use crate::study::block::in_form;

/// A study with these blocks.
macro_rules! study {
    ($blocks:literal) => {
        concat!("\nschema = 1\nname = \"mine\"\ntitle = \"T\"\nquestion = \"Q?\"\nreading = \"R\"\n", $blocks)
    };
}

const MINIMAL: &str = study!(
    r#"[[cells]]
content = ["value:rows-1k"]
runtimes = ["php"]
codecs = ["gzdeflate"]
"#
);

fn error(text: &str) -> String {
    format!("{:#}", Study::parse(text, "mine.toml").unwrap_err())
}

#[test]
fn a_minimal_study_has_defaults() {
    let study = Study::parse(MINIMAL, "mine.toml").unwrap();
    assert_eq!(study.cells[0].serializers, ["-"]);
    assert_eq!(study.precision.min_samples, 7);
    assert_eq!(in_form(&study.cells, true).len(), 1);
}

#[test]
fn unknown_keys_name_the_nearest() {
    let text = MINIMAL.replace("runtimes", "runtime");
    assert_eq!(error(&text), "mine.toml, line 9: unknown key `runtime`; did you mean `runtimes`?");
    let text = MINIMAL.replace("[[cells]]", "[[cell]]");
    assert_eq!(error(&text), "mine.toml, line 7: unknown key `cell`; did you mean `cells`?");
}

#[test]
fn nonsense_is_refused_in_one_line() {
    assert!(error("schema = 1\nname = \"x\"").contains("missing field"));
    assert!(error(&MINIMAL.replace("\"mine\"", "\"Mein Test\"")).contains("lower-case"));
    assert!(error(&MINIMAL.replace("schema = 1", "schema = 7")).contains("reads schema = 1"));
    assert!(error(&format!("{MINIMAL}\n[budget]\nseconds = 0")).contains("above zero"));
    assert!(error(&format!("{MINIMAL}\n[links]\nmbit=[100, 10]\nreads_per_write=[1]")).contains("ascending"));
    assert_eq!(error("schema = ").lines().count(), 1);
}

#[test]
fn the_quick_form_may_drop_or_change_blocks() {
    let dropped = Study::parse(&format!("{MINIMAL}quick = false\n"), "m").unwrap();
    assert!(in_form(&dropped.cells, true).is_empty());
    let changed =
        Study::parse(&format!("{MINIMAL}[cells.quick]\ncodecs = [\"gzdeflate:6\"]\n"), "m").unwrap();
    let quick = in_form(&changed.cells, true);
    assert_eq!(
        (quick[0].codecs.as_slice(), quick[0].content.as_slice()),
        (&["gzdeflate:6".to_owned()][..], &["value:rows-1k".to_owned()][..])
    );
}

const DELIVERED: &str = study!(
    r#"[[deliveries]]
subject = "page"
content = ["corpus:page-path"]
servers = ["*"]
runtimes = ["php"]
ways = ["none", "gzencode:1..9"]
"#
);

#[test]
fn a_study_of_deliveries_has_defaults_and_a_quick_form() {
    let study = Study::parse(DELIVERED, "m").unwrap();
    let block = &study.deliveries[0];
    assert_eq!((block.connections.as_slice(), block.transports.len()), ([1].as_slice(), 1));
    let text = format!("{DELIVERED}[deliveries.quick]\nservers = [\"nginx\"]\nconnections = [8]\n");
    let quick = in_form(&Study::parse(&text, "m").unwrap().deliveries, true);
    assert_eq!((quick[0].servers[0].as_str(), quick[0].connections[0]), ("nginx", 8));
    assert_eq!(quick[0].ways.len(), 2);
    let dropped = Study::parse(&format!("{DELIVERED}quick = false\n"), "m").unwrap();
    assert!(in_form(&dropped.deliveries, true).is_empty());
}

#[test]
fn a_study_has_one_kind_of_block_and_figures_in_columns() {
    let both = format!("{DELIVERED}{}", MINIMAL.split_once("\"R\"").unwrap().1);
    assert!(error(&both).contains("not both"), "{}", error(&both));
    assert!(error(&DELIVERED.replace("ways", "way")).contains("did you mean `ways`?"));
    let none = DELIVERED.replace("\"none\", \"gzencode:1..9\"", "");
    assert!(error(&none).contains("ways"), "{}", error(&none));
    let connections = format!("{DELIVERED}connections = [0]\n");
    assert!(error(&connections).contains("connections"), "{}", error(&connections));
    let published = "[published]\nabout = \"A\"\npayload = \"page-path\"\ncells = \"apache/{runtime}/http\"\n\
                     columns = [{ name = \"bytes\", metric = \"body-bytes\" }]\n\
                     rows = [{ label = \"zstd 3\", setting = \"php/zstd:3\", figures = { bytes = 1240800 } }]\n";
    let study = Study::parse(&format!("{DELIVERED}{published}"), "m").unwrap();
    assert_eq!(study.text().published_table.unwrap().rows[0].figures["bytes"], 1_240_800.0);
    let wrong = format!("{DELIVERED}{}", published.replace("figures = { bytes", "figures = { byte"));
    assert!(error(&wrong).contains("no column `byte`"), "{}", error(&wrong));
}

const TWO: &str = study!(
    r#"[[cells]]
about = "Small values"
content = ["a"]
runtimes = ["native"]
codecs = ["gzip"]
[[cells]]
about = "large values"
content = ["b"]
runtimes = ["native"]
codecs = ["gzip"]
"#
);

#[test]
fn blocks_are_chosen_by_what_they_speak_of() {
    let mut study = Study::parse(TWO, "x.toml").unwrap();
    study.only("SMALL").unwrap();
    let left = &study.cells;
    assert_eq!(left.iter().map(|b| b.about.as_str()).collect::<Vec<_>>(), ["Small values"]);
    let error = study.only("pages").unwrap_err().to_string();
    assert_eq!(error, "--only pages: no block of mine matches; blocks: `Small values`");
}

#[test]
fn every_built_in_study_is_valid() {
    let definitions = weigh_content::defs::Definitions::load(None).unwrap();
    for name in definitions.study_names() {
        let (text, whence) = definitions.study(&name).unwrap();
        let study = Study::parse(text, &whence).unwrap();
        assert_eq!(study.name, name);
        // As it is written, it is read again.
        let written = study.to_toml().unwrap();
        assert_eq!(Study::parse(&written, &whence).unwrap().to_toml().unwrap(), written);
    }
}

use super::*;
use weigh_run::study::block::Block;

fn study() -> Study {
    let text = "schema = 1\nname = \"s\"\ntitle = \"t\"\nquestion = \"q\"\nreading = \"r\"\n[[deliveries]]\nsubject = \"asset\"\n\
                content = [\"corpus:a\"]\nservers = [\"*\"]\nruntimes = [\"-\"]\nways = [\"plain\", \"gzip:6\"]\n\
                quick = { content = [\"corpus:b\"], servers = [\"apache\"], ways = [\"plain\"] }\n";
    Study::parse(text, "s.toml").unwrap()
}

#[test]
fn a_configured_study_keeps_its_ways_on_the_one_server() {
    let study = configured(&study(), "nginx");
    let whole = &study.deliveries[0];
    assert_eq!((whole.servers.as_slice(), whole.ways.len()), (&["nginx".to_owned()][..], 3));
    let quick = whole.quick_form().unwrap();
    assert_eq!(quick.servers, ["nginx"]);
    assert_eq!(quick.ways, ["plain", "server/config"]);
}

#[test]
fn the_users_content_is_that_of_the_quick_form_too() {
    let block = with_content(&study().deliveries[0], vec!["mine".into()]);
    assert_eq!(
        (&block.content, block.quick_form().unwrap().content),
        (&vec!["mine".to_owned()], vec!["mine".into()])
    );
}

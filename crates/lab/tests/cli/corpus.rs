//! `weigh corpus list`; fetching is tested with its clients where they are.

use crate::lab::Lab;

#[test]
fn everything_is_listed_with_its_licence() {
    let lab = Lab::new();
    let list = lab.told(&["corpus", "list", "--json"]);
    assert_eq!(list["schema"], 1);
    assert_eq!(list["cache"].as_str(), lab.cache().to_str());
    let contents = list["contents"].as_array().unwrap();
    assert!(contents.len() > 50);
    for content in contents {
        assert!(!content["licence"].as_str().unwrap().is_empty(), "{content}");
        assert_eq!(content["cached"], false, "{content}");
    }
    let text = lab.fine(&["corpus", "list"]);
    assert_eq!(text.lines().filter(|l| l.ends_with(" no")).count(), contents.len(), "{text}");
    assert!(text.contains("corpus:jquery-3.7.1.min"));
}

#[test]
fn an_unknown_content_is_refused_with_the_nearest() {
    let lab = Lab::new();
    let line = lab.refused(&["corpus", "fetch", "corpus:jquery-3.7.1.mni"]);
    assert!(line.contains("corpus:jquery-3.7.1.min"), "{line}");
}

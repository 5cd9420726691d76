//! Pages of a document root, ordinary and endless.

use super::*;
use crate::tests::Quiet;

#[test]
fn pages_of_a_document_root_say_what_is_loaded() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
    write("index.html", "<link rel=stylesheet href=a.css><script src=/a.js></script><a href=b.html>b</a>");
    write("b.html", "<link rel=stylesheet href=a.css><img src=b.png><img src=http://other.example/c.png>");
    write("a.css", "body{background:url(bg.png)}");
    let served = Served::new(Some(root.path()), None);
    let visitor = Visitor { urls: &[], allowed: &[], served: Some(&served), instance: None, logged: &[] };
    let visited = visitor.look(&mut Quiet::default()).unwrap();
    let mut loads: Vec<_> = visited.loads.iter().map(|(path, n)| (path.as_str(), *n)).collect();
    loads.sort_by(|a, b| a.0.cmp(b.0));
    let wanted = [
        ("a.css", 1.0),
        ("a.js", 0.5),
        ("b.html", 0.5),
        ("b.png", 0.5),
        ("bg.png", 1.0),
        ("index.html", 0.5),
    ];
    assert_eq!(loads, wanted);
}

/// Style sheets, each of which loads two hundred files with long names, and two further style sheets.
#[test]
fn style_sheets_without_end_take_no_more_than_the_budget() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
    write("index.html", "<link rel=stylesheet href=0.css>");
    let long = "x".repeat(200);
    for at in 0..200 {
        let files: String = (0..200).map(|file| format!("url({at}-{file}-{long})")).collect();
        write(
            &format!("{at}.css"),
            &format!("@import '{}.css';@import '{}.css';{files}", at * 2 + 1, at * 2 + 2),
        );
    }
    let served = Served::new(Some(root.path()), None);
    let visitor = Visitor { urls: &[], allowed: &[], served: Some(&served), instance: None, logged: &[] };
    for (requests, bytes, most) in [(20, usize::MAX, 20), (usize::MAX, 1 << 20, 20)] {
        let mut quiet = Quiet::default();
        let mut tour = visitor.tour(&mut quiet);
        tour.budget = Budget::new(PATIENCE, requests, bytes);
        tour.of_docroot();
        assert!(tour.budget.is_spent());
        let read = tour.sheets.len();
        assert!(read > 2 && read <= most, "{read} style sheets of {requests} requests and {bytes} bytes");
        let links: usize = tour.loads.iter().map(HashSet::len).sum();
        assert!(links <= most * 202 + 2, "{links} links");
    }
}

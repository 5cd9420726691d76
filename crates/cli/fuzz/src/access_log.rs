//! Access logs, plain or compressed: whatever is in them, every line is counted once, paths and their rest are all requests, and what is shown of
//! them moves no cursor.

use weigh_site::log::{Counter, Names};

/// Holds one input against what the module promises.
pub fn hold(bytes: &[u8]) {
    let mut counter = Counter::of(Names::default());
    counter.stream("access.log", bytes);
    let counted = counter.counted();
    assert_eq!(counted.lines, counted.requests() + counted.unreadable + counted.elsewhere);
    assert_eq!(counted.unreadable == 0, counted.example.is_none());
    let visitors = &counted.visitors;
    let listed: u64 = counted.paths.iter().map(|path| path.hits.requests).sum();
    assert_eq!(listed + counted.others.requests, visitors.requests);
    let codings = &counted.codings;
    assert_eq!(codings.zstd_br_gzip + codings.br_gzip + codings.gzip + codings.none, visitors.requests);
    assert!(counted.busiest_hour.map_or(0, |hour| hour.requests) >= counted.busiest_second);
    for path in &counted.paths {
        assert!(path.path.starts_with('/') && path.path.len() <= 1024, "{:?}", path.path);
        assert_eq!(weigh_model::text::clean(&path.path), path.path);
    }
    for problem in &counted.problems {
        assert!(!problem.contains(char::is_control), "{problem:?}");
    }
}

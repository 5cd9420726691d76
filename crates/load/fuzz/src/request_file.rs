//! Request files, in TOML and as lists of URLs: an accepted file is a workload that can be planned, and any other file
//! is refused with one line.

use std::path::Path;

use weigh_load::workload::{Defaults, parse};

/// Checks one input against the module's promises.
pub fn hold(text: &str) {
    // Other files of this machine are not part of the input.
    if text.contains("body-file") {
        return;
    }
    let based = Defaults { base: Some("http://127.0.0.1:8080/shop/".into()), ..Defaults::default() };
    for defaults in [based, Defaults::default()] {
        for name in ["requests.toml", "requests.txt"] {
            check(text, Path::new(name), &defaults);
        }
    }
}

fn check(text: &str, path: &Path, defaults: &Defaults) {
    let workload = match parse(text, path, defaults) {
        Ok(workload) => workload,
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains(char::is_control), "{line:?}");
            return;
        }
    };
    assert!(!workload.requests.is_empty());
    let mut weights = vec![0.0; workload.streams.len()];
    for request in &workload.requests {
        assert!(request.url.starts_with("http://") || request.url.starts_with("https://"));
        assert!(request.weight.is_finite() && request.weight >= 0.0);
        weights[request.stream as usize] += request.weight;
        let fields = request.headers.iter().flat_map(|(name, value)| [name, value]);
        for text in fields.chain([&request.method]) {
            assert!(!text.contains(['\r', '\n', '\0']), "{text:?}");
        }
    }
    for (stream, weight) in workload.streams.iter().zip(weights) {
        assert!(weight > 0.0 && weight.is_finite() && stream.connections > 0);
    }
    assert_eq!(parse(text, path, defaults), Ok(workload));
}

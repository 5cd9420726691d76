//! From records to results, on invented runs.

use super::fixture::{Lab, downloads, hostile, page_output, static_assets};

#[test]
fn show() {
    for lab in [page_output(), static_assets(), downloads()] {
        let analysis = lab.analyse();
        println!("=== {}", analysis.study.name);
        for f in &analysis.findings {
            println!("{} {} {}", f.rank, f.topic, f.text);
        }
    }
}

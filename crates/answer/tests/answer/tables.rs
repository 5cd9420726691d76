//! Tables of every invented and stored report at every width.

use weigh_answer::document;

use crate::{fits, formats};
use weigh_answer::output::{Detail, Options};

#[test]
fn every_table_fits_whole_and_says_what_it_leaves_out() {
    let stored = crate::stored::RUNS.map(|run| (run, crate::stored::report(run)));
    let mut tables = 0;
    for (name, report) in formats::every().into_iter().chain(stored) {
        for detail in [Detail::Summary, Detail::Full] {
            let options = Options { detail, ..Options::default() };
            tables += fits::tables(name, &document::build(&report, &options));
        }
    }
    assert!(tables > 100, "{tables}");
}

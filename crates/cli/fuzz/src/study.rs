//! Files of studies: what is wrong with one is said in words that move no cursor; what is right can be asked for everything a run asks.

use weigh_run::study::Study;

/// Holds one input against what the module promises.
pub fn hold(text: &str) {
    match Study::parse(text, "study.toml") {
        Err(error) => super::is_shown(&error),
        Ok(mut study) => {
            let _ = (study.text(), study.all_links());
            let _ = study.only("first block");
        }
    }
}

//! A part of a study: the blocks that speak of something.

use anyhow::{Result, bail};

use super::Study;

impl Study {
    /// Keeps the blocks whose `about` has these words, in whatever case.
    ///
    /// # Errors
    /// None has: the line names what there is.
    pub fn only(&mut self, words: &str) -> Result<()> {
        let wanted = words.to_lowercase();
        let abouts = self.cells.iter().map(|b| &b.about).chain(self.deliveries.iter().map(|b| &b.about));
        let abouts = abouts.chain(self.clients.iter().map(|b| &b.about));
        let abouts: Vec<String> =
            abouts.filter(|about| !about.is_empty()).map(|about| format!("`{about}`")).collect();
        let is_wanted = |about: &str| about.to_lowercase().contains(&wanted);
        self.cells.retain(|block| is_wanted(&block.about));
        self.deliveries.retain(|block| is_wanted(&block.about));
        self.clients.retain(|block| is_wanted(&block.about));
        if self.cells.is_empty() && self.deliveries.is_empty() && self.clients.is_empty() {
            let known = if abouts.is_empty() { "none says what it is for".into() } else { abouts.join(", ") };
            bail!("--only {words}: no block of the study {} speaks of that: {known}", self.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
schema = 1
name = "x"
title = "X"
question = "Q?"
reading = "R."
[[cells]]
about = "Small values"
content = ["a"]
runtimes = ["native"]
codecs = ["gzip"]
[[cells]]
about = "large values"
content = ["b"]
runtimes = ["native"]
codecs = ["gzip"]
"#;

    #[test]
    fn blocks_are_chosen_by_what_they_speak_of() {
        let mut study = Study::parse(TEXT, "x.toml").unwrap();
        study.only("SMALL").unwrap();
        assert_eq!(study.cells.iter().map(|b| b.about.as_str()).collect::<Vec<_>>(), ["Small values"]);
        let error = study.only("pages").unwrap_err().to_string();
        assert_eq!(error, "--only pages: no block of the study x speaks of that: `Small values`");
    }
}

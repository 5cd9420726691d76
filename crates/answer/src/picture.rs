//! Pictures of a report.

/// One picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The file's name without extension.
    pub stem: String,
    /// What it shows, in words.
    pub about: String,
    /// The group's index; none for a picture of the whole study.
    pub group: Option<usize>,
}

//! The files of what is emitted, with a README that lists them.

use std::path::PathBuf;

use super::emitted::Emitted;

/// Its files, by their paths below the folder.
pub fn files(emitted: &[Emitted]) -> Vec<(PathBuf, String)> {
    if emitted.is_empty() {
        return Vec::new();
    }
    let readme = (PathBuf::from("README"), readme(emitted));
    emitted.iter().map(|one| (one.file.clone(), one.text())).chain([readme]).collect()
}

/// What is in the folder, one paragraph per file.
fn readme(emitted: &[Emitted]) -> String {
    let mut text = String::from(
        "Files that carry out the policy. Nothing is in force until you include it; each file says how to undo it.\n",
    );
    for file in emitted {
        text.push_str(&format!("\n{}\n    {}\n", file.file.display(), file.what));
        file.first.iter().for_each(|first| text.push_str(&format!("    first: {first}\n")));
        text.push_str(&format!("    {} {}\n    check: {}\n", file.place, file.line, file.check));
        file.cannot().iter().for_each(|what| text.push_str(&format!("    cannot be expressed: {what}\n")));
    }
    text
}

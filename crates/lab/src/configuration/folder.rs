//! The folder of what is emitted: made beside its place, private, and renamed when it is whole.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Emitted;
use weigh_model::text::clean_path;

/// Writes the folder, which must not be there.
pub fn write(emitted: &[Emitted], into: &Path) -> Result<()> {
    let name = clean_path(into);
    if into.symlink_metadata().is_ok() {
        bail!("{name}: already there, and nothing is written over it; move it away or give another folder");
    }
    let doing = || format!("{name}: cannot be written");
    let parent = into.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let private = fs::Permissions::from_mode(0o700);
    let draft = tempfile::Builder::new()
        .prefix(".weigh-config-")
        .permissions(private)
        .tempdir_in(parent)
        .with_context(doing)?;
    for file in emitted {
        put(&draft.path().join(&file.file), &file.text()).with_context(doing)?;
    }
    put(&draft.path().join("README"), &readme(emitted)).with_context(doing)?;
    // Renaming over an empty folder that came meanwhile is the most that can happen.
    fs::rename(draft.path(), into).with_context(doing)?;
    // Its place is taken: there is nothing left to remove.
    let _ = draft.keep();
    Ok(())
}

fn put(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// What is in the folder, one paragraph per file.
fn readme(emitted: &[Emitted]) -> String {
    let mut text = String::from(
        "Files that carry out the policy. Nothing is in force until you include it; each file says how to undo it.\n",
    );
    for file in emitted {
        text.push_str(&format!("\n{}\n    {}\n", file.file.display(), file.what));
        let line = if file.line.is_empty() { "" } else { &file.line };
        text.push_str(&format!("    {} {}\n    check: {}\n", file.place, line, file.check));
        file.cannot().iter().for_each(|what| text.push_str(&format!("    cannot be expressed: {what}\n")));
    }
    text
}

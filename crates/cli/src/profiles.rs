//! Profiles as files: a folder with every form of them.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use weigh_answer::format::{Detail, Options};
use weigh_answer::profile::document::{Document, Run};
use weigh_answer::profile::report::{self, Choice, flame, stacks};
use weigh_content::names::Names;
use weigh_model::profile::Profile;
use weigh_model::text::clean_path;
use weigh_os::umask;
use weigh_profile::script::PrivateFile;
use weigh_run::loading::load_dir;

pub struct Named {
    pub name: String,
    pub profile: Profile,
    pub run: Option<Run>,
    /// What the profiler wrote, when we had it do so.
    pub file: Option<PrivateFile>,
}

/// Makes sure that nothing is written over.
pub fn unused(out: &Path) -> Result<()> {
    let is_used = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    ensure!(!is_used, "--out {}: there are files in it already; give another folder", clean_path(out));
    Ok(())
}

/// Writes every form of the document and its profiles into a new folder.
pub fn folder(out: &Path, document: &Document, choice: &Choice, profiles: &[Named]) -> Result<()> {
    let doing = || format!("{}: the folder cannot be created", clean_path(out));
    unused(out)?;
    DirBuilder::new().recursive(true).mode(0o700).create(out).with_context(doing)?;
    let full = Options { detail: Detail::Full, ..Options::default() };
    let all = Choice { top: usize::MAX, function: None, ..choice.clone() };
    let json = serde_json::to_string_pretty(document)? + "\n";
    load_dir::write(&out.join("profile.json"), json.as_bytes())?;
    load_dir::write(&out.join("profile.txt"), report::terminal(document, &all, &full).as_bytes())?;
    let mut names = Names::new();
    for one in profiles {
        let name = names.give(one.name.rsplit('/').next().unwrap_or(&one.name));
        if let Some(svg) = flame::svg(&one.name, &one.profile)? {
            load_dir::write(&out.join(format!("{name}.flame.svg")), svg.as_bytes())?;
        }
        load_dir::write(&out.join(format!("{name}.stacks")), stacks::text(&one.profile).as_bytes())?;
        if let Some(made) = &one.file {
            let file = made.path().file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let copy = out.join(format!("{name}.{file}"));
            umask::copy(made.path(), &copy)
                .with_context(|| format!("{}: cannot be written", clean_path(&copy)))?;
        }
    }
    Ok(())
}

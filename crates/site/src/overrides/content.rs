//! The user's files as the content of blocks of deliveries: each file is sent by itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::chosen::{choose, kind_of};
use super::{UserOverrides, with_content};
use weigh_content::types;
use weigh_content::user::{self, Found, Note};
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::text::clean_path;
use weigh_run::lab::{Lab, Progress, Stager};
use weigh_run::planner::build;
use weigh_run::planning::Planning;
use weigh_run::study::Study;
use weigh_run::subject::delivery::study::Served;

/// Files that stand for a folder: each is measured with every way on every server. In the quick form half as many.
const MOST: usize = 8;

/// A file of the user's as a payload.
struct Sent {
    payload: Payload,
    /// It is a page, or the user named the very file.
    is_page: bool,
}

/// Plans a study of deliveries with the user's files as its content.
pub(super) fn plan_content(
    lab: &Lab,
    study: &Study,
    own: &UserOverrides,
    planning: &mut Planning<'_>,
) -> Result<Plan> {
    let most = if planning.options.quick { MOST / 2 } else { MOST };
    let mut stager = Stager::new(&lab.library, planning.staging);
    let mut sent = Vec::new();
    for path in own.docroot.iter().chain(&own.content) {
        planning.progress.doing(&format!("reading {}", clean_path(path)));
        let is_folder = path.is_dir();
        if own.docroot.is_some() && !is_folder {
            bail!("--docroot {}: there is no such folder", clean_path(path));
        }
        let files = match is_folder {
            true if !own.like.is_empty() => {
                own.like.iter().map(|file| path.join(file)).filter(|file| file.is_file()).collect()
            }
            true => of_folder(path, planning.staging, most, planning.progress)?,
            false => vec![path.clone()],
        };
        for file in files {
            let payload = stager.path(&file, None)?;
            sent.push(Sent { is_page: !is_folder || payload.kind == "html", payload });
        }
    }
    let study = with(study, &sent, own.docroot.is_some())?;
    let plan = build(&study, planning.options, planning.inventory, &mut |name, size| match sent
        .iter()
        .find(|own| own.payload.name == name)
    {
        Some(own) => Ok(vec![stager.cut_off(own.payload.clone(), size)?]),
        None => stager.cuts(name, size),
    });
    stager.notes().iter().for_each(|note| planning.progress.note(note));
    plan
}

/// The files that stand for a folder, with a word on what does not.
fn of_folder(
    folder: &Path,
    staging: &Path,
    most: usize,
    progress: &mut dyn Progress,
) -> Result<Vec<PathBuf>> {
    let (mut files, mut notes) = user::files(folder, staging);
    let all: BTreeSet<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    let is_variant = |path: &Path| {
        types::VARIANTS.iter().any(|(_, ending)| path.extension().is_some_and(|e| e == *ending))
            && all.contains(&path.with_extension(""))
    };
    let is_php = |path: &Path| kind_of(path) == "php";
    notes.extend(left_out(&mut files, "PHP source files", is_php));
    notes.extend(left_out(&mut files, "encoded variants", is_variant));
    let notes: Vec<String> = notes.iter().map(Note::to_string).collect();
    if files.is_empty() {
        let rest = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        bail!("{} has no file to send{rest}", clean_path(folder));
    }
    notes.iter().for_each(|note| progress.note(note));
    let all = files.len();
    let chosen = choose(files, most);
    if chosen.len() < all {
        progress.note(&format!(
            "{} of {all} files stand for {}, chosen by type and size; name files with --content to choose yourself",
            chosen.len(),
            clean_path(folder)
        ));
    }
    Ok(chosen.into_iter().map(|c| c.path).collect())
}

/// Takes such files away; a word on them if there were any.
fn left_out(files: &mut Vec<Found>, what: &'static str, is_such: impl Fn(&Path) -> bool) -> Option<Note> {
    let left: Vec<PathBuf> = files.extract_if(.., |file| is_such(&file.path)).map(|file| file.path).collect();
    let (count, example) = (left.len() as u64, left.into_iter().next()?);
    Some(Note::Skipped { count, what, example })
}

/// The study with these contents: pages where it sends pages, every file elsewhere, and where it cuts a content to sizes the one
/// that has the most to cut. Blocks that none is for are left out; a document root changes no pages.
fn with(study: &Study, sent: &[Sent], is_docroot: bool) -> Result<Study> {
    let mut kept = Vec::new();
    for block in &study.deliveries {
        if block.subject == Served::Page && is_docroot {
            kept.push(block.clone());
            continue;
        }
        let fitting = sent.iter().filter(|s| block.subject != Served::Page || s.is_page);
        let mut payloads: Vec<&Payload> = fitting.map(|s| &s.payload).collect();
        if !block.sizes.is_empty() {
            let dense = |p: &&Payload| !is_text(p) && block.subject != Served::Download;
            payloads.sort_by_key(|p| (dense(p), u64::MAX - p.bytes));
            payloads.truncate(1);
        }
        if !payloads.is_empty() {
            kept.push(with_content(block, payloads.into_iter().map(|p| p.name.clone()).collect()));
        }
    }
    if kept.is_empty() {
        bail!("{} sends pages, and no file of the folder is one of HTML; name the file itself", study.name);
    }
    Ok(Study { deliveries: kept, published: None, ..study.clone() })
}

/// It gets shorter when it is encoded.
fn is_text(payload: &Payload) -> bool {
    let name = weigh_run::subject::delivery::files::file_name(payload);
    let extension = name.rsplit('.').next().unwrap_or_default();
    types::TYPES.iter().any(|t| t.compressible && t.extensions.contains(&extension))
}

//! `weigh lab man`: the manual's pages and the completions of shells, as packages install them. Hidden: who builds a package calls it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, anyhow, ensure};
use clap_mangen::Man;

use crate::exit::{Exit, OrRefuse};
use weigh_model::text::clean_path;
use weigh_os::atomic_dir;
use weigh_os::command::answer;

/// Flags of `weigh lab man`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  weigh lab man share      share/man/man1/weigh.1 and the others, and completions for bash, zsh and fish"
)]
pub struct Args {
    /// The folder to make
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Each shell, and where its packages look for the completions of `weigh`.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/weigh"),
    ("zsh", "zsh/vendor-completions/_weigh"),
    ("fish", "fish/vendor_completions.d/weigh.fish"),
];

pub fn run(args: &Args, command: clap::Command) -> Result<ExitCode> {
    let place = clean_path(&args.folder).to_string();
    if args.folder.exists() {
        return Err(anyhow!("{place}: is there already; name a new folder")).or_usage_error();
    }
    let mut files = pages(command)?;
    let own = std::env::current_exe().context("the program cannot find itself")?;
    for (shell, path) in SHELLS {
        let said = answer(Command::new(&own).env("COMPLETE", shell))?;
        ensure!(said.is_fine(), "the completions for {shell} cannot be made: {}", said.stderr);
        let mut script = said.stdout;
        if shell == "zsh" {
            // zsh runs the file of a package when the first completion is wanted: it answers that one too.
            script.push_str("\n_clap_dynamic_completer_weigh \"$@\"\n");
        }
        files.push((path.into(), script));
    }
    atomic_dir::write(&files, &args.folder).or_usage_error()?;
    Ok(Exit::Fine.into())
}

/// `man/man1/weigh.1`, a page for each verb that help shows, and for each of its verbs.
fn pages(command: clap::Command) -> Result<Vec<(PathBuf, String)>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut files = Vec::new();
    page(&command, &mut files)?;
    Ok(files)
}

fn page(command: &clap::Command, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let source = concat!("Weighbridge ", env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    Man::new(command.clone()).title(name.clone()).source(source).manual("Weighbridge").render(&mut text)?;
    files.push((PathBuf::from(format!("man/man1/{name}.1")), String::from_utf8(text)?));
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).try_for_each(|verb| page(verb, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_that_help_shows_has_a_page_with_its_flags() {
        let pages = pages(super::super::command()).unwrap();
        let text = |name: &str| {
            let found = pages.iter().find(|(path, _)| path.ends_with(format!("{name}.1")));
            found.map(|(_, text)| text.replace('\\', ""))
        };
        assert!(text("weigh").unwrap().contains("Start here"), "{:?}", text("weigh"));
        assert!(text("weigh-check").unwrap().contains("--fix"));
        assert!(text("weigh-compare").unwrap().contains("BASELINE"));
        assert!(text("weigh-lab-link-measure").is_some());
        assert_eq!((text("weigh-lab-man"), text("weigh-help")), (None, None));
    }
}

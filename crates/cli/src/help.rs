//! Which options `-h` and `--help` of a verb show: the usual ones, so that both fit a screen. `weigh help VERB`, the manual and the
//! reference have all.

use clap::{Arg, Command};

/// A verb, the options that its `-h` shows, and those that its `--help` leaves out, by their long names.
const SHOWN: &[(&str, &str, &str)] = &[
    (
        "site",
        "docroot server-config log url render store out force",
        "server site name front php-config render-as budget",
    ),
    ("advise", "budget dry-run out force json", ""),
    ("prove", "site budget before after gate json", "seed"),
    (
        "pack",
        "policy out codings dry-run check clean",
        "dictionary dictionary-config type-map ultra zopfli jobs site",
    ),
    ("codec", "codecs sets link php budget full json", "list exact exhaustive seed out columns on yes"),
    (
        "run",
        "quick dry-run resume php budget full json",
        "cells configuration only trust exhaustive seed out columns profile core-hour each-machine on yes gates junit server site page allow-remote",
    ),
    (
        "load",
        "connections duration rate read-rate vs find-capacity json",
        "streams ramp think arrival no-keepalive accept-encoding body-file range requests-file base abandon-after receive-buffer discard vary-by decode-every timeout connect-timeout drain ca no-resumption threads cpus slice seed yes nodes blocks block-time calibrate ab-args csv hlog quiet gates junit body insecure on out steps",
    ),
    ("profile", "php profiler function out json", "limit"),
    (
        "compare",
        "baseline save paired php format full",
        "core-hour gates junit server site content only seed baselines forget out json link http allow-remote",
    ),
    ("runs", "in study json", ""),
];

fn has(names: &str, arg: &Arg) -> bool {
    arg.get_long().is_some_and(|long| names.split(' ').any(|name| name == long))
}

/// The command with what the words ask to be shown of a verb.
pub fn limited(command: Command, words: &[String]) -> Command {
    let is_asked = |flag: &str| words.iter().any(|word| word == flag);
    let is_short = is_asked("-h");
    if !is_short && !is_asked("--help") {
        return command;
    }
    let verb = words.get(1).and_then(|word| SHOWN.iter().find(|(verb, ..)| verb == word));
    match verb {
        Some((verb, short, left_out)) => command.mut_subcommand(*verb, |command| {
            let is_shown = |arg: &Arg| if is_short { has(short, arg) } else { !has(left_out, arg) };
            let has_headings = !is_short && left_out.is_empty();
            let all = format!("All options: weigh help {verb}");
            let examples = command.get_after_help().filter(|_| !is_short).map(ToString::to_string);
            let after: Vec<String> = examples.into_iter().chain([all]).collect();
            let command = command.after_help(after.join("\n\n"));
            command.mut_args(|arg| {
                let is_hidden = arg.is_hide_set() || !(arg.is_positional() || is_shown(&arg));
                let arg = arg.hide(is_hidden);
                if has_headings { arg } else { arg.help_heading(None::<&str>) }
            })
        }),
        None if is_short && words.len() == 2 => {
            let command = command.disable_help_subcommand(true).after_help("More: weigh --help");
            command.mut_args(|arg| arg.hide(true))
        }
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_is_named_here_is_one() {
        let command = crate::command();
        for (verb, short, left_out) in SHOWN {
            let command = command.find_subcommand(verb).expect("a verb");
            for name in short.split(' ').chain(left_out.split(' ')).filter(|name| !name.is_empty()) {
                assert!(command.get_arguments().any(|arg| arg.get_long() == Some(name)), "{verb}: {name}");
            }
        }
    }
}

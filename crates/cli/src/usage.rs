//! What the parser of the command line says: help and version on stdout, an error as one line on stderr like every other
//! error, with what was probably meant.

use std::path::Path;
use std::process::ExitCode;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::{self, Exit, OrRefuse};
use crate::terminal;

/// Flags of other tools and of earlier versions: the verb, the flag, and what it is here.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("load", "-t", "threads are --threads N, the duration is -d TIME"),
    ("load", "-k", "connections are kept alive unless --no-keepalive is given"),
    ("load", "-z", "the duration is -d TIME"),
    ("load", "-R", "requests per second are --rate N"),
    ("load", "-p", "a request body is --body-file FILE"),
    ("load", "-s", "the timeout is --timeout TIME"),
    ("load", "--latency", "response times are always shown"),
    ("load", "--block", "the length of a block is --block-time TIME"),
    ("runs", "--summary", "the summary is shown by default, everything with --full"),
    ("run", "--levels", "levels belong to a study; weigh codec takes --levels"),
    ("codec", "--content", "paths need no flag: weigh codec PATH"),
];

/// Verbs of earlier versions, and what they are called now.
const RENAMED: &[(&str, &str)] = &[
    ("plan", "weigh run --dry-run"),
    ("report", "weigh runs show"),
    ("view", "weigh runs open"),
    ("trend", "weigh runs trend"),
    ("baseline", "weigh compare --save NAME, --baselines, --forget NAME"),
    ("corpus", "weigh lab corpus"),
    ("runtime", "weigh lab runtime"),
    ("link", "weigh lab link"),
    ("man", "weigh lab man"),
    ("version", "weigh --version"),
    ("list", "weigh runs list"),
];

/// Answers a command line that names no work, or that cannot be read; `words` is that command line.
pub fn answer(error: &Error, words: &[String]) -> ExitCode {
    let help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let said = if help {
        let text = error.render();
        terminal::print(&if terminal::colours() { text.ansi().to_string() } else { text.to_string() })
    } else {
        Err(anyhow::anyhow!(line(error, words))).or_usage_error()
    };
    exit::ended(said.map(|()| Exit::Fine.into()))
}

/// An error of the parser as one line.
pub fn line(error: &Error, words: &[String]) -> String {
    let text = error.render().to_string();
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
        && let Some((_, now)) = RENAMED.iter().find(|(old, _)| old == given)
        && text.contains("Usage: weigh [")
    {
        return format!("no command `{given}`; type: {now}");
    }
    one_line(&text, |usage| meant(error, words, usage))
}

/// What an argument that is not known was probably meant as.
fn meant(error: &Error, words: &[String], usage: &str) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let verb = usage.split(' ').nth(1)?;
    if let Some((.., meant)) = ELSEWHERE.iter().find(|(of, flag, _)| *of == verb && flag == given) {
        return Some((*meant).to_owned());
    }
    if given.starts_with('-') {
        return None;
    }
    if usage.contains(" -- ") && !words.iter().any(|word| word == "--") {
        let at = words.iter().position(|word| word == given)?;
        let (before, command) = words.split_at(at);
        let (before, command) = (before.get(1..)?, shell_words::join(command));
        return Some(format!(
            "write -- before the command: weigh {} -- {command}",
            shell_words::join(before)
        ));
    }
    let has_content = words.iter().any(|word| word == "--content");
    (has_content && Path::new(given).exists()).then(|| format!("give each path its flag: --content {given}"))
}

/// What is wrong, and the tips; of the usage only which help has it.
fn one_line(text: &str, meant: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = Vec::new();
    let mut help = None;
    for paragraph in text.split("\n\n").map(str::trim) {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let verb = usage.split(' ').take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            if let Some(meant) = meant(usage) {
                parts.retain(|part: &String| !part.starts_with("a similar argument exists"));
                parts.push(meant);
            }
            help = Some(format!("`{} --help` says more", verb.collect::<Vec<_>>().join(" ")));
        } else if !line.is_empty() && !line.starts_with("For more information") && !is_no_tip(&line) {
            let line = line.strip_prefix("error: ").unwrap_or(&line);
            parts.push(line.strip_prefix("tip: ").unwrap_or(line).to_owned());
        }
    }
    parts.extend(help);
    parts.join("; ")
}

/// The parser's advice to pass an unknown flag as a value helps nobody here.
fn is_no_tip(line: &str) -> bool {
    line.starts_with("tip: to pass ") && line.contains(" as a value, use ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_parser_is_one_line() {
        let line = |text| one_line(text, |_| None);
        let text = "error: unexpected argument '--buget' found\n\n  tip: a similar argument exists: '--budget'\n\n\
                    Usage: weigh codec --budget <SECONDS> <PATH>...\n\nFor more information, try '--help'.\n";
        assert_eq!(
            line(text),
            "unexpected argument '--buget' found; a similar argument exists: '--budget'; `weigh codec --help` says more"
        );
        let text = "error: the following required arguments were not provided:\n  <PATH>...\n\n\
                    Usage: weigh codec <PATH>...\n";
        assert_eq!(
            line(text),
            "the following required arguments were not provided: <PATH>...; `weigh codec --help` says more"
        );
        let text = "error: unexpected argument '-t' found\n\n  tip: to pass '-t' as a value, use '-- -t'\n\n\
                    Usage: weigh load [OPTIONS] [URL]...\n";
        assert_eq!(line(text), "unexpected argument '-t' found; `weigh load --help` says more");
    }
}

//! What the command line's own parser has to say: help and version on stdout, an error as one line on stderr like
//! every other error.

use std::process::ExitCode;

use clap::Error;
use clap::error::ErrorKind;

use crate::cli::terminal;

/// Answers a command line that names no work, or that cannot be read.
pub fn answer(error: &Error) -> ExitCode {
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
        Err(anyhow::anyhow!(one_line(&error.render().to_string())))
    };
    match said {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// What is wrong, and the tips; of the usage only which help has it.
pub fn one_line(text: &str) -> String {
    let mut parts = Vec::new();
    let mut help = None;
    for paragraph in text.split("\n\n").map(str::trim) {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let verb = usage.split(' ').take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            help = Some(format!("`{} --help` says more", verb.collect::<Vec<_>>().join(" ")));
        } else if !line.is_empty() && !line.starts_with("For more information") {
            let line = line.strip_prefix("error: ").unwrap_or(&line);
            parts.push(line.strip_prefix("tip: ").unwrap_or(line).to_owned());
        }
    }
    parts.extend(help);
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_parser_is_one_line() {
        let text = "error: unexpected argument '--buget' found\n\n  tip: a similar argument exists: '--budget'\n\n\
                    Usage: weigh codec --budget <SECONDS> <PATH>...\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(text),
            "unexpected argument '--buget' found; a similar argument exists: '--budget'; `weigh codec --help` says more"
        );
        let text = "error: the following required arguments were not provided:\n  <PATH>...\n\n\
                    Usage: weigh codec <PATH>...\n";
        assert_eq!(
            one_line(text),
            "the following required arguments were not provided: <PATH>...; `weigh codec --help` says more"
        );
    }
}

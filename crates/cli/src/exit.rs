//! How the program ends: its exit codes, and which errors are refusals. Help, documents and tests take them from here.

use std::fmt;
use std::process::ExitCode;

use weigh_answer::compare::gate::GateOutcome;

/// What a call of the program came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Fine = 0,
    /// Failed on the way, or interrupted.
    Internal = 1,
    /// Refused before anything was measured.
    Usage = 2,
    /// Done, but some configurations failed.
    Failures = 3,
    /// Done, and the result is worse than a given limit or baseline allows, or than a policy predicts.
    Worse = 4,
    /// Done, and the interval of a result holds a given limit, neither kept nor missed; or a prediction could not be decided.
    Undecided = 5,
}

/// What help says of them.
pub const CODES: &str = "Exit codes:
  0  done
  1  failed on the way, or interrupted
  2  refused: wrong usage, or a file or program that cannot be used; nothing was measured
  3  done, but some configurations failed
  4  done, but worse than a given limit or baseline allows, or than a policy predicts
  5  undecided: the measurement is too imprecise to say whether the limit is met, or there was nothing to prove";

/// The options of every command, hidden in their help.
const GLOBAL: &str = "Options of every command:
  --defs DIR      Add or override studies and PHP definitions from this folder
  --trust-config  Let configurations of servers load modules from outside the
                  system's folders: their code runs here
  -h, --help      The short help, or the whole";

impl Exit {
    /// Of a result in which this many configurations have no number.
    pub fn of_failures(count: usize) -> Exit {
        if count > 0 { Exit::Failures } else { Exit::Fine }
    }

    /// Of gates, by the worst of them; none: there was no gate.
    pub fn of_gates(worst: Option<GateOutcome>) -> Exit {
        match worst {
            Some(GateOutcome::Fail) => Exit::Worse,
            Some(GateOutcome::Undecided) => Exit::Undecided,
            Some(GateOutcome::Pass) | None => Exit::Fine,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// What `weigh help exit` shows: what holds for every command, and stands in no help of one.
pub fn help() -> String {
    format!("{CODES}\n\n{GLOBAL}\n")
}

/// An error in what the user asked for.
#[derive(Debug)]
struct Refused(anyhow::Error);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Refused {}

/// For results that come before anything is measured.
pub trait OrRefuse<T> {
    /// An error ends the program with [`Exit::Usage`].
    ///
    /// # Errors
    /// The same error.
    fn or_usage_error(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrRefuse<T> for Result<T, E> {
    fn or_usage_error(self) -> anyhow::Result<T> {
        self.map_err(|error| refused(error.into()))
    }
}

/// An error that ends the program with [`Exit::Usage`].
pub fn refused(error: anyhow::Error) -> anyhow::Error {
    if error.is::<Refused>() { error } else { Refused(error).into() }
}

pub fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<Refused>() { Exit::Usage } else { Exit::Internal }
}

/// The exit code of what a verb came to; an error is said.
pub fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        crate::terminal::error(&error);
        of_error(&error).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn a_refusal_stays_one_under_further_context_and_reads_the_same() {
        let error =
            Err::<(), _>(anyhow!("no such file")).context("page.html").or_usage_error().or_usage_error();
        let error = error.context("run").unwrap_err();
        assert_eq!(format!("{error:#}"), "run: page.html: no such file");
        assert_eq!(of_error(&error), Exit::Usage);
        assert_eq!(of_error(&anyhow!("no space left")), Exit::Internal);
    }

    #[test]
    fn help_names_every_code() {
        for exit in [Exit::Fine, Exit::Internal, Exit::Usage, Exit::Failures, Exit::Worse, Exit::Undecided] {
            assert!(CODES.contains(&format!("\n  {}  ", exit as u8)), "{exit:?}");
        }
        assert_eq!((Exit::of_failures(0), Exit::of_failures(2)), (Exit::Fine, Exit::Failures));
    }
}

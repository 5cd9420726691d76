//! How a file is called in the trial of a policy on the site's configuration, and what is said of the trial.

use weigh_model::policy::Trial;
use weigh_model::units::count;

/// The files of a server that a policy is written as, by their names below the folder of the configuration, which [`weigh_model::policy::Policy::withholds`] knows.
pub fn file(server: &str, template: &str) -> String {
    format!("{server}/{template}")
}

/// `Checked: 1,284 answers of your configuration with and without it: none worse.`, or why it was not tried.
pub fn describe_trial(trial: &Trial) -> String {
    let number = usize::try_from(trial.answers).unwrap_or(usize::MAX);
    match &trial.untried {
        Some(why) => format!("Not tried on your configuration: {why}"),
        None => {
            let answers = count(number, "answer", "answers");
            let pages = match trial.without_pages {
                true => {
                    " Pages were not compared: the configuration does not tell PHP which one is asked for."
                }
                false => "",
            };
            let left = usize::try_from(trial.not_asked).unwrap_or(usize::MAX);
            let rest = match left {
                0 => String::new(),
                _ => format!(
                    " {} not asked: time and number are bounded.",
                    count(left, "question was", "questions were")
                ),
            };
            format!("Checked: {answers} of your configuration with and without it: none worse.{rest}{pages}")
        }
    }
}

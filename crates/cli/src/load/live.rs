//! The line that is seen while load runs.

use std::time::Duration;

use weigh_load::Progress;
use weigh_load::plan::LoadPlan;

use crate::terminal::Line;
use weigh_model::units;

/// What a preflight does, and what several agents do after it.
const ASKING: &str = "asking what the server sends";
const WAITING: &str = "waiting for the common start";

/// Shows a block on stderr.
pub struct Live {
    line: Line,
    about: String,
    length: String,
    before: (f64, u64),
    said: String,
}

impl Live {
    /// A line where somebody looks, unless it is to be silent; `about` says which of several blocks it is.
    pub fn new(plan: &LoadPlan, about: &str, silent: bool) -> Live {
        let line = Line::new(silent);
        line.bar.enable_steady_tick(Duration::from_millis(200));
        line.bar.set_message(ASKING);
        let length = match (plan.length.requests, plan.length.seconds) {
            (Some(n), _) => format!(" of {}", count(n)),
            (None, Some(s)) => format!(" in {} of {}", "{}", units::ns(s * 1e9)),
            (None, None) => String::new(),
        };
        let about = if about.is_empty() { String::new() } else { format!("{about} · ") };
        Live { line, about, length, before: (0.0, 0), said: ASKING.into() }
    }

    /// Says how far it is.
    pub fn show(&mut self, progress: &Progress) {
        self.said = self.message(progress);
        self.line.say(self.said.clone());
    }

    /// How far it was when the agent broke down, behind why: the figures so far are lost with it.
    pub fn broke(&self, why: &str) -> String {
        format!("{why}; until then: {}", self.said)
    }

    fn message(&mut self, progress: &Progress) -> String {
        if progress.is_preflight {
            return if progress.is_ready { WAITING } else { ASKING }.into();
        }
        let span = progress.seconds - self.before.0;
        let rate = progress.completed.saturating_sub(self.before.1) as f64 / span.max(1e-3);
        self.before = (progress.seconds, progress.completed);
        let length = self.length.replace("{}", &units::ns(progress.seconds * 1e9));
        let time = |t: Option<f64>| t.map_or("–".into(), |s| units::ns(s * 1e9));
        let faults = if progress.faulted > 0 {
            format!(" · {} failed", count(progress.faulted))
        } else {
            String::new()
        };
        let lost = match &progress.lost[..] {
            [] => String::new(),
            // First: a narrow terminal cuts the end.
            nodes => format!("lost: {} · ", nodes.join(", ")),
        };
        format!(
            "{}{lost}{} complete{length} · {} requests/s · p50 {} · p99 {}{faults}",
            self.about,
            count(progress.completed),
            units::significant(rate),
            time(progress.p50),
            time(progress.p99)
        )
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        self.line.bar.finish_and_clear();
    }
}

/// A whole number with thousands separated.
fn count(number: u64) -> String {
    units::count(usize::try_from(number).unwrap_or(usize::MAX), "", "").trim().to_owned()
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_agent_that_broke_down_is_said_how_far_it_was() {
        let mut live = Live::new(&LoadPlan::default(), "", true);
        assert_eq!(live.broke("ended"), "ended; until then: asking what the server sends");
        let (p50, p99) = (Some(0.001), Some(0.25));
        live.show(&Progress { seconds: 2.0, completed: 1500, faulted: 3, p50, p99, ..Progress::default() });
        let far = "1,500 complete · 750 requests/s · p50 1.00 ms · p99 250 ms · 3 failed";
        assert_eq!(live.broke("ended"), format!("ended; until then: {far}"));
    }
}

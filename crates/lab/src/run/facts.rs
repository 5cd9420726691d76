//! The facts of a run for a heading, derived from what stands on disk.

use super::dir::StoredRun;
use weigh_answer::report::RunFacts;
use weigh_model::record::Record;

impl StoredRun {
    /// The facts: how long, how many rounds, and whether it is complete.
    pub fn facts(&self) -> RunFacts {
        let mut facts = RunFacts {
            started: self.file.started.clone(),
            version: self.file.version.clone(),
            seed: self.file.seed,
            machine: self.file.machine.line(),
            ..RunFacts::default()
        };
        for record in &self.records {
            match record {
                Record::Visit(visit) => {
                    facts.seconds = facts.seconds.max(visit.at);
                    facts.rounds = facts.rounds.max(visit.round);
                }
                Record::Fault { round, .. } => facts.rounds = facts.rounds.max(*round),
                Record::End { rounds, seconds, .. } => {
                    facts.complete = true;
                    facts.rounds = *rounds;
                    facts.seconds = *seconds;
                }
                Record::Stop { .. } | Record::Caveat { .. } | Record::Resumed { .. } => {}
            }
        }
        facts
    }
}

//! What is done today with each kind, as the answers tell it.

use super::{Answer, Answers, Encoded, PATIENCE, Questions, SampleAnswers, row_levels};
use crate::configured::method;
use weigh_model::site::{From, Kind, Today};
use weigh_model::text::clean;
use weigh_model::units::count;

impl Answers {
    /// The level that all answers of a kind in a content coding have in common; none: there is no such level.
    fn level(&self, questions: &Questions<'_>, kind: Kind, coding: &str) -> Option<i32> {
        if has_no_levels(questions, coding) {
            return None;
        }
        let answers = self.all.iter().filter(|asked| asked.kind == kind).flat_map(|asked| &asked.answers);
        let told = answers.filter(|answer| answer.sent.coding == coding && !answer.levels.is_empty());
        let mut common: Option<Vec<i32>> = None;
        for answer in told {
            let known = common.get_or_insert_with(|| answer.levels.clone());
            known.retain(|level| answer.levels.contains(level));
        }
        let common = common?;
        let default = default_level(questions, coding);
        default.filter(|level| common.contains(level)).or(common.first().copied())
    }

    /// The method that makes an answer, as a study names it; none: its level is not known.
    pub(super) fn method(&self, questions: &Questions<'_>, kind: Kind, answer: &Answer) -> Option<String> {
        let coding = answer.sent.coding.as_str();
        let way = |is_static| method(questions.name(), coding, is_static);
        match answer.encoded {
            Encoded::Not | Encoded::Named => Some("server/plain".to_owned()),
            Encoded::Before => Some(way(true)),
            Encoded::OnTheFly => {
                let common = self.level(questions, kind, coding);
                let own = common.filter(|level| answer.levels.contains(level));
                match own.or_else(|| answer.levels.first().copied()) {
                    _ if has_no_levels(questions, coding) => Some(way(false)),
                    level => Some(format!("{}:{}", way(false), level?)),
                }
            }
        }
    }

    /// What is done today with most requests of a kind: with those for text, where there is any, for other content is seldom encoded. None:
    /// it is not known.
    pub(super) fn today(
        &self,
        questions: &Questions<'_>,
        kind: Kind,
        place: &dyn Fn(&str) -> String,
    ) -> Option<Today> {
        let of_kind: Vec<&SampleAnswers> = self.all.iter().filter(|asked| asked.kind == kind).collect();
        let requests = |is_so: &dyn Fn(&SampleAnswers) -> bool| {
            of_kind.iter().filter(|asked| is_so(asked)).map(|asked| asked.requests + 1e-9).sum::<f64>()
        };
        let by_php = of_kind.iter().filter(|asked| asked.is_sent_by_program()).count();
        if requests(&SampleAnswers::is_sent_by_program) > requests(&|asked| !asked.is_sent_by_program()) {
            if of_kind.iter().any(|asked| asked.is_handed_over()) {
                return None;
            }
            let by_server = of_kind.len() - by_php;
            let words = "sent by PHP, taken to be readfile".to_owned();
            let about = told(&[(words, by_php), ("by the server".to_owned(), by_server)]);
            let about = format!("{about} ({})", place(""));
            return Some(Today { kind, method: "php/readfile".into(), about, from: From::Assumed });
        }
        let first = |asked: &'_ SampleAnswers| {
            asked.answers.first().map(|answer| (answer.encoded, answer.sent.coding.clone()))
        };
        let is_encoded =
            |asked: &SampleAnswers| first(asked).is_some_and(|(encoded, _)| encoded != Encoded::Not);
        let is_answered = |asked: &&SampleAnswers| !asked.answers.is_empty() && !asked.is_sent_by_program();
        let answered: Vec<&SampleAnswers> = of_kind.into_iter().filter(is_answered).collect();
        let text: Vec<&SampleAnswers> =
            answered.iter().copied().filter(|asked| asked.is_text || is_encoded(asked)).collect();
        // That pictures go out as they are is not news; that one download of many is encoded is.
        let meant = if text.is_empty() || kind == Kind::Download { &answered } else { &text };
        let mut groups: Vec<((Encoded, String), f64, Vec<&SampleAnswers>)> = Vec::new();
        for asked in meant {
            let Some(key) = first(asked) else { continue };
            let weight = asked.requests + 1e-9;
            match groups.iter_mut().find(|group| group.0 == key) {
                Some(group) => {
                    group.1 += weight;
                    group.2.push(asked);
                }
                None => groups.push((key, weight, vec![asked])),
            }
        }
        // The one with the most requests first.
        groups.sort_by(|a, b| b.1.total_cmp(&a.1));
        let ((_, coding), _, own) = groups.first()?;
        let method = self.method(questions, kind, own.first()?.answers.first()?);
        let words = |(encoded, coding): &(Encoded, String)| match encoded {
            Encoded::Not => "uncompressed".to_owned(),
            Encoded::Named => format!("as they are, with Content-Encoding {coding}, which browsers unpack"),
            Encoded::Before => format!("{coding}, precompressed"),
            Encoded::OnTheFly => match self.level(questions, kind, coding) {
                Some(level) => format!("{coding} {level} on the fly"),
                None if has_no_levels(questions, coding) => format!("{coding} on the fly"),
                None => format!("{coding} on the fly, level not known"),
            },
        };
        let mut parts: Vec<(String, usize)> =
            groups.iter().map(|(key, _, own)| (words(key), own.len())).collect();
        parts.push(("sent by PHP".to_owned(), by_php));
        let words = told(&parts);
        let short = method.as_deref().unwrap_or_default().split([':', ',']).next().unwrap_or_default();
        // Without its level, a filter cannot be measured by itself: the whole configuration is.
        let default = default_level(questions, coding).filter(|_| method.is_none());
        let named = crate::configured::method(questions.name(), coding, false);
        let (method, from) = match (method.clone(), default) {
            (Some(method), _) => (method, From::Measured),
            (None, Some(level)) => (format!("{named}:{level}"), From::Assumed),
            (None, None) => (named, From::Measured),
        };
        let assumed = if from == From::Assumed { ", the server's default assumed" } else { "" };
        // A download is a file that the server sends, whatever filter it goes through.
        let method = if kind == Kind::Download { "server/plain".to_owned() } else { method };
        let about = clean(&format!("{words}{assumed} ({})", place(short)));
        Some(Today { kind, method, about, from })
    }

    /// What the user should know of the answers, one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self
            .refused
            .iter()
            .map(|(reason, path, number)| {
                let more = if *number > 1 { format!(" and {} more", number - 1) } else { String::new() };
                format!("{path}{more}: {reason}; what the site sends there today is not known")
            })
            .collect();
        if self.late > 0 {
            let files = count(self.late, "file was", "files were");
            notes.push(format!(
                "{files} not asked for within {} s: what is sent there today is not known",
                PATIENCE.as_secs()
            ));
        }
        let files = |is_so: fn(&SampleAnswers) -> bool| self.all.iter().filter(|asked| is_so(asked)).count();
        let handed = files(SampleAnswers::is_handed_over);
        if handed > 0 {
            let files = count(handed, "download is", "downloads are");
            notes.push(format!(
                "{files} sent by PHP, how is not known; say it in site.toml: [[today]] kind = \"download\", method = \"php/x-accel-redirect\" (nginx, Caddy) or \"php/x-sendfile\" (Apache, lighttpd), about = \"handed over\", from = \"given\""
            ));
        }
        let never = files(|asked| asked.is_never_same);
        if never > 0 {
            let files = count(never, "file is", "files are");
            notes.push(format!(
                "{files} sent whole to visitors who have them: the server does not know its own ETag again"
            ));
        }
        let unreadable = files(|asked| asked.is_unreadable);
        if unreadable > 0 {
            let files = count(unreadable, "file is", "files are");
            notes.push(format!(
                "{files} sent with a Content-Encoding that the bytes are not in, so that no browser reads them"
            ));
        }
        let is_named = |asked: &SampleAnswers| {
            !asked.is_unreadable && asked.answers.iter().any(|answer| answer.encoded == Encoded::Named)
        };
        let named = files(is_named);
        if named > 0 {
            let files = count(named, "archive goes", "archives go");
            notes.push(format!(
                "{files} out as they are with a Content-Encoding (AddEncoding): browsers unpack them while they save them"
            ));
        }
        notes
    }
}

/// What is done with how many files: `gzip 6 on the fly for 18 of 24 files, uncompressed for 6`.
fn told(parts: &[(String, usize)]) -> String {
    let all: usize = parts.iter().map(|(_, files)| files).sum();
    let some: Vec<&(String, usize)> = parts.iter().filter(|(_, files)| *files > 0).collect();
    let part = |(at, (words, files)): (usize, &&(String, usize))| match (some.len(), at) {
        (1, _) => words.clone(),
        (_, 0) => format!("{words} for {files} of {}", count(all, "file", "files")),
        _ => format!("{words} for {files}"),
    };
    some.iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
}

/// The level that a server's filter has where nothing is said.
fn default_level(questions: &Questions<'_>, coding: &str) -> Option<i32> {
    row_levels(questions, coding)?.as_ref().map(|levels| levels.default)
}

/// Whether a server's filter has no levels.
fn has_no_levels(questions: &Questions<'_>, coding: &str) -> bool {
    row_levels(questions, coding).is_some_and(|levels| levels.is_none())
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn what_is_done_with_some_files_is_said_with_what_is_done_with_the_others() {
        let told = |parts: &[(&str, usize)]| {
            told(&parts.iter().map(|(words, files)| ((*words).to_owned(), *files)).collect::<Vec<_>>())
        };
        assert_eq!(told(&[("uncompressed", 24), ("sent by PHP", 0)]), "uncompressed");
        assert_eq!(
            told(&[("uncompressed", 6), ("gzip 6 on the fly", 18), ("sent by PHP", 0)]),
            "uncompressed for 6 of 24 files, gzip 6 on the fly for 18"
        );
    }
}

//! What to send to browsers that take zstd, br, gzip, and none.
//!
//! A page costs its CPU time twice, because the visitor waits for it and nobody else can have it meanwhile, plus the time for which its bytes are on
//! a visitor's line: the study's measured link in the middle by speed, else one of 10 Mbit/s. For each content coding the method with the least
//! cost is taken. With no significant difference it is the server's own filter, which leaves PHP's workers to others. A method that takes a second
//! of CPU time or more is never recommended.
//!
//! Browsers that take zstd take br too, and those that take br take gzip. A coding is therefore recommended where it costs less than the one that
//! these browsers would get else, as the verdict tells; gzip has to cost less than the page as it is.
//!
//! The group that leads the study decides for all. Another one where a choice costs more than 1.1 times the best there is named as an exception.

use weigh_model::cell::Subject;
use weigh_model::transfer::Path;
use weigh_model::units;
use weigh_model::way::By;
use weigh_stats::ROUNDS;

use super::{Said, fewest_rounds, ids};
use crate::advice::{Part, Recommended, Sentence};
use crate::finding::Evidence;
use crate::finding::delivery::{Sent, bytes_of, label, leading, marked, members, on_the_fly};
use crate::group::Group;
use crate::row::Row;
use crate::subject::delivery::{BODY, CPU};
use crate::verdict::is_total_told_less;

/// The content codings, the one that the most browsers take first.
const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];
/// A visitor's line where the study measured none, Mbit/s.
const MBIT: f64 = 10.0;
/// A method that takes as many nanoseconds of CPU time is never recommended.
const LONGEST: f64 = 1e9;
/// Costs above this many times the best of a group make it an exception.
const FAR_BEHIND: f64 = 1.1;
/// Exceptions that are named.
const NAMED: usize = 2;

/// What to send to whom.
struct Choice<'a> {
    /// What these browsers take best; none: no coding.
    coding: Option<&'static str>,
    row: Sent<'a>,
    /// PHP's method, where the server's own was taken for want of a significant difference.
    tied: Option<Sent<'a>>,
}

struct Case<'a, 'e> {
    evidence: &'e Evidence<'a>,
    mbit: f64,
}

/// What to do about pages; none where nothing competes.
pub(super) fn advise(evidence: &Evidence) -> Option<Said> {
    let case = Case { evidence, mbit: line_speed(evidence) };
    let groups: Vec<&Group> =
        leading(evidence, Subject::PAGE).into_iter().filter(|group| case.competes(group)).collect();
    let (first, others) = groups.split_first()?;
    let choices = case.choices(first);
    let mut held = vec![*first];
    held.extend(others.iter().copied().filter(|group| case.holds(group, &choices)));
    let recommended = choices.iter().map(|choice| case.recommended(choice, &held));
    let mut said = Said { recommended: recommended.collect(), sentences: vec![case.used(&choices)] };
    said.sentences.extend(needs(&choices));
    said.sentences.extend(case.gain(&choices, &held));
    said.sentences.extend(case.exceptions(others, &choices));
    said.sentences.extend(ties(&choices));
    said.sentences.push(case.limit(&choices));
    Some(said)
}

/// The bandwidth of a visitor's line, Mbit/s.
fn line_speed(evidence: &Evidence) -> f64 {
    let speed = |link: &crate::report::OverLink| {
        let measured = link.measured.down.as_ref().map(|rate| rate.measured_kbps);
        measured.or(link.asked.down_kbps).map(|kbps| kbps / 1e3)
    };
    let speeds: Vec<f64> = evidence.report.links.iter().filter_map(speed).collect();
    weigh_stats::median(&speeds).unwrap_or(MBIT)
}

impl<'a> Case<'a, '_> {
    /// At least two methods whose cost is known.
    fn competes(&self, group: &Group) -> bool {
        members(self.evidence, group).iter().filter(|row| row.cpu().is_some()).count() > 1
    }

    /// Transmission time of the bytes in nanoseconds ÷ 2, which is added to the CPU time.
    fn transfer(&self, row: &Row) -> f64 {
        Path::shared(self.mbit, 0.0, 1.0).sending_ns(row.value(BODY).unwrap_or(0.0)) / 2.0
    }

    fn cost(&self, row: &Sent) -> f64 {
        row.value(CPU).unwrap_or(f64::INFINITY) + self.transfer(row)
    }

    /// Whether `a` costs less than `b`, by the verdict.
    fn is_less(&self, a: &Sent<'a>, b: &Sent<'a>) -> bool {
        let total = |row: &Sent<'a>| Some((row.cpu()?, self.transfer(row)));
        total(a).zip(total(b)).is_some_and(|(a, b)| is_total_told_less(a, b))
    }

    fn least(&self, rows: impl IntoIterator<Item = Sent<'a>>) -> Option<Sent<'a>> {
        rows.into_iter().min_by(|a, b| self.cost(a).total_cmp(&self.cost(b)))
    }

    /// The methods of a coding that may be recommended.
    fn of_coding(&self, group: &'a Group, coding: &str) -> Vec<Sent<'a>> {
        let mut rows = on_the_fly(members(self.evidence, group), None);
        rows.retain(|row| row.coding() == Some(coding) && row.value(CPU).is_some_and(|ns| ns < LONGEST));
        rows
    }

    /// The best method of a coding.
    fn best(&self, group: &'a Group, coding: &'static str) -> Option<Choice<'a>> {
        let rows = self.of_coding(group, coding);
        let best = self.least(rows.iter().copied())?;
        let choice = |row, tied| Some(Choice { coding: Some(coding), row, tied });
        if best.delivery.by == By::Server {
            return choice(best, None);
        }
        let own = self.least(rows.iter().copied().filter(|row| row.delivery.by == By::Server));
        match own.filter(|own| !self.is_less(&best, own)) {
            Some(own) => choice(own, Some(best)),
            None => choice(best, None),
        }
    }

    /// The choice for each kind of browser, those that accept most codings first; the last kind accepts none.
    fn choices(&self, group: &'a Group) -> Vec<Choice<'a>> {
        let plain = marked(self.evidence, group, "reference");
        let mut choices: Vec<Choice> =
            plain.into_iter().map(|row| Choice { coding: None, row, tied: None }).collect();
        for coding in CODINGS {
            let best = self.best(group, coding);
            let is_better =
                |best: &Choice| choices.last().is_none_or(|known| self.is_less(&best.row, &known.row));
            choices.extend(best.filter(is_better));
        }
        choices.reverse();
        choices
    }

    /// The same method in another group: by the same party, and in PHP by the same function.
    fn same(&self, of: &Sent, group: &'a Group) -> Option<Sent<'a>> {
        let is_same = |row: &Sent<'a>| {
            let is_filter = of.delivery.by == By::Server && row.setting().level == of.setting().level;
            row.delivery.by == of.delivery.by
                && row.coding() == of.coding()
                && row.delivery.kind == of.delivery.kind
                && (row.setting() == of.setting() || (is_filter && row.is_plain_setting()))
        };
        members(self.evidence, group).into_iter().find(is_same)
    }

    /// Whether the choice costs little more than the best of its coding there. A group where it was not measured is no
    /// exception.
    fn holds(&self, group: &'a Group, choices: &[Choice]) -> bool {
        let of = |choice: &Choice| Some((self.same(&choice.row, group)?, choice.coding?));
        choices.iter().filter_map(of).all(|(own, coding)| {
            let best = self.least(self.of_coding(group, coding));
            best.is_none_or(|best| self.cost(&own) <= self.cost(&best) * FAR_BEHIND)
        })
    }

    fn recommended(&self, choice: &Choice, held: &[&'a Group]) -> Recommended {
        let mut rows: Vec<Sent> = held.iter().filter_map(|group| self.same(&choice.row, group)).collect();
        rows.sort_by_key(|row| bytes_of(self.evidence, &row.row.cell.payload));
        let (browsers, name) = match choice.coding {
            Some(coding) => (coding, label::way(&choice.row)),
            None => ("no compression", label::name(&choice.row)),
        };
        Recommended { scope: format!("browsers that take {browsers}"), name, cells: ids(&rows) }
    }

    /// `Send pages with zstd 3 in PHP to browsers that take zstd; with gzip 6 in nginx to the others.`
    fn used(&self, choices: &[Choice]) -> Sentence {
        let coded: Vec<(&str, String)> =
            choices.iter().filter_map(|c| Some((c.coding?, label::way(&c.row)))).collect();
        let text = match coded.as_slice() {
            [] => "Leave pages uncompressed.".to_owned(),
            [(_, one)] => format!("Send pages with {one}."),
            [(coding, first), (_, second)] => {
                format!(
                    "Send pages with {first} to browsers that take {coding}; with {second} to the others."
                )
            }
            [(coding, first), others @ ..] => {
                let others: Vec<String> =
                    others.iter().map(|(coding, name)| format!("{name} for {coding}")).collect();
                format!("Send pages with {first} to browsers that take {coding}; {}.", others.join("; "))
            }
        };
        Sentence::new(Part::Use, text, ids(choices.iter().map(|choice| &choice.row)))
    }

    /// Compared with current practice, on the median content by size.
    fn gain(&self, choices: &[Choice], held: &[&'a Group]) -> Option<Sentence> {
        let first = choices.first()?;
        let cells = self.recommended(first, held).cells;
        let middle = cells.get(cells.len() / 2)?;
        let group = held.iter().copied().find(|group| group.has(middle))?;
        let own = self.same(&first.row, group)?;
        let usual = ["gzip", "reference"].into_iter().filter_map(|mark| marked(self.evidence, group, mark));
        let usual = usual.into_iter().find(|usual| usual.own_id() != own.own_id())?;
        let ratio = own.ratio_to(&usual, CPU)?;
        let text = format!(
            "{}, beside {}: {} and {}.",
            label::place(self.evidence, group),
            label::way(&usual),
            label::change(&ratio, "CPU time per page"),
            label::bytes_beside(own.bytes(), usual.bytes())
        );
        Some(Sentence::new(Part::Gain, text, ids(&[own, usual])))
    }

    /// Where another method costs significantly less.
    fn exceptions(&self, groups: &[&'a Group], choices: &[Choice]) -> Option<Sentence> {
        let other = |group: &&'a Group| {
            let coding = choices.iter().filter_map(|choice| {
                let (own, coding) = (self.same(&choice.row, group)?, choice.coding?);
                let best = self.best(group, coding)?.row;
                (self.cost(&own) > self.cost(&best) * FAR_BEHIND).then_some(best)
            });
            let best = coding.into_iter().next()?;
            Some((format!("{} for {}", label::way(&best), label::place(self.evidence, group)), best.own_id()))
        };
        let (texts, cells): (Vec<String>, Vec<String>) = groups.iter().filter_map(other).unzip();
        let text = format!("Better elsewhere: {}.", label::some(&texts, NAMED));
        (!texts.is_empty()).then(|| Sentence::new(Part::Change, text, cells))
    }

    fn limit(&self, choices: &[Choice]) -> Sentence {
        let rounds = fewest_rounds(choices.iter().map(|choice| &choice.row));
        let sure = match rounds as usize {
            few if few < ROUNDS => format!("by figures of {} only", units::count(few, "round", "rounds")),
            enough => format!("{enough} rounds"),
        };
        let text = format!(
            "Chosen by CPU time, counted twice, and transfer at {} (modelled; {sure}).",
            units::mbit(self.mbit)
        );
        Sentence::new(Part::Limit, text, ids(choices.iter().map(|choice| &choice.row)))
    }
}

/// `It needs ext-zstd, through FFI here; browsers take zstd over HTTPS only.`
fn needs(choices: &[Choice]) -> Option<Sentence> {
    let needed: Vec<(String, &Sent)> =
        choices.iter().filter_map(|choice| Some((need(&choice.row)?, &choice.row))).collect();
    let names = crate::first::distinct(needed.iter().map(|(name, _)| name.clone()));
    let secure: Vec<&str> =
        choices.iter().filter_map(|choice| choice.coding).filter(|coding| *coding != "gzip").collect();
    let secure = match secure.is_empty() {
        true => String::new(),
        false => format!("browsers take {} over HTTPS only", units::list(&secure)),
    };
    let text = match (names.is_empty(), secure.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("Note: {secure}."),
        (false, true) => format!("It needs {}.", units::list(&names)),
        (false, false) => format!("It needs {}; {secure}.", units::list(&names)),
    };
    Some(Sentence::new(Part::Needs, text, ids(needed.into_iter().map(|(_, row)| row))))
}

/// What a method needs in addition to PHP and the server.
pub(crate) fn need(row: &Sent) -> Option<String> {
    let library = row.row.fact("library").unwrap_or_default();
    let codec = row.setting().codec.as_str();
    if row.delivery.by == By::Server {
        let module = match codec {
            "brotli" | "mod_brotli" => "Brotli",
            "zstd" => "zstd",
            _ => return None,
        };
        return Some(format!("the {module} module of {}", label::server(row)));
    }
    let extension = match codec {
        "libdeflate" => return Some("FFI".to_owned()),
        of if of.contains("zstd") => "ext-zstd",
        of if of.contains("brotli") => "ext-brotli",
        _ => return None,
    };
    let here = if library.ends_with("(ffi)") { " (through FFI here)" } else { "" };
    Some(format!("{extension}{here}"))
}

/// Filters that were chosen because there is no significant difference.
fn ties(choices: &[Choice]) -> Option<Sentence> {
    let (choice, tied) = choices.iter().find_map(|choice| Some((choice, choice.tied?)))?;
    let text = format!(
        "No significant difference to {}; the filter in {} leaves PHP's workers free sooner.",
        label::way(&tied),
        label::server(&choice.row)
    );
    Some(Sentence::new(Part::Limit, text, ids(&[choice.row, tied])))
}

//! What the site sends today: every file and page of the sample is asked for as each class of clients asks, of a private instance with the
//! user's configuration or of the running site. What was not answered is not known.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::configured::method;
use super::encoder;
use super::private::{STANDS_IN, Unexplained};
use super::served::Served;
use weigh_content::types;
use weigh_model::protocol::Levels;
use weigh_model::site::{From, Kind, Sample, Sent, Stratum, Today};
use weigh_model::text::clean;
use weigh_model::units::count;
use weigh_os::digest::sha256;
use weigh_os::interrupt::Interrupt;
use weigh_rig::asker::{Asker, CLASSES, Class, Question};
use weigh_rig::http::Reply;
use weigh_rig::server::Definition;
use weigh_run::subject::delivery::url;

/// How long all questions may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pages of a log that are asked for where none was fetched.
const MOST_PAGES: usize = 12;
/// The longest precompressed file that is compared with an answer, in bytes.
const LONGEST: u64 = 64 << 20;

/// What is asked for beside the sample, and what the answers are compared with.
#[derive(Clone, Copy)]
pub struct Questions<'a> {
    pub served: Option<&'a Served>,
    /// The server, as far as it is known.
    pub definition: Option<&'a Definition>,
    /// The paths of fetched pages, and of what scripts answer else, by the digest of their bodies.
    pub pages: &'a HashMap<String, String>,
    /// Paths of pages that a log names, the most requested first: asked for where no page was fetched.
    pub logged: &'a [String],
    /// Whether the site's own program makes pages; else a stand-in does, and only what the server does to it is known.
    pub has_program: bool,
    /// Paths of files that a program sends, whatever it sends them with: see [`super::by_program`].
    pub by_program: &'a HashSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoded {
    /// Nothing: it is the content.
    Not,
    /// It is a file beside the content.
    Before,
    OnTheFly,
    /// It is the content, and a content coding is named that it is not in.
    Named,
}

/// An answer to one class of clients.
struct Answer {
    sent: Sent,
    encoded: Encoded,
    /// Levels that make as many bytes.
    levels: Vec<i32>,
}

/// The answers for a file or page.
struct SampleAnswers {
    kind: Kind,
    /// The stratum and the file in it; none: a page that stands for none.
    sample: Option<(usize, usize)>,
    requests: f64,
    is_text: bool,
    answers: Vec<Answer>,
    /// A program made them in place of the file.
    is_by_program: bool,
    /// It has an ETag: that of a file where the server takes it from PHP's word (X-Accel-Redirect, X-Sendfile), if not one of PHP's.
    has_etag: bool,
    /// A conditional request with the answer's own ETag was answered with all of it.
    is_never_same: bool,
    /// Its bytes are in another content coding than the one that it is sent with.
    is_unreadable: bool,
}

impl SampleAnswers {
    /// Whether a program sends it as a file.
    fn is_sent_by_program(&self) -> bool {
        self.kind == Kind::Download && self.is_by_program
    }

    /// Whether a program sends it, and the server may do so at its word.
    fn is_handed_over(&self) -> bool {
        self.is_sent_by_program() && self.has_etag
    }
}

#[derive(Default)]
pub struct Answers {
    all: Vec<SampleAnswers>,
    /// Why something was not answered as what it is, with one path of each reason and how many there are.
    refused: Vec<(String, String, usize)>,
    /// Levels that were told so far, by content coding: tried first, for most files of a site have the same.
    levels: HashMap<String, Vec<i32>>,
    /// Files and pages for which there was no time.
    late: usize,
}

impl Questions<'_> {
    /// Asks for the samples of these strata.
    pub fn ask(&self, asker: &Asker<'_>, strata: &[Stratum]) -> Answers {
        let until = Instant::now() + PATIENCE;
        let is_late = || Instant::now() >= until || Interrupt::caught().is_set();
        let mut answers = Answers::default();
        for (at, stratum) in strata.iter().enumerate().filter(|(_, stratum)| stratum.kind != Kind::Value) {
            for (number, sample) in stratum.sample.iter().enumerate() {
                let made = self.pages.get(&sample.sha256).cloned();
                let is_made = stratum.kind == Kind::Page || made.is_some();
                let path = match is_made {
                    true => made,
                    false => Some(format!("/{}", url::file(&sample.path))),
                };
                // A stand-in's page is not a page of the site.
                let is_asked = !is_made || self.has_program;
                let Some(path) = path.filter(|_| is_asked) else { continue };
                if is_late() {
                    answers.late += 1;
                    continue;
                }
                let asked = self.one(
                    asker,
                    &path,
                    (stratum.kind, &stratum.format, Some(sample)),
                    &mut answers.levels,
                );
                let asked = asked.map_err(|reason| answers.refuse(reason, &path)).ok();
                answers.all.extend(asked.map(|asked| SampleAnswers {
                    sample: Some((at, number)),
                    requests: stratum.requests.value * sample.share,
                    is_text: stratum.is_worth_encoding(),
                    is_by_program: is_made || asked.is_by_program || self.by_program.contains(&path),
                    ..asked
                }));
            }
        }
        let mut logged = self.logged.iter().map(String::as_str).chain(["/", "/index.php"]).take(MOST_PAGES);
        while !is_late()
            && !answers.has_pages()
            && let Some(path) = logged.next()
        {
            // A site without pages refuses them: that is not news.
            let page = (Kind::Page, "text/html", None);
            answers.all.extend(self.one(asker, path, page, &mut answers.levels).ok());
        }
        answers
    }

    /// The answers for a path.
    ///
    /// # Errors
    /// What it is answered with in place of the content, so that what the site sends there is not known.
    fn one(
        &self,
        asker: &Asker<'_>,
        path: &str,
        (kind, format, sample): (Kind, &str, Option<&Sample>),
        levels: &mut HashMap<String, Vec<i32>>,
    ) -> Result<SampleAnswers, String> {
        let mut asked = SampleAnswers {
            kind,
            sample: None,
            requests: 0.0,
            is_text: kind == Kind::Page,
            answers: Vec::new(),
            is_by_program: false,
            has_etag: false,
            is_never_same: false,
            is_unreadable: false,
        };
        let file = sample.filter(|_| kind != Kind::Page);
        for class in &CLASSES {
            let question = Question { path, accept: class.header, ..Question::default() };
            let reply = asker.ask(&question).map_err(|fault| fault.message)?;
            if reply.status != 200 {
                return Err(format!("status {}", reply.status));
            }
            let is_whole = file.is_some_and(|file| file.sha256 == sha256(&reply.body));
            let content = match reply.decoded() {
                Ok(content) => content,
                Err(_) if is_whole => {
                    asked.is_unreadable = true;
                    reply.body.clone()
                }
                Err(error) => return Err(format!("{error:#}")),
            };
            if kind == Kind::Page && content.starts_with(b"<?php") {
                return Err("PHP's source, for nothing hands it to PHP".to_owned());
            }
            asked.is_by_program |= content.starts_with(STANDS_IN);
            asked.has_etag |= reply.field("etag").is_some();
            if file.is_some_and(|file| !is_whole && !is_the_file(file, format, &content, &reply)) {
                return match kind == Kind::Download && asked.is_by_program {
                    true => Ok(asked),
                    false => Err("other content than that of the file".to_owned()),
                };
            }
            if asked.answers.is_empty() && file.is_some() {
                asked.is_never_same = is_never_same(asker, path, class, &reply);
            }
            let answer = self.answer(class, (file, is_whole), &content, (&reply, &asked.answers, levels));
            asked.answers.push(answer);
        }
        Ok(asked)
    }

    /// An answer, with what encoded it. `is_whole`: its body is the file itself.
    fn answer(
        &self,
        class: &Class,
        (file, is_whole): (Option<&Sample>, bool),
        content: &[u8],
        (reply, others, known): (&Reply, &[Answer], &mut HashMap<String, Vec<i32>>),
    ) -> Answer {
        let coding = match reply.field("content-encoding") {
            Some(value) => clean(String::from_utf8_lossy(&value).trim()).to_lowercase(),
            None => "identity".to_owned(),
        };
        let coding = coding.strip_prefix("x-").map(str::to_owned).unwrap_or(coding);
        let is_variant = || {
            let ending = types::ending(&coding);
            let beside = file.filter(|_| !ending.is_empty()).map(|file| format!("{}.{ending}", file.path));
            let read = beside.and_then(|path| self.served?.read(&path, LONGEST).ok());
            read.is_some_and(|variant| variant == reply.body)
        };
        let encoded = match coding.as_str() {
            "identity" => Encoded::Not,
            _ if is_whole => Encoded::Named,
            _ if is_variant() => Encoded::Before,
            _ => Encoded::OnTheFly,
        };
        let bytes = reply.body.len() as u64;
        let same = others.iter().find(|other| other.sent.coding == coding && other.sent.bytes == bytes);
        let levels = match (encoded, same) {
            (Encoded::OnTheFly, Some(same)) => same.levels.clone(),
            (Encoded::OnTheFly, None) => {
                let first = known.get(&coding).map(Vec::as_slice).unwrap_or_default();
                let levels = encoder::levels(&coding, content, &reply.body, first);
                if !levels.is_empty() {
                    known.insert(coding.clone(), levels.clone());
                }
                levels
            }
            _ => Vec::new(),
        };
        let vary = reply.field("vary").map(|vary| String::from_utf8_lossy(&vary).to_lowercase());
        let sent = Sent {
            accept: class.codings.iter().map(|coding| (*coding).to_owned()).collect(),
            coding,
            bytes,
            method: None,
            vary: vary.is_some_and(|vary| vary.contains("accept-encoding") || vary.trim() == "*"),
            cache_control: reply.shown_field("cache-control"),
        };
        Answer { sent, encoded, levels }
    }

    fn name(&self) -> Option<&str> {
        self.definition.map(|definition| definition.name.as_str())
    }
}

/// Whether an answer's content is a file, or what a filter of the server made of it, which has its type.
fn is_the_file(file: &Sample, format: &str, content: &[u8], reply: &Reply) -> bool {
    let media_type = reply.field("content-type").map(|of| String::from_utf8_lossy(&of).to_lowercase());
    sha256(content) == file.sha256
        || !content.starts_with(STANDS_IN)
            && format != "text/html"
            && media_type.is_some_and(|of| of.split(';').next().unwrap_or_default().trim() == format)
}

/// Whether a client that has the answer is sent all of it again.
fn is_never_same(asker: &Asker<'_>, path: &str, class: &Class, reply: &Reply) -> bool {
    let Some(etag) = reply.field("etag").and_then(|etag| String::from_utf8(etag).ok()) else { return false };
    let fields = [("If-None-Match", etag.as_str())];
    let again = asker.ask(&Question { path, accept: class.header, fields: &fields, ..Question::default() });
    again.is_ok_and(|again| again.status == 200)
}

impl Answers {
    /// A file of the sample whose level is not told.
    pub fn unexplained(&self, questions: &Questions<'_>, strata: &[Stratum]) -> Option<Unexplained> {
        self.all.iter().filter(|asked| asked.kind == Kind::Asset).find_map(|asked| {
            let (at, number) = asked.sample?;
            let answer = asked
                .answers
                .iter()
                .find(|answer| answer.encoded == Encoded::OnTheFly && answer.levels.is_empty())?;
            let coding = answer.sent.coding.clone();
            let levels = row_levels(questions, &coding)?.as_ref()?;
            let class = CLASSES.iter().find(|class| answer.sent.accept == class.codings)?;
            Some(Unexplained {
                way: method(questions.name(), &coding, false).trim_start_matches("server/").to_owned(),
                levels: levels.min..=levels.max,
                path: format!("/{}", url::file(&strata[at].sample[number].path)),
                accept: class.header,
                bytes: answer.sent.bytes,
                coding,
            })
        })
    }

    /// Takes the level of one file for that of all files in the same content coding whose level is not told.
    pub fn explain(&mut self, of: &Unexplained, level: i32) {
        let answers = self.all.iter_mut().flat_map(|asked| &mut asked.answers);
        answers
            .filter(|answer| {
                let is_same = answer.encoded == Encoded::OnTheFly && answer.sent.coding == of.coding;
                is_same && answer.levels.is_empty()
            })
            .for_each(|answer| answer.levels.push(level));
    }

    fn refuse(&mut self, reason: String, path: &str) {
        match self.refused.iter_mut().find(|(known, ..)| *known == reason) {
            Some((.., count)) => *count += 1,
            None => self.refused.push((reason, clean(path), 1)),
        }
    }

    fn has_pages(&self) -> bool {
        self.all.iter().any(|asked| asked.kind == Kind::Page)
    }

    /// Puts the answers into the sample, and gives what the site does today with each kind. `place` says who was asked, and knows the line
    /// of a configuration that switches a method on.
    pub fn apply(
        &self,
        questions: &Questions<'_>,
        place: &dyn Fn(&str) -> String,
        strata: &mut [Stratum],
    ) -> Vec<Today> {
        for asked in &self.all {
            let Some((at, number)) = asked.sample else { continue };
            let sent = asked.answers.iter().map(|answer| Sent {
                method: self.method(questions, asked.kind, answer).filter(|_| !asked.is_sent_by_program()),
                ..answer.sent.clone()
            });
            strata[at].sample[number].sent = sent.collect();
        }
        let kinds = [Kind::Asset, Kind::Page, Kind::Download];
        kinds.into_iter().filter_map(|kind| self.today(questions, kind, place)).collect()
    }

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
    fn method(&self, questions: &Questions<'_>, kind: Kind, answer: &Answer) -> Option<String> {
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
    fn today(&self, questions: &Questions<'_>, kind: Kind, place: &dyn Fn(&str) -> String) -> Option<Today> {
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
        let named = super::configured::method(questions.name(), coding, false);
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
                "{files} sent by PHP, how is not known; say it in site.toml: [[today]] kind = \"download\", method = \"php/x-accel-redirect\", about = \"handed over\", from = \"given\""
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

fn row_levels<'q>(questions: &'q Questions<'_>, coding: &str) -> Option<&'q Option<Levels>> {
    let name = method(questions.name(), coding, false);
    let name = name.strip_prefix("server/")?;
    Some(&questions.definition?.ways.iter().find(|way| way.name == name)?.levels)
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

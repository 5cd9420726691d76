//! What the site sends today: every file and page of the sample is asked for as each class of clients asks, of a private instance with the
//! user's configuration or of the running site. What was not answered is not known.

mod today;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::configured::method;
use super::encoder;
use super::private::{STANDS_IN, Unexplained};
use super::served::Served;
use weigh_content::types;
use weigh_model::protocol::Levels;
use weigh_model::site::{Kind, Sample, Sent, Stratum, Today};
use weigh_model::text::clean;
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
}

fn row_levels<'q>(questions: &'q Questions<'_>, coding: &str) -> Option<&'q Option<Levels>> {
    let name = method(questions.name(), coding, false);
    let name = name.strip_prefix("server/")?;
    Some(&questions.definition?.ways.iter().find(|way| way.name == name)?.levels)
}

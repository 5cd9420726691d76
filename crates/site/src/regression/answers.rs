//! What a trial asks a server, and what it keeps of the answers: enough to tell whether another is worse.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::copy::{Copy, text};
use crate::refused::REFUSED;
use weigh_content::types::VARIANTS;
use weigh_model::site::Kind;
use weigh_os::digest::sha256;
use weigh_os::interrupt::Interrupt;
use weigh_rig::asker::{Asker, CLASSES, Question};
use weigh_rig::http::Reply;
use weigh_rig::upstream::{Respond, Response};

/// How long the questions to one side may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// The longest content that is compared, in bytes.
const LONGEST: usize = 1 << 20;
/// Questions to one side, at most.
const MOST: usize = 2000;
/// What the query of a stand-in's page begins with.
const QUERY: &str = "weigh-trial=";
/// Pages that a stand-in makes: names with media types.
const PAGES: [(&str, &str); 4] = [
    ("html", "text/html; charset=utf-8"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("rss", "application/rss+xml; charset=UTF-8"),
];
/// The name of such as hand something over.
const HANDING: &str = "file";
/// Their lengths in bytes.
const LENGTHS: [usize; 3] = [512, 2048, 8192];
/// Fields whose values differ from answer to answer, follow from the body, or name the instance's port: only whether they are there is kept.
const VARYING: [&str; 7] =
    ["last-modified", "expires", "set-cookie", "age", "x-request-id", "etag", "alt-svc"];
/// Fields that are about the connection or the body, which are compared by themselves.
const OWN: [&str; 8] = [
    "date",
    "server",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "content-range",
];

/// How something is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Get,
    /// GET over HTTP/1.0.
    Http10,
    /// GET as a content delivery network sends it.
    Via,
    Head,
    /// The first 100 bytes.
    Range,
    /// With the ETag of the last answer.
    IfNoneMatch,
    /// With the date of the last answer.
    IfModifiedSince,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file or a page of this kind.
    Content(Kind),
    /// A file that the configuration refuses, or a variant of one.
    Refused,
    /// A page that hands over a file that is not for downloads.
    HandedOver,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// The path with its query.
    pub path: String,
    /// Whose Accept-Encoding it has, one of [`CLASSES`].
    pub class: usize,
    pub form: Form,
    pub target: Target,
}

/// What is kept of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// The content coding in small letters, `identity` without one.
    pub coding: String,
    /// Bytes of the body; of a HEAD, what it says of them.
    pub bytes: Option<u64>,
    /// The digest of the content without its coding; none: it cannot be decoded, or was not sent.
    pub content: Option<String>,
    /// Whether the content is one that nobody is to be sent.
    pub is_secret: bool,
    /// Fields that are compared, with their values; nothing where only their being there counts.
    pub fields: BTreeMap<String, String>,
    pub etag: Option<String>,
    pub modified: Option<String>,
}

/// The answer to each question; none: there was none in time.
pub type Answered = (Asking, Option<Answer>);

impl Answer {
    fn of(reply: &Reply, is_head: bool) -> Answer {
        let text =
            |name: &str| reply.field(name).map(|value| String::from_utf8_lossy(&value).trim().to_owned());
        let coding =
            text("content-encoding").map_or_else(|| "identity".to_owned(), |coding| coding.to_lowercase());
        let content = Some(reply).filter(|_| !is_head).and_then(|reply| reply.decoded_within(LONGEST).ok());
        let value = |name: &String| match VARYING.contains(&name.as_str()) {
            true => String::new(),
            false => text(name).unwrap_or_default(),
        };
        let names = reply.field_names().into_iter().filter(|name| !OWN.contains(&name.as_str()));
        Answer {
            status: reply.status,
            coding,
            bytes: if is_head { reply.length } else { Some(reply.body.len() as u64) },
            is_secret: content.as_ref().is_some_and(|content| content.starts_with(Copy::SECRET.as_bytes())),
            content: content.map(|content| sha256(&content)),
            fields: names.map(|name| (name.clone(), value(&name))).collect(),
            etag: text("etag"),
            modified: text("last-modified"),
        }
    }

    pub fn is_content(&self) -> bool {
        matches!(self.status, 200 | 206)
    }
}

/// What a stand-in answers for the program behind the server: pages of each type and length, and such as hand over each of these, by
/// fields with their values.
pub fn respond(handed: Vec<(&'static str, String)>) -> Arc<Respond> {
    Arc::new(move |path: &str, _| {
        let wish = path.split_once(QUERY).and_then(|(_, wish)| wish.split_once('-'));
        let (name, number) = wish.unwrap_or_default();
        let number = number.parse().unwrap_or(LENGTHS[0]);
        match (PAGES.iter().find(|(known, _)| *known == name), handed.get(number)) {
            (None, Some(field)) if name == HANDING => {
                Response { fields: vec![field.clone()], ..Response::new(PAGES[0].1, Vec::new()) }
            }
            (page_of, _) => page(page_of.unwrap_or(&PAGES[0]).1, number.min(LENGTHS[2])),
        }
    })
}

/// A page with what applications give their pages.
fn page(media_type: &str, length: usize) -> Response {
    let body = text(length);
    let fields = vec![
        ("Content-Length", body.len().to_string()),
        ("ETag", format!("\"page-{length}\"")),
        ("Cache-Control", "private, no-cache".to_owned()),
    ];
    Response { fields, ..Response::new(media_type, body) }
}

/// Asks what is to be asked of a configuration as it is; which files it refuses shows only then. With the answers comes how many questions were left out.
/// `handed`: what pages hand over; `direct`: paths that lead to what is not for downloads if they lead anywhere.
pub fn first(
    asker: &Asker<'_>,
    copy: &Copy,
    handed: &[(&'static str, String)],
    direct: &[String],
) -> (Vec<Answered>, u64) {
    let mut asking = Session::new(asker);
    // Everybody may have what lies in the document root if the server sends it; Apache's module lets scripts hand it over always.
    let plain = asking.reply(&get(&format!("/{}", Copy::OUTSIDE), 0)).map(|reply| Answer::of(&reply, false));
    let is_public = plain.is_some_and(|answer| answer.is_secret);
    let public = copy.docroot.join(Copy::OUTSIDE).display().to_string();
    direct.iter().for_each(|path| asking.ask(Asking { target: Target::HandedOver, ..get(path, 0) }));
    for script in ["/index.php", "/weigh-trial/page.php", "/"] {
        let Some(reply) = asking.reply(&get(&format!("{script}?{QUERY}html-512"), 0)) else { continue };
        if reply.decoded_within(LONGEST).is_ok_and(|body| body == text(LENGTHS[0])) {
            for (at, _) in handed.iter().enumerate().filter(|(_, (_, file))| !is_public || *file != public) {
                asking.ask(Asking {
                    target: Target::HandedOver,
                    ..get(&format!("{script}?{QUERY}{HANDING}-{at}"), 0)
                });
            }
            for ((name, _), length) in PAGES.iter().flat_map(|of| LENGTHS.map(|length| (of, length))) {
                asking.all(&format!("{script}?{QUERY}{name}-{length}"), Kind::Page);
            }
            break;
        }
    }
    // What is last is not asked for where time or room is short: after what is not there come files of the sample, then those of other types.
    for missing in ["/weigh-trial/none.css", "/weigh-trial/none/", "/"] {
        asking.all(missing, Kind::Asset);
    }
    for file in &copy.files {
        let plain = asking.reply(&get(file, CLASSES.len() - 1));
        match plain.map(|reply| reply.status) {
            // What is sent under the name of its variant is no secret.
            Some(404 | 410) if copy.alone.contains(file) => {}
            Some(status) if REFUSED.contains(&status) => asking.refused(file),
            Some(_) => {
                let spare = copy.spare.get(file).into_iter().flatten();
                spare.for_each(|variant| drop(std::fs::remove_file(variant)));
                asking.all(file, Kind::Asset);
            }
            None => {}
        }
    }
    (asking.done, asking.left_out)
}

/// Asks the same of a configuration with something added; conditional requests have the validators of its own answers.
pub fn again(asker: &Asker<'_>, asked: &[Answered]) -> Vec<Answered> {
    let mut asking = Session::new(asker);
    asked.iter().for_each(|(question, _)| asking.ask(question.clone()));
    asking.done
}

fn get(path: &str, class: usize) -> Asking {
    Asking { path: path.to_owned(), class, form: Form::Get, target: Target::Content(Kind::Asset) }
}

/// Questions to one side.
struct Session<'a> {
    asker: &'a Asker<'a>,
    until: Instant,
    done: Vec<Answered>,
    left_out: u64,
}

impl<'a> Session<'a> {
    fn new(asker: &'a Asker<'a>) -> Session<'a> {
        Session { asker, until: Instant::now() + PATIENCE, done: Vec::new(), left_out: 0 }
    }

    /// Everything of content that is sent.
    fn all(&mut self, path: &str, kind: Kind) {
        let ask =
            |class: usize, form: Form| Asking { form, target: Target::Content(kind), ..get(path, class) };
        let (most, none) = (0, CLASSES.len() - 1);
        let begin = self.done.len();
        (0..CLASSES.len()).for_each(|class| self.ask(ask(class, Form::Get)));
        for form in [Form::IfNoneMatch, Form::IfModifiedSince] {
            [most, none].into_iter().for_each(|class| self.ask(ask(class, form)));
        }
        self.ask(ask(2, Form::Http10));
        self.ask(ask(2, Form::Via));
        self.ask(ask(most, Form::Head));
        [most, none].into_iter().for_each(|class| self.ask(ask(class, Form::Range)));
        self.settle(begin, &ask(none, Form::Get));
    }

    /// A refused file and its variants.
    fn refused(&mut self, path: &str) {
        let ask = |path: &str, class: usize| Asking { target: Target::Refused, ..get(path, class) };
        (0..CLASSES.len()).for_each(|class| self.ask(ask(path, class)));
        for (_, ending) in &VARIANTS[..3] {
            self.ask(ask(&format!("{path}.{ending}"), 0));
        }
    }

    /// Asks once more, and forgets what differs from answer to answer.
    fn settle(&mut self, begin: usize, question: &Asking) {
        let former = self.done[begin..].iter().find(|(asked, _)| asked == question);
        let Some((_, Some(former))) = former.cloned() else { return };
        let Some(now) = self.reply(question).map(|reply| Answer::of(&reply, false)) else { return };
        let differs = |name: &&String| now.fields.get(*name) != former.fields.get(*name);
        let varying: BTreeSet<String> = former.fields.keys().filter(differs).cloned().collect();
        for (_, answer) in &mut self.done[begin..] {
            let Some(answer) = answer else { continue };
            answer.fields.retain(|name, _| !varying.contains(name));
            answer.content = answer.content.take().filter(|_| now.content == former.content);
        }
    }

    fn ask(&mut self, question: Asking) {
        if self.done.len() < MOST && !Interrupt::caught().is_set() && Instant::now() < self.until {
            let answer = self.reply(&question).map(|reply| Answer::of(&reply, question.form == Form::Head));
            self.done.push((question, answer));
        } else {
            self.left_out += 1;
        }
    }

    /// The answer; none if there is none, or if the last one had no validator.
    fn reply(&self, question: &Asking) -> Option<Reply> {
        let last = || {
            let is_last = |(asked, _): &&Answered| {
                (&asked.path, asked.class, asked.form) == (&question.path, question.class, Form::Get)
            };
            self.done.iter().rev().take(30).find(is_last)?.1.as_ref()
        };
        let field: Option<(&str, String)> = match question.form {
            Form::Get | Form::Http10 | Form::Head => None,
            Form::Via => Some(("Via", "1.1 cdn".to_owned())),
            Form::Range => Some(("Range", "bytes=0-99".to_owned())),
            Form::IfNoneMatch => Some(("If-None-Match", last()?.etag.clone()?)),
            Form::IfModifiedSince => Some(("If-Modified-Since", last()?.modified.clone()?)),
        };
        let fields: Vec<(&str, &str)> = field.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let asked = Question {
            path: &question.path,
            accept: CLASSES[question.class].header,
            is_head: question.form == Form::Head,
            is_http_1_0: question.form == Form::Http10,
            fields: &fields,
        };
        self.asker.ask(&asked).ok()
    }
}

impl Asking {
    /// `GET, Accept-Encoding: gzip, deflate`.
    pub fn request(&self) -> String {
        let form = match self.form {
            Form::Get => "GET",
            Form::Http10 => "GET over HTTP/1.0",
            Form::Via => "GET, Via: 1.1 cdn",
            Form::Head => "HEAD",
            Form::Range => "GET, Range: bytes=0-99",
            Form::IfNoneMatch => "GET, If-None-Match",
            Form::IfModifiedSince => "GET, If-Modified-Since",
        };
        match CLASSES[self.class].header {
            "" => form.to_owned(),
            codings => format!("{form}, Accept-Encoding: {codings}"),
        }
    }
}

//! Whether the files that carry out a policy make anything of a site worse. The user's whole configuration runs in a private instance over a
//! copy of some of the site's files, as it is and with the files where their lines go, and both are asked the same. A file with which an answer
//! is worse is not written.
//!
//! It owns what is asked and what is worse. Where the files go in a configuration is the business of [`crate::configuration::own`].

mod answers;
mod compare;
mod copy;
pub mod settings;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::configuration::own::{instead, on_top};
use crate::configuration::{Emitted, carriers, downloads};
use crate::private::{Account, Private};
use crate::server_config::Configured;
use answers::{Answered, Target, again, first, respond};
use compare::{Allowed, compare};
use copy::Copy;
use weigh_model::policy::{Decision, Encoder, PageCaching, Policy, Trial, Withheld, Worse};
use weigh_model::site::{Kind, Site};
use weigh_model::units::count;
use weigh_model::way::{CONFIG, OwnConfig};
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::user::OwnUser;
use weigh_rig::asker::Asker;
use weigh_rig::server::{Found, offload_prefixes};
use weigh_rig::service::without_log;
use weigh_run::lab::Home;
use weigh_serverconf::Read;
use weigh_serverconf::syntax::Directive;

/// A policy on a configuration.
pub struct Subject<'a> {
    pub policy: &'a Policy,
    pub site: &'a Site,
    /// The site's configuration as it was read.
    pub own: &'a Configured,
}

/// What an instance with files answered, or why it did not.
enum InstanceAnswers {
    Answered(Vec<Answered>),
    /// The server does not start, in its words.
    Refused(String),
    Missing(String),
}

/// What is to be said of a trial that did not take place.
pub fn untried(why: impl Into<String>) -> Trial {
    Trial { untried: Some(why.into()), ..Trial::default() }
}

impl Subject<'_> {
    /// Tries these files of the policy: all together, else each by itself, and those that make nothing worse together again.
    ///
    /// # Errors
    /// The user wants an end, or there is no temporary folder.
    pub fn tried(&self, files: &[String]) -> Result<Trial> {
        let definition = &self.own.found.definition;
        let user = match OwnUser::for_programs(self.own.found.program.as_deref().into_iter()) {
            Ok(user) => user,
            Err(denied) => return Ok(untried(denied.refused("the server would run as root").to_string())),
        };
        let rules = definition.own.as_ref();
        let folder_file = rules.map_or("", |rules| rules.folder_file.as_str());
        let every = definition.policy.as_ref().is_some_and(|emission| emission.every);
        let copy = Copy::of(self.site, self.policy, (&self.own.read.site.root, folder_file, every), user)?;
        let direct: Vec<String> = offload_prefixes(downloads(self.site).folders.len())
            .map(|prefix| format!("{prefix}/{}", Copy::OUTSIDE))
            .collect();
        let side = Side { copy: &copy, user, handed: self.handed(&copy, &direct) };
        let mut not_asked = 0;
        let asks = |asker: &Asker<'_>| {
            let (answered, left_out) = first(asker, &copy, &side.handed, &direct);
            not_asked = left_out;
            Ok(answered)
        };
        let before = match side.run(self.own.clone(), asks)? {
            InstanceAnswers::Answered(before) if before.iter().any(|(_, answer)| answer.is_some()) => before,
            InstanceAnswers::Answered(_) => {
                return Ok(untried("a private instance with the configuration answered nothing"));
            }
            InstanceAnswers::Refused(words) | InstanceAnswers::Missing(words) => {
                return Ok(untried(format!(
                    "a private instance with the configuration does not start: {words}"
                )));
            }
        };
        let is_page = |(asking, _): &Answered| asking.target == Target::Content(Kind::Page);
        let without_pages = !before.iter().any(is_page);
        self.narrowed(files, &side, &before).map(|trial| Trial { without_pages, not_asked, ..trial })
    }

    fn narrowed(&self, files: &[String], side: &Side<'_>, before: &[Answered]) -> Result<Trial> {
        let with = |written: &[&String]| self.with(files, written, side, before);
        let all: Vec<&String> = files.iter().collect();
        let (answers, worse) = match with(&all)? {
            Ok((answers, worse)) if worse.is_empty() => return Ok(Trial { answers, ..Trial::default() }),
            Ok(compared) => compared,
            Err(missing) => return Ok(untried(missing)),
        };
        let whole = |file: &String| withheld(file, &worse);
        if files.len() == 1 {
            let withheld = files.iter().map(whole).collect();
            return Ok(Trial { answers, withheld, ..Trial::default() });
        }
        let (mut good, mut bad): (Vec<&String>, Vec<Withheld>) = (Vec::new(), Vec::new());
        // The files of a cache of pages need each other.
        let (of_cache, alone): (Vec<&String>, Vec<&String>) =
            files.iter().partition(|file| is_of_cache(file));
        let groups =
            alone.into_iter().map(|file| vec![file]).chain([of_cache]).filter(|group| !group.is_empty());
        for group in groups {
            match with(&group)? {
                Ok((_, worse)) if worse.is_empty() => good.extend(group),
                Ok((_, worse)) => bad.extend(group.into_iter().map(|file| withheld(file, &worse))),
                Err(missing) => return Ok(untried(missing)),
            }
        }
        let together = if good.is_empty() { Ok((answers, Vec::new())) } else { with(&good)? };
        Ok(match together {
            Ok((answers, worse)) if worse.is_empty() && !bad.is_empty() => {
                Trial { answers, withheld: bad, ..Trial::default() }
            }
            // Each by itself makes nothing worse, and together they do.
            Ok(_) => Trial { answers, withheld: files.iter().map(whole).collect(), ..Trial::default() },
            Err(missing) => untried(missing),
        })
    }

    /// How many answers were compared with some of the files written, and what is worse then, wherever their lines go; or what is missing to try it.
    fn with(
        &self,
        files: &[String],
        written: &[&String],
        side: &Side<'_>,
        before: &[Answered],
    ) -> Result<Result<(u64, Vec<Worse>), String>> {
        let without = files.iter().filter(|file| !written.contains(file));
        let left_out = |file: &String| Withheld { file: file.clone(), answers: 0, worse: Vec::new() };
        let trial = Trial { withheld: without.map(left_out).collect(), ..Trial::default() };
        let policy = Policy { trial: Some(trial), ..self.policy.clone() };
        let top = match on_top(&policy, self.site, &self.own.found, &self.own.read, None) {
            Ok(top) => top,
            Err(error) => return Ok(Err(format!("{error:#}"))),
        };
        let mut compared = self.compared(top.config, side, before)?;
        if let Some(first) = top.first.filter(|_| compared.as_ref().is_ok_and(|(_, worse)| worse.is_empty()))
        {
            compared = self.compared(first, side, before)?;
        }
        Ok(compared)
    }

    /// The same with one configuration that has them.
    fn compared(
        &self,
        config: OwnConfig,
        side: &Side<'_>,
        before: &[Answered],
    ) -> Result<Result<(u64, Vec<Worse>), String>> {
        Ok(match side.run(instead(self.own, config), |asker| Ok(again(asker, before)))? {
            InstanceAnswers::Answered(after) if after.iter().all(|(_, answer)| answer.is_none()) => {
                Ok((0, vec![whole("the server with it", "it starts, and answers nothing".to_owned())]))
            }
            InstanceAnswers::Answered(after) => {
                let compared = compare(before, &after, Allowed::by(self.policy));
                match (compared.1.is_empty(), after.len(), before.len()) {
                    (true, some, all) if some < all => {
                        Err(format!("the server with it answered {some} of {all} requests in time"))
                    }
                    _ => Ok(compared),
                }
            }
            InstanceAnswers::Missing(what) => Err(what),
            InstanceAnswers::Refused(words) => {
                Ok((0, vec![whole("the server does not start with it", words)]))
            }
        })
    }

    /// The site's configuration with the files of the policy in it.
    ///
    /// # Errors
    /// One line: what the server cannot carry out.
    pub fn carried_out(&self) -> Result<Configured> {
        let top = on_top(self.policy, self.site, &self.own.found, &self.own.read, None)?;
        Ok(instead(self.own, top.config))
    }

    /// How a page of PHP would name files that are not for downloads; `direct`: their URLs, one for each folder of downloads.
    fn handed(&self, copy: &Copy, direct: &[String]) -> Vec<(&'static str, String)> {
        match self.own.found.definition.offload_header.as_deref() {
            None => Vec::new(),
            Some("X-Accel-Redirect") => direct.iter().map(|url| ("X-Accel-Redirect", url.clone())).collect(),
            Some(_) => copy.outside.iter().map(|file| ("X-Sendfile", file.display().to_string())).collect(),
        }
    }
}

/// Whether a file is one of those of a cache of pages.
fn is_of_cache(file: &str) -> bool {
    file.contains("/page-cache")
}

/// What is worse of all.
fn whole(what: &str, words: String) -> Worse {
    Worse { what: what.to_owned(), after: words, ..Worse::default() }
}

/// Tries the files of a policy for a server on the site's configuration, and takes back what they would carry out where they are not
/// written. The policy has what came of it. `own`: the site's configuration; none: the site names none.
///
/// # Errors
/// The parts of the policy that the server cannot do; the user wants an end; there is no temporary folder.
pub fn judge(
    site: &Site,
    found: &Found,
    own: Option<&Result<Configured>>,
    policy: &mut Policy,
) -> Result<()> {
    let read = own.and_then(|own| own.as_ref().ok()).map(|own| &own.read);
    if let Some(why) = against_cache(found, read) {
        make_every_page(policy, why);
    }
    let carriers = carriers(policy, site, found, read)?;
    if carriers.is_empty() {
        return Ok(());
    }
    let trial = match own {
        None => untried("it is not known; look at the site again with --server-config"),
        Some(Err(error)) => untried(format!("{error:#}")),
        Some(Ok(own)) => {
            let files: Vec<String> = carriers.iter().map(|(file, _)| file.clone()).collect();
            Subject { policy, site, own }.tried(&files)?
        }
    };
    for one in &trial.withheld {
        let kinds = carriers.iter().filter(|(file, _)| *file == one.file).flat_map(|(_, kinds)| kinds);
        kinds.for_each(|kind| take_back(policy, *kind, one, |by| by != Encoder::Php));
        if is_of_cache(&one.file) {
            make_every_page(policy, &format!("{}, {}", one.file, reason(one)));
        }
    }
    policy.trial = Some(trial);
    Ok(())
}

/// What of the server or of its configuration is in the way of a cache of pages.
fn against_cache(found: &Found, read: Option<&Read>) -> Option<&'static str> {
    let snippets = found.definition.policy.iter().flat_map(|emission| &emission.snippets);
    if !snippets.into_iter().any(|snippet| snippet.cache) {
        return Some("for this server no cache of pages is written");
    }
    fn has_cache(directives: &[Directive]) -> bool {
        let is_it = |one: &Directive| {
            ["fastcgi_cache", "proxy_cache"].iter().any(|name| one.is(name)) && one.arguments != "off"
        };
        directives.iter().any(|one| is_it(one) || has_cache(one.within()))
    }
    has_cache(&read?.tree.directives).then_some("the configuration has a cache already")
}

/// Takes a cache of pages back.
pub fn make_every_page(policy: &mut Policy, why: &str) {
    if let Some(cache) = policy.page_cache.as_mut().filter(|cache| !cache.keep) {
        let text = format!("Let PHP make every page: {why}.");
        let refused = std::mem::take(&mut cache.refused);
        *cache = PageCaching {
            keep: true,
            text,
            seconds: 0,
            pages: Vec::new(),
            no_cookies: false,
            hits: None,
            cpu_ms: None,
            refused,
        };
    }
}

/// Keeps a kind of content as it is whose decision is carried out by such encoders.
fn take_back(policy: &mut Policy, kind: Kind, withheld: &Withheld, is_by: impl Fn(Encoder) -> bool) {
    let carried = |one: &Decision| one.method.is_some() || one.rules.iter().any(|rule| is_by(rule.by));
    if policy.decisions.iter().any(|one| one.kind == kind && carried(one)) {
        let why = format!("Leave {} as they are: {}, {}.", kind.plural(), withheld.file, reason(withheld));
        policy.keep_as_it_is(kind, &why);
    }
}

/// Leaves out the settings that the PHP library refuses, and takes back what they would carry out. Where no PHP can be asked, the file says so.
///
/// # Errors
/// The PHP side cannot be put in place.
pub fn judge_settings(home: &Home, site: &Site, policy: &mut Policy, files: &mut Vec<Emitted>) -> Result<()> {
    let Some(at) = files.iter().position(|one| one.file == Path::new(settings::FILE)) else { return Ok(()) };
    let named = [site.sources.php.first().map_or_else(|| "php".into(), PathBuf::from)];
    let asked = home.php(&named).and_then(|php| {
        let cli = php.first().map(|php| php.cli.clone()).unwrap_or_default();
        settings::refusal(&files[at].text(), &home.php_home()?.join("library"), &cli)
    });
    match asked {
        Ok(None) => files[at].tried = Some("Checked: the library loads it.".to_owned()),
        Err(error) => files[at].unchecked = Some(format!("{error:#}")),
        Ok(Some(words)) => {
            let worse = vec![whole("the PHP library refuses it", words.clone())];
            let withheld = Withheld { file: settings::FILE.to_owned(), answers: 0, worse };
            for (section, kind) in
                [("page", Kind::Page), ("value", Kind::Value), ("download", Kind::Download)]
            {
                if words.contains(&format!("{section}.")) {
                    take_back(policy, kind, &withheld, |by| by == Encoder::Php);
                }
            }
            policy.trial.get_or_insert_with(|| untried("no file is written for it")).withheld.push(withheld);
            files.remove(at);
        }
    }
    Ok(())
}

/// What both sides have in common.
struct Side<'a> {
    copy: &'a Copy,
    user: Option<OwnUser>,
    handed: Vec<(&'static str, String)>,
}

impl Side<'_> {
    /// Starts the server with a configuration over the copy, and asks it.
    fn run(
        &self,
        own: Configured,
        ask: impl FnOnce(&Asker<'_>) -> Result<Vec<Answered>> + Send,
    ) -> Result<InstanceAnswers> {
        let way = own.found.ways.iter().find(|way| way.name == CONFIG);
        if let Some(missing) = way.and_then(|way| way.missing.clone()) {
            return Ok(InstanceAnswers::Missing(missing));
        }
        let account = Account { user: self.user, shown: Vec::new() };
        let copy = (self.copy.tree.as_path(), self.copy.docroot.as_path());
        let private = Private::over(own, copy, account, respond(self.handed.clone()));
        let asked = Interrupt::during(|interrupt| {
            let asked = private.with(interrupt, ask);
            if interrupt.is_set() { Err(None) } else { asked.map_err(Some) }
        });
        match asked? {
            Ok(answers) => Ok(InstanceAnswers::Answered(answers)),
            Err(Some(error)) => Ok(InstanceAnswers::Refused(without_log(&error))),
            Err(None) => anyhow::bail!(INTERRUPTED),
        }
    }
}

/// A file that is not written, with one example of each thing that is worse.
fn withheld(file: &str, worse: &[Worse]) -> Withheld {
    let is_first = |at: &usize| !worse[..*at].iter().any(|one| one.what == worse[*at].what);
    let firsts = (0..worse.len()).filter(is_first).map(|at| worse[at].clone());
    Withheld { file: file.to_owned(), answers: worse.len() as u64, worse: firsts.collect() }
}

/// `/app.css (GET, Accept-Encoding: gzip, deflate): body 120 bytes before, 400 bytes with it`.
pub fn sentence(worse: &Worse) -> String {
    let Worse { url, request, what, before, after } = worse;
    match url.as_str() {
        "" => format!("{what}: {after}"),
        url => format!("{url} ({request}): {what} {before} without it, {after} with it"),
    }
}

/// Why a file is not written, in one line.
pub fn reason(withheld: &Withheld) -> String {
    let first = withheld.worse.first().map(sentence).unwrap_or_default();
    let number = usize::try_from(withheld.answers).unwrap_or(usize::MAX);
    match withheld.worse.first() {
        Some(one) if !one.url.is_empty() => {
            format!("not written, for it makes {} worse: {first}", count(number, "answer", "answers"))
        }
        _ => format!("not written: {first}"),
    }
}

#[cfg(test)]
mod tests;

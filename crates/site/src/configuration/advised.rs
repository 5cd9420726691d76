//! What a policy asks of one server: its rules with the server's own methods, merged where the server cannot tell pages from assets.

use anyhow::{Result, bail};

use super::present::Present;
use super::sections;
use weigh_content::types;
use weigh_model::advised::{Advised, Encoding, HeldPages, KeptConfiguration};
use weigh_model::policy::{Decision, Encoder, PageCaching, Policy, Rule};
use weigh_model::setting::Request;
use weigh_model::site::{Kind, Site};
use weigh_model::text::clean;
use weigh_model::way::WayKind;
use weigh_rig::server::Definition;
use weigh_rig::server::definition::WayRow;
use weigh_rig::server::emission::Emission;
use weigh_serverconf::{Read, Syntax};

/// The smallest content that is compressed where neither the policy, the server nor the site's configuration says one, in bytes: smaller content
/// may become larger. A rule that has more was measured to be better from there on.
const LEAST: u64 = 256;

/// What this server does for a policy. Methods that it does not have by name are those of its own that do the same. What the site's own
/// configuration, `read`, compresses goes on to be compressed.
///
/// # Errors
/// One line: the rule that it cannot carry out, and why.
pub fn advised(
    policy: &Policy,
    site: &Site,
    definition: &Definition,
    read: Option<&Read>,
) -> Result<Advised> {
    let decision = |kind| policy.decisions.iter().find(|decision| decision.kind == kind);
    let mut assets = encodings(decision(Kind::Asset), definition)?;
    let pages = encodings(decision(Kind::Page), definition)?;
    let has_pages = definition.policy.as_ref().is_some_and(Emission::has_pages);
    // Where nothing is decided for pages, what they have today stays.
    let is_told = decision(Kind::Page).is_some_and(|page| !page.keep || !page.rules.is_empty());
    let all = &all_types(site);
    let beside = definition.policy.iter().flat_map(|emission| &emission.snippets).find(|part| part.pages);
    let beside = beside.and_then(|part| part.beside.as_deref());
    let here = Inherited { definition, read, all };
    let filters = here.filters_beside(&assets);
    assets.extend(filters);
    // A server with one level for all that it compresses: what is left beside precompressed files does not change that of pages.
    if !has_pages
        && assets.iter().any(|rule| rule.kind == WayKind::PreEncoded)
        && !pages.iter().any(Encoding::is_on_the_fly)
    {
        assets.iter_mut().for_each(|rule| rule.level = None);
    }
    let (mut rules, mut pages) = match (has_pages, is_told) {
        (true, true) => apart(assets, pages, all, here.is_narrowed()),
        (true, false) => {
            let rules = with_types(assets, false, all);
            let pages = beside.and_then(|beside| here.untouched(&rules, beside));
            (rules, pages)
        }
        // What is not for pages is switched off for them.
        (false, _) => {
            let is_for_pages = is_told && pages.iter().any(Encoding::is_on_the_fly);
            let rules = if is_told { together(assets, pages, all) } else { with_types(assets, false, all) };
            let fly = rules.iter().filter(|rule| rule.is_on_the_fly());
            let off = fly.cloned().map(switched_off).collect();
            (rules, (!is_for_pages).then_some(off))
        }
    };
    let downloads = decision(Kind::Download).filter(|d| !d.keep).and_then(|d| d.method.as_deref());
    let downloads =
        downloads.map(|method| method.split(['/', ':']).find(|part| *part != "server" && *part != "php"));
    let hands_over = |row: &&WayRow| matches!(row.kind, WayKind::Offload | WayKind::Transparent);
    let named = downloads.flatten().and_then(|name| {
        let mut rows = definition.ways.iter().filter(hands_over);
        let offload = name.starts_with("x-").then_some(WayKind::Offload);
        rows.clone().find(|row| row.name == name).or_else(|| rows.find(|row| Some(row.kind) == offload))
    });
    here.on(&mut rules, None);
    pages.iter_mut().for_each(|pages| here.on(pages, beside));
    let pages = pages.filter(|pages| !pages.is_empty());
    let own = read.map(|read| here.kept(read, &rules, beside));
    let aliases = site.sources.aliases.clone();
    let page_cache = policy.page_cache.as_ref().filter(|cache| !cache.keep).map(held);
    Ok(Advised { rules, pages, downloads: named.map(|row| row.name.clone()), page_cache, aliases, own })
}

/// The pages of a cache, whose names come from a log: every byte that is no letter or digit is written by its number.
fn held(cache: &PageCaching) -> HeldPages {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_".contains(&byte);
    let escaped =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("\\x{byte:02X}") };
    let pages = cache.pages.iter().map(|page| page.bytes().map(escaped).collect());
    HeldPages { seconds: cache.seconds, pages: pages.collect(), no_cookies: cache.no_cookies }
}

/// What goes on to hold beside a policy.
struct Inherited<'g> {
    definition: &'g Definition,
    read: Option<&'g Read>,
    /// The types that are worth encoding.
    all: &'g [String],
}

impl Inherited<'_> {
    fn row(&self, method: &str) -> Option<&WayRow> {
        self.definition.ways.iter().find(|row| row.name == method)
    }

    /// Whether a list of types further in takes the place of one further out.
    fn is_narrowed(&self) -> bool {
        self.definition.ways.iter().any(|row| row.types_in.is_some())
    }

    /// What leaves pages as they are where rules hold for everything else: [`Inherited::on`] has what is on for them today go on. Of a
    /// configuration that is not known, only what stands beside precompressed files is off.
    fn untouched(&self, rules: &[Encoding], beside: &str) -> Option<Vec<Encoding>> {
        let present = self.read.map(|read| Present::of(read, Some(beside)));
        if present.as_ref().is_some_and(|present| !present.has_blocks()) {
            return None;
        }
        let is_new = |rule: &&Encoding| present.is_some() || self.is_beside(rules, &rule.method);
        let fly = rules.iter().filter(|rule| rule.is_on_the_fly());
        let pages: Vec<Encoding> = fly.filter(is_new).cloned().map(switched_off).collect();
        (!pages.is_empty()).then_some(pages)
    }

    /// The filters without which clients are sent uncompressed what has no precompressed file, where these rules have none. None are needed
    /// where nothing is compressed on the fly.
    fn filters_beside(&self, rules: &[Encoding]) -> Vec<Encoding> {
        let fly = rules.iter().find(|rule| rule.is_on_the_fly());
        let present = self.read.map(|read| Present::of(read, None));
        let (min_bytes, types) = match (fly, &present) {
            (Some(fly), _) => (fly.min_bytes, fly.types.clone()),
            (None, Some(present)) if self.is_any_on(present) => (0, Vec::new()),
            (None, Some(_)) => return Vec::new(),
            (None, None) => (rules.first().map_or(0, |rule| rule.min_bytes), Vec::new()),
        };
        let filter = |rule: &Encoding| {
            let row = self.row(self.row(&rule.method)?.beside.as_deref()?)?;
            let (method, codings, types) = (row.name.clone(), row.codings.clone(), types.clone());
            let is_new = rules.iter().all(|rule| rule.method != method);
            let filter =
                Encoding { method, kind: row.kind, codings, min_bytes, types, ..Encoding::default() };
            is_new.then_some(filter)
        };
        rules.iter().filter_map(filter).collect()
    }

    fn is_any_on(&self, present: &Present<'_>) -> bool {
        let mut fly = self.definition.ways.iter().filter(|row| row.kind == WayKind::OnTheFly);
        fly.any(|row| is_on(present, &row.name))
    }

    /// Whether a method compresses what has no precompressed file beside another of these rules.
    fn is_beside(&self, rules: &[Encoding], method: &str) -> bool {
        let needs =
            |rule: &Encoding| self.row(&rule.method).is_some_and(|row| row.beside.as_deref() == Some(method));
        rules.iter().any(needs)
    }

    /// Makes rules go on from what the configuration has where their part goes: types that it lists are encoded as before, from the size on
    /// that it has, and what would be switched off and is on today goes on as it is today.
    fn on(&self, rules: &mut [Encoding], beside: Option<&str>) {
        let present = self.read.map(|read| Present::of(read, beside));
        let is_on = |method: &str| present.as_ref().is_some_and(|own| is_on(own, method));
        let fly = || self.definition.ways.iter().filter(|row| row.kind == WayKind::OnTheFly);
        let is_any_on = present.as_ref().is_some_and(|own| self.is_any_on(own));
        let filters: Vec<String> =
            rules.iter().filter_map(|rule| self.row(&rule.method)?.beside.clone()).collect();
        for rule in rules.iter_mut().filter(|rule| rule.off && is_on(&rule.method)) {
            let row = self.row(&rule.method);
            let theirs = row.and_then(|row| present.as_ref()?.in_force(row.level_in.as_ref()?));
            let usual = row.and_then(|row| row.levels.as_ref()).map(|levels| levels.default);
            rule.level = theirs.and_then(|words| words.first()?.parse().ok()).or(usual);
            (rule.off, rule.types, rule.min_bytes) = (false, vec!["text/html".into()], 0);
        }
        for rule in rules.iter_mut().filter(|rule| rule.is_on_the_fly() && !rule.off) {
            let row = self.row(&rule.method);
            if row.is_some_and(|row| row.types_in.is_some()) {
                let theirs: Vec<String> = match &present {
                    // What another filter compresses today, a client of this one is sent compressed, too.
                    Some(own) => fly()
                        .filter_map(|row| row.types_in.as_ref())
                        .flat_map(|name| own.words(name))
                        .collect(),
                    // Whatever its list has, most of it is in this one.
                    None => self.all.iter().cloned().chain(types::FORMER.map(str::to_owned)).collect(),
                };
                rule.types.extend(theirs.into_iter().filter(|name| name == "*" || is_type(name)));
            }
            rule.types = types::with_names(&rule.types);
            if rule.types.iter().any(|name| name == "*") {
                rule.types = vec!["*".into()];
            }
            let size_in = row.and_then(|row| row.size_in.as_ref()).zip(present.as_ref());
            let says_size = size_in.is_some_and(|(directive, own)| own.in_force(directive).is_some());
            let is_theirs = says_size || is_any_on || filters.contains(&rule.method);
            rule.min_bytes = match rule.min_bytes {
                0..=LEAST if is_theirs => 0,
                0 => LEAST,
                decided => decided,
            };
        }
    }

    /// What the parts leave of the configuration as it is.
    fn kept(&self, read: &Read, rules: &[Encoding], beside: Option<&str>) -> KeptConfiguration {
        let present = Present::of(read, beside);
        let all = self.definition.policy.iter().flat_map(|emission| &emission.kept);
        // Of lighttpd's conditions the last that says something holds, wherever it stands.
        let is_anywhere = self.definition.own.as_ref().is_some_and(|rules| rules.syntax == Syntax::Assigned);
        // `gzip_static always` is one with that value.
        let has = |kept: &&String| {
            let (name, value) = kept.split_once(' ').unwrap_or((kept.as_str(), ""));
            let said = match is_anywhere {
                true => Present::of(read, Some(name)).in_force(name),
                false => present.in_force(name),
            };
            said.is_some_and(|words| value.is_empty() || words.iter().any(|word| word == value))
        };
        let directives = all.filter(has).cloned().collect();
        let lists = self.definition.ways.iter().filter_map(|row| row.codings_in.as_ref());
        let mut codings: Vec<String> = lists.flat_map(|name| present.list(name)).collect();
        let is_fly = |row: &&WayRow| row.kind == WayKind::OnTheFly;
        let known: Vec<&String> =
            self.definition.ways.iter().filter(is_fly).flat_map(|row| &row.codings).collect();
        codings.retain(|coding| known.contains(&coding));
        codings.sort();
        codings.dedup();
        let before = rules.iter().filter(|rule| rule.kind == WayKind::PreEncoded);
        let mut endings: Vec<&str> =
            before.flat_map(|rule| &rule.codings).map(|c| types::ending(c)).collect();
        endings.dedup();
        let syntax = self.definition.own.as_ref().map(|rules| rules.syntax);
        let sections = syntax.map(|syntax| sections::of_variants(syntax, read, &endings)).unwrap_or_default();
        KeptConfiguration { directives, codings, sections }
    }
}

/// Whether the configuration has a method on.
fn is_on(present: &Present<'_>, method: &str) -> bool {
    present.in_force(method).is_some_and(|word| word == ["on"])
}

fn switched_off(rule: Encoding) -> Encoding {
    Encoding { off: true, ..rule }
}

/// The rules of a decision that the server carries out; types are those of the rules, which may name none.
fn encodings(decision: Option<&Decision>, definition: &Definition) -> Result<Vec<Encoding>> {
    let mut encodings: Vec<Encoding> = Vec::new();
    let rules = decision.into_iter().flat_map(|decision| &decision.rules);
    for rule in rules.filter(|rule| rule.by != Encoder::Php) {
        let encoding = encoding(rule, definition)?;
        let known =
            encodings.iter_mut().find(|known| known.method == encoding.method && !known.is_on_the_fly());
        match known {
            // One method sends several content codings.
            Some(known) => known.codings.extend(encoding.codings),
            None => encodings.push(encoding),
        }
    }
    encodings.extend(decision.and_then(|decision| gzip(decision, &encodings, definition)));
    Ok(encodings)
}

/// gzip beside other codings, at the level that the server has: proxies, older clients and those without TLS accept nothing else. None: it is
/// there, or nothing is encoded.
fn gzip(decision: &Decision, encodings: &[Encoding], definition: &Definition) -> Option<Encoding> {
    let is_other = |rule: &&Rule| ["br", "zstd"].contains(&rule.coding.as_str());
    let first = decision.rules.iter().find(is_other)?;
    // The PHP library leaves pages alone that repeat secrets, and has gzip of its own beside.
    let by_library =
        decision.rules.iter().all(|rule| rule.by == Encoder::Php && rule.method.contains("weighbridge"));
    if by_library || decision.rules.iter().any(|rule| rule.coding == "gzip") {
        return None;
    }
    let row = definition.ways.iter().find(|row| row.kind == WayKind::OnTheFly && row.codings == ["gzip"])?;
    Some(Encoding {
        method: row.name.clone(),
        kind: WayKind::OnTheFly,
        codings: row.codings.clone(),
        min_bytes: first.min_bytes,
        types: encodings.first().map_or_else(|| first.types.clone(), |encoding| encoding.types.clone()),
        ..Encoding::default()
    })
}

fn encoding(rule: &Rule, definition: &Definition) -> Result<Encoding> {
    let (method, server) = (clean(&rule.method), &definition.name);
    let request = Request::parse(rule.method.trim_start_matches("server/"))?;
    let kind = if rule.by == Encoder::Beforehand { WayKind::PreEncoded } else { WayKind::OnTheFly };
    let sends = |row: &&WayRow| row.kind == kind && row.codings.contains(&rule.coding);
    let rows = || definition.ways.iter().filter(sends);
    // One that needs no other arrangement of the files comes first.
    let row = rows().find(|row| row.name == request.name).or_else(|| rows().find(|row| row.mirror.is_none()));
    let Some(row) = row else {
        bail!("policy: {server} has no method that sends {} as `{method}` does", clean(&rule.coding));
    };
    let asked = request.level();
    let level = row.levels.as_ref().map(|levels| (rule.level.or(asked).unwrap_or(levels.default), levels));
    if let Some((level, levels)) = level.filter(|(level, levels)| !(levels.min..=levels.max).contains(level))
    {
        bail!("policy: {server}: {} has levels {} to {}, not {level}", row.name, levels.min, levels.max);
    }
    if let Some(wrong) = rule.types.iter().find(|name| !is_type(name)) {
        bail!("policy: `{}` is not a media type", clean(wrong));
    }
    Ok(Encoding {
        method: row.name.clone(),
        kind,
        off: false,
        level: level.map(|(level, _)| level),
        codings: vec![rule.coding.clone()],
        min_bytes: rule.min_bytes,
        types: rule.types.clone(),
    })
}

fn is_type(name: &str) -> bool {
    let is_token =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || ".+-".contains(c));
    name.split_once('/').is_some_and(|(main, sub)| is_token(main) && is_token(sub))
}

/// The types that are worth encoding: those of the lab's servers, and those whose files were measured, as the site's server calls them.
fn all_types(site: &Site) -> Vec<String> {
    let mut all: Vec<String> = types::compressible().into_iter().map(str::to_owned).collect();
    let measured = site.of(Kind::Asset).filter(|one| one.saving.is_some() && one.is_worth_encoding());
    for stratum in measured.filter(|one| is_type(&one.format)) {
        if !all.contains(&stratum.format) {
            all.push(stratum.format.clone());
        }
    }
    all
}

/// Those whose rules name no types hold for all text; HTML is what PHP makes where `with_html` is false.
fn with_types(mut encodings: Vec<Encoding>, with_html: bool, all: &[String]) -> Vec<Encoding> {
    let all: Vec<String> = all.iter().filter(|name| with_html || *name != "text/html").cloned().collect();
    encodings.iter_mut().filter(|e| e.types.is_empty()).for_each(|e| e.types.clone_from(&all));
    encodings
}

/// Whether both compress each response in the same way, whatever its type.
fn alike(one: &[Encoding], other: &[Encoding]) -> bool {
    let fly = |all: &[Encoding]| -> Vec<(String, Option<i32>, u64)> {
        all.iter().filter(|e| e.is_on_the_fly()).map(|e| (e.method.clone(), e.level, e.min_bytes)).collect()
    };
    fly(one) == fly(other)
}

/// One list for both, with the types of both.
fn united(assets: Vec<Encoding>, pages: &[Encoding], all: &[String]) -> Vec<Encoding> {
    let mut rules = with_types(assets, true, all);
    for page in with_types(pages.to_vec(), true, all) {
        for rule in rules.iter_mut().filter(|rule| rule.method == page.method) {
            let new: Vec<String> = page.types.iter().filter(|t| !rule.types.contains(t)).cloned().collect();
            rule.types.extend(new);
        }
    }
    rules
}

/// For a server that can tell what PHP makes: rules for all, and those of pages where they differ. `is_narrowed`: pages have their own list of
/// types, which is HTML. The ETag of what else PHP makes would be a weak one, which applications such as WordPress do not know again.
fn apart(
    assets: Vec<Encoding>,
    pages: Vec<Encoding>,
    all: &[String],
    is_narrowed: bool,
) -> (Vec<Encoding>, Option<Vec<Encoding>>) {
    if !is_narrowed && alike(&assets, &pages) {
        return (united(assets, &pages, all), None);
    }
    let html = ["text/html".to_owned()];
    let types = if is_narrowed { &html } else { all };
    let (assets, mut pages) = (with_types(assets, true, all), with_types(pages, true, types));
    pages.retain(Encoding::is_on_the_fly);
    let off =
        |asset: &&Encoding| asset.is_on_the_fly() && pages.iter().all(|page| page.method != asset.method);
    let off: Vec<Encoding> = assets.iter().filter(off).cloned().map(switched_off).collect();
    pages.extend(off);
    (assets, (!pages.is_empty()).then_some(pages))
}

/// For a server that knows types only: those of pages are theirs alone.
fn together(assets: Vec<Encoding>, pages: Vec<Encoding>, all: &[String]) -> Vec<Encoding> {
    if alike(&assets, &pages) {
        return united(assets, &pages, all);
    }
    let pages = with_types(pages, true, &["text/html".to_owned()]);
    let mut rules = with_types(assets, false, all);
    for rule in rules.iter_mut().filter(|rule| rule.is_on_the_fly()) {
        rule.types.retain(|name| name != "text/html" && pages.iter().all(|page| !page.types.contains(name)));
    }
    rules.retain(|rule| !rule.types.is_empty());
    rules.extend(pages);
    rules
}

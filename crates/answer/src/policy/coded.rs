//! Assets and pages: which content codings to send, how, from which size on, and for which types.
//!
//! A setup has at most one method per content coding, a smallest size, and a list of types. Clients get the first coding that they
//! accept, in the order of the codings' values. Every combination is valued by its figures; the best ones are compared
//! with their intervals.

mod measured;
mod method;

use std::collections::BTreeMap;

use weigh_model::policy::{Encoder, Rule};
use weigh_model::site::{Accept, Kind, Stratum};
use weigh_model::way::{By, WayKind};
use weigh_stats::median;

use super::Ground;
use super::content::{self, Item};
use super::setup::{Exact, FileAmounts, NS, Setup};
use super::today::Answer;
use crate::choose::TOLERANCE;
use crate::first::{distinct, grouped};
use crate::metric::delivery::{CODING, CPU};
use crate::money::Weights;
use crate::row::Row;
use measured::{Measured, known};
use method::{CODINGS, GZIP, Method, named};

pub(super) use method::{is_own, way_of};

/// Combinations whose intervals are looked at.
const COMPARED: usize = 48;
/// The share of its bytes that encoding must save of a type.
const SAVED: f64 = 0.02;
/// The share by which what a client is sent may be longer than today, unless a policy says so.
const LONGER: f64 = 0.02;
/// The smallest size that is encoded where none is known of today.
const SMALLEST: u64 = 256;
/// The level of gzip where nothing else is said: nearly all that a higher one saves.
const USUAL: i32 = 6;

pub(super) struct MeasuredStratum<'a> {
    pub stratum: &'a Stratum,
    /// The share of its requests whose response today is known.
    pub known: f64,
    /// Bytes of bodies per month of that share.
    pub sent: f64,
}

/// Everything that setups of a kind are made of.
pub(crate) struct Coded<'a> {
    kind: Kind,
    accept: &'a [Accept],
    methods: Vec<Method<'a>>,
    measured: Vec<Measured<'a>>,
    /// CPU nanoseconds that the site's own configuration takes for a response beyond the lab's.
    beyond: f64,
    /// Content codings that clients get today.
    codings: Vec<&'a str>,
    /// The smallest file that is sent in one of them today.
    smallest: Option<u64>,
    /// The share by which what saves bytes may take longer: loads of pages are no more exact than that, and may not show what most of the traffic is.
    longer: f64,
}

/// A combination: a method per coding, the first that is sent first; the smallest size; types.
#[derive(Clone, Debug, Default, PartialEq)]
struct Combination {
    methods: Vec<usize>,
    min_bytes: u64,
    types: Vec<String>,
    cost: f64,
}

/// What a file takes per month with a method.
struct Taken {
    cost: f64,
    /// Bytes.
    sent: f64,
}

/// Of each file, by method, the plain one last; none where it was not measured.
type Table = Vec<Vec<Option<Taken>>>;

fn sum(table: &Table, files: &[usize], method: usize, of: fn(&Taken) -> f64) -> Option<f64> {
    files.iter().map(|file| table[*file][method].as_ref().map(of)).sum()
}

impl Combination {
    /// Whether it encodes a file.
    fn holds(&self, own: &Measured) -> bool {
        own.item.sample.bytes >= self.min_bytes && self.types.contains(&own.item.stratum.format)
    }
}

impl<'a> Coded<'a> {
    /// What was measured of a kind; none if no sample file was measured as it is, and of kinds that are not encoded.
    pub fn new(ground: &'a Ground<'a>, kind: Kind) -> Option<Coded<'a>> {
        if !matches!(kind, Kind::Asset | Kind::Page) {
            return None;
        }
        let accept = ground.classes.as_slice();
        let mut measured = known(ground, kind, content::items(ground.site, kind));
        // The classes of clients are never known so well that nobody takes gzip.
        let is_accepted = |method: &Method| {
            method.coding == GZIP || accept.iter().any(|one| one.codings.iter().any(|c| c == method.coding))
        };
        let encoded = |own: &Measured<'a>| -> Vec<Method<'a>> {
            own.rows.iter().filter_map(|row| Method::new(row).filter(is_accepted)).collect()
        };
        let encoded: Vec<Vec<Method>> = measured.iter().map(encoded).collect();
        let by_way = grouped(encoded.iter().flatten().map(|method| (&method.way, method)));
        let methods: Vec<Method> = by_way.into_iter().map(|(_, same)| same[0].clone()).collect();
        let limit = ground.site.limits.first_byte_ms.value;
        for (own, encoded) in measured.iter_mut().zip(&encoded) {
            // A method that takes too long for a file is none for it.
            let is_soon = |row: &&Row| (time(row) - time(own.plain)) * 1e3 <= limit;
            let row = |method: &Method| encoded.iter().rfind(|one| one.way == method.way).map(|one| one.row);
            // Of what a program makes no file can be made beforehand: it stays as it is today.
            let as_today = own.today.iter().flatten().map(|answer| answer.row).next().unwrap_or(own.plain);
            let stays = |method: &&Method| own.item.sample.is_made() && method.by == Encoder::Beforehand;
            let of = |method: &Method| {
                Some(method).filter(stays).map(|_| as_today).or_else(|| row(method).filter(is_soon))
            };
            own.by_method = methods.iter().map(of).collect();
        }
        // What the site's own configuration adds; nothing if it sends no file as it is.
        let beyond = |own: &Measured| {
            let as_it_is = own.rows.iter().find(|row| is_own(row) && row.fact(CODING).is_none());
            Some(as_it_is?.value(CPU)? - own.plain.value(CPU)?)
        };
        let beyond: Vec<f64> = measured.iter().filter_map(beyond).collect();
        let beyond = median(&beyond).unwrap_or(0.0).max(0.0);
        let coded = |own: &Measured<'a>| -> Vec<&'a str> {
            own.today.iter().flatten().filter_map(|answer| answer.row.fact(CODING)).collect()
        };
        let codings = distinct(measured.iter().flat_map(coded));
        let smallest = measured.iter().filter(|own| !coded(own).is_empty());
        let smallest = smallest.map(|own| own.item.sample.bytes).min();
        let longer = if ground.page_waits.is_some() { TOLERANCE } else { 0.0 };
        let all = Coded { kind, accept, methods, measured, beyond, codings, smallest, longer };
        (!all.measured.is_empty()).then_some(all)
    }

    /// The setups worth comparing: today's, and the combinations with the lowest values, the plain one among them where nothing is encoded today.
    pub fn setups(&self, ground: &Ground, weights: &Weights) -> Vec<Setup> {
        let mut all = self.combinations(&self.table(ground, weights));
        // Clients that nobody counted decide nothing: they keep today's method.
        let is_kept: Vec<bool> = (0..self.methods.len()).map(|at| self.is_kept(at)).collect();
        let departs = |one: &Combination| one.methods.iter().filter(|at| !is_kept[**at]).count();
        let rank = |one: &Combination| (one.methods.len(), departs(one));
        all.sort_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| rank(a).cmp(&rank(b))));
        let today = self.today(ground, &all.first().cloned().unwrap_or_default());
        let (coded, plain): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| !one.methods.is_empty());
        let shown = coded.iter().take(COMPARED).chain(&plain);
        shown.map(|one| self.setup(ground, one)).chain(today).collect()
    }

    /// Whether clients can be sent these methods: each coding of today is among them, and gzip always.
    fn keeps_codings(&self, methods: &[usize]) -> bool {
        let has = |coding: &str| methods.iter().any(|at| self.methods[*at].coding == coding);
        (methods.is_empty() || has(GZIP)) && self.codings.iter().all(|coding| has(coding))
    }

    /// Whether not both PHP and a server's filter encode: PHP does it first for each client that accepts its coding, and the filter leaves that alone.
    fn is_by_one(&self, methods: &[usize]) -> bool {
        let is_by = |encoder| methods.iter().any(|at| self.methods[*at].by == encoder);
        !(is_by(Encoder::Php) && is_by(Encoder::Server))
    }

    /// What the site does today, to be compared with a setup of these rules; none if nothing of today is known.
    pub fn before(&self, ground: &Ground, rules: &[Rule]) -> Option<Setup> {
        self.today(ground, &self.combined(rules)?)
    }

    pub fn strata(&self) -> Vec<MeasuredStratum<'a>> {
        let clients: f64 = self.accept.iter().map(|client| client.share).sum();
        let told = |(_, files): (_, Vec<&Measured<'a>>)| {
            let stratum = files[0].item.stratum;
            let all: f64 = files.iter().map(|own| own.item.sample.share).sum();
            let (mut known, mut sent) = (0.0, 0.0);
            for Measured { item, today, .. } in files {
                for (answer, client) in today.iter().zip(self.accept) {
                    let Some(answer) = answer else { continue };
                    known += client.share * item.sample.share;
                    sent += answer.body(item) * item.scale * item.requests * client.share;
                }
            }
            let known = (known / (all * clients).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            MeasuredStratum { stratum, known, sent }
        };
        let files = self.measured.iter().map(|own| (std::ptr::from_ref(own.item.stratum), own));
        grouped(files).into_iter().map(told).collect()
    }

    /// What each file takes with each method.
    fn table(&self, ground: &Ground, weights: &Weights) -> Table {
        let of_file = |own: &Measured<'a>| {
            let taken = |row: &'a Row| {
                let exact = response(ground, &own.item, Answer::of(row));
                let cpu_ns = ground.cpu(row, own.item.scale).map_or(0.0, |cpu| cpu.value);
                let cost = (weights.wait + weights.core) * cpu_ns / NS + exact.cost(weights);
                Taken { cost: cost * own.item.requests, sent: exact.sent * own.item.requests }
            };
            own.by_method.iter().copied().chain([Some(own.plain)]).map(|row| row.map(taken)).collect()
        };
        self.measured.iter().map(of_file).collect()
    }

    /// Every combination with its value.
    fn combinations(&self, table: &Table) -> Vec<Combination> {
        let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
        for coding in CODINGS {
            let own = (0..self.methods.len()).filter(|at| self.methods[*at].coding == coding);
            let choices: Vec<Option<usize>> = std::iter::once(None).chain(own.map(Some)).collect();
            let with = |list: &Vec<usize>, one: &Option<usize>| list.iter().copied().chain(*one).collect();
            lists = lists.iter().flat_map(|list| choices.iter().map(move |one| with(list, one))).collect();
        }
        lists.retain(|methods| self.keeps_codings(methods) && self.is_by_one(methods));
        lists.iter().filter_map(|methods| self.combination(methods, table)).collect()
    }

    /// A combination of methods for the types and sizes for which it is better; none if there are none, or if one of its methods was not
    /// measured on a file that it would encode.
    fn combination(&self, methods: &[usize], table: &Table) -> Option<Combination> {
        let min_bytes = self.min_bytes(methods, table);
        let files = |is_in: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..self.measured.len()).filter(|file| self.bytes(*file) >= min_bytes && is_in(*file)).collect()
        };
        let formats = distinct((0..self.measured.len()).map(|file| self.format(file)));
        let is_gained = |format: &&str| {
            self.may_be_encoded(format, methods)
                && self.gains(&files(&|file| self.format(file) == *format), methods, table)
        };
        let types: Vec<&str> = formats.into_iter().filter(is_gained).collect();
        if types.is_empty() && !methods.is_empty() {
            return None;
        }
        let held = files(&|file| types.contains(&self.format(file)));
        let total = |method: &usize| Some((*method, sum(table, &held, *method, |one| one.cost)?));
        let mut order: Vec<(usize, f64)> = methods.iter().map(total).collect::<Option<_>>()?;
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let methods: Vec<usize> = order.into_iter().map(|(method, _)| method).collect();
        let mut cost = 0.0;
        for (file, taken) in table.iter().enumerate() {
            for client in self.accept {
                let method = if held.contains(&file) { self.sent_to(&methods, client) } else { None };
                cost += taken[method.unwrap_or(self.methods.len())].as_ref()?.cost * client.share;
            }
        }
        let types = types.into_iter().map(str::to_owned).collect();
        let found = Combination { methods, min_bytes, types, cost };
        (!self.lengthens(&found) && !self.is_lowered(&found.methods)).then_some(found)
    }

    /// The levels by which a coding is made for each response today; none where the method that does it is not known.
    fn levels_today<'s>(&'s self, coding: &'s str) -> impl Iterator<Item = Option<i32>> + 's {
        let answers = self.measured.iter().flat_map(|own| own.today.iter().flatten());
        let is_made = |row: &&Row| row.cell.delivery.as_ref().is_some_and(|d| d.kind == WayKind::OnTheFly);
        let rows = answers.map(|answer| answer.row).filter(is_made);
        rows.filter(move |row| row.fact(CODING) == Some(coding)).map(|row| row.cell.setting.level)
    }

    /// Whether a method has the level of today; of gzip the usual one where today's is not known.
    fn is_kept(&self, method: usize) -> bool {
        let Method { coding, row, .. } = self.methods[method];
        let level = row.cell.setting.level;
        let mut known = self.levels_today(coding).flatten().peekable();
        match known.peek() {
            Some(_) => known.any(|own| Some(own) == level),
            None => coding != GZIP || level == Some(USUAL),
        }
    }

    /// Whether a server's filter for assets would have a lower level of gzip than today's, as far as that is below the usual one. A filter is for more than
    /// the files that were measured: what nobody looked at would get longer.
    fn is_lowered(&self, methods: &[usize]) -> bool {
        let Some(today) = self.levels_today(GZIP).map(|level| level.unwrap_or(USUAL)).max() else {
            return false;
        };
        let is_lower = |method: &Method| {
            let level = method.row.cell.setting.level;
            method.coding == GZIP
                && method.by == Encoder::Server
                && level.is_some_and(|own| own < today.min(USUAL))
        };
        self.kind == Kind::Asset && methods.iter().any(|at| is_lower(&self.methods[*at]))
    }

    /// Whether a type may be encoded by these methods. A server's filter makes ETags weak, and what PHP makes that is not HTML, such as a feed, may be of
    /// an application that compares them to the letter: it stays as it is, unless it is encoded today.
    fn may_be_encoded(&self, format: &str, methods: &[usize]) -> bool {
        let is_by_server = methods.iter().any(|at| self.methods[*at].by == Encoder::Server);
        let is_coded = |own: &Measured| own.today.iter().flatten().any(|one| one.row.fact(CODING).is_some());
        let files = || self.measured.iter().filter(|own| own.item.stratum.format == format);
        self.kind != Kind::Page || !is_by_server || format == "text/html" || files().any(is_coded)
    }

    /// Whether clients of a class would be sent more bytes of a type than today, although all together are not: a traffic that grows is said of all. A
    /// server's filter is for more than the files that were measured, pages among them: where these would get longer, so would all.
    fn lengthens(&self, of: &Combination) -> bool {
        let mut sums: BTreeMap<(&str, usize), [f64; 2]> = BTreeMap::new();
        for (file, own) in self.measured.iter().enumerate() {
            for (class, (client, today)) in self.accept.iter().zip(&own.today).enumerate() {
                let Some(today) = today else { continue };
                let sum = sums.entry((self.format(file), class)).or_default();
                for (at, answer) in [*today, self.answer(of, file, class)].into_iter().enumerate() {
                    sum[at] += answer.body(&own.item) * own.item.requests * client.share;
                }
            }
        }
        let grows = |[before, after]: [f64; 2]| after > before * (1.0 + LONGER);
        let all = sums.values().fold([0.0; 2], |all, sum| [all[0] + sum[0], all[1] + sum[1]]);
        let is_wide =
            self.kind == Kind::Asset && of.methods.iter().any(|at| self.methods[*at].by == Encoder::Server);
        (is_wide || !grows(all)) && sums.values().any(|sum| grows(*sum))
    }

    /// Whether these files are to be encoded: that saves bytes of them, and is better with the method that is best for them, or done today. What is sent
    /// today is known of them, if of any.
    fn gains(&self, files: &[usize], methods: &[usize], table: &Table) -> bool {
        let plain = self.methods.len();
        let answers = |file: usize| self.measured[file].today.iter().flatten();
        let is_any_told = (0..self.measured.len()).any(|file| answers(file).next().is_some());
        let is_known = !is_any_told || files.iter().any(|file| answers(*file).next().is_some());
        let is_coded = |file: &usize| answers(*file).any(|answer| answer.row.fact(CODING).is_some());
        let cost = |method: usize| sum(table, files, method, |one| one.cost);
        let sent = |method: usize| sum(table, files, method, |one| one.sent);
        let coded = methods.iter().filter_map(|method| cost(*method)).reduce(f64::min);
        let pair = coded.zip(cost(plain));
        let is_better = pair.is_some_and(|(coded, plain)| coded < plain * (1.0 + self.longer))
            || files.iter().any(is_coded);
        let saves = |method: &usize| {
            sent(*method).zip(sent(plain)).is_some_and(|(coded, plain)| coded < plain * (1.0 - SAVED))
        };
        is_known && is_better && methods.iter().any(saves)
    }

    /// The smallest size: that of today, or the usual one. A larger one is taken where nothing is encoded today, and smaller files of types that are
    /// encoded were measured and are worse for it.
    fn min_bytes(&self, methods: &[usize], table: &Table) -> u64 {
        if let Some(smallest) = self.smallest {
            return smallest.min(SMALLEST);
        }
        let is_saved: Vec<bool> =
            (0..self.measured.len()).map(|file| self.gains(&[file], methods, table)).collect();
        let is_meant = |at: &usize| {
            let mut same = (0..is_saved.len()).filter(|other| self.format(*other) == self.format(*at));
            self.bytes(*at) >= SMALLEST && same.any(|other| is_saved[other])
        };
        let mut files: Vec<usize> = (0..is_saved.len()).filter(is_meant).collect();
        files.sort_by_key(|at| self.bytes(*at));
        let last = files.into_iter().take_while(|at| !is_saved[*at]).last();
        last.map_or(SMALLEST, |at| self.measured[at].item.stratum.to_bytes.unwrap_or(self.bytes(at) + 1))
    }

    /// The setup of rules; none if one of their methods was not measured on a file that it holds for.
    pub fn of(&self, ground: &Ground, rules: &[Rule]) -> Option<Setup> {
        let of = self.combined(rules)?;
        let is_measured = |own: &Measured| of.methods.iter().all(|method| own.by_method[*method].is_some());
        self.measured.iter().all(|own| !of.holds(own) || is_measured(own)).then(|| self.setup(ground, &of))
    }

    /// The combination of rules; none if one of their methods was not measured.
    fn combined(&self, rules: &[Rule]) -> Option<Combination> {
        let number = |rule: &Rule| self.methods.iter().position(|method| method.way == rule.method);
        let methods: Vec<usize> = rules.iter().map(number).collect::<Option<_>>()?;
        let min_bytes = rules.first().map_or(0, |rule| rule.min_bytes);
        let mut types = rules.first().map_or(Vec::new(), |rule| rule.types.clone());
        if types.is_empty() {
            types = distinct((0..self.measured.len()).map(|file| self.format(file).to_owned()));
        }
        Some(Combination { methods, min_bytes, types, cost: 0.0 })
    }

    fn format(&self, file: usize) -> &str {
        &self.measured[file].item.stratum.format
    }

    fn bytes(&self, file: usize) -> u64 {
        self.measured[file].item.sample.bytes
    }

    /// The first method whose coding a client accepts.
    fn sent_to(&self, methods: &[usize], client: &Accept) -> Option<usize> {
        methods.iter().copied().find(|at| client.codings.iter().any(|own| own == self.methods[*at].coding))
    }

    /// What a class of clients gets of a file with a combination.
    fn answer(&self, of: &Combination, file: usize, class: usize) -> Answer<'a> {
        let own = &self.measured[file];
        let method = self.sent_to(&of.methods, &self.accept[class]).filter(|_| of.holds(own));
        Answer::of(method.and_then(|method| own.by_method[method]).unwrap_or(own.plain))
    }

    /// A combination with its amounts per month.
    fn setup(&self, ground: &Ground, of: &Combination) -> Setup {
        let methods: Vec<&Method> = of.methods.iter().map(|at| &self.methods[*at]).collect();
        let rule = |method: &&Method| {
            // Variants of files cost nothing per response: every type that is worth it has them, measured or not.
            let is_measured = |format: &str| (0..self.measured.len()).any(|file| self.format(file) == format);
            let is_more = |stratum: &&Stratum| {
                method.by == Encoder::Beforehand
                    && stratum.is_worth_encoding()
                    && !is_measured(&stratum.format)
            };
            let more = ground.site.of(self.kind).filter(is_more).map(|stratum| stratum.format.clone());
            let types = distinct(of.types.iter().cloned().chain(more));
            let is_every = ground.site.of(self.kind).all(|stratum| types.contains(&stratum.format));
            method.rule(of.min_bytes, if is_every { Vec::new() } else { types })
        };
        Setup {
            name: named(self.kind, &methods, ground.site.today(self.kind)),
            rules: methods.iter().map(rule).collect(),
            needs: methods.iter().flat_map(|method| method.needs()).collect(),
            ..self.amounts(ground, |file, class| self.answer(of, file, class))
        }
    }

    /// What the site does today, if anything of it is known. Clients for which that is not known get what the combination sends: what is not known is no
    /// part of a gain.
    fn today(&self, ground: &Ground, of: &Combination) -> Option<Setup> {
        self.measured.iter().flat_map(|own| &own.today).any(Option::is_some).then(|| {
            let about = ground.site.today(self.kind).map_or("as it is today", |today| today.about.as_str());
            let answer = |file: usize, class: usize| {
                self.measured[file].today[class].unwrap_or_else(|| self.answer(of, file, class))
            };
            Setup { name: about.to_owned(), is_today: true, ..self.amounts(ground, answer) }
        })
    }

    /// The sums per month over files and classes of clients.
    fn amounts(&self, ground: &Ground, answer: impl Fn(usize, usize) -> Answer<'a>) -> Setup {
        // The same row for several clients is one amount.
        let mut weights: BTreeMap<(usize, &str, Option<u64>), (Answer, f64)> = BTreeMap::new();
        for file in 0..self.measured.len() {
            for (class, client) in self.accept.iter().enumerate() {
                let answer = answer(file, class);
                let key = (file, answer.row.id(), answer.body.map(f64::to_bits));
                weights.entry(key).or_insert((answer, 0.0)).1 += client.share;
            }
        }
        let part = |((file, ..), (answer, share)): ((usize, _, _), (Answer, f64))| {
            let item = &self.measured[file].item;
            let requests = share * item.requests;
            let exact = response(ground, item, answer).times(requests);
            // Methods are measured in the lab's configuration, and would run in the site's own.
            let beyond = if is_own(answer.row) { 0.0 } else { self.beyond };
            let cpu = ground.cpu(answer.row, item.scale).map(|cpu| cpu.shifted(beyond).scaled(requests));
            FileAmounts::new(item, answer.row, cpu, exact)
        };
        Setup::of(weights.into_iter().map(part).collect())
    }
}

/// Seconds of CPU time of a response: all that encoding may take until the first byte.
fn time(row: &Row) -> f64 {
    row.value(CPU).unwrap_or(0.0) / NS
}

/// Seconds that a visitor waits for a response with this body on the way, and while it is decoded.
pub(super) fn waiting(ground: &Ground, item: &Item, row: &Row, body: f64, sent: f64) -> f64 {
    let decoding =
        row.fact(CODING).map_or(0.0, |coding| ground.decode_ns(coding, item.sample)) / NS * item.scale;
    let part = body / (item.sample.bytes as f64).max(1.0);
    ground.wait(item.stratum, part, sent) + decoding * ground.readers.slower
}

/// What one response takes besides CPU time.
pub(super) fn response(ground: &Ground, item: &Item, answer: Answer) -> Exact {
    let row = answer.row;
    let sent = answer.body(item) * item.scale + item.head(row);
    let made = item.stratum.made_ms.map_or(0.0, |made| made.value / 1e3);
    let fixed = made + ground.wait(item.stratum, 0.0, 0.0);
    let wait = made + waiting(ground, item, row, answer.body(item), sent);
    let encodes = row.cell.delivery.as_ref().is_some_and(|delivery| delivery.by == By::Php);
    let encoding = if encodes { time(row) * item.scale } else { 0.0 };
    let workers = item.stratum.made_ms.map_or(0.0, |_| made + encoding);
    let made = if ground.knows_made { made } else { 0.0 };
    Exact { wait, fixed, made, sent, workers, ..Exact::default() }
}

//! Which field of a format is what: by the names that its fields have, else by the content of all lines that are looked at. What more than one thing
//! may be, such as numbers without a name, is nothing.
//!
//! The place of a field counts from the time: what stands before that, such as a user's name with spaces, moves nothing behind it.

use std::collections::{BTreeMap, HashMap};

use super::content::Column;
use super::duration::Unit;
use super::entry::{self, Unreadable};
use super::fields::{Field, Form, MOST};
use super::moment;
use super::names::{self, ROLES, Role};

/// The furthest place from the time: no line has more fields.
const FURTHEST: i32 = MOST as i32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Named(Vec<u8>),
    At(i32),
}

/// Where the time of a line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Anchor {
    form: Form,
    /// How far behind the time the request stands, where that tells the time from other times.
    request: Option<i32>,
}

/// The fields of a format.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    anchor: Option<Anchor>,
    named: HashMap<Vec<u8>, (Role, u8)>,
    /// By the distance from the time, of which [`FURTHEST`] is zero.
    at: Vec<Option<Role>>,
    upstream: Option<Unit>,
    whole: Option<Unit>,
}

/// The fields of a line by what they are.
pub struct Values<'l>([Option<(u8, &'l [u8])>; ROLES]);

impl<'l> Values<'l> {
    /// What a line says of this.
    pub fn get(&self, role: Role) -> Option<&'l [u8]> {
        self.0[role as usize].map(|(_, value)| value)
    }
}

impl Columns {
    pub fn learn(lines: &[Vec<Field<'_>>]) -> Columns {
        let mut columns = Columns { anchor: anchor(lines), at: vec![None; 2 * MOST], ..Columns::default() };
        let mut found: BTreeMap<Key, Column> = BTreeMap::new();
        for fields in lines {
            let Some(from) = columns.anchor(fields) else { continue };
            let has_body = !fields.iter().any(|field| {
                field.value == b"304" || field.value == b"HEAD" || field.value.starts_with(b"HEAD ")
            });
            for (at, field) in fields.iter().enumerate() {
                let key = match field.name {
                    b"" => Key::At(at as i32 - from as i32),
                    name => Key::Named(name.to_vec()),
                };
                found.entry(key).or_default().add(field, has_body);
            }
        }
        let is_caddy = found
            .get(&Key::Named(b"logger".to_vec()))
            .is_some_and(|column| column.distinct.iter().any(|value| value.starts_with(b"http.log.access")));
        let mut learned = Learned { found, is_caddy, given: BTreeMap::new(), upstream: None, whole: None };
        learned.by_name();
        learned.by_content(lines.len());
        (columns.upstream, columns.whole) = (learned.upstream, learned.whole);
        for (key, (role, rank)) in learned.given {
            match key {
                Key::Named(name) => drop(columns.named.insert(name, (role, rank))),
                Key::At(at) => columns.at[(at + FURTHEST) as usize] = Some(role),
            }
        }
        columns
    }

    /// The fields of a line by what they are.
    ///
    /// # Errors
    /// It has no time where the others have theirs.
    pub fn values<'l>(&self, fields: &[Field<'l>]) -> Result<Values<'l>, Unreadable> {
        let from = self.anchor(fields).ok_or(Unreadable("no access log line of a known format"))?;
        let mut values = Values([None; ROLES]);
        for (at, field) in fields.iter().enumerate() {
            let known = match field.name {
                b"" => self.at.get(at + MOST - from).copied().flatten().map(|role| (role, 0)),
                name => self.named.get(name).copied(),
            };
            if let Some((role, rank)) = known {
                let held = &mut values.0[role as usize];
                if held.is_none_or(|(best, _)| rank < best) {
                    *held = Some((rank, field.value));
                }
            }
        }
        Ok(values)
    }

    /// Microseconds that a response took: those of what is behind the server, where it tells them.
    pub fn micros(&self, values: &Values<'_>) -> Option<u64> {
        let of = |role, unit: Option<Unit>| super::duration::micros(values.get(role)?, unit?);
        of(Role::Upstream, self.upstream).or_else(|| of(Role::Whole, self.whole))
    }

    /// Where the time is; the first field where times have names.
    fn anchor(&self, fields: &[Field<'_>]) -> Option<usize> {
        let Some(anchor) = self.anchor else { return Some(0) };
        let all =
            || fields.iter().enumerate().filter(|(_, field)| field.form == anchor.form && is_time(field));
        let has_request = |at: usize| {
            let at = usize::try_from(at as i32 + anchor.request?).ok()?;
            fields.get(at).filter(|field| field.form == Form::Quoted)
        };
        let best = all().find(|(at, _)| has_request(*at).is_some()).or_else(|| all().next());
        best.map(|(at, _)| at)
    }
}

/// Whether a field without a name begins as a time does, which is enough in a line whose format is known.
fn is_time(field: &Field<'_>) -> bool {
    field.name.is_empty()
        && match field.value {
            [_, _, b'/', _, _, _, b'/', ..] | [_, _, _, _, b'-', _, _, b'-', ..] => true,
            value => value.len() >= 13 && value.len() < 20 && moment::parse(value).is_ok(),
        }
}

/// How times are written, and where requests stand behind them.
fn anchor(lines: &[Vec<Field<'_>>]) -> Option<Anchor> {
    let mut forms: BTreeMap<Form, usize> = BTreeMap::new();
    let mut requests: BTreeMap<(Form, i32), usize> = BTreeMap::new();
    for fields in lines {
        let times: Vec<(usize, Form)> = fields
            .iter()
            .enumerate()
            .filter(|(_, field)| is_time(field) && moment::parse(field.value).is_ok())
            .map(|(at, field)| (at, field.form))
            .collect();
        for form in [Form::Bracketed, Form::Quoted, Form::Bare] {
            *forms.entry(form).or_default() += usize::from(times.iter().any(|time| time.1 == form));
        }
        let asked = fields.iter().position(|field| {
            field.form == Form::Quoted
                && entry::parse_request_line(field.value).is_some()
                && field.value.contains(&b'/')
        });
        for ((at, form), request) in times.iter().zip(std::iter::repeat(asked)) {
            if let Some(request) = request {
                *requests.entry((*form, request as i32 - *at as i32)).or_default() += 1;
            }
        }
    }
    let form = *forms.iter().rev().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > 0)?.0;
    let near = requests.iter().filter(|((of, _), _)| *of == form);
    let request = near.max_by_key(|((_, far), count)| (**count, -far.abs())).map(|((_, far), _)| *far);
    Some(Anchor { form, request })
}

/// What is known while columns are learned.
struct Learned {
    found: BTreeMap<Key, Column>,
    is_caddy: bool,
    given: BTreeMap<Key, (Role, u8)>,
    upstream: Option<Unit>,
    whole: Option<Unit>,
}

impl Learned {
    /// Gives roles to names whose values are what the names say.
    fn by_name(&mut self) {
        let mut places: Vec<(Key, Role, u8, Option<Unit>)> = Vec::new();
        for (key, column) in &self.found {
            let name = match key {
                Key::Named(name) => name.as_slice(),
                Key::At(at) => self.word(*at - 1).unwrap_or_default(),
            };
            let Some((mut role, rank)) = names::role(name) else { continue };
            let is_number = column.always(column.numbers.count());
            if role == Role::Time && !column.mostly(column.times) && is_number {
                role = Role::Whole;
            }
            if !fits(role, column) {
                continue;
            }
            let of_nginx =
                || (column.numbers.is_of_nginx() && names::is_of_nginx(name)).then_some(Unit::Second);
            let unit = names::unit(name).or_else(of_nginx).or_else(|| column.numbers.unit(self.is_caddy));
            places.push((key.clone(), role, rank, unit));
        }
        places.sort_by_key(|place| place.2);
        for (key, role, rank, unit) in places {
            match role {
                Role::Upstream if self.upstream.is_none() => self.upstream = unit,
                Role::Whole if self.whole.is_none() => self.whole = unit,
                Role::Upstream | Role::Whole => continue,
                _ => {}
            }
            self.given.insert(key, (role, rank));
        }
    }

    /// The word that stands in all lines at a place: the name of what follows.
    fn word(&self, at: i32) -> Option<&[u8]> {
        let column = self.found.get(&Key::At(at)).filter(|column| column.quoted == 0 && column.values > 1)?;
        let [word] = column.distinct.as_slice() else { return None };
        Some(word.strip_suffix(b":").unwrap_or(word)).filter(|word| word.len() > 1)
    }

    fn has(&self, role: Role) -> bool {
        self.given.values().any(|given| given.0 == role)
    }

    /// Gives a role to the best column without one, if any is good enough.
    fn give(&mut self, role: Role, score: impl Fn(&Key, &Column) -> Option<i64>) -> Option<Key> {
        if self.has(role) {
            return None;
        }
        let free = self.found.iter().filter(|(key, _)| !self.given.contains_key(key));
        let scored = free.filter_map(|(key, column)| Some((score(key, column)?, key)));
        let best = scored.max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(a.1)))?.1.clone();
        self.given.insert(best.clone(), (role, 0));
        Some(best)
    }

    /// How far a place is behind another one; before it is further than all that is behind.
    fn behind(&self, role: Role, key: &Key) -> Option<i32> {
        let Key::At(at) = key else { return None };
        let of = |(key, given): (&Key, &(Role, u8))| match key {
            Key::At(at) if given.0 == role => Some(*at),
            _ => None,
        };
        let from = self.given.iter().find_map(of).unwrap_or(-FURTHEST);
        Some(if *at > from { at - from } else { FURTHEST * 2 + from - at })
    }

    fn by_content(&mut self, lines: usize) {
        let count = |many: usize| i64::try_from(many).ok();
        self.give(Role::Time, |key, column| match key {
            Key::At(0) => Some(1),
            _ => count(column.times).filter(|_| column.mostly(column.times)),
        });
        if !self.has(Role::Target) {
            self.give(Role::Request, |_, column| {
                count(column.requests).filter(|_| column.mostly(column.requests))
            });
        }
        if !self.has(Role::Request) {
            self.give(Role::Method, |_, column| column.mostly(column.methods).then_some(1));
            let far: BTreeMap<Key, i64> = self.places_behind(Role::Method);
            self.give(Role::Target, |key, column| {
                column.mostly(column.targets).then_some(far.get(key).map_or(0, |far| -far))
            });
        }
        let asked = if self.has(Role::Request) { Role::Request } else { Role::Target };
        let far = self.places_behind(asked);
        let status = self.give(Role::Status, |key, column| {
            column.always(column.statuses).then_some(()).or(column.mostly(column.statuses).then_some(()))?;
            far.get(key).map(|far| -far)
        });
        self.bytes(status.as_ref());
        self.clients();
        self.texts();
        self.hosts(lines);
        self.durations();
    }

    fn places_behind(&self, role: Role) -> BTreeMap<Key, i64> {
        let far = |key: &Key| Some((key.clone(), i64::from(self.behind(role, key)?)));
        self.found.keys().filter_map(far).collect()
    }

    /// Bytes are zero where there is no body; else they follow the status.
    fn bytes(&mut self, status: Option<&Key>) {
        let behind = status.and_then(|key| match key {
            Key::At(at) => Some(Key::At(at + 1)),
            Key::Named(_) => None,
        });
        self.give(Role::Bytes, |key, column| {
            let is_number = column.mostly(column.whole) || column.says_nothing_without_body();
            let is_next = Some(key) == behind.as_ref();
            let next = if column.is_as_long_without_body() { 1 } else { 4 };
            let is_empty = matches!(key, Key::At(_)) && column.is_empty_without_body();
            let score = i64::from(is_next) * next + i64::from(is_empty) * 2;
            (is_number && score > 0).then_some(score)
        });
    }

    fn clients(&mut self) {
        let near = |key: &Key| match key {
            Key::At(at) => i64::from(-at.abs()),
            Key::Named(_) => 0,
        };
        // nginx writes an upstream with its port.
        let is_plain = |column: &Column| {
            !column.distinct.iter().any(|value| value.contains(&b':') && value.contains(&b'.'))
        };
        self.give(Role::Client, |key, column| {
            (column.mostly(column.addresses) && column.quoted == 0 && is_plain(column)).then(|| near(key))
        });
        // A column with a name is known by that: an address in it may be the server's own.
        self.give(Role::Forwarded, |key, column| {
            let is_it = column.mostly(column.addresses) && column.forwarded > 0 && is_plain(column);
            (matches!(key, Key::At(_)) && is_it).then(|| near(key))
        });
    }

    fn texts(&mut self) {
        let agent = self.give(Role::Agent, |_, column| {
            let score = i64::try_from(column.agents).ok()?;
            (column.agents > 0 && column.agents * 2 >= column.values - column.none && column.links == 0)
                .then_some(score)
        });
        if agent.is_none() && !self.has(Role::Agent) {
            self.agent_behind_referer();
        }
        self.give(Role::Accept, |_, column| {
            let is_list = column.distinct.iter().any(|value| value.contains(&b','));
            i64::try_from(column.codings).ok().filter(|codings| *codings > 0 && is_list)
        });
        self.give(Role::Purpose, |_, column| column.always(column.prefetches).then_some(1));
    }

    /// The combined format, where no agent looks like one: two columns in quotes, the first of links.
    fn agent_behind_referer(&mut self) {
        let far = self.places_behind(Role::Bytes);
        let is_quoted = |key: &Key| {
            self.found
                .get(key)
                .is_some_and(|column| column.quoted == column.values && !self.given.contains_key(key))
        };
        let first = self.found.iter().find(|(key, _)| far.get(key) == Some(&1) && is_quoted(key));
        let Some((Key::At(at), referer)) = first else { return };
        let agent = Key::At(at + 1);
        if (referer.none == referer.values || referer.mostly(referer.links)) && is_quoted(&agent) {
            self.given.insert(agent, (Role::Agent, 0));
        }
    }

    /// A host's name is not a client's: these are as many as there are clients.
    fn hosts(&mut self, lines: usize) {
        let has_client = self.has(Role::Client);
        self.give(Role::Host, |key, column| {
            let is_few = column.distinct.len() <= (lines / 10).clamp(8, 40) || column.with_port > 0;
            let is_here = matches!(key, Key::At(_)) && column.links == 0 && column.times == 0;
            let is_host =
                column.mostly(column.hosts) && (has_client || is_few && lines > 1 || column.with_port > 0);
            (is_here && is_host).then_some(column.distinct.len() as i64)
        });
    }

    /// Times without a name: one alone is that of the request, which is never shorter than another; the other of two is that of what is behind it.
    fn durations(&mut self) {
        if self.has(Role::Upstream) || self.has(Role::Whole) {
            return;
        }
        let free = |key: &Key| matches!(key, Key::At(_)) && !self.given.contains_key(key);
        let is_duration = |column: &Column| {
            let all = column.numbers.count();
            column.always(all) && (column.numbers.is_of_nginx() || column.numbers.with_unit == all)
        };
        let mut all: Vec<(&Key, &Column)> =
            self.found.iter().filter(|(key, column)| free(key) && is_duration(column)).collect();
        all.sort_by(|a, b| b.1.numbers.mean().total_cmp(&a.1.numbers.mean()));
        let unit = |at: &Key| {
            let Key::At(at) = at else { return None };
            self.word(at + 1).and_then(Unit::named)
        };
        let whole = all.first().map(|(key, _)| ((*key).clone(), unit(key).unwrap_or(Unit::Second)));
        let behind = match all.as_slice() {
            [(_, whole), (key, other)] if other.numbers.mean() * 20.0 > whole.numbers.mean() => {
                Some(((*key).clone(), unit(key).unwrap_or(Unit::Second)))
            }
            _ => None,
        };
        (self.whole, self.upstream) = (whole.as_ref().map(|one| one.1), behind.as_ref().map(|one| one.1));
        self.given.extend(whole.map(|(key, _)| (key, (Role::Whole, 0))));
        self.given.extend(behind.map(|(key, _)| (key, (Role::Upstream, 0))));
    }
}

/// Whether a column can be what its name says.
fn fits(role: Role, column: &Column) -> bool {
    let says_nothing = column.none == column.values;
    match role {
        Role::Time => column.mostly(column.times),
        Role::Host => column.mostly(column.hosts),
        Role::Client | Role::Forwarded => column.mostly(column.addresses),
        Role::Request => column.mostly(column.requests) || says_nothing,
        Role::Method => column.mostly(column.methods) || says_nothing,
        Role::Target => column.mostly(column.targets) || says_nothing,
        Role::Status => column.mostly(column.statuses),
        Role::Upstream | Role::Whole => column.always(column.numbers.count()),
        Role::Bytes
        | Role::Query
        | Role::Agent
        | Role::Accept
        | Role::Purpose
        | Role::Via
        | Role::Headers => true,
    }
}

//! Ways as studies ask for them: `gzencode:1..9`, `server/gzip:6`, `php/zstd:3,pieces=8`; and who offers them.

use std::collections::{BTreeMap, BTreeSet};

use weigh_model::cell::Subject;
use weigh_model::inventory::{RuntimeEntry, ServerEntry};
use weigh_model::protocol::OptionDescription;
use weigh_model::setting::{Request, Setting, SettingError};
use weigh_model::way::{By, ENCODER, WayDescription, WayKind};

/// The way of a server that adds nothing.
pub const PLAIN: &str = "plain";
/// The option of pre-encoded ways that names the only variant.
pub const CODING: &str = "coding";
/// What can encode gzip and deflate.
pub const ENCODERS: [&str; 3] = ["zlib", "libdeflate", "zopfli"];
/// A coding that servers know and nothing here writes.
const COMPRESS: &str = "compress";
const BROWSERS: &str = "gzip, deflate, br, zstd";

/// A wish for a way, `[php/|server/]NAME[:LEVELS][,OPTION=VALUE|VALUE]`. Without a prefix it is PHP's where PHP has one of
/// that name, else the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayRequest {
    /// Whose way it is to be.
    pub by: Option<By>,
    /// Name, levels and options.
    pub request: Request,
}

impl WayRequest {
    pub fn parse(text: &str) -> Result<WayRequest, SettingError> {
        let (by, rest) = match text.trim().split_once('/') {
            Some(("php", rest)) => (Some(By::Php), rest),
            Some(("server", rest)) => (Some(By::Server), rest),
            // A slash further on belongs to a range of levels: `zstd:-5..22/3`.
            Some((prefix, _)) if !prefix.contains(':') => {
                return Err(SettingError(format!(
                    "`{text}`: a method is PHP's or the server's; write php/NAME or server/NAME, not {prefix}/"
                )));
            }
            _ => (None, text.trim()),
        };
        let request = Request::parse(rest)?;
        if request.set().is_some() {
            return Err(SettingError(format!("`{text}`: there are no sets of methods; name each")));
        }
        Ok(WayRequest { by, request })
    }

    /// The way that is asked for among those offered.
    pub fn choose<'o>(&self, offers: &'o [Offer]) -> Option<&'o Offer> {
        offers.iter().find(|o| o.way.name == self.request.name && self.by.is_none_or(|by| by == o.by))
    }
}

/// A way that a server, with or without a PHP behind it, has for a kind of content.
#[derive(Clone, Debug)]
pub struct Offer {
    pub by: By,
    /// The way; `missing` is set when one of those it needs does not have it. It also takes the options that the server has
    /// for all it sends, and those with which variants are encoded.
    pub way: WayDescription,
    /// The names of its options that are the server's.
    pub of_server: BTreeSet<String>,
}

impl Offer {
    /// What the server is configured to do for a setting of this way; none: it adds nothing.
    pub fn site(&self, setting: &Setting) -> Option<Setting> {
        let own = setting.options.iter().filter(|(name, _)| self.of_server.contains(*name));
        let options: BTreeMap<_, _> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let (codec, level) = match (self.by, self.way.kind) {
            (_, WayKind::Plain) | (By::Php, WayKind::OnTheFly | WayKind::PreEncoded | WayKind::Delta) => {
                (PLAIN, None)
            }
            (By::Php, _) | (By::Server, _) => (self.way.name.as_str(), setting.level),
        };
        let adds_nothing = codec == PLAIN && options.is_empty();
        (!adds_nothing).then(|| Setting { codec: codec.to_owned(), level, options })
    }

    /// What is asked for where a study says nothing: the coding that is chosen, all that the way sends, else what browsers do.
    pub fn accept(&self, setting: &Setting) -> String {
        let sent: Vec<&str> = match setting.options.get(CODING) {
            Some(coding) => vec![coding],
            None => self.way.codings.iter().map(String::as_str).collect(),
        };
        if sent.is_empty() { BROWSERS.to_owned() } else { sent.join(", ") }
    }
}

/// All ways of a server, with a PHP behind it or none, for a kind of content; PHP's first. A server's own ways apply to pages
/// that PHP makes and to files that no PHP is asked for.
pub fn offers(server: &ServerEntry, pool: Option<&RuntimeEntry>, subject: Subject) -> Vec<Offer> {
    let serves = |way: &&WayDescription| way.subjects.iter().any(|s| s == subject.name());
    let mut offers: Vec<Offer> = Vec::new();
    if let Some(pool) = pool {
        let ways = pool.ways.iter().filter(serves);
        offers.extend(ways.filter_map(|way| of_php(way, server)));
    }
    if pool.is_some() == (subject == Subject::PAGE) {
        // An offload is PHP's to ask for, and a page that the server adds nothing to is PHP's own.
        let is_own = |way: &&WayDescription| {
            way.kind != WayKind::Offload && (way.kind != WayKind::Plain || pool.is_none())
        };
        let own = server.ways.iter().filter(serves).filter(is_own);
        offers.extend(own.map(of_server));
    }
    offers
}

fn of_server(way: &WayDescription) -> Offer {
    let of_server = way.options.iter().map(|o| o.name.clone()).collect();
    let mut way = way.clone();
    if matches!(way.kind, WayKind::PreEncoded | WayKind::Delta) {
        way.options.extend(variant_options(&way.codings));
        way.codings.retain(|c| c != COMPRESS);
    }
    Offer { by: By::Server, way, of_server }
}

/// How the variants of a pre-encoded way are made.
fn variant_options(codings: &[String]) -> Vec<OptionDescription> {
    let option = |name: &str, words: Vec<String>, about: &str| OptionDescription {
        name: name.into(),
        range: None,
        words,
        about: about.into(),
    };
    let is_deflate = codings.iter().any(|c| c == "gzip" || c == "deflate");
    let encoders = ENCODERS.map(str::to_owned).to_vec();
    let encoder = is_deflate.then(|| {
        option(
            ENCODER,
            encoders,
            "what encoded gzip and deflate variants, at its highest level: zlib without it",
        )
    });
    let words: Vec<String> = codings.iter().filter(|c| *c != COMPRESS).cloned().collect();
    let coding = (words.len() > 1)
        .then(|| option(CODING, words, "the only variant, and what is asked for; without it, all of them"));
    encoder.into_iter().chain(coding).collect()
}

/// PHP's way as it stands on this server: an offload needs one that takes it. `None`: this server never does.
fn of_php(way: &WayDescription, server: &ServerEntry) -> Option<Offer> {
    let mut way = way.clone();
    let named = |kind: WayKind, name: &str| server.ways.iter().find(|w| w.kind == kind && w.name == name);
    let on_server = match way.kind {
        WayKind::Offload => Some(named(WayKind::Offload, &way.name)?),
        _ => named(WayKind::Plain, PLAIN),
    };
    if let Some(taker) = on_server.filter(|taker| way.missing.is_none() && taker.missing.is_some()) {
        way.missing.clone_from(&taker.missing);
        way.remedy.clone_from(&taker.remedy);
    }
    let known = |name: &str| way.options.iter().any(|o| o.name == name);
    let further = on_server.into_iter().flat_map(|w| &w.options).filter(|o| !known(&o.name));
    let further: Vec<OptionDescription> = further.cloned().collect();
    let of_server = further.iter().map(|o| o.name.clone()).collect();
    way.options.extend(further);
    Some(Offer { by: By::Php, way, of_server })
}

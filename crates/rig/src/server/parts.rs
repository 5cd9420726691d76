//! A policy among the ways of a server, and the parts of its configuration: the templates that are measured, rendered on their own.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::definition::{Definition, WayRow};
use super::emission::{Downloads, Emission, Snippet};
use super::found::Found;
use super::own;
use super::render::{Attempt, Values};
use super::site::Site;
use crate::service::{Draft, command, free_ports};
use weigh_model::advised::{ADVISED, Advised};
use weigh_model::setting::Setting;
use weigh_model::way::WayKind;
use weigh_os::guard::{LaunchContext, Program};
use weigh_os::template;

/// What the template of a stock configuration is given.
#[derive(Serialize)]
struct Stock<'a> {
    #[serde(flatten)]
    values: &'a Values,
    snippets: Vec<&'a str>,
}

impl Definition {
    /// The server with a policy among its ways, on top of the lab's configuration. On top of the user's own it is a configuration of the
    /// user's by the same name, made with the policy on top of it.
    #[must_use]
    pub fn with_advised(&self, advised: &Advised) -> Definition {
        let rows: Vec<&WayRow> = self.rows_of(advised);
        let all = |of: fn(&WayRow) -> &Vec<String>| {
            let names: BTreeSet<&String> = rows.iter().flat_map(|row| of(row)).collect();
            names.into_iter().cloned().collect::<Vec<String>>()
        };
        let is_before = rows.iter().any(|row| row.kind == WayKind::PreEncoded);
        let row = WayRow {
            name: ADVISED.into(),
            kind: if is_before { WayKind::PreEncoded } else { WayKind::OnTheFly },
            // What it sends is for browsers to ask for.
            subjects: ["page", "asset", "download"].map(str::to_owned).to_vec(),
            modules: all(|row| &row.modules),
            optional: all(|row| &row.optional).into_iter().chain(["setenvif".to_owned()]).collect(),
            since: rows.iter().filter_map(|row| row.since.clone()).max(),
            remedy: rows.iter().find_map(|row| row.remedy.clone()),
            about: "the configuration of the policy".into(),
            nominal: rows
                .iter()
                .find(|row| !row.nominal.is_empty())
                .map_or_else(Vec::new, |r| r.nominal.clone()),
            mirror: rows.iter().find_map(|row| row.mirror.clone()),
            ..WayRow::default()
        };
        let mut definition = self.clone();
        definition.ways.retain(|row| row.name != ADVISED);
        definition.ways.push(row);
        definition.advised = Some(advised.clone());
        definition
    }

    /// The ways that carry a policy out.
    pub fn rows_of(&self, advised: &Advised) -> Vec<&WayRow> {
        let methods: BTreeSet<&String> = advised.all().map(|e| &e.method).chain(&advised.downloads).collect();
        self.ways.iter().filter(|row| methods.contains(&row.name)).collect()
    }
}

impl Found {
    /// The command of its program with arguments that are templates, and the environment that its definition has.
    pub(super) fn launched(&self, arguments: &[String], values: &Values, cpus: &[u32]) -> Result<Program> {
        let whence = format!("servers/{}/server.toml", self.definition.name);
        let texts: Vec<String> = self.definition.env.values().cloned().collect();
        let texts = command(None, &whence, &texts, values)?.into_iter().skip(1);
        let env = self.definition.env.keys().map(Into::into).zip(texts).collect();
        let command = command(self.program.as_ref(), &whence, arguments, values)?;
        Ok(Program { command, env, cpus: cpus.to_vec() })
    }

    /// The parts for the policy that is among the ways of this server, each with its text; those that say nothing are left out.
    ///
    /// # Errors
    /// A path that no configuration can name, or a template that is wrong.
    pub fn parts(&self, site: &Site, downloads: &Downloads) -> Result<Vec<(&Snippet, String)>> {
        let Some(emission) = &self.definition.policy else { return Ok(Vec::new()) };
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80);
        let attempt = Attempt { dir: Path::new(&emission.home), address, token: "", root: false };
        let mut values = Values::new(self, &advised(site), &attempt)?;
        values.for_user(self, &site.docroot, downloads)?;
        self.render(emission, &values)
    }

    fn render<'e>(&self, emission: &'e Emission, values: &Values) -> Result<Vec<(&'e Snippet, String)>> {
        let name = &self.definition.name;
        let all = &self.definition.templates;
        let parts: Vec<(&str, &str)> = all.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        let mut rendered = Vec::new();
        for snippet in &emission.snippets {
            let text = all.get(&snippet.template).map_or("", String::as_str);
            let whence = format!("servers/{name}/{}", snippet.template);
            let text = template::render_with(&whence, text, &parts, values)?;
            if text.lines().any(|line| says_something(line.trim())) {
                rendered.push((snippet, text));
            }
        }
        Ok(rendered)
    }

    /// Lets the server check the policy among its ways, in the lab's configuration and in one as a distribution ships it: what it says
    /// against it; none if it accepts both.
    ///
    /// # Errors
    /// The server cannot be asked.
    pub fn lint(&self, site: &Site, place: &LaunchContext) -> Result<Option<String>> {
        if let Some(words) = self.lint_in(None, site, place)? {
            return Ok(Some(format!("in the lab's configuration: {words}")));
        }
        let Some(emission) = &self.definition.policy else { return Ok(None) };
        let words = self.lint_in(Some(emission), site, place)?;
        Ok(words.map(|words| format!("in a stock configuration: {words}")))
    }

    /// As [`Found::lint`], in what the way of the policy is, or in a stock configuration.
    pub fn lint_in(
        &self,
        stock: Option<&Emission>,
        site: &Site,
        place: &LaunchContext,
    ) -> Result<Option<String>> {
        let Some(lint) = &self.definition.lint else { return Ok(None) };
        let name = &self.definition.name;
        let mut draft = Draft::new(name, name, place)?;
        let dir = draft.path().to_owned();
        let port = free_ports(Ipv4Addr::LOCALHOST, 1)?.first().copied().unwrap_or_default();
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let attempt = Attempt { dir: &dir, address, token: "", root: place.is_real_root() };
        let site = advised(site);
        let values = Values::new(self, &site, &attempt)?;
        values.write(self, &site, &mut draft)?;
        if let Some(emission) = stock {
            self.write_stock(emission, &values, &mut draft)?;
        }
        let refused = draft.lint(&self.launched(lint, &values, &[])?)?;
        let told = |(how, words): (String, String)| {
            format!(
                "{name} refuses it ({how}): {}",
                own::in_file(&self.definition, Some(ADVISED), &dir, &words)
            )
        };
        Ok(refused.map(told))
    }

    /// Writes a stock configuration that includes the parts.
    pub(super) fn write_stock(
        &self,
        emission: &Emission,
        values: &Values,
        draft: &mut Draft<'_>,
    ) -> Result<()> {
        let parts = self.render(emission, values)?;
        let snippets = parts.iter().map(|(snippet, _)| snippet.template.as_str()).collect();
        for (snippet, text) in &parts {
            draft.write(&snippet.template, text.clone())?;
        }
        let stock = self.definition.templates.get(&emission.stock).context("no stock configuration")?;
        let whence = format!("servers/{}/{}", self.definition.name, emission.stock);
        draft.write(&emission.r#as, template::render(&whence, stock, Stock { values, snippets })?)
    }
}

/// The site with the policy's configuration.
fn advised(site: &Site) -> Site {
    Site { way: Some(Setting::bare(ADVISED)), ..site.clone() }
}

/// Whether a line of a configuration is a directive, or the reason why there is none for downloads.
fn says_something(line: &str) -> bool {
    !line.is_empty() && (!line.starts_with('#') || line.starts_with("# Cannot be expressed: downloads in "))
}

//! What is wrong with a site's file, in one line with the key.

use anyhow::{Result, bail, ensure};

use super::{CacheablePage, Figure, SCHEMA, Site, Stratum, WorkerMode};
use crate::suggest::readable;
use crate::text::clean;

/// How far shares may be from 1, because files are written with few digits.
const TOLERANCE: f64 = 0.005;
/// The most strata, and the most files of one sample.
const MOST: usize = 10_000;

impl Site {
    /// Reads `site.toml`; `whence` names it in errors.
    ///
    /// # Errors
    /// One line: the place, what is wrong, and the nearest known key.
    pub fn parse(text: &str, whence: &str) -> Result<Site> {
        let parsed: Result<Site, _> = toml::from_str(text);
        let site = parsed.map_err(|error| readable(&error, text, whence)).and_then(|site| {
            site.check().map_err(|error| anyhow::anyhow!("{whence}: {error:#}"))?;
            Ok(site)
        });
        // Errors quote what the file says.
        site.map_err(|error| anyhow::anyhow!(clean(&format!("{error:#}"))))
    }

    /// Makes sure that a text can be a site's name.
    ///
    /// # Errors
    /// One line that says what a name may have.
    pub fn check_name(name: &str) -> Result<()> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
        ensure!(
            !name.is_empty() && name.len() <= 100 && name.chars().all(is_plain),
            "name `{}` may have lower-case letters, digits, dots and hyphens only",
            clean(name)
        );
        Ok(())
    }

    fn check(&self) -> Result<()> {
        ensure!(
            self.schema == SCHEMA,
            "schema = {} is not known; this program reads schema = {SCHEMA}",
            self.schema
        );
        Site::check_name(&self.name)?;
        let visitors = &self.visitors;
        shares("visitors.accept", visitors.accept.iter().map(|one| one.share))?;
        shares("visitors.links", visitors.links.iter().map(|one| one.share))?;
        ensure!(
            (0.0..=1.0).contains(&visitors.new_connections.value),
            "visitors.new_connections = {} is a share, 0 to 1",
            visitors.new_connections.value
        );
        let (prices, limits) = (&self.prices, &self.limits);
        for (key, figure) in [
            ("visitors.slower_devices", Some(&visitors.slower_devices)),
            ("visitors.page_views", visitors.page_views.as_ref()),
            ("visitors.peak", visitors.peak.as_ref()),
            ("visitors.php_peak", visitors.php_peak.as_ref()),
            ("visitors.php_peak_ms", visitors.php_peak_ms.as_ref()),
            ("store_link.rtt_ms", Some(&self.store_link.rtt_ms)),
            ("prices.core_hour", Some(&prices.core_hour)),
            ("prices.gb_out", Some(&prices.gb_out)),
            ("prices.gb_month", Some(&prices.gb_month)),
            ("prices.visitor_second", Some(&prices.visitor_second)),
            ("limits.cores", Some(&limits.cores)),
            ("limits.peak_share", Some(&limits.peak_share)),
            ("limits.first_byte_ms", Some(&limits.first_byte_ms)),
        ] {
            amount(key, figure)?;
        }
        for (at, machine) in prices.machines.iter().enumerate() {
            let kind = clean(&machine.kind);
            ensure!(!kind.is_empty(), "prices.machines: a kind is empty");
            ensure!(
                machine.core_hour > 0.0 && machine.core_hour.is_finite(),
                "prices.machines: the core_hour of {kind} must be above zero"
            );
            ensure!(
                prices.machines[..at].iter().all(|other| other.kind != machine.kind),
                "prices.machines has two prices for {kind}"
            );
        }
        for alias in &self.sources.aliases {
            let (url, folder) = (&alias.url, &alias.folder);
            ensure!(
                url.starts_with('/') && url.len() > 1,
                "sources.aliases: url `{}` has to begin with / and a name",
                clean(url)
            );
            ensure!(
                folder.starts_with('/'),
                "sources.aliases: folder `{}` is no absolute path",
                clean(folder)
            );
        }
        let mbit = self.store_link.mbit.value;
        ensure!(mbit > 0.0 && mbit.is_finite(), "store_link.mbit = {mbit} must be above zero");
        ensure!(limits.cores.value > 0.0, "limits.cores must be above zero");
        ensure!(self.strata.len() <= MOST, "more than {MOST} strata");
        let kinds: Vec<_> = self.today.iter().map(|today| today.kind).collect();
        if let Some(at) = (1..kinds.len()).find(|at| kinds[..*at].contains(&kinds[*at])) {
            bail!("[[today]] has two entries for {}", kinds[at].plural());
        }
        ensure!(self.page_cache.len() <= MOST, "page_cache: more than {MOST} entries");
        let hits = self.page_cache.iter().flat_map(|one| [Some(one.hits), one.visitors]).flatten();
        ensure!(
            hits.into_iter().all(|share| (0.0..=1.0).contains(&share)),
            "page_cache: a share is from 0 to 1"
        );
        ensure!(self.cacheable.len() <= MOST, "cacheable: more than {MOST} pages");
        self.cacheable.iter().try_for_each(CacheablePage::check)?;
        ensure!(self.worker.as_ref().is_none_or(WorkerMode::is_sound), "worker: an amount is none");
        ensure!(self.page_php.len() <= MOST, "page_php: more than {MOST} entries");
        if let Some(page) = self.page_php.iter().find(|page| !page.is_sound()) {
            bail!("page_php: an amount of {} by PHP {} is none", clean(&page.page), clean(&page.php));
        }
        ensure!(self.loaded.len() <= MOST, "loaded: more than {MOST} pages");
        if !self.loaded.is_empty() {
            shares("loaded", self.loaded.iter().map(|page| page.share))?;
        }
        self.strata
            .iter()
            .enumerate()
            .try_for_each(|(at, stratum)| stratum.check(&format!("strata {} ({})", at + 1, stratum.name())))
    }
}

impl Stratum {
    fn check(&self, at: &str) -> Result<()> {
        ensure!(!self.format.is_empty(), "{at}: `format` is empty");
        ensure!(
            self.to_bytes.is_none_or(|to| to > self.from_bytes),
            "{at}: to_bytes must be above from_bytes"
        );
        for (key, figure) in [
            ("files", Some(&self.files)),
            ("bytes", Some(&self.bytes)),
            ("requests", Some(&self.requests)),
            ("not_modified", self.not_modified.as_ref()),
            ("ranges", self.ranges.as_ref()),
            ("sent_bytes", self.sent_bytes.as_ref()),
            ("writes", self.writes.as_ref()),
            ("made_ms", self.made_ms.as_ref()),
        ] {
            amount(&format!("{at}: {key}"), figure)?;
        }
        ensure!(self.sample.len() <= MOST, "{at}: more than {MOST} sample files");
        for sample in &self.sample {
            let is_digest = sample.sha256.len() == 64 && sample.sha256.bytes().all(|b| b.is_ascii_hexdigit());
            ensure!(is_digest, "{at}: sample {} has no SHA-256", sample.path);
        }
        if self.sample.is_empty() {
            return Ok(());
        }
        let saving = self.saving.unwrap_or_default();
        ensure!((0.0..=1.0).contains(&saving), "{at}: saving = {saving} is a share, 0 to 1");
        shares(&format!("{at}: sample"), self.sample.iter().map(|sample| sample.share))
    }
}

fn amount(key: &str, figure: Option<&Figure>) -> Result<()> {
    match figure {
        Some(figure) if !(figure.value >= 0.0 && figure.value.is_finite()) => {
            bail!("{key} = {} must be zero or more", figure.value)
        }
        _ => Ok(()),
    }
}

fn shares(key: &str, shares: impl Iterator<Item = f64> + Clone) -> Result<()> {
    if let Some(share) = shares.clone().find(|share| !(0.0..=1.0).contains(share)) {
        bail!("{key}: the share {share} is not between 0 and 1");
    }
    let sum: f64 = shares.sum();
    ensure!((sum - 1.0).abs() <= TOLERANCE, "{key}: the shares add up to {sum:.3}, not to 1");
    Ok(())
}

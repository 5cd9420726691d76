//! The PHPs that a request names, the account that the application runs as, and PHP's own settings.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::request::NamedPhp;
use weigh_model::site::{From, Kind, Today};
use weigh_model::text::{clean, clean_path};
use weigh_os::user::OwnUser;
use weigh_rig::fpm::embedded;
use weigh_run::lab::{Home, Progress};
use weigh_serverconf::php::OwnPhp;

/// The account of `--render-as`, with its name: the one that is named, else that of the pool's file.
pub fn account(
    render_as: Option<&Option<String>>,
    own_php: Option<&OwnPhp>,
) -> Result<Option<(String, OwnUser)>> {
    let Some(named) = render_as else { return Ok(None) };
    let of_pool = own_php.and_then(|own| own.account.clone());
    let (name, group) = match (named, of_pool) {
        (Some(name), of_pool) => {
            (name.clone(), of_pool.filter(|pool| pool.0 == *name).and_then(|pool| pool.1))
        }
        (None, Some(of_pool)) => of_pool,
        (None, None) => bail!(
            "--render-as: give a user, such as www-data, or with --php-config the file of the pool that has one"
        ),
    };
    let account = OwnUser::account(&name, group.as_deref()).context("--render-as")?;
    Ok(Some((name, account)))
}

/// Adds what PHP's own settings encode. Where a page was sent otherwise, what was seen stays, and the difference is said.
pub fn add(own: &OwnPhp, file: &Path, today: &mut Vec<Today>, progress: &mut dyn Progress) {
    let Some(method) = own.encoder() else { return };
    let setting = method.trim_start_matches("php/").split(':').next().unwrap_or_default();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let about = clean(&format!("gzip in PHP ({setting}, {name})"));
    let page = today.iter().find(|one| one.kind == Kind::Page);
    if let Some(seen) = page.filter(|one| one.from != From::Configured && !one.about.starts_with("gzip")) {
        progress.note(&format!("pages: {}; PHP's settings say: {about}", seen.about));
        return;
    }
    today.retain(|one| one.kind != Kind::Page);
    today.push(Today { kind: Kind::Page, method, about, from: From::Configured });
    today.sort_by_key(|one| one.kind);
}

/// The PHPs, which have to be ones.
pub fn binaries(home: &Home, named: &[NamedPhp]) -> Result<Vec<String>> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let is_embedded = |one: &&NamedPhp| embedded::is_embedded(&one.binary);
    if let Some(one) = named.first().filter(is_embedded) {
        bail!(
            "--php {0}: give the PHP that serves the site before it, such as --php php --php {0}",
            clean_path(&one.binary)
        );
    }
    let binaries: Vec<PathBuf> =
        named.iter().filter(|one| !is_embedded(one)).map(|one| one.binary.clone()).collect();
    home.php(&binaries)?;
    Ok(binaries.iter().map(|path| clean_path(path)).collect())
}

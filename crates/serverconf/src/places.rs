//! The folders that a site sends files from beside its document root, each with the path that its URLs begin with: `Alias` of Apache,
//! `alias` or another `root` in a location of nginx, and `alias.url` of lighttpd.

use std::path::PathBuf;

use super::rules::Rules;
use super::site::{self, Site};
use super::syntax::assigned::Value;
use super::syntax::{Directive, Syntax};
use super::tree::{Tree, tidy};

/// A folder with a path of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlFolder {
    /// What the paths of its URLs begin with, without a slash at the end: `/wp-content`.
    pub url: String,
    /// The folder, as the configuration says.
    pub folder: PathBuf,
    /// Whether it is said outside of the site, for all sites of the server.
    pub is_shared: bool,
}

/// The folders of a site, in the order in which its server looks for them.
pub fn places(rules: &Rules, tree: &Tree, site: &Site) -> Vec<UrlFolder> {
    let block = site::around(rules, tree).iter().find(|d| d.block.is_some() && Some(d.at) == site.at);
    let own = block.map(Directive::within).unwrap_or_default();
    let mut found = Vec::new();
    match rules.syntax {
        Syntax::Blocks => {
            let sets: Vec<(String, String)> = own.iter().filter_map(site::set_of).collect();
            locations(rules, site, own, &sets, &mut found);
        }
        Syntax::Sections => {
            aliases(own, block.is_none(), &mut found);
            aliases(&tree.directives, block.is_some(), &mut found);
        }
        Syntax::Assigned => assigned(&tree.directives, &mut found),
        // Caddy has a root for each of its routes, and no aliases.
        Syntax::Json => {}
    }
    let mut known = Vec::new();
    found.retain(|place| {
        let is_new = !known.contains(&place.url);
        known.push(place.url.clone());
        is_new
    });
    found
}

/// A path of a URL with its folder; none: they do not go together, or it is all of the site.
fn pair_url_with_folder(url: &str, folder: &str, is_shared: bool) -> Option<UrlFolder> {
    let fits = !url.ends_with('/') || folder.ends_with('/');
    let url = url.trim_end_matches('/');
    let is_path = url.starts_with('/') && folder.starts_with('/') && !folder.contains(['$', '%']);
    (fits && is_path).then(|| UrlFolder {
        url: url.to_owned(),
        folder: tidy(folder.trim_end_matches('/').as_ref()),
        is_shared,
    })
}

/// Those of nginx: locations by the begin of the path; those with an expression come before others, in their order.
fn locations(
    rules: &Rules,
    site: &Site,
    block: &[Directive],
    sets: &[(String, String)],
    found: &mut Vec<UrlFolder>,
) {
    let (mut first, mut own) = (Vec::new(), Vec::new());
    for location in block.iter().filter(|d| d.is("location")) {
        let within = location.within();
        locations(rules, site, within, sets, found);
        let Some((kind, prefix)) = matched(location) else { continue };
        if within.iter().any(|d| d.is("internal")) {
            continue;
        }
        let full = |d: &Directive| {
            rules.prefix.join(site::with_sets(&d.first(), sets)).to_string_lossy().into_owned()
        };
        let alias = within.iter().rfind(|d| d.is("alias")).map(full);
        let root = within.iter().rfind(|d| d.is("root")).map(full);
        if kind.starts_with('~') {
            first.extend(alias.and_then(|folder| by_expression(&prefix, &folder)));
            continue;
        }
        let root = root.filter(|root| tidy(root.as_ref()) != site.root);
        let below = root.map(|root| format!("{}{prefix}", root.trim_end_matches('/')));
        let is_first = kind == "^~";
        let one = alias
            .or(below)
            .and_then(|folder| pair_url_with_folder(&prefix, &folder, false))
            .filter(|_| kind != "=");
        if is_first { first.extend(one) } else { own.extend(one) }
    }
    own.sort_by_key(|place| std::cmp::Reverse(place.url.len()));
    found.extend(first);
    found.extend(own);
}

/// The kind of a location and what follows it; nginx takes them with and without a space between.
fn matched(location: &Directive) -> Option<(&'static str, String)> {
    const KINDS: [&str; 4] = ["~*", "^~", "~", "="];
    let words = location.words();
    match words.as_slice() {
        [one] => Some(match KINDS.iter().find_map(|kind| Some((*kind, one.strip_prefix(kind)?))) {
            Some((kind, rest)) => (kind, rest.to_owned()),
            None => ("", one.clone()),
        }),
        [kind, rest] => Some((KINDS.iter().find(|known| *known == kind)?, rest.clone())),
        _ => None,
    }
}

/// `^/wp-content/(.*)$` with `/var/lib/wp-content/$1`: the begin of a path, and all that follows.
fn by_expression(pattern: &str, folder: &str) -> Option<UrlFolder> {
    let pattern = pattern.strip_prefix('^')?.trim_end_matches('$');
    let url = ["/(.*)", "/(.+)"].iter().find_map(|rest| pattern.strip_suffix(rest))?;
    let url = url.replace("\\.", "\u{1}").replace('\\', "");
    let is_plain = !url.contains(['(', '[', '{', '*', '+', '?', '|', '.', '$', '^']);
    let folder = folder.strip_suffix("/$1").filter(|_| is_plain)?;
    pair_url_with_folder(&url.replace('\u{1}', "."), folder, false)
}

/// Those of Apache, in their order.
fn aliases(block: &[Directive], is_shared: bool, found: &mut Vec<UrlFolder>) {
    for directive in block {
        if directive.is("IfModule") || directive.is("IfDefine") || directive.is("IfVersion") {
            aliases(directive.within(), is_shared, found);
        }
        let words = directive.words();
        if let [url, folder] = words.as_slice()
            && directive.is("Alias")
        {
            found.extend(pair_url_with_folder(url, folder, is_shared));
        }
    }
}

/// Those of lighttpd that hold for every request.
fn assigned(directives: &[Directive], found: &mut Vec<UrlFolder>) {
    let lists = directives.iter().filter(|d| d.is("alias.url")).filter_map(Value::of);
    for (url, folder) in lists.flat_map(|list| list.entries().to_vec()) {
        found.extend(url.and_then(|url| pair_url_with_folder(&url, &folder.word(), true)));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::site::{Wanted, choose};
    use weigh_content::defs::Definitions;

    fn of(server: &str, text: &str) -> Vec<(String, String, bool)> {
        let servers = Definitions::load(None).unwrap().folders("servers").unwrap();
        let definition: toml::Table = servers[server]["server.toml"].parse().unwrap();
        let rules: Rules = definition["own"].clone().try_into().unwrap();
        let tree = Tree::read(&rules, None, Path::new("/nowhere/site.conf"), text).unwrap();
        let site = choose(&rules, &tree, &Wanted::default()).unwrap();
        let found = places(&rules, &tree, &site);
        found.into_iter().map(|p| (p.url, p.folder.display().to_string(), p.is_shared)).collect()
    }

    #[test]
    fn aliases_and_other_roots_are_folders_of_their_own() {
        let text = "events {}\nhttp { server { root /srv/www; set $lib /srv/lib;\n location ~^/wp-content/(.*)$ { alias /var/lib/wp/$1; }\n \
                    location /javascript { root /usr/share; location ~ ^/javascript/x { alias /no; } }\n location /lib { alias $lib; }\n \
                    location / { root /srv/www; }\n location /hidden/ { internal; alias /srv/hidden/; }\n location /odd/ { alias /srv/odd; }\n \
                    location ~ /re/(.*) { alias /srv/re/$1; }\n location /user/ { alias /home/$arg_u/; } } }";
        let wanted =
            [("/wp-content", "/var/lib/wp"), ("/javascript", "/usr/share/javascript"), ("/lib", "/srv/lib")];
        assert_eq!(of("nginx", text), wanted.map(|(url, folder)| (url.into(), folder.into(), false)));
        let text = "Listen 80\nAlias /javascript /usr/share/javascript/\nAlias /icons/ \"/usr/share/icons/\"\n<IfModule mod_alias.c>\nAlias /a /srv/all\n\
                    </IfModule>\n<VirtualHost *:80>\nDocumentRoot /srv/www\nAlias /wp-content /var/lib/wp\nAlias /a /srv/own\n</VirtualHost>\n";
        let wanted = [
            ("/wp-content", "/var/lib/wp", false),
            ("/a", "/srv/own", false),
            ("/javascript", "/usr/share/javascript", true),
            ("/icons", "/usr/share/icons", true),
        ];
        assert_eq!(
            of("apache", text),
            wanted.map(|(url, folder, shared)| (url.into(), folder.into(), shared))
        );
    }

    #[test]
    fn aliases_of_lighttpd_have_ends_that_go_together() {
        let text =
            "alias.url += ( \"/javascript/\" => \"/usr/share/javascript/\", \"/odd/\" => \"/srv/odd\" )\n";
        let mut found = Vec::new();
        assigned(&crate::syntax::assigned::parse(text, 0).unwrap(), &mut found);
        let wanted =
            UrlFolder { url: "/javascript".into(), folder: "/usr/share/javascript".into(), is_shared: true };
        assert_eq!(found, [wanted]);
    }
}

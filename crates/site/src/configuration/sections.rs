//! Sections of the user's configuration that hold for files by the end of their names, made anew for the names of precompressed files: what
//! the configuration says of `NAME.css`, headers and access, it then says of `NAME.css.br`.

use weigh_serverconf::Read;
use weigh_serverconf::syntax::assigned::Value;
use weigh_serverconf::syntax::{Directive, SourcePosition, Syntax};

/// What the lab's own directives are said to stand in.
pub(super) const OURS: u32 = u32::MAX;
/// The place of directives that are written here.
const WRITTEN: SourcePosition = SourcePosition { file: OURS, line: 0 };
/// A quote in a pattern.
const QUOTE: &str = r"\x22";
/// Directives that hand a file to a program: such files have no variants.
const HANDLERS: [&str; 5] = ["SetHandler", "AddHandler", "ForceType", "fastcgi_pass", "fastcgi.server"];
/// How nginx's locations are marked that hold before all others: exact names, beginnings, and patterns.
const MARKS: [&str; 4] = ["=", "^~", "~*", "~"];

/// These sections in the server's own words; empty: there are none. `endings`: what variants add to names, `br`.
pub(super) fn of_variants(syntax: Syntax, read: &Read, endings: &[&str]) -> String {
    let sections = Sections { read, suffix: format!(r"\.(?:{})$", endings.join("|")), endings };
    let all = &read.tree.directives;
    let made: Vec<Directive> = match syntax {
        _ if endings.is_empty() => Vec::new(),
        Syntax::Sections => {
            let folders = read.tree.folders.iter().filter(|(folder, _)| sections.is_read(folder));
            let of_folder = |(folder, own): (&std::path::PathBuf, &Vec<Directive>)| {
                sections.within("Directory", &quoted(&folder.to_string_lossy()), own)
            };
            sections.apache(all).into_iter().chain(folders.filter_map(of_folder)).collect()
        }
        Syntax::Assigned => sections.lighttpd(all),
        Syntax::Blocks => sections.nginx(all),
        Syntax::Json => Vec::new(),
    };
    syntax.write(&made).text.trim_end().to_owned()
}

struct Sections<'s> {
    read: &'s Read,
    /// A regular expression of the end of a variant's name.
    suffix: String,
    endings: &'s [&'s str],
}

impl Sections<'_> {
    /// A pattern that matches a variant's name where the given one matches the file's; none: it matches both, or neither, as it is.
    fn pattern(&self, pattern: &str) -> Option<String> {
        // Verbs can stand nowhere else.
        if pattern.starts_with("(*") {
            return None;
        }
        let (mut out, mut is_changed, mut in_class) = (String::new(), false, false);
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                '\\' => match rest.next() {
                    Some('z' | 'Z') if !in_class => (is_changed, _) = (true, self.end(&mut out)),
                    Some('"') => out.push_str(QUOTE),
                    next => {
                        out.push(c);
                        out.extend(next);
                    }
                },
                '$' if !in_class => (is_changed, _) = (true, self.end(&mut out)),
                '"' => out.push_str(QUOTE),
                _ => {
                    in_class = c == '[' || in_class && c != ']';
                    out.push(c);
                }
            }
        }
        is_changed.then(|| format!("(?:{out})(?s:.*){}", self.suffix))
    }

    fn end(&self, out: &mut String) {
        out.push_str(&format!("(?={})", self.suffix));
    }

    /// The same of a name as it is written, in which `*` and `?` may stand for others.
    fn named(&self, name: &str, begin: &str) -> String {
        let name = regex::escape(name).replace(r"\*", ".*").replace(r"\?", ".");
        format!("{begin}{name}{}", self.suffix)
    }

    /// A block with what is made of its content; none: nothing is.
    fn within(&self, name: &str, arguments: &str, block: &[Directive]) -> Option<Directive> {
        let made = self.apache(block);
        (!made.is_empty()).then(|| made_of(name, arguments, made))
    }

    fn apache(&self, block: &[Directive]) -> Vec<Directive> {
        let mut made = Vec::new();
        for d in block.iter().filter(|d| d.block.is_some()) {
            if d.is("VirtualHost") {
                let is_it = Some(d.at) == self.read.site.at;
                made.extend(is_it.then(|| self.apache(d.within())).into_iter().flatten());
                continue;
            }
            let words = d.words();
            let last = words.last().map_or("", String::as_str);
            let is_pattern = words.first().is_some_and(|word| word == "~");
            let (name, pattern) = match d.name.to_ascii_lowercase().as_str() {
                "filesmatch" => ("FilesMatch", self.pattern(last)),
                "locationmatch" => ("LocationMatch", self.pattern(last)),
                "files" if is_pattern => ("FilesMatch", self.pattern(last)),
                "location" if is_pattern => ("LocationMatch", self.pattern(last)),
                "files" => ("FilesMatch", Some(self.named(last, "^"))),
                "location" if last.rsplit('/').next().is_some_and(|name| name.contains('.')) => {
                    ("LocationMatch", Some(self.named(last, "^")))
                }
                "directory" | "directorymatch" | "ifmodule" | "ifdefine" | "ifversion" | "if" => {
                    made.extend(self.within(&d.name, &d.arguments, d.within()));
                    continue;
                }
                _ => continue,
            };
            let Some(pattern) = pattern.filter(|_| !hands_over(d.within())) else { continue };
            made.push(made_of(name, &quoted(&pattern), d.within().to_vec()));
        }
        made
    }

    /// Whether Apache reads what a folder has of its own: `AllowOverride` of the innermost `<Directory>` that says it.
    fn is_read(&self, folder: &std::path::Path) -> bool {
        let mut found: Vec<(usize, bool)> = Vec::new();
        overrides(&self.read.tree.directives, folder, &mut found);
        found.into_iter().max_by_key(|(length, _)| *length).is_some_and(|(_, is_read)| is_read)
    }

    fn lighttpd(&self, block: &[Directive]) -> Vec<Directive> {
        let mut made = Vec::new();
        for d in block {
            if d.is("url.access-deny") && d.block.is_none() {
                made.extend(self.denied(d));
            }
            if !d.name.starts_with('$') || d.block.is_none() {
                continue;
            }
            let value = Value::of(d).map(|value| value.word()).unwrap_or_default();
            let pattern = match d.arguments.get(..2) {
                _ if d.name != "$HTTP[\"url\"]" => {
                    let inner = self.lighttpd(d.within());
                    made.extend((!inner.is_empty()).then(|| made_of(&d.name, &d.arguments, inner)));
                    continue;
                }
                Some("=~") => self.pattern(&value),
                Some("=$") => Some(format!("{}{}", regex::escape(&value), self.suffix)),
                Some("==") => Some(self.named(&value, "^")),
                _ => continue,
            };
            // lighttpd has no way to write a quote within quotes.
            let is_kept = |pattern: &String| !hands_over(d.within()) && !pattern.contains('"');
            let Some(pattern) = pattern.filter(is_kept) else { continue };
            made.push(made_of(&d.name, &format!("=~ \"{pattern}\""), d.within().to_vec()));
        }
        made
    }

    /// Ends of URLs that are refused, with those of variants.
    fn denied(&self, d: &Directive) -> Option<Directive> {
        let Some(Value::List(all)) = Value::of(d) else { return None };
        let ends = all.iter().map(|(_, end)| end.word()).filter(|end| !end.is_empty());
        let of_end = |end: String| self.endings.iter().map(move |ending| format!("\"{end}.{ending}\""));
        let ends: Vec<String> = ends.flat_map(of_end).collect();
        let list = format!("+= ( {} )", ends.join(", "));
        (!ends.is_empty()).then(|| plain(&d.name, &list))
    }

    /// Refuses the names of variants that lie beside a file that a location refuses. Everything else is answered as before. Locations within others
    /// are not looked at. A `set` outside of `if` would take the place of the user's own.
    fn nginx(&self, block: &[Directive]) -> Vec<Directive> {
        let mut locations = self.locations(block);
        // As nginx looks at them: of patterns the first that matches holds.
        locations.sort_by_key(|(mark, ..)| MARKS[..2].iter().position(|first| first == mark).unwrap_or(2));
        let Some(last) = locations.iter().rposition(|(.., status)| status.is_some()) else {
            return Vec::new();
        };
        let when = |condition: String, name, what: &str| {
            made_of("if", &format!("({condition})"), vec![plain(name, what)])
        };
        let none = "$weigh_file \"\"";
        let mut made = vec![
            when(format!("$uri !~ \"^(?<weigh_file>.+){}\"", self.suffix), "set", none),
            when("!-f \"$document_root$weigh_file\"".to_owned(), "set", none),
        ];
        made.extend(locations[..=last].iter().map(|(mark, pattern, status)| {
            let sign = if *mark == "~*" { "~*" } else { "~" };
            // Where there is no name, nothing matches.
            let condition = format!("$weigh_file {sign} {}", quoted(&format!(r"(?!\A\z)(?:{pattern})")));
            match status {
                Some(status) => when(condition, "return", status),
                None => when(condition, "set", none),
            }
        }));
        made
    }

    /// The marked locations of the site: mark, pattern, and the status with which files are refused.
    fn locations(&self, block: &[Directive]) -> Vec<(&'static str, String, Option<String>)> {
        let mut found = Vec::new();
        for d in block.iter().filter(|d| d.block.is_some()) {
            if d.is("http") || Some(d.at) == self.read.site.at {
                found.extend(self.locations(d.within()));
            }
            let words = d.words().concat();
            let split = MARKS.iter().find_map(|mark| Some((*mark, words.strip_prefix(mark)?)));
            let Some((mark, name)) = split.filter(|_| d.is("location")) else { continue };
            let pattern = match mark {
                "=" => format!("^{}$", regex::escape(name)),
                "^~" => format!("^{}", regex::escape(name)),
                _ => name.replace("\\\"", QUOTE).replace('"', QUOTE),
            };
            // A beginning holds for variants, too.
            let status = refusal(d.within()).filter(|_| mark != "^~");
            if !pattern.starts_with("(*") {
                found.push((mark, pattern, status));
            }
        }
        found
    }
}

/// The status with which a location of nginx refuses everybody, or strangers; none: it does not.
fn refusal(block: &[Directive]) -> Option<String> {
    let first = |names: &[&str], but: &str| {
        block.iter().find(|d| names.iter().any(|name| d.is(name)) && d.first() != but)
    };
    if first(&["internal"], "off").is_some() {
        return Some("404".to_owned());
    }
    if let Some(returned) = first(&["return"], "") {
        return Some(returned.first()).filter(|status| status.starts_with('4'));
    }
    let of_all = block.iter().find(|d| (d.is("allow") || d.is("deny")) && d.first() == "all");
    let is_refused =
        of_all.is_some_and(|d| d.is("deny")) || first(&["auth_basic", "auth_request"], "off").is_some();
    is_refused.then(|| "403".to_owned())
}

/// Whether a block hands files to a program.
fn hands_over(block: &[Directive]) -> bool {
    block.iter().any(|d| HANDLERS.iter().any(|name| d.is(name)) || hands_over(d.within()))
}

/// What sections for folders around a folder say of its own file, with their lengths.
fn overrides(block: &[Directive], folder: &std::path::Path, found: &mut Vec<(usize, bool)>) {
    for d in block.iter().filter(|d| d.block.is_some()) {
        let path = d.first();
        if d.is("Directory") && folder.starts_with(&path) {
            let says = d.within().iter().filter(|d| d.is("AllowOverride"));
            found.extend(says.map(|says| (path.len(), !says.first().eq_ignore_ascii_case("None"))));
        }
        overrides(d.within(), folder, found);
    }
}

fn made_of(name: &str, arguments: &str, block: Vec<Directive>) -> Directive {
    Directive { name: name.to_owned(), arguments: arguments.to_owned(), at: WRITTEN, block: Some(block) }
}

fn plain(name: &str, arguments: &str) -> Directive {
    Directive { block: None, ..made_of(name, arguments, Vec::new()) }
}

fn quoted(pattern: &str) -> String {
    format!("\"{}\"", pattern.replace(r"\\", r"\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weigh_model::way::OwnConfig;
    use weigh_rig::service::FolderDefinition;
    use weigh_serverconf::site;
    use weigh_serverconf::tree::Tree;

    /// A configuration of Apache with nothing in it.
    fn read() -> Read {
        let tree = Tree {
            syntax: Syntax::Sections,
            files: Vec::new(),
            sha256: String::new(),
            base: Default::default(),
            directives: Vec::new(),
            is_whole: true,
            only: None,
            modules: None,
            types: None,
            folders: Default::default(),
        };
        let rules =
            weigh_rig::server::Definition::load(&weigh_content::defs::Definitions::load(None).unwrap())
                .unwrap();
        let rules = rules.into_iter().find(|one| one.name == "apache").unwrap().own.unwrap();
        let site = site::choose(&rules, &tree, &Default::default()).unwrap();
        Read { tree, site, config: OwnConfig::default(), notes: Vec::new() }
    }

    #[test]
    fn an_end_of_a_name_becomes_that_of_its_variants() {
        let read = read();
        let sections = Sections { read: &read, suffix: r"\.(?:br|gz)$".into(), endings: &["br", "gz"] };
        for (pattern, expected) in [
            (r"\.css$", Some(r"\.css(?=\.(?:br|gz)$)")),
            (r"(a$|b\z)", Some(r"(a(?=\.(?:br|gz)$)|b(?=\.(?:br|gz)$))")),
            (r#""a\"$"#, Some(r"\x22a\x22(?=\.(?:br|gz)$)")),
            (r"^\.ht", None),
            (r"[$]a\$", None),
            (r"(*UTF8)a$", None),
        ] {
            let expected = expected.map(|made| format!(r"(?:{made})(?s:.*)\.(?:br|gz)$"));
            assert_eq!(sections.pattern(pattern), expected, "{pattern}");
        }
        assert_eq!(sections.named("a*.css", "^"), r"^a.*\.css\.(?:br|gz)$");
    }

    /// Of nginx's locations, exact ones hold first, then the first pattern that matches.
    #[test]
    fn a_variant_is_refused_beside_a_file_that_nginx_refuses() {
        let text = r#"server {
            location ~ ^/config { deny all; }
            location ~* \.(css|js)$ { allow all; deny all; }
            location ~*^/readme\.txt$|\.git { deny all; return 404; }
            location ~ \.xml$ { auth_basic "x"; }
            location ^~ /store/ { location ~ \.json$ { deny all; } }
            location = /robots.txt { }
            location / { internal; }
            location ~ \.inc$ { internal; }
            location ~ \.txt$ { auth_basic off; return 200; }
        }"#;
        let mut read = read();
        read.tree.directives = Syntax::Blocks.parse(text, 0).unwrap();
        read.site.at = Some(read.tree.directives[0].at);
        let made = of_variants(Syntax::Blocks, &read, &["br"]);
        let rules: Vec<String> = made.lines().collect::<Vec<_>>().chunks(3).map(<[_]>::concat).collect();
        let decided: Vec<String> = rules[2..]
            .iter()
            .map(|rule| rule.replace("if ($weigh_file ", "").replace(r"(?!\A\z)", ""))
            .collect();
        assert_eq!(rules[0], r#"if ($uri !~ "^(?<weigh_file>.+)\.(?:br)$") {set $weigh_file "";}"#);
        assert_eq!(
            decided,
            [
                r#"~ "(?:^/robots\.txt$)") {set $weigh_file "";}"#,
                r#"~ "(?:^/store/)") {set $weigh_file "";}"#,
                r#"~ "(?:^/config)") {return 403;}"#,
                r#"~* "(?:\.(css|js)$)") {set $weigh_file "";}"#,
                r#"~* "(?:^/readme\.txt$|\.git)") {return 404;}"#,
                r#"~ "(?:\.xml$)") {return 403;}"#,
                r#"~ "(?:\.inc$)") {return 404;}"#,
            ],
            "{made}"
        );
        read.tree.directives =
            Syntax::Blocks.parse("server { location ~ \\.css$ { expires 1d; } }", 0).unwrap();
        read.site.at = Some(read.tree.directives[0].at);
        assert_eq!(of_variants(Syntax::Blocks, &read, &["br"]), "");
    }

    #[test]
    fn a_pattern_cannot_leave_its_quotes() {
        let text = format!("<FilesMatch {}>\nHeader set X y\n</FilesMatch>\n", "\"a\\\"> evil$\"");
        let mut read = read();
        read.tree.directives = Syntax::Sections.parse(&text, 0).unwrap();
        let made = of_variants(Syntax::Sections, &read, &["br"]);
        let again = Syntax::Sections.parse(&made, 0).unwrap();
        assert_eq!(
            (again.len(), again[0].name.as_str(), again[0].within().len()),
            (1, "FilesMatch", 1),
            "{made}"
        );
    }
}

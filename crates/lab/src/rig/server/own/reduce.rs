//! What becomes of each directive: taken over, left to the private instance, or refused.

use anyhow::Result;
use regex::Regex;

use super::syntax::{Directive, Syntax, Wrong};

use super::{Rules, expressions};
use weigh_model::text::clean;

/// What a site that only leads to another one consists of.
const REDIRECTS: [&str; 7] =
    ["return", "rewrite", "Redirect", "RedirectPermanent", "RewriteEngine", "RewriteCond", "RewriteRule"];

/// A configuration without what a private instance has of its own.
#[derive(Debug)]
pub struct Reduced {
    /// What stands outside of the site.
    pub outer: Vec<Directive>,
    /// What stands in it.
    pub inner: Vec<Directive>,
    /// What is left out, one line each.
    pub notes: Vec<String>,
}

/// Judges every directive.
///
/// The outer error is a wrong definition, the inner one a line of the user's file.
pub fn reduce(rules: &Rules, directives: Vec<Directive>) -> Result<Result<Reduced, Wrong>> {
    let mut judge = Judge {
        rules,
        included: expressions(&rules.included)?,
        forbidden: expressions(&rules.forbidden)?,
        site: None,
        left: Vec::new(),
        handed: Vec::new(),
    };
    Ok(judge.list(directives, true).map(|kept| {
        let is_outer = |d: &Directive| is(&rules.outer, &d.name);
        let (outer, inner) = kept.into_iter().partition(is_outer);
        Reduced { outer, inner, notes: judge.notes() }
    }))
}

/// Whether a name is one of these.
fn is(names: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    names.iter().any(|known| match known.to_lowercase().strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == known.to_lowercase(),
    })
}

/// Whether a directive, or one within it, is such a one; `guarded`: those count too that apply only where a module is there.
pub fn uses(rules: &Rules, directive: &Directive, patterns: &[Regex], guarded: bool) -> bool {
    let is_guard = is(&rules.guards, &directive.name);
    let within = directive.block.iter().flatten();
    patterns.iter().any(|pattern| !is_guard && pattern.is_match(&directive.text()))
        || ((guarded || !is_guard) && within.into_iter().any(|d| uses(rules, d, patterns, guarded)))
}

/// The refusal of another file.
fn unread(include: &Directive) -> Wrong {
    let what = "other files are not read; put what it has for this site into this one, or leave it out";
    Wrong::at(include.line, format!("`{}`: {what}", include.text()))
}

struct Judge<'r> {
    rules: &'r Rules,
    included: Vec<Regex>,
    forbidden: Vec<Regex>,
    /// The line of the site.
    site: Option<usize>,
    /// Names of what is left to the private instance, with lines.
    left: Vec<(String, usize)>,
    /// What is handed to other programs.
    handed: Vec<(String, usize)>,
}

impl Judge<'_> {
    /// What is kept of a list; `is_top`: it stands in no block that is kept.
    fn list(&mut self, directives: Vec<Directive>, is_top: bool) -> Result<Vec<Directive>, Wrong> {
        let mut kept: Vec<Directive> = Vec::new();
        for mut directive in directives {
            let name = directive.name.clone();
            if let Some(block) = directive.block.take_if(|_| is_top && is(&self.rules.through, &name)) {
                if self.is_another_site(&name, directive.line, &block)? {
                    continue;
                }
                let deeper = self.list(block, true)?;
                if self.rules.syntax == Syntax::Blocks {
                    // What is said deeper inside holds, and all of it.
                    kept.retain(|d| d.block.is_some() || !deeper.iter().any(|own| own.name == d.name));
                }
                kept.extend(deeper);
            } else {
                kept.extend(self.one(directive)?);
            }
        }
        Ok(kept)
    }

    /// Whether a block is a site that only leads to another one; a second one that does more is refused.
    fn is_another_site(&mut self, name: &str, line: usize, block: &[Directive]) -> Result<bool, Wrong> {
        if !self.rules.site.eq_ignore_ascii_case(name) {
            return Ok(false);
        }
        let leads = |d: &Directive| REDIRECTS.iter().any(|name| name.eq_ignore_ascii_case(&d.name));
        if block.iter().any(leads) && block.iter().all(|d| leads(d) || is(&self.rules.leave, &d.name)) {
            self.left.push((format!("{name} that redirects"), line));
            return Ok(true);
        }
        match self.site.replace(line) {
            Some(first) => Err(Wrong::at(
                line,
                format!(
                    "a second `{name}` beside that of line {first}; leave the one to measure in the file"
                ),
            )),
            None => Ok(false),
        }
    }

    /// A directive that is no such block.
    fn one(&mut self, directive: Directive) -> Result<Option<Directive>, Wrong> {
        let text = directive.text();
        if self.is_left(&directive)? {
            return Ok(None);
        }
        let Directive { name, arguments, line, block } = directive;
        let relocated = self.rules.relocate.iter().find(|(block, _)| block.eq_ignore_ascii_case(&name));
        let relocated = relocated.filter(|_| block.is_some()).map(|(_, place)| place.clone());
        let (keep, data, outer) = (&self.rules.keep, &self.rules.data, &self.rules.outer);
        let is_known = relocated.is_some() || [keep, data, outer].iter().any(|list| is(list, &name));
        if !is_known || self.forbidden.iter().any(|pattern| pattern.is_match(&text)) {
            return Err(Wrong::at(
                line,
                format!(
                    "`{text}` cannot be taken into a private instance; leave it out, or measure the running server with --url"
                ),
            ));
        }
        let arguments = relocated.unwrap_or(arguments);
        let Some(block) = block else { return Ok(Some(Directive { name, arguments, line, block: None })) };
        if is(data, &name) {
            block.iter().filter(|d| is(&self.rules.include, &d.name)).try_for_each(|d| Err(unread(d)))?;
            return Ok(Some(Directive { name, arguments, line, block: Some(block) }));
        }
        if let Some(to) = self.handing(&block) {
            self.handed.push((format!("{text} ({to})"), line));
            return Ok(None);
        }
        let block = self.list(block, false)?;
        // A block of which nothing is left says nothing.
        Ok((!block.is_empty()).then_some(Directive { name, arguments, line, block: Some(block) }))
    }

    /// Whether a directive is not taken over, which is kept in mind.
    fn is_left(&mut self, directive: &Directive) -> Result<bool, Wrong> {
        let Directive { name, arguments, line, .. } = directive;
        let is_include = is(&self.rules.include, name);
        if is_include && !self.included.iter().any(|known| known.is_match(arguments)) {
            return Err(unread(directive));
        }
        if is_include {
            self.left.push((directive.text(), *line));
        } else if is(&self.rules.leave, name) {
            self.left.push((name.clone(), *line));
        } else if is(&self.rules.elsewhere, name) {
            self.handed.push((name.clone(), *line));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The directive of a block that hands requests to another program.
    fn handing(&self, block: &[Directive]) -> Option<String> {
        block.iter().find_map(|d| {
            let own = is(&self.rules.elsewhere, &d.name).then(|| d.name.clone());
            own.or_else(|| self.handing(d.block.as_deref().unwrap_or_default()))
        })
    }

    fn notes(&self) -> Vec<String> {
        let say = |what: &str, found: &[(String, usize)]| {
            let words: Vec<String> =
                found.iter().map(|(name, line)| format!("{} (line {line})", clean(name))).collect();
            (!words.is_empty()).then(|| format!("{what}: {}", words.join(", ")))
        };
        let left = say("left to the private instance, which has its own", &self.left);
        let handed = say(
            "left out, because other programs answer there; the lab's own PHP stands behind *.php",
            &self.handed,
        );
        left.into_iter().chain(handed).collect()
    }
}

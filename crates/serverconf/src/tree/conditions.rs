//! What Apache decides while it reads: values of `${NAME}`, `IfModule`, `IfDefine`, and which modules there are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Reader;
use crate::rules::Rules;
use crate::syntax::{Directive, Wrong};

/// The file beside the root with the environment that the server is started in.
const ENVIRONMENT: &str = "envvars";
/// Values that stand for each other at most.
const DEEPEST: usize = 8;

/// Names with their values, and modules, as far as was read.
#[derive(Clone, Debug, Default)]
pub struct Defines {
    values: BTreeMap<String, String>,
    modules: BTreeSet<String>,
    built_in: BTreeSet<String>,
}

impl Defines {
    /// Those of the environment that a server in this folder is started in; the definition's where no file says.
    pub fn of(home: &Path, rules: &Rules) -> Defines {
        let mut values: BTreeMap<String, String> = rules.environment.clone();
        let text = super::text(&home.join(ENVIRONMENT)).unwrap_or_default();
        for line in text.lines() {
            let line = line.trim();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let Some((name, value)) = line.split_once('=').filter(|(name, _)| is_name(name)) else {
                continue;
            };
            let value = value.trim().trim_matches(['"', '\'']);
            // Nothing of a shell is carried out: what is no plain value stays as the definition has it.
            let value = value.replace("$SUFFIX", "");
            if !value.contains(['$', '`']) {
                values.insert(name.to_owned(), value);
            }
        }
        Defines { values, modules: BTreeSet::new(), built_in: rules.built_in.iter().cloned().collect() }
    }

    /// The modules that were loaded; none: nothing says which.
    pub fn modules(&self) -> Option<BTreeSet<String>> {
        (!self.modules.is_empty()).then(|| self.modules.union(&self.built_in).cloned().collect())
    }

    /// A text with the values of what it names. Unknown names stay, as the server leaves them.
    pub fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEEPEST {
            let mut out = String::with_capacity(text.len());
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once("${") {
                out.push_str(before);
                if out.len() > super::LONGEST as usize {
                    return text;
                }
                let known = after.split_once('}').and_then(|(name, end)| Some((self.values.get(name)?, end)));
                match known {
                    Some((value, end)) => {
                        out.push_str(value);
                        rest = end;
                    }
                    None => {
                        out.push_str("${");
                        rest = after;
                    }
                }
            }
            out.push_str(rest);
            if out == text {
                break;
            }
            text = out;
        }
        text
    }

    /// Whether a condition on a module holds; none: nothing says.
    fn has_module(&self, name: &str) -> Option<bool> {
        let name = module_name(name);
        self.modules()
            .map(|modules| modules.contains(&name))
            .or(self.built_in.contains(&name).then_some(true))
    }
}

/// The name of a module from any that Apache gives it: `mod_deflate.c` and `deflate_module` are `deflate`.
pub fn module_name(text: &str) -> String {
    let name = text.strip_prefix("mod_").unwrap_or(text);
    let name = name.strip_suffix(".c").or(name.strip_suffix("_module")).unwrap_or(name);
    match name {
        "event" | "worker" | "prefork" => format!("mpm_{name}"),
        name => name.to_owned(),
    }
}

/// The directives of a folder's file, with what holds of its conditions on modules.
pub fn kept(directives: Vec<Directive>, modules: Option<&BTreeSet<String>>) -> Vec<Directive> {
    let mut found = Vec::new();
    for mut directive in directives {
        let Some(block) = directive.block.take() else {
            found.push(directive);
            continue;
        };
        let word = directive.first();
        let (is_not, word) = word.strip_prefix('!').map_or((false, word.as_str()), |word| (true, word));
        let block = kept(block, modules);
        match modules.filter(|_| directive.is("IfModule")) {
            Some(modules) if modules.contains(&module_name(word)) != is_not => found.extend(block),
            Some(_) => {}
            None => found.push(Directive { block: Some(block), ..directive }),
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Reader<'_> {
    /// Apache: includes, values and conditions in their order, which decides what later ones see.
    pub(super) fn expand_sections(&mut self, directives: Vec<Directive>) -> Result<Vec<Directive>, Wrong> {
        let mut found = Vec::new();
        for mut directive in directives {
            directive.arguments = self.defines.filled(&directive.arguments);
            let (name, words) = (directive.name.to_lowercase(), directive.words());
            let first = words.first().map_or("", String::as_str);
            match name.as_str() {
                "include" | "includeoptional" => {
                    let is_optional = name == "includeoptional";
                    found.extend(self.included(&directive, is_optional)?);
                    continue;
                }
                "use" | "macro" => {
                    let what = format!(
                        "`{}`: macros are not read; save what `apache2ctl -t -D DUMP_CONFIG` prints, and give that",
                        directive.text()
                    );
                    return Err(Wrong::at(directive.at, what));
                }
                "define" => {
                    let value = words.get(1).cloned().unwrap_or_default();
                    self.defines.values.insert(first.to_owned(), value);
                    continue;
                }
                "undefine" => {
                    self.defines.values.remove(first);
                    continue;
                }
                "loadmodule" => drop(self.defines.modules.insert(module_name(first))),
                "serverroot" if first.starts_with('/') => self.base = first.into(),
                _ => {}
            }
            let Some(block) = directive.block.take() else {
                found.push(directive);
                continue;
            };
            if let Some(holds) = self.condition(&name, first) {
                if holds {
                    found.extend(self.expand_sections(block)?);
                }
                continue;
            }
            let block = self.expand_sections(block)?;
            found.push(Directive { block: Some(block), ..directive });
        }
        Ok(found)
    }

    /// Whether the condition of a section holds; none: it is no condition, or the server has to decide.
    fn condition(&self, section: &str, word: &str) -> Option<bool> {
        let (is_not, word) = word.strip_prefix('!').map_or((false, word), |word| (true, word));
        let holds = match section {
            "ifmodule" => self.defines.has_module(word)?,
            "ifdefine" => self.defines.values.contains_key(word),
            "iffile" => self.base.join(word).exists(),
            _ => return None,
        };
        Some(holds != is_not)
    }
}

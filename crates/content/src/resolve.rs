//! Resolving: from what a study names to what is there: the real content, or its synthetic twin with the reason.
//!
//! `corpus:jquery-3.7.1.min` · `value:tree-2.4m` · `value:tree-2.4m.igbinary` · `set:web` · `set:all` ·
//! `synthetic:rows-16k`.

use std::path::Path;

use anyhow::{Result, bail};

use weigh_model::payload::Payload;
use weigh_model::suggest::nearest;

use super::library::{Item, Library, Presence};
use super::names::Names;
use super::synthetic::Recipe;

/// One content that a study asks for, found.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The id asked for: never a set.
    pub id: String,
    /// The name its payload gets, unless another payload has it already.
    pub name: String,
    /// Set when a synthetic twin stands in for it: why.
    pub stand_in: Option<String>,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Real,
    Synthetic(Recipe),
}

/// Finds what a study names. A set gives several. What is not in the cache is replaced by synthetic content of the
/// same kind and about the same size; only a form of a PHP value that nothing but PHP can write has no twin, and is
/// an error. Unknown names are errors that tell the nearest.
pub fn resolve(library: &Library, spec: &str) -> Result<Vec<Resolved>> {
    let Some((scheme, rest)) = spec.split_once(':') else {
        bail!("`{spec}`: content is named corpus:ID, value:ID, set:NAME or synthetic:FAMILY-SIZE");
    };
    match scheme {
        "synthetic" => {
            let recipe: Recipe = rest.parse()?;
            let name = format!("synthetic-{rest}");
            Ok(vec![Resolved { id: spec.into(), name, stand_in: None, what: What::Synthetic(recipe) }])
        }
        "set" => {
            let in_set = |item: &Item<'_>| match rest {
                "all" => !matches!(item, Item::Value(..)) || item.is_value(),
                _ => item.sets().iter().any(|set| set == rest),
            };
            let items: Vec<Item<'_>> = library.items().filter(in_set).collect();
            if items.is_empty() {
                let known = library.sets().into_iter().map(|(set, _)| format!("set:{set}"));
                bail!("there is no set `{rest}`{}", hint(spec, known.chain(["set:all".into()])));
            }
            items.into_iter().map(|item| one(library, item)).collect()
        }
        "corpus" | "value" => match library.find(spec) {
            Some(item) => Ok(vec![one(library, item)?]),
            None => bail!("the corpus has no `{spec}`{}", hint(spec, library.items().map(|i| i.id()))),
        },
        _ => bail!("`{spec}`: content is named corpus:ID, value:ID, set:NAME or synthetic:FAMILY-SIZE"),
    }
}

impl Resolved {
    /// Brings it into a folder as a payload; with `family` a small one together with other instances of its shape, where there are such:
    /// of values, and of what is generated for its own sake. The payload's blob is a path in `into`, as given.
    pub fn stage(&self, library: &Library, into: &Path, names: &mut Names, family: bool) -> Result<Payload> {
        let name = names.give(&self.name);
        match &self.what {
            What::Real => library.stage(&self.id, into, &name, family),
            What::Synthetic(recipe) => {
                // A stand-in is measured as the real one would be, and there is one of each file.
                let is_file = self.stand_in.is_some() && !self.id.starts_with("value:");
                recipe.stage(into, &name, family && !is_file)
            }
        }
    }
}

fn one(library: &Library, item: Item<'_>) -> Result<Resolved> {
    let id = item.id();
    let name = id.split_once(':').map_or(id.as_str(), |(_, name)| name).to_owned();
    if library.presence(item)? != Presence::Absent {
        return Ok(Resolved { id, name, stand_in: None, what: What::Real });
    }
    match item {
        Item::Value(..) if !item.is_value() => {
            bail!("`{id}` is not in the cache, and only PHP can make it: fetch the corpus")
        }
        _ => {}
    }
    let recipe = Recipe::like(&name, item.kind(), item.about_bytes());
    let why = format!("{id} is not in the cache");
    Ok(Resolved { id, name, stand_in: Some(why), what: What::Synthetic(recipe) })
}

/// The hint alone: there are too many names to list.
fn hint(wanted: &str, known: impl Iterator<Item = String>) -> String {
    let known: Vec<String> = known.collect();
    let near = nearest(wanted, known.iter().map(String::as_str));
    near.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weigh_model::payload::Origin;

    fn empty() -> Library {
        Library::open(Path::new("/nonexistent/cache")).unwrap()
    }

    #[test]
    fn what_is_not_there_has_a_twin_of_the_same_kind_and_size() {
        let library = empty();
        let folder = tempfile::tempdir().unwrap();
        let mut names = Names::new();
        for id in ["value:rows-64k", "value:meta-256k", "corpus:page-path", "corpus:photo", "corpus:sql-wasm"]
        {
            let found = resolve(&library, id).unwrap().remove(0);
            assert_eq!(found.stand_in.as_deref(), Some(format!("{id} is not in the cache").as_str()));
            let item = library.find(id).unwrap();
            let payload = found.stage(&library, folder.path(), &mut names, false).unwrap();
            assert_eq!(payload.kind, item.kind());
            assert_eq!(payload.value.is_some(), id.starts_with("value:"));
            assert!(matches!(payload.origin, Origin::Synthetic { .. }));
            let share = payload.bytes as f64 / item.about_bytes() as f64;
            assert!((0.9..=1.0).contains(&share), "{id}: {share}");
            assert_eq!(std::fs::metadata(&payload.blob).unwrap().len(), payload.bytes);
        }
    }

    #[test]
    fn a_stand_in_is_a_family_where_the_real_content_would_be() {
        let (library, folder, mut names) = (empty(), tempfile::tempdir().unwrap(), Names::new());
        for (id, is_family) in [
            ("value:rows-64k", true),
            ("value:rows-1m", false),
            ("corpus:page-zlib", false),
            ("synthetic:html-64k", true),
        ] {
            let found = resolve(&library, id).unwrap().remove(0);
            let payload = found.stage(&library, folder.path(), &mut names, true).unwrap();
            assert_eq!(payload.family, is_family, "{id}");
        }
    }

    #[test]
    fn sets_give_each_content_once() {
        let library = empty();
        let ids =
            |spec| resolve(&library, spec).unwrap().into_iter().map(|found| found.id).collect::<Vec<_>>();
        let values = library.sets().into_iter().find(|(set, _)| set == "php-values").unwrap().1;
        assert_eq!(ids("set:php-values"), values);
        let mut all = ids("set:all");
        assert!(all.len() > values.len());
        all.sort();
        all.dedup();
        assert_eq!(all.len(), ids("set:all").len());
        assert_eq!(resolve(&library, "synthetic:rows-1k").unwrap()[0].name, "synthetic-rows-1k");
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let library = empty();
        for (spec, said) in [
            ("corpus:jquery-3.7.1.mini", "did you mean `corpus:jquery-3.7.1.min`?"),
            ("value:tree-24m", "did you mean `value:tree-2.4m`?"),
            ("set:php-value", "did you mean `set:php-values`?"),
            ("synthetic:html", "write FAMILY-SIZE"),
            ("tree-2.4m", "corpus:ID, value:ID"),
            ("file:/etc/passwd", "corpus:ID, value:ID"),
            ("value:tree-2.4m.igbinary", "only PHP can make it"),
        ] {
            let error = resolve(&library, spec).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}

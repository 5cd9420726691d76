//! Configurations from templates: a name that is not given is an error, nothing is escaped, and lines that hold a block alone go.

use std::path::Path;

use anyhow::bail;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

/// Renders one template; `name` is what its errors call it.
///
/// # Errors
/// One line with the template's name and the number of the line in it.
pub fn render(name: &str, template: &str, values: impl Serialize) -> anyhow::Result<String> {
    render_with(name, template, &[], values)
}

/// As [`render`], with the parts that the template may include by their names.
pub fn render_with(
    name: &str,
    template: &str,
    parts: &[(&str, &str)],
    values: impl Serialize,
) -> anyhow::Result<String> {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    let mut environment = Environment::new();
    environment.set_syntax(syntax.build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let added = parts.iter().try_for_each(|(part, text)| environment.add_template(part, text));
    let rendered =
        added.and_then(|()| environment.render_named_str(name, template, Value::from(Serde(values))));
    rendered.map_err(|error| readable(name, error))
}

/// One line: the template in which it went wrong, the line there, and what.
fn readable(name: &str, error: minijinja::Error) -> anyhow::Error {
    // What went wrong in a part is the source of the error of its `include`.
    let mut inner = &error;
    while let Some(source) =
        std::error::Error::source(inner).and_then(|e| e.downcast_ref::<minijinja::Error>())
    {
        inner = source;
    }
    let place = inner.name().filter(|place| *place != name).map_or(String::new(), |part| format!(", {part}"));
    let line = inner.line().map_or(String::new(), |line| format!(", line {line}"));
    let detail = inner.detail().map_or_else(|| inner.kind().to_string(), str::to_owned);
    anyhow::anyhow!("{name}{place}{line}: {}", detail.lines().next().unwrap_or_default())
}

/// A path as it can stand between double quotes in any configuration.
pub fn path_text(path: &Path) -> anyhow::Result<String> {
    let is_harmless = |p: &&str| !p.contains(|c: char| c.is_control() || "\"'`\\$%{}<>;#*?".contains(c));
    match path.to_str().filter(is_harmless) {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{}: no server can be configured for a path with such characters", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Values {
        name: &'static str,
    }

    #[test]
    fn what_is_not_given_is_an_error_with_its_place() {
        let values = Values { name: "<a&b>" };
        assert_eq!(render("x.conf", "{% if name %}\n{{ name }}\n{% endif %}\n", &values).unwrap(), "<a&b>\n");
        let error = render("x.conf", "\n{{ nam }}\n", &values).unwrap_err().to_string();
        assert!(error.starts_with("x.conf, line 2: "), "{error}");
    }

    #[test]
    fn a_part_is_rendered_with_the_same_values_and_named_in_errors() {
        let values = Values { name: "a" };
        let with = |part| render_with("x.conf", "[\n{% include \"part\" %}\n]\n", &[("part", part)], &values);
        assert_eq!(with("{{ name }}\n").unwrap(), "[\na\n]\n");
        let error = with("\n\n{{ nam }}\n").unwrap_err().to_string();
        assert!(error.starts_with("x.conf, part, line 3: "), "{error}");
    }
}

//! Rewriting of paths by regular expressions, as nginx and Apache have it.

use super::nginx::expression;

/// What a rule makes of a path.
pub type Target = String;

/// The replacement with what the expression's groups have matched (`$1`); none: the path does not match. `is_not`: the rule is for paths
/// that do not.
pub fn apply(pattern: &str, is_not: bool, to: &str, path: &str) -> Option<Target> {
    let pattern = expression(pattern, false)?;
    let found = pattern.captures(path).ok().flatten();
    if is_not {
        return found.is_none().then(|| to.to_owned());
    }
    let found = found?;
    let mut out = String::new();
    let mut rest = to.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().and_then(|c| c.to_digit(10))) {
            ('$', Some(group)) => {
                rest.next();
                out.push_str(found.get(group as usize).map_or("", |group| group.as_str()));
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

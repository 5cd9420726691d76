//! Configurations of servers in their own languages, and as the lab writes them: what can be read is written as the same.

use weigh_serverconf::Syntax;
use weigh_serverconf::syntax::Directive;

fn count(list: &[Directive]) -> usize {
    list.iter().map(|one| 1 + one.block.as_deref().map_or(0, count)).sum()
}

/// Holds one input against what the module promises: the language on the first line, the configuration on the others.
pub fn hold(text: &str) {
    let Some((language, text)) = text.split_once('\n') else { return };
    let syntax = match language {
        "blocks" => Syntax::Blocks,
        "sections" => Syntax::Sections,
        "assigned" => Syntax::Assigned,
        _ => Syntax::Json,
    };
    match syntax.parse(text, 0) {
        Err(wrong) => super::is_shown(&wrong.what),
        Ok(read) => {
            let written = syntax.write(&read);
            assert_eq!(written.origins.len(), written.text.lines().count());
            let _ = (count(&read), syntax.parse(&written.text, 0));
        }
    }
}

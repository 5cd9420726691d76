//! What servers print of their configuration: `nginx -T`, and `apache2ctl -t -D DUMP_CONFIG`.

use std::path::PathBuf;

use anyhow::Result;

use crate::syntax::{Directive, SourcePosition, Syntax};

/// Files and directives that Apache printed.
pub type Printed = (Vec<PathBuf>, Vec<Directive>);

/// Before each file that nginx prints.
const OF_NGINX: &str = "# configuration file ";
/// Before what Apache prints of a file.
const OF_APACHE: &str = "# In file: ";

/// The files that nginx printed, the root first; none: it is not a print of nginx.
pub fn of_nginx(syntax: Syntax, text: &str) -> Option<Vec<(PathBuf, String)>> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for line in text.lines().filter(|_| syntax == Syntax::Blocks) {
        let begins = line.strip_prefix(OF_NGINX).and_then(|rest| rest.strip_suffix(':'));
        if let Some(path) = begins.filter(|path| path.starts_with('/')) {
            files.push((path.into(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    // A root file may say where it is in a comment of this form: nothing stands before the first file but words of the server.
    let before = text.lines().take_while(|line| !line.starts_with(OF_NGINX));
    let is_print = before.into_iter().all(|line| line.is_empty() || line.starts_with("nginx: "));
    (is_print && !files.is_empty()).then_some(files)
}

/// What Apache printed: files, and directives with their places; none: it is no print of Apache.
///
/// # Errors
/// One line: what in it is not a directive.
pub fn of_apache(syntax: Syntax, text: &str) -> Result<Option<Printed>> {
    if syntax != Syntax::Sections || !text.lines().any(|line| line.starts_with(OF_APACHE)) {
        return Ok(None);
    }
    let mut files: Vec<PathBuf> = Vec::new();
    let mut places = vec![SourcePosition::default()];
    let mut at = SourcePosition::default();
    for line in text.lines() {
        let comment = line.trim_start();
        if let Some(path) = comment.strip_prefix(OF_APACHE) {
            let known = files.iter().position(|file| file.as_os_str() == path);
            let number = known.unwrap_or_else(|| {
                files.push(path.into());
                files.len() - 1
            });
            at = SourcePosition { file: u32::try_from(number).unwrap_or(0), line: 1 };
        } else if let Some(number) = comment.strip_prefix('#').and_then(|rest| rest.trim().strip_suffix(':'))
        {
            at.line = number.parse().unwrap_or(at.line);
        }
        places.push(at);
    }
    let parsed = syntax.parse(text, 0);
    let mut directives = parsed.map_err(|wrong| {
        anyhow::anyhow!("line {} of what the server printed: {}", wrong.at.line, wrong.what)
    })?;
    move_to(&mut directives, &places);
    Ok(Some((files, directives)))
}

/// Gives directives the places that stood above their lines.
fn move_to(directives: &mut [Directive], places: &[SourcePosition]) {
    for directive in directives {
        directive.at = places.get(directive.at.line as usize).copied().unwrap_or_default();
        move_to(directive.block.as_deref_mut().unwrap_or_default(), places);
    }
}

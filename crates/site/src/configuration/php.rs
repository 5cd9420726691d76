//! What is emitted for PHP: an ini file for pages that it compresses.

use anyhow::Result;

use super::decided::{decision, parse_method};
use super::emitted::Emitted;
use weigh_model::policy::{Decision, Encoder, Policy, Rule};
use weigh_model::site::{Kind, Site, Today};
use weigh_model::text::clean;
use weigh_model::way::{OB_GZHANDLER, is_php_setting};

/// The file for PHP; none if the policy has no pages that its settings compress.
pub fn emit(policy: &Policy, site: &Site) -> Result<Option<Emitted>> {
    let Some(page) = decision(policy, Kind::Page).filter(|page| is_by_settings(page, site)) else {
        return Ok(None);
    };
    let rules = page.rules.iter().filter(|rule| rule.by == Encoder::Php);
    let body = rules.map(ini).collect::<Result<String>>()?;
    Ok(Some(Emitted {
        file: "php/weigh.ini".into(),
        what: clean(&page.text),
        place: "in the conf.d folder of the PHP-FPM that serves the site, such as /etc/php/8.2/fpm/conf.d/99-weigh.ini".into(),
        check: "php-fpm -t".into(),
        undo: "remove the file, then reload PHP-FPM".into(),
        comment: ";",
        body,
        ..Emitted::default()
    }))
}

/// Whether PHP compresses pages by its settings alone, as it does today: they also encode what is not a page, such as an answer without a body. Else
/// the library does, and no setting: what one has encoded stops the other.
pub(super) fn is_by_settings(page: &Decision, site: &Site) -> bool {
    let is_today = site.today(Kind::Page).is_some_and(Today::is_php_setting);
    let is_by_setting = |rule: &Rule| parse_method(rule).is_ok_and(|(method, _)| is_php_setting(&method));
    let mut rules = page.rules.iter().filter(|rule| rule.by == Encoder::Php).peekable();
    is_today && rules.peek().is_some() && rules.all(is_by_setting)
}

/// The settings of one rule.
fn ini(rule: &Rule) -> Result<String> {
    let (method, level) = parse_method(rule)?;
    let (method, coding) = (clean(&method), clean(&rule.coding));
    let mut text = String::new();
    let setting = if method == OB_GZHANDLER { "zlib.output_compression" } else { &method };
    if rule.min_bytes > 0 {
        text.push_str(
            "; Cannot be expressed: a smallest size. PHP compresses before it knows the length of a page.\n",
        );
    }
    text.push_str(&format!("; Compresses pages for clients that accept {coding}, and sends Vary. The server leaves them as they are.\n"));
    match method.as_str() {
        OB_GZHANDLER => text.push_str("output_handler = ob_gzhandler\n"),
        _ => text.push_str(&format!("{setting} = On\n")),
    }
    if let Some(level) = level {
        text.push_str(&format!("; The level that was measured.\n{setting}_level = {level}\n"));
    }
    Ok(text)
}

//! For tests, here and of those that use this crate: servers as no machine need have them.

use super::{Definition, Found};

/// A server as a machine would have it that lacks nothing.
pub fn complete(definition: &Definition) -> Found {
    let mut found = definition.at(None);
    found.program = Some(format!("/usr/sbin/{}", definition.name).into());
    found.version = Some("99.0".into());
    found.missing = None;
    found.ways.iter_mut().for_each(|way| way.missing = None);
    let tls = definition.tls.iter().flat_map(|t| &t.modules);
    let modules = definition.needs.iter().chain(tls).chain(definition.ways.iter().flat_map(|w| &w.modules));
    let options = definition.options.iter().flat_map(|o| o.words.iter().map(|w| format!("{}_{w}", o.name)));
    let modules: Vec<String> = modules.cloned().chain(options).collect();
    found.modules =
        modules.into_iter().map(|m| (m.clone(), Some(format!("/modules/{m}.so").into()))).collect();
    found
}

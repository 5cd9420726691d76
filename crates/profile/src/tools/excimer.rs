//! excimer: a script of ours before the user's starts it, and writes collapsed stacks before PHP ends.

use std::path::Path;

use super::{setting, settings};
use weigh_os::process::Invocation;

pub(super) const LOAD: &str = "extension=excimer.so";
pub(super) const FILE: &str = "stacks.txt";

pub(super) fn invocation(place: &Path, prepend: &Path, own_prepend: &str, by_us: bool) -> Invocation {
    let load = by_us.then(|| LOAD.into());
    // Xdebug, where it is loaded, would be sampled, too.
    let rest = ["xdebug.mode=off".into(), setting("auto_prepend_file", prepend)];
    let environment = vec![
        ("WEIGH_PROFILE".into(), place.join(FILE).into_os_string()),
        ("WEIGH_PROFILE_PREPEND".into(), own_prepend.into()),
    ];
    Invocation { arguments: settings(load.into_iter().chain(rest)), environment }
}

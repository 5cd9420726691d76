//! Xdebug's profiler: a cachegrind file with a block a call.

use std::ffi::OsString;
use std::path::Path;

use super::{setting, settings};
use weigh_os::process::Invocation;

pub(super) const LOAD: &str = "zend_extension=xdebug.so";

pub(super) fn invocation(place: &Path, version: &str, is_loaded_by_us: bool) -> Invocation {
    let is_old = version.starts_with("2.");
    let load = is_loaded_by_us.then(|| OsString::from(LOAD));
    let name = OsString::from("xdebug.profiler_output_name=cachegrind.out.%p");
    let rest: Vec<OsString> = if is_old {
        let on = ["xdebug.profiler_enable=1", "xdebug.profiler_append=0", "xdebug.profiler_aggregate=0"];
        let on = on.into_iter().map(OsString::from);
        on.chain([setting("xdebug.profiler_output_dir", place)]).collect()
    } else {
        let on = ["xdebug.mode=profile", "xdebug.start_with_request=yes", "xdebug.use_compression=0"];
        on.into_iter().map(OsString::from).chain([setting("xdebug.output_dir", place)]).collect()
    };
    let arguments = settings(load.into_iter().chain([name]).chain(rest));
    Invocation { arguments, ..Invocation::default() }
}

//! The PHP pool that deliveries stand on: whose scripts it carries out, and with which settings.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::files::Files;
use crate::rig::fpm::{Mode, PoolSpec};
use crate::rig::runtime::PhpRuntime;

/// What a script may take: the slowest encoders of the largest pages want hundreds of megabytes.
const MEMORY: &str = "1G";

/// A pool whose scripts are the PHP side's. FFI is for preloaded code alone, as in a server that is run with care; the user's own
/// ini is in force otherwise.
pub fn pool_spec(php: &PhpRuntime, workers: u32, files: &Files) -> Result<PoolSpec> {
    let program = php.fpm.clone().with_context(|| format!("PHP {} has no PHP-FPM", php.version))?;
    let text = |path: &Path| path.display().to_string();
    let env = [("WEIGH_PHP_HOME", text(files.php_home())), ("WEIGH_CONTENTS", text(&files.contents()))];
    let spec = PoolSpec {
        program,
        version: php.version.clone(),
        workers,
        mode: Mode::Static,
        ini: BTreeMap::new(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(),
        cpus: Vec::new(),
    };
    let spec = spec
        .memory_limit(MEMORY)
        .output_buffering(0)
        .ini("opcache.enable", "1")
        .ini("zlib.output_compression", "0")
        .ini("ffi.enable", "preload");
    Ok(if preloads(&php.version) {
        spec.preload(&files.php_home().join("delivery").join("preload.php"))
    } else {
        spec
    })
}

/// Preloading is there from PHP 7.4 on.
fn preloads(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|n| n.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (7, 4)
}

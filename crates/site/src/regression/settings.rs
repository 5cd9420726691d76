//! Whether the PHP library accepts the settings that are written for it: it loads them itself.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result};

use weigh_model::text::clean;
use weigh_rig::runtime;

/// The file of its settings, below the folder of the configuration.
pub const FILE: &str = "php/weighbridge.php";
/// What stands before the library's words.
const REFUSED: &str = "refused: ";

/// What the library says against the text of its settings; none: it accepts them. `library` is its folder.
///
/// # Errors
/// PHP cannot be asked.
pub fn refusal(text: &str, library: &Path, php: &[OsString]) -> Result<Option<String>> {
    let room = tempfile::tempdir().context("no temporary folder")?;
    let file = room.path().join("weighbridge.php");
    std::fs::write(&file, text).context("no temporary file")?;
    let quoted =
        |path: &Path| format!("'{}'", path.to_string_lossy().replace('\\', "\\\\").replace('\'', "\\'"));
    // What the library says against it goes to stdout.
    let code = format!(
        "try {{ require {}; Weighbridge\\Library\\Settings::fromFile({}); }} \
         catch (Throwable $error) {{ echo '{REFUSED}', $error->getMessage(); }}",
        quoted(&library.join("autoload.php")),
        quoted(&file)
    );
    let (said, _) = runtime::ask(php, &code)?;
    let words =
        said.split_once(REFUSED).map(|(_, words)| words.replace(&*file.to_string_lossy(), "weighbridge.php"));
    Ok(words.map(|words| clean(words.trim().lines().next().unwrap_or_default())))
}

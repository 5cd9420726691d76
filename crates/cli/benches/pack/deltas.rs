//! A new version of an asset as a delta against the one before, beside the precompressed whole: released files of npm packages.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::common::{Targets, WEIGH, kept, progress, unpack};

/// Package, the version before, the new one, and the file.
const ASSETS: [(&str, &str, &str, &str); 4] = [
    ("jquery", "3.7.0", "3.7.1", "dist/jquery.min.js"),
    ("bootstrap", "5.3.2", "5.3.3", "dist/css/bootstrap.min.css"),
    ("d3", "7.8.5", "7.9.0", "dist/d3.min.js"),
    ("react-dom", "18.2.0", "18.3.1", "umd/react-dom.production.min.js"),
];

/// A line for each asset.
pub fn measure(home: &Path, targets: &mut Targets) -> Result<()> {
    for (package, old, new, file) in ASSETS {
        let name = Path::new(file).file_name().context("no name")?;
        let place = |version: &str| -> Result<_> {
            let folder = home.join(format!("{package}-{version}"));
            fs::create_dir(&folder)?;
            fs::copy(released(package, version, file)?, folder.join(name))?;
            Ok(folder)
        };
        let (old, new) = (place(old)?, place(new)?);
        let mut pack = Command::new(WEIGH);
        pack.arg("pack").arg(&new).arg("--against").arg(&old).stdout(Stdio::null());
        ensure!(pack.status()?.success(), "{package}: weigh pack failed");
        let mut bytes = [u64::MAX; 4];
        for entry in fs::read_dir(&new)? {
            let entry = entry?;
            let ending = entry.path().extension().map(|ending| ending.to_string_lossy().into_owned());
            if let Some(at) =
                ["dcz", "dcb", "br", "zst"].iter().position(|known| Some(*known) == ending.as_deref())
            {
                bytes[at] = entry.metadata()?.len();
            }
        }
        let [dcz, dcb, br, zst] = bytes;
        let measured = format!("dcz {dcz}, dcb {dcb} bytes beside br {br}, zst {zst}");
        targets.line(
            &format!("pack-delta-{package}"),
            &measured,
            "each ≤ a tenth of br",
            dcz.max(dcb) <= br / 10,
        );
    }
    Ok(())
}

/// A file of a released package, fetched once.
fn released(package: &str, version: &str, file: &str) -> Result<std::path::PathBuf> {
    let place = kept("pack-deltas")?.join(format!("{package}-{version}-{}", file.replace('/', "_")));
    if !place.is_file() {
        let named = format!("{package}@{version}");
        progress(&format!("fetching {named}"));
        let work = tempfile::tempdir()?;
        unpack(&named, work.path()).with_context(|| named.clone())?;
        let draft = place.with_extension("draft");
        fs::copy(work.path().join("package").join(file), &draft).with_context(|| named.clone())?;
        fs::rename(draft, &place)?;
    }
    Ok(place)
}

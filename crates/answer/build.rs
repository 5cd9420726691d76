//! Takes the page's program and style from `dist`, a link to `web/dist` (made by `make web`); a published package has the files themselves. A build
//! without them is complete but for `--format html`, which says so.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the folder of the package"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the folder of the output"));
    println!("cargo::rerun-if-changed=dist");
    for name in ["page.js", "page.css"] {
        println!("cargo::rerun-if-changed=dist/{name}");
        let text = read(&own.join("dist").join(name)).unwrap_or_default();
        fs::write(out.join(name), text).expect("the folder of the output can be written");
    }
}

/// A text that may stand inside its element.
fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    assert!(!text.contains("</script") && !text.contains("</style"), "{}: ends its element", path.display());
    Some(text)
}

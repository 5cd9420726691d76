//! The install script of a release.

use std::fs;
use std::path::{Path, PathBuf};

use crate::lab::{Lab, Ran};

/// A release of one archive, whose program is a script.
fn release(lab: &Lab) -> PathBuf {
    let name = "weigh-9.9.9-x86_64-linux-musl";
    let program = lab.write(&format!("release/{name}/weigh"), "#!/bin/sh\necho weigh 9.9.9\n");
    let folder = lab.path("release");
    let script = format!(
        "chmod 755 {} && tar -czf {name}.tar.gz {name} && rm -r {name} && sha256sum *.tar.gz >SHA256SUMS",
        program.strip_prefix(&folder).unwrap().display()
    );
    let made = Ran::of(lab.command("sh").current_dir(&folder).args(["-c", &script]).output().unwrap());
    assert_eq!(made.code, 0, "{}", made.stderr);
    folder
}

fn install(lab: &Lab, from: &Path) -> Ran {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install.sh");
    let mut command = lab.command("sh");
    Ran::of(command.arg(script).arg(from).arg(lab.path("bin")).output().expect("a shell"))
}

#[test]
fn a_release_is_installed_after_its_checksum_was_compared() {
    let lab = Lab::new();
    let folder = release(&lab);
    let ran = install(&lab, &folder);
    assert!(ran.code == 0 && ran.stdout.contains("(weigh 9.9.9)"), "{} {}", ran.stdout, ran.stderr);
    // What was changed after the checksums were made is not installed, and what is there stays.
    let archive = folder.join("weigh-9.9.9-x86_64-linux-musl.tar.gz");
    let mut bytes = fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&archive, bytes).unwrap();
    fs::write(lab.path("bin/weigh"), "old").unwrap();
    let ran = install(&lab, &folder);
    assert!(ran.code == 1 && ran.stderr.contains("nothing was installed"), "{}", ran.stderr);
    assert_eq!(lab.read("bin/weigh"), "old");
}

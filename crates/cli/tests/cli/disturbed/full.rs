//! A disk that is full where servers put what they cannot send yet.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{DisturbedRun, RUN, block, odd, whole_study};
use crate::lab::{Lab, serves_php, wait_until};

/// A file system that has room for the contents, and little beside; unmounted when this is dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path) -> Option<Small> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=20m,mode=0711", "tmpfs"]).arg(at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Small(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        assert!(Command::new("umount").arg(&self.0).status().unwrap().success() || std::thread::panicking());
    }
}

#[test]
fn a_full_disk_is_named_with_what_makes_room() {
    needs!(serves_php());
    let lab = Lab::new();
    let Some(small) = Small::mount(&lab.tmp()) else {
        println!("skipped: no file system may be mounted here: run it as root");
        return;
    };
    // nginx has all of the page at once from PHP, and sends it at this rate: the rest goes to its temporary file.
    odd(&lab, "header('X-Accel-Limit-Rate: 2000000');");
    let large = block().replace("rows-64k", "rows-8m");
    let large = large.replace("\"none\", \"gzencode:1\", ", "");
    lab.write("disturbed.toml", format!("{}{large}", whole_study().replace(", \"odd\"", "")));
    let code = lab.run(&RUN).code;
    wait_until("nothing is left", || lab.processes().is_empty());
    let ran = DisturbedRun { code, records: lab.records("run"), lab };
    let (_, message) = ran.kind_and_message();
    let is_named =
        ["No space left on device", "has written only"].iter().any(|words| message.contains(words));
    assert!(is_named && message.contains("/fastcgi/"), "{message}");
    assert!(ran.fault()["remedy"].as_str().unwrap().contains("TMPDIR"));
    drop(small);
}

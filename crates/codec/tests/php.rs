//! PHP's own output: with memory level 9, our zlib writes the same bytes as `gzdeflate` if the versions of zlib agree.
//! Needs a PHP on the path; without one, or with another zlib, the test reports that it was skipped.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use weigh_codec::{Params, codecs};

fn php(script: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new("php")
        .args(["-n", "-r", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(input).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then_some(output.stdout)
}

#[test]
fn gzdeflate_gives_the_same_bytes() {
    let zlib = codecs::find("zlib").unwrap();
    let Some(theirs) = php("echo ZLIB_VERSION;", b"") else {
        eprintln!("skipped: no PHP with zlib on the path");
        return;
    };
    let theirs = String::from_utf8_lossy(&theirs).into_owned();
    let same_version = zlib.library() == format!("zlib {theirs}");
    for (name, data) in common::contents() {
        for level in 1..=9 {
            let mut params = Params::level(level);
            params.options.insert("container".into(), "raw".into());
            params.options.insert("memlevel".into(), "9".into());
            let mut ours = Vec::new();
            zlib.coder(&params).unwrap().encode(&data, &mut ours).unwrap();
            let script = format!("echo gzdeflate(stream_get_contents(STDIN), {level});");
            let bytes = php(&script, &data).expect("PHP has zlib, as it gave its version");
            if bytes != ours && !same_version {
                eprintln!("skipped: PHP has zlib {theirs}, here it is {}; {name} differs", zlib.library());
                return;
            }
            assert!(bytes == ours, "{name} at level {level}");
        }
    }
}

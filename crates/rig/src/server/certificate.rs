//! The certificate of private servers: self-signed, made for one run, its own authority.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::Certificate;
use crate::link;

/// The names that it is for, beside the far end of links.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Makes one, with an ECDSA key, into a private folder.
pub fn make(folder: &Path) -> Result<Certificate> {
    let mut names = NAMES.map(str::to_owned).to_vec();
    names.push(link::FAR.to_string());
    let made = rcgen::generate_simple_self_signed(names).context("no certificate can be made")?;
    let certificate = Certificate { chain: folder.join("cert.pem"), key: folder.join("key.pem") };
    write(&certificate.chain, &made.cert.pem())?;
    write(&certificate.key, &made.signing_key.serialize_pem())?;
    Ok(certificate)
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("{}: cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn chain_and_key_are_the_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let made = make(folder.path()).unwrap();
        for (path, begin) in [(&made.chain, "-----BEGIN CERTIFICATE"), (&made.key, "-----BEGIN PRIVATE KEY")]
        {
            assert!(std::fs::read_to_string(path).unwrap().starts_with(begin));
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(make(folder.path()).is_err(), "one of another run is not written over");
    }
}

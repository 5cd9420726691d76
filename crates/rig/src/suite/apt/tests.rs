use super::*;

#[test]
fn what_is_to_be_downloaded_is_read_with_its_length() {
    let line = "'http://a.example/pool/x_1%3a2_amd64.deb' x_1%3a2_amd64.deb 1234 SHA256:abc";
    assert_eq!(download(line), Some(Download { file: "x_1%3a2_amd64.deb".into(), bytes: 1234 }));
    assert_eq!(download("Reading package lists..."), None);
}

#[test]
fn whole_and_partial_files_count_as_arrived_up_to_their_length() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("partial")).unwrap();
    fs::write(folder.path().join("a.deb"), [0; 100]).unwrap();
    fs::write(folder.path().join("partial/b.deb"), [0; 30]).unwrap();
    let want = |file: &str, bytes| Download { file: file.into(), bytes };
    assert_eq!(arrived(folder.path(), &[want("a.deb", 90), want("b.deb", 80), want("c.deb", 5)]), 120);
}

#[test]
fn failures_say_what_would_mend_them() {
    let said = |text| failure("apt-get", text).to_string();
    let unsigned = said("W: GPG error: NO_PUBKEY 123\nE: The repository 'x' is not signed.\n");
    assert!(unsigned.starts_with("apt-get: E: The repository 'x' is not signed.; "), "{unsigned}");
    assert!(unsigned.ends_with("apt install debian-archive-keyring"), "{unsigned}");
    assert!(
        said("E: The repository 'x nosuch Release' does not have a Release file.").ends_with("that suite")
    );
    assert_eq!(said(""), "apt-get: it said nothing");
}

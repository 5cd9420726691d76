use super::*;

#[test]
fn parts_cover_everything_or_nothing() {
    assert_eq!(split(b"abcd", &[1, 0, 3]).unwrap(), [&b"a"[..], b"", b"bcd"]);
    assert!(split(b"abcd", &[1, 4]).is_err());
    assert!(split(b"abcd", &[1, 2]).is_err());
    assert!(split(b"abcd", &[u64::MAX]).is_err());
    assert!(split(b"", &[]).unwrap().is_empty());
}

#[test]
fn a_payload_is_read_once_and_only_the_last_few_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut blobs = Blobs::default();
    let mut paths = Vec::new();
    for i in 0..=KEPT {
        let path = folder.path().join(i.to_string());
        fs::write(&path, [i as u8; 10]).unwrap();
        let (path, sha) = (path.to_str().unwrap().to_string(), digest_of(&[i as u8; 10]));
        blobs.get(&path, &sha, 10).unwrap();
        fs::remove_file(&path).unwrap();
        paths.push((path, sha));
    }
    assert_eq!(blobs.0.len(), KEPT);
    let (path, sha) = &paths[0];
    assert_eq!(blobs.get(path, sha, 10).unwrap_err().kind, FaultKind::Payload);
    let (path, sha) = &paths[KEPT];
    assert_eq!(*blobs.get(path, sha, 10).unwrap(), vec![KEPT as u8; 10]);
    assert_eq!(blobs.get(path, sha, 11).unwrap_err().kind, FaultKind::Payload);
}

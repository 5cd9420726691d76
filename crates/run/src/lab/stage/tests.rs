use super::*;

#[test]
fn contents_are_staged_once_and_cut_on_request() {
    let (cache, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let library = Library::open(cache.path()).unwrap();
    let mut stager = Stager::new(&library, into.path());
    let first = stager.corpus("value:rows-4k", None).unwrap();
    assert_eq!(first, stager.corpus("value:rows-4k", None).unwrap());
    assert!(first[0].value.is_some());
    let cut = stager.corpus("value:rows-4k", Some(1000)).unwrap();
    assert_eq!(cut[0].name, format!("{}@1000", first[0].name));
    assert_eq!((&cut[0].blob, &cut[0].sha256), (&first[0].blob, &first[0].sha256));
    assert_eq!(cut[0].items.iter().sum::<u64>(), cut[0].bytes);
    assert!(cut[0].items.len() > 1 && cut[0].value.is_none());
    let cuts = stager.cuts("value:rows-4k", Some(1000)).unwrap().remove(0);
    let bytes = std::fs::read(&cuts.blob).unwrap();
    assert_eq!((cuts.size(), cuts.instances(), &cuts.name), (1000, 24, &cut[0].name));
    assert_eq!((bytes.len(), cuts.sha256.clone()), (24_000, digest::sha256(&bytes)));
    let whole = std::fs::read(&first[0].blob).unwrap();
    assert_eq!(
        (&bytes[..1000], &bytes[23_000..]),
        (&whole[..1000], &whole[whole.len() - 1000..]),
        "from end to end"
    );
    let distinct: std::collections::HashSet<&[u8]> = bytes.chunks(1000).collect();
    assert_eq!(distinct.len(), 24);
    let nearly = stager.cuts("value:rows-4k", Some(first[0].bytes - 2)).unwrap().remove(0);
    assert_eq!(nearly.instances(), 3, "there are no more");
    assert_eq!(stager.cuts("value:rows-4k", Some(1 << 40)).unwrap(), first, "shorter ones are whole");
    // Where values are measured, they come with others of their shape, and the first of these is the value itself.
    let family = stager.families("value:rows-4k", None).unwrap().remove(0);
    assert!(family.items.len() > 90 && family.instances() == family.items.len());
    let all = std::fs::read(&family.blob).unwrap();
    assert!(all.starts_with(&std::fs::read(&first[0].blob).unwrap()));
    assert_eq!(
        stager.families("value:rows-4k", Some(1000)).unwrap()[0].items,
        cut[0].items,
        "cut, it is one value"
    );
    assert!(
        stager.notes().iter().any(|n| n.contains("synthetic content is used instead")),
        "{:?}",
        stager.notes()
    );
}

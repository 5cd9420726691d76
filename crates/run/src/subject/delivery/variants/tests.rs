use super::*;

fn list_variants(setting: &Setting, accept: &str) -> Vec<String> {
    wanted(setting, accept).iter().map(Variant::word).collect()
}

#[test]
fn what_is_asked_for_is_made_and_what_nobody_writes_is_not() {
    let bare = Setting::bare("type-map");
    assert_eq!(list_variants(&bare, "gzip;q=0.5, br , compress, zstd; q = 0"), ["br-brotli", "gzip-zlib"]);
    let mut one = Setting::bare("type-map");
    one.options = [(CODING, "deflate"), (ENCODER, "zopfli")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into_iter()
        .collect();
    assert_eq!(list_variants(&one, "gzip, deflate"), ["deflate-zopfli"]);
}

#[test]
fn every_variant_decodes_to_the_file() {
    let source = b"a file that is sent again and again, a file that is sent again and again".repeat(20);
    for (coding, encoder) in [
        ("gzip", None),
        ("gzip", Some("libdeflate")),
        ("gzip", Some("zopfli")),
        ("deflate", None),
        ("br", None),
        ("zstd", None),
    ] {
        let variant = variant(coding, encoder).unwrap();
        let encoded = variant.encode(&source).unwrap();
        let codec = codecs::find(variant.codec).unwrap();
        let options = variant.container.map(|c| ("container".to_owned(), c.to_owned()));
        let options = options.filter(|_| codec.info().options.iter().any(|o| o.name == "container"));
        let params = Params { options: options.into_iter().collect(), ..Params::default() };
        let mut decoded = Vec::new();
        codec.coder(&params).unwrap().decode(&encoded, source.len(), &mut decoded).unwrap();
        assert_eq!(decoded, source, "{coding} by {encoder:?}");
        assert!(encoded.len() < source.len() / 4);
    }
}

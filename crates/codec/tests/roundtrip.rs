//! Decoding returns the source, for every codec and setting, and an independent decoder agrees.

mod common;

use std::collections::BTreeMap;

use common::{contents, settings, values};
use proptest::prelude::*;
use weigh_codec::{Codec, Format, Params, codecs, independent};

/// Round trip of one content, twice with the same coder, and the result of the independent decoder.
fn check(codec: &dyn Codec, params: &Params, name: &str, data: &[u8]) {
    let at = || format!("{} {:?} on {name}", codec.info().name, (params.level, &params.options));
    let mut coder = codec.coder(params).unwrap_or_else(|e| panic!("{}: {e}", at()));
    let (mut first, mut again, mut back) = (vec![1, 2, 3], Vec::new(), vec![9; 7]);
    coder.encode(data, &mut first).unwrap_or_else(|e| panic!("{}: {e}", at()));
    coder.decode(&first, data.len(), &mut back).unwrap_or_else(|e| panic!("{}: {e}", at()));
    assert!(back == data, "{}: other content came back", at());
    coder.encode(data, &mut again).unwrap_or_else(|e| panic!("{}: {e}", at()));
    assert!(first == again, "{}: the second call gave other bytes", at());
    coder.decode(&again, data.len(), &mut back).unwrap_or_else(|e| panic!("{}: {e}", at()));
    assert!(back == data, "{}: other content came back from the second call", at());
    let dictionary = params.dictionary.as_deref();
    let (other, decoder) = independent::decode(codec.format(params), &first, data.len(), dictionary)
        .unwrap_or_else(|e| panic!("{}: {e}", at()));
    assert!(other == data, "{}: {decoder} disagrees", at());
}

#[test]
fn every_setting_on_every_content() {
    for codec in codecs::all() {
        for params in settings(&*codec) {
            for (name, data) in contents() {
                // Zopfli and the extremes of brotli take seconds on the longer contents.
                let slow = codec.info().name == "zopfli" && data.len() > 1000;
                check(&*codec, &params, name, if slow { &data[..1000] } else { &data });
            }
        }
    }
}

#[test]
fn containers_write_the_format_they_name() {
    let wanted = [("raw", Format::Deflate), ("zlib", Format::Zlib), ("gzip", Format::Gzip)];
    for codec in codecs::all() {
        if !codec.info().options.iter().any(|o| o.name == "container") {
            continue;
        }
        for (word, format) in wanted {
            for mode in ["oneshot", "stream"] {
                let mut params = Params::default();
                params.options.insert("container".into(), word.into());
                if codec.info().options.iter().any(|o| o.name == "mode") {
                    params.options.insert("mode".into(), mode.into());
                }
                assert_eq!(codec.format(&params), format);
                check(
                    &*codec,
                    &params,
                    word,
                    &b"weigh ".repeat(20_000)[..if codec.info().name == "zopfli" { 900 } else { 120_000 }],
                );
            }
        }
    }
}

#[test]
fn one_coder_serves_contents_of_any_size_in_turn() {
    for codec in codecs::all() {
        let mut coder = codec.coder(&Params::default()).unwrap();
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        let mut all = contents();
        all.reverse();
        for (name, data) in all {
            let data = if codec.info().name == "zopfli" { &data[..data.len().min(900)] } else { &data[..] };
            coder.encode(data, &mut packed).unwrap();
            coder.decode(&packed, data.len(), &mut back).unwrap();
            assert!(back == data, "{} on {name}", codec.info().name);
        }
    }
}

#[test]
fn output_keeps_its_capacity() {
    let data = b"capacity ".repeat(5_000);
    for codec in codecs::all().into_iter().filter(|c| c.info().name != "zopfli") {
        let mut coder = codec.coder(&Params::default()).unwrap();
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        coder.encode(&data, &mut packed).unwrap();
        coder.decode(&packed, data.len(), &mut back).unwrap();
        let (first, second) = ((packed.as_ptr(), packed.capacity()), (back.as_ptr(), back.capacity()));
        coder.encode(&data, &mut packed).unwrap();
        coder.decode(&packed, data.len(), &mut back).unwrap();
        assert_eq!((packed.as_ptr(), packed.capacity()), first, "{}", codec.info().name);
        assert_eq!((back.as_ptr(), back.capacity()), second, "{}", codec.info().name);
    }
}

#[test]
fn a_trained_dictionary_helps_small_values_and_is_needed_to_read_them() {
    let zstd = codecs::find("zstd").unwrap();
    let items = values(400);
    let samples: Vec<&[u8]> = items[..300].iter().map(Vec::as_slice).collect();
    let dictionary = zstd.train(&samples, 4096).unwrap();
    assert!(!dictionary.is_empty() && dictionary.len() <= 4096);
    for mode in ["oneshot", "stream"] {
        let mut options = BTreeMap::from([("mode".to_string(), mode.to_string())]);
        let plain = Params { options: options.clone(), ..Params::default() };
        options.insert("dict".into(), "trained".into());
        let trained = Params { options, dictionary: Some(dictionary.clone()), level: None };
        let size = |params: &Params| {
            let (mut coder, mut out) = (zstd.coder(params).unwrap(), Vec::new());
            let one = |item: &Vec<u8>| coder.encode(item, &mut out).map(|()| out.len()).unwrap();
            items[300..].iter().map(one).sum::<usize>()
        };
        assert!(size(&trained) * 2 < size(&plain), "{} against {}", size(&trained), size(&plain));
        for item in &items[300..320] {
            check(&*zstd, &trained, "a value", item);
        }
        let mut packed = Vec::new();
        zstd.coder(&trained).unwrap().encode(&items[300], &mut packed).unwrap();
        assert!(zstd.coder(&plain).unwrap().decode(&packed, 1000, &mut Vec::new()).is_err());
        assert!(independent::decode(Format::Zstd, &packed, 1000, None).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_survive(
        seed in prop::collection::vec(any::<u8>(), 0..600),
        repeats in 1usize..200,
        pick in any::<prop::sample::Index>(),
    ) {
        let data = seed.repeat(repeats);
        for codec in codecs::all() {
            let all = settings(&*codec);
            let params = &all[pick.index(all.len())];
            let data = if codec.info().name == "zopfli" { &data[..data.len().min(500)] } else { &data[..] };
            check(&*codec, params, "random bytes", data);
        }
    }
}

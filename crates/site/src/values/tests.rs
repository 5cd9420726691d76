//! Values as PHP's extensions write them, and bytes that are none.

use std::process::Command;

use proptest::prelude::*;
use rand::SeedableRng;

use super::coding::Codec;
use super::*;

/// What a program of PHP writes, an item per line in hexadecimal; none, with a word, where it or an extension is not here.
fn php(extensions: &[&str], code: &str) -> Option<Vec<Vec<u8>>> {
    let has = format!("foreach ({extensions:?} as $one) if (!extension_loaded($one)) exit(9);");
    let put = "function put(...$all) { foreach ($all as $one) echo bin2hex($one), \"\\n\"; }";
    let ran = Command::new("php")
        .args(["-d", "serialize_precision=17", "-r", &format!("{has}{put}{code}")])
        .output();
    let Some(ran) = ran.ok().filter(|ran| ran.status.code() != Some(9)) else {
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "there is no php with {extensions:?} here");
        eprintln!("left out: there is no php with {extensions:?}");
        return None;
    };
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{text} {}", String::from_utf8_lossy(&ran.stderr));
    Some(text.lines().map(unhex).collect())
}

fn unhex(line: &str) -> Vec<u8> {
    (0..line.len() / 2).map(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16).expect(line)).collect()
}

/// Rows of a table as an application caches them, and the same by `serialize()`.
const ROWS: &str = "$rows = []; for ($n = 0; $n < 60; $n++) $rows[] = ['id' => $n, 'title' => \"Article $n\", 'state' => 'published'];";

fn rows() -> Vec<u8> {
    let row = |n: usize| {
        let title = format!("Article {n}");
        let title = format!("s:2:\"id\";i:{n};s:5:\"title\";s:{}:\"{title}\";", title.len());
        format!("i:{n};a:3:{{{title}s:5:\"state\";s:9:\"published\";}}")
    };
    format!("a:60:{{{}}}", (0..60).map(row).collect::<String>()).into_bytes()
}

fn detect_form(bytes: &[u8]) -> (Form, Option<Codec>) {
    let value = Value::read(bytes, None);
    (value.inside.form, value.coding.map(|coding| coding.codec))
}

/// A value of this form and codec, with the rows in it; without its last byte it is neither.
fn holds_rows(bytes: &[u8], form: Form, codec: Option<Codec>) {
    let value = Value::read(bytes, None);
    assert_eq!((value.inside.form, value.coding.map(|coding| coding.codec)), (form, codec), "{bytes:x?}");
    assert_eq!(
        value.inside.content.map(|content| String::from_utf8(content).unwrap()),
        String::from_utf8(rows()).ok()
    );
    assert_eq!(value.stored, bytes.len() as u64);
    let (form, codec) = detect_form(&bytes[..bytes.len() - 1]);
    assert!(codec.is_none() && form > Form::VarExport, "cut off: {form:?}, {codec:?}");
}

#[test]
fn forms_are_told_by_reading_them_whole() {
    let text = "A text that an application keeps as it is.";
    for (bytes, form) in [
        (&b"a:1:{i:0;s:1:\"x\";}"[..], Form::Serialize),
        (b"O:8:\"App\\Post\":0:{}", Form::Serialize),
        (b"a:1:{s:10:\"\x9d\0\0\0\0\0\0\0\0_\";N;}", Form::Serialize),
        (b"\0\0\0\x02\x14\x01\x06\0\x11\x01x", Form::Igbinary),
        (b"\0\0\0\x02\x14\x01\x06\0\x11\x01xy", Form::Short),
        (b"{\"a\": [1, 2]}", Form::Json),
        (b"{\"a\": [1, 2]", Form::Short),
        (b"\x82\xa1a\x01\xa1b\x92\x02\xc0", Form::Msgpack),
        (b"\x82\xa1a\x01", Form::Short),
        (b"_token|s:2:\"ab\";cart|a:1:{i:0;i:5;}", Form::Session),
        (b"\x06_tokens:2:\"ab\";\x04carta:0:{}", Form::Session),
        (b"_token|s:2:\"ab\";cart|a:1:{i:0;i:5;", Form::Text),
        (b"<?php return array();", Form::VarExport),
        (b"\n<!DOCTYPE html><title>A</title>\xe9</html>\n", Form::Html),
        (b"-12.5", Form::Number),
        (text.as_bytes(), Form::Text),
        (b"eyJpdiI6IkFBPT0iLCJ2YWx1ZSI6IkJCPT0iLCJtYWMiOiJjYyIsInRhZyI6IiJ9", Form::Encrypted),
        (b"YToxOntpOjA7czoxOiJ4Ijt9YWFh", Form::Short),
        (b"", Form::Short),
    ] {
        let value = Value::read(bytes, None);
        assert_eq!(value.inside.form, form, "{}", String::from_utf8_lossy(bytes));
        assert!(value.coding.is_none(), "{value:?}");
    }
}

#[test]
fn a_value_that_cannot_be_measured_has_no_content() {
    let content =
        |bytes: &[u8]| Value::read(bytes, None).inside.content.map(|all| String::from_utf8(all).unwrap());
    assert_eq!(content(b"a|i:1;b|s:1:\"x\";").as_deref(), Some("a:2:{s:1:\"a\";i:1;s:1:\"b\";s:1:\"x\";}"));
    assert_eq!(content(b"{\"a\": 1}").as_deref(), Some("s:8:\"{\"a\": 1}\";"));
    assert_eq!(
        content(b"\x81\xa1a\x93\xc0\xc3\xcb\x3f\xf8\0\0\0\0\0\0").as_deref(),
        Some("a:1:{s:1:\"a\";a:3:{i:0;N;i:1;b:1;i:2;d:1.5;}}")
    );
    for none in [&b"a|O:3:\"Foo\":0:{}"[..], b"O:3:\"Foo\":0:{}", b"12", b"\x81\xc0\xa3Foo", b"abc"] {
        assert_eq!(content(none), None, "{none:?}");
    }
}

#[test]
fn deflate_of_php_is_told_at_every_level() {
    let code = "for ($n = 1; $n <= 9; $n++) put(gzcompress($s, $n), gzencode($s, $n), gzdeflate($s, $n));";
    let Some(all) = php(&["zlib"], &format!("{ROWS} $s = serialize($rows); {code}")) else { return };
    assert_eq!(all.len(), 27);
    for (at, bytes) in all.iter().enumerate() {
        let (codec, name) =
            [(Codec::Zlib, "gzcompress"), (Codec::Gzip, "gzencode"), (Codec::Deflate, "gzdeflate")][at % 3];
        holds_rows(bytes, Form::Serialize, Some(codec));
        // Some levels make the same bytes: then 6 is meant, or the lowest.
        let told = setting(bytes, None).unwrap();
        let (own, level) = told.split_once(':').unwrap();
        let is_same =
            |level: &str| all[(level.parse::<usize>().unwrap() - 1) * 3 + at % 3].len() == bytes.len();
        assert!(own == name && is_same(level), "{told} for {name}:{}", at / 3 + 1);
    }
    let plain =
        php(&["zlib"], &format!("{ROWS} $s = serialize($rows); put(gzcompress($s, 0), gzdeflate($s, 0));"));
    for (bytes, codec) in plain.unwrap().iter().zip([Codec::Zlib, Codec::Deflate]) {
        holds_rows(bytes, Form::Serialize, Some(codec));
    }
}

#[test]
fn values_that_the_library_sealed_are_opened() {
    let sealed = |mark: u8, data: Vec<u8>| {
        let sum = crc32fast::hash(&data) ^ (u32::from(mark) * 0x0101_0101);
        [&[mark][..], &sum.to_be_bytes(), &data].concat()
    };
    let zlib = encoded("zlib", &[("container", "zlib")], &rows());
    holds_rows(&sealed(0x06, rows()), Form::Serialize, None);
    holds_rows(&sealed(0x0e, zlib.clone()), Form::Serialize, Some(Codec::Zlib));
    holds_rows(&sealed(0x0f, encoded("brotli", &[], &rows())), Form::Serialize, Some(Codec::Brotli));
    holds_rows(&sealed(0x16, encoded("zstd", &[], &rows())), Form::Serialize, Some(Codec::Zstd));
    assert_eq!(setting(&sealed(0x0e, zlib), None).as_deref(), Some("gzcompress:6"));
}

#[test]
fn what_igbinary_and_msgpack_write_is_the_same_value_as_serialize_writes() {
    let code = "$big = [1 => 2, -1 => 'a', 'k' => ['a', 'a', '', null, true, false, 0, 255, 256, -256, 65536, -65537, PHP_INT_MAX, PHP_INT_MIN],\
        'd' => [1.5, -0.1, 1e300, INF, 1/3], 's' => str_repeat('é', 400), 'long' => str_repeat('x', 70000), 'o' => (object) ['p' => [1]]];\
        $wide = range(1, 70000); $list = ['a', ['b' => []], 3]; $only = 'alone';\
        $t = ['en', 'de']; $row = [$t, [], 'x' => [[]]]; $again = [$row, (object) ['t' => $t, 'r' => $row], [$row, $t, []], [[$t]], $row];\
        foreach ([$big, $wide, $list, $again, $only] as $v) put(serialize($v), igbinary_serialize($v));\
        unset($big['o']); foreach ([$big, $wide, $list] as $v) put(serialize($v), msgpack_pack($v));";
    let Some(all) = php(&["igbinary", "msgpack"], code) else { return };
    let check = "foreach (explode(' ', trim(stream_get_contents(STDIN))) as $one) { [$a, $b] = explode('=', $one);\
        echo serialize(unserialize(hex2bin($a))) === serialize(unserialize(hex2bin($b))) ? 'y' : 'n'; }";
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut pairs = Vec::new();
    for (at, pair) in all.chunks(2).enumerate() {
        let value = Value::read(&pair[1], None);
        let form = if at < 5 { Form::Igbinary } else { Form::Msgpack };
        assert_eq!((value.inside.form, value.coding), (form, None), "{at}");
        pairs.push(format!("{}={}", hex(&pair[0]), hex(&value.inside.content.unwrap())));
        let (form, codec) = detect_form(&pair[1][..pair[1].len() - 1]);
        assert!(codec.is_none() && form > Form::VarExport, "{at}: {form:?}");
    }
    use std::io::Write;
    let mut ran = Command::new("php")
        .args(["-r", check])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    ran.stdin.take().unwrap().write_all(pairs.join(" ").as_bytes()).unwrap();
    assert_eq!(String::from_utf8(ran.wait_with_output().unwrap().stdout).unwrap(), "yyyyyyyy");
    let objects = "class K { public $p = 1; protected $q = [2]; } enum E { case A; } $k = new K; $a = [1]; $b = [[1]]; $b[] = &$b[0];\
        foreach ([[$k, $k, new K], [E::A, E::A], new ArrayObject([1]), $b] as $v) put(igbinary_serialize($v), serialize($v));";
    for bytes in php(&["igbinary"], objects).unwrap() {
        let value = Value::read(&bytes, None);
        assert!(value.inside.form <= Form::Igbinary && value.inside.content.is_none(), "{value:?}");
    }
}

/// The rows as native codecs write them.
fn encoded(name: &str, options: &[(&str, &str)], content: &[u8]) -> Vec<u8> {
    let mut wish = weigh_codec::Params::default();
    wish.options.extend(options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let mut out = Vec::new();
    weigh_codec::codecs::find(name).unwrap().coder(&wish).unwrap().encode(content, &mut out).unwrap();
    out
}

#[test]
fn prefixes_lengths_tags_and_base64_around_a_value_are_taken_off() {
    let rows = rows();
    let length = (rows.len() as u32).to_le_bytes();
    let (zlib, zstd) = (encoded("zlib", &[("container", "zlib")], &rows), encoded("zstd", &[], &rows));
    let (block, snappy) = (encoded("lz4", &[], &rows), encoded("snappy", &[], &rows));
    let framed = [&length[..], &block].concat();
    for (bytes, codec) in [
        ([b"gz:", &zlib[..]].concat(), Codec::Zlib),
        ([b"gz:\x1f\x8b", &zlib[..]].concat(), Codec::Zlib),
        ([b":gz:", &zlib[..]].concat(), Codec::Zlib),
        ([b"zs:\x1f\x8b", &zstd[..]].concat(), Codec::Zstd),
        ([b"l4:\x1f\x8b", &framed[..]].concat(), Codec::Lz4),
        ([b"sn:", &snappy[..]].concat(), Codec::Snappy),
        (framed, Codec::Lz4),
        ([&length[..], &zlib].concat(), Codec::Zlib),
        ([&length[..], &zstd].concat(), Codec::Zstd),
        (encoded("bzip2", &[], &rows), Codec::Bzip2),
        // Tags of Symfony: a mark, eight bytes, a length of three, the tags.
        ([b"\x9d\x01\x02\x03\x04\0\x06\x07\x08_\0\0\x06a:0:{}", &zlib[..]].concat(), Codec::Zlib),
    ] {
        holds_rows(&bytes, Form::Serialize, Some(codec));
    }
    let mut wrong = [&length[..], &zlib].concat();
    wrong[0] ^= 1;
    assert_eq!(detect_form(&wrong).1, None, "the stated length is another");
    let tagged = [b"\x9d\x01\x02\x03\x04\0\x06\x07\x08_\0\0\x06a:0:{}", &rows[..]].concat();
    assert_eq!(detect_form(&tagged), (Form::Serialize, None));
    let base64 = |bytes: &[u8]| STANDARD.encode(bytes).into_bytes();
    assert_eq!(detect_form(&base64(&rows)), (Form::Serialize, Some(Codec::Base64)));
    assert_eq!(detect_form(&base64(&zlib)), (Form::Serialize, Some(Codec::Zlib)));
}

#[test]
fn flags_of_memcached_say_what_no_byte_does() {
    let unknown: Vec<u8> = (0..3000u32).map(|n| (n % 7) as u8 | 0x80).collect();
    let zlib = encoded("zlib", &[("container", "zlib")], &unknown);
    let bytes = [&3000u32.to_le_bytes()[..], &zlib].concat();
    let value = Value::read(&bytes, Some(0x30));
    assert_eq!(value.inside.form, Form::Unknown);
    assert_eq!(value.coding.unwrap().about(None), "zlib by php-memcached");
    assert_eq!(
        Value::read(&unknown, Some(0x10)).inside.form,
        Form::Incompressible,
        "flagged, and of no known codec"
    );
    assert_eq!(detect_form(&unknown), (Form::Unknown, None));
}

fn random(length: usize, random: &mut rand_chacha::ChaCha8Rng) -> Vec<u8> {
    (0..length).map(|_| random.random()).collect()
}

#[test]
fn random_bytes_are_of_no_codec_and_no_form() {
    let mut source = rand_chacha::ChaCha8Rng::seed_from_u64(36);
    let mut wrong = Vec::new();
    for at in 0..10_000 {
        let length = [20, 33, 64, 100, 300, 1000, 3000][at % 7];
        let bytes = random(length, &mut source);
        let (form, codec) = detect_form(&bytes);
        if codec.is_some() || form < Form::Short {
            wrong.push((form, codec, bytes));
        }
        let is_long = length >= 100;
        assert!(!is_long || form == Form::Incompressible, "{form:?} of {length} bytes");
    }
    assert!(wrong.len() <= 2, "{wrong:x?}");
    let text = STANDARD.encode(random(600, &mut source));
    assert_eq!(detect_form(text.as_bytes()), (Form::Incompressible, None), "encrypted, as text");
    let digests: String = random(300, &mut source).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(detect_form(digests.as_bytes()), (Form::Text, None));
}

#[test]
fn what_decodes_to_more_than_the_bound_is_not_decoded() {
    let large = vec![b'a'; LONGEST + 1];
    for (name, options) in [("zlib", &[("container", "zlib")][..]), ("zstd", &[]), ("bzip2", &[])] {
        assert_eq!(detect_form(&encoded(name, options, &large)).1, None, "{name}");
    }
    let stated = [&[0xff; 4][..], &encoded("lz4", &[], &large)].concat();
    assert_eq!(detect_form(&stated).1, None);
    // A text of 60,000 bytes, which 100,000 numbers of two bytes refer to.
    let bomb = [
        b"\0\0\0\x02\x16\0\x01\x86\xa1\x06\0\x12\xea\x60".to_vec(),
        vec![b'x'; 60_000],
        b"\x06\x01\x0e\0".repeat(100_000),
    ]
    .concat();
    let value = Value::read(&bomb, None);
    assert_eq!((value.inside.form, value.inside.content), (Form::Igbinary, None));
    let deep = [b"\0\0\0\x02".to_vec(), b"\x14\x01\x06\0".repeat(100_000)].concat();
    assert_ne!(detect_form(&deep).0, Form::Igbinary);
}

proptest! {
    #[test]
    fn no_bytes_are_too_broken(bytes in prop::collection::vec(any::<u8>(), 0..300), flags in any::<Option<u32>>()) {
        for first in [&[0x82][..], &[0xdc], &[0xdf], &[0xc6], b"\x1f\x8b\x08", b"\x78\x01", b"\0\0\0\x02", b"gz:", b"\x9d\0\0\0\0\0\0\0\0_"] {
            let all = [first, &bytes[..]].concat();
            let value = Value::read(&all, flags);
            prop_assert_eq!(value.stored as usize, all.len());
            setting(&all, flags);
        }
    }

    #[test]
    fn lzf_and_fastlz_decode_to_no_more_than_the_bound(bytes in prop::collection::vec(any::<u8>(), 0..300), most in 0usize..500) {
        prop_assert!(lz::lzf(&bytes, most).is_none_or(|out| out.len() <= most));
        prop_assert!(lz::fastlz(&bytes, most).is_none_or(|out| out.len() == most));
    }
}

//! What stores answer, real and hostile.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::*;
use crate::tests::Quiet;
use crate::values::coding::Codec;
use crate::values::form::Form;
use crate::values::{Value, setting};
use weigh_model::protocol::client::Address;

/// A store that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn look_at(url: &str) -> Result<Stored> {
    inspect_store(&Home::open(None).unwrap(), url, &[], &mut Quiet::default())
}

/// Waits until something listens at a socket.
fn wait_for(socket: &std::path::Path) {
    for _ in 0..500 {
        if std::os::unix::net::UnixStream::connect(socket).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} is not there", socket.display());
}

/// A store at a socket, which is the last of its arguments.
fn at_socket(program: &str, args: &[&str]) -> Option<(Running, std::path::PathBuf, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    // Its user has to be able to make the socket as soon as it is started.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let mut command = Command::new(program);
    command.args(args).arg(&socket).current_dir(folder.path()).stdout(Stdio::null());
    let Ok(started) = command.spawn() else {
        eprintln!("left out: {program} is not installed");
        return None;
    };
    let running = Running(started);
    wait_for(&socket);
    Some((running, socket, folder))
}

fn redis() -> Option<(Running, std::path::PathBuf, tempfile::TempDir)> {
    at_socket("redis-server", &["--port", "0", "--save", "", "--unixsocket"])
}

fn memcached() -> Option<(Running, std::path::PathBuf, tempfile::TempDir)> {
    at_socket("memcached", &["-u", "nobody", "-a", "777", "-s"])
}

#[test]
fn values_of_redis_are_counted_and_sampled_and_nothing_is_written() {
    let Some((_running, socket, _folder)) = redis() else { return };
    let mut redis = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let mut said = BufReader::new(redis.try_clone().unwrap());
    let mut ask = |text: &str| {
        redis.write_all(text.as_bytes()).unwrap();
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        line
    };
    for at in 0..500 {
        assert_eq!(ask(&format!("SET key{at} {}\r\n", "i:5;")), "+OK\r\n");
    }
    let long = format!("s:2000:\"{}\";", "x".repeat(2000)).replace('"', "\\\"");
    for at in 0..100 {
        assert_eq!(ask(&format!("SET long{at} \"{long}\"\r\n")), "+OK\r\n");
    }
    ask("LPUSH list 1\r\n");
    assert_eq!(ask("HSET hash d a:0:{} t tags m 1 i 0\r\n"), ":4\r\n");
    assert_eq!(ask("HSET other name a\r\n"), ":1\r\n");
    assert_eq!(ask("GET none\r\n"), "$-1\r\n");
    assert_eq!(ask("GET key1\r\n"), "$4\r\n");
    let mut stored = look_at(&format!("redis://{}", socket.display())).unwrap();
    assert_eq!((stored.keys, stored.seen), (603, 603));
    assert_eq!(stored.left_out().as_deref(), Some("1 of type hash and 1 of type list"));
    assert_eq!(stored.sizes[..2], [(501, 500 * 4 + 6), (100, 100 * 2010)]);
    assert_eq!(stored.values.len(), MOST_VALUES.0 * 2);
    let (mut all, mut forms) = (0.0, Vec::new());
    stored.each(|read, weight| {
        all += weight;
        forms.push(Value::read(&read.bytes, read.flags).inside.form);
    });
    assert!((all - 601.0).abs() < 1.0, "{all}");
    assert!(forms.iter().all(|form| *form == Form::Serialize), "{forms:?}");
    let calls = stored.calls.unwrap();
    assert_eq!((calls.reads, calls.writes), (1.0, 602.0), "what is not there is not read");
    let mut rest = String::new();
    said.read_line(&mut rest).unwrap();
    redis.write_all(b"DBSIZE\r\n").unwrap();
    rest.clear();
    said.read_line(&mut rest).unwrap();
    assert_eq!(rest, ":603\r\n");
}

#[test]
fn values_of_memcached_are_sampled() {
    let Some((_running, socket, _folder)) = memcached() else { return };
    let mut store = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let mut said = BufReader::new(store.try_clone().unwrap());
    for at in 0..30 {
        store.write_all(format!("set key{at} 0 0 4\r\ni:5;\r\n").as_bytes()).unwrap();
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "STORED\r\n");
    }
    let stored = look_at(&format!("memcached://{}", socket.display())).unwrap();
    assert_eq!(stored.keys, 30);
    assert!(stored.values.iter().all(|read| read.bytes == b"i:5;" && read.flags == Some(0)));
    assert_eq!(stored.calls.map(|calls| calls.writes), Some(30.0));
}

/// Rows of a table, or a page, in every way in which phpredis stores them.
const STORE: &str = "$r = new Redis(); $r->connect($argv[1]); for ($n = 0; $n < 60; $n++) $rows[] = ['id' => $n, 'title' => \"Article $n\"];\
    foreach (['NONE', 'LZ4', 'LZF', 'ZSTD'] as $c) foreach (['NONE', 'PHP', 'IGBINARY', 'JSON'] as $s) {\
        $r->setOption(Redis::OPT_COMPRESSION, constant(\"Redis::COMPRESSION_$c\"));\
        $r->setOption(Redis::OPT_SERIALIZER, constant(\"Redis::SERIALIZER_$s\"));\
        $r->set(\"$c:$s\", $s === 'NONE' ? str_repeat('<p>A page of a site</p>', 50) : $rows) || exit(1); }";

/// Fills a store by PHP; an extension that is not here is said.
fn fill(code: &str, socket: &std::path::Path) -> bool {
    let is_filled =
        Command::new("php").args(["-r", code]).arg(socket).status().is_ok_and(|ended| ended.success());
    if !is_filled {
        let missing = "there is no php with redis, memcached, igbinary and msgpack here";
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{missing}");
        eprintln!("left out: {missing}");
    }
    is_filled
}

#[test]
fn what_phpredis_wrote_is_told_with_every_codec_and_serializer() {
    let Some((_running, socket, _folder)) = redis() else { return };
    if !fill(STORE, &socket) {
        return;
    }
    let mut stored = look_at(&format!("redis://{}", socket.display())).unwrap();
    assert_eq!(stored.values.len(), 16);
    stored.each(|read, _| {
        let (codec, serializer) = read.key.split_once(':').unwrap();
        let form = match serializer {
            "PHP" => Form::Serialize,
            "IGBINARY" => Form::Igbinary,
            "JSON" => Form::Json,
            _ => Form::Html,
        };
        let (codec, name) = match codec {
            "LZ4" => (Some(Codec::Lz4), Some("lz4")),
            "LZF" => (Some(Codec::Lzf), None),
            "ZSTD" => (Some(Codec::Zstd), Some("zstd:3")),
            _ => (None, None),
        };
        let told = |bytes: &[u8]| {
            let value = Value::read(bytes, None);
            (value.inside.form, value.coding.map(|coding| coding.codec))
        };
        assert_eq!(told(&read.bytes), (form, codec), "{}", read.key);
        assert_eq!(setting(&read.bytes, None).as_deref(), name, "{}", read.key);
        let cut = told(&read.bytes[..read.bytes.len() - 1]);
        assert!(cut.1.is_none() && (cut.0 > Form::Html || codec.is_none()), "{}: {cut:?}", read.key);
    });
}

/// Values from below php-memcached's threshold of 2,000 bytes to above 64 KB, where FastLZ has a second level.
const FILL: &str = "$m = new Memcached(); $m->addServer($argv[1], 0); $text = '';\
    for ($n = 0; strlen($text) < 200000; $n++) $text .= md5((string) ($n % 3000)) . ' words of a page ';\
    foreach (['FASTLZ', 'ZLIB'] as $c) foreach (['PHP', 'IGBINARY', 'JSON', 'MSGPACK'] as $s) foreach ([800, 3000, 199000] as $size) {\
        $m->setOption(Memcached::OPT_COMPRESSION_TYPE, constant(\"Memcached::COMPRESSION_$c\"));\
        $m->setOption(Memcached::OPT_SERIALIZER, constant(\"Memcached::SERIALIZER_$s\"));\
        $m->set(\"$c:$s:$size\", ['list' => [1, 2, 3], 'text' => substr($text, 0, $size)]) || exit(1); }";

#[test]
fn what_php_memcached_wrote_is_decoded_by_the_flags_of_its_items() {
    let Some((_running, socket, _folder)) = memcached() else { return };
    if !fill(FILL, &socket) {
        return;
    }
    let mut stored = look_at(&format!("memcached://{}", socket.display())).unwrap();
    assert_eq!(stored.values.len(), 24);
    stored.each(|read, weight| {
        let parts: Vec<&str> = read.key.split(':').collect();
        let form = match parts[1] {
            "PHP" => Form::Serialize,
            "IGBINARY" => Form::Igbinary,
            "JSON" => Form::Json,
            _ => Form::Msgpack,
        };
        let codec = if parts[0] == "ZLIB" { Codec::Zlib } else { Codec::FastLz };
        for flags in [read.flags, None] {
            let value = Value::read(&read.bytes, flags);
            let told = value.coding.map(|coding| coding.codec);
            assert_eq!(
                (value.inside.form, told),
                (form, (parts[2] != "800").then_some(codec)),
                "{}",
                read.key
            );
            assert!(value.inside.bytes >= parts[2].parse().unwrap());
        }
        assert_eq!(weight, 1.0);
    });
}

/// A store that answers with an error to the question about a key.
#[test]
fn a_store_that_refuses_is_one_line_that_says_what_to_do() {
    for (reply, said) in [
        (&b"-MOVED 1 10.0.0.1:7000\r\n"[..], "give a node that serves its keys"),
        (
            b"-NOPERM this user has no permissions to run the 'strlen' command\r\n",
            "give a user that may read",
        ),
        (b"-LOADING Redis is loading the dataset in memory\r\n", "LOADING"),
    ] {
        let info = b"$0\r\n\r\n".repeat(3);
        let scanned = b":1\r\n*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n";
        let answer = Box::leak([&info[..], scanned, reply].concat().into_boxed_slice());
        let error = format!("{:#}", look_at(&answering(answer)).unwrap_err());
        assert!(error.starts_with("--store redis://") && error.contains(said), "{said}: {error}");
    }
}

#[test]
fn values_that_were_not_read_keep_their_number_and_size() {
    let mut stored = Stored { keys: 20, ..Stored::default() };
    (0..10).for_each(|_| stored.count(9 << 20));
    assert_eq!(stored.unread(), [(20.0, f64::from(9 << 20))]);
    stored.each(|_, _| panic!("none was read"));
}

/// Answers every connection with this, for ever.
fn answering(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                stream.write_all(answer).ok();
                std::thread::sleep(Duration::from_millis(200));
            });
        }
    });
    url
}

#[test]
fn what_is_no_store_or_a_hostile_one_is_one_line() {
    for (answer, said) in [
        (&b"HTTP/1.1 400 Bad Request\r\n"[..], "is it Redis?"),
        (b"$99999999999\r\n", "at most"),
        (b"*99999999\r\n", "more than was asked for"),
        (b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "more than was asked for"),
        (b"-NOAUTH \x1b[31mAuthentication required.\r\n", "NOAUTH"),
        (b"$5\r\nab", "breaks off"),
    ] {
        let error = format!("{:#}", look_at(&answering(answer)).unwrap_err());
        assert!(error.contains(said), "{said}: {error}");
        assert!(
            error.starts_with("--store redis://127.0.0.1") && !error.contains(char::is_control),
            "{error:?}"
        );
    }
}

/// Serves one connection: answers as a store of one key does until it is asked for its keys, then goes on with the stream.
fn hostile(mut go_on: impl FnMut(TcpStream) + Send + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let info = b"$0\r\n\r\n".repeat(3);
        stream.write_all(&[&info[..], b":1\r\n"].concat()).unwrap();
        go_on(stream);
    });
    let url = format!("redis://{place}");
    StoreUrl::parse(&url, &StoreDefinition::load(&Home::open(None).unwrap().definitions).unwrap())
        .unwrap()
        .address
}

/// Keys as long as they may be, as many as there may be.
fn keys(mut stream: &TcpStream) {
    let key = [&b"$16384\r\n"[..], &[b'k'; 16384], b"\r\n"].concat();
    let _ = stream.write_all(b"*2\r\n$1\r\n7\r\n*5000\r\n");
    while stream.write_all(&key).is_ok() {}
}

#[test]
fn a_store_that_sends_keys_without_end_sends_no_more_than_the_budget() {
    let address = hostile(|stream| keys(&stream));
    let budget = Rc::new(Budget::new(Duration::from_secs(600), 1000, 1 << 20));
    let error = format!("{:#}", redis::inspect_redis(&address, &budget).unwrap_err());
    assert!(error.contains("sends more than a look reads"), "{error}");
}

#[test]
fn a_store_that_reads_byte_by_byte_is_left_when_the_time_is_over() {
    let address = hostile(|mut stream| {
        let mut one = [0];
        let sender = stream.try_clone().unwrap();
        std::thread::spawn(move || keys(&sender));
        while std::io::Read::read(&mut stream, &mut one).is_ok_and(|read| read > 0) {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    // Shorter than what a single write may take.
    let budget = Rc::new(Budget::new(Duration::from_secs(2), 1000, usize::MAX));
    let error = redis::inspect_redis(&address, &budget).unwrap_err();
    assert!(budget.is_late(), "{error:#}");
}

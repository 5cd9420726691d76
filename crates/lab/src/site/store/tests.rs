//! What stores answer, real and hostile.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::site::tests::Quiet;

/// A store that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn look_at(url: &str) -> Result<Stored> {
    look(&Lab::open(None).unwrap(), url, &[], &mut Quiet::default())
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

#[test]
fn values_of_redis_are_counted_and_sampled_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("r.sock");
    let started = Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--unixsocket"])
        .arg(&socket)
        .arg("--dir")
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn();
    let Ok(started) = started else {
        eprintln!("left out: redis-server is not installed");
        return;
    };
    let _running = Running(started);
    wait_for(&socket);
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
    assert_eq!(ask("GET key1\r\n"), "$4\r\n");
    let stored = look_at(&format!("redis://{}", socket.display())).unwrap();
    assert_eq!((stored.keys, stored.seen, stored.other_types), (601, 601, 1));
    assert_eq!((stored.sizes[0], stored.sizes[1]), (500, 100));
    assert_eq!(stored.values.len(), MOST_VALUES.0 * 2);
    let all: f64 = stored.values.iter().map(|(_, value)| stored.weight(value)).sum();
    assert!((all - 600.0).abs() < 1.0, "{all}");
    assert!(stored.values.iter().all(|(_, value)| value.form == "serialize"), "{:?}", stored.values[0]);
    let calls = stored.calls.unwrap();
    assert_eq!((calls.hits, calls.reads, calls.writes), (1.0, 1.0, 600.0));
    let mut rest = String::new();
    said.read_line(&mut rest).unwrap();
    redis.write_all(b"DBSIZE\r\n").unwrap();
    rest.clear();
    said.read_line(&mut rest).unwrap();
    assert_eq!(rest, ":601\r\n");
}

#[test]
fn values_of_memcached_are_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("m.sock");
    // Its user has to be able to make the socket as soon as it is started.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let started = Command::new("memcached").args(["-u", "nobody", "-a", "777", "-s"]).arg(&socket).spawn();
    let Ok(started) = started else {
        eprintln!("left out: memcached is not installed");
        return;
    };
    let _running = Running(started);
    wait_for(&socket);
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
    assert!(stored.values.iter().all(|(_, value)| value.form == "serialize" && value.stored == 4));
    assert_eq!(stored.calls.map(|calls| calls.writes), Some(30.0));
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

use super::*;
use std::os::unix::net::UnixListener;

fn answered(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = vec![0; 16];
        stream.read_exact(&mut asked).unwrap();
        stream.write_all(&bytes).unwrap();
    });
    let answer = get(&socket, "/status", "json", Duration::from_secs(5));
    server.join().unwrap();
    answer
}

#[test]
fn the_body_is_what_follows_the_headers_over_all_records() {
    let mut bytes = record(STDOUT, 1, b"Content-Type: x\r\n\r");
    bytes.extend(record(7, 1, b"a word on stderr"));
    bytes.extend(record(STDOUT, 1, b"\n{\"a\":1}"));
    bytes.extend(record(END, 1, &[0; 8]));
    assert_eq!(answered(bytes).unwrap(), b"{\"a\":1}");
}

#[test]
fn an_answer_that_is_cut_or_strange_is_an_error() {
    assert!(answered(record(STDOUT, 1, b"Content-Type: x\r\n\r\n")).is_err());
    assert!(answered(record(END, 1, &[0; 8])).is_err());
    assert!(answered(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).is_err());
}

#[test]
fn long_values_have_long_lengths() {
    assert_eq!(length("abc"), [3]);
    assert_eq!(length(&"x".repeat(300)), [0x80, 0, 1, 44]);
}

#[test]
fn a_link_in_place_of_the_socket_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let (socket, link) = (home.path().join("s"), home.path().join("link"));
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    assert!(get(&link, "/status", "", Duration::from_secs(5)).is_err());
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "nobody connected");
    std::fs::write(home.path().join("file"), "").unwrap();
    assert!(get(&home.path().join("file"), "/status", "", Duration::from_secs(5)).is_err());
}

use super::*;
use std::os::unix::net::{UnixListener, UnixStream};

#[test]
fn a_status_is_read_from_what_fpm_writes() {
    let text = r#"{"pool":"weigh","process manager":"static","start time":1,"start since":2,"accepted conn":17,
        "listen queue":0,"max listen queue":0,"listen queue len":0,"idle processes":5,"active processes":3,
        "total processes":8,"max active processes":4,"max children reached":0,"slow requests":0}"#;
    let status: Status = serde_json::from_str(text).unwrap();
    let expected = Status { active: 3, idle: 5, processes: 8, max_active: 4, limit_reached: 0, accepted: 17 };
    assert_eq!(status, expected);
    let again: Status = serde_json::from_str(&serde_json::to_string(&status).unwrap()).unwrap();
    assert_eq!(again, expected);
}

#[test]
fn connections_that_nobody_accepts_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    if waiting(&path).is_none() {
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "this kernel does not tell of unix sockets");
        println!("skipped: this kernel does not tell of unix sockets");
        return;
    }
    assert_eq!(waiting(&path), Some(0));
    let clients = [UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap()];
    assert_eq!(waiting(&path), Some(2));
    listener.accept().unwrap();
    assert_eq!(waiting(&path), Some(1));
    drop(clients);
    assert_eq!(waiting(&home.path().join("other")), None);
}

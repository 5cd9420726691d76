use super::*;

#[test]
fn an_end_without_notice_is_no_end() {
    let identity = identity();
    let (address, server) = serve(&identity, 1, |secure| {
        secure.read_exact(&mut [0]).unwrap();
        secure.write_all(b"half of it").unwrap();
        secure.flush().unwrap();
    });
    let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
    send(&mut tls, b"?").unwrap();
    let mut buffer = [0; 100];
    assert_eq!(patient(|| tls.read(&mut buffer)).unwrap(), 10);
    let error = patient(|| tls.read(&mut buffer)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    assert!(error.to_string().contains("close_notify"), "{error}");
    server.join().unwrap();
}

#[test]
fn a_record_that_was_tampered_with_fails() {
    let identity = identity();
    let (address, server) = serve(&identity, 1, |secure| {
        secure.read_exact(&mut [0]).unwrap();
        // A record of application data that is not encrypted with any key.
        secure.sock.write_all(&[&[23, 3, 3, 0, 32][..], &[9; 32]].concat()).unwrap();
        let _ = secure.sock.read(&mut [0; 100]);
    });
    let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
    send(&mut tls, b"?").unwrap();
    let error = patient(|| tls.read(&mut [0; 100])).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::InvalidData, "cannot decrypt peer's message")
    );
    drop(tls);
    server.join().unwrap();
}

#[test]
fn large_bodies_come_whole_under_reads_of_any_size() {
    let identity = identity();
    let body = Arc::new(noise(5 << 20));
    for size in [1000, 16 << 10, 70_000, 256 << 10, 1 << 20] {
        let sent = body.clone();
        let (address, server) = serve(&identity, 1, move |secure| {
            secure.read_exact(&mut [0]).unwrap();
            secure.write_all(&sent).unwrap();
            secure.conn.send_close_notify();
            secure.flush().unwrap();
        });
        let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
        send(&mut tls, b"?").unwrap();
        assert!(read_to_end(&mut tls, size).unwrap() == *body, "with reads of {size} bytes");
        server.join().unwrap();
    }
}

#[test]
fn large_requests_go_whole_although_the_socket_fills_up() {
    let identity = identity();
    let body = Arc::new(noise(5 << 20));
    let expected = body.clone();
    let (address, server) = serve(&identity, 1, move |secure| {
        std::thread::sleep(Duration::from_millis(20));
        let mut received = vec![0; expected.len()];
        secure.read_exact(&mut received).unwrap();
        assert!(received == *expected);
        secure.write_all(b"!").unwrap();
    });
    let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
    send(&mut tls, &body).unwrap();
    // Reads also send pending data.
    assert_eq!(patient(|| tls.read(&mut [0; 10])).unwrap(), 1);
    server.join().unwrap();
}

#[test]
fn nothing_is_left_behind_unannounced() {
    let identity = identity();
    let (address, server) = serve(&identity, 1, |secure| {
        secure.read_exact(&mut [0]).unwrap();
        secure.write_all(&[1; 40_000]).unwrap();
        secure.conn.send_close_notify();
        secure.flush().unwrap();
        let _ = secure.sock.read(&mut [0; 100]);
    });
    let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
    send(&mut tls, b"?").unwrap();
    let mut left = 40_000;
    while left > 0 {
        let read = patient(|| tls.read(&mut [0; 300])).unwrap();
        left -= read;
        // A caller that stops here would wait for an event that may never come.
        assert!(tls.has_buffered() || left < 40_000 - 300);
        assert!(!(tls.has_buffered() && tls.short_read_drains()));
    }
    assert_eq!(patient(|| tls.read(&mut [0; 300])).unwrap(), 0);
    assert!(!tls.short_read_drains());
    drop(tls);
    server.join().unwrap();
}

#[test]
fn what_arrives_while_decrypted_data_waits_is_not_taken_for_read() {
    let identity = identity();
    let (address, server) = serve(&identity, 1, |secure| {
        for part in [1000, 10] {
            secure.read_exact(&mut [0]).unwrap();
            secure.write_all(&noise(part)).unwrap();
        }
    });
    let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
    send(&mut tls, b"?").unwrap();
    // A slow reader leaves most of the first part; its socket is empty now.
    assert_eq!(patient(|| tls.read(&mut [0; 100])).unwrap(), 100);
    send(&mut tls, b"?").unwrap();
    server.join().unwrap();
    // The event that reported the second part is over when it reads the rest of the first.
    assert_eq!(tls.read(&mut [0; 2000]).unwrap(), 900);
    assert!(!tls.short_read_drains(), "nothing would report the second part again");
    assert_eq!(tls.read(&mut [0; 2000]).unwrap(), 10);
}

use std::net::{TcpListener, TcpStream};

use super::*;

#[test]
fn what_listens_inside_is_reached_from_inside_alone() {
    let network = match Network::narrow() {
        Ok(network) => network,
        Err(error) => {
            // A machine may withhold the privilege, from root in a container too.
            eprintln!("skipped: no network namespace here: {error:#}");
            return;
        }
    };
    let listener = network.within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    assert!(TcpStream::connect(address).is_err(), "the machine's own loopback leads there");
    network.within(|| TcpStream::connect(address)).unwrap().unwrap();
    let outside = std::fs::read_to_string(SEND_BUFFER_FILE).unwrap();
    let inside = network.within(|| std::fs::read_to_string(SEND_BUFFER_FILE)).unwrap().unwrap();
    let numbers = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(numbers(&inside), SEND_BUFFER);
    assert_ne!(numbers(&outside), SEND_BUFFER);
}

/// Its buffers are those of the machine's own, so that figures are the same.
#[test]
fn what_listens_in_a_private_network_is_nobody_else_s() {
    let Ok(network) = Network::private() else {
        eprintln!("skipped: no network namespace here");
        return;
    };
    let listener = network.within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap().unwrap();
    assert!(TcpStream::connect(listener.local_addr().unwrap()).is_err());
    for buffers in [SEND_BUFFER_FILE, "/proc/sys/net/ipv4/tcp_rmem"] {
        let outside = std::fs::read_to_string(buffers).unwrap();
        assert_eq!(
            network.within(|| std::fs::read_to_string(buffers)).unwrap().unwrap(),
            outside,
            "{buffers}"
        );
    }
}

#[test]
fn the_own_network_is_entered_by_whoever_is_there() {
    let network = Network::outside().unwrap();
    let listener = network.within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap().unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    join(&network.path()).unwrap();
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let error = join(Path::new("/nowhere")).unwrap_err();
    assert!(format!("{error:#}").contains("/nowhere"), "{error:#}");
}

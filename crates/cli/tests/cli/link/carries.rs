//! What is sent is what arrives, whatever the way, the queue and the losses.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use sha2::{Digest, Sha256};
use weigh_model::link::{LinkSpec, Way};
use weigh_os::network;
use weigh_rig::link::{Link, Making};

use crate::lab::WEIGH;

/// Bytes that do not repeat.
fn content(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).flatten().take(length).collect()
}

/// Sends bytes to the far end, which sends back their digest and then all of them.
fn goes_and_comes_back(link: &Link, sent: &[u8]) {
    let address = SocketAddr::from((link.far_address(), 0));
    let listener = link.far().within(|| TcpListener::bind(address)).unwrap().unwrap();
    let reached = link.reach(listener.local_addr().unwrap().port()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            stream.write_all(&Sha256::digest(&bytes)).unwrap();
            stream.write_all(&bytes).unwrap();
        });
        let mut stream = link.near().within(|| TcpStream::connect(reached)).unwrap().unwrap();
        stream.write_all(sent).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        assert_eq!(&back[..32], Sha256::digest(sent).as_slice(), "what arrived is not what was sent");
        assert!(&back[32..] == sent, "what came back is not what was sent");
    });
}

fn carries(text: &str, way: Way) {
    let Some(link) = super::link(text, way) else { return };
    assert_eq!(link.way(), way);
    goes_and_comes_back(&link, &content(1_500_000));
    goes_and_comes_back(&link, &content(1));
    goes_and_comes_back(&link, &[]);
    let measured = link.measured();
    assert!(measured.round_trip.as_ref().is_some_and(|trip| trip.exchanges >= 5), "{measured:?}");
    let rates = [&measured.down, &measured.up].map(|rate| rate.as_ref().unwrap());
    for rate in rates {
        // How much it is, is a benchmark's affair.
        assert!(rate.measured_kbps > 0.0 && rate.payload_kbps < rate.measured_kbps, "{measured:?}");
    }
}

#[test]
fn the_emulator_carries_what_is_sent() {
    carries("60mbit:30mbit/4ms/queue=20KB", Way::Tun);
}

#[test]
fn the_emulator_loses_packets_and_no_bytes() {
    let Some(link) = super::link("60mbit/2ms/2%", Way::Tun) else { return };
    goes_and_comes_back(&link, &content(300_000));
    let lost = link.measured().lost.as_ref().unwrap();
    assert!(lost.sent > 100 && lost.lost > 0 && lost.lost < lost.sent / 5, "{lost:?}");
}

#[test]
fn the_rate_alone_carries_what_is_sent() {
    carries("60mbit:30mbit/4ms", Way::Rate);
}

#[test]
fn a_proxy_carries_what_is_sent() {
    carries("60mbit:30mbit/4ms/queue=20KB", Way::Proxy);
}

#[test]
fn the_kernels_emulation_carries_what_is_sent() {
    carries("60mbit:30mbit/4ms", Way::Netem);
}

#[test]
fn a_proxy_closes_where_nobody_listens() {
    let link = super::link("60mbit/1ms", Way::Proxy).unwrap();
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let door = link.reach(unused).unwrap();
    let mut stream = link.near().within(|| TcpStream::connect(door)).unwrap().unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    assert_eq!(link.reach(unused).unwrap(), link.reach(unused).unwrap(), "a door for each port");
}

#[test]
fn nobody_outside_connects_to_a_proxy() {
    if let Err(why) = network::Network::private() {
        println!("skipped: no private network here: {why:#}");
        return;
    }
    let link = super::link("60mbit/1ms", Way::Proxy).unwrap();
    let address = SocketAddr::from((link.far_address(), 0));
    let far = link.far().within(|| TcpListener::bind(address)).unwrap().unwrap();
    let far = far.local_addr().unwrap();
    let door = link.reach(far.port()).unwrap();
    assert!(TcpStream::connect(door).is_err(), "the proxy is open to all");
    assert!(TcpStream::connect(far).is_err(), "what stands behind it is open to all");
    assert!(link.near().within(|| TcpStream::connect(door)).unwrap().is_ok());
}

#[test]
fn two_links_do_not_meet() {
    let Some(one) = super::link("60mbit/1ms", Way::Tun) else { return };
    let Some(other) = super::link("60mbit/1ms", Way::Tun) else { return };
    let address = SocketAddr::from((one.far_address(), 0));
    let listener = one.far().within(|| TcpListener::bind(address)).unwrap().unwrap();
    let reached = one.reach(listener.local_addr().unwrap().port()).unwrap();
    assert!(other.near().within(|| TcpStream::connect(reached)).unwrap().is_err());
    assert!(one.near().within(|| TcpStream::connect(reached)).unwrap().is_ok());
}

#[test]
fn where_no_link_can_be_made_that_is_said() {
    let link = super::link("60mbit/1ms/1%", Way::Model).unwrap();
    assert_eq!(link.measured().round_trip, None);
    assert!(link.reach(80).unwrap_err().to_string().contains("60mbit/1ms/1%"));
}

#[test]
fn the_far_end_sends_as_the_servers_of_a_site_do() {
    let own = network::congestion_control();
    for paced in [false, true] {
        let spec = LinkSpec { paced: Some(paced), ..LinkSpec::parse("50mbit/5ms").unwrap() };
        let making = Making { launcher: WEIGH.into(), ..Making::default() };
        match Link::make_with(&spec, &making) {
            Ok(link) => {
                let sends = link.measured().congestion_control.clone().unwrap();
                assert_eq!(network::is_paced(&sends), paced, "{sends}");
                // RFC 6928, and what Linux does after a pause unless it is told not to.
                let measured = link.measured();
                assert_eq!((measured.initial_window, measured.slow_start_after_idle), (Some(10), Some(true)));
            }
            Err(error) => println!("skipped: no such link here: {error:#}"),
        }
    }
    assert_eq!(network::congestion_control(), own, "the machine's own stays");
}

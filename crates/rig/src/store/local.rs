//! The process of a store that others run on this machine: found by the socket that it listens on, so that it can be metered.
//!
//! Which process has a socket can be read of one's own processes, and by root of all. Where it may not be read, or where what listens is
//! no program of a store's (a port forwarded into a container has the forwarder there), there is none: a wrong meter is worse than none.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::path::Path;

use weigh_model::protocol::client::Address;

use weigh_os::group::parents;
use weigh_os::regular;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENS: &str = "0A";
/// The flag of a listening socket in `/proc/net/unix`.
const ACCEPTS: u32 = 0x1_0000;
/// Bytes of a name in `/proc/PID/comm`; what is longer is cut.
const COMM: usize = 15;

/// The process that listens at an address of this machine, where it may be read and is one of these programs.
pub fn process_at(address: &Address, programs: &[String]) -> Option<u32> {
    let first = listener_at(address)?;
    let name = regular::system(format!("/proc/{first}/comm")).ok()?;
    let is_own = |program: &String| program.bytes().take(COMM).eq(name.trim_end().bytes());
    programs.iter().any(is_own).then_some(first)
}

/// The process that listens at an address of this machine, where it may be read, whatever it is.
pub fn listener_at(address: &Address) -> Option<u32> {
    let inodes = match (&address.unix, &address.host, address.port) {
        (Some(path), _, _) => unix_inodes(&regular::system("/proc/net/unix").ok()?, path),
        (None, Some(host), Some(port)) => tcp_inodes(host, port)?,
        _ => return None,
    };
    let all = parents();
    let listening: Vec<(u32, u32)> = all.into_iter().filter(|(id, _)| has_any(*id, &inodes)).collect();
    // A server with processes of its own shares its socket with them: the first of them is meant.
    listening.iter().find(|(_, parent)| listening.iter().all(|(id, _)| id != parent)).map(|first| first.0)
}

/// Whether a process has one of these sockets open.
fn has_any(id: u32, inodes: &[u64]) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{id}/fd")) else { return false };
    let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    let mut sockets = links.filter_map(|link| socket(link.to_str()?));
    sockets.any(|inode| inodes.contains(&inode))
}

/// The number in `socket:[4711]`.
fn socket(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The listening sockets of a host's addresses and of a wildcard; none for a host that is not this machine.
fn tcp_inodes(host: &str, port: u16) -> Option<Vec<u64>> {
    let here: Vec<IpAddr> = (host, port).to_socket_addrs().ok()?.map(|address| address.ip()).collect();
    if here.is_empty() || !here.iter().all(IpAddr::is_loopback) {
        return None;
    }
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| regular::system(path).unwrap_or_default());
    Some(tables.iter().flat_map(|table| listening(table, &here, port)).collect())
}

/// The inodes of sockets that listen on a port, at one of these addresses or at all. Columns are `sl local_address rem_address st tx:rx
/// tr:when retrnsmt uid timeout inode`, addresses in hexadecimal, in the order of the machine's own bytes.
fn listening(table: &str, here: &[IpAddr], port: u16) -> Vec<u64> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (ip, at) = words.get(1)?.split_once(':')?;
        let ip = ip_of(ip)?;
        let is_meant = u16::from_str_radix(at, 16).ok()? == port
            && *words.get(3)? == LISTENS
            && (ip.is_unspecified() || here.contains(&ip));
        is_meant.then(|| words.get(9)?.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(of_line).collect()
}

/// `0100007F`, or four such words of an address of version 6.
fn ip_of(text: &str) -> Option<IpAddr> {
    let words =
        text.as_bytes().chunks(8).map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok());
    let words: Vec<[u8; 4]> = words.map(|word| word.map(u32::to_ne_bytes)).collect::<Option<_>>()?;
    match words.as_slice() {
        [four] => Some(IpAddr::V4(Ipv4Addr::from(*four))),
        [_, _, _, _] => {
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            let ip = Ipv6Addr::from(bytes);
            Some(ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4))
        }
        _ => None,
    }
}

/// The inode of the socket that accepts connections at a path. Columns are `Num RefCount Protocol Flags Type St Inode Path`.
fn unix_inodes(table: &str, path: &Path) -> Vec<u64> {
    let of_line = |line: &str| {
        let mut rest = line;
        let mut words = [""; 7];
        for word in &mut words {
            (*word, rest) = rest.trim_start().split_once(' ')?;
        }
        let flags = u32::from_str_radix(words[3], 16).ok()?;
        (flags & ACCEPTS != 0 && Path::new(rest) == path).then(|| words[6].parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// What this very process is called.
    fn own_name() -> Vec<String> {
        vec![fs::read_to_string("/proc/self/comm").unwrap().trim_end().to_owned()]
    }

    #[test]
    fn a_process_is_found_by_where_it_listens_and_by_its_name() {
        let own = Some(std::process::id());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = Some(listener.local_addr().unwrap().port());
        let at = |host: &str| Address { host: Some(host.into()), port, ..Address::default() };
        assert_eq!(process_at(&at("127.0.0.1"), &own_name()), own);
        assert_eq!(process_at(&at("127.0.0.1"), &["redis-server".into()]), None, "it is another program");
        assert_eq!(process_at(&at("127.0.0.2"), &own_name()), None, "it listens elsewhere");
        assert_eq!(process_at(&at("192.0.2.1"), &own_name()), None, "that is another machine");
        drop(listener);
        assert_eq!(process_at(&at("127.0.0.1"), &own_name()), None, "nobody listens");

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let at = Address { unix: Some(path), ..Address::default() };
        assert_eq!(process_at(&at, &own_name()), own);
    }

    #[test]
    fn what_listens_at_all_addresses_listens_at_each() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                     0: 00000000:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1 x\n\
                     1: 00000000:18EB 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 42 1 x\n\
                     2: 00000000:18EC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 43 1 x\n";
        assert_eq!(listening(table, &[IpAddr::V4(Ipv4Addr::LOCALHOST)], 6379), [41]);
        assert_eq!(ip_of("00000000000000000000000000000000"), Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        assert_eq!(ip_of("xyz"), None);
    }
}

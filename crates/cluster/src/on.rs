//! Where something is carried out, as the user writes it: `ray`, or `ray://HOST:PORT`; and by how many nodes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The port of a head node where the address has none; Ray's own default.
const PORT: u16 = 6379;
const LONGEST_HOST: usize = 253;

/// A cluster: one of one's own on this machine, or one that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// A cluster on this machine, which ends with this process.
    Own,
    /// The cluster whose head node listens there.
    At { host: String, port: u16 },
}

impl On {
    /// `HOST:PORT`; none: a cluster of one's own.
    pub fn address(&self) -> Option<String> {
        match self {
            On::Own => None,
            On::At { host, port } => Some(format!("{host}:{port}")),
        }
    }
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            None => write!(f, "ray"),
            Some(address) => write!(f, "ray://{address}"),
        }
    }
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<On, String> {
        let wrong = || {
            format!("`{text}` is no cluster; write ray, or ray://HOST:PORT with the address of its head node")
        };
        let Some(address) = text.strip_prefix("ray://") else {
            return if text == "ray" { Ok(On::Own) } else { Err(wrong()) };
        };
        let address = address.strip_suffix('/').unwrap_or(address);
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (address, PORT),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b));
        let is_good = match bare {
            Some(bare) => bare.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.len() <= LONGEST_HOST && !host.starts_with('-') && is_name(host),
        };
        if is_good && port > 0 { Ok(On::At { host: host.to_owned(), port }) } else { Err(wrong()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Fewer are an error.
    pub least: u32,
    /// Further ones are left alone; none: all are taken.
    pub most: Option<u32>,
    /// How long they may take to be there.
    pub patience: Duration,
}

impl Want {
    /// All available nodes, of which at least this many must exist.
    pub fn all(least: u32) -> Want {
        Want { least, most: None, patience: Duration::from_secs(60) }
    }

    pub fn exactly(count: u32) -> Want {
        Want { most: Some(count), ..Want::all(count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_read_as_they_are_written() {
        for text in ["ray", "ray://10.0.0.1:6379", "ray://head.internal:1234", "ray://[fd00::1]:6379"] {
            assert_eq!(text.parse::<On>().unwrap().to_string(), text);
        }
        assert_eq!("ray://head".parse::<On>().unwrap().to_string(), "ray://head:6379");
        assert_eq!("ray://[::1]".parse::<On>().unwrap().to_string(), "ray://[::1]:6379");
        assert_eq!("ray".parse::<On>().unwrap().address(), None);
        for text in [
            "",
            "dask",
            "Ray",
            "ray:",
            "ray://",
            "ray://:1",
            "ray://a:0",
            "ray://a:70000",
            "ray://a b",
            "ray://-x:1",
            "ray://a/b:1",
            "ray://[x]:1",
        ] {
            let why = text.parse::<On>().unwrap_err();
            assert!(why.contains("write ray, or ray://HOST:PORT"), "{text}: {why}");
        }
    }
}

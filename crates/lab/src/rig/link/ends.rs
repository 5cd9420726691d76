//! The two ends of a link: networks with an address each.

use std::net::Ipv4Addr;

use anyhow::Result;

use crate::rig::network::Network;

/// Addresses of a private range; they exist inside the two networks alone.
pub(super) const NEAR: Ipv4Addr = Ipv4Addr::new(10, 153, 0, 1);
/// The far end of a link whose ends are networks of their own.
pub const FAR: Ipv4Addr = Ipv4Addr::new(10, 153, 0, 2);

/// The networks that a link lies between.
#[derive(Debug)]
pub(super) enum Ends {
    /// A namespace each.
    Apart { near: Network, far: Network },
    /// Both in the machine's own.
    Same(Network),
}

impl Ends {
    /// Two new networks that nothing connects yet.
    ///
    /// # Errors
    /// The privilege is missing.
    pub fn apart() -> Result<Ends> {
        Ok(Ends::Apart { near: Network::plain()?, far: Network::plain()? })
    }

    /// Both ends in the machine's own network.
    ///
    /// # Errors
    /// There is no `/proc`.
    pub fn same() -> Result<Ends> {
        Network::outside().map(Ends::Same)
    }

    /// Where clients are.
    pub fn near(&self) -> &Network {
        match self {
            Ends::Apart { near, .. } | Ends::Same(near) => near,
        }
    }

    /// Where stores and servers are.
    pub fn far(&self) -> &Network {
        match self {
            Ends::Apart { far, .. } | Ends::Same(far) => far,
        }
    }

    /// The address of the far end, as seen from both.
    pub fn far_address(&self) -> Ipv4Addr {
        self.addresses().1
    }

    /// The addresses of the near and of the far end.
    pub fn addresses(&self) -> (Ipv4Addr, Ipv4Addr) {
        match self {
            Ends::Apart { .. } => (NEAR, FAR),
            Ends::Same(_) => (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
        }
    }
}

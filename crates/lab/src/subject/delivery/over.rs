//! What responses of a delivery go over, which tells instances and load agents apart.

use weigh_model::cell::Delivery;

/// What lies between readers and a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Over {
    /// The machine's own loopback.
    Loopback,
    /// The loopback of a network whose buffers are small.
    Narrow,
    /// A link of the plan, by its name.
    Link(String),
}

impl Over {
    /// What a delivery goes over.
    pub fn of(delivery: &Delivery) -> Over {
        match (&delivery.link, &delivery.slow) {
            (Some(link), _) => Over::Link(link.clone()),
            (None, Some(slow)) if slow.narrow => Over::Narrow,
            _ => Over::Loopback,
        }
    }
}

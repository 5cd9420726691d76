//! Servers that others run on this machine: which processes answer for a URL, so that they can be metered.
//!
//! What may not be read, or is not told for certain, is not metered: a wrong meter is worse than none.

use url::Url;

use super::meters::Meters;
use super::watch::Reading;
use weigh_model::protocol::client::Address;
use weigh_os::group::{Group, parents};
use weigh_os::regular;
use weigh_rig::store::local::process_at;

/// What the names of PHP-FPM's processes begin with.
const FPM: &str = "php-fpm";

/// Meters without a look at workers.
pub type Blind = fn() -> Option<Reading>;

/// The meters of the server behind a URL, if it runs here as one of these programs, with PHP-FPM where only one runs.
pub fn meters(url: &str, programs: &[String]) -> Option<Meters<Blind>> {
    let url = Url::parse(url.trim()).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    let at = Address { host: Some(host), port: url.port_or_known_default(), ..Address::default() };
    let server = Group::of(process_at(&at, programs)?);
    Some(Meters { server, php: fpm().map(Group::of), gauge: None })
}

/// The first process of the only PHP-FPM that runs here.
fn fpm() -> Option<u32> {
    let all = parents();
    let is_fpm =
        |id: u32| regular::system(format!("/proc/{id}/comm")).is_ok_and(|name| name.starts_with(FPM));
    let own: Vec<(u32, u32)> = all.into_iter().filter(|(id, _)| is_fpm(*id)).collect();
    let mut first = own.iter().filter(|(_, parent)| own.iter().all(|(id, _)| id != parent));
    let (id, _) = first.next()?;
    first.next().is_none().then_some(*id)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::subject::delivery::meters::measure_idle;
    use weigh_os::interrupt::Interrupt;

    #[test]
    fn a_server_of_a_known_name_that_runs_here_is_metered() {
        let own = vec![std::fs::read_to_string("/proc/self/comm").unwrap().trim_end().to_owned()];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://localhost:{}/page?a=1", listener.local_addr().unwrap().port());
        let Meters { server, .. } = meters(&url, &own).unwrap();
        assert!(server.processes().contains(&std::process::id()));
        assert!(measure_idle(meters(&url, &own).unwrap(), &Interrupt::default()).is_some());
        assert!(meters(&url, &["nginx".into()]).is_none(), "it is another program");
        drop(listener);
        assert!(meters(&url, &own).is_none(), "nobody listens");
        assert!(meters("http://192.0.2.1/", &own).is_none(), "that is another machine");
    }
}

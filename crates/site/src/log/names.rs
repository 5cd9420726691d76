//! What the names of fields say: those of the servers' own variables and members, and those that people give them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::duration::Unit;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// When the request came or was answered.
    Time,
    /// The host that was asked.
    Host,
    /// The address of the client, or of the proxy in front.
    Client,
    /// The addresses that a proxy forwarded.
    Forwarded,
    Request,
    Method,
    Target,
    Query,
    Status,
    /// Bytes sent.
    Bytes,
    Agent,
    /// `Accept-Encoding`.
    Accept,
    /// `Sec-Purpose`.
    Purpose,
    /// `Via`.
    Via,
    /// How long what is behind the server took: PHP.
    Upstream,
    /// How long all of it took.
    Whole,
    /// There is an object with all headers of the request.
    Headers,
}

/// How many roles there are.
pub const ROLES: usize = Role::Headers as usize + 1;

/// Names of each role, the best first: of two that a line has, the first counts. In lower case, with `_` for other marks.
const NAMES: [(Role, &str); 17] = [
    (
        Role::Time,
        "time_iso8601 time_local msec ts time timestamp datetime date time_ngx start_time time_unix t",
    ),
    (Role::Host, "http_host host vhost virtual_host server_name domain v"),
    (
        Role::Client,
        "remote_addr client_ip clientip remote_ip ip client client_addr addr remote_address remote_host h",
    ),
    (
        Role::Forwarded,
        "http_x_forwarded_for x_forwarded_for xff forwarded_for forwardedfor http_cf_connecting_ip http_x_real_ip x_real_ip",
    ),
    (Role::Request, "request request_line req r"),
    (Role::Method, "request_method method http_method verb m"),
    (Role::Target, "request_uri uri url path http_url request_path target"),
    (Role::Query, "args query_string query"),
    (Role::Status, "status status_code response_code http_status http_status_code response_status code s"),
    (
        Role::Bytes,
        "body_bytes_sent res_body_bytes bytes_sent res_bytes size bytes body_bytes response_size bytes_out sent_bytes b",
    ),
    (Role::Agent, "http_user_agent user_agent useragent ua agent"),
    (Role::Accept, "http_accept_encoding accept_encoding"),
    (Role::Purpose, "http_sec_purpose sec_purpose http_purpose purpose http_x_moz x_moz"),
    (Role::Via, "http_via via"),
    (Role::Upstream, "upstream_response_time urt us_rt ups_rt up_rt apptime"),
    (
        Role::Whole,
        "request_time rt req_time reqtime response_time resp_time responsetime duration elapsed latency total_time time_taken taken_time d",
    ),
    (Role::Headers, "headers"),
];

/// What answers behind a server, as names of times say it.
const BEHIND: [&str; 5] = ["upstream", "backend", "php", "fpm", "origin"];
/// Parts of names of times that are not response times.
const OTHERS: [&str; 7] = ["connect", "header", "addr", "status", "length", "bytes", "first"];

static KNOWN: LazyLock<HashMap<&str, (Role, u8)>> = LazyLock::new(|| {
    let of = |(role, names): &(Role, &'static str)| {
        names.split(' ').enumerate().map(|(at, name)| (name, (*role, at as u8))).collect::<Vec<_>>()
    };
    NAMES.iter().flat_map(of).collect()
});

/// What a name stands for, with its place among the names of that role.
pub fn role(name: &[u8]) -> Option<(Role, u8)> {
    let name = plain(name)?;
    let (base, _) = unit_and_base(&name);
    if let Some(known) = KNOWN.get(&*name).or_else(|| KNOWN.get(base)) {
        return Some(*known);
    }
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is_behind = has(&BEHIND) && has(&["time", "duration", "latency", "_rt"]) && !has(&OTHERS);
    is_behind.then_some((Role::Upstream, u8::MAX))
}

/// The unit that a name ends with: `duration_ms`; and that of Apache's letter.
pub fn unit(name: &[u8]) -> Option<Unit> {
    let name = plain(name)?;
    if name == "d" { Some(Unit::Micro) } else { unit_and_base(&name).1 }
}

/// Whether it is a name of a time that nginx logs, in seconds.
pub fn is_of_nginx(name: &[u8]) -> bool {
    matches!(plain(name).as_deref(), Some("request_time" | "upstream_response_time" | "rt" | "urt"))
}

fn unit_and_base(name: &str) -> (&str, Option<Unit>) {
    let end = name.rsplit_once('_').and_then(|(base, end)| Some((base, Unit::named(end.as_bytes())?)));
    end.map_or((name, None), |(base, unit)| (base, Some(unit)))
}

fn plain(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok().filter(|name| (1..48).contains(&name.len()))?;
    Some(name.trim_start_matches('@').to_ascii_lowercase().replace(['-', '.', ' '], "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_field_is() {
        let of = |name: &str| role(name.as_bytes()).map(|(role, _)| role);
        for (name, wanted) in [
            ("@timestamp", Role::Time),
            ("User-Agent", Role::Agent),
            ("rt", Role::Whole),
            ("duration_ms", Role::Whole),
            ("request time", Role::Whole),
            ("urt", Role::Upstream),
            ("upstream_taken_time", Role::Upstream),
            ("php-time", Role::Upstream),
            ("http.status_code", Role::Status),
        ] {
            assert_eq!(of(name), Some(wanted), "{name}");
        }
        for none in [
            "uct",
            "uht",
            "upstream_connect_time",
            "upstream_header_time",
            "upstream_status",
            "http_referer",
            "",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        let rank = |name: &str| role(name.as_bytes()).unwrap().1;
        assert!(rank("request_uri") < rank("uri") && rank("body_bytes_sent") < rank("bytes_sent"));
    }

    #[test]
    fn units_end_names() {
        let of = |name: &str| unit(name.as_bytes());
        assert_eq!(
            (of("duration_ms"), of("time_us"), of("D")),
            (Some(Unit::Milli), Some(Unit::Micro), Some(Unit::Micro))
        );
        assert_eq!((of("request_time"), of("ms")), (None, None));
    }
}

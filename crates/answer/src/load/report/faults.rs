//! Faults by kind, with one example each.

use weigh_load::fault::{Difference, HttpFaultKind};

use crate::block::Block;
use crate::load::document::Run;
use crate::load::report::fact::whole;
use crate::text::clean;

pub(super) fn blocks(run: &Run) -> Vec<Block> {
    if run.result.faults.is_empty() {
        return Vec::new();
    }
    let points = run.result.faults.iter().map(|fault| {
        let where_ = fault.example.difference.as_ref().map_or(String::new(), difference);
        let name = fault.kind.name();
        let text = format!(
            "{} × {name}; the first on {}: {}{where_}",
            whole(fault.count),
            fault.request,
            fault.example.message
        );
        (clean(&text), remedy(fault.kind).map(str::to_owned))
    });
    vec![Block::Heading(2, "Faults".into()), Block::Points(points.collect())]
}

fn difference(d: &Difference) -> String {
    format!(" (at byte {}: expected {}, got {})", whole(d.offset), d.expected, d.got)
}

/// What to look at first.
fn remedy(kind: HttpFaultKind) -> Option<&'static str> {
    Some(match kind {
        HttpFaultKind::ConnectRefused => {
            "nothing listens there, or its accept queue is full: check that the server is up, and its backlog"
        }
        HttpFaultKind::ConnectTimeout => {
            "the server's backlog may be full: use fewer connections (-c), or a longer --connect-timeout"
        }
        HttpFaultKind::PortsExhausted => {
            "each closed connection keeps its port for a minute: use keep-alive, or widen net.ipv4.ip_local_port_range"
        }
        HttpFaultKind::Tls => "a private certificate needs --ca FILE or --insecure",
        HttpFaultKind::Timeout => "use a longer --timeout to see how slow it is",
        HttpFaultKind::EmptyReply | HttpFaultKind::Reset => {
            "the server closed the connection: see its error log"
        }
        HttpFaultKind::Mismatch | HttpFaultKind::Corrupt => {
            "if the content is meant to vary, use --vary-by HEADER, or --vary-by body"
        }
        HttpFaultKind::Length | HttpFaultKind::Status | HttpFaultKind::ContentType => {
            "the server answered differently under load: see its error log"
        }
        _ => return None,
    })
}

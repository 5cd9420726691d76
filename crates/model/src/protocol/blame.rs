//! What kind of failure a wrong response is for its cell, and how to fix failures of deliveries.

use weigh_load::fault::HttpFaultKind as Http;

use super::{Fault, FaultKind};

const ROOM: &str = "free space where temporary files are written, or set TMPDIR to a folder with free space";
const KILLED: &str = "check in the kernel's log whether memory ran out (`dmesg`); then start the run again";
/// Phrases that name a cause in a failure of any kind, each with the remedy.
const CAUSES: [(&str, &str); 6] = [
    ("No space left on device", ROOM),
    // nginx writes this when a disk had room for a part of the file only.
    ("has written only", ROOM),
    ("Disk quota exceeded", ROOM),
    (
        "Allowed memory size",
        "leave this method out or send a smaller file: its script needs more than memory_limit",
    ),
    ("SIGKILL", KILLED),
    ("signal: 9", KILLED),
];

impl From<Http> for FaultKind {
    fn from(kind: Http) -> FaultKind {
        match kind {
            Http::Mismatch | Http::Corrupt | Http::Length => FaultKind::RoundTrip,
            Http::Timeout | Http::ConnectTimeout => FaultKind::Timeout,
            Http::ConnectRefused | Http::Reset | Http::EmptyReply => FaultKind::Crash,
            _ => FaultKind::Response,
        }
    }
}

impl Fault {
    /// The failure of a delivery, with its remedy.
    pub fn of_delivery(kind: FaultKind, message: String) -> Fault {
        let cause = CAUSES.iter().find(|(words, _)| message.contains(words)).map(|(_, remedy)| *remedy);
        let remedy = cause.or(match kind {
            FaultKind::RoundTrip => Some("the server must send the whole payload in every response"),
            FaultKind::Timeout => {
                Some("look in the run's logs/ for what hung; leave this method out if it always hangs")
            }
            FaultKind::Crash => {
                Some("look in the run's logs/ for the process that exited, and start the run again")
            }
            FaultKind::Response => {
                Some("fix what the message names; the logs of server and PHP are in the run's logs/")
            }
            FaultKind::Start => {
                Some("`weigh check` shows what can be started here, and how to install what is missing")
            }
            _ => None,
        });
        Fault { kind, message, remedy: remedy.map(str::to_owned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_named_has_its_own_remedy() {
        let fault = |kind, message: &str| Fault::of_delivery(kind, message.into()).remedy.unwrap();
        let full = "x: reset; nginx: writev() \"/tmp/1\" failed (28: No space left on device)";
        assert!(fault(FaultKind::Crash, full).contains("TMPDIR"));
        assert!(fault(FaultKind::Response, full).contains("TMPDIR"));
        assert!(fault(FaultKind::Crash, "nginx ended: signal: 9 (SIGKILL)").contains("dmesg"));
        assert!(fault(FaultKind::Crash, "reset").contains("logs/"));
        assert_eq!(Fault::of_delivery(FaultKind::Parameter, "x".into()).remedy, None);
    }
}

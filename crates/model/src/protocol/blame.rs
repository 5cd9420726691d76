//! What the fault of a response means for the cell that asked, and what would mend the faults of deliveries.

use weigh_load::fault::FaultKind as Wrong;

use super::{Fault, FaultKind};

const ROOM: &str = "make room where temporary files are written, or let TMPDIR name a folder that has it";
const KILLED: &str = "see in the kernel's log whether memory ran out (`dmesg`); then start the run again";
/// Words that name a cause whatever kind of fault they come with, and what helps against it.
const CAUSES: [(&str, &str); 6] = [
    ("No space left on device", ROOM),
    // nginx, when a part of it still had room.
    ("has written only", ROOM),
    ("Disk quota exceeded", ROOM),
    (
        "Allowed memory size",
        "leave this way out or send a smaller content: its script needs more than memory_limit",
    ),
    ("SIGKILL", KILLED),
    ("signal: 9", KILLED),
];

impl From<Wrong> for FaultKind {
    fn from(wrong: Wrong) -> FaultKind {
        match wrong {
            Wrong::Mismatch | Wrong::Corrupt | Wrong::Length => FaultKind::RoundTrip,
            Wrong::Timeout | Wrong::ConnectTimeout => FaultKind::Timeout,
            Wrong::ConnectRefused | Wrong::Reset | Wrong::EmptyReply => FaultKind::Crash,
            _ => FaultKind::Response,
        }
    }
}

impl Fault {
    /// The fault of a delivery, with what would mend it.
    pub fn of_delivery(kind: FaultKind, message: String) -> Fault {
        let cause = CAUSES.iter().find(|(words, _)| message.contains(words)).map(|(_, remedy)| *remedy);
        let remedy = cause.or(match kind {
            FaultKind::RoundTrip => Some("the server must send the payload, whole and at every request"),
            FaultKind::Timeout => {
                Some("see in the run's logs/ what hung, and leave this way out where it always does")
            }
            FaultKind::Crash => Some("see in the run's logs/ what ended, and start the run again"),
            FaultKind::Response => {
                Some("mend what the message names; server and PHP have logs in the run's logs/")
            }
            FaultKind::Start => Some("`weigh check` shows what can be started here, and what would mend it"),
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

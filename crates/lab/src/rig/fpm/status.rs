//! What a pool says of itself.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{config, fastcgi};

/// The workers of a pool at one moment. On PHP before 8.0 the one that answers is counted as active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Status {
    /// Workers that carry out a request.
    #[serde(alias = "active processes")]
    pub active: u32,
    /// Workers that wait for one.
    #[serde(alias = "idle processes")]
    pub idle: u32,
    /// All workers.
    #[serde(alias = "total processes")]
    pub processes: u32,
    /// The most that were active at once.
    #[serde(alias = "max active processes")]
    pub max_active: u32,
    /// How often the limit of workers was reached (dynamic pools).
    #[serde(alias = "max children reached")]
    pub limit_reached: u32,
    /// Connections accepted.
    #[serde(alias = "accepted conn")]
    pub accepted: u64,
}

impl Status {
    /// Asks at a socket.
    pub(super) fn ask(socket: &Path, limit: Duration) -> Result<Status> {
        let body = fastcgi::get(socket, config::STATUS_PATH, "json", limit);
        let body = body.with_context(|| format!("no status from {}", socket.display()))?;
        serde_json::from_slice(&body).with_context(|| format!("what {} says is no status", socket.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_from_what_fpm_writes() {
        let text = r#"{"pool":"weigh","process manager":"static","start time":1,"start since":2,"accepted conn":17,
            "listen queue":0,"max listen queue":0,"listen queue len":0,"idle processes":5,"active processes":3,
            "total processes":8,"max active processes":4,"max children reached":0,"slow requests":0}"#;
        let status: Status = serde_json::from_str(text).unwrap();
        let expected =
            Status { active: 3, idle: 5, processes: 8, max_active: 4, limit_reached: 0, accepted: 17 };
        assert_eq!(status, expected);
        let again: Status = serde_json::from_str(&serde_json::to_string(&status).unwrap()).unwrap();
        assert_eq!(again, expected);
    }
}

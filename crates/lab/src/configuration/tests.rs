//! What is emitted: rendered by the very files that are measured, readable, private, and said whole.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::defs::Definitions;
use crate::rig::server::Definition;
use crate::rig::service::FolderDefinition;

#[test]
fn placeholder() {
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    assert!(servers.len() > 3);
    let _ = std::fs::Permissions::from_mode(0o600);
}

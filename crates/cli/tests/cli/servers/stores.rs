//! Private stores.

use weigh_content::defs::Definitions;
use weigh_os::guard::LaunchContext;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::StoreDefinition;
use weigh_rig::store::StoreInstance;

#[test]
fn a_private_store_answers_and_leaves_nothing() {
    for name in ["redis", "memcached"] {
        let found = StoreDefinition::load(&Definitions::load(None).unwrap())
            .unwrap()
            .into_iter()
            .find(|s| s.name == name)
            .unwrap()
            .find();
        if let Some(missing) = &found.missing {
            eprintln!("skipped: {name}: {missing}");
            continue;
        }
        let room = tempfile::tempdir().unwrap();
        let launcher = env!("CARGO_BIN_EXE_weigh").into();
        let place = LaunchContext { launcher, ..LaunchContext::new(room.path(), room.path().join("log")) };
        for host in [None, Some(std::net::Ipv4Addr::LOCALHOST)] {
            let mut instance = StoreInstance::start(&found, host, &[], &place).unwrap();
            assert!(instance.is_alive());
            assert_eq!(instance.address().unix.is_some(), host.is_none());
            assert!(instance.group().pss_bytes().is_some_and(|bytes| bytes > 0));
            assert!(instance.stop(), "{name} ends by itself");
        }
        let left = std::fs::read_dir(room.path()).unwrap().flatten().filter(|e| e.path().is_dir()).count();
        assert_eq!(left, 0, "{name} leaves its directory");
    }
}

//! What goes wrong at a start is told in the server's own words, and leaves nothing.

use std::path::Path;
use std::time::Duration;

use weigh_content::defs::Definitions;
use weigh_os::guard::LaunchContext;
use weigh_rig::server::Site;
use weigh_rig::server::{Found, Instance};

use super::fixture::{Rig, server};
use crate::lab::wait_until;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;

fn refused(found: &Found, site: &Site, rig: &Rig) -> String {
    let error = format!("{:#}", Instance::start(found, site, &rig.place()).unwrap_err());
    assert!(!error.contains('\n'), "{error}");
    assert!(rig.left_over().is_empty());
    error
}

#[test]
fn the_servers_own_check_is_quoted() {
    let rig = Rig::new();
    let Some(mut found) = server("nginx") else { return };
    let text = found.definition.templates.get_mut("nginx.conf").unwrap();
    *text = text.replace("sendfile on;", "sendfile maybe;");
    let error = refused(&found, &rig.site(None), &rig);
    assert!(error.contains("nginx refuses its configuration (exit status: 1)"), "{error}");
    assert!(error.contains("invalid value \"maybe\" in \"sendfile\" directive"), "{error}");
}

#[test]
fn a_server_that_ends_at_once_is_quoted() {
    let rig = Rig::new();
    let Some(mut found) = server("nginx") else { return };
    found.definition.lint = None;
    found.definition.run = vec!["-x".into()];
    let error = refused(&found, &rig.site(None), &rig);
    assert!(error.contains("nginx ended: exit status: 1") && error.contains("invalid option"), "{error}");
}

#[test]
fn a_port_that_others_take_is_left_for_the_next() {
    let rig = Rig::new();
    let Some(found) = server("lighttpd") else { return };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = |ports: &[u16]| {
        let ports = ports.iter().map(|p| Ok(*p)).collect::<Vec<_>>().into_iter();
        Instance::start_on(ports, &found, &rig.site(None), &rig.place())
    };
    let instance = start(&[port, free]).unwrap();
    assert_eq!(instance.url("/"), format!("http://127.0.0.1:{free}/"));
    drop(instance);
    let error = format!("{:#}", start(&[port]).unwrap_err());
    assert!(error.contains("others took every port that was tried"), "{error}");
    assert!(error.contains("Address already in use"), "{error}");
    assert!(rig.left_over().is_empty());
}

#[test]
fn another_server_on_the_port_is_not_taken_for_ours() {
    let rig = Rig::new();
    let Some(mut found) = server("nginx") else { return };
    let text = found.definition.templates.get_mut("nginx.conf").unwrap();
    *text = text.replace("{{ token }}", "another");
    let place = LaunchContext { limit: Duration::from_millis(300), ..rig.place() };
    let error = format!("{:#}", Instance::start(&found, &rig.site(None), &place).unwrap_err());
    assert!(error.contains("was not ready within 0 s: another server answers on its port"), "{error}");
}

#[test]
fn wrong_ways_and_paths_are_refused_in_one_line() {
    let rig = Rig::new();
    let Some(found) = server("nginx") else { return };
    for (way, expected) in [
        ("gzipp", "did you mean `gzip`?"),
        ("gzip:10", "gzip has levels 1 to 9, not 10"),
        ("plain:3", "plain has no levels"),
        ("plain,bufering=on", "did you mean `buffering`?"),
        ("plain,buffering=maybe", "use on, no-temp, off"),
    ] {
        let error = refused(&found, &rig.with(None, way), &rig);
        assert!(error.contains(expected), "{way}: {error}");
    }
    let odd = rig.home.path().join("a\"; deny all; #");
    std::fs::create_dir(&odd).unwrap();
    let error = refused(&found, &Site { docroot: odd, ..rig.site(None) }, &rig);
    assert!(error.contains("no server can be configured for a path with such characters"), "{error}");
    let error = refused(&found, &Site { docroot: "/nonexistent".into(), ..rig.site(None) }, &rig);
    assert!(error.contains("cannot serve /nonexistent"), "{error}");
}

#[test]
fn a_definition_with_a_mistake_names_the_nearest_key() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("servers/mine");
    std::fs::create_dir_all(&home).unwrap();
    let load = || Definition::load(&Definitions::load(Some(folder.path())).unwrap());
    let said = |text: &str| {
        std::fs::write(home.join("server.toml"), text).unwrap();
        format!("{:#}", load().unwrap_err())
    };
    let nginx = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers/nginx/server.toml"),
    );
    let nginx = nginx.unwrap().replace("name = \"nginx\"", "name = \"mine\"");
    let error = said(&nginx.replace("package =", "pakage ="));
    assert!(
        error.contains("servers/mine/server.toml, line ") && error.contains("did you mean `package`?"),
        "{error}"
    );
    assert!(said(&nginx.replace("stop = \"QUIT\"", "stop = \"KILL\"")).contains("is none of TERM"));
    assert!(
        said(&nginx.replace("pattern = \"nginx/(\\\\S+)\"", "pattern = \"(\""))
            .contains("no regular expression")
    );
    assert!(said(&nginx).contains("the policy needs a template encoding.conf"));
    for part in [
        "encoding.conf",
        "pages.conf",
        "downloads.conf",
        "stock.conf",
        "dictionary-maps.conf",
        "dictionary.conf",
        "page-cache-zone.conf",
        "page-cache.conf",
    ] {
        std::fs::write(home.join(part), "").unwrap();
    }
    std::fs::write(home.join("server.toml"), &nginx).unwrap();
    assert!(load().unwrap().iter().any(|s| s.name == "mine"));
}

#[test]
fn a_server_that_is_killed_is_known_to_be_dead() {
    let rig = Rig::new();
    let Some(found) = server("nginx") else { return };
    let mut instance = rig.start(&found, &rig.site(None));
    assert!(instance.is_alive());
    let group = instance.group();
    group.kill();
    wait_until("the death is known", || !instance.is_alive());
    assert!(rig.left_over().is_empty() && group.processes().is_empty());
}

use super::*;
use crate::service::FolderDefinition;
use weigh_content::defs::Definitions;

fn stores() -> Vec<StoreDefinition> {
    StoreDefinition::load(&Definitions::load(None).unwrap()).unwrap()
}

#[test]
fn every_built_in_store_is_valid() {
    let names: Vec<String> = stores().into_iter().map(|store| store.name).collect();
    assert!(names.contains(&"redis".to_owned()) && names.contains(&"files".to_owned()), "{names:?}");
}

#[test]
fn urls_are_read_and_passwords_are_kept_back() {
    let stores = stores();
    let url = StoreUrl::parse("redis://me:secret@127.0.0.1:7000/2", &stores).unwrap();
    assert_eq!(url.to_string(), "redis://me@127.0.0.1:7000/2");
    assert!(!format!("{url:?}").contains("secret"));
    let address = &url.address;
    assert_eq!(
        (address.host.as_deref(), address.port, address.database),
        (Some("127.0.0.1"), Some(7000), Some(2))
    );
    assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("me"), Some("secret")));
    let socket = StoreUrl::parse("redis:///run/redis.sock", &stores).unwrap();
    assert_eq!(socket.address.unix.as_deref(), Some(std::path::Path::new("/run/redis.sock")));
    let space = StoreUrl::parse("aerospike://localhost/test", &stores).unwrap();
    assert_eq!((space.address.namespace.as_deref(), space.address.port), (Some("test"), Some(3000)));
}

#[test]
fn a_wrong_url_is_one_line_without_its_password() {
    for (text, part) in [
        ("rediss://h", "did you mean `redis`?"),
        ("redis://u:geheim@", "no host"),
        ("redis://h:0", "`0` is no port"),
        ("redis://u:geheim@h/x", "`x` is not a database's number"),
        ("aerospike://h:3000", "NAMESPACE"),
        ("aerospike:///run/a.sock", "no unix socket"),
        ("redis://", "no host and no socket"),
    ] {
        let error = format!("{:#}", StoreUrl::parse(text, &stores()).unwrap_err());
        assert!(
            error.contains(part) && !error.contains("geheim") && !error.contains('\n'),
            "{text}: {error}"
        );
    }
}

#[test]
fn another_machine_needs_a_word_of_the_user() {
    let url = StoreUrl::parse("redis://192.0.2.1:6379", &stores()).unwrap();
    let error = url.permit(&[]).unwrap_err().to_string();
    assert!(error.contains("--allow-remote 192.0.2.1"), "{error}");
    url.permit(&["192.0.2.1".into()]).unwrap();
    StoreUrl::parse("redis://127.0.0.1", &stores()).unwrap().permit(&[]).unwrap();
}

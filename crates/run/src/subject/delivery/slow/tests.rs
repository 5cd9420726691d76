use super::*;

fn read(text: &str) -> Result<SlowClients> {
    let slow: SlowClients = toml::from_str(text)?;
    slow.check().map(|()| slow)
}

#[test]
fn a_pool_has_as_many_workers_as_its_memory_holds() {
    let slow = read("clients = [8]\nmemory = 256_000_000\nscript_memory = 20_000_000").unwrap();
    assert_eq!(slow.workers(), 12);
    assert_eq!(read("clients = [0]").unwrap().workers(), 8);
    assert_eq!(read("clients = [0]\nworkers = 3").unwrap().workers(), 3);
}

#[test]
fn what_cannot_be_is_named() {
    for (text, word) in [
        ("clients = []", "clients"),
        ("clients = [513]", "513"),
        ("clients = [1]\nread_rate = 0", "read_rate"),
        ("clients = [1]\nworkers = 0", "0 workers"),
        ("clients = [1]\nmemory = 1000", "script_memory"),
        ("clients = [1]\nworkers = 2\nmemory = 1000\nscript_memory = 10", "give one"),
        ("clients = [1]\nmemory = 10\nscript_memory = 1000", "0 workers"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

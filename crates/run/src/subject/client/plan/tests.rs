use super::*;
use crate::planner::PlanOptions;
use crate::study::Study;
use crate::subject::{Planned as _, client::Clients};
use weigh_model::inventory::Inventory;
use weigh_model::plan::{Runtime, Store};
use weigh_model::protocol::{CodecDescription, SerializerDescription};

fn driver(store: &str, name: &str, missing: Option<&str>) -> DriverDescription {
    DriverDescription {
        store: store.into(),
        name: name.into(),
        about: String::new(),
        library: missing.is_none().then(|| format!("{name} 1.0")),
        missing: missing.map(str::to_owned),
        remedy: None,
        schemes: vec!["unix".into()],
        native: Vec::new(),
        extension: name != "socket",
        shared: true,
    }
}

fn codec(name: &str) -> CodecDescription {
    CodecDescription { name: name.into(), library: Some("1.0".into()), ..CodecDescription::default() }
}

fn serializer(name: &str, missing: Option<&str>) -> SerializerDescription {
    SerializerDescription {
        name: name.into(),
        library: None,
        missing: missing.map(str::to_owned),
        remedy: None,
    }
}

fn inventory() -> Inventory {
    let store = |name: &str, missing: Option<&str>| StoreEntry {
        plan: Store { name: name.into(), version: "7.0".into(), ..Store::default() },
        within: name == "apcu",
        missing: missing.map(str::to_owned),
        ..StoreEntry::default()
    };
    let entry = |name: &str, variant: Option<&str>, redis: Option<&str>| RuntimeEntry {
        plan: Runtime {
            name: variant.map_or(name.to_owned(), |v| format!("{name}+{v}")),
            version: "8.2.1".into(),
            ..Runtime::default()
        },
        drivers: vec![
            driver("redis", "phpredis", redis),
            driver("redis", "socket", None),
            driver("apcu", "apcu", None),
        ],
        codecs: vec![codec("zstd")],
        serializers: vec![serializer("serialize", None), serializer("igbinary", redis)],
        ..RuntimeEntry::default()
    };
    Inventory {
        stores: vec![store("redis", None), store("apcu", None), store("valkey", Some("no program"))],
        known_stores: ["redis", "apcu", "valkey"].map(str::to_owned).to_vec(),
        clients: vec![
            entry("php8.2", None, None),
            entry("php8.2", Some("jit"), None),
            entry("php7.4", None, Some("the extension redis is not loaded")),
        ],
        ..Inventory::default()
    }
}

fn contents(name: &str, _: Option<u64>) -> Result<Vec<Payload>> {
    Ok(vec![Payload {
        name: name.into(),
        kind: "php-value".into(),
        blob: "x".into(),
        sha256: "0".repeat(64),
        bytes: 4,
        items: vec![4],
        value: name.starts_with("value:").then(|| "serialize".into()),
        ..Payload::default()
    }])
}

/// The ids of the cells of a block, and what is left out with its reason.
/// Ids of cells, and what was excluded with its reason.
type Planned = (Vec<String>, Vec<(String, String)>);

fn planned(block: &str) -> Result<Planned> {
    let text = format!(
        "schema = 1\nname = \"x\"\ntitle = \"X\"\nquestion = \"Q?\"\nreading = \"R.\"\n[variants.jit]\nini = [\"opcache.jit=on\"]\n[[clients]]\n{block}"
    );
    let study = Study::parse(&text, "x.toml")?;
    let (inventory, ask) = (inventory(), PlanOptions::default());
    let mut draft = Draft::new(&study, &ask, &inventory);
    Clients.plan(&study, &mut draft, &mut contents)?;
    let excluded = draft.exclusions.into_iter().map(|e| (e.cell, e.reason));
    Ok((draft.cells.into_iter().map(|c| c.id).collect(), excluded.collect()))
}

#[test]
fn every_factor_is_multiplied_out_and_what_cannot_run_has_its_reason() {
    let block = "stores = [\"*\"]\nruntimes = [\"php\", \"php+jit\"]\nvalues = [\"integer\"]\nmixes = [\"9:1\", \"reads\"]\ntransactions = 10";
    let (ids, why) = planned(block).unwrap();
    for id in [
        "integer/redis/phpredis/php8.2/9:1/one*4",
        "integer/redis/socket/php8.2+jit/reads/one*4",
        "integer/apcu/apcu/php7.4/9:1/one*4",
    ] {
        assert!(ids.iter().any(|known| known == id), "{id}: {ids:?}");
    }
    assert!(!ids.iter().any(|id| id.contains("phpredis/php7.4") || id.contains("valkey")), "{ids:?}");
    for (cell, reason) in [
        ("integer/redis/phpredis/php7.4", "the extension redis is not loaded"),
        ("integer/valkey", "no program"),
    ] {
        assert!(why.contains(&(cell.into(), reason.into())), "{why:?}");
    }
}

#[test]
fn the_word_extension_means_the_first_driver_that_says_it_is_one() {
    let block = "stores = [\"redis\"]\ndrivers = [\"extension\"]\nruntimes = [\"php7.4\", \"php8.2\"]\nvalues = [\"integer\"]\ntransactions = 10";
    let (ids, why) = planned(block).unwrap();
    assert_eq!(ids, ["integer/redis/phpredis/php8.2/9:1/one*4"]);
    assert_eq!(why[0].0, "integer/redis/phpredis/php7.4", "not the one that speaks by itself: {why:?}");
}

#[test]
fn the_word_first_means_what_a_php_without_the_extension_can_use_and_says_what_it_lacks() {
    let block = "stores = [\"redis\"]\ndrivers = [\"first\"]\nruntimes = [\"php7.4\", \"php8.2\"]\nvalues = [\"integer\"]\ntransactions = 10";
    let (ids, why) = planned(block).unwrap();
    assert_eq!(ids, ["integer/redis/socket/php7.4/9:1/one*4", "integer/redis/phpredis/php8.2/9:1/one*4"]);
    let lacking =
        ("integer/redis/phpredis/php7.4".to_owned(), "the extension redis is not loaded".to_owned());
    assert_eq!(why, [lacking]);
}

#[test]
fn values_are_serialized_by_php_itself_where_none_of_the_serializers_asked_for_is_there() {
    let block = "stores = [\"redis\"]\ndrivers = [\"first\"]\nruntimes = [\"php7.4\", \"php8.2\"]\nvalues = [\"value:rows-1k\"]\n\
                 transactions = 10\nserializers = [\"igbinary\"]\ncodecs = [\"zstd\"]";
    let (ids, why) = planned(block).unwrap();
    let serializers: Vec<(bool, bool)> =
        ids.iter().map(|id| (id.contains("php7.4"), id.contains("/serialize"))).collect();
    assert_eq!(serializers, [(true, true), (false, false)], "{ids:?}");
    assert!(why.iter().any(|(cell, _)| cell.contains("php7.4/igbinary")), "{why:?}");
}

#[test]
fn links_lead_to_stores_of_their_own_alone_and_values_alone_are_encoded() {
    let block = "stores = [\"*\"]\ndrivers = [\"extension\"]\nruntimes = [\"php8.2\"]\nvalues = [\"value:rows-1k\"]\ntransactions = 10\nlinks = [\"-\", \"100mbit/20ms\"]";
    let (ids, why) = planned(block).unwrap();
    assert_eq!(
        ids,
        [
            "value:rows-1k/redis/phpredis/php8.2/9:1/one*4",
            "value:rows-1k/redis/phpredis@100mbit/20ms/php8.2/9:1/one*4",
            "value:rows-1k/apcu/apcu/php8.2/9:1/one*4"
        ]
    );
    assert!(why.iter().any(|(_, reason)| reason.contains("no link leads to it")), "{why:?}");
    let encoded = "stores = [\"redis\"]\nruntimes = [\"php8.2\"]\nvalues = [\"integer\"]\ntransactions = 10\nserializers = [\"serialize\"]\ncodecs = [\"zstd:3\"]";
    let (ids, why) = planned(encoded).unwrap();
    assert!(ids.is_empty() && why[0].1 == "integer is not a PHP value", "{why:?}");
}

#[test]
fn names_that_nothing_answers_to_are_errors_with_the_nearest() {
    for (block, part) in [
        (
            "stores = [\"redi\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\ntransactions = 10",
            "did you mean `redis`?",
        ),
        (
            "stores = [\"redis\"]\nruntimes = [\"php8.3\"]\nvalues = [\"integer\"]\ntransactions = 10",
            "no runtime `php8.3`",
        ),
        (
            "stores = [\"redis\"]\nruntimes = [\"php\"]\nvalues = [\"record:0\"]\ntransactions = 10",
            "1 to 1000 bins",
        ),
        (
            "stores = [\"redis\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\ntransactions = 0",
            "transactions = 0",
        ),
        (
            "stores = [\"redis\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\ntransactions = 1\nkeys = [\"new\"]\nmixes = [\"reads\"]",
            "cannot be read",
        ),
        (
            "stores = [\"redis\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\ntransactions = 1\nworker = [2]",
            "did you mean `workers`?",
        ),
    ] {
        let error = format!("{:#}", planned(block).err().unwrap());
        assert!(error.contains(part), "{error}");
    }
}

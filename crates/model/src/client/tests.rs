use super::*;

#[test]
fn mixes_and_keys_are_read_as_they_are_written() {
    for text in ["9:1", "1:1", "reads", "writes", "99:1"] {
        assert_eq!(Mix::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(Mix::parse("95:5").unwrap(), Mix { write_every: 20 });
    assert_eq!(Mix::parse("0:1").unwrap(), Mix { write_every: 1 });
    assert_eq!(Mix::parse("1:0").unwrap(), Mix { write_every: 0 });
    for text in ["one", "new", "uniform:1000", "zipf:1000", "zipf:5,exponent=1.2"] {
        assert_eq!(Keys::parse(text).unwrap().to_string(), text);
    }
    for text in ["3:2", "0:0", "", "9:1:1", "-1:1", "9000000000:1"] {
        assert!(Mix::parse(text).is_err(), "{text}");
    }
    for text in [
        "",
        "two",
        "one:3",
        "uniform",
        "uniform:0",
        "zipf:5,exponent=-1",
        "zipf:5,s=1",
        "uniform:5,exponent=1",
    ] {
        let error = Keys::parse(text).unwrap_err().to_string();
        assert!(error.contains(&format!("`{text}`")), "{error}");
    }
}

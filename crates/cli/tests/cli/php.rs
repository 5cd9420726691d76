//! Inside PHP.

use serde_json::Value;

use crate::codec::{ids, text, value};
use crate::lab::{Lab, has_php, study};

#[test]
fn a_file_is_measured_natively_and_inside_php() {
    needs!(has_php());
    let lab = Lab::new();
    lab.write("page.html", text(20_000));
    let args = ["codec", "page.html", "--php", "php", "--codecs", "zlib:6,memlevel=9,gzdeflate:6,identity"];
    let found = lab.told(&[&args[..], &["--budget", "20", "--json"]].concat());
    let found_ids = ids(&found);
    assert_eq!(found_ids.len(), 4, "{found_ids:?}");
    let cell = |end: &str| -> &Value {
        let all = found["rows"].as_array().unwrap();
        all.iter().find(|c| c["cell"]["id"].as_str().unwrap().ends_with(end)).unwrap()
    };
    // PHP's zlib uses memLevel 9; the containers differ by 12 bytes.
    let (native, php) = (cell("/native/-/zlib:6,memlevel=9"), cell("/-/gzdeflate:6"));
    let bytes = |c: &Value| value(c, "encoded-bytes") as i64;
    assert_eq!(bytes(native) - bytes(php), 12 + 6, "gzip's header and trailer");
    assert_eq!(php["cell"]["subject"], "php-codec");
    assert!(php["facts"]["independent decoder"].is_string());
    assert_eq!(found["runtimes"].as_array().unwrap().len(), 2);
}

#[test]
fn a_value_is_serialized_and_compressed_together_and_apart() {
    needs!(has_php());
    let lab = Lab::new();
    let block = "[[cells]]
content = [\"value:rows-4k\"]
runtimes = [\"php\"]
serializers = [\"serialize\"]
\
                 codecs = [\"identity\", \"gzdeflate:6\"]
";
    lab.write("values.toml", study("values", [30, 3, 7], block));
    let found = lab.told(&["run", "values.toml", "--php", "php", "--out", "run", "--json"]);
    let cells = found["rows"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        for phase in ["encode", "decode", "compress", "decompress"] {
            assert!(value(cell, phase) > 0.0, "{phase}: {cell}");
        }
        assert!(value(cell, "serialize") > 0.0, "identity says what the serializer costs: {cell}");
    }
    assert_eq!(found["payloads"][0]["value"], "serialize");
    let caveats = found["caveats"].as_array().unwrap();
    assert!(caveats.iter().any(|c| c["code"] == "synthetic"), "the cache is empty: {caveats:?}");
}

#[test]
fn a_codec_of_php_needs_a_php() {
    let lab = Lab::new();
    lab.write("a.css", text(100));
    let line = lab.refused(&["codec", "a.css", "--codecs", "gzdeflate"]);
    assert_eq!(line, "`gzdeflate` is a codec inside PHP: name a PHP to measure it in, such as --php php");
}

#[test]
fn what_a_php_lacks_is_a_row_with_a_reason() {
    needs!(has_php());
    let lab = Lab::new();
    lab.write("php-n", "#!/bin/sh\nexec php -n \"$@\"\n");
    assert!(lab.command("chmod").args(["+x", "php-n"]).output().unwrap().status.success());
    lab.write("a.css", text(1_000));
    let args = ["codec", "a.css", "--php", "./php-n", "--codecs", "identity,lz4", "--budget", "20", "--json"];
    let found = lab.told(&args);
    assert_eq!(ids(&found).len(), 3, "identity twice, lz4 natively");
    let exclusions = found["exclusions"].as_array().unwrap();
    let lz4 = exclusions.iter().find(|e| e["cell"].as_str().unwrap().ends_with("/lz4")).unwrap();
    assert!(lz4["reason"].as_str().unwrap().contains("FFI"), "{lz4}");
    assert!(lz4["remedy"].is_string(), "{lz4}");
}

//! Codecs that misbehave: each is a row, the rest has its numbers, and the exit code tells.

use serde_json::Value;

use crate::lab::{Lab, Ran, SMALL, has_php};

/// A PHP codec whose decoder does this with `$encoded`.
pub fn codec(body: &str) -> String {
    format!(
        "<?php
return array('format' => 'mine', 'bindings' => array('library' => array(
    'missing' => function () {{ return null; }},
    'library' => function () {{ return 'mine 1.0'; }},
    'coder' => function () {{
        return new Weighbridge\\Coder(
            function ($input) {{ return $input; }},
            function ($encoded, $length) {{ {body} }}
        );
    }},
)));
"
    )
}

/// A study of these codecs in PHP, and what became of it.
fn measured(lab: &Lab, codecs: &[(&str, &str)]) -> Ran {
    for (name, body) in codecs {
        let content = if body.starts_with("<?php") { (*body).to_owned() } else { codec(body) };
        lab.write(&format!("defs/php/codecs/{name}.php"), content);
    }
    let names: Vec<String> = codecs.iter().map(|(name, _)| format!(", \"{name}\"")).collect();
    let study = SMALL.replace("[\"native\"]", "[\"php\"]");
    let from = study.find("codecs = ").unwrap();
    lab.write("mine.toml", format!("{}codecs = [\"gzdeflate:6\"{}]\n", &study[..from], names.concat()));
    lab.run(&["--defs", "defs", "run", "mine.toml", "--php", "php", "--out", "run", "--json"])
}

fn fault<'a>(found: &'a Value, codec: &str) -> &'a Value {
    let all = found["faults"].as_array().unwrap();
    let fault = all.iter().find(|f| f["cell"].as_str().unwrap().ends_with(&format!("/{codec}")));
    &fault.unwrap_or_else(|| panic!("{codec} has no fault: {all:?}"))["fault"]
}

#[test]
fn a_wrong_answer_is_a_fault_and_never_a_number() {
    needs!(has_php());
    let lab = Lab::new();
    let ran = measured(
        &lab,
        &[
            ("wrong", "return strrev($encoded);"),
            ("shorter", "return substr($encoded, 1);"),
            ("throws", "throw new Exception(\"no\\nway \\033[31m\");"),
            ("errors", "return no_such_function($encoded);"),
            ("number", "return 7;"),
            ("prints", "fwrite(STDOUT, \"garbage\\n\"); return $encoded;"),
            ("exits", "exit(3);"),
        ],
    );
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    for (codec, kind, said) in [
        ("wrong", "round-trip", "other bytes, first at offset"),
        ("shorter", "round-trip", ""),
        ("throws", "codec", "no way"),
        ("errors", "codec", "no_such_function"),
        ("number", "round-trip", ""),
        ("prints", "garbage", "`garbage`"),
        ("exits", "crash", "exit status: 3"),
    ] {
        let fault = fault(&found, codec);
        assert_eq!(fault["kind"], kind, "{codec}: {fault}");
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains(said) && !message.contains('\n'), "{codec}: {message}");
    }
    let cells = found["rows"].as_array().unwrap();
    assert_eq!(cells.len(), 1, "only the sound codec has a number");
    assert_eq!(cells[0]["cell"]["setting"]["codec"], "gzdeflate");
    assert_eq!(cells[0]["values"]["encode"]["rounds"], 3, "it was not disturbed");

    let again = lab.run(&["runs", "show", "run"]);
    assert_eq!(again.code, 0);
    assert!(again.stdout.contains("WRONG BYTES") && !again.stdout.contains('\u{1b}'), "{}", again.stdout);
    assert_eq!(
        lab.run(&["--defs", "defs", "run", "--resume", "run"]).code,
        3,
        "it is complete, and has failures"
    );
}

#[test]
fn a_codec_that_lies_about_its_format_is_caught_by_the_independent_decoder() {
    needs!(has_php());
    let lab = Lab::new();
    // Its own decoder reads it well; nobody else would.
    let liar = codec("return strrev($encoded);").replace("return $input;", "return strrev($input);");
    let ran = measured(&lab, &[("liar", &liar.replace("'mine'", "'gzip'"))]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(fault(&found, "liar")["kind"], "independent");
}

#[test]
fn a_codec_that_cannot_be_loaded_is_left_out_with_the_reason() {
    needs!(has_php());
    let lab = Lab::new();
    let ran = measured(&lab, &[("torn", "<?php return array("), ("empty", "<?php return array();")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    for name in ["torn", "empty"] {
        let all = found["exclusions"].as_array().unwrap();
        let one = all.iter().find(|e| e["cell"].as_str().unwrap().ends_with(&format!("/{name}"))).unwrap();
        assert!(one["reason"].as_str().unwrap().contains("cannot be used"), "{one}");
        assert_eq!(one["remedy"], format!("mend codecs/{name}.php"));
    }
}

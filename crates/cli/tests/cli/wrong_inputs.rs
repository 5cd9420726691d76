//! Wrong input of every verb in one table: what was typed, what is said, and the exit code.

use crate::lab::Lab;

/// What is typed, a line each. Quotes are those of a shell.
const TYPED: &str = r#"
weigh cdoec page.html
weigh codec
weigh codec nowhere.html
weigh codec page.html --bugdet 3
weigh codec page.html --budget -5
weigh codec page.html --budget 0
weigh codec page.html --budget nan
weigh codec page.html --budget '5 parsecs'
weigh codec page.html --block 1
weigh codec page.html --block 1KX
weigh codec page.html --seed abc
weigh codec page.html --codecs zstdd
weigh codec page.html --codecs zstd brotli
weigh codec page.html --sets web cache
weigh codec page.html --levels 1..99
weigh codec page.html --levels many
weigh codec page.html --php /no/such/php
weigh codec page.html --out page.html
weigh codec --content page.html
weigh codec page.html --codecs gzip
weigh gzip
weigh version
weigh list
weigh runs show latest
weigh check --jsno
weigh check --php /no/such/php
weigh site --docrot .
weigh site --docroot nowhere
weigh site --docroot . --name 'My Shop'
weigh site --url http://192.0.2.1/
weigh site --store reddis://127.0.0.1
weigh site --log nowhere.log
weigh site --docroot . --values /etc
weigh advise nowhere.toml
weigh prove
weigh prove nowhere.toml
weigh site --server-config nowhere.conf
weigh run --dry-run cache-level
weigh run --dry-run page.html
weigh run --dry-run cache-levels --only ''
weigh run --dry-run cache-levels --only nonsense
weigh run --dry-run page-output --content page.html other.html
weigh run --dry-run cache-client --store redis://127.0.0.1:1/0
weigh run --dry-run cache-client --store reddis
weigh run --dry-run text-assets --url http://127.0.0.1:1/ --content page.html
weigh run nowhere.toml
weigh run text-assets page-output --out run
weigh run text-assets --content page.html other.html
weigh run text-assets --content nowhere.html
weigh run text-assets --docroot .
weigh run text-assets --out used
weigh run text-assets --profile ''
weigh run --resume nowhere
weigh run --resume used
weigh run --url http://127.0.0.1:1/
weigh --defs nowhere run text-assets
weigh runs show nowhere
weigh runs show used
weigh runs show latest
weigh runs show used --summary
weigh runs show used -f pdf
weigh runs show used --json --full
weigh runs --since yesterday
weigh runs --limit 0
weigh runs --in nowhere
weigh runs trend encode
weigh runs trend encode --only
weigh runs prune
weigh runs prune --older-than 90
weigh runs prune --older-than 90d --yes --dry-run
weigh runs export
weigh runs export used
weigh runs open --in nowhere
weigh runs open --in used
weigh runs show nowhere --in used
weigh compare
weigh compare latest
weigh compare nowhere used
weigh compare a b --baseline main
weigh compare --baseline main
weigh compare --baseline ../../etc
weigh compare a b --gate cpu
weigh compare a b --gate 'cpu<five'
weigh compare a b --gates page.html
weigh compare a b --gates nowhere.toml
weigh compare a b --junit nowhere/x.xml
weigh compare a b --for 10m
weigh compare --paired text-assets
weigh compare --paired text-assets --php /no/such/php --php php
weigh compare --paired http://127.0.0.1:1/ --for 1s
weigh compare --save
weigh compare --save ../x
weigh compare --save main nowhere
weigh compare --forget main
weigh load http://127.0.0.1:1/ --gate 'p99<5%'
weigh load http://127.0.0.1:1/ --gate 'p101<5ms'
weigh load http://127.0.0.1:1/ --gate 'cpu<5ms'
weigh load http://127.0.0.1:1/ --junit x.xml
weigh load
weigh load 127.0.0.1:9
weigh load localhost
weigh load http://127.0.0.1:1/ -t 2
weigh load http://127.0.0.1:1/ -k
weigh load http://127.0.0.1:1/ -d -3s
weigh load http://127.0.0.1:1/ -c 0
weigh load http://127.0.0.1:1/ --block 1s
weigh load http://127.0.0.1:1/ --read-rate 50KB
weigh load http://127.0.0.1:1/ --csv nowhere/s.csv
weigh load http://127.0.0.1:1/ --csv s.csv --vs http://127.0.0.1:2/
weigh load http://127.0.0.1:1/ --find-capacity 50ms
weigh load http://192.0.2.1/
weigh load http://127.0.0.1:1/ -n 1
weigh profile
weigh profile x.php
weigh profile nowhere.out
weigh profile page.html
weigh profile --function wrok stacks
weigh profile --function nope stacks
weigh profile --function '' stacks
weigh profile --limit -1 -- script.php
weigh profile --out used stacks
weigh profile -- nowhere.php
weigh lab corpus lits
weigh lab corpus fetch nosuch
weigh lab corpus fetch jquery
weigh lab link measure 100mbit
weigh lab link measure cabel
weigh lab link run cable echo hi
weigh lab link run cable -- /no/such/program
weigh lab link run cable --far '' -- true
weigh lab runtime add trixie
weigh lab runtime add debain:trixie
weigh lab runtime remove php9.9
"#;

#[test]
fn every_wrong_input_is_one_line_that_says_what_to_do() {
    let lab = Lab::new();
    for page in ["page.html", "other.html"] {
        lab.write(page, "<html><body>Weighbridge</body></html>\n".repeat(100));
    }
    lab.write("stacks", "main;work 3\nmain;rest 4\n");
    lab.write("script.php", "<?php echo 1;");
    lab.write("used/file", "x");
    let mut table = String::new();
    let mut count = 0;
    for line in TYPED.lines().filter(|line| !line.is_empty()) {
        let words = shell_words::split(line).unwrap();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let ran = lab.run(&words);
        let said = ran.stderr.replace(&lab.work().display().to_string(), "[HERE]");
        assert_eq!(ran.stdout, "", "{line}");
        assert!((1..=2).contains(&said.lines().count()), "{line}: {said}");
        assert_eq!(ran.code, 2, "{line}: {said}");
        assert!(said.lines().all(|line| line.chars().count() < 400), "{line}: {said}");
        table.push_str(&format!("$ {line}\n{said}→ {}\n\n", ran.code));
        count += 1;
    }
    assert!(count >= 40, "{count}");
    assert!(!lab.path("weigh-runs").exists(), "a refusal leaves no run behind");
    assert_eq!(lab.left_over(), 0);
    insta::assert_snapshot!(table);
}

//! Wrong input of every verb in one table: what was typed, what is said, and the exit code.

use crate::lab::Lab;
use crate::page::checkout;

/// What is typed, a line each. Quotes are those of a shell.
const TYPED: &str = include_str!("wrong_inputs.txt");

#[test]
fn every_wrong_input_is_one_line_that_says_what_to_do() {
    let lab = Lab::new();
    for page in ["page.html", "other.html"] {
        lab.write(page, "<html><body>Weighbridge</body></html>\n".repeat(100));
    }
    lab.write("stacks", "main;work 3\nmain;rest 4\n");
    lab.write("script.php", "<?php echo 1;");
    lab.write("used/file", "x");
    let stored = checkout().join("docs/runs/page-output");
    for file in ["run.json", "plan.json", "records.ndjson"] {
        lab.write(&format!("stored/{file}"), std::fs::read(stored.join(file)).unwrap());
    }
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

//! `weigh lab link`: what it lists, measures, runs and refuses.

use std::process::Command;

use serde_json::Value;
use weigh_model::link::Way;

use crate::lab::{Lab, WEIGH};

#[test]
fn profiles_are_listed_with_their_sources_and_laid_over() {
    let lab = Lab::new();
    let bare = lab.fine(&["lab", "link"]);
    for word in ["cable", "data-centre", "cross-zone", "WebPageTest", "not limited", "assumed"] {
        assert!(bare.contains(word), "{word}: {bare}");
    }
    assert_eq!(bare, lab.fine(&["lab", "link", "list"]));
    lab.write(
        "defs/links/mine.toml",
        "schema = 1\ndown_kbps = 77\nrtt_ms = 3\nsource = \"measured at home\"\n",
    );
    let listed = lab.told(&["--defs", "defs", "lab", "link", "list", "--json"]);
    let mine = listed["links"].as_array().unwrap().iter().find(|row| row["asked"]["name"] == "mine").unwrap();
    assert_eq!(mine["asked"]["down_kbps"], 77.0);
    assert_eq!((&mine["asked"]["up_kbps"], &mine["measured"]), (&Value::Null, &Value::Null));
}

#[test]
fn what_is_no_link_is_refused_before_anything_is_measured() {
    let lab = Lab::new();
    for (args, said) in [
        (&["lab", "link", "measure", "100mbit/20ms", "cabel"][..], "did you mean `cable`?"),
        (&["lab", "link", "measure", "100mbit/20"], "such as 100mbit/20ms"),
        (&["lab", "link", "measure", "1mbit/20s"], "between 0 and 10 s"),
        (&["lab", "link", "measure", "cable", "--method", "wire"], "netem, tun, rate, proxy"),
        (&["lab", "link", "measure"], "<LINK>"),
        (&["lab", "link", "run", "cable"], "<COMMAND>"),
        (&["lab", "link", "run", "loopback", "--far", "'", "--", "true"], "--far"),
        (&["lab", "link", "run", "cable", "--method", "proxy", "--", "true"], "between two networks"),
    ] {
        let line = lab.refused(args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
}

#[test]
fn asked_stands_beside_measured() {
    let lab = Lab::new();
    // Whether it is as asked is the machine's affair: not a test's.
    let ran = lab.run(&["lab", "link", "measure", "60mbit/2ms"]);
    assert!(ran.code == 0 || ran.code == 3, "{}", ran.stderr);
    for word in ["round trip", "60 Mbit/s", "of which TCP carries", "requested", "measured"] {
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
    }
}

#[test]
fn a_command_runs_at_the_near_end_with_a_server_at_the_far_end() {
    if super::link("60mbit/1ms", Way::Tun).is_none() {
        return;
    }
    let lab = Lab::new();
    let ran = lab.done(&[
        "lab",
        "link",
        "run",
        "60mbit/1ms",
        "--method",
        "tun",
        "--far",
        "ip -o link",
        "--",
        "printenv",
        "WEIGH_LINK_PEER",
    ]);
    assert!(ran.stdout.lines().any(|line| line == "10.153.0.2"), "{}", ran.stdout);
    assert!(ran.stderr.contains("round trip"), "{}", ran.stderr);
    let ran = lab.run(&["lab", "link", "run", "60mbit/1ms", "--method", "tun", "--", "ip", "-o", "address"]);
    assert!(ran.stdout.contains("10.153.0.1") && !ran.stdout.contains("eth0"), "{}", ran.stdout);
    // What is at the far end is asked to end: a server takes its workers with it.
    let far = "sh -c 'trap \"echo asked; exit\" TERM; touch ready; while :; do sleep 0.02; done'";
    let near = ["--", "sh", "-c", "until [ -e ready ]; do sleep 0.02; done"];
    let ran = lab.done(&[&["lab", "link", "run", "loopback", "--far", far], &near[..]].concat());
    assert_eq!(ran.stdout, "asked\n");
    assert_eq!(lab.run(&["lab", "link", "run", "loopback", "--", "false"]).code, 1);
    assert_eq!(lab.run(&["lab", "link", "run", "loopback", "--", "/no/such/program"]).code, 2);
}

/// Measures a link as a user without privileges; none if no other user is available. In a chroot the kernel gives nobody a user namespace.
fn as_an_ordinary_user(link: &str, in_chroot: bool) -> Option<std::process::Output> {
    let there = tempfile::tempdir().unwrap();
    let start = match in_chroot {
        true => "mount --rbind / \"$0\" && exec chroot --userspec=65534:65534 --groups= \"$0\" \"$@\"",
        false => "exec setpriv --reuid=65534 --regid=65534 --clear-groups -- \"$@\"",
    };
    let run = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", start])
            .arg(there.path())
            .arg(WEIGH)
            .args(args)
            .env("HOME", "/nowhere");
        command.output().unwrap()
    };
    if !run(&["--version"]).status.success() {
        println!("skipped: this program cannot be started as another user here");
        return None;
    }
    Some(run(&["lab", "link", "measure", link, "--json"]))
}

#[test]
fn an_ordinary_user_has_networks_where_the_machine_lets_users_have_them() {
    let Some(ran) = as_an_ordinary_user("60mbit/2ms", false) else { return };
    let written: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let measured = &written["links"][0]["measured"];
    if measured["way"] == "proxy"
        && Command::new("unshare").args(["-U", "true"]).status().is_ok_and(|s| !s.success())
    {
        println!("skipped: this machine has no user namespaces");
        return;
    }
    assert_ne!(measured["way"], "proxy", "{measured}");
}

#[test]
fn without_privileges_a_proxy_stands_in_and_says_so() {
    let Some(ran) = as_an_ordinary_user("60mbit/2ms/1%", true) else { return };
    let written: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let row = &written["links"][0];
    assert_eq!(row["measured"]["way"], "proxy");
    let passed: Vec<&str> =
        row["measured"]["passed_over"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    assert_eq!(passed.len(), 3, "{passed:?}");
    assert!(passed.iter().all(|why| why.contains("takes root")), "{passed:?}");
    assert!(row["off"].as_array().unwrap().iter().any(|why| why == "no packet is lost"), "{row}");
    assert_eq!(ran.status.code(), Some(3));
}

//! `weigh check`.

use std::path::Path;

use crate::lab::{Lab, Ran, has_php};

#[test]
fn it_says_what_can_be_measured_and_what_mends_the_rest() {
    let lab = Lab::new();
    let text = lab.fine(&["check"]);
    for word in [
        "machine",
        "CPU time interrupts",
        "native",
        "one file per key",
        "zlib-ng",
        "libdeflate",
        "zstd",
        "levels -7 to 22",
        "missing",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(text.contains("corpus 0 of "), "the cache of this test is empty: {text}");
    let mend = text.lines().find_map(|l| l.strip_prefix("install it: ")).expect("something is missing");
    assert!(mend.ends_with("weigh lab corpus fetch"), "{mend}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn as_json_it_has_every_codec_with_a_version_or_a_reason() {
    let lab = Lab::new();
    let found = lab.told(&["check", "--json"]);
    assert_eq!(found["schema"], 1);
    assert!(found["machine"]["cores"].as_u64().unwrap() > 0);
    for option in ["irq_time_accounting", "paravirt_time_accounting"] {
        assert!(found["machine"][option].is_boolean() || found["machine"][option].is_null(), "{option}");
    }
    for runtime in found["runtimes"].as_array().unwrap() {
        for codec in runtime["codecs"].as_array().unwrap() {
            let there = codec["missing"].is_null();
            assert_eq!(there, codec["library"].is_string(), "{codec}");
            assert!(there || codec["remedy"].is_string(), "{codec}");
        }
    }
}

#[test]
fn a_php_without_extensions_is_no_lesser_php() {
    needs!(has_php());
    let lab = Lab::new();
    let found = lab.told(&["check", "--json", "--php", "php"]);
    let runtimes = found["runtimes"].as_array().unwrap();
    assert_eq!(runtimes.len(), 2, "native and the one that was named");
    assert!(runtimes[1]["name"].as_str().unwrap().starts_with("php"));
    let names: Vec<&str> =
        runtimes[1]["codecs"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"gzdeflate") && names.contains(&"symfony-deflate"), "{names:?}");
}

#[test]
fn each_php_is_shown_with_the_php_fpm_beside_it() {
    needs!(has_php());
    let lab = Lab::new();
    let folders = std::env::var_os("PATH").unwrap();
    let php =
        std::env::split_paths(&folders).map(|folder| folder.join("php")).find(|php| php.is_file()).unwrap();
    let home = lab.path("php");
    for folder in ["bin", "sbin"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    // A build of one's own: a program that is no link, with its PHP-FPM in the folder beside.
    let own = home.join("bin/php");
    executable(&own, &format!("#!/bin/sh\nexec '{}' \"$@\"\n", php.display()));
    let own = own.to_str().unwrap();
    let without = lab.told(&["check", "--json", "--php", own]);
    assert!(without["runtimes"][1]["fpm"].is_null(), "{without}");
    let text = lab.fine(&["check", "--php", own]);
    assert!(text.contains(": PHP-FPM: no PHP-FPM of version "), "{text}");

    let fpm = home.join("sbin/php-fpm");
    executable(&fpm, "#!/bin/sh\n");
    let found = lab.told(&["check", "--json", "--php", own]);
    assert!(found["runtimes"][0]["fpm"].is_null(), "native");
    assert_eq!(found["runtimes"][1]["fpm"].as_str(), fpm.to_str());
    let text = lab.fine(&["check", "--php", own]);
    assert!(text.lines().any(|l| l.contains("PHP-FPM") && l.contains(fpm.to_str().unwrap())), "{text}");
}

fn executable(path: &Path, script: &str) {
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn a_php_that_is_none_is_refused_when_named_and_left_out_when_found() {
    let lab = Lab::new();
    let line = lab.refused(&["check", "--php", "no-such-php"]);
    assert!(line.contains("--php no-such-php: no such program"), "{line}");
    let line = lab.refused(&["check", "--php", "/bin/cat"]);
    assert!(line.contains("--php /bin/cat") && line.contains("given up after 3 starts"), "{line}");

    std::os::unix::fs::symlink("/bin/cat", lab.path("php9.9")).unwrap();
    let text = String::from_utf8(
        lab.weigh(&["check"]).env("PATH", lab.work()).assert().success().get_output().stdout.clone(),
    );
    let text = text.unwrap();
    assert!(text.contains("php9.9 cannot be used: "), "{text}");
    assert!(text.contains("php: PHP: no PHP binary on PATH"), "{text}");
}

#[test]
fn every_server_is_shown_with_its_ways_or_with_what_brings_them() {
    let lab = Lab::new();
    let found = lab.told(&["check", "--json"]);
    let servers = found["servers"].as_array().unwrap();
    let names: Vec<&str> = servers.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["apache", "caddy", "lighttpd", "nginx", "php-builtin"]);
    let text = lab.fine(&["check"]);
    for server in servers {
        let name = server["name"].as_str().unwrap();
        assert!(server["version"].is_string() || server["missing"].is_string(), "{server}");
        assert!(
            text.contains(&format!("\n{name} ")) || text.contains(&format!("{name}: server: ")),
            "{text}"
        );
        for way in server["ways"].as_array().unwrap() {
            assert_eq!(way["missing"].is_null(), way["library"].is_string(), "{name}: {way}");
            assert!(way["missing"].is_null() || way["remedy"].is_string(), "{name}: {way}");
        }
    }
}

#[test]
fn a_server_of_the_users_own_is_shown_with_the_others() {
    let lab = Lab::new();
    lab.write(
        "defs/servers/mine/server.toml",
        "schema = 1\nname = \"mine\"\nabout = \"x\"\nprograms = [\"no-such-server\"]\npackage = \"mine-server\"\n\
         version = { args = [], pattern = \"(.*)\" }\nrun = []\nstop = \"TERM\"\nready = \"/\"\nphp = \"fpm\"\nways = []\n",
    );
    let text = lab.fine(&["--defs", "defs", "check"]);
    assert!(text.contains("mine: server: no program no-such-server  → apt install mine-server"), "{text}");
    lab.write("defs/servers/mine/server.toml", "schema = 1\nnme = \"mine\"\n");
    let line = lab.refused(&["--defs", "defs", "check"]);
    assert_eq!(line, "servers/mine/server.toml, line 2: unknown key `nme`; did you mean `name`?");
}

/// A room of stand-ins for apt: what it was asked is in `asked`, and it has every package but those of Valkey.
fn stand_ins(lab: &Lab) -> String {
    let (asked, policy) = (lab.path("asked"), lab.path("policy-rc.d"));
    let (asked, policy) = (asked.display(), policy.display());
    std::fs::create_dir_all(lab.path("bin")).unwrap();
    executable(
        &lab.path("bin/apt-get"),
        &format!("#!/bin/sh\necho \"$*\" >>{asked}\ncat {policy} >{asked}-policy\numask >{asked}-mask\n"),
    );
    executable(&lab.path("bin/apt-cache"), "#!/bin/sh\ncase $3 in valkey*) exit 100 ;; esac\n");
    executable(&lab.path("bin/systemctl"), "#!/bin/sh\n");
    // The shell's own tools, and no PHP, server or store.
    for tool in ["sh", "id", "cut", "tee", "chmod", "rm", "grep", "cat"] {
        let folders = ["/usr/bin", "/bin"];
        if let Some(found) = folders.map(|f| Path::new(f).join(tool)).into_iter().find(|p| p.is_file()) {
            std::os::unix::fs::symlink(found, lab.path("bin").join(tool)).unwrap();
        }
    }
    lab.path("bin").display().to_string()
}

fn fixed(lab: &Lab, path: &str, more: &[&str]) -> Ran {
    let mut command = lab.weigh(&[&["check", "--fix"], more].concat());
    command.env("PATH", path).env("SETUP_POLICY", lab.path("policy-rc.d"));
    Ran::of(command.output().unwrap())
}

#[test]
fn what_is_missing_is_installed_after_asking_and_no_service_starts() {
    let lab = Lab::new();
    let path = stand_ins(&lab);
    if !rustix::process::geteuid().is_root() {
        let line = fixed(&lab, &path, &["--yes"]).refusal();
        assert!(line.ends_with("type: sudo weigh check --fix"), "{line}");
        return;
    }
    let unasked = fixed(&lab, &path, &[]);
    assert_eq!(unasked.code, 2, "nobody can be asked: {}", unasked.stderr);
    assert!(unasked.stderr.contains("weigh check --fix --yes"), "{}", unasked.stderr);
    assert!(!lab.path("asked").exists(), "nothing is installed unasked");

    let ran = fixed(&lab, &path, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown = ran.stdout.lines().next().unwrap();
    let asked = lab.read("asked");
    assert_eq!(shown, format!("apt-get {}", asked.trim_end()), "the command is shown as it is run");
    let words: Vec<&str> = asked.split_whitespace().collect();
    assert!(words.starts_with(&["install", "-y", "-q", "--no-remove", "--no-install-recommends"]), "{asked}");
    assert!(words.contains(&"redis-server") && words.contains(&"php-cli"), "{asked}");
    assert!(!asked.contains("valkey"), "{asked}");
    assert!(ran.stderr.contains("Not in this system's package sources: valkey"), "{}", ran.stderr);
    assert!(lab.read("asked-policy").contains("exit 101"), "services may not start meanwhile");
    assert_eq!(lab.read("asked-mask").trim(), "0022", "what packages make is for everybody");
    assert!(!lab.path("policy-rc.d").exists() && lab.left_over() == 0);
}

#[test]
fn without_apt_the_packages_are_named_and_nothing_is_tried() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("bin")).unwrap();
    let line = fixed(&lab, lab.path("bin").to_str().unwrap(), &["--yes"]).refusal();
    assert!(line.contains("no apt-get here") && line.contains("redis-server"), "{line}");
    assert!(lab.refused(&["check", "--yes"]).contains("--fix"));
}

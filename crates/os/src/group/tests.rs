//! The meter against processes whose cost is known.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Burns CPU time of this very process's child until its own clock says enough.
const BURN: &str = "$e = hrtime(true) * 0; while ($e < 300000) { $u = getrusage(); $e = $u['ru_utime.tv_sec'] * 1000000 + $u['ru_utime.tv_usec'] + $u['ru_stime.tv_sec'] * 1000000 + $u['ru_stime.tv_usec']; } echo $e, \"\\n\"; fgets(STDIN);";

#[test]
fn a_child_that_burns_a_known_time_is_metered_within_three_percent() {
    let spawned =
        Command::new("php").args(["-n", "-r", BURN]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "there is no php here: apt install php-cli");
        println!("skipped: there is no php here: apt install php-cli");
        return;
    };
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    let said = line.trim().parse::<u64>().unwrap() * 1000;
    let metered = cpu_ns(child.id()).unwrap();
    assert!(metered >= said && metered < said + said * 3 / 100, "{metered} of {said}");
    let mut usage = Usage { read_bytes: Some(0), write_bytes: Some(0), ..Usage::default() };
    usage.add(child.id());
    assert_eq!(usage.user_ns + usage.system_ns, usage.cpu_ns);
    assert_eq!(usage.processes, 1);
    assert!(proc::pss_bytes(child.id()).unwrap() > 1 << 20);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(cpu_ns(child.id()), None);
}

#[test]
fn a_group_is_everything_below_and_not_the_root_itself() {
    let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
    let group = Group::below(child.id());
    let patience = Instant::now() + Duration::from_secs(20);
    while group.processes().len() != 1 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    let found = group.processes();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_ne!(found[0], child.id());
    let whole = Group::of(child.id());
    assert_eq!(whole.processes().len(), 2);
    assert_eq!(whole.usage().processes, 2);
    group.kill();
    child.wait().unwrap();
    assert!(group.processes().is_empty());
}

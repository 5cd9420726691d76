//! The meter of a group against PHP pages that burn a known CPU time.

use crate::client::get;
use crate::fixture::{Rig, server};

#[test]
fn php_and_the_server_are_metered_apart_and_php_within_three_percent() {
    let rig = Rig::new();
    let (Some(found), Some(pool)) = (server("nginx"), rig.pool(2)) else { return };
    let instance = rig.start(&found, &rig.site(Some(&pool)));
    get(&instance.url("/page.php?burn=1000"), "identity");
    let before = (pool.group().usage(), instance.group().usage());
    let mut burnt = 0;
    for _ in 0..4 {
        let answer = get(&instance.url("/page.php?burn=250000"), "identity");
        burnt += std::str::from_utf8(answer.body()).unwrap().parse::<u64>().unwrap() * 1000;
    }
    let php = pool.group().usage().since(&before.0);
    let server = instance.group().usage().since(&before.1);
    let off = (php.cpu_ns as f64 / burnt as f64 - 1.0) * 100.0;
    println!("burnt {burnt} ns, metered {} ns ({off:+.2}%), server {} ns", php.cpu_ns, server.cpu_ns);
    assert!(off.abs() < 3.0, "{off:+.2}% off");
    assert!(server.cpu_ns > 0 && server.cpu_ns < burnt / 20, "{server:?}");
    assert_eq!(php.user_ns + php.system_ns, php.cpu_ns);
    assert_eq!(php.processes, 3, "a master and two workers");
    assert!(pool.group().pss_bytes().unwrap() > 1 << 20);
    assert!(php.voluntary > 0);
}

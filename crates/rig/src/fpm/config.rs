//! The configuration of a pool, from its spec.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::{Mode, PoolSpec};
use weigh_os::template;

/// Where web servers connect to, below the pool's directory.
pub const SOCKET: &str = "php.sock";
/// Where the status is asked for, below the pool's directory.
pub const STATUS_SOCKET: &str = "status.sock";
/// The path that is answered with the status.
pub const STATUS_PATH: &str = "/fpm-status";
/// The configuration, below the pool's directory.
pub const FILE: &str = "fpm.conf";
const TEMPLATE: &str = include_str!("fpm.conf");
/// The part that says how many workers there are.
const POOL: &str = include_str!("pool.conf");

/// Settings under the spec's own: a profiler or debugger would be measured in place of the script, and messages go to stderr, where
/// they are kept, never into a response.
const SETTINGS: [(&str, &str); 7] = [
    ("xdebug.mode", "off"),
    ("pcov.enabled", "0"),
    ("display_errors", "0"),
    ("log_errors", "1"),
    ("html_errors", "0"),
    ("auto_prepend_file", ""),
    ("auto_append_file", ""),
];

/// Whether the status has a socket of its own: from PHP 8.0 on.
pub fn has_status_socket(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 8)
}

/// What the template is given.
#[derive(Serialize)]
struct Values {
    socket: String,
    status_socket: Option<String>,
    status_path: &'static str,
    mode: Mode,
    workers: u32,
    root: bool,
}

/// The text of `fpm.conf`.
pub fn render(spec: &PoolSpec, dir: &Path, root: bool) -> Result<String> {
    let dir = template::path_text(dir)?;
    let values = Values {
        socket: format!("{dir}/{SOCKET}"),
        status_socket: has_status_socket(&spec.version).then(|| format!("{dir}/{STATUS_SOCKET}")),
        status_path: STATUS_PATH,
        mode: spec.mode,
        workers: spec.workers,
        root,
    };
    template::render_with(FILE, TEMPLATE, &[("pool.conf", POOL)], values)
}

/// The command line: the user's own ini stays in force, the spec's settings win over it. Options that not every PHP-FPM has are given
/// where `help`, what this one says to `-h`, names them: PHP 5.5 refuses to start with `--force-stderr`.
pub fn command(spec: &PoolSpec, dir: &Path, root: bool, help: &str) -> Vec<OsString> {
    let mut command = spec.program.clone();
    command.extend(["--nodaemonize".into(), "--fpm-config".into(), dir.join(FILE).into()]);
    let optional = [("--force-stderr", true), ("--allow-to-run-as-root", root)];
    let known = optional.into_iter().filter(|(option, wanted)| *wanted && help.contains(option));
    command.extend(known.map(|(option, _)| option.into()));
    for (name, value) in settings(spec) {
        command.extend(["-d".into(), format!("{name}={value}").into()]);
    }
    command
}

/// PHP's settings, the spec's own last.
pub fn settings(spec: &PoolSpec) -> impl Iterator<Item = (&str, &str)> {
    let own = spec.ini.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    SETTINGS.into_iter().filter(|(name, _)| !spec.ini.contains_key(*name)).chain(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{FoundFpm, Mode};

    fn spec(version: &str) -> PoolSpec {
        PoolSpec::new(&FoundFpm { binary: "/usr/sbin/php-fpm".into(), version: version.into() }, 8)
    }

    #[test]
    fn the_configuration_of_a_static_pool() {
        insta::assert_snapshot!(render(&spec("8.2.36"), Path::new("/run/fpm-x"), false).unwrap());
    }

    #[test]
    fn an_older_php_and_a_dynamic_pool_as_root() {
        let spec = PoolSpec { mode: Mode::Dynamic, ..spec("7.4.33") };
        insta::assert_snapshot!(render(&spec, Path::new("/run/fpm-x"), true).unwrap());
    }

    #[test]
    fn the_specs_settings_win() {
        let spec = spec("8.2.36").ini("memory_limit", "20M").ini("log_errors", "0");
        let line = line(&spec, false, HELP_8_2);
        assert!(line.contains("-d memory_limit=20M") && line.contains("-d log_errors=0"), "{line}");
        assert!(!line.contains("log_errors=1"), "{line}");
    }

    /// Of `php-fpm -h`, the lines with options that are given here.
    const HELP_5_5: &str = "Usage: php-fpm [-n] [-e] [-h] [-i] [-m] [-v] [-t] [-p <prefix>] [-g <pid>] [-c <file>] [-d foo[=bar]] [-y <file>] [-D] [-F]
  -y, --fpm-config <file>
                   Specify alternative path to FastCGI process manager config file.
  -F, --nodaemonize
                   force to stay in foreground, and ignore daemonize option from config file
  -R, --allow-to-run-as-root
                   Allow pool to run as root (disabled by default)
";
    const HELP_8_2: &str = "Usage: php-fpm8.2 [-n] [-e] [-h] [-i] [-m] [-v] [-t] [-p <prefix>] [-g <pid>] [-c <file>] [-d foo[=bar]] [-y <file>] [-D] [-F [-O]]
  -y, --fpm-config <file>
                   Specify alternative path to FastCGI process manager config file.
  -F, --nodaemonize
                   force to stay in foreground, and ignore daemonize option from config file
  -O, --force-stderr
                   force output to stderr in nodaemonize even if stderr is not a TTY
  -R, --allow-to-run-as-root
                   Allow pool to run as root (disabled by default)
";

    fn line(spec: &PoolSpec, root: bool, help: &str) -> String {
        let line = command(spec, Path::new("/d"), root, help);
        line.iter().filter_map(|a| a.to_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_php_fpm_is_given_the_options_that_it_knows() {
        let begin = "/usr/sbin/php-fpm --nodaemonize --fpm-config /d/fpm.conf";
        for (version, help, root, options) in [
            ("5.5.11", HELP_5_5, false, ""),
            ("5.5.11", HELP_5_5, true, " --allow-to-run-as-root"),
            ("8.2.36", HELP_8_2, false, " --force-stderr"),
            ("8.2.36", HELP_8_2, true, " --force-stderr --allow-to-run-as-root"),
        ] {
            let line = line(&spec(version), root, help);
            assert!(line.starts_with(&format!("{begin}{options} -d ")), "{version}: {line}");
        }
    }

    #[test]
    fn a_directory_that_would_change_the_meaning_is_refused() {
        assert!(render(&spec("8.2.36"), Path::new("/a\nlisten = 80"), false).is_err());
    }
}

use super::*;

fn lay(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn what_cannot_be_queried_is_none() {
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::query_under(root.path());
    assert!(machine.cores >= 1);
    assert_eq!(machine, Machine { cores: machine.cores, ..Machine::default() });
}

#[test]
fn files_of_linux_are_read() {
    let root = tempfile::tempdir().unwrap();
    let lay = |path, text| lay(root.path(), path, text);
    lay("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast One\nflags\t\t: fpu hypervisor\n");
    lay("proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n");
    lay("proc/sys/kernel/ostype", "Linux\n");
    lay("proc/sys/kernel/osrelease", "6.1.0\n");
    lay("proc/loadavg", "1.25 0.5 0.1 1/2 3\n");
    lay("etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n");
    lay("sys/class/dmi/id/product_name", "KVM\n");
    lay(".dockerenv", "");
    lay("sys/devices/system/cpu/cpufreq/boost", "1\n");
    lay("sys/devices/system/node/node0/cpulist", "0-3\n");
    lay("sys/devices/system/node/node1/cpulist", "4-7\n");
    lay("sys/devices/system/node/online", "0-1\n");
    for cpu in 0..1024 {
        self::lay(
            root.path(),
            &format!("sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"),
            "0-1023\n",
        );
    }
    let machine = Machine::query_under(root.path());
    assert_eq!(machine.processor.as_deref(), Some("Fast One"));
    assert_eq!(machine.memory_bytes, Some(2048 * 1024));
    assert_eq!(machine.kernel.as_deref(), Some("Linux 6.1.0"));
    assert_eq!(machine.system.as_deref(), Some("Some Linux 12"));
    assert_eq!(machine.virtualisation.as_deref(), Some("docker on KVM"));
    assert_eq!(machine.load_average, Some(1.25));
    assert_eq!((machine.physical_cores, machine.turbo, machine.numa_nodes), (Some(1), Some(true), Some(2)));
    lay("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    assert_eq!(Machine::query_under(root.path()).turbo, Some(false), "Intel's own switch counts first");
    assert!(machine.line().starts_with("Fast One, "), "{}", machine.line());
}

#[test]
fn the_smallest_quota_around_counts_in_both_versions() {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), "proc/self/cgroup", "0::/a/b\n");
    lay(root.path(), "sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    lay(root.path(), "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_eq!(cgroup_cores(root.path()), Some(0.5));
    lay(root.path(), "proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/c\n");
    lay(root.path(), "sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "25000\n");
    lay(root.path(), "sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
    lay(root.path(), "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    lay(root.path(), "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_eq!(cgroup_cores(root.path()), Some(0.25));
}

#[test]
fn what_cpu_time_holds_beside_a_processes_own_is_the_kernels_configuration() {
    let root = tempfile::tempdir().unwrap();
    let query = || {
        let machine = Machine::query_under(root.path());
        (machine.irq_time_accounting, machine.paravirt_time_accounting)
    };
    lay(root.path(), "proc/sys/kernel/osrelease", "6.1.0\n");
    lay(root.path(), "boot/config-6.0.9", "CONFIG_IRQ_TIME_ACCOUNTING=y\n");
    assert_eq!(query(), (None, None), "that is another kernel's");
    lay(root.path(), "boot/config-6.1.0", "\n# nothing\n");
    assert_eq!(query(), (None, None));
    lay(
        root.path(),
        "boot/config-6.1.0",
        "CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n",
    );
    assert_eq!(query(), (Some(false), Some(true)), "what an architecture could have is not what it has");

    let told = std::fs::File::create(root.path().join("proc/config.gz")).unwrap();
    let mut told = flate2::write::GzEncoder::new(told, flate2::Compression::default());
    let text = "CONFIG_IRQ_TIME_ACCOUNTING=y\n# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set\n";
    std::io::Write::write_all(&mut told, text.as_bytes()).unwrap();
    told.finish().unwrap();
    assert_eq!(query(), (Some(true), Some(false)), "what the kernel says of itself counts first");
    let line = Machine::query_under(root.path()).accounting_line();
    assert!(
        line.contains("IRQ_TIME_ACCOUNTING on") && line.contains("PARAVIRT_TIME_ACCOUNTING off"),
        "{line}"
    );
}

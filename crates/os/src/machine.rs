//! The machine a run was measured on: its fingerprint, queried and never typed.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rustix::thread::sched_getaffinity;
use serde::{Deserialize, Serialize};

use crate::{cores, regular};

/// The fingerprint of a machine. A field that could not be queried is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Machine {
    /// Processor model.
    pub processor: Option<String>,
    /// Logical processors that this process may use.
    pub cores: u32,
    /// Cores that these are; fewer where two are threads of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_cores: Option<u32>,
    /// Whether the clock may go above its nominal rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turbo: Option<bool>,
    /// Parts of the memory, each nearer to some processors than to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_nodes: Option<u32>,
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Distribution, as it names itself.
    pub system: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Hypervisor or container, if one shows.
    pub virtualisation: Option<String>,
    /// Processors that a CPU cgroup grants, when it grants fewer than there are.
    pub cgroup_cores: Option<f64>,
    /// Load average over one minute at the start.
    pub load_average: Option<f64>,
    /// The kernel counts time in interrupts apart (`IRQ_TIME_ACCOUNTING`); false: it is in the CPU time of whatever it interrupted.
    #[serde(default)]
    pub irq_time_accounting: Option<bool>,
    /// The kernel leaves time that the hypervisor took out of a process's CPU time (`PARAVIRT_TIME_ACCOUNTING`); false: it is in it.
    #[serde(default)]
    pub paravirt_time_accounting: Option<bool>,
    /// What kind of machine it is, as its cluster calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl Machine {
    pub fn query() -> Machine {
        Machine::query_under(Path::new("/"))
    }

    /// Queries the files below `root`, in the layout of Linux.
    fn query_under(root: &Path) -> Machine {
        let text = |path: &str| regular::system(root.join(path)).ok();
        let word = |path: &str| text(path).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
        let kernel =
            || Some(format!("{} {}", word("proc/sys/kernel/ostype")?, word("proc/sys/kernel/osrelease")?));
        let options = kernel_options(root);
        let option = |name: &str| options.as_deref().map(|text| is_set(text, name));
        // Whatever share of them a cgroup grants.
        let cores = sched_getaffinity(None).map_or(1, |set| set.count());
        Machine {
            processor: ["model name", "Model", "Hardware"].iter().find_map(|key| field(&cpuinfo, key, ':')),
            cores,
            physical_cores: is_told(root).then(|| cores::usable(root).len() as u32),
            turbo: turbo(root),
            numa_nodes: numa_nodes(root),
            kernel: kernel(),
            system: text("etc/os-release").and_then(|t| field(&t, "PRETTY_NAME", '=')),
            memory_bytes: text("proc/meminfo").and_then(|t| memory_bytes(&t)),
            governor: word("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            virtualisation: virtualisation(root, &cpuinfo),
            cgroup_cores: cgroup_cores(root).filter(|&granted| granted < f64::from(cores)),
            load_average: text("proc/loadavg").and_then(|t| t.split_whitespace().next()?.parse().ok()),
            irq_time_accounting: option("IRQ_TIME_ACCOUNTING"),
            paravirt_time_accounting: option("PARAVIRT_TIME_ACCOUNTING"),
            kind: None,
        }
    }

    /// What the kernel puts into a process's CPU time beside its own, in one line.
    pub fn accounting_line(&self) -> String {
        let interrupts = match self.irq_time_accounting {
            Some(true) => "interrupts not counted (IRQ_TIME_ACCOUNTING on)",
            Some(false) => "interrupts counted for the process they interrupt (IRQ_TIME_ACCOUNTING off)",
            None => "interrupts: unknown (no kernel configuration to read)",
        };
        let stolen = match self.paravirt_time_accounting {
            Some(true) => "stolen time not counted (PARAVIRT_TIME_ACCOUNTING on)",
            Some(false) => "stolen time counted (PARAVIRT_TIME_ACCOUNTING off)",
            None => "stolen time: unknown",
        };
        format!("{interrupts}; {stolen}")
    }

    /// What two runs must have in common to be compared, and what may explain a difference, by name.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let memory = self.memory_bytes.map(|bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30)));
        let cores =
            self.cgroup_cores.map_or(self.cores.to_string(), |of| format!("{of:.1} of {}", self.cores));
        let named = [
            ("kind", self.kind.clone()),
            ("processor", self.processor.clone()),
            ("cores", Some(cores)),
            ("physical cores", self.physical_cores.map(|cores| cores.to_string())),
            ("turbo", self.turbo.map(|on| if on { "on" } else { "off" }.to_owned())),
            ("NUMA nodes", self.numa_nodes.map(|nodes| nodes.to_string())),
            ("memory", memory),
            ("kernel", self.kernel.clone()),
            ("system", self.system.clone()),
            ("governor", self.governor.clone()),
            ("virtualisation", self.virtualisation.clone()),
        ];
        named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// One line for a heading: processor, cores, memory, kernel.
    pub fn line(&self) -> String {
        let mut parts = vec![self.processor.clone().unwrap_or_else(|| "unknown processor".into())];
        parts.push(match self.cgroup_cores {
            Some(granted) => format!("{} cores ({granted:.1} granted)", self.cores),
            None => format!("{} core{}", self.cores, if self.cores == 1 { "" } else { "s" }),
        });
        let fewer = self.physical_cores.filter(|physical| *physical < self.cores);
        parts.extend(fewer.map(|physical| format!("threads of {physical} physical")));
        parts.extend(self.turbo.filter(|on| *on).map(|_| "turbo on".into()));
        parts.extend(self.numa_nodes.filter(|nodes| *nodes > 1).map(|nodes| format!("{nodes} NUMA nodes")));
        parts.extend(self.memory_bytes.map(|bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))));
        parts.extend(self.system.clone());
        parts.extend(self.kernel.clone());
        parts.extend(self.virtualisation.clone());
        parts.join(", ")
    }
}

/// Whether the kernel tells which processors are threads of one core.
fn is_told(root: &Path) -> bool {
    root.join("sys/devices/system/cpu/cpu0/topology").is_dir()
}

/// Intel's own switch, or that of other drivers.
fn turbo(root: &Path) -> Option<bool> {
    let word = |path: &str| regular::system(root.join("sys/devices/system/cpu").join(path)).ok();
    let is_off = word("intel_pstate/no_turbo").map(|off| off.trim() == "1");
    is_off.map(|off| !off).or_else(|| word("cpufreq/boost").map(|on| on.trim() == "1"))
}

fn numa_nodes(root: &Path) -> Option<u32> {
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let entries = std::fs::read_dir(root.join("sys/devices/system/node")).ok()?.flatten();
    let nodes = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_node)).count();
    u32::try_from(nodes).ok().filter(|nodes| *nodes > 0)
}

/// The value of the first `key SEPARATOR value` line.
fn field(text: &str, key: &str, separator: char) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    });
    value.filter(|v| !v.is_empty())
}

/// The configuration that the running kernel was built with: as it tells itself, or as its distribution laid it beside it.
fn kernel_options(root: &Path) -> Option<String> {
    let told = || {
        let mut text = String::new();
        GzDecoder::new(regular::open(root.join("proc/config.gz")).ok()?).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let laid = || {
        let release = regular::system(root.join("proc/sys/kernel/osrelease")).ok()?;
        regular::system(root.join(format!("boot/config-{}", release.trim()))).ok()
    };
    // A file without options is no configuration.
    told().or_else(laid).filter(|text| text.lines().any(|line| line.starts_with("CONFIG_")))
}

/// Whether an option is built in. One that is not named is not: its architecture has none, or what it depends on is off.
fn is_set(options: &str, name: &str) -> bool {
    let line = format!("CONFIG_{name}=y");
    options.lines().any(|l| l == line)
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let kib: u64 = field(meminfo, "MemTotal", ':')?.split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}

/// What the firmware and the root file system show; a hypervisor may hide.
fn virtualisation(root: &Path, cpuinfo: &str) -> Option<String> {
    let word = |path: &str| regular::system(root.join(path)).ok().map(|t| t.trim().to_owned());
    let guest = field(cpuinfo, "flags", ':').is_some_and(|f| f.split(' ').any(|f| f == "hypervisor"));
    let hypervisor = word("sys/hypervisor/type").or_else(|| {
        let named = || word("sys/class/dmi/id/product_name").filter(|name| !name.is_empty());
        guest.then(|| named().unwrap_or_else(|| "a hypervisor".into()))
    });
    let containers = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    let container = containers.iter().find(|(mark, _)| root.join(mark).exists()).map(|(_, name)| *name);
    match (container, hypervisor) {
        (Some(container), Some(hypervisor)) => Some(format!("{container} on {hypervisor}")),
        (Some(container), None) => Some(container.into()),
        (None, hypervisor) => hypervisor,
    }
}

/// The smallest CPU quota of this process's cgroup and of those around it, in processors; version 1 and 2.
fn cgroup_cores(root: &Path) -> Option<f64> {
    let own = ["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"];
    cgroups(root, "cpu", &own).iter().filter_map(|folder| quota(folder)).min_by(f64::total_cmp)
}

/// The least memory that a cgroup of this process's grants, in bytes, of this machine.
pub fn cgroup_memory() -> Option<u64> {
    let granted = |folder: &PathBuf| {
        let read = |name: &str| regular::system(folder.join(name)).ok()?.trim().parse().ok();
        read("memory.max").or_else(|| read("memory.limit_in_bytes"))
    };
    cgroups(Path::new("/"), "memory", &["sys/fs/cgroup/memory"]).iter().filter_map(granted).min()
}

/// The folders of this process's cgroup and of those around it, for one controller; `own` is where its tree of version 1 is.
fn cgroups(root: &Path, controller: &str, own: &[&str]) -> Vec<PathBuf> {
    let groups = regular::system(root.join("proc/self/cgroup")).unwrap_or_default();
    let folders = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let group = Path::new(path.trim_start_matches('/'));
        let mounts: &[&str] = match controllers {
            "" => &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
            c if c.split(',').any(|c| c == controller) => own,
            _ => &[],
        };
        mounts.iter().flat_map(move |mount| group.ancestors().map(move |above| root.join(mount).join(above)))
    });
    folders.collect()
}

/// The quota of one cgroup; `None` when there is no limit, or no such file.
fn quota(folder: &Path) -> Option<f64> {
    let read = |name: &str| regular::system(folder.join(name)).ok();
    let (quota, period) = match read("cpu.max") {
        Some(both) => both.trim().split_once(' ').map(|(q, p)| (q.to_owned(), p.to_owned()))?,
        None => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
    };
    let (quota, period): (f64, f64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests;

//! Packs what the dynamic loader reads at each start.

fn main() {
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    // A C library before 2.36 cannot read what is packed, and ends the program at its start: packages for others do without.
    println!("cargo::rerun-if-env-changed=WEIGH_PORTABLE");
    let is_portable = std::env::var_os("WEIGH_PORTABLE").is_some();
    if target("OS") == "linux" && target("ENV") == "gnu" && !is_portable {
        // Workers and load agents are processes of this program: a megabyte of relocations would be resident in each.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

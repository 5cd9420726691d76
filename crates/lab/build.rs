//! Rebuilds when an embedded definition changes: the macro that embeds them does not say so by itself. And packs what the dynamic loader
//! reads at each start.

fn main() {
    for folder in ["studies", "php", "corpus", "servers", "stores", "runtimes", "links", "engines"] {
        println!("cargo::rerun-if-changed=embedded/{folder}");
    }
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // Workers and load agents are processes of this program: a megabyte of relocations would be resident in each.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

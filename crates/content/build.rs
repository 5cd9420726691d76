//! Rebuilds when an embedded definition changes: the macro that embeds them does not say so by itself.

fn main() {
    for folder in ["studies", "php", "corpus", "servers", "stores", "runtimes", "links", "engines"] {
        println!("cargo::rerun-if-changed=embedded/{folder}");
    }
}

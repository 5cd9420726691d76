//! The names in a study's block: one that no runtime knows is a typing error; one that some lack is left out with a
//! reason, later.

use std::collections::HashSet;

use anyhow::{Result, bail};

use weigh_model::inventory::RuntimeEntry;
use weigh_model::setting::Request;
use weigh_model::study::CellBlock;
use weigh_model::suggest::nearest_hint;

/// The word for cells on bytes among serializers.
pub const BYTES: &str = "-";

/// Checks that each codec, set and serializer of a block is known to one of its runtimes at least. All of its runtimes
/// have to be there.
///
/// # Errors
/// The first name that is not, with the nearest one.
pub fn check(block: &CellBlock, requests: &[Request], runtimes: &[RuntimeEntry]) -> Result<()> {
    let codecs = || runtimes.iter().flat_map(|r| &r.description.codecs);
    for request in requests {
        match request.set() {
            Some("all") => {}
            Some(set) => {
                let sets: HashSet<&str> = codecs().flat_map(|c| c.sets.iter().map(String::as_str)).collect();
                if !sets.contains(set) {
                    let mut known: Vec<_> = sets.into_iter().chain(["all"]).collect();
                    known.sort_unstable();
                    bail!("no set `{set}`{}", nearest_hint(set, known));
                }
            }
            None if codecs().all(|c| c.name != request.name) => {
                let mut known: Vec<_> = codecs().map(|c| c.name.as_str()).collect();
                known.sort_unstable();
                known.dedup();
                bail!("no codec `{}`{}", request.name, nearest_hint(&request.name, known));
            }
            None => {}
        }
    }
    for name in block.serializers.iter().filter(|s| s.as_str() != BYTES) {
        let known = || runtimes.iter().flat_map(|r| &r.description.serializers).map(|s| s.name.as_str());
        if known().next().is_some() && known().all(|k| k != name) {
            bail!("no serializer `{name}`{}", nearest_hint(name, known()));
        }
    }
    Ok(())
}

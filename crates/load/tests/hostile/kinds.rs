//! The kinds, by the part of a connection that they break.

mod chunks;
mod connections;
mod contents;
mod cuts;
mod drips;
mod h2_connections;
mod h2_floods;
mod h2_frames;
mod h2_heads;
mod heads;
mod kept;
mod lengths;
mod records;
mod tls;

use crate::kind::Kind;

/// All kinds, each with a unique name.
pub fn all() -> Vec<Kind> {
    let all: Vec<Kind> = [
        heads::kinds(),
        lengths::kinds(),
        chunks::kinds(),
        cuts::kinds(),
        drips::kinds(),
        contents::kinds(),
        kept::kinds(),
        connections::kinds(),
        h2_floods::kinds(),
        h2_frames::kinds(),
        h2_heads::kinds(),
        h2_connections::kinds(),
        tls::kinds(),
        records::kinds(),
    ]
    .concat();
    let mut names: Vec<_> = all.iter().map(|kind| (&kind.name, kind.protocol())).collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|two| two[0] == two[1]).collect();
    assert!(twice.is_empty(), "two kinds have one name: {twice:?}");
    all
}

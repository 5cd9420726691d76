//! The generator's cost per request, and the rate at which it is the limit.

use weigh_load::calibrate::Calibration;

use crate::block::{Block, Step};
use crate::table::{Grid, Kind, Tone, factor, field};

pub(super) fn blocks(calibration: &Calibration) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, "Maximum rate of the client on this machine".into())];
    blocks.push(Block::Steps(calibration.reading().into_iter().map(Step::new).collect()));
    blocks.push(Block::Heading(2, "Loads".into()));
    blocks.push(Block::Table(table(calibration)));
    blocks
}

fn table(calibration: &Calibration) -> Grid {
    Grid::toned(&calibration.ceilings, |ceiling| {
        let fields = vec![
            factor("load", ceiling.load.to_string()),
            field("CPU", "µs a request", Kind::Three, 0, ceiling.cpu_us),
            field("kernel", "%", Kind::Three, 3, ceiling.kernel_share * 100.0),
            field("a core", "1/s", Kind::Three, 0, ceiling.per_core),
            field("reached", "1/s", Kind::Three, 1, ceiling.requests_per_second),
            field("bodies", "MB/s", Kind::Three, 2, ceiling.megabytes_per_second),
        ];
        (if ceiling.load.verified { Tone::Plain } else { Tone::Dim }, fields)
    })
}

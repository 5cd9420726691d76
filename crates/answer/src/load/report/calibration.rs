//! What a request costs the generator, and the rate at which it is the limit.

use weigh_load::calibrate::{Calibration, Ceiling};

use crate::document::Block;
use crate::table::{Column, Grid, Kind, Tone};

pub(super) fn blocks(calibration: &Calibration) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, "The generator's ceiling on this machine".into())];
    blocks.push(Block::Steps(calibration.reading()));
    blocks.push(Block::Heading(2, "Loads".into()));
    blocks.push(Block::Table(table(calibration)));
    blocks
}

fn table(calibration: &Calibration) -> Grid {
    let three = |name, unit, priority| Column::new(name, unit, Kind::Three, priority);
    let tone = |ceiling: &Ceiling| if ceiling.load.verified { Tone::Plain } else { Tone::Dim };
    Grid::of(
        &calibration.ceilings,
        tone,
        &[
            (Column::new("load", "", Kind::Text(20), 0), &|ceiling| ceiling.load.to_string().into()),
            (three("CPU", "µs a request", 0), &|ceiling| ceiling.cpu_us.into()),
            (three("kernel", "%", 3), &|ceiling| (ceiling.kernel_share * 100.0).into()),
            (three("a core", "1/s", 0), &|ceiling| ceiling.per_core.into()),
            (three("reached", "1/s", 1), &|ceiling| ceiling.requests_per_second.into()),
            (three("bodies", "MB/s", 2), &|ceiling| ceiling.megabytes_per_second.into()),
        ],
    )
}

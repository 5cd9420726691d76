//! What a request costs the generator, and the rate at which it is the limit.

use weigh_load::calibrate::Calibration;

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
    let mut grid = Grid::new(vec![
        Column::new("load", "", Kind::Text(20), 0),
        Column::new("CPU", "µs a request", Kind::Three, 0),
        Column::new("kernel", "%", Kind::Three, 3),
        Column::new("a core", "1/s", Kind::Three, 0),
        Column::new("reached", "1/s", Kind::Three, 1),
        Column::new("bodies", "MB/s", Kind::Three, 2),
    ]);
    for ceiling in &calibration.ceilings {
        grid.push(
            if ceiling.load.verified { Tone::Plain } else { Tone::Dim },
            vec![
                ceiling.load.to_string().into(),
                ceiling.cpu_us.into(),
                (ceiling.kernel_share * 100.0).into(),
                ceiling.per_core.into(),
                ceiling.requests_per_second.into(),
                ceiling.megabytes_per_second.into(),
            ],
        );
    }
    grid
}

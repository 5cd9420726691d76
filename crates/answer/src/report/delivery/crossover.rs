//! Files encoded before beside encoding each response: ratios by size, and the size from which they pay.

use super::super::document::Block;
use super::super::grid::{Column, Grid, Kind, Tone};
use super::super::text::clean;
use crate::analysis::delivery::model::{Crossover, DeliveryAnalysis, Pays};
use crate::analysis::model::Relative;
use weigh_model::cell::Transport;
use weigh_model::units;

/// The verdicts, and in full the ratios of every size.
pub(super) fn section(analysis: &DeliveryAnalysis, full: bool) -> Vec<Block> {
    if analysis.crossovers.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Heading(2, "From which size on encoding before pays".into()),
        Block::Remark(
            "Where the CPU time on the fly ÷ encoded before, and the rate the other way round, is above 1: a straight line \
             between two sizes in logarithms, with the 95% interval over rounds."
                .into(),
        ),
        Block::Table(verdicts(&analysis.crossovers)),
    ];
    if full {
        blocks.push(Block::Heading(3, "Ratios by size".into()));
        blocks.push(Block::Table(ratios(&analysis.crossovers)));
    }
    blocks
}

fn place(crossover: &Crossover) -> String {
    let connections = match crossover.connections {
        1 => String::new(),
        n => format!(" ×{n}"),
    };
    let transport = match crossover.transport {
        Transport::Http => "",
        Transport::Https => " https",
    };
    let link = crossover.link.as_ref().map_or(String::new(), |link| format!(" @{}", clean(link)));
    format!("{}{transport}{connections}{link}", clean(&crossover.server))
}

/// `gzip_static` of `server/gzip_static`, cleaned: it is always the server's.
fn way(way: &str) -> String {
    clean(way.split_once('/').map_or(way, |(_, name)| name))
}

fn verdicts(crossovers: &[Crossover]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("server", "", Kind::Text(6), 0),
        Column::new("on the fly", "", Kind::Text(10), 4),
        Column::new("encoded before", "", Kind::Text(14), 0),
        Column::new("coding", "", Kind::Text(6), 5),
        Column::new("pays in CPU", "", Kind::Text(31), 0),
        Column::new("pays in rate", "", Kind::Text(31), 2),
        Column::new("bytes", "÷ on the fly", Kind::Text(13), 3),
    ]);
    for one in crossovers {
        let shares = one.sizes.iter().map(|size| size.body);
        let (low, high) =
            shares.fold((f64::INFINITY, 0.0), |(low, high), s| (f64::min(low, s), f64::max(high, s)));
        grid.push(
            Tone::Plain,
            vec![
                place(one).into(),
                way(&one.on_the_fly).into(),
                way(&one.pre_encoded).into(),
                clean(&one.coding).into(),
                pays(one.cpu.as_ref()).into(),
                pays(one.rate.as_ref()).into(),
                format!("{low:.3} … {high:.3}").into(),
            ],
        );
    }
    grid
}

/// `from 1.2 KB [900 bytes, 2 KB]`, `at every size`, `at no size`.
pub(super) fn pays(pays: Option<&Pays>) -> String {
    let end = |end: &Option<f64>, open: &str| {
        end.map_or_else(|| open.to_owned(), |bytes| units::bytes(bytes.round() as u64))
    };
    match pays {
        None => "open".into(),
        Some(Pays::Everywhere { .. }) => "at every size".into(),
        Some(Pays::Nowhere { .. }) => "at no size".into(),
        Some(Pays::From { bytes, low, high }) => format!(
            "from {} [{}, {}]",
            units::bytes(bytes.round() as u64),
            end(low, "smallest"),
            end(high, "no upper end")
        ),
    }
}

fn ratios(crossovers: &[Crossover]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("server", "", Kind::Text(6), 0),
        Column::new("encoded before", "", Kind::Text(14), 0),
        Column::new("content", "", Kind::Text(10), 3),
        Column::new("size", "B", Kind::Whole, 0),
        Column::new("CPU", "fly ÷ before", Kind::Three, 0),
        Column::new("95%", "interval", Kind::Text(8), 2),
        Column::new("rate", "before ÷ fly", Kind::Three, 4),
        Column::new("95%", "interval", Kind::Text(8), 2),
        Column::new("bytes", "before ÷ fly", Kind::Three, 1),
    ]);
    let interval = |r: Option<Relative>| {
        r.map_or(String::new(), |r| {
            format!("[{}, {}]", units::significant(r.low), units::significant(r.high))
        })
    };
    for one in crossovers {
        for size in &one.sizes {
            grid.push(
                Tone::Plain,
                vec![
                    place(one).into(),
                    way(&one.pre_encoded).into(),
                    clean(&size.payload).into(),
                    (size.bytes as f64).into(),
                    size.cpu.map(|r| r.ratio).into(),
                    interval(size.cpu).into(),
                    size.rate.map(|r| r.ratio).into(),
                    interval(size.rate).into(),
                    size.body.into(),
                ],
            );
        }
    }
    grid
}

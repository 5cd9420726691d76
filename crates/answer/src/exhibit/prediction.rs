//! Calls computed from their parts, compared with measured calls: coding time, stored bytes over a share of the link,
//! one round trip, driver and store. Also what the links between clients and stores were measured as.

use anyhow::Result;
use weigh_model::link::Rate;
use weigh_model::setting::Setting;
use weigh_model::transfer::{Connection, Path, packet_bytes};
use weigh_stats::break_even_bandwidth;

use crate::block::{Block, more};
use crate::csv_table::{end, file_of, text};
use crate::estimate::Estimate;
use crate::exhibit::present::Exhibit;
use crate::exhibit::stored::{self, of_row};
use crate::first::grouped;
use crate::metric::client::STORED;
use crate::names;
use crate::output::{Detail, Options, Rendered};
use crate::report::exhibit::prediction::{
    Advice, BreakEvenAt, ComputedCalls, Operation, Prediction, StoredBytes,
};
use crate::report::finding::Evidence;
use crate::report::{OverLink, Report};
use crate::row::Row;
use crate::table::{Grid, Kind, Tone, factor, field, remark};
use crate::text::clean;
use crate::verdict::{Confidence, Ratio, ratio};

/// The two settings of the usual break-even: a codec by a part of its name, and the level.
const USUAL: [(&[&str], i32); 2] = [(&["zstd"], 3), (&["gz", "zlib"], 6)];

const FEW: usize = 8;

const LEGEND: &str = "Computed: encoding or decoding as measured, stored bytes at a worker's share of the link, one round trip, driver and store. \
    Driver and store: a line over stored bytes through the calls on loopback, where their sizes allow one. Connections are kept open. \
    Measured: mean of a round, median over rounds. Where the two pick different settings, go by the measurement.";

/// Mbit/s of packets for the bytes of a call; infinite without a limit.
fn mbit(link: &OverLink, operation: Operation) -> f64 {
    let rate = operation.of(&link.measured.up, &link.measured.down);
    rate.as_ref().map_or(f64::INFINITY, |rate| rate.measured_kbps / 1e3)
}

/// A worker's share of a link, as measured.
fn path(link: &OverLink, operation: Operation, workers: u32) -> Path {
    let trip = link.measured.round_trip.as_ref().map_or(0.0, |trip| trip.median_ms);
    Path::shared(mbit(link, operation), trip, f64::from(workers.max(1)))
}

struct Call<'a> {
    row: &'a Row,
    prediction: Prediction,
    cost: &'a Estimate,
}

impl ComputedCalls {
    /// Computes every call of cells that encode or use a link; none without such a cell.
    pub(crate) fn of(evidence: &Evidence) -> Option<ComputedCalls> {
        let Evidence { report, .. } = evidence;
        let stored = StoredBytes::all(&report.rows);
        let mut calls: Vec<Call> = Vec::new();
        for row in &report.rows {
            let Some(client) = &row.cell.client else { continue };
            let link = client.link.as_ref().and_then(|name| report.link(name));
            if client.encoded || link.is_some() {
                let both = [Operation::Put, Operation::Get].into_iter();
                calls.extend(both.filter_map(|operation| call(row, operation, link, &stored)));
            }
        }
        // Calls that differ only in serializer and setting.
        let groups = grouped(calls.iter().map(|c| ((c.row.cell.group(), c.prediction.operation), c)));
        let computed = ComputedCalls {
            advice: groups.iter().filter_map(|(_, group)| advice(group)).collect(),
            break_even: groups.iter().filter_map(|(_, group)| break_even(evidence, group)).collect(),
            stored,
            predictions: calls.into_iter().map(|call| call.prediction).collect(),
        };
        (!report.links.is_empty() || !computed.predictions.is_empty()).then_some(computed)
    }
}

fn call<'a>(
    row: &'a Row,
    operation: Operation,
    link: Option<&OverLink>,
    stored: &[StoredBytes],
) -> Option<Call<'a>> {
    let cost = operation.mean(row)?;
    let p50 = operation.p50(row)?;
    let coding = operation.coding(row);
    let bytes = row.value(STORED).unwrap_or(0.0);
    let workers = row.cell.client.as_ref().map_or(1, |client| client.workers);
    let path = link.map(|link| path(link, operation, workers));
    let transfer = path.map_or(0.0, |path| path.transfer_ns(bytes, Connection::Warm));
    let round_trip = path.map_or(0.0, |path| path.round_trip_ns);
    let stored = of_row(stored, row, operation).map_or(0.0, |stored| stored.ns(bytes));
    let predicted = coding + transfer + round_trip + stored;
    let measured = Estimate { drawn: None, ..cost.scaled(1e-9) };
    let prediction = Prediction {
        cell: row.cell.id.clone(),
        link: link.map(|link| link.asked.name.clone()),
        operation,
        workers,
        coding: coding / 1e9,
        transfer: transfer / 1e9,
        round_trip: round_trip / 1e9,
        stored: stored / 1e9,
        predicted: predicted / 1e9,
        p50,
        ratio: (predicted > 0.0 && predicted.is_finite()).then(|| measured.value * 1e9 / predicted),
        measured,
    };
    predicted.is_finite().then_some(Call { row, prediction, cost })
}

fn advice(group: &[&Call]) -> Option<Advice> {
    let least = |of: fn(&Call) -> f64| {
        group.iter().min_by(|a, b| of(a).total_cmp(&of(b))).filter(|_| group.len() > 1).copied()
    };
    let (model, measured) = (least(|c| c.prediction.predicted)?, least(|c| c.prediction.measured.value)?);
    let differ = model.row.id() != measured.row.id();
    let lost = differ.then(|| ratio(model.cost, measured.cost)).flatten();
    Some(Advice {
        link: model.prediction.link.clone(),
        operation: model.prediction.operation,
        settings: group.len() as u32,
        model: model.prediction.cell.clone(),
        measured: measured.prediction.cell.clone(),
        corrected: lost.is_some_and(|lost| lost.value > 1.0 && lost.is_settled()),
        lost,
    })
}

/// The usual two settings with the same serializer on a link.
fn break_even(evidence: &Evidence, group: &[&Call]) -> Option<BreakEvenAt> {
    let link = group.first()?.prediction.link.as_ref()?;
    let mbit = mbit(evidence.report.link(link)?, group.first()?.prediction.operation);
    let is_of = |setting: &Setting, (names, level): (&[&str], i32)| {
        setting.options.is_empty()
            && setting.level == Some(level)
            && names.iter().any(|name| setting.codec.contains(name))
    };
    let find = |usual, serializer: Option<&Option<String>>| {
        group.iter().copied().find(|call| {
            let cell = &call.row.cell;
            is_of(&cell.setting, usual) && serializer.is_none_or(|s| *s == cell.serializer)
        })
    };
    let first = find(USUAL[0], None)?;
    let second = find(USUAL[1], Some(&first.row.cell.serializer))?;
    // Seconds beside the transfer, and bytes in packets; one of several workers has a share of the link.
    let beside = |call: &Call| call.prediction.coding + call.prediction.stored;
    let bytes = |call: &Call| Some(packet_bytes(call.row.value(STORED)?));
    let computed_mbit = break_even_bandwidth(beside(first), bytes(first)?, beside(second), bytes(second)?);
    let workers = first.row.cell.client.as_ref().map_or(1, |client| client.workers);
    let computed = first.prediction.predicted / second.prediction.predicted;
    let measured = ratio(first.cost, second.cost);
    let settled = measured.filter(Ratio::is_settled);
    Some(BreakEvenAt {
        link: link.clone(),
        operation: first.prediction.operation,
        mbit,
        first: first.prediction.cell.clone(),
        second: second.prediction.cell.clone(),
        computed_mbit: computed_mbit.map(|bytes| bytes * 8.0 / 1e6 * f64::from(workers)),
        computed,
        measured,
        agrees: settled.map(|measured| (measured.value < 1.0) == (computed < 1.0)),
    })
}

impl Exhibit for ComputedCalls {
    fn leads(&self) -> bool {
        true
    }

    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block> {
        let mut blocks = Vec::new();
        if !report.links.is_empty() {
            blocks.extend([Block::Heading(2, "Links".into()), Block::Table(links_table(report))]);
        }
        if self.predictions.is_empty() {
            return blocks;
        }
        let all = self.predictions.len();
        let shown = if options.detail == Detail::Full { all } else { FEW.min(all) };
        blocks.extend([
            Block::Heading(2, "Computed and measured".into()),
            Block::Remark(LEGEND.into()),
            Block::Table(advice_table(report, &self.advice)),
        ]);
        if !self.stored.is_empty() {
            blocks.push(Block::Table(stored::table(&self.stored)));
        }
        blocks.push(Block::Table(predictions_table(report, &self.predictions[..shown])));
        blocks.extend(more(all - shown, "more call", "more calls"));
        blocks
    }

    /// One row per call that was computed.
    fn csv(&self, _: &Report) -> Result<Vec<Rendered>> {
        file_of("predictions.csv", &self.predictions, |one| {
            let Estimate { value, low, high, .. } = &one.measured;
            vec![
                ("cell", text(&one.cell)),
                ("link", text(one.link.as_deref().unwrap_or_default())),
                ("call", one.operation.name().into()),
                ("coding (s)", one.coding.to_string()),
                ("transfer (s)", one.transfer.to_string()),
                ("round trip (s)", one.round_trip.to_string()),
                ("computed (s)", one.predicted.to_string()),
                ("measured mean (s)", value.to_string()),
                ("measured mean 95% low (s)", end(*low)),
                ("measured mean 95% high (s)", end(*high)),
                ("measured p50 (s)", one.p50.to_string()),
                ("measured ÷ computed (×)", one.ratio.map(|ratio| ratio.to_string()).unwrap_or_default()),
                ("driver and store (s)", one.stored.to_string()),
                ("workers", one.workers.to_string()),
            ]
        })
    }
}

/// What was requested of links, and what they were measured as.
fn links_table(report: &Report) -> Grid {
    let mbit = |rate: &Option<Rate>| rate.as_ref().map(|rate| rate.measured_kbps / 1e3);
    Grid::of(&report.links, |OverLink { asked, measured }| {
        let trip = measured.round_trip.as_ref();
        vec![
            factor("link", clean(&asked.name)),
            field("made by", "", Kind::Text, 1, measured.way.name()),
            field("down", "asked Mbit/s", Kind::Three, 2, asked.down_kbps.map(|kbps| kbps / 1e3)),
            field("down", "Mbit/s", Kind::Three, 0, mbit(&measured.down)),
            field("up", "asked Mbit/s", Kind::Three, 2, asked.up_kbps.map(|kbps| kbps / 1e3)),
            field("up", "Mbit/s", Kind::Three, 0, mbit(&measured.up)),
            field("round trip", "asked ms", Kind::Three, 2, asked.rtt_ms),
            field("round trip", "ms", Kind::Three, 0, trip.map(|trip| trip.median_ms)),
            field("±", "ms", Kind::Three, 3, trip.map(|trip| trip.mad_ms)),
            remark("not as asked", 0, clean(&measured.off(asked).join("; "))),
        ]
    })
}

/// The best setting by both, one row per content, client, link and call.
fn advice_table(report: &Report, all: &[Advice]) -> Grid {
    Grid::toned(all, |advice| {
        let row = report.row(&advice.model);
        let client = row.map(names::client);
        let best = |id: &str| report.row(id).map(names::encoded).unwrap_or_default();
        let fields = vec![
            factor("content", content(row)),
            factor("client", client.unwrap_or_default()),
            factor("over", clean(advice.link.as_deref().unwrap_or("-"))),
            factor("call", advice.operation.name()),
            field("best computed", "", Kind::Text, 0, best(&advice.model)),
            field("best measured", "", Kind::Text, 0, best(&advice.measured)),
            field("computed", "× of measured", Kind::Fixed(2), 1, advice.lost.map(|lost| lost.value)),
            field("of", "settings", Kind::Whole, 2, f64::from(advice.settings)),
            remark("verdict", 1, verdict(advice)),
        ];
        (if advice.corrected { Tone::Strong } else { Tone::Plain }, fields)
    })
}

fn content(row: Option<&Row>) -> String {
    row.map(|row| clean(&row.cell.payload)).unwrap_or_default()
}

fn verdict(advice: &Advice) -> &'static str {
    match (advice.corrected, advice.model == advice.measured) {
        (true, _) => "corrected by measurement",
        (false, true) => "the same",
        (false, false) => advice.lost.map_or(Confidence::TooFewRounds, |lost| lost.confidence()).name(),
    }
}

fn predictions_table(report: &Report, predictions: &[Prediction]) -> Grid {
    Grid::of(predictions, |of| {
        let row = report.row(&of.cell);
        let over_link = |seconds: f64| of.link.as_ref().map(|_| seconds * 1e3);
        vec![
            factor("content", content(row)),
            factor("client", row.map_or_else(|| clean(&of.cell), names::client_and_setting)),
            factor("over", clean(of.link.as_deref().unwrap_or("-"))),
            factor("call", of.operation.name()),
            field("coding", "ms", Kind::Three, 2, of.coding * 1e3),
            field("transfer", "ms", Kind::Three, 2, over_link(of.transfer)),
            field("round trip", "ms", Kind::Three, 3, over_link(of.round_trip)),
            field("driver, store", "ms", Kind::Three, 3, Some(of.stored * 1e3).filter(|ms| *ms > 0.0)),
            field("computed", "ms", Kind::Three, 0, of.predicted * 1e3),
            field("measured", "ms", Kind::Three, 0, of.measured.value * 1e3),
            field("p50", "ms", Kind::Three, 4, of.p50 * 1e3),
            field("ratio", "×", Kind::Fixed(2), 1, of.ratio),
        ]
    })
}

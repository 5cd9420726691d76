//! Calls computed from their parts, compared with measured calls: coding time, stored bytes over a share of the link,
//! one round trip, driver and store. Also what the links between clients and stores were measured as.

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::link::Rate;
use weigh_model::setting::Setting;
use weigh_model::transfer::{Connection, Path, packet_bytes};
use weigh_stats::break_even_bandwidth;

use crate::document::{Block, more};
use crate::estimate::Estimate;
use crate::exhibit::Exhibit;
use crate::exhibit::stored::{self, StoredBytes, of_row};
use crate::finding::Evidence;
use crate::first::grouped;
use crate::format::csv::{end, file_of, text};
use crate::format::{Detail, Options, Rendered};
use crate::names;
use crate::report::{OverLink, Report};
use crate::row::Row;
use crate::subject::client::{DECODE, ENCODE, GET_MEAN, PUT_MEAN, STORED, label};
use crate::table::{Grid, Kind, Tone, factor, field, remark};
use crate::text::clean;
use crate::verdict::{Confidence, Ratio, ratio};

/// The two settings of the usual break-even: a codec by a part of its name, and the level.
const USUAL: [(&[&str], i32); 2] = [(&["zstd"], 3), (&["gz", "zlib"], 6)];

const FEW: usize = 8;

const LEGEND: &str = "Computed: encoding or decoding as measured, stored bytes at a worker's share of the link, one round trip, driver and store. \
    Driver and store: a line over stored bytes through the calls on loopback, where their sizes allow one. Connections are kept open. \
    Measured: mean of a round, median over rounds. Where the two pick different settings, go by the measurement.";

/// What can be computed of calls, and the links.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComputedCalls {
    /// The time of driver and store for stored bytes, from calls without a link; empty if the sizes do not allow it.
    #[serde(default)]
    pub stored: Vec<StoredBytes>,
    /// Writes and reads by the model, compared with the measurement; empty if no worker encodes and there is no link.
    pub predictions: Vec<Prediction>,
    /// The best setting by the model and by measurement.
    pub advice: Vec<Advice>,
    /// The bandwidth at which two settings would cost the same, and which one is faster on the measured link.
    pub break_even: Vec<BreakEvenAt>,
}

/// A write or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A write.
    Put,
    /// A read.
    Get,
}

impl Operation {
    /// Its name in tables: `PUT`, `GET`.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Put => "PUT",
            Operation::Get => "GET",
        }
    }

    /// `write`, `read`.
    pub fn words(self) -> &'static str {
        match self {
            Operation::Put => "write",
            Operation::Get => "read",
        }
    }

    /// The mean time inside such a call.
    pub fn mean(self, row: &Row) -> Option<&Estimate> {
        row.get(match self {
            Operation::Put => PUT_MEAN,
            Operation::Get => GET_MEAN,
        })
    }

    /// Nanoseconds for encoding or decoding in such a call; 0 if the worker does not encode.
    pub(super) fn coding(self, row: &Row) -> f64 {
        let coding = match self {
            Operation::Put => ENCODE,
            Operation::Get => DECODE,
        };
        row.value(coding).unwrap_or(0.0)
    }

    /// The median of all such calls, seconds.
    pub(super) fn p50(self, row: &Row) -> Option<f64> {
        row.value(match self {
            Operation::Put => "put-p50",
            Operation::Get => "get-p50",
        })
    }
}

/// A call by the model, compared with the measured one. The model adds encoding (or decoding) as measured, the packets
/// of the stored bytes ÷ the worker's share of the link, one round trip, and the time of driver and store for such
/// bytes. Transfer and round trip are left out without a link. Seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// The cell's id.
    pub cell: String,
    /// The link's name; null without a link.
    pub link: Option<String>,
    /// Write or read.
    pub operation: Operation,
    /// Workers that share the link evenly.
    #[serde(default)]
    pub workers: u32,
    /// Encoding or decoding.
    pub coding: f64,
    /// The packets of the stored bytes ÷ the share of the bandwidth.
    pub transfer: f64,
    /// One round trip.
    pub round_trip: f64,
    /// Driver and store; 0 if unknown.
    #[serde(default)]
    pub stored: f64,
    /// The sum of all parts.
    pub predicted: f64,
    /// The measured mean of a round, median over rounds.
    pub measured: Estimate,
    /// The measured median of all calls.
    pub p50: f64,
    /// Measured ÷ predicted; null if nothing is predicted.
    pub ratio: Option<f64>,
}

/// The best setting for a call by the model and by measurement; if they differ significantly, the recommendation
/// follows the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The link's name; null without a link.
    pub link: Option<String>,
    /// Write or read.
    pub operation: Operation,
    /// The number of compared settings.
    pub settings: u32,
    /// The id of the best cell by the model.
    pub model: String,
    /// The id of the fastest cell by measurement.
    pub measured: String,
    /// Measured time of the model's choice ÷ that of the fastest, within rounds; null if they are the same, or without
    /// two common rounds.
    pub lost: Option<Ratio>,
    /// Whether the measurement contradicts the model significantly.
    pub corrected: bool,
}

/// Two settings on a link: the bandwidth at which they cost the same by the model, and which one was faster on this
/// link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEvenAt {
    /// The link's name.
    pub link: String,
    /// Write or read.
    pub operation: Operation,
    /// The link's bandwidth in this direction, Mbit/s.
    pub mbit: f64,
    /// The id of the first cell.
    pub first: String,
    /// The id of the second.
    pub second: String,
    /// Mbit/s at which both would cost the same, from measured coding times and stored bytes; null if one is always
    /// ahead.
    pub computed_mbit: Option<f64>,
    /// Predicted time of the first ÷ the second.
    pub computed: f64,
    /// Measured time of the first ÷ the second, within rounds.
    pub measured: Option<Ratio>,
    /// Whether both show the same order; null if the measurement is not significant.
    pub agrees: Option<bool>,
}

/// Mbit/s of packets for the bytes of a call; infinite without a limit.
fn mbit(link: &OverLink, operation: Operation) -> f64 {
    let rate = match operation {
        Operation::Put => &link.measured.up,
        Operation::Get => &link.measured.down,
    };
    rate.as_ref().map_or(f64::INFINITY, |rate| rate.measured_kbps / 1e3)
}

/// A worker's share of a link, as measured.
fn path(link: &OverLink, operation: Operation, workers: u32) -> Path {
    let trip = link.measured.round_trip.as_ref().map_or(0.0, |trip| trip.median_ms);
    Path::shared(mbit(link, operation), trip, f64::from(workers.max(1)))
}

/// One call of one cell.
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
            factor("client", row.map_or_else(|| clean(&of.cell), label)),
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

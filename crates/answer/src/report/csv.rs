//! The report as two flat tables for other programs: one row a cell, one row a cell and link speed. Units
//! stand in the header; nothing is rounded.

use anyhow::{Context, Result};
use csv::Writer;

use super::text::clean;
use super::{Format, Options, Rendered, client, delivery, words};
use crate::analysis::client::model::ClientAnalysis;
use crate::analysis::delivery::model::DeliveryAnalysis;
use crate::analysis::model::{Analysis, Estimate, Mix};
use weigh_model::payload::Origin;
use weigh_model::protocol::Phase;

/// `--format csv`.
#[derive(Debug)]
pub struct Csv;

const PHASES: [(Phase, &str); 4] = [
    (Phase::Encode, "encode"),
    (Phase::Decode, "decode"),
    (Phase::Compress, "compress"),
    (Phase::Decompress, "decompress"),
];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "one row a cell, and one row a cell and link speed"
    }

    fn render(&self, analysis: &Analysis, _: &Options) -> Result<Vec<Rendered>> {
        Ok(vec![
            Rendered::new("cells.csv", cells(analysis).context("writing the table of cells")?),
            Rendered::new("links.csv", links(analysis).context("writing the table of links")?),
        ])
    }

    fn render_delivery(&self, analysis: &DeliveryAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        delivery::csv::files(analysis)
    }

    fn render_client(&self, analysis: &ClientAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        client::csv::files(analysis)
    }
}

fn cells(analysis: &Analysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    out.write_record(header())?;
    for result in &analysis.cells {
        let cell = &result.cell;
        let payload = analysis.payloads.iter().find(|payload| payload.name == cell.payload);
        let synthetic = payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }));
        let options: Vec<_> =
            cell.setting.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut row = vec![
            text(&cell.id),
            text(&cell.payload),
            text(payload.map_or("", |payload| &payload.kind)),
            synthetic.to_string(),
            text(&cell.runtime),
            text(cell.serializer.as_deref().unwrap_or_default()),
            text(&cell.setting.codec),
            cell.setting.level.map(|level| level.to_string()).unwrap_or_default(),
            text(&options.join(",")),
            text(result.library.as_deref().unwrap_or_default()),
            result.decoded_bytes.to_string(),
            result.encoded_bytes.to_string(),
            result.dictionary_bytes.to_string(),
            result.ratio().to_string(),
            (result.space_saving() * 100.0).to_string(),
        ];
        for (phase, _) in PHASES {
            row.extend(estimate(result.phases.get(&phase), result.decoded_bytes));
        }
        let alone = result.serializer_alone.as_ref();
        let alone = alone.map(|(encode, decode)| [encode, decode].map(|e| (e.cpu / 1e6).to_string()));
        row.extend(alone.unwrap_or_default());
        let peak = |phase| result.peak_bytes.get(&phase).map(u64::to_string).unwrap_or_default();
        let relative =
            result.relative.map(|r| [r.ratio, r.low, r.high].map(|x| x.to_string())).unwrap_or_default();
        row.extend([peak(Phase::Encode), peak(Phase::Decode), result.front.to_string()]);
        row.push(text(result.dominated_by.as_deref().unwrap_or_default()));
        row.extend(relative);
        row.push(result.stop.as_ref().map(stop).unwrap_or_default().to_owned());
        row.push(text(result.independent.as_deref().unwrap_or_default()));
        row.push(text(&result.caveats.iter().map(words::note).collect::<Vec<_>>().join("; ")));
        out.write_record(row)?;
    }
    Ok(out.into_inner()?)
}

fn header() -> Vec<String> {
    let mut header: Vec<String> = [
        "cell",
        "payload",
        "kind",
        "synthetic",
        "runtime",
        "serializer",
        "codec",
        "level",
        "options",
        "library",
        "uncompressed (bytes)",
        "encoded (bytes)",
        "dictionary (bytes)",
        "compression ratio (×)",
        "space saving (%)",
    ]
    .map(str::to_owned)
    .to_vec();
    for (_, phase) in PHASES {
        let figures = [
            "CPU (ms)",
            "CPU 95% low (ms)",
            "CPU 95% high (ms)",
            "CPU min (ms)",
            "CPU MAD (ms)",
            "CPU median (ms)",
            "wall median (ms)",
            "throughput (MB/s uncompressed)",
            "samples",
            "rounds",
            "involuntary switches",
        ];
        header.extend(figures.map(|figure| format!("{phase} {figure}")));
    }
    header.extend(
        [
            "serialize alone CPU (ms)",
            "unserialize alone CPU (ms)",
            "encode peak memory (bytes)",
            "decode peak memory (bytes)",
            "front",
            "dominated by",
            "encode ÷ reference (×)",
            "encode ÷ reference 95% low (×)",
            "encode ÷ reference 95% high (×)",
            "stop",
            "independent decoder",
            "caveats",
        ]
        .map(str::to_owned),
    );
    header
}

fn estimate(estimate: Option<&Estimate>, bytes: u64) -> [String; 11] {
    let Some(e) = estimate else { return Default::default() };
    let ms = |ns: f64| (ns / 1e6).to_string();
    [
        ms(e.cpu),
        ms(e.low),
        ms(e.high),
        ms(e.min),
        ms(e.mad),
        ms(e.cpu_median),
        ms(e.wall_median),
        e.throughput(bytes).to_string(),
        e.samples.to_string(),
        e.rounds.to_string(),
        e.preempted.to_string(),
    ]
}

/// Why a cell was no longer visited, in a word.
pub(super) fn stop(reason: &weigh_model::record::StopReason) -> &'static str {
    use weigh_model::record::StopReason;
    match reason {
        StopReason::Settled => "settled",
        StopReason::Placed => "placed",
        StopReason::Dominated { .. } => "dominated",
        StopReason::Budget => "budget",
        StopReason::Rounds => "rounds",
        StopReason::Fault => "fault",
    }
}

fn links(analysis: &Analysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    out.write_record([
        "cell",
        "payload",
        "runtime",
        "counted",
        "reads per write",
        "link (Mbit/s)",
        "total (ms)",
        "total 95% low (ms)",
        "total 95% high (ms)",
        "best",
        "no worse than the best",
    ])?;
    for group in &analysis.groups {
        for mix in &group.links {
            let (counted, reads) = match mix.mix {
                Mix::Write => ("write", String::new()),
                Mix::Read => ("read", String::new()),
                Mix::ReadsPerWrite(reads) => ("mean over reads and one write", reads.to_string()),
            };
            for totals in &mix.totals {
                for (mbit, total, low, high) in &totals.at {
                    let best = mix.best.iter().find(|best| best.mbit == *mbit);
                    out.write_record([
                        text(&totals.cell),
                        text(&group.payload),
                        text(&group.runtime),
                        counted.into(),
                        reads.clone(),
                        mbit.to_string(),
                        (total / 1e6).to_string(),
                        (low / 1e6).to_string(),
                        (high / 1e6).to_string(),
                        best.is_some_and(|best| best.cell == totals.cell).to_string(),
                        best.is_some_and(|best| best.ties.contains(&totals.cell)).to_string(),
                    ])?;
                }
            }
        }
    }
    Ok(out.into_inner()?)
}

/// Cleaned text that no spreadsheet takes for a formula.
pub(super) fn text(text: &str) -> String {
    let text = clean(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
        (header, rows.collect())
    }

    #[test]
    fn a_row_a_cell_with_its_figures_under_the_right_heads() {
        let analysis = fixture::analysis();
        let files = Csv.render(&analysis, &Options::default()).unwrap();
        let (header, rows) = read(&files[0].bytes);
        assert_eq!(rows.len(), analysis.cells.len());
        let at = |name: &str| header.iter().position(|head| head == name).unwrap();
        let row = rows.iter().find(|row| row[0] == "war-and-peace.html/native/-/zlib:6").unwrap();
        assert_eq!(row[at("uncompressed (bytes)")], "3960000");
        assert_eq!(row[at("encoded (bytes)")], "1283040");
        assert_eq!(row[at("encode CPU (ms)")], "220");
        assert_eq!(row[at("encode throughput (MB/s uncompressed)")], "18");
        assert_eq!(row[at("encode samples")], "27");
        assert_eq!(row[at("compress samples")], "", "bytes have no phase of their own for the codec");
        assert_eq!(row[at("front")], "false");
        assert_eq!(row[at("stop")], "settled");
        assert!(
            rows.iter()
                .filter(|row| row[at("synthetic")] == "true")
                .all(|row| row[at("payload")] == "row-1k")
        );
    }

    #[test]
    fn a_row_a_cell_and_speed_and_one_best_for_each_speed() {
        let analysis = fixture::analysis();
        let files = Csv.render(&analysis, &Options::default()).unwrap();
        let (header, rows) = read(&files[1].bytes);
        let best = header.iter().position(|head| head == "best").unwrap();
        let bests: usize =
            analysis.groups.iter().flat_map(|group| &group.links).map(|mix| mix.best.len()).sum();
        assert_eq!(rows.iter().filter(|row| row[best] == "true").count(), bests);
    }

    #[test]
    fn hostile_names_stay_in_their_field() {
        let files = Csv.render(&fixture::hostile(), &Options::default()).unwrap();
        let (_, rows) = read(&files[0].bytes);
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().flatten().all(|field| !field.contains(char::is_control)));
        assert_eq!(text("=cmd()"), "'=cmd()");
    }
}

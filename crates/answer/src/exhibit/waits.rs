//! How long clients wait for responses over a link, computed from parts and measured.

use anyhow::Result;
use weigh_model::cell::Transport;
use weigh_model::link::Way;
use weigh_model::transfer::{Connection, Path, windows};

use crate::block::{Block, more};
use crate::csv_table::{file_of, text};
use crate::exhibit::present::Exhibit;
use crate::metric::delivery::{BODY, CPU};
use crate::names;
use crate::output::{Detail, Options, Rendered};
use crate::report::exhibit::waits::{Wait, Waits};
use crate::report::finding::Evidence;
use crate::report::{OverLink, Report};
use crate::row::Row;
use crate::table::{Grid, Kind, factor, field};
use crate::text::clean;

const FEW: usize = 8;

const LEGEND: &str = "Computed for a new connection per response: one round trip for the TCP handshake, one for TLS 1.3, one for request and response. \
    Added are the windows of TCP's slow start, packets at the connection's share of the link, and the CPU time of server and PHP. Measured: median.";

impl Waits {
    /// Of every row over a link; none without such a row.
    pub(crate) fn of(evidence: &Evidence) -> Option<Waits> {
        let report = evidence.report;
        let wait = |row: &Row| {
            let link = report.link(row.cell.delivery.as_ref()?.link.as_ref()?)?;
            wait(row, link)
        };
        let waits: Vec<Wait> = report.rows.iter().filter_map(wait).collect();
        (!waits.is_empty()).then_some(Waits(waits))
    }
}

fn wait(row: &Row, link: &OverLink) -> Option<Wait> {
    let delivery = row.cell.delivery.as_ref()?;
    let OverLink { asked, measured } = link;
    if matches!(measured.way, Way::Proxy | Way::Model) {
        return None;
    }
    let down = measured.down.as_ref().map(|rate| rate.measured_kbps).or(asked.down_kbps);
    let mbit = down.map_or(f64::INFINITY, |kbps| kbps / 1e3);
    let trip = measured.round_trip.as_ref().map_or(asked.rtt_ms, |trip| trip.median_ms);
    let path = Path::shared(mbit, trip, f64::from(delivery.connections.max(1)));
    let is_tls = delivery.transport == Transport::Https;
    let bytes = row.value("wire-bytes").or_else(|| row.value(BODY))?;
    let cpu = row.value(CPU).unwrap_or(0.0);
    Some(Wait {
        cell: row.cell.id.clone(),
        link: asked.name.clone(),
        connections: delivery.connections,
        bytes,
        windows: windows(bytes) as u32,
        set_up: Connection::New.set_up_trips(is_tls) * path.round_trip_ns / 1e9,
        round_trip: path.round_trip_ns / 1e9,
        transfer: path.transfer_ns(bytes, Connection::New) / 1e9,
        cpu: cpu / 1e9,
        computed: (path.call_ns(bytes, Connection::New, is_tls) + cpu) / 1e9,
        measured: row.value("service-p50")?,
    })
}

impl Exhibit for Waits {
    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block> {
        let all = self.0.len();
        let shown = if options.detail == Detail::Full { all } else { FEW.min(all) };
        let mut blocks = vec![
            Block::Heading(2, "Waiting over links, computed and measured".into()),
            Block::Remark(LEGEND.into()),
            Block::Table(table(report, &self.0[..shown])),
        ];
        blocks.extend(more(all - shown, "more response", "more responses"));
        blocks
    }

    fn csv(&self, _: &Report) -> Result<Vec<Rendered>> {
        file_of("waits.csv", &self.0, |one| {
            vec![
                ("cell", text(&one.cell)),
                ("link", text(&one.link)),
                ("connections", one.connections.to_string()),
                ("response (bytes)", one.bytes.to_string()),
                ("windows", one.windows.to_string()),
                ("set-up (s)", one.set_up.to_string()),
                ("round trip (s)", one.round_trip.to_string()),
                ("transfer (s)", one.transfer.to_string()),
                ("CPU (s)", one.cpu.to_string()),
                ("computed (s)", one.computed.to_string()),
                ("measured p50 (s)", one.measured.to_string()),
            ]
        })
    }
}

fn server(row: &Row) -> String {
    names::stack(row.cell.delivery.as_ref().map_or("", |delivery| &delivery.server), &row.cell.runtime)
}

fn table(report: &Report, waits: &[Wait]) -> Grid {
    Grid::of(waits, |of| {
        let row = report.row(&of.cell);
        let way = row.map_or_else(|| clean(&of.cell), |row| (report.shape().look.label)(row));
        vec![
            factor("content", row.map(|row| clean(&row.cell.payload)).unwrap_or_default()),
            factor("server", row.map(server).unwrap_or_default()),
            factor("method", way),
            factor("over", clean(&of.link)),
            field("response", "B", Kind::Whole, 2, of.bytes),
            field("windows", "", Kind::Whole, 1, f64::from(of.windows)),
            field("set-up", "ms", Kind::Three, 3, of.set_up * 1e3),
            field("round trip", "ms", Kind::Three, 4, of.round_trip * 1e3),
            field("transfer", "ms", Kind::Three, 3, of.transfer * 1e3),
            field("CPU", "ms", Kind::Three, 4, of.cpu * 1e3),
            field("computed", "ms", Kind::Three, 0, of.computed * 1e3),
            field("measured", "ms", Kind::Three, 0, of.measured * 1e3),
            field("ratio", "×", Kind::Fixed(2), 1, of.measured / of.computed),
        ]
    })
}

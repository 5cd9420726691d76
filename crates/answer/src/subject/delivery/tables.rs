//! The tables of deliveries: their columns, and the overview of many groups.

use super::*;
use crate::metric::delivery::is_not_encoded;

/// The columns; for downloads, workers are more important than bytes.
pub(super) fn columns(report: &Report, group: &Group) -> Vec<ShownColumn> {
    let is_download = report.members(group).next().is_some_and(|row| row.cell.subject == Subject::DOWNLOAD);
    let (bytes, workers) = if is_download { (13, 1) } else { (0, 14) };
    let three = |name, unit: &str, rank| Column::new(name, unit, Kind::Three, rank);
    let fixed = |name, unit: &str, decimals, rank| Column::new(name, unit, Kind::Fixed(decimals), rank);
    let whole = |name, unit: &str, rank| Column::new(name, unit, Kind::Whole, rank);
    let mut columns = vec![
        shown(Column::factor("method", "", Kind::Text), |report, _, r| {
            group::marked(report, r, &names::method(r)).into()
        }),
        metric(whole("body", "B", bytes), BODY, 1.0),
        metric(Column::new("size", "", Kind::Bar, 0), BODY, 1.0),
        metric(fixed("saving", "%", 1, bytes.max(4)), "saving", 100.0),
        metric(three("CPU", "ms", 0), CPU, 1e-6),
        metric(three("PHP", "ms", 1), PHP_CPU, 1e-6),
        metric(three("server", "ms", 1), SERVER_CPU, 1e-6),
        shown(fixed("95% CI", "+%", 1, 5).of("margin").about(MARGIN), |_, _, r| {
            r.get(CPU).and_then(Estimate::margin).map(|share| share * 100.0).into()
        }),
        shown(
            fixed("vs plain", "×", 2, 6).about("CPU time ÷ that of the content sent as it is."),
            |_, _, r| r.beside.get("reference").map(|x| x.value).into(),
        ),
        shown(fixed("vs gzip", "×", 2, 7).about("CPU time ÷ that of gzip on the fly."), |_, _, r| {
            r.beside.get("gzip").map(|x| x.value).into()
        }),
        metric(three("rate", "req/s", 2), RATE, 1.0),
        metric(three("p50", "ms", 3), "response-p50", 1e3),
        metric(three("p99", "ms", 8), "response-p99", 1e3),
        metric(three("first byte", "p50 ms", 9), "first-byte-p50", 1e3),
        metric(three("100 requests", "s", 10), ONE_BY_ONE, 100.0),
        metric(three("transfer", "MB/s", 16), "transfer", 1e-6),
    ];
    columns.extend(processes(workers));
    columns
}

const MARGIN: &str = "How far the 95% confidence interval of the CPU time reaches above it.";

/// Memory, workers and the kernel, and words.
fn processes(workers: u8) -> [ShownColumn; 20] {
    let three = |name, unit: &str, rank| Column::new(name, unit, Kind::Three, rank);
    let whole = |name, unit: &str, rank| Column::new(name, unit, Kind::Whole, rank);
    [
        metric(three("server", "PSS MB", 15), "server-pss", 1e-6),
        metric(three("PHP", "PSS MB", 15), "php-pss", 1e-6),
        metric(three("PHP", "private MB", 25), "php-private", 1e-6),
        metric(three("worker", "peak MB", 25), "worker-peak", 1e-6),
        metric(Column::new("busy", "workers", Kind::Fixed(2), workers), "busy-mean", 1.0),
        metric(three("worker busy", "ms", workers), "worker-seconds", 1e3),
        metric(whole("busy", "at most", workers + 4), "busy-max", 1.0),
        metric(whole("queue", "at most", 19), "queue-max", 1.0),
        metric(three("switches", "involuntary", 20), "involuntary-switches", 1.0),
        shown(three("spooled", "MB", 18).of("written-bytes"), |_, _, r| {
            r.value("written-bytes").filter(|bytes| *bytes >= 1.0).map(|bytes| bytes / 1e6).into()
        }),
        metric(three("PHP", "user ms", 24), "php-user-cpu", 1e-6),
        metric(three("PHP", "kernel ms", 24), "php-kernel-cpu", 1e-6),
        metric(three("server", "user ms", 24), "server-user-cpu", 1e-6),
        metric(three("server", "kernel ms", 24), "server-kernel-cpu", 1e-6),
        metric(whole("generator", "% of core", 21), "generator-share", 100.0),
        shown(whole("wire", "B", 22).of("wire-bytes"), |_, _, r| {
            r.value("wire-bytes").map(f64::round).into()
        }),
        shown(whole("rounds", "", 17), |_, _, r| f64::from(rounds(r)).into()),
        shown(Column::note("coding", 23), |_, _, r| clean(r.fact(CODING).unwrap_or_default()).into()),
        shown(Column::note("beaten by", 3).of("rival").about(RIVAL), |report, _, r| {
            r.dominated_by.as_deref().map(|id| group::label(report, id)).unwrap_or_default().into()
        }),
        shown(Column::note("note", 1), |report, g, r| group::notes(report, g, r).into()),
    ]
}

/// One line per group, when there are too many groups to show their fronts.
pub(super) fn overview(report: &Report, _: &Columns) -> Vec<Block> {
    let grid = Grid::of(group::views(report), |view| {
        let of = view.group;
        let is_coded =
            |row: &&&Row| !is_kind(row, WayKind::Plain) && !is_not_encoded(row) && row.get(CPU).is_some();
        let coded = || view.rows.iter().filter(is_coded).copied();
        let gzip = view.marked("gzip");
        let limit = gzip.map_or(u64::MAX, |gzip| gzip.count(BODY));
        let cost = |row: &Row| row.value(CPU).unwrap_or(0.0);
        let quick = coded().filter(|row| row.count(BODY) < limit).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let small = coded().min_by_key(|row| row.count(BODY));
        let name = |row: Option<&Row>| Field::Text(row.map(names::method).unwrap_or_default());
        let cpu_of = |row: Option<&Row>| Field::from(row.and_then(|row| row.value(CPU)).map(|ns| ns * 1e-6));
        let body_of = |row: Option<&Row>| Field::from(row.and_then(|row| row.value(BODY)));
        let connections = match of.factor("connections") {
            "1" => String::new(),
            n => format!(" ×{n}"),
        };
        let every =
            of.factor("every_ms").parse().map_or(String::new(), |ms| format!(" {}/s", names::per_second(ms)));
        let link = match of.factor("link") {
            "" => String::new(),
            link => format!(" @{}", clean(link)),
        };
        let size = view.payload().map(|payload| units::bytes(payload.size())).unwrap_or_default();
        vec![
            factor("content", content(&view)),
            factor("server", names::stack(of.factor("server"), of.runtime())),
            factor("over", format!("{}{connections}{every}{link}", of.factor("transport"))),
            field("size", "", Kind::Text, 4, size),
            field("plain", "CPU ms", Kind::Three, 0, cpu_of(view.marked("reference"))),
            field("gzip", "CPU ms", Kind::Three, 0, cpu_of(gzip)),
            field("gzip", "B", Kind::Whole, 3, body_of(gzip)),
            field("least CPU time", "", Kind::Text, 1, name(quick)),
            field("least", "CPU ms", Kind::Three, 1, cpu_of(quick)),
            field("smallest", "", Kind::Text, 2, name(small)),
            field("smallest", "CPU ms", Kind::Three, 2, cpu_of(small)),
            field("smallest", "B", Kind::Whole, 3, body_of(small)),
        ]
    });
    vec![
        Block::Heading(2, "Each content and server".into()),
        Block::Remark(
            "CPU time of server and PHP per response. Least CPU time: of the methods that compress, and send fewer bytes than gzip \
             where it was measured. The full report has a table for each."
                .into(),
        ),
        Block::Table(grid),
    ]
}

/// The content, and to whom it is sent, if not to all.
fn content(view: &group::View) -> String {
    match view.group.factor("visitor") {
        "" => view.content(),
        visitor => format!("{}, to {visitor} visitors", view.content()),
    }
}

//! Pairs of clients that differ in one factor: runtimes, drivers, stores with their fastest driver, settings.

use anyhow::Result;
use csv::Writer;
use weigh_model::client::Client;
use weigh_model::plan::Plan;
use weigh_model::units;

use crate::block::{Block, more};
use crate::csv_table::{ends_of, text};
use crate::exhibit::present::Exhibit;
use crate::metric::client::{
    CLIENT_CPU, COMBINED, CPU, GET_MIDDLE, PEAK_MIDDLE, PSS_MIDDLE, PUT_MIDDLE, SECONDS, work,
};
use crate::metric::codec::IDENTITY;
use crate::names;
use crate::output::{Detail, Options, Rendered};
use crate::report::Report;
use crate::report::exhibit::comparison::{Comparison, Comparisons, Kind};
use crate::report::finding::Evidence;
use crate::row::Row;
use crate::table::{Cell, Column, Grid, Kind as ShownColumn, factor, field};
use crate::text::{clean, json_name};
use crate::verdict::{Ratio, ratio_if};

/// The separator between a PHP and its variant: `php8.2+jit`.
const VARIANT: char = '+';

/// Rows of each kind in a summary.
const FEW: usize = 5;

const LEGEND: &str = "Ratios with 95% confidence intervals, formed inside rounds and corrected for all comparisons of the run. \
    ≈: tied, or too few rounds.";

/// The compared metrics: with their names in tables and CSV files, and their priority.
const COMPARED: [(&str, &str, &str, u8); 7] = [
    (COMBINED, "transactions", "transactions", 0),
    (CPU, "CPU time", "CPU", 1),
    (CLIENT_CPU, "PHP's CPU", "workers CPU", 6),
    (PEAK_MIDDLE, "peak memory", "peak memory", 2),
    (PSS_MIDDLE, "PSS", "PSS", 7),
    (PUT_MIDDLE, "PUT p50", "PUT p50", 5),
    (GET_MIDDLE, "GET p50", "GET p50", 4),
];

impl Comparisons {
    /// Every comparison; none if no two cells can be compared.
    pub(crate) fn of(evidence: &Evidence) -> Option<Comparisons> {
        let all = Clients { plan: evidence.plan, rows: &evidence.report.rows };
        let pairs = Kind::ALL.into_iter().flat_map(|kind| all.rows.iter().map(move |row| (kind, row)));
        let compared = pairs.filter_map(|(kind, row)| {
            all.compare(kind, row, all.beside(kind, row).filter(|other| other.id() != row.id())?)
        });
        Some(Comparisons(compared.collect())).filter(|all| !all.0.is_empty())
    }
}

struct Clients<'a> {
    plan: &'a Plan,
    rows: &'a [Row],
}

fn client(row: &Row) -> Option<&Client> {
    row.cell.client.as_ref()
}

impl<'a> Clients<'a> {
    /// The cell that this one is compared with.
    fn beside(&self, kind: Kind, row: &Row) -> Option<&'a Row> {
        match kind {
            Kind::Runtime => self.first_runtime(row),
            Kind::Variant => self.without_variant(row),
            Kind::Driver => self.first_driver(row),
            Kind::Store => self.first_store(row),
            Kind::Setting => self.identity(row),
        }
    }

    /// The cells that do the same work with the same payload over the same link, filtered by `like`.
    fn alike(&self, row: &Row, like: impl Fn(&Row, &Client) -> bool) -> Vec<&'a Row> {
        let Some(own) = client(row) else { return Vec::new() };
        let is_same = |other: &&Row| {
            client(other).is_some_and(|client| {
                other.cell.payload == row.cell.payload
                    && (client.work(), client.transactions) == (own.work(), own.transactions)
                    && client.link == own.link
                    && client.encoded == own.encoded
                    && like(other, client)
            })
        };
        self.rows.iter().filter(is_same).collect()
    }

    /// Like [`Clients::alike`], with the same serializer and setting.
    fn same_setting(&self, row: &Row, like: impl Fn(&Row, &Client) -> bool) -> Vec<&'a Row> {
        let own = &row.cell;
        self.alike(row, |other, client| {
            (&other.cell.setting, &other.cell.serializer) == (&own.setting, &own.serializer)
                && like(other, client)
        })
    }

    fn of_runtimes(&self, row: &Row) -> Vec<&'a Row> {
        let own = client(row).map(Client::place);
        self.same_setting(row, |_, client| Some(client.place()) == own)
    }

    /// The same on the plan's first runtime that has it.
    fn first_runtime(&self, row: &Row) -> Option<&'a Row> {
        let place = |row: &&Row| self.plan.runtimes.iter().position(|r| r.name == row.cell.runtime);
        self.of_runtimes(row).into_iter().min_by_key(place)
    }

    /// The same on the same PHP without a variant, unless that is the first runtime.
    fn without_variant(&self, row: &Row) -> Option<&'a Row> {
        let (base, _) = row.cell.runtime.split_once(VARIANT)?;
        let plain = self.of_runtimes(row).into_iter().find(|other| other.cell.runtime == base)?;
        (self.first_runtime(row).map(Row::id) != Some(plain.id())).then_some(plain)
    }

    fn first_driver(&self, row: &Row) -> Option<&'a Row> {
        let own = client(row)?;
        let alike = |other: &Row, client: &Client| {
            other.cell.runtime == row.cell.runtime && client.store == own.store
        };
        self.same_setting(row, alike).first().copied()
    }

    /// The first store with its fastest driver, if this cell is the fastest of its own store.
    fn first_store(&self, row: &Row) -> Option<&'a Row> {
        let alike = self.same_setting(row, |other, _| other.cell.runtime == row.cell.runtime);
        let store = |row: &'a Row| client(row).map(|client| client.store.as_str());
        let rate = |row: &&Row| row.value(COMBINED).unwrap_or(0.0);
        let quickest = |name: &str| {
            let of_store = alike.iter().copied().filter(|other| store(other) == Some(name));
            of_store.max_by(|a, b| rate(a).total_cmp(&rate(b)))
        };
        let place = |name: &str| self.plan.stores.iter().position(|s| s.name == name);
        let first = alike.iter().filter_map(|other| store(other)).min_by_key(|name| place(name))?;
        let own = &client(row)?.store;
        if quickest(own).map(Row::id) != Some(row.id()) || first == own {
            return None;
        }
        quickest(first)
    }

    /// The worker that serializes but does not encode: with the same serializer, otherwise with another.
    fn identity(&self, row: &Row) -> Option<&'a Row> {
        let (own, cell) = (client(row)?, &row.cell);
        if !own.encoded || cell.setting.codec == IDENTITY {
            return None;
        }
        let alike = |other: &Row, client: &Client| {
            let is_plain = other.cell.setting.codec == IDENTITY;
            is_plain && other.cell.runtime == cell.runtime && client.place() == own.place()
        };
        self.alike(row, alike).into_iter().min_by_key(|other| other.cell.serializer != cell.serializer)
    }

    fn compare(&self, kind: Kind, row: &Row, beside: &Row) -> Option<Comparison> {
        let ratio = |metric: &str| ratio_if(row.get(metric), beside.get(metric));
        let ratios = COMPARED.iter().filter_map(|(metric, ..)| Some(((*metric).to_owned(), ratio(metric)?)));
        Some(Comparison {
            kind,
            cell: row.cell.id.clone(),
            beside: beside.cell.id.clone(),
            rounds: ratio(SECONDS)?.rounds,
            ratios: ratios.collect(),
        })
    }
}

impl Exhibit for Comparisons {
    fn leads(&self) -> bool {
        true
    }

    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block> {
        let most = if options.detail == Detail::Full { usize::MAX } else { FEW };
        let of_kind = |kind| self.0.iter().filter(move |c| c.kind == kind).take(most);
        let grid = Grid::of(Kind::ALL.into_iter().flat_map(of_kind), |c| fields(report, c));
        let left = self.0.len() - grid.rows.len();
        let mut blocks =
            vec![Block::Heading(2, "Comparisons".into()), Block::Remark(LEGEND.into()), Block::Table(grid)];
        blocks.extend(more(left, "more comparison", "more comparisons"));
        blocks
    }

    /// One row per comparison.
    fn csv(&self, _: &Report) -> Result<Vec<Rendered>> {
        let mut out = Writer::from_writer(Vec::new());
        let mut header: Vec<String> = ["another", "cell", "beside", "rounds"].map(str::to_owned).to_vec();
        header.extend(COMPARED.iter().flat_map(|(_, _, name, _)| ends_of(&format!("{name} (×)"))));
        header.extend(["transactions settled", "CPU settled"].map(str::to_owned));
        out.write_record(header)?;
        for one in &self.0 {
            let mut fields =
                vec![json_name(one.kind), text(&one.cell), text(&one.beside), one.rounds.to_string()];
            for (metric, ..) in COMPARED {
                let ends = one.ratio(metric).map(|r| [r.value, r.low, r.high].map(|x| x.to_string()));
                fields.extend(ends.unwrap_or_default());
            }
            let settled = |metric| one.ratio(metric).map(|r| r.is_settled().to_string()).unwrap_or_default();
            fields.extend([COMBINED, CPU].map(settled));
            out.write_record(fields)?;
        }
        Ok(vec![Rendered::new("comparisons.csv", out.into_inner()?)])
    }
}

fn fields(report: &Report, of: &Comparison) -> Vec<(Column, Cell)> {
    let row = report.row(&of.cell);
    let (with, this, beside) = compared(report, of);
    let content = row.map(|row| clean(&row.cell.payload)).unwrap_or_default();
    let mut fields = vec![
        factor("content and work", format!("{content} {}", row.map(work).unwrap_or_default()).trim_end()),
        factor("with", with),
        factor("this", this),
        factor("beside", beside),
    ];
    fields.extend(COMPARED.iter().map(|(metric, name, _, rank)| {
        let (column, cell) = field(name, "× (95% CI)", ShownColumn::Text, *rank, ratio(of.ratio(metric)));
        (column.of(metric), cell)
    }));
    fields.push(field("another", "", ShownColumn::Text, 8, json_name(of.kind)));
    fields.push(field("rounds", "", ShownColumn::Whole, 9, f64::from(of.rounds)));
    fields
}

/// What the two have in common, and the factor in which they differ.
fn compared(report: &Report, of: &Comparison) -> (String, String, String) {
    let parts = |id: &str| {
        let Some(row) = report.row(id) else { return (String::new(), clean(id)) };
        let (store, runtime, setting) =
            (names::store(row), names::runtime(&row.cell.runtime), names::encoded(row));
        let common = |part: String| if setting.is_empty() { part } else { format!("{part}, {setting}") };
        match of.kind {
            Kind::Runtime | Kind::Variant => (common(store), runtime),
            Kind::Driver | Kind::Store => (common(runtime), store),
            Kind::Setting => (names::client(row), setting),
        }
    };
    let ((with, this), (_, beside)) = (parts(&of.cell), parts(&of.beside));
    (with, this, beside)
}

/// `1.31 (1.28–1.34)`, `≈1.02 (0.98–1.05)`, on one line.
fn ratio(ratio: Option<Ratio>) -> String {
    let Some(of) = ratio else { return String::new() };
    let mark = if of.is_settled() { "" } else { "≈" };
    let digits = |x: f64| if x < 10.0 { format!("{x:.2}") } else { units::significant(x) };
    let [value, low, high] = [of.value, of.low, of.high].map(digits);
    format!("{mark}{value}\u{a0}({low}–{high})")
}

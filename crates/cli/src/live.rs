//! What is seen while a run goes on: a line with the cell under test, and for `weigh codec` the table so far.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::results;
use crate::terminal::{self, Line};
use weigh_answer::format::{self, Detail, Options};
use weigh_answer::report::Report;
use weigh_model::plan::Plan;
use weigh_model::record::Record;
use weigh_model::text::{clean, clean_lines};
use weigh_model::units;
use weigh_run::executor::PartsDone;
use weigh_run::lab::Progress;
use weigh_run::observer::{Observer, Upcoming};

/// The table is drawn again after this long at the earliest: drawing must not be what is measured.
const TABLE_EVERY: Duration = Duration::from_secs(2);
/// How often the line shows how far a visit in parts is.
const PARTS_EVERY: Duration = Duration::from_millis(500);
/// Lines that the live table leaves to the progress line and the prompt.
const MARGIN: usize = 4;

/// Shows a run on stderr.
pub struct Live {
    line: Line,
    plan: Plan,
    records: Vec<Record>,
    options: Option<Options>,
    drawn: Option<Instant>,
    drawn_lines: usize,
    parts: Arc<PartsDone>,
}

/// A line that begins with how far the visit is.
fn in_parts(parts: Arc<PartsDone>) -> ProgressStyle {
    let share = move |_: &ProgressState, line: &mut dyn Write| {
        if let Some((done, all)) = parts.get() {
            // Writing into a line in memory does not fail.
            let _ = write!(line, "part {}/{all} · ", all.min(done + 1));
        }
    };
    let style = ProgressStyle::with_template("{spinner} {part}{wide_msg}");
    style.unwrap_or(ProgressStyle::default_spinner()).with_key("part", share)
}

impl Live {
    /// A line, and where `table` is wanted and somebody looks, the table so far above it.
    pub fn new(table: bool) -> Live {
        Live {
            line: Line::new(false),
            plan: Plan::default(),
            records: Vec::new(),
            options: (table && terminal::watched()).then(|| results::options(Detail::Full, None)),
            drawn: None,
            drawn_lines: 0,
            parts: Arc::default(),
        }
    }

    fn draw(&mut self) {
        let Some(options) = &self.options else { return };
        if self.drawn.is_some_and(|d| d.elapsed() < TABLE_EVERY) {
            return;
        }
        let report = Report::of(&Default::default(), &self.plan, &self.records);
        let text = format::live::table(&report, options, terminal::height().saturating_sub(MARGIN));
        let text = clean_lines(&text, options.color);
        let term = console::Term::stderr();
        let lines = text.lines().count();
        let earlier = self.drawn_lines;
        self.line.bar.suspend(|| {
            if earlier > 0 {
                term.clear_last_lines(earlier).ok();
            }
            text.lines().for_each(|line| drop(term.write_line(line)));
        });
        self.drawn_lines = lines;
        self.drawn = Some(Instant::now());
    }
}

impl Observer for Live {
    fn note(&mut self, what: &str) {
        terminal::note(what);
    }

    fn remark(&mut self, what: &str) {
        terminal::note_once(what);
    }

    fn begun(&mut self, plan: &Plan, earlier: &[Record]) {
        self.line = Line::new(false);
        if plan.payloads.iter().any(|payload| payload.parts.len() > 1) {
            self.line.bar.set_style(in_parts(Arc::clone(&self.parts)));
            self.line.bar.enable_steady_tick(PARTS_EVERY);
        }
        self.plan = plan.clone();
        self.records = earlier.to_vec();
    }

    fn ended(&mut self) {
        self.line.bar.finish_and_clear();
        let term = console::Term::stderr();
        if self.drawn_lines > 0 {
            term.clear_last_lines(self.drawn_lines).ok();
            self.drawn_lines = 0;
        }
    }

    fn parts(&self) -> Arc<PartsDone> {
        Arc::clone(&self.parts)
    }

    fn visiting(&mut self, next: &Upcoming<'_>) {
        self.line.say(format!(
            "about {} left · round {} · {}/{} · {}",
            units::ns(next.remaining * 1e9),
            next.round,
            next.place,
            next.of,
            next.cell.id,
        ));
        self.line.bar.tick();
    }

    fn recorded(&mut self, record: &Record) {
        if self.options.is_some() {
            self.records.push(record.clone());
            self.draw();
        }
    }
}

/// Shows what the lab prepares.
#[derive(Debug)]
pub struct Preparing(ProgressBar);

impl Preparing {
    /// A spinner where somebody looks.
    pub fn new() -> Preparing {
        let bar = Line::new(false).bar;
        bar.enable_steady_tick(Duration::from_millis(200));
        Preparing(bar)
    }
}

impl Progress for Preparing {
    fn doing(&mut self, what: &str) {
        self.0.set_message(clean(what));
    }

    fn note(&mut self, what: &str) {
        self.0.suspend(|| terminal::note(what));
    }
}

impl Drop for Preparing {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

//! Figures of a block: rates, distributions of times, and the generator's cost. Units are seconds, bytes and requests
//! per second.

use serde::{Deserialize, Serialize};
use weigh_load::plan::LoadPlan;
use weigh_load::result::{ClassResult, Client, Counts, LoadResult, Times};
use weigh_stats::hist::Hist;

/// The percentiles: those of `ab`, and higher ones.
pub const PERCENTILES: [f64; 11] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99, 100.0];

/// Figures of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Figures {
    /// All classes together.
    pub total: ClassFigures,
    /// Each class.
    pub classes: Vec<ClassFigures>,
    /// The generator's own use of resources.
    pub client: ClientFigures,
}

/// Figures of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClassFigures {
    /// The class; `all` for all classes together.
    pub name: String,
    /// The counts behind the rates.
    pub counts: Counts,
    /// Completed responses per second, verified if the plan asks for that.
    pub achieved_per_second: f64,
    /// Scheduled requests per second.
    pub scheduled_per_second: f64,
    /// Bytes received per second, without TLS.
    pub wire_bytes_per_second: f64,
    /// Bytes of bodies per second, in their content coding.
    pub body_bytes_per_second: f64,
    /// Bytes of bodies per second, decoded.
    pub decoded_bytes_per_second: f64,
    /// CPU seconds for decoding per decoded response, outside the timed path.
    pub decode_seconds: Option<f64>,
    /// From the start of connecting until the connection is established.
    pub connect: Option<Spread>,
    /// TLS handshakes.
    pub tls: Option<Spread>,
    /// Send → first byte (`ab`: waiting).
    pub ttfb: Option<Spread>,
    /// First byte → last byte.
    pub transfer: Option<Spread>,
    /// Send → last byte.
    pub service: Option<Spread>,
    /// Scheduled send → last byte.
    pub response: Option<Spread>,
}

/// A distribution of times, in seconds. Requests without a response are part of it: each counts as slower than all
/// others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Spread {
    /// The number of times.
    pub count: u64,
    /// Requests without a response: they failed, or were never sent.
    pub unanswered: u64,
    /// The smallest time; null without a response.
    pub min: Option<f64>,
    /// The mean of the times.
    pub mean: Option<f64>,
    /// The standard deviation of the times.
    pub sd: Option<f64>,
    /// The median; null if less than half were answered.
    pub median: Option<f64>,
    /// The largest time.
    pub max: Option<f64>,
    /// Percentiles, ascending.
    pub percentiles: Vec<Percentile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unanswered {
    pub count: u64,
    /// The duration of block and drain in seconds: requests without a response took longer.
    pub beyond: f64,
}

/// A time, or its lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// This many seconds.
    Took(f64),
    /// Not a number: the quantile is among the requests without a response, which took longer than this many seconds.
    Beyond(f64),
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Percentile {
    /// Percent.
    pub percent: f64,
    /// This percentage took no longer, in seconds; null if fewer were answered.
    pub seconds: Option<f64>,
    /// If fewer were answered: the duration of block and drain in seconds; the others took longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<f64>,
}

/// The generator's own use of resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientFigures {
    /// CPU seconds.
    pub cpu_seconds: f64,
    /// CPU seconds per completed request.
    pub cpu_seconds_per_request: Option<f64>,
    /// Cores in use on average.
    pub cores: f64,
    /// Share of a core that the busiest thread used.
    pub busiest_thread: f64,
    /// How late requests were sent although a connection was free.
    pub lateness: Option<Spread>,
}

impl Figures {
    pub fn of(plan: &LoadPlan, result: &LoadResult) -> Figures {
        let total = result.classes.iter().fold(ClassResult::default(), add);
        let beyond = beyond(plan, result);
        let class = |c: &ClassResult| ClassFigures::of(c, result.seconds, beyond);
        Figures {
            total: class(&ClassResult { name: "all".into(), ..total.clone() }),
            classes: result.classes.iter().map(class).collect(),
            client: ClientFigures::of(&result.client, total.counts.completed, result.seconds),
        }
    }
}

/// Duration of a block and its drain in seconds: requests without a response took longer.
pub fn beyond(plan: &LoadPlan, result: &LoadResult) -> f64 {
    // For several combined blocks, `result.seconds` is the sum; for a block that was stopped early, the plan's duration
    // is too long.
    plan.length.seconds.map_or(result.seconds, |planned| planned.min(result.seconds))
        + plan.limits.drain_seconds
}

impl ClassFigures {
    fn of(class: &ClassResult, seconds: f64, beyond: f64) -> ClassFigures {
        let counts = class.counts;
        let all = |times: &Hist| Spread::of(times, Unanswered::default());
        let sent = |times: &Hist| Spread::of(times, Unanswered { count: counts.faulted, beyond });
        let due = |times: &Hist| Spread::of(times, Unanswered { count: counts.unanswered(), beyond });
        let rate = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let times = &class.times;
        let decode = counts.decode_ns as f64 / 1e9 / counts.decoded as f64;
        ClassFigures {
            name: class.name.clone(),
            counts,
            achieved_per_second: rate(counts.completed),
            scheduled_per_second: rate(counts.scheduled),
            wire_bytes_per_second: rate(counts.wire_bytes),
            body_bytes_per_second: rate(counts.body_bytes),
            decoded_bytes_per_second: rate(counts.decoded_bytes),
            decode_seconds: (counts.decoded > 0).then_some(decode),
            connect: all(&times.connect),
            tls: all(&times.tls),
            ttfb: sent(&times.ttfb),
            transfer: sent(&times.transfer),
            service: sent(&times.service),
            response: due(&times.response),
        }
    }
}

impl ClientFigures {
    fn of(client: &Client, completed: u64, seconds: f64) -> ClientFigures {
        let cpu = client.user_seconds + client.system_seconds;
        ClientFigures {
            cpu_seconds: cpu,
            cpu_seconds_per_request: (completed > 0).then(|| cpu / completed as f64),
            cores: if seconds > 0.0 { cpu / seconds } else { 0.0 },
            busiest_thread: client.thread_shares.iter().copied().fold(0.0, f64::max),
            lateness: Spread::of(&client.lateness, Unanswered::default()),
        }
    }
}

impl Spread {
    /// The distribution of the counted times and of requests without a response; none without both.
    pub fn of(hist: &Hist, unanswered: Unanswered) -> Option<Spread> {
        if hist.count() + unanswered.count == 0 {
            return None;
        }
        let at = |q: f64| {
            let seconds = hist.quantile_with(q, unanswered.count)?;
            Some(hist.max().map_or(seconds, |max| seconds.min(max)))
        };
        let percentile = |percent: f64| {
            let seconds = at(percent / 100.0);
            Percentile { percent, seconds, beyond: seconds.is_none().then_some(unanswered.beyond) }
        };
        Some(Spread {
            count: hist.count(),
            unanswered: unanswered.count,
            min: hist.min(),
            mean: hist.mean(),
            sd: hist.sd(),
            median: at(0.5),
            max: hist.max(),
            percentiles: PERCENTILES.into_iter().map(percentile).collect(),
        })
    }

    /// One of [`PERCENTILES`]; the largest is the 100th.
    pub fn percentile(&self, percent: f64) -> Option<Time> {
        self.percentiles.iter().find(|p| p.percent == percent)?.time()
    }
}

impl Percentile {
    /// The time, or its lower bound.
    pub fn time(&self) -> Option<Time> {
        self.seconds.map(Time::Took).or(self.beyond.map(Time::Beyond))
    }
}

/// Adds another class's counts and times.
pub fn add(mut all: ClassResult, one: &ClassResult) -> ClassResult {
    add_counts(&mut all.counts, &one.counts);
    let Times { connect, tls, ttfb, transfer, service, response } = &one.times;
    all.times.connect.add(connect);
    all.times.tls.add(tls);
    all.times.ttfb.add(ttfb);
    all.times.transfer.add(transfer);
    all.times.service.add(service);
    all.times.response.add(response);
    all
}

fn add_counts(all: &mut Counts, one: &Counts) {
    /// Every count by name, so that a new one is not forgotten here.
    macro_rules! add {
        ($($count:ident)*) => {{
            let Counts { $($count),* } = *one;
            $(all.$count += $count;)*
        }};
    }
    add! {
        scheduled sent completed faulted dropped retried abandoned non_2xx connections resumed
        sent_bytes wire_bytes head_bytes body_bytes decoded_bytes compared decoded decode_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, completed: u64, ms: u64) -> ClassResult {
        let mut class = ClassResult { name: name.into(), ..ClassResult::default() };
        class.counts =
            Counts { scheduled: completed, completed, body_bytes: 10 * completed, ..Counts::default() };
        (0..completed).for_each(|_| class.times.response.record(ms * 1_000_000));
        class
    }

    #[test]
    fn rates_and_percentiles_are_those_of_all_classes_and_of_each() {
        let light = class("light", 90, 1);
        let heavy = class("heavy", 10, 100);
        let client = Client {
            user_seconds: 0.1,
            system_seconds: 0.3,
            thread_shares: vec![0.1, 0.3],
            ..Client::default()
        };
        let result = LoadResult {
            seconds: 2.0,
            classes: vec![light, heavy],
            slices: Vec::new(),
            faults: Vec::new(),
            unproven: 0,
            client,
            preflights: Vec::new(),
            ..LoadResult::default()
        };
        let total = result.classes.iter().fold(ClassResult::default(), add);
        let all = ClassFigures::of(&total, 2.0, 12.0);
        assert_eq!((all.achieved_per_second, all.body_bytes_per_second), (50.0, 500.0));
        let spread = all.response.unwrap();
        assert_eq!(spread.count, 100);
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.002, "{a} for {b}");
        let took = |percent| match spread.percentile(percent) {
            Some(Time::Took(seconds)) => seconds,
            other => panic!("{percent}: {other:?}"),
        };
        close(spread.median.unwrap(), 0.001);
        close(took(90.0), 0.001);
        close(took(95.0), 0.1);
        let used = ClientFigures::of(&result.client, total.counts.completed, result.seconds);
        close(used.cpu_seconds_per_request.unwrap(), 0.004);
        close(used.cores, 0.2);
        assert_eq!(used.busiest_thread, 0.3);
    }

    #[test]
    fn a_server_that_answers_one_in_a_hundred_has_no_median() {
        let mut class = class("all", 10, 7);
        class.counts.scheduled = 1000;
        class.counts.sent = 600;
        (class.counts.faulted, class.counts.dropped) = (590, 400);
        let result = LoadResult { seconds: 14.0, classes: vec![class], ..LoadResult::default() };
        let mut plan = LoadPlan::default();
        (plan.length.seconds, plan.limits.drain_seconds) = (Some(10.0), 4.0);
        let figures = Figures::of(&plan, &result);
        let response = figures.total.response.unwrap();
        assert_eq!((response.count, response.unanswered, response.median), (10, 990, None));
        assert!(response.percentiles.iter().all(|p| p.time() == Some(Time::Beyond(14.0))), "{response:?}");
        assert!((response.min.unwrap() / 0.007 - 1.0).abs() < 0.002);
        // Of those that were sent.
        assert_eq!(figures.total.service.unwrap().unanswered, 590);
    }

    #[test]
    fn percentiles_below_the_share_that_is_answered_are_numbers() {
        let mut class = class("all", 90, 7);
        class.counts.faulted = 10;
        let figures = ClassFigures::of(&class, 2.0, 12.0);
        let response = figures.response.unwrap();
        let known: Vec<f64> =
            response.percentiles.iter().filter(|p| p.seconds.is_some()).map(|p| p.percent).collect();
        assert_eq!(known, [50.0, 66.0, 75.0, 80.0, 90.0]);
        assert_eq!(response.percentile(95.0), Some(Time::Beyond(12.0)));
        let silent =
            ClassResult { counts: Counts { dropped: 3, ..Counts::default() }, ..ClassResult::default() };
        let response = ClassFigures::of(&silent, 2.0, 12.0).response.unwrap();
        assert_eq!(
            (response.count, response.min, response.percentile(50.0)),
            (0, None, Some(Time::Beyond(12.0)))
        );
    }

    #[test]
    fn nothing_counted_is_no_figure() {
        let none = ClassFigures::of(&ClassResult::default(), 0.0, 0.0);
        assert_eq!((none.achieved_per_second, none.response, none.decode_seconds), (0.0, None, None));
    }
}

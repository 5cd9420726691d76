//! Figures of a block: rates, spreads of times, and what the generator cost. Everything is in seconds, bytes and
//! requests a second.

use serde::Serialize;
use weigh_load::hist::Hist;
use weigh_load::result::{ClassResult, Client, Counts, LoadResult, Times};

/// The percentiles that are given: those of `ab`, and the tail beyond them.
pub const PERCENTILES: [f64; 11] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99, 100.0];

/// Figures of a block.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Figures {
    /// All classes together.
    pub total: ClassFigures,
    /// Each class.
    pub classes: Vec<ClassFigures>,
    /// What the generator used itself.
    pub client: ClientFigures,
}

/// Figures of a class.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ClassFigures {
    /// The class; `all` for all together.
    pub name: String,
    /// The counts that the rates are made of.
    pub counts: Counts,
    /// Completed responses a second, verified where that was asked for.
    pub achieved_per_second: f64,
    /// Requests that were due a second.
    pub scheduled_per_second: f64,
    /// Bytes received a second, without TLS.
    pub wire_bytes_per_second: f64,
    /// Bytes of bodies a second, in their content coding.
    pub body_bytes_per_second: f64,
    /// Bytes of bodies a second, decoded.
    pub decoded_bytes_per_second: f64,
    /// CPU seconds of decoding a decoded response, off the timing path.
    pub decode_seconds: Option<f64>,
    /// Begin of a connection to its establishment.
    pub connect: Option<Spread>,
    /// TLS handshakes.
    pub tls: Option<Spread>,
    /// Send → first byte (ab: waiting).
    pub ttfb: Option<Spread>,
    /// First byte → last byte.
    pub transfer: Option<Spread>,
    /// Send → last byte.
    pub service: Option<Spread>,
    /// Scheduled send → last byte.
    pub response: Option<Spread>,
}

/// How times are spread, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// Percentiles, ascending.
    pub percentiles: Vec<Percentile>,
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Percentile {
    /// Percent.
    pub percent: f64,
    /// So many percent took no longer, in seconds.
    pub seconds: f64,
}

/// What the generator used itself.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ClientFigures {
    /// CPU seconds.
    pub cpu_seconds: f64,
    /// CPU seconds a completed request.
    pub cpu_seconds_per_request: Option<f64>,
    /// Cores in use on average.
    pub cores: f64,
    /// Share of a core that the busiest thread used.
    pub busiest_thread: f64,
    /// How late requests were sent although a connection was free.
    pub lateness: Option<Spread>,
}

impl Figures {
    /// Derives them.
    pub fn of(result: &LoadResult) -> Figures {
        let total = result.classes.iter().fold(ClassResult::default(), add);
        let class = |c: &ClassResult| ClassFigures::of(c, result.seconds);
        Figures {
            total: ClassFigures::of(&ClassResult { name: "all".into(), ..total.clone() }, result.seconds),
            classes: result.classes.iter().map(class).collect(),
            client: ClientFigures::of(&result.client, total.counts.completed, result.seconds),
        }
    }
}

impl ClassFigures {
    fn of(class: &ClassResult, seconds: f64) -> ClassFigures {
        let counts = class.counts;
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
            connect: Spread::of(&times.connect),
            tls: Spread::of(&times.tls),
            ttfb: Spread::of(&times.ttfb),
            transfer: Spread::of(&times.transfer),
            service: Spread::of(&times.service),
            response: Spread::of(&times.response),
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
            lateness: Spread::of(&client.lateness),
        }
    }
}

impl Spread {
    /// The spread of what was counted; none when nothing was.
    pub fn of(hist: &Hist) -> Option<Spread> {
        let percentile = |percent: f64| {
            Some(Percentile { percent, seconds: hist.quantile(percent / 100.0)?.min(hist.max()?) })
        };
        Some(Spread {
            count: hist.count(),
            min: hist.min()?,
            mean: hist.mean()?,
            sd: hist.sd()?,
            median: hist.quantile(0.5)?,
            max: hist.max()?,
            percentiles: PERCENTILES.into_iter().filter_map(percentile).collect(),
        })
    }

    /// One of [`PERCENTILES`].
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        self.percentiles.iter().find(|p| p.percent == percent).map(|p| p.seconds)
    }
}

/// Takes in another class's counts and times.
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
    /// Every count by its name, so that a new one is not forgotten here.
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
            began: None,
        };
        let total = result.classes.iter().fold(ClassResult::default(), add);
        let all = ClassFigures::of(&total, 2.0);
        assert_eq!((all.achieved_per_second, all.body_bytes_per_second), (50.0, 500.0));
        let spread = all.response.unwrap();
        assert_eq!(spread.count, 100);
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.002, "{a} for {b}");
        close(spread.median, 0.001);
        close(spread.percentile(90.0).unwrap(), 0.001);
        close(spread.percentile(95.0).unwrap(), 0.1);
        let used = ClientFigures::of(&result.client, total.counts.completed, result.seconds);
        close(used.cpu_seconds_per_request.unwrap(), 0.004);
        close(used.cores, 0.2);
        assert_eq!(used.busiest_thread, 0.3);
    }

    #[test]
    fn nothing_counted_is_no_figure() {
        let none = ClassFigures::of(&ClassResult::default(), 0.0);
        assert_eq!((none.achieved_per_second, none.response, none.decode_seconds), (0.0, None, None));
    }
}

//! One thread's counts of responses: counters and histograms per class and per slice. Records of threads can be added.

mod timeline;

use std::collections::BTreeMap;

use crate::Nanos;
use crate::fault::{HttpFault, HttpFaultKind};
use timeline::Timeline;
use weigh_stats::hist::Hist;

use crate::result::{ClassResult, Counts, FaultCount, Slice, Times};

#[derive(Clone, Copy, Debug)]
pub struct Stamps {
    pub scheduled: Nanos,
    /// When it was sent; if it opened its own connection, when connecting started.
    pub sent: Nanos,
    /// When its first byte arrived.
    pub first: Nanos,
    /// When its last byte arrived.
    pub last: Nanos,
}

#[derive(Debug)]
pub struct Recorder {
    pub classes: Vec<(Counts, Times)>,
    /// See [`crate::result::Client::lateness`].
    pub lateness: Hist,
    /// See [`crate::result::LoadResult::unproven`].
    pub unproven: u64,
    faults: BTreeMap<HttpFaultKind, (u64, u32, HttpFault)>,
    timeline: Timeline,
}

impl Recorder {
    /// An empty record for this many classes.
    pub fn new(classes: usize, slice: Nanos) -> Recorder {
        Recorder {
            classes: (0..classes).map(|_| Default::default()).collect(),
            lateness: Hist::default(),
            unproven: 0,
            faults: BTreeMap::new(),
            timeline: Timeline::new(slice),
        }
    }

    #[inline]
    pub fn counts(&mut self, class: u32) -> &mut Counts {
        &mut self.classes[class as usize].0
    }

    #[inline]
    pub fn scheduled(&mut self, class: u32, at: Nanos) {
        self.counts(class).scheduled += 1;
        self.timeline.at(at).scheduled += 1;
    }

    #[inline]
    pub fn completed(&mut self, class: u32, stamps: &Stamps, body_bytes: u64, status: u16) {
        let (counts, times) = &mut self.classes[class as usize];
        counts.non_2xx += u64::from(!(200..300).contains(&status));
        counts.completed += 1;
        counts.body_bytes += body_bytes;
        let response = stamps.last.saturating_sub(stamps.scheduled);
        times.ttfb.record(stamps.first.saturating_sub(stamps.sent));
        times.transfer.record(stamps.last.saturating_sub(stamps.first));
        times.service.record(stamps.last.saturating_sub(stamps.sent));
        times.response.record(response);
        let now = self.timeline.at(stamps.last);
        now.completed += 1;
        now.body_bytes += body_bytes;
        now.response.record(response);
    }

    pub fn faulted(&mut self, class: u32, request: u32, at: Nanos, fault: HttpFault) {
        self.counts(class).faulted += 1;
        self.timeline.at(at).faulted += 1;
        self.keep(request, fault);
    }

    /// Counts a failure by its kind.
    pub fn keep(&mut self, request: u32, fault: HttpFault) {
        self.faults.entry(fault.kind).or_insert((0, request, fault)).0 += 1;
    }

    /// Response times of the latest slice that has any.
    pub fn newest(&self) -> &Hist {
        self.timeline.newest()
    }

    /// Completed and failed so far.
    pub fn progress(&self) -> (u64, u64) {
        self.classes.iter().fold((0, 0), |(done, bad), (c, _)| (done + c.completed, bad + c.faulted))
    }

    pub fn add(&mut self, other: Recorder) {
        for ((counts, times), (c, t)) in self.classes.iter_mut().zip(other.classes) {
            counts.add(&c);
            times.add(&t);
        }
        self.lateness.add(&other.lateness);
        self.unproven += other.unproven;
        for (kind, (count, request, fault)) in other.faults {
            self.faults.entry(kind).or_insert((0, request, fault)).0 += count;
        }
        self.timeline.add(other.timeline);
    }

    /// The failures by kind; `name` returns a request's name.
    pub fn faults(&self, name: impl Fn(u32) -> String) -> Vec<FaultCount> {
        let fault = |(kind, (count, request, example)): (&HttpFaultKind, &(u64, u32, HttpFault))| {
            FaultCount { kind: *kind, count: *count, request: name(*request), example: example.clone() }
        };
        self.faults.iter().map(fault).collect()
    }

    /// Classes with these names, and slices.
    pub fn finish(self, names: &[String]) -> (Vec<ClassResult>, Vec<Slice>) {
        let class = |(name, (counts, times)): (&String, (Counts, Times))| ClassResult {
            name: name.clone(),
            counts,
            times,
        };
        (names.iter().zip(self.classes).map(class).collect(), self.timeline.finish())
    }
}

impl Counts {
    pub fn add(&mut self, c: &Counts) {
        self.scheduled += c.scheduled;
        self.sent += c.sent;
        self.completed += c.completed;
        self.faulted += c.faulted;
        self.dropped += c.dropped;
        self.retried += c.retried;
        self.abandoned += c.abandoned;
        self.non_2xx += c.non_2xx;
        self.connections += c.connections;
        self.resumed += c.resumed;
        self.sent_bytes += c.sent_bytes;
        self.wire_bytes += c.wire_bytes;
        self.head_bytes += c.head_bytes;
        self.body_bytes += c.body_bytes;
        self.decoded_bytes += c.decoded_bytes;
        self.compared += c.compared;
        self.decoded += c.decoded;
        self.decode_ns += c.decode_ns;
    }
}

impl Times {
    pub fn add(&mut self, t: &Times) {
        self.connect.add(&t.connect);
        self.tls.add(&t.tls);
        self.ttfb.add(&t.ttfb);
        self.transfer.add(&t.transfer);
        self.service.add(&t.service);
        self.response.add(&t.response);
    }
}

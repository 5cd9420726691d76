//! Poisson: an unlimited number of independent users; the time between two requests is exponential.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Due, Form, Model, Read, Run, Schedule, ThreadShare, end_of, rate};
use crate::Nanos;

pub(super) const FORM: Form = Form { name: "poisson", shapes: "poisson:200", read };

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    /// Requests per second, on average.
    rate: f64,
}

fn read(arguments: Option<&str>, _: &Run) -> Read {
    Ok(Box::new(Poisson { rate: rate(arguments.unwrap_or_default())? }))
}

impl Model for Poisson {
    fn schedule(&self, part: &ThreadShare) -> Box<dyn Schedule> {
        let mut random = ChaCha8Rng::seed_from_u64(part.seed);
        // Streams of this generator are independent, and therefore also the parts: a sum of independent Poisson
        // processes is a Poisson process with the sum of their rates (Kingman, *Poisson Processes*, 1993, ch. 2).
        random.set_stream(u64::from(part.index));
        let mean = f64::from(part.count.max(1)) / self.rate * 1e9;
        let mut process = Process { random, mean, at: 0.0, next: 0, end: end_of(part) };
        process.advance();
        Box::new(process)
    }

    fn offered(&self, _: f64) -> Option<f64> {
        Some(self.rate)
    }
}

struct Process {
    random: ChaCha8Rng,
    /// Nanoseconds between two requests, on average.
    mean: f64,
    /// The next instant before rounding: rounded gaps would add up to another rate.
    at: f64,
    next: Nanos,
    end: Nanos,
}

impl Process {
    fn advance(&mut self) {
        // From 0 to below 1, so that the logarithm is finite.
        let drawn: f64 = self.random.random();
        self.at -= (1.0 - drawn).ln() * self.mean;
        self.next = self.at.round() as Nanos;
    }
}

impl Schedule for Process {
    fn next(&mut self, now: Nanos) -> Due {
        match self.next {
            instant if instant >= self.end => Due::Never,
            instant if instant > now => Due::At(instant),
            instant => {
                self.advance();
                Due::Now(instant)
            }
        }
    }
}

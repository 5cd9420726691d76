//! Constant: the same time between any two requests.

use super::{Form, Instants, Model, Numbered, Read, Run, Schedule, ThreadShare, rate};

pub(super) const FORM: Form = Form { name: "constant", shapes: "constant:200", read };

/// Requests at equal intervals, the first at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Requests per second.
    rate: f64,
}

fn read(arguments: Option<&str>, _: &Run) -> Read {
    Ok(Box::new(Constant { rate: rate(arguments.unwrap_or_default())? }))
}

impl Model for Constant {
    fn schedule(&self, part: &ThreadShare) -> Box<dyn Schedule> {
        Box::new(Numbered::new(*self, part))
    }

    fn offered(&self, _: f64) -> Option<f64> {
        Some(self.rate)
    }
}

impl Instants for Constant {
    fn at(&mut self, n: u64) -> Option<f64> {
        Some(n as f64 / self.rate)
    }
}

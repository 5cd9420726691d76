//! Ramp: the rate changes linearly from one value to another.

use super::{Form, Instants, Model, Numbered, Read, Run, Schedule, ThreadShare, rate, span};

pub(super) const FORM: Form = Form { name: "ramp", shapes: "ramp:100..1000, ramp:100..1000,60s", read };

/// A rate that changes linearly, and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Requests per second at the start.
    from: f64,
    /// Requests per second at the end.
    to: f64,
    /// Seconds from start to end; nothing is due afterwards.
    seconds: f64,
}

fn read(arguments: Option<&str>, run: &Run) -> Read {
    let arguments = arguments.unwrap_or_default();
    let (rates, length) = arguments.split_once(',').map_or((arguments, None), |(r, l)| (r, Some(l)));
    let (from, to) = rates.split_once("..").ok_or("write the first and the last rate, such as 100..1000")?;
    let (from, to) = (rate(from)?, rate(to)?);
    let seconds = match length {
        Some(text) => span(text)?,
        None => run.seconds.ok_or_else(|| {
            format!("the length is unknown: write it, such as ramp:{rates},60s, or give the run a duration")
        })?,
    };
    Ok(Box::new(Ramp { from, to, seconds }))
}

impl Model for Ramp {
    fn schedule(&self, part: &ThreadShare) -> Box<dyn Schedule> {
        Box::new(Numbered::new(*self, part))
    }

    fn offered(&self, seconds: f64) -> Option<f64> {
        let inside = (0.0..self.seconds).contains(&seconds);
        Some(if inside { self.from + (self.to - self.from) * seconds / self.seconds } else { 0.0 })
    }
}

impl Instants for Ramp {
    fn at(&mut self, n: u64) -> Option<f64> {
        // Until t there are from·t + (to − from)·t²/2T requests. This form of the root keeps its precision when the two
        // rates are close, and is also valid when they are equal.
        let n = n as f64;
        let rise = (self.to - self.from) / self.seconds;
        let all = (self.from + self.to) / 2.0 * self.seconds;
        (n < all).then(|| 2.0 * n / (self.from + (self.from * self.from + 2.0 * rise * n).max(0.0).sqrt()))
    }
}

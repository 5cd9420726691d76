//! Steps: a sequence of constant rates, each with its duration.

use super::{Form, Instants, Model, Numbered, Read, Run, Schedule, ThreadShare, rate, span};

pub(super) const FORM: Form = Form { name: "steps", shapes: "steps:100x10s,200x10s", read };

/// The most steps; with more, use a ramp.
const MOST: usize = 10_000;

/// A sequence of constant rates; nothing is due after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps(Vec<Step>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Requests per second.
    rate: f64,
    /// Seconds from the start of the run to the start and to the end of the step.
    start: f64,
    end: f64,
    /// Requests before the step, and up to its end. Not whole numbers, so that a step ends on time.
    before: f64,
    after: f64,
}

fn read(arguments: Option<&str>, _: &Run) -> Read {
    let mut steps: Vec<Step> = Vec::new();
    for text in arguments.unwrap_or_default().split(',') {
        let (rate_text, length) = text
            .split_once('x')
            .ok_or_else(|| format!("the step {text:?} is not RATExTIME, such as 100x10s"))?;
        let (rate, seconds) = (rate(rate_text)?, span(length)?);
        let (start, before) = steps.last().map_or((0.0, 0.0), |last| (last.end, last.after));
        steps.push(Step { rate, start, end: start + seconds, before, after: before + rate * seconds });
        if steps.len() > MOST {
            return Err(format!("more than {MOST} steps"));
        }
    }
    Ok(Box::new(Steps(steps)))
}

impl Model for Steps {
    fn schedule(&self, part: &ThreadShare) -> Box<dyn Schedule> {
        Box::new(Numbered::new(Walk { steps: self.0.clone(), index: 0 }, part))
    }

    fn offered(&self, seconds: f64) -> Option<f64> {
        Some(
            self.0
                .iter()
                .find(|step| (step.start..step.end).contains(&seconds))
                .map_or(0.0, |step| step.rate),
        )
    }
}

/// The steps, and the step of the latest instant.
struct Walk {
    steps: Vec<Step>,
    index: usize,
}

impl Instants for Walk {
    fn at(&mut self, n: u64) -> Option<f64> {
        let n = n as f64;
        while n >= self.steps.get(self.index)?.after {
            self.index += 1;
        }
        let step = self.steps.get(self.index)?;
        Some(step.start + (n - step.before) / step.rate)
    }
}

//! Steps: one constant rate after another, each for a time.

use super::{Form, Instants, Model, Numbered, Part, Read, Run, Schedule, rate, span};

pub(super) const FORM: Form = Form { name: "steps", shapes: "steps:100x10s,200x10s", read };

/// More would be a ramp.
const MOST: usize = 10_000;

/// Constant rates in a row; nothing is due after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps(Vec<Step>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Requests a second.
    rate: f64,
    /// Seconds from the start of the run to its own, and to its end.
    start: f64,
    end: f64,
    /// Requests of all steps before it, and with it: no whole numbers, so that a step ends when it ends.
    before: f64,
    after: f64,
}

fn read(arguments: Option<&str>, _: &Run) -> Read {
    let mut steps: Vec<Step> = Vec::new();
    for text in arguments.unwrap_or_default().split(',') {
        let (rate_text, length) = text
            .split_once('x')
            .ok_or_else(|| format!("the step {text:?} is no rate and time, as 100x10s"))?;
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
    fn schedule(&self, part: &Part) -> Box<dyn Schedule> {
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

/// Steps, and the one in which the last instant was.
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

//! Closed: a fixed number of requests at once; a request that has ended is followed by the next one after the think
//! time.

use std::collections::VecDeque;

use super::{Due, Form, Model, Read, Run, Schedule, ThreadShare, end_of};
use crate::{Nanos, units};

pub(super) const FORM: Form = Form { name: "closed", shapes: "closed, closed:think=500ms", read };

/// A fixed number of users who wait for a response, think, and send the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// Time from the end of a request to the next request of the same user.
    think: Nanos,
}

fn read(arguments: Option<&str>, _: &Run) -> Read {
    let Some(arguments) = arguments else { return Ok(Box::new(Closed { think: 0 })) };
    let think = arguments.strip_prefix("think=").ok_or_else(|| {
        format!("{arguments:?} is not a setting of this model; its only setting is think=TIME")
    })?;
    let seconds = units::seconds(think).map_err(|e| format!("think time: {e}"))?;
    Ok(Box::new(Closed { think: (seconds * 1e9).round() as Nanos }))
}

impl Model for Closed {
    fn schedule(&self, part: &ThreadShare) -> Box<dyn Schedule> {
        let slots = part.slots as usize;
        let mut waiting = VecDeque::with_capacity(slots);
        waiting.resize(slots, 0);
        Box::new(Users { waiting, slots, think: self.think, end: end_of(part) })
    }

    fn is_open(&self) -> bool {
        false
    }

    fn offered(&self, _: f64) -> Option<f64> {
        None
    }
}

/// The users of one part who are thinking.
struct Users {
    /// The instants at which they send. All think for the same time, so the instants are in order.
    waiting: VecDeque<Nanos>,
    slots: usize,
    think: Nanos,
    end: Nanos,
}

impl Schedule for Users {
    fn next(&mut self, now: Nanos) -> Due {
        match self.waiting.front() {
            Some(&due) if due >= self.end => Due::Never,
            Some(&due) if due <= now => {
                self.waiting.pop_front();
                Due::Now(due)
            }
            Some(&due) => Due::At(due),
            None if self.slots == 0 || now >= self.end => Due::Never,
            None => Due::OnEnd,
        }
    }

    fn ended(&mut self, now: Nanos) {
        debug_assert!(self.waiting.len() < self.slots, "more requests ended than were due");
        self.waiting.push_back(now.saturating_add(self.think));
    }
}

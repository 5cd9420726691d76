//! Pages whose content changes while the load runs: a nonce of the day, a clock that shows minutes, a sidebar that is made anew.
//!
//! A body that begins and ends as the preflight's, has at least half in common with them and is nevertheless other is held back. When
//! enough of them agree, it is the page that has changed; what stays alone is wrong. A response that was cut off, or has an error page
//! in its place, does not begin and end so, and is never held.

use std::sync::{Mutex, PoisonError};

use super::decoder::Waiting;
use super::template::{SHARED, Template};
use crate::fault::Fault;

/// So many bodies that agree are a change, not a defect.
const AGREEING: usize = 3;
/// Bodies that are held at most: with one more, the oldest is wrong.
const MOST: usize = 8;

/// What of a page has changed since its preflight.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What the preflight's bodies and those of the change have in common, once there was one.
    since: Option<Template>,
    held: Vec<Held>,
}

/// A body that waits for others to agree with it.
#[derive(Debug)]
struct Held {
    body: Vec<u8>,
    fault: Fault,
    waiting: Waiting,
}

impl Changes {
    /// Whether a body is as the page has been since it changed.
    pub fn have(&self, body: &[u8]) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.as_ref().is_some_and(|since| since.fits(body).is_ok())
    }

    /// Takes a body that is other than those of the preflight, decoded, with the fault that it is when none agrees with it. Whoever waits for a body
    /// of which that is known now is told. `preflight`: the bodies of the preflight, decoded.
    pub fn take(&self, preflight: &[Vec<u8>], body: Vec<u8>, fault: Fault, waiting: Waiting) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if common([preflight, std::slice::from_ref(&body)].concat()).is_none() {
            return waiting.tell(Err(fault));
        }
        state.held.push(Held { body, fault, waiting });
        let agreeing = state.agreeing(preflight);
        if agreeing.len() >= AGREEING {
            state.since = common([preflight, &agreeing].concat());
            let since = state.since.as_ref();
            let (right, alone): (Vec<Held>, Vec<Held>) = std::mem::take(&mut state.held)
                .into_iter()
                .partition(|held| since.is_some_and(|since| since.fits(&held.body).is_ok()));
            state.held = alone;
            right.into_iter().for_each(|held| held.waiting.tell(Ok(held.body.len() as u64)));
        } else if state.held.len() > MOST {
            state.held.remove(0).refuse();
        }
    }

    /// The load has ended: what is still held is wrong.
    pub fn end(&self) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.held.drain(..).for_each(Held::refuse);
    }

    /// How many parts of the page vary, when it has changed.
    pub fn varying(&self) -> Option<usize> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.as_ref().map(Template::varying)
    }
}

impl State {
    /// The held bodies that have everything that the preflight and all the others of them have in common: a defect is in one of them alone.
    fn agreeing(&self, preflight: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let bodies: Vec<&Vec<u8>> = self.held.iter().map(|held| &held.body).collect();
        let agrees = |at: &usize| {
            let others =
                bodies.iter().enumerate().filter(|(other, _)| other != at).map(|(_, b)| (*b).clone());
            let all = preflight.iter().cloned().chain(others).collect();
            common(all).is_some_and(|common| common.fits(bodies[*at]).is_ok())
        };
        (0..bodies.len()).filter(agrees).map(|at| bodies[at].clone()).collect()
    }
}

impl Held {
    fn refuse(self) {
        self.waiting.tell(Err(self.fault));
    }
}

/// What bodies have in common, when they begin and end alike and that is at least half of each.
fn common(bodies: Vec<Vec<u8>>) -> Option<Template> {
    let most = bodies.iter().map(Vec::len).max().unwrap_or(0);
    let is_alike =
        |template: &Template| template.is_framed() && template.fixed_bytes() as f64 >= SHARED * most as f64;
    Template::of(&bodies).filter(is_alike)
}

//! Pages whose content changes during the load: a nonce of the day, a clock that shows minutes, a sidebar that is
//! regenerated.
//!
//! A body that starts and ends like those of the preflight, shares at least half with them, but differs, is held back.
//! If enough of them agree, the page has changed; a body without others that agree is wrong. A response that was cut
//! off, or an error page, does not start and end like that, and is never held.

use std::sync::{Mutex, PoisonError};

use super::decoder::Waiting;
use super::template::{SHARED, Template};
use crate::fault::HttpFault;

/// This many bodies that agree are a change, not a defect.
const AGREEING: usize = 3;
/// The most bodies that are held; with one more, the oldest is wrong.
const MOST: usize = 8;

/// What has changed in a page since its preflight.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What the bodies of the preflight and of the change have in common; none before a change.
    since: Option<Template>,
    held: Vec<WaitingBody>,
}

/// A body that waits for others to agree with it.
#[derive(Debug)]
struct WaitingBody {
    body: Vec<u8>,
    fault: HttpFault,
    waiting: Waiting,
}

impl Changes {
    /// Whether a body is like the page since its change.
    pub fn have(&self, body: &[u8]) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.as_ref().is_some_and(|since| since.fits(body).is_ok())
    }

    /// Takes a decoded body that differs from those of the preflight, with the failure that applies if no other body
    /// agrees with it. Reports to those who wait for bodies that are settled now. `preflight`: the decoded bodies of
    /// the preflight.
    pub fn take(&self, preflight: &[Vec<u8>], body: Vec<u8>, fault: HttpFault, waiting: Waiting) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if common([preflight, std::slice::from_ref(&body)].concat()).is_none() {
            return waiting.tell(Err(fault));
        }
        state.held.push(WaitingBody { body, fault, waiting });
        let agreeing = state.agreeing(preflight);
        if agreeing.len() >= AGREEING {
            state.since = common([preflight, &agreeing].concat());
            let since = state.since.as_ref();
            let (right, alone): (Vec<WaitingBody>, Vec<WaitingBody>) = std::mem::take(&mut state.held)
                .into_iter()
                .partition(|held| since.is_some_and(|since| since.fits(&held.body).is_ok()));
            state.held = alone;
            right.into_iter().for_each(|held| held.waiting.tell(Ok(held.body.len() as u64)));
        } else if state.held.len() > MOST {
            state.held.remove(0).refuse();
        }
    }

    /// The load has ended: bodies that are still held are wrong.
    pub fn end(&self) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.held.drain(..).for_each(WaitingBody::refuse);
    }

    /// How many parts of the page vary, if it has changed.
    pub fn varying(&self) -> Option<usize> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.as_ref().map(Template::varying)
    }
}

impl State {
    /// The held bodies that contain everything that the preflight and all other held bodies have in common: a defect is
    /// in one body only.
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

impl WaitingBody {
    fn refuse(self) {
        self.waiting.tell(Err(self.fault));
    }
}

/// What bodies have in common, if they start and end alike and that is at least half of each.
fn common(bodies: Vec<Vec<u8>>) -> Option<Template> {
    let most = bodies.iter().map(Vec::len).max().unwrap_or(0);
    let is_alike =
        |template: &Template| template.is_framed() && template.fixed_bytes() as f64 >= SHARED * most as f64;
    Template::of(&bodies).filter(is_alike)
}

//! The DevTools protocol: calls with their answers, and events in between.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::pipe::Pipe;
use weigh_model::text::clean;
use weigh_os::guard::Guarded;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(20);
/// How often a wait looks whether the browser lives, and at the user's wish.
const GLANCE: Duration = Duration::from_millis(100);
/// Events that wait to be looked at.
const MOST_EVENTS: usize = 200_000;
/// Letters of the browser's last words.
const WORDS: usize = 600;

#[derive(Debug)]
pub(super) struct DevTools {
    // Before the pipes: the browser ends first.
    guarded: Guarded,
    pipe: Pipe,
    number: u64,
    events: VecDeque<Value>,
}

impl DevTools {
    pub fn new(guarded: Guarded, pipe: Pipe) -> DevTools {
        DevTools { guarded, pipe, number: 0, events: VecDeque::new() }
    }

    /// Calls a method of a session, or of the browser; its result.
    ///
    /// # Errors
    /// One line: it is refused, or not answered in time.
    pub fn call(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<Value> {
        self.call_by(Instant::now() + ANSWER, session, method, params)
    }

    /// The same until then.
    pub fn call_by(
        &mut self,
        deadline: Instant,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value> {
        self.number += 1;
        let number = self.number;
        let mut message = json!({ "id": number, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.pipe.send(message.to_string().as_bytes(), deadline)?;
        loop {
            let Some(message) = self.receive(deadline)? else { bail!("{method} is not answered in time") };
            if message["id"] != json!(number) {
                self.keep(message)?;
                continue;
            }
            if let Some(error) = message.get("error") {
                let why: String =
                    clean(error["message"].as_str().unwrap_or("no reason")).chars().take(WORDS).collect();
                bail!("{method} is refused: {why}");
            }
            let Value::Object(mut message) = message else { bail!("{method} is answered by no object") };
            return Ok(message.remove("result").unwrap_or(Value::Null));
        }
    }

    /// The next event; none: there was none until then.
    ///
    /// # Errors
    /// The browser ended, or the user wants an end.
    pub fn event(&mut self, until: Instant) -> Result<Option<Value>> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        loop {
            let Some(message) = self.receive(until)? else { return Ok(None) };
            // An answer that nobody waits for any more is dropped.
            if message.get("method").is_some() {
                return Ok(Some(message));
            }
        }
    }

    /// Drops the events of what is over.
    pub fn forget(&mut self) {
        self.events.clear();
    }

    fn keep(&mut self, message: Value) -> Result<()> {
        ensure!(self.events.len() < MOST_EVENTS, "the browser says too much");
        if message.get("method").is_some() {
            self.events.push_back(message);
        }
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Option<Value>> {
        loop {
            let now = Instant::now();
            let message =
                self.pipe.receive(until.min(now + GLANCE)).context("the browser is not understood")?;
            if let Some(message) = message {
                return serde_json::from_slice(&message)
                    .map(Some)
                    .context("the browser says what is no JSON");
            }
            if Interrupt::caught().is_set() {
                bail!(INTERRUPTED);
            }
            if !self.guarded.is_alive() {
                let how = self.guarded.how_it_ended().unwrap_or_default().to_owned();
                let words: String =
                    self.guarded.last_words().unwrap_or_default().chars().take(WORDS).collect();
                bail!("the browser ended: {how}; its last words: {words}");
            }
            if Instant::now() >= until {
                return Ok(None);
            }
        }
    }
}

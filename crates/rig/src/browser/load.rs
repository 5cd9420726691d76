//! One load of a page in a context of its own, from an empty one to what was painted.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use serde_json::{Value, json};

use weigh_os::digest;

use super::LoadLimits;
use super::devtools::DevTools;
use super::record::{
    Frame, LargestSeen, RecordedLoad, RecordedRequest, amount, bytes_of, number, short, texts, url,
};

/// The longest document that is read back, in bytes.
const LONGEST: usize = 4 << 20;
/// How long a page may take to say what it painted, at least: as long as its load if that may take longer.
const ASKING: Duration = Duration::from_secs(20);
/// Events of one load, and fonts of a page.
const MOST_EVENTS: usize = 500_000;
const MOST_FONTS: usize = 20;
/// Frames of one load, and the longest of one in base64.
const MOST_FRAMES: usize = 120;
const LONGEST_FRAME: usize = 200_000;
/// Asks a page what it painted, in a world that its own scripts do not reach.
const QUESTION: &str = include_str!("painted.js");

/// Loads a page, and closes all that it opened.
pub(super) fn load(tools: &mut DevTools, page: &str, limits: &LoadLimits) -> Result<RecordedLoad> {
    tools.forget();
    let context = tools.call(None, "Target.createBrowserContext", &json!({ "disposeOnDetach": true }))?;
    let context = text(&context["browserContextId"])?;
    let loaded = Visit::begin(tools, &context, page, limits).and_then(|visit| visit.carry_out(page));
    let closed = tools.call(None, "Target.disposeBrowserContext", &json!({ "browserContextId": context }));
    let loaded = loaded?;
    closed?;
    Ok(loaded)
}

fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).context("the browser's answer lacks what was asked for")
}

/// Whether a text is base64 and nothing else.
fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// A load while it goes on.
struct Visit<'t> {
    tools: &'t mut DevTools,
    limits: LoadLimits,
    session: String,
    target: String,
    frame: String,
    requests: Vec<RecordedRequest>,
    /// With times as the browser's clock of the day has them.
    frames: Vec<Frame>,
    /// What that clock is before the one of requests, in milliseconds.
    ahead_ms: f64,
    /// The last request of each number: of a redirect, the one that it leads to.
    numbered: HashMap<String, usize>,
    open: HashSet<String>,
    loaded: Option<Instant>,
    /// When a request began or ended last.
    last: Instant,
    cut: Option<String>,
}

impl<'t> Visit<'t> {
    /// Opens an empty page in a context and lets it tell what it requests.
    fn begin(tools: &'t mut DevTools, context: &str, page: &str, limits: &LoadLimits) -> Result<Visit<'t>> {
        let own = json!({ "behavior": "deny", "browserContextId": context });
        tools.call(None, "Browser.setDownloadBehavior", &own)?;
        tools.call(None, "Target.setDiscoverTargets", &json!({ "discover": true }))?;
        let empty = json!({ "url": "about:blank", "browserContextId": context });
        let target = text(&tools.call(None, "Target.createTarget", &empty)?["targetId"])?;
        let attach = json!({ "targetId": target, "flatten": true });
        let session = text(&tools.call(None, "Target.attachToTarget", &attach)?["sessionId"])?;
        let buffers = json!({ "maxTotalBufferSize": 4 * LONGEST, "maxResourceBufferSize": LONGEST });
        tools.call(Some(&session), "Network.enable", &buffers)?;
        tools.call(Some(&session), "Page.enable", &json!({}))?;
        if limits.picture {
            let size = json!({ "format": "jpeg", "quality": 50, "maxWidth": 240, "maxHeight": 180 });
            tools.call(Some(&session), "Page.startScreencast", &size)?;
        }
        let navigated = tools.call(Some(&session), "Page.navigate", &json!({ "url": page }))?;
        if let Some(error) = navigated["errorText"].as_str() {
            bail!("{}: {}", short(page), short(error));
        }
        Ok(Visit {
            tools,
            limits: *limits,
            session,
            target,
            frame: text(&navigated["frameId"])?,
            requests: Vec::new(),
            frames: Vec::new(),
            ahead_ms: 0.0,
            numbered: HashMap::new(),
            open: HashSet::new(),
            loaded: None,
            last: Instant::now(),
            cut: None,
        })
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let session = self.session.clone();
        self.tools.call(Some(&session), method, params)
    }

    fn carry_out(mut self, page: &str) -> Result<RecordedLoad> {
        self.listen()?;
        if self.cut.is_some() {
            self.call("Page.stopLoading", &json!({}))?;
        }
        let document = self.requests.first().context("it is not requested")?;
        if document.failed || document.timing.is_none() {
            bail!("{}: it is not answered", short(page));
        }
        if document.status >= 300 {
            bail!("{}: status {}; give the URL of a page that works", short(page), document.status);
        }
        let painted = self.painted()?;
        let markup = self.markup()?;
        let picture = if self.limits.picture { Some(self.picture()?) } else { None };
        Ok(RecordedLoad { picture, ..self.recorded(page, &painted, markup) })
    }

    /// Takes in what happens until nothing more does, or its time is over.
    fn listen(&mut self) -> Result<()> {
        let deadline = Instant::now() + self.limits.patience;
        for _ in 0..MOST_EVENTS {
            let quiet = self.last.max(self.loaded.unwrap_or(self.last)) + self.limits.quiet;
            let end = match self.loaded {
                Some(loaded) if self.open.is_empty() => quiet.min(loaded + self.limits.after_load),
                Some(loaded) => loaded + self.limits.after_load,
                None => deadline,
            };
            let end = end.min(deadline);
            match self.tools.event(end)? {
                Some(event) => self.take(&event)?,
                None if self.loaded.is_none() => {
                    self.cut = Some(format!("no load event within {} s", self.limits.patience.as_secs()));
                    return Ok(());
                }
                None => return Ok(()),
            }
            if self.requests.len() >= self.limits.requests {
                self.cut = Some(format!("more than {} requests", self.limits.requests));
                return Ok(());
            }
            if Instant::now() >= deadline.max(end) {
                self.cut = Some("events without end".into());
                return Ok(());
            }
        }
        self.cut = Some("events without end".into());
        Ok(())
    }

    fn take(&mut self, event: &Value) -> Result<()> {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Target.targetCreated" => self.close_popup(&params["targetInfo"]),
            _ if event["sessionId"] != json!(self.session) => Ok(()),
            "Page.javascriptDialogOpening" => {
                self.call("Page.handleJavaScriptDialog", &json!({ "accept": false })).map(drop)
            }
            "Page.loadEventFired" => {
                self.loaded.get_or_insert_with(Instant::now);
                Ok(())
            }
            "Network.requestWillBeSent" => self.request(params),
            "Page.screencastFrame" => self.frame(params),
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.end(params, event["method"] == "Network.loadingFailed");
                Ok(())
            }
            _ => {
                self.add(event["method"].as_str().unwrap_or_default(), params);
                Ok(())
            }
        }
    }

    /// A page that was opened by a page is closed.
    fn close_popup(&mut self, about: &Value) -> Result<()> {
        let Some(id) = about["targetId"].as_str().filter(|id| *id != self.target) else { return Ok(()) };
        if about["openerId"].is_string() && about["type"] == "page" {
            // It may be closed by now.
            let _ = self.tools.call(None, "Target.closeTarget", &json!({ "targetId": id }));
        }
        Ok(())
    }

    fn request(&mut self, params: &Value) -> Result<()> {
        let is_document = params["type"] == "Document" && params["frameId"] == json!(self.frame);
        let Some(request) = RecordedRequest::of_event(params) else { return Ok(()) };
        let earlier = self.numbered.get(&request.id).copied();
        if is_document && earlier.is_some() {
            bail!("{}: it leads to {}; give that", short(&self.requests[0].url), short(&request.url));
        }
        if is_document && !self.requests.is_empty() {
            bail!("{}: it leads elsewhere by itself", short(&self.requests[0].url));
        }
        if let (Some(earlier), Some(response)) = (earlier, params.get("redirectResponse")) {
            let before = &mut self.requests[earlier];
            before.take_response(response);
            before.done_ms = Some(request.wanted_ms);
        }
        if self.requests.is_empty() {
            self.ahead_ms = amount(&params["wallTime"]) * 1e3 - request.wanted_ms;
        }
        self.last = Instant::now();
        self.open.insert(request.id.clone());
        self.numbered.insert(request.id.clone(), self.requests.len());
        self.requests.push(request);
        Ok(())
    }

    /// Keeps what can be seen, where that is something else.
    fn frame(&mut self, params: &Value) -> Result<()> {
        let taken = json!({ "sessionId": params["sessionId"] });
        self.call("Page.screencastFrameAck", &taken)?;
        let at_ms = amount(&params["metadata"]["timestamp"]) * 1e3;
        let jpeg = params["data"].as_str().filter(|data| data.len() <= LONGEST_FRAME && is_base64(data));
        let is_other = |jpeg: &&str| self.frames.last().is_none_or(|last| last.jpeg != *jpeg);
        if let Some(jpeg) = jpeg.filter(is_other).filter(|_| self.frames.len() < MOST_FRAMES) {
            self.frames.push(Frame { at_ms, jpeg: jpeg.to_owned() });
        }
        Ok(())
    }

    fn of_number(&mut self, params: &Value) -> Option<&mut RecordedRequest> {
        let at = *self.numbered.get(params["requestId"].as_str()?)?;
        self.requests.get_mut(at)
    }

    fn end(&mut self, params: &Value, has_failed: bool) {
        self.last = Instant::now();
        if let Some(id) = params["requestId"].as_str() {
            self.open.remove(id);
        }
        let Some(request) = self.of_number(params) else { return };
        request.failed = has_failed;
        request.done_ms = number(&params["timestamp"]).map(|seconds| seconds * 1e3);
        let all = amount(&params["encodedDataLength"]);
        let is_plain = request.coding == "identity" && request.decoded_bytes > 0.0;
        request.body_bytes =
            if is_plain { request.decoded_bytes } else { (all - request.head_bytes).max(0.0) };
    }

    /// What else is said of a request.
    fn add(&mut self, method: &str, params: &Value) {
        let Some(request) = self.of_number(params) else { return };
        match method {
            "Network.responseReceived" => request.take_response(&params["response"]),
            "Network.requestWillBeSentExtraInfo" => {
                let path = request.url.splitn(4, '/').nth(3).map_or(0, str::len);
                request.request_bytes = bytes_of(&params["headers"]) + path as f64 + 17.0;
            }
            "Network.dataReceived" => request.decoded_bytes += amount(&params["dataLength"]),
            "Network.resourceChangedPriority" => {
                request.last_priority = short(params["newPriority"].as_str().unwrap_or_default());
            }
            "Network.requestServedFromCache" => request.from_cache = true,
            _ => {}
        }
    }

    /// What the page painted, by its own count.
    fn painted(&mut self) -> Result<Value> {
        let world = json!({ "frameId": self.frame, "worldName": "weigh" });
        let world = self.call("Page.createIsolatedWorld", &world)?;
        let asking = ASKING.max(self.limits.patience);
        let question = json!({
            "expression": QUESTION, "contextId": world["executionContextId"], "returnByValue": true,
            "awaitPromise": true, "timeout": asking.as_millis() as u64,
        });
        let session = self.session.clone();
        let by = Instant::now() + asking;
        let answer = self.tools.call_by(by, Some(&session), "Runtime.evaluate", &question)?;
        if let Some(error) = answer.get("exceptionDetails") {
            bail!(
                "the page does not say what it painted: {}",
                short(&error["exception"]["description"].to_string())
            );
        }
        Ok(answer["result"]["value"].clone())
    }

    /// The document as it came.
    fn markup(&mut self) -> Result<String> {
        let id = json!({ "requestId": self.requests[0].id });
        let body =
            self.call("Network.getResponseBody", &id).context("the browser has not kept the document")?;
        let text = text(&body["body"])?;
        if body["base64Encoded"] != json!(true) {
            return Ok(text);
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).context("the document")?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A picture of the page, by its digest.
    fn picture(&mut self) -> Result<String> {
        let image = self.call("Page.captureScreenshot", &json!({ "format": "png" }))?;
        let data = image["data"].as_str().context("the browser took no picture of the page")?;
        Ok(digest::sha256(data.as_bytes()))
    }

    fn recorded(self, page: &str, painted: &Value, markup: String) -> RecordedLoad {
        let mut requests = self.requests;
        // The page's own clock begins with the navigation: what it says of its request tells where that is on the browser's.
        let sent = requests[0].timing.map_or(requests[0].wanted_ms, |timing| timing.sent_ms);
        let by = sent - amount(&painted["requestStart"]);
        requests.iter_mut().for_each(|request| request.move_times(by));
        let ahead_ms = self.ahead_ms + by;
        let frames = self.frames.into_iter().map(|frame| Frame { at_ms: frame.at_ms - ahead_ms, ..frame });
        let positive = |value: &Value| number(value).filter(|ms| *ms > 0.0);
        let largest = &painted["largest"];
        RecordedLoad {
            url: short(page),
            requests,
            fcp_ms: positive(&painted["fcp"]),
            largest: positive(&largest["at"]).map(|at_ms| LargestSeen {
                at_ms,
                url: largest["url"].as_str().filter(|text| !text.is_empty()).and_then(url),
                text: short(largest["text"].as_str().unwrap_or_default()),
                fonts: texts(&largest["fonts"], MOST_FONTS),
            }),
            load_ms: positive(&painted["load"]),
            hiding_fonts: texts(&painted["fonts"], MOST_FONTS),
            markup,
            picture: None,
            // What is still there of the empty page before is none of this one.
            frames: frames.filter(|frame| frame.at_ms >= 0.0).collect(),
            cut: self.cut,
        }
    }
}

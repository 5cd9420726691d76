//! Loads of two sides as waterfalls and filmstrips, the first above the second, on one scale of time.

use weigh_model::units;

use super::markup::safe;
use crate::load_view::{LoadView, PicturedLoad, PicturedRequest};

/// Frames of a filmstrip, and requests that are shown.
const FRAMES: usize = 8;
const MOST: usize = 60;

/// The first is open; a reader opens others.
pub(super) fn html(all: &[LoadView]) -> String {
    let one = |(number, loads): (usize, &LoadView)| {
        let end_ms = loads.sides.iter().map(PicturedLoad::end_ms).fold(1.0, f64::max);
        let frames = loads.sides.iter().flat_map(|side| &side.frames);
        let seen_ms = frames.map(|(at_ms, _)| *at_ms).fold(0.0, f64::max);
        let sides =
            loads.names.iter().zip(&loads.sides).map(|(name, side)| figure(name, side, end_ms, seen_ms));
        format!(
            "<details class=\"loads\"{}><summary>{}</summary>\n{}</details>\n",
            if number == 0 { " open" } else { "" },
            safe(&loads.title),
            sides.collect::<String>()
        )
    };
    all.iter().enumerate().map(one).collect()
}

fn seconds(ms: f64) -> String {
    format!("{:.2} s", ms / 1e3)
}

fn figure(name: &str, load: &PicturedLoad, end_ms: f64, seen_ms: f64) -> String {
    let share = |ms: f64| (ms / end_ms * 100.0).clamp(0.0, 100.0);
    let bytes: f64 = load.requests.iter().map(|request| request.bytes).sum();
    let figures = format!(
        "FCP {}, LCP {}, load {}, {}, {}",
        seconds(load.fcp_ms),
        seconds(load.lcp_ms),
        seconds(load.load_ms),
        units::count(load.requests.len(), "request", "requests"),
        units::bytes(bytes as u64)
    );
    let frame = |number: usize| {
        let at_ms = seen_ms * number as f64 / (FRAMES - 1) as f64;
        let seen = load.seen_at(at_ms).map_or_else(
            || "<i class=\"blank\"></i>".to_owned(),
            |jpeg| format!("<img alt=\"\" src=\"data:image/jpeg;base64,{jpeg}\">"),
        );
        format!("<li>{seen}<span>{}</span></li>", seconds(at_ms))
    };
    let has_frames = seen_ms > 0.0;
    let film: String = if has_frames { (0..FRAMES).map(frame).collect() } else { String::new() };
    let row = |request: &PicturedRequest| {
        let [wanted, first, done] =
            [request.wanted_ms, request.first_byte_ms.max(request.wanted_ms), request.done_ms].map(share);
        let coding = if request.coding == "identity" { "" } else { request.coding.as_str() };
        format!(
            "<li><span class=\"name\" title=\"{0}\"><bdi>{0}</bdi></span><span class=\"track\"><i class=\"waits\" style=\"left:{wanted:.2}%;width:{1:.2}%\"></i>\
             <i class=\"arrives\" style=\"left:{first:.2}%;width:{2:.2}%\"></i></span><span class=\"size\">{3} {4}</span></li>\n",
            safe(&request.path),
            first - wanted,
            (done - first).max(0.3),
            units::bytes(request.bytes as u64),
            safe(coding)
        )
    };
    let rows: String = load.requests.iter().take(MOST).map(row).collect();
    let left = load.requests.len().saturating_sub(MOST);
    let left =
        if left > 0 { format!("<p class=\"remark\">{left} more requests.</p>\n") } else { String::new() };
    format!(
        "<figure class=\"load\"><figcaption><b>{}</b>: {figures}</figcaption>\n<ol class=\"film\">{film}</ol>\n\
         <ol class=\"waterfall\" style=\"--fcp:{:.2}%;--lcp:{:.2}%;--load:{:.2}%\">\n{rows}</ol>\n{left}</figure>\n",
        safe(name),
        share(load.fcp_ms),
        share(load.lcp_ms),
        share(load.load_ms)
    )
}

//! The flags that say when requests are due, as the text of one arrival model.

use anyhow::{Result, bail};
use weigh_load::units;

use super::args::Arrival;

/// Seconds of a run that nothing else gives a length.
const DEFAULT_SECONDS: f64 = 10.0;

/// An arrival model and what it says about the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Arriving {
    /// As the engine reads it.
    pub text: String,
    pub seconds: Option<f64>,
    /// Requests are due whatever the server does.
    pub open: bool,
}

/// The model that the flags ask for, in a run of this many requests or seconds as far as they were given.
pub fn model(flags: &Arrival, requests: Option<u64>, duration: Option<f64>) -> Result<Arriving> {
    let default = requests.is_none().then_some(DEFAULT_SECONDS);
    let text = match flags {
        Arrival { rate: Some(rate), .. } => format!("constant:{rate}"),
        Arrival { poisson: Some(rate), .. } => format!("poisson:{rate}"),
        Arrival { ramp: Some(ramp), .. } => format!("ramp:{ramp}"),
        Arrival { steps: Some(steps), .. } => format!("steps:{}", equal_parts(steps, duration.or(default))?),
        Arrival { think: Some(seconds), .. } => format!("closed:think={seconds}"),
        Arrival { text: Some(text), .. } => text.clone(),
        _ => "closed".into(),
    };
    let seconds = duration.or_else(|| own_length(&text)).or(default);
    let text = with_length(text, seconds.unwrap_or(DEFAULT_SECONDS));
    let open = weigh_load::arrival::parse_for(&text, seconds)?.is_open();
    Ok(Arriving { text, seconds, open })
}

/// Steps without times share the run's time.
fn equal_parts(steps: &str, seconds: Option<f64>) -> Result<String> {
    if steps.contains('x') {
        return Ok(steps.to_owned());
    }
    let Some(seconds) = seconds else {
        bail!("--steps {steps}: how long each step takes is not known; add -d, or write 100x10s,200x10s");
    };
    let rates: Vec<&str> = steps.split(',').map(str::trim).collect();
    let each = seconds / rates.len() as f64;
    Ok(rates.iter().map(|rate| format!("{rate}x{each}s")).collect::<Vec<_>>().join(","))
}

/// A ramp that does not say how long it takes takes the whole run.
fn with_length(text: String, seconds: f64) -> String {
    if text.starts_with("ramp:") && !text.contains(',') { format!("{text},{seconds}s") } else { text }
}

/// The seconds that a model names itself.
fn own_length(text: &str) -> Option<f64> {
    let (name, arguments) = text.split_once(':')?;
    match name {
        "ramp" => units::seconds(arguments.split_once(',')?.1).ok(),
        "steps" => arguments.split(',').map(|s| units::seconds(s.split_once('x')?.1).ok()).sum(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Arrival {
        Arrival { rate: None, poisson: None, ramp: None, steps: None, think: None, text: None }
    }

    fn text(flags: Arrival, requests: Option<u64>, duration: Option<f64>) -> (String, Option<f64>, bool) {
        let Arriving { text, seconds, open } = model(&flags, requests, duration).unwrap();
        (text, seconds, open)
    }

    #[test]
    fn each_flag_is_a_model_with_the_run_s_length() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(text(none(), None, None), ("closed".into(), Some(10.0), false));
        assert_eq!(text(none(), Some(5), None), ("closed".into(), None, false));
        let rate = Arrival { rate: Some(200.0), ..none() };
        assert_eq!(text(rate, None, Some(2.0)), ("constant:200".into(), Some(2.0), true));
        let think = Arrival { think: Some(0.5), ..none() };
        assert_eq!(text(think, None, None), ("closed:think=0.5".into(), Some(10.0), false));
        let ramp = Arrival { ramp: some("100..500"), ..none() };
        assert_eq!(text(ramp, None, Some(4.0)), ("ramp:100..500,4s".into(), Some(4.0), true));
        let steps = Arrival { steps: some("100,200"), ..none() };
        assert_eq!(text(steps, None, None), ("steps:100x5s,200x5s".into(), Some(10.0), true));
        let steps = Arrival { steps: some("100x3s,200x4s"), ..none() };
        assert_eq!(text(steps, None, None).1, Some(7.0));
        let full = Arrival { text: some("poisson:7"), ..none() };
        assert_eq!(text(full, None, None), ("poisson:7".into(), Some(10.0), true));
    }

    #[test]
    fn what_is_no_model_is_one_line() {
        for flags in [
            Arrival { ramp: Some("100".into()), ..none() },
            Arrival { steps: Some("0,1".into()), ..none() },
            Arrival { text: Some("burst:7".into()), ..none() },
        ] {
            let line = model(&flags, None, None).unwrap_err().to_string();
            assert!(!line.contains('\n') && !line.is_empty(), "{line}");
        }
        let steps = Arrival { steps: Some("1,2".into()), ..none() };
        assert!(model(&steps, Some(10), None).unwrap_err().to_string().contains("add -d"));
    }
}

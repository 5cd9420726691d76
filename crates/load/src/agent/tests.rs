use std::io::{BufReader, Cursor, Write};
use std::time::Duration;

use super::*;
use crate::plan::{Check, Length, Share};
use crate::workload::{Defaults, of_urls};

fn plan(seed: u64) -> LoadPlan {
    let workload = of_urls(&["http://127.0.0.1/".into()], &Defaults::default()).unwrap();
    LoadPlan {
        requests: workload.requests,
        streams: workload.streams,
        length: Length { requests: Some(1), seconds: None },
        check: Check::Discard,
        seed,
        ..LoadPlan::default()
    }
}

fn line(plan: &LoadPlan) -> String {
    format!("{}\n", serde_json::to_string(plan).unwrap())
}

/// A result that shows which plan it belongs to.
fn result(seconds: f64) -> LoadResult {
    LoadResult { seconds, ..LoadResult::default() }
}

fn run_agent(input: impl Read + Send + 'static, engine: &Engine) -> Vec<AgentMessage> {
    let mut output = Vec::new();
    serve(BufReader::new(input), &mut output, engine).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn plan_after_plan_is_answered_in_order() {
    let engine = |plan: &LoadPlan, tell: &mut dyn FnMut(&Progress), _: &Signals| {
        tell(&Progress { completed: plan.seed, ..Progress::default() });
        match plan.seed {
            2 => Err("no such host".to_owned()),
            3 => panic!("out of luck"),
            seed => Ok(result(seed as f64)),
        }
    };
    let input =
        format!("{}{}\n{}{}nonsense\n", line(&plan(1)), line(&plan(2)), line(&plan(3)), line(&plan(4)));
    let answers = run_agent(Cursor::new(input), &engine);
    let progress = |n| AgentMessage::Slice(Progress { completed: n, ..Progress::default() });
    assert_eq!(answers[0], progress(1));
    assert_eq!(answers[1], AgentMessage::Result(Box::new(result(1.0))));
    assert_eq!(answers[3], AgentMessage::Fault("no such host".into()));
    assert_eq!(answers[5], AgentMessage::Fault("the generator panicked: out of luck".into()));
    assert_eq!(answers[7], AgentMessage::Result(Box::new(result(4.0))));
    assert!(
        matches!(&answers[8], AgentMessage::Fault(why) if why.starts_with("not a plan: ")),
        "{:?}",
        answers[8]
    );
    assert_eq!(answers.len(), 9);
}

/// An engine that ends only when it is stopped.
fn endless(plan: &LoadPlan, _: &mut dyn FnMut(&Progress), signals: &Signals) -> Result<LoadResult, String> {
    while !signals.stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(result(plan.seed as f64))
}

#[test]
fn stop_ends_the_block_in_flight_and_not_the_next() {
    let (reader, mut writer) = io::pipe().unwrap();
    let feeder = std::thread::spawn(move || {
        for part in [&line(&plan(1)), "\"stop\"\n", &line(&plan(2)), "\"stop\"\n", &line(&plan(3))] {
            writer.write_all(part.as_bytes()).unwrap();
        }
        // The end of the input ends the third.
    });
    let answers = run_agent(reader, &endless);
    feeder.join().unwrap();
    let results: Vec<f64> = answers
        .iter()
        .map(|a| match a {
            AgentMessage::Result(result) => result.seconds,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(results, [1.0, 2.0, 3.0]);
}

#[test]
fn nobody_who_listens_ends_the_agent() {
    struct Deaf;
    impl Write for Deaf {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let engine = |plan: &LoadPlan, tell: &mut dyn FnMut(&Progress), signals: &Signals| {
        tell(&Progress::default());
        endless(plan, tell, signals)
    };
    assert!(serve(Cursor::new(line(&plan(1))), &mut Deaf, &engine).is_err());
}

#[test]
fn a_part_of_a_load_begins_when_it_is_told_by_the_clock_that_it_says() {
    let engine = |_: &LoadPlan, _: &mut dyn FnMut(&Progress), signals: &Signals| {
        let start = loop {
            match signals.start.get() {
                Some(start) => break *start,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        Ok(LoadResult { began: Some(start), ..result(1.0) })
    };
    let share = Some(Share { index: 1, count: 3 });
    let alone = LoadPlan { share: None, ..plan(1) };
    let part = LoadPlan { share, ..plan(1) };
    let begin = |ns| format!("{}\n", serde_json::to_string(&Begin { begin: ns }).unwrap());
    let input =
        format!("\"clock\"\n{}{}{}{}\"clock\"\n", line(&part), begin(7_000_000), line(&alone), begin(1));
    let answers = run_agent(Cursor::new(input), &engine);
    let [
        AgentMessage::Clock(before),
        AgentMessage::Began(7_000_000),
        AgentMessage::Result(_),
        AgentMessage::Result(_),
        AgentMessage::Clock(after),
    ] = answers[..]
    else {
        panic!("{answers:?}")
    };
    assert!(before < after, "{before} {after}");
}

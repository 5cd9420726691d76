//! Stored runs of every subject in which all configurations of a content are the same: each round of each is drawn from the
//! visits of one of them. Whatever a sentence says is more or less there, no verdict carries.

use std::collections::BTreeMap;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regex::Regex;
use weigh_answer::report::{Report, RunFacts};
use weigh_answer::verdict;
use weigh_model::cell::Cell;
use weigh_model::record::{Record, VisitRecord};

use crate::stored;
use weigh_answer::report::finding::Finding;

const ROUNDS: u32 = 6;

/// A stored run whose configurations are all the same.
fn equal(run: &str, random: &mut ChaCha8Rng) -> Report {
    let (plan, records) = stored::records(run);
    let mut visits: BTreeMap<String, Vec<VisitRecord>> = BTreeMap::new();
    for record in records {
        if let Record::Visit(visit) = record {
            visits.entry(visit.cell.clone()).or_default().push(visit);
        }
    }
    let kind = |cell: &Cell| {
        let link = cell.delivery.as_ref().and_then(|sent| sent.link.clone());
        let store = cell.client.as_ref().and_then(|client| client.link.clone());
        (cell.subject.clone(), cell.payload.clone(), link, store)
    };
    let mut drawn = Vec::new();
    for round in 1..=ROUNDS {
        for cell in plan.cells.iter().filter(|cell| visits.contains_key(&cell.id)) {
            let first =
                plan.cells.iter().find(|other| kind(other) == kind(cell) && visits.contains_key(&other.id));
            let one = first.and_then(|first| visits[&first.id].choose(random)).expect("itself");
            let mut visit = VisitRecord { cell: cell.id.clone(), round, ..one.clone() };
            disturb(
                &mut visit,
                if random.random::<f64>() < 0.5 { 1.0 } else { 1.35 } + 0.02 * random.random::<f64>(),
            );
            drawn.push(Record::Visit(visit));
        }
    }
    drawn.push(Record::End { at: 0, rounds: ROUNDS, seconds: 60.0 });
    Report::of(&RunFacts::default(), &plan, &drawn)
}

/// All times of a visit are this many times as long.
fn disturb(visit: &mut VisitRecord, times: f64) {
    let long = |ns: &mut u64| *ns = (*ns as f64 * times) as u64;
    for samples in visit.phases.values_mut() {
        samples.cpu_ns.iter_mut().chain(&mut samples.wall_ns).for_each(|ns| *ns *= times);
    }
    if let Some(sent) = &mut visit.delivery {
        sent.seconds *= times;
        let server =
            [&mut sent.server_cpu_ns, &mut sent.php_cpu_ns, &mut sent.server_user_ns, &mut sent.php_user_ns];
        server.into_iter().flatten().for_each(long);
    }
    if let Some(client) = &mut visit.client {
        client.workers.iter_mut().for_each(|worker| worker.seconds *= times);
        let store = [&mut client.server_user_ns, &mut client.server_system_ns];
        store.into_iter().flatten().for_each(long);
        [
            &mut client.encode_ns,
            &mut client.decode_ns,
            &mut client.client_user_ns,
            &mut client.client_system_ns,
        ]
        .into_iter()
        .for_each(long);
    }
}

/// Whether a sentence says that one configuration is more or less than another, without its parts that say that nothing is
/// known, and unless it is about published figures or those of a model.
fn says_a_direction(text: &str) -> bool {
    const OPEN: &str = r"(?i)[^.,;]*no significant difference[^.;]*|[^.,;]*too few rounds\)?";
    const ORDERS: &str = r"% (less|more|fewer|lower|higher|faster|slower)\b|× the |\b(beats?|better|quicker|faster|slower|cheaper|smaller|worse|saves?|wins?)\b";
    if text.to_lowercase().contains("published") || text.contains("the modelled time") {
        return false;
    }
    let open = Regex::new(OPEN).expect("valid");
    Regex::new(ORDERS).expect("valid").is_match(&open.replace_all(text, ""))
}

/// Whether two of these configurations differ significantly in anything.
fn is_carried(report: &Report, cells: &[String]) -> bool {
    let rows: Vec<_> = cells.iter().filter_map(|id| report.row(id)).collect();
    rows.iter().enumerate().any(|(at, a)| {
        rows[..at].iter().any(|b| {
            let differs = |(metric, one): (&_, &_)| {
                b.values.get(metric).is_some_and(|other| verdict::differ(one, other))
            };
            a.values.iter().any(differs)
        })
    })
}

/// The sentences of a report that say a direction which no verdict carries.
fn uncarried(report: &Report) -> Vec<&str> {
    let findings = report.findings.iter().map(|finding| (finding.text.as_str(), &finding.cells));
    let advice = report.advice.iter().flat_map(|advice| &advice.sentences);
    let all = findings.chain(advice.map(|one| (one.text.as_str(), &one.cells)));
    all.filter(|(text, cells)| says_a_direction(text) && !is_carried(report, cells))
        .map(|(text, _)| text)
        .collect()
}

#[test]
fn no_sentence_says_a_direction_that_no_verdict_carries() {
    let mut wrong = Vec::new();
    for run in stored::RUNS.into_iter().chain(stored::DOCUMENTED) {
        for seed in 0..3 {
            let report = equal(run, &mut ChaCha8Rng::seed_from_u64(seed));
            wrong.extend(uncarried(&report).into_iter().map(|text| format!("{run}: {text}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sentence by the figures alone, as a finding without a verdict would write it, of every two of a report.
#[test]
fn a_planted_direction_is_found() {
    for run in stored::RUNS.into_iter().chain(stored::DOCUMENTED) {
        let mut report = equal(run, &mut ChaCha8Rng::seed_from_u64(0));
        let pairs = report.groups.iter().flat_map(|group| group.cells.windows(2).map(<[String]>::to_vec));
        let open: Vec<Vec<String>> = pairs.filter(|pair| !is_carried(&report, pair)).collect();
        let text = |cells: &[String]| format!("{} needs 12% less CPU time than {}", cells[0], cells[1]);
        let planted: Vec<String> = open.iter().map(|cells| text(cells)).collect();
        let findings = open.into_iter().zip(planted.clone());
        let finding = |(cells, text)| Finding { topic: "planted".into(), text, cells, rank: 0 };
        report.findings.extend(findings.map(finding));
        assert!(uncarried(&report) == planted && (!planted.is_empty() || run == "downloads"), "{run}");
    }
}

#[test]
fn a_direction_is_known_by_its_words_and_carried_by_a_verdict_alone() {
    for text in [
        "25% less encode time (20–30%)",
        "zstd 3 beats gzip 6",
        "no significant difference in CPU time; 5% more bytes",
    ] {
        assert!(says_a_direction(text), "{text}");
    }
    for text in [
        "0.9× the encode time so far (too few rounds)",
        "No significant difference in throughput (0.3×, 0.1–3.5)",
    ] {
        assert!(!says_a_direction(text), "{text}");
    }
    let all =
        |report: &Report| -> Vec<String> { report.rows.iter().map(|row| row.id().to_owned()).collect() };
    let stored = stored::report("cache-levels");
    assert!(is_carried(&stored, &all(&stored)));
    let equal = equal("cache-levels", &mut ChaCha8Rng::seed_from_u64(0));
    let pairs = equal.groups.iter().flat_map(|group| group.cells.windows(2));
    let (carried, open): (Vec<_>, Vec<_>) = pairs.partition(|pair| is_carried(&equal, pair));
    assert!(carried.len() * 4 < open.len(), "{carried:?}");
}

use super::answers::{Answer, Asking, Form, Target};
use super::compare::{Allowed, compare};
use super::{reason, sentence, withheld};
use crate::configuration::describe_trial;
use weigh_model::policy::{Trial, Worse};
use weigh_model::site::Kind;

fn asking(class: usize, form: Form, target: Target) -> Asking {
    Asking { path: "/app.css".into(), class, form, target }
}

/// A response of 4,000 bytes with what a site gives it.
fn answer(status: u16, coding: &str, bytes: u64) -> Answer {
    let fields = [
        ("etag", ""),
        ("vary", "Accept-Encoding"),
        ("content-type", "text/css"),
        ("x-frame-options", "DENY"),
    ];
    Answer {
        status,
        coding: coding.into(),
        bytes: Some(bytes),
        content: Some("digest".into()),
        fields: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..Answer::default()
    }
}

/// What is worse of an answer, in the words of its sentence.
fn judged(question: &Asking, before: &Answer, after: &Answer) -> Option<String> {
    let side = |answer: &Answer| vec![(question.clone(), Some(answer.clone()))];
    let (compared, worse) = compare(&side(before), &side(after), Allowed::default());
    assert_eq!(compared, 1);
    worse.first().map(|one| one.what.clone())
}

fn content(class: usize, form: Form) -> Asking {
    asking(class, form, Target::Content(Kind::Asset))
}

#[test]
fn a_better_answer_is_not_worse() {
    let get = content(0, Form::Get);
    let plain = answer(200, "identity", 4000);
    assert_eq!(judged(&get, &plain, &plain), None);
    assert_eq!(judged(&get, &plain, &answer(200, "br", 900)), None);
    assert_eq!(judged(&get, &answer(200, "gzip", 1000), &answer(200, "gzip", 1020)), None);
    assert_eq!(judged(&content(0, Form::IfNoneMatch), &plain, &answer(304, "identity", 0)), None);
    // What is smaller without a coding need not say that it depends on it.
    let mut bare = answer(200, "identity", 90);
    bare.fields.remove("vary");
    assert_eq!(judged(&get, &answer(200, "gzip", 100), &bare), None);
    // A few bytes of a small file are none: it is too small for a content coding, or another encoder made it.
    assert_eq!(judged(&get, &answer(200, "identity", 36), &answer(200, "gzip", 56)), None);
    assert_eq!(judged(&get, &answer(200, "zstd", 372), &answer(200, "zstd", 386)), None);
    for coding in ["identity", "gzip"] {
        assert_eq!(
            judged(&get, &answer(200, coding, 36), &answer(200, "gzip", 100)).as_deref(),
            Some("body")
        );
    }
    // Caddy names the instance's port for HTTP/3.
    let mut secure = plain.clone();
    secure.fields.insert("alt-svc".into(), String::new());
    assert_eq!(judged(&get, &secure, &secure), None);
    assert_eq!(judged(&get, &secure, &plain).as_deref(), Some("alt-svc"));
    // Of what is encoded while it is sent there are no ranges; nobody else loses them.
    let mut ranges = plain.clone();
    ranges.fields.insert("accept-ranges".into(), "bytes".into());
    assert_eq!(judged(&get, &ranges, &answer(200, "gzip", 900)), None);
    assert_eq!(judged(&get, &ranges, &plain).as_deref(), Some("accept-ranges"));
}

#[test]
fn each_thing_that_is_worse_is_named() {
    let get = content(0, Form::Get);
    let before = answer(200, "gzip", 1000);
    let without = |field: &str| {
        let mut after = before.clone();
        after.fields.remove(field);
        judged(&get, &before, &after)
    };
    for field in ["etag", "vary", "content-type", "x-frame-options"] {
        assert_eq!(without(field).as_deref(), Some(field));
    }
    let other = |change: fn(&mut Answer)| {
        let mut after = before.clone();
        change(&mut after);
        judged(&get, &before, &after).unwrap()
    };
    assert_eq!(other(|after| after.status = 404), "status");
    assert_eq!(other(|after| after.content = Some("other".into())), "content");
    assert_eq!(
        other(|after| (after.coding, after.bytes) = ("identity".into(), Some(4000))),
        "Content-Encoding"
    );
    assert_eq!(other(|after| after.bytes = Some(1033)), "body");
    assert_eq!(
        other(|after| drop(after.fields.insert("content-type".into(), "text/css; charset=utf-8".into()))),
        "content-type"
    );
    // An error page may say something else; one that is not what its coding says cannot be read.
    let missing = answer(404, "gzip", 140);
    let other_page = Answer { content: Some("other".into()), ..missing.clone() };
    assert_eq!(judged(&get, &missing, &other_page), None);
    assert_eq!(
        judged(&get, &missing, &Answer { content: None, ..missing.clone() }).as_deref(),
        Some("content")
    );
    // A range of what is sent whole in a content coding, which the client accepts or not.
    let (part, whole) = (answer(206, "identity", 100), answer(200, "br", 900));
    assert_eq!(judged(&content(0, Form::Range), &part, &whole), None);
    assert_eq!(judged(&content(0, Form::Range), &answer(206, "gzip", 100), &whole), None);
    let coded = Answer { content: Some("other".into()), ..answer(206, "br", 100) };
    assert_eq!(judged(&content(0, Form::Range), &part, &coded), None);
    assert_eq!(judged(&content(3, Form::Range), &part, &coded).as_deref(), Some("Content-Encoding"));
    for class in [2, 3] {
        assert_eq!(judged(&content(class, Form::Range), &part, &whole).as_deref(), Some("status"));
    }
    // A client that accepts none is sent one.
    let none = content(3, Form::Get);
    assert_eq!(
        judged(&none, &answer(200, "identity", 4000), &answer(200, "gzip", 900)).as_deref(),
        Some("Content-Encoding")
    );
    let again = content(3, Form::IfNoneMatch);
    assert_eq!(
        judged(&again, &answer(304, "identity", 0), &answer(200, "identity", 4000)).as_deref(),
        Some("status")
    );
    let range = content(3, Form::Range);
    assert_eq!(
        judged(&range, &answer(206, "identity", 100), &answer(200, "identity", 4000)).as_deref(),
        Some("status")
    );
}

#[test]
fn what_was_refused_stays_out_of_reach() {
    let refused = asking(0, Form::Get, Target::Refused);
    assert_eq!(
        judged(&refused, &answer(403, "identity", 9), &answer(200, "br", 900)).as_deref(),
        Some("status")
    );
    assert_eq!(judged(&refused, &answer(403, "identity", 9), &answer(404, "identity", 900)), None);
    let handed = asking(0, Form::Get, Target::HandedOver);
    let secret = Answer { is_secret: true, ..answer(200, "identity", 40) };
    assert_eq!(judged(&handed, &answer(404, "identity", 9), &secret).as_deref(), Some("reach"));
    assert_eq!(judged(&handed, &answer(404, "identity", 9), &answer(200, "identity", 40)), None);
}

#[test]
fn an_answer_that_is_missing_is_worse_and_one_that_was_missing_is_not_compared() {
    let question = content(0, Form::Get);
    let none = vec![(question.clone(), None)];
    let some = vec![(question, Some(answer(200, "gzip", 1000)))];
    let (compared, worse) = compare(&some, &none, Allowed::default());
    assert_eq!((compared, worse.len(), worse[0].after.as_str()), (1, 1, "no answer"));
    assert_eq!(compare(&none, &some, Allowed::default()), (0, Vec::new()));
}

/// A handing over is tried by the URL of each folder that has a rule.
#[test]
fn each_folder_of_downloads_has_a_url() {
    let urls = |folders| weigh_rig::server::offload_prefixes(folders).collect::<Vec<_>>();
    assert_eq!(
        (urls(1), urls(2)),
        (vec!["/offload".to_owned()], vec!["/offload/1".into(), "/offload/2".into()])
    );
}

#[test]
fn a_reason_has_one_example_of_each_thing() {
    let one = |what: &str| Worse {
        url: "/app.css".into(),
        request: "GET".into(),
        what: what.into(),
        before: "1".into(),
        after: "2".into(),
    };
    let left_out = withheld("nginx/encoding.conf", &[one("body"), one("body"), one("etag")]);
    assert_eq!((left_out.answers, left_out.worse.len()), (3, 2));
    assert_eq!(
        reason(&left_out),
        "not written, for it makes 3 answers worse: /app.css (GET): body 1 without it, 2 with it"
    );
    let whole = super::whole("the server does not start with it", "unknown directive".into());
    assert_eq!(sentence(&whole), "the server does not start with it: unknown directive");
    let trial = Trial { answers: 1284, ..Trial::default() };
    let without_pages = Trial { without_pages: true, ..trial.clone() };
    assert!(
        describe_trial(&without_pages).contains("Pages were not compared")
            && !describe_trial(&trial).contains("Pages")
    );
    assert_eq!(
        describe_trial(&trial),
        "Checked: 1,284 answers of your configuration with and without it: none worse."
    );
    let some = Trial { not_asked: 120, ..trial.clone() };
    assert!(
        describe_trial(&some).ends_with("120 questions were not asked: time and number are bounded."),
        "{}",
        describe_trial(&some)
    );
    assert_eq!(describe_trial(&super::untried("no server")), "Not tried on your configuration: no server");
}

/// The library itself is asked.
#[test]
fn settings_that_the_library_refuses_are_found() {
    if std::process::Command::new("php").arg("-v").output().is_err() {
        println!("skipped: php is not installed: apt install php-cli");
        return;
    }
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../php/library");
    let refusal = |body: &str| {
        super::settings::refusal(&format!("<?php\n{body}\n"), &library, &["php".into()]).unwrap()
    };
    assert_eq!(
        refusal("return ['schema' => 1, 'download' => ['method' => 'x-sendfile', 'root' => '/srv']];"),
        None
    );
    let words =
        refusal("return ['schema' => 1, 'download' => ['method' => 'php/x-sendfile', 'root' => '/srv']];")
            .unwrap();
    assert!(words.contains("download.method") && words.contains("php/x-sendfile"), "{words}");
    assert!(refusal("return 1;").is_some() && refusal("this is no PHP").is_some());
}

//! Every response gets exactly one verdict, whatever the decoder does.

use super::*;

fn unproven(world: &mut World, wire: &[u8]) -> Evidence {
    match world.respond(Coding::Gzip, wire, 1000) {
        Verdict::Unproven(evidence) => evidence,
        other => panic!("{other:?}"),
    }
}

fn variants(body: &[u8]) -> Vec<Vec<u8>> {
    (1..=9).map(|level| encode(Coding::Gzip, level, body)).collect()
}

#[test]
fn each_tag_comes_back_once_with_its_own_verdict() {
    let body = page(3000);
    let wires = variants(&body);
    let mut world = World::accepting(Coding::Gzip, &[&wires[0]]);
    // Each is a different body, and those with odd tags are wrong.
    for tag in 0..8 {
        let mut wire = wires[1 + tag as usize].clone();
        if tag % 2 == 1 {
            wire[200 + tag as usize] ^= 1;
        }
        let evidence = unproven(&mut world, &wire);
        world.verifier.submit(evidence, tag).unwrap();
    }
    let mut outcomes = world.verifier.finish(PATIENCE);
    outcomes.sort_by_key(|o| o.tag);
    assert_eq!(outcomes.iter().map(|o| o.tag).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    for outcome in &outcomes {
        assert!(outcome.decode_ns > 0);
        match (&outcome.proof, outcome.tag % 2) {
            (Proof::Decoded { decoded_bytes: 3000 }, 0) => {}
            (Proof::Fault(fault), 1) => assert_eq!(fault.kind, HttpFaultKind::Corrupt),
            other => panic!("{other:?}"),
        }
    }
    assert!(world.verifier.finish(PATIENCE).is_empty());
    assert!(world.verifier.proven().is_none());
    assert_eq!(world.verifier.unproven(), 0);
}

#[test]
fn a_decoder_that_does_not_answer_costs_no_response_and_no_wait() {
    let body = page(3000);
    let wires = variants(&body);
    let (decoder, jobs) = Decoder::stuck(2);
    let mut world = World::deciding(Coding::Gzip, &[&wires[0]], Limits::default(), decoder);
    for (tag, wire) in wires[1..4].iter().enumerate() {
        let evidence = unproven(&mut world, wire);
        let taken = world.verifier.submit(evidence, tag as u32);
        assert_eq!(taken, if tag < 2 { Ok(()) } else { Err(2) });
    }
    assert_eq!(world.verifier.unproven(), 1);
    assert!(world.verifier.proven().is_none());
    let rest = world.verifier.finish(Duration::ZERO);
    let tags: Vec<_> = rest.iter().map(|o| (o.tag, matches!(o.proof, Proof::Unread))).collect();
    assert_eq!(tags, [(0, true), (1, true)]);
    assert_eq!(world.verifier.unproven(), 3);
    // Later results of the decoder do not count.
    for order in jobs.try_iter() {
        let decoder::Order::Decode(job) = order else { continue };
        assert!(job.over.load(std::sync::atomic::Ordering::Relaxed));
        let reply = decoder::Reply { number: job.number, verdict: Ok(3000), decode_ns: 1 };
        job.reply.send(reply).unwrap();
    }
    assert!(world.verifier.proven().is_none());
    assert!(world.verifier.finish(PATIENCE).is_empty());
}

#[test]
fn bodies_that_wait_are_bounded_in_bytes() {
    let right = encode(Coding::Gzip, 6, &page(3000));
    let (decoder, jobs) = Decoder::stuck(100);
    let mut world = World::deciding(Coding::Gzip, &[&right], Limits::default(), decoder);
    let other = vec![b'x'; 3 << 20];
    let mut kept = 0;
    for tag in 0..10 {
        match world.respond(Coding::Gzip, &other, 1 << 18) {
            Verdict::Unproven(evidence) => {
                world.verifier.submit(evidence, tag).unwrap();
                kept += 1;
            }
            Verdict::Unread { decoded_bytes: 3000 } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((kept, world.verifier.unproven()), (5, 5), "five times 3 MiB go into 16 MiB");
    jobs.try_iter().for_each(drop);
    assert!(
        matches!(world.respond(Coding::Gzip, &other, 1 << 18), Verdict::Unproven(_)),
        "room was given back"
    );
}

#[test]
fn a_checker_that_is_dropped_gives_its_room_back() {
    let right = encode(Coding::Gzip, 6, &page(3000));
    let mut world = World::accepting(Coding::Gzip, &[&right]);
    for _ in 0..20 {
        let mut checker = world.verifier.head(0, &head(Coding::Gzip), RAW).unwrap();
        world.verifier.body(&mut checker, &vec![b'x'; 10 << 20]);
        assert!(checker.reads(), "there was room");
    }
}

#[test]
fn a_variant_learned_by_one_thread_is_known_to_all() {
    let body = page(3000);
    let wires = variants(&body);
    let mut world = World::accepting(Coding::Gzip, &[&wires[0]]);
    let mut second = World { verifier: world.verifier.sibling() };
    let late = {
        // It was kept before it was known, and ends afterwards.
        let mut checker = second.verifier.head(0, &head(Coding::Gzip), RAW).unwrap();
        second.verifier.body(&mut checker, &wires[3]);
        checker
    };
    assert_eq!(world.judged(Coding::Gzip, &wires[3], 500), (Ok(3000), true));
    let end = second.verifier.end(late, wires[3].len() as u64);
    assert!(matches!(end, Verdict::Compared { decoded_bytes: 3000 }), "{end:?}");
    assert_eq!(second.judged(Coding::Gzip, &wires[3], 500), (Ok(3000), false));
}

#[test]
fn dynamic_bodies_are_decoded_in_samples_beginning_with_the_first() {
    let seen: Vec<Captured> =
        [page(500), vec![b'x'; 600]].map(|b| captured(Coding::Gzip, &encode(Coding::Gzip, 6, &b))).into();
    let plan = plan(Limits::default(), verify());
    let (_, expectation) = Examiner::new(&plan).examine(&request(), &seen[0], &seen[1..]);
    let verifier = Verifier::new(Expectations::new(vec![expectation], &plan), Decoder::start().unwrap());
    let mut world = World { verifier };
    let good = encode(Coding::Gzip, 6, &page(700));
    let bad = &good[..good.len() - 1];
    for i in 0..9 {
        let sampled = i % 3 == 0;
        let wire = if i == 6 { bad } else { &good };
        match world.respond(Coding::Gzip, wire, 100) {
            Verdict::Unproven(evidence) if sampled => {
                world.verifier.submit(evidence, 7).unwrap();
                match world.outcome() {
                    Ok(700) if i != 6 => {}
                    Err(fault) if i == 6 => {
                        assert_eq!((fault.kind, fault.difference), (HttpFaultKind::Corrupt, None))
                    }
                    other => panic!("response {i}: {other:?}"),
                }
            }
            Verdict::Unread { decoded_bytes: 0 } if !sampled => {}
            other => panic!("response {i}: {other:?}"),
        }
    }
}

use crate::report::exhibit::links::Mix;
use crate::report::ranking::*;
use crate::stored::report as stored;

#[test]
fn a_ranking_at_a_link_of_the_study_is_that_of_its_totals() {
    let report = stored("codecs");
    let totals = report.exhibits.links.as_ref().unwrap();
    let usual = Conditions::of(&report);
    let ranking = Ranking::of(&report);
    let mut compared = 0;
    for (place, group) in report.groups.iter().enumerate() {
        for mix in totals.of_group(group) {
            let Mix::ReadsPerWrite(reads) = mix.mix else { continue };
            for best in &mix.best {
                let links = vec![LinkShare { mbit: best.mbit, ..usual.links[0] }];
                let ranked = ranking.group(place, &Conditions { reads, links, ..usual.clone() });
                let first = ranked.iter().find(|one| one.best).unwrap();
                assert_eq!(first.id, best.cell, "{} Mbit/s", best.mbit);
                assert!((first.total / best.total - 1.0).abs() < 1e-12);
                let mut ties: Vec<&str> =
                    ranked.iter().filter(|one| one.tie && !one.best).map(|one| one.id.as_str()).collect();
                let mut expected: Vec<&str> = best.ties.iter().map(String::as_str).collect();
                ties.sort_unstable();
                expected.sort_unstable();
                assert_eq!(ties, expected, "{} at {} Mbit/s", group.payload(), best.mbit);
                compared += 1;
            }
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn every_subject_can_be_ranked_and_money_follows_prices() {
    for run in ["codecs", "deliveries", "clients"] {
        let report = stored(run);
        let ranking = Ranking::of(&report);
        let usual = Conditions::of(&report);
        let ranked = |text: &str| -> Vec<Vec<Ranked>> {
            let conditions = usual.with(text).unwrap();
            (0..report.groups.len()).map(|group| ranking.group(group, &conditions)).collect()
        };
        let time = ranked("goal=time");
        assert!(time.iter().any(|group| group.len() > 1), "{run}");
        for group in time.iter().filter(|group| !group.is_empty()) {
            assert!(group.windows(2).all(|pair| pair[0].total <= pair[1].total));
        }
        // Where only cores cost, a dearer core changes the totals and not the order.
        let (cheap, dear) = (ranked("goal=money,gb=0,core-hour=1"), ranked("goal=money,gb=0,core-hour=3"));
        for (cheap, dear) in cheap.iter().flatten().zip(dear.iter().flatten()) {
            assert_eq!((&cheap.id, cheap.tie), (&dear.id, dear.tie));
            assert!((dear.total - 3.0 * cheap.total).abs() <= 1e-9 * dear.total);
        }
        // Where nothing costs anything, nothing differs.
        let free = ranked("goal=money,gb=0,core-hour=0");
        assert!(free.iter().flatten().all(|one| one.total == 0.0));
        // Where only bytes cost, the smallest is first.
        for (group, ranked) in ranked("goal=money,core-hour=0,gb=1").iter().enumerate() {
            let bytes = |id: &str| {
                let all = &ranking.contenders[group];
                all.iter().find(|of| of.row.id() == id).and_then(|of| of.bytes).unwrap_or(0.0)
            };
            assert!(ranked.windows(2).all(|pair| bytes(&pair[0].id) <= bytes(&pair[1].id)));
        }
    }
}

#[test]
fn a_mix_of_links_is_the_mean_over_them() {
    let usual = Conditions::usual(None);
    let over = |text: &str| usual.with(text).unwrap().transfer_ns(50_000.0);
    let mean = 0.25 * over("link=10:40,connection=new") + 0.75 * over("link=2:100,connection=new");
    let mixed = over("link=10:40:1+2:100:3,connection=new");
    assert!((mixed / mean - 1.0).abs() < 1e-12, "{mixed} {mean}");
    assert!(over("link=10:40,connection=new") > over("link=10:40,connection=warm"));
}

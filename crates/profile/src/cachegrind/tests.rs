mod build;

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Seek, SeekFrom};

use proptest::prelude::*;

use self::build::{Call, HEAD, call, file};
use super::*;
use weigh_model::profile::{Recursion, Unit};

fn parsed(text: &str) -> Result<Profile> {
    read(Cursor::new(text.as_bytes()), None)
}

fn summarise_functions(profile: &Profile) -> BTreeMap<String, (u64, i64, i64)> {
    let one = |f: &Function| (f.name.clone(), (f.calls.unwrap(), f.own.amount, f.inclusive.amount));
    profile.functions.iter().map(one).collect()
}

fn recursion(profile: &Profile, name: &str) -> Recursion {
    profile.functions.iter().find(|f| f.name == name).unwrap().recursion
}

#[test]
fn direct_and_mutual_recursion_count_once_a_stack() {
    // f1 → f2 → f2 → f3 → f4 → f3, and f3 once more below f1.
    let deep = call(3, 5, vec![call(4, 7, vec![call(3, 11, vec![])])]);
    let root = call(1, 1, vec![call(2, 3, vec![call(2, 13, vec![deep])]), call(3, 100, vec![])]);
    let profile = parsed(&file(&[root])).unwrap();
    assert_eq!((profile.inclusion, profile.counting), (Inclusion::Tree, Counting::Blocks));
    let told = summarise_functions(&profile);
    assert_eq!(told["f1"], (1, 10, 1400));
    assert_eq!(told["f2"], (2, 160, 390));
    assert_eq!(told["f3"], (3, 1160, 230 + 1000), "once below f2, and once below f1");
    assert_eq!(told["f4"], (1, 70, 180));
    for (name, kind) in [
        ("f1", Recursion::None),
        ("f2", Recursion::Direct),
        ("f3", Recursion::Mutual),
        ("f4", Recursion::None),
    ] {
        assert_eq!(recursion(&profile, name), kind, "{name}");
    }
    assert_eq!((profile.total.amount, profile.roots.amount, profile.unit), (1400, 1400, Unit::Nanoseconds));
    assert!(profile.stated.is_some() && profile.cut.is_none());
}

#[test]
fn what_runs_after_the_main_script_is_a_root_of_its_own() {
    let profile = parsed(&file(&[call(1, 10, vec![call(2, 1, vec![])]), call(2, 4, vec![])])).unwrap();
    assert_eq!(summarise_functions(&profile)["f2"], (2, 50, 50));
    assert_eq!(profile.stacks.nodes().iter().filter(|node| node.parent.is_none()).count(), 2);
}

#[test]
fn the_summary_may_stand_in_the_block_of_main() {
    // So Xdebug 2 wrote it, in microseconds and without units.
    let text = "version: 0.9.6\ncreator: xdebug 2.5.5\ncmd: x.php\npart: 1\npositions: line\n\nevents: Time Memory\n\n\
                fl=php:internal\nfn=php::strlen\n2 3 8\n\nfl=/x.php\nfn={main}\n\nsummary: 10 8\n\n1 7 0\n\
                cfl=php:internal\ncfn=php::strlen\ncalls=1 0 0\n2 3 8\n\n";
    let profile = parsed(text).unwrap();
    assert_eq!((profile.inclusion, profile.cut.clone()), (Inclusion::Tree, None));
    assert_eq!((profile.total.amount, profile.stated.unwrap().amount), (10_000, 10_000));
    let main = profile.functions.iter().find(|f| f.name == "{main}").unwrap();
    assert_eq!((main.own.amount, main.inclusive.amount, main.inclusive.memory), (7_000, 10_000, 8));
}

#[test]
fn callgrind_s_sums_are_read_with_calls_from_their_lines() {
    let text = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: instr line\nevents: Ir Dr\n\n\
                ob=(1) /bin/x\nfl=(1) a.c\nfn=(1) main\n0x400 16 5 1\n+4 +1 5\ncfn=(2) work\ncalls=3 0x500 20\n* * 90\n\
                fi=(2) b.h\n* 7 2\nfe=(1)\n\nfn=(2)\n0x500 20 60 2\njump=3 0x510 21\n0x50a 21\n\
                cfi=(2)\ncfn=(3) again\ncalls=2 +3 +1\n* * 30\n\nfl=(2)\nfn=(3)\n0x600 9 30\ncfn=(3)\n\
                calls=4 0 0\n* * 12\n\ntotals: 102 3\n";
    let profile = parsed(text).unwrap();
    assert_eq!((profile.inclusion, profile.counting), (Inclusion::Graph, Counting::CallLines));
    assert_eq!((profile.total.amount, profile.stated.unwrap().amount), (102, 102));
    let told = summarise_functions(&profile);
    assert_eq!(told["main"], (1, 12, 102));
    assert_eq!(told["work"], (3, 60, 90));
    assert_eq!(told["again"], (6, 30, 30), "calls of itself are counted, their cost is not added again");
    assert_eq!(recursion(&profile, "again"), Recursion::Direct);
    assert_eq!(profile.unit, Unit::Event("Ir".into()));
    let drawn: i64 = profile.stacks.nodes().iter().map(|node| node.own.amount).sum();
    assert!(profile.stacks.is_guessed() && drawn == 102, "{drawn}");
}

#[test]
fn a_circle_of_functions_is_a_lower_bound_without_a_tree() {
    let text = "events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 0\n1 60\nfn=a\n1 20\ncfn=b\ncalls=5 0\n1 40\nfn=b\n1 30\n\
                cfn=a\ncalls=4 0\n1 35\ncfn=c\ncalls=1 0\n1 10\nfn=c\n1 10\n";
    let profile = parsed(text).unwrap();
    let told = summarise_functions(&profile);
    assert_eq!((told["main"].2, told["a"].2, told["b"].2), (61, 20, 40));
    assert_eq!((recursion(&profile, "a"), recursion(&profile, "c")), (Recursion::Mutual, Recursion::None));
    assert_eq!(profile.total.amount, 61);
}

#[test]
fn profiles_that_were_appended_are_added_up() {
    let one = file(&[call(1, 10, vec![call(2, 5, vec![])])]);
    let two = file(&[call(2, 7, vec![call(1, 1, vec![])])]).replace("f1", "g1");
    let text = format!("{one}\n==== NEW PROFILING FILE =====\n{two}");
    let profile = parsed(&text).unwrap();
    let told = summarise_functions(&profile);
    assert_eq!((profile.inclusion, profile.total.amount), (Inclusion::Graph, 230));
    assert_eq!((told["f1"], told["f2"], told["g1"]), ((1, 100, 150), (2, 120, 130), (1, 10, 10)));
    assert_eq!(profile.stated.unwrap().amount, 230);
}

#[test]
fn a_file_cut_short_shows_what_is_whole() {
    let root = call(1, 1, vec![call(2, 3, vec![call(3, 9, vec![])]), call(3, 4, vec![])]);
    let text = file(&[root]);
    let whole = parsed(&text).unwrap();
    assert_eq!((whole.total.amount, whole.cut), (170, None));
    // Before the second block's last line has its end.
    let at = text.find("fn=(2)").unwrap();
    let short = parsed(&text[..at + 12]).unwrap();
    let cut = short.cut.unwrap();
    assert_eq!(cut.why, "it ends within a line");
    assert_eq!(&text[cut.byte as usize..][..4], "fl=(", "the place is the block that was not ended");
    assert_eq!(text[..cut.byte as usize].lines().count() as u64, cut.line);
    assert_eq!((short.total.amount, short.functions.len()), (90, 1));
    let at = text.find("calls=1").unwrap();
    assert_eq!(parsed(&text[..at + 12]).unwrap().cut.unwrap().why, "it ends within a call");
    let at = text.find("summary").unwrap();
    let cut = parsed(&text[..at]).unwrap();
    assert_eq!(cut.cut.unwrap().why, "the total that is written last is missing");
    assert_eq!(cut.total.amount, 170, "every block is whole");
    let error = parsed(&text[..HEAD.len() + 8]).unwrap_err().to_string();
    assert!(error.contains("before the first function is whole"), "{error}");
}

#[test]
fn what_does_not_belong_is_told_with_its_line() {
    for (text, said) in [
        ("events: Ir\nfn=a\n1 1\n<html>\n", "line 4: it is neither a name"),
        ("events: Ir\n1 1\n", "line 2: costs before the first `fn=`"),
        ("events: Ir\nfn=a\n1 x1\n", "line 3"),
        ("events: Ir\nfn=a\ncalls=1 0\n1 1\n", "line 3: `calls=` without"),
        ("events: Ir\nfn=a\ncfn=b\ncalls=1 0\nfn=c\n", "line 5: the cost of the call before is missing"),
        ("events: Ir\nsummary: x\n", "line 2: `summary:` holds no numbers"),
        ("version: 1\nevents: Ir\n", "there is no function in it"),
    ] {
        let error = format!("{:#}", parsed(text).unwrap_err());
        assert!(error.contains(said), "{text:?}: {error}");
    }
}

#[test]
fn blocks_that_make_no_tree_fall_back_to_the_graph() {
    // The second block names a callee that never came.
    let text = file(&[call(1, 10, vec![call(2, 5, vec![])])]).replacen("cfn=(2)", "cfn=(3) other", 1);
    let profile = parsed(&text).unwrap();
    assert_eq!((profile.inclusion, profile.counting), (Inclusion::Graph, Counting::Blocks));
    assert_eq!(profile.total.amount, 150);
}

/// A reader that gives a few bytes at a time.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(self.1);
        self.0.read(&mut into[..most])
    }
}

impl Seek for Pieces {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn trees() -> impl Strategy<Value = Vec<Call>> {
    let leaf = (1u8..6, 0i64..1000, -50i64..50);
    let leaf = leaf.prop_map(|(function, own, memory)| Call { function, own, memory, callees: Vec::new() });
    let tree = leaf.prop_recursive(6, 60, 5, |inner| {
        (1u8..6, 0i64..1000, proptest::collection::vec(inner, 0..5))
            .prop_map(|(function, own, callees)| Call { function, own, memory: own, callees })
    });
    proptest::collection::vec(tree, 1..4)
}

proptest! {
    #[test]
    fn any_tree_of_calls_is_told_by_the_definition(roots in trees(), piece in 1usize..40) {
        let text = file(&roots);
        let profile = parsed(&text).unwrap();
        let mut expected = BTreeMap::new();
        roots.iter().for_each(|root| root.tell(&mut Vec::new(), &mut expected));
        prop_assert_eq!(summarise_functions(&profile), expected);
        prop_assert_eq!(profile.inclusion, Inclusion::Tree);
        prop_assert_eq!(profile.total, profile.roots);
        prop_assert_eq!(profile.total.amount, profile.stated.unwrap().amount);
        let drawn: i64 = profile.stacks.nodes().iter().map(|node| node.own.amount).sum();
        prop_assert_eq!(drawn, profile.total.amount);
        // What its callers got from a function, and what it cost as a root, are all of its inclusive cost.
        for (at, function) in profile.functions.iter().enumerate() {
            let called: i64 =
                profile.edges.iter().filter(|e| e.callee as usize == at).map(|e| e.inclusive.amount).sum();
            let alone = roots.iter().filter(|root| format!("f{}", root.function) == function.name);
            let alone: i64 = alone.map(|root| root.inclusive().0 * 10).sum();
            prop_assert_eq!(called + alone, function.inclusive.amount);
        }
        let pieces = read(Pieces(Cursor::new(text.into_bytes()), piece), None).unwrap();
        prop_assert_eq!(pieces.functions, profile.functions);
        prop_assert_eq!(pieces.edges, profile.edges);
        prop_assert_eq!(pieces.stacks, profile.stacks);
    }

    #[test]
    fn a_file_cut_anywhere_adds_up(roots in trees(), share in 0.0f64..1.0) {
        let text = file(&roots);
        let end = HEAD.len() + ((text.len() - HEAD.len()) as f64 * share) as usize;
        let Ok(profile) = parsed(&text[..end]) else { return Ok(()) };
        prop_assert!(profile.cut.is_some());
        prop_assert_eq!(profile.inclusion, Inclusion::Tree);
        let own: i64 = profile.functions.iter().map(|f| f.own.amount).sum();
        prop_assert_eq!(own, profile.total.amount);
        prop_assert_eq!(profile.total, profile.roots);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(Cursor::new(bytes), None);
    }

    #[test]
    fn no_lines_make_it_panic(text in "((fn|cfn|fl|cfl|fi|ob)=(\\([1-3]\\))?( [ab])?\n|calls=[0-9]{1,22} 0\n|[-+*]?[0-9]{1,22} -?[0-9]{1,22}\n|events: Time_\\(10ns\\) Memory\n|creator: xdebug 3\n|summary: 1\n|\n){0,40}") {
        if let Ok(profile) = parsed(&text) {
            let own = profile.functions.iter().fold(0i64, |sum, f| sum.saturating_add(f.own.amount));
            prop_assert_eq!(own, profile.total.amount);
        }
    }
}

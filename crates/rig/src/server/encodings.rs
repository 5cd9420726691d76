//! What encodes responses, as templates are given it: the one rule of a measured way, or the rules of a policy.

use serde::Serialize;

use super::definition::{Definition, WayRow};
use weigh_content::types::{self, PREFERRED};
use weigh_model::advised::{ADVISED, Advised, Encoding};
use weigh_model::way::WayKind;

/// What a server's configuration does to encode and to hand over.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Encodings {
    /// Whether the way is that of a policy.
    pub advised: bool,
    /// What encodes responses: one rule for a measured way, several for a policy.
    rules: Vec<Rule>,
    /// The same for what PHP makes, where a policy differs there.
    pages: Vec<Rule>,
    /// Of the rules those that compress each response, by what they hold for.
    groups: Vec<Group>,
    /// How files are handed over: a way's name; none: not at all.
    handover: Option<String>,
}

/// One method with what it holds for.
#[derive(Clone, Debug, Serialize)]
struct Rule {
    method: String,
    kind: WayKind,
    off: bool,
    level: Option<i32>,
    codings: Vec<Coding>,
    min_bytes: u64,
    types: Vec<String>,
}

/// A content coding with what it adds to the names of precompressed files.
#[derive(Clone, Debug, Serialize)]
struct Coding {
    name: String,
    extension: &'static str,
}

/// Methods that compress each response from the same size on and of the same types.
#[derive(Clone, Debug, Serialize)]
struct Group {
    min_bytes: u64,
    types: Vec<String>,
    rules: Vec<Rule>,
}

impl Encodings {
    /// Those of a way at a level; none of one that adds nothing.
    pub fn of(definition: &Definition, row: Option<&WayRow>, level: Option<i32>) -> Encodings {
        match (row, &definition.advised) {
            (Some(row), Some(advised)) if row.name == ADVISED => Encodings::advised(advised),
            (Some(row), _) => Encodings::measured(row, level),
            (None, _) => Encodings::default(),
        }
    }

    fn advised(advised: &Advised) -> Encodings {
        let rules = |encodings: &[Encoding]| encodings.iter().map(Rule::of).collect::<Vec<Rule>>();
        let of_all = rules(&advised.rules);
        Encodings {
            advised: true,
            groups: groups(&of_all),
            rules: of_all,
            pages: advised.pages.as_deref().map(rules).unwrap_or_default(),
            handover: advised.downloads.clone(),
        }
    }

    fn measured(row: &WayRow, level: Option<i32>) -> Encodings {
        let encodes = matches!(row.kind, WayKind::OnTheFly | WayKind::PreEncoded) && !row.codings.is_empty();
        let hands_over = matches!(row.kind, WayKind::Offload | WayKind::Transparent);
        let codings = PREFERRED.into_iter().filter(|known| row.codings.iter().any(|c| c == known));
        let encoding = || Encoding {
            method: row.name.clone(),
            kind: row.kind,
            level,
            codings: codings.map(str::to_owned).collect(),
            types: types::compressible().into_iter().map(str::to_owned).collect(),
            ..Encoding::default()
        };
        let rules: Vec<Rule> = encodes.then(|| Rule::of(&encoding())).into_iter().collect();
        Encodings {
            groups: groups(&rules),
            rules,
            handover: hands_over.then(|| row.name.clone()),
            ..Encodings::default()
        }
    }
}

impl Rule {
    fn of(encoding: &Encoding) -> Rule {
        let coding = |name: &String| Coding { name: name.clone(), extension: types::ending(name) };
        Rule {
            method: encoding.method.clone(),
            kind: encoding.kind,
            off: encoding.off,
            level: encoding.level,
            codings: encoding.codings.iter().map(coding).collect(),
            min_bytes: encoding.min_bytes,
            types: encoding.types.clone(),
        }
    }
}

fn groups(rules: &[Rule]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for rule in rules.iter().filter(|rule| rule.kind == WayKind::OnTheFly && !rule.off) {
        let same = |group: &&mut Group| group.min_bytes == rule.min_bytes && group.types == rule.types;
        match groups.iter_mut().find(same) {
            Some(group) => group.rules.push(rule.clone()),
            None => groups.push(Group {
                min_bytes: rule.min_bytes,
                types: rule.types.clone(),
                rules: vec![rule.clone()],
            }),
        }
    }
    groups
}

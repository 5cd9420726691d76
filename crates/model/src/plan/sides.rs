//! Several plans as one, whose cells say which side they are of; and each of them again, as a plan and records of its own.
//!
//! Everything that a side has under a name that another side gives to something else begins with the side's name. Contents always do:
//! two sides may send different contents, and never compete.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Exclusion, Plan};
use crate::cell::Cell;
use crate::payload::Payload;
use crate::record::{Record, VisitRecord};

/// A side of a paired run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Side {
    /// Its name: letters, digits, `-`, `.` and `_`; unique in the plan.
    pub name: String,
    /// The folder of definitions that is laid over the built-in ones; null: those of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defs: Option<PathBuf>,
}

/// A name of one side in the plan of all.
fn of_all(side: &str, name: &str) -> String {
    format!("{side}:{name}")
}

/// A name in the plan of all as the side has it.
fn of_one(side: &str, name: &str) -> String {
    let own = name.strip_prefix(side).and_then(|rest| rest.strip_prefix(':'));
    own.unwrap_or(name).to_owned()
}

/// Where an entry of a plan has its name.
type Name<T> = fn(&mut T) -> &mut String;

/// Takes in the entries of a side. What is the same on a side before is there already; gives the names that mean something else there.
fn take<T: PartialEq>(all: &mut Vec<T>, own: Vec<T>, side: &str, name: Name<T>) -> Vec<String> {
    let mut others = Vec::new();
    for mut one in own.into_iter() {
        if all.contains(&one) {
            continue;
        }
        let called = name(&mut one).clone();
        if all.iter_mut().any(|known| *name(known) == called) {
            *name(&mut one) = of_all(side, &called);
            others.push(called);
        }
        all.push(one);
    }
    others
}

/// Leaves what the cells of a side name, as the side names it.
fn leave<T>(all: &mut Vec<T>, used: &[&str], side: &str, name: Name<T>) {
    all.retain_mut(|one| used.contains(&name(one).as_str()));
    all.iter_mut().for_each(|one| *name(one) = of_one(side, name(one)));
}

/// The names that a cell has of other parts of the plan, but for its payload's.
fn names(cell: &mut Cell) -> [Option<&mut String>; 4] {
    let (server, link) = match &mut cell.delivery {
        Some(delivery) => (Some(&mut delivery.server), delivery.link.as_mut()),
        None => (None, None),
    };
    let (store, link_of_store) = match &mut cell.client {
        Some(client) => (Some(&mut client.store), client.link.as_mut()),
        None => (None, None),
    };
    [Some(&mut cell.runtime), server, store, link.or(link_of_store)]
}

impl Plan {
    /// One plan of several, each of which has its side's name in its cells. Study, seed and policy are the first one's.
    pub fn of_sides(sides: Vec<(Side, Plan)>) -> Plan {
        let mut all = Plan::default();
        for (side, plan) in sides {
            let own = &side.name;
            if all.sides.is_empty() {
                (all.study, all.seed, all.policy) = (plan.study, plan.seed, plan.policy);
            }
            let others = [
                take(&mut all.runtimes, plan.runtimes, own, |one| &mut one.name),
                take(&mut all.servers, plan.servers, own, |one| &mut one.name),
                take(&mut all.stores, plan.stores, own, |one| &mut one.name),
                take(&mut all.links, plan.links, own, |one| &mut one.name),
            ];
            let named = |payload: Payload| Payload { name: of_all(own, &payload.name), ..payload };
            all.payloads.extend(plan.payloads.into_iter().map(named));
            for mut cell in plan.cells {
                cell.id = of_all(own, &cell.id);
                cell.payload = of_all(own, &cell.payload);
                cell.side = Some(own.clone());
                for (name, others) in names(&mut cell).into_iter().zip(&others) {
                    let other = name.filter(|name| others.contains(name));
                    other.into_iter().for_each(|name| *name = of_all(own, name));
                }
                all.cells.push(cell);
            }
            let left_out = |one: Exclusion| Exclusion { cell: of_all(own, &one.cell), ..one };
            all.exclusions.extend(plan.exclusions.into_iter().map(left_out));
            all.sides.push(side);
        }
        all
    }

    /// The plan as one side has it: its cells have their own names again, and it has nothing that they do not name. Cells of other sides
    /// stay where they are, so that every cell has the same index in both.
    #[must_use]
    pub fn within(&self, side: &str) -> Plan {
        let mut plan = Plan { sides: Vec::new(), ..self.clone() };
        let mut used: [Vec<String>; 4] = Default::default();
        let mut payloads = Vec::new();
        for cell in plan.cells.iter_mut().filter(|cell| cell.side.as_deref() == Some(side)) {
            payloads.push(cell.payload.clone());
            (cell.id, cell.payload) = (of_one(side, &cell.id), of_one(side, &cell.payload));
            for (name, used) in names(cell).into_iter().zip(&mut used) {
                let Some(name) = name else { continue };
                used.push(name.clone());
                *name = of_one(side, name);
            }
        }
        let [runtimes, servers, stores, links] =
            used.each_ref().map(|used| used.iter().map(String::as_str).collect::<Vec<_>>());
        let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
        leave(&mut plan.payloads, &payloads, side, |one| &mut one.name);
        leave(&mut plan.runtimes, &runtimes, side, |one| &mut one.name);
        leave(&mut plan.servers, &servers, side, |one| &mut one.name);
        leave(&mut plan.stores, &stores, side, |one| &mut one.name);
        leave(&mut plan.links, &links, side, |one| &mut one.name);
        plan
    }

    /// The plan and the records of one side, as those of a run without sides.
    pub fn alone(&self, records: &[Record], side: &str) -> (Plan, Vec<Record>) {
        let mut plan = self.within(side);
        plan.cells.retain(|cell| cell.side.as_deref() == Some(side));
        plan.cells.iter_mut().for_each(|cell| cell.side = None);
        plan.exclusions.retain(|one| one.cell != of_one(side, &one.cell));
        plan.exclusions.iter_mut().for_each(|one| one.cell = of_one(side, &one.cell));
        (plan, records.iter().filter_map(|record| of_side(record, side)).collect())
    }

    /// The name in this plan of a runtime, a server or a store of one side.
    pub fn name_of(&self, side: &str, name: &str) -> String {
        let other = of_all(side, name);
        let mut all = (self.runtimes.iter().map(|one| &one.name))
            .chain(self.servers.iter().map(|one| &one.name))
            .chain(self.stores.iter().map(|one| &one.name));
        if all.any(|known| *known == other) { other } else { name.to_owned() }
    }
}

/// A record as the side has it; none: another side's.
fn of_side(record: &Record, side: &str) -> Option<Record> {
    let own = |cell: &String| Some(of_one(side, cell)).filter(|own| own != cell);
    Some(match record {
        Record::Visit(visit) => Record::Visit(VisitRecord { cell: own(&visit.cell)?, ..visit.clone() }),
        Record::Fault { cell, round, fault } => {
            Record::Fault { cell: own(cell)?, round: *round, fault: fault.clone() }
        }
        Record::Stop { cell, round, reason } => {
            Record::Stop { cell: own(cell)?, round: *round, reason: reason.clone() }
        }
        Record::Caveat { cell: Some(cell), caveat } => {
            Record::Caveat { cell: Some(own(cell)?), caveat: caveat.clone() }
        }
        Record::Caveat { cell: None, .. } | Record::Resumed { .. } | Record::End { .. } => record.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Subject;
    use crate::plan::Runtime;
    use crate::setting::Setting;

    /// A plan of one cell on a PHP of this version.
    fn plan(version: &str) -> Plan {
        let setting = Setting::bare("zlib");
        let runtime = Runtime { name: "php8.4".into(), version: version.into(), ..Runtime::default() };
        let cell = Cell {
            id: Cell::make_id("page", "php8.4", None, &setting),
            subject: Subject::PHP_CODEC,
            payload: "page".into(),
            runtime: "php8.4".into(),
            setting,
            expected_seconds: 0.1,
            ..Cell::default()
        };
        let payload = Payload {
            name: "page".into(),
            kind: "html".into(),
            blob: "blob".into(),
            sha256: "0".repeat(64),
            bytes: 1,
            items: vec![1],
            family: false,
            value: None,
            parts: Vec::new(),
            origin: crate::payload::Origin::default(),
        };
        Plan { payloads: vec![payload], runtimes: vec![runtime], cells: vec![cell], ..Plan::default() }
    }

    fn both(a: &Plan, b: &Plan) -> Plan {
        let side = |name: &str| Side { name: name.into(), defs: None };
        let all = Plan::of_sides(vec![(side("old"), a.clone()), (side("new"), b.clone())]);
        all.check().unwrap();
        all
    }

    #[test]
    fn plans_of_sides_are_one_plan_and_themselves_again() {
        let (a, b) = (plan("8.4.1"), plan("8.4.2"));
        let all = both(&a, &b);
        let ids: Vec<&str> = all.cells.iter().map(|cell| cell.id.as_str()).collect();
        assert_eq!(ids, ["old:page/php8.4/-/zlib", "new:page/php8.4/-/zlib"]);
        assert_eq!(all.cells[1].runtime, "new:php8.4");
        assert_eq!(all.name_of("new", "php8.4"), "new:php8.4");
        assert_eq!(all.name_of("old", "php8.4"), "php8.4");
        assert_ne!(all.cells[0].group(), all.cells[1].group(), "sides never compete");
        for (side, own) in [("old", a), ("new", b)] {
            assert_eq!(all.alone(&[], side).0, own);
        }
        let within = all.within("new");
        assert_eq!((within.cells.len(), within.cells[1].id.as_str()), (2, "page/php8.4/-/zlib"));
    }

    #[test]
    fn what_both_sides_have_is_in_the_plan_once() {
        let all = both(&plan("8.4.1"), &plan("8.4.1"));
        assert_eq!((all.runtimes.len(), all.cells[1].runtime.as_str()), (1, "php8.4"));
        assert_eq!(all.cells[0].factors("php8.4").replace("old:", "new:"), all.cells[1].factors("php8.4"));
    }

    #[test]
    fn records_of_a_side_have_its_own_names() {
        let all = both(&plan("1"), &plan("1"));
        let visit = |cell: &str| Record::Visit(VisitRecord { cell: cell.into(), ..VisitRecord::default() });
        let records =
            [visit("old:page/php8.4/-/zlib"), visit("new:page/php8.4/-/zlib"), Record::Resumed { at: 1 }];
        let (_, own) = all.alone(&records, "new");
        assert_eq!(own, [visit("page/php8.4/-/zlib"), Record::Resumed { at: 1 }]);
    }
}

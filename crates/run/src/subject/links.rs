//! The links that cells of a plan go over: each made and measured when it is needed first, and kept to the end.
//!
//! What stands in their networks is others'; it has to go before them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use weigh_model::link::{LinkSpec, Way};
use weigh_model::plan::Plan;
use weigh_rig::link::{Link, Making};

#[derive(Debug)]
pub struct Links {
    specs: Vec<LinkSpec>,
    standing: BTreeMap<String, Link>,
}

impl Links {
    /// Those of a plan; none is made yet.
    pub fn of(plan: &Plan) -> Links {
        Links { specs: plan.links.clone(), standing: BTreeMap::new() }
    }

    /// The link of this name. The first time it is made and measured, which takes some seconds.
    ///
    /// # Errors
    /// The plan has none of this name, or none can be made here: every way that was tried, with its reason.
    pub fn stand(&mut self, name: &str) -> Result<&Link> {
        if !self.standing.contains_key(name) {
            let spec = self.specs.iter().find(|spec| spec.name == name);
            let spec = spec.with_context(|| format!("the plan has no link {name}"))?;
            let made = Link::make_with(spec, &Making { private: true, ..Making::default() })?;
            if made.way() == Way::Model {
                bail!("no link {name} can be made here: {}", made.measured().passed_over.join("; "));
            }
            self.standing.insert(name.to_owned(), made);
        }
        self.standing.get(name).context("the link is gone")
    }

    /// Takes all of them down.
    pub fn end(&mut self) {
        self.standing.clear();
    }
}

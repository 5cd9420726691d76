//! The lab's plans: what the cells of studies can stand on is looked for, contents are staged, and the plan is built.

use std::path::Path;

use anyhow::{Context, Result};

use crate::lab::{Home, Lab, Progress, Stager};
use crate::planner::{PlanOptions, build};
use crate::study::Study;
use crate::study::block::Quick;
use crate::subject;
use weigh_content::user::Wanted;
use weigh_model::inventory::Inventory;
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::text::clean_path;

/// What studies are planned with.
pub struct Planning<'a> {
    /// What the user asked for.
    pub options: &'a PlanOptions,
    /// What can be measured here.
    pub inventory: &'a Inventory,
    /// The folder that contents are brought into.
    pub staging: &'a Path,
    /// Hears what takes a moment.
    pub progress: &'a mut dyn Progress,
}

impl Home {
    /// Looks for what the cells of studies can stand on beside runtimes: web servers, PHP-FPM pools, stores with their drivers, links.
    pub fn look(&self, inventory: &mut Inventory, studies: &[Study]) -> Result<()> {
        for text in studies.iter().flat_map(Study::all_links) {
            let link = self.definitions.link(&text)?;
            inventory.links.insert(text, link);
        }
        subject::complete_inventory(self, inventory, studies)
    }
}

impl Lab {
    /// The plan of a study whose contents a stager brings into place.
    fn planned(
        &self,
        study: &Study,
        planning: &mut Planning<'_>,
        mut content: impl FnMut(&mut Stager<'_>, &str, Option<u64>, &mut dyn Progress) -> Result<Vec<Payload>>,
    ) -> Result<Plan> {
        let Planning { options, inventory, staging, progress } = planning;
        let mut stager = Stager::new(&self.library, staging);
        let plan = build(study, options, inventory, &mut |name, bytes| {
            content(&mut stager, name, bytes, &mut **progress)
        });
        stager.notes().iter().for_each(|note| progress.note(note));
        plan
    }

    /// Stages the contents a study names and builds its plan.
    pub fn plan(&self, study: &Study, planning: &mut Planning<'_>) -> Result<Plan> {
        let subject = subject::of_study(study);
        self.planned(study, planning, |stager, name, bytes, progress| {
            progress.doing(&format!("preparing {name}"));
            subject.stage(stager, name, bytes)
        })
    }

    /// The same for a study whose contents are the user's: each block has them all. They go beside the study, because a path need not be
    /// text.
    pub fn plan_paths(&self, study: &Study, paths: &[Wanted], planning: &mut Planning<'_>) -> Result<Plan> {
        let mut study = study.clone();
        for block in &mut study.cells {
            block.content = (0..paths.len()).map(|number| number.to_string()).collect();
            if let Some(Quick::Other(factors)) = &mut block.quick {
                factors.content = None;
            }
        }
        self.planned(&study, planning, |stager, number, block, progress| {
            let path = number.parse::<usize>().ok().and_then(|n| paths.get(n)).context("no such path")?;
            progress.doing(&format!("reading {}", clean_path(&path.path)));
            Ok(vec![stager.wanted(path, block)?])
        })
    }
}

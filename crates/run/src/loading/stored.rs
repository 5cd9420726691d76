//! A load's result read back from its directory: bounded, checked before it is believed, its figures computed again.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use weigh_answer::load::{Document, SCHEMA};
use weigh_model::text::clean_path;
use weigh_os::regular;

/// The file of a load's result: a folder that has it is a load.
pub const RESULT: &str = "result.json";
/// The longest result in bytes. That of a load with 600 slices and 10 classes takes a hundredth of it.
const LONGEST: u64 = 64 << 20;
/// The most classes. Each takes a megabyte of memory for its histograms.
const MOST_CLASSES: usize = 500;
/// The largest count: sums of counts fit into 64 bits.
const LARGEST: u64 = 1 << 50;

pub fn is_load(folder: &Path) -> bool {
    folder.join(RESULT).is_file()
}

/// Reads the result in the folder of a load.
///
/// # Errors
/// One line: there is none, it is damaged, or a later version wrote it.
pub fn read(folder: &Path) -> Result<Document> {
    let path = folder.join(RESULT);
    let shown = clean_path(&path);
    let bytes = regular::read(&path, LONGEST)?;
    let damaged = || format!("{shown}: damaged");
    let Version { schema } = serde_json::from_slice(&bytes).with_context(damaged)?;
    if schema != SCHEMA {
        bail!(
            "{shown}: was written in schema {schema} and this weigh reads schema {SCHEMA}; use the version of weigh that \
             wrote it"
        );
    }
    serde_json::from_slice::<Sane>(&bytes).with_context(damaged)?;
    let document: Document = serde_json::from_slice(&bytes).with_context(damaged)?;
    Ok(document.derived())
}

/// When the load in a folder was started; empty where its file does not say.
pub fn started(folder: &Path) -> String {
    #[derive(Deserialize)]
    struct Started {
        started: String,
    }
    let reader = regular::open(folder.join(RESULT)).ok().map(|file| BufReader::new(file.take(LONGEST)));
    let read = reader.and_then(|reader| serde_json::from_reader::<_, Started>(reader).ok());
    read.map_or_else(String::new, |read| read.started)
}

/// What says whether the rest can be read.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// JSON without numbers and lists that no load has; the number of its elements if it is a list. Nothing is kept of it.
struct Sane(usize);

impl<'de> Deserialize<'de> for Sane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sane, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Sane;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a result of weigh load")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Sane, E> {
        Ok(Sane(0))
    }

    fn visit_unit<E>(self) -> Result<Sane, E> {
        Ok(Sane(0))
    }

    fn visit_str<E>(self, _: &str) -> Result<Sane, E> {
        Ok(Sane(0))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Sane, E> {
        self.visit_u64(number.unsigned_abs())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Sane, E> {
        self.visit_u64(number.abs() as u64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Sane, E> {
        match number <= LARGEST {
            true => Ok(Sane(0)),
            false => Err(Error::custom(format!("{number} is more than a load can have counted"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sane, A::Error> {
        let mut count = 0;
        while list.next_element::<Sane>()?.is_some() {
            count += 1;
        }
        Ok(Sane(count))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sane, A::Error> {
        while let Some(key) = map.next_key::<Cow<str>>()? {
            // Limits and seeds of a plan may be any number, and so may the end of an interval over few blocks.
            if key == "plan" || key == "ratio" {
                map.next_value::<IgnoredAny>()?;
            } else if map.next_value::<Sane>()?.0 > MOST_CLASSES && key == "classes" {
                return Err(Error::custom(format!("more than {MOST_CLASSES} classes")));
            }
        }
        Ok(Sane(0))
    }
}

#[cfg(test)]
mod tests {
    use weigh_answer::load::{Measured, Run};
    use weigh_load::plan::LoadPlan;
    use weigh_load::result::{ClassResult, LoadResult};

    use super::*;

    /// A load of one class as JSON.
    fn json() -> serde_json::Value {
        let mut class = ClassResult { name: "all".into(), ..ClassResult::default() };
        class.counts.completed = 7;
        (0..7).for_each(|_| class.times.response.record(2_000_000));
        let result = LoadResult { seconds: 2.0, classes: vec![class], ..LoadResult::default() };
        let plan = LoadPlan { seed: u64::MAX, ..LoadPlan::default() };
        let document = Document {
            schema: SCHEMA,
            weigh: "1".into(),
            started: "2026-01-02T03:04:05Z".into(),
            machine: "a machine".into(),
            environment: std::collections::BTreeMap::new(),
            command: Vec::new(),
            measured: Measured::Run(Box::new(Run::of(plan, result, true))),
        };
        serde_json::to_value(&document).unwrap()
    }

    fn reading(json: &serde_json::Value) -> Result<Document> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(RESULT), json.to_string()).unwrap();
        read(folder.path())
    }

    #[test]
    fn a_result_reads_back_as_it_was_and_its_figures_are_computed() {
        let written = json();
        let read = reading(&written).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), written);
        let mut forged = written.clone();
        forged["figures"]["total"]["achieved_per_second"] = 1e9.into();
        forged["caveats"].as_array_mut().unwrap().retain(|caveat| caveat["code"] == "interrupted");
        assert_eq!(serde_json::to_value(reading(&forged).unwrap()).unwrap(), written);
    }

    #[test]
    fn what_no_load_has_is_refused_in_one_line() {
        let with = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut json = json();
            change(&mut json);
            let said = format!("{:#}", reading(&json).unwrap_err());
            assert!(!said.contains('\n'), "{said}");
            said
        };
        assert!(with(&|json| json["schema"] = 99.into()).contains("schema 99"));
        assert!(
            with(&|json| json["result"]["classes"][0]["counts"]["sent"] = u64::MAX.into())
                .contains("counted")
        );
        let many = |json: &mut serde_json::Value| {
            let class = json["result"]["classes"][0].clone();
            json["result"]["classes"] = vec![class; MOST_CLASSES + 1].into();
        };
        assert!(with(&many).contains("classes"));
        let times = |json: &mut serde_json::Value| {
            json["result"]["classes"][0]["times"]["response"] = "AAAA".into();
        };
        assert!(with(&times).contains("HdrHistogram"));
    }
}

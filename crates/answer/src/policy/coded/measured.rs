//! The files that setups are made of.

use weigh_model::site::{Kind, Today};

use super::super::Ground;
use super::super::content::{self, Item};
use super::super::today::{Answer, Rows, has_failed};
use super::method::is_plain;
use crate::row::Row;

/// The share of the measured bytes that files with every method have, for the others to be left out.
const MOST: f64 = 0.5;

/// A sample file with what each method does to it.
pub struct Measured<'a> {
    pub item: Item<'a>,
    pub rows: Vec<&'a Row>,
    pub plain: &'a Row,
    /// By the number of the method.
    pub by_method: Vec<Option<&'a Row>>,
    /// What each class of clients gets today; none: it is not known.
    pub today: Vec<Option<Answer<'a>>>,
}

/// The files that setups are made of, of these sample files: those that were measured as they are, weighed to stand for the others; without methods.
pub fn known<'a>(ground: &'a Ground<'a>, kind: Kind, items: Vec<Item<'a>>) -> Vec<Measured<'a>> {
    let method = ground.site.today(kind).map(Today::way);
    let file = |item: &Item<'a>| {
        let rows = ground.rows(kind, item.sample);
        let plain = rows.iter().copied().find(|row| is_plain(row))?;
        let has_failed = has_failed(ground, item);
        let answer = |client| match has_failed {
            true => None,
            false => Rows { all: &rows, plain, method }.answer(item.sample, client),
        };
        let today = ground.classes.iter().map(answer).collect();
        Some(Measured { item: *item, rows, plain, by_method: Vec::new(), today })
    };
    let files: Vec<Option<Measured>> = items.iter().map(file).collect();
    // Of a stratum, files whose response today is known stand for the others.
    let is_told = |at: usize| files[at].iter().flat_map(|file| &file.today).any(Option::is_some);
    let is_beside = |at: usize, other: usize| std::ptr::eq(items[at].stratum, items[other].stratum);
    let stands_alone = |at: usize| !(0..items.len()).any(|other| is_beside(at, other) && is_told(other));
    let is_known = |at: usize| files[at].is_some() && (is_told(at) || stands_alone(at));
    // Files for which some methods were not measured would take these out of the choice; where the others are most of the content, they do not.
    let is_complete = |at: usize| !ground.is_cut_short(kind, items[at].sample);
    let traffic = |is_in: &dyn Fn(usize) -> bool| -> f64 {
        let own = (0..items.len()).filter(|at| is_known(*at) && is_in(*at));
        own.map(|at| items[at].requests * items[at].sample.bytes as f64).sum()
    };
    let is_most = traffic(&is_complete) >= MOST * traffic(&|_| true);
    let is_chosen: Vec<bool> =
        (0..items.len()).map(|at| is_known(at) && (!is_most || is_complete(at))).collect();
    let weighed = content::weighed(&items, |at| is_chosen[at]);
    let chosen = files.into_iter().zip(&is_chosen).filter(|(_, is_chosen)| **is_chosen);
    chosen.filter_map(|(file, _)| file).zip(weighed).map(|(file, item)| Measured { item, ..file }).collect()
}

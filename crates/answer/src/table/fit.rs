//! Which columns of a table are shown, and how wide.

use super::{Columns, Grid, Kind, Role, Sheet};
use crate::text::{columns, pieces};

/// The most columns if none are requested.
pub(super) const MOST: usize = 9;
/// Columns of text between two columns.
pub(super) const GAP: usize = 2;
/// A text is only broken inside a word if the word is wider than this.
const PIECE: usize = 24;
/// No text is broken into lines narrower than this.
const NARROWEST: usize = 8;

/// The columns of a table for a sheet.
#[derive(Debug)]
pub(super) struct Choice {
    /// Those that are shown, in order.
    pub shown: Vec<usize>,
    /// Columns with content that are left out.
    pub left: Vec<usize>,
    /// Whether the columns fit side by side.
    pub fits: bool,
}

/// A column that is drawn.
#[derive(Debug)]
pub(super) struct Slot {
    pub index: usize,
    pub width: usize,
    pub texts: Vec<String>,
    least: usize,
}

impl Grid {
    /// The choice for a page of any width: the columns, and those that are left out.
    pub fn chosen(&self, wanted: &Columns) -> (Vec<usize>, Vec<usize>) {
        let choice = self.choose(&Sheet {
            width: usize::MAX,
            color: false,
            columns: wanted,
            more: "",
            is_brief: false,
        });
        (choice.shown, choice.left)
    }

    /// Every factor, and the metrics and notes that are requested, otherwise the most important that fit.
    pub(super) fn choose(&self, sheet: &Sheet) -> Choice {
        let filled = self.filled();
        let (factors, mut others): (Vec<usize>, Vec<usize>) =
            filled.iter().partition(|index| self.columns[**index].role == Role::Factor);
        let asked = self.asked(&others, sheet.columns);
        let mut shown = factors;
        let fits;
        if let Some(asked) = asked {
            shown.extend(asked);
            fits = self.width_of(&shown, |slot| slot.least) <= sheet.width;
        } else {
            others.sort_by_key(|index| self.columns[*index].rank);
            others.truncate(self.most.unwrap_or(MOST).saturating_sub(shown.len()).max(1));
            let first = others.first().copied();
            let least: Vec<usize> = shown.iter().copied().chain(first).collect();
            fits = self.width_of(&least, |slot| slot.least) <= sheet.width;
            for index in others {
                shown.push(index);
                // Less important columns do not narrow the others.
                if fits && Some(index) != first && self.width_of(&shown, Slot::comfortable) > sheet.width {
                    shown.pop();
                    break;
                }
            }
        }
        shown.sort_unstable();
        let left = filled.into_iter().filter(|index| !shown.contains(index)).collect();
        Choice { shown, left, fits }
    }

    /// The metrics and notes that are requested by name; none if the table chooses.
    fn asked(&self, others: &[usize], wanted: &Columns) -> Option<Vec<usize>> {
        let is_asked = |index: &usize| match wanted {
            Columns::Few => false,
            Columns::All => true,
            Columns::These(names) => names.contains(&self.columns[*index].called()),
        };
        let asked: Vec<usize> = others.iter().copied().filter(is_asked).collect();
        (!asked.is_empty()).then_some(asked)
    }

    fn width_of(&self, shown: &[usize], of: impl Fn(&Slot) -> usize) -> usize {
        let widths = shown.iter().map(|index| of(&self.slot(*index)) + GAP).sum::<usize>();
        widths.saturating_sub(GAP)
    }

    /// The columns with their cells, narrowed to the width; texts are not broken yet.
    pub(super) fn slots(&self, shown: &[usize], width: usize) -> Vec<Slot> {
        let mut slots: Vec<Slot> = shown.iter().map(|index| self.slot(*index)).collect();
        let total = slots.iter().map(|slot| slot.width + GAP).sum::<usize>().saturating_sub(GAP);
        // Always from the widest that can be narrowed.
        for _ in 0..total.saturating_sub(width) {
            match slots.iter_mut().max_by_key(|slot| slot.width - slot.least) {
                Some(slot) if slot.width > slot.least => slot.width -= 1,
                _ => break,
            }
        }
        slots
    }

    fn slot(&self, index: usize) -> Slot {
        let column = &self.columns[index];
        let mut texts = self.texts(index);
        if column.kind == Kind::Three {
            align_points(&mut texts);
        }
        let all = || texts.iter().map(String::as_str).chain([column.name, column.unit.as_str()]);
        let width = all().map(columns).max().unwrap_or(0);
        // Every line of a text is indented as its first one.
        let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
        let widest = |text: &str| pieces(text).map(|piece| columns(piece.0)).max().unwrap_or(0);
        let piece = |text: &str| widest(text).clamp(NARROWEST, PIECE) + indent(text);
        let least = || all().map(piece).max().unwrap_or(0).min(width);
        let least = if column.kind == Kind::Text { least() } else { width };
        Slot { index, width, texts, least }
    }
}

impl Slot {
    /// The width in which most of its texts fit on one line.
    fn comfortable(&self) -> usize {
        self.width.min(self.least.max(PIECE))
    }

    /// A column of texts that are as wide as it is.
    pub(super) fn of(index: usize, width: usize, texts: Vec<String>) -> Slot {
        Slot { index, width, texts, least: width }
    }
}

/// Pads on the right so that decimal points stand one under the other in a right-aligned column.
fn align_points(texts: &mut [String]) {
    let after = |text: &str| text.find('.').map_or(0, |point| text.len() - point);
    let longest = texts.iter().map(|text| after(text)).max().unwrap_or(0);
    for text in texts {
        let missing = longest - after(text);
        text.push_str(&"\u{a0}".repeat(missing));
    }
}

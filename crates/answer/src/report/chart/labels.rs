//! Where labels go: beside the point they name, never over another label or point, further away with a
//! leader line where it is crowded, and left out when there is no room.

use anyhow::Result;
use plotters::prelude::*;

use super::canvas::{Canvas, PAPER, Pen, Rect};

/// A label that wants a place.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// The point it names, in pixels.
    pub point: (f64, f64),
    /// Its width and height in pixels.
    pub size: (f64, f64),
    /// May go further away, with a leader line; else it stays beside its point or is left out.
    pub far: bool,
}

/// The place of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// The rectangle of the text.
    pub rect: Rect,
    /// It is so far away that it needs a line to its point.
    pub leader: bool,
}

/// What is taken already.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    bounds: Rect,
    taken: Vec<Rect>,
}

impl Layout {
    pub fn new(bounds: Rect) -> Layout {
        Layout { bounds, taken: Vec::new() }
    }

    /// Keeps a rectangle free.
    pub fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    /// Keeps a circle free.
    pub fn take_dot(&mut self, (x, y): (f64, f64), radius: f64) {
        self.take(Rect { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
    }

    /// Keeps a thin path free.
    pub fn take_path(&mut self, points: &[(f64, f64)]) {
        for pair in points.windows(2) {
            let length = (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
            let steps = (length / 8.0).ceil().max(1.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let x = pair[0].0 + (pair[1].0 - pair[0].0) * share;
                let y = pair[0].1 + (pair[1].1 - pair[0].1) * share;
                self.take_dot((x, y), 1.5);
            }
        }
    }

    /// The best free place, which is then taken.
    pub fn put(&mut self, wish: &Wish) -> Option<Place> {
        let reaches: &[f64] =
            if wish.far { &[10.0, 16.0, 26.0, 40.0, 58.0, 80.0, 110.0, 140.0] } else { &[10.0, 15.0] };
        for reach in reaches {
            for direction in DIRECTIONS {
                let rect = beside(wish, *direction, *reach);
                if self.free(&rect) {
                    self.take(rect);
                    return Some(Place { rect, leader: *reach > 16.0 });
                }
            }
        }
        None
    }

    fn free(&self, rect: &Rect) -> bool {
        let inside = rect.left >= self.bounds.left
            && rect.right <= self.bounds.right
            && rect.top >= self.bounds.top
            && rect.bottom <= self.bounds.bottom;
        inside && !self.taken.iter().any(|other| overlap(rect, other))
    }
}

/// Right and above first: a front runs down to the right, so there is room above it.
const DIRECTIONS: &[(f64, f64)] =
    &[(0.8, -0.7), (1.0, 0.0), (0.0, -1.0), (0.8, 0.7), (-0.8, -0.7), (-0.8, 0.7), (0.0, 1.0), (-1.0, 0.0)];

fn beside(wish: &Wish, (dx, dy): (f64, f64), reach: f64) -> Rect {
    let (width, height) = wish.size;
    let anchor = (wish.point.0 + dx * reach, wish.point.1 + dy * reach);
    let left = if dx > 0.0 {
        anchor.0
    } else if dx < 0.0 {
        anchor.0 - width
    } else {
        anchor.0 - width / 2.0
    };
    let middle = if dy == 0.0 { anchor.1 } else { anchor.1 + dy.signum() * height / 2.0 * dy.abs() };
    Rect { left, top: middle - height / 2.0, right: left + width, bottom: middle + height / 2.0 }
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/// Writes a text beside its point where there is room, and says whether there was.
pub(super) fn put(
    canvas: &Canvas,
    layout: &mut Layout,
    text: &str,
    pen: Pen,
    point: (f64, f64),
    far: bool,
) -> Result<bool> {
    let size = (canvas.width(text, pen) + 2.0, pen.size * 1.25);
    let Some(Place { rect, leader }) = layout.put(&Wish { point, size, far }) else { return Ok(false) };
    let middle = (rect.top + rect.bottom) / 2.0;
    if leader {
        let end =
            (point.0.clamp(rect.left, rect.right), if point.1 > middle { rect.bottom } else { rect.top });
        canvas.line(&[point, end], pen.color.mix(0.5), 1.0)?;
    }
    let paper = Rect {
        left: rect.left - 1.0,
        top: rect.top + 1.0,
        right: rect.right + 1.0,
        bottom: rect.bottom - 1.0,
    };
    canvas.rect(paper, PAPER.mix(0.75))?;
    canvas.text(text, (rect.left, middle), pen)?;
    Ok(true)
}

/// Heights near the wished ones, in the same order, at least `gap` apart and inside the range.
pub(super) fn stack(wished: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wished.len()).collect();
    order.sort_by(|a, b| wished[*a].total_cmp(&wished[*b]));
    let gap = gap.min((bottom - top) / wished.len().max(1) as f64);
    let mut out = wished.to_vec();
    let mut floor = top;
    for index in &order {
        out[*index] = out[*index].max(floor);
        floor = out[*index] + gap;
    }
    let mut ceiling = bottom;
    for index in order.iter().rev() {
        out[*index] = out[*index].min(ceiling);
        ceiling = out[*index] - gap;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOUNDS: Rect = Rect { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0 };

    proptest! {
        #[test]
        fn labels_never_overlap_nor_leave_the_plot(points in prop::collection::vec((0.0..400.0, 0.0..300.0), 1..60)) {
            let mut layout = Layout::new(BOUNDS);
            points.iter().for_each(|point| layout.take_dot(*point, 4.0));
            let wishes = points.iter().map(|point| Wish { point: *point, size: (60.0, 16.0), far: true });
            let placed: Vec<_> = wishes.filter_map(|wish| layout.put(&wish)).collect();
            for (index, one) in placed.iter().enumerate() {
                prop_assert!(one.rect.left >= 0.0 && one.rect.right <= 400.0);
                prop_assert!(one.rect.top >= 0.0 && one.rect.bottom <= 300.0);
                prop_assert!(placed[..index].iter().all(|other| !overlap(&one.rect, &other.rect)));
                let clear = points.iter().all(|(x, y)| {
                    let dot = Rect { left: x - 4.0, top: y - 4.0, right: x + 4.0, bottom: y + 4.0 };
                    !overlap(&one.rect, &dot)
                });
                prop_assert!(clear);
            }
        }

        #[test]
        fn stacked_heights_keep_order_and_distance(wished in prop::collection::vec(0.0..300.0, 1..10)) {
            let placed = stack(&wished, 20.0, (0.0, 300.0));
            let mut sorted = placed.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 20.0 - 1e-6));
            prop_assert!(sorted[0] >= -1e-6 && sorted[sorted.len() - 1] <= 300.0 + 1e-6);
        }
    }

    #[test]
    fn a_lone_label_stands_right_beside_its_point() {
        let place =
            Layout::new(BOUNDS).put(&Wish { point: (200.0, 150.0), size: (50.0, 16.0), far: true }).unwrap();
        assert!(!place.leader);
        assert!(place.rect.left > 200.0 && place.rect.left < 212.0);
    }
}

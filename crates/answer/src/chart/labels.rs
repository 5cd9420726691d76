//! Places labels: next to their points, never over another label or point, further away with a leader line in crowded
//! places, and left out if there is no room.

use super::canvas::{Canvas, PAPER, Pen, Rect};

/// A label that wants a place.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The point it names, in pixels.
    pub point: (f64, f64),
    /// Its width and height in pixels.
    pub size: (f64, f64),
    /// May go further away, with a leader line; else it stays beside its point or is left out.
    pub far: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelPlacement {
    /// The rectangle of the text.
    pub rect: Rect,
    /// It is so far away that it needs a line to its point.
    pub leader: bool,
}

#[derive(Clone, Debug)]
pub struct Layout {
    bounds: Rect,
    taken: Vec<Rect>,
}

impl Layout {
    pub fn new(bounds: Rect) -> Layout {
        Layout { bounds, taken: Vec::new() }
    }

    pub fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

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

    /// The best free place, which is then occupied.
    pub fn put(&mut self, wish: &Wish) -> Option<LabelPlacement> {
        let reaches: &[f64] =
            if wish.far { &[10.0, 16.0, 26.0, 40.0, 58.0, 80.0, 110.0, 140.0] } else { &[10.0, 15.0] };
        for reach in reaches {
            for direction in DIRECTIONS {
                let rect = beside(wish, *direction, *reach);
                if self.free(&rect) {
                    self.take(rect);
                    return Some(LabelPlacement { rect, leader: *reach > 16.0 });
                }
            }
        }
        None
    }

    /// Writes a text beside its point where there is room, and says whether there was.
    pub fn write(&mut self, canvas: &mut Canvas, text: &str, pen: Pen, point: (f64, f64), far: bool) -> bool {
        let size = (canvas.width(text, pen) + 2.0, pen.size * 1.25);
        let Some(LabelPlacement { rect, leader }) = self.put(&Wish { point, size, far }) else {
            return false;
        };
        let middle = rect.middle().1;
        if leader {
            let end =
                (point.0.clamp(rect.left, rect.right), if point.1 > middle { rect.bottom } else { rect.top });
            canvas.line(&[point, end], pen.color.faded(0.5), 1.0);
        }
        let Rect { left, top, right, bottom } = rect;
        let paper = Rect { left: left - 1.0, top: top + 1.0, right: right + 1.0, bottom: bottom - 1.0 };
        canvas.rect(paper, PAPER.faded(0.75));
        canvas.text(text, (rect.left, middle), pen);
        true
    }

    fn free(&self, rect: &Rect) -> bool {
        let bounds = &self.bounds;
        let is_inside = rect.left >= bounds.left
            && rect.right <= bounds.right
            && rect.top >= bounds.top
            && rect.bottom <= bounds.bottom;
        is_inside && !self.taken.iter().any(|other| overlap(rect, other))
    }
}

/// Right and above first: a front runs down to the right, so there is room above it.
const DIRECTIONS: &[(f64, f64)] =
    &[(0.8, -0.7), (1.0, 0.0), (0.0, -1.0), (0.8, 0.7), (-0.8, -0.7), (-0.8, 0.7), (0.0, 1.0), (-1.0, 0.0)];

fn beside(wish: &Wish, (dx, dy): (f64, f64), reach: f64) -> Rect {
    let (width, height) = wish.size;
    let anchor = (wish.point.0 + dx * reach, wish.point.1 + dy * reach);
    let left = match dx {
        dx if dx > 0.0 => anchor.0,
        dx if dx < 0.0 => anchor.0 - width,
        _ => anchor.0 - width / 2.0,
    };
    let middle = if dy == 0.0 { anchor.1 } else { anchor.1 + dy.signum() * height / 2.0 * dy.abs() };
    Rect { left, top: middle - height / 2.0, right: left + width, bottom: middle + height / 2.0 }
}

pub fn overlap(a: &Rect, b: &Rect) -> bool {
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/// Heights near the wished ones, in the same order, at least `gap` apart and inside the range.
pub fn stack(wished: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
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

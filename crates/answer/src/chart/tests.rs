//! Scales, and labels that keep apart.

use proptest::prelude::*;

use super::axis::*;
use super::canvas::{Canvas, Color, PAPER, READABLE, Rect};
use super::labels::*;
use super::palette::{heat, heat_legend};

#[test]
fn ticks_are_round_and_inside() {
    let axis = Axis::linear((900_000.0, 2_100_000.0), (0.05, 0.05));
    assert_eq!(axis.ticks(), [1_000_000.0, 1_250_000.0, 1_500_000.0, 1_750_000.0, 2_000_000.0]);
    let axis = Axis::log((0.9e6, 8e9), (0.0, 0.0));
    let ticks: Vec<_> = axis.ticks().into_iter().map(time_tick).collect();
    assert_eq!(ticks, ["1 ms", "10 ms", "100 ms", "1 s"]);
    assert!(axis.ticks().into_iter().all(|tick| axis.holds(tick)));
}

#[test]
fn each_speed_that_is_named_has_a_tick_with_its_label() {
    let speeds = [10.0, 50.0, 100.0, 500.0, 1000.0, 2500.0, 10_000.0, 25_000.0];
    let x = Axis::log_at(&speeds).named("", weigh_model::units::mbit);
    assert_eq!(x.ticks().iter().map(|tick| tick.round()).collect::<Vec<_>>(), speeds);
    let y = Axis::linear((0.0, 1.0), (0.0, 0.0));
    let mut canvas = Canvas::default();
    let rect = Rect { left: 144.0, top: 0.0, right: 950.0, bottom: 300.0 };
    Plot { rect, x: &x, y: &y }.frame(&mut canvas);
    let svg = canvas.finish("", "", 400.0);
    for speed in speeds {
        assert!(svg.contains(&format!(">{}<", weigh_model::units::mbit(speed))), "{speed}");
    }
}

#[test]
fn longer_waits_are_darker_and_can_be_read() {
    let waits = [0.003, 0.677, 4.0, 60.0];
    let colors = waits.map(heat);
    for pair in colors.windows(2) {
        assert!(pair[0].luminance() > pair[1].luminance() * 1.3, "{pair:?}");
    }
    for color in colors {
        assert!(color.contrast(color.ink()) >= READABLE, "{color:?}: {}", color.contrast(color.ink()));
    }
    // Not only the hue differs for those who see none.
    assert_eq!(heat_legend().len(), waits.len());
    assert!((Color::new(0, 0, 0).contrast(PAPER) - 21.0).abs() < 1e-9);
}

#[test]
fn a_single_value_still_has_a_range() {
    for axis in [Axis::log((5.0, 5.0), (0.1, 0.1)), Axis::linear((5.0, 5.0), (0.1, 0.1))] {
        let (low, high) = axis.ends();
        assert!(low < 5.0 && high > 5.0, "{axis:?}");
    }
}

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

//! Small pictures made of block characters.

const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A horizontal bar for `share` (0 to 1) of `width` columns, never empty for a share above 0.
pub fn bar(share: f64, width: usize) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut out = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        out.push(EIGHTHS[eighths % 8 - 1]);
    }
    out
}

/// A sparkline from 0 to the largest value.
pub fn sparkline(values: &[f64]) -> String {
    let largest = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let step = |value: &f64| match value {
        value if !value.is_finite() => ' ',
        _ if largest <= 0.0 => STEPS[0],
        value => STEPS[((value.max(0.0) / largest * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    values.iter().map(step).collect()
}

/// A sparkline from the smallest value to the largest, for changes that are small beside their values.
pub fn changes(values: &[f64]) -> String {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let step = |value: &f64| match value {
        value if !value.is_finite() => ' ',
        _ if most <= least => STEPS[3],
        value => STEPS[((value - least) / (most - least) * 7.0).round() as usize],
    };
    values.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.0001, 4), "▏");
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(f64::NAN, 4), "");
        assert_eq!(bar(7.0, 2), "██");
    }

    #[test]
    fn a_sparkline_starts_at_zero() {
        assert_eq!(sparkline(&[0.0, 4.0, 8.0]), "▁▄█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(sparkline(&[f64::NAN, 1.0]), " █");
    }

    #[test]
    fn a_sparkline_of_changes_spans_all_steps() {
        assert_eq!(changes(&[100.0, 101.0, 107.0]), "▁▂█");
        assert_eq!(changes(&[5.0, 5.0]), "▄▄");
        assert_eq!(changes(&[f64::NAN, 1.0, 2.0]), " ▁█");
        assert_eq!(changes(&[]), "");
    }
}

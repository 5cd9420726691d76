//! Selects the rows of a front that are good trade-offs: one rule for titles and pictures. The front itself stays
//! unchanged.

/// CPU nanoseconds per page or value above which no row is a good trade-off, because the reader waits for them.
pub const LONGEST: f64 = 1e9;
/// The share of bytes that each doubling of the time must save.
pub const DOUBLING: f64 = 0.08;

/// From a front's (time, bytes), fastest first: the fastest, and each that takes no longer than `longest` and saves
/// enough for its time, compared with the selected one before it.
pub fn worth(front: &[(f64, f64)], longest: f64) -> Vec<bool> {
    let mut last: Option<(f64, f64)> = None;
    let is_worth = |&(time, bytes): &(f64, f64)| {
        let is_worth = last.is_none_or(|(quicker, larger)| {
            time <= longest && bytes <= larger * (1.0 - DOUBLING).powf((time / quicker).log2().max(0.0))
        });
        if is_worth {
            last = Some((time, bytes));
        }
        is_worth
    };
    front.iter().map(is_worth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubling_that_saves_little_is_left_out_and_so_is_what_takes_seconds() {
        let front = [(10e6, 100e3), (20e6, 95e3), (20e6, 90e3), (500e6, 60e3), (3e9, 10e3)];
        assert_eq!(worth(&front, LONGEST), [true, false, true, true, false]);
        assert_eq!(worth(&front[4..], LONGEST), [true], "the quickest always is");
        assert!(worth(&[], LONGEST).is_empty());
    }

    #[test]
    fn what_was_left_out_is_no_measure_for_the_next() {
        // Beside 20 ms and 99 KB the last one would save enough; beside 10 ms and 100 KB it does not.
        let front = [(10e6, 100e3), (39e6, 85e3), (40e6, 84.9e3)];
        assert_eq!(worth(&front, LONGEST), [true, false, false]);
        assert!(worth(&[(10e6, 100e3), (40e6, 84e3)], LONGEST)[1]);
    }
}

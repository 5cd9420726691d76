//! Which pieces of which files are measured when there are more than the limits allow: decided from lengths alone, so
//! that the same content always gives the same pieces.

use super::Limits;
use super::walk::Found;

/// A stretch of a file: one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it begins.
    pub at: u64,
    pub bytes: u64,
    /// The length of the whole file.
    pub of: u64,
}

pub(super) struct Selection {
    /// Files with their pieces, in order.
    pub chosen: Vec<(Found, Vec<Piece>)>,
    /// Set when it is not everything: which part it is.
    pub sampled: Option<String>,
}

/// Cuts files into pieces within the limits. Larger files give blocks at even distances; when that is not enough,
/// files are left out at even distances too.
pub(super) fn select(files: Vec<Found>, limits: &Limits) -> Selection {
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let count = files.len();
    let whole: usize = files.iter().map(|file| items(file.bytes, limits.block)).sum();
    if total <= limits.max_bytes && whole <= limits.max_items {
        let cut = |file: Found| {
            let pieces = every(file.bytes, limits.block.unwrap_or(file.bytes));
            (file, pieces)
        };
        return Selection { chosen: files.into_iter().map(cut).collect(), sampled: None };
    }
    // One file may fill the payload; of several, none may take more than an eighth of it.
    let share = if count == 1 { 1 } else { 8 };
    let block = limits.block.unwrap_or(limits.sample_block).min(limits.max_bytes);
    let most = (limits.max_bytes / share / block).max(1);
    let most = most.min((limits.max_items as u64 / share).max(1));
    let mut blocks = 0;
    let mut cut: Vec<(Found, Vec<Piece>)> = Vec::with_capacity(count);
    for file in files {
        let fits = items(file.bytes, limits.block) as u64 <= most && file.bytes <= (most * block);
        let pieces = if fits {
            every(file.bytes, limits.block.unwrap_or(file.bytes))
        } else {
            blocks += 1;
            spread(file.bytes, block, most)
        };
        cut.push((file, pieces));
    }
    let mut said = Vec::new();
    let step = (1..).find(|step| within(&cut, *step, limits)).unwrap_or(1);
    if step > 1 {
        said.push(format!("1 file in every {step} of {count}"));
    }
    if blocks > 0 {
        let of = if count == 1 { format!("{total} bytes") } else { format!("each of {blocks} larger files") };
        said.push(format!("up to {most} blocks of {block} bytes, evenly spaced over {of}"));
    }
    let chosen = cut.into_iter().step_by(step).collect();
    Selection { chosen, sampled: Some(said.join("; ")) }
}

fn within(cut: &[(Found, Vec<Piece>)], step: usize, limits: &Limits) -> bool {
    let pieces = || cut.iter().step_by(step).flat_map(|(_, pieces)| pieces);
    let left = cut.len().div_ceil(step);
    left <= 1
        || (pieces().map(|p| p.bytes).sum::<u64>() <= limits.max_bytes
            && pieces().count() <= limits.max_items)
}

fn items(bytes: u64, block: Option<u64>) -> usize {
    block.map_or(1, |block| usize::try_from(bytes.div_ceil(block)).unwrap_or(usize::MAX))
}

/// The whole file in blocks; the last may be shorter.
pub(super) fn every(of: u64, block: u64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < of {
        let bytes = block.min(of - at);
        pieces.push(Piece { at, bytes, of });
        at += bytes;
    }
    pieces
}

/// `count` blocks at even distances, the first at the beginning and the last at the end.
fn spread(of: u64, block: u64, count: u64) -> Vec<Piece> {
    let (block, count) = (block.min(of), count.min(of.div_ceil(block)).max(1));
    let room = u128::from(of - block);
    let gaps = u128::from((count - 1).max(1));
    let place = |n: u64| u64::try_from(u128::from(n) * room / gaps).unwrap_or(0);
    (0..count).map(|n| Piece { at: place(n), bytes: block, of }).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn file(bytes: u64) -> Found {
        Found { path: PathBuf::from("x"), bytes }
    }

    #[test]
    fn a_small_file_is_one_item_or_blocks() {
        let limits = Limits::default();
        let one = select(vec![file(10)], &limits);
        assert_eq!(one.chosen[0].1, [Piece { at: 0, bytes: 10, of: 10 }]);
        assert_eq!(one.sampled, None);
        let cut = select(vec![file(10)], &Limits { block: Some(4), ..limits });
        assert_eq!(cut.chosen[0].1.iter().map(|p| p.bytes).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(cut.sampled, None);
    }

    #[test]
    fn a_large_file_is_stated_blocks() {
        let huge = 1 << 44;
        let selection = select(vec![file(huge)], &Limits::default());
        let pieces = &selection.chosen[0].1;
        assert_eq!(pieces.len(), 64);
        assert_eq!(pieces[0].at, 0);
        assert_eq!(pieces[63].at + pieces[63].bytes, huge);
        let said = selection.sampled.unwrap();
        assert_eq!(said, "up to 64 blocks of 1048576 bytes, evenly spaced over 17592186044416 bytes");
    }

    #[test]
    fn a_large_folder_leaves_files_out_evenly() {
        let limits = Limits { max_bytes: 1000, sample_block: 10, max_items: 100, ..Limits::default() };
        let selection = select(vec![file(100); 40], &limits);
        assert_eq!(selection.chosen.len(), 10);
        assert_eq!(selection.sampled.as_deref(), Some("1 file in every 4 of 40"));
    }

    proptest! {
        #[test]
        fn limits_hold_and_pieces_stay_inside_and_apart(
            lengths in prop::collection::vec(1u64..100_000, 1..40),
            max_bytes in 1u64..200_000,
            sample_block in 1u64..5_000,
            block in prop::option::of(1u64..5_000),
            max_items in 1usize..300,
        ) {
            let limits = Limits { max_bytes, sample_block, block, max_items };
            let total: u64 = lengths.iter().sum();
            let selection = select(lengths.into_iter().map(file).collect(), &limits);
            let pieces: Vec<Piece> = selection.chosen.iter().flat_map(|(_, p)| p.clone()).collect();
            let bytes: u64 = pieces.iter().map(|p| p.bytes).sum();
            prop_assert!(!pieces.is_empty());
            prop_assert!(bytes <= max_bytes, "{bytes} > {max_bytes}");
            prop_assert!(pieces.len() <= max_items);
            prop_assert_eq!(selection.sampled.is_none(), bytes == total);
            for (_, pieces) in &selection.chosen {
                for pair in pieces.windows(2) {
                    prop_assert!(pair[0].at + pair[0].bytes <= pair[1].at);
                }
                prop_assert!(pieces.iter().all(|p| p.bytes > 0 && p.at + p.bytes <= p.of));
            }
        }
    }
}

use std::fs;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Files of several types and sizes, some of which compress well.
fn folder(count: u64) -> (tempfile::TempDir, Vec<Found>) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(5);
    let file = |number: u64| {
        let (extension, letters) = [("css", 4u8), ("js", 16), ("png", 250)][(number % 3) as usize];
        let length = 200 * 3u64.pow(random.random_range(0..4)) + random.random_range(0..200);
        let bytes: Vec<u8> = (0..length).map(|_| b'!' + random.random_range(0..letters) % 200).collect();
        let path = folder.path().join(format!("{number}.{extension}"));
        fs::write(&path, bytes).unwrap();
        Found { path, bytes: length }
    };
    let files = (0..count).map(file).collect();
    (folder, files)
}

fn frame(files: &[Found]) -> Frame {
    let mut frame = Frame::default();
    files.iter().for_each(|file| frame.add(file, file.path.file_name().unwrap().as_encoded_bytes()));
    frame
}

#[test]
fn a_sample_knows_the_total_as_exactly_as_it_says() {
    let (_folder, files) = folder(3000);
    let mut probe = Probe::new().unwrap();
    let mut encoded = |unit: &Unit| probe.encoded(unit).unwrap() as f64;
    let truth: f64 = whole(&files).units.iter().map(&mut encoded).sum();
    let mut notes = Vec::new();
    let (groups, reached) = frame(&files).sample(0.01, 1 << 30, &mut notes).unwrap();
    let reached = reached.unwrap();
    assert!(notes.is_empty() && reached <= 0.01, "{reached}");
    let taken: usize = groups.iter().map(|group| group.units.len()).sum();
    assert!(taken < 2000, "{taken} of 3000");
    let (mut total, mut bytes) = (0.0, 0);
    for group in &groups {
        let own: u64 = group.units.iter().map(|unit| unit.piece.bytes).sum();
        let stands_for = group.stands_for.map_or(own, |(_, bytes)| bytes);
        total += group.units.iter().map(&mut encoded).sum::<f64>() * stands_for as f64 / own as f64;
        bytes += stands_for;
    }
    assert_eq!(bytes, files.iter().map(|file| file.bytes).sum::<u64>());
    // The draw follows from the names: this sample is always the same one.
    assert!((total / truth - 1.0).abs() <= reached, "{total} of {truth}, {reached}");
}

#[test]
fn few_files_are_all_taken_and_a_bound_is_kept() {
    let (_folder, files) = folder(30);
    let (groups, reached) = frame(&files).sample(0.01, 1 << 30, &mut Vec::new()).unwrap();
    assert_eq!((groups.len(), groups[0].units.len(), groups[0].stands_for), (1, 30, None));
    assert_eq!(reached, Some(0.0));
    let mut huge = Vec::new();
    let (place, _) = folder(0);
    let path = place.path().join("huge.bin");
    fs::File::create(&path).unwrap().set_len(300 << 20).unwrap();
    huge.push(Found { path, bytes: 300 << 20 });
    let (groups, _) = frame(&huge).sample(0.001, 8 << 20, &mut Vec::new()).unwrap();
    let pieces: Vec<Piece> =
        groups.iter().flat_map(|group| group.units.iter().map(|unit| unit.piece)).collect();
    assert!(pieces.len() <= PILOT && pieces.iter().all(|piece| piece.bytes == BLOCK), "{}", pieces.len());
}

#[test]
fn what_cannot_be_read_is_said_and_stands_for_nothing() {
    let (_folder, files) = folder(30);
    fs::remove_file(&files[3].path).unwrap();
    let mut notes = Vec::new();
    let (groups, _) = frame(&files).sample(0.01, 1 << 30, &mut notes).unwrap();
    assert_eq!((groups[0].units.len(), notes.len()), (29, 1));
    assert!(notes[0].to_string().contains("3.css"), "{}", notes[0]);
}

proptest! {
    #[test]
    fn units_are_dealt_once_to_groups_that_are_alike(
        lengths in prop::collection::vec(1u64..100_000, 1..300),
        items in 1usize..50,
        bytes in 1_000u64..1_000_000,
        times in 1u64..20,
    ) {
        let piece = |bytes| Piece { at: 0, bytes, of: bytes };
        let unit = |(number, bytes): (usize, &u64)| Unit { path: number.to_string().into(), piece: piece(*bytes) };
        let units: Vec<Unit> = lengths.iter().enumerate().map(unit).collect();
        let total: u64 = lengths.iter().sum();
        let count = lengths.len() as u64;
        for stands_for in [None, Some((count * times, total * times))] {
            let dealt = deal(Group { units: units.clone(), stands_for }, items, bytes);
            let mut all: Vec<PathBuf> = dealt.iter().flat_map(|one| one.units.iter().map(|u| u.path.clone())).collect();
            all.sort();
            all.dedup();
            prop_assert_eq!(all.len(), units.len());
            let sizes = || dealt.iter().map(|one| one.units.len());
            prop_assert!(sizes().max().unwrap() <= items && sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            if let Some((items, bytes)) = stands_for {
                let sum = |of: fn((u64, u64)) -> u64| dealt.iter().map(|one| of(one.stands_for.unwrap())).sum::<u64>();
                prop_assert_eq!((sum(|s| s.0), sum(|s| s.1)), (items, bytes));
                let own = |one: &Group| one.units.iter().map(|unit| unit.piece.bytes).sum::<u64>();
                let is_more = dealt.iter().all(|one| one.stands_for.unwrap().1 >= own(one));
                prop_assert!(is_more);
            }
        }
    }
}

//! Which files of a folder stand for it: some of each type, from its smallest to its largest.

use std::path::Path;

use weigh_content::kind;
use weigh_content::user::Found;

/// What kind of content a file is by its name alone.
pub fn kind_of(path: &Path) -> &'static str {
    kind::detect_kind(path, &[])
}

/// At most this many of the files: each type has one before any has two, types with more files have more, and those of a type are
/// evenly spaced by size. The same files give the same choice.
pub fn choose(files: Vec<Found>, most: usize) -> Vec<Found> {
    let mut types: Vec<(&'static str, Vec<Found>)> = Vec::new();
    for file in files {
        let kind = kind_of(&file.path);
        match types.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, own)) => own.push(file),
            None => types.push((kind, vec![file])),
        }
    }
    // Types with more bytes come first: where there are more types than places, the others are left out.
    let total = |own: &[Found]| own.iter().map(|f| f.bytes).sum::<u64>();
    types.sort_by(|a, b| total(&b.1).cmp(&total(&a.1)).then(a.0.cmp(b.0)));
    let mut places = vec![0; types.len()];
    for _ in 0..most {
        // The type whose places stand for the most files each.
        let crowded = |at: &usize| {
            let (own, taken) = (types[*at].1.len(), places[*at]);
            (taken < own).then(|| (own * 1000).checked_div(taken).unwrap_or(usize::MAX))
        };
        let next = (0..types.len()).filter(|at| crowded(at).is_some()).rev().max_by_key(crowded);
        let Some(next) = next else { break };
        places[next] += 1;
    }
    let chosen = types.into_iter().zip(places).flat_map(|((_, own), places)| spaced(own, places));
    chosen.collect()
}

/// This many of them, in the middle of as many equal parts by size.
fn spaced(mut files: Vec<Found>, places: usize) -> Vec<Found> {
    files.sort_by(|a, b| a.bytes.cmp(&b.bytes).then_with(|| a.path.cmp(&b.path)));
    let count = files.len();
    (0..places).map(|place| files[(2 * place + 1) * count / (2 * places)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64) -> Found {
        Found { path: path.into(), bytes }
    }

    #[test]
    fn each_type_has_one_before_any_has_two() {
        let mut files: Vec<_> = (1..=20).map(|n| file(&format!("{n:02}.js"), n)).collect();
        files.extend([file("a.css", 500), file("b.png", 3), file("c.png", 900)]);
        let names = |most| {
            let chosen = choose(files.clone(), most);
            chosen.into_iter().map(|c| c.path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(3), ["c.png", "a.css", "11.js"]);
        assert_eq!(names(5), ["c.png", "a.css", "04.js", "11.js", "17.js"]);
        assert_eq!(names(1), ["c.png"], "the type with the most bytes");
        assert_eq!(names(100).len(), files.len());
    }
}

//! The sample site without a cache, so that synthetic content stands for the corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use super::*;

fn empty() -> Library {
    Library::open(Path::new("/nonexistent/cache")).unwrap()
}

/// Digests of all files below a folder by their paths in it.
fn digests(root: &Path) -> BTreeMap<String, String> {
    let files =
        walkdir::WalkDir::new(root).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file());
    let one = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(root).unwrap().display().to_string();
        (name, weigh_os::digest::sha256(&fs::read(entry.path()).unwrap()))
    };
    files.map(one).collect()
}

/// All lines of the log, the oldest first.
fn lines(log: &Path) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    let rotated = fs::File::open(log.join("access.log.1.gz")).unwrap();
    flate2::read::GzDecoder::new(rotated).read_to_end(&mut bytes).unwrap();
    bytes.extend(fs::read(log.join("access.log")).unwrap());
    bytes.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn the_same_seed_makes_the_same_site_and_another_one_other_visitors() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    let site = make(&empty(), &one, 1).unwrap();
    make(&empty(), &other, 2).unwrap();
    let (mut first, mut second) = (digests(&one), digests(&other));
    let stages = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(stages, 2, "no draft is left");
    for name in ["nginx.conf", "apache.conf", "lighttpd.conf", "Caddyfile"] {
        let text = fs::read_to_string(one.join(name)).unwrap();
        assert!(text.contains(&format!("\"{}/public\"", one.display())), "{text}");
        first.remove(name);
        second.remove(name);
    }
    for name in ["log/access.log", "log/access.log.1.gz"] {
        assert_ne!(first.remove(name).unwrap(), second.remove(name).unwrap(), "{name}");
    }
    assert_eq!(first, second);
    let count = |folder: &str| first.keys().filter(|name| name.starts_with(folder)).count();
    // One more than is served: the script.
    assert_eq!((count("public/"), count("values/")), (site.files + 1, site.values));
    assert!(site.stand_ins.contains("corpus:jquery-3.7.1.min"), "{:?}", site.stand_ins);

    let served = files::served(&one.join("public")).unwrap();
    let texts: Vec<_> = (1..6).map(|n| one.join(format!("pages/content/article-{n}.html"))).collect();
    let texts = std::iter::once(one.join("pages/content/index.html")).chain(texts);
    let texts: Vec<_> = texts.map(|path| files::Size::of(&path).unwrap()).collect();
    let again = folder.path().join("again");
    let hits = traffic::week(&served, &texts, LINES - broken(LINES), 1);
    log::write(&hits, broken(LINES), 1, &again).unwrap();
    let same =
        |name: &str| fs::read(again.join(name)).unwrap() == fs::read(one.join("log").join(name)).unwrap();
    assert!(same("access.log") && same("access.log.1.gz"));
}

/// Day, path, status and bytes of a line in the combined format.
fn combined(line: &str) -> Option<[&str; 4]> {
    let [client, request, answer, _referrer, " ", _agent, ""] = line.split('"').collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let (_, time) = client.split_once(" - - [")?;
    let day = time.strip_suffix(" +0000] ")?.split_once("/Nov/2026:")?.0;
    let ["GET" | "HEAD", path, "HTTP/1.1"] = request.split(' ').collect::<Vec<_>>()[..] else { return None };
    let (status, bytes) = answer.trim().split_once(' ')?;
    Some([day, path, status, bytes])
}

#[test]
fn the_log_is_of_this_site_and_has_the_known_share_of_broken_lines() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("site");
    let site = make(&empty(), &root, SEED).unwrap();
    let served = files::served(&root.join("public")).unwrap();
    let (mut wrong, mut days) = (0, BTreeSet::new());
    let (mut states, mut paths) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    let all = lines(&root.join("log"));
    assert_eq!(all.len(), LINES);
    for line in &all {
        let Some([day, path, status, bytes]) = std::str::from_utf8(line).ok().and_then(combined) else {
            wrong += 1;
            continue;
        };
        let path = path.split('?').next().unwrap();
        let is_page = path == "/" || path.starts_with("/article/");
        assert_eq!(status != "404", is_page || served.contains_key(path), "{path}: {status}");
        if let Some(size) = served.get(path) {
            assert!(bytes.parse::<u64>().unwrap() <= size.plain.max(size.sent), "{path}");
        }
        days.insert(day.to_owned());
        *paths.entry(path.to_owned()).or_default() += 1;
        *states.entry(status.to_owned()).or_default() += 1;
    }
    assert_eq!((wrong, site.broken), (LINES / 1000, LINES / 1000));
    assert_eq!(days.len(), 7, "{days:?}");
    for state in ["200", "206", "304", "404"] {
        assert!(states[state] > 100, "{states:?}");
    }
    assert!(paths["/article/1"] > 5 * paths["/article/20"], "popular pages are requested more often");
    for path in served.keys() {
        assert!(paths.contains_key(path), "{path} is never requested");
    }
}

#[test]
fn a_folder_that_holds_something_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("site");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("mine"), "x").unwrap();
    let error = make(&empty(), &root, SEED).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
    assert_eq!(digests(folder.path()).into_keys().collect::<Vec<_>>(), ["site/mine"]);
}

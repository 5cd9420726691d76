//! Files and folders as users have them.

use std::os::unix::fs::symlink;

use super::*;

struct UserFolder {
    folder: tempfile::TempDir,
}

impl UserFolder {
    fn new() -> UserFolder {
        let place = UserFolder { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.at("own")).unwrap();
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at("own").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn stage(&self, path: &str, limits: Limits) -> Result<Staged> {
        stage(&Wanted::path(self.at("own").join(path)), &self.at("run"), &limits, &mut Names::new())
    }

    fn error(&self, path: &str) -> String {
        format!("{:#}", self.stage(path, Limits::default()).unwrap_err())
    }
}

fn blob(staged: &Staged) -> Vec<u8> {
    let bytes = fs::read(&staged.payload.blob).unwrap();
    assert_eq!(staged.payload.bytes, bytes.len() as u64);
    assert_eq!(staged.payload.items.iter().sum::<u64>(), staged.payload.bytes);
    assert_eq!(staged.payload.sha256, digest::sha256(&bytes));
    bytes
}

#[test]
fn a_file_is_one_item() {
    let place = UserFolder::new();
    place.write("index.html", "<p>hello");
    let staged = place.stage("index.html", Limits::default()).unwrap();
    assert_eq!(blob(&staged), b"<p>hello");
    assert_eq!((staged.payload.name.as_str(), staged.payload.kind.as_str()), ("index.html", "html"));
    assert_eq!(staged.payload.items, [8]);
    assert_eq!(staged.payload.value, None);
    let origin = Origin::User { path: place.at("own/index.html"), sampled: None };
    assert_eq!(staged.payload.origin, origin);
    assert!(staged.notes.is_empty());
}

#[test]
fn a_file_in_blocks_has_many_items() {
    let place = UserFolder::new();
    place.write("a.txt", "0123456789");
    let limits = Limits { block: Some(4), ..Limits::default() };
    let staged = place.stage("a.txt", limits).unwrap();
    assert_eq!(blob(&staged), b"0123456789");
    assert_eq!(staged.payload.items, [4, 4, 2]);
}

#[test]
fn a_folder_is_its_files_in_order_and_says_what_it_leaves_out() {
    let place = UserFolder::new();
    for (path, content) in [
        ("b.css", "b"),
        ("a/z.css", "az"),
        ("a/a.css", "aa"),
        ("c\n\u{1b}[31m.css", "c"),
        (".hidden", "no"),
        (".git/config", "no"),
        ("sub/.svn/x", "no"),
        ("empty.css", ""),
    ] {
        place.write(path, content);
    }
    symlink(place.at("own"), place.at("own/loop")).unwrap();
    symlink("/etc/hostname", place.at("own/link.css")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.at("own/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.at("own/socket")).unwrap();
    let staged = place.stage("", Limits::default()).unwrap();
    assert_eq!(blob(&staged), b"aaazbc");
    assert_eq!(staged.payload.items, [2, 2, 1, 1]);
    assert_eq!((staged.payload.name.as_str(), staged.payload.kind.as_str()), ("own/", "css"));
    let mut counts = Vec::new();
    for note in &staged.notes {
        assert!(!note.to_string().contains(['\n', '\u{1b}']), "{note}");
        let Note::Skipped { count, what, .. } = note else { panic!("{note}") };
        counts.push((*what, *count));
    }
    let expected = [
        ("empty files", 1),
        ("folders of a version control system", 2),
        ("hidden files and folders", 1),
        ("named pipes", 1),
        ("sockets", 1),
        ("symbolic links", 2),
    ];
    assert_eq!(counts, expected);
}

#[test]
fn where_the_lab_writes_is_not_measured() {
    let place = UserFolder::new();
    place.write("a.txt", "a");
    place.write("weigh-runs/1/payloads/old.bin", "old");
    let into = place.at("own/weigh-runs/2");
    fs::create_dir_all(&into).unwrap();
    let staged = stage(&Wanted::path(place.at("own")), &into, &Limits::default(), &mut Names::new()).unwrap();
    assert_eq!(blob(&staged), b"a");
    assert_eq!(staged.notes.len(), 1);
    assert!(staged.notes[0].to_string().contains("this program writes to"), "{}", staged.notes[0]);
}

#[test]
fn a_link_given_by_name_is_followed() {
    let place = UserFolder::new();
    place.write("real.js", "x");
    symlink(place.at("own/real.js"), place.at("own/link")).unwrap();
    let staged = place.stage("link", Limits::default()).unwrap();
    assert_eq!(blob(&staged), b"x");
    assert_eq!(staged.payload.name, "real.js");
}

#[test]
fn what_cannot_be_measured_is_one_clear_line() {
    let place = UserFolder::new();
    place.write("empty", "");
    place.write("only/.hidden", "x");
    fs::create_dir(place.at("own/nothing")).unwrap();
    symlink(place.at("own/self"), place.at("own/self")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.at("own/socket")).unwrap();
    for (path, said) in [
        ("missing", "missing: no such file or folder"),
        ("a\nb", "a\u{fffd}b: no such file or folder"),
        ("empty", "empty is empty"),
        ("nothing", "nothing has no file to measure"),
        ("only", "only has no file to measure (left out 1 hidden files and folders, such as "),
        ("self", "Too many levels of symbolic links"),
        ("socket", "socket is a socket: give a regular file or a folder"),
        ("empty/below", "empty/below: "),
    ] {
        let error = place.error(path);
        assert!(error.contains(said), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let device = stage(&Wanted::path("/dev/zero"), &place.at("run"), &Limits::default(), &mut Names::new());
    assert!(device.unwrap_err().to_string().contains("is a device"));
}

#[test]
fn an_unreadable_file_does_not_lose_the_rest() {
    use std::os::unix::fs::PermissionsExt;
    let place = UserFolder::new();
    place.write("a.txt", "first");
    place.write("b.txt", "secret");
    place.write("c.txt", "third");
    let closed = place.at("own/b.txt");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Permissions do not bind root; then a file that has become shorter since it was listed stands in for it.
    let files = files(&place.at("own"), &place.at("run")).0;
    if rustix::process::geteuid().is_root() {
        fs::write(&closed, "s").unwrap();
    }
    let into = place.at("run");
    let staged = stage_whole(&place.at("own"), files, Vec::new(), &into, &Limits::default(), "own/").unwrap();
    assert_eq!(blob(&staged), b"firstthird");
    assert_eq!(staged.payload.items, [5, 5]);
    let [Note::Unreadable { path, why }] = &staged.notes[..] else { panic!("{:?}", staged.notes) };
    assert_eq!(path, &closed);
    assert!(why.contains("may not be read") || why.contains("changed while it was read"), "{why}");
}

#[test]
fn a_file_that_changed_since_it_was_looked_at_is_refused() {
    let place = UserFolder::new();
    place.write("log", "grows and grows");
    for seen in [3, 30] {
        let file = Found { path: place.at("own/log"), bytes: seen };
        let given = place.at("own/log");
        let staged = stage_whole(&given, vec![file], Vec::new(), &place.at("run"), &Limits::default(), "log");
        let error = staged.unwrap_err().to_string();
        assert!(error.contains("changed while it was read"), "{error}");
    }
    assert_eq!(fs::read_dir(place.at("run")).unwrap().count(), 0, "nothing half-done is left");
}

#[test]
fn a_pipe_that_took_a_files_place_is_not_waited_for() {
    let place = UserFolder::new();
    place.write("a.txt", "a");
    let pipe = place.at("own/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    symlink(place.at("own/a.txt"), place.at("own/link")).unwrap();
    let found = |path: &str| Found { path: place.at("own").join(path), bytes: 1 };
    let files = vec![found("a.txt"), found("pipe"), found("link")];
    let into = place.at("run");
    let staged = stage_whole(&place.at("own"), files, Vec::new(), &into, &Limits::default(), "own/").unwrap();
    assert_eq!(blob(&staged), b"a");
    assert_eq!(staged.notes.len(), 2);
    assert!(staged.notes[0].to_string().contains("it is a named pipe"), "{}", staged.notes[0]);
}

#[test]
fn of_a_huge_file_stated_blocks_are_read_with_little_memory() {
    let place = UserFolder::new();
    place.write("huge.bin", "start");
    let huge = fs::File::options().write(true).open(place.at("own/huge.bin")).unwrap();
    huge.set_len(1 << 40).unwrap();
    huge.write_at(b"end", (1 << 40) - 3).unwrap();
    let limits = Limits { max_bytes: 8 << 20, ..Limits::default() };
    let staged = place.stage("huge.bin", limits).unwrap();
    let bytes = blob(&staged);
    assert_eq!(staged.payload.items, [1 << 20; 8]);
    assert!(bytes.starts_with(b"start") && bytes.ends_with(b"end"));
    let Origin::User { sampled: Some(said), .. } = &staged.payload.origin else { panic!() };
    assert_eq!(said, "up to 8 blocks of 1048576 bytes, evenly spaced over 1099511627776 bytes");
    // The peak of this process stays far below the content, whatever other tests do meanwhile.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 1 << 20, "{peak} kB");
}

#[test]
fn a_full_folder_with_large_and_small_files_is_sampled() {
    let place = UserFolder::new();
    for n in 0..30 {
        place.write(&format!("{n:02}.txt"), vec![b'x'; 1000]);
    }
    place.write("large.bin", vec![0; 100_000]);
    let limits = Limits { max_bytes: 20_000, sample_block: 500, ..Limits::default() };
    let staged = place.stage("", limits).unwrap();
    assert!(staged.payload.bytes <= 20_000);
    blob(&staged);
    let Origin::User { sampled: Some(said), .. } = &staged.payload.origin else { panic!() };
    assert!(said.starts_with("1 file in every 2 of 31; up to 5 blocks of 500 bytes"), "{said}");
    assert_eq!(place.stage("", limits).unwrap().payload.sha256, staged.payload.sha256);
}

#[test]
fn a_folder_that_cannot_be_written_to_says_so() {
    let place = UserFolder::new();
    place.write("a.txt", "a");
    place.write("file", "x");
    let into = place.at("own/file/run");
    let error = stage(&Wanted::path(place.at("own/a.txt")), &into, &Limits::default(), &mut Names::new())
        .unwrap_err();
    assert!(format!("{error:#}").starts_with("cannot write in "), "{error:#}");
}

#[test]
fn a_list_names_files_by_lines_or_by_nul() {
    let place = UserFolder::new();
    place.write("a.css", [b'a'; 30]);
    place.write("b c.js", [b'b'; 20]);
    place.write("empty", "");
    let full = |name: &str| place.at("own").join(name).into_os_string().into_string().unwrap();
    let names = [full("a.css"), full("nowhere"), full("empty"), full(""), full("b c.js")];
    for (end, list) in [("\n", "lines"), ("\0", "nuls")] {
        place.write(list, format!("{}{end}{end}", names.join(end)));
        let wanted =
            Wanted { is_list: true, extent: Extent::Every, ..Wanted::path(place.at("own").join(list)) };
        let staged = stage(&wanted, &place.at("run"), &Limits::default(), &mut Names::new()).unwrap();
        assert_eq!((staged.payload.items, staged.payload.parts.len()), (vec![30, 20], 0), "{list}");
        let notes: Vec<String> = staged.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("nowhere")), "{notes:?}");
    }
    place.write("blob", [b'x'; 9000]);
    let wanted = Wanted { is_list: true, ..Wanted::path(place.at("own/blob")) };
    let why = stage(&wanted, &place.at("run"), &Limits::default(), &mut Names::new()).unwrap_err();
    assert!(why.to_string().contains("entry 1 is no path; write one path per line"), "{why}");
}

#[test]
fn many_files_come_in_parts_that_add_up() {
    let place = UserFolder::new();
    (0..600).for_each(|n| place.write(&format!("{n}.css"), vec![b'a'; 10 + n]));
    let wanted = Wanted { is_parted: true, extent: Extent::Fitting(0.01), ..Wanted::path(place.at("own")) };
    let staged = stage(&wanted, &place.at("run"), &Limits::default(), &mut Names::new()).unwrap().payload;
    let sizes: Vec<u32> = staged.parts.iter().map(|part| part.items).collect();
    assert_eq!(sizes, [200, 200, 200]);
    let blob = fs::read(&staged.blob).unwrap();
    let mut begin = 0;
    for part in &staged.parts {
        let end = begin + part.bytes as usize;
        assert_eq!(part.sha256, digest::sha256(&blob[begin..end]));
        assert!(!part.is_sample());
        begin = end;
    }
    assert_eq!((begin, staged.bytes), (blob.len(), blob.len() as u64));
    // Within the limits, and not asked for: as one.
    let whole =
        stage(&Wanted::path(place.at("own")), &place.at("run"), &Limits::default(), &mut Names::new());
    assert!(whole.unwrap().payload.parts.is_empty());
}

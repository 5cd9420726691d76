use super::*;

fn docroot() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("sub")).unwrap();
    for name in ["a.js", "a.js.gz", "sub/b.js", "sub/b.js.gz", "sub/b.js.br", "c.css", "c.css.br", "d.png"] {
        fs::write(home.path().join(name), name).unwrap();
    }
    home
}

#[test]
fn an_extension_counts_where_every_file_has_the_variant() {
    let home = docroot();
    symlink("nowhere", home.path().join("dead.js")).unwrap();
    let found = variants(home.path());
    assert_eq!(found["gzip"], ["js"]);
    assert_eq!(found["br"], ["css"]);
    assert_eq!(found.len(), 2);
}

#[test]
fn a_mirror_renames_and_maps_only_what_has_variants() {
    let (home, target) = (docroot(), tempfile::tempdir().unwrap());
    let rule = Mirror { plain: Some("{{ name }}.{{ extension }}".into()), map: Some("x.var".into()) };
    let map = "{% for v in variants %}{{ v.name }}={{ v.coding }} {% endfor %}{{ type }}";
    mirror(home.path(), &target.path().join("m"), &rule, Some(("x.var", map))).unwrap();
    let read = |name: &str| fs::read_to_string(target.path().join("m").join(name)).unwrap();
    assert_eq!(read("sub/b.js.js"), "sub/b.js");
    assert_eq!(read("sub/b.js.br"), "sub/b.js.br");
    assert_eq!(read("d.png"), "d.png");
    assert_eq!(read("sub/b.js.var"), "b.js.js=identity b.js.gz=gzip b.js.br=br text/javascript");
    assert!(!target.path().join("m/a.js").exists() && !target.path().join("m/d.png.var").exists());
}

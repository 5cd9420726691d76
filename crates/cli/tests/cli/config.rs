//! Configurations as people have them, in private instances: what is measured is what the site has.

mod fixtures;

use serde_json::Value;

use crate::codec::text;
use crate::lab::{Lab, deliveries, has, study};

fn nginx() -> bool {
    has("nginx", "apt install nginx-light")
}

fn apache() -> bool {
    has("apache2", "apt install apache2")
}

/// A lab with such a study and a document root.
fn begun(server: &str, ways: &str) -> Lab {
    let lab = Lab::new();
    assets(&lab, server, ways);
    docroot(&lab);
    lab
}

/// A study of one round of files by this server.
fn assets(lab: &Lab, server: &str, ways: &str) {
    let block =
        deliveries("asset", "corpus:lodash-4.17.21.min", "-", &format!("ways = [{ways}]\nkeep = true"));
    lab.write(
        "assets.toml",
        study("assets", [60, 1, 1], &block.replace("\"nginx\"", &format!("\"{server}\""))),
    );
}

/// A document root with a script and a sheet of styles in folders.
fn docroot(lab: &Lab) {
    lab.write("public/js/app.js", text(20_000));
    lab.write("public/css/site.css", text(12_000));
}

/// The plan with a configuration and this document root is asked for.
fn dry(config: &str) -> [&str; 7] {
    ["run", "--dry-run", "assets.toml", "--docroot", "public", "--server-config", config]
}

/// The visits of a run with this configuration and document root, and what was said before it.
fn measured(lab: &Lab, config: &str) -> (std::collections::BTreeMap<String, Value>, String) {
    let args = ["run", "assets.toml", "--docroot", "public", "--server-config", config, "--out", "run"];
    let ran = lab.done(&args);
    (lab.visits("run"), ran.stderr)
}

/// What was sent for a content by the configuration: bytes, Content-Encoding and type.
fn sent(
    visits: &std::collections::BTreeMap<String, Value>,
    content: &str,
    server: &str,
) -> (u64, String, String) {
    let visit = &visits[&format!("{content}/{server}/-/http/server/config")];
    let seen = &visit["delivery"]["preflight"];
    let word = |key: &str| seen[key].as_str().unwrap_or("none").to_owned();
    (visit["encoded_bytes"].as_u64().unwrap(), word("content_encoding"), word("content_type"))
}

/// What the plan with a configuration says of it and beside it.
fn planned(lab: &Lab, config: &str) -> (Value, String) {
    let ran = lab.done(&[&dry(config)[..], &["--json"]].concat());
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
    (plan["servers"][0]["own"][0].clone(), ran.stderr)
}

/// What the site answers with this configuration for a file, to clients that accept these codings, as it was asked.
fn today(lab: &Lab, config: &str, file: &str, accept: &[&str]) -> Value {
    let args = ["site", "--docroot", "public", "--server-config", config, "--json", "--force"];
    let site: Value = serde_json::from_str(&lab.done(&args).stdout).unwrap();
    let strata = site["strata"].as_array().unwrap().iter();
    let mut samples = strata.flat_map(|stratum| stratum["sample"].as_array().unwrap());
    let sample = samples.find(|sample| sample["path"].as_str().unwrap().ends_with(file)).expect(file);
    let sent = sample["sent"].as_array().unwrap_or_else(|| panic!("{file} was not asked for: {site}"));
    sent.iter().find(|sent| sent["accept"] == serde_json::json!(accept)).expect("the class").clone()
}

/// The content coding that clients of gzip alone get for a file.
fn coding(lab: &Lab, config: &str, file: &str) -> String {
    today(lab, config, file, &["gzip"])["coding"].as_str().unwrap().to_owned()
}

#[test]
fn debians_nginx_with_a_site_encodes_its_own_types_at_its_own_level() {
    needs!(nginx());
    let lab = begun("nginx", "\"gzip:6\"");
    fixtures::nginx(&lab);
    let (visits, said) = measured(&lab, "nginx/nginx.conf");
    let (bytes, coding, of) = sent(&visits, "app.js", "nginx");
    assert_eq!(
        (coding.as_str(), of.as_str()),
        ("gzip", "application/javascript"),
        "the types are the user's"
    );
    assert_eq!(bytes, visits["app.js/nginx/-/http/server/gzip:6"]["encoded_bytes"], "at the user's level");
    assert_eq!(sent(&visits, "site.css", "nginx").1, "gzip");
    for line in [
        "own: user (nginx.conf:1), pid (nginx.conf:3), error_log (nginx.conf:4), listen (sites-enabled/default:2,",
        "replaced, so that nothing outside is written or asked: access_log (nginx.conf:16)",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let own = &lab.json("run/plan.json")["servers"][0]["own"][0];
    assert_eq!((&own["way"], &own["samples"]["app.js"]["path"]), (&"config".into(), &"/js/app.js".into()));
    assert_eq!(own["samples"]["app.js"]["file"], "/var/www/html/js/app.js");
    crate::schema::keeps("plan", &lab.json("run/plan.json"));
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_site_alone_inherits_what_its_root_file_sets() {
    needs!(nginx());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    for file in ["nginx/sites-enabled/default", "nginx/sites-available/default"] {
        assert_eq!(coding(&lab, file, "app.js"), "gzip", "{file}");
        assert!(planned(&lab, file).1.contains(&format!("{file}: read as a part of ")));
    }
    // A part that no include of the root names is read with it, too.
    lab.write("nginx/parts/shop.conf", "server { server_name shop; root /srv/shop; gzip off; }\n");
    assert_eq!(coding(&lab, "nginx/parts/shop.conf", "app.js"), "identity");
    let (own, _) = planned(&lab, "nginx/parts/shop.conf");
    assert!(own["text"].as_str().unwrap().contains("gzip off"));
}

#[test]
fn a_page_keeps_the_compression_of_its_location() {
    needs!(nginx(), has("php-fpm8.2", "apt install php8.2-fpm"));
    let lab = Lab::new();
    let block = deliveries("page", "synthetic:page", "php", "ways = [\"none\"]\nkeep = true");
    lab.write("pages.toml", study("pages", [60, 1, 1], &block));
    fixtures::nginx(&lab);
    lab.write("page.html", text(30_000));
    let args = ["run", "pages.toml", "--content", "page.html", "--server-config", "nginx/nginx.conf"];
    lab.done(&[&args[..], &["--out", "run"]].concat());
    let visits = lab.visits("run");
    let (id, visit) =
        visits.iter().find(|(id, _)| id.ends_with("server/config")).expect("a page of the configuration");
    assert_eq!(visit["delivery"]["preflight"]["content_encoding"], "gzip", "{id}: {visit}");
    let bytes = visit["encoded_bytes"].as_u64().unwrap();
    let own = zipped(&lab, "page.html", 9);
    assert!(bytes.abs_diff(own) <= own / 100, "level 9 of the location: {bytes}, {own}");
    let told = &lab.json("run/plan.json")["servers"][0]["own"][0];
    assert_eq!(told["page"], "/page.php");
    assert!(told["text"].as_str().unwrap().contains("fastcgi_buffers 32 16k;"));
    lab.write("nginx/sites-available/default", fixtures::FRONT_CONTROLLER);
    let own = &lab.told(&[&args[..], &["--dry-run", "--json"]].concat())["servers"][0]["own"][0];
    let page = (own["page"].as_str(), own["host"].as_str());
    assert_eq!(page, (Some("/"), Some("shop.example")), "the only script is reached by what is no file");
    // An application in a folder, of which nothing but its front controller is handed to PHP; and one that rewrites each script to its own.
    lab.write("wiki/w/index.php", "<?php");
    let php = "fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_param QUERY_STRING $query_string;\n\
        fastcgi_param REQUEST_METHOD $request_method; fastcgi_pass unix:/run/php.sock;";
    let wiki = "location = /w/index.php { try_files $uri =404; PHP }\n\
        location /wiki/ { rewrite ^ /w/index.php; } location / { return 404; }";
    let cloud = "location ~ \\.php(?:$|/) { rewrite ^/(?!index|remote) /index.php$request_uri;\n\
        fastcgi_split_path_info ^(.+?\\.php)(/.*)$; try_files $fastcgi_script_name =404; PHP }\n\
        location / { try_files $uri /index.php$request_uri; }";
    let root = lab.path("wiki").display().to_string();
    for (name, site, page) in [("wiki", wiki, "/w/index.php"), ("cloud", cloud, "/page.php")] {
        let (config, out) = (format!("{name}.conf"), format!("{name}-run"));
        let site = site.replace("PHP", php);
        let text = format!(
            "events {{}}\nhttp {{ server {{ root {root}; gzip on; gzip_comp_level 9;\n{site}\n}} }}\n"
        );
        lab.write(&config, text);
        let args = ["run", "pages.toml", "--content", "page.html", "--server-config", &config, "--out", &out];
        lab.done(&args);
        assert_eq!(lab.json(&format!("{out}/plan.json"))["servers"][0]["own"][0]["page"], page);
        let visits = lab.visits(&out);
        let (_, visit) = visits.iter().find(|(id, _)| id.ends_with("server/config")).unwrap();
        assert_eq!(visit["delivery"]["preflight"]["content_encoding"], "gzip", "{visit}");
    }
}

/// The length of a file as gzip makes it at a level.
fn zipped(lab: &Lab, file: &str, level: u32) -> u64 {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    std::io::Write::write_all(&mut encoder, lab.read(file).as_bytes()).unwrap();
    encoder.finish().unwrap().len() as u64
}

#[test]
fn variants_are_those_that_the_owner_has() {
    needs!(nginx());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    lab.write("nginx/conf.d/levels.conf", "gzip_types text/plain;\n");
    lab.write("nginx/conf.d/shop.conf", fixtures::WORDPRESS);
    let made = flate2::Compression::fast();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), made);
    std::io::Write::write_all(&mut encoder, lab.read("public/css/site.css").as_bytes()).unwrap();
    let variant = encoder.finish().unwrap();
    lab.write("public/css/site.css.gz", &variant);
    let (visits, said) = measured(&lab, "nginx/conf.d/shop.conf");
    assert_eq!(sent(&visits, "site.css", "nginx").0, variant.len() as u64, "the owner's own bytes");
    assert_eq!(
        sent(&visits, "app.js", "nginx"),
        (lab.read("public/js/app.js").len() as u64, "none".into(), "application/javascript".into()),
        "it has none"
    );
    let plan = lab.json("run/plan.json");
    let kind = |content: &str| {
        let cells = plan["cells"].as_array().unwrap().iter();
        let mut cells = cells.filter(|c| c["payload"] == content && c["setting"]["codec"] == "config");
        cells.next().unwrap()["delivery"]["kind"].clone()
    };
    assert_eq!((kind("site.css"), kind("app.js")), ("pre-encoded".into(), "on-the-fly".into()));
    assert!(
        said.contains("left out, because it asks or writes outside, or refuses the lab's requests: upstream"),
        "{said}"
    );
    let sent = today(&lab, "nginx/conf.d/shop.conf", "site.css", &["gzip"]);
    assert_eq!((&sent["method"], &sent["bytes"]), (&"server/gzip_static".into(), &variant.len().into()));
    let sent = today(&lab, "nginx/conf.d/shop.conf", "app.js", &["gzip"]);
    assert_eq!((&sent["coding"], &sent["cache_control"]), (&"identity".into(), &"max-age=315360000".into()));
}

#[test]
fn what_the_servers_print_is_taken_as_their_files_are() {
    needs!(nginx());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    let mut print = String::from("nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\n");
    for file in [
        "nginx.conf",
        "conf.d/levels.conf",
        "mime.types",
        "sites-enabled/default",
        "snippets/fastcgi-php.conf",
        "fastcgi.conf",
    ] {
        print +=
            &format!("# configuration file /etc/nginx/{file}:\n{}\n", lab.read(&format!("nginx/{file}")));
    }
    std::fs::remove_dir_all(lab.path("nginx")).unwrap();
    lab.write("print.txt", print);
    assert_eq!(coding(&lab, "print.txt", "app.js"), "gzip");
    assert!(planned(&lab, "print.txt").1.contains("access_log (nginx.conf:16)"));
}

#[test]
fn of_several_sites_the_one_that_is_meant_is_measured() {
    needs!(nginx());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    lab.write("nginx/conf.d/shop.conf", fixtures::WORDPRESS);
    lab.write(
        "nginx/conf.d/www.conf",
        "server { server_name www.example; return 301 https://example.org; }\n",
    );
    let args = dry("nginx/nginx.conf");
    let line = lab.refused(&args);
    for word in [
        "it has 2 sites; add --site NAME",
        "shop.example (/var/www/wordpress, ",
        "a site without a name (/var/www/html, ",
    ] {
        assert!(line.contains(word), "{word}: {line}");
    }
    let ask = |site: &'static str| args.iter().copied().chain(["--site", site]).collect::<Vec<_>>();
    assert!(lab.done(&ask("www.shop.example")).stderr.contains("other sites, left out: server"));
    assert!(lab.refused(&ask("shop.test")).contains("no site is named shop.test; "));
}

#[test]
fn debians_apache_with_its_default_site_is_measured() {
    needs!(apache());
    let lab = begun("apache", "\"mod_deflate:6\"");
    fixtures::apache(&lab);
    lab.write("public/.htaccess", fixtures::HTACCESS);
    let (visits, said) = measured(&lab, "apache2/apache2.conf");
    let (bytes, coding, of) = sent(&visits, "app.js", "apache");
    assert_eq!((coding.as_str(), of.as_str()), ("gzip", "application/javascript"), "{said}");
    let mine = visits["app.js/apache/-/http/server/mod_deflate:6"]["encoded_bytes"].as_u64().unwrap();
    assert_eq!(bytes, mine, "at the server's own level");
    assert!(said.contains("CustomLog (sites-enabled/000-default.conf:5)"), "{said}");
    let own = &lab.json("run/plan.json")["servers"][0]["own"][0];
    let sent = today(&lab, "apache2/apache2.conf", "site.css", &["gzip"]);
    assert_eq!(sent["cache_control"], "max-age=2592000", "the folder's own file counts");
    assert!(own["folder_files"]["/var/www/html/.htaccess"].as_str().unwrap().contains("RewriteBase /"));
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_folders_own_file_of_apache_is_taken_alone() {
    needs!(apache());
    let lab = begun("apache", "\"plain\"");
    let more = "AddOutputFilterByType DEFLATE text/css\n";
    lab.write("own/.htaccess", format!("{}{more}", fixtures::HTACCESS));
    assert_eq!(coding(&lab, "own/.htaccess", "site.css"), "gzip");
    assert_eq!(coding(&lab, "own/.htaccess", "app.js"), "identity");
}

#[test]
fn what_apache_prints_is_taken() {
    needs!(apache());
    let lab = begun("apache", "\"plain\"");
    lab.write(
        "print.txt",
        "# In file: /nowhere/apache2.conf\n#  80:\nTimeout 300\n# In file: /nowhere/sites-enabled/shop.conf\n#   1:\n<VirtualHost *:80>\n  #   2:\n  \
         DocumentRoot /var/www/html\n  #   3:\n  <Directory /var/www/html>\n    #   4:\n    Require all granted\n  </Directory>\n  #   6:\n  \
         AddOutputFilterByType DEFLATE text/css\n</VirtualHost>\n",
    );
    assert_eq!(coding(&lab, "print.txt", "site.css"), "gzip");
}

#[test]
fn a_module_that_is_not_here_is_named_with_its_package() {
    needs!(nginx(), apache());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    fixtures::apache(&lab);
    lab.write("nginx/modules-enabled/50.conf", "load_module modules/ngx_http_nobody_has_module.so;\n");
    lab.write(
        "apache2/mods-enabled/z.load",
        "LoadModule nobody_module /usr/lib/apache2/modules/mod_nobody.so\n",
    );
    for (file, said) in [
        (
            "nginx/nginx.conf",
            "modules-enabled/50.conf, line 1: the module http_nobody_has is not installed here: apt install libnginx-mod-http-nobody-has",
        ),
        (
            "apache2/apache2.conf",
            "mods-enabled/z.load, line 1: the module nobody is not installed here: apt install libapache2-mod-nobody",
        ),
    ] {
        let line = lab.refused(&dry(file));
        assert!(line.contains(said), "{line}");
    }
}

#[test]
fn the_servers_own_complaint_names_the_users_file_and_line() {
    needs!(nginx(), apache());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    fixtures::apache(&lab);
    lab.write("nginx/conf.d/levels.conf", "\n\ngzip_comp_level 12;\n");
    lab.write("apache2/conf-enabled/own.conf", "\nNoSuchDirective on\n");
    for (file, said) in [
        ("nginx/nginx.conf", "value must be between 1 and 9 in "),
        ("apache2/apache2.conf", "Syntax error on line 2 of "),
    ] {
        let line = lab.refused(&dry(file));
        let place = if file.starts_with("nginx") {
            "nginx/conf.d/levels.conf:3"
        } else {
            "apache2/conf-enabled/own.conf"
        };
        assert!(line.contains(said) && line.contains(place), "{line}");
    }
}

#[test]
fn what_depends_on_the_request_is_asked_for_each_class_of_clients() {
    needs!(nginx());
    let lab = begun("nginx", "\"plain\"");
    fixtures::nginx(&lab);
    lab.write(
        "nginx/sites-available/default",
        "server {\n root /var/www/html;\n location / {\n  if ($http_accept_encoding ~ zstd) { gzip off; }\n }\n}\n",
    );
    let coding = |accept: &[&str]| today(&lab, "nginx/nginx.conf", "app.js", accept)["coding"].clone();
    assert_eq!(coding(&["zstd", "br", "gzip"]), "identity");
    assert_eq!((coding(&["br", "gzip"]), coding(&["gzip"])), ("gzip".into(), "gzip".into()));
    assert_eq!(coding(&[]), "identity");
}

#[test]
fn a_folders_own_file_that_is_for_mod_php_is_asked_without_it() {
    needs!(apache());
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root's private server has a view of its own of the files");
        return;
    }
    let lab = begun("apache", "\"plain\"");
    fixtures::apache(&lab);
    lab.write("public/index.php", "<?php echo 'made';");
    let own = "php_value memory_limit 64M\nAddHandler application/x-httpd-php82 .php\nAddOutputFilterByType DEFLATE text/css text/html\n";
    lab.write("public/.htaccess", own);
    // As it is, an Apache without mod_php refuses the whole folder.
    assert_eq!(coding(&lab, "apache2/apache2.conf", "site.css"), "gzip");
    assert_eq!(lab.read("public/.htaccess"), own, "the site's own file stays as it is");
}

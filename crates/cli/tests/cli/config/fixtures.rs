//! Configurations in the shape of those that packages and handbooks bring, shortened. Paths in them need not be there.

use crate::lab::Lab;

/// A folder as Debian's `/etc/nginx`, with a site that has PHP.
pub fn nginx(lab: &Lab) {
    lab.write("nginx/nginx.conf", include_str!("nginx/nginx.conf"));
    lab.write("nginx/mime.types", include_str!("nginx/mime.types"));
    lab.write("nginx/fastcgi.conf", include_str!("nginx/fastcgi.conf"));
    lab.write("nginx/snippets/fastcgi-php.conf", include_str!("nginx/fastcgi-php.conf"));
    lab.write(
        "nginx/conf.d/levels.conf",
        "gzip_comp_level 6;\ngzip_types text/css application/javascript;\n",
    );
    lab.write("nginx/sites-available/default", include_str!("nginx/default"));
    std::fs::create_dir_all(lab.path("nginx/sites-enabled")).unwrap();
    std::os::unix::fs::symlink("../sites-available/default", lab.path("nginx/sites-enabled/default"))
        .unwrap();
}

/// The site of WordPress's handbook for nginx.
pub const WORDPRESS: &str = include_str!("nginx/wordpress");

/// A site with one script for all pages, as Symfony's handbook has it, under one name alone.
pub const FRONT_CONTROLLER: &str = include_str!("nginx/front-controller");

/// WordPress's `.htaccess`, with caching and compression as its plugins add them.
pub const HTACCESS: &str = include_str!("apache2/wordpress.htaccess");

/// A folder as Debian's `/etc/apache2`, with its default site below `root`.
pub fn apache(lab: &Lab) {
    lab.write("apache2/apache2.conf", include_str!("apache2/apache2.conf"));
    lab.write("apache2/envvars", include_str!("apache2/envvars"));
    lab.write("apache2/ports.conf", "Listen 80\n<IfModule ssl_module>\n\tListen 443\n</IfModule>\n");
    let modules = "mpm_event authz_core mime dir alias env filter deflate rewrite headers expires";
    for module in modules.split(' ') {
        let load = format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n");
        lab.write(&format!("apache2/mods-enabled/{module}.load"), load);
    }
    lab.write(
        "apache2/mods-enabled/mime.conf",
        format!("TypesConfig {}\n", lab.path("apache2/types").display()),
    );
    lab.write("apache2/types", "text/html\thtml htm\ntext/css\tcss\napplication/javascript\tjs\n");
    lab.write("apache2/mods-enabled/dir.conf", "DirectoryIndex index.html index.php\n");
    lab.write("apache2/mods-enabled/deflate.conf", include_str!("apache2/deflate.conf"));
    lab.write("apache2/sites-enabled/000-default.conf", include_str!("apache2/000-default.conf"));
}

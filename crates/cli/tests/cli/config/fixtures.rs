//! Configurations in the shape of those that packages and handbooks bring, shortened. Paths in them need not be there.

use crate::lab::Lab;

/// A folder as Debian's `/etc/nginx`, with a site that has PHP.
pub fn nginx(lab: &Lab) {
    lab.write("nginx/nginx.conf", NGINX);
    lab.write("nginx/mime.types", TYPES);
    lab.write("nginx/fastcgi.conf", FASTCGI);
    lab.write("nginx/snippets/fastcgi-php.conf", SNIPPET);
    lab.write(
        "nginx/conf.d/levels.conf",
        "gzip_comp_level 6;\ngzip_types text/css application/javascript;\n",
    );
    lab.write("nginx/sites-available/default", SITE);
    std::fs::create_dir_all(lab.path("nginx/sites-enabled")).unwrap();
    std::os::unix::fs::symlink("../sites-available/default", lab.path("nginx/sites-enabled/default"))
        .unwrap();
}

const NGINX: &str = "\
user www-data;
worker_processes auto;
pid /run/nginx.pid;
error_log /var/log/nginx/error.log;
include /etc/nginx/modules-enabled/*.conf;
events {
\tworker_connections 768;
}
http {
\tsendfile on;
\ttcp_nopush on;
\ttypes_hash_max_size 2048;
\tinclude /etc/nginx/mime.types;
\tdefault_type application/octet-stream;
\tssl_protocols TLSv1.2 TLSv1.3;
\taccess_log /var/log/nginx/access.log;
\tgzip on;
\tinclude /etc/nginx/conf.d/*.conf;
\tinclude /etc/nginx/sites-enabled/*;
}
";

const TYPES: &str = "\
types {
    text/html                  html htm shtml;
    text/css                   css;
    application/javascript     js;
    image/png                  png;
}
";

const FASTCGI: &str = "\
fastcgi_param  SCRIPT_FILENAME    $document_root$fastcgi_script_name;
fastcgi_param  QUERY_STRING       $query_string;
fastcgi_param  REQUEST_METHOD     $request_method;
fastcgi_param  CONTENT_TYPE       $content_type;
fastcgi_param  CONTENT_LENGTH     $content_length;
fastcgi_param  SCRIPT_NAME        $fastcgi_script_name;
fastcgi_param  REQUEST_URI        $request_uri;
fastcgi_param  DOCUMENT_URI       $document_uri;
fastcgi_param  DOCUMENT_ROOT      $document_root;
fastcgi_param  SERVER_PROTOCOL    $server_protocol;
fastcgi_param  REMOTE_ADDR        $remote_addr;
fastcgi_param  SERVER_NAME        $server_name;
";

const SNIPPET: &str = "\
fastcgi_split_path_info ^(.+?\\.php)(/.*)$;
try_files $fastcgi_script_name =404;
set $path_info $fastcgi_path_info;
fastcgi_param PATH_INFO $path_info;
fastcgi_index index.php;
include fastcgi.conf;
";

const SITE: &str = "\
server {
\tlisten 80 default_server;
\tlisten [::]:80 default_server;
\troot /var/www/html;
\tindex index.html index.htm index.php;
\tserver_name _;
\tlocation / {
\t\ttry_files $uri $uri/ =404;
\t}
\tlocation ~ \\.php$ {
\t\tgzip_comp_level 9;
\t\tfastcgi_buffers 32 16k;
\t\tinclude snippets/fastcgi-php.conf;
\t\tfastcgi_pass unix:/run/php/php-fpm.sock;
\t}
}
";

/// The site of WordPress's handbook for nginx.
pub const WORDPRESS: &str = "\
upstream php {
    server unix:/run/php-cgi.socket;
    server 127.0.0.1:9000;
}
server {
    server_name shop.example www.shop.example;
    root /var/www/wordpress;
    index index.php;
    location = /favicon.ico { log_not_found off; access_log off; }
    location = /robots.txt { allow all; log_not_found off; access_log off; }
    location / {
        # No PHP is touched for static content.
        try_files $uri $uri/ /index.php?$args;
    }
    location ~ \\.php$ {
        include fastcgi.conf;
        fastcgi_intercept_errors on;
        fastcgi_pass php;
        fastcgi_buffers 16 16k;
        fastcgi_buffer_size 32k;
    }
    location ~* \\.(js|css|png|jpg|jpeg|gif|ico)$ {
        expires max;
        log_not_found off;
        gzip_static on;
    }
}
";

/// A site with one script for all pages, as Symfony's handbook has it, under one name alone.
pub const FRONT_CONTROLLER: &str = "\
server {
    listen 80;
    server_name shop.example;
    root /var/www/shop/public;
    if ($host != shop.example) { return 301 https://shop.example$request_uri; }
    location / { try_files $uri /index.php$is_args$args; }
    location ~ ^/index\\.php(/|$) {
        fastcgi_pass unix:/run/php/php-fpm.sock;
        include fastcgi.conf;
        internal;
    }
    location ~ \\.php$ { return 404; }
}
";

/// WordPress's `.htaccess`, with caching and compression as its plugins add them.
pub const HTACCESS: &str = "\
# BEGIN WordPress
<IfModule mod_rewrite.c>
RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
</IfModule>
# END WordPress
<IfModule mod_expires.c>
ExpiresActive On
ExpiresByType text/css \"access plus 1 month\"
</IfModule>
<IfModule mod_php.c>
php_value upload_max_filesize 64M
</IfModule>
";

/// A folder as Debian's `/etc/apache2`, with its default site below `root`.
pub fn apache(lab: &Lab) {
    lab.write("apache2/apache2.conf", APACHE);
    lab.write("apache2/envvars", ENVVARS);
    lab.write("apache2/ports.conf", "Listen 80\n<IfModule ssl_module>\n\tListen 443\n</IfModule>\n");
    for module in [
        "mpm_event",
        "authz_core",
        "mime",
        "dir",
        "alias",
        "env",
        "filter",
        "deflate",
        "rewrite",
        "headers",
        "expires",
    ] {
        let load = format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n");
        lab.write(&format!("apache2/mods-enabled/{module}.load"), load);
    }
    lab.write(
        "apache2/mods-enabled/mime.conf",
        format!("TypesConfig {}\n", lab.path("apache2/types").display()),
    );
    lab.write("apache2/types", "text/html\thtml htm\ntext/css\tcss\napplication/javascript\tjs\n");
    lab.write("apache2/mods-enabled/dir.conf", "DirectoryIndex index.html index.php\n");
    lab.write("apache2/mods-enabled/deflate.conf", DEFLATE);
    lab.write("apache2/sites-enabled/000-default.conf", DEFAULT);
}

const APACHE: &str = "\
DefaultRuntimeDir ${APACHE_RUN_DIR}
PidFile ${APACHE_PID_FILE}
Timeout 300
KeepAlive On
MaxKeepAliveRequests 100
KeepAliveTimeout 5
User ${APACHE_RUN_USER}
Group ${APACHE_RUN_GROUP}
HostnameLookups Off
ErrorLog ${APACHE_LOG_DIR}/error.log
LogLevel warn
IncludeOptional mods-enabled/*.load
IncludeOptional mods-enabled/*.conf
Include ports.conf
<Directory />
\tOptions FollowSymLinks
\tAllowOverride None
\tRequire all denied
</Directory>
<Directory /var/www/>
\tOptions Indexes FollowSymLinks
\tAllowOverride All
\tRequire all granted
</Directory>
AccessFileName .htaccess
<FilesMatch \"^\\.ht\">
\tRequire all denied
</FilesMatch>
LogFormat \"%h %l %u %t \\\"%r\\\" %>s %O \\\"%{Referer}i\\\" \\\"%{User-Agent}i\\\"\" combined
IncludeOptional conf-enabled/*.conf
IncludeOptional sites-enabled/*.conf
";

const ENVVARS: &str = "\
unset HOME
export APACHE_RUN_USER=www-data
export APACHE_RUN_GROUP=www-data
export APACHE_PID_FILE=/var/run/apache2$SUFFIX/apache2.pid
export APACHE_RUN_DIR=/var/run/apache2$SUFFIX
export APACHE_LOG_DIR=/var/log/apache2$SUFFIX
";

const DEFLATE: &str = "\
<IfModule mod_filter.c>
\tAddOutputFilterByType DEFLATE text/html text/plain text/css
\tAddOutputFilterByType DEFLATE application/javascript
</IfModule>
";

const DEFAULT: &str = "\
<VirtualHost *:80>
\tServerAdmin webmaster@localhost
\tDocumentRoot /var/www/html
\tErrorLog ${APACHE_LOG_DIR}/error.log
\tCustomLog \"|/usr/bin/rotatelogs ${APACHE_LOG_DIR}/access.log 86400\" combined
</VirtualHost>
";

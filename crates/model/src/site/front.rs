//! Proxies and CDNs between visitors and a server: what they ask the server for, and what they do to its answers, as their documents say.

/// A proxy or CDN that is known by its documents.
#[derive(Debug, PartialEq, Eq)]
pub struct Front {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The content codings that it asks for.
    codings: &'static [&'static str],
    /// Whether it asks for them whatever a visitor accepts; else for those of them that the visitor accepts.
    is_always: bool,
    /// Whether it may encode answers again for visitors.
    pub encodes: bool,
    /// The vendor's page that says so.
    pub source: &'static str,
}

#[rustfmt::skip]
const KNOWN: [Front; 5] = [
    Front { name: "cloudflare", codings: &["br", "gzip"], is_always: true, encodes: true, source: "developers.cloudflare.com/speed/optimization/content/compression" },
    Front { name: "cloudfront", codings: &["br", "gzip"], is_always: false, encodes: true, source: "docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/ServingCompressedFiles.html" },
    Front { name: "fastly", codings: &["br", "gzip"], is_always: false, encodes: true, source: "www.fastly.com/documentation/guides/concepts/compression" },
    Front { name: "nginx", codings: &["zstd", "br", "gzip"], is_always: false, encodes: true, source: "nginx.org/en/docs/http/ngx_http_proxy_module.html" },
    Front { name: "varnish", codings: &["gzip"], is_always: true, encodes: false, source: "varnish-cache.org/docs/trunk/users-guide/compression.html" },
];

impl Front {
    /// The one with this name, in letters of either case.
    pub fn named(name: &str) -> Option<&'static Front> {
        KNOWN.iter().find(|known| name.trim().eq_ignore_ascii_case(known.name))
    }

    /// The content codings that it asks the server for, for a visitor who accepts these.
    pub fn asks(&self, accepted: &[String]) -> Vec<String> {
        let is_asked = |coding: &&&str| self.is_always || accepted.iter().any(|own| own == **coding);
        self.codings.iter().filter(is_asked).map(|coding| (*coding).to_owned()).collect()
    }
}

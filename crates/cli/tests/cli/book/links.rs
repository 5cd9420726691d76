//! Links lead somewhere: to a file, to a heading, to an address that can be one.

use std::collections::HashMap;

use super::markdown::{Document, chapters, documents as written, root, target};

/// The documents whose links are looked at: those of users and developers, the list of chapters, and the documents next to code.
fn documents() -> Vec<Document> {
    let others = ["docs/SUMMARY.md", "web/README.md"].map(Document::read);
    written().into_iter().chain(others).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let documents = documents();
    let known: HashMap<&str, &Document> = documents.iter().map(|d| (d.name.as_str(), d)).collect();
    let mut wrong = Vec::new();
    for document in &documents {
        for link in &document.links {
            if let Some(what) = fault(document, link, &known) {
                wrong.push(format!("{}: {link}: {what}", document.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(documents.iter().map(|document| document.links.len()).sum::<usize>() > 200);
}

/// What is wrong with a link. Nothing is asked of other machines: an address only has to be one.
fn fault(document: &Document, link: &str, known: &HashMap<&str, &Document>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        let url = url::Url::parse(link);
        return match url {
            Ok(url) if matches!(url.scheme(), "https" | "http" | "mailto") => None,
            Ok(url) => Some(format!("its scheme is {}", url.scheme())),
            Err(error) => Some(error.to_string()),
        };
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = if file.is_empty() { document.name.clone().into() } else { target(&document.name, file) };
    if !root().join(&path).exists() {
        return Some("there is no such file".to_owned());
    }
    if root().join(&path).is_dir() {
        return Some("a folder: it cannot be opened in the book, so name a file of it".to_owned());
    }
    if anchor.is_empty() {
        return None;
    }
    match known.get(path.to_str().unwrap()) {
        Some(to) if to.anchors.contains(anchor) => None,
        Some(_) => Some("there is no such heading".to_owned()),
        None => Some("not a document of the book, whose headings are known".to_owned()),
    }
}

/// Every document for users is in the book.
#[test]
fn the_book_has_every_document() {
    let chapters: Vec<String> = chapters().into_iter().map(|chapter| chapter.name).collect();
    for folder in ["docs", "docs/runs", "."] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "SUMMARY.md" {
                let path = target("x", &format!("{folder}/{name}"));
                let path = path.to_str().unwrap().trim_start_matches("./").to_owned();
                assert!(chapters.contains(&path), "{path} is not in docs/SUMMARY.md");
            }
        }
    }
}
